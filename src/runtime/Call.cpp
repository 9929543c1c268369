// SPDX-License-Identifier: Apache-2.0
/// One call from its tensors to its results.
#include "package/BytecodeText.h"
#include "runtime/CpuExecutor.h"
#include "runtime/DlpackTypes.h"
#include "runtime/GuardedMemory.h"
#include "runtime/Instance.h"
#include "runtime/LoadedPackage.h"
#include "runtime/Outputs.h"
#include "runtime/Profile.h"

#include <cstring>
#include <unistd.h>

namespace pellucid::runtime {

using package::PlaceKind;

static Profile *profileOf(const pellucid_run_options *options) {
  return options ? reinterpret_cast<Profile *>(options->profile) : nullptr;
}

class LoadedPackage::Call {
public:
  Call(const LoadedPackage &package, const DeviceProgram &device, std::span<const DLTensor> inputs,
       DLDevice where, const pellucid_run_options *options, Instance *instance)
      : package(package), device(device), plan(*device.plan), inputs(inputs), where(where),
        options(options), instance(instance), frame(device.frames.take(plan)) {}
  ~Call() {
    if (frame)
      device.frames.give(std::move(frame));
  }

  /// Checks the inputs and computes the outputs' dims.
  Result begin() {
    if (Result result =
            plan.signature.bind(inputs, where, package.drawStart(options), frame->symbols);
        !result.ok())
      return result;
    plan.expressions.evaluate(frame->symbols, frame->numbers);
    if (Result result = plan.signature.checkInputs(inputs, frame->numbers); !result.ok())
      return result;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (Result result = checkApart("input", package.manifest().inputs[i].name, inputs[i]);
          !result.ok())
        return result;
    return computeOutputShapes(0);
  }

  std::span<const int64_t> outputDims(size_t index) const {
    return std::span(frame->outputDims)
        .subspan(frame->outputDimsAt[index], plan.signature.outputRank(index));
  }

  Result run(std::span<DLManagedTensorVersioned *> outputs) {
    made = outputs;
    return withExecutor([&](Executor &executor) { return runSteps(executor); });
  }

  Result runInto(std::span<const DLTensor> outputs) {
    return withExecutor([&](Executor &executor) { return runInto(outputs, executor); });
  }

  /// The steps of runInto, noted down instead of done; `out` gets the call's memory.
  Result recordInto(std::span<const DLTensor> outputs, PreparedCall &out) {
    Result result = withExecutor([&](Executor &executor) {
      std::unique_ptr<Executor> recorder = out.recorder(executor);
      return runInto(outputs, *recorder);
    });
    out.keep(std::move(frame));
    return result;
  }

  Result checkOutputs(std::span<const DLTensor> outputs) const {
    Result result =
        plan.signature.checkOutputs(inputs, outputs, where, frame->numbers, plan.outputStages);
    for (size_t i = 0; i < outputs.size() && result.ok(); ++i)
      result = checkApart("output", package.manifest().outputs[i].name, outputs[i]);
    return result;
  }

private:
  const LoadedPackage &package;
  const DeviceProgram &device;
  const ProgramPlan &plan;
  std::span<const DLTensor> inputs;
  DLDevice where;
  const pellucid_run_options *options;
  Instance *instance; ///< null: the package has no state
  std::unique_ptr<Frame> frame;
  std::vector<ProfiledStep> profiled;
  std::span<DLManagedTensorVersioned *> made; ///< outputs of run()
  std::span<const DLTensor> given;            ///< outputs of runInto()

  Result computeOutputShapes(uint32_t stage) {
    for (size_t i = 0; i < frame->outputBytes.size(); ++i)
      if (plan.outputStages[i] == stage)
        if (Result result = plan.signature.outputShape(
                i, frame->numbers, frame->outputDims.data() + frame->outputDimsAt[i],
                frame->outputBytes[i]);
            !result.ok())
          return result;
    return {};
  }

