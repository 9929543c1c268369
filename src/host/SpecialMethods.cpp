// SPDX-License-Identifier: Apache-2.0
/// The methods by which Python's own types answer operators: what super() reaches in a class that
/// derives from dict, list, int or str, and what its instances do where it says nothing itself.
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

std::optional<Dict> mappingOf(Interpreter &interpreter, const Value &value) {
  Value plain = contentOf(value);
  if (plain.isDict())
    return plain.dictionary();
  if (!value.isObject() || value.as<Class>() || value.as<Opaque>())
    return std::nullopt;
  auto keys = interpreter.findAttr(value, "keys");
  if (!keys)
    return std::nullopt;
  Dict out;
  for (const Value &key : interpreter.iterate(interpreter.call(*keys)))
    out.set(key, interpreter.getItem(value, key));
  return out;
}

std::optional<Value> attributeIfAny(Interpreter &interpreter, const Value &object,
                                    std::string_view name) {
  try {
    return interpreter.findAttr(object, name);
  } catch (const RaisedError &error) {
    if (interpreter.isInstance(error.exception, Value(interpreter.builtinClass("AttributeError"))))
      return std::nullopt;
    throw;
  }
}

namespace {

class SpecialMethodTable {
public:
  SpecialMethodTable(Interpreter &i, const std::string &t)
      : attributes(i.builtinClass(t)->attributes), type(t) {}
  void operator()(const std::string &name, const char *signature, NativeFunction::Body body) const {
    if (!attributes.find(name))
      attributes.set(name, native(type + "." + name, signature, std::move(body)));
  }

private:
  Namespace &attributes;
  std::string type;
};

constexpr std::string_view binaryNames[] = {"add", "sub", "mul",     "matmul", "truediv",
                                            "mod", "pow", "lshift",  "rshift", "or",
                                            "xor", "and", "floordiv"};

/// `__add__` and `__radd__`. What the types do not take is NotImplemented, so that the other
/// operand is asked.
void addOperators(Interpreter &interpreter, const std::string &type,
                  std::initializer_list<BinaryOp> operators, bool reflected) {
  SpecialMethodTable add(interpreter, type);
  for (BinaryOp op : operators) {
    std::string name(binaryNames[size_t(op)]);
    auto method = [op](bool swapped) {
      return [op, swapped](Interpreter &i, Bound &a) {
        Value other = contentOf(a[1]);
        if (other.isObject() && !other.as<Constexpr>())
          return *i.builtin("NotImplemented");
        return swapped ? i.binary(op, other, a[0]) : i.binary(op, a[0], other);
      };
    };
    add("__" + name + "__", "self, other", method(false));
    if (reflected)
      add("__r" + name + "__", "self, other", method(true));
  }
}

void addComparisons(Interpreter &interpreter, const std::string &type) {
  SpecialMethodTable add(interpreter, type);
  static constexpr const char *names[] = {"__eq__", "__ne__", "__lt__",
                                          "__le__", "__gt__", "__ge__"};
  for (size_t op = 0; op < std::size(names); ++op)
    add(names[op], "self, other", [op](Interpreter &i, Bound &a) {
      Value other = contentOf(a[1]);
      bool ordered = op > size_t(CompareOp::Ne);
      if (ordered && other.isObject())
        return *i.builtin("NotImplemented");
      return i.compare(static_cast<CompareOp>(op), a[0], other);
    });
  add("__repr__", "self", [](Interpreter &i, Bound &a) { return Value(i.repr(a[0])); });
  // The others' text is what their __repr__ says, a subclass's own included.
  if (type == "str")
    add("__str__", "self", [](Interpreter &i, Bound &a) { return Value(i.str(a[0])); });
  if (type == "str" || type == "int" || type == "float" || type == "bool")
    add("__format__", "self, format_spec", [](Interpreter &i, Bound &a) {
      return Value(i.format(a[0], i.toStr(a[1], "format_spec")));
    });
}

void addItems(Interpreter &interpreter, const std::string &type) {
  SpecialMethodTable add(interpreter, type);
  add("__len__", "self", [](Interpreter &i, Bound &a) { return i.length(a[0]); });
  add("__contains__", "self, item",
      [](Interpreter &i, Bound &a) { return Value(i.contains(a[0], a[1])); });
  add("__iter__", "self", [](Interpreter &i, Bound &a) {
    return Value(std::make_shared<Iterator>("iterator", i.iterate(a[0])));
  });
  if (type != "set" && type != "frozenset" && type != "dict")
    add("__getitem__", "self, key", [](Interpreter &i, Bound &a) { return i.getItem(a[0], a[1]); });
  if (type != "list" && type != "dict")
    return;
  add("__setitem__", "self, key, value",
      [](Interpreter &i, Bound &a) { return i.setItem(a[0], a[1], a[2]), Value(); });
  add("__delitem__", "self, key",
      [](Interpreter &i, Bound &a) { return i.delItem(a[0], a[1]), Value(); });
}

/// dict.__getitem__ asks the class of an instance for what the dict lacks.
Value dictItem(Interpreter &interpreter, Bound &a) {
  Value content = contentOf(a[0]);
  if (!content.isDict())
    interpreter.raise("TypeError", "dict.__getitem__ needs a dict, got " + typeName(a[0]));
  auto *instance = a[0].as<Instance>();
  bool isKey = hashOf(a[1]).has_value();
  if (isKey && instance && !content.dictionary().find(a[1]))
    if (auto missing = instance->special(interpreter, "__missing__"))
      return interpreter.call(*missing, {a[1]});
  return interpreter.getItem(content, a[1]);
}

void addNumberMethods(Interpreter &interpreter, const std::string &type) {
  SpecialMethodTable add(interpreter, type);
  add("__neg__", "self", [](Interpreter &i, Bound &a) { return i.unary(UnaryOp::Minus, a[0]); });
  add("__pos__", "self", [](Interpreter &i, Bound &a) { return i.unary(UnaryOp::Plus, a[0]); });
  add("__bool__", "self", [](Interpreter &i, Bound &a) { return Value(i.truth(a[0])); });
  add("__abs__", "self",
      [](Interpreter &i, Bound &a) { return i.call(*i.builtin("abs"), {a[0]}); });
  for (const char *conversion : {"int", "float"})
    add("__" + std::string(conversion) + "__", "self", [conversion](Interpreter &i, Bound &a) {
      return i.call(Value(i.builtinClass(conversion)), {a[0]});
    });
  if (type == "int") {
    add("__index__", "self", [](Interpreter &, Bound &a) {
      return a[0].isBool() ? Value(int64_t(a[0].boolean())) : a[0];
    });
    add("__invert__", "self",
        [](Interpreter &i, Bound &a) { return i.unary(UnaryOp::Invert, a[0]); });
  }
}

/// `list.__init__(self, elements)`: what was held before is replaced.
void addInitialisers(Interpreter &interpreter) {
  SpecialMethodTable list(interpreter, "list"), set(interpreter, "set");
  list("__init__", "self, iterable=()", [](Interpreter &i, Bound &a) {
    List elements = i.iterate(a[1]);
    a[0].list() = std::move(elements);
    return Value();
  });
  set("__init__", "self, iterable=()", [](Interpreter &i, Bound &a) {
    Value elements = i.call(Value(i.builtinClass("set")), {a[1]});
    a[0].elementSet() = elements.elementSet();
    return Value();
  });
  Namespace &dict = interpreter.builtinClass("dict")->attributes;
  dict.set("__init__", *dict.find("update"));
  auto inPlace = [](BinaryOp op) {
    return [op](Interpreter &i, CallArgs args) {
      Value self = args.positional.at(0), content = contentOf(self);
      Value changed = i.binary(op, content, contentOf(args.positional.at(1)));
      if (content.isList())
        content.list() = List(changed.list());
      else if (content.isDict())
        content.dictionary() = Dict(changed.dictionary());
      else
        content.elementSet() = Set(changed.elementSet());
      return self;
    };
  };
  interpreter.builtinClass("list")->attributes.set(
      "__iadd__", nativeRaw("list.__iadd__", [](Interpreter &i, CallArgs args) {
        Value self = args.positional.at(0), content = contentOf(self);
        for (Value &v : i.iterate(args.positional.at(1)))
          content.list().push_back(std::move(v));
        return self;
      }));
  dict.set("__ior__", nativeRaw("dict.__ior__", inPlace(BinaryOp::BitOr)));
  interpreter.builtinClass("set")->attributes.set(
      "__ior__", nativeRaw("set.__ior__", inPlace(BinaryOp::BitOr)));
}

} // namespace

