// SPDX-License-Identifier: Apache-2.0
#include "DeviceMemory.h"
#include "FaultGuard.h"
#include "ModelLine.h"
#include "PackageFile.h"
#include "TextTable.h"
#include "support/OutputFile.h"
#include "support/Printable.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace pellucid::cli {

static std::string shapeText(const Array &array) {
  std::string text = std::string(info(array.dtype).cli) + "[";
  for (size_t d = 0; d < array.shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(array.shape[d]);
  return text + "]";
}

namespace {

/// Ends the process when a call stays under way although its limit has passed: one program of a
/// kernel, or a kernel on a GPU, cannot be interrupted in any other way.
class CallLimit {
public:
  CallLimit(const std::string &path, double seconds) {
    if (seconds <= 0)
      return;
    message = printable(path) + ": error: the call did not end within its limit of " +
              decimal(seconds, 3) +
              " s, nor when it was asked to: one program of a kernel takes "
              "longer\n";
    watcher = std::thread([this, seconds] {
      std::unique_lock lock(mutex);
      auto grace = std::chrono::duration<double>(seconds + std::max(1.0, seconds));
      if (ended.wait_for(lock, grace, [this] { return isOver; }))
        return;
      [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
      ::_exit(Refused);
    });
  }
  ~CallLimit() {
    if (!watcher.joinable())
      return;
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    ended.notify_one();
    watcher.join();
  }
  CallLimit(const CallLimit &) = delete;

private:
  std::string message;
  std::mutex mutex;
  std::condition_variable ended;
  bool isOver = false;
  std::thread watcher;
};

/// The instance that a call runs in, and its file; without a path the state ends with the call.
class StateOfRun {
public:
  StateOfRun(const PackageFile &package, std::string path)
      : held(package), file(std::move(path)), tensors(pellucid_state_count(package.handle())) {
    if (file.empty())
      return;
    if (std::filesystem::is_directory(file))
      throw DiagnosticError(SourceLocation("--state " + file),
                            "is a folder; the state of an instance is one .safetensors file");
    refuseSameFile("--state " + file, file, package.path());
    std::error_code ignored;
    loaded = std::filesystem::exists(file, ignored);
    if (loaded)
      held.load(file);
    if (OutputFile probe(file); !probe.error().empty())
      throw DiagnosticError(SourceLocation("--state " + file),
                            "cannot be written: " + probe.error());
  }
  void save() {
    if (!file.empty())
      held.save(file);
  }

  pellucid_instance *instance() const { return held; }
  const std::string &path() const { return file; }
  bool isLoaded() const { return loaded; }
  size_t count() const { return tensors; }
  std::string text() const {
    return std::to_string(tensors) + (tensors == 1 ? " tensor" : " tensors") + " of state, " +
           (loaded ? "continued" : "from the package's beginning");
  }

private:
  InstanceOf held;
  std::string file;
  size_t tensors;
  bool loaded = false;
};

bool writesInputs(const PackageFile &package) {
  const nlohmann::json &inputs = package.description().at("inputs");
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const nlohmann::json &input) { return input.value("mutated", false); });
}

/// The folder for the inputs that calls write to, of which there must be one.
void checkChangedFolder(const PackageFile &package, const std::string &folder) {
  if (folder.empty())
    return;
  if (!writesInputs(package))
    throw DiagnosticError(SourceLocation("--changed " + folder),
                          "the package's calls change none of their inputs");
  if (!std::filesystem::is_directory(folder))
    throw DiagnosticError(SourceLocation("--changed " + folder),
                          "is not a folder; each input that the call changes becomes NAME.npy "
                          "there");
}

/// For a package without state, whose written inputs may lie in a folder.
void checkStateFolder(const PackageFile &package, const std::string &state) {
  if (state.empty())
    return;
  if (!writesInputs(package))
    throw DiagnosticError(SourceLocation("--state " + state),
                          "the package has no state: its calls change nothing");
  if (!std::filesystem::is_directory(state))
    throw DiagnosticError(SourceLocation("--state " + state),
                          "is not a folder; the package has no state of its own but inputs that "
                          "a call writes to, NAME.npy each");
}

std::vector<uint8_t> compiledArchive(driver::ModelRequest model, const std::string &target) {
  if (!target.empty())
    model.targets = targetsToRun(target);
  driver::ModelMessages messages;
  messages.warn = [](const Diagnostic &d) { std::fputs(render(d).c_str(), stderr); };
  return compiledBytes(driver::loadModel(model, messages), model.model, model.targets);
}

} // namespace

