// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic and functions, tl.dot.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;
using syntax::Operator;

Val Emitter::floatArgument(const Val &value, const char *what) {
  Val v = toTensor(value);
  if (v.type.isFloating())
    return v;
  if (v.type.isInt() && value.isNumber())
    return numberAs(value, DataType::Float32);
  fail(std::string("'tl.") + what + "' takes floats, got " + toString(v.type) + "; cast with .to(tl.float32)");
}

/// Functions are computed in float32 or float64; narrower inputs are refused, as Triton does.
template <typename Op> static Val function(Emitter &e, const Val &argument, const char *name) {
  Val v = e.floatArgument(argument, name);
  if (byteSize(v.type.element) < 4)
    e.fail(std::string("'tl.") + name + "' takes float32 and float64, got " + toString(v.type) + "; cast with .to(tl.float32)");
  return e.elementwise<Op>(v);
}

Val Emitter::emitExp(Bound &args) { return function<math::ExpOp>(*this, args[0], "exp"); }
Val Emitter::emitExp2(Bound &args) { return function<math::Exp2Op>(*this, args[0], "exp2"); }
Val Emitter::emitExpm1(Bound &args) { return function<math::ExpM1Op>(*this, args[0], "expm1"); }
Val Emitter::emitLog(Bound &args) { return function<math::LogOp>(*this, args[0], "log"); }
Val Emitter::emitLog2(Bound &args) { return function<math::Log2Op>(*this, args[0], "log2"); }
Val Emitter::emitLog1p(Bound &args) { return function<math::Log1pOp>(*this, args[0], "log1p"); }
Val Emitter::emitSqrt(Bound &args) { return function<math::SqrtOp>(*this, args[0], "sqrt"); }
Val Emitter::emitSqrtRn(Bound &args) { return function<tt::PreciseSqrtOp>(*this, args[0], "sqrt_rn"); }
Val Emitter::emitRsqrt(Bound &args) { return function<math::RsqrtOp>(*this, args[0], "rsqrt"); }
Val Emitter::emitSin(Bound &args) { return function<math::SinOp>(*this, args[0], "sin"); }
Val Emitter::emitCos(Bound &args) { return function<math::CosOp>(*this, args[0], "cos"); }
Val Emitter::emitTanh(Bound &args) { return function<math::TanhOp>(*this, args[0], "tanh"); }
Val Emitter::emitErf(Bound &args) { return function<math::ErfOp>(*this, args[0], "erf"); }
Val Emitter::emitFloor(Bound &args) { return function<math::FloorOp>(*this, args[0], "floor"); }
Val Emitter::emitCeil(Bound &args) { return function<math::CeilOp>(*this, args[0], "ceil"); }
Val Emitter::emitRint(Bound &args) { return function<math::RoundEvenOp>(*this, args[0], "rint"); }

Val Emitter::emitAbs(Bound &args) {
  if (args[0].isConstexpr())
    return callHost(*interpreter.builtin("abs"), args, {});
  Val v = toTensor(args[0]);
  if (v.type.isFloating())
    return elementwise<math::AbsFOp>(v);
  if (info(v.type.element).isSigned)
    return elementwise<math::AbsIOp>(v);
  return v;
}

Val Emitter::emitFma(Bound &args) {
  Val x = args[0], y = args[1], z = args[2];
  promote(x, y, false, "fma");
  promote(x, z, false, "fma");
  promote(x, y, false, "fma");
  return Val::tensor(math::FmaOp::create(builder, loc(), x.value, y.value, z.value), x.type);
}

Val Emitter::emitFdiv(Bound &args) {
  Val x = args[0], y = args[1];
  promote(x, y, true, "fdiv");
  if (!x.type.isFloating())
    fail("'tl.fdiv' takes floats, got " + toString(x.type));
  return elementwise<arith::DivFOp>(x, y);
}

Val Emitter::emitDivRn(Bound &args) {
  Val x = args[0], y = args[1];
  promote(x, y, true, "div_rn");
  if (!x.type.isFloating())
    fail("'tl.div_rn' takes floats, got " + toString(x.type));
  return elementwise<tt::PreciseDivFOp>(x, y);
}

Val Emitter::emitUmulhi(Bound &args) {
  Val x = args[0], y = args[1];
  promote(x, y, false, "umulhi");
  if (!x.type.isInt())
    fail("'tl.umulhi' takes integers, got " + toString(x.type));
  return elementwise<tt::MulhiUIOp>(x, y);
}

Val Emitter::emitPow(Bound &args) {
  Val x = args[0], y = args[1];
  promote(x, y, false, "pow");
  if (!x.type.isFloating())
    fail("'pow' takes floats, got " + toString(x.type));
  return elementwise<math::PowFOp>(x, y);
}

Val Emitter::emitIsNaN(Bound &args) {
  Val x = floatArgument(args[0], "isnan");
  return comparison(syntax::CmpOperator::NotEq, x, x);
}

Val Emitter::emitSigmoid(Bound &args) {
  Val x = floatArgument(args[0], "sigmoid");
  Val one = numberAs(Val::of(host::Value(1.0)), x.type.element);
  Bound inner{unary(syntax::UnaryOperator::USub, x)};
  Val e = emitExp(inner);
  return binary(Operator::Div, one, binary(Operator::Add, one, e));
}

