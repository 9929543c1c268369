// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"

namespace pellucid::codegen {

using llvm::AtomicOrdering;
using llvm::Value;

static constexpr AtomicOrdering order = AtomicOrdering::SequentiallyConsistent;

static std::optional<llvm::AtomicRMWInst::BinOp> integerOperation(tt::RMWOp kind) {
  using Op = llvm::AtomicRMWInst;
  switch (kind) {
  case tt::RMWOp::AND:
    return Op::And;
  case tt::RMWOp::OR:
    return Op::Or;
  case tt::RMWOp::XOR:
    return Op::Xor;
  case tt::RMWOp::ADD:
    return Op::Add;
  case tt::RMWOp::MAX:
    return Op::Max;
  case tt::RMWOp::MIN:
    return Op::Min;
  case tt::RMWOp::UMAX:
    return Op::UMax;
  case tt::RMWOp::UMIN:
    return Op::UMin;
  case tt::RMWOp::XCHG:
    return Op::Xchg;
  case tt::RMWOp::FADD:
    return std::nullopt;
  }
  return std::nullopt;
}

static llvm::MaybeAlign atomicAlignOf(llvm::Type *type) {
  return llvm::MaybeAlign(type->getPrimitiveSizeInBits().getFixedValue() / 8);
}

/// *address = round(*address + value) for formats without an add of their own.
static Value *emitNarrowAdd(CodeBuilder &b, Value *address, Value *value, mlir::Type format) {
  llvm::Type *type = value->getType();
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "retry", function);
  auto *done = llvm::BasicBlock::Create(b.getContext(), "added", function);
  Value *start = b.CreateAlignedLoad(type, address, atomicAlignOf(type));
  llvm::BasicBlock *before = b.GetInsertBlock();
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode *old = b.CreatePHI(type, 2);
  old->addIncoming(start, before);
  Value *sum = b.CreateFAdd(widenFloat(b, old, format), widenFloat(b, value, format));
  Value *next = narrowFloat(b, sum, format);
  Value *exchanged = b.CreateAtomicCmpXchg(address, old, next, atomicAlignOf(type), order, order);
  old->addIncoming(b.CreateExtractValue(exchanged, 0), b.GetInsertBlock());
  b.CreateCondBr(b.CreateExtractValue(exchanged, 1), done, loop);
  b.SetInsertPoint(done);
  return old;
}

Value *KernelEmitter::emitOneRmw(tt::AtomicRMWOp op, Value *address, Value *value) {
  mlir::Type element = elementTypeOf(op.getVal().getType());
  llvm::Type *type = value->getType();
  tt::RMWOp kind = op.getAtomicRmwOp();
  if (kind == tt::RMWOp::FADD) {
    if (isNarrowFloat(element))
      return emitNarrowAdd(b, address, value, element);
    return b.CreateAtomicRMW(llvm::AtomicRMWInst::FAdd, address, value, atomicAlignOf(type), order);
  }
  bool isFloat = mlir::isa<mlir::FloatType>(element);
  if (isFloat && kind != tt::RMWOp::XCHG)
    refuse(op, "combines floats in a way that has no atomic form");
  llvm::Type *bits = b.getIntNTy(type->getPrimitiveSizeInBits());
  Value *old = b.CreateAtomicRMW(*integerOperation(kind), address,
                                 type->isFloatingPointTy() ? b.CreateBitCast(value, bits) : value,
                                 atomicAlignOf(type), order);
  return type->isFloatingPointTy() ? b.CreateBitCast(old, type) : old;
}

void KernelEmitter::emitAtomicRmw(tt::AtomicRMWOp op) {
  if (!mlir::isa<mlir::RankedTensorType>(op.getPtr().getType())) {
    Value *value = scalar(op.getVal());
    llvm::AllocaInst *old = emitVariable(b, value->getType());
    b.CreateStore(llvm::Constant::getNullValue(value->getType()), old);
    emitWhen(b, op.getMask() ? scalar(op.getMask()) : b.getTrue(),
             [&] { b.CreateStore(emitOneRmw(op, scalar(op.getPtr()), value), old); });
    define(op, b.CreateLoad(value->getType(), old));
    return;
  }
  llvm::SmallVector<mlir::Value> roots = {op.getPtr(), op.getVal()};
  if (op.getMask())
    roots.push_back(op.getMask());
  auto shape = mlir::cast<mlir::RankedTensorType>(op.getPtr().getType()).getShape();
  NestShape nest = nestOver(shape, roots);
  nest.lanes = 1;
  std::optional<TileBuffer> result;
  if (!op->use_empty())
    result = allocateFor(op.getResult());
  emitNest(nest, roots, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *value = chunk.evaluateVector(op.getVal(), at);
    Value *address = chunk.evaluateVector(op.getPtr(), at);
    Value *active = op.getMask() ? chunk.evaluateVector(op.getMask(), at) : b.getTrue();
    if (result)
      chunk.writeBuffer(*result, at,
                        LaneValue::uniform(llvm::Constant::getNullValue(value->getType())));
    emitWhen(b, active, [&] {
      Value *old = emitOneRmw(op, address, value);
      if (result)
        chunk.writeBuffer(*result, at, LaneValue::uniform(old));
    });
  });
  if (result)
    buffers[op.getResult()] = *result;
}

void KernelEmitter::emitAtomicCas(tt::AtomicCASOp op) {
  auto exchange = [&](Value *address, Value *expected, Value *desired) -> Value * {
    llvm::Type *type = desired->getType();
    llvm::Type *bits = b.getIntNTy(type->getPrimitiveSizeInBits());
    bool isFloat = type->isFloatingPointTy();
    Value *pair = b.CreateAtomicCmpXchg(
        address, isFloat ? b.CreateBitCast(expected, bits) : expected,
        isFloat ? b.CreateBitCast(desired, bits) : desired, atomicAlignOf(type), order, order);
    Value *old = b.CreateExtractValue(pair, 0);
    return isFloat ? b.CreateBitCast(old, type) : old;
  };
  if (!mlir::isa<mlir::RankedTensorType>(op.getPtr().getType())) {
    define(op, exchange(scalar(op.getPtr()), scalar(op.getCmp()), scalar(op.getVal())));
    return;
  }
  llvm::SmallVector<mlir::Value> roots = {op.getPtr(), op.getCmp(), op.getVal()};
  NestShape nest =
      nestOver(mlir::cast<mlir::RankedTensorType>(op.getPtr().getType()).getShape(), roots);
  nest.lanes = 1;
  TileBuffer result = allocateFor(op.getResult());
  emitNest(nest, roots, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *old =
        exchange(chunk.evaluateVector(op.getPtr(), at), chunk.evaluateVector(op.getCmp(), at),
                 chunk.evaluateVector(op.getVal(), at));
    chunk.writeBuffer(result, at, LaneValue::uniform(old));
  });
  buffers[op.getResult()] = result;
}

} // namespace pellucid::codegen
