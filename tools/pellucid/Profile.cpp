// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "PackageFile.h"
#include "support/OutputPath.h"

#include <cstdio>
#include <unistd.h>

namespace pellucid::cli {

/// Writes beside `path` and renames.
static int writeText(const std::string &path, const std::string &text) {
  if (std::string reason = whyNotWritable(path); !reason.empty())
    return refuse(path, "cannot be written: " + reason);
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
  VerbLine line("profile", "Runs a package and writes a Chrome trace of its kernels.",
                "pellucid profile model.plc --input x=@x.npy -o trace.json");
  std::string path, out;
  std::vector<std::string> inputs;
  int runs = 3;
  line.app().add_option("PACKAGE", path, "the package")->required();
  line.app().add_option("--input", inputs, "NAME=@FILE.npy")->take_all();
  line.app()
      .add_option("-o", out, "the trace to write (for chrome://tracing or Perfetto)")
      ->required();
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

} // namespace pellucid::cli
