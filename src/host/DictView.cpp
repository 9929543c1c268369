// SPDX-License-Identifier: Apache-2.0
#include "host/DictView.h"

#include "host/FloatText.h"
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

static constexpr const char *classNames[] = {"dict_keys", "dict_values", "dict_items"};

std::string DictView::typeName() const { return classNames[size_t(form)]; }

Value DictView::elementOf(const std::pair<Value, Value> &entry) const {
  return form == Form::Keys     ? entry.first
         : form == Form::Values ? entry.second
                                : Value::tuple({entry.first, entry.second});
}

std::vector<Value> DictView::elements() const {
  std::vector<Value> out;
  for (const auto &entry : dict.dictionary().items())
    out.push_back(elementOf(entry));
  return out;
}

std::string DictView::textWith(const std::function<std::string(const Value &)> &text) const {
  return (isOrdered ? "o" : "") + typeName() + "(" + reprWith(Value::list(elements()), text) + ")";
}

std::optional<Value> DictView::getAttr(Interpreter &interpreter, std::string_view name) {
  const std::shared_ptr<Class> &cls = interpreter.builtinClass(typeName());
  if (name == "__class__")
    return Value(cls);
  const Value *found = cls->find(name);
  return found ? std::optional(
                     Value(std::make_shared<BoundMethod>(Value(shared_from_this()), *found)))
               : std::nullopt;
}

static Value setOf(Interpreter &interpreter, const Value &elements) {
  return interpreter.call(Value(interpreter.builtinClass("set")), {elements});
}

std::optional<Value> DictView::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                        bool reflected) {
  bool ofSets = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor ||
                op == BinaryOp::Sub;
  if (!isSet() || !ofSets)
    return std::nullopt;
  Value self = setOf(interpreter, Value(shared_from_this())), with = setOf(interpreter, other);
  return reflected ? interpreter.binary(op, with, self) : interpreter.binary(op, self, with);
}

/// Whether `==` and `<=` are asked of the elements: a set, or keys or items of a dict.
static bool isLikeSet(const Value &value) {
  auto *view = value.as<DictView>();
  return contentOf(value).isSet() || (view && view->isSet());
}

std::optional<Value> DictView::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                       bool) {
  if (!isSet() || !isLikeSet(other))
    return std::nullopt;
  return interpreter.compare(op, setOf(interpreter, Value(shared_from_this())),
                             setOf(interpreter, other));
}

std::optional<Value> DictView::length(Interpreter &) {
  return Value(static_cast<int64_t>(dict.dictionary().size()));
}

std::optional<bool> DictView::contains(Interpreter &interpreter, const Value &item) {
  if (form == Form::Keys)
    return interpreter.contains(dict, item);
  if (form == Form::Values)
    return std::nullopt;
  if (!item.isTuple() || item.tuple().size() != 2 || !interpreter.contains(dict, item.tuple()[0]))
    return false;
  Value value = interpreter.getItem(dict, item.tuple()[0]);
  return value.isSame(item.tuple()[1]) || interpreter.equals(value, item.tuple()[1]);
}

std::optional<Value> DictView::deepCopy(Interpreter &interpreter) {
  interpreter.raise("TypeError", "cannot pickle '" + typeName() + "' object");
}

bool DictView::equals(const Object &other) const {
  auto *view = dynamic_cast<const DictView *>(&other);
  if (this == &other || !view || !isSet() || !view->isSet())
    return this == &other;
  Set mine, theirs;
  for (const Value &element : elements())
    mine.insert(element);
  for (const Value &element : view->elements())
    theirs.insert(element);
  return equal(Value::set(std::move(mine)), Value::set(std::move(theirs)));
}

std::optional<size_t> DictView::hash() const { return isSet() ? std::nullopt : Object::hash(); }

static Value areDisjoint(Interpreter &interpreter, Bound &a) {
  bool met = false;
  forEach(interpreter, a[1], [&](const Value &element) {
    met = interpreter.contains(a[0], element);
    return !met;
  });
  return Value(!met);
}

void DictView::addClasses(Interpreter &interpreter) {
  for (Form form : {Form::Keys, Form::Values, Form::Items}) {
    std::string name = classNames[size_t(form)];
    auto cls = Class::make(name, "builtins");
    cls->accepts = [form](const Value &value) {
      auto *view = value.as<DictView>();
      return view && view->form == form;
    };
    cls->construct = [name](Interpreter &i, CallArgs) -> Value {
      i.raise("TypeError", "cannot create '" + name + "' instances");
    };
    auto add = [&](const char *method, const char *signature, NativeFunction::Body body) {
      cls->attributes.set(method, native(name + "." + method, signature, std::move(body)));
    };
    if (form != Form::Values)
      add("isdisjoint", "self, other", areDisjoint);
    add("__len__", "self", [](Interpreter &i, Bound &a) { return i.length(a[0]); });
    add("__iter__", "self",
        [](Interpreter &i, Bound &a) { return i.call(*i.builtin("iter"), {a[0]}); });
    add("__reversed__", "self",
        [](Interpreter &i, Bound &a) { return i.call(*i.builtin("reversed"), {a[0]}); });
    add("__contains__", "self, item",
        [](Interpreter &i, Bound &a) { return Value(i.contains(a[0], a[1])); });
    interpreter.state().classes.emplace(name, std::move(cls));
  }
}

} // namespace pellucid::host
