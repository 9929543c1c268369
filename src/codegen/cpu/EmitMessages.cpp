// SPDX-License-Identifier: Apache-2.0
// device_assert and device_print: what a program says to the host through its KernelContext.
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "tt/Tt.h"

#include <cstddef>

namespace pellucid::codegen {

using llvm::Value;
using package::KernelContext;

int32_t KernelEmitter::addMessage(mlir::Operation *op, KernelMessage message) {
  SourceLocation where = tt::sourceLocationOf(op->getLoc());
  message.file = where.file ? where.file->path() : where.name;
  message.line = where.range.line;
  message.column = where.range.column;
  object.messages.push_back(std::move(message));
  return static_cast<int32_t>(object.messages.size() - 1);
}

void KernelEmitter::emitFailure(Value *failed, int32_t message) {
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *fail = llvm::BasicBlock::Create(b.getContext(), "fail", function);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "holds", function);
  b.CreateCondBr(failed, fail, after);
  b.SetInsertPoint(fail);
  auto field = [&](size_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.i8(), entry->getArg(5), offset);
  };
  b.CreateStore(b.getInt32(1), field(offsetof(KernelContext, failure)));
  b.CreateStore(b.getInt32(message), field(offsetof(KernelContext, message)));
  for (int axis = 0; axis < 3; ++axis)
    b.CreateStore(b.CreateLoad(b.i32(), program[axis]),
                  field(offsetof(KernelContext, program) + 4 * axis));
  emitReturn(1);
  b.SetInsertPoint(after);
}

void KernelEmitter::emitAssert(tt::AssertOp op) {
  int32_t message = addMessage(op, {false, op.getMessage().str(), "", 0, 0, false});
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(op.getCondition().getType());
  if (!type)
    return emitFailure(b.CreateNot(scalar(op.getCondition())), message);
  NestShape nest = nestOver(type.getShape(), {op.getCondition()});
  llvm::Type *lanes = lanesOf(b.getInt1Ty(), nest.lanes);
  llvm::AllocaInst *failed = emitVariable(b, lanes);
  b.CreateStore(llvm::Constant::getNullValue(lanes), failed);
  emitNest(nest, {op.getCondition()}, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *broken = b.CreateNot(chunk.evaluateVector(op.getCondition(), at));
    b.CreateStore(b.CreateOr(b.CreateLoad(lanes, failed), broken), failed);
  });
  Value *any = b.CreateLoad(lanes, failed);
  emitFailure(nest.lanes > 1 ? b.CreateOrReduce(any) : any, message);
}

/// i64 or double, as the print callback takes them.
static Value *printedValue(CodeBuilder &b, Value *value, mlir::Type element, bool isSigned) {
  if (mlir::isa<mlir::FloatType>(element))
    return narrowFloat(b, widenFloat(b, value, element),
                       mlir::Float64Type::get(element.getContext()));
  llvm::Type *type = typeLike(value, b.i64());
  if (mlir::isa<tt::PointerType>(element))
    return b.CreatePtrToInt(value, type);
  return isSigned && !element.isInteger(1) ? b.CreateSExt(value, type) : b.CreateZExt(value, type);
}

void KernelEmitter::emitPrint(tt::PrintOp op) {
  int32_t message = addMessage(op, {true, op.getPrefix().str(), "", 0, 0, op.getHex()});
  Value *context = entry->getArg(5);
  auto field = [&](size_t offset) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.i8(), context, offset));
  };
  Value *callback = field(offsetof(KernelContext, print));
  Value *state = field(offsetof(KernelContext, printState));
  llvm::AllocaInst *ids = emitVariable(b, llvm::ArrayType::get(b.i32(), 3));
  for (int axis = 0; axis < 3; ++axis)
    b.CreateStore(b.CreateLoad(b.i32(), program[axis]), b.CreateConstGEP1_32(b.i32(), ids, axis));
  auto *type = llvm::FunctionType::get(
      b.getVoidTy(), {b.getPtrTy(), b.i32(), b.getPtrTy(), b.i32(), b.getPtrTy(), b.i64()}, false);
  auto call = [&](int32_t kind, Value *values, uint64_t count) {
    emitWhen(b, b.CreateIsNotNull(callback), [&] {
      b.CreateCall(type, callback,
                   {state, b.getInt32(message), ids, b.getInt32(kind), values, b.getInt64(count)});
    });
  };
  if (op.getArgs().empty())
    call(0, llvm::ConstantPointerNull::get(b.getPtrTy()), 0);
  for (auto [index, argument] : llvm::enumerate(op.getArgs())) {
    mlir::Type element = elementTypeOf(argument.getType());
    bool isFloat = mlir::isa<mlir::FloatType>(element);
    bool isSigned = index < op.getIsSigned().size() && op.getIsSigned()[index];
    mlir::Builder builder(op.getContext());
    mlir::Type printed = isFloat ? mlir::Type(builder.getF64Type()) : builder.getI64Type();
    auto tile = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
    if (!tile) {
      TileBuffer one = allocate(printed, {});
      b.CreateStore(printedValue(b, scalar(argument), element, isSigned), one.base);
      call(isFloat, one.base, 1);
      continue;
    }
    TileBuffer values = allocate(printed, tile.getShape());
    emitNest(nestOver(tile.getShape(), {argument}), {argument}, {},
             [&, argument = argument](LaneEvaluator &chunk, IndexMapId at) {
               Value *lanes = chunk.evaluateVector(argument, at);
               chunk.writeBuffer(values, at,
                                 LaneValue::vector(printedValue(b, lanes, element, isSigned)));
             });
    call(isFloat, values.base, tile.getNumElements());
  }
}

} // namespace pellucid::codegen
