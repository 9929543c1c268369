// SPDX-License-Identifier: Apache-2.0
#include "trace/PrintArchiveGraph.h"

#include "archive/ReadGraph.h"
#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "graph/Schema.h"
#include "support/Diagnostics.h"
#include "trace/ArchiveArguments.h"

#include <cmath>
#include <functional>
#include <set>

namespace pellucid::trace {

using namespace graph;
using package::JsonWriter;
using Kind = SchemaType::Kind;

static constexpr int schemaMajor = 8, schemaMinor = 8; // what PyTorch 2.8 and later read
static constexpr int positional = 1, keyword = 2;

static void printMeta(JsonWriter &json, DataType dtype, const std::function<void()> &sizes,
                      const std::function<void()> &strides, const std::function<void()> &offset) {
  json.beginObject().field("dtype", archive::scalarTypeNumber(dtype)).key("sizes").beginArray();
  sizes();
  json.endArray().field("requires_grad", false).key("device");
  printArchiveDevice(json);
  json.key("strides").beginArray();
  strides();
  json.endArray().key("storage_offset");
  offset();
  json.field("layout", archiveLayout).endObject();
}

std::string printTensorMeta(DataType dtype, const std::vector<int64_t> &sizes) {
  JsonWriter json;
  auto number = [&](int64_t value) { json.beginObject().field("as_int", value).endObject(); };
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
  printMeta(
      json, dtype,
      [&] {
        for (int64_t size : sizes)
          number(size);
      },
      [&] {
        for (int64_t stride : strides)
          number(stride);
      },
      [&] { number(0); });
  return json.take();
}

namespace {

class GraphPrinter {
public:
  GraphPrinter(const Program &p, const Graph &g, const OperatorRegistry &r)
      : program(p), graph(g), registry(r), sizes(program, graph), arguments(graph, sizes) {}

  /// A Graph of the schema; `isBare`: its one result stands without a tuple around it.
  std::string printGraph(bool isBare = false) {
    for (const Node &node : graph)
      if (node.isCall())
        printNode(node);
    JsonWriter json;
    json.beginObject();
    printInputs(json);
    printOutputs(json);
    printList(json, "nodes", nodes);
    printTensors(json);
    printNamedSizes(json);
    json.key("sym_bool_values").beginObject().endObject();
    json.field("is_single_tensor_return", isBare);
    json.key("custom_obj_values").beginObject().endObject();
    json.key("sym_float_values").beginObject().endObject();
    return json.endObject().take();
  }

  /// The ExportedProgram, of the main graph.
  std::string print() {
    JsonWriter json;
    json.beginObject().key("graph_module").beginObject().key("graph").json(printGraph());
    printSignature(json);
    printCallGraph(json);
    json.key("metadata").beginObject().endObject();
    json.key("treespec_namedtuple_fields").beginObject().endObject().endObject();
    json.key("opset_version").beginObject().field("aten", 10).endObject();
    printRanges(json);
    json.key("schema_version").beginObject().field("major", schemaMajor);
    json.field("minor", schemaMinor).endObject();
    json.key("verifiers").beginArray().value("TRAINING").endArray();
    json.field("torch_version", "<=2.4");
    printGuards(json);
    return json.endObject().take();
  }

private:
  // --- names

  const std::string &nameOf(const Value *value) const { return arguments.nameOf(value); }

  void printArgument(JsonWriter &json, const SchemaType *type, const Argument &argument,
                     const SourceLocation &where) {
    arguments.print(json, type, argument, where, nodes);
  }
  void printInput(JsonWriter &json, const std::string &name, const SchemaType *type,
                  const Argument &argument, int kind, const SourceLocation &where) {
    json.beginObject().field("name", name).key("arg");
    printArgument(json, type, argument, where);
    json.field("kind", kind).endObject();
  }

  static void printList(JsonWriter &json, const char *key, const std::vector<std::string> &list) {
    json.key(key).beginArray();
    for (const std::string &text : list)
      json.json(text);
    json.endArray();
  }

  // --- nodes

