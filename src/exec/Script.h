// SPDX-License-Identifier: Apache-2.0
/// Runs a stock PyTorch and Triton program, without Python.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace pellucid::exec {

struct ScriptRun {
  std::string path;
  std::vector<std::string> arguments;         ///< sys.argv behind the script's own name
  std::map<std::string, std::string> devices; ///< "cuda" -> "cpu": where a device's tensors live
  bool reports = false; ///< on standard error at the end: what was compiled and run
  int32_t guard =
      0; ///< pellucid_run_options': tensors of kernels end or begin at a page without access
};

/// Runs the script to its end and gives the exit code; what went wrong is on standard error.
int runScript(const ScriptRun &run);

} // namespace pellucid::exec
