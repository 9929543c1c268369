// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "PackageFile.h"
#include "TextTable.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace pellucid::cli {

namespace {

using nlohmann::json;

/// All events of one name.
struct Total {
  std::string name, category;
  size_t count = 0;
  double seconds = 0, best = 0, bytes = 0, flops = 0; ///< bytes and flops of one event

  void add(const json &event) {
    double taken = event.at("dur").get<double>() * 1e-6;
    best = count == 0 ? taken : std::min(best, taken);
    seconds += taken;
    ++count;
    bytes = event.at("args").value("bytes", 0.0);
    flops = event.at("args").value("flops", 0.0);
  }
};

/// The steps of the calls, most expensive first; the calls themselves come last.
std::vector<Total> totalsOf(const json &trace) {
  std::map<std::pair<std::string, std::string>, Total> byName;
  for (const json &event : trace.at("traceEvents"))
    if (event.at("ph") == "X") {
      std::string name = event.at("name"), category = event.at("cat");
      Total &total = byName[{category, name}];
      total.name = name;
      total.category = category;
      total.add(event);
    }
  std::vector<Total> totals;
  for (auto &[key, total] : byName)
    totals.push_back(std::move(total));
  std::stable_sort(totals.begin(), totals.end(), [](const Total &a, const Total &b) {
    bool aIsCall = a.category == "call", bIsCall = b.category == "call";
    return aIsCall != bIsCall ? bIsCall : a.seconds > b.seconds;
  });
  return totals;
}

json profileJson(const std::vector<Total> &totals) {
  json list = json::array();
  for (const Total &total : totals) {
    json entry{{"name", total.name},
               {"category", total.category},
               {"count", total.count},
               {"total_s", total.seconds},
               {"best_s", total.best}};
    if (total.bytes > 0)
      entry["bytes"] = total.bytes;
    if (total.flops > 0)
      entry["flops"] = total.flops;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string rateText(double perEvent, double seconds) {
  return perEvent > 0 && seconds > 0 ? decimal(perEvent / seconds * 1e-9, 2) : "";
}

std::string tableOf(const std::vector<Total> &totals) {
  double all = 0;
  for (const Total &total : totals)
    if (total.category == "call")
      all += total.seconds;
  TextTable table("lrrrrrr");
  table.add({"step", "count", "best us", "mean us", "share", "GB/s", "GFLOP/s"});
  for (const Total &total : totals) {
    double mean = total.seconds / static_cast<double>(total.count);
    table.add({total.category == "call" ? "whole call" : total.name, std::to_string(total.count),
               decimal(total.best * 1e6, 2), decimal(mean * 1e6, 2),
               all > 0 ? decimal(100 * total.seconds / all, 1) + " %" : "",
               rateText(total.bytes, total.best), rateText(total.flops, total.best)});
  }
  return table.text(2);
}

} // namespace

int runProfile(Words words) {
  VerbLine line("profile", "Runs a package and writes a Chrome trace of its kernels.",
                "pellucid profile model.plc --input x=@examples/x.npy -o trace.json",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  std::string path, out;
  std::vector<std::string> inputs;
  int runs = 3;
  line.add("PACKAGE", path, "the package").required();
  line.addRepeated("--input", inputs, "an input; @x.npy:bf16 takes 16-bit integers as bf16")
      .valueText("NAME=@FILE.npy");
  line.add("-o,--output", out, "the trace to write, for chrome://tracing or Perfetto (required)")
      .valueText("FILE")
      .required();
  line.add("--runs", runs, "how many calls are recorded (3)").valueText("N").range(1, 1 << 20);
  if (!line.parse(words))
    return line.exitCode();
  refuseSameFile(out, out, path);
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
  OutputFile file(out);
  if (!file.append(trace.data(), trace.size()) || !file.commit())
    return refuse(out, "cannot be written: " + file.error());
  std::vector<Total> totals = totalsOf(json::parse(trace));
  if (line.json()) {
    printJson({{"trace", out}, {"runs", runs}, {"steps", profileJson(totals)}});
    return Ok;
  }
  std::printf("%s: %d call(s); open it in chrome://tracing or https://ui.perfetto.dev\n%s",
              out.c_str(), runs, tableOf(totals).c_str());
  return Ok;
}

} // namespace pellucid::cli
