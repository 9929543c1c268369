// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "DeviceMemory.h"
#include "Launch.h"
#include "ModelLine.h"
#include "PackageFile.h"
#include "TextTable.h"
#include "driver/Ceiling.h"
#include "driver/Compile.h"
#include "driver/InputSpec.h"
#include "package/PackageWriter.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <thread>

namespace pellucid::cli {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Timing {
  std::vector<double> seconds;
  double bytes = 0;      ///< moved by one call or launch
  bool onDevice = false; ///< whose ceiling is not measured
  std::string isa;
  double cachedBytesPerSecond = 0;                ///< LaunchTiming's
  nlohmann::json more = nlohmann::json::object(); ///< what else was measured, in seconds

  double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

double bytesOf(const std::vector<Array> &arrays) {
  double bytes = 0;
  for (const Array &array : arrays)
    bytes += static_cast<double>(array.bytes->size());
  return bytes;
}

/// Calls into memory that is there already; on a device until it has done a call's work.
Timing timeCalls(const PackageFile &package, const std::vector<Array> &arrays, int threads,
                 double budget) {
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.threads = threads;
  std::optional<InstanceOf> instance;
  if (package.hasState())
    instance.emplace(package);
  std::vector<Array> out = package.run(arrays, &options, instance ? *instance : nullptr);
  std::vector<DLTensor> in = borrowTensors(arrays), results = borrowTensors(out);
  std::optional<DeviceMemory> device;
  if (package.runsOnCuda()) {
    device.emplace().upload(arrays, in);
    device->upload(out, results);
  }
  Timing timing;
  timing.bytes = bytesOf(arrays) + bytesOf(out);
  timing.onDevice = package.runsOnCuda();
  for (auto start = Clock::now(); since(start) < budget || timing.seconds.size() < 5;) {
    auto begin = Clock::now();
    pellucid_status status =
        instance ? pellucid_instance_run_into(*instance, in.data(), in.size(), results.data(),
                                              results.size(), &options)
                 : pellucid_run_into(package.handle(), in.data(), in.size(), results.data(),
                                     results.size(), &options);
    if (status != PELLUCID_OK)
      throw DiagnosticError(SourceLocation("call"), pellucid_last_error());
    if (device)
      device->synchronize();
    timing.seconds.push_back(since(begin));
  }
  return timing;
}

double timeLoad(const std::string &path) {
  std::vector<double> seconds;
  for (int i = 0; i < 20; ++i) {
    auto start = Clock::now();
    pellucid_package *package = nullptr;
    if (pellucid_load(path.c_str(), &package) != PELLUCID_OK)
      throw DiagnosticError(SourceLocation(path), pellucid_last_error());
    seconds.push_back(since(start));
    (void)pellucid_unload(package);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Small numbers of either sign; integers are zero, so that they are valid indices.
Array randomArray(DataType dtype, std::vector<int64_t> shape) {
  Array array = makeArray(dtype, std::move(shape));
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  char *at = array.bytes->data();
  auto fill = [&](auto convert) {
    for (int64_t i = 0; i < array.numel(); ++i) {
      auto value = convert(uniform(generator));
      std::copy_n(reinterpret_cast<const char *>(&value), sizeof value,
                  at + i * static_cast<int64_t>(sizeof value));
    }
  };
  switch (dtype) {
  case DataType::Float32:
    fill([](float x) { return x; });
    break;
  case DataType::Float64:
    fill([](float x) { return static_cast<double>(x); });
    break;
  case DataType::Float16:
    fill([](float x) { return static_cast<_Float16>(x); });
    break;
  case DataType::BFloat16:
    fill([](float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); });
    break;
  default:
    break;
  }
  return array;
}

/// An array for each input, at the example sizes of its --input.
std::vector<Array> exampleInputs(const PackageFile &package,
                                 const std::vector<std::string> &texts) {
  std::map<std::string, int64_t> sizes;
  std::vector<driver::InputSpec> specs;
  for (const std::string &text : texts) {
    std::string error;
    auto spec = driver::parseInputSpec(text, error);
    if (!spec)
      throw DiagnosticError(SourceLocation("--input " + text), error);
    specs.push_back(std::move(*spec));
  }
  const std::vector<const driver::InputSpec *> tensors = driver::tensorsOf(specs);
  for (const driver::InputSpec *spec : tensors)
    for (const driver::InputDim &dim : spec->dims)
      if (!dim.symbol.empty() && (dim.example || dim.hasRange))
        sizes[dim.symbol] =
            dim.example.value_or(std::clamp<int64_t>(8, dim.range.min, dim.range.max));
  std::vector<Array> arrays;
  for (const nlohmann::json &input : package.description().at("inputs"))
    for (const driver::InputSpec *spec : tensors)
      if (spec->name == input.at("name").get<std::string>()) {
        std::vector<int64_t> shape;
        for (const driver::InputDim &dim : spec->dims)
          shape.push_back(dim.symbol.empty() ? dim.size : sizes.at(dim.symbol) * dim.factor);
        arrays.push_back(randomArray(spec->dtype, shape));
      }
  return arrays;
}

/// The same for a program, whose sizes carry their examples.
std::vector<Array> exampleInputs(const graph::Program &program) {
  std::vector<Array> arrays;
  size_t index = 0;
  for (const graph::Node *node : program.main.placeholders()) {
    if (program.inputs[index++].kind != graph::InputSpec::Kind::UserInput || !node->resultCount())
      continue;
    const graph::TensorType &type = node->result()->type();
    std::vector<int64_t> shape;
    for (const graph::Expr &size : type.shape)
      shape.push_back(program.symbols.hint(size).value_or(std::clamp<int64_t>(
          8, program.symbols.range(size).min, program.symbols.range(size).max)));
    arrays.push_back(randomArray(type.dtype, shape));
  }
  return arrays;
}

Timing benchModel(ModelOptions model, const std::string &target, int threads, double budget) {
  auto start = Clock::now();
  if (!target.empty())
    model.targets = targetsToRun(target);
  graph::Program program = loadModel(model);
  model.printNotes();
  std::vector<Array> inputs = model.isPython() ? std::vector<Array>() : exampleInputs(program);
  std::vector<uint8_t> bytes = compiledBytes(program, model.model, model.targets);
  double made = since(start);
  auto loading = Clock::now();
  PackageFile package(std::move(bytes), model.model, target.empty() ? nullptr : target.c_str());
  double loaded = since(loading);
  if (model.isPython())
    inputs = exampleInputs(package, model.inputs);
  Timing timing = timeCalls(package, inputs, threads, budget);
  timing.more = {{"source_to_package_s", made}, {"load_s", loaded}};
  return timing;
}

Timing benchPackage(const ModelOptions &line, const std::string &target, int threads,
                    double budget) {
  PackageFile package(line.model, target.empty() ? nullptr : target.c_str());
  Timing timing = timeCalls(package, readInputs(package, line.inputs), threads, budget);
  timing.more = {{"load_s", timeLoad(line.model)}};
  return timing;
}

Timing benchKernel(LaunchOptions launch, double budget) {
  LaunchTiming measured = timeLaunch(launch, budget);
  Timing timing;
  timing.seconds = std::move(measured.seconds);
  timing.bytes = measured.bytes;
  timing.isa = measured.isa;
  timing.onDevice = isCudaTarget(launch.cpuTarget);
  timing.cachedBytesPerSecond = measured.cachedBytesPerSecond;
  return timing;
}

std::string problemOfSeconds(const std::string &text) {
  constexpr double most = 3600;
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  bool isTime = end != text.c_str() && *end == 0 && value > 0 && value <= most;
  return isTime ? std::string() : "'" + text + "' is not a duration above 0 and up to 3600 s";
}

/// What this machine's processors reach, beside `speed` in bytes per second.
void addCeilings(nlohmann::json &report, const Timing &timing, double speed, int threads) {
  unsigned workers = threads ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
  driver::Ceiling ceiling = driver::measureCeiling(workers);
  report["copy_ceiling_bytes_per_s"] = ceiling.best();
  report["fma_ceiling_flops_per_s"] = ceiling.fmaFlopsPerSecond;
  report["of_ceiling"] = speed / ceiling.best();
  if (double arithmetic = timing.cachedBytesPerSecond * workers; arithmetic > 0) {
    report["arithmetic_ceiling_bytes_per_s"] = arithmetic;
    report["of_lower_ceiling"] = speed / std::min(arithmetic, ceiling.best());
  }
}

/// What is printed of `report`, a line for each thing measured.
std::string tableOf(const Timing &timing, const nlohmann::json &report) {
  auto gigabytes = [&](const char *key) {
    return decimal(report.at(key).get<double>() * 1e-9, 2) + " GB/s";
  };
  auto share = [&](const char *key) { return decimal(report.at(key).get<double>(), 2); };
  TextTable table("lrl");
  table.add({"calls", std::to_string(timing.seconds.size())});
  table.add({"best", durationText(timing.best())});
  table.add({"median", durationText(timing.median())});
  table.add({"moved by a call", byteText(timing.bytes)});
  table.add({"speed", gigabytes("bytes_per_s"), timing.isa});
  if (report.contains("of_ceiling"))
    table.add({"copy ceiling", gigabytes("copy_ceiling_bytes_per_s"),
               share("of_ceiling") + " of it is reached"});
  if (report.contains("of_lower_ceiling"))
    table.add({"arithmetic ceiling", gigabytes("arithmetic_ceiling_bytes_per_s"),
               share("of_lower_ceiling") + " of the lower ceiling is reached"});
  for (const auto &[key, name] : {std::pair("source_to_package_s", "source to package"),
                                  std::pair("load_s", "loading the package")})
    if (report.contains(key))
      table.add({name, durationText(report.at(key).get<double>())});
  return table.text();
}

} // namespace

int runBench(Words words) {
  VerbLine line("bench", "Times a package, a model or a kernel beside what this machine reaches.",
                "pellucid bench examples/silu_model.py:Model --input "
                "'x=f32[batch=16:1..1024,128]'",
                "MODEL may also be a package; then each --input is NAME=@FILE.npy. A model is "
                "compiled and called on random\nnumbers at the example sizes. With --grid and "
                "--arg it is a kernel, as for 'pellucid launch'.");
  ModelOptions model;
  LaunchOptions launch;
  std::string target;
  int threads = 0;
  double budget = 1.0;
  model.addTo(line);
  line.add("--grid", launch.grid, "FILE.py:NAME is a kernel: how many programs")
      .valueText("X[,Y[,Z]]");
  line.addRepeated("--arg", launch.arguments, "an argument of a kernel").valueText("NAME=VALUE");
  line.add("--target", target, "what to run on: cpu, " + cpuLevelNames("cpu:") + ", cuda")
      .valueText("TARGET");
  line.add("--threads", threads, "most threads that work on a call (0: all)")
      .valueText("N")
      .range(0, 1 << 20);
  line.add("--seconds", budget, "how long to measure").valueText("S").check(problemOfSeconds);
  if (!line.parse(words))
    return line.exitCode();
  launch.target = model.model;
  launch.threads = threads;
  if (!target.empty())
    launch.cpuTarget = target;
  launch.paths = model.paths;
  Timing timing = !launch.grid.empty() ? benchKernel(launch, budget)
                  : model.isPython() || model.isArchive()
                      ? benchModel(model, target, threads, budget)
                      : benchPackage(model, target, threads, budget);
  double speed = timing.bytes / timing.median();
  nlohmann::json report{{"calls", timing.seconds.size()}, {"min_s", timing.best()},
                        {"median_s", timing.median()},    {"bytes", timing.bytes},
                        {"bytes_per_s", speed},           {"threads", threads}};
  if (!timing.onDevice)
    addCeilings(report, timing, speed, threads);
  if (!timing.isa.empty())
    report["isa"] = timing.isa;
  report.update(timing.more);
  if (line.json()) {
    printJson(report);
    return Ok;
  }
  std::fputs(tableOf(timing, report).c_str(), stdout);
  return Ok;
}

} // namespace pellucid::cli
