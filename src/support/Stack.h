// SPDX-License-Identifier: Apache-2.0
/// How much of its stack the running thread has left: what recurses as deeply as its input says
/// asks before it goes on.
#pragma once

#include <cstddef>

namespace pellucid {

/// Whether less than `reserve` bytes are left below the caller. On a stack that is not the
/// thread's own (a coroutine's) nothing is known and the answer is no; counted limits hold there.
bool stackIsLow(size_t reserve = 192 * 1024);

} // namespace pellucid
