// SPDX-License-Identifier: Apache-2.0
/// The stored records of a zip file that PyTorch wrote, by name below the common root folder.
#pragma once

#include "package/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pellucid::archive {

struct Record {
  std::span<const uint8_t> bytes;
  uint32_t crc32 = 0;
};

class Records {
public:
  /// Refuses what is cut off, compressed, encrypted, or reaches beyond the file.
  package::Status read(std::span<const uint8_t> file);

  const Record *find(const std::string &name) const;
  /// The record's bytes after a look at their checksum; an error when it is not there or damaged.
  package::Status take(const std::string &name, std::span<const uint8_t> &bytes) const;
  const std::map<std::string, Record> &all() const { return byName; }

private:
  std::map<std::string, Record> byName;
};

} // namespace pellucid::archive
