// SPDX-License-Identifier: Apache-2.0
#include "eager/Session.h"

#include "eager/QueuedRuns.h"

#include "host/InterpreterState.h"
#include "support/PlainNumbers.h"
#include "trace/OperandErrors.h"
#include "trace/TensorCalls.h"
#include "trace/TraceSession.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

namespace pellucid::eager {

using namespace trace;
using graph::InputSpec;
using graph::TensorType;
namespace h = pellucid::host;

void Session::fail(const Diagnostic &diagnostic) {
  if (diagnostic.location.file || !interpreter)
    throw DiagnosticError(diagnostic);
  if (!diagnostic.message.starts_with("CUDA out of memory"))
    interpreter->refuse(interpreter->location(), diagnostic.message);
  h::Value cuda = h::Value(interpreter->nativeModule("torch.cuda"));
  h::Value exception = interpreter->call(interpreter->getAttr(cuda, "OutOfMemoryError"),
                                         {h::Value(diagnostic.message)});
  h::noteRaised(*interpreter, exception);
  throw h::RaisedError(Diagnostic(Severity::Error, interpreter->location(), diagnostic.message),
                       exception);
}

std::optional<std::vector<ConcreteTensor>>
Session::outputsFor(const std::vector<ConcreteTensor> &like, graph::Device place) {
  CudaDevice &device = CudaDevices::get().at(place.index);
  std::vector<ConcreteTensor> out = like;
  for (ConcreteTensor &tensor : out) {
    size_t bytes = static_cast<size_t>(tensor.numel()) * byteSize(tensor.dtype);
    void *block = device.memory().allocate(bytes);
    if (!block)
      return std::nullopt;
    tensor.data = {static_cast<std::byte *>(block), [&device](const std::byte *data) {
                     device.memory().release(const_cast<std::byte *>(data));
                   }};
  }
  return out;
}

/// Whether every output has the same sizes in every call, and none is an input.
static bool hasFixedOutputs(const Compiled &compiled) {
  for (const graph::Argument &result : compiled.program().main.outputNode()->args()) {
    const graph::Value *value = result.value();
    if (!value || !value->isTensor() || value->producer()->isPlaceholder())
      return false;
    for (const symbolic::Expr &size : value->type().shape)
      if (!size.constant())
        return false;
  }
  return true;
}

SegmentRun Session::runOf(std::shared_ptr<Compiled> compiled) {
  /// Of the first run: the outputs' types, without their memory.
  struct Known {
    bool isFixed = false;
    std::vector<ConcreteTensor> outputs;
  };
  auto known = std::make_shared<Known>();
  known->isFixed = options.runsAhead && compiled->device().kind == graph::Device::Kind::Cuda &&
                   hasFixedOutputs(*compiled);
  auto takeData = [](std::vector<ConcreteTensor> tensors) {
    std::vector<std::shared_ptr<const std::byte>> out;
    for (ConcreteTensor &tensor : tensors)
      out.push_back(std::move(tensor.data));
    return out;
  };
  return [this, compiled, known, takeData](const std::vector<ConcreteTensor> &inputs) {
    ++packagesRun;
    if (known->isFixed && !known->outputs.empty() && mayRunLater()) {
      // What the last one held is free from here on.
      atScriptsLine([] { QueuedRuns::get().settle(); });
      if (auto outputs = outputsFor(known->outputs, compiled->device())) {
        QueuedRuns::get().add(
            [compiled, inputs, outputs = *outputs] { compiled->runInto(inputs, outputs); });
        return takeData(std::move(*outputs));
      }
    }
    std::vector<ConcreteTensor> made = atScriptsLine([&] { return compiled->run(inputs); });
    if (known->isFixed && known->outputs.empty()) {
      auto isInput = [&](const ConcreteTensor &output) {
        return std::any_of(inputs.begin(), inputs.end(), [&](const ConcreteTensor &input) {
          return input.data.get() == output.data.get();
        });
      };
      known->isFixed = std::none_of(made.begin(), made.end(), isInput);
      for (const ConcreteTensor &output : made) {
        known->outputs.push_back(output);
        known->outputs.back().data = nullptr;
      }
    }
    return takeData(std::move(made));
  };
}

Session::Session(SessionOptions o)
    : options(std::move(o)), scriptDevices(options.devices.count("cuda") != 0),
      configTimes(options.contractsFma, workers),
      eager(recordingTracer,
            [this](const graph::Program &program, graph::Device place) {
              driver::CompileOptions compile = compileOptions(place);
              // On a device products are cut by their sizes too, and one program takes them all.
              compile.bitsOfKnownSizes = place.kind != graph::Device::Kind::Cuda;
              compile.inputAlignment = eager.operandAlignment();
              compile.exactTarget = true;
              if (place.kind == graph::Device::Kind::Cuda)
                compile.outputAlignment = DeviceMemory::alignment;
              compile.sharesNumbers = [this](const graph::KernelDef &kernel) {
                return configTimes.wasTimed(kernel);
              };
              return runOf(made(program, compile, place));
            }),
      traceHooks(&recordingTracer) {
  recordingTracer.warn = options.warn;
  recordingTracer.devices = &scriptDevices;
  scriptDevices.onFailure = [this](const Diagnostic &diagnostic) { fail(diagnostic); };
  scriptDevices.chooseConfig = [this](const TuneQuestion &question) {
    return configTimes.choose(question, scriptDevices.placeOf(eager.device()));
  };
}

driver::CompileOptions Session::compileOptions(graph::Device place) const {
  driver::CompileOptions compile = eagerOptions(options.contractsFma, place);
  compile.keptWorkers = workers;
  compile.tf32 = tf32.convolutions;
  compile.tf32Products = tf32.products;
  return compile;
}

void Session::truncate(Truncated what) {
  if (what == tf32)
    return;
  eager.forgetPrograms();
  tf32 = what;
}

Session::~Session() { QueuedRuns::get().settleQuietly(); }

void Session::addModules(h::NativeModules &modules) {
  addTracedModules(modules, recordingTracer, {options.devices.count("cuda") ? "cuda" : "cpu"});
  addEagerModules(modules, recordingTracer);
}

void Session::begin(h::Interpreter &i) { interpreter = &i; }

void Session::finish() {
  eager.flush();
  atScriptsLine([] { QueuedRuns::get().settle(); });
}

std::shared_ptr<Compiled> Session::compile(const graph::Program &program, graph::Device device,
                                           bool fuses) {
  graph::Device place = scriptDevices.placeOf(device);
  driver::CompileOptions compile = compileOptions(place);
  compile.fuseIntoKernels = fuses;
  compile.stateAsInputs = true;
  return made(program, compile, place);
}

std::shared_ptr<Compiled> Session::made(const graph::Program &program,
                                        const driver::CompileOptions &compile,
                                        graph::Device place) {
  auto begin = std::chrono::steady_clock::now();
  auto compiled = std::make_shared<Compiled>(program, compile, place);
  secondsMaking += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ++packagesMade;
  return compiled;
}

std::string Session::report() const {
  PlainNumbers numbers;
  char text[512];
  std::snprintf(text, sizeof text,
                "%zu programs compiled and loaded in %.2f s, %zu calls of them; %llu kernels made, "
                "%llu found again; %zu configs of %zu launches timed in %.2f s",
                packagesMade, secondsMaking, packagesRun,
                static_cast<unsigned long long>(workers->made),
                static_cast<unsigned long long>(workers->remembered), configTimes.configs,
                configTimes.questions, configTimes.seconds);
  return text;
}

ConcreteTensor Session::valuesOf(const h::Value &tensor) {
  auto *object = tensor.as<TensorObject>();
  if (!object)
    interpreter->raise("TypeError", "expected a tensor, got " + h::typeName(tensor));
  return eager.valuesOf(object->tensor, interpreter->location());
}

h::Value Session::tensorOf(const ConcreteTensor &values, graph::Device device) {
  return tensorValue(recordingTracer, eager.tensorOf(values, device));
}

ConcreteTensor Session::inputOf(const h::Value &tensor, graph::Device place) {
  auto *object = tensor.as<TensorObject>();
  if (!object || place.kind == graph::Device::Kind::Cpu) {
    ConcreteTensor values = valuesOf(tensor);
    values.data = values.dense();
    int64_t stride = 1;
    for (size_t d = values.shape.size(); d-- > 0; stride *= values.shape[d])
      values.strides[d] = stride;
    return values;
  }
  ConcreteTensor values = eager.valuesOn(place, object->tensor, interpreter->location());
  if (values.isRowMajor())
    return values;
  h::Value dense = callAten(recordingTracer, *interpreter, "contiguous", argsOf({tensor}));
  return eager.valuesOn(place, dense.as<TensorObject>()->tensor, interpreter->location());
}

std::vector<h::Value> Session::run(const Compiled &compiled, const std::vector<h::Value> &tensors) {
  std::vector<ConcreteTensor> inputs;
  for (const h::Value &tensor : tensors)
    inputs.push_back(inputOf(tensor, compiled.device()));
  std::vector<h::Value> results;
  try {
    for (const ConcreteTensor &tensor : atScriptsLine([&] { return compiled.run(inputs); }))
      results.push_back(tensorOf(tensor));
  } catch (const SegmentFailure &failure) {
    raiseFailure(failure, nullptr);
  }
  return results;
}

//===-- tracing -------------------------------------------------------------------------------===//

namespace {

/// The arguments of a call with every tensor replaced by an input of the program.
class TracedInputs {
public:
  TracedInputs(Tracer &t, EagerRecorder::NestedTrace &n, const TraceRequest &r)
      : tracer(t), nested(n), request(r) {}

