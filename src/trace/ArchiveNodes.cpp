// SPDX-License-Identifier: Apache-2.0
// Nodes of an archive, one after another.
#include "trace/ArchiveComplex.h"
#include "trace/ArchiveNumbers.h"
#include "trace/ArchiveReplay.h"
#include "trace/AtenComposites.h"
#include "trace/OperatorCall.h"
#include "trace/ReadSizes.h"

#include <algorithm>
#include <functional>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

void ArchiveReplay::replay(const archive::Graph &graph, ArchiveScope &values) {
  for (const archive::Node &node : graph.nodes) {
    current = text.locate(node);
    interpreter->setOutside(current);
    tracer.graph().setLocation(current);
    bindResults(node, graph, values, resultOf(node, graph, values));
  }
}

h::Value ArchiveReplay::resultOf(const archive::Node &node, const archive::Graph &graph,
                                 ArchiveScope &values) {
  std::string target = targetOf(node);
  ArchiveRoute route = *routeOf(tracer, *interpreter, target);
  bool onComplex = route == ArchiveRoute::Complex || takesComplex(*interpreter, node, values);
  if (route == ArchiveRoute::Own && !(onComplex && target == "aten.sym_size.int"))
    return ownCall(node, target, graph, values);
  if (target.starts_with("aten.as_strided"))
    checkOrder(target, tensorArgument(node, graph, values), node.inputs[0].value.text, graph);
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
  if (auto view = viewChecked(node, target, graph, values))
    return *view;
  switch (route) {
  case ArchiveRoute::Number:
    return numberCall(*interpreter, target, args.positional);
  case ArchiveRoute::User:
    return hooks.callOperator(*interpreter, interpreter->operators.at(userName(target)),
                              std::move(args));
  case ArchiveRoute::Registered:
    return callAten(tracer, *interpreter, target, calledAlike(std::move(args)));
  case ArchiveRoute::Composite:
    return callAtenComposite(*interpreter, *findAtenComposite(*interpreter, target),
                             calledAlike(std::move(args)));
  default:
    return writeInPlace(target, route, std::move(args));
  }
}

/// Strides of a tensor that PyTorch kept in another order (channels_last) mean other elements.
void ArchiveReplay::checkOrder(const std::string &target, const TensorObject &given,
                               const std::string &name, const archive::Graph &graph) {
  const TensorType &type = given.tensor.type;
  auto meta = graph.tensors.find(name);
  if (meta == graph.tensors.end() || !type.isContiguous(tracer.symbols()))
    return;
  Expr expected = 1;
  for (size_t d = meta->second.sizes.size(); d-- > 0;) {
    const Expr &size = meta->second.sizes[d];
    if (tracer.symbols().prove(symbolic::equal(meta->second.strides[d], expected)) == false &&
        size != Expr(1))
      interpreter->refuse("'" + target +
                          "' of a tensor that PyTorch does not keep row by row (channels_last); "
                          "export contiguous() before it");
    expected = expected * size;
  }
}

h::Value ArchiveReplay::complexCall(const std::string &target, h::CallArgs args) {
  const h::Value *function = complexOperator(*interpreter, target);
  if (!function)
    interpreter->refuse("'" + target +
                        "' on complex numbers is not supported; compute it with their parts: "
                        "torch.view_as_real(z)");
  return interpreter->call(*function, std::move(args));
}

h::Value ArchiveReplay::writeInPlace(const std::string &target, ArchiveRoute route,
                                     h::CallArgs args) {
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
    interpreter->refuse("'" + target + "' writes to something that is not a tensor");
  args = calledAlike(std::move(args), &self);
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
    return interpreter->call(interpreter->getAttr(self, target.substr(5, target.find("_.") - 4)),
                             std::move(args));
  if (route == ArchiveRoute::InPlace)
    return callInPlace(*tensor, *interpreter, functional, args);
  h::CallArgs call = args;
  call.keywords.emplace_back(
      findAtenComposite(*interpreter, functional)->schema.arguments.at(0).name, self);
  h::Value result =
      callAtenComposite(*interpreter, *findAtenComposite(*interpreter, functional), call);
  return tensor->assign(*interpreter, result, target);
}

TensorObject &ArchiveReplay::tensorArgument(const archive::Node &node, const archive::Graph &graph,
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
h::Value ArchiveReplay::conditionOf(TensorObject &tensor) {
  h::CallArgs arguments;
  arguments.positional = {tensorValue(tracer, tensor.tensor)};
  arguments.keywords.emplace_back("dtype", dtypeValue(DataType::Int64));
  h::Value number = callAten(tracer, *interpreter, "to", arguments);
  h::Value read = readSize(tracer, *interpreter, number, 0, Expr(1), "item()");
  return interpreter->compare(h::CompareOp::Eq, read, h::Value(int64_t(1)));
}

/// An integer is a size wherever PyTorch noted it: it is read here, not where it is used first.
h::Value ArchiveReplay::itemOfNode(const archive::Node &node, const archive::Graph &graph,
                                   ArchiveScope &values) {
  TensorObject &tensor = tensorArgument(node, graph, values);
  if (tensor.tensor.type.dtype == DataType::Bool && node.outputs.size() == 1 &&
      node.outputs[0].kind == AKind::SymBool)
    return conditionOf(tensor);
  h::Value item = itemOf(tensor, *interpreter);
  bool isMain = &tracer.graph() == &tracer.program.main;
  return isMain ? sizeOf(tracer, *interpreter, item) : item;
}

void ArchiveReplay::assertSizes(const archive::Node &node, const std::string &target,
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

void ArchiveReplay::assertCondition(const h::Value &value, const std::string &message) {
  auto condition = sizeCondition(tracer, *interpreter, value);
  if (condition && mentionsRead(tracer, *condition))
    check(*condition,
          "RuntimeError: " + (message.empty() ? condition->text() + " does not hold" : message));
}

h::Value ArchiveReplay::ownCall(const archive::Node &node, const std::string &target,
                                const archive::Graph &graph, ArchiveScope &values) {
  if (isAssertion(target)) {
    assertSizes(node, target, graph, values);
    return {};
  }
  if (isItem(target))
    return itemOfNode(node, graph, values);
  if (auto kind = controlKindOf(target))
    return control(node, *kind, graph, values);
  if (isFunctionalized(target))
    return functionalized(node, graph, values);
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
  return h::Value::integer(target == "aten.sym_size.int" ? type.shape[index] : type.strides[index]);
}

} // namespace pellucid::trace
