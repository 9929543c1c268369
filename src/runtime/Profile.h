// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Executor.h"

#include <mutex>
#include <string>

namespace pellucid::runtime {

/// One step of a call as the profiler sees it.
struct ProfiledStep {
  std::string name;
  const char *category = "kernel"; ///< "kernel", "copy", "fill", "call"
  size_t begin = 0, end = 0;       ///< marks of the executor
  std::string arguments;           ///< a JSON object
};

/// Events of any number of calls as Chrome trace-event JSON. Thread-safe.
class Profile {
public:
  void add(Executor &executor, std::span<const ProfiledStep> steps, uint64_t track,
           const std::string &trackName);
  /// Valid until the next call of this function.
  const std::string &json();

private:
  std::mutex mutex;
  std::string events, text;
  std::vector<uint64_t> namedTracks;
  void append(const std::string &event);
};

/// What a launch did: kernel, grid, shapes of its pointers, bytes, flops.
std::string launchArguments(const ProgramPlan &plan, const LaunchPlan &step,
                            const PreparedLaunch &prepared, const Frame &frame);

} // namespace pellucid::runtime
