// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/WarpMove.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace pellucid::codegen {

using Source = WarpMove::Source;

namespace {

/// The row-major number of a point; xor of points is xor of numbers, for extents are powers of two.
uint64_t numberOf(const Layout &layout, const Layout::Point &point) {
  uint64_t number = 0;
  for (unsigned d = 0; d < layout.rank(); ++d)
    number = number * static_cast<uint64_t>(layout.shape[d]) + static_cast<uint64_t>(point[d]);
  return number;
}

/// Sums of points of register and lane bits, by their highest bits.
class Span {
public:
  void add(uint64_t number, Source source) {
    auto rest = reduce(number, source);
    if (rest.first != 0)
      rows.push_back(rest);
  }
  /// The bits whose points add up to `number`.
  std::optional<Source> find(uint64_t number) const {
    auto [rest, source] = reduce(number, {});
    return rest == 0 ? std::optional(source) : std::nullopt;
  }

private:
  std::pair<uint64_t, Source> reduce(uint64_t number, Source source) const {
    for (const auto &[row, of] : rows)
      if ((number ^ row) < number) {
        number ^= row;
        source.lane ^= of.lane;
        source.reg ^= of.reg;
      }
    return {number, source};
  }
  std::vector<std::pair<uint64_t, Source>> rows;
};

} // namespace

bool WarpMove::staysInThreads() const {
  for (unsigned bit = 0; bit < ofLane.size(); ++bit)
    if (ofLane[bit].lane != 1u << bit)
      return false;
  return llvm::all_of(ofWarp, [](Source source) { return source.lane == 0; }) &&
         llvm::all_of(ofRegister, [](Source source) { return source.lane == 0; });
}

unsigned WarpMove::chosenBits() const {
  unsigned chosen = 0;
  for (const std::vector<Source> *bits : {&ofLane, &ofWarp})
    for (Source source : *bits)
      chosen |= source.reg;
  return chosen;
}

Source WarpMove::sourceOf(unsigned reg) const {
  Source source;
  for (unsigned bit = 0; bit < ofRegister.size(); ++bit)
    if (reg >> bit & 1) {
      source.lane ^= ofRegister[bit].lane;
      source.reg ^= ofRegister[bit].reg;
    }
  return source;
}

std::optional<WarpMove> warpMove(const Layout &from, const Layout &to) {
  if (from.shape != to.shape || from.warps.size() != to.warps.size())
    return std::nullopt;
  Span registers;
  for (unsigned bit = 0; bit < from.registers.size(); ++bit)
    registers.add(numberOf(from, from.registers[bit]), {0, 1u << bit});
  Span all = registers;
  for (unsigned bit = 0; bit < from.lanes.size(); ++bit)
    all.add(numberOf(from, from.lanes[bit]), {1u << bit, 0});
  // A register of the thread itself first.
  auto find = [&](uint64_t number) {
    auto own = registers.find(number);
    return own ? own : all.find(number);
  };
  WarpMove move;
  for (unsigned bit = 0; bit < to.lanes.size(); ++bit) {
    uint64_t number = numberOf(to, to.lanes[bit]), here = numberOf(from, from.lanes[bit]);
    std::optional<Source> source = registers.find(number ^ here);
    if (source)
      source->lane = 1u << bit;
    else
      source = find(number);
    if (!source)
      return std::nullopt;
    move.ofLane.push_back(*source);
  }
  for (unsigned bit = 0; bit < to.warps.size(); ++bit) {
    auto source = find(numberOf(to, to.warps[bit]) ^ numberOf(from, from.warps[bit]));
    if (!source)
      return std::nullopt;
    move.ofWarp.push_back(*source);
  }
  for (const Layout::Point &point : to.registers) {
    auto source = find(numberOf(to, point));
    if (!source)
      return std::nullopt;
    move.ofRegister.push_back(*source);
  }
  return move;
}

std::optional<WarpMove> warpMoveThatPays(const Layout &from, const Layout &to) {
  constexpr unsigned mostMoves = 8;
  auto move = warpMove(from, to);
  return move && to.registerCount() << llvm::popcount(move->chosenBits()) <= mostMoves
             ? move
             : std::nullopt;
}

} // namespace pellucid::codegen
