// SPDX-License-Identifier: Apache-2.0
// Global memory. Where neighbouring registers of a thread are neighbours in memory, they move by
// accesses of up to 16 bytes if at run time all of them are active and aligned; else each by
// itself, predicated.
#include "codegen/cuda/CudaEmitter.h"

#include "tt/OffsetAnalysis.h"

#include "llvm/IR/InlineAsm.h"

namespace pellucid::codegen {

using llvm::Value;

static constexpr unsigned globalSpace = 1;
static constexpr unsigned mostAccessBytes = 16;

static Value *globalPointer(CodeBuilder &b, Value *pointer) {
  return b.CreateAddrSpaceCast(pointer, b.getPtrTy(globalSpace));
}

/// An element as an integer of its size in memory, and back.
static Value *toBits(CodeBuilder &b, Value *value, mlir::Type element) {
  llvm::Type *type = b.getIntNTy(8 * memoryBytes(element));
  if (value->getType()->isPointerTy())
    return b.CreatePtrToInt(value, type);
  if (value->getType()->isFloatingPointTy())
    return b.CreateBitCast(value, type);
  return b.CreateZExt(value, type);
}
static Value *fromBits(CodeBuilder &b, Value *bits, mlir::Type element) {
  llvm::Type *type = registerType(b.getContext(), element);
  if (type->isPointerTy())
    return b.CreateIntToPtr(bits, type);
  if (type->isIntegerTy(1))
    return b.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
  if (type->isIntegerTy())
    return b.CreateTrunc(bits, type);
  return b.CreateBitCast(bits, type);
}

/// How inline assembly names a register of `bits` bits.
static const char *registerLetter(unsigned bits) {
  return bits == 64 ? "l" : bits == 32 ? "r" : "h";
}

static bool isTrue(Value *condition) {
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(condition);
  return constant && constant->isOne();
}

unsigned CudaEmitter::vectorLength(mlir::Value pointers, const Layout &layout, mlir::Type element) {
  auto dim = contiguousDim(pointers);
  if (!dim)
    return 1;
  return std::min<unsigned>(layout.contiguousAlong(*dim), mostAccessBytes / memoryBytes(element));
}

Value *CudaEmitter::takesVectors(const Registers &pointers, const Registers &active,
                                 unsigned vector, mlir::Type element) {
  Value *all = b.getTrue(), *addresses = b.getInt64(0);
  for (Value *condition : active)
    all = b.CreateAnd(all, condition);
  for (size_t r = 0; r < pointers.size(); r += vector)
    addresses = b.CreateOr(addresses, b.CreatePtrToInt(pointers[r], b.i64()));
  Value *low = b.CreateAnd(addresses, b.getInt64(vector * memoryBytes(element) - 1));
  return b.CreateAnd(all, b.CreateICmpEQ(low, b.getInt64(0)));
}

/// The words of a vector access: 32 bits, or whole elements of 64, or less where the vector is
/// less.
static llvm::Type *wordType(CodeBuilder &b, unsigned bytes, mlir::Type element) {
  unsigned wordBytes = std::min<unsigned>(bytes, std::max<unsigned>(4, memoryBytes(element)));
  return b.getIntNTy(8 * wordBytes);
}

Registers CudaEmitter::loadVectors(const Registers &pointers, unsigned vector, mlir::Type element) {
  unsigned elementBits = 8 * memoryBytes(element), bytes = vector * memoryBytes(element);
  llvm::Type *word = wordType(b, bytes, element);
  unsigned wordBits = word->getIntegerBitWidth(), perWord = wordBits / elementBits;
  unsigned words = vector / perWord;
  Registers values;
  for (size_t r = 0; r < pointers.size(); r += vector) {
    Value *loaded = b.CreateAlignedLoad(lanesOf(word, words), globalPointer(b, pointers[r]),
                                        llvm::Align(bytes));
    for (unsigned i = 0; i < vector; ++i) {
      Value *bits = words == 1 ? loaded : b.CreateExtractElement(loaded, i / perWord);
      bits = b.CreateTrunc(b.CreateLShr(bits, i % perWord * elementBits), b.getIntNTy(elementBits));
      values.push_back(fromBits(b, bits, element));
    }
  }
  return values;
}

void CudaEmitter::storeVectors(const Registers &pointers, const Registers &values, unsigned vector,
                               mlir::Type element) {
  unsigned elementBits = 8 * memoryBytes(element), bytes = vector * memoryBytes(element);
  llvm::Type *word = wordType(b, bytes, element);
  unsigned perWord = word->getIntegerBitWidth() / elementBits, words = vector / perWord;
  for (size_t r = 0; r < pointers.size(); r += vector) {
    Value *whole = llvm::PoisonValue::get(lanesOf(word, words));
    for (unsigned w = 0; w < words; ++w) {
      Value *sum = llvm::ConstantInt::get(word, 0);
      for (unsigned i = 0; i < perWord; ++i) {
        Value *bits = b.CreateZExt(toBits(b, values[r + w * perWord + i], element), word);
        sum = b.CreateOr(sum, b.CreateShl(bits, i * elementBits));
      }
      whole = words == 1 ? sum : b.CreateInsertElement(whole, sum, w);
    }
    b.CreateAlignedStore(whole, globalPointer(b, pointers[r]), llvm::Align(bytes));
  }
}

Value *CudaEmitter::loadOne(Value *pointer, Value *active, Value *other, mlir::Type element) {
  unsigned bytes = memoryBytes(element);
  if (isTrue(active)) {
    Value *bits =
        b.CreateAlignedLoad(b.getIntNTy(8 * bytes), globalPointer(b, pointer), llvm::Align(bytes));
    return fromBits(b, bits, element);
  }
  // The narrowest registers of PTX have 16 bits.
  unsigned width = std::max(16u, 8 * bytes);
  llvm::Type *type = b.getIntNTy(width);
  std::string letter = registerLetter(width), size = std::to_string(width);
  std::string text =
      "mov.b" + size + " $0, $3; @$2 ld.global." + (bytes == 1 ? "u8" : "b" + size) + " $0, [$1];";
  auto *function =
      llvm::FunctionType::get(type, {b.getPtrTy(globalSpace), b.getInt1Ty(), type}, false);
  auto *code =
      llvm::InlineAsm::get(function, text, "=" + letter + ",l,b," + letter + ",~{memory}", true);
  Value *bits = b.CreateCall(
      code, {globalPointer(b, pointer), active, b.CreateZExt(toBits(b, other, element), type)});
  return fromBits(b, b.CreateTrunc(bits, b.getIntNTy(8 * bytes)), element);
}

void CudaEmitter::storeOne(Value *pointer, Value *value, Value *active, mlir::Type element) {
  unsigned bytes = memoryBytes(element);
  Value *bits = toBits(b, value, element);
  if (isTrue(active)) {
    b.CreateAlignedStore(bits, globalPointer(b, pointer), llvm::Align(bytes));
    return;
  }
  unsigned width = std::max(16u, 8 * bytes);
  llvm::Type *type = b.getIntNTy(width);
  std::string text = std::string("@$2 st.global.") +
                     (bytes == 1 ? "u8" : "b" + std::to_string(width)) + " [$0], $1;";
  auto *function =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(globalSpace), type, b.getInt1Ty()}, false);
  auto *code = llvm::InlineAsm::get(
      function, text, std::string("l,") + registerLetter(width) + ",b,~{memory}", true);
  b.CreateCall(code, {globalPointer(b, pointer), b.CreateZExt(bits, type), active});
}

