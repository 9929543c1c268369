// SPDX-License-Identifier: Apache-2.0
/// Values that a trace knows: what is computed from numbers of the program alone, no input or
/// weight among them. `item()`, `tolist()` and branches of such tensors are plain Python.
#include "reference/graph/Interpreter.h"
#include "trace/EagerRecorder.h"
#include "trace/TensorCalls.h"
#include "trace/TraceSession.h"

#include <algorithm>
#include <map>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

constexpr size_t mostNodes = 10'000;
constexpr int64_t mostElements = 100'000;

bool isFixed(const Argument &argument) {
  if (auto expr = argument.as<Expr>())
    return expr->isConstant();
  const Argument::List *list = argument.list();
  return !list || std::all_of(list->begin(), list->end(), isFixed);
}

bool isFixed(const TensorType &type) {
  return std::all_of(type.shape.begin(), type.shape.end(),
                     [](const Expr &e) { return e.isConstant(); });
}

/// The part of a graph that one value is computed by, as a graph of its own.
class KnownPart {
public:
  explicit KnownPart(Tracer &t) : tracer(t) {
    std::vector<Node *> initial = t.constructed.placeholders();
    for (size_t i = 0; i < initial.size(); ++i)
      leaves.emplace(initial[i]->result(), t.constructedLeaves[i].get());
    for (const auto &[name, storage] : t.lifted)
      if (Node *node = t.program.main.find("c_" + name))
        leaves.emplace(node->result(), storage.get());
  }

  std::optional<reference::Tensor> evaluate(Value *wanted) {
    std::vector<Node *> order;
    if (!collect(wanted, order))
      return std::nullopt;
    Graph part;
    std::vector<reference::Datum> inputs;
    for (Node *node : order)
      if (!add(*node, part, inputs))
        return std::nullopt;
    part.output({Argument(copies.at(wanted))});
    reference::EvaluateOptions options;
    options.registry = &tracer.registry;
    try {
      auto results = reference::evaluate(tracer.program, part, inputs, {}, options);
      return std::get<reference::Tensor>(results.at(0));
    } catch (const DiagnosticError &) { // the interpreter lacks an operator of it
      return std::nullopt;
    }
  }

private:
  Tracer &tracer;
  std::map<const Value *, const TracedStorage *> leaves;
  std::map<const Value *, Value *> copies;

  /// The nodes behind `wanted`, producers first; false when an unknown one is among them.
  bool collect(Value *wanted, std::vector<Node *> &order) {
    std::set<Node *> known;
    std::vector<Node *> waiting{wanted->producer()};
    while (!waiting.empty()) {
      Node *node = waiting.back();
      waiting.pop_back();
      if (!known.insert(node).second)
        continue;
      if (known.size() > mostNodes || !isKnown(*node))
        return false;
      node->forEachOperand([&](Value *operand) { waiting.push_back(operand->producer()); });
    }
    order.assign(known.begin(), known.end());
    std::sort(order.begin(), order.end(), [](Node *a, Node *b) { return a->isBefore(b); });
    return true;
  }

  bool isKnown(const Node &node) const {
    for (size_t i = 0; i < node.resultCount(); ++i)
      if (!node.result(i)->isTensor() || !isFixed(node.result(i)->type()))
        return false;
    if (node.isPlaceholder())
      return leaves.count(node.result()) != 0;
    return !node.isLaunch() && OperatorRegistry::builtins().find(node.target()) &&
           std::all_of(node.args().begin(), node.args().end(),
                       [](const Argument &a) { return isFixed(a); }) &&
           std::all_of(node.kwargs().begin(), node.kwargs().end(),
                       [](const auto &a) { return isFixed(a.second); });
  }

