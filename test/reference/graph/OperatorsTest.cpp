// SPDX-License-Identifier: Apache-2.0
/// Every operator against values worked out by hand or by a formula written again here.
#include "reference/graph/Operators.h"
#include "judge/Near.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace pellucid;
using namespace pellucid::reference;
using graph::Argument;
using graph::KeywordArguments;
using graph::TensorType;
using enum DataType;
using Values = std::vector<double>;

namespace {
const double inf = HUGE_VAL, nan = std::nan("");

/// One call: tensors come in as placeholders, named by @0, @1, … in the arguments.
struct Runner {
  graph::Program program;
  std::vector<Datum> inputs;

  Argument operator()(Tensor t) {
    std::vector<graph::Expr> shape(t.shape.begin(), t.shape.end()),
        strides(t.strides.begin(), t.strides.end());
    TensorType type(t.dtype, shape);
    type.strides = strides;
    type.offset = t.offset;
    std::string name = "x" + std::to_string(inputs.size());
    program.inputs.push_back({graph::InputSpec::Kind::UserInput, name, {}, true});
    inputs.emplace_back(std::move(t));
    return program.main.placeholder(name, type);
  }

  std::vector<Tensor> all(std::string_view target, std::vector<Argument> args,
                          KeywordArguments kwargs = {}) {
    graph::Node *node = emitCall(program.main, graph::OperatorRegistry::builtins(), program.symbols,
                                 target, std::move(args), std::move(kwargs));
    std::vector<Argument> outputs;
    for (size_t i = 0; i < node->resultCount(); ++i)
      outputs.emplace_back(node->result(i));
    program.main.output(outputs);
    program.outputs.assign(outputs.size(), {});
    EXPECT_EQ(program.verify(), std::vector<std::string>());
    std::vector<Tensor> results;
    for (Datum &d : evaluate(program, inputs, EvaluateOptions{}))
      results.push_back(std::get<Tensor>(d));
    return results;
  }
  Tensor one(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return all(target, std::move(args), std::move(kwargs)).at(0);
  }
};

Tensor vec(DataType dtype, Values values) {
  return Tensor::of(dtype, {static_cast<int64_t>(values.size())}, values);
}
Tensor matrix(DataType dtype, int64_t rows, int64_t columns, Values values) {
  return Tensor::of(dtype, {rows, columns}, values);
}
Values iota(int n) {
  Values v(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i)
    v[static_cast<size_t>(i)] = i;
  return v;
}

void expectNear(const Values &got, const Values &expected, double tolerance = 0) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(tolerance ? judge::isClose(got[i], expected[i], tolerance)
                          : judge::isSame(got[i], expected[i]))
        << i;
}

Values unary(std::string_view target, DataType dtype, Values values, KeywordArguments kwargs = {}) {
  Runner r;
  return r.one(target, {r(vec(dtype, values))}, std::move(kwargs)).reals();
}
Values binary(std::string_view target, DataType dtype, Values a, Values b,
              KeywordArguments kwargs = {}) {
  Runner r;
  Argument x = r(vec(dtype, a)), y = r(vec(dtype, b));
  return r.one(target, {x, y}, std::move(kwargs)).reals();
}

TEST(Operators, everyRegisteredOneIsDefined) {
  for (const std::string &target : graph::OperatorRegistry::builtins().targets()) {
    const graph::Operator *op = graph::OperatorRegistry::builtins().find(target);
    EXPECT_TRUE(operatorTable().count(target) || operatorTable().count(op->schema.packet()))
        << target;
  }
}

