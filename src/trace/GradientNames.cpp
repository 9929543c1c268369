// SPDX-License-Identifier: Apache-2.0
#include "trace/GradientNames.h"

#include "trace/EachTensor.h"
#include "trace/Gradients.h"

#include <algorithm>
#include <unordered_map>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

using Titles = std::unordered_map<std::string_view, std::string_view>;

const Titles titles = {
    {"aminmax", "AminmaxBackward0"},
    {"addcdiv", "AddcdivBackward0"},
    {"addmv", "AddmvBackward0"},
    {"adaptive_avg_pool2d", "AdaptiveAvgPool2DBackward0"},
    {"adaptive_max_pool2d", "AdaptiveMaxPool2DBackward0"},
    {"avg_pool2d", "AvgPool2DBackward0"},
    {"baddbmm", "BaddbmmBackward0"},
    {"binary_cross_entropy", "BinaryCrossEntropyBackward0"},
    {"binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogitsBackward0"},
    {"batch_norm", "NativeBatchNormBackward0"},
    {"cdist", "CdistBackward0"},
    {"celu", "CeluBackward0"},
    {"cross", "LinalgCrossBackward0"},
    {"cummax", "CummaxBackward0"},
    {"cummin", "CumminBackward0"},
    {"deg2rad", "Deg2RadBackward0"},
    {"diag", "DiagonalBackward0_copy"},
    {"diag_embed", "DiagEmbedBackward0"},
    {"diagonal", "DiagonalBackward0"},
    {"digamma", "DigammaBackward0"},
    {"dist", "DistBackward0"},
    {"dot", "DotBackward0"},
    {"erfinv", "ErfinvBackward0"},
    {"flip", "FlipBackward0"},
    {"fold", "Col2ImBackward0"},
    {"frac", "FracBackward0"},
    {"glu", "GluBackward0"},
    {"grid_sample", "GridSampler2DBackward0"},
    {"group_norm", "NativeGroupNormBackward0"},
    {"hardshrink", "HardshrinkBackward0"},
    {"huber_loss", "HuberLossBackward0"},
    {"kthvalue", "KthvalueBackward0"},
    {"lgamma", "LgammaBackward0"},
    {"log1p", "Log1PBackward0"},
    {"logaddexp", "LogaddexpBackward0"},
    {"logcumsumexp", "LogcumsumexpBackward0"},
    {"logit", "LogitBackward0"},
    {"logsigmoid", "LogSigmoidBackward0"},
    {"masked_scatter", "MaskedScatterBackward0"},
    {"masked_select", "MaskedSelectBackward0"},
    {"max_pool2d", "MaxPool2DWithIndicesBackward0"},
    {"mm", "MmBackward0"},
    {"mse_loss", "MseLossBackward0"},
    {"mv", "MvBackward0"},
    {"nan_to_num", "NanToNumBackward0"},
    {"nansum", "NansumBackward0"},
    {"norm", "LinalgVectorNormBackward0"},
    {"pdist", "PdistBackward0"},
    {"pixel_shuffle", "PixelShuffleBackward0"},
    {"prelu", "PreluKernelBackward0"},
    {"put", "PutBackward0"},
    {"renorm", "RenormBackward0"},
    {"roll", "RollBackward0"},
    {"rot90", "Rot90Backward0"},
    {"selu", "EluBackward0"},
    {"sgn", "SgnBackward0"},
    {"sinc", "SincBackward0"},
    {"smooth_l1_loss", "SmoothL1LossBackward0"},
    {"softshrink", "SoftshrinkBackward0"},
    {"std_mean", "StdMeanBackward0"},
    {"take", "TakeBackward0"},
    {"threshold", "ThresholdBackward0"},
    {"trace", "TraceBackward0"},
    {"tril", "TrilBackward0"},
    {"triu", "TriuBackward0"},
    {"unfold", "UnfoldBackward0"},
    {"var_mean", "VarMeanBackward0"},
    {"vector_norm", "LinalgVectorNormBackward0"},
    {"xlogy", "XlogyBackward0"}};

size_t rankOf(const h::CallArgs &args, size_t place) {
  auto *tensor =
      place < args.positional.size() ? args.positional[place].as<TensorObject>() : nullptr;
  return tensor ? tensor->tensor.type.rank() : 0;
}

/// Products are shown by their operands' ranks; a bias is another operator.
std::string_view titleOfProduct(std::string_view name, const h::CallArgs &args) {
  size_t first = rankOf(args, 0), second = rankOf(args, 1);
  if (name == "linear")
    return first == 2 && args.positional.size() == 2 && args.keywords.empty() ? "MmBackward0" : "";
  if (first == 2 && second == 2)
    return "MmBackward0";
  if (first == 1 && second == 1)
    return "DotBackward0";
  if (first == 2 && second == 1)
    return "MvBackward0";
  return first == 1 && second == 2 ? "SqueezeBackward4" : "";
}

/// Of targets that are classes, each with all of its weight.
std::string_view titleOfClasses(const h::CallArgs &args) {
  auto *target = args.positional.size() > 1 ? args.positional[1].as<TensorObject>() : nullptr;
  if (!target || isFloat(target->tensor.type.dtype) || args.keyword("label_smoothing") ||
      args.positional.size() > 7)
    return "";
  return rankOf(args, 0) > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
}

std::string_view titleOf(std::string_view name, const h::CallArgs &args) {
  bool isAlone = args.positional.size() == 1 && args.keywords.empty();
  if (name == "nll_loss" || name == "cross_entropy")
    return titleOfClasses(args);
  // Over all elements and along a dim are two formulas of PyTorch's.
  if (name == "max" || name == "min" || name == "median") {
    bool isMedian = name == "median";
    return isAlone    ? (isMedian        ? "MedianBackward0"
                         : name == "max" ? "MaxBackward1"
                                         : "MinBackward1")
           : isMedian ? "MedianBackward1"
                      : "";
  }
  if (name == "lerp")
    return args.positional.size() == 3 && args.positional[2].as<TensorObject>() ? "LerpBackward1"
                                                                                : "LerpBackward0";
  if (name == "pad")
    return args.positional.size() == 2 && !args.keyword("mode") ? "ConstantPadNdBackward0" : "";
  if (name == "matmul" || name == "linear")
    return titleOfProduct(name, args);
  auto known = titles.find(name);
  return known == titles.end() ? std::string_view() : known->second;
}

const autograd::Node *nodeOf(const TensorObject &tensor) {
  return tensor.meta ? tensor.meta->source.node.get() : nullptr;
}

} // namespace

NamedGradients::NamedGradients(std::string_view name, const h::CallArgs &args) {
  if (name.starts_with("aten."))
    name.remove_prefix(5);
  std::string_view found = titleOf(name, args);
  if (found.empty())
    return;
  title = found;
  forEachTensor<true>(args,
                      [&](const TensorObject &tensor) { operands.push_back(nodeOf(tensor)); });
}

h::Value NamedGradients::operator()(const h::Value &result) const {
  if (!title.empty())
    forEachTensor<true>(result, [&](TensorObject &tensor) {
      // What is given back is its operand's.
      if (const autograd::Node *node = nodeOf(tensor); node && !std::ranges::count(operands, node))
        showGradientAs(tensor, title);
    });
  return result;
}

} // namespace pellucid::trace