  Schema schemaOf(const Node &node) const {
    if (const Operator *op = registry.find(node.target()))
      return op->schema;
    size_t dot = node.target().find('.'), last = node.target().rfind('.');
    std::string name =
        node.target().substr(0, dot) + "::" + node.target().substr(dot + 1, last - dot - 1);
    if (const OperatorDefinition *definition = program.findOperator(name))
      return parseSchema(name + definition->schema, node.location);
    throw DiagnosticError(node.location,
                          "'" + node.target() + "' " +
                              (node.regions.empty()
                                   ? "has no schema"
                                   : "is control flow, which is not written into archives; save "
                                     "the program (-o NAME.program) or compile the model"));
  }

  /// `File "model.py", line 12`, as PyTorch keeps it.
  void printMetadata(JsonWriter &json, const Node &node) const {
    json.key("metadata").beginObject();
    const SourceLocation &where = node.location;
    if (where.known() && where.range.line)
      json.field("stack_trace",
                 "  File \"" + program.sourceName(where.file ? where.file->path() : where.name) +
                     "\", line " + std::to_string(where.range.line) + ", in forward\n");
    if (const Launch *launch = node.launch())
      printGrid(json, *launch);
    json.endObject();
  }

  static void printGrid(JsonWriter &json, const Launch &launch) {
    const LaunchVariant &variant = launch.variants.front();
    json.field("grid", "[" + variant.grid[0].text() + ", " + variant.grid[1].text() + ", " +
                           variant.grid[2].text() + "]");
    json.field("num_warps", std::to_string(variant.numWarps));
    json.field("num_stages", std::to_string(variant.numStages));
  }

  void finishNode(JsonWriter &json, const Node &node, const std::string &name) {
    printMetadata(json, node);
    json.key("is_hop_single_tensor_return").null();
    nodes.push_back(json.field("name", name).endObject().take());
  }

  void printNode(const Node &node) {
    if (node.launch())
      printLaunch(node);
    else if (isControlFlow(node))
      printControlFlow(node);
    else if (isHostStep(node))
      throw DiagnosticError(
          node.location,
          "values decide sizes of this program (" +
              (node.calls(readSizeTarget) ? sizeReadOf(node).text : sizeCheckOf(node).text) +
              "), which archives that Pellucid writes do not say yet; export the "
              "program itself, or compile it");
    else
      printCall(node);
  }

  /// An operator that writes to its arguments gets copies of them, for others may read the old
  /// contents; the copies are the new values.
  std::map<const Value *, std::string> copiesForWrites(const Node &node) {
    std::map<const Value *, std::string> copies;
    size_t first = node.resultCount() - node.mutatedArgs.size();
    for (size_t i = 0; i < node.mutatedArgs.size(); ++i) {
      const Value *old = node.arg(node.mutatedArgs[i]).value();
      const std::string &name = nameOf(node.result(first + i));
      JsonWriter json;
      json.beginObject().field("target", "torch.ops.aten.clone.default").key("inputs").beginArray();
      json.beginObject().field("name", "self").key("arg");
      tensorArgument(json, nameOf(old));
      json.field("kind", positional).endObject().endArray().key("outputs").beginArray();
      tensorArgument(json, name);
      finishNode(json.endArray(), node, name);
      copies[old] = name;
    }
    return copies;
  }

  /// A number stands for a tensor here where it does in Python; PyTorch's own operators take one
  /// only in the arithmetic of Python's signs.
  static bool takesNumbers(const Schema &schema) {
    static const std::set<std::string_view> names = {"add",      "div",         "divide",
                                                     "mul",      "multiply",    "sub",
                                                     "subtract", "true_divide", "floor_divide"};
    return names.count(schema.name) != 0;
  }

  static bool isNumberForTensor(const SchemaType &type, const Argument &argument) {
    return type.kind == Kind::Tensor && !type.list && !argument.isNone() && !argument.value();
  }

  /// The overload of the same call that has a Scalar where this one has the tensor that a number
  /// stands for; else the schema itself.
  Schema withScalars(Schema schema, const Node &node) const {
    auto fits = [&](const Schema &other) {
      if (other.arguments.size() != schema.arguments.size())
        return false;
      for (size_t i = 0; i < node.args().size(); ++i) {
        bool isNumber = isNumberForTensor(schema.arguments[i].type, node.arg(i));
        if (other.arguments[i].name != schema.arguments[i].name ||
            (isNumber && other.arguments[i].type.kind != Kind::Scalar) ||
            (!isNumber && other.arguments[i].type != schema.arguments[i].type))
          return false;
      }
      return true;
    };
    for (const Operator *other : registry.overloads(schema.packet()))
      if (fits(other->schema))
        return other->schema;
    return schema;
  }

