// SPDX-License-Identifier: Apache-2.0
#include "graph/ProgramText.h"
#include "trace/ArchiveReplay.h"
#include "trace/ArchiveWeights.h"
#include "trace/WriteArchive.h"

#include <algorithm>
#include <functional>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

ArchiveReplay::ArchiveReplay(const Archive &a, const TraceOptions &o, OddGuards g)
    : archive(a), options(o), odd(g), text(a), hooks(&tracer),
      interpreter(beginTrace(tracer, hooks, declaredSymbols(a), options)) {}

Program ArchiveReplay::run(const std::vector<std::string> &kernels) {
  try {
    for (const std::string &path : kernels)
      interpreter->importFile(path);
    tracer.endConstruction();
    setConstructing(*interpreter, false);
    refuseMissing(archive, tracer, *interpreter);
    bindInputs();
    checkedGuards = applyGuards(archive, scope, tracer, *interpreter, options, odd);
    replay(*archive.graph, scope);
    finish();
  } catch (const DiagnosticError &error) {
    throw DiagnosticError(placed(error.diagnostic));
  }
  tracer.program.sourceNames = interpreter->sourceNames();
  return std::move(tracer.program);
}

void ArchiveReplay::fail(const std::string &message) const {
  throw DiagnosticError(SourceLocation(archive.path), message);
}

