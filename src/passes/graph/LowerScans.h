// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/LowerToLaunches.h"

namespace pellucid::passes {

/// Replaces scans of the main graph, associative ones too, whose body computes each element from
/// the same element of what it carries and of the slices, by one launch: a program goes through all
/// turns with what is carried in registers. Turns follow each other as they do in a loop, and those
/// of long associative scans in chunks, which are joined. What sums, multiplies matrices or looks
/// elsewhere in a slice stays a loop.
void lowerScans(graph::Program &program, const graph::OperatorRegistry &registry,
                const CompileText &compile, bool forCpu);

} // namespace pellucid::passes
