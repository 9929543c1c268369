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

// One side without a form leaves none, on either side and below every operation.
TEST_F(Offsets, WhatTouchesTheUnknownIsUnknown) {
  const std::string start = R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
)";
  for (const char *operation : {"addi", "subi", "muli", "shli"})
    for (const char *operands : {"%t, %two", "%two, %t", "%r, %t", "%t, %r"})
      EXPECT_EQ(form(start + "  %a = arith." + operation + " " + operands + " : tensor<8xi32>\n" +
                         "  tt.return %a : tensor<8xi32>",
                     "tensor<8xi32>"),
                "unknown")
          << operation << " " << operands;
  EXPECT_EQ(form(start + R"(
  %a = arith.addi %t, %r : tensor<8xi32>
  %b = tt.expand_dims %a {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  tt.return %b : tensor<1x8xi32>)",
                 "tensor<1x8xi32>"),
            "unknown");
}

TEST_F(Offsets, ShiftsByKnownDistances) {
  auto of = [&](const std::string &distance) {
    return form("  %d = arith.constant " + distance +
                    " : i64\n  %a = arith.shli %s, %d : i64\n  tt.return %a : i64",
                "i64");
  };
  EXPECT_EQ(of("0"), "s0");
  EXPECT_EQ(of("3"), "8*s0");
  EXPECT_EQ(of("62"), "4611686018427387904*s0");
  // A scalar is a symbol of its own where nothing is known of its parts; a tile is not.
  auto ofTile = [&](const std::string &distance) {
    return form(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %w = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
  %d = arith.constant dense<)" +
                    distance + R"(> : tensor<8xi64>
  %a = arith.shli %w, %d : tensor<8xi64>
  tt.return %a : tensor<8xi64>)",
                "tensor<8xi64>");
  };
  EXPECT_EQ(ofTile("0"), "lane0");
  EXPECT_EQ(ofTile("1"), "2*lane0");
  EXPECT_EQ(ofTile("62"), "4611686018427387904*lane0");
  EXPECT_EQ(ofTile("63"), "unknown");
  EXPECT_EQ(ofTile("-1"), "unknown");
}

TEST_F(Offsets, SumsAndProductsAtTheEndsOfTheirRange) {
  auto of = [&](const std::string &operation, const std::string &a, const std::string &b) {
    return form(R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %w = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
  %a = arith.constant dense<)" +
                    a + "> : tensor<8xi64>\n  %b = arith.constant dense<" + b + R"(> : tensor<8xi64>
  %k = arith.muli %w, %a : tensor<8xi64>
  %l = arith.muli %w, %b : tensor<8xi64>
  %m = arith.)" + operation +
                    R"( %k, %l : tensor<8xi64>
  tt.return %m : tensor<8xi64>)",
                "tensor<8xi64>");
  };
  EXPECT_EQ(of("addi", "4611686018427387904", "4611686018427387903"), "9223372036854775807*lane0");
  EXPECT_EQ(of("addi", "4611686018427387904", "4611686018427387904"), "unknown");
  EXPECT_EQ(of("subi", "1", "-9223372036854775808"), "unknown");
  EXPECT_EQ(of("subi", "5", "5"), "0");
  EXPECT_EQ(of("muli", "1", "1"), "unknown");
}

TEST_F(Offsets, NumbersOfProgramsAndReorderedTiles) {
  EXPECT_EQ(form(R"(
  %a = tt.get_num_programs y : i32
  %b = tt.get_program_id z : i32
  %m = arith.muli %a, %b : i32
  tt.return %m : i32)",
                 "i32"),
            "pid2*programs1");
  EXPECT_EQ(form(std::string(rowMajor) + R"(
  %4 = tt.reshape %3 allow_reorder : tensor<8x4xi32> -> tensor<8x1x4xi32>
  tt.return %4 : tensor<8x1x4xi32>)",
                 "tensor<8x1x4xi32>"),
            "unknown");
}

TEST_F(Offsets, MasksWithAnUnknownPartAreUnknown) {
  const std::string start = R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %u = arith.cmpi slt, %t, %r : tensor<8xi32>
  %v = arith.cmpi slt, %r, %t : tensor<8xi32>
  %k = arith.cmpi slt, %r, %r : tensor<8xi32>
)";
  auto size = [&](const std::string &body) {
    auto known = maskForm(returned(start + body + "  tt.return %m : tensor<8xi1>", "tensor<8xi1>"));
    return known ? int(known->size()) : -1;
  };
  EXPECT_EQ(size("  %m = arith.andi %k, %k : tensor<8xi1>\n"), 2);
  EXPECT_EQ(size("  %m = arith.andi %k, %u : tensor<8xi1>\n"), -1);
  EXPECT_EQ(size("  %m = arith.andi %v, %k : tensor<8xi1>\n"), -1);
  EXPECT_EQ(size("  %m = arith.ori %k, %k : tensor<8xi1>\n"), -1);
  EXPECT_EQ(size("  %m = arith.constant dense<true> : tensor<8xi1>\n"), 0);
  EXPECT_EQ(size("  %m = arith.constant dense<false> : tensor<8xi1>\n"), -1);
  EXPECT_EQ(size("  %m = tt.splat %c : i1 -> tensor<8xi1>\n"), -1);
  Value turned = returned(std::string(rowMajor) + R"(
  %limit = tt.splat %n : i32 -> tensor<8x4xi32>
  %below = arith.cmpi slt, %2, %limit : tensor<8x4xi32>
  %m = tt.trans %below {order = array<i32: 1, 0>} : tensor<8x4xi1> -> tensor<4x8xi1>
  tt.return %m : tensor<4x8xi1>)",
                          "tensor<4x8xi1>");
  auto known = maskForm(turned);
  ASSERT_TRUE(known);
  EXPECT_EQ((*known)[0].lhs.text(), "4 + lane0");
  EXPECT_EQ((*known)[0].rhs.text(), "s0");
}

TEST_F(Offsets, PointersOfUnknownParts) {
  auto offset = [&](const std::string &body) {
    auto known = pointerForm(
        returned(body + "  tt.return %a : tensor<8x!tt.ptr<f32>>", "tensor<8x!tt.ptr<f32>>"));
    return known ? (isa<BlockArgument>(known->base) ? "x + " : "value + ") + known->offset.text()
                 : "unknown";
  };
  const std::string start = R"(
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %b = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
)";
  EXPECT_EQ(offset(start + "  %a = tt.addptr %b, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n"),
            "x + lane0");
  EXPECT_EQ(offset(start + "  %a = tt.addptr %b, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n"),
            "unknown");
  EXPECT_EQ(offset(start + R"(
  %u = tt.addptr %b, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %a = tt.addptr %u, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
)"),
            "unknown");
  EXPECT_EQ(offset(R"(
  %y = tt.addptr %x, %n : !tt.ptr<f32>, i32
  %z = arith.select %c, %x, %y : !tt.ptr<f32>
  %a = tt.splat %z : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
)"),
            "value + 0");
  EXPECT_EQ(offset(start + R"(
  %u = tt.addptr %b, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %w = tt.expand_dims %u {axis = 0 : i32} : tensor<8x!tt.ptr<f32>> -> tensor<1x8x!tt.ptr<f32>>
  %a = tt.reshape %w : tensor<1x8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f32>>
)"),
            "unknown");
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
