// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/CpuMemory.h"

#include "codegen/common/ControlFlow.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <numeric>

namespace pellucid::codegen {

using llvm::Value;

llvm::AllocaInst *emitVariable(CodeBuilder &b, llvm::Type *type) {
  llvm::IRBuilderBase::InsertPointGuard guard(b);
  llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  b.SetInsertPoint(&entry, entry.begin());
  llvm::AllocaInst *variable = b.CreateAlloca(type);
  variable->setAlignment(llvm::Align(std::min<uint64_t>(
      64, llvm::PowerOf2Ceil(type->getPrimitiveSizeInBits().getFixedValue() / 8 + 1))));
  return variable;
}

static uint64_t bytesOf(llvm::Type *type) {
  return type->isPointerTy() ? 8 : type->getScalarSizeInBits() / 8;
}
static llvm::Align alignOf(llvm::Type *type) { return llvm::Align(bytesOf(type->getScalarType())); }

bool CpuMemory::hasMaskedMove(llvm::Type *type) const {
  return hasAvx512(level) || bytesOf(type) >= 4;
}
bool CpuMemory::hasGather(llvm::Type *type) const { return hasAvx512(level) && bytesOf(type) >= 4; }

Value *CpuMemory::anyActive(const LaneValue &mask, unsigned lanes) {
  if (mask.isUniform())
    return mask.value;
  if (mask.isPrefix())
    return b.CreateICmpSGT(mask.value, b.getInt64(0));
  return lanes == 1 ? mask.value : b.CreateOrReduce(mask.value);
}

Value *CpuMemory::otherOrZero(llvm::Type *type, const LaneValue &other, unsigned lanes) {
  if (other.isOpaque())
    return llvm::Constant::getNullValue(lanesOf(type, lanes));
  Value *value = toVector(b, other, lanes);
  if (value->getType()->getScalarType() != type) // a bool, in memory a byte
    value = b.CreateZExt(value, lanesOf(type, lanes));
  return value;
}

LaneValue CpuMemory::load(mlir::Type element, const LaneValue &pointer, const LaneValue &mask,
                          const LaneValue &other, unsigned lanes) {
  llvm::Type *type = memoryType(b.getContext(), element);
  int64_t stride = 0;
  Value *value;
  bool uniform = false;
  if (lanes == 1 ||
      (pointer.isUniform() && (mask.isUniform()) && (other.isOpaque() || other.isUniform()))) {
    value = loadUniform(type, pointer.value, mask, other, 1);
    uniform = true;
  } else if (pointer.isUniform()) {
    value = loadUniform(type, pointer.value, mask, other, lanes);
  } else if (pointer.hasConstantStride(stride)) {
    value =
        uint64_t(stride) == bytesOf(type) ? loadContiguous(type, pointer.value, mask, other, lanes)
        : hasShortStep(type, stride, mask)
            ? loadApart(type, pointer.value, stride / int64_t(bytesOf(type)), mask, other, lanes)
            : gather(type, pointer, mask, other, lanes);
  } else {
    value = loadStrided(type, pointer, mask, other, lanes);
  }
  if (llvm::Type *held = registerType(b.getContext(), element); held != type)
    value = element.isInteger(1)
                ? b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()))
                : b.CreateTrunc(value, typeLike(value, held));
  return uniform ? LaneValue::uniform(value) : LaneValue::vector(value);
}

Value *CpuMemory::loadUniform(llvm::Type *type, Value *pointer, const LaneValue &mask,
                              const LaneValue &other, unsigned lanes) {
  if (mask.isAlwaysTrue())
    return splatTo(b, b.CreateAlignedLoad(type, pointer, alignOf(type)), lanes);
  Value *address = b.CreateSelect(anyActive(mask, lanes), pointer, safe);
  Value *loaded = splatTo(b, b.CreateAlignedLoad(type, address, alignOf(type)), lanes);
  return b.CreateSelect(toVector(b, mask, lanes), loaded, otherOrZero(type, other, lanes));
}

