// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "PackageFile.h"
#include "support/OutputFile.h"

#include <cstdio>

namespace pellucid::cli {

int runProfile(Words words) {
  VerbLine line("profile", "Runs a package and writes a Chrome trace of its kernels.",
                "pellucid profile model.plc --input x=@examples/x.npy -o trace.json",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  std::string path, out;
  std::vector<std::string> inputs;
  int runs = 3;
  line.app().add_option("PACKAGE", path, "the package")->required();
  addRepeated(line.app(), "--input", inputs, "an input; @x.npy:bf16 takes 16-bit integers as bf16")
      ->option_text("NAME=@FILE.npy");
  line.app()
      .add_option("-o", out, "the trace to write, for chrome://tracing or Perfetto (required)")
      ->option_text("FILE")
      ->required();
  line.app()
      .add_option("--runs", runs, "how many calls are recorded (3)")
      ->option_text("N")
      ->check(CLI::Range(1, 1 << 20));
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
  if (line.json())
    printJson({{"trace", out}, {"runs", runs}});
  else
    std::printf("%s: %d call(s)\n", out.c_str(), runs);
  return Ok;
}

} // namespace pellucid::cli
