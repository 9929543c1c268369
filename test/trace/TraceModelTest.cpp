// SPDX-License-Identifier: Apache-2.0
/// Models traced from their Python text: what nodes there are, in all ways to hold a kernel, strict
/// and not.
#include "trace/TraceModel.h"

#include "graph/ProgramText.h"

#include "judge/Judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pellucid::trace {
namespace {

using graph::Expr;
using graph::Node;
using graph::Program;
using graph::TensorType;

const char *const header = R"py(import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton, custom_op

@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)

@triton.jit
def double_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * 2, mask=offsets < n)

def raw_silu(x):
    out = torch.empty_like(x)
    n = x.numel()
    silu_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, BLOCK=256)
    return out

@triton_op("demo::silu", mutates_args={})
def op_silu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK"]),)
    wrap_triton(silu_kernel)[grid](x, out, n, BLOCK=256)
    return out

@custom_op("demo::opaque_silu", mutates_args=())
def opaque_silu(x: torch.Tensor) -> torch.Tensor:
    return raw_silu(x)

@opaque_silu.register_fake
def _(x):
    return torch.empty_like(x)

class Model(nn.Module):
    def __init__(self, dim=128, hidden=64, way="raw"):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.way = way

    def forward(self, x):
        x = self.up(x)
        if self.way == "raw":
            x = raw_silu(x)
        elif self.way == "op":
            x = op_silu(x)
        else:
            x = opaque_silu(x)
        return self.down(x)
)py";
constexpr uint32_t headerLines = 59;

class TraceTest : public testing::Test {
protected:
  std::filesystem::path file;
  symbolic::SymbolTable symbols;
  TraceOptions options;
  std::vector<TraceInput> inputs;
  std::vector<std::string> warnings;

  void SetUp() override {
    // Parameterised names have slashes, and several processes may run these tests at once.
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    file = std::filesystem::path(testing::TempDir()) /
           ("pellucid_" + std::to_string(getpid()) + "_" + name + ".py");
    symbols.declare("batch", {{1, 1024}, 1, 8});
    input("x", {Expr::symbol("batch"), 128});
    options.warn = [this](Diagnostic d) { warnings.push_back(d.message); };
  }
  void TearDown() override { std::filesystem::remove(file); }

  void input(const char *name, std::vector<Expr> shape, DataType type = DataType::Float32) {
    inputs.push_back({name, TensorType(type, std::move(shape))});
  }
  Program trace(const std::string &text, const std::string &name) {
    std::ofstream(file) << header << text;
    return traceModel(file.string(), name, inputs, symbols, options);
  }
  static std::vector<std::string> targets(const graph::Graph &graph) {
    std::vector<std::string> out;
    for (Node &n : graph)
      if (n.isCall())
        out.push_back(n.target());
    return out;
  }
  static void expectSound(const Program &p) {
    EXPECT_EQ(p.main.verify(), std::vector<std::string>());
    for (const auto &body : p.bodies)
      EXPECT_EQ(body.graph.verify(), std::vector<std::string>());
  }
  /// Expects a refusal whose message contains `part`, at `line` of the appended text (0: anywhere).
  void refused(const std::string &text, const std::string &name, uint32_t line,
               const std::string &part) {
    try {
      trace(text, name);
      FAIL() << "accepted";
    } catch (const DiagnosticError &e) {
      EXPECT_NE(e.diagnostic.message.find(part), std::string::npos) << e.what();
      if (line)
        EXPECT_EQ(e.diagnostic.location.range.line, headerLines + line) << e.what();
    }
  }
};

using Targets = std::vector<std::string>;

class FourWays : public TraceTest,
                 public testing::WithParamInterface<std::tuple<const char *, bool>> {};

