// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/TtGpu.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "codegen/gpu/TtGpuDialect.cpp.inc"

#include "codegen/gpu/TtGpuEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/gpu/TtGpuAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "codegen/gpu/TtGpuTypes.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/gpu/TtGpuOps.cpp.inc"

using namespace mlir;

namespace pellucid::ttgpu {

void TtGpuDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "codegen/gpu/TtGpuOps.cpp.inc"
      >();
}

void TtGpuDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/gpu/TtGpuTypes.cpp.inc"
      >();
}

void TtGpuDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/gpu/TtGpuAttributes.cpp.inc"
      >();
}

TargetAttr targetOf(Operation *op) {
  auto function = isa<tt::FuncOp>(op) ? cast<tt::FuncOp>(op) : op->getParentOfType<tt::FuncOp>();
  return function ? function->getAttrOfType<TargetAttr>(targetName) : TargetAttr();
}

MatrixUnit unitOf(tt::DotOp dot) {
  auto unit = dot->getAttrOfType<MatrixUnitAttr>(unitName);
  return unit ? unit.getValue() : MatrixUnit::None;
}

//===--- verifiers ----------------------------------------------------------------------------===//

LogicalResult BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 unsigned copies, RankedTensorType tile, unsigned along) {
  // buffer_c1
  if (copies == 0)
    return emitError() << "expects at least one copy of the tile";
  // buffer_c2
  if (!tile.hasStaticShape() || tile.getRank() == 0 || tile.getRank() > 2)
    return emitError() << "expects a tile of one or two dims, got " << tile;
  // buffer_c3
  if (along >= tile.getRank())
    return emitError() << "expects 'along' to be a dim of " << tile << ", got " << along;
  return success();
}

/// The tile's shape and elements are those of the buffer.
static LogicalResult verifyFits(Operation *op, Type tile, BufferType buffer) {
  auto own = cast<RankedTensorType>(tile);
  RankedTensorType held = buffer.getTile();
  if (own.getShape() != held.getShape() || own.getElementType() != held.getElementType())
    return op->emitOpError() << "expects the buffer's tile " << held << ", got " << own;
  return success();
}

// share_c1
LogicalResult ShareOp::verify() {
  return verifyFits(*this, getTile().getType(), getBuffer().getType());
}

// read_shared_c1
LogicalResult ReadSharedOp::verify() {
  return verifyFits(*this, getTile().getType(), getBuffer().getType());
}

LogicalResult AsyncCopyOp::verify() {
  // async_copy_c1
  Type copied = tt::valueTypeBehind(getPtr().getType());
  if (!copied)
    return emitOpError() << "expects a tile of pointers, got " << getPtr().getType();
  // async_copy_c2
  if (failed(verifyFits(*this, copied, getBuffer().getType())))
    return failure();
  // async_copy_c3
  if (getMask() && getMask().getType() != tt::maskTypeFor(getPtr().getType()))
    return emitOpError() << "expects a mask of type " << tt::maskTypeFor(getPtr().getType())
                         << ", got " << getMask().getType();
  return success();
}

} // namespace pellucid::ttgpu
