// SPDX-License-Identifier: Apache-2.0
/// Python's math: numbers, and sizes where they stay whole.
#include "host/InterpreterState.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

Value toWhole(Interpreter &interpreter, const Value &x, bool up) {
  Value v = unwrapConstexpr(x);
  if (auto *instance = v.as<Instance>())
    if (auto method = instance->special(interpreter, up ? "__ceil__" : "__floor__"))
      return interpreter.call(*method);
  if (v.isInt() || v.isSymInt())
    return v;
  if (auto q = quotientOf(v))
    return Value::integer(up ? symbolic::ceilDiv(q->numerator, q->denominator)
                             : symbolic::floorDiv(q->numerator, q->denominator));
  if (auto *number = v.as<SymFloat>()) {
    if (number->isWhole())
      return v;
    interpreter.refuse("rounding '" + repr(v) + "', " + number->description() +
                       ", is not supported; compute it with integers: // % triton.cdiv");
  }
  double d = interpreter.toDouble(v, "the argument");
  return interpreter.call(Value(interpreter.builtinClass("int")),
                          {Value(up ? std::ceil(d) : std::floor(d))});
}

Value logarithm(Interpreter &interpreter, Bound &a) {
  if (Value n = unwrapConstexpr(a[0]); isSymbolicNumber(n)) {
    Value log(std::make_shared<SymFloat>("log", n));
    return a[1].isNone()
               ? log
               : interpreter.binary(BinaryOp::Div, log,
                                    Value(std::log(interpreter.toDouble(a[1], "the base"))));
  }
  double x = interpreter.toDouble(a[0], "log()'s argument");
  if (x <= 0)
    interpreter.raise("ValueError", "math domain error");
  if (a[1].isNone())
    return Value(std::log(x));
  double base = interpreter.toDouble(a[1], "the base");
  if (base <= 0)
    interpreter.raise("ValueError", "math domain error");
  return interpreter.binary(BinaryOp::Div, Value(std::log(x)), Value(std::log(base)));
}

Int greatestDivisor(Int a, Int b) {
  while (b)
    a = std::exchange(b, a % b);
  return a < 0 ? -a : a;
}

/// The largest r with r * r <= n, for 0 <= n < 2**63: r has 32 bits.
int64_t integerRoot(int64_t n) {
  int64_t root = 0;
  for (int64_t bit = int64_t(1) << 31; bit; bit >>= 1)
    if ((root | bit) <= n / (root | bit))
      root |= bit;
  return root;
}

/// What a function of real numbers gives, or what it raises: where the result is infinite and no
/// argument is, it is too large or has a pole.
Value real(Interpreter &interpreter, double result, std::initializer_list<double> arguments,
           bool isTooLarge) {
  auto isNan = [](double x) { return std::isnan(x); };
  bool areFinite =
      std::all_of(arguments.begin(), arguments.end(), [](double x) { return std::isfinite(x); });
  if (std::isnan(result) && std::none_of(arguments.begin(), arguments.end(), isNan))
    interpreter.raise("ValueError", "math domain error");
  if (std::isinf(result) && areFinite && isTooLarge)
    interpreter.raise("OverflowError", "math range error");
  if (std::isinf(result) && areFinite)
    interpreter.raise("ValueError", "math domain error");
  return Value(result);
}

/// Whether an infinite result is one that is too large, and no pole.
bool growsTooLarge(std::string_view name, double x) {
  bool isGamma = name == "gamma" || name == "lgamma";
  return isGamma ? x > 0 : name.starts_with("exp") || name == "cosh" || name == "sinh";
}

/// The ordered ways to choose k of n.
Value countOrders(Interpreter &i, Bound &a) {
  int64_t n = i.toInt64(a[0], "n"), k = a[1].isNone() ? n : i.toInt64(a[1], "k");
  if (n < 0 || k < 0)
    i.raise("ValueError", std::string(n < 0 ? "n" : "k") + " must be a non-negative integer");
  Value out(int64_t(k <= n));
  for (int64_t j = 0; j < k && k <= n; ++j)
    out = i.binary(BinaryOp::Mul, out, Value(n - j));
  return out;
}

