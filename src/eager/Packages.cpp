// SPDX-License-Identifier: Apache-2.0
#include "eager/Packages.h"

#include "eager/Devices.h"
#include "eager/QueuedRuns.h"
#include "package/PackageWriter.h"
#include "runtime/DlpackTypes.h"
#include "support/CrashHandler.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pellucid::eager {

using trace::ConcreteTensor;

using graph::Device;

driver::CompileOptions eagerOptions(bool contractsFma, Device device) {
  driver::CompileOptions options;
  // Only this machine's level is of use to a package that never leaves it.
  if (device.kind == Device::Kind::Cuda)
    options.targets = {CudaDevices::get().at(device.index).target};
  else if (auto host = hostCpuLevel())
    options.targets = {{Target::Kind::Cpu, *host, 0}};
  options.fpContract = contractsFma;
  options.keepIr = false;
  return options;
}

Compiled::Compiled(const graph::Program &program, const driver::CompileOptions &options,
                   Device device)
    : source(program.clone()), place(device) {
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, options, contents, report, diagnostics)) {
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (diagnostic.severity == Severity::Error)
        throw DiagnosticError(diagnostic);
    throw DiagnosticError(SourceLocation("exec"), "a part of the script could not be compiled");
  }
  load(contents);
}

Compiled::Compiled(const graph::Program &program, const package::Contents &contents, Device device)
    : source(program.clone()), place(device) {
  load(contents);
}

void Compiled::load(const package::Contents &contents) {
  for (const graph::KernelDef &kernel : source.kernels)
    if (std::string name = "'" + kernel.name + "'"; userKernels.find(name) == std::string::npos)
      userKernels += (userKernels.empty() ? "" : ", ") + name;
  if (package::Status status = package::packageBytes(contents, content); !status.ok())
    throw DiagnosticError(SourceLocation("exec"), status.message());
  if (pellucid_load_memory(content.data(), content.size(), nullptr, &package) != PELLUCID_OK)
    throw DiagnosticError(SourceLocation("exec"), pellucid_last_error());
}

Compiled::~Compiled() { (void)pellucid_unload(package); }

DLTensor borrowed(const ConcreteTensor &tensor) {
  DLTensor out{};
  // DLPack's pointers are not const, but nobody writes through them.
  out.data = const_cast<std::byte *>(tensor.data.get());
  out.device = {kDLCPU, 0};
  if (tensor.device.kind == Device::Kind::Cuda)
    out.device = {kDLCUDA, std::max(tensor.device.index, 0)};
  out.ndim = static_cast<int32_t>(tensor.shape.size());
  out.dtype = runtime::toDlpack(tensor.dtype);
  out.shape = const_cast<int64_t *>(tensor.shape.data());
  out.strides = const_cast<int64_t *>(tensor.strides.data());
  return out;
}

ConcreteTensor adopted(DLManagedTensorVersioned *managed) {
  const DLTensor &t = managed->dl_tensor;
  std::shared_ptr<void> owner(managed, [](void *m) {
    auto *tensor = static_cast<DLManagedTensorVersioned *>(m);
    if (tensor->deleter)
      tensor->deleter(tensor);
  });
  ConcreteTensor out;
  out.dtype = *runtime::fromDlpack(t.dtype);
  out.shape.assign(t.shape, t.shape + t.ndim);
  out.strides.resize(out.shape.size());
  int64_t stride = 1;
  for (size_t d = out.shape.size(); d-- > 0; stride *= out.shape[d])
    out.strides[d] = t.strides ? t.strides[d] : stride;
  out.data = {owner, reinterpret_cast<const std::byte *>(runtime::dataOf(t))};
  if (t.device.device_type == kDLCUDA)
    out.device = {Device::Kind::Cuda, t.device.device_id};
  return out;
}

static thread_local pellucid_profile *activeProfile = nullptr;

ProfileScope::ProfileScope(pellucid_profile *profile)
    : before(std::exchange(activeProfile, profile)) {}
ProfileScope::~ProfileScope() { activeProfile = before; }

static thread_local const std::function<void(std::string_view)> *activePrint = nullptr;

