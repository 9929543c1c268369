// SPDX-License-Identifier: Apache-2.0
#include "graph/ProgramFile.h"
#include "graph/ProgramText.h"
#include "package/FileKind.h"
#include "package/MappedFile.h"
#include "package/Npy.h"
#include "package/Safetensors.h"
#include "support/Diagnostics.h"
#include "support/OutputFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace pellucid::graph {

using package::MappedFile;
using package::Status;
using package::TensorEntry;

static constexpr size_t pageSize = 4096;
static constexpr std::string_view textEnd = "\nend\n", weightsMarker = "weights\n";

[[noreturn]] static void fail(const std::string &path, const std::string &message) {
  throw DiagnosticError(SourceLocation(path), message);
}

static std::shared_ptr<const MappedFile> map(const std::string &path) {
  Status status;
  std::shared_ptr<const MappedFile> file = MappedFile::open(path, status);
  if (!file)
    fail(path, status.message());
  return file;
}

bool isProgramFile(std::string_view start) { return start.starts_with(package::programMarker); }

//===-- Saving --------------------------------------------------------------------------------===//

/// One entry per storage: tied weights are written once, under the first name.
static std::vector<TensorEntry> carriedEntries(const Program &program, const std::string &path) {
  std::vector<TensorEntry> entries;
  std::set<std::pair<const std::byte *, uint64_t>> seen;
  for (const auto &[name, w] : program.weights) {
    if (w.source == Weight::Source::Referenced)
      continue;
    if (!w.data && w.bytes)
      fail(path, "weight '" + name + "' has no data to carry");
    if (w.data && !seen.emplace(w.data.get(), w.bytes).second)
      continue;
    entries.push_back({name, w.dtype, w.shape, 0, w.bytes, false, nullptr});
  }
  return entries;
}

void saveProgram(const Program &program, const std::string &path) {
  std::vector<TensorEntry> entries = carriedEntries(program, path);
  std::string text = printProgram(program);
  OutputFile file(path);
  file.append(text.data(), text.size());
  if (!entries.empty()) {
    file.append(weightsMarker.data(), weightsMarker.size());
    static constexpr char zeros[pageSize] = {};
    file.append(zeros, (pageSize - file.size() % pageSize) % pageSize);
    std::vector<uint8_t> header = package::safetensorsHeader(entries);
    file.append(header.data(), header.size());
    for (const TensorEntry &entry : entries)
      file.append(program.weights.at(entry.name).data.get(), entry.bytes);
  }
  if (!file.commit())
    fail(path, file.error());
}

//===-- Loading -------------------------------------------------------------------------------===//

static std::shared_ptr<const std::byte> pointInto(std::shared_ptr<const MappedFile> file,
                                                  uint64_t offset) {
  const uint8_t *start = file->bytes().data() + offset;
  return {std::move(file), reinterpret_cast<const std::byte *>(start)};
}

/// Gives `w` its bytes, checking that the file holds what the program says.
static void attach(Weight &w, const std::string &name, const TensorEntry *entry,
                   std::shared_ptr<const MappedFile> file, uint64_t base, const std::string &path) {
  if (!entry)
    fail(path, "there is no tensor '" + name + "'");
  if (entry->dtype != w.dtype || entry->shape != w.shape)
    fail(path, "tensor '" + name + "' has another dtype or shape than the program says");
  if (entry->fortranOrder && entry->shape.size() > 1)
    fail(path, "tensor '" + name + "' is in Fortran order; save it in C order");
  w.data = entry->inflated
               ? std::shared_ptr<const std::byte>(
                     entry->inflated,
                     reinterpret_cast<const std::byte *>(entry->inflated->data() + entry->offset))
               : pointInto(std::move(file), base + entry->offset);
  w.bytes = entry->bytes;
}

