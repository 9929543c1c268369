// SPDX-License-Identifier: Apache-2.0
#include "trace/Autocast.h"

#include "trace/EachTensor.h"
#include "trace/TensorCalls.h"
#include "trace/TorchSources.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace pellucid::trace {

namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

namespace {

using CastNames = std::set<std::string, std::less<>>;

CastNames namesIn(const char *text) {
  std::istringstream words(text);
  CastNames out;
  for (std::string word; words >> word;)
    out.insert(word);
  return out;
}

/// What becomes of an operator's floats: `lower` computes in autocast's type, `single` in float32,
/// `widest` in the widest type that it is given, `result` gives float32 of what is narrower.
struct Lists {
  CastNames lower, single, widest, result;
};

const Lists &listsOf(const std::string &device) {
  static const Lists cpu = {
      namesIn(
          "_convolution addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d "
          "conv_transpose2d conv_transpose3d linalg_vecdot linear matmul mm prelu "
          "scaled_dot_product_attention"),
      namesIn(
          "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy "
          "binary_cross_entropy_with_logits cdist cholesky_inverse cholesky_solve "
          "cosine_embedding_loss cross_entropy cross_entropy_loss ctc_loss "
          "fractional_max_pool2d fractional_max_pool3d geqrf grid_sample grid_sampler "
          "grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss inverse kl_div l1_loss "
          "margin_ranking_loss max_pool3d max_unpool2d max_unpool3d mse_loss multi_margin_loss "
          "multilabel_margin_loss nanquantile nll_loss nll_loss2d pinverse poisson_nll_loss prod "
          "quantile reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d "
          "replication_pad3d smooth_l1_loss soft_margin_loss svd trace triangular_solve "
          "triplet_margin_loss linalg_inv linalg_solve linalg_svd linalg_qr linalg_cholesky"),
      namesIn("cat stack index_copy"),
      {}};
  static const Lists cuda = {
      namesIn(
          "_convolution convolution addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d "
          "conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d einsum gru_cell "
          "linalg_multi_dot linalg_vecdot linear lstm_cell matmul mm mv prelu rnn_relu_cell "
          "rnn_tanh_cell scaled_dot_product_attention"),
      namesIn(
          "acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss "
          "cosine_similarity cross_entropy cross_entropy_loss dist erfinv exp expm1 group_norm "
          "hinge_embedding_loss huber_loss kl_div l1_loss layer_norm native_layer_norm log log10 "
          "log1p log2 logsumexp margin_ranking_loss mse_loss multi_margin_loss "
          "multilabel_margin_loss nll_loss nll_loss2d norm nuclear_norm pdist poisson_nll_loss pow "
          "reciprocal renorm rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss softplus tan "
          "triplet_margin_loss upsample_bicubic2d upsample_bilinear2d upsample_linear1d "
          "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d "
          "interpolate"),
      namesIn(
          "addcdiv addcmul atan2 bilinear cross dot grid_sample grid_sampler index_put scatter_add "
          "tensordot vdot"),
      namesIn("cumprod cumsum linalg_matrix_norm linalg_vector_norm log_softmax prod softmax sum")};
  return device == "cuda" ? cuda : cpu;
}

bool isCast(const TensorObject &tensor) {
  DataType type = tensor.tensor.type.dtype;
  return isFloat(type) && type != DataType::Float64;
}

h::Value castValue(h::Interpreter &interpreter, const h::Value &value, DataType type,
                   bool &changed) {
  if (auto *tensor = value.as<TensorObject>()) {
    if (!isCast(*tensor) || tensor->tensor.type.dtype == type)
      return value;
    changed = true;
    return castTo(*tensor, interpreter, type);
  }
  if (!value.isSequence())
    return value;
  h::List list;
  for (const h::Value &element : value.elements())
    list.push_back(castValue(interpreter, element, type, changed));
  return value.isTuple() ? h::Value::tuple(std::move(list)) : h::Value::list(std::move(list));
}

std::optional<h::CallArgs> castAll(h::Interpreter &interpreter, const h::CallArgs &args,
                                   DataType type) {
  bool changed = false;
  h::CallArgs out = args;
  for (h::Value &value : out.positional)
    value = castValue(interpreter, value, type, changed);
  for (auto &[key, value] : out.keywords)
    value = castValue(interpreter, value, type, changed);
  return changed ? std::optional(std::move(out)) : std::nullopt;
}

/// The device of the first tensor, where autocast is enabled for it.
std::string castingDevice(h::Interpreter &interpreter, const h::CallArgs &args) {
  TensorObject *first = nullptr;
  forEachTensor(args, [&](TensorObject &tensor) { first = first ? first : &tensor; });
  if (!first)
    return {};
  std::string device = interpreter.str(interpreter.getAttr(selfOf(*first), "device"));
  device = device.substr(0, device.find(':'));
  auto state = interpreter.dispatch.autocast.find(device);
  return state != interpreter.dispatch.autocast.end() && state->second.first ? device
                                                                             : std::string();
}

} // namespace

