// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic and functions, tl.dot.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;
using syntax::Operator;

/// Functions are computed in float32 and float64; narrower inputs are refused, as Triton does.
static Val floatArgument(Emitter &e, const Val &argument, const char *name) {
  Val v = e.toTensor(argument);
  if (!v.type.isFloating() || byteSize(v.type.element) < 4)
    e.fail(std::string("'tl.") + name + "' takes float32 and float64, got " + toString(v.type) +
           "; cast with .to(tl.float32)");
  return v;
}

template <typename Op> static Val function(Emitter &e, const Val &argument, const char *name) {
  return e.elementwise<Op>(floatArgument(e, argument, name));
}

Val Emitter::emitExp(Bound &args) { return function<math::ExpOp>(*this, args[0], "exp"); }
Val Emitter::emitExp2(Bound &args) { return function<math::Exp2Op>(*this, args[0], "exp2"); }
Val Emitter::emitLog(Bound &args) { return function<math::LogOp>(*this, args[0], "log"); }
Val Emitter::emitLog2(Bound &args) { return function<math::Log2Op>(*this, args[0], "log2"); }
Val Emitter::emitSqrt(Bound &args) { return function<math::SqrtOp>(*this, args[0], "sqrt"); }
Val Emitter::emitSqrtRn(Bound &args) {
  return function<tt::PreciseSqrtOp>(*this, args[0], "sqrt_rn");
}
Val Emitter::emitRsqrt(Bound &args) { return function<math::RsqrtOp>(*this, args[0], "rsqrt"); }
Val Emitter::emitSin(Bound &args) { return function<math::SinOp>(*this, args[0], "sin"); }
Val Emitter::emitCos(Bound &args) { return function<math::CosOp>(*this, args[0], "cos"); }
Val Emitter::emitErf(Bound &args) { return function<math::ErfOp>(*this, args[0], "erf"); }
Val Emitter::emitFloor(Bound &args) { return function<math::FloorOp>(*this, args[0], "floor"); }
Val Emitter::emitCeil(Bound &args) { return function<math::CeilOp>(*this, args[0], "ceil"); }

Val Emitter::emitAbs(Bound &args) {
  Val v = toTensor(args[0]);
  if (v.type.isFloating())
    return elementwise<math::AbsFOp>(v);
  if (info(v.type.element).isSigned)
    return elementwise<math::AbsIOp>(v);
  return v;
}

Val Emitter::emitFma(Bound &args) {
  Val x = toTensor(args[0]), y = toTensor(args[1]), z = toTensor(args[2]);
  promote(x, y, false, "fma");
  promote(z, x, false, "fma");
  promote(z, y, false, "fma");
  if (!x.type.isFloating() || !(x.type == y.type))
    fail("'tl.fma' takes floats of one type, got " + toString(x.type) + " and " + toString(y.type));
  return Val::tensor(math::FmaOp::create(builder, loc(), x.value, y.value, z.value), x.type);
}

Val Emitter::emitFdiv(Bound &args) {
  Val x = toTensor(args[0]), y = toTensor(args[1]);
  if (!x.type.isFloating() || !y.type.isFloating())
    fail("'tl.fdiv' takes floats, got " + toString(x.type) + " and " + toString(y.type));
  if (constantBool(args[2], "ieee_rounding") && constantBool(args[3], "approx"))
    fail("'tl.fdiv' cannot be both approx and ieee_rounding");
  promote(x, y, false, "fdiv");
  return elementwise<arith::DivFOp>(x, y);
}

Val Emitter::emitDivRn(Bound &args) {
  Val x = floatArgument(*this, args[0], "div_rn"), y = floatArgument(*this, args[1], "div_rn");
  promote(x, y, false, "div_rn");
  return elementwise<tt::PreciseDivFOp>(x, y);
}

