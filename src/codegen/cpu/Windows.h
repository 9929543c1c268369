// SPDX-License-Identifier: Apache-2.0
// What convolution kernels share: their arguments, and loads of what neighbouring windows have at
// one place.
#pragma once

#include "codegen/cpu/LibraryKernel.h"

#include <array>

namespace pellucid::codegen {

/// ConvolutionArguments as values.
struct WindowArguments {
  explicit WindowArguments(LibraryKernel &kernel);

  using Three = std::array<llvm::Value *, 3>;
  llvm::Value *x, *weight, *bias, *c;
  llvm::Value *m, *n, *k, *channels, *groups, *rowsAtOnce, *columnsAtOnce, *byLines;
  Three input, output, kernel, stride, padding, dilation;
  llvm::Value *batchX, *channelX, *planeX, *lineX, *batchC, *channelC, *biasStep;
};

/// Elements of a line, one for each lane, as far apart as windows are.
class WindowLoads {
public:
  WindowLoads(LibraryKernel &kernel, llvm::Value *step, int64_t lanes)
      : l(kernel), step(step), lanes(lanes) {}

  /// Emits `body` for each way to load, where it is the way that the step asks for.
  void forEachWay(llvm::function_ref<void()> body);
  /// The lanes, from the one at index `first` of the line on, that lie within its `size` elements;
  /// both i64.
  llvm::Value *inside(llvm::Value *first, llvm::Value *size);
  /// An i1: all of them do.
  llvm::Value *isWhole(llvm::Value *first, llvm::Value *size);
  /// Bits as they lie in memory, zero where a lane is not inside. `mask` is what inside() gave for
  /// the same way, or null where all are.
  llvm::Value *load(llvm::Value *address, llvm::Value *mask);

private:
  enum class Way : uint8_t { Dense, EverySecond, Apart };
  llvm::Value *chosen(llvm::Value *loaded);
  LibraryKernel &l;
  llvm::Value *step;
  int64_t lanes;
  Way way = Way::Dense;
};

void emitConvolution(LibraryKernel &kernel, bool hasBias);
void emitDepthwise(LibraryKernel &kernel, bool hasBias);

} // namespace pellucid::codegen
