// SPDX-License-Identifier: Apache-2.0
// What PyTorch raises for calls that no overload of an operator takes: names and kinds of
// arguments.
#include "trace/AtenComposites.h"
#include "trace/FailedCall.h"
#include "trace/HeldNumber.h"

#include "host/InterpreterState.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// What Python's type of a given argument is called.
std::string kindOf(const Argument &given) {
  if (Value *value = given.value())
    return value->isTensor() ? "Tensor" : "int";
  if (given.isNone())
    return "NoneType";
  if (given.as<bool>())
    return "bool";
  if (given.integer())
    return "int";
  if (given.as<double>())
    return "float";
  if (given.as<DataType>())
    return "torch.dtype";
  if (given.as<Device>())
    return "torch.device";
  if (given.string())
    return "str";
  return given.list() ? "list" : "object";
}

/// `got (Tensor, foo=int)`
OperandError noCombination(const std::string &name, const std::vector<Argument> &positional,
                           const KeywordArguments &keywords,
                           const std::vector<const Schema *> &schemas) {
  std::string text;
  for (const Argument &given : positional)
    text += (text.empty() ? "" : ", ") + kindOf(given);
  for (const auto &[key, given] : keywords)
    text += (text.empty() ? "" : ", ") + key + "=" + kindOf(given);
  text = name + "() received an invalid combination of arguments - got (" + text +
         "), but expected one of:";
  for (const Schema *schema : schemas)
    text += "\n * " + printSchema(*schema);
  return {"TypeError", text};
}

/// Options that torch's functions take beside their schemas.
bool isCommonOption(const std::string &name) {
  static const std::set<std::string> names = {
      "out",           "dtype",     "layout", "device", "pin_memory", "requires_grad",
      "memory_format", "generator", "input",  "other",  "dim",        "keepdim",
      "axis",          "keepdims",  "x1",     "x2",     "names",      "inplace"};
  return names.count(name) != 0;
}

bool takesKind(const SchemaArgument &argument, const Argument &given, bool numbersAreTensors) {
  return accepts(argument.type, given, true) || accepts(argument.type, given, numbersAreTensors);
}

/// `expected Tensor as element 1 in argument 0, but got int`
Found noTensorInList(const std::vector<const Schema *> &schemas,
                     const std::vector<Argument> &positional) {
  for (size_t i = 0; i < positional.size(); ++i) {
    const Argument::List *list = positional[i].list();
    bool isList =
        list && std::all_of(schemas.begin(), schemas.end(), [&](const Schema *schema) {
          if (i >= schema->arguments.size())
            return false;
          const SchemaType &type = schema->arguments[i].type;
          return type.kind == SchemaType::Kind::Tensor && type.list && !type.optionalElements;
        });
    for (size_t e = 0; isList && e < list->size(); ++e)
      if (kindOf((*list)[e]) != "Tensor")
        return OperandError{"TypeError", "expected Tensor as element " + std::to_string(e) +
                                             " in argument " + std::to_string(i) + ", but got " +
                                             kindOf((*list)[e])};
  }
  return std::nullopt;
}

/// What fills a tensor of integers must be one of them; unsigned ones take negative integers, which
/// wrap.
Found unheldNumber(const std::string &target, const std::vector<Argument> &positional) {
  bool fills = target == "aten.fill.Scalar" || target == "aten.masked_fill.Scalar";
  const Value *self = fills && positional.size() > 1 ? positional[0].value() : nullptr;
  if (!self || !self->isTensor())
    return std::nullopt;
  DataType type = self->type().dtype;
  const Argument &given = positional.back();
  std::optional<long double> number = given.as<double>();
  bool wraps = false;
  if (auto whole = given.as<int64_t>()) {
    number = *whole;
    wraps = *whole < 0 && isInteger(type) && !info(type).isSigned;
  }
  if (!number || isHeldBy(type, wraps ? -*number : *number))
    return std::nullopt;
  std::string name = type == DataType::Int32 ? "int" : std::string(info(type).torch) + "_t";
  return runtimeError("value cannot be converted to type " + name + " without overflow");
}

} // namespace

