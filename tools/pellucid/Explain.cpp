// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "ModelLine.h"
#include "driver/Compile.h"
#include "driver/ReportText.h"
#include "package/FileKind.h"
#include "package/PackageFile.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

namespace {

bool isPackage(const std::string &path) {
  std::string begin = firstBytes(path);
  return package::looksLikePackage({reinterpret_cast<const uint8_t *>(begin.data()), begin.size()});
}

/// What the compiler wrote into the package about its fusions.
std::optional<std::string> recordedEdges(const std::string &path) {
  std::unique_ptr<package::PackageFile> file;
  if (package::Status status = package::PackageFile::open(path, file); !status.ok())
    throw DiagnosticError(SourceLocation(path), status.message());
  auto data = file->record("ir/explain.json");
  if (!data)
    return std::nullopt;
  return std::string(reinterpret_cast<const char *>(data->data()), data->size());
}

void printEdges(const nlohmann::json &report) {
  if (report["edges"].empty())
    std::puts("no edges: the program launches no kernel of the user's that takes or gives what "
              "another operator makes or takes");
  for (const auto &edge : report["edges"])
    std::printf("%-10s %s -> %s: %s\n", edge["fused"].get<bool>() ? "fused" : "not fused",
                edge["from"].get_ref<const std::string &>().c_str(),
                edge["to"].get_ref<const std::string &>().c_str(),
                edge["reason"].get_ref<const std::string &>().c_str());
}

} // namespace

int runExplain(Words words) {
  VerbLine line("explain", "Says for every edge at a kernel whether it was fused, or why not.",
                "pellucid explain model.plc",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  ModelOptions model;
  model.addTo(line);
  line.option("MODEL").describe(
      "a package, a saved program, an archive, FILE.py:CLASS or FILE.py:FUNCTION");
  if (!line.parse(words))
    return line.exitCode();
  std::string text;
  if (!model.isPython() && isPackage(model.model)) {
    model.refuseTraceOptions("a package");
    auto recorded = recordedEdges(model.model);
    if (!recorded)
      return refuse(model.model, "the package carries no record of its fusions");
    text = std::move(*recorded);
  } else {
    graph::Program program = loadModel(model);
    model.printNotes();
    package::Contents contents;
    driver::CompileReport report;
    Diagnostics diagnostics;
    if (!driver::compileProgram(program, {}, contents, report, diagnostics))
      return refuse(diagnostics);
    text = driver::explainJson(report.edges);
  }
  nlohmann::json report = nlohmann::json::parse(text);
  if (line.json())
    printJson(report);
  else
    printEdges(report);
  return Ok;
}

} // namespace pellucid::cli