/// The scalar that a pointer is computed from.
static mlir::Value rootOf(mlir::Value pointer) {
  while (mlir::Operation *op = pointer.getDefiningOp()) {
    if (!mlir::isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
                   tt::TransOp>(op))
      break;
    pointer = op->getOperand(0);
  }
  return pointer;
}

/// Different arguments are taken to be different memory, as Triton's users do; within one, a thread
/// is sure of its own elements only.
static bool mayMeet(const UnorderedAccess &earlier, mlir::Value pointer) {
  mlir::Value root = rootOf(pointer), other = rootOf(earlier.pointer);
  if (root != other)
    return !mlir::isa<mlir::BlockArgument>(root) || !mlir::isa<mlir::BlockArgument>(other);
  auto form = tt::pointerForm(pointer), otherForm = tt::pointerForm(earlier.pointer);
  return earlier.isOfEarlierRound || !form || !otherForm ||
         pointer.getType() != earlier.pointer.getType() || !(form->offset == otherForm->offset);
}

void CudaEmitter::orderAccess(mlir::Value pointer, bool isStore) {
  bool unsure = llvm::any_of(unordered, [&](const UnorderedAccess &earlier) {
    return (isStore || earlier.isStore) && mayMeet(earlier, pointer);
  });
  if (unsure)
    emitBarrier();
  unordered.push_back({pointer, isStore, false});
}

