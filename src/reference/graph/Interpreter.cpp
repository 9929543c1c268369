// SPDX-License-Identifier: Apache-2.0
#include "reference/graph/Interpreter.h"

#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "reference/graph/Operators.h"
#include "support/Diagnostics.h"
#include "symbolic/Linear.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

namespace pellucid::reference {

using graph::Argument;
using graph::Expr;
using graph::Node;
using graph::Value;

//===-- Calls ---------------------------------------------------------------------------------===//

void Call::fail(const std::string &message) const {
  throw DiagnosticError(node.location,
                        "reference: node '" + node.name() + "' (" + node.target() + ") " + message);
}

int64_t Call::evaluate(const Expr &e) const {
  if (std::optional<int64_t> v = symbolic::evaluate(e, symbols))
    return *v;
  fail("cannot evaluate " + e.text());
}

std::vector<int64_t> Call::evaluate(const std::vector<Expr> &list) const {
  std::vector<int64_t> out;
  for (const Expr &e : list)
    out.push_back(evaluate(e));
  return out;
}

const Tensor &Call::tensor(std::string_view name) const {
  return std::get<Tensor>(values.at(bound.value(name)));
}

std::vector<Tensor> Call::tensors(std::string_view name) const {
  std::vector<Tensor> out;
  for (Value *v : bound.tensors(name))
    out.push_back(std::get<Tensor>(values.at(v)));
  return out;
}

int64_t Call::integer(std::string_view name) const { return evaluate(bound.integer(name)); }
std::vector<int64_t> Call::integers(std::string_view name) const {
  return evaluate(bound.integers(name));
}

double Call::number(std::string_view name) const {
  if (std::optional<Expr> e = bound.at(name).as<Expr>())
    return static_cast<double>(evaluate(*e));
  return bound.number(name);
}

int64_t wrappedDim(int64_t dim, size_t rank) {
  return dim < 0 ? dim + std::max<int64_t>(static_cast<int64_t>(rank), 1) : dim;
}
int64_t Call::dim(std::string_view name, size_t rank) const {
  return wrappedDim(integer(name), rank);
}

Tensor broadcast(const Tensor &tensor, const std::vector<int64_t> &shape) {
  if (tensor.rank() > shape.size())
    throw std::invalid_argument("cannot broadcast to fewer dims");
  Tensor v = tensor;
  size_t added = shape.size() - tensor.rank();
  v.shape = shape;
  v.strides.assign(shape.size(), 0);
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (tensor.shape[i] != 1 && tensor.shape[i] != shape[added + i])
      throw std::invalid_argument("cannot broadcast size " + std::to_string(tensor.shape[i]) +
                                  " to " + std::to_string(shape[added + i]));
    if (tensor.shape[i] == shape[added + i])
      v.strides[added + i] = tensor.strides[i];
  }
  return v;
}

const Table &operatorTable() {
  static const Table table = [] {
    Table t;
    addPointwise(t);
    addReductions(t);
    addRows(t);
    addAttention(t);
    addGemm(t);
    addConvolutions(t);
    addViews(t);
    addCopies(t);
    addFactories(t);
    addRandom(t);
    addGathers(t);
    addScatters(t);
    addLines(t);
    return t;
  }();
  return table;
}

Tensor tensorOf(const graph::Weight &weight) {
  Tensor t(weight.dtype, weight.shape);
  if (weight.bytes != t.storage->size() || (!weight.data && weight.bytes))
    throw std::invalid_argument("a weight without its bytes");
  if (weight.bytes)
    std::memcpy(t.storage->data(), weight.data.get(), weight.bytes);
  return t;
}

//===-- Layout --------------------------------------------------------------------------------===//

