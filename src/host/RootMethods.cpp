// SPDX-License-Identifier: Apache-2.0
/// What every class has from `object`, where it says nothing itself.
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

/// A class as it would be without its own __getattribute__.
static Value plainAttribute(Interpreter &interpreter, Bound &a) {
  const std::string &name = interpreter.toStr(a[1], "an attribute name");
  auto *instance = a[0].as<Instance>();
  auto found =
      instance ? instance->ordinaryAttr(interpreter, name) : interpreter.findAttr(a[0], name);
  if (found)
    return *found;
  interpreter.raise("AttributeError",
                    "'" + typeName(a[0]) + "' object has no attribute '" + name + "'");
}

static Value setPlainAttribute(Interpreter &interpreter, Bound &a) {
  const std::string &name = interpreter.toStr(a[1], "an attribute name");
  auto *instance = a[0].as<Instance>();
  if (!instance)
    interpreter.raise("TypeError",
                      "can't apply this __setattr__ to '" + typeName(a[0]) + "' object");
  instance->setOrdinaryAttr(interpreter, name, a[2]);
  return Value();
}

static Value deletePlainAttribute(Interpreter &interpreter, Bound &a) {
  const std::string &name = interpreter.toStr(a[1], "an attribute name");
  auto *instance = a[0].as<Instance>();
  if (!instance || !instance->attributes.erase(name))
    interpreter.raise("AttributeError", name);
  return Value();
}

static Value identical(Interpreter &interpreter, Bound &a) {
  return a[0].isSame(a[1]) ? Value(true) : *interpreter.builtin("NotImplemented");
}

std::optional<Value> rootMethod(std::string_view name) {
  struct Row {
    const char *name, *signature;
    NativeFunction::Body body;
  };
  static const std::vector<Row> rows = {
      {"__getattribute__", "self, name", plainAttribute},
      {"__setattr__", "self, name, value", setPlainAttribute},
      {"__delattr__", "self, name", deletePlainAttribute},
      {"__eq__", "self, other", identical},
      {"__repr__", "self", [](Interpreter &, Bound &a) { return Value(repr(a[0])); }},
      {"__str__", "self", [](Interpreter &i, Bound &a) { return Value(i.repr(a[0])); }},
      {"__format__", "self, spec", [](Interpreter &i, Bound &a) { return Value(i.str(a[0])); }},
      {"__dir__", "self",
       [](Interpreter &i, Bound &a) { return i.call(*i.builtin("dir"), {a[0], Value(true)}); }},
      {"__init__", "self, *args, **kwargs", [](Interpreter &, Bound &) { return Value(); }},
      {"__init_subclass__", "*args, **kwargs", [](Interpreter &, Bound &) { return Value(); }}};
  for (const Row &row : rows)
    if (row.name == name)
      return native(std::string("object.") + row.name, row.signature, row.body);
  return std::nullopt;
}

} // namespace pellucid::host
