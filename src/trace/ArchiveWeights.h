// SPDX-License-Identifier: Apache-2.0
/// Tensors of an archive as weights of a program: parts of the mapped file.
#pragma once

#include "archive/Archive.h"
#include "graph/Program.h"

namespace pellucid::trace {

bool isRowMajor(const archive::Tensor &tensor);

/// A view of part of the mapped file.
graph::Weight weightAt(const archive::Tensor &tensor, std::vector<int64_t> shape);

/// Of a strided tensor, which dims vary slowest: the order in which it lies row by row without
/// gaps. Nullopt where there is none.
std::optional<std::vector<size_t>> denseOrder(const archive::Tensor &tensor);

/// The tensor that an input of the graph is; throws DiagnosticError where the archive has none.
const archive::Tensor &tensorOf(const archive::Archive &archive, const archive::Input &input);

} // namespace pellucid::trace
