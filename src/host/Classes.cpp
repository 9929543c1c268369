// SPDX-License-Identifier: Apache-2.0
#include "host/InterpreterState.h"
#include "host/TypeForm.h"

#include <algorithm>
#include <set>

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
  bool isEnum = std::any_of(mro.begin(), mro.end(),
                            [](const auto &c) { return c->module == "enum" && c->name == "Enum"; });
  if (isEnum)
    return "<enum '" + name + "'>";
  const std::string &shown = qualifiedName.empty() ? name : qualifiedName;
  if (const Value *given = attributes.find("__module__"); given && given->isStr())
    return "<class '" + given->str() + "." + shown + "'>";
  return "<class '" + (module.empty() || module == "builtins" ? shown : module + "." + shown) +
         "'>";
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
  auto isIn = [&](const Class &wanted) {
    return this == &wanted ||
           std::any_of(mro.begin(), mro.end(), [&](const auto &c) { return c.get() == &wanted; });
  };
  return other.name == "object" || isIn(other) ||
         std::any_of(other.registered.begin(), other.registered.end(), [&](const auto &weak) {
           auto counted = weak.lock();
           return counted && isIn(*counted);
         });
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

bool isDataDescriptor(const Value *onClass) {
  if (!onClass)
    return false;
  if (auto *d = onClass->as<Descriptor>())
    return d->form == Descriptor::Form::Property;
  auto *descriptor = onClass->as<Instance>();
  return descriptor && descriptor->cls->find("__set__");
}

/// An attribute of the metaclass seen through a class.
static Value bindOfMeta(Interpreter &interpreter, Class &self, const Value &found) {
  Value me(self.shared_from_this());
  if (auto *d = found.as<Descriptor>()) {
    if (d->form == Descriptor::Form::Property)
      return interpreter.call(d->function, {me});
    return d->form == Descriptor::Form::Static
               ? d->function
               : Value(std::make_shared<BoundMethod>(Value(self.meta), d->function));
  }
  if (found.as<Function>() || found.as<NativeFunction>())
    return Value(std::make_shared<BoundMethod>(me, found));
  return describedBy(interpreter, found, me, Value(self.meta)).value_or(found);
}

std::optional<Value> Class::getAttr(Interpreter &interpreter, std::string_view attribute) {
  const Value *onMeta = ofMeta(attribute);
  if (isDataDescriptor(onMeta))
    return bindOfMeta(interpreter, *this, *onMeta);
  if (attribute == "__annotations__")
    return annotationsOf(interpreter, *this);
  if (attribute == "__doc__") // of the class itself: no base's
    if (const Value *own = attributes.find(attribute); !own || own->isNone())
      return Value();
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
  if (attribute == "__name__")
    return Value(name);
  if (attribute == "__qualname__")
    return Value(qualifiedName.empty() ? name : qualifiedName);
  if (attribute == "__module__")
    return Value(module);
  if (attribute == "__mro__" || attribute == "__bases__") {
    Tuple out;
    if (attribute == "__mro__")
      out.emplace_back(shared_from_this());
    for (const auto &c : attribute == "__mro__" ? mro : bases)
      out.emplace_back(c);
    // Every class's last base, which its order leaves out.
    const auto &root = interpreter.builtinClass("object");
    bool endsHere =
        attribute == "__mro__" ? this != root.get() : bases.empty() && this != root.get();
    if (endsHere && (out.empty() || !out.back().isSame(Value(root))))
      out.emplace_back(root);
    return Value::tuple(std::move(out));
  }
  if (attribute == "__doc__")
    return Value();
  if (attribute == "__class__")
    return interpreter.typeOf(Value(shared_from_this()));
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
      const Value order = i.getAttr(Value(self), "__mro__");
      return Value::list(List(order.tuple().begin(), order.tuple().end()));
    });
  if (attribute == "__new__")
    return makerOfInstances();
  if (onMeta && attribute != "__init__")
    return bindOfMeta(interpreter, *this, *onMeta);
  if (attribute == "__dict__") {
    Dict out;
    for (const auto &[key, value] : attributes.items())
      out.set(Value(key), key == "__annotations__" ? annotationsOf(interpreter, *this) : value);
    return Value::dict(std::move(out));
  }
  refuseAbsentBases(interpreter,
                    "'" + std::string(attribute) + "' of class '" + name + "' comes from", *this);
  if (auto root = rootMethod(attribute))
    return root;
  auto hook = special("__getattr__");
  return hook ? std::optional(interpreter.call(*hook, {Value(attribute)})) : std::nullopt;
}

