// SPDX-License-Identifier: Apache-2.0
// What a trace refuses, in words, and what stands next to it and is taken.
#include "trace/TraceFixture.h"

namespace pellucid::trace {
namespace {

struct Row {
  const char *text;    ///< a file with a function f
  const char *refused; ///< part of the message; "" where it is taken
};

class Refusals : public TextTrace {
protected:
  void check(const std::vector<Row> &rows, const std::string &before = "") {
    symbols.declare("n", {{1, 64}, 1, 8});
    input("x", {graph::Expr::symbol("n"), 4});
    for (const Row &row : rows) {
      std::string message = refusal(before + row.text, "f");
      EXPECT_EQ(message.empty(), std::string(row.refused).empty()) << row.text << message;
      EXPECT_TRUE(has(message, row.refused)) << row.text << message;
    }
  }
};

// --- operators of a program's own

TEST_F(Refusals, operatorsByTheirAnnotations) {
  check(
      {
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor, k: int = 3) -> torch.Tensor:\n    return x * k\n"
           "def f(x):\n    return op(x)\n",
           ""},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor, *, k: int = 3) -> torch.Tensor:\n    return x * k\n"
           "def f(x):\n    return op(x, k=2)\n",
           ""},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor, *, k: int) -> torch.Tensor:\n    return x * k\n"
           "def f(x):\n    return op(x)\n",
           "operator 'a::b' needs an argument for 'k'"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(x)\n",
           "parameter 'x' of operator 'a::b' has no type annotation"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor, k: dict) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(x, {})\n",
           "the annotation of parameter 'k' of operator 'a::b' has no counterpart"},
          {"@triton_op('a::b', mutates_args={'k'})\n"
           "def op(x: torch.Tensor, k: int) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(x, 1)\n",
           "mutates_args names 'k', which is not a tensor"},
          {"@triton_op('a::b', mutates_args={'z'})\n"
           "def op(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(x)\n",
           "mutates_args of operator 'a::b' names 'z', which is not a parameter"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor) -> dict:\n    return x * 2\n"
           "def f(x):\n    return op(x)\n",
           "the return annotation of operator 'a::b' has no counterpart"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:\n    return x * 2, x + "
           "1\n"
           "def f(x):\n    a, b = op(x)\n    return a + b\n",
           ""},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: Optional[torch.Tensor], y: 'torch.Tensor') -> torch.Tensor:\n"
           "    return y * 2 if x is None else x * y\n"
           "def f(x):\n    return op(None, x)\n",
           ""},
          {"op = torch.library.custom_op('a::b', lambda x: x * 2, mutates_args=())\n"
           "def f(x):\n    return op(x)\n",
           "must be made from a function written with def"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(x, x)\n",
           "operator 'a::b' takes 1 arguments, got 2"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(x, k=1)\n",
           "operator 'a::b' has no parameter 'k'"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
           "def f(x):\n    return op(3)\n",
           "parameter 'x' of operator 'a::b' is a tensor, got int"},
          {"@triton_op('a::b', mutates_args={})\n"
           "def op(x: torch.Tensor) -> torch.Tensor:\n    return 3\n"
           "def f(x):\n    return op(x)\n",
           "operator 'a::b' returns a value of type int; operators return tensors"},
          {"@triton_op('a::b', mutates_args={'x'})\n"
           "def op(x: torch.Tensor) -> None:\n    x.add_(1)\n"
           "def f(x):\n    y = x + 0\n    op(y)\n    return y\n",
           ""},
          {"@triton_op('a::b', mutates_args={'x'})\n"
           "def op(x: torch.Tensor, y: torch.Tensor) -> None:\n    x.add_(y)\n"
           "def f(x):\n    y = x + 0\n    op(y, y[:1])\n    return y\n",
           "operator 'a::b' writes to 'x', whose memory 'y' shares in this call"},
          {"@triton_op('a::b', mutates_args={'x'})\n"
           "def op(x: torch.Tensor, y: list[torch.Tensor]) -> None:\n    x.add_(y[0])\n"
           "def f(x):\n    y = x + 0\n    op(y, [x, y])\n    return y\n",
           "operator 'a::b' writes to 'x', whose memory 'y' shares in this call"},
      },
      "from torch.library import triton_op\nfrom typing import Optional\n");
}