  /// The name of a node that gives the number as a tensor without dims.
  std::string numberAsTensor(const Node &node, const Argument &number) {
    std::string name = sizes.uniqueName("scalar_tensor");
    JsonWriter json;
    json.beginObject().field("target", "torch.ops.aten.scalar_tensor.default");
    json.key("inputs").beginArray();
    printInput(json, "s", nullptr, number, positional, node.location);
    bool isReal = number.as<double>().has_value();
    DataType dtype = isReal              ? DataType::Float32
                     : number.as<bool>() ? DataType::Bool
                                         : DataType::Int64;
    printInput(json, "dtype", nullptr, Argument(dtype), keyword, node.location);
    json.endArray().key("outputs").beginArray();
    tensorArgument(json, name);
    finishNode(json.endArray(), node, name);
    numbers.emplace_back(name, dtype);
    return name;
  }

  void printCall(const Node &node) {
    Schema schema = schemaOf(node);
    bool hasNumbers = false;
    for (size_t i = 0; i < node.args().size() && i < schema.arguments.size(); ++i)
      hasNumbers |=
          !takesNumbers(schema) && isNumberForTensor(schema.arguments[i].type, node.arg(i));
    if (hasNumbers)
      schema = withScalars(std::move(schema), node);
    std::map<size_t, std::string> tensorsOfNumbers;
    for (size_t i = 0; hasNumbers && i < node.args().size(); ++i)
      if (isNumberForTensor(schema.arguments[i].type, node.arg(i)))
        tensorsOfNumbers[i] = numberAsTensor(node, node.arg(i));
    std::map<const Value *, std::string> copies = copiesForWrites(node);
    JsonWriter json;
    json.beginObject().field("target", "torch.ops." + schema.target()).key("inputs").beginArray();
    for (size_t i = 0; i < node.args().size() && i < schema.arguments.size(); ++i) {
      auto copy = copies.find(node.arg(i).value());
      auto number = tensorsOfNumbers.find(i);
      bool isCopy = node.arg(i).value() && copy != copies.end();
      if (isCopy || number != tensorsOfNumbers.end()) {
        json.beginObject().field("name", schema.arguments[i].name).key("arg");
        tensorArgument(json, isCopy ? copy->second : number->second);
        json.field("kind", positional).endObject();
      } else
        printInput(json, schema.arguments[i].name, &schema.arguments[i].type, node.arg(i),
                   schema.arguments[i].keywordOnly ? keyword : positional, node.location);
    }
    for (const auto &[name, value] : node.kwargs())
      if (auto index = schema.indexOf(name))
        printInput(json, name, &schema.arguments[*index].type, value, keyword, node.location);
    json.endArray();
    size_t count = node.resultCount() - node.mutatedArgs.size();
    bool isList = schema.returns.size() == 1 && schema.returns[0].type.list;
    printResults(json, node, count, isList);
    finishNode(json, node, count == 1 && !isList ? nameOf(node.result()) : freeName(node));
  }

  std::string freeName(const Node &node) {
    std::string name(Graph::nameFor(node.target()));
    return sizes.uniqueName(node.launch() ? node.name() : name);
  }

  void printResults(JsonWriter &json, const Node &node, size_t count, bool isList) {
    json.key("outputs").beginArray();
    if (isList)
      json.beginObject().key("as_tensors").beginArray();
    for (size_t i = 0; i < count; ++i) {
      if (isList)
        tensorNamed(json, nameOf(node.result(i)));
      else
        tensorArgument(json, nameOf(node.result(i)));
    }
    if (isList)
      json.endArray().endObject();
    if (!count && !isList)
      json.beginObject().field("as_none", true).endObject();
    json.endArray();
  }

  /// Of the values that the kernel is given; its text is in the program that goes along.
  void printLaunch(const Node &node) {
    const Launch &launch = *node.launch();
    const KernelDef &kernel = program.kernels[launch.variants.front().kernel];
    JsonWriter json;
    json.beginObject().field("target", "torch.ops.pellucid." + kernel.symbol + ".default");
    json.key("inputs").beginArray();
    for (const LaunchOperand &operand : launch.operands)
      printInput(json, operand.name, nullptr, operand.value, keyword, node.location);
    for (const auto &[name, value] : launch.variants.front().constants)
      printInput(json, name, nullptr, value, keyword, node.location);
    printResults(json.endArray(), node, node.resultCount(), false);
    finishNode(json, node, node.resultCount() == 1 ? nameOf(node.result()) : freeName(node));
  }

