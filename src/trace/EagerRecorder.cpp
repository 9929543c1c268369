// SPDX-License-Identifier: Apache-2.0
#include "trace/EagerRecorder.h"

#include "graph/ControlFlow.h"
#include "reference/graph/Tensor.h"
#include "trace/InterpretSegment.h"
#include "trace/OperandErrors.h"
#include "trace/TraceSession.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pellucid::trace {

using namespace graph;

namespace {

/// Where loops are cut, and where any segment is: code of more operators takes long to compile.
constexpr size_t softLimit = 256, hardLimit = 1024;

std::vector<int64_t> constants(const std::vector<Expr> &sizes) {
  std::vector<int64_t> out;
  for (const Expr &size : sizes)
    out.push_back(size.constant().value());
  return out;
}

std::vector<Expr> expressions(const std::vector<int64_t> &sizes) {
  return std::vector<Expr>(sizes.begin(), sizes.end());
}

size_t byteCount(const TensorType &type) {
  return static_cast<size_t>(type.numel().constant().value()) * byteSize(type.dtype);
}

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

int64_t ConcreteTensor::numel() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool ConcreteTensor::isRowMajor() const {
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != stride)
      return numel() == 0;
    stride *= shape[d];
  }
  return true;
}

std::shared_ptr<const std::byte> ConcreteTensor::dense() const {
  if (isRowMajor())
    return data;
  size_t element = byteSize(dtype), bytes = static_cast<size_t>(numel()) * element;
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (size_t at = 0; at < bytes; at += element) {
    std::memcpy(copy.get() + at, data.get() + offset * static_cast<int64_t>(element), element);
    for (size_t d = index.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return {copy, copy.get()};
}

namespace {
template <typename T> T loaded(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
} // namespace

int64_t integerAt(DataType dtype, const std::byte *at) {
  switch (dtype) {
  case DataType::Bool:
    return loaded<uint8_t>(at) != 0;
  case DataType::Int8:
    return loaded<int8_t>(at);
  case DataType::Int16:
    return loaded<int16_t>(at);
  case DataType::Int32:
    return loaded<int32_t>(at);
  case DataType::UInt8:
    return loaded<uint8_t>(at);
  case DataType::UInt16:
    return loaded<uint16_t>(at);
  case DataType::UInt32:
    return loaded<uint32_t>(at);
  case DataType::Int64:
  case DataType::UInt64:
    return loaded<int64_t>(at);
  default:
    return static_cast<int64_t>(realAt(dtype, at));
  }
}

double realAt(DataType dtype, const std::byte *at) {
  switch (dtype) {
  case DataType::Float64:
    return loaded<double>(at);
  case DataType::Float32:
    return loaded<float>(at);
  case DataType::Float16:
  case DataType::BFloat16:
    return reference::decodeFloat(dtype, loaded<uint16_t>(at));
  case DataType::UInt64:
    return static_cast<double>(loaded<uint64_t>(at));
  default:
    return isFloat(dtype) ? reference::decodeFloat(dtype, loaded<uint8_t>(at))
                          : static_cast<double>(integerAt(dtype, at));
  }
}

//===-- recording -----------------------------------------------------------------------------===//

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
  // One place may be passed for many tensors in a segment, with a number for each.
  place = place * 0x9e3779b97f4a7c15ull + ++occurrences[place];
  auto [entry, isNew] = numbers.try_emplace(place, Seen{bits});
  if (entry->second.bits != bits)
    entry->second.changed = true;
  return entry->second.changed;
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

std::vector<EagerRecorder::Output> EagerRecorder::liveOutputs() {
  std::vector<Output> outputs;
  std::unordered_map<const Value *, size_t> known;
  std::unordered_set<const TracedStorage *> seen;
  for (const auto &weak : tracked) {
    std::shared_ptr<TracedStorage> storage = weak.lock();
    if (!storage || !storage->base || !seen.insert(storage.get()).second)
      continue;
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

EagerRecorder::Made EagerRecorder::runSegment() {
  // What comes back is compiled.
  constexpr uint64_t mostInterpreted = 2;
  constexpr size_t mostKept = 4096;
  SegmentKey key = keyOf(tracer.program);
  Device place = segmentPlace.value_or(Device());
  if (segmentPlace)
    key.text += toString(place);
  if (interpretedTurns.size() > mostKept)
    interpretedTurns.clear();
  auto family = families.find(key.text);
  bool isKnown = family != families.end() && family->second.exact.count(key.sizes);
  if (!isKnown && isInterpretable(tracer.program) &&
      ++interpretedTurns[key.whole()] <= mostInterpreted) {
    try {
      auto outputs = interpretSegment(tracer.program, tracer.registry, operands({}));
      ++counts.interpreted;
      return {std::move(outputs), {}};
    } catch (const DiagnosticError &) {
      // Compiled code says what is wrong as the script may catch it.
    }
  }
  std::vector<ConcreteTensor> given = operands(place);
  key.text += noteAlignment(given, place);
  // A script whose sizes never come back would fill the memory.
  constexpr size_t mostPrograms = 1024;
  if (programsKept >= mostPrograms) {
    families.clear();
    programsKept = 0;
  }
  return {run(families[key.text], key, given, place), place};
}

EagerRecorder::Outputs EagerRecorder::run(Family &family, const SegmentKey &key,
                                          const std::vector<ConcreteTensor> &given, Device place) {
  auto known = family.exact.find(key.sizes);
  if (known != family.exact.end())
    return run(known->second, given);
  try {
    if (auto outputs = runGeneral(family, key, given, place))
      return std::move(*outputs);
    if (generalize(family, key, place))
      if (auto outputs = runGeneral(family, key, given, place))
        return std::move(*outputs);
  } catch (const DiagnosticError &) {
    // The program for these very sizes says what is wrong, if anything is: a segment that failed
    // has changed nothing.
    family.patterns.clear();
    family.tries = mostTries;
  }
  noteInterface();
  ++counts.compiled;
  Segment made{compile(tracer.program, place), nodePlaces()};
  ++programsKept;
  noteSample(family, key);
  return run(family.exact.emplace(key.sizes, std::move(made)).first->second, given);
}

EagerRecorder::Outputs EagerRecorder::run(const Segment &segment,
                                          const std::vector<ConcreteTensor> &given) const {
  try {
    return segment.run(given);
  } catch (const SegmentFailure &failure) {
    throw FailedRun{failure, nodeThatFailed(segment, failure.diagnostic.message)};
  }
}

std::vector<SourceLocation> EagerRecorder::nodePlaces() const {
  std::vector<SourceLocation> places;
  for (const Node &node : tracer.program.main)
    places.push_back(node.location);
  return places;
}

/// As a kernel's assertion says its place.
static std::string textOf(const SourceLocation &where) {
  return (where.file ? where.file->path() : where.name) + ":" + std::to_string(where.range.line) +
         ":" + std::to_string(where.range.column);
}

/// The node of the segment as it is now whose place in the compiled one `message` begins with: one
/// package serves all segments of its structure.
const Node *EagerRecorder::nodeThatFailed(const Segment &segment,
                                          const std::string &message) const {
  auto place = segment.places.begin();
  for (const Node &node : tracer.program.main) {
    if (place == segment.places.end())
      break;
    if (place->known() && !node.isPlaceholder() && message.starts_with(textOf(*place) + ":"))
      return &node;
    ++place;
  }
  return nullptr;
}

void EagerRecorder::noteInterface() {
  Program &program = tracer.program;
  for (const Input &input : inputs) {
    InputSpec spec;
    spec.name = input.value->name();
    program.inputs.push_back(spec);
  }
  for (size_t i = 0; i < program.main.outputNode()->args().size(); ++i)
    program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
}

void EagerRecorder::noteSample(Family &family, const SegmentKey &key) {
  constexpr size_t mostSamples = 6;
  if (family.samples.size() == mostSamples)
    family.samples.erase(family.samples.begin());
  family.samples.push_back(key.sizes);
}

/// A program for sizes like these and those before, where there is one: as PyTorch does, from the
/// second size on. Nothing is lost where the sizes turn out to follow another rule: every segment's
/// are held against the program's.
bool EagerRecorder::generalize(Family &family, const SegmentKey &key, Device place) {
  if (family.samples.empty() || family.tries >= mostTries)
    return false;
  std::vector<std::vector<int64_t>> samples = family.samples;
  samples.push_back(key.sizes);
  auto pattern = SizePattern::of(tracer.program, tracer.registry, samples);
  // One with a size of 1 fits to none.
  if (!pattern && samples.size() > 2)
    pattern = SizePattern::of(tracer.program, tracer.registry, {samples.end() - 2, samples.end()});
  if (!pattern)
    return false;
  ++family.tries;
  std::optional<Program> program = pattern->generalized(tracer.program, tracer.registry);
  if (!program)
    return false;
  try {
    std::vector<TensorType> results = resultTypes(*program);
    SegmentRun made = compile(*program, place);
    ++counts.compiled;
    ++counts.dynamic;
    ++programsKept;
    noteSample(family, key);
    family.patterns.push_back({std::move(*pattern), std::move(results), std::move(made)});
    return true;
  } catch (const DiagnosticError &) {
    // There may be no code for sizes that are not known.
    family.tries = mostTries;
    return false;
  }
}

std::optional<EagerRecorder::Outputs>
EagerRecorder::runGeneral(Family &family, const SegmentKey &key,
                          const std::vector<ConcreteTensor> &given, Device place) {
  for (General &general : family.patterns) {
    auto values = general.pattern.valuesFor(key.sizes);
    if (!values || !general.pattern.givesResultsOf(tracer.program, general.results, *values))
      continue;
    std::vector<ConcreteTensor> all = given;
    static const std::byte unread{};
    for (size_t symbol : general.pattern.freeSymbols()) {
      ConcreteTensor size{DataType::UInt8, {(*values)[symbol]}, {0}, {}};
      size.data = {std::shared_ptr<void>(), &unread};
      size.device = place;
      all.push_back(std::move(size));
    }
    return general.run(all);
  }
  return std::nullopt;
}

/// The storages' values are those that the segment has made.
void EagerRecorder::keepMade(Output &output, std::shared_ptr<const std::byte> data,
                             Device device) const {
  if (output.storages.empty())
    return; // it was only to be computed
  auto memory = std::make_shared<ConcreteMemory>();
  memory->data = std::move(data);
  memory->device = device;
  memory->bytes = bytesOf(output.storages.front()->type);
  for (const auto &storage : output.storages)
    storage->memory = memory;
}

/// What the segment began with and nothing was written to is what it was.
void EagerRecorder::keepBegun(const std::vector<Output> &outputs) {
  for (const Output &output : outputs) {
    auto input = begun.find(output.value);
    if (input == begun.end())
      continue;
    const Input &source = input->second;
    for (const auto &storage : output.storages) {
      storage->initializer = source.initializer;
      if (!source.memory)
        continue;
      auto memory = std::make_shared<ConcreteMemory>(*source.memory);
      int64_t shift = source.offset * static_cast<int64_t>(byteSize(storage->type.dtype));
      memory->data = {memory->data, memory->data.get() + shift};
      memory->bytes = bytesOf(storage->type);
      memory->copy = nullptr;
      storage->memory = source.offset ? memory : source.memory;
    }
  }
}

std::optional<EagerRecorder::FailedCheck> EagerRecorder::compute(std::vector<Output> &outputs) {
  std::vector<Argument> results;
  std::vector<Output *> computed;
  for (Output &output : outputs)
    if (!output.value->producer()->isPlaceholder()) {
      results.emplace_back(inMemoryOrder(output.value));
      computed.push_back(&output);
    }
  auto besides = askedBesides(results);
  for (const auto &[check, values] : besides)
    results.insert(results.end(), values.begin(), values.end());
  tracer.program.main.output(std::move(results));
  // What tensors begin with stays to be made.
  begun.clear();
  for (const Input &input : inputs)
    begun.emplace(input.value, input);
  dropUnused();
  // The operators of these checks are gone.
  for (ValueCheck &check : checks)
    for (const auto &[asked, values] : besides)
      if (asked.node == check.node)
        check.node = nullptr;
  std::optional<FailedCheck> failed;
  if (tracer.program.main.size() > inputs.size() + 1) {
    Made made = runSegment();
    ++counts.segments;
    for (size_t i = 0; i < computed.size(); ++i)
      keepMade(*computed[i], std::move(made.outputs.at(i)), made.device);
    size_t next = computed.size();
    for (const auto &[check, values] : besides) {
      auto element = failingElement(check, std::span(made.outputs).subspan(next, values.size()));
      if (element && !failed)
        failed = FailedCheck{check, *element};
      next += values.size();
    }
  }
  for (const Input &input : inputs)
    begun[input.value] = input;
  keepBegun(outputs);
  return failed;
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

void EagerRecorder::flush() {
  if (nested || flushing || tracer.program.main.size() == 0)
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
  const std::shared_ptr<TracedStorage> &storage = tensor.storage;
  auto element = static_cast<int64_t>(byteSize(tensor.type.dtype));
  return addresses.of(storage, bytesOf(storage->type), placeOf(storage->device)) +
         tensor.type.offset.constant().value() * element;
}

ConcreteTensor EagerRecorder::valuesOn(Device place, TracedTensor &tensor,
                                       const SourceLocation &where) {
  TracedStorage &storage = *tensor.storage;
  tracer.checkKnown(storage, where);
  // Memory that the segment only reads is as it was: nothing has to be computed first.
  if (storage.base && (!storage.memory || asserts || !checks.empty()))
    flush();
  addresses.settle(storage);
  if (!storage.memory) {
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

//===-- models that are traced in a script ----------------------------------------------------===//

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
