// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// What a user operator's call does stands in Program::bodies. Opens every call in the main graph,
/// those inside opened bodies too. The body of a custom_op stays a unit of its own: its inputs and
/// outputs pass through `pellucid.boundary`, a view that nothing is fused across. With
/// `transparentOnly` custom_ops stay nodes (run_decompositions).
void inlineOperators(graph::Program &program, bool transparentOnly = false);

/// `pellucid::boundary(Tensor(a) self) -> Tensor(a)`, for registries of programs whose operators
/// were opened.
void registerBorder(graph::OperatorRegistry &registry);

/// Replaces composite operators by what they are made of, until none is left.
void decomposeComposites(graph::Program &program, const graph::OperatorRegistry &registry);

/// Uninitialised tensors stand on their own: `empty_like(x)` reads nothing of x, so it must not
/// count as a reader of it.
void detachEmptyTensors(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
