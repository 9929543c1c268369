// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LowerToLaunches.h"

#include "graph/ControlFlow.h"
#include "graph/FakeRules.h"
#include "graph/HostSteps.h"
#include "passes/graph/FetchedElements.h"
#include "passes/graph/GroupParameters.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/LowerProducts.h"
#include "passes/graph/LowerRowRegions.h"
#include "passes/graph/LowerRows.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/graph/ReductionRules.h"
#include "passes/graph/SharedElements.h"
#include "passes/graph/SharedOperands.h"
#include "passes/graph/SharedReductions.h"
#include "support/CrashHandler.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pellucid::passes {

using namespace graph;

namespace {

class Lowering {
public:
  Lowering(Program &p, const OperatorRegistry &r, const CompileText &c, uint32_t sm,
           bool deterministic, std::unordered_set<const Value *> carried, bool tf32,
           bool tf32Products)
      : program(p), registry(r), emitter(p, r, c), forCpu(sm == 0),
        products(emitter, deviceModel(sm)) {
    emitter.deterministic = deterministic;
    emitter.tf32 = tf32;
    emitter.tf32Products = tf32Products;
    emitter.carried = std::move(carried);
  }

  void run() {
    // Latest first, so that a group's root is met before the producers it takes along.
    std::vector<Node *> nodes;
    for (Node &node : program.main)
      nodes.push_back(&node);
    for (size_t i = nodes.size(); i-- > 0;)
      if (!emitter.isGone(nodes[i]))
        lower(*nodes[i]);
  }

  std::vector<LoweringEdge> takeEdges() { return std::move(emitter.edges); }

private:
  void lower(Node &node) {
    // The regions of control flow are lowered on their own.
    if (!node.isCall() || node.isLaunch() || isControlFlow(node) || isHostStep(node))
      return;
    const Operator *op = registry.find(node.target());
    if (!op)
      emitter.refuse(node, "is not registered");
    // The node goes while it is worked on.
    const std::string target = node.target();
    const SourceLocation where = node.location;
    Working work("lowering", target, &where);
    switch (op->kind) {
    case Operator::Kind::View:
      return;
    case Operator::Kind::Factory:
      if (!op->factory.value.empty())
        lowerPointwise(node);
      return;
    case Operator::Kind::Pointwise:
      return lowerPointwise(node);
    case Operator::Kind::Reduction:
      return lowerReduction(node);
    case Operator::Kind::RowKernel:
      return lowerRow(emitter, node, forCpu);
    case Operator::Kind::Attention:
      return lowerAttention(emitter, node, forCpu);
    case Operator::Kind::Gemm:
      return products.lower(node);
    case Operator::Kind::Gather:
      if (!forCpu && takesTwice(node))
        return lowerGroup(node, {&node});
      if (forCpu ? lowerRuns(emitter, node) : lowerComputedFetch(node))
        return;
      if (!lowerPickedRow(emitter, node, forCpu))
        lowerGather(emitter, node, forCpu);
      return;
    case Operator::Kind::Scatter:
      return lowerScatter(emitter, node, forCpu);
    case Operator::Kind::Line:
      return lowerLine(emitter, node, forCpu);
    case Operator::Kind::Copy:
      return lowerCopy(node);
    case Operator::Kind::Assertion:
      return lowerAssertion(emitter, node);
    case Operator::Kind::Composite:
    case Operator::Kind::TritonOp:
    case Operator::Kind::CustomOp:
      emitter.refuse(node, "was not opened into operators that have kernels");
    }
  }

  /// A take of what another one takes, as borders and resampled images are made: of both at once.
  bool takesTwice(const Node &node) const {
    if (!isTake(node, registry))
      return false;
    const Value *source = node.arg(0).value();
    return source->users().size() == 1 && isTake(*source->producer(), registry);
  }

  /// A gather at places that are computed for it alone.
  bool lowerComputedFetch(Node &node) {
    if (!isFetch(node, registry))
      return false;
    std::vector<Node *> nodes =
        collectProducers(node, true, node.result()->type().shape, registry, &program.symbols, true);
    if (!computesAnIndex(nodes, registry, program.symbols))
      return false;
    lowerGroup(node, std::move(nodes));
    return true;
  }

