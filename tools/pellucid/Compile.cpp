// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "ModelLine.h"
#include "driver/Compile.h"
#include "package/PackageWriter.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

int runCompile(Words words) {
  VerbLine line("compile", "Makes a package of a model or a saved program.", "pellucid compile model.py:Model --input 'x=bf16[batch:1..1024,128]' -o model.plc");
  ModelOptions model;
  std::string out, targets = "cpu";
  bool noFusion = false;
  model.addTo(line.app());
  line.app().add_option("-o", out, "the package to write")->required();
  line.app().add_option("--target", targets, "cpu (every level), cpu:x86-64-v3, cuda:sm_90; a comma list");
  line.app().add_flag("--no-fusion", noFusion, "leave pointwise operators outside of the users' kernels");
  if (!line.parse(words))
    return line.exitCode();
  driver::CompileOptions options;
  std::string error;
  if (!parseTargets(targets, options.targets, error))
    return refuse("--target " + targets, error);
  options.fuseIntoKernels = !noFusion;
  size_t slash = model.model.rfind('/');
  options.name = model.model.substr(slash == std::string::npos ? 0 : slash + 1);
  auto start = std::chrono::steady_clock::now();
  graph::Program program = loadModel(model);
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, options, contents, report, diagnostics))
    return refuse(diagnostics);
  if (package::Status status = package::writePackage(contents, out); !status.ok())
    return refuse(out, status.message());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  size_t fused = 0;
  for (const auto &edge : report.edges)
    fused += edge.fused;
  if (line.json()) {
    nlohmann::json stages;
    for (const auto &time : report.times)
      stages[time.stage] = time.seconds;
    printJson({{"package", out}, {"seconds", seconds}, {"stages", stages}, {"kernels", contents.manifest.kernels.size()}, {"fused_edges", fused}});
  } else {
    std::printf("%s: %zu kernel(s), %zu edge(s) fused, %.3f s\n", out.c_str(), contents.manifest.kernels.size(), fused, seconds);
  }
  return Ok;
}

} // namespace pellucid::cli
