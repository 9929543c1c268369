// SPDX-License-Identifier: Apache-2.0
/// Classes of enum: what a class statement makes of their names, flags among them.
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

namespace {

bool hasEnumBase(const Class &cls, std::string_view name) {
  return std::any_of(cls.mro.begin(), cls.mro.end(),
                     [&](const auto &c) { return c->name == name && c->module == "enum"; });
}

bool isAuto(const Value &v) {
  auto *instance = v.as<Instance>();
  return instance && instance->cls->name == "auto" && instance->cls->module == "enum";
}

const Value &valueOf(const Value &member) {
  return member.expect<Instance>("an enum member").attributes.at("value");
}

/// Names in the body that are no members.
bool isSpecial(const std::string &name, const Value &value) {
  bool isSunder = name.size() > 2 && name.starts_with("_") && name.ends_with("_");
  return name.starts_with("__") || isSunder || name.starts_with("_") || value.as<Function>() ||
         value.as<Descriptor>() || value.as<NativeFunction>() || value.as<Class>();
}

/// What text an enum's member is: Enum's own, also where its class derives from str or int first.
void setEnumText(const std::shared_ptr<Class> &cls) {
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

// ---- flags
// ---------------------------------------------------------------------------------------------------------

Int flagsOf(const Value &member) {
  const Value &value = valueOf(member);
  return value.isInt() ? value.integer() : Int(0);
}

bool isOneBit(Int v) { return v > 0 && (v & (v - 1)) == 0; }

Int allFlags(const Class &cls) {
  Int all = 0;
  for (const auto &[name, member] : cls.find("__members__")->dictionary().items())
    all |= flagsOf(member);
  return all;
}

std::string binaryText(Int value, Int all) {
  size_t width = 0;
  for (Int rest = std::max(value, all); rest > 0; rest >>= 1)
    ++width;
  std::string out;
  for (size_t i = width; i-- > 0;)
    out += (value >> i & 1) ? '1' : '0';
  return "0b0 " + out;
}

/// The member that stands for several flags at once; each set of them is made once.
Value flagOf(Interpreter &interpreter, const std::shared_ptr<Class> &cls, Int value) {
  Int all = allFlags(*cls);
  bool keepsOthers = hasEnumBase(*cls, "IntFlag") || cls->name == "IntFlag";
  if (value < 0)
    value = keepsOthers && (~value & ~all) ? value : value & all;
  if (!keepsOthers && (value & ~all))
    interpreter.raise("ValueError", "<flag '" + cls->name + "'> invalid value " + toString(value) +
                                        "\n    given " + binaryText(value, all) + "\n  allowed " +
                                        binaryText(all, value));
  Value known = *cls->find("_made_flags");
  if (const Value *found = known.dictionary().find(Value(value)))
    return *found;
  std::string name;
  Int named = 0;
  for (const auto &[text, member] : cls->find("__members__")->dictionary().items()) {
    Int bit = flagsOf(member);
    if (isOneBit(bit) && (value & bit)) {
      name += (name.empty() ? "" : "|") + text.str();
      named |= bit;
    }
  }
  if (Int rest = value & ~named; rest && !name.empty())
    name += "|" + toString(rest);
  auto member = std::make_shared<Instance>(cls);
  member->attributes.set("name", name.empty() ? Value() : Value(name));
  member->attributes.set("value", Value(value));
  member->attributes.set("_value_", Value(value));
  if (contentTypeOf(*cls))
    member->content = Value(value);
  known.dictionary().set(Value(value), Value(member));
  return Value(member);
}

/// The member of that value, or what the class makes of it.
Value memberOfValue(Interpreter &interpreter, const std::shared_ptr<Class> &cls,
                    const CallArgs &args) {
  if (args.positional.empty())
    interpreter.raise("TypeError", cls->name + "() missing the value");
  const Value wanted =
      args.positional.size() == 1 ? args.positional[0] : Value::tuple(args.positional);
  const Dict members = cls->find("__members__")->dictionary();
  for (const auto &[name, member] : members.items())
    if (member.isSame(wanted) || equal(valueOf(member), wanted))
      return member;
  if (auto *instance = wanted.as<Instance>(); instance && instance->cls == cls)
    return wanted;
  if (const Value *missing = cls->find("_missing_")) {
    auto *method = missing->as<Descriptor>();
    Value found = interpreter.call(method ? method->function : *missing, {Value(cls), wanted});
    if (!found.isNone())
      return found;
  }
  if (hasEnumBase(*cls, "Flag") && wanted.isInt())
    return flagOf(interpreter, cls, wanted.integer());
  interpreter.raise("ValueError",
                    interpreter.repr(wanted) + " is not a valid " +
                        (cls->qualifiedName.empty() ? cls->name : cls->qualifiedName));
}

/// What auto() stands for, after the values before it.
Value nextValue(Interpreter &interpreter, const Class &cls, const Namespace &body,
                const std::string &name) {
  List before;
  for (const auto &[known, value] : body.items())
    if (!isSpecial(known, value))
      before.push_back(value.isTuple() && !value.tuple().empty() ? value.tuple()[0] : value);
  const Value *own = body.find("_generate_next_value_");
  if (!own)
    own = cls.find("_generate_next_value_");
  if (own) {
    auto *descriptor = own->as<Descriptor>();
    return interpreter.call(
        descriptor ? descriptor->function : *own,
        {Value(name), Value(1), Value(static_cast<int64_t>(before.size())), Value::list(before)});
  }
  const Class *type = contentTypeOf(cls);
  if (type && type->name == "str" && hasEnumBase(cls, "StrEnum"))
    return interpreter.call(interpreter.getAttr(Value(name), "lower"));
  Int highest = 0;
  for (const Value &value : before)
    if (value.isInt())
      highest = std::max(highest, value.integer());
  if (!hasEnumBase(cls, "Flag"))
    return Value(highest + 1);
  Int bit = 1;
  while (bit <= highest)
    bit <<= 1;
  return Value(bit);
}

/// A member, by the class's own __new__ where it has one.
std::shared_ptr<Instance> newMember(Interpreter &interpreter, const std::shared_ptr<Class> &cls,
                                    const Value &content) {
  CallArgs arguments{content.isTuple() ? content.tuple() : Tuple{content}, {}, {}};
  const Value *own = cls->find("__new__");
  auto *maker = own ? own->as<Descriptor>() : nullptr;
  const Class *type = contentTypeOf(*cls);
  std::shared_ptr<Instance> member;
  if (maker && maker->function.as<Function>()) {
    CallArgs making = arguments;
    making.positional.insert(making.positional.begin(), Value(cls));
    member = interpreter.call(maker->function, std::move(making)).shared<Instance>();
    if (!member)
      interpreter.raise("TypeError", "__new__ of enum '" + cls->name + "' gives no member of it");
  } else {
    member = std::make_shared<Instance>(cls);
    if (type)
      member->content = type->construct(interpreter, arguments);
  }
  const Value *given = member->attributes.find("_value_");
  Value value = given ? *given : content;
  if (!given && type)
    value = *member->content;
  member->attributes.set("_value_", value);
  member->attributes.set("value", value);
  return member;
}

} // namespace

Value settledAuto(Interpreter &interpreter, const Class &cls, const Namespace &body,
                  const std::string &name, const Value &value) {
  bool isEnum = hasEnumBase(cls, "Enum");
  if (isEnum && isAuto(value))
    return nextValue(interpreter, cls, body, name);
  if (isEnum && value.isTuple() &&
      std::any_of(value.tuple().begin(), value.tuple().end(), isAuto)) {
    Tuple parts;
    for (const Value &part : value.tuple())
      parts.push_back(isAuto(part) ? nextValue(interpreter, cls, body, name) : part);
    return Value::tuple(std::move(parts));
  }
  return value;
}

/// Members of an Enum become instances with `name` and `value`.
void finishEnum(Interpreter &interpreter, const std::shared_ptr<Class> &cls) {
  Dict members;
  setEnumText(cls);
  if (const Value *before = cls->find("__members__"); before && before->isDict())
    interpreter.raise("TypeError", "<enum '" + cls->name + "'> cannot extend <enum '" +
                                       cls->bases.front()->name + "'>");
  NameSet ignored;
  if (const Value *names = cls->attributes.find("_ignore_")) {
    Value list = names->isStr() ? interpreter.call(interpreter.getAttr(*names, "split")) : *names;
    for (const Value &name : interpreter.iterate(list))
      ignored.insert(interpreter.toStr(name, "a name in _ignore_"));
  }
  Namespace before;
  for (const auto &[name, written] : std::vector(cls->attributes.items())) {
    if (ignored.count(name) || isSpecial(name, written))
      continue;
    Value content = settledAuto(interpreter, *cls, before, name, written);
    before.set(name, content);
    auto member = newMember(interpreter, cls, content);
    const Value value = member->attributes.at("value");
    auto known = std::find_if(members.items().begin(), members.items().end(),
                              [&](const auto &m) { return equal(valueOf(m.second), value); });
    if (known != members.items().end()) {
      Value same = known->second;
      members.set(Value(name), same);
      cls->attributes.set(name, same);
      continue;
    }
    member->attributes.set("name", Value(name));
    member->attributes.set("_name_", Value(name));
    if (const Value *init = cls->find("__init__")) {
      CallArgs arguments{content.isTuple() ? content.tuple() : Tuple{content}, {}, {}};
      arguments.positional.insert(arguments.positional.begin(), Value(member));
      interpreter.call(*init, std::move(arguments));
    }
    members.set(Value(name), Value(member));
    cls->attributes.set(name, Value(member));
  }
  if (!members.size())
    return; // a base that others put members into
  if (hasEnumBase(*cls, "Flag")) {
    Dict made;
    for (const auto &[name, member] : members.items())
      made.set(valueOf(member), member);
    cls->attributes.set("_made_flags", Value::dict(std::move(made)));
  }
  cls->attributes.set("__members__", Value::dict(std::move(members)));
  std::weak_ptr<Class> weak = cls;
  cls->construct = [weak](Interpreter &inner, CallArgs args) {
    return memberOfValue(inner, weak.lock(), args);
  };
}

bool isOneFlag(const Value &member) { return isOneBit(flagsOf(member)); }

/// `Enum("Animal", "CAT DOG")`: a class from names.
Value enumFromCall(Interpreter &interpreter, const std::shared_ptr<Class> &base,
                   const CallArgs &args) {
  static const Signature signature(
      "value, names, *, module=None, qualname=None, type=None, start=1");
  std::vector<Value> a = signature.bind(interpreter, base->name, args);
  std::vector<std::shared_ptr<Class>> bases{base};
  if (auto type = a[4].shared<Class>())
    bases.insert(bases.begin(), type);
  auto cls = Class::make(interpreter.toStr(a[0], "an enum's name"), "", std::move(bases));
  cls->meta = base->meta;
  cls->location = interpreter.location();
  if (interpreter.options().script)
    cls->module = a[2].isStr() ? a[2].str() : "__main__";
  interpreter.state().madeClasses.push_back(cls);
  Value names = a[1];
  if (names.isStr())
    names = interpreter.call(interpreter.getAttr(
        interpreter.call(interpreter.getAttr(names, "replace"), {Value(","), Value(" ")}),
        "split"));
  Int next = interpreter.toInt64(a[5], "start");
  bool isFlag = base->name == "Flag" || hasEnumBase(*base, "Flag");
  auto add = [&](const Value &name, const Value &value) {
    cls->attributes.set(interpreter.toStr(name, "a member's name"), value);
  };
  if (auto entries = mappingOf(interpreter, names)) {
    for (const auto &[name, value] : entries->items())
      add(name, value);
  } else {
    for (const Value &element : interpreter.iterate(names)) {
      if (element.isSequence()) {
        add(element.elements().at(0), element.elements().at(1));
        continue;
      }
      add(element, Value(next));
      next = isFlag ? next * 2 : next + 1;
    }
  }
  completeClass(interpreter, cls, {});
  return Value(cls);
}

} // namespace pellucid::host