  PointwiseGroup groupOf(const std::vector<Node *> &nodes) {
    PointwiseGroup group;
    group.divisionFails = forCpu;
    for (const Node *node : nodes)
      addToGroup(group, *node, registry, program.symbols);
    return group;
  }

  void lowerPointwise(Node &node) {
    if (elideCopy(node))
      return;
    const TensorType type = node.result()->type();
    program.main.setInsertionPoint(&node);
    std::vector<Node *> nodes = collectProducers(node, true, type.shape, registry);
    if (products.lowerConsumers(node, nodes) || lowerRowConsumers(emitter, node, nodes, forCpu) ||
        (!forCpu && lowerRowRegion(emitter, node)) || lowerReductionConsumers(node, nodes))
      return;
    // A processor copies parts faster than it asks of each element which one it belongs to.
    if (forCpu)
      return lowerGroup(node, collectProducers(node, true, type.shape, registry));
    ResultsBeside beside = resultsBeside(node, registry, program.symbols);
    lowerGroup(
        node,
        collectProducers(node, true, type.shape, registry, &program.symbols, true, beside.roots),
        beside);
  }

  /// One kernel for `nodes`, the last of which is `node`: pointwise ones and joins.
  void lowerGroup(Node &node, std::vector<Node *> nodes, const ResultsBeside &beside = {}) {
    const TensorType type = node.result()->type();
    program.main.setInsertionPoint(beside.before ? beside.before : &node);
    PointwiseGroup group;
    group.divisionFails = forCpu;
    if (!forCpu)
      group.weights = &emitter.weights;
    std::vector<Node *> parameters;
    if (!forCpu && !computesAnIndex(nodes, registry, program.symbols))
      parameters = addParameters(group, nodes, type.shape, registry, program.symbols);
    addNodes(group, nodes, registry, program.symbols);
    nodes.insert(nodes.begin(), parameters.begin(), parameters.end());
    PointwiseSpec spec;
    spec.name = emitter.kernelName(nodes, "fused");
    spec.shape = type.shape;
    spec.inputs = operandsOf(group, type.shape, program.symbols);
    spec.windows = group.windows;
    spec.taken = group.taken;
    spec.turnsByLines = !forCpu;
    spec.scalars = group.scalars;
    spec.body = group.body;
    spec.usesIndex = group.usesIndex;
    std::vector<Node *> roots{&node};
    roots.insert(roots.end(), beside.roots.begin(), beside.roots.end());
    std::vector<LaunchEmitter::Target> targets;
    for (const Node *one : roots) {
      const TensorType &own = one->result()->type();
      spec.results.push_back(group.names.at(one->result()));
      spec.outputs.push_back(broadcastOperand(own, type.shape, program.symbols));
      targets.push_back({emitter.emptyLike(own), Access::Write});
    }
    std::vector<Value *> inputs = group.inputs;
    if (!forCpu)
      shareOperands(inputs, spec, registry);
    KernelText text = writePointwise(std::move(spec), program.symbols);
    const Node *launch = emitter.emit(std::move(text), inputs, targets, node.location);
    for (size_t i = 1; i < roots.size(); ++i)
      program.main.replaceAllUses(roots[i]->result(), launch->result(i));
    emitter.replace(node, launch->result(), nodes);
  }

  /// contiguous() of what is contiguous is the tensor itself.
  bool elideCopy(Node &node) {
    const Operator *op = registry.find(node.target());
    if (op->kind != Operator::Kind::Copy || op->schema.name != "contiguous")
      return false;
    Value *input = node.arg(0).value();
    if (!(input->type() == node.result()->type()))
      return false;
    emitter.replace(node, input, {});
    return true;
  }

