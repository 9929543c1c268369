// SPDX-License-Identifier: Apache-2.0
/// Philox 4x32 with ten rounds (Salmon et al., SC 2011): the generator of PyTorch's CUDA devices
/// and of our own draws. A counter and a key give four words; no state is kept, so any element can
/// be drawn by itself.
#pragma once

#include <array>
#include <cstdint>

namespace pellucid {

using PhiloxWords = std::array<uint32_t, 4>;

inline PhiloxWords philox(uint64_t key, PhiloxWords counter) {
  auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * counter[0], odd = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ low, static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ high, static_cast<uint32_t>(even)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return counter;
}

/// As PyTorch's kernels count: a thread's draws one after another.
inline PhiloxWords philox(uint64_t key, uint64_t draw, uint64_t thread) {
  return philox(key, {static_cast<uint32_t>(draw), static_cast<uint32_t>(draw >> 32),
                      static_cast<uint32_t>(thread), static_cast<uint32_t>(thread >> 32)});
}

} // namespace pellucid
