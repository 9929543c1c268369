// SPDX-License-Identifier: Apache-2.0
// Calls outside of any trace: one program per operator or launch and kind of arguments, compiled
// once and kept.
#include "api/Session.h"

#include "driver/Compile.h"
#include "package/PackageWriter.h"

#include <cstring>

namespace pellucid::api {

using namespace graph;
namespace h = pellucid::host;
using detail::PackageState;

// --- packages
std::shared_ptr<PackageState> compileAndLoad(const Program &program,
                                             const CompileOptions &options) {
  driver::CompileOptions compile;
  compile.fuseIntoKernels = options.fuse_into_kernels;
  compile.tf32 = options.tf32_convolutions;
  compile.tf32Products = options.tf32_products;
  compile.worker = options.worker;
  compile.keepIr = false;
  std::string error;
  if (!parseTargets(options.target, compile.targets, error))
    throw Error("target '" + options.target + "': " + error);
  // Only this machine's level is of use to a package that never leaves it.
  if (auto host = hostCpuLevel(); host && options.target == "cpu")
    compile.targets = {{Target::Kind::Cpu, *host, 0}};
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, compile, contents, report, diagnostics))
    throw Error(diagnostics.text());
  auto state = std::make_shared<PackageState>();
  if (package::Status status = package::packageBytes(contents, state->bytes); !status.ok())
    throw Error(status.message());
  if (pellucid_load_memory(state->bytes.data(), state->bytes.size(), nullptr, &state->package) !=
      PELLUCID_OK)
    throw Error(pellucid_last_error());
  return state;
}

// Recorded tensors are refused as well: a package may write to what it is given.
void checkOutsideOfTraces(const TensorState &state) {
  if (isTraced(state))
    throw Error("a package cannot be run inside of a trace");
  if (state.recording)
    throw Error("a package takes tensors in memory, and this one is recorded (it requires grad, or "
                "was computed from one that does); give its values()");
}

std::vector<Tensor> runPackage(const PackageState &package, const std::vector<Tensor> &inputs,
                               pellucid_instance *instance, const pellucid_run_options *options) {
  std::vector<DLTensor> tensors;
  for (const Tensor &input : inputs) {
    const TensorState &s = stateOf(input, "an input");
    checkOutsideOfTraces(s);
    tensors.push_back(borrowTensor(s));
  }
  std::vector<DLManagedTensorVersioned *> outputs(pellucid_output_count(package.package));
  pellucid_status status = instance
                               ? pellucid_instance_run(instance, tensors.data(), tensors.size(),
                                                       outputs.data(), outputs.size(), options)
                               : pellucid_run(package.package, tensors.data(), tensors.size(),
                                              outputs.data(), outputs.size(), options);
  if (status != PELLUCID_OK)
    throw Error(pellucid_last_error());
  std::vector<Tensor> results;
  for (DLManagedTensorVersioned *output : outputs)
    results.push_back(adoptTensor(output));
  return results;
}

// --- eager plans
namespace {

/// What one kind of call does: the package's outputs and views of its inputs, in the order of the
/// results.
struct EagerPlan {
  struct Result {
    std::optional<size_t> viewOf; ///< an input
    std::vector<int64_t> shape, strides;
    int64_t offset = 0;
  };
  std::shared_ptr<PackageState> package; ///< null: nothing to compute
  std::vector<Result> results;
};

/// The distinct tensors of a call and the text that tells its kind.
class CallSignature {
public:
  explicit CallSignature(std::string name) : text(std::move(name)) {}
  std::string text;
  std::vector<Tensor> tensors;

  void add(const std::vector<Argument> &arguments, const triton::Keywords &keywords) {
    for (const Argument &argument : arguments)
      add(argument);
    for (const auto &[name, argument] : keywords) {
      text += " " + name + "=";
      add(argument);
    }
  }

  void add(const Argument &argument) {
    text += "|" + std::to_string(argument.index()) + ":";
    std::visit([&](const auto &value) { append(value); }, argument);
  }

