// SPDX-License-Identifier: Apache-2.0
/// A kernel is what its text and everything around it say: two that one `def` made are two, unless
/// what they took from outside is the same.
#include "TraceFixture.h"

namespace pellucid::trace {
namespace {

class KernelIdentity : public TextTrace {
protected:
  void SetUp() override {
    TextTrace::SetUp();
    input("x", {64});
  }
  static constexpr const char *around = R"py(
def launched(kernel, x):
    out = torch.empty_like(x)
    kernel[(1,)](x, out, BLOCK=64)
    return out
)py";
  /// The kernels of a program whose f() calls what `made` defines.
  size_t kernels(const std::string &text) {
    return trace(std::string(around) + text, "f").kernels.size();
  }
  std::string ttirs(const std::string &text) {
    std::string all;
    for (const auto &kernel : trace(std::string(around) + text, "f").kernels)
      all += kernel.ttir;
    return all;
  }
};

const char *const factory = R"py(
def make(factor):
    scale = tl.constexpr(factor)
    @triton.jit
    def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i) * scale)
    return kernel
)py";

TEST_F(KernelIdentity, capturedConstants) {
  std::string text = std::string(factory) + R"py(
three, five, again = make(3.0), make(5.0), make(3.0)
def f(x):
    return launched(three, x), launched(five, x), launched(again, x)
)py";
  EXPECT_EQ(kernels(text), 2u);
  std::string ir = ttirs(text);
  EXPECT_TRUE(has(ir, "3.0") && has(ir, "5.0")) << ir;
}

/// An argument of 1 decides comparisons while compiling, as in Triton: the sides may be of other
/// kinds. What a kernel makes of it afterwards is a value like any other.
TEST_F(KernelIdentity, argumentsOfOneDecideComparisons) {
  std::string ir = ttirs(R"py(
@triton.jit
def kernel(x_ptr, out_ptr, batches, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    start = (tl.program_id(0),)
    if batches == 1:
        start = 0
    count = batches
    if tl.load(x_ptr) > 0:
        count = 5
    if count > 1:
        tl.store(out_ptr + 1, 2.0)
    tl.store(out_ptr + start + i, tl.load(x_ptr + i))

def f(x):
    out = torch.empty_like(x)
    kernel[(1,)](x, out, 1, BLOCK=64)
    return out
)py");
  EXPECT_TRUE(has(ir, "arith.cmpi sgt")) << ir;
}

TEST_F(KernelIdentity, capturedHelpersAndTheirs) {
  EXPECT_EQ(kernels(R"py(
def helper(factor):
    scale = tl.constexpr(factor)
    @triton.jit
    def inner(x):
        return x * scale
    @triton.jit
    def outer(x):
        return inner(x)
    return outer

def make(function):
    @triton.jit
    def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out_ptr + i, function(tl.load(x_ptr + i)))
    return kernel

def f(x):
    return launched(make(helper(3.0)), x), launched(make(helper(5.0)), x)
)py"),
            2u);
}

TEST_F(KernelIdentity, helpersAsArguments) {
  EXPECT_EQ(kernels(R"py(
def helper(factor):
    scale = tl.constexpr(factor)
    @triton.jit
    def scaled(x):
        return x * scale
    return scaled

@triton.jit
def kernel(x_ptr, out_ptr, function: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, function(tl.load(x_ptr + i)))

def with_helper(x, function):
    out = torch.empty_like(x)
    kernel[(1,)](x, out, function, BLOCK=64)
    return out

def f(x):
    return with_helper(x, helper(3.0)), with_helper(x, helper(5.0))
)py"),
            2u);
}

TEST_F(KernelIdentity, globalsThatChange) {
  const char *const text = R"py(
class Options:
    factor = tl.constexpr(3.0)

TABLE = {"factor": 3.0}

@triton.constexpr_function
def looked_up():
    return TABLE["factor"]

@triton.jit
def from_class(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) * Options.factor)

@triton.jit
def from_table(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) * looked_up())

def f(x):
    results = []
    for factor in (3.0, 5.0, 3.0):
        Options.factor = tl.constexpr(factor)
        TABLE["factor"] = factor
        results += [launched(from_class, x), launched(from_table, x)]
    return results
)py";
  EXPECT_EQ(kernels(text), 4u);
}

// 1, 1.0 and True are equal in Python and three kernels.
TEST_F(KernelIdentity, equalConstantsOfSeveralTypes) {
  EXPECT_EQ(kernels(R"py(
def make(factor):
    scale = tl.constexpr(factor)
    @triton.jit
    def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out_ptr + i, (i * scale).to(tl.float32))
    return kernel

def f(x):
    return launched(make(1), x), launched(make(1.0), x), launched(make(1), x)
)py"),
            2u);
}

TEST_F(KernelIdentity, decoratorThatCannotBeRead) {
  const char *const text = R"py(
@triton.autotune(configs=missing_configs(), key=["n"])
@triton.jit
def tuned(x_ptr, out_ptr, BLOCK: tl.constexpr = 64):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))

def f(x):
    out = torch.empty_like(x)
    tuned[(1,)](x, out)
    return out

def all_given(x):
    out = torch.empty_like(x)
    tuned[(1,)](x, out, BLOCK=32)
    return out
)py";
  std::string said = refusal(text, "f");
  EXPECT_TRUE(has(said, "'@autotune' of 'tuned' could not be evaluated") && has(said, "'BLOCK'"))
      << said;
  EXPECT_EQ(refusal(text, "all_given"), "");
}

} // namespace
} // namespace pellucid::trace