  /// Where `members`, a pointwise group that ends in `root`, is of one reduction alone, which
  /// nothing else reads: the launch that has its results goes on.
  bool lowerReductionConsumers(Node &root, const std::vector<Node *> &members) {
    PointwiseGroup trial = groupOf(members);
    if (trial.inputs.size() != 1 || trial.usesIndex || trial.hasChecks)
      return false;
    Value *value = trial.inputs[0];
    Node *producer = value->producer();
    const Operator *op =
        producer->isCall() && !producer->isLaunch() ? registry.find(producer->target()) : nullptr;
    auto inside = [&](const Node *user) {
      return std::find(members.begin(), members.end(), user) != members.end();
    };
    if (!op || op->kind != Operator::Kind::Reduction ||
        !std::all_of(value->users().begin(), value->users().end(), inside) ||
        value->type().shape != root.result()->type().shape ||
        root.result()->type().strides != contiguousStrides(root.result()->type().shape))
      return false;
    auto call = callOf(*producer, registry, program.symbols);
    if (!forCpu && !reductionsBeside(*producer, registry, program.symbols).empty())
      return false;
    if (extremeBeside(*producer, *call, reducedDims(*call, call->args[0].value()->type())))
      return false;
    lowerReduction(*producer, &root, members);
    return true;
  }

  /// A sum of squared distances from the mean of the same elements, as a variance is opened into.
  struct Spread {
    Value *of = nullptr;
    Node *square, *distance, *mean;
  };
  /// One value, or one that is widened twice.
  bool areSame(const Value &a, const Value &b) const {
    const Node *first = a.producer(), *second = b.producer();
    auto isCast = [](const Node *node) {
      return node->calls("aten._to_copy.default") || node->calls("aten.to.dtype");
    };
    return &a == &b || (isCast(first) && isCast(second) && a.type() == b.type() &&
                        first->arg(0).value() && first->arg(0).value() == second->arg(0).value());
  }
  std::optional<Spread> spreadOf(const Node &sum, const std::vector<int64_t> &dims) const {
    auto isUsedBy = [](const Node &node, const Node &user) {
      const auto &users = node.result()->users();
      return std::all_of(users.begin(), users.end(), [&](const Node *one) { return one == &user; });
    };
    auto isCall = [](const Value *value, std::string_view target, size_t arguments) {
      const Node *node = value ? value->producer() : nullptr;
      return node && node->calls(target) && node->args().size() == arguments &&
             node->kwargs().empty();
    };
    Value *square = sum.arg(0).value();
    if (!sum.calls("aten.sum.dim_IntList") || !isCall(square, "aten.mul.Tensor", 2))
      return std::nullopt;
    Value *distance = square->producer()->arg(0).value();
    if (distance != square->producer()->arg(1).value() || !isCall(distance, "aten.sub.Tensor", 2) ||
        !isUsedBy(*square->producer(), sum) ||
        !isUsedBy(*distance->producer(), *square->producer()))
      return std::nullopt;
    Value *of = distance->producer()->arg(0).value(), *mean = distance->producer()->arg(1).value();
    bool isFloat = of && of->isTensor() && byteSize(of->type().dtype) >= 4;
    if (!isFloat || !isCall(mean, "aten.mean.dim", 3) ||
        !areSame(*mean->producer()->arg(0).value(), *of) ||
        mean->producer()->arg(2).as<bool>() != true ||
        of->type().dtype != sum.result()->type().dtype)
      return std::nullopt;
    auto call = callOf(*mean->producer(), registry, program.symbols);
    if (reducedDims(*call, of->type()) != dims)
      return std::nullopt;
    return Spread{of, square->producer(), distance->producer(), mean->producer()};
  }

  /// A mean of the same elements that somebody reads beside the spread, and that can be there with
  /// it: the second result of one launch.
  Node *meanBeside(const Spread &spread, const Node &sum, const std::vector<int64_t> &dims) const {
    auto isRead = [&](const Node &mean) {
      const auto &users = mean.result()->users();
      return std::any_of(users.begin(), users.end(),
                         [&](const Node *user) { return user != spread.distance; });
    };
    if (isRead(*spread.mean))
      return spread.mean;
    for (Node *user : spread.of->users())
      if (user != spread.mean && user->calls("aten.mean.dim") && user->isBefore(&sum) &&
          user->result()->type().dtype == spread.of->type().dtype && isRead(*user) &&
          reducedDims(*callOf(*user, registry, program.symbols), spread.of->type()) == dims)
        return user;
    return nullptr;
  }

  /// The name of what is reduced, which is read where nothing in the group makes it.
  static std::string read(PointwiseGroup &group, Value *value) {
    auto [entry, isNew] =
        group.names.try_emplace(value, "in" + std::to_string(group.inputs.size()));
    if (isNew)
      group.inputs.push_back(value);
    return entry->second;
  }

