// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/EmitObject.h"

#include "codegen/common/CodeBuilder.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/common/GenerateCode.h"
#include "codegen/cpu/LoadMasks.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

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

static const char *cpuName(CpuLevel level) { return hasAvx512(level) ? "x86-64-v4" : "x86-64-v3"; }

/// What `level` has beyond cpuName's.
static std::string featuresOf(CpuLevel level) {
  std::string features;
  if (hasPairProducts(level))
    features += "+avx512bf16,+avx512vnni";
  if (hasTileProducts(level))
    features += ",+amx-tile,+amx-bf16,+amx-int8";
  return features;
}

static void setAttributes(llvm::Module &module, CpuLevel level) {
  const char *width = hasAvx512(level) ? "512" : "256";
  std::string features = featuresOf(level);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("no-builtins");
    function.addFnAttr("target-cpu", cpuName(level));
    if (!features.empty())
      function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

/// LLVM takes the sign that a half gets from a double by rounding the double, with a function of
/// the compiler's run-time library that images have not.
static void defineHalfOfDouble(llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *half = llvm::Type::getHalfTy(context), *real = llvm::Type::getDoubleTy(context);
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(half, {real}, false),
                             llvm::GlobalValue::WeakAnyLinkage, "__truncdfhf2", module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  CodeBuilder b(context, false);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  mlir::MLIRContext formats(mlir::MLIRContext::Threading::DISABLED);
  llvm::Value *bits = narrowFloat(b, function->getArg(0), mlir::Float16Type::get(&formats));
  b.CreateRet(b.CreateBitCast(bits, half));
}

/// Whether the module makes halves and computes in doubles.
static bool mixesHalfAndDouble(const llvm::Module &module) {
  bool hasHalf = false, hasDouble = false;
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block) {
        hasHalf |= instruction.getType()->getScalarType()->isHalfTy();
        hasDouble |= instruction.getType()->getScalarType()->isDoubleTy();
      }
  return hasHalf && hasDouble;
}

bool emitObject(CpuLevel level, std::string_view symbol,
                llvm::function_ref<void(llvm::Module &)> emit, std::vector<char> &object,
                Diagnostics &diagnostics, CodeTexts *texts) {
  initializeX86();
  disableStoreForwardingPass();
  CodeTarget target{.name = "x86-64",
                    .triple = "x86_64-unknown-linux-gnu",
                    .cpu = cpuName(level),
                    .features = featuresOf(level),
                    .positionIndependent = true,
                    .prepare = hasAvx512(level) ? separateMasks : nullptr};
  auto emitWithAttributes = [&](llvm::Module &module) {
    emit(module);
    if (mixesHalfAndDouble(module))
      defineHalfOfDouble(module);
    setAttributes(module, level);
  };
  return generateCode(target, symbol, emitWithAttributes, object, diagnostics, texts);
}

} // namespace pellucid::codegen
