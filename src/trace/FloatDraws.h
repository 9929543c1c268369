// SPDX-License-Identifier: Apache-2.0
/// Whole tensors of float32 from random words, a vector at a time: what CpuGenerator draws most.
#pragma once

#include "support/DataType.h"

#include <cstddef>
#include <cstdint>

namespace pellucid::trace {

/// Numbers in [0, 1) of the low 24 bits of each word, times high - low, plus low.
void uniformsOf(const uint32_t *words, float *out, size_t count, float low, float high);
/// Of `blocks` times 16 numbers in [0, 1), by Box and Muller's formulas in each 16: normal numbers.
void turnNormal(float *data, size_t blocks, float mean, float deviation);
/// To float16 or bfloat16 and back; nothing for other types.
void roundThrough(DataType type, float *data, size_t count);
/// Numbers that `type` (float32, float16, bfloat16) holds, as it holds them.
void storeSingles(DataType type, const float *from, std::byte *to, size_t count);

} // namespace pellucid::trace
