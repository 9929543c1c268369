// SPDX-License-Identifier: Apache-2.0
// Long chains of tile arithmetic are cut into loops of bounded length: LLVM's register allocation
// is quadratic in the length of a basic block.
#include "codegen/KernelFixture.h"
#include "codegen/common/GenerateCode.h"
#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <sstream>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

constexpr int width = 64;

/// v = v > 1 ? log(v + 1) : exp(v), so many times.
std::string chain(int count) {
  std::ostringstream text;
  text << "module {\n  tt.func public @k(%p: !tt.ptr<f32>) {\n"
          "    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
          "    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
          "    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
          "    %one = arith.constant dense<1.0> : tensor<64xf32>\n"
          "    %v0 = tt.load %a : tensor<64x!tt.ptr<f32>>\n";
  for (int i = 0; i < count; ++i)
    text << "    %c" << i << " = arith.cmpf ogt, %v" << i << ", %one : tensor<64xf32>\n"
         << "    %n" << i << " = arith.addf %v" << i << ", %one : tensor<64xf32>\n"
         << "    %l" << i << " = math.log %n" << i << " : tensor<64xf32>\n"
         << "    %e" << i << " = math.exp %v" << i << " : tensor<64xf32>\n"
         << "    %v" << i + 1 << " = arith.select %c" << i << ", %l" << i << ", %e" << i
         << " : tensor<64xi1>, tensor<64xf32>\n";
  text << "    tt.store %a, %v" << count << " : tensor<64x!tt.ptr<f32>>\n    tt.return\n  }\n}\n";
  return text.str();
}

/// A line of 64 in a network: each step exchanges elements `distance` apart and keeps the larger of
/// the two, a power of two apart, as sorts and transforms by butterflies do.
std::string network(int steps) {
  std::ostringstream text;
  text << "module {\n  tt.func public @k(%p: !tt.ptr<f32>) {\n"
          "    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
          "    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
          "    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
          "    %v0 = tt.load %a : tensor<64x!tt.ptr<f32>>\n";
  for (int i = 0; i < steps; ++i) {
    int distance = 1 << (i % 3);
    std::string pairs = std::to_string(32 / distance) + "x2x" + std::to_string(distance),
                turned = std::to_string(32 / distance) + "x" + std::to_string(distance),
                n = std::to_string(i);
    text << "    %p" + n + " = tt.reshape %v" + n + " : tensor<64xf32> -> tensor<" + pairs +
                "xf32>\n    %t" + n + " = tt.trans %p" + n +
                " {order = array<i32: 0, 2, 1>} : tensor<" + pairs + "xf32> -> tensor<" + turned +
                "x2xf32>\n    %l" + n + ", %h" + n + " = tt.split %t" + n + " : tensor<" + turned +
                "x2xf32> -> tensor<" + turned + "xf32>\n    %j" + n + " = tt.join %h" + n + ", %l" +
                n + " : tensor<" + turned + "xf32> -> tensor<" + turned + "x2xf32>\n    %u" + n +
                " = tt.trans %j" + n + " {order = array<i32: 0, 2, 1>} : tensor<" + turned +
                "x2xf32> -> tensor<" + pairs + "xf32>\n    %o" + n + " = tt.reshape %u" + n +
                " : tensor<" + pairs + "xf32> -> tensor<64xf32>\n    %v" + std::to_string(i + 1) +
                " = arith.maximumf %v" + n + ", %o" + n + " : tensor<64xf32>\n";
  }
  text << "    tt.store %a, %v" << steps << " : tensor<64x!tt.ptr<f32>>\n    tt.return\n  }\n}\n";
  return text.str();
}

/// The LLVM IR that is emitted, before LLVM's own passes.
std::string emitted(const std::string &ttir) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  auto module = tt::parseTtir(ttir, &context, diagnostics, "k");
  EXPECT_TRUE(module && tt::runKernelPipeline(*module, diagnostics));
  CodeTexts texts;
  CpuKernelOptions options;
  options.texts = &texts;
  CompiledObject object;
  EXPECT_TRUE(compileKernel(*module, "k", options, object, diagnostics));
  return texts.emitted;
}

/// Instructions of the longest basic block that the emitted LLVM IR has.
size_t longestBlock(const std::string &ttir) {
  size_t longest = 0, length = 0;
  std::istringstream lines(emitted(ttir));
  for (std::string line; std::getline(lines, line);) {
    bool isInstruction = line.starts_with("  ");
    length = isInstruction ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  return longest;
}

TEST(LongKernels, NoBasicBlockGrowsWithTheKernel) {
  size_t some = longestBlock(chain(60)), many = longestBlock(chain(180));
  EXPECT_LE(many, some + some / 4);
  EXPECT_GT(some, 100u); // the chain was not cut at every operation
}

TEST(LongKernels, CutsChangeNoValue) {
  for (CpuLevel level : runnableLevels()) {
    std::vector<float> values(width), expected;
    for (int i = 0; i < width; ++i)
      values[size_t(i)] = float(i) / 8;
    for (float value : values) {
      double v = value;
      for (int i = 0; i < 60; ++i)
        v = v > 1 ? std::log(v + 1) : std::exp(v);
      expected.push_back(float(v));
    }
    CompiledKernel kernel(chain(60), "k", level);
    EXPECT_EQ(kernel.run(Arguments().add(values.data()), 1), 0);
    for (size_t i = 0; i < width; ++i)
      EXPECT_NEAR(values[i], expected[i], 1e-4 * std::fabs(expected[i])) << i;
  }
}

// Each step asks for the one before by two ways: without memory between, the text doubles.
TEST(LongKernels, ANetworkOfExchangesIsEmittedInProportionToItsSteps) {
  size_t some = emitted(network(6)).size(), more = emitted(network(12)).size(),
         many = emitted(network(24)).size();
  EXPECT_LE(many - more, 3 * (more - some));
}

TEST(LongKernels, ANetworkOfExchangesKeepsTheLargest) {
  for (CpuLevel level : runnableLevels())
    for (int steps : {1, 2, 3, 5, 9}) {
      std::vector<float> values(width), expected;
      for (int i = 0; i < width; ++i)
        values[size_t(i)] = float((i * 29) % 61) - 7;
      expected = values;
      for (int i = 0; i < steps; ++i) {
        std::vector<float> next(width);
        for (size_t at = 0; at < width; ++at)
          next[at] = std::max(expected[at], expected[at ^ (size_t(1) << (i % 3))]);
        expected = next;
      }
      CompiledKernel kernel(network(steps), "k", level);
      EXPECT_EQ(kernel.run(Arguments().add(values.data()), 1), 0);
      EXPECT_EQ(values, expected) << steps;
    }
}

} // namespace
