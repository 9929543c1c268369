// SPDX-License-Identifier: Apache-2.0
/// Rows: softmax and the norms, with what is computed of each element before and after
/// (docs/design/0016).
#pragma once

#include "passes/graph/KernelText.h"

namespace pellucid::passes {

/// Over the last dim of `shape`. Strides of all operands run over all of it.
struct RowSpec {
  std::string name;
  graph::RowKernelBody::Rule rule = graph::RowKernelBody::Rule::Softmax;
  std::vector<symbolic::Expr> shape;
  std::vector<TextOperand> inputs; ///< `in0`, `in1`, … in the bodies
  std::vector<TextScalar> scalars;
  size_t rowInputs = 1; ///< the first inputs, which `body` reads; others are for `after`
  std::vector<TextStatement> body;
  std::string value = "in0";         ///< the row's element: the body's name (or in<k>)
  std::string weight, bias;          ///< of a norm: names of inputs; empty: none
  DataType type = DataType::Float32; ///< of the row operator's result, `made` in `after`
  std::vector<TextOperand> stored;   ///< none or one: where `value` itself is written, `o1`
  std::vector<TextStatement> after;
  std::string result = "made";
  TextOperand output;
  /// Only one element of each row is the result: where `index` (0 along the row) says. As for rules
  /// with one number per row, `output` has no stride along the row.
  std::vector<TextIndex> pick; ///< none or one
  std::string operation;       ///< who fails for an index out of range, and where
  SourceLocation where;
  /// Of a variance: what the sum of squared differences is divided by, a number or a name.
  std::string divisor;
  double epsilon = 0;
  DataType compute = DataType::Float32;
};
KernelText writeRow(const RowSpec &spec, const symbolic::SymbolTable &symbols, bool forCpu);

/// Whether rows of this length stay in registers, so that they are read and computed once.
bool isWholeRow(const symbolic::Expr &length, bool forCpu);

} // namespace pellucid::passes
