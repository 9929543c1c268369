// SPDX-License-Identifier: Apache-2.0
/// Values of the host evaluator: what modules, functions and classes of a user's file compute with,
/// and what a kernel sees as globals and constexprs. A Value is cheap to copy; containers and
/// objects are shared as in Python. Values made by an Interpreter are used with it and on one
/// thread at a time.
#pragma once

#include "host/Budget.h"
#include "support/DataType.h"
#include "support/Diagnostics.h"
#include "symbolic/Expr.h"

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace pellucid::host {
class Value;
} // namespace pellucid::host

/// Every std::vector of values is paid for from the Budget of the interpreter at work, so that no
/// built-in can fill memory unseen, whatever it computes.
template <> class std::allocator<pellucid::host::Value> {
public:
  using value_type = pellucid::host::Value;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using propagate_on_container_move_assignment = true_type;
  using is_always_equal = true_type;
  allocator() noexcept = default;
  template <typename Other> allocator(const allocator<Other> &) noexcept {}
  value_type *allocate(size_t n);
  void deallocate(value_type *p, size_t n) noexcept;
  friend bool operator==(const allocator &, const allocator &) noexcept { return true; }
};

namespace pellucid::host {

class Interpreter;
class Class;
class Object;
struct CallArgs;
struct Scope;

/// The object as T, or null.
template <typename T> T *objectAs(Object *object);

/// A value of another kind than what works on it takes, or too few of them. Thrown by the checked
/// accessors below; a call of a built-in makes it a TypeError that names the built-in.
class WrongValue : public std::logic_error {
public:
  using logic_error::logic_error;
};

/// Integers are exact up to 127 bits, so that unsigned 64-bit constants and their products survive;
/// an overflow beyond that is reported. Where 64 bits are needed, Interpreter::toInt64 checks.
using Int = __int128;

/// Python's operators, as the value layer names them.
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  MatMul,
  Div,
  Mod,
  Pow,
  LShift,
  RShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv
};
enum class UnaryOp : uint8_t { Invert, Plus, Minus };
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

struct NoneType {
  bool operator==(const NoneType &) const = default;
};
struct EllipsisType {
  bool operator==(const EllipsisType &) const = default;
};
/// An integer that is not one number: a size that depends on a dynamic dimension.
struct SymInt {
  symbolic::Expr expr;
};
/// A condition over such integers; testing it asks HostHooks::decide.
struct SymBool {
  symbolic::Expr condition;
};

using Tuple = std::vector<Value>;
using List = std::vector<Value>;
class Dict;
class Set;
struct Slice;
struct Range {
  int64_t start = 0, stop = 0, step = 1;
  int64_t length() const;
};

/// The order is that of Value's variant.
enum class Kind : uint8_t {
  None,
  Ellipsis,
  Bool,
  Int,
  Float,
  Str,
  Tuple,
  List,
  Dict,
  Set,
  Slice,
  Range,
  SymInt,
  SymBool,
  Object
};

class Value {
public:
  Value() = default; ///< None
  Value(const Value &) = default;
  Value(Value &&) = default;
  Value &operator=(const Value &) = default;
  Value &operator=(Value &&) = default;
  /// Chains of lists and objects may be longer than the stack is deep.
  ~Value() {
    if (kind() >= Kind::Tuple && isLast())
      dropChain();
  }
  Value(bool v) : storage(v) {}
  Value(int v) : storage(Int(v)) {}
  Value(int64_t v) : storage(Int(v)) {}
  Value(uint64_t v) : storage(Int(v)) {}
  Value(Int v) : storage(v) {}
  Value(double v) : storage(v) {}
  Value(std::string v) : storage(heldText(std::move(v))) {}
  Value(std::string_view v) : Value(std::string(v)) {}
  Value(const char *v) : Value(std::string(v)) {}
  Value(EllipsisType v) : storage(v) {}
  Value(SymInt v) : storage(std::move(v)) {}
  Value(SymBool v) : storage(std::move(v)) {}
  Value(std::shared_ptr<Object> v) : storage(std::move(v)) {}
  template <typename T>
    requires std::is_base_of_v<Object, T>
  Value(std::shared_ptr<T> v) : storage(std::shared_ptr<Object>(std::move(v))) {}

