// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/Compile.h"

#include <string>
#include <vector>

namespace pellucid::cli {

/// How far a fused kernel is from the operators and the kernel that it stands for.
struct VerifiedKernel {
  std::string kernel,
      value;        ///< the kernel's name, and the value of the unfused program that it computes
  double error = 0; ///< the largest |fused - unfused| / max(1, |unfused|); for other types than
                    ///< floats the share of elements that differ
  double allowed = 0;
  bool passed() const { return error <= allowed; }
};

/// Runs the program with and without fusion on random inputs of several sizes and compares what
/// every fused kernel computes. Throws DiagnosticError when either cannot be compiled or run.
std::vector<VerifiedKernel> verifyFusion(const graph::Program &program,
                                         const driver::CompileOptions &options);

} // namespace pellucid::cli
