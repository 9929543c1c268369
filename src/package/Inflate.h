// SPDX-License-Identifier: Apache-2.0
/// Deflate (RFC 1951), as the members of a compressed .npz hold it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pellucid::package {

/// What `compressed` stands for; false when it is not a whole deflate stream of exactly `bytes`
/// bytes. Safe on any bytes: memory grows with what was read, at most to `bytes`.
bool inflate(std::span<const uint8_t> compressed, uint64_t bytes, std::vector<uint8_t> &out);

} // namespace pellucid::package
