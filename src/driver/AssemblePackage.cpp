// SPDX-License-Identifier: Apache-2.0
#include "driver/PackageAssembler.h"

#include "driver/ReportText.h"
#include "graph/HostSteps.h"
#include "graph/ProgramText.h"
#include "passes/graph/NumberDraws.h"
#include "symbolic/Bytecode.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace pellucid::driver {

using namespace graph;
using package::Bytecode;
using passes::Storage;

void LoweredProgram::collectKernels() {
  struct Most {
    uint32_t warps = 1, stages = 1;
  };
  std::map<uint32_t, Most> used;
  auto collect = [&](const Graph &graph) {
    for (const Node &node : graph)
      if (const Launch *launch = node.launch())
        for (const LaunchVariant &variant : launch->variants) {
          Most &most = used[variant.kernel];
          most.warps = std::max(most.warps, static_cast<uint32_t>(std::max(1, variant.numWarps)));
          most.stages =
              std::max(most.stages, static_cast<uint32_t>(std::max(1, variant.numStages)));
        }
  };
  collect(program.main);
  for (const auto &[region, regionPlan] : regions)
    collect(program.bodies[region].graph);
  for (auto [kernel, most] : used) {
    usedKernels.push_back(kernel);
    numWarps.push_back(most.warps);
    numStages.push_back(most.stages);
  }
}

Assembler::Assembler(const Program &source, const LoweredProgram &l,
                     const std::vector<TargetCode> &c, const CompileOptions &o, SharedParts &s,
                     package::Contents &out)
    : source(source), lowered(l), program(l.program), code(c), options(o), shared(s), contents(out),
      manifest(out.manifest) {}

void Assembler::run() {
  bool first = manifest.programs.empty();
  symbolOrder = program.symbols.names();
  read = readSymbols(program);
  // Graphs that nothing runs may read some.
  std::set<std::string> dead = read;
  auto keep = [&](const Graph &graph) {
    for (const Node &node : graph)
      if (node.calls(readSizeTarget))
        dead.erase(sizeReadOf(node).symbol);
  };
  keep(program.main);
  for (uint32_t region : regionsOf(program.main, program))
    keep(program.bodies[region].graph);
  std::erase_if(symbolOrder, [&](const std::string &name) { return dead.count(name) != 0; });
  std::set<std::string> given = read;
  given.insert({passes::seedSymbol, passes::offsetSymbol});
  solved.solve(program, given, symbolOrder);
  addInputs(first);
  if (first) {
    manifest.producer = "pellucid " PELLUCID_VERSION;
    manifest.name = options.name;
    addSymbols();
    addOutputs();
  }
  addKernels();
  addProgram();
  addCode();
}

Bytecode Assembler::encode(const Expr &expr) const {
  try {
    return symbolic::encode(solved.known(expr), symbolOrder);
  } catch (const std::invalid_argument &problem) {
    throw DiagnosticError(SourceLocation(options.name),
                          std::string(problem.what()) +
                              ": make some of the dynamic dims static: " + expr.text());
  }
}

std::vector<Bytecode> Assembler::encodeAll(const std::vector<Expr> &exprs) const {
  std::vector<Bytecode> out;
  for (const Expr &expr : exprs)
    out.push_back(encode(expr));
  return out;
}

void assemblePackage(const Program &source, const std::vector<LoweredProgram> &lowered,
                     const std::vector<TargetCode> &code, const CompileOptions &options,
                     const CompileReport &report, package::Contents &out) {
  SharedParts shared;
  for (const LoweredProgram &one : lowered)
    Assembler(source, one, code, options, shared, out).run();
  if (!options.keepIr)
    return;
  for (const StageText &text : report.texts)
    out.records.push_back(package::textRecord("ir/" + text.stage + ".txt", text.text));
  out.records.push_back(package::textRecord("ir/explain.json", explainJson(report.edges)));
}

} // namespace pellucid::driver
