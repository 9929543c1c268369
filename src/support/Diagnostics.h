// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/SourceFile.h"

#include <exception>
#include <string>
#include <vector>

namespace pellucid {

enum class Severity { Error, Warning, Note };

/// One message at one place, with notes for the further places. Lower case, no final period; it
/// names the thing, the rule and both values.
struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation location;
  std::string message;
  std::vector<Diagnostic> notes;

  Diagnostic() = default;
  Diagnostic(Severity s, SourceLocation l, std::string m)
      : severity(s), location(std::move(l)), message(std::move(m)) {}
  Diagnostic &note(SourceLocation where, std::string text) {
    notes.emplace_back(Severity::Note, std::move(where), std::move(text));
    return *this;
  }
};

/// `file.py:12:9: error: message`, then the source line and a caret line where the file is known,
/// then the notes.
std::string render(const Diagnostic &diagnostic);

/// The user's mistake (or an unsupported construct), thrown inside the compiler and turned into an
/// exit code or a status at its edge. Never thrown across the C ABI, through LLVM or MLIR frames,
/// or by the run time.
class DiagnosticError : public std::exception {
public:
  explicit DiagnosticError(Diagnostic d) : diagnostic(std::move(d)), text(render(diagnostic)) {}
  DiagnosticError(SourceLocation where, std::string message)
      : DiagnosticError(Diagnostic(Severity::Error, std::move(where), std::move(message))) {}
  const char *what() const noexcept override { return text.c_str(); }

  Diagnostic diagnostic;

private:
  std::string text;
};

/// Collects what a stage has to say. Not thread-safe: one per compilation.
class Diagnostics {
public:
  Diagnostic &error(SourceLocation where, std::string message);
  Diagnostic &warning(SourceLocation where, std::string message);
  void add(Diagnostic d) { list.push_back(std::move(d)); }

  bool hasErrors() const;
  const std::vector<Diagnostic> &all() const { return list; }
  /// Every diagnostic in order, rendered.
  std::string text() const;

private:
  std::vector<Diagnostic> list;
};

} // namespace pellucid
