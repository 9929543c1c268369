// SPDX-License-Identifier: Apache-2.0
// Gradients of recorded tensors against derivatives in double.
#include "Near.h"

#include <numeric>

namespace pellucid::test {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

Tensor vectorOf(const std::vector<float> &elements) {
  Tensor x = empty({elements.size()});
  std::copy(elements.begin(), elements.end(), x.data<float>());
  return x;
}

Tensor leaf(const std::vector<float> &elements) { return vectorOf(elements).requires_grad_(); }

TEST(Autograd, AProductsGradientsAreTheOtherFactor) {
  Tensor a = leaf({1, -2, 3}), b = leaf({0.5, 4, -1});
  Tensor y = a * b + a;
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.is_leaf());
  EXPECT_TRUE(a.is_leaf());
  sum(y, {}).backward();
  expectNear(a.grad(), {1.5, 5, 0}, 0);
  expectNear(b.grad(), {1, -2, 3}, 0);
  sum(a * 2.0, {}).backward();
  expectNear(a.grad(), {3.5, 7, 2}, 0);
  a.set_grad({});
  EXPECT_FALSE(a.grad().defined());
}

TEST(Autograd, ALinearLayersGradientsAgreeWithDouble) {
  const int rows = 7, in = 13, out = 5;
  nn::Linear layer(in, out, true, dtype::float32, 3);
  layer.requires_grad_();
  Tensor x = rand({rows, in}, dtype::float32, -1, 1, 1),
         y = rand({rows, out}, dtype::float32, -1, 1, 2);
  std::vector<double> xv = values(x), yv = values(y), wv = values(layer.weight),
                      bv = values(layer.bias);
  Tensor loss = mse_loss(layer(x), y);
  double expectedLoss = 0;
  std::vector<double> dw(out * in, 0), db(out, 0);
  for (int r = 0; r < rows; ++r)
    for (int o = 0; o < out; ++o) {
      double value = bv[o];
      for (int k = 0; k < in; ++k)
        value += wv[o * in + k] * xv[r * in + k];
      double difference = value - yv[r * out + o];
      expectedLoss += difference * difference / (rows * out);
      db[o] += 2 * difference / (rows * out);
      for (int k = 0; k < in; ++k)
        dw[o * in + k] += 2 * difference / (rows * out) * xv[r * in + k];
    }
  loss.backward();
  EXPECT_NEAR(loss.item<double>(), expectedLoss, 1e-6);
  expectNear(layer.weight.grad(), dw, 1e-5);
  expectNear(layer.bias.grad(), db, 1e-5);
  layer.zero_grad();
  EXPECT_FALSE(layer.weight.grad().defined());
}

TEST(Autograd, EveryTypeBroadcastsAndEmptyTensors) {
  for (dtype type : {dtype::float64, dtype::float32, dtype::bfloat16}) {
    Tensor row = rand({1, 3}, type, -1, 1, 4).requires_grad_(), x = rand({5, 3}, type, -1, 1, 5);
    sum(row * x, {}).backward();
    EXPECT_EQ(row.grad().scalar_type(), type);
    std::vector<double> xv = values(x), expected(3, 0);
    for (size_t i = 0; i < xv.size(); ++i)
      expected[i % 3] += xv[i];
    expectNear(row.grad(), expected, type == dtype::bfloat16 ? 1e-2 : 1e-6);
  }
  Tensor none = zeros({0, 4}).requires_grad_();
  sum(none * none, {}).backward();
  EXPECT_EQ(none.grad().numel(), 0);
}

TEST(Autograd, GradAddsToNothingAndDifferentiatesTwice) {
  Tensor x = leaf({0.5, -1.5, 2});
  Tensor y = sum(x * x * x, {});
  variable_list first = autograd::grad({y}, {x}, {}, std::nullopt, /*create_graph=*/true);
  expectNear(first.at(0), {0.75, 6.75, 12}, 1e-6);
  expectNear(autograd::grad({sum(first[0], {})}, {x}).at(0), {3, -9, 12}, 1e-6);
  EXPECT_FALSE(x.grad().defined());
  Tensor other = leaf({1});
  EXPECT_TRUE(contains(errorOf([&] { autograd::grad({sum(x * 1.0, {})}, {other}); }),
                       "One of the differentiated Tensors appears to not have been used"));
  EXPECT_FALSE(autograd::grad({sum(x * 1.0, {})}, {other}, {}, {}, false, true).at(0).defined());
}

TEST(Autograd, BackwardOfSeveralWithTheirGradients) {
  Tensor x = leaf({1, 2});
  autograd::backward({x * 2.0, x * x}, {vectorOf({1, 10}), vectorOf({100, 1000})});
  expectNear(x.grad(), {202, 4020}, 0);
}

