// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "driver/Worker.h"
#include "support/Target.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <pellucid/runtime.h>
#include <unistd.h>

namespace pellucid::cli {

/// The first `name` in a folder of PATH, or empty.
static std::string onPath(const std::string &name) {
  const char *path = std::getenv("PATH");
  std::string list = path ? path : "";
  for (size_t begin = 0; begin < list.size();) {
    size_t end = std::min(list.find(':', begin), list.size());
    std::string candidate = list.substr(begin, end - begin) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0)
      return candidate;
    begin = end + 1;
  }
  return {};
}

static void printCuda(const nlohmann::json &cuda) {
  if (!cuda.at("available").get<bool>()) {
    std::printf("CUDA              %s\n", cuda.at("reason").get<std::string>().c_str());
    return;
  }
  for (const nlohmann::json &device : cuda.at("devices"))
    std::printf("CUDA              %s, sm_%d, %.0f GiB, driver %s\n",
                device.at("name").get<std::string>().c_str(), device.at("sm").get<int>(),
                device.at("memory_bytes").get<double>() / (1 << 30),
                cuda.at("driver_version").get<std::string>().c_str());
}

int runDoctor(Words words) {
  VerbLine line("doctor", "Says what this machine offers.", "pellucid doctor");
  if (!line.parse(words))
    return line.exitCode();
  nlohmann::json report = nlohmann::json::parse(pellucid_describe_system());
  report["version"] = PELLUCID_VERSION;
  report["worker"] = driver::findWorker();
  report["ptxas"] = onPath("ptxas");
  auto level = hostCpuLevel();
  report["isa"] = level ? std::string(toString(*level)) : "below x86-64-v3";
  if (line.json()) {
    printJson(report);
    return Ok;
  }
  std::printf("pellucid          %s\n", PELLUCID_VERSION);
  std::printf("CPU               %s, %s, %d thread(s)\n",
              report["cpu"]["model"].get<std::string>().c_str(),
              report["isa"].get<std::string>().c_str(), report["cpu"]["threads"].get<int>());
  std::string worker = report["worker"], ptxas = report["ptxas"];
  std::printf("code generation   %s\n",
              worker.empty() ? "pellucid-worker was not found" : worker.c_str());
  std::printf("ptxas             %s\n",
              ptxas.empty() ? "not on PATH (PTX is written without it)" : ptxas.c_str());
  printCuda(report["cuda"]);
  if (!level)
    std::printf("problem: CPU kernels need x86-64-v3 (AVX2, FMA, BMI2)\n");
  if (worker.empty())
    std::printf("problem: compile and launch need pellucid-worker beside this program\n");
  return Ok;
}

} // namespace pellucid::cli