  unsigned char *outputBase(size_t index) const { return frame->bases[inputs.size() + index]; }
  void setOutput(size_t index, unsigned char *data) {
    frame->bases[inputs.size() + index] = data;
    frame->extents[inputs.size() + index].above = frame->outputBytes[index];
  }
  const DLTensor *aliasedInput(size_t output) const {
    int32_t alias = package.manifest().outputs[output].aliasOfInput;
    return alias >= 0 ? &inputs[alias] : nullptr;
  }

  bool isContiguousAlias(size_t output) const {
    const package::Manifest &manifest = package.manifest();
    return manifest.inputs[manifest.outputs[output].aliasOfInput].contiguous;
  }

  /// The compiler took state to be apart from all tensors of a call.
  Result checkApart(const char *kind, const std::string &name, const DLTensor &tensor) const {
    std::string state = instance ? instance->overlapping(tensor) : std::string();
    return state.empty() ? Result()
                         : Result::invalid(std::string(kind) + " '" + name + "': overlaps state '" +
                                           state + "' of the instance");
  }

  Result runInto(std::span<const DLTensor> outputs, Executor &executor) {
    for (size_t i = 0; i < outputs.size(); ++i)
      if (const DLTensor *alias = aliasedInput(i);
          alias && dataOf(*alias) != dataOf(outputs[i]) && !isContiguousAlias(i))
        return Result::invalid("output '" + package.manifest().outputs[i].name +
                               "': is a written input that is not contiguous; give that input");
    given = outputs;
    Result result = runSteps(executor);
    // An alias that the caller wants elsewhere: the input itself was written, the output is its
    // copy.
    for (size_t i = 0; i < outputs.size() && result.ok(); ++i)
      if (dataOf(outputs[i]) != outputBase(i) && frame->outputBytes[i])
        result = executor.copy(dataOf(outputs[i]), outputBase(i), frame->outputBytes[i]);
    return result;
  }

  Result withExecutor(auto body) {
    Result result;
    if (plan.stages > 1 && options && options->guard)
      return Result::invalid("the option guard is for packages whose sizes the inputs say; values "
                             "decide some of this one's");
    if (device.cuda && options && options->guard)
      return Result::invalid("the option guard is for the CPU; this call's tensors are on " +
                             text(where));
    if (device.cuda) {
      CudaExecutor executor(*device.cuda, options);
      result = endCall(executor, body(static_cast<Executor &>(executor)));
    } else {
      CpuExecutor executor(options);
      result = endCall(executor, body(static_cast<Executor &>(executor)));
    }
    return result;
  }

  Result endCall(Executor &executor, Result result) {
    return instance ? instance->endCall(executor, std::move(result)) : std::move(result);
  }

  Result allocateOutput(Executor &executor, size_t index, DLManagedTensorVersioned *&out) {
    OutputMemory memory;
    if (const DLTensor *alias = aliasedInput(index)) {
      memory.data = dataOf(*alias);
      memory.device = alias->device;
    } else if (Result result = executor.allocateOutput(frame->outputBytes[index], memory);
               !result.ok()) {
      return result;
    }
    setOutput(index, memory.data);
    out = makeOutput(toDlpack(package.manifest().outputs[index].dtype), outputDims(index), memory);
    if (!out)
      return Result::error(PELLUCID_OUT_OF_MEMORY, "cannot allocate an output");
    if (const DLTensor *alias = aliasedInput(index); alias && alias->strides)
      std::copy_n(alias->strides, alias->ndim, out->dl_tensor.strides);
    return {};
  }

