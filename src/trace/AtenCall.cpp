// SPDX-License-Identifier: Apache-2.0
// Operators of torch as the traced file calls them.
#include "trace/ArchiveComplex.h"
#include "trace/AtenArguments.h"
#include "trace/AtenComposites.h"
#include "trace/Autocast.h"
#include "trace/Dispatch.h"
#include "trace/EachTensor.h"
#include "trace/EagerRecorder.h"
#include "trace/GradientNames.h"
#include "trace/Gradients.h"
#include "trace/HeldNumber.h"
#include "trace/HostDraws.h"
#include "trace/HostScalars.h"
#include "trace/MemoryFormats.h"
#include "trace/NumberOperands.h"
#include "trace/OperandErrors.h"
#include "trace/ReadSizes.h"
#include "trace/RewrittenCalls.h"

#include <algorithm>
#include <cmath>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

/// A list of one tensor is a list still.
static bool returnsList(const Operator &op) {
  return op.schema.returns.size() == 1 && op.schema.returns[0].type.list;
}

/// Where a call wants its result: `out=`, or its first tensor for `inplace=True`. Null: a new one.
static TensorObject *destinationOf(h::Interpreter &interpreter, const h::CallArgs &args) {
  if (const h::Value *out = args.keyword("out"); out && !out->isNone()) {
    auto *tensor = out->as<TensorObject>();
    if (!tensor)
      interpreter.refuse("'out' must be one tensor, got " + h::typeName(*out));
    return tensor;
  }
  const h::Value *inPlace = args.keyword("inplace");
  if (!inPlace || !interpreter.truth(*inPlace))
    return nullptr;
  const h::Value *input =
      args.positional.empty() ? args.keyword("input") : &args.positional.front();
  return input ? input->as<TensorObject>() : nullptr;
}

/// The tensors in an argument, those in lists too.
static void collectTensors(const h::Value &value, std::vector<h::Value> &out) {
  if (value.as<TensorObject>())
    out.push_back(value);
  else if (value.isSequence())
    for (const h::Value &element : value.elements())
      collectTensors(element, out);
}

/// A program draws from the seed and offset of its run.
static void refuseGenerator(h::Interpreter &interpreter, const std::string &name,
                            const h::Value &generator) {
  if (!generator.isNone())
    interpreter.refuse("'" + name +
                       "' with a generator: a program draws from the seed and offset "
                       "of its run; leave generator out");
}

/// The overload written with other operators that takes what none of the registry's does:
/// masked_fill of a value that is a tensor, any() over several dims. Null where there is none.
static const AtenComposite *otherOverload(h::Interpreter &interpreter, const std::string &packet,
                                          const std::vector<Argument> &positional,
                                          const KeywordArguments &keywords) {
  std::string reason;
  for (const AtenComposite *record : atenComposites(interpreter, packet))
    if (bindArguments(record->schema, positional, keywords, false, reason))
      return record;
  return nullptr;
}

/// str(value); what a torch.device says needs no call.
static std::string deviceText(h::Interpreter &interpreter, const h::Value &value) {
  auto *device = value.as<h::Instance>();
  if (!device || device->cls->name != "device")
    return interpreter.str(value);
  const h::Value *type = device->attributes.find("type"), *index = device->attributes.find("index");
  if (!type || !index || !type->isStr() || !(index->isNone() || index->isInt()))
    return interpreter.str(value);
  return index->isNone() ? type->str() : type->str() + ":" + h::toString(index->integer());
}

/// Where a script wants a tensor; nullopt where it says nothing.
std::optional<Device> deviceAsked(Tracer &tracer, h::Interpreter &interpreter,
                                  const h::Value &value) {
  if (value.isNone())
    return std::nullopt;
  std::string text =
      value.isInt() ? "cuda:" + interpreter.str(value) : deviceText(interpreter, value);
  std::optional<Device> device = deviceNamed(text);
  if (!device)
    interpreter.raise("RuntimeError",
                      "Expected one of cpu, cuda device type at start of device string: " + text);
  if (device->kind == Device::Kind::Cpu)
    return Device();
  int count = tracer.devices ? tracer.devices->count() : 0;
  if (count == 0)
    interpreter.raise("AssertionError", "Torch not compiled with CUDA enabled: there is no '" +
                                            text +
                                            "' here; 'pellucid exec --device cuda=cpu' runs the "
                                            "script on the CPU");
  tracer.devices->areUsed = true;
  if (device->index < 0)
    device->index = tracer.devices->current;
  if (device->index >= count)
    interpreter.raise(
        "RuntimeError",
        "CUDA error: invalid device ordinal: '" + text + "', and there " +
            (count == 1 ? "is one device" : "are " + std::to_string(count) + " devices"));
  return device;
}

