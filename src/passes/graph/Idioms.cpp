// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Idioms.h"

#include "graph/ops/AttentionDims.h"
#include "graph/ops/ConvolutionDims.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <cmath>

namespace pellucid::passes {

using namespace graph;

namespace {

/// The node that makes `value` by a call of `target`; else null.
const Node *madeBy(const Value *value, std::string_view target) {
  const Node *node = value ? value->producer() : nullptr;
  return node && node->calls(target) ? node : nullptr;
}

Value *operandOf(const Node *node, size_t i) {
  return node && i < node->args().size() ? node->arg(i).value() : nullptr;
}

/// What `value` is a cast of; itself where it is none.
Value *uncast(Value *value) {
  const Node *cast = madeBy(value, "aten.to.dtype");
  if (!cast)
    cast = madeBy(value, "aten._to_copy.default");
  Value *from = operandOf(cast, 0);
  return from && from->type().device == value->type().device ? from : value;
}

std::optional<double> numberOf(const Argument &argument) {
  if (auto real = argument.as<double>())
    return *real;
  if (auto integer = argument.as<int64_t>())
    return static_cast<double>(*integer);
  return std::nullopt;
}

/// x, of which `square` is the square in float32; null.
Value *squared(const Value *square) {
  if (square->type().dtype != DataType::Float32)
    return nullptr;
  if (const Node *power = madeBy(square, "aten.pow.Tensor_Scalar"))
    return power->args().size() == 2 && numberOf(power->arg(1)) == 2 ? operandOf(power, 0)
                                                                     : nullptr;
  const Node *product = madeBy(square, "aten.mul.Tensor");
  return product && operandOf(product, 0) == operandOf(product, 1) ? operandOf(product, 0)
                                                                   : nullptr;
}

struct Norm {
  Value *x = nullptr;
  double epsilon = 0;
};

/// 1 / sqrt(mean of x's squares along the last dim + epsilon), in float32.
std::optional<Norm> inverseRoot(const Value *value) {
  const Node *root = madeBy(value, "aten.rsqrt.default");
  const Node *sum = madeBy(operandOf(root, 0), "aten.add.Tensor");
  const Node *mean = madeBy(operandOf(sum, 0), "aten.mean.dim");
  if (!mean || sum->args().size() != 2 || !sum->kwargs().empty() || mean->args().size() != 3 ||
      !mean->kwargs().empty() || value->type().dtype != DataType::Float32)
    return std::nullopt;
  std::optional<double> epsilon = numberOf(sum->arg(1));
  Value *square = operandOf(mean, 0);
  const Argument::List *dims = mean->arg(1).list();
  if (!epsilon || !dims || dims->size() != 1 || mean->arg(2).as<bool>() != true)
    return std::nullopt;
  auto dim = (*dims)[0].as<int64_t>();
  auto rank = static_cast<int64_t>(square->type().rank());
  Value *x = squared(square);
  if (!dim || (*dim != -1 && *dim != rank - 1) || !x)
    return std::nullopt;
  return Norm{x, *epsilon};
}

class Idioms {
public:
  Idioms(Program &p, const OperatorRegistry &r) : program(p), registry(r) {}

  size_t run() {
    std::vector<Node *> nodes;
    for (Node &node : program.main)
      nodes.push_back(&node);
    size_t count = 0;
    for (Node *node : nodes) {
      if (!node->isCall() || node->isLaunch() || node->resultCount() != 1 ||
          !node->result()->isTensor())
        continue;
      program.main.setInsertionPoint(node);
      program.main.setLocation(node->location);
      Value *made = norm(*node);
      if (!made)
        made = groupedAttention(*node);
      if (!made)
        made = scaledAttention(*node);
      if (!made)
        made = normOfLongRows(*node);
      if (!made)
        made = convolutionOfElements(*node);
      if (!made || !(made->type() == node->result()->type()))
        continue;
      made->producer()->stackNote = node->stackNote;
      program.main.replaceAllUses(node->result(), made);
      ++count;
    }
    for (Node *node : nodes)
      repeatCast(*node);
    program.main.setInsertionPoint(nullptr);
    return count;
  }

private:
  /// 16-bit numbers that are widened for several operators, each of which reads less if it widens
  /// them itself.
  void repeatCast(Node &node) {
    bool isCast = node.isCall() && !node.isLaunch() &&
                  (node.calls("aten._to_copy.default") || node.calls("aten.to.dtype"));
    Value *from = isCast ? operandOf(&node, 0) : nullptr;
    if (!from || !from->isTensor() || node.result()->type().dtype != DataType::Float32 ||
        byteSize(from->type().dtype) != 2 || node.result()->type().shape != from->type().shape ||
        node.result()->type().device != from->type().device)
      return;
    std::vector<Node *> readers;
    for (Node *user : node.result()->users())
      if (std::find(readers.begin(), readers.end(), user) == readers.end())
        readers.push_back(user);
    bool computes = std::all_of(readers.begin(), readers.end(), [&](const Node *user) {
      const Operator *op =
          user->isCall() && !user->isLaunch() ? registry.find(user->target()) : nullptr;
      return op && (op->kind == Operator::Kind::Pointwise ||
                    op->kind == Operator::Kind::Reduction || op->kind == Operator::Kind::RowKernel);
    });
    for (size_t i = 1; computes && i < readers.size(); ++i) {
      program.main.setInsertionPoint(readers[i]);
      if (Value *again = call(node, node.target(), node.args(), node.kwargs()))
        readers[i]->replaceUses(node.result(), again);
    }
  }

