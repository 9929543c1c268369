// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/SlicedProducers.h"

#include "passes/graph/PointwiseGroup.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace pellucid::passes {

using namespace graph;

namespace {

using Numbers = std::vector<int64_t>;

/// The numbers of `exprs`; nothing where one is not known.
std::optional<Numbers> constantsOf(const std::vector<Expr> &exprs) {
  Numbers numbers;
  for (const Expr &expr : exprs) {
    if (!expr.constant())
      return std::nullopt;
    numbers.push_back(*expr.constant());
  }
  return numbers;
}

/// Along each dim of a tensor: `count` elements, `step` apart, from `start` on.
struct Slice {
  Numbers start, step, count;
};

/// `view` of a tensor of type `from`, as a slice of it.
std::optional<Slice> sliceOf(const TensorType &view, const TensorType &from) {
  auto shape = constantsOf(from.shape), strides = constantsOf(from.strides),
       count = constantsOf(view.shape), apart = constantsOf(view.strides);
  auto first = (view.offset - from.offset).constant();
  if (!shape || !strides || !count || !apart || !first || shape->size() != count->size())
    return std::nullopt;
  size_t rank = shape->size();
  Slice slice{Numbers(rank, 0), Numbers(rank, 1), *count};
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return (*strides)[a] > (*strides)[b]; });
  int64_t left = *first, inside = 1;
  for (size_t d : order) {
    int64_t stride = (*strides)[d];
    if ((*count)[d] < 1 || stride < 1)
      return std::nullopt;
    if ((*count)[d] > 1) {
      if ((*apart)[d] % stride != 0 || (*apart)[d] < stride)
        return std::nullopt;
      slice.step[d] = (*apart)[d] / stride;
    }
    if ((*shape)[d] > 1) {
      slice.start[d] = left / stride;
      left %= stride;
    }
    if (slice.start[d] + slice.step[d] * ((*count)[d] - 1) >= (*shape)[d])
      return std::nullopt;
  }
  // Elements of a tensor without gaps have one place each.
  for (size_t i = rank; i-- > 0;) {
    size_t d = order[i];
    if ((*shape)[d] > 1 && (*strides)[d] != inside)
      return std::nullopt;
    inside *= (*shape)[d];
  }
  return left == 0 ? std::optional(slice) : std::nullopt;
}

class SlicedProducers {
public:
  SlicedProducers(Program &p, const OperatorRegistry &r) : program(p), registry(r) {}

