// SPDX-License-Identifier: Apache-2.0
#include "fusion/SpliceKernel.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pellucid::fusion {

using namespace mlir;

namespace {

/// The accesses that go through one pointer argument, or why they cannot be told.
struct Accesses {
  SmallVector<tt::LoadOp> loads;
  SmallVector<tt::StoreOp> stores;
  std::optional<std::string> refusal;
};

std::string opName(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

std::string atLine(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return " at line " + std::to_string(place.getLine());
  return {};
}

/// Bools lie in memory as bytes: pointers to them are cast before they are used.
bool isBoolPointerCast(Operation *op) {
  auto pointee = [](Value value) {
    auto pointer = dyn_cast<tt::PointerType>(getElementTypeOrSelf(value.getType()));
    return pointer ? pointer.getPointeeType() : Type();
  };
  auto cast = dyn_cast<tt::BitcastOp>(op);
  return cast && pointee(cast.getSrc()) && pointee(cast.getSrc()).isInteger(1) &&
         pointee(cast.getResult()).isInteger(8);
}

/// Follows the pointer forward through address arithmetic to its loads and stores.
Accesses collectAccesses(BlockArgument pointer) {
  Accesses found;
  SmallVector<Value> pending{pointer};
  while (!pending.empty() && !found.refusal) {
    Value value = pending.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto load = dyn_cast<tt::LoadOp>(user)) {
        found.loads.push_back(load);
      } else if (auto store = dyn_cast<tt::StoreOp>(user); store && store.getPtr() == value) {
        found.stores.push_back(store);
      } else if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(user) ||
                 isBoolPointerCast(user) ||
                 (isa<tt::AddPtrOp>(user) && use.getOperandNumber() == 0)) {
        pending.push_back(user->getResult(0));
      } else if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(user)) {
        found.refusal = "atomic: an atomic access goes through it" + atLine(user->getLoc());
      } else {
        found.refusal = "its address goes through " + opName(user) + atLine(user->getLoc());
      }
      if (found.refusal)
        break;
    }
  }
  return found;
}

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

Value addOffsets(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  unsigned width = std::max(getElementTypeOrSelf(a.getType()).getIntOrFloatBitWidth(),
                            getElementTypeOrSelf(b.getType()).getIntOrFloatBitWidth());
  return arith::AddIOp::create(builder, loc, toWidth(builder, loc, a, width),
                               toWidth(builder, loc, b, width));
}

