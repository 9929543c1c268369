// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/CudaGraph.h"

#include <atomic>
#include <functional>

namespace pellucid::runtime {

/// A call whose tensors are fixed: checked, placed and packed once, then run any number of times.
/// On the CPU a run goes through the steps without a check, a lock or an allocation; on CUDA it
/// queues one graph, or the steps where tensors decide which.
class PreparedCall {
public:
  /// `cuda`: null for the CPU; outlives the call, as the package and its instance (which may be
  /// null) do.
  PreparedCall(const CudaResources *cuda, Instance *instance,
               std::span<const package::Symbol> symbols)
      : cuda(cuda), instance(instance), symbols(symbols) {}
  /// Where the random numbers of a run start, if its kernels draw some.
  std::function<DrawStart(const pellucid_run_options &)> drawStart;
  /// Work that is queued must have ended.
  ~PreparedCall() = default;
  PreparedCall(const PreparedCall &) = delete;

  /// One run at a time; a second thread is refused.
  Result run(const pellucid_run_options &options);

  /// While the call is made: an executor that notes its steps, with the memory of `real`.
  std::unique_ptr<Executor> recorder(Executor &real);
  void keep(std::unique_ptr<Frame> ended) { frame = std::move(ended); }
  /// After the last step.
  Result finish();

private:
  class Recorder;
  struct LaunchStep {
    const LaunchPlan *plan;
    PreparedLaunch prepared;
    size_t argumentsAt; ///< in `arguments`
  };
  struct CopyStep {
    unsigned char *destination;
    const unsigned char *source;
    size_t bytes;
  };
  struct FillStep {
    unsigned char *destination;
    uint64_t pattern;
    uint32_t patternBytes;
    size_t bytes;
  };

  /// A packed argument that each run has its own value of.
  struct DrawArgument {
    size_t at; ///< in `arguments`
    bool isSeed;
  };

  /// The steps of either side stand behind it.
  struct BranchStep {
    const unsigned char *flag;
    size_t whenTrue = 0, whenFalse = 0;
  };
  /// Turns of even and of odd numbers, which read and write each other's places; then what an odd
  /// number of turns leaves to do. Their steps stand behind it, each turn's condition first.
  struct LoopStep {
    const unsigned char *flag;
    size_t condition[2] = {0, 0}, body[2] = {0, 0}, settle = 0;
  };

  const CudaResources *cuda;
  Instance *instance;
  std::span<const package::Symbol> symbols; ///< the package's
  size_t firstStateWrite = SIZE_MAX;        ///< of `steps`, never inside of control flow
  std::vector<std::variant<LaunchStep, CopyStep, FillStep, BranchStep, LoopStep>> steps;
  /// The host decides between steps, or gives them other arguments in every run: no graph can hold
  /// them.
  bool readsFlags = false;
  std::vector<unsigned char> arguments;
  std::vector<DrawArgument> drawArguments;
  std::unique_ptr<Frame> frame; ///< owns the buffers' memory
  std::unique_ptr<CudaGraph> graph;
  std::atomic<bool> isRunning{false};

  Result runOn(Executor &executor, const pellucid_run_options &options);
  void giveDraws(const pellucid_run_options &options);
  Result runSteps(Executor &executor, size_t begin, size_t end) const;
  Result runStep(Executor &executor, const BranchStep &branch, size_t &at) const;
  Result runStep(Executor &executor, const LoopStep &loop, size_t &at) const;
};

} // namespace pellucid::runtime
