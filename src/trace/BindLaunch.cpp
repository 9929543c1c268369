// SPDX-License-Identifier: Apache-2.0
#include "trace/BindLaunch.h"

#include <algorithm>

namespace pellucid::trace {

namespace h = pellucid::host;

bool isLaunchOption(const std::string &name) {
  static constexpr std::string_view options[] = {"num_warps",
                                                 "num_stages",
                                                 "num_ctas",
                                                 "maxnreg",
                                                 "enable_fp_fusion",
                                                 "launch_pdl",
                                                 "launch_cooperative_grid",
                                                 "waves_per_eu",
                                                 "matrix_instr_nonkdim",
                                                 "extern_libs",
                                                 "num_consumer_groups",
                                                 "num_buffers_warp_spec",
                                                 "num_cpu_threads",
                                                 "kpack",
                                                 "cluster_dims",
                                                 "ctas_per_cga",
                                                 "grid",
                                                 "warmup",
                                                 "debug"};
  return std::find(std::begin(options), std::end(options), name) != std::end(options);
}

LaunchBinder::LaunchBinder(h::Interpreter &i, const h::Value &k, const h::CallArgs &args)
    : interpreter(i), kernelValue(k), where(args.location.known() ? args.location : i.location()),
      kernel(h::innermostKernel(k)) {
  launch.kernel = kernel.get();
  bind(args);
}

void LaunchBinder::refuse(const std::string &message) const { interpreter.refuse(where, message); }

/// What Triton raises, so that a script may catch it; a model that is traced is refused in our
/// words.
void LaunchBinder::fail(const char *exception, const std::string &tritons,
                        const std::string &ours) const {
  if (!interpreter.options().script)
    refuse(ours);
  interpreter.raise(exception, tritons);
}

void LaunchBinder::bind(const h::CallArgs &args) {
  const auto &parameters = kernel->parameters;
  if (!kernel->rest.empty())
    refuse("kernel '" + kernel->name() + "' has a '*" + kernel->rest +
           "' parameter, so it is for kernels to call; what is launched takes a fixed list of "
           "parameters");
  positionalCount = args.positional.size();
  if (positionalCount > parameters.size())
    fail("TypeError",
         "dynamic_func() takes " + std::to_string(parameters.size()) +
             " positional arguments but " + std::to_string(positionalCount) + " were given",
         "'" + kernel->name() + "' takes " + std::to_string(parameters.size()) +
             " arguments, got " + std::to_string(positionalCount));
  for (size_t i = 0; i < positionalCount; ++i)
    launch.values[parameters[i].name] = args.positional[i];
  for (const auto &[name, value] : args.keywords) {
    bool isParameter = kernel->parameter(name) != nullptr;
    if (!isParameter && !isLaunchOption(name))
      fail("KeyError", "Keyword argument " + name + " was specified but unrecognised",
           "'" + kernel->name() + "' has no parameter '" + name +
               "', and it is not a launch option");
    if (isParameter && !launch.values.emplace(name, value).second)
      fail("TypeError", "dynamic_func() got multiple values for argument '" + name + "'",
           "'" + kernel->name() + "' got two values for '" + name + "'");
    if (isLaunchOption(name))
      launch.options[name] = value;
  }
}

bool LaunchBinder::hasHooks() const {
  for (h::Value layer = kernelValue; auto *decorator = layer.as<h::KernelDecorator>();
       layer = decorator->fn) {
    auto *tuner = layer.as<h::Autotuner>();
    if (!tuner || !tuner->pruneConfigsBy.isNone())
      return true;
  }
  return false;
}

h::Value LaunchBinder::asDict(const BoundLaunch &bound) const {
  h::Dict dict;
  for (const auto &parameter : kernel->parameters) {
    auto entry = bound.values.find(parameter.name);
    if (entry != bound.values.end())
      dict.set(h::Value(parameter.name), entry->second);
    else if (parameter.defaultValue)
      dict.set(h::Value(parameter.name), *parameter.defaultValue);
  }
  for (const auto &[name, value] : bound.options)
    dict.set(h::Value(name), value);
  return h::Value::dict(std::move(dict));
}

h::Value LaunchBinder::callHook(const h::Value &function, h::CallArgs call) const {
  call.location = where;
  return interpreter.call(function, std::move(call));
}

// --- autotune

void LaunchBinder::applyConfig(BoundLaunch &bound, std::shared_ptr<const h::Config> config) const {
  for (const auto &[key, value] : config->kwargs.dictionary().items()) {
    if (bound.values.count(key.str()) && launch.values.count(key.str()))
      fail("ValueError",
           "Conflicting meta-parameters: " + key.str() +
               ". Make sure that you don't re-define auto-tuned symbols.",
           "'" + key.str() +
               "' is given at the launch and set by the autotune config; give it in one place");
    if (kernel->parameter(key.str()))
      bound.values[key.str()] = value;
    else if (isLaunchOption(key.str()))
      bound.options.emplace(key.str(), value);
    else
      interpreter.refuse(config->location, "the config sets '" + key.str() +
                                               "', which is neither a parameter of '" +
                                               kernel->name() + "' nor a launch option");
  }
  for (const auto &[name, value] : config->options.items()) {
    if (!value.isNone() && !isLaunchOption(name))
      interpreter.refuse(config->location, "the config has no option '" + name + "'");
    if (!value.isNone())
      bound.options.emplace(name, value);
  }
  bound.config = std::move(config);
}

/// early_config_prune sees what was given by position as a dict, the rest as keywords.
std::vector<h::Value> LaunchBinder::pruned(const h::Autotuner &tuner,
                                           const BoundLaunch &bound) const {
  h::List configs;
  for (const auto &config : tuner.configs)
    configs.push_back(h::Value(config));
  auto hook = [&](std::string_view name) -> const h::Value * {
    const h::Value *found =
        tuner.pruneConfigsBy.isNone() ? nullptr : tuner.pruneConfigsBy.dictionary().find(name);
    return found && !found->isNone() ? found : nullptr;
  };
  if (const h::Value *early = hook("early_config_prune")) {
    h::CallArgs call;
    h::Dict byPosition;
    for (size_t i = 0; i < positionalCount; ++i)
      byPosition.set(h::Value(kernel->parameters[i].name),
                     bound.values.at(kernel->parameters[i].name));
    call.positional = {h::Value::list(configs), h::Value::dict(std::move(byPosition))};
    for (const auto &[name, value] : bound.values)
      if (!call.positional[1].dictionary().find(std::string_view(name)))
        call.keywords.emplace_back(name, value);
    for (const auto &[name, value] : bound.options)
      if (!bound.values.count(name))
        call.keywords.emplace_back(name, value);
    configs = interpreter.iterate(callHook(*early, std::move(call)));
    if (configs.empty())
      refuse("early_config_prune leaves no config for '" + kernel->name() + "'");
  }
  if (const h::Value *model = hook("perf_model"))
    configs = fastest(*model, std::move(configs), bound);
  return configs;
}

/// The configs by what the performance model makes of them, the fastest first.
std::vector<h::Value> LaunchBinder::fastest(const h::Value &model, std::vector<h::Value> configs,
                                            const BoundLaunch &bound) const {
  std::vector<std::pair<h::Value, h::Value>> timed;
  for (const h::Value &config : configs) {
    BoundLaunch with = bound;
    applyConfig(with, config.shared<h::Config>());
    h::CallArgs call;
    const h::Value arguments = asDict(with);
    for (const auto &[name, value] : arguments.dictionary().items())
      call.keywords.emplace_back(name.str(), value);
    timed.emplace_back(callHook(model, std::move(call)), config);
  }
  std::stable_sort(timed.begin(), timed.end(), [&](const auto &a, const auto &b) {
    return interpreter.truth(interpreter.compare(h::CompareOp::Lt, a.first, b.first));
  });
  for (size_t i = 0; i < timed.size(); ++i)
    configs[i] = timed[i].second;
  return configs;
}

std::shared_ptr<const h::Config> LaunchBinder::chooseConfig(const h::Autotuner &tuner,
                                                            const BoundLaunch &bound) const {
  if (tuner.configs.empty())
    refuse("'" + kernel->name() + "' has @triton.autotune without configs");
  if (&tuner == settled)
    return tuner.best = taken;
  std::vector<h::Value> left = pruned(tuner, bound);
  h::Value chosen = left.front();
  if (preferred)
    for (const h::Value &candidate : left)
      if (auto *config = candidate.as<h::Config>(); config && config->equals(*preferred))
        chosen = candidate;
  auto config = chosen.shared<h::Config>();
  if (!config)
    refuse("early_config_prune must return configs, got " + h::typeName(chosen));
  return tuner.best = config;
}

// --- heuristics

void LaunchBinder::applyHeuristics(BoundLaunch &bound, const h::Heuristics &heuristics) const {
  for (const auto &[key, function] : heuristics.values.dictionary().items()) {
    const std::string name = key.str();
    bool isParameter = kernel->parameter(name) != nullptr;
    if (!isParameter && !isLaunchOption(name))
      refuse("@triton.heuristics of '" + kernel->name() + "' sets '" + name +
             "', which is neither a parameter nor a launch option");
    h::CallArgs call;
    call.positional = {asDict(bound)};
    h::Value value = callHook(function, std::move(call));
    if (isParameter)
      bound.values[name] = value;
    if (isLaunchOption(name))
      bound.options[name] = value;
  }
}

/// A decorator that could not be evaluated is of no consequence where the launch says it all.
void LaunchBinder::refuseUnread(const BoundLaunch &bound,
                                const h::UnreadDecorator &decorator) const {
  std::string open;
  for (const auto &parameter : kernel->parameters)
    if (!bound.values.count(parameter.name))
      open += (open.empty() ? "'" : ", '") + parameter.name + "'";
  if (open.empty())
    return;
  Diagnostic refusal(Severity::Error, where,
                     "'@" + decorator.name + "' of '" + kernel->name() +
                         "' could not be evaluated, so what it chooses for " + open +
                         " is not known; give it at the launch");
  refusal.note(decorator.reason.location.known() ? decorator.reason.location
                                                 : decorator.decoratorLocation,
               decorator.reason.message);
  throw DiagnosticError(std::move(refusal));
}

/// Options that ask for something else than what is done without them.
void LaunchBinder::checkOptions(const BoundLaunch &bound) const {
  auto refuseOption = [&](const std::string &name, const h::Value &value, const char *why) {
    refuse("'" + name + "=" + h::repr(value) + "' of '" + kernel->name() + "' " + why);
  };
  for (const auto &[name, raw] : bound.options) {
    h::Value value = h::unwrapConstexpr(raw);
    if (name == "num_warps" && value.isInt() &&
        (value.integer() <= 0 || (value.integer() & (value.integer() - 1)) != 0))
      interpreter.raise("AssertionError", "num_warps of '" + kernel->name() +
                                              "' must be a power of 2, got " + h::repr(value));
    if (name == "grid" || name == "warmup")
      refuseOption(name, value, "is not an option of kernel[grid](...); leave it out");
    bool given = !value.isNone() && (value.isBool() ? value.boolean() : true);
    if (name == "launch_cooperative_grid" && given)
      refuseOption(name, value,
                   "lets programs wait for each other, which needs all of them to run at once; "
                   "launch one kernel per step");
    bool empty = value.isDict() && value.dictionary().size() == 0;
    if (name == "extern_libs" && given && !empty)
      refuseOption(name, value, "links libraries of the GPU's, which a package cannot hold");
    if (name == "enable_fp_fusion" && !value.isNone() && !interpreter.truth(value))
      refuseOption(name, value,
                   "asks that no product and sum of this kernel become one fma; leave it out and "
                   "compile with --no-fma, which is for all of them");
  }
}

/// Which of the decorator's configs it is, as `inspect` shows it.
static std::string originOf(const h::Autotuner &tuner, const h::Config &config) {
  auto same = [&](const std::shared_ptr<h::Config> &other) { return other->equals(config); };
  auto at = std::find_if(tuner.configs.begin(), tuner.configs.end(), same);
  return at == tuner.configs.end()
             ? "autotune config of early_config_prune"
             : "autotune config " + std::to_string(at - tuner.configs.begin());
}

/// As Triton's generated function says it, so that a script may catch it.
void LaunchBinder::raiseMissing(const std::vector<std::string> &names) const {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    bool isLast = i + 1 == names.size();
    list += (i == 0 ? "" : names.size() == 2 ? " and " : isLast ? ", and " : ", ");
    list += "'" + names[i] + "'";
  }
  interpreter.raise("TypeError", "dynamic_func() missing " + std::to_string(names.size()) +
                                     " required positional argument" +
                                     (names.size() > 1 ? "s: " : ": ") + list + " (of kernel '" +
                                     kernel->name() + "')");
}