  /// With `root`, the pointwise group `members` goes on from the result and is replaced instead.
  void lowerReduction(Node &node, Node *root = nullptr, const std::vector<Node *> &members = {}) {
    if (!root && !forCpu && lowerRowRegion(emitter, node))
      return;
    auto call = callOf(node, registry, program.symbols);
    Value *self = call->args[0].value();
    const TensorType from = self->type(), type = node.result()->type();
    program.main.setInsertionPoint(root ? root : &node);
    std::vector<int64_t> dims = reducedDims(*call, from);
    Node *wide = nullptr;
    auto spread = forCpu ? std::nullopt : spreadOf(node, dims);
    std::vector<Node *> producers, beside;
    if (!forCpu && !root && !spread)
      beside = reductionsBeside(node, registry, program.symbols);
    PointwiseGroup group;
    group.divisionFails = forCpu;
    if (spread) {
      // The mean's own reading is spared; what widens the elements is done again.
      self = spread->of;
      producers = {spread->distance, spread->square};
      Node *maker = self->producer();
      if (isPointwise(*maker, registry) && self->type().shape == from.shape &&
          (maker->calls("aten._to_copy.default") || maker->calls("aten.to.dtype"))) {
        addToGroup(group, *maker, registry, program.symbols);
        wide = maker;
      }
    } else {
      producers = collectProducers(node, false, from.shape, registry, nullptr, false, beside);
      group = groupOf(producers);
    }
    std::string value = read(group, self);
    std::vector<ReductionSpec::Beside> others;
    for (const Node *other : beside) {
      auto its = callOf(*other, registry, program.symbols);
      ReductionSpec::Beside made;
      made.type = other->result()->type().dtype;
      made.rule = reductionRule(*its, its->args[0].value()->type().dtype, made.type);
      made.value = reducedValue(*its, made.rule, made.type, read(group, its->args[0].value()));
      made.finalize = its->op.reduction.finalize;
      others.push_back(std::move(made));
    }
    ReductionSpec spec;
    spec.name = emitter.kernelName({&node}, "reduce");
    std::vector<size_t> order;
    for (size_t d = 0; d < from.rank(); ++d)
      if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) {
        spec.kept.push_back(from.shape[d]);
        order.push_back(d);
      }
    for (int64_t d : dims) {
      spec.reduced.push_back(from.shape[static_cast<size_t>(d)]);
      order.push_back(static_cast<size_t>(d));
    }
    for (Value *input : group.inputs) {
      TextOperand whole = broadcastOperand(input->type(), from.shape, program.symbols),
                  sorted = whole;
      for (size_t i = 0; i < order.size(); ++i)
        sorted.strides[i] = whole.strides[order[i]];
      spec.inputs.push_back(sorted);
    }
    spec.output.dtype = type.dtype;
    spec.output.strides = contiguousStrides(spec.kept);
    spec.rule = spread ? spreadRule(from.dtype) : reductionRule(*call, from.dtype, type.dtype);
    spec.type = type.dtype;
    spec.body = group.body;
    if (root) {
      group.names[node.result()] = "made";
      for (const Node *member : members)
        addToGroup(group, *member, registry, program.symbols);
      spec.after.assign(group.body.begin() + static_cast<long>(spec.body.size()), group.body.end());
      spec.result = group.names.at(root->result());
      spec.output.dtype = root->result()->type().dtype;
    }
    spec.scalars = group.scalars;
    spec.value = reducedValue(*call, spec.rule, type.dtype, value);
    spec.finalize = call->op.reduction.finalize;
    std::vector<TensorType> types{TensorType(spec.output.dtype, type.shape, type.device)};
    Node *extreme = spread ? meanBeside(*spread, node, dims) : extremeBeside(node, *call, dims);
    if (spread && extreme &&
        !std::all_of(group.inputs.begin(), group.inputs.end(),
                     [&](Value *input) { return input->producer()->isBefore(extreme); }))
      extreme = nullptr;
    if (extreme) {
      const TensorType value = extreme->result()->type();
      spec.extreme = value.dtype;
      types.emplace_back(value.dtype, value.shape, value.device);
      if (extreme->isBefore(&node))
        program.main.setInsertionPoint(extreme);
    }
    for (size_t k = 0; k < beside.size(); ++k) {
      spec.beside.push_back(std::move(others[k]));
      const TensorType own = beside[k]->result()->type();
      types.emplace_back(spec.beside[k].type, own.shape, own.device);
    }
    if (!beside.empty())
      program.main.setInsertionPoint(beside[0]);
    std::vector<Value *> results =
        emitReduction(emitter, std::move(spec), group.inputs, types, node.location, forCpu);
    if (root) {
      producers.insert(producers.end(), members.begin(), members.end());
      producers.push_back(&node);
      std::sort(producers.begin(), producers.end(),
                [](const Node *a, const Node *b) { return a->isBefore(b); });
    }
    for (size_t k = 0; k < beside.size(); ++k)
      emitter.replace(*beside[k], results[k + 1]);
    emitter.replace(root ? *root : node, results[0], producers);
    if (spread) {
      Node *ofMean = spread->mean->arg(0).value()->producer();
      emitter.eraseUnused(*spread->mean);
      if (ofMean != wide && isPointwise(*ofMean, registry))
        emitter.eraseUnused(*ofMean);
    }
    if (wide)
      emitter.eraseUnused(*wide);
    if (extreme)
      emitter.replace(*extreme, results[1]);
  }