TEST(Pointwise, arithmeticAndItsEdges) {
  expectNear(binary("aten.add", Float32, {1, inf, nan, -0.0}, {2, -inf, 1, 0}), {3, nan, nan, 0});
  expectNear(binary("aten.add", Float32, {1, 2}, {10, 20}, {{"alpha", 0.5}}), {6, 12});
  expectNear(binary("aten.sub", Int8, {-128, 5}, {1, 7}), {127, -2});
  expectNear(binary("aten.mul", UInt8, {200, 3}, {2, 4}), {144, 12});
  expectNear(binary("aten.div", Int32, {7, -7, 1}, {2, 2, 0}), {3.5, -3.5, inf});
  expectNear(
      binary("aten.div", Int32, {7, -7, 7, -7}, {2, 2, -2, -2}, {{"rounding_mode", "floor"}}),
      {3, -4, -4, 3});
  expectNear(
      binary("aten.div", Int32, {7, -7, 7, -7}, {2, 2, -2, -2}, {{"rounding_mode", "trunc"}}),
      {3, -3, -3, 3});
  expectNear(binary("aten.div", Float32, {7, -7, 1}, {2, 2, 0}, {{"rounding_mode", "floor"}}),
             {3, -4, inf});
  expectNear(binary("aten.remainder", Float64, {5.5, -5.5, 5.5, -5.5}, {2, 2, -2, -2}),
             {1.5, 0.5, -0.5, -1.5});
  expectNear(binary("aten.remainder", Int64, {5, -5, 5, -5}, {3, 3, -3, -3}), {2, 1, -1, -2});
  expectNear(binary("aten.fmod", Int64, {5, -5}, {3, 3}), {2, -2});
  expectNear(binary("aten.maximum", Float32, {1, nan, -inf}, {2, 1, -5}), {2, nan, -5});
  expectNear(binary("aten.minimum", BFloat16, {1, 1, nan}, {2, nan, 0}), {1, nan, nan});
  expectNear(unary("aten.neg", Int8, {-128, 5}), {-128, -5});
  expectNear(unary("aten.abs", Float16, {-1.5, -inf, nan}), {1.5, inf, nan});
  expectNear(unary("aten.reciprocal", Int32, {2, 4}), {0.5, 0.25});
  expectNear(unary("aten.square", Float32, {-3, 4}), {9, 16});
  Runner r;
  expectNear(r.one("aten.pow", {r(vec(Float64, {2, 9, 0})), 0.5}).reals(), {std::sqrt(2.0), 3, 0},
             1e-15);
  Runner root;
  expectNear(root.one("aten.pow", {root(vec(Float64, {-inf, -1, inf})), 0.5}).reals(),
             {nan, nan, inf});
  expectNear(binary("aten.floor_divide", Float64, {-0.5, 0.5, -inf}, {inf, inf, 2}), {-1, 0, nan});
  Runner bounds;
  Argument value = bounds(vec(Float32, {1, 5, 0})), low = bounds(vec(Float32, {nan, 2, 1}));
  expectNear(bounds.one("aten.clamp", {value, low}).reals(), {nan, 5, 1});
  Runner s;
  expectNear(s.one("aten.pow", {s(vec(Int32, {-3, 7})), 2}).reals(), {9, 49});
  Runner t;
  expectNear(t.one("aten.rsub", {t(vec(Float32, {1, 2})), 10}).reals(), {9, 8});
}

// bf16 results are the double result rounded once.
TEST(Pointwise, resultsAreRoundedOnce) {
  // 257 is not a bf16 number: it lies between 256 and 258 and goes to the even mantissa.
  expectNear(binary("aten.add", BFloat16, {256}, {1}), {256});
  expectNear(binary("aten.add", BFloat16, {256}, {3}), {260});
  // 1 + 2^-8 + 2^-30: over the tie in double, but a tie after f32. One rounding goes up.
  expectNear(binary("aten.mul", Float64, {1 + 0x1p-8 + 0x1p-30}, {1}), {1 + 0x1p-8 + 0x1p-30});
  Runner r;
  Tensor exact = vec(Float64, {1 + 0x1p-8 + 0x1p-30});
  expectNear(r.one("aten.to", {r(exact), BFloat16}).reals(), {1 + 0x1p-7});
  // A number is not rounded to bf16 before it is used: 100 * 0.1 in f32, then to bf16.
  Runner s;
  expectNear(s.one("aten.mul", {s(vec(BFloat16, {100})), 0.1}).reals(), {10});
}

