// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "StandardStreams.h"
#include "support/CrashHandler.h"
#include "support/NearNames.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

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
    {"exec", "run a PyTorch and Triton script, without Python", runExec},
    {"inspect", "show what is inside a package or a program", runInspect},
    {"explain", "say for every edge whether it was fused, or why not", runExplain},
    {"profile", "run a package and write a Chrome trace", runProfile},
    {"bench", "time a package or a kernel beside the machine's ceiling", runBench},
    {"doctor", "say what this machine offers", runDoctor},
};

void printUsage(FILE *stream) {
  std::fputs("usage: pellucid VERB …\n\nVerbs:\n", stream);
  for (const Verb &verb : verbs)
    std::fprintf(stream, "  %-8s  %s\n", verb.name, verb.what);
  std::fputs(
      "\n'pellucid VERB --help' shows a verb's options and an example, --version this version.\n",
      stream);
}

int refuseVerb(const char *word) {
  std::vector<std::string> names;
  for (const Verb &verb : verbs)
    names.emplace_back(verb.name);
  refuse(word, "no such verb" + pellucid::suggestName(word, names));
  printUsage(stderr);
  return Refused;
}

bool isOneOf(const char *word, std::initializer_list<const char *> spellings) {
  return std::any_of(spellings.begin(), spellings.end(),
                     [&](const char *spelling) { return std::strcmp(word, spelling) == 0; });
}

int dispatch(const Verb &verb, Words words) {
  const std::string name = verb.name;
  pellucid::Working work("in the verb", name);
  try {
    return verb.run(words);
  } catch (const pellucid::DiagnosticError &error) {
    return refuse(error.diagnostic);
  } catch (const std::bad_alloc &) {
    return refuse(std::string("pellucid ") + verb.name, "out of memory");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "pellucid %s: internal error: %s\n", verb.name, error.what());
    return InternalError;
  }
}

int runCommand(int count, char **words) {
  if (count < 2) {
    printUsage(stderr);
    return Refused;
  }
  bool wantsHelp = isOneOf(words[1], {"help", "--help", "-h"});
  if (wantsHelp && count == 2) {
    printUsage(stdout);
    return Ok;
  }
  if (isOneOf(words[1], {"version", "--version", "-V"})) {
    std::puts("pellucid " PELLUCID_VERSION);
    return Ok;
  }
  const char *help = "--help", *name = words[wantsHelp ? 2 : 1];
  for (const Verb &verb : verbs)
    if (std::strcmp(name, verb.name) == 0)
      return dispatch(verb, wantsHelp ? Words{1, &help} : Words{count - 2, words + 2});
  return refuseVerb(name);
}

} // namespace

int main(int count, char **words) {
  prepareStandardStreams();
  pellucid::reportCrashes("pellucid", pellucid::AfterCrash::Exit);
  return finishStandardOutput(runCommand(count, words));
}
