// SPDX-License-Identifier: Apache-2.0
// Functions of bf16 grade: where the rule of codegen/common/BFloat16Grade.h holds, and what all
// 65536 arguments give.
#include "codegen/KernelFixture.h"
#include "codegen/MathImage.h"

#include <bit>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

/// A kernel that maps 1024 elements of `in` to `out`: `body` computes %y from %x, both f32.
std::string kernelOver(const std::string &in, const std::string &out, const std::string &body) {
  auto tile = [](const std::string &type) { return "tensor<1024x" + type + ">"; };
  std::string text = R"(module {
  tt.func public @k(%in: !tt.ptr<IN>, %out: !tt.ptr<OUT>, %scale: f32) {
    %c1024 = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : F
    %one = arith.constant dense<1.0> : F
    %half = arith.constant dense<0.5> : F
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c1024 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %starts = tt.splat %start : i32 -> tensor<1024xi32>
    %offsets = arith.addi %starts, %range : tensor<1024xi32>
    %ins = tt.splat %in : !tt.ptr<IN> -> tensor<1024x!tt.ptr<IN>>
    %ip = tt.addptr %ins, %offsets : tensor<1024x!tt.ptr<IN>>, tensor<1024xi32>
    %loaded = tt.load %ip : tensor<1024x!tt.ptr<IN>>
    WIDEN
    BODY
    NARROW
    %outs = tt.splat %out : !tt.ptr<OUT> -> tensor<1024x!tt.ptr<OUT>>
    %op = tt.addptr %outs, %offsets : tensor<1024x!tt.ptr<OUT>>, tensor<1024xi32>
    tt.store %op, %stored : tensor<1024x!tt.ptr<OUT>>
    tt.return
  }
})";
  auto replace = [&](const std::string &word, const std::string &by) {
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), by);
  };
  auto bitcast = [&](const char *result, const char *value) {
    return std::string(result) + " = arith.bitcast " + value + " : " + tile("f32") + " to " +
           tile("f32");
  };
  replace("WIDEN", in == "f32" ? bitcast("%x", "%loaded")
                               : "%x = arith.extf %loaded : " + tile(in) + " to F");
  replace("NARROW", out == "f32" ? bitcast("%stored", "%y")
                                 : "%stored = arith.truncf %y : F to " + tile(out));
  replace("BODY", body);
  replace("OUT", out);
  replace("IN", in);
  for (const char *before : {": ", "to ", "-> "})
    replace(before + std::string("F"), before + tile("f32"));
  return text;
}

const char *sigmoidBody = R"(
    %n = arith.subf %zero, %x : F
    %e = math.exp %n : F
    %d = arith.addf %e, %one : F
    %y = arith.divf %one, %d : F)";
const char *siluBody = R"(
    %n = arith.subf %zero, %x : F
    %e = math.exp %n : F
    %d = arith.addf %e, %one : F
    %s = arith.divf %one, %d : F
    %y = arith.mulf %x, %s : F)";
const char *geluBody = R"(
    %root = arith.constant dense<0.70710678118654752> : F
    %u = arith.mulf %x, %root : F
    %e = math.erf %u : F
    %d = arith.addf %e, %one : F
    %h = arith.mulf %x, %half : F
    %y = arith.mulf %h, %d : F)";
const char *geluTanhBody = R"(
    %c = arith.constant dense<0.7978845608028654> : F
    %k = arith.constant dense<0.044715> : F
    %xx = arith.mulf %x, %x : F
    %cube = arith.mulf %xx, %x : F
    %small = arith.mulf %cube, %k : F
    %sum = arith.addf %x, %small : F
    %u = arith.mulf %sum, %c : F
    %t = math.tanh %u : F
    %d = arith.addf %t, %one : F
    %h = arith.mulf %x, %half : F
    %y = arith.mulf %h, %d : F)";

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Chain {
  const char *name, *body;
  double (*exact)(double);
  bool grade;    ///< the rule lets it be of bf16 grade
  double lowest; ///< below, the formula itself overflows or cancels in f32
};
const Chain chains[] = {
    {"exp", "%y = math.exp %x : F", [](double x) { return std::exp(x); }, true, -INFINITY},
    {"exp2", "%y = math.exp2 %x : F", [](double x) { return std::exp2(x); }, true, -INFINITY},
    {"sigmoid", sigmoidBody, sigmoid, true, -88},
    {"silu", siluBody, [](double x) { return x * sigmoid(x); }, true, -88},
    {"tanh", "%y = math.tanh %x : F", [](double x) { return std::tanh(x); }, false, -INFINITY},
    {"gelu", geluBody, [](double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }, false,
     -2.5},
    {"gelu_tanh", geluTanhBody,
     [](double x) { return x * sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x)); },
     false, -2.5},
};

std::vector<uint16_t> runOverAll(const std::string &text, CpuLevel level, bool grade,
                                 bool *applied = nullptr) {
  CompiledKernel kernel(text, "k", level, true, grade);
  if (applied)
    *applied = kernel.object.bfloat16Grade;
  std::vector<uint16_t> in(65536), out(65536);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint16_t>(i);
  Arguments arguments;
  arguments.add(in.data()).add(out.data()).add(1.0f);
  EXPECT_EQ(kernel.run(arguments, 64), 0);
  return out;
}

/// Neighbouring numbers have neighbouring ranks; both zeros are 0.
int rankOf(uint16_t bits) { return bits & 0x8000 ? -(bits & 0x7fff) : bits; }

class BFloat16Grade : public testing::TestWithParam<CpuLevel> {};

