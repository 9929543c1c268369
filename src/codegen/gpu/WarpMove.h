// SPDX-License-Identifier: Apache-2.0
// Conversions between layouts for which each warp holds all that it wants: a thread takes each
// element from a register of another lane, or of its own.
#pragma once

#include "codegen/gpu/Layout.h"

#include <optional>

namespace pellucid::codegen {

/// Where the element of a register of a thread is: the bits of the register, the lane and the warp
/// that want it each change the lane and the register that it comes from (by xor).
struct WarpMove {
  struct Source {
    unsigned lane = 0, reg = 0;
  };
  std::vector<Source> ofRegister, ofLane, ofWarp;

  /// No other lane is asked.
  bool staysInThreads() const;
  /// The bits of the source's register that depend on the thread.
  unsigned chosenBits() const;
  /// Of the thread whose lane and warp number are zero.
  Source sourceOf(unsigned reg) const;
};

/// How what lies as `from` comes to lie as `to`; nullopt where warps lack elements that they want.
std::optional<WarpMove> warpMove(const Layout &from, const Layout &to);

/// The same where it costs less than a way through shared memory.
std::optional<WarpMove> warpMoveThatPays(const Layout &from, const Layout &to);

} // namespace pellucid::codegen
