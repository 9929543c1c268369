// SPDX-License-Identifier: Apache-2.0
#include "host/Letters.h"

#include "host/Text.h"

#include <algorithm>
#include <iterator>

namespace pellucid::host {

namespace {

struct KindRow {
  uint32_t first;
  uint16_t even, odd; ///< counted from `first`
};

struct Move {
  uint32_t first, last, step;
  int32_t distance;
};

struct LongCase {
  uint32_t point;
  Case wanted;
  const char *text;
};

#include "host/CaseTables.inc"

uint16_t asciiKind(uint32_t c) {
  if (c >= 'a' && c <= 'z')
    return Alpha | Lower;
  if (c >= 'A' && c <= 'Z')
    return Alpha | Upper;
  if (c >= '0' && c <= '9')
    return Decimal | Digit | Numeric;
  if (isSpace(static_cast<char>(c)))
    return Space;
  return c == '\'' || c == '.' || c == ':' || c == '^' || c == '`' ? Ignorable : 0;
}

template <size_t N> int32_t distanceIn(const Move (&moves)[N], uint32_t point) {
  // Ranges of one step may lie within each other's.
  const Move *after = std::upper_bound(std::begin(moves), std::end(moves), point,
                                       [](uint32_t p, const Move &m) { return p < m.first; });
  if (after == std::begin(moves))
    return 0;
  const Move &found = *std::prev(after);
  bool isIn = point <= found.last && (point - found.first) % found.step == 0;
  return isIn ? found.distance : 0;
}

/// Whether the sigma at `at` is the last letter of a word.
bool endsWord(std::string_view text, size_t at) {
  auto isCasedAfterMarks = [&](bool forward) {
    size_t i = at;
    while (true) {
      if (forward) {
        i += codePointLength(text, i);
        if (i >= text.size())
          return false;
      } else {
        if (i == 0)
          return false;
        do
          --i;
        while (i > 0 && (text[i] & 0xc0) == 0x80);
      }
      uint16_t kind = letterKind(decodeCodePoint(text.substr(i)));
      if (!(kind & Ignorable))
        return (kind & Cased) != 0;
    }
  };
  return isCasedAfterMarks(false) && !isCasedAfterMarks(true);
}

bool isAscii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

/// The letter at `at` of a text, where a sigma's small form depends on its place.
std::string smallAt(std::string_view text, size_t at, uint32_t point) {
  if (point == 0x3a3)
    return encodeCodePoint(endsWord(text, at) ? 0x3c2 : 0x3c3);
  return inCase(point, Case::Lower);
}

} // namespace

uint16_t letterKind(uint32_t point) {
  if (point < 0x80)
    return asciiKind(point);
  const KindRow *after =
      std::upper_bound(std::begin(kinds), std::end(kinds), point,
                       [](uint32_t p, const KindRow &kind) { return p < kind.first; });
  const KindRow &found = *std::prev(after);
  return (point - found.first) % 2 ? found.odd : found.even;
}

std::string inCase(uint32_t point, Case wanted) {
  if (point < 0x80) {
    bool moves =
        (asciiKind(point) & (wanted == Case::Upper || wanted == Case::Title ? Lower : Upper)) != 0;
    return encodeCodePoint(moves ? point ^ 0x20 : point);
  }
  for (const LongCase &known : longCases)
    if (known.point == point && known.wanted == wanted)
      return known.text;
  int32_t distance = wanted == Case::Lower   ? distanceIn(lowerMoves, point)
                     : wanted == Case::Upper ? distanceIn(upperMoves, point)
                     : wanted == Case::Title ? distanceIn(titleMoves, point)
                                             : distanceIn(foldMoves, point);
  return encodeCodePoint(static_cast<uint32_t>(static_cast<int64_t>(point) + distance));
}

std::string inCase(std::string_view text, Case wanted) {
  std::string out;
  out.reserve(text.size());
  if (isAscii(text)) {
    uint16_t moved = wanted == Case::Upper ? Lower : Upper;
    for (char c : text)
      out += static_cast<char>(asciiKind(static_cast<unsigned char>(c)) & moved ? c ^ 0x20 : c);
    return out;
  }
  for (size_t i = 0; i < text.size(); i += codePointLength(text, i)) {
    uint32_t point = decodeCodePoint(text.substr(i));
    out += wanted == Case::Lower ? smallAt(text, i, point) : inCase(point, wanted);
  }
  return out;
}

std::string titleCase(std::string_view text, bool everyWord) {
  std::string out;
  bool begins = true;
  for (size_t i = 0; i < text.size(); i += codePointLength(text, i)) {
    uint32_t point = decodeCodePoint(text.substr(i));
    out += begins ? inCase(point, Case::Title) : smallAt(text, i, point);
    begins = everyWord && !(letterKind(point) & Cased);
  }
  return out;
}

} // namespace pellucid::host
