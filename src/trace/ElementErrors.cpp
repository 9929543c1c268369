// SPDX-License-Identifier: Apache-2.0
// What PyTorch raises for joins, indices, windows, reductions and operators of bits.
#include "trace/FailedCall.h"

#include <algorithm>
#include <map>

namespace pellucid::trace {

namespace {

Found catError(const FailedCall &call) {
  std::vector<const TensorType *> list = call.tensors("tensors");
  if (list.empty())
    return valueError("torch.cat(): expected a non-empty list of Tensors");
  int64_t dim = call.integer("dim").value_or(0);
  Sizes first = shapeOf(list.front());
  if (first.empty())
    return runtimeError("zero-dimensional tensor (at position 0) cannot be concatenated");
  if (dim < 0)
    dim += static_cast<int64_t>(first.size());
  for (size_t t = 1; t < list.size(); ++t) {
    Sizes next = shapeOf(list[t]);
    if (next.size() != first.size())
      return runtimeError("Tensors must have same number of dimensions: got " +
                          number(static_cast<int64_t>(first.size())) + " and " +
                          number(static_cast<int64_t>(next.size())));
    for (size_t d = 0; d < first.size(); ++d)
      if (static_cast<int64_t>(d) != dim && first[d] != next[d])
        return runtimeError("Sizes of tensors must match except in dimension " + number(dim) +
                            ". Expected size " + number(first[d]) + " but got size " +
                            number(next[d]) + " for tensor number " +
                            number(static_cast<int64_t>(t)) + " in the list.");
  }
  return std::nullopt;
}

Found stackError(const FailedCall &call) {
  std::vector<const TensorType *> list = call.tensors("tensors");
  if (list.empty())
    return runtimeError("stack expects a non-empty TensorList");
  for (size_t t = 1; t < list.size(); ++t)
    if (shapeOf(list[t]) != shapeOf(list.front()))
      return runtimeError("stack expects each tensor to be equal size, but got " +
                          bracketed(shapeOf(list.front())) + " at entry 0 and " +
                          bracketed(shapeOf(list[t])) + " at entry " +
                          number(static_cast<int64_t>(t)));
  return std::nullopt;
}

bool isIndex(DataType type) { return type == DataType::Int64 || type == DataType::Int32; }

Found gatherError(const FailedCall &call) {
  const TensorType *self = call.tensor("self"), *index = call.tensor("index");
  if (!self || !index)
    return std::nullopt;
  if (!isIndex(index->dtype))
    return runtimeError(call.name + "(): Expected dtype int" +
                        (call.name == "gather" ? "32/int64 for index" : "64 for index"));
  if (self->rank() != index->rank() && self->rank() && index->rank())
    return runtimeError("Index tensor must have the same number of dimensions as " +
                        std::string(call.name == "gather" ? "input" : "self") + " tensor");
  int64_t dim = call.integer("dim").value_or(0);
  Sizes have = shapeOf(self), want = shapeOf(index);
  dim += dim < 0 ? static_cast<int64_t>(have.size()) : 0;
  for (size_t d = 0; d < std::min(have.size(), want.size()); ++d)
    if (static_cast<int64_t>(d) != dim && want[d] > have[d])
      return runtimeError("Size does not match at dimension " + number(static_cast<int64_t>(d)) +
                          " expected index " + bracketed(want) + " to be no larger than self " +
                          bracketed(have) + " apart from dimension " + number(dim));
  return std::nullopt;
}

Found indexSelectError(const FailedCall &call) {
  const TensorType *index = call.tensor("index");
  if (!index)
    return std::nullopt;
  if (index->rank() > 1)
    return indexError("index_select(): Index is supposed to be a vector");
  if (!isIndex(index->dtype))
    return runtimeError("index_select(): Expected dtype int32 or int64 for index");
  return std::nullopt;
}

Found embeddingError(const FailedCall &call) {
  const TensorType *indices = call.tensor("indices"), *weight = call.tensor("weight");
  if (!indices || !weight)
    return std::nullopt;
  if (!isIndex(indices->dtype))
    return runtimeError("Expected tensor for argument #1 'indices' to have one of the following "
                        "scalar types: Long, Int; but got torch." +
                        scalarName(indices->dtype) +
                        "Tensor instead (while checking arguments for embedding)");
  if (weight->rank() != 2)
    return runtimeError("'weight' must be 2-D");
  return std::nullopt;
}

Found indexingError(const FailedCall &call) {
  const Argument *indices = call.at("indices");
  if (!indices || !indices->list())
    return std::nullopt;
  std::optional<Sizes> common;
  std::vector<Sizes> shapes;
  for (const Argument &element : *indices->list()) {
    Value *value = element.value();
    if (!value || !value->isTensor())
      continue;
    if (isFloat(value->type().dtype))
      return indexError("tensors used as indices must be long, int, byte or bool tensors");
    shapes.push_back(shapeOf(&value->type()));
  }
  for (const Sizes &shape : shapes) {
    if (common && broadcastError(*common, shape)) {
      std::string text;
      for (const Sizes &each : shapes)
        text += (text.empty() ? "" : ", ") + bracketed(each);
      return indexError("shape mismatch: indexing tensors could not be broadcast together with "
                        "shapes " +
                        text);
    }
    common = common ? broadcast(*common, shape) : shape;
  }
  return std::nullopt;
}

Found convolutionError(const FailedCall &call) {
  const TensorType *input = call.tensor("input"), *weight = call.tensor("weight");
  if (!input || !weight || call.name.find("transpose") != std::string::npos)
    return std::nullopt;
  Sizes x = shapeOf(input), w = shapeOf(weight);
  auto spatial = w.size() >= 2 ? w.size() - 2 : 0;
  if (w.size() < 3)
    return std::nullopt;
  if (x.size() != w.size() && x.size() + 1 != w.size())
    return runtimeError("Expected " + number(static_cast<int64_t>(spatial + 1)) +
                        "D (unbatched) or " + number(static_cast<int64_t>(spatial + 2)) +
                        "D (batched) input to conv" + number(static_cast<int64_t>(spatial)) +
                        "d, but got input of size: " + bracketed(x));
  int64_t groups = call.integer("groups").value_or(1);
  size_t channels = x.size() - spatial - 1;
  if (w[0] < groups)
    return runtimeError("Given groups=" + number(groups) + ", expected weight to be at least " +
                        number(groups) + " at dimension 0, but got weight of size " + bracketed(w) +
                        " instead");
  if (x[channels] != w[1] * groups)
    return runtimeError("Given groups=" + number(groups) + ", weight of size " + bracketed(w) +
                        ", expected input" + bracketed(x) + " to have " + number(w[1] * groups) +
                        " channels, but got " + number(x[channels]) + " channels instead");
  if (input->dtype != weight->dtype)
    return runtimeError("Input type (" + cName(input->dtype) + ") and weight type (" +
                        cName(weight->dtype) + ") should be the same");
  auto padding = call.integers("padding"), dilation = call.integers("dilation");
  if (!padding || !dilation || padding->empty() || dilation->empty())
    return std::nullopt;
  Sizes padded, kernel;
  bool fits = true;
  for (size_t d = 0; d < spatial; ++d) {
    padded.push_back(x[channels + 1 + d] + 2 * (*padding)[std::min(d, padding->size() - 1)]);
    kernel.push_back((*dilation)[std::min(d, dilation->size() - 1)] * (w[2 + d] - 1) + 1);
    fits = fits && kernel.back() <= padded.back();
  }
  if (!fits)
    return runtimeError("Calculated padded input size per channel: (" + listed(padded, " x ") +
                        "). Kernel size: (" + listed(kernel, " x ") +
                        "). Kernel size can't be greater than actual input size");
  return std::nullopt;
}

Found floatsError(const FailedCall &call);

Found layerNormError(const FailedCall &call) {
  const TensorType *input = call.tensor("input");
  auto normalized = call.integers("normalized_shape");
  if (!input || !normalized)
    return std::nullopt;
  if (!isFloat(input->dtype))
    return floatsError(call);
  Sizes have = shapeOf(input);
  bool ends = have.size() >= normalized->size() &&
              std::equal(normalized->rbegin(), normalized->rend(), have.rbegin());
  if (ends)
    return std::nullopt;
  std::string text = "[*, " + listed(*normalized) + "]";
  return runtimeError("Given normalized_shape=" + bracketed(*normalized) +
                      ", expected input with shape " + text + ", but got input of size" +
                      bracketed(have));
}

Found repeatError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto repeats = call.integers("repeats");
  if (self && repeats && repeats->size() < self->rank())
    return runtimeError("Number of dimensions of repeat dims can not be smaller than number of "
                        "dimensions of tensor");
  return std::nullopt;
}

Found topkError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  auto k = call.integer("k"), dim = call.integer("dim");
  if (!self || !k)
    return std::nullopt;
  Sizes shape = shapeOf(self);
  int64_t d = dim.value_or(-1) + (dim.value_or(-1) < 0 ? static_cast<int64_t>(shape.size()) : 0);
  int64_t size = shape.empty() ? 1 : shape.at(static_cast<size_t>(d));
  return *k < 0 || *k > size ? Found(runtimeError("selected index k out of range")) : std::nullopt;
}

