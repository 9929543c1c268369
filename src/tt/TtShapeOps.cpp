// SPDX-License-Identifier: Apache-2.0
// Casts and operations that rearrange tiles: verifiers, builders, folds.
#include "tt/TtOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::tt {

/// The constant `value`, which holds one value only, in another shape.
static Attribute resizedSplat(Attribute value, Type type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(value);
  return splat ? splat.resizeSplat(cast<ShapedType>(type)) : Attribute{};
}

/// op(splat(x)) => splat(x) in the type of op.
template <typename ShapeOp>
static LogicalResult foldIntoSplat(ShapeOp op, PatternRewriter &rewriter) {
  auto splat = op.getSrc().template getDefiningOp<SplatOp>();
  if (!splat)
    return failure();
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
  return success();
}

//===--- casts --------------------------------------------------------------------------------===//

/// Pointers count as 64 bits.
static unsigned bitWidthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

LogicalResult BitcastOp::verify() {
  bool fromPointer = isa<PointerType>(getElementTypeOrSelf(getSrc().getType()));
  bool toPointer = isa<PointerType>(getElementTypeOrSelf(getType()));
  // bitcast_c1
  if (fromPointer != toPointer)
    return emitOpError() << "expects pointers or numbers on both sides, got " << getSrc().getType()
                         << " and " << getType();
  // bitcast_c2
  if (bitWidthOf(getSrc().getType()) != bitWidthOf(getType()))
    return emitOpError() << "expects equal widths, got " << bitWidthOf(getSrc().getType())
                         << " and " << bitWidthOf(getType()) << " bits";
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  return getSrc().getType() == getType() ? getSrc() : Value{};
}

LogicalResult FpToFpOp::verify() {
  unsigned from = bitWidthOf(getSrc().getType()), to = bitWidthOf(getType());
  // fp_to_fp_c1
  if (to < from && !getRounding())
    return emitOpError() << "expects a rounding from " << from << " to " << to << " bits";
  // fp_to_fp_c2
  if (to > from && getRounding())
    return emitOpError() << "expects no rounding from " << from << " to " << to << " bits";
  return success();
}

//===--- splat and unsplat --------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSrc().getType());
  // splat_c1
  if (source && source.getRank() != 0)
    return emitOpError() << "expects a scalar to repeat, got " << source;
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (auto value = dyn_cast_if_present<TypedAttr>(adaptor.getSrc());
      isa_and_present<IntegerAttr, FloatAttr>(value))
    return SplatElementsAttr::get(cast<ShapedType>(getType()), cast<Attribute>(value));
  return {};
}

LogicalResult UnsplatOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                          ValueRange operands, DictionaryAttr, OpaqueProperties,
                                          RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(getElementTypeOrSelf(operands[0].getType()));
  return success();
}

LogicalResult UnsplatOp::verify() {
  // unsplat_c1
  if (tileTypeOf(getSrc()).getNumElements() != 1)
    return emitOpError() << "expects a tile of 1 element, got "
                         << tileTypeOf(getSrc()).getNumElements();
  return success();
}

//===--- expand_dims --------------------------------------------------------------------------===//

void ExpandDimsOp::build(OpBuilder &builder, OperationState &state, Value src, int axis) {
  RankedTensorType from = tileTypeOf(src);
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + axis, 1);
  build(builder, state, RankedTensorType::get(shape, from.getElementType()), src, axis);
}

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType from = tileTypeOf(getSrc()), to = tileTypeOf(getResult());
  int64_t axis = getAxisAttr().getInt();
  // expand_dims_c1
  if (axis < 0 || axis > from.getRank())
    return emitOpError() << "expects an axis from 0 to " << from.getRank() << ", got " << axis;
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + axis, 1);
  // expand_dims_c2
  if (to.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "expects result type "
                         << RankedTensorType::get(shape, from.getElementType()) << ", got " << to;
  return success();
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return resizedSplat(adaptor.getSrc(), getType());
}

LogicalResult ExpandDimsOp::canonicalize(ExpandDimsOp op, PatternRewriter &rewriter) {
  return foldIntoSplat(op, rewriter);
}

//===--- reshape ------------------------------------------------------------------------------===//

void ReshapeOp::build(OpBuilder &builder, OperationState &state, ArrayRef<int64_t> shape, Value src,
                      bool allowReorder) {
  build(builder, state, RankedTensorType::get(shape, tileTypeOf(src).getElementType()), src,
        allowReorder,
        /*efficient_layout=*/false);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = tileTypeOf(getSrc()), to = tileTypeOf(getResult());
  // reshape_c1
  if (from.getNumElements() != to.getNumElements())
    return emitOpError() << "expects as many elements on both sides, got " << from.getNumElements()
                         << " and " << to.getNumElements();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder())
    return getSrc();
  return resizedSplat(adaptor.getSrc(), getType());
}

