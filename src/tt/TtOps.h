// SPDX-License-Identifier: Apache-2.0
// Every operation class of the dialect; include where operations are matched or built.
#pragma once

#include "tt/TtDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pellucid::tt {

/// All memory reachable through pointers and descriptors.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "<GlobalMemory>"; }
};

/// A tile's type, of a value that is known to be one.
inline mlir::RankedTensorType tileTypeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace pellucid::tt

#define GET_OP_CLASSES
#include "tt/TtOps.h.inc"

#define GET_OP_CLASSES
#include "tt/BorrowedOps.h.inc"
