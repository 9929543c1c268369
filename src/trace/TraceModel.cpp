// SPDX-License-Identifier: Apache-2.0
#include "trace/TraceModel.h"

#include "host/MadeKernels.h"
#include "reference/graph/Interpreter.h"
#include "support/NearNames.h"
#include "trace/FloatDraws.h"
#include "trace/OperatorCall.h"
#include "trace/ReboundTensors.h"
#include "trace/TensorObject.h"
#include "trace/TraceSession.h"
#include "trace/TrainingDependence.h"
#include "trace/TrainingState.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// As a cast has it (passes/graph/PointwiseGroup.cpp): what 32 and 64 bits do not hold is their
/// smallest number, and 0 in fewer.
static int64_t truncated(double value, DataType type) {
  bool narrow = byteSize(type) < 4, wide = byteSize(type) == 8;
  if (std::abs(value) < (wide ? 0x1p63 : 0x1p31))
    return static_cast<int64_t>(value);
  return narrow ? 0 : wide ? INT64_MIN : INT32_MIN;
}

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
    return put(truncated(value, type));
  case DataType::Int32:
    return put(static_cast<int32_t>(truncated(value, type)));
  case DataType::Int16:
    return put(static_cast<int16_t>(truncated(value, type)));
  case DataType::Int8:
  case DataType::UInt8:
    return put(static_cast<uint8_t>(truncated(value, type)));
  case DataType::Bool: // NaN is no zero
    return put(static_cast<uint8_t>(value != 0));
  default:
    throw DiagnosticError(SourceLocation("--weights"), "parameters of type " +
                                                           std::string(info(type).torch) +
                                                           " cannot be made here; give --weights");
  }
}

void storeInteger(std::byte *at, DataType type, int64_t value) {
  if (type == DataType::Int64)
    std::memcpy(at, &value, sizeof value);
  else
    storeElement(at, type, static_cast<double>(value));
}

/// What was drawn, converted as the tensor was since.
void storeDrawn(std::byte *data, DataType type, const Initializer &initializer) {
  DrawnValues values = initializer.drawn->values();
  size_t element = byteSize(type);
  if (type == initializer.drawn->dtype() && initializer.through.empty() && !values.singles.empty())
    return storeSingles(type, values.singles.data(), data, values.singles.size());
  values.reals.insert(values.reals.end(), values.singles.begin(), values.singles.end());
  for (size_t i = 0; i < values.integers.size(); ++i)
    storeInteger(data + i * element, type, values.integers[i]);
  for (size_t i = 0; i < values.reals.size(); ++i) {
    double value = values.reals[i];
    for (DataType through : initializer.through)
      if (isFloat(through))
        value = reference::roundTo(through, value);
    storeElement(data + i * element, type, value);
  }
}

} // namespace

