// SPDX-License-Identifier: Apache-2.0
// The dialect of decisions (TtGpu.td), and how they are attached to tt operations.
#pragma once

#include "codegen/gpu/Layout.h"
#include "tt/TtOps.h"

#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/CastInterfaces.h"

#include "codegen/gpu/TtGpuDialect.h.inc"

#include "codegen/gpu/TtGpuEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/gpu/TtGpuAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "codegen/gpu/TtGpuTypes.h.inc"

namespace pellucid::ttgpu {

/// The shared memory of a block.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "<SharedMemory>"; }
};
/// Copies and products that run by themselves.
struct Queue : mlir::SideEffects::Resource::Base<Queue> {
  llvm::StringRef getName() final { return "<Queue>"; }
};

/// On a function: the TargetAttr.
inline constexpr llvm::StringLiteral targetName = "ttgpu.target";
/// On a function that waits for the launches ahead of it itself.
inline constexpr llvm::StringLiteral dependentLaunchName = "ttgpu.dependent_launch";
/// On a tt.dot: the MatrixUnitAttr.
inline constexpr llvm::StringLiteral unitName = "ttgpu.unit";
/// On a tt.dot by warpgroups: its result is not there before an await_products (unit attribute).
inline constexpr llvm::StringLiteral runsName = "ttgpu.runs";
/// On a loop: its rounds are written side by side.
inline constexpr llvm::StringLiteral fewRoundsName = "ttgpu.few_rounds";

/// On a function: tiles may be copied by box.
inline constexpr llvm::StringLiteral copiesTensorsName = "ttgpu.copies_tensors";
/// On a function: an array of TensorMapAttr, parameters of the kernel behind its own.
inline constexpr llvm::StringLiteral tensorMapsName = "ttgpu.tensor_maps";

/// The type of a tile; null for anything else.
inline mlir::RankedTensorType tileOf(mlir::Value value) {
  return mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
}

/// What `op` or a function around it is compiled for; null before choose-products.
TargetAttr targetOf(mlir::Operation *op);
/// A layout as an encoding, and back.
LayoutAttr encodingOf(mlir::MLIRContext *context, const codegen::Layout &layout);
codegen::Layout layoutOf(LayoutAttr encoding, llvm::ArrayRef<int64_t> shape);
/// The layout of a tile; nullopt where it has none.
std::optional<codegen::Layout> layoutOf(mlir::Value tile);

/// The decided unit; None where nothing was decided.
MatrixUnit unitOf(tt::DotOp dot);

} // namespace pellucid::ttgpu

#define GET_OP_CLASSES
#include "codegen/gpu/TtGpuOps.h.inc"
