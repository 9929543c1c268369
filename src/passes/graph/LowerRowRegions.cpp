// SPDX-License-Identifier: Apache-2.0
// Reductions of rows and the pointwise operators between and behind them as one kernel
// (docs/design/0066). Values of a region are *full*, of the shape of the rows, or of *rows*, one
// number for each: the former are tiles, the latter scalars, or columns where a program has several
// rows.
#include "passes/graph/LowerRowRegions.h"

#include "graph/FakeRules.h"
#include "passes/graph/KernelWriter.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/graph/ReductionRules.h"

#include <algorithm>
#include <unordered_set>

namespace pellucid::passes {

using namespace graph;

namespace {

constexpr int64_t longestRow = 32768, fewestRows = 64;
/// Longer rows take a multiprocessor each, and what a program holds of all its tensors is bounded.
constexpr int64_t longRow = 8192, fewestLongRows = 128, mostHeld = 32768;
constexpr int64_t tileElements = 1024; ///< of several short rows
constexpr size_t mostMembers = 64;

class RowRegion {
public:
  RowRegion(LaunchEmitter &e, Node &n)
      : emitter(e), registry(e.registry), symbols(e.program.symbols), root(n) {}

  bool lower() {
    if (!findShape() || !isWorthwhile() || !collect())
      return false;
    group.divisionFails = false;
    KernelWriter writer(LaunchEmitter::kernelName(members, "rows"));
    if (!write(writer))
      return false;
    emitter.program.main.setInsertionPoint(&root);
    const TensorType type = root.result()->type();
    Value *out = emitter.emit(std::move(text), group.inputs,
                              {emitter.emptyLike(type), Access::Write}, root.location);
    emitter.replace(root, out, members);
    return true;
  }

private:
  // --- which nodes

  const Operator *operatorOf(const Node &node) const {
    bool isCall =
        node.isCall() && !node.isLaunch() && node.resultCount() == 1 && node.result()->isTensor();
    return isCall ? registry.find(node.target()) : nullptr;
  }
  bool isFull(const TensorType &type) const { return type.shape == shape; }
  bool isOfRows(const TensorType &type) const {
    bool keeps = type.rank() == shape.size() && type.shape.back().constant() == 1;
    return (keeps || type.rank() + 1 == shape.size()) &&
           std::equal(shape.begin(), shape.end() - 1, type.shape.begin());
  }

  /// A reduction of a tensor along its last dim, to a number that is no place.
  bool reducesRows(const Node &node) const {
    const Operator *op = operatorOf(node);
    if (!op || op->kind != Operator::Kind::Reduction)
      return false;
    auto call = callOf(node, registry, symbols);
    using Combine = ReductionBody::Combine;
    Combine combine = call->op.reduction.combine;
    const TensorType &from = call->args[0].value()->type();
    return combine != Combine::ArgMax && combine != Combine::ArgMin && from.rank() >= 2 &&
           reducedDims(*call, from) == std::vector<int64_t>{static_cast<int64_t>(from.rank()) - 1};
  }
  /// A softmax, or its logarithm, of the rows: a maximum and a sum, and values beside them.
  bool isSoftmax(const Node &node) const {
    const Operator *op = operatorOf(node);
    using Rule = RowKernelBody::Rule;
    if (!op || op->kind != Operator::Kind::RowKernel ||
        (op->row.rule != Rule::Softmax && op->row.rule != Rule::LogSoftmax))
      return false;
    auto call = callOf(node, registry, symbols);
    const TensorType &from = call->tensor(op->row.input), &to = node.result()->type();
    return isFull(from) && isFull(to) && byteSize(to.dtype) >= byteSize(from.dtype) &&
           call->dim(op->row.rowDims, from.rank()) == static_cast<int64_t>(from.rank()) - 1;
  }
  bool isAlias(const Node &node) const {
    const Operator *op = operatorOf(node);
    if (!op || op->kind != Operator::Kind::View || !node.arg(0).value() ||
        !node.arg(0).value()->isTensor())
      return false;
    const TensorType &from = node.arg(0).value()->type(), &to = node.result()->type();
    bool spreads = op->schema.name == "expand" && from.rank() == shape.size() && isFull(to);
    return from.dtype == to.dtype && isOfRows(from) && (isOfRows(to) || spreads);
  }