TEST(Pointwise, functionsAndActivations) {
  Values x = {-20, -3, -0.5, 0, 0.25, 1, 2.5, 30};
  auto check = [&](std::string_view target, double (*f)(double), KeywordArguments kwargs = {}) {
    Values expected;
    for (double v : x)
      expected.push_back(f(v));
    expectNear(unary(target, Float64, x, std::move(kwargs)), expected, 1e-14);
  };
  check("aten.exp", [](double v) { return std::pow(M_E, v); });
  check("aten.exp2", [](double v) { return std::pow(2, v); });
  check("aten.sin", [](double v) { return std::cos(v - M_PI / 2); });
  check("aten.cos", [](double v) { return std::cos(v); });
  check("aten.tanh", [](double v) { return (std::exp(2 * v) - 1) / (std::exp(2 * v) + 1); });
  check("aten.erf", [](double v) { return 1 - std::erfc(v); });
  check("aten.relu", [](double v) { return v > 0 ? v : 0; });
  check("aten.sigmoid", [](double v) { return std::exp(v) / (std::exp(v) + 1); });
  check("aten.silu", [](double v) { return v * std::exp(v) / (std::exp(v) + 1); });
  check("aten.gelu", [](double v) { return v * 0.5 * std::erfc(-v / std::sqrt(2)); });
  check("aten.gelu",
        [](double v) {
          double u = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
          return v / (1 + std::exp(-2 * u));
        },
        {{"approximate", "tanh"}});
  check("aten.leaky_relu", [](double v) { return std::max(v, 0.01 * v); });
  check("aten.softplus", [](double v) { return v > 20 ? v : std::log(1 + std::exp(v)); });
  check("aten.floor", [](double v) { return -std::ceil(-v); });
  check("aten.round", [](double v) { return v == -0.5 || v == 0.25 ? 0 : v == 2.5 ? 2 : v; });
  Values positive = {1e-3, 0.5, 1, 7, inf};
  expectNear(unary("aten.log", Float64, positive),
             {std::log2(1e-3) / std::log2(M_E), std::log(0.5), 0, std::log(7), inf}, 1e-14);
  expectNear(unary("aten.sqrt", Float32, {4, -1, inf, 0}), {2, nan, inf, 0});
  expectNear(unary("aten.rsqrt", Float32, {4, 0, inf}), {0.5, inf, 0});
  expectNear(unary("aten.relu", Float32, {nan, -inf, inf}), {nan, 0, inf});
  expectNear(unary("aten.silu", Float32, {inf, nan}), {inf, nan});
  expectNear(unary("aten.sigmoid", BFloat16, {-1000, 1000}), {0, 1});
  expectNear(unary("aten.exp", Int64, {0, 1}), {1, static_cast<float>(M_E)});
}

TEST(Pointwise, comparisonsLogicAndSelection) {
  expectNear(binary("aten.lt", Float32, {1, nan, 3}, {2, 1, 3}), {1, 0, 0});
  expectNear(binary("aten.ne", Float32, {1, nan}, {1, nan}), {0, 1});
  expectNear(binary("aten.logical_xor", Int32, {0, 2, 3}, {1, 1, 0}), {1, 0, 1});
  expectNear(binary("aten.bitwise_and", Int32, {6, -1}, {3, 255}), {2, 255});
  expectNear(unary("aten.bitwise_not", Bool, {0, 1}), {1, 0});
  expectNear(unary("aten.bitwise_not", UInt8, {0, 1}), {255, 254});
  expectNear(unary("aten.isnan", Float16, {nan, 1, inf}), {1, 0, 0});
  expectNear(unary("aten.logical_not", Float32, {0, 2, nan}), {1, 0, 0});
  Runner r;
  Argument c = r(vec(Bool, {1, 0, 1})), a = r(vec(Float32, {1, 2, 3}));
  expectNear(r.one("aten.where", {c, a, -inf}).reals(), {1, -inf, 3});
  Runner s;
  expectNear(s.one("aten.clamp", {s(vec(Float32, {-5, 0.5, nan, 9})), 0, 1}).reals(),
             {0, 0.5, nan, 1});
  Runner t;
  expectNear(t.one("aten.clamp", {t(vec(Int32, {-5, 9}))}, {{"max", 3}}).reals(), {-5, 3});
  // Large integers compare exactly.
  Runner u;
  Argument big = u(vec(Int64, {0x1p53}));
  expectNear(u.one("aten.eq", {big, int64_t(1) << 53}).reals(), {1});
}

