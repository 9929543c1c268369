// SPDX-License-Identifier: Apache-2.0
/// Calls of operators that write to their arguments as run_decompositions() leaves them: one node
/// that names the operator and gives its results and, behind them, what was written to.
#pragma once

#include "archive/Archive.h"

namespace pellucid::trace {

/// One tensor that an operator writes to.
struct WrittenPlace {
  std::optional<size_t> base; ///< of the node's bases; none where the operator is given None
  std::string view; ///< the target that makes a view of the base; empty where it is the base itself
  std::vector<archive::NamedArgument> words; ///< of the view
};

struct WrittenArgument {
  std::string name;
  bool isList = false;
  std::vector<WrittenPlace> places; ///< one unless it is a list
};

struct FunctionalizedCall {
  archive::Node call; ///< of the operator, without `written`
  std::vector<WrittenArgument> written;
  std::vector<archive::Argument> bases; ///< tensors of which the node gives changed copies
  /// PyTorch before 2.7: `call` has the written tensors as well, and the operator's schema tells
  /// which they are.
  bool isBySchema = false;
};

bool isFunctionalized(const std::string &target);
/// Throws DiagnosticError for a node that does not say what is written.
FunctionalizedCall functionalizedCall(const archive::Node &node);
/// The operator's call as its schema would show it: for what is said of operators that are missing.
archive::Node shownCall(const archive::Node &node);

} // namespace pellucid::trace