std::optional<h::CallArgs> autocastArguments(h::Interpreter &interpreter, const std::string &name,
                                             const h::CallArgs &args) {
  auto &dispatch = interpreter.dispatch;
  if (dispatch.autocast.empty() || dispatch.autocastHandled)
    return std::nullopt;
  std::string device = castingDevice(interpreter, args);
  if (device.empty())
    return std::nullopt;
  std::string packet = name.starts_with("aten.") ? name.substr(5) : name;
  packet = packet.substr(0, packet.find('.'));
  const Lists &lists = listsOf(device);
  if (device == "cuda" && packet == "binary_cross_entropy")
    interpreter.raise("RuntimeError",
                      "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss "
                      "are unsafe to autocast; use binary_cross_entropy_with_logits");
  if (lists.lower.count(packet))
    return castAll(interpreter, args, dispatch.autocast.at(device).second);
  if (lists.single.count(packet))
    return castAll(interpreter, args, DataType::Float32);
  if (lists.widest.count(packet)) {
    DataType widest = DataType::Float16;
    bool isFirst = true;
    forEachTensor(args, [&](TensorObject &tensor) {
      DataType type = tensor.tensor.type.dtype;
      if (isCast(tensor) && (isFirst || (type != widest)))
        widest = isFirst ? type : DataType::Float32, isFirst = false;
    });
    return isFirst ? std::nullopt : castAll(interpreter, args, widest);
  }
  if (!lists.result.count(packet) || args.keyword("dtype"))
    return std::nullopt;
  bool isNarrow = false;
  forEachTensor(args, [&](TensorObject &tensor) {
    isNarrow |= isCast(tensor) && byteSize(tensor.tensor.type.dtype) < 4;
  });
  if (!isNarrow)
    return std::nullopt;
  h::CallArgs out = args;
  out.keywords.emplace_back("dtype", dtypeValue(DataType::Float32));
  return out;
}

std::optional<h::CallArgs> autocastArguments(h::Interpreter &interpreter, const h::Operator &op,
                                             const h::CallArgs &args) {
  if (op.autocast.empty() || interpreter.dispatch.autocast.empty() ||
      interpreter.dispatch.autocastHandled)
    return std::nullopt;
  std::string device = castingDevice(interpreter, args);
  auto given = op.autocast.find(device);
  auto *type = given == op.autocast.end() ? nullptr : given->second.as<h::DType>();
  return type ? castAll(interpreter, args, type->type) : std::nullopt;
}

