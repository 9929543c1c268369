// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of kernels/ on vectors. What they should give is computed in the tests from
// formulas in float64, not with anything of the interpreter.
#pragma once

#include "reference/tt/Launch.h"
#include "tt/Tt.h"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <random>
#include <sstream>

namespace pellucid::reference {

inline const std::string kernelFolder =
    std::string(PELLUCID_SOURCE_DIR) + "/test/reference/tt/kernels/";

/// bfloat16 by its definition: the upper half of a float32, rounded to nearest even.
struct Brain {
  uint16_t bits = 0;

  Brain() = default;
  explicit Brain(float value) {
    uint32_t wide = std::bit_cast<uint32_t>(value);
    bits = value != value ? 0x7fc0 : (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// The parameter is the folder: as Triton's passes leave the kernels, and as its front end does.
class KernelTest : public ::testing::TestWithParam<const char *> {
protected:
  using Arguments = std::vector<HostArgument>;

  bool launch(const std::string &kernel, const Arguments &arguments,
              std::array<uint32_t, 3> grid = {1, 1, 1}) {
    std::ifstream file(kernelFolder + GetParam() + kernel + ".ttir");
    std::stringstream text;
    text << file.rdbuf();
    return launchText(text.str(), kernel, arguments, grid);
  }

  bool launchText(const std::string &text, const std::string &kernel, const Arguments &arguments,
                  std::array<uint32_t, 3> grid = {1, 1, 1}) {
    diagnostics = {};
    prints.clear();
    auto module = tt::parseTtir(text, &context, diagnostics);
    if (!module)
      return false;
    options.grid = grid;
    return launchReference(*module, kernel, arguments, options, diagnostics, &prints);
  }

  std::vector<float> randomFloats(size_t count, float low = -2, float high = 2) {
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<float> values(count);
    for (float &value : values)
      value = distribution(generator);
    return values;
  }
  std::vector<int32_t> randomInts(size_t count, int32_t low, int32_t high) {
    std::uniform_int_distribution<int32_t> distribution(low, high);
    std::vector<int32_t> values(count);
    for (int32_t &value : values)
      value = distribution(generator);
    return values;
  }
  template <typename To> static std::vector<To> cast(const std::vector<float> &values) {
    return std::vector<To>(values.begin(), values.end());
  }

  mlir::MLIRContext context;
  Diagnostics diagnostics;
  InterpretOptions options = [] {
    InterpretOptions limited;
    limited.stepLimit = 50'000'000;
    return limited;
  }();
  std::string prints;
  std::mt19937 generator{20240229};
};

inline HostTensor f32(const char *name, std::vector<float> &values) {
  return hostTensor(name, DataType::Float32, values);
}
inline HostTensor i32(const char *name, std::vector<int32_t> &values) {
  return hostTensor(name, DataType::Int32, values);
}
inline HostTensor f16(const char *name, std::vector<_Float16> &values) {
  return hostTensor(name, DataType::Float16, values);
}
inline HostTensor bf16(const char *name, std::vector<Brain> &values) {
  return hostTensor(name, DataType::BFloat16, values);
}

} // namespace pellucid::reference
