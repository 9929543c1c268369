// SPDX-License-Identifier: Apache-2.0
// The main job as one table: the example model held three ways, exported strict and not, compiled
// in this C++ process and run as a package by a plain C program, against float64.
//
//   pellucid-demo --program bin/pellucid --client bin/c_client --model examples/silu_model.py
//   --work build/demo
#include "CompileInProcess.h"
#include "Reference.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace demo {
namespace {

constexpr int64_t batches[] = {1, 7, 16, 1024}, tooMany = 1025;

using Settings = std::map<std::string, std::string>;

/// Runs a program and returns its exit code; what it prints goes to `log`.
int runProgram(const std::vector<std::string> &words, const std::string &log) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Bf16 readBf16(const std::string &path) {
  std::string text = readText(path);
  Bf16 values(text.size() / sizeof(uint16_t));
  std::memcpy(values.data(), text.data(), values.size() * sizeof(uint16_t));
  return values;
}

std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

/// `pellucid export`, then `pellucid compile` of the stored program.
std::string buildPackage(const Settings &s, const std::string &way, bool strict) {
  std::string stem = s.at("work") + "/" + way + (strict ? "-strict" : "-non-strict");
  auto step = [&](std::vector<std::string> words) {
    if (runProgram(words, stem + ".log") != 0)
      throw std::runtime_error("pellucid " + words[1] + ": " + firstLine(readText(stem + ".log")));
  };
  step({s.at("program"), "export", s.at("model") + ":Model", strict ? "--strict" : "--non-strict",
        "--init", "way='" + way + "'", "--dtype", "bf16", "--input", "x=bf16[batch:1..1024,128]",
        "--weights", s.at("work") + "/weights.safetensors", "-o", stem + ".program"});
  step({s.at("program"), "compile", stem + ".program", "-o", stem + ".plc"});
  return stem + ".plc";
}

Bf16 runClient(const Settings &s, const std::string &package, const Bf16 &input, int64_t batch) {
  std::string in = package + ".in.raw", out = package + ".out.raw", log = package + ".log";
  std::filesystem::remove(out);
  std::ofstream(in, std::ios::binary)
      .write(reinterpret_cast<const char *>(input.data()),
             static_cast<std::streamsize>(input.size() * sizeof(uint16_t)));
  if (runProgram({s.at("client"), package, std::to_string(batch), std::to_string(features), "bf16",
                  in, out},
                 log) != 0)
    throw std::runtime_error(firstLine(readText(log)));
  return readBf16(out);
}

/// One row of the table. True when it is ok.
bool printRow(const Settings &s, const Weights &weights, const std::string &way, bool strict,
              bool package) {
  std::printf("%-10s  %-10s  %-22s", way.c_str(), strict ? "strict" : "non-strict",
              package ? "package, plain C" : "compiled in C++");
  std::fflush(stdout);
  std::function<Bf16(const Bf16 &, int64_t)> run;
  pellucid::judge::Comparison all;
  try {
    if (package) {
      run = [&s, file = buildPackage(s, way, strict)](const Bf16 &input, int64_t batch) {
        return runClient(s, file, input, batch);
      };
    } else {
      std::string kernels = std::filesystem::path(s.at("model")).parent_path() / "silu_kernels.py";
      auto model = std::make_shared<CompiledModel>(kernels, way, strict, s.at("work"));
      run = [model](const Bf16 &input, int64_t batch) { return model->run(input, batch); };
    }
    for (int64_t batch : batches) {
      Bf16 input =
          randomBf16(static_cast<size_t>(batch * features), 4, static_cast<uint64_t>(batch));
      auto comparison = compare(weights, input, batch, run(input, batch));
      std::printf("  %8.2e", comparison.largest());
      all.add(comparison);
    }
  } catch (const std::exception &error) {
    std::printf("  FAILED: %s\n", error.what());
    return false;
  }
  std::string refusal;
  try {
    run(randomBf16(tooMany * features, 4, 5), tooMany);
  } catch (const std::exception &error) {
    refusal = error.what();
  }
  bool named =
      refusal.find("1025") != std::string::npos && refusal.find("1024") != std::string::npos;
  bool ok = all.ok() && named;
  std::printf("  %-7s  %3.0f %%  %s\n", named ? "refused" : "TAKEN", all.ofBound() * 100,
              ok ? "ok" : "WRONG");
  return ok;
}

int run(Settings s) {
  for (const char *name : {"program", "client", "model", "work"})
    if (!s.count(name)) {
      std::fprintf(stderr,
                   "usage: pellucid-demo --program P --client C --model FILE.py --work FOLDER\n");
      return 1;
    }
  std::filesystem::create_directories(s.at("work"));
  Weights weights = Weights::random(2026);
  weights.save(s.at("work") + "/weights.safetensors");
  std::printf(
      "\nlinear 128 -> 64, a Triton SiLU kernel, linear 64 -> 128, all bf16; batch in 1..1024\n\n");
  std::printf("%-10s  %-10s  %-22s  %-38s  %-7s  %-5s\n", "", "", "",
              "largest error against float64", "", "of");
  std::printf("%-10s  %-10s  %-22s  %8s  %8s  %8s  %8s  %-7s  %-5s  %s\n", "kernel", "export",
              "run", "batch 1", "7", "16", "1024", "1025", "bound", "row");
  int wrong = 0;
  for (const char *way : {"raw", "triton_op", "custom_op"})
    for (bool strict : {true, false})
      for (bool package : {false, true})
        wrong += !printRow(s, weights, way, strict, package);
  std::printf("\nbound: for each element, what three roundings to bf16 and float32 sums can add up "
              "to\n%s\n",
              wrong ? (std::to_string(wrong) + " of 12 rows are not ok").c_str()
                    : "12 of 12 rows ok");
  return wrong != 0;
}

} // namespace
} // namespace demo

int main(int argc, char **argv) {
  demo::Settings settings;
  for (int i = 1; i + 1 < argc; i += 2)
    settings[std::strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : argv[i]] = argv[i + 1];
  try {
    return demo::run(settings);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "pellucid-demo: %s\n", error.what());
    return 1;
  }
}
