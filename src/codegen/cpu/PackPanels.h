// SPDX-License-Identifier: Apache-2.0
// Packing the right operand of a product into panels (package/PackedMatrix.h).
#pragma once

#include "codegen/cpu/LibraryKernel.h"

namespace pellucid::codegen {

/// A part of B, from its element (k, n) = (0, 0) at `base` on; strides in elements.
struct PanelSource {
  llvm::Value *base, *strideK, *strideN;
  llvm::Value *columns, *depth; ///< how many there are; the rest of the panels becomes zero
};

/// Packs 64 columns: `depth` of k (a multiple of depthUnit, at least the source's), panels
/// `panelStride` elements apart. With `columns`, a multiple of a panel's, no more than these.
void emitPackColumns(LibraryKernel &kernel, const PanelSource &source, llvm::Value *depth,
                     llvm::Value *target, llvm::Value *panelStride, llvm::Value *columns = nullptr);

} // namespace pellucid::codegen