namespace {
bool sameLayout(const Tensor &t, const std::vector<int64_t> &strides, int64_t offset) {
  if (t.numel() == 0)
    return true;
  for (size_t i = 0; i < strides.size(); ++i)
    if (t.shape[i] != 1 && t.strides[i] != strides[i])
      return false;
  return t.offset == offset;
}

int64_t lastElement(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                    int64_t offset) {
  int64_t last = offset;
  for (size_t i = 0; i < shape.size(); ++i)
    last += (shape[i] - 1) * strides[i];
  return last;
}

bool holds(const Tensor &base, const Tensor &wanted, const Tensor &values) {
  if (lastElement(wanted.shape, wanted.strides, wanted.offset) >=
      static_cast<int64_t>(base.storage->size() / byteSize(base.dtype)))
    return false;
  bool same = true;
  Tensor::forEachIndex(wanted.shape, [&](std::span<const int64_t> index) {
    double a = wanted.real(index), b = values.real(index);
    same = same && (a == b || (a != a && b != b));
  });
  return same;
}

/// The same values laid out as declared: as they are, in the storage of an operand where they lie
/// there, or anew.
Tensor conformed(const Tensor &values, std::vector<int64_t> strides, int64_t offset,
                 std::span<const Tensor> bases) {
  if (sameLayout(values, strides, offset)) {
    Tensor t = values;
    t.strides = std::move(strides);
    return t;
  }
  for (const Tensor &base : bases)
    if (base.dtype == values.dtype)
      if (Tensor wanted = base.view(values.shape, strides, offset); holds(base, wanted, values))
        return wanted;
  Tensor t(values.dtype, {lastElement(values.shape, strides, offset) + 1});
  t = t.view(values.shape, std::move(strides), offset);
  Tensor::forEachIndex(values.shape, [&](std::span<const int64_t> index) {
    if (isFloat(t.dtype))
      t.set(index, values.real(index));
    else
      t.setInteger(index, values.integer(index));
  });
  return t;
}

//===-- Graphs --------------------------------------------------------------------------------===//

class GraphEvaluator {
public:
  GraphEvaluator(const graph::Program &program, const EvaluateOptions &options,
                 std::map<std::string, int64_t> symbols)
      : program(program), options(options), symbols(std::move(symbols)) {}

  std::vector<Datum> run(const graph::Graph &g, std::span<const Datum> inputs) {
    std::vector<Node *> placeholders = g.placeholders();
    if (placeholders.size() != inputs.size())
      throw DiagnosticError(SourceLocation(), "reference: expected " +
                                                  std::to_string(placeholders.size()) +
                                                  " inputs, got " + std::to_string(inputs.size()));
    // Plain symbols first, so that what is made of them can be checked.
    for (size_t i = 0; i < inputs.size(); ++i)
      bindSymbols(*placeholders[i], inputs[i]);
    for (size_t i = 0; i < inputs.size(); ++i)
      take(*placeholders[i], inputs[i]);
    for (const Node &node : g)
      try {
        if (node.isOutput())
          return outputs(node);
        if (node.isCall())
          call(node);
      } catch (const DiagnosticError &) {
        throw;
      } catch (const std::exception &e) {
        fail(node, e.what());
      }
    return {};
  }

private:
  [[noreturn]] void fail(const Node &node, const std::string &message) const {
    throw DiagnosticError(node.location, "reference: node '" + node.name() + "' (" + node.target() +
                                             ") " + message);
  }

  int64_t evaluate(const Node &node, const Expr &e) const {
    if (std::optional<int64_t> v = symbolic::evaluate(e, symbols))
      return *v;
    fail(node, "cannot evaluate " + e.text());
  }

  std::vector<int64_t> evaluate(const Node &node, const std::vector<Expr> &list) const {
    std::vector<int64_t> out;
    for (const Expr &e : list)
      out.push_back(evaluate(node, e));
    return out;
  }

  void bindSymbol(const Node &node, const Expr &e, int64_t value) {
    if (e.op() != symbolic::ExprOp::Symbol)
      return;
    auto [it, first] = symbols.emplace(e.symbolName(), value);
    if (!first && it->second != value)
      fail(node, "gives '" + e.symbolName() + "' the value " + std::to_string(value) +
                     ", but it is " + std::to_string(it->second));
    if (const symbolic::SymbolInfo *info = program.symbols.find(e.symbolName());
        info && !info->range.contains(value))
      fail(node, "gives '" + e.symbolName() + "' the value " + std::to_string(value) +
                     ", which is not in " + std::to_string(info->range.min) + ".." +
                     std::to_string(info->range.max));
  }