  /// The largest value of the same elements as an argmax finds the place of, as `max` along a dim
  /// wants both; null where nothing asks for it.
  Node *extremeBeside(const Node &node, const OperatorCall &call,
                      const std::vector<int64_t> &dims) const {
    using Combine = ReductionBody::Combine;
    Combine combine = call.op.reduction.combine;
    if (combine != Combine::ArgMax && combine != Combine::ArgMin)
      return nullptr;
    Combine wanted = combine == Combine::ArgMax ? Combine::Max : Combine::Min;
    for (Node *user : call.args[0].value()->users()) {
      const Operator *op =
          user->isCall() && !user->isLaunch() ? registry.find(user->target()) : nullptr;
      if (user == &node || !op || op->kind != Operator::Kind::Reduction ||
          op->reduction.combine != wanted || op->reduction.map != "x")
        continue;
      auto other = callOf(*user, registry, program.symbols);
      if (other->args[0].value() == call.args[0].value() &&
          reducedDims(*other, call.args[0].value()->type()) == dims)
        return user;
    }
    return nullptr;
  }

  void lowerCopy(Node &node) {
    const std::string &name = registry.find(node.target())->schema.name;
    if (isPointwise(node, registry))
      return lowerPointwise(node);
    if (name == "cat")
      return lowerCat(node);
    if (name == "as_strided_scatter")
      return lowerStridedScatter(node);
    emitter.refuse(node, "has no copy kernel");
  }

  /// One launch that copies `source` into a part of `target`: the contents afterwards.
  Value *copyInto(Value *target, Access access, Value *source, TextOperand place,
                  const std::vector<Expr> &shape, const Node &node) {
    PointwiseSpec spec;
    spec.name = emitter.kernelName({const_cast<Node *>(&node)}, "copy");
    spec.shape = shape;
    spec.inputs = {broadcastOperand(source->type(), shape, program.symbols)};
    spec.outputs = {std::move(place)};
    spec.results = {"in0"};
    return emitter.emit(writePointwise(std::move(spec), program.symbols), {source},
                        {target, access}, node.location);
  }

  /// Parts whose copies take less time than the code of a kernel for each.
  static bool areManyAndSmall(const std::vector<Value *> &parts) {
    constexpr size_t fewest = 8;
    constexpr int64_t mostElements = 256;
    return parts.size() >= fewest && std::all_of(parts.begin(), parts.end(), [](Value *part) {
             return part->type().numel().constantOr(mostElements + 1) <= mostElements;
           });
  }

  /// Parts of few elements along the last dim: a launch for each would write a part of every
  /// sector.
  static bool areInterleaved(const std::vector<Value *> &parts, const TensorType &type,
                             size_t dim) {
    constexpr int64_t mostElements = 64;
    return dim + 1 == type.rank() && type.rank() > 1 && type.strides.back().constant() == 1 &&
           type.shape.back().constantOr(mostElements + 1) <= mostElements &&
           std::all_of(parts.begin(), parts.end(), [&](const Value *part) {
             return part->type().rank() == type.rank() && part->type().dtype == type.dtype;
           });
  }

