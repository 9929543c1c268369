// SPDX-License-Identifier: Apache-2.0
/// Masks of attention that a program counts up by itself (docs/design/0061).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Attention whose mask is known to leave every key to every query loses it; one whose mask leaves
/// the keys up to the query's own place becomes causal. Returns how many were changed.
size_t replaceKnownMasks(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
