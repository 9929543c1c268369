// SPDX-License-Identifier: Apache-2.0
/// How much of its stack the running thread has left: what recurses as deeply as its input says
/// asks before it goes on.
#pragma once

#include <cstddef>

namespace pellucid {

/// A stack that a coroutine runs on; without a base: the thread's own.
struct StackRange {
  void *base = nullptr;
  size_t bytes = 0;
};

/// Says which stack the thread runs on from here; gives the one before.
StackRange setStackRange(StackRange range);

/// Whether less than `reserve` bytes are left below the caller. On a stack that is neither the
/// thread's own nor told of nothing is known and the answer is no; counted limits hold there.
bool stackIsLow(size_t reserve = 192 * 1024);

} // namespace pellucid
