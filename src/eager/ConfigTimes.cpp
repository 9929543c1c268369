// SPDX-License-Identifier: Apache-2.0
#include "eager/ConfigTimes.h"

#include "eager/Devices.h"

#include <algorithm>
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

/// Milliseconds of one run.
double timeOf(const Compiled &launch, const std::vector<ConcreteTensor> &inputs,
              CudaDevice &device) {
  launch.run(inputs);
  device.synchronize();
  double best = std::numeric_limits<double>::infinity();
  constexpr int rounds = 4;
  int runs = 1;
  for (int round = 0; round < rounds; ++round) {
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

} // namespace

size_t ConfigTimes::choose(const trace::TuneQuestion &question, Device device) {
  std::string key =
      question.kernel + "\n" + question.source + "\n" + question.key + "\n" + toString(device);
  for (const std::string &config : question.configs)
    key += "\n" + config;
  auto known = chosen.find(key);
  if (known == chosen.end())
    known = chosen.emplace(key, fastest(question, device)).first;
  return known->second;
}

size_t ConfigTimes::fastest(const trace::TuneQuestion &question, Device device) const {
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < question.configs.size(); ++i) {
    try {
      graph::Program program = question.launchWith(i);
      // Tables of zeros are no addresses that a kernel could follow.
      if (std::any_of(program.kernels.begin(), program.kernels.end(),
                      [](const graph::KernelDef &kernel) { return kernel.usesAddresses; }))
        return 0;
      Compiled launch(program, eagerOptions(contractsFma, device), device);
      ZeroInputs inputs(program, device);
      double time = timeOf(launch, inputs.tensors, CudaDevices::get().at(device.index));
      if (time < least) {
        least = time;
        best = i;
      }
    } catch (const DiagnosticError &) { // as in Triton, it takes no part
    }
  }
  return best;
}

} // namespace pellucid::eager
