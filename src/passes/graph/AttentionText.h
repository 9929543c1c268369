// SPDX-License-Identifier: Apache-2.0
/// Attention as Triton text (docs/design/0018): a program holds a block of queries and goes over
/// the keys a block at a time, so that no score is ever in memory.
#pragma once

#include "passes/graph/KernelText.h"

#include <optional>

namespace pellucid::passes {

/// How the work is cut up.
struct AttentionTiles {
  int64_t rows = 64; ///< queries of a program
  int64_t keys = 64; ///< keys of a round
  /// Several programs share the keys of a block of queries (1: none do), each an equal part of
  /// them; what they have is put together by writeAttentionParts.
  symbolic::Expr parts = 1;
  int64_t mostParts = 1;
  int32_t numWarps = 4, numStages = 3;
  /// Few queries, each a row of its own: `rows` is their number.
  bool rowByRow = false;
  /// Keys of the last round, where it is no whole one; 0: there is no such round. Not given: it has
  /// `keys` under a mask, should there be one.
  std::optional<int64_t> lastKeys = std::nullopt;
  bool wholeColumns = false; ///< of a row are one tile, where they fill less than two, too
};

/// out[batch…, i, :] = Σ_j softmax_j(query[batch…, i, :] · key[batch…, j, :] * scale + mask[batch…,
/// i, j]) * value[batch…, j, :]. Strides of every operand run over batch…, then its two own dims.
struct AttentionSpec {
  std::string name;
  std::vector<symbolic::Expr> batch;
  symbolic::Expr queries = 1, keys = 1, width = 1, valueWidth = 1;
  /// The last index of the batch is divided by these to find the key's and the value's.
  symbolic::Expr keyGroup = 1, valueGroup = 1;
  TextOperand query, key, value, output;
  std::vector<TextOperand> mask;      ///< none or one; bool, or numbers that are added
  std::vector<TextOperand> logsumexp; ///< none or one; strides over batch…, queries
  bool causal = false;                ///< query i sees keys 0 … i
  std::optional<double> scale;        ///< none: 1 / sqrt(width)
  DataType compute = DataType::Float32;
  /// The queries of all heads that share a key are rows of one block: for few queries.
  bool sharesRows = false;
  AttentionTiles tiles;
};

/// The widest row of a query or value that a tile holds.
inline constexpr int64_t widestAttentionRow = 256;

/// With parts, `output` is [batch…, queries, parts, valueWidth] and `logsumexp` [batch…, queries,
/// parts], dense and in `compute`; the latter is in the unit of logarithms that writeAttentionParts
/// takes.
KernelText writeAttention(const AttentionSpec &spec, const symbolic::SymbolTable &symbols);

/// Puts the parts together, always in the same order. Of `spec`, the two operands are those of the
/// result.
KernelText writeAttentionParts(const AttentionSpec &spec, const symbolic::SymbolTable &symbols);

/// Tiles by widths, lengths, element type and device.
AttentionTiles chooseAttentionTiles(const AttentionSpec &spec, const symbolic::SymbolTable &symbols,
                                    bool forCpu);

/// On a GPU, tiles of 16-bit floats whose number of rows was made smaller.
void fitFewRows(AttentionTiles &tiles, int64_t width);

} // namespace pellucid::passes