Found extremeError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  const Argument *dim = call.at("dim");
  if (!self || product(shapeOf(self)) != 0)
    return std::nullopt;
  if (!dim || dim->isNone()) {
    if (call.name.starts_with("arg"))
      return indexError(call.name +
                        "(): Expected reduction dim to be specified for input.numel() == 0.");
    return runtimeError(call.name + "(): Expected reduction dim to be specified for "
                                    "input.numel() == 0. Specify the reduction dim with the 'dim' "
                                    "argument.");
  }
  if (auto along = call.integer("dim")) {
    Sizes shape = shapeOf(self);
    int64_t at = *along < 0 ? *along + static_cast<int64_t>(shape.size()) : *along;
    if (at >= 0 && at < static_cast<int64_t>(shape.size()) && shape[static_cast<size_t>(at)] == 0)
      return indexError(call.name + "(): Expected reduction dim " + number(at) +
                        " to have non-zero size.");
  }
  return std::nullopt;
}

Found meanError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  if (!self || isFloat(self->dtype))
    return std::nullopt;
  if (call.name == "mean")
    return notImplemented("mean(): could not infer output dtype. Input dtype must be either a "
                          "floating point or complex dtype. Got: " +
                          scalarName(self->dtype));
  return notImplemented("std and var only support floating point and complex dtypes");
}

