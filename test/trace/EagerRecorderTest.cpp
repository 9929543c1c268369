// SPDX-License-Identifier: Apache-2.0
// Segments of scripts, computed by the graph's reference interpreter.
#include "trace/EagerRecorder.h"
#include "host/Interpreter.h"
#include "reference/graph/Interpreter.h"
#include "trace/TensorObject.h"
#include "trace/TraceHooks.h"
#include "trace/TraceSession.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

/// Runs a segment by definition, whatever is in it.
SegmentRun interpreted(const graph::Program &given, const graph::OperatorRegistry &registry) {
  auto program = std::make_shared<graph::Program>(given.clone());
  return [program, &registry](const std::vector<ConcreteTensor> &inputs) {
    std::vector<reference::Datum> data;
    for (const ConcreteTensor &input : inputs) {
      reference::Tensor tensor(input.dtype, input.shape);
      std::memcpy(tensor.storage->data(), input.dense().get(), tensor.storage->size());
      data.emplace_back(std::move(tensor));
    }
    reference::EvaluateOptions options;
    options.registry = &registry;
    std::vector<std::shared_ptr<const std::byte>> out;
    for (const auto &result : reference::evaluate(*program, program->main, data, {}, options)) {
      reference::Tensor dense = std::get<reference::Tensor>(result).copy();
      out.emplace_back(dense.storage, reinterpret_cast<const std::byte *>(dense.storage->data()));
    }
    return out;
  };
}

class Script : public testing::Test {
protected:
  Tracer tracer;
  EagerRecorder recorder{tracer, [this](const graph::Program &program, graph::Device device) {
                           lastDevice = device;
                           if (fails)
                             throw DiagnosticError(SourceLocation("test"), "cannot be compiled");
                           lastInputs = program.inputs.size();
                           lastOutputs = program.outputs.size();
                           lastNodes = program.main.size();
                           return interpreted(program, tracer.registry);
                         }};
  TraceHooks hooks{&tracer};
  std::unique_ptr<h::Interpreter> interpreter;
  bool fails = false;
  graph::Device lastDevice;
  size_t lastInputs = 0, lastOutputs = 0, lastNodes = 0;
  std::shared_ptr<h::Module> module;

  void SetUp() override {
    h::InterpreterOptions options;
    options.hooks = &hooks;
    addTracedModules(options.modules, tracer, {});
    addEagerModules(options.modules, tracer);
    interpreter = std::make_unique<h::Interpreter>(std::move(options));
  }
  void TearDown() override {
    module.reset();
    interpreter.reset();
  }
  void run(const std::string &text) {
    module = interpreter->importSource(
        "script", std::make_shared<SourceFile>("script.py", "import torch\n" + text));
  }
  std::string shown(const char *name) { return interpreter->str(*module->globals->find(name)); }
};

TEST_F(Script, NothingRunsBeforeAValueIsNeeded) {
  run("x = torch.full((3,), 2.0).sqrt()\ny = x + 1\n");
  EXPECT_EQ(recorder.statistics().segments, 0u);
  EXPECT_EQ(shown("y"), "tensor([2.4142, 2.4142, 2.4142])");
  EXPECT_EQ(recorder.statistics().segments, 1u);
  // x is still held, and was computed with y.
  EXPECT_EQ(shown("x"), "tensor([1.4142, 1.4142, 1.4142])");
  EXPECT_EQ(recorder.statistics().segments, 1u);
}

TEST_F(Script, WhatNobodyHoldsIsNotComputed) {
  run("x = torch.full((3,), 2.0).exp()\nx = torch.full((3,), 4.0).sqrt()\nkeep = x.sum().item()\n");
  // full, sqrt, sum and its outputs; no exp.
  EXPECT_EQ(lastNodes, 4u);
  EXPECT_EQ(shown("keep"), "6.0");
}

TEST_F(Script, ViewsSeeWritesAcrossSegments) {
  run("x = torch.zeros(2, 3)\nrow = x[1]\ncolumn = x[:, 2]\na = x.sum().item()\n"
      "row += 5\nb = column.tolist()\ncolumn[0] = 7\nc = x.tolist()\nx.t()[1, 0] = -1\nd = "
      "x.tolist()\n");
  EXPECT_EQ(shown("b"), "[0.0, 5.0]");
  EXPECT_EQ(shown("c"), "[[0.0, 0.0, 7.0], [5.0, 5.0, 5.0]]");
  EXPECT_EQ(shown("d"), "[[0.0, -1.0, 7.0], [5.0, 5.0, 5.0]]");
}

TEST_F(Script, ViewsOfViewsOfMemoryKeepTheirPlace) {
  run("x = torch.arange(24.0).reshape(2, 3, 4)\ns = x.exp().sum().item()\nv = x[1][1:]\nw = v[1]\n"
      "a = (w * 1).tolist()\nw.mul_(2)\nb = x[1, 2].tolist()\nc = v.t()[3].tolist()\n");
  EXPECT_EQ(shown("a"), "[20.0, 21.0, 22.0, 23.0]");
  EXPECT_EQ(shown("b"), "[40.0, 42.0, 44.0, 46.0]");
  EXPECT_EQ(shown("c"), "[19.0, 46.0]");
}

