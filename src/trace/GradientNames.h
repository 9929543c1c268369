// SPDX-License-Identifier: Apache-2.0
/// Names of gradients where a function of PyTorch's is several operators here: `grad_fn=<…>` says
/// PyTorch's, of the call that the user wrote.
#pragma once

#include "host/Interpreter.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::autograd {
class Node;
}

namespace pellucid::trace {

class TensorObject;

/// Notes the call's operands while it lives, and names what it made.
class NamedGradients {
public:
  /// `name`: a function of torch's or an operator's. Of calls in one another the outer one's name
  /// is shown.
  NamedGradients(std::string_view name, const host::CallArgs &args);
  host::Value operator()(const host::Value &result) const;

private:
  std::string title; ///< empty: as it is
  std::vector<const autograd::Node *> operands;
};

/// The node that made the tensor is shown under that name; nothing where it has one of its own.
void showGradientAs(TensorObject &tensor, const std::string &title);

} // namespace pellucid::trace
