// SPDX-License-Identifier: Apache-2.0
// Pointers, loads, stores, atomics, descriptors: types in text, verifiers, effects, folds.
#include "tt/TtOps.h"
#include "tt/TtTypeDirectives.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::tt {

//===--- types in text ------------------------------------------------------------------------===//

static ParseResult parsePointer(OpAsmParser &parser, Type &ptrType, Type &valueType) {
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseType(ptrType))
    return failure();
  valueType = valueTypeBehind(ptrType);
  if (!valueType)
    return parser.emitError(where)
           << "expects a pointer, a tile of pointers or a block pointer, got " << ptrType;
  return success();
}

ParseResult parseLoadTypes(OpAsmParser &parser, const MaybeOperand &mask, const MaybeOperand &other,
                           Type &ptrType, Type &maskType, Type &otherType, Type &resultType) {
  if (parsePointer(parser, ptrType, resultType))
    return failure();
  if (mask)
    maskType = maskTypeFor(resultType);
  if (other)
    otherType = resultType;
  return success();
}

void printLoadTypes(OpAsmPrinter &printer, Operation *, Value, Value, Type ptrType, Type, Type,
                    Type) {
  printer << ptrType;
}

ParseResult parseStoreTypes(OpAsmParser &parser, const MaybeOperand &mask, Type &ptrType,
                            Type &valueType, Type &maskType) {
  if (parsePointer(parser, ptrType, valueType))
    return failure();
  if (mask)
    maskType = maskTypeFor(valueType);
  return success();
}

void printStoreTypes(OpAsmPrinter &printer, Operation *, Value, Type ptrType, Type, Type) {
  printer << ptrType;
}

ParseResult parseHistogramTypes(OpAsmParser &parser, const MaybeOperand &mask, Type &srcType,
                                Type &maskType) {
  if (parser.parseType(srcType))
    return failure();
  if (mask)
    maskType = maskTypeFor(srcType);
  return success();
}

void printHistogramTypes(OpAsmPrinter &printer, Operation *, Value, Type srcType, Type) {
  printer << srcType;
}

//===--- load and store -----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other,
                   CacheModifier cache, EvictionPolicy evict, bool isVolatile) {
  build(builder, state, valueTypeBehind(ptr.getType()), ptr, mask, other,
        /*boundaryCheck=*/ArrayRef<int32_t>{},
        /*padding=*/PaddingOptionAttr{}, cache, evict, isVolatile);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   ArrayRef<int32_t> boundaryCheck, std::optional<PaddingOption> padding,
                   CacheModifier cache, EvictionPolicy evict, bool isVolatile) {
  auto paddingAttr =
      padding ? PaddingOptionAttr::get(builder.getContext(), *padding) : PaddingOptionAttr{};
  build(builder, state, valueTypeBehind(ptr.getType()), ptr, /*mask=*/Value{}, /*other=*/Value{},
        boundaryCheck, paddingAttr, cache, evict, isVolatile);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value, Value mask,
                    CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, mask, /*boundaryCheck=*/ArrayRef<int32_t>{}, cache, evict);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value,
                    ArrayRef<int32_t> boundaryCheck, CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, /*mask=*/Value{}, boundaryCheck, cache, evict);
}

/// Checks what load and store share. `label` is the operation's name in the specification.
template <typename AccessOp> static LogicalResult verifyAccess(AccessOp op, Type valueType) {
  Type expected = valueTypeBehind(op.getPtr().getType());
  // load_c1, store_c1
  if (valueType != expected)
    return op.emitOpError() << "expects a value of the pointer's element type, " << expected
                            << ", got " << valueType;
  // load_c2, store_c2
  if (op.getMask() && op.getMask().getType() != maskTypeFor(expected))
    return op.emitOpError() << "expects a mask of type " << maskTypeFor(expected) << ", got "
                            << op.getMask().getType();
  bool block = isBlockPointer(op.getPtr().getType());
  // load_c4, store_c4
  if (block && op.getMask())
    return op.emitOpError() << "expects no mask with a block pointer of type "
                            << op.getPtr().getType();
  // load_c5, store_c5
  if (!block && !op.getBoundaryCheck().empty())
    return op.emitOpError() << "expects a block pointer for a boundary check, got "
                            << op.getPtr().getType();
  int64_t rank = block ? cast<RankedTensorType>(expected).getRank() : 0;
  for (int32_t dim : op.getBoundaryCheck()) {
    // load_c6, store_c6
    if (dim < 0 || dim >= rank)
      return op.emitOpError() << "expects boundary-checked dims below rank " << rank << ", got "
                              << dim;
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getType())))
    return failure();
  // load_c3
  if (getOther() && getOther().getType() != getType())
    return emitOpError() << "expects other of type " << getType() << ", got "
                         << getOther().getType();
  // load_c7
  if (getOther() && !getMask())
    return emitOpError() << "expects a mask where other is given";
  return success();
}

