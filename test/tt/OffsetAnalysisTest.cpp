// SPDX-License-Identifier: Apache-2.0
#include "tt/OffsetAnalysis.h"
#include "passes/tt/Pipeline.h"
#include "tt/Corpus.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pellucid;
using namespace pellucid::tt;

namespace {

struct Offsets : testing::Test {
  MLIRContext context;
  Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;

  /// Parses the body of a function and gives what its return returns.
  Value returned(const std::string &body, const std::string &type) {
    std::string text =
        "tt.func @f(%x: !tt.ptr<f32>, %n: i32, %s: i64, %t: tensor<8xi32>, %c: i1) -> " + type +
        " {\n" + body + "\n}";
    module = parseTtir(text, &context, diagnostics);
    EXPECT_TRUE(module) << diagnostics.text();
    Value result;
    module->walk([&](ReturnOp ret) { result = ret.getOperand(0); });
    return result;
  }

  std::string form(const std::string &body, const std::string &type) {
    auto known = offsetForm(returned(body, type));
    return known ? known->text() : "unknown";
  }
};

TEST_F(Offsets, ProgramTimesBlockPlusRange) {
  EXPECT_EQ(form(R"(
  %p = tt.get_program_id x : i32
  %b = arith.constant 8 : i32
  %0 = arith.muli %p, %b : i32
  %1 = tt.splat %0 : i32 -> tensor<8xi32>
  %2 = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %3 = arith.addi %1, %2 : tensor<8xi32>
  tt.return %3 : tensor<8xi32>)",
                 "tensor<8xi32>"),
            "lane0 + 8*pid0");
}

const char *const rowMajor = R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %q = tt.make_range {start = 4 : i32, end = 8 : i32} : tensor<4xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %q {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %stride = tt.splat %n : i32 -> tensor<8x1xi32>
  %0 = arith.muli %rows, %stride : tensor<8x1xi32>
  %1 = tt.broadcast %0 : tensor<8x1xi32> -> tensor<8x4xi32>
  %2 = tt.broadcast %columns : tensor<1x4xi32> -> tensor<8x4xi32>
  %3 = arith.addi %1, %2 : tensor<8x4xi32>
)";

TEST_F(Offsets, RowMajorTileWithRunTimeStride) {
  EXPECT_EQ(form(std::string(rowMajor) + "tt.return %3 : tensor<8x4xi32>", "tensor<8x4xi32>"),
            "4 + lane0*s0 + lane1");
}

TEST_F(Offsets, TransSwapsLanes) {
  Value value = returned(std::string(rowMajor) + R"(
  %4 = tt.trans %3 {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  tt.return %4 : tensor<4x8xi32>)",
                         "tensor<4x8xi32>");
  auto known = offsetForm(value);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->text(), "4 + lane0 + lane1*s0");
  EXPECT_EQ(known->strideOf(0).asConstant(), 1);
  EXPECT_EQ(known->strideOf(1).text(), "s0");
  EXPECT_EQ(known->uniformPart().asConstant(), 4);
}

TEST_F(Offsets, ReshapeKeepsOnlyWhatItDoesNotMix) {
  EXPECT_EQ(form(std::string(rowMajor) + R"(
  %4 = tt.reshape %3 : tensor<8x4xi32> -> tensor<8x1x4xi32>
  tt.return %4 : tensor<8x1x4xi32>)",
                 "tensor<8x1x4xi32>"),
            "4 + lane0*s0 + lane2");
  EXPECT_EQ(form(std::string(rowMajor) + R"(
  %4 = tt.reshape %3 : tensor<8x4xi32> -> tensor<32xi32>
  tt.return %4 : tensor<32xi32>)",
                 "tensor<32xi32>"),
            "unknown");
}

TEST_F(Offsets, ArithmeticSimplifies) {
  EXPECT_EQ(form(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
  %a = arith.shli %r, %two : tensor<8xi32>
  %b = arith.subi %a, %r : tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %d = arith.addi %b, %n8 : tensor<8xi32>
  %e = arith.subi %d, %n8 : tensor<8xi32>
  %w = arith.extsi %e : tensor<8xi32> to tensor<8xi64>
  tt.return %w : tensor<8xi64>)",
                 "tensor<8xi64>"),
            "3*lane0");
}