  /// The rows that the region is of: those of the reduction at its end, of the pointwise root where
  /// a reduction follows, or of the reductions that the root combines.
  bool findShape() {
    if (reducesRows(root)) {
      shape = root.arg(0).value()->type().shape;
      return true;
    }
    if (!isPointwise(root, registry))
      return false;
    shape = root.result()->type().shape;
    if (shape.size() >= 2 && reachesReduction())
      return true;
    for (const Node *at : pointwiseBehind(root.result()->type().shape))
      for (Value *operand : tensorsOf(*at)) {
        Node *producer = seenThrough(operand);
        if (!reducesRows(*producer))
          continue;
        shape = producer->arg(0).value()->type().shape;
        return isOfRows(root.result()->type());
      }
    return false;
  }
  static std::vector<Value *> tensorsOf(const Node &node) {
    std::vector<Value *> tensors;
    node.forEachOperand([&](Value *value) {
      if (value->isTensor())
        tensors.push_back(value);
    });
    return tensors;
  }
  Node *seenThrough(Value *value) const {
    Node *producer = value->producer();
    while (const Operator *op = operatorOf(*producer)) {
      if (op->kind != Operator::Kind::View || !producer->arg(0).value())
        break;
      producer = producer->arg(0).value()->producer();
    }
    return producer;
  }
  std::vector<Node *> pointwiseBehind(const std::vector<Expr> &of) const {
    return collectProducers(root, true, of, registry);
  }
  /// Some full operand of the root's group comes from a number of each row.
  bool reachesReduction() const {
    for (const Node *at : pointwiseBehind(shape))
      for (Value *operand : tensorsOf(*at))
        if (isOfRows(operand->type()) || isAlias(*operand->producer()))
          return true;
    return false;
  }

  bool isWorthwhile() const {
    Expr rows = product(shape, 0, shape.size() - 1);
    return shape.back().constant() != 1 && symbols.range(shape.back()).max <= longestRow &&
           symbols.range(rows).min >=
               (symbols.range(shape.back()).max > longRow ? fewestLongRows : fewestRows);
  }

  /// What the region alone reads, from the root backwards.
  bool collect() {
    std::unordered_set<const Node *> taken{&root};
    members = {&root};
    size_t reductions = reducesRows(root) ? 1 : 0;
    auto fits = [&](Node *node) {
      if (taken.count(node) || !operatorOf(*node))
        return false;
      const TensorType &type = node->result()->type();
      bool isMember = (isPointwise(*node, registry) && (isFull(type) || isOfRows(type))) ||
                      isAlias(*node) || isSoftmax(*node) ||
                      (reducesRows(*node) && isFull(node->arg(0).value()->type()));
      return isMember && std::all_of(node->result()->users().begin(), node->result()->users().end(),
                                     [&](const Node *user) { return taken.count(user) != 0; });
    };
    // Latest first: users are in the region before what makes their operands is looked at.
    std::vector<Node *> queue{&root};
    auto later = [](const Node *a, const Node *b) { return a->isBefore(b); };
    while (!queue.empty() && members.size() < mostMembers) {
      std::pop_heap(queue.begin(), queue.end(), later);
      Node *node = queue.back();
      queue.pop_back();
      for (Value *operand : tensorsOf(*node)) {
        Node *producer = operand->producer();
        if (!fits(producer))
          continue;
        reductions += reducesRows(*producer) || isSoftmax(*producer);
        taken.insert(producer);
        members.push_back(producer);
        queue.push_back(producer);
        std::push_heap(queue.begin(), queue.end(), later);
      }
    }
    std::sort(members.begin(), members.end(),
              [](const Node *a, const Node *b) { return a->isBefore(b); });
    return reductions >= (isFull(root.result()->type()) ? 1u : 2u);
  }

  // --- the kernel

  bool write(KernelWriter &writer) {
    size_t kept = shape.size() - 1;
    Expr rows = product(shape, 0, kept);
    int64_t longest = symbols.range(shape.back()).max;
    for (columns = 2; columns < longest;)
      columns *= 2;
    height = columns * 2 <= tileElements ? tileElements / columns : 1;
    tile = height > 1 ? "[" + std::to_string(height) + ", " + std::to_string(columns) + "]"
                      : "[" + std::to_string(columns) + "]";
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string size = writer.scalar(shape.back());
    bool isWhole = symbols.proveEqual(shape.back(), columns);
    writer.line("col = tl.arange(0, " + std::to_string(columns) + ").to(tl.int64)");
    if (height > 1) {
      std::string count = std::to_string(height);
      writer.line("row = pid * " + count + " + tl.arange(0, " + count + ")");
      writer.line("row_there = (row < " + writer.scalar(rows) + ")[:, None]");
      writer.line("col_there = (col < " + size + ")[None, :]");
      rowMask = "row_there", colMask = "col_there", mask = "mask";
      writer.line("mask = row_there & col_there");
    } else {
      writer.line("row = pid");
      if (!isWhole) {
        writer.line("mask = col < " + size);
        colMask = mask = "mask";
      }
    }
    indices = writer.delinearize("row", shape, kept, "idx");
    for (std::string &index : indices)
      index += height > 1 ? "[:, None]" : "";
    indices.push_back(height > 1 ? "col[None, :]" : "col");
    for (Node *member : members)
      if (!add(writer, *member))
        return false;
    if (group.usesIndex || group.hasChecks || group.inputs.empty() || holdsTooMuch())
      return false;
    store(writer);
    text = writer.finish(symbolic::ceilDiv(rows, height), columns);
    // A second block reads while one of long rows waits for its sums.
    int64_t warps = columns > longRow ? held() / (32 * 64) : height * columns / 256;
    text.numWarps = static_cast<int32_t>(std::clamp<int64_t>(warps, 1, 16));
    return true;
  }