TEST(Pointwise, broadcastingAndStrides) {
  Runner r;
  Tensor column = matrix(Float32, 2, 1, {10, 20}), row = vec(Float32, {1, 2, 3});
  Argument x = r(column), y = r(row);
  Tensor sum = r.one("aten.add", {x, y});
  EXPECT_EQ(sum.shape, (std::vector<int64_t>{2, 3}));
  expectNear(sum.reals(), {11, 12, 13, 21, 22, 23});
  Runner s;
  Tensor turned = matrix(Float32, 2, 3, iota(6)).view({3, 2}, {1, 3}, 0);
  Tensor exps = s.one("aten.mul", {s(turned), 2});
  expectNear(exps.reals(), {0, 6, 2, 8, 4, 10});
  EXPECT_EQ(exps.strides, (std::vector<int64_t>{1, 3}));
  Runner t;
  EXPECT_EQ(t.one("aten.exp", {t(Tensor(Float32, {0, 3}))}).numel(), 0);
}

TEST(Casts, roundTruncateAndWrap) {
  auto cast = [](Tensor t, DataType to) {
    Runner r;
    return r.one("aten.to", {r(std::move(t)), to}).reals();
  };
  expectNear(cast(vec(Float32, {1.9, -1.9, 300}), Int32), {1, -1, 300});
  expectNear(cast(vec(Int32, {300, -1}), UInt8), {44, 255});
  expectNear(cast(vec(Float32, {0, 0.1, nan}), Bool), {0, 1, 1});
  expectNear(cast(vec(Float32, {65519, 65520, 1e-8}), Float16), {65504, inf, 0});
  expectNear(cast(vec(Int64, {16777217}), Float32), {16777216});
}

TEST(Reductions, sumsMeansAndExtremes) {
  Tensor x = Tensor::of(Float32, {2, 3}, Values{1, 2, 3, 4, 5, 6});
  auto reduce = [&](std::string_view target, std::vector<Argument> more,
                    KeywordArguments kwargs = {}) {
    Runner r;
    more.insert(more.begin(), r(x));
    return r.one(target, more, std::move(kwargs));
  };
  expectNear(reduce("aten.sum", {}).reals(), {21});
  expectNear(reduce("aten.sum", {0}).reals(), {5, 7, 9});
  Tensor kept = reduce("aten.mean", {-1}, {{"keepdim", true}});
  EXPECT_EQ(kept.shape, (std::vector<int64_t>{2, 1}));
  expectNear(kept.reals(), {2, 5});
  expectNear(reduce("aten.amax", {Argument::List{0, 1}}).reals(), {6});
  expectNear(reduce("aten.amin", {1}).reals(), {1, 4});
  expectNear(reduce("aten.argmax", {0}).reals(), {1, 1, 1});
  expectNear(reduce("aten.prod", {1}).reals(), {6, 120});
  expectNear(reduce("aten.var", {1}).reals(), {1, 1});
  expectNear(reduce("aten.var", {1}, {{"correction", 0}}).reals(), {2.0f / 3, 2.0f / 3}, 1e-7);
  expectNear(reduce("aten.any", {}).reals(), {1});
  x = vec(Float32, {1, nan, 3});
  expectNear(reduce("aten.amax", {0}).reals(), {nan});
  expectNear(reduce("aten.argmax", {0}).reals(), {1});
  x = vec(Int32, {2147483647, 1});
  expectNear(reduce("aten.sum", {}).reals(), {2147483648.0});
  expectNear(reduce("aten.amax", {0}).reals(), {2147483647});
  x = Tensor(Float32, {0, 2});
  expectNear(reduce("aten.sum", {0}).reals(), {0, 0});
  expectNear(reduce("aten.mean", {0}).reals(), {nan, nan});
  x = Tensor::of(Bool, {3}, Values{1, 1, 0});
  expectNear(reduce("aten.sum", {}).reals(), {2});
  expectNear(reduce("aten.all", {}).reals(), {0});
  // Summed in double, so that bf16 does not stall at 256.
  x = vec(BFloat16, Values(1000, 1));
  expectNear(reduce("aten.sum", {}).reals(), {1000});
}

