// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/TypeForm.h"

#include <algorithm>
#include <map>

namespace pellucid::host {

// ---- classes
// -------------------------------------------------------------------------------------------------------

/// C3 merge of the bases' orders; empty when there is none.
static std::vector<std::shared_ptr<Class>>
linearize(std::vector<std::vector<std::shared_ptr<Class>>> sequences) {
  std::vector<std::shared_ptr<Class>> out;
  for (;;) {
    std::erase_if(sequences, [](const auto &s) { return s.empty(); });
    if (sequences.empty())
      return out;
    std::shared_ptr<Class> next;
    for (const auto &s : sequences) {
      bool blocked = std::any_of(sequences.begin(), sequences.end(), [&](const auto &other) {
        return std::find(other.begin() + 1, other.end(), s.front()) != other.end();
      });
      if (!blocked) {
        next = s.front();
        break;
      }
    }
    if (!next)
      return {};
    out.push_back(next);
    for (auto &s : sequences)
      if (s.front() == next)
        s.erase(s.begin());
  }
}

std::shared_ptr<Class> Class::make(std::string name, std::string module,
                                   std::vector<std::shared_ptr<Class>> bases) {
  auto cls = std::make_shared<Class>();
  cls->name = std::move(name);
  cls->module = std::move(module);
  cls->bases = std::move(bases);
  std::vector<std::vector<std::shared_ptr<Class>>> sequences;
  for (const auto &base : cls->bases) {
    // A class does not hold itself; its own order gets it in front.
    std::vector<std::shared_ptr<Class>> order{base};
    order.insert(order.end(), base->mro.begin(), base->mro.end());
    sequences.push_back(std::move(order));
  }
  sequences.push_back(cls->bases);
  cls->mro = linearize(std::move(sequences));
  return cls;
}

std::string Class::repr() const {
  return "<class '" + (module.empty() || module == "builtins" ? name : module + "." + name) + "'>";
}

const Value *Class::find(std::string_view wanted, const Class *after) const {
  bool started = !after;
  if (started)
    if (const Value *found = attributes.find(wanted))
      return found;
  started = started || after == this;
  for (const auto &c : mro) {
    if (started)
      if (const Value *found = c->attributes.find(wanted))
        return found;
    started = started || c.get() == after;
  }
  return nullptr;
}

bool Class::isSubclassOf(const Class &other) const {
  return this == &other || other.name == "object" ||
         std::any_of(mro.begin(), mro.end(), [&](const auto &c) { return c.get() == &other; });
}

static std::shared_ptr<Class> selfOf(const Class &cls) {
  return std::static_pointer_cast<Class>(const_cast<Class &>(cls).shared_from_this());
}

Value makerOfInstances() {
  return nativeRaw("object.__new__", [](Interpreter &interpreter, CallArgs args) {
    auto cls = args.positional.empty() ? nullptr : args.positional[0].shared<Class>();
    if (!cls)
      interpreter.raise("TypeError", "object.__new__(X): X is not a type object");
    args.positional.erase(args.positional.begin());
    return Value(newInstance(interpreter, cls, args));
  });
}

void refuseAbsentBases(Interpreter &interpreter, const std::string &what, const Class &cls) {
  for (const auto &c : cls.mro) {
    if (c->module != "opaque")
      continue;
    if (auto *opaque = c->absent.as<Opaque>(); opaque && opaque->reason)
      opaque->refuse(interpreter, "inherited from");
    interpreter.refuse(what + " " + c->name + ", which is not supported in host code");
  }
}

/// What `__get__` of a class attribute gives; nullopt where it has none.
std::optional<Value> describedBy(Interpreter &interpreter, const Value &attribute,
                                 const Value &instance, const Value &owner) {
  auto *descriptor = attribute.as<Instance>();
  auto getter = descriptor ? descriptor->special(interpreter, "__get__") : std::nullopt;
  return getter ? std::optional(interpreter.call(*getter, {instance, owner})) : std::nullopt;
}

/// Whether an attribute of the class goes before the instance's own: a property, or what has
/// `__set__`.
static bool isDataDescriptor(const Value *onClass) {
  if (!onClass)
    return false;
  if (auto *d = onClass->as<Descriptor>())
    return d->form == Descriptor::Form::Property;
  auto *descriptor = onClass->as<Instance>();
  return descriptor && descriptor->cls->find("__set__");
}

std::optional<Value> Class::getAttr(Interpreter &interpreter, std::string_view attribute) {
  if (attribute == "__annotations__")
    return annotationsOf(interpreter, *this);
  if (const Value *found = find(attribute)) {
    if (auto *d = found->as<Descriptor>()) {
      if (d->form == Descriptor::Form::Static)
        return d->function;
      if (d->form == Descriptor::Form::Class)
        return Value(std::make_shared<BoundMethod>(Value(shared_from_this()), d->function));
    }
    if (auto got = describedBy(interpreter, *found, Value(), Value(shared_from_this())))
      return got;
    return *found;
  }
  if (attribute == "__name__" || attribute == "__qualname__")
    return Value(name);
  if (attribute == "__module__")
    return Value(module);
  if (attribute == "__mro__" || attribute == "__bases__") {
    Tuple out;
    if (attribute == "__mro__")
      out.emplace_back(shared_from_this());
    for (const auto &c : attribute == "__mro__" ? mro : bases)
      out.emplace_back(c);
    return Value::tuple(std::move(out));
  }
  if (attribute == "__doc__")
    return Value();
  if (attribute == "__subclasses__")
    return nativeRaw("type.__subclasses__", [self = selfOf(*this)](Interpreter &i, CallArgs) {
      List out;
      for (const auto &made : i.state().madeClasses)
        if (auto cls = made.lock();
            cls && std::find(cls->bases.begin(), cls->bases.end(), self) != cls->bases.end())
          out.emplace_back(cls);
      return Value::list(std::move(out));
    });
  if (attribute == "mro")
    return nativeRaw("type.mro", [self = selfOf(*this)](Interpreter &i, CallArgs) {
      return Value::list(i.getAttr(Value(self), "__mro__").tuple());
    });
  if (attribute == "__new__")
    return makerOfInstances();
  if (attribute == "__dict__") {
    Dict out;
    for (const auto &[key, value] : attributes.items())
      out.set(Value(key), key == "__annotations__" ? annotationsOf(interpreter, *this) : value);
    return Value::dict(std::move(out));
  }
  refuseAbsentBases(interpreter,
                    "'" + std::string(attribute) + "' of class '" + name + "' comes from", *this);
  return rootMethod(attribute);
}

bool Class::setAttr(Interpreter &, std::string_view attribute, const Value &value) {
  attributes.set(attribute, value);
  readsOwnWay = readsOwnWay || attribute == "__getattribute__";
  return true;
}

/// dict, list, int, str …: types whose values an instance of a derived class can hold.
static bool isContentType(const Class &cls) {
  static const NameSet names = {"int", "float", "str", "list", "tuple", "dict", "set", "frozenset"};
  return cls.module == "builtins" && names.count(cls.name) != 0;
}

static const Class *contentTypeOf(const Class &cls) {
  auto found =
      std::find_if(cls.mro.begin(), cls.mro.end(), [](const auto &c) { return isContentType(*c); });
  return found == cls.mro.end() ? nullptr : found->get();
}

std::shared_ptr<Instance> newInstance(Interpreter &interpreter, const std::shared_ptr<Class> &cls,
                                      const CallArgs &args) {
  auto instance = std::make_shared<Instance>(cls);
  const Class *type = contentTypeOf(*cls);
  if (!type)
    return instance;
  // What can change is filled by __init__; a named tuple's __init__ knows its fields.
  bool filledLater =
      type->name == "dict" || type->name == "list" || type->name == "set" || cls->find("_fields");
  instance->content = type->construct(interpreter, filledLater ? CallArgs() : args);
  return instance;
}

static bool isPropertyType(const Class &cls) {
  return cls.name == "property" && cls.module == "builtins";
}

static void warnOfMetaclass(Interpreter &interpreter, const Class &made, const Class &cls) {
  if (!cls.metaclass.empty())
    interpreter.hooks().warn(Diagnostic(Severity::Warning, cls.location,
                                        "the metaclass '" + cls.metaclass + "' is left out: '" +
                                            made.name + "' is made without its methods"));
}

Value Class::call(Interpreter &interpreter, CallArgs args) {
  if (construct)
    return construct(interpreter, std::move(args));
  warnOfMetaclass(interpreter, *this, *this);
  for (const auto &c : mro)
    warnOfMetaclass(interpreter, *this, *c);
  refuseAbsentBases(interpreter, "class '" + name + "' inherits from", *this);
  for (const auto &c : mro) {
    if (c->construct && !isContentType(*c) && !isPropertyType(*c))
      return c->construct(interpreter, std::move(args));
  }
  const Value *maker = find("__new__");
  Value self;
  if (maker) {
    CallArgs making = args;
    making.positional.insert(making.positional.begin(), Value(shared_from_this()));
    self = interpreter.call(*maker, std::move(making));
  } else {
    self = Value(newInstance(interpreter, selfOf(*this), args));
  }
  auto *instance = self.as<Instance>();
  if (!instance || !instance->cls->isSubclassOf(*this))
    return self;
  if (const Value *init = find("__init__")) {
    args.positional.insert(args.positional.begin(), self);
    interpreter.call(*init, std::move(args));
  } else if (!maker && !instance->content && (!args.positional.empty() || !args.keywords.empty()))
    interpreter.raise("TypeError", name + "() takes no arguments");
  return self;
}

std::optional<Value> Class::length(Interpreter &interpreter) {
  auto members = iterate(interpreter);
  return members ? std::optional(Value(static_cast<int64_t>(members->size()))) : std::nullopt;
}

std::optional<Value> Class::getItem(Interpreter &interpreter, const Value &key) {
  const Value *members = find("__members__");
  if (!members || !members->isDict())
    return subscripted(interpreter, Value(shared_from_this()), name, key);
  if (const Value *found = members->dictionary().find(key))
    return *found;
  interpreter.raise("KeyError", interpreter.repr(key));
}

std::optional<Value> Class::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                     bool reflected) {
  if (op != BinaryOp::BitOr)
    return std::nullopt;
  Value self(shared_from_this());
  return reflected ? unionOf(interpreter, {other, self}) : unionOf(interpreter, {self, other});
}

