// SPDX-License-Identifier: Apache-2.0
/// torch.library: what declares operators and registers what they do.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::host {

void addOperatorLibrary(NativeModules &modules);

/// Makes `op.register_x(…)`: takes the function at once, at `functionIndex` or by keyword, or
/// returns a decorator that takes it.
using Registration = std::function<void(Interpreter &, Operator &, const CallArgs &, Value)>;
Value registration(const std::shared_ptr<Operator> &op, std::string name, Registration keep,
                   size_t functionIndex);

/// Raises for what is no kind of device of PyTorch's.
void checkDeviceType(Interpreter &interpreter, const std::string &name);

} // namespace pellucid::host