TEST_F(Refusals, fakesThatPromiseSomethingElse) {
  const std::string op = "@torch.library.custom_op('a::b', mutates_args=())\n"
                         "def op(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
                         "@op.register_fake\n"
                         "def _(x):\n";
  const std::string rest = "\ndef f(x):\n    return op(x)\n";
  auto with = [&](const std::string &fake) { return op + "    return " + fake + rest; };
  const std::string same = with("torch.empty_like(x)"),
                    type = with("x.new_empty(x.shape, dtype=torch.int64)"),
                    rank = with("x.new_empty((x.shape[0],))"),
                    size = with("x.new_empty((x.shape[0], 5))"),
                    other = with("x.new_empty((4, x.shape[0]))"), more = with("(x, x)"),
                    none = with("None");
  check({{same.c_str(), ""},
         {type.c_str(), "promises i64[n, 4] where its function gives f32[n, 4]"},
         {rank.c_str(), "promises f32[n] where"},
         {size.c_str(), "promises f32[n, 5] where"},
         {other.c_str(), "promises f32[4, n] where"},
         {more.c_str(), "promises 2 tensor(s) where its function gives 1"},
         {none.c_str(), "promises 0 tensor(s) where its function gives 1"}});
}

// --- launches

TEST_F(Refusals, launches) {
  const std::string kernel =
      "@triton.jit\n"
      "def k(x_ptr, n, B: tl.constexpr = 16):\n"
      "    o = tl.arange(0, B)\n"
      "    tl.store(x_ptr + o, tl.load(x_ptr + o, mask=o < n) * 2, mask=o < n)\n";
  check(
      {
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4)\n    return y\n", ""},
          {"def f(x):\n    y = x + 0\n    k[1](y, 4, num_warps=8, num_stages=None)\n    return y\n",
           ""},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, 16, 5)\n    return y\n",
           "'k' takes 3 arguments, got 4"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, n=5)\n    return y\n",
           "'k' got two values for 'n'"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, n=4, m=5)\n    return y\n",
           "'k' has no parameter 'm', and it is not a launch option"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y)\n    return y\n",
           "'k' needs an argument for 'n'"},
          {"def f(x):\n    y = x + 0\n    k[(-1,)](y, 4)\n    return y\n",
           "a grid size must not be negative, got -1"},
          {"def f(x):\n    y = x + 0\n    k[(0,)](y, 4)\n    return y\n", ""},
          {"def f(x):\n    y = x + 0\n    k[()](y, 4)\n    return y\n",
           "a grid has one to three sizes, got 0"},
          {"def f(x):\n    y = x + 0\n    k[(1, 1, 1)](y, 4)\n    return y\n", ""},
          {"def f(x):\n    y = x + 0\n    k[(1, 1, 1, 1)](y, 4)\n    return y\n",
           "a grid has one to three sizes, got 4"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, num_warps=3)\n    return y\n",
           "num_warps of 'k' must be a power of 2, got 3"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, num_warps=0)\n    return y\n",
           "num_warps of 'k' must be a power of 2, got 0"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, num_warps=1)\n    return y\n", ""},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, B=x)\n    return y\n",
           "constexpr 'B' of 'k' must be known while compiling, got a tensor"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, warmup=True)\n    return y\n",
           "is not an option of kernel[grid](...)"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, launch_cooperative_grid=True)\n    return "
           "y\n",
           "lets programs wait for each other"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, launch_cooperative_grid=False)\n    return "
           "y\n",
           ""},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, extern_libs={'a': 'b'})\n    return y\n",
           "links libraries of the GPU's"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, extern_libs={})\n    return y\n", ""},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, extern_libs=None)\n    return y\n", ""},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, enable_fp_fusion=False)\n    return y\n",
           "asks that no product and sum of this kernel become one fma"},
          {"def f(x):\n    y = x + 0\n    k[(1,)](y, 4, enable_fp_fusion=True)\n    return y\n",
           ""},
          {"def f(x):\n    return k\n", "the model returns a value of type"},
          {"f = k\n", "'f' is a kernel; a program needs a function or module that launches it"},
      },
      kernel);
}