std::optional<std::vector<Value>> Class::iterate(Interpreter &) {
  const Value *members = find("__members__");
  if (!members || !members->isDict())
    return std::nullopt;
  std::vector<Value> out;
  for (const auto &[key, value] : members->dictionary().items())
    if (value.expect<Instance>("an enum member").attributes.at("name").str() ==
        key.str()) // no alias
      out.push_back(value);
  return out;
}

// ---- instances
// -----------------------------------------------------------------------------------------------------

std::string Instance::repr() const { return "<" + cls->name + " object>"; }

std::optional<Value> Instance::special(Interpreter &, std::string_view name) {
  const Value *found = cls->find(name);
  if (!found || found->isNone())
    return std::nullopt;
  return Value(std::make_shared<BoundMethod>(Value(shared_from_this()), *found));
}

/// A class attribute seen through an instance.
static Value bindAttribute(Interpreter &interpreter, Instance &self, const Value &found) {
  Value me(self.shared_from_this());
  if (auto *d = found.as<Descriptor>())
    switch (d->form) {
    case Descriptor::Form::Property:
      return interpreter.call(d->function, {me});
    case Descriptor::Form::Static:
      return d->function;
    case Descriptor::Form::Class:
      return Value(std::make_shared<BoundMethod>(Value(self.cls), d->function));
    }
  if (found.as<Function>() || found.as<NativeFunction>())
    return Value(std::make_shared<BoundMethod>(me, found));
  return describedBy(interpreter, found, me, Value(self.cls)).value_or(found);
}

