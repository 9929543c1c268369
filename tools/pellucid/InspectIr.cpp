// SPDX-License-Identifier: Apache-2.0
#include "InspectIr.h"

#include "driver/KernelTexts.h"
#include "graph/ProgramText.h"

#include <algorithm>

namespace pellucid::cli {

namespace {

const char *const programStages[] = {"program", "decomposed",   "fused",       "lowered",
                                     "buffers", "lowered.cuda", "buffers.cuda"};

std::string joinedOrNone(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

[[noreturn]] void refuseStage(const std::string &stage, const std::string &why) {
  throw DiagnosticError(SourceLocation("--ir " + stage), why);
}

/// `silu_kernel:llvm` as the kernel and its stage, `tt` when none is named.
std::pair<std::string, std::string> splitStage(const std::string &text) {
  size_t colon = text.find(':');
  return colon == std::string::npos ? std::pair(text, std::string("tt"))
                                    : std::pair(text.substr(0, colon), text.substr(colon + 1));
}

struct FoundKernel {
  graph::KernelDef def;
  uint32_t stages = 1; ///< the most that a launch asks for
};

uint32_t stagesOf(const graph::Program &program, size_t kernel) {
  int32_t most = 1;
  auto collect = [&](const graph::Graph &graph) {
    for (const graph::Node &node : graph)
      if (const graph::Launch *launch = node.launch())
        for (const graph::LaunchVariant &variant : launch->variants)
          if (variant.kernel == kernel)
            most = std::max(most, variant.numStages);
  };
  collect(program.main);
  for (const auto &body : program.bodies)
    collect(body.graph);
  return static_cast<uint32_t>(most);
}

/// The kernel's text; a package for CPU and CUDA has a lowered program for each.
FoundKernel kernelDef(const IrSource &source, const std::string &symbol,
                      const std::string &wanted) {
  for (const char *name : {"ir/lowered.txt", "ir/lowered.cuda.txt"}) {
    auto text = source.record(name);
    if (!text)
      continue;
    graph::Program program =
        graph::parseProgram(std::make_shared<SourceFile>(name, *text), graph::Believe::Types);
    for (size_t i = 0; i < program.kernels.size(); ++i)
      if (program.kernels[i].symbol == symbol)
        return {std::move(program.kernels[i]), stagesOf(program, i)};
  }
  refuseStage(wanted, "the package has no text of kernel '" + symbol + "'");
}

const package::Kernel *kernelNamed(const package::Manifest &manifest, const std::string &name) {
  auto found = std::find_if(manifest.kernels.begin(), manifest.kernels.end(),
                            [&](const package::Kernel &k) { return k.name == name; });
  return found == manifest.kernels.end() ? nullptr : &*found;
}

/// The executable of `kernel` for `target`, the first one when `target` is empty.
const package::Executable &executableFor(const package::Kernel &kernel, const std::string &target) {
  std::vector<std::string> known;
  for (const package::Executable &executable : kernel.executables) {
    std::string name(toString(executable.target));
    if (target.empty() || name == target)
      return executable;
    known.push_back(name);
  }
  throw DiagnosticError(SourceLocation("--target " + target),
                        "kernel '" + kernel.name + "' was compiled for " + joinedOrNone(known));
}

std::string kernelText(const IrSource &source, const package::Kernel &kernel,
                       const std::string &stage, const std::string &wanted,
                       const std::string &target) {
  auto [def, stages] = kernelDef(source, kernel.name, wanted);
  if (stage == "tt" && !def.library)
    return def.ttir;
  const package::Executable &executable = executableFor(kernel, target);
  driver::CodegenJob job;
  job.target = executable.target;
  job.fpContract = kernel.numerics.find("fma=on") != std::string::npos;
  std::vector<driver::CodegenText> texts;
  Diagnostics diagnostics;
  if (!driver::kernelTexts(def, executable.numWarps, stages, job, texts, diagnostics))
    throw DiagnosticError(diagnostics.all().front());
  for (const driver::CodegenText &text : texts)
    if (text.stage == stage && !text.text.empty())
      return text.text;
  refuseStage(wanted, "library kernel '" + kernel.name + "' (" +
                          (def.library ? toString(*def.library) : std::string()) +
                          ") begins as LLVM IR; it has the stages llvm, llvm-optimized, asm");
}

} // namespace

std::string irStages() {
  std::string list;
  for (const char *stage : programStages)
    list += std::string(stage) + ", ";
  return list + "or KERNEL:STAGE with " + joinedOrNone(driver::kernelStages());
}

std::string irText(const IrSource &source, const std::string &wanted, const std::string &target) {
  for (const char *name : programStages)
    if (wanted == name) {
      auto text = source.record("ir/" + wanted + ".txt");
      if (!text)
        refuseStage(wanted, "the package carries no such text");
      return *text;
    }
  auto [name, stage] = splitStage(wanted);
  std::vector<std::string> kernels;
  for (const package::Kernel &kernel : source.manifest.kernels)
    kernels.push_back(kernel.name);
  const package::Kernel *kernel = kernelNamed(source.manifest, name);
  if (!kernel)
    refuseStage(wanted, "expected " + irStages() + "; the kernels are " + joinedOrNone(kernels));
  const std::vector<std::string> &stages = driver::kernelStages();
  if (std::find(stages.begin(), stages.end(), stage) == stages.end())
    refuseStage(wanted,
                "a kernel has the stages " + joinedOrNone(stages) + ", not '" + stage + "'");
  return kernelText(source, *kernel, stage, wanted, target);
}

} // namespace pellucid::cli
