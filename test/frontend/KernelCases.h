// SPDX-License-Identifier: Apache-2.0
/// Kernels of Python files with the specialisations they are tested in. A file says them itself:
///   CASES = [("add_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, BLOCK=1024")]
/// One entry per parameter in order: a type in Triton's short names (`*` for a pointer, `:16` for
/// divisibility), `None`, or, for constexprs, `NAME=value`. Parameters left out take their default.
#pragma once

#include "frontend/EmitKernel.h"

namespace pellucid::test {

struct KernelCase {
  std::string kernel, signature;
};

/// The CASES of a module.
std::vector<KernelCase> casesOf(host::Interpreter &interpreter, const host::Module &module);

/// The kernel of that name under its decorators; null when the module has none.
std::shared_ptr<host::JitFunction> kernelNamed(const host::Module &module, const std::string &name);

/// Throws DiagnosticError naming what is wrong with the text.
std::vector<frontend::ParameterSpec> parseSignature(host::Interpreter &interpreter,
                                                    const host::JitFunction &kernel,
                                                    const std::string &text);

} // namespace pellucid::test