std::optional<Value> Instance::getAttr(Interpreter &interpreter, std::string_view name) {
  if (!cls->readsOwnWay)
    return ordinaryAttr(interpreter, name);
  Value reader = *special(interpreter, "__getattribute__");
  try {
    return interpreter.call(reader, {Value(name)});
  } catch (const RaisedError &error) {
    auto hook = special(interpreter, "__getattr__");
    if (!hook ||
        !interpreter.isInstance(error.exception, Value(interpreter.builtinClass("AttributeError"))))
      throw;
    return interpreter.call(*hook, {Value(name)});
  }
}

std::optional<Value> Instance::ordinaryAttr(Interpreter &interpreter, std::string_view name) {
  const Value *onClass = cls->find(name);
  if (isDataDescriptor(onClass))
    return bindAttribute(interpreter, *this, *onClass);
  if (const Value *found = attributes.find(name))
    return *found;
  if (onClass)
    return bindAttribute(interpreter, *this, *onClass);
  if (name == "__class__")
    return Value(cls);
  if (name == "__dict__")
    return namesOf(Value(shared_from_this()), attributes);
  if (name == "__annotations__" || name == "__doc__" || name == "__module__")
    return cls->getAttr(interpreter, name);
  if (auto hook = cls->readsOwnWay ? std::nullopt : special(interpreter, "__getattr__"))
    return interpreter.call(*hook, {Value(name)});
  refuseAbsentBases(interpreter,
                    "'" + std::string(name) + "' of class '" + cls->name + "' comes from", *cls);
  auto root = rootMethod(name);
  return root
             ? std::optional(Value(std::make_shared<BoundMethod>(Value(shared_from_this()), *root)))
             : std::nullopt;
}

