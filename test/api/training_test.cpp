// SPDX-License-Identifier: Apache-2.0
// Optimisers against their rules in double, files, and training steps as packages.
#include "Near.h"

#include <array>
#include <thread>

namespace pellucid::test {
namespace {

Tensor vectorOf(const std::vector<float> &elements) {
  Tensor x = empty({elements.size()});
  std::copy(elements.begin(), elements.end(), x.data<float>());
  return x;
}

const std::vector<float> start = {0.5, -1.25, 2, 0.0625};
const double target = 0.3;

/// The gradient of sum((p - target)^2 * (step + 1)).
std::vector<double> gradientAt(const std::vector<double> &p, int step) {
  std::vector<double> g;
  for (double v : p)
    g.push_back(2 * (v - target) * (step + 1));
  return g;
}

/// `steps` steps of the optimiser on that function.
template <typename Optimizer, typename Options>
std::vector<double> trained(const Options &options, int steps) {
  Tensor p = vectorOf(start).requires_grad_();
  Optimizer optimizer({p}, options);
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    Tensor difference = p - full({1}, target);
    sum(difference * difference * static_cast<double>(step + 1), {}).backward();
    optimizer.step();
  }
  return values(p);
}

/// The same by a rule: rule(p, g, state of three numbers, how many steps with this one).
template <typename Rule> std::vector<double> byRule(int steps, Rule rule) {
  std::vector<double> p(start.begin(), start.end());
  std::vector<std::array<double, 3>> state(p.size(), {0, 0, 0});
  for (int step = 0; step < steps; ++step) {
    std::vector<double> g = gradientAt(p, step);
    for (size_t i = 0; i < p.size(); ++i)
      rule(p[i], g[i], state[i], step + 1);
  }
  return p;
}

void expectClose(const std::vector<double> &got, const std::vector<double> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 2e-6) << "element " << i;
}

using State = std::array<double, 3>;

TEST(Optim, SGDWithMomentumAndDecay) {
  expectClose(trained<optim::SGD>(
                  optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.1).nesterov(true), 4),
              byRule(4, [](double &p, double g, State &s, int step) {
                g += 0.1 * p;
                s[0] = step == 1 ? g : 0.9 * s[0] + g;
                p -= 0.01 * (g + 0.9 * s[0]);
              }));
}

TEST(Optim, Adam) {
  expectClose(trained<optim::Adam>(optim::AdamOptions(0.05).betas(0.8, 0.99).weight_decay(0.01), 4),
              byRule(4, [](double &p, double g, State &s, int step) {
                g += 0.01 * p;
                s[0] = 0.8 * s[0] + 0.2 * g;
                s[1] = 0.99 * s[1] + 0.01 * g * g;
                double m = s[0] / (1 - std::pow(0.8, step)), v = s[1] / (1 - std::pow(0.99, step));
                p -= 0.05 * m / (std::sqrt(v) + 1e-8);
              }));
}

TEST(Optim, AdamW) {
  expectClose(trained<optim::AdamW>(optim::AdamWOptions(0.05).amsgrad(true), 4),
              byRule(4, [](double &p, double g, State &s, int step) {
                p *= 1 - 0.05 * 0.01;
                s[0] = 0.9 * s[0] + 0.1 * g;
                s[1] = 0.999 * s[1] + 0.001 * g * g;
                s[2] = std::max(s[2], s[1]);
                double m = s[0] / (1 - std::pow(0.9, step));
                p -= 0.05 * m / (std::sqrt(s[2] / (1 - std::pow(0.999, step))) + 1e-8);
              }));
}

TEST(Optim, RMSprop) {
  expectClose(trained<optim::RMSprop>(optim::RMSpropOptions(0.01).alpha(0.9).momentum(0.5), 4),
              byRule(4, [](double &p, double g, State &s, int) {
                s[0] = 0.9 * s[0] + 0.1 * g * g;
                s[1] = 0.5 * s[1] + g / (std::sqrt(s[0]) + 1e-8);
                p -= 0.01 * s[1];
              }));
}

TEST(Optim, Adagrad) {
  expectClose(trained<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.1), 4),
              byRule(4, [](double &p, double g, State &s, int step) {
                s[0] += g * g;
                p -= 0.1 / (1 + (step - 1) * 0.1) * g / (std::sqrt(s[0]) + 1e-10);
              }));
}