TEST_F(Script, SlicesAtAnotherPlaceAreTheSameSegment) {
  run("x = torch.arange(32.0).exp()\nn = x.sum().item()\ntotal = 0.0\n"
      "for i in range(8):\n    total += (x[i * 4:i * 4 + 4].log()).sum().item()\n");
  EXPECT_EQ(shown("total").substr(0, 5), "496.0");
  EXPECT_EQ(recorder.statistics().compiled, 2u);
  EXPECT_EQ(recorder.statistics().segments, 9u);
}

TEST_F(Script, TenSizesAreTwoPrograms) {
  run("total = 0.0\nfor n in range(5, 15):\n"
      "    x = torch.full((n, 3), 0.5).exp()\n    y = torch.arange(n).view(n, 1) + x\n"
      "    total += y.reshape(-1)[:2 * n].log().sum().item()\n");
  EXPECT_EQ(recorder.statistics().segments, 10u);
  EXPECT_EQ(recorder.statistics().compiled, 2u);
  EXPECT_EQ(recorder.statistics().dynamic, 1u);
  std::string inTurns = shown("total");
  // What two programs computed is what ten programs compute.
  run("total = 0.0\nfor n in range(5, 15):\n    torch.zeros(n).tolist()\n"
      "    for i in range(1):\n        x = torch.full((n, 3), 0.5).exp()\n"
      "    y = torch.arange(n).view(n, 1) + x\n"
      "    total += y.reshape(-1)[:2 * n].log().sum().item()\n");
  EXPECT_EQ(shown("total"), inTurns);
}

TEST_F(Script, AKernelsIrIsMadeOnce) {
  run("import triton\nimport triton.language as tl\n"
      "@triton.jit\ndef kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
      "    i = tl.arange(0, BLOCK)\n"
      "    x = tl.load(x_ptr + i, mask=i < n, other=-float('inf'))\n"
      "    tl.store(out_ptr + i, x + tl.sum(tl.where(i < n, x, 0.0), axis=0), mask=i < n)\n"
      "x = torch.full((5,), 1.0)\n"
      "for i in range(6):\n    out = torch.empty_like(x)\n    kernel[(1,)](x, out, 5, BLOCK=8)\n");
  EXPECT_EQ(hooks.emittedKernels(), 1u);
}

TEST_F(Script, AStepIsOneSegment) {
  run("x = torch.full((6, 4), 0.25).exp()\nw = torch.full((4, 3), 0.5).exp().requires_grad_()\n"
      "start = x.sum().item() + w.sum().item()\nm = torch.zeros_like(w)\nlosses = []\n"
      "for step in range(20):\n    loss = ((x @ w) ** 2).mean()\n    w.grad = None\n"
      "    loss.backward()\n    with torch.no_grad():\n"
      "        m.mul_(0.9).add_(w.grad, alpha=0.1)\n        w -= 0.01 / (step + 1) * m\n"
      "    losses.append(loss.item())\ndown = losses[-1] < losses[0]\n");
  EXPECT_EQ(shown("down"), "True");
  EXPECT_LE(recorder.statistics().segments, 22u);
  EXPECT_LE(recorder.statistics().compiled, 6u);
}

TEST_F(Script, OneIsNoSizeAmongOthers) {
  run("for n in (1, 4, 6, 8, 1):\n    x = torch.full((n, 3), 0.5).exp()\n"
      "    s = x.log().sum().item()\n");
  // For 1, for 4, and for all others.
  EXPECT_EQ(recorder.statistics().compiled, 3u);
  EXPECT_EQ(recorder.statistics().dynamic, 1u);
}

TEST_F(Script, WhatIsNoSizeIsAnotherProgram) {
  run("x = torch.arange(24.0).reshape(2, 3, 4).exp()\na = x.sum().item()\nsums = []\n"
      "for d in range(3):\n    sums.append(x.sum(d).log().sum().item())\n");
  EXPECT_EQ(recorder.statistics().dynamic, 0u);
}

TEST_F(Script, SizesThatFollowAnotherRuleAreComputedAllTheSame) {
  // 2 * n fits to the first two of them and to no other.
  run("sums = []\nfor n, m in ((3, 6), (4, 8), (5, 7), (6, 6), (7, 21)):\n"
      "    a = torch.arange(n).float().exp().log()\n    b = torch.arange(m).float().exp().log()\n"
      "    sums.append([round(a.sum().item()), round(b.sum().item())])\n");
  EXPECT_EQ(shown("sums"), "[[3, 15], [6, 28], [10, 21], [15, 15], [21, 210]]");
}

TEST_F(Script, NumbersThatChangeBecomeOperands) {
  run("x = torch.ones(3).exp()\ny = x.sum().item()\n"
      "for i in range(100):\n    x = x * (1.0 + i / 1000) - i * 0.5\n    y = "
      "x.exp().sum().item()\n");
  EXPECT_LE(recorder.statistics().compiled, 3u);
}

