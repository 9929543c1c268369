// SPDX-License-Identifier: Apache-2.0
// Leaves, views, writes, modes, hooks and Functions of reverse mode: values, and PyTorch's
// sentences.
#include "Programs.h"

namespace pellucid::trace {

namespace {

reference::Tensor numbers(std::vector<int64_t> shape, std::vector<double> values,
                          DataType type = DataType::Float32) {
  return reference::Tensor::of(type, std::move(shape), values);
}

/// The first results of a function, flattened.
std::vector<std::vector<double>> run(const std::string &text,
                                     const std::vector<GivenTensor> &given) {
  std::vector<std::vector<double>> results;
  for (const reference::Tensor &one : evaluateProgram(traceText(text, "f", given, true), given))
    results.push_back(one.reals());
  return results;
}

using Results = std::vector<std::vector<double>>;
const std::vector<GivenTensor> three = {{"x", numbers({3}, {1, 2, 3})}};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Tape, BackwardAddsToLeaves) {
  EXPECT_EQ(run("def f(x):\n"
                "    x.requires_grad_()\n"
                "    (x * x).sum().backward()\n"
                "    first = x.grad\n"
                "    (3 * x).sum().backward()\n"
                "    return x.grad, first\n",
                three),
            (Results{{5, 7, 9}, {5, 7, 9}}));
}

TEST(Tape, GradOfSeveral) {
  EXPECT_EQ(run("def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = x.detach().requires_grad_()\n"
                "    z = (x * y).sum()\n"
                "    a, b = torch.autograd.grad(z, [x, y])\n"
                "    assert x.grad is None and x.is_leaf and z.grad_fn.name() == 'SumBackward0'\n"
                "    return a + 1, b + 2\n",
                three),
            (Results{{2, 3, 4}, {3, 4, 5}}));
}

TEST(Tape, ParametersOfAModel) {
  std::string text = "class M(nn.Module):\n"
                     "    def __init__(self):\n"
                     "        super().__init__()\n"
                     "        self.w = nn.Parameter(torch.ones(3))\n"
                     "        self.fixed = nn.Parameter(torch.ones(3), requires_grad=False)\n"
                     "    def forward(self, x):\n"
                     "        assert not self.fixed.requires_grad\n"
                     "        (self.w * x * self.fixed).sum().backward()\n"
                     "        assert self.fixed.grad is None\n"
                     "        return self.w.grad\n";
  EXPECT_EQ(evaluateProgram(traceText(text, "M", three), three)[0].reals(),
            (std::vector<double>{1, 2, 3}));
}

TEST(Tape, WritesRebase) {
  EXPECT_EQ(run("def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = x * 1\n"
                "    y.mul_(x)\n"
                "    y[0] = 5 * x[1]\n"
                "    row = y[1:]\n"
                "    row.add_(x[:2])\n"
                "    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()\n"
                "    return y.detach(), x.grad\n",
                three),
            (Results{{10, 5, 11}, {10, 145, 600}}));
}

TEST(Tape, ViewsFollowTheirBase) {
  EXPECT_EQ(run("def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = x.clone()\n"
                "    v = y.view(3, 1)\n"
                "    y.mul_(2)\n"
                "    assert v.grad_fn.name() == 'AsStridedBackward0' and y.grad_fn.name() == "
                "'MulBackward0'\n"
                "    (v * v).sum().backward()\n"
                "    return x.grad\n",
                three),
            (Results{{8, 16, 24}}));
  EXPECT_EQ(run("def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = torch.zeros(2, 3).t()\n"
                "    y[:, 1] = x\n"
                "    assert y.requires_grad\n"
                "    torch.tanh(y).sum().backward()\n"
                "    return x.grad + torch.tanh(x.detach()) ** 2\n",
                {{"x", numbers({3}, {1, 2, 3}, DataType::Float64)}})[0]
                .size(),
            3u);
}

TEST(Tape, ModesAndDetach) {
  EXPECT_EQ(run("@torch.no_grad()\n"
                "def quiet(x):\n"
                "    assert not torch.is_grad_enabled()\n"
                "    return x * 2\n"
                "@torch.no_grad\n"
                "def silent(x):\n"
                "    return x * 2\n"
                "def f(x):\n"
                "    x.requires_grad_()\n"
                "    with torch.no_grad():\n"
                "        a = x * 2\n"
                "        with torch.enable_grad():\n"
                "            b = x * 2\n"
                "    with torch.set_grad_enabled(False):\n"
                "        c = x * 2\n"
                "    with torch.inference_mode():\n"
                "        d = x * 2\n"
                "    for one in (a, c, d, quiet(x), silent(x), x.detach(), x.data):\n"
                "        assert not one.requires_grad\n"
                "    assert b.requires_grad and torch.is_grad_enabled()\n"
                "    (b * x.detach()).sum().backward()\n"
                "    with torch.no_grad():\n"
                "        x -= x.grad\n"
                "    assert x.is_leaf and x._version == 1\n"
                "    return x.detach(), x.grad\n",
                three),
            (Results{{-1, -2, -3}, {2, 4, 6}}));
}

TEST(Tape, HooksAndRetainedGradients) {
  EXPECT_EQ(run("def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = x * 2\n"
                "    y.retain_grad()\n"
                "    handle = y.register_hook(lambda g: g * 10)\n"
                "    gone = y.register_hook(lambda g: g * 1000)\n"
                "    gone.remove()\n"
                "    seen = []\n"
                "    x.register_hook(lambda g: g + 1)\n"
                "    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))\n"
                "    y.sum().backward()\n"
                "    return y.grad, x.grad, seen[0]\n",
                three),
            (Results{{10, 10, 10}, {21, 21, 21}, {21, 21, 21}}));
}

TEST(Tape, Functions) {
  std::string functions = "class Scale(torch.autograd.Function):\n"
                          "    @staticmethod\n"
                          "    def forward(ctx, x, k, y):\n"
                          "        assert not torch.is_grad_enabled()\n"
                          "        ctx.save_for_backward(x, y)\n"
                          "        ctx.k = k\n"
                          "        flag = (x > 1).float()\n"
                          "        ctx.mark_non_differentiable(flag)\n"
                          "        return x * k * y, flag\n"
                          "    @staticmethod\n"
                          "    def backward(ctx, g, unused):\n"
                          "        x, y = ctx.saved_tensors\n"
                          "        assert ctx.needs_input_grad == (True, False, False)\n"
                          "        return g * ctx.k * y, None, None\n"
                          "class Cube(torch.autograd.Function):\n"
                          "    @staticmethod\n"
                          "    def forward(x):\n"
                          "        return x ** 3\n"
                          "    @staticmethod\n"
                          "    def setup_context(ctx, inputs, output):\n"
                          "        x, = inputs\n"
                          "        ctx.save_for_backward(x, output)\n"
                          "    @staticmethod\n"
                          "    def backward(ctx, g):\n"
                          "        x, cube = ctx.saved_tensors\n"
                          "        return 3 * x * x * g\n"
                          "class Twice(torch.autograd.Function):\n"
                          "    @staticmethod\n"
                          "    def forward(ctx, x):\n"
                          "        ctx.mark_dirty(x)\n"
                          "        x.mul_(2)\n"
                          "        return x\n"
                          "    @staticmethod\n"
                          "    def backward(ctx, g):\n"
                          "        return 2 * g\n";
  EXPECT_EQ(run(functions +
                    "def f(x):\n"
                    "    x.requires_grad_()\n"
                    "    y, flag = Scale.apply(x, 3.0, torch.ones(3))\n"
                    "    assert y.grad_fn.name() == 'ScaleBackward' and not flag.requires_grad\n"
                    "    z = Cube.apply(x)\n"
                    "    first, = torch.autograd.grad(z.sum(), x, create_graph=True)\n"
                    "    second, = torch.autograd.grad(first.sum(), x)\n"
                    "    w = Twice.apply(x * 1)\n"
                    "    w.sum().backward()\n"
                    "    y.sum().backward()\n"
                    "    return x.grad, first.detach(), second\n",
                three),
            (Results{{5, 5, 5}, {3, 12, 27}, {6, 12, 18}}));
}

TEST(Tape, Checkpoints) {
  EXPECT_EQ(run("from torch.utils.checkpoint import checkpoint\n"
                "def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = checkpoint(lambda a: (a * a) * a, x, use_reentrant=False)\n"
                "    y.sum().backward()\n"
                "    return x.grad\n",
                three),
            (Results{{3, 12, 27}}));
  // What is drawn is not drawn again: there is one draw.
  graph::Program program =
      traceText("from torch.utils.checkpoint import checkpoint\n"
                "def f(x):\n"
                "    x.requires_grad_()\n"
                "    y = checkpoint(lambda a: torch.exp(F.dropout(a * a, 0.5)), x)\n"
                "    y.sum().backward()\n"
                "    return x.grad\n",
                "f", three);
  size_t draws = 0;
  for (const graph::Node &node : program.main)
    draws += node.calls("aten.dropout.default");
  EXPECT_EQ(draws, 1u);
}

TEST(Tape, FunctionTransforms) {
  EXPECT_EQ(run("def f(x):\n"
                "    cube = lambda a: (a ** 3).sum()\n"
                "    slope, value = torch.func.grad_and_value(cube)(x)\n"
                "    out, back = torch.func.vjp(lambda a: a * a, x)\n"
                "    return torch.func.grad(cube)(x), slope, value, back(torch.ones(3))[0], "
                "torch.autograd.functional.hessian(cube, x)\n",
                three),
            (Results{{3, 12, 27}, {3, 12, 27}, {36}, {2, 4, 6}, {6, 0, 0, 0, 12, 0, 0, 0, 18}}));
}

TEST(Tape, GradientsHaveTheirTensorsType) {
  std::vector<GivenTensor> given = {{"x", numbers({2, 1}, {1, 2}, DataType::BFloat16)},
                                    {"y", numbers({3}, {1, 2, 3})}};
  graph::Program program = traceText("def f(x, y):\n"
                                     "    x.requires_grad_()\n"
                                     "    (x * y).sum().backward()\n"
                                     "    return x.grad\n",
                                     "f", given);
  reference::Tensor result = evaluateProgram(program, given)[0];
  EXPECT_EQ(result.dtype, DataType::BFloat16);
  EXPECT_EQ(result.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(result.reals(), (std::vector<double>{6, 6}));
}

TEST(Tape, SaysWhatPyTorchSays) {
  const std::pair<const char *, const char *> cases[] = {
      {"x.sum().backward()",
       "element 0 of tensors does not require grad and does not have a grad_fn"},
      {"x.requires_grad_()\n    (x * 2).backward()",
       "grad can be implicitly created only for scalar outputs"},
      {"x.requires_grad_()\n    y = (x * x).sum()\n    y.backward()\n    y.backward()",
       "Trying to backward through the graph a second time"},
      {"x.requires_grad_()\n    x.mul_(2)\n    x.sum().backward()",
       "a leaf Variable that requires grad is being used in an in-place operation."},
      {"x.requires_grad_()\n    x[0] = 2\n    x.sum().backward()",
       "a view of a leaf Variable that requires grad is being used in an in-place operation."},
      {"x.requires_grad_()\n    y = x * 1\n    z = y.sigmoid()\n    z.add_(1)\n    "
       "z.sum().backward()",
       "modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of "
       "SigmoidBackward0, is at version 1; "
       "expected version 0 instead"},
      {"x.requires_grad_()\n    torch.autograd.grad(x.sum(), torch.ones(3, requires_grad=True))",
       "One of the differentiated Tensors appears to not have been used in the graph"},
      {"x.requires_grad_()\n    torch.autograd.grad(x.sum(), torch.ones(3))",
       "One of the differentiated Tensors does not require grad"},
      {"torch.ones(3, dtype=torch.int64).requires_grad_()\n    x.sum().backward()",
       "only Tensors of floating point and complex dtype can require gradients"},
      {"x.requires_grad_()\n    y = (x * 2).requires_grad_(False)\n    y.sum().backward()",
       "you can only change requires_grad flags of leaf variables"},
      {"x.requires_grad_()\n    a, b = (x * torch.ones(2, 3)).unbind(0)\n    a.add_(1)\n    "
       "a.sum().backward()",
       "This view is the output of a function that returns multiple views"},
      {"x.requires_grad_()\n    (x * 2).sum().backward(torch.ones(2))",
       "Mismatch in shape: grad_output[0]"},
  };
  for (const auto &[body, sentence] : cases) {
    // The asking call makes the trace one with reverse mode from its start.
    std::string text = std::string("def f(x):\n    ") + body + "\n    return x.grad\n";
    EXPECT_TRUE(has(refusalOf(text, "f", three), sentence)) << body << "\n"
                                                            << refusalOf(text, "f", three);
  }
}

/// Nothing of reverse mode is in a program that asks for no gradient.
TEST(Tape, IsNotThereUnlessAsked) {
  graph::Program program = traceText("def f(x):\n"
                                     "    x.requires_grad_()\n"
                                     "    y = x * 2\n"
                                     "    assert not y.requires_grad\n"
                                     "    return y\n",
                                     "f", three);
  EXPECT_EQ(program.main.size(), 3u);
}

} // namespace

} // namespace pellucid::trace
