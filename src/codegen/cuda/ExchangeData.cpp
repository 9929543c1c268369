// SPDX-License-Identifier: Apache-2.0
// Data that moves between threads.
#include "codegen/common/ControlFlow.h"
#include "codegen/cuda/CudaEmitter.h"
#include "codegen/gpu/LaneExchange.h"
#include "codegen/gpu/SharedSwizzle.h"
#include "codegen/gpu/WarpMove.h"

#include "llvm/ADT/bit.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

Value *CudaEmitter::sharedAddress(uint64_t byteOffset, mlir::Type element, Value *index) {
  Value *base = b.CreateConstGEP1_64(b.i8(), shared, byteOffset);
  return b.CreateGEP(memoryType(b.getContext(), element), base, index);
}

void CudaEmitter::writeShared(uint64_t byteOffset, mlir::Type element, Value *index, Value *value,
                              Value *condition) {
  auto write = [&] {
    Value *stored = value->getType()->isIntegerTy(1) ? b.CreateZExt(value, b.i8()) : value;
    b.CreateAlignedStore(stored, sharedAddress(byteOffset, element, index),
                         llvm::Align(memoryBytes(element)));
  };
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(condition);
  if (constant && constant->isOne())
    return write();
  emitWhen(b, condition, write);
}

Value *CudaEmitter::readShared(uint64_t byteOffset, mlir::Type element, Value *index) {
  llvm::Type *type = memoryType(b.getContext(), element);
  llvm::Align align(memoryBytes(element));
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(index))
    align = llvm::commonAlignment(llvm::Align(16),
                                  byteOffset + known->getZExtValue() * memoryBytes(element));
  Value *value = b.CreateAlignedLoad(type, sharedAddress(byteOffset, element, index), align);
  return element.isInteger(1) ? b.CreateICmpNE(value, b.getInt8(0)) : value;
}

Registers CudaEmitter::convert(ttgpu::ConvertLayoutOp op) {
  HeldTile tile = held(op.getSrc());
  const Layout &layout = layoutOf(op);
  Registers registers;
  if (auto from = layout.registersIn(tile.layout); !from.empty()) {
    for (unsigned index : from)
      registers.push_back(tile.registers[index]);
    return registers;
  }
  mlir::Type element = elementTypeOf(op.getType());
  if (auto plan = exchangeThatPays(tile.layout, layout))
    return exchangeLanes(tile.registers, element, *plan);
  if (auto move = warpMoveThatPays(tile.layout, layout))
    return moveInWarp(tile.registers, *move);
  return throughShared(ttgpu::offsetOf(op), tile, layout, element);
}

/// What lies side by side in both layouts moves as one word.
Registers CudaEmitter::throughShared(uint64_t at, const HeldTile &tile, const Layout &layout,
                                     mlir::Type element) {
  unsigned bytes = memoryBytes(element);
  SharedWords words(tile.layout, layout, bytes);
  unsigned size = words.size();
  Layout written = words.wordsOf(tile.layout, words.inWritten),
         read = words.wordsOf(layout, words.inRead);
  SharedSwizzle swizzle(written, read, size * bytes);
  std::vector<Value *> into = placesIn(swizzle, written), from = placesIn(swizzle, read);
  Value *holds = isFirstHolder(tile.layout);
  Registers moved(layout.registerCount());
  if (size == 1) {
    for (unsigned r = 0; r < tile.layout.registerCount(); ++r)
      writeShared(at, element, into[r], tile.registers[r], holds);
    emitBarrier();
    for (unsigned r = 0; r < layout.registerCount(); ++r)
      moved[r] = readShared(at, element, from[r]);
    return moved;
  }
  Registers ordered;
  for (unsigned word = 0; word < written.registerCount(); ++word)
    for (unsigned i = 0; i < size; ++i)
      ordered.push_back(tile.registers[SharedWords::registerOf(words.inWritten, word, i)]);
  Registers parts = packWords(ordered, size, element);
  unsigned perWord = parts.size() / written.registerCount();
  auto *type = llvm::FixedVectorType::get(parts[0]->getType(), perWord);
  llvm::Align align(size * bytes);
  auto place = [&](Value *index) {
    return b.CreateGEP(type, b.CreateConstGEP1_64(b.i8(), shared, at), index);
  };
  auto write = [&] {
    for (unsigned word = 0; word < written.registerCount(); ++word) {
      Value *whole = llvm::PoisonValue::get(type);
      for (unsigned i = 0; i < perWord; ++i)
        whole = b.CreateInsertElement(whole, parts[word * perWord + i], i);
      b.CreateAlignedStore(whole, place(into[word]), align);
    }
  };
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(holds);
  if (constant && constant->isOne())
    write();
  else
    emitWhen(b, holds, write);
  emitBarrier();
  for (unsigned word = 0; word < read.registerCount(); ++word) {
    Value *whole = b.CreateAlignedLoad(type, place(from[word]), align);
    Registers loaded;
    for (unsigned i = 0; i < perWord; ++i)
      loaded.push_back(b.CreateExtractElement(whole, i));
    loaded = unpackWords(loaded, size, element);
    for (unsigned i = 0; i < size; ++i)
      moved[SharedWords::registerOf(words.inRead, word, i)] = loaded[i];
  }
  return moved;
}

