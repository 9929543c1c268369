// SPDX-License-Identifier: Apache-2.0
// The C++ interface against float64 sums of its own: eager calls, programs, packages, compiled
// functions, and what each refuses.
#include "../../examples/silu_model.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace pellucid;

namespace {

const std::string source = PELLUCID_SOURCE_DIR;

std::vector<float> floats(const Tensor &tensor) {
  const float *data = tensor.data<float>();
  return {data, data + tensor.numel().guard_int()};
}

void expectNear(const Tensor &tensor, size_t count, const std::function<double(size_t)> &want,
                double tolerance = 1e-5) {
  ASSERT_EQ(tensor.scalar_type(), dtype::float32);
  std::vector<float> got = floats(tensor);
  ASSERT_EQ(got.size(), count);
  for (size_t i = 0; i < count; ++i)
    ASSERT_NEAR(got[i], want(i), tolerance * std::max(1.0, std::abs(want(i)))) << "element " << i;
}

std::string messageOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_REFUSED(statement, ...)                                                             \
  do {                                                                                             \
    std::string text = messageOf([&] { statement; });                                              \
    for (const char *part : {__VA_ARGS__})                                                         \
      EXPECT_NE(text.find(part), std::string::npos) << text;                                       \
  } while (false)

double silu64(double x) { return x / (1 + std::exp(-x)); }

Tensor random(const std::vector<int64_t> &shape, uint64_t seed) {
  return rand(shape, dtype::float32, -2, 2, seed);
}

/// A file that goes with the test.
class ScratchFile {
public:
  explicit ScratchFile(const std::string &suffix)
      : path(testing::TempDir() + "api" + std::to_string(::getpid()) + suffix) {}
  ~ScratchFile() { std::remove(path.c_str()); }
  const std::string path;
};

triton::File kernels() {
  static triton::File file = triton::load(source + "/test/api/kernels.py");
  return file;
}

std::function<std::vector<SymInt>(const triton::Meta &)> blocks(const SymInt &n) {
  return [n](const triton::Meta &meta) { return std::vector<SymInt>{cdiv(n, meta["BLOCK"])}; };
}

/// A two-output kernel as an operator.
Operator gateOperator() {
  return triton_op("api_test::gate", "(Tensor x, float factor=2.0) -> (Tensor, Tensor)",
                   [kernel = kernels()["gate_kernel"]](const std::vector<Argument> &arguments) {
                     auto x = std::get<Tensor>(arguments[0]);
                     Tensor sum = empty_like(x), product = empty_like(x);
                     SymInt n = x.numel();
                     wrap_triton(kernel)[blocks(n)](
                         {x, sum, product, n, std::get<double>(arguments[1])}, {{"BLOCK", 64}});
                     return std::vector<Tensor>{sum, product};
                   });
}

/// Writes its first argument.
Operator addIntoOperator() {
  return triton_op("api_test::add_into", "(Tensor(a!) x, Tensor y) -> ()",
                   [kernel = kernels()["add_into_kernel"]](const std::vector<Argument> &arguments) {
                     auto x = std::get<Tensor>(arguments[0]);
                     SymInt n = x.numel();
                     wrap_triton(kernel)[blocks(n)]({x, std::get<Tensor>(arguments[1]), n},
                                                    {{"BLOCK", 128}});
                     return std::vector<Tensor>{};
                   });
}

/// Torch operators alone, opaque.
Operator centreOperator() {
  Operator op = custom_op("api_test::centre", "(Tensor x) -> Tensor",
                          [](const std::vector<Argument> &arguments) {
                            auto x = std::get<Tensor>(arguments[0]);
                            return std::vector<Tensor>{x - mean(x, {-1}, true)};
                          });
  op.register_fake([](const std::vector<Argument> &arguments) {
    return std::vector<Tensor>{empty_like(std::get<Tensor>(arguments[0]))};
  });
  return op;
}

const DynamicShapes rows = {{0, {{0, Dim{"rows", 1, 64}}}}};

TEST(Eager, OperatorsBroadcastAndPromote) {
  Tensor x = random({5, 7}, 1), row = random({7}, 2);
  std::vector<float> a = floats(x), b = floats(row);
  expectNear(x * row + 0.5, 35, [&](size_t i) { return double(a[i]) * b[i % 7] + 0.5; });
  expectNear(gelu(x), 35,
             [&](size_t i) { return 0.5 * a[i] * (1 + std::erf(a[i] / std::sqrt(2.0))); });
  EXPECT_EQ((x.to(dtype::bfloat16) + row).scalar_type(), dtype::float32);
  EXPECT_EQ((x.to(dtype::bfloat16) * 2.0).scalar_type(), dtype::bfloat16);
}

TEST(Eager, ReductionsAndProducts) {
  Tensor x = random({3, 33}, 3), weight = random({9, 33}, 4), bias = random({9}, 5);
  std::vector<float> a = floats(x), w = floats(weight), b = floats(bias);
  expectNear(linear(x, weight, bias), 27, [&](size_t i) {
    double sum = b[i % 9];
    for (size_t k = 0; k < 33; ++k)
      sum += double(a[i / 9 * 33 + k]) * w[i % 9 * 33 + k];
    return sum;
  });
  expectNear(softmax(x, -1), 99, [&](size_t i) {
    double sum = 0;
    for (size_t k = 0; k < 33; ++k)
      sum += std::exp(double(a[i / 33 * 33 + k]));
    return std::exp(double(a[i])) / sum;
  });
}

TEST(Eager, ViewsShareMemory) {
  Tensor x = random({4, 6}, 6);
  Tensor column = x.transpose(0, 1);
  EXPECT_EQ(column.data_ptr(), x.data_ptr());
  EXPECT_FALSE(column.is_contiguous());
  std::vector<float> a = floats(x);
  expectNear(column.contiguous(), 24, [&](size_t i) { return a[i % 4 * 6 + i / 4]; }, 0);
  expectNear(
      x.slice(1, 1, 100, 2).contiguous(), 12,
      [&](size_t i) { return a[i / 3 * 6 + 1 + i % 3 * 2]; }, 0);
}

TEST(Eager, NanAndInfinityPass) {
  std::vector<float> data = {NAN, INFINITY, -INFINITY, -0.0f, 1};
  Tensor x = from_blob(data.data(), {5}, dtype::float32);
  std::vector<float> y = floats(relu(x));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], INFINITY);
  EXPECT_EQ(y[2], 0);
}

