// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/CodeBuilder.h"

#include "tt/TtDialect.h"

#include "mlir/IR/BuiltinTypes.h"

namespace pellucid::codegen {

mlir::Type elementTypeOf(mlir::Type type) {
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type))
    return tile.getElementType();
  return type;
}

llvm::Type *registerType(llvm::LLVMContext &context, mlir::Type element) {
  if (mlir::isa<tt::PointerType>(element))
    return llvm::PointerType::get(context, 0);
  if (element.isF32())
    return llvm::Type::getFloatTy(context);
  if (element.isF64())
    return llvm::Type::getDoubleTy(context);
  if (element.isIndex())
    return llvm::Type::getInt64Ty(context);
  return llvm::Type::getIntNTy(context, element.getIntOrFloatBitWidth());
}

llvm::Type *memoryType(llvm::LLVMContext &context, mlir::Type element) {
  if (element.isInteger(1) || element.isInteger(4))
    return llvm::Type::getInt8Ty(context);
  return registerType(context, element);
}

uint64_t memoryBytes(mlir::Type element) {
  if (mlir::isa<tt::PointerType>(element) || element.isIndex())
    return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

llvm::Type *lanesOf(llvm::Type *scalar, unsigned lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

unsigned laneCount(llvm::Value *value) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? vector->getNumElements() : 1;
}

llvm::Value *splatTo(CodeBuilder &builder, llvm::Value *scalar, unsigned lanes) {
  return lanes == 1 ? scalar : builder.CreateVectorSplat(lanes, scalar);
}

llvm::Constant *iota(llvm::Type *type, unsigned lanes) {
  if (lanes == 1)
    return llvm::ConstantInt::get(type, 0);
  llvm::SmallVector<llvm::Constant *> values;
  for (unsigned i = 0; i < lanes; ++i)
    values.push_back(llvm::ConstantInt::get(type, i));
  return llvm::ConstantVector::get(values);
}

llvm::Constant *integerLike(llvm::Value *like, int64_t value) {
  return llvm::ConstantInt::getSigned(like->getType(), value);
}

llvm::Constant *floatLike(llvm::Value *like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

llvm::Type *typeLike(llvm::Value *like, llvm::Type *scalar) {
  return lanesOf(scalar, laneCount(like));
}

} // namespace pellucid::codegen
