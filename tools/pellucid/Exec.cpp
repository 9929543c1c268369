// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "FaultGuard.h"
#include "exec/Script.h"

#include <cerrno>
#include <cstring>
#include <malloc.h>
#include <unistd.h>

namespace pellucid::cli {

/// How many words are ours: those before the script's name, and it.
static int ownWords(Words words) {
  for (int i = 0; i < words.count; ++i) {
    std::string_view word = words.values[i];
    if (word == "--device" || word == "--guard")
      ++i;
    else if (!word.starts_with("-"))
      return i + 1;
  }
  return words.count;
}

static std::string deviceProblem(const std::string &text) {
  return text == "cuda=cpu" ? "" : "'" + text + "' is not supported; cuda=cpu is";
}

/// Tensors of a script's turn are about as large as those of the turn before: their memory stays
/// with the process instead of being asked for page by page in every turn.
static void keepFreedMemory() {
  constexpr int kept = 256 << 20, mapped = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_MMAP_THRESHOLD, mapped);
}

int runExec(Words words) {
  VerbLine line("exec",
                "Runs a PyTorch and Triton program as Python would, without Python. Options stand "
                "before SCRIPT; all after it is the script's.",
                "pellucid exec --device cuda=cpu examples/silu_script.py --rows 32",
                "The script's exit code is this program's.");
  exec::ScriptRun run;
  std::vector<std::string> devices;
  line.add("SCRIPT", run.path, "the Python file").required();
  line.addRepeated("--device", devices,
                   "where a device's tensors and kernels are: cuda=cpu runs a CUDA script on the "
                   "CPU")
      .valueText("FROM=TO")
      .check(deviceProblem);
  line.addFlag("--report", run.reports,
               "say at the end what was compiled, timed and run, on standard error");
  std::string guard;
  addGuard(line, guard);
  int own = ownWords(words);
  if (!line.parse({own, words.values}))
    return line.exitCode();
  if (line.json())
    return refuse("--json", "exec prints what the script prints");
  if (::access(run.path.c_str(), R_OK) != 0)
    return refuse(run.path, std::string("cannot be read: ") + std::strerror(errno));
  run.guard = guardNamed(guard);
  run.arguments.assign(words.values + own, words.values + words.count);
  if (!devices.empty())
    run.devices["cuda"] = "cpu";
  keepFreedMemory();
  return exec::runScript(run);
}

} // namespace pellucid::cli
