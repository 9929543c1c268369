// SPDX-License-Identifier: Apache-2.0
#include "host/Value.h"

#include "host/Interpreter.h"

#include "host/DictView.h"
#include "host/FloatText.h"
#include "host/Objects.h"
#include "support/Diagnostics.h"
#include "support/Stack.h"

#include <algorithm>
#include <cmath>
#include <new>

using pellucid::host::Budget;
using pellucid::host::Value;

Value *std::allocator<Value>::allocate(size_t n) {
  if (n > SIZE_MAX / sizeof(Value))
    throw std::bad_array_new_length();
  size_t bytes = n * sizeof(Value);
  if (n >= 16)
    Budget::pay(n / 16); // copying some elements is as long as evaluating an expression
  Budget::take(bytes);
  try {
    return static_cast<Value *>(::operator new(bytes));
  } catch (...) {
    Budget::give(bytes);
    throw;
  }
}

void std::allocator<Value>::deallocate(Value *p, size_t n) noexcept {
  Budget::give(n * sizeof(Value));
  ::operator delete(p);
}

namespace pellucid::host {

int64_t Range::length() const {
  Int first = start, last = stop, by = step;
  Int count = by > 0 ? (first < last ? (last - first - 1) / by + 1 : 0)
                     : (first > last ? (first - last - 1) / -by + 1 : 0);
  return static_cast<int64_t>(std::min<Int>(count, INT64_MAX)); // makers see to it that it fits
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

namespace {
/// Known by how it is deleted: to all else it is a tuple.
struct DeleteSizes {
  void operator()(const Tuple *sizes) const { delete sizes; }
};
} // namespace

Value Value::sizes(Tuple elements) {
  return Value(
      Storage(std::shared_ptr<const Tuple>(new const Tuple(std::move(elements)), DeleteSizes())));
}

bool Value::isSizes() const {
  auto *elements = std::get_if<std::shared_ptr<const Tuple>>(&storage);
  return elements && std::get_deleter<DeleteSizes>(*elements);
}

long Value::useCount() const {
  return std::visit(
      [](const auto &held) -> long {
        if constexpr (requires { held.use_count(); })
          return held.use_count();
        else
          return 0;
      },
      storage);
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

namespace {
/// A text that is paid for while it lives.
struct HeldText : std::string {
  HeldBytes held;
  explicit HeldText(std::string text) : std::string(std::move(text)) {
    held.grow(sizeof(HeldText) + capacity());
  }
};
} // namespace

std::shared_ptr<const std::string> Value::heldText(std::string text) {
  return std::make_shared<const HeldText>(std::move(text));
}

static std::string_view nameOf(Kind kind) {
  static constexpr std::string_view names[] = {"NoneType", "ellipsis", "bool", "int",  "float",
                                               "str",      "tuple",    "list", "dict", "set",
                                               "slice",    "range",    "int",  "bool", "object"};
  return names[static_cast<size_t>(kind)];
}

static std::string article(std::string_view noun) {
  bool vowel = std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

void Value::refuseKind(Kind wanted) const {
  if (isSymInt() && wanted == Kind::Int)
    throw WrongValue("expected a number that is known here, got the dynamic size '" +
                     symInt().text() + "'");
  refuseKind(article(nameOf(wanted)));
}

void Value::refuseKind(std::string_view what) const {
  throw WrongValue("expected " + std::string(what) + ", got " + typeName(*this));
}

void Positional::refuseCount(size_t count) const {
  throw WrongValue("takes at least " + std::to_string(count) + " positional argument" +
                   (count == 1 ? "" : "s") + ", got " + std::to_string(size()));
}

void Value::dropChain() {
  // What an element drops in its turn waits here, so that few calls at a time are under way.
  static thread_local std::vector<Storage> *waiting = nullptr;
  static thread_local unsigned depth = 0;
  constexpr unsigned mostNested = 16;
  if (depth && depth < mostNested) {
    ++depth;
    {
      Storage next = std::move(storage);
    }
    --depth;
    return;
  }
  if (waiting) {
    waiting->push_back(std::move(storage));
    return;
  }
  std::vector<Storage> chain;
  waiting = &chain;
  depth = 1;
  {
    Storage next = std::move(storage);
  }
  while (!chain.empty()) {
    Storage next = std::move(chain.back());
    chain.pop_back();
  }
  depth = 0;
  waiting = nullptr;
}

// ---- equality and hashing
// ------------------------------------------------------------------------------------------

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
  if (v.isObject())
    return v.object()->typeName();
  if (v.isSet() && v.elementSet().frozen)
    return "frozenset";
  return std::string(nameOf(v.kind()));
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

/// A text that grows is paid for before it becomes a value.
static void payForText(const std::string &text) {
  Budget::pay(1);
  Budget::check(text.capacity());
}

std::string joinRepr(const std::vector<Value> &elements,
                     const std::function<std::string(const Value &)> &text) {
  std::string out;
  // A __repr__ may change the list that is being printed.
  for (size_t i = 0; i < elements.size(); ++i) {
    Value element = elements[i];
    (out += out.empty() ? "" : ", ") += text(element);
    payForText(out);
  }
  return out;
}

namespace {
/// One container that is being printed: as in Python, inside of itself it is "...". So is what is
/// nested deeper, or has more elements, than anybody reads.
class PrintedContainer {
public:
  explicit PrintedContainer(const void *container) : isCut(++printed > mostContainers) {
    isCut |= active.size() > deepest || stackIsLow() ||
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
    if (v.isSizes() && !container.isCut)
      return "torch.Size([" + joinRepr(v.tuple(), text) + "])";
    return container.isCut ? "(...)"
                           : "(" + joinRepr(v.tuple(), text) + (v.tuple().size() == 1 ? ",)" : ")");
  case Kind::List:
    return container.isCut ? "[...]" : "[" + joinRepr(v.list(), text) + "]";
  case Kind::Dict: {
    std::string out;
    if (container.isCut)
      return "{...}";
    for (size_t i = 0; i < v.dictionary().size(); ++i) {
      auto [key, value] = v.dictionary().items()[i];
      out += (out.empty() ? "" : ", ") + text(key) + ": " + text(value);
      payForText(out);
    }
    return "{" + out + "}";
  }
  default: {
    const Set &s = v.elementSet();
    if (container.isCut)
      return "{...}";
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
  // Slices and objects hold values too, and are no containers.
  if (stackIsLow())
    return "...";
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
    if (auto *view = v.as<DictView>())
      return view->textWith(text);
    return v.object()->repr();
  }
  return {};
}

std::string repr(const Value &value) {
  return reprWith(value, [](const Value &v) { return repr(v); });
}

// ---- containers
// ----------------------------------------------------------------------------------------------------

/// A pair of values and a node of the index.
static constexpr size_t bytesPerEntry = 2 * sizeof(Value) + 48;

/// A text among few keys is sooner compared than hashed. Nothing where what is no text may equal
/// it.
static std::optional<Value *> findText(std::vector<std::pair<Value, Value>> &entries,
                                       const std::string &key) {
  for (auto &[known, value] : entries)
    if (known.isObject())
      return std::nullopt;
    else if (known.isStr() && known.str() == key)
      return &value;
  return nullptr;
}

Value *Dict::find(const Value &key) {
  constexpr size_t mostTexts = 8;
  if (key.isStr() && !symbolicKeys && entries.size() <= mostTexts)
    if (auto found = findText(entries, key.str()))
      return *found;
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
  // A text, the most of keys, is hashed once.
  bool isText = key.isStr() && !symbolicKeys;
  std::optional<size_t> hash = hashOf(key);
  Value *slot = nullptr;
  if (isText) {
    auto [first, last] = index.equal_range(*hash);
    for (auto it = first; it != last && !slot; ++it)
      if (const Value &known = entries[it->second].first;
          known.isStr() ? known.str() == key.str() : equal(known, key))
        slot = &entries[it->second].second;
  } else {
    slot = find(key);
  }
  if (slot) {
    *slot = std::move(value);
    return;
  }
  held.grow(bytesPerEntry);
  index.emplace(hash.value_or(0), entries.size());
  symbolicKeys += !isText && host::isSymbolic(key);
  entries.emplace_back(key, std::move(value));
}

bool Dict::erase(const Value &key) {
  const Value *found = find(key);
  Budget::pay(entries.size() / 16);
  for (size_t i = 0; found && i < entries.size(); ++i)
    if (&entries[i].second == found) {
      symbolicKeys -= host::isSymbolic(entries[i].first);
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
      held.shrink(bytesPerEntry);
      rebuild();
      return true;
    }
  return false;
}

void Dict::clear() {
  entries.clear();
  index.clear();
  symbolicKeys = 0;
  held = {};
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

/// Names of a call are few: they are compared, not looked up, until there are more.
static constexpr size_t mostCompared = 12;

const Value *Namespace::find(std::string_view name) const {
  if (entries.size() <= mostCompared) {
    for (const auto &[known, value] : entries)
      if (known.size() == name.size() && (name.empty() || known[0] == name[0]) && known == name)
        return &value;
    return nullptr;
  }
  auto it = index.find(name);
  return it == index.end() ? nullptr : &entries[it->second].second;
}

const Value &Namespace::at(std::string_view name) const {
  if (const Value *found = find(name))
    return *found;
  throw WrongValue("expected an object with an attribute '" + std::string(name) + "'");
}

void Namespace::set(std::string_view name, Value value) {
  if (const Value *known = find(name)) {
    *const_cast<Value *>(known) = std::move(value);
    return;
  }
  held.grow(sizeof(Value) + 96 + 2 * name.size());
  entries.emplace_back(std::string(name), std::move(value));
  if (entries.size() == mostCompared + 1)
    for (size_t i = 0; i < mostCompared; ++i)
      index.emplace(entries[i].first, i);
  if (entries.size() > mostCompared)
    index.emplace(entries.back().first, entries.size() - 1);
}

bool Namespace::erase(std::string_view name) {
  auto it = std::find_if(entries.begin(), entries.end(),
                         [&](const auto &entry) { return entry.first == name; });
  if (it == entries.end())
    return false;
  held.shrink(sizeof(Value) + 96 + 2 * name.size());
  entries.erase(it);
  index.clear();
  if (entries.size() > mostCompared)
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
