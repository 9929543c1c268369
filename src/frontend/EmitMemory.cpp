// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, block pointers, the grid, checks and hints.
#include "frontend/Emitter.h"

#include <algorithm>

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
  return Val::tensor(tt::GetProgramIdOp::create(builder, loc(), static_cast<int>(axis)),
                     {DataType::Int32, false, {}});
}

Val Emitter::emitNumPrograms(Bound &args) {
  int64_t axis = constantInt(args[0], "the axis of num_programs");
  if (axis < 0 || axis > 2)
    fail("num_programs axis must be 0, 1 or 2, got " + std::to_string(axis));
  return Val::tensor(tt::GetNumProgramsOp::create(builder, loc(), static_cast<int>(axis)),
                     {DataType::Int32, false, {}});
}

Val Emitter::emitArange(Bound &args) {
  int64_t start = constantInt(args[0], "arange's start"),
          end = constantInt(args[1], "arange's end");
  int64_t size = end - start;
  if (size <= 0)
    fail("arange's end must be greater than its start, got " + std::to_string(start) + " and " +
         std::to_string(end));
  if (size & (size - 1))
    fail("arange's range must be a power of 2, got " + std::to_string(size));
  if (start < INT32_MIN || end > INT32_MAX)
    fail("arange must fit in int32, got " + std::to_string(start) + " to " + std::to_string(end));
  if (size > mostTileElements)
    fail("a tile has at most " + std::to_string(mostTileElements) + " elements, got " +
         std::to_string(size));
  TlType type{DataType::Int32, false, {size}};
  return Val::tensor(tt::MakeRangeOp::create(builder, loc(), irType(type),
                                             static_cast<uint32_t>(start),
                                             static_cast<uint32_t>(end)),
                     type);
}

/// Bools lie in memory as bytes: their pointers are read as pointers to int8.
static Val bytePointer(Emitter &e, const Val &pointer) {
  return pointer.type.element == DataType::Bool ? e.cast(pointer, DataType::Int8, true) : pointer;
}

static std::vector<int32_t> boundaryCheck(Emitter &e, const Val &list, size_t rank) {
  std::vector<int32_t> dims;
  for (int64_t dim : e.constantInts(list, "boundary_check")) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank))
      e.fail("boundary_check names dim " + std::to_string(dim) + " of a block of " +
             std::to_string(rank) + " dims");
    dims.push_back(static_cast<int32_t>(dim));
  }
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end())
    e.fail("boundary_check names a dim twice");
  return dims;
}

static std::optional<tt::PaddingOption> paddingOption(Emitter &e, const Val &option) {
  std::string text = option.isNone() ? "" : e.constantString(option, "padding_option");
  if (text.empty())
    return std::nullopt;
  auto padding = tt::symbolizePaddingOption(text);
  if (!padding)
    e.fail("padding option '" + text + "' is unknown; zero and nan are known");
  return padding;
}

/// Brings a mask to the shape of what it masks; a larger mask spreads the pointer.
static Val maskFor(Emitter &e, Val &pointer, const Val &mask) {
  Val flag = e.toTensor(mask);
  if (!flag.type.isInt() || flag.type.element != DataType::Bool)
    e.fail("a mask must be of type int1, got " + toString(flag.type) + "; write mask != 0");
  if (!pointer.type.isTile() && flag.type.isTile())
    e.fail("a scalar pointer cannot take a mask of type " + toString(flag.type));
  e.broadcast(pointer, flag);
  return flag;
}

