// SPDX-License-Identifier: Apache-2.0
#include "runtime/PreparedCall.h"

#include "package/BytecodeText.h"
#include "runtime/CpuExecutor.h"
#include "runtime/CudaExecutor.h"
#include "runtime/Instance.h"

#include <cstring>

namespace pellucid::runtime {

/// Where a launch's packed arguments begin: kernels read them as a struct.
static constexpr size_t argumentAlignment = 16;

class PreparedCall::Recorder : public Executor {
public:
  Recorder(PreparedCall &call, Executor &real) : call(call), real(real) {}

  Result allocateOutput(size_t bytes, OutputMemory &memory) override {
    return real.allocateOutput(bytes, memory);
  }
  Result allocateArena(Frame::Arena &arena, unsigned char *&memory) override {
    return real.allocateArena(arena, memory);
  }
  const GridLimits &gridLimits() const override { return real.gridLimits(); }
  Result launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                const unsigned char *arguments) override {
    if (Result result = room(); !result.ok())
      return result;
    size_t at = call.arguments.size();
    call.arguments.insert(call.arguments.end(), arguments,
                          arguments + prepared.variant->argumentBytes);
    call.arguments.resize((call.arguments.size() + argumentAlignment - 1) / argumentAlignment *
                          argumentAlignment);
    call.steps.push_back(LaunchStep{&step, prepared, at});
    return noteDraws(step, *prepared.variant, at);
  }
  Result copy(unsigned char *destination, const unsigned char *source, size_t bytes) override {
    call.steps.push_back(CopyStep{destination, source, bytes});
    return room();
  }
  Result fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
              size_t bytes) override {
    call.steps.push_back(FillStep{destination, pattern, patternBytes, bytes});
    return room();
  }
  Result read(const unsigned char *, void *, size_t) override {
    return Result::invalid("what a call that is being recorded computes is not known");
  }
  Result branch(const unsigned char *flag, const DoSteps &whenTrue,
                const DoSteps &whenFalse) override {
    size_t at = add(BranchStep{flag});
    size_t counts[2];
    if (Result result = count(whenTrue, counts[0]); !result.ok())
      return result;
    if (Result result = count(whenFalse, counts[1]); !result.ok())
      return result;
    auto &made = std::get<BranchStep>(call.steps[at]);
    made.whenTrue = counts[0];
    made.whenFalse = counts[1];
    return {};
  }
  /// A loop whose turns are counted is written out.
  Result loop(const LoopSteps &steps) override {
    if (steps.turns)
      return Executor::loop(steps);
    size_t at = add(LoopStep{steps.flag});
    LoopStep made{steps.flag};
    for (uint64_t turn : {0, 1}) {
      if (Result result = steps.enter(turn); !result.ok())
        return result;
      if (Result result = count(steps.condition, made.condition[turn]); !result.ok())
        return result;
      if (Result result = count(steps.body, made.body[turn]); !result.ok())
        return result;
    }
    Result result = count(steps.settle, made.settle);
    call.steps[at] = made;
    return result;
  }
  Result beginStateWrites(Instance *) override {
    call.firstStateWrite = call.steps.size();
    return {};
  }
  Result finish() override { return real.finish(); }
  size_t mark() override { return real.mark(); }
  double microsecondsOf(size_t mark) override { return real.microsecondsOf(mark); }

private:
  /// Which of the launch's packed arguments, at `at`, are what random numbers start from.
  Result noteDraws(const LaunchPlan &step, const VariantPlan &variant, size_t at) {
    const package::LaunchVariant &source =
        step.launch->variants[static_cast<size_t>(&variant - step.variants.data())];
    for (size_t i = 0; i < source.arguments.size(); ++i) {
      const auto *value = std::get_if<package::ValueArgument>(&source.arguments[i]);
      if (!value)
        continue;
      const package::KernelParameter &parameter = *variant.arguments[i].parameter;
      for (uint32_t symbol : package::symbolsIn(value->value)) {
        if (symbol >= call.symbols.size() || !call.symbols[symbol].isOfRun())
          continue;
        if (variant.arguments[i].value.index != symbol || parameter.bytes != sizeof(uint64_t) ||
            isFloat(parameter.dtype))
          return Result::error(PELLUCID_UNSUPPORTED,
                               "launch '" + step.launch->label + "': argument '" + parameter.name +
                                   "' is computed from what random numbers start from, which every "
                                   "run of a prepared call has anew; use pellucid_run_into");
        call.readsFlags = true;
        call.drawArguments.push_back(
            {at + parameter.offset, call.symbols[symbol].source == package::SymbolSource::RunSeed});
      }
    }
    return {};
  }

  size_t add(auto step) {
    call.readsFlags = true;
    call.steps.push_back(step);
    return call.steps.size() - 1;
  }
  Result count(const DoSteps &steps, size_t &out) {
    size_t before = call.steps.size();
    Result result = steps();
    out = call.steps.size() - before;
    return result;
  }
  Result room() const {
    static constexpr size_t most = size_t(1) << 22;
    return call.steps.size() < most
               ? Result()
               : Result::error(PELLUCID_UNSUPPORTED,
                               "a prepared call writes out the turns of its loops, and these come "
                               "to more than " +
                                   std::to_string(most) + " steps; use pellucid_run_into");
  }

  PreparedCall &call;
  Executor &real;
};

