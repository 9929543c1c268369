// SPDX-License-Identifier: Apache-2.0
#include "fusion/SpliceKernel.h"

#include "fusion/KernelAccesses.h"
#include "tt/ElementType.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pellucid::fusion {

using namespace mlir;

namespace {

/// `like` with element type `element`: a tile type for tiles, the element itself for scalars.
Type withElement(Type like, Type element) {
  if (auto tile = dyn_cast<RankedTensorType>(like))
    return RankedTensorType::get(tile.getShape(), element, tile.getEncoding());
  return element;
}

Value toWidth(OpBuilder &builder, Location loc, Value value, unsigned width) {
  if (getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() >= width)
    return value;
  return arith::ExtSIOp::create(builder, loc,
                                withElement(value.getType(), builder.getIntegerType(width)), value);
}

Value addOffsets(OpBuilder &builder, Location loc, Value a, Value b, bool fitsInt32) {
  if (!a || !b)
    return a ? a : b;
  // The kernel adds each part to a pointer on its own: their sum may need more bits than any.
  unsigned width = fitsInt32 ? std::max(getElementTypeOrSelf(a.getType()).getIntOrFloatBitWidth(),
                                        getElementTypeOrSelf(b.getType()).getIntOrFloatBitWidth())
                             : 64;
  return arith::AddIOp::create(builder, loc, toWidth(builder, loc, a, width),
                               toWidth(builder, loc, b, width));
}

/// `def`, a splat, broadcast or new dim of a pointer, over `inner`.
Value reshapedLike(OpBuilder &builder, Operation *def, Value inner) {
  Location loc = def->getLoc();
  Type type = withElement(def->getResult(0).getType(), getElementTypeOrSelf(inner.getType()));
  if (isa<tt::SplatOp>(def))
    return tt::SplatOp::create(builder, loc, type, inner);
  if (isa<tt::BroadcastOp>(def))
    return tt::BroadcastOp::create(builder, loc, type, inner);
  return tt::ExpandDimsOp::create(builder, loc, type, inner,
                                  cast<tt::ExpandDimsOp>(def).getAxisAttr());
}

/// The offset, in elements, of `pointer` from the argument it is made of; null for zero.
/// collectAccesses has seen to it that nothing else stands between them.
Value offsetFromArgument(OpBuilder &builder, Value pointer, bool fitsInt32) {
  Operation *def = pointer.getDefiningOp();
  if (!def)
    return {};
  Value inner = offsetFromArgument(builder, def->getOperand(0), fitsInt32);
  if (auto add = dyn_cast<tt::AddPtrOp>(def))
    return addOffsets(builder, def->getLoc(), inner, add.getOffset(), fitsInt32);
  return !inner || isBoolPointerCast(def) ? inner : reshapedLike(builder, def, inner);
}

/// What `pointer` would be if it were made of `base` in the place of its argument.
Value sameElement(OpBuilder &builder, Value pointer, Value base) {
  Operation *def = pointer.getDefiningOp();
  if (!def)
    return base;
  Value inner = sameElement(builder, def->getOperand(0), base);
  if (auto add = dyn_cast<tt::AddPtrOp>(def))
    return tt::AddPtrOp::create(builder, def->getLoc(), inner.getType(), inner, add.getOffset());
  return isBoolPointerCast(def) ? inner : reshapedLike(builder, def, inner);
}

Value constantLike(OpBuilder &builder, Location loc, Type type, TypedAttr scalar) {
  if (auto tile = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(tile, scalar));
  return arith::ConstantOp::create(builder, loc, scalar);
}

Value splatTo(OpBuilder &builder, Location loc, Type like, Value scalar) {
  Type type = withElement(like, scalar.getType());
  return type == scalar.getType() ? scalar
                                  : tt::SplatOp::create(builder, loc, type, scalar).getResult();
}

/// Applies the chain's scalar code to `inputs` (tiles or scalars of one shape), element by element.
Value applyChain(OpBuilder &builder, Location loc, const Chain &chain, ArrayRef<Value> inputs,
                 Type like) {
  tt::FuncOp function = chain.function();
  tt::StoreOp store = chain.store();
  IRMapping mapping;
  for (auto [i, input] : llvm::enumerate(inputs))
    mapping.map(function.getArgument(static_cast<unsigned>(i) + 1), input);
  for (Operation &op : function.getBody().front()) {
    if (&op == store.getOperation())
      break;
    // The cast of the result's pointer, where the result is a bool.
    if (op.getNumResults() == 1 && isa<tt::PointerType>(op.getResult(0).getType()))
      continue;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto scalar = cast<TypedAttr>(constant.getValue());
      mapping.map(constant.getResult(),
                  constantLike(builder, loc, withElement(like, constant.getType()), scalar));
      continue;
    }
    Operation *copy = builder.clone(op, mapping);
    copy->setLoc(loc);
    for (OpResult result : copy->getResults())
      result.setType(withElement(like, result.getType()));
  }
  return mapping.lookup(store.getValue());
}

