// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// The symbols whose values a run's options give: what all draws of the program start from.
inline constexpr const char *seedSymbol = "rng_seed", *offsetSymbol = "rng_offset";

/// Gives every source of random numbers (pellucid.philox_*) the seed and offset of the run, its
/// number among them, in the order of the program, and inside of loops the turn, which they carry
/// or scan as one more tensor: two draws never have the same bits, and each is a function of its
/// operands from here on, which may be computed anywhere and any number of times. Declares the two
/// symbols where there is a source. Throws DiagnosticError where there are too many, and for
/// sources in associative scans.
void numberDraws(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
