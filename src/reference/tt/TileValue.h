// SPDX-License-Identifier: Apache-2.0
// What an SSA value holds while a kernel is interpreted.
#pragma once

#include "reference/tt/FloatFormat.h"
#include "tt/TtDialect.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pellucid::reference {

using Shape = llvm::SmallVector<int64_t, 4>;

/// The exact bits of one element in the low bits of `bits`, zeros above.
struct Element {
  uint64_t bits = 0;
  /// Of a pointer: the kernel argument it was made from, -1 if none.
  int32_t origin = -1;
};

/// A strided tensor in memory and, for a block pointer, where in it the block starts.
struct BlockView {
  Element base;
  llvm::SmallVector<int64_t, 4> sizes, strides, offsets;
  bool padsWithNan = false;
};

/// A scalar (empty shape, one element), a tile in row-major order, a block pointer or a descriptor.
struct TileValue {
  mlir::Type elementType;
  Shape shape;
  std::vector<Element> elements;
  std::shared_ptr<const BlockView> block;

  bool isScalar() const { return shape.empty(); }
  int64_t count() const { return static_cast<int64_t>(elements.size()); }
  /// The element at `index`; a scalar stands for a tile of any shape.
  const Element &at(int64_t index) const { return elements[elements.size() == 1 ? 0 : index]; }
};

using TilePtr = std::shared_ptr<const TileValue>;

/// A tile of zeros of the shape and element type of `type`.
TileValue zerosOf(mlir::Type type);
TileValue scalarOf(mlir::Type elementType, uint64_t bits);

/// Bits of an element: pointers and index have 64.
unsigned widthOf(mlir::Type elementType);
/// Bytes of an element in memory: i1 takes one.
unsigned bytesInMemory(mlir::Type elementType);
const FloatFormat &formatOf(mlir::Type floatType);

inline uint64_t wrap(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}
inline int64_t signExtended(uint64_t bits, unsigned width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

/// Row-major strides, in elements.
Shape stridesOf(llvm::ArrayRef<int64_t> shape);
int64_t countOf(llvm::ArrayRef<int64_t> shape);
/// The coordinates of element `index`.
Shape coordinatesOf(int64_t index, llvm::ArrayRef<int64_t> shape);

} // namespace pellucid::reference
