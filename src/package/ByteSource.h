// SPDX-License-Identifier: Apache-2.0
/// Bytes that are handed on in pieces, so that no more of them than a piece is in physical memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace pellucid::package {

/// Takes the next piece; false ends what sends.
using ByteSink = std::function<bool(std::span<const uint8_t>)>;

/// Gives its bytes to the sink in order, the same ones at every call; false where the sink gave
/// false.
using ByteSource = std::function<bool(const ByteSink &)>;

inline constexpr uint64_t pieceBytes = uint64_t(4) << 20;

/// Lets go of the physical memory behind whole pages of `bytes` that lie in a MappedFile; they are
/// read again when somebody touches them. Other memory stays as it is.
void letGo(std::span<const uint8_t> bytes);

/// `bytes` in pieces, each let go of behind the sink.
bool sendPieces(std::span<const uint8_t> bytes, const ByteSink &sink);

/// crc32() of bytes that are let go of.
uint32_t crc32InPieces(std::span<const uint8_t> bytes);

} // namespace pellucid::package
