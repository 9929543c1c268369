// SPDX-License-Identifier: Apache-2.0
#include "host/Value.h"

#include "host/Interpreter.h"

#include "host/FloatText.h"
#include "host/Objects.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <cmath>

namespace pellucid::host {

int64_t Range::length() const {
  if (step > 0)
    return start < stop ? (stop - start - 1) / step + 1 : 0;
  return start > stop ? (start - stop - 1) / -step + 1 : 0;
}

Value Value::dict(Dict entries) {
  return Value(Storage(std::make_shared<Dict>(std::move(entries))));
}
Value Value::dict() { return dict(Dict()); }
Value Value::set(Set elements, bool frozen) {
  elements.frozen = frozen;
  return Value(Storage(std::make_shared<Set>(std::move(elements))));
}
Value Value::slice(Value lower, Value upper, Value step) {
  return Value(Storage(
      std::make_shared<const Slice>(Slice{std::move(lower), std::move(upper), std::move(step)})));
}
Value Value::integer(const symbolic::Expr &expr) {
  if (auto constant = expr.constant())
    return Value(*constant);
  return Value(SymInt{expr});
}
Value Value::condition(const symbolic::Expr &expr) {
  if (auto constant = expr.constant())
    return Value(*constant != 0);
  return Value(SymBool{expr});
}

bool Value::isSame(const Value &other) const {
  if (kind() != other.kind())
    return false;
  switch (kind()) {
  case Kind::List:
    return &list() == &other.list();
  case Kind::Dict:
    return &dictionary() == &other.dictionary();
  case Kind::Set:
    return &elementSet() == &other.elementSet();
  case Kind::Tuple:
    return &tuple() == &other.tuple() || (tuple().empty() && other.tuple().empty());
  case Kind::Object:
    // Built-in names and dtypes are made anew at each use and still are one object to the user.
    return object() == other.object() || (!as<Instance>() && object()->equals(*other.object()));
  default:
    return sameStructure(*this, other);
  }
}

void Value::dropChain() {
  bool isLast = std::visit(
      [](const auto &held) {
        if constexpr (requires { held.use_count(); })
          return held.use_count() == 1;
        else
          return false;
      },
      storage);
  if (!isLast)
    return;
  // What an element drops in its turn waits here, so that one call at a time is under way.
  static thread_local std::vector<Storage> *waiting = nullptr;
  if (waiting) {
    waiting->push_back(std::move(storage));
    return;
  }
  std::vector<Storage> chain;
  waiting = &chain;
  chain.push_back(std::move(storage));
  while (!chain.empty()) {
    Storage next = std::move(chain.back());
    chain.pop_back();
  }
  waiting = nullptr;
}

// ---- equality and hashing
// ------------------------------------------------------------------------------------------

static thread_local uint64_t comparisonDepth = 0, comparisonSteps = 0;

ComparisonLevel::ComparisonLevel() {
  constexpr uint64_t deepest = 500, mostSteps = 20'000'000;
  if (comparisonDepth >= deepest || comparisonSteps >= mostSteps)
    throw DiagnosticError(SourceLocation(), "the values are nested too deeply to compare");
  ++comparisonDepth;
  ++comparisonSteps;
}

ComparisonLevel::~ComparisonLevel() {
  if (--comparisonDepth == 0)
    comparisonSteps = 0;
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
    ComparisonLevel level;
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
    ComparisonLevel level;
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
  if (auto x = integerOf(a), y = integerOf(b); x && y)
    return *x == *y;
  if (auto x = numberOf(a), y = numberOf(b); x && y)
    return *x == *y;
  if (a.isObject() && a.as<Constexpr>() && !b.isObject())
    return equal(a.as<Constexpr>()->value, b);
  if (a.kind() != b.kind())
    return false;
  if (a.isStr())
    return a.str() == b.str();
  ComparisonLevel level;
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
    ComparisonLevel level;
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
  case Kind::Object:
    return v.object()->hash();
  default:
    return std::nullopt;
  }
}

// ---- text
// ----------------------------------------------------------------------------------------------------------

