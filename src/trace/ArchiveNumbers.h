// SPDX-License-Identifier: Apache-2.0
/// What exported programs compute with sizes: calls of Python's operators and of `math`.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::trace {

bool isNumberCall(const std::string &target);
/// `_operator.add`, `torch.sym_max`, `math.ceil`.
host::Value numberCall(host::Interpreter &interpreter, const std::string &target,
                       const std::vector<host::Value> &arguments);

} // namespace pellucid::trace
