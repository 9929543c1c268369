// SPDX-License-Identifier: Apache-2.0
#include "trace/EagerRecorder.h"

#include "graph/ControlFlow.h"
#include "reference/graph/Tensor.h"
#include "trace/ConcreteTensor.h"
#include "trace/FormulaMemory.h"
#include "trace/InterpretSegment.h"
#include "trace/OperandErrors.h"
#include "trace/TraceSession.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace pellucid::trace {

using namespace graph;

namespace {

/// Where loops are cut, and where any segment is: code of more operators takes long to compile.
constexpr size_t softLimit = 256, hardLimit = 1024;

bool isPure(const Node &node, const Program &program, const OperatorRegistry &registry) {
  if (node.isLaunch())
    return !hasEffects(node, program);
  if (isControlFlow(node))
    return true;
  const Operator *op = registry.find(node.target());
  return op && op->pure;
}

/// The initial number after every conversion.
double converted(double value, const Initializer &initializer) {
  for (DataType through : initializer.through)
    if (isFloat(through))
      value = reference::roundTo(through, value);
  return value;
}

/// As a cast has it (passes/graph/PointwiseGroup.cpp): what 32 and 64 bits do not hold is their
/// smallest number, and 0 in fewer.
int64_t truncated(double value, DataType type) {
  bool narrow = byteSize(type) < 4, wide = byteSize(type) == 8;
  double limit = wide ? 0x1p63 : 0x1p31;
  if (std::abs(value) < limit)
    return static_cast<int64_t>(value);
  return narrow ? 0 : wide ? INT64_MIN : INT32_MIN;
}

} // namespace

//===-- concrete tensors ----------------------------------------------------------------------===//

EagerRecorder::EagerRecorder(Tracer &t, SegmentCompiler c)
    : tracer(t), compile(std::move(c)), addresses(t) {
  tracer.recorder = this;
  tracer.constructing = true;
  tracer.gradients.available = true;
  tracer.current = &tracer.program.main;
  tracer.segment = 1;
}

EagerRecorder::~EagerRecorder() { tracer.recorder = nullptr; }

void EagerRecorder::track(const std::shared_ptr<TracedStorage> &storage) {
  if (!nested)
    tracked.push_back(storage);
}

Value *EagerRecorder::addInput(const TensorType &given, Input input) {
  TensorType type = given;
  type.offset = 0;
  type.device = {};
  std::string name = "x" + std::to_string(inputs.size());
  noteLook();
  input.value = tracer.program.main.placeholder(name, type);
  inputOf.emplace(input.value, inputs.size());
  inputs.push_back(std::move(input));
  return inputs.back().value;
}

Value *EagerRecorder::baseFor(const std::shared_ptr<TracedStorage> &storage,
                              const SourceLocation &where) {
  using Kind = Initializer::Kind;
  storage->constructed = tracer.constructing;
  addresses.settle(*storage);
  if (nested && &(tracer.regions.empty() ? *tracer.current : *tracer.regions.front().outside) !=
                    &tracer.program.main)
    throw DiagnosticError(where, "a tensor that was made outside, or of listed values, cannot be "
                                 "used inside of an operator; pass it as an argument");
  if (nested)
    return nested->capture(storage);
  const Initializer &initializer = storage->initializer;
  if (!storage->memory && initializer.kind == Kind::None)
    throw DiagnosticError(where, "this tensor has no values: what should have computed it failed");
  if (storage->memory || initializer.kind == Kind::Drawn || initializer.kind == Kind::Listed) {
    // A list of numbers is long: it is no longer needed where there is memory.
    storage->base = addInput(storage->type, {nullptr, storage->memory,
                                             storage->memory ? Initializer() : initializer, 0,
                                             false, placeOf(storage->device)});
  } else {
    double value = initializer.kind == Kind::Ones   ? 1
                   : initializer.kind == Kind::Full ? initializer.value
                                                    : 0;
    value = converted(value, initializer);
    DataType dtype = storage->type.dtype;
    Argument number = isFloat(dtype)                 ? Argument(value)
                      : dtype == DataType::Bool      ? Argument(value != 0)
                      : initializer.integers.empty() ? Argument(truncated(value, dtype))
                                                     : Argument(initializer.integers.front());
    tracer.program.main.setLocation(where);
    // A number that is another one in every turn is an operand.
    if (changes(placeOf(where) ^ std::hash<std::string_view>()("full"), value)) {
      storage->base = spread(storage->type, initializer, where);
      track(storage);
      return storage->base;
    }
    storage->base =
        emitCall(tracer.program.main, tracer.registry, tracer.symbols(), "aten.full",
                 {Argument::list(storage->type.shape), number}, {{"dtype", Argument(dtype)}}, where)
            ->result();
  }
  track(storage);
  return storage->base;
}