  static Value tuple(Tuple elements) {
    return Value(Storage(std::make_shared<const Tuple>(std::move(elements))));
  }
  /// A tuple that says it is a torch.Size.
  static Value sizes(Tuple elements);
  bool isSizes() const;
  static Value list(List elements) {
    return Value(Storage(std::make_shared<List>(std::move(elements))));
  }
  static Value dict(Dict entries);
  static Value dict();
  static Value set(Set elements, bool frozen = false);
  static Value slice(Value lower, Value upper, Value step);
  static Value range(Range r) { return Value(Storage(std::make_shared<const Range>(r))); }
  /// A SymInt, or a plain int when the expression is constant.
  static Value integer(const symbolic::Expr &expr);
  /// A SymBool, or a plain bool when the condition is constant.
  static Value condition(const symbolic::Expr &expr);

  Kind kind() const { return static_cast<Kind>(storage.index()); }
  bool isNone() const { return kind() == Kind::None; }
  bool isBool() const { return kind() == Kind::Bool; }
  bool isInt() const { return kind() == Kind::Int; }
  bool isFloat() const { return kind() == Kind::Float; }
  bool isStr() const { return kind() == Kind::Str; }
  bool isTuple() const { return kind() == Kind::Tuple; }
  bool isList() const { return kind() == Kind::List; }
  bool isDict() const { return kind() == Kind::Dict; }
  bool isSet() const { return kind() == Kind::Set; }
  bool isSymInt() const { return kind() == Kind::SymInt; }
  bool isSymBool() const { return kind() == Kind::SymBool; }
  bool isObject() const { return kind() == Kind::Object; }
  /// A tuple or a list.
  bool isSequence() const { return isTuple() || isList(); }

  // Each of these is of the kind it names, or throws WrongValue.
  bool boolean() const { return held<bool>(Kind::Bool); }
  Int integer() const { return held<Int>(Kind::Int); }
  double real() const { return held<double>(Kind::Float); }
  const std::string &str() const { return *held<std::shared_ptr<const std::string>>(Kind::Str); }
  const Tuple &tuple() const { return *held<std::shared_ptr<const Tuple>>(Kind::Tuple); }
  List &list() const { return *held<std::shared_ptr<List>>(Kind::List); }
  Dict &dictionary() const { return *held<std::shared_ptr<Dict>>(Kind::Dict); }
  Set &elementSet() const { return *held<std::shared_ptr<Set>>(Kind::Set); }
  const Slice &slice() const { return *held<std::shared_ptr<const Slice>>(Kind::Slice); }
  const Range &range() const { return *held<std::shared_ptr<const Range>>(Kind::Range); }
  const symbolic::Expr &symInt() const { return held<SymInt>(Kind::SymInt).expr; }
  const symbolic::Expr &symBool() const { return held<SymBool>(Kind::SymBool).condition; }
  const std::shared_ptr<Object> &object() const {
    return held<std::shared_ptr<Object>>(Kind::Object);
  }
  /// The elements of a tuple or list.
  const std::vector<Value> &elements() const { return isTuple() ? tuple() : list(); }

  /// `if (auto *kernel = value.as<JitFunction>())`: the object as T, or null.
  template <typename T> T *as() const { return isObject() ? objectAs<T>(object().get()) : nullptr; }
  template <typename T> std::shared_ptr<T> shared() const {
    T *found = as<T>();
    return found ? std::shared_ptr<T>(object(), found) : nullptr;
  }
  /// The object as T; another value throws WrongValue. `what` says what is wanted: "an instance".
  template <typename T> T &expect(std::string_view what) const {
    if (T *object = as<T>())
      return *object;
    refuseKind(what);
  }
  /// `a is b`: the same object, or the same None, bool, int, str value.
  bool isSame(const Value &other) const;
  /// How many hold the container or object that this is; 0 for a value that holds no others.
  long useCount() const;

private:
  using Storage =
      std::variant<NoneType, EllipsisType, bool, Int, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const Tuple>, std::shared_ptr<List>, std::shared_ptr<Dict>,
                   std::shared_ptr<Set>, std::shared_ptr<const Slice>, std::shared_ptr<const Range>,
                   SymInt, SymBool, std::shared_ptr<Object>>;
  explicit Value(Storage s) : storage(std::move(s)) {}
  static std::shared_ptr<const std::string> heldText(std::string text);
  template <typename T> const T &held(Kind wanted) const {
    if (const T *value = std::get_if<T>(&storage))
      return *value;
    refuseKind(wanted);
  }
  [[noreturn]] void refuseKind(Kind wanted) const;
  [[noreturn]] void refuseKind(std::string_view what) const;
  void dropChain();
  template <typename T> bool isLastOf() const {
    return std::get_if<std::shared_ptr<T>>(&storage)->use_count() == 1;
  }
  /// Whether nobody else holds what it holds: what may hold other values.
  bool isLast() const {
    switch (kind()) {
    case Kind::Tuple:
      return isLastOf<const Tuple>();
    case Kind::List:
      return isLastOf<List>();
    case Kind::Dict:
      return isLastOf<Dict>();
    case Kind::Set:
      return isLastOf<Set>();
    case Kind::Slice:
      return isLastOf<const Slice>();
    case Kind::Object:
      return isLastOf<Object>();
    default:
      return false;
    }
  }
  Storage storage;
};