  h::Value of(const h::Value &value, const std::string &name) {
    if (auto *tensor = value.as<TensorObject>())
      return input(*tensor, name);
    if (value.isDict()) {
      h::Dict dict;
      for (const auto &[key, element] : value.dictionary().items())
        dict.set(key, of(element, name + "_" + (key.isStr() ? key.str() : h::repr(key))));
      return h::Value::dict(std::move(dict));
    }
    if (!value.isList() && !value.isTuple())
      return value;
    h::List list;
    for (const h::Value &element : value.elements())
      list.push_back(of(element, name + "_" + std::to_string(list.size())));
    return value.isTuple() ? h::Value::tuple(std::move(list)) : h::Value::list(std::move(list));
  }

  graph::Device device; ///< of the arguments

private:
  h::Value input(const TensorObject &tensor, const std::string &name) {
    TensorType type(tensor.tensor.type.dtype, tensor.tensor.type.shape);
    if (next < request.dims.size())
      for (size_t d = 0; d < std::min(type.shape.size(), request.dims[next].size()); ++d)
        if (const auto &dim = request.dims[next][d])
          type.shape[d] = symbolic::Expr::symbol(dim->symbol);
    ++next;
    type = TensorType(type.dtype, type.shape);
    TracedTensor made = nested.input(name, type);
    made.storage->device = tensor.tensor.storage->device;
    if (made.storage->device.kind == graph::Device::Kind::Cuda)
      device = made.storage->device;
    tracer.recorder->assume(device);
    return tensorValue(tracer, std::move(made));
  }

