// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/LinkImage.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>

LLD_HAS_DRIVER(elf)

namespace pellucid::codegen {

namespace {

// lld reads and writes files only, and a process that is killed while it links must leave none
// behind: the objects lie in a file without a name, the image comes through a pipe, which lld
// writes in one go where it would set a temporary file beside a regular one.

std::string nameInFileTable(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

class ObjectFile {
public:
  explicit ObjectFile(const std::string &bytes) : fd(::memfd_create("objects", MFD_CLOEXEC)) {
    for (size_t at = 0; fd >= 0 && at < bytes.size();) {
      ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
      if (n < 0 && errno != EINTR)
        ::close(std::exchange(fd, -1));
      at += n < 0 ? 0 : static_cast<size_t>(n);
    }
  }
  ~ObjectFile() {
    if (fd >= 0)
      ::close(fd);
  }
  ObjectFile(const ObjectFile &) = delete;
  ObjectFile &operator=(const ObjectFile &) = delete;

  bool isWritten() const { return fd >= 0; }
  std::string path() const { return nameInFileTable(fd); }

private:
  int fd;
};

class ImagePipe {
public:
  explicit ImagePipe(std::vector<char> &image) : image(image) {
    if (::pipe2(ends, O_CLOEXEC) == 0)
      reader = std::thread([this] { readToEnd(); });
  }
  ~ImagePipe() {
    finish();
    if (ends[0] >= 0)
      ::close(ends[0]);
  }
  ImagePipe(const ImagePipe &) = delete;
  ImagePipe &operator=(const ImagePipe &) = delete;

  bool isOpen() const { return ends[0] >= 0; }
  std::string path() const { return nameInFileTable(ends[1]); }
  /// After it the image is whole.
  void finish() {
    if (ends[1] >= 0)
      ::close(std::exchange(ends[1], -1));
    if (reader.joinable())
      reader.join();
  }

private:
  std::vector<char> &image;
  int ends[2] = {-1, -1};
  std::thread reader;

  void readToEnd() {
    image.clear();
    char block[1 << 16];
    for (ssize_t n; (n = ::read(ends[0], block, sizeof block)) != 0;) {
      if (n < 0 && errno != EINTR)
        return;
      if (n > 0)
        image.insert(image.end(), block, block + n);
    }
  }
};

/// The objects as one `ar` archive: a process may have fewer files open than a model has kernels.
std::string archiveOf(std::span<const CompiledObject> objects) {
  std::string text = "!<arch>\n";
  for (const CompiledObject &object : objects) {
    char header[61];
    std::snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", "object.o/", 0, 0, 0,
                  "644", object.object.size());
    text += header;
    text.append(object.object.begin(), object.object.end());
    if (text.size() % 2)
      text += '\n';
  }
  return text;
}

bool runLinker(const std::string &archive, const std::string &output, std::string &error) {
  std::vector<const char *> arguments = {
      "ld.lld",           "-shared",         "--no-undefined",
      "-znorelro",        "-zrodynamic",     "-zseparate-code",
      "-znognustack",     "-ztext",          "-zmax-page-size=4096",
      "--hash-style=gnu", "--build-id=none", "--threads=1",
      "-Bsymbolic",       "--gc-sections",   "-o",
      output.c_str(),     "--whole-archive", archive.c_str()};
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
    diagnostics.error(SourceLocation("code generation"),
                      "linking the " + std::string(toString(level)) + " image failed: " + what);
    return false;
  };
  ObjectFile archive(archiveOf(objects));
  ImagePipe output(elf);
  if (!archive.isWritten() || !output.isOpen())
    return fail(std::string("its files cannot be made: ") + std::strerror(errno));
  bool linked = runLinker(archive.path(), output.path(), reason);
  output.finish();
  if (!linked)
    return fail(reason);
  entries.clear();
  return findEntries(objects, elf, entries, reason) || fail(reason);
}

} // namespace pellucid::codegen
