// SPDX-License-Identifier: Apache-2.0
#include "ModelLine.h"
#include "driver/ListKernels.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace pellucid::cli {

namespace {

using nlohmann::json;

const char *statusOf(const driver::ListedStatus &report) { return report.ok ? "ok" : "refused"; }
const char *formOf(const driver::KernelReport::Launch &launch) {
  return launch.wrapped ? "wrap_triton" : "raw";
}

json describe(const driver::KernelReport &report) {
  json parameters = json::array(), launches = json::array(), unread = json::array();
  for (const auto &one : report.unread)
    unread.push_back({{"decorator", one.decorator}, {"reason", one.reason}});
  for (const auto &parameter : report.parameters)
    parameters.push_back({{"name", parameter.name},
                          {"kind", parameter.kind},
                          {"access", parameter.access},
                          {"guess", parameter.guess}});
  for (const auto &launch : report.launches)
    launches.push_back({{"file", launch.where.file->path()},
                        {"line", launch.where.range.line},
                        {"function", launch.function},
                        {"form", formOf(launch)}});
  return {
      {"name", report.name},     {"line", report.line},           {"status", statusOf(report)},
      {"reason", report.reason}, {"helper", report.helper},       {"decorators", report.decorators},
      {"unread", unread},        {"parameters", parameters},      {"launches", launches},
      {"needs", report.needs},   {"stopped_at", report.stoppedAt}};
}

json describe(const driver::OperatorReport &report) {
  return {{"name", report.name},
          {"form", report.form},
          {"line", report.line},
          {"status", statusOf(report)},
          {"reason", report.reason},
          {"schema", report.schema},
          {"mutates_args", report.mutates},
          {"kernels", report.kernels},
          {"warnings", report.warnings}};
}

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

void print(const driver::KernelReport &report) {
  std::printf("%-8s %s (line %u)", statusOf(report), report.name.c_str(), report.line);
  if (report.decorators.size() > 1)
    std::printf(", %s", joined(report.decorators).c_str());
  std::puts("");
  if (!report.ok)
    std::printf("           %s\n", report.reason.c_str());
  if (report.helper)
    std::puts("           called by kernels, and checked in those");
  if (!report.stoppedAt.empty())
    std::printf(
        "           not checked: no arguments were guessed that compile (%s); a launch must "
        "say %s\n",
        report.stoppedAt.c_str(), joined(report.needs).c_str());
  for (const auto &one : report.unread)
    std::printf("           @%s could not be evaluated (%s); a launch must give every argument\n",
                one.decorator.c_str(), one.reason.c_str());
  for (const auto &parameter : report.parameters)
    std::printf("           %-24s %-10s %s\n", parameter.name.c_str(), parameter.kind.c_str(),
                parameter.access.c_str());
  for (const auto &launch : report.launches) {
    std::printf("           launched in line %u", launch.where.range.line);
    if (!launch.function.empty())
      std::printf(" by %s", launch.function.c_str());
    std::puts(launch.wrapped ? " through wrap_triton" : "");
  }
}

void print(const driver::OperatorReport &report) {
  std::printf("%-8s %s %s (line %u)\n", statusOf(report), report.form.c_str(), report.name.c_str(),
              report.line);
  if (!report.ok)
    std::printf("           %s\n", report.reason.c_str());
  for (const std::string &warning : report.warnings)
    std::printf("           warning: %s\n", warning.c_str());
  if (!report.schema.empty())
    std::printf("           %s\n", report.schema.c_str());
  std::printf("           mutates_args: %s; kernels: %s\n",
              report.mutates.empty() ? "none" : joined(report.mutates).c_str(),
              report.kernels.empty() ? "none" : joined(report.kernels).c_str());
}

driver::FileReport read(const std::string &path, const std::vector<std::string> &roots,
                        const driver::HostLimits &limits) {
  if (::access(path.c_str(), R_OK) != 0)
    throw DiagnosticError(SourceLocation(path),
                          std::string("cannot be read: ") + std::strerror(errno));
  return driver::listKernels(path, roots, limits);
}

} // namespace

int runKernels(Words words) {
  VerbLine line("kernels",
                "Lists the jit kernels and operators of a file: parameters, what each pointer is, "
                "where it is launched, ok or refused.",
                "pellucid kernels examples/silu_kernels.py");
  std::string path;
  std::vector<std::string> roots;
  line.add("FILE", path, "the Python file").required();
  line.addRepeated("--path", roots, "a folder that absolute imports are looked up in")
      .valueText("DIR");
  driver::HostLimits limits;
  addHostLimits(line, limits.steps, limits.bytes);
  if (!line.parse(words))
    return line.exitCode();
  json kernels = json::array(), operators = json::array(), warnings = json::array();
  auto printReport = [&] {
    printJson({{"kernels", kernels}, {"operators", operators}, {"warnings", warnings}});
  };
  driver::FileReport report;
  try {
    report = read(path, roots, limits);
  } catch (const DiagnosticError &) {
    if (line.json())
      printReport();
    throw;
  }
  bool refused = false;
  auto list = [&](const auto &entries, json &array) {
    for (const auto &entry : entries) {
      refused |= !entry.ok;
      array.push_back(describe(entry));
      if (!line.json())
        print(entry);
      std::fputs(entry.detail.c_str(), stderr);
    }
  };
  for (const Diagnostic &warning : report.warnings) {
    warnings.push_back(warning.message);
    std::fputs(render(warning).c_str(), stderr);
  }
  list(report.kernels, kernels);
  list(report.operators, operators);
  if (line.json())
    printReport();
  else if (report.kernels.empty() && report.operators.empty())
    std::printf("%s: no @triton.jit kernels and no operators are defined in this file\n",
                path.c_str());
  return refused ? Refused : Ok;
}

} // namespace pellucid::cli
