// SPDX-License-Identifier: Apache-2.0
#include "Tune.h"

#include "CommandLine.h"

#include "DeviceMemory.h"
#include "PackageFile.h"
#include "RandomInputs.h"
#include "driver/Compile.h"
#include "package/MappedFile.h"
#include "package/PackageWriter.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pellucid::cli {

using nlohmann::json;

namespace {

constexpr int formatVersion = 1;
/// Of a config: what one launch may take, and how long launches are repeated.
constexpr int mostMilliseconds = 30000;
constexpr double enoughSeconds = 0.05;

/// FNV-1a: tells the versions of a kernel's text apart.
std::string fingerprint(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3ull;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

/// The one of `targets` that launches are timed for: a device's, else this CPU's best.
Target timedTarget(const std::string &file, const std::vector<Target> &targets) {
  for (const Target &target : targets)
    if (target.kind == Target::Kind::Cuda)
      return target;
  auto host = hostCpuLevel();
  if (host && hasTileProducts(*host) && !allowTiles())
    host = CpuLevel::X86_64_v4_bf16;
  const Target *best = nullptr;
  for (const Target &target : targets)
    if (host && target.cpu <= *host && (!best || target.cpu > best->cpu))
      best = &target;
  if (!best)
    fail("--tune " + file,
         "none of the targets runs on this machine, so that nothing can be timed");
  return *best;
}

/// Seconds of one launch: the fastest of several rounds, each long enough to be timed.
double secondsOf(const std::function<void(int launches)> &round) {
  auto timed = [&](int launches) {
    auto start = std::chrono::steady_clock::now();
    round(launches);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  round(1);
  double once = timed(1), best = once, total = once;
  int launches = std::clamp(static_cast<int>(1e-3 / std::max(once, 1e-7)), 1, 1000);
  for (int rounds = 0; rounds < 3 || total < enoughSeconds; ++rounds) {
    double seconds = timed(launches);
    best = std::min(best, seconds / launches);
    total += seconds;
  }
  return best;
}

/// Runs in a process of its own.
json timePackage(const std::vector<uint8_t> &bytes, const graph::Program &program,
                 const Target &target) {
  std::mt19937 random(20240607);
  std::vector<Array> arrays = randomInputs(program, {}, random);
  std::vector<DLTensor> tensors = borrowTensors(arrays);
  std::optional<DeviceMemory> device;
  if (target.kind == Target::Kind::Cuda) {
    try {
      device.emplace();
    } catch (const DiagnosticError &error) {
      return {{"refused", error.diagnostic.message}, {"machine", false}};
    }
    device->upload(arrays, tensors);
  }
  pellucid_package *package = nullptr;
  if (pellucid_load_memory(bytes.data(), bytes.size(), nullptr, &package) != PELLUCID_OK)
    fail("--tune", pellucid_last_error());
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.print = [](void *, const char *) {};
  double seconds = secondsOf([&](int launches) {
    for (int i = 0; i < launches; ++i)
      if (pellucid_run(package, tensors.data(), tensors.size(), nullptr, 0, &options) !=
          PELLUCID_OK)
        fail("--tune", pellucid_last_error());
    if (device)
      device->synchronize();
  });
  return {{"seconds", seconds}};
}

/// What `work` gives, run in a child process; {"refused": why} where it fails, dies or never ends.
json inChild(const std::function<json()> &work) {
  int ends[2];
  if (::pipe(ends))
    return {{"refused", std::string("no pipe: ") + std::strerror(errno)}};
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return {{"refused", std::string("no process: ") + std::strerror(errno)}};
  }
  if (child == 0) {
    ::close(ends[0]);
    // A fault is told by the process that waits.
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      std::signal(fault, SIG_DFL);
    json answer;
    try {
      answer = work();
    } catch (const DiagnosticError &error) {
      answer = {{"refused", error.diagnostic.message}};
    } catch (const std::exception &error) {
      answer = {{"refused", error.what()}};
    }
    std::string text = answer.dump();
    for (size_t at = 0; at < text.size();) {
      ssize_t count = ::write(ends[1], text.data() + at, text.size() - at);
      if (count <= 0)
        break;
      at += static_cast<size_t>(count);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  pollfd waiting{ends[0], POLLIN, 0};
  bool ended = false;
  char buffer[4096];
  while (::poll(&waiting, 1, mostMilliseconds) > 0 && !ended) {
    ssize_t count = ::read(ends[0], buffer, sizeof buffer);
    ended = count <= 0;
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
  }
  ::close(ends[0]);
  if (!ended)
    ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!ended)
    return {
        {"refused", "a launch takes more than " + std::to_string(mostMilliseconds / 1000) + " s"}};
  if (WIFSIGNALED(status))
    return {{"refused", std::string("the launch ended with ") + ::strsignal(WTERMSIG(status)) +
                            "; it may reach beyond its tensors where indices are 0 and 1"}};
  json answer = json::parse(text, nullptr, false);
  return answer.is_object() ? answer : json{{"refused", "the launch gave no time"}};
}

json readChoices(const std::string &file) {
  if (::access(file.c_str(), F_OK))
    return json::array();
  package::Status status;
  auto mapped = package::MappedFile::open(file, status);
  if (!mapped)
    fail(file, "cannot be read: " + status.message());
  auto bytes = mapped->bytes();
  json read = json::parse(bytes.begin(), bytes.end(), nullptr, false);
  auto isText = [](const json &entry, const char *name) {
    return entry.contains(name) && entry[name].is_string();
  };
  bool isOurs = read.is_object() && read.contains("format") && read.contains("choices") &&
                read["choices"].is_array();
  if (!isOurs)
    fail(file, "holds something else than the choices of --tune; name another file");
  if (read["format"] != formatVersion)
    fail(file, "has the format " + read["format"].dump() + " of another version, this one reads " +
                   std::to_string(formatVersion) + "; name another file");
  for (const json &entry : read["choices"])
    for (const char *name : {"kernel", "source", "key", "target", "config"})
      if (!entry.is_object() || !isText(entry, name))
        fail(file, std::string("has a choice without '") + name + "'; name another file");
  return read["choices"];
}

std::string timeText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1e-3 ? "%.1f us" : "%.3f ms",
                seconds * (seconds < 1e-3 ? 1e6 : 1e3));
  return text;
}

} // namespace

