// SPDX-License-Identifier: Apache-2.0
#include "codegen/KernelRunner.h"
#include "codegen/common/GenerateCode.h"

#include "codegen/EmulateTiles.h"
#include "codegen/cpu/LinkImage.h"
#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"

#include "mlir/Pass/PassManager.h"

#include <cstdlib>
#include <elf.h>
#include <stdexcept>
#include <sys/mman.h>

namespace pellucid::codegen {

std::vector<CpuLevel> runnableLevels() {
  std::vector<CpuLevel> levels;
  auto host = hostCpuLevel();
  for (CpuLevel level : {CpuLevel::X86_64_v3, CpuLevel::X86_64_v4})
    if (host && level <= *host)
      levels.push_back(level);
  return levels;
}

std::vector<CpuLevel> productLevels() {
  std::vector<CpuLevel> levels = runnableLevels();
  auto host = hostCpuLevel();
  if (!host || !hasPairProducts(*host))
    return levels;
  levels.push_back(CpuLevel::X86_64_v4_bf16);
  if (!allowTiles())
    emulateTiles();
  levels.push_back(CpuLevel::X86_64_v4_amx);
  return levels;
}

std::string testName(CpuLevel level) {
  switch (level) {
  case CpuLevel::X86_64_v3:
    return "v3";
  case CpuLevel::X86_64_v4:
    return "v4";
  case CpuLevel::X86_64_v4_bf16:
    return "v4_bf16";
  case CpuLevel::X86_64_v4_amx:
    return "v4_amx";
  }
  return "unknown";
}

MappedImage::MappedImage(const std::vector<char> &elf) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(elf.data());
  auto *segments = reinterpret_cast<const Elf64_Phdr *>(elf.data() + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD)
      bytes = std::max(bytes, (segments[i].p_vaddr + segments[i].p_memsz + 4095) / 4096 * 4096);
  base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    throw std::runtime_error("cannot map the image");
  for (int i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr &segment = segments[i];
    if (segment.p_type != PT_LOAD)
      continue;
    if (segment.p_flags & PF_W || segment.p_vaddr % 4096 || segment.p_offset % 4096)
      throw std::runtime_error("a segment of the image is writable or off the page grid");
    std::memcpy(at(segment.p_vaddr), elf.data() + segment.p_offset, segment.p_filesz);
  }
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD)
      mprotect(at(segments[i].p_vaddr), segments[i].p_memsz,
               segments[i].p_flags & PF_X ? PROT_READ | PROT_EXEC : PROT_READ);
}

MappedImage::~MappedImage() { munmap(base, bytes); }

static CompiledObject compileText(const std::string &ttir, const std::string &symbol,
                                  const CpuKernelOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  auto module = tt::parseTtir(ttir, &context, diagnostics, "kernel.ttir");
  if (!module)
    throw std::runtime_error(diagnostics.text());
  mlir::PassManager passes(&context);
  tt::buildKernelPipeline(passes);
  if (failed(passes.run(*module)))
    throw std::runtime_error("the kernel pipeline failed");
  CompiledObject object;
  if (!compileKernel(*module, symbol, options, object, diagnostics))
    throw std::runtime_error(diagnostics.text());
  return object;
}

std::string assemblyOf(const std::string &ttir, const std::string &symbol, CpuLevel level) {
  CodeTexts texts;
  CpuKernelOptions options;
  options.level = level;
  options.texts = &texts;
  compileText(ttir, symbol, options);
  return texts.assembly;
}

CompiledKernel::CompiledKernel(const std::string &ttir, const std::string &symbol, CpuLevel level,
                               bool fpContract, bool bfloat16Grade) {
  CpuKernelOptions options;
  options.level = level;
  options.fpContract = fpContract;
  options.bfloat16Grade = bfloat16Grade;
  object = compileText(ttir, symbol, options);
  load(level);
}

CompiledKernel::CompiledKernel(CompiledObject compiled, CpuLevel level)
    : object(std::move(compiled)) {
  load(level);
}

void CompiledKernel::load(CpuLevel level) {
  Diagnostics diagnostics;
  std::vector<EntryOffset> entries;
  if (!linkImage({&object, 1}, level, elf, entries, diagnostics))
    throw std::runtime_error(diagnostics.text());
  image = std::make_unique<MappedImage>(elf);
  entry = reinterpret_cast<package::KernelEntry>(image->at(entries.at(0).vaddr));
  size_t bytes = (object.scratchBytes + 63) / 64 * 64;
  scratchMemory.reset(std::aligned_alloc(64, bytes), std::free);
  // Nothing may depend on what scratch memory holds.
  std::memset(scratchMemory.get(), 0xfe, bytes);
}

int32_t CompiledKernel::run(const void *arguments, uint32_t x, uint32_t y, uint32_t z,
                            uint64_t chunk) {
  const uint32_t grid[3] = {x, y, z};
  uint64_t programs = uint64_t(x) * y * z;
  int32_t status = entry(arguments, grid, 0, 0, scratch(), &context);
  for (uint64_t first = 0; first < programs && status == 0; first += chunk)
    status = entry(arguments, grid, first, std::min(programs, first + chunk), scratch(), &context);
  return status;
}

} // namespace pellucid::codegen
