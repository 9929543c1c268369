// SPDX-License-Identifier: Apache-2.0
/// @triton.autotune's configs in scripts, timed on the device that the launch is for.
#pragma once

#include "eager/Packages.h"
#include "trace/TuneConfigs.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pellucid::eager {

class ConfigTimes {
public:
  ConfigTimes(bool contractsFma, std::shared_ptr<driver::KeptWorkers> workers)
      : contractsFma(contractsFma), workers(std::move(workers)) {}

  /// The fastest of the question's configs on `device`; asked once per kernel and key. Those that
  /// cannot be compiled or run are left out, and the first is taken where none can.
  size_t choose(const trace::TuneQuestion &question, graph::Device device);

  /// Launches of what was timed run the code that was timed: sizes are no constants of it, so that
  /// those of the next key share it.
  bool wasTimed(const graph::KernelDef &kernel) const;

  size_t questions = 0, configs = 0; ///< that were timed
  double seconds = 0;                ///< that it took, compiling included

private:
  struct Candidate {
    size_t config;
    graph::Program program;
    std::shared_ptr<Compiled> launch; ///< null: it could not be compiled or loaded
  };

  size_t fastest(const trace::TuneQuestion &question, graph::Device device);
  void compile(std::vector<Candidate> &candidates, graph::Device device);

  bool contractsFma;
  std::shared_ptr<driver::KeptWorkers> workers;
  std::map<std::string, size_t> chosen;
  std::set<std::string> timedKernels; ///< their texts without names
  /// The last ones stay: modules that they hold are not loaded again.
  std::deque<std::shared_ptr<Compiled>> kept;
};

} // namespace pellucid::eager
