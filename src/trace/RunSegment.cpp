// SPDX-License-Identifier: Apache-2.0
// What was recorded is run: by a program of its own sizes, by one of a rule, or node by node.
#include "trace/ConcreteTensor.h"
#include "trace/EagerRecorder.h"
#include "trace/InterpretSegment.h"
#include "trace/OperandErrors.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;

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

} // namespace pellucid::trace
