// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/LinkImage.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace pellucid::codegen {

namespace {

/// A folder that lives as long as the link does: lld reads and writes files only.
class LinkFolder {
public:
  LinkFolder() { valid = !llvm::sys::fs::createUniqueDirectory("pellucid-link", path); }
  ~LinkFolder() {
    if (valid)
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return std::string(full);
  }
  bool valid = false;

private:
  llvm::SmallString<128> path;
};

bool writeFile(const std::string &path, const std::vector<char> &bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return false;
  stream.write(bytes.data(), bytes.size());
  stream.close();
  return !stream.has_error();
}

bool runLinker(const std::vector<std::string> &inputs, const std::string &output,
               std::string &error) {
  std::vector<const char *> arguments = {
      "ld.lld",           "-shared",         "--no-undefined",
      "-znorelro",        "-zrodynamic",     "-zseparate-code",
      "-znognustack",     "-ztext",          "-zmax-page-size=4096",
      "--hash-style=gnu", "--build-id=none", "--threads=1",
      "-Bsymbolic",       "--gc-sections",   "-o",
      output.c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  llvm::raw_string_ostream stream(error);
  // lld keeps its state in globals.
  static std::mutex linking;
  std::lock_guard<std::mutex> lock(linking);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  return lld::lldMain(arguments, stream, stream, drivers).retCode == 0;
}

bool findEntries(std::span<const CompiledObject> objects, const std::vector<char> &elf,
                 std::vector<EntryOffset> &entries, std::string &error) {
  using File = llvm::object::ELF64LEFile;
  auto fail = [&](llvm::Error e) {
    error = llvm::toString(std::move(e));
    return false;
  };
  auto file = File::create(llvm::StringRef(elf.data(), elf.size()));
  if (!file)
    return fail(file.takeError());
  auto sections = file->sections();
  if (!sections)
    return fail(sections.takeError());
  std::vector<std::pair<std::string, uint64_t>> found;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    auto symbols = file->symbols(&section);
    auto names = file->getStringTableForSymtab(section);
    if (!symbols || !names)
      return fail(symbols ? names.takeError() : symbols.takeError());
    for (const auto &symbol : *symbols)
      if (auto name = symbol.getName(*names))
        found.emplace_back(name->str(), symbol.st_value);
  }
  auto headers = file->program_headers();
  if (!headers)
    return fail(headers.takeError());
  for (const CompiledObject &object : objects) {
    auto symbol = llvm::find_if(found, [&](auto &pair) { return pair.first == object.symbol; });
    if (symbol == found.end()) {
      error = "the linked image lacks '" + object.symbol + "'";
      return false;
    }
    for (const auto &header : *headers)
      if (header.p_type == llvm::ELF::PT_LOAD && symbol->second >= header.p_vaddr &&
          symbol->second < header.p_vaddr + header.p_filesz)
        entries.push_back(
            {object.symbol, symbol->second - header.p_vaddr + header.p_offset, symbol->second});
  }
  return true;
}

} // namespace

bool linkImage(std::span<const CompiledObject> objects, CpuLevel level, std::vector<char> &elf,
               std::vector<EntryOffset> &entries, Diagnostics &diagnostics) {
  std::string reason;
  auto fail = [&](const std::string &what) {
    diagnostics.error(SourceLocation(),
                      "linking the " + std::string(toString(level)) + " image failed: " + what);
    return false;
  };
  LinkFolder folder;
  if (!folder.valid)
    return fail("no temporary folder can be created");
  std::vector<std::string> inputs;
  for (const CompiledObject &object : objects) {
    inputs.push_back(folder.file(std::to_string(inputs.size()) + ".o"));
    if (!writeFile(inputs.back(), object.object))
      return fail("cannot write '" + inputs.back() + "'");
  }
  std::string output = folder.file("image.elf");
  if (!runLinker(inputs, output, reason))
    return fail(reason);
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("cannot read '" + output + "'");
  elf.assign((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  entries.clear();
  return findEntries(objects, elf, entries, reason) || fail(reason);
}

} // namespace pellucid::codegen
