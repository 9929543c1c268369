// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/SharedSwizzle.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace pellucid::codegen {

namespace {

/// The bits of an element's number that tell the banks of one access apart.
struct Banks {
  unsigned first, count;
  bool has(unsigned bit) const { return bit >= first && bit < first + count; }
};

/// 32 banks of 4 bytes; wider elements are moved by half or a quarter of a warp at a time.
Banks banksOf(unsigned bytes) {
  if (bytes >= 4)
    return {0, 7 - llvm::Log2_32(bytes)};
  return {2 - llvm::Log2_32(bytes), 5};
}

/// The bits that the lanes of one access run over; nullopt where a lane bit moves along several.
std::optional<std::vector<unsigned>> laneBitsOf(const Layout &layout, unsigned count) {
  std::vector<unsigned> bits;
  for (unsigned lane = 0; lane < count; ++lane) {
    uint32_t number = rowMajor(layout, layout.lanes[lane]);
    if (number == 0)
      continue;
    if (!llvm::isPowerOf2_32(number))
      return std::nullopt;
    bits.push_back(llvm::Log2_32(number));
  }
  return bits;
}

} // namespace

uint32_t rowMajor(const Layout &layout, const Layout::Point &point) {
  uint32_t number = 0;
  for (unsigned d = 0; d < layout.rank(); ++d)
    number = number * static_cast<uint32_t>(layout.shape[d]) + static_cast<uint32_t>(point[d]);
  return number;
}

SharedSwizzle::SharedSwizzle(const Layout &written, const Layout &read, unsigned bytes) {
  Banks banks = banksOf(bytes);
  unsigned lanes = std::min(Layout::laneBits, banks.first + banks.count);
  auto writers = laneBitsOf(written, lanes), readers = laneBitsOf(read, lanes);
  if (!writers || !readers)
    return;
  uint32_t takenByWriters = 0, takenByReaders = 0;
  for (unsigned bit : *writers)
    takenByWriters |= 1u << bit;
  for (unsigned bit : *readers)
    takenByReaders |= 1u << bit;
  // Every bit above the banks, once: to a bank bit that no other lane bit of the same access has.
  std::vector<unsigned> above;
  for (const auto *bits : {&*writers, &*readers})
    for (unsigned bit : *bits)
      if (bit >= banks.first + banks.count &&
          std::find(above.begin(), above.end(), bit) == above.end())
        above.push_back(bit);
  for (unsigned bit : above) {
    auto moves = [&](const std::vector<unsigned> &bits) {
      return std::find(bits.begin(), bits.end(), bit) != bits.end();
    };
    bool writes = moves(*writers), reads = moves(*readers);
    for (unsigned to = banks.first; to < banks.first + banks.count; ++to) {
      bool isFree =
          !(writes && (takenByWriters >> to & 1)) && !(reads && (takenByReaders >> to & 1));
      if (!isFree)
        continue;
      exchanges.push_back({bit, to});
      takenByWriters |= writes ? 1u << to : 0;
      takenByReaders |= reads ? 1u << to : 0;
      break;
    }
  }
}

/// In how many places the bit of an element's number changes with a bit of a register, lane or
/// warp.
static unsigned changesOf(const Layout &layout, uint32_t bit) {
  unsigned count = 0;
  for (const Layout::Bits *bits : {&layout.registers, &layout.lanes, &layout.warps})
    for (const Layout::Point &point : *bits)
      count += (rowMajor(layout, point) & bit) != 0;
  return count;
}

SharedWords::SharedWords(const Layout &written, const Layout &read, unsigned bytes) {
  constexpr unsigned mostBytes = 16;
  for (unsigned w = 0; w < written.registers.size(); ++w) {
    uint32_t number = rowMajor(written, written.registers[w]);
    auto same = std::find(read.registers.begin(), read.registers.end(), written.registers[w]);
    if (same == read.registers.end() || !llvm::isPowerOf2_32(number) ||
        changesOf(written, number) != 1 || changesOf(read, number) != 1 ||
        bytes * 2 * size() > mostBytes)
      continue;
    inWritten.push_back(w);
    inRead.push_back(static_cast<unsigned>(same - read.registers.begin()));
    ofNumber.push_back(llvm::Log2_32(number));
  }
}

/// `number` without the bits in `dropped`.
static uint32_t without(uint32_t number, const std::vector<unsigned> &dropped) {
  uint32_t kept = 0;
  for (unsigned bit = 0, to = 0; bit < 32; ++bit)
    if (std::find(dropped.begin(), dropped.end(), bit) == dropped.end())
      kept |= (number >> bit & 1) << to++;
  return kept;
}

Layout SharedWords::wordsOf(const Layout &layout, const std::vector<unsigned> &bits) const {
  Layout words;
  words.shape = {1};
  for (int64_t extent : layout.shape)
    words.shape[0] *= extent;
  words.shape[0] /= size();
  auto numberOf = [&](const Layout::Point &point) {
    return Layout::Point{static_cast<int32_t>(without(rowMajor(layout, point), ofNumber))};
  };
  for (unsigned r = 0; r < layout.registers.size(); ++r)
    if (std::find(bits.begin(), bits.end(), r) == bits.end())
      words.registers.push_back(numberOf(layout.registers[r]));
  for (const Layout::Point &lane : layout.lanes)
    words.lanes.push_back(numberOf(lane));
  for (const Layout::Point &warp : layout.warps)
    words.warps.push_back(numberOf(warp));
  return words;
}

unsigned SharedWords::registerOf(const std::vector<unsigned> &bits, unsigned word, unsigned which) {
  unsigned found = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    auto at = std::find(bits.begin(), bits.end(), bit);
    if (at != bits.end()) {
      found |= (which >> (at - bits.begin()) & 1) << bit;
    } else {
      found |= (word & 1) << bit;
      word >>= 1;
    }
  }
  return found;
}

uint32_t SharedSwizzle::placeOf(uint32_t number) const {
  uint32_t place = number;
  for (auto [from, to] : exchanges)
    place ^= (number >> from & 1) << to;
  return place;
}

} // namespace pellucid::codegen