  Value *call(const Node &where, std::string_view target, std::vector<Argument> args,
              KeywordArguments kwargs = {}) {
    try {
      return emitCall(program.main, registry, program.symbols, target, std::move(args),
                      std::move(kwargs), where.location)
          ->result();
    } catch (const DiagnosticError &) {
      return nullptr;
    }
  }

  /// x * rsqrt(…), rounded to the type of x.
  Value *norm(Node &node) {
    Value *product = uncast(node.result());
    // What is float32 all along has no cast at its end.
    const Node *times = madeBy(product, "aten.mul.Tensor");
    if (!times || times->args().size() != 2 || product->type().dtype != DataType::Float32)
      return nullptr;
    for (size_t i : {0, 1}) {
      Value *factor = operandOf(times, i), *x = operandOf(times, 1 - i);
      std::optional<Norm> found = factor && x ? inverseRoot(factor) : std::nullopt;
      if (!found || uncast(found->x) != uncast(x))
        continue;
      Value *from = uncast(x);
      // Of a wider type than float32 nothing is known.
      if (from->type().dtype != node.result()->type().dtype || !isFloat(from->type().dtype) ||
          byteSize(from->type().dtype) > 4 || from->type().shape != node.result()->type().shape)
        continue;
      return call(node, "aten.rms_norm.default",
                  {from, Argument::list({from->type().shape.back()}), Argument(), found->epsilon});
    }
    return nullptr;
  }

  /// A layer norm of a few long rows, each of which one program would read: sums of parts of them,
  /// then what is made of each element.
  Value *normOfLongRows(Node &node) {
    constexpr int64_t mostRows = 128, leastLength = 32768;
    if (!node.calls("aten.layer_norm.default"))
      return nullptr;
    auto norm = callOf(node, registry, program.symbols);
    Value *x = norm->value("input");
    const TensorType type = x->type();
    size_t rank = type.rank(), dims = norm->integers("normalized_shape").size();
    Expr rows = 1, length = 1;
    Argument::List list;
    for (size_t d = 0; d < rank; ++d) {
      (d + dims < rank ? rows : length) = (d + dims < rank ? rows : length) * type.shape[d];
      if (d + dims >= rank)
        list.emplace_back(static_cast<int64_t>(d));
    }
    if (rows.constantOr(mostRows + 1) > mostRows || length.constantOr(0) < leastLength ||
        byteSize(type.dtype) > 4)
      return nullptr;
    auto wide = [&](Value *value) {
      return value && value->type().dtype != DataType::Float32
                 ? call(node, "aten.to.dtype", {value, Argument(DataType::Float32)})
                 : value;
    };
    auto mean = [&](Value *value) {
      return value ? call(node, "aten.mean.dim", {value, list, true}) : nullptr;
    };
    auto both = [&](const char *target, Value *a, Value *b) {
      return a && b ? call(node, target, {a, b}) : nullptr;
    };
    x = wide(x);
    Value *middle = mean(x);
    // The variance has differences of its own, which go into its reading.
    Value *off = both("aten.sub.Tensor", x, middle);
    Value *spread = mean(both("aten.mul.Tensor", off, off));
    off = both("aten.sub.Tensor", x, middle);
    spread = spread ? call(node, "aten.add.Scalar", {spread, norm->number("eps")}) : nullptr;
    spread = spread ? call(node, "aten.rsqrt.default", {spread}) : nullptr;
    Value *made = both("aten.mul.Tensor", off, spread);
    for (const char *name : {"weight", "bias"})
      if (norm->has(name))
        made = both(name[0] == 'w' ? "aten.mul.Tensor" : "aten.add.Tensor", made,
                    wide(norm->value(name)));
    return made && type.dtype != DataType::Float32
               ? call(node, "aten.to.dtype", {made, Argument(type.dtype)})
               : made;
  }

