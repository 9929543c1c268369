// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "graph/NodeTable.h"
#include "graph/ProgramFile.h"
#include "graph/ProgramText.h"
#include "package/BytecodeText.h"
#include "package/PackageFile.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

namespace {

std::string firstBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::string start(64, 0);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(stream.gcount()));
  return start;
}

int inspectProgram(const std::string &path, const VerbLine &line, bool text) {
  graph::Program program = graph::loadProgram(path);
  if (text) {
    std::fputs(graph::printProgram(program).c_str(), stdout);
    return Ok;
  }
  std::vector<graph::NodeRow> rows = graph::nodeRows(program, program.main);
  if (!line.json()) {
    std::fputs(graph::printNodeTable(rows).c_str(), stdout);
    return Ok;
  }
  nlohmann::json nodes = nlohmann::json::array();
  for (const graph::NodeRow &row : rows)
    nodes.push_back({{"opcode", row.opcode},
                     {"name", row.name},
                     {"target", row.target},
                     {"args", row.args},
                     {"kwargs", row.kwargs}});
  nlohmann::json kernels = nlohmann::json::array();
  for (const graph::KernelDef &kernel : program.kernels)
    kernels.push_back({{"name", kernel.name}, {"symbol", kernel.symbol}});
  printJson({{"nodes", nodes}, {"kernels", kernels}});
  return Ok;
}

/// A package's records and manifest, without loading its code.
class PackageRecords {
public:
  explicit PackageRecords(const std::string &path) {
    if (package::Status status = package::PackageFile::open(path, file); !status.ok())
      throw DiagnosticError(SourceLocation(path), status.message());
  }
  std::optional<std::string> find(const std::string &name) const {
    auto data = file->record(name);
    if (!data)
      return std::nullopt;
    return std::string(reinterpret_cast<const char *>(data->data()), data->size());
  }
  std::string names(const std::string &prefix) const {
    std::string list;
    for (const auto &entry : file->entries())
      if (std::string_view(entry.name).starts_with(prefix))
        list += (list.empty() ? "" : ", ") + std::string(entry.name);
    return list.empty() ? "none" : list;
  }
  nlohmann::json summary() const {
    const package::Manifest &m = file->manifest();
    auto text = [&](const package::Bytecode &code) {
      return code.empty() ? std::string("0") : package::bytecodeText(code, m.symbols);
    };
    nlohmann::json launches = nlohmann::json::array(), buffers = nlohmann::json::array(),
                   kernels = nlohmann::json::array();
    if (!m.programs.empty()) {
      const package::Program &program = m.programs.front();
      for (const package::Step &step : program.steps)
        if (auto *launch = std::get_if<package::Launch>(&step)) {
          const package::LaunchVariant &first = launch->variants.front();
          nlohmann::json grid = nlohmann::json::array();
          for (const package::Bytecode &size : first.grid)
            grid.push_back(size.empty() ? std::string("1") : text(size));
          launches.push_back({{"label", launch->label},
                              {"kernel", m.kernels[first.kernel].name},
                              {"grid", grid},
                              {"variants", launch->variants.size()}});
        }
      for (const package::Buffer &buffer : program.buffers)
        buffers.push_back(
            {{"name", buffer.name}, {"bytes", text(buffer.bytes)}, {"slot", buffer.slot}});
    }
    for (const package::Kernel &kernel : m.kernels) {
      nlohmann::json targets = nlohmann::json::array();
      for (const package::Executable &executable : kernel.executables)
        targets.push_back(toString(executable.target));
      kernels.push_back({{"name", kernel.name},
                         {"source", kernel.sourceFile},
                         {"line", kernel.sourceLine},
                         {"numerics", kernel.numerics},
                         {"targets", targets}});
    }
    nlohmann::json records = nlohmann::json::array();
    for (const auto &entry : file->entries())
      records.push_back({{"name", entry.name}, {"bytes", entry.bytes}});
    return {{"name", m.name},     {"producer", m.producer}, {"launches", launches},
            {"buffers", buffers}, {"kernels", kernels},     {"records", records}};
  }

private:
  std::unique_ptr<package::PackageFile> file;
};

} // namespace

int runInspect(Words words) {
  VerbLine line("inspect", "Shows what is inside a package or a program.",
                "pellucid inspect model.plc",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  std::string path, stage;
  line.app().add_option("FILE", path, "a package or a saved program")->required();
  line.app()
      .add_option("--ir", stage, "print one text: program, lowered, or a kernel's symbol")
      ->option_text("TEXT");
  if (!line.parse(words))
    return line.exitCode();
  if (graph::isProgramFile(firstBytes(path)))
    return inspectProgram(path, line, stage == "program");
  PackageRecords records(path);
  if (!stage.empty()) {
    auto text = records.find("ir/" + stage + ".txt");
    if (!text)
      text = records.find("ir/kernels/" + stage + ".ttir");
    if (!text)
      return refuse("--ir " + stage,
                    "the package has no such text; it has " + records.names("ir/"));
    std::fwrite(text->data(), 1, text->size(), stdout);
    return Ok;
  }
  nlohmann::json report = records.summary();
  if (line.json()) {
    printJson(report);
    return Ok;
  }
  std::printf("%s\n", report["name"].get<std::string>().c_str());
  for (const auto &launch : report["launches"])
    std::printf("  launch  %-32s %s\n", launch["label"].get<std::string>().c_str(),
                launch["kernel"].get<std::string>().c_str());
  for (const auto &buffer : report["buffers"])
    std::printf("  buffer  %-32s slot %d, %s bytes\n", buffer["name"].get<std::string>().c_str(),
                buffer["slot"].get<int>(), buffer["bytes"].get<std::string>().c_str());
  return Ok;
}

} // namespace pellucid::cli
