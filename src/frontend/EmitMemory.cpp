// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, block pointers, the grid, checks and hints.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;

static tt::CacheModifier cacheModifier(Emitter &e, const Val &value) {
  std::string text = value.isNone() ? "" : e.constantString(value, "cache_modifier");
  if (text.empty())
    return tt::CacheModifier::NONE;
  if (text.front() == '.')
    text = text.substr(1);
  if (auto found = tt::symbolizeCacheModifier(text))
    return *found;
  e.fail("cache modifier '" + text + "' is unknown; .ca, .cg, .cv, .wb, .cs and .wt are known");
}

static tt::EvictionPolicy evictionPolicy(Emitter &e, const Val &value) {
  std::string text = value.isNone() ? "" : e.constantString(value, "eviction_policy");
  if (text.empty())
    return tt::EvictionPolicy::NORMAL;
  if (auto found = tt::symbolizeEvictionPolicy(text))
    return *found;
  e.fail("eviction policy '" + text + "' is unknown; evict_first and evict_last are known");
}

Val Emitter::emitProgramId(Bound &args) {
  int64_t axis = constantInt(args[0], "the axis of program_id");
  if (axis < 0 || axis > 2)
    fail("program_id axis must be 0, 1 or 2, got " + std::to_string(axis));
  return Val::tensor(tt::GetProgramIdOp::create(builder, loc(), static_cast<int>(axis)), {DataType::Int32, false, {}});
}

Val Emitter::emitNumPrograms(Bound &args) {
  int64_t axis = constantInt(args[0], "the axis of num_programs");
  if (axis < 0 || axis > 2)
    fail("num_programs axis must be 0, 1 or 2, got " + std::to_string(axis));
  return Val::tensor(tt::GetNumProgramsOp::create(builder, loc(), static_cast<int>(axis)), {DataType::Int32, false, {}});
}

Val Emitter::emitArange(Bound &args) {
  int64_t start = constantInt(args[0], "arange's start"), end = constantInt(args[1], "arange's end");
  int64_t size = end - start;
  if (size <= 0)
    fail("arange's end must be greater than its start, got " + std::to_string(start) + " and " + std::to_string(end));
  if (size & (size - 1))
    fail("arange's range must be a power of 2, got " + std::to_string(size));
  if (start < INT32_MIN || end > INT32_MAX)
    fail("arange must fit in int32, got " + std::to_string(start) + " to " + std::to_string(end));
  TlType type{DataType::Int32, false, {size}};
  return Val::tensor(tt::MakeRangeOp::create(builder, loc(), irType(type), static_cast<uint32_t>(start), static_cast<uint32_t>(end)), type);
}

/// Bools lie in memory as bytes: their pointers are read as pointers to int8.
static Val bytePointer(Emitter &e, const Val &pointer) {
  return pointer.type.element == DataType::Bool ? e.cast(pointer, DataType::Int8, true) : pointer;
}

