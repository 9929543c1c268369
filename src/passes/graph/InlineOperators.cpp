// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/InlineOperators.h"

#include "graph/FakeRules.h"
#include "support/CrashHandler.h"

#include <algorithm>
#include <numeric>
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

namespace {

/// Which values of a graph lie in one memory, and which launches see which memory.
class Memories {
public:
  Memories(const Program &program, const OperatorRegistry &r)
      : registry(r), symbols(program.symbols) {
    for (const Node &node : program.main) {
      if (node.isLaunch()) {
        addLaunch(node);
        continue;
      }
      const Value *from = seenThrough(node);
      for (size_t r = 0; r < node.resultCount(); ++r)
        if (node.result(r)->isTensor())
          add(node.result(r), r == 0 ? from : nullptr);
    }
  }

  /// Whether some launch that writes to one of them sees the other, too.
  bool meet(const Value *a, const Value *b) {
    uint32_t first = find(a), second = find(b);
    if (first == second)
      return false;
    if (seen[first].size() > seen[second].size())
      std::swap(first, second);
    for (const auto &[launch, isWritten] : seen[first])
      if (auto other = seen[second].find(launch);
          other != seen[second].end() && (isWritten || other->second))
        return true;
    return false;
  }

  void join(const Value *a, const Value *b) {
    uint32_t from = find(a), to = find(b);
    if (from == to)
      return;
    if (seen[from].size() > seen[to].size())
      std::swap(from, to);
    for (const auto &[launch, isWritten] : seen[from])
      seen[to][launch] |= isWritten;
    seen[from].clear();
    parents[from] = to;
  }

private:
  /// The operand whose memory the first result is, or may be; null where it is memory of its own.
  const Value *seenThrough(const Node &node) const {
    if (!node.isCall() || node.isLaunch() || node.args().empty() || node.body)
      return nullptr;
    const Operator *op = registry.find(node.target());
    const Value *first = node.arg(0).value();
    if (!op || !first || !first->isTensor())
      return nullptr;
    if (op->kind == Operator::Kind::View)
      return first;
    std::optional<OperatorCall> call =
        op->aliasing ? callOf(node, registry, symbols) : std::nullopt;
    return call && op->aliasing(*call) != Aliasing::Fresh ? first : nullptr;
  }

  void add(const Value *value, const Value *from) {
    if (from && numbers.count(from)) {
      numbers[value] = numbers[from];
      return;
    }
    numbers[value] = static_cast<uint32_t>(parents.size());
    parents.push_back(static_cast<uint32_t>(parents.size()));
    seen.emplace_back();
  }

  /// Written operands that share memory leave results that do.
  void addLaunch(const Node &node) {
    const Launch &launch = *node.launch();
    for (const LaunchOperand &operand : launch.operands)
      if (const Value *value = operand.value.value(); value && value->isTensor())
        seen[find(value)][&node] |= writes(operand.access);
    std::unordered_map<uint32_t, const Value *> results;
    for (size_t r = 0; r < node.resultCount(); ++r) {
      uint32_t memory = find(launch.operands[launch.resultOperands[r]].value.value());
      add(node.result(r), results.try_emplace(memory, node.result(r)).first->second);
    }
  }

  uint32_t find(const Value *value) {
    uint32_t number = numbers.at(value);
    while (parents[number] != number)
      number = parents[number] = parents[parents[number]];
    return number;
  }

  const OperatorRegistry &registry;
  const SymbolTable &symbols;
  std::unordered_map<const Value *, uint32_t> numbers;
  std::vector<uint32_t> parents;
  std::vector<std::unordered_map<const Node *, bool>> seen; ///< launch -> whether it writes there
};

/// Opens composites. What makes a tensor with the contents of an operand is opened into that
/// operand, as values do not change; but launches write where their operands lie, and one that is
/// given both must find two memories.
class Decomposition {
public:
  Decomposition(Program &p, const OperatorRegistry &r) : program(p), registry(r) {}

  void run() {
    for (bool again = true; again;) {
      again = false;
      for (Node &node : program.main)
        again |= open(node);
    }
    dropCopies();
    program.main.setInsertionPoint(nullptr);
  }

private:
  bool open(Node &node) {
    if (!node.isCall() || node.isLaunch())
      return false;
    const Operator *op = registry.find(node.target());
    if (op && op->row.isNorm())
      return layRowsDense(node, *op);
    if (!op || !isDecomposed(*op))
      return false;
    Working work("decomposing", node.target(), &node.location);
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    std::vector<Value *> values = decompose(program.main, node, registry, program.symbols);
    if (values.empty())
      return false;
    for (size_t r = 0; r < node.resultCount(); ++r) {
      Value *value = inMemoryOf(node, *op, r, values[r]);
      if (node.result(r)->isTensor() && makesTensor(node, *op, r))
        value = inOrderOf(node, node.result(r)->type(), value);
      program.main.replaceAllUses(node.result(r), value);
    }
    program.main.erase(&node);
    return true;
  }

