// SPDX-License-Identifier: Apache-2.0
// Atomic operations.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;

namespace {
struct AtomicOptions {
  tt::MemSemantic sem;
  tt::MemSyncScope scope;
};
} // namespace

static AtomicOptions atomicOptions(Emitter &e, const Val &sem, const Val &scope) {
  AtomicOptions out{tt::MemSemantic::ACQUIRE_RELEASE, tt::MemSyncScope::GPU};
  if (!sem.isNone()) {
    auto found = tt::symbolizeMemSemantic(e.constantString(sem, "sem"));
    if (!found)
      e.fail("memory order '" + e.constantString(sem, "sem") +
             "' is unknown; relaxed, acquire, release and acq_rel are known");
    out.sem = *found;
  }
  if (!scope.isNone()) {
    auto found = tt::symbolizeMemSyncScope(e.constantString(scope, "scope"));
    if (!found)
      e.fail("scope '" + e.constantString(scope, "scope") +
             "' is unknown; gpu, cta and sys are known");
    out.scope = *found;
  }
  return out;
}

/// Pointer, value and mask of an atomic brought to one shape.
static void prepareAtomic(Emitter &e, Val &pointer, Val &value, Val &mask, const char *name) {
  pointer = e.toTensor(pointer);
  if (!pointer.type.pointer)
    e.fail("an atomic needs a pointer, got " + toString(pointer.type));
  e.refuseConstant(pointer);
  DataType element = pointer.type.element;
  bool half = element == DataType::Float16 || element == DataType::BFloat16;
  if (element == DataType::Bool || byteSize(element) == 1 ||
      (byteSize(element) == 2 && !(half && std::string_view(name) == "add")))
    e.fail(std::string("'tl.atomic_") + name + "' does not support elements of type " +
           toString(TlType{element, false, {}}));
  value = e.toTensor(value);
  if (!pointer.type.isTile() && value.type.isTile())
    e.fail("a tile " + toString(value.type) +
           " cannot go through a scalar pointer; add tl.arange to the pointer");
  value = e.cast(e.broadcastTo(value, pointer.type.shape), element);
  if (mask.isNone())
    mask = e.splat(e.constantOf(0, 1, DataType::Bool), pointer.type.shape);
  else
    mask = e.broadcastTo(e.truthOf(mask), pointer.type.shape);
}

static Val atomic(Emitter &e, tt::RMWOp op, const Val &pointer, const Val &value, const Val &mask,
                  AtomicOptions options) {
  return Val::tensor(tt::AtomicRMWOp::create(e.builder, e.loc(), e.irType(value.type), op,
                                             pointer.value, value.value, mask.value, options.sem,
                                             options.scope),
                     value.type);
}

Val Emitter::emitAtomicAdd(Bound &args) {
  AtomicOptions options = atomicOptions(*this, args[3], args[4]);
  prepareAtomic(*this, args[0], args[1], args[2], "add");
  return atomic(*this, args[1].type.isFloating() ? tt::RMWOp::FADD : tt::RMWOp::ADD, args[0],
                args[1], args[2], options);
}

/// Floats are compared as integers of their size: as signed ones where the value is not negative,
/// else as unsigned ones in the other direction.
static Val atomicExtreme(Emitter &e, Bound &args, bool maximum) {
  AtomicOptions options = atomicOptions(e, args[3], args[4]);
  prepareAtomic(e, args[0], args[1], args[2], maximum ? "max" : "min");
  Val &pointer = args[0], &value = args[1], &mask = args[2];
  DataType element = value.type.element;
  if (!value.type.isFloating()) {
    bool isSigned = info(element).isSigned;
    tt::RMWOp op = maximum ? (isSigned ? tt::RMWOp::MAX : tt::RMWOp::UMAX)
                           : (isSigned ? tt::RMWOp::MIN : tt::RMWOp::UMIN);
    return atomic(e, op, pointer, value, mask, options);
  }
  if (element != DataType::Float32 && element != DataType::Float64)
    e.fail(std::string("atomic_") + (maximum ? "max" : "min") +
           " of floats takes float32 and float64, got " + toString(value.type));
  bool single = element == DataType::Float32;
  DataType asInt = single ? DataType::Int32 : DataType::Int64,
           asUnsigned = single ? DataType::UInt32 : DataType::UInt64;
  Val bits = e.bitcast(value, asInt, false), place = e.cast(pointer, asInt, true);
  Val sign = e.binary(syntax::Operator::RShift, e.bitcast(value, asUnsigned, false),
                      Val::integer(single ? 31 : 63));
  Val negative = e.truthOf(sign), positive = e.unary(syntax::UnaryOperator::Not, negative);
  Val up = atomic(e, maximum ? tt::RMWOp::MAX : tt::RMWOp::MIN, place, bits,
                  e.binary(syntax::Operator::BitAnd, mask, positive), options);
  Val down = atomic(e, maximum ? tt::RMWOp::UMIN : tt::RMWOp::UMAX, place, bits,
                    e.binary(syntax::Operator::BitAnd, mask, negative), options);
  return e.bitcast(e.where(positive, up, down), element, false);
}

Val Emitter::emitAtomicMax(Bound &args) { return atomicExtreme(*this, args, true); }
Val Emitter::emitAtomicMin(Bound &args) { return atomicExtreme(*this, args, false); }

static Val plainAtomic(Emitter &e, Bound &args, tt::RMWOp op, const char *name) {
  AtomicOptions options = atomicOptions(e, args[3], args[4]);
  prepareAtomic(e, args[0], args[1], args[2], name);
  if (op != tt::RMWOp::XCHG && isFloat(args[0].type.element))
    e.fail(std::string("'tl.atomic_") + name + "' takes pointers to integers, got " +
           toString(args[0].type));
  return atomic(e, op, args[0], args[1], args[2], options);
}
Val Emitter::emitAtomicAnd(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::AND, "and"); }
Val Emitter::emitAtomicOr(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::OR, "or"); }
Val Emitter::emitAtomicXor(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::XOR, "xor"); }
Val Emitter::emitAtomicXchg(Bound &args) {
  return plainAtomic(*this, args, tt::RMWOp::XCHG, "xchg");
}

Val Emitter::emitAtomicCas(Bound &args) {
  AtomicOptions options = atomicOptions(*this, args[3], args[4]);
  Val pointer = toTensor(args[0]);
  if (!pointer.type.pointer || pointer.type.element == DataType::Bool ||
      byteSize(pointer.type.element) == 1)
    fail("'tl.atomic_cas' needs a pointer to elements of 16, 32 or 64 bits, got " +
         toString(pointer.type));
  refuseConstant(pointer);
  auto operand = [&](const Val &v) {
    return cast(broadcastTo(v, pointer.type.shape), pointer.type.element);
  };
  Val compare = operand(args[1]), value = operand(args[2]);
  return Val::tensor(tt::AtomicCASOp::create(builder, loc(), irType(value.type), pointer.value,
                                             compare.value, value.value, options.sem,
                                             options.scope),
                     value.type);
}

} // namespace pellucid::frontend
