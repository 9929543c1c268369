// SPDX-License-Identifier: Apache-2.0
// What values equal, and their hashes.
#include "host/DictView.h"
#include "host/Interpreter.h"
#include "host/Objects.h"
#include "support/Stack.h"

#include <algorithm>
#include <cmath>

namespace pellucid::host {

static thread_local uint64_t levelDepth = 0, levelSteps = 0;

ValueLevel::ValueLevel() {
  constexpr uint64_t deepest = 500, mostSteps = 20'000'000;
  Budget::pay(1);
  if (levelDepth >= deepest || levelSteps >= mostSteps || stackIsLow())
    throw DiagnosticError(SourceLocation(), "the values are nested too deeply to compare");
  ++levelDepth;
  ++levelSteps;
}

ValueLevel::~ValueLevel() {
  if (--levelDepth == 0)
    levelSteps = 0;
}

static std::optional<double> numberOf(const Value &v) {
  switch (v.kind()) {
  case Kind::Bool:
    return v.boolean();
  case Kind::Int:
    return static_cast<double>(v.integer());
  case Kind::Float:
    return v.real();
  default:
    return std::nullopt;
  }
}

static std::optional<Int> integerOf(const Value &v) {
  if (v.isBool())
    return v.boolean();
  if (v.isInt())
    return v.integer();
  return std::nullopt;
}

static bool equalElements(const std::vector<Value> &a, const std::vector<Value> &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i]))
      return false;
  return true;
}

static bool equalDicts(const Dict &a, const Dict &b) {
  if (a.size() != b.size())
    return false;
  for (const auto &[key, value] : a.items()) {
    const Value *other = b.find(key);
    if (!other || !equal(value, *other))
      return false;
  }
  return true;
}

static bool equalSets(const Set &a, const Set &b) {
  if (a.size() != b.size())
    return false;
  for (const Value &v : a.elements())
    if (!b.contains(v))
      return false;
  return true;
}

Value contentOf(const Value &value) {
  auto *instance = value.as<Instance>();
  return instance && instance->content ? *instance->content : value;
}

static bool hasContent(const Value &value) {
  auto *instance = value.as<Instance>();
  return instance && instance->content;
}

/// An integer or condition as an expression; nullopt for what is none or does not fit 64 bits.
static std::optional<symbolic::Expr> expressionOf(const Value &v) {
  if (v.isSymInt())
    return v.symInt();
  if (v.isSymBool())
    return v.symBool();
  Value whole = v.isFloat() && std::floor(v.real()) == v.real() && std::abs(v.real()) < 0x1p62
                    ? Value(static_cast<int64_t>(v.real()))
                    : v;
  auto number = integerOf(whole);
  return number && *number >= INT64_MIN && *number <= INT64_MAX
             ? std::optional(symbolic::Expr(static_cast<int64_t>(*number)))
             : std::nullopt;
}

static thread_local unsigned structuralComparisons = 0;

/// Of two numbers of which one at least depends on a dynamic size.
static bool equalSizes(const Value &a, const Value &b) {
  auto x = expressionOf(a), y = expressionOf(b);
  if (!x || !y)
    return false;
  symbolic::Expr condition = symbolic::equal(*x, *y);
  if (auto known = condition.constant())
    return *known != 0;
  Interpreter *interpreter = Interpreter::active();
  return !structuralComparisons && interpreter && interpreter->truth(Value::condition(condition));
}

bool sameStructure(const Value &a, const Value &b) {
  ++structuralComparisons;
  struct Leave {
    ~Leave() { --structuralComparisons; }
  } leave;
  return equal(a, b);
}

std::optional<symbolic::Expr> equality(const Value &a, const Value &b) {
  if (a.isSymInt() || a.isSymBool() || b.isSymInt() || b.isSymBool()) {
    auto x = expressionOf(a), y = expressionOf(b);
    if (a.isObject() || b.isObject())
      return std::nullopt;
    return x && y ? symbolic::equal(*x, *y) : symbolic::Expr(0);
  }
  if (a.isTuple() && b.isTuple()) {
    ValueLevel level;
    if (a.tuple().size() != b.tuple().size())
      return symbolic::Expr(0);
    symbolic::Expr all = 1;
    for (size_t i = 0; i < a.tuple().size(); ++i) {
      auto one = equality(a.tuple()[i], b.tuple()[i]);
      if (!one)
        return std::nullopt;
      all = symbolic::logicalAnd(all, *one);
    }
    return all;
  }
  if (a.kind() >= Kind::List || b.kind() >= Kind::List)
    return std::nullopt;
  return symbolic::Expr(equal(a, b));
}

