// SPDX-License-Identifier: Apache-2.0
/// What models say with several operators and one operator says, too (docs/design/0043).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Puts one operator in the place of each idiom; what nobody reads any more is left where it is:
/// * a root mean square norm written out in float32 and rounded at its end: aten.rms_norm;
/// * keys and values that are repeated for the heads that share them: grouped attention.
/// Roundings are where they were. Returns how many there were.
size_t replaceIdioms(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
