// SPDX-License-Identifier: Apache-2.0
/// Functions, classes, instances and modules of the host evaluator.
#pragma once

#include "host/Value.h"
#include "syntax/Ast.h"

#include <set>

namespace pellucid::host {

class Class;

/// The names of one running function, class body or comprehension. A closure is the chain of
/// `parent`s, so that two functions made by one call share its variables.
struct Scope {
  enum class Form : uint8_t { Module, Function, Class, Comprehension };
  Form form = Form::Function;
  std::shared_ptr<Namespace> names; ///< a module scope's names are its globals
  std::shared_ptr<Namespace> globals;
  std::shared_ptr<Scope> parent; ///< lexically enclosing scope; null in modules
  std::shared_ptr<const syntax::Module> module;
  const std::set<std::string, std::less<>> *locals =
      nullptr; ///< Function: names bound here; else null
  const std::set<std::string, std::less<>> *globalNames = nullptr, *nonlocalNames = nullptr;
  const std::set<std::string, std::less<>> *cells =
      nullptr;                    ///< of the locals those that what is made in it reads
  std::weak_ptr<host::Class> cls; ///< Class: what its body makes; super() asks for it
  bool isCaptured = false;        ///< a function or class made in it may outlive its call
  bool isOld = false;             ///< see CycleCollector
};

/// ` at 0x7f…` in a script's texts; nothing where a model is traced.
std::string placeText(const void *place);

/// A function or lambda with the scope it was made in.
class Function final : public Object {
public:
  std::string name;
  const syntax::Arguments *parameters = nullptr;
  const syntax::FunctionDef *def = nullptr; ///< null for a lambda
  const syntax::Lambda *lambda = nullptr;   ///< null for a def
  std::shared_ptr<const syntax::Module> module;
  std::shared_ptr<Namespace> globals;
  std::shared_ptr<Scope> closure;                    ///< the scope it was defined in
  std::vector<Value> defaults;                       ///< of the last positional parameters
  std::vector<std::optional<Value>> keywordDefaults; ///< one per keyword-only parameter
  Namespace attributes;                              ///< f.attribute = value

  std::string typeName() const override { return "function"; }
  std::string repr() const override {
    return "<function " + qualifiedName() + placeText(this) + ">";
  }
  /// `Class.method`, `outer.<locals>.inner`.
  std::string qualifiedName() const;
  void visitReferences(ReferenceVisitor &) const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;

  /// The value of a free name in the body: enclosing functions, then globals, then builtins.
  std::optional<Value> lookup(Interpreter &, std::string_view name) const;
  /// `__annotations__`, evaluated now.
  Value annotations(Interpreter &) const;
  SourceLocation location() const;
};

/// Parameter names and defaults of a native function, bound as Python binds: "input, weight,
/// bias=None, *, dtype=None". Defaults are literals. `*args` and `**kwargs` collect into a tuple
/// and a dict. A trailing "/" is not needed.
class Signature {
public:
  explicit Signature(std::string_view text);
  /// One value per parameter, in order. Raises TypeError in Python's words.
  std::vector<Value> bind(Interpreter &, std::string_view function, const CallArgs &args) const;
  const std::string &text() const { return source; }

private:
  struct Parameter {
    enum class Form : uint8_t { Positional, KeywordOnly, Rest, KeywordRest } form;
    std::string name;
    std::optional<Value> fallback;
  };
  std::string source;
  std::vector<Parameter> parameters;
};

/// A function implemented in C++. As a class attribute it binds `self` like a Python function.
class NativeFunction final : public Object {
public:
  /// The arguments as the signature bound them.
  using Body = std::function<Value(Interpreter &, std::vector<Value> &)>;
  using RawBody = std::function<Value(Interpreter &, CallArgs)>;
  const std::string name; ///< qualified: "triton.cdiv", "len", "torch.nn.functional.linear"
  std::optional<std::string> signature; ///< as it was given; none: arguments are read by hand
  NativeFunction(std::string n, RawBody b) : name(std::move(n)), body(std::move(b)) {}
  NativeFunction(std::string n, std::string_view signature, Body b);
  /// With a signature that was read before.
  NativeFunction(std::string n, std::shared_ptr<const Signature> signature, Body b);