TEST_F(Refusals, tunersAndHeuristics) {
  const std::string body =
      "@triton.jit\n"
      "def k(x_ptr, n, B: tl.constexpr):\n"
      "    o = tl.arange(0, B)\n"
      "    tl.store(x_ptr + o, tl.load(x_ptr + o, mask=o < n) * 2, mask=o < n)\n"
      "def f(x):\n    y = x + 0\n    k[(1,)](y, 4";
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, const char *>> cases;
  auto add = [&](const std::string &decorators, const std::string &more, const char *refused) {
    cases.emplace_back(decorators + body + more + ")\n    return y\n", refused);
  };
  add("@triton.autotune([triton.Config({'B': 16})], key=[])\n", "", "");
  add("@triton.autotune([triton.Config({'B': 16})], key=[])\n", ", B=32",
      "'B' is given at the launch and set by the autotune config");
  add("@triton.autotune([triton.Config({'C': 16})], key=[])\n", ", B=32",
      "the config sets 'C', which is neither a parameter of 'k' nor a launch option");
  add("@triton.autotune([triton.Config({'B': 16, 'num_warps': 2})], key=[])\n", "", "");
  add("@triton.autotune([], key=[])\n", ", B=32", "");
  add("@triton.autotune([triton.Config({'B': 16})], key=[], "
      "prune_configs_by={'early_config_prune': lambda c, a, **k: []})\n",
      "", "early_config_prune leaves no config for 'k'");
  add("@triton.autotune([triton.Config({'B': 16})], key=[], "
      "prune_configs_by={'early_config_prune': lambda c, a, **k: [3]})\n",
      "", "early_config_prune must return configs, got int");
  add("@triton.autotune([triton.Config({'B': 16}), triton.Config({'B': 32})], key=[], "
      "prune_configs_by={'early_config_prune': lambda c, a, **k: c[1:]})\n",
      "", "");
  add("@triton.heuristics({'B': lambda a: 16})\n", "", "");
  add("@triton.heuristics({'C': lambda a: 16})\n", ", B=16",
      "@triton.heuristics of 'k' sets 'C', which is neither a parameter nor a launch option");
  add("@triton.heuristics({'num_warps': lambda a: 8})\n", ", B=16", "");
  std::vector<Row> rows;
  for (const auto &[text, refused] : cases)
    rows.push_back({text.c_str(), refused});
  check(rows);
}

// --- tensors

TEST_F(Refusals, methodsOfTensors) {
  check({
      {"def f(x):\n    return x.to(torch.float16)\n", ""},
      {"def f(x):\n    return x.to(other=3)\n",
       "'.to()' takes a dtype, a device or a tensor, got int"},
      {"def f(x):\n    return x.to(dtype=tl.float16)\n",
       "must be torch.dtype, not triton.language.dtype"},
      {"def f(x):\n    return x.to('cpu', 3)\n", "must be torch.dtype, not int"},
      {"def f(x):\n    return x.to(torch.float16, memory_format=torch.channels_last)\n",
       "required rank 4 tensor to use channels_last format"},
      {"def f(x):\n    return x.to(torch.float16, memory_format=torch.preserve_format)\n", ""},
      {"def f(x):\n    return x.t().to(torch.float32, memory_format=torch.contiguous_format)\n",
       ""},
      {"def f(x):\n    return x.half(memory_format=torch.channels_last)\n",
       "required rank 4 tensor to use channels_last format"},
      {"def f(x):\n    return x.half(memory_format=torch.preserve_format)\n", ""},
      {"def f(x):\n    return x.clone(memory_format=torch.channels_last)\n",
       "required rank 4 tensor to use channels_last format"},
      {"def f(x):\n    return x.clone(memory_format=torch.contiguous_format)\n", ""},
      {"def f(x):\n    assert x.type() == 'torch.FloatTensor'\n    return x\n", ""},
      {"def f(x):\n    return x.type(torch.float64)\n", ""},
      {"def f(x):\n    assert x.is_contiguous(memory_format=torch.channels_last)\n    return x + "
       "1\n",
       "AssertionError"},
      {"def f(x):\n    assert x.is_contiguous(memory_format=torch.contiguous_format)\n    return x "
       "+ 1\n",
       ""},
      {"def f(x):\n    return x.tolist()\n", "'.tolist()' of"},
      {"def f(x):\n    y = x + 0\n    y.data = x\n    return y\n",
       "assigning to a tensor's '.data'"},
      {"def f(x):\n    y = x + 0\n    y.shape = 3\n    return y\n",
       "'shape' of a tensor cannot be set"},
      {"def f(x):\n    y = x + 0\n    y.mine = 3\n    y.mine = 4\n    return y * y.mine\n", ""},
      {"def f(x):\n    y = x + 0\n    y.requires_grad = True\n    return y\n", ""},
      {"def f(x):\n    y = x[0] + 0\n    y.add_(x)\n    return y\n",
       "would change the tensor's shape from"},
      {"def f(x):\n    y = x.to(torch.int32)\n    y.add_(0.5)\n    return y\n",
       "which PyTorch does not write into a tensor of"},
      {"def f(x):\n    y = x.to(torch.int32)\n    y.copy_(x)\n    y.fill_(2.5)\n    return y\n",
       ""},
      {"def f(x):\n    y = x > 0\n    y.add_(1)\n    return y\n",
       "which PyTorch does not write into a tensor of"},
      {"def f(x):\n    return x.view(torch.int32)\n", ""},
      {"def f(x):\n    return x.view(torch.int64)\n",
       "its elements have 4 bytes, and those asked for 8"},
      {"def f(x):\n    return (x > 0).view(torch.int8)\n",
       "the bits of a bool are not those of another type"},
      {"def f(x):\n    return x.to(torch.int8).view(torch.bool)\n",
       "the bits of a bool are not those of another type"},
      {"def f(x):\n    if x:\n        return x\n    return x + 1\n",
       "a branch on a tensor's value cannot be traced"},
      {"def f(x):\n    assert x.sum() > 0\n    return x + 1\n", ""},
      {"def f(x):\n    assert x.shape[1] > 3\n    return x + 1\n", ""},
      {"def f(x):\n    assert x.shape[1] > 4\n    return x + 1\n", "AssertionError"},
  });
}

