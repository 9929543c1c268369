// SPDX-License-Identifier: Apache-2.0
/// Attention: one kernel where its widths fit into tiles (passes/graph/LowerAttention.cpp), else
/// products, a mask and a softmax.
#include "graph/ops/AttentionDims.h"
#include "graph/ops/Families.h"

#include <cmath>

namespace pellucid::graph {

namespace {

void checkOperands(const OperatorCall &call) {
  const TensorType &query = call.tensor("query");
  for (std::string_view name : {"query", "key", "value"}) {
    const TensorType &operand = call.tensor(name);
    if (operand.rank() < 2)
      call.fail("expects '" + std::string(name) + "' to have at least 2 dims, got " +
                shapeText(operand.shape));
    if (operand.dtype != query.dtype)
      call.fail("expects query, key and value to have the same dtype, got " +
                std::string(info(query.dtype).torch) + " and " +
                std::string(info(operand.dtype).torch));
  }
  Value *mask = attentionMask(call);
  // PyTorch's operators for one device take no other ranks.
  if (call.op.attention.logsumexp &&
      (query.rank() != 4 || call.tensor("key").rank() != 4 || call.tensor("value").rank() != 4 ||
       (mask && mask->type().rank() != 2 && mask->type().rank() != 4)))
    call.fail("expects query, key and value with 4 dims and a mask with 2 or 4, got " +
              shapeText(query.shape) +
              (mask ? " and a mask of " + shapeText(mask->type().shape) : ""));
  if (!isFloat(query.dtype) || byteSize(query.dtype) < 2)
    call.fail("is not defined for " + std::string(info(query.dtype).torch));
}

void checkOptions(const OperatorCall &call) {
  if (double p = call.number("dropout_p"); !(p >= 0 && p <= 1))
    call.fail("expects dropout_p to be between 0 and 1, got " + toString(call.at("dropout_p")));
  if (call.flag("is_causal") && attentionMask(call))
    call.fail(
        "Explicit attn_mask should not be set when is_causal=True; add the causal part to the "
        "mask");
}

std::vector<Expr> batchOf(const TensorType &type) {
  return {type.shape.begin(), type.shape.end() - 2};
}

Expr lastButOne(const TensorType &type) { return type.shape[type.rank() - 2]; }

/// How many heads of `query` share one of `name`; its head dim becomes the query's in `batch`.
Expr shareHeads(const OperatorCall &call, std::string_view name, std::vector<Expr> &batch) {
  const TensorType &query = call.tensor("query"), &shared = call.tensor(name);
  if (query.rank() < 3 || shared.rank() < 3)
    call.fail("expects enable_gqa operands with heads, a dim before the last two, got " +
              shapeText(query.shape) + " and " + shapeText(shared.shape));
  const Expr &heads = query.shape[query.rank() - 3];
  Expr group = batch.back().constant() == 0 ? Expr(1) : floorDiv(heads, batch.back());
  if (!call.symbols.proveEqual(group * batch.back(), heads))
    call.fail("expects the heads of '" + std::string(name) + "' to divide those of 'query', got " +
              batch.back().text() + " and " + heads.text());
  batch.back() = heads;
  return group;
}

void checkMask(const OperatorCall &call, const AttentionDims &dims) {
  Value *mask = attentionMask(call);
  if (!mask)
    return;
  const TensorType &type = mask->type();
  DataType dtype = call.tensor("query").dtype;
  if (type.dtype != DataType::Bool && type.dtype != DataType::Float32 && type.dtype != dtype)
    call.fail("expects '" + call.op.attention.mask +
              "' to be bool, float32 or of the query's dtype, " + std::string(info(dtype).torch) +
              ", got " + std::string(info(type.dtype).torch));
  std::vector<Expr> scores = dims.batch;
  scores.push_back(dims.queries);
  scores.push_back(dims.keys);
  if (broadcastShapes(call, scores, type.shape) != scores)
    call.fail("expects '" + call.op.attention.mask + "' to broadcast to " + shapeText(scores) +
              ", got " + shapeText(type.shape));
}

std::vector<ResultType> attentionFake(const OperatorCall &call) {
  AttentionDims dims = attentionDims(call);
  const TensorType &query = call.tensor("query");
  std::vector<Expr> shape = dims.batch;
  shape.push_back(dims.queries);
  shape.push_back(dims.valueWidth);
  TensorType result = freshLike(query, query.dtype, shape);
  if (query.rank() == shape.size()) {
    // The heads lie as the query's do, so that taking them together afterwards moves nothing.
    TensorType like = query;
    like.shape = shape;
    result.strides = preservedStrides(like, call.symbols);
  }
  std::vector<ResultType> results{result};
  if (call.op.attention.logsumexp) {
    shape.pop_back();
    results.push_back(freshLike(query, opMathType(query.dtype), shape));
  }
  return results;
}

/// The operator said in others, in the type that is computed in.
class Decomposition {
public:
  Decomposition(Graph &g, const OperatorCall &c, const OperatorRegistry &r)
      : graph(g), call(c), registry(r), dims(attentionDims(c)),
        type(opMathType(c.tensor("query").dtype)) {}

