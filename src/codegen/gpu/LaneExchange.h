// SPDX-License-Identifier: Apache-2.0
// Conversions between layouts that stay within a warp: a bit of the register number and a bit of
// the lane change places, which is one shuffle for every two registers.
#pragma once

#include "codegen/gpu/Layout.h"

#include <optional>

namespace pellucid::codegen {

struct BitExchange {
  unsigned registerBit, laneBit;
};

/// First the exchanges, in order; then register i of the result is register `registers[i]`.
struct LaneExchange {
  std::vector<BitExchange> exchanges;
  std::vector<unsigned> registers;
};
/// How what lies as `from` comes to lie as `to`; nullopt where more than that is needed.
std::optional<LaneExchange> laneExchange(const Layout &from, const Layout &to);

/// The same where it costs less than a way through shared memory.
std::optional<LaneExchange> exchangeThatPays(const Layout &from, const Layout &to);

/// `layout` with `count` neighbours along `dim` in consecutive registers, by exchanges with lanes;
/// the layout itself where it has not the registers for that.
Layout withVectors(const Layout &layout, unsigned dim, int64_t count);

} // namespace pellucid::codegen