  /// What is repeated, and how often: `value` is a copy of it for each of several neighbours along
  /// the heads.
  struct Repeated {
    Value *value = nullptr;
    Expr times = 1;
  };
  static std::optional<Repeated> repeated(Value *value) {
    const Node *view = madeBy(value, "aten.view.default");
    if (!view)
      view = madeBy(value, "aten.reshape.default");
    const Node *copy = madeBy(operandOf(view, 0), "aten.clone.default");
    Value *spread = operandOf(copy, 0);
    if (!spread)
      return std::nullopt;
    const TensorType &type = spread->type(), &seen = value->type();
    size_t rank = type.rank();
    if (rank < 4 || seen.rank() + 1 != rank || type.strides[rank - 3].constant() != 0 ||
        !(seen.shape[rank - 4] == type.shape[rank - 4] * type.shape[rank - 3]))
      return std::nullopt;
    for (size_t d = 0; d < rank; ++d)
      if ((d < rank - 4 && !(seen.shape[d] == type.shape[d])) ||
          (d > rank - 3 && !(seen.shape[d - 1] == type.shape[d])))
        return std::nullopt;
    return Repeated{spread, type.shape[rank - 3]};
  }

  Value *groupedAttention(Node &node) {
    if (!node.calls("aten.scaled_dot_product_attention.default") || node.args().size() < 3)
      return nullptr;
    const Argument *isGrouped = node.kwarg("enable_gqa");
    std::optional<Repeated> key = repeated(operandOf(&node, 1)),
                            value = repeated(operandOf(&node, 2));
    if (!key || !value || !(key->times == value->times) ||
        (isGrouped && isGrouped->as<bool>() != false))
      return nullptr;
    std::vector<Argument> args = node.args();
    KeywordArguments kwargs;
    for (const auto &[name, argument] : node.kwargs())
      if (name != "enable_gqa")
        kwargs.emplace_back(name, argument);
    kwargs.emplace_back("enable_gqa", Argument(true));
    for (const auto &[place, one] : {std::pair{1, *key}, {2, *value}}) {
      Value *first =
          call(node, "aten.select.int",
               {one.value, static_cast<int64_t>(one.value->type().rank()) - 3, int64_t(0)});
      if (!first)
        return nullptr;
      args[static_cast<size_t>(place)] = Argument(first);
    }
    return call(node, "aten.scaled_dot_product_attention.default", std::move(args),
                std::move(kwargs));
  }

  /// `product` of a tensor and a power of two: the tensor and the number. In bf16 and f32 nothing
  /// is rounded by it but what no score shows.
  static std::optional<std::pair<Value *, double>> powerOfTwo(const Value *product) {
    const Node *times = madeBy(product, "aten.mul.Tensor");
    if (!times)
      times = madeBy(product, "aten.mul.Scalar");
    Value *from = times && times->args().size() == 2 ? operandOf(times, 0) : nullptr;
    std::optional<double> factor = from ? numberOf(times->arg(1)) : std::nullopt;
    int exponent = 0;
    constexpr int mostDoublings = 16;
    bool isExact = factor && *factor > 0 && std::frexp(*factor, &exponent) == 0.5 &&
                   std::abs(exponent) <= mostDoublings;
    DataType type = product->type().dtype;
    if (!isExact || (type != DataType::BFloat16 && type != DataType::Float32) ||
        !(from->type() == product->type()))
      return std::nullopt;
    return std::pair(from, *factor);
  }

  /// A query that is multiplied by a power of two before it is looked at as heads: the scores are
  /// multiplied instead, which costs nothing.
  Value *scaledAttention(Node &node) {
    if (!node.calls("aten.scaled_dot_product_attention.default"))
      return nullptr;
    auto attention = callOf(node, registry, program.symbols);
    Node *reader = &node;
    Value *query = attention ? attention->value("query") : nullptr;
    if (query && (attention->value("key") == query || attention->value("value") == query))
      return nullptr;
    while (query && query->users().size() == 1 && !powerOfTwo(query)) {
      Node *view = query->producer();
      const Operator *op =
          view->isCall() && !view->isLaunch() ? registry.find(view->target()) : nullptr;
      bool isSeen = op && view->resultCount() == 1 &&
                    (op->kind == Operator::Kind::View || view->calls("aten.clone.default"));
      if (!isSeen)
        return nullptr;
      reader = view;
      query = operandOf(view, 0);
    }
    auto found = query && query->users().size() == 1 ? powerOfTwo(query) : std::nullopt;
    std::optional<double> scale =
        found ? attentionScale(*attention, attentionDims(*attention)) : std::nullopt;
    if (!scale)
      return nullptr;
    reader->replaceUses(query, found->first);
    KeywordArguments kwargs;
    for (const auto &[name, argument] : node.kwargs())
      if (name != "scale")
        kwargs.emplace_back(name, argument);
    kwargs.emplace_back("scale", Argument(*scale * found->second));
    return call(node, "aten.scaled_dot_product_attention.default", node.args(), std::move(kwargs));
  }

