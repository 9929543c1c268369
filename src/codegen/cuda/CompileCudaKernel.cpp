// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CompileCudaKernel.h"

#include "codegen/cuda/CudaEmitter.h"
#include "codegen/cuda/EmitPtx.h"

#include "llvm/Target/TargetMachine.h"

namespace pellucid::codegen {

bool compileCudaKernel(mlir::ModuleOp source, std::string_view symbol,
                       const CudaKernelOptions &options, CompiledPtx &result,
                       Diagnostics &diagnostics) {
  auto kernel = source.lookupSymbol<tt::FuncOp>(llvm::StringRef(symbol));
  auto fail = [&](const std::string &why) {
    diagnostics.error(SourceLocation(), why);
    return false;
  };
  if (!kernel || !kernel.getBody().hasOneBlock())
    return fail("the module has no kernel '" + std::string(symbol) + "' with one block");
  if (options.numWarps == 0 || options.numWarps > 32 || (options.numWarps & (options.numWarps - 1)))
    return fail("num_warps of '" + std::string(symbol) + "' must be a power of two up to 32, got " +
                std::to_string(options.numWarps));
  std::unique_ptr<llvm::TargetMachine> machine = createCudaTargetMachine(options.sm);
  if (!machine)
    return fail("this build has no NVPTX code generator");
  result = CompiledPtx();
  result.symbol = symbol;
  llvm::LLVMContext context;
  llvm::Module module(llvm::StringRef(symbol), context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  try {
    CudaEmitter(module, kernel, options, result).emit();
  } catch (const DiagnosticError &error) {
    diagnostics.add(error.diagnostic);
    return false;
  }
  std::string why;
  return emitPtx(module, *machine, result.ptx, why) ||
         fail("generating PTX for '" + std::string(symbol) + "' failed: " + why);
}

} // namespace pellucid::codegen
