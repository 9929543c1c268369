// SPDX-License-Identifier: Apache-2.0
#include "trace/TraceHooks.h"

#include "trace/Autocast.h"
#include "trace/EagerRecorder.h"
#include "trace/GuardedPaths.h"
#include "trace/HostDescriptor.h"
#include "trace/OperatorCall.h"
#include "trace/ReadSizes.h"
#include "trace/TensorCalls.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

void TraceHooks::follow(Tracer *next) {
  uint64_t identity = next ? next->identity : 0;
  if (followed != identity)
    kernels.reset();
  tracer = next;
  followed = identity;
}

void TraceHooks::warn(Diagnostic warning) {
  if (tracer && warned.insert(render(warning)).second)
    tracer->warn(std::move(warning));
}

bool TraceHooks::merges(const Expr &condition) {
  if (!tracer->mergesBranches || tracer->path || tracer->askedSymbols ||
      tracer->symbols().prove(condition))
    return false;
  tracer->merged = true;
  return true;
}

bool TraceHooks::decide(h::Interpreter &interpreter, const Expr &condition,
                        const SourceLocation &where) {
  if (auto known = tracer->symbols().prove(condition))
    return *known;
  if (tracer->path)
    return tracer->path->decide(condition);
  if (tracer->askedSymbols) {
    for (const std::string &name : condition.symbols())
      tracer->askedSymbols->insert(name);
    throw UndecidedCondition();
  }
  return followExample(interpreter, condition, where);
}

bool TraceHooks::followExample(h::Interpreter &interpreter, const Expr &condition,
                               const SourceLocation &where) {
  if (mentionsRead(*tracer, condition))
    interpreter.refuse(
        where, "this branch depends on a size that values decide, known only when the "
               "program runs: '" +
                   condition.text() + "' holds for some of its values and not for others (" +
                   rangesText(condition) +
                   "); keep to what holds for all of them, or say with torch._check "
                   "what is known of it");
  std::string text = "'" + condition.text() + "' holds for some sizes and not for others (" +
                     rangesText(condition) + ")";
  auto value = tracer->symbols().hint(condition);
  if (tracer->strict || !value)
    interpreter.refuse(where, "this branch depends on a dynamic dim: " + text +
                                  "; a strict export must decide it for the whole range, so "
                                  "narrow the range or write it without a branch");
  auto narrow = [&](const std::string &name, auto change) {
    symbolic::SymbolInfo info = *tracer->symbols().find(name);
    change(info);
    tracer->program.symbols.declare(name, info);
  };
  auto multiples = multiplesWhere(condition, *value != 0, tracer->symbols());
  auto kept = multiples ? std::map<std::string, symbolic::Range>()
                        : rangesWhere(condition, *value != 0, tracer->symbols());
  if (!kept)
    interpreter.refuse(where, "this branch depends on dynamic dims in a way whose sizes cannot be "
                              "told apart: " +
                                  text + "; narrow the range or write it without a branch");
  if (multiples)
    narrow(multiples->first, [&](symbolic::SymbolInfo &info) { info.divisor = multiples->second; });
  for (const auto &[name, range] : *kept)
    narrow(name, [&range](symbolic::SymbolInfo &info) { info.range = range; });
  tracer->followed.emplace_back(condition, *value != 0);
  tracer->warn(Diagnostic(Severity::Warning, where,
                          "the branch taken is the example's: " + text + "; the program is for " +
                              rangesText(condition)));
  return *value != 0;
}

std::string TraceHooks::rangesText(const Expr &condition) const {
  std::string text;
  for (const std::string &name : condition.symbols())
    if (const auto *info = tracer->symbols().find(name))
      text += (text.empty() ? "" : ", ") + name + " in " + std::to_string(info->range.min) + ".." +
              std::to_string(info->range.max) +
              (info->divisor > 1 ? " that are multiples of " + std::to_string(info->divisor) : "");
  return text;
}

