// SPDX-License-Identifier: Apache-2.0
// Models that are traced in a script.
#include "trace/ConcreteTensor.h"
#include "trace/EagerRecorder.h"
#include "trace/TraceSession.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;

EagerRecorder::NestedTrace::NestedTrace(EagerRecorder &r, const symbolic::SymbolTable &symbols)
    : recorder(r), assumedStrict(r.tracer.strict) {
  if (r.nested)
    throw DiagnosticError(SourceLocation("trace"), "a model is being traced already");
  r.flush();
  Tracer &tracer = r.tracer;
  outside = std::move(tracer.program);
  tracer.program = Program();
  tracer.program.kernels = outside.kernels;
  tracer.program.symbols = symbols;
  tracer.constructing = false;
  tracer.lifted.clear();
  tracer.followed.clear();
  tracer.merged = false;
  ++tracer.segment;
  r.nested = this;
}

EagerRecorder::NestedTrace::~NestedTrace() {
  Tracer &tracer = recorder.tracer;
  for (Bound &one : bound) {
    TracedStorage &storage = *one.storage;
    storage.base = nullptr;
    storage.memory = one.memory;
    storage.type = one.type;
    storage.version = one.version;
    storage.written.reset();
    storage.conflict.reset();
    storage.constructed = true;
  }
  tracer.strict = assumedStrict;
  tracer.linked.clear();
  tracer.endedRegions.clear();
  tracer.lifted.clear();
  // Kernels that were specialised meanwhile keep their numbers.
  if (tracer.program.kernels.size() > outside.kernels.size())
    outside.kernels = std::move(tracer.program.kernels);
  tracer.program = std::move(outside);
  tracer.constructing = true;
  ++tracer.segment;
  recorder.nested = nullptr;
}

std::vector<std::pair<std::shared_ptr<TracedStorage>, uint64_t>>
EagerRecorder::NestedTrace::held() const {
  std::vector<std::pair<std::shared_ptr<TracedStorage>, uint64_t>> out;
  for (const Bound &one : bound)
    if (one.kind != InputSpec::Kind::UserInput)
      out.emplace_back(one.storage, one.version);
  return out;
}

EagerRecorder::NestedTrace::Bound &
EagerRecorder::NestedTrace::add(const std::string &name, InputSpec::Kind kind,
                                const std::shared_ptr<TracedStorage> &storage) {
  bound.push_back({name, kind, storage, storage->version, storage->memory, storage->type});
  return bound.back();
}

/// The storage becomes a placeholder over its memory.
Value *EagerRecorder::NestedTrace::capture(const std::shared_ptr<TracedStorage> &storage) {
  std::string name = "lifted_tensor_" + std::to_string(constantCount++);
  TracedTensor whole;
  whole.storage = storage;
  whole.type = storage->type;
  bind(whole, name, InputSpec::Kind::ConstantTensor);
  return storage->base;
}

void EagerRecorder::NestedTrace::bind(TracedTensor &tensor, const std::string &name,
                                      InputSpec::Kind kind, bool persistent) {
  Tracer &tracer = recorder.tracer;
  TracedStorage &storage = *tensor.storage;
  recorder.addresses.settle(storage);
  if (!storage.memory) {
    if (storage.initializer.kind == Initializer::Kind::None)
      throw DiagnosticError(SourceLocation(name), "the tensor has no values");
    storage.memory = recorder.made(storage.initializer, storage.type);
  }
  add(name, kind, tensor.storage);
  // Weights are row-major; other memory is seen as it lies.
  if (!storage.type.isContiguous(tracer.symbols()))
    storage.type = TensorType(storage.type.dtype, {storage.type.storageElements(tracer.symbols())});
  std::string flat = name;
  std::replace(flat.begin(), flat.end(), '.', '_');
  const char *prefix = kind == InputSpec::Kind::Parameter ? "p_"
                       : kind == InputSpec::Kind::Buffer  ? "b_"
                                                          : "c_";
  TensorType type(storage.type.dtype, storage.type.shape);
  storage.type = type;
  storage.base = tracer.program.main.placeholder(prefix + flat, type);
  storage.constructed = false;
  storage.isParameter = kind == InputSpec::Kind::Parameter;
  InputSpec spec;
  spec.kind = kind;
  spec.name = name;
  spec.persistent = persistent;
  tracer.program.inputs.push_back(spec);
  Weight weight;
  weight.dtype = type.dtype;
  weight.shape = constants(type.shape);
  weight.bytes = byteCount(type);
  weight.data = partOn(*storage.memory, 0, weight.bytes, {}, true, tracer.devices);
  tracer.program.weights[name] = std::move(weight);
}

TracedTensor EagerRecorder::NestedTrace::input(const std::string &name, const TensorType &type) {
  Tracer &tracer = recorder.tracer;
  TracedTensor tensor = tracer.placeholder(name, type);
  InputSpec spec;
  spec.name = name;
  tracer.program.inputs.push_back(spec);
  bound.push_back({name, InputSpec::Kind::UserInput, tensor.storage, tensor.storage->version,
                   nullptr, tensor.storage->type});
  return tensor;
}

/// The kernels that the program launches, numbered anew.
static void keepUsedKernels(Program &program) {
  std::map<uint32_t, uint32_t> numbers;
  std::vector<KernelDef> kernels;
  auto visit = [&](Graph &graph) {
    for (Node &node : graph) {
      if (!node.isLaunch())
        continue;
      Launch launch = *node.launch();
      for (LaunchVariant &variant : launch.variants) {
        auto [entry, isNew] =
            numbers.try_emplace(variant.kernel, static_cast<uint32_t>(kernels.size()));
        if (isNew)
          kernels.push_back(program.kernels[variant.kernel]);
        variant.kernel = entry->second;
      }
      node.setLaunch(std::move(launch));
    }
  };
  visit(program.main);
  for (Body &body : program.bodies)
    visit(body.graph);
  program.kernels = std::move(kernels);
}

Program EagerRecorder::NestedTrace::finish(std::vector<TracedTensor> &results,
                                           const SourceLocation &where) {
  Tracer &tracer = recorder.tracer;
  std::vector<Argument> values, outputs;
  for (TracedTensor &result : results)
    values.emplace_back(tracer.valueOf(result, where));
  for (const Bound &one : bound) {
    const TracedStorage &storage = *one.storage;
    if (storage.conflict)
      tracer.checkKnown(storage, storage.conflict->written);
    if (storage.version == one.version || (storage.isParameter && !storage.written))
      continue;
    if (one.kind == InputSpec::Kind::ConstantTensor)
      throw DiagnosticError(storage.written.value_or(where),
                            "a tensor that was made outside is written to while the model is "
                            "traced; register it as a buffer, or make it an input");
    outputs.emplace_back(storage.base);
    tracer.program.outputs.push_back({one.kind == InputSpec::Kind::UserInput
                                          ? OutputSpec::Kind::UserInputMutation
                                          : OutputSpec::Kind::BufferMutation,
                                      one.name});
  }
  outputs.insert(outputs.end(), values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i)
    tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  tracer.program.main.output(std::move(outputs));
  // A size that values decide inside of an operator is known there alone.
  if (std::vector<std::string> problems = tracer.program.verify(); !problems.empty())
    throw DiagnosticError(where, "this cannot be one program: " + problems.front());
  Program program = tracer.program.clone();
  keepUsedKernels(program);
  return program;
}

} // namespace pellucid::trace
