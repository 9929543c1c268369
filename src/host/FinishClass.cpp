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

/// The names that instances may have, where every class of theirs says __slots__.
void setSlots(Interpreter &interpreter, Class &cls) {
  auto names = std::make_shared<NameSet>();
  std::vector<const Class *> classes{&cls};
  for (const auto &base : cls.mro)
    classes.push_back(base.get());
  for (const Class *c : classes) {
    const Value *written = c->attributes.find("__slots__");
    bool isPythons = c->module == "builtins" || c->module == "abc" || c->module == "typing" ||
                     c->module == "collections.abc";
    if (!written && isPythons && !c->slots)
      continue;
    if (!written)
      return;
    for (const Value &name :
         written->isStr() ? std::vector<Value>{*written} : interpreter.iterate(*written))
      names->insert(interpreter.toStr(name, "an element of __slots__"));
  }
  if (names->count("__dict__"))
    return;
  for (const std::string &name : *names)
    if (cls.attributes.find("__slots__"))
      if (const Value *own = cls.attributes.find(name); own && !own->as<Descriptor>())
        interpreter.raise("ValueError",
                          "'" + name + "' in __slots__ conflicts with class variable");
  cls.slots = std::move(names);
}

static std::string basesText(const Class &cls) {
  std::string out;
  for (const auto &base : cls.bases)
    out += (out.empty() ? "" : ", ") + base->name;
  return out;
}

void finishClass(Interpreter &interpreter, const std::shared_ptr<Class> &cls) {
  cls->readsOwnWay = cls->find("__getattribute__") != nullptr;
  cls->hasFinalizer = cls->find("__del__") != nullptr;
  if (cls->attributes.find("__slots__"))
    setSlots(interpreter, *cls);
  if (cls->mro.empty() && !cls->bases.empty())
    interpreter.raise("TypeError",
                      "Cannot create a consistent method resolution\norder (MRO) for bases " +
                          basesText(*cls));
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