  std::string typeName() const override { return "builtin_function_or_method"; }
  std::string repr() const override { return "<built-in function " + name + ">"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &interpreter, CallArgs args) override;
  void visitReferences(ReferenceVisitor &visitor) const override {
    if (attributes)
      visitor.values(*attributes);
  }
  /// A method of dict, list, int, str …: it works on the content of an instance.
  bool ofContent = false;
  std::unique_ptr<Namespace> attributes; ///< what it has beside its name; null: nothing

private:
  RawBody body;
};

/// `native("linear", "input, weight, bias=None", [](Interpreter &, std::vector<Value> &a) -> Value
/// {...})`
Value native(std::string name, std::string_view signature, NativeFunction::Body body);
Value native(std::string name, std::shared_ptr<const Signature> signature,
             NativeFunction::Body body);
Value nativeRaw(std::string name, NativeFunction::RawBody body);

class BoundMethod final : public Object {
public:
  Value self, function;
  BoundMethod(Value s, Value f) : self(std::move(s)), function(std::move(f)) {}
  std::string typeName() const override { return "method"; }
  std::string repr() const override { return "<bound method>"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return hashOf(self); }
  void visitReferences(ReferenceVisitor &visitor) const override {
    visitor.value(self);
    visitor.value(function);
  }
};

/// property, staticmethod and classmethod objects in a class body.
class Descriptor : public Object {
public:
  enum class Form : uint8_t { Property, Static, Class } form;
  Value function, setter, deleter, doc;
  Descriptor(Form f, Value fn) : form(f), function(std::move(fn)) {}
  std::string typeName() const override;
  void visitReferences(ReferenceVisitor &visitor) const override {
    for (const Value *held : {&function, &setter, &deleter, &doc})
      visitor.value(*held);
  }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return form != Form::Property; }
  Value call(Interpreter &, CallArgs args) override;
};

class Instance;

/// A class: the user's, Python's own types and exceptions, or one built natively (nn.Module):
/// methods are Functions or NativeFunctions in `attributes`.
class Class final : public Object {
public:
  std::string name;
  std::string qualifiedName;                      ///< `outer.<locals>.Name`; empty: the name
  std::string module;                             ///< "builtins", "__main__", "torch.nn"
  std::vector<std::shared_ptr<Class>> bases, mro; ///< mro: the classes behind it, nearest first
  Namespace attributes;
  SourceLocation location;
  /// Makes a value without __init__ (int, list, torch.Size …); null: calls make an Instance.
  std::function<Value(Interpreter &, CallArgs)> construct;
  /// Whether a value that is no Instance belongs to it (int, torch.Tensor …); null: none does.
  std::function<bool(const Value &)> accepts;

  /// The base of a class that is not evaluated, an Opaque, in whose place this class stands.
  Value absent;
  std::shared_ptr<Class> meta; ///< its own class; null: type
  /// A metaclass of a library that is not here, whose methods are not run; empty without one.
  std::string absentMetaclass;
  std::vector<std::weak_ptr<Class>> registered; ///< by ABCMeta.register(): count as derived
  /// Its instances are read through a __getattribute__ of its own or of a base.
  bool readsOwnWay = false;
  bool hasFinalizer = false; ///< its instances are told that they go, by __del__
  bool isLocal = false;      ///< made while a function ran: it may go as early as its instances
  /// The names of __slots__, where its instances have no others.
  std::shared_ptr<const std::set<std::string, std::less<>>> slots;

  static std::shared_ptr<Class> make(std::string name, std::string module,
                                     std::vector<std::shared_ptr<Class>> bases = {});
  std::string typeName() const override { return "type"; }
  std::string repr() const override;
  void visitReferences(ReferenceVisitor &) const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
  bool delAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  bool setItem(Interpreter &, const Value &key, const Value &value) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  std::optional<Value> length(Interpreter &) override;
  std::optional<bool> contains(Interpreter &, const Value &) override;
  bool truth(Interpreter &) override;

  /// What type.__call__ does: an instance by __new__ and __init__, past the metaclass's __call__.
  Value makeInstance(Interpreter &, CallArgs args);
  /// Past the metaclass's __setattr__.
  void setOrdinaryAttr(std::string_view name, const Value &value);
  /// `list[int]`, `Generic[T]`: the class itself; enums look members up.
  std::optional<Value> memberOrForm(Interpreter &, const Value &key);
  std::vector<Value> members() const; ///< of an enum, without aliases
  /// The attribute of the metaclass, unbound, `type`'s own left out; null when absent.
  const Value *ofMeta(std::string_view name) const;
  /// The special method of a file's own metaclass, bound to this class.
  std::optional<Value> special(std::string_view name) const;

  /// The attribute along the mro, unbound; null when absent. `after`: start behind that class
  /// (super()).
  const Value *find(std::string_view name, const Class *after = nullptr) const;
  bool isSubclassOf(const Class &other) const;
};

class Instance final : public Object {
public:
  const Value *methodFor(std::string_view name) override;
  std::shared_ptr<Class> cls;
  Namespace attributes;
  std::shared_ptr<Object> payload; ///< native state of natively built classes
  /// What it holds as an instance of dict, list, int, str …, where its class derives from one.
  std::optional<Value> content;
  bool isOld = false;       ///< see CycleCollector
  bool isWatched = false;   ///< somebody wants to know when it goes: weakref.ref with a callback
  bool isFinalised = false; ///< its __del__ has run
  explicit Instance(std::shared_ptr<Class> c) : cls(std::move(c)) {}
  ~Instance() override;