std::string toString(Int value) {
  if (value == 0)
    return "0";
  bool negative = value < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  for (; rest; rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  return negative ? "-" + digits : digits;
}

std::string typeName(const Value &v) {
  static constexpr const char *names[] = {"NoneType", "ellipsis", "bool", "int",  "float",
                                          "str",      "tuple",    "list", "dict", "set",
                                          "slice",    "range",    "int",  "bool"};
  if (v.isObject())
    return v.object()->typeName();
  if (v.isSet() && v.elementSet().frozen)
    return "frozenset";
  return names[static_cast<size_t>(v.kind())];
}

static std::string quote(const std::string &text) {
  bool useDouble = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  char mark = useDouble ? '"' : '\'';
  std::string out(1, mark);
  for (unsigned char c : text) {
    if (c == static_cast<unsigned char>(mark) || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c < 0x20 || c == 0x7f) {
      static constexpr char hex[] = "0123456789abcdef";
      ((out += "\\x") += hex[c >> 4]) += hex[c & 15];
    } else
      out += static_cast<char>(c);
  }
  return out + mark;
}

std::string joinRepr(const std::vector<Value> &elements,
                     const std::function<std::string(const Value &)> &text) {
  std::string out;
  for (const Value &v : elements)
    (out += out.empty() ? "" : ", ") += text(v);
  return out;
}

namespace {
/// One container that is being printed: as in Python, inside of itself it is "...". So is what is
/// nested deeper, or has more elements, than anybody reads.
class PrintedContainer {
public:
  explicit PrintedContainer(const void *container) : isCut(++printed > mostContainers) {
    isCut |= active.size() > deepest ||
             std::find(active.begin(), active.end(), container) != active.end();
    active.push_back(container);
  }
  ~PrintedContainer() {
    active.pop_back();
    if (active.empty())
      printed = 0;
  }
  PrintedContainer(const PrintedContainer &) = delete;
  PrintedContainer &operator=(const PrintedContainer &) = delete;
  bool isCut;

private:
  static constexpr size_t deepest = 200, mostContainers = 1'000'000;
  static thread_local std::vector<const void *> active;
  static thread_local size_t printed;
};
thread_local std::vector<const void *> PrintedContainer::active;
thread_local size_t PrintedContainer::printed = 0;
} // namespace

static const void *addressOf(const Value &v) {
  return v.isList()    ? static_cast<const void *>(&v.list())
         : v.isTuple() ? static_cast<const void *>(&v.tuple())
         : v.isDict()  ? static_cast<const void *>(&v.dictionary())
                       : &v.elementSet();
}

static std::string reprContainer(const Value &v,
                                 const std::function<std::string(const Value &)> &text) {
  PrintedContainer container(addressOf(v));
  switch (v.kind()) {
  case Kind::Tuple:
    return container.isCut ? "(...)"
                           : "(" + joinRepr(v.tuple(), text) + (v.tuple().size() == 1 ? ",)" : ")");
  case Kind::List:
    return container.isCut ? "[...]" : "[" + joinRepr(v.list(), text) + "]";
  case Kind::Dict: {
    std::string out;
    for (const auto &[key, value] : v.dictionary().items())
      out += container.isCut ? "" : (out.empty() ? "" : ", ") + text(key) + ": " + text(value);
    return "{" + (container.isCut ? "..." : out) + "}";
  }
  default: {
    const Set &s = v.elementSet();
    std::string body = s.size() ? "{" + joinRepr(s.elements(), text) + "}" : "";
    if (s.frozen)
      return "frozenset(" + body + ")";
    return s.size() ? body : "set()";
  }
  }
}

static thread_local bool symbolicText = false;

TextWatch::TextWatch() : outer(symbolicText) { symbolicText = false; }
TextWatch::~TextWatch() { symbolicText = outer; }
bool TextWatch::sawSymbols() const { return symbolicText; }

std::string reprWith(const Value &v, const std::function<std::string(const Value &)> &text) {
  switch (v.kind()) {
  case Kind::None:
    return "None";
  case Kind::Ellipsis:
    return "Ellipsis";
  case Kind::Bool:
    return v.boolean() ? "True" : "False";
  case Kind::Int:
    return toString(v.integer());
  case Kind::Float:
    return floatRepr(v.real());
  case Kind::Str:
    return quote(v.str());
  case Kind::Tuple:
  case Kind::List:
  case Kind::Dict:
  case Kind::Set:
    return reprContainer(v, text);
  case Kind::Slice:
    return "slice(" + text(v.slice().lower) + ", " + text(v.slice().upper) + ", " +
           text(v.slice().step) + ")";
  case Kind::Range: {
    const Range &r = v.range();
    std::string out = "range(" + std::to_string(r.start) + ", " + std::to_string(r.stop);
    return out + (r.step != 1 ? ", " + std::to_string(r.step) : "") + ")";
  }
  case Kind::SymInt:
    symbolicText = true;
    return v.symInt().text();
  case Kind::SymBool:
    symbolicText = true;
    return v.symBool().text();
  case Kind::Object:
    symbolicText |= v.object()->isSymbolic();
    return v.object()->repr();
  }
  return {};
}

std::string repr(const Value &value) {
  return reprWith(value, [](const Value &v) { return repr(v); });
}

// ---- containers
// ----------------------------------------------------------------------------------------------------

Value *Dict::find(const Value &key) {
  auto hash = hashOf(key);
  if (!hash)
    return nullptr;
  bool symbolic = host::isSymbolic(key);
  auto [first, last] = index.equal_range(*hash);
  for (auto it = first; it != last; ++it)
    if (const Value &entry = entries[it->second].first;
        symbolic ? sameStructure(entry, key) : equal(entry, key))
      return &entries[it->second].second;
  // Keys that are sizes are equal for some sizes and not for others; their hashes say nothing.
  if (symbolic || symbolicKeys)
    for (size_t i = 0; i < entries.size(); ++i)
      if ((symbolic || host::isSymbolic(entries[i].first)) && equal(entries[i].first, key))
        return &entries[i].second;
  return nullptr;
}

void Dict::set(const Value &key, Value value) {
  if (Value *slot = find(key)) {
    *slot = std::move(value);
    return;
  }
  index.emplace(hashOf(key).value_or(0), entries.size());
  symbolicKeys += host::isSymbolic(key);
  entries.emplace_back(key, std::move(value));
}

bool Dict::erase(const Value &key) {
  const Value *found = find(key);
  for (size_t i = 0; found && i < entries.size(); ++i)
    if (&entries[i].second == found) {
      symbolicKeys -= host::isSymbolic(entries[i].first);
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
      rebuild();
      return true;
    }
  return false;
}

void Dict::clear() {
  entries.clear();
  index.clear();
  symbolicKeys = 0;
}

void Dict::rebuild() {
  index.clear();
  for (size_t i = 0; i < entries.size(); ++i)
    index.emplace(hashOf(entries[i].first).value_or(0), i);
}

bool Set::insert(const Value &v) {
  if (members.find(v))
    return false;
  members.set(v, Value());
  return true;
}

std::vector<Value> Set::elements() const {
  std::vector<Value> out;
  for (const auto &[key, unused] : members.items())
    out.push_back(key);
  return out;
}

const Value *Namespace::find(std::string_view name) const {
  auto it = index.find(name);
  return it == index.end() ? nullptr : &entries[it->second].second;
}

void Namespace::set(std::string_view name, Value value) {
  auto it = index.find(name);
  if (it != index.end()) {
    entries[it->second].second = std::move(value);
    return;
  }
  index.emplace(std::string(name), entries.size());
  entries.emplace_back(std::string(name), std::move(value));
}

bool Namespace::erase(std::string_view name) {
  auto it = index.find(name);
  if (it == index.end())
    return false;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(it->second));
  index.clear();
  for (size_t i = 0; i < entries.size(); ++i)
    index.emplace(entries[i].first, i);
  return true;
}

const Value *CallArgs::keyword(std::string_view name) const {
  for (const auto &[key, value] : keywords)
    if (key == name)
      return &value;
  return nullptr;
}

} // namespace pellucid::host
