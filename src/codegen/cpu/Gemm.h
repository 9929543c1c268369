// SPDX-License-Identifier: Apache-2.0
// Matrix products of the graph as library kernels: C[M,N] = A[M,K] * B[K,N] + bias[M,N], with B
// packed into panels (package/PackedMatrix.h). The same packed weights, arguments and grid serve
// every ISA level.
#pragma once

#include "codegen/cpu/CompileKernel.h"
#include "package/PackedMatrix.h"
#include "support/DataType.h"

namespace pellucid::codegen {

/// f32, f64, bf16 or f16 for A, B, bias and C alike; 16-bit types are summed in f32 and rounded
/// once.
struct GemmKernel {
  DataType type = DataType::Float32;
  bool bias = false;
  CpuLevel level = CpuLevel::X86_64_v3;
  /// B is there as it is, too: up to productRows rows are multiplied with what each program packs
  /// for itself, block by block, and `packedB` is not read; mostStreamedRows or fewer with its
  /// columns where they lie, if those are dense along k.
  bool unpacked = false;
  CodeTexts *texts = nullptr; ///< filled when given
};

/// The packed arguments, in this order (KernelAbi.h): all of them 8 bytes, dims and strides in
/// elements.
struct GemmArguments {
  const void *a;       ///< rows of K contiguous elements, `lda` apart
  const void *packedB; ///< by packMatrix or by the pack kernel
  const void *bias; ///< rows of N contiguous elements, `biasRow` apart (0: one for all); not read
                    ///< without bias
  void *c;          ///< rows of N contiguous elements, `ldc` apart
  int64_t m, n, k, lda, ldc;
  /// From one matrix of a batch to the next (grid z); a packed B takes packedElements(n, k).
  int64_t batchA = 0, batchB = 0, batchC = 0;
  int64_t biasRow = 0, batchBias = 0;
  /// Of GemmKernel::unpacked alone: element (k, n) of B lies at b[k * strideK + n * strideN].
  const void *b = nullptr;
  int64_t strideK = 0, strideN = 0, batchUnpackedB = 0;
};
inline constexpr unsigned gemmFields = 14, unpackedGemmFields = 18;

/// Packing at run time: one program per 64 columns (grid x), batch in y.
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
