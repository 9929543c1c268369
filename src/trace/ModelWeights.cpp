// SPDX-License-Identifier: Apache-2.0
// Tensors that the modules of a model hold: what they are called, tied ones, and their numbers.
#include "reference/graph/Interpreter.h"
#include "support/NearNames.h"
#include "trace/ModelTrace.h"
#include "trace/TrainingDependence.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

/// Whether the module's own state_dict() has the tensor that it holds as `key`.
bool ModelTrace::isSaved(const h::Instance &module, const std::string &key,
                         const TensorObject &tensor) {
  if (tensor.isParameter)
    return true;
  if (const h::Value *buffer = tensor.attributes.find("_buffer_persistent")) // nn.Buffer
    return interpreter->truth(*buffer);
  const h::Value *buffers = module.attributes.find("_registered_buffers");
  const h::Value *persistent =
      buffers && buffers->isDict() ? buffers->dictionary().find(std::string_view(key)) : nullptr;
  return persistent && interpreter->truth(*persistent);
}

bool ModelTrace::isRegistered(const ModuleTensor &tensor) {
  const h::Value *buffers = tensor.module->attributes.find("_registered_buffers");
  return tensor.isParameter || tensor.object->attributes.find("_buffer_persistent") ||
         (buffers && buffers->isDict() && buffers->dictionary().find(std::string_view(tensor.key)));
}

bool ModelTrace::isOptional(const h::Instance &module, const std::string &key) {
  const h::Value *keys = module.cls->find("_optional_keys");
  return keys && keys->isTuple() && interpreter->contains(*keys, h::Value(key));
}

/// Own tensors first, then those of submodules, as named_parameters() goes. A module that is held
/// twice has two names, as in state_dict().
void ModelTrace::collect(const h::Value &value, const std::string &prefix, bool registered,
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

const h::Value &ModelTrace::moduleClass() {
  return *interpreter->nativeModule("torch.nn")->globals->find("Module");
}

void ModelTrace::bindTensors(const Roots &roots) {
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
ModelTrace::evaluateConstructed(std::vector<ModuleTensor> &tensors) {
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
    leaves.push_back(reference::tensorOf(
        initialWeight("initial_" + std::to_string(leaves.size()), leaf->type, leaf->initializer)));
  reference::EvaluateOptions evaluation;
  evaluation.registry = &tracer.registry;
  auto results = reference::evaluate(tracer.program, tracer.constructed, leaves, {}, evaluation);
  for (size_t i = 0; i < owners.size(); ++i)
    values[owners[i]] = std::get<reference::Tensor>(results[i]);
  return values;
}

/// Makes the tensor a placeholder of the program. Views of computed ones get memory of their own.
void ModelTrace::bindTensor(ModuleTensor &entry, const std::optional<reference::Tensor> &computed) {
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

Weight ModelTrace::computedWeight(const reference::Tensor &tensor, DataType dtype) {
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
SourceLocation ModelTrace::weightsFile() const {
  return SourceLocation(options.weights.begin()->second.path);
}

ModelTrace::Memory ModelTrace::memoryOf(const ModuleTensor &made) {
  return {made.object->tensor.storage.get(), toString(made.object->tensor.type)};
}

/// The file's tensor for it, or null: what state_dict() does not have keeps the constructor's
/// values, whatever the file holds.
const Weight *ModelTrace::givenWeight(const ModuleTensor &made) const {
  auto entry = options.weights.find(made.name);
  return made.isSaved && entry != options.weights.end() ? &entry->second : nullptr;
}

/// As load_state_dict(strict=True): every name and shape that does not fit, in one error.
void ModelTrace::checkWeights(const std::vector<ModuleTensor> &tensors) {
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

bool ModelTrace::fits(const Weight &weight, const TensorType &type) {
  return std::vector<Expr>(weight.shape.begin(), weight.shape.end()) == type.shape;
}

std::string ModelTrace::shapeText(const auto &shape) {
  std::string text;
  for (const auto &size : shape)
    text += (text.empty() ? "" : ", ") + Expr(size).text();
  return "[" + text + "]";
}

/// Two names of one tensor must hold the same values: loading the one would undo the other.
void ModelTrace::checkTied(const std::string &first, const std::string &name) const {
  const Weight &a = options.weights.at(first), &b = options.weights.at(name);
  bool same = a.dtype == b.dtype && a.bytes == b.bytes &&
              (a.data == b.data || !std::memcmp(a.data.get(), b.data.get(), a.bytes));
  if (first != name && !same)
    throw DiagnosticError(weightsFile(), "'" + first + "' and '" + name +
                                             "' are one tensor in the model and hold different "
                                             "values in the file");
}

/// From the file, else as the constructor made it.
Weight ModelTrace::weightFor(const ModuleTensor &made, const TensorType &type,
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
    throw DiagnosticError(weightsFile(),
                          "tensor '" + name + "' holds " + std::string(info(given->dtype).cli) +
                              " in the file and " + std::string(info(type.dtype).cli) +
                              " in the model; give --dtype " + std::string(info(given->dtype).cli));
  return *given;
}

} // namespace pellucid::trace
