// SPDX-License-Identifier: Apache-2.0
#include "host/Value.h"

#include "host/FloatText.h"
#include "host/Objects.h"

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
    return equal(*this, other);
  }
}

// ---- equality and hashing
// ------------------------------------------------------------------------------------------

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

bool equal(const Value &a, const Value &b) {
  if (auto x = integerOf(a), y = integerOf(b); x && y)
    return *x == *y;
  if (auto x = numberOf(a), y = numberOf(b); x && y)
    return *x == *y;
  if (a.isObject() && a.as<Constexpr>() && !b.isObject())
    return equal(a.as<Constexpr>()->value, b);
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Kind::None:
  case Kind::Ellipsis:
    return true;
  case Kind::Str:
    return a.str() == b.str();
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
  case Kind::SymInt:
    return a.symInt() == b.symInt();
  case Kind::SymBool:
    return a.symBool() == b.symBool();
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
  case Kind::Tuple:
    return hashElements(v.tuple());
  case Kind::Set:
    return v.elementSet().frozen ? std::optional<size_t>(v.elementSet().size()) : std::nullopt;
  case Kind::Range:
    return size_t(v.range().length());
  case Kind::SymInt:
    return std::hash<symbolic::Expr>()(v.symInt());
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
    return "(" + joinRepr(v.tuple(), text) + (v.tuple().size() == 1 ? ",)" : ")");
  case Kind::List:
    return "[" + joinRepr(v.list(), text) + "]";
  case Kind::Dict: {
    std::string out;
    for (const auto &[key, value] : v.dictionary().items())
      out += (out.empty() ? "" : ", ") + text(key) + ": " + text(value);
    return "{" + out + "}";
  }
  case Kind::Set: {
    const Set &s = v.elementSet();
    std::string body = s.size() ? "{" + joinRepr(s.elements(), text) + "}" : "";
    if (s.frozen)
      return "frozenset(" + body + ")";
    return s.size() ? body : "set()";
  }
  case Kind::Slice:
    return "slice(" + text(v.slice().lower) + ", " + text(v.slice().upper) + ", " +
           text(v.slice().step) + ")";
  case Kind::Range: {
    const Range &r = v.range();
    std::string out = "range(" + std::to_string(r.start) + ", " + std::to_string(r.stop);
    return out + (r.step != 1 ? ", " + std::to_string(r.step) : "") + ")";
  }
  case Kind::SymInt:
    return v.symInt().text();
  case Kind::SymBool:
    return v.symBool().text();
  case Kind::Object:
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
  auto [first, last] = index.equal_range(*hash);
  for (auto it = first; it != last; ++it)
    if (equal(entries[it->second].first, key))
      return &entries[it->second].second;
  return nullptr;
}

void Dict::set(const Value &key, Value value) {
  if (Value *slot = find(key)) {
    *slot = std::move(value);
    return;
  }
  index.emplace(hashOf(key).value_or(0), entries.size());
  entries.emplace_back(key, std::move(value));
}

bool Dict::erase(const Value &key) {
  for (size_t i = 0; i < entries.size(); ++i)
    if (equal(entries[i].first, key)) {
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
      rebuild();
      return true;
    }
  return false;
}

void Dict::clear() {
  entries.clear();
  index.clear();
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