void fillMoreMath(Module &m) {
  setNative(m, "perm", "n, k=None", countOrders);
  setNative(m, "remainder", "x, y", [](Interpreter &i, Bound &a) {
    double x = i.toDouble(a[0], "x"), y = i.toDouble(a[1], "y");
    return real(i, std::remainder(x, y), {x, y}, false);
  });
  setNative(m, "modf", "x", [](Interpreter &i, Bound &a) {
    double whole = 0, fraction = std::modf(i.toDouble(a[0], "x"), &whole);
    return Value::tuple({Value(fraction), Value(whole)});
  });
  setNative(m, "nextafter", "x, y", [](Interpreter &i, Bound &a) {
    return Value(std::nextafter(i.toDouble(a[0], "x"), i.toDouble(a[1], "y")));
  });
  setNative(m, "ulp", "x", [](Interpreter &i, Bound &a) {
    double x = std::fabs(i.toDouble(a[0], "x")), next = std::nextafter(x, INFINITY);
    return Value(!std::isfinite(x) ? x : std::isinf(next) ? x - std::nextafter(x, 0) : next - x);
  });
  setNative(m, "dist", "p, q", [](Interpreter &i, Bound &a) {
    std::vector<Value> p = i.iterate(a[0]), q = i.iterate(a[1]);
    if (p.size() != q.size())
      i.raise("ValueError", "both points must have the same number of dimensions");
    double length = 0;
    for (size_t d = 0; d < p.size(); ++d)
      length = std::hypot(length, i.toDouble(p[d], "p") - i.toDouble(q[d], "q"));
    return Value(length);
  });
}

