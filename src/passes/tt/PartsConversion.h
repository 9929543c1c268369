// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Transforms/DialectConversion.h"

namespace pellucid::tt {

/// Patterns that carry the parts of a value through scf, arith.select and ub.poison wherever
/// `converter` takes the value's type apart.
void populatePartsPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                           mlir::ConversionTarget &target);

} // namespace pellucid::tt