  /// Higher-order operators have no schema: their inputs are positional and have no names.
  static void unnamed(JsonWriter &json, const std::string &argument) {
    json.beginObject().field("name", "").key("arg").json(argument);
    json.field("kind", positional).endObject();
  }

  std::string tensorList(const std::vector<Value *> &values) const {
    JsonWriter json;
    json.beginObject().key("as_tensors").beginArray();
    for (const Value *value : values)
      tensorNamed(json, nameOf(value));
    return json.endArray().endObject().take();
  }

  std::string regionArgument(const Node &node, size_t index) {
    static constexpr const char *condNames[] = {"true_graph", "false_graph"},
                                *loopNames[] = {"cond_graph", "body_graph"};
    const char *name = node.calls(condTarget)        ? condNames[index]
                       : node.calls(whileLoopTarget) ? loopNames[index]
                                                     : "combine_graph";
    const Graph &region = program.bodies[node.regions[index]].graph;
    bool isCondition = node.calls(whileLoopTarget) && index == 0;
    JsonWriter json;
    json.beginObject().key("as_graph").beginObject();
    json.field("name", sizes.uniqueName(std::string(name) + "_0"));
    json.key("graph").json(GraphPrinter(program, region, registry).printGraph(isCondition));
    return json.endObject().endObject().take();
  }

  void printControlFlow(const Node &node) {
    ControlFlow flow = controlFlowOf(node);
    if (flow.reverse || (flow.kind == ControlKind::Cond && !flow.predicate.value()))
      throw DiagnosticError(node.location,
                            std::string("an archive of torch.export has no word for a ") +
                                (flow.reverse ? "scan from the end" : "branch on a size") +
                                "; save a .program instead");
    JsonWriter json;
    json.beginObject().field("target", "torch.ops." + node.target()).key("inputs").beginArray();
    if (flow.kind == ControlKind::Cond) {
      JsonWriter predicate;
      tensorArgument(predicate, nameOf(flow.predicate.value()));
      unnamed(json, predicate.take());
    }
    for (size_t i = 0; i < node.regions.size(); ++i)
      unnamed(json, regionArgument(node, i));
    if (flow.kind == ControlKind::WhileLoop || flow.kind == ControlKind::Scan)
      unnamed(json, tensorList(flow.carried));
    if (flow.kind == ControlKind::Scan || flow.kind == ControlKind::AssociativeScan)
      unnamed(json, tensorList(flow.scanned));
    unnamed(json, tensorList(flow.additional));
    printResults(json.endArray(), node, node.resultCount(), false);
    printMetadata(json, node);
    json.field("is_hop_single_tensor_return", false);
    nodes.push_back(json.field("name", freeName(node)).endObject().take());
  }

  // --- inputs and outputs

  void printInputs(JsonWriter &json) {
    json.key("inputs").beginArray();
    std::vector<Node *> placeholders = graph.placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i)
      if (placeholders[i]->resultCount())
        tensorArgument(json, nameOf(placeholders[i]->result()));
      else
        printArgument(json, nullptr, program.inputs[i].constant, {});
    json.endArray();
  }

  const std::vector<Argument> &results() const { return graph.outputNode()->args(); }

  void printOutputs(JsonWriter &json) {
    json.key("outputs").beginArray();
    for (const Argument &result : results())
      printArgument(json, nullptr, result, graph.outputNode()->location);
    json.endArray();
  }

  void printTensors(JsonWriter &json) {
    json.key("tensor_values").beginObject();
    for (const Node &node : graph)
      for (size_t i = 0; i < node.resultCount(); ++i)
        if (const Value *value = node.result(i); value->isTensor()) {
          const TensorType &type = value->type();
          json.key(nameOf(value));
          auto all = [&](const std::vector<Expr> &list) {
            return [this, &json, &list] {
              for (const Expr &size : list)
                sizes.print(json, size);
            };
          };
          printMeta(json, type.dtype, all(type.shape), all(type.strides),
                    [&] { sizes.print(json, type.offset); });
        }
    for (const auto &[name, dtype] : numbers)
      json.key(name).json(printTensorMeta(dtype, {}));
    json.endObject();
  }

