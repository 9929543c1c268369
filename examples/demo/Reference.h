// SPDX-License-Identifier: Apache-2.0
/// The demo's model in double, computed here and nowhere near the compiler: linear 128 -> 64, SiLU,
/// linear 64 -> 128 on bf16 weights and inputs.
#pragma once

#include "judge/Judge.h"

#include <cstdint>
#include <string>
#include <vector>

namespace demo {

inline constexpr int64_t features = 128, hidden = 64;

using Bf16 = std::vector<uint16_t>;

uint16_t toBf16(float value);
double fromBf16(uint16_t bits);
/// Uniform in [-bound, bound], rounded to bf16.
Bf16 randomBf16(size_t count, double bound, uint64_t seed);

struct Weights {
  Bf16 weight1, bias1, weight2, bias2;
  /// As PyTorch's nn.Linear draws them.
  static Weights random(uint64_t seed);
  /// A .safetensors file with the model's state_dict.
  void save(const std::string &path) const;
};

/// Compares `output` ([batch, 128]) with the model on `input`. An element's bound is what three
/// roundings to bf16 (after the first linear, after SiLU, at the end) and float32 sums can add up
/// to for its own weights and activations. Throws std::runtime_error for an output of another size.
pellucid::judge::Comparison compare(const Weights &weights, const Bf16 &input, int64_t batch,
                                    const Bf16 &output);

} // namespace demo
