// SPDX-License-Identifier: Apache-2.0
/// Attributes, items, iteration and text of values.
#include "host/ByteString.h"
#include "host/DictView.h"
#include "host/FloatText.h"
#include "host/InterpreterState.h"
#include "host/Text.h"

#include <algorithm>
#include <stdexcept>

namespace pellucid::host {

// ---- attributes
// ----------------------------------------------------------------------------------------------------

std::optional<Value> Interpreter::findAttr(const Value &object, std::string_view name) {
  if (object.isObject()) {
    std::optional<Value> found = object.object()->getAttr(*this, name);
    return found || name != "__class__" ? found : typeOf(object);
  }
  Value type = typeOf(object);
  auto *cls = type.as<Class>();
  if (name == "__class__")
    return type;
  const Value *found = cls->find(name);
  if (!found)
    return std::nullopt;
  if (auto *descriptor = found->as<Descriptor>()) {
    if (descriptor->form == Descriptor::Form::Property)
      return call(descriptor->function, {object});
    return descriptor->form == Descriptor::Form::Static
               ? descriptor->function
               : Value(std::make_shared<BoundMethod>(type, descriptor->function));
  }
  return found->isObject() && found->object()->isCallable()
             ? Value(std::make_shared<BoundMethod>(object, *found))
             : *found;
}

const Value *methodOf(Interpreter &interpreter, const Value &object, std::string_view name) {
  if (object.isObject())
    return object.object()->methodFor(name);
  if (object.isNone())
    return nullptr;
  Value type = interpreter.typeOf(object);
  const Value *found = type.as<Class>()->find(name);
  return found && (found->as<Function>() || found->as<NativeFunction>()) ? found : nullptr;
}

Value Interpreter::getAttr(const Value &object, std::string_view name) {
  if (auto found = findAttr(object, name))
    return *found;
  if (auto *module = object.as<Module>())
    raise("AttributeError",
          "module '" + module->name + "' has no attribute '" + std::string(name) + "'");
  if (auto *cls = object.as<Class>())
    raise("AttributeError",
          "type object '" + cls->name + "' has no attribute '" + std::string(name) + "'");
  raise("AttributeError",
        "'" + typeName(object) + "' object has no attribute '" + std::string(name) + "'");
}

void Interpreter::setAttr(const Value &object, std::string_view name, const Value &value) {
  // Where only kernels are wanted: settings of a library that is not here, such as triton.knobs,
  // change nothing of them.
  if (auto *opaque = object.as<Opaque>();
      opaque && !opaque->reason && impl->options.defersMissingImports)
    return;
  if (!object.isObject() || !object.object()->setAttr(*this, name, value))
    raise("AttributeError", "'" + typeName(object) + "' object has no settable attribute '" +
                                std::string(name) + "'");
}

// ---- items
// ---------------------------------------------------------------------------------------------------------

Range sliceIndices(Interpreter &interpreter, const Slice &slice, int64_t length) {
  int64_t step = slice.step.isNone() ? 1 : interpreter.toInt64(slice.step, "the slice step");
  if (step == 0)
    interpreter.raise("ValueError", "slice step cannot be zero");
  int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? length : length - 1;
  auto bound = [&](const Value &v, int64_t absent) {
    if (v.isNone())
      return absent;
    int64_t i = interpreter.toInt64(v, "a slice bound");
    return std::clamp(i < 0 ? i + length : i, lowest, highest);
  };
  return {bound(slice.lower, step > 0 ? lowest : highest),
          bound(slice.upper, step > 0 ? highest : lowest), step};
}

static int64_t indexIn(Interpreter &interpreter, const Value &key, int64_t length,
                       std::string_view type) {
  Value plain = unwrapConstexpr(key);
  auto *instance = plain.as<Instance>();
  bool isIndex = instance ? instance->special(interpreter, "__index__").has_value()
                          : plain.isObject() && plain.object()->getAttr(interpreter, "__index__");
  if (!plain.isInt() && !plain.isBool() && !plain.isSymInt() && !isIndex)
    interpreter.raise("TypeError",
                      type == "str"
                          ? "string indices must be integers, not '" + typeName(key) + "'"
                          : std::string(type) + " indices must be integers or slices, not " +
                                typeName(key));
  int64_t i = interpreter.toInt64(plain, "an index");
  int64_t at = i < 0 ? i + length : i;
  if (at < 0 || at >= length)
    interpreter.raise("IndexError",
                      std::string(type == "str" ? "string" : type) + " index out of range");
  return at;
}

template <typename Element>
static std::vector<Element> pick(const std::vector<Element> &from, const Range &range) {
  std::vector<Element> out;
  int64_t count = range.length();
  for (int64_t i = 0; i < count; ++i)
    out.push_back(from[static_cast<size_t>(range.start + i * range.step)]);
  return out;
}

static Value sequenceItem(Interpreter &interpreter, const Value &object, const Value &key) {
  const std::vector<Value> &elements = object.elements();
  auto length = static_cast<int64_t>(elements.size());
  if (key.kind() != Kind::Slice)
    return elements[static_cast<size_t>(indexIn(interpreter, key, length, typeName(object)))];
  std::vector<Value> out = pick(elements, sliceIndices(interpreter, key.slice(), length));
  // A part of torch.Size is one.
  if (object.isSizes())
    return Value::sizes(std::move(out));
  return object.isTuple() ? Value::tuple(std::move(out)) : Value::list(std::move(out));
}

static Value stringItem(Interpreter &interpreter, const Value &object, const Value &key) {
  std::vector<std::string> points = codePoints(object.str());
  auto length = static_cast<int64_t>(points.size());
  if (key.kind() != Kind::Slice)
    return Value(points[static_cast<size_t>(indexIn(interpreter, key, length, "str"))]);
  std::string out;
  for (const std::string &p : pick(points, sliceIndices(interpreter, key.slice(), length)))
    out += p;
  return Value(std::move(out));
}

static Value rangeItem(Interpreter &interpreter, const Range &r, const Value &key) {
  if (key.kind() != Kind::Slice)
    return Value(r.start + r.step * indexIn(interpreter, key, r.length(), "range object"));
  Range picked = sliceIndices(interpreter, key.slice(), r.length());
  Int start = r.start, step = r.step;
  return makeRangeOf(interpreter, start + picked.start * step, start + picked.stop * step,
                     step * picked.step);
}

static void checkHashable(Interpreter &interpreter, const Value &key) {
  if (!hashOf(key))
    interpreter.raise("TypeError", "unhashable type: '" + typeName(key) + "'");
}

Value Interpreter::getItem(const Value &object, const Value &key) {
  ActiveScope running(*this);
  switch (object.kind()) {
  case Kind::Tuple:
  case Kind::List:
    return sequenceItem(*this, object, key);
  case Kind::Str:
    return stringItem(*this, object, key);
  case Kind::Range:
    return rangeItem(*this, object.range(), key);
  case Kind::Dict: {
    checkHashable(*this, key);
    if (const Value *found = object.dictionary().find(key))
      return *found;
    raiseKey(key);
  }
  case Kind::Object:
    if (auto found = object.object()->getItem(*this, key))
      return *found;
    break;
  default:
    break;
  }
  raise("TypeError", "'" + typeName(object) + "' object is not subscriptable");
}

static void setListItem(Interpreter &interpreter, List &list, const Value &key,
                        const Value &value) {
  auto length = static_cast<int64_t>(list.size());
  if (key.kind() != Kind::Slice) {
    list[static_cast<size_t>(indexIn(interpreter, key, length, "list"))] = value;
    return;
  }
  std::vector<Value> elements = interpreter.iterate(value); // may change the list's length
  length = static_cast<int64_t>(list.size());
  Range range = sliceIndices(interpreter, key.slice(), length);
  checkLength(interpreter, list.size() + elements.size());
  if (range.step == 1) {
    auto first = list.begin() + range.start;
    auto after = list.erase(first, list.begin() + std::max(range.start, range.stop));
    list.insert(after, elements.begin(), elements.end());
    return;
  }
  if (static_cast<int64_t>(elements.size()) != range.length())
    interpreter.raise("ValueError",
                      "attempt to assign sequence of size " + std::to_string(elements.size()) +
                          " to extended slice of size " + std::to_string(range.length()));
  for (size_t i = 0; i < elements.size(); ++i)
    list[static_cast<size_t>(range.start + static_cast<int64_t>(i) * range.step)] = elements[i];
}

void Interpreter::setItem(const Value &object, const Value &key, const Value &value) {
  ActiveScope running(*this);
  if (object.isList())
    return setListItem(*this, object.list(), key, value);
  if (object.isDict()) {
    checkHashable(*this, key);
    object.dictionary().set(key, value);
    return;
  }
  if (object.isObject() && object.object()->setItem(*this, key, value))
    return;
  raise("TypeError", "'" + typeName(object) + "' object does not support item assignment");
}

void Interpreter::delItem(const Value &object, const Value &key) {
  ActiveScope running(*this);
  if (object.isDict()) {
    if (!object.dictionary().erase(key))
      raiseKey(key);
    return;
  }
  if (object.isList()) {
    List &list = object.list();
    auto length = static_cast<int64_t>(list.size());
    if (key.kind() != Kind::Slice) {
      list.erase(list.begin() + indexIn(*this, key, length, "list"));
      return;
    }
    Range range = sliceIndices(*this, key.slice(), length);
    std::vector<bool> gone(list.size());
    for (int64_t i = 0, n = range.length(); i < n; ++i)
      gone[static_cast<size_t>(range.start + i * range.step)] = true;
    List kept;
    for (size_t i = 0; i < list.size(); ++i)
      if (!gone[i])
        kept.push_back(list[i]);
    list = std::move(kept);
    return;
  }
  if (removeName(object, key))
    return;
  if (auto *bytes = object.as<ByteArray>())
    return bytes->remove(*this, key);
  if (auto *instance = object.as<Instance>())
    if (auto method = instance->special(*this, "__delitem__")) {
      call(*method, {key});
      return;
    }
  raise("TypeError", "'" + typeName(object) + "' object doesn't support item deletion");
}

/// When `item` is one of the elements, as a condition over sizes; nullopt where each must be asked.
static std::optional<symbolic::Expr> membership(const Value &container, const Value &item) {
  if (container.kind() == Kind::Range && item.isSymInt()) {
    const Range &r = container.range();
    symbolic::Expr n = item.symInt();
    if (r.length() == 0)
      return symbolic::Expr(0);
    int64_t last = r.start + (r.length() - 1) * r.step;
    symbolic::Expr inside = symbolic::logicalAnd(symbolic::lessEqual(std::min(r.start, last), n),
                                                 symbolic::lessEqual(n, std::max(r.start, last)));
    return symbolic::logicalAnd(inside,
                                symbolic::equal(symbolic::mod(n - r.start, std::abs(r.step)), 0));
  }
  bool symbolic = isSymbolic(item);
  std::vector<Value> elements;
  if (container.isSequence()) {
    elements = container.elements();
    symbolic = symbolic || std::any_of(elements.begin(), elements.end(), isSymbolic);
  } else if (container.isSet() && (symbolic || container.elementSet().isSymbolic())) {
    elements = container.elementSet().elements();
    symbolic = true;
  } else if (container.isDict() && (symbolic || container.dictionary().isSymbolic())) {
    for (const auto &[key, value] : container.dictionary().items())
      elements.push_back(key);
    symbolic = true;
  } else {
    return std::nullopt;
  }
  if (!symbolic)
    return std::nullopt;
  symbolic::Expr any = 0;
  for (const Value &element : elements) {
    auto one = equality(element, item);
    if (!one)
      return std::nullopt;
    any = symbolic::logicalOr(any, *one);
  }
  return any;
}

Value Interpreter::membershipOf(const Value &container, const Value &item) {
  if (auto *view = container.as<DictView>(); view && view->form == DictView::Form::Keys)
    return membershipOf(view->dict, item);
  ActiveScope running(*this);
  if (container.isSet() || container.isDict())
    checkHashable(*this, item);
  if (auto condition = membership(contentOf(container), contentOf(item)))
    return Value::condition(*condition);
  return Value(contains(container, item));
}

bool Interpreter::contains(const Value &container, const Value &item) {
  ActiveScope running(*this);
  if (auto condition = membership(contentOf(container), contentOf(item)))
    return truth(Value::condition(*condition));
  switch (container.kind()) {
  case Kind::Str:
    return container.str().find(toStr(item, "the left operand of 'in <string>'")) !=
           std::string::npos;
  case Kind::Dict:
    checkHashable(*this, item);
    return container.dictionary().find(item) != nullptr;
  case Kind::Set:
    checkHashable(*this, item);
    return container.elementSet().contains(item);
  case Kind::Object:
    if (auto r = container.object()->contains(*this, item))
      return *r;
    break;
  default:
    break;
  }
  bool found = false;
  forEach(*this, container, [&](const Value &v) {
    found = v.isSame(item) || equals(v, item);
    return !found;
  });
  return found;
}

// ---- iteration
// -----------------------------------------------------------------------------------------------------

Value Interpreter::length(const Value &v) {
  switch (v.kind()) {
  case Kind::Str:
    return Value(static_cast<int64_t>(codePointCount(v.str())));
  case Kind::Tuple:
  case Kind::List:
    return Value(static_cast<int64_t>(v.elements().size()));
  case Kind::Dict:
    return Value(static_cast<int64_t>(v.dictionary().size()));
  case Kind::Set:
    return Value(static_cast<int64_t>(v.elementSet().size()));
  case Kind::Range:
    return Value(v.range().length());
  case Kind::Object:
    if (auto r = v.object()->length(*this))
      return *r;
    break;
  default:
    break;
  }
  raise("TypeError", "object of type '" + typeName(v) + "' has no len()");
}

/// The entries as they are when their turn comes; a dict that gets other keys meanwhile cannot be
/// walked to its end. `given`: the view that is walked, if any.
static void walkDict(Interpreter &interpreter, Value dict, const DictView *given,
                     const std::function<bool(const Value &)> &f) {
  const Dict &entries = dict.dictionary();
  DictView keys(DictView::Form::Keys, dict), view = given ? *given : keys;
  size_t size = entries.size();
  for (size_t i = 0; i < size; ++i) {
    Value key = entries.items()[i].first;
    if (!f(view.elementOf(entries.items()[i])))
      return;
    if (entries.size() != size)
      interpreter.raise("RuntimeError", "dictionary changed size during iteration");
    if (!entries.items()[i].first.isSame(key))
      interpreter.raise("RuntimeError", "dictionary keys changed during iteration");
  }
}

static void walkSet(Interpreter &interpreter, Value set,
                    const std::function<bool(const Value &)> &f) {
  const Set &members = set.elementSet();
  size_t size = members.size();
  for (const Value &v : members.elements()) {
    if (!f(v))
      return;
    if (members.size() != size)
      interpreter.raise("RuntimeError", "Set changed size during iteration");
  }
}

void forEach(Interpreter &interpreter, const Value &iterable,
             const std::function<bool(const Value &)> &visit) {
  auto f = [&](const Value &element) {
    interpreter.state().budget.step();
    return visit(element);
  };
  if (auto *iterator = iterable.as<Iterator>()) {
    iterator->stream(f);
    return;
  }
  if (auto *instance = iterable.as<Instance>()) {
    std::shared_ptr<Object> keepAlive = iterable.object();
    streamInstance(interpreter, *instance, f);
    return;
  }
  if (iterable.kind() == Kind::Range) {
    const Range r = iterable.range();
    for (int64_t i = 0, n = r.length(); i < n; ++i)
      if (!f(Value(r.start + i * r.step)))
        return;
    return;
  }
  if (iterable.isList()) { // may grow while it is walked
    for (size_t i = 0; i < iterable.list().size(); ++i) {
      Value element = iterable.list()[i];
      if (!f(element))
        return;
    }
    return;
  }
  auto *view = iterable.as<DictView>();
  if (iterable.isDict() || view)
    return walkDict(interpreter, view ? view->dict : iterable, view, f);
  if (iterable.isSet())
    return walkSet(interpreter, iterable, f);
  for (const Value &v : interpreter.iterate(iterable))
    if (!f(v))
      return;
}

std::vector<Value> Interpreter::iterate(const Value &v) {
  std::vector<Value> out;
  switch (v.kind()) {
  case Kind::Tuple:
  case Kind::List:
    return v.elements();
  case Kind::Set:
    return v.elementSet().elements();
  case Kind::Dict:
    for (const auto &[key, value] : v.dictionary().items())
      out.push_back(key);
    return out;
  case Kind::Str:
    for (std::string &p : codePoints(v.str()))
      out.emplace_back(std::move(p));
    return out;
  case Kind::Range:
    forEach(*this, v, [&](const Value &i) { return out.push_back(i), true; });
    return out;
  case Kind::Object:
    if (auto r = v.object()->iterate(*this))
      return *r;
    break;
  default:
    break;
  }
  raise("TypeError", "'" + typeName(v) + "' object is not iterable");
}

// ---- text
// ----------------------------------------------------------------------------------------------------------

/// What a method that gives a text gave, for a text around it.
static std::string textGiven(Interpreter &interpreter, const Value &given, const char *what) {
  return given.as<SymText>() ? repr(given) : interpreter.toStr(given, what);
}

std::string Interpreter::str(const Value &v) {
  if (v.isStr())
    return v.str();
  if (auto *cls = v.as<Class>())
    if (auto own = cls->special("__str__"))
      return textGiven(*this, call(*own), "__str__'s result");
  if (auto *instance = v.as<Instance>()) {
    if (auto method = instance->special(*this, "__str__"))
      return textGiven(*this, call(*method), "__str__'s result");
    if (instance->cls->isSubclassOf(*builtinClass("BaseException"))) {
      const Value *args = instance->attributes.find("args");
      if (!args || args->tuple().empty())
        return "";
      if (args->tuple().size() == 1 && instance->cls->isSubclassOf(*builtinClass("KeyError")))
        return repr(args->tuple()[0]);
      return args->tuple().size() == 1 ? str(args->tuple()[0]) : repr(*args);
    }
  }
  return repr(v);
}

std::string Interpreter::repr(const Value &v) {
  if (auto *cls = v.as<Class>())
    if (auto own = cls->special("__repr__"))
      return textGiven(*this, call(*own), "__repr__'s result");
  if (auto *instance = v.as<Instance>())
    if (auto method = instance->special(*this, "__repr__"))
      return textGiven(*this, call(*method), "__repr__'s result");
  return reprWith(v, [this](const Value &element) { return repr(element); });
}

std::string Interpreter::format(const Value &v, std::string_view spec) {
  // A member of an enum says itself how it is written.
  if (auto *member = v.as<Instance>(); member && member->cls->find("__members__"))
    if (auto method = member->special(*this, "__format__"))
      return textGiven(*this, call(*method, {Value(std::string(spec))}), "__format__'s result");
  Value plain = unwrapConstexpr(v);
  // What shows a dynamic size is for reading alone.
  if (host::isSymbolic(plain) && (plain.isSymInt() || plain.isSymBool() || plain.isObject()))
    return str(plain);
  // What a class says is for its instances.
  if (plain.isObject() && !plain.as<Instance>() && !plain.as<Class>())
    if (auto method = plain.object()->getAttr(*this, "__format__"))
      return textGiven(*this, call(*method, {Value(std::string(spec))}), "__format__'s result");
  if (auto *instance = plain.as<Instance>())
    if (auto method = instance->special(*this, "__format__"))
      return textGiven(*this, call(*method, {Value(std::string(spec))}), "__format__'s result");
  try {
    if (plain.isBool() && spec.empty())
      return str(plain);
    if (plain.isInt() || plain.isBool())
      return formatInt(plain.isBool() ? Int(plain.boolean()) : plain.integer(), spec);
    if (plain.isFloat())
      return formatFloat(plain.real(), spec);
    if (plain.isStr() || spec.empty())
      return formatStr(str(plain), spec);
  } catch (const std::invalid_argument &e) {
    raise("ValueError", e.what());
  }
  raise("TypeError", "unsupported format string passed to " + typeName(v) + ".__format__");
}

} // namespace pellucid::host
