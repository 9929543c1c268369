// SPDX-License-Identifier: Apache-2.0
#include "syntax/Unicode.h"

#include <algorithm>
#include <iterator>

namespace pellucid::syntax {
namespace {

struct CodePointRange {
  uint32_t first, last;
};

#include "syntax/UnicodeTables.inc"

template <size_t N> bool contains(const CodePointRange (&table)[N], char32_t codePoint) {
  auto *range = std::upper_bound(std::begin(table), std::end(table), codePoint,
                                 [](char32_t c, const CodePointRange &r) { return c < r.first; });
  return range != std::begin(table) && codePoint <= range[-1].last;
}

bool isContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

} // namespace

char32_t decodeUtf8(std::string_view text, size_t &length, bool allowSurrogates) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  length = 1;
  if (text.empty())
    return InvalidCodePoint;
  unsigned char lead = byte(0);
  if (lead < 0x80)
    return lead;
  size_t count = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < count)
    return InvalidCodePoint;
  char32_t codePoint = lead & (0xFF >> (count + 1));
  for (size_t i = 1; i < count; ++i) {
    if (!isContinuation(byte(i)))
      return InvalidCodePoint;
    codePoint = codePoint << 6 | (byte(i) & 0x3F);
  }
  bool overlong = (count == 3 && codePoint < 0x800) || (count == 4 && codePoint < 0x10000);
  bool surrogate = codePoint >= 0xD800 && codePoint <= 0xDFFF;
  if (overlong || codePoint > 0x10FFFF || (surrogate && !allowSurrogates))
    return InvalidCodePoint;
  length = count;
  return codePoint;
}

void appendUtf8(std::string &out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12);
    } else {
      out += static_cast<char>(0xF0 | c >> 18);
      out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (c & 0x3F));
}

bool isPrintable(char32_t c) {
  if (c < 0x7F)
    return c >= 0x20;
  return !contains(NonPrintable, c);
}

bool isIdentifierStart(char32_t c) {
  if (c < 0x80)
    return (c | 32) - 'a' < 26 || c == '_';
  return contains(IdentifierStart, c);
}

bool isIdentifierContinue(char32_t c) {
  if (c < 0x80)
    return isIdentifierStart(c) || c - '0' < 10;
  return contains(IdentifierContinue, c);
}

} // namespace pellucid::syntax