  /// Of long rows: each thread has 64 registers for the tensors that lie along them.
  bool holdsTooMuch() const { return columns > longRow && held() > mostHeld; }
  /// Elements of a row, of all tensors that lie along it.
  int64_t held() const {
    auto tensors = std::count_if(operands.begin(), operands.end(), [](const TextOperand &operand) {
      return operand.strides.back().constant() == 1;
    });
    return std::max<int64_t>(tensors, 1) * columns;
  }

  bool add(KernelWriter &writer, Node &member) {
    if (isAlias(member)) {
      Value *from = member.arg(0).value();
      if (!group.names.count(from))
        return false;
      group.names[member.result()] = group.names.at(from);
      return true;
    }
    if (reducesRows(member)) {
      Value *from = member.arg(0).value();
      if (!group.names.count(from))
        takeInput(from);
      if (!load(writer, from, from->type()))
        return false;
      reduce(writer, member);
      return true;
    }
    if (isSoftmax(member)) {
      Value *from = member.arg(0).value();
      if (!group.names.count(from))
        takeInput(from);
      if (!load(writer, from, from->type()))
        return false;
      softmax(writer, member);
      return true;
    }
    size_t statements = group.body.size(), scalars = group.scalars.size();
    addToGroup(group, member, registry, symbols);
    bool fits = true;
    member.forEachOperand([&](Value *value) {
      if (group.names.count(value))
        fits &= value->isTensor() && load(writer, value, member.result()->type()) &&
                liesBeside(*value, member.result()->type());
    });
    if (!fits)
      return false;
    writer.body({group.scalars.begin() + static_cast<long>(scalars), group.scalars.end()},
                {group.body.begin() + static_cast<long>(statements), group.body.end()});
    return true;
  }

  /// A number of each row of lower rank would be one of each column beside a value of full rank.
  bool liesBeside(const Value &value, const TensorType &beside) const {
    bool isInput =
        std::find(group.inputs.begin(), group.inputs.end(), &value) != group.inputs.end();
    return isInput || value.type().rank() == beside.rank() || value.type().numel().constant() == 1;
  }

  void takeInput(Value *value) {
    group.names[value] = "in" + std::to_string(group.inputs.size());
    group.inputs.push_back(value);
  }

  /// The strides over the rows' shape of what is read beside a value of type `beside`.
  TextOperand operandBeside(const Value &value, const TensorType &beside) const {
    TextOperand operand = broadcastOperand(value.type(), beside.shape, symbols);
    if (isFull(beside))
      return operand;
    operand.strides.resize(shape.size() - 1, Expr(0));
    operand.strides.push_back(0);
    return operand;
  }

  /// An input is loaded where it is met first. False where another member sees it in another way,
  /// or where its elements do not lie along the row.
  bool load(KernelWriter &writer, Value *value, const TensorType &beside) {
    auto found = std::find(group.inputs.begin(), group.inputs.end(), value);
    if (found == group.inputs.end())
      return true;
    auto number = static_cast<size_t>(found - group.inputs.begin());
    TextOperand operand = operandBeside(*value, beside);
    if (number < operands.size())
      return operands[number].strides == operand.strides;
    auto step = operand.strides.back().constant();
    if (number != operands.size() || !step || (*step != 0 && *step != 1))
      return false;
    operands.push_back(operand);
    std::string name = std::to_string(number);
    bool along = *step != 0, moves = false;
    for (size_t d = 0; d + 1 < operand.strides.size(); ++d)
      moves |= operand.strides[d].constant() != 0;
    std::string masked = along && moves ? mask : along ? colMask : moves ? rowMask : "";
    writer.line("in" + name + " = tl.load(" + writer.pointer("p" + name) + " + (" +
                writer.address(operand, indices) + ")" +
                (masked.empty() ? ")" : ", mask=" + masked + ", other=0)"));
    return true;
  }