static const TensorEntry *findEntry(const std::vector<TensorEntry> &entries,
                                    const std::string &name) {
  for (const TensorEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

/// What to give instead of a file that holds no tensors that are read here.
static std::string weightsInsteadOf(package::FileKind kind) {
  switch (kind) {
  case package::FileKind::TorchArchive:
    return ", a pickle, which is not read: it can run any code; save the state_dict with "
           "safetensors.torch.save_file, or numpy.savez";
  case package::FileKind::Npy:
    return ", which has one array without a name; weights are a .safetensors or .npz file";
  case package::FileKind::Package:
  case package::FileKind::Program:
  case package::FileKind::Elf:
  case package::FileKind::Text:
  case package::FileKind::Empty:
    return "; weights are a .safetensors or .npz file, or a .safetensors.index.json";
  default:
    return "";
  }
}

static std::vector<TensorEntry> readEntries(std::span<const uint8_t> bytes,
                                            const std::string &path) {
  std::vector<TensorEntry> entries;
  package::FileKind kind = package::fileKind(bytes);
  if (std::string instead = weightsInsteadOf(kind); !instead.empty())
    fail(path, "is " + std::string(toString(kind)) + instead);
  // torch.save before 1.6, and pickle itself: a protocol's number, then opcodes.
  if (bytes.size() > 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5 &&
      kind == package::FileKind::Binary)
    fail(path, "is a pickle (an older torch.save)" +
                   weightsInsteadOf(package::FileKind::TorchArchive).substr(10));
  bool zip = bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] == 'K';
  Status status = zip ? package::readNpz(bytes, entries) : package::readSafetensors(bytes, entries);
  if (!status.ok())
    fail(path, status.message());
  return entries;
}

static std::map<std::string, Weight> loadTensors(const std::string &path,
                                                 std::shared_ptr<const MappedFile> file) {
  std::map<std::string, Weight> weights;
  for (const TensorEntry &entry : readEntries(file->bytes(), path)) {
    Weight w;
    w.dtype = entry.dtype;
    w.shape = entry.shape;
    // What was inflated is carried: the file does not hold it as it is.
    w.source = entry.inflated ? Weight::Source::Carried : Weight::Source::Referenced;
    w.path = path;
    attach(w, entry.name, &entry, file, 0, path);
    weights.emplace(entry.name, std::move(w));
  }
  return weights;
}

/// Weights in several files, by the index that says which file holds which tensor.
static std::map<std::string, Weight> loadShards(const std::string &path, std::string_view text) {
  std::map<std::string, std::string> files;
  if (Status s = package::readWeightIndex(text, files); !s.ok())
    fail(path, s.message());
  std::map<std::string, std::map<std::string, Weight>> shards;
  std::map<std::string, Weight> weights;
  for (const auto &[name, file] : files) {
    auto [shard, isNew] = shards.try_emplace(file);
    if (isNew) {
      std::string full = (std::filesystem::path(path).parent_path() / file).string();
      if (std::error_code error; !std::filesystem::exists(full, error))
        fail(path, "names '" + file + "', which is not beside it");
      shard->second = loadTensors(full, map(full));
    }
    auto found = shard->second.find(name);
    if (found == shard->second.end())
      fail(path, "says that '" + file + "' holds the tensor '" + name + "', which it does not");
    weights.emplace(name, found->second);
  }
  return weights;
}

std::map<std::string, Weight> loadWeights(const std::string &path) {
  std::shared_ptr<const MappedFile> file = map(path);
  std::string_view text(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size());
  size_t first = text.find_first_not_of(" \t\r\n");
  bool isIndex = first != std::string_view::npos && text[first] == '{' &&
                 package::fileKind(file->bytes()) == package::FileKind::Text;
  return isIndex ? loadShards(path, text) : loadTensors(path, file);
}

static void attachCarried(Program &program, std::shared_ptr<const MappedFile> file, size_t textSize,
                          const std::string &path) {
  size_t base = (textSize + weightsMarker.size() + pageSize - 1) / pageSize * pageSize;
  std::span<const uint8_t> bytes = file->bytes();
  std::vector<TensorEntry> entries;
  bool marked = bytes.size() >= base && std::memcmp(bytes.data() + textSize, weightsMarker.data(),
                                                    weightsMarker.size()) == 0;
  if (marked)
    if (Status s = package::readSafetensors(bytes.subspan(base), entries); !s.ok())
      fail(path, "the program's weights: " + s.message());
  for (auto &[name, w] : program.weights)
    if (w.source == Weight::Source::Carried) {
      // A tied weight names the one whose bytes it shares.
      std::string owner = w.member.empty() ? name : w.member;
      w.member.clear();
      attach(w, owner, findEntry(entries, owner), file, base, path);
    }
}

static void attachReferenced(Program &program, const std::string &path) {
  std::map<std::string, std::pair<std::shared_ptr<const MappedFile>, std::vector<TensorEntry>>>
      files;
  for (auto &[name, w] : program.weights) {
    if (w.source != Weight::Source::Referenced)
      continue;
    std::string full = (std::filesystem::path(path).parent_path() / w.path).string();
    auto [it, first] = files.try_emplace(full);
    if (first) {
      it->second.first = map(full);
      it->second.second = readEntries(it->second.first->bytes(), full);
    }
    const std::string &member = w.member.empty() ? name : w.member;
    attach(w, member, findEntry(it->second.second, member), it->second.first, 0, full);
  }
}

/// What to give instead of a file of that kind.
static std::string insteadOf(package::FileKind kind) {
  switch (kind) {
  case package::FileKind::Package:
    return "; it is compiled already: 'pellucid run' and 'inspect' take it";
  case package::FileKind::Text:
    return "; Python source is named FILE.py:CLASS or FILE.py:FUNCTION";
  case package::FileKind::TorchArchive:
    return "; verbs that take a model read it if torch.export.save made it";
  default:
    return "";
  }
}

Program loadProgram(const std::string &path) {
  std::shared_ptr<const MappedFile> file = map(path);
  std::string_view all(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size());
  if (!isProgramFile(all)) {
    package::FileKind kind = package::fileKind(file->bytes());
    fail(path, "expects a saved program, got " + std::string(toString(kind)) + insteadOf(kind));
  }
  // Lines of kernels begin with a mark and strings have no line ends, so the first `end` line is
  // the text's.
  size_t end = all.find(textEnd);
  size_t textSize = end == std::string_view::npos ? all.size() : end + textEnd.size();
  Program program =
      parseProgram(std::make_shared<SourceFile>(path, std::string(all.substr(0, textSize))));
  attachCarried(program, file, textSize, path);
  attachReferenced(program, path);
  return program;
}

} // namespace pellucid::graph