Val Emitter::emitLoad(Bound &args) {
  if (args[0].kind == Val::Kind::Descriptor)
    fail("a descriptor is loaded with desc.load([offsets])");
  tt::CacheModifier cache = cacheModifier(*this, args[5]);
  tt::EvictionPolicy evict = evictionPolicy(*this, args[6]);
  bool isVolatile = constantBool(args[7], "volatile");
  if (args[0].kind == Val::Kind::BlockPointer) {
    if (!args[1].isNone() || !args[2].isNone())
      fail("a load through a block pointer takes boundary_check and padding_option, not mask and "
           "other");
    TlType type = args[0].type;
    type.pointer = false;
    auto padding = paddingOption(*this, args[4]);
    if (padding == tt::PaddingOption::PAD_NAN && type.isInt())
      fail("padding option 'nan' is for floats, got " + toString(type));
    auto op = tt::LoadOp::create(builder, loc(), args[0].value,
                                 boundaryCheck(*this, args[3], type.shape.size()), padding, cache,
                                 evict, isVolatile);
    return Val::tensor(op, type);
  }
  Val pointer = toTensor(args[0]);
  if (!pointer.type.pointer)
    fail("a load needs a pointer, got " + toString(pointer.type));
  if ((args[3].isTuple() && !args[3].elements.empty()) || paddingOption(*this, args[4]))
    fail("boundary_check and padding_option are for block pointers; a load through " +
         toString(pointer.type) + " takes a mask");
  if (args[1].isNone() && !args[2].isNone())
    fail("'other' has no meaning without a mask");
  Val mask, other;
  if (!args[1].isNone())
    mask = maskFor(*this, pointer, args[1]);
  if (!args[2].isNone()) {
    other = toTensor(args[2]);
    if (!pointer.type.isTile() && other.type.isTile())
      fail("a scalar load cannot take 'other' of type " + toString(other.type));
    broadcast(pointer, other);
  }
  bool isBool = pointer.type.element == DataType::Bool;
  pointer = bytePointer(*this, pointer);
  if (!args[2].isNone())
    other = cast(other, pointer.type.element);
  TlType type{pointer.type.element, false, pointer.type.shape};
  Val loaded = Val::tensor(tt::LoadOp::create(builder, loc(), pointer.value, mask.value,
                                              other.value, cache, evict, isVolatile),
                           type);
  return isBool ? cast(loaded, DataType::Bool) : loaded;
}

static void storeBlock(Emitter &e, Bound &args, tt::CacheModifier cache, tt::EvictionPolicy evict) {
  if (!args[2].isNone())
    e.fail("a store through a block pointer takes boundary_check, not a mask");
  TlType type = args[0].type;
  type.pointer = false;
  Val value = e.toTensor(args[1]);
  if (!value.type.isTile())
    value = e.splat(e.cast(value, type.element), type.shape);
  if (!(value.type == type))
    e.fail("a store through a block pointer needs a value of type " + toString(type) + ", got " +
           toString(value.type) + "; cast it with .to()");
  tt::StoreOp::create(e.builder, e.loc(), args[0].value, value.value,
                      boundaryCheck(e, args[3], type.shape.size()), cache, evict);
}

Val Emitter::emitStore(Bound &args) {
  if (args[0].kind == Val::Kind::Descriptor)
    fail("a descriptor is stored to with desc.store([offsets], value)");
  tt::CacheModifier cache = cacheModifier(*this, args[4]);
  tt::EvictionPolicy evict = evictionPolicy(*this, args[5]);
  if (args[0].kind == Val::Kind::BlockPointer) {
    storeBlock(*this, args, cache, evict);
    return Val();
  }
  Val pointer = toTensor(args[0]), value = toTensor(args[1]);
  if (!pointer.type.pointer)
    fail("a store needs a pointer, got " + toString(pointer.type));
  if (args[3].isTuple() && !args[3].elements.empty())
    fail("boundary_check is for block pointers; a store through " + toString(pointer.type) +
         " takes a mask");
  std::vector<int64_t> shape = pointer.type.shape;
  if (shape.empty() && value.type.isTile())
    fail("a tile " + toString(value.type) +
         " cannot be stored through a scalar pointer; add tl.arange to the pointer");
  broadcast(pointer, value);
  Val mask;
  if (!args[2].isNone()) {
    mask = maskFor(*this, pointer, args[2]);
    broadcast(pointer, value);
  }
  if (pointer.type.shape != shape)
    fail("the pointers of a store must have the shape of what is stored, got " +
         toString(args[0].type) + " for " + toString(pointer.type.with(value.type.element)));
  pointer = bytePointer(*this, pointer);
  value = cast(value, pointer.type.element);
  tt::StoreOp::create(builder, loc(), pointer.value, value.value, mask.value, cache, evict);
  return Val();
}

// --- block pointers and descriptors
// ---------------------------------------------------------------------------------

static SmallVector<mlir::Value> integersOf(Emitter &e, const Val &list, DataType type) {
  SmallVector<mlir::Value> out;
  std::vector<Val> elements = list.isTuple() ? list.elements : std::vector<Val>{list};
  for (const Val &element : elements) {
    TlType given = e.typeOf(element);
    if (!given.isInt() || given.isTile())
      e.fail("an integer is needed here, got " + toString(given));
    if (element.isTensor() && byteSize(given.element) == 8 && byteSize(type) == 4)
      e.fail("offsets are of 32 bits, got " + toString(given) + "; cast with .to(tl.int32)");
    out.push_back((element.isNumber() ? e.numberAs(element, type) : e.cast(element, type)).value);
  }
  return out;
}

