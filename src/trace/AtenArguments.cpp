// SPDX-License-Identifier: Apache-2.0
#include "trace/AtenArguments.h"

#include "host/Objects.h"
#include "trace/ReadSizes.h"
#include "trace/TensorCalls.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

/// The dtype that a value stands for: one of torch's, or Python's int, float or bool.
static std::optional<DataType> typeNamed(const h::Value &value) {
  if (auto *type = value.as<h::DType>(); type && type->family == h::DType::Family::Torch)
    return type->type;
  auto *cls = value.as<h::Class>();
  if (!cls || cls->module != "builtins")
    return std::nullopt;
  return cls->name == "int"     ? std::optional(DataType::Int64)
         : cls->name == "float" ? std::optional(DataType::Float64)
         : cls->name == "bool"  ? std::optional(DataType::Bool)
                                : std::nullopt;
}

std::optional<DataType> askedType(h::Interpreter &interpreter, const std::string &function,
                                  const h::Value &value) {
  if (value.isNone())
    return std::nullopt;
  if (auto type = typeNamed(value))
    return type;
  if (auto *opaque = value.as<h::Opaque>())
    opaque->refuse(interpreter, "asked for as a dtype");
  interpreter.raise("TypeError", function + "(): argument 'dtype' must be torch.dtype, not " +
                                     h::typeName(value));
}

Argument toArgument(Tracer &tracer, h::Interpreter &interpreter, const h::Value &raw) {
  if (auto *tensor = raw.as<TensorObject>())
    return Argument(tracer.valueOf(tensor->tensor, interpreter.location()));
  h::Value value = h::contentOf(h::unwrapConstexpr(raw));
  switch (value.kind()) {
  case h::Kind::None:
    return Argument();
  case h::Kind::Bool:
    return Argument(value.boolean());
  case h::Kind::Int:
    return Argument(interpreter.toInt64(value, "an argument"));
  case h::Kind::Float:
    return Argument(value.real());
  case h::Kind::Str:
    if (auto device = deviceNamed(value.str()))
      return Argument(*device);
    return Argument(value.str());
  case h::Kind::SymInt:
    return Argument(value.symInt());
  case h::Kind::SymBool:
    return Argument(interpreter.truth(value));
  case h::Kind::Tuple:
  case h::Kind::List: {
    Argument::List list;
    for (const h::Value &element : value.elements())
      list.push_back(toArgument(tracer, interpreter, element));
    return Argument(std::move(list));
  }
  case h::Kind::Object:
    if (auto *tensor = value.as<TensorObject>())
      return Argument(tracer.valueOf(tensor->tensor, interpreter.location()));
    if (auto *type = value.as<h::DType>())
      return Argument(type->type);
    if (auto *instance = value.as<h::Instance>(); instance && instance->cls->name == "device")
      if (auto device = deviceNamed(interpreter.str(value)))
        return Argument(*device);
    if (auto *number = value.as<ItemNumber>(); number && number->isWhole())
      return toArgument(tracer, interpreter, sizeOf(tracer, interpreter, value));
    if (value.as<h::SymFloat>()) {
      std::string what = value.as<h::SymFloat>()->description();
      if (what.ends_with(','))
        what.pop_back();
      interpreter.refuse("'" + h::repr(value) + "', " + what +
                         ", is supported as an operand of tensors; " +
                         value.as<h::SymFloat>()->advice());
    }
    if (auto type = typeNamed(value))
      return Argument(*type);
    if (auto *opaque = value.as<h::Opaque>())
      opaque->refuse(interpreter, "the argument of an operator");
    break;
  default:
    break;
  }
  interpreter.refuse("a value of type " + h::typeName(value) +
                     " cannot be the argument of an operator; tensors, numbers, "
                     "dtypes, strings and lists of them can");
}

void splitBySizes(std::string &packet, const std::vector<Argument> &positional,
                  KeywordArguments &keywords) {
  bool sizes = positional.size() > 1 && positional[1].list();
  for (auto &[key, value] : keywords)
    if ((key == "split_size" || key == "split_size_or_sections") && value.list()) {
      key = "split_sizes";
      sizes = true;
    } else if (key == "split_size_or_sections") {
      key = "split_size";
    }
  if (sizes)
    packet = "aten.split_with_sizes";
}

const Operator &normalizeArguments(const Tracer &tracer, const std::string &packet,
                                   std::vector<Argument> &positional, KeywordArguments &keywords,
                                   const SourceLocation &where) {
  const Operator &op = tracer.registry.resolve(packet, positional, keywords, where);
  const Schema &schema = op.schema;
  auto isDefault = [](const SchemaArgument &argument, const Argument &value) {
    return !value.value() && !value.as<Expr>() && argument.defaultValue &&
           value == *argument.defaultValue;
  };
  std::erase_if(keywords, [&](const auto &keyword) {
    auto index = schema.indexOf(keyword.first);
    return index && isDefault(schema.arguments[*index], keyword.second);
  });
  // What has a position stands there, as in PyTorch's nodes.
  while (positional.size() < schema.arguments.size() &&
         !schema.arguments[positional.size()].keywordOnly) {
    const std::string &name = schema.arguments[positional.size()].name;
    auto keyword = std::find_if(keywords.begin(), keywords.end(),
                                [&](const auto &k) { return k.first == name; });
    if (keyword == keywords.end())
      break;
    positional.push_back(std::move(keyword->second));
    keywords.erase(keyword);
  }
  for (size_t i = 0; i < positional.size() && i < schema.arguments.size(); ++i)
    if (schema.arguments[i].type.list && (positional[i].as<int64_t>() || positional[i].as<Expr>()))
      positional[i] = Argument(Argument::List{positional[i]});
  while (!positional.empty() && positional.size() <= schema.arguments.size() &&
         isDefault(schema.arguments[positional.size() - 1], positional.back()))
    positional.pop_back();
  return op;
}

std::string nameInSchemas(const OperatorRegistry &registry, const std::string &packet,
                          const std::string &key) {
  if (key == "axis")
    return "dim";
  if (key == "keepdims")
    return "keepdim";
  if (key != "input")
    return key;
  std::vector<const Operator *> overloads = registry.overloads(packet);
  bool isSelf = !overloads.empty() &&
                std::none_of(overloads.begin(), overloads.end(),
                             [](auto *op) { return op->schema.indexOf("input").has_value(); });
  return isSelf ? "self" : key;
}

} // namespace pellucid::trace