Weight initialWeight(const std::string &name, const TensorType &type,
                     const Initializer &initializer) {
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
  if (initializer.kind == Initializer::Kind::Drawn)
    storeDrawn(data.get(), type.dtype, initializer);
  for (int64_t i = 0; i < count && initializer.kind != Initializer::Kind::Drawn; ++i) {
    if (!initializer.integers.empty()) {
      bool same = initializer.kind == Initializer::Kind::Full;
      storeInteger(data.get() + static_cast<size_t>(i) * element, type.dtype,
                   initializer.integers.at(same ? 0 : static_cast<size_t>(i)));
      continue;
    }
    double value = 0;
    switch (initializer.kind) {
    case Initializer::Kind::Ones:
      value = 1;
      break;
    case Initializer::Kind::Full:
      value = initializer.value;
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

namespace {

/// A tensor that a module holds, with its dotted name.
struct ModuleTensor {
  std::string name;
  std::shared_ptr<TensorObject> object;
  bool isParameter;
  bool isSaved;    ///< state_dict() has it: a parameter or a persistent buffer
  bool isOptional; ///< torch loads a state_dict without it too
  std::shared_ptr<h::Instance> module;
  std::string key;    ///< its attribute there …
  h::Value container; ///< … or in this dict
};

/// What the file's own error was, when the statement that defines `value` was refused.
void throwIfUnusable(const h::Value &value) {
  if (auto *opaque = value.as<h::Opaque>(); opaque && opaque->reason)
    throw DiagnosticError(*opaque->reason);
}

class ModelTrace {
public:
  ModelTrace(const SymbolTable &symbols, const TraceOptions &o, const TrainingPlan *p = nullptr)
      : options(o), hooks(&tracer), interpreter(beginTrace(tracer, hooks, symbols, options)),
        plan(p) {}

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
      enterMode(callee);
      bindRoots({{"", callee}});
      h::Value forward = interpreter->getAttr(callee, "forward");
      if (auto *bound = forward.as<h::BoundMethod>())
        function = bound->function.as<h::Function>();
      else
        function = forward.as<h::Function>();
    } else if (!options.init.empty()) {
      throw DiagnosticError(SourceLocation("--init"),
                            "'" + name + "' is a function; constructor arguments are for classes");
    } else if (options.train) {
      bindRoots(heldByFile(*module));
      if (optimizers.empty())
        throw DiagnosticError(SourceLocation("--train"),
                              "'" + name +
                                  "' is a function and its file holds no optimiser of torch.optim; "
                                  "modules and training steps have a training mode");
    }
    tracer.endConstruction();
    if (plan && !optimizers.empty()) {
      trained.emplace(*interpreter, tracer, optimizers, parameters());
      trained->prepare(*plan, [&](const StateTensor &state) { return bindState(state); });
    }
    h::CallArgs args = bindInputs(function, callee, inputs);
    setConstructing(*interpreter, false);
    if (planned && !optimizers.empty()) {
      *planned = planTraining(*interpreter, tracer, optimizers, parameters(), rootValues,
                              [&] { interpreter->call(callee, args); });
      return {};
    }
    if (planned)
      return {};
    h::Value result = interpreter->call(callee, std::move(args));
    finish(result);
    tracer.program.sourceNames = interpreter->sourceNames();
    return std::move(tracer.program);
  }

  /// Where the plan of a training step goes; the program is not made then.
  TrainingPlan *planned = nullptr;

private:
  using Roots = std::vector<std::pair<std::string, h::Value>>;

  /// The objects and tensors of a file, which a function of it trains.
  static Roots heldByFile(const h::Module &module) {
    Roots roots;
    for (const auto &[name, value] : module.globals->items())
      if (value.as<h::Instance>() || value.as<TensorObject>())
        roots.emplace_back(name, value);
    return roots;
  }

  void bindRoots(const Roots &roots) {
    for (const auto &[name, value] : roots) {
      rootValues.push_back(value);
      if (!options.train)
        continue;
      for (HeldOptimizer &one : optimizersOf(*interpreter, value, name))
        if (std::none_of(optimizers.begin(), optimizers.end(),
                         [&](const auto &known) { return known.object == one.object; }))
          optimizers.push_back(std::move(one));
    }
    bindTensors(roots);
  }

  /// What the modules hold, by name.
  NamedTensors parameters() const {
    NamedTensors out;
    for (const HeldTensor &tensor : held)
      out.emplace_back(tensor.name, tensor.object);
    return out;
  }

  /// What an optimiser keeps is a buffer of the program.
  TracedTensor bindState(const StateTensor &state) {
    Weight weight = state.copyOf.empty() ? initialWeight(state.name, state.type, state.initializer)
                                         : copiedWeight(state);
    std::string flat = state.name;
    std::replace(flat.begin(), flat.end(), '.', '_');
    TracedTensor tensor = tracer.unbound(state.type, {});
    tracer.bind(tensor, tracer.graph().placeholder("b_" + flat, state.type));
    InputSpec spec;
    spec.kind = InputSpec::Kind::Buffer;
    spec.name = state.name;
    tracer.program.inputs.push_back(spec);
    tracer.program.weights[state.name] = std::move(weight);
    buffers.emplace_back(state.name, tensor.storage);
    return tensor;
  }

  Weight copiedWeight(const StateTensor &state) {
    std::vector<Node *> placeholders = tracer.graph().placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i) {
      if (placeholders[i]->name() != state.copyOf)
        continue;
      auto weight = tracer.program.weights.find(tracer.program.inputs[i].name);
      if (weight != tracer.program.weights.end())
        return computedWeight(reference::tensorOf(weight->second), state.type.dtype);
    }
    throw DiagnosticError(SourceLocation("--train"),
                          "the first value of '" + state.name +
                              "' is a copy of an input; what an optimiser keeps begins with "
                              "numbers or a copy of its parameter");
  }

  h::Value construct(const h::Value &cls) {
    h::CallArgs args;
    for (const auto &[key, text] : options.init) {
      auto file = std::make_shared<SourceFile>("--init " + key + "=" + text, text);
      args.keywords.emplace_back(key, interpreter->evaluateText(file));
    }
    setConstructing(*interpreter, true);
    return interpreter->call(cls, std::move(args));
  }

  /// A program computes what the model does after eval(), or train() where that is asked for.
  void enterMode(const h::Value &model) {
    if (!interpreter->isInstance(model, moduleClass()))
      return;
    interpreter->call(interpreter->getAttr(model, options.train ? "train" : "eval"));
    if (options.train)
      return;
    if (std::vector<std::string> changed = trainingDependence(*interpreter, model);
        !changed.empty()) {
      std::string text;
      for (const std::string &one : changed)
        text += (text.empty() ? "" : ", ") + one;
      options.note("the model is compiled as after eval(): " + text);
    }
  }

  /// Whether the module's own state_dict() has the tensor that it holds as `key`.
  bool isSaved(const h::Instance &module, const std::string &key, const TensorObject &tensor) {
    if (tensor.isParameter)
      return true;
    if (const h::Value *buffer = tensor.attributes.find("_buffer_persistent")) // nn.Buffer
      return interpreter->truth(*buffer);
    const h::Value *buffers = module.attributes.find("_registered_buffers");
    const h::Value *persistent =
        buffers && buffers->isDict() ? buffers->dictionary().find(std::string_view(key)) : nullptr;
    return persistent && interpreter->truth(*persistent);
  }

  static bool isRegistered(const ModuleTensor &tensor) {
    const h::Value *buffers = tensor.module->attributes.find("_registered_buffers");
    return tensor.isParameter || tensor.object->attributes.find("_buffer_persistent") ||
           (buffers && buffers->isDict() &&
            buffers->dictionary().find(std::string_view(tensor.key)));
  }

  bool isOptional(const h::Instance &module, const std::string &key) {
    const h::Value *keys = module.cls->find("_optional_keys");
    return keys && keys->isTuple() && interpreter->contains(*keys, h::Value(key));
  }

  /// Own tensors first, then those of submodules, as named_parameters() goes. A module that is held
  /// twice has two names, as in state_dict().
  void collect(const h::Value &value, const std::string &prefix, bool registered,
               std::vector<ModuleTensor> &out, std::vector<const h::Object *> &above) {
    constexpr size_t mostVisits = 100'000;
    auto *instance = value.as<h::Instance>();
    if (!instance || std::find(above.begin(), above.end(), instance) != above.end() ||
        ++visits > mostVisits)
      return;
    above.push_back(instance);
    bool saves = registered && interpreter->isInstance(value, moduleClass());
    for (const auto &[key, attribute] : instance->attributes.items())
      if (auto tensor = attribute.shared<TensorObject>())
        out.push_back({prefix + key,
                       tensor,
                       tensor->isParameter,
                       saves && isSaved(*instance, key, *tensor),
                       isOptional(*instance, key),
                       value.shared<h::Instance>(),
                       key,
                       {}});
    for (const auto &[key, attribute] : instance->attributes.items())
      if (attribute.as<h::Instance>())
        collect(attribute, prefix + key + ".", saves, out, above);
    above.pop_back();
  }

  const h::Value &moduleClass() {
    return *interpreter->nativeModule("torch.nn")->globals->find("Module");
  }

  void bindTensors(const Roots &roots) {
    std::vector<ModuleTensor> tensors;
    std::vector<const h::Object *> above;
    auto holder = std::make_shared<h::Instance>(h::Class::make("file", ""));
    for (const auto &[name, value] : roots) {
      if (auto tensor = value.shared<TensorObject>()) {
        holder->attributes.set(name, value);
        tensors.push_back({name, tensor, tensor->isParameter, true, false, holder, name, {}});
      } else {
        collect(value, name.empty() ? "" : name + ".", true, tensors, above);
      }
    }
    for (const GroupTensor &one : groupTensors(optimizers))
      tensors.push_back({one.name, one.object, false, false, false, holder, one.key, one.group});
    std::stable_partition(tensors.begin(), tensors.end(),
                          [](const ModuleTensor &t) { return t.isParameter; });
    checkWeights(tensors);
    std::vector<std::optional<reference::Tensor>> computed = evaluateConstructed(tensors);
    tracer.endConstruction();
    // What is bound gets other memory: which tensors are tied is asked before.
    std::vector<Memory> memories;
    for (const ModuleTensor &tensor : tensors)
      memories.push_back(memoryOf(tensor));
    std::map<Memory, TracedTensor> bound;
    for (size_t i = 0; i < tensors.size(); ++i) {
      TracedTensor &tensor = tensors[i].object->tensor;
      auto [known, isNew] = bound.try_emplace(memories[i]);
      if (isNew) {
        bindTensor(tensors[i], computed[i]);
        known->second = tensor;
      }
      tensor = known->second;
      held.push_back({tensors[i].name, tensors[i].module, tensors[i].key, tensors[i].object,
                      isRegistered(tensors[i]), tensors[i].container});
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
      if (!tensor.storage->constructed || givenWeight(tensors[i]))
        continue;
      owners.push_back(i);
      outputs.push_back(Argument(tracer.valueOf(tensor, SourceLocation(tensors[i].name))));
    }
    if (owners.empty())
      return values;
    tracer.constructed.output(std::move(outputs));
    std::vector<reference::Datum> leaves;
    for (const auto &leaf : tracer.constructedLeaves)
      leaves.push_back(reference::tensorOf(initialWeight("initial_" + std::to_string(leaves.size()),
                                                         leaf->type, leaf->initializer)));
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
    if (tensor.storage->constructed)
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
    spec.persistent = entry.isSaved;
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

  /// Where the tensors of `--weights` were read.
  SourceLocation weightsFile() const {
    return SourceLocation(options.weights.begin()->second.path);
  }

  /// What tied tensors have in common.
  using Memory = std::pair<const TracedStorage *, std::string>;
  static Memory memoryOf(const ModuleTensor &made) {
    return {made.object->tensor.storage.get(), toString(made.object->tensor.type)};
  }

  /// The file's tensor for it, or null: what state_dict() does not have keeps the constructor's
  /// values, whatever the file holds.
  const Weight *givenWeight(const ModuleTensor &made) const {
    auto entry = options.weights.find(made.name);
    return made.isSaved && entry != options.weights.end() ? &entry->second : nullptr;
  }

  /// As load_state_dict(strict=True): every name and shape that does not fit, in one error.
  void checkWeights(const std::vector<ModuleTensor> &tensors) {
    if (options.weights.empty())
      return;
    std::set<std::string> known;
    std::map<Memory, std::string> first; // of tied tensors one name is enough
    std::string missing, unexpected, mismatched;
    auto add = [](std::string &list, const std::string &name) {
      list += (list.empty() ? "'" : ", '") + name + "'";
    };
    for (const ModuleTensor &made : tensors) {
      const Weight *weight = givenWeight(made);
      if (made.isSaved)
        known.insert(made.name);
      if (weight) {
        checkTied(first.try_emplace(memoryOf(made), made.name).first->second, made.name);
        weightOf.try_emplace(memoryOf(made), weight);
      }
      if (weight && !fits(*weight, made.object->tensor.type))
        mismatched += "\n  '" + made.name + "' has shape " + shapeText(weight->shape) +
                      " in the file and " + shapeText(made.object->tensor.type.shape) +
                      " in the model";
    }
    for (const ModuleTensor &made : tensors)
      if (made.isSaved && !made.isOptional && first.try_emplace(memoryOf(made), made.name).second)
        add(missing, made.name);
    for (const auto &[name, weight] : options.weights)
      if (!known.count(name))
        add(unexpected, name);
    bool strict = options.strictWeights && !(missing.empty() && unexpected.empty());
    if (!strict && mismatched.empty())
      return;
    std::string text = "the file does not hold this model's state_dict";
    if (strict && !missing.empty())
      text += "\n  missing: " + missing;
    if (strict && !unexpected.empty())
      text += "\n  not in the model: " + unexpected;
    text += mismatched;
    if (strict)
      text += "\n  --no-strict-weights keeps what the file has and leaves the rest as the "
              "constructor makes it";
    throw DiagnosticError(weightsFile(), text);
  }

  static bool fits(const Weight &weight, const TensorType &type) {
    return std::vector<Expr>(weight.shape.begin(), weight.shape.end()) == type.shape;
  }

  static std::string shapeText(const auto &shape) {
    std::string text;
    for (const auto &size : shape)
      text += (text.empty() ? "" : ", ") + Expr(size).text();
    return "[" + text + "]";
  }

  /// Two names of one tensor must hold the same values: loading the one would undo the other.
  void checkTied(const std::string &first, const std::string &name) const {
    const Weight &a = options.weights.at(first), &b = options.weights.at(name);
    bool same = a.dtype == b.dtype && a.bytes == b.bytes &&
                (a.data == b.data || !std::memcmp(a.data.get(), b.data.get(), a.bytes));
    if (first != name && !same)
      throw DiagnosticError(weightsFile(), "'" + first + "' and '" + name +
                                               "' are one tensor in the model and hold different "
                                               "values in the file");
  }

  /// From the file, else as the constructor made it.
  Weight weightFor(const ModuleTensor &made, const TensorType &type,
                   const std::optional<reference::Tensor> &computed) {
    const std::string &name = made.name;
    auto source = weightOf.find(memoryOf(made));
    const Weight *given = source == weightOf.end() ? nullptr : source->second;
    if (!given && computed)
      return computedWeight(*computed, type.dtype);
    if (!given) {
      const TracedStorage &storage = *made.object->tensor.storage;
      return initialWeight(name, type, storage.initializer);
    }
    bool converts = options.dtype && isFloat(given->dtype) && isFloat(type.dtype);
    if (given->dtype != type.dtype && converts)
      return computedWeight(reference::tensorOf(*given), type.dtype);
    if (given->dtype != type.dtype)
      throw DiagnosticError(
          weightsFile(), "tensor '" + name + "' holds " + std::string(info(given->dtype).cli) +
                             " in the file and " + std::string(info(type.dtype).cli) +
                             " in the model; give --dtype " + std::string(info(given->dtype).cli));
    return *given;
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
    std::vector<Argument> results, outputs;
    std::vector<OutputSpec> specs;
    SourceLocation where = interpreter->location();
    collectResults(result, results, where);
    std::swap(specs, tracer.program.outputs);
    keepRebound(*interpreter, tracer, held);
    if (trained)
      trained->finish();
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
    outputs.insert(outputs.end(), results.begin(), results.end());
    tracer.program.outputs.insert(tracer.program.outputs.end(), specs.begin(), specs.end());
    for (const auto &[name, storage] : tracer.lifted) {
      if (storage->outlivesCall && storage->written)
        throw DiagnosticError(*storage->written,
                              "a tensor that was made outside of forward is written to in "
                              "it; a program's constants are read-only, so clone() it "
                              "first, or make it an input");
      tracer.program.weights[name] = initialWeight(
          name, tracer.program.main.find("c_" + name)->result()->type(), storage->initializer);
    }
    tracer.program.main.output(std::move(outputs));
  }

  void collectResults(const h::Value &given, std::vector<Argument> &outputs,
                      const SourceLocation &where) {
    h::Value value = h::contentOf(given);
    if (auto *number = value.as<ItemNumber>())
      value = number->operands[0];
    if (value.isNone())
      return;
    if (value.isSequence()) {
      for (const h::Value &element : value.elements())
        collectResults(element, outputs, where);
      return;
    }
    // What torch.sort and its kin give.
    if (value.as<h::Instance>() && interpreter->findAttr(value, "_fields")) {
      for (const h::Value &element : interpreter->iterate(value))
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
    if (const auto &conflict = tensor->tensor.storage->conflict)
      tracer.checkKnown(*tensor->tensor.storage, conflict->written);
    outputs.push_back(Argument(tracer.valueOf(tensor->tensor, where)));
    tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  }

public:
  const TraceOptions &options;
  Tracer tracer;
  TraceHooks hooks;
  std::unique_ptr<h::Interpreter> interpreter;
  std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> buffers, userInputs;
  std::vector<HeldTensor> held;
  std::vector<HeldOptimizer> optimizers; ///< with --train
  std::vector<h::Value> rootValues;
  const TrainingPlan *plan; ///< of a training step; null where there is none
  std::optional<OptimizerState> trained;

private:
  size_t visits = 0; ///< of modules, while their tensors are collected
  std::map<std::pair<const TracedStorage *, std::string>, const Weight *>
      weightOf; ///< the file's tensors, under whichever of their names they are there
};

} // namespace

/// With branches on dynamic dims as selections where that goes, else along the example.
static Program traceEitherWay(const std::string &path, const std::string &name,
                              const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                              const TraceOptions &options) {
  TrainingPlan plan;
  if (options.train) {
    TraceOptions silent = options;
    silent.warn = [](Diagnostic) {};
    silent.note = [](const std::string &) {};
    ModelTrace planning(symbols, silent);
    planning.planned = &plan;
    planning.trace(path, name, inputs);
  }
  std::vector<Diagnostic> warnings;
  std::vector<std::string> notes;
  TraceOptions attempt = options;
  attempt.warn = [&](Diagnostic warning) { warnings.push_back(std::move(warning)); };
  attempt.note = [&](const std::string &note) { notes.push_back(note); };
  ModelTrace trace(symbols, attempt, &plan);
  try {
    Program program = trace.trace(path, name, inputs);
    for (Diagnostic &warning : warnings)
      options.warn(std::move(warning));
    for (const std::string &note : notes)
      options.note(note);
    return program;
  } catch (const DiagnosticError &) {
    if (options.strict || !trace.tracer.merged)
      throw;
  }
  // A selection can stand where only a number can; the example then decides.
  ModelTrace following(symbols, options, &plan);
  following.tracer.mergesBranches = false;
  return following.trace(path, name, inputs);
}

/// Most models ask for no gradient, and nothing is noted for one then.
static Program traceWithGradients(const std::string &path, const std::string &name,
                                  const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                                  const TraceOptions &options) {
  try {
    return traceEitherWay(path, name, inputs, symbols, options);
  } catch (const autograd::GradientsAsked &) {
    TraceOptions again = options;
    again.gradients = true;
    return traceEitherWay(path, name, inputs, symbols, again);
  }
}

Program traceModel(const std::string &path, const std::string &name,
                   const std::vector<TraceInput> &inputs, const SymbolTable &symbols,
                   const TraceOptions &options) {
  try {
    return traceWithGradients(path, name, inputs, symbols, options);
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
