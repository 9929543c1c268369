// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/InlineOperators.h"

#include "support/CrashHandler.h"

#include <unordered_map>

namespace pellucid::passes {

using namespace graph;

namespace {

constexpr const char *boundaryTarget = "pellucid.boundary.default";

/// Copies one body into the main graph in the place of its call.
class BodyCopy {
public:
  BodyCopy(Graph &g, Node &c, const Body &b, bool opaque)
      : graph(g), call(c), body(b), isOpaque(opaque) {}

  void run() {
    graph.setInsertionPoint(&call);
    bindPlaceholders();
    for (Node &node : body.graph)
      if (node.isCall())
        copy(node);
    Node *output = body.graph.outputNode();
    for (size_t r = 0; r < call.resultCount(); ++r) {
      Argument value = map(output->arg(r));
      graph.replaceAllUses(call.result(r), boundary(value.value()));
    }
    graph.erase(&call);
    graph.setInsertionPoint(nullptr);
  }

private:
  Value *boundary(Value *value) {
    if (!isOpaque || !value->isTensor())
      return value;
    return graph.call(boundaryTarget, {Argument(value)}, {}, {value->type()})->result();
  }

  void bindPlaceholders() {
    // The body's placeholders are the call's tensors and symbolic integers in order of its
    // arguments.
    std::vector<Argument> actual;
    for (const Argument &argument : call.args())
      flatten(argument, actual);
    for (const auto &[name, argument] : call.kwargs())
      flatten(argument, actual);
    std::vector<Node *> formal = body.graph.placeholders();
    for (size_t i = 0; i < formal.size() && i < actual.size(); ++i) {
      Value *value = actual[i].value();
      values[formal[i]->result()] = value ? Argument(boundary(value)) : actual[i];
    }
  }
  static void flatten(const Argument &argument, std::vector<Argument> &out) {
    if (argument.value() || argument.as<Expr>()) {
      out.push_back(argument);
    } else if (const Argument::List *list = argument.list()) {
      for (const Argument &element : *list)
        flatten(element, out);
    }
  }

  Argument map(const Argument &argument) const {
    if (Value *value = argument.value())
      return values.at(value);
    if (const Argument::List *list = argument.list()) {
      Argument::List mapped;
      for (const Argument &element : *list)
        mapped.push_back(map(element));
      return Argument(std::move(mapped));
    }
    return argument;
  }

  void copy(const Node &node) {
    graph.setLocation(node.location);
    Node *fresh = node.isLaunch() ? copyLaunch(node) : copyCall(node);
    fresh->stackNote = node.stackNote;
    for (size_t r = 0; r < node.resultCount(); ++r)
      values[node.result(r)] = Argument(fresh->result(r));
  }

  Node *copyLaunch(const Node &node) {
    Launch launch = *node.launch();
    for (LaunchOperand &operand : launch.operands)
      operand.value = map(operand.value);
    return graph.launch(std::move(launch), node.name());
  }

  Node *copyCall(const Node &node) {
    std::vector<Argument> args;
    for (const Argument &argument : node.args())
      args.push_back(map(argument));
    KeywordArguments kwargs;
    for (const auto &[name, argument] : node.kwargs())
      kwargs.emplace_back(name, map(argument));
    std::vector<ResultType> results;
    for (size_t r = 0; r < node.resultCount(); ++r)
      results.push_back(node.result(r)->isTensor() ? ResultType(node.result(r)->type())
                                                   : ResultType(node.result(r)->expr()));
    Node *fresh = graph.call(node.target(), std::move(args), std::move(kwargs), std::move(results),
                             node.name());
    fresh->body = node.body;
    fresh->regions = node.regions;
    fresh->mutatedArgs = node.mutatedArgs;
    return fresh;
  }

  Graph &graph;
  Node &call;
  const Body &body;
  bool isOpaque;
  std::unordered_map<const Value *, Argument> values;
};

bool isCustom(const Program &program, const Body &body) {
  const OperatorDefinition *definition = program.findOperator(body.operatorName);
  return definition && definition->kind == OperatorDefinition::Kind::CustomOp;
}

} // namespace

void inlineOperators(Program &program, bool transparentOnly) {
  for (bool again = true; again;) {
    again = false;
    for (Node &node : program.main) {
      if (!node.isCall() || !node.body)
        continue;
      const Body &body = program.bodies[*node.body];
      bool opaque = isCustom(program, body);
      if (opaque && transparentOnly)
        continue;
      BodyCopy(program.main, node, body, opaque).run();
      again = true;
    }
  }
}

void registerBorder(OperatorRegistry &registry) {
  if (registry.find(boundaryTarget))
    return;
  Operator op;
  op.schema = parseSchema("pellucid::boundary(Tensor(a) self) -> Tensor(a)");
  op.kind = Operator::Kind::View;
  op.fake = [](const OperatorCall &call) { return std::vector<ResultType>{call.tensor("self")}; };
  registry.add(std::move(op));
}

/// Composites always. Pointwise operators, copies, gathers, scatters and numbers of rows may say
/// some of their calls in others, and give nothing for those that are computed as they are.
static bool isDecomposed(const Operator &op) {
  using enum Operator::Kind;
  return op.decompose &&
         (op.kind == Composite || op.kind == Pointwise || op.kind == Copy || op.kind == Gather ||
          op.kind == Scatter || (op.kind == RowKernel && op.row.isReduced()));
}

void decomposeComposites(Program &program, const OperatorRegistry &registry) {
  for (bool again = true; again;) {
    again = false;
    for (Node &node : program.main) {
      if (!node.isCall() || node.isLaunch())
        continue;
      const Operator *op = registry.find(node.target());
      if (!op || !isDecomposed(*op))
        continue;
      Working work("decomposing", node.target(), &node.location);
      program.main.setInsertionPoint(&node);
      program.main.setLocation(node.location);
      std::vector<Value *> values = decompose(program.main, node, registry, program.symbols);
      if (values.empty())
        continue;
      for (size_t r = 0; r < node.resultCount(); ++r)
        program.main.replaceAllUses(node.result(r), values[r]);
      program.main.erase(&node);
      again = true;
    }
  }
  program.main.setInsertionPoint(nullptr);
}

void detachEmptyTensors(Program &program, const OperatorRegistry &registry) {
  for (Node &node : program.main) {
    if (!node.isCall() || node.isLaunch() || node.resultCount() != 1)
      continue;
    const Operator *op = registry.find(node.target());
    bool readsTensor = false;
    node.forEachOperand([&](Value *value) { readsTensor |= value->isTensor(); });
    if (!op || op->kind != Operator::Kind::Factory || !op->factory.value.empty() || !readsTensor)
      continue;
    const TensorType type = node.result()->type();
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    Node *fresh = program.main.call(
        "aten.empty_strided.default", {Argument::list(type.shape), Argument::list(type.strides)},
        {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}}, {type}, node.name());
    program.main.replaceAllUses(node.result(), fresh->result());
    program.main.erase(&node);
  }
  program.main.setInsertionPoint(nullptr);
}

} // namespace pellucid::passes