/// Where tensors are made of which a script does not say it.
static std::optional<Device> defaultDevice(const Tracer &tracer) {
  return tracer.devices ? tracer.devices->byDefault : std::nullopt;
}

/// Whether torch's own code runs: what it makes for itself goes along with any device.
static bool isTorchsOwn(const SourceLocation &where) {
  if (!where.file)
    return false;
  for (std::string_view ours : {"<torch>", "<torch.optim>", "<torch.nn.functional>"})
    if (where.file->path() == ours)
      return true;
  return false;
}

AskedDevice::AskedDevice(Tracer &t, h::Interpreter &interpreter, const h::Value *device)
    : tracer(t) {
  if (!tracer.devices)
    return;
  before = std::exchange(tracer.devices->asked, std::nullopt);
  if (device && !device->isNone())
    tracer.devices->asked = deviceAsked(tracer, interpreter, *device);
  else if (!isTorchsOwn(interpreter.location()))
    tracer.devices->asked = defaultDevice(tracer);
}

AskedDevice::~AskedDevice() {
  if (tracer.devices)
    tracer.devices->asked = before;
}

h::Value placedAs(h::Interpreter &interpreter, const h::Value &result,
                  std::optional<Device> device) {
  auto *tensor = result.as<TensorObject>();
  if (!tensor)
    return result;
  TracedStorage &storage = *tensor->tensor.storage;
  if (device) {
    storage.device = *device;
    storage.isPlaced = true;
    return result;
  }
  storage.device = Device();
  if (isTorchsOwn(interpreter.location()))
    storage.isPlaced = false;
  else if (auto wanted = defaultDevice(tensor->tracer))
    storage.device = *wanted;
  return result;
}

/// As PyTorch: a number without dims goes along with any device, indices and copies may lie
/// anywhere.
static void checkOneDevice(h::Interpreter &interpreter, const std::string &packet,
                           const std::vector<h::Value> &tensors) {
  if (packet == "aten.copy" || packet.starts_with("aten.index") || packet.starts_with("aten.to"))
    return;
  std::optional<Device> first;
  for (const h::Value &value : tensors) {
    const TracedTensor &tensor = value.as<TensorObject>()->tensor;
    Device device = tensor.storage->device;
    if (!tensor.storage->isPlaced || (tensor.type.rank() == 0 && device.kind == Device::Kind::Cpu))
      continue;
    if (first && *first != device) {
      // The CPU is named last.
      bool isCpu = first->kind == Device::Kind::Cpu;
      interpreter.raise("RuntimeError",
                        "Expected all tensors to be on the same device, but found at least two "
                        "devices, " +
                            toString(isCpu ? device : *first) + " and " +
                            toString(isCpu ? *first : device) + "!");
    }
    first = device;
  }
}

namespace {
/// Which device the tensors that it is shown lie on.
class DeviceOfTensors {
public:
  void add(const TracedTensor &tensor) {
    const TracedStorage &storage = *tensor.storage;
    if (!storage.isPlaced)
      return;
    int counts = 2 * (tensor.type.rank() > 0) + (storage.device.kind == Device::Kind::Cuda);
    if (counts > best)
      found = storage.device;
    best = std::max(best, counts);
  }
  std::optional<Device> found;

private:
  int best = -1;
};

bool hasTensors(const h::CallArgs &args) {
  bool any = false;
  forEachTensor(args, [&](const TensorObject &) { any = true; });
  return any;
}
} // namespace

std::optional<Device> deviceOfTensors(const std::vector<h::Value> &tensors) {
  DeviceOfTensors device;
  for (const h::Value &value : tensors)
    device.add(value.as<TensorObject>()->tensor);
  return device.found;
}

