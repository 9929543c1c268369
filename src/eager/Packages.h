// SPDX-License-Identifier: Apache-2.0
/// Packages in memory: a program is compiled, loaded and run without a file.
#pragma once

#include "driver/Compile.h"
#include "trace/EagerRecorder.h"

#include <pellucid/runtime.h>

#include <memory>

namespace pellucid::eager {

/// A loaded package and the bytes it lies in.
class Compiled {
public:
  Compiled(const graph::Program &program, const driver::CompileOptions &options);
  ~Compiled();
  Compiled(const Compiled &) = delete;
  Compiled &operator=(const Compiled &) = delete;

  /// One dense row-major tensor per output. Throws DiagnosticError with the run time's words.
  std::vector<trace::ConcreteTensor> run(const std::vector<trace::ConcreteTensor> &inputs) const;
  pellucid_package *handle() const { return package; }
  const std::vector<uint8_t> &bytes() const { return content; }
  const graph::Program &program() const { return source; }

private:
  graph::Program source;
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

/// The run options of a package in a script: the profile that is recorded, if one is.
pellucid_run_options scriptRunOptions();

/// What segments of a script are compiled with.
driver::CompileOptions eagerOptions(bool contractsFma);

DLTensor borrowed(const trace::ConcreteTensor &tensor);
trace::ConcreteTensor adopted(DLManagedTensorVersioned *managed);

} // namespace pellucid::eager