void addSpecialMethods(Interpreter &interpreter) {
  using enum BinaryOp;
  for (const char *type : {"int", "float", "str", "list", "tuple", "dict", "set", "frozenset"})
    addComparisons(interpreter, type);
  for (const char *type : {"str", "list", "tuple", "dict", "set", "frozenset"})
    addItems(interpreter, type);
  for (const char *type : {"int", "float"}) {
    addOperators(interpreter, type, {Add, Sub, Mul, Div, Mod, Pow, FloorDiv}, true);
    addNumberMethods(interpreter, type);
  }
  addOperators(interpreter, "int", {LShift, RShift, BitOr, BitXor, BitAnd}, true);
  addOperators(interpreter, "str", {Add, Mul, Mod}, true);
  for (const char *type : {"list", "tuple"})
    addOperators(interpreter, type, {Add, Mul}, true);
  addOperators(interpreter, "dict", {BitOr}, true);
  for (const char *type : {"set", "frozenset"})
    addOperators(interpreter, type, {BitOr, BitAnd, BitXor, Sub}, true);
  addInitialisers(interpreter);
  for (const char *type : {"int", "float", "str", "list", "tuple", "dict", "set", "frozenset"})
    for (const auto &[name, value] : interpreter.builtinClass(type)->attributes.items())
      if (auto *method = value.as<NativeFunction>())
        method->ofContent = name != "__iadd__" && name != "__ior__";
  // These see the instance itself.
  interpreter.builtinClass("dict")->attributes.set(
      "__getitem__", native("dict.__getitem__", "self, key", dictItem));
}