void fillMath(Interpreter &, Module &m) {
  fillMoreMath(m);
  using Unary = double (*)(double);
  struct Row {
    const char *name;
    Unary f;
  };
  for (Row row : {Row{"exp", std::exp},      Row{"sin", std::sin},       Row{"cos", std::cos},
                  Row{"tan", std::tan},      Row{"tanh", std::tanh},     Row{"sinh", std::sinh},
                  Row{"cosh", std::cosh},    Row{"atan", std::atan},     Row{"erf", std::erf},
                  Row{"fabs", std::fabs},    Row{"expm1", std::expm1},   Row{"exp2", std::exp2},
                  Row{"sqrt", std::sqrt},    Row{"log2", std::log2},     Row{"log10", std::log10},
                  Row{"log1p", std::log1p},  Row{"asin", std::asin},     Row{"acos", std::acos},
                  Row{"gamma", std::tgamma}, Row{"lgamma", std::lgamma}, Row{"asinh", std::asinh},
                  Row{"acosh", std::acosh},  Row{"atanh", std::atanh},   Row{"erfc", std::erfc},
                  Row{"cbrt", std::cbrt}})
    setNative(m, row.name, "x",
              [f = row.f, name = std::string(row.name)](Interpreter &i, Bound &a) {
                if (isSymbolicNumber(unwrapConstexpr(a[0])))
                  return Value(std::make_shared<SymFloat>(name, unwrapConstexpr(a[0])));
                double x = i.toDouble(a[0], "the argument");
                return real(i, f(x), {x}, growsTooLarge(name, x));
              });
  setNative(m, "log", "x, base=None", logarithm);
  setNative(m, "ceil", "x", [](Interpreter &i, Bound &a) { return toWhole(i, a[0], true); });
  setNative(m, "floor", "x", [](Interpreter &i, Bound &a) { return toWhole(i, a[0], false); });
  setNative(m, "trunc", "x",
            [](Interpreter &i, Bound &a) { return i.call(Value(i.builtinClass("int")), {a[0]}); });
  setNative(m, "pow", "x, y", [](Interpreter &i, Bound &a) {
    if (isSymbolicNumber(a[0]) || isSymbolicNumber(a[1]))
      return Value(std::make_shared<SymFloat>(BinaryOp::Pow, a[0], a[1]));
    double x = i.toDouble(a[0], "x"), y = i.toDouble(a[1], "y");
    return real(i, std::pow(x, y), {x, y}, x != 0);
  });
  setNative(m, "fmod", "x, y", [](Interpreter &i, Bound &a) {
    double x = i.toDouble(a[0], "x"), y = i.toDouble(a[1], "y");
    return real(i, std::fmod(x, y), {x, y}, false);
  });
  setNative(m, "atan2", "y, x", [](Interpreter &i, Bound &a) {
    return Value(std::atan2(i.toDouble(a[0], "y"), i.toDouble(a[1], "x")));
  });
  setNative(m, "copysign", "x, y", [](Interpreter &i, Bound &a) {
    return Value(std::copysign(i.toDouble(a[0], "x"), i.toDouble(a[1], "y")));
  });
  setNative(m, "frexp", "x", [](Interpreter &i, Bound &a) {
    int exponent = 0;
    double fraction = std::frexp(i.toDouble(a[0], "x"), &exponent);
    return Value::tuple({Value(fraction), Value(static_cast<int64_t>(exponent))});
  });
  setNative(m, "ldexp", "x, i", [](Interpreter &i, Bound &a) {
    int64_t exponent = std::clamp<int64_t>(i.toInt64(a[1], "i"), -10000, 10000);
    double x = i.toDouble(a[0], "x"), result = std::ldexp(x, static_cast<int>(exponent));
    if (std::isinf(result) && !std::isinf(x))
      i.raise("OverflowError", "math range error");
    return Value(result);
  });
  setNative(m, "isnan", "x",
            [](Interpreter &i, Bound &a) { return Value(std::isnan(i.toDouble(a[0], "x"))); });
  setNative(m, "isinf", "x",
            [](Interpreter &i, Bound &a) { return Value(std::isinf(i.toDouble(a[0], "x"))); });
  setNative(m, "isfinite", "x",
            [](Interpreter &i, Bound &a) { return Value(std::isfinite(i.toDouble(a[0], "x"))); });
  setNative(m, "isclose", "a, b, *, rel_tol=1e-9, abs_tol=0.0", [](Interpreter &i, Bound &v) {
    double x = i.toDouble(v[0], "a"), y = i.toDouble(v[1], "b");
    double bound = std::max(i.toDouble(v[2], "rel_tol") * std::max(std::abs(x), std::abs(y)),
                            i.toDouble(v[3], "abs_tol"));
    bool isNear = !std::isinf(x) && !std::isinf(y) && std::abs(x - y) <= bound;
    return Value(x == y || isNear);
  });
  setNative(m, "gcd", "*integers", [](Interpreter &i, Bound &a) {
    Int g = 0;
    for (const Value &v : a[0].tuple())
      g = greatestDivisor(g, i.toInt64(v, "gcd()'s argument"));
    return Value(g);
  });
  setNative(m, "lcm", "*integers", [](Interpreter &i, Bound &a) {
    Int l = 1;
    for (const Value &v : a[0].tuple()) {
      Int n = i.toInt64(v, "lcm()'s argument"), g = greatestDivisor(l, n);
      if (__builtin_mul_overflow(l, g ? (n < 0 ? -n : n) / g : Int(0), &l))
        i.raise("OverflowError", "math.lcm() does not fit 127 bits");
    }
    return Value(l);
  });
  setNative(m, "prod", "iterable, *, start=1", [](Interpreter &i, Bound &a) {
    Value product = a[1];
    for (const Value &v : i.iterate(a[0]))
      product = i.binary(BinaryOp::Mul, product, v);
    return product;
  });
  setNative(m, "isqrt", "n", [](Interpreter &i, Bound &a) {
    int64_t n = i.toInt64(a[0], "isqrt()'s argument");
    if (n < 0)
      i.raise("ValueError", "isqrt() argument must be nonnegative");
    return Value(integerRoot(n));
  });
  setNative(m, "factorial", "n", [](Interpreter &i, Bound &a) {
    Value out(1);
    int64_t n = i.toInt64(a[0], "factorial()'s argument");
    if (n < 0)
      i.raise("ValueError", "factorial() not defined for negative values");
    for (int64_t k = 2; k <= n; ++k)
      out = i.binary(BinaryOp::Mul, out, Value(k));
    return out;
  });
  m.globals->set("pi", Value(std::numbers::pi));
  m.globals->set("e", Value(std::numbers::e));
  m.globals->set("tau", Value(2 * std::numbers::pi));
  m.globals->set("inf", Value(INFINITY));
  m.globals->set("nan", Value(std::nan("")));
}

} // namespace

void addMathModule(NativeModules &modules) { modules.add("math", fillMath); }

} // namespace pellucid::host