// reshape(reshape(x)) => reshape(x): the order is free if either left it free.
LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  if (succeeded(foldIntoSplat(op, rewriter)))
    return success();
  auto inner = op.getSrc().getDefiningOp<ReshapeOp>();
  if (!inner || op.getEfficientLayout() || inner.getEfficientLayout())
    return failure();
  // A reordering is some fixed permutation: merging is sound only while nobody else sees the inner
  // result.
  if (inner.getAllowReorder() && !inner->hasOneUse())
    return rewriter.notifyMatchFailure(op, "the reordered tile has other users");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSrc(),
                                         op.getAllowReorder() || inner.getAllowReorder(), false);
  return success();
}

//===--- broadcast ----------------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tileTypeOf(getSrc()), to = tileTypeOf(getResult());
  // broadcast_c1
  if (from.getRank() != to.getRank())
    return emitOpError() << "expects equal ranks, got " << from.getRank() << " and "
                         << to.getRank();
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    // broadcast_c2
    if (from.getDimSize(dim) != 1 && from.getDimSize(dim) != to.getDimSize(dim))
      return emitOpError() << "expects dim " << dim << " to be 1 or " << to.getDimSize(dim)
                           << ", got " << from.getDimSize(dim);
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return resizedSplat(adaptor.getSrc(), getType());
}

// broadcast(broadcast(x)) => broadcast(x)
LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  if (succeeded(foldIntoSplat(op, rewriter)))
    return success();
  auto inner = op.getSrc().getDefiningOp<BroadcastOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSrc());
  return success();
}

//===--- trans --------------------------------------------------------------------------------===//

void TransOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int32_t> order) {
  RankedTensorType from = tileTypeOf(src);
  SmallVector<int64_t> shape;
  for (int32_t dim : order)
    shape.push_back(from.getDimSize(dim));
  build(builder, state, RankedTensorType::get(shape, from.getElementType()), src, order);
}

LogicalResult TransOp::verify() {
  RankedTensorType from = tileTypeOf(getSrc()), to = tileTypeOf(getResult());
  SmallVector<int32_t> sorted(getOrder());
  llvm::sort(sorted);
  bool permutation = static_cast<int64_t>(sorted.size()) == from.getRank();
  for (size_t i = 0; permutation && i < sorted.size(); ++i)
    permutation = sorted[i] == static_cast<int32_t>(i);
  // trans_c1
  if (!permutation)
    return emitOpError() << "expects an order that permutes 0.." << from.getRank() - 1 << ", got ["
                         << getOrder() << "]";
  SmallVector<int64_t> shape;
  for (int32_t dim : getOrder())
    shape.push_back(from.getDimSize(dim));
  // trans_c2
  if (to.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "expects result type "
                         << RankedTensorType::get(shape, from.getElementType()) << ", got " << to;
  return success();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getOrder()))
    return getSrc();
  return resizedSplat(adaptor.getSrc(), getType());
}

//===--- cat, join, split ---------------------------------------------------------------------===//

LogicalResult CatOp::verify() {
  int64_t expected = 2 * tileTypeOf(getLhs()).getNumElements();
  // cat_c1
  if (tileTypeOf(getResult()).getNumElements() != expected)
    return emitOpError() << "expects a result of " << expected << " elements, got "
                         << tileTypeOf(getResult()).getNumElements();
  return success();
}

static RankedTensorType joinedType(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, type.getElementType());
}

void JoinOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  build(builder, state, joinedType(tileTypeOf(lhs)), lhs, rhs);
}

LogicalResult JoinOp::verify() {
  RankedTensorType expected = joinedType(tileTypeOf(getLhs()));
  // join_c1
  if (tileTypeOf(getResult()).getShape() != expected.getShape() ||
      tileTypeOf(getResult()).getElementType() != expected.getElementType())
    return emitOpError() << "expects result type " << expected << ", got " << getType();
  return success();
}

void SplitOp::build(OpBuilder &builder, OperationState &state, Value src) {
  RankedTensorType from = tileTypeOf(src);
  auto half = RankedTensorType::get(from.getShape().drop_back(), from.getElementType());
  build(builder, state, half, half, src);
}

