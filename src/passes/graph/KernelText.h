// SPDX-License-Identifier: Apache-2.0
/// Kernels that the scheduler needs, written as stock Triton source (docs/design/0003). Every kernel has a one-dimensional
/// grid; sizes and strides that are constants stand in the text, the others become scalar parameters.
#pragma once

#include "support/DataType.h"
#include "symbolic/Expr.h"

#include <string>
#include <vector>

namespace pellucid::passes {

/// A finished kernel: `source` holds one @triton.jit function `name`, whose parameters are first `pointers` pointers (in
/// the order of the spec's inputs, then its outputs), then one int64 for each of `scalars`.
struct KernelText {
  std::string name, source;
  size_t pointers = 0;
  std::vector<symbolic::Expr> scalars;
  symbolic::Expr grid = 1;
};

/// A tensor that a generated kernel reads or writes. `strides` has one entry per loop dimension, in elements; 0 where
/// it is broadcast. `offset`, in elements, is from the address that the launch passes.
struct TextOperand {
  DataType dtype = DataType::Float32;
  std::vector<symbolic::Expr> strides;
  symbolic::Expr offset = 0;
};

/// One value of a pointwise body. `text` is an expression of the kernel language over earlier names; `in0`, `in1`, … are
/// the loaded inputs in their stored type. Where `shape` has one dim, `i` is the index.
struct TextStatement {
  std::string name, text;
};
/// An integer that a body mentions by `name`.
struct TextScalar {
  std::string name;
  symbolic::Expr value = 0;
};

/// out_j[i…] = value_j(inputs[i…]) for every index of `shape`.
struct PointwiseSpec {
  std::string name;
  std::vector<symbolic::Expr> shape;
  std::vector<TextOperand> inputs;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::vector<TextOperand> outputs;
  std::vector<std::string> results; ///< per output: the body's name (or in<k>) that is stored
};
/// Merges neighbouring dimensions where every operand allows it, then writes the kernel.
KernelText writePointwise(PointwiseSpec spec, const symbolic::SymbolTable &symbols);

/// How a reduction combines: its identity and the two spellings in the kernel language.
struct ReductionRule {
  std::string identity;     ///< `0.0`, `float("-inf")`, …
  std::string combine;      ///< over `acc` and `v`: `acc + v`, `tl.maximum(acc, v)`
  std::string across;       ///< over the tile `acc`: `tl.sum(acc, axis=0)`
  DataType accumulate = DataType::Float32;
};

/// out[kept…] = finalize(combine over reduced… of value(inputs[kept…, reduced…])). Strides of the inputs are given over
/// kept dimensions, then reduced ones; those of the output over the kept ones.
struct ReductionSpec {
  std::string name;
  std::vector<symbolic::Expr> kept, reduced;
  std::vector<TextOperand> inputs;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::string value; ///< the body's name (or in<k>) that is reduced
  ReductionRule rule;
  std::string finalize = "acc"; ///< over `acc` (the combined value, a scalar or a tile) and the count `n`
  TextOperand output;
};
KernelText writeReduction(ReductionSpec spec, const symbolic::SymbolTable &symbols);

/// The row kernels, each over the last dimension of `shape` (strides of every operand over all of `shape`).
enum class RowKind { Softmax, LogSoftmax, LayerNorm, RmsNorm };
struct RowSpec {
  std::string name;
  RowKind kind = RowKind::Softmax;
  std::vector<symbolic::Expr> shape;
  TextOperand input, output;
  std::vector<TextOperand> affine; ///< LayerNorm: weight and bias; RmsNorm: weight; strides over the last dimension only
  bool hasWeight = false, hasBias = false;
  double epsilon = 0;
  DataType compute = DataType::Float32;
};
KernelText writeRow(const RowSpec &spec, const symbolic::SymbolTable &symbols);

/// out[i…, c] = table[index[i…], c]: shape is the index's shape followed by the row length.
struct GatherRowsSpec {
  std::string name;
  std::vector<symbolic::Expr> shape;
  TextOperand index;  ///< strides over the index's dimensions
  TextOperand table;  ///< strides {row, column}
  TextOperand output; ///< strides over `shape`
  symbolic::Expr rows = 0; ///< of the table; an index outside of 0..rows-1 fails with a device assertion
};
KernelText writeGatherRows(const GatherRowsSpec &spec, const symbolic::SymbolTable &symbols);

/// out[batch…, m, n] = sum over k of a[batch…, m, k] * b[batch…, k, n] (+ bias[…, m, n]), accumulated in `accumulate`.
/// Strides of every operand run over batch…, then its two own dimensions; those of bias over batch…, m, n.
struct GemmSpec {
  std::string name;
  std::vector<symbolic::Expr> batch;
  symbolic::Expr m = 1, n = 1, k = 1;
  TextOperand a, b, output;
  std::vector<TextOperand> bias; ///< none or one
  double alpha = 1, beta = 1;    ///< of the product and of the bias
  DataType accumulate = DataType::Float32;
};
KernelText writeGemm(const GemmSpec &spec, const symbolic::SymbolTable &symbols);

} // namespace pellucid::passes