struct Slice {
  Value lower, upper, step;
};

/// One level of a walk into values: a comparison, a hash, a text. Counts a step; refuses what
/// contains itself or is nested more deeply than the stack is.
class ValueLevel {
public:
  ValueLevel();
  ~ValueLevel();
  ValueLevel(const ValueLevel &) = delete;
  ValueLevel &operator=(const ValueLevel &) = delete;
};

/// Equality as Python's ==, for values that need no interpreter (instances without __eq__ by
/// identity). Whether a size that is not one number equals another is asked of the interpreter that
/// runs (Interpreter::active): a branch like any other.
bool equal(const Value &a, const Value &b);
/// The same without questions: sizes are equal when their expressions are.
bool sameStructure(const Value &a, const Value &b);
/// When two values are equal, as a condition over sizes; nullopt where that takes more than
/// numbers, texts and tuples of them.
std::optional<symbolic::Expr> equality(const Value &a, const Value &b);
/// Whether the value, as a key, depends on a dynamic size.
bool isSymbolic(const Value &value);
/// Consistent with equal(); nullopt when the value is unhashable.
std::optional<size_t> hashOf(const Value &value);
/// Python's name of the value's type: "int", "list", a class's own name.
std::string typeName(const Value &value);
/// Python's repr() for values that need no interpreter.
std::string repr(const Value &value);
std::string toString(Int value);

/// Sees whether a text made while it lives shows a dynamic size.
class TextWatch {
public:
  TextWatch();
  ~TextWatch();
  TextWatch(const TextWatch &) = delete;
  TextWatch &operator=(const TextWatch &) = delete;
  bool sawSymbols() const;

private:
  bool outer;
};

/// A dict in insertion order. Keys are hashable (checked by the Interpreter before they come here).
class Dict {
public:
  Value *find(const Value &key);
  const Value *find(const Value &key) const { return const_cast<Dict *>(this)->find(key); }
  Value *find(std::string_view key) { return find(Value(key)); }
  const Value *find(std::string_view key) const { return find(Value(key)); }
  void set(const Value &key, Value value);
  bool erase(const Value &key);
  void clear();
  size_t size() const { return entries.size(); }
  /// Whether a key depends on a dynamic size.
  bool isSymbolic() const { return symbolicKeys != 0; }
  const std::vector<std::pair<Value, Value>> &items() const { return entries; }

private:
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_multimap<size_t, size_t> index;
  size_t symbolicKeys = 0; ///< how many keys depend on a dynamic size
  HeldBytes held;
  void rebuild();
};

/// A set; keeps insertion order (CPython's order is unspecified).
class Set {
public:
  bool contains(const Value &v) const { return members.find(v) != nullptr; }
  bool insert(const Value &v);
  bool erase(const Value &v) { return members.erase(v); }
  size_t size() const { return members.size(); }
  bool isSymbolic() const { return members.isSymbolic(); }
  std::vector<Value> elements() const;
  const Dict &entries() const { return members; } ///< the elements are its keys
  bool frozen = false;

private:
  Dict members;
};

/// Named values in order of first assignment: a module's globals, a function's locals, a class
/// body, an instance.
class Namespace {
public:
  const Value *find(std::string_view name) const;
  void reserve(size_t count) { entries.reserve(count); }
  /// The value of a name that must be there, else throws WrongValue.
  const Value &at(std::string_view name) const;
  void set(std::string_view name, Value value);
  bool erase(std::string_view name);
  void clear() { entries.clear(), index.clear(), held = {}; }
  const std::vector<std::pair<std::string, Value>> &items() const { return entries; }

private:
  /// Of the length and both ends: names are short, and are asked for far more often than they are
  /// alike there.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const {
      uint64_t first = 0, last = 0;
      if (s.size() >= sizeof first) {
        std::memcpy(&first, s.data(), sizeof first);
        std::memcpy(&last, s.data() + s.size() - sizeof last, sizeof last);
      } else {
        for (char c : s)
          first = first << 8 | static_cast<unsigned char>(c);
      }
      uint64_t mixed = (first ^ (last << 7 | last >> 57)) + s.size();
      mixed *= 0x9e3779b97f4a7c15ull;
      return mixed ^ mixed >> 32;
    }
  };
  std::vector<std::pair<std::string, Value>> entries;
  std::unordered_map<std::string, size_t, TextHash, std::equal_to<>> index;
  HeldBytes held;
};