/// Operators are computed where their tensors are, and factories where the script wants theirs.
static void computeBesideOperands(Tracer &tracer, h::Interpreter &interpreter,
                                  const h::CallArgs &args) {
  DeviceOfTensors ofTensors;
  bool any = false;
  forEachTensor(args, [&](const TensorObject &operand) {
    any = true;
    ofTensors.add(operand.tensor);
  });
  std::optional<Device> device = ofTensors.found;
  if (!any && !isTorchsOwn(interpreter.location()))
    device = defaultDevice(tracer).value_or(Device());
  if (const h::Value *asked = args.keyword("device"))
    if (auto wanted = deviceAsked(tracer, interpreter, *asked))
      device = wanted;
  if (device)
    tracer.recorder->computeOn(*device);
}

static h::Value recordAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                           const h::CallArgs &args);

/// What a graph that a script traces holds is all in one place; what its tensors say of theirs is
/// the script's to see.
static h::Value recordInTrace(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                              const h::CallArgs &args) {
  std::optional<Device> asked;
  if (const h::Value *device = args.keyword("device"))
    asked = deviceAsked(tracer, interpreter, *device);
  h::Value result = recordAten(tracer, interpreter, name, args);
  return asked || !hasTensors(args) ? placedAs(interpreter, result, asked) : result;
}

h::Value callAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                  const h::CallArgs &args) {
  if (auto result = calledOnComplex(interpreter, name, args, true))
    return *result;
  if (!interpreter.dispatch.autocast.empty())
    if (auto cast = autocastArguments(interpreter, name, args))
      return callAten(tracer, interpreter, name, *cast);
  if (auto result = dispatchAten(tracer, interpreter, name, args))
    return *result;
  if (!isEager(tracer))
    return tracer.recorder ? recordInTrace(tracer, interpreter, name, args)
                           : recordAten(tracer, interpreter, name, args);
  if (auto number = computedAtOnce(tracer, name, args))
    return *number;
  if (tracer.devices && tracer.devices->areUsed)
    computeBesideOperands(tracer, interpreter, args);
  tracer.recorder->beforeOperator(interpreter.location());
  const h::Value *device = args.keyword("device");
  if (!device) {
    {
      // Numbers go along with any device, and do not end a segment.
      EagerRecorder::Placed placed(*tracer.recorder, tracer.recorder->device());
      if (auto result = withNumbersAsOperands(tracer, interpreter, name, args))
        return *result;
    }
    if (hasTensors(args)) {
      NamedGradients named(name, args);
      return named(recordAten(tracer, interpreter, name, args));
    }
    AskedDevice none(tracer, interpreter, nullptr);
    return placedAs(interpreter, recordAten(tracer, interpreter, name, args), std::nullopt);
  }
  h::CallArgs plain = args;
  std::optional<Device> asked = deviceAsked(tracer, interpreter, *device);
  AskedDevice wanted(tracer, interpreter, device);
  std::erase_if(plain.keywords, [](const auto &keyword) { return keyword.first == "device"; });
  return placedAs(interpreter, recordAten(tracer, interpreter, name, plain), asked);
}

namespace {
/// What the call that was just recorded in a script asks of its operands' values.
class CallChecks {
public:
  CallChecks(Tracer &t, const std::vector<TracedTensor *> &operands,
             const std::vector<TracedTensor> &results)
      : tracer(t), segment(t.segment) {
    if (!t.called || !isEager(t))
      return;
    if (t.called->op.kind == Operator::Kind::Assertion)
      t.recorder->noteAssertion();
    if (results.empty())
      return;
    for (ValueCheck &check : valueChecks(*t.called, *results.front().value->producer()))
      for (TracedTensor *operand : operands)
        if (operand->value == check.value) {
          checks.emplace_back(std::move(check), operand);
          break;
        }
  }
  /// When the call is noted: what is not known may be computed now.
  void run() {
    for (auto &[check, operand] : checks) {
      if (tracer.segment != segment) {
        check.node = nullptr;
        check.value = tracer.valueOf(*operand, check.where);
      }
      tracer.recorder->check(check, *operand);
    }
  }

private:
  Tracer &tracer;
  uint64_t segment;
  std::vector<std::pair<ValueCheck, TracedTensor *>> checks;
};
} // namespace

bool isInOurText(const SourceLocation &where) {
  return where.file && where.file->path().starts_with("<");
}

