// SPDX-License-Identifier: Apache-2.0
// A package that the compiler made, cut anywhere and with any bit changed: refused, or the same
// result.
#include "package/PackageFile.h"

#include <gtest/gtest.h>
#include <pellucid/compiler.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr const char *modelText = R"(import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        h = self.linear(x)
        y = torch.empty_like(h)
        silu[(triton.cdiv(h.numel(), 64),)](h, y, h.numel(), BLOCK=64)
        return y
)";

using Bytes = std::vector<uint8_t>;

Bytes compileModel() {
  fs::path folder = fs::path(PELLUCID_BINARY_DIR) / "test" / "damaged_package";
  fs::create_directories(folder);
  std::ofstream(folder / "model.py") << modelText;
  const char *input = "x=f32[batch:1..64,8]";
  pellucid_compile_options options = {};
  options.struct_size = sizeof options;
  options.inputs = &input;
  options.input_count = 1;
  void *data = nullptr;
  size_t bytes = 0;
  std::string model = (folder / "model.py").string() + ":Model";
  EXPECT_EQ(pellucid_compile_memory(model.c_str(), &data, &bytes, &options), PELLUCID_OK)
      << pellucid_compile_error();
  const auto *begin = static_cast<const uint8_t *>(data);
  Bytes package(begin, begin + bytes);
  pellucid_compile_free(data);
  fs::remove_all(folder);
  return package;
}

/// What became of a package's bytes.
struct Outcome {
  bool isRefused = false;
  std::vector<float> result;
};

Outcome loadAndRun(std::span<const uint8_t> bytes, bool verify = false) {
  pellucid_load_options options = {};
  options.struct_size = sizeof options;
  options.verify = verify;
  pellucid_package *package = nullptr;
  pellucid_status status = pellucid_load_memory(bytes.data(), bytes.size(), &options, &package);
  if (status != PELLUCID_OK) {
    EXPECT_EQ(package, nullptr);
    EXPECT_EQ(status, PELLUCID_INVALID_PACKAGE) << pellucid_last_error();
    return {true, {}};
  }
  float x[24];
  for (int i = 0; i < 24; ++i)
    x[i] = 0.25f * float(i) - 3;
  int64_t shape[] = {3, 8};
  DLTensor input = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLManagedTensorVersioned *output = nullptr;
  Outcome outcome;
  if (pellucid_run(package, &input, 1, &output, 1, nullptr) == PELLUCID_OK) {
    const float *y = static_cast<const float *>(output->dl_tensor.data);
    outcome.result.assign(y, y + 24);
    output->deleter(output);
  }
  pellucid_unload(package);
  return outcome;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
         });
}

class DamagedPackage : public testing::Test {
protected:
  static void SetUpTestSuite() { whole = new Bytes(compileModel()); }
  static void TearDownTestSuite() { delete whole; }
  void SetUp() override {
    ASSERT_FALSE(whole->empty());
    Outcome outcome = loadAndRun(*whole, true);
    ASSERT_EQ(outcome.result.size(), 24u) << pellucid_last_error();
    wanted = outcome.result;
    ASSERT_TRUE(pellucid::package::PackageFile::openMemory(*whole, file).ok());
  }

  bool isInWeights(size_t at) const {
    const auto &entries = file->entries();
    return std::any_of(entries.begin(), entries.end(), [&](const auto &entry) {
      return entry.name.starts_with("weights/") && at >= entry.dataOffset &&
             at < entry.dataOffset + entry.bytes;
    });
  }

  static Bytes *whole;
  std::vector<float> wanted;
  std::unique_ptr<pellucid::package::PackageFile> file;
};

Bytes *DamagedPackage::whole = nullptr;

TEST_F(DamagedPackage, CutAnywhereIsRefused) {
  std::vector<size_t> cuts = {0, 1, 3, whole->size() - 1};
  for (const auto &entry : file->entries())
    for (uint64_t border : {entry.headerOffset, entry.dataOffset, entry.dataOffset + entry.bytes})
      for (int64_t near = -2; near <= 2; ++near)
        cuts.push_back(border + static_cast<uint64_t>(near));
  for (size_t cut = 0; cut < whole->size(); cut += 101)
    cuts.push_back(cut);
  for (size_t cut : cuts)
    if (cut < whole->size())
      EXPECT_TRUE(loadAndRun(std::span(*whole).first(cut)).isRefused) << cut;
}

/// A package may begin anywhere in memory.
TEST_F(DamagedPackage, AnyAlignment) {
  for (size_t shift : {1, 2, 16, 32, 63, 64}) {
    Bytes moved(shift);
    moved.insert(moved.end(), whole->begin(), whole->end());
    Outcome outcome = loadAndRun(std::span(moved).subspan(shift));
    EXPECT_TRUE(sameBits(outcome.result, wanted)) << shift << ": " << pellucid_last_error();
  }
}

/// One bit, in every record, header and directory. Weights are compared with their checksum on
/// request only, so there another number comes out, and nothing else.
TEST_F(DamagedPackage, AnyBit) {
  std::mt19937 random(5);
  size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    size_t at = random() % whole->size();
    uint8_t bit = uint8_t(1 << random() % 8);
    (*whole)[at] ^= bit;
    Outcome outcome = loadAndRun(*whole);
    refused += outcome.isRefused;
    if (!outcome.isRefused && !isInWeights(at))
      EXPECT_TRUE(sameBits(outcome.result, wanted)) << "bit " << int(bit) << " of byte " << at;
    if (round % 8 == 0)
      EXPECT_TRUE(loadAndRun(*whole, true).isRefused) << "bit " << int(bit) << " of byte " << at;
    (*whole)[at] ^= bit;
  }
  EXPECT_GT(refused, 1000u);
}

TEST_F(DamagedPackage, ManyBytes) {
  std::mt19937 random(6);
  for (int round = 0; round < 400; ++round) {
    Bytes damaged = *whole;
    for (unsigned change = 0; change <= random() % 40; ++change)
      if (size_t at = random() % damaged.size(); !isInWeights(at))
        damaged[at] = uint8_t(random());
    Outcome outcome = loadAndRun(damaged);
    EXPECT_TRUE(outcome.isRefused || sameBits(outcome.result, wanted)) << "round " << round;
  }
}

TEST_F(DamagedPackage, MoreThanThePackage) {
  for (size_t more : {1, 22, 100, 4096}) {
    Bytes longer = *whole;
    longer.resize(longer.size() + more);
    EXPECT_TRUE(loadAndRun(longer).isRefused) << more;
  }
  Bytes twice = *whole;
  twice.insert(twice.end(), whole->begin(), whole->end());
  Outcome outcome = loadAndRun(twice);
  EXPECT_TRUE(outcome.isRefused || sameBits(outcome.result, wanted));
}

} // namespace