private:
  [[noreturn]] void fail(const std::string &message) const {
    throw DiagnosticError(SourceLocation(archive.path), message);
  }

  /// At the node that was being replayed, where the complaint has no place of the user's.
  Diagnostic placed(Diagnostic diagnostic) const {
    diagnostic = atUsersLine(std::move(diagnostic));
    if (!diagnostic.location.known())
      diagnostic.location = current.known() ? current : SourceLocation(archive.path);
    return diagnostic;
  }

  // --- inputs

  void bindInputs() {
    for (size_t i = 0; i < archive.inputs.size(); ++i) {
      const archive::Input &input = archive.inputs[i];
      const archive::Argument &name = archive.graph->inputs[i];
      current = SourceLocation(archive.path);
      switch (input.kind) {
      case archive::Input::Kind::User:
        bindUserInput(input);
        break;
      case archive::Input::Kind::ConstantInput:
        // Fixed at export: the model was traced with this value.
        scope[name.text.empty() ? input.name : name.text] =
            hostValue(input.value, scope, *archive.graph);
        break;
      default:
        bindWeight(input);
      }
    }
  }

  const archive::TensorMeta &metaOf(const std::string &name) const {
    auto meta = archive.graph->tensors.find(name);
    if (meta == archive.graph->tensors.end())
      fail("describes no tensor '" + name + "', which is an input");
    return meta->second;
  }

  void bindUserInput(const archive::Input &input) {
    const archive::Argument &given = input.value;
    if (given.kind == AKind::SymBool)
      fail("its input '" + given.text +
           "' is a truth value that differs from call to call; a package takes tensors: export it "
           "with a constant there, or with a tensor");
    if (given.kind == AKind::SymInt || given.kind == AKind::SymFloat)
      return bindNumber(given);
    if (given.kind != AKind::Tensor)
      return; // a number, a text or None, of which the graph holds the value already
    const archive::TensorMeta &meta = metaOf(given.text);
    h::Value tensor = userTensor(given.text, TensorType(meta.dtype, meta.sizes));
    if (!meta.isComplex)
      return define(given.text, tensor);
    options.note("'" + given.text +
                 "' is complex: the package takes the pairs of its parts, as torch.view_as_real() "
                 "gives them");
    define(given.text, complexOf(*interpreter, tensor));
  }

  h::Value userTensor(const std::string &name, const TensorType &type) {
    TracedTensor tensor = tracer.placeholder(name, type);
    InputSpec spec;
    spec.name = name;
    tracer.program.inputs.push_back(spec);
    userInputs.emplace_back(name, tensor.storage);
    return tensorValue(tracer, tensor);
  }

  /// A number that differs from call to call comes in a tensor without dims.
  void bindNumber(const archive::Argument &given) {
    DataType dtype = given.kind == AKind::SymInt ? DataType::Int64 : DataType::Float64;
    h::Value tensor = userTensor(given.text, TensorType(dtype, {}));
    define(given.text, interpreter->call(interpreter->getAttr(tensor, "item")));
    options.note("'" + given.text +
                 "' is a number: the package takes it as a tensor without dims, " +
                 std::string(info(dtype).cli) + "[]");
  }

  void define(const std::string &name, h::Value value) {
    scope.insert_or_assign(name, std::move(value));
  }

  static std::vector<Expr> exprs(const std::vector<int64_t> &numbers) {
    return {numbers.begin(), numbers.end()};
  }

  TracedTensor weightPlaceholder(const archive::Input &input, Weight weight) {
    TensorType type(weight.dtype, exprs(weight.shape));
    TracedTensor tensor = tracer.placeholder(input.value.text, type);
    tensor.storage->isParameter = input.kind == archive::Input::Kind::Parameter;
    InputSpec spec;
    spec.kind = input.kind == archive::Input::Kind::Parameter ? InputSpec::Kind::Parameter
                : input.kind == archive::Input::Kind::Buffer  ? InputSpec::Kind::Buffer
                                                              : InputSpec::Kind::ConstantTensor;
    spec.name = input.name;
    spec.persistent = input.persistent;
    if (tracer.program.weights.count(input.name))
      fail("has two tensors of the name '" + input.name + "'");
    tracer.program.weights.emplace(input.name, std::move(weight));
    tracer.program.inputs.push_back(spec);
    buffers.emplace_back(input.name, tensor.storage);
    return tensor;
  }

  /// Its elements as they lie in the file become a placeholder; where they do not lie row by row,
  /// the tensor is a view of that.
  void bindWeight(const archive::Input &input) {
    const archive::Tensor &tensor = tensorOf(archive, input);
    const archive::TensorMeta &meta = metaOf(input.value.text);
    if (meta.dtype != tensor.dtype || meta.sizes != exprs(tensor.sizes))
      fail("describes '" + input.name + "' in its graph otherwise than among its tensors");
    auto [tied, isNew] = bound.try_emplace(
        {tensor.storage.get(), tensor.dtype, tensor.offset, tensor.sizes, tensor.strides});
    bool isEmpty = std::count(tensor.sizes.begin(), tensor.sizes.end(), 0) > 0;
    if (isNew || isEmpty)
      tied->second = boundWeight(input, tensor);
    h::Value value = tensorValue(tracer, tied->second);
    define(input.value.text, meta.isComplex ? complexOf(*interpreter, value) : value);
    if (isNew)
      viewsOf[tensor.storage.get()].push_back(tied->second.storage);
  }

  TracedTensor boundWeight(const archive::Input &input, const archive::Tensor &tensor) {
    if (isRowMajor(tensor) || std::count(tensor.sizes.begin(), tensor.sizes.end(), 0))
      return weightPlaceholder(input, weightAt(tensor, tensor.sizes));
    if (auto order = denseOrder(tensor)) {
      std::vector<int64_t> shape, inverse(order->size());
      for (size_t i = 0; i < order->size(); ++i) {
        shape.push_back(tensor.sizes[(*order)[i]]);
        inverse[(*order)[i]] = static_cast<int64_t>(i);
      }
      TracedTensor whole = weightPlaceholder(input, weightAt(tensor, shape));
      return viewOf(whole, "aten.permute.default", {Argument::list(exprs(inverse))});
    }
    int64_t span = 1;
    for (size_t d = 0; d < tensor.sizes.size(); ++d)
      span += (tensor.sizes[d] - 1) * tensor.strides[d];
    TracedTensor whole = weightPlaceholder(input, weightAt(tensor, {span}));
    return viewOf(whole, "aten.as_strided.default",
                  {Argument::list(exprs(tensor.sizes)), Argument::list(exprs(tensor.strides)),
                   Argument(int64_t(0))});
  }

  TracedTensor viewOf(TracedTensor &whole, const char *target, std::vector<Argument> arguments) {
    SourceLocation where(archive.path);
    arguments.insert(arguments.begin(), Argument(tracer.valueOf(whole, where)));
    return tracer.call(target, std::move(arguments), {}, {&whole}, where).at(0);
  }

  // --- nodes

  void replay(const archive::Graph &graph, ArchiveScope &values) {
    for (const archive::Node &node : graph.nodes) {
      current = text.locate(node);
      interpreter->setOutside(current);
      tracer.graph().setLocation(current);
      bindResults(node, graph, values, resultOf(node, graph, values));
    }
  }

  h::Value resultOf(const archive::Node &node, const archive::Graph &graph, ArchiveScope &values) {
    std::string target = targetOf(node);
    ArchiveRoute route = *routeOf(tracer, *interpreter, target);
    bool onComplex = route == ArchiveRoute::Complex || takesComplex(*interpreter, node, values);
    if (route == ArchiveRoute::Own && !(onComplex && target == "aten.sym_size.int"))
      return ownCall(node, target, graph, values);
    if (target.starts_with("aten.as_strided"))
      checkOrder(node, graph, values);
    h::CallArgs args;
    args.location = current;
    for (const archive::NamedArgument &input : node.inputs) {
      h::Value value = hostValue(input.value, values, graph);
      if (input.name.empty() || route == ArchiveRoute::Number)
        args.positional.push_back(std::move(value));
      else
        args.keywords.emplace_back(input.name, std::move(value));
    }
    if (onComplex)
      return complexCall(target, std::move(args));
    switch (route) {
    case ArchiveRoute::Number:
      return numberCall(*interpreter, target, args.positional);
    case ArchiveRoute::User:
      return hooks.callOperator(*interpreter, interpreter->operators.at(userName(target)),
                                std::move(args));
    case ArchiveRoute::Registered:
      return callAten(tracer, *interpreter, target, args);
    case ArchiveRoute::Composite:
      return callAtenComposite(*interpreter, *findAtenComposite(*interpreter, target), args);
    default:
      return writeInPlace(target, route, std::move(args));
    }
  }

  /// Strides of a tensor that PyTorch kept in another order (channels_last) mean other elements.
  void checkOrder(const archive::Node &node, const archive::Graph &graph,
                  const ArchiveScope &values) {
    const TensorType &type = tensorArgument(node, graph, values).tensor.type;
    auto meta = graph.tensors.find(node.inputs[0].value.text);
    if (meta == graph.tensors.end() || !type.isContiguous(tracer.symbols()))
      return;
    Expr expected = 1;
    for (size_t d = meta->second.sizes.size(); d-- > 0;) {
      const Expr &size = meta->second.sizes[d];
      if (tracer.symbols().prove(symbolic::equal(meta->second.strides[d], expected)) == false &&
          size != Expr(1))
        interpreter->refuse("'" + targetOf(node) +
                            "' of a tensor that PyTorch does not keep row by row (channels_last); "
                            "export contiguous() before it");
      expected = expected * size;
    }
  }

  h::Value complexCall(const std::string &target, h::CallArgs args) {
    const h::Value *function = complexOperator(*interpreter, target);
    if (!function)
      interpreter->refuse("'" + target +
                          "' on complex numbers is not supported; compute it with their parts: "
                          "torch.view_as_real(z)");
    return interpreter->call(*function, std::move(args));
  }

  h::Value writeInPlace(const std::string &target, ArchiveRoute route, h::CallArgs args) {
    auto keyword = std::find_if(args.keywords.begin(), args.keywords.end(), [](const auto &k) {
      return k.first == "self" || k.first == "input";
    });
    h::Value self;
    if (keyword != args.keywords.end()) {
      self = keyword->second;
      args.keywords.erase(keyword);
    } else if (!args.positional.empty()) {
      self = args.positional.front();
      args.positional.erase(args.positional.begin());
    }
    auto *tensor = self.as<TensorObject>();
    if (!tensor)
      interpreter->refuse("'" + target + "' writes to what is no tensor");
    if (isWrite(target)) {
      std::string name = target.substr(5, target.find("_.") - 5);
      std::erase_if(args.keywords, [](const auto &k) { return k.first == "non_blocking"; });
      for (auto &[key, value] : args.keywords)
        args.positional.push_back(value);
      args.keywords.clear();
      return callInPlace(*tensor, *interpreter, name, args);
    }
    std::string functional = functionalTarget(target);
    // The tensor itself has another shape from here on.
    if (turnsInPlace(target))
      return interpreter->call(
          interpreter->getAttr(self, target.substr(5, target.find("_.") - 4)), std::move(args));
    if (route == ArchiveRoute::InPlace)
      return callInPlace(*tensor, *interpreter, functional, args);
    h::CallArgs call = args;
    call.keywords.emplace_back(
        findAtenComposite(*interpreter, functional)->schema.arguments.at(0).name, self);
    h::Value result =
        callAtenComposite(*interpreter, *findAtenComposite(*interpreter, functional), call);
    return tensor->assign(*interpreter, result, target);
  }

  TensorObject &tensorArgument(const archive::Node &node, const archive::Graph &graph,
                               const ArchiveScope &values) {
    h::Value value =
        node.inputs.empty() ? h::Value() : hostValue(node.inputs[0].value, values, graph);
    auto *tensor = value.as<TensorObject>();
    if (!tensor)
      interpreter->refuse("'" + targetOf(node) + "' takes a tensor");
    kept = value;
    return *tensor;
  }

  /// A bool that a tensor holds, as a condition of the program: a number read from it is 1.
  h::Value conditionOf(TensorObject &tensor) {
    h::CallArgs arguments;
    arguments.positional = {tensorValue(tracer, tensor.tensor)};
    arguments.keywords.emplace_back("dtype", dtypeValue(DataType::Int64));
    h::Value number = callAten(tracer, *interpreter, "to", arguments);
    h::Value read = readSize(tracer, *interpreter, number, 0, Expr(1), "item()");
    return interpreter->compare(h::CompareOp::Eq, read, h::Value(int64_t(1)));
  }

  /// An integer is a size wherever PyTorch noted it: it is read here, not where it is used first.
  h::Value itemOfNode(const archive::Node &node, const archive::Graph &graph,
                      ArchiveScope &values) {
    TensorObject &tensor = tensorArgument(node, graph, values);
    if (tensor.tensor.type.dtype == DataType::Bool && node.outputs.size() == 1 &&
        node.outputs[0].kind == AKind::SymBool)
      return conditionOf(tensor);
    h::Value item = itemOf(tensor, *interpreter);
    bool isMain = &tracer.graph() == &tracer.program.main;
    return isMain ? sizeOf(tracer, *interpreter, item) : item;
  }

  void assertSizes(const archive::Node &node, const std::string &target,
                   const archive::Graph &graph, ArchiveScope &values) {
    std::map<std::string, h::Value> given;
    for (const archive::NamedArgument &input : node.inputs)
      given[input.name] = hostValue(input.value, values, graph);
    if (target == "aten._assert_scalar.default")
      return assertCondition(given["self"],
                             given["assert_msg"].isStr() ? given["assert_msg"].str() : "");
    if (!target.starts_with("aten.sym_constrain_range"))
      return;
    h::Value size = sizeOf(tracer, *interpreter, given["size"]);
    bool isSize = target == "aten.sym_constrain_range_for_size.default";
    h::Value least = given["min"].isNone() && isSize ? h::Value(0) : given["min"];
    if (!least.isNone())
      assertCondition(interpreter->compare(h::CompareOp::Ge, size, least), "");
    if (!given["max"].isNone())
      assertCondition(interpreter->compare(h::CompareOp::Le, size, given["max"]), "");
  }

  void assertCondition(const h::Value &value, const std::string &message) {
    auto condition = sizeCondition(tracer, *interpreter, value);
    if (condition && mentionsRead(tracer, *condition))
      checkSizes(tracer, *interpreter, *condition,
                 "RuntimeError: " +
                     (message.empty() ? condition->text() + " does not hold" : message));
  }

  h::Value ownCall(const archive::Node &node, const std::string &target,
                   const archive::Graph &graph, ArchiveScope &values) {
    if (isAssertion(target)) {
      assertSizes(node, target, graph, values);
      return {};
    }
    if (isItem(target))
      return itemOfNode(node, graph, values);
    if (auto kind = controlKindOf(target))
      return control(node, *kind, graph, values);
    if (target == "higher_order.wrap_with_set_grad_enabled")
      return inlined(node, 1, graph, values);
    if (target == "higher_order.wrap_with_autocast")
      return withAutocast(node, graph, values);
    const TensorType &type = tensorArgument(node, graph, values).tensor.type;
    if (target == "aten.sym_numel.default")
      return h::Value::integer(type.numel());
    if (target == "aten.sym_storage_offset.default")
      return h::Value::integer(type.offset);
    if (node.inputs.size() < 2)
      interpreter->refuse("'" + target + "' needs a dim");
    int64_t rank = static_cast<int64_t>(type.rank());
    int64_t dim = interpreter->toInt64(hostValue(node.inputs[1].value, values, graph), "a dim");
    if (dim < -rank || dim >= rank)
      interpreter->refuse("dim " + std::to_string(dim) + " is out of range for a tensor of " +
                          std::to_string(rank) + " dims");
    size_t index = static_cast<size_t>(dim < 0 ? dim + rank : dim);
    return h::Value::integer(target == "aten.sym_size.int" ? type.shape[index]
                                                           : type.strides[index]);
  }

  // --- nested graphs

  std::vector<h::Value> nested(const archive::Graph &graph, const std::vector<h::Value> &operands) {
    if (graph.inputs.size() != operands.size())
      interpreter->refuse("a graph of " + std::to_string(graph.inputs.size()) +
                          " inputs is given " + std::to_string(operands.size()));
    SourceLocation outer = current;
    ArchiveScope values;
    for (size_t i = 0; i < operands.size(); ++i)
      values.insert_or_assign(graph.inputs[i].text, operands[i]);
    replay(graph, values);
    current = outer;
    interpreter->setOutside(current);
    std::vector<h::Value> results;
    for (const archive::Argument &output : graph.outputs)
      results.push_back(hostValue(output, values, graph));
    return results;
  }

  /// Everything behind the graphs, lists opened.
  std::vector<h::Value> operandsAfter(const archive::Node &node, size_t first,
                                      const archive::Graph &graph, const ArchiveScope &values) {
    std::vector<h::Value> operands;
    for (size_t i = first; i < node.inputs.size(); ++i) {
      h::Value value = hostValue(node.inputs[i].value, values, graph);
      if (value.isSequence())
        operands.insert(operands.end(), value.elements().begin(), value.elements().end());
      else
        operands.push_back(std::move(value));
    }
    return operands;
  }

  static h::Value asTuple(std::vector<h::Value> values) {
    return h::Value::tuple(h::Tuple(values.begin(), values.end()));
  }

  const archive::Graph &graphArgument(const archive::Node &node, size_t index) {
    if (index >= node.inputs.size() || !node.inputs[index].value.graph)
      interpreter->refuse("'" + targetOf(node) + "' has no graph where one should stand");
    return *node.inputs[index].value.graph;
  }

  /// Gradients are nobody's here.
  h::Value inlined(const archive::Node &node, size_t at, const archive::Graph &graph,
                   ArchiveScope &values) {
    return asTuple(nested(graphArgument(node, at), operandsAfter(node, at + 1, graph, values)));
  }

  /// Of device, dtype, whether it is on, whether casts are kept, and the graph. Operators inside
  /// cast as they do under autocast in a file.
  h::Value withAutocast(const archive::Node &node, const archive::Graph &graph,
                        ArchiveScope &values) {
    if (node.inputs.size() < 5)
      interpreter->refuse("'wrap_with_autocast' takes a device, a dtype, two flags and a graph");
    std::vector<h::Value> given;
    for (size_t i = 0; i < 3; ++i)
      given.push_back(hostValue(node.inputs[i].value, values, graph));
    std::string device = interpreter->toStr(given[0], "a kind of device");
    auto *type = given[1].as<h::DType>();
    bool isOn = interpreter->truth(given[2]);
    if (isOn && (device != "cpu" || !type))
      interpreter->refuse("the casts of autocast for '" + device +
                          "' are not in this archive, and known for 'cpu' alone; save what "
                          "run_decompositions() makes of the program, where they are");
    struct Restored {
      decltype(interpreter->dispatch.autocast) &now, before;
      ~Restored() { now = std::move(before); }
    } restored{interpreter->dispatch.autocast, interpreter->dispatch.autocast};
    if (isOn)
      restored.now[device] = {true, type->type};
    else
      restored.now.erase(device);
    return inlined(node, 4, graph, values);
  }

  std::vector<h::Value> listArgument(const archive::Node &node, size_t index,
                                     const archive::Graph &graph, const ArchiveScope &values) {
    if (index >= node.inputs.size())
      return {};
    h::Value value = hostValue(node.inputs[index].value, values, graph);
    if (value.isNone())
      return {};
    if (!value.isSequence())
      interpreter->refuse("'" + targetOf(node) + "' takes a list as argument " +
                          std::to_string(index));
    return value.elements();
  }

  RegionFunction regionOf(const archive::Node &node, size_t index, const std::string &what) {
    const archive::Graph &inner = graphArgument(node, index);
    return {what,
            [this, &inner](std::vector<h::Value> operands) { return nested(inner, operands); }};
  }

  /// PyTorch 2.6 says the dim that is scanned, and for a scan whether it goes backwards, where
  /// newer versions have turned the tensors before. Gives the index of what comes behind that.
  size_t takeDim(const archive::Node &node, size_t index, const archive::Graph &graph,
                 ArchiveScope &values, ControlCall &call) {
    auto argument = [&](size_t at) {
      return at < node.inputs.size() ? hostValue(node.inputs[at].value, values, graph) : h::Value();
    };
    h::Value dim = argument(index);
    if (!dim.isInt())
      return index;
    int64_t moved = interpreter->toInt64(dim, "a dim");
    for (h::Value &scanned : call.scanned)
      if (auto *tensor = scanned.as<TensorObject>(); tensor && moved != 0) {
        h::CallArgs arguments;
        arguments.positional = {scanned, h::Value(moved), h::Value(int64_t(0))};
        scanned = interpreter->call(interpreter->getAttr(scanned, "movedim"), std::move(arguments));
      }
    h::Value reverse = argument(++index);
    if (!reverse.isBool())
      return index;
    call.reverse = reverse.boolean();
    return index + 1;
  }

  h::Value control(const archive::Node &node, ControlKind kind, const archive::Graph &graph,
                   ArchiveScope &values) {
    ControlCall call;
    call.kind = kind;
    call.name = "torch." + targetOf(node).substr(targetOf(node).find('.') + 1);
    // What torch.export wrote it has checked; older versions let such results through as copies.
    call.refusesAliases = false;
    auto region = [&](size_t index, const char *what) {
      call.regions.push_back(regionOf(node, index, call.name + "'s " + what));
    };
    auto list = [&](size_t index) { return listArgument(node, index, graph, values); };
    switch (kind) {
    case ControlKind::Cond:
      if (node.inputs.empty())
        interpreter->refuse("'cond' has no condition");
      call.predicate = hostValue(node.inputs[0].value, values, graph);
      region(1, "true_fn");
      region(2, "false_fn");
      call.additional = operandsAfter(node, 3, graph, values);
      break;
    case ControlKind::WhileLoop:
      region(0, "cond_fn");
      region(1, "body_fn");
      call.carried = list(2);
      call.additional = list(3);
      break;
    case ControlKind::Scan: {
      bool isMap = targetOf(node) == "higher_order.map_impl";
      region(0, isMap ? "f" : "combine_fn");
      if (!isMap)
        call.carried = list(1);
      call.scanned = list(isMap ? 1 : 2);
      call.additional = list(isMap ? 2 : takeDim(node, 3, graph, values, call));
      break;
    }
    case ControlKind::AssociativeScan:
      region(0, "combine_fn");
      call.scanned = list(1);
      call.additional = list(takeDim(node, 2, graph, values, call));
      break;
    }
    return asTuple(recordControl(tracer, *interpreter, call));
  }

  // --- results

  static void flatten(h::Interpreter &interpreter, const h::Value &value,
                      std::vector<h::Value> &out) {
    if (value.isSequence())
      for (const h::Value &element : value.elements())
        flatten(interpreter, element, out);
    else if (value.as<h::Instance>() &&
             (interpreter.findAttr(value, "_fields") || interpreter.findAttr(value, "_names")))
      for (const h::Value &element : interpreter.iterate(value))
        flatten(interpreter, element, out);
    else
      out.push_back(value);
  }

  static void collectNames(const archive::Argument &output,
                           std::vector<const archive::Argument *> &names) {
    if (output.kind != AKind::List)
      return names.push_back(&output);
    for (const archive::Argument &element : output.elements)
      collectNames(element, names);
  }

  void bindResults(const archive::Node &node, const archive::Graph &graph, ArchiveScope &values,
                   const h::Value &result) {
    std::vector<const archive::Argument *> names;
    for (const archive::Argument &output : node.outputs)
      collectNames(output, names);
    std::vector<h::Value> results;
    flatten(*interpreter, result, results);
    // An operator without results gives None.
    if (names.empty() || (names.size() == 1 && names[0]->kind == AKind::None))
      return;
    if (results.size() != names.size())
      interpreter->refuse("'" + targetOf(node) + "' gives " + std::to_string(results.size()) +
                          " results, and the archive has " + std::to_string(names.size()) +
                          " there");
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i]->text.empty())
        continue;
      checkResult(node, *names[i], graph, results[i]);
      values.insert_or_assign(names[i]->text, std::move(results[i]));
    }
  }

  /// Whether a size may be what the archive says. Its symbols of sizes that values decide are other
  /// ones than ours: the first size of such a symbol tells it.
  bool isSize(const Expr &size, const Expr &said) {
    std::map<std::string, Expr> replacements;
    for (const std::string &name : said.symbols())
      if (symbolsGiven.count(name))
        continue;
      else if (auto known = told.find(name); known != told.end())
        replacements.emplace(name, known->second);
      else if (said == Expr::symbol(name))
        replacements.emplace(name, told.emplace(name, size).first->second);
      else
        return true;
    return tracer.symbols().prove(
               symbolic::equal(size, symbolic::substitute(said, replacements))) != false;
  }

  /// PyTorch 2.6 notes a dim of 1 among those of an LSTM's states, which its own call does not
  /// give.
  static bool hasDimTooMany(const archive::Node &node, const TensorType &type,
                            const archive::TensorMeta &meta) {
    if (targetOf(node) != "aten.lstm.input" || type.dtype != meta.dtype ||
        meta.sizes.size() != type.rank() + 1)
      return false;
    std::vector<Expr> sizes = meta.sizes;
    sizes.erase(sizes.begin() + 1);
    return meta.sizes[1].constant() == 1 && sizes == type.shape;
  }

  /// PyTorch noted what it got; another type or size here would be our mistake.
  void checkResult(const archive::Node &node, const archive::Argument &name,
                   const archive::Graph &graph, const h::Value &given) {
    h::Value value = pairsOf(*interpreter, given);
    auto *tensor = value.as<TensorObject>();
    auto meta = graph.tensors.find(name.text);
    if (!tensor || meta == graph.tensors.end())
      return;
    if (meta->second.isComplex != isComplex(*interpreter, given))
      interpreter->refuse("'" + targetOf(node) + "' gives " +
                          (meta->second.isComplex ? "real" : "complex") +
                          " numbers here, and the archive says otherwise");
    const TensorType &type = tensor->tensor.type;
    bool same = type.dtype == meta->second.dtype && type.rank() == meta->second.sizes.size();
    for (size_t d = 0; same && d < type.rank(); ++d)
      same = isSize(type.shape[d], meta->second.sizes[d]);
    if (!same && !hasDimTooMany(node, type, meta->second))
      interpreter->refuse("'" + targetOf(node) + "' gives " + toString(type) +
                          " here, and the archive says " +
                          toString(TensorType(meta->second.dtype, meta->second.sizes)));
  }

  // --- outputs

  std::shared_ptr<TracedStorage> storageNamed(const std::string &name, bool isInput) const {
    for (const auto &[known, storage] : isInput ? userInputs : buffers)
      if (known == name)
        return storage;
    return nullptr;
  }

  /// What the functional form says about new contents is written, as the in-place form does.
  void writeMutations() {
    for (const archive::Output &output : archive.outputs) {
      if (output.kind == archive::Output::Kind::User)
        continue;
      std::string input = output.name;
      if (output.kind == archive::Output::Kind::BufferMutation)
        for (const archive::Input &known : archive.inputs)
          if (known.name == output.name)
            input = known.value.text;
      auto target = scope.find(input);
      h::Value contents = pairsOf(*interpreter, hostValue(output.value, scope, *archive.graph)),
               changed = target == scope.end() ? h::Value() : pairsOf(*interpreter, target->second);
      if (!changed.as<TensorObject>() || !contents.as<TensorObject>())
        fail("says that it changes '" + output.name + "', which is none of its inputs");
      callInPlace(*changed.as<TensorObject>(), *interpreter, "copy", argsOf({contents}));
    }
  }

  void addMutations(const std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> &list,
                    OutputSpec::Kind kind, std::vector<Argument> &outputs) {
    for (const auto &[name, storage] : list) {
      if (storage->conflict)
        tracer.checkKnown(*storage, storage->conflict->written);
      if (storage->version == 0 || (storage->isParameter && !storage->written))
        continue;
      for (const auto &[record, views] : viewsOf)
        if (views.size() > 1 && std::count(views.begin(), views.end(), storage))
          fail("changes '" + name +
               "', whose memory other tensors of the archive share; clone them before export");
      outputs.push_back(Argument(storage->base));
      tracer.program.outputs.push_back({kind, name});
    }
  }

  void finish() {
    current = SourceLocation(archive.path);
    interpreter->setOutside(current);
    // Results are taken before what follows changes the memory they may be views of.
    std::vector<Argument> results;
    for (const archive::Output &output : archive.outputs)
      if (output.kind == archive::Output::Kind::User)
        addResult(output.value, hostValue(output.value, scope, *archive.graph), results);
    writeMutations();
    std::vector<Argument> outputs;
    addMutations(buffers, OutputSpec::Kind::BufferMutation, outputs);
    addMutations(userInputs, OutputSpec::Kind::UserInputMutation, outputs);
    for (Argument &result : results) {
      outputs.push_back(std::move(result));
      tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
    }
    for (const auto &[name, storage] : tracer.lifted)
      tracer.program.weights[name] = initialWeight(
          name, tracer.program.main.find("c_" + name)->result()->type(), storage->initializer);
    tracer.program.main.output(std::move(outputs));
  }

  /// A number that is returned becomes a tensor without dims.
  h::Value tensorOfResult(const h::Value &value) {
    std::optional<DataType> dtype;
    if (value.isBool())
      dtype = DataType::Bool;
    else if (value.isInt() || value.isSymInt())
      dtype = DataType::Int64;
    else if (value.isFloat())
      dtype = DataType::Float64;
    if (!dtype)
      fail("returns a value of type " + h::typeName(value) + "; a package returns tensors");
    options.note("a result is a number: the package gives it as a tensor without dims, " +
                 std::string(info(*dtype).cli) + "[]");
    return callAten(tracer, *interpreter, "full",
                    argsOf({h::Value::list({}), value}, {{"dtype", dtypeValue(*dtype)}}));
  }

  void addResult(const archive::Argument &output, h::Value value, std::vector<Argument> &results) {
    // A text is part of the tree, as None is.
    if (output.kind == AKind::None || output.kind == AKind::String)
      return;
    if (value.isNone())
      fail("returns '" + output.text + "', a result that its operator does not compute here");
    if (value.isSequence()) {
      for (size_t i = 0; i < value.elements().size() && i < output.elements.size(); ++i)
        addResult(output.elements[i], value.elements()[i], results);
      return;
    }
    if (isComplex(*interpreter, value)) {
      value = pairsOf(*interpreter, value);
      options.note("a result is complex: the package gives the pairs of its parts, as "
                   "torch.view_as_real() does");
    }
    auto *tensor = value.as<TensorObject>();
    if (!tensor) {
      value = tensorOfResult(value);
      tensor = value.as<TensorObject>();
    }
    if (const auto &conflict = tensor->tensor.storage->conflict)
      tracer.checkKnown(*tensor->tensor.storage, conflict->written);
    results.push_back(Argument(tracer.valueOf(tensor->tensor, current)));
  }

  using Memory =
      std::tuple<const std::byte *, DataType, int64_t, std::vector<int64_t>, std::vector<int64_t>>;
  const Archive &archive;
  const TraceOptions &options;
  OddGuards odd;
  ArchiveText text;
  Tracer tracer;
  TraceHooks hooks;
  std::unique_ptr<h::Interpreter> interpreter;
  ArchiveScope scope; ///< of the main graph
  std::set<std::string> symbolsGiven = symbolsOfInputs(archive);
  std::map<std::string, Expr> told; ///< by the archive's name
  SourceLocation current;
  h::Value kept; ///< keeps the tensor that tensorArgument() gave
  std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> buffers, userInputs;
  std::map<Memory, TracedTensor> bound; ///< tied tensors are one
  std::map<const std::byte *, std::vector<std::shared_ptr<TracedStorage>>> viewsOf;
};

} // namespace