Value *CpuMemory::loadContiguous(llvm::Type *type, Value *pointer, const LaneValue &mask,
                                 const LaneValue &other, unsigned lanes) {
  llvm::Type *vector = lanesOf(type, lanes);
  if (mask.isAlwaysTrue())
    return b.CreateAlignedLoad(vector, pointer, alignOf(type));
  Value *instead = otherOrZero(type, other, lanes);
  // Suppressing faults of masked-off lanes is slow, so a run without an active lane reads
  // elsewhere.
  Value *address = b.CreateSelect(anyActive(mask, lanes), pointer, safe);
  if (mask.isUniform())
    return b.CreateSelect(mask.value, b.CreateAlignedLoad(vector, address, alignOf(type)), instead);
  if (hasAvx512(level))
    return b.CreateMaskedLoad(vector, address, alignOf(type), toVector(b, mask, lanes), instead);
  if (hasMaskedMove(type))
    return loadBySigns(type, address, toVector(b, mask, lanes), instead);
  return gather(type, LaneValue::ramp(pointer, b.getInt64(bytesOf(type))), mask, other, lanes);
}

/// The intrinsic that reads 32 bytes of such elements where a lane's sign is set.
static llvm::Intrinsic::ID maskedMove(llvm::Type *type) {
  bool isWide = bytesOf(type) == 8;
  if (type->isFloatingPointTy())
    return isWide ? llvm::Intrinsic::x86_avx_maskload_pd_256
                  : llvm::Intrinsic::x86_avx_maskload_ps_256;
  return isWide ? llvm::Intrinsic::x86_avx2_maskload_q_256
                : llvm::Intrinsic::x86_avx2_maskload_d_256;
}

// Not llvm.masked.load: where LLVM 22's selection finds out by itself that no lane of a register is
// active, it loads all of them.
Value *CpuMemory::loadBySigns(llvm::Type *type, Value *address, Value *mask, Value *instead) {
  unsigned lanes = laneCount(mask), perPart = 32 / bytesOf(type);
  llvm::Type *bits = b.getIntNTy(8 * bytesOf(type));
  Value *sign = llvm::ConstantInt::get(bits, llvm::APInt::getSignMask(8 * bytesOf(type)));
  Value *off = llvm::Constant::getNullValue(mask->getType());
  llvm::SmallVector<Value *> parts;
  for (unsigned first = 0; first < lanes; first += perPart) {
    llvm::SmallVector<int> chosen; // of the mask, and behind it of `off`
    for (unsigned lane = first; lane < first + perPart; ++lane)
      chosen.push_back(std::min(lane, lanes));
    Value *signs =
        b.CreateSelect(b.CreateShuffleVector(mask, off, chosen), splatTo(b, sign, perPart),
                       llvm::Constant::getNullValue(lanesOf(bits, perPart)));
    Value *from = b.CreateGEP(type, address, b.getInt64(first));
    parts.push_back(b.CreateIntrinsic(maskedMove(type), {from, signs}));
  }
  Value *loaded = llvm::concatenateVectors(b, parts);
  llvm::SmallVector<int> kept(lanes);
  std::iota(kept.begin(), kept.end(), 0);
  loaded = b.CreateShuffleVector(loaded, kept);
  if (type->isPointerTy())
    loaded = b.CreateIntToPtr(loaded, instead->getType());
  auto *constant = llvm::dyn_cast<llvm::Constant>(instead);
  return constant && constant->isNullValue() ? loaded : b.CreateSelect(mask, loaded, instead);
}

bool CpuMemory::hasShortStep(llvm::Type *type, int64_t stride, const LaneValue &mask) const {
  constexpr int64_t longest = 4;
  int64_t bytes = bytesOf(type), step = stride / bytes;
  bool mayMask = mask.isUniform() || (mask.isPrefix() && hasMaskedMove(type)) ||
                 (mask.isVector() && hasAvx512(level) && bytes >= 2);
  return stride % bytes == 0 && mayMask && (step == -1 || (step > 1 && step <= longest));
}

