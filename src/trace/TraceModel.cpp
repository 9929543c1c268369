// SPDX-License-Identifier: Apache-2.0
#include "trace/TraceModel.h"

#include "host/MadeKernels.h"
#include "reference/graph/Interpreter.h"
#include "support/NearNames.h"
#include "trace/OperatorCall.h"
#include "trace/TensorObject.h"
#include "trace/TraceHooks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// A deterministic stream of its own per parameter: the values do not depend on the order in which
/// they are made.
class SeededStream {
public:
  SeededStream(uint64_t seed, const std::string &name)
      : state(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {
    for (char c : name)
      state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  /// Uniform in [-1, 1).
  double next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1.0p-52 - 1.0;
  }

private:
  uint64_t state;
};

void storeElement(std::byte *at, DataType type, double value) {
  auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
  switch (type) {
  case DataType::Float64:
    return put(value);
  case DataType::Float32:
    return put(static_cast<float>(value));
  case DataType::Float16:
    return put(static_cast<_Float16>(value));
  case DataType::BFloat16: {
    float single = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    return put(static_cast<uint16_t>((uint64_t(bits) + 0x7fff + ((bits >> 16) & 1)) >> 16));
  }
  case DataType::Int64:
    return put(static_cast<int64_t>(value));
  case DataType::Int32:
    return put(static_cast<int32_t>(value));
  case DataType::Int16:
    return put(static_cast<int16_t>(value));
  case DataType::Int8:
  case DataType::UInt8:
  case DataType::Bool:
    return put(static_cast<uint8_t>(static_cast<int64_t>(value)));
  default:
    throw DiagnosticError(SourceLocation("--seed"),
                          "parameters of type " + std::string(info(type).torch) +
                              " cannot be made from a seed; give --weights");
  }
}

Weight initialWeight(const std::string &name, const TensorType &type,
                     const Initializer &initializer, uint64_t seed) {
  Weight weight;
  weight.dtype = type.dtype;
  int64_t count = 1;
  for (const Expr &size : type.shape) {
    auto known = size.constant();
    if (!known)
      throw DiagnosticError(SourceLocation(name),
                            "the shape of a parameter must be constant, got " + toString(type));
    weight.shape.push_back(*known);
    count *= *known;
  }
  size_t element = byteSize(type.dtype);
  weight.bytes = static_cast<uint64_t>(count) * element;
  std::shared_ptr<std::byte[]> data(new std::byte[weight.bytes + 1]);
  SeededStream stream(seed, name);
  for (int64_t i = 0; i < count; ++i) {
    double value = 0;
    switch (initializer.kind) {
    case Initializer::Kind::Ones:
      value = 1;
      break;
    case Initializer::Kind::Full:
      value = initializer.value;
      break;
    case Initializer::Kind::Uniform:
      value = stream.next() * initializer.value;
      break;
    case Initializer::Kind::Listed:
      value = initializer.values.at(static_cast<size_t>(i));
      break;
    default:
      break;
    }
    storeElement(data.get() + static_cast<size_t>(i) * element, type.dtype, value);
  }
  weight.data = std::shared_ptr<const std::byte>(data, data.get());
  return weight;
}

/// A parameter or buffer of the module, with its dotted name.
struct ModuleTensor {
  std::string name;
  std::shared_ptr<TensorObject> object;
  bool isParameter;
};

/// What the file's own error was, when the statement that defines `value` was refused.
void throwIfUnusable(const h::Value &value) {
  if (auto *opaque = value.as<h::Opaque>(); opaque && opaque->reason)
    throw DiagnosticError(*opaque->reason);
}

class ModelTrace {
public:
  ModelTrace(const SymbolTable &symbols, const TraceOptions &o) : options(o), hooks(&tracer) {
    tracer.program.symbols = symbols;
    tracer.program.strict = tracer.strict = options.strict;
    tracer.warn = options.warn;
    h::InterpreterOptions interpreterOptions;
    interpreterOptions.searchRoots = options.roots;
    interpreterOptions.hooks = &hooks;
    interpreterOptions.defersFileErrors = true;
    interpreterOptions.defersMissingImports = options.defersMissingImports;
    tracer.assumedDevice = options.device;
    addTorchRuntime(interpreterOptions.modules, options.device);
    addTorchComposites(interpreterOptions.modules);
    addTorchModules(interpreterOptions.modules, tracer);
    addTorchOps(interpreterOptions.modules, tracer);
    interpreter = std::make_unique<h::Interpreter>(std::move(interpreterOptions));
    tracer.beginConstruction();
  }

