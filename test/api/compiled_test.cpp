// SPDX-License-Identifier: Apache-2.0
// compile(): what it gives, and what its guards refuse by name.
#include "Near.h"

#include <atomic>
#include <thread>

namespace pellucid::test {
namespace {

CompileOptions named(std::vector<std::string> names) {
  CompileOptions options;
  options.input_names = std::move(names);
  return options;
}

const DynamicShapes dynamicRows{{0, {{0, Dim{"rows", 2, 50}}}}};

TEST(Compile, PointwiseAroundTheKernelThreeWays) {
  for (const char *way : {"raw", "triton_op", "custom_op"}) {
    auto activation = heldAs(way);
    Tensor bias = rand({13}, dtype::float32, -1, 1, 1);
    Compiled f = compile(
        [=](const std::vector<Tensor> &in) {
          return std::vector<Tensor>{activation(in[0] * 2.0 + bias) * 0.5 + in[0]};
        },
        {zeros({4, 13})}, dynamicRows);
    Tensor x = rand({17, 13}, dtype::float32, -4, 4, 2);
    std::vector<double> expected = values(x), b = values(bias);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = silu(expected[i] * 2 + b[i % 13]) * 0.5 + expected[i];
    expectNear(f({x}).at(0), expected, 1e-5, 1e-5);
  }
}

TEST(Compile, TwoOutputsInPlaceAndOpaqueBodiesInOneFunction) {
  Operator split = sumAndDifference(), scale = scaleInPlace();
  Operator centre =
      custom_op("api_test::centre", "(Tensor x) -> Tensor", [](const std::vector<Argument> &a) {
        auto x = std::get<Tensor>(a[0]);
        return std::vector<Tensor>{x - mean(x, {-1}, true)};
      });
  centre.register_fake([](const std::vector<Argument> &a) {
    return std::vector<Tensor>{empty_like(std::get<Tensor>(a[0]))};
  });
  Dim rows{"rows", 2, 50};
  Compiled f = compile(
      [=](const std::vector<Tensor> &in) {
        std::vector<Tensor> both = split({in[0], in[1]});
        scale({both[0]});
        return std::vector<Tensor>{centre(both[0]), both[1]};
      },
      {zeros({3, 43}), zeros({3, 43})}, {{0, {{0, rows}}}, {1, {{0, rows}}}});
  for (int64_t n : {2, 7, 50}) {
    Tensor a = rand({n, 43}, dtype::float32, -1, 1, 1), b = rand({n, 43}, dtype::float32, -1, 1, 2);
    std::vector<double> x = values(a), y = values(b), sum, difference;
    for (size_t i = 0; i < x.size(); ++i) {
      sum.push_back(3 * (x[i] + y[i]));
      difference.push_back(x[i] - y[i]);
    }
    for (size_t row = 0; row < sum.size(); row += 43) {
      double mean = 0;
      for (size_t i = 0; i < 43; ++i)
        mean += sum[row + i] / 43;
      for (size_t i = 0; i < 43; ++i)
        sum[row + i] -= mean;
    }
    std::vector<Tensor> results = f({a, b});
    ASSERT_EQ(results.size(), 2u);
    expectNear(results[0], sum, 1e-5, 1e-5);
    expectNear(results[1], difference, 1e-6);
  }
}

TEST(Compile, InPlaceOperatorWritesTheCallersTensor) {
  Operator scale = scaleInPlace();
  Tensor eager = rand({99}, dtype::float32, -1, 1, 1),
         compiled = rand({99}, dtype::float32, -1, 1, 1);
  std::vector<double> expected = values(eager);
  for (double &v : expected)
    v *= 3;
  scale({eager});
  expectNear(eager, expected, 1e-6);
  Compiled f = compile(
      [&](const std::vector<Tensor> &in) {
        scale({in[0]});
        return std::vector<Tensor>{in[0] + 1.0};
      },
      {zeros({99})});
  Tensor plusOne = f({compiled}).at(0);
  expectNear(compiled, expected, 1e-6);
  for (double &v : expected)
    v += 1;
  expectNear(plusOne, expected, 1e-6);
}

/// Inputs with gaps between their rows, and transposed ones: the new contents go where the elements
/// are, and nothing else is written.
TEST(Compile, MutatedInputsKeepTheirStrides) {
  auto doubled = [](const std::vector<Tensor> &in) {
    call("aten::mul_", {in[0], 2.0});
    return std::vector<Tensor>{sum(in[0], {1})};
  };
  for (bool transposed : {false, true}) {
    Tensor whole = rand({6, 9}, dtype::float32, -1, 1, 1);
    auto part = [&] {
      Tensor slice = whole.slice(1, 2, 6).slice(0, 0, 5);
      return transposed ? slice.transpose(0, 1) : slice;
    };
    std::vector<double> expected = values(whole), sums(transposed ? 4 : 5);
    for (size_t i = 0; i < 5; ++i)
      for (size_t j = 2; j < 6; ++j) {
        expected[i * 9 + j] *= 2;
        sums[transposed ? j - 2 : i] += expected[i * 9 + j];
      }
    Compiled f = compile(doubled, {part()});
    Tensor result = f({part()}).at(0);
    expectNear(whole, expected, 0, 0);
    expectNear(result, sums, 1e-6);
  }
}

TEST(Compile, UndeclaredWriteIsRefused) {
  Operator op =
      triton_op("api_test::hidden_write", "(Tensor x) -> ()", [](const std::vector<Argument> &a) {
        auto x = std::get<Tensor>(a[0]);
        kernels()["scale_in_place"][{1}]({x, 2.0, 8}, {{"BLOCK_SIZE", 8}});
        return std::vector<Tensor>{};
      });
  std::string refusal = errorOf([&] {
    compile(
        [&](const std::vector<Tensor> &in) {
          op({in[0]});
          return in;
        },
        {zeros({8})});
  });
  EXPECT_TRUE(contains(refusal, "writes to 'x'")) << refusal;
}

TEST(Compile, CustomOpOfTorchOperatorsAlone) {
  Operator op = custom_op("api_test::squares", "(Tensor x, float eps=1.0) -> Tensor",
                          [](const std::vector<Argument> &a) {
                            auto x = std::get<Tensor>(a[0]);
                            return std::vector<Tensor>{sqrt(x * x + std::get<double>(a[1]))};
                          });
  Tensor x = rand({5, 3}, dtype::float32, -2, 2, 1);
  std::vector<double> expected = values(x);
  for (double &v : expected)
    v = std::sqrt(v * v + 1);
  expectNear(op(x), expected, 1e-6);
  Compiled f =
      compile([&](const std::vector<Tensor> &in) { return std::vector<Tensor>{op(in[0])}; },
              {zeros({2, 3})}, dynamicRows);
  expectNear(f({x}).at(0), expected, 1e-6);
}

class Guards : public testing::Test {
protected:
  static const Compiled &exponential() {
    static Compiled f =
        compile([](const std::vector<Tensor> &in) { return std::vector<Tensor>{exp(in[0])}; },
                {zeros({4, 6})}, dynamicRows, named({"signal"}));
    return f;
  }
  std::string refusal(const Tensor &x) {
    return errorOf([&] { exponential()({x}); });
  }
};

TEST_F(Guards, AdmitWhatItWasCompiledFor) { EXPECT_EQ(refusal(zeros({50, 6})), ""); }
TEST_F(Guards, RefuseDtypeByName) {
  std::string text = refusal(zeros({4, 6}, dtype::bfloat16));
  EXPECT_TRUE(contains(text, "'signal'") && contains(text, "bf16") && contains(text, "f32"))
      << text;
}
TEST_F(Guards, RefuseAnotherNumberOfInputs) {
  std::string text = errorOf([] { exponential()({}); });
  EXPECT_TRUE(contains(text, "0 inputs given, the package has 1")) << text;
}
TEST_F(Guards, RefuseRankByName) {
  std::string text = refusal(zeros({4, 6, 1}));
  EXPECT_TRUE(contains(text, "'signal'") && contains(text, "rank is 3, must be 2")) << text;
}
TEST_F(Guards, RefuseRangeByName) {
  std::string text = refusal(zeros({51, 6}));
  EXPECT_TRUE(contains(text, "'signal'") && contains(text, "is 51") && contains(text, "2..50"))
      << text;
}
TEST_F(Guards, RefuseStaticSizeByName) {
  std::string text = refusal(zeros({4, 7}));
  EXPECT_TRUE(contains(text, "'signal'") && contains(text, "7") && contains(text, "6")) << text;
}
TEST_F(Guards, RefuseStridesByName) {
  std::string text = refusal(zeros({6, 4}).transpose(0, 1));
  EXPECT_TRUE(contains(text, "'signal'") && contains(text, "stride")) << text;
}

TEST(Compile, ManyThreadsShareOneFunction) {
  Compiled f =
      compile([](const std::vector<Tensor> &in) { return std::vector<Tensor>{softmax(in[0], -1)}; },
              {zeros({8, 57})}, dynamicRows);
  Tensor x = rand({50, 57}, dtype::float32, -4, 4, 3);
  std::vector<std::vector<double>> alone;
  for (int64_t n = 2; n <= 50; ++n)
    alone.push_back(values(f({x.slice(0, 0, n)}).at(0)));
  std::atomic<int> different = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (size_t round = 0; round < 40; ++round) {
        size_t at = (t * 7 + round) % alone.size();
        different += values(f({x.slice(0, 0, static_cast<int64_t>(at) + 2)}).at(0)) != alone[at];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(different, 0) << "the same bits, whoever else calls";
}

TEST(Compile, BranchThatFollowedTheExampleIsAGuard) {
  Compiled f = compile(
      [](const std::vector<Tensor> &in) {
        return std::vector<Tensor>{in[0].size(0) < 10 ? in[0] + 1.0 : in[0] - 1.0};
      },
      {zeros({4, 6})}, dynamicRows, named({"x"}));
  expectNear(f({zeros({9, 6})}).at(0), std::vector<double>(54, 1.0), 0);
  std::string text = errorOf([&] { f({zeros({10, 6})}); });
  EXPECT_TRUE(contains(text, "'x'") && contains(text, "(rows) is 10")) << text;
}

} // namespace
} // namespace pellucid::test
