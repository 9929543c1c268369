// SPDX-License-Identifier: Apache-2.0
/// What a program computes from its weights alone is computed once, while it is compiled
/// (docs/design/0043).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::driver {

struct FoldOptions {
  bool counts = false;     ///< also what is computed from `arange` alone
  bool placesOnly = false; ///< lines of indices that a gather reads at, and nothing else
};

/// Replaces small results of operators that read nothing but weights whose contents are at hand by
/// weights of their own. Returns how many.
size_t foldWeights(graph::Program &program, const graph::OperatorRegistry &registry,
                   const FoldOptions &options = {});

} // namespace pellucid::driver