TEST_F(Refusals, indices) {
  check({
      {"def f(x):\n    return x[0, 1:, ]\n", ""},
      {"def f(x):\n    return x[0, 1:]\n", ""},
      {"def f(x):\n    return x[0, ..., None, 1:]\n", ""},
      {"def f(x):\n    return x[0, 1, 2]\n", "too many indices: 3 for a tensor of 2 dims"},
      {"def f(x):\n    return x['a']\n", "indexing with a value of type str is not supported"},
      {"def f(x):\n    return x[x > 0]\n", ""},
      {"def f(x):\n    return x[:, [0, 2]]\n", ""},
      {"def f(x):\n    y = x + 0\n    y[y > 1] = 0\n    return y\n", ""},
      {"def f(x):\n    y = x + 0\n    y[:, [0, 2]] = 1\n    y[0] = x[:1]\n    y[:, 1] = 3\n    "
       "return y\n",
       ""},
      {"def f(x):\n    y = x + 0\n    y[0] = x[:, :3]\n    return y\n", "cannot broadcast"},
  });
}

TEST_F(Refusals, tensorsOfNumbers) {
  check({
      {"def f(x):\n    return x + torch.tensor([1, 2, 3, 4])\n", ""},
      {"def f(x):\n    return x + torch.tensor([[1.0], [2.0]])[0]\n", ""},
      {"def f(x):\n    return x + torch.tensor([])[:0].sum()\n", ""},
      {"def f(x):\n    return torch.tensor([[], []])\n", ""},
      {"def f(x):\n    return x + torch.tensor([1, 'a'])\n",
       "torch.tensor takes numbers and lists of them, got str"},
      {"def f(x):\n    return x + torch.tensor([[1, 2], [3]])\n",
       "expected sequence of length 2 at dim 1 (got 1)"},
      {"def f(x):\n    return x + torch.tensor([[1, 2], 3])\n",
       "expected sequence of length 2 at dim 1"},
      {"def f(x):\n    return x + torch.tensor([1, [2]])\n",
       "expected sequence of length 0 at dim 1 (got 1)"},
      {"def f(x):\n    assert torch.tensor([True, False]).dtype == torch.bool\n"
       "    assert torch.tensor([True, 2]).dtype == torch.int64\n"
       "    assert torch.tensor([1, 2.5]).dtype == torch.float32\n"
       "    assert torch.tensor([]).dtype == torch.float32\n"
       "    assert torch.tensor([1, 2], dtype=torch.int8).dtype == torch.int8\n"
       "    return x + 1\n",
       ""},
  });
}

// --- functions and modules of torch

