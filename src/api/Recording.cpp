// SPDX-License-Identifier: Apache-2.0
#include "api/Recording.h"

#include "trace/OperatorCall.h"

#include <cstring>

namespace pellucid::api {

using namespace graph;
namespace h = pellucid::host;
using detail::OperatorState;
using trace::TensorObject;
using trace::TracedStorage;
using trace::TracedTensor;

namespace {

thread_local Recording *activeRecording = nullptr;

Value *currentValue(Recording &recording, const Tensor &tensor) {
  return recording.tracer.valueOf(tensor.state->object->tensor, SourceLocation());
}

} // namespace

std::shared_ptr<const std::byte> denseBytes(const TensorState &s, uint64_t &bytes) {
  size_t element = byteSize(s.type);
  bytes = element;
  for (int64_t size : s.shape)
    bytes *= static_cast<uint64_t>(size);
  if (isRowMajor(s))
    return {s.owner, s.data};
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
  std::vector<int64_t> index(s.shape.size(), 0);
  for (uint64_t at = 0; at < bytes; at += element) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * s.strides[d];
    std::memcpy(copy.get() + at, s.data + offset * static_cast<int64_t>(element), element);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == s.shape[d];)
      index[d] = 0;
  }
  return {copy, copy.get()};
}

h::Interpreter &Recording::interpreter() {
  static detail::FileState plainFile({});
  plainFile.hooks.follow(&tracer);
  return *plainFile.interpreter;
}

Recording::Recording() : own(std::make_unique<trace::Tracer>()), tracer(*own) {
  tracer.warn = [this](Diagnostic d) { warnings.push_back(render(d)); };
}

std::recursive_mutex &traceLock() {
  static std::recursive_mutex lock;
  return lock;
}

Recording *Recording::active() { return activeRecording; }

Recording::Scope::Scope(Recording &recording) : lock(traceLock()), saved(activeRecording) {
  activeRecording = &recording;
}
Recording::Scope::~Scope() { activeRecording = saved; }

// --- what a program is made over
// ----------------------------------------------------------------------------------

Tensor Recording::fromTraced(TracedTensor traced) {
  TensorState state;
  state.recording = shared_from_this();
  state.object = std::make_shared<TensorObject>(tracer, std::move(traced));
  return wrapState(std::move(state));
}

Tensor Recording::addInput(const std::string &name, const TensorType &type) {
  TracedTensor traced = tracer.placeholder(name, type);
  InputSpec spec;
  spec.name = name;
  tracer.program.inputs.push_back(spec);
  inputs.emplace_back(name, traced.storage);
  return fromTraced(std::move(traced));
}

std::string memoryKey(const TensorState &s) {
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(s.data)) + ":" +
                    std::to_string(static_cast<int>(s.type));
  for (size_t d = 0; d < s.shape.size(); ++d)
    key += "," + std::to_string(s.shape[d]) + "/" + std::to_string(s.strides[d]);
  return key;
}

void Recording::addWeight(const std::string &name, const Tensor &given, InputSpec::Kind kind) {
  Tensor value = inMemory(given, name.c_str());
  const TensorState &s = *value.state;
  Weight weight;
  weight.dtype = s.type;
  weight.shape = s.shape;
  weight.data = denseBytes(s, weight.bytes);
  std::string flat = name;
  for (char &c : flat)
    c = c == '.' ? '_' : c;
  const char *prefix = kind == InputSpec::Kind::Parameter ? "p_"
                       : kind == InputSpec::Kind::Buffer  ? "b_"
                                                          : "c_";
  TracedTensor traced = tracer.placeholder(
      prefix + flat, TensorType(s.type, std::vector<Expr>(s.shape.begin(), s.shape.end())));
  InputSpec spec;
  spec.kind = kind;
  spec.name = name;
  tracer.program.inputs.push_back(spec);
  tracer.program.weights[name] = std::move(weight);
  (kind == InputSpec::Kind::Buffer ? buffers : constants).emplace_back(name, traced.storage);
  weights[memoryKey(s)] = {value, std::make_shared<TensorObject>(tracer, traced)};
}

// --- arguments and results
// ----------------------------------------------------------------------------------------

