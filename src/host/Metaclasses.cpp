// SPDX-License-Identifier: Apache-2.0
/// Classes of classes: `type`, those of a file that derive from it, abc's and enum's.
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

static bool isType(const Class &cls) { return cls.name == "type" && cls.module == "builtins"; }

bool isMetaclass(const Class &cls) {
  return isType(cls) ||
         std::any_of(cls.mro.begin(), cls.mro.end(), [](const auto &c) { return isType(*c); });
}

/// What Python's own metaclasses do, the evaluator does for every class.
static bool isPythons(const Class &cls) {
  return isType(cls) || cls.module == "abc" || cls.module == "enum";
}

const Value *Class::ofMeta(std::string_view wanted) const {
  if (!meta)
    return nullptr;
  if (const Value *found = meta->attributes.find(wanted))
    return found;
  for (const auto &c : meta->mro)
    if (const Value *found = isType(*c) ? nullptr : c->attributes.find(wanted))
      return found;
  return nullptr;
}

std::optional<Value> Class::special(std::string_view wanted) const {
  auto bound = [&](const Value &method) {
    auto self = std::const_pointer_cast<Object>(shared_from_this());
    return Value(std::make_shared<BoundMethod>(Value(self), method));
  };
  if (!meta)
    return std::nullopt;
  if (const Value *found = isPythons(*meta) ? nullptr : meta->attributes.find(wanted))
    return bound(*found);
  for (const auto &c : meta->mro)
    if (const Value *found = isPythons(*c) ? nullptr : c->attributes.find(wanted))
      return bound(*found);
  return std::nullopt;
}

std::shared_ptr<Class> metaclassOf(Interpreter &interpreter, std::shared_ptr<Class> written,
                                   const std::vector<std::shared_ptr<Class>> &bases) {
  std::shared_ptr<Class> winner = written && isType(*written) ? nullptr : std::move(written);
  for (const auto &base : bases) {
    if (!base->meta || (winner && winner->isSubclassOf(*base->meta)))
      continue;
    if (winner && !base->meta->isSubclassOf(*winner))
      interpreter.raise("TypeError",
                        "metaclass conflict: the metaclass of a derived class must be a "
                        "(non-strict) subclass of the metaclasses of all its bases");
    winner = base->meta;
  }
  return winner;
}

bool runsOwnCode(const Class &metaclass) { return !isPythons(metaclass); }

/// Functions that Python makes static or class methods by their names.
static void bindByName(Class &cls) {
  for (auto [name, form] : {std::pair{"__new__", Descriptor::Form::Static},
                            std::pair{"__init_subclass__", Descriptor::Form::Class},
                            std::pair{"__class_getitem__", Descriptor::Form::Class},
                            std::pair{"__prepare__", Descriptor::Form::Class}})
    if (const Value *found = cls.attributes.find(name); found && found->as<Function>())
      cls.attributes.set(name, Value(std::make_shared<Descriptor>(form, *found)));
}

/// The nearest __init_subclass__ behind the class is told, once, with the class's keywords.
static void tellBases(Interpreter &interpreter, const std::shared_ptr<Class> &cls, CallArgs call) {
  if (const Value *hook = cls->find("__init_subclass__", cls.get())) {
    call.positional = {Value(cls)};
    interpreter.call(*hook, std::move(call));
    return;
  }
  bool takes = std::any_of(cls->mro.begin(), cls->mro.end(), [](const auto &c) {
    return c->module == "typing" || c->module == "enum" || c->module == "opaque";
  });
  if (!call.keywords.empty() && !takes)
    interpreter.raise("TypeError", cls->name + ".__init_subclass__() takes no keyword arguments");
}

void completeClass(Interpreter &interpreter, const std::shared_ptr<Class> &cls, CallArgs keywords) {
  bindByName(*cls);
  finishClass(interpreter, cls);
  tellBases(interpreter, cls, std::move(keywords));
}

/// Dict keys go by the identity of classes, and their attributes are read in one way.
static void refuseOwnIdentity(Interpreter &interpreter, const Class &metaclass) {
  for (const char *name : {"__eq__", "__hash__", "__getattribute__"})
    for (const Class *c = &metaclass; c; c = c->bases.empty() ? nullptr : c->bases[0].get())
      if (!isPythons(*c) && c->attributes.find(name))
        interpreter.refuse("metaclass '" + c->name + "' has its own '" + name +
                           "', which is not supported; classes are compared by identity and "
                           "their attributes read as Python's type reads them");
}

static std::vector<std::shared_ptr<Class>> basesOf(Interpreter &interpreter, const Value &written) {
  std::vector<std::shared_ptr<Class>> bases;
  for (const Value &base : written.tuple()) {
    bases.push_back(base.shared<Class>());
    if (!bases.back())
      interpreter.raise("TypeError", "bases must be types, got " + interpreter.repr(base));
  }
  return bases;
}