TEST(Autograd, NothingIsFollowedUnderNoGradGuard) {
  Tensor x = leaf({1, 2});
  {
    NoGradGuard guard;
    EXPECT_FALSE(GradMode::is_enabled());
    EXPECT_FALSE((x * 2.0).requires_grad());
    AutoGradMode again(true);
    EXPECT_TRUE((x * 2.0).requires_grad());
  }
  EXPECT_TRUE(GradMode::is_enabled());
  EXPECT_FALSE((x.detach() * 2.0).requires_grad());
  EXPECT_TRUE(
      contains(errorOf([&] { call("aten::mul_", {x, 2.0}); }),
               "a leaf Variable that requires grad is being used in an in-place operation"));
  NoGradGuard guard;
  call("aten::mul_", {x, 2.0});
  expectNear(x, {2, 4}, 0);
}

TEST(Autograd, WhatWasSavedAndWrittenToIsRefused) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3.0, z = y * y;
  call("aten::add_", {y, 1.0});
  EXPECT_TRUE(contains(errorOf([&] { sum(z, {}).backward(); }),
                       "has been modified by an inplace operation"));
}

TEST(Autograd, HooksChangeGradients) {
  Tensor x = leaf({1, 2}), y = x * 2.0;
  y.retain_grad();
  int calls = 0;
  uint64_t number = x.register_hook([&](Tensor gradient) {
    ++calls;
    return gradient * 10.0;
  });
  sum(y, {}).backward();
  expectNear(x.grad(), {20, 20}, 0);
  expectNear(y.grad(), {1, 1}, 0);
  x.remove_hook(number);
  sum(x * 1.0, {}).backward();
  expectNear(x.grad(), {21, 21}, 0);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(errorOf([&] { x.remove_hook(number); }).empty());
}

//===-- functions -----------------------------------------------------------------------------===//

struct Scaled : autograd::Function<Scaled> {
  static Tensor forward(AutogradContext *context, Tensor x, double factor) {
    context->saved_data["factor"] = factor;
    context->save_for_backward({x});
    EXPECT_TRUE(context->needs_input_grad(0));
    EXPECT_FALSE(context->needs_input_grad(1));
    return x * x * factor;
  }
  static variable_list backward(AutogradContext *context, variable_list gradients) {
    Tensor x = context->get_saved_variables().at(0);
    return {gradients.at(0) * x * (2 * std::get<double>(context->saved_data["factor"])), Tensor()};
  }
};

TEST(Function, ForwardAndBackwardAreTheUsers) {
  Tensor x = leaf({1, -3});
  Tensor y = Scaled::apply(x, 5);
  expectNear(y, {5, 45}, 0);
  sum(y, {}).backward(Tensor(), /*retain_graph=*/true);
  expectNear(x.grad(), {10, -30}, 0);
  Tensor again = leaf({2});
  Tensor first = autograd::grad({Scaled::apply(again, 5.0)}, {again}, {}, {}, true).at(0);
  expectNear(autograd::grad({first}, {again}).at(0), {10}, 0);
}

/// A kernel has no derivative of its own.
struct KernelSilu : autograd::Function<KernelSilu> {
  static std::string name() { return "KernelSilu"; }
  static variable_list forward(AutogradContext *context, const Tensor &x) {
    context->save_for_backward({x});
    return {launchSilu(x)};
  }
  static variable_list backward(AutogradContext *context, variable_list gradients) {
    Tensor x = context->get_saved_variables().at(0), s = sigmoid(x);
    return {gradients.at(0) * (s + x * s * (full({1}, 1) - s))};
  }
};

TEST(Function, AKernelInsideOfOne) {
  Tensor x = rand({3, 7}, dtype::float32, -3, 3, 9).requires_grad_();
  Tensor y = KernelSilu::apply(x).at(0);
  std::vector<double> expected, derivative;
  for (double v : values(x)) {
    double s = 1 / (1 + std::exp(-v));
    expected.push_back(v * s);
    derivative.push_back(s + v * s * (1 - s));
  }
  expectNear(y, expected, 1e-5);
  sum(y, {}).backward();
  expectNear(x.grad(), derivative, 1e-5);
}

struct Wrong : autograd::Function<Wrong> {
  static std::string name() { return "Wrong"; }
  static Tensor forward(AutogradContext *, Tensor x, Tensor y) { return x * y; }
  static variable_list backward(AutogradContext *, variable_list gradients) { return gradients; }
};

TEST(Function, AWrongNumberOfGradientsIsRefused) {
  Tensor x = leaf({1});
  EXPECT_TRUE(
      contains(errorOf([&] { Wrong::apply(x, x).backward(); }),
               "WrongBackward returned an incorrect number of gradients (expected 2, got 1)"));
}

TEST(Function, OnTensorsInMemoryItIsItsForward) {
  Tensor y = KernelSilu::apply(vectorOf({0, 1})).at(0);
  EXPECT_FALSE(y.requires_grad());
  expectNear(y, {0, silu(1)}, 1e-5);
}