Val Emitter::emitAdd(Bound &args) { return binary(Operator::Add, args[0], args[1]); }
Val Emitter::emitSub(Bound &args) { return binary(Operator::Sub, args[0], args[1]); }
Val Emitter::emitMul(Bound &args) { return binary(Operator::Mult, args[0], args[1]); }
Val Emitter::emitWhere(Bound &args) {
  if (auto known = constantTruth(args[0]); known && args[0].isConstexpr()) {
    Val a = args[1], b = args[2];
    promote(a, b, false, "where");
    return *known ? a : b;
  }
  return where(args[0], args[1], args[2]);
}

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

Val Emitter::emitMaximum(Bound &args) { return minimumOrMaximum(args[0], args[1], true, propagates(*this, args[2])); }
Val Emitter::emitMinimum(Bound &args) { return minimumOrMaximum(args[0], args[1], false, propagates(*this, args[2])); }

Val Emitter::emitClamp(Bound &args) {
  Val x = args[0], low = args[1], high = args[2];
  promote(x, low, false, "clamp");
  promote(x, high, false, "clamp");
  promote(x, low, false, "clamp");
  if (!x.type.isFloating())
    fail("'tl.clamp' takes floats, got " + toString(x.type) + "; write tl.minimum(tl.maximum(x, low), high)");
  auto mode = propagates(*this, args[3]) ? tt::PropagateNan::ALL : tt::PropagateNan::NONE;
  DataType element = x.type.element;
  bool widen = byteSize(element) == 2;
  if (widen)
    for (Val *v : {&x, &low, &high})
      *v = cast(*v, DataType::Float32);
  Val result = Val::tensor(tt::ClampFOp::create(builder, loc(), x.value.getType(), x.value, low.value, high.value, mode), x.type);
  return widen ? cast(result, element) : result;
}

Val Emitter::emitCdiv(Bound &args) {
  if (args[0].isConstexpr() && args[1].isConstexpr()) {
    int64_t x = constantInt(args[0], "cdiv's argument"), y = constantInt(args[1], "cdiv's divisor");
    if (y == 0)
      fail("cdiv by 0");
    return Val::of(host::Value((x + y - 1) / y));
  }
  Val top = binary(Operator::Add, args[0], binary(Operator::Sub, args[1], Val::of(host::Value(1))));
  return binary(Operator::FloorDiv, top, args[1]);
}

Val Emitter::emitDot(Bound &args) {
  Val a = toTensor(args[0]), b = toTensor(args[1]);
  size_t rank = a.type.shape.size();
  for (const Val *v : {&a, &b})
    if (v->type.pointer || v->type.shape.size() < 2 || v->type.shape.size() > 3 || v->type.shape.size() != rank)
      fail("'tl.dot' takes two tiles of two (or three) dims, got " + toString(a.type) + " and " + toString(b.type));
  int64_t m = a.type.shape[rank - 2], ka = a.type.shape[rank - 1], kb = b.type.shape[rank - 2], n = b.type.shape[rank - 1];
  if (ka != kb)
    fail("'tl.dot' expects inner dimensions to match, got " + std::to_string(ka) + " and " + std::to_string(kb));
  if (rank == 3 && a.type.shape[0] != b.type.shape[0])
    fail("'tl.dot' expects batch dimensions to match, got " + std::to_string(a.type.shape[0]) + " and " + std::to_string(b.type.shape[0]));
  bool narrow8 = isFloat(a.type.element) && byteSize(a.type.element) == 1 && isFloat(b.type.element) && byteSize(b.type.element) == 1;
  if (a.type.element != b.type.element && !narrow8)
    fail("'tl.dot' expects both operands of one type, got " + toString(a.type) + " and " + toString(b.type));
  DataType result = DataType::Float32;
  if (!isFloat(a.type.element))
    result = DataType::Int32;
  else if (a.type.element == DataType::Float64)
    result = DataType::Float64;
  else if (!args[6].isNone())
    result = constantType(args[6], "out_dtype").first;
  if (result == DataType::BFloat16)
    fail("'tl.dot' cannot accumulate in bfloat16; use out_dtype=tl.float32");
  std::vector<int64_t> shape = a.type.shape;
  shape[rank - 2] = m;
  shape[rank - 1] = n;
  Val acc;
  if (args[2].isNone()) {
    acc = splat(constantOf(0, 0, result), shape);
  } else {
    acc = toTensor(args[2]);
    if (acc.type.shape != shape)
      fail("'tl.dot' expects an accumulator of shape " + toString(TlType{result, false, shape}) + ", got " + toString(acc.type));
    result = acc.type.element;
  }
  auto precision = tt::InputPrecision::TF32;
  if (!args[3].isNone()) {
    std::string text = constantString(args[3], "input_precision");
    auto found = tt::symbolizeInputPrecision(text);
    if (!found)
      fail("input precision '" + text + "' is unknown; tf32, tf32x3 and ieee are known");
    precision = *found;
  } else if (!args[4].isNone()) {
    precision = constantBool(args[4], "allow_tf32") ? tt::InputPrecision::TF32 : tt::InputPrecision::IEEE;
  }
  int32_t imprecise = args[5].isNone() ? 0 : static_cast<int32_t>(constantInt(args[5], "max_num_imprecise_acc"));
  return Val::tensor(tt::DotOp::create(builder, loc(), acc.value.getType(), a.value, b.value, acc.value, precision, imprecise), acc.type);
}

} // namespace pellucid::frontend
