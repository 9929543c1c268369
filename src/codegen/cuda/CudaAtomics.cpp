// SPDX-License-Identifier: Apache-2.0
// Atomic operations: of all threads that hold an element one does it, and the others get what it
// saw.
#include "codegen/cuda/CudaEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/AtomicOrdering.h"

namespace pellucid::codegen {

using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::Value;

static AtomicOrdering orderingOf(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::RELAXED:
    return AtomicOrdering::Monotonic;
  case tt::MemSemantic::ACQUIRE:
    return AtomicOrdering::Acquire;
  case tt::MemSemantic::RELEASE:
    return AtomicOrdering::Release;
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return AtomicOrdering::AcquireRelease;
  }
  return AtomicOrdering::AcquireRelease;
}

static llvm::SyncScope::ID scopeOf(CodeBuilder &b, tt::MemSyncScope scope) {
  if (scope == tt::MemSyncScope::SYSTEM)
    return llvm::SyncScope::System;
  return b.getContext().getOrInsertSyncScopeID(scope == tt::MemSyncScope::CTA ? "block" : "device");
}

static AtomicRMWInst::BinOp operationOf(tt::RMWOp kind) {
  switch (kind) {
  case tt::RMWOp::AND:
    return AtomicRMWInst::And;
  case tt::RMWOp::OR:
    return AtomicRMWInst::Or;
  case tt::RMWOp::XOR:
    return AtomicRMWInst::Xor;
  case tt::RMWOp::ADD:
    return AtomicRMWInst::Add;
  case tt::RMWOp::FADD:
    return AtomicRMWInst::FAdd;
  case tt::RMWOp::MAX:
    return AtomicRMWInst::Max;
  case tt::RMWOp::MIN:
    return AtomicRMWInst::Min;
  case tt::RMWOp::UMAX:
    return AtomicRMWInst::UMax;
  case tt::RMWOp::UMIN:
    return AtomicRMWInst::UMin;
  case tt::RMWOp::XCHG:
    return AtomicRMWInst::Xchg;
  }
  llvm_unreachable("every operation is in the list");
}

/// Narrow floats are added in their own format, other floats exchanged as their bits.
static llvm::Type *atomicType(CodeBuilder &b, tt::RMWOp kind, mlir::Type element) {
  if (kind == tt::RMWOp::FADD && element.isF16())
    return b.getHalfTy();
  if (kind == tt::RMWOp::FADD && element.isBF16())
    return b.getBFloatTy();
  if (kind == tt::RMWOp::FADD)
    return registerType(b.getContext(), element);
  return b.getIntNTy(8 * memoryBytes(element));
}

Value *CudaEmitter::emitOneRmw(tt::AtomicRMWOp op, Value *pointer, Value *value) {
  mlir::Type element = elementTypeOf(op.getVal().getType());
  tt::RMWOp kind = op.getAtomicRmwOp();
  bool isFloat = mlir::isa<mlir::FloatType>(element);
  if ((isFloat && kind != tt::RMWOp::XCHG && kind != tt::RMWOp::FADD) || memoryBytes(element) == 1)
    refuse(op, "combines elements in a way that has no atomic form on the device");
  llvm::Type *type = atomicType(b, kind, element);
  Value *address = b.CreateAddrSpaceCast(pointer, b.getPtrTy(1));
  Value *old = b.CreateAtomicRMW(operationOf(kind), address, b.CreateBitCast(value, type),
                                 llvm::MaybeAlign(memoryBytes(element)), AtomicOrdering::Monotonic,
                                 scopeOf(b, op.getScope()));
  return b.CreateBitCast(old, value->getType());
}

Value *CudaEmitter::emitOneCas(tt::AtomicCASOp op, Value *pointer, Value *expected,
                               Value *desired) {
  mlir::Type element = elementTypeOf(op.getVal().getType());
  llvm::Type *bits = b.getIntNTy(8 * memoryBytes(element));
  AtomicOrdering order = orderingOf(op.getSem());
  AtomicOrdering failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order);
  Value *address = b.CreateAddrSpaceCast(pointer, b.getPtrTy(1));
  Value *pair = b.CreateAtomicCmpXchg(
      address, b.CreateBitCast(expected, bits), b.CreateBitCast(desired, bits),
      llvm::MaybeAlign(memoryBytes(element)), order, failure, scopeOf(b, op.getScope()));
  return b.CreateBitCast(b.CreateExtractValue(pair, 0), desired->getType());
}

/// Runs `emitOne` where `active` holds; its value, or zero.
Value *CudaEmitter::emitWhereActive(Value *active, llvm::Type *type,
                                    llvm::function_ref<Value *()> emitOne) {
  auto *then = llvm::BasicBlock::Create(b.getContext(), "atomic", entry);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "done", entry);
  llvm::BasicBlock *before = b.GetInsertBlock();
  b.CreateCondBr(active, then, after);
  b.SetInsertPoint(then);
  Value *old = emitOne();
  llvm::BasicBlock *end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode *value = b.CreatePHI(type, 2);
  value->addIncoming(llvm::Constant::getNullValue(type), before);
  value->addIncoming(old, end);
  return value;
}