int runRun(Words words) {
  VerbLine line("run", "Runs a package on .npy files.",
                "pellucid run model.plc --input x=@examples/x.npy --output y.npy",
                "model.plc is what the example of 'pellucid compile --help' writes.");
  std::string path, target, state, changed, guard;
  std::vector<std::string> inputs, outputs;
  int threads = 0;
  double timeout = 0;
  bool verify = false;
  std::optional<uint64_t> seed, offset;
  driver::ModelRequest model;
  line.add("PACKAGE", path, "the package; or an archive of torch.export.save, compiled for this")
      .required();
  line.addRepeated("--kernels", model.kernels,
                   "a file that defines triton_ops and custom_ops which an archive calls")
      .valueText("FILE.py");
  line.addRepeated("--input", inputs, "an input; @x.npy:bf16 takes 16-bit integers as bf16")
      .valueText("NAME=@FILE.npy");
  line.addRepeated("--output", outputs, "writes a result; once per result, in order")
      .valueText("FILE.npy");
  line.add("--state", state,
           "the package's state: read where the file is there, else begun anew, and written after "
           "the call; of a package made with --state-as-inputs a folder with NAME.npy of each")
      .valueText("FILE.safetensors");
  line.add("--changed", changed, "writes each input that the call changes as NAME.npy there")
      .valueText("DIR");
  line.add("--threads", threads, "most threads that work on the call (0: all)")
      .valueText("N")
      .range(0, 1 << 20);
  line.add("--timeout", timeout, "end the call after that long (0: never)")
      .valueText("SECONDS")
      .range(0.0, 1e9);
  line.add("--seed", seed, "what random numbers start from; the same seed, the same numbers")
      .valueText("N")
      .check(problemOfWholeNumber);
  line.add("--offset", offset, "which of the seed's runs this is (0)")
      .valueText("N")
      .check(problemOfWholeNumber);
  addGuard(line, guard);
  line.addFlag("--verify", verify,
               "check the checksum of every record, weights too, before the call");
  line.add("--target", target, "run this target's code: cpu, cpu:x86-64-v3, cuda")
      .valueText("TARGET");
  if (!line.parse(words))
    return line.exitCode();

  model.model = path;
  bool isArchive = model.isArchive();
  if (isArchive && verify)
    return refuse("--verify", "is for packages; '" + path + "' is an archive");
  if (!isArchive && !model.kernels.empty())
    return refuse("--kernels " + model.kernels.front(), "is for archives of torch.export.save");
  const char *wanted = target.empty() ? nullptr : target.c_str();
  auto opened = isArchive
                    ? std::make_unique<PackageFile>(compiledArchive(model, target), path, wanted)
                    : std::make_unique<PackageFile>(path, wanted, verify);
  const PackageFile &package = *opened;
  if ((seed || offset) && !package.description().contains("draws_random_numbers"))
    return refuse(seed ? "--seed" : "--offset",
                  "'" + path +
                      "' draws no random numbers; where a model's parameters come from a "
                      "seed, 'pellucid compile --seed' gives it");
  if (offset && !seed)
    return refuse("--offset", "is for runs with --seed");
  std::optional<StateOfRun> held;
  if (package.hasState())
    held.emplace(package, std::exchange(state, ""));
  else
    checkStateFolder(package, state);
  checkChangedFolder(package, changed);
  std::vector<Array> arrays = readInputs(package, inputs, state);
  size_t results = package.description().at("outputs").size();
  if (outputs.size() > results)
    return refuse(outputs[results], "the package has " + std::to_string(results) +
                                        " result(s), and this is output number " +
                                        std::to_string(results + 1));
  for (size_t i = 0; i < outputs.size(); ++i) {
    refuseSameFile(outputs[i], outputs[i], path);
    if (held && !held->path().empty())
      refuseSameFile(outputs[i], outputs[i], held->path());
    for (const Array &array : arrays)
      refuseSameFile(outputs[i], outputs[i], array.path);
    for (size_t j = 0; j < i; ++j)
      refuseSameFile(outputs[i], outputs[i], outputs[j]);
  }
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.threads = threads;
  options.timeout_ms = static_cast<int64_t>(std::ceil(timeout * 1000));
  options.seeded = seed.has_value();
  options.seed = seed.value_or(0);
  options.offset = offset.value_or(0);
  options.guard = guardNamed(guard);
  if (options.guard)
    guardAgainstFaults(path, "'pellucid launch --sanitize' names the line of a kernel's access");
  CallLimit limit(path, timeout);
  auto start = std::chrono::steady_clock::now();
  std::vector<Array> out = package.run(arrays, &options, held ? held->instance() : nullptr);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<ArrayToWrite> written;
  for (size_t i = 0; i < outputs.size(); ++i)
    written.push_back({&out[i], outputs[i]});
  for (const std::string &folder : {state, changed})
    for (size_t i = 0; !folder.empty() && i < arrays.size(); ++i)
      if (const nlohmann::json &input = package.description().at("inputs")[i];
          input.value("mutated", false))
        written.push_back({&arrays[i], stateFile(folder, input.at("name"))});
  writeArrays(written);
  if (held)
    held->save();

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
  if (held) {
    report["state"] = {{"from", held->isLoaded() ? "file" : "package"}, {"tensors", held->count()}};
    if (!held->path().empty())
      report["state"]["file"] = held->path();
    if (!line.json())
      std::printf("%-24s %s\n", held->path().empty() ? "(state not kept)" : held->path().c_str(),
                  held->text().c_str());
  }
  if (line.json())
    printJson(report);
  return Ok;
}

} // namespace pellucid::cli
