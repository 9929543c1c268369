// SPDX-License-Identifier: Apache-2.0
#include "runtime/LoadedPackage.h"

#include "package/Describe.h"
#include "runtime/CudaDriver.h"
#include "runtime/DlpackTypes.h"

#include <algorithm>
#include <sys/random.h>
#include <sys/stat.h>
#include <tuple>

namespace pellucid::runtime {

using namespace package;

Result parseLoadTarget(std::string_view text, LoadOptions &options) {
  options.device = text.starts_with("cuda") ? Target::Kind::Cuda : Target::Kind::Cpu;
  constexpr std::string_view ofCpu = "cpu:";
  if (text.starts_with(ofCpu))
    options.cpuLevel = cpuLevelNamed(text.substr(ofCpu.size()));
  if (text == "cpu" || text == "cuda" || options.cpuLevel)
    return {};
  return Result::invalid("unknown target '" + std::string(text) + "'; possible are cpu, " +
                         cpuLevelNames("cpu:") + " and cuda");
}

/// What cannot be opened is the file system's word, the rest the package's.
static pellucid_status codeOfOpenFailure(const std::string &path) {
  struct stat stat;
  return ::stat(path.c_str(), &stat) == 0 && S_ISREG(stat.st_mode) ? PELLUCID_INVALID_PACKAGE
                                                                   : PELLUCID_IO_ERROR;
}

Result LoadedPackage::load(const std::string &path, const LoadOptions &options,
                           std::unique_ptr<LoadedPackage> &out) {
  std::unique_ptr<PackageFile> file;
  if (Status status = PackageFile::open(path, file); !status.ok())
    return Result::from(codeOfOpenFailure(path), status);
  return prepare(std::move(file), options, out);
}

Result LoadedPackage::loadMemory(std::span<const uint8_t> bytes, const LoadOptions &options,
                                 std::unique_ptr<LoadedPackage> &out) {
  std::unique_ptr<PackageFile> file;
  if (Status status = PackageFile::openMemory(bytes, file); !status.ok())
    return Result::from(PELLUCID_INVALID_PACKAGE, status);
  return prepare(std::move(file), options, out);
}

const Program *LoadedPackage::programFor(Target::Kind device) const {
  for (const Program &program : manifest().programs)
    if (program.device == device && loadOptions.device.value_or(device) == device)
      return &program;
  return nullptr;
}

Result LoadedPackage::prepare(std::unique_ptr<PackageFile> file, const LoadOptions &options,
                              std::unique_ptr<LoadedPackage> &out) {
  if (options.verify)
    if (Status status = file->verify(); !status.ok())
      return Result::from(PELLUCID_INVALID_PACKAGE, status);
  std::unique_ptr<LoadedPackage> loaded(new LoadedPackage);
  loaded->file = std::move(file);
  loaded->loadOptions = options;
  const Program *cpu = loaded->programFor(Target::Kind::Cpu);
  if (cpu)
    if (Result result = loaded->prepareCpu(*cpu); !result.ok())
      return result;
  if (!cpu && !loaded->programFor(Target::Kind::Cuda))
    return Result::error(PELLUCID_UNSUPPORTED,
                         std::string("the package has no program for ") +
                             (options.device == Target::Kind::Cuda ? "cuda" : "cpu"));
  if (loaded->manifest().drawsRandomNumbers() &&
      ::getrandom(&loaded->ownSeed, sizeof loaded->ownSeed, 0) !=
          static_cast<ssize_t>(sizeof loaded->ownSeed))
    return Result::error(PELLUCID_INTERNAL_ERROR,
                         "the system gives no random numbers to start the package's from");
  out = std::move(loaded);
  return {};
}

/// The best executable for CPUs of `level`.
static const Executable *chooseCpu(const Kernel &kernel, CpuLevel level, std::string &why) {
  const Executable *best = nullptr;
  std::string has;
  for (const Executable &executable : kernel.executables) {
    if (executable.target.kind != Target::Kind::Cpu)
      continue;
    has += (has.empty() ? "" : ", ") + toString(executable.target);
    if (executable.target.cpu <= level && (!best || executable.target.cpu > best->target.cpu))
      best = &executable;
  }
  why = "has no code for cpu:" + std::string(toString(level)) + "; the package has " +
        (has.empty() ? "none for any CPU" : has);
  return best;
}

static bool runsOn(const Executable &executable, uint32_t sm) {
  uint32_t made = executable.target.sm;
  if (!executable.tensorMaps.empty() && !cuda::makesTensorMaps())
    return false;
  switch (executable.format) {
  case CodeFormat::Cubin:
    return made / 10 == sm / 10 && made <= sm;
  case CodeFormat::GenerationPtx:
    return made == sm;
  case CodeFormat::Ptx:
    return made <= sm;
  case CodeFormat::Image:
  case CodeFormat::Ttir:
    return false;
  }
  return false;
}

/// Machine code of the same generation, else PTX for this generation alone, else the newest PTX
/// that the driver can translate.
static const Executable *chooseCuda(const Kernel &kernel, uint32_t sm, std::string &why) {
  const Executable *best = nullptr;
  std::string has;
  auto rank = [](const Executable &e) {
    return std::tuple(e.format == CodeFormat::Cubin, e.target.sm,
                      e.format == CodeFormat::GenerationPtx);
  };
  for (const Executable &executable : kernel.executables) {
    if (executable.target.kind != Target::Kind::Cuda)
      continue;
    has += (has.empty() ? "" : ", ") + toString(executable.target);
    if (runsOn(executable, sm) && (!best || rank(executable) > rank(*best)))
      best = &executable;
  }
  why = "has no code for cuda:sm_" + std::to_string(sm) + "; the package has " +
        (has.empty() ? "none for cuda" : has);
  return best;
}

bool LoadedPackage::hasCodeFor(CpuLevel level) const {
  const Target target{Target::Kind::Cpu, level, 0};
  return std::ranges::any_of(manifest().kernels, [&](const Kernel &kernel) {
    return std::ranges::any_of(kernel.executables,
                               [&](const Executable &code) { return code.target == target; });
  });
}

Result LoadedPackage::prepareCpu(const Program &program) {
  std::optional<CpuLevel> host = hostCpuLevel();
  if (!host)
    return Result::error(PELLUCID_UNSUPPORTED,
                         "this CPU lacks AVX2, FMA, BMI2, F16C, LZCNT or MOVBE (x86-64-v3)");
  CpuLevel level = std::min(*host, loadOptions.cpuLevel.value_or(*host));
  // Asked for only where there is such code: it makes the signal frames of all threads larger.
  if (hasTileProducts(level) && hasCodeFor(level) && !allowTiles())
    level = CpuLevel::X86_64_v4_bf16;
  auto choose = [level](const Kernel &kernel, std::string &why) {
    return chooseCpu(kernel, level, why);
  };
  if (Result result = makePlan(manifest(), program, choose, cpu.plan); !result.ok())
    return result;
  chosenCpuTarget = toString(Target{Target::Kind::Cpu, level, 0});
  if (Result result = placeWeights(); !result.ok())
    return result;
  return mapImages();
}

/// They lie at multiples of 64 in a file, which kernels rely on. Memory that the caller loads from
/// may begin anywhere; then they are moved.
Result LoadedPackage::placeWeights() {
  constexpr uint64_t alignment = 64;
  bool isAligned = true;
  uint64_t bytes = 0;
  for (const Weight &weight : manifest().weights) {
    const unsigned char *data = file->record(weight.record)->data() + weight.offset;
    cpu.weights.push_back(const_cast<unsigned char *>(data));
    isAligned &= reinterpret_cast<uintptr_t>(data) % alignment == 0;
    bytes += (weight.bytes + alignment - 1) / alignment * alignment;
  }
  if (isAligned)
    return {};
  if (!movedWeights.reserve(bytes))
    return Result::error(PELLUCID_OUT_OF_MEMORY, "cannot allocate " + std::to_string(bytes) +
                                                     " bytes for weights that are not aligned");
  unsigned char *next = movedWeights.data();
  for (size_t i = 0; i < cpu.weights.size(); ++i) {
    uint64_t size = manifest().weights[i].bytes;
    std::copy_n(cpu.weights[i], size, next);
    cpu.weights[i] = next;
    next += (size + alignment - 1) / alignment * alignment;
  }
  return {};
}

/// Maps the images that the CPU plan uses and finds the kernels in them.
Result LoadedPackage::mapImages() {
  for (StepPlan &step : cpu.plan->steps) {
    auto *launch = std::get_if<LaunchPlan>(&step);
    for (VariantPlan &variant : launch ? std::span(launch->variants) : std::span<VariantPlan>()) {
      const std::string &record = variant.executable->record;
      auto known = images.find(record);
      if (known == images.end()) {
        const ZipEntry &entry = *file->find(record);
        std::unique_ptr<CodeImage> image;
        if (Result result =
                CodeImage::map(file->data(entry), file->descriptor(), entry.dataOffset, image);
            !result.ok())
          return result;
        known = images.emplace(record, std::move(image)).first;
      }
      variant.entry = known->second->at(variant.executable->entryOffset);
    }
  }
  return {};
}

const std::string &LoadedPackage::description() const {
  std::call_once(described, [this] { descriptionText = describe(manifest()); });
  return descriptionText;
}

Result LoadedPackage::prepareCuda(int ordinal, const Program &program, DeviceProgram &out) const {
  uint32_t sm = 0;
  if (Result result = CudaResources::open(ordinal, out.cuda, sm); !result.ok())
    return result;
  auto choose = [sm](const Kernel &kernel, std::string &why) {
    return chooseCuda(kernel, sm, why);
  };
  if (Result result = makePlan(manifest(), program, choose, out.plan); !result.ok())
    return result;
  if (Result result = out.cuda->load(*file, *out.plan); !result.ok())
    return result;
  out.weights = out.cuda->weightAddresses();
  return {};
}

Result LoadedPackage::deviceProgram(DLDevice device, const DeviceProgram *&out) const {
  Target::Kind kind = device.device_type == kDLCUDA ? Target::Kind::Cuda : Target::Kind::Cpu;
  const Program *program = programFor(kind);
  bool isKnown = device.device_type == kDLCPU || device.device_type == kDLCUDA;
  if (!program || !isKnown)
    return Result::invalid(
        (manifest().inputs.empty() ? "output" : "input '" + manifest().inputs[0].name + "'") +
        ": device is " + text(device) + ", must be " +
        (programFor(Target::Kind::Cpu) ? "cpu" : "cuda"));
  if (kind == Target::Kind::Cpu) {
    out = &cpu;
    return {};
  }
  std::lock_guard lock(cudaMutex);
  auto known = cuda.find(device.device_id);
  if (known == cuda.end()) {
    auto prepared = std::make_unique<DeviceProgram>();
    if (Result result = prepareCuda(device.device_id, *program, *prepared); !result.ok())
      return result;
    known = cuda.emplace(device.device_id, std::move(prepared)).first;
  }
  out = known->second.get();
  return {};
}

Result LoadedPackage::makeInstance(const InstanceOptions &options,
                                   std::unique_ptr<Instance> &out) const {
  InstanceOptions chosen = options;
  if (chosen.device.device_type == 0)
    chosen.device = deviceOfCall({}, {});
  bool isCuda = chosen.device.device_type == kDLCUDA;
  if (!programFor(isCuda ? Target::Kind::Cuda : Target::Kind::Cpu) ||
      (!isCuda && chosen.device.device_type != kDLCPU))
    return Result::invalid("an instance cannot be on " + text(chosen.device) +
                           ": the package runs on " +
                           (!programFor(Target::Kind::Cuda) ? "the CPU"
                            : programFor(Target::Kind::Cpu) ? "the CPU and CUDA devices"
                                                            : "CUDA devices"));
  if (!isCuda)
    chosen.device.device_id = 0;
  const DeviceProgram *program = nullptr;
  if (Result result = deviceProgram(chosen.device, program); !result.ok())
    return result;
  std::unique_ptr<Instance> made(new Instance(*this));
  if (Result result = made->allocate(program->cuda.get(), chosen); !result.ok())
    return result;
  if (Result result = made->reset(); !result.ok())
    return result;
  out = std::move(made);
  return {};
}

/// The first tensor's; without tensors the CPU if there is a program for it.
DLDevice LoadedPackage::deviceOfCall(std::span<const DLTensor> inputs,
                                     std::span<const DLTensor> outputs) const {
  const DLTensor *first = !inputs.empty()    ? inputs.data()
                          : !outputs.empty() ? outputs.data()
                                             : nullptr;
  if (!first)
    return {programFor(Target::Kind::Cpu) ? kDLCPU : kDLCUDA, 0};
  switch (first->device.device_type) {
  case kDLCUDAHost:
    return {kDLCPU, 0};
  case kDLCUDAManaged:
    return {kDLCUDA, first->device.device_id};
  default:
    return first->device;
  }
}

} // namespace pellucid::runtime
