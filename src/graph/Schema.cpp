// SPDX-License-Identifier: Apache-2.0
#include "graph/Schema.h"
#include "graph/Graph.h"
#include "support/Diagnostics.h"

#include <charconv>
#include <cmath>

namespace pellucid::graph {

using Kind = SchemaType::Kind;

static constexpr std::pair<Kind, std::string_view> kindNames[] = {
    {Kind::Tensor, "Tensor"},
    {Kind::SymInt, "SymInt"},
    {Kind::Int, "int"},
    {Kind::Float, "float"},
    {Kind::Bool, "bool"},
    {Kind::Str, "str"},
    {Kind::ScalarType, "ScalarType"},
    {Kind::Scalar, "Scalar"},
    {Kind::Device, "Device"},
    {Kind::Layout, "Layout"},
    {Kind::MemoryFormat, "MemoryFormat"},
    {Kind::Generator, "Generator"},
};

static std::string_view nameOf(Kind kind) {
  for (auto [k, name] : kindNames)
    if (k == kind)
      return name;
  return "?";
}

//===-- Parsing -------------------------------------------------------------------------------===//

namespace {
class SchemaParser {
public:
  SchemaParser(std::string_view text, const SourceLocation &where) : text(text), where(where) {}

  Schema parse() {
    Schema schema;
    skip();
    if (at < text.size() && text[at] != '(')
      parseName(schema);
    expect("(");
    parseArguments(schema);
    expect("->");
    parseReturns(schema);
    skip();
    if (at != text.size())
      fail("expected the end of the schema");
    return schema;
  }

private:
  [[noreturn]] void fail(const std::string &message) {
    std::string found = at < text.size() ? "'" + std::string(text.substr(at, 12)) + "'" : "the end";
    if (where.known())
      throw DiagnosticError(where, "schema '" + std::string(text) + "': " + message + ", found " +
                                       found + " at column " + std::to_string(at + 1));
    uint32_t column = static_cast<uint32_t>(at + 1);
    auto file = std::make_shared<SourceFile>("schema", std::string(text));
    throw DiagnosticError(SourceLocation(file, {1, column, 1, column + 1}),
                          message + ", found " + found);
  }

  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool accept(std::string_view token) {
    skip();
    if (text.substr(at, token.size()) != token)
      return false;
    at += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token))
      fail("expected '" + std::string(token) + "'");
  }

  std::string identifier(std::string_view what) {
    skip();
    size_t start = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    if (start == at)
      fail("expected " + std::string(what));
    return std::string(text.substr(start, at - start));
  }

  void parseName(Schema &schema) {
    schema.name = identifier("the operator's name");
    if (accept("::")) {
      schema.space = std::move(schema.name);
      schema.name = identifier("the operator's name");
    }
    if (accept("."))
      schema.overload = identifier("the overload's name");
  }

  SchemaType parseType() {
    size_t start = (skip(), at);
    std::string name = identifier("a type");
    SchemaType type;
    bool known = false;
    for (auto [kind, spelling] : kindNames)
      if (spelling == name) {
        type.kind = kind;
        known = true;
      }
    if (!known) {
      at = start;
      fail("'" + name +
           "' is not a schema type; it may be Tensor, int, SymInt, float, bool, str, Scalar, "
           "ScalarType, "
           "Device, Layout, MemoryFormat or Generator");
    }
    if (accept("("))
      parseAlias(type);
    if (accept("?"))
      type.optional = true;
    if (accept("[")) {
      type.list = true;
      type.optionalElements = std::exchange(type.optional, false);
      if (!accept("]")) {
        type.listSize = integer();
        expect("]");
      }
      if (accept("?"))
        type.optional = true;
    }
    return type;
  }

  void parseAlias(SchemaType &type) {
    while (at < text.size() && text[at] != ')') {
      if (text[at] == '!')
        type.mutated = true;
      else
        type.alias += text[at];
      ++at;
    }
    expect(")");
  }