TEST_P(FourWays, Exports) {
  auto [way, strict] = GetParam();
  options.strict = strict;
  options.init = {{"way", std::string("'") + way + "'"}};
  Program p = trace("", "Model");
  expectSound(p);
  EXPECT_EQ(p.weights.size(), 4u);
  std::string w = way;
  Targets middle = w == "raw"
                       ? Targets{"aten.empty_like.default", "triton_kernel_wrapper_mutation"}
                       : Targets{w == "op" ? "demo.silu.default" : "demo.opaque_silu.default"};
  Targets expected{"aten.linear.default"};
  expected.insert(expected.end(), middle.begin(), middle.end());
  expected.push_back("aten.linear.default");
  Targets got = targets(p.main);
  std::erase_if(got, [](const std::string &t) { return t.starts_with("aten.sym_"); });
  EXPECT_EQ(got, expected);
  const graph::Graph &inner = w == "raw" ? p.main : p.bodies.at(0).graph;
  const Node *launch = nullptr;
  for (Node &n : inner)
    if (n.isLaunch())
      launch = &n;
  ASSERT_TRUE(launch);
  ASSERT_EQ(launch->launch()->variants.size(), 1u);
  const auto &variant = launch->launch()->variants[0];
  EXPECT_EQ(symbolic::evaluate(variant.grid[0], {{"batch", 1000}}), 250);
  EXPECT_EQ(launch->resultCount(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Trace, FourWays,
                         testing::Combine(testing::Values("raw", "op", "opaque"), testing::Bool()));

TEST_F(TraceTest, BranchOnASizeIsTheExamplesOrRefused) {
  const char *text = "def f(x):\n"
                     "    if x.shape[0] > 16:\n"
                     "        return x + 1\n"
                     "    return x * 2\n";
  Program p = trace(text, "f");
  EXPECT_EQ(targets(p.main), Targets{"aten.mul.Tensor"});
  EXPECT_EQ(warnings.size(), 1u);
  options.strict = true;
  refused(text, "f", 2, "strict");
}

/// A file that asks for the alignment of its input is compiled for aligned ones, and says so.
TEST_F(TraceTest, AlignmentOfAnInputIsOfTheProgram) {
  const char *text = "def f(x):\n"
                     "    y = x[1:].flatten()\n"
                     "    if y.data_ptr() % 16 == 0 and x.data_ptr() % 8 == 0:\n"
                     "        return y + 1\n"
                     "    return y * 2\n";
  Program p = trace(text, "f");
  EXPECT_EQ(targets(p.main).back(), "aten.add.Tensor");
  EXPECT_EQ(p.inputs[0].alignment, 16u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("'x' whose address is a multiple of 16"), std::string::npos);
  EXPECT_NE(graph::printProgram(p).find("input user_input \"x\" align 16"), std::string::npos);
  options.strict = true;
  refused(text, "f", 3, "an address (.data_ptr()) is only known when the program runs");
}

/// What a kernel is emitted with is said where the model is compiled, once for all its variants.
TEST_F(TraceTest, WarningsOfKernels) {
  trace("@triton.jit\n"
        "def steps(x, n, BLOCK: tl.constexpr):\n"
        "    for i in range(0, n, step=2):\n"
        "        tl.store(x + i, 1.0)\n"
        "@triton.not_there.tuned(1)\n"
        "@triton.jit\n"
        "def left(x):\n"
        "    tl.store(x, 1.0)\n"
        "def f(x):\n"
        "    y = torch.empty_like(x)\n"
        "    steps[(1,)](y, x.shape[0], BLOCK=triton.next_power_of_2(x.shape[0]))\n"
        "    return y\n",
        "f");
  std::vector<std::string> said;
  for (const std::string &warning : warnings)
    if (warning.find("this loop steps by 1") != std::string::npos)
      said.push_back(warning);
  EXPECT_EQ(said.size(), 1u);
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string &warning) {
    return warning.find("'@tuned' is left out") != std::string::npos;
  }));
}