/// The offset, in elements, of `pointer` from the argument it is made of; null for zero.
/// collectAccesses has seen to it that nothing else stands between them.
Value offsetFromArgument(OpBuilder &builder, Value pointer) {
  Operation *def = pointer.getDefiningOp();
  if (!def)
    return {};
  Location loc = def->getLoc();
  if (auto add = dyn_cast<tt::AddPtrOp>(def))
    return addOffsets(builder, loc, offsetFromArgument(builder, add.getPtr()), add.getOffset());
  Value inner = offsetFromArgument(builder, def->getOperand(0));
  if (!inner || isBoolPointerCast(def))
    return inner;
  Type type = withElement(pointer.getType(), getElementTypeOrSelf(inner.getType()));
  if (isa<tt::SplatOp>(def))
    return tt::SplatOp::create(builder, loc, type, inner);
  if (isa<tt::BroadcastOp>(def))
    return tt::BroadcastOp::create(builder, loc, type, inner);
  auto expand = cast<tt::ExpandDimsOp>(def);
  return tt::ExpandDimsOp::create(builder, loc, type, inner, expand.getAxisAttr());
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

tt::FuncOp scalarFunction(const Chain &chain) {
  ModuleOp module = *chain.scalar;
  return *module.getOps<tt::FuncOp>().begin();
}

tt::StoreOp finalStore(tt::FuncOp function) {
  tt::StoreOp last;
  function.walk([&](tt::StoreOp store) { last = store; });
  return last;
}

/// Applies the chain's scalar code to `inputs` (tiles or scalars of one shape), element by element.
Value applyChain(OpBuilder &builder, Location loc, const Chain &chain, ArrayRef<Value> inputs,
                 Type like) {
  tt::FuncOp function = scalarFunction(chain);
  tt::StoreOp store = finalStore(function);
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

Type elementType(MLIRContext *context, DataType type) {
  Builder builder(context);
  switch (type) {
  case DataType::Bool:
    return builder.getI1Type();
  case DataType::Float16:
    return builder.getF16Type();
  case DataType::BFloat16:
    return builder.getBF16Type();
  case DataType::Float32:
    return builder.getF32Type();
  case DataType::Float64:
    return builder.getF64Type();
  case DataType::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DataType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case DataType::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DataType::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  default:
    return builder.getIntegerType(8 * byteSize(type));
  }
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
      type == DataType::Bool ? IntegerType::get(context, 8) : elementType(context, type), 1);
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
  for (const ChainOperand &operand : chain.operands) {
    bool needed = operand.kind == ChainOperand::Kind::Size ||
                  (operand.kind == ChainOperand::Kind::RowVector && !operand.length.isConstant());
    if (!needed)
      continue;
    bool known = false;
    for (auto &[expr, number] : added.scalars)
      known |= expr == operand.length;
    if (!known)
      added.scalars.emplace_back(operand.length,
                                 appendArgument(kernel, IntegerType::get(kernel.getContext(), 64)));
  }
  return added;
}

Value lengthArgument(tt::FuncOp kernel, const ChainOperand &operand, const AddedArguments &added) {
  auto entry = llvm::find_if(added.scalars,
                             [&](const auto &scalar) { return scalar.first == operand.length; });
  return kernel.getArgument(entry->second);
}

/// The index of a row vector's element: offset mod length, in the offset's own width where the
/// length is a constant. The length is at least 1 here: masked-off elements of an empty tensor are
/// divided, too.
Value rowIndex(OpBuilder &builder, Location loc, tt::FuncOp kernel, const ChainOperand &operand,
               const AddedArguments &added, Value offset) {
  if (auto length = operand.length.constant()) {
    if (*length > INT32_MAX)
      offset = toWidth(builder, loc, offset, 64);
    Type element = getElementTypeOrSelf(offset.getType());
    Value divisor =
        constantLike(builder, loc, offset.getType(), builder.getIntegerAttr(element, *length));
    return arith::RemSIOp::create(builder, loc, offset, divisor);
  }
  Value wide = toWidth(builder, loc, offset, 64);
  Value divisor = splatTo(builder, loc, wide.getType(), lengthArgument(kernel, operand, added));
  return arith::RemSIOp::create(builder, loc, wide, divisor);
}

/// Bytes as the truth values that chains compute with.
Value asChainInput(OpBuilder &builder, Location loc, Value loaded, DataType type) {
  if (type != DataType::Bool)
    return loaded;
  Value zero = constantLike(builder, loc, loaded.getType(), builder.getI8IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, loaded, zero);
}

/// Loads operand `index` of the chain for the elements at `offset`, under the kernel's own mask.
Value loadOperand(OpBuilder &builder, Location loc, tt::FuncOp kernel, const Chain &chain,
                  size_t index, const AddedArguments &added, Type like, Value offset, Value mask) {
  const ChainOperand &operand = chain.operands[index];
  if (operand.kind == ChainOperand::Kind::Size)
    return splatTo(builder, loc, like, lengthArgument(kernel, operand, added));
  Value base = kernel.getArgument(*added.pointers[index]);
  if (operand.kind == ChainOperand::Kind::Scalar) {
    Value loaded =
        asChainInput(builder, loc, tt::LoadOp::create(builder, loc, base), operand.dtype);
    return splatTo(builder, loc, like, loaded);
  }
  Value pointers = splatTo(builder, loc, like, base);
  if (!offset)
    return asChainInput(builder, loc, tt::LoadOp::create(builder, loc, pointers, mask, Value()),
                        operand.dtype);
  Value at = operand.kind == ChainOperand::Kind::RowVector
                 ? rowIndex(builder, loc, kernel, operand, added, offset)
                 : offset;
  pointers = tt::AddPtrOp::create(builder, loc, pointers.getType(), pointers, at);
  return asChainInput(builder, loc, tt::LoadOp::create(builder, loc, pointers, mask, Value()),
                      operand.dtype);
}

bool isInLoop(Operation *op) { return op->getParentOfType<LoopLikeOpInterface>() != nullptr; }

/// True when each element of `value` only ever reaches the same element of a store under `mask`, or
/// of a select that `mask` decides: what masked-off elements hold is then never seen.
bool staysUnderMask(Value value, Value mask) {
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value current = pending.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (OpOperand &use : current.getUses()) {
      Operation *user = use.getOwner();
      if (auto store = dyn_cast<tt::StoreOp>(user)) {
        if (store.getMask() != mask || use.get() != store.getValue())
          return false;
        continue;
      }
      if (auto select = dyn_cast<arith::SelectOp>(user))
        if (select.getCondition() == mask && use.getOperandNumber() == 1)
          continue;
      if (!user->hasTrait<OpTrait::Elementwise>() || user->getNumResults() != 1)
        return false;
      pending.push_back(user->getResult(0));
    }
  }
  return true;
}