TEST_F(Offsets, UnknownTilesAndProductsOfLanesAreUnknown) {
  EXPECT_EQ(form("tt.return %t : tensor<8xi32>", "tensor<8xi32>"), "unknown");
  EXPECT_EQ(form(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %a = arith.muli %r, %r : tensor<8xi32>
  tt.return %a : tensor<8xi32>)",
                 "tensor<8xi32>"),
            "unknown");
  EXPECT_EQ(form(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %d = arith.constant dense<3> : tensor<8xi32>
  %a = arith.divsi %r, %d : tensor<8xi32>
  tt.return %a : tensor<8xi32>)",
                 "tensor<8xi32>"),
            "unknown");
}

// A narrower value may have wrapped before it is extended without its sign.
TEST_F(Offsets, UnsignedExtensionIsNotSeenThrough) {
  EXPECT_EQ(form(R"(
  %p = tt.get_program_id x : i32
  %w = arith.extui %p : i32 to i64
  tt.return %w : i64)",
                 "i64"),
            "s0");
}

// A value used twice at every step would take 2^40 steps without memory.
TEST_F(Offsets, SharedOperandsTakeLinearTime) {
  std::string body = "  %v0 = tt.get_program_id y : i32\n";
  for (int i = 0; i < 40; ++i)
    body += "  %v" + std::to_string(i + 1) + " = arith.addi %v" + std::to_string(i) + ", %v" +
            std::to_string(i) + " : i32\n";
  EXPECT_EQ(form(body + "  tt.return %v40 : i32", "i32"), "1099511627776*pid1");
}

TEST_F(Offsets, OverflowIsUnknownRatherThanWrong) {
  EXPECT_EQ(form(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %w = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
  %big = arith.constant dense<4611686018427387904> : tensor<8xi64>
  %a = arith.muli %w, %big : tensor<8xi64>
  %b = arith.addi %a, %a : tensor<8xi64>
  tt.return %b : tensor<8xi64>)",
                 "tensor<8xi64>"),
            "unknown");
}

TEST_F(Offsets, Masks) {
  Value mask = returned(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %n8 = tt.splat %n : i32 -> tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %a = arith.cmpi slt, %r, %n8 : tensor<8xi32>
  %b = arith.cmpi sge, %r, %zero : tensor<8xi32>
  %m = arith.andi %a, %b : tensor<8xi1>
  %e = tt.expand_dims %m {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
  %w = tt.broadcast %e : tensor<1x8xi1> -> tensor<4x8xi1>
  tt.return %w : tensor<4x8xi1>)",
                        "tensor<4x8xi1>");
  auto known = maskForm(mask);
  ASSERT_TRUE(known);
  ASSERT_EQ(known->size(), 2u);
  EXPECT_EQ((*known)[0].lhs.text(), "lane1");
  EXPECT_EQ((*known)[0].rhs.text(), "s0");
  EXPECT_EQ((*known)[0].predicate, arith::CmpIPredicate::slt);
  EXPECT_EQ((*known)[1].predicate, arith::CmpIPredicate::sge);
  EXPECT_FALSE(maskForm(returned("tt.return %c : i1", "i1")));
}

// The forms of every access of a matmul, as the front end leaves it and after the pipeline.
TEST_F(Offsets, MatmulPointers) {
  auto pointersOf = [&](ModuleOp kernel) {
    std::string text;
    kernel.walk([&](Operation *op) {
      if (!isa<LoadOp, StoreOp>(op))
        return;
      auto known = pointerForm(op->getOperand(0));
      bool argument = known && isa<BlockArgument>(known->base);
      text +=
          known ? (argument ? "argument: " : "value: ") + known->offset.text() + "\n" : "unknown\n";
    });
    return text;
  };
  module = parseTtir(corpus::read(corpus::folder("3.6") / "matmul.ttir"), &context, diagnostics);
  ASSERT_TRUE(module) << diagnostics.text();
  PassManager pm(&context);
  buildKernelPipeline(pm);
  ASSERT_TRUE(succeeded(pm.run(*module)));
  // The loop counter of each operand is one scalar; a and b walk by 32 and by 32 * n.
  EXPECT_EQ(pointersOf(*module), "argument: lane0*s0 + lane1 + 32*pid0*s0 + s1\n"
                                 "argument: lane0*s0 + lane1 + 32*pid1 + s1\n"
                                 "argument: lane0*s0 + lane1 + 32*pid0*s0 + 32*pid1\n");
}

} // namespace
