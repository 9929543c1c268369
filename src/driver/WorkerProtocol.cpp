// SPDX-License-Identifier: Apache-2.0
#include "driver/WorkerProtocol.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace pellucid::driver {

namespace {

/// Appends fields; the mirror image of Reader. Both sides run the same build, so the layout is not
/// versioned.
struct Writer {
  static constexpr bool reading = false;
  std::string out;
  template <typename T> void number(T &value) {
    out.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(std::string &value) {
    uint64_t size = value.size();
    number(size);
    out += value;
  }
  template <typename T, typename Fn> void list(std::vector<T> &values, Fn each) {
    uint64_t size = values.size();
    number(size);
    for (T &value : values)
      each(value);
  }
  template <typename T, typename Fn> void optional(std::optional<T> &value, Fn each) {
    bool isThere = value.has_value();
    number(isThere);
    if (value)
      each(*value);
  }
};

struct Reader {
  static constexpr bool reading = true;
  std::string_view in;
  bool ok = true;
  template <typename T> void number(T &value) {
    if (!ok || in.size() < sizeof value) {
      ok = false;
      value = T{};
      return;
    }
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the size was checked
    std::memcpy(&value, in.data(), sizeof value);
    in.remove_prefix(sizeof value);
  }
  void text(std::string &value) {
    uint64_t size = 0;
    number(size);
    if (!ok || in.size() < size) {
      ok = false;
      return;
    }
    value.assign(in.substr(0, size));
    in.remove_prefix(size);
  }
  template <typename T, typename Fn> void list(std::vector<T> &values, Fn each) {
    uint64_t size = 0;
    number(size);
    // Each element takes at least one byte, so a size beyond the rest is damage, not a large list.
    if (!ok || size > in.size()) {
      ok = false;
      return;
    }
    values.resize(size);
    for (T &value : values)
      each(value);
  }
  template <typename T, typename Fn> void optional(std::optional<T> &value, Fn each) {
    uint8_t isThere = 0;
    number(isThere);
    if (isThere)
      each(value.emplace());
  }
};

template <typename Archive> void visit(Archive &a, CodegenJob &job) {
  a.number(job.target.kind);
  a.number(job.target.cpu);
  a.number(job.target.sm);
  a.number(job.fpContract);
  a.number(job.exactTarget);
  a.number(job.keepTexts);
  a.number(job.remembersKernels);
  a.list(job.kernels, [&](CodegenKernel &k) {
    a.text(k.symbol);
    a.text(k.ttir);
    a.optional(k.library, [&](package::LibraryKernel &library) {
      a.number(library.kind);
      a.number(library.type);
      a.number(library.bias);
      a.number(library.unpacked);
    });
    a.number(k.numWarps);
    a.number(k.numStages);
  });
}

template <typename Archive> void visit(Archive &a, CodegenResult &result) {
  a.text(result.image);
  a.list(result.kernels, [&](CodegenKernelResult &k) {
    a.text(k.symbol);
    a.number(k.entryOffset);
    a.number(k.scratchBytes);
    a.number(k.numWarps);
    a.list(k.arguments, [&](CodegenSlot &s) {
      a.number(s.offset);
      a.number(s.bytes);
    });
    a.list(k.messages, [&](CodegenMessage &m) {
      a.text(m.text);
      a.text(m.file);
      a.number(m.line);
      a.number(m.column);
      a.number(m.isPrint);
      a.number(m.hex);
    });
    a.list(k.ptx, [&](CodegenPtx &p) {
      a.text(p.text);
      a.number(p.sharedBytes);
      a.number(p.thisGenerationOnly);
      a.number(p.dependentLaunch);
      a.list(p.tensorMaps, [&](package::TensorMap &map) {
        a.number(map.parameter);
        a.number(map.elementBytes);
        a.number(map.swizzleBytes);
        a.number(map.roundsToTf32);
        a.list(map.dims, [&](package::TensorMap::Dim &dim) {
          a.number(dim.size);
          a.number(dim.stride);
          a.number(dim.box);
          a.number(dim.sizeParameter);
          a.number(dim.strideParameter);
        });
      });
    });
    a.number(k.matrixUnits);
    a.number(k.bfloat16Grade);
    a.list(k.texts, [&](CodegenText &t) {
      a.text(t.stage);
      a.text(t.text);
    });
    a.number(k.seconds);
    a.number(k.remembered);
  });
}

/// Diagnostics travel with their place by name; the receiving side opens the file again for its
/// caret lines.
template <typename Archive> void visit(Archive &a, Diagnostic &d) {
  a.number(d.severity);
  std::string file;
  if constexpr (!Archive::reading)
    file = d.location.file ? d.location.file->path() : d.location.name;
  a.text(file);
  a.number(d.location.range);
  a.text(d.message);
  a.list(d.notes, [&](Diagnostic &note) { visit(a, note); });
  if constexpr (Archive::reading) {
    d.location.name = file;
    if (d.location.range.line)
      d.location.file = SourceFile::open(file);
  }
}

template <typename T> std::string encode(const T &value) {
  Writer writer;
  visit(writer, const_cast<T &>(value)); // a Writer only reads its fields
  return std::move(writer.out);
}

template <typename T> std::optional<T> decode(std::string_view bytes) {
  Reader reader{bytes};
  T value;
  visit(reader, value);
  if (!reader.ok || !reader.in.empty())
    return std::nullopt;
  return value;
}

bool writeAll(int descriptor, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = ::write(descriptor, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

/// Waits at most so many seconds for each piece.
FrameStatus readAll(int descriptor, char *data, size_t size, int seconds) {
  while (size > 0) {
    pollfd wanted{descriptor, POLLIN, 0};
    int ready = ::poll(&wanted, 1, seconds < 0 ? -1 : seconds * 1000);
    if (ready == 0)
      return FrameStatus::Silent;
    ssize_t n = ready < 0 ? -1 : ::read(descriptor, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return FrameStatus::Ended;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return FrameStatus::Whole;
}

} // namespace

std::string encodeJob(const CodegenJob &job) { return encode(job); }
std::optional<CodegenJob> decodeJob(std::string_view bytes) { return decode<CodegenJob>(bytes); }
std::string encodeResult(const CodegenResult &result) { return encode(result); }
std::optional<CodegenResult> decodeResult(std::string_view bytes) {
  return decode<CodegenResult>(bytes);
}

std::string encodeDiagnostics(const Diagnostics &diagnostics) {
  Writer writer;
  std::vector<Diagnostic> list = diagnostics.all();
  writer.list(list, [&](Diagnostic &d) { visit(writer, d); });
  return std::move(writer.out);
}

bool decodeDiagnostics(std::string_view bytes, Diagnostics &diagnostics) {
  Reader reader{bytes};
  std::vector<Diagnostic> list;
  reader.list(list, [&](Diagnostic &d) { visit(reader, d); });
  if (!reader.ok)
    return false;
  for (Diagnostic &d : list)
    diagnostics.add(std::move(d));
  return true;
}

bool writeFrame(int descriptor, FrameTag tag, std::string_view payload) {
  char head[9] = {static_cast<char>(tag)};
  uint64_t size = payload.size();
  std::memcpy(head + 1, &size, sizeof size);
  return writeAll(descriptor, head, sizeof head) &&
         writeAll(descriptor, payload.data(), payload.size());
}

FrameStatus readFrame(int descriptor, FrameTag &tag, std::string &payload, int secondsOfSilence) {
  char head[9];
  if (FrameStatus status = readAll(descriptor, head, sizeof head, secondsOfSilence);
      status != FrameStatus::Whole)
    return status;
  uint64_t size = 0;
  std::memcpy(&size, head + 1, sizeof size);
  if (size > (uint64_t(1) << 32))
    return FrameStatus::Ended;
  tag = static_cast<FrameTag>(head[0]);
  // Piece by piece, because the length may be nonsense.
  payload.clear();
  while (payload.size() < size) {
    size_t begin = payload.size(), piece = std::min<uint64_t>(size - begin, uint64_t(1) << 20);
    payload.resize(begin + piece);
    FrameStatus status = readAll(descriptor, payload.data() + begin, piece, secondsOfSilence);
    if (status != FrameStatus::Whole)
      return status;
  }
  return FrameStatus::Whole;
}

} // namespace pellucid::driver
