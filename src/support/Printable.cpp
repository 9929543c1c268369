// SPDX-License-Identifier: Apache-2.0
#include "support/Printable.h"

#include <cstdint>

namespace pellucid {

namespace {

/// Bytes of the well-formed character at `at`, 0 when there is none; `point` is its number.
size_t decode(std::string_view text, size_t at, uint32_t &point) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  unsigned lead = byte(0);
  if (lead < 0x80) {
    point = lead;
    return 1;
  }
  size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                  : lead >= 0xe0 && lead < 0xf0 ? 3
                  : lead >= 0xc2 && lead < 0xe0 ? 2
                                                : 0;
  if (length == 0 || length > text.size() - at)
    return 0;
  point = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  bool isOverlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  bool isNone = (point >= 0xd800 && point < 0xe000) || point > 0x10ffff;
  return isOverlong || isNone ? 0 : length;
}

bool actsOnATerminal(uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x200e || point == 0x200f ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

std::string escaped(std::string_view text, bool keepsLines) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    uint32_t point = 0;
    size_t length = decode(text, at, point);
    bool isKept =
        length && (!actsOnATerminal(point) || (keepsLines && (point == '\n' || point == '\t')));
    length = length ? length : 1;
    for (size_t i = 0; i < length; ++i) {
      auto byte = static_cast<unsigned char>(text[at + i]);
      if (isKept)
        out += text[at + i];
      else
        ((out += "\\x") += hex[byte >> 4]) += hex[byte & 15];
    }
    at += length;
  }
  return out;
}

} // namespace

std::string printable(std::string_view text) { return escaped(text, true); }
std::string printableLine(std::string_view text) { return escaped(text, false); }

} // namespace pellucid
