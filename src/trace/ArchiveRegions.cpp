// SPDX-License-Identifier: Apache-2.0
// Graphs inside of an archive's graph: those of control flow, and those that stand for modes.
#include "trace/ArchiveReplay.h"
#include "trace/OperatorCall.h"

#include <algorithm>
#include <functional>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

std::vector<h::Value> ArchiveReplay::nested(const archive::Graph &graph,
                                            const std::vector<h::Value> &operands) {
  if (graph.inputs.size() != operands.size())
    interpreter->refuse("a graph of " + std::to_string(graph.inputs.size()) + " inputs is given " +
                        std::to_string(operands.size()));
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
std::vector<h::Value> ArchiveReplay::operandsAfter(const archive::Node &node, size_t first,
                                                   const archive::Graph &graph,
                                                   const ArchiveScope &values) {
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

h::Value ArchiveReplay::asTuple(std::vector<h::Value> values) {
  return h::Value::tuple(h::Tuple(values.begin(), values.end()));
}

const archive::Graph &ArchiveReplay::graphArgument(const archive::Node &node, size_t index) {
  if (index >= node.inputs.size() || !node.inputs[index].value.graph)
    interpreter->refuse("'" + targetOf(node) + "' has no graph where one is expected");
  return *node.inputs[index].value.graph;
}

/// Gradients are nobody's here.
h::Value ArchiveReplay::inlined(const archive::Node &node, size_t at, const archive::Graph &graph,
                                ArchiveScope &values) {
  return asTuple(nested(graphArgument(node, at), operandsAfter(node, at + 1, graph, values)));
}

/// Of device, dtype, whether it is on, whether casts are kept, and the graph. Operators inside
/// cast as they do under autocast in a file.
h::Value ArchiveReplay::withAutocast(const archive::Node &node, const archive::Graph &graph,
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

std::vector<h::Value> ArchiveReplay::listArgument(const archive::Node &node, size_t index,
                                                  const archive::Graph &graph,
                                                  const ArchiveScope &values) {
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

RegionFunction ArchiveReplay::regionOf(const archive::Node &node, size_t index,
                                       const std::string &what) {
  const archive::Graph &inner = graphArgument(node, index);
  return {what, [this, &inner](std::vector<h::Value> operands) { return nested(inner, operands); }};
}

/// PyTorch 2.6 says the dim that is scanned, and for a scan whether it goes backwards, where
/// newer versions have turned the tensors before. Gives the index of what comes behind that.
size_t ArchiveReplay::takeDim(const archive::Node &node, size_t index, const archive::Graph &graph,
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

h::Value ArchiveReplay::control(const archive::Node &node, ControlKind kind,
                                const archive::Graph &graph, ArchiveScope &values) {
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

} // namespace pellucid::trace