TEST(Operator, RegisteredDerivativesAreUsedAndMissingOnesAreRefused) {
  Operator cube = triton_op("autograd_test::cube", "(Tensor x, float scale=2.0) -> Tensor",
                            [](const std::vector<Argument> &a) {
                              auto x = std::get<Tensor>(a[0]);
                              return std::vector<Tensor>{x * x * x * std::get<double>(a[1])};
                            });
  Tensor x = leaf({1, -2});
  EXPECT_TRUE(contains(errorOf([&] { sum(cube(x), {}).backward(); }),
                       "but no autograd formula was registered"));
  cube.register_autograd(
      [](AutogradContext *context, variable_list gradients) {
        Tensor saved = context->get_saved_variables().at(0);
        double scale = std::get<double>(context->saved_data["scale"]);
        return variable_list{gradients.at(0) * saved * saved * (3 * scale), Tensor()};
      },
      [](AutogradContext *context, const std::vector<Argument> &arguments,
         const std::vector<Tensor> &results) {
        EXPECT_EQ(results.size(), 1u);
        context->save_for_backward({std::get<Tensor>(arguments[0])});
        context->saved_data["scale"] = arguments[1];
      });
  sum(cube(x, 0.5), {}).backward();
  expectNear(x.grad(), {1.5, 6}, 1e-6);
  EXPECT_FALSE(
      errorOf([] { scaleInPlace().register_autograd([](auto *, auto g) { return g; }); }).empty());
}

//===-- memory --------------------------------------------------------------------------------===//

TEST(Recorded, TensorsInMemoryAreReadAtTheCall) {
  Tensor w = leaf({1, 2}), x = vectorOf({3, 4});
  Tensor y = w * x;
  x.data<float>()[0] = 1000;
  expectNear(y, {3, 8}, 0);
  sum(y, {}).backward();
  expectNear(w.grad(), {3, 4}, 0);
}

TEST(Recorded, WhatIsWrittenToMemoryIsThereAfterTheCall) {
  Tensor w = leaf({1, 2});
  float data[6] = {0, 0, 0, 0, 0, 0};
  Tensor out = from_blob(data, {3, 2}, dtype::float32);
  call("aten::add_", {out.transpose(0, 1).slice(1, 1, 2).transpose(0, 1), w.detach()});
  EXPECT_EQ(std::vector<float>(data, data + 6), (std::vector<float>{0, 0, 1, 2, 0, 0}));
  Tensor result = call("aten::mul_", {out, w.detach()}).at(0);
  EXPECT_EQ(result.data<float>(), data);
  EXPECT_EQ(data[3], 4);
  EXPECT_TRUE(contains(errorOf([&] { call("aten::add_", {out, w}); }), "has no history"));
  Tensor part = out.slice(0, 0, 2);
  EXPECT_TRUE(contains(errorOf([&] {
                         kernels()["sum_and_difference"][{1}](
                             {w.detach(), part, part, out.slice(0, 1, 3), 2});
                       }),
                       "another of its arguments shares"));
}

TEST(Recorded, PointersAreForReading) {
  Tensor w = leaf({1, 2});
  const float *before = w.const_data_ptr<float>();
  Tensor held = w;
  {
    NoGradGuard guard;
    call("aten::add_", {w, 1.0});
  }
  EXPECT_EQ(before[1], 2);
  EXPECT_EQ(w.const_data_ptr<float>()[1], 3);
  EXPECT_TRUE(contains(errorOf([&] { w.data<float>(); }), "const_data_ptr"));
  EXPECT_FALSE(errorOf([&] { to_dlpack(w); }).empty());
  Tensor copy = w.values();
  copy.data<float>()[0] = 7;
  EXPECT_EQ(w.const_data_ptr<float>()[0], 2);
  EXPECT_EQ(vectorOf({2.75f}).item<int>(), 2);
  EXPECT_FALSE(errorOf([&] { w.item<float>(); }).empty());
}

TEST(Recorded, MemoryThatOthersHaveIsNotTaken) {
  float data[2] = {1, 2};
  EXPECT_TRUE(contains(errorOf([&] { from_blob(data, {2}, dtype::float32).requires_grad_(); }),
                       "borrowed"));
  Tensor x = vectorOf({1, 2}), part = x.slice(0, 0, 1);
  EXPECT_TRUE(contains(errorOf([&] { x.requires_grad_(); }), "other tensors share"));
  EXPECT_TRUE(contains(errorOf([&] { zeros({2}, dtype::int64).requires_grad_(); }),
                       "floating point dtype"));
  x.clone().requires_grad_();
  EXPECT_TRUE(contains(errorOf([&] { x.backward(); }), "does not require grad"));
}

TEST(Recorded, ATraceTakesTheirValuesAndHasNoGradients) {
  Tensor w = leaf({1, 2});
  Compiled doubled =
      compile([&](const std::vector<Tensor> &in) { return std::vector<Tensor>{in[0] * w}; },
              {vectorOf({3, 4})});
  expectNear(doubled({vectorOf({3, 4})}).at(0), {3, 8}, 0);
  EXPECT_TRUE(contains(errorOf([&] { doubled({w}); }), "values()"));
  EXPECT_TRUE(contains(errorOf([&] {
                         compile(
                             [&](const std::vector<Tensor> &in) {
                               sum(in[0] * w, {}).backward();
                               return std::vector<Tensor>{in[0]};
                             },
                             {vectorOf({3, 4})});
                       }),
                       "export_training"));
}

} // namespace
} // namespace pellucid::test
