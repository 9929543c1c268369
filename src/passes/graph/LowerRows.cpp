// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LowerRows.h"

#include "graph/FakeRules.h"
#include "passes/graph/KernelWriter.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/graph/RowText.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

bool isRow(const Node &node, const OperatorRegistry &registry) {
  const Operator *op = node.isCall() && !node.isLaunch() ? registry.find(node.target()) : nullptr;
  return op && op->kind == Operator::Kind::RowKernel;
}

/// The row's dims of an operator with one result per row: the last one.
bool isReducedRow(const Node &node, const OperatorRegistry &registry) {
  return isRow(node, registry) && registry.find(node.target())->row.isReduced();
}

/// An operand beside a dense tensor of `shape`, as one of the same elements seen as `rows`: it has
/// all elements, one, or one for each index of one dim of which each row has a part, as the
/// channels of a group have. nullopt where it is none of these.
std::optional<TextOperand> placedInRows(const TensorType &type, const std::vector<Expr> &shape,
                                        const std::vector<Expr> &rows, const SymbolTable &symbols) {
  TextOperand whole = broadcastOperand(type, shape, symbols);
  TextOperand placed{type.dtype, std::vector<Expr>(rows.size(), Expr(0)), whole.offset};
  if (whole.strides == contiguousStrides(shape)) {
    placed.strides = contiguousStrides(rows);
    return placed;
  }
  std::optional<size_t> moving;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (whole.strides[d].constant() == 0 || shape[d].constant() == 1)
      continue;
    if (moving)
      return std::nullopt;
    moving = d;
  }
  if (!moving)
    return placed;
  auto inner = passes::product(shape, *moving + 1, shape.size()).constant(),
       count = shape[*moving].constant(), length = rows.back().constant(),
       groups = rows.size() > 1 ? rows[rows.size() - 2].constant() : std::nullopt;
  constexpr int64_t longest = int64_t(1) << 31;
  if (!inner || !count || !length || !groups || *inner < 1 || *length >= longest ||
      *length % *inner != 0 || *groups * *length != *count * *inner)
    return std::nullopt;
  placed.every = *inner;
  placed.strides.back() = whole.strides[*moving];
  placed.strides[rows.size() - 2] = whole.strides[*moving] * (*length / *inner);
  return placed;
}

/// One row operator and what is fused into it.
class RowLowering {
public:
  RowLowering(LaunchEmitter &e, Node &n, bool cpu)
      : emitter(e), symbols(e.program.symbols), node(n), forCpu(cpu),
        call(callOf(n, e.registry, e.program.symbols)) {
    input = call->value(call->op.row.input);
    from = input->type();
    bool norm = call->op.row.isNorm();
    rowDims = norm ? call->integers(call->op.row.rowDims).size() : 1;
    first = norm ? from.rank() - rowDims
            : call->op.row.isReduced()
                ? from.rank() - 1
                : static_cast<size_t>(call->dim(call->op.row.rowDims, from.rank()));
    group.divisionFails = forCpu;
  }

  /// `view`: what the members see the row's result as, if not as it is.
  void lower(Node &root, const std::vector<Node *> &members, Node *view = nullptr) {
    takeProducers(view != nullptr);
    takeStored(root);
    takeRow();
    size_t before = group.body.size();
    group.names[node.result()] = "made";
    if (view) {
      group.names[view->result()] = "made";
      seenAs = view->result();
      ofRow = group.inputs.size();
    }
    for (const Node *member : members)
      addToGroup(group, *member, emitter.registry, symbols);
    spec.after.assign(group.body.begin() + static_cast<long>(before), group.body.end());
    spec.body.assign(group.body.begin(), group.body.begin() + static_cast<long>(before));
    spec.result = group.names.at(root.result());
    const TensorType type = root.result()->type();
    if (call->op.row.isReduced())
      placeReduced(type);
    else
      place(type);
    std::vector<Node *> replaced = members;
    if (view)
      replaced.push_back(view);
    emit(root, type, replaced);
  }

