// SPDX-License-Identifier: Apache-2.0
// Operators that address elements one by one: gathers and scatters.
#include "graph/FakeRules.h"
#include "passes/graph/GatherPlaces.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/LowerToLaunches.h"
#include "passes/graph/PointwiseGroup.h"
#include "passes/graph/ScatterText.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// `count` dims from `first` are ordered: they go last in every operand.
void orderDims(ScatterSpec &spec, size_t first, size_t count) {
  auto move = [&](std::vector<Expr> &list) {
    for (size_t i = 0; i < count; ++i)
      moveLast(list, first);
  };
  move(spec.shape);
  for (TextIndex &place : spec.places)
    move(place.operand.strides);
  move(spec.source.strides);
  move(spec.output.strides);
  spec.ordered = count;
}

} // namespace

void lowerGather(LaunchEmitter &emitter, Node &node, bool forCpu) {
  const TensorType type = node.result()->type();
  std::vector<Value *> inputs;
  std::optional<GatherSpec> spec =
      gatherOf(node, emitter.registry, emitter.program.symbols, inputs);
  if (!spec)
    emitter.refuse(node, "has no gather kernel");
  spec->forCpu = forCpu;
  spec->name = emitter.kernelName({&node}, "gather");
  emitter.program.main.setInsertionPoint(&node);
  KernelText text = writeGather(std::move(*spec), emitter.program.symbols);
  emitter.replace(
      node, emitter.emit(text, inputs, {emitter.emptyLike(type), Access::Write}, node.location));
}

/// The tensor that is written: a copy, which other readers of `self` do not see.
static Value *copyOf(LaunchEmitter &emitter, Node &node, Value *self, const TensorType &type) {
  const SymbolTable &symbols = emitter.program.symbols;
  PointwiseSpec spec;
  spec.name = emitter.kernelName({&node}, "copy");
  spec.shape = type.shape;
  spec.inputs = {broadcastOperand(self->type(), type.shape, symbols)};
  spec.outputs = {broadcastOperand(type, type.shape, symbols)};
  spec.results = {"in0"};
  return emitter.emit(writePointwise(std::move(spec), symbols), {self},
                      {emitter.emptyLike(type), Access::Write}, node.location);
}

/// The result is what a written input (a cache, say) holds in the end, `self` is what it held at
/// first, and nothing else of the launch or of the results is that memory; or it is memory of the
/// program's own, as large as the result. Then the elements go straight there; where the old
/// contents are needed later, the plan of the buffers keeps them.
static bool isWrittenInPlace(const LaunchEmitter &emitter, const Node &node, const Value *self,
                             const std::vector<Value *> &inputs) {
  const Program &program = emitter.program;
  const Value *root = aliasRoot(self, emitter.registry);
  if (self->type() != node.result()->type())
    return false;
  for (const Value *input : inputs)
    if (aliasRoot(input, emitter.registry) == root)
      return false;
  if (!root->producer()->isPlaceholder() || emitter.carried.count(root))
    return program.symbols.proveEqual(root->type().numel(), self->type().numel()) &&
           root->type().dtype == self->type().dtype;
  const std::vector<Node *> placeholders = program.main.placeholders();
  auto position = std::find(placeholders.begin(), placeholders.end(), root->producer());
  const std::string &name =
      program.inputs[static_cast<size_t>(position - placeholders.begin())].name;
  bool isItsEnd = false;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const OutputSpec &spec = program.outputs[i];
    const Value *value = program.main.outputNode()->arg(i).value();
    if (spec.kind != OutputSpec::Kind::UserInputMutation || !value)
      continue;
    if (spec.name == name)
      isItsEnd = value == node.result();
    else if (aliasRoot(value, emitter.registry) == node.result())
      return false;
  }
  return isItsEnd;
}

static ScatterCombine combineOf(const OperatorCall &call) {
  if (call.op.schema.name == "scatter_add")
    return ScatterCombine::Sum;
  if (call.op.schema.name != "scatter_reduce")
    return ScatterCombine::Replace;
  std::string reduce = call.string("reduce");
  return reduce == "prod"   ? ScatterCombine::Product
         : reduce == "amax" ? ScatterCombine::Largest
                            : ScatterCombine::Smallest;
}

void lowerScatter(LaunchEmitter &emitter, Node &node, bool forCpu) {
  const SymbolTable &symbols = emitter.program.symbols;
  auto call = callOf(node, emitter.registry, symbols);
  const TensorType type = node.result()->type();
  ScatterSpec spec;
  spec.operation = node.target();
  spec.where = node.location;
  spec.name = emitter.kernelName({&node}, "scatter");
  spec.forCpu = forCpu;
  spec.output.dtype = spec.source.dtype = type.dtype;
  spec.compute = opMathType(type.dtype);
  std::vector<Value *> inputs;
  if (call->op.schema.name == "index_put") {
    IndexedDims indexed = indexedDims(*call);
    Value *values = call->value("values");
    spec.shape = indexed.resultShape(type);
    spec.places = placesOf(*call, indexed, type, spec.shape, inputs);
    spec.output.strides = keptStrides(type, indexed, spec.shape.size());
    spec.source = broadcastOperand(values->type(), spec.shape, symbols);
    if (call->flag("accumulate"))
      spec.combine = ScatterCombine::Sum;
    orderDims(spec, indexed.place, indexed.shape.size());
    inputs.push_back(values);
  } else {
    Value *index = call->value("index"), *source = call->value("src");
    size_t dim = static_cast<size_t>(call->dim("dim", type.rank()));
    spec.shape = index->type().shape;
    spec.output.strides = type.strides;
    spec.source.strides = source->type().strides;
    if (type.rank()) {
      spec.places = {placeAlong(index, index->type().strides, type, dim)};
      spec.output.strides[dim] = 0;
    } else {
      spec.shape = {1};
      spec.places = {{{index->type().dtype, {0}, 0}, 1, 1, false}};
      spec.output.strides = spec.source.strides = {0};
    }
    spec.combine = combineOf(*call);
    orderDims(spec, dim, 1);
    inputs = {index, source};
  }
  emitter.program.main.setInsertionPoint(&node);
  Value *self = call->value("self");
  Value *target =
      isWrittenInPlace(emitter, node, self, inputs) ? self : copyOf(emitter, node, self, type);
  // A CPU's few threads are busy with the dims that are not ordered, and need no other launches.
  if (!forCpu)
    if (auto sequence = writeParallelScatter(spec, type.numel(), symbols, emitter.deterministic)) {
      emitter.replaceAll(
          node, emitSequence(emitter, std::move(*sequence), inputs, {target}, node.location));
      return;
    }
  emitter.replace(node, emitter.emit(writeScatter(std::move(spec), symbols), inputs,
                                     {target, Access::ReadWrite}, node.location));
}

} // namespace pellucid::passes