TEST(Eager, EmptyTensors) {
  Tensor x = zeros({0, 4});
  EXPECT_EQ((x + x).numel().guard_int(), 0);
  EXPECT_EQ(floats(sum(x, {0})), std::vector<float>(4, 0));
}

TEST(Eager, RawLaunchAndOperators) {
  Tensor x = random({1003}, 7), out = empty_like(x), product = empty_like(x);
  std::vector<float> a = floats(x);
  kernels()["gate_kernel"][blocks(x.numel())]({x, out, product, 1003, 3.0}, {{"BLOCK", 256}});
  expectNear(out, 1003, [&](size_t i) { return a[i] + 3.0; });
  expectNear(product, 1003, [&](size_t i) { return a[i] * 3.0; });
  std::vector<Tensor> both = gateOperator()({x});
  ASSERT_EQ(both.size(), 2u);
  expectNear(both[1], 1003, [&](size_t i) { return a[i] * 2.0; });
  Tensor target = random({77}, 8), other = random({77}, 9);
  std::vector<float> before = floats(target), added = floats(other);
  addIntoOperator()({target, other});
  expectNear(target, 77, [&](size_t i) { return double(before[i]) + added[i]; });
}

/// Way, strict.
class ThreeWays : public testing::TestWithParam<std::tuple<const char *, bool>> {
protected:
  std::string way = std::get<0>(GetParam());
  bool strict = std::get<1>(GetParam());
  std::shared_ptr<SiluModel> model = std::make_shared<SiluModel>(
      triton::load(source + "/examples/silu_kernels.py"), way, 24, 10, dtype::float32);

  std::vector<double> want(const Tensor &x) const {
    std::map<std::string, std::vector<float>> weights;
    for (const auto &[name, value] : model->named_parameters())
      weights[name] = floats(value);
    auto layer = [&](const std::vector<double> &in, const std::string &name, size_t inner,
                     size_t outer) {
      std::vector<double> out;
      for (size_t row = 0; row < in.size() / inner; ++row)
        for (size_t o = 0; o < outer; ++o) {
          double sum = weights[name + ".bias"][o];
          for (size_t k = 0; k < inner; ++k)
            sum += in[row * inner + k] * weights[name + ".weight"][o * inner + k];
          out.push_back(sum);
        }
      return out;
    };
    std::vector<float> data = floats(x);
    std::vector<double> hidden = layer({data.begin(), data.end()}, "linear1", 24, 10);
    for (double &value : hidden)
      value = silu64(value);
    return layer(hidden, "linear2", 10, 24);
  }
};