  /// `gather`: of one element per row.
  void lowerPicked(Node &gather, Value *index) {
    takeProducers(false);
    takeRow();
    spec.body = group.body;
    const TensorType type = gather.result()->type();
    place(type);
    // All results of a row are one.
    spec.output.strides.back() = 0;
    TextIndex pick;
    pick.operand = placed(index->type());
    pick.operand.strides.back() = 0;
    pick.size = from.shape[first];
    spec.pick.push_back(pick);
    spec.operation = gather.target();
    spec.where = gather.location;
    picked = index;
    emit(gather, type, {});
  }

private:
  /// Recomputing is for arithmetic only. `isSeen`: rows in parts are read several times.
  void takeProducers(bool isSeen) {
    // Rows of several dims are merged, which an operand's strides may not allow.
    if (rowDims > 1)
      return;
    std::vector<Node *> found = collectProducers(node, false, from.shape, emitter.registry);
    PointwiseGroup trial;
    trial.divisionFails = forCpu;
    for (const Node *producer : found)
      addToGroup(trial, *producer, emitter.registry, symbols);
    Expr length = 1;
    for (size_t d = first; d < first + rowDims && d < from.rank(); ++d)
      length = length * from.shape[d];
    // The row itself must be among what they make; one of constants has nothing to run along.
    if (!trial.names.count(input) || trial.inputs.empty() || trial.usesIndex || trial.hasChecks ||
        (trial.expensive && ((isSeen && forCpu) || !isWholeRow(length, forCpu))))
      return;
    group = std::move(trial);
    producers = std::move(found);
  }

  /// What the row is of, where others read it behind the row as well: it is computed here and
  /// written, too. What ends a product stays with that.
  void takeStored(const Node &root) {
    Node *producer = input->producer();
    if (rowDims > 1 || call->op.row.isReduced() || group.names.count(input) || from.rank() == 0 ||
        input->users().size() < 2 || !isPointwise(*producer, emitter.registry) ||
        !isWholeRow(from.shape[first], forCpu))
      return;
    for (const Node *user : input->users())
      if (user != &node && !root.isBefore(user))
        return;
    std::vector<Node *> found = collectProducers(*producer, true, from.shape, emitter.registry);
    PointwiseGroup trial;
    trial.divisionFails = forCpu;
    for (const Node *one : found)
      addToGroup(trial, *one, emitter.registry, symbols);
    bool endsProduct =
        std::any_of(trial.inputs.begin(), trial.inputs.end(), [&](const Value *value) {
          const Node *maker = value->producer();
          const Operator *op = maker->isCall() ? emitter.registry.find(maker->target()) : nullptr;
          return op && (op->kind == Operator::Kind::Gemm || op->kind == Operator::Kind::RowKernel);
        });
    if (trial.inputs.empty() || trial.usesIndex || trial.hasChecks || endsProduct)
      return;
    group = std::move(trial);
    producers = std::move(found);
    stored = input;
  }

  void takeRow() {
    if (!group.names.count(input)) {
      group.names[input] = "in" + std::to_string(group.inputs.size());
      group.inputs.push_back(input);
    }
    spec.value = group.names.at(input);
    spec.rowInputs = group.inputs.size();
    spec.rule = call->op.row.rule;
    spec.type = node.result()->type().dtype;
    // What the operator computes in is of its input, as it comes to it.
    spec.compute = opMathType(from.dtype);
    if (call->op.row.isReduced())
      takeDivisor();
    if (!call->op.row.isNorm())
      return;
    spec.epsilon = rowEpsilon(*call);
    takeAffine("weight", spec.weight);
    takeAffine("bias", spec.bias);
  }

  void takeDivisor() {
    if (call->op.row.rule == RowKernelBody::Rule::LogSumExp)
      return;
    double correction = call->has("correction") ? call->number("correction") : 1;
    const Expr &count = from.shape.back();
    auto whole = static_cast<int64_t>(correction);
    if (correction == static_cast<double>(whole)) {
      spec.divisor = "divisor";
      group.scalars.push_back({"divisor", symbolic::max(count - Expr(whole), 0)});
    } else if (auto known = count.constant()) {
      spec.divisor = tlNumber(std::max(static_cast<double>(*known) - correction, 0.0));
    } else {
      emitter.refuse(node, "expects a whole correction for a dynamic number of elements, got " +
                               std::to_string(correction) + " and " + count.text());
    }
  }

  void takeAffine(const char *name, std::string &in) {
    if (!call->op.schema.indexOf(name) || !call->has(name))
      return;
    Value *value = call->value(name);
    // What a producer made, or the row reads, has its name already.
    if (auto known = group.names.find(value); known != group.names.end()) {
      in = known->second;
      return;
    }
    in = "in" + std::to_string(group.inputs.size());
    group.names[value] = in;
    group.inputs.push_back(value);
  }

  /// An operand over the whole shape, the row's dims last and merged to one.
  TextOperand placed(const TensorType &type) const {
    TextOperand whole = broadcastOperand(type, from.shape, symbols), operand = whole;
    operand.strides.clear();
    for (size_t d : order)
      operand.strides.push_back(whole.strides[d]);
    if (from.rank() == 0)
      operand.strides = {1};
    return operand;
  }

