// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "PackageFile.h"
#include "driver/Ceiling.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <unistd.h>

namespace pellucid::cli {

/// Writes beside `path` and renames.
static int writeText(const std::string &path, const std::string &text) {
  std::string aside = path + ".part" + std::to_string(::getpid());
  FILE *stream = std::fopen(aside.c_str(), "wb");
  bool ok = stream && std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  ok = stream && std::fclose(stream) == 0 && ok;
  if (ok && std::rename(aside.c_str(), path.c_str()) == 0)
    return Ok;
  std::remove(aside.c_str());
  return refuse(path, "cannot be written");
}

int runProfile(Words words) {
  VerbLine line("profile", "Runs a package and writes a Chrome trace of its kernels.", "pellucid profile model.plc --input x=@x.npy -o trace.json");
  std::string path, out;
  std::vector<std::string> inputs;
  int runs = 3;
  line.app().add_option("PACKAGE", path, "the package")->required();
  line.app().add_option("--input", inputs, "NAME=@FILE.npy")->take_all();
  line.app().add_option("-o", out, "the trace to write (for chrome://tracing or Perfetto)")->required();
  line.app().add_option("--runs", runs, "how many calls are recorded")->check(CLI::PositiveNumber);
  if (!line.parse(words))
    return line.exitCode();
  PackageFile package(path);
  std::vector<Array> arrays = readInputs(package, inputs);
  pellucid_profile *profile = nullptr;
  if (pellucid_profile_create(&profile) != PELLUCID_OK)
    return refuse(path, pellucid_last_error());
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.profile = profile;
  for (int i = 0; i < runs; ++i)
    package.run(arrays, &options);
  std::string trace = pellucid_profile_json(profile);
  pellucid_profile_destroy(profile);
  if (int code = writeText(out, trace))
    return code;
  if (line.json())
    printJson({{"trace", out}, {"runs", runs}});
  else
    std::printf("%s: %d call(s)\n", out.c_str(), runs);
  return Ok;
}

int runBench(Words words) {
  VerbLine line("bench", "Times a package beside what this machine reaches.", "pellucid bench model.plc --input x=@x.npy");
  std::string path;
  std::vector<std::string> inputs;
  int threads = 0;
  double budget = 1.0;
  line.app().add_option("PACKAGE", path, "the package")->required();
  line.app().add_option("--input", inputs, "NAME=@FILE.npy")->take_all();
  line.app().add_option("--threads", threads, "most threads that work on a call (0: all)")->check(CLI::NonNegativeNumber);
  line.app().add_option("--seconds", budget, "how long to measure")->check(CLI::PositiveNumber);
  if (!line.parse(words))
    return line.exitCode();
  PackageFile package(path);
  std::vector<Array> arrays = readInputs(package, inputs);
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.threads = threads;
  std::vector<Array> out = package.run(arrays, &options);
  std::vector<std::vector<int64_t>> keep;
  std::vector<DLTensor> in = package.tensors(arrays, keep), results = package.tensors(out, keep);
  std::vector<double> times;
  auto now = [] { return std::chrono::steady_clock::now(); };
  for (auto start = now(); std::chrono::duration<double>(now() - start).count() < budget || times.size() < 5;) {
    auto begin = now();
    if (pellucid_run_into(package.handle(), in.data(), in.size(), results.data(), results.size(), &options) != PELLUCID_OK)
      return refuse(path, pellucid_last_error());
    times.push_back(std::chrono::duration<double>(now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  double bytes = 0;
  for (const Array &array : arrays)
    bytes += static_cast<double>(array.bytes->size());
  for (const Array &array : out)
    bytes += static_cast<double>(array.bytes->size());
  driver::Ceiling ceiling = driver::measureCeiling(threads ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency());
  double median = times[times.size() / 2], speed = bytes / median;
  nlohmann::json report{{"calls", times.size()}, {"min_s", times.front()}, {"median_s", median}, {"border_bytes", bytes}, {"bytes_per_s", speed},
                        {"copy_ceiling_bytes_per_s", ceiling.best()}, {"of_ceiling", speed / ceiling.best()}};
  if (line.json())
    printJson(report);
  else
    std::printf("%zu calls: min %.2f us, median %.2f us; inputs and outputs move at %.2f GB/s = %.2f of the copy ceiling %.1f GB/s\n", times.size(), times.front() * 1e6,
                median * 1e6, speed / 1e9, speed / ceiling.best(), ceiling.best() / 1e9);
  return Ok;
}

} // namespace pellucid::cli