Val Emitter::emitMakeBlockPtr(Bound &args) {
  Val base = toTensor(args[0]);
  if (!base.type.pointer || base.type.isTile())
    fail("make_block_ptr needs a scalar pointer as its base, got " + toString(base.type));
  std::vector<int64_t> block = constantInts(args[4], "block_shape"),
                       order64 = constantInts(args[5], "order");
  size_t rank = block.size();
  for (const Val *list : {&args[1], &args[2], &args[3]})
    if (!list->isTuple() || list->elements.size() != rank)
      fail("make_block_ptr's shape, strides, offsets and block_shape must have one length, got " +
           std::to_string(rank) + " for block_shape and " +
           std::to_string(list->isTuple() ? list->elements.size() : 1));
  base = bytePointer(*this, base);
  std::vector<int32_t> order(order64.begin(), order64.end()), tile(block.begin(), block.end());
  auto op = tt::MakeTensorPtrOp::create(builder, loc(), base.value,
                                        integersOf(*this, args[1], DataType::Int64),
                                        integersOf(*this, args[2], DataType::Int64),
                                        integersOf(*this, args[3], DataType::Int32), tile, order);
  Val out = Val::tensor(op.getResult(), {base.type.element, true, block});
  out.kind = Val::Kind::BlockPointer;
  return out;
}

Val Emitter::emitAdvance(Bound &args) {
  if (args[0].kind != Val::Kind::BlockPointer)
    fail("advance needs a block pointer");
  Val out = args[0];
  out.value = tt::AdvanceOp::create(builder, loc(), args[0].value.getType(), args[0].value,
                                    integersOf(*this, args[1], DataType::Int32));
  return out;
}

/// The number 1, or a parameter that is launched with it.
static bool isKnownOne(const Val &value) {
  auto argument = value.isTensor() ? dyn_cast<BlockArgument>(value.value) : BlockArgument();
  bool isParameter = argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp());
  return (value.isNumber() || isParameter) && value.constant.isInt() &&
         value.constant.integer() == 1;
}

Val Emitter::emitMakeTensorDescriptor(Bound &args) {
  Val base = toTensor(args[0]);
  if (!base.type.pointer || base.type.isTile())
    fail("make_tensor_descriptor needs a scalar pointer as its base, got " + toString(base.type));
  std::vector<int64_t> block = constantInts(args[3], "block_shape");
  for (const Val *list : {&args[1], &args[2]})
    if (!list->isTuple() || list->elements.size() != block.size())
      fail("make_tensor_descriptor's shape, strides and block_shape must have one length, got " +
           std::to_string(block.size()) + " for block_shape and " +
           std::to_string(list->isTuple() ? list->elements.size() : 1));
  int64_t bytes = block.back() * byteSize(base.type.element);
  if (bytes < 16)
    fail("the last dim of a descriptor's block must span 16 bytes or more, got " +
         std::to_string(bytes));
  const Val &last = args[2].elements.back();
  if (!isKnownOne(last))
    fail("the last stride of a descriptor must be 1 while compiling: the number, a constexpr, or a "
         "parameter that is launched with 1");
  auto padding = paddingOption(*this, args[4]).value_or(tt::PaddingOption::PAD_ZERO);
  Val out;
  out.kind = Val::Kind::Descriptor;
  out.type = {base.type.element, false, block};
  SmallVector<mlir::Value> shape, strides;
  auto scalars = [&](const Val &list, DataType type, SmallVector<mlir::Value> &values,
                     std::vector<Val> &kept) {
    for (const Val &element : list.elements) {
      kept.push_back(element.isNumber() ? numberAs(element, type) : cast(element, type));
      values.push_back(kept.back().value);
    }
  };
  scalars(args[1], DataType::Int32, shape, out.shape);
  scalars(args[2], DataType::Int64, strides, out.strides);
  out.value =
      tt::MakeTensorDescOp::create(builder, loc(), base.value, shape, strides, block, padding);
  return out;
}

static const Val &descriptor(Emitter &e, const Val &value) {
  if (value.kind != Val::Kind::Descriptor)
    e.fail("a tensor descriptor is needed here");
  return value;
}