Val Emitter::emitLoad(Bound &args) {
  if (args[0].kind == Val::Kind::Descriptor) {
    SmallVector<mlir::Value> indices;
    for (const Val &index : args[1].elements)
      indices.push_back(cast(index, DataType::Int32).value);
    return Val::tensor(tt::DescriptorLoadOp::create(builder, loc(), irType(args[0].type), args[0].value, indices, tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL), args[0].type);
  }
  tt::CacheModifier cache = cacheModifier(*this, args[5]);
  tt::EvictionPolicy evict = evictionPolicy(*this, args[6]);
  bool isVolatile = constantBool(args[7], "volatile");
  if (args[0].kind == Val::Kind::BlockPointer) {
    if (!args[1].isNone() || !args[2].isNone())
      fail("a load through a block pointer takes boundary_check and padding_option, not mask and other");
    std::vector<int32_t> check;
    for (int64_t dim : constantInts(args[3], "boundary_check"))
      check.push_back(static_cast<int32_t>(dim));
    std::optional<tt::PaddingOption> padding;
    if (!args[4].isNone())
      if (std::string text = constantString(args[4], "padding_option"); !text.empty()) {
        padding = tt::symbolizePaddingOption(text);
        if (!padding)
          fail("padding option '" + text + "' is unknown; zero and nan are known");
      }
    TlType type = args[0].type;
    type.pointer = false;
    Val loaded = Val::tensor(tt::LoadOp::create(builder, loc(), args[0].value, check, padding, cache, evict, isVolatile), type);
    return loaded;
  }
  if (args[3].isTuple() && !args[3].elements.empty())
    fail("boundary_check is for block pointers; a load through " + (args[0].isTensor() ? toString(args[0].type) : std::string("this")) + " takes a mask");
  Val pointer = toTensor(args[0]);
  if (!pointer.type.pointer)
    fail("a load needs a pointer, got " + toString(pointer.type));
  bool isBool = pointer.type.element == DataType::Bool;
  pointer = bytePointer(*this, pointer);
  if (args[1].isNone() && !args[2].isNone())
    fail("'other' has no meaning without a mask");
  Val mask, other;
  bool hasMask = !args[1].isNone(), hasOther = !args[2].isNone();
  if (hasMask) {
    mask = truthOf(args[1]);
    if (pointer.type.isTile())
      mask = broadcastTo(mask, pointer.type.shape);
    else if (mask.type.isTile())
      fail("a scalar pointer cannot be loaded with a mask of type " + toString(mask.type));
  }
  if (hasOther) {
    other = args[2].isNumber() ? numberAs(args[2], pointer.type.element) : cast(args[2], pointer.type.element);
    other = pointer.type.isTile() ? broadcastTo(other, pointer.type.shape) : other;
  }
  TlType type{pointer.type.element, false, pointer.type.shape};
  Val loaded = Val::tensor(tt::LoadOp::create(builder, loc(), pointer.value, hasMask ? mask.value : mlir::Value(), hasOther ? other.value : mlir::Value(), cache, evict, isVolatile), type);
  return isBool ? cast(loaded, DataType::Bool) : loaded;
}

Val Emitter::emitStore(Bound &args) {
  if (args[0].kind == Val::Kind::Descriptor) {
    // desc.store(offsets, value)
    SmallVector<mlir::Value> indices;
    for (const Val &index : args[1].elements)
      indices.push_back(cast(index, DataType::Int32).value);
    Val value = cast(args[2], args[0].type.element);
    tt::DescriptorStoreOp::create(builder, loc(), args[0].value, value.value, indices);
    return Val();
  }
  tt::CacheModifier cache = cacheModifier(*this, args[4]);
  tt::EvictionPolicy evict = evictionPolicy(*this, args[5]);
  if (args[0].kind == Val::Kind::BlockPointer) {
    if (!args[2].isNone())
      fail("a store through a block pointer takes boundary_check, not a mask");
    std::vector<int32_t> check;
    for (int64_t dim : constantInts(args[3], "boundary_check"))
      check.push_back(static_cast<int32_t>(dim));
    Val value = args[1].isNumber() ? numberAs(args[1], args[0].type.element) : cast(args[1], args[0].type.element);
    value = broadcastTo(value, args[0].type.shape);
    tt::StoreOp::create(builder, loc(), args[0].value, value.value, check, cache, evict);
    return Val();
  }
  Val pointer = toTensor(args[0]);
  if (!pointer.type.pointer)
    fail("a store needs a pointer, got " + toString(pointer.type));
  DataType element = pointer.type.element == DataType::Bool ? DataType::Int8 : pointer.type.element;
  Val value = args[1].isNumber() ? numberAs(args[1], element) : toTensor(args[1]);
  if (value.type.pointer)
    value = cast(value, DataType::Int64);
  if (pointer.type.element == DataType::Bool && value.type.element != DataType::Bool && !args[1].isNumber())
    value = cast(value, DataType::Bool);
  value = cast(value, element);
  pointer = bytePointer(*this, pointer);
  if (!pointer.type.isTile() && value.type.isTile())
    fail("a tile " + toString(value.type) + " cannot be stored through a scalar pointer; add tl.arange to the pointer");
  if (pointer.type.isTile())
    value = broadcastTo(value, pointer.type.shape);
  mlir::Value mask;
  if (!args[2].isNone()) {
    Val flag = truthOf(args[2]);
    if (pointer.type.isTile())
      flag = broadcastTo(flag, pointer.type.shape);
    else if (flag.type.isTile())
      fail("a scalar pointer cannot be stored to with a mask of type " + toString(flag.type));
    mask = flag.value;
  }
  tt::StoreOp::create(builder, loc(), pointer.value, value.value, mask, cache, evict);
  return Val();
}

