// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/CompileKernel.h"
#include "codegen/cpu/LinkImage.h"
#include "driver/CodegenJob.h"
#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <chrono>

namespace pellucid::driver {

namespace {

using Clock = std::chrono::steady_clock;
using codegen::CompiledObject;

CodegenKernelResult describe(const CompiledObject &object, double seconds) {
  CodegenKernelResult result;
  result.symbol = object.symbol;
  result.scratchBytes = object.scratchBytes;
  result.seconds = seconds;
  for (const auto &slot : object.arguments)
    result.arguments.push_back({slot.offset, slot.bytes});
  for (const auto &message : object.messages)
    result.messages.push_back({message.text, message.file, message.line, message.column, message.print, message.hex});
  return result;
}

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

bool compileCpu(const CodegenJob &job, CodegenResult &result, Diagnostics &diagnostics,
                void (*onKernel)(void *, const std::string &), void *state) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  codegen::CpuKernelOptions options;
  options.level = job.target.cpu;
  options.fpContract = job.fpContract;
  std::vector<CompiledObject> objects;
  for (const CodegenKernel &kernel : job.kernels) {
    onKernel(state, kernel.symbol);
    auto start = Clock::now();
    CompiledObject &object = objects.emplace_back();
    auto module = prepare(kernel, context, diagnostics);
    if (!module || !codegen::compileKernel(*module, kernel.symbol, options, object, diagnostics))
      return false;
    result.kernels.push_back(describe(object, std::chrono::duration<double>(Clock::now() - start).count()));
  }
  onKernel(state, "(linking)");
  std::vector<codegen::EntryOffset> entries;
  std::vector<char> image;
  if (!codegen::linkImage(objects, job.target.cpu, image, entries, diagnostics))
    return false;
  result.image.assign(image.begin(), image.end());
  for (CodegenKernelResult &kernel : result.kernels)
    for (const auto &entry : entries)
      if (entry.symbol == kernel.symbol)
        kernel.entryOffset = entry.vaddr;
  return true;
}

} // namespace

bool runCodegenJob(const CodegenJob &job, CodegenResult &result, Diagnostics &diagnostics,
                   void (*onKernel)(void *state, const std::string &symbol), void *state) {
  if (job.target.kind == Target::Kind::Cpu)
    return compileCpu(job, result, diagnostics, onKernel, state);
  diagnostics.error(SourceLocation(toString(job.target)), "this build has no code generator for the target");
  return false;
}

} // namespace pellucid::driver
