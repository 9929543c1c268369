// SPDX-License-Identifier: Apache-2.0
#include "trace/PrintArchiveGraph.h"

#include "archive/ReadGraph.h"
#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "graph/Schema.h"
#include "support/Diagnostics.h"
#include "trace/ArchiveArguments.h"
#include "trace/ArchiveScalars.h"
#include "trace/ArchiveSignature.h"

#include <algorithm>
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
  auto all = [&](const std::vector<int64_t> &list) {
    return [&] { std::for_each(list.begin(), list.end(), number); };
  };
  printMeta(json, dtype, all(sizes), all(strides), [&] { number(0); });
  return json.take();
}

namespace {

/// Of an archive's graph, and of none of ours.
struct ExtraTensor {
  std::string name;
  TensorType type;
};

class GraphPrinter {
public:
  GraphPrinter(const Program &p, const Graph &g, const OperatorRegistry &r,
               const std::set<std::string> &read)
      : program(p), graph(g), registry(r), reads(read), sizes(program, graph, reads),
        arguments(graph, sizes) {}

  /// What a region is given beside its operands.
  void addInput(const ExtraTensor &input) { extraInputs.push_back(input); }
  void addSource(const std::string &symbol, const SizeSource &source) {
    sizes.addSource(symbol, source);
  }

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
    json.key("sym_bool_values").beginObject();
    for (const auto &[name, condition] : sizes.namedConditions()) {
      json.key(name);
      sizes.printCondition(json, condition);
    }
    json.endObject();
    json.field("is_single_tensor_return", isBare);
    json.key("custom_obj_values").beginObject().endObject();
    json.key("sym_float_values").beginObject().endObject();
    return json.endObject().take();
  }

  /// The ExportedProgram, of the main graph.
  std::string print() {
    JsonWriter json;
    json.beginObject().key("graph_module").beginObject().key("graph").json(printGraph());
    ArchiveSignature signature(program, arguments, sizes);
    signature.printSignature(json, nodes);
    signature.printCallGraph(json);
    json.key("metadata").beginObject().endObject();
    json.key("treespec_namedtuple_fields").beginObject().endObject().endObject();
    json.key("opset_version").beginObject().field("aten", 10).endObject();
    signature.printRanges(json);
    json.key("schema_version").beginObject().field("major", schemaMajor);
    json.field("minor", schemaMinor).endObject();
    json.key("verifiers").beginArray().value("TRAINING").endArray();
    json.field("torch_version", "<=2.4");
    signature.printGuards(json);
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
    else if (node.calls(readSizeTarget))
      printSizeRead(node);
    else if (node.calls(checkSizesTarget))
      printAssertion(sizeCheckOf(node).condition, sizeCheckOf(node).text, node);
    else
      printCall(node);
  }

  /// What the value may be is asserted where it is read, as PyTorch does.
  void printSizeRead(const Node &node) {
    SizeRead read = sizeReadOf(node);
    sizes.read(read.symbol, nameOf(read.from), nodes);
    Expr size = Expr::symbol(read.symbol);
    std::string text = "the value of " + read.text + " is beyond what its place allows";
    if (int64_t least = program.symbols.find(read.symbol)->range.min; least != INT64_MIN)
      printAssertion(symbolic::lessEqual(least, size), text, node);
    if (read.most != Expr(INT64_MAX))
      printAssertion(symbolic::lessEqual(size, read.most), text, node);
  }

  void printAssertion(const Expr &condition, std::string text, const Node &node) {
    // PyTorch raises a RuntimeError.
    constexpr std::string_view error = "RuntimeError: ";
    if (text.starts_with(error))
      text.erase(0, error.size());
    std::string name = sizes.conditionNameOf(condition, nodes, node.location);
    JsonWriter json;
    json.beginObject().field("target", "torch.ops.aten._assert_scalar.default");
    json.key("inputs").beginArray().beginObject().field("name", "self").key("arg");
    json.beginObject().key("as_sym_bool").beginObject().field("as_name", name).endObject();
    json.endObject().field("kind", positional).endObject();
    json.beginObject().field("name", "assert_msg").key("arg").beginObject();
    json.field("as_string", text).endObject().field("kind", positional).endObject();
    finishNode(json.endArray().key("outputs").beginArray().endArray(), node,
               sizes.uniqueName("_assert_scalar"));
  }