  void printNamedSizes(JsonWriter &json) {
    json.key("sym_int_values").beginObject();
    for (const auto &[name, size] : sizes.named()) {
      json.key(name);
      sizes.print(json, size);
    }
    json.endObject();
  }

  static void printNamed(JsonWriter &json, const char *key, const std::string &argument,
                         const char *target, const std::string &name) {
    json.beginObject().key(key).beginObject().key("arg");
    tensorNamed(json, argument);
    json.field(target, name);
  }

  void printInputSpec(JsonWriter &json, const Node &placeholder, const InputSpec &spec) {
    if (!placeholder.resultCount()) {
      json.beginObject().key("constant_input").beginObject().field("name", placeholder.name());
      json.key("value");
      printArgument(json, nullptr, spec.constant, {});
      json.endObject().endObject();
      return;
    }
    const std::string &name = nameOf(placeholder.result());
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

  std::string inputNamed(const std::string &name) const {
    std::vector<Node *> placeholders = program.main.placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i)
      if (program.inputs[i].kind == InputSpec::Kind::UserInput && program.inputs[i].name == name)
        return placeholders[i]->name();
    return name;
  }

  void printSignature(JsonWriter &json) {
    json.key("signature").beginObject().key("input_specs").beginArray();
    std::vector<Node *> placeholders = program.main.placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i)
      printInputSpec(json, *placeholders[i], program.inputs[i]);
    json.endArray().key("output_specs").beginArray();
    for (size_t i = 0; i < results().size(); ++i) {
      const OutputSpec &spec = program.outputs[i];
      const Value *value = results()[i].value();
      if (value && spec.kind == OutputSpec::Kind::BufferMutation)
        printNamed(json, "buffer_mutation", nameOf(value), "buffer_name", spec.name);
      else if (value && spec.kind == OutputSpec::Kind::UserInputMutation)
        printNamed(json, "user_input_mutation", nameOf(value), "user_input_name",
                   inputNamed(spec.name));
      else {
        json.beginObject().key("user_output").beginObject().key("arg");
        printArgument(json, nullptr, results()[i], {});
      }
      json.endObject().endObject();
    }
    json.endArray().endObject();
  }

  // --- how it is called

  static std::string leaf() {
    JsonWriter json;
    json.beginObject().key("type").null().key("context").null().key("children_spec");
    return json.beginArray().endArray().endObject().take();
  }
  static std::string tuple(const std::vector<std::string> &children) {
    JsonWriter json;
    json.beginObject().field("type", "builtins.tuple").field("context", "null");
    printList(json, "children_spec", children);
    return json.endObject().take();
  }

  /// All inputs are positional, and all results one tuple, or one tensor.
  void printCallGraph(JsonWriter &json) {
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

  void printRanges(JsonWriter &json) {
    json.key("range_constraints").beginObject();
    for (const std::string &name : program.symbols.names()) {
      symbolic::Range range = program.symbols.find(name)->range;
      json.key(sizes.symbolName(name)).beginObject().field("min_val", range.min).key("max_val");
      if (range.max == INT64_MAX)
        json.null();
      else
        json.value(range.max);
      json.endObject();
    }
    json.endObject();
  }

  void printGuards(JsonWriter &json) {
    json.key("guards_code").beginArray();
    for (const std::string &name : program.symbols.names())
      if (int64_t divisor = program.symbols.find(name)->divisor; divisor > 1)
        if (std::string source = sizes.sourceOf(name); !source.empty())
          json.value(source + " % " + std::to_string(divisor) + " == 0");
    json.endArray();
  }

  const Program &program;
  const Graph &graph;
  const OperatorRegistry &registry;
  ArchiveSizes sizes;
  ArchiveArguments arguments;
  std::vector<std::string> nodes;
  std::vector<std::pair<std::string, DataType>> numbers; ///< tensors that hold one
};

} // namespace

std::string printArchiveGraph(const Program &program, const OperatorRegistry &registry) {
  return GraphPrinter(program, program.main, registry).print();
}

} // namespace pellucid::trace