BoundLaunch LaunchBinder::decorated(BoundLaunch bound) const {
  for (h::Value layer = kernelValue; auto *decorator = layer.as<h::KernelDecorator>();
       layer = decorator->fn) {
    if (auto *tuner = layer.as<h::Autotuner>()) {
      applyConfig(bound, chooseConfig(*tuner, bound));
      bound.origin = originOf(*tuner, *bound.config);
    } else if (auto *heuristics = layer.as<h::Heuristics>())
      applyHeuristics(bound, *heuristics);
    else if (auto *unread = layer.as<h::UnreadDecorator>())
      refuseUnread(bound, *unread);
  }
  std::vector<std::string> missing;
  for (const auto &parameter : kernel->parameters) {
    if (bound.values.count(parameter.name))
      continue;
    if (auto option = bound.options.find(parameter.name); option != bound.options.end())
      bound.values[parameter.name] = option->second;
    else if (parameter.defaultValue)
      bound.values[parameter.name] = *parameter.defaultValue;
    else if (interpreter.options().script)
      missing.push_back(parameter.name);
    else
      refuse("'" + kernel->name() + "' needs an argument for '" + parameter.name + "'");
  }
  if (!missing.empty())
    raiseMissing(missing);
  checkOptions(bound);
  return bound;
}

} // namespace pellucid::trace
