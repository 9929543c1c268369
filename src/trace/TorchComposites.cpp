// SPDX-License-Identifier: Apache-2.0
// Functions of torch that are written with its other operators, in the language that models are
// written in. Each is also a method of tensors where its first parameter is the tensor. Names with
// an underscore in front are their own.
#include "trace/ArchiveComplex.h"
#include "trace/AtenComposites.h"
#include "trace/Autocast.h"
#include "trace/EachTensor.h"
#include "trace/GradientNames.h"
#include "trace/MemoryFormats.h"
#include "trace/PytorchNames.h"
#include "trace/ReadSizes.h"
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

h::Value compositeNamed(h::Interpreter &interpreter, std::string_view name) {
  auto module = interpreter.nativeModule("torch._pellucid_composites");
  return *module->globals->find(name);
}

} // namespace

std::optional<h::Value> compositeFunction(h::Interpreter &interpreter, std::string_view name) {
  if (name.starts_with("_") && !name.starts_with("_foreach_"))
    return std::nullopt;
  auto module = interpreter.nativeModule("torch._pellucid_composites");
  const h::Value *found = module->globals->find(name);
  if (!found || !found->as<h::Function>())
    return std::nullopt;
  return *found;
}

/// `axis` and `keepdims` where the function has `dim` and `keepdim`: PyTorch takes numpy's names
/// everywhere.
static void renameFromNumpy(const h::Value &function, h::CallArgs &args) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"axis", "dim"}, {"keepdims", "keepdim"}, {"axis", "dims"}};
  auto *def = function.as<h::Function>();
  auto has = [&](std::string_view name) {
    auto isIt = [&](const auto &parameter) { return parameter->arg == name; };
    return std::ranges::any_of(def->parameters->args, isIt) ||
           std::ranges::any_of(def->parameters->kwonlyargs, isIt);
  };
  if (!def || !def->parameters)
    return;
  for (auto &[key, value] : args.keywords)
    for (auto [numpys, torchs] : names)
      if (key == numpys && !has(numpys) && has(torchs))
        key = torchs;
}

h::Value callComposite(h::Interpreter &interpreter, std::string_view name, const h::Value &function,
                       h::CallArgs args) {
  if (auto result = calledOnComplex(interpreter, std::string(name), args, false))
    return *result;
  renameFromNumpy(function, args);
  if (!interpreter.dispatch.autocast.empty())
    if (auto cast = autocastArguments(interpreter, std::string(name), args)) {
      AutocastHandled handled(interpreter);
      return callComposite(interpreter, name, function, std::move(*cast));
    }
  // Row-major operands give row-major results, save here.
  bool known = name != "einsum";
  std::set<const TracedStorage *> given;
  forEachTensor<true>(args, [&](TensorObject &object) {
    const TracedTensor &tensor = object.tensor;
    given.insert(tensor.storage.get());
    known =
        known && tensor.storage->stridesKnown && tensor.type.isContiguous(object.tracer.symbols());
  });
  NamedGradients named(name, args);
  h::Value first = args.positional.empty() ? h::Value() : args.positional.front();
  h::Value result = interpreter.call(function, std::move(args));
  forEachTensor<true>(result, [&](TensorObject &object) {
    const TracedTensor &tensor = object.tensor;
    if (!given.count(tensor.storage.get()) && tensor.type.rank() > 1)
      tensor.storage->stridesKnown = known && tensor.type.isContiguous(object.tracer.symbols());
  });
  auto *self = first.as<TensorObject>();
  return named(self ? inFormatOf(interpreter, name, *self, result) : result);
}

namespace {

/// What ATen has under a name that begins with its module's.
std::optional<h::Value> functionOfAten(h::Interpreter &interpreter, const std::string &name) {
  if (atenComposites(interpreter, "aten." + name).empty())
    return std::nullopt;
  h::Value ops = interpreter.getAttr(interpreter.importModule("torch"), "ops");
  return interpreter.getAttr(interpreter.getAttr(ops, "aten"), name);
}

/// torch.special: functions of torch under its names for them, and what ATen has of them alone.
std::optional<h::Value> specialFunction(h::Interpreter &interpreter, std::string_view name) {
  static const std::map<std::string_view, std::string_view> ofTorch = {
      {"digamma", "digamma"},
      {"erf", "erf"},
      {"erfc", "erfc"},
      {"erfinv", "erfinv"},
      {"exp2", "exp2"},
      {"expit", "sigmoid"},
      {"expm1", "expm1"},
      {"gammaln", "lgamma"},
      {"i0", "i0"},
      {"log1p", "log1p"},
      {"log_softmax", "log_softmax"},
      {"logit", "logit"},
      {"logsumexp", "logsumexp"},
      {"multigammaln", "mvlgamma"},
      {"polygamma", "polygamma"},
      {"psi", "digamma"},
      {"round", "round"},
      {"sinc", "sinc"},
      {"softmax", "softmax"},
      {"xlogy", "xlogy"},
  };
  if (auto it = ofTorch.find(name); it != ofTorch.end())
    return interpreter.getAttr(interpreter.importModule("torch"), std::string(it->second));
  return functionOfAten(interpreter, "special_" + std::string(name));
}

} // namespace

void addTorchComposites(h::NativeModules &modules) {
  modules.add("torch._pellucid_composites", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_composite_source",
        std::make_shared<SourceFile>("<torch>", std::string(compositeSource) + shapeSource +
                                                    lossSource + functionNameSource +
                                                    foreachSource));
    addSizeReads(*source);
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.return_types", [](h::Interpreter &, h::Module &module) {
    auto next = module.fallback;
    module.fallback = [next](h::Interpreter &i, std::string_view name) -> std::optional<h::Value> {
      if (!name.starts_with("_") && isPytorchName("torch.return_types", name))
        return i.call(compositeNamed(i, "_return_class"), {h::Value(name)});
      return next ? next(i, name) : std::nullopt;
    };
  });
  modules.add("torch.special", [](h::Interpreter &, h::Module &module) {
    auto next = module.fallback;
    module.fallback = [next](h::Interpreter &i, std::string_view name) -> std::optional<h::Value> {
      if (auto found = specialFunction(i, name))
        return found;
      return next ? next(i, name) : std::nullopt;
    };
  });
  modules.add("torch.linalg", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("vector_norm", compositeNamed(interpreter, "_vector_norm"));
    module.globals->set("norm", compositeNamed(interpreter, "_linalg_norm"));
    auto next = module.fallback;
    module.fallback = [next](h::Interpreter &i, std::string_view name) -> std::optional<h::Value> {
      if (auto found = name.starts_with("_") ? std::nullopt
                                             : functionOfAten(i, "linalg_" + std::string(name)))
        return found;
      return next ? next(i, name) : std::nullopt;
    };
  });
}

} // namespace pellucid::trace
