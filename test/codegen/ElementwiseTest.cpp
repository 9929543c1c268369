// SPDX-License-Identifier: Apache-2.0
#include "codegen/KernelRunner.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

class Elementwise : public testing::TestWithParam<CpuLevel> {};

std::string levelName(const testing::TestParamInfo<CpuLevel> &level) {
  return level.param == CpuLevel::X86_64_v4 ? "v4" : "v3";
}

const char *addKernel = R"(
module {
  tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
    %c1024 = arith.constant 1024 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c1024 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %starts = tt.splat %start : i32 -> tensor<1024xi32>
    %offsets = arith.addi %starts, %range : tensor<1024xi32>
    %ns = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %offsets, %ns : tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %xv = tt.load %xp, %mask : tensor<1024x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %yv = tt.load %yp, %mask : tensor<1024x!tt.ptr<f32>>
    %sum = arith.addf %xv, %yv : tensor<1024xf32>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %op = tt.addptr %os, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %op, %sum, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
})";

TEST_P(Elementwise, AddWithAMaskedTail) {
  CompiledKernel kernel(addKernel, "add", GetParam());
  for (int n : {0, 1, 7, 31, 32, 1023, 1024, 1025, 5000}) {
    Random random(n);
    std::vector<float> x(n), y(n), o(n + 64, -1.0f);
    for (int i = 0; i < n; ++i) {
      x[i] = random.number(-100, 100);
      y[i] = random.number(-1, 1);
    }
    if (n > 7)
      x[3] = NAN, y[5] = INFINITY;
    Arguments arguments;
    arguments.add(x.data()).add(y.data()).add(o.data()).add(int32_t(n));
    ASSERT_EQ(kernel.run(arguments, (n + 1023) / 1024), 0);
    for (int i = 0; i < n; ++i) {
      float expected = x[i] + y[i];
      ASSERT_TRUE(o[i] == expected || (std::isnan(o[i]) && std::isnan(expected))) << n << " " << i;
    }
    for (int i = n; i < n + 64; ++i)
      ASSERT_EQ(o[i], -1.0f) << "written beyond the mask at " << i;
  }
}

// The same input and output buffer: every element is loaded before it is overwritten.
TEST_P(Elementwise, AddInPlace) {
  CompiledKernel kernel(addKernel, "add", GetParam());
  std::vector<float> x(3000), y(3000);
  for (int i = 0; i < 3000; ++i)
    x[i] = i, y[i] = 2 * i;
  Arguments arguments;
  arguments.add(x.data()).add(y.data()).add(x.data()).add(int32_t(3000));
  ASSERT_EQ(kernel.run(arguments, 3), 0);
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(x[i], 3.0f * i);
}

TEST_P(Elementwise, SameInputSameBytes) {
  CompiledKernel one(addKernel, "add", GetParam()), two(addKernel, "add", GetParam());
  EXPECT_EQ(one.elf, two.elf);
}

const char *productPlusKernel = R"(
module {
  tt.func public @product_plus(%x: !tt.ptr<f32>, %z: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %zs = tt.splat %z : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %zp = tt.addptr %zs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %xv = tt.load %xp : tensor<64x!tt.ptr<f32>>
    %zv = tt.load %zp : tensor<64x!tt.ptr<f32>>
    %p = arith.mulf %xv, %xv : tensor<64xf32>
    %s = arith.addf %p, %zv : tensor<64xf32>
    tt.store %zp, %s : tensor<64x!tt.ptr<f32>>
    tt.return
  }
})";

// (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 when rounded once and 0 when rounded twice.
TEST_P(Elementwise, ContractsOnlyWhereAllowed) {
  for (bool contract : {true, false}) {
    CompiledKernel kernel(productPlusKernel, "product_plus", GetParam(), contract);
    std::vector<float> x(64, 1 + 0x1p-12f), z(64, -(1 + 0x1p-11f));
    Arguments arguments;
    arguments.add(x.data()).add(z.data());
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    for (float value : z)
      ASSERT_EQ(value, contract ? 0x1p-24f : 0.0f);
  }
}

// Large enough to be written past the caches, at an aligned and at an unaligned address.
TEST_P(Elementwise, StreamsLargeOutputs) {
  CompiledKernel kernel(addKernel, "add", GetParam());
  int n = (6 << 20) + 5;
  std::vector<float> x(n), y(n, 1.0f), o(n + 17);
  for (int i = 0; i < n; ++i)
    x[i] = static_cast<float>(i % 1000);
  uintptr_t misplaced = reinterpret_cast<uintptr_t>(o.data()) / 4 % 16;
  for (size_t shift : {(16 - misplaced) % 16, size_t(1) + (16 - misplaced) % 16}) {
    float *out = o.data() + shift % 17;
    Arguments arguments;
    arguments.add(x.data()).add(y.data()).add(out).add(int32_t(n));
    ASSERT_EQ(kernel.run(arguments, (n + 1023) / 1024, 1, 1, 1000), 0);
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i], i % 1000 + 1.0f);
  }
}

// Masked-off lanes lie in pages that must not be touched.
TEST_P(Elementwise, NeverReadsMaskedLanes) {
  CompiledKernel kernel(addKernel, "add", GetParam());
  long page = 4096;
  for (int n : {5, 40, 1000}) {
    std::vector<char *> regions;
    float *arrays[3];
    for (float *&array : arrays) {
      auto *memory = static_cast<char *>(
          mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      mprotect(memory + 2 * page, page, PROT_NONE);
      regions.push_back(memory);
      array = reinterpret_cast<float *>(memory + 2 * page) - n;
      for (int i = 0; i < n; ++i)
        array[i] = i;
    }
    Arguments arguments;
    arguments.add(arrays[0]).add(arrays[1]).add(arrays[2]).add(int32_t(n));
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(arrays[2][i], 2.0f * i);
    for (char *region : regions)
      munmap(region, 3 * page);
  }
}

// A grid that writes more than caches hold streams from the first aligned element on: nothing
// beside the tile may be written, nothing beyond it read.
TEST_P(Elementwise, StreamsIntoUnalignedMemory) {
  CompiledKernel kernel(addKernel, "add", GetParam());
  constexpr uint32_t grid[3] = {1 << 20, 1, 1};
  long page = 4096;
  std::vector<char *> regions;
  float *ends[2];
  for (float *&end : ends) {
    auto *memory = static_cast<char *>(
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + 2 * page, page, PROT_NONE);
    regions.push_back(memory);
    end = reinterpret_cast<float *>(memory + 2 * page);
    for (int i = 1; i <= 2048; ++i)
      end[-i] = i;
  }
  for (int misplaced : {0, 1, 4, 8, 15})
    for (int n : {3, 1000, 1023, 1024, 2047, 2048}) {
      alignas(64) std::array<float, 4096> out;
      out.fill(-1);
      float *o = out.data() + 64 + misplaced;
      Arguments arguments;
      arguments.add(ends[0] - n).add(ends[1] - n).add(o).add(int32_t(n));
      ASSERT_EQ(kernel.entry(arguments.data(), grid, 0, 2, kernel.scratch(), &kernel.context), 0);
      for (int i = -64; i < 2048 + 64; ++i)
        ASSERT_EQ(o[i], i < 0 || i >= n ? -1 : 2.0f * (n - i)) << misplaced << " " << n << " " << i;
    }
  for (char *region : regions)
    munmap(region, 3 * page);
}

INSTANTIATE_TEST_SUITE_P(Levels, Elementwise, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