/// type.__new__(metaclass, name, bases, namespace, **keywords)
static Value newClass(Interpreter &interpreter, CallArgs args) {
  auto metaclass = args.positional.empty() ? nullptr : args.positional[0].shared<Class>();
  if (!metaclass || !isMetaclass(*metaclass))
    interpreter.raise("TypeError", "type.__new__(X): X is not a type object");
  if (args.positional.size() != 4 || !args.positional[2].isTuple() ||
      !contentOf(args.positional[3]).isDict())
    interpreter.raise("TypeError", "type.__new__() takes a metaclass, a name, a tuple of bases "
                                   "and a dict of what the class holds");
  std::vector<std::shared_ptr<Class>> bases = basesOf(interpreter, args.positional[2]);
  metaclass = metaclassOf(interpreter, metaclass, bases);
  if (metaclass)
    refuseOwnIdentity(interpreter, *metaclass);
  auto cls =
      Class::make(interpreter.toStr(args.positional[1], "a class's name"), "", std::move(bases));
  cls->meta = std::move(metaclass);
  cls->location = interpreter.location();
  cls->isLocal = !interpreter.atModuleLevel();
  interpreter.state().madeClasses.push_back(cls);
  const Dict entries = contentOf(args.positional[3]).dictionary();
  for (const auto &[key, value] : entries.items()) {
    const std::string &name = interpreter.toStr(key, "a name in a class");
    if (auto *cell = value.as<ClassCell>(); cell && name == "__classcell__")
      cell->body->cls = cls;
    else if (name == "__module__" && value.isStr() && interpreter.options().script)
      cls->module = value.str();
    else if (name == "__qualname__" && value.isStr())
      cls->qualifiedName = value.str();
    else if (name != "__module__" && name != "__qualname__")
      cls->attributes.set(name, value);
  }
  completeClass(interpreter, cls, {{}, std::move(args.keywords), args.location});
  return Value(cls);
}

Value classFromCall(Interpreter &interpreter, const CallArgs &args) {
  if (args.positional.size() != 3 || !args.positional[1].isTuple())
    interpreter.raise("TypeError", "type() takes 1 or 3 arguments");
  auto metaclass = metaclassOf(interpreter, nullptr, basesOf(interpreter, args.positional[1]));
  if (metaclass && runsOwnCode(*metaclass))
    return interpreter.call(Value(metaclass), args);
  CallArgs making = args;
  making.positional.insert(making.positional.begin(), Value(interpreter.builtinClass("type")));
  return newClass(interpreter, std::move(making));
}

static Class &classOf(const Value &value) { return value.expect<Class>("a class"); }

/// What super() reaches in a method of a metaclass.
void addTypeMethods(Interpreter &interpreter) {
  Namespace &type = interpreter.builtinClass("type")->attributes;
  auto add = [&](const char *name, const char *signature, NativeFunction::Body body) {
    type.set(name, native(std::string("type.") + name, signature, std::move(body)));
  };
  type.set("__new__", Value(std::make_shared<Descriptor>(Descriptor::Form::Static,
                                                         nativeRaw("type.__new__", newClass))));
  add("__init__", "self, *args, **kwargs", [](Interpreter &, Bound &) { return Value(); });
  type.set("__call__", nativeRaw("type.__call__", [](Interpreter &i, CallArgs args) {
             Value self = args.positional.at(0);
             args.positional.erase(args.positional.begin());
             return classOf(self).makeInstance(i, std::move(args));
           }));
  type.set("__prepare__",
           Value(std::make_shared<Descriptor>(
               Descriptor::Form::Class, nativeRaw("type.__prepare__", [](Interpreter &, CallArgs) {
                 return Value::dict();
               }))));
  add("__setattr__", "self, name, value", [](Interpreter &i, Bound &a) {
    return classOf(a[0]).setOrdinaryAttr(i.toStr(a[1], "an attribute name"), a[2]), Value();
  });
  add("__repr__", "self", [](Interpreter &, Bound &a) { return Value(classOf(a[0]).repr()); });
  add("__instancecheck__", "self, instance",
      [](Interpreter &, Bound &a) { return Value(isInstance(a[1], classOf(a[0]))); });
  add("__subclasscheck__", "self, subclass",
      [](Interpreter &, Bound &a) { return Value(classOf(a[1]).isSubclassOf(classOf(a[0]))); });
}

std::shared_ptr<Class> makeAbcMeta(Interpreter &interpreter) {
  auto meta = Class::make("ABCMeta", "abc", {interpreter.builtinClass("type")});
  meta->attributes.set("register",
                       native("ABCMeta.register", "self, subclass", [](Interpreter &, Bound &a) {
                         classOf(a[0]).registered.push_back(a[1].shared<Class>());
                         return a[1];
                       }));
  return meta;
}

std::shared_ptr<Class> makeEnumMeta(Interpreter &interpreter) {
  auto meta = Class::make("EnumType", "enum", {interpreter.builtinClass("type")});
  auto add = [&](const char *name, const char *signature, NativeFunction::Body body) {
    meta->attributes.set(name, native(std::string("EnumType.") + name, signature, std::move(body)));
  };
  add("__getitem__", "self, name",
      [](Interpreter &i, Bound &a) { return *classOf(a[0]).memberOrForm(i, a[1]); });
  add("__len__", "self", [](Interpreter &, Bound &a) {
    return Value(static_cast<int64_t>(classOf(a[0]).members().size()));
  });
  add("__iter__", "self", [](Interpreter &, Bound &a) {
    return Value(std::make_shared<Iterator>("iterator", classOf(a[0]).members()));
  });
  add("__contains__", "self, member", [](Interpreter &i, Bound &a) {
    return Value(i.contains(Value::list(classOf(a[0]).members()), a[1]));
  });
  return meta;
}

} // namespace pellucid::host