/// The initial number in every place, from memory.
Value *EagerRecorder::spread(const TensorType &type, const Initializer &initializer,
                             const SourceLocation &where) {
  TensorType one(type.dtype, {});
  Value *number = addInput(one, {nullptr, made(initializer, one), {}, 0, false});
  Graph &main = tracer.program.main;
  Value *everywhere = emitCall(main, tracer.registry, tracer.symbols(), "aten.expand",
                               {Argument(number), Argument::list(type.shape)}, {}, where)
                          ->result();
  return emitCall(main, tracer.registry, tracer.symbols(), "aten.clone", {Argument(everywhere)},
                  {{"memory_format", Argument("contiguous_format")}}, where)
      ->result();
}

Value *EagerRecorder::viewFor(const TracedTensor &tensor) {
  TracedStorage &storage = *tensor.storage;
  addresses.settle(storage);
  if (!storage.memory || tensor.type == storage.type || tensor.type.dtype != storage.type.dtype)
    return nullptr;
  auto &known = views[storage.memory.get()];
  for (const auto &[type, value] : known)
    if (type == tensor.type)
      return value;
  Value *value = addInput(tensor.type, {nullptr,
                                        storage.memory,
                                        {},
                                        tensor.type.offset.constant().value(),
                                        true,
                                        placeOf(storage.device)});
  known.emplace_back(tensor.type, value);
  return value;
}

bool EagerRecorder::isView(const Value *value) const {
  auto input = inputOf.find(value);
  return input != inputOf.end() && inputs[input->second].isView;
}

void EagerRecorder::recorded(const std::vector<TracedTensor *> &operands,
                             std::vector<TracedTensor> &results) {
  // The results lie where the operands do; a number without dims goes along with any device.
  const TracedTensor *placed = nullptr;
  auto counts = [](const TracedTensor &tensor) {
    return 2 * tensor.storage->isPlaced + (tensor.type.rank() > 0);
  };
  for (const TracedTensor *operand : operands)
    if (!placed || counts(*operand) > counts(*placed))
      placed = operand;
  for (TracedTensor &result : results)
    if (placed && result.storage != placed->storage) {
      result.storage->device = placed->storage->device;
      result.storage->isPlaced = placed->storage->isPlaced;
    }
}

void EagerRecorder::forgetView(TracedTensor &tensor) const {
  if (!nested && tensor.storage->memory && tensor.type != tensor.storage->type)
    tensor.value = nullptr;
}

size_t EagerRecorder::placeOf(const SourceLocation &where) {
  size_t place = std::hash<const void *>()(where.file.get());
  for (size_t part : {size_t(where.range.line), size_t(where.range.column)})
    place = place * 0x9e3779b97f4a7c15ull + part;
  return place;
}

void EagerRecorder::beforeOperator(const SourceLocation &where) {
  if (nested || flushing || tracer.current != &tracer.program.main)
    return;
  ++counts.operators;
  size_t place = placeOf(where);
  if (watch)
    watch->places.push_back(place);
  bool isNew = places.insert(place).second;
  if (!isNew && !turn)
    turn = place;
  size_t size = tracer.program.main.size();
  if (size < softLimit || (size < hardLimit && place != turn))
    return;
  flush();
  places.insert(place);
}

bool EagerRecorder::changes(size_t place, double value) {
  if (nested)
    return false;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (watch)
    watch->numbers.emplace_back(place, value);
  // One place may be passed for many tensors in a segment, with a number for each.
  place = placeOfNumber(place, ++occurrences[place]);
  auto [entry, isNew] = numbers.try_emplace(place, Seen{bits});
  if (entry->second.bits != bits)
    entry->second.changed = true;
  if (entry->second.changed)
    noteLook();
  return entry->second.changed;
}

