// SPDX-License-Identifier: Apache-2.0
#include "package/ElfImage.h"

#include <cstring>
#include <elf.h>
#include <optional>
#include <string>

namespace pellucid::package {

static constexpr uint64_t pageBytes = 4096;
/// No image comes near; keeps sums of addresses far from overflow.
static constexpr uint64_t maxImageBytes = uint64_t(1) << 40;

namespace {
/// Reads structs out of bytes that may be anything.
struct ElfBytes {
  std::span<const uint8_t> bytes;

  bool contains(uint64_t offset, uint64_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }
  template <typename T> std::optional<T> read(uint64_t offset) const {
    if (!contains(offset, sizeof(T)))
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
  /// The text at `offset`, up to its NUL, which must lie in the bytes.
  std::string_view text(uint64_t offset) const {
    if (offset >= bytes.size())
      return {};
    const char *begin = reinterpret_cast<const char *>(bytes.data() + offset);
    const void *end = std::memchr(begin, 0, bytes.size() - offset);
    return end ? std::string_view(begin, static_cast<const char *>(end) - begin)
               : std::string_view();
  }
};
} // namespace

static Status refuse(const std::string &why) { return Status::error("the code image " + why); }

static Status readHeader(const ElfBytes &elf, Elf64_Ehdr &header) {
  std::optional<Elf64_Ehdr> read = elf.read<Elf64_Ehdr>(0);
  if (!read || std::memcmp(read->e_ident, ELFMAG, SELFMAG) != 0 ||
      read->e_ident[EI_CLASS] != ELFCLASS64 || read->e_ident[EI_DATA] != ELFDATA2LSB)
    return refuse("is not a 64-bit little-endian ELF file");
  if (read->e_machine != EM_X86_64 || (read->e_type != ET_DYN && read->e_type != ET_EXEC))
    return refuse("is not an x86-64 shared object or executable");
  if (read->e_phentsize != sizeof(Elf64_Phdr) ||
      !elf.contains(read->e_phoff, uint64_t(read->e_phnum) * sizeof(Elf64_Phdr)))
    return refuse("has program headers beyond its end");
  header = *read;
  return {};
}

static Status checkDynamic(const ElfBytes &elf, const Elf64_Phdr &dynamic) {
  if (!elf.contains(dynamic.p_offset, dynamic.p_filesz))
    return refuse("has a dynamic section beyond its end");
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry = *elf.read<Elf64_Dyn>(dynamic.p_offset + at);
    switch (entry.d_tag) {
    case DT_NULL:
      return {};
    case DT_NEEDED:
      return refuse("needs a library");
    case DT_RELASZ:
    case DT_RELSZ:
    case DT_RELRSZ:
    case DT_PLTRELSZ:
      if (entry.d_un.d_val != 0)
        return refuse("has relocations");
      break;
    case DT_INIT:
    case DT_FINI:
    case DT_TEXTREL:
      return refuse("has initialisers or text relocations");
    default:
      break;
    }
  }
  return {};
}

static Status addSegment(const ElfBytes &elf, const Elf64_Phdr &load, const Elf64_Phdr *relro,
                         ImageLayout &layout) {
  if (!elf.contains(load.p_offset, load.p_filesz) || load.p_memsz < load.p_filesz ||
      load.p_vaddr > maxImageBytes || load.p_memsz > maxImageBytes)
    return refuse("has a segment beyond its end");
  if (load.p_vaddr % pageBytes != load.p_offset % pageBytes)
    return refuse("has a segment that cannot be mapped by whole pages");
  bool readOnlyLater = relro && relro->p_vaddr <= load.p_vaddr &&
                       load.p_vaddr + load.p_memsz <= relro->p_vaddr + relro->p_memsz;
  if ((load.p_flags & PF_W) && ((load.p_flags & PF_X) || !readOnlyLater))
    return refuse("has writable data");
  if (load.p_memsz != load.p_filesz && !readOnlyLater)
    return refuse("has memory without bytes in the file");
  uint64_t slack = load.p_vaddr % pageBytes;
  uint64_t begin = load.p_vaddr - slack,
           end = (load.p_vaddr + load.p_memsz + pageBytes - 1) / pageBytes * pageBytes;
  if (begin < layout.memoryBytes)
    return refuse("has segments that overlap");
  layout.memoryBytes = end;
  if (load.p_filesz)
    layout.segments.push_back(
        {load.p_offset - slack, begin, load.p_filesz + slack, (load.p_flags & PF_X) != 0});
  return {};
}

Status readImageLayout(std::span<const uint8_t> image, ImageLayout &layout) {
  ElfBytes elf{image};
  Elf64_Ehdr header;
  if (Status status = readHeader(elf, header); !status.ok())
    return status;
  layout = {};
  std::optional<Elf64_Phdr> relro;
  auto programHeader = [&](uint64_t i) {
    return *elf.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
  };
  for (uint64_t i = 0; i < header.e_phnum; ++i)
    if (Elf64_Phdr entry = programHeader(i); entry.p_type == PT_GNU_RELRO &&
                                             entry.p_vaddr <= maxImageBytes &&
                                             entry.p_memsz <= maxImageBytes)
      relro = entry;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr entry = programHeader(i);
    Status status;
    if (entry.p_type == PT_LOAD)
      status = addSegment(elf, entry, relro ? &*relro : nullptr, layout);
    else if (entry.p_type == PT_DYNAMIC)
      status = checkDynamic(elf, entry);
    else if (entry.p_type == PT_INTERP || entry.p_type == PT_TLS)
      status = refuse("has an interpreter or thread-local data");
    if (!status.ok())
      return status;
  }
  if (layout.segments.empty())
    return refuse("has nothing to load");
  return {};
}

static std::optional<uint64_t> findInTable(const ElfBytes &elf, const Elf64_Shdr &symbols,
                                           uint64_t strings, std::string_view name) {
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
    std::optional<Elf64_Sym> symbol = elf.read<Elf64_Sym>(symbols.sh_offset + at);
    if (!symbol)
      return std::nullopt;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
        strings <= elf.bytes.size() && elf.text(strings + symbol->st_name) == name)
      return symbol->st_value;
  }
  return std::nullopt;
}

Status symbolAddress(std::span<const uint8_t> image, std::string_view name, uint64_t &address) {
  ElfBytes elf{image};
  Elf64_Ehdr header;
  if (Status status = readHeader(elf, header); !status.ok())
    return status;
  auto section = [&](uint64_t i) {
    return elf.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)).value_or(Elf64_Shdr{});
  };
  if (header.e_shoff > image.size())
    return refuse("has section headers beyond its end");
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB && symbols.sh_type != SHT_DYNSYM)
      continue;
    if (auto found = findInTable(elf, symbols, section(symbols.sh_link).sh_offset, name)) {
      address = *found;
      return {};
    }
  }
  return refuse("has no function '" + std::string(name) + "'");
}

bool isExecutableAddress(const ImageLayout &layout, uint64_t address) {
  for (const ImageSegment &segment : layout.segments)
    if (segment.executable && address >= segment.address &&
        address - segment.address < segment.bytes)
      return true;
  return false;
}

} // namespace pellucid::package
