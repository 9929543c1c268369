// SPDX-License-Identifier: Apache-2.0
/// What `typing` and subscripted classes stand for, and annotations that wait until they are asked.
#pragma once

#include "host/Interpreter.h"

namespace pellucid::host {

/// `list[int]`, `int | None`, `Optional[X]`, `Literal["a"]`, and the names of `typing` themselves.
class TypeForm : public Object {
public:
  const std::string name; ///< "typing.Union", "list"
  Value origin;           ///< the class behind it; None for Any, Union, Literal …
  Value form;             ///< subscripted without a class behind it: the name of `typing` it is of
  Tuple arguments;
  bool isSubscripted = false;
  explicit TypeForm(std::string n, Value o = {}) : name(std::move(n)), origin(std::move(o)) {}

  std::string typeName() const override { return isSubscripted ? "GenericAlias" : "_SpecialForm"; }
  std::string repr() const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view attribute) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override;

  bool isUnion() const;
  /// What typing.get_origin() says; None for what is not subscripted and no alias of a class.
  Value originOf() const;
};

/// `cls[key]` and `a | b`.
Value subscripted(Interpreter &, const Value &origin, const std::string &name, const Value &key);
Value unionOf(Interpreter &, const std::vector<Value> &members);

/// The annotation of a class's name: evaluated when its value is asked for, since what it names
/// need not be supported here.
class Annotation : public Object {
public:
  Annotation(const syntax::Expr &e, std::shared_ptr<Scope> s) : expr(e), scope(std::move(s)) {}
  std::string typeName() const override { return "annotation"; }
  /// Its value; its text below `from __future__ import annotations`.
  Value value(Interpreter &) const;
  /// What typing.get_type_hints() says: the type that a text stands for, too.
  Value type(Interpreter &) const;
  /// What it says without being evaluated: "ClassVar", "InitVar", "KW_ONLY" or anything else.
  std::string kind() const;

private:
  const syntax::Expr &expr;
  std::shared_ptr<Scope> scope;
};

/// The value of an annotation in a function's or class's text.
Value annotationValue(Interpreter &, const syntax::Expr &, const std::shared_ptr<Scope> &);
/// `__annotations__` as the program sees it.
Value annotationsOf(Interpreter &, const Class &);

} // namespace pellucid::host
