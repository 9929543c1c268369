// SPDX-License-Identifier: Apache-2.0
// Products of few rows with a right operand whose columns lie dense along k, as a linear layer's
// weight has them: each column is read once, where it lies, and multiplied with all rows.
#pragma once

#include "codegen/cpu/PackPanels.h"
#include "codegen/cpu/ProductBlock.h"

namespace pellucid::codegen {

/// More rows are faster from a packed panel.
inline constexpr int64_t mostStreamedRows = 4;

struct StreamedProduct {
  llvm::Value *rows; ///< at most mostStreamedRows
  llvm::Value *a, *lda;
  PanelSource right; ///< of the program's columns; more than 64 are left out
};

/// The order of a sum is that of sixteen lanes (f64: eight) and then of halves, on every level.
void emitStreamedProduct(LibraryKernel &kernel, const StreamedProduct &product,
                         const ProductSums &sums);

} // namespace pellucid::codegen
