// SPDX-License-Identifier: Apache-2.0
/// What a script draws on a CUDA device: PyTorch's own numbers there, as operators of the segment
/// (docs/design/0074).
#pragma once

#include "host/Interpreter.h"
#include "trace/ScriptDevices.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

/// Whether draws of that kind come from the device's generator; others are the CPU's everywhere.
bool isDrawnOnDevices(HostDraw::Kind kind);

/// Which elements a thread of PyTorch's kernel gets: every so manieth, or `vector` in a row.
struct DrawOrder {
  std::vector<int64_t> strides; ///< of the memory that is filled; empty for row-major
  unsigned vector = 1;
};

/// A new tensor of what `draw` gives, on `device`.
host::Value drawOnDevice(Tracer &tracer, host::Interpreter &interpreter, const HostDraw &draw,
                         DeviceGenerator &generator, graph::Device device,
                         const DrawOrder &order = {});
/// F.dropout of a tensor on a CUDA device, with 0 < p < 1 and elements: what is kept, as bools, and
/// the factor of that.
std::pair<host::Value, double> keptOnDevice(Tracer &tracer, host::Interpreter &interpreter,
                                            const TracedTensor &input, double p,
                                            DeviceGenerator &generator);
/// 1 with the probability that `probabilities` has there.
host::Value eventsOnDevice(Tracer &tracer, host::Interpreter &interpreter,
                           const host::Value &probabilities, DeviceGenerator &generator);

/// What torch.randperm(n) gives.
std::vector<int64_t> permutationOf(DeviceGenerator &generator, int64_t n, uint64_t mostThreads);

} // namespace pellucid::trace