/// item() gives a number that is computed when the program runs; assertions about it are made then.
TEST_F(TraceTest, NumbersOfTensors) {
  Program p = trace("def f(x):\n"
                    "    n = (x > 0).sum().item()\n"
                    "    assert n >= 0\n"
                    "    y = torch.empty_like(x)\n"
                    "    silu_kernel[(1,)](x, y, n * 2, BLOCK=64)\n"
                    "    return y, x / n\n",
                    "f");
  expectSound(p);
  EXPECT_TRUE(warnings.empty());
  const graph::KernelParameter &count = p.kernels[0].parameters[2];
  EXPECT_EQ(count.kind, graph::KernelParameter::Kind::Pointer);
  EXPECT_EQ(count.dtype, DataType::Int64);
  refused("def f(x):\n    n = x.sum().item()\n    return x if n > 0 else -x\n", "f", 3, "branch");
  refused("def f(x):\n    n = x.sum().item()\n    return x[:n]\n", "f", 3,
          "a number that a tensor holds");
  refused("def f(x):\n    n = (x > 0).sum().item()\n    silu_kernel[(1,)](x, x, 1, BLOCK=n)\n", "f",
          3, "must be known while compiling");
}

/// What is computed from the program's own numbers alone is known while tracing, a tensor's rows
/// are what a loop over it gives, and what inputs decide is not known.
TEST_F(TraceTest, KnownNumbers) {
  Program p = trace("rates = [r.item() for r in torch.linspace(0, 1, 5)]\n"
                    "def f(x):\n"
                    "    sizes = torch.arange(2, 5)\n"
                    "    assert (sizes > 1).all() and not (sizes == 7).any()\n"
                    "    a, b = torch.zeros(2, 128)\n"
                    "    if torch.tensor([1, 2]).sum() == 3:\n"
                    "        x = x * rates[3] + a[:128]\n"
                    "    return x.reshape(sizes.tolist()[0] * 64, -1)\n",
                    "f");
  expectSound(p);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(p.main.outputNode()->arg(0).value()->type().shape[0], graph::Expr(128));
  refused("def f(x):\n    return x * x.reshape(-1).tolist()[0]\n", "f", 2,
          "only known when the program runs");
  refused("def f(x):\n    assert not (torch.tensor([1, 2]) > 0).all()\n    return x\n", "f", 2,
          "AssertionError");
  refused("def f(x):\n    return [r for r in x]\n", "f", 2, "is dynamic");
  options.strict = true;
  expectSound(trace("def f(x):\n    assert (x > 0).all()\n    return x\n", "f"));
}

TEST_F(TraceTest, StrictDecidesForTheWholeRange) {
  options.strict = true;
  Program p = trace(
      "def f(x):\n    assert x.shape[0] <= 1024 and x.shape[1] == 128\n    return x + 1\n", "f");
  EXPECT_EQ(targets(p.main), Targets{"aten.add.Tensor"});
}

TEST_F(TraceTest, BranchOnAValueIsRefused) {
  for (bool strict : {false, true}) {
    options.strict = strict;
    refused("def f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n", "f", 2, "");
  }
}

/// A write through a view reaches every other view and the base.
TEST_F(TraceTest, WritesThroughViewsReachTheBase) {
  Program p = trace("def f(x):\n"
                    "    y = x + 0\n"
                    "    v = y[:, :64]\n"
                    "    v.add_(1)\n"
                    "    return y.sum(), v\n",
                    "f");
  expectSound(p);
  // The sum must read what came after the addition, not the first `x + 0`.
  const Node *sum = nullptr, *first = nullptr;
  for (Node &n : p.main) {
    if (n.calls("aten.sum.default") || n.target().starts_with("aten.sum"))
      sum = &n;
    if (!first && n.target().starts_with("aten.add"))
      first = &n;
  }
  ASSERT_TRUE(sum && first);
  EXPECT_NE(sum->arg(0).as<graph::Value *>().value(), first->result());
}

TEST_F(TraceTest, InputMutationIsAnOutput) {
  Program p = trace("def f(x):\n    n = x.numel()\n    double_kernel[(triton.cdiv(n, 64),)](x, n, "
                    "BLOCK=64)\n    return x.relu()\n",
                    "f");
  expectSound(p);
  ASSERT_EQ(p.outputs.size(), 2u);
  EXPECT_EQ(p.outputs[0].kind, graph::OutputSpec::Kind::UserInputMutation);
}

