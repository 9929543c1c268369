// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/TtirVersion.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "tt/TtDialect.h.inc"
#include "tt/gpuDialect.h.inc"
#include "tt/llvmDialect.h.inc"
#include "tt/ttgDialect.h.inc"

#include "tt/TtEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tt/TtAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tt/TtTypes.h.inc"

namespace pellucid::tt {

bool isScalarPointer(mlir::Type type);
bool isBlockPointer(mlir::Type type);

/// What a load through `pointer` gives: `!tt.ptr<T>` -> T, a tile of pointers -> a tile of their
/// pointees, a block pointer -> its tile. Null for anything else.
mlir::Type valueTypeBehind(mlir::Type pointer);

/// i1, or a tile of i1 of the shape (and layout) of `type`.
mlir::Type maskTypeFor(mlir::Type type);

/// `type` with another element type: a scalar becomes `element`, a tile keeps its shape and layout.
mlir::Type withElementType(mlir::Type type, mlir::Type element);

/// The scalar pointer type that a block pointer is made from.
mlir::Type basePointerOf(mlir::Type blockPointer);

} // namespace pellucid::tt
