// SPDX-License-Identifier: Apache-2.0
// Attention becomes a launch of its kernel, and a second one where the keys are shared out.
#include "passes/graph/LowerAttention.h"
#include "graph/ops/AttentionDims.h"
#include "passes/graph/AttentionText.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// Few enough queries that those of several heads are rows of one block.
constexpr int64_t fewQueries = 64;

/// `type`, whose last `own` dims are its own, over `batch`: stride 0 where it is broadcast. Where
/// the heads are shared by `group`, the last batch dim is that of its own heads.
TextOperand overBatch(const TensorType &type, size_t own, std::vector<Expr> batch,
                      const Expr &group, const SymbolTable &symbols) {
  TensorType outer = type;
  outer.shape.resize(type.rank() - own);
  outer.strides.resize(type.rank() - own);
  if (group.constant() != 1)
    batch.back() = outer.shape.back();
  TextOperand operand = broadcastOperand(outer, batch, symbols);
  operand.strides.insert(operand.strides.end(), type.strides.end() - static_cast<long>(own),
                         type.strides.end());
  return operand;
}

AttentionSpec describe(const OperatorCall &call, const Node &node, bool forCpu) {
  const SymbolTable &symbols = call.symbols;
  AttentionDims dims = attentionDims(call);
  AttentionSpec spec;
  spec.batch = dims.batch;
  spec.queries = dims.queries;
  spec.keys = dims.keys;
  spec.width = dims.width;
  spec.valueWidth = dims.valueWidth;
  spec.keyGroup = dims.keyGroup;
  spec.valueGroup = dims.valueGroup;
  const TensorType &query = call.tensor("query");
  spec.query = overBatch(query, 2, dims.batch, 1, symbols);
  spec.key = overBatch(call.tensor("key"), 2, dims.batch, dims.keyGroup, symbols);
  spec.value = overBatch(call.tensor("value"), 2, dims.batch, dims.valueGroup, symbols);
  spec.output = overBatch(node.result()->type(), 2, dims.batch, 1, symbols);
  if (Value *mask = attentionMask(call)) {
    std::vector<Expr> scores = dims.batch;
    scores.push_back(dims.queries);
    scores.push_back(dims.keys);
    spec.mask.push_back(broadcastOperand(mask->type(), scores, symbols));
  }
  if (call.op.attention.logsumexp)
    spec.logsumexp.push_back(overBatch(node.result(1)->type(), 1, dims.batch, 1, symbols));
  spec.causal = call.flag("is_causal");
  spec.scale = attentionScale(call, dims);
  spec.compute = opMathType(query.dtype);
  spec.sharesRows = dims.keyGroup.constant() != 1 && dims.keyGroup == dims.valueGroup &&
                    symbols.range(dims.queries * dims.keyGroup).max <= fewQueries;
  spec.tiles = chooseAttentionTiles(spec, symbols, forCpu);
  return spec;
}

/// A dense tensor of the type that is computed in.
Value *partsOf(LaunchEmitter &emitter, const AttentionSpec &spec, bool rows, Device device) {
  std::vector<Expr> shape = spec.batch;
  shape.push_back(spec.queries);
  shape.push_back(spec.tiles.parts);
  if (rows)
    shape.push_back(spec.valueWidth);
  return emitter.emptyLike(TensorType(spec.compute, shape, device));
}

/// Where a call may have few queries or many: smaller tiles for the first kind.
std::vector<LaunchEmitter::TextVariant> waysOf(const AttentionSpec &spec,
                                               const SymbolTable &symbols, bool forCpu) {
  std::vector<LaunchEmitter::TextVariant> ways{{writeAttention(spec, symbols), 1}};
  constexpr int64_t smallest = 16;
  if (spec.tiles.rows <= smallest || symbols.range(spec.queries).min > smallest ||
      spec.queries.constant())
    return ways;
  AttentionSpec few = spec;
  few.tiles.rows = smallest;
  if (!forCpu && byteSize(spec.query.dtype) == 2)
    fitFewRows(few.tiles, symbols.range(spec.width).max);
  KernelText text = writeAttention(few, symbols);
  if (text.scalars == ways[0].text.scalars)
    ways.insert(ways.begin(), {std::move(text), symbolic::lessEqual(spec.queries, smallest)});
  return ways;
}

Node *emitInParts(LaunchEmitter &emitter, const AttentionSpec &spec,
                  const std::vector<Value *> &inputs, const Node &node,
                  const std::vector<LaunchEmitter::Target> &results) {
  const SymbolTable &symbols = emitter.program.symbols;
  Device device = node.result()->type().device;
  AttentionSpec first = spec;
  first.logsumexp = {{spec.compute, {}, 0}};
  std::vector<LaunchEmitter::Target> parts{{partsOf(emitter, spec, true, device), Access::Write},
                                           {partsOf(emitter, spec, false, device), Access::Write}};
  Node *launch = emitter.emit(writeAttention(first, symbols), inputs, parts, node.location);
  return emitter.emit(writeAttentionParts(spec, symbols), {launch->result(0), launch->result(1)},
                      results, node.location);
}

/// Whether it is one kernel: of a width that tiles hold, and without dropping weights.
bool isOneKernel(const OperatorCall &call) {
  AttentionDims dims = attentionDims(call);
  return call.number("dropout_p") == 0 &&
         call.symbols.range(dims.width).max <= widestAttentionRow &&
         call.symbols.range(dims.valueWidth).max <= widestAttentionRow;
}

} // namespace

void openWideAttention(Program &program, const OperatorRegistry &registry) {
  for (Node &node : program.main) {
    if (!node.isCall() || node.isLaunch())
      continue;
    const Operator *op = registry.find(node.target());
    if (!op || op->kind != Operator::Kind::Attention ||
        isOneKernel(*callOf(node, registry, program.symbols)))
      continue;
    program.main.setInsertionPoint(&node);
    program.main.setLocation(node.location);
    std::vector<Value *> values = decompose(program.main, node, registry, program.symbols);
    for (size_t r = 0; r < node.resultCount(); ++r)
      program.main.replaceAllUses(node.result(r), values[r]);
    program.main.erase(&node);
  }
  program.main.setInsertionPoint(nullptr);
}

void lowerAttention(LaunchEmitter &emitter, Node &node, bool forCpu) {
  auto call = callOf(node, emitter.registry, emitter.program.symbols);
  AttentionSpec spec = describe(*call, node, forCpu);
  spec.name = emitter.kernelName({&node}, "attention");
  std::vector<Value *> inputs{call->value("query"), call->value("key"), call->value("value")};
  if (Value *mask = attentionMask(*call))
    inputs.push_back(mask);
  emitter.program.main.setInsertionPoint(&node);
  std::vector<LaunchEmitter::Target> results;
  for (size_t r = 0; r < node.resultCount(); ++r)
    results.push_back({emitter.emptyLike(node.result(r)->type()), Access::Write});
  Node *launch = spec.tiles.mostParts > 1
                     ? emitInParts(emitter, spec, inputs, node, results)
                     : emitter.emit(waysOf(spec, emitter.program.symbols, forCpu), inputs, results,
                                    node.location);
  emitter.replaceAll(node, *launch);
}

} // namespace pellucid::passes