TEST_F(Script, ALoopWithoutAValueIsCutInItsTurns) {
  run("x = torch.ones(4)\nfor i in range(2000):\n    x = x.exp()\n    x = x.log()\n    x = "
      "x.sin()\n");
  EXPECT_LE(tracer.program.main.size(), 2000u);
  EXPECT_LE(recorder.statistics().compiled, 3u);
  EXPECT_GE(recorder.statistics().segments, 10u);
}

TEST_F(Script, FailuresLoseWhatTheyShouldHaveComputed) {
  run("x = torch.ones(3)\nz = torch.full((2,), 3.0).exp()\nr = z.sum().item()\n");
  fails = true;
  run("import script\n");
  EXPECT_THROW(run("y = torch.ones(3).sin()\nv = y.sum().item()\n"), DiagnosticError);
  fails = false;
  run("x = torch.ones(2)\nv = (x + 1).tolist()\n");
  EXPECT_EQ(shown("v"), "[2.0, 2.0]");
}

TEST_F(Script, SmallExactSegmentsAreInterpreted) {
  run("x = torch.ones(3) + 1\na = x.tolist()\n");
  EXPECT_EQ(shown("a"), "[2.0, 2.0, 2.0]");
  EXPECT_EQ(recorder.statistics().interpreted, 1u);
  EXPECT_EQ(recorder.statistics().compiled, 0u);
  // A number that float32 does not hold is rounded in the order that code does it.
  run("x = torch.ones(3) * 0.1\na = x.tolist()\n");
  EXPECT_EQ(recorder.statistics().interpreted, 1u);
}

/// Arithmetic of numbers that the host knows waits for no segment.
TEST_F(Script, ArithmeticOfKnownNumbersIsNoSegment) {
  run("f = torch.tensor(2.5)\nn = torch.tensor(3)\na = (f.item(), n.item())\n"
      "u = [(f * 2.0).item(), (f + 1.5).item(), (f - 0.5).item(), (f / f).item(), (f * 3).item()]\n"
      "w = [(n + 1).item(), (n - 7).item(), (n * n).item(), (n == 3).item(), (n == 4).item()]\n");
  EXPECT_EQ(recorder.statistics().segments, 0u);
  EXPECT_EQ(shown("u"), "[5.0, 4.0, 2.0, 1.0, 7.5]");
  EXPECT_EQ(shown("w"), "[4, -4, 9, True, False]");
}

TEST_F(Script, AModelTracedInsideSeesTheScriptsTensors) {
  run("w = torch.full((3,), 2.0).exp()\nx = torch.ones(3)\ndef f(x):\n    return x * w + 1\n");
  h::Value w = *module->globals->find("w");
  graph::Program program;
  {
    EagerRecorder::NestedTrace nested(recorder, {});
    EXPECT_FALSE(recorder.isRecording());
    h::Value input = tensorValue(
        tracer, nested.input("x", graph::TensorType(DataType::Float32, {graph::Expr(3)})));
    h::Value result = interpreter->call(*module->globals->find("f"), {input});
    std::vector<TracedTensor> results{result.as<TensorObject>()->tensor};
    program = nested.finish(results, {});
  }
  EXPECT_TRUE(program.verify().empty());
  ASSERT_EQ(program.weights.size(), 1u);
  float held = 0;
  std::memcpy(&held, program.weights.begin()->second.data.get(), sizeof held);
  EXPECT_FLOAT_EQ(held, 7.389056f);
  // The script goes on with its own.
  EXPECT_EQ(shown("w"), "tensor([7.3891, 7.3891, 7.3891])");
}

TEST_F(Script, DevicesThatAreNotThereAreRefused) {
  EXPECT_THROW(run("x = torch.zeros(3, device='cuda')\n"), DiagnosticError);
  struct StandIn : ScriptDevices {
    int count() override { return 1; }
    graph::Device placeOf(graph::Device) const override { return {}; }
    std::shared_ptr<const std::byte> toDevice(const std::byte *, size_t, graph::Device) override {
      return nullptr;
    }
    std::shared_ptr<const std::byte> toHost(const std::byte *, size_t, graph::Device) override {
      return nullptr;
    }
    std::shared_ptr<std::byte> memoryOn(size_t, graph::Device) override { return nullptr; }
    void copyWithin(std::byte *, const std::byte *, size_t, graph::Device) override {}
  } devices;
  tracer.devices = &devices;
  run("x = torch.zeros(3, device='cuda')\ny = (x + 1).device\nz = str(x)\nc = x.cpu().device\n");
  EXPECT_EQ(shown("y"), "cuda:0");
  EXPECT_EQ(shown("z"), "tensor([0., 0., 0.], device='cuda:0')");
  EXPECT_EQ(shown("c"), "cpu");
}

} // namespace
} // namespace pellucid::trace