  std::vector<Value *> run() {
    Value *key = headsOf("key", dims.keyGroup), *value = headsOf("value", dims.valueGroup);
    Value *query = widened(call.value("query"));
    Value *scores =
        emit("aten.matmul.default", {query, emit("aten.transpose.int", {key, int64_t(-2), last})});
    scores = masked(scaled(scores));
    Value *nothing =
        emit("aten.all.dim", {emit("aten.eq.Scalar", {scores, -infinity}), last, true});
    Value *weights = emit("aten.softmax.int", {scores, last});
    weights = emit("aten.where.ScalarSelf", {nothing, 0.0, weights});
    if (double p = call.number("dropout_p"); p != 0)
      weights = emit("aten.dropout.default", {weights, p, true});
    std::vector<Value *> results{narrowed(emit("aten.matmul.default", {weights, value}))};
    if (call.op.attention.logsumexp)
      results.push_back(logarithmOfSum(scores, nothing));
    return results;
  }

private:
  static constexpr double infinity = HUGE_VAL;
  static constexpr int64_t last = -1;

  Value *logarithmOfSum(Value *scores, Value *nothing) {
    Argument::List dim{Argument(last)};
    Value *top = emit("aten.amax.default", {scores, dim, true});
    top = emit("aten.where.ScalarSelf", {nothing, 0.0, top});
    Value *exps = emit("aten.exp.default", {emit("aten.sub.Tensor", {scores, top})});
    Value *sum = emit("aten.log.default", {emit("aten.sum.dim_IntList", {exps, dim, true})});
    sum = emit("aten.where.ScalarSelf", {nothing, 0.0, emit("aten.add.Tensor", {top, sum})});
    return emit("aten.squeeze.dim", {sum, last});
  }

  Value *emit(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  }
  Value *converted(Value *value, DataType to) {
    return value->type().dtype == to ? value
                                     : emit("aten._to_copy.default", {value}, {{"dtype", to}});
  }
  Value *widened(Value *value) { return converted(value, type); }
  Value *narrowed(Value *value) { return converted(value, call.tensor("query").dtype); }

  /// Each head of `name` as often as heads of the query share it.
  Value *headsOf(std::string_view name, const Expr &group) {
    Value *value = widened(call.value(name));
    if (group.constant() == 1)
      return value;
    std::vector<Expr> shape = value->type().shape;
    auto head = static_cast<int64_t>(shape.size()) - 3;
    Value *apart = emit("aten.unsqueeze.default", {value, head + 1});
    std::vector<Expr> spread = apart->type().shape;
    spread[static_cast<size_t>(head) + 1] = group;
    shape[static_cast<size_t>(head)] = dims.batch.back();
    return emit(
        "aten.reshape.default",
        {emit("aten.expand.default", {apart, Argument::list(spread)}), Argument::list(shape)});
  }

  Value *scaled(Value *scores) {
    if (std::optional<double> scale = attentionScale(call, dims))
      return emit("aten.mul.Scalar", {scores, *scale});
    Value *width = emit("aten.full.default", {Argument::List{}, dims.width}, {{"dtype", type}});
    return emit("aten.mul.Tensor", {scores, emit("aten.rsqrt.default", {width})});
  }

