// SPDX-License-Identifier: Apache-2.0
#include "package/Inflate.h"

#include <algorithm>
#include <array>

namespace pellucid::package {

namespace {

constexpr int longestCode = 15;

/// A prefix code as the counts of its lengths and its symbols in order of their codes.
struct PrefixCode {
  std::array<uint16_t, longestCode + 1> counts{};
  std::vector<uint16_t> symbols;

  /// False when more codes are asked for than there are.
  bool make(std::span<const uint8_t> lengths) {
    counts.fill(0);
    for (uint8_t length : lengths)
      ++counts[length];
    int left = 1;
    for (int length = 1; length <= longestCode; ++length)
      if ((left = left * 2 - counts[static_cast<size_t>(length)]) < 0)
        return false;
    std::array<uint16_t, longestCode + 2> next{};
    for (size_t length = 1; length <= longestCode; ++length)
      next[length + 1] = static_cast<uint16_t>(next[length] + counts[length]);
    symbols.assign(lengths.size(), 0);
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol])
        symbols[next[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
    return true;
  }
};

struct Extra {
  uint16_t base;
  uint8_t bits;
};

/// How long a copy is, by the symbol after 256.
constexpr Extra lengths[] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
/// How far back it begins.
constexpr Extra distances[] = {{1, 0},     {2, 0},     {3, 0},      {4, 0},      {5, 1},
                               {7, 1},     {9, 2},     {13, 2},     {17, 3},     {25, 3},
                               {33, 4},    {49, 4},    {65, 5},     {97, 5},     {129, 6},
                               {193, 6},   {257, 7},   {385, 7},    {513, 8},    {769, 8},
                               {1025, 9},  {1537, 9},  {2049, 10},  {3073, 10},  {4097, 11},
                               {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

class Inflater {
public:
  Inflater(std::span<const uint8_t> in, uint64_t bytes, std::vector<uint8_t> &o)
      : input(in), wanted(bytes), out(o) {}

  bool run() {
    for (bool last = false; !last;) {
      last = take(1) == 1;
      uint32_t kind = take(2);
      bool good = kind == 0 ? stored() : kind == 1 ? fixed() : kind == 2 ? dynamic() : false;
      if (!good || ended)
        return false;
    }
    return out.size() == wanted;
  }

private:
  std::span<const uint8_t> input;
  uint64_t wanted;
  std::vector<uint8_t> &out;
  size_t position = 0;
  uint32_t held = 0;
  int heldBits = 0;
  bool ended = false; ///< more bits were asked for than there are

  uint32_t take(int count) {
    while (heldBits < count) {
      if (position == input.size()) {
        ended = true;
        return 0;
      }
      held |= static_cast<uint32_t>(input[position++]) << heldBits;
      heldBits += 8;
    }
    uint32_t bits = held & ((1u << count) - 1);
    held >>= count;
    heldBits -= count;
    return bits;
  }

  /// Bit by bit: a code of `length` bits lies `count` places behind the first of its length.
  int symbol(const PrefixCode &code) {
    int bits = 0, first = 0, index = 0;
    for (size_t length = 1; length <= longestCode && !ended; ++length) {
      bits |= static_cast<int>(take(1));
      int count = code.counts[length];
      if (bits - count < first)
        return code.symbols[static_cast<size_t>(index + (bits - first))];
      index += count;
      first = (first + count) << 1;
      bits <<= 1;
    }
    return -1;
  }

  bool stored() {
    held = 0;
    heldBits = 0;
    if (input.size() - position < 4)
      return false;
    size_t count = input[position] | static_cast<size_t>(input[position + 1]) << 8;
    size_t inverse = input[position + 2] | static_cast<size_t>(input[position + 3]) << 8;
    position += 4;
    if ((count ^ inverse) != 0xffff || input.size() - position < count ||
        wanted - out.size() < count)
      return false;
    out.insert(out.end(), input.begin() + static_cast<std::ptrdiff_t>(position),
               input.begin() + static_cast<std::ptrdiff_t>(position + count));
    position += count;
    return true;
  }

  bool fixed() {
    std::vector<uint8_t> sizes(288, 8);
    std::fill(sizes.begin() + 144, sizes.begin() + 256, uint8_t(9));
    std::fill(sizes.begin() + 256, sizes.begin() + 280, uint8_t(7));
    PrefixCode literals, back;
    std::vector<uint8_t> backSizes(30, 5);
    return literals.make(sizes) && back.make(backSizes) && codes(literals, back);
  }

  bool dynamic() {
    static constexpr uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
    size_t literalCount = take(5) + 257, backCount = take(5) + 1, sizeCount = take(4) + 4;
    if (ended || literalCount > 286 || backCount > 30)
      return false;
    std::array<uint8_t, 19> sizesOfSizes{};
    for (size_t i = 0; i < sizeCount; ++i)
      sizesOfSizes[order[i]] = static_cast<uint8_t>(take(3));
    PrefixCode code;
    if (!code.make(sizesOfSizes))
      return false;
    std::vector<uint8_t> sizes;
    while (sizes.size() < literalCount + backCount) {
      int next = symbol(code);
      if (next < 0)
        return false;
      if (next < 16) {
        sizes.push_back(static_cast<uint8_t>(next));
        continue;
      }
      if (next == 16 && sizes.empty())
        return false;
      uint8_t repeated = next == 16 ? sizes.back() : 0;
      size_t count = next == 16 ? 3 + take(2) : next == 17 ? 3 + take(3) : 11 + take(7);
      if (ended || sizes.size() + count > literalCount + backCount)
        return false;
      sizes.insert(sizes.end(), count, repeated);
    }
    PrefixCode literals, back;
    std::span<const uint8_t> all(sizes);
    return literals.make(all.first(literalCount)) && back.make(all.subspan(literalCount)) &&
           codes(literals, back);
  }

  bool codes(const PrefixCode &literals, const PrefixCode &back) {
    for (;;) {
      int next = symbol(literals);
      if (next < 0 || ended)
        return false;
      if (next == 256)
        return true;
      if (next < 256) {
        if (out.size() == wanted)
          return false;
        out.push_back(static_cast<uint8_t>(next));
        continue;
      }
      if (!copy(static_cast<size_t>(next - 257), back))
        return false;
    }
  }

  bool copy(size_t lengthSymbol, const PrefixCode &back) {
    if (lengthSymbol >= std::size(lengths))
      return false;
    size_t count = lengths[lengthSymbol].base + take(lengths[lengthSymbol].bits);
    int distanceSymbol = symbol(back);
    if (distanceSymbol < 0 || static_cast<size_t>(distanceSymbol) >= std::size(distances))
      return false;
    const Extra &extra = distances[distanceSymbol];
    size_t distance = extra.base + take(extra.bits);
    if (ended || distance > out.size() || wanted - out.size() < count)
      return false;
    for (size_t i = 0; i < count; ++i)
      out.push_back(out[out.size() - distance]);
    return true;
  }
};

} // namespace

bool inflate(std::span<const uint8_t> compressed, uint64_t bytes, std::vector<uint8_t> &out) {
  out.clear();
  return Inflater(compressed, bytes, out).run();
}

} // namespace pellucid::package
