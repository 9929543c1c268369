// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/LaneExchange.h"

#include <algorithm>

namespace pellucid::codegen {

std::optional<LaneExchange> laneExchange(const Layout &from, const Layout &to) {
  if (from.shape != to.shape || from.warps != to.warps ||
      from.registers.size() != to.registers.size())
    return std::nullopt;
  LaneExchange made;
  Layout now = from;
  for (unsigned lane = 0; lane < Layout::laneBits; ++lane) {
    if (now.lanes[lane] == to.lanes[lane])
      continue;
    auto found = std::find(now.registers.begin(), now.registers.end(), to.lanes[lane]);
    if (found == now.registers.end())
      return std::nullopt;
    made.exchanges.push_back({static_cast<unsigned>(found - now.registers.begin()), lane});
    std::swap(*found, now.lanes[lane]);
  }
  made.registers = to.registersIn(now);
  if (made.registers.empty())
    return std::nullopt;
  return made;
}

std::optional<LaneExchange> exchangeThatPays(const Layout &from, const Layout &to) {
  constexpr size_t mostExchanges = 2;
  auto plan = laneExchange(from, to);
  return plan && plan->exchanges.size() <= mostExchanges ? plan : std::nullopt;
}

Layout withVectors(const Layout &layout, unsigned dim, int64_t count) {
  Layout made = layout;
  auto place = [&](int64_t steps) {
    Layout::Point point = layout.zero();
    point[dim] = static_cast<int32_t>(steps);
    return point;
  };
  auto liesAlong = [&](const Layout::Point &point) {
    return point[dim] != 0 && point == place(point[dim]);
  };
  Layout::Bits vector;
  for (int64_t step = 1; step < count; step *= 2) {
    Layout::Point wanted = place(step);
    auto held = std::find(made.registers.begin(), made.registers.end(), wanted);
    if (held == made.registers.end()) {
      auto lane = std::find(made.lanes.begin(), made.lanes.end(), wanted);
      // The nearest of the registers that further vectors begin in.
      held = made.registers.end();
      for (auto one = made.registers.begin(); one != made.registers.end(); ++one)
        if (liesAlong(*one) && (*one)[dim] >= count &&
            (held == made.registers.end() || (*one)[dim] < (*held)[dim]))
          held = one;
      if (lane == made.lanes.end() || held == made.registers.end())
        return layout;
      std::swap(*lane, *held);
    }
    vector.push_back(wanted);
    made.registers.erase(held);
  }
  made.registers.insert(made.registers.begin(), vector.begin(), vector.end());
  return made;
}

} // namespace pellucid::codegen
