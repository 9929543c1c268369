// SPDX-License-Identifier: Apache-2.0
#include "package/ByteSource.h"

#include "package/Crc32.h"

#include <algorithm>

namespace pellucid::package {

bool sendPieces(std::span<const uint8_t> bytes, const ByteSink &sink) {
  while (!bytes.empty()) {
    std::span<const uint8_t> piece = bytes.first(std::min<uint64_t>(bytes.size(), pieceBytes));
    bool going = sink(piece);
    letGo(piece);
    if (!going)
      return false;
    bytes = bytes.subspan(piece.size());
  }
  return true;
}

uint32_t crc32InPieces(std::span<const uint8_t> bytes) {
  uint32_t crc = 0;
  sendPieces(bytes, [&](std::span<const uint8_t> piece) {
    crc = crc32(piece, crc);
    return true;
  });
  return crc;
}

} // namespace pellucid::package
