// SPDX-License-Identifier: Apache-2.0
/// `match`: patterns against a value, as the language reference has them (PEP 634).
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;
using Bindings = std::vector<std::pair<std::string, Value>>;

namespace {

/// What a sequence pattern looks into: no text and no bytes.
bool isSequence(Interpreter &interpreter, const Value &v) {
  Value content = contentOf(v);
  if (content.isSequence() || content.kind() == Kind::Range)
    return true;
  auto *instance = v.as<Instance>();
  if (!instance)
    return v.isObject() && v.object()->typeName() == "deque";
  for (const char *name : {"Sequence", "MutableSequence"}) {
    const Value *abstract = interpreter.nativeModule("collections.abc")->globals->find(name);
    if (abstract && instance->cls->isSubclassOf(abstract->expect<Class>("a class")))
      return true;
  }
  return instance->cls->name == "deque";
}

/// Of these a class pattern's one position is the value itself.
bool standsForItself(const Class &cls) {
  static const NameSet names = {"bool", "bytearray", "bytes", "dict", "float", "frozenset",
                                "int",  "list",      "set",   "str",  "tuple"};
  auto is = [](const Class &c) { return c.module == "builtins" && names.count(c.name) != 0; };
  return is(cls) ||
         std::any_of(cls.mro.begin(), cls.mro.end(), [&](const auto &c) { return is(*c); });
}

} // namespace

bool Evaluator::fitsSequence(const MatchSequence &p, const Value &subject, Bindings &bound) {
  if (!isSequence(interpreter, subject))
    return false;
  auto star = std::find_if(p.patterns.begin(), p.patterns.end(),
                           [](const auto &inner) { return inner->kind == PatternKind::MatchStar; });
  auto length = static_cast<size_t>(
      interpreter.toInt64(interpreter.length(subject), "the length of what is matched"));
  bool isOpen = star != p.patterns.end();
  if (isOpen ? length + 1 < p.patterns.size() : length != p.patterns.size())
    return false;
  auto before = static_cast<size_t>(star - p.patterns.begin());
  size_t after = isOpen ? p.patterns.size() - before - 1 : 0;
  auto element = [&](size_t i) {
    return interpreter.getItem(subject, Value(static_cast<int64_t>(i)));
  };
  for (size_t i = 0; i < before; ++i)
    if (!fits(*p.patterns[i], element(i), bound))
      return false;
  if (!isOpen)
    return true;
  if (const auto &name = as<MatchStar>(star->get())->name) {
    List rest;
    for (size_t i = before; i < length - after; ++i)
      rest.push_back(element(i));
    bound.emplace_back(*name, Value::list(std::move(rest)));
  }
  for (size_t i = 0; i < after; ++i)
    if (!fits(*p.patterns[before + 1 + i], element(length - after + i), bound))
      return false;
  return true;
}

bool Evaluator::fitsMapping(const MatchMapping &p, const Value &subject, Bindings &bound) {
  bool isMapping = contentOf(subject).isDict() || isNames(subject);
  if (auto *instance = subject.as<Instance>(); instance && !isMapping) {
    const Value *abstract = interpreter.nativeModule("collections.abc")->globals->find("Mapping");
    isMapping = abstract && instance->cls->isSubclassOf(abstract->expect<Class>("a class"));
  }
  if (!isMapping)
    return false;
  std::vector<Value> keys;
  for (size_t i = 0; i < p.keys.size(); ++i) {
    Value key = eval(*p.keys[i]);
    if (!interpreter.contains(subject, key))
      return false;
    if (!fits(*p.patterns[i], interpreter.getItem(subject, key), bound))
      return false;
    keys.push_back(key);
  }
  if (!p.rest)
    return true;
  host::Dict rest;
  if (auto entries = mappingOf(interpreter, subject))
    for (const auto &[key, value] : entries->items())
      if (std::none_of(keys.begin(), keys.end(), [&](const Value &k) { return equal(k, key); }))
        rest.set(key, value);
  bound.emplace_back(*p.rest, Value::dict(std::move(rest)));
  return true;
}

