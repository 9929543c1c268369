// SPDX-License-Identifier: Apache-2.0
// The C interface of the compiler: packages of Python models, refusals, threads.
#include "judge/CommaLocale.h"
#include "judge/Near.h"
#include <pellucid/compiler.h>

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <pthread.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

extern "C" pellucid_status compileInC(const char *model, const char *input, const char *path);

namespace {

namespace fs = std::filesystem;

constexpr const char *modelText = R"(import torch
import triton
import triton.language as tl


@triton.jit
def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)


def model(x):
    x = x * 1.5 + 0.25
    out = torch.empty_like(x)
    silu[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out - 2


def broken(x):
    return torch.no_such_operator(x)


def noisy(x):
    return x + torch.rand_like(x)


def numbers(x):
    scale = float("0.125") + round(2.71828, 3) + float(f"{1 / 3:.3f}") + float.fromhex("0x1.8p-1")
    x = torch.nn.functional.gelu(x * scale + 0.37)
    return torch.nn.functional.leaky_relu(x - 1e-05)
)";

double expected(double x) {
  double h = x * 1.5 + 0.25;
  return h / (1 + std::exp(-h)) - 2;
}

class Compiler : public testing::Test {
protected:
  void SetUp() override {
    folder =
        fs::path(PELLUCID_BINARY_DIR) / "test" /
        (std::string("compiler_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    file = folder / "model.py";
    std::ofstream(file) << modelText;
    options.struct_size = sizeof options;
    options.inputs = &input;
    options.input_count = 1;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string named(const char *name) const { return file.string() + ":" + name; }

  fs::path folder, file;
  const char *input = "x=f32[batch:1..64,7]";
  pellucid_compile_options options = {};
};

void expectRight(pellucid_package *package, int64_t batch) {
  std::mt19937 random(static_cast<unsigned>(batch));
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> x(static_cast<size_t>(batch * 7));
  for (float &value : x)
    value = normal(random);
  int64_t shape[] = {batch, 7};
  DLTensor tensor = {};
  tensor.data = x.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.shape = shape;
  DLManagedTensorVersioned *y = nullptr;
  ASSERT_EQ(pellucid_run(package, &tensor, 1, &y, 1, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  const float *got = static_cast<const float *>(y->dl_tensor.data);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(
        pellucid::judge::isNear(got[i], expected(x[i]), 2e-6 * (1 + std::fabs(expected(x[i])))))
        << "element " << i;
  y->deleter(y);
}

TEST_F(Compiler, FileAndMemoryHoldTheSameBytes) {
  fs::path package = folder / "model.plc";
  ASSERT_EQ(compileInC(named("model").c_str(), input, package.c_str()), PELLUCID_OK)
      << pellucid_compile_error();
  void *data = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(pellucid_compile_memory(named("model").c_str(), &data, &bytes, &options), PELLUCID_OK)
      << pellucid_compile_error();
  std::ifstream in(package, std::ios::binary);
  std::string written((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(written, std::string(static_cast<const char *>(data), bytes));

  pellucid_package *loaded = nullptr;
  ASSERT_EQ(pellucid_load_memory(data, bytes, nullptr, &loaded), PELLUCID_OK)
      << pellucid_last_error();
  for (int64_t batch : {1, 7, 64})
    expectRight(loaded, batch);
  pellucid_unload(loaded);
  pellucid_compile_free(data);
}

TEST_F(Compiler, NamesTheExampleSize) {
  std::vector<std::string> said;
  options.message_state = &said;
  options.message = [](void *state, const char *text) {
    static_cast<std::vector<std::string> *>(state)->push_back(text);
  };
  void *data = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(pellucid_compile_memory(named("model").c_str(), &data, &bytes, &options), PELLUCID_OK);
  pellucid_compile_free(data);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], "note: batch is 8 in the example");
}

// A call of it, and the numbers that it added.
std::vector<float> noise(pellucid_package *package, const pellucid_run_options *options) {
  std::vector<float> zeros(21), out(21);
  int64_t shape[2] = {3, 7};
  DLTensor x = {};
  x.data = zeros.data();
  x.device = {kDLCPU, 0};
  x.ndim = 2;
  x.dtype = {kDLFloat, 32, 1};
  x.shape = shape;
  DLTensor y = x;
  y.data = out.data();
  EXPECT_EQ(pellucid_run_into(package, &x, 1, &y, 1, options), PELLUCID_OK)
      << pellucid_last_error();
  if (!options || !options->seeded)
    return out;
  // A prepared call takes them from each of its runs.
  std::vector<float> prepared(21);
  y.data = prepared.data();
  pellucid_call *call = nullptr;
  EXPECT_EQ(pellucid_call_create(package, &x, 1, &y, 1, &call), PELLUCID_OK)
      << pellucid_last_error();
  pellucid_run_options other = *options;
  other.seed += 5;
  EXPECT_EQ(pellucid_call_run(call, &other), PELLUCID_OK) << pellucid_last_error();
  EXPECT_NE(prepared, out);
  EXPECT_EQ(pellucid_call_run(call, options), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(prepared, out);
  // Without a seed, two runs differ.
  EXPECT_EQ(pellucid_call_run(call, nullptr), PELLUCID_OK) << pellucid_last_error();
  std::vector<float> first = prepared;
  EXPECT_EQ(pellucid_call_run(call, nullptr), PELLUCID_OK) << pellucid_last_error();
  EXPECT_NE(prepared, first);
  pellucid_call_destroy(call);
  return out;
}

TEST_F(Compiler, RunsOfOneSeedAreTheSame) {
  void *data = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(pellucid_compile_memory(named("noisy").c_str(), &data, &bytes, &options), PELLUCID_OK)
      << pellucid_compile_error();
  pellucid_package *package = nullptr, *other = nullptr;
  ASSERT_EQ(pellucid_load_memory(data, bytes, nullptr, &package), PELLUCID_OK);
  ASSERT_EQ(pellucid_load_memory(data, bytes, nullptr, &other), PELLUCID_OK);
  EXPECT_NE(std::string(pellucid_describe(package)).find("draws_random_numbers"),
            std::string::npos);
  pellucid_run_options run{};
  run.struct_size = sizeof run;
  run.seeded = 1;
  run.seed = 42;
  std::vector<float> first = noise(package, &run);
  EXPECT_EQ(noise(package, &run), first);
  EXPECT_EQ(noise(other, &run), first);
  run.offset = 1;
  EXPECT_NE(noise(package, &run), first);
  run.offset = 0;
  run.seed = 43;
  EXPECT_NE(noise(package, &run), first);
  // Without a seed no two calls are the same, nor two loadings.
  std::vector<float> own = noise(package, nullptr);
  EXPECT_NE(noise(package, nullptr), own);
  EXPECT_NE(noise(other, nullptr), own);
  for (float value : own)
    EXPECT_TRUE(value >= 0 && value < 1) << value;
  pellucid_unload(package);
  pellucid_unload(other);
  pellucid_compile_free(data);
}

TEST_F(Compiler, RefusalsNameThePlaceAndLeaveNothing) {
  fs::path package = folder / "model.plc";
  auto refusal = [&](const std::string &model, pellucid_status status = PELLUCID_INVALID_ARGUMENT) {
    EXPECT_EQ(pellucid_compile(model.c_str(), package.c_str(), &options), status);
    EXPECT_FALSE(fs::exists(package));
    std::string text = pellucid_compile_error();
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(refusal(named("broken")).find(file.string() + ":21:12: error: "), 0u)
      << pellucid_compile_error();
  EXPECT_NE(refusal(named("absent")).find("absent"), std::string::npos);
  EXPECT_NE(refusal((folder / "gone.py").string() + ":f").find("gone.py"), std::string::npos);
  input = "x=f99[batch:1..64,7]";
  EXPECT_NE(refusal(named("model")).find(input), std::string::npos);
  input = "x=f32[batch:1..64,7]";
  options.target = "cpu:x86-64-v9";
  EXPECT_NE(refusal(named("model")).find("x86-64-v9"), std::string::npos);
  options.target = nullptr;
  options.struct_size = 3;
  EXPECT_NE(refusal(named("model")).find("struct_size is 3"), std::string::npos);
  options.struct_size = sizeof options;
  package = folder / "no" / "such" / "model.plc";
  EXPECT_NE(refusal(named("model"), PELLUCID_IO_ERROR).find(package.string()), std::string::npos);

  EXPECT_EQ(pellucid_compile(nullptr, package.c_str(), nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_compile(named("model").c_str(), nullptr, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_compile_memory(named("model").c_str(), nullptr, nullptr, &options),
            PELLUCID_INVALID_ARGUMENT);
}

TEST_F(Compiler, AFieldOfANewerCallerIsRefused) {
  struct {
    pellucid_compile_options known;
    int64_t fieldOfTheFuture;
  } newer = {options, 0};
  newer.known.struct_size = sizeof newer;
  fs::path package = folder / "model.plc";
  EXPECT_EQ(pellucid_compile(named("model").c_str(), package.c_str(), &newer.known), PELLUCID_OK)
      << pellucid_compile_error();
  newer.fieldOfTheFuture = 1;
  EXPECT_EQ(pellucid_compile(named("model").c_str(), package.c_str(), &newer.known),
            PELLUCID_INVALID_ARGUMENT);
}

/// What the program around us has chosen, for its numbers, its arithmetic, its signals: the package
/// is the same.
TEST_F(Compiler, TheCallersSettingsChangeNothing) {
  auto package = [&] {
    void *data = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(pellucid_compile_memory(named("numbers").c_str(), &data, &bytes, &options),
              PELLUCID_OK)
        << pellucid_compile_error();
    std::string held(static_cast<const char *>(data), bytes);
    pellucid_compile_free(data);
    return held;
  };
  options.target = "cpu:x86-64-v3";
  std::string plain = package();
  ASSERT_FALSE(plain.empty());
  {
    pellucid::test::CommaLocale comma;
    if (comma.isThere) {
      EXPECT_TRUE(package() == plain) << "in a locale with decimal commas";
      char text[8];
      std::snprintf(text, sizeof text, "%.1f", 0.5);
      EXPECT_STREQ(text, "0,5") << "the caller's locale is gone";
    }
  }
  const std::function<void()> settings[] = {[] { std::fesetround(FE_UPWARD); },
                                            [] { ::feenableexcept(FE_ALL_EXCEPT); }};
  for (const std::function<void()> &set : settings) {
    std::fenv_t before;
    std::fegetenv(&before);
    set();
    std::string held = package();
    std::fesetenv(&before);
    EXPECT_TRUE(held == plain);
  }
  auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_TRUE(package() == plain) << "where children are not waited for";
  std::signal(SIGCHLD, before);
}

TEST_F(Compiler, AThreadWithASmallStackIsRefused) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  struct Job {
    std::string model, why;
    pellucid_compile_options options;
  } job{named("model"), "", options};
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void *given) -> void * {
                  Job &job = *static_cast<Job *>(given);
                  void *data = nullptr;
                  size_t bytes = 0;
                  if (pellucid_compile_memory(job.model.c_str(), &data, &bytes, &job.options))
                    job.why = pellucid_compile_error();
                  pellucid_compile_free(data);
                  return nullptr;
                },
                &job),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(job.why, "the calling thread has less than 320 KiB of stack left, which compiling "
                     "needs: call from a thread with a larger stack");
}

TEST_F(Compiler, AFunctionForMessagesThatThrowsIsAStatus) {
  options.message = [](void *, const char *) { throw 5; };
  void *data = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(pellucid_compile_memory(named("model").c_str(), &data, &bytes, &options),
            PELLUCID_INTERNAL_ERROR);
  EXPECT_STREQ(pellucid_compile_error(), "the function that gets messages threw an exception");
  EXPECT_EQ(data, nullptr);
}

TEST_F(Compiler, OptionsThatWereNeverSetAreRefused) {
  options.struct_size = SIZE_MAX / 3;
  EXPECT_EQ(pellucid_compile(named("model").c_str(), (folder / "m.plc").c_str(), &options),
            PELLUCID_INVALID_ARGUMENT);
  EXPECT_NE(std::string(pellucid_compile_error()).find("must be sizeof the struct"),
            std::string::npos);
}

TEST_F(Compiler, ThreadsTakeTurns) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::string model = named(t % 2 ? "model" : "broken");
      void *data = nullptr;
      size_t bytes = 0;
      pellucid_status status = pellucid_compile_memory(model.c_str(), &data, &bytes, &options);
      EXPECT_EQ(status, t % 2 ? PELLUCID_OK : PELLUCID_INVALID_ARGUMENT);
      EXPECT_EQ(std::string(pellucid_compile_error()).empty(), t % 2 == 1);
      EXPECT_EQ(data != nullptr, t % 2 == 1);
      pellucid_compile_free(data);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