LogicalResult StoreOp::verify() { return verifyAccess(*this, getValue().getType()); }

// load(p, true, other) => load(p);  load(p, false, other) => other
LogicalResult LoadOp::canonicalize(LoadOp op, PatternRewriter &rewriter) {
  if (!op.getMask())
    return failure();
  if (matchPattern(op.getMask(), m_One())) {
    rewriter.modifyOpInPlace(op, [&] {
      op.getMaskMutable().clear();
      op.getOtherMutable().clear();
    });
    return success();
  }
  if (op.getIsVolatile() || !op.getOther() || !matchPattern(op.getMask(), m_Zero()))
    return failure();
  rewriter.replaceOp(op, op.getOther());
  return success();
}

// store(p, v, true) => store(p, v);  store(p, v, false) => nothing
LogicalResult StoreOp::canonicalize(StoreOp op, PatternRewriter &rewriter) {
  if (!op.getMask())
    return failure();
  if (matchPattern(op.getMask(), m_One())) {
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
  if (!matchPattern(op.getMask(), m_Zero()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

//===--- atomics ------------------------------------------------------------------------------===//

LogicalResult AtomicRMWOp::verify() {
  // atomic_rmw_c1
  if (getVal().getType() != valueTypeBehind(getPtr().getType()))
    return emitOpError() << "expects a value of type " << valueTypeBehind(getPtr().getType())
                         << ", got " << getVal().getType();
  // atomic_rmw_c2
  if (getType() != getVal().getType())
    return emitOpError() << "expects a result of the value's type " << getVal().getType()
                         << ", got " << getType();
  // atomic_rmw_c3
  if (getMask() && getMask().getType() != maskTypeFor(getVal().getType()))
    return emitOpError() << "expects a mask of type " << maskTypeFor(getVal().getType()) << ", got "
                         << getMask().getType();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(getType()));
  // atomic_rmw_c4
  if ((getAtomicRmwOp() == RMWOp::FADD) != isFloat && getAtomicRmwOp() != RMWOp::XCHG)
    return emitOpError() << "expects " << (isFloat ? "'fadd' or 'exch'" : "an integer operation")
                         << " on " << getElementTypeOrSelf(getType()) << ", got '"
                         << stringifyRMWOp(getAtomicRmwOp()) << "'";
  return success();
}

LogicalResult AtomicCASOp::verify() {
  Type expected = valueTypeBehind(getPtr().getType());
  // atomic_cas_c1
  for (Type type : {getCmp().getType(), getVal().getType(), getType()})
    if (type != expected)
      return emitOpError() << "expects compare, value and result of type " << expected << ", got "
                           << type;
  return success();
}

LogicalResult AtomicLoadOp::verify() {
  Type expected = valueTypeBehind(getPtr().getType());
  // atomic_load_c1
  if (getType() != expected)
    return emitOpError() << "expects a result of type " << expected << ", got " << getType();
  // atomic_load_c2
  if (getMask() && getMask().getType() != maskTypeFor(expected))
    return emitOpError() << "expects a mask of type " << maskTypeFor(expected) << ", got "
                         << getMask().getType();
  return success();
}

LogicalResult AtomicStoreOp::verify() {
  Type expected = valueTypeBehind(getPtr().getType());
  // atomic_store_c1
  if (getValue().getType() != expected)
    return emitOpError() << "expects a value of type " << expected << ", got "
                         << getValue().getType();
  // atomic_store_c2
  if (getMask() && getMask().getType() != maskTypeFor(expected))
    return emitOpError() << "expects a mask of type " << maskTypeFor(expected) << ", got "
                         << getMask().getType();
  return success();
}

LogicalResult AtomicPollOp::verify() {
  Type expected = valueTypeBehind(getPtr().getType());
  // atomic_poll_c1
  if (getExpected().getType() != expected || getType() != maskTypeFor(expected))
    return emitOpError() << "expects to compare " << expected << " and give "
                         << maskTypeFor(expected) << ", got " << getExpected().getType() << " and "
                         << getType();
  return success();
}

//===--- block pointers and descriptors -------------------------------------------------------===//

void MakeTensorPtrOp::build(OpBuilder &builder, OperationState &state, Value base, ValueRange shape,
                            ValueRange strides, ValueRange offsets, ArrayRef<int32_t> tileShape,
                            ArrayRef<int32_t> order) {
  auto pointer = cast<PointerType>(base.getType());
  SmallVector<int64_t> dims(tileShape.begin(), tileShape.end());
  auto tile = RankedTensorType::get(dims, pointer.getPointeeType());
  build(builder, state, PointerType::get(tile, pointer.getAddressSpace()), base, shape, strides,
        offsets, order);
}

LogicalResult MakeTensorPtrOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType().getPointeeType()).getRank();
  // make_tensor_ptr_c1
  if (static_cast<int64_t>(getShape().size()) != rank)
    return emitOpError() << "expects " << rank << " sizes, strides and offsets for a block of rank "
                         << rank << ", got " << getShape().size();
  // make_tensor_ptr_c2
  if (static_cast<int64_t>(getOrder().size()) != rank)
    return emitOpError() << "expects an order of length " << rank << ", got " << getOrder().size();
  return success();
}

LogicalResult AdvanceOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType().getPointeeType()).getRank();
  // advance_c1
  if (static_cast<int64_t>(getOffsets().size()) != rank)
    return emitOpError() << "expects " << rank << " offsets for a block of rank " << rank
                         << ", got " << getOffsets().size();
  return success();
}

