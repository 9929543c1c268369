// SPDX-License-Identifier: Apache-2.0
// Tuples, plain and of a NamedTuple class: how they are made, taken apart and handed to host code.
#include "frontend/Emitter.h"

#include <algorithm>

namespace pellucid::frontend {

/// The fields of a NamedTuple or @triton.aggregate class, in order; null for other classes.
static const host::Tuple *fieldsOf(const host::Class &cls) {
  const host::Value *fields = cls.find("_fields");
  if (!fields)
    fields = cls.find("__aggregate_fields__");
  return fields && fields->isTuple() ? &fields->tuple() : nullptr;
}

static std::shared_ptr<host::Class> namedTupleClass(const host::Value &value) {
  auto cls = value.shared<host::Class>();
  return cls && fieldsOf(*cls) ? cls : nullptr;
}

Val Emitter::fromHost(const host::Value &value) {
  host::Value plain = host::unwrapConstexpr(value);
  std::vector<Val> elements;
  if (auto *instance = plain.as<host::Instance>(); instance && fieldsOf(*instance->cls)) {
    for (const host::Value &name : *fieldsOf(*instance->cls))
      elements.push_back(fromHost(*instance->attributes.find(name.str())));
    return Val::named(instance->cls, std::move(elements));
  }
  if (!plain.isSequence())
    return Val::of(plain);
  for (const host::Value &element : plain.elements())
    elements.push_back(fromHost(element));
  return Val::tuple(std::move(elements));
}

host::Value Emitter::toHost(const Val &value, const std::string &what) {
  if (value.isConstexpr())
    return value.constant;
  if (!value.isTuple())
    fail(what + " must be known while compiling (a constexpr), got " + toString(value.type));
  host::Tuple elements;
  for (const Val &element : value.elements)
    elements.push_back(toHost(element, what));
  if (isAggregate(value)) { // as it is, past its constructor
    auto instance = std::make_shared<host::Instance>(value.tupleClass);
    const host::Tuple &fields = *fieldsOf(*value.tupleClass);
    for (size_t i = 0; i < fields.size(); ++i)
      instance->attributes.set(fields[i].str(), elements[i]);
    return host::Value(instance);
  }
  return value.tupleClass ? interpreter.call(host::Value(value.tupleClass), std::move(elements))
                          : host::Value::tuple(std::move(elements));
}

std::optional<Val> Emitter::namedTuple(const host::Value &callee, std::vector<Val> &positional,
                                       std::vector<std::pair<std::string, Val>> &keywords) {
  std::shared_ptr<host::Class> cls = namedTupleClass(callee);
  if (!cls)
    return std::nullopt;
  const host::Tuple &fields = *fieldsOf(*cls);
  if (positional.size() > fields.size())
    fail("'" + cls->name + "' has " + std::to_string(fields.size()) + " fields, got " +
         std::to_string(positional.size()) + " values");
  std::vector<Val> elements = std::move(positional);
  for (size_t i = elements.size(); i < fields.size(); ++i) {
    const std::string &name = fields[i].str();
    auto given = std::find_if(keywords.begin(), keywords.end(),
                              [&](const auto &keyword) { return keyword.first == name; });
    if (given != keywords.end()) {
      elements.push_back(given->second);
      keywords.erase(given);
    } else if (const host::Value *fallback = cls->find(name)) {
      elements.push_back(fromHost(*fallback));
    } else {
      fail("'" + cls->name + "' needs a value for its field '" + name + "'");
    }
  }
  if (!keywords.empty())
    fail("'" + cls->name + "' has no field '" + keywords[0].first + "', or it is given twice");
  if (cls->find("__aggregate_fields__"))
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = asField(*cls, i, elements[i]);
  return Val::named(cls, std::move(elements));
}

Val Emitter::field(const Val &tuple, const std::string &name) {
  if (!tuple.tupleClass && (name == "append" || name == "extend" || name == "insert"))
    failUnsupported("lists of a kernel do not change, so they have no '" + name +
                    "'; make a new one: values = values + [x]");
  if (!tuple.tupleClass)
    fail("a tuple has no attribute '" + name + "'");
  const host::Tuple &fields = *fieldsOf(*tuple.tupleClass);
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].str() == name)
      return tuple.elements[i];
  fail("'" + tuple.tupleClass->name + "' has no field '" + name + "'");
}