unsigned appendArgument(tt::FuncOp kernel, Type type) {
  unsigned number = kernel.getNumArguments();
  // The verifier of function-like ops wants one attribute dictionary per argument, which this
  // keeps.
  (void)kernel.insertArgument(number, type, DictionaryAttr::get(kernel.getContext()),
                              kernel.getLoc());
  return number;
}

Type pointerTo(MLIRContext *context, DataType type) {
  return tt::PointerType::get(
      type == DataType::Bool ? IntegerType::get(context, 8) : tt::elementType(context, type), 1);
}

/// The integers that the operand needs as arguments.
SmallVector<symbolic::Expr> scalarsOf(const ChainOperand &operand) {
  SmallVector<symbolic::Expr> values;
  if (operand.kind == ChainOperand::Kind::Size)
    values.push_back(operand.size);
  for (const ChainOperand::Part &part : operand.parts)
    for (const symbolic::Expr &value : {part.inner, part.extent.value_or(1), part.stride})
      if (!value.isConstant())
        values.push_back(value);
  return values;
}

/// Adds the pointers and sizes that a chain needs to the signature.
AddedArguments addChainArguments(tt::FuncOp kernel, const Chain &chain) {
  AddedArguments added;
  for (const ChainOperand &operand : chain.operands) {
    if (operand.kind == ChainOperand::Kind::Through || operand.kind == ChainOperand::Kind::Size)
      added.pointers.push_back(std::nullopt);
    else
      added.pointers.push_back(
          appendArgument(kernel, pointerTo(kernel.getContext(), operand.dtype)));
  }
  for (const ChainOperand &operand : chain.operands)
    for (const symbolic::Expr &value : scalarsOf(operand)) {
      bool known =
          llvm::any_of(added.scalars, [&](const auto &scalar) { return scalar.first == value; });
      if (!known)
        added.scalars.emplace_back(
            value, appendArgument(kernel, IntegerType::get(kernel.getContext(), 64)));
    }
  return added;
}

Value scalarArgument(tt::FuncOp kernel, const symbolic::Expr &value, const AddedArguments &added) {
  auto entry =
      llvm::find_if(added.scalars, [&](const auto &scalar) { return scalar.first == value; });
  return kernel.getArgument(entry->second);
}

/// The index of a broadcast operand's element. Sizes are at least 1 here: masked-off elements of an
/// empty tensor are divided, too.
class BroadcastIndex {
public:
  BroadcastIndex(OpBuilder &b, Location l, tt::FuncOp k, const AddedArguments &a, bool fits)
      : builder(b), loc(l), kernel(k), added(a), fitsInt32(fits) {}