/// The chain's value when its only input is the constant `input`; null when it does not fold.
Attribute foldChain(const Chain &chain, Attribute input) {
  if (chain.operands.size() != 1)
    return {};
  tt::FuncOp function = scalarFunction(chain);
  tt::StoreOp store = finalStore(function);
  llvm::DenseMap<Value, Attribute> known;
  known[function.getArgument(1)] = input;
  for (Operation &op : function.getBody().front()) {
    if (&op == store.getOperation())
      break;
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != op.getNumResults())
      return {};
    for (auto [result, folded] : llvm::zip(op.getResults(), results)) {
      Attribute value = dyn_cast<Attribute>(folded);
      known[result] = value ? value : known.lookup(cast<Value>(folded));
    }
  }
  return known.lookup(store.getValue());
}

Attribute scalarConstant(Value value) {
  Attribute attribute;
  if (auto splat = value.getDefiningOp<tt::SplatOp>())
    value = splat.getSrc();
  if (!matchPattern(value, m_Constant(&attribute)))
    return {};
  if (auto dense = dyn_cast<SplatElementsAttr>(attribute))
    return dense.getSplatValue<Attribute>();
  return attribute;
}

/// Masked-off elements must read as `other` after fusion too, where anyone can see them. Without
/// `other` they read as 0.
std::optional<std::string> refuseOther(tt::LoadOp load, const Chain &chain) {
  if (!load.getMask() || staysUnderMask(load.getResult(), load.getMask()))
    return std::nullopt;
  Value other = load.getOther();
  Attribute before =
      other
          ? scalarConstant(other)
          : Attribute(Builder(load.getContext()).getZeroAttr(getElementTypeOrSelf(load.getType())));
  Attribute after = before ? foldChain(chain, before) : Attribute();
  if (after && after == before)
    return std::nullopt;
  return "masked with other: masked-off elements are loaded as 'other' and used, and the operator "
         "is not known to keep "
         "that value" +
         atLine(load.getLoc());
}

