// SPDX-License-Identifier: Apache-2.0
/// What a torch.Generator of evaluated code holds, and the tensors that torch.nn.init fills from
/// it.
#pragma once

#include "host/Interpreter.h"
#include "trace/DeviceDraws.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

class TensorObject;

/// What a torch.Generator holds: one of the two.
class GeneratorStream : public host::Object {
public:
  explicit GeneratorStream(std::shared_ptr<CpuGenerator> s) : stream(std::move(s)) {}
  explicit GeneratorStream(std::shared_ptr<DeviceGenerator> s) : onDevice(std::move(s)) {}
  std::string typeName() const override { return "generator stream"; }
  std::shared_ptr<CpuGenerator> stream;
  std::shared_ptr<DeviceGenerator> onDevice;
};

/// Of a Generator, or the stream itself; raises TypeError for anything else.
const GeneratorStream &streamIn(host::Interpreter &interpreter, const host::Value &given);

/// `self`, its elements drawn as `draw` says from `generator` (None: the default one).
host::Value fillDrawn(TensorObject &self, host::Interpreter &interpreter, HostDraw draw,
                      const host::Value &generator);

/// torch.manual_seed and its kin, torch.random, torch.Generator; what torch.nn.init needs.
void addTorchRandom(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
