// SPDX-License-Identifier: Apache-2.0
/// Kernels that exist only once a function of the file has been called: those defined inside it.
#pragma once

#include "host/Interpreter.h"

#include <optional>

namespace pellucid::host {

/// Whether a decorator of the function is `jit`, called or not, under whatever module's name.
bool hasJitDecorator(const syntax::FunctionDef &function);

/// The kernel that the module's text defines under the name, without its decorators; null when
/// there is none.
std::shared_ptr<JitFunction> kernelDefined(Interpreter &, const Module &, const std::string &name);

struct MadeKernel {
  const syntax::FunctionDef *maker, *kernel;
  std::string name() const { return maker->name + "." + kernel->name; }
};

/// The kernels that functions of the file's top level, branches included, define.
std::vector<MadeKernel> kernelsMadeByFunctions(const syntax::Module &);

/// Whether the kernel exists already.
bool isMade(Interpreter &, const MadeKernel &);

/// The kernel that the module's `maker()` makes, called without arguments, decorated as it comes
/// out of it. Throws DiagnosticError where that is not possible.
Value makeKernel(Interpreter &, const Module &, const MadeKernel &);

} // namespace pellucid::host
