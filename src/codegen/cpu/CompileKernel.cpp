// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/CompileKernel.h"

#include "codegen/cpu/EmitObject.h"
#include "codegen/cpu/KernelEmitter.h"

#include "llvm/Target/TargetMachine.h"

namespace pellucid::codegen {

bool compileKernel(mlir::ModuleOp source, std::string_view symbol, const CpuKernelOptions &options,
                   CompiledObject &object, Diagnostics &diagnostics) {
  auto kernel = source.lookupSymbol<tt::FuncOp>(llvm::StringRef(symbol));
  auto fail = [&](const std::string &why) {
    diagnostics.error(SourceLocation(), why);
    return false;
  };
  if (!kernel || !kernel.getBody().hasOneBlock())
    return fail("the module has no kernel '" + std::string(symbol) + "' with one block");
  std::unique_ptr<llvm::TargetMachine> machine = createCpuTargetMachine(options.level);
  if (!machine)
    return fail("this build has no x86-64 code generator");
  object = CompiledObject();
  object.symbol = symbol;
  llvm::LLVMContext context;
  llvm::Module module(llvm::StringRef(symbol), context);
  prepareCpuModule(module, *machine);
  try {
    KernelEmitter(module, kernel, options, object).emit();
  } catch (const DiagnosticError &error) {
    diagnostics.add(error.diagnostic);
    return false;
  }
  setCpuAttributes(module, options.level);
  std::string why;
  return emitObject(module, *machine, object.object, why) ||
         fail("generating code for '" + std::string(symbol) + "' failed: " + why);
}

} // namespace pellucid::codegen