/// Values by position; one that was not given throws WrongValue.
class Positional : public std::vector<Value> {
public:
  using std::vector<Value>::vector;
  Positional(std::vector<Value> values) : std::vector<Value>(std::move(values)) {}
  Value &operator[](size_t i) { return need(i + 1), std::vector<Value>::operator[](i); }
  const Value &operator[](size_t i) const { return need(i + 1), std::vector<Value>::operator[](i); }
  Value &at(size_t i) { return (*this)[i]; }
  const Value &at(size_t i) const { return (*this)[i]; }
  Value &front() { return (*this)[0]; }
  const Value &front() const { return (*this)[0]; }
  Value &back() { return need(1), std::vector<Value>::back(); }
  const Value &back() const { return need(1), std::vector<Value>::back(); }
  /// The values from the `first` on.
  std::vector<Value> from(size_t first) const {
    return need(first), std::vector<Value>(begin() + static_cast<ptrdiff_t>(first), end());
  }

private:
  void need(size_t count) const {
    if (count > size())
      refuseCount(count);
  }
  [[noreturn]] void refuseCount(size_t count) const;
};

/// What a call site passes, after * and ** are spread out.
struct CallArgs {
  Positional positional;
  std::vector<std::pair<std::string, Value>> keywords;
  SourceLocation location; ///< of the call expression

  const Value *keyword(std::string_view name) const;
};

/// Is told each counted reference that something holds, each exactly once and where it lies. What
/// is left out counts as held from elsewhere, and stays.
class ReferenceVisitor {
public:
  virtual ~ReferenceVisitor() = default;
  virtual void value(const Value &) = 0;
  virtual void object(const Object &, long uses) = 0;
  virtual void scope(const std::shared_ptr<Scope> &) = 0;
  template <typename T> void held(const std::shared_ptr<T> &pointer) {
    if (pointer)
      object(*pointer, pointer.use_count());
  }
  void values(const std::vector<Value> &list) {
    for (const Value &v : list)
      value(v);
  }
  void values(const Namespace &names) {
    for (const auto &[name, v] : names.items())
      value(v);
  }
  void values(const CallArgs &args) {
    values(args.positional);
    for (const auto &[name, v] : args.keywords)
      value(v);
  }
};

/// The extension point: whatever the evaluator itself does not know is an Object. The defaults
/// refuse with a diagnostic that names typeName(); nullopt means "not supported by this object", so
/// that the other operand is asked.
class Object : public std::enable_shared_from_this<Object> {
public:
  virtual ~Object() = default;
  virtual std::string typeName() const = 0;
  virtual std::string repr() const;
  virtual std::optional<Value> getAttr(Interpreter &, std::string_view name);
  /// The function that `self.name(…)` calls with `self` before its arguments, where that is all
  /// there is to it; null: getAttr() says.
  virtual const Value *methodFor(std::string_view /*name*/) { return nullptr; }
  virtual bool setAttr(Interpreter &, std::string_view name, const Value &value);
  virtual bool delAttr(Interpreter &, std::string_view name);
  virtual bool isCallable() const { return false; }
  virtual Value call(Interpreter &, CallArgs args);
  virtual std::optional<Value> getItem(Interpreter &, const Value &key);
  virtual bool setItem(Interpreter &, const Value &key, const Value &value);
  virtual std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                        bool reflected);
  /// `x op= y`; nullopt falls back to binaryOp and rebinding.
  virtual std::optional<Value> inPlaceOp(Interpreter &, BinaryOp, const Value &other);
  virtual std::optional<Value> unaryOp(Interpreter &, UnaryOp);
  virtual std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                                       bool reflected);
  virtual bool truth(Interpreter &) { return true; }
  virtual std::optional<Value> length(Interpreter &);
  virtual std::optional<std::vector<Value>> iterate(Interpreter &);
  virtual std::optional<bool> contains(Interpreter &, const Value &);
  /// copy.deepcopy(); nullopt: the object stands for itself, as functions and modules do.
  virtual std::optional<Value> deepCopy(Interpreter &) { return std::nullopt; }
  /// Equality and hash without an interpreter (dict keys, `is`-like comparisons); identity by
  /// default.
  virtual bool equals(const Object &other) const { return this == &other; }
  virtual std::optional<size_t> hash() const { return std::hash<const void *>()(this); }
  /// Whether equality or the text depend on a dynamic size.
  virtual bool isSymbolic() const { return false; }
  /// Before `next` takes its place as an attribute of `owner`: an exception where that may not be.
  virtual void beforeReplaced(Interpreter &, const Value & /*owner*/, std::string_view /*name*/,
                              const Value & /*next*/) {}
  /// The references by which it may be part of a ring.
  virtual void visitReferences(ReferenceVisitor &) const {}
  /// The class of the user's that it is of, though it is no Instance; null for others.
  virtual const Class *userClass() const { return nullptr; }

  /// Classes that are asked for all the time and that others derive from: objectAs() knows them
  /// without a search. Such a class has its `Told` and `told`, and its objects give the latter.
  enum class Base : uint8_t { Other, Tensor, SymbolicNumber };
  virtual Base baseKind() const { return Base::Other; }
};