TEST_P(BFloat16Grade, AllArgumentsAreWithinOneUnit) {
  for (const Chain &chain : chains) {
    bool applied = false;
    std::string text = kernelOver("bf16", "bf16", chain.body);
    std::vector<uint16_t> coarse = runOverAll(text, GetParam(), true, &applied);
    std::vector<uint16_t> fine = runOverAll(text, GetParam(), false);
    EXPECT_EQ(applied, chain.grade) << chain.name;
    int differing = 0;
    for (int i = 0; i < 65536; ++i) {
      float x = fromBFloat16(uint16_t(i)), y = fromBFloat16(coarse[i]);
      double exact = chain.exact(x);
      ASSERT_EQ(std::isnan(y), std::isnan(fromBFloat16(fine[i]))) << chain.name << " " << x;
      if (std::isnan(y))
        continue;
      differing += coarse[i] != fine[i];
      ASSERT_LE(std::abs(rankOf(coarse[i]) - rankOf(fine[i])), 1) << chain.name << " " << x;
      ASSERT_EQ(std::signbit(y), std::signbit(fromBFloat16(fine[i]))) << chain.name << " " << x;
      if (!(x >= chain.lowest) || std::isnan(exact))
        continue;
      int nearest = rankOf(toBFloat16(static_cast<float>(exact)));
      ASSERT_LE(std::abs(rankOf(coarse[i]) - nearest), 1)
          << chain.name << " " << x << " is " << y << ", not " << exact;
    }
    // What is lost to the grade: one result in about 150 is rounded to the other side.
    EXPECT_LE(differing, 300) << chain.name;
    RecordProperty(std::string(chain.name) + "_differing", differing);
  }
}

TEST_P(BFloat16Grade, FunctionsKeepTheirBoundOnAllOfFloat32) {
  struct {
    const char *name;
    double (*exact)(double);
  } functions[] = {{"exp", exp}, {"exp2", exp2}};
  constexpr uint32_t stride = 5003, batch = 4096;
  for (auto &function : functions) {
    MathImage image(bfloat16GradeMath(function.name), false, GetParam());
    std::vector<float> x(batch), out(batch);
    for (uint64_t start = 0; start < uint64_t(1) << 32; start += uint64_t(stride) * batch) {
      for (uint32_t i = 0; i < batch; ++i)
        x[i] = std::bit_cast<float>(uint32_t(start + uint64_t(i) * stride));
      image.run(x.data(), nullptr, out.data(), batch);
      for (uint32_t i = 0; i < batch; ++i)
        ASSERT_LE(errorInUlps(out[i], function.exact(static_cast<double>(x[i]))), 128)
            << function.name << "(" << x[i] << ") = " << out[i];
    }
  }
}

TEST_P(BFloat16Grade, NeedsInputsOfSixteenBitsAndABFloat16Result) {
  auto applies = [&](const std::string &in, const std::string &out, const char *body) {
    return CompiledKernel(kernelOver(in, out, body), "k", GetParam()).object.bfloat16Grade;
  };
  EXPECT_TRUE(applies("bf16", "bf16", siluBody));
  EXPECT_TRUE(applies("f16", "bf16", siluBody));
  EXPECT_FALSE(applies("f32", "bf16", siluBody));
  EXPECT_FALSE(applies("bf16", "f16", siluBody));
  EXPECT_FALSE(applies("bf16", "f32", siluBody));
}

// Each would turn a small relative error into a large one.
TEST_P(BFloat16Grade, IsRefusedWhereErrorsGrow) {
  const char *bodies[] = {
      // 1 - exp(x) near zero
      "%e = math.exp %x : F\n %y = arith.subf %one, %e : F",
      // x + exp(x) cancels for negative x
      "%e = math.exp %x : F\n %y = arith.addf %x, %e : F",
      // exp(exp(x)) multiplies the error by exp(x)
      "%e = math.exp %x : F\n %f = math.log %e : F\n %y = arith.mulf %f, %x : F",
      // a comparison decides by the last bit
      "%e = math.exp %x : F\n %b = arith.cmpf ogt, %e, %one : F\n"
      " %y = arith.select %b, %x, %zero : tensor<1024xi1>, tensor<1024xf32>",
      // squared five times: 32 times the error
      "%e = math.exp %x : F\n %a = arith.mulf %e, %e : F\n %b = arith.mulf %a, %a : F\n"
      " %c = arith.mulf %b, %b : F\n %d = arith.mulf %c, %c : F\n %y = arith.mulf %d, %d : F",
  };
  for (const char *body : bodies)
    EXPECT_FALSE(
        CompiledKernel(kernelOver("bf16", "bf16", body), "k", GetParam()).object.bfloat16Grade)
        << body;
  const char *harmless = "%e = math.exp %x : F\n %a = arith.mulf %e, %e : F\n"
                         " %y = arith.mulf %a, %a : F";
  EXPECT_TRUE(
      CompiledKernel(kernelOver("bf16", "bf16", harmless), "k", GetParam()).object.bfloat16Grade);
}

// A NaN whose payload lies in its lower half only must not round to an infinity.
TEST_P(BFloat16Grade, NanOfAnArgumentStaysOne) {
  const char *body = "%s = tt.splat %scale : f32 -> F\n %y = arith.mulf %x, %s : F";
  CompiledKernel kernel(kernelOver("bf16", "bf16", body), "k", GetParam());
  std::vector<uint16_t> in(1024, toBFloat16(1)), out(1024);
  Arguments arguments;
  arguments.add(in.data()).add(out.data()).add(std::bit_cast<float>(0x7fc0ffffu));
  ASSERT_EQ(kernel.run(arguments, 1), 0);
  for (uint16_t bits : out)
    ASSERT_TRUE(std::isnan(fromBFloat16(bits)));
}

INSTANTIATE_TEST_SUITE_P(Levels, BFloat16Grade, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