// A page that holds a byte between two elements of a few bytes holds one of the two. Parts of the
// run overlap by an element, so that none reaches beyond the last lane.
Value *CpuMemory::loadApart(llvm::Type *type, Value *pointer, int64_t step, const LaneValue &mask,
                            const LaneValue &other, unsigned lanes) {
  if (step == -1) {
    llvm::SmallVector<int> reversed;
    for (unsigned lane = lanes; lane-- > 0;)
      reversed.push_back(int(lane));
    Value *first = b.CreateGEP(type, pointer, b.getInt64(1 - int64_t(lanes)));
    LaneValue there = mask;
    if (!mask.isUniform())
      there = LaneValue::vector(b.CreateShuffleVector(toVector(b, mask, lanes), reversed));
    Value *run = b.CreateShuffleVector(loadContiguous(type, first, there, {}, lanes), reversed);
    if (other.isOpaque() || mask.isAlwaysTrue())
      return run;
    return b.CreateSelect(toVector(b, mask, lanes), run, otherOrZero(type, other, lanes));
  }
  unsigned perPart = std::min<uint64_t>(lanes, (hasAvx512(level) ? 64 : 32) / bytesOf(type));
  llvm::SmallVector<Value *> parts;
  for (unsigned start = 0; start < lanes; start += perPart) {
    int64_t reach = perPart - 1; // from one load to the next
    llvm::SmallVector<Value *> run;
    auto loadOf = [&](int64_t lane) { return std::min(lane * step / reach, step - 1); };
    for (int64_t j = 0; j < step; ++j) {
      int64_t from = start * step + j * reach;
      LaneValue there = mask;
      if (mask.isPrefix()) {
        Value *steps = b.CreateMul(b.CreateSub(mask.value, b.getInt64(1)), b.getInt64(step));
        there = LaneValue::prefix(b.CreateSub(b.CreateAdd(steps, b.getInt64(1)), b.getInt64(from)));
      } else if (mask.isVector()) {
        // Of the load's elements those that are lanes.
        llvm::SmallVector<int> chosen(perPart, int(lanes));
        for (int64_t lane = 0; lane < perPart; ++lane)
          if (loadOf(lane) == j)
            chosen[lane * step - j * reach] = int(start + lane);
        Value *none = llvm::Constant::getNullValue(mask.value->getType());
        there = LaneValue::vector(b.CreateShuffleVector(mask.value, none, chosen));
      }
      run.push_back(
          loadContiguous(type, b.CreateGEP(type, pointer, b.getInt64(from)), there, {}, perPart));
    }
    Value *picked = run[0];
    for (int64_t j = 1; j < step; ++j) {
      llvm::SmallVector<int> chosen;
      for (int64_t lane = 0; lane < perPart; ++lane) {
        int64_t load = loadOf(lane), at = lane * step - load * reach;
        bool isNew = load == j, isFirst = j == 1 && load == 0;
        chosen.push_back(int(isNew ? perPart + at : isFirst ? at : lane));
      }
      picked = b.CreateShuffleVector(picked, run[j], chosen);
    }
    parts.push_back(picked);
  }
  Value *loaded = llvm::concatenateVectors(b, parts);
  if (other.isOpaque() || mask.isAlwaysTrue())
    return loaded;
  return b.CreateSelect(toVector(b, mask, lanes), loaded, otherOrZero(type, other, lanes));
}

bool CpuMemory::areLoaded(Value *addresses, unsigned depth) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(addresses);
  if (!instruction || depth == 0 || !instruction->getType()->isVectorTy())
    return false;
  const Value *from = nullptr;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(instruction))
    from = load->getPointerOperand();
  else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
           call && call->getIntrinsicID() == llvm::Intrinsic::masked_load)
    from = call->getArgOperand(0);
  // Scratch memory and variables hold what was computed.
  if (from)
    return !llvm::isa<llvm::Argument, llvm::AllocaInst>(llvm::getUnderlyingObject(from));
  return llvm::any_of(instruction->operands(),
                      [&](Value *operand) { return areLoaded(operand, depth - 1); });
}

// Strides known at run time only, and computed addresses (`offsets % n`), are mostly dense after
// all.
Value *CpuMemory::denseAtRunTime(llvm::Type *type, const LaneValue &pointer, unsigned lanes,
                                 Value *&first) {
  if (pointer.isRamp()) {
    first = pointer.value;
    return b.CreateICmpEQ(pointer.stride, b.getInt64(bytesOf(type)));
  }
  Value *addresses = b.CreatePtrToInt(pointer.value, lanesOf(b.i64(), lanes));
  Value *start = b.CreateExtractElement(addresses, uint64_t(0));
  first = b.CreateExtractElement(pointer.value, uint64_t(0));
  llvm::SmallVector<llvm::Constant *> steps;
  for (unsigned lane = 0; lane < lanes; ++lane)
    steps.push_back(b.getInt64(lane * bytesOf(type)));
  Value *expected = b.CreateAdd(splatTo(b, start, lanes), llvm::ConstantVector::get(steps));
  return b.CreateNot(b.CreateOrReduce(b.CreateICmpNE(addresses, expected)));
}