void CudaEmitter::emitLoad(tt::LoadOp op) {
  orderAccess(op.getPtr(), false);
  if (!mlir::isa<mlir::RankedTensorType>(op.getPtr().getType()))
    return emitScalarLoad(op);
  checkedTile(op, op.getResult());
  mlir::Type element = elementTypeOf(op.getType());
  // Spread tiles are loaded as they are wanted, so that nothing moves afterwards.
  Layout layout = accessLayout(op.getPtr(), op.getResult());
  if (layout == anchor(layout.shape))
    layout = wantedLayout(op.getResult());
  Registers pointers = evaluate(op.getPtr(), layout);
  Registers active(pointers.size(), b.getTrue());
  Registers other(pointers.size(),
                  llvm::Constant::getNullValue(registerType(b.getContext(), element)));
  if (op.getMask())
    active = evaluate(op.getMask(), layout);
  if (op.getMask() && op.getOther())
    other = evaluate(op.getOther(), layout);
  auto loadEach = [&] {
    Registers values;
    for (size_t r = 0; r < pointers.size(); ++r)
      values.push_back(loadOne(pointers[r], active[r], other[r], element));
    return values;
  };
  unsigned vector = vectorLength(op.getPtr(), layout, element);
  if (vector == 1) {
    homes[op] = {layout, loadEach()};
    return;
  }
  auto *wide = llvm::BasicBlock::Create(b.getContext(), "wide", entry);
  auto *each = llvm::BasicBlock::Create(b.getContext(), "each", entry);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "loaded", entry);
  b.CreateCondBr(takesVectors(pointers, active, vector, element), wide, each);
  b.SetInsertPoint(wide);
  Registers fast = loadVectors(pointers, vector, element);
  b.CreateBr(after);
  b.SetInsertPoint(each);
  Registers slow = loadEach();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  Registers values;
  for (size_t r = 0; r < pointers.size(); ++r) {
    llvm::PHINode *value = b.CreatePHI(fast[r]->getType(), 2);
    value->addIncoming(fast[r], wide);
    value->addIncoming(slow[r], each);
    values.push_back(value);
  }
  homes[op] = {layout, values};
}

void CudaEmitter::emitScalarLoad(tt::LoadOp op) {
  mlir::Type element = op.getType();
  Value *active = op.getMask() ? scalar(op.getMask()) : b.getTrue();
  Value *other = op.getOther()
                     ? scalar(op.getOther())
                     : llvm::Constant::getNullValue(registerType(b.getContext(), element));
  define(op, loadOne(scalar(op.getPtr()), active, other, element));
}

void CudaEmitter::emitStore(tt::StoreOp op) {
  orderAccess(op.getPtr(), true);
  if (!mlir::isa<mlir::RankedTensorType>(op.getPtr().getType()))
    return emitScalarStore(op);
  checkedTile(op, op.getPtr());
  mlir::Type element = elementTypeOf(op.getValue().getType());
  Layout layout = accessLayout(op.getPtr(), op.getValue());
  Registers values = evaluate(op.getValue(), layout);
  Registers pointers = evaluate(op.getPtr(), layout);
  Registers active(pointers.size(), isFirstHolder(layout));
  if (op.getMask()) {
    const Registers &mask = evaluate(op.getMask(), layout);
    for (size_t r = 0; r < mask.size(); ++r)
      active[r] = b.CreateAnd(active[r], mask[r]);
  }
  auto storeEach = [&] {
    for (size_t r = 0; r < pointers.size(); ++r)
      storeOne(pointers[r], values[r], active[r], element);
  };
  unsigned vector = vectorLength(op.getPtr(), layout, element);
  if (vector == 1)
    return storeEach();
  auto *wide = llvm::BasicBlock::Create(b.getContext(), "wide", entry);
  auto *each = llvm::BasicBlock::Create(b.getContext(), "each", entry);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "stored", entry);
  b.CreateCondBr(takesVectors(pointers, active, vector, element), wide, each);
  b.SetInsertPoint(wide);
  storeVectors(pointers, values, vector, element);
  b.CreateBr(after);
  b.SetInsertPoint(each);
  storeEach();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void CudaEmitter::emitScalarStore(tt::StoreOp op) {
  if (mlir::isa<mlir::RankedTensorType>(op.getValue().getType()))
    refuse(op, "through a block pointer reached code generation");
  Value *active = b.CreateICmpEQ(thread, b.getInt32(0));
  if (op.getMask())
    active = b.CreateAnd(active, scalar(op.getMask()));
  storeOne(scalar(op.getPtr()), scalar(op.getValue()), active, op.getValue().getType());
}

} // namespace pellucid::codegen
