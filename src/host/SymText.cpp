// SPDX-License-Identifier: Apache-2.0
// Texts that show a dynamic size.
#include "host/InterpreterState.h"

namespace pellucid::host {

Value textOf(const std::function<std::string()> &make) {
  TextWatch watch;
  std::string text = make();
  return watch.sawSymbols() ? Value(std::make_shared<SymText>(std::move(text))) : Value(text);
}

void SymText::refuse(Interpreter &interpreter) const {
  interpreter.refuse("the text '" + text +
                     "' shows a dynamic size, so what it is used for here would depend on that "
                     "size; it can be printed or raised: use the number itself as the key or "
                     "condition, or make the dim static");
}

std::optional<Value> SymText::getAttr(Interpreter &interpreter, std::string_view) {
  refuse(interpreter);
}

std::optional<Value> SymText::getItem(Interpreter &interpreter, const Value &) {
  refuse(interpreter);
}

std::optional<Value> SymText::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                       bool reflected) {
  auto *second = other.as<SymText>();
  // "…%s" % text is the format's to answer.
  if (op == BinaryOp::Mod && reflected && other.isStr())
    return std::nullopt;
  if (op != BinaryOp::Add || (!second && !other.isStr()))
    refuse(interpreter);
  const std::string &more = second ? second->text : other.str();
  checkLength(interpreter, text.size() + more.size());
  return Value(std::make_shared<SymText>(reflected ? more + text : text + more));
}

std::optional<Value> SymText::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                      bool) {
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (equality && !other.isStr() && !other.as<SymText>())
    return Value(op == CompareOp::Ne);
  refuse(interpreter);
}

std::optional<Value> SymText::length(Interpreter &interpreter) { refuse(interpreter); }

std::optional<std::vector<Value>> SymText::iterate(Interpreter &interpreter) {
  refuse(interpreter);
}

std::optional<bool> SymText::contains(Interpreter &interpreter, const Value &) {
  refuse(interpreter);
}

bool SymText::equals(const Object &other) const {
  if (Interpreter *interpreter = this == &other ? nullptr : Interpreter::active())
    refuse(*interpreter);
  return this == &other;
}

std::optional<size_t> SymText::hash() const {
  if (Interpreter *interpreter = Interpreter::active())
    refuse(*interpreter);
  return std::nullopt;
}

} // namespace pellucid::host
