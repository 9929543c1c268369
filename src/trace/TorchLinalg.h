// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"

namespace pellucid::trace {

class Tracer;

/// torch.linalg of scripts, and what torch and its tensors have of it.
void addTorchLinalg(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