  /// Every part lies along the last dim, and none begins within 16 bytes of another: one launch
  /// reads and writes vectors.
  static bool liesInVectors(const std::vector<Value *> &parts, const TensorType &type, size_t dim) {
    constexpr int64_t vectorBytes = 16;
    if (type.rank() == 0 || type.strides.back().constant() != 1)
      return false;
    int64_t most = vectorBytes / std::min<int64_t>(vectorBytes, byteSize(type.dtype));
    return std::all_of(parts.begin(), parts.end(), [&](const Value *part) {
      const TensorType &own = part->type();
      return own.rank() == type.rank() && own.dtype == type.dtype &&
             own.strides.back().constant() == 1 &&
             (dim + 1 < type.rank() || own.shape[dim].constantOr(1) % most == 0);
    });
  }

  void lowerCat(Node &node) {
    auto call = callOf(node, registry, program.symbols);
    const TensorType type = node.result()->type();
    std::vector<Value *> parts = call->tensors("tensors");
    program.main.setInsertionPoint(&node);
    bool computes = std::any_of(parts.begin(), parts.end(), [&](Value *part) {
      return part->users().size() == 1 && isPointwise(*part->producer(), registry);
    });
    size_t dim = static_cast<size_t>(call->dim("dim", type.rank()));
    // Of parts that are computed each would be computed for all elements.
    constexpr size_t fewParts = 4, mostParts = 8;
    bool isCopied = liesInVectors(parts, type, dim) || areInterleaved(parts, type, dim);
    if (!forCpu && (computes || isCopied) &&
        isJoin(node, registry, program.symbols, computes ? fewParts : mostParts))
      return lowerGroup(node, {&node});
    Value *out = emitter.emptyLike(type);
    Expr at = 0;
    // One kernel for parts of one shape: where they go is known less well then, which matters to a
    // device alone.
    constexpr size_t several = 4;
    bool isArgument = areManyAndSmall(parts) || (forCpu && parts.size() >= several);
    for (Value *part : parts) {
      const std::vector<Expr> shape = part->type().shape;
      // ATen lets an empty one-dimensional tensor stand among parts of any rank.
      if (shape.size() != type.rank())
        continue;
      TextOperand place = broadcastOperand(type, type.shape, program.symbols);
      place.offset = at * type.strides[dim];
      place.offsetIsArgument = isArgument;
      out = copyInto(out, Access::Write, part, place, shape, node);
      at = at + shape[dim];
    }
    emitter.replace(node, out, {});
  }

  void lowerStridedScatter(Node &node) {
    auto call = callOf(node, registry, program.symbols);
    Value *self = call->value("self"), *source = call->value("src");
    TextOperand place;
    place.dtype = self->type().dtype;
    place.strides = call->integers("stride");
    place.offset = call->has("storage_offset")
                       ? call->integer("storage_offset") - self->type().offset
                       : Expr(0);
    program.main.setInsertionPoint(&node);
    Value *out = copyInto(self, Access::ReadWrite, source, place, call->integers("size"), node);
    emitter.replace(node, out, {});
  }

  Program &program;
  const OperatorRegistry &registry;
  LaunchEmitter emitter;
  bool forCpu;
  ProductLowering products;
};

} // namespace

std::vector<LoweringEdge> lowerToLaunches(Program &program, const OperatorRegistry &registry,
                                          const CompileText &compile, uint32_t sm,
                                          bool deterministic,
                                          std::unordered_set<const Value *> carried, bool tf32,
                                          bool tf32Products) {
  Lowering lowering(program, registry, compile, sm, deterministic, std::move(carried), tf32,
                    tf32Products);
  lowering.run();
  return lowering.takeEdges();
}

NodeMemory classifyLowered(const Node &node, const OperatorRegistry &registry) {
  if (node.isLaunch())
    return NodeMemory::Launch;
  if (isControlFlow(node))
    return NodeMemory::Control;
  if (isHostStep(node))
    return NodeMemory::Host;
  const Operator *op = registry.find(node.target());
  return op && op->kind == Operator::Kind::View ? NodeMemory::Alias : NodeMemory::Fresh;
}

} // namespace pellucid::passes
