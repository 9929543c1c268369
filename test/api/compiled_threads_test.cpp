// SPDX-License-Identifier: Apache-2.0
// Packages that the compiler makes, called by 64 threads at once: sizes that differ, refusals in
// between, packages that come and go. Every result is bit for bit the one of a single thread.
#include <pellucid/compiler.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
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
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)


@triton.jit
def softmax_rows(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(96, 160)
        self.down = nn.Linear(160, 96)

    def forward(self, x):
        h = self.up(x)
        y = torch.empty_like(h)
        silu[(triton.cdiv(h.numel(), 256),)](h, y, h.numel(), BLOCK=256)
        return self.down(y)


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(96, 96)

    def forward(self, x):
        h = self.query(x)
        y = torch.empty_like(h)
        softmax_rows[(h.shape[0],)](h, y, h.shape[1], BLOCK=128)
        return y + torch.softmax(h, dim=-1)
)";

constexpr int64_t columns = 96;
constexpr int64_t batches[] = {1, 2, 7, 16, 33, 64, 130, 257};

/// The float32 matrix of a thread; the same seed, the same numbers.
class Matrix {
public:
  Matrix(int64_t rows, unsigned seed) : shape{rows, columns}, data(size_t(rows * columns)) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 2);
    for (float &value : data)
      value = normal(random);
  }
  DLTensor tensor() { return {data.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0}; }
  bool operator==(const Matrix &other) const {
    return data.size() == other.data.size() &&
           std::memcmp(data.data(), other.data.data(), data.size() * sizeof(float)) == 0;
  }

  int64_t shape[2];
  std::vector<float> data;
};

pellucid_run_options withThreads(int32_t threads) {
  pellucid_run_options options = {};
  options.struct_size = sizeof options;
  options.threads = threads;
  return options;
}

class CompiledThreads : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    folder = fs::path(PELLUCID_BINARY_DIR) / "test" / (std::string("threads_") + GetParam());
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder / "model.py") << modelText;
    path = (folder / "model.plc").string();
    const char *input = "x=f32[batch:1..512,96]";
    pellucid_compile_options options = {};
    options.struct_size = sizeof options;
    options.inputs = &input;
    options.input_count = 1;
    std::string model = (folder / "model.py").string() + ":" + GetParam();
    ASSERT_EQ(pellucid_compile(model.c_str(), path.c_str(), &options), PELLUCID_OK)
        << pellucid_compile_error();
    ASSERT_EQ(pellucid_load(path.c_str(), &package), PELLUCID_OK) << pellucid_last_error();
    for (int64_t batch : batches)
      ASSERT_EQ(call(package, batch, 1, wanted.emplace(batch, Matrix(batch, 0)).first->second),
                PELLUCID_OK)
          << pellucid_last_error();
  }
  void TearDown() override {
    pellucid_unload(package);
    fs::remove_all(folder);
  }

  static pellucid_status call(pellucid_package *package, int64_t batch, int32_t threads,
                              Matrix &result) {
    Matrix x(batch, unsigned(batch));
    DLTensor input = x.tensor(), output = result.tensor();
    pellucid_run_options options = withThreads(threads);
    return pellucid_run_into(package, &input, 1, &output, 1, &options);
  }

  void expectRight(pellucid_package *from, int64_t batch, int32_t threads) {
    Matrix y(batch, 0);
    ASSERT_EQ(call(from, batch, threads, y), PELLUCID_OK) << pellucid_last_error();
    EXPECT_TRUE(y == wanted.at(batch)) << "batch " << batch << ", " << threads << " threads";
  }

  void expectRefused(int64_t round) {
    Matrix x(600, 1);
    DLTensor input = x.tensor();
    if (round % 2)
      input.dtype = {kDLFloat, 16, 1};
    DLManagedTensorVersioned *output = nullptr;
    EXPECT_EQ(pellucid_run(package, &input, 1, &output, 1, nullptr), PELLUCID_INVALID_ARGUMENT);
    EXPECT_EQ(output, nullptr);
    EXPECT_STREQ(pellucid_last_error(), round % 2
                                            ? "input 'x': dtype is f16, must be f32"
                                            : "input 'x': dim 0 (batch) is 600, must be in 1..512");
  }

  /// A package of this thread's own, from the same file.
  void expectRightAfterLoading(int64_t batch) {
    pellucid_package *own = nullptr;
    ASSERT_EQ(pellucid_load(path.c_str(), &own), PELLUCID_OK) << pellucid_last_error();
    expectRight(own, batch, 2);
    EXPECT_EQ(pellucid_unload(own), PELLUCID_OK);
  }

  fs::path folder;
  std::string path;
  pellucid_package *package = nullptr;
  std::map<int64_t, Matrix> wanted;
};

TEST_P(CompiledThreads, SixtyFourOnOnePackage) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t)
    threads.emplace_back([this, t] {
      for (int round = 0; round < 12; ++round) {
        int64_t batch = batches[size_t(t * 5 + round) % std::size(batches)];
        if (round % 6 == 5)
          expectRefused(round / 6 + t);
        else if (round % 6 == 2)
          expectRightAfterLoading(batch);
        else
          expectRight(package, batch, (t + round) % 4);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(CompiledThreads, OneProfileForAll) {
  pellucid_profile *profile = nullptr;
  ASSERT_EQ(pellucid_profile_create(&profile), PELLUCID_OK);
  constexpr size_t callers = 16;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < callers; ++t)
    threads.emplace_back([&] {
      Matrix x(7, 7), y(7, 0);
      DLTensor input = x.tensor(), output = y.tensor();
      pellucid_run_options options = withThreads(2);
      options.profile = profile;
      EXPECT_EQ(pellucid_run_into(package, &input, 1, &output, 1, &options), PELLUCID_OK);
      EXPECT_TRUE(y == wanted.at(7));
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string trace = pellucid_profile_json(profile);
  pellucid_profile_destroy(profile);
  size_t calls = 0;
  for (size_t at = trace.find("\"cat\":\"call\""); at != std::string::npos;
       at = trace.find("\"cat\":\"call\"", at + 1))
    ++calls;
  EXPECT_EQ(calls, callers);
}

INSTANTIATE_TEST_SUITE_P(Models, CompiledThreads, testing::Values("Gate", "Scores"),
                         [](const auto &model) { return std::string(model.param); });

} // namespace
