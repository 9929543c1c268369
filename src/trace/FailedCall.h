// SPDX-License-Identifier: Apache-2.0
/// A call whose operands do not fit, as the rules of PyTorch's errors read it.
#pragma once

#include "trace/OperandErrors.h"

namespace pellucid::trace {

using graph::Argument;
using graph::Expr;
using graph::KeywordArguments;
using graph::Operator;
using graph::TensorType;
using graph::Value;

using Sizes = std::vector<int64_t>;
using Found = std::optional<OperandError>;

inline OperandError runtimeError(std::string text) { return {"RuntimeError", std::move(text)}; }
inline OperandError indexError(std::string text) { return {"IndexError", std::move(text)}; }
inline OperandError valueError(std::string text) { return {"ValueError", std::move(text)}; }
inline OperandError notImplemented(std::string text) {
  return {"NotImplementedError", std::move(text)};
}

inline std::string number(int64_t value) { return std::to_string(value); }

inline std::string listed(const Sizes &sizes, const char *between = ", ") {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? between : "") + number(sizes[i]);
  return text;
}

inline std::string bracketed(const Sizes &sizes) { return "[" + listed(sizes) + "]"; }

inline int64_t product(const Sizes &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// A call that failed: its arguments by the names of a schema, with sizes that are all known.
class FailedCall {
public:
  FailedCall(const Operator &o, std::string packet, const std::vector<Argument> &positional,
             const KeywordArguments &keywords)
      : op(o), name(packet.substr(5)), given(positional), named(keywords) {
    if (size_t dot = name.find('.'); dot != name.npos)
      name.resize(dot);
  }

  const Argument *at(std::string_view argument) const {
    for (const auto &[key, value] : named)
      if (key == argument)
        return &value;
    std::optional<size_t> index = op.schema.indexOf(argument);
    if (!index)
      return nullptr;
    if (*index < given.size())
      return &given[*index];
    const auto &fallback = op.schema.arguments[*index].defaultValue;
    return fallback ? &*fallback : nullptr;
  }
  const TensorType *tensor(std::string_view argument) const {
    const Argument *value = at(argument);
    return value && value->value() && value->value()->isTensor() ? &value->value()->type()
                                                                 : nullptr;
  }
  std::optional<int64_t> integer(std::string_view argument) const {
    const Argument *value = at(argument);
    return value && value->integer() ? value->integer()->constant() : std::nullopt;
  }
  std::optional<Sizes> integers(std::string_view argument) const {
    const Argument *value = at(argument);
    if (!value)
      return std::nullopt;
    if (auto one = value->integer())
      return one->constant() ? std::optional(Sizes{*one->constant()}) : std::nullopt;
    if (!value->list())
      return std::nullopt;
    Sizes out;
    for (const Argument &element : *value->list()) {
      auto known = element.integer();
      if (!known || !known->constant())
        return std::nullopt;
      out.push_back(*known->constant());
    }
    return out;
  }
  std::vector<const TensorType *> tensors(std::string_view argument) const {
    std::vector<const TensorType *> out;
    const Argument *value = at(argument);
    if (value && value->list())
      for (const Argument &element : *value->list())
        if (element.value() && element.value()->isTensor())
          out.push_back(&element.value()->type());
    return out;
  }

  static Sizes shape(const TensorType &type) {
    Sizes out;
    for (const Expr &size : type.shape)
      out.push_back(size.constantOr(-1));
    return out;
  }

  const Operator &op;
  std::string name;

private:
  const std::vector<Argument> &given;
  const KeywordArguments &named;
};

inline Sizes shapeOf(const TensorType *type) { return FailedCall::shape(*type); }

/// `float`, as C++ calls a dtype in messages.
std::string cName(DataType type);

/// Why two shapes do not broadcast, and what they broadcast to where they do.
Found broadcastError(const Sizes &a, const Sizes &b);
Sizes broadcast(const Sizes &a, const Sizes &b);

/// The rules of products and views by the operator's name, and of all others.
Found shapeRule(const FailedCall &call);
Found elementRule(const FailedCall &call);

} // namespace pellucid::trace