bool EagerRecorder::passAgain(const Watch &seen, size_t nodes) {
  std::unordered_map<size_t, size_t> passed;
  for (const auto &[place, value] : seen.numbers) {
    auto before = occurrences.find(place);
    size_t occurrence = (before == occurrences.end() ? 0 : before->second) + ++passed[place];
    auto known = numbers.find(placeOfNumber(place, occurrence));
    if (known == numbers.end() || known->second.changed ||
        known->second.bits != std::bit_cast<uint64_t>(value))
      return false;
  }
  // As beforeOperator() would, of which none may end the segment.
  size_t size = tracer.program.main.size() + nodes;
  std::optional<size_t> begins = turn;
  std::unordered_set<size_t> own;
  for (size_t place : seen.places) {
    bool isNew = !places.count(place) && own.insert(place).second;
    if (!isNew && !begins)
      begins = place;
    if (size >= softLimit && (size >= hardLimit || place == begins))
      return false;
  }
  turn = begins;
  places.insert(seen.places.begin(), seen.places.end());
  counts.operators += seen.places.size();
  for (const auto &[place, count] : passed)
    occurrences[place] += count;
  return true;
}

FormulaMemory &EagerRecorder::formulas() {
  if (!formulaMemory)
    formulaMemory = std::make_unique<FormulaMemory>(tracer);
  return *formulaMemory;
}

//===-- computing -----------------------------------------------------------------------------===//

std::shared_ptr<const ConcreteMemory> EagerRecorder::made(const Initializer &initializer,
                                                          const TensorType &type) {
  auto memory = std::make_shared<ConcreteMemory>();
  memory->data = initialWeight("a tensor", type, initializer).data;
  memory->bytes = byteCount(type);
  return memory;
}

/// The value with its dims in the order of its memory, so that its dense elements are the memory.
Value *EagerRecorder::inMemoryOrder(Value *value) {
  const TensorType &type = value->type();
  if (type.isContiguous(tracer.symbols()))
    return value;
  std::vector<int64_t> shape = constants(type.shape), strides = constants(type.strides);
  std::vector<size_t> order(shape.size());
  for (size_t d = 0; d < order.size(); ++d)
    order[d] = d;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  int64_t expected = 1;
  bool isDense = true;
  for (size_t i = order.size(); i-- > 0; expected *= shape[order[i]])
    isDense = isDense && (shape[order[i]] == 1 || strides[order[i]] == expected);
  Graph &main = tracer.program.main;
  auto emit = [&](const char *packet, std::vector<Argument> args) {
    return emitCall(main, tracer.registry, tracer.symbols(), packet, std::move(args), {}, {})
        ->result();
  };
  if (isDense)
    return emit("aten.permute",
                {Argument(value), Argument::list(std::vector<Expr>(order.begin(), order.end()))});
  return emit("aten.as_strided",
              {Argument(value), Argument::list({type.storageElements(tracer.symbols())}),
               Argument::list({Expr(1)}), Argument(int64_t(0))});
}

/// Of a branch or body, that may be held behind it: by a list, an attribute, a closure.
bool EagerRecorder::isOfRegion(const Value &value) const {
  return tracer.hasEnded(value.producer()->graph());
}

std::vector<EagerRecorder::Output> EagerRecorder::liveOutputs() {
  std::vector<Output> outputs;
  std::unordered_map<const Value *, size_t> known;
  std::unordered_set<const TracedStorage *> seen;
  for (const auto &weak : tracked) {
    std::shared_ptr<TracedStorage> storage = weak.lock();
    if (!storage || !storage->base || !seen.insert(storage.get()).second)
      continue;
    // Later its node may be gone.
    if (isOfRegion(*storage->base)) {
      storage->unreadable = Tracer::madeInRegion;
      continue;
    }
    auto [entry, isNew] = known.try_emplace(storage->base, outputs.size());
    if (isNew)
      outputs.push_back({storage->base, {}});
    outputs[entry->second].storages.push_back(storage);
  }
  // What is measured is computed whether or not anybody looks at it.
  if (computesAll)
    for (Node &node : tracer.program.main)
      for (size_t r = 0; !node.isPlaceholder() && r < node.resultCount(); ++r)
        if (node.result(r)->isUnused() && known.try_emplace(node.result(r), outputs.size()).second)
          outputs.push_back({node.result(r), {}});
  return outputs;
}

