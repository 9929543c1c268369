// SPDX-License-Identifier: Apache-2.0
/// Numbers where an operator's schema has a tensor: a program's operators take them as Python's do,
/// PyTorch's seldom.
#pragma once

#include "graph/Registry.h"

namespace pellucid::trace {

/// Only in the arithmetic of Python's signs.
bool takesNumbers(const graph::Schema &schema);

bool isNumberForTensor(const graph::SchemaType &type, const graph::Argument &argument);

/// The overload of the same call that has a Scalar where this one has the tensor that a number
/// stands for; else the schema itself.
graph::Schema withScalars(graph::Schema schema, const graph::Node &node,
                          const graph::OperatorRegistry &registry);

} // namespace pellucid::trace