std::unique_ptr<Executor> PreparedCall::recorder(Executor &real) {
  return std::make_unique<Recorder>(*this, real);
}

Result PreparedCall::finish() {
  if (!cuda || steps.empty() || readsFlags)
    return {};
  // A graph is queued as a whole or not at all.
  firstStateWrite = SIZE_MAX;
  return CudaGraph::capture(
      *cuda, [&](Executor &executor) { return runSteps(executor, 0, steps.size()); }, graph);
}

Result PreparedCall::runStep(Executor &executor, const BranchStep &branch, size_t &at) const {
  size_t first = at + 1, middle = first + branch.whenTrue, end = middle + branch.whenFalse;
  at = end - 1;
  return executor.branch(
      branch.flag, [&] { return runSteps(executor, first, middle); },
      [&] { return runSteps(executor, middle, end); });
}

Result PreparedCall::runStep(Executor &executor, const LoopStep &loop, size_t &at) const {
  size_t condition[2], body[2], next = at + 1, odd = 0;
  for (size_t parity : {0, 1}) {
    condition[parity] = next;
    body[parity] = next += loop.condition[parity];
    next += loop.body[parity];
  }
  at = next + loop.settle - 1;
  LoopSteps steps;
  steps.flag = loop.flag;
  steps.enter = [&](uint64_t turn) {
    odd = turn % 2;
    return Result();
  };
  steps.condition = [&] { return runSteps(executor, condition[odd], body[odd]); };
  steps.body = [&] { return runSteps(executor, body[odd], body[odd] + loop.body[odd]); };
  steps.settle = [&] { return runSteps(executor, next, next + loop.settle); };
  return executor.loop(steps);
}

Result PreparedCall::runSteps(Executor &executor, size_t begin, size_t end) const {
  for (size_t at = begin; at < end; ++at) {
    const auto &step = steps[at];
    Result result;
    if (executor.cancellation && executor.cancellation->isRequested())
      return executor.cancellation->result();
    if (at == firstStateWrite)
      if (result = executor.beginStateWrites(instance); !result.ok())
        return result;
    if (const auto *launch = std::get_if<LaunchStep>(&step))
      result =
          executor.launch(*launch->plan, launch->prepared, arguments.data() + launch->argumentsAt);
    else if (const auto *copy = std::get_if<CopyStep>(&step))
      result = executor.copy(copy->destination, copy->source, copy->bytes);
    else if (const auto *fill = std::get_if<FillStep>(&step))
      result = executor.fill(fill->destination, fill->pattern, fill->patternBytes, fill->bytes);
    else if (const auto *branch = std::get_if<BranchStep>(&step))
      result = runStep(executor, *branch, at);
    else if (const auto *loop = std::get_if<LoopStep>(&step))
      result = runStep(executor, *loop, at);
    if (!result.ok())
      return result;
  }
  return {};
}

/// What a run of the same tensors cannot honour is refused.
static Result checkOptions(const pellucid_run_options &options, bool isCuda) {
  if (options.profile)
    return Result::invalid(
        "a prepared call records no profile; profile pellucid_run_into of the same tensors");
  if (options.allocator)
    return Result::invalid("a prepared call allocates no outputs: an allocator has no use");
  if (options.guard)
    return Result::invalid("a prepared call runs on the memory it was prepared for: guard moves "
                           "it; use pellucid_run_into");
  if (isCuda && (options.cancel || options.timeout_ms))
    return Result::invalid("a prepared call on CUDA is queued as a whole: cancel and timeout_ms "
                           "have no effect there; use pellucid_run_into");
  return {};
}

Result PreparedCall::run(const pellucid_run_options &options) {
  if (Result result = checkOptions(options, cuda && !readsFlags); !result.ok())
    return result;
  if (isRunning.exchange(true, std::memory_order_acquire))
    return Result::invalid("the prepared call is running in another thread; prepare one for each");
  struct Done {
    std::atomic<bool> &running;
    ~Done() { running.store(false, std::memory_order_release); }
  } done{isRunning};
  Instance::Turn turn(instance, options.stream);
  if (!turn.result().ok())
    return std::move(turn.result());
  if (cuda && !readsFlags)
    return graph ? graph->launch(static_cast<cuda::Stream>(options.stream)) : Result();
  if (!cuda) {
    CpuExecutor executor(&options);
    return runOn(executor, options);
  }
  CudaExecutor executor(*cuda, &options);
  Result result = runOn(executor, options);
  // The next run may be on another stream, with the same buffers.
  Result waited = executor.wait();
  return result.ok() ? std::move(waited) : std::move(result);
}

void PreparedCall::giveDraws(const pellucid_run_options &options) {
  if (drawArguments.empty())
    return;
  DrawStart start = drawStart(options);
  for (const DrawArgument &one : drawArguments)
    std::memcpy(arguments.data() + one.at, one.isSeed ? &start.seed : &start.offset,
                sizeof(uint64_t));
}

Result PreparedCall::runOn(Executor &executor, const pellucid_run_options &options) {
  giveDraws(options);
  Cancellation cancellation(&options);
  executor.cancellation = cancellation.isPossible() ? &cancellation : nullptr;
  Result result = runSteps(executor, 0, steps.size());
  Result finished = executor.finish();
  if (result.ok())
    result = std::move(finished);
  return instance ? instance->endCall(executor, std::move(result)) : std::move(result);
}

} // namespace pellucid::runtime