static SmallVector<mlir::Value> descriptorOffsets(Emitter &e, const Val &desc, const Val &offsets) {
  SmallVector<mlir::Value> out = integersOf(e, offsets, DataType::Int32);
  if (out.size() != desc.type.shape.size())
    e.fail("a descriptor of " + std::to_string(desc.type.shape.size()) +
           " dims takes as many offsets, got " + std::to_string(out.size()));
  return out;
}

/// A value that is stored through a descriptor has its block's shape.
static Val descriptorValue(Emitter &e, const Val &desc, const Val &given) {
  Val value = e.toTensor(given);
  if (value.type.shape != desc.type.shape)
    e.fail("a value of type " + toString(desc.type) + " is stored through this descriptor, got " +
           toString(value.type));
  return value;
}

Val Emitter::emitDescriptorLoad(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  auto offsets = descriptorOffsets(*this, desc, args[1]);
  return Val::tensor(tt::DescriptorLoadOp::create(builder, loc(), irType(desc.type), desc.value,
                                                  offsets, cacheModifier(*this, args[2]),
                                                  evictionPolicy(*this, args[3])),
                     desc.type);
}

Val Emitter::emitDescriptorStore(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  Val value = cast(descriptorValue(*this, desc, args[2]), desc.type.element);
  tt::DescriptorStoreOp::create(builder, loc(), desc.value, value.value,
                                descriptorOffsets(*this, desc, args[1]));
  return Val();
}

static Val descriptorReduce(Emitter &e, Bound &args, tt::DescriptorReduceKind kind) {
  const Val &desc = descriptor(e, args[0]);
  Val value = descriptorValue(e, desc, args[2]);
  if (value.type.element != desc.type.element)
    e.fail("a value of type " + toString(desc.type) + " is combined through this descriptor, got " +
           toString(value.type));
  tt::DescriptorReduceOp::create(e.builder, e.loc(), kind, desc.value, value.value,
                                 descriptorOffsets(e, desc, args[1]));
  return Val();
}
Val Emitter::emitDescriptorAdd(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::ADD);
}
Val Emitter::emitDescriptorMin(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::MIN);
}
Val Emitter::emitDescriptorMax(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::MAX);
}
Val Emitter::emitDescriptorAnd(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::AND);
}
Val Emitter::emitDescriptorOr(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::OR);
}
Val Emitter::emitDescriptorXor(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::XOR);
}

/// One row of the result per x offset.
static TlType gatheredType(Emitter &e, const Val &desc, const Val &rows) {
  if (desc.type.shape.size() != 2 || desc.type.shape[0] != 1)
    e.fail("a gather or scatter needs a descriptor whose block is one row, got " +
           toString(desc.type));
  if (!rows.type.isInt() || rows.type.shape.size() != 1)
    e.fail("the x offsets of a gather or scatter are integers of one dim, got " +
           toString(rows.type));
  return {desc.type.element, false, {rows.type.shape[0], desc.type.shape[1]}};
}

Val Emitter::emitDescriptorGather(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  Val rows = toTensor(args[1]);
  TlType type = gatheredType(*this, desc, rows);
  return Val::tensor(tt::DescriptorGatherOp::create(builder, loc(), irType(type), desc.value,
                                                    rows.value,
                                                    integersOf(*this, args[2], DataType::Int32)[0]),
                     type);
}

Val Emitter::emitDescriptorScatter(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  Val value = toTensor(args[1]), rows = toTensor(args[2]);
  if (!(value.type == gatheredType(*this, desc, rows)))
    fail("a scatter of " + toString(gatheredType(*this, desc, rows)) + " got " +
         toString(value.type));
  tt::DescriptorScatterOp::create(builder, loc(), desc.value, rows.value,
                                  integersOf(*this, args[3], DataType::Int32)[0], value.value);
  return Val();
}

// --- atomics
// ----------------------------------------------------------------------------------------------------------

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
  auto operand = [&](const Val &v) {
    return cast(broadcastTo(v, pointer.type.shape), pointer.type.element);
  };
  Val compare = operand(args[1]), value = operand(args[2]);
  return Val::tensor(tt::AtomicCASOp::create(builder, loc(), irType(value.type), pointer.value,
                                             compare.value, value.value, options.sem,
                                             options.scope),
                     value.type);
}

// --- hints, checks, output
// ------------------------------------------------------------------------------------------

