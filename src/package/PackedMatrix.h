// SPDX-License-Identifier: Apache-2.0
/// The right operand of the CPU's matrix kernels, as compiler, kernels and packages hold it. Part
/// of the package format: packed weights are records.
#pragma once

#include "support/DataType.h"

#include <cstdint>

namespace pellucid::package {

/// Rows and columns of C[M,N] that one program of the product computes. Grid: x = ceil(m /
/// productRows), y = ceil(n / productColumns), z = batch.
inline constexpr int64_t productRows = 96, productColumns = 64;

/// Terms of a block of a convolution's windows: no kernel has more places.
inline constexpr int64_t windowTerms = 256;

/// Columns of a convolution's program: of a type that is multiplied in pairs productColumns, of
/// others at most these.
inline constexpr int64_t windowColumns = 80;

/// Elements of one channel's lines, as far as the windows of a program's columns reach, where these
/// are read from lines.
inline constexpr int64_t lineElements = 8192;

/// Columns of a panel.
inline constexpr int64_t productPanel = 16;

/// Terms of a sum that lie side by side: bf16 is multiplied in pairs (docs/design/0020).
constexpr int64_t packedGroup(DataType type) { return type == DataType::BFloat16 ? 2 : 1; }

/// k as packed B has it: bf16 in whole tile registers of 16 pairs, so that code of every level
/// reads whole ones.
constexpr int64_t depthUnit(DataType type) { return packedGroup(type) == 1 ? 1 : 32; }

/// Packed B is [ceil(n / 64) * 4 panels][depth / group][16 columns][group], zero where beyond n or
/// k.
inline int64_t packedDepth(DataType type, int64_t k) {
  return (k + depthUnit(type) - 1) / depthUnit(type) * depthUnit(type);
}
inline int64_t packedElements(DataType type, int64_t n, int64_t k) {
  return (n + productColumns - 1) / productColumns * productColumns * packedDepth(type, k);
}

/// The element types that have matrix kernels.
bool hasMatrixKernel(DataType type);

/// Packs B, whose element (k, n) lies at b[k * strideK + n * strideN], into `packed`.
void packMatrix(DataType type, const void *b, int64_t n, int64_t k, int64_t strideK,
                int64_t strideN, void *packed);

} // namespace pellucid::package
