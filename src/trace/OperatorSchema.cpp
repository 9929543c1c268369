// SPDX-License-Identifier: Apache-2.0
// The schemas of operators that files define.
#include "trace/OperatorCall.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
namespace s = pellucid::syntax;

namespace {

/// The dotted name at the end of an annotation: "Tensor" of torch.Tensor.
std::string lastName(const s::Expr &expr) {
  if (auto *name = s::as<s::Name>(&expr))
    return name->id;
  if (auto *attr = s::as<s::Attribute>(&expr))
    return attr->attr;
  if (auto *constant = s::as<s::Constant>(&expr)) {
    if (constant->type == s::Constant::Type::None)
      return "None";
    if (constant->type == s::Constant::Type::String)
      return constant->text.substr(constant->text.rfind('.') + 1);
  }
  return {};
}

std::vector<const s::Expr *> subscriptParts(const s::Subscript &expr) {
  std::vector<const s::Expr *> parts;
  if (auto *tuple = s::as<s::Tuple>(expr.slice.get()))
    for (const auto &element : tuple->elts)
      parts.push_back(element.get());
  else
    parts.push_back(expr.slice.get());
  return parts;
}

/// torch's schema type for an annotation; empty when there is none.
std::string schemaType(const s::Expr &annotation) {
  static const std::map<std::string, std::string> plain = {
      {"Tensor", "Tensor"}, {"int", "SymInt"},      {"SymInt", "SymInt"},    {"float", "float"},
      {"bool", "bool"},     {"str", "str"},         {"dtype", "ScalarType"}, {"device", "Device"},
      {"Number", "Scalar"}, {"Parameter", "Tensor"}};
  if (auto *subscript = s::as<s::Subscript>(&annotation)) {
    std::string outer = lastName(*subscript->value);
    std::vector<const s::Expr *> parts = subscriptParts(*subscript);
    if (outer == "Optional")
      return schemaType(*parts[0]) + "?";
    if (outer == "Union") {
      std::vector<std::string> types;
      bool optional = false;
      for (const s::Expr *part : parts)
        lastName(*part) == "None" ? void(optional = true) : types.push_back(schemaType(*part));
      std::string type = types.size() == 1 ? types[0] : "Scalar";
      return type + (optional ? "?" : "");
    }
    if (outer == "List" || outer == "list" || outer == "Sequence" || outer == "Tuple" ||
        outer == "tuple" || outer == "Iterable") {
      std::string element = schemaType(*parts[0]);
      return element.empty() ? element : element + "[]";
    }
    return {};
  }
  if (auto *either = s::as<s::BinOp>(&annotation); either && either->op == s::Operator::BitOr) {
    if (lastName(*either->right) == "None")
      return schemaType(*either->left) + "?";
    if (lastName(*either->left) == "None")
      return schemaType(*either->right) + "?";
    return "Scalar";
  }
  auto entry = plain.find(lastName(annotation));
  return entry == plain.end() ? std::string() : entry->second;
}

std::string defaultText(h::Interpreter &interpreter, const h::Value &value) {
  if (value.isNone())
    return "None";
  if (auto *type = value.as<h::DType>())
    return std::string(info(type->type).torch);
  if (value.isStr())
    return "'" + value.str() + "'";
  if (value.isSequence()) {
    std::string text = "[";
    for (const h::Value &element : value.elements())
      text += (text.size() > 1 ? ", " : "") + defaultText(interpreter, element);
    return text + "]";
  }
  return interpreter.repr(value);
}

/// mutates_args as names: a tuple, list, set, dict or "unknown".
std::set<std::string> mutatedNames(h::Interpreter &interpreter, const h::Value &value,
                                   const s::Arguments &parameters) {
  std::set<std::string> names;
  if (value.isStr()) {
    for (const auto *list : {&parameters.posonlyargs, &parameters.args, &parameters.kwonlyargs})
      for (const auto &parameter : *list)
        if (parameter->annotation && schemaType(*parameter->annotation).rfind("Tensor", 0) == 0)
          names.insert(parameter->arg);
    return names;
  }
  if (value.isNone())
    return names;
  for (const h::Value &name : interpreter.iterate(value))
    names.insert(interpreter.toStr(name, "a name in mutates_args"));
  return names;
}

} // namespace