Val Emitter::emitUmulhi(Bound &args) {
  Val x = toTensor(args[0]), y = toTensor(args[1]);
  if (args[0].isNumber() != args[1].isNumber())
    (args[0].isNumber() ? x : y) =
        numberAs(args[0].isNumber() ? args[0] : args[1], (args[0].isNumber() ? y : x).type.element);
  promote(x, y, false, "umulhi");
  if (!x.type.isInt() || byteSize(x.type.element) < 4)
    fail("'tl.umulhi' takes integers of 32 and 64 bits, got " + toString(x.type));
  return elementwise<tt::MulhiUIOp>(x, y);
}

Val Emitter::emitLogicalAnd(Bound &args) {
  return binary(Operator::BitAnd, truthOf(args[0]), truthOf(args[1]));
}
Val Emitter::emitLogicalOr(Bound &args) {
  return binary(Operator::BitOr, truthOf(args[0]), truthOf(args[1]));
}
Val Emitter::emitAdd(Bound &args) { return binary(Operator::Add, args[0], args[1]); }
Val Emitter::emitSub(Bound &args) { return binary(Operator::Sub, args[0], args[1]); }
Val Emitter::emitMul(Bound &args) { return binary(Operator::Mult, args[0], args[1]); }
Val Emitter::emitWhere(Bound &args) { return where(args[0], args[1], args[2]); }

static bool propagates(Emitter &e, const Val &option) {
  if (option.isNone())
    return false;
  std::string text = option.isConstexpr() ? host::repr(option.constant) : "";
  if (text.find("ALL") != std::string::npos)
    return true;
  if (text.find("NONE") != std::string::npos)
    return false;
  e.fail("propagate_nan is tl.PropagateNan.ALL or tl.PropagateNan.NONE");
}

Val Emitter::emitMaximum(Bound &args) {
  return minimumOrMaximum(args[0], args[1], true, propagates(*this, args[2]));
}
Val Emitter::emitMinimum(Bound &args) {
  return minimumOrMaximum(args[0], args[1], false, propagates(*this, args[2]));
}

Val Emitter::emitClamp(Bound &args) {
  Val parts[3];
  for (size_t i = 0; i < 3; ++i) {
    parts[i] = toTensor(args[i]);
    if (parts[i].type.isFloating() && parts[i].type.element == DataType::BFloat16)
      parts[i] = cast(parts[i], DataType::Float32);
  }
  auto &[x, low, high] = parts;
  promote(low, high, false, "clamp");
  promote(x, low, false, "clamp");
  promote(x, high, false, "clamp");
  promote(x, low, false, "clamp");
  if (!x.type.isFloating())
    fail("'tl.clamp' takes floats, got " + toString(x.type) +
         "; write tl.minimum(tl.maximum(x, low), high)");
  auto mode = propagates(*this, args[3]) ? tt::PropagateNan::ALL : tt::PropagateNan::NONE;
  return Val::tensor(
      tt::ClampFOp::create(builder, loc(), x.value.getType(), x.value, low.value, high.value, mode),
      x.type);
}

/// At least two dims, equal ranks and batch dims, matching inner dims; the shape of the result.
static std::vector<int64_t> dotShape(Emitter &e, const Val &a, const Val &b) {
  size_t rank = a.type.shape.size();
  if (a.type.pointer || b.type.pointer || rank < 2 || b.type.shape.size() != rank)
    e.fail("'tl.dot' takes two tiles of two or more dims, got " + toString(a.type) + " and " +
           toString(b.type));
  if (a.type.shape[rank - 1] != b.type.shape[rank - 2])
    e.fail("'tl.dot' expects inner dimensions to match, got " +
           std::to_string(a.type.shape[rank - 1]) + " and " +
           std::to_string(b.type.shape[rank - 2]));
  for (size_t d = 0; d + 2 < rank; ++d)
    if (a.type.shape[d] != b.type.shape[d])
      e.fail("'tl.dot' expects batch dimensions to match, got " + std::to_string(a.type.shape[d]) +
             " and " + std::to_string(b.type.shape[d]));
  std::vector<int64_t> shape = a.type.shape;
  shape[rank - 1] = b.type.shape[rank - 1];
  return shape;
}