  size_t run() {
    std::vector<Node *> nodes;
    for (Node &node : program.main)
      nodes.push_back(&node);
    size_t count = 0;
    // Latest first: what a slice was computed of may be read through slices, too.
    for (size_t i = nodes.size(); i-- > 0;)
      if (plan(*nodes[i])) {
        rewrite(*nodes[i]);
        ++count;
      }
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  static constexpr size_t mostNodes = 8;
  static constexpr int64_t mostTimes = 2; ///< elements computed, for each one of the tensor

  struct Read {
    Node *view;
    Slice slice;
  };

  bool plan(Node &node) {
    reads.clear();
    fills.clear();
    leaf = nullptr;
    if (!isPointwise(node, registry) || isFactory(node) || !findReads(*node.result()))
      return false;
    std::vector<Node *> found =
        collectProducers(node, true, node.result()->type().shape, registry, &program.symbols);
    chain = {found.begin(), found.end()};
    return found.size() <= mostNodes && findFailures(found) &&
           std::all_of(found.begin(), found.end(), [&](Node *one) { return maySlice(*one); }) &&
           (fills.empty() || leaf);
  }

  bool isFactory(const Node &node) const {
    const Operator *op = node.isCall() ? registry.find(node.target()) : nullptr;
    return op && op->kind == Operator::Kind::Factory;
  }

  /// Slices that pointwise operators and joins read, and tensors that only take the type.
  bool findReads(const Value &value) {
    auto all = value.type().numel().constant();
    int64_t computed = 0;
    for (Node *user : value.users()) {
      if (user->calls("aten.new_full.default")) {
        fills.insert(user);
        continue;
      }
      std::optional<Slice> slice;
      if (user->calls("aten.as_strided.default"))
        slice = sliceOf(user->result()->type(), value.type());
      if (!all || !slice || user->result()->users().empty() ||
          !std::all_of(user->result()->users().begin(), user->result()->users().end(),
                       [&](Node *reader) { return joinsOrComputes(*reader); }))
        return false;
      computed += std::accumulate(slice->count.begin(), slice->count.end(), int64_t(1),
                                  std::multiplies<>());
      reads.push_back({user, std::move(*slice)});
    }
    return !reads.empty() && computed <= mostTimes * *all;
  }

  bool joinsOrComputes(const Node &node) const {
    return isPointwise(node, registry) || isJoin(node, registry, program.symbols);
  }

  /// What checks its elements, or depends on their place, is computed as a whole.
  bool findFailures(const std::vector<Node *> &found) {
    PointwiseGroup group;
    group.divisionFails = false;
    for (Node *node : found)
      if (isPointwise(*node, registry))
        addToGroup(group, *node, registry, program.symbols);
    return !group.hasChecks && !group.usesIndex;
  }

  bool maySlice(const Node &node) {
    const TensorType &type = node.result()->type();
    if (isFactory(node))
      return false;
    if (isPointwise(node, registry))
      return std::all_of(node.args().begin(), node.args().end(),
                         [&](const Argument &argument) {
                           return !argument.list() || !holdsValue(argument);
                         }) &&
             std::none_of(node.kwargs().begin(), node.kwargs().end(),
                          [](const auto &one) { return holdsValue(one.second); }) &&
             allOperands(node, [&](Value *value) { return isKnown(*value, type); });
    size_t dim = joinedDim(node);
    bool staysWhole = std::all_of(reads.begin(), reads.end(), [&](const Read &read) {
      return read.slice.start[dim] == 0 && read.slice.step[dim] == 1 &&
             type.shape[dim].constant() == read.slice.count[dim];
    });
    return staysWhole && node.arg(0).list() && allOperands(node, [&](Value *part) {
             return isFill(*part->producer()) ||
                    (part->type().rank() == type.rank() && isKnown(*part, part->type()));
           });
  }

  static bool isFill(const Node &node) {
    return node.calls("aten.new_full.default") || node.calls("aten.full.default");
  }
  static bool holdsValue(const Argument &argument) {
    bool holds = false;
    argument.forEachValue([&](Value *) { holds = true; });
    return holds;
  }
  template <typename F> static bool allOperands(const Node &node, F &&holds) {
    bool all = true;
    node.forEachOperand([&](Value *value) { all = all && holds(value); });
    return all;
  }

  /// Made by the chain, or a tensor that broadcasts to `type` and is sliced itself.
  bool isKnown(Value &value, const TensorType &type) {
    if (chain.count(value.producer()))
      return true;
    if (!value.isTensor() || isFactory(*value.producer()) || !constantsOf(value.type().shape) ||
        !constantsOf(value.type().strides) || !value.type().offset.constant() ||
        value.type().rank() > type.rank())
      return false;
    if (value.type().dtype == type.dtype)
      leaf = &value;
    return true;
  }

  size_t joinedDim(const Node &node) const {
    auto call = callOf(node, registry, program.symbols);
    return static_cast<size_t>(call->dim("dim", node.result()->type().rank()));
  }

  void rewrite(Node &node) {
    for (Node *fill : fills)
      fill->replaceUses(node.result(), leaf);
    for (const Read &read : reads) {
      program.main.setInsertionPoint(read.view);
      made.clear();
      Value *result = sliced(*node.result(), read.slice, *read.view);
      program.main.replaceAllUses(read.view->result(), result);
    }
  }

  Value *sliced(Value &value, const Slice &slice, const Node &where) {
    if (Value *known = made[&value])
      return known;
    Node *node = value.producer();
    Value *result = !chain.count(node)             ? slicedLeaf(value, slice, where)
                    : isPointwise(*node, registry) ? slicedNode(*node, slice, where)
                                                   : slicedJoin(*node, slice, where);
    return made[&value] = result;
  }

  Value *slicedNode(const Node &node, const Slice &slice, const Node &where) {
    std::vector<Argument> args = node.args();
    for (Argument &argument : args)
      if (Value *value = argument.value(); value && value->isTensor())
        argument = Argument(sliced(*value, slice, where));
    return call(where, node.target(), std::move(args), node.kwargs());
  }

  Value *slicedJoin(const Node &node, const Slice &slice, const Node &where) {
    Argument::List parts;
    size_t dim = joinedDim(node);
    for (const Argument &argument : *node.arg(0).list()) {
      Value *part = argument.value();
      Slice own = slice;
      own.count[dim] = *part->type().shape[dim].constant();
      parts.emplace_back(isFill(*part->producer()) ? filled(*part->producer(), own, where)
                                                   : slicedLeaf(*part, own, where));
    }
    std::vector<Argument> args = node.args();
    args[0] = Argument(std::move(parts));
    return call(where, node.target(), std::move(args), node.kwargs());
  }

  Value *filled(const Node &fill, const Slice &slice, const Node &where) {
    std::vector<Argument> args = fill.args();
    Argument::List size(slice.count.begin(), slice.count.end());
    args[fill.calls("aten.full.default") ? 0 : 1] = Argument(std::move(size));
    return call(where, fill.target(), std::move(args), fill.kwargs());
  }

  Value *slicedLeaf(Value &value, const Slice &slice, const Node &where) {
    const TensorType &type = value.type();
    size_t missing = slice.count.size() - type.rank();
    std::vector<Expr> shape = type.shape, strides = type.strides;
    Expr offset = type.offset;
    for (size_t d = 0; d < type.rank(); ++d) {
      if (type.shape[d].constant() == 1)
        continue;
      offset = offset + type.strides[d] * slice.start[missing + d];
      strides[d] = type.strides[d] * slice.step[missing + d];
      shape[d] = slice.count[missing + d];
    }
    if (shape == type.shape && strides == type.strides && offset == type.offset)
      return &value;
    return call(where, "aten.as_strided.default",
                {&value, Argument::list(shape), Argument::list(strides), Argument(offset)}, {});
  }

  Value *call(const Node &where, const std::string &target, std::vector<Argument> args,
              KeywordArguments kwargs) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs), where.location)
        ->result();
  }

  Program &program;
  const OperatorRegistry &registry;
  std::vector<Read> reads;
  std::set<Node *> fills; ///< tensors of one value that take the type alone
  std::set<const Node *> chain;
  Value *leaf = nullptr; ///< of the tensor's type, for them
  std::map<const Value *, Value *> made;
};

} // namespace

size_t computeSlices(Program &program, const OperatorRegistry &registry) {
  return SlicedProducers(program, registry).run();
}

} // namespace pellucid::passes
