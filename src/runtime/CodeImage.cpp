// SPDX-License-Identifier: Apache-2.0
#include "runtime/CodeImage.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace pellucid::runtime {

static Result failed(const char *what) {
  return Result::error(PELLUCID_IO_ERROR, std::string("cannot ") + what +
                                              " the package's code: " + std::strerror(errno));
}

static int protectionOf(const package::ImageSegment &segment) {
  return segment.executable ? PROT_READ | PROT_EXEC : PROT_READ;
}

bool CodeImage::mapSegments(const package::ImageLayout &layout, int fd, uint64_t fileOffset) {
  for (const package::ImageSegment &segment : layout.segments) {
    void *mapped =
        mmap(base + segment.address, segment.bytes, protectionOf(segment), MAP_PRIVATE | MAP_FIXED,
             fd, static_cast<off_t>(fileOffset + segment.fileOffset));
    if (mapped == MAP_FAILED)
      return false;
  }
  return true;
}

Result CodeImage::copySegments(const package::ImageLayout &layout, std::span<const uint8_t> image) {
  for (const package::ImageSegment &segment : layout.segments) {
    unsigned char *begin = base + segment.address;
    if (mmap(begin, segment.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
      return failed("find memory for");
    std::memcpy(begin, image.data() + segment.fileOffset, segment.bytes);
    if (mprotect(begin, segment.bytes, protectionOf(segment)) != 0)
      return failed("make executable");
  }
  return {};
}

Result CodeImage::map(std::span<const uint8_t> image, int fd, uint64_t fileOffset,
                      std::unique_ptr<CodeImage> &out) {
  package::ImageLayout layout;
  if (package::Status status = package::readImageLayout(image, layout); !status.ok())
    return Result::from(PELLUCID_INVALID_PACKAGE, status);
  std::unique_ptr<CodeImage> mapped(new CodeImage);
  mapped->bytes = layout.memoryBytes;
  void *reserved = mmap(nullptr, layout.memoryBytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return failed("reserve addresses for");
  mapped->base = static_cast<unsigned char *>(reserved);
  // The kernel answers EPERM on a noexec mount and EACCES under some security policies; the copy is
  // the answer to both.
  if (fd < 0 || !mapped->mapSegments(layout, fd, fileOffset))
    if (Result result = mapped->copySegments(layout, image); !result.ok())
      return result;
  out = std::move(mapped);
  return {};
}

CodeImage::~CodeImage() {
  if (base)
    munmap(base, bytes);
}

} // namespace pellucid::runtime