  Result placeEverything(Executor &executor) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      unsigned char *data = frame->bases[i] = dataOf(inputs[i]);
      MemoryRange range = memoryRange(inputs[i]);
      frame->extents[i] = {static_cast<uint64_t>(data - range.begin),
                           static_cast<uint64_t>(range.end - data)};
    }
    std::copy(device.weights.begin(), device.weights.end(),
              frame->bases.begin() + static_cast<ptrdiff_t>(plan.baseOf(PlaceKind::Weight)));
    if (instance)
      std::copy(instance->addresses().begin(), instance->addresses().end(),
                frame->bases.begin() + static_cast<ptrdiff_t>(plan.baseOf(PlaceKind::State)));
    return placeStage(executor, 0);
  }

  /// The memory of everything whose size is known from `stage` on.
  Result placeStage(Executor &executor, uint32_t stage) {
    for (size_t i = 0; i < plan.outputStages.size(); ++i)
      if (plan.outputStages[i] == stage)
        if (Result result = placeOutput(executor, i); !result.ok())
          return result;
    if (plan.buffers.empty())
      return {};
    if (Result result = frame->layOutArena(plan, stage); !result.ok())
      return result;
    unsigned char *memory = nullptr;
    if (Result result = executor.allocateArena(frame->arenas[stage], memory); !result.ok())
      return result;
    frame->placeBuffers(plan, stage, memory);
    return {};
  }

  Result placeOutput(Executor &executor, size_t index) {
    if (given.empty())
      return allocateOutput(executor, index, made[index]);
    const DLTensor *alias = aliasedInput(index);
    setOutput(index, dataOf(alias ? *alias : given[index]));
    return {};
  }

  Result runStep(Executor &executor, const ReadPlan &step, Profile *) {
    const package::Symbol &symbol = package.manifest().symbols[step.read->symbol];
    int64_t value = 0;
    if (Result result = checkPlace(step.from, sizeof value, "size"); !result.ok())
      return result;
    if (Result result = executor.read(frame->address(step.from), &value, sizeof value);
        !result.ok())
      return result;
    if (Result result = checkRead(step, symbol, value); !result.ok())
      return result;
    frame->symbols[step.read->symbol] = value;
    plan.expressions.advance(frame->symbols, step.stage, frame->numbers);
    if (Result result = computeOutputShapes(step.stage); !result.ok())
      return result;
    if (!given.empty())
      if (Result result =
              plan.signature.checkOutputDims(given, frame->numbers, plan.outputStages, step.stage);
          !result.ok())
        return result;
    return placeStage(executor, step.stage);
  }

  Result checkRead(const ReadPlan &step, const package::Symbol &symbol, int64_t value) const {
    if (!frame->numbers.isKnown(step.most))
      return Result::invalid(step.read->text + ": the most that '" + symbol.name +
                             "' may be exceeds 64 bits for these inputs");
    int64_t most = std::min(symbol.max, frame->numbers[step.most]);
    if (value >= symbol.min && value <= most && value % symbol.divisor == 0)
      return {};
    std::string range = symbol.min == INT64_MIN ? "at most " + std::to_string(most)
                        : most == INT64_MAX
                            ? "at least " + std::to_string(symbol.min)
                            : "in " + std::to_string(symbol.min) + ".." + std::to_string(most);
    return Result::invalid(step.read->text + ": '" + symbol.name + "' is " + std::to_string(value) +
                           ", must be " + range);
  }

  Result runStep(Executor &, const CheckPlan &step, Profile *) {
    if (frame->numbers.isKnown(step.condition) && frame->numbers[step.condition] != 0)
      return {};
    std::string values;
    for (uint32_t symbol : package::symbolsIn(step.check->condition))
      if (std::string text = package.manifest().symbols[symbol].name + " = " +
                             std::to_string(frame->symbols[symbol]);
          values.find(text) == std::string::npos)
        values += (values.empty() ? "" : ", ") + text;
    return Result::invalid(step.check->text + " (" + values + ")");
  }

  Result runSteps(Executor &executor) {
    Result result = placeEverything(executor);
    GuardedMemory guarded(options ? options->guard : 0);
    bool isGuarded = result.ok() && options && options->guard;
    if (isGuarded)
      result = guarded.enclose(plan, *frame);
    Profile *profile = profileOf(options);
    Cancellation cancellation(options);
    executor.cancellation = cancellation.isPossible() ? &cancellation : nullptr;
    size_t begin = profile ? executor.mark() : 0;
    for (size_t at = 0; at < plan.steps.size() && result.ok();) {
      size_t next = at + plan.stepsAt(at);
      // Steps inside of control flow count where it begins.
      if (plan.firstStateWrite >= at && plan.firstStateWrite < next) {
        result = whyCancelled(executor);
        if (result.ok())
          result = executor.beginStateWrites(instance);
      }
      if (result.ok())
        result = runSteps(executor, at, next, profile);
      at = next;
    }
    size_t end = profile ? executor.mark() : 0;
    Result finished = executor.finish();
    if (isGuarded)
      guarded.giveBack(plan, *frame);
    if (profile && result.ok() && finished.ok()) {
      profiled.push_back({package.manifest().name, "call", begin, end, "{}"});
      std::string stream =
          device.cuda ? " stream " + std::to_string(reinterpret_cast<uintptr_t>(options->stream))
                      : "";
      profile->add(executor, profiled,
                   device.cuda ? reinterpret_cast<uintptr_t>(options->stream) : uint64_t(gettid()),
                   text(where) + stream);
    }
    return result.ok() ? std::move(finished) : std::move(result);
  }

  static Result whyCancelled(const Executor &executor) {
    return executor.cancellation && executor.cancellation->isRequested()
               ? executor.cancellation->result()
               : Result();
  }

  Result runSteps(Executor &executor, size_t begin, size_t end, Profile *profile) {
    Result result;
    for (size_t at = begin; at < end && result.ok(); ++at) {
      const StepPlan &step = plan.steps[at];
      if (result = whyCancelled(executor); !result.ok())
        break;
      if (const auto *branch = std::get_if<BranchPlan>(&step))
        result = runBranch(executor, *branch, at, profile);
      else if (const auto *loop = std::get_if<LoopPlan>(&step))
        result = runLoop(executor, *loop, at, profile);
      else
        result = std::visit(
            [&](const auto &held) { return this->runStep(executor, held, profile); }, step);
    }
    return result;
  }

  Result flagAt(const PlacePlan &place, const unsigned char *&flag) const {
    flag = frame->address(place);
    return checkPlace(place, 1, "condition");
  }

  /// `at`: of the step itself, then of its last one.
  Result runBranch(Executor &executor, const BranchPlan &step, size_t &at, Profile *profile) {
    size_t first = at + 1, middle = first + step.branch->whenTrue,
           end = middle + step.branch->whenFalse;
    at = end - 1;
    auto whenTrue = [&] { return runSteps(executor, first, middle, profile); };
    auto whenFalse = [&] { return runSteps(executor, middle, end, profile); };
    if (!step.branch->condition.empty()) {
      if (!frame->numbers.isKnown(step.condition))
        return Result::invalid("the condition of branch '" + step.branch->label +
                               "' exceeds 64 bits for these inputs");
      return frame->numbers[step.condition] ? whenTrue() : whenFalse();
    }
    const unsigned char *flag = nullptr;
    if (Result result = flagAt(step.predicate, flag); !result.ok())
      return result;
    return executor.branch(flag, whenTrue, whenFalse);
  }

  Result runLoop(Executor &executor, const LoopPlan &step, size_t &at, Profile *profile) {
    size_t first = at + 1, middle = first + step.loop->conditionSteps,
           end = middle + step.loop->bodySteps;
    at = end - 1;
    LoopSteps steps;
    if (!step.loop->turns.empty()) {
      if (!frame->numbers.isKnown(step.turns) || frame->numbers[step.turns] < 0)
        return Result::invalid("the number of turns of loop '" + step.loop->label +
                               "' is negative or exceeds 63 bits for these inputs");
      steps.turns = static_cast<uint64_t>(frame->numbers[step.turns]);
    } else if (Result result = flagAt(step.predicate, steps.flag); !result.ok()) {
      return result;
    }
    // A window of an outer loop stays where it is during the turns of this one.
    std::vector<LoopPlaces> carries;
    for (const LoopPlan::Carry &carry : step.carries) {
      LoopPlaces places;
      if (Result result = transferBytes(carry.bytes, "carry", places.bytes); !result.ok())
        return result;
      for (const PlacePlan *place : {&carry.first, &carry.second})
        if (Result result = checkPlace(*place, places.bytes, "carry"); !result.ok())
          return result;
      places.at[0] = frame->address(carry.first);
      places.at[1] = frame->address(carry.second);
      carries.push_back(places);
    }
    steps.enter = [&](uint64_t turn) {
      uint32_t window = step.firstWindow;
      for (const LoopPlaces &places : carries)
        for (uint64_t side : {turn % 2, 1 - turn % 2})
          setWindow(window++, places.at[side], places.bytes);
      return enterSlices(step, window, turn);
    };
    steps.condition = [&] { return runSteps(executor, first, middle, profile); };
    steps.body = [&] { return runSteps(executor, middle, end, profile); };
    steps.settle = [&] {
      Result result;
      for (const LoopPlaces &places : carries)
        if (result.ok() && places.bytes && places.at[0] != places.at[1])
          result = executor.copy(places.at[0], places.at[1], places.bytes);
      return result;
    };
    return executor.loop(steps);
  }

  struct LoopPlaces {
    unsigned char *at[2] = {};
    size_t bytes = 0;
  };

  void setWindow(uint32_t base, unsigned char *data, size_t bytes) {
    frame->bases[base] = data;
    frame->extents[base] = {0, bytes};
  }

  Result enterSlices(const LoopPlan &step, uint32_t window, uint64_t turn) {
    for (const LoopPlan::Slice &slice : step.slices) {
      size_t bytes = 0;
      if (Result result = transferBytes(slice.bytes, "slice", bytes); !result.ok())
        return result;
      int64_t moved = 0;
      bool fits = frame->numbers.isKnown(slice.step) &&
                  !__builtin_mul_overflow(frame->numbers[slice.step], turn, &moved);
      // A slice of nothing may stand behind its end: what is inside sees a window of no bytes.
      std::string why = !fits ? "its offset exceeds 64 bits"
                        : bytes == 0 && frame->numbers.isKnown(slice.first.offset)
                            ? std::string()
                            : frame->whyOutside(plan, slice.first, bytes, moved);
      if (!why.empty())
        return Result::invalid("slice " + std::to_string(turn) + " of loop '" + step.loop->label +
                               "': " + why);
      setWindow(window++, frame->address(slice.first) + moved, bytes);
    }
    return {};
  }

  Result profiledStep(Executor &executor, const std::string &name, const char *category,
                      std::string arguments, auto body) {
    ProfiledStep step{name, category, executor.mark(), 0, std::move(arguments)};
    Result result = body();
    step.end = executor.mark();
    profiled.push_back(std::move(step));
    return result;
  }

  Result runStep(Executor &executor, const LaunchPlan &step, Profile *profile) {
    PreparedLaunch prepared;
    if (Result result = prepareLaunch(plan, step, executor.gridLimits(), *frame, prepared);
        !result.ok())
      return result;
    if (prepared.programs == 0)
      return {};
    if (!profile)
      return executor.launch(step, prepared, frame->arguments.data());
    return profiledStep(executor, step.launch->label, "kernel",
                        launchArguments(plan, step, prepared, *frame),
                        [&] { return executor.launch(step, prepared, frame->arguments.data()); });
  }

  /// Done by runSteps.
  Result runStep(Executor &, const BranchPlan &, Profile *) { return {}; }
  Result runStep(Executor &, const LoopPlan &, Profile *) { return {}; }

  Result transferBytes(Value bytes, const char *what, size_t &out) const {
    if (!frame->numbers.isKnown(bytes) || frame->numbers[bytes] < 0)
      return Result::invalid(std::string("the size of a ") + what +
                             " is negative or exceeds 2^63 bytes");
    out = static_cast<size_t>(frame->numbers[bytes]);
    return {};
  }

  Result checkPlace(const PlacePlan &place, size_t bytes, const char *what) const {
    std::string why = frame->whyOutside(plan, place, bytes);
    return why.empty() ? Result() : Result::invalid(std::string("a ") + what + ": " + why);
  }

  Result runStep(Executor &executor, const CopyPlan &step, Profile *profile) {
    size_t bytes = 0;
    if (Result result = transferBytes(step.bytes, "copy", bytes); !result.ok() || bytes == 0)
      return result;
    for (const PlacePlan *place : {&step.destination, &step.source})
      if (Result result = checkPlace(*place, bytes, "copy"); !result.ok())
        return result;
    unsigned char *to = frame->address(step.destination);
    const unsigned char *from = frame->address(step.source);
    if (to == from)
      return {};
    if (to < from + bytes && from < to + bytes)
      return Result::invalid("a copy of " + std::to_string(bytes) + " bytes from " +
                             plan.nameOfBase(step.source.base) + " to " +
                             plan.nameOfBase(step.destination.base) + " overlaps itself");
    auto body = [&] { return executor.copy(to, from, bytes); };
    return profile ? profiledStep(executor, "copy", "copy",
                                  "{\"bytes\":" + std::to_string(bytes) + "}", body)
                   : body();
  }

  Result runStep(Executor &executor, const FillPlan &step, Profile *profile) {
    size_t bytes = 0;
    if (Result result = transferBytes(step.bytes, "fill", bytes); !result.ok() || bytes == 0)
      return result;
    if (bytes % step.fill->patternBytes != 0)
      return Result::invalid("a fill of " + std::to_string(bytes) +
                             " bytes is not a multiple of its pattern's " +
                             std::to_string(step.fill->patternBytes));
    if (Result result = checkPlace(step.destination, bytes, "fill"); !result.ok())
      return result;
    auto body = [&] {
      return executor.fill(frame->address(step.destination), step.fill->pattern,
                           step.fill->patternBytes, bytes);
    };
    return profile ? profiledStep(executor, "fill", "fill",
                                  "{\"bytes\":" + std::to_string(bytes) + "}", body)
                   : body();
  }
};

