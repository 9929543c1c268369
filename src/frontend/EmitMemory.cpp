// SPDX-License-Identifier: Apache-2.0
// Loads and stores.
#include "frontend/MemoryOptions.h"

#include <algorithm>

namespace pellucid::frontend {

using namespace mlir;

tt::CacheModifier cacheModifier(Emitter &e, const Val &value, bool ofStore) {
  using Cache = tt::CacheModifier;
  std::string given = value.isNone() ? "" : e.constantString(value, "cache_modifier");
  if (given.empty())
    return Cache::NONE;
  auto found = tt::symbolizeCacheModifier(given.substr(given.front() == '.'));
  bool fits =
      found && (ofStore ? *found != Cache::CA && *found != Cache::CV
                        : *found == Cache::CA || *found == Cache::CG || *found == Cache::CV);
  if (fits)
    return *found;
  e.fail("cache modifier '" + given + "' is unknown for a " + (ofStore ? "store" : "load") +
         (ofStore ? "; .wb, .cg, .cs and .wt are known" : "; .ca, .cg and .cv are known"));
}

void Emitter::refuseConstant(const Val &pointer) {
  mlir::Value at = pointer.value;
  while (at && !constantPointers.count(at.getAsOpaquePointer())) {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(at);
    auto loop =
        argument ? mlir::dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (loop && argument.getArgNumber() > 0)
      at = loop.getTiedLoopInit(argument)->get();
    else if (Operation *op = at.getDefiningOp(); op && op->getNumOperands() &&
                                                 op->getDialect()->getNamespace() == "tt" &&
                                                 !mlir::isa<tt::BitcastOp, tt::LoadOp>(op))
      at = op->getOperand(0);
    else
      return;
  }
  if (!at)
    return;
  auto name = mlir::dyn_cast<mlir::NameLoc>(at.getLoc());
  fail("'" + (name ? name.getName().str() : "the pointer") +
       "' is annotated as tl.const, a pointer to what is only read, and this writes through it");
}

tt::EvictionPolicy evictionPolicy(Emitter &e, const Val &value) {
  std::string text = value.isNone() ? "" : e.constantString(value, "eviction_policy");
  if (text.empty())
    return tt::EvictionPolicy::NORMAL;
  if (auto found = tt::symbolizeEvictionPolicy(text))
    return *found;
  e.fail("eviction policy '" + text + "' is unknown; evict_first and evict_last are known");
}

std::optional<tt::PaddingOption> paddingOption(Emitter &e, const Val &option) {
  std::string text = option.isNone() ? "" : e.constantString(option, "padding_option");
  if (text.empty())
    return std::nullopt;
  auto padding = tt::symbolizePaddingOption(text);
  if (!padding)
    e.fail("padding option '" + text + "' is unknown; zero and nan are known");
  return padding;
}

Val bytePointer(Emitter &e, const Val &pointer) {
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
  // .cv: fetched again at each access.
  bool isVolatile = constantBool(args[7], "volatile") || cache == tt::CacheModifier::CV;
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
    // No integers become 8-bit floats, but numbers do.
    bool isNarrow = isFloat(pointer.type.element) && byteSize(pointer.type.element) == 1;
    other = isNarrow && args[2].isNumber() ? numberAs(args[2], pointer.type.element)
                                           : toTensor(args[2]);
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
  tt::CacheModifier cache = cacheModifier(*this, args[4], true);
  tt::EvictionPolicy evict = evictionPolicy(*this, args[5]);
  refuseConstant(args[0]);
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

} // namespace pellucid::frontend