static Val hint(Emitter &e, Bound &args, const char *name, const char *attribute) {
  std::vector<int64_t> values = e.constantInts(args[1], name);
  if (!args[0].isTensor())
    return args[0];
  size_t rank = std::max<size_t>(1, args[0].type.shape.size());
  if (values.size() != rank)
    e.fail("'tl." + std::string(name) + "' takes one value per dim, got " +
           std::to_string(values.size()) + " for " + toString(args[0].type));
  SmallVector<int32_t> narrow(values.begin(), values.end());
  auto type = RankedTensorType::get({static_cast<int64_t>(narrow.size())}, e.builder.getI32Type());
  auto attr = DenseIntElementsAttr::get(type, ArrayRef<int32_t>(narrow));
  if (Operation *def = args[0].value.getDefiningOp())
    def->setDiscardableAttr(attribute, attr);
  else if (auto argument = cast<BlockArgument>(args[0].value);
           auto function = dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()))
    function.setArgAttr(argument.getArgNumber(), attribute, attr);
  return args[0];
}
Val Emitter::emitMultipleOf(Bound &args) {
  return hint(*this, args, "multiple_of", "tt.divisibility");
}
Val Emitter::emitMaxContiguous(Bound &args) {
  return hint(*this, args, "max_contiguous", "tt.contiguity");
}
Val Emitter::emitMaxConstancy(Bound &args) {
  return hint(*this, args, "max_constancy", "tt.constancy");
}

Val Emitter::emitAssume(Bound &args) {
  if (auto known = constantTruth(args[0])) {
    if (!*known)
      fail("what is assumed does not hold with these constexpr values");
    return Val();
  }
  Val condition = truthOf(args[0]);
  if (condition.type.isTile())
    fail("'tl.assume' takes a scalar condition, got " + toString(condition.type));
  tt::AssumeOp::create(builder, loc(), condition.value);
  return Val();
}

Val Emitter::emitDebugBarrier(Bound &) {
  tt::BarrierOp::create(builder, loc());
  return Val();
}

Val Emitter::emitStaticAssert(Bound &args) {
  if (!constantBool(args[0], "the condition of static_assert")) {
    std::string message =
        args[1].isConstexpr() && args[1].constant.isStr() ? args[1].constant.str() : "";
    fail("static assertion does not hold" + (message.empty() ? "" : ": " + message));
  }
  return Val();
}

Val Emitter::emitStaticPrint(Bound &args) {
  if (rehearsals > 0)
    return Val();
  std::string text;
  for (const Val &value : args[0].elements) {
    bool known = value.isConstexpr() || value.isTuple();
    text += (text.empty() ? "" : constantString(args[1], "sep")) +
            (known ? interpreter.str(toHost(value, "a printed value")) : toString(value.type));
  }
  interpreter.hooks().output(text + constantString(args[2], "end"));
  return Val();
}

Val Emitter::emitDeviceAssert(Bound &args) {
  if (!options.assertions)
    return Val();
  Val condition = truthOf(args[0]);
  if (!args[2].isNone())
    condition = binary(syntax::Operator::BitOr, condition,
                       unary(syntax::UnaryOperator::Not, truthOf(args[2])));
  std::string message =
      args[1].isConstexpr() && args[1].constant.isStr() ? args[1].constant.str() : "";
  tt::AssertOp::create(builder, loc(), condition.value, builder.getStringAttr(message));
  return Val();
}

/// Triton's punctuation: a space in front, and a colon where values follow.
static std::string printPrefix(std::string prefix, bool hasValues) {
  if (!prefix.ends_with(" ") && hasValues)
    prefix += " ";
  if (!prefix.ends_with(": ") && hasValues)
    prefix = prefix.substr(0, prefix.size() - 1) + ": ";
  if (prefix.size() > 2 && !prefix.starts_with(" "))
    prefix = " " + prefix;
  return prefix;
}

Val Emitter::emitDevicePrint(Bound &args) {
  std::string prefix = constantString(args[0], "the first argument of device_print");
  SmallVector<mlir::Value> values;
  SmallVector<int32_t> isSigned;
  for (const Val &value : args[1].elements) {
    Val tensor = toTensor(value);
    values.push_back(tensor.value);
    isSigned.push_back(!tensor.type.isFloating() && !tensor.type.pointer &&
                       info(tensor.type.element).isSigned);
  }
  tt::PrintOp::create(builder, loc(), builder.getStringAttr(printPrefix(prefix, !values.empty())),
                      builder.getBoolAttr(constantBool(args[2], "hex")), values,
                      builder.getDenseI32ArrayAttr(isSigned));
  return Val();
}

} // namespace pellucid::frontend
