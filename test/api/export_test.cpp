// SPDX-License-Identifier: Apache-2.0
// Programs and packages of C++ functions and modules, three ways, strict or not.
#include "Near.h"

#include <filesystem>

namespace pellucid::test {
namespace {

const Dim batch{"batch", 1, 300};

class Model : public nn::Module {
public:
  explicit Model(const std::string &way) : activation(heldAs(way)) {
    first = register_module("first", std::make_shared<nn::Linear>(11, 5, true, dtype::float32, 1));
    second =
        register_module("second", std::make_shared<nn::Linear>(5, 3, false, dtype::float32, 2));
  }
  std::vector<Tensor> forward(const std::vector<Tensor> &inputs) override {
    return {(*second)(activation((*first)(inputs[0])))};
  }

  std::vector<double> reference(const std::vector<double> &x) const {
    std::vector<double> w1 = values(first->weight), b1 = values(first->bias),
                        w2 = values(second->weight), out;
    for (size_t row = 0; row < x.size() / 11; ++row) {
      double h[5];
      for (int j = 0; j < 5; ++j) {
        h[j] = b1[j];
        for (int k = 0; k < 11; ++k)
          h[j] += w1[j * 11 + k] * x[row * 11 + k];
        h[j] = silu(h[j]);
      }
      for (int i = 0; i < 3; ++i) {
        double sum = 0;
        for (int j = 0; j < 5; ++j)
          sum += w2[i * 5 + j] * h[j];
        out.push_back(sum);
      }
    }
    return out;
  }