// ---- namespaces as mappings
// ------------------------------------------------------------------------------------

namespace {

/// What globals(), vars(x) and x.__dict__ give: the names themselves, not a copy of them.
class NamesView : public Object {
public:
  NamesView(Value o, Namespace &n) : owner(std::move(o)), names(n) {}
  std::string typeName() const override { return "dict"; }
  std::string repr() const override { return host::repr(Value::dict(entries())); }

  std::optional<Value> getItem(Interpreter &interpreter, const Value &key) override {
    auto found = key.isStr() ? settled(interpreter, names, key.str()) : std::nullopt;
    if (!found)
      interpreter.raiseKey(key);
    return found;
  }
  bool setItem(Interpreter &interpreter, const Value &key, const Value &value) override {
    names.set(interpreter.toStr(key, "a name"), value);
    return true;
  }
  std::optional<bool> contains(Interpreter &, const Value &key) override {
    return key.isStr() && names.find(key.str()) != nullptr;
  }
  std::optional<Value> length(Interpreter &) override {
    return Value(static_cast<int64_t>(names.items().size()));
  }
  bool truth(Interpreter &) override { return !names.items().empty(); }
  std::optional<std::vector<Value>> iterate(Interpreter &) override {
    std::vector<Value> keys;
    for (const auto &[name, value] : names.items())
      keys.emplace_back(name);
    return keys;
  }
  std::optional<Value> compare(Interpreter &interpreter, CompareOp op, const Value &other,
                               bool) override {
    auto *view = other.as<NamesView>();
    return interpreter.compare(op, Value::dict(entries()),
                               view ? Value::dict(view->entries()) : other);
  }
  std::optional<Value> binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                bool reflected) override {
    auto *view = other.as<NamesView>();
    Value mine = Value::dict(entries()), theirs = view ? Value::dict(view->entries()) : other;
    return reflected ? interpreter.binary(op, theirs, mine) : interpreter.binary(op, mine, theirs);
  }
  std::optional<Value> getAttr(Interpreter &interpreter, std::string_view name) override {
    if (name == "__class__")
      return Value(interpreter.builtinClass("dict"));
    if (name != "update" && name != "pop" && name != "setdefault" && name != "clear" &&
        name != "__setitem__" && name != "__delitem__")
      return interpreter.findAttr(Value::dict(entries()), name);
    // A dict's method on a copy, whose entries are the names from then on.
    return nativeRaw("dict." + std::string(name),
                     [self = std::static_pointer_cast<NamesView>(shared_from_this()),
                      method = std::string(name)](Interpreter &i, CallArgs args) {
                       Value copy = Value::dict(self->entries());
                       Value result = i.call(i.getAttr(copy, method), std::move(args));
                       self->become(i, copy.dictionary());
                       return result;
                     });
  }
  bool remove(const Value &key) { return key.isStr() && names.erase(key.str()); }
  std::optional<Value> deepCopy(Interpreter &interpreter) override {
    return host::deepCopy(interpreter, Value::dict(entries()));
  }
  Dict entries() const {
    Dict out;
    for (const auto &[name, value] : names.items())
      out.set(Value(name), value);
    return out;
  }

private:
  Value owner; ///< keeps `names` alive
  Namespace &names;

  void become(Interpreter &interpreter, const Dict &dict) {
    for (const auto &[name, value] : std::vector(names.items()))
      if (!dict.find(std::string_view(name)))
        names.erase(name);
    for (const auto &[key, value] : dict.items())
      names.set(interpreter.toStr(key, "a name"), value);
  }
};

} // namespace

bool isNames(const Value &value) { return value.as<NamesView>() != nullptr; }

Value namesOf(Value owner, Namespace &names) {
  return Value(std::make_shared<NamesView>(std::move(owner), names));
}

std::optional<Dict> copyOfNames(const Value &mapping) {
  auto *view = mapping.as<NamesView>();
  return view ? std::optional(view->entries()) : std::nullopt;
}

bool removeName(const Value &mapping, const Value &key) {
  auto *view = mapping.as<NamesView>();
  return view && view->remove(key);
}

} // namespace pellucid::host
