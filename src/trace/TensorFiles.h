// SPDX-License-Identifier: Apache-2.0
/// Between files, bytes and the tensors of a trace or script.
#pragma once

#include "trace/EagerRecorder.h"
#include "trace/TensorObject.h"

namespace pellucid::trace {

/// A tensor of the values: of the script's, or one that a module of a trace begins with.
host::Value tensorOfValues(Tracer &tracer, host::Interpreter &interpreter,
                           const ConcreteTensor &given);
ConcreteTensor valuesOf(Tracer &tracer, host::Interpreter &interpreter, TensorObject &tensor,
                        const char *function);

/// torch.save, torch.load and safetensors.torch.
void addTorchFiles(host::NativeModules &modules, Tracer &tracer);
/// What numpy's files, buffers of bytes and the states of generators are made with.
void addTensorBytes(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