/// Operators of floats alone, by what PyTorch calls their code.
Found floatsError(const FailedCall &call) {
  const TensorType *self = call.tensor("self");
  if (!self)
    self = call.tensor("input");
  if (!self || isFloat(self->dtype))
    return std::nullopt;
  static const std::map<std::string, std::string> codes = {
      {"gelu", "GeluKernelImpl"},
      {"silu", "silu_cpu"},
      {"mish", "mish_cpu"},
      {"elu", "elu_cpu"},
      {"softplus", "softplus_cpu"},
      {"hardswish", "hardswish_cpu"},
      {"hardsigmoid", "hardsigmoid_cpu"},
      {"softshrink", "softshrink_check"},
      {"hardshrink", "hardshrink_cpu"},
      {"log_sigmoid", "log_sigmoid_cpu"},
      {"leaky_relu", "leaky_relu_cpu"},
      {"glu", "glu_cpu"},
      {"layer_norm", "LayerNormKernelImpl"},
      {"rms_norm", "rms_norm"},
      {"native_group_norm", "GroupNormKernelImpl"}};
  std::string code;
  if (call.name == "softmax" || call.name == "log_softmax") {
    int64_t dim = call.integer("dim").value_or(-1), rank = static_cast<int64_t>(self->rank());
    bool isLast = rank == 0 || dim == -1 || dim == rank - 1;
    code = call.name + (isLast ? "_lastdim_kernel_impl" : "_kernel_impl");
  } else if (auto known = codes.find(call.name); known != codes.end()) {
    code = known->second;
  } else {
    return std::nullopt;
  }
  return notImplemented("\"" + code + "\" not implemented for '" + scalarName(self->dtype) + "'");
}

Found geluError(const FailedCall &call) {
  const Argument *way = call.at("approximate");
  if (way && way->string() && *way->string() != "none" && *way->string() != "tanh")
    return runtimeError("approximate argument must be either none or tanh.");
  return floatsError(call);
}

Found attentionError(const FailedCall &call) {
  const TensorType *query = call.tensor("query"), *key = call.tensor("key"),
                   *value = call.tensor("value");
  if (!query || !key || !value)
    return std::nullopt;
  for (const TensorType *each : {query, key, value})
    if (each->rank() < 2)
      return runtimeError("Expected query, key, and value to all be  at least 2 dimensional, but "
                          "got Query dim: " +
                          number(static_cast<int64_t>(query->rank())) +
                          ", Key dim: " + number(static_cast<int64_t>(key->rank())) +
                          ", Value dim: " + number(static_cast<int64_t>(value->rank())) +
                          " instead.");
  if (query->dtype != key->dtype || query->dtype != value->dtype)
    return runtimeError("Expected query, key, and value to have the same dtype, but got "
                        "query.dtype: " +
                        cName(query->dtype) + " key.dtype: " + cName(key->dtype) +
                        " and value.dtype: " + cName(value->dtype) + " instead.");
  Sizes q = shapeOf(query), k = shapeOf(key);
  if (q.back() != k.back()) {
    Sizes batch(q.begin(), q.end() - 2);
    int64_t count = product(batch);
    return runtimeError("Expected size for first two dimensions of batch2 tensor to be: [" +
                        number(count) + ", " + number(q.back()) + "] but got: [" + number(count) +
                        ", " + number(k.back()) + "].");
  }
  return std::nullopt;
}

