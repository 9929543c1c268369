// SPDX-License-Identifier: Apache-2.0
/// The modules of Python's library that host code computes with: math, functools, itertools,
/// collections, operator, os …
#include "host/InterpreterState.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

void set(Module &m, const std::string &name, const char *signature, NativeFunction::Body body) {
  m.globals->set(name, native(m.name + "." + name, signature, std::move(body)));
}

// ---- math
// ----------------------------------------------------------------------------------------------------------

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
  set(m, "perm", "n, k=None", countOrders);
  set(m, "remainder", "x, y", [](Interpreter &i, Bound &a) {
    double x = i.toDouble(a[0], "x"), y = i.toDouble(a[1], "y");
    return real(i, std::remainder(x, y), {x, y}, false);
  });
  set(m, "modf", "x", [](Interpreter &i, Bound &a) {
    double whole = 0, fraction = std::modf(i.toDouble(a[0], "x"), &whole);
    return Value::tuple({Value(fraction), Value(whole)});
  });
  set(m, "nextafter", "x, y", [](Interpreter &i, Bound &a) {
    return Value(std::nextafter(i.toDouble(a[0], "x"), i.toDouble(a[1], "y")));
  });
  set(m, "ulp", "x", [](Interpreter &i, Bound &a) {
    double x = std::fabs(i.toDouble(a[0], "x")), next = std::nextafter(x, INFINITY);
    return Value(!std::isfinite(x) ? x : std::isinf(next) ? x - std::nextafter(x, 0) : next - x);
  });
  set(m, "dist", "p, q", [](Interpreter &i, Bound &a) {
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
    set(m, row.name, "x", [f = row.f, name = std::string(row.name)](Interpreter &i, Bound &a) {
      if (isSymbolicNumber(unwrapConstexpr(a[0])))
        return Value(std::make_shared<SymFloat>(name, unwrapConstexpr(a[0])));
      double x = i.toDouble(a[0], "the argument");
      return real(i, f(x), {x}, growsTooLarge(name, x));
    });
  set(m, "log", "x, base=None", logarithm);
  set(m, "ceil", "x", [](Interpreter &i, Bound &a) { return toWhole(i, a[0], true); });
  set(m, "floor", "x", [](Interpreter &i, Bound &a) { return toWhole(i, a[0], false); });
  set(m, "trunc", "x",
      [](Interpreter &i, Bound &a) { return i.call(Value(i.builtinClass("int")), {a[0]}); });
  set(m, "pow", "x, y", [](Interpreter &i, Bound &a) {
    if (isSymbolicNumber(a[0]) || isSymbolicNumber(a[1]))
      return Value(std::make_shared<SymFloat>(BinaryOp::Pow, a[0], a[1]));
    double x = i.toDouble(a[0], "x"), y = i.toDouble(a[1], "y");
    return real(i, std::pow(x, y), {x, y}, x != 0);
  });
  set(m, "fmod", "x, y", [](Interpreter &i, Bound &a) {
    double x = i.toDouble(a[0], "x"), y = i.toDouble(a[1], "y");
    return real(i, std::fmod(x, y), {x, y}, false);
  });
  set(m, "atan2", "y, x", [](Interpreter &i, Bound &a) {
    return Value(std::atan2(i.toDouble(a[0], "y"), i.toDouble(a[1], "x")));
  });
  set(m, "copysign", "x, y", [](Interpreter &i, Bound &a) {
    return Value(std::copysign(i.toDouble(a[0], "x"), i.toDouble(a[1], "y")));
  });
  set(m, "frexp", "x", [](Interpreter &i, Bound &a) {
    int exponent = 0;
    double fraction = std::frexp(i.toDouble(a[0], "x"), &exponent);
    return Value::tuple({Value(fraction), Value(static_cast<int64_t>(exponent))});
  });
  set(m, "ldexp", "x, i", [](Interpreter &i, Bound &a) {
    int64_t exponent = std::clamp<int64_t>(i.toInt64(a[1], "i"), -10000, 10000);
    double x = i.toDouble(a[0], "x"), result = std::ldexp(x, static_cast<int>(exponent));
    if (std::isinf(result) && !std::isinf(x))
      i.raise("OverflowError", "math range error");
    return Value(result);
  });
  set(m, "isnan", "x",
      [](Interpreter &i, Bound &a) { return Value(std::isnan(i.toDouble(a[0], "x"))); });
  set(m, "isinf", "x",
      [](Interpreter &i, Bound &a) { return Value(std::isinf(i.toDouble(a[0], "x"))); });
  set(m, "isfinite", "x",
      [](Interpreter &i, Bound &a) { return Value(std::isfinite(i.toDouble(a[0], "x"))); });
  set(m, "isclose", "a, b, *, rel_tol=1e-9, abs_tol=0.0", [](Interpreter &i, Bound &v) {
    double x = i.toDouble(v[0], "a"), y = i.toDouble(v[1], "b");
    double bound = std::max(i.toDouble(v[2], "rel_tol") * std::max(std::abs(x), std::abs(y)),
                            i.toDouble(v[3], "abs_tol"));
    bool isNear = !std::isinf(x) && !std::isinf(y) && std::abs(x - y) <= bound;
    return Value(x == y || isNear);
  });
  set(m, "gcd", "*integers", [](Interpreter &i, Bound &a) {
    Int g = 0;
    for (const Value &v : a[0].tuple())
      g = greatestDivisor(g, i.toInt64(v, "gcd()'s argument"));
    return Value(g);
  });
  set(m, "lcm", "*integers", [](Interpreter &i, Bound &a) {
    Int l = 1;
    for (const Value &v : a[0].tuple()) {
      Int n = i.toInt64(v, "lcm()'s argument"), g = greatestDivisor(l, n);
      if (__builtin_mul_overflow(l, g ? (n < 0 ? -n : n) / g : Int(0), &l))
        i.raise("OverflowError", "math.lcm() does not fit 127 bits");
    }
    return Value(l);
  });
  set(m, "prod", "iterable, *, start=1", [](Interpreter &i, Bound &a) {
    Value product = a[1];
    for (const Value &v : i.iterate(a[0]))
      product = i.binary(BinaryOp::Mul, product, v);
    return product;
  });
  set(m, "isqrt", "n", [](Interpreter &i, Bound &a) {
    int64_t n = i.toInt64(a[0], "isqrt()'s argument");
    if (n < 0)
      i.raise("ValueError", "isqrt() argument must be nonnegative");
    return Value(integerRoot(n));
  });
  set(m, "factorial", "n", [](Interpreter &i, Bound &a) {
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

// ---- functools
// -----------------------------------------------------------------------------------------------------

class Partial : public Object {
public:
  Value function;
  CallArgs fixed;
  std::string typeName() const override { return "functools.partial"; }
  std::string repr() const override {
    std::string out = "functools.partial(" + host::repr(function);
    for (const Value &v : fixed.positional)
      out += ", " + host::repr(v);
    for (const auto &[name, v] : fixed.keywords)
      out += ", " + name + "=" + host::repr(v);
    return out + ")";
  }
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override {
    return attributes.set(name, value), true;
  }
  void visitReferences(ReferenceVisitor &visitor) const override {
    visitor.value(function);
    visitor.values(fixed);
    visitor.values(attributes);
  }
  Namespace attributes;
  bool isCallable() const override { return true; }
  Value call(Interpreter &interpreter, CallArgs args) override {
    args.positional.insert(args.positional.begin(), fixed.positional.begin(),
                           fixed.positional.end());
    for (const auto &[name, value] : fixed.keywords)
      if (!args.keyword(name))
        args.keywords.emplace_back(name, value);
    return interpreter.call(function, std::move(args));
  }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override {
    if (name == "func")
      return function;
    if (name == "args")
      return Value::tuple(fixed.positional);
    if (const Value *found = attributes.find(name))
      return *found;
    if (name == "__doc__")
      return Value("partial(func, *args, **keywords) - new function with partial application\n    "
                   "of the given arguments and keywords.\n");
    if (name != "keywords")
      return std::nullopt;
    Dict out;
    for (const auto &[key, value] : fixed.keywords)
      out.set(Value(key), value);
    return Value::dict(std::move(out));
  }
};

/// lru_cache and cache: results by arguments that can be hashed, the last used ones where there is
/// a limit.
class ResultCache {
public:
  ResultCache(Value f, std::optional<size_t> m, bool t)
      : function(std::move(f)), most(m), typed(t) {}

  Value call(Interpreter &interpreter, CallArgs args) {
    Value key = keyOf(interpreter, args);
    // What depends on a dynamic size may go another way at every call.
    bool keeps = !isSymbolic(key);
    if (keeps && !hashOf(key)) {
      if (interpreter.options().script)
        interpreter.raise("TypeError", "unhashable type: '" + unhashableIn(args) + "'");
      keeps = false;
    }
    if (Value *found = keeps ? results.find(key) : nullptr) {
      ++hits;
      Value result = found->tuple()[0];
      if (most)
        *found = Value::tuple({result, use(key, found->tuple()[1])});
      return result;
    }
    ++misses;
    Value out = interpreter.call(function, std::move(args));
    if (keeps && most != 0 && !results.find(key)) {
      if (most && results.size() >= *most) {
        results.erase(uses.begin()->second);
        uses.erase(uses.begin());
      }
      results.set(key, Value::tuple({out, most ? use(key, Value()) : Value()}));
    }
    return out;
  }
  void clear() {
    results.clear();
    uses.clear();
    hits = misses = 0;
  }
  Value info() const {
    return Value::tuple({Value(hits), Value(misses),
                         most ? Value(static_cast<int64_t>(*most)) : Value(),
                         Value(static_cast<int64_t>(results.size()))});
  }

private:
  const Value function;
  const std::optional<size_t> most;
  const bool typed;
  Dict results;                  ///< (result, when it was used last)
  std::map<int64_t, Value> uses; ///< the keys by that
  int64_t hits = 0, misses = 0, now = 0;

  Value keyOf(Interpreter &interpreter, const CallArgs &args) const {
    // One number or text is a key as it is: 1 and 1.0 are two of them, as in CPython.
    if (!typed && args.keywords.empty() && args.positional.size() == 1 &&
        (args.positional[0].isInt() || args.positional[0].isStr()))
      return args.positional[0];
    Tuple key = args.positional;
    if (!args.keywords.empty())
      key.emplace_back(EllipsisType());
    for (const auto &[name, value] : args.keywords) {
      key.emplace_back(name);
      key.push_back(value);
    }
    for (size_t i = 0, n = typed ? key.size() : 0; i < n; ++i)
      key.push_back(interpreter.typeOf(key[i]));
    return Value::tuple(std::move(key));
  }
  static std::string unhashableIn(const CallArgs &args) {
    for (const Value &v : args.positional)
      if (!hashOf(v))
        return typeName(v);
    for (const auto &[name, v] : args.keywords)
      if (!hashOf(v))
        return typeName(v);
    return "object";
  }
  Value use(const Value &key, const Value &before) {
    if (before.isInt())
      uses.erase(static_cast<int64_t>(before.integer()));
    uses.emplace(++now, key);
    return Value(now);
  }
};

/// (the function, clear(), info())
Value cachedParts(Interpreter &interpreter, Bound &a) {
  std::optional<size_t> most;
  if (!a[1].isNone())
    most = static_cast<size_t>(std::max<int64_t>(0, interpreter.toInt64(a[1], "maxsize")));
  auto cache = std::make_shared<ResultCache>(a[0], most, interpreter.truth(a[2]));
  return Value::tuple(
      {nativeRaw(
           "functools.cache",
           [cache](Interpreter &i, CallArgs args) { return cache->call(i, std::move(args)); }),
       native("cache_clear", "",
              [cache](Interpreter &, Bound &) { return cache->clear(), Value(); }),
       native("cache_info", "", [cache](Interpreter &, Bound &) { return cache->info(); })});
}

/// functools.update_wrapper: what the one says of itself, the other says too.
void takeNames(Interpreter &interpreter, const Value &target, const Value &wrapped,
               const std::vector<Value> &assigned) {
  if (!target.as<Function>() && !target.as<NativeFunction>() && !target.as<Instance>())
    return;
  if (!wrapped.as<Opaque>())
    for (const Value &name : assigned)
      if (auto found = attributeIfAny(interpreter, wrapped, name.str());
          found && !found->as<Opaque>())
        interpreter.setAttr(target, name.str(), *found);
  const Namespace *held = nullptr;
  if (auto *function = wrapped.as<Function>())
    held = &function->attributes;
  else if (auto *instance = wrapped.as<Instance>())
    held = &instance->attributes;
  if (held)
    for (const auto &[name, value] : std::vector(held->items()))
      interpreter.setAttr(target, name, value);
  interpreter.setAttr(target, "__wrapped__", wrapped);
}

std::vector<Value> wrapperAssignments(const Value &given, Interpreter &interpreter) {
  if (!given.isNone())
    return interpreter.iterate(given);
  return {Value("__module__"), Value("__name__"), Value("__qualname__"), Value("__doc__")};
}

void fillFunctools(Interpreter &, Module &m) {
  auto partial = Class::make("partial", "functools");
  partial->construct = [](Interpreter &i, CallArgs args) {
    if (args.positional.empty())
      i.raise("TypeError", "type 'partial' takes at least one argument");
    auto p = std::make_shared<Partial>();
    p->function = args.positional[0];
    args.positional.erase(args.positional.begin());
    if (!p->function.isObject() || !p->function.object()->isCallable())
      i.raise("TypeError", "the first argument must be callable");
    if (auto *inner = p->function.as<Partial>()) { // one of one is one
      CallArgs all = inner->fixed;
      all.positional.insert(all.positional.end(), args.positional.begin(), args.positional.end());
      for (auto &[name, value] : args.keywords) {
        std::erase_if(all.keywords, [&](const auto &known) { return known.first == name; });
        all.keywords.emplace_back(name, value);
      }
      args = std::move(all);
      p->function = Value(inner->function);
    }
    p->fixed = std::move(args);
    return Value(p);
  };
  partial->accepts = [](const Value &v) { return v.as<Partial>() != nullptr; };
  m.globals->set("partial", Value(partial));
  set(m, "update_wrapper", "wrapper, wrapped, assigned=None, updated=None",
      [](Interpreter &i, Bound &a) {
        takeNames(i, a[0], a[1], wrapperAssignments(a[2], i));
        return a[0];
      });
  set(m, "wraps", "wrapped, assigned=None, updated=None", [](Interpreter &, Bound &a) {
    return nativeRaw("wraps", [wrapped = a[0], names = a[1]](Interpreter &i, CallArgs args) {
      takeNames(i, args.positional.at(0), wrapped, wrapperAssignments(names, i));
      return args.positional[0];
    });
  });
  m.globals->set("reduce", nativeRaw("functools.reduce", [](Interpreter &i, CallArgs args) {
                   if (args.positional.size() < 2)
                     i.raise("TypeError", "reduce expected at least 2 arguments");
                   std::vector<Value> items = i.iterate(args.positional[1]);
                   size_t first = args.positional.size() > 2 ? 0 : 1;
                   if (first && items.empty())
                     i.raise("TypeError", "reduce() of empty iterable with no initial value");
                   Value total = first ? items[0] : args.positional[2];
                   for (size_t k = first; k < items.size(); ++k)
                     total = i.call(args.positional[0], {total, items[k]});
                   return total;
                 }));
}

// ---- operator
// ------------------------------------------------------------------------------------------------------

void fillOperator(Interpreter &, Module &m) {
  struct Row {
    const char *name;
    BinaryOp op;
  };
  for (Row row : {Row{"add", BinaryOp::Add}, Row{"sub", BinaryOp::Sub}, Row{"mul", BinaryOp::Mul},
                  Row{"truediv", BinaryOp::Div}, Row{"floordiv", BinaryOp::FloorDiv},
                  Row{"mod", BinaryOp::Mod}})
    set(m, row.name, "a, b",
        [op = row.op](Interpreter &i, Bound &a) { return i.binary(op, a[0], a[1]); });
  struct Comparison {
    const char *name;
    CompareOp op;
  };
  for (Comparison row : {Comparison{"eq", CompareOp::Eq}, Comparison{"ne", CompareOp::Ne},
                         Comparison{"lt", CompareOp::Lt}, Comparison{"le", CompareOp::Le},
                         Comparison{"gt", CompareOp::Gt}, Comparison{"ge", CompareOp::Ge}})
    set(m, row.name, "a, b",
        [op = row.op](Interpreter &i, Bound &a) { return i.compare(op, a[0], a[1]); });
}

// ---- sys.modules
// -----------------------------------------------------------------------------------------------

/// A snapshot to ask; putting something in the place of a module that is being read makes that
/// answer for its names.
class LoadedModules : public Object {
public:
  explicit LoadedModules(Dict m) : modules(std::move(m)) {}
  std::string typeName() const override { return "dict"; }
  std::optional<Value> getItem(Interpreter &interpreter, const Value &key) override {
    return interpreter.getItem(Value::dict(modules), key);
  }
  bool setItem(Interpreter &interpreter, const Value &key, const Value &value) override {
    for (const auto &[path, module] : interpreter.state().files)
      if (key.isStr() && module->name == key.str() && !value.isSame(Value(module)))
        module->replacement = value;
    modules.set(key, value);
    return true;
  }
  std::optional<bool> contains(Interpreter &, const Value &key) override {
    return modules.find(key) != nullptr;
  }
  std::optional<std::vector<Value>> iterate(Interpreter &interpreter) override {
    return interpreter.iterate(Value::dict(modules));
  }
  std::optional<Value> length(Interpreter &) override {
    return Value(static_cast<int64_t>(modules.size()));
  }
  std::optional<Value> getAttr(Interpreter &interpreter, std::string_view name) override {
    if (name == "pop" || name == "clear" || name == "update" || name == "setdefault")
      interpreter.refuse("sys.modules." + std::string(name) +
                         "() is not supported; modules stay as they were imported");
    return interpreter.findAttr(Value::dict(modules), name);
  }

private:
  Dict modules;
};

// ---- contexts, logging, os
// -----------------------------------------------------------------------------------------

void fillContextlib(Interpreter &, Module &m) {
  set(m, "contextmanager", "func", [](Interpreter &i, Bound &a) {
    Value helper =
        nativeRaw("contextlib.contextmanager", [function = a[0]](Interpreter &, CallArgs args) {
          return Value(std::make_shared<GeneratorContext>(function, std::move(args)));
        });
    (void)i;
    return helper;
  });
  set(m, "nullcontext", "enter_result=None",
      [](Interpreter &i, Bound &a) { return Value(makeNullContext(i, a[0])); });
  m.globals->set(
      "suppress", nativeRaw("contextlib.suppress", [](Interpreter &i, CallArgs args) {
        auto context = makeNullContext(i);
        auto swallow = [classes = Value::tuple(args.positional)](Interpreter &in, CallArgs exit) {
          const Value &error = exit.positional.back().isNone() && exit.positional.size() > 2
                                   ? exit.positional[exit.positional.size() - 2]
                                   : exit.positional.back();
          return Value(!error.isNone() && in.isInstance(error, classes));
        };
        context->attributes.set("__exit__", nativeRaw("__exit__", swallow));
        return Value(context);
      }));
}

/// A logger, or the logging and warnings modules: every call is heard by nobody.
void fillSilent(Interpreter &, Module &m) {
  auto nothing = nativeRaw(m.name, [](Interpreter &, CallArgs) { return Value(); });
  auto logger = Class::make("Logger", m.name);
  for (const char *name :
       {"debug", "info", "warning", "error", "critical", "exception", "log", "setLevel",
        "addHandler", "warn", "filterwarnings", "simplefilter", "basicConfig", "isEnabledFor",
        "warning_once", "info_once", "debug_once", "disable"}) {
    logger->attributes.set(name, nothing);
    m.globals->set(name, nothing);
  }
  Value instance(std::make_shared<Instance>(logger));
  m.globals->set("getLogger", nativeRaw(m.name + ".getLogger",
                                        [instance](Interpreter &, CallArgs) { return instance; }));
  m.globals->set("Logger", Value(logger));
  m.globals->set("root", instance);
  auto handler = Class::make("Handler", m.name);
  handler->attributes.set("__init__", nothing);
  for (const char *name : {"setLevel", "setFormatter", "addFilter", "flush", "close", "emit"})
    handler->attributes.set(name, nothing);
  m.globals->set("Handler", Value(handler));
  for (const char *name : {"StreamHandler", "NullHandler", "FileHandler", "Formatter", "Filter"})
    m.globals->set(name, Value(Class::make(name, m.name, {handler})));
  for (const char *name : {"captureWarnings", "setLoggerClass", "addLevelName", "shutdown"})
    m.globals->set(name, nothing);
  m.globals->set("NOTSET", Value(0));
  for (auto [name, level] :
       {std::pair{"DEBUG", 10}, {"INFO", 20}, {"WARNING", 30}, {"ERROR", 40}, {"CRITICAL", 50}})
    m.globals->set(name, Value(level));
  set(m, "catch_warnings", "record=False",
      [](Interpreter &i, Bound &) { return Value(makeNullContext(i)); });
}

/// The environment is empty: what is traced must not depend on who traces it.
void fillOs(Interpreter &, Module &m) {
  m.globals->set("environ", Value::dict());
  set(m, "getenv", "key, default=None", [](Interpreter &, Bound &a) { return a[1]; });
  m.globals->set("sep", Value("/"));
  m.globals->set("name", Value("posix"));
}

void fillOsPath(Interpreter &, Module &m) {
  set(m, "join", "path, *paths", [](Interpreter &i, Bound &a) {
    std::string out = i.toStr(a[0], "a path");
    for (const Value &v : a[1].tuple()) {
      const std::string &part = i.toStr(v, "a path");
      out =
          part.starts_with("/") ? part : out + (out.empty() || out.back() == '/' ? "" : "/") + part;
    }
    return Value(out);
  });
  set(m, "dirname", "p", [](Interpreter &i, Bound &a) {
    const std::string &p = i.toStr(a[0], "a path");
    size_t slash = p.rfind('/');
    return Value(slash == std::string::npos ? "" : p.substr(0, std::max<size_t>(slash, 1)));
  });
  set(m, "basename", "p", [](Interpreter &i, Bound &a) {
    const std::string &p = i.toStr(a[0], "a path");
    return Value(p.substr(p.rfind('/') + 1));
  });
  for (const char *name : {"abspath", "realpath", "normpath", "expanduser"})
    set(m, name, "p", [](Interpreter &, Bound &a) { return a[0]; });
}

/// sys.modules: what was imported so far.
Value importedModules(Interpreter &interpreter) {
  Dict out;
  for (const auto &[name, module] : interpreter.state().natives)
    out.set(Value(name), Value(module));
  for (const auto &[path, module] : interpreter.state().files)
    if (module->syntax && module->syntax->file->path().find('<') != 0)
      out.set(Value(module->name), Value(module));
  return Value(std::make_shared<LoadedModules>(std::move(out)));
}

/// Made when it is first asked for, with its parts by name.
Value versionInfo(Interpreter &interpreter) {
  auto cls = Class::make("sys.version_info", "sys");
  interpreter.state().madeClasses.push_back(cls);
  makeNamedTuple(interpreter, cls, {"major", "minor", "micro", "releaselevel", "serial"});
  Value version =
      interpreter.call(Value(cls), {Value(3), Value(12), Value(0), Value("final"), Value(0)});
  interpreter.nativeModule("sys")->globals->set("version_info", version);
  return version;
}

void fillSys(Interpreter &, Module &m) {
  auto next = m.fallback;
  m.fallback = [next](Interpreter &i, std::string_view name) -> std::optional<Value> {
    if (name == "version_info")
      return versionInfo(i);
    return name == "modules" ? std::optional(importedModules(i)) : next(i, name);
  };
  m.globals->set("platform", Value("linux"));
  m.globals->set("path", Value::list({}));
  m.globals->set("argv", Value::list({Value("")}));
  m.globals->set("maxsize", Value(INT64_MAX));
  m.globals->set("byteorder", Value("little"));
  // What is written there is not shown.
  auto stream = Class::make("TextIOWrapper", "io");
  auto nothing = nativeRaw("nothing", [](Interpreter &, CallArgs) { return Value(); });
  for (const char *name : {"write", "flush"})
    stream->attributes.set(name, nothing);
  stream->attributes.set("isatty",
                         nativeRaw("isatty", [](Interpreter &, CallArgs) { return Value(false); }));
  for (const char *name : {"stdout", "stderr"})
    m.globals->set(name, Value(std::make_shared<Instance>(stream)));
}

} // namespace

std::shared_ptr<Instance> makeNullContext(Interpreter &, Value entered) {
  static const std::shared_ptr<Class> cls = [] {
    auto c = Class::make("nullcontext", "contextlib");
    c->attributes.set(
        "__enter__", nativeRaw("__enter__", [](Interpreter &, CallArgs args) {
          const Value *v =
              args.positional[0].expect<Instance>("a context").attributes.find("enter_result");
          return v ? *v : Value();
        }));
    c->attributes.set("__exit__",
                      nativeRaw("__exit__", [](Interpreter &, CallArgs) { return Value(false); }));
    // `@torch.no_grad()` over a function.
    c->attributes.set("__call__", nativeRaw("__call__", [](Interpreter &, CallArgs args) {
                        return args.positional.at(1);
                      }));
    return c;
  }();
  auto context = std::make_shared<Instance>(cls);
  context->attributes.set("enter_result", std::move(entered));
  return context;
}

Value makeContext(std::function<void()> enter, std::function<void()> leave) {
  auto cls = Class::make("context", "contextlib");
  cls->attributes.set("__enter__", nativeRaw("__enter__", [enter](Interpreter &, CallArgs) {
                        enter();
                        return Value();
                      }));
  cls->attributes.set("__exit__", nativeRaw("__exit__", [leave](Interpreter &, CallArgs) {
                        leave();
                        return Value(false);
                      }));
  return Value(std::make_shared<Instance>(cls));
}

void addStandardModules(NativeModules &modules) {
  modules.add("math", fillMath);
  modules.add("functools", fillFunctools);
  modules.add("_functools", [](Interpreter &, Module &m) {
    set(m, "cached", "function, maxsize, typed", cachedParts);
  });
  modules.add("operator", fillOperator);
  modules.add("contextlib", fillContextlib);
  modules.add("logging", fillSilent);
  modules.add("warnings", fillSilent);
  modules.add("os", fillOs);
  modules.add("os.path", fillOsPath);
  modules.add("sys", fillSys);
}

} // namespace pellucid::host
