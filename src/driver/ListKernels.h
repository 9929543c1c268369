// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pellucid::driver {

struct KernelReport {
  struct Parameter {
    std::string name;
    std::string kind;   ///< pointer, scalar, constexpr
    std::string access; ///< pointers: read, write, read and write, unknown
  };
  std::string name;
  uint32_t line = 0;
  bool ok = true;
  bool helper = false; ///< returns a value: a function for kernels, checked where one calls it
  std::string reason;  ///< one line; empty when ok
  std::string detail;  ///< the whole diagnostic
  std::vector<Parameter> parameters;
};

/// Every jit kernel that the file itself defines, compiled for likely argument types: parameters
/// that addresses are made of are pointers to float32, others int32, constexprs their default,
/// their first autotune config or a size; then with one parameter changed at a time as long as more
/// of the kernel compiles. A kernel is refused, for the reason the best choice meets, when none
/// compiles. Throws DiagnosticError when the file itself cannot be read.
std::vector<KernelReport> listKernels(const std::string &path,
                                      const std::vector<std::string> &roots);

} // namespace pellucid::driver