OpFoldResult AdvanceOp::fold(FoldAdaptor) {
  bool still =
      llvm::all_of(getOffsets(), [](Value offset) { return matchPattern(offset, m_Zero()); });
  return still ? getPtr() : Value{};
}

OpFoldResult AddPtrOp::fold(FoldAdaptor) {
  return matchPattern(getOffset(), m_Zero()) ? getPtr() : Value{};
}

// addptr(splat(p), splat(o)) => splat(addptr(p, o))
LogicalResult AddPtrOp::canonicalize(AddPtrOp op, PatternRewriter &rewriter) {
  auto base = op.getPtr().getDefiningOp<SplatOp>();
  auto offset = op.getOffset().getDefiningOp<SplatOp>();
  if (!base || !offset)
    return failure();
  Value moved = AddPtrOp::create(rewriter, op.getLoc(), base.getSrc(), offset.getSrc());
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), moved);
  return success();
}

void MakeTensorDescOp::build(OpBuilder &builder, OperationState &state, Value base,
                             ValueRange shape, ValueRange strides, ArrayRef<int64_t> blockShape,
                             PaddingOption padding) {
  auto block =
      RankedTensorType::get(blockShape, cast<PointerType>(base.getType()).getPointeeType());
  build(builder, state, TensorDescType::get(block), base, shape, strides, padding);
}

LogicalResult MakeTensorDescOp::verify() {
  RankedTensorType block = getType().getBlockType();
  // make_tensor_descriptor_c1
  if (static_cast<int64_t>(getShape().size()) != block.getRank())
    return emitOpError() << "expects " << block.getRank()
                         << " sizes and strides for a block of rank " << block.getRank() << ", got "
                         << getShape().size();
  Type pointee = cast<PointerType>(getBase().getType()).getPointeeType();
  // make_tensor_descriptor_c2: signedness belongs to the descriptor's element type, not to memory.
  if (!pointee.isIntOrFloat() ||
      pointee.getIntOrFloatBitWidth() != block.getElementType().getIntOrFloatBitWidth())
    return emitOpError() << "expects blocks of " << pointee << ", got " << block.getElementType();
  return success();
}

