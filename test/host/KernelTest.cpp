// SPDX-License-Identifier: Apache-2.0
#include "host/Discovery.h"
#include "host/Interpreter.h"

#include <gtest/gtest.h>

namespace pellucid::host {
namespace {

const char *const header = R"py(import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton, custom_op
)py";

class Recorder : public HostHooks {
public:
  struct Launch {
    std::string kernel, grid;
    std::vector<std::string> positional, keywords;
    bool wrapped;
  };
  std::vector<Launch> launches;
  std::vector<std::string> operators;
  Value launch(Interpreter &i, const Value &kernel, const Value &grid, CallArgs args,
               bool wrapped) override {
    Launch l{innermostKernel(kernel)->name(), i.repr(grid), {}, {}, wrapped};
    for (const Value &v : args.positional)
      l.positional.push_back(i.repr(v));
    for (const auto &[name, v] : args.keywords)
      l.keywords.push_back(name + "=" + i.repr(v));
    launches.push_back(std::move(l));
    return Value();
  }
  Value callOperator(Interpreter &, const std::shared_ptr<Operator> &op, CallArgs) override {
    operators.push_back(op->nodeName());
    return Value(int64_t(operators.size()));
  }
};

class Kernels : public testing::Test {
protected:
  Recorder hooks;
  std::unique_ptr<Interpreter> interpreter;
  std::shared_ptr<Module> module;

