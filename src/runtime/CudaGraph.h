// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/CudaExecutor.h"

#include <functional>

namespace pellucid::runtime {

/// Queued work kept as a CUDA graph, which one call of the driver queues again.
class CudaGraph {
public:
  /// What `queue` does with the executor that it is given becomes the graph; nothing runs yet.
  static Result capture(const CudaResources &resources,
                        const std::function<Result(Executor &)> &queue,
                        std::unique_ptr<CudaGraph> &out);
  ~CudaGraph();
  CudaGraph(const CudaGraph &) = delete;

  /// Queues the graph behind its own last run, wherever that was queued.
  Result launch(cuda::Stream stream) const;

private:
  explicit CudaGraph(const CudaResources &resources) : resources(resources) {}

  const CudaResources &resources;
  cuda::GraphExec exec = nullptr;
};

} // namespace pellucid::runtime
