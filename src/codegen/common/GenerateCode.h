// SPDX-License-Identifier: Apache-2.0
// What generating code for one kernel takes on every target: find it, emit LLVM IR, optimise,
// print.
#pragma once

#include "support/Diagnostics.h"
#include "tt/TtOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CodeGen.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace pellucid::codegen {

/// How LLVM is asked for a target; the same on every host.
struct CodeTarget {
  const char *name; ///< in messages: "x86-64"
  const char *triple;
  std::string cpu = {}, features = {};
  llvm::CodeGenFileType form = llvm::CodeGenFileType::ObjectFile;
  bool positionIndependent = false;
  /// Kernels without loops over vectors are one long block, where equal values lie far apart.
  bool numbersValues = false;
  /// What LLVM's code generator must be kept from, said in the optimised IR; may be null.
  void (*prepare)(llvm::Module &) = nullptr;
};

/// A kernel's code as text on its way through LLVM, for people.
struct CodeTexts {
  std::string emitted, optimized; ///< LLVM IR
  std::string assembly;
};

/// The kernel `symbol` of `module`; on failure reports through `diagnostics` and returns null.
tt::FuncOp findKernel(mlir::ModuleOp module, std::string_view symbol, Diagnostics &diagnostics);

/// Has `emit` fill a module, which may throw DiagnosticError, optimises it and writes its code to
/// `code`, and what it was on the way to `texts` when that is given. On failure reports through
/// `diagnostics` and returns false.
bool generateCode(const CodeTarget &target, std::string_view symbol,
                  llvm::function_ref<void(llvm::Module &)> emit, std::vector<char> &code,
                  Diagnostics &diagnostics, CodeTexts *texts = nullptr);

} // namespace pellucid::codegen