static void deleteAll(std::span<DLManagedTensorVersioned *> outputs) {
  for (DLManagedTensorVersioned *&output : outputs) {
    if (output)
      output->deleter(output);
    output = nullptr;
  }
}

DrawStart LoadedPackage::drawStart(const pellucid_run_options *options) const {
  if (options && options->seeded)
    return {options->seed, options->offset};
  return {ownSeed, callsDrawn.fetch_add(1, std::memory_order_relaxed)};
}

/// "3 tensors, 'calls' the first"
static std::string stateText(const std::vector<package::Weight> &state) {
  return state.size() == 1
             ? "'" + state[0].name + "'"
             : std::to_string(state.size()) + " tensors, '" + state[0].name + "' the first";
}

Result LoadedPackage::findDevice(std::span<const DLTensor> inputs,
                                 std::span<const DLTensor> outputs, const Instance *instance,
                                 DLDevice &where, const DeviceProgram *&device) const {
  if (!instance && !manifest().state.empty())
    return Result::invalid("the package has state (" + stateText(manifest().state) +
                           "), which an instance of it owns: make an instance and call that");
  where = instance ? instance->device() : deviceOfCall(inputs, outputs);
  return deviceProgram(where, device);
}

static void *streamOf(const pellucid_run_options *options) {
  return options ? options->stream : nullptr;
}