/// Only what leads to outputs stays, placeholders included.
void EagerRecorder::dropUnused() {
  Graph &main = tracer.program.main;
  main.eraseUnused([&](const Node &node) { return isPure(node, tracer.program, tracer.registry); });
  std::erase_if(inputs, [&](const Input &input) {
    if (!input.value->isUnused())
      return false;
    main.erase(input.value->producer());
    return true;
  });
}

size_t EagerRecorder::bytesOf(const TensorType &type) const {
  return static_cast<size_t>(type.storageElements(tracer.symbols()).constant().value()) *
         byteSize(type.dtype);
}

void EagerRecorder::computeOn(Device device) {
  if (nested || flushing || !tracer.devices || tracer.current != &tracer.program.main)
    return;
  label = forced.value_or(device);
  Device place = placeOf(label);
  if (segmentPlace.value_or(Device()) != place)
    flush();
  segmentPlace = place;
}

/// Numbers of the script that a device does not have yet go there in one piece.
void EagerRecorder::copyNumbers(Device place) const {
  constexpr size_t mostBytes = 64;
  std::vector<const ConcreteMemory *> numbers;
  std::set<const ConcreteMemory *> seen;
  for (const Input &input : inputs) {
    const ConcreteMemory &memory = *input.memory;
    bool isThere = memory.copy && memory.copy->device == place;
    if (memory.device.kind == Device::Kind::Cpu && memory.bytes && memory.bytes <= mostBytes &&
        !isThere && seen.insert(&memory).second)
      numbers.push_back(&memory);
  }
  if (numbers.size() > 1)
    copyTogether(numbers, place, *tracer.devices);
}

std::vector<ConcreteTensor> EagerRecorder::operands(Device place) {
  std::vector<ConcreteTensor> out;
  for (Input &input : inputs)
    if (!input.memory)
      input.memory = made(input.initializer, input.value->type());
  if (place.kind == Device::Kind::Cuda && tracer.devices)
    copyNumbers(place);
  for (Input &input : inputs) {
    const TensorType &type = input.value->type();
    ConcreteTensor tensor{type.dtype, constants(type.shape), constants(type.strides), {}};
    // What is written through an address is seen by who reads the tensor meanwhile.
    const std::byte *shared = following ? addresses.addressOf(*input.memory, place) : nullptr;
    if (shared) {
      size_t shift = static_cast<size_t>(input.offset) * byteSize(type.dtype);
      tensor.data = {input.memory, shared + shift};
      tensor.device = place;
      out.push_back(std::move(tensor));
      continue;
    }
    tensor.data = partOn(*input.memory, static_cast<size_t>(input.offset) * byteSize(type.dtype),
                         bytesOf(type), place, input.place == place, tracer.devices);
    tensor.device = place;
    out.push_back(std::move(tensor));
  }
  return out;
}

/// Kernels of a device are written for operands that lie as vectors of 16 bytes do. Which do not is
/// said, so that it takes part in the segment's key; empty: all do.
std::string EagerRecorder::noteAlignment(const std::vector<ConcreteTensor> &given, Device place) {
  constexpr uint32_t wanted = 16;
  alignments.clear();
  if (place.kind != Device::Kind::Cuda)
    return {};
  std::string others;
  for (size_t i = 0; i < given.size(); ++i) {
    bool isAligned = reinterpret_cast<uintptr_t>(given[i].data.get()) % wanted == 0;
    alignments.push_back(isAligned ? wanted : 1);
    if (!isAligned)
      others += " " + std::to_string(i);
  }
  return others;
}

void EagerRecorder::restart(bool failed) {
  for (const auto &weak : tracked)
    if (std::shared_ptr<TracedStorage> storage = weak.lock()) {
      if (failed && storage->base && !inputOf.count(storage->base))
        storage->initializer = {};
      storage->base = nullptr;
    }
  tracked.clear();
  inputs.clear();
  inputOf.clear();
  begun.clear();
  views.clear();
  places.clear();
  occurrences.clear();
  checks.clear();
  asserts = false;
  turn.reset();
  lastMeasured = nullptr;
  measuredBytes = 0;
  tracer.linked.clear();
  tracer.endedRegions.clear();
  Program fresh;
  fresh.kernels = std::move(tracer.program.kernels);
  tracer.program = std::move(fresh);
  ++tracer.segment;
}

void EagerRecorder::refuseInRegion(const SourceLocation &where) const {
  if (!nested && !flushing && !tracer.regions.empty())
    throw RegionNeedsValue(where, tracer.regions.back().what);
}