/// As a strict export of PyTorch records it.
bool TraceHooks::assertsLater(h::Interpreter &interpreter, const h::Value &test,
                              const std::function<std::string()> &message) {
  auto *tensor = test.as<TensorObject>();
  if (!tensor)
    return false;
  std::optional<int64_t> count = tensor->tensor.type.numel().constant();
  if (count == 1 && knownNumbers(*tensor, interpreter))
    return false;
  if (count && *count != 1)
    interpreter.raise("RuntimeError",
                      *count ? "Boolean value of Tensor with more than one value is ambiguous"
                             : "Boolean value of Tensor with no values is ambiguous");
  std::string words;
  try {
    words = message();
  } catch (const DiagnosticError &) { // it shows values that are only known when it fails
  }
  // torch._assert and its kin are written with `assert`: the place is where the model calls them.
  SourceLocation where = interpreter.location();
  for (const SourceLocation &site : interpreter.callStack())
    if (where.file && where.file->path().starts_with("<"))
      where = site;
  tensor->tracer.call("aten._assert_async.msg",
                      {Argument(tensor->tracer.valueOf(tensor->tensor, where)),
                       Argument(words.empty() ? std::string("assertion error") : words)},
                      {}, {&tensor->tensor}, where);
  return true;
}

/// Addresses are given to kernels as numbers.
static void addressesAsNumbers(h::CallArgs &args) {
  for (h::Value &value : args.positional)
    value = addressNumber(value).value_or(value);
  for (auto &[name, value] : args.keywords)
    value = addressNumber(value).value_or(value);
}

/// Scalars that change from launch to launch are loaded by the kernel. What decorators compute with
/// arguments, and constexprs, they stay.
static void numbersAsOperands(Tracer &tracer, const h::Value &kernel, h::CallArgs &args) {
  auto *jit = kernel.as<h::JitFunction>();
  if (!jit)
    return;
  auto lift = [&](const h::JitFunction::Parameter &parameter, size_t position, h::Value &value) {
    bool isOne = value.isInt() && value.integer() == 1;
    bool isWide = value.isInt() && (value.integer() > INT32_MAX || value.integer() < INT32_MIN);
    if (parameter.isConstexpr || parameter.annotation || isOne || isWide)
      return;
    if (auto operand = numberAsOperand(tracer, jit->name(), position, value, args.location))
      value = *operand;
  };
  for (size_t i = 0; i < std::min(args.positional.size(), jit->parameters.size()); ++i)
    lift(jit->parameters[i], i, args.positional[i]);
  for (auto &[name, value] : args.keywords)
    for (size_t i = 0; i < jit->parameters.size(); ++i)
      if (jit->parameters[i].name == name)
        lift(jit->parameters[i], i, value);
}

/// As Triton says of memory that a kernel on a device cannot reach.
static void refuseHostTensors(h::Interpreter &interpreter, const h::CallArgs &args) {
  auto check = [&](const h::Value &value, size_t position) {
    auto *tensor = value.as<TensorObject>();
    if (tensor && tensor->tensor.storage->isPlaced &&
        tensor->tensor.storage->device.kind == Device::Kind::Cpu)
      interpreter.raise("ValueError", "Pointer argument (at " + std::to_string(position) +
                                          ") cannot be accessed from Triton (cpu tensor?)");
  };
  size_t position = 0;
  for (const h::Value &value : args.positional)
    check(value, position++);
  for (const auto &[name, value] : args.keywords)
    check(value, position++);
}