  void place(const TensorType &type) {
    for (size_t d = 0; d < from.rank(); ++d)
      if (d < first || d >= first + rowDims)
        order.push_back(d);
    for (size_t d = first; d < first + rowDims && from.rank(); ++d)
      order.push_back(d);
    for (size_t d : order)
      spec.shape.push_back(from.shape[d]);
    // Softmax of one value: a row of one.
    if (from.rank() == 0)
      spec.shape = {1};
    for (size_t i = 0; i < group.inputs.size(); ++i) {
      const TensorType &own = group.inputs[i]->type();
      spec.inputs.push_back(seenAs && i >= ofRow
                                ? *placedInRows(own, seenAs->type().shape, from.shape, symbols)
                                : placed(own));
    }
    spec.output = seenAs ? TextOperand{type.dtype, contiguousStrides(from.shape), 0} : placed(type);
    if (stored)
      spec.stored = {placed(stored->type())};
    mergeRow();
  }

  /// One result per row, with or without a dim of one in the row's place.
  void placeReduced(const TensorType &type) {
    place(from);
    spec.output = {type.dtype, type.strides, 0};
    spec.output.strides.resize(from.rank(), Expr(0));
    spec.output.strides.back() = 0;
  }

  /// A norm over several dims is one over their product where the rows are dense.
  void mergeRow() {
    for (size_t dims = rowDims; dims > 1; --dims) {
      size_t last = spec.shape.size() - 1;
      auto merge = [&](TextOperand &operand) {
        if (!(operand.strides[last - 1] == operand.strides[last] * spec.shape[last]))
          LaunchEmitter::refuse(node, "needs rows without gaps");
        operand.strides.erase(operand.strides.end() - 2);
      };
      for (TextOperand &operand : spec.inputs)
        merge(operand);
      merge(spec.output);
      spec.shape[last - 1] = spec.shape[last - 1] * spec.shape[last];
      spec.shape.pop_back();
    }
  }

  void emit(Node &root, const TensorType &type, const std::vector<Node *> &members) {
    std::vector<Node *> all = producers;
    all.push_back(&node);
    all.insert(all.end(), members.begin(), members.end());
    if (&root != &node && std::find(all.begin(), all.end(), &root) == all.end())
      all.push_back(&root);
    std::sort(all.begin(), all.end(), [](const Node *a, const Node *b) { return a->isBefore(b); });
    spec.name = emitter.kernelName(all, "row");
    spec.scalars = group.scalars;
    emitter.program.main.setInsertionPoint(&root);
    std::vector<Value *> inputs = group.inputs;
    if (picked)
      inputs.push_back(picked);
    std::vector<LaunchEmitter::Target> outputs = {{emitter.emptyLike(type), Access::Write}};
    if (stored)
      outputs.push_back({emitter.emptyLike(stored->type()), Access::Write});
    Node *launch = emitter.emit(writeRow(spec, symbols, forCpu), inputs, outputs, root.location);
    if (stored)
      emitter.program.main.replaceAllUses(stored, launch->result(1));
    emitter.replace(root, launch->result(0), all);
  }

  LaunchEmitter &emitter;
  const SymbolTable &symbols;
  Node &node;
  bool forCpu;
  decltype(callOf(std::declval<const Node &>(), std::declval<const OperatorRegistry &>(),
                  std::declval<const SymbolTable &>())) call;
  Value *input = nullptr, *picked = nullptr, *stored = nullptr;
  TensorType from;
  size_t rowDims = 1, first = 0;
  const Value *seenAs = nullptr; ///< what is beside it is an operand from number `ofRow` on
  size_t ofRow = 0;
  PointwiseGroup group;
  std::vector<Node *> producers;
  std::vector<size_t> order;
  RowSpec spec;
};

/// A dense view of a norm along the last dim that nothing else reads, as that of a group norm.
bool isSeenNorm(const Value &value, const OperatorRegistry &registry) {
  const Node *view = value.producer();
  const Operator *op =
      view->isCall() && !view->isLaunch() ? registry.find(view->target()) : nullptr;
  Value *from = op && op->kind == Operator::Kind::View ? view->arg(0).value() : nullptr;
  if (!from || !from->isTensor() || from->users().size() != 1 ||
      !isRow(*from->producer(), registry) ||
      !registry.find(from->producer()->target())->row.isNorm())
    return false;
  const TensorType &type = value.type(), &rows = from->type();
  return type.dtype == rows.dtype && rows.rank() > 1 && rows.shape != type.shape &&
         type.strides == contiguousStrides(type.shape) &&
         rows.strides == contiguousStrides(rows.shape) && type.numel() == rows.numel();
}

