// SPDX-License-Identifier: Apache-2.0
// What the forms of the attention kernel share. Internal to passes/graph.
#pragma once

#include "passes/graph/AttentionText.h"
#include "passes/graph/KernelWriter.h"

namespace pellucid::passes {

inline constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453;

/// Factors above zero may be applied after the maximum was taken, and log2(e) with them: one
/// multiply-add per score then makes the exponent of 2. What is added to scores may be the lowest
/// finite number, which has no multiple.
bool foldsScale(const AttentionSpec &spec);

/// A program takes all queries of its heads, one after the other, without matrix products: what
/// counts is that keys and values are read once.
KernelText writeAttentionRows(const AttentionSpec &spec, const SymbolTable &symbols);

/// Columns of a tile: `index` is the name of the `size` numbers from `begin` on.
struct Columns {
  std::string index;
  int64_t begin = 0, size = 16;
  int64_t end() const { return begin + size; }
};

class AttentionWriter {
protected:
  AttentionWriter(const AttentionSpec &spec, const SymbolTable &symbols);

  /// Positions of queries and keys are 32 bits where that suffices.
  std::string positionType() const;
  std::string position(const Expr &value);

  Expr rowCount() const;
  std::vector<Expr> programBatch() const;
  void addPointers();
  /// Reads `batch` into the indices of the batch's dims.
  void findBatch();
  /// `factor` of the scores, log2(e) included where it folds.
  void findScale();
  /// The bases of key, value and mask: `kb`, `vb`, `mb`.
  void findBases();

  /// The index of the batch for an operand whose heads are shared by `group`.
  std::vector<std::string> batchOf(const Expr &group);
  /// For operands with all heads of the query; where rows are shared, the head is the rows'.
  std::vector<std::string> queryBatch() const;

  /// The columns of one tile, which may be wider than the rows.
  Columns wholeRow(const char *index, const Expr &width) const;
  /// Emits the numbers of `columns`.
  void define(const Columns &columns);

  /// `mask & (column < width)`, as far as the columns go beyond. `column` is the text for their
  /// index.
  std::string within(const std::string &mask, const std::string &column, const Expr &width,
                     const Columns &columns);
  /// A block of `operand` from `base` on: rows `start + n`, of which a mask leaves those before
  /// `end`.
  std::string loadBlock(const std::string &base, const TextOperand &operand, const Columns &columns,
                        const Expr &width, bool masked);

  const AttentionSpec &spec;
  const SymbolTable &symbols;
  KernelWriter writer;
  std::string compute, factor;
  bool folds;
  std::string bm, bn;
  std::vector<std::string> indices;

private:
  std::string timesStride(const std::string &index, const Expr &stride, bool narrow);
};

} // namespace pellucid::passes