TEST_P(ThreeWays, EagerExportedAndPackagedAgreeWithFloat64) {
  ExportedProgram program = export_program(*model, {random({8, 24}, 10)}, rows, strict, {"x"});
  std::string table = program.graph_table();
  EXPECT_EQ(table.find("triton_kernel_wrapper_mutation") != std::string::npos, way == "raw")
      << table;
  EXPECT_EQ(table.find("examples_cpp.silu_opaque.default") != std::string::npos, way == "custom_op")
      << table;
  ScratchFile package(".plc"), text(".program");
  program.save(text.path);
  EXPECT_EQ(load_program(text.path).text(), program.text());
  compile_package(load_program(text.path), package.path);
  Package loaded = load_package(package.path);
  for (int64_t batch : {1, 7, 64}) {
    Tensor x = random({batch, 24}, 20 + static_cast<uint64_t>(batch));
    std::vector<double> expected = want(x);
    expectNear(loaded.run({x}).at(0), expected.size(), [&](size_t i) { return expected[i]; });
    expectNear((*model)(x), expected.size(), [&](size_t i) { return expected[i]; });
  }
  EXPECT_REFUSED(loaded.run({random({65, 24}, 1)}), "input 'x': dim 0 (rows) is 65", "1..64");
}

TEST_P(ThreeWays, OperatorsOpenAsTheyShould) {
  ExportedProgram opened =
      export_program(*model, {random({8, 24}, 10)}, rows, strict).run_decompositions();
  std::string table = opened.graph_table();
  EXPECT_EQ(table.find("triton_kernel_wrapper_mutation") != std::string::npos, way != "custom_op")
      << table;
}

INSTANTIATE_TEST_SUITE_P(Model, ThreeWays,
                         testing::Combine(testing::Values("raw", "triton_op", "custom_op"),
                                          testing::Bool()),
                         [](const auto &info) {
                           return std::get<0>(info.param) +
                                  std::string(std::get<1>(info.param) ? "_strict" : "_nonstrict");
                         });

TEST(Compile, GuardsRefuseByName) {
  CompileOptions options;
  options.input_names = {"x"};
  Compiled call =
      compile([](const std::vector<Tensor> &in) { return std::vector<Tensor>{silu(in[0]) * 2.0}; },
              {random({8, 6}, 1)}, rows, options);
  Tensor x = random({5, 6}, 2);
  std::vector<float> a = floats(x);
  expectNear(call({x}).at(0), 30, [&](size_t i) { return 2 * silu64(a[i]); });
  EXPECT_REFUSED(call({x.to(dtype::float64)}), "input 'x'", "dtype is f64", "f32");
  EXPECT_REFUSED(call({random({6}, 1)}), "input 'x'", "rank", "1", "2");
  EXPECT_REFUSED(call({random({65, 6}, 1)}), "input 'x': dim 0 (rows) is 65", "1..64");
  EXPECT_REFUSED(call({random({5, 7}, 1)}), "input 'x': dim 1 is 7", "6");
  EXPECT_REFUSED(call({random({6, 5}, 1).transpose(0, 1)}), "input 'x'", "stride");
  EXPECT_REFUSED(call({}), "1", "0");
}

TEST(Compile, BranchesFollowTheExampleAndAreGuarded) {
  auto branching = [](const std::vector<Tensor> &in) {
    if (in[0].size(0) > 10)
      return std::vector<Tensor>{in[0] * 2.0};
    return std::vector<Tensor>{in[0] + 1.0};
  };
  Tensor example = random({8, 3}, 1);
  EXPECT_REFUSED(export_program(branching, {example}, rows, /*strict=*/true), "dynamic dim",
                 "rows");
  Compiled call = compile(branching, {example}, rows);
  Tensor x = random({10, 3}, 2);
  std::vector<float> a = floats(x);
  expectNear(call({x}).at(0), 30, [&](size_t i) { return a[i] + 1.0; });
  EXPECT_REFUSED(call({random({11, 3}, 2)}), "arg0", "is 11");
}

TEST(Compile, TwoOutputsInPlaceAndOpaqueBodies) {
  Operator gate = gateOperator(), add = addIntoOperator(), centre = centreOperator();
  auto function = [=](const std::vector<Tensor> &in) {
    std::vector<Tensor> both = gate({in[0], 3.0});
    Tensor total = both[0] * 1.0;
    add({total, both[1]});
    return std::vector<Tensor>{centre(total), both[1]};
  };
  Compiled call = compile(function, {random({4, 9}, 1)}, rows);
  for (int64_t n : {1, 13, 64}) {
    Tensor x = random({n, 9}, static_cast<uint64_t>(n));
    std::vector<float> a = floats(x);
    std::vector<Tensor> got = call({x});
    ASSERT_EQ(got.size(), 2u);
    size_t count = static_cast<size_t>(n) * 9;
    auto total = [&](size_t i) { return a[i] + 3.0 + a[i] * 3.0; };
    expectNear(got[0], count, [&](size_t i) {
      double sum = 0;
      for (size_t k = 0; k < 9; ++k)
        sum += total(i / 9 * 9 + k);
      return total(i) - sum / 9;
    });
    expectNear(got[1], count, [&](size_t i) { return a[i] * 3.0; });
  }
}

