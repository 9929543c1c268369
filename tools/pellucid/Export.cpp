// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "ModelLine.h"
#include "NodeJson.h"
#include "graph/NodeTable.h"
#include "graph/ProgramFile.h"
#include "graph/Registry.h"
#include "passes/graph/InlineOperators.h"
#include "trace/WriteArchive.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

int runExport(Words words) {
  VerbLine line(
      "export", "Traces a model and prints PyTorch's node table.",
      "pellucid export examples/silu_model.py:Model --input 'x=f32[batch:1..1024,128]' -o "
      "model.program");
  ModelOptions model;
  std::string out;
  bool decompose = false;
  model.addTo(line);
  line.addFlag("--run-decompositions", decompose,
               "open calls of triton_ops, as run_decompositions(decompose_custom_triton_ops="
               "True) does; a custom_op stays one node");
  line.add("-o,--output", out,
           "write the program here, weights inside; as an archive of torch.export where "
           "the name ends in .pt2")
      .valueText("FILE");
  if (!line.parse(words))
    return line.exitCode();
  if (!out.empty())
    model.checkOutput(out);
  graph::Program program = loadModel(model);
  if (decompose)
    passes::inlineOperators(program, /*transparentOnly=*/true);
  std::vector<graph::NodeRow> rows = graph::nodeRows(program, program.main);
  // A reference would be looked up beside the program, wherever that is moved to.
  for (auto &[name, weight] : program.weights)
    if (weight.data)
      weight.source = graph::Weight::Source::Carried;
  if (out.ends_with(".pt2"))
    trace::writeArchive(program, graph::OperatorRegistry::builtins(), out);
  else if (!out.empty())
    graph::saveProgram(program, out);
  model.printNotes();
  if (!line.json()) {
    std::fputs(graph::printNodeTable(rows).c_str(), stdout);
    return Ok;
  }
  printJson({{"nodes", toJson(rows)}, {"strict", program.strict}});
  return Ok;
}

} // namespace pellucid::cli
