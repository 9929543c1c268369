// SPDX-License-Identifier: Apache-2.0
/// Where channels lie in networks of convolutions on a device (docs/design/0043).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Lays the results of convolutions by matrix units (of 16 bits, with `tf32` those of f32) out with
/// their channels innermost, and what follows them as PyTorch's rules have it then; copies put
/// things back where an operator asks for the strides that it was traced with. The sizes, the
/// element types and the program's results stay what they are. Programs with fewer than two such
/// convolutions stay as they are. Returns how many were changed.
size_t layChannelsInnermost(graph::Program &program, const graph::OperatorRegistry &registry,
                            bool tf32 = false);

} // namespace pellucid::passes