/// Whether each of `inputs`, seen beside a tensor of `shape`, is an operand of its rows. A CPU goes
/// through the parts of a row that have one number of an operand, all as long, one by one.
bool goBesideRows(const std::vector<Value *> &inputs, const std::vector<Expr> &shape,
                  const std::vector<Expr> &rows, const SymbolTable &symbols, bool forCpu) {
  constexpr int64_t leastOfPart = 64;
  int64_t part = 1;
  for (const Value *input : inputs) {
    auto placed =
        input->isTensor() ? placedInRows(input->type(), shape, rows, symbols) : std::nullopt;
    if (!placed)
      return false;
    int64_t own = placed->every;
    if (own == 1)
      continue;
    if (forCpu && (own < leastOfPart || (part > 1 && own != part)))
      return false;
    part = own;
  }
  return true;
}

} // namespace

void lowerRow(LaunchEmitter &emitter, Node &node, bool forCpu) {
  auto call = callOf(node, emitter.registry, emitter.program.symbols);
  const TensorType &from = call->tensor(call->op.row.input);
  if (call->op.row.isReduced() &&
      reducedDims(*call, from) != std::vector<int64_t>{static_cast<int64_t>(from.rank()) - 1})
    LaunchEmitter::refuse(node, "was not opened into operators that have kernels");
  RowLowering(emitter, node, forCpu).lower(node, {});
}

bool lowerRowConsumers(LaunchEmitter &emitter, Node &root, const std::vector<Node *> &members,
                       bool forCpu) {
  auto inside = [&](const Node *user) {
    return std::find(members.begin(), members.end(), user) != members.end();
  };
  Node *row = nullptr, *view = nullptr;
  for (const Node *member : members)
    member->forEachOperand([&](Value *value) {
      Node *producer = value->producer();
      if (!row && value->isTensor() && isSeenNorm(*value, emitter.registry)) {
        const auto &users = value->users();
        bool only = std::all_of(users.begin(), users.end(), inside);
        if (only && value->type().shape == root.result()->type().shape) {
          view = producer;
          row = producer->arg(0).value()->producer();
        }
        return;
      }
      if (row || !value->isTensor() || !isRow(*producer, emitter.registry) ||
          isReducedRow(*producer, emitter.registry))
        return;
      const auto &users = value->users();
      bool only = std::all_of(users.begin(), users.end(), inside);
      if (only && value->type().shape == root.result()->type().shape)
        row = producer;
    });
  if (!row)
    return false;
  auto call = callOf(*row, emitter.registry, emitter.program.symbols);
  if (call->op.row.isNorm() && call->integers(call->op.row.rowDims).size() > 1)
    return false;
  PointwiseGroup trial;
  trial.divisionFails = forCpu;
  trial.names[(view ? view : row)->result()] = "made";
  for (const Node *member : members)
    addToGroup(trial, *member, emitter.registry, emitter.program.symbols);
  if (trial.usesIndex || trial.hasChecks)
    return false;
  const TensorType &type = root.result()->type();
  if (view && type.strides != contiguousStrides(type.shape))
    return false;
  if (view && !goBesideRows(trial.inputs, type.shape, row->result()->type().shape,
                            emitter.program.symbols, forCpu))
    return false;
  RowLowering(emitter, *row, forCpu).lower(root, members, view);
  return true;
}

bool lowerPickedRow(LaunchEmitter &emitter, Node &node, bool forCpu) {
  auto call = callOf(node, emitter.registry, emitter.program.symbols);
  if (call->op.schema.name != "gather")
    return false;
  Node *row = call->value("self")->producer();
  if (!isRow(*row, emitter.registry) || row->result()->users().size() != 1)
    return false;
  auto rowCall = callOf(*row, emitter.registry, emitter.program.symbols);
  if (rowCall->op.row.rule != RowKernelBody::Rule::LogSoftmax)
    return false;
  const TensorType &from = row->result()->type();
  Value *index = call->value("index");
  size_t rank = from.rank();
  if (rank == 0 || call->dim("dim", rank) != rowCall->dim(rowCall->op.row.rowDims, rank))
    return false;
  size_t dim = static_cast<size_t>(call->dim("dim", rank));
  std::vector<Expr> want = from.shape;
  want[dim] = 1;
  // Elements that lie apart are for the kernel that takes neighbouring rows together.
  if (rowCall->value(rowCall->op.row.input)->type().strides[dim].constant() != 1)
    return false;
  if (index->type().shape != want ||
      rowCall->value(rowCall->op.row.input)->type().shape != from.shape)
    return false;
  RowLowering(emitter, *row, forCpu).lowerPicked(node, index);
  return true;
}

} // namespace pellucid::passes
