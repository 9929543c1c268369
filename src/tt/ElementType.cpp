// SPDX-License-Identifier: Apache-2.0
#include "tt/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"

namespace pellucid::tt {

using namespace mlir;

Type elementType(MLIRContext *context, DataType type) {
  switch (type) {
  case DataType::Bool:
    return IntegerType::get(context, 1);
  case DataType::Float16:
    return Float16Type::get(context);
  case DataType::BFloat16:
    return BFloat16Type::get(context);
  case DataType::Float32:
    return Float32Type::get(context);
  case DataType::Float64:
    return Float64Type::get(context);
  case DataType::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DataType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case DataType::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DataType::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  default:
    return IntegerType::get(context, 8 * byteSize(type));
  }
}

} // namespace pellucid::tt
