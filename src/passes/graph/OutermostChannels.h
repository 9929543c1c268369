// SPDX-License-Identifier: Apache-2.0
/// Where channels lie in networks of convolutions on the CPU (docs/design/0100).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Lays the results of convolutions whose channels lie innermost out as dense tensors, which is how
/// the CPU's kernels write them, and what follows them as PyTorch's rules have it then; copies put
/// things back where an operator asks for the strides that it was traced with. Returns how many
/// convolutions were changed.
size_t layChannelsOutermost(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