  void bindSymbols(const Node &node, const Datum &input) {
    const Value *v = node.result();
    if (v->isSymInt()) {
      if (const int64_t *i = std::get_if<int64_t>(&input))
        bindSymbol(node, v->expr(), *i);
      return;
    }
    const Tensor *t = std::get_if<Tensor>(&input);
    if (!t || t->rank() != v->type().rank())
      fail(node, "expects a tensor with " + std::to_string(v->type().rank()) + " dims");
    for (size_t i = 0; i < t->rank(); ++i) {
      const Expr &size = v->type().shape[i];
      bindSymbol(node, size, t->shape[i]);
      // A multiple of a symbol that is no dim itself.
      for (const std::string &name : size.symbols())
        if (auto linear = symbolic::linearIn(size, name); linear && !symbols.count(name))
          bindSymbol(node, Expr::symbol(name), (t->shape[i] - linear->offset) / linear->factor);
    }
  }

  void take(const Node &node, const Datum &input) {
    const Value *v = node.result();
    if (v->isSymInt()) {
      values[v] = input;
      return;
    }
    const Tensor &t = std::get<Tensor>(input);
    if (t.dtype != v->type().dtype)
      fail(node, "expects " + std::string(info(v->type().dtype).torch) + ", got " +
                     std::string(info(t.dtype).torch));
    keep(node, *v, t, {});
  }

  /// Checks the declared shape and gives the value its declared layout.
  void keep(const Node &node, const Value &v, const Tensor &t, std::span<const Tensor> bases) {
    std::vector<int64_t> shape = evaluate(node, v.type().shape);
    if (t.shape != shape || t.dtype != v.type().dtype)
      fail(node, "gave a result that is not of its declared type " + toString(v.type()));
    values[&v] =
        conformed(t, evaluate(node, v.type().strides), evaluate(node, v.type().offset), bases);
  }

  Datum datum(const Node &node, const Argument &a) const {
    if (const Value *v = a.value())
      return values.at(v);
    if (auto b = a.as<bool>())
      return *b;
    if (auto d = a.as<double>())
      return *d;
    if (std::optional<Expr> e = a.integer())
      return evaluate(node, *e);
    return graph::None{};
  }

  std::vector<Datum> outputs(const Node &node) {
    std::vector<Datum> out;
    for (const Argument &a : node.args())
      out.push_back(datum(node, a));
    return out;
  }

  void call(const Node &node) {
    if (node.isLaunch())
      return launch(node);
    if (graph::isControlFlow(node))
      return control(node);
    if (graph::isHostStep(node))
      return hostStep(node);
    if (node.body)
      return openBody(node);
    std::optional<graph::OperatorCall> bound =
        graph::callOf(node, *options.registry, program.symbols);
    if (!bound)
      fail(node, "calls an operator that is not registered");
    const Handler *handler = find(node, bound->op.schema.packet());
    if (!handler)
      fail(node, "calls an operator that has no definition here");
    Call concrete{*bound, node, values, symbols};
    Results results = (*handler)(concrete);
    if (results.size() != node.resultCount())
      fail(node, "gave " + std::to_string(results.size()) + " results, declared are " +
                     std::to_string(node.resultCount()));
    std::vector<Tensor> bases;
    if (bound->op.kind == graph::Operator::Kind::View ||
        bound->op.kind == graph::Operator::Kind::Composite)
      node.forEachOperand([&](Value *v) {
        if (v->isTensor())
          bases.push_back(std::get<Tensor>(values.at(v)));
      });
    for (size_t i = 0; i < results.size(); ++i)
      keep(node, *node.result(i), results[i], bases);
  }

  void hostStep(const Node &node) {
    if (node.calls(graph::checkSizesTarget)) {
      graph::SizeCheck check = graph::sizeCheckOf(node);
      if (evaluate(node, check.condition) == 0)
        fail(node, check.text);
      return;
    }
    graph::SizeRead read = graph::sizeReadOf(node);
    int64_t value = std::get<Tensor>(values.at(read.from)).integer({});
    if (value > evaluate(node, read.most))
      fail(node, "gives '" + read.symbol + "' the value " + std::to_string(value) +
                     ", which is more than " + read.most.text());
    bindSymbol(node, Expr::symbol(read.symbol), value);
    values[node.result()] = value;
  }

  static const Handler *find(const Node &node, const std::string &packet) {
    const Table &table = operatorTable();
    auto it = table.find(node.target());
    if (it == table.end())
      it = table.find(packet);
    return it == table.end() ? nullptr : &it->second;
  }

