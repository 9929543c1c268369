// SPDX-License-Identifier: Apache-2.0
#include "package/Safetensors.h"
#include "package/JsonWriter.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

namespace pellucid::package {

namespace {
constexpr std::pair<DataType, std::string_view> names[] = {
    {DataType::Bool, "BOOL"},
    {DataType::Int8, "I8"},
    {DataType::Int16, "I16"},
    {DataType::Int32, "I32"},
    {DataType::Int64, "I64"},
    {DataType::UInt8, "U8"},
    {DataType::UInt16, "U16"},
    {DataType::UInt32, "U32"},
    {DataType::UInt64, "U64"},
    {DataType::Float16, "F16"},
    {DataType::BFloat16, "BF16"},
    {DataType::Float32, "F32"},
    {DataType::Float64, "F64"},
    {DataType::Float8E4M3FN, "F8_E4M3"},
    {DataType::Float8E5M2, "F8_E5M2"},
    {DataType::Float8E4M3FNUZ, "F8_E4M3FNUZ"},
    {DataType::Float8E5M2FNUZ, "F8_E5M2FNUZ"},
};

/// The JSON of a header: objects of strings, integers and arrays of integers; anything else is an
/// error or, inside
/// `__metadata__`, a string.
class HeaderReader {
public:
  HeaderReader(std::string_view text, uint64_t dataStart, uint64_t fileSize)
      : text(text), dataStart(dataStart), dataSize(fileSize - dataStart) {}

  Status read(std::vector<TensorEntry> &entries, TensorMetadata &metadata) {
    std::set<std::string> seen;
    bool good = members([&](std::string key) {
      if (key == "__metadata__")
        return members([&](std::string name) {
          std::string value;
          return string(value) &&
                 (metadata.insert_or_assign(std::move(name), std::move(value)), true);
        });
      TensorEntry entry;
      entry.name = std::move(key);
      if (!seen.insert(entry.name).second)
        return fail("tensor '" + entry.name + "' is there twice");
      if (!tensor(entry))
        return false;
      entries.push_back(std::move(entry));
      return true;
    });
    skip();
    if (good && at != text.size())
      good = fail("characters after the header's object");
    good = good && areApart(entries);
    return good ? Status()
                : Status::error(
                      "not a safetensors file: " +
                      (error.empty() ? "bad header at byte " + std::to_string(at + 8) : error));
  }

  /// The `weight_map` of the index beside a checkpoint in several files: tensor to file.
  Status readIndex(std::map<std::string, std::string> &files) {
    bool seen = false;
    bool good = members([&](const std::string &key) {
      if (key != "weight_map")
        return value(0);
      seen = true;
      return members([&](std::string name) {
        std::string file;
        return string(file) && (files.insert_or_assign(std::move(name), std::move(file)), true);
      });
    });
    skip();
    if (good && seen && at == text.size())
      return {};
    return Status::error(
        good && at == text.size()
            ? "the JSON has no \"weight_map\"; an index of weights in several files does"
            : "not the index of weights in several files: bad JSON at byte " + std::to_string(at));
  }

private:
  /// Any JSON value, passed over.
  bool value(int depth) {
    skip();
    if (depth > 64 || at >= text.size())
      return false;
    if (text[at] == '"') {
      std::string passed;
      return string(passed);
    }
    if (text[at] == '{')
      return members([&](const std::string &) { return value(depth + 1); });
    if (accept('[')) {
      if (accept(']'))
        return true;
      do
        if (!value(depth + 1))
          return false;
      while (accept(','));
      return accept(']');
    }
    size_t begin = at;
    while (at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '-' ||
                                text[at] == '+' || text[at] == '.'))
      ++at;
    return at > begin;
  }

  bool fail(std::string message) {
    if (error.empty())
      error = std::move(message);
    return false;
  }
  void skip() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  template <typename F> bool members(F &&member) {
    if (!accept('{'))
      return false;
    if (accept('}'))
      return true;
    do {
      std::string key;
      if (!string(key) || !accept(':') || !member(std::move(key)))
        return false;
    } while (accept(','));
    return accept('}');
  }

  bool string(std::string &out) {
    if (!accept('"'))
      return false;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (static_cast<unsigned char>(text[at]) < 0x20)
        return false;
      if (text[at] != '\\') {
        out += text[at];
        continue;
      }
      if (++at >= text.size() || !escape(out))
        return false;
    }
    return accept('"');
  }

  bool escape(std::string &out) {
    static constexpr std::string_view plain = "\"\\/bfnrt", meaning = "\"\\/\b\f\n\r\t";
    if (size_t i = plain.find(text[at]); i != std::string_view::npos) {
      out += meaning[i];
      return true;
    }
    uint32_t code = 0;
    if (text[at] != 'u' || text.size() - at < 5)
      return false;
    auto [end, problem] = std::from_chars(text.data() + at + 1, text.data() + at + 5, code, 16);
    if (problem != std::errc() || end != text.data() + at + 5)
      return false;
    if (code >= 0xd800 && code < 0xe000)
      return fail("a name with a surrogate escape");
    at += 4;
    if (code < 0x80)
      out += static_cast<char>(code);
    else if (code < 0x800)
      (out += static_cast<char>(0xc0 | code >> 6)) += static_cast<char>(0x80 | (code & 63));
    else
      ((out += static_cast<char>(0xe0 | code >> 12)) +=
       static_cast<char>(0x80 | (code >> 6 & 63))) += static_cast<char>(0x80 | (code & 63));
    return true;
  }

