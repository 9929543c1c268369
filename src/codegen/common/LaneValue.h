// SPDX-License-Identifier: Apache-2.0
// What is known of a tile's elements in a run of consecutive lanes.
#pragma once

#include "codegen/common/CodeBuilder.h"

namespace pellucid::codegen {

/// The value of a tile expression in `lanes` consecutive lanes, in the most telling form.
/// Contiguous accesses are found because arithmetic keeps these forms (LaneArithmetic.h).
struct LaneValue {
  enum class Kind : uint8_t {
    Opaque,  ///< not known without emitting vector code (row analysis only)
    Uniform, ///< `value` in every lane
    Ramp,    ///< integer or pointer `value` + lane * `stride` (pointers: stride in bytes, i64)
    Prefix,  ///< true in lanes below the i64 `value`, which may be negative or beyond the lanes
    Vector,  ///< `value` is a vector
  };
  Kind kind = Kind::Opaque;
  llvm::Value *value = nullptr;
  llvm::Value *stride = nullptr;
  /// An i1, or null for always (row analysis only): where it is false at run time, a ramp or a
  /// prefix says nothing.
  llvm::Value *sure = nullptr;

  static LaneValue opaque() { return {}; }
  static LaneValue uniform(llvm::Value *value) { return {Kind::Uniform, value, nullptr, nullptr}; }
  static LaneValue ramp(llvm::Value *base, llvm::Value *stride) {
    return {Kind::Ramp, base, stride, nullptr};
  }
  static LaneValue prefix(llvm::Value *count) { return {Kind::Prefix, count, nullptr, nullptr}; }
  /// Of as many lanes as are evaluated; a scalar where that is one.
  static LaneValue vector(llvm::Value *value) { return {Kind::Vector, value, nullptr, nullptr}; }

  bool isOpaque() const { return kind == Kind::Opaque; }
  bool isUniform() const { return kind == Kind::Uniform; }
  bool isRamp() const { return kind == Kind::Ramp; }
  bool isPrefix() const { return kind == Kind::Prefix; }
  bool isVector() const { return kind == Kind::Vector; }
  /// Uniform and the constant true (an i1).
  bool isAlwaysTrue() const;
  /// The stride of a ramp where it is a constant.
  bool hasConstantStride(int64_t &bytesOrUnits) const;
  /// A prefix's count where it is sure, else `otherwise`.
  llvm::Value *countOr(CodeBuilder &builder, int64_t otherwise) const;
};

/// All lanes as one LLVM value: a vector, or a scalar when `lanes` is 1.
llvm::Value *toVector(CodeBuilder &builder, const LaneValue &value, unsigned lanes);

/// A prefix mask's count, brought into [0, lanes].
llvm::Value *clampCount(CodeBuilder &builder, llvm::Value *count, unsigned lanes);

} // namespace pellucid::codegen