bool Evaluator::fitsClass(const MatchClass &p, const Value &subject, Bindings &bound) {
  Value type = eval(*p.cls);
  at(*p.cls);
  auto *cls = type.as<Class>();
  if (!cls && !type.isObject())
    interpreter.raise("TypeError", "called match pattern must be a class");
  if (!interpreter.isInstance(subject, type))
    return false;
  if (p.patterns.size() == 1 && cls && standsForItself(*cls) && !cls->find("__match_args__")) {
    if (!fits(*p.patterns[0], subject, bound))
      return false;
  } else if (!p.patterns.empty()) {
    const Value *names = cls ? cls->find("__match_args__") : nullptr;
    size_t accepted = names && names->isTuple() ? names->tuple().size() : 0;
    if (accepted < p.patterns.size())
      interpreter.raise("TypeError", typeName(subject) + "() accepts " + std::to_string(accepted) +
                                         " positional sub-pattern" + (accepted == 1 ? "" : "s") +
                                         " (" + std::to_string(p.patterns.size()) + " given)");
    for (size_t i = 0; i < p.patterns.size(); ++i) {
      auto value = attributeIfAny(interpreter, subject,
                                  interpreter.toStr(names->tuple()[i], "__match_args__'s element"));
      if (!value || !fits(*p.patterns[i], *value, bound))
        return false;
    }
  }
  for (size_t i = 0; i < p.kwdPatterns.size(); ++i) {
    auto value = attributeIfAny(interpreter, subject, p.kwdAttrs[i]);
    if (!value || !fits(*p.kwdPatterns[i], *value, bound))
      return false;
  }
  return true;
}

bool Evaluator::fits(const Pattern &p, const Value &subject, Bindings &bound) {
  at(p);
  state.budget.step();
  switch (p.kind) {
  case PatternKind::MatchValue: {
    Value wanted = eval(*as<MatchValue>(&p)->value);
    return interpreter.equals(subject, wanted);
  }
  case PatternKind::MatchSingleton:
    switch (as<MatchSingleton>(&p)->value) {
    case Constant::Type::True:
    case Constant::Type::False:
      return subject.isBool() &&
             subject.boolean() == (as<MatchSingleton>(&p)->value == Constant::Type::True);
    default:
      return subject.isNone();
    }
  case PatternKind::MatchSequence:
    return fitsSequence(*as<MatchSequence>(&p), subject, bound);
  case PatternKind::MatchMapping:
    return fitsMapping(*as<MatchMapping>(&p), subject, bound);
  case PatternKind::MatchClass:
    return fitsClass(*as<MatchClass>(&p), subject, bound);
  case PatternKind::MatchStar:
    interpreter.refuse("a starred pattern stands for itself");
  case PatternKind::MatchAs: {
    auto *as_ = as<MatchAs>(&p);
    if (as_->pattern && !fits(*as_->pattern, subject, bound))
      return false;
    if (as_->name)
      bound.emplace_back(*as_->name, subject);
    return true;
  }
  case PatternKind::MatchOr:
    for (const auto &choice : as<MatchOr>(&p)->patterns) {
      size_t before = bound.size();
      if (fits(*choice, subject, bound))
        return true;
      bound.resize(before);
    }
    return false;
  }
  return false;
}

Evaluator::Flow Evaluator::execMatch(const Match &s) {
  Value subject = eval(*s.subject);
  for (const MatchCase &c : s.cases) {
    Bindings bound;
    if (!fits(*c.pattern, subject, bound))
      continue;
    for (auto &[name, value] : bound)
      store(name, std::move(value));
    if (c.guard) {
      Value test = eval(*c.guard);
      at(*c.guard);
      if (!interpreter.truth(test))
        continue;
    }
    return run(c.body);
  }
  return Flow::Normal;
}

} // namespace pellucid::host