  Program trace(const std::string &path, const std::string &name,
                const std::vector<TraceInput> &inputs) {
    auto module = interpreter->importFile(path);
    const h::Value *found = module->globals->find(name);
    if (!found)
      throw DiagnosticError(SourceLocation(path + ":" + name),
                            "the file defines no '" + name + "'");
    h::Value callee = *found;
    throwIfUnusable(callee);
    if (h::isKernel(callee))
      throw DiagnosticError(
          h::innermostKernel(callee)->location(),
          "'" + name + "' is a kernel; a program needs a function or module that launches it");
    const h::Function *function = callee.as<h::Function>();
    if (callee.as<h::Class>()) {
      callee = construct(callee);
      bindTensors(callee);
      h::Value forward = interpreter->getAttr(callee, "forward");
      if (auto *bound = forward.as<h::BoundMethod>())
        function = bound->function.as<h::Function>();
      else
        function = forward.as<h::Function>();
    } else if (!options.init.empty()) {
      throw DiagnosticError(SourceLocation("--init"),
                            "'" + name + "' is a function; constructor arguments are for classes");
    }
    tracer.endConstruction();
    h::CallArgs args = bindInputs(function, callee, inputs);
    setConstructing(false);
    h::Value result = interpreter->call(callee, std::move(args));
    finish(result);
    tracer.program.sourceNames = interpreter->sourceNames();
    return std::move(tracer.program);
  }

private:
  void setConstructing(bool value) {
    auto torch = interpreter->nativeModule("torch");
    interpreter->call(*torch->globals->find("_pellucid_constructing"), {h::Value(value)});
  }

  h::Value construct(const h::Value &cls) {
    h::CallArgs args;
    for (const auto &[key, text] : options.init) {
      auto file = std::make_shared<SourceFile>("--init " + key + "=" + text, text);
      args.keywords.emplace_back(key, interpreter->evaluateText(file));
    }
    setConstructing(true);
    return interpreter->call(cls, std::move(args));
  }

  /// Own tensors first, then those of submodules, as named_parameters() goes.
  void collect(const h::Value &value, const std::string &prefix, std::vector<ModuleTensor> &out,
               std::vector<const h::Object *> &seen) {
    auto *instance = value.as<h::Instance>();
    if (!instance || std::find(seen.begin(), seen.end(), instance) != seen.end())
      return;
    seen.push_back(instance);
    for (const auto &[key, attribute] : instance->attributes.items())
      if (auto tensor = attribute.shared<TensorObject>())
        out.push_back({prefix + key, tensor, tensor->isParameter});
    for (const auto &[key, attribute] : instance->attributes.items())
      if (attribute.as<h::Instance>())
        collect(attribute, prefix + key + ".", out, seen);
  }

  void bindTensors(const h::Value &model) {
    std::vector<ModuleTensor> tensors;
    std::vector<const h::Object *> seen;
    collect(model, "", tensors, seen);
    std::stable_partition(tensors.begin(), tensors.end(),
                          [](const ModuleTensor &t) { return t.isParameter; });
    std::vector<std::optional<reference::Tensor>> computed = evaluateConstructed(tensors);
    tracer.endConstruction();
    std::map<std::pair<const TracedStorage *, std::string>, TracedTensor> bound;
    for (size_t i = 0; i < tensors.size(); ++i) {
      TracedTensor &tensor = tensors[i].object->tensor;
      auto [known, isNew] = bound.try_emplace({tensor.storage.get(), toString(tensor.type)});
      if (isNew) {
        bindTensor(tensors[i], computed[i]);
        known->second = tensor;
      }
      tensor = known->second;
    }
  }

