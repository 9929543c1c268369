// SPDX-License-Identifier: Apache-2.0
/// Matrix products become launches, with the pointwise operators that follow them where a kernel of
/// ours computes them (docs/design/0006, 0015).
#pragma once

#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/LowerConvolutions.h"
#include "passes/graph/PackedProducts.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/graph/ProductTiles.h"

namespace pellucid::passes {

class ProductLowering {
public:
  ProductLowering(LaunchEmitter &emitter, const DeviceModel &device);

  /// `node` alone.
  void lower(graph::Node &node);

  /// `root` and the pointwise nodes that it takes along (`members`, root among them), as what the
  /// last product that they alone use stores. False, and nothing is changed, where there is none.
  bool lowerConsumers(graph::Node &root, const std::vector<graph::Node *> &members);

  struct Seen;

private:
  Seen productOf(const graph::Node &root, const std::vector<graph::Node *> &members) const;
  bool mayFollow(const Seen &seen, const graph::TensorType &stored) const;
  struct Described {
    GemmSpec spec;
    graph::Value *a = nullptr, *b = nullptr, *bias = nullptr;
  };
  Described describe(const graph::Node &node) const;
  /// Its operands are brought into order by launches at the insertion point. `stored`: how what is
  /// made of the results lies.
  Described describeConvolution(const graph::Node &node, ConvolutionLowering &convolution,
                                const graph::TensorType &stored);
  void lowerConvolution(graph::Node &node);
  /// Few channels to a group, with the pointwise operators of `group` behind them, whose result is
  /// `stored` and lies as `type` says.
  graph::Value *convolveByWindows(const graph::Node &node, ConvolutionLowering &convolution,
                                  PointwiseGroup group, const std::string &stored,
                                  const graph::TensorType &type, const std::string &name,
                                  const SourceLocation &where);
  graph::Value *convolveOnCpu(ConvolutionLowering &convolution, graph::Value *bias,
                              const graph::TensorType &type, const SourceLocation &where);
  /// The same elements as `type` lays them out.
  graph::Value *copyInto(graph::Value *value, const graph::TensorType &type,
                         const SourceLocation &where);
  graph::Value *addChannels(graph::Value *value, graph::Value *bias, const SourceLocation &where);
  void replaceConsumers(graph::Node &root, const graph::Node &maker,
                        const std::vector<graph::Node *> &replaced, graph::Value *out);
  static void addConsumers(GemmSpec &spec, PointwiseGroup group, const std::string &result);
  graph::Value *emit(const Described &product, const std::vector<graph::Value *> &inputs,
                     const graph::TensorType &type, const SourceLocation &where);
  bool multipliesWell(const GemmSpec &spec) const;
  std::optional<Described> withAlignedRows(const Described &product, const SourceLocation &where);
  graph::Value *emitAsSums(const Described &product, const std::vector<graph::Value *> &inputs,
                           const graph::TensorType &type, const SourceLocation &where);
  graph::Value *emitParts(const Described &product, const ProductTile &tile,
                          const std::vector<graph::Value *> &inputs, const graph::TensorType &type,
                          const SourceLocation &where);
  graph::Value *denseCopy(graph::Value *value, const TextOperand &operand,
                          const std::vector<symbolic::Expr> &shape);

  LaunchEmitter &emitter;
  graph::Program &program;
  const graph::OperatorRegistry &registry;
  const DeviceModel &device;
  PackedProducts packed;
};

} // namespace pellucid::passes
