// SPDX-License-Identifier: Apache-2.0
/// The options by which `export` and `compile` name a model.
#pragma once

#include "CommandLine.h"
#include "graph/Program.h"

#include <cstdio>
#include <string>
#include <vector>

namespace pellucid::cli {

struct ModelOptions {
  std::string model; ///< FILE.py:NAME, or a program file
  std::vector<std::string> inputs;
  std::string init, dtype, weights, path;
  uint64_t seed = 0;
  bool strict = false, nonStrict = false;

  /// What loadModel() chose; printed by printNotes() when the verb succeeds: an error must be the
  /// first line.
  mutable std::string notes;
  void printNotes() const { std::fputs(notes.c_str(), stderr); }

  void addTo(CLI::App &app);
  bool isPython() const;
  /// Throws a DiagnosticError when `out` cannot be written, or is a file that the model is read
  /// from: better known before the work than after it.
  void checkOutput(const std::string &out) const;
};

/// Traces the Python model, or loads the program file. Prints warnings and the chosen example sizes
/// to standard error. Throws DiagnosticError.
graph::Program loadModel(const ModelOptions &options);

/// `FILE.py:NAME` in two; throws DiagnosticError when it is not of that form or the file cannot be
/// read.
std::pair<std::string, std::string> splitTarget(const std::string &text, const char *what);

} // namespace pellucid::cli