TEST(Rows, softmaxAndNorms) {
  Values values = {1, 2, 3, 1000, 1000, 1000, -inf, 0, -inf};
  Runner r;
  Values y = r.one("aten.softmax", {r(matrix(Float64, 3, 3, values)), -1}).reals();
  double e = M_E, total = 1 + e + e * e;
  expectNear(y, {1 / total, e / total, e * e / total, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 1, 0}, 1e-15);
  Runner s;
  expectNear(s.one("aten.log_softmax", {s(vec(Float64, {0, 0})), 0}).reals(),
             {-std::log(2), -std::log(2)}, 1e-15);
  Runner d;
  expectNear(d.one("aten.softmax", {d(matrix(Float64, 2, 1, {0, std::log(3)})), 0}).reals(),
             {0.25, 0.75}, 1e-15);
  Runner all;
  expectNear(all.one("aten.softmax", {all(vec(Float32, {-inf, -inf})), 0}).reals(), {nan, nan});
  Runner n;
  Argument x = n(matrix(Float64, 2, 2, {1, 3, 5, 5})), w = n(vec(Float64, {2, 1})),
           b = n(vec(Float64, {0, 1}));
  double scale = 1 / std::sqrt(1 + 1e-5);
  expectNear(n.one("aten.layer_norm", {x, Argument::List{2}, w, b}).reals(),
             {-2 * scale, scale + 1, 0, 1}, 1e-15);
  Runner m;
  Argument z = m(matrix(Float64, 1, 2, {3, 4})), g = m(vec(Float64, {1, 2}));
  double rms = std::sqrt(12.5 + 0.5);
  expectNear(m.one("aten.rms_norm", {z, Argument::List{2}, g, 0.5}).reals(), {3 / rms, 8 / rms},
             1e-15);
}