h::Value Recording::captured(const Tensor &given) {
  Tensor tensor = inMemory(given, "a tensor of the function");
  const TensorState &s = *tensor.state;
  std::string key = memoryKey(s);
  if (bodyDepth > 0)
    throw Error(
        "the function of an operator uses a tensor that is none of its arguments; pass it as one");
  if (auto known = weights.find(key); known != weights.end())
    return h::Value(known->second.object);
  addWeight("constant_" + std::to_string(constants.size()), tensor,
            InputSpec::Kind::ConstantTensor);
  return h::Value(weights.at(key).object);
}

h::Value Recording::toHost(const Argument &argument) {
  struct Visitor {
    Recording &recording;
    h::Value operator()(std::monostate) const { return {}; }
    h::Value operator()(bool v) const { return h::Value(v); }
    h::Value operator()(int64_t v) const { return h::Value(v); }
    h::Value operator()(double v) const { return h::Value(v); }
    h::Value operator()(const std::string &v) const { return h::Value(v); }
    h::Value operator()(dtype v) const {
      return h::Value(std::make_shared<h::DType>(toDataType(v), h::DType::Family::Torch));
    }
    h::Value operator()(const SymInt &v) const { return h::Value::integer(toExpr(v)); }
    h::Value operator()(const Tensor &v) const {
      if (!v.state)
        return {};
      const TensorState &s = stateOf(v, "an argument");
      if (s.recording.get() != &recording)
        return recording.captured(v);
      const Value *base = s.object->tensor.storage->base;
      if (base && base->producer()->graph() != &recording.tracer.graph())
        throw Error("the function of an operator uses a tensor that is none of its arguments; pass "
                    "it as one");
      return h::Value(s.object);
    }
    h::Value operator()(const std::vector<SymInt> &v) const {
      h::List list;
      for (const SymInt &element : v)
        list.push_back((*this)(element));
      return h::Value::list(std::move(list));
    }
    h::Value operator()(const std::vector<Tensor> &v) const {
      h::List list;
      for (const Tensor &element : v)
        list.push_back((*this)(element));
      return h::Value::list(std::move(list));
    }
  };
  return std::visit(Visitor{*this}, argument);
}

h::CallArgs Recording::toHost(const std::vector<Argument> &arguments,
                              const triton::Keywords &keywords) {
  h::CallArgs args;
  for (const Argument &argument : arguments)
    args.positional.push_back(toHost(argument));
  for (const auto &[name, argument] : keywords)
    args.keywords.emplace_back(name, toHost(argument));
  return args;
}

std::vector<Tensor> Recording::fromHost(const h::Value &result) {
  std::vector<Tensor> tensors;
  if (result.isSequence())
    for (const h::Value &element : result.elements())
      for (Tensor &tensor : fromHost(element))
        tensors.push_back(std::move(tensor));
  if (auto object = result.shared<TensorObject>()) {
    TensorState state;
    state.recording = shared_from_this();
    state.object = std::move(object);
    tensors.push_back(wrapState(std::move(state)));
  }
  return tensors;
}

Argument toArgument(Recording &recording, const h::Value &value, const SchemaType &type) {
  switch (value.kind()) {
  case h::Kind::Bool:
    return value.boolean();
  case h::Kind::Int:
    if (type.kind == SchemaType::Kind::Float)
      return static_cast<double>(value.integer());
    return static_cast<int64_t>(value.integer());
  case h::Kind::Float:
    return value.real();
  case h::Kind::Str:
    return value.str();
  case h::Kind::SymInt:
    return fromExpr(value.symInt());
  case h::Kind::Tuple:
  case h::Kind::List: {
    if (type.kind == SchemaType::Kind::Tensor)
      return recording.fromHost(value);
    std::vector<SymInt> sizes;
    for (const h::Value &element : value.elements())
      sizes.push_back(
          fromExpr(recording.interpreter().toExpr(element, "an element of an argument")));
    return sizes;
  }
  case h::Kind::Object:
    if (auto *dtype = value.as<h::DType>())
      return fromDataType(dtype->type);
    return recording.fromHost(value).at(0);
  default:
    return type.kind == SchemaType::Kind::Tensor ? Argument(Tensor()) : Argument();
  }
}

h::CallArgs Recording::operatorArgs(const OperatorState &op,
                                    const std::vector<Argument> &arguments) {
  h::CallArgs args;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op.schema.arguments[i].keywordOnly)
      args.keywords.emplace_back(op.schema.arguments[i].name, toHost(arguments[i]));
    else
      args.positional.push_back(toHost(arguments[i]));
  }
  return args;
}