  /// What the constructors computed, for those tensors that are no plain initial ones.
  std::vector<std::optional<reference::Tensor>>
  evaluateConstructed(std::vector<ModuleTensor> &tensors) {
    std::vector<std::optional<reference::Tensor>> values(tensors.size());
    std::vector<Argument> outputs;
    std::vector<size_t> owners;
    for (size_t i = 0; i < tensors.size(); ++i) {
      TracedTensor &tensor = tensors[i].object->tensor;
      if (!tensor.storage->constructed)
        continue;
      owners.push_back(i);
      outputs.push_back(Argument(tracer.valueOf(tensor, SourceLocation(tensors[i].name))));
    }
    if (owners.empty())
      return values;
    tracer.constructed.output(std::move(outputs));
    std::vector<reference::Datum> leaves;
    for (const auto &leaf : tracer.constructedLeaves)
      leaves.push_back(
          reference::tensorOf(initialWeight("initial_" + std::to_string(leaves.size()), leaf->type,
                                            leaf->initializer, options.seed)));
    reference::EvaluateOptions evaluation;
    evaluation.registry = &tracer.registry;
    auto results = reference::evaluate(tracer.program, tracer.constructed, leaves, {}, evaluation);
    for (size_t i = 0; i < owners.size(); ++i)
      values[owners[i]] = std::get<reference::Tensor>(results[i]);
    return values;
  }

  /// Makes the tensor a placeholder of the program. Views of computed ones get memory of their own.
  void bindTensor(ModuleTensor &entry, const std::optional<reference::Tensor> &computed) {
    TracedTensor &tensor = entry.object->tensor;
    TensorType type(tensor.type.dtype, tensor.type.shape);
    if (options.dtype && isFloat(type.dtype))
      type.dtype = *options.dtype;
    Weight weight = weightFor(entry, type, computed);
    if (computed)
      tensor.storage = std::make_shared<TracedStorage>();
    std::string flat = entry.name;
    std::replace(flat.begin(), flat.end(), '.', '_');
    bool strided = !tensor.type.isContiguous(tracer.symbols());
    tracer.bind(tensor, tracer.graph().placeholder((entry.isParameter ? "p_" : "b_") + flat, type));
    // Here it is row-major, in PyTorch as the constructor made it.
    tensor.storage->stridesKnown = !strided;
    InputSpec spec;
    spec.kind = entry.isParameter ? InputSpec::Kind::Parameter : InputSpec::Kind::Buffer;
    spec.name = entry.name;
    tracer.program.inputs.push_back(spec);
    tracer.program.weights[entry.name] = std::move(weight);
    tensor.storage->isParameter = entry.isParameter;
    buffers.emplace_back(entry.name, tensor.storage);
  }

  static Weight computedWeight(const reference::Tensor &tensor, DataType dtype) {
    reference::Tensor copy = tensor.copy(dtype);
    Weight weight;
    weight.dtype = dtype;
    weight.shape = copy.shape;
    weight.bytes = static_cast<uint64_t>(copy.numel()) * byteSize(dtype);
    weight.data = std::shared_ptr<const std::byte>(
        copy.storage, reinterpret_cast<const std::byte *>(copy.storage->data()));
    return weight;
  }

  std::map<const TracedStorage *, std::string> drawnAs;

  /// Where the tensors of `--weights` were read.
  SourceLocation weightsFile() const {
    return SourceLocation(options.weights.begin()->second.path);
  }

  /// From the file, else as the constructor made it. A tensor that is no parameter may be missing
  /// in the file: state_dict() has neither plain attributes nor buffers that are not persistent.
  Weight weightFor(const ModuleTensor &made, const TensorType &type,
                   const std::optional<reference::Tensor> &computed) {
    const std::string &name = made.name;
    auto entry = options.weights.find(name);
    if (entry == options.weights.end()) {
      if (!options.weights.empty() && made.isParameter)
        throw DiagnosticError(weightsFile(), "the file has no tensor '" + name + "'");
      if (computed)
        return computedWeight(*computed, type.dtype);
      const TracedStorage &storage = *made.object->tensor.storage;
      const TracedStorage *origin = storage.copied ? storage.copied.get() : &storage;
      // Copies of one tensor are drawn by one name.
      const std::string &drawn = drawnAs.try_emplace(origin, name).first->second;
      return initialWeight(drawn, type, storage.initializer, options.seed);
    }
    std::vector<Expr> shape(entry->second.shape.begin(), entry->second.shape.end());
    if (shape != type.shape)
      throw DiagnosticError(weightsFile(), "tensor '" + name + "' is " +
                                               toString(TensorType(entry->second.dtype, shape)) +
                                               " in the file and " + toString(type) +
                                               " in the model");
    bool converts = options.dtype && isFloat(entry->second.dtype) && isFloat(type.dtype);
    if (entry->second.dtype != type.dtype && converts)
      return computedWeight(reference::tensorOf(entry->second), type.dtype);
    if (entry->second.dtype != type.dtype)
      throw DiagnosticError(weightsFile(),
                            "tensor '" + name + "' holds " +
                                std::string(info(entry->second.dtype).cli) + " in the file and " +
                                std::string(info(type.dtype).cli) + " in the model; give --dtype " +
                                std::string(info(entry->second.dtype).cli));
    return entry->second;
  }

