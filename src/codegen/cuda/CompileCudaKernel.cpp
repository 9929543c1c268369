// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CompileCudaKernel.h"

#include "codegen/common/GenerateCode.h"
#include "codegen/cuda/CudaEmitter.h"

#include "llvm/Support/TargetSelect.h"

#include <mutex>

namespace pellucid::codegen {

static void initializeNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// With the lowest PTX version that has the architecture.
static CodeTarget targetOf(uint32_t sm, bool thisGenerationOnly) {
  return {.name = "NVPTX",
          .triple = "nvptx64-nvidia-cuda",
          .cpu = "sm_" + std::to_string(sm) + (thisGenerationOnly ? "a" : ""),
          .features = thisGenerationOnly ? "+ptx80"
                      : sm >= 90         ? "+ptx78"
                                         : "+ptx70",
          .form = llvm::CodeGenFileType::AssemblyFile,
          .numbersValues = true};
}

/// Fills `module` with as many stages as shared memory has room for.
static void emitKernel(llvm::Module &module, tt::FuncOp kernel, CudaKernelOptions options,
                       CompiledPtx &result) {
  for (;; --options.mostStages) {
    CompiledPtx made = result;
    try {
      CudaEmitter(module, kernel, options, made).emit();
      result = std::move(made);
      return;
    } catch (const SharedMemoryShortage &) {
      if (options.mostStages <= 1)
        throw;
    }
    module.dropAllReferences();
    while (!module.empty())
      module.begin()->eraseFromParent();
    while (!module.global_empty())
      module.global_begin()->eraseFromParent();
  }
}

bool compileCudaKernel(mlir::ModuleOp source, std::string_view symbol,
                       const CudaKernelOptions &options, CompiledPtx &result,
                       Diagnostics &diagnostics) {
  tt::FuncOp kernel = findKernel(source, symbol, diagnostics);
  if (!kernel)
    return false;
  if (options.numWarps == 0 || options.numWarps > 32 ||
      (options.numWarps & (options.numWarps - 1))) {
    diagnostics.error(SourceLocation(), "num_warps of '" + std::string(symbol) +
                                            "' must be a power of two up to 32, got " +
                                            std::to_string(options.numWarps));
    return false;
  }
  initializeNvptx();
  result = CompiledPtx();
  result.symbol = symbol;
  result.thisGenerationOnly = usesMatrixUnit(kernel, MatrixUnit::Warpgroup, options);
  result.matrixUnits =
      result.thisGenerationOnly || usesMatrixUnit(kernel, MatrixUnit::Warp, options);
  CodeTarget target = targetOf(options.sm, result.thisGenerationOnly);
  std::vector<char> ptx;
  auto emit = [&](llvm::Module &module) { emitKernel(module, kernel, options, result); };
  if (!generateCode(target, symbol, emit, ptx, diagnostics, options.texts))
    return false;
  result.ptx.assign(ptx.begin(), ptx.end());
  return true;
}

} // namespace pellucid::codegen
