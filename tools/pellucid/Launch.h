// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace pellucid::cli {

/// A kernel launch as the command line says it.
struct LaunchOptions {
  std::string target, grid, cpuTarget = "cpu";
  std::vector<std::string> paths;
  std::vector<std::string> arguments, outputs;
  int numWarps = 0, numStages = 0, threads = 0;
  bool reference = false, sanitize = false;
  std::string guard;                     ///< end, begin or nothing
  std::string stopAt, program = "0,0,0"; ///< FILE:LINE, X,Y,Z
};

struct LaunchTiming {
  std::string isa;
  std::vector<double> seconds; ///< of each launch, the first one left out
  double bytes = 0;            ///< what the tensors hold that a launch reads, plus what it writes
  /// What one thread moves per second while everything stays in its cache: the kernel's own
  /// arithmetic ceiling. 0 where it is not known: on devices, and for grids of several dimensions.
  double cachedBytesPerSecond = 0;
};

/// Compiles the kernel and launches it again and again for `budget` seconds, at least five times.
/// The arguments' memory is written over as the kernel does it.
LaunchTiming timeLaunch(const LaunchOptions &options, double budget);

} // namespace pellucid::cli