PrintScope::PrintScope(const std::function<void(std::string_view)> &print)
    : before(std::exchange(activePrint, &print)) {}
PrintScope::~PrintScope() { activePrint = before; }

static thread_local std::function<void()> nextRun;

void beforeNextRun(std::function<void()> action) { nextRun = std::move(action); }

static int32_t scriptGuard = 0;

void guardScripts(int32_t guard) { scriptGuard = guard; }

pellucid_run_options scriptRunOptions(Device device) {
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.guard = device.kind == Device::Kind::Cuda ? 0 : scriptGuard;
  options.profile = activeProfile;
  options.print_state = const_cast<void *>(static_cast<const void *>(activePrint));
  if (activePrint)
    options.print = [](void *state, const char *line) {
      (*static_cast<const std::function<void(std::string_view)> *>(state))(line);
    };
  if (device.kind != Device::Kind::Cuda)
    return options;
  options.allocator = &CudaDevices::get().at(device.index).allocator();
  if (auto action = std::exchange(nextRun, nullptr))
    action();
  return options;
}

bool mayRunLater() { return !activeProfile && !nextRun; }

void Compiled::runInto(const std::vector<ConcreteTensor> &inputs,
                       const std::vector<ConcreteTensor> &outputs) const {
  std::vector<DLTensor> given, made;
  given.reserve(inputs.size());
  made.reserve(outputs.size());
  for (const ConcreteTensor &input : inputs)
    given.push_back(borrowed(input));
  for (const ConcreteTensor &output : outputs)
    made.push_back(borrowed(output));
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  if (pellucid_run_into(package, given.data(), given.size(), made.data(), made.size(), &options) !=
      PELLUCID_OK)
    throw DiagnosticError(SourceLocation("exec"), pellucid_last_error());
}

std::vector<ConcreteTensor> Compiled::run(const std::vector<ConcreteTensor> &inputs) const {
  if (place.kind == Device::Kind::Cuda)
    QueuedRuns::get().settle();
  std::vector<DLTensor> tensors;
  tensors.reserve(inputs.size());
  for (const ConcreteTensor &input : inputs)
    tensors.push_back(borrowed(input));
  std::vector<DLManagedTensorVersioned *> outputs(pellucid_output_count(package));
  pellucid_run_options options = scriptRunOptions(place);
  auto call = [&] {
    return pellucid_run(package, tensors.data(), tensors.size(), outputs.data(), outputs.size(),
                        &options);
  };
  std::optional<WorkingTogether> working;
  if (!userKernels.empty() && place.kind != Device::Kind::Cuda) {
    working.emplace("running the kernels", userKernels);
    adviseAtCrash(
        "a kernel that goes beyond its tensors does so: 'pellucid exec --guard end' stops "
        "at the access, 'pellucid launch --sanitize' names its line");
  }
  pellucid_status status = call();
  // Where values decide sizes there is no memory to guard before they are known.
  if (status == PELLUCID_INVALID_ARGUMENT && std::exchange(options.guard, 0))
    status = call();
  // The package's own memory is none of ours: there may be room where blocks are kept.
  if (status == PELLUCID_OUT_OF_MEMORY && place.kind == Device::Kind::Cuda) {
    CudaDevices::get().at(place.index).memory().releaseKept();
    status = call();
  }
  if (status == PELLUCID_KERNEL_FAILED || status == PELLUCID_OUT_OF_MEMORY) {
    bool isMemory = status == PELLUCID_OUT_OF_MEMORY;
    std::string why = pellucid_last_error();
    bool isOfDevice = isMemory && place.kind == Device::Kind::Cuda;
    throw trace::SegmentFailure(isOfDevice ? "CUDA out of memory: " + why : why, isMemory);
  }
  if (status != PELLUCID_OK)
    throw DiagnosticError(SourceLocation("exec"), pellucid_last_error());
  std::vector<ConcreteTensor> results;
  for (DLManagedTensorVersioned *output : outputs)
    results.push_back(adopted(output));
  return results;
}

} // namespace pellucid::eager