// --- block pointers and descriptors ---------------------------------------------------------------------------------

static SmallVector<mlir::Value> integersOf(Emitter &e, const Val &list, DataType type) {
  SmallVector<mlir::Value> out;
  std::vector<Val> elements = list.isTuple() ? list.elements : std::vector<Val>{list};
  for (const Val &element : elements)
    out.push_back((element.isNumber() ? e.numberAs(element, type) : e.cast(element, type)).value);
  return out;
}

Val Emitter::emitMakeBlockPtr(Bound &args) {
  Val base = toTensor(args[0]);
  if (!base.type.pointer || base.type.isTile())
    fail("make_block_ptr needs a scalar pointer as its base, got " + toString(base.type));
  std::vector<int64_t> block = constantInts(args[4], "block_shape"), order64 = constantInts(args[5], "order");
  size_t rank = block.size();
  for (const Val *list : {&args[1], &args[2], &args[3]})
    if (!list->isTuple() || list->elements.size() != rank)
      fail("make_block_ptr's shape, strides, offsets and block_shape must have one length, got " + std::to_string(rank) + " for block_shape and " +
           std::to_string(list->isTuple() ? list->elements.size() : 1));
  base = bytePointer(*this, base);
  std::vector<int32_t> order(order64.begin(), order64.end()), tile(block.begin(), block.end());
  auto op = tt::MakeTensorPtrOp::create(builder, loc(), base.value, integersOf(*this, args[1], DataType::Int64), integersOf(*this, args[2], DataType::Int64),
                                        integersOf(*this, args[3], DataType::Int32), tile, order);
  Val out = Val::tensor(op.getResult(), {base.type.element, true, block});
  out.kind = Val::Kind::BlockPointer;
  return out;
}

Val Emitter::emitAdvance(Bound &args) {
  if (args[0].kind != Val::Kind::BlockPointer)
    fail("advance needs a block pointer");
  Val out = args[0];
  out.value = tt::AdvanceOp::create(builder, loc(), args[0].value.getType(), args[0].value, integersOf(*this, args[1], DataType::Int32));
  return out;
}

Val Emitter::emitMakeTensorDescriptor(Bound &args) {
  Val base = toTensor(args[0]);
  if (!base.type.pointer || base.type.isTile())
    fail("make_tensor_descriptor needs a scalar pointer as its base, got " + toString(base.type));
  std::vector<int64_t> block = constantInts(args[3], "block_shape");
  auto padding = args[4].isNone() ? std::optional(tt::PaddingOption::PAD_ZERO) : tt::symbolizePaddingOption(constantString(args[4], "padding_option"));
  if (!padding)
    fail("padding option is unknown; zero and nan are known");
  auto op = tt::MakeTensorDescOp::create(builder, loc(), base.value, integersOf(*this, args[1], DataType::Int32), integersOf(*this, args[2], DataType::Int64), block, *padding);
  Val out = Val::tensor(op.getResult(), {base.type.element, false, block});
  out.kind = Val::Kind::Descriptor;
  return out;
}

// --- atomics ----------------------------------------------------------------------------------------------------------

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
      e.fail("memory order '" + e.constantString(sem, "sem") + "' is unknown; relaxed, acquire, release and acq_rel are known");
    out.sem = *found;
  }
  if (!scope.isNone()) {
    auto found = tt::symbolizeMemSyncScope(e.constantString(scope, "scope"));
    if (!found)
      e.fail("scope '" + e.constantString(scope, "scope") + "' is unknown; gpu, cta and sys are known");
    out.scope = *found;
  }
  return out;
}