  std::function<Tensor(const Tensor &)> activation;
  std::shared_ptr<nn::Linear> first, second;
};

struct Held {
  const char *way;
  bool strict;
};

class ThreeWays : public testing::TestWithParam<Held> {};

TEST_P(ThreeWays, PackageAndEagerAgreeWithDouble) {
  Model model(GetParam().way);
  ExportedProgram program =
      export_program(model, {zeros({4, 11})}, {{0, {{0, batch}}}}, GetParam().strict, {"x"});
  bool launches = contains(program.graph_table(), "triton_kernel_wrapper_mutation");
  EXPECT_EQ(launches, std::string(GetParam().way) == "raw") << program.graph_table();
  std::string stem =
      testing::TempDir() + GetParam().way + (GetParam().strict ? "-strict" : "-non-strict");
  program.save(stem + ".program");
  ExportedProgram loaded = load_program(stem + ".program");
  EXPECT_EQ(loaded.text(), program.text());
  compile_package(loaded, stem + ".plc");
  Package package = load_package(stem + ".plc");
  for (int64_t rows : {1, 7, 300}) {
    Tensor x = rand({rows, 11}, dtype::float32, -3, 3, static_cast<uint64_t>(rows));
    expectNear(package.run({x}).at(0), model.reference(values(x)), 1e-5, 1e-5);
    expectNear(model(x), model.reference(values(x)), 1e-5, 1e-5);
  }
  std::string refusal = errorOf([&] { package.run({zeros({301, 11})}); });
  EXPECT_TRUE(contains(refusal, "'x'") && contains(refusal, "301") && contains(refusal, "1..300"))
      << refusal;
}

INSTANTIATE_TEST_SUITE_P(All, ThreeWays,
                         testing::Values(Held{"raw", true}, Held{"raw", false},
                                         Held{"triton_op", true}, Held{"triton_op", false},
                                         Held{"custom_op", true}, Held{"custom_op", false}));

// What the call keeps is what it needs: neither package nor tensors stay with the caller.
TEST(Export, PreparedCallReadsItsInputsEachTime) {
  Model model("raw");
  std::string path = testing::TempDir() + "prepared.plc";
  compile_package(export_program(model, {zeros({4, 11})}, {{0, {{0, batch}}}}), path);
  Tensor x = rand({7, 11}, dtype::float32, -3, 3, 1), y = zeros({7, 3});
  float *in = x.data<float>();
  PreparedCall call = [&] {
    Package package = load_package(path);
    EXPECT_TRUE(contains(errorOf([&] { package.prepare({x}, {zeros({8, 3})}); }), "8"));
    EXPECT_TRUE(contains(errorOf([&] { package.prepare({x}, {Tensor()}); }), "an output"));
    EXPECT_TRUE(contains(errorOf([&] { package.prepare({}, {y}); }), "input"));
    return package.prepare({x}, {y});
  }();
  for (float scale : {1.0f, -0.5f}) {
    for (int i = 0; i < 7 * 11; ++i)
      in[i] *= scale;
    std::vector<double> want = model.reference(values(x));
    call.run();
    expectNear(y, want, 1e-5, 1e-5);
  }
  EXPECT_TRUE(contains(errorOf([] { PreparedCall().run(); }), "prepare"));
}

TEST(Export, RunDecompositionsOpensTransparentOperatorsOnly) {
  for (const char *way : {"triton_op", "custom_op"}) {
    Model model(way);
    ExportedProgram opened = export_program(model, {zeros({4, 11})}).run_decompositions();
    EXPECT_EQ(contains(opened.graph_table(), "triton_kernel_wrapper_mutation"),
              std::string(way) == "triton_op");
  }
}

TEST(Export, StrictRefusesABranchOnADynamicSize) {
  auto function = [](const std::vector<Tensor> &in) {
    return std::vector<Tensor>{in[0].size(0) < 10 ? exp(in[0]) : in[0] + 1.0};
  };
  std::vector<Tensor> examples{zeros({4, 3})};
  DynamicShapes dynamic{{0, {{0, batch}}}};
  std::string refusal = errorOf([&] { export_program(function, examples, dynamic, true); });
  EXPECT_TRUE(contains(refusal, "batch in 1..300") && contains(refusal, "strict")) << refusal;
  ExportedProgram followed = export_program(function, examples, dynamic, false);
  ASSERT_EQ(followed.warnings().size(), 1u);
  EXPECT_TRUE(contains(followed.warnings()[0], "batch")) << followed.warnings()[0];
}

TEST(Export, FakeThatDisagreesIsRefused) {
  Operator op =
      custom_op("api_test::wrong_fake", "(Tensor x) -> Tensor", [](const std::vector<Argument> &a) {
        return std::vector<Tensor>{exp(std::get<Tensor>(a[0]))};
      });
  op.register_fake([](const std::vector<Argument> &a) {
    return std::vector<Tensor>{empty({2}, dtype::float32)};
  });
  std::string refusal = errorOf([&] {
    export_program([&](const std::vector<Tensor> &in) { return std::vector<Tensor>{op(in[0])}; },
                   {zeros({5})});
  });
  EXPECT_TRUE(contains(refusal, "f32[2]") && contains(refusal, "f32[5]")) << refusal;
}

TEST(Export, OperatorThatCapturesATensorIsRefused) {
  Tensor hidden = ones({5});
  Operator op =
      custom_op("api_test::captures", "(Tensor x) -> Tensor", [=](const std::vector<Argument> &a) {
        return std::vector<Tensor>{std::get<Tensor>(a[0]) + hidden};
      });
  std::string refusal = errorOf([&] {
    export_program([&](const std::vector<Tensor> &in) { return std::vector<Tensor>{op(in[0])}; },
                   {zeros({5})});
  });
  EXPECT_TRUE(contains(refusal, "none of its arguments")) << refusal;
}

TEST(Module, StateDictMustFit) {
  Model model("raw");
  std::vector<std::string> names;
  for (const auto &[name, tensor] : model.named_parameters())
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"first.weight", "first.bias", "second.weight"}));
  EXPECT_FALSE(
      errorOf([&] { model.load_state_dict(testing::TempDir() + "absent.safetensors"); }).empty());
  EXPECT_TRUE(contains(errorOf([&] { model.register_parameter("first", ones({1})); }), "'first'"));
}

} // namespace
} // namespace pellucid::test
