// SPDX-License-Identifier: Apache-2.0
#include "package/Crc32.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pellucid::package {

using Table = std::array<std::array<uint32_t, 256>, 8>;

/// tables[k][b]: what byte b contributes when k more bytes follow it.
static constexpr Table makeTables() {
  Table tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}
static constexpr Table tables = makeTables();

/// Works on the inverted state, as the folding below does.
static uint32_t sliceByEight(const uint8_t *data, size_t size, uint32_t state) {
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= state;
    state = 0;
    for (int i = 0; i < 8; ++i)
      state ^= tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; size; ++data, --size)
    state = (state >> 8) ^ tables[0][(state ^ *data) & 0xff];
  return state;
}

uint32_t crc32Portable(std::span<const uint8_t> bytes, uint32_t crc) {
  return ~sliceByEight(bytes.data(), bytes.size(), ~crc);
}

#if defined(__x86_64__)
// Constants of the folding method (Gopal et al., "Fast CRC Computation for Generic Polynomials
// Using PCLMULQDQ"): x^k mod P for the distances of 512 and 128 bits, and Barrett's quotient for
// the last step.
__attribute__((target("pclmul,sse4.1"))) static __m128i fold(__m128i value, __m128i keys,
                                                             __m128i next) {
  __m128i low = _mm_clmulepi64_si128(value, keys, 0x00);
  __m128i high = _mm_clmulepi64_si128(value, keys, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

static __m128i loadBlock(const uint8_t *data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(data));
}

__attribute__((target("pclmul,sse4.1"))) static uint32_t reduce(__m128i value) {
  const __m128i fold96 = _mm_set_epi64x(0, 0x0ccaa009e);
  const __m128i fold64 = _mm_set_epi64x(0, 0x163cd6124);
  const __m128i barrett = _mm_set_epi64x(0x1f7011641, 0x1db710641);
  const __m128i low32 = _mm_setr_epi32(-1, 0, -1, 0);
  // 128 -> 96 -> 64 bits, then Barrett's reduction to 32.
  value = _mm_xor_si128(_mm_srli_si128(value, 8), _mm_clmulepi64_si128(value, fold96, 0x00));
  value = _mm_xor_si128(_mm_srli_si128(value, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(value, low32), fold64, 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(value, low32), barrett, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), barrett, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(value, quotient), 1));
}

/// `size` is at least 64; returns the inverted state over its first size / 16 * 16 bytes.
__attribute__((target("pclmul,sse4.1"))) static uint32_t foldBlocks(const uint8_t *data,
                                                                    size_t size, uint32_t state) {
  const __m128i fold512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i fold128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i lanes[4];
  for (int i = 0; i < 4; ++i)
    lanes[i] = loadBlock(data + 16 * i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(state)));
  data += 64, size -= 64;
  for (; size >= 64; data += 64, size -= 64)
    for (int i = 0; i < 4; ++i)
      lanes[i] = fold(lanes[i], fold512, loadBlock(data + 16 * i));
  __m128i value = lanes[0];
  for (int i = 1; i < 4; ++i)
    value = fold(value, fold128, lanes[i]);
  for (; size >= 16; data += 16, size -= 16)
    value = fold(value, fold128, loadBlock(data));
  return reduce(value);
}

uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc) {
  static const bool canFold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  if (!canFold || bytes.size() < 64)
    return crc32Portable(bytes, crc);
  size_t blocks = bytes.size() / 16 * 16;
  uint32_t state = foldBlocks(bytes.data(), bytes.size(), ~crc);
  return ~sliceByEight(bytes.data() + blocks, bytes.size() - blocks, state);
}
#else
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc) { return crc32Portable(bytes, crc); }
#endif

} // namespace pellucid::package