/// Pointer, value and mask of an atomic brought to one shape.
static void prepareAtomic(Emitter &e, Val &pointer, Val &value, Val &mask) {
  pointer = e.toTensor(pointer);
  if (!pointer.type.pointer)
    e.fail("an atomic needs a pointer, got " + toString(pointer.type));
  DataType element = pointer.type.element;
  if (element == DataType::Bool || (byteSize(element) == 1))
    e.fail("atomics do not support elements of type " + toString(TlType{element, false, {}}));
  value = value.isNumber() ? e.numberAs(value, element) : e.cast(value, element);
  if (pointer.type.isTile()) {
    value = e.broadcastTo(value, pointer.type.shape);
    mask = mask.isNone() ? e.splat(e.constantOf(0, 1, DataType::Bool), pointer.type.shape) : e.broadcastTo(e.truthOf(mask), pointer.type.shape);
  } else {
    mask = mask.isNone() ? e.constantOf(0, 1, DataType::Bool) : e.truthOf(mask);
  }
}

static Val atomic(Emitter &e, tt::RMWOp op, const Val &pointer, const Val &value, const Val &mask, AtomicOptions options) {
  return Val::tensor(tt::AtomicRMWOp::create(e.builder, e.loc(), e.irType(value.type), op, pointer.value, value.value, mask.value, options.sem, options.scope), value.type);
}

Val Emitter::emitAtomicAdd(Bound &args) {
  AtomicOptions options = atomicOptions(*this, args[3], args[4]);
  prepareAtomic(*this, args[0], args[1], args[2]);
  return atomic(*this, args[1].type.isFloating() ? tt::RMWOp::FADD : tt::RMWOp::ADD, args[0], args[1], args[2], options);
}

/// Floats are compared as integers of their size: as signed ones where the value is not negative, else as unsigned ones
/// in the other direction.
static Val atomicExtreme(Emitter &e, Bound &args, bool maximum) {
  AtomicOptions options = atomicOptions(e, args[3], args[4]);
  prepareAtomic(e, args[0], args[1], args[2]);
  Val &pointer = args[0], &value = args[1], &mask = args[2];
  DataType element = value.type.element;
  if (!value.type.isFloating()) {
    bool isSigned = info(element).isSigned;
    tt::RMWOp op = maximum ? (isSigned ? tt::RMWOp::MAX : tt::RMWOp::UMAX) : (isSigned ? tt::RMWOp::MIN : tt::RMWOp::UMIN);
    return atomic(e, op, pointer, value, mask, options);
  }
  if (element != DataType::Float32 && element != DataType::Float64)
    e.fail(std::string("atomic_") + (maximum ? "max" : "min") + " of floats takes float32 and float64, got " + toString(value.type));
  DataType asInt = element == DataType::Float32 ? DataType::Int32 : DataType::Int64;
  Val bits = e.bitcast(value, asInt, false), place = e.cast(pointer, asInt, true);
  Val zero = e.splat(e.constantOf(0, 0, asInt), value.type.shape);
  Val positive = e.comparison(syntax::CmpOperator::GtE, bits, zero), negative = e.comparison(syntax::CmpOperator::Lt, bits, zero);
  Val up = atomic(e, maximum ? tt::RMWOp::MAX : tt::RMWOp::MIN, place, bits, e.binary(syntax::Operator::BitAnd, mask, positive), options);
  Val down = atomic(e, maximum ? tt::RMWOp::UMIN : tt::RMWOp::UMAX, place, bits, e.binary(syntax::Operator::BitAnd, mask, negative), options);
  return e.bitcast(e.where(positive, up, down), element, false);
}

Val Emitter::emitAtomicMax(Bound &args) { return atomicExtreme(*this, args, true); }
Val Emitter::emitAtomicMin(Bound &args) { return atomicExtreme(*this, args, false); }