bool Class::setAttr(Interpreter &interpreter, std::string_view attribute, const Value &value) {
  if (auto hook = special("__setattr__"))
    interpreter.call(*hook, {Value(attribute), value});
  else if (const Value *members = attributes.find("__members__");
           members && members->isDict() && members->dictionary().find(attribute))
    interpreter.raise("AttributeError", "cannot reassign member '" + std::string(attribute) + "'");
  else if (const Value *onMeta = ofMeta(attribute); isDataDescriptor(onMeta))
    interpreter.refuse("'" + std::string(attribute) + "' of class '" + name +
                       "' is set through its metaclass, which is not supported");
  else
    setOrdinaryAttr(attribute, value);
  return true;
}

void Class::setOrdinaryAttr(std::string_view attribute, const Value &value) {
  if (attribute == "__name__" && value.isStr()) {
    name = value.str();
    return;
  }
  if (attribute == "__qualname__" && value.isStr()) {
    qualifiedName = value.str();
    return;
  }
  hasFinalizer = hasFinalizer || attribute == "__del__";
  attributes.set(attribute, value);
  readsOwnWay = readsOwnWay || attribute == "__getattribute__";
}

bool Class::delAttr(Interpreter &interpreter, std::string_view attribute) {
  if (auto hook = special("__delattr__"))
    return interpreter.call(*hook, {Value(attribute)}), true;
  return attributes.erase(attribute);
}

bool isContentType(const Class &cls) {
  static const NameSet names = {"int", "float", "str", "list", "tuple", "dict", "set", "frozenset"};
  return cls.module == "builtins" && names.count(cls.name) != 0;
}

const Class *contentTypeOf(const Class &cls) {
  auto found =
      std::find_if(cls.mro.begin(), cls.mro.end(), [](const auto &c) { return isContentType(*c); });
  return found == cls.mro.end() ? nullptr : found->get();
}

std::shared_ptr<Instance> newInstance(Interpreter &interpreter, const std::shared_ptr<Class> &cls,
                                      const CallArgs &args) {
  auto instance = std::make_shared<Instance>(cls);
  const Class *type = contentTypeOf(*cls);
  if (!type) {
    interpreter.state().cycles.track(instance);
    return instance;
  }
  // What can change is filled by __init__; a named tuple's __init__ knows its fields.
  bool filledLater =
      type->name == "dict" || type->name == "list" || type->name == "set" || cls->find("_fields");
  instance->content = type->construct(interpreter, filledLater ? CallArgs() : args);
  return instance;
}

bool isPropertyType(const Class &cls) { return cls.name == "property" && cls.module == "builtins"; }

static void warnOfMetaclass(Interpreter &interpreter, const Class &made, const Class &cls) {
  if (!cls.absentMetaclass.empty())
    interpreter.hooks().warn(Diagnostic(Severity::Warning, cls.location,
                                        "the metaclass '" + cls.absentMetaclass +
                                            "' is left out: '" + made.name +
                                            "' is made without its methods"));
}

/// Whether a class that derives from it is made by what it has itself.
static bool constructsDerived(const Class &cls) {
  bool isTensor = cls.module == "torch" && cls.name == "Tensor";
  return cls.construct && !isTensor && !isContentType(cls) && !isPropertyType(cls) &&
         !isMetaclass(cls) &&
         !(cls.module == "typing" && (cls.name == "NamedTuple" || cls.name == "TypedDict"));
}

/// Whether __new__ gave what __init__ is for.
static bool isMadeBy(const Value &made, const Class &cls) {
  if (auto *instance = made.as<Instance>())
    return instance->cls->isSubclassOf(cls);
  if (const Class *own = made.isObject() ? made.object()->userClass() : nullptr)
    return own->isSubclassOf(cls);
  auto *inner = made.as<Class>();
  return inner && inner->meta && inner->meta->isSubclassOf(cls);
}

Value Class::call(Interpreter &interpreter, CallArgs args) {
  if (auto own = special("__call__"))
    return interpreter.call(*own, std::move(args));
  return makeInstance(interpreter, std::move(args));
}

/// Methods that abc.abstractmethod marks and no class overrides: there are no instances.
static void refuseAbstract(Interpreter &interpreter, const Class &cls) {
  auto isAbc = [](const Class &meta) { return meta.name == "ABCMeta" && meta.module == "abc"; };
  if (!cls.meta || !(isAbc(*cls.meta) || std::any_of(cls.meta->mro.begin(), cls.meta->mro.end(),
                                                     [&](const auto &c) { return isAbc(*c); })))
    return;
  std::set<std::string> open;
  auto isMarked = [](const Value *value) {
    auto *descriptor = value ? value->as<Descriptor>() : nullptr;
    auto *function = descriptor ? descriptor->function.as<Function>()
                     : value    ? value->as<Function>()
                                : nullptr;
    return function && function->attributes.find("__isabstractmethod__");
  };
  auto look = [&](const Class &c) {
    for (const auto &[name, value] : c.attributes.items())
      if (isMarked(&value) && isMarked(cls.find(name)))
        open.insert(name);
  };
  look(cls);
  for (const auto &c : cls.mro)
    look(*c);
  std::string names;
  for (const std::string &name : open)
    names += (names.empty() ? "'" : ", '") + name + "'";
  if (!open.empty())
    interpreter.raise("TypeError", "Can't instantiate abstract class " + cls.name +
                                       " without an implementation for abstract method" +
                                       (open.size() > 1 ? "s " : " ") + names);
}