bool Instance::setAttr(Interpreter &interpreter, std::string_view name, const Value &value) {
  if (auto hook = special(interpreter, "__setattr__")) {
    interpreter.call(*hook, {Value(name), value});
    return true;
  }
  setOrdinaryAttr(interpreter, name, value);
  return true;
}

void Instance::setOrdinaryAttr(Interpreter &interpreter, std::string_view name,
                               const Value &value) {
  const Value *onClass = cls->find(name);
  if (auto *d = onClass ? onClass->as<Descriptor>() : nullptr;
      d && d->form == Descriptor::Form::Property) {
    if (d->setter.isNone())
      interpreter.raise("AttributeError", "property '" + std::string(name) + "' of '" + cls->name +
                                              "' object has no setter");
    interpreter.call(d->setter, {Value(shared_from_this()), value});
    return;
  }
  if (auto *descriptor = onClass ? onClass->as<Instance>() : nullptr)
    if (auto setter = descriptor->special(interpreter, "__set__")) {
      interpreter.call(*setter, {Value(shared_from_this()), value});
      return;
    }
  attributes.set(name, value);
}

bool Instance::delAttr(Interpreter &interpreter, std::string_view name) {
  if (auto hook = special(interpreter, "__delattr__")) {
    interpreter.call(*hook, {Value(name)});
    return true;
  }
  return attributes.erase(name);
}

Value Instance::call(Interpreter &interpreter, CallArgs args) {
  auto method = special(interpreter, "__call__");
  if (!method)
    interpreter.raise("TypeError", "'" + cls->name + "' object is not callable");
  return interpreter.call(*method, std::move(args));
}

std::optional<Value> Instance::getItem(Interpreter &interpreter, const Value &key) {
  auto method = special(interpreter, "__getitem__");
  return method ? std::optional(interpreter.call(*method, {key})) : std::nullopt;
}

bool Instance::setItem(Interpreter &interpreter, const Value &key, const Value &value) {
  auto method = special(interpreter, "__setitem__");
  if (!method)
    return false;
  interpreter.call(*method, {key, value});
  return true;
}

static constexpr std::string_view operatorNames[] = {"add", "sub", "mul",     "matmul", "truediv",
                                                     "mod", "pow", "lshift",  "rshift", "or",
                                                     "xor", "and", "floordiv"};

static std::optional<Value> notImplementedIsNothing(Interpreter &interpreter, Value v) {
  if (const Value *marker = interpreter.builtin("NotImplemented"); marker && v.isSame(*marker))
    return std::nullopt;
  return v;
}

std::optional<Value> Instance::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                        bool reflected) {
  std::string name =
      std::string(reflected ? "__r" : "__") + std::string(operatorNames[size_t(op)]) + "__";
  auto method = special(interpreter, name);
  return method ? notImplementedIsNothing(interpreter, interpreter.call(*method, {other}))
                : std::nullopt;
}

std::optional<Value> Instance::inPlaceOp(Interpreter &interpreter, BinaryOp op,
                                         const Value &other) {
  auto method = special(interpreter, "__i" + std::string(operatorNames[size_t(op)]) + "__");
  return method ? notImplementedIsNothing(interpreter, interpreter.call(*method, {other}))
                : std::nullopt;
}

std::optional<Value> Instance::unaryOp(Interpreter &interpreter, UnaryOp op) {
  static constexpr const char *names[] = {"__invert__", "__pos__", "__neg__"};
  auto method = special(interpreter, names[size_t(op)]);
  return method ? std::optional(interpreter.call(*method)) : std::nullopt;
}

