// SPDX-License-Identifier: Apache-2.0
/// Views and takes of what is computed, in front of the computation (docs/design/0085).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Where pointwise operators make a tensor that others see through views (a dim selected, added,
/// moved, taken apart) or take lines of (`index_select`), each of those is computed of views and
/// takes of the operands instead: the tensor is never in memory, and what follows becomes one
/// kernel with what was in front. And where a result of the program is computed of a tensor that is
/// seen in another shape, it is computed before and seen then. Returns how many tensors there were.
size_t moveViews(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
