// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::driver {

struct ListedStatus {
  bool ok = true;
  std::string reason; ///< one line; empty when ok
  std::string detail; ///< the whole diagnostic
};

struct KernelReport : ListedStatus {
  struct Parameter {
    std::string name;
    std::string kind;   ///< pointer, scalar, constexpr, none
    std::string access; ///< pointers: read, write, read and write, unused, unknown
    std::string guess;  ///< what it was compiled for: an element type, the value of a constexpr
  };
  struct Launch {
    SourceLocation where;
    std::string function; ///< that launches; empty at module level
    bool wrapped;         ///< by wrap_triton
  };
  std::string name;
  uint32_t line = 0;
  /// Where no guess at the arguments compiles and other ones may: the first error of the best
  /// guess. Such a kernel is ok, and unchecked.
  std::string stoppedAt;
  std::vector<std::string> needs; ///< with stoppedAt: the parameters that a launch must give
  bool helper = false; ///< returns a value or takes tiles: checked in the kernels that call it
  std::vector<std::string> decorators; ///< outermost first; empty where the definition failed
  /// A decorator that could not be evaluated, and why: a launch must give what it would choose.
  struct Unread {
    std::string decorator, reason;
  };
  std::vector<Unread> unread;
  std::vector<Parameter> parameters;
  std::vector<Launch> launches;
};

struct OperatorReport : ListedStatus {
  std::string name, form, schema; ///< form: triton_op, custom_op
  uint32_t line = 0;
  std::vector<std::string> mutates, kernels, warnings;
};

struct FileReport {
  std::vector<KernelReport> kernels;
  std::vector<OperatorReport> operators;
  std::vector<Diagnostic> warnings; ///< why Python could not import the file, though it was read
};

/// Of the file's host code; what is not given is the evaluator's own (host::InterpreterOptions).
struct HostLimits {
  std::optional<uint64_t> steps, bytes;
};

/// Every jit kernel and operator that the file itself defines. Kernels are compiled for a guessed
/// specialisation (GuessSpecialisation.h) and refused where no arguments could make them compile;
/// where only the guess may be wrong, what a launch must say is listed. Operators are refused when
/// they write what mutates_args does not name. Throws DiagnosticError when the file itself cannot
/// be read.
FileReport listKernels(const std::string &path, const std::vector<std::string> &roots,
                       const HostLimits &limits = {});

} // namespace pellucid::driver