  int64_t integer() {
    skip();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc())
      fail("expected an integer");
    at = static_cast<size_t>(end - text.data());
    return value;
  }

  Argument number() {
    size_t start = at;
    if (text[at] == '-')
      ++at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '.' ||
            ((text[at] == '-' || text[at] == '+') && (text[at - 1] == 'e' || text[at - 1] == 'E'))))
      ++at;
    std::string_view token = text.substr(start, at - start);
    int64_t i = 0;
    if (auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), i);
        error == std::errc() && end == token.data() + token.size())
      return Argument(i);
    double d = 0;
    if (auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), d);
        error == std::errc() && end == token.data() + token.size())
      return Argument(d);
    at = start;
    fail("expected a number");
  }

  Argument parseDefault() {
    skip();
    if (at == text.size())
      fail("expected a default value");
    if (accept("[")) {
      Argument::List list;
      while (!accept("]")) {
        if (!list.empty())
          expect(",");
        list.push_back(parseDefault());
      }
      return Argument(std::move(list));
    }
    if (char quote = text[at]; quote == '\'' || quote == '"') {
      size_t end = text.find(quote, ++at);
      if (end == std::string_view::npos)
        fail("expected the end of the string");
      std::string value(text.substr(at, end - at));
      at = end + 1;
      return Argument(std::move(value));
    }
    if (text[at] == '-' || std::isdigit(static_cast<unsigned char>(text[at])))
      return number();
    std::string word = identifier("a default value");
    if (word == "True" || word == "False")
      return Argument(word == "True");
    if (word == "None")
      return Argument();
    if (word == "inf" || word == "nan")
      return Argument(word == "inf" ? HUGE_VAL : std::nan(""));
    return Argument(std::move(word)); // contiguous_format, long, Mean
  }

  void parseArguments(Schema &schema) {
    bool keywordOnly = false;
    for (bool first = true; !accept(")"); first = false) {
      if (!first)
        expect(",");
      if (accept("*")) {
        if (std::exchange(keywordOnly, true))
          fail("a second '*'");
        continue;
      }
      SchemaArgument argument;
      argument.type = parseType();
      argument.name = identifier("the argument's name");
      argument.keywordOnly = keywordOnly;
      if (schema.indexOf(argument.name))
        fail("two arguments are called '" + argument.name + "'");
      if (accept("="))
        argument.defaultValue = parseDefault();
      schema.arguments.push_back(std::move(argument));
    }
  }

  SchemaReturn parseReturn() {
    SchemaReturn result{parseType(), {}};
    skip();
    if (at < text.size() && (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      result.name = identifier("the result's name");
    return result;
  }

  void parseReturns(Schema &schema) {
    if (!accept("(")) {
      if (accept("None"))
        return;
      schema.returns.push_back(parseReturn());
      return;
    }
    for (bool first = true; !accept(")"); first = false) {
      if (!first)
        expect(",");
      schema.returns.push_back(parseReturn());
    }
  }

  std::string_view text;
  SourceLocation where;
  size_t at = 0;
};
} // namespace

Schema parseSchema(std::string_view text, const SourceLocation &where) {
  return SchemaParser(text, where).parse();
}

//===-- Printing ------------------------------------------------------------------------------===//

std::string toString(const SchemaType &type) {
  std::string text(nameOf(type.kind));
  if (!type.alias.empty() || type.mutated)
    text += "(" + type.alias + (type.mutated ? "!)" : ")");
  if (type.optionalElements)
    text += "?";
  if (type.list)
    text += type.listSize ? "[" + std::to_string(*type.listSize) + "]" : "[]";
  if (type.optional)
    text += "?";
  return text;
}

static std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  char *end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

static std::string quotedDefault(const std::string &text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "'";
}

std::string toString(const Argument &argument) {
  struct {
    std::string operator()(None) { return "None"; }
    std::string operator()(bool b) { return b ? "True" : "False"; }
    std::string operator()(int64_t i) { return std::to_string(i); }
    std::string operator()(double d) { return floatText(d); }
    std::string operator()(const std::string &s) { return quotedDefault(s); }
    std::string operator()(DataType d) { return "torch." + std::string(info(d).torch); }
    std::string operator()(Device d) { return graph::toString(d); }
    std::string operator()(const Expr &e) { return e.text(); }
    std::string operator()(Value *v) { return "%" + v->name(); }
    std::string operator()(const Argument::List &list) {
      std::string text = "[";
      for (const Argument &a : list)
        text += (text.size() > 1 ? ", " : "") + graph::toString(a);
      return text + "]";
    }
  } print;
  return std::visit(print, argument.get());
}

static std::string defaultText(const SchemaType &type, const Argument &value) {
  bool word = type.kind != Kind::Str && value.string();
  return word ? *value.string() : toString(value);
}

std::string printSchema(const Schema &schema, bool nameless) {
  std::string text;
  if (!nameless) {
    text = schema.space.empty() ? schema.name : schema.space + "::" + schema.name;
    if (!schema.overload.empty())
      text += "." + schema.overload;
  }
  text += "(";
  bool keywordOnly = false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    text += i ? ", " : "";
    if (argument.keywordOnly && !std::exchange(keywordOnly, true))
      text += "*, ";
    text += toString(argument.type) + " " + argument.name;
    if (argument.defaultValue)
      text += "=" + defaultText(argument.type, *argument.defaultValue);
  }
  text += ") -> ";
  auto one = [](const SchemaReturn &r) {
    return toString(r.type) + (r.name.empty() ? "" : " " + r.name);
  };
  if (schema.returns.size() == 1)
    return text + one(schema.returns[0]);
  text += "(";
  for (size_t i = 0; i < schema.returns.size(); ++i)
    text += (i ? ", " : "") + one(schema.returns[i]);
  return text + ")";
}

