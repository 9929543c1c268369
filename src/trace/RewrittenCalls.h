// SPDX-License-Identifier: Apache-2.0
/// Calls of operators that are other calls: with other arguments, or written with other operators.
#pragma once

#include "trace/TensorCalls.h"

namespace pellucid::trace {

/// The result of the call as it is written otherwise; nullopt for calls that stay as they are.
std::optional<host::Value> rewrittenCall(Tracer &tracer, host::Interpreter &interpreter,
                                         const std::string &name, const host::CallArgs &args);

} // namespace pellucid::trace
