// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveSignature.h"

#include <algorithm>
#include <tuple>

namespace pellucid::trace {

using namespace graph;
using package::JsonWriter;

static void printNamed(JsonWriter &json, const char *key, const std::string &argument,
                       const char *target, const std::string &name) {
  json.beginObject().key(key).beginObject().key("arg");
  tensorNamed(json, argument);
  json.field(target, name);
}

void ArchiveSignature::printInputSpec(JsonWriter &json, const Node &placeholder,
                                      const InputSpec &spec, std::vector<std::string> &nodes) {
  if (!placeholder.resultCount()) {
    json.beginObject().key("constant_input").beginObject().field("name", placeholder.name());
    json.key("value");
    arguments.print(json, nullptr, spec.constant, {}, nodes);
    json.endObject().endObject();
    return;
  }
  const std::string &name = arguments.nameOf(placeholder.result());
  switch (spec.kind) {
  case InputSpec::Kind::Parameter:
    printNamed(json, "parameter", name, "parameter_name", spec.name);
    break;
  case InputSpec::Kind::Buffer:
    printNamed(json, "buffer", name, "buffer_name", spec.name);
    json.field("persistent", spec.persistent);
    break;
  case InputSpec::Kind::ConstantTensor:
    printNamed(json, "tensor_constant", name, "tensor_constant_name", spec.name);
    break;
  default:
    json.beginObject().key("user_input").beginObject().key("arg");
    tensorArgument(json, name);
  }
  json.endObject().endObject();
}

std::string ArchiveSignature::inputNamed(const std::string &name) const {
  std::vector<Node *> placeholders = program.main.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i)
    if (program.inputs[i].kind == InputSpec::Kind::UserInput && program.inputs[i].name == name)
      return placeholders[i]->name();
  return name;
}

bool ArchiveSignature::isParameter(const std::string &name) const {
  return std::any_of(program.inputs.begin(), program.inputs.end(), [&](const InputSpec &input) {
    return input.kind == InputSpec::Kind::Parameter && input.name == name;
  });
}

void ArchiveSignature::printSignature(JsonWriter &json, std::vector<std::string> &nodes) {
  json.key("signature").beginObject().key("input_specs").beginArray();
  std::vector<Node *> placeholders = program.main.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i)
    printInputSpec(json, *placeholders[i], program.inputs[i], nodes);
  const std::vector<Argument> &results = program.main.outputNode()->args();
  json.endArray().key("output_specs").beginArray();
  for (size_t i = 0; i < results.size(); ++i) {
    const OutputSpec &spec = program.outputs[i];
    const Value *value = results[i].value();
    if (value && spec.kind == OutputSpec::Kind::BufferMutation && isParameter(spec.name))
      printNamed(json, "parameter_mutation", arguments.nameOf(value), "parameter_name", spec.name);
    else if (value && spec.kind == OutputSpec::Kind::BufferMutation)
      printNamed(json, "buffer_mutation", arguments.nameOf(value), "buffer_name", spec.name);
    else if (value && spec.kind == OutputSpec::Kind::UserInputMutation)
      printNamed(json, "user_input_mutation", arguments.nameOf(value), "user_input_name",
                 inputNamed(spec.name));
    else {
      json.beginObject().key("user_output").beginObject().key("arg");
      arguments.print(json, nullptr, results[i], {}, nodes);
    }
    json.endObject().endObject();
  }
  json.endArray().endObject();
}

static std::string leaf() {
  JsonWriter json;
  json.beginObject().key("type").null().key("context").null().key("children_spec");
  return json.beginArray().endArray().endObject().take();
}
static std::string tuple(const std::vector<std::string> &children) {
  JsonWriter json;
  json.beginObject().field("type", "builtins.tuple").field("context", "null");
  json.key("children_spec").beginArray();
  for (const std::string &child : children)
    json.json(child);
  json.endArray();
  return json.endObject().take();
}

/// All inputs are positional, and all results one tuple, or one tensor.
void ArchiveSignature::printCallGraph(JsonWriter &json) const {
  std::vector<std::string> inputs, outputs, names;
  std::vector<Node *> placeholders = program.main.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i)
    if (program.inputs[i].kind == InputSpec::Kind::UserInput || !placeholders[i]->resultCount()) {
      inputs.push_back(leaf());
      names.push_back(placeholders[i]->name());
    }
  for (const OutputSpec &spec : program.outputs)
    if (spec.kind == OutputSpec::Kind::UserOutput)
      outputs.push_back(leaf());
  JsonWriter none;
  none.beginObject().field("type", "builtins.dict").field("context", "[]");
  none.key("children_spec").beginArray().endArray().endObject();
  json.key("module_call_graph").beginArray().beginObject().field("fqn", "");
  json.key("signature").beginObject().key("inputs").beginArray().endArray();
  json.key("outputs").beginArray().endArray();
  json.field("in_spec", "[1, " + tuple({tuple(inputs), none.take()}) + "]");
  json.field("out_spec", "[1, " + (outputs.size() == 1 ? leaf() : tuple(outputs)) + "]");
  json.key("forward_arg_names").beginArray();
  for (const std::string &name : names)
    json.value(name);
  json.endArray().endObject().endObject().endArray();
}

void ArchiveSignature::printRanges(JsonWriter &json) const {
  json.key("range_constraints").beginObject();
  for (const std::string &name : program.symbols.names()) {
    symbolic::Range range = program.symbols.find(name)->range;
    json.key(sizes.symbolName(name)).beginObject();
    for (auto [key, bound, open] :
         {std::tuple{"min_val", range.min, INT64_MIN}, {"max_val", range.max, INT64_MAX}})
      if (bound == open)
        json.key(key).null();
      else
        json.field(key, bound);
    json.endObject();
  }
  json.endObject();
}

void ArchiveSignature::printGuards(JsonWriter &json) const {
  json.key("guards_code").beginArray();
  for (const std::string &name : program.symbols.names())
    if (int64_t divisor = program.symbols.find(name)->divisor; divisor > 1)
      if (std::string source = sizes.sourceOf(name); !source.empty())
        json.value(source + " % " + std::to_string(divisor) + " == 0");
  json.endArray();
}

} // namespace pellucid::trace
