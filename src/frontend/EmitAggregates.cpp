// SPDX-License-Identifier: Apache-2.0
// Values of a @triton.aggregate class: named fields, and methods that are emitted in place.
#include "frontend/Emitter.h"

#include <algorithm>

namespace pellucid::frontend {

bool isAggregate(const Val &value) {
  return value.isTuple() && value.tupleClass && value.tupleClass->find("__aggregate_fields__");
}

/// A field of type tl.tensor holds a value of the kernel, one of tl.constexpr what is known while
/// compiling.
Val Emitter::asField(const host::Class &cls, size_t i, const Val &value) {
  auto *type = cls.find("__aggregate_types__")->tuple()[i].as<host::NamedBuiltin>();
  if (type && type->name == "tl.tensor" && value.isNumber())
    return toTensor(value);
  if (type && type->name == "tl.constexpr" && !value.isConstexpr() && !value.isTuple())
    fail("field '" + cls.find("__aggregate_fields__")->tuple()[i].str() + "' of '" + cls.name +
         "' is a constexpr, got " + toString(value.type));
  return value;
}

std::shared_ptr<host::JitFunction> Emitter::emittable(const host::Value &function) {
  if (auto jit = function.shared<host::JitFunction>())
    return jit;
  auto plain = function.shared<host::Function>();
  if (!plain || !plain->def)
    return nullptr;
  auto &made = plainFunctions[plain.get()];
  if (!made)
    made = host::kernelFunction(interpreter, plain);
  return made;
}

/// A constructor of the class's own: it sets every field of `self`, which nothing changes
/// afterwards.
Val Emitter::construct(const std::shared_ptr<host::Class> &cls, std::vector<Val> positional,
                       std::vector<std::pair<std::string, Val>> keywords, SourceRange site) {
  const host::Tuple &fields = cls->find("__aggregate_fields__")->tuple();
  auto init = emittable(*cls->find("__init__"));
  if (!init || init->parameters.empty())
    fail("the constructor of '" + cls->name + "' is not a function with a 'self'");
  std::vector<Val> unset;
  for (const host::Value &name : fields)
    unset.push_back(
        Val::undefined("the constructor of '" + cls->name + "' has not set '" + name.str() + "'"));
  positional.insert(positional.begin(), Val::named(cls, std::move(unset)));
  Val made;
  callFunction(*init, std::move(positional), std::move(keywords), site, &made);
  for (size_t i = 0; i < fields.size(); ++i)
    if (made.elements[i].kind == Val::Kind::Undefined)
      fail("the constructor of '" + cls->name + "' has not set '" + fields[i].str() + "'");
  return made;
}

/// `self.field = value` in the constructor whose `self` it is.
void Emitter::assignField(const syntax::Attribute &target, const Val &value) {
  auto *name = syntax::as<syntax::Name>(target.value.get());
  auto known = name ? frame->names.find(name->id) : frame->names.end();
  if (known == frame->names.end() || !isAggregate(known->second))
    failAt(target.range, "only names and tuples of names can be assigned in a kernel");
  Val &self = known->second;
  if (frame->constructs != name->id)
    failAt(target.range, "a field of '" + self.tupleClass->name +
                             "' is set by its constructor alone; make a changed copy with "
                             "tl.aggregate_replace(" +
                             name->id + ", " + target.attr + "=…)");
  const host::Tuple &fields = self.tupleClass->find("__aggregate_fields__")->tuple();
  auto at = std::find_if(fields.begin(), fields.end(),
                         [&](const host::Value &field) { return field.str() == target.attr; });
  if (at == fields.end())
    failAt(target.range, "'" + self.tupleClass->name + "' has no field '" + target.attr + "'");
  auto i = static_cast<size_t>(at - fields.begin());
  self.elements[i] = asField(*self.tupleClass, i, value);
}

/// What `value.method(…)` calls; `self` says whether the value comes first among the arguments.
/// nullopt where the class has no such method.
std::optional<Val> Emitter::methodOf(const Val &value, const std::string &name, bool &self) {
  const host::Value *found = value.tupleClass->find(name);
  if (!found)
    return std::nullopt;
  auto *descriptor = found->as<host::Descriptor>();
  if (descriptor && descriptor->form != host::Descriptor::Form::Static)
    fail("'" + name + "' of '" + value.tupleClass->name + "' is a " + descriptor->typeName() +
         ", which is not supported in a kernel; write a method");
  self = !descriptor;
  const host::Value &function = descriptor ? descriptor->function : *found;
  if (auto jit = emittable(function))
    return Val::of(host::Value(jit));
  return Val::of(function);
}

/// tl.aggregate_replace(value, field=…): the same with some fields changed.
Val Emitter::replaceFields(std::vector<Val> positional,
                           std::vector<std::pair<std::string, Val>> keywords, SourceRange site) {
  if (positional.size() != 1 || !isAggregate(positional[0]))
    fail("aggregate_replace() takes a value of a @triton.aggregate class and its changed fields "
         "by name");
  const Val &from = positional[0];
  const host::Tuple &fields = from.tupleClass->find("__aggregate_fields__")->tuple();
  for (const auto &[name, value] : keywords)
    if (std::none_of(fields.begin(), fields.end(),
                     [&, &wanted = name](const host::Value &f) { return f.str() == wanted; }))
      fail("'" + from.tupleClass->name + "' has no field '" + name + "'");
  for (size_t i = 0; i < fields.size(); ++i)
    if (std::none_of(keywords.begin(), keywords.end(),
                     [&](const auto &keyword) { return keyword.first == fields[i].str(); }))
      keywords.emplace_back(fields[i].str(), from.elements[i]);
  return callValue(Val::of(host::Value(from.tupleClass)), {}, std::move(keywords), site);
}

} // namespace pellucid::frontend
