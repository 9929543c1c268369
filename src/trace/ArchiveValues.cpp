// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveValues.h"

#include "host/Objects.h"
#include "support/Diagnostics.h"
#include "support/Printable.h"

#include <charconv>

namespace pellucid::trace {

namespace h = pellucid::host;
using archive::Argument;
using Kind = Argument::Kind;

static h::Value named(const Argument &argument, const ArchiveScope &scope,
                      const archive::Graph &graph) {
  if (auto value = scope.find(argument.text); value != scope.end())
    return value->second;
  if (auto known = graph.integers.find(argument.text);
      argument.kind == Kind::SymInt && known != graph.integers.end())
    return h::Value::integer(known->second);
  throw DiagnosticError(SourceLocation(),
                        "'" + argument.text + "' is used before anything in the graph makes it");
}

h::Value hostValue(const Argument &argument, const ArchiveScope &scope,
                   const archive::Graph &graph) {
  switch (argument.kind) {
  case Kind::None:
    return h::Value();
  case Kind::Tensor:
  case Kind::SymInt:
  case Kind::SymBool:
  case Kind::SymFloat:
    return named(argument, scope, graph);
  case Kind::Int:
    return h::Value(argument.integer);
  case Kind::Float:
    return h::Value(argument.real);
  case Kind::Bool:
    return h::Value(argument.integer != 0);
  case Kind::Type:
    return h::Value(std::make_shared<h::DType>(argument.dtype, h::DType::Family::Torch));
  case Kind::MemoryFormat:
    // Tensors are row-major here; where the order of memory shows (as_strided), it is checked.
    return h::Value(argument.text.starts_with("channels_last") ? "contiguous_format"
                                                               : argument.text);
  case Kind::String:
  case Kind::Layout:
    return h::Value(argument.text);
  case Kind::Device:
    // Where a program's tensors are is the target's to say; all of them are in one place.
    return h::Value("cpu");
  case Kind::List: {
    h::List list;
    for (const Argument &element : argument.elements)
      list.push_back(hostValue(element, scope, graph));
    return h::Value::list(std::move(list));
  }
  case Kind::Graph:
  case Kind::Unreadable:
    break;
  }
  throw DiagnosticError(SourceLocation(),
                        "an argument that is a " +
                            (argument.kind == Kind::Graph ? std::string("graph") : argument.text) +
                            " is not supported here");
}

std::string targetOf(const archive::Node &node) {
  constexpr std::string_view prefix = "torch.ops.";
  return node.target.starts_with(prefix) ? node.target.substr(prefix.size()) : node.target;
}

static std::string typeText(const Argument &argument) {
  switch (argument.kind) {
  case Kind::None:
    return "Any?";
  case Kind::Tensor:
    return "Tensor";
  case Kind::SymInt:
  case Kind::Int:
    return "SymInt";
  case Kind::SymBool:
  case Kind::Bool:
    return "bool";
  case Kind::SymFloat:
  case Kind::Float:
    return "float";
  case Kind::String:
    return "str";
  case Kind::Type:
    return "ScalarType";
  case Kind::MemoryFormat:
    return "MemoryFormat";
  case Kind::Layout:
    return "Layout";
  case Kind::Device:
    return "Device";
  case Kind::List:
    return (argument.elements.empty() ? std::string("Any") : typeText(argument.elements[0])) + "[]";
  case Kind::Graph:
    return "Graph";
  case Kind::Unreadable:
    return argument.text;
  }
  return {};
}

std::string schemaText(const archive::Node &node) {
  std::string target = targetOf(node), text;
  size_t dot = target.find('.'), overload = target.rfind('.');
  text = dot == std::string::npos ? target : target.substr(0, dot) + "::" + target.substr(dot + 1);
  if (overload != dot && target.substr(overload) == ".default")
    text.resize(text.size() - std::string_view(".default").size());
  text += "(";
  bool first = true, keywords = false;
  for (const archive::NamedArgument &input : node.inputs) {
    text += first ? "" : ", ";
    if (input.keyword && !keywords)
      text += "*, ";
    keywords |= input.keyword;
    first = false;
    text += typeText(input.value) + (input.name.empty() ? "" : " " + input.name);
  }
  text += ") -> ";
  std::string results;
  for (const Argument &output : node.outputs)
    results += (results.empty() ? "" : ", ") + typeText(output);
  return printableLine(text + (node.outputs.size() == 1 ? results : "(" + results + ")"));
}

//===-- Text ----------------------------------------------------------------------------------===//

static std::string realText(double value) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

static std::string argumentText(const Argument &argument) {
  switch (argument.kind) {
  case Kind::None:
    return "None";
  case Kind::Int:
    return std::to_string(argument.integer);
  case Kind::Float:
    return realText(argument.real);
  case Kind::Bool:
    return argument.integer ? "True" : "False";
  case Kind::String:
    return "'" + argument.text + "'";
  case Kind::Type:
    return std::string(info(argument.dtype).torch);
  case Kind::List: {
    std::string text = "[";
    constexpr size_t shown = 32;
    for (size_t i = 0; i < std::min(argument.elements.size(), shown); ++i)
      text += (i ? ", " : "") + argumentText(argument.elements[i]);
    return text + (argument.elements.size() > shown ? ", …]" : "]");
  }
  default:
    return argument.text;
  }
}

static std::string nodeText(const archive::Node &node) {
  std::string text;
  for (const Argument &output : node.outputs)
    text += (text.empty() ? "" : ", ") + argumentText(output);
  text += (text.empty() ? "" : " = ") + targetOf(node) + "(";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const archive::NamedArgument &input = node.inputs[i];
    text += (i ? ", " : "") + (input.keyword ? input.name + "=" : "") + argumentText(input.value);
  }
  return printableLine(text + ")" + (node.place.empty() ? "" : "  # " + node.place));
}

ArchiveText::ArchiveText(const archive::Archive &archive) {
  std::string text;
  add(*archive.graph, "", text);
  file = std::make_shared<SourceFile>(archive.path, std::move(text));
}

void ArchiveText::add(const archive::Graph &graph, const std::string &indent, std::string &text) {
  for (const archive::Node &node : graph.nodes) {
    lineOf[&node] = ++lines;
    text += indent + nodeText(node) + "\n";
    for (const archive::NamedArgument &input : node.inputs)
      if (input.value.graph)
        add(*input.value.graph, indent + "  ", text);
  }
}

SourceLocation ArchiveText::locate(const archive::Node &node) const {
  uint32_t line = lineOf.at(&node);
  std::string_view text = file->line(line);
  uint32_t start = static_cast<uint32_t>(text.find_first_not_of(' ')) + 1;
  uint32_t end = static_cast<uint32_t>(std::min(text.find("  # "), text.size())) + 1;
  return {file, {line, start, line, end}};
}

} // namespace pellucid::trace
