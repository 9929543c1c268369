// SPDX-License-Identifier: Apache-2.0
/// Records as PyTorch's own writer lays them out: one folder, stored, data at multiples of 64, so
/// that tensors can be mapped.
#pragma once

#include "support/OutputFile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::archive {

class RecordWriter {
public:
  /// Records go into the folder `root` of the zip archive in `file`; without one, beside each
  /// other.
  RecordWriter(ByteSink &file, std::string root) : file(file), root(std::move(root)) {}

  void add(const std::string &name, std::span<const uint8_t> bytes);
  void add(const std::string &name, std::string_view text) {
    add(name, std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  }
  /// The directory; nothing can be added after it.
  void finish();

private:
  struct Entry {
    std::string name;
    uint64_t bytes = 0, header = 0;
    uint32_t crc32 = 0;
  };
  void append(const std::vector<uint8_t> &bytes) { file.append(bytes.data(), bytes.size()); }

  ByteSink &file;
  std::string root;
  std::vector<Entry> entries;
};

} // namespace pellucid::archive
