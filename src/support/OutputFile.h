// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pellucid {

/// A file that appears under its name only when it is whole. Until then it has no name at all where
/// the file system allows that, so that a process which is killed leaves nothing behind. A symbolic
/// link is followed; a device, a pipe or a folder is never replaced.
class OutputFile {
public:
  /// On failure error() says why, and the other calls fail.
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(OutputFile &&other) noexcept;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Why the last call failed, or empty.
  const std::string &error() const { return failure; }
  /// Long runs of zeros become holes.
  bool append(const void *data, size_t bytes);
  uint64_t size() const { return written; }
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