  h::CallArgs bindInputs(const h::Function *function, const h::Value &callee,
                         const std::vector<TraceInput> &inputs) {
    std::vector<std::string> names;
    bool method = callee.as<h::Instance>() != nullptr;
    if (function && function->parameters) {
      for (const auto *list : {&function->parameters->posonlyargs, &function->parameters->args,
                               &function->parameters->kwonlyargs})
        for (const auto &parameter : *list)
          names.push_back(parameter->arg);
      if (method && !names.empty())
        names.erase(names.begin());
    }
    h::CallArgs args;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::string name = inputs[i].name;
      if (name.empty())
        name = i < names.size() ? names[i] : "arg" + std::to_string(i);
      if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
        std::string list;
        for (const std::string &n : names)
          list += (list.empty() ? "'" : ", '") + n + "'";
        throw DiagnosticError(SourceLocation("--input " + name),
                              "the model has no parameter '" + name + "'; it has " + list);
      }
      args.keywords.emplace_back(name, inputValue(inputs[i], name));
    }
    return args;
  }

  h::Value literalValue(const std::string &name, const std::string &text) {
    return interpreter->evaluateText(
        std::make_shared<SourceFile>("--input " + name + "=" + text, text));
  }

  /// Tensors inside of containers are inputs of their own.
  h::Value inputValue(const TraceInput &input, const std::string &name) {
    if (input.form == TraceInput::Form::Literal)
      return literalValue(name, input.literal);
    if (input.form == TraceInput::Form::Tensor) {
      TracedTensor tensor = tracer.placeholder(name, input.type);
      InputSpec spec;
      spec.name = name;
      tracer.program.inputs.push_back(spec);
      userInputs.emplace_back(name, tensor.storage);
      return tensorValue(tracer, tensor);
    }
    h::Dict dict;
    h::List list;
    for (size_t i = 0; i < input.elements.size(); ++i) {
      const TraceInput &element = input.elements[i];
      if (input.form != TraceInput::Form::Dict) {
        list.push_back(inputValue(element, element.name));
        continue;
      }
      h::Value key = literalValue(name, element.key);
      if (!h::hashOf(key))
        throw DiagnosticError(SourceLocation("--input " + name),
                              "unhashable key " + h::repr(key) + " in a dict");
      dict.set(key, inputValue(element, element.name));
    }
    return input.form == TraceInput::Form::Dict    ? h::Value::dict(std::move(dict))
           : input.form == TraceInput::Form::Tuple ? h::Value::tuple(std::move(list))
                                                   : h::Value::list(std::move(list));
  }

  void finish(const h::Value &result) {
    std::vector<Argument> outputs;
    SourceLocation where = interpreter->location();
    auto mutation = [&](const std::string &name, const std::shared_ptr<TracedStorage> &storage,
                        OutputSpec::Kind kind) {
      if (storage->conflict)
        tracer.checkKnown(*storage, storage->conflict->written);
      // A kernel that could not be analysed hardly writes to parameters.
      if (storage->version == 0 || (storage->isParameter && !storage->written))
        return;
      outputs.push_back(Argument(storage->base));
      tracer.program.outputs.push_back({kind, name});
    };
    for (const auto &[name, storage] : buffers)
      mutation(name, storage, OutputSpec::Kind::BufferMutation);
    for (const auto &[name, storage] : userInputs)
      mutation(name, storage, OutputSpec::Kind::UserInputMutation);
    collectResults(result, outputs, where);
    for (const auto &[name, storage] : tracer.lifted) {
      if (storage->outlivesCall && storage->written)
        throw DiagnosticError(where, "a tensor that was made outside of forward is written to in "
                                     "it; a program's constants are read-only, so clone() it "
                                     "first, or make it an input");
      tracer.program.weights[name] =
          initialWeight(name, tracer.program.main.find("c_" + name)->result()->type(),
                        storage->initializer, options.seed);
    }
    tracer.program.main.output(std::move(outputs));
  }

  void collectResults(const h::Value &given, std::vector<Argument> &outputs,
                      const SourceLocation &where) {
    h::Value value = h::contentOf(given);
    if (value.isNone())
      return;
    if (value.isSequence()) {
      for (const h::Value &element : value.elements())
        collectResults(element, outputs, where);
      return;
    }
    if (value.isDict()) {
      for (const auto &[key, element] : value.dictionary().items())
        collectResults(element, outputs, where);
      return;
    }
    auto *tensor = value.as<TensorObject>();
    if (!tensor)
      throw DiagnosticError(where,
                            "the model returns a value of type " + h::typeName(value) +
                                "; tensors and tuples, lists and dicts of them can be returned");
    outputs.push_back(Argument(tracer.valueOf(tensor->tensor, where)));
    tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  }