namespace {

h::Value autocastState(h::Interpreter &interpreter, Bound &a) {
  auto found = interpreter.dispatch.autocast.find(interpreter.toStr(a[0], "device_type"));
  if (found == interpreter.dispatch.autocast.end())
    return h::Value::tuple({h::Value(false), h::Value()});
  return h::Value::tuple({h::Value(found->second.first), dtypeValue(found->second.second)});
}

h::Value setAutocast(h::Interpreter &interpreter, Bound &a) {
  std::string device = interpreter.toStr(a[0], "device_type");
  auto *type = a[2].as<h::DType>();
  if (type)
    interpreter.dispatch.autocast[device] = {interpreter.truth(a[1]), type->type};
  else
    interpreter.dispatch.autocast.erase(device);
  return {};
}

/// torch.nn.functional's function, with its arguments as autocast casts them.
h::Value castingFunction(const std::string &name, const h::Value &function) {
  return h::nativeRaw("torch.nn.functional." + name,
                      [name, function](h::Interpreter &i, h::CallArgs args) {
                        auto cast = autocastArguments(i, name, args);
                        if (i.dispatch.autocast.empty() || i.dispatch.autocastHandled)
                          return i.call(function, std::move(args));
                        AutocastHandled handled(i);
                        return i.call(function, cast ? std::move(*cast) : std::move(args));
                      });
}

} // namespace

void addAutocast(h::NativeModules &modules) {
  modules.add("torch._pellucid_amp", [](h::Interpreter &interpreter, h::Module &module) {
    interpreter.nativeModule("torch");
    auto source = interpreter.importSource("torch_amp_source",
                                           std::make_shared<SourceFile>("<torch.amp>", ampSource));
    source->globals->set("_autocast_state",
                         h::native("_autocast_state", "device_type", autocastState));
    source->globals->set("_set_autocast",
                         h::native("_set_autocast", "device_type, enabled, dtype", setAutocast));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.nn.functional", [](h::Interpreter &, h::Module &module) {
    const Lists &cpu = listsOf("cpu"), &cuda = listsOf("cuda");
    std::vector<std::pair<std::string, h::Value>> wrapped;
    for (const auto &[name, value] : module.globals->items())
      if (value.as<h::Function>() &&
          (cpu.single.count(name) || cuda.single.count(name) || cpu.lower.count(name)))
        wrapped.emplace_back(name, castingFunction(name, value));
    for (const auto &[name, value] : wrapped)
      module.globals->set(name, value);
  });
  auto lend = [&](const char *target, std::vector<std::pair<std::string, std::string>> names) {
    modules.add(target, [names](h::Interpreter &, h::Module &module) {
      for (const auto &[name, source] : names)
        module.globals->erase(name);
      auto next = module.fallback;
      module.fallback = [next, names](h::Interpreter &interpreter,
                                      std::string_view wanted) -> std::optional<h::Value> {
        for (const auto &[name, source] : names)
          if (name == wanted)
            return *interpreter.nativeModule("torch._pellucid_amp")->globals->find(source);
        return next ? next(interpreter, wanted) : std::nullopt;
      };
    });
  };
  auto same = [](std::vector<std::string> names) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const std::string &name : names)
      out.emplace_back(name, name);
    return out;
  };
  lend("torch", same({"autocast", "is_autocast_enabled", "is_autocast_cpu_enabled",
                      "get_autocast_dtype", "get_autocast_gpu_dtype", "get_autocast_cpu_dtype",
                      "set_autocast_enabled", "set_autocast_dtype", "is_autocast_available"}));
  lend("torch.amp",
       same({"autocast", "GradScaler", "custom_fwd", "custom_bwd", "is_autocast_available"}));
  for (const char *name : {"torch.amp.autocast_mode", "torch.amp.grad_scaler"})
    lend(name, same({"autocast", "GradScaler", "custom_fwd", "custom_bwd"}));
  lend("torch.cuda.amp", {{"autocast", "_cuda_autocast"},
                          {"GradScaler", "GradScaler"},
                          {"custom_fwd", "custom_fwd"},
                          {"custom_bwd", "custom_bwd"}});
  lend("torch.cpu.amp", {{"autocast", "_cpu_autocast"}, {"GradScaler", "GradScaler"}});
}

} // namespace pellucid::trace
