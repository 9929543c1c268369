// SPDX-License-Identifier: Apache-2.0
#include "eager/ConfigTimes.h"

#include "driver/KernelKey.h"
#include "eager/Devices.h"
#include "support/SideBySide.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace pellucid::eager {

using graph::Device;
using trace::ConcreteTensor;

namespace {

/// Tensors of zeros for the inputs of a launch: memory that indices in it stay within.
class ZeroInputs {
public:
  ZeroInputs(const graph::Program &program, Device place)
      : device(CudaDevices::get().at(place.index)) {
    for (const graph::Node &node : program.main) {
      if (!node.isPlaceholder())
        continue;
      const graph::TensorType &type = node.result()->type();
      ConcreteTensor tensor;
      tensor.dtype = type.dtype;
      tensor.device = place;
      for (const symbolic::Expr &size : type.shape)
        tensor.shape.push_back(size.constant().value());
      for (const symbolic::Expr &stride : type.strides)
        tensor.strides.push_back(stride.constant().value());
      tensor.data =
          zeros(static_cast<size_t>(type.storageElements(program.symbols).constant().value()) *
                byteSize(type.dtype));
      tensors.push_back(std::move(tensor));
    }
  }
  std::vector<ConcreteTensor> tensors;

private:
  std::shared_ptr<const std::byte> zeros(size_t bytes) {
    void *block = device.memory().allocate(bytes);
    if (!block)
      throw DiagnosticError(SourceLocation("cuda"), outOfMemory(device, bytes));
    std::shared_ptr<void> owner(block, [&on = device](void *b) { on.memory().release(b); });
    device.fill(block, 0, bytes);
    return {owner, static_cast<const std::byte *>(block)};
  }

  CudaDevice &device;
};

/// Milliseconds of one run. One that takes far longer than `least` is not measured for long.
double timeOf(const Compiled &launch, const std::vector<ConcreteTensor> &inputs, CudaDevice &device,
              double least) {
  launch.run(inputs);
  device.synchronize();
  double best = std::numeric_limits<double>::infinity();
  constexpr int rounds = 4;
  constexpr double hopeless = 2.0;
  int runs = 1;
  for (int round = 0; round < rounds && (round < 2 || best < hopeless * least); ++round) {
    std::unique_ptr<CudaDevice::Moment> begin = device.mark();
    for (int i = 0; i < runs; ++i)
      launch.run(inputs);
    std::unique_ptr<CudaDevice::Moment> end = device.mark();
    double each = begin->millisecondsTo(*end) / runs;
    best = std::min(best, each);
    // Later rounds take some milliseconds, so that what the host does is hidden behind the device.
    runs = static_cast<int>(std::clamp(2.0 / std::max(each, 1e-3), 1.0, 50.0));
  }
  return best;
}

/// Whether a block of the device has the shared memory that the kernels ask for.
bool fits(const package::Contents &contents, const CudaDevice &device) {
  auto most = device.properties.find("shared_memory_per_block_optin");
  if (most == device.properties.end())
    return true;
  for (const package::Kernel &kernel : contents.manifest.kernels)
    for (const package::Executable &executable : kernel.executables)
      if (executable.sharedBytes > most->second)
        return false;
  return true;
}

std::string textOf(const graph::KernelDef &kernel) {
  return driver::withoutNames(kernel.ttir, kernel.symbol);
}

} // namespace

size_t ConfigTimes::choose(const trace::TuneQuestion &question, Device device) {
  std::string key =
      question.kernel + "\n" + question.source + "\n" + question.key + "\n" + toString(device);
  for (const std::string &config : question.configs)
    key += "\n" + config;
  auto known = chosen.find(key);
  if (known != chosen.end())
    return known->second;
  auto begin = std::chrono::steady_clock::now();
  size_t found = fastest(question, device);
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return chosen.emplace(std::move(key), found).first->second;
}

bool ConfigTimes::wasTimed(const graph::KernelDef &kernel) const {
  return !timedKernels.empty() && timedKernels.count(textOf(kernel));
}

void ConfigTimes::compile(std::vector<Candidate> &candidates, Device device) {
  driver::CompileOptions options = eagerOptions(contractsFma, device);
  options.keptWorkers = workers;
  options.exactTarget = true;
  options.sharesNumbers = [](const graph::KernelDef &) { return true; };
  size_t mostInputs = 0;
  std::vector<const graph::Program *> programs;
  for (const Candidate &one : candidates) {
    programs.push_back(&one.program);
    mostInputs = std::max(mostInputs, one.program.inputs.size());
  }
  // As the blocks of ZeroInputs are.
  options.inputAlignment.assign(mostInputs, DeviceMemory::alignment);
  options.outputAlignment = DeviceMemory::alignment;
  std::vector<driver::SeparateResult> made = driver::compileSeparately(programs, options);
  const CudaDevice &on = CudaDevices::get().at(device.index);
  constexpr size_t mostThreads = 16;
  // The driver's compiler is most of it.
  sideBySide(candidates.size(), threadsHere(mostThreads), [&](size_t i, size_t) {
    try {
      if (made[i].ok && fits(made[i].contents, on))
        candidates[i].launch =
            std::make_shared<Compiled>(candidates[i].program, made[i].contents, device);
    } catch (const std::exception &) { // as in Triton, it takes no part
    }
  });
}

size_t ConfigTimes::fastest(const trace::TuneQuestion &question, Device device) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < question.configs.size(); ++i) {
    try {
      candidates.push_back({i, question.launchWith(i), nullptr});
    } catch (const DiagnosticError &) {
      continue;
    }
    // Tables of zeros are no addresses that a kernel could follow.
    for (const graph::KernelDef &kernel : candidates.back().program.kernels)
      if (kernel.usesAddresses)
        return 0;
  }
  compile(candidates, device);
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  ++questions;
  for (Candidate &one : candidates) {
    if (!one.launch)
      continue;
    ++configs;
    for (const graph::KernelDef &kernel : one.program.kernels)
      timedKernels.insert(textOf(kernel));
    try {
      ZeroInputs inputs(one.program, device);
      double time = timeOf(*one.launch, inputs.tensors, CudaDevices::get().at(device.index), least);
      if (time < least) {
        least = time;
        best = one.config;
      }
    } catch (const DiagnosticError &) {
    }
    kept.push_back(std::move(one.launch));
  }
  constexpr size_t mostKept = 256;
  while (kept.size() > std::max(mostKept, candidates.size()))
    kept.pop_front();
  return best;
}

} // namespace pellucid::eager
