// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"

#include <cstdio>
#include <cstring>

using namespace pellucid::cli;

namespace {

struct Verb {
  const char *name, *what;
  int (*run)(Words);
};

constexpr Verb verbs[] = {
    {"kernels", "list the jit kernels of a file, their arguments, launches and operators",
     runKernels},
    {"launch", "run one kernel on .npy files", runLaunch},
    {"export", "trace a model and print or save its program", runExport},
    {"compile", "make a package of a model, a program or a kernel", runCompile},
    {"run", "run a package on .npy files", runRun},
    {"inspect", "show what is inside a package or a program", runInspect},
    {"explain", "say for every edge whether it was fused, or why not", runExplain},
    {"profile", "run a package and write a Chrome trace", runProfile},
    {"bench", "time a package or a kernel beside the machine's ceiling", runBench},
    {"doctor", "say what this machine offers", runDoctor},
};

void printUsage(FILE *stream) {
  std::fputs("usage: pellucid VERB …\n\n", stream);
  for (const Verb &verb : verbs)
    std::fprintf(stream, "  %-8s  %s\n", verb.name, verb.what);
  std::fputs("\n'pellucid VERB --help' shows a verb's options and an example.\n", stream);
}

int dispatch(const Verb &verb, Words words) {
  try {
    return verb.run(words);
  } catch (const pellucid::DiagnosticError &error) {
    return refuse(error.diagnostic);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "pellucid %s: internal error: %s\n", verb.name, error.what());
    return InternalError;
  }
}

} // namespace

int main(int count, char **words) {
  if (count < 2) {
    printUsage(stderr);
    return Refused;
  }
  if (std::strcmp(words[1], "--help") == 0 || std::strcmp(words[1], "-h") == 0) {
    printUsage(stdout);
    return Ok;
  }
  if (std::strcmp(words[1], "--version") == 0) {
    std::puts("pellucid " PELLUCID_VERSION);
    return Ok;
  }
  for (const Verb &verb : verbs)
    if (std::strcmp(words[1], verb.name) == 0)
      return dispatch(verb, {count - 2, words + 2});
  std::fprintf(stderr, "%s: error: no such verb\n", words[1]);
  printUsage(stderr);
  return Refused;
}