Found bitsError(const FailedCall &call) {
  const TensorType *self = call.tensor("self"), *other = call.tensor("other");
  for (const TensorType *type : {self, other})
    if (type && isFloat(type->dtype)) {
      if (call.name == "bitwise_not")
        return OperandError{"TypeError",
                            "~ (operator.invert) is only implemented on integer and Boolean-type "
                            "tensors"};
      std::string code = call.name.starts_with("bitwise_left")    ? "lshift"
                         : call.name.starts_with("bitwise_right") ? "rshift"
                                                                  : call.name;
      return notImplemented("\"" + code + "_cpu\" not implemented for '" + scalarName(type->dtype) +
                            "'");
    }
  return std::nullopt;
}

Found boolError(const FailedCall &call) {
  const TensorType *self = call.tensor("self"), *other = call.tensor("other");
  bool isBool = self && self->dtype == DataType::Bool,
       byBool = other && other->dtype == DataType::Bool;
  if (!isBool && !byBool)
    return std::nullopt;
  if (call.name == "neg")
    return notImplemented("Negation, the `-` operator, on a bool tensor is not supported. If you "
                          "are trying to invert a mask, use the `~` or `logical_not()` operator "
                          "instead.");
  if (isBool && byBool)
    return notImplemented("Subtraction, the `-` operator, with two bool tensors is not supported. "
                          "Use the `^` or `logical_xor()` operator instead.");
  return notImplemented("Subtraction, the `-` operator, with a bool tensor is not supported. If "
                        "you are trying to invert a mask, use the `~` or `logical_not()` operator "
                        "instead.");
}

Found arangeError(const FailedCall &call) {
  const Argument *from = call.at("start"), *to = call.at("end"), *by = call.at("step");
  auto real = [](const Argument *value, double fallback) -> std::optional<double> {
    if (!value || value->isNone())
      return fallback;
    if (auto whole = value->integer())
      return whole->constant() ? std::optional<double>(static_cast<double>(*whole->constant()))
                               : std::nullopt;
    return value->as<double>();
  };
  std::optional<double> start = real(from, 0), end = real(to, 0), step = real(by, 1);
  if (!start || !end || !step)
    return std::nullopt;
  if (*step == 0)
    return runtimeError("step must be nonzero");
  if ((*end - *start) / *step < 0)
    return runtimeError("upper bound and lower bound inconsistent with step sign");
  return std::nullopt;
}

} // namespace

Found elementRule(const FailedCall &call) {
  using Rule = Found (*)(const FailedCall &);
  static const std::map<std::string, Rule> rules = {
      {"cat", catError},
      {"stack", stackError},
      {"gather", gatherError},
      {"scatter", gatherError},
      {"scatter_add", gatherError},
      {"index_select", indexSelectError},
      {"embedding", embeddingError},
      {"index", indexingError},
      {"conv1d", convolutionError},
      {"conv2d", convolutionError},
      {"conv3d", convolutionError},
      {"layer_norm", layerNormError},
      {"repeat", repeatError},
      {"topk", topkError},
      {"max", extremeError},
      {"min", extremeError},
      {"amax", extremeError},
      {"amin", extremeError},
      {"argmax", extremeError},
      {"argmin", extremeError},
      {"mean", meanError},
      {"std", meanError},
      {"var", meanError},
      {"neg", boolError},
      {"sub", boolError},
      {"arange", arangeError},
      {"bitwise_and", bitsError},
      {"bitwise_or", bitsError},
      {"bitwise_xor", bitsError},
      {"bitwise_not", bitsError},
      {"bitwise_left_shift", bitsError},
      {"bitwise_right_shift", bitsError},
      {"gelu", geluError},
      {"scaled_dot_product_attention", attentionError},
  };
  auto rule = rules.find(call.name);
  return rule == rules.end() ? floatsError(call) : rule->second(call);
}

} // namespace pellucid::trace