/// Of each register's element. A thread's place is computed once. What bits of a register's number
/// the thread's own place has not is added, so that it is part of an instruction's address.
std::vector<Value *> CudaEmitter::placesIn(const SharedSwizzle &swizzle, const Layout &layout) {
  Value *number = position(layout, 0), *own = number;
  for (auto [from, to] : swizzle.exchanges)
    own = b.CreateXor(own, b.CreateAnd(b.CreateLShr(number, from - to), 1u << to));
  uint32_t reached = 0;
  for (const Layout::Bits *bits : {&layout.lanes, &layout.warps})
    for (const Layout::Point &point : *bits)
      reached |= swizzle.placeOf(rowMajor(layout, point));
  std::vector<Value *> places;
  std::map<uint32_t, Value *> bases;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    uint32_t place = swizzle.placeOf(rowMajor(layout, layout.registerPoint(r)));
    Value *&base = bases[place & reached];
    if (!base)
      base = b.CreateXor(own, place & reached);
    places.push_back(b.CreateAdd(base, b.getInt32(place & ~reached), "", true, true));
  }
  return places;
}

Registers CudaEmitter::exchangeLanes(const Registers &values, mlir::Type element,
                                     const LaneExchange &plan) {
  // Two neighbours of 16 bits move as one word.
  bool inWords = memoryBytes(element) == 2 &&
                 llvm::all_of(plan.exchanges, [](BitExchange one) { return one.registerBit > 0; });
  Registers held = inWords ? packWords(values, 2, element) : values;
  for (auto [bit, laneBit] : plan.exchanges) {
    unsigned partner = 1u << (bit - inWords);
    Value *isUpper =
        b.CreateICmpNE(b.CreateAnd(threadNumbers.lane, b.getInt32(1u << laneBit)), b.getInt32(0));
    for (unsigned r = 0; r < held.size(); ++r) {
      if (r & partner)
        continue;
      Value *&low = held[r], *&high = held[r | partner];
      Value *other = shuffle(b.CreateSelect(isUpper, low, high), 1u << laneBit);
      low = b.CreateSelect(isUpper, other, low);
      high = b.CreateSelect(isUpper, high, other);
    }
  }
  if (inWords)
    held = unpackWords(held, 2, element);
  Registers ordered;
  for (unsigned from : plan.registers)
    ordered.push_back(held[from]);
  return ordered;
}

// Each of the registers that some thread wants comes from one lane for each thread, and the thread
// chooses between them by its number.
Registers CudaEmitter::moveInWarp(const Registers &values, const WarpMove &move) {
  Value *lane = b.getInt32(0);
  llvm::SmallVector<Value *> changes(llvm::bit_width(move.chosenBits()), b.getFalse());
  for (auto [number, bits] :
       {std::pair(threadNumbers.lane, &move.ofLane), std::pair(threadNumbers.warp, &move.ofWarp)})
    for (auto [bit, source] : llvm::enumerate(*bits)) {
      Value *isSet = b.CreateICmpNE(b.CreateAnd(number, b.getInt32(1u << bit)), b.getInt32(0));
      Value *change = b.CreateSelect(isSet, b.getInt32(source.lane), b.getInt32(0));
      lane = b.CreateXor(lane, change);
      for (unsigned of = 0; of < changes.size(); ++of)
        if (source.reg >> of & 1)
          changes[of] = b.CreateXor(changes[of], isSet);
    }
  bool staysInThreads = move.staysInThreads();
  std::map<std::pair<unsigned, unsigned>, Value *> had; // by register and what changes the lane
  auto fetch = [&](unsigned reg, unsigned laneChange) {
    Value *&value = had[{reg, laneChange}];
    if (!value)
      value = staysInThreads ? values[reg]
                             : shuffleFrom(values[reg], b.CreateXor(lane, b.getInt32(laneChange)));
    return value;
  };
  Registers moved;
  for (unsigned r = 0; r < 1u << move.ofRegister.size(); ++r) {
    WarpMove::Source source = move.sourceOf(r);
    auto choose = [&](auto &self, unsigned of, unsigned reg) -> Value * {
      if (of == changes.size())
        return fetch(reg, source.lane);
      Value *kept = self(self, of + 1, reg);
      if (!(move.chosenBits() >> of & 1))
        return kept;
      return b.CreateSelect(changes[of], self(self, of + 1, reg ^ 1u << of), kept);
    };
    moved.push_back(choose(choose, 0, source.reg));
  }
  return moved;
}

Value *CudaEmitter::shuffle(Value *value, unsigned laneMask) {
  return shuffleBy(I::nvvm_shfl_sync_bfly_i32, value, b.getInt32(laneMask));
}

Value *CudaEmitter::shuffleFrom(Value *value, Value *lane) {
  return shuffleBy(I::nvvm_shfl_sync_idx_i32, value, lane);
}

Value *CudaEmitter::shuffleBy(unsigned intrinsic, Value *value, Value *lane) {
  llvm::Type *type = value->getType();
  unsigned bits = type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits().getFixedValue();
  auto exchange = [&](Value *word) {
    return b.CreateIntrinsic(intrinsic, {}, {b.getInt32(~0u), word, lane, b.getInt32(31)});
  };
  Value *raw = type->isPointerTy() ? b.CreatePtrToInt(value, b.i64())
                                   : b.CreateBitCast(value, b.getIntNTy(bits));
  if (bits <= 32) {
    raw = b.CreateTrunc(exchange(b.CreateZExt(raw, b.i32())), b.getIntNTy(bits));
  } else {
    Value *low = exchange(b.CreateTrunc(raw, b.i32()));
    Value *high = exchange(b.CreateTrunc(b.CreateLShr(raw, 32), b.i32()));
    raw = b.CreateOr(b.CreateZExt(low, b.i64()), b.CreateShl(b.CreateZExt(high, b.i64()), 32));
  }
  return type->isPointerTy() ? b.CreateIntToPtr(raw, type) : b.CreateBitCast(raw, type);
}

} // namespace pellucid::codegen