  Value of(const ChainOperand &operand, Value offset) {
    // Within 32 bits divisions are several times faster.
    if (!fitsInt32)
      offset = toWidth(builder, loc, offset, 64);
    Value index;
    for (const ChainOperand::Part &part : operand.parts) {
      Value at = offset;
      if (part.inner != symbolic::Expr(1))
        at = arith::DivSIOp::create(builder, loc, at, sized(part.inner, at));
      if (part.extent)
        at = arith::RemSIOp::create(builder, loc, at, sized(*part.extent, at));
      if (part.stride != symbolic::Expr(1))
        at = arith::MulIOp::create(builder, loc, at, sized(part.stride, at));
      index = index ? arith::AddIOp::create(builder, loc, index, at).getResult() : at;
    }
    return index;
  }

private:
  /// `value` as a tile of the type of `like`.
  Value sized(const symbolic::Expr &value, Value like) {
    auto element = cast<IntegerType>(getElementTypeOrSelf(like.getType()));
    if (auto constant = value.constant())
      return constantLike(builder, loc, like.getType(), builder.getIntegerAttr(element, *constant));
    Value scalar = scalarArgument(kernel, value, added);
    if (element.getWidth() < 64)
      scalar = arith::TruncIOp::create(builder, loc, element, scalar);
    return splatTo(builder, loc, like.getType(), scalar);
  }

  OpBuilder &builder;
  Location loc;
  tt::FuncOp kernel;
  const AddedArguments &added;
  bool fitsInt32;
};

/// Bytes as the truth values that chains compute with.
Value asChainInput(OpBuilder &builder, Location loc, Value loaded, DataType type) {
  if (type != DataType::Bool)
    return loaded;
  Value zero = constantLike(builder, loc, loaded.getType(), builder.getI8IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, loaded, zero);
}

/// The load or store that a chain is spliced in at.
struct Access {
  tt::FuncOp kernel;
  Location loc;
  Value pointer, mask;
  Type like; ///< of the values it moves
};

/// Operand `index` of the chain for the elements of `access`, under the kernel's own mask.
Value loadOperand(OpBuilder &builder, const Access &access, const Chain &chain, size_t index,
                  const AddedArguments &added) {
  const ChainOperand &operand = chain.operands[index];
  Location loc = access.loc;
  tt::FuncOp kernel = access.kernel;
  if (operand.kind == ChainOperand::Kind::Size)
    return splatTo(builder, loc, access.like, scalarArgument(kernel, operand.size, added));
  Value base = kernel.getArgument(*added.pointers[index]);
  if (operand.kind == ChainOperand::Kind::Scalar) {
    Value loaded = tt::LoadOp::create(builder, loc, base);
    return splatTo(builder, loc, access.like, asChainInput(builder, loc, loaded, operand.dtype));
  }
  Value pointers;
  if (operand.kind == ChainOperand::Kind::SameOrder) {
    pointers = sameElement(builder, access.pointer, base);
  } else {
    pointers = splatTo(builder, loc, access.like, base);
    Value offset = offsetFromArgument(builder, access.pointer, chain.fitsInt32);
    // Of a tensor with one element for all of them there is nothing to count.
    if (offset && !operand.parts.empty()) {
      BroadcastIndex index(builder, loc, kernel, added, chain.fitsInt32);
      pointers = tt::AddPtrOp::create(builder, loc, pointers.getType(), pointers,
                                      index.of(operand, offset));
    }
  }
  Value loaded = tt::LoadOp::create(builder, loc, pointers, access.mask, Value());
  return asChainInput(builder, loc, loaded, operand.dtype);
}

/// What masked-off elements of `load` read as.
Value otherOf(OpBuilder &builder, tt::LoadOp load) {
  if (load.getOther())
    return load.getOther();
  Type element = getElementTypeOrSelf(load.getType());
  return constantLike(builder, load.getLoc(), load.getType(),
                      cast<TypedAttr>(builder.getZeroAttr(element)));
}

void replaceLoad(tt::LoadOp load, tt::FuncOp kernel, const Chain &chain,
                 const AddedArguments &added, bool isKept) {
  OpBuilder builder(load);
  Access access{kernel, load.getLoc(), load.getPtr(), load.getMask(), load.getResult().getType()};
  SmallVector<Value> inputs;
  for (size_t i = 0; i < chain.operands.size(); ++i)
    inputs.push_back(loadOperand(builder, access, chain, i, added));
  Value result = applyChain(builder, access.loc, chain, inputs, access.like);
  if (isKept) {
    Value pointers = sameElement(builder, load.getPtr(), kernel.getArgument(*added.output));
    tt::StoreOp::create(builder, access.loc, pointers, result, load.getMask());
  }
  if (!hidesMaskedOff(load))
    result =
        arith::SelectOp::create(builder, access.loc, access.mask, result, otherOf(builder, load));
  load.getResult().replaceAllUsesWith(result);
  load.erase();
}

} // namespace

