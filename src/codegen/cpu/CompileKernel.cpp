// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/CompileKernel.h"

#include "codegen/common/BFloat16Grade.h"
#include "codegen/common/GenerateCode.h"
#include "codegen/cpu/EmitObject.h"
#include "codegen/cpu/KernelEmitter.h"

namespace pellucid::codegen {

bool compileKernel(mlir::ModuleOp source, std::string_view symbol, const CpuKernelOptions &options,
                   CompiledObject &object, Diagnostics &diagnostics) {
  tt::FuncOp kernel = findKernel(source, symbol, diagnostics);
  if (!kernel)
    return false;
  object = CompiledObject();
  object.symbol = symbol;
  object.bfloat16Grade = options.bfloat16Grade && markBFloat16Grade(kernel);
  auto emit = [&](llvm::Module &module) { KernelEmitter(module, kernel, options, object).emit(); };
  return emitObject(options.level, symbol, emit, object.object, diagnostics, options.texts);
}

} // namespace pellucid::codegen
