// SPDX-License-Identifier: Apache-2.0
/// A program as the ExportedProgram of torch/_export/serde/schema.py.
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <string>

namespace pellucid::trace {

/// The JSON text of `models/model.json`: what stock PyTorch reads. A launch is a node
/// `torch.ops.pellucid.KERNEL.default` of the values that its kernel is given. Throws
/// DiagnosticError for what the schema has no word for.
std::string printArchiveGraph(const graph::Program &program,
                              const graph::OperatorRegistry &registry);

/// TensorMeta of a tensor that lies row by row.
std::string printTensorMeta(DataType dtype, const std::vector<int64_t> &sizes);

} // namespace pellucid::trace