  void reduce(KernelWriter &writer, const Node &node) {
    auto call = callOf(node, registry, symbols);
    const TensorType &from = call->args[0].value()->type(), &type = node.result()->type();
    ReductionRule rule = reductionRule(*call, from.dtype, type.dtype);
    if (writer.helper.find(rule.helper) == std::string::npos)
      writer.helper += rule.helper;
    std::string accumulate = tlName(rule.accumulate), value = group.names.at(call->args[0].value());
    // `x != 0` is asked of the element itself: 0.5 is not 0.
    value = type.dtype == DataType::Bool
                ? reductionMap(call->op.reduction.map, "(" + value + ")")
                : reductionMap(call->op.reduction.map, "(" + value + ").to(" + accumulate + ")");
    value = "(" + value + ").to(" + accumulate + ")";
    if (!mask.empty())
      value = "tl.where(mask, " + value + ", " + rule.identity + ").to(" + accumulate + ")";
    writer.line("acc = tl.full(" + tile + ", " + rule.identity + ", " + accumulate + ")");
    writer.line("v = tl.broadcast_to(" + value + ", " + tile + ")");
    for (const std::vector<std::string> *statements : {&rule.step, &rule.across})
      for (std::string line : *statements) {
        for (size_t at; (at = line.find("AXIS")) != std::string::npos;)
          line.replace(at, 4, height > 1 ? "1" : "0");
        writer.line(line);
      }
    writer.line("n = " + writer.scalar(shape.back()));
    std::string name = "made" + std::to_string(reductions++);
    writer.line(name + " = tl.cast(" + call->op.reduction.finalize + ", " + tlName(type.dtype) +
                ")");
    if (height > 1)
      writer.line(name + " = tl.expand_dims(" + name + ", 1)");
    group.names[node.result()] = name;
  }

  /// Several of one tensor have their maxima and sums in common.
  void softmax(KernelWriter &writer, const Node &node) {
    const Value *from = node.arg(0).value();
    const DataType type = node.result()->type().dtype;
    DataType compute = opMathType(from->type().dtype);
    if (byteSize(type) > byteSize(compute))
      compute = type;
    auto [known, isNew] = exponentials.try_emplace({from, compute}, exponentials.size());
    std::string number = std::to_string(known->second), top = "top" + number,
                shifted = "shifted" + number, power = "power" + number, total = "total" + number;
    if (isNew) {
      std::string axis = height > 1 ? "1" : "0", value = "tl.broadcast_to((" +
                                                         group.names.at(from) + ").to(" +
                                                         tlName(compute) + "), " + tile + ")";
      if (!mask.empty())
        value = "tl.where(mask, " + value + ", float('-inf'))";
      auto ofRow = [&](const std::string &name, const std::string &text) {
        writer.line(name + " = " + (height > 1 ? "tl.expand_dims(" + text + ", 1)" : text));
      };
      writer.line(shifted + " = " + value);
      ofRow(top, "tl.max(" + shifted + ", axis=" + axis + ")");
      writer.line(shifted + " = " + shifted + " - " + top);
      writer.line(power + " = tl.exp(" + shifted + ")");
      ofRow(total, "tl.sum(" + power + ", axis=" + axis + ")");
    }
    std::string name = "made" + std::to_string(reductions++);
    bool isLogarithm = registry.find(node.target())->row.rule == RowKernelBody::Rule::LogSoftmax;
    writer.line(name + " = tl.cast(" +
                (isLogarithm ? shifted + " - tl.log(" + total + ")" : power + " / " + total) +
                ", " + tlName(type) + ")");
    group.names[node.result()] = name;
  }

  void store(KernelWriter &writer) {
    const TensorType type = root.result()->type();
    std::string pointer = writer.pointer("o0"), value = group.names.at(root.result());
    TextOperand operand{type.dtype, type.strides, 0};
    if (isFull(type)) {
      writer.line(storeText(pointer, writer.address(operand, indices),
                            "tl.broadcast_to(" + value + ", " + tile + ")", type.dtype, mask));
      return;
    }
    operand.strides.resize(shape.size() - 1, Expr(0));
    operand.strides.push_back(0);
    std::string address = writer.address(operand, indices);
    if (height > 1) {
      std::string column = "[" + std::to_string(height) + ", 1]";
      value = "tl.broadcast_to(" + value + ", " + column + ")";
    }
    writer.line(storeText(pointer, address, value, type.dtype, rowMask));
  }

  LaunchEmitter &emitter;
  const OperatorRegistry &registry;
  const SymbolTable &symbols;
  Node &root;
  std::vector<Expr> shape;
  std::vector<Node *> members;

  PointwiseGroup group;
  std::vector<TextOperand> operands; ///< of the inputs that have been loaded
  std::vector<std::string> indices;
  int64_t columns = 2, height = 1;
  std::string tile, mask, rowMask, colMask;
  size_t reductions = 0;
  std::map<std::pair<const Value *, DataType>, size_t> exponentials;
  KernelText text;
};

} // namespace

bool lowerRowRegion(LaunchEmitter &emitter, Node &root) { return RowRegion(emitter, root).lower(); }

} // namespace pellucid::passes