  size_t indexOf(const Tensor &tensor) const {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (isSame(*tensors[i].state, *tensor.state))
        return i;
    return tensors.size();
  }

private:
  static bool isSame(const TensorState &a, const TensorState &b) {
    return a.data == b.data && a.type == b.type && a.shape == b.shape && a.strides == b.strides;
  }
  void append(std::monostate) {}
  void append(bool v) { text += v ? "true" : "false"; }
  void append(int64_t v) { text += std::to_string(v); }
  void append(double v) {
    uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    text += std::to_string(bits);
  }
  void append(const std::string &v) { text += std::to_string(v.size()) + "'" + v; }
  void append(dtype v) { text += std::to_string(static_cast<int>(v)); }
  void append(const SymInt &v) { text += v.text(); }
  void append(const Tensor &v) {
    if (!v.state) {
      text += "none";
      return;
    }
    const TensorState &s = stateOf(v, "an argument");
    size_t index = indexOf(v);
    if (index == tensors.size())
      tensors.push_back(v);
    text += std::to_string(index) + info(s.type).cli.data();
    for (size_t d = 0; d < s.shape.size(); ++d)
      text += "," + std::to_string(s.shape[d]) + "/" + std::to_string(s.strides[d]);
  }
  template <typename T> void append(const std::vector<T> &v) {
    text += "[" + std::to_string(v.size());
    for (const T &element : v) {
      text += ";";
      append(element);
    }
  }
};

/// `argument` with the tensors that hold data replaced by the inputs that stand for them.
Argument traced(const Argument &argument, const CallSignature &signature,
                const std::vector<Tensor> &inputs) {
  auto replace = [&](const Tensor &tensor) {
    return tensor.state ? inputs[signature.indexOf(tensor)] : tensor;
  };
  if (auto *tensor = std::get_if<Tensor>(&argument))
    return replace(*tensor);
  if (auto *list = std::get_if<std::vector<Tensor>>(&argument)) {
    std::vector<Tensor> out;
    for (const Tensor &tensor : *list)
      out.push_back(replace(tensor));
    return out;
  }
  return argument;
}

using Record = std::function<std::vector<Tensor>(Recording &, const std::vector<Argument> &,
                                                 const triton::Keywords &)>;

int64_t known(const Expr &expr) { return expr.constant().value(); }

EagerPlan makePlan(const CallSignature &signature, const std::vector<Argument> &arguments,
                   const triton::Keywords &keywords, const Record &record) {
  auto recording = std::make_shared<Recording>();
  Recording::Scope scope(*recording);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const TensorState &s = *signature.tensors[i].state;
    TensorType type(s.type, std::vector<Expr>(s.shape.begin(), s.shape.end()));
    if (!isRowMajor(s))
      type.strides.assign(s.strides.begin(), s.strides.end());
    inputs.push_back(recording->addInput("arg" + std::to_string(i), type));
  }
  std::vector<Argument> tracedArguments;
  for (const Argument &argument : arguments)
    tracedArguments.push_back(traced(argument, signature, inputs));
  triton::Keywords tracedKeywords;
  for (const auto &[name, argument] : keywords)
    tracedKeywords.emplace_back(name, traced(argument, signature, inputs));
  EagerPlan plan;
  std::vector<Tensor> computed;
  for (const Tensor &tensor : record(*recording, tracedArguments, tracedKeywords)) {
    const trace::TracedTensor &t = tensor.state->object->tensor;
    EagerPlan::Result result;
    size_t which = 0;
    if (recording->isInputMemory(t.storage.get(), which)) {
      result.viewOf = which;
      for (size_t d = 0; d < t.type.rank(); ++d) {
        result.shape.push_back(known(t.type.shape[d]));
        result.strides.push_back(known(t.type.strides[d]));
      }
      result.offset = known(t.type.offset);
    } else {
      computed.push_back(tensor);
    }
    plan.results.push_back(std::move(result));
  }
  if (computed.empty() && !recording->wroteInputs())
    return plan;
  recording->finish(computed);
  CompileOptions options;
  options.fuse_into_kernels = false;
  plan.package = compileAndLoad(recording->tracer.program, options);
  return plan;
}