Found conditionError(const std::string &target, const std::vector<Argument> &positional,
                     const KeywordArguments &keywords) {
  auto isNone = [](const Argument &given) { return given.isNone(); };
  if (target.starts_with("aten.clamp.") && positional.size() >= 1 &&
      std::all_of(positional.begin() + 1, positional.end(), isNone) &&
      std::all_of(keywords.begin(), keywords.end(),
                  [&](const auto &keyword) { return isNone(keyword.second); }))
    return runtimeError("torch.clamp: At least one of 'min' or 'max' must not be None");
  if (target == "aten.pow.Tensor_Scalar" && positional.size() == 2) {
    Value *base = positional[0].value();
    std::optional<Expr> exponent = positional[1].integer();
    if (base && base->isTensor() && !isFloat(base->type().dtype) && exponent &&
        exponent->constant().value_or(0) < 0)
      return runtimeError("Integers to negative integer powers are not allowed.");
  }
  if (auto number = unheldNumber(target, positional))
    return number;
  bool isFill = target.starts_with("aten.masked_fill.");
  if (!isFill && !target.starts_with("aten.where."))
    return std::nullopt;
  size_t place = isFill ? 1 : 0;
  Value *mask = place < positional.size() ? positional[place].value() : nullptr;
  if (!mask || !mask->isTensor())
    return std::nullopt;
  DataType type = mask->type().dtype;
  if (type == DataType::Bool || (!isFill && type == DataType::UInt8))
    return std::nullopt;
  if (isFill)
    return runtimeError("masked_fill_ only supports boolean masks, but got mask with dtype " +
                        cName(type));
  return runtimeError("where expected condition to be a boolean tensor, but got a tensor with "
                      "dtype " +
                      scalarName(type));
}

Found argumentError(h::Interpreter &interpreter, const OperatorRegistry &registry,
                    const std::string &packet, const std::vector<Argument> &positional,
                    const KeywordArguments &keywords) {
  if (!packet.starts_with("aten.") || packet.find('.', 5) != packet.npos)
    return std::nullopt;
  std::vector<const Schema *> schemas;
  for (const Operator *op : registry.overloads(packet))
    schemas.push_back(&op->schema);
  for (const AtenComposite *composite : atenComposites(interpreter, packet))
    schemas.push_back(&composite->schema);
  if (schemas.empty())
    return std::nullopt;
  std::string name = packet.substr(5);
  auto anyHas = [&](const std::string &key) {
    return std::any_of(schemas.begin(), schemas.end(),
                       [&](auto *schema) { return schema->indexOf(key).has_value(); });
  };
  for (const auto &[key, given] : keywords)
    if (!anyHas(key) && !isCommonOption(key))
      return noCombination(name, positional, keywords, schemas);
  if (Found error = noTensorInList(schemas, positional))
    return error;
  // One that every overload needs.
  std::string lacking;
  for (const SchemaArgument &argument : schemas.front()->arguments) {
    if (argument.defaultValue || argument.type.optional || argument.name == "self")
      continue;
    bool isNeeded = std::all_of(schemas.begin(), schemas.end(), [&](const Schema *schema) {
      std::optional<size_t> at = schema->indexOf(argument.name);
      return at && !schema->arguments[*at].defaultValue && positional.size() <= *at;
    });
    bool isNamed = std::any_of(keywords.begin(), keywords.end(),
                               [&](const auto &k) { return k.first == argument.name; });
    if (isNeeded && !isNamed)
      return OperandError{"TypeError", name + "() missing 1 required positional arguments: \"" +
                                           argument.name + "\""};
  }
  // Texts and None where no overload has a place for them.
  for (size_t i = 0; i < positional.size(); ++i) {
    std::string kind = kindOf(positional[i]);
    if (kind != "str" && kind != "NoneType")
      continue;
    bool isTaken = std::any_of(schemas.begin(), schemas.end(), [&](const Schema *schema) {
      return i < schema->arguments.size() && takesKind(schema->arguments[i], positional[i], false);
    });
    if (!isTaken)
      return noCombination(name, positional, keywords, schemas);
  }
  return std::nullopt;
}

} // namespace pellucid::trace
