// SPDX-License-Identifier: Apache-2.0
// One launch of one kernel as a program.
#include "host/MadeKernels.h"
#include "support/NearNames.h"
#include "trace/ModelTrace.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

/// `maker.kernel`, a kernel that a function makes.
static std::optional<h::Value> madeKernel(h::Interpreter &interpreter, const h::Module &module,
                                          const std::string &name) {
  for (const h::MadeKernel &made : h::kernelsMadeByFunctions(*module.syntax))
    if (made.name() == name || made.kernel->name == name)
      return h::makeKernel(interpreter, module, made);
  return std::nullopt;
}

/// `kernel`, or `Class.kernel`, of a file.
static h::Value kernelOf(h::Interpreter &interpreter, const h::Module &module,
                         const std::string &path, const std::string &name) {
  size_t dot = name.find('.');
  const h::Value *found = module.globals->find(name.substr(0, dot));
  std::optional<h::Value> kernel = found ? std::optional(*found) : std::nullopt;
  if (kernel && dot == std::string::npos)
    throwIfUnusable(*kernel);
  // What stands before the dot may be a maker that a decorator of a test library was put around.
  if (kernel && dot != std::string::npos && kernel->as<h::Class>())
    kernel = interpreter.findAttr(*kernel, name.substr(dot + 1));
  else if (dot != std::string::npos)
    kernel.reset();
  if (!kernel)
    kernel = madeKernel(interpreter, module, name);
  SourceLocation where(path + ":" + name);
  if (kernel && h::isKernel(*kernel))
    return *kernel;
  // What a decorator of the file's own made of it.
  if (auto inside = kernel ? h::kernelDefined(interpreter, module, name) : nullptr)
    return h::Value(inside);
  if (kernel)
    throw DiagnosticError(where, "'" + name + "' is not a @triton.jit kernel");
  std::vector<std::string> known;
  for (const auto &[global, value] : module.globals->items())
    if (h::isKernel(value))
      known.push_back(global);
  throw DiagnosticError(where, "the file defines no '" + name + "'" + suggestName(name, known));
}

/// The kernel without what its decorators would choose and the launch says itself: tuners of whose
/// configs it gives every argument, and single heuristics.
static h::Value undecided(const h::Value &kernel, const std::set<std::string> &given) {
  auto isGiven = [&](const auto &entry) { return given.count(entry.first.str()) != 0; };
  if (auto *tuner = kernel.as<h::Autotuner>()) {
    h::Value inner = undecided(tuner->fn, given);
    bool decided =
        std::all_of(tuner->configs.begin(), tuner->configs.end(), [&](const auto &config) {
          const auto &set = config->kwargs.dictionary().items();
          return std::all_of(set.begin(), set.end(), isGiven);
        });
    if (decided)
      return inner;
    auto copy = std::make_shared<h::Autotuner>(*tuner);
    copy->fn = inner;
    return h::Value(copy);
  }
  if (auto *heuristics = kernel.as<h::Heuristics>()) {
    auto copy = std::make_shared<h::Heuristics>(*heuristics);
    copy->fn = undecided(heuristics->fn, given);
    h::Dict left;
    for (const auto &entry : heuristics->values.dictionary().items())
      if (!isGiven(entry))
        left.set(entry.first, entry.second);
    copy->values = h::Value::dict(std::move(left));
    return h::Value(copy);
  }
  return kernel;
}

/// Whether the warning stands at one of the kernel's decorators.
static bool isAbout(const Diagnostic &warning, const h::JitFunction &kernel) {
  const auto &decorators = kernel.def().decoratorList;
  return warning.location.file == kernel.location().file &&
         std::any_of(decorators.begin(), decorators.end(), [&](const auto &decorator) {
           return decorator->range.line <= warning.location.range.line &&
                  warning.location.range.line <= decorator->range.endLine;
         });
}

Program traceLaunch(const std::string &path, const std::string &kernelName,
                    const std::vector<int64_t> &grid, const std::vector<LaunchValue> &arguments,
                    const std::vector<std::string> &roots, std::optional<int32_t> numWarps,
                    std::optional<int32_t> numStages,
                    std::optional<std::pair<std::string, uint32_t>> stopAt,
                    const std::function<void(const Diagnostic &)> &warn) {
  std::vector<Diagnostic> warnings;
  TraceOptions options;
  options.roots = roots;
  options.defersMissingImports = true;
  options.warn = [&](Diagnostic warning) { warnings.push_back(std::move(warning)); };
  ModelTrace trace(SymbolTable(), options);
  trace.hooks.stopAt = std::move(stopAt);
  h::Value kernel =
      kernelOf(*trace.interpreter, *trace.interpreter->importFile(path), path, kernelName);
  auto jit = h::innermostKernel(kernel);
  std::vector<std::string> parameters;
  for (const auto &parameter : jit->parameters)
    parameters.push_back(parameter.name);
  trace.tracer.endConstruction();
  h::CallArgs args;
  args.location = jit->location();
  for (const LaunchValue &argument : arguments) {
    if (!jit->parameter(argument.name))
      throw DiagnosticError(SourceLocation("--arg " + argument.name),
                            "'" + kernelName + "' has no parameter '" + argument.name + "'" +
                                suggestName(argument.name, parameters));
    if (!argument.tensor) {
      args.keywords.emplace_back(argument.name, argument.value);
      continue;
    }
    TracedTensor tensor = trace.tracer.placeholder(argument.name, *argument.tensor);
    InputSpec spec;
    spec.name = argument.name;
    trace.tracer.program.inputs.push_back(spec);
    trace.userInputs.emplace_back(argument.name, tensor.storage);
    args.keywords.emplace_back(argument.name, tensorValue(trace.tracer, tensor));
  }
  if (numWarps)
    args.keywords.emplace_back("num_warps", h::Value(static_cast<int64_t>(*numWarps)));
  if (numStages)
    args.keywords.emplace_back("num_stages", h::Value(static_cast<int64_t>(*numStages)));
  std::set<std::string> given;
  for (const LaunchValue &argument : arguments)
    given.insert(argument.name);
  kernel = undecided(kernel, given);
  h::Tuple sizes(grid.begin(), grid.end());
  // What other kernels of the files say is not of this launch.
  size_t before = warnings.size();
  try {
    trace.hooks.launch(*trace.interpreter, kernel, h::Value::tuple(std::move(sizes)),
                       std::move(args), false);
  } catch (DiagnosticError &error) {
    for (const Diagnostic &warning : warnings)
      if (isAbout(warning, *jit))
        error.diagnostic.note(warning.location, warning.message);
    throw DiagnosticError(error.diagnostic);
  }
  for (size_t i = 0; warn && i < warnings.size(); ++i)
    if (i >= before || isAbout(warnings[i], *jit))
      warn(warnings[i]);
  std::vector<Argument> outputs;
  for (const auto &[name, storage] : trace.userInputs)
    if (storage->version > 0) {
      outputs.push_back(Argument(storage->base));
      trace.tracer.program.outputs.push_back({OutputSpec::Kind::UserInputMutation, name});
    }
  trace.tracer.program.main.output(std::move(outputs));
  return std::move(trace.tracer.program);
}

} // namespace pellucid::trace
