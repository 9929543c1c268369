// SPDX-License-Identifier: Apache-2.0
// Operators over whole lines: running sums and orders.
#include "graph/FakeRules.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/LineText.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

std::vector<Value *> emitSequence(LaunchEmitter &emitter, KernelSequence sequence,
                                  const std::vector<Value *> &inputs,
                                  const std::vector<Value *> &results,
                                  const SourceLocation &where) {
  std::vector<Value *> tensors = inputs;
  tensors.insert(tensors.end(), results.begin(), results.end());
  Device device = results.front()->type().device;
  for (const KernelSequence::Buffer &buffer : sequence.buffers)
    tensors.push_back(emitter.emptyLike(TensorType(buffer.dtype, buffer.shape, device)));
  for (KernelSequence::Step &step : sequence.steps) {
    std::vector<Value *> reads;
    for (size_t at : step.reads)
      reads.push_back(tensors[at]);
    std::vector<LaunchEmitter::Target> writes;
    for (size_t at : step.writes)
      writes.push_back({tensors[at], Access::Write});
    for (size_t at : step.scratch)
      writes.push_back({tensors[at], Access::ReadWrite});
    Node *launch = emitter.emit(std::move(step.text), reads, writes, where);
    for (size_t i = 0; i < writes.size(); ++i)
      tensors[i < step.writes.size() ? step.writes[i] : step.scratch[i - step.writes.size()]] =
          launch->result(i);
  }
  auto first = tensors.begin() + static_cast<long>(inputs.size());
  return {first, first + static_cast<long>(results.size())};
}

void lowerLine(LaunchEmitter &emitter, Node &node, bool forCpu) {
  const SymbolTable &symbols = emitter.program.symbols;
  auto call = callOf(node, emitter.registry, symbols);
  const std::string &name = call->op.schema.name;
  Value *self = call->value("self");
  const TensorType from = self->type();
  LineSpec spec;
  spec.name = emitter.kernelName({&node}, "line");
  spec.shape = from.shape;
  spec.input = {from.dtype, from.strides, 0};
  size_t dim = from.rank() ? static_cast<size_t>(call->dim("dim", from.rank())) : 0;
  std::vector<std::vector<Expr>> strides;
  for (size_t r = 0; r < node.resultCount(); ++r)
    strides.push_back(node.result(r)->type().strides);
  if (from.rank()) {
    moveLast(spec.shape, dim);
    moveLast(spec.input.strides, dim);
    for (std::vector<Expr> &list : strides)
      moveLast(list, dim);
  } else {
    spec.shape = {1};
    // A tile is read and written, of which the mask leaves one element.
    spec.input.strides = {1};
    strides.assign(node.resultCount(), {Expr(1)});
  }
  for (size_t r = 0; r < node.resultCount(); ++r)
    spec.outputs.push_back({node.result(r)->type().dtype, strides[r], 0});
  bool runs = name == "cummax" || name == "cummin";
  if (runs) {
    spec.kind = name == "cummax" ? LineKind::Largest : LineKind::Smallest;
    spec.compute = from.dtype == DataType::Bool ? DataType::Int32 : opMathType(from.dtype);
    if (node.result(1)->users().empty())
      spec.outputs.pop_back();
  } else if (node.resultCount() == 2) {
    spec.kind = LineKind::Sort;
    // Without dims the one value is the result, even for k = 0.
    spec.places = name == "topk" && from.rank() ? call->integer("k") : spec.shape.back();
    spec.descending = call->flag(name == "topk" ? "largest" : "descending");
    spec.compute = from.dtype == DataType::Bool ? DataType::Int32 : opMathType(from.dtype);
  } else {
    // A tensor without dims is its own running result, a -0 too: 1 * x, where 0 + x is not.
    spec.kind = name == "cumsum" && from.rank() ? LineKind::Sum : LineKind::Product;
    spec.compute = opMathType(node.result()->type().dtype);
  }
  spec.operation = node.target();
  spec.where = node.location;
  emitter.program.main.setInsertionPoint(&node);
  bool sorts = spec.kind == LineKind::Sort;
  std::vector<Value *> results;
  for (size_t r = 0; r < spec.outputs.size(); ++r)
    results.push_back(emitter.emptyLike(node.result(r)->type()));
  KernelSequence sequence = runs    ? writeRunningExtremes(std::move(spec), symbols, forCpu)
                            : sorts ? writeSort(std::move(spec), symbols, forCpu)
                                    : writeScan(std::move(spec), symbols, forCpu);
  std::vector<Value *> made =
      emitSequence(emitter, std::move(sequence), {self}, results, node.location);
  made.resize(node.resultCount(), made[0]); // of a result that nobody reads
  emitter.replaceAll(node, made);
}

} // namespace pellucid::passes