  /// A node whose first input is a tensor; its list of inputs is left open.
  static void beginOn(JsonWriter &json, const char *target, const std::string &self) {
    json.beginObject().field("target", target).key("inputs").beginArray();
    json.beginObject().field("name", "self").key("arg");
    tensorArgument(json, self);
    json.field("kind", positional).endObject();
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
      beginOn(json, "torch.ops.aten.clone.default", nameOf(old));
      json.endArray().key("outputs").beginArray();
      tensorArgument(json, name);
      finishNode(json.endArray(), node, name);
      copies[old] = name;
    }
    return copies;
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
    extraTensors.push_back({name, TensorType(dtype, {})});
    return name;
  }

  /// Two overloads have another name in PyTorch.
  static std::string pytorchsTarget(const Schema &schema) {
    std::string target = schema.target();
    return target == "aten.bitwise_left_shift.Scalar" || target == "aten.bitwise_right_shift.Scalar"
               ? schema.packet() + ".Tensor_Scalar"
               : target;
  }

  void printCall(const Node &node) {
    Schema schema = schemaOf(node);
    bool hasNumbers = false;
    for (size_t i = 0; i < node.args().size() && i < schema.arguments.size(); ++i)
      hasNumbers |=
          !takesNumbers(schema) && isNumberForTensor(schema.arguments[i].type, node.arg(i));
    if (hasNumbers)
      schema = withScalars(std::move(schema), node, registry);
    std::map<size_t, std::string> tensorsOfNumbers;
    for (size_t i = 0; hasNumbers && i < node.args().size(); ++i)
      if (isNumberForTensor(schema.arguments[i].type, node.arg(i)))
        tensorsOfNumbers[i] = numberAsTensor(node, node.arg(i));
    std::map<const Value *, std::string> copies = copiesForWrites(node);
    JsonWriter json;
    json.beginObject().field("target", "torch.ops." + pytorchsTarget(schema));
    json.key("inputs").beginArray();
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

  using Names = std::vector<std::string>;
  Names namesOf(const std::vector<Value *> &values) const {
    Names names;
    for (const Value *value : values)
      names.push_back(nameOf(value));
    return names;
  }

  static std::string tensorList(const Names &names) {
    JsonWriter json;
    json.beginObject().key("as_tensors").beginArray();
    for (const std::string &name : names)
      tensorNamed(json, name);
    return json.endArray().endObject().take();
  }

  /// What regions are given so that they know sizes which none of their operands has.
  struct Carried {
    Names operands; ///< of this graph
    std::vector<ExtraTensor> inputs;
    std::vector<std::pair<std::string, SizeSource>> sources; ///< by symbol, of `inputs`
  };

  const TensorType &typeOf(const std::string &name) const {
    for (const ExtraTensor &input : extraInputs)
      if (input.name == name)
        return input.type;
    return graph.find(name)->result()->type();
  }

  Carried sizesFor(const Node &node) {
    std::set<std::string> symbols;
    for (uint32_t region : node.regions)
      symbols.merge(symbolsFromOutside(program, program.bodies[region].graph));
    Carried carried;
    std::map<std::string, std::string> known; // operand to input
    for (const std::string &symbol : symbols) {
      const SizeSource *found = sizes.findSource(symbol);
      SizeSource source =
          found ? *found
                : SizeSource{sizeCarrier(symbol, node), 0, 1, 0, carrierType(symbol).rank() == 2};
      auto [input, isNew] = known.try_emplace(source.input, "size_of_" + symbol);
      if (isNew) {
        input->second = sizes.uniqueName(input->second);
        carried.operands.push_back(source.input);
        carried.inputs.push_back(
            {input->second, found ? typeOf(source.input) : carrierType(symbol)});
      }
      source.input = input->second;
      carried.sources.emplace_back(symbol, source);
    }
    return carried;
  }

  /// As long as the symbol says, or where it may be below zero as long in one dim or the other;
  /// without memory of that size.
  TensorType carrierType(const std::string &symbol) const {
    Expr size = Expr::symbol(symbol);
    bool isSigned = program.symbols.find(symbol)->range.min < 0;
    TensorType type(DataType::Bool, isSigned ? std::vector<Expr>{max(size, 0), max(-size, 0)}
                                             : std::vector<Expr>{size});
    type.strides.assign(type.rank(), 0);
    return type;
  }

  std::string sizeCarrier(const std::string &symbol, const Node &node) {
    if (!reads.count(symbol))
      throw DiagnosticError(node.location,
                            "a region needs the number '" + symbol +
                                "', which is not a size of an input, and archives of torch.export "
                                "give regions tensors alone; save a .program instead");
    std::string one = numberAsTensor(node, Argument(false)), name = sizes.uniqueName("expand");
    JsonWriter json;
    beginOn(json, "torch.ops.aten.expand.default", one);
    TensorType type = carrierType(symbol);
    printInput(json, "size", nullptr, Argument::list(type.shape), positional, node.location);
    json.endArray().key("outputs").beginArray();
    tensorArgument(json, name);
    finishNode(json.endArray(), node, name);
    extraTensors.push_back({name, type});
    return name;
  }

  std::string regionArgument(const Node &node, size_t index, const Carried &carried) {
    static constexpr const char *condNames[] = {"true_graph", "false_graph"},
                                *loopNames[] = {"cond_graph", "body_graph"};
    const char *name = node.calls(condTarget)        ? condNames[index]
                       : node.calls(whileLoopTarget) ? loopNames[index]
                                                     : "combine_graph";
    GraphPrinter region(program, program.bodies[node.regions[index]].graph, registry, reads);
    for (const ExtraTensor &input : carried.inputs)
      region.addInput(input);
    for (const auto &[symbol, source] : carried.sources)
      region.addSource(symbol, source);
    bool isCondition = node.calls(whileLoopTarget) && index == 0;
    JsonWriter json;
    json.beginObject().key("as_graph").beginObject();
    json.field("name", sizes.uniqueName(std::string(name) + "_0"));
    json.key("graph").json(region.printGraph(isCondition));
    return json.endObject().endObject().take();
  }

  /// PyTorch's scans begin with the first slice: one from the end goes over what is turned around.
  void printFlip(const std::string &from, const std::string &to, const Node &node) {
    JsonWriter json;
    beginOn(json, "torch.ops.aten.flip.default", from);
    printInput(json, "dims", nullptr, Argument(Argument::List{Argument(int64_t(0))}), positional,
               node.location);
    json.endArray().key("outputs").beginArray();
    tensorArgument(json, to);
    finishNode(json.endArray(), node, to);
  }

  std::string flipped(const std::string &name, const TensorType &type, const Node &node) {
    std::string turned = sizes.uniqueName("flip");
    extraTensors.push_back({turned, TensorType(type.dtype, type.shape)});
    printFlip(name, turned, node);
    return turned;
  }

  std::string predicateArgument(const ControlFlow &flow, const Node &node) {
    JsonWriter json;
    if (flow.predicate.value() && flow.predicate.value()->isTensor()) {
      tensorArgument(json, nameOf(flow.predicate.value()));
      return json.take();
    }
    Expr condition = *flow.predicate.integer();
    if (auto known = condition.constant())
      return json.beginObject().field("as_bool", *known != 0).endObject().take();
    std::string name = sizes.conditionNameOf(condition, nodes, node.location);
    json.beginObject().key("as_sym_bool").beginObject().field("as_name", name);
    return json.endObject().endObject().take();
  }

  void printControlFlow(const Node &node) {
    ControlFlow flow = controlFlowOf(node);
    Carried carried = sizesFor(node);
    Names scanned = namesOf(flow.scanned), additional = namesOf(flow.additional);
    for (size_t i = 0; flow.reverse && i < scanned.size(); ++i)
      scanned[i] = flipped(scanned[i], flow.scanned[i]->type(), node);
    additional.insert(additional.end(), carried.operands.begin(), carried.operands.end());
    JsonWriter json;
    std::string predicate =
        flow.kind == ControlKind::Cond ? predicateArgument(flow, node) : std::string();
    json.beginObject().field("target", "torch.ops." + node.target()).key("inputs").beginArray();
    if (flow.kind == ControlKind::Cond)
      unnamed(json, predicate);
    for (size_t i = 0; i < node.regions.size(); ++i)
      unnamed(json, regionArgument(node, i, carried));
    if (flow.kind == ControlKind::WhileLoop || flow.kind == ControlKind::Scan)
      unnamed(json, tensorList(namesOf(flow.carried)));
    if (flow.kind == ControlKind::Scan || flow.kind == ControlKind::AssociativeScan)
      unnamed(json, tensorList(scanned));
    unnamed(json, tensorList(additional));
    Names results, turned;
    for (size_t i = 0; i < node.resultCount(); ++i) {
      bool isStacked = flow.reverse && i >= flow.carriedResults();
      results.push_back(isStacked ? sizes.uniqueName("turned") : nameOf(node.result(i)));
      if (isStacked)
        extraTensors.push_back({results.back(), node.result(i)->type()});
    }
    json.endArray().key("outputs").beginArray();
    for (const std::string &name : results)
      tensorArgument(json, name);
    if (results.empty())
      json.beginObject().field("as_none", true).endObject();
    json.endArray();
    printMetadata(json, node);
    json.field("is_hop_single_tensor_return", false);
    nodes.push_back(json.field("name", freeName(node)).endObject().take());
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i] != nameOf(node.result(i)))
        printFlip(results[i], nameOf(node.result(i)), node);
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
    for (const ExtraTensor &input : extraInputs)
      tensorArgument(json, input.name);
    json.endArray();
  }

  const std::vector<Argument> &results() const { return graph.outputNode()->args(); }

  void printOutputs(JsonWriter &json) {
    json.key("outputs").beginArray();
    for (const Argument &result : results())
      printArgument(json, nullptr, result, graph.outputNode()->location);
    json.endArray();
  }

  void printType(JsonWriter &json, const TensorType &type) const {
    auto all = [&](const std::vector<Expr> &list) {
      return [this, &json, &list] {
        for (const Expr &size : list)
          sizes.print(json, size);
      };
    };
    printMeta(json, type.dtype, all(type.shape), all(type.strides),
              [&] { sizes.print(json, type.offset); });
  }

  void printTensors(JsonWriter &json) {
    json.key("tensor_values").beginObject();
    for (const Node &node : graph)
      for (size_t i = 0; i < node.resultCount(); ++i)
        if (const Value *value = node.result(i); value->isTensor()) {
          json.key(nameOf(value));
          printType(json, value->type());
        }
    for (const auto *list : {&extraInputs, &extraTensors})
      for (const ExtraTensor &tensor : *list) {
        json.key(tensor.name);
        printType(json, tensor.type);
      }
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

  const Program &program;
  const Graph &graph;
  const OperatorRegistry &registry;
  const std::set<std::string> &reads; ///< symbols that values decide
  ArchiveSizes sizes;
  ArchiveArguments arguments;
  std::vector<std::string> nodes;
  std::vector<ExtraTensor> extraInputs, extraTensors;
};

} // namespace

std::string printArchiveGraph(const Program &program, const OperatorRegistry &registry) {
  std::set<std::string> reads = readSymbols(program);
  return GraphPrinter(program, program.main, registry, reads).print();
}

} // namespace pellucid::trace