Result LoadedPackage::run(std::span<const DLTensor> inputs,
                          std::span<DLManagedTensorVersioned *> outputs,
                          const pellucid_run_options *options, Instance *instance) const {
  std::fill(outputs.begin(), outputs.end(), nullptr);
  if (outputs.size() != manifest().outputs.size())
    return Result::invalid("room for " + std::to_string(outputs.size()) +
                           " outputs given, the package has " +
                           std::to_string(manifest().outputs.size()));
  const DeviceProgram *device = nullptr;
  DLDevice where{};
  if (Result result = findDevice(inputs, {}, instance, where, device); !result.ok())
    return result;
  Instance::Turn turn(instance, streamOf(options));
  if (!turn.result().ok())
    return std::move(turn.result());
  Call call(*this, *device, inputs, where, options, instance);
  Result result = call.begin();
  if (result.ok())
    result = call.run(outputs);
  if (!result.ok())
    deleteAll(outputs);
  return result;
}

Result LoadedPackage::runInto(std::span<const DLTensor> inputs, std::span<const DLTensor> outputs,
                              const pellucid_run_options *options, Instance *instance) const {
  const DeviceProgram *device = nullptr;
  DLDevice where{};
  if (Result result = findDevice(inputs, outputs, instance, where, device); !result.ok())
    return result;
  Instance::Turn turn(instance, streamOf(options));
  if (!turn.result().ok())
    return std::move(turn.result());
  Call call(*this, *device, inputs, where, options, instance);
  if (Result result = call.begin(); !result.ok())
    return result;
  if (Result result = call.checkOutputs(outputs); !result.ok())
    return result;
  return call.runInto(outputs);
}

