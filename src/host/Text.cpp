// SPDX-License-Identifier: Apache-2.0
#include "host/Text.h"

#include "host/Letters.h"

#include <algorithm>
#include <cstdio>

namespace pellucid::host {

size_t codePointLength(std::string_view text, size_t at) {
  auto lead = static_cast<unsigned char>(text[at]);
  size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return std::min(length, text.size() - at);
}

size_t codePointCount(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::vector<std::string> codePoints(std::string_view text) {
  std::vector<std::string> points;
  for (size_t i = 0; i < text.size();) {
    size_t length = codePointLength(text, i);
    points.emplace_back(text.substr(i, length));
    i += length;
  }
  return points;
}

std::string joinCodePoints(const std::vector<std::string> &points, size_t first, size_t last) {
  std::string out;
  for (size_t i = first; i < std::min(last, points.size()); ++i)
    out += points[i];
  return out;
}

std::string encodeCodePoint(uint32_t p) {
  auto tail = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (p < 0x80)
    return {static_cast<char>(p)};
  if (p < 0x800)
    return {static_cast<char>(0xc0 | (p >> 6)), tail(p)};
  if (p < 0x10000)
    return {static_cast<char>(0xe0 | (p >> 12)), tail(p >> 6), tail(p)};
  return {static_cast<char>(0xf0 | (p >> 18)), tail(p >> 12), tail(p >> 6), tail(p)};
}

uint32_t decodeCodePoint(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  size_t length = codePointLength(text, 0);
  if (length == 1)
    return byte(0);
  uint32_t point = byte(0) & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i)
    point = point << 6 | (byte(i) & 0x3f);
  return point;
}

std::string upperCase(std::string_view text) { return inCase(text, Case::Upper); }
std::string lowerCase(std::string_view text) { return inCase(text, Case::Lower); }

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

std::string escapedCodePoint(uint32_t point) {
  char escaped[16];
  std::snprintf(escaped, sizeof escaped,
                point < 0x100     ? "\\x%02x"
                : point < 0x10000 ? "\\u%04x"
                                  : "\\U%08x",
                point);
  return escaped;
}

std::string asciiText(std::string_view text) {
  std::string out;
  for (const std::string &letter : codePoints(text)) {
    uint32_t point = decodeCodePoint(letter);
    if (point < 0x80) {
      out += letter;
      continue;
    }
    out += escapedCodePoint(point);
  }
  return out;
}

} // namespace pellucid::host
