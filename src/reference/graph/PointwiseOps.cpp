// SPDX-License-Identifier: Apache-2.0
#include "graph/FakeRules.h"
#include "reference/graph/Operators.h"

#include <cmath>

namespace pellucid::reference {

namespace {
/// The tensor and Scalar arguments of one element, in schema order. None: has is false.
struct Element {
  double f[6];
  int64_t i[6];
  bool has[6];
  const Call &call;
  bool boolean;
};

using OnFloats = double (*)(const Element &);
using OnIntegers = int64_t (*)(const Element &);
struct Row {
  std::string_view name;
  OnFloats onFloats;
  OnIntegers onIntegers = nullptr;
};

// Integers wrap, which signed arithmetic in C++ does not.
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
/// The caller turns it into a diagnostic, as for any operator that is refused.
struct DivisionByZero {};
int64_t quotient(int64_t a, int64_t b) {
  if (b == 0)
    throw DivisionByZero();
  return b == -1 ? mul(a, -1) : a / b;
}
int64_t remainderOf(int64_t a, int64_t b) {
  if (b == 0)
    throw DivisionByZero();
  return b == -1 ? 0 : a % b;
}
int64_t floored(int64_t a, int64_t b) {
  int64_t r = remainderOf(a, b);
  return quotient(a, b) - (r != 0 && (r < 0) != (b < 0));
}
int64_t pythonRemainder(int64_t a, int64_t b) {
  int64_t r = remainderOf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double pythonRemainder(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/// floor(a / b) without the rounding of the quotient.
double flooredQuotient(double a, double b) {
  if (b == 0)
    return a / b;
  double r = std::fmod(a, b), whole = std::nearbyint((a - r) / b);
  if (whole == 0 && !(r != 0 && (r < 0) != (b < 0)))
    return std::copysign(0.0, a / b);
  return r != 0 && (r < 0) != (b < 0) ? whole - 1 : whole;
}
/// As ATen: a constant exponent of 0.5 is the square root, also of -inf.
double realPower(double base, double exponent, bool constant) {
  if (constant && std::fabs(exponent) == 0.5)
    return exponent > 0 ? std::sqrt(base) : 1 / std::sqrt(base);
  return std::pow(base, exponent);
}
int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (int64_t k = 0; k < exponent; ++k)
    result = mul(result, base);
  return result;
}
double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double gelu(const Element &e) {
  double x = e.f[0];
  if (e.call.string("approximate") == "tanh")
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

double clamped(const Element &e) {
  if (std::isnan(e.f[0]))
    return e.f[0];
  double x = e.has[1] ? larger(e.f[0], e.f[1]) : e.f[0];
  return e.has[2] ? smaller(x, e.f[2]) : x;
}
int64_t clampedInteger(const Element &e) {
  int64_t x = e.has[1] ? std::max(e.i[0], e.i[1]) : e.i[0];
  return e.has[2] ? std::min(x, e.i[2]) : x;
}

#define F(expression) [](const Element &e) -> double { return expression; }
#define I(expression) [](const Element &e) -> int64_t { return expression; }
const Row rows[] = {
    {"add", F(e.f[0] + e.f[2] * e.f[1]), I(add(e.i[0], mul(e.i[2], e.i[1])))},
    {"sub", F(e.f[0] - e.f[2] * e.f[1]), I(add(e.i[0], mul(-e.i[2], e.i[1])))},
    {"rsub", F(e.f[1] - e.f[2] * e.f[0]), I(add(e.i[1], mul(-e.i[2], e.i[0])))},
    {"mul", F(e.f[0] * e.f[1]), I(mul(e.i[0], e.i[1]))},
    {"div", F(e.f[0] / e.f[1])},
    {"floor_divide", F(flooredQuotient(e.f[0], e.f[1])), I(floored(e.i[0], e.i[1]))},
    {"aten.div.floor", F(flooredQuotient(e.f[0], e.f[1])), I(floored(e.i[0], e.i[1]))},
    {"aten.div.trunc", F(std::trunc(e.f[0] / e.f[1])), I(quotient(e.i[0], e.i[1]))},
    {"remainder", F(pythonRemainder(e.f[0], e.f[1])), I(pythonRemainder(e.i[0], e.i[1]))},
    {"fmod", F(std::fmod(e.f[0], e.f[1])), I(remainderOf(e.i[0], e.i[1]))},
    {"neg", F(-e.f[0]), I(mul(e.i[0], -1))},
    {"abs", F(std::fabs(e.f[0])), I(e.i[0] < 0 ? mul(e.i[0], -1) : e.i[0])},
    {"sign", F((e.f[0] > 0) - (e.f[0] < 0)), I((e.i[0] > 0) - (e.i[0] < 0))},
    {"reciprocal", F(1 / e.f[0])},
    {"square", F(e.f[0] * e.f[0]), I(mul(e.i[0], e.i[0]))},
    {"pow", F(realPower(e.f[0], e.f[1], !e.call.bound.value("exponent"))),
     I(power(e.i[0], e.i[1]))},
    {"maximum", F(larger(e.f[0], e.f[1])), I(std::max(e.i[0], e.i[1]))},
    {"minimum", F(smaller(e.f[0], e.f[1])), I(std::min(e.i[0], e.i[1]))},
    {"clamp", clamped, clampedInteger},
    {"clamp_min", F(larger(e.f[0], e.f[1])), I(std::max(e.i[0], e.i[1]))},
    {"clamp_max", F(smaller(e.f[0], e.f[1])), I(std::min(e.i[0], e.i[1]))},
    {"exp", F(std::exp(e.f[0]))},
    {"exp2", F(std::exp2(e.f[0]))},
    {"expm1", F(std::expm1(e.f[0]))},
    {"log", F(std::log(e.f[0]))},
    {"log2", F(std::log2(e.f[0]))},
    {"log1p", F(std::log1p(e.f[0]))},
    {"sqrt", F(std::sqrt(e.f[0]))},
    {"rsqrt", F(1 / std::sqrt(e.f[0]))},
    {"sin", F(std::sin(e.f[0]))},
    {"cos", F(std::cos(e.f[0]))},
    {"tan", F(std::tan(e.f[0]))},
    {"asin", F(std::asin(e.f[0]))},
    {"acos", F(std::acos(e.f[0]))},
    {"atan", F(std::atan(e.f[0]))},
    {"sinh", F(std::sinh(e.f[0]))},
    {"cosh", F(std::cosh(e.f[0]))},
    {"asinh", F(std::asinh(e.f[0]))},
    {"acosh", F(std::acosh(e.f[0]))},
    {"atanh", F(std::atanh(e.f[0]))},
    {"erfc", F(std::erfc(e.f[0]))},
    {"log10", F(std::log10(e.f[0]))},
    {"atan2", F(std::atan2(e.f[0], e.f[1]))},
    {"hypot", F(std::hypot(e.f[0], e.f[1]))},
    {"tanh", F(std::tanh(e.f[0]))},
    {"erf", F(std::erf(e.f[0]))},
    {"floor", F(std::floor(e.f[0])), I(e.i[0])},
    {"ceil", F(std::ceil(e.f[0])), I(e.i[0])},
    {"round", F(std::nearbyint(e.f[0])), I(e.i[0])},
    {"trunc", F(std::trunc(e.f[0])), I(e.i[0])},
    {"addcmul", F(e.f[0] + e.f[3] * e.f[1] * e.f[2]),
     I(add(e.i[0], mul(e.i[3], mul(e.i[1], e.i[2]))))},
    {"eq", F(e.f[0] == e.f[1]), I(e.i[0] == e.i[1])},
    {"ne", F(e.f[0] != e.f[1]), I(e.i[0] != e.i[1])},
    {"lt", F(e.f[0] < e.f[1]), I(e.i[0] < e.i[1])},
    {"le", F(e.f[0] <= e.f[1]), I(e.i[0] <= e.i[1])},
    {"gt", F(e.f[0] > e.f[1]), I(e.i[0] > e.i[1])},
    {"ge", F(e.f[0] >= e.f[1]), I(e.i[0] >= e.i[1])},
    {"logical_and", F(e.f[0] != 0 && e.f[1] != 0), I(e.i[0] && e.i[1])},
    {"logical_or", F(e.f[0] != 0 || e.f[1] != 0), I(e.i[0] || e.i[1])},
    {"logical_xor", F((e.f[0] != 0) != (e.f[1] != 0)), I(!e.i[0] != !e.i[1])},
    {"logical_not", F(e.f[0] == 0), I(!e.i[0])},
    {"bitwise_and", nullptr, I(e.i[0] & e.i[1])},
    {"bitwise_or", nullptr, I(e.i[0] | e.i[1])},
    {"bitwise_xor", nullptr, I(e.i[0] ^ e.i[1])},
    {"bitwise_not", nullptr, I(e.boolean ? !e.i[0] : ~e.i[0])},
    {"bitwise_left_shift", nullptr,
     I(e.i[1] < 0 || e.i[1] > 63 ? 0 : int64_t(uint64_t(e.i[0]) << e.i[1]))},
    {"bitwise_right_shift", nullptr,
     I(e.i[0] >> (e.i[1] < 0 ? 63 : std::min<int64_t>(e.i[1], 63)))},
    {"isnan", F(std::isnan(e.f[0])), I(0)},
    {"isinf", F(std::isinf(e.f[0])), I(0)},
    {"isfinite", F(std::isfinite(e.f[0])), I(1)},
    {"where", F(e.i[0] ? e.f[1] : e.f[2]), I(e.i[0] ? e.i[1] : e.i[2])},
    {"masked_fill", F(e.i[1] ? e.f[2] : e.f[0]), I(e.i[1] ? e.i[2] : e.i[0])},
    {"relu", F(e.f[0] < 0 ? 0 : e.f[0]), I(std::max<int64_t>(e.i[0], 0))},
    {"relu6",
     F(e.f[0] < 0   ? 0
       : e.f[0] > 6 ? 6
                    : e.f[0]),
     I(e.i[0] < 0   ? 0
       : e.i[0] > 6 ? 6
                    : e.i[0])},
    {"sigmoid", F(sigmoid(e.f[0]))},
    {"silu", F(e.f[0] / (1 + std::exp(-e.f[0])))},
    {"gelu", gelu},
    {"leaky_relu", F(e.f[0] > 0 ? e.f[0] : e.f[0] * e.f[1])},
    {"elu", F(e.f[0] < 0 ? std::expm1(e.f[0] * e.f[3]) * e.f[1] * e.f[2] : e.f[0] * e.f[2])},
    {"softplus",
     F(e.f[0] * e.f[1] > e.f[2] ? e.f[0] : std::log1p(std::exp(e.f[0] * e.f[1])) / e.f[1])},
    {"hardtanh",
     F(e.f[0] < e.f[1] || e.f[0] > e.f[2] ? std::min(std::max(e.f[0], e.f[1]), e.f[2]) : e.f[0]),
     I(std::min(std::max(e.i[0], e.i[1]), e.i[2]))},
    {"mish", F(e.f[0] * std::tanh(e.f[0] > 20 ? e.f[0] : std::log1p(std::exp(e.f[0]))))},
    {"hardsigmoid", F(std::isnan(e.f[0]) ? e.f[0] : std::clamp(e.f[0] + 3, 0.0, 6.0) / 6)},
    {"hardswish", F(e.f[0] * std::clamp(e.f[0] + 3, 0.0, 6.0) / 6)},
};
#undef F
#undef I

/// One operand: a broadcast tensor or a number.
struct Operand {
  bool present = false, isTensor = false, isBound = false;
  Tensor tensor;
  double f = 0;
  int64_t i = 0;
};

std::vector<Operand> operandsOf(const Call &call, const std::vector<int64_t> &shape) {
  std::vector<Operand> operands;
  for (const graph::SchemaArgument &argument : call.bound.op.schema.arguments) {
    using Kind = graph::SchemaType::Kind;
    if (argument.type.kind != Kind::Tensor && argument.type.kind != Kind::Scalar)
      continue;
    Operand o;
    o.present = call.has(argument.name);
    const graph::Value *v = o.present ? call.bound.value(argument.name) : nullptr;
    o.isTensor = v && v->isTensor();
    o.isBound = argument.name.starts_with("min") || argument.name.starts_with("max");
    if (o.isTensor) {
      o.tensor = broadcast(call.tensor(argument.name), shape);
    } else if (o.present) {
      bool whole = call.bound.at(argument.name).integer().has_value();
      o.i = whole ? call.integer(argument.name) : static_cast<int64_t>(call.number(argument.name));
      o.f = whole ? static_cast<double>(o.i) : call.number(argument.name);
    }
    operands.push_back(std::move(o));
  }
  return operands;
}

/// Bounds stop at the ends of the type's range where other numbers wrap around.
int64_t inRange(DataType type, int64_t value, bool isBound) {
  graph::Argument number(value);
  return graph::integerOf(number, type,
                          isBound ? graph::OutOfRange::Saturates : graph::OutOfRange::Wraps);
}

/// Operands are converted to the common type first; numbers to the one the sum is done in.
void load(Element &element, std::span<const Operand> operands, std::span<const int64_t> index,
          const graph::PointwiseTypes &types) {
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand &o = operands[k];
    element.has[k] = o.present;
    element.i[k] = !o.isTensor ? o.i : isFloat(o.tensor.dtype) ? 0 : o.tensor.integer(index);
    double value = o.isTensor ? o.tensor.real(index) : o.f;
    element.f[k] =
        isFloat(types.common) ? roundTo(o.isTensor ? types.common : types.compute, value) : value;
    if (!isFloat(types.common) && types.common != DataType::Bool)
      element.i[k] = inRange(types.common, element.i[k], o.isBound);
  }
}

Results pointwise(const Row &row, const Call &call) {
  graph::PointwiseTypes types = graph::pointwiseTypes(call.bound);
  bool floats = isFloat(types.common);
  if (floats ? !row.onFloats : !row.onIntegers)
    call.fail("is not defined for " + std::string(info(types.common).torch));
  Tensor result(call.resultDtype(), call.resultShape());
  std::vector<Operand> operands = operandsOf(call, result.shape);
  Element element{{}, {}, {}, call, types.common == DataType::Bool};
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    load(element, operands, index, types);
    try {
      if (floats)
        result.set(index, row.onFloats(element));
      else
        result.setInteger(index, row.onIntegers(element));
    } catch (DivisionByZero) {
      call.fail("divides integers by zero");
    }
  });
  return {result};
}

Results cast(const Call &call) { return {call.tensor("self").copy(call.resultDtype())}; }

Results bitcast(const Call &call) {
  Tensor bits = call.tensor("self").copy();
  bits.dtype = call.resultDtype();
  return {bits};
}

const Row &rowNamed(std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name)
      return row;
  throw std::logic_error("no such row");
}

Results divisionWithMode(const Call &call) {
  return pointwise(
      rowNamed(call.string("rounding_mode") == "floor" ? "aten.div.floor" : "aten.div.trunc"),
      call);
}
} // namespace

void addPointwise(Table &table) {
  for (const Row &row : rows)
    table["aten." + std::string(row.name)] = [&row](const Call &call) {
      return pointwise(row, call);
    };
  table["aten.div.Tensor_mode"] = table["aten.div.Scalar_mode"] = divisionWithMode;
  for (const char *name : {"aten.to", "aten._to_copy", "aten.type_as"})
    table[name] = cast;
  table["aten.view.dtype"] = bitcast;
}

} // namespace pellucid::reference
