// SPDX-License-Identifier: Apache-2.0
#include "runtime/PreparedCall.h"

#include "runtime/CpuExecutor.h"
#include "runtime/Instance.h"

namespace pellucid::runtime {

/// Where a launch's packed arguments begin: kernels read them as a struct.
static constexpr size_t argumentAlignment = 16;

class PreparedCall::Recorder : public Executor {
public:
  Recorder(PreparedCall &call, Executor &real) : call(call), real(real) {}

  Result allocateOutput(size_t bytes, OutputMemory &memory) override {
    return real.allocateOutput(bytes, memory);
  }
  Result allocateArena(Frame &frame, unsigned char *&memory) override {
    return real.allocateArena(frame, memory);
  }
  const GridLimits &gridLimits() const override { return real.gridLimits(); }
  Result launch(const LaunchPlan &step, const PreparedLaunch &prepared,
                const unsigned char *arguments) override {
    size_t at = call.arguments.size();
    call.arguments.insert(call.arguments.end(), arguments,
                          arguments + prepared.variant->argumentBytes);
    call.arguments.resize((call.arguments.size() + argumentAlignment - 1) / argumentAlignment *
                          argumentAlignment);
    call.steps.push_back(LaunchStep{&step, prepared, at});
    return {};
  }
  Result copy(unsigned char *destination, const unsigned char *source, size_t bytes) override {
    call.steps.push_back(CopyStep{destination, source, bytes});
    return {};
  }
  Result fill(unsigned char *destination, uint64_t pattern, uint32_t patternBytes,
              size_t bytes) override {
    call.steps.push_back(FillStep{destination, pattern, patternBytes, bytes});
    return {};
  }
  Result beginStateWrites(Instance *) override {
    call.firstStateWrite = call.steps.size();
    return {};
  }
  Result finish() override { return real.finish(); }
  size_t mark() override { return real.mark(); }
  double microsecondsOf(size_t mark) override { return real.microsecondsOf(mark); }

private:
  PreparedCall &call;
  Executor &real;
};

std::unique_ptr<Executor> PreparedCall::recorder(Executor &real) {
  return std::make_unique<Recorder>(*this, real);
}

Result PreparedCall::finish() {
  if (!cuda || steps.empty())
    return {};
  // A graph is queued as a whole or not at all.
  firstStateWrite = SIZE_MAX;
  return CudaGraph::capture(*cuda, [&](Executor &executor) { return runSteps(executor); }, graph);
}

Result PreparedCall::runSteps(Executor &executor) const {
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto &step = steps[i];
    Result result;
    if (executor.cancellation && executor.cancellation->isRequested())
      return executor.cancellation->result();
    if (i == firstStateWrite)
      if (result = executor.beginStateWrites(instance); !result.ok())
        return result;
    if (const auto *launch = std::get_if<LaunchStep>(&step))
      result =
          executor.launch(*launch->plan, launch->prepared, arguments.data() + launch->argumentsAt);
    else if (const auto *copy = std::get_if<CopyStep>(&step))
      result = executor.copy(copy->destination, copy->source, copy->bytes);
    else if (const auto *fill = std::get_if<FillStep>(&step))
      result = executor.fill(fill->destination, fill->pattern, fill->patternBytes, fill->bytes);
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
  if (Result result = checkOptions(options, cuda != nullptr); !result.ok())
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
  if (cuda)
    return graph ? graph->launch(static_cast<cuda::Stream>(options.stream)) : Result();
  CpuExecutor executor(&options);
  Cancellation cancellation(&options);
  executor.cancellation = cancellation.isPossible() ? &cancellation : nullptr;
  Result result = runSteps(executor);
  return instance ? instance->endCall(executor, std::move(result)) : std::move(result);
}

} // namespace pellucid::runtime