Result LoadedPackage::prepareCall(std::span<const DLTensor> inputs,
                                  std::span<const DLTensor> outputs,
                                  std::unique_ptr<PreparedCall> &out, Instance *instance) const {
  if (manifest().readsSizes())
    return Result::invalid("values decide sizes of this package, and a call that is packed once "
                           "would have the same ones in every run; use pellucid_run");
  const DeviceProgram *device = nullptr;
  DLDevice where{};
  if (Result result = findDevice(inputs, outputs, instance, where, device); !result.ok())
    return result;
  Call call(*this, *device, inputs, where, nullptr, instance);
  if (Result result = call.begin(); !result.ok())
    return result;
  if (Result result = call.checkOutputs(outputs); !result.ok())
    return result;
  auto prepared = std::make_unique<PreparedCall>(device->cuda.get(), instance, manifest().symbols);
  prepared->drawStart = [this](const pellucid_run_options &options) { return drawStart(&options); };
  if (Result result = call.recordInto(outputs, *prepared); !result.ok())
    return result;
  if (Result result = prepared->finish(); !result.ok())
    return result;
  out = std::move(prepared);
  return {};
}

Result LoadedPackage::outputShapes(std::span<const DLTensor> inputs,
                                   std::vector<std::vector<int64_t>> &shapes) const {
  const DeviceProgram *device = nullptr;
  DLDevice where = deviceOfCall(inputs, {});
  if (Result result = deviceProgram(where, device); !result.ok())
    return result;
  Call call(*this, *device, inputs, where, nullptr, nullptr);
  if (Result result = call.begin(); !result.ok())
    return result;
  const std::vector<uint32_t> &stages = device->plan->outputStages;
  for (size_t i = 0; i < stages.size(); ++i)
    if (stages[i] != 0)
      return Result::invalid("output '" + manifest().outputs[i].name +
                             "': values decide its shape, which is only known when the package "
                             "has run; pellucid_run allocates it");
  shapes.clear();
  for (size_t i = 0; i < manifest().outputs.size(); ++i) {
    std::span<const int64_t> dims = call.outputDims(i);
    shapes.emplace_back(dims.begin(), dims.end());
  }
  return {};
}

} // namespace pellucid::runtime