  bool integers(std::vector<int64_t> &out) {
    if (!accept('['))
      return false;
    if (accept(']'))
      return true;
    do {
      skip();
      int64_t value = 0;
      auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (problem != std::errc() || value < 0)
        return false;
      at = static_cast<size_t>(end - text.data());
      out.push_back(value);
    } while (accept(','));
    return accept(']');
  }

  bool dtype(TensorEntry &entry) {
    std::string spelling;
    if (!string(spelling))
      return false;
    for (auto [type, name] : names)
      if (name == spelling) {
        entry.dtype = type;
        return true;
      }
    return fail("tensor '" + entry.name + "' has the unknown dtype " + spelling);
  }

  bool tensor(TensorEntry &entry) {
    std::vector<int64_t> offsets;
    int seen = 0;
    bool good = members([&](const std::string &key) {
      if (key == "dtype")
        return (seen |= 1, dtype(entry));
      if (key == "shape")
        return (seen |= 2, entry.shape.clear(), integers(entry.shape));
      if (key == "data_offsets")
        return (seen |= 4, offsets.clear(), integers(offsets));
      return fail("tensor '" + entry.name + "' has the unknown field " + key);
    });
    if (!good)
      return false;
    if (seen != 7 || offsets.size() != 2)
      return fail("tensor '" + entry.name + "' lacks dtype, shape or data_offsets");
    uint64_t begin = static_cast<uint64_t>(offsets[0]), end = static_cast<uint64_t>(offsets[1]);
    if (begin > end || end > dataSize)
      return fail("tensor '" + entry.name + "' lies at " + std::to_string(begin) + ".." +
                  std::to_string(end) + " of " + std::to_string(dataSize) + " bytes");
    if (denseBytes(entry.dtype, entry.shape) != end - begin)
      return fail("tensor '" + entry.name + "' has " + std::to_string(end - begin) +
                  " bytes, which is not what its shape and dtype need");
    entry.offset = dataStart + begin;
    entry.bytes = end - begin;
    return true;
  }

  bool areApart(const std::vector<TensorEntry> &entries) {
    std::vector<const TensorEntry *> byOffset;
    for (const TensorEntry &entry : entries)
      if (entry.bytes > 0)
        byOffset.push_back(&entry);
    std::sort(byOffset.begin(), byOffset.end(),
              [](const auto *a, const auto *b) { return a->offset < b->offset; });
    for (size_t i = 1; i < byOffset.size(); ++i)
      if (byOffset[i]->offset < byOffset[i - 1]->offset + byOffset[i - 1]->bytes)
        return fail("tensors '" + byOffset[i - 1]->name + "' and '" + byOffset[i]->name +
                    "' overlap");
    return true;
  }

  std::string_view text;
  uint64_t dataStart, dataSize;
  size_t at = 0;
  std::string error;
};
} // namespace

Status readWeightIndex(std::string_view text, std::map<std::string, std::string> &files) {
  return HeaderReader(text, 0, 0).readIndex(files);
}

Status readSafetensors(std::span<const uint8_t> file, std::vector<TensorEntry> &entries,
                       TensorMetadata *metadata) {
  uint64_t size = 0;
  if (file.size() >= 8)
    std::memcpy(&size, file.data(), 8);
  if (file.size() < 8 || size > file.size() - 8)
    return Status::error("not a safetensors file: a header of " + std::to_string(size) +
                         " bytes in a file of " + std::to_string(file.size()));
  std::string_view text(reinterpret_cast<const char *>(file.data()) + 8, size);
  std::vector<TensorEntry> read;
  TensorMetadata found;
  Status status = HeaderReader(text, size + 8, file.size()).read(read, found);
  if (!status.ok())
    return status;
  entries = std::move(read);
  if (metadata)
    *metadata = std::move(found);
  return {};
}

std::vector<uint8_t> safetensorsHeader(std::vector<TensorEntry> &entries,
                                       const TensorMetadata &metadata) {
  std::sort(entries.begin(), entries.end(), [](const TensorEntry &a, const TensorEntry &b) {
    uint32_t x = byteSize(a.dtype), y = byteSize(b.dtype);
    return x != y ? x > y : a.name < b.name;
  });
  JsonWriter json;
  json.beginObject();
  if (!metadata.empty()) {
    json.key("__metadata__").beginObject();
    for (const auto &[name, value] : metadata)
      json.field(name, value);
    json.endObject();
  }
  uint64_t at = 0;
  for (TensorEntry &entry : entries) {
    json.key(entry.name).beginObject();
    for (auto [type, name] : names)
      if (type == entry.dtype)
        json.field("dtype", name);
    json.key("shape").beginArray();
    for (int64_t dim : entry.shape)
      json.value(dim);
    json.endArray()
        .key("data_offsets")
        .beginArray()
        .value(at)
        .value(at + entry.bytes)
        .endArray()
        .endObject();
    entry.offset = at;
    at += entry.bytes;
  }
  json.endObject();
  std::string text = json.take();
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  for (TensorEntry &entry : entries)
    entry.offset += text.size() + 8;
  std::vector<uint8_t> header(8 + text.size());
  uint64_t size = text.size();
  std::memcpy(header.data(), &size, 8);
  std::memcpy(header.data() + 8, text.data(), text.size());
  return header;
}

} // namespace pellucid::package
