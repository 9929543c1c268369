// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/Tape.h"

#include <functional>

namespace pellucid::autograd {

struct Request {
  std::vector<Edge> roots;
  std::vector<host::Value> gradients; ///< one per root
  bool keepsGraph = false;
  /// Whose gradients are wanted; nothing else is computed, and no leaf's gradient is added to.
  /// Empty: every leaf's is.
  std::vector<Edge> wanted;
  /// Sees what each node gives, before it goes on; may be empty.
  std::function<void(const Node &, const std::vector<host::Value> &)> afterEach;
};

/// Runs the nodes that the roots lead to, each once, when every gradient that goes to it has
/// arrived; the latest first. Gives the wanted gradients, None for what no root depends on.
std::vector<host::Value> run(host::Interpreter &interpreter, const Request &request);

} // namespace pellucid::autograd
