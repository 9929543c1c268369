// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "InspectIr.h"
#include "NodeJson.h"
#include "PackageText.h"
#include "driver/Compile.h"
#include "driver/LoadModel.h"
#include "graph/NodeTable.h"
#include "graph/ProgramFile.h"
#include "graph/ProgramText.h"
#include "package/BytecodeText.h"
#include "package/PackageFile.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

namespace {

int inspectProgram(const graph::Program &program, const VerbLine &line) {
  std::vector<graph::NodeRow> rows = graph::nodeRows(program, program.main);
  if (!line.json()) {
    std::fputs(graph::printNodeTable(rows).c_str(), stdout);
    return Ok;
  }
  nlohmann::json kernels = nlohmann::json::array();
  for (const graph::KernelDef &kernel : program.kernels)
    kernels.push_back({{"name", kernel.name}, {"symbol", kernel.symbol}});
  printJson({{"nodes", toJson(rows)}, {"kernels", kernels}});
  return Ok;
}

int printText(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Ok;
}

/// Compiles the program, for `target` if one is named, to see it after each stage.
std::string programIr(const graph::Program &program, const std::string &stage,
                      const std::string &target) {
  driver::CompileOptions options;
  std::string error;
  if (!parseTargets(target.empty() ? "cpu:x86-64-v3" : target, options.targets, error))
    throw DiagnosticError(SourceLocation("--target " + target), error);
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, options, contents, report, diagnostics))
    throw DiagnosticError(diagnostics.all().front());
  auto record = [&](const std::string &name) -> std::optional<std::string> {
    for (const package::Record &entry : contents.records)
      if (entry.name == name)
        return std::string(entry.data.begin(), entry.data.end());
    return std::nullopt;
  };
  return irText({contents.manifest, record}, stage, target);
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
  const package::Manifest &manifest() const { return file->manifest(); }
  /// Throws for the first record whose checksum does not match.
  void verify(const std::string &path) const {
    if (package::Status status = file->verify(); !status.ok())
      throw DiagnosticError(SourceLocation(path), status.message());
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
        targets.push_back(toString(executable.target) +
                          (executable.format == package::CodeFormat::GenerationPtx ? "a" : ""));
      kernels.push_back({{"name", kernel.name},
                         {"source", kernel.sourceFile},
                         {"line", kernel.sourceLine},
                         {"numerics", kernel.numerics},
                         {"targets", targets}});
    }
    nlohmann::json records = nlohmann::json::array();
    for (const auto &entry : file->entries())
      records.push_back({{"name", entry.name}, {"bytes", entry.bytes}});
    return {{"name", m.name},       {"producer", m.producer}, {"inputs", inputs()},
            {"outputs", outputs()}, {"state", state()},       {"symbols", symbols()},
            {"launches", launches}, {"buffers", buffers},     {"kernels", kernels},
            {"records", records}};
  }

private:
  /// A number where the dim is one, else its expression.
  nlohmann::json dims(const std::vector<package::Bytecode> &shape) const {
    nlohmann::json out = nlohmann::json::array();
    for (const package::Bytecode &dim : shape) {
      std::string text = dim.empty() ? "0" : package::bytecodeText(dim, manifest().symbols);
      bool isNumber = text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
      if (isNumber)
        out.push_back(std::stoll(text));
      else
        out.push_back(text);
    }
    return out;
  }
  nlohmann::json inputs() const {
    nlohmann::json out = nlohmann::json::array();
    for (const package::Input &input : manifest().inputs)
      out.push_back({{"name", input.name},
                     {"dtype", info(input.dtype).cli},
                     {"shape", dims(input.shape)},
                     {"mutated", input.mutated}});
    return out;
  }
  nlohmann::json outputs() const {
    nlohmann::json out = nlohmann::json::array();
    for (const package::Output &output : manifest().outputs) {
      nlohmann::json entry = {
          {"name", output.name}, {"dtype", info(output.dtype).cli}, {"shape", dims(output.shape)}};
      if (output.aliasOfInput >= 0)
        entry["alias_of"] = manifest().inputs[size_t(output.aliasOfInput)].name;
      out.push_back(std::move(entry));
    }
    return out;
  }
  nlohmann::json state() const {
    nlohmann::json out = nlohmann::json::array();
    for (const package::Weight &state : manifest().state)
      out.push_back({{"name", state.name},
                     {"dtype", info(state.dtype).cli},
                     {"shape", state.shape},
                     {"bytes", state.bytes}});
    return out;
  }
  nlohmann::json symbols() const {
    nlohmann::json out = nlohmann::json::array();
    for (const package::Symbol &symbol : manifest().symbols) {
      if (symbol.isOfRun())
        continue;
      nlohmann::json entry = {
          {"name", symbol.name}, {"min", symbol.min}, {"divisor", symbol.divisor}};
      entry["max"] = symbol.max == INT64_MAX ? nlohmann::json() : nlohmann::json(symbol.max);
      out.push_back(std::move(entry));
    }
    return out;
  }

  std::unique_ptr<package::PackageFile> file;
};

} // namespace

int runInspect(Words words) {
  VerbLine line("inspect", "Shows what is inside a package or a program.",
                "pellucid inspect model.plc",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  std::string path, stage, target;
  std::vector<std::string> kernels;
  line.add("FILE", path, "a package, a saved program, or an archive of torch.export.save")
      .required();
  line.addRepeated("--kernels", kernels,
                   "a file that defines triton_ops and custom_ops which an archive calls")
      .valueText("FILE.py");
  Option ir = line.add("--ir", stage, "print one text: " + irStages());
  line.add("--target", target, "with --ir: whose code, such as cpu:x86-64-v4").needs(ir);
  bool verify = false;
  line.addFlag("--verify", verify, "check the checksum of every record of a package, weights too");
  if (!line.parse(words))
    return line.exitCode();
  driver::ModelRequest request;
  request.model = path;
  request.kernels = kernels;
  bool isArchive = request.isArchive();
  if (!kernels.empty() && !isArchive)
    return refuse("--kernels " + kernels.front(), "is for archives of torch.export.save");
  if (isArchive || graph::isProgramFile(firstBytes(path))) {
    if (verify)
      return refuse("--verify", "a program has no checksums; its weights are checked when a "
                                "package is made of it");
    graph::Program program = driver::loadModel(request, {});
    if (!ir.given())
      return inspectProgram(program, line);
    return printText(stage == "program" ? graph::printProgram(program)
                                        : programIr(program, stage, target));
  }
  PackageRecords records(path);
  if (verify)
    records.verify(path);
  if (ir.given())
    return printText(
        irText({records.manifest(), [&](const std::string &name) { return records.find(name); }},
               stage, target));
  if (line.json()) {
    printJson(records.summary());
    return Ok;
  }
  return printText(packageText(records.manifest(), path, std::filesystem::file_size(path)));
}

} // namespace pellucid::cli