TEST_F(TraceTest, MutationIsCheckedAgainstTheKernel) {
  refused("@triton_op('m::f', mutates_args={})\n"
          "def f(x: torch.Tensor) -> None:\n"
          "    wrap_triton(double_kernel)[(1,)](x, 64, BLOCK=64)\n"
          "def g(x):\n    y = x.clone()\n    f(y)\n    return y\n",
          "g", 0, "mutates_args");
  Program p = trace("@triton_op('m::f', mutates_args={'x'})\n"
                    "def f(x: torch.Tensor) -> None:\n"
                    "    wrap_triton(double_kernel)[(1,)](x, 64, BLOCK=64)\n"
                    "def g(x):\n    y = x.clone()\n    torch.ops.m.f.default(y)\n    "
                    "torch.ops.m.f(y)\n    return y\n",
                    "g");
  expectSound(p);
  EXPECT_EQ(targets(p.main), (Targets{"aten.clone.default", "m.f.default", "m.f.default"}));
}

/// A heuristic on a dynamic size becomes guarded variants, in strict exports too.
TEST_F(TraceTest, HeuristicsOnSizesBecomeVariants) {
  options.strict = true;
  Program p =
      trace("@triton.autotune(configs=[triton.Config({'BLOCK': 128}, num_warps=8)], key=['n'])\n"
            "@triton.heuristics({'EVEN': lambda a: a['n'] % 1024 == 0})\n"
            "@triton.jit\n"
            "def k(x_ptr, o_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):\n"
            "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
            "    if EVEN:\n"
            "        tl.store(o_ptr + o, tl.load(x_ptr + o))\n"
            "    else:\n"
            "        tl.store(o_ptr + o, tl.load(x_ptr + o, mask=o < n), mask=o < n)\n"
            "def f(x):\n"
            "    out = torch.empty_like(x)\n"
            "    n = x.numel()\n"
            "    k[lambda m: (triton.cdiv(n, m['BLOCK']),)](x, out, n)\n"
            "    return out\n",
            "f");
  expectSound(p);
  const Node *launch = nullptr;
  for (Node &n : p.main)
    if (n.isLaunch())
      launch = &n;
  ASSERT_TRUE(launch);
  const auto &variants = launch->launch()->variants;
  ASSERT_GE(variants.size(), 2u);
  for (int64_t batch : {1, 7, 8, 16, 1000, 1024}) {
    // n = batch * 128 is a multiple of 1024 when batch is one of 8.
    for (const auto &v : variants) {
      if (symbolic::evaluate(v.guard, {{"batch", batch}}) != 1)
        continue;
      for (const auto &[name, value] : v.constants)
        if (name == "EVEN")
          EXPECT_EQ(value.as<bool>(), batch % 8 == 0) << batch;
      EXPECT_EQ(v.numWarps, 8);
      break;
    }
  }
}

/// With two dynamic dims, only the one that the heuristic looks at is enumerated.
TEST_F(TraceTest, OnlyTheSizesAskedForAreEnumerated) {
  symbols.declare("width", {{1, 4096}, 1, 100});
  inputs.clear();
  input("x", {Expr::symbol("batch"), Expr::symbol("width")});
  const char *text = "@triton.heuristics({'BLOCK': lambda a: triton.next_power_of_2(a['n'])%s})\n"
                     "@triton.jit\n"
                     "def k(x_ptr, o_ptr, rows, n, BLOCK: tl.constexpr):\n"
                     "    o = tl.arange(0, BLOCK)\n"
                     "    p = tl.program_id(0) * n\n"
                     "    tl.store(o_ptr + p + o, tl.load(x_ptr + p + o, mask=o < n), mask=o < n)\n"
                     "def f(x):\n"
                     "    out = torch.empty_like(x)\n"
                     "    k[(x.shape[0],)](x, out, x.shape[0], x.shape[1])\n"
                     "    return out\n";
  auto with = [&](const char *more) {
    std::string s = text;
    return s.replace(s.find("%s"), 2, more);
  };
  Program p = trace(with(""), "f");
  expectSound(p);
  const Node *launch = nullptr;
  for (Node &n : p.main)
    if (n.isLaunch())
      launch = &n;
  ASSERT_TRUE(launch);
  ASSERT_EQ(launch->launch()->variants.size(), 13u); // 1, 2, 4 … 4096
  for (const auto &v : launch->launch()->variants)
    EXPECT_LE(v.guard.symbols(), std::vector<std::string>{"width"});
  // A second dim doubles some of them: 1, 2, 4 … 8192.
  Program two = trace(with(" * (1 + a['rows'] % 2)"), "f");
  expectSound(two);
  for (Node &n : two.main)
    if (n.isLaunch())
      EXPECT_EQ(n.launch()->variants.size(), 14u);
  refused(with(" * a['rows']"), "f", 9, "too many values");
}