/// The program that an archive of ours holds; its weights are the archive's.
static Program takeProgram(const Archive &archive) {
  auto fail = [&](const std::string &message) {
    throw DiagnosticError(SourceLocation(archive.path), message);
  };
  std::string_view text = archive.ownProgram;
  std::string head = programRecordHead(archive.graphText);
  if (!text.starts_with(head))
    fail("record '" + std::string(programRecord) +
         "' is of another graph than the one beside it, which was changed since; export it again");
  Program program = parseProgram(std::make_shared<SourceFile>(
      archive.path + ":" + std::string(programRecord), std::string(text.substr(head.size()))));
  for (auto &[name, weight] : program.weights) {
    const archive::Tensor *tensor = nullptr;
    for (const auto *table : {&archive.weights, &archive.constants})
      if (auto entry = table->find(name); entry != table->end())
        tensor = &entry->second;
    if (!tensor || tensor->dtype != weight.dtype || tensor->sizes != weight.shape ||
        !isRowMajor(*tensor))
      fail("holds no tensor '" + name + "' of the type that its program gives it");
    weight = weightAt(*tensor, weight.shape);
  }
  return program;
}

Program traceArchive(const std::string &path, const std::vector<std::string> &kernels,
                     const TraceOptions &options) {
  Archive archive = archive::readArchive(path);
  if (!archive.ownProgram.empty()) {
    if (!kernels.empty())
      throw DiagnosticError(SourceLocation("--kernels"),
                            "is for operators whose kernels an archive lacks; '" + path +
                                "' holds its own");
    return takeProgram(archive);
  }
  // What a guard says may be needed to tell what the operators do: then it narrows the sizes.
  std::vector<std::function<void()>> said;
  TraceOptions quiet = options;
  quiet.warn = [&](Diagnostic diagnostic) {
    said.push_back([&options, diagnostic] { options.warn(diagnostic); });
  };
  quiet.note = [&](const std::string &text) {
    said.push_back([&options, text] { options.note(text); });
  };
  auto sayAll = [&] {
    for (const auto &say : said)
      say();
  };
  ArchiveReplay replay(archive, quiet);
  try {
    Program program = replay.run(kernels);
    sayAll();
    return program;
  } catch (const DiagnosticError &) {
    for (OddGuards odd : {OddGuards::Multiples, OddGuards::Narrowing})
      try {
        if (replay.checkedGuards == 0)
          break;
        said.clear();
        Program program = ArchiveReplay(archive, quiet, odd).run(kernels);
        sayAll();
        return program;
      } catch (const DiagnosticError &) {
        // The first says what is missing.
      }
    sayAll();
    throw;
  }
}

} // namespace pellucid::trace
