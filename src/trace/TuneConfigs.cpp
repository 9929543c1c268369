// SPDX-License-Identifier: Apache-2.0
#include "trace/TuneConfigs.h"

#include "trace/BindLaunch.h"
#include "trace/HostDescriptor.h"
#include "trace/KernelLaunch.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <map>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// The tuner that decides first, the outermost one; null without one.
h::Autotuner *tunerOf(const h::Value &kernel) {
  h::Value layer = kernel;
  while (auto *decorator = layer.as<h::KernelDecorator>()) {
    if (auto *tuner = layer.as<h::Autotuner>())
      return tuner;
    layer = decorator->fn;
  }
  return nullptr;
}

/// The kernel with its outermost tuner left one config, without what runs before a launch, which
/// is not timed; `runsHooks`: with it, since it gives descriptors their blocks.
h::Value withConfig(const h::Value &kernel, const h::Config &chosen, bool runsHooks) {
  if (auto *tuner = kernel.as<h::Autotuner>()) {
    auto config = std::make_shared<h::Config>(chosen);
    if (!runsHooks)
      config->preHook = h::Value();
    auto copy = std::make_shared<h::Autotuner>(*tuner);
    copy->configs = {config};
    copy->pruneConfigsBy = h::Value();
    return h::Value(copy);
  }
  auto rebuilt = [&](const auto &layer) {
    auto copy = std::make_shared<std::decay_t<decltype(layer)>>(layer);
    copy->fn = withConfig(layer.fn, chosen, runsHooks);
    return h::Value(copy);
  };
  if (auto *heuristics = kernel.as<h::Heuristics>())
    return rebuilt(*heuristics);
  if (auto *unread = kernel.as<h::UnreadDecorator>())
    return rebuilt(*unread);
  return kernel;
}

/// Host values of one trace at its example sizes, their tensors as inputs of a program of one
/// launch.
class ExampleLaunch {
public:
  ExampleLaunch(const Tracer &o, h::Interpreter &i, const SourceLocation &w)
      : outer(o), interpreter(i), where(w) {
    tracer.assumedDevice = outer.assumedDevice;
    for (const std::string &name : outer.symbols().names())
      if (auto hint = outer.symbols().find(name)->hint)
        sizes.emplace(name, Expr(*hint));
  }

  h::Value at(const h::Value &raw) {
    h::Value value = h::unwrapConstexpr(raw);
    if (value.isSymInt())
      return h::Value::integer(known(value.symInt()));
    if (value.isSymBool())
      return h::Value::condition(known(value.symBool()));
    if (value.isTuple()) {
      h::Tuple elements;
      for (const h::Value &element : value.tuple())
        elements.push_back(at(element));
      return h::Value::tuple(std::move(elements));
    }
    if (auto *tensor = value.as<TensorObject>())
      return tensorValue(tracer, tensorAt(tensor->tensor));
    if (isHostDescriptor(value))
      return mappedDescriptor(value, [this](const h::Value &held) { return at(held); });
    if (value.as<h::SymFloat>())
      interpreter.refuse(where, "a number that is computed when the program runs");
    return raw;
  }

  h::CallArgs at(const h::CallArgs &args) {
    h::CallArgs call;
    call.location = where;
    for (const h::Value &value : args.positional)
      call.positional.push_back(at(value));
    for (const auto &[name, value] : args.keywords)
      call.keywords.emplace_back(name, at(value));
    return call;
  }

  /// The grid's sizes may be made from dynamic dims that the launch does not see.
  h::Value gridAt(const h::Value &grid) {
    if (!grid.isObject() || !grid.object()->isCallable())
      return listAt(grid);
    return h::nativeRaw("grid", [this, grid](h::Interpreter &i, h::CallArgs call) {
      return listAt(i.call(grid, std::move(call)));
    });
  }

  Program launch(const h::Value &kernel, const h::Value &grid, const h::CallArgs &args) {
    KernelTable kernels(tracer, interpreter);
    recordLaunch(tracer, kernels, interpreter, kernel, gridAt(grid), at(args));
    std::vector<Argument> outputs;
    for (const auto &[storage, input] : inputs)
      if (input.storage->version > 0) {
        outputs.push_back(Argument(input.storage->base));
        tracer.program.outputs.push_back({OutputSpec::Kind::UserInputMutation, names.at(storage)});
      }
    tracer.program.main.output(std::move(outputs));
    return std::move(tracer.program);
  }

private:
  Expr known(const Expr &expr) {
    Expr value = symbolic::substitute(expr, sizes);
    if (!value.constant())
      interpreter.refuse(where, "'" + expr.text() + "' has no example size");
    return value;
  }

  TensorType typeAt(TensorType type) {
    for (std::vector<Expr> *list : {&type.shape, &type.strides})
      for (Expr &size : *list)
        size = known(size);
    type.offset = known(type.offset);
    return type;
  }

  TracedTensor tensorAt(const TracedTensor &tensor) {
    TracedStorage *storage = tensor.storage.get();
    if (!inputs.count(storage)) {
      InputSpec spec;
      spec.name = "tensor_" + std::to_string(inputs.size());
      inputs.emplace(storage, tracer.placeholder(spec.name, typeAt(storage->type)));
      names.emplace(storage, spec.name);
      tracer.program.inputs.push_back(spec);
    }
    TracedTensor view = inputs.at(storage);
    view.type = typeAt(tensor.type);
    if (!(view.type == view.storage->type))
      view.value = nullptr;
    return view;
  }