std::shared_ptr<const EagerPlan> planFor(const CallSignature &signature,
                                         const std::function<EagerPlan()> &make) {
  static std::mutex lock;
  static std::map<std::string, std::shared_ptr<const EagerPlan>> plans;
  {
    std::lock_guard guard(lock);
    if (auto entry = plans.find(signature.text); entry != plans.end())
      return entry->second;
  }
  auto plan = std::make_shared<const EagerPlan>(make());
  std::lock_guard guard(lock);
  return plans.try_emplace(signature.text, plan).first->second;
}

std::vector<Tensor> runEagerly(const std::string &name, const std::vector<Argument> &arguments,
                               const triton::Keywords &keywords, const Record &record) {
  CallSignature signature(name);
  signature.add(arguments, keywords);
  auto plan = planFor(signature, [&] { return makePlan(signature, arguments, keywords, record); });
  std::vector<Tensor> computed, results;
  if (plan->package)
    computed = runPackage(*plan->package, signature.tensors);
  size_t next = 0;
  for (const EagerPlan::Result &result : plan->results) {
    if (!result.viewOf) {
      results.push_back(computed.at(next++));
      continue;
    }
    TensorState view = *signature.tensors[*result.viewOf].state;
    view.shape = result.shape;
    view.strides = result.strides;
    view.data += result.offset * static_cast<int64_t>(byteSize(view.type));
    results.push_back(wrapState(std::move(view)));
  }
  return results;
}

/// `aten::softmax.int` -> `aten.softmax.int`.
std::string targetOf(const std::string &name) {
  size_t colons = name.find("::");
  if (colons == std::string::npos)
    throw Error("operator name '" + name + "' has no namespace; write 'aten::" + name + "'");
  return name.substr(0, colons) + "." + name.substr(colons + 2);
}

} // namespace

std::vector<Tensor> recordBuiltin(Recording &recording, const std::string &target,
                                  const std::vector<Argument> &arguments,
                                  const triton::Keywords &keywords) {
  h::Interpreter &interpreter = recording.interpreter();
  h::CallArgs args = recording.toHost(arguments, keywords);
  if (target.starts_with("torch.")) {
    h::Value function = interpreter.importModule(target.substr(0, target.rfind('.')));
    return recording.fromHost(interpreter.call(
        interpreter.getAttr(function, target.substr(target.rfind('.') + 1)), std::move(args)));
  }
  bool inPlace = target.size() > 6 && target.back() == '_' && target.rfind("aten.", 0) == 0;
  if (!inPlace)
    return recording.fromHost(trace::callAten(recording.tracer, interpreter, target, args));
  if (args.positional.empty())
    throw Error("operator '" + target + "' writes into its first argument, and there is none");
  h::Value self = args.positional.front();
  args.positional.erase(args.positional.begin());
  return recording.fromHost(
      interpreter.call(interpreter.getAttr(self, target.substr(5)), std::move(args)));
}

void recordLaunch(Recording &recording, const detail::KernelState &kernel, const triton::Grid &grid,
                  const std::vector<Argument> &arguments, const triton::Keywords &keywords) {
  detail::FileState &file = *kernel.file;
  recording.sourceNames.merge(file.interpreter->sourceNames());
  h::Value hostGrid;
  if (grid.computed) {
    hostGrid = h::nativeRaw("grid", [&](h::Interpreter &, h::CallArgs args) {
      triton::Meta meta;
      for (const auto &[key, value] : args.positional.at(0).dictionary().items()) {
        h::Value plain = h::unwrapConstexpr(value);
        if (plain.isInt())
          meta.values[key.str()] = static_cast<int64_t>(plain.integer());
        else if (plain.isSymInt())
          meta.values[key.str()] = fromExpr(plain.symInt());
      }
      return recording.toHost(Argument(grid.computed(meta)));
    });
  } else {
    hostGrid = recording.toHost(Argument(grid.fixed));
  }
  file.hooks.follow(&recording.tracer);
  file.hooks.launch(*file.interpreter, kernel.kernel, hostGrid,
                    recording.toHost(arguments, keywords), true);
}