  void load(const std::string &text) {
    InterpreterOptions options;
    options.hooks = &hooks;
    interpreter = std::make_unique<Interpreter>(std::move(options));
    module =
        interpreter->importSource("ops", std::make_shared<SourceFile>("ops.py", header + text));
  }
  Value global(const char *name) { return *module->globals->find(name); }
  JitFunction &kernel(const char *name) { return *innermostKernel(global(name)); }
  std::string shown(const char *expression) {
    return interpreter->repr(
        interpreter->evaluateText(std::make_shared<SourceFile>("e", expression), module));
  }
};

TEST_F(Kernels, ParametersAndOptions) {
  load(R"py(
from triton.language import constexpr as CE
@triton.jit(do_not_specialize=["n"], noinline=True)
def k(x, n, y=None, BLOCK: tl.constexpr = 64, A: "tl.constexpr" = 1, B: CE = 2, *, C: tl.constexpr = 3):
    pass
)py");
  JitFunction &k = kernel("k");
  ASSERT_EQ(k.parameters.size(), 7u);
  EXPECT_FALSE(k.parameter("x")->isConstexpr);
  EXPECT_TRUE(k.parameter("n")->doNotSpecialize);
  EXPECT_TRUE(k.parameter("y")->defaultValue->isNone());
  for (const char *name : {"BLOCK", "A", "B", "C"})
    EXPECT_TRUE(k.parameter(name)->isConstexpr) << name;
  EXPECT_TRUE(k.parameter("C")->keywordOnly);
  EXPECT_TRUE(k.noInline);
}

TEST_F(Kernels, NamesOfTheKernelLanguageInEverySpelling) {
  load(R"py(
import triton.language as L
from triton.language import load, math as m
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as ld
from triton.language.math import rsqrt
import triton
CONST = tl.constexpr(3)
FLAG = CONST + 1
@triton.jit
def k(): pass
)py");
  JitFunction &k = kernel("k");
  auto name = [&](const char *n) { return interpreter->repr(*k.lookup(*interpreter, n)); };
  EXPECT_EQ(name("load"), "tl.load");
  EXPECT_EQ(name("rsqrt"), "tl.math.rsqrt");
  EXPECT_EQ(shown("L.load"), "tl.load");
  EXPECT_EQ(shown("m.exp"), "tl.math.exp");
  EXPECT_EQ(shown("libdevice.tanh"), "libdevice.tanh");
  EXPECT_EQ(shown("ld.tanh"), "libdevice.tanh");
  EXPECT_EQ(shown("triton.language.extra.cuda.libdevice.tanh"), "libdevice.tanh");
  EXPECT_EQ(shown("triton.language.load"), "tl.load");
  EXPECT_EQ(shown("tl.float32"), "fp32");
  EXPECT_EQ(shown("tl.bfloat16.primitive_bitwidth"), "16");
  EXPECT_EQ(shown("tl.pointer_type(tl.int8)"), "pointer<int8>");
  EXPECT_EQ(shown("FLAG"), "constexpr[4]");
  EXPECT_EQ(shown("FLAG.value"), "4");
  EXPECT_EQ(shown("[isinstance(x, tl.constexpr) for x in (FLAG, 4, tl.int32)]"),
            "[True, False, False]");
  EXPECT_EQ(shown("[isinstance(x, (tl.dtype, tl.tensor)) for x in (FLAG, tl.int32, torch.int32)]"),
            "[False, True, False]");
  EXPECT_EQ(shown("torch.float16 == torch.half"), "True");
  EXPECT_EQ(shown("torch.float16 == tl.float16"), "False");
  EXPECT_EQ(shown("[triton.cdiv(7, 2), triton.next_power_of_2(5), tl.cdiv(9, 4)]"), "[4, 8, 3]");
}

TEST_F(Kernels, AutotuneAndHeuristicsInEitherOrder) {
  load(R"py(
def configs():
    return [triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (2, 4)]
@triton.autotune(configs=configs(), key=["n"], reset_to_zero=["y"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.jit
def a(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr): pass
@triton.heuristics(values={"EVEN": lambda args: True})
@triton.autotune([triton.Config({"BLOCK": 32})], key=[])
@triton.jit
def b(x, BLOCK: tl.constexpr, EVEN: tl.constexpr): pass
def plain(x): pass
c = triton.jit(plain)
)py");
  auto *tuner = global("a").as<Autotuner>();
  ASSERT_TRUE(tuner);
  ASSERT_EQ(tuner->configs.size(), 4u);
  EXPECT_EQ(interpreter->repr(tuner->configs[1]->kwargs), "{'BLOCK': 64}");
  EXPECT_EQ(interpreter->repr(*tuner->configs[1]->options.find("num_warps")), "4");
  EXPECT_EQ(tuner->key, std::vector<std::string>{"n"});
  EXPECT_EQ(tuner->resetToZero, std::vector<std::string>{"y"});
  EXPECT_TRUE(tuner->fn.as<Heuristics>());
  EXPECT_TRUE(global("b").as<Heuristics>()->fn.as<Autotuner>());
  EXPECT_EQ(kernel("a").name(), "a");
  EXPECT_TRUE(global("c").as<JitFunction>());
}

TEST_F(Kernels, LaunchesReachTheHooks) {
  load(R"py(
@triton.jit
def k(x, n, BLOCK: tl.constexpr): pass
def f():
    k[(4,)](1, 2, BLOCK=64)
    wrap_triton(k)[lambda meta: (1,)](1, n=2, BLOCK=8, num_warps=4)
)py");
  interpreter->call(global("f"));
  ASSERT_EQ(hooks.launches.size(), 2u);
  EXPECT_EQ(hooks.launches[0].grid, "(4,)");
  EXPECT_EQ(hooks.launches[0].positional, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(hooks.launches[0].keywords, std::vector<std::string>{"BLOCK=64"});
  EXPECT_FALSE(hooks.launches[0].wrapped);
  EXPECT_TRUE(hooks.launches[1].wrapped);
}

TEST_F(Kernels, OperatorsAndTheirRegistrations) {
  load(R"py(
@triton_op("mylib::silu", mutates_args={})
def silu(x: torch.Tensor) -> torch.Tensor:
    return x
@custom_op("mylib::two.out", mutates_args=("y",), schema="(Tensor x, Tensor(a!) y) -> ()")
def two(x, y):
    pass
@silu.register_fake
def _(x):
    return x
@silu.register_kernel("cpu")
def _(x):
    return x
@torch.library.register_fake("mylib::two.out")
def _(x, y):
    return None
silu.register_autograd(lambda ctx, g: g, setup_context=lambda ctx, inputs, output: None)
def f(x):
    return silu(x)
)py");
  auto op = interpreter->operators.at("mylib::silu");
  EXPECT_EQ(op->form, Operator::Form::Triton);
  EXPECT_FALSE(op->fake.isNone());
  ASSERT_EQ(op->kernels.size(), 1u);
  EXPECT_EQ(op->kernels[0].first, "cpu");
  EXPECT_FALSE(op->backward.isNone());
  auto two = interpreter->operators.at("mylib::two.out");
  EXPECT_EQ(two->nodeName(), "mylib.two.out");
  EXPECT_EQ(*two->schemaText, "(Tensor x, Tensor(a!) y) -> ()");
  EXPECT_FALSE(two->fake.isNone());
  interpreter->call(global("f"), {Value(1)});
  EXPECT_EQ(hooks.operators, std::vector<std::string>{"mylib.silu.default"});
}

TEST_F(Kernels, DiscoveryFollowsLocalsClosuresHelpersAndCycles) {
  load(R"py(
@triton.jit
def a(x): pass
@triton.jit
def b(x): pass
@triton.jit
def c(x): pass
@triton.jit
def unused(x): pass
table = {"c": [c]}
def make():
    inner = b
    def use(x):
        k = wrap_triton(inner)
        k[(1,)](x)
        return ping(x)
    return use
use = make()
def ping(x):
    return pong(x)
def pong(x):
    table["c"][0][(1,)](x)
    return ping(x)
@triton_op("d::op", mutates_args={})
def op(x: torch.Tensor) -> torch.Tensor:
    def run():
        a = 1  # a local of run, not the kernel
        return use(x)
    k = a if x else None
    wrap_triton(k)[(1,)](x)
    return run()
)py");
  std::vector<std::string> names;
  for (const Value &k : discoverKernels(*interpreter, global("op")))
    names.push_back(innermostKernel(k)->name());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(Kernels, ListsAFile) {
  load(R"py(
from torch.utils._triton import has_triton
if has_triton():
    @triton.autotune(configs=[triton.Config({}, num_warps=4)], key=[])
    @triton.jit
    def inner(x): pass
@triton.jit
def other(x): pass
def f(x):
    kernel = wrap_triton(inner)
    kernel[(1,)](x)
    other[(2,)](x)
@custom_op("n::f", mutates_args=())
def op(x: torch.Tensor) -> torch.Tensor:
    f(x)
    return x
)py");
  FileListing listing = listKernels(*interpreter, *module);
  ASSERT_EQ(listing.kernels.size(), 2u);
  EXPECT_EQ(listing.kernels[0].name, "inner");
  EXPECT_EQ(listing.kernels[0].decorators, (std::vector<std::string>{"autotune", "jit"}));
  ASSERT_EQ(listing.kernels[0].launches.size(), 1u);
  EXPECT_EQ(listing.kernels[0].launches[0].where.range.line, 15u);
  EXPECT_EQ(listing.kernels[0].launches[0].inFunction, "f");
  ASSERT_EQ(listing.operators.size(), 1u);
  EXPECT_EQ(listing.operators[0].kernels, (std::vector<std::string>{"inner", "other"}));
}

struct Refusal {
  const char *text;
  uint32_t line; ///< after the four lines of the header
  const char *message;
};
class KernelRefusals : public Kernels, public testing::WithParamInterface<Refusal> {};

TEST_P(KernelRefusals, AtTheLine) {
  try {
    load(GetParam().text);
    FAIL() << "accepted";
  } catch (const DiagnosticError &e) {
    EXPECT_EQ(e.diagnostic.location.range.line, GetParam().line + 4) << e.what();
    EXPECT_NE(e.diagnostic.message.find(GetParam().message), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Host, KernelRefusals,
    testing::Values(
        Refusal{"@triton.jit\ndef k(x): pass\nk(1)\n", 3, "launch it with k[grid](...)"},
        Refusal{"@triton.autotune(configs=[1], key=[])\n@triton.jit\ndef k(x): pass\n", 1,
                "a list of triton.Config"},
        Refusal{"@triton.heuristics({})\ndef k(x): pass\n", 1, "needs a @triton.jit function"},
        Refusal{"wrap_triton(3)\n", 1, "wrap_triton only works on functions annotated"},
        Refusal{"@triton.heuristics({'A': None})\n@triton.jit\ndef k(A): pass\nwrap_triton(k)\n", 4,
                "wrap_triton only works on functions annotated with triton.jit or triton.autotune"},
        Refusal{"@triton.jit\ndef k(x): pass\nwrap_triton(k)(1)\n", 3,
                "should always be called with a grid"},
        Refusal{"tl.load(1)\n", 1, "'tl.load' works inside @triton.jit functions only"},
        Refusal{"@triton_op('noname', mutates_args={})\ndef f(x): pass\n", 1, "has no namespace"}));

} // namespace
} // namespace pellucid::host
