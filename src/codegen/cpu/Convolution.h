// SPDX-License-Identifier: Apache-2.0
// Convolutions of the graph as library kernels, whatever their sizes: one that multiplies the
// weight by windows which each program packs for itself, and one for channels that have a kernel
// each (docs/design/0050).
#pragma once

#include "codegen/cpu/CompileKernel.h"
#include "support/DataType.h"

namespace pellucid::codegen {

/// f32, f64, bf16 or f16 for all operands alike; 16-bit types are summed in f32 and rounded once.
struct ConvolutionKernel {
  DataType type = DataType::Float32;
  bool bias = false;
  CpuLevel level = CpuLevel::X86_64_v3;
  CodeTexts *texts = nullptr; ///< filled when given
};

/// The packed arguments of both kernels, in this order (KernelAbi.h), all of 8 bytes, dims and
/// strides in elements. Three spatial dims, the outer ones of 1 where there are fewer; elements of
/// a line are neighbours, and so are all places of a result's channel.
struct ConvolutionArguments {
  const void *x;
  const void *weight; ///< rows of `k` terms: of each channel the whole kernel
  const void *bias;   ///< one for each result's channel; not read without bias
  void *c;
  int64_t m;        ///< results' channels of a group
  int64_t n;        ///< places of an image
  int64_t k;        ///< terms
  int64_t channels; ///< of the input, of a group
  int64_t groups;
  int64_t rowsAtOnce;    ///< results' channels of one program, at most mostConvolutionRows
  int64_t columnsAtOnce; ///< a multiple of 16, at most windowColumns; of pairs 64
  /// 1: columns are places of lines that go on as far as windows reach, of which a result has
  /// none (docs/design/0077). Of one plane, with stride 1 along all dims, of types that are no
  /// pairs, where a channel's lines have at most lineElements.
  int64_t byLines;
  int64_t input[3], output[3], kernel[3], stride[3], padding[3], dilation[3];
  int64_t batchX, channelX, planeX, lineX; ///< steps
  int64_t batchC, channelC;
  int64_t biasStep;
};
inline constexpr unsigned convolutionFields = 37;
inline constexpr int64_t mostConvolutionRows = 384;

/// Programs: x = blocks of rowsAtOnce channels, y = blocks of columnsAtOnce columns, z = groups of
/// images.

/// Emits the kernel as `symbol`. On failure reports through `diagnostics`.
bool compileConvolution(const ConvolutionKernel &kernel, std::string_view symbol,
                        CompiledObject &object, Diagnostics &diagnostics);
/// Where `channels` is 1: a program for each channel of a result (x), of an image (y) and of a
/// plane (z).
bool compileDepthwise(const ConvolutionKernel &kernel, std::string_view symbol,
                      CompiledObject &object, Diagnostics &diagnostics);

} // namespace pellucid::codegen