ConfigTimer::ConfigTimer(std::string path, const std::vector<Target> &targets)
    : file(std::move(path)), target(timedTarget(file, targets)), choices(readChoices(file)) {
  if (OutputFile out(file); !out.error().empty())
    fail(file, "cannot be written: " + out.error());
}

size_t ConfigTimer::choose(const trace::TuneQuestion &question) {
  json entry{{"kernel", question.kernel},
             {"source", fingerprint(question.source)},
             {"key", question.key},
             {"target", toString(target)}};
  auto known = std::find_if(choices.begin(), choices.end(), [&](const json &choice) {
    return std::all_of(entry.items().begin(), entry.items().end(),
                       [&](const auto &item) { return choice[item.key()] == item.value(); });
  });
  if (known != choices.end()) {
    auto at = std::find(question.configs.begin(), question.configs.end(),
                        (*known)["config"].get<std::string>());
    if (at != question.configs.end())
      return static_cast<size_t>(at - question.configs.begin());
    choices.erase(known);
  }
  size_t chosen = fastest(question, entry);
  if (entry.contains("config")) {
    choices.push_back(std::move(entry));
    changed = true;
  }
  return chosen;
}

json ConfigTimer::timed(const trace::TuneQuestion &question, size_t config) const {
  try {
    graph::Program program = question.launchWith(config);
    driver::CompileOptions options;
    options.targets = {target};
    options.fuseIntoKernels = options.keepIr = false;
    options.name = question.kernel;
    package::Contents contents;
    driver::CompileReport report;
    Diagnostics diagnostics;
    if (!driver::compileProgram(program, options, contents, report, diagnostics))
      for (const Diagnostic &diagnostic : diagnostics.all())
        if (diagnostic.severity == Severity::Error)
          return {{"refused", diagnostic.message}};
    std::vector<uint8_t> bytes;
    if (package::Status status = package::packageBytes(contents, bytes); !status.ok())
      return {{"refused", status.message()}};
    return inChild([&] { return timePackage(bytes, program, target); });
  } catch (const DiagnosticError &error) {
    return {{"refused", error.diagnostic.message}};
  }
}

size_t ConfigTimer::fastest(const trace::TuneQuestion &question, json &entry) {
  std::fprintf(stderr, "tune: %s (%s), %zu configs on %s\n", question.kernel.c_str(),
               question.key.c_str(), question.configs.size(), toString(target).c_str());
  std::optional<size_t> best;
  double least = 0;
  std::string firstRefusal;
  json all = json::array();
  for (size_t i = 0; i < question.configs.size(); ++i) {
    json answer = timed(question, i);
    bool ran = answer.contains("seconds");
    std::string said = ran ? timeText(answer["seconds"]) : answer["refused"].get<std::string>();
    std::fprintf(stderr, "tune:   %-48s %s\n", question.configs[i].c_str(), said.c_str());
    if (ran && (!best || answer["seconds"] < least)) {
      best = i;
      least = answer["seconds"];
    }
    if (!ran && firstRefusal.empty())
      firstRefusal = said;
    if (answer.contains("machine"))
      break; // as it will with all others
    answer["config"] = question.configs[i];
    all.push_back(std::move(answer));
  }
  if (!best) {
    Diagnostic warning(Severity::Warning, question.where,
                       "no config of '" + question.kernel +
                           "' could be timed, the first is taken: " + firstRefusal);
    std::fputs(render(warning).c_str(), stderr);
    return 0;
  }
  entry["config"] = question.configs[*best];
  entry["timed"] = std::move(all);
  return *best;
}

void ConfigTimer::save() {
  if (!changed)
    return;
  std::string text = json{{"format", formatVersion}, {"choices", choices}}.dump(2) + "\n";
  OutputFile out(file);
  if (!out.append(text.data(), text.size()) || !out.commit())
    fail(file, "cannot be written: " + out.error());
  changed = false;
}

} // namespace pellucid::cli