public:
  const TraceOptions &options;
  Tracer tracer;
  TraceHooks hooks;
  std::unique_ptr<h::Interpreter> interpreter;
  std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> buffers, userInputs;
};

} // namespace

/// With branches on dynamic dims as selections where that goes, else along the example.
static Program traceEitherWay(const std::string &path, const std::string &name,
                              const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                              const TraceOptions &options) {
  std::vector<Diagnostic> warnings;
  TraceOptions attempt = options;
  attempt.warn = [&](Diagnostic warning) { warnings.push_back(std::move(warning)); };
  ModelTrace trace(symbols, attempt);
  try {
    Program program = trace.trace(path, name, inputs);
    for (Diagnostic &warning : warnings)
      options.warn(std::move(warning));
    return program;
  } catch (const DiagnosticError &) {
    if (options.strict || !trace.tracer.merged)
      throw;
  }
  // A selection can stand where only a number can; the example then decides.
  ModelTrace following(symbols, options);
  following.tracer.mergesBranches = false;
  return following.trace(path, name, inputs);
}

/// What our own part of torch refuses is said at the line of the file that called it.
static Diagnostic atUsersLine(Diagnostic diagnostic) {
  auto isOurs = [](const SourceLocation &where) {
    return where.file && where.file->path().starts_with("<torch");
  };
  std::vector<Diagnostic> &notes = diagnostic.notes;
  auto caller = std::find_if(notes.begin(), notes.end(),
                             [&](const Diagnostic &note) { return !isOurs(note.location); });
  if (!isOurs(diagnostic.location) || caller == notes.end())
    return diagnostic;
  diagnostic.location = caller->location;
  notes.erase(notes.begin(), caller + 1);
  return diagnostic;
}

Program traceModel(const std::string &path, const std::string &name,
                   const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                   const TraceOptions &options) {
  try {
    return traceEitherWay(path, name, inputs, symbols, options);
  } catch (const DiagnosticError &error) {
    throw DiagnosticError(atUsersLine(error.diagnostic));
  }
}

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
  if (kernel)
    throwIfUnusable(*kernel);
  if (kernel && dot != std::string::npos && !kernel->as<h::Function>())
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
    throw DiagnosticError(where, "'" + name + "' is no @triton.jit kernel");
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
                    std::optional<std::pair<std::string, uint32_t>> stopAt) {
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
  try {
    trace.hooks.launch(*trace.interpreter, kernel, h::Value::tuple(std::move(sizes)),
                       std::move(args), false);
  } catch (DiagnosticError &error) {
    for (const Diagnostic &warning : warnings)
      if (isAbout(warning, *jit))
        error.diagnostic.note(warning.location, warning.message);
    throw DiagnosticError(error.diagnostic);
  }
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
