// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/TileAddressing.h"

#include "tt/TtOps.h"

using namespace mlir;

namespace pellucid::tt {

Value toI64(OpBuilder &builder, Location loc, Value value) {
  Type wide = withElementType(value.getType(), builder.getI64Type());
  return value.getType() == wide ? value : builder.createOrFold<arith::ExtSIOp>(loc, wide, value);
}

Value splatTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  return builder.createOrFold<SplatOp>(loc, RankedTensorType::get(shape, value.getType()), value);
}

Value spreadAlong(OpBuilder &builder, Location loc, Value line, int64_t dim,
                  ArrayRef<int64_t> shape) {
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (axis != dim)
      line = ExpandDimsOp::create(builder, loc, line, static_cast<int>(axis));
  Type type = RankedTensorType::get(shape, getElementTypeOrSelf(line.getType()));
  return builder.createOrFold<BroadcastOp>(loc, type, line);
}

/// 0, 1, …, size - 1 as i64.
static Value countTo(OpBuilder &builder, Location loc, int64_t size) {
  return toI64(builder, loc, MakeRangeOp::create(builder, loc, 0, static_cast<int>(size)));
}

Value tilePointers(OpBuilder &builder, Location loc, const TileView &view) {
  Value start = view.base;
  Value within;
  for (int64_t dim = 0; dim < view.rank(); ++dim) {
    Value skipped = arith::MulIOp::create(builder, loc, view.offsets[dim], view.strides[dim]);
    start = AddPtrOp::create(builder, loc, start, skipped);
    Value stride = splatTo(builder, loc, view.strides[dim], {view.block[dim]});
    Value line =
        arith::MulIOp::create(builder, loc, countTo(builder, loc, view.block[dim]), stride);
    Value spread = spreadAlong(builder, loc, line, dim, view.block);
    within = within ? arith::AddIOp::create(builder, loc, within, spread) : spread;
  }
  return AddPtrOp::create(builder, loc, splatTo(builder, loc, start, view.block), within);
}

Value tileMask(OpBuilder &builder, Location loc, const TileView &view, ArrayRef<int32_t> dims) {
  Value mask;
  for (int32_t dim : dims) {
    ArrayRef<int64_t> length(view.block[dim]);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
    Value index =
        arith::AddIOp::create(builder, loc, splatTo(builder, loc, view.offsets[dim], length),
                              countTo(builder, loc, view.block[dim]));
    Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, index,
                                        splatTo(builder, loc, zero, length));
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index,
                                        splatTo(builder, loc, view.sizes[dim], length));
    Value inside = arith::AndIOp::create(builder, loc, above, below);
    Value spread = spreadAlong(builder, loc, inside, dim, view.block);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, spread) : spread;
  }
  return mask;
}

Value paddingTile(OpBuilder &builder, Location loc, RankedTensorType type, Value padNan) {
  Value zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return zero;
  auto nan = SplatElementsAttr::get(type, APFloat::getNaN(element.getFloatSemantics()));
  Value nanTile = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(cast<Attribute>(nan)));
  return arith::SelectOp::create(builder, loc, padNan, nanTile, zero);
}

} // namespace pellucid::tt
