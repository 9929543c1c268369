// SPDX-License-Identifier: Apache-2.0
#include "judge/Near.h"
#include "reference/graph/Interpreter.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace pellucid;
using namespace pellucid::reference;
using graph::Access;
using graph::Argument;
using graph::emitCall;
using graph::Expr;
using graph::TensorType;
using enum DataType;

namespace {
const graph::OperatorRegistry &ops = graph::OperatorRegistry::builtins();
const Expr batch = Expr::symbol("batch");

struct Built {
  graph::Program program;
  graph::Value *x;
  Built() {
    program.symbols.declare("batch", {{1, 4}, 1, {}});
    x = program.main.placeholder("x", TensorType(Float32, {batch, 3}));
    program.inputs = {{graph::InputSpec::Kind::UserInput, "x", {}, true}};
  }
  std::vector<Datum> run(std::vector<Argument> outputs, const EvaluateOptions &options,
                         int64_t rows) {
    program.main.output(outputs);
    program.outputs.assign(outputs.size(), {});
    std::vector<double> values;
    for (int64_t i = 0; i < rows * 3; ++i)
      values.push_back(static_cast<double>(i));
    std::vector<Datum> inputs{Tensor::of(Float32, {rows, 3}, values)};
    return evaluate(program, inputs, options);
  }
};

/// A kernel with its doubling done here: the callback stands for the kernels' interpreter.
void doubleInto(const graph::Program &, const graph::KernelDef &kernel,
                const graph::LaunchVariant &, const std::array<int64_t, 3> &grid,
                std::span<LaunchArgument> arguments) {
  EXPECT_EQ(kernel.symbol, "double");
  Tensor in = std::get<Tensor>(arguments[0].value), out = std::get<Tensor>(arguments[1].value);
  EXPECT_EQ(std::get<int64_t>(arguments[2].value), in.numel());
  EXPECT_EQ(grid[0], (in.numel() + 3) / 4);
  Tensor::forEachIndex(out.shape,
                       [&](std::span<const int64_t> index) { out.set(index, 2 * in.real(index)); });
}

graph::Node *launchDouble(Built &b, graph::Value *from, graph::Value *to) {
  graph::KernelDef kernel;
  kernel.name = kernel.symbol = "double";
  b.program.kernels = {kernel};
  graph::Launch launch;
  graph::LaunchVariant never, always;
  never.guard = symbolic::less(batch, 0);
  never.kernel = 0;
  always.grid[0] = symbolic::ceilDiv(batch * 3, 4);
  launch.variants = {never, always};
  launch.operands = {{"x", from, Access::Read},
                     {"y", to, from == to ? Access::ReadWrite : Access::Write},
                     {"n", Argument(batch * 3), Access::None}};
  return b.program.main.launch(std::move(launch));
}

TEST(Programs, launchesGoToTheCallbackAndValuesStay) {
  Built b;
  graph::Value *out =
      emitCall(b.program.main, ops, b.program.symbols, "aten.empty_like", {b.x})->result();
  graph::Node *launch = launchDouble(b, b.x, out);
  EvaluateOptions options;
  options.launcher = doubleInto;
  std::vector<Datum> results = b.run({launch->result(), out, b.x}, options, 2);
  EXPECT_EQ(std::get<Tensor>(results[0]).reals(), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  // The old contents are what they were.
  EXPECT_EQ(std::get<Tensor>(results[1]).reals(), (std::vector<double>(6, 0)));
  EXPECT_THROW(b.run({launch->result()}, EvaluateOptions{}, 2), DiagnosticError);
}

// In place: both parameters are one tensor, and the kernel must see one storage.
TEST(Programs, operandsThatShareStorageShareTheCopy) {
  Built b;
  graph::Node *launch = launchDouble(b, b.x, b.x);
  EvaluateOptions options;
  options.launcher = [](const graph::Program &, const graph::KernelDef &,
                        const graph::LaunchVariant &, const std::array<int64_t, 3> &,
                        std::span<LaunchArgument> arguments) {
    EXPECT_EQ(std::get<Tensor>(arguments[0].value).storage,
              std::get<Tensor>(arguments[1].value).storage);
    std::get<Tensor>(arguments[1].value).set(std::vector<int64_t>{0, 0}, 99);
  };
  std::vector<Datum> results = b.run({launch->result(), b.x}, options, 1);
  EXPECT_EQ(std::get<Tensor>(results[0]).reals(), (std::vector<double>{99, 1, 2}));
  EXPECT_EQ(std::get<Tensor>(results[1]).reals(), (std::vector<double>{0, 1, 2}));
}

TEST(Programs, sizesAreCheckedAgainstTheirRange) {
  Built b;
  EXPECT_NO_THROW(b.run({b.x}, {}, 4));
  try {
    b.run({b.x}, {}, 5);
    FAIL();
  } catch (const DiagnosticError &e) {
    EXPECT_NE(std::string(e.what()).find("gives 'batch' the value 5, which is not in 1..4"),
              std::string::npos);
  }
}

TEST(Programs, bodiesAreOpenedAndWeightsRead) {
  Built b;
  graph::Program &p = b.program;
  float scale = 3;
  graph::Weight weight;
  weight.data = {std::shared_ptr<void>(), reinterpret_cast<const std::byte *>(&scale)};
  weight.bytes = 4;
  p.weights["scale"] = weight;
  graph::Value *w = p.main.placeholder("p_scale", TensorType(Float32, {}));
  p.inputs.push_back({graph::InputSpec::Kind::Parameter, "scale", {}, true});
  p.bodies.push_back({"my::op", {}});
  graph::Graph &body = p.bodies[0].graph;
  graph::Value *inner = body.placeholder("x", TensorType(Float32, {batch, 3})),
               *factor = body.placeholder("s", TensorType(Float32, {}));
  body.output({emitCall(body, ops, p.symbols, "aten.mul", {inner, factor})->result()});
  graph::Node *call = p.main.call("my.op.default", {b.x, w}, {}, {b.x->type()});
  call->body = 0;
  std::vector<Datum> results = b.run({call->result(), 5, Argument()}, {}, 1);
  EXPECT_EQ(std::get<Tensor>(results[0]).reals(), (std::vector<double>{0, 3, 6}));
  EXPECT_EQ(std::get<int64_t>(results[1]), 5);
  EXPECT_TRUE(std::holds_alternative<graph::None>(results[2]));
}

// Results lie as their types say, so that a kernel that is given strides finds its elements.
TEST(Programs, resultsHaveTheirDeclaredLayout) {
  Built b;
  graph::Graph &g = b.program.main;
  auto emit = [&](const char *target, std::vector<Argument> args) {
    return emitCall(g, ops, b.program.symbols, target, std::move(args))->result();
  };
  graph::Value *column = emit("aten.slice", {b.x, 1, 1, 3}), *turned = emit("aten.t", {column}),
               *copied = emit("aten.exp", {turned});
  graph::Value *strided =
      emit("aten.as_strided", {turned, Argument::List{1}, Argument::List{1}, 0});
  std::vector<Datum> results = b.run({column, turned, copied, strided}, {}, 2);
  const Tensor &c = std::get<Tensor>(results[0]), &t = std::get<Tensor>(results[1]),
               &e = std::get<Tensor>(results[2]);
  EXPECT_EQ(c.offset, 1);
  EXPECT_EQ(c.strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(t.strides, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(t.storage, c.storage);
  EXPECT_EQ(e.at(std::vector<int64_t>{1, 1}), e.strides[0] + e.strides[1]);
  // Element 0 of the storage lies before the view and is still there.
  EXPECT_EQ(std::get<Tensor>(results[3]).reals(), (std::vector<double>{0}));
}

// A decomposition computes what its operator does.
TEST(Programs, decompositionsAgreeWithTheirOperators) {
  std::mt19937 rng(4);
  std::normal_distribution<double> normal;
  graph::Program p;
  graph::Graph &g = p.main;
  std::vector<double> values(2 * 6 * 5), row(5);
  for (double &v : values)
    v = normal(rng);
  for (double &v : row)
    v = normal(rng);
  graph::Value *x = g.placeholder("x", TensorType(Float64, {2, 6, 5})),
               *w = g.placeholder("w", TensorType(Float64, {5}));
  p.inputs = {{}, {}};
  graph::Value *turned = emitCall(g, ops, p.symbols, "aten.transpose", {x, 0, 1})->result();
  using List = Argument::List;
  const std::pair<const char *, std::vector<Argument>> calls[] = {
      {"aten.softmax", {x, 1}},
      {"aten.log_softmax", {x, -1}},
      {"aten.layer_norm", {x, List{5}, w, w}},
      {"aten.rms_norm", {x, List{5}, w}},
      {"aten.rms_norm", {x, List{6, 5}}},
      {"aten.var", {x, List{0, 2}}},
      {"aten.std", {x, List{1}}},
      {"aten.reshape", {turned, List{-1}}},
      {"aten.flatten", {turned}},
      {"aten.stack", {List{x, x}, 2}},
      {"aten.repeat", {x, List{2, 1, 3, 2}}},
      {"aten.contiguous", {turned}},
      {"aten.unflatten", {x, 1, List{2, -1}}},
      {"aten.dropout", {x, 0.5, false}}};
  std::vector<Argument> outputs;
  for (const auto &[target, args] : calls) {
    graph::Node *node = emitCall(g, ops, p.symbols, target, args);
    outputs.emplace_back(node->result());
    outputs.emplace_back(decompose(g, *node, ops, p.symbols).at(0));
  }
  g.output(outputs);
  p.outputs.assign(outputs.size(), {});
  std::vector<Datum> inputs{Tensor::of(Float64, {2, 6, 5}, values), Tensor::of(Float64, {5}, row)};
  std::vector<Datum> results = evaluate(p, inputs, {});
  for (size_t i = 0; i < results.size(); i += 2) {
    std::vector<double> a = std::get<Tensor>(results[i]).reals(),
                        b = std::get<Tensor>(results[i + 1]).reals();
    ASSERT_EQ(a.size(), b.size());
    for (size_t k = 0; k < a.size(); ++k)
      ASSERT_TRUE(judge::isNear(a[k], b[k], 1e-12)) << calls[i / 2].first;
  }
}
} // namespace
