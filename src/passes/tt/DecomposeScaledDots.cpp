// SPDX-License-Identifier: Apache-2.0
// Operands become f32 tiles, scales powers of two, and what is left is an ordinary dot. The inner
// groups keep their order, so the sum is that of the scaled products in ascending order of k.
#include "passes/tt/Passes.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_DECOMPOSESCALEDDOTS
#include "passes/tt/Passes.h.inc"

namespace {

/// A float of 4 or 6 bits without NaN or infinity: a sign, then exponent and fraction.
struct TinyFormat {
  int bits, fraction, bias;
};

TinyFormat tinyFormat(ScaleDotElemType kind) {
  switch (kind) {
  case ScaleDotElemType::E2M1:
    return {4, 1, 1};
  case ScaleDotElemType::E2M3:
    return {6, 3, 1};
  default: // E3M2
    return {6, 2, 3};
  }
}

class Decomposition {
public:
  Decomposition(DotScaledOp dot) : dot(dot), builder(dot), loc(dot.getLoc()) {}

  void run() {
    Value a = operand(dot.getA(), dot.getAElemType(), dot.getLhsKPack());
    Value b = operand(dot.getB(), dot.getBElemType(), !dot.getRhsKPack());
    if (Value scale = dot.getAScale())
      a = multiply(a, scaleTile(scale, shapeOf(a).back()));
    if (Value scale = dot.getBScale())
      b = multiply(b, swapLast(scaleTile(scale, shapeOf(b)[shapeOf(b).size() - 2])));
    Value product = DotOp::create(builder, loc, dot.getC().getType(), a, b, dot.getC());
    dot.replaceAllUsesWith(product);
    dot.erase();
  }

private:
  static ArrayRef<int64_t> shapeOf(Value tile) {
    return cast<RankedTensorType>(tile.getType()).getShape();
  }
  Type with(Value tile, Type element) { return RankedTensorType::get(shapeOf(tile), element); }
  Value integer(Value like, int64_t value) {
    auto type = cast<RankedTensorType>(like.getType());
    auto number = builder.getIntegerAttr(type.getElementType(), value);
    return arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, number));
  }
  Value power(Value like, int exponent) {
    auto type = cast<RankedTensorType>(with(like, builder.getF32Type()));
    auto number = builder.getF32FloatAttr(std::ldexp(1.0f, exponent));
    return arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, number));
  }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(builder, loc, x, y); }
  Value asFloats(Value bits) {
    return BitcastOp::create(builder, loc, with(bits, builder.getF32Type()), bits);
  }
  Value widened(Value bytes) {
    return arith::ExtUIOp::create(builder, loc, with(bytes, builder.getI32Type()), bytes);
  }

  /// The operand as f32. fp4 comes in pairs along the columns or the rows.
  Value operand(Value tile, ScaleDotElemType kind, bool pairsAlongColumns) {
    Type element = cast<RankedTensorType>(tile.getType()).getElementType();
    Type single = builder.getF32Type();
    if (isa<IntegerType>(element)) {
      if (kind == ScaleDotElemType::E2M1)
        return pairs(tile, pairsAlongColumns);
      if (kind != ScaleDotElemType::E4M3 && kind != ScaleDotElemType::E5M2)
        return tiny(widened(tile), tinyFormat(kind));
      element = kind == ScaleDotElemType::E4M3 ? Type(Float8E4M3FNType::get(builder.getContext()))
                                               : Type(Float8E5M2Type::get(builder.getContext()));
      tile = BitcastOp::create(builder, loc, with(tile, element), tile);
    }
    if (element == single)
      return tile;
    if (element.getIntOrFloatBitWidth() == 8)
      return FpToFpOp::create(builder, loc, with(tile, single), tile, RoundingModeAttr());
    return arith::ExtFOp::create(builder, loc, with(tile, single), tile);
  }

  /// The low bits of i32 elements as f32: exponent and fraction in place, then one exact product
  /// corrects the bias; subnormals too.
  Value tiny(Value codes, TinyFormat format) {
    auto bit = [&](Value value, int64_t mask, int shift) -> Value {
      Value kept = arith::AndIOp::create(builder, loc, value, integer(value, mask));
      return arith::ShLIOp::create(builder, loc, kept, integer(value, shift));
    };
    int64_t sign = int64_t(1) << (format.bits - 1);
    Value magnitude = bit(codes, sign - 1, 23 - format.fraction);
    Value placed =
        arith::OrIOp::create(builder, loc, magnitude, bit(codes, sign, 32 - format.bits));
    return multiply(asFloats(placed), power(placed, 127 - format.bias));
  }

  Value pairs(Value bytes, bool alongColumns) {
    TinyFormat format = tinyFormat(ScaleDotElemType::E2M1);
    Value wide = widened(bytes);
    Value low = tiny(wide, format);
    Value high =
        tiny(arith::ShRUIOp::create(builder, loc, wide, integer(wide, format.bits)), format);
    Value joined = JoinOp::create(builder, loc, low, high);
    if (!alongColumns)
      joined = swapLast(joined);
    SmallVector<int64_t> shape(shapeOf(bytes));
    shape[shape.size() - (alongColumns ? 1 : 2)] *= 2;
    return ReshapeOp::create(builder, loc, shape, joined);
  }

  Value swapLast(Value tile) {
    SmallVector<int32_t> order = llvm::to_vector(llvm::seq<int32_t>(shapeOf(tile).size()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return TransOp::create(builder, loc, tile, order);
  }

  /// [lines, groups] of scales as f32, each repeated over its group: [lines, inner].
  Value scaleTile(Value scales, int64_t inner) {
    Value values = scaleValues(scales);
    SmallVector<int64_t> shape(shapeOf(values));
    int64_t groups = shape.back();
    values = ExpandDimsOp::create(builder, loc, values, static_cast<int>(shape.size()));
    shape.push_back(inner / groups);
    values = BroadcastOp::create(builder, loc, RankedTensorType::get(shape, builder.getF32Type()),
                                 values);
    shape.pop_back();
    shape.back() = inner;
    return ReshapeOp::create(builder, loc, shape, values);
  }

  /// e8m0: the exponent of a power of two, subnormal at 0, NaN when all bits are set.
  Value scaleValues(Value scales) {
    Type element = cast<RankedTensorType>(scales.getType()).getElementType();
    if (isa<FloatType>(element))
      return operand(scales, ScaleDotElemType::E4M3, true);
    Value code = widened(scales);
    auto choose = [&](int64_t at, int64_t bits, Value otherwise) -> Value {
      Value here =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, code, integer(code, at));
      return arith::SelectOp::create(builder, loc, here, integer(code, bits), otherwise);
    };
    Value bits = arith::ShLIOp::create(builder, loc, code, integer(code, 23));
    return asFloats(choose(0, 0x400000, choose(0xff, 0x7fc00000, bits)));
  }

  DotScaledOp dot;
  OpBuilder builder;
  Location loc;
};

struct DecomposeScaledDotsPass : impl::DecomposeScaledDotsBase<DecomposeScaledDotsPass> {
  void runOnOperation() override {
    SmallVector<DotScaledOp> dots;
    getOperation().walk([&](DotScaledOp dot) { dots.push_back(dot); });
    for (DotScaledOp dot : dots)
      Decomposition(dot).run();
  }
};

} // namespace

} // namespace pellucid::tt