static DataType dotResult(Emitter &e, const Val &a, const Val &b, const Val &outType) {
  DataType x = a.type.element, y = b.type.element;
  bool float8 = isFloat(x) && byteSize(x) == 1 && isFloat(y) && byteSize(y) == 1;
  if (x != y && !float8)
    e.fail("'tl.dot' expects both operands of one type, got " + toString(a.type) + " and " +
           toString(b.type));
  if (!isFloat(x) && x != DataType::Int8)
    e.fail("'tl.dot' of integers takes int8, got " + toString(a.type));
  DataType wanted =
      outType.isNone() ? DataType::Float32 : e.constantType(outType, "out_dtype").first;
  if (x == DataType::Int8)
    return DataType::Int32;
  if (wanted == DataType::BFloat16)
    e.fail("'tl.dot' cannot accumulate in bfloat16; use out_dtype=tl.float32 and cast with "
           ".to(tl.bfloat16)");
  if (x == DataType::Float64)
    return x;
  return x == DataType::Float32 || x == DataType::BFloat16 ? DataType::Float32 : wanted;
}

static tt::InputPrecision inputPrecision(Emitter &e, const Val &name, const Val &allowTf32) {
  if (!name.isNone() && !allowTf32.isNone())
    e.fail("'tl.dot' takes one of input_precision and allow_tf32, got both");
  if (name.isNone() && allowTf32.isNone())
    return tt::InputPrecision::TF32;
  if (name.isNone())
    return e.constantBool(allowTf32, "allow_tf32") ? tt::InputPrecision::TF32
                                                   : tt::InputPrecision::IEEE;
  std::string text = e.constantString(name, "input_precision");
  for (auto precision :
       {tt::InputPrecision::TF32, tt::InputPrecision::TF32x3, tt::InputPrecision::IEEE,
        tt::InputPrecision::BF16x3, tt::InputPrecision::BF16x6})
    if (StringRef(tt::stringifyInputPrecision(precision)).equals_insensitive(text))
      return precision;
  e.fail("input precision '" + text +
         "' is unknown; tf32, tf32x3, ieee, bf16x3 and bf16x6 are known");
}

Val Emitter::emitDot(Bound &args) {
  // trans_a and trans_b of Triton 1.
  for (size_t i = 0; i < 2; ++i)
    if (constantBool(args[7 + i], i == 0 ? "trans_a" : "trans_b")) {
      Bound swapped{args[i], Val::tuple({Val::integer(1), Val::integer(0)})};
      args[i] = emitPermute(swapped);
    }
  Val a = toTensor(args[0]), b = toTensor(args[1]);
  std::vector<int64_t> shape = dotShape(*this, a, b);
  DataType result = dotResult(*this, a, b, args[6]);
  size_t rank = shape.size();
  auto precision = inputPrecision(*this, args[3], args[4]);
  auto batched = [&](const Val &v) {
    int64_t batch = 1;
    for (size_t d = 0; d + 2 < rank; ++d)
      batch *= v.type.shape[d];
    return rank < 4 ? v
                    : reshapeTo(v, {batch, v.type.shape[rank - 2], v.type.shape[rank - 1]}, false);
  };
  Val acc = args[2].isNone() ? splat(constantOf(0, 0, result), shape) : toTensor(args[2]);
  if (acc.type.shape != shape || acc.type.pointer)
    fail("'tl.dot' expects an accumulator of type " + toString(TlType{result, false, shape}) +
         ", got " + toString(acc.type));
  if (acc.type.element != result) {
    bool halfOut = acc.type.element == DataType::Float16 &&
                   (a.type.element == DataType::Float16 || byteSize(a.type.element) == 1);
    if (!halfOut)
      fail("'tl.dot' expects an accumulator of type " + toString(TlType{result, false, shape}) +
           ", got " + toString(acc.type));
  }
  // Triton's default for the devices that round sums of fp8.
  constexpr int32_t anyNumber = 1 << 30;
  bool ofFloat8 = isFloat(a.type.element) && byteSize(a.type.element) == 1 &&
                  isFloat(b.type.element) && byteSize(b.type.element) == 1;
  int32_t imprecise = !args[5].isNone()
                          ? static_cast<int32_t>(constantInt(args[5], "max_num_imprecise_acc"))
                      : ofFloat8 ? anyNumber
                                 : 0;
  a = batched(a);
  b = batched(b);
  acc = batched(acc);
  Val out = Val::tensor(tt::DotOp::create(builder, loc(), acc.value.getType(), a.value, b.value,
                                          acc.value, precision, imprecise),
                        acc.type);
  return rank < 4 ? out : reshapeTo(out, shape, false);
}