namespace {

/// A grid without its function: what the function gives for these arguments. Nothing for kernels
/// whose constexprs come from an autotune config or a heuristic.
std::optional<triton::Grid> fixedGrid(const detail::KernelState &kernel, const triton::Grid &grid,
                                      const std::vector<Argument> &arguments,
                                      const triton::Keywords &keywords) {
  if (!grid.computed)
    return grid;
  auto *jit = kernel.kernel.as<h::JitFunction>();
  if (!jit)
    return std::nullopt;
  triton::Meta meta;
  auto note = [&](const std::string &name, const Argument &value) {
    if (auto *integer = std::get_if<int64_t>(&value))
      meta.values[name] = *integer;
    else if (auto *size = std::get_if<SymInt>(&value))
      meta.values[name] = *size;
  };
  for (const auto &parameter : jit->parameters)
    if (parameter.defaultValue)
      if (h::Value plain = h::unwrapConstexpr(*parameter.defaultValue); plain.isInt())
        meta.values[parameter.name] = static_cast<int64_t>(plain.integer());
  for (size_t i = 0; i < arguments.size() && i < jit->parameters.size(); ++i)
    note(jit->parameters[i].name, arguments[i]);
  for (const auto &[name, value] : keywords)
    note(name, value);
  return triton::Grid(grid.computed(meta));
}

} // namespace

std::vector<Tensor> callBuiltin(const std::string &name, const std::vector<Argument> &arguments,
                                const triton::Keywords &keywords) {
  std::string target = targetOf(name);
  if (Session::takes(arguments, keywords))
    return Session::get()->call(
        [&](Recording &session) { return recordBuiltin(session, target, arguments, keywords); });
  if (Recording *recording = Recording::active())
    return recordBuiltin(*recording, target, arguments, keywords);
  return runEagerly(
      name, arguments, keywords,
      [&](Recording &recording, const std::vector<Argument> &a, const triton::Keywords &k) {
        return recordBuiltin(recording, target, a, k);
      });
}

void launchKernel(const std::shared_ptr<detail::KernelState> &kernel, const triton::Grid &grid,
                  const std::vector<Argument> &arguments, const triton::Keywords &keywords) {
  if (Session::takes(arguments, keywords)) {
    Session::get()->call([&](Recording &session) {
      recordLaunch(session, *kernel, grid, arguments, keywords);
      return std::vector<Tensor>();
    });
    return;
  }
  if (Recording *recording = Recording::active())
    return recordLaunch(*recording, *kernel, grid, arguments, keywords);
  auto record = [&](Recording &recording, const std::vector<Argument> &a,
                    const triton::Keywords &k) {
    recordLaunch(recording, *kernel, grid, a, k);
    return std::vector<Tensor>();
  };
  std::string name =
      "launch " + std::to_string(reinterpret_cast<uintptr_t>(kernel->kernel.object().get()));
  if (auto fixed = fixedGrid(*kernel, grid, arguments, keywords)) {
    for (const SymInt &size : fixed->fixed)
      name += " " + size.text();
    runEagerly(name, arguments, keywords, record);
    return;
  }
  // The config decides the grid, so only tracing tells what this call is; its plan is not kept.
  CallSignature signature(name);
  signature.add(arguments, keywords);
  EagerPlan plan = makePlan(signature, arguments, keywords, record);
  if (plan.package)
    runPackage(*plan.package, signature.tensors);
}

} // namespace pellucid::api
