// SPDX-License-Identifier: Apache-2.0
/// What scripts call of torch and Triton around their tensors: compile, export, profiler, testing.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::exec {

class ScriptHooks;

/// Behind the session's modules: what is set here replaces what stands there.
void addScriptTorch(host::NativeModules &modules, ScriptHooks &hooks);

} // namespace pellucid::exec
