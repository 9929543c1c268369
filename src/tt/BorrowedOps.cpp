// SPDX-License-Identifier: Apache-2.0
// gpu.barrier, ttg.barrier and llvm.intr.assume: TTIR borrows their names, this file owns them.
#include "tt/TtOps.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "tt/BorrowedOps.cpp.inc"

namespace pellucid::tt {

void GpuDialect::registerOperations() { addOperations<BarrierOp>(); }
void TtgDialect::registerOperations() { addOperations<TtgBarrierOp>(); }
void LlvmDialect::registerOperations() { addOperations<AssumeOp>(); }

} // namespace pellucid::tt
