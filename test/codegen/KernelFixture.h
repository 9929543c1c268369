// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/KernelRunner.h"
#include "judge/Near.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace pellucid::codegen {

/// A test that runs once per ISA level, on kernels from test/codegen/ttir.
class KernelTest : public testing::TestWithParam<CpuLevel> {
protected:
  CompiledKernel compile(const std::string &file, std::string symbol = "") {
    std::ifstream stream(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/ttir/" + file + ".ttir");
    EXPECT_TRUE(stream.good()) << file;
    std::stringstream text;
    text << stream.rdbuf();
    return CompiledKernel(text.str(), symbol.empty() ? file : symbol, GetParam());
  }
};

inline std::string levelName(const testing::TestParamInfo<CpuLevel> &level) {
  return level.param == CpuLevel::X86_64_v4 ? "v4" : "v3";
}

inline std::vector<float> randomFloats(uint64_t seed, size_t count, double low = -3,
                                       double high = 3) {
  Random random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(random.number(low, high));
  return values;
}

using judge::isClose;
using judge::isNear;

} // namespace pellucid::codegen
