// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "driver/ListKernels.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace pellucid::cli {

int runKernels(Words words) {
  VerbLine line("kernels",
                "Lists the jit kernels of a file: parameters, what each pointer is, ok or refused.",
                "pellucid kernels examples/silu_kernels.py");
  std::string path, root;
  line.app().add_option("FILE", path, "the Python file")->required();
  line.app()
      .add_option("--path", root, "a folder that absolute imports are looked up in")
      ->option_text("DIR");
  if (!line.parse(words))
    return line.exitCode();
  if (::access(path.c_str(), R_OK) != 0)
    return refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  std::vector<driver::KernelReport> reports = driver::listKernels(
      path, root.empty() ? std::vector<std::string>() : std::vector<std::string>{root});
  bool refused = false;
  nlohmann::json list = nlohmann::json::array();
  for (const driver::KernelReport &report : reports) {
    refused |= !report.ok;
    nlohmann::json parameters = nlohmann::json::array();
    for (const auto &parameter : report.parameters)
      parameters.push_back(
          {{"name", parameter.name}, {"kind", parameter.kind}, {"access", parameter.access}});
    list.push_back({{"name", report.name},
                    {"line", report.line},
                    {"status", report.ok ? "ok" : "refused"},
                    {"reason", report.reason},
                    {"helper", report.helper},
                    {"parameters", parameters}});
    if (line.json())
      continue;
    std::printf("%-8s %s (line %u)\n", report.ok ? "ok" : "refused", report.name.c_str(),
                report.line);
    if (report.helper)
      std::puts("           returns a value: checked in the kernels that call it");
    for (const auto &parameter : report.parameters)
      std::printf("           %-24s %-10s %s\n", parameter.name.c_str(), parameter.kind.c_str(),
                  parameter.access.c_str());
    if (!report.ok)
      std::printf("%s", report.detail.c_str());
  }
  if (line.json())
    printJson({{"kernels", list}});
  else if (reports.empty())
    std::printf("%s: no @triton.jit kernels are defined in this file\n", path.c_str());
  for (const driver::KernelReport &report : reports)
    if (!report.ok) {
      std::fputs(report.detail.c_str(), stderr);
      break;
    }
  return refused ? Refused : Ok;
}

} // namespace pellucid::cli
