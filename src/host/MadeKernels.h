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
  /// The functions around the kernel, outermost first: one of the file's top level, or a method.
  std::vector<const syntax::FunctionDef *> makers;
  const syntax::FunctionDef *kernel;
  std::string className; ///< of a method; empty otherwise
  const syntax::FunctionDef &maker() const { return *makers.front(); }
  std::string makerName() const {
    return (className.empty() ? "" : className + ".") + maker().name;
  }
  std::string name() const { return makerName() + "." + kernel->name; }
};

/// The kernels that functions of the file's top level, branches and methods included, define.
std::vector<MadeKernel> kernelsMadeByFunctions(const syntax::Module &);

/// Whether the kernel exists already.
bool isMade(Interpreter &, const MadeKernel &);

/// The kernel that the module's `maker()` makes, called without arguments, decorated as it comes
/// out of it. A maker that needs arguments, or that cannot run to its end here (a test that asks
/// for a device), is read statement by statement as a file is: a kernel whose text and decorators
/// use nothing that depends on the missing arguments is the same for all of them. Throws
/// DiagnosticError where that gives no kernel.
Value makeKernel(Interpreter &, const Module &, const MadeKernel &);

} // namespace pellucid::host