/// A layer's own line says nothing of which of the user's layers it is.
static DiagnosticError withCallers(const h::Interpreter &interpreter, Diagnostic diagnostic) {
  constexpr size_t mostOutside = 4;
  size_t outside = 0;
  for (const SourceLocation &site : interpreter.callStack())
    if (!isInOurText(site) && outside++ < mostOutside)
      diagnostic.note(site, "called from here");
  return DiagnosticError(std::move(diagnostic));
}

/// Under another default than float32: a call whose floats have no type of their own, with that
/// type. Integers become floats of it before they are computed with.
static std::optional<h::Value>
withDefaultFloats(Tracer &tracer, h::Interpreter &interpreter, const std::string &target,
                  const std::vector<Argument> &positional, const KeywordArguments &keywords,
                  const std::vector<h::Value> &tensors, const h::CallArgs &args) {
  DataType wanted = tracer.printing.floats;
  auto isType = [](const Argument &given) { return given.as<DataType>().has_value(); };
  bool isFloating = std::any_of(tensors.begin(), tensors.end(), [](const h::Value &value) {
    return isFloat(value.as<TensorObject>()->tensor.type.dtype);
  });
  if (isFloating || std::any_of(positional.begin(), positional.end(), isType) ||
      std::any_of(keywords.begin(), keywords.end(),
                  [&](const auto &keyword) { return isType(keyword.second); }))
    return std::nullopt;
  std::vector<ResultType> results = resultsOf(bindCall(
      tracer.registry, tracer.symbols(), target, positional, keywords, interpreter.location()));
  const TensorType *first = results.empty() ? nullptr : std::get_if<TensorType>(&results.front());
  if (!first || first->dtype != DataType::Float32)
    return std::nullopt;
  h::CallArgs again = args;
  if (tensors.empty()) {
    std::erase_if(again.keywords, [](const auto &keyword) { return keyword.first == "dtype"; });
    again.keywords.emplace_back("dtype", dtypeValue(wanted));
    return callAten(tracer, interpreter, target, again);
  }
  auto widen = [&](h::Value &value) {
    if (auto *tensor = value.as<TensorObject>())
      value = castTo(*tensor, interpreter, wanted);
  };
  for (h::Value &value : again.positional)
    widen(value);
  for (auto &[key, value] : again.keywords)
    widen(value);
  return callAten(tracer, interpreter, target, again);
}