std::optional<Value> Instance::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                       bool) {
  static constexpr const char *names[] = {"__eq__", "__ne__", "__lt__",
                                          "__le__", "__gt__", "__ge__"};
  if (auto method = special(interpreter, names[size_t(op)]))
    return notImplementedIsNothing(interpreter, interpreter.call(*method, {other}));
  if (op != CompareOp::Ne)
    return std::nullopt;
  auto equality = compare(interpreter, CompareOp::Eq, other, false);
  return equality ? std::optional(Value(!interpreter.truth(*equality))) : std::nullopt;
}

bool Instance::truth(Interpreter &interpreter) {
  if (auto method = special(interpreter, "__bool__"))
    return interpreter.truth(interpreter.call(*method));
  if (auto method = special(interpreter, "__len__"))
    return interpreter.truth(interpreter.call(*method));
  return true;
}

std::optional<Value> Instance::length(Interpreter &interpreter) {
  auto method = special(interpreter, "__len__");
  return method ? std::optional(interpreter.call(*method)) : std::nullopt;
}

/// What `__next__` gives until it raises StopIteration, or `f` returns false.
static void streamNext(Interpreter &interpreter, const Value &iterator,
                       const std::function<bool(const Value &)> &f) {
  Value next = interpreter.getAttr(iterator, "__next__");
  for (;;) {
    Value element;
    try {
      element = interpreter.call(next);
    } catch (const RaisedError &error) {
      if (interpreter.isInstance(error.exception, Value(interpreter.builtinClass("StopIteration"))))
        return;
      throw;
    }
    if (!f(element))
      return;
  }
}

void streamInstance(Interpreter &interpreter, Instance &instance,
                    const std::function<bool(const Value &)> &f) {
  Value self(instance.shared_from_this());
  if (auto method = instance.special(interpreter, "__iter__")) {
    Value iterator = interpreter.call(*method);
    auto *own = iterator.as<Instance>();
    if (own && own->cls->find("__next__"))
      streamNext(interpreter, iterator, f);
    else
      forEach(interpreter, iterator, f);
    return;
  }
  if (!instance.special(interpreter, "__getitem__"))
    interpreter.raise("TypeError", "'" + instance.cls->name + "' object is not iterable");
  // The older protocol: [0], [1] … until IndexError.
  for (int64_t i = 0;; ++i) {
    Value element;
    try {
      element = interpreter.getItem(self, Value(i));
    } catch (const RaisedError &error) {
      if (interpreter.isInstance(error.exception, Value(interpreter.builtinClass("IndexError"))))
        return;
      throw;
    }
    if (!f(element))
      return;
  }
}

std::optional<std::vector<Value>> Instance::iterate(Interpreter &interpreter) {
  std::vector<Value> out;
  streamInstance(interpreter, *this, [&](const Value &v) {
    checkLength(interpreter, out.size());
    out.push_back(v);
    return true;
  });
  return out;
}

std::optional<bool> Instance::contains(Interpreter &interpreter, const Value &value) {
  auto method = special(interpreter, "__contains__");
  return method ? std::optional(interpreter.truth(interpreter.call(*method, {value})))
                : std::nullopt;
}

static const Value *fieldNames(const Instance &instance) {
  return instance.cls->find("__match_args__");
}

/// The fields by which natively made classes (named tuples, dataclasses) compare as dict keys.
static const Value *comparedNames(const Instance &instance) {
  const Value *names = instance.cls->find("__compared_fields__");
  if (!names)
    return fieldNames(instance);
  return names->isTuple() ? names : nullptr;
}

/// What of `value` is its own: containers and instances, each once.
class DeepCopier {
public:
  explicit DeepCopier(Interpreter &i) : interpreter(i) {}

