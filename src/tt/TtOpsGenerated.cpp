// SPDX-License-Identifier: Apache-2.0
// The code that TtOps.td generates, apart from what is written by hand.
#include "tt/TtOps.h"
#include "tt/TtTypeDirectives.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "tt/TtOps.cpp.inc"

namespace pellucid::tt {

void TtDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "tt/TtOps.cpp.inc"
      >();
}

} // namespace pellucid::tt