bool isSymbolic(const Value &v) {
  switch (v.kind()) {
  case Kind::SymInt:
  case Kind::SymBool:
    return true;
  case Kind::Tuple: {
    ValueLevel level;
    return std::any_of(v.tuple().begin(), v.tuple().end(), isSymbolic);
  }
  case Kind::Set:
    return v.elementSet().isSymbolic();
  case Kind::Object:
    return v.object()->isSymbolic();
  default:
    return false;
  }
}

bool equal(const Value &a, const Value &b) {
  if ((hasContent(a) || hasContent(b)) && !a.isSame(b))
    return equal(contentOf(a), contentOf(b));
  if (a.isSymInt() || a.isSymBool() || b.isSymInt() || b.isSymBool())
    return equalSizes(unwrapConstexpr(a), unwrapConstexpr(b));
  if (a.as<SymFloat>() || b.as<SymFloat>()) {
    // Against a number it is refused, as == is; nothing else is equal to it.
    const Value &other = a.as<SymFloat>() ? b : a;
    bool isNumber = other.isInt() || other.isFloat() || other.isBool() || other.as<SymFloat>();
    Interpreter *interpreter = structuralComparisons ? nullptr : Interpreter::active();
    if (interpreter && isNumber && !sameStructure(a, b))
      return interpreter->equals(a, b);
  }
  if (auto x = integerOf(a), y = integerOf(b); x && y)
    return *x == *y;
  if (auto x = numberOf(a), y = numberOf(b); x && y)
    return *x == *y;
  if (a.kind() != b.kind() && !a.isObject())
    return false;
  if (a.isStr())
    return a.str() == b.str();
  ValueLevel level;
  if (auto *constant = a.as<Constexpr>(); constant && !b.isObject())
    return equal(constant->value, b);
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Kind::None:
  case Kind::Ellipsis:
    return true;
  case Kind::Tuple:
    return equalElements(a.tuple(), b.tuple());
  case Kind::List:
    return &a.list() == &b.list() || equalElements(a.list(), b.list());
  case Kind::Dict:
    return equalDicts(a.dictionary(), b.dictionary());
  case Kind::Set:
    return equalSets(a.elementSet(), b.elementSet());
  case Kind::Slice:
    return equal(a.slice().lower, b.slice().lower) && equal(a.slice().upper, b.slice().upper) &&
           equal(a.slice().step, b.slice().step);
  case Kind::Range: {
    const Range &x = a.range(), &y = b.range();
    int64_t n = x.length();
    return n == y.length() && (n == 0 || x.start == y.start) && (n <= 1 || x.step == y.step);
  }
  case Kind::Object:
    return a.object() == b.object() || a.object()->equals(*b.object());
  default:
    return false; // numbers were compared above
  }
}

static size_t combine(size_t seed, size_t h) { return seed * 1000003u ^ (h + 0x9e3779b9u); }

static std::optional<size_t> hashElements(const std::vector<Value> &elements) {
  size_t result = 0x345678u;
  for (const Value &v : elements) {
    auto h = hashOf(v);
    if (!h)
      return std::nullopt;
    result = combine(result, *h);
  }
  return result;
}

std::optional<size_t> hashOf(const Value &v) {
  switch (v.kind()) {
  case Kind::None:
    return 1;
  case Kind::Ellipsis:
    return 2;
  case Kind::Bool:
    return size_t(v.boolean());
  case Kind::Int:
    return static_cast<size_t>(v.integer());
  case Kind::Float: {
    double d = v.real();
    bool whole = std::floor(d) == d && std::abs(d) < 9e18;
    return whole ? static_cast<size_t>(static_cast<int64_t>(d)) : std::hash<double>()(d);
  }
  case Kind::Str:
    return std::hash<std::string>()(v.str());
  case Kind::Tuple: {
    ValueLevel level;
    return hashElements(v.tuple());
  }
  case Kind::Set:
    return v.elementSet().frozen ? std::optional<size_t>(v.elementSet().size()) : std::nullopt;
  case Kind::Range:
    return size_t(v.range().length());
  case Kind::SymInt:
    return std::hash<symbolic::Expr>()(v.symInt());
  case Kind::SymBool:
    return std::hash<symbolic::Expr>()(v.symBool());
  case Kind::Object: {
    ValueLevel level; // a constexpr's hash is that of its value
    return v.object()->hash();
  }
  default:
    return std::nullopt;
  }
}

} // namespace pellucid::host