Value *CpuMemory::loadStrided(llvm::Type *type, const LaneValue &pointer, const LaneValue &mask,
                              const LaneValue &other, unsigned lanes) {
  if (pointer.isVector() && areLoaded(pointer.value))
    return gather(type, pointer, mask, other, lanes);
  llvm::AllocaInst *result = emitVariable(b, lanesOf(type, lanes));
  Value *first;
  Value *dense = denseAtRunTime(type, pointer, lanes, first);
  llvm::BasicBlock *yes = newBlock(b, "dense"), *no = newBlock(b, "strided"),
                   *end = newBlock(b, "loaded");
  b.CreateCondBr(dense, yes, no);
  b.SetInsertPoint(yes);
  b.CreateStore(loadContiguous(type, first, mask, other, lanes), result);
  b.CreateBr(end);
  b.SetInsertPoint(no);
  b.CreateStore(gather(type, pointer, mask, other, lanes), result);
  b.CreateBr(end);
  b.SetInsertPoint(end);
  return b.CreateLoad(result->getAllocatedType(), result);
}

Value *CpuMemory::gather(llvm::Type *type, const LaneValue &pointer, const LaneValue &mask,
                         const LaneValue &other, unsigned lanes) {
  llvm::Type *vector = lanesOf(type, lanes);
  Value *instead = otherOrZero(type, other, lanes);
  Value *active = toVector(b, mask, lanes);
  if (hasGather(type))
    return b.CreateMaskedGather(vector, toVector(b, pointer, lanes), alignOf(type), active,
                                instead);
  // Lane after lane without a branch: lanes that are masked off read elsewhere.
  Value *result = llvm::PoisonValue::get(vector), *addresses = nullptr;
  if (!pointer.isRamp() || !mask.isAlwaysTrue()) {
    addresses = toVector(b, pointer, lanes);
    if (!mask.isAlwaysTrue())
      addresses = b.CreateSelect(active, addresses, splatTo(b, safe, lanes));
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value *address = addresses ? b.CreateExtractElement(addresses, lane)
                               : b.CreateGEP(b.i8(), pointer.value,
                                             b.CreateMul(b.getInt64(lane), pointer.stride));
    result = b.CreateInsertElement(result, b.CreateAlignedLoad(type, address, alignOf(type)), lane);
  }
  return mask.isAlwaysTrue() ? result : b.CreateSelect(active, result, instead);
}

void CpuMemory::forActiveLanes(const LaneValue &pointer, const LaneValue &mask, unsigned lanes,
                               llvm::function_ref<void(Value *, Value *)> body) {
  llvm::AllocaInst *addresses = nullptr;
  if (pointer.isVector()) {
    addresses = emitVariable(b, lanesOf(b.i64(), lanes));
    b.CreateStore(b.CreatePtrToInt(pointer.value, lanesOf(b.i64(), lanes)), addresses);
  }
  Value *active = nullptr, *count = b.getInt64(lanes);
  if (mask.isPrefix())
    count = clampCount(b, mask.value, lanes);
  else if (mask.isUniform())
    count = b.CreateSelect(mask.value, count, b.getInt64(0));
  else
    active = b.CreateZExt(b.CreateBitCast(mask.value, b.getIntNTy(lanes)), b.i64());
  emitLoop(b, b.getInt64(0), count, 1, false, [&](Value *lane) {
    auto visit = [&] {
      Value *address = pointer.value;
      if (addresses)
        address = b.CreateIntToPtr(b.CreateLoad(b.i64(), b.CreateGEP(b.i64(), addresses, lane)),
                                   b.getPtrTy());
      else if (pointer.isRamp())
        address = b.CreateGEP(b.i8(), pointer.value, b.CreateMul(lane, pointer.stride));
      body(lane, address);
    };
    if (!active)
      return visit();
    Value *bit = b.CreateAnd(b.CreateLShr(active, lane), b.getInt64(1));
    emitWhen(b, b.CreateICmpNE(bit, b.getInt64(0)), visit);
  });
}

