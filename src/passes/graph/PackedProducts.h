// SPDX-License-Identifier: Apache-2.0
/// Matrix products as the CPU's own kernels over packed right operands (docs/design/0006).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"
#include "passes/graph/KernelText.h"
#include "passes/graph/LowerConvolutions.h"

#include <functional>
#include <map>
#include <tuple>

namespace pellucid::passes {

class PackedProducts {
public:
  /// An uninitialised tensor of this type at the graph's insertion point.
  using MakeEmpty = std::function<graph::Value *(const graph::TensorType &type)>;
  /// A dense row-major copy of what `operand` of `value` says, over `shape`.
  using MakeDense = std::function<graph::Value *(graph::Value *value, const TextOperand &operand,
                                                 const std::vector<symbolic::Expr> &shape)>;

  PackedProducts(graph::Program &p, const graph::OperatorRegistry &r, MakeEmpty empty,
                 MakeDense dense)
      : program(p), registry(r), makeEmpty(std::move(empty)), makeDense(std::move(dense)) {}

  /// The product, at the insertion point; null where these kernels lack its types or strides
  /// (nothing is inserted then). A right operand that is a weight is packed here and becomes a
  /// weight of its own; others are packed by a launch.
  graph::Value *lower(GemmSpec spec, graph::Value *a, graph::Value *b, graph::Value *bias,
                      const graph::TensorType &type);

  /// The convolution into `type`, at the insertion point.
  graph::Value *convolve(const LibraryConvolution &convolution, graph::Value *bias,
                         const graph::TensorType &type);

private:
  struct Packed {
    graph::Value *value = nullptr; ///< null: never
    symbolic::Expr batchStride = 0;
    /// 1 where there are so few rows that each program packs for itself, and nothing is packed
    /// before.
    symbolic::Expr few = 0;
  };
  Packed packRight(const GemmSpec &spec, graph::Value *b);
  graph::Value *packWeight(const GemmSpec &spec, const graph::Value *b);
  /// Only where `wanted` is 1.
  graph::Value *packAtRunTime(const GemmSpec &spec, graph::Value *b, const symbolic::Expr &wanted);
  graph::Value *launch(const package::LibraryKernel &library,
                       std::vector<graph::LaunchOperand> operands, const symbolic::Expr (&grid)[3]);
  uint32_t kernelFor(const package::LibraryKernel &library,
                     const std::vector<graph::LaunchOperand> &operands);

  graph::Program &program;
  const graph::OperatorRegistry &registry;
  MakeEmpty makeEmpty;
  MakeDense makeDense;
  std::map<package::LibraryKernel, uint32_t> kernels;
  /// Storage, offset, strides over batch, k and n, and sizes of what was packed -> the packed
  /// weight.
  std::map<std::pair<const void *, std::vector<int64_t>>, graph::Value *> packedWeights;
};

/// Takes weights that nothing reads out of the program: those that are packed now.
void eraseUnusedWeights(graph::Program &program);

} // namespace pellucid::passes
