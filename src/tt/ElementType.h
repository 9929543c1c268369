// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"

namespace pellucid::tt {

/// The IR's type for elements of `type`. Integers have no sign there; a bool is an i1.
mlir::Type elementType(mlir::MLIRContext *context, DataType type);

} // namespace pellucid::tt
