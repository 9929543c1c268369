// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pellucid {

/// What bytes are appended to.
class ByteSink {
public:
  virtual ~ByteSink() = default;
  virtual bool append(const void *data, size_t bytes) = 0;
  virtual uint64_t size() const = 0;
};

/// Bytes in memory.
class MemorySink : public ByteSink {
public:
  bool append(const void *data, size_t bytes) override {
    contents.append(static_cast<const char *>(data), bytes);
    return true;
  }
  uint64_t size() const override { return contents.size(); }

  std::string contents;
};

/// A file that appears under its name only when it is whole. Until then it has no name at all where
/// the file system allows that, so that a process which is killed leaves nothing behind. A symbolic
/// link is followed; a device, a pipe or a folder is never replaced.
class OutputFile : public ByteSink {
public:
  /// On failure error() says why, and the other calls fail.
  explicit OutputFile(const std::string &path);
  ~OutputFile() override;
  OutputFile(OutputFile &&other) noexcept;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Why the last call failed, or empty.
  const std::string &error() const { return failure; }
  /// Long runs of zeros become holes.
  bool append(const void *data, size_t bytes) override;
  uint64_t size() const override { return written; }
  /// Gives the file its name, in place of what had it.
  bool commit();

private:
  std::string target, temporary, failure; ///< temporary: "" while the file has no name
  int fd = -1;
  uint64_t written = 0;

  bool fail();
  bool writeAt(const char *data, size_t bytes, uint64_t at);
};

} // namespace pellucid