TEST(Optim, GroupsOptionsAndClosures) {
  Tensor a = vectorOf({1}).requires_grad_(), b = vectorOf({1}).requires_grad_();
  optim::SGD optimizer({a}, optim::SGDOptions(1));
  optimizer.add_param_group({b}, optim::SGDOptions(10));
  EXPECT_EQ(optimizer.param_group_count(), 2u);
  EXPECT_EQ(optimizer.option("lr", 1), 10);
  optimizer.set_option("lr", 100, 1);
  Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    Tensor value = sum(a + b, {});
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<double>(), 2);
  EXPECT_EQ(a.item<double>(), 0);
  EXPECT_EQ(b.item<double>(), -99);
  EXPECT_TRUE(contains(errorOf([&] { optimizer.option("betas"); }), "no number 'betas'"));
  EXPECT_TRUE(contains(errorOf([&] { optimizer.option("lr", 2); }), "group 2 is asked for"));
  EXPECT_TRUE(contains(errorOf([] { optim::Adam({vectorOf({1})}); }), "requires_grad_()"));
  EXPECT_TRUE(contains(errorOf([&] { optim::Adam({a}, optim::AdamOptions(-1)); }),
                       "Invalid learning rate"));
}

double lossAfterSteps(uint64_t seed) {
  nn::Linear layer(4, 1, true, dtype::float32, seed);
  layer.requires_grad_();
  optim::Adam optimizer(layer.parameters(), optim::AdamOptions(0.05));
  Tensor x = rand({8, 4}, dtype::float32, -1, 1, seed + 1), y = x.slice(1, 0, 1).contiguous();
  double last = 0;
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    Tensor loss = mse_loss(layer(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

// Their calls take turns, and neither sees the other's.
TEST(Optim, ThreadsTrainBesideEachOther) {
  double first = lossAfterSteps(1), second = lossAfterSteps(2), one = 0, other = 0;
  std::thread a([&] { one = lossAfterSteps(1); }), b([&] {
    NoGradGuard ofThisThread;
    AutoGradMode enabled(true);
    other = lossAfterSteps(2);
  });
  a.join();
  b.join();
  EXPECT_EQ(one, first);
  EXPECT_EQ(other, second);
}

//===-- files and packages --------------------------------------------------------------------===//

const int rows = 6, in = 5, hidden = 7;

class Net : public nn::Module {
public:
  explicit Net(uint64_t seed) {
    first = register_module("first",
                            std::make_shared<nn::Linear>(in, hidden, true, dtype::float32, seed));
    second = register_module(
        "second", std::make_shared<nn::Linear>(hidden, 1, true, dtype::float32, seed + 1));
    calls = register_buffer("calls", zeros({1}));
  }
  std::vector<Tensor> forward(const std::vector<Tensor> &inputs) override {
    return {(*second)(tanh((*first)(inputs[0])))};
  }
  std::shared_ptr<nn::Linear> first, second;
  Tensor calls;
};

std::pair<Tensor, Tensor> batchOf(int turn) {
  return {rand({rows, in}, dtype::float32, -1, 1, 100 + turn),
          rand({rows, 1}, dtype::float32, -1, 1, 200 + turn)};
}

Tensor takeStep(Net &net, optim::Optimizer &optimizer, const Tensor &x, const Tensor &y) {
  optimizer.zero_grad();
  Tensor loss = mse_loss(net(x), y);
  loss.backward();
  optimizer.step();
  return loss.detach();
}

TEST(Files, TrainingGoesOnWhereItStopped) {
  Net net(1), other(5);
  net.requires_grad_();
  other.requires_grad_();
  optim::AdamW optimizer(net.parameters(), optim::AdamWOptions(0.01)),
      second(other.parameters(), optim::AdamWOptions(0.5));
  for (int turn = 0; turn < 3; ++turn)
    takeStep(net, optimizer, batchOf(turn).first, batchOf(turn).second);
  save(net, "training_net.pt");
  save(optimizer, "training_optimizer.pt");
  load(other, "training_net.pt");
  load(second, "training_optimizer.pt");
  EXPECT_EQ(second.option("lr"), 0.01);
  EXPECT_EQ(second.state(other.first->weight, "step").item<double>(), 3);
  EXPECT_FALSE(second.state(other.first->weight, "none").defined());
  auto [x, y] = batchOf(3);
  EXPECT_EQ(takeStep(net, optimizer, x, y).item<double>(),
            takeStep(other, second, x, y).item<double>());
  EXPECT_EQ(values(net.first->weight), values(other.first->weight));
  nn::Linear wrong(3, 2);
  std::string error = errorOf([&] { load(wrong, "training_net.pt"); });
  EXPECT_TRUE(contains(error, "missing: 'weight', 'bias'") && contains(error, "'first.weight'"))
      << error;
}

TEST(Training, APackageTakesTheStepsThatTheProgramTakes) {
  Net net(1);
  net.requires_grad_();
  optim::AdamW optimizer(net.parameters(), optim::AdamWOptions(0.01));
  auto [x, y] = batchOf(0);
  takeStep(net, optimizer, x, y);
  ExportedProgram program = export_training(
      net, optimizer,
      [&](const std::vector<Tensor> &inputs) {
        call("aten::add_", {net.calls, 1.0});
        return std::vector<Tensor>{takeStep(net, optimizer, inputs[0], inputs[1])};
      },
      {x, y}, {{0, {{0, Dim{"rows", 1, 64}}}}, {1, {{0, Dim{"rows", 1, 64}}}}}, {"x", "y"});
  compile_package(program, "training_step.plc");
  Package package = load_package("training_step.plc");
  Instance instance = package.instance(), untouched = package.instance();
  for (int turn = 1; turn < 5; ++turn) {
    auto [xs, ys] = batchOf(turn);
    double packed = instance.run({xs, ys}).at(0).item<double>();
    EXPECT_NEAR(packed, takeStep(net, optimizer, xs, ys).item<double>(), 1e-6) << "turn " << turn;
  }
  expectNear(instance.state("first.weight"), values(net.first->weight), 1e-5);
  expectNear(instance.state("optimizer.state.second.bias.exp_avg"),
             values(optimizer.state(net.second->bias, "exp_avg")), 1e-5);
  EXPECT_EQ(instance.state("optimizer.state.second.bias.step").item<double>(), 5);
  EXPECT_EQ(untouched.state("optimizer.state.second.bias.step").item<double>(), 1);
  EXPECT_EQ(instance.state("calls").item<double>(), 4);
  EXPECT_EQ(net.calls.item<double>(), 0);
  EXPECT_EQ(instance.run({x.slice(0, 0, 1), y.slice(0, 0, 1)}).size(), 1u);
  instance.save("training_state.safetensors");
  untouched.load("training_state.safetensors");
  EXPECT_EQ(values(untouched.state("first.weight")), values(instance.state("first.weight")));
}

TEST(Training, WhatAPackageCannotKeepIsRefused) {
  Net net(1);
  net.requires_grad_();
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.1));
  auto [x, y] = batchOf(0);
  auto error = [&](const Function &step) {
    return errorOf([&] { export_training(net, optimizer, step, {x, y}); });
  };
  EXPECT_TRUE(contains(error([&](const std::vector<Tensor> &inputs) {
                         Tensor loss = mse_loss(net(inputs[0]), inputs[1]);
                         loss.backward();
                         optimizer.step();
                         return std::vector<Tensor>{loss.detach()};
                       }),
                       "zero_grad()"));
  EXPECT_TRUE(contains(error([&](const std::vector<Tensor> &inputs) {
                         optimizer.set_option("lr", 0.05);
                         return std::vector<Tensor>{takeStep(net, optimizer, inputs[0], inputs[1])};
                       }),
                       "'optimizer.param_groups.0.lr' from 0.1 to 0.05"));
  EXPECT_TRUE(contains(error([&](const std::vector<Tensor> &inputs) {
                         Tensor loss = takeStep(net, optimizer, inputs[0], inputs[1]);
                         (void)loss.item<double>();
                         return std::vector<Tensor>{loss};
                       }),
                       "while a training step is traced"));
  // Nothing of what was tried is left behind.
  EXPECT_EQ(optimizer.option("lr"), 0.1);
  EXPECT_FALSE(net.first->weight.grad().defined());
  Tensor foreign = vectorOf({1}).requires_grad_();
  optim::SGD other({foreign}, optim::SGDOptions(0.1));
  EXPECT_TRUE(contains(
      errorOf([&] { export_training(net, other, [](const auto &inputs) { return inputs; }, {x}); }),
      "none of the module's"));
}

} // namespace
} // namespace pellucid::test
