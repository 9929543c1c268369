// SPDX-License-Identifier: Apache-2.0
/// Arithmetic and elementary functions.
#include "graph/ops/Families.h"

#include <cmath>

namespace pellucid::graph {

using Domain = PointwiseCase::Domain;
using enum Promotion;

Operator makeOperator(std::string_view schema, Operator::Kind kind, FakeFunction fake) {
  Operator op;
  op.schema = parseSchema(schema);
  op.kind = kind;
  op.fake = std::move(fake);
  return op;
}

void addPointwise(OperatorRegistry &registry, std::span<const PointwiseRow> rows) {
  for (const PointwiseRow &row : rows) {
    Operator op = makeOperator(row.schema, Operator::Kind::Pointwise, pointwiseFake);
    op.pointwise = {row.promotion, row.cases, row.flops};
    op.numbersAreTensors = row.numbersAreTensors;
    op.decompose = row.decompose;
    registry.add(std::move(op));
  }
}

TensorType freshLike(const TensorType &like, DataType dtype, std::vector<Expr> shape) {
  return TensorType(dtype, std::move(shape), like.device);
}

namespace {
// Triton's // and % on integers truncate, PyTorch's floor and remainder round down.
constexpr const char *floorQuotientText =
    "tl.where((self % other != 0) & ((self < 0) != (other < 0)), self // other - 1, self // other)";
constexpr const char *remainderText =
    "tl.where((self % other != 0) & ((self % other < 0) != (other < "
    "0)), self % other + other, self % other)";
// From the remainder, because a quotient just below an integer would round up to it. A zero has the
// quotient's sign.
constexpr const char *floatFloorText =
    "tl.where(other == 0, self / other, tl.where((self % other != "
    "0) & ((self % other < 0) != (other < 0)), "
    "tl.floor((self - self % other) / other - 0.5), tl.where(self - self % other == 0, "
    "(self / other) * 0.0, tl.floor((self - self % other) / other + 0.5))))";
constexpr const char *truncQuotientText =
    "tl.where(self / other < 0, tl.ceil(self / other), tl.floor(self / other))";

std::vector<PointwiseCase> floatOnly(std::string expression) { return {{std::move(expression)}}; }

/// A rounding of floats that leaves integers alone.
std::vector<PointwiseCase> rounding(std::string expression) {
  return {{std::move(expression), Domain::Floating}, {"self", Domain::Integer}};
}

/// An integer case that divides by `other`.
PointwiseCase byZeroFails(std::string expression) {
  return {std::move(expression), Domain::Integer, {}, {}, "other"};
}

std::vector<PointwiseCase> divisionModes() {
  return {{floatFloorText, Domain::Floating, "rounding_mode", "floor"},
          {floorQuotientText, Domain::Integer, "rounding_mode", "floor", "other"},
          {truncQuotientText, Domain::Floating, "rounding_mode", "trunc"},
          {"self // other", Domain::Integer, "rounding_mode", "trunc", "other"}};
}

/// Powers of integers are said in products; this is never emitted.
const char *const wholePower = "tl.static_assert(False, 'powers of integers are products')";

std::vector<PointwiseCase> powers() {
  return {{"self * self", Domain::Any, "exponent", "2"},
          {"self * self", Domain::Any, "exponent", "2.0"},
          {"self * self * self", Domain::Any, "exponent", "3"},
          {"self * self * self", Domain::Any, "exponent", "3.0"},
          {"self", Domain::Any, "exponent", "1"},
          {"tl.sqrt(self)", Domain::Floating, "exponent", "0.5"},
          {"1.0 / tl.sqrt(self)", Domain::Floating, "exponent", "-0.5"},
          {"1.0 / self", Domain::Floating, "exponent", "-1"},
          {"1.0 / self", Domain::Floating, "exponent", "-1.0"},
          {"libdevice.pow(self, exponent * 1.0)", Domain::Floating},
          {wholePower, Domain::Integer}};
}

/// Operators on values of one type, as the decomposition of a power writes them.
struct Emitter {
  Graph &graph;
  const OperatorCall &call;
  const OperatorRegistry &registry;

