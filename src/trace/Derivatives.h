// SPDX-License-Identifier: Apache-2.0
/// The derivatives of torch/derivatives.py, by operator.
#pragma once

#include "host/Interpreter.h"

#include <map>
#include <string>
#include <vector>

namespace pellucid::trace {

/// The gradients of some arguments, as a function of what its parameters name: `grad` (of the first
/// result), `grads` (of all), an argument of the operator, `result` or `result1`, `needs` (which of
/// the arguments are wanted), or a property of a tensor: `self_sizes`, `self_strides`,
/// `self_offset`, `self_dtype`, `self_wants`.
struct Formula {
  std::vector<std::string> arguments; ///< whose gradients it gives, a tuple where they are several
  host::Value function;
  std::vector<std::string> parameters;
};

struct Derivative {
  std::string name; ///< of the node: "MulBackward0"
  /// Gradients and tensors of 16 bits are handed over as float32.
  bool isWide = true;
  std::vector<Formula> formulas; ///< none: no result requires a gradient
};

/// Null where the table has no record.
const Derivative *derivativeOf(host::Interpreter &interpreter, const std::string &target);
/// Every record's target; of those without formulas if `formulas` is false.
std::vector<std::string> derivativeTargets(host::Interpreter &interpreter, bool formulas);

void addDerivatives(host::NativeModules &modules);

} // namespace pellucid::trace
