// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/GenerateCode.h"
#include "codegen/cpu/CompileKernel.h"
#include "codegen/cpu/Convolution.h"
#include "codegen/cpu/Gemm.h"
#include "codegen/cpu/LinkImage.h"
#include "codegen/cuda/CompileCudaKernel.h"
#include "driver/KernelKey.h"
#include "driver/KernelMemory.h"
#include "passes/tt/Pipeline.h"
#include "support/CrashHandler.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <chrono>
#include <map>
#include <set>

namespace pellucid::driver {

namespace {

using Clock = std::chrono::steady_clock;
using codegen::CompiledObject;

CodegenKernelResult describe(const CompiledObject &object, double seconds) {
  CodegenKernelResult result;
  result.symbol = object.symbol;
  result.scratchBytes = object.scratchBytes;
  result.bfloat16Grade = object.bfloat16Grade;
  result.matrixUnits = object.productUnits;
  result.seconds = seconds;
  for (const auto &slot : object.arguments)
    result.arguments.push_back({slot.offset, slot.bytes});
  for (const auto &message : object.messages)
    result.messages.push_back(
        {message.text, message.file, message.line, message.column, message.print, message.hex});
  return result;
}

/// What --ir shows of one kernel, gathered while it is compiled; nothing unless the job asks.
struct Texts {
  explicit Texts(bool w) : wanted(w) {}
  codegen::CodeTexts *code() { return wanted ? &texts : nullptr; }
  void keep(mlir::ModuleOp module) {
    if (wanted)
      prepared = tt::printTtir(module, tt::TtirVersion::V3_6);
  }
  std::vector<CodegenText> take() {
    if (!wanted)
      return {};
    return {{"tt-prepared", std::move(prepared)},
            {"llvm", std::move(texts.emitted)},
            {"llvm-optimized", std::move(texts.optimized)},
            {"asm", std::move(texts.assembly)}};
  }

private:
  bool wanted;
  std::string prepared;
  codegen::CodeTexts texts;
};

/// The kernel's module in the form that code generation takes.
mlir::OwningOpRef<mlir::ModuleOp> prepare(const CodegenKernel &kernel, mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  auto module = tt::parseTtir(kernel.ttir, &context, diagnostics, kernel.symbol);
  if (!module)
    return {};
  if (!tt::runKernelPipeline(*module, diagnostics))
    return {};
  return module;
}

bool compileLibrary(const package::LibraryKernel &kernel, const std::string &symbol, CpuLevel level,
                    Texts &texts, CompiledObject &object, Diagnostics &diagnostics) {
  codegen::GemmKernel product;
  product.type = kernel.type;
  product.bias = kernel.bias;
  product.unpacked = kernel.unpacked;
  product.level = level;
  product.texts = texts.code();
  codegen::ConvolutionKernel windows{kernel.type, kernel.bias, level, texts.code()};
  using Kind = package::LibraryKernel::Kind;
  switch (kernel.kind) {
  case Kind::Gemm:
    return codegen::compileGemm(product, symbol, object, diagnostics);
  case Kind::Pack:
    return codegen::compilePack(product, symbol, object, diagnostics);
  case Kind::Convolve:
    return codegen::compileConvolution(windows, symbol, object, diagnostics);
  case Kind::Depthwise:
    return codegen::compileDepthwise(windows, symbol, object, diagnostics);
  }
  diagnostics.error(SourceLocation(symbol), "the back end has no such library kernel");
  return false;
}

/// Under the name `symbol`, which the kernel's text need not have.
bool compileOne(const CodegenKernel &kernel, const std::string &symbol,
                codegen::CpuKernelOptions options, mlir::MLIRContext &context, Texts &texts,
                CompiledObject &object, Diagnostics &diagnostics) {
  if (kernel.library)
    return compileLibrary(*kernel.library, symbol, options.level, texts, object, diagnostics);
  auto module = prepare(kernel, context, diagnostics);
  if (!module)
    return false;
  texts.keep(*module);
  options.texts = texts.code();
  if (symbol != kernel.symbol)
    if (auto function = module->lookupSymbol<tt::FuncOp>(kernel.symbol))
      function.setName(symbol);
  return codegen::compileKernel(*module, symbol, options, object, diagnostics);
}

/// The kernel's object, from `memory` where it is there.
KernelMemory::Object objectOf(const CodegenKernel &kernel, const CodegenJob &job,
                              mlir::MLIRContext &context, KernelMemory *memory, Texts &texts,
                              bool &remembered, Diagnostics &diagnostics) {
  std::string key = memory ? kernelKey(kernel, job) : std::string();
  KernelMemory::Object known = memory ? memory->find(key) : nullptr;
  remembered = known != nullptr;
  if (known)
    return known;
  codegen::CpuKernelOptions options;
  options.level = job.target.cpu;
  options.fpContract = job.fpContract;
  std::string symbol = memory ? memory->nextSymbol(kernel.symbol) : kernel.symbol;
  CompiledObject object;
  if (!compileOne(kernel, symbol, options, context, texts, object, diagnostics))
    return nullptr;
  return memory ? memory->add(std::move(key), std::move(object))
                : std::make_shared<const CompiledObject>(std::move(object));
}

/// Links each object once, whatever number of kernels it is the code of.
bool link(const std::vector<KernelMemory::Object> &made, CpuLevel level, CodegenResult &result,
          Diagnostics &diagnostics) {
  std::vector<CompiledObject> objects;
  std::set<std::string> linked;
  for (const KernelMemory::Object &object : made)
    if (linked.insert(object->symbol).second)
      objects.push_back(*object);
  std::vector<codegen::EntryOffset> entries;
  std::vector<char> image;
  if (!codegen::linkImage(objects, level, image, entries, diagnostics))
    return false;
  result.image.assign(image.begin(), image.end());
  std::map<std::string, uint64_t> offsets;
  for (const auto &entry : entries)
    offsets[entry.symbol] = entry.vaddr;
  for (size_t i = 0; i < made.size(); ++i)
    result.kernels[i].entryOffset = offsets.at(made[i]->symbol);
  return true;
}

bool compileCpu(const CodegenJob &job, CodegenResult &result, Diagnostics &diagnostics,
                void (*onKernel)(void *, const std::string &), void *state, KernelMemory *memory) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  std::vector<KernelMemory::Object> objects;
  for (const CodegenKernel &kernel : job.kernels) {
    Working work("generating code of the kernel", kernel.symbol);
    onKernel(state, kernel.symbol);
    auto start = Clock::now();
    Texts texts(job.keepTexts);
    bool remembered = false;
    KernelMemory::Object object = objectOf(kernel, job, context, job.keepTexts ? nullptr : memory,
                                           texts, remembered, diagnostics);
    if (!object)
      return false;
    result.kernels.push_back(
        describe(*object, std::chrono::duration<double>(Clock::now() - start).count()));
    result.kernels.back().symbol = kernel.symbol;
    result.kernels.back().remembered = remembered;
    result.kernels.back().texts = texts.take();
    objects.push_back(std::move(object));
  }
  // A program may do nothing but hand out memory; its image stays empty and is never mapped.
  if (objects.empty())
    return true;
  onKernel(state, "(linking)");
  return link(objects, job.target.cpu, result, diagnostics);
}

/// With the instructions that only devices of the target's generation have, where they pay, and
/// without, unless only such devices run it.
bool compilePtx(mlir::ModuleOp module, const CodegenKernel &kernel,
                codegen::CudaKernelOptions options, bool exactTarget, CodegenKernelResult &entry,
                Diagnostics &diagnostics) {
  for (options.thisGenerationOnly = true;; options.thisGenerationOnly = false) {
    codegen::CompiledPtx compiled;
    if (!codegen::compileCudaKernel(module, kernel.symbol, options, compiled, diagnostics))
      return false;
    entry.ptx.push_back({std::move(compiled.ptx), compiled.sharedBytes, compiled.thisGenerationOnly,
                         compiled.dependentLaunch, std::move(compiled.tensorMaps)});
    entry.matrixUnits |= compiled.matrixUnits;
    if (entry.ptx.size() == 1)
      for (const auto &slot : compiled.arguments)
        entry.arguments.push_back({slot.offset, slot.bytes});
    options.texts = nullptr;
    if (!compiled.thisGenerationOnly || exactTarget)
      return true;
  }
}

bool compileCuda(const CodegenJob &job, CodegenResult &result, Diagnostics &diagnostics,
                 void (*onKernel)(void *, const std::string &), void *state) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  for (const CodegenKernel &kernel : job.kernels) {
    Working work("generating code of the kernel", kernel.symbol);
    onKernel(state, kernel.symbol);
    auto start = Clock::now();
    Texts texts(job.keepTexts);
    codegen::CudaKernelOptions options{.sm = job.target.sm,
                                       .numWarps = kernel.numWarps,
                                       .numStages = kernel.numStages,
                                       .tensorCopies = true,
                                       .fpContract = job.fpContract,
                                       .texts = texts.code()};
    auto module = prepare(kernel, context, diagnostics);
    if (!module)
      return false;
    texts.keep(*module);
    CodegenKernelResult &entry = result.kernels.emplace_back();
    entry.symbol = kernel.symbol;
    entry.numWarps = kernel.numWarps;
    if (!compilePtx(*module, kernel, options, job.exactTarget, entry, diagnostics))
      return false;
    entry.texts = texts.take();
    entry.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return true;
}

} // namespace

bool runCodegenJob(const CodegenJob &job, CodegenResult &result, Diagnostics &diagnostics,
                   void (*onKernel)(void *state, const std::string &symbol), void *state,
                   KernelMemory *memory) {
  return job.target.kind == Target::Kind::Cpu
             ? compileCpu(job, result, diagnostics, onKernel, state, memory)
             : compileCuda(job, result, diagnostics, onKernel, state);
}

} // namespace pellucid::driver
