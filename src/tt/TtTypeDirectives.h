// SPDX-License-Identifier: Apache-2.0
// Custom directives of TtOps.td: TTIR writes one type and the others follow from it.
#pragma once

#include "tt/TtDialect.h"

#include "mlir/IR/OpImplementation.h"

#include <optional>

namespace pellucid::tt {

using MaybeOperand = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

/// The type of the pointer; mask, other and result follow.
mlir::ParseResult parseLoadTypes(mlir::OpAsmParser &, const MaybeOperand &mask,
                                 const MaybeOperand &other, mlir::Type &ptrType,
                                 mlir::Type &maskType, mlir::Type &otherType,
                                 mlir::Type &resultType);
void printLoadTypes(mlir::OpAsmPrinter &, mlir::Operation *, mlir::Value mask, mlir::Value other,
                    mlir::Type ptrType, mlir::Type maskType, mlir::Type otherType,
                    mlir::Type resultType);

/// The type of the pointer; value and mask follow.
mlir::ParseResult parseStoreTypes(mlir::OpAsmParser &, const MaybeOperand &mask,
                                  mlir::Type &ptrType, mlir::Type &valueType, mlir::Type &maskType);
void printStoreTypes(mlir::OpAsmPrinter &, mlir::Operation *, mlir::Value mask, mlir::Type ptrType,
                     mlir::Type valueType, mlir::Type maskType);

/// The type of the counted tile; the mask follows.
mlir::ParseResult parseHistogramTypes(mlir::OpAsmParser &, const MaybeOperand &mask,
                                      mlir::Type &srcType, mlir::Type &maskType);
void printHistogramTypes(mlir::OpAsmPrinter &, mlir::Operation *, mlir::Value mask,
                         mlir::Type srcType, mlir::Type maskType);

} // namespace pellucid::tt
