// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/CodegenJob.h"

#include <memory>
#include <string>
#include <vector>

namespace pellucid::driver {

/// A code generation process working on one job. Start several for work in parallel, then wait for
/// each. The process is killed and reaped when this object goes.
class Worker {
public:
  /// A process that is started with the first job and stays for further ones.
  explicit Worker(std::string program, int secondsOfSilence = 20);
  /// Starts `program` (the pellucid-worker executable) on `job`. A failure to start is reported by
  /// wait(). A worker that says nothing for `secondsOfSilence` counts as hung and is ended.
  Worker(const std::string &program, const CodegenJob &job, int secondsOfSilence = 20);
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Starts the process where none runs. It is killed when the thread that starts it ends.
  void begin();
  bool isRunning() const;
  /// Hands the process its next job, once wait() has returned for the one before. One that ended is
  /// started anew.
  void start(const CodegenJob &job);
  /// Blocks until the job has ended. False with an error in `diagnostics` when it was refused, or
  /// when the process died (killed, aborted, ran into its time limit); the error then names the
  /// kernel it was working on.
  bool wait(CodegenResult &result, Diagnostics &diagnostics);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The worker's own main loop: reads one job from `input`, writes frames to `output`. Returns the
/// exit code.
int serveWorker(int input, int output);

/// Where pellucid-worker stands: beside the running program, or in ../bin of the library that holds
/// this function. Empty when neither has it.
std::string findWorker();

} // namespace pellucid::driver