  void openBody(const Node &node) {
    const graph::Graph &body = program.bodies[*node.body].graph;
    std::vector<Datum> inputs;
    auto add = [&](const Argument &a) {
      a.forEachValue([&](Value *v) { inputs.push_back(values.at(v)); });
      if (a.as<Expr>())
        inputs.push_back(datum(node, a));
    };
    for (const Argument &a : node.args())
      add(a);
    for (const auto &[name, a] : node.kwargs())
      add(a);
    std::vector<Datum> results = reference::evaluate(program, body, inputs, {}, options);
    if (results.size() != node.resultCount())
      fail(node, "has a body with " + std::to_string(results.size()) + " results, declared are " +
                     std::to_string(node.resultCount()));
    for (size_t i = 0; i < results.size(); ++i)
      keep(node, *node.result(i), std::get<Tensor>(results[i]), {});
  }

  //===-- Control flow ------------------------------------------------------------------------===//

  std::vector<Tensor> tensorsOf(const std::vector<Value *> &list) const {
    std::vector<Tensor> tensors;
    for (const Value *v : list)
      tensors.push_back(std::get<Tensor>(values.at(v)));
    return tensors;
  }

  static void append(std::vector<Tensor> &to, const std::vector<Tensor> &more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  std::vector<Tensor> region(const Node &node, size_t index, const std::vector<Tensor> &operands) {
    std::vector<Datum> inputs(operands.begin(), operands.end());
    // What sizes mean is known already; a region has no other symbols.
    std::vector<Datum> results = reference::evaluate(
        program, program.bodies[node.regions[index]].graph, inputs, symbols, options);
    std::vector<Tensor> tensors;
    for (const Datum &result : results)
      tensors.push_back(std::get<Tensor>(result));
    return tensors;
  }

  static bool holds(const Tensor &predicate) {
    std::vector<int64_t> index(predicate.rank(), 0);
    return predicate.integer(index) != 0;
  }

  /// Every step of it: without this, a loop that never ends could not be told from a slow one.
  void nextTurn(const Node &node, int64_t &turns) const {
    if (++turns > options.maxTurns)
      fail(node, "did not end within " + std::to_string(options.maxTurns) + " turns");
  }

  void control(const Node &node) {
    graph::ControlFlow flow = graph::controlFlowOf(node);
    std::vector<Tensor> results;
    switch (flow.kind) {
    case graph::ControlKind::Cond: {
      const Value *predicate = flow.predicate.value();
      bool chosen = predicate ? holds(std::get<Tensor>(values.at(predicate)))
                              : evaluate(node, *flow.predicate.integer()) != 0;
      results = region(node, chosen ? 0 : 1, tensorsOf(flow.additional));
      break;
    }
    case graph::ControlKind::WhileLoop:
      results = whileLoop(node, flow);
      break;
    case graph::ControlKind::Scan:
    case graph::ControlKind::AssociativeScan:
      results = scan(node, flow);
      break;
    }
    for (size_t i = 0; i < node.resultCount(); ++i)
      keep(node, *node.result(i), results.at(i), {});
  }

  std::vector<Tensor> whileLoop(const Node &node, const graph::ControlFlow &flow) {
    std::vector<Tensor> carried = tensorsOf(flow.carried), additional = tensorsOf(flow.additional);
    for (int64_t turns = 0;;) {
      std::vector<Tensor> operands = carried;
      append(operands, additional);
      if (!holds(region(node, 0, operands).at(0)))
        return carried;
      carried = region(node, 1, operands);
      nextTurn(node, turns);
    }
  }

  static Tensor slice(const Tensor &whole, int64_t index) {
    std::vector<int64_t> shape(whole.shape.begin() + 1, whole.shape.end());
    std::vector<int64_t> strides(whole.strides.begin() + 1, whole.strides.end());
    return whole.view(std::move(shape), std::move(strides),
                      whole.offset + index * whole.strides[0]);
  }

  static void setSlice(const Tensor &whole, int64_t index, const Tensor &contents) {
    Tensor place = slice(whole, index);
    Tensor::forEachIndex(place.shape, [&](std::span<const int64_t> at) {
      if (isFloat(place.dtype))
        place.set(at, contents.real(at));
      else
        place.setInteger(at, contents.integer(at));
    });
  }

  std::vector<Tensor> scan(const Node &node, const graph::ControlFlow &flow) {
    bool associative = flow.kind == graph::ControlKind::AssociativeScan;
    std::vector<Tensor> carried = tensorsOf(flow.carried), scanned = tensorsOf(flow.scanned),
                        additional = tensorsOf(flow.additional), stacked;
    for (size_t i = carried.size(); i < node.resultCount(); ++i)
      stacked.emplace_back(node.result(i)->type().dtype,
                           evaluate(node, node.result(i)->type().shape));
    int64_t count = scanned.at(0).shape.at(0);
    for (int64_t turn = 0; turn < count; ++turn) {
      int64_t index = flow.reverse ? count - 1 - turn : turn;
      std::vector<Tensor> slices, operands = carried;
      for (const Tensor &whole : scanned)
        slices.push_back(slice(whole, index));
      std::vector<Tensor> made = slices;
      if (!associative || turn > 0) {
        for (const Tensor &whole : stacked)
          if (associative)
            operands.push_back(slice(whole, index - 1));
        append(operands, slices);
        append(operands, additional);
        made = region(node, 0, operands);
      }
      std::copy_n(made.begin(), carried.size(), carried.begin());
      for (size_t i = 0; i < stacked.size(); ++i)
        setSlice(stacked[i], index, made.at(carried.size() + i));
    }
    append(carried, stacked);
    return carried;
  }

  const graph::LaunchVariant &chooseVariant(const Node &node) const {
    for (const graph::LaunchVariant &variant : node.launch()->variants)
      if (evaluate(node, variant.guard) != 0)
        return variant;
    fail(node, "has no variant for these sizes");
  }

  /// Operands that share storage with a written one work on one copy of it, so that values stay
  /// immutable.
  std::vector<LaunchArgument> launchArguments(const Node &node) const {
    std::vector<LaunchArgument> arguments;
    std::map<const void *, std::shared_ptr<std::vector<uint8_t>>> copies;
    for (const graph::LaunchOperand &operand : node.launch()->operands) {
      arguments.push_back({operand, datum(node, operand.value)});
      if (const Tensor *t = std::get_if<Tensor>(&arguments.back().value);
          t && writes(operand.access))
        copies.try_emplace(t->storage.get(), std::make_shared<std::vector<uint8_t>>(*t->storage));
    }
    for (LaunchArgument &argument : arguments)
      if (Tensor *t = std::get_if<Tensor>(&argument.value))
        if (auto it = copies.find(t->storage.get()); it != copies.end())
          t->storage = it->second;
    return arguments;
  }

  void launch(const Node &node) {
    if (!options.launcher)
      fail(node, "launches a kernel, and nothing was given to run kernels with");
    const graph::LaunchVariant &variant = chooseVariant(node);
    std::array<int64_t, 3> grid;
    for (int i = 0; i < 3; ++i)
      grid[static_cast<size_t>(i)] = evaluate(node, variant.grid[i]);
    std::vector<LaunchArgument> arguments = launchArguments(node);
    options.launcher(program, program.kernels[variant.kernel], variant, grid, arguments);
    for (size_t i = 0; i < node.resultCount(); ++i)
      values[node.result(i)] = arguments[node.launch()->resultOperands[i]].value;
  }

  const graph::Program &program;
  const EvaluateOptions &options;
  std::map<std::string, int64_t> symbols;
  std::map<const Value *, Datum> values;
};
} // namespace

std::vector<Datum> evaluate(const graph::Program &program, const graph::Graph &graph,
                            std::span<const Datum> inputs, std::map<std::string, int64_t> symbols,
                            const EvaluateOptions &options) {
  return GraphEvaluator(program, options, std::move(symbols)).run(graph, inputs);
}

std::vector<Datum> evaluate(const graph::Program &program, std::span<const Datum> inputs,
                            const EvaluateOptions &options) {
  using Kind = graph::InputSpec::Kind;
  std::vector<Datum> all;
  size_t next = 0;
  for (const graph::InputSpec &spec : program.inputs) {
    if (spec.kind != Kind::UserInput && spec.kind != Kind::ConstantInput) {
      all.emplace_back(tensorOf(program.weights.at(spec.name)));
      continue;
    }
    if (next == inputs.size())
      throw DiagnosticError(SourceLocation(),
                            "reference: the input '" + spec.name + "' is missing");
    all.push_back(inputs[next++]);
  }
  if (next != inputs.size())
    throw DiagnosticError(SourceLocation(), "reference: expected " + std::to_string(next) +
                                                " inputs, got " + std::to_string(inputs.size()));
  return evaluate(program, program.main, all, {}, options);
}

} // namespace pellucid::reference