/// The block, or what is moved of it, must hold the elements of the tile. Leading dims of size 1
/// may be dropped.
static LogicalResult verifyBlockAndTile(Operation *op, TensorDescType desc, Type tileType,
                                        size_t indexCount) {
  auto tile = cast<RankedTensorType>(tileType);
  RankedTensorType block = desc.getBlockType();
  // descriptor_c1
  if (block.getNumElements() != tile.getNumElements())
    return op->emitOpError() << "expects a tile of " << block.getNumElements() << " elements for "
                             << desc << ", got " << tile;
  // descriptor_c2
  if (!tile.getElementType().isIntOrFloat() || block.getElementType().getIntOrFloatBitWidth() !=
                                                   tile.getElementType().getIntOrFloatBitWidth())
    return op->emitOpError() << "expects elements of type " << block.getElementType() << ", got "
                             << tile.getElementType();
  // descriptor_c3
  if (static_cast<int64_t>(indexCount) != block.getRank())
    return op->emitOpError() << "expects " << block.getRank() << " indices for " << desc << ", got "
                             << indexCount;
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlockAndTile(*this, getDesc().getType(), getType(), getIndices().size());
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlockAndTile(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}

LogicalResult DescriptorReduceOp::verify() {
  return verifyBlockAndTile(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}

static LogicalResult verifyRows(Operation *op, TensorDescType desc, RankedTensorType offsets,
                                Type tileType) {
  auto tile = cast<RankedTensorType>(tileType);
  RankedTensorType block = desc.getBlockType();
  // descriptor_rows_c1
  if (block.getRank() != 2 || block.getDimSize(0) != 1)
    return op->emitOpError() << "expects a descriptor of blocks 1xN, got " << desc;
  // descriptor_rows_c2
  if (offsets.getRank() != 1 || tile.getRank() != 2 || tile.getDimSize(0) != offsets.getDimSize(0))
    return op->emitOpError() << "expects one row per offset, got " << offsets << " offsets and "
                             << tile << " rows";
  // descriptor_rows_c3
  if (tile.getDimSize(1) != block.getDimSize(1) || tile.getElementType() != block.getElementType())
    return op->emitOpError() << "expects rows of " << block.getDimSize(1) << " "
                             << block.getElementType() << ", got " << tile.getDimSize(1) << " "
                             << tile.getElementType();
  return success();
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getDesc().getType(), cast<RankedTensorType>(getXOffsets().getType()),
                    getType());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDesc().getType(), cast<RankedTensorType>(getXOffsets().getType()),
                    getSrc().getType());
}

//===--- effects ------------------------------------------------------------------------------===//

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void reads(Effects &effects, OpOperand &through) {
  effects.emplace_back(MemoryEffects::Read::get(), &through, GlobalMemory::get());
}

static void writes(Effects &effects, OpOperand &through) {
  effects.emplace_back(MemoryEffects::Write::get(), &through, GlobalMemory::get());
}

/// Everything before stays before: atomics other than relaxed ones, barriers, printing.
static void orders(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

void LoadOp::getEffects(Effects &effects) {
  reads(effects, getPtrMutable());
  if (getIsVolatile())
    writes(effects, getPtrMutable());
}

void StoreOp::getEffects(Effects &effects) { writes(effects, getPtrMutable()); }
void AtomicRMWOp::getEffects(Effects &effects) { orders(effects); }
void AtomicCASOp::getEffects(Effects &effects) { orders(effects); }
void AtomicLoadOp::getEffects(Effects &effects) { orders(effects); }
void AtomicStoreOp::getEffects(Effects &effects) { orders(effects); }
void AtomicPollOp::getEffects(Effects &effects) { orders(effects); }
void GridDependencyWaitOp::getEffects(Effects &effects) { orders(effects); }
void GridDependencyLaunchDependentsOp::getEffects(Effects &effects) { orders(effects); }
void DescriptorLoadOp::getEffects(Effects &effects) { reads(effects, getDescMutable()); }
void DescriptorStoreOp::getEffects(Effects &effects) { writes(effects, getDescMutable()); }
void DescriptorReduceOp::getEffects(Effects &effects) { orders(effects); }
void DescriptorGatherOp::getEffects(Effects &effects) { reads(effects, getDescMutable()); }
void DescriptorScatterOp::getEffects(Effects &effects) { writes(effects, getDescMutable()); }
void PrintOp::getEffects(Effects &effects) { orders(effects); }
void AssertOp::getEffects(Effects &effects) { orders(effects); }
void BarrierOp::getEffects(Effects &effects) { orders(effects); }
void TtgBarrierOp::getEffects(Effects &effects) { orders(effects); }

// Kept in place, but no memory is touched.
void AssumeOp::getEffects(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get()); }

template <typename ForeignOp> static void foreignEffects(ForeignOp op, Effects &effects) {
  if (!op.getPure())
    orders(effects);
}

void ExternElementwiseOp::getEffects(Effects &effects) { foreignEffects(*this, effects); }
void ElementwiseInlineAsmOp::getEffects(Effects &effects) { foreignEffects(*this, effects); }

static Speculation::Speculatability speculatableIf(bool pure) {
  return pure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

Speculation::Speculatability ExternElementwiseOp::getSpeculatability() {
  return speculatableIf(getPure());
}
Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() {
  return speculatableIf(getPure());
}

} // namespace pellucid::tt
