// SPDX-License-Identifier: Apache-2.0
#include "package/Crc32.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace pellucid::package;

static std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// The definition, bit by bit.
static uint32_t crcByBits(std::span<const uint8_t> bytes, uint32_t crc) {
  crc = ~crc;
  for (uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0);
  }
  return ~crc;
}

TEST(Crc32, KnownValues) {
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(crc32(bytesOf("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32(bytesOf("The quick brown fox jumps over the lazy dog")), 0x414fa339u);
}

TEST(Crc32, EveryLengthAndOffsetAgreesWithTheDefinition) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(700);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
  for (size_t offset = 0; offset < 17; ++offset)
    for (size_t size = 0; size + offset <= bytes.size(); size += size < 160 ? 1 : 13) {
      std::span<const uint8_t> part = std::span(bytes).subspan(offset, size);
      uint32_t start = random();
      ASSERT_EQ(crc32(part, start), crcByBits(part, start)) << offset << " " << size;
      ASSERT_EQ(crc32Portable(part, start), crcByBits(part, start)) << offset << " " << size;
    }
}

TEST(Crc32, ContinuesAcrossPieces) {
  std::vector<uint8_t> bytes(100000, 0x5a);
  uint32_t whole = crc32(bytes);
  for (size_t cut : {size_t(0), size_t(1), size_t(63), size_t(64), size_t(4097), bytes.size()})
    EXPECT_EQ(crc32(std::span(bytes).subspan(cut), crc32(std::span(bytes).first(cut))), whole);
}
