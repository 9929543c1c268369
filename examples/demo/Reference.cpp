// SPDX-License-Identifier: Apache-2.0
#include "Reference.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace demo {

uint16_t toBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double fromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

Bf16 randomBf16(size_t count, double bound, uint64_t seed) {
  Bf16 values(count);
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (uint16_t &value : values) {
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    value = toBf16(static_cast<float>((static_cast<double>(z >> 11) * 0x1p-52 - 1) * bound));
  }
  return values;
}

Weights Weights::random(uint64_t seed) {
  double bound1 = 1 / std::sqrt(double(features)), bound2 = 1 / std::sqrt(double(hidden));
  return {randomBf16(hidden * features, bound1, seed), randomBf16(hidden, bound1, seed + 1),
          randomBf16(features * hidden, bound2, seed + 2), randomBf16(features, bound2, seed + 3)};
}

void Weights::save(const std::string &path) const {
  struct Entry {
    const char *name, *shape;
    const Bf16 &values;
  } entries[] = {{"linear1.weight", "[64,128]", weight1},
                 {"linear1.bias", "[64]", bias1},
                 {"linear2.weight", "[128,64]", weight2},
                 {"linear2.bias", "[128]", bias2}};
  std::string header;
  size_t offset = 0;
  for (const Entry &entry : entries) {
    size_t end = offset + entry.values.size() * sizeof(uint16_t);
    header += (header.empty() ? "{\"" : ",\"") + std::string(entry.name) +
              R"(":{"dtype":"BF16","shape":)" + entry.shape + ",\"data_offsets\":[" +
              std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 63) / 64 * 64 - 8 + (header.size() % 64 > 56 ? 64 : 0), ' ');
  uint64_t size = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&size), sizeof size);
  file << header;
  for (const Entry &entry : entries)
    file.write(reinterpret_cast<const char *>(entry.values.data()),
               static_cast<std::streamsize>(entry.values.size() * sizeof(uint16_t)));
  if (!file.flush())
    throw std::runtime_error(path + ": cannot be written");
}

namespace {

/// A value and how far a correct bf16 program may be from it.
struct Bounded {
  double value, error;
};

// Half a unit in the last place of bf16 (8 significant bits) and of float32, relative.
constexpr double bf16Rounding = 0x1p-8, f32Rounding = 0x1p-24;

Bounded rounded(Bounded x) {
  return {x.value, x.error + (std::fabs(x.value) + x.error) * bf16Rounding};
}

/// bias + Σ row[i] * x[i], summed in float32 in any order, then rounded to bf16.
Bounded linearElement(const uint16_t *row, uint16_t bias, const std::vector<Bounded> &x) {
  Bounded sum{fromBf16(bias), 0};
  double magnitude = std::fabs(sum.value);
  for (size_t i = 0; i < x.size(); ++i) {
    double weight = fromBf16(row[i]);
    sum.value += weight * x[i].value;
    sum.error += std::fabs(weight) * x[i].error;
    magnitude += std::fabs(weight) * (std::fabs(x[i].value) + x[i].error);
  }
  sum.error += magnitude * static_cast<double>(x.size() + 2) * f32Rounding;
  return rounded(sum);
}

Bounded silu(Bounded x) {
  // Its slope is at most 1.1; float32's exp and division are good to a few units.
  double value = x.value / (1 + std::exp(-x.value));
  return rounded({value, 1.1 * x.error + std::fabs(value) * 16 * f32Rounding});
}

} // namespace

pellucid::judge::Comparison compare(const Weights &w, const Bf16 &input, int64_t batch,
                                    const Bf16 &output) {
  if (output.size() != static_cast<size_t>(batch * features))
    throw std::runtime_error("the output for batch " + std::to_string(batch) + " has " +
                             std::to_string(output.size()) + " elements");
  pellucid::judge::Comparison comparison;
  std::vector<Bounded> x(features), h(hidden);
  for (int64_t row = 0; row < batch; ++row) {
    for (int64_t i = 0; i < features; ++i)
      x[i] = {fromBf16(input[row * features + i]), 0};
    for (int64_t j = 0; j < hidden; ++j)
      h[j] = silu(linearElement(&w.weight1[j * features], w.bias1[j], x));
    for (int64_t i = 0; i < features; ++i) {
      Bounded expected = linearElement(&w.weight2[i * hidden], w.bias2[i], h);
      comparison.add(fromBf16(output[row * features + i]), expected.value, expected.error);
    }
  }
  return comparison;
}

} // namespace demo
