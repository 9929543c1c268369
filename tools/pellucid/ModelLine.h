// SPDX-License-Identifier: Apache-2.0
/// The options by which `export` and `compile` name a model.
#pragma once

#include "CommandLine.h"
#include "driver/LoadModel.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace pellucid::cli {

using driver::splitTarget;

/// What is wrong with an option's value that is a whole number; empty: nothing.
std::string problemOfWholeNumber(const std::string &text);
/// `--host-steps` and `--host-memory`: how far the host code of a file may go.
void addHostLimits(VerbLine &line, std::optional<uint64_t> &steps, std::optional<uint64_t> &bytes);

struct ModelOptions : driver::ModelRequest {
  bool nonStrict = false;

  /// What loadModel() chose; printed by printNotes() when the verb succeeds: an error must be the
  /// first line.
  mutable std::string notes;
  /// Which config of @triton.autotune a launch takes; empty: the first.
  trace::ConfigChooser chooseConfig;
  void printNotes() const { std::fputs(notes.c_str(), stderr); }

  void addTo(VerbLine &line);
  /// Throws a DiagnosticError when `out` cannot be written, or is a file that the model is read
  /// from: better known before the work than after it.
  void checkOutput(const std::string &out) const;
};

/// Traces the Python model, replays the archive, or loads the program file. Prints warnings and the
/// chosen example sizes to standard error. Throws DiagnosticError.
graph::Program loadModel(const ModelOptions &options);

/// The program compiled for `targets` (none: the CPUs), as the bytes of a package. Throws
/// DiagnosticError.
std::vector<uint8_t> compiledBytes(const graph::Program &program, const std::string &name,
                                   std::vector<Target> targets = {});

} // namespace pellucid::cli