  bool add(const Node &node, Graph &part, std::vector<reference::Datum> &inputs) {
    if (node.isPlaceholder())
      return addLeaf(*node.result(), part, inputs);
    std::vector<Argument> args;
    for (const Argument &argument : node.args())
      args.push_back(mapped(argument));
    KeywordArguments kwargs;
    for (const auto &[name, argument] : node.kwargs())
      kwargs.emplace_back(name, mapped(argument));
    std::vector<ResultType> types;
    for (size_t i = 0; i < node.resultCount(); ++i)
      types.push_back(node.result(i)->type());
    Node *copy = part.call(node.target(), std::move(args), std::move(kwargs), std::move(types));
    for (size_t i = 0; i < node.resultCount(); ++i)
      copies.emplace(node.result(i), copy->result(i));
    return true;
  }

  /// A tensor that a constructor or a list of numbers made: the same in every run.
  bool addLeaf(const Value &value, Graph &part, std::vector<reference::Datum> &inputs) {
    const Initializer &initializer = leaves.at(&value)->initializer;
    if (initializer.kind == Initializer::Kind::None)
      return false;
    copies.emplace(&value, part.placeholder(value.name(), value.type()));
    inputs.push_back(reference::tensorOf(initialWeight(value.name(), value.type(), initializer)));
    return true;
  }

  Argument mapped(const Argument &argument) const {
    if (Value *value = argument.value())
      return copies.at(value);
    if (const Argument::List *list = argument.list()) {
      Argument::List out;
      for (const Argument &element : *list)
        out.push_back(mapped(element));
      return Argument(std::move(out));
    }
    return argument;
  }
};

h::Value numberAt(const reference::Tensor &tensor, std::span<const int64_t> index) {
  if (tensor.dtype == DataType::Bool)
    return h::Value(tensor.integer(index) != 0);
  return isFloat(tensor.dtype) ? h::Value(tensor.real(index)) : h::Value(tensor.integer(index));
}

h::Value nestedList(const reference::Tensor &tensor, std::vector<int64_t> &index) {
  size_t axis = index.size();
  if (axis == tensor.rank())
    return numberAt(tensor, index);
  h::List out;
  for (int64_t i = 0; i < tensor.shape[axis]; ++i) {
    index.push_back(i);
    out.push_back(nestedList(tensor, index));
    index.pop_back();
  }
  return h::Value::list(std::move(out));
}

h::Value numberAt(DataType dtype, const std::byte *at) {
  if (dtype == DataType::Bool)
    return h::Value(integerAt(dtype, at) != 0);
  if (dtype == DataType::UInt64)
    return h::Value(h::Int(static_cast<uint64_t>(integerAt(dtype, at))));
  return isFloat(dtype) ? h::Value(realAt(dtype, at)) : h::Value(integerAt(dtype, at));
}

h::Value nestedList(const ConcreteTensor &tensor, size_t axis, const std::byte *at) {
  if (axis == tensor.shape.size())
    return numberAt(tensor.dtype, at);
  h::List out;
  for (int64_t i = 0; i < tensor.shape[axis]; ++i)
    out.push_back(
        nestedList(tensor, axis + 1,
                   at + i * tensor.strides[axis] * static_cast<int64_t>(byteSize(tensor.dtype))));
  return h::Value::list(std::move(out));
}

} // namespace

std::optional<h::Value> knownNumbers(TensorObject &self, h::Interpreter &interpreter) {
  const TensorType &type = self.tensor.type;
  const TracedStorage &storage = *self.tensor.storage;
  if (EagerRecorder *recorder = self.tracer.recorder; recorder && recorder->isRecording()) {
    ConcreteTensor values = recorder->valuesOf(self.tensor, interpreter.location());
    return nestedList(values, 0, values.data.get());
  }
  if (!isFixed(type) || type.numel().constantOr(mostElements) >= mostElements)
    return std::nullopt;
  std::optional<reference::Tensor> known;
  bool isListed = storage.initializer.kind == Initializer::Kind::Listed;
  if (!storage.base && isListed && type == storage.type)
    known = reference::tensorOf(initialWeight("a list", type, storage.initializer));
  else
    known =
        KnownPart(self.tracer).evaluate(self.tracer.valueOf(self.tensor, interpreter.location()));
  if (!known)
    return std::nullopt;
  std::vector<int64_t> index;
  return nestedList(*known, index);
}

} // namespace pellucid::trace
