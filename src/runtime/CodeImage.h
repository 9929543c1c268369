// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/ElfImage.h"
#include "runtime/Result.h"

namespace pellucid::runtime {

/// A package's CPU code in memory, readable and executable, never writable at the same time.
class CodeImage {
public:
  /// Maps `image`, which begins at `fileOffset` of the open file `fd`, straight from the file;
  /// where the file system forbids that (noexec) or `fd` is -1, copies it.
  static Result map(std::span<const uint8_t> image, int fd, uint64_t fileOffset,
                    std::unique_ptr<CodeImage> &out);
  ~CodeImage();
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;

  const void *at(uint64_t address) const { return base + address; }

private:
  CodeImage() = default;
  unsigned char *base = nullptr;
  size_t bytes = 0;

  bool mapSegments(const package::ImageLayout &layout, int fd, uint64_t fileOffset);
  Result copySegments(const package::ImageLayout &layout, std::span<const uint8_t> image);
};

} // namespace pellucid::runtime