TEST(Products, everyForm) {
  Tensor a = matrix(Float32, 2, 3, {1, 2, 3, 4, 5, 6}),
         w = matrix(Float32, 2, 3, {1, 0, -1, 2, 2, 2});
  Runner r;
  Argument x = r(a), weight = r(w), bias = r(vec(Float32, {10, 20}));
  expectNear(r.one("aten.linear", {x, weight, bias}).reals(), {8, 32, 8, 50});
  Runner s;
  Argument left = s(a), right = s(w.view({3, 2}, {1, 3}, 0));
  expectNear(s.one("aten.mm", {left, right}).reals(), {-2, 12, -2, 30});
  Runner t;
  Argument v = t(vec(Float32, {1, 1, 1})), m = t(a);
  expectNear(t.one("aten.matmul", {m, v}).reals(), {6, 15});
  Runner b;
  Argument batch = b(Tensor::of(Float32, {2, 1, 2}, Values{1, 2, 3, 4})),
           other = b(Tensor::of(Float32, {2, 2, 1}, Values{1, 1, 2, 2}));
  expectNear(b.one("aten.bmm", {batch, other}).reals(), {3, 14});
  Runner u;
  Argument big = u(Tensor::of(Float32, {2, 1, 1, 2}, Values{1, 2, 3, 4})),
           small = u(Tensor::of(Float32, {3, 2, 1}, Values{1, 0, 0, 1, 1, 1}));
  Tensor out = u.one("aten.matmul", {big, small});
  EXPECT_EQ(out.shape, (std::vector<int64_t>{2, 3, 1, 1}));
  expectNear(out.reals(), {1, 2, 3, 3, 4, 7});
  Runner am;
  Argument c = am(vec(Float32, {100, 200})), p = am(a), q = am(w.view({3, 2}, {1, 3}, 0));
  expectNear(am.one("aten.addmm", {c, p, q}, {{"beta", 0.5}, {"alpha", 2}}).reals(),
             {46, 124, 46, 160});
  Runner e;
  Argument none = e(Tensor(Float32, {0, 3})), ww = e(w);
  EXPECT_EQ(e.one("aten.linear", {none, ww}).shape, (std::vector<int64_t>{0, 2}));
}

