// SPDX-License-Identifier: Apache-2.0
/// A program with every construct the text can hold.
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <cmath>
#include <cstring>

namespace pellucid::graph::testing {

inline Weight weightOf(std::vector<float> values, std::vector<int64_t> shape) {
  Weight w;
  w.shape = std::move(shape);
  w.bytes = values.size() * 4;
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  w.data = {owner, reinterpret_cast<const std::byte *>(owner->data())};
  return w;
}

inline KernelDef siluKernel() {
  KernelDef kernel;
  kernel.name = kernel.symbol = "silu_kernel";
  kernel.ttir = "module {\n  tt.func @silu_kernel() {\n    tt.return\n  }\n}\nend\n";
  kernel.sourcePath = "ops/silu \"v2\".py";
  kernel.sourceLine = 12;
  kernel.warning = "line 14: an address from a loaded value";
  kernel.numerics = {false, true, 39};
  kernel.parameters = {
      {"x_ptr", KernelParameter::Kind::Pointer, DataType::Float32, Access::Read, false, 16, {}},
      {"out_ptr",
       KernelParameter::Kind::Pointer,
       DataType::Float32,
       Access::ReadWrite,
       true,
       1,
       {}},
      {"n", KernelParameter::Kind::Scalar, DataType::Int32, Access::None, false, 16, {}},
      {"scale", KernelParameter::Kind::Scalar, DataType::Float32, Access::None, false, 1, {}},
      {"flag", KernelParameter::Kind::Scalar, DataType::Bool, Access::None, false, 1, {}},
      {"BLOCK", KernelParameter::Kind::Constant, DataType::Float32, Access::None, false, 1,
       Argument(1024)},
      {"mask", KernelParameter::Kind::Constant, DataType::Float32, Access::None, false, 1,
       Argument()},
      {"kind", KernelParameter::Kind::Constant, DataType::Float32, Access::None, false, 1,
       Argument(DataType::Float8E5M2)},
  };
  return kernel;
}

inline Node *addLaunch(Program &program, Value *x) {
  Graph &g = program.main;
  Value *out =
      emitCall(g, OperatorRegistry::builtins(), program.symbols, "aten.empty_like", {x})->result();
  Expr n = x->type().numel();
  Launch launch;
  LaunchVariant first, second;
  first.guard = equal(mod(n, 16), 0);
  first.grid[0] = ceilDiv(n, 1024);
  first.constants = {{"BLOCK", 1024},
                     {"act", "si\"lu"},
                     {"eps", 1e-5},
                     {"off", Argument()},
                     {"dt", DataType::Float16}};
  first.origin = "autotune config 0";
  second.kernel = 1;
  second.grid[0] = ceilDiv(n, 512);
  second.grid[1] = 2;
  second.numWarps = 8;
  second.constants = {{"BLOCK", 512}};
  launch.variants = {first, second};
  launch.operands = {{"x_ptr", x, Access::Read},
                     {"out_ptr", out, Access::ReadWrite, true},
                     {"n", Argument(n)},
                     {"scale", 0.1},
                     {"flag", true}};
  return g.launch(std::move(launch));
}

inline Program exampleProgram() {
  Program program;
  program.strict = true;
  const Expr batch = Expr::symbol("batch");
  program.symbols.declare("batch", {{1, 1024}, 1, 8});
  program.symbols.declare("n16", {{-16, INT64_MAX}, 16, {}});
  program.operators = {
      {"custom_ops::silu",
       "(Tensor x, *, float alpha=1.0) -> Tensor",
       OperatorDefinition::Kind::TritonOp,
       {}},
      {"custom_ops::scale_", "(Tensor(a!) x) -> ()", OperatorDefinition::Kind::CustomOp, {"x"}}};
  program.kernels = {siluKernel(), siluKernel()};
  program.kernels[1].symbol = "silu_kernel_1";
  program.kernels[1].ttir = "module {\n\n  // no line end at the end\n}";
  program.weights = {{"linear.weight", weightOf(std::vector<float>(16, 0.5f), {4, 4})},
                     {"scale", weightOf({2}, {})}};
  program.weights["tied.weight"] = program.weights["linear.weight"];
  const OperatorRegistry &ops = OperatorRegistry::builtins();
  Graph &g = program.main;
  Value *w = g.placeholder("p_linear_weight", TensorType(DataType::Float32, {4, 4}));
  Value *scale = g.placeholder("b_scale", TensorType(DataType::Float32, {}));
  Value *x = g.placeholder("x", TensorType(DataType::Float32, {batch, 4}, {Device::Kind::Cuda, 1}));
  g.placeholder("k", Expr::symbol("n16"));
  Value *host = g.placeholder("odd name", TensorType(DataType::Float32, {batch, 4}));
  g.setLocation(SourceLocation("model.py"));
  Node *linear = emitCall(g, ops, program.symbols, "aten.linear", {host, w});
  linear->location.range = {3, 9, 3, 20};
  linear->stackNote = "Model.forward\n  up = self.up(x)";
  g.setLocation({});
  Node *chunks = emitCall(g, ops, program.symbols, "aten.chunk", {linear->result(), 2, -1});
  Value *shifted =
      emitCall(g, ops, program.symbols, "aten.add", {chunks->result(1), -0.0}, {{"alpha", 3}})
          ->result();
  Value *full = emitCall(g, ops, program.symbols, "aten.full",
                         {Argument::List{Argument(batch * 2 + 1)}, INFINITY},
                         {{"dtype", DataType::BFloat16}, {"device", Device{}}})
                    ->result();
  Value *product = emitCall(g, ops, program.symbols, "aten.mul", {x, 2})->result();
  Node *launch = addLaunch(program, product);
  Node *user =
      g.call("custom_ops.silu.default", {launch->result()}, {{"alpha", std::nan("")}}, {x->type()});
  user->body = 0;
  Node *mutating = g.call("custom_ops.scale_.default", {scale}, {}, {scale->type()});
  mutating->mutatedArgs = {0};
  program.bodies.push_back({"custom_ops::silu", {}});
  Value *inner = program.bodies[0].graph.placeholder("x", x->type());
  program.bodies[0].graph.output({inner});
  g.output({mutating->result(), user->result(), shifted, full, Argument(), 7});
  program.inputs = {{InputSpec::Kind::Parameter, "linear.weight", {}, true},
                    {InputSpec::Kind::Buffer, "scale", {}, false},
                    {InputSpec::Kind::UserInput, "x", {}, true},
                    {InputSpec::Kind::ConstantInput, "k", 16, true},
                    {InputSpec::Kind::UserInput, "odd name", {}, true}};
  program.outputs = {{OutputSpec::Kind::BufferMutation, "scale"}, {}, {}, {}, {}, {}};
  return program;
}

} // namespace pellucid::graph::testing
