// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

/// torch.optim and what else a training loop calls.
void addTorchTraining(host::NativeModules &modules, Tracer &tracer);
/// What TrainingState.cpp runs in the host language.
void addTrainingState(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
