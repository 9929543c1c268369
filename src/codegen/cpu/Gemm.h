// SPDX-License-Identifier: Apache-2.0
// Matrix products of the graph as library kernels: C[M,N] = A[M,K] * B[K,N] + bias[N], with B
// packed into panels. The same packed weights, arguments and grid serve every ISA level.
#pragma once

#include "codegen/cpu/CompileKernel.h"
#include "support/DataType.h"

namespace pellucid::codegen {

/// f32, f64, bf16 or f16 for A, B, bias and C alike; 16-bit types are summed in f32 and rounded
/// once.
struct GemmKernel {
  DataType type = DataType::Float32;
  bool bias = false;
  CpuLevel level = CpuLevel::X86_64_v3;
};

/// The packed arguments, in this order (KernelAbi.h): all of them 8 bytes, dims and strides in
/// elements.
struct GemmArguments {
  const void *a;       ///< rows of K contiguous elements, `lda` apart
  const void *packedB; ///< by packWeights or by the pack kernel
  const void *bias;    ///< N elements; not read without bias
  void *c;             ///< rows of N contiguous elements, `ldc` apart
  int64_t m, n, k, lda, ldc;
  /// From one matrix of a batch to the next (grid z); a packed B takes packedElements(n, k).
  int64_t batchA, batchB, batchC;
};

/// Rows and columns of C that one program computes. Grid: x = ceil(m / rows), y = ceil(n /
/// columns), z = batch.
inline constexpr int64_t gemmRows = 48, gemmColumns = 64;

/// Columns of a panel. Packed B is [ceil(n / 64) * 4 panels][k][16 columns], zero where beyond n.
inline constexpr int64_t gemmPanel = 16;
inline int64_t packedElements(int64_t n, int64_t k) {
  return (n + gemmColumns - 1) / gemmColumns * gemmColumns * k;
}

/// Packs B, whose element (k, n) lies at b[k * strideK + n * strideN], into `packed`.
void packWeights(DataType type, const void *b, int64_t n, int64_t k, int64_t strideK,
                 int64_t strideN, void *packed);

/// The same at run time: one program per 64 columns (grid x), batch in y.
struct PackArguments {
  const void *b;
  void *packed;
  int64_t n, k, strideK, strideN, batchB;
};

/// Emits the product as a kernel named `symbol`. On failure reports through `diagnostics`.
bool compileGemm(const GemmKernel &kernel, std::string_view symbol, CompiledObject &object,
                 Diagnostics &diagnostics);
bool compilePack(const GemmKernel &kernel, std::string_view symbol, CompiledObject &object,
                 Diagnostics &diagnostics);

} // namespace pellucid::codegen