  Tracer &tracer;
  EagerRecorder::NestedTrace &nested;
  const TraceRequest &request;
  size_t next = 0;
};

void collectTensors(const h::Value &value, std::vector<TracedTensor> &out,
                    h::Interpreter &interpreter) {
  if (auto *tensor = value.as<TensorObject>()) {
    out.push_back(tensor->tensor);
  } else if (value.isDict()) {
    for (const auto &[key, element] : value.dictionary().items())
      collectTensors(element, out, interpreter);
  } else if (value.isSequence()) {
    for (const h::Value &element : value.elements())
      collectTensors(element, out, interpreter);
  } else if (value.as<h::Instance>() && interpreter.findAttr(value, "_fields")) {
    for (const h::Value &element : interpreter.iterate(value))
      collectTensors(element, out, interpreter);
  }
}

/// The sizes of the arguments' tensors, in order.
void collectTypes(const h::Value &value, std::vector<TensorType> &out) {
  if (auto *tensor = value.as<TensorObject>())
    out.push_back(tensor->tensor.type);
  else if (value.isDict())
    for (const auto &[key, element] : value.dictionary().items())
      collectTypes(element, out);
  else if (value.isSequence())
    for (const h::Value &element : value.elements())
      collectTypes(element, out);
}

/// The request's symbols, with the example's sizes as hints.
symbolic::SymbolTable symbolsOf(const TraceRequest &request, const h::CallArgs &args) {
  std::vector<TensorType> types;
  for (const h::Value &value : args.positional)
    collectTypes(value, types);
  for (const auto &[name, value] : args.keywords)
    collectTypes(value, types);
  symbolic::SymbolTable symbols;
  for (size_t i = 0; i < std::min(types.size(), request.dims.size()); ++i)
    for (size_t d = 0; d < std::min(types[i].rank(), request.dims[i].size()); ++d)
      if (const auto &dim = request.dims[i][d]; dim && !symbols.find(dim->symbol)) {
        symbolic::SymbolInfo info;
        info.range = {dim->min, dim->max};
        info.hint = types[i].shape[d].constant();
        symbols.declare(dim->symbol, info);
      }
  return symbols;
}

std::vector<std::string> parameterNames(h::Interpreter &interpreter, const h::Value &callable) {
  h::Value target = callable;
  if (callable.as<h::Instance>())
    target = interpreter.getAttr(callable, "forward");
  bool isBound = false;
  if (auto *bound = target.as<h::BoundMethod>()) {
    target = bound->function;
    isBound = true;
  }
  std::vector<std::string> names;
  auto *function = target.as<h::Function>();
  if (!function || !function->parameters)
    return names;
  for (const auto *list : {&function->parameters->posonlyargs, &function->parameters->args})
    for (const auto &parameter : *list)
      names.push_back(parameter->arg);
  if (isBound && !names.empty())
    names.erase(names.begin());
  return names;
}

} // namespace

TracedModel Session::trace(const h::Value &callable, h::CallArgs args,
                           const TraceRequest &request) {
  h::Interpreter &i = *interpreter;
  std::vector<std::pair<std::string, h::Value>> parameters, buffers;
  auto collect = [&](const char *method, auto &out) {
    for (const h::Value &pair : i.iterate(i.call(i.getAttr(callable, method))))
      out.emplace_back(pair.elements().at(0).str(), pair.elements().at(1));
  };
  if (callable.as<h::Instance>() && i.findAttr(callable, "named_parameters")) {
    collect("named_parameters", parameters);
    collect("named_buffers", buffers);
  }
  symbolic::SymbolTable symbols = symbolsOf(request, args);
  EagerRecorder::NestedTrace nested(eager, symbols);
  recordingTracer.strict = recordingTracer.program.strict = request.strict;
  eager.assume({});
  struct Constructing {
    h::Interpreter &interpreter;
    explicit Constructing(h::Interpreter &i) : interpreter(i) { setConstructing(i, false); }
    ~Constructing() { setConstructing(interpreter, true); }
  } constructing(i);
  std::set<const TracedStorage *> known;
  auto bind = [&](const auto &list, InputSpec::Kind kind) {
    for (const auto &[name, value] : list)
      if (auto *tensor = value.template as<TensorObject>();
          tensor && known.insert(tensor->tensor.storage.get()).second)
        nested.bind(tensor->tensor, name, kind);
  };
  bind(parameters, InputSpec::Kind::Parameter);
  bind(buffers, InputSpec::Kind::Buffer);
  TracedInputs inputs(recordingTracer, nested, request);
  std::vector<std::string> names = parameterNames(i, callable);
  for (size_t at = 0; at < args.positional.size(); ++at)
    args.positional[at] =
        inputs.of(args.positional[at], at < names.size() ? names[at] : "arg" + std::to_string(at));
  for (auto &[name, value] : args.keywords)
    value = inputs.of(value, name);
  bool isOnGpu = scriptDevices.placeOf(eager.device()).kind == graph::Device::Kind::Cuda;
  recordingTracer.chooseConfig = isOnGpu ? scriptDevices.chooseConfig : ConfigChooser();
  TracedModel traced;
  traced.result = i.call(callable, std::move(args));
  std::vector<TracedTensor> results;
  collectTensors(traced.result, results, i);
  traced.program = nested.finish(results, i.location());
  traced.program.sourceNames = i.sourceNames();
  traced.followed = recordingTracer.followed;
  traced.held = nested.held();
  traced.device = inputs.device;
  for (const auto &[storage, version] : traced.held)
    if (traced.device.kind == graph::Device::Kind::Cpu)
      traced.device = storage->device;
  return traced;
}

} // namespace pellucid::eager
