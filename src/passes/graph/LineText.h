// SPDX-License-Identifier: Apache-2.0
/// Running sums and orders as sequences of launches (docs/design/0016).
#pragma once

#include "passes/graph/KernelText.h"

namespace pellucid::passes {

/// Launches one after another. Tensors are counted: the operator's inputs, its results, then
/// buffers; a kernel's pointers are `reads`, then `writes`, then `scratch`, which it writes and
/// reads again.
struct KernelSequence {
  struct Buffer {
    DataType dtype;
    std::vector<symbolic::Expr> shape;
  };
  struct Step {
    KernelText text;
    std::vector<size_t> reads, writes, scratch = {};
  };
  size_t inputs = 1, results = 1;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;

  size_t buffer(DataType dtype, std::vector<symbolic::Expr> shape) {
    buffers.push_back({dtype, std::move(shape)});
    return inputs + results + buffers.size() - 1;
  }
};

/// Over the last dimension of `shape`: running sums or products (one output), the first `places`
/// elements in order and where they stood (two outputs), or the largest or smallest so far, with
/// where its last one stands (two outputs) or without (one).
enum class LineKind { Sum, Product, Sort, Largest, Smallest };
struct LineSpec {
  std::string name;
  LineKind kind = LineKind::Sum;
  std::vector<symbolic::Expr> shape;
  TextOperand input;
  std::vector<TextOperand> outputs;
  DataType compute = DataType::Float32;
  symbolic::Expr places = 0;
  bool descending = false;
  std::string operation; ///< who fails for a line that is too long, and where
  SourceLocation where;
};
KernelSequence writeScan(LineSpec spec, const symbolic::SymbolTable &symbols, bool forCpu);
KernelSequence writeRunningExtremes(LineSpec spec, const symbolic::SymbolTable &symbols,
                                    bool forCpu);
KernelSequence writeSort(LineSpec spec, const symbolic::SymbolTable &symbols, bool forCpu);

} // namespace pellucid::passes
