// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveArguments.h"

#include "archive/ReadGraph.h"

#include <cmath>

namespace pellucid::trace {

using namespace graph;
using package::JsonWriter;
using Kind = SchemaType::Kind;

void printArchiveDevice(JsonWriter &json) {
  json.beginObject().field("type", "cpu").key("index").null().endObject();
}

void tensorNamed(JsonWriter &json, const std::string &name) {
  json.beginObject().field("name", name).endObject();
}

void tensorArgument(JsonWriter &json, const std::string &name) {
  json.beginObject().key("as_tensor");
  tensorNamed(json, name);
  json.endObject();
}

ArchiveArguments::ArchiveArguments(const Graph &graph, ArchiveSizes &s) : sizes(s) {
  for (const Node &node : graph)
    for (size_t i = 0; i < node.resultCount(); ++i) {
      const std::string &name = node.result(i)->name();
      bool isPlain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_") == name.npos;
      names[node.result(i)] = isPlain ? name : sizes.uniqueName(name);
    }
}

/// JSON has no word for numbers that are not finite; the schema writes them as texts.
static void printReal(JsonWriter &json, double value) {
  if (std::isnan(value))
    json.value("NaN");
  else if (std::isinf(value))
    json.value(value < 0 ? "-Infinity" : "Infinity");
  else
    json.value(value);
}

static std::optional<Expr> sizeOf(const Argument &argument) {
  if (auto size = argument.as<Expr>())
    return size;
  if (const Value *value = argument.value(); value && value->isSymInt())
    return value->expr();
  return std::nullopt;
}

/// Of a list of sizes: a number, or the name of a node.
void ArchiveArguments::printSize(JsonWriter &json, const Argument &argument,
                                 const SourceLocation &where, std::vector<std::string> &nodes) {
  auto size = sizeOf(argument);
  json.beginObject();
  if (size && !size->isConstant())
    json.field("as_name", sizes.nameOf(*size, nodes, where));
  else
    json.field("as_int", argument.integer().value_or(Expr(0)).constantOr(0));
  json.endObject();
}

static std::optional<int> memoryFormat(const std::string &name) {
  static constexpr const char *formats[] = {"contiguous_format", "channels_last",
                                            "channels_last_3d", "preserve_format"};
  for (int i = 0; i < 4; ++i)
    if (name == formats[i])
      return i + 1;
  return std::nullopt;
}

static SchemaType elementType(const Argument::List &list) {
  SchemaType type;
  type.list = true;
  type.kind = list.empty() || list[0].value() ? Kind::Tensor : Kind::Scalar;
  return type;
}

static void printConstant(JsonWriter &json, const SchemaType *type, const Argument &argument) {
  if (auto flag = argument.as<bool>())
    json.field("as_bool", *flag);
  else if (auto whole = argument.as<int64_t>())
    json.field("as_int", *whole);
  else if (auto real = argument.as<double>()) {
    json.key("as_float");
    printReal(json, *real);
  } else if (auto dtype = argument.as<DataType>())
    json.field("as_scalar_type", archive::scalarTypeNumber(*dtype));
  else if (argument.as<Device>()) {
    json.key("as_device");
    printArchiveDevice(json);
  } else if (const std::string *text = argument.string()) {
    auto format = type && type->kind == Kind::MemoryFormat ? memoryFormat(*text) : std::nullopt;
    if (format)
      json.field("as_memory_format", *format);
    else if (type && type->kind == Kind::Layout)
      json.field("as_layout", archiveLayout);
    else
      json.field("as_string", *text);
  } else
    json.field("as_none", true);
}

void ArchiveArguments::printElements(JsonWriter &json, const SchemaType &type,
                                     const Argument::List &list, const SourceLocation &where,
                                     std::vector<std::string> &nodes) {
  bool hasSizes = false, hasReals = false, hasNone = type.optionalElements;
  for (const Argument &element : list) {
    hasSizes |= sizeOf(element).has_value();
    hasReals |= element.as<double>().has_value();
    hasNone |= element.isNone();
  }
  const char *key = type.kind == Kind::Tensor ? hasNone ? "as_optional_tensors" : "as_tensors"
                    : type.kind == Kind::Bool ? "as_bools"
                    : type.kind == Kind::Float || hasReals ? "as_floats"
                    : hasSizes                             ? "as_sym_ints"
                                                           : "as_ints";
  json.key(key).beginArray();
  for (const Argument &element : list) {
    if (type.kind == Kind::Tensor && hasNone && element.isNone())
      json.beginObject().field("as_none", true).endObject();
    else if (type.kind == Kind::Tensor && hasNone)
      tensorArgument(json, nameOf(element.value()));
    else if (type.kind == Kind::Tensor)
      tensorNamed(json, nameOf(element.value()));
    else if (type.kind == Kind::Bool)
      json.value(element.as<bool>().value_or(false));
    else if (type.kind == Kind::Float || hasReals)
      printReal(json, element.number().value_or(0));
    else if (hasSizes)
      printSize(json, element, where, nodes);
    else
      json.value(element.integer().value_or(Expr(0)).constantOr(0));
  }
  json.endArray();
}

void ArchiveArguments::print(JsonWriter &json, const SchemaType *type, const Argument &argument,
                             const SourceLocation &where, std::vector<std::string> &nodes) {
  json.beginObject();
  if (argument.isNone())
    json.field("as_none", true);
  else if (auto size = sizeOf(argument); size && !size->isConstant())
    json.key("as_sym_int")
        .beginObject()
        .field("as_name", sizes.nameOf(*size, nodes, where))
        .endObject();
  else if (size)
    json.field("as_int", *size->constant());
  else if (const Value *value = argument.value()) {
    json.key("as_tensor");
    tensorNamed(json, nameOf(value));
  } else if (const Argument::List *list = argument.list())
    printElements(json, type ? *type : elementType(*list), *list, where, nodes);
  else
    printConstant(json, type, argument);
  json.endObject();
}

} // namespace pellucid::trace