TEST_F(TraceTest, BranchesThatChooseNumbersBecomeSelections) {
  const char *text = "def f(x):\n"
                     "    n = x.shape[0]\n"
                     "    rows = 4 if n > 7 else 2\n"
                     "    if n > 30:\n"
                     "        rows = 8\n"
                     "    elif n > 20:\n"
                     "        rows *= 2\n"
                     "    return torch.zeros(rows, 3) + 1\n";
  options.strict = true;
  Program p = trace(text, "f");
  expectSound(p);
  const Node *zeros = nullptr;
  for (Node &n : p.main)
    if (n.target() == "aten.zeros.default")
      zeros = &n;
  ASSERT_TRUE(zeros);
  const Expr rows = zeros->result()->type().shape[0];
  for (auto [n, expected] :
       {std::pair<int64_t, int64_t>{1, 2}, {7, 2}, {8, 4}, {20, 4}, {21, 8}, {31, 8}})
    EXPECT_EQ(symbolic::evaluate(rows, {{"batch", n}}), expected) << n;
  // A branch that does more than choose numbers is no selection.
  refused("def f(x):\n    y = x\n    if x.shape[0] > 7:\n        y = x + 1\n    return y\n", "f", 3,
          "this branch depends on a dynamic dim");
}

struct OperatorRow {
  const char *body;
  const char *target;
};
class Operators : public TraceTest, public testing::WithParamInterface<OperatorRow> {};

TEST_P(Operators, RecordTheAtenOperator) {
  Program p = trace(std::string("def f(x):\n    return ") + GetParam().body + "\n", "f");
  expectSound(p);
  Targets got = targets(p.main);
  EXPECT_TRUE(std::find(got.begin(), got.end(), GetParam().target) != got.end())
      << GetParam().body << " gave " << testing::PrintToString(got);
}