Value Class::makeInstance(Interpreter &interpreter, CallArgs args) {
  if (construct)
    return construct(interpreter, std::move(args));
  bool isEnum = (name == "Enum" && module == "enum") ||
                std::any_of(mro.begin(), mro.end(),
                            [](const auto &c) { return c->name == "Enum" && c->module == "enum"; });
  if (isEnum && args.positional.size() + args.keywords.size() > 1)
    return enumFromCall(interpreter, selfOf(*this), args);
  warnOfMetaclass(interpreter, *this, *this);
  for (const auto &c : mro)
    warnOfMetaclass(interpreter, *this, *c);
  refuseAbsentBases(interpreter, "class '" + name + "' inherits from", *this);
  refuseAbstract(interpreter, *this);
  const Value *own = find("__new__");
  for (const auto &c : mro) {
    if (constructsDerived(*c) && !(own && own->as<Function>()))
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
  if (!isMadeBy(self, *this))
    return self;
  if (const Value *init = find("__init__")) {
    args.positional.insert(args.positional.begin(), self);
    interpreter.call(*init, std::move(args));
  } else if (auto *instance = self.as<Instance>();
             !maker && instance && !instance->content &&
             (!args.positional.empty() || !args.keywords.empty()))
    interpreter.raise("TypeError", name + "() takes no arguments");
  return self;
}

std::optional<Value> Class::length(Interpreter &interpreter) {
  if (auto own = special("__len__"))
    return interpreter.call(*own);
  return find("__members__") ? std::optional(Value(static_cast<int64_t>(members().size())))
                             : std::nullopt;
}

std::optional<Value> Class::getItem(Interpreter &interpreter, const Value &key) {
  auto own = special("__getitem__");
  return own ? std::optional(interpreter.call(*own, {key})) : memberOrForm(interpreter, key);
}

bool Class::setItem(Interpreter &interpreter, const Value &key, const Value &value) {
  auto own = special("__setitem__");
  if (own)
    interpreter.call(*own, {key, value});
  return own.has_value();
}

std::optional<Value> Class::memberOrForm(Interpreter &interpreter, const Value &key) {
  const Value *named = find("__members__");
  if (!named || !named->isDict()) {
    if (const Value *own = find("__class_getitem__"); own && own->as<Descriptor>())
      return interpreter.call(own->as<Descriptor>()->function, {Value(shared_from_this()), key});
    bool isWritten = interpreter.options().script && !module.empty() && module != "builtins";
    const std::string &shown = qualifiedName.empty() ? name : qualifiedName;
    return subscripted(interpreter, Value(shared_from_this()),
                       isWritten ? module + "." + shown : name, key);
  }
  if (const Value *found = named->dictionary().find(key))
    return *found;
  interpreter.raiseKey(key);
}

std::optional<Value> Class::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                     bool reflected) {
  if (auto own =
          special(std::string(reflected ? "__r" : "__") + std::string(operatorName(op)) + "__"))
    return notImplementedIsNothing(interpreter, interpreter.call(*own, {other}));
  if (op != BinaryOp::BitOr)
    return std::nullopt;
  Value self(shared_from_this());
  return reflected ? unionOf(interpreter, {other, self}) : unionOf(interpreter, {self, other});
}

std::optional<Value> Class::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                    bool) {
  auto own = special(comparisonName(op));
  return own ? notImplementedIsNothing(interpreter, interpreter.call(*own, {other})) : std::nullopt;
}

std::optional<bool> Class::contains(Interpreter &interpreter, const Value &value) {
  auto own = special("__contains__");
  return own ? std::optional(interpreter.truth(interpreter.call(*own, {value}))) : std::nullopt;
}

bool Class::truth(Interpreter &interpreter) {
  for (const char *method : {"__bool__", "__len__"})
    if (auto own = special(method))
      return interpreter.truth(interpreter.call(*own));
  return true;
}

std::optional<std::vector<Value>> Class::iterate(Interpreter &interpreter) {
  if (auto own = special("__iter__"))
    return interpreter.iterate(interpreter.call(*own));
  return find("__members__") ? std::optional(members()) : std::nullopt;
}

std::vector<Value> Class::members() const {
  const Value *named = find("__members__");
  std::vector<Value> out;
  if (!named || !named->isDict())
    return out;
  for (const auto &[key, value] : named->dictionary().items())
    if (value.expect<Instance>("an enum member").attributes.at("name").str() == key.str() &&
        (!find("_made_flags") || isOneFlag(value))) // no alias, and no flags together
      out.push_back(value);
  return out;
}

} // namespace pellucid::host
