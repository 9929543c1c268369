// SPDX-License-Identifier: Apache-2.0
/// What a program computes from its weights alone is computed once, while it is compiled
/// (docs/design/0043).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::driver {

/// Replaces small results of operators that read nothing but weights whose contents are at hand by
/// weights of their own; with `counts`, also of what is computed from `arange` alone. Returns how
/// many.
size_t foldWeights(graph::Program &program, const graph::OperatorRegistry &registry,
                   bool counts = false);

} // namespace pellucid::driver
