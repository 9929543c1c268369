// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/EmitPtx.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

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

std::unique_ptr<llvm::TargetMachine> createCudaTargetMachine(uint32_t sm) {
  initializeNvptx();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.NoTrappingFPMath = true;
  const char *ptxVersion = sm >= 90 ? "+ptx78" : "+ptx70";
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "sm_" + std::to_string(sm), ptxVersion, options,
                                  std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

// Kernels arrive unrolled over the registers of a thread, so there is nothing to inline or
// vectorise; ptxas schedules.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager whole;
  whole.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  whole.run(module, modules);
}

bool emitPtx(llvm::Module &module, llvm::TargetMachine &machine, std::string &ptx,
             std::string &error) {
  llvm::raw_string_ostream reason(error);
#ifndef NDEBUG
  if (llvm::verifyModule(module, &reason))
    return false;
#endif
  optimize(module, machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                  /*DisableVerify=*/true)) {
    reason << "the NVPTX target cannot print assembly";
    return false;
  }
  codegen.run(module);
  ptx.assign(bytes.begin(), bytes.end());
  return true;
}

} // namespace pellucid::codegen