  Value copy(const Value &value) {
    const void *identity = value.isList()     ? static_cast<const void *>(&value.list())
                           : value.isDict()   ? static_cast<const void *>(&value.dictionary())
                           : value.isObject() ? static_cast<const void *>(value.object().get())
                                              : nullptr;
    if (auto known = identity ? made.find(identity) : made.end(); known != made.end())
      return known->second;
    ValueLevel level; // as deep as values can be compared
    switch (value.kind()) {
    case Kind::List: {
      Value out = Value::list({});
      made.emplace(identity, out);
      const List elements = value.list(); // an own __deepcopy__ may change it
      for (const Value &element : elements)
        out.list().push_back(copy(element));
      return out;
    }
    case Kind::Tuple: {
      Tuple out;
      for (const Value &element : value.tuple())
        out.push_back(copy(element));
      return Value::tuple(std::move(out));
    }
    case Kind::Dict: {
      Value out = Value::dict();
      made.emplace(identity, out);
      const Dict entries = value.dictionary();
      for (const auto &[key, element] : entries.items())
        out.dictionary().set(copy(key), copy(element));
      return out;
    }
    case Kind::Set: {
      Set out;
      for (const Value &element : value.elementSet().elements())
        out.insert(copy(element));
      return Value::set(std::move(out), value.elementSet().frozen);
    }
    case Kind::Object:
      return copyObject(value);
    default:
      return value;
    }
  }

private:
  Interpreter &interpreter;
  std::map<const void *, Value> made;

  Value copyObject(const Value &value) {
    auto instance = value.shared<Instance>();
    Value out = value;
    if (!instance) {
      out = value.object()->deepCopy(interpreter).value_or(value);
    } else if (auto own = instance->special(interpreter, "__deepcopy__")) {
      out = interpreter.call(*own, {Value::dict()});
    } else if (!instance->cls->find("__members__")) { // a member of an enum is the only one
      auto fresh = std::make_shared<Instance>(instance->cls);
      fresh->payload = instance->payload;
      out = Value(fresh);
      made.emplace(instance.get(), out);
      for (const auto &[name, attribute] : std::vector(instance->attributes.items()))
        fresh->attributes.set(name, copy(attribute));
      if (instance->content)
        fresh->content = copy(*instance->content);
    }
    made.emplace(value.object().get(), out);
    return out;
  }
};

Value deepCopy(Interpreter &interpreter, const Value &value) {
  return DeepCopier(interpreter).copy(value);
}

bool Instance::equals(const Object &other) const {
  if (this == &other)
    return true;
  auto *instance = dynamic_cast<const Instance *>(&other);
  const Value *fields = comparedNames(*this);
  if (!instance || instance->cls != cls || !fields)
    return false;
  for (const Value &name : fields->tuple()) {
    const Value *a = attributes.find(name.str()), *b = instance->attributes.find(name.str());
    if (!a || !b || !equal(*a, *b))
      return false;
  }
  return true;
}

std::optional<size_t> Instance::hash() const {
  if (content)
    return hashOf(*content);
  const Value *fields = comparedNames(*this);
  return fields ? std::hash<std::string>()(cls->name) : std::hash<const void *>()(this);
}

bool Instance::isSymbolic() const {
  if (content && host::isSymbolic(*content))
    return true;
  // What holds itself has no size that only it knows of.
  static thread_local unsigned depth = 0;
  const Value *fields = depth < 16 ? fieldNames(*this) : nullptr;
  ++depth;
  bool any =
      fields && std::any_of(fields->tuple().begin(), fields->tuple().end(), [&](const Value &name) {
        const Value *field = attributes.find(name.str());
        return field && host::isSymbolic(*field);
      });
  --depth;
  return any;
}

// ---- classes with special bases
// ------------------------------------------------------------------------------------

static bool hasBase(const Class &cls, std::string_view name) {
  return std::any_of(cls.mro.begin(), cls.mro.end(),
                     [&](const auto &c) { return c->name == name; });
}

/// What text an enum's member is: Enum's own, also where its class derives from str or int first.
static void setEnumText(const std::shared_ptr<Class> &cls) {
  for (const char *method : {"__repr__", "__str__", "__format__"}) {
    if (cls->attributes.find(method))
      continue;
    for (const auto &c : cls->mro)
      if (const Value *found = c->attributes.find(method); found && !isContentType(*c)) {
        cls->attributes.set(method, *found);
        break;
      }
  }
}

/// The member of that value, or what the class makes of it.
static Value memberOfValue(Interpreter &interpreter, const Class &cls, const CallArgs &args) {
  if (args.positional.empty())
    interpreter.raise("TypeError", cls.name + "() missing the value");
  for (const auto &[name, member] : cls.find("__members__")->dictionary().items())
    if (member.isSame(args.positional[0]) ||
        equal(member.expect<Instance>("an enum member").attributes.at("value"), args.positional[0]))
      return member;
  if (const Value *missing = cls.find("_missing_")) {
    auto *method = missing->as<Descriptor>();
    Value found = interpreter.call(method ? method->function : *missing,
                                   {Value(selfOf(cls)), args.positional[0]});
    if (!found.isNone())
      return found;
  }
  interpreter.raise("ValueError",
                    interpreter.repr(args.positional[0]) + " is not a valid " + cls.name);
}