TEST(Compile, CapturedTensorsAreWeights) {
  Tensor weight = random({6}, 3);
  Compiled call =
      compile([=](const std::vector<Tensor> &in) { return std::vector<Tensor>{in[0] * weight}; },
              {random({8, 6}, 1)}, rows);
  Tensor x = random({3, 6}, 4);
  std::vector<float> a = floats(x), w = floats(weight);
  expectNear(call({x}).at(0), 18, [&](size_t i) { return double(a[i]) * w[i % 6]; });
}

TEST(Compile, ManyThreadsShareOneFunction) {
  Compiled call =
      compile([](const std::vector<Tensor> &in) { return std::vector<Tensor>{softmax(in[0], -1)}; },
              {random({8, 50}, 1)}, rows);
  std::vector<std::thread> threads;
  std::vector<double> worst(16, 1);
  for (size_t t = 0; t < worst.size(); ++t)
    threads.emplace_back([&, t] {
      double error = 0;
      for (int round = 0; round < 20; ++round) {
        int64_t n = 1 + static_cast<int64_t>((t * 7 + static_cast<size_t>(round)) % 64);
        std::vector<float> y = floats(call({random({n, 50}, t)}).at(0));
        for (size_t row = 0; row < static_cast<size_t>(n); ++row) {
          double sum = 0;
          for (size_t k = 0; k < 50; ++k)
            sum += y[row * 50 + k];
          error = std::max(error, std::abs(sum - 1));
        }
      }
      worst[t] = error;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (double error : worst)
    EXPECT_LT(error, 1e-5);
}

TEST(Refusals, NameWhatIsWrong) {
  Tensor x = random({4, 4}, 1);
  EXPECT_REFUSED(x + random({3, 5}, 1), "4", "5");
  EXPECT_REFUSED(call("aten::no_such_operator", {x}), "no_such_operator");
  EXPECT_REFUSED(kernels()["no_such_kernel"], "no_such_kernel");
  EXPECT_REFUSED(triton::load(source + "/test/api/no_such_file.py"), "no_such_file.py");
  EXPECT_REFUSED(triton_op("nonamespace", "(Tensor x) -> Tensor",
                           [](const std::vector<Argument> &) { return std::vector<Tensor>{}; }),
                 "nonamespace");
  EXPECT_REFUSED(gateOperator()({}), "api_test::gate", "'x'");
  EXPECT_REFUSED(gateOperator()(x, 3.0), "api_test::gate", "2 tensors");
  EXPECT_REFUSED(gateOperator()(x), "api_test::gate", "2 tensors");
  EXPECT_REFUSED(kernels()["gate_kernel"][triton::Grid{1}]({x, x}, {{"BLOCK", 64}}), "gate_kernel");
  EXPECT_REFUSED(load_package(source + "/README.md"), "README.md");
  EXPECT_REFUSED(load_program(source + "/README.md"), "README.md");
  ExportedProgram program = export_program(
      [](const std::vector<Tensor> &in) { return std::vector<Tensor>{in[0] + 1.0}; }, {x});
  EXPECT_REFUSED(compile_package(program, testing::TempDir() + "no/such/folder/x.plc"),
                 "no/such/folder");
  CompileOptions options;
  options.target = "vax";
  EXPECT_REFUSED(compile_package(program, testing::TempDir() + "x.plc", options), "vax");
}

TEST(Refusals, AWrongFakeIsNamed) {
  Operator op = custom_op("api_test::wrong", "(Tensor x) -> Tensor",
                          [](const std::vector<Argument> &arguments) {
                            return std::vector<Tensor>{std::get<Tensor>(arguments[0]) * 2.0};
                          });
  op.register_fake([](const std::vector<Argument> &) { return std::vector<Tensor>{zeros({1})}; });
  EXPECT_REFUSED(
      compile([=](const std::vector<Tensor> &in) { return op({in[0]}); }, {random({4}, 1)}),
      "api_test::wrong", "register_fake");
}

} // namespace