void EagerRecorder::flush() {
  if (nested || flushing || !tracer.regions.empty() || tracer.program.main.size() == 0)
    return;
  flushing = true;
  std::exception_ptr error;
  std::optional<FailedCheck> failed;
  std::vector<Output> outputs = liveOutputs();
  try {
    failed = compute(outputs);
  } catch (const FailedRun &run) {
    error = recover(outputs, run);
  } catch (...) {
    error = std::current_exception();
  }
  flushing = false;
  restart(error != nullptr);
  if (error)
    std::rethrow_exception(error);
  if (failed)
    raiseFailedCheck(failed->check, failed->element);
}

/// Contents of a storage of which nothing is pending.
void EagerRecorder::makeContents(TracedStorage &storage) {
  if (!storage.memory && storage.initializer.kind != Initializer::Kind::None)
    storage.memory = made(storage.initializer, storage.type);
}

int64_t EagerRecorder::addressOf(const TracedTensor &tensor) {
  noteLook();
  const std::shared_ptr<TracedStorage> &storage = tensor.storage;
  auto element = static_cast<int64_t>(byteSize(tensor.type.dtype));
  return addresses.of(storage, bytesOf(storage->type), placeOf(storage->device)) +
         tensor.type.offset.constant().value() * element;
}

ConcreteTensor EagerRecorder::valuesOn(Device place, TracedTensor &tensor,
                                       const SourceLocation &where) {
  noteLook();
  TracedStorage &storage = *tensor.storage;
  tracer.checkKnown(storage, where);
  if (storage.base && !storage.memory)
    refuseInRegion(where);
  // Memory that the segment only reads is as it was: nothing has to be computed first.
  if (storage.base && (!storage.memory || asserts || !checks.empty()))
    flush();
  addresses.settle(storage);
  if (!storage.memory) {
    if (!storage.unreadable.empty()) // seen by flush()
      throw DiagnosticError(where, storage.unreadable);
    if (storage.initializer.kind == Initializer::Kind::None)
      throw DiagnosticError(where,
                            "this tensor has no values: what should have computed it failed");
    storage.memory = made(storage.initializer, storage.type);
  }
  const TensorType &type = tensor.type;
  ConcreteTensor values{type.dtype, constants(type.shape), constants(type.strides), {}};
  size_t shift = static_cast<size_t>(type.offset.constant().value()) * byteSize(type.dtype);
  TensorType part = type;
  part.offset = 0;
  values.data = partOn(*storage.memory, shift, bytesOf(part), place,
                       placeOf(storage.device) == place, tracer.devices);
  values.device = place;
  return values;
}

std::optional<TracedTensor> EagerRecorder::copyOn(Device device, TracedTensor &tensor,
                                                  const SourceLocation &where) {
  noteLook();
  TracedStorage &storage = *tensor.storage;
  addresses.settle(storage);
  Device place = placeOf(device);
  if (nested || flushing || tracer.current != &tracer.program.main ||
      place == placeOf(storage.device) || tensor.type.dtype != storage.type.dtype ||
      !tensor.type.isContiguous(tracer.symbols()))
    return std::nullopt;
  using Kind = Initializer::Kind;
  Kind kind = storage.initializer.kind;
  bool isUniform = kind == Kind::Zeros || kind == Kind::Ones || kind == Kind::Full;
  if (!storage.base && !storage.memory && isUniform) {
    TracedTensor copy =
        tracer.unbound(TensorType(tensor.type.dtype, tensor.type.shape), storage.initializer);
    copy.storage->device = device;
    return copy;
  }
  return tensorOf(valuesOn(place, tensor, where), device);
}

TracedTensor EagerRecorder::tensorOf(const ConcreteTensor &values, Device device) {
  noteLook();
  TracedTensor tensor;
  tensor.storage = std::make_shared<TracedStorage>();
  tensor.type = TensorType(values.dtype, expressions(values.shape));
  tensor.type.strides = expressions(values.strides);
  tensor.storage->type = tensor.type;
  tensor.storage->constructed = true;
  tensor.storage->device = device;
  auto memory = std::make_shared<ConcreteMemory>();
  memory->data = values.data;
  memory->device = values.device;
  memory->bytes = bytesOf(tensor.type);
  tensor.storage->memory = std::move(memory);
  return tensor;
}

} // namespace pellucid::trace