std::string Schema::target() const {
  return packet() + "." + (overload.empty() ? "default" : overload);
}

std::optional<size_t> Schema::indexOf(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == argument)
      return i;
  return std::nullopt;
}

bool Schema::mutates() const {
  for (const SchemaArgument &argument : arguments)
    if (argument.type.mutated)
      return true;
  return false;
}

//===-- Binding -------------------------------------------------------------------------------===//

static bool acceptsElement(const SchemaType &type, const Argument &a, bool numbersAreTensors) {
  const Value *v = a.value();
  bool isSymbolic = a.as<Expr>() || (v && v->isSymInt());
  bool isInteger = a.as<int64_t>() || isSymbolic;
  bool isNumber = isInteger || a.as<double>() || a.as<bool>();
  switch (type.kind) {
  case Kind::Tensor:
    return (v && v->isTensor()) || (numbersAreTensors && isNumber);
  case Kind::Int:
    return a.as<int64_t>() || a.as<bool>() || isSymbolic;
  case Kind::SymInt:
    return isInteger || a.as<bool>();
  case Kind::Float:
    return isNumber;
  case Kind::Scalar:
    return isNumber;
  case Kind::Bool:
    return a.as<bool>().has_value();
  case Kind::Str:
    return a.string();
  case Kind::ScalarType:
    return a.as<DataType>().has_value();
  case Kind::Device:
    return a.as<Device>() || (a.string() && deviceNamed(*a.string()));
  case Kind::Layout:
  case Kind::MemoryFormat:
    return a.string();
  case Kind::Generator:
    return false;
  }
  return false;
}

bool accepts(const SchemaType &type, const Argument &argument, bool numbersAreTensors) {
  if (argument.isNone())
    return type.optional;
  if (!type.list)
    return acceptsElement(type, argument, numbersAreTensors);
  if (const Argument::List *list = argument.list()) {
    for (const Argument &element : *list)
      if (element.isNone() ? !type.optionalElements
                           : !acceptsElement(type, element, numbersAreTensors))
        return false;
    return true;
  }
  return type.listSize && acceptsElement(type, argument, numbersAreTensors);
}

static Argument spread(const SchemaType &type, const Argument &argument) {
  if (type.list && type.listSize && !argument.isNone() && !argument.list())
    return Argument(Argument::List(static_cast<size_t>(*type.listSize), argument));
  if (type.kind == Kind::Device && argument.string())
    return Argument(*deviceNamed(*argument.string()));
  // A symbolic integer that is a value of the graph is what it stands for.
  if (const Value *v = argument.value(); v && v->isSymInt())
    return Argument(v->expr());
  return argument;
}

static std::string given(const Argument &argument) {
  if (const Value *v = argument.value())
    return v->isTensor() ? "a tensor" : "a symbolic integer";
  return toString(argument);
}

std::optional<std::vector<Argument>> bindArguments(const Schema &schema,
                                                   std::span<const Argument> args,
                                                   const KeywordArguments &kwargs,
                                                   bool numbersAreTensors, std::string &error) {
  // Only what is refused is named.
  auto name = [&] { return schema.target(); };
  std::vector<const Argument *> slots(schema.arguments.size(), nullptr);
  size_t positional = 0;
  while (positional < schema.arguments.size() && !schema.arguments[positional].keywordOnly)
    ++positional;
  if (args.size() > positional) {
    error = name() + " takes " + std::to_string(positional) + " positional arguments, got " +
            std::to_string(args.size());
    return std::nullopt;
  }
  for (size_t i = 0; i < args.size(); ++i)
    slots[i] = &args[i];
  for (const auto &[key, value] : kwargs) {
    std::optional<size_t> index = schema.indexOf(key);
    if (!index) {
      error = name() + " has no argument '" + key + "'";
      return std::nullopt;
    }
    if (slots[*index]) {
      error = name() + " got the argument '" + key + "' twice";
      return std::nullopt;
    }
    slots[*index] = &value;
  }
  std::vector<Argument> bound;
  bound.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    if (!slots[i] && !argument.defaultValue) {
      error =
          name() + " needs the argument '" + argument.name + "' (" + toString(argument.type) + ")";
      return std::nullopt;
    }
    if (slots[i] && !accepts(argument.type, *slots[i], numbersAreTensors)) {
      error = name() + " expects '" + argument.name + "' to be " + toString(argument.type) +
              ", got " + given(*slots[i]);
      return std::nullopt;
    }
    bound.push_back(spread(argument.type, slots[i] ? *slots[i] : *argument.defaultValue));
  }
  return bound;
}

} // namespace pellucid::graph