LogicalResult SplitOp::verify() {
  RankedTensorType from = tileTypeOf(getSrc()), half = tileTypeOf(getOutLHS());
  // split_c1
  if (from.getRank() < 1 || from.getShape().back() != 2)
    return emitOpError() << "expects a last dim of size 2, got " << from;
  // split_c2
  if (half.getShape() != from.getShape().drop_back() ||
      half.getElementType() != from.getElementType())
    return emitOpError() << "expects halves of type "
                         << RankedTensorType::get(from.getShape().drop_back(),
                                                  from.getElementType())
                         << ", got " << half;
  return success();
}

//===--- gather, histogram, distribute, make_range --------------------------------------------===//

void GatherOp::build(OpBuilder &builder, OperationState &state, Value src, Value indices,
                     int axis) {
  auto type =
      RankedTensorType::get(tileTypeOf(indices).getShape(), tileTypeOf(src).getElementType());
  build(builder, state, type, src, indices, axis, /*efficient_layout=*/false);
}

LogicalResult GatherOp::verify() {
  RankedTensorType src = tileTypeOf(getSrc()), indices = tileTypeOf(getIndices()),
                   result = tileTypeOf(getResult());
  // gather_c1
  if (result.getShape() != indices.getShape() || result.getElementType() != src.getElementType())
    return emitOpError()
           << "expects a result of the indices' shape and the source's element type, got " << result
           << " for indices " << indices << " and source " << src;
  // gather_c2
  if (src.getRank() != indices.getRank())
    return emitOpError() << "expects indices of the source's rank " << src.getRank() << ", got "
                         << indices.getRank();
  int64_t axis = getAxisAttr().getInt();
  // gather_c3
  if (axis < 0 || axis >= src.getRank())
    return emitOpError() << "expects an axis from 0 to " << src.getRank() - 1 << ", got " << axis;
  for (int64_t dim = 0; dim < src.getRank(); ++dim) {
    // gather_c4
    if (dim != axis && indices.getDimSize(dim) > src.getDimSize(dim))
      return emitOpError() << "expects indices of at most " << src.getDimSize(dim) << " in dim "
                           << dim << ", got " << indices.getDimSize(dim);
  }
  return success();
}

LogicalResult HistogramOp::verify() {
  // histogram_c1
  if (tileTypeOf(getResult()).getRank() != 1)
    return emitOpError() << "expects a result of rank 1, got " << getType();
  // histogram_c2
  if (getMask() && getMask().getType() != maskTypeFor(getSrc().getType()))
    return emitOpError() << "expects a mask of type " << maskTypeFor(getSrc().getType()) << ", got "
                         << getMask().getType();
  return success();
}

LogicalResult DistributeOp::verify() {
  RankedTensorType src = tileTypeOf(getSrc()), digits = tileTypeOf(getDigits()),
                   counts = tileTypeOf(getCounts());
  // distribute_c1
  if (src.getRank() != 1 || digits.getShape() != src.getShape())
    return emitOpError() << "expects a digit for each element of a tile of one dim, got "
                         << getDigits().getType() << " for " << src;
  // distribute_c2
  if (tileTypeOf(getResult()).getShape() != src.getShape() ||
      tileTypeOf(getResult()).getElementType() != src.getElementType())
    return emitOpError() << "expects a result of type " << src << ", got " << getResult().getType();
  // distribute_c3
  if (counts.getRank() != 1 || !counts.getElementType().isInteger(32) ||
      !llvm::isPowerOf2_64(counts.getDimSize(0)) || counts.getDimSize(0) < 32)
    return emitOpError() << "expects counts of a power of two of digits, 32 and more, as i32, got "
                         << getCounts().getType();
  return success();
}

void MakeRangeOp::build(OpBuilder &builder, OperationState &state, int start, int end) {
  build(builder, state, RankedTensorType::get({end - start}, builder.getI32Type()), start, end);
}

LogicalResult MakeRangeOp::verify() {
  int64_t size = getLimit() - getFirst();
  // make_range_c1
  if (size <= 0)
    return emitOpError() << "expects start below end, got " << getFirst() << " and " << getLimit();
  // make_range_c2
  if (tileTypeOf(getResult()).getRank() != 1 || tileTypeOf(getResult()).getDimSize(0) != size)
    return emitOpError() << "expects a result of " << size << " elements, got " << getType();
  // make_range_c3
  if (!llvm::isPowerOf2_64(size))
    return emitOpError() << "expects a power of two of elements, got " << size;
  return success();
}

OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  if (getLimit() - getFirst() != 1)
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(getType()),
                                Builder(getContext()).getI32IntegerAttr(getFirst()));
}

} // namespace pellucid::tt