/// Members of an Enum become instances with `name` and `value`.
static void finishEnum(Interpreter &interpreter, const std::shared_ptr<Class> &cls) {
  Dict members;
  int64_t next = 1;
  setEnumText(cls);
  const Class *type = contentTypeOf(*cls);
  for (const auto &[name, value] : std::vector(cls->attributes.items())) {
    bool special = name.starts_with("_") || value.as<Function>() || value.as<Descriptor>() ||
                   value.as<NativeFunction>();
    if (special)
      continue;
    Value content = value;
    auto *opaque = value.as<Instance>();
    if (opaque && opaque->cls->name == "auto")
      content = type && type->name == "str"
                    ? interpreter.call(interpreter.getAttr(Value(name), "lower"))
                    : Value(next);
    if (content.isInt())
      next = hasBase(*cls, "Flag") ? interpreter.toInt64(content, "an enum value") * 2
                                   : interpreter.toInt64(content, "an enum value") + 1;
    auto known = std::find_if(members.items().begin(), members.items().end(), [&](const auto &m) {
      return equal(m.second.template expect<Instance>("an enum member").attributes.at("value"),
                   content);
    });
    if (known != members.items().end()) {
      Value member = known->second;
      members.set(Value(name), member);
      cls->attributes.set(name, member);
      continue;
    }
    auto member = std::make_shared<Instance>(cls);
    member->attributes.set("name", Value(name));
    member->attributes.set("value", content);
    CallArgs arguments{content.isTuple() ? content.tuple() : Tuple{content}, {}, {}};
    if (type)
      member->content = type->construct(interpreter, arguments);
    if (const Value *init = cls->find("__init__")) {
      arguments.positional.insert(arguments.positional.begin(), Value(member));
      interpreter.call(*init, std::move(arguments));
    }
    members.set(Value(name), Value(member));
    cls->attributes.set(name, Value(member));
  }
  if (!members.size())
    return; // a base that others put members into
  cls->attributes.set("__members__", Value::dict(std::move(members)));
  std::weak_ptr<Class> weak = cls;
  cls->construct = [weak](Interpreter &interpreter, CallArgs args) {
    return memberOfValue(interpreter, *weak.lock(), args);
  };
}

static std::vector<std::string> annotatedNames(const Class &cls) {
  std::vector<std::string> names;
  if (const Value *annotations = cls.attributes.find("__annotations__"))
    for (const auto &[name, annotation] : annotations->dictionary().items()) {
      auto *written = annotation.as<Annotation>();
      if (!written || written->kind() != "ClassVar")
        names.push_back(name.str());
    }
  return names;
}

void finishClass(Interpreter &interpreter, const std::shared_ptr<Class> &cls) {
  cls->readsOwnWay = cls->find("__getattribute__") != nullptr;
  if (cls->mro.empty() && !cls->bases.empty())
    interpreter.raise("TypeError",
                      "Cannot create a consistent method resolution order (MRO) for bases of " +
                          cls->name);
  for (const auto &base : cls->mro)
    if (base->construct && base->accepts && !isContentType(*base) && !isPropertyType(*base) &&
        !(base->module == "triton.runtime" && base->name == "Autotuner"))
      interpreter.refuse("class '" + cls->name + "' inherits from '" + base->name +
                         "', which is not supported in host code; keep the value in an attribute");
  for (const auto &[name, value] : std::vector(cls->attributes.items()))
    if (auto *descriptor = value.as<Instance>())
      if (auto hook = descriptor->special(interpreter, "__set_name__"))
        interpreter.call(*hook, {Value(cls), Value(name)});
  if (hasBase(*cls, "Enum"))
    return finishEnum(interpreter, cls);
  if (hasBase(*cls, "NamedTuple"))
    makeNamedTuple(interpreter, cls, annotatedNames(*cls));
  if (hasBase(*cls, "TypedDict")) // what it makes is a dict
    cls->construct = interpreter.builtinClass("dict")->construct;
}

} // namespace pellucid::host
