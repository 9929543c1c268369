// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pellucid::package {

/// A file mapped read-only.
class MappedFile {
public:
  /// Null on failure; `status` then says why.
  static std::shared_ptr<const MappedFile> open(const std::string &path, Status &status);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  std::span<const uint8_t> bytes() const { return {data, size}; }

private:
  MappedFile(const uint8_t *data, size_t size) : data(data), size(size) {}
  const uint8_t *data;
  size_t size;
};

} // namespace pellucid::package
