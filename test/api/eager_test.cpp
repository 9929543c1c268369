// SPDX-License-Identifier: Apache-2.0
// Operators and launches outside of any trace, against double.
#include "Near.h"

#include <algorithm>
#include <functional>

namespace pellucid::test {
namespace {

TEST(Eager, PointwiseOperatorsBroadcastAndPromote) {
  Tensor a = rand({3, 7}, dtype::float32, -2, 2, 1), b = rand({7}, dtype::bfloat16, -2, 2, 2);
  std::vector<double> x = values(a), y = values(b), expected;
  for (size_t i = 0; i < x.size(); ++i)
    expected.push_back(x[i] * y[i % 7] - 0.5);
  Tensor result = a * b - 0.5;
  EXPECT_EQ(result.scalar_type(), dtype::float32);
  expectNear(result, expected, 1e-6);
}

TEST(Eager, ANumberKeepsTheTensorsType) {
  Tensor x = rand({5}, dtype::bfloat16, -2, 2, 1);
  EXPECT_EQ((x * 2.0).scalar_type(), dtype::bfloat16);
  EXPECT_EQ((x + x.to(dtype::float32)).scalar_type(), dtype::float32);
}

TEST(Eager, GeluIsErfs) {
  Tensor x = rand({5, 7}, dtype::float32, -4, 4, 1);
  std::vector<double> expected = values(x);
  for (double &v : expected)
    v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
  expectNear(gelu(x), expected, 1e-5);
}

TEST(Eager, NanAndInfinityPass) {
  std::vector<float> data = {NAN, INFINITY, -INFINITY, -0.0f, 1};
  std::vector<double> y = values(relu(from_blob(data.data(), {5}, dtype::float32)));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(std::vector<double>(y.begin() + 1, y.end()), (std::vector<double>{INFINITY, 0, 0, 1}));
}

TEST(Eager, EmptyTensors) {
  Tensor x = zeros({0, 4});
  EXPECT_EQ((x + x).numel().guard_int(), 0);
  EXPECT_EQ(values(sum(x, {0})), std::vector<double>(4, 0));
}

TEST(Eager, LinearAgreesWithDouble) {
  Tensor x = rand({5, 13}, dtype::float32, -1, 1, 3), w = rand({9, 13}, dtype::float32, -1, 1, 4),
         bias = rand({9}, dtype::float32, -1, 1, 5);
  std::vector<double> xv = values(x), wv = values(w), bv = values(bias), expected;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 9; ++j) {
      double sum = bv[j];
      for (int k = 0; k < 13; ++k)
        sum += xv[i * 13 + k] * wv[j * 13 + k];
      expected.push_back(sum);
    }
  expectNear(linear(x, w, bias), expected, 1e-5, 1e-5);
}

TEST(Eager, SoftmaxOfARowWithInfinity) {
  Tensor x = rand({3, 11}, dtype::float32, -5, 5, 6);
  x.data<float>()[4] = -INFINITY;
  std::vector<double> v = values(x), expected(33);
  for (int r = 0; r < 3; ++r) {
    double top = *std::max_element(v.begin() + r * 11, v.begin() + r * 11 + 11), sum = 0;
    for (int i = 0; i < 11; ++i)
      sum += expected[r * 11 + i] = std::exp(v[r * 11 + i] - top);
    for (int i = 0; i < 11; ++i)
      expected[r * 11 + i] /= sum;
  }
  expectNear(softmax(x, -1), expected, 1e-5);
}

TEST(Eager, ViewsShareMemory) {
  Tensor x = rand({4, 6}, dtype::float32, 0, 1, 7);
  Tensor t = x.transpose(0, 1).slice(0, 1, 4);
  EXPECT_EQ(t.data<float>(), x.data<float>() + 1);
  EXPECT_FALSE(t.is_contiguous());
  std::vector<double> v = values(x), expected;
  for (int i = 1; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      expected.push_back(std::exp(v[j * 6 + i]));
  expectNear(exp(t), expected, 1e-5);
}

TEST(Eager, StepsAndCopiesOfViews) {
  Tensor x = rand({4, 6}, dtype::float32, 0, 1, 6);
  std::vector<double> v = values(x), steps, columns;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j : {1, 3, 5})
      steps.push_back(v[i * 6 + j]);
  for (size_t j = 0; j < 6; ++j)
    for (size_t i = 0; i < 4; ++i)
      columns.push_back(v[i * 6 + j]);
  expectNear(x.slice(1, 1, 100, 2).contiguous(), steps, 0, 0);
  Tensor copied = x.transpose(0, 1).contiguous();
  EXPECT_TRUE(copied.is_contiguous());
  expectNear(copied, columns, 0, 0);
}

TEST(Eager, EmptyLikeKeepsTheOrderOfDenseDims) {
  Tensor x = zeros({4, 6});
  auto strides = [](const Tensor &t) {
    std::vector<int64_t> out;
    for (const SymInt &stride : t.strides())
      out.push_back(stride.guard_int());
    return out;
  };
  EXPECT_EQ(strides(empty_like(x.transpose(0, 1))), (std::vector<int64_t>{1, 6}));
  EXPECT_EQ(strides(empty_like(x.slice(1, 0, 3))), (std::vector<int64_t>{3, 1}));
}

TEST(Eager, OperatorsOfSeveralResultsAndDefaults) {
  Tensor a = rand({1003}, dtype::float32, -2, 2, 7), b = rand({1003}, dtype::float32, -2, 2, 8);
  std::vector<double> x = values(a), y = values(b), total, rest;
  for (size_t i = 0; i < x.size(); ++i) {
    total.push_back(x[i] + y[i]);
    rest.push_back(x[i] - y[i]);
  }
  for (const std::vector<Argument> &arguments :
       {std::vector<Argument>{a, b}, std::vector<Argument>{a, b, int64_t(64)}}) {
    std::vector<Tensor> both = sumAndDifference()(arguments);
    ASSERT_EQ(both.size(), 2u);
    expectNear(both[0], total, 1e-6);
    expectNear(both[1], rest, 1e-6);
  }
}

TEST(Eager, InPlaceOperatorWritesItsFirstArgument) {
  Tensor x = rand({9}, dtype::float32, -1, 1, 8);
  std::vector<double> expected = values(x);
  for (double &v : expected)
    v += 2;
  call("aten::add_", {x, 2.0});
  expectNear(x, expected, 1e-6);
}

TEST(Eager, RawLaunchOfOddSizes) {
  for (int64_t n : {1, 127, 129, 1000}) {
    Tensor x = rand({n}, dtype::bfloat16, -6, 6, static_cast<uint64_t>(n));
    std::vector<double> expected = values(x);
    for (double &v : expected)
      v = silu(v);
    expectNear(launchSilu(x), expected, 0x1p-8);
  }
}

TEST(Eager, AutotunedKernelAsksTheConfigForItsGrid) {
  Tensor x = rand({301}, dtype::float32, -6, 6, 9), out = empty_like(x);
  auto grid = [&](const triton::Meta &meta) {
    return std::vector<SymInt>{cdiv(x.numel(), meta["BLOCK_SIZE"])};
  };
  kernels()["tuned_silu"][grid]({x, out, x.numel()});
  std::vector<double> expected = values(x);
  for (double &v : expected)
    v = silu(v);
  expectNear(out, expected, 1e-5);
}

/// What a call says that must fail.
struct Refusal {
  const char *name;
  std::function<void()> call;
  std::vector<std::string> parts;
};

TEST(Eager, ErrorsNameWhatIsWrong) {
  Tensor x = ones({8});
  triton::Kernel kernel = kernels()["silu"];
  std::string scratch = testing::TempDir();
  std::string readme = PELLUCID_SOURCE_DIR "/README.md";
  ExportedProgram program = export_program(
      [](const std::vector<Tensor> &in) { return std::vector<Tensor>{in[0] + 1.0}; }, {x});
  CompileOptions vax;
  vax.target = "vax";
  std::vector<Refusal> refusals = {
      {"kernel", [] { (void)kernels()["absent"]; }, {"'absent'"}},
      {"missing",
       [&] { kernel[{1}]({x, x}, {{"BLOCK_SIZE", 8}}); },
       {"'silu' needs an argument for 'n'"}},
      {"keyword", [&] { kernel[{1}]({x, x, 8}, {{"BLOCK", 8}}); }, {"no parameter 'BLOCK'"}},
      {"operator", [&] { call("aten::no_such_operator", {x}); }, {"no_such_operator"}},
      {"view", [&] { (void)x.view({3, 3}); }, {"3, 3", "8"}},
      {"broadcast", [&] { (void)(x + ones({3, 5})); }, {"8", "5"}},
      {"undefined", [&] { (void)(Tensor() + x); }, {"'self'", "got None"}},
      {"no argument", [] { sumAndDifference()({}); }, {"api_test::sum_and_difference", "'a'"}},
      {"one result",
       [&] { sumAndDifference()(x, x); },
       {"api_test::sum_and_difference", "2 tensors"}},
      {"namespace",
       [] {
         triton_op("nonamespace", "(Tensor x) -> Tensor",
                   [](const std::vector<Argument> &) { return std::vector<Tensor>{}; });
       },
       {"nonamespace"}},
      {"file", [] { triton::load("no_such_file.py"); }, {"no_such_file.py"}},
      {"package", [&] { load_package(readme); }, {"README.md"}},
      {"program", [&] { load_program(readme); }, {"README.md"}},
      {"folder", [&] { compile_package(program, scratch + "no/such/x.plc"); }, {"no/such"}},
      {"target", [&] { compile_package(program, scratch + "x.plc", vax); }, {"vax"}},
  };
  for (const Refusal &refusal : refusals) {
    std::string text = errorOf(refusal.call);
    for (const std::string &part : refusal.parts)
      EXPECT_TRUE(contains(text, part)) << refusal.name << ": '" << text << "' lacks " << part;
  }
}

} // namespace
} // namespace pellucid::test