static h::Value recordAten(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                           const h::CallArgs &args) {
  if (TensorObject *destination = destinationOf(interpreter, args)) {
    h::CallArgs plain = args;
    std::erase_if(plain.keywords, [](const auto &keyword) {
      return keyword.first == "out" || keyword.first == "inplace";
    });
    if (args.keyword("out")) {
      refuseOutOfGradient(tracer, interpreter, name, args);
      if (isEager(tracer))
        checkOverlaps(interpreter, *destination, name, plain);
    } else if (!plain.positional.empty())
      plain.positional.front() = contentsOf(*destination, interpreter);
    return destination->assign(interpreter, callAten(tracer, interpreter, name, plain), name);
  }
  if (auto formatted = callInFormat(tracer, interpreter, name, args))
    return *formatted;
  if (interpreter.merging())
    interpreter.refuse("a side of a branch that may not be taken records nothing");
  if (tracer.isConstructing())
    if (std::optional<h::Value> drawn = drawOnHost(tracer, interpreter, name, args)) {
      ++tracer.draws;
      return requiringAsAsked(interpreter, *drawn, args);
    }
  if (std::optional<h::Value> other = rewrittenCall(tracer, interpreter, name, args))
    return *other;
  if (holdsFloatOfSizes(args))
    return callWithFloatOfSizes(tracer, interpreter, name, args);
  std::string packet = name.find('.') == std::string::npos ? "aten." + name : name;
  std::vector<Argument> positional;
  KeywordArguments keywords;
  std::vector<h::Value> tensors;
  positional.reserve(args.positional.size());
  keywords.reserve(args.keywords.size());
  tensors.reserve(args.positional.size());
  for (const h::Value &value : args.positional) {
    collectTensors(value, tensors);
    // Its places are the memory's, of which a part may be an operand by itself.
    if (positional.empty() && isEager(tracer) && packet.starts_with("aten.as_strided"))
      if (auto *self = value.as<TensorObject>())
        tracer.valueInMemory(self->tensor, interpreter.location());
    positional.push_back(toArgument(tracer, interpreter, value));
  }
  for (const auto &[key, value] : args.keywords) {
    // Things that steer autograd or memory and change no value.
    if (key == "requires_grad" || key == "pin_memory" || key == "inplace" || key == "out")
      continue;
    if (key == "generator") {
      refuseGenerator(interpreter, name, value);
      continue;
    }
    if (key == "dtype" && value.isStr() && isEager(tracer))
      interpreter.raise("TypeError", name.substr(name.starts_with("aten.") ? 5 : 0) +
                                         "(): argument 'dtype' must be torch.dtype, not str");
    if (key == "layout") {
      if (!value.isNone() && !(value.isStr() && value.str() == "strided"))
        interpreter.refuse("tensors have the strided layout, got " + interpreter.str(value));
      continue;
    }
    if (key == "memory_format" && !value.isNone() &&
        (!value.isStr() ||
         (value.str() != "contiguous_format" && value.str() != "preserve_format")))
      interpreter.refuse("tensors in the memory format " + interpreter.str(value) +
                         " are not supported; contiguous_format and preserve_format are");
    if (key == "device" && value.isInt()) {
      keywords.emplace_back(
          key, Argument(Device{Device::Kind::Cuda,
                               static_cast<int>(interpreter.toInt64(value, "a device's number"))}));
      continue;
    }
    collectTensors(value, tensors);
    keywords.emplace_back(nameInSchemas(tracer.registry, packet, key),
                          toArgument(tracer, interpreter, value));
  }
  if (packet == "aten.split")
    splitBySizes(packet, positional, keywords);
  auto raising = [&](auto body) {
    try {
      return body();
    } catch (const h::RaisedError &) {
      throw;
    } catch (const DiagnosticError &error) {
      if (isEager(tracer))
        if (auto operand = operandError(tracer.registry, packet, positional, keywords))
          raiseOperandError(interpreter, *operand);
      if (isEager(tracer) && !isInOurText(interpreter.location()))
        if (auto given = argumentError(interpreter, tracer.registry, packet, positional, keywords))
          raiseOperandError(interpreter, *given);
      if (isInOurText(error.diagnostic.location) && error.diagnostic.notes.empty())
        throw withCallers(interpreter, error.diagnostic);
      throw;
    }
  };
  // From here on the overload is known: nothing tries the others again.
  const AtenComposite *other = nullptr;
  const Operator *op = raising([&]() -> const Operator * {
    try {
      return &normalizeArguments(tracer, packet, positional, keywords, interpreter.location());
    } catch (const DiagnosticError &) {
      other = otherOverload(interpreter, packet, positional, keywords);
      if (!other)
        throw;
      return nullptr;
    }
  });
  if (other)
    return callAtenComposite(interpreter, *other, args);
  const std::string &target = op->registeredTarget;
  // An assertion of an operator is its caller's.
  SourceLocation where = packet.starts_with("aten._assert_async") ? usersLocation(interpreter)
                                                                  : interpreter.location();
  std::vector<TracedTensor *> operands;
  operands.reserve(tensors.size());
  for (const h::Value &value : tensors)
    operands.push_back(&value.as<TensorObject>()->tensor);
  if (tracer.devices && tracer.devices->areUsed && isEager(tracer))
    checkOneDevice(interpreter, packet, tensors);
  if (tracer.printing.floats != DataType::Float32)
    if (auto result =
            withDefaultFloats(tracer, interpreter, target, positional, keywords, tensors, args))
      return *result;
  if (isEager(tracer) && !isInOurText(interpreter.location()))
    if (auto wrong = conditionError(target, positional, keywords))
      raiseOperandError(interpreter, *wrong);
  auto same = raising([&] { return tracer.givenBack(*op, positional, keywords, operands, where); });
  if (same)
    return tensors[*same];
  std::vector<TracedTensor> results =
      raising([&] { return tracer.call(*op, positional, keywords, operands, where); });
  CallChecks checks(tracer, operands, results);
  if (!tracer.readSymbols.empty())
    for (const TracedTensor &result : results)
      noteSizes(tracer, result.type);
  h::Tuple tuple;
  tuple.reserve(results.size());
  for (TracedTensor &result : results)
    tuple.push_back(tensorValue(tracer, std::move(result)));
  if (tracer.gradients.available)
    noteResults(tracer, interpreter, *tracer.called, args, tensors, tuple);
  if (tracer.recorder)
    for (const h::Value &result : tuple)
      tracer.recorder->forgetView(result.as<TensorObject>()->tensor);
  checks.run();
  if (tuple.size() == 1 && !returnsList(*op))
    return requiringAsAsked(interpreter, tuple[0], args);
  return h::Value::tuple(std::move(tuple));
}

