// SPDX-License-Identifier: Apache-2.0
/// A kernel that the CPU back end has by itself, instead of a TTIR module (docs/design/0006).
#pragma once

#include "support/DataType.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace pellucid::package {

struct LibraryKernel {
  enum class Kind : uint8_t {
    Gemm = 0,      ///< a product whose right side is packed, or is read where it lies
    Pack = 1,      ///< packs a right side for Gemm at run time
    Convolve = 2,  ///< multiplies the windows of a convolution
    Depthwise = 3, ///< a convolution with one input channel per group
  };
  static constexpr std::array<std::string_view, 4> kindNames{"gemm", "pack", "convolve",
                                                             "depthwise"};

  Kind kind = Kind::Gemm;
  DataType type = DataType::Float32; ///< of the operands
  bool bias = false;
  bool unpacked = false; ///< Gemm: few rows read the right side where it lies
  auto operator<=>(const LibraryKernel &) const = default;

  std::string_view kindName() const { return kindNames[static_cast<size_t>(kind)]; }
  /// What multiplies matrices: its launches count m * n * k multiply-adds.
  bool isProduct() const { return kind == Kind::Gemm || kind == Kind::Convolve; }
};

/// `gemm bf16 bias unpacked`: the form in program texts.
std::string toString(const LibraryKernel &kernel);
std::optional<LibraryKernel::Kind> libraryKernelKindNamed(std::string_view name);

} // namespace pellucid::package
