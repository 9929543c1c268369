// SPDX-License-Identifier: Apache-2.0
// Each loop is compiled twice, for processors with AVX2 and for all others; both give the same
// bits, since products and sums are merged where it says so and nowhere else.
#include "trace/FloatDraws.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#ifdef __clang__
#pragma clang fp contract(off)
#endif

#if defined(__x86_64__)
#define PELLUCID_FAST __attribute__((target("avx2,fma,f16c")))
#else
#define PELLUCID_FAST
#endif
#define PELLUCID_BODY __attribute__((always_inline)) inline

namespace pellucid::trace {

namespace {

bool isFast() {
#if defined(__x86_64__)
  static const bool known = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                            __builtin_cpu_supports("f16c");
  return known;
#else
  return false;
#endif
}

/// The logarithm of a number in (0, 1]: cephes' polynomial, with the products and sums that
/// compilers merge for AVX2 merged.
PELLUCID_BODY float logarithm(float number) {
  uint32_t bits = std::bit_cast<uint32_t>(number);
  float mantissa = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f000000u);
  auto e = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126);
  bool isLow = mantissa < 0.707106781186547524f;
  e = isLow ? e - 1 : e;
  float x = isLow ? mantissa - 1 + mantissa : mantissa - 1;
  float z = x * x;
  float y = 7.0376836292E-2f;
  y = std::fma(y, x, -1.1514610310E-1f);
  y = std::fma(y, x, 1.1676998740E-1f);
  y = std::fma(y, x, -1.2420140846E-1f);
  y = std::fma(y, x, 1.4249322787E-1f);
  y = std::fma(y, x, -1.6668057665E-1f);
  y = std::fma(y, x, 2.0000714765E-1f);
  y = std::fma(y, x, -2.4999993993E-1f);
  y = std::fma(y, x, 3.3333331174E-1f);
  y = y * x;
  y = std::fma(y, z, e * -2.12194440e-4f);
  y = std::fma(-z, 0.5f, y);
  return std::fma(e, 0.693359375f, x + y);
}

struct SineCosine {
  float sine, cosine;
};

/// Of numbers that are not negative, as cephes reduces and approximates them.
PELLUCID_BODY SineCosine sineCosine(float x) {
  auto octant = static_cast<int32_t>(x * 1.27323954473516f);
  octant = (octant + 1) & ~1;
  auto y = static_cast<float>(octant);
  x = std::fma(y, -0.78515625f, x);
  x = std::fma(y, -2.4187564849853515625e-4f, x);
  x = std::fma(y, -3.77489497744594108e-8f, x);
  float z = x * x;
  float cosine = std::fma(2.443315711809948E-005f, z, -1.388731625493765E-003f);
  cosine = std::fma(cosine, z, 4.166664568298827E-002f);
  cosine = std::fma(cosine * z, z, -(z * 0.5f)) + 1;
  float sine = std::fma(-1.9515295891E-4f, z, 8.3321608736E-3f);
  sine = std::fma(sine, z, -1.6666654611E-1f);
  sine = std::fma(sine * z, x, x);
  bool isTurned = (octant & 2) != 0;
  float first = isTurned ? cosine : sine, second = isTurned ? sine : cosine;
  bool negativeSine = (octant & 4) != 0, negativeCosine = ((octant - 2) & 4) == 0;
  return {negativeSine ? -first : first, negativeCosine ? -second : second};
}

PELLUCID_BODY void normalLoop(float *data, size_t blocks, float mean, float deviation) {
  for (size_t block = 0; block < blocks; ++block, data += 16) {
    float turned[16];
    for (size_t j = 0; j < 8; ++j) {
      float radius = std::sqrt(-2 * logarithm(1 - data[j]));
      SineCosine angle = sineCosine(static_cast<float>(2 * std::numbers::pi) * data[j + 8]);
      turned[j] = std::fma(radius * angle.cosine, deviation, mean);
      turned[j + 8] = std::fma(radius * angle.sine, deviation, mean);
    }
    std::memcpy(data, turned, sizeof turned);
  }
}

PELLUCID_BODY void uniformLoop(const uint32_t *words, float *out, size_t count, float low,
                               float high) {
  float width = high - low;
  for (size_t i = 0; i < count; ++i)
    out[i] = std::fma(static_cast<float>(static_cast<int32_t>(words[i] & 0xffffff)) * 0x1p-24f,
                      width, low);
}

PELLUCID_BODY uint32_t bfloat16Bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

PELLUCID_BODY void roundLoop(DataType type, float *data, size_t count) {
  if (type == DataType::Float16)
    for (size_t i = 0; i < count; ++i)
      data[i] = static_cast<float>(static_cast<_Float16>(data[i]));
  else
    for (size_t i = 0; i < count; ++i)
      data[i] = std::bit_cast<float>(bfloat16Bits(data[i]) << 16);
}

PELLUCID_BODY void storeLoop(DataType type, const float *from, std::byte *to, size_t count) {
  if (type == DataType::Float16) {
    auto *out = reinterpret_cast<_Float16 *>(to);
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<_Float16>(from[i]);
  } else {
    auto *out = reinterpret_cast<uint16_t *>(to);
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<uint16_t>(bfloat16Bits(from[i]));
  }
}

PELLUCID_FAST void normalFast(float *data, size_t blocks, float mean, float deviation) {
  normalLoop(data, blocks, mean, deviation);
}
PELLUCID_FAST void uniformFast(const uint32_t *words, float *out, size_t count, float low,
                               float high) {
  uniformLoop(words, out, count, low, high);
}
PELLUCID_FAST void roundFast(DataType type, float *data, size_t count) {
  roundLoop(type, data, count);
}
PELLUCID_FAST void storeFast(DataType type, const float *from, std::byte *to, size_t count) {
  storeLoop(type, from, to, count);
}

} // namespace

void uniformsOf(const uint32_t *words, float *out, size_t count, float low, float high) {
  isFast() ? uniformFast(words, out, count, low, high) : uniformLoop(words, out, count, low, high);
}

void turnNormal(float *data, size_t blocks, float mean, float deviation) {
  isFast() ? normalFast(data, blocks, mean, deviation) : normalLoop(data, blocks, mean, deviation);
}

void roundThrough(DataType type, float *data, size_t count) {
  if (type != DataType::Float16 && type != DataType::BFloat16)
    return;
  isFast() ? roundFast(type, data, count) : roundLoop(type, data, count);
}

void storeSingles(DataType type, const float *from, std::byte *to, size_t count) {
  if (type == DataType::Float32)
    std::memcpy(to, from, count * sizeof(float));
  else
    isFast() ? storeFast(type, from, to, count) : storeLoop(type, from, to, count);
}

} // namespace pellucid::trace
