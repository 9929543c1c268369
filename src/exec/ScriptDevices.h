// SPDX-License-Identifier: Apache-2.0
/// What a script asks of its devices: counts, properties, times, memory (`_script_torch`).
#pragma once

#include "host/Interpreter.h"

namespace pellucid::exec {

class ScriptHooks;

void addDevices(host::Module &module, ScriptHooks &hooks);

} // namespace pellucid::exec