  /// A transposed convolution whose kernel is as long as its step: each element of the input makes
  /// a block of the result alone, which is a product for all blocks, whose elements are then put
  /// side by side. As a convolution it would go over the zeros between the elements.
  Value *convolutionOfElements(Node &node) {
    if (!node.calls("aten.convolution.default"))
      return nullptr;
    auto convolution = callOf(node, registry, program.symbols);
    if (!convolution || !convolution->flag("transposed"))
      return nullptr;
    ConvolutionDims dims = convolutionDims(*convolution);
    auto all = [](const std::vector<int64_t> &values, int64_t value) {
      return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
    };
    if (dims.groups != 1 || dims.kernel != dims.stride || all(dims.kernel, 1) ||
        !all(dims.padding, 0) || !all(dims.dilation, 1) || !all(dims.outputPadding, 0))
      return nullptr;
    size_t spatial = dims.spatial();
    int64_t block = 1;
    for (int64_t extent : dims.kernel)
      block *= extent;
    using List = Argument::List;
    auto number = [](size_t value) { return Argument(static_cast<int64_t>(value)); };
    // The weight's output channels and places first.
    List order{number(1)}, ones, none, places{Argument(dims.batch), Argument(dims.outputChannels)};
    List split{number(0), number(1)}, size{Argument(dims.batch), Argument(dims.outputChannels)};
    for (size_t d = 0; d < spatial; ++d) {
      order.push_back(number(2 + d));
      ones.push_back(number(1));
      none.push_back(number(0));
      places.emplace_back(dims.kernel[d]);
    }
    order.push_back(number(0));
    for (size_t d = 0; d < spatial; ++d) {
      places.emplace_back(dims.input[d]);
      split.push_back(number(2 + spatial + d));
      split.push_back(number(2 + d));
      size.emplace_back(dims.output[d]);
    }
    List matrix{Argument(dims.outputChannels * block), Argument(dims.inputChannels)};
    matrix.insert(matrix.end(), ones.begin(), ones.end());
    Value *weight =
        contiguous(node, call(node, "aten.permute.default", {convolution->value("weight"), order}));
    weight = weight ? call(node, "aten.view.default", {weight, matrix}) : nullptr;
    Value *bias = convolution->has("bias") ? convolution->value("bias") : nullptr;
    if (weight && bias && !(bias = biasOfBlocks(node, bias, dims.outputChannels, block)))
      return nullptr;
    if (!weight)
      return nullptr;
    Value *made = call(node, "aten.convolution.default",
                       {convolution->value("input"), weight, bias ? Argument(bias) : Argument(),
                        ones, none, ones, false, none, int64_t(1)});
    made = made ? call(node, "aten.view.default", {made, places}) : nullptr;
    made = made ? call(node, "aten.permute.default", {made, split}) : nullptr;
    made = made ? contiguous(node, made) : nullptr;
    return made ? call(node, "aten.view.default", {made, size}) : nullptr;
  }

  /// Each channel's `block` times.
  Value *biasOfBlocks(const Node &node, Value *bias, const Expr &channels, int64_t block) {
    using List = Argument::List;
    bias = call(node, "aten.unsqueeze.default", {bias, int64_t(1)});
    bias =
        bias ? call(node, "aten.expand.default", {bias, List{Argument(channels), Argument(block)}})
             : nullptr;
    bias = bias ? contiguous(node, bias) : nullptr;
    return bias ? call(node, "aten.view.default", {bias, List{Argument(channels * block)}})
                : nullptr;
  }

  Value *contiguous(const Node &node, Value *value) {
    return value ? call(node, "aten.clone.default", {value},
                        {{"memory_format", Argument("contiguous_format")}})
                 : nullptr;
  }

  Program &program;
  const OperatorRegistry &registry;
};

} // namespace

size_t replaceIdioms(Program &program, const OperatorRegistry &registry) {
  return Idioms(program, registry).run();
}

} // namespace pellucid::passes