TEST_F(Refusals, functionsOfTorch) {
  check({
      {"def f(x):\n    return torch.zeros(3, layout=torch.sparse_coo) + x[0, 0]\n",
       "tensors have the strided layout, got"},
      {"def f(x):\n    return torch.zeros(3, layout=torch.strided) + x[0, 0]\n", ""},
      {"def f(x):\n    return F.embedding(torch.tensor([0, 1]), x)\n", ""},
      {"def f(x):\n    return F.dropout(x, 0.5, training=False)\n", ""},
      {"def f(x):\n    return F.dropout(x, 0.0)\n", ""},
      {"def f(x):\n    return F.dropout(3, 0.5)\n", "dropout takes a tensor, got int"},
      {"def f(x):\n    return F.softmax(3)\n", "softmax takes a tensor, got int"},
      {"def f(x):\n    return F.softmax(x)\n", ""},
      {"def f(x):\n    return torch.add(x, 1, out=3)\n", "'out' must be one tensor, got int"},
      {"def f(x):\n    y = torch.empty_like(x)\n    torch.add(x, 1, out=y)\n    return y\n", ""},
      {"def f(x):\n    return torch.add(x, {})\n", "cannot be the argument of an operator"},
      {"def f(x):\n    return torch.sort(x)\n", ""},
      {"def f(x):\n    y = x.to(torch.int64) * x.shape[0] ** -0.5\n"
       "    assert y.dtype == torch.float32\n    z = x.half() * x.shape[0] ** -0.5\n"
       "    assert z.dtype == torch.float16\n    return y + z\n",
       ""},
      {"def f(x):\n    return {'a': x, 'b': [x + 1]}\n", ""},
      {"def f(x):\n    return x, 3\n", "the model returns a value of type int"},
      {"w = torch.ones(4) * 2\ndef f(x):\n    return x + w\n",
       "this tensor was made outside of forward"},
  });
}

TEST_F(Refusals, partsOfModules) {
  const std::string before =
      "class f(nn.Module):\n    def __init__(self):\n        super().__init__()\n        ";
  const std::string after = "\n    def forward(self, x):\n        return x + self.w.sum()\n";
  std::vector<std::pair<std::string, const char *>> cases{
      {"self.w = nn.Parameter(torch.randn(4))", ""},
      {"self.w = nn.Parameter(3)", "torch.nn.Parameter takes a tensor"},
      {"self.w = nn.Parameter(torch.randn(4, out=torch.empty(4)))",
       "torch.randn with out= is not supported"},
      {"self.w = nn.Parameter(torch.randn(4, layout=torch.sparse_coo))",
       "tensors have the strided layout"},
      {"self.w = nn.Linear(4, 4).to(dtype=3).weight",
       "a module is converted to a torch dtype, got int"},
      {"self.l = nn.Linear(4, 4).to(memory_format=torch.channels_last)\n        self.w = "
       "self.l.weight",
       ""},
      {"self.l = nn.Linear(4, 4).to(torch.float32)\n        self.w = self.l.weight", ""},
  };
  std::vector<std::string> texts;
  for (const auto &[line, refused] : cases)
    texts.push_back(before + line + after);
  std::vector<Row> rows;
  for (size_t i = 0; i < cases.size(); ++i)
    rows.push_back({texts[i].c_str(), cases[i].second});
  check(rows);
}

TEST_F(Refusals, inputsAndFiles) {
  EXPECT_EQ(refusal("def g(x):\n    return x\n", "f"), "the file defines no 'f'");
  input("y", {4});
  EXPECT_TRUE(has(refusal("def f(x):\n    return x + 1\n", "f"),
                  "the model has no parameter 'y'; it has 'x'"));
  inputs.clear();
  input("", {4});
  EXPECT_EQ(refusal("def f(x):\n    return x + 1\n", "f"), "");
}

// --- one kernel by its name

TEST_F(Refusals, kernelsByName) {
  std::ofstream(file)
      << "import triton\nimport triton.language as tl\n"
         "broken = no_such_name + 1\n"
         "@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, 1.0)\n"
         "class Maker:\n    @triton.jit\n    def k(y_ptr):\n        tl.store(y_ptr, 1.0)\n"
         "def f(x):\n    return x\n";
  auto launched = [&](const char *name) -> std::string {
    try {
      traceLaunch(file.string(), name, {1}, {}, {}, std::nullopt, std::nullopt, std::nullopt,
                  [](const Diagnostic &) {});
      return "";
    } catch (const DiagnosticError &error) {
      return error.diagnostic.message;
    }
  };
  EXPECT_EQ(launched("k"), "'k' needs an argument for 'x_ptr'");
  EXPECT_EQ(launched("Maker.k"), "'k' needs an argument for 'y_ptr'");
  EXPECT_EQ(launched("f"), "'f' is not a @triton.jit kernel");
  EXPECT_TRUE(has(launched("broken"), "no_such_name"));
  EXPECT_TRUE(has(launched("none"), "the file defines no 'none'"));
  EXPECT_TRUE(has(launched("f.k"), "the file defines no 'f.k'"));
}

} // namespace
} // namespace pellucid::trace
