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

std::string typeName(const Value &v) {
  if (v.isObject())
    return v.object()->typeName();
  if (v.isSet() && v.elementSet().frozen)
    return "frozenset";
  return std::string(nameOf(v.kind()));
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