INSTANTIATE_TEST_SUITE_P(
    Trace, Operators,
    testing::Values(
        OperatorRow{"x + 1", "aten.add.Tensor"}, OperatorRow{"2 - x", "aten.rsub.Scalar"},
        OperatorRow{"x * x", "aten.mul.Tensor"}, OperatorRow{"x / 2", "aten.div.Tensor"},
        OperatorRow{"-x", "aten.neg.default"}, OperatorRow{"x ** 2", "aten.pow.Tensor_Scalar"},
        OperatorRow{"x > 0", "aten.gt.Scalar"}, OperatorRow{"x == x", "aten.eq.Tensor"},
        OperatorRow{"0 < x", "aten.gt.Scalar"}, OperatorRow{"0 <= x", "aten.ge.Scalar"},
        OperatorRow{"0 > x", "aten.lt.Scalar"}, OperatorRow{"0 >= x", "aten.le.Scalar"},
        OperatorRow{"torch.where(x > 0, x, -x)", "aten.where.self"},
        OperatorRow{"F.silu(x)", "aten.silu.default"},
        OperatorRow{"F.gelu(x, approximate='tanh')", "aten.gelu.default"},
        OperatorRow{"torch.relu(x)", "aten.relu.default"},
        OperatorRow{"x.sigmoid()", "aten.sigmoid.default"},
        OperatorRow{"x.tanh()", "aten.tanh.default"},
        OperatorRow{"torch.exp(x)", "aten.exp.default"},
        OperatorRow{"torch.sqrt(x)", "aten.sqrt.default"},
        OperatorRow{"torch.rsqrt(x)", "aten.rsqrt.default"},
        OperatorRow{"F.softmax(x, dim=-1)", "aten.softmax.int"},
        OperatorRow{"x.sum(-1, keepdim=True)", "aten.sum.dim_IntList"},
        OperatorRow{"x.mean(dim=1)", "aten.mean.dim"},
        OperatorRow{"x.amax(dim=-1)", "aten.amax.default"},
        OperatorRow{"x.chunk(2, dim=-1)[0]", "aten.chunk.default"},
        OperatorRow{"x.split(64, dim=1)[1]", "aten.split.Tensor"},
        OperatorRow{"x.view(-1, 2, 64)", "aten.view.default"},
        OperatorRow{"x.reshape(x.shape[0], 2, -1)", "aten.reshape.default"},
        OperatorRow{"x.transpose(0, 1)", "aten.transpose.int"},
        OperatorRow{"x.permute(1, 0)", "aten.permute.default"},
        OperatorRow{"x.t().contiguous()", "aten.contiguous.default"},
        OperatorRow{"torch.cat([x, x], dim=1)", "aten.cat.default"},
        OperatorRow{"torch.empty((4, 5), dtype=torch.float16).fill_(1)",
                    "aten.empty.memory_format"},
        OperatorRow{"torch.zeros(x.shape[0], 3) + 1", "aten.zeros.default"},
        OperatorRow{"torch.full((2,), 3.0) * 2", "aten.full.default"},
        OperatorRow{"torch.ones_like(x)", "aten.ones_like.default"},
        OperatorRow{"x.new_empty(3, 4).zero_()", "aten.new_empty.default"},
        OperatorRow{"F.layer_norm(x, (128,))", "aten.layer_norm.default"},
        OperatorRow{"F.rms_norm(x, (128,))", "aten.rms_norm.default"},
        OperatorRow{"x.to(torch.bfloat16)", "aten.to.dtype"},
        OperatorRow{"x @ x.t()", "aten.matmul.default"},
        OperatorRow{"x[:, 3:5]", "aten.slice.Tensor"}, OperatorRow{"x[0]", "aten.select.int"},
        OperatorRow{"x[:, None]", "aten.unsqueeze.default"},
        OperatorRow{"x[..., 0]", "aten.select.int"}));

/// What files ask of torch around their tensors.
TEST_F(TraceTest, DevicesConstantsAndAutogradFunctions) {
  Program p =
      trace("class Twice(torch.autograd.Function):\n"
            "    @staticmethod\n"
            "    def forward(ctx, x):\n"
            "        ctx.save_for_backward(x)\n"
            "        return x * 2\n"
            "    @staticmethod\n"
            "    def backward(ctx, g):\n"
            "        return g * 2\n"
            "def f(x):\n"
            "    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
            "    assert x.device == device and x.device.type == 'cpu' and str(device) == 'cpu'\n"
            "    with torch.cuda.device(x.device), torch.no_grad():\n"
            "        y = torch.zeros(x.shape, device=x.device) + torch.tensor(0.5)\n"
            "    return Twice.apply(y.to(device))\n",
            "f");
  expectSound(p);
  Targets got = targets(p.main);
  EXPECT_EQ(got.front(), "aten.zeros.default");
  EXPECT_EQ(got.back(), "aten.mul.Tensor");
}

TEST_F(TraceTest, UnknownOperatorsAreRefusedByName) {
  refused("def f(x):\n    return torch.fft_nonsense(x)\n", "f", 2, "fft_nonsense");
}

TEST_F(TraceTest, WeightsAreReproducible) {
  Program a = trace("", "Model"), b = trace("", "Model");
  const graph::Weight &x = a.weights.at("up.weight"), &y = b.weights.at("up.weight");
  ASSERT_EQ(x.bytes, 128u * 64 * 4);
  EXPECT_EQ(std::memcmp(x.data.get(), y.data.get(), x.bytes), 0);
  auto *values = reinterpret_cast<const float *>(x.data.get());
  double bound = 1 / std::sqrt(128.0);
  judge::Comparison weights;
  for (size_t i = 0; i < 128 * 64; ++i)
    weights.add(values[i], 0, bound);
  EXPECT_TRUE(weights.ok());
  EXPECT_GT(weights.largest(), 0.9 * bound);
}

} // namespace
} // namespace pellucid::trace