TEST(Views, pickTheRightElements) {
  Tensor x = Tensor::of(Float32, {2, 3, 2}, iota(12));
  auto view = [&](std::string_view target, std::vector<Argument> more,
                  KeywordArguments kwargs = {}) {
    Runner r;
    more.insert(more.begin(), r(x));
    return r.all(target, more, std::move(kwargs));
  };
  expectNear(view("aten.permute", {Argument::List{2, 0, 1}})[0].reals(),
             {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
  expectNear(view("aten.transpose", {-1, -2})[0].reals(), {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11});
  expectNear(view("aten.select", {1, -1})[0].reals(), {4, 5, 10, 11});
  expectNear(view("aten.slice", {1, 0, 3, 2})[0].reals(), {0, 1, 4, 5, 6, 7, 10, 11});
  expectNear(view("aten.slice", {0, -1})[0].reals(), {6, 7, 8, 9, 10, 11});
  EXPECT_EQ(view("aten.slice", {1, 2, 1})[0].shape, (std::vector<int64_t>{2, 0, 2}));
  std::vector<Tensor> parts = view("aten.chunk", {2, 1});
  expectNear(parts[1].reals(), {4, 5, 10, 11});
  EXPECT_EQ(parts[0].shape, (std::vector<int64_t>{2, 2, 2}));
  expectNear(view("aten.split", {2, -2})[0].reals(), {0, 1, 2, 3, 6, 7, 8, 9});
  expectNear(view("aten.split_with_sizes", {Argument::List{1, 2}, 1})[1].reals(),
             {2, 3, 4, 5, 8, 9, 10, 11});
  expectNear(view("aten.unbind", {2})[1].reals(), {1, 3, 5, 7, 9, 11});
  EXPECT_EQ(view("aten.view", {Argument::List{4, -1}})[0].shape, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(view("aten.unsqueeze", {-1})[0].shape, (std::vector<int64_t>{2, 3, 2, 1}));
  EXPECT_EQ(view("aten.flatten", {1})[0].shape, (std::vector<int64_t>{2, 6}));
  expectNear(view("aten.as_strided", {Argument::List{2, 2}, Argument::List{1, 6}, 1})[0].reals(),
             {1, 7, 2, 8});
  x = x.view({3, 2, 2}, {2, 6, 1}, 0);
  expectNear(view("aten.reshape", {Argument::List{3, 4}})[0].reals(),
             {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11});
  Tensor fresh = view("aten.contiguous", {})[0];
  EXPECT_EQ(fresh.strides, (std::vector<int64_t>{4, 2, 1}));
  x = matrix(Float32, 1, 2, {1, 2});
  expectNear(view("aten.expand", {Argument::List{3, -1}})[0].reals(), {1, 2, 1, 2, 1, 2});
  EXPECT_EQ(view("aten.squeeze", {0})[0].shape, (std::vector<int64_t>{2}));
  expectNear(view("aten.repeat", {Argument::List{2, 2}})[0].reals(), {1, 2, 1, 2, 1, 2, 1, 2});
}

TEST(Copies, joinAndScatter) {
  Runner r;
  Argument a = r(matrix(Float32, 2, 1, {1, 2})), b = r(matrix(Float32, 2, 2, {3, 4, 5, 6}));
  expectNear(r.one("aten.cat", {Argument::List{a, b}, -1}).reals(), {1, 3, 4, 2, 5, 6});
  Runner s;
  Argument c = s(vec(Int32, {1, 2})), d = s(vec(Int32, {3, 4}));
  expectNear(s.one("aten.stack", {Argument::List{c, d}, 1}).reals(), {1, 3, 2, 4});
  Runner t;
  Argument x = t(vec(Float32, iota(5))), y = t(vec(Float32, {10, 20}));
  expectNear(t.one("aten.slice_scatter", {x, y, 0, 1, 5, 2}).reals(), {0, 10, 2, 20, 4});
  Runner u;
  Argument m = u(matrix(Float32, 2, 2, iota(4))), v = u(vec(Float32, {8, 9}));
  expectNear(u.one("aten.select_scatter", {m, v, 1, 0}).reals(), {8, 1, 9, 3});
  Runner w;
  Argument base = w(vec(Float32, iota(4))), src = w(vec(Float32, {7, 8}));
  expectNear(w.one("aten.as_strided_scatter", {base, src, Argument::List{2}, Argument::List{2}, 1})
                 .reals(),
             {0, 7, 2, 8});
  Runner k;
  Argument into = k(matrix(BFloat16, 2, 2, iota(4))), from = k(vec(Float32, {257, 1}));
  expectNear(k.one("aten.copy", {into, from}).reals(), {256, 1, 256, 1});
}

TEST(Factories, fillAndCount) {
  Runner r;
  expectNear(r.one("aten.full", {Argument::List{2}, 1.5}).reals(), {1.5, 1.5});
  Runner s;
  Tensor counted = s.one("aten.arange", {5, -1, -2});
  EXPECT_EQ(counted.dtype, Int64);
  expectNear(counted.reals(), {5, 3, 1});
  Runner t;
  expectNear(t.one("aten.arange", {0, 1, 0.25}).reals(), {0, 0.25, 0.5, 0.75});
  Runner u;
  Tensor ones = u.one("aten.ones_like", {u(vec(Int8, {5, 6}))}, {{"dtype", Float16}});
  EXPECT_EQ(ones.dtype, Float16);
  expectNear(ones.reals(), {1, 1});
}

TEST(Gathers, pickAndRefuse) {
  Tensor table = matrix(BFloat16, 3, 2, {1, 2, 3, 4, 5, 6});
  Runner r;
  Argument w = r(table), i = r(Tensor::of(Int64, {2, 2}, Values{2, 0, 1, 1}));
  Tensor rows = r.one("aten.embedding", {w, i});
  EXPECT_EQ(rows.shape, (std::vector<int64_t>{2, 2, 2}));
  expectNear(rows.reals(), {5, 6, 1, 2, 3, 4, 3, 4});
  Runner s;
  Argument x = s(table), k = s(vec(Int32, {1, 1, 0}));
  expectNear(s.one("aten.index_select", {x, 1, k}).reals(), {2, 2, 1, 4, 4, 3, 6, 6, 5});
  Runner t;
  Argument y = t(table), g = t(matrix(Int64, 1, 2, {2, 0}));
  expectNear(t.one("aten.gather", {y, 0, g}).reals(), {5, 2});
  Runner bad;
  Argument z = bad(table), out = bad(vec(Int64, {3}));
  EXPECT_THROW(bad.one("aten.embedding", {z, out}), DiagnosticError);
}
} // namespace