template <typename T>
concept ToldByBase = requires { requires std::is_same_v<typename T::Told, T>; };

template <typename T> T *objectAs(Object *object) {
  if constexpr (ToldByBase<T>)
    return object && object->baseKind() == T::told ? static_cast<T *>(object) : nullptr;
  else if constexpr (std::is_final_v<T>)
    return object && &typeid(*object) == &typeid(T) ? static_cast<T *>(object) : nullptr;
  else
    return dynamic_cast<T *>(object);
}

/// torch.float32, tl.float32, tl.pointer_type(tl.float32).
class DType final : public Object {
public:
  enum class Family : uint8_t { Torch, Triton };
  DataType type;
  Family family;
  bool isPointer = false; ///< a pointer to `type` (Triton only)
  DType(DataType t, Family f, bool pointer = false) : type(t), family(f), isPointer(pointer) {}

  std::string typeName() const override {
    return family == Family::Torch ? "torch.dtype" : "triton.language.dtype";
  }
  std::string repr() const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override;
};

/// A name of the kernel language that the front end interprets: "tl.load", "tl.math.exp",
/// "libdevice.tanh", "tl.extra.cuda.globaltimer", whatever import spelling or alias led to it.
/// Attributes extend the path.
class NamedBuiltin : public Object {
public:
  const std::string name;
  explicit NamedBuiltin(std::string n) : name(std::move(n)) {}
  std::string typeName() const override { return "Triton built-in"; }
  std::string repr() const override { return name; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  /// Only what is plain Python in Triton too (tl.constexpr, tl.cdiv, tl.pointer_type …); the rest
  /// is refused.
  Value call(Interpreter &, CallArgs args) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return std::hash<std::string>()(name); }
};

/// The value that `triton.language.<path>` stands for: a DType where it names one, else a
/// NamedBuiltin.
Value tritonLanguageName(std::string_view path);

/// tl.constexpr(value).
class Constexpr final : public Object {
public:
  const Value value;
  explicit Constexpr(Value v) : value(std::move(v)) {}
  std::string typeName() const override { return "constexpr"; }
  std::string repr() const override { return "constexpr[" + host::repr(value) + "]"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> unaryOp(Interpreter &, UnaryOp) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  bool truth(Interpreter &) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return hashOf(value); }
  bool isSymbolic() const override { return host::isSymbolic(value); }
};

/// The value without its constexpr wrapper; a member of an IntEnum and its like as the number or
/// text that it is.
Value unwrapConstexpr(const Value &value);
/// What an instance of a class derived from dict, list, int, str … holds; any other value itself.
Value contentOf(const Value &value);

/// Something of a module that is not ours to run: it may be imported, stored, passed and used as an
/// annotation, base or known-safe decorator; calling it inside a function, or branching on it, is
/// refused with the place it came from.
class Opaque final : public Object {
public:
  const std::string path;                         ///< "argparse.ArgumentParser"
  const SourceLocation origin;                    ///< where it was imported or computed
  const std::shared_ptr<const Diagnostic> reason; ///< what refused the statement that would bind it
  Opaque(std::string p, SourceLocation o, std::shared_ptr<const Diagnostic> r = nullptr)
      : path(std::move(p)), origin(std::move(o)), reason(std::move(r)) {}
  std::string typeName() const override { return "unsupported value"; }
  std::string repr() const override { return "<" + path + ">"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  bool truth(Interpreter &) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return std::hash<std::string>()(path); }
  /// "'path' cannot be called here", with what made it unusable.
  [[noreturn]] void refuse(Interpreter &, std::string_view action) const;
};

} // namespace pellucid::host
