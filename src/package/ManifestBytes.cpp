// SPDX-License-Identifier: Apache-2.0
#include "package/ManifestBytes.h"

#include "package/ManifestFields.h"

#include <concepts>
#include <cstring>
#include <type_traits>

namespace pellucid::package {

static constexpr char magic[8] = {'P', 'E', 'L', 'L', 'U', 'C', 'I', 'D'};

/// The last value of each enum: a reader refuses what lies beyond.
static constexpr uint8_t lastOf(DataType) { return uint8_t(DataType::Float8E5M2FNUZ); }
static constexpr uint8_t lastOf(SymbolSource) { return uint8_t(SymbolSource::Step); }
static constexpr uint8_t lastOf(MessageKind) { return uint8_t(MessageKind::Print); }
static constexpr uint8_t lastOf(CodeFormat) { return uint8_t(CodeFormat::GenerationPtx); }
static constexpr uint8_t lastOf(PlaceKind) { return uint8_t(PlaceKind::Window); }
static constexpr uint8_t lastOf(Target::Kind) { return uint8_t(Target::Kind::Cuda); }
static constexpr uint8_t lastOf(CpuLevel) { return uint8_t(allCpuLevels.back()); }

namespace {
template <typename T>
concept Number = std::integral<T> && !std::same_as<T, bool>;

class Writer {
public:
  std::vector<uint8_t> out;

  void operator()(const auto &...values) { (write(values), ...); }

private:
  void write(Number auto value) {
    for (size_t i = 0; i < sizeof(value); ++i)
      out.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  }
  void write(bool value) { out.push_back(value); }
  template <typename T>
    requires std::is_enum_v<T>
  void write(T value) {
    out.push_back(static_cast<uint8_t>(value));
  }
  void write(const std::string &text) {
    write(static_cast<uint32_t>(text.size()));
    out.insert(out.end(), text.begin(), text.end());
  }
  template <typename T> void write(const std::vector<T> &list) {
    write(static_cast<uint32_t>(list.size()));
    for (const T &item : list)
      write(item);
  }
  template <typename... Ts> void write(const std::variant<Ts...> &value) {
    out.push_back(static_cast<uint8_t>(value.index()));
    std::visit([this](const auto &held) { this->write(held); }, value);
  }
  template <typename T>
    requires std::is_class_v<T>
  void write(const T &value) {
    ManifestFields<Writer>{*this}.fields(value, static_cast<const T *>(nullptr));
  }
};

/// After the first thing that does not fit, reads nothing more and `failed` stays true.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : rest(bytes) {}
  bool failed = false;

  bool atEnd() const { return rest.empty(); }
  void operator()(auto &...values) { (read(values), ...); }

private:
  std::span<const uint8_t> rest;

  bool take(size_t size, const uint8_t *&data) {
    if (failed || rest.size() < size) {
      failed = true;
      return false;
    }
    data = rest.data();
    rest = rest.subspan(size);
    return true;
  }
  void read(Number auto &value) {
    const uint8_t *data;
    if (take(sizeof(value), data))
      std::memcpy(&value, data, sizeof(value));
  }
  void read(bool &value) {
    uint8_t byte = 0;
    read(byte);
    failed |= byte > 1;
    value = byte == 1;
  }
  template <typename T>
    requires std::is_enum_v<T>
  void read(T &value) {
    uint8_t byte = 0;
    read(byte);
    failed |= byte > lastOf(T());
    value = failed ? T() : static_cast<T>(byte);
  }
  /// Every item takes a byte at least, so that a wrong count cannot make the lists larger than the
  /// bytes.
  uint32_t readCount() {
    uint32_t count = 0;
    read(count);
    failed |= count > rest.size();
    return failed ? 0 : count;
  }
  void read(std::string &text) {
    uint32_t count = readCount();
    const uint8_t *data;
    if (take(count, data))
      text.assign(reinterpret_cast<const char *>(data), count);
  }
  template <typename T> void read(std::vector<T> &list) {
    uint32_t count = readCount();
    list.clear();
    for (uint32_t i = 0; i < count && !failed; ++i)
      read(list.emplace_back());
  }
  template <typename T, typename... Ts> void readAlternative(std::variant<Ts...> &value) {
    T held;
    read(held);
    value = std::move(held);
  }
  template <typename... Ts> void read(std::variant<Ts...> &value) {
    uint8_t index = 0;
    read(index);
    failed |= index >= sizeof...(Ts);
    if (failed)
      return;
    using Alternative = void (Reader::*)(std::variant<Ts...> &);
    static constexpr Alternative alternatives[] = {&Reader::readAlternative<Ts, Ts...>...};
    (this->*alternatives[index])(value);
  }
  template <typename T>
    requires std::is_class_v<T>
  void read(T &value) {
    ManifestFields<Reader>{*this}.fields(value, static_cast<const T *>(nullptr));
  }
};
} // namespace

std::vector<uint8_t> writeManifest(const Manifest &manifest) {
  Writer writer;
  for (char c : magic)
    writer.out.push_back(static_cast<uint8_t>(c));
  writer(formatVersion, abiVersion, manifest);
  return std::move(writer.out);
}

static Status checkVersion(const char *what, uint32_t found, uint32_t known) {
  if (found <= known && found > 0)
    return {};
  return Status::error(std::string("the package has ") + what + " version " +
                       std::to_string(found) + ", this run time loads up to version " +
                       std::to_string(known));
}

Status checkManifestHeader(std::span<const uint8_t> bytes) {
  if (bytes.size() < manifestHeaderBytes || std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return Status::error("its manifest does not begin with 'PELLUCID'");
  uint32_t versions[2];
  std::memcpy(versions, bytes.data() + sizeof(magic), sizeof(versions));
  if (Status status = checkVersion("format", versions[0], formatVersion); !status.ok())
    return status;
  return checkVersion("ABI", versions[1], abiVersion);
}

Status readManifest(std::span<const uint8_t> bytes, Manifest &manifest) {
  if (Status status = checkManifestHeader(bytes); !status.ok())
    return status;
  Reader reader(bytes.subspan(manifestHeaderBytes));
  reader(manifest);
  if (reader.failed)
    return Status::error("its manifest is cut off or holds a value out of range");
  if (!reader.atEnd())
    return Status::error("its manifest has bytes after its end");
  return {};
}

} // namespace pellucid::package
