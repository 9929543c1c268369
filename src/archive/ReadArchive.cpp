// SPDX-License-Identifier: Apache-2.0
#include "archive/Archive.h"
#include "archive/CheckTensor.h"
#include "archive/Json.h"
#include "archive/ReadGraph.h"
#include "archive/Records.h"
#include "archive/TorchSave.h"
#include "package/MappedFile.h"
#include "support/Diagnostics.h"
#include "support/Printable.h"

namespace pellucid::archive {

using package::Status;

namespace {

using Tensors = std::map<std::string, Tensor>;

class ArchiveReader {
public:
  ArchiveReader(std::span<const uint8_t> b, std::shared_ptr<const void> o, const std::string &path)
      : bytes(b), owner(std::move(o)) {
    archive.path = path;
  }

  Archive read() {
    check(records.read(bytes));
    // The folder of records came with torch 2.8.
    if (records.find("archive_format"))
      readFolder();
    else if (records.find(oldProgram))
      readOld();
    else if (records.find("data.pkl"))
      fail("is of torch.save, not of torch.export.save: it holds no graph; name the model's Python "
           "source, FILE.py:CLASS");
    else
      fail("is not an archive of torch.export.save");
    return std::move(archive);
  }

private:
  static constexpr const char *oldProgram = "serialized_exported_program.json";

  [[noreturn]] void fail(const std::string &message) const {
    throw DiagnosticError(SourceLocation(archive.path), printable(message));
  }
  void check(const Status &status) const {
    if (!status.ok())
      fail(status.message());
  }

  std::string_view textRecord(const std::string &name) const {
    std::span<const uint8_t> record;
    check(records.take(name, record));
    return {reinterpret_cast<const char *>(record.data()), record.size()};
  }
  void readJson(const std::string &name, JsonDocument &document) const {
    if (Status s = document.read(textRecord(name)); !s.ok())
      fail("record '" + name + "' is not JSON: " + s.message());
  }
  /// Runs `body`, whose complaints are about this record.
  void about(const std::string &name, auto body) const {
    try {
      body();
    } catch (const SchemaError &error) {
      fail("record '" + name + "' " + error.what());
    } catch (const std::overflow_error &error) {
      fail("record '" + name + "' has sizes that go beyond 64 bits");
    }
  }

  void readProgram(const std::string &name) {
    JsonDocument document;
    readJson(name, document);
    about(name, [&] { readExportedProgram(document.root(), archive); });
  }

  // --- torch 2.8 and later

  void readFolder() {
    if (textRecord("archive_format") != "pt2")
      fail("is an archive of the format '" + std::string(textRecord("archive_format")) +
           "'; 'pt2' is read");
    if (textRecord("archive_version") != "0")
      fail("is an archive of version " + std::string(textRecord("archive_version")) +
           "; version 0 is read, which PyTorch up to 2.15 writes");
    if (records.find("byteorder") && textRecord("byteorder") != "little")
      fail("holds big-endian numbers; export it on a little-endian machine");
    std::string model = modelName();
    if (records.find("extra/pellucid.program")) {
      archive.ownProgram = textRecord("extra/pellucid.program");
      archive.graphText = textRecord("models/" + model + ".json");
      archive.owner = owner;
    } else
      readProgram("models/" + model + ".json");
    archive.weights = readPayload("data/weights/", model, "_weights_config.json");
    archive.constants = readPayload("data/constants/", model, "_constants_config.json");
  }

  std::string modelName() const {
    std::vector<std::string> names;
    for (const auto &[name, record] : records.all())
      if (name.starts_with("models/") && name.ends_with(".json"))
        names.push_back(name.substr(7, name.size() - 12));
    if (names.empty()) {
      bool isCompiled = false;
      for (const auto &[name, record] : records.all())
        isCompiled |= name.starts_with("data/aotinductor/");
      fail(isCompiled ? "is compiled by AOTInductor: it holds machine code for PyTorch, and no "
                        "graph; save the exported program with torch.export.save"
                      : "holds no exported program");
    }
    if (names.size() > 1)
      fail("holds " + std::to_string(names.size()) + " models, '" + names[0] + "' and '" +
           names[1] + "' among them; one is taken");
    return names[0];
  }

  Tensors readPayload(const std::string &folder, const std::string &model, const char *config) {
    // Before torch 2.9 a pickle held them all.
    if (std::string old = folder + model + ".pt"; records.find(old))
      return readPickled(old);
    Tensors tensors;
    std::string name = folder + model + config;
    if (!records.find(name))
      return tensors;
    JsonDocument document;
    readJson(name, document);
    JsonValue entries = document.root().member("config");
    about(name, [&] {
      for (size_t i = 0; i < entries.size(); ++i)
        readTensor(folder, std::string(entries.key(i)), entries.at(i), tensors);
    });
    return tensors;
  }

  void readTensor(const std::string &folder, const std::string &name, JsonValue entry,
                  Tensors &tensors) {
    std::string record = folder + std::string(entry.member("path_name").string());
    if (entry.member("use_pickle").boolean() || !entry.member("tensor_meta").isObject()) {
      // It matters only where the graph uses it.
      return;
    }
    Tensor tensor = readTensorMeta(entry.member("tensor_meta"));
    std::span<const uint8_t> content = payload(record);
    tensor.storage = {owner, reinterpret_cast<const std::byte *>(content.data())};
    tensor.bytes = content.size();
    if (Status s = checkTensor(tensor); !s.ok())
      throw SchemaError("describes a tensor '" + name + "' that " + s.message());
    tensors.emplace(name, std::move(tensor));
  }

  /// A record of raw bytes; tied tensors ask for it again and again.
  std::span<const uint8_t> payload(const std::string &name) {
    auto [entry, isNew] = payloads.try_emplace(name);
    if (isNew)
      check(records.take(name, entry->second));
    return entry->second;
  }

  // --- torch 2.6 and 2.7

  void readOld() {
    std::string version(textRecord("version"));
    if (!version.starts_with("8."))
      fail("is of schema " + version +
           "; schema 8 is read, which PyTorch 2.6 to 2.15 write: "
           "export it again with one of those");
    readProgram(oldProgram);
    archive.weights = readPickled("serialized_state_dict.pt");
    archive.constants = readPickled("serialized_constants.pt");
  }

  Tensors readPickled(const std::string &name) {
    std::span<const uint8_t> content;
    check(records.take(name, content));
    Tensors tensors;
    if (content.empty())
      return tensors;
    if (Status s = readTorchSave(content, owner, tensors); !s.ok())
      fail("record '" + name + "': " + s.message());
    return tensors;
  }

  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
  Records records;
  std::map<std::string, std::span<const uint8_t>> payloads;
  Archive archive;
};

} // namespace

Archive readArchive(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                    const std::string &name) {
  return ArchiveReader(bytes, std::move(owner), name).read();
}

Archive readArchive(const std::string &path) {
  Status status;
  std::shared_ptr<const package::MappedFile> file = package::MappedFile::open(path, status);
  if (!file)
    throw DiagnosticError(SourceLocation(path), status.message());
  std::span<const uint8_t> bytes = file->bytes();
  return readArchive(bytes, std::move(file), path);
}

} // namespace pellucid::archive