  h::Value listAt(const h::Value &value) {
    if (!value.isSequence())
      return at(value);
    h::Tuple sizes;
    for (const h::Value &size : value.elements())
      sizes.push_back(at(size));
    return h::Value::tuple(std::move(sizes));
  }

  const Tracer &outer;
  h::Interpreter &interpreter;
  SourceLocation where;
  std::map<std::string, Expr> sizes;
  Tracer tracer;
  std::map<const TracedStorage *, TracedTensor> inputs;
  std::map<const TracedStorage *, std::string> names;
};

/// What Triton keeps a choice under.
std::string keyOf(const h::Autotuner &tuner, const BoundLaunch &bound) {
  std::string key;
  auto add = [&](const std::string &part) { key += (key.empty() ? "" : ", ") + part; };
  for (const std::string &name : tuner.key) {
    auto given = bound.values.find(name);
    if (given != bound.values.end() && !given->second.as<TensorObject>())
      add(name + "=" + h::repr(given->second));
  }
  for (const auto &parameter : bound.kernel->parameters) {
    auto given = bound.values.find(parameter.name);
    if (given == bound.values.end())
      continue;
    h::Value base = describedTensor(given->second).value_or(given->second);
    if (auto *tensor = base.as<TensorObject>())
      add(std::string(info(tensor->tensor.type.dtype).cli));
  }
  return key;
}

/// What a script's tuner keeps its choice under; empty where it is asked anew.
std::optional<h::Value> keptUnder(const Tracer &tracer, const h::Autotuner &tuner,
                                  const BoundLaunch &bound) {
  if (!tracer.recorder)
    return std::nullopt;
  h::Tuple key;
  for (const std::string &name : tuner.key) {
    auto given = bound.values.find(name);
    if (given == bound.values.end() || !bound.kernel->parameter(name))
      continue;
    h::Value value = h::unwrapConstexpr(given->second);
    if (value.isSymInt() || value.isSymBool() || value.isList() || value.isDict() ||
        (value.isObject() && !value.as<h::DType>()))
      return std::nullopt;
    key.push_back(std::move(value));
  }
  for (const auto &parameter : bound.kernel->parameters) {
    auto given = bound.values.find(parameter.name);
    if (given == bound.values.end())
      continue;
    h::Value base = describedTensor(given->second).value_or(given->second);
    if (auto *tensor = base.as<TensorObject>())
      key.push_back(h::Value("torch." + std::string(info(tensor->tensor.type.dtype).torch)));
  }
  return h::Value::tuple(std::move(key));
}

/// Null: no config is known to be better than the first that pruning leaves.
std::shared_ptr<h::Config> fastestConfig(Tracer &tracer, h::Interpreter &interpreter,
                                         const LaunchBinder &binder, const h::Autotuner &tuner,
                                         const h::Value &kernel, const h::Value &grid,
                                         const h::CallArgs &args) {
  TuneQuestion question;
  question.kernel = binder.given().kernel->name();
  question.where = binder.location();
  std::vector<h::Value> configs;
  try {
    ExampleLaunch example(tracer, interpreter, question.where);
    LaunchBinder bound(interpreter, kernel, example.at(args));
    configs = bound.pruned(tuner, bound.given());
    question.key = keyOf(tuner, bound.given());
  } catch (const DiagnosticError &error) {
    tracer.warn(Diagnostic(Severity::Warning, question.where,
                           "the configs of '" + question.kernel +
                               "' are not timed, the first is taken: " + error.diagnostic.message));
    return nullptr;
  }
  const auto &given = binder.given().values;
  bool describes = std::any_of(given.begin(), given.end(),
                               [](const auto &one) { return isHostDescriptor(one.second); });
  question.source = h::sourceOf(*binder.given().kernel->function);
  for (const h::Value &config : configs)
    question.configs.push_back(h::repr(config));
  if (configs.size() < 2)
    return nullptr;
  question.launchWith = [&](size_t i) {
    ExampleLaunch example(tracer, interpreter, question.where);
    return example.launch(withConfig(kernel, *configs[i].as<h::Config>(), describes), grid, args);
  };
  return configs.at(tracer.chooseConfig(question)).shared<h::Config>();
}

} // namespace

void tuneLaunch(Tracer &tracer, h::Interpreter &interpreter, LaunchBinder &binder,
                const h::Value &kernel, const h::Value &grid, const h::CallArgs &args) {
  h::Autotuner *tuner = tunerOf(kernel);
  if (!tuner || tuner->configs.size() < 2)
    return;
  std::optional<h::Value> key = keptUnder(tracer, *tuner, binder.given());
  if (key)
    if (const h::Value *known = tuner->cache.dictionary().find(*key))
      return binder.take(*tuner, known->shared<h::Config>());
  std::shared_ptr<h::Config> config;
  if (tracer.chooseConfig)
    config = fastestConfig(tracer, interpreter, binder, *tuner, kernel, grid, args);
  if (config)
    binder.prefer(config);
  else if (key)
    config = binder.pruned(*tuner, binder.given()).front().shared<h::Config>();
  if (!key || !config)
    return;
  tuner->cache.dictionary().set(*key, h::Value(config));
  binder.take(*tuner, config);
}

} // namespace pellucid::trace