  std::string typeName() const override { return cls->name; }
  void visitReferences(ReferenceVisitor &) const override;
  std::string repr() const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
  bool delAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return cls->find("__call__") != nullptr; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  bool setItem(Interpreter &, const Value &key, const Value &value) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> inPlaceOp(Interpreter &, BinaryOp, const Value &other) override;
  std::optional<Value> unaryOp(Interpreter &, UnaryOp) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  bool truth(Interpreter &) override;
  std::optional<Value> length(Interpreter &) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  std::optional<bool> contains(Interpreter &, const Value &) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override;
  bool isSymbolic() const override;
  /// Reading and writing as `object` does: past __getattribute__ and __setattr__ of the class.
  std::optional<Value> ordinaryAttr(Interpreter &, std::string_view name);
  void setOrdinaryAttr(Interpreter &, std::string_view name, const Value &value);
  /// The bound special method, or nullopt; the instance's own attributes do not count, as in
  /// Python.
  std::optional<Value> special(Interpreter &, std::string_view name);
};

/// A user's file or a native module.
class Module final : public Object {
public:
  std::string name; ///< dotted import name
  std::shared_ptr<Namespace> globals = std::make_shared<Namespace>();
  std::shared_ptr<const syntax::Module> syntax; ///< null for native modules and namespace packages
  std::string packageFolder; ///< where relative imports look; empty for native modules
  bool isPackage = false;
  /// What the file put in its place in sys.modules: has the names that it lacks itself.
  Value replacement;
  /// What an absent attribute gives (native modules: an Opaque); null: an AttributeError.
  std::function<std::optional<Value>(Interpreter &, std::string_view)> fallback;
  /// Told of what is assigned to (native modules with settings); null: nobody is.
  std::function<void(Interpreter &, std::string_view, const Value &)> assigned;

  explicit Module(std::string n) : name(std::move(n)) {}
  std::string typeName() const override { return "module"; }
  std::string repr() const override { return "<module '" + name + "'>"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setAttr(Interpreter &, std::string_view name, const Value &value) override;
};

/// `a op b` of symbolic integers.
symbolic::Expr symbolicComparison(CompareOp op, const symbolic::Expr &a, const symbolic::Expr &b);

/// The comparison that holds of (b, a) where `op` holds of (a, b).
CompareOp mirrored(CompareOp op);

/// A float that depends on a dynamic dimension, or on what a tensor holds: arithmetic that whoever
/// traces computes when the program runs.
class SymFloat : public Object {
public:
  using Told = SymFloat;
  static constexpr Base told = Base::SymbolicNumber;
  /// What `operands` are put together by: a BinaryOp, "neg", a function of `math`, or nothing for
  /// the one operand itself, which is a number, a SymInt or a SymFloat.
  std::variant<std::monostate, BinaryOp, std::string> operation;
  std::vector<Value> operands;
  /// The two ends of a refusal: "a float that depends on …", and what to write instead.
  virtual std::string description() const;
  virtual std::string advice() const;
  /// Whether it is an int all the same: a count that a tensor holds.
  virtual bool isWhole() const { return false; }
  Base baseKind() const final { return Base::SymbolicNumber; }
  explicit SymFloat(Value v) : operands{std::move(v)} {}
  SymFloat(BinaryOp op, Value a, Value b) : operation(op), operands{std::move(a), std::move(b)} {}
  SymFloat(std::string function, Value v)
      : operation(std::move(function)), operands{std::move(v)} {}

  std::string typeName() const override { return isWhole() ? "int" : "float"; }
  std::string repr() const override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp op, const Value &other,
                                bool reflected) override;
  std::optional<Value> unaryOp(Interpreter &, UnaryOp op) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &, bool) override;
  bool isSymbolic() const override { return true; }
  bool truth(Interpreter &) override;
  bool equals(const Object &other) const override;
  /// Refuses what needs the number itself: "cannot be compared".
  [[noreturn]] void refuse(Interpreter &, std::string_view action) const;
};

/// n / d of a dynamic size, kept exact until math.ceil, math.floor or int() makes it an integer.
class SymQuotient : public SymFloat {
public:
  symbolic::Expr numerator, denominator;
  SymQuotient(const symbolic::Expr &n, const symbolic::Expr &d);
};

/// Whether a value is a number whose amount depends on a dynamic dimension.
bool isSymbolicNumber(const Value &value);

/// The class a value belongs to for isinstance and type(), asked of each registered class in turn.
bool isInstance(const Value &value, const Class &cls);

} // namespace pellucid::host
