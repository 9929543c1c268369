// SPDX-License-Identifier: Apache-2.0
/// The right operand of the CPU's matrix kernels, as compiler, kernels and packages hold it. Part
/// of the package format: packed weights are records.
#pragma once

#include "support/DataType.h"

#include <cstdint>

namespace pellucid::package {

/// Rows and columns of C[M,N] that one program of the product computes. Grid: x = ceil(m /
/// productRows), y = ceil(n / productColumns), z = batch.
inline constexpr int64_t productRows = 48, productColumns = 64;

/// Columns of a panel. Packed B is [ceil(n / 64) * 4 panels][k][16 columns], zero where beyond n.
inline constexpr int64_t productPanel = 16;
inline int64_t packedElements(int64_t n, int64_t k) {
  return (n + productColumns - 1) / productColumns * productColumns * k;
}

/// The element types that have matrix kernels.
bool hasMatrixKernel(DataType type);

/// Packs B, whose element (k, n) lies at b[k * strideK + n * strideN], into `packed`.
void packMatrix(DataType type, const void *b, int64_t n, int64_t k, int64_t strideK,
                int64_t strideN, void *packed);

} // namespace pellucid::package
