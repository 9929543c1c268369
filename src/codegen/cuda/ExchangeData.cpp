// SPDX-License-Identifier: Apache-2.0
// Data that moves between threads.
#include "codegen/common/ControlFlow.h"
#include "codegen/cuda/CudaEmitter.h"
#include "codegen/gpu/LaneExchange.h"

#include "tt/Tt.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

/// A block's share of the smallest device of a generation.
static uint64_t mostSharedBytes(uint32_t sm) { return (sm >= 90 ? 227 : 163) << 10; }

/// Exchanges up to this end take turns in shared memory, so that one barrier each is enough.
static constexpr uint64_t sharedForTurns = 16 << 10;

void CudaEmitter::growShared(mlir::Operation *op, uint64_t end) {
  uint64_t most = mostSharedBytes(options.sm);
  result.sharedBytes = std::max<uint32_t>(result.sharedBytes, std::min(end, most));
  if (end > most)
    throw SharedMemoryShortage(DiagnosticError(
        tt::sourceLocationOf(op->getLoc()),
        "'" + op->getName().getStringRef().str() + "' needs " + std::to_string(end) +
            " bytes of shared memory, more than a block has (" + std::to_string(most) + ")"));
}

uint64_t CudaEmitter::claimShared(mlir::Operation *op, uint64_t bytes, uint64_t alignment) {
  bytes = llvm::alignTo(bytes, 16);
  uint64_t begin = llvm::alignTo(sharedReserved, alignment);
  for (const SharedRegion &region : beingRead)
    if (region.begin < begin + bytes)
      begin = llvm::alignTo(std::max(begin, region.end), alignment);
  bool mayMeet =
      exchangesUnknown || (!beingRead.empty() && begin + bytes > sharedReserved + sharedForTurns);
  if (mayMeet) {
    emitBarrier();
    beingRead.clear();
    begin = llvm::alignTo(sharedReserved, alignment);
  }
  exchangesUnknown = false;
  beingRead.push_back({begin, begin + bytes});
  growShared(op, begin + bytes);
  return begin;
}

uint64_t CudaEmitter::reserveShared(mlir::Operation *op, uint64_t bytes) {
  if (exchangesUnknown || !beingRead.empty())
    emitBarrier();
  beingRead.clear();
  exchangesUnknown = false;
  uint64_t begin = llvm::alignTo(sharedReserved, SharedTile::alignment);
  sharedReserved = begin + bytes;
  growShared(op, sharedReserved);
  return begin;
}

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

Registers CudaEmitter::convert(const HeldTile &tile, mlir::Type element, const Layout &layout) {
  Registers registers;
  if (auto from = layout.registersIn(tile.layout); !from.empty()) {
    for (unsigned index : from)
      registers.push_back(tile.registers[index]);
    return registers;
  }
  // More exchanges than that cost more than a way through shared memory.
  constexpr size_t mostExchanges = 2;
  if (auto plan = laneExchange(tile.layout, layout);
      plan && plan->exchanges.size() <= mostExchanges)
    return exchangeLanes(tile.registers, element, *plan);
  uint64_t bytes = memoryBytes(element);
  for (int64_t extent : layout.shape)
    bytes *= extent;
  uint64_t at = claimShared(kernel, bytes);
  Value *holds = isFirstHolder(tile.layout);
  for (unsigned r = 0; r < tile.layout.registerCount(); ++r)
    writeShared(at, element, position(tile.layout, r), tile.registers[r], holds);
  emitBarrier();
  for (unsigned r = 0; r < layout.registerCount(); ++r)
    registers.push_back(readShared(at, element, position(layout, r)));
  return registers;
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

Value *CudaEmitter::shuffle(Value *value, unsigned laneMask) {
  llvm::Type *type = value->getType();
  unsigned bits = type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits().getFixedValue();
  auto exchange = [&](Value *word) {
    return b.CreateIntrinsic(I::nvvm_shfl_sync_bfly_i32, {},
                             {b.getInt32(~0u), word, b.getInt32(laneMask), b.getInt32(31)});
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
