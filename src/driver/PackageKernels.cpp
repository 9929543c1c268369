// SPDX-License-Identifier: Apache-2.0
// Kernels of a package with their code, and how exact they are.
#include "driver/PackageAssembler.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace pellucid::driver {

using namespace graph;
using package::Bytecode;
using passes::Storage;

namespace {

std::string_view numericsOfLibrary(package::LibraryKernel::Kind kind) {
  if (kind == package::LibraryKernel::Kind::Depthwise)
    return "fma=on,tf32=off,sum=planes of the kernel, columns, lines";
  if (kind == package::LibraryKernel::Kind::Convolve)
    return "fma=on,tf32=off,sum=in order of k, of f32 by whole channels of at most 256";
  return "fma=on,tf32=off,sum=in order of k, of f32 by 256";
}

/// Floating-point numbers are added as programs come to them.
bool addsInAnyOrder(const KernelDef &def) {
  return def.ttir.find("atomic_rmw fadd") != std::string::npos;
}

} // namespace

/// The same kernel, in the program of another device.
std::optional<uint32_t> Assembler::knownKernel(const KernelDef &def) const {
  for (uint32_t known = 0; known < shared.kernels.size(); ++known)
    if (shared.kernels[known]->symbol == def.symbol && shared.kernels[known]->ttir == def.ttir &&
        shared.kernels[known]->library == def.library)
      return known;
  return std::nullopt;
}

void Assembler::addKernels() {
  for (uint32_t index : lowered.usedKernels) {
    const KernelDef &def = program.kernels[index];
    if (auto known = knownKernel(def)) {
      kernelIndex[index] = *known;
      manifest.kernels[*known].ordered |= lowered.orderedKernels.count(index) != 0;
      continue;
    }
    kernelIndex[index] = static_cast<uint32_t>(manifest.kernels.size());
    shared.kernels.push_back(&def);
    package::Kernel kernel;
    kernel.name = def.symbol;
    kernel.ordered = lowered.orderedKernels.count(index);
    kernel.sourceFile = program.sourceName(def.sourcePath);
    kernel.sourceLine = def.sourceLine;
    kernel.numerics = !def.library ? std::string("fma=") + (options.fpContract ? "on" : "off") +
                                         ",tf32=off,div=ieee,reduce=tree" +
                                         (addsInAnyOrder(def) ? ",atomics=in any order" : "")
                                   : std::string(numericsOfLibrary(def.library->kind));
    uint32_t offset = 0;
    for (const graph::KernelParameter &parameter : def.parameters) {
      if (parameter.kind == graph::KernelParameter::Kind::Constant) {
        kernel.constants.push_back({parameter.name, toString(parameter.constant)});
        continue;
      }
      package::KernelParameter out;
      out.name = parameter.name;
      out.pointer = parameter.kind == graph::KernelParameter::Kind::Pointer;
      out.dtype = parameter.dtype;
      out.bytes = out.pointer ? 8 : byteSize(parameter.dtype);
      offset = (offset + out.bytes - 1) / out.bytes * out.bytes;
      out.offset = offset;
      offset += out.bytes;
      out.divisor = static_cast<uint32_t>(parameter.divisor);
      // Passed all the same: how arguments are packed does not depend on what is known of them.
      if (!parameter.constant.isNone())
        kernel.constants.push_back({parameter.name, toString(parameter.constant)});
      out.read = reads(parameter.access) || parameter.unknownAccess;
      out.written = writes(parameter.access) || parameter.unknownAccess;
      kernel.parameters.push_back(std::move(out));
    }
    manifest.kernels.push_back(std::move(kernel));
  }
}

/// What products of the text do beside taking an order of their own.
void Assembler::noteProducts(std::string &numerics, const CodegenPtx &ptx) {
  if (ptx.text.find(".tf32") != std::string::npos)
    note(numerics, cudaTruncated);
  for (const char *type : {"k32.f32.e4m3", "k32.f32.e5m2"})
    if (ptx.text.find(type) != std::string::npos)
      note(numerics, cudaShortSums);
}

/// bf16 in the order of the level's own instructions, which take subnormals for zero:
/// docs/design/0020-cpu-levels.md.
const char *Assembler::productsOf(CpuLevel level) {
  return hasTileProducts(level) ? ",x86-64-v4+amx:dot=tdpbf16ps" : ",x86-64-v4+bf16:dot=vdpbf16ps";
}

void Assembler::note(std::string &numerics, const char *what) {
  if (numerics.find(what) == std::string::npos)
    numerics += what;
}

void Assembler::addPtx(package::Kernel &kernel, package::Executable executable,
                       const CodegenKernelResult &result) {
  for (const CodegenPtx &ptx : result.ptx) {
    executable.format =
        ptx.thisGenerationOnly ? package::CodeFormat::GenerationPtx : package::CodeFormat::Ptx;
    executable.record = "code/" + result.symbol + ".sm_" + std::to_string(executable.target.sm) +
                        (ptx.thisGenerationOnly ? "a" : "") + ".ptx";
    executable.sharedBytes = ptx.sharedBytes;
    executable.dependentLaunch = ptx.dependentLaunch;
    executable.tensorMaps = ptx.tensorMaps;
    noteProducts(kernel.numerics, ptx);
    contents.records.push_back(package::textRecord(executable.record, ptx.text));
    kernel.executables.push_back(executable);
  }
}

void Assembler::addCode() {
  for (const TargetCode &target : code) {
    bool cpu = target.target.kind == Target::Kind::Cpu;
    if (target.target.kind != lowered.device)
      continue;
    std::string image = cpu ? "code/" + std::string(toString(target.target.cpu)) + ".elf" : "";
    if (cpu)
      contents.records.push_back(package::ownedRecord(
          image, std::vector<uint8_t>(target.result.image.begin(), target.result.image.end())));
    for (size_t k = 0; k < target.result.kernels.size(); ++k) {
      const CodegenKernelResult &result = target.result.kernels[k];
      package::Kernel &kernel = manifest.kernels[kernelIndex.at(target.kernels[k])];
      package::Executable executable;
      executable.target = target.target;
      executable.entry = result.entry.empty() ? result.symbol : result.entry;
      executable.entryOffset = result.entryOffset;
      executable.scratchBytes = result.scratchBytes;
      executable.numWarps = result.numWarps ? result.numWarps : 4;
      for (const CodegenMessage &message : result.messages)
        executable.messages.push_back(
            {message.isPrint ? package::MessageKind::Print : package::MessageKind::Assert,
             message.text, program.sourceName(message.file), message.line, message.column,
             message.hex});
      executable.record = image;
      if (cpu)
        kernel.executables.push_back(std::move(executable));
      else
        addPtx(kernel, executable, result);
      if (result.bfloat16Grade)
        note(kernel.numerics, bfloat16Grade);
      if (!cpu)
        note(kernel.numerics, cudaGrade);
      if (result.matrixUnits)
        note(kernel.numerics, cpu ? productsOf(target.target.cpu) : cudaProducts);
    }
  }
}

} // namespace pellucid::driver
