// SPDX-License-Identifier: Apache-2.0
/// A loaded package as the verbs use it: its description as JSON, calls on arrays.
#pragma once

#include "ArrayFile.h"

#include <nlohmann/json.hpp>
#include <pellucid/runtime.h>
#include <string>
#include <vector>

namespace pellucid::cli {

class PackageFile {
public:
  /// Throws DiagnosticError naming the file.
  /// `verify`: hold every record, weights too, against its checksum.
  explicit PackageFile(const std::string &path, const char *target = nullptr, bool verify = false);
  /// From bytes; `name` stands for the file in messages.
  PackageFile(std::vector<uint8_t> bytes, const std::string &name, const char *target = nullptr);
  ~PackageFile();
  PackageFile(const PackageFile &) = delete;
  PackageFile &operator=(const PackageFile &) = delete;

  const nlohmann::json &description() const { return described; }
  pellucid_package *handle() const { return package; }
  /// The position of the input called `name`; throws DiagnosticError with the names there are.
  size_t inputNamed(const std::string &name, const std::string &asTyped) const;
  const std::string &path() const { return file; }
  /// The package has code for no CPU, or `--target` asked for a CUDA device.
  bool runsOnCuda() const { return onCuda; }
  /// One call; inputs in the package's order, copied to the device and back where it runs on one.
  /// A package with state runs in an instance of it: the given one, or a new one. Throws
  /// DiagnosticError with the run time's message.
  std::vector<Array> run(const std::vector<Array> &inputs,
                         const pellucid_run_options *options = nullptr,
                         pellucid_instance *instance = nullptr) const;
  bool hasState() const { return pellucid_state_count(package) > 0; }

private:
  void describe(const char *target);

  std::string file;
  std::vector<uint8_t> inMemory;
  pellucid_package *package = nullptr;
  nlohmann::json described;
  bool onCuda = false;
};

/// An instance of a package where its calls run, for as long as this object lives.
class InstanceOf {
public:
  /// Throws DiagnosticError.
  explicit InstanceOf(const PackageFile &package);
  ~InstanceOf() { pellucid_instance_destroy(instance); }
  InstanceOf(const InstanceOf &) = delete;
  InstanceOf &operator=(const InstanceOf &) = delete;
  operator pellucid_instance *() const { return instance; }

  // Throw DiagnosticError with the run time's message, which names the file.
  void load(const std::string &path);
  void save(const std::string &path);

private:
  pellucid_instance *instance = nullptr;
};

/// Reads every `--input NAME=@FILE` into the package's order; throws DiagnosticError for one that
/// is missing, unknown or given twice.
/// Inputs that the package changes and that none of them names come from the folder `state`.
std::vector<Array> readInputs(const PackageFile &package, std::vector<std::string> arguments,
                              const std::string &state = "");
/// Where a folder holds the state of that name.
std::string stateFile(const std::string &folder, const std::string &name);

/// Views of the arrays, which keep their memory, shapes and strides.
std::vector<DLTensor> borrowTensors(const std::vector<Array> &arrays);

} // namespace pellucid::cli
