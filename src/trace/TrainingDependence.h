// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"

namespace pellucid::trace {

/// What eval() changes in a model, one phrase each: its modules that compute something else in
/// training, and the places where its own code asks.
std::vector<std::string> trainingDependence(host::Interpreter &interpreter,
                                            const host::Value &model);

} // namespace pellucid::trace