bool feedsMatrixProductInLoop(tt::LoadOp load) {
  for (auto loop = load->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop.walk([](tt::DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
  return false;
}

/// Recomputation is bounded: an element that is loaded many times is worth cheap arithmetic over
/// one tensor at most.
std::optional<std::string> refuseCost(ArrayRef<tt::LoadOp> loads, const Chain &chain,
                                      const LaunchValues &launch) {
  auto isWhole = [](const ChainOperand &operand) {
    return operand.kind == ChainOperand::Kind::SameOrder;
  };
  bool cheap = !chain.expensive && llvm::count_if(chain.operands, isWhole) <= 1;
  for (tt::LoadOp load : loads) {
    if (feedsMatrixProductInLoop(load))
      return "cost: it is loaded in the loop of a matrix product" + atLine(load.getLoc());
    if (cheap)
      continue;
    if (isInLoop(load))
      return "cost: it is loaded in a loop, where the operator would be computed again and again" +
             atLine(load.getLoc());
    if (loads.size() > 1)
      return "cost: it is loaded " + std::to_string(loads.size()) +
             " times, and the operator would be computed each time" + atLine(load.getLoc());
    if (isLoadedByManyPrograms(load, launch))
      return "cost: several programs load the same elements, and each would compute the operator" +
             atLine(load.getLoc());
  }
  return std::nullopt;
}

std::optional<std::string> refuseChain(const Chain &chain) {
  tt::FuncOp function = scalarFunction(chain);
  if (!llvm::hasSingleElement(function.getBody()) || !finalStore(function))
    return "the operators are not straight-line code";
  for (Operation &op : function.getBody().front())
    if (op.getNumRegions() != 0)
      return "the operators are not straight-line code";
  return std::nullopt;
}

} // namespace

std::optional<std::string> refuseLoadFusion(tt::FuncOp kernel, unsigned argument,
                                            const Chain &chain, const LaunchValues &launch) {
  if (auto refusal = refuseChain(chain))
    return refusal;
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  if (accesses.refusal)
    return accesses.refusal;
  if (!accesses.stores.empty())
    return "the kernel writes it" + atLine(accesses.stores.front().getLoc());
  if (accesses.loads.empty())
    return "the kernel does not load it";
  for (tt::LoadOp load : accesses.loads) {
    if (load.getIsVolatile())
      return "a volatile load reads it" + atLine(load.getLoc());
    if (auto refusal = refuseOther(load, chain))
      return refusal;
  }
  return refuseCost(accesses.loads, chain, launch);
}

/// What masked-off elements of `load` read as.
static Value otherOf(OpBuilder &builder, tt::LoadOp load) {
  if (load.getOther())
    return load.getOther();
  Type element = getElementTypeOrSelf(load.getType());
  return constantLike(builder, load.getLoc(), load.getType(),
                      cast<TypedAttr>(builder.getZeroAttr(element)));
}

AddedArguments fuseIntoLoads(tt::FuncOp kernel, unsigned argument, const Chain &chain) {
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  AddedArguments added = addChainArguments(kernel, chain);
  for (tt::LoadOp load : accesses.loads) {
    OpBuilder builder(load);
    Location loc = load.getLoc();
    Type like = load.getResult().getType();
    Value offset = offsetFromArgument(builder, load.getPtr());
    SmallVector<Value> inputs;
    for (size_t i = 0; i < chain.operands.size(); ++i)
      inputs.push_back(
          loadOperand(builder, loc, kernel, chain, i, added, like, offset, load.getMask()));
    Value result = applyChain(builder, loc, chain, inputs, like);
    if (load.getMask() && !staysUnderMask(load.getResult(), load.getMask()))
      result =
          arith::SelectOp::create(builder, loc, load.getMask(), result, otherOf(builder, load));
    load.getResult().replaceAllUsesWith(result);
    load.erase();
  }
  return added;
}

std::optional<std::string> refuseStoreFusion(tt::FuncOp kernel, unsigned argument,
                                             const Chain &chain, const LaunchValues &launch,
                                             const symbolic::Expr &elements) {
  if (auto refusal = refuseChain(chain))
    return refusal;
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  if (accesses.refusal)
    return accesses.refusal;
  if (!accesses.loads.empty())
    return "read-back: the kernel reads what it wrote" + atLine(accesses.loads.front().getLoc());
  if (accesses.stores.size() != 1)
    return "the kernel has " + std::to_string(accesses.stores.size()) + " stores to it";
  tt::StoreOp store = accesses.stores.front();
  if (auto partial = refusePartialStore(store, launch, elements))
    return "partial store: " + *partial + atLine(store.getLoc());
  return std::nullopt;
}

std::string describeReadWrite(tt::FuncOp kernel, unsigned argument) {
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  if (accesses.refusal)
    return *accesses.refusal;
  if (accesses.loads.empty() || accesses.stores.empty())
    return "the kernel reads and writes it";
  return "read-back: the kernel loads it" + atLine(accesses.loads.front().getLoc()) +
         " and stores to it" + atLine(accesses.stores.front().getLoc());
}

AddedArguments fuseIntoStore(tt::FuncOp kernel, unsigned argument, const Chain &chain) {
  tt::StoreOp store = collectAccesses(kernel.getArgument(argument)).stores.front();
  AddedArguments added = addChainArguments(kernel, chain);
  added.output = appendArgument(kernel, pointerTo(kernel.getContext(), chain.result));
  OpBuilder builder(store);
  Location loc = store.getLoc();
  Type like = store.getValue().getType();
  Value offset = offsetFromArgument(builder, store.getPtr());
  SmallVector<Value> inputs;
  for (size_t i = 0; i < chain.operands.size(); ++i)
    inputs.push_back(
        chain.operands[i].kind == ChainOperand::Kind::Through
            ? asChainInput(builder, loc, store.getValue(), chain.operands[i].dtype)
            : loadOperand(builder, loc, kernel, chain, i, added, like, offset, store.getMask()));
  Value result = applyChain(builder, loc, chain, inputs, like);
  Value pointers = splatTo(builder, loc, like, kernel.getArgument(*added.output));
  if (offset)
    pointers = tt::AddPtrOp::create(builder, loc, pointers.getType(), pointers, offset);
  tt::StoreOp::create(builder, loc, pointers, result, store.getMask(), store.getCache(),
                      store.getEvict());
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