/// A kernel runs where its tensors are.
static void launchBesideTensors(Tracer &tracer, h::Interpreter &interpreter,
                                const h::CallArgs &args) {
  std::vector<h::Value> tensors;
  auto add = [&](const h::Value &value) {
    if (value.as<TensorObject>())
      tensors.push_back(value);
    else if (auto base = describedTensor(value))
      tensors.push_back(*base);
  };
  for (const h::Value &value : args.positional)
    add(value);
  for (const auto &[name, value] : args.keywords)
    add(value);
  std::optional<Device> device = deviceOfTensors(tensors);
  if (!device)
    return;
  tracer.recorder->computeOn(*device);
  if (device->kind == Device::Kind::Cuda)
    refuseHostTensors(interpreter, args);
  bool isOnGpu = tracer.devices->placeOf(*device).kind == Device::Kind::Cuda;
  tracer.chooseConfig = isOnGpu ? tracer.devices->chooseConfig : ConfigChooser();
}

/// What `kernel[grid](...)` gives a script: of the compiled kernel it is asked for, if at all.
class LaunchHandle : public h::Object {
public:
  LaunchHandle(h::Value k, const h::CallArgs &args) : kernel(std::move(k)) {
    for (const auto &[name, value] : args.keywords)
      if (name == "num_warps" || name == "num_stages" || name == "num_ctas")
        options.emplace_back(name, value);
  }
  std::string typeName() const override { return "CompiledKernel"; }
  std::optional<h::Value> getAttr(h::Interpreter &interpreter, std::string_view name) override {
    auto module = interpreter.nativeModule("triton._script_driver");
    if (!module)
      return std::nullopt;
    if (made.isNone()) {
      h::CallArgs call;
      call.positional = {kernel};
      call.keywords = options;
      made = interpreter.call(interpreter.getAttr(h::Value(module), "CompiledKernel"),
                              std::move(call));
    }
    return interpreter.findAttr(made, name);
  }

private:
  h::Value kernel, made;
  std::vector<std::pair<std::string, h::Value>> options;
};

static bool lastLaunchHasEffects(const Program &program) {
  for (const Node *node = program.main.back(); node; node = node->previous())
    if (node->isLaunch())
      return hasEffects(*node, program);
  return false;
}

h::Value TraceHooks::launch(h::Interpreter &interpreter, const h::Value &kernel,
                            const h::Value &grid, h::CallArgs args, bool) {
  if (!kernels) {
    kernels = std::make_unique<KernelTable>(*tracer, interpreter);
    if (stopAt)
      kernels->stopAt(stopAt->first, stopAt->second);
  }
  if (isEager(*tracer)) {
    addressesAsNumbers(args);
    if (tracer->devices && tracer->devices->areUsed)
      launchBesideTensors(*tracer, interpreter, args);
    tracer->recorder->beforeOperator(args.location);
    numbersAsOperands(*tracer, kernel, args);
  }
  std::optional<EagerRecorder::Placed> placed;
  if (isEager(*tracer))
    placed.emplace(*tracer->recorder, tracer->recorder->device());
  bool prints = recordLaunch(*tracer, *kernels, interpreter, kernel, grid, args);
  if (isEager(*tracer) && lastLaunchHasEffects(tracer->program))
    tracer->recorder->noteAssertion();
  // Its lines come before those that the script prints next.
  if (prints && isEager(*tracer))
    tracer->recorder->flush();
  if (!interpreter.options().script)
    return h::Value();
  return h::Value(std::make_shared<LaunchHandle>(kernel, args));
}

void TraceHooks::settle(h::Interpreter &) {
  if (tracer && isEager(*tracer))
    tracer->recorder->settle();
}

h::Value TraceHooks::callOperator(h::Interpreter &interpreter,
                                  const std::shared_ptr<h::Operator> &op, h::CallArgs args) {
  if (auto cast = autocastArguments(interpreter, *op, args)) {
    AutocastHandled handled(interpreter);
    return callOperator(interpreter, op, std::move(*cast));
  }
  // In a script it is a function: what it calls is recorded.
  return callDifferentiably(*tracer, interpreter, *op, args, [&] {
    return isEager(*tracer) ? runOperator(*tracer, interpreter, *op, args)
                            : recordOperatorCall(*tracer, interpreter, *op, args);
  });
}

} // namespace pellucid::trace