  /// A norm over several dims is one over rows of memory: what lies otherwise is copied first.
  bool layRowsDense(Node &node, const Operator &op) {
    auto call = callOf(node, registry, program.symbols);
    size_t dims = call ? call->integers(op.row.rowDims).size() : 1;
    auto hasGaps = [&](const Value *value) {
      if (!value || !value->isTensor() || value->type().rank() < dims)
        return false;
      const TensorType &type = value->type();
      for (size_t d = type.rank() - dims; d + 1 < type.rank(); ++d)
        if (!(type.strides[d] == type.strides[d + 1] * type.shape[d + 1]))
          return true;
      return false;
    };
    bool any = hasGaps(node.result());
    node.forEachOperand([&](const Value *operand) { any |= hasGaps(operand); });
    if (dims < 2 || !any)
      return false;
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    auto dense = [&](const Argument &argument) {
      Value *value = argument.value();
      if (!hasGaps(value))
        return argument;
      return Argument(emitCall(program.main, registry, program.symbols, "aten.clone.default",
                               {Argument(value)},
                               {{"memory_format", Argument("contiguous_format")}}, node.location)
                          ->result());
    };
    std::vector<Argument> args;
    for (const Argument &argument : node.args())
      args.push_back(dense(argument));
    KeywordArguments kwargs;
    for (const auto &[name, argument] : node.kwargs())
      kwargs.emplace_back(name, dense(argument));
    Value *made = emitCall(program.main, registry, program.symbols, node.target(), std::move(args),
                           std::move(kwargs), node.location)
                      ->result();
    if (hasGaps(made))
      return false;
    program.main.replaceAllUses(node.result(), inOrderOf(node, node.result()->type(), made));
    program.main.erase(&node);
    return true;
  }

  /// With the strides that the result was promised to have: what it was opened into may follow an
  /// operand's, or be row-major.
  Value *inOrderOf(const Node &node, const TensorType &wanted, Value *value) {
    if (!value->isTensor() || value->type() == wanted || value->type().shape != wanted.shape ||
        value->type().dtype != wanted.dtype)
      return value;
    std::vector<size_t> order(wanted.rank());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return program.symbols.prove(symbolic::less(wanted.strides[b], wanted.strides[a])) == true;
    });
    Argument::List there, back(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      there.emplace_back(static_cast<int64_t>(order[i]));
      back[order[i]] = Argument(static_cast<int64_t>(i));
    }
    auto emit = [&](std::string_view target, std::vector<Argument> args,
                    KeywordArguments kwargs = {}) {
      return emitCall(program.main, registry, program.symbols, target, std::move(args),
                      std::move(kwargs), node.location)
          ->result();
    };
    Value *made = emit("aten.permute.default", {Argument(value), Argument(std::move(there))});
    made = emit("aten.clone.default", {Argument(made)},
                {{"memory_format", Argument("contiguous_format")}});
    made = emit("aten.permute.default", {Argument(made), Argument(std::move(back))});
    return made->type() == wanted ? made : value;
  }

  /// A copy, for now, where the value is an operand's and the result would be a tensor of its own.
  Value *inMemoryOf(const Node &node, const Operator &op, size_t result, Value *value) {
    bool isOperand = false;
    node.forEachOperand([&](const Value *operand) { isOperand |= operand == value; });
    if (!isOperand || !value->isTensor() || !makesTensor(node, op, result))
      return value;
    Node *copy = emitCall(program.main, registry, program.symbols, "aten.clone.default",
                          {Argument(value)}, {}, node.location);
    if (copy->result()->type() != value->type()) {
      program.main.erase(copy);
      return value;
    }
    copies.push_back(copy);
    return copy->result();
  }

  bool makesTensor(const Node &node, const Operator &op, size_t result) const {
    if (result < op.schema.returns.size() && !op.schema.returns[result].type.alias.empty())
      return false;
    std::optional<OperatorCall> call =
        op.aliasing ? callOf(node, registry, program.symbols) : std::nullopt;
    return !call || op.aliasing(*call) == Aliasing::Fresh;
  }

  void dropCopies() {
    if (copies.empty())
      return;
    Memories memories(program, registry);
    for (Node *copy : copies) {
      Value *source = copy->arg(0).value();
      if (memories.meet(copy->result(), source))
        continue;
      memories.join(copy->result(), source);
      program.main.replaceAllUses(copy->result(), source);
      program.main.erase(copy);
    }
  }

  Program &program;
  const OperatorRegistry &registry;
  std::vector<Node *> copies;
};

} // namespace

void decomposeComposites(Program &program, const OperatorRegistry &registry) {
  Decomposition(program, registry).run();
}

void detachEmptyTensors(Program &program, const OperatorRegistry &registry) {
  for (Node &node : program.main) {
    if (!node.isCall() || node.isLaunch() || node.resultCount() != 1)
      continue;
    const Operator *op = registry.find(node.target());
    bool readsTensor = false;
    node.forEachOperand([&](Value *value) { readsTensor |= value->isTensor(); });
    if (!op || op->kind != Operator::Kind::Factory || !readsTensor)
      continue;
    const TensorType type = node.result()->type();
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    if (!op->factory.value.empty()) {
      // What makes the tensor that only says a size may become part of who reads it.
      if (!node.calls("aten.new_full.default") || node.args()[2].value() ||
          !type.isContiguous(program.symbols))
        continue;
      Node *full =
          program.main.call("aten.full.default", {Argument::list(type.shape), node.args()[2]},
                            {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}},
                            {type}, node.name());
      program.main.replaceAllUses(node.result(), full->result());
      program.main.erase(&node);
      continue;
    }
    Node *fresh = program.main.call(
        "aten.empty_strided.default", {Argument::list(type.shape), Argument::list(type.strides)},
        {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}}, {type}, node.name());
    program.main.replaceAllUses(node.result(), fresh->result());
    program.main.erase(&node);
  }
  program.main.setInsertionPoint(nullptr);
}

} // namespace pellucid::passes