  Value *operator()(std::string_view target, std::vector<Argument> args,
                    KeywordArguments kwargs = {}) const {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  }
};

/// base ** exponent for a number: squared once for each of its bits.
Value *constantPower(const Emitter &emit, Value *base, int64_t exponent) {
  Value *result = nullptr;
  for (uint64_t rest = static_cast<uint64_t>(exponent); rest; rest >>= 1) {
    if (rest & 1)
      result = result ? emit("aten.mul.Tensor", {result, base}) : base;
    if (rest > 1)
      base = emit("aten.mul.Tensor", {base, base});
  }
  return result ? result : emit("aten.ones_like.default", {base});
}

/// As C does for every bit that the type has; of the negative exponents only those of 1 and -1
/// leave something.
Value *tensorPower(const Emitter &emit, Value *base, Value *exponent) {
  DataType type = base->type().dtype;
  bool isSigned = info(type).isSigned;
  Value *whole = base, *result = nullptr;
  for (uint32_t bit = 0; bit + isSigned < 8 * byteSize(type); ++bit) {
    Value *place = emit("aten.bitwise_and.Scalar", {exponent, int64_t(1) << bit});
    Value *factor = emit("aten.where.ScalarOther", {emit("aten.ne.Scalar", {place, 0}), whole, 1});
    result = result ? emit("aten.mul.Tensor", {result, factor}) : factor;
    whole = emit("aten.mul.Tensor", {whole, whole});
  }
  if (!isSigned)
    return result;
  Value *odd = emit("aten.ne.Scalar", {emit("aten.bitwise_and.Scalar", {exponent, 1}), 0});
  Value *sign = emit("aten.where.ScalarOther", {odd, base, 1});
  Value *isUnit = emit("aten.logical_or.default",
                       {emit("aten.eq.Scalar", {base, 1}), emit("aten.eq.Scalar", {base, -1})});
  Value *inverse = emit("aten.where.ScalarOther", {isUnit, sign, 0});
  return emit("aten.where.self", {emit("aten.lt.Scalar", {exponent, 0}), inverse, result});
}

std::vector<Value *> wholePowerDecomposition(Graph &graph, const OperatorCall &call,
                                             const OperatorRegistry &registry) {
  TensorType type = std::get<TensorType>(call.op.fake(call)[0]);
  if (!isInteger(type.dtype))
    return {};
  Emitter emit{graph, call, registry};
  auto operand = [&](std::string_view name) {
    if (Value *tensor = call.value(name))
      return tensor->type().dtype == type.dtype
                 ? tensor
                 : emit("aten._to_copy.default", {tensor}, {{"dtype", type.dtype}});
    return emit("aten.full.default", {Argument::List{}, call.at(name)},
                {{"dtype", type.dtype}, {"device", type.device}});
  };
  if (call.value("exponent"))
    return {tensorPower(emit, operand("self"), operand("exponent"))};
  int64_t exponent = call.constant("exponent");
  if (exponent < 0)
    call.fail("expects no negative exponent of integers, got " + std::to_string(exponent) +
              "; PyTorch has none either, convert the tensor to a floating type");
  Value *power = constantPower(emit, operand("self"), exponent);
  return {exponent == 1 ? emit("aten.clone.default", {power}) : power};
}

/// A quotient of 16 bits is rounded before it is truncated, as PyTorch does.
std::vector<Value *> truncatedQuotient(Graph &graph, const OperatorCall &call,
                                       const OperatorRegistry &registry) {
  DataType type = std::get<TensorType>(call.op.fake(call)[0]).dtype;
  bool narrow = type == DataType::BFloat16 || type == DataType::Float16;
  if (!narrow || !call.has("rounding_mode") || call.string("rounding_mode") != "trunc")
    return {};
  Emitter emit{graph, call, registry};
  std::string quotient = call.value("other") ? "aten.div.Tensor" : "aten.div.Scalar";
  return {emit("aten.trunc.default", {emit(quotient, {call.at("self"), call.at("other")})})};
}

std::vector<PointwiseCase> extremum(const std::string &function, const std::string &onBool) {
  return {{"tl." + function + "(self, other, propagate_nan=tl.PropagateNan.ALL)", Domain::Floating},
          {"tl." + function + "(self, other)", Domain::Integer},
          {onBool, Domain::Bool}};
}

// A NaN compares false and stays; bounds that are NaN are clampByNaN's.
const char *const clampMin = "tl.where(self < min, min, self)";
const char *const clampMax = "tl.where(self > max, max, self)";

/// A bound that is NaN makes every element NaN.
std::vector<Value *> clampByNaN(Graph &graph, const OperatorCall &call,
                                const OperatorRegistry &registry) {
  auto isNaN = [&](const char *bound) {
    if (!call.op.schema.indexOf(bound))
      return false;
    auto number = call.at(bound).as<double>();
    return number && std::isnan(*number);
  };
  if (!isNaN("min") && !isNaN("max"))
    return {};
  DataType type = std::get<TensorType>(call.op.fake(call)[0]).dtype;
  Emitter emit{graph, call, registry};
  return {emit("aten.full_like.default", {call.at("self"), std::nan("")}, {{"dtype", type}})};
}
std::vector<PointwiseCase> clamps() {
  return {{clampMax, Domain::Any, "min", ""},
          {clampMin, Domain::Any, "max", ""},
          {"tl.where(" + std::string(clampMin) + " > max, max, " + clampMin + ")"}};
}

/// Tensors as bounds may hold NaN, which propagates like the element's own.
std::vector<PointwiseCase> tensorClamps() {
  const std::string all = ", propagate_nan=tl.PropagateNan.ALL)";
  const std::string below = "tl.minimum(self, max" + all, above = "tl.maximum(self, min" + all;
  std::vector<PointwiseCase> cases = {{below, Domain::Floating, "min", ""},
                                      {above, Domain::Floating, "max", ""},
                                      {"tl.minimum(" + above + ", max" + all, Domain::Floating}};
  for (PointwiseCase &c : clamps()) {
    c.domain = Domain::Integer; // PyTorch clamps no bool by tensors
    cases.push_back(std::move(c));
  }
  return cases;
}
} // namespace

void registerPointwiseOperators(OperatorRegistry &registry) {
  const PointwiseRow rows[] = {
      {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
       Default,
       {{"self | other", Domain::Bool, "alpha", "1"},
        {"self | ((alpha != 0) & other)", Domain::Bool},
        {"self + other", Domain::Any, "alpha", "1"},
        {"self + alpha * other"}},
       1,
       true},
      {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
       Default,
       {{"self | other", Domain::Bool, "alpha", "1"},
        {"self | ((alpha != 0) & other)", Domain::Bool},
        {"self + other", Domain::Any, "alpha", "1"},
        {"self + alpha * other"}}},
      {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
       Default,
       {{"self - other", Domain::Floating, "alpha", "1"},
        {"self - other", Domain::Integer, "alpha", "1"},
        {"self - alpha * other", Domain::Floating},
        {"self - alpha * other", Domain::Integer}},
       1,
       true},
      {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
       Default,
       {{"self - alpha * other", Domain::Floating}, {"self - alpha * other", Domain::Integer}}},
      {"aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
       Default,
       {{"other - alpha * self", Domain::Floating}, {"other - alpha * self", Domain::Integer}},
       1,
       true},
      {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
       Default,
       {{"other - alpha * self", Domain::Floating}, {"other - alpha * self", Domain::Integer}}},
      {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
       Default,
       {{"self & other", Domain::Bool}, {"self * other"}},
       1,
       true},
      {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
       Default,
       {{"self & other", Domain::Bool}, {"self * other"}}},
      {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", IntToFloat,
       floatOnly("self / other"), 1, true},
      {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", IntToFloat,
       floatOnly("self / other")},
      // rounding_mode None is div.Tensor; here it has no case and is refused.
      {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", Default,
       divisionModes(), 4, true, truncatedQuotient},
      {"aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", Default,
       divisionModes(), 4, false, truncatedQuotient},
      {"aten::floor_divide.default(Tensor self, Tensor other) -> Tensor",
       Default,
       {{floatFloorText, Domain::Floating}, byZeroFails(floorQuotientText)},
       4,
       true},
      {"aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor",
       Default,
       {{remainderText, Domain::Floating}, byZeroFails(remainderText)},
       4},
      {"aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor",
       Default,
       {{remainderText, Domain::Floating}, byZeroFails(remainderText)},
       4,
       true},
      {"aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor",
       Default,
       {{"self % other", Domain::Floating}, byZeroFails("self % other")},
       4},
      {"aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor",
       Default,
       {{"self % other", Domain::Floating}, byZeroFails("self % other")},
       4,
       true},
      {"aten::neg.default(Tensor self) -> Tensor",
       Default,
       // Triton's minus is 0 - x, which gives 0 the wrong sign.
       {{"self * -1.0", Domain::Floating}, {"-self", Domain::Integer}}},
      {"aten::abs.default(Tensor self) -> Tensor",
       Default,
       {{"tl.abs(self)", Domain::Floating}, {"tl.abs(self)", Domain::Integer}}},
      {"aten::sign.default(Tensor self) -> Tensor",
       Default,
       // Of NaN, too, it is 0.
       {{"tl.where(self > 0, 1.0, tl.where(self < 0, -1.0, 0.0))", Domain::Floating},
        {"tl.where(self > 0, 1, tl.where(self < 0, -1, 0))", Domain::Integer},
        {"self"}}},
      {"aten::reciprocal.default(Tensor self) -> Tensor", IntToFloat, floatOnly("1.0 / self")},
      {"aten::square.default(Tensor self) -> Tensor", BoolToLong, {{"self * self"}}},
      {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", Default, powers(), 8,
       false, wholePowerDecomposition},
      {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
       Default,
       {{"libdevice.pow(self, exponent)", Domain::Floating}, {wholePower, Domain::Integer}},
       8,
       false,
       wholePowerDecomposition},
      {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
       Default,
       {{"libdevice.pow(self * 1.0, exponent)", Domain::Floating}, {wholePower, Domain::Integer}},
       8,
       false,
       wholePowerDecomposition},
      {"aten::maximum.default(Tensor self, Tensor other) -> Tensor", NoOpMath,
       extremum("maximum", "self | other")},
      {"aten::minimum.default(Tensor self, Tensor other) -> Tensor", NoOpMath,
       extremum("minimum", "self & other")},
      {"aten::clamp.default(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", NoOpMath,
       clamps(), 2, false, clampByNaN},
      {"aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", NoOpMath,
       tensorClamps(), 2},
      {"aten::clamp_min.default(Tensor self, Scalar min) -> Tensor",
       NoOpMath,
       {{clampMin}},
       1,
       false,
       clampByNaN},
      {"aten::clamp_max.default(Tensor self, Scalar max) -> Tensor",
       NoOpMath,
       {{clampMax}},
       1,
       false,
       clampByNaN},
      {"aten::exp.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.exp(self)"), 8},
      {"aten::exp2.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.exp2(self)"), 8},
      {"aten::expm1.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.expm1(self)"),
       8},
      {"aten::log.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.log(self)"), 8},
      {"aten::log2.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.log2(self)"), 8},
      {"aten::log1p.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.log1p(self)"),
       8},
      {"aten::sqrt.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.sqrt(self)"), 4},
      {"aten::rsqrt.default(Tensor self) -> Tensor", IntToFloat, floatOnly("1.0 / tl.sqrt(self)"),
       4},
      {"aten::sin.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.sin(self)"), 8},
      {"aten::cos.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.cos(self)"), 8},
      {"aten::tan.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.tan(self)"), 8},
      {"aten::asin.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.asin(self)"),
       8},
      {"aten::acos.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.acos(self)"),
       8},
      {"aten::atan.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.atan(self)"),
       8},
      {"aten::sinh.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.sinh(self)"),
       8},
      {"aten::cosh.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.cosh(self)"),
       8},
      {"aten::asinh.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.asinh(self)"),
       8},
      {"aten::acosh.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.acosh(self)"),
       8},
      {"aten::atanh.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.atanh(self)"),
       8},
      {"aten::erfc.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.erfc(self)"),
       8},
      {"aten::log10.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.log10(self)"),
       8},
      {"aten::atan2.default(Tensor self, Tensor other) -> Tensor", IntToFloat,
       floatOnly("libdevice.atan2(self, other)"), 12},
      {"aten::hypot.default(Tensor self, Tensor other) -> Tensor",
       Default,
       {{"libdevice.hypot(self, other)", Domain::Floating}},
       12},
      {"aten::tanh.default(Tensor self) -> Tensor", IntToFloat, floatOnly("libdevice.tanh(self)"),
       8},
      {"aten::erf.default(Tensor self) -> Tensor", IntToFloat, floatOnly("tl.erf(self)"), 8},
      {"aten::floor.default(Tensor self) -> Tensor", Default, rounding("tl.floor(self)")},
      {"aten::ceil.default(Tensor self) -> Tensor", Default, rounding("tl.ceil(self)")},
      {"aten::round.default(Tensor self) -> Tensor", Default, rounding("libdevice.rint(self)")},
      {"aten::trunc.default(Tensor self) -> Tensor", Default,
       rounding("tl.where(self < 0, tl.ceil(self), tl.floor(self))")},
      {"aten::addcmul.default(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
       "Tensor",
       Default,
       {{"self + value * tensor1 * tensor2", Domain::Floating},
        {"self + value * tensor1 * tensor2", Domain::Integer}},
       3},
  };
  addPointwise(registry, rows);
}

} // namespace pellucid::graph
