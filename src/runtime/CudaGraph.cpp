// SPDX-License-Identifier: Apache-2.0
#include "runtime/CudaGraph.h"

namespace pellucid::runtime {

// CUstream_flags, CUstreamCaptureMode. Relaxed: a kernel that the driver loads at its first use may
// be loaded meanwhile.
static constexpr unsigned nonBlocking = 1;
static constexpr int relaxed = 2;

Result CudaGraph::capture(const CudaResources &resources,
                          const std::function<Result(Executor &)> &queue,
                          std::unique_ptr<CudaGraph> &out) {
  const cuda::Driver &driver = resources.driver;
  cuda::CurrentContext current(driver, resources.context);
  cuda::Stream stream = nullptr;
  if (Result result =
          driver.check(driver.streamCreate(&stream, nonBlocking), "make a stream to record a call");
      !result.ok())
    return result;
  Result result =
      driver.check(driver.streamBeginCapture(stream, relaxed), "begin to record a call");
  if (!result.ok()) {
    driver.streamDestroy(stream);
    return result;
  }
  {
    CudaExecutor executor(resources, nullptr, stream);
    result = queue(executor);
  }
  // Ended in any case: a stream that records cannot be destroyed.
  cuda::Graph graph = nullptr;
  Result ended = driver.check(driver.streamEndCapture(stream, &graph), "record a call");
  if (result.ok())
    result = std::move(ended);
  std::unique_ptr<CudaGraph> made(new CudaGraph(resources));
  if (result.ok())
    result = driver.check(driver.graphInstantiate(&made->exec, graph, 0),
                          "make the graph of a recorded call");
  if (graph)
    driver.graphDestroy(graph);
  driver.streamDestroy(stream);
  if (result.ok())
    out = std::move(made);
  return result;
}

CudaGraph::~CudaGraph() {
  if (!exec)
    return;
  cuda::CurrentContext current(resources.driver, resources.context);
  resources.driver.graphExecDestroy(exec);
}

Result CudaGraph::launch(cuda::Stream stream) const {
  cuda::CurrentContext current(resources.driver, resources.context);
  cuda::Code code = resources.driver.graphLaunch(exec, stream);
  return code == 0 ? Result() : resources.driver.check(code, "queue a recorded call");
}

} // namespace pellucid::runtime