static Val plainAtomic(Emitter &e, Bound &args, tt::RMWOp op) {
  AtomicOptions options = atomicOptions(e, args[3], args[4]);
  prepareAtomic(e, args[0], args[1], args[2]);
  return atomic(e, op, args[0], args[1], args[2], options);
}
Val Emitter::emitAtomicAnd(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::AND); }
Val Emitter::emitAtomicOr(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::OR); }
Val Emitter::emitAtomicXor(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::XOR); }
Val Emitter::emitAtomicXchg(Bound &args) { return plainAtomic(*this, args, tt::RMWOp::XCHG); }

Val Emitter::emitAtomicCas(Bound &args) {
  AtomicOptions options = atomicOptions(*this, args[3], args[4]);
  Val pointer = args[0], compare = args[1], value = args[2], noMask, again;
  prepareAtomic(*this, pointer, compare, noMask);
  prepareAtomic(*this, pointer, value, again);
  return Val::tensor(tt::AtomicCASOp::create(builder, loc(), irType(value.type), pointer.value, compare.value, value.value, options.sem, options.scope), value.type);
}

// --- hints, checks, output ------------------------------------------------------------------------------------------

static Val hint(Emitter &e, Bound &args, const char *name) {
  std::vector<int64_t> values = e.constantInts(args[1], name);
  if (!args[0].isTensor())
    return args[0];
  if (Operation *def = args[0].value.getDefiningOp()) {
    SmallVector<int32_t> narrow(values.begin(), values.end());
    def->setDiscardableAttr(name, DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(narrow.size())}, e.builder.getI32Type()), ArrayRef<int32_t>(narrow)));
  }
  return args[0];
}
Val Emitter::emitMultipleOf(Bound &args) { return hint(*this, args, "tt.divisibility"); }
Val Emitter::emitMaxContiguous(Bound &args) { return hint(*this, args, "tt.contiguity"); }
Val Emitter::emitMaxConstancy(Bound &args) { return hint(*this, args, "tt.constancy"); }
/// What is assumed may be used and need not be; it is not used here.
Val Emitter::emitAssume(Bound &args) {
  if (auto known = constantTruth(args[0]); known && !*known)
    fail("what is assumed does not hold with these constexpr values");
  return Val();
}
Val Emitter::emitDebugBarrier(Bound &) {
  tt::BarrierOp::create(builder, loc());
  return Val();
}

Val Emitter::emitStaticAssert(Bound &args) {
  if (!constantBool(args[0], "the condition of static_assert")) {
    std::string message = args[1].isConstexpr() && args[1].constant.isStr() ? args[1].constant.str() : "";
    fail("static assertion does not hold" + (message.empty() ? "" : ": " + message));
  }
  return Val();
}
Val Emitter::emitStaticPrint(Bound &) { return Val(); }

Val Emitter::emitDeviceAssert(Bound &args) {
  Val condition = truthOf(args[0]);
  if (!args[2].isNone()) {
    Val mask = truthOf(args[2]);
    condition = binary(syntax::Operator::BitOr, condition, unary(syntax::UnaryOperator::Not, mask));
  }
  std::string message = args[1].isConstexpr() && args[1].constant.isStr() ? args[1].constant.str() : "";
  tt::AssertOp::create(builder, loc(), condition.value, builder.getStringAttr(message));
  return Val();
}

Val Emitter::emitDevicePrint(Bound &args) {
  std::string prefix;
  SmallVector<mlir::Value> values;
  SmallVector<int32_t> isSigned;
  for (const Val &value : args[0].elements) {
    if (value.isConstexpr() && !value.isNumber()) {
      prefix += interpreter.str(value.constant) + " ";
      continue;
    }
    Val tensor = toTensor(value);
    values.push_back(tensor.value);
    isSigned.push_back(!tensor.type.isFloating() && info(tensor.type.element).isSigned);
  }
  tt::PrintOp::create(builder, loc(), builder.getStringAttr(" " + prefix), builder.getBoolAttr(constantBool(args[1], "hex")), values, builder.getDenseI32ArrayAttr(isSigned));
  return Val();
}

Val Emitter::emitConstexpr(Bound &args) {
  if (!args[0].isConstexpr() && !args[0].isTuple())
    fail("tl.constexpr() of a value that is not known while compiling");
  return args[0];
}

} // namespace pellucid::frontend
