// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/EmitObject.h"

#include "codegen/common/GenerateCode.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

namespace pellucid::codegen {

static void initializeX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

/// LLVM 22's pass aborts on a masked access whose mask is constant: it takes every access to have a
/// known size. The linker resets LLVM's options, so this is said before every kernel.
static void disableStoreForwardingPass() {
  auto &options = llvm::cl::getRegisteredOptions();
  if (auto entry = options.find("x86-disable-avoid-SFB"); entry != options.end())
    static_cast<llvm::cl::opt<bool> *>(entry->second)->setValue(true);
}

static const char *cpuName(CpuLevel level) {
  return level == CpuLevel::X86_64_v4 ? "x86-64-v4" : "x86-64-v3";
}

static void setAttributes(llvm::Module &module, CpuLevel level) {
  const char *width = level == CpuLevel::X86_64_v4 ? "512" : "256";
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("no-builtins");
    function.addFnAttr("target-cpu", cpuName(level));
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

bool emitObject(CpuLevel level, std::string_view symbol,
                llvm::function_ref<void(llvm::Module &)> emit, std::vector<char> &object,
                Diagnostics &diagnostics, CodeTexts *texts) {
  initializeX86();
  disableStoreForwardingPass();
  CodeTarget target{.name = "x86-64",
                    .triple = "x86_64-unknown-linux-gnu",
                    .cpu = cpuName(level),
                    .positionIndependent = true};
  auto emitWithAttributes = [&](llvm::Module &module) {
    emit(module);
    setAttributes(module, level);
  };
  return generateCode(target, symbol, emitWithAttributes, object, diagnostics, texts);
}

} // namespace pellucid::codegen