/// `tl.tuple(values)`: a list is one, too.
Val Emitter::emitTuple(Bound &args) {
  if (!args[0].isTuple())
    fail("tl.tuple expects a tuple or a list");
  if (!args[1].isNone())
    fail("tl.tuple's 'type' is decided by its values; leave it out");
  return Val::tuple(args[0].elements);
}

/// `a, *b, c = value`; the starred name takes what the others leave.
void Emitter::unpack(const syntax::List<syntax::Expr> &targets, SourceRange range,
                     const Val &value) {
  auto isStarred = [](const auto &target) { return syntax::as<syntax::Starred>(target.get()); };
  auto starred = std::find_if(targets.begin(), targets.end(), isStarred);
  bool takesRest = starred != targets.end();
  size_t fixed = targets.size() - takesRest, given = value.elements.size();
  if (isAggregate(value))
    failAt(range, "a value of '" + value.tupleClass->name + "' cannot be unpacked");
  if (!value.isTuple() || (takesRest ? given < fixed : given != fixed))
    failAt(range, "cannot unpack " +
                      (value.isTuple() ? std::to_string(given) + " values" : "one value") +
                      " into " + (takesRest ? "at least " : "") + std::to_string(fixed) + " names");
  auto next = value.elements.begin();
  for (const auto &target : targets) {
    auto *rest = isStarred(target);
    if (!rest) {
      assign(*target, *next++);
      continue;
    }
    auto end = next + static_cast<long>(given - fixed);
    assign(*rest->value, Val::tuple({next, end}));
    next = end;
  }
}

std::vector<Val> Emitter::elementsOf(const syntax::List<syntax::Expr> &list) {
  std::vector<Val> values;
  for (const auto &element : list) {
    auto *starred = syntax::as<syntax::Starred>(element.get());
    if (!starred) {
      values.push_back(expression(*element));
      continue;
    }
    Val inner = expression(*starred->value);
    if (!inner.isTuple() || isAggregate(inner))
      failAt(starred->range, "only a tuple can be spread with *");
    values.insert(values.end(), inner.elements.begin(), inner.elements.end());
  }
  return values;
}

Val Emitter::comprehension(const syntax::ListComp &comp) {
  if (comp.generators.size() != 1)
    fail("a list comprehension in a kernel takes one 'for'");
  Val over = expression(*comp.generators[0].iter);
  if (!over.isTuple() || isAggregate(over))
    fail("a list comprehension in a kernel runs over a tuple or list");
  std::map<std::string, Val> before = frame->names;
  std::vector<Val> values;
  for (const Val &element : over.elements) {
    assign(*comp.generators[0].target, element);
    bool keep = true;
    for (const auto &condition : comp.generators[0].ifs)
      keep &= constantBool(expression(*condition), "the condition of a comprehension");
    if (keep)
      values.push_back(expression(*comp.elt));
  }
  frame->names = before;
  return Val::tuple(std::move(values));
}

Val Emitter::tupleItem(const Val &object, const syntax::Expr &index) {
  int64_t size = static_cast<int64_t>(object.elements.size());
  if (auto *slice = syntax::as<syntax::Slice>(&index)) {
    if (slice->step && constantInt(expression(*slice->step), "a slice step") != 1)
      fail("a tuple is sliced with step 1 only in a kernel");
    auto bound = [&](const syntax::Ptr<syntax::Expr> &e, int64_t fallback) {
      Val given = e ? expression(*e) : Val();
      int64_t v = given.isNone() ? fallback : constantInt(given, "a slice bound");
      return std::clamp<int64_t>(v < 0 ? v + size : v, 0, size);
    };
    int64_t low = bound(slice->lower, 0), high = std::max(low, bound(slice->upper, size));
    return Val::tuple({object.elements.begin() + low, object.elements.begin() + high});
  }
  int64_t at = constantInt(expression(index), "an index into a tuple");
  if (at < -size || at >= size)
    fail("index " + std::to_string(at) + " is out of range for a tuple of " + std::to_string(size));
  return object.elements[static_cast<size_t>(at < 0 ? at + size : at)];
}

} // namespace pellucid::frontend