/// `emitOne` gets the pointer and the number of a register; `before` and `behind` whether this
/// thread has an element.
void CudaEmitter::emitAtomic(mlir::Operation *op, mlir::Value pointer, mlir::Value data,
                             mlir::Value mask,
                             llvm::function_ref<Value *(unsigned, Value *)> emitOne,
                             llvm::function_ref<void(Value *)> before,
                             llvm::function_ref<void(Value *)> behind) {
  mlir::Type element = elementTypeOf(data.getType());
  llvm::Type *type = registerType(b.getContext(), element);
  bool isTile = mlir::isa<mlir::RankedTensorType>(pointer.getType());
  // A scalar is a tile of rank zero, which every thread holds.
  Layout layout = isTile ? layoutOf(pointer) : Layout::blocked({}, {}, 1, options.numWarps);
  Registers pointers = registersOf(pointer);
  Registers active(pointers.size(), isFirstHolder(layout));
  if (mask) {
    Registers masks = registersOf(mask);
    for (size_t r = 0; r < masks.size(); ++r)
      active[r] = b.CreateAnd(active[r], masks[r]);
  }
  // What the block wrote before is seen by whoever sees the atomic.
  emitBarrier();
  Value *some = b.CreateOr(active);
  before(some);
  Registers old;
  for (unsigned r = 0; r < pointers.size(); ++r)
    old.push_back(emitWhereActive(active[r], type, [&] { return emitOne(r, pointers[r]); }));
  behind(some);
  uint64_t place = 0;
  if (!op->use_empty()) {
    Value *holds = isFirstHolder(layout);
    place = ttgpu::offsetOf(op);
    for (unsigned r = 0; r < old.size(); ++r)
      writeShared(place, element, position(layout, r), old[r], holds);
  }
  emitBarrier();
  if (op->use_empty())
    return;
  for (unsigned r = 0; r < old.size(); ++r)
    old[r] = readShared(place, element, position(layout, r));
  hold(op->getResult(0), old);
}

/// Neighbours of 16 bits whose former values nobody asks for are added in pairs; false where they
/// are not known to be such.
bool CudaEmitter::addNeighbours(tt::AtomicRMWOp op, llvm::function_ref<void(Value *)> fence) {
  mlir::Type element = elementTypeOf(op.getVal().getType());
  bool hasPairs = element.isF16() || (element.isBF16() && options.sm >= 90);
  if (op.getAtomicRmwOp() != tt::RMWOp::FADD || !hasPairs || !op->use_empty() ||
      op.getScope() != tt::MemSyncScope::GPU || !mlir::isa<mlir::RankedTensorType>(op.getType()))
    return false;
  const Layout &layout = layoutOf(op.getPtr());
  TileAccess access{registersOf(op.getPtr()), {}, 1, element};
  access.vector = vectorLength(op.getPtr(), layout, element);
  followFirstPointers(access);
  judgeVectors(access, op.getPtr(), op.getMask());
  if (access.vector < 2 || !access.isSure())
    return false;
  Registers active(access.pointers.size(), isFirstHolder(layout));
  if (op.getMask())
    for (auto [one, mask] : llvm::zip(active, registersOf(op.getMask())))
      one = b.CreateAnd(one, mask);
  auto *type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(1), b.i32(), b.getInt1Ty()}, false);
  std::string text = std::string("@$2 red.relaxed.gpu.global.add.noftz.") +
                     (element.isF16() ? "f16x2" : "bf16x2") + " [$0], $1;";
  auto *code = llvm::InlineAsm::get(type, text, "l,r,b,~{memory}", true);
  Registers words = packWords(registersOf(op.getVal()), 2, element);
  emitBarrier();
  if (llvm::isReleaseOrStronger(orderingOf(op.getSem())))
    fence(b.CreateOr(active));
  for (size_t w = 0; w < words.size(); ++w)
    b.CreateCall(code, {b.CreateAddrSpaceCast(access.pointers[2 * w], b.getPtrTy(1)),
                        b.CreateBitCast(words[w], b.i32()), active[2 * w]});
  if (llvm::isAcquireOrStronger(orderingOf(op.getSem())))
    fence(b.CreateOr(active));
  emitBarrier();
  return true;
}

/// PTX's atomics but `cas` come out of LLVM without their order: fences give it, one for all
/// elements.
void CudaEmitter::emitAtomicRmw(tt::AtomicRMWOp op) {
  Registers values = registersOf(op.getVal());
  AtomicOrdering order = orderingOf(op.getSem());
  auto fence = [&](Value *active) {
    emitWhen(b, active,
             [&] { b.CreateFence(AtomicOrdering::AcquireRelease, scopeOf(b, op.getScope())); });
  };
  if (addNeighbours(op, fence))
    return;
  emitAtomic(
      op, op.getPtr(), op.getVal(), op.getMask(),
      [&](unsigned r, Value *pointer) { return emitOneRmw(op, pointer, values[r]); },
      [&](Value *active) {
        if (llvm::isReleaseOrStronger(order))
          fence(active);
      },
      [&](Value *active) {
        if (llvm::isAcquireOrStronger(order))
          fence(active);
      });
}

void CudaEmitter::emitAtomicCas(tt::AtomicCASOp op) {
  Registers expected = registersOf(op.getCmp()), desired = registersOf(op.getVal());
  auto none = [](Value *) {};
  emitAtomic(
      op, op.getPtr(), op.getVal(), {},
      [&](unsigned r, Value *pointer) { return emitOneCas(op, pointer, expected[r], desired[r]); },
      none, none);
}

} // namespace pellucid::codegen