// --- dot_scaled
// -----------------------------------------------------------------------------------------------------

static std::pair<Val, tt::ScaleDotElemType> scaledOperand(Emitter &e, const Val &operand,
                                                          const Val &format) {
  std::string text = e.constantString(format, "the format of a scaled operand");
  auto type = tt::symbolizeScaleDotElemType(text);
  Val v = e.toTensor(operand);
  if (!type)
    e.fail("format '" + text + "' is unknown; e2m1, e4m3, e5m2, bf16 and fp16 are known");
  DataType wanted = text == "e4m3"   ? DataType::Float8E4M3FN
                    : text == "e5m2" ? DataType::Float8E5M2
                    : text == "bf16" ? DataType::BFloat16
                                     : DataType::Float16;
  if (text == "e2m1") {
    if (v.type.element != DataType::UInt8)
      e.fail("e2m1 operands are packed as uint8, got " + toString(v.type));
    return {v, *type};
  }
  return {v.type.element == wanted ? v : e.bitcast(v, wanted, false), *type};
}

Val Emitter::emitDotScaled(Bound &args) {
  auto [a, typeA] = scaledOperand(*this, args[0], args[2]);
  auto [b, typeB] = scaledOperand(*this, args[3], args[5]);
  bool packA = constantBool(args[8], "lhs_k_pack"), packB = constantBool(args[9], "rhs_k_pack");
  bool fourA = typeA == tt::ScaleDotElemType::E2M1, fourB = typeB == tt::ScaleDotElemType::E2M1;
  if (!args[10].isNone())
    if (auto [type, pointer] = constantType(args[10], "out_dtype");
        type != DataType::Float32 || pointer)
      fail("'tl.dot_scaled' gives float32, got out_dtype=" + toString(TlType{type, pointer, {}}) +
           "; cast the result with .to()");
  size_t rank = a.type.shape.size();
  if (rank < 2 || b.type.shape.size() != rank)
    fail("'tl.dot_scaled' takes two tiles of two dims, got " + toString(a.type) + " and " +
         toString(b.type));
  int64_t m = a.type.shape[rank - 2] * (fourA && !packA ? 2 : 1),
          n = b.type.shape[rank - 1] * (fourB && !packB ? 2 : 1);
  int64_t ka = a.type.shape[rank - 1] * (fourA && packA ? 2 : 1),
          kb = b.type.shape[rank - 2] * (fourB && packB ? 2 : 1);
  if (ka != kb)
    fail("'tl.dot_scaled' expects inner dimensions to match, got " + std::to_string(ka) + " and " +
         std::to_string(kb));
  std::vector<int64_t> shape = a.type.shape;
  shape[rank - 2] = m;
  shape[rank - 1] = n;
  Val acc =
      args[6].isNone() ? splat(constantOf(0, 0, DataType::Float32), shape) : toTensor(args[6]);
  if (acc.type.shape != shape || acc.type.element != DataType::Float32)
    fail("'tl.dot_scaled' expects an accumulator of type " +
         toString(TlType{DataType::Float32, false, shape}) + ", got " + toString(acc.type));
  auto scale = [&](const Val &v) { return v.isNone() ? mlir::Value() : toTensor(v).value; };
  auto op = tt::DotScaledOp::create(builder, loc(), acc.value.getType(), a.value, b.value,
                                    acc.value, scale(args[1]), scale(args[4]), typeA, typeB,
                                    constantBool(args[7], "fast_math"), packA, packB);
  return Val::tensor(op.getD(), acc.type);
}

} // namespace pellucid::frontend
