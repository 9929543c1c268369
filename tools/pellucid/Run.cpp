// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "PackageFile.h"

#include <chrono>
#include <cstdio>

namespace pellucid::cli {

static std::string shapeText(const Array &array) {
  std::string text = std::string(info(array.dtype).cli) + "[";
  for (size_t d = 0; d < array.shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(array.shape[d]);
  return text + "]";
}

int runRun(Words words) {
  VerbLine line("run", "Runs a package on .npy files.",
                "pellucid run model.plc --input x=@examples/x.npy --output y.npy",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  std::string path, target;
  std::vector<std::string> inputs, outputs;
  int threads = 0;
  line.app().add_option("PACKAGE", path, "the package")->required();
  addRepeated(line.app(), "--input", inputs, "an input; @x.npy:bf16 takes 16-bit integers as bf16")
      ->option_text("NAME=@FILE.npy");
  addRepeated(line.app(), "--output", outputs, "writes a result; once per result, in order")
      ->option_text("FILE.npy");
  line.app()
      .add_option("--threads", threads, "most threads that work on the call (0: all)")
      ->option_text("N")
      ->check(CLI::Range(0, 1 << 20));
  line.app()
      .add_option("--target", target, "run this target's code: cpu, cpu:x86-64-v3, cuda")
      ->option_text("TARGET");
  if (!line.parse(words))
    return line.exitCode();

  PackageFile package(path, target.empty() ? nullptr : target.c_str());
  std::vector<Array> arrays = readInputs(package, inputs);
  size_t results = package.description().at("outputs").size();
  if (outputs.size() > results)
    return refuse(outputs[results], "the package has " + std::to_string(results) +
                                        " result(s), and this is output number " +
                                        std::to_string(results + 1));
  for (size_t i = 0; i < outputs.size(); ++i) {
    refuseSameFile(outputs[i], outputs[i], path);
    for (size_t j = 0; j < i; ++j)
      refuseSameFile(outputs[i], outputs[i], outputs[j]);
  }
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.threads = threads;
  auto start = std::chrono::steady_clock::now();
  std::vector<Array> out = package.run(arrays, &options);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<ArrayToWrite> written;
  for (size_t i = 0; i < outputs.size(); ++i)
    written.push_back({&out[i], outputs[i]});
  writeArrays(written);

  nlohmann::json report{{"seconds", seconds}, {"outputs", nlohmann::json::array()}};
  for (size_t i = 0; i < out.size(); ++i) {
    nlohmann::json entry{{"dtype", info(out[i].dtype).cli}, {"shape", out[i].shape}};
    if (i < outputs.size())
      entry["file"] = outputs[i];
    report["outputs"].push_back(entry);
    if (!line.json())
      std::printf("%-24s %s\n", i < outputs.size() ? outputs[i].c_str() : "(not written)",
                  shapeText(out[i]).c_str());
  }
  if (line.json())
    printJson(report);
  return Ok;
}

} // namespace pellucid::cli
