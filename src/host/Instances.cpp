// SPDX-License-Identifier: Apache-2.0
/// Instances of classes: attributes, operators, iteration, equality.
#include "host/InterpreterState.h"

#include <algorithm>
#include <map>

namespace pellucid::host {

std::string Instance::repr() const {
  const std::string &module = cls->module;
  std::string full = module.empty() || module == "builtins" ? cls->name : module + "." + cls->name;
  return "<" + full + " object" + placeText(this) + ">";
}

/// A trace is the same each time; a script prints as Python does.
std::string placeText(const void *place) {
  Interpreter *interpreter = Interpreter::active();
  if (!interpreter || !interpreter->options().script)
    return "";
  char text[32];
  std::snprintf(text, sizeof text, " at %p", place);
  return text;
}

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

const Value *Instance::methodFor(std::string_view name) {
  const Value *found = cls->readsOwnWay ? nullptr : cls->find(name);
  bool isPlain = found && (found->as<Function>() || found->as<NativeFunction>());
  return isPlain && !attributes.find(name) ? found : nullptr;
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
  if (name == "__dict__" && !cls->slots)
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
  if (name == "__class__") {
    auto other = value.shared<Class>();
    if (!other)
      interpreter.raise("TypeError", "__class__ must be set to a class, not '" +
                                         host::typeName(value) + "' object");
    cls = std::move(other);
    return;
  }
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
  if (cls->slots && !cls->slots->count(name))
    interpreter.raise("AttributeError",
                      "'" + cls->name + "' object has no attribute '" + std::string(name) + "'");
  if (const Value *before = attributes.find(name); before && before->isObject())
    before->object()->beforeReplaced(interpreter, Value(shared_from_this()), name, value);
  attributes.set(name, value);
}

bool Instance::delAttr(Interpreter &interpreter, std::string_view name) {
  if (auto hook = special(interpreter, "__delattr__")) {
    interpreter.call(*hook, {Value(name)});
    return true;
  }
  const Value *onClass = cls->find(name);
  if (auto *d = onClass ? onClass->as<Descriptor>() : nullptr;
      d && d->form == Descriptor::Form::Property) {
    if (d->deleter.isNone())
      interpreter.raise("AttributeError", "property '" + std::string(name) + "' of '" + cls->name +
                                              "' object has no deleter");
    interpreter.call(d->deleter, {Value(shared_from_this())});
    return true;
  }
  if (auto *descriptor = onClass ? onClass->as<Instance>() : nullptr)
    if (auto deleter = descriptor->special(interpreter, "__delete__")) {
      interpreter.call(*deleter, {Value(shared_from_this())});
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

std::string_view operatorName(BinaryOp op) {
  static constexpr std::string_view names[] = {"add", "sub", "mul",     "matmul", "truediv",
                                               "mod", "pow", "lshift",  "rshift", "or",
                                               "xor", "and", "floordiv"};
  return names[size_t(op)];
}

std::string_view comparisonName(CompareOp op) {
  static constexpr std::string_view names[] = {"__eq__", "__ne__", "__lt__",
                                               "__le__", "__gt__", "__ge__"};
  return names[size_t(op)];
}

std::optional<Value> notImplementedIsNothing(Interpreter &interpreter, Value v) {
  if (const Value *marker = interpreter.builtin("NotImplemented"); marker && v.isSame(*marker))
    return std::nullopt;
  return v;
}

std::optional<Value> Instance::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                        bool reflected) {
  std::string name = std::string(reflected ? "__r" : "__") + std::string(operatorName(op)) + "__";
  auto method = special(interpreter, name);
  return method ? notImplementedIsNothing(interpreter, interpreter.call(*method, {other}))
                : std::nullopt;
}

std::optional<Value> Instance::inPlaceOp(Interpreter &interpreter, BinaryOp op,
                                         const Value &other) {
  auto method = special(interpreter, "__i" + std::string(operatorName(op)) + "__");
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
  if (auto method = special(interpreter, comparisonName(op)))
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

/// How a class says that its instances are keys.
struct KeyMethods {
  std::shared_ptr<Function> hash, equals;
  bool isKey = true; ///< not where __eq__ is written without __hash__, or __hash__ is None
};

static KeyMethods keyMethods(const Class &cls) {
  KeyMethods out;
  auto written = [](const Value *method) {
    return method ? std::dynamic_pointer_cast<Function>(
                        method->isObject() ? method->object() : std::shared_ptr<Object>())
                  : nullptr;
  };
  bool isSettled = false;
  std::vector<const Class *> classes = {&cls};
  for (const auto &c : cls.mro)
    classes.push_back(c.get());
  for (const Class *c : classes) {
    const Value *hash = c->attributes.find("__hash__"), *own = c->attributes.find("__eq__");
    auto equals = written(own);
    if (own && !equals)
      break; // of a dataclass
    if (!isSettled && (hash || equals)) {
      isSettled = true;
      out.hash = written(hash);
      out.isKey = hash ? !hash->isNone() : false;
    }
    if (!out.equals)
      out.equals = equals;
  }
  return out;
}

static Value boundSelf(const Instance &instance) {
  return Value(std::const_pointer_cast<Object>(instance.shared_from_this()));
}

bool Instance::equals(const Object &other) const {
  if (this == &other)
    return true;
  Interpreter *interpreter = Interpreter::active();
  if (auto written = interpreter ? keyMethods(*cls).equals : nullptr) {
    Value said = interpreter->call(
        Value(std::static_pointer_cast<Object>(written)),
        {boundSelf(*this), Value(std::const_pointer_cast<Object>(other.shared_from_this()))});
    return !said.isSame(*interpreter->builtin("NotImplemented")) && interpreter->truth(said);
  }
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
  if (Interpreter *interpreter = Interpreter::active()) {
    KeyMethods methods = keyMethods(*cls);
    if (!methods.isKey)
      return std::nullopt;
    if (methods.hash) {
      Value said = interpreter->call(Value(std::static_pointer_cast<Object>(methods.hash)),
                                     {boundSelf(*this)});
      if (!said.isInt() && !said.isBool())
        interpreter->raise("TypeError", "__hash__ method should return an integer");
      return hashOf(said);
    }
  }
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

} // namespace pellucid::host
