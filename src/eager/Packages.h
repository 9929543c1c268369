// SPDX-License-Identifier: Apache-2.0
/// Packages in memory: a program is compiled, loaded and run without a file.
#pragma once

#include "driver/Compile.h"
#include "trace/EagerRecorder.h"

#include <pellucid/runtime.h>

#include <functional>
#include <memory>
#include <string_view>

namespace pellucid::eager {

/// A loaded package and the bytes it lies in.
class Compiled {
public:
  /// For calls on `device`; the options' targets are its.
  Compiled(const graph::Program &program, const driver::CompileOptions &options,
           graph::Device device = {});
  /// What was compiled of `program`, loaded.
  Compiled(const graph::Program &program, const package::Contents &contents, graph::Device device);
  ~Compiled();
  Compiled(const Compiled &) = delete;
  Compiled &operator=(const Compiled &) = delete;

  /// One dense row-major tensor per output, on the device, where the inputs lie. Throws
  /// DiagnosticError with the run time's words.
  std::vector<trace::ConcreteTensor> run(const std::vector<trace::ConcreteTensor> &inputs) const;
  /// What run() gives, in memory that is given and holds each output: queues the launches on the
  /// device. May be called by another thread.
  void runInto(const std::vector<trace::ConcreteTensor> &inputs,
               const std::vector<trace::ConcreteTensor> &outputs) const;
  pellucid_package *handle() const { return package; }
  const std::vector<uint8_t> &bytes() const { return content; }
  const graph::Program &program() const { return source; }
  graph::Device device() const { return place; }

private:
  void load(const package::Contents &contents);

  graph::Program source;
  std::string userKernels; ///< 'name', 'name'; empty without
  graph::Device place;
  std::vector<uint8_t> content;
  pellucid_package *package = nullptr;
};

/// While it lives, runs of packages on this thread are recorded in `profile`.
class ProfileScope {
public:
  explicit ProfileScope(pellucid_profile *profile);
  ~ProfileScope();
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

private:
  pellucid_profile *before;
};

/// While it lives, kernels that run on this thread's behalf print through `print`.
class PrintScope {
public:
  explicit PrintScope(const std::function<void(std::string_view)> &print);
  ~PrintScope();
  PrintScope(const PrintScope &) = delete;
  PrintScope &operator=(const PrintScope &) = delete;

private:
  const std::function<void(std::string_view)> *before;
};

/// Of all packages in scripts from here on: pellucid_run_options' guard.
void guardScripts(int32_t guard);

/// The run options of a package in a script: the profile that is recorded, if one is, where kernels
/// print, and the device's memory.
pellucid_run_options scriptRunOptions(graph::Device device = {});

/// Whether nothing on this thread wants to know when a package is run.
bool mayRunLater();

/// Called once, before the next package is run on a device: what was asked for until then is
/// queued, and what it asks for comes first.
void beforeNextRun(std::function<void()> action);

/// What segments of a script are compiled with, for calls on `device`.
driver::CompileOptions eagerOptions(bool contractsFma, graph::Device device = {});

DLTensor borrowed(const trace::ConcreteTensor &tensor);
trace::ConcreteTensor adopted(DLManagedTensorVersioned *managed);

} // namespace pellucid::eager