Schema schemaOf(h::Interpreter &interpreter, const h::Operator &op) {
  const std::string &name = op.name;
  const SourceLocation &location = op.location;
  if (op.schemaText) {
    std::string text = *op.schemaText;
    if (!text.empty() && text[0] == '(')
      text = name + text;
    return parseSchema(text, location);
  }
  auto *fn = op.function.as<h::Function>();
  if (!fn || !fn->def)
    interpreter.refuse(location,
                       "operator '" + name + "' must be made from a function written with def");
  const s::FunctionDef &def = *fn->def;
  std::set<std::string> mutated = mutatedNames(interpreter, op.mutatesArgs, def.args);
  std::set<std::string> left = mutated;
  auto place = [&](const s::Node &node) { return SourceLocation(fn->module->file, node.range); };
  std::string text;
  char alias = 'a';
  auto add = [&](const s::Arg &parameter, const h::Value *fallback) {
    if (!parameter.annotation)
      interpreter.refuse(place(parameter), "parameter '" + parameter.arg + "' of operator '" +
                                               name + "' has no type annotation; write " +
                                               parameter.arg + ": torch.Tensor, int, float, …");
    std::string type = schemaType(*parameter.annotation);
    if (type.empty() || type == "?" || type == "[]")
      interpreter.refuse(
          place(*parameter.annotation),
          "the annotation of parameter '" + parameter.arg + "' of operator '" + name +
              "' has no counterpart in torch's schemas; torch.Tensor, int, float, bool, str, "
              "torch.dtype, Optional and lists of them have");
    if (left.erase(parameter.arg)) {
      if (type.rfind("Tensor", 0) != 0)
        interpreter.refuse(place(parameter),
                           "mutates_args names '" + parameter.arg + "', which is not a tensor");
      type = "Tensor(" + std::string(1, alias++) + "!)" + type.substr(6);
    }
    text += (text.empty() || text.back() == ' ' ? "" : ", ") + type + " " + parameter.arg +
            (fallback ? "=" + defaultText(interpreter, *fallback) : "");
  };
  std::vector<const s::Arg *> positional;
  for (const auto *list : {&def.args.posonlyargs, &def.args.args})
    for (const auto &parameter : *list)
      positional.push_back(parameter.get());
  size_t withoutDefault = positional.size() - fn->defaults.size();
  for (size_t i = 0; i < positional.size(); ++i)
    add(*positional[i], i < withoutDefault ? nullptr : &fn->defaults[i - withoutDefault]);
  if (!def.args.kwonlyargs.empty())
    text += text.empty() ? "*" : ", *";
  for (size_t i = 0; i < def.args.kwonlyargs.size(); ++i)
    add(*def.args.kwonlyargs[i], i < fn->keywordDefaults.size() && fn->keywordDefaults[i]
                                     ? &*fn->keywordDefaults[i]
                                     : nullptr);
  if (!left.empty())
    interpreter.refuse(location, "mutates_args of operator '" + name + "' names '" + *left.begin() +
                                     "', which is not a parameter");
  std::string result = "()";
  if (def.returns && lastName(*def.returns) != "None") {
    auto *subscript = s::as<s::Subscript>(def.returns.get());
    std::string outer = subscript ? lastName(*subscript->value) : "";
    if (subscript && (outer == "tuple" || outer == "Tuple")) {
      result.clear();
      for (const s::Expr *part : subscriptParts(*subscript))
        result += (result.empty() ? "" : ", ") + schemaType(*part);
      result = "(" + result + ")";
    } else {
      result = schemaType(*def.returns);
      if (result.empty())
        interpreter.refuse(place(*def.returns), "the return annotation of operator '" + name +
                                                    "' has no counterpart in torch's schemas; "
                                                    "torch.Tensor, tuples of it and None have");
    }
  }
  return parseSchema(name + "(" + text + ") -> " + result, location);
}

h::Value constantValue(const Argument &value) {
  if (auto flag = value.as<bool>())
    return h::Value(*flag);
  if (auto integer = value.as<int64_t>())
    return h::Value(*integer);
  if (auto real = value.as<double>())
    return h::Value(*real);
  if (const std::string *text = value.string())
    return h::Value(*text);
  if (auto type = value.as<DataType>())
    return h::Value(std::make_shared<h::DType>(*type, h::DType::Family::Torch));
  h::List list;
  if (const Argument::List *elements = value.list())
    for (const Argument &element : *elements)
      list.push_back(constantValue(element));
  return value.list() ? h::Value::list(std::move(list)) : h::Value();
}

} // namespace pellucid::trace