h::CallArgs argsOf(std::vector<h::Value> positional,
                   std::vector<std::pair<std::string, h::Value>> keywords) {
  h::CallArgs args;
  args.positional = std::move(positional);
  args.keywords = std::move(keywords);
  return args;
}

h::Value selfOf(TensorObject &object) {
  return h::Value(std::static_pointer_cast<h::Object>(object.shared_from_this()));
}

h::Value dtypeValue(DataType type) {
  return h::Value(std::make_shared<h::DType>(type, h::DType::Family::Torch));
}

h::Value castTo(TensorObject &self, h::Interpreter &interpreter, DataType type) {
  if (self.tensor.type.dtype == type)
    return selfOf(self);
  return callAten(self.tracer, interpreter, "to", argsOf({selfOf(self), dtypeValue(type)}));
}

/// What fill_ and copy_ write.
static h::Value writtenValue(h::Interpreter &interpreter, const std::string &name,
                             const h::CallArgs &args) {
  const char *parameter = name == "fill" ? "value" : "src";
  if (!args.positional.empty())
    return args.positional[0];
  if (const h::Value *given = args.keyword(parameter))
    return *given;
  interpreter.refuse("'" + name + "_' needs the argument '" + parameter + "'");
}

/// The operator that gives what `x.NAME_()` writes, where it is not `NAME`.
static std::string functionalName(const std::string &name) {
  return name == "normal" ? "normal_functional" : name == "bernoulli" ? "pellucid.bernoulli" : name;
}

h::Value callInPlace(TensorObject &self, h::Interpreter &interpreter, const std::string &method,
                     const h::CallArgs &args) {
  if (auto result = dispatchInPlace(self, interpreter, method, args))
    return *result;
  std::string name = functionalName(method);
  if (isEager(self.tracer))
    checkOverlaps(interpreter, self, name, args);
  // What is only replaced is not read.
  bool isReplaced = name == "copy" || name == "fill" || name == "zero";
  h::Value before = contentsOf(self, interpreter, isReplaced ? nullptr : &args);
  h::CallArgs call = argsOf({before}, args.keywords);
  call.positional.insert(call.positional.end(), args.positional.begin(), args.positional.end());
  h::Value result;
  bool uniform = false;
  if (self.tracer.isConstructing()) {
    checkInPlace(interpreter, self);
    if (std::optional<h::Value> drawn = fillOnHost(self, interpreter, name, args)) {
      ++self.tracer.draws;
      return *drawn;
    }
  }
  if (isReplaced) {
    h::Value source = name == "zero" ? h::Value(0) : writtenValue(interpreter, name, args);
    // Other than fill_(), copy_() converts a number that the type does not hold.
    if (name == "copy" && (source.isFloat() || source.isInt()) &&
        !isHeldBy(self.tensor.type.dtype, source))
      source = callAten(self.tracer, interpreter, "full", argsOf({h::Value::list({}), source}));
    auto *other = source.as<TensorObject>();
    // `x[1:] += y` ends with a copy of what is there already.
    if (other && other->tensor.storage == self.tensor.storage &&
        other->tensor.type == self.tensor.type)
      return selfOf(self);
    uniform = !other || other->tensor.type.rank() == 0;
    result = callAten(self.tracer, interpreter, source.as<TensorObject>() ? "copy" : "fill",
                      argsOf({before, source}));
  } else if (auto composite = compositeFunction(interpreter, name)) {
    result = callComposite(interpreter, name, *composite, std::move(call));
  } else if (self.tracer.registry.overloads("aten." + name).empty() &&
             !atenComposites(interpreter, "aten." + name).empty()) {
    result = callAtenPacket(interpreter, "aten." + name, std::move(call));
  } else {
    result = callAten(self.tracer, interpreter, name, call);
  }
  return self.assign(interpreter, result, method + "_", uniform);
}

} // namespace pellucid::trace
