// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/TileValue.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace pellucid::reference {

TileValue zerosOf(Type type) {
  TileValue value;
  value.elementType = type;
  if (auto tile = dyn_cast<RankedTensorType>(type)) {
    value.elementType = tile.getElementType();
    value.shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  value.elements.resize(countOf(value.shape));
  return value;
}

TileValue scalarOf(Type elementType, uint64_t bits) {
  TileValue value;
  value.elementType = elementType;
  value.elements = {{bits}};
  return value;
}

unsigned widthOf(Type elementType) {
  if (isa<tt::PointerType, IndexType>(elementType))
    return 64;
  return elementType.getIntOrFloatBitWidth();
}

unsigned bytesInMemory(Type elementType) { return (widthOf(elementType) + 7) / 8; }

const FloatFormat &formatOf(Type floatType) {
  if (isa<Float32Type>(floatType))
    return float32Format;
  if (isa<Float64Type>(floatType))
    return float64Format;
  if (isa<Float16Type>(floatType))
    return float16Format;
  if (isa<BFloat16Type>(floatType))
    return bfloat16Format;
  if (isa<Float8E4M3FNType>(floatType))
    return float8E4M3FNFormat;
  if (isa<Float8E5M2Type>(floatType))
    return float8E5M2Format;
  if (isa<Float8E4M3FNUZType>(floatType))
    return float8E4M3FNUZFormat;
  if (isa<Float8E5M2FNUZType>(floatType))
    return float8E5M2FNUZFormat;
  if (isa<Float8E4M3B11FNUZType>(floatType))
    return float8E4M3B11FNUZFormat;
  llvm_unreachable("not a float type of the dialect");
}

Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Shape coordinatesOf(int64_t index, ArrayRef<int64_t> shape) {
  Shape coordinates(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    coordinates[dim] = index % shape[dim];
    index /= shape[dim];
  }
  return coordinates;
}

} // namespace pellucid::reference
