// SPDX-License-Identifier: Apache-2.0
/// What the rows and columns of a matrix product are made of (docs/design/0015, 0043).
#pragma once

#include "graph/Types.h"
#include "passes/graph/KernelText.h"

namespace pellucid::passes {

/// batch…, `rows`…, columns… of the product.
std::vector<symbolic::Expr> rowsAndColumns(const GemmSpec &spec,
                                           const std::vector<symbolic::Expr> &rows);

/// The leading dims of a linear layer's input are rows like the others where the strides allow it.
void mergeBatchIntoRows(GemmSpec &spec);

/// What of the batch is left of a product whose right operand is one for all of it: rows, too,
/// which the operands step through each in its own way.
void takeBatchApart(GemmSpec &spec);

/// The product with the outermost of the dims that its columns are made of in the batch instead, as
/// the images of a convolution by windows of one element may be; nothing where the other dims do
/// not lie evenly. Its tiles end where an image does, but no place is taken apart.
std::optional<GemmSpec> withColumnsInBatch(const GemmSpec &spec);

/// An operand over batch…, m, columns… as one over batch…, the dims that m is made of, columns….
TextOperand withRows(TextOperand operand, const GemmSpec &spec);

/// Makes rows and columns of a product without a batch, whose dense result is read as `seen`, of
/// seen's dims: each of them lies within the rows or within the columns, and there is one for every
/// element. Returns seen's dims as rows and columns have them, outermost first, those of one
/// element left out; nothing, and the spec stays, where they do not come out so. The output is left
/// to the caller.
std::optional<std::vector<size_t>> seeAs(GemmSpec &spec, const graph::TensorType &seen);

} // namespace pellucid::passes
