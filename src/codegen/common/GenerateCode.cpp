// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/GenerateCode.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace pellucid::codegen {

static std::unique_ptr<llvm::TargetMachine> createMachine(const CodeTarget &wanted) {
  llvm::Triple triple(wanted.triple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.NoTrappingFPMath = true;
  std::optional<llvm::Reloc::Model> relocations;
  std::optional<llvm::CodeModel::Model> model;
  if (wanted.positionIndependent) {
    relocations = llvm::Reloc::PIC_;
    model = llvm::CodeModel::Small;
  }
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, wanted.cpu, wanted.features, options, relocations, model,
                                  llvm::CodeGenOptLevel::Default));
}

static llvm::FunctionPassManager passesFor(const CodeTarget &target) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  if (target.numbersValues) {
    passes.addPass(llvm::GVNPass());
    passes.addPass(llvm::InstCombinePass());
  } else {
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  }
  passes.addPass(llvm::SimplifyCFGPass());
  // Only loops that ask for it (CountedLoop), whose rounds share what the first one computes.
  if (target.numbersValues) {
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, /*OnlyWhenForced=*/true)));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
  }
  return passes;
}

// A short list: kernels arrive as structured loops over native vectors or unrolled over a thread's
// registers, so there is nothing to inline, vectorise or unroll but loops that ask for it.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine, const CodeTarget &target) {
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
  llvm::ModulePassManager whole;
  whole.addPass(llvm::createModuleToFunctionPassAdaptor(passesFor(target)));
  whole.run(module, modules);
}

static std::string printIr(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

/// False when the target has no such form. Changes `module`.
static bool printAs(llvm::CodeGenFileType form, llvm::Module &module, llvm::TargetMachine &machine,
                    llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, form, /*DisableVerify=*/true))
    return false;
  codegen.run(module);
  return true;
}

/// Why it failed; empty when it did not.
static std::string printCode(llvm::Module &module, llvm::TargetMachine &machine,
                             const CodeTarget &target, std::vector<char> &code, CodeTexts *texts) {
#ifndef NDEBUG
  std::string why;
  llvm::raw_string_ostream reason(why);
  if (llvm::verifyModule(module, &reason))
    return why;
#endif
  if (texts)
    texts->emitted = printIr(module);
  optimize(module, machine, target);
  if (target.prepare)
    target.prepare(module);
  llvm::SmallVector<char, 0> bytes;
  if (texts) {
    texts->optimized = printIr(module);
    if (printAs(llvm::CodeGenFileType::AssemblyFile, *llvm::CloneModule(module), machine, bytes))
      texts->assembly.assign(bytes.begin(), bytes.end());
    bytes.clear();
  }
  if (!printAs(target.form, module, machine, bytes))
    return std::string("the ") + target.name + " target cannot print code of this form";
  code.assign(bytes.begin(), bytes.end());
  return {};
}

tt::FuncOp findKernel(mlir::ModuleOp module, std::string_view symbol, Diagnostics &diagnostics) {
  auto kernel = module.lookupSymbol<tt::FuncOp>(llvm::StringRef(symbol));
  if (kernel && kernel.getBody().hasOneBlock())
    return kernel;
  diagnostics.error(SourceLocation(),
                    "the module has no kernel '" + std::string(symbol) + "' with one block");
  return nullptr;
}

bool generateCode(const CodeTarget &target, std::string_view symbol,
                  llvm::function_ref<void(llvm::Module &)> emit, std::vector<char> &code,
                  Diagnostics &diagnostics, CodeTexts *texts) {
  auto fail = [&](const std::string &why) {
    diagnostics.error(SourceLocation(), why);
    return false;
  };
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  if (!machine)
    return fail(std::string("this build has no ") + target.name + " code generator");
  llvm::LLVMContext context;
  llvm::Module module(llvm::StringRef(symbol), context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  if (target.positionIndependent)
    module.setPICLevel(llvm::PICLevel::SmallPIC);
  try {
    emit(module);
  } catch (const DiagnosticError &error) {
    diagnostics.add(error.diagnostic);
    return false;
  }
  std::string why = printCode(module, *machine, target, code, texts);
  return why.empty() || fail("generating code for '" + std::string(symbol) + "' failed: " + why);
}

} // namespace pellucid::codegen