// --- operators
// ----------------------------------------------------------------------------------------------------

std::vector<Tensor> Recording::callOperator(const OperatorState &op,
                                            const std::vector<Argument> &arguments) {
  h::Operator declared = op.declared;
  declared.function = h::nativeRaw(declared.name, [this, &op](h::Interpreter &, h::CallArgs args) {
    std::vector<Argument> inner;
    size_t position = 0;
    for (const SchemaArgument &argument : op.schema.arguments)
      inner.push_back(toArgument(*this,
                                 argument.keywordOnly ? *args.keyword(argument.name)
                                                      : args.positional.at(position++),
                                 argument.type));
    ++bodyDepth;
    struct Leave {
      int &depth;
      ~Leave() { --depth; }
    } leave{bodyDepth};
    return toHost(Argument(op.function(inner)));
  });
  std::vector<Tensor> results = fromHost(
      trace::recordOperatorCall(tracer, interpreter(), declared, operatorArgs(op, arguments)));
  if (op.fake)
    checkFake(op, arguments, results);
  return results;
}

void Recording::checkFake(const OperatorState &op, const std::vector<Argument> &arguments,
                          const std::vector<Tensor> &results) {
  std::vector<std::optional<TensorType>> types;
  for (const Argument &argument : arguments) {
    auto *object =
        std::holds_alternative<Tensor>(argument) ? toHost(argument).as<TensorObject>() : nullptr;
    types.push_back(object ? std::optional(object->tensor.type) : std::nullopt);
  }
  Graph scratch;
  trace::Tracer::Redirect redirect(tracer, scratch);
  std::vector<Argument> inner = arguments;
  for (size_t i = 0; i < inner.size(); ++i)
    if (types[i])
      inner[i] = fromTraced(tracer.placeholder(op.schema.arguments[i].name, *types[i]));
  ++bodyDepth;
  std::vector<Tensor> expected = op.fake(inner);
  --bodyDepth;
  auto text = [](const Tensor &tensor) {
    return toString(TensorType(tensor.state->object->tensor.type.dtype,
                               tensor.state->object->tensor.type.shape));
  };
  if (expected.size() != results.size())
    throw Error("register_fake of operator '" + op.declared.name + "' gives " +
                std::to_string(expected.size()) + " tensor(s) and the operator " +
                std::to_string(results.size()));
  for (size_t i = 0; i < results.size(); ++i)
    if (text(expected[i]) != text(results[i]))
      throw Error("register_fake of operator '" + op.declared.name + "' says that result " +
                  std::to_string(i) + " is " + text(expected[i]) + ", the operator makes " +
                  text(results[i]));
}

// --- the end
// ------------------------------------------------------------------------------------------------------

bool Recording::isInputMemory(const TracedStorage *storage, size_t &which) const {
  for (which = 0; which < inputs.size(); ++which)
    if (inputs[which].second.get() == storage)
      return true;
  return false;
}

bool Recording::wroteInputs() const {
  for (const auto &[name, storage] : inputs)
    if (storage->version > 0)
      return true;
  return false;
}

void Recording::finish(const std::vector<Tensor> &results) {
  std::vector<graph::Argument> outputs;
  for (const auto &[name, storage] : constants)
    if (storage->version > 0)
      throw Error(
          "'" + name +
          "' is written to, and it is not an input of the function: its values are fixed when "
          "the program is compiled; "
          "make it an input or a buffer");
  auto addMutation = [&](const std::string &name, const std::shared_ptr<TracedStorage> &storage,
                         OutputSpec::Kind kind) {
    if (storage->conflict)
      tracer.checkKnown(*storage, storage->conflict->written);
    if (storage->version == 0)
      return;
    outputs.push_back(graph::Argument(storage->base));
    tracer.program.outputs.push_back({kind, name});
  };
  for (const auto &[name, storage] : buffers)
    addMutation(name, storage, OutputSpec::Kind::BufferMutation);
  for (const auto &[name, storage] : inputs)
    addMutation(name, storage, OutputSpec::Kind::UserInputMutation);
  for (const Tensor &result : results) {
    Tensor traced = result;
    if (!isTraced(stateOf(result, "a result")))
      traced = fromHost(captured(result)).front();
    outputs.push_back(graph::Argument(currentValue(*this, traced)));
    tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  }
  tracer.program.main.output(std::move(outputs));
}

} // namespace pellucid::api
