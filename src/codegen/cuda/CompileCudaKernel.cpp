// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CompileCudaKernel.h"

#include "codegen/common/GenerateCode.h"
#include "codegen/cuda/CudaEmitter.h"
#include "codegen/cuda/OrderByUse.h"
#include "codegen/cuda/SharedComparisons.h"
#include "codegen/gpu/Passes.h"
#include "tt/Tt.h"

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
static void prepare(llvm::Module &module) {
  orderByUse(module);
  shareComparisons(module);
}

static CodeTarget targetOf(uint32_t sm, bool thisGenerationOnly) {
  return {.name = "NVPTX",
          .triple = "nvptx64-nvidia-cuda",
          .cpu = "sm_" + std::to_string(sm) + (thisGenerationOnly ? "a" : ""),
          .features = thisGenerationOnly ? "+ptx80"
                      : sm >= 90         ? "+ptx78"
                                         : "+ptx70",
          .form = llvm::CodeGenFileType::AssemblyFile,
          .numbersValues = true,
          .prepare = prepare};
}

/// What is decided of a kernel; a copy, for the source may be compiled for other targets.
/// `thisGenerationOnly`: so is its text.
static mlir::OwningOpRef<mlir::ModuleOp>
decide(mlir::ModuleOp source, const CudaKernelOptions &options, bool thisGenerationOnly) {
  ttgpu::ChooseProductsOptions decided;
  decided.sm = options.sm;
  decided.warps = options.numWarps;
  decided.stages = options.numStages;
  decided.mostStages = options.mostStages;
  decided.generationOnly = options.thisGenerationOnly;
  decided.tensorCopies = options.tensorCopies && thisGenerationOnly;
  Diagnostics said;
  tt::DiagnosticsCollector collector(source.getContext(), said);
  if (auto module = ttgpu::decideKernel(source, decided))
    return module;
  for (const pellucid::Diagnostic &one : said.all())
    if (one.severity == pellucid::Severity::Error)
      throw DiagnosticError(one);
  throw DiagnosticError(SourceLocation(), "a pass over the kernel failed without saying why");
}

static void emitKernel(llvm::Module &module, mlir::ModuleOp source,
                       const CudaKernelOptions &options, CompiledPtx &result) {
  mlir::OwningOpRef<mlir::ModuleOp> decided = decide(source, options, result.thisGenerationOnly);
  auto kernel = decided->lookupSymbol<tt::FuncOp>(result.symbol);
  CudaEmitter(module, kernel, options, result).emit();
}

/// Some product of the kernel could be made by `unit`.
static bool mayUse(tt::FuncOp kernel, MatrixUnit unit, const CudaKernelOptions &options) {
  auto target =
      ttgpu::TargetAttr::get(kernel.getContext(), options.sm, options.numWarps, options.numStages,
                             options.mostStages, options.thisGenerationOnly);
  return kernel
      ->walk([&](tt::DotOp op) {
        return ttgpu::bestUnit(op, target) == unit ? mlir::WalkResult::interrupt()
                                                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
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
  source.getContext()->getOrLoadDialect<ttgpu::TtGpuDialect>();
  result.thisGenerationOnly = mayUse(kernel, MatrixUnit::Warpgroup, options);
  result.matrixUnits = result.thisGenerationOnly || mayUse(kernel, MatrixUnit::Warp, options);
  CodeTarget target = targetOf(options.sm, result.thisGenerationOnly);
  std::vector<char> ptx;
  auto emit = [&](llvm::Module &module) { emitKernel(module, source, options, result); };
  if (!generateCode(target, symbol, emit, ptx, diagnostics, options.texts))
    return false;
  result.ptx.assign(ptx.begin(), ptx.end());
  return true;
}

} // namespace pellucid::codegen
