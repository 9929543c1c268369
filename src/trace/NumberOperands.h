// SPDX-License-Identifier: Apache-2.0
/// Numbers of a call that are operands: floats of dynamic sizes, and those that change in a loop.
#pragma once

#include "trace/TensorCalls.h"

namespace pellucid::trace {

/// Whether an argument is a float that depends on dynamic sizes.
bool holdsFloatOfSizes(const host::CallArgs &args);
/// An operator of whose numbers some depend on dynamic sizes: they take part as tensors without
/// dims, which count for the result's type as numbers do. Products and sums in 16 bits are formed
/// in float32, as PyTorch forms those with a number.
host::Value callWithFloatOfSizes(Tracer &tracer, host::Interpreter &interpreter,
                                 const std::string &name, host::CallArgs args);
/// A number that sizes or values decide as a tensor without dims: an int64, or a float64.
host::Value exactTensorOfNumber(Tracer &tracer, host::Interpreter &interpreter,
                                const host::Value &number);
/// The call with numbers that change from turn to turn as operands; nullopt where there are none.
std::optional<host::Value> withNumbersAsOperands(Tracer &tracer, host::Interpreter &interpreter,
                                                 const std::string &name,
                                                 const host::CallArgs &args);

} // namespace pellucid::trace