tt::FuncOp Chain::function() const {
  ModuleOp module = scalar;
  return *module.getOps<tt::FuncOp>().begin();
}

tt::StoreOp Chain::store() const {
  tt::StoreOp last;
  function().walk([&](tt::StoreOp store) { last = store; });
  return last;
}

static SmallVector<tt::LoadOp> loadsThrough(tt::FuncOp kernel,
                                            const std::vector<unsigned> &arguments) {
  SmallVector<tt::LoadOp> loads;
  for (unsigned argument : arguments)
    loads.append(collectAccesses(kernel.getArgument(argument)).loads);
  return loads;
}

std::optional<std::string> refuseKeeping(tt::FuncOp kernel, const std::vector<unsigned> &arguments,
                                         const LaunchValues &launch,
                                         const symbolic::Expr &elements) {
  std::optional<std::string> why = "the kernel does not load it";
  for (tt::LoadOp load : loadsThrough(kernel, arguments))
    if (why = refusePartialLoad(load, launch, elements); !why)
      return std::nullopt;
    else
      *why += atLine(load.getLoc());
  return why;
}

AddedArguments fuseIntoLoads(tt::FuncOp kernel, const std::vector<unsigned> &arguments,
                             const Chain &chain, Keep keep, const LaunchValues &launch,
                             const symbolic::Expr &elements) {
  SmallVector<tt::LoadOp> loads = loadsThrough(kernel, arguments);
  // Found before the signature changes: `launch` counts its arguments.
  tt::LoadOp kept;
  if (keep == Keep::Yes)
    kept = *llvm::find_if(
        loads, [&](tt::LoadOp load) { return !refusePartialLoad(load, launch, elements); });
  AddedArguments added = addChainArguments(kernel, chain);
  if (kept)
    added.output = appendArgument(kernel, pointerTo(kernel.getContext(), chain.result));
  for (tt::LoadOp load : loads)
    replaceLoad(load, kernel, chain, added, load == kept);
  return added;
}

AddedArguments fuseIntoStore(tt::FuncOp kernel, unsigned argument, const Chain &chain, Keep keep) {
  tt::StoreOp store = collectAccesses(kernel.getArgument(argument)).stores.front();
  AddedArguments added = addChainArguments(kernel, chain);
  added.output = appendArgument(kernel, pointerTo(kernel.getContext(), chain.result));
  OpBuilder builder(store);
  Access access{kernel, store.getLoc(), store.getPtr(), store.getMask(),
                store.getValue().getType()};
  SmallVector<Value> inputs;
  for (size_t i = 0; i < chain.operands.size(); ++i)
    inputs.push_back(
        chain.operands[i].kind == ChainOperand::Kind::Through
            ? asChainInput(builder, access.loc, store.getValue(), chain.operands[i].dtype)
            : loadOperand(builder, access, chain, i, added));
  Value result = applyChain(builder, access.loc, chain, inputs, access.like);
  Value pointers = sameElement(builder, store.getPtr(), kernel.getArgument(*added.output));
  tt::StoreOp::create(builder, access.loc, pointers, result, store.getMask(), store.getCache(),
                      store.getEvict());
  if (keep == Keep::No)
    store.erase();
  return added;
}

/// Address arithmetic that nothing uses any more still holds its argument.
static void eraseDeadOperations(tt::FuncOp kernel) {
  for (bool again = true; again;) {
    again = false;
    kernel.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op != kernel.getOperation() && isOpTriviallyDead(op)) {
        op->erase();
        again = true;
      }
    });
  }
}

void eraseArguments(tt::FuncOp kernel, const std::vector<unsigned> &unused) {
  eraseDeadOperations(kernel);
  BitVector which(kernel.getNumArguments());
  for (unsigned number : unused)
    which.set(number);
  (void)kernel.eraseArguments(which);
}

} // namespace pellucid::fusion