  Value *masked(Value *scores) {
    if (call.flag("is_causal")) {
      Value *query = emit("aten.arange.default", {dims.queries}, {{"dtype", DataType::Int64}});
      Value *key = emit("aten.arange.default", {dims.keys}, {{"dtype", DataType::Int64}});
      Value *past = emit("aten.le.Tensor", {key, emit("aten.unsqueeze.default", {query, last})});
      return emit("aten.where.ScalarOther", {past, scores, -infinity});
    }
    Value *mask = attentionMask(call);
    if (!mask)
      return scores;
    if (mask->type().dtype != DataType::Bool)
      return emit("aten.add.Tensor", {scores, widened(mask)});
    // NaN stays NaN.
    Value *gone = emit("aten.add.Scalar", {scores, -infinity});
    return emit("aten.where.self", {mask, scores, gone});
  }

  Graph &graph;
  const OperatorCall &call;
  const OperatorRegistry &registry;
  AttentionDims dims;
  DataType type;
};

/// Two products of queries x keys, and some ten operations per score; memory is that of the
/// operands. A causal mask leaves half.
Cost attentionCost(const OperatorCall &call, std::span<const ResultType> results) {
  Cost cost = kindCost(call, results);
  AttentionDims dims = attentionDims(call);
  Expr scores = dims.queries * dims.keys;
  for (const Expr &size : dims.batch)
    scores = scores * size;
  cost.flops = scores * ((dims.width + dims.valueWidth) * 2 + 10);
  if (call.flag("is_causal"))
    cost.flops = floorDiv(cost.flops, 2);
  return cost;
}

} // namespace

Value *attentionMask(const OperatorCall &call) {
  const std::string &name = call.op.attention.mask;
  return !name.empty() && call.has(name) ? call.value(name) : nullptr;
}

std::optional<double> attentionScale(const OperatorCall &call, const AttentionDims &dims) {
  if (call.has("scale"))
    return call.number("scale");
  std::optional<int64_t> width = dims.width.constant();
  if (!width)
    return std::nullopt;
  // Without columns every score is 0, whatever the factor.
  return *width ? 1 / std::sqrt(static_cast<double>(*width)) : 1.0;
}

AttentionDims attentionDims(const OperatorCall &call) {
  checkOperands(call);
  checkOptions(call);
  const TensorType &query = call.tensor("query"), &key = call.tensor("key"),
                   &value = call.tensor("value");
  AttentionDims dims;
  dims.queries = lastButOne(query);
  dims.keys = lastButOne(key);
  dims.width = query.shape.back();
  dims.valueWidth = value.shape.back();
  if (!call.symbols.proveEqual(key.shape.back(), dims.width))
    call.fail("expects query and key of one width, got " + dims.width.text() + " and " +
              key.shape.back().text());
  if (!call.symbols.proveEqual(lastButOne(value), dims.keys))
    call.fail("expects as many values as keys, got " + lastButOne(value).text() + " and " +
              dims.keys.text());
  std::vector<Expr> keyBatch = batchOf(key), valueBatch = batchOf(value);
  if (call.op.schema.indexOf("enable_gqa") && call.flag("enable_gqa")) {
    dims.keyGroup = shareHeads(call, "key", keyBatch);
    dims.valueGroup = shareHeads(call, "value", valueBatch);
  }
  dims.batch = broadcastShapes(call, batchOf(query), broadcastShapes(call, keyBatch, valueBatch));
  checkMask(call, dims);
  return dims;
}

void registerAttentionOperators(OperatorRegistry &registry) {
  struct Row {
    std::string_view schema;
    AttentionBody body;
  };
  const Row rows[] = {
      {"aten::scaled_dot_product_attention.default(Tensor query, Tensor key, Tensor value, Tensor? "
       "attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool "
       "enable_gqa=False) -> Tensor",
       {"attn_mask", false}},
      {"aten::_scaled_dot_product_flash_attention_for_cpu.default(Tensor query, Tensor key, Tensor "
       "value, float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? "
       "scale=None) -> (Tensor output, Tensor logsumexp)",
       {"attn_mask", true}},
  };
  for (const Row &row : rows) {
    Operator op = makeOperator(row.schema, Operator::Kind::Attention, attentionFake);
    op.attention = row.body;
    op.cost = attentionCost;
    op.decompose = [](Graph &graph, const OperatorCall &call, const OperatorRegistry &known) {
      return Decomposition(graph, call, known).run();
    };
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
