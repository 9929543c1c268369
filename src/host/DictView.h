// SPDX-License-Identifier: Apache-2.0
/// What keys(), values() and items() of a dict give: what the dict holds now, whenever it is asked.
#pragma once

#include "host/Value.h"

namespace pellucid::host {

class DictView : public Object {
public:
  enum class Form : uint8_t { Keys, Values, Items };
  const Form form;
  const Value dict;
  const bool isOrdered; ///< of an OrderedDict: another name in its text
  DictView(Form f, Value d, bool ordered = false)
      : form(f), dict(std::move(d)), isOrdered(ordered) {}
  static Value make(Form form, const Value &dict, bool ordered = false) {
    return Value(std::make_shared<DictView>(form, dict, ordered));
  }
  /// One class per form, with the methods that the view has by name.
  static void addClasses(Interpreter &);

  std::string typeName() const override;
  std::string repr() const override { return textWith(host::repr); }
  std::string textWith(const std::function<std::string(const Value &)> &text) const;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  bool truth(Interpreter &) override { return dict.dictionary().size() != 0; }
  std::optional<Value> length(Interpreter &) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override { return elements(); }
  std::optional<bool> contains(Interpreter &, const Value &) override;
  std::optional<Value> deepCopy(Interpreter &) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override;
  bool isSymbolic() const override { return dict.dictionary().isSymbolic(); }

  /// Keys and items are sets: they have operators, and are equal when their elements are.
  bool isSet() const { return form != Form::Values; }
  Value elementOf(const std::pair<Value, Value> &entry) const;

private:
  std::vector<Value> elements() const;
};

} // namespace pellucid::host
