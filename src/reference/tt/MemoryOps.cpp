// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics through pointers. Those of blocks are in BlockOps.cpp.
#include "reference/tt/BlockAccess.h"
#include "reference/tt/ElementAccess.h"

#include "tt/TtOps.h"

#include <limits>

using namespace mlir;

namespace pellucid::reference {

//===--- one element -----------------------------------------------------------------------===//

uint64_t loadElement(Machine &machine, Operation &op, const Element &pointer, Type elementType,
                     AccessKind kind) {
  uint64_t bits =
      machine.load(op, {kind, pointer.bits, bytesInMemory(elementType), pointer.origin});
  return widthOf(elementType) == 1 ? bits != 0 : bits;
}

void storeElement(Machine &machine, Operation &op, const Element &pointer, Type elementType,
                  uint64_t bits, AccessKind kind) {
  machine.store(op, {kind, pointer.bits, bytesInMemory(elementType), pointer.origin}, bits);
}

uint64_t updateElement(Machine &machine, Operation &op, const Element &pointer, Type elementType,
                       llvm::function_ref<uint64_t(uint64_t)> combine) {
  uint64_t previous = loadElement(machine, op, pointer, elementType, AccessKind::Atomic);
  storeElement(machine, op, pointer, elementType, combine(previous), AccessKind::Atomic);
  return previous;
}

uint64_t addFloats(uint64_t a, uint64_t b, Type floatType) {
  const FloatFormat &format = formatOf(floatType);
  return encodeFloat(decodeFloat(a, format) + decodeFloat(b, format), format);
}

uint64_t paddingBits(Type elementType, bool withNan) {
  if (!withNan || !isa<FloatType>(elementType))
    return 0;
  return encodeFloat(std::numeric_limits<double>::quiet_NaN(), formatOf(elementType));
}

//===--- load and store --------------------------------------------------------------------===//

static void evaluateLoad(Machine &machine, Operation &op) {
  auto load = cast<tt::LoadOp>(op);
  if (tt::isBlockPointer(load.getPtr().getType()))
    return loadBlockPointer(machine, op);
  const TileValue &pointers = *machine.get(load.getPtr());
  TilePtr mask = load.getMask() ? machine.get(load.getMask()) : nullptr;
  TilePtr other = load.getOther() ? machine.get(load.getOther()) : nullptr;
  TileValue result = zerosOf(load.getType());
  // A volatile load sees what atomics of other programs wrote, and races with none of them.
  AccessKind kind = load.getIsVolatile() ? AccessKind::Atomic : AccessKind::Load;
  for (int64_t i = 0; i < result.count(); ++i) {
    if (!mask || mask->at(i).bits)
      result.elements[i].bits = loadElement(machine, op, pointers.at(i), result.elementType, kind);
    else if (other)
      result.elements[i] = other->at(i);
    else if (machine.probe)
      result.elements[i].bits = machine.probe->laneOf(op, result.elementType);
  }
  machine.setResult(op, std::move(result));
}

static void evaluateStore(Machine &machine, Operation &op) {
  auto store = cast<tt::StoreOp>(op);
  if (tt::isBlockPointer(store.getPtr().getType()))
    return storeBlockPointer(machine, op);
  const TileValue &pointers = *machine.get(store.getPtr());
  const TileValue &values = *machine.get(store.getValue());
  TilePtr mask = store.getMask() ? machine.get(store.getMask()) : nullptr;
  for (int64_t i = 0; i < pointers.count(); ++i)
    if (!mask || mask->at(i).bits)
      storeElement(machine, op, pointers.at(i), values.elementType, values.at(i).bits);
}

void addMemoryHandlers(HandlerTable &table) {
  table["tt.load"] = evaluateLoad;
  table["tt.store"] = evaluateStore;
}

//===--- atomics ---------------------------------------------------------------------------===//

static uint64_t combine(tt::RMWOp kind, uint64_t a, uint64_t b, Type type) {
  unsigned width = widthOf(type);
  int64_t x = signExtended(a, width), y = signExtended(b, width);
  switch (kind) {
  case tt::RMWOp::AND:
    return a & b;
  case tt::RMWOp::OR:
    return a | b;
  case tt::RMWOp::XOR:
    return a ^ b;
  case tt::RMWOp::ADD:
    return wrap(a + b, width);
  case tt::RMWOp::FADD:
    return addFloats(a, b, type);
  case tt::RMWOp::MAX:
    return x > y ? a : b;
  case tt::RMWOp::MIN:
    return x < y ? a : b;
  case tt::RMWOp::UMAX:
    return std::max(a, b);
  case tt::RMWOp::UMIN:
    return std::min(a, b);
  case tt::RMWOp::XCHG:
    return b;
  }
  return a;
}

/// Tells the shadow what an atomic orders.
template <typename AtomicOp>
static void acquire(Machine &machine, AtomicOp op, const Element &pointer) {
  bool acquires =
      op.getSem() == tt::MemSemantic::ACQUIRE || op.getSem() == tt::MemSemantic::ACQUIRE_RELEASE;
  if (AccessShadow *shadow = machine.memory.shadow(); shadow && acquires)
    shadow->onAcquire(pointer.bits);
}
template <typename AtomicOp>
static void release(Machine &machine, AtomicOp op, const Element &pointer) {
  bool releases =
      op.getSem() == tt::MemSemantic::RELEASE || op.getSem() == tt::MemSemantic::ACQUIRE_RELEASE;
  if (AccessShadow *shadow = machine.memory.shadow(); shadow && releases)
    shadow->onRelease(pointer.bits);
}

static void evaluateAtomicUpdate(Machine &machine, Operation &op) {
  auto atomic = cast<tt::AtomicRMWOp>(op);
  const TileValue &pointers = *machine.get(atomic.getPtr());
  const TileValue &values = *machine.get(atomic.getVal());
  TilePtr mask = atomic.getMask() ? machine.get(atomic.getMask()) : nullptr;
  TileValue result = zerosOf(atomic.getType());
  for (int64_t i = 0; i < result.count(); ++i) {
    if (mask && !mask->at(i).bits)
      continue;
    acquire(machine, atomic, pointers.at(i));
    result.elements[i].bits =
        updateElement(machine, op, pointers.at(i), values.elementType, [&](uint64_t previous) {
          return combine(atomic.getAtomicRmwOp(), previous, values.at(i).bits, values.elementType);
        });
    release(machine, atomic, pointers.at(i));
  }
  machine.setResult(op, std::move(result));
}

/// Compares bits, of floats too.
static void evaluateCompareAndSwap(Machine &machine, Operation &op) {
  auto atomic = cast<tt::AtomicCASOp>(op);
  const TileValue &pointers = *machine.get(atomic.getPtr());
  const TileValue &expected = *machine.get(atomic.getCmp());
  const TileValue &values = *machine.get(atomic.getVal());
  TileValue result = zerosOf(atomic.getType());
  for (int64_t i = 0; i < result.count(); ++i) {
    acquire(machine, atomic, pointers.at(i));
    result.elements[i].bits =
        updateElement(machine, op, pointers.at(i), values.elementType, [&](uint64_t previous) {
          return previous == expected.at(i).bits ? values.at(i).bits : previous;
        });
    release(machine, atomic, pointers.at(i));
  }
  machine.setResult(op, std::move(result));
}

void addAtomicHandlers(HandlerTable &table) {
  table["tt.atomic_rmw"] = evaluateAtomicUpdate;
  table["tt.atomic_cas"] = evaluateCompareAndSwap;
}

} // namespace pellucid::reference
