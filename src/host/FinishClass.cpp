// SPDX-License-Identifier: Apache-2.0
/// Enum and its kin, and what else a class statement ends with.
#include "host/InterpreterState.h"
#include "host/TypeForm.h"

#include <algorithm>

namespace pellucid::host {

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
    Value found = interpreter.call(
        method ? method->function : *missing,
        {Value(std::static_pointer_cast<Class>(const_cast<Class &>(cls).shared_from_this())),
         args.positional[0]});
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
        !isMetaclass(*base) && !(base->module == "triton.runtime" && base->name == "Autotuner") &&
        !(base->module == "torch" && base->name == "Tensor"))
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
