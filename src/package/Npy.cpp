// SPDX-License-Identifier: Apache-2.0
#include "package/Npy.h"
#include "package/Inflate.h"
#include "package/ZipMembers.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

namespace pellucid::package {

namespace {
constexpr std::string_view npyMagic = "\x93NUMPY";

/// numpy's letter and size, "f4"; empty for a type that numpy lacks.
std::string_view kindOf(DataType type) {
  std::string_view descr = info(type).numpy;
  return descr.empty() ? descr : descr.substr(1);
}

std::optional<DataType> typeOfKind(std::string_view kind) {
  for (uint8_t i = 0; i <= uint8_t(DataType::Float64); ++i)
    if (!kind.empty() && kindOf(DataType(i)) == kind)
      return DataType(i);
  return std::nullopt;
}

/// The header's Python dict, of which numpy writes exactly three keys.
class DictReader {
public:
  explicit DictReader(std::string_view text) : text(text) {}

  Status read(TensorEntry &entry) {
    int seen = 0;
    if (!accept('{'))
      return bad();
    while (!accept('}')) {
      std::string key;
      if (!string(key) || !accept(':'))
        return bad();
      if (key == "descr") {
        std::string descr;
        if (!string(descr))
          return Status::error("the array's dtype is a structure; plain types only");
        if (Status s = dtype(descr, entry); !s.ok())
          return s;
        seen |= 1;
      } else if (key == "fortran_order" && flag(entry.fortranOrder)) {
        seen |= 2;
      } else if (key == "shape" && tuple(entry.shape)) {
        if (Status s = checkShape(entry.shape); !s.ok())
          return s;
        seen |= 4;
      } else {
        return bad();
      }
      accept(',');
    }
    return seen == 7 ? Status() : bad();
  }

private:
  static Status bad() { return Status::error("the header of the array cannot be read"); }

  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool string(std::string &out) {
    skip();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool flag(bool &out) {
    skip();
    for (std::string_view word : {"True", "False"})
      if (text.substr(at, word.size()) == word) {
        at += word.size();
        out = word == "True";
        return true;
      }
    return false;
  }
  bool tuple(std::vector<int64_t> &out) {
    if (!accept('('))
      return false;
    while (!accept(')')) {
      skip();
      int64_t value = 0;
      auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (problem != std::errc())
        return false;
      at = static_cast<size_t>(end - text.data());
      out.push_back(value);
      accept('L'); // written by numpy under Python 2
      accept(',');
    }
    return true;
  }
  static Status checkShape(const std::vector<int64_t> &shape) {
    if (shape.size() > 64)
      return Status::error("the array has " + std::to_string(shape.size()) + " dims, more than 64");
    for (int64_t dim : shape)
      if (dim < 0)
        return Status::error("the array's shape has a dim of " + std::to_string(dim));
    return {};
  }
  static Status dtype(std::string_view descr, TensorEntry &entry) {
    if (!descr.empty() && descr[0] == '>' && descr.substr(1) != "i1" && descr.substr(1) != "u1")
      return Status::error("the array's dtype " + std::string(descr) +
                           " is big-endian; save it little-endian");
    std::string_view kind = descr.empty() || std::isalpha(static_cast<unsigned char>(descr[0]))
                                ? descr
                                : descr.substr(1);
    if (std::optional<DataType> type = typeOfKind(kind)) {
      entry.dtype = *type;
      return {};
    }
    if (kind == "c8" || kind == "c16")
      return Status::error("the array holds complex numbers, which are given as pairs: save "
                           "numpy.stack([x.real, x.imag], -1) of it");
    return Status::error("the array's dtype " + std::string(descr) +
                         " is not supported; f2, f4, f8, i1 to i8, u1 to u8 and b1 are");
  }

  std::string_view text;
  size_t at = 0;
};

uint32_t littleOf(std::span<const uint8_t> bytes, uint64_t at, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= static_cast<uint32_t>(bytes[at + static_cast<uint64_t>(i)]) << (8 * i);
  return value;
}
} // namespace

Status readNpy(std::span<const uint8_t> file, TensorEntry &entry) {
  std::string_view start(reinterpret_cast<const char *>(file.data()),
                         std::min<size_t>(file.size(), npyMagic.size()));
  if (start != npyMagic || file.size() < 12)
    return Status::error("not a .npy file");
  uint8_t major = file[6];
  if (major < 1 || major > 3)
    return Status::error("the .npy file has version " + std::to_string(major) +
                         ", this reader takes 1 to 3");
  uint64_t prefix = major == 1 ? 10 : 12, size = littleOf(file, 8, major == 1 ? 2 : 4);
  if (size > file.size() - prefix)
    return Status::error("the .npy file is truncated: a header of " + std::to_string(size) +
                         " bytes in a file of " + std::to_string(file.size()));
  TensorEntry read;
  read.name = entry.name;
  if (Status s =
          DictReader({reinterpret_cast<const char *>(file.data()) + prefix, size}).read(read);
      !s.ok())
    return s;
  read.offset = prefix + size;
  std::optional<uint64_t> bytes = denseBytes(read.dtype, read.shape);
  if (!bytes || *bytes > file.size() - read.offset)
    return Status::error("the .npy file is truncated: its shape needs " +
                         (bytes ? std::to_string(*bytes) : "more than 2**63") + " bytes, it has " +
                         std::to_string(file.size() - read.offset));
  read.bytes = *bytes;
  entry = std::move(read);
  return {};
}

std::vector<uint8_t> npyHeader(DataType dtype, const std::vector<int64_t> &shape) {
  static constexpr std::string_view bySize[] = {"", "u1", "u2", "", "u4", "", "", "", "u8"};
  std::string_view kind = kindOf(dtype);
  if (kind.empty())
    kind = bySize[byteSize(dtype)];
  std::string text = "{'descr': '" + std::string(byteSize(dtype) == 1 ? "|" : "<") +
                     std::string(kind) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  text.resize((text.size() + 1 + 10 + 63) / 64 * 64 - 10, ' ');
  text.back() = '\n';
  std::vector<uint8_t> header(npyMagic.begin(), npyMagic.end());
  header.insert(header.end(),
                {1, 0, static_cast<uint8_t>(text.size()), static_cast<uint8_t>(text.size() >> 8)});
  header.insert(header.end(), text.begin(), text.end());
  return header;
}

//===-- Zip -----------------------------------------------------------------------------------===//

namespace {
Status truncated() { return Status::error("not a .npz file, or a truncated one"); }

/// The bytes of a member, as they lie in the file or inflated into `entry`.
bool bytesOf(std::span<const uint8_t> file, const ZipMember &member, uint64_t start,
             TensorEntry &entry, std::span<const uint8_t> &bytes) {
  bytes = file.subspan(start, member.compressed);
  if (member.method == 0)
    return true;
  auto inflated = std::make_shared<std::vector<uint8_t>>();
  if (!inflate(bytes, member.bytes, *inflated))
    return false;
  bytes = *inflated;
  entry.inflated = std::move(inflated);
  return true;
}
} // namespace

Status readNpz(std::span<const uint8_t> file, std::vector<TensorEntry> &entries) {
  std::vector<ZipMember> members;
  if (!listZipMembers(file, members))
    return truncated();
  std::vector<TensorEntry> read;
  std::set<std::string, std::less<>> seen;
  for (const ZipMember &member : members) {
    constexpr uint16_t deflated = 8;
    if ((member.method != 0 && member.method != deflated) || (member.flags & 1))
      return Status::error("member '" + member.name +
                           "' of the .npz file is encrypted, or compressed in another way than "
                           "numpy.savez_compressed does; save it with numpy.savez");
    uint64_t start = 0;
    if (!findZipData(file, member, start))
      return truncated();
    TensorEntry entry;
    std::string_view name = member.name;
    entry.name = name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
    if (!seen.insert(entry.name).second)
      return Status::error("member '" + member.name + "' of the .npz file is there twice");
    std::span<const uint8_t> bytes;
    if (!bytesOf(file, member, start, entry, bytes))
      return Status::error("member '" + member.name +
                           "' of the .npz file cannot be decompressed: it is damaged");
    std::shared_ptr<const std::vector<uint8_t>> own = entry.inflated;
    if (Status s = readNpy(bytes, entry); !s.ok())
      return Status::error("member '" + member.name + "' of the .npz file: " + s.message());
    entry.inflated = own;
    entry.offset += own ? 0 : start;
    read.push_back(std::move(entry));
  }
  entries = std::move(read);
  return {};
}

} // namespace pellucid::package