void CpuMemory::store(mlir::Type element, const LaneValue &pointer, const LaneValue &stored,
                      const LaneValue &mask, unsigned lanes) {
  llvm::Type *type = memoryType(b.getContext(), element);
  Value *value = toVector(b, stored, lanes);
  if (value->getType()->getScalarType() != type)
    value = b.CreateZExt(value, lanesOf(type, lanes));
  int64_t stride = 0;
  if (lanes == 1 || (pointer.isUniform() && !mask.isVector() && !mask.isPrefix())) {
    // Lanes that share an address are stored in order: the last one stays.
    Value *last = lanes == 1 ? value : b.CreateExtractElement(value, lanes - 1);
    Value *address = lanes == 1 ? toVector(b, pointer, 1) : pointer.value;
    auto write = [&] { b.CreateAlignedStore(last, address, alignOf(type)); };
    if (mask.isAlwaysTrue())
      return write();
    return emitWhen(b, toVector(b, mask, 1), write);
  }
  if (pointer.hasConstantStride(stride) && uint64_t(stride) == bytesOf(type))
    return storeContiguous(pointer.value, value, mask, lanes);
  if (pointer.isUniform() || pointer.hasConstantStride(stride) ||
      (pointer.isVector() && hasGather(type) && areLoaded(pointer.value)))
    return scatter(pointer, value, mask, lanes);
  Value *first;
  Value *dense = denseAtRunTime(type, pointer, lanes, first);
  llvm::BasicBlock *yes = newBlock(b, "dense"), *no = newBlock(b, "strided"),
                   *end = newBlock(b, "stored");
  b.CreateCondBr(dense, yes, no);
  b.SetInsertPoint(yes);
  storeContiguous(first, value, mask, lanes);
  b.CreateBr(end);
  b.SetInsertPoint(no);
  scatter(pointer, value, mask, lanes);
  b.CreateBr(end);
  b.SetInsertPoint(end);
}

void CpuMemory::storeWhole(Value *pointer, Value *value) {
  llvm::Align natural = alignOf(value->getType()->getScalarType());
  uint64_t bytes = bytesOf(value->getType()->getScalarType()) * laneCount(value);
  uint64_t vector = hasAvx512(level) ? 64 : 32;
  if (!streaming || bytes % vector) {
    b.CreateAlignedStore(value, pointer, natural);
    return;
  }
  Value *misplaced = b.CreateAnd(b.CreatePtrToInt(pointer, b.i64()), b.getInt64(vector - 1));
  Value *streams = b.CreateAnd(streaming, b.CreateICmpEQ(misplaced, b.getInt64(0)));
  llvm::BasicBlock *past = newBlock(b, "past"), *through = newBlock(b, "through"),
                   *end = newBlock(b, "stored");
  b.CreateCondBr(streams, past, through);
  b.SetInsertPoint(past);
  llvm::StoreInst *store = b.CreateAlignedStore(value, pointer, llvm::Align(vector));
  auto *one = llvm::ConstantAsMetadata::get(b.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b.getContext(), one));
  b.CreateBr(end);
  b.SetInsertPoint(through);
  b.CreateAlignedStore(value, pointer, natural);
  b.CreateBr(end);
  b.SetInsertPoint(end);
}

void CpuMemory::storeContiguous(Value *pointer, Value *value, const LaneValue &mask,
                                unsigned lanes) {
  llvm::Type *type = value->getType()->getScalarType();
  if (mask.isAlwaysTrue())
    return storeWhole(pointer, value);
  if (mask.isUniform())
    return emitWhen(b, mask.value, [&] { storeWhole(pointer, value); });
  if (!hasMaskedMove(type))
    return scatter(LaneValue::ramp(pointer, b.getInt64(bytesOf(type))), value, mask, lanes);
  emitWhen(b, anyActive(mask, lanes),
           [&] { b.CreateMaskedStore(value, pointer, alignOf(type), toVector(b, mask, lanes)); });
}

void CpuMemory::scatter(const LaneValue &pointer, Value *value, const LaneValue &mask,
                        unsigned lanes) {
  llvm::Type *type = value->getType()->getScalarType();
  if (hasGather(type) && !pointer.isUniform()) {
    b.CreateMaskedScatter(value, toVector(b, pointer, lanes), alignOf(type),
                          toVector(b, mask, lanes));
    return;
  }
  llvm::AllocaInst *values = emitVariable(b, value->getType());
  b.CreateStore(value, values);
  forActiveLanes(pointer, mask, lanes, [&](Value *lane, Value *address) {
    Value *one = b.CreateLoad(type, b.CreateGEP(type, values, lane));
    b.CreateAlignedStore(one, address, alignOf(type));
  });
}

} // namespace pellucid::codegen
