// SPDX-License-Identifier: Apache-2.0
/// Convolutions as products whose right operand is the input seen through its windows
/// (docs/design/0015).
#pragma once

#include "graph/ops/ConvolutionDims.h"
#include "passes/graph/DeviceModel.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/WindowText.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pellucid::passes {

/// out[g, o, b, y…] = sum over t…, c of a[g, o, t…, c] * b[g, t…, c, b, y…]: groups are the batch,
/// output channels the rows, places of the output the columns. Where channels lie innermost in the
/// result it is out[g, b, y…, o], and places are the rows.
struct WindowProduct {
  GemmSpec spec; ///< without bias
  graph::Value *a = nullptr, *b = nullptr;
};

/// A launch of the CPU's own kernels of convolutions (docs/design/0050): what is theirs beside
/// input, weight, bias and result.
struct LibraryConvolution {
  package::LibraryKernel::Kind kernel = package::LibraryKernel::Kind::Convolve; ///< or Depthwise
  graph::Value *x = nullptr, *weight = nullptr;
  std::vector<std::pair<std::string, symbolic::Expr>> integers;
  symbolic::Expr grid[3];
};

/// Launches it into a dense tensor of the type.
using LaunchLibrary = std::function<graph::Value *(const LibraryConvolution &, graph::Value *bias,
                                                   const graph::TensorType &)>;

class ConvolutionLowering {
public:
  ConvolutionLowering(LaunchEmitter &emitter, const graph::Node &node);

  const graph::ConvolutionDims &dims() const { return sizes; }

  /// The product, whose operands are brought into order by launches at the insertion point.
  /// `forMatrixUnits`: channels are put side by side, so that they move by 16 bytes.
  /// `placesAsRows`: the result's channels lie innermost.
  WindowProduct asProduct(bool forMatrixUnits, bool placesAsRows);
  /// The same with the windows laid out in memory, for library kernels: batch and groups are the
  /// batch, all places of one image the columns.
  WindowProduct withCopiedWindows();
  /// For `result`, whose places are dense; null where these kernels do not fit: an element type, a
  /// dim or a kernel too many.
  std::optional<LibraryConvolution> asLibraryKernel(const graph::TensorType &result);
  /// The result of a transposed convolution with such a kernel: places a step apart are a phase, of
  /// which each is a convolution.
  graph::Value *byPhases(const LaunchLibrary &launch, graph::Value *bias,
                         const graph::TensorType &type);
  /// Few terms for each element: computed one by one, bias included.
  bool hasFewTerms() const;
  graph::Value *asSums(graph::Value *bias, const graph::TensorType &type);

  /// On a device: few channels to a group, added up as the windows lie in the input.
  bool hasOwnWindows() const;
  struct Windows {
    WindowSpec spec; ///< without bias and what follows
    graph::Value *x = nullptr, *weight = nullptr;
  };
  /// `result`: how the results lie.
  Windows asWindows(const graph::TensorType &result);

  /// An operand with the strides of the result's dims, as one of asProduct()'s epilogue.
  TextOperand inPlaces(const TextOperand &operand, bool placesAsRows) const;

private:
  struct Input {
    graph::Value *value = nullptr;
    symbolic::Expr batch, group, channel; ///< strides
    std::vector<symbolic::Expr> spatial;
    int64_t channels = 1; ///< of a group, those that only fill up included
  };
  Input paddedInput(bool channelsLast, int64_t channels, bool hasBorder = true);
  /// The same in one launch, for a convolution that is not transposed.
  Input borderedInput(bool channelsLast, int64_t channels, bool hasBorder);
  /// Whether windows that reach beyond the input are masked instead of padding it.
  bool masksBorder() const;
  void addBorders(GemmSpec &spec, const Input &from) const;
  /// The weight over groups, rows, the kernel's dims, channels.
  TextOperand weightOperand() const;
  static void mergeDepth(GemmSpec &spec);
  TextOperand inOrder(graph::Value *&value, int64_t channels, bool forMatrixUnits);
  int64_t channelsOfGroup() const;
  bool isPadded() const;
  /// A dense copy of what `from` says of `value`.
  graph::Value *copy(graph::Value *value, const TextOperand &from,
                     const std::vector<symbolic::Expr> &shape);
  graph::Value *zeros(const std::vector<symbolic::Expr> &shape);
  graph::Value *copyInto(graph::Value *target, graph::Access access, const TextOperand &place,
                         graph::Value *value, const TextOperand &from,
                         const std::vector<symbolic::Expr> &shape);
  std::vector<symbolic::Expr> columns() const;
  /// Over the result's channels, with the kernel of each of the input's channels behind one
  /// another.
  graph::Value *rowsOfTerms();
  /// Of a transposed convolution: as many channels for each of the result's as there are phases,
  /// with the part of the kernel that reaches such places.
  graph::Value *rowsOfPhases(const std::vector<int64_t> &extents);
  /// What a library kernel computes: the dims of another convolution of the same channels where
  /// this one is transposed.
  struct Plan {
    std::vector<symbolic::Expr> output;
    std::vector<int64_t> kernel, stride, padding, dilation;
    int64_t outputs = 1; ///< channels of a group
  };
  graph::Value *together(graph::Value *value, int64_t phases, const graph::TensorType &type);
  std::optional<LibraryConvolution> planned(const Plan &plan, const graph::TensorType &result);

  LaunchEmitter &emitter;
  const graph::SymbolTable &symbols;
  graph::ConvolutionDims sizes;
  graph::Value *input, *weight;
  bool roundsCopies = false; ///< to tf32, whose units multiply them
  SourceLocation where;
};

} // namespace pellucid::passes
