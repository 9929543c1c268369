// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

namespace pellucid::passes {

/// The symbols whose values a run's options give: what all draws of the program start from.
inline constexpr const char *seedSymbol = "rng_seed", *offsetSymbol = "rng_offset";

/// Gives every source of random numbers (pellucid.philox_*) in the main graph and the branches of
/// its conditionals the seed and offset of the run, and its number among them, in the order of the
/// program: two draws never have the same bits, and each is a function of its operands from here
/// on, which may be computed anywhere and any number of times. Declares the two symbols where there
/// is a source. Throws DiagnosticError where there are too many, and for sources in loops, every
/// turn of which would have the same numbers.
void numberDraws(graph::Program &program);

} // namespace pellucid::passes
