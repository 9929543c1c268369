// SPDX-License-Identifier: Apache-2.0
/// Control flow in programs: what the texts mean, and which are refused.
#include "graph/ControlFlow.h"
#include "graph/ProgramText.h"
#include "reference/graph/Interpreter.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

using namespace pellucid;
using namespace pellucid::graph;
using reference::Datum;
using reference::Tensor;
using enum DataType;

namespace {

/// Counts down and doubles; a running sum from the last row to the first; running products; the
/// larger of the two by a branch.
const char *const text = R"(pellucid.program 1
strict False
symbol n 0..100
body "condition" {
  %count: i64[] = placeholder count
  %y: f32[2] = placeholder y
  %step: f32[2] = placeholder step
  %gt: bool[] = call gt aten.gt.Scalar(%count, 0)
  output output(%gt)
}
body "turn" {
  %count: i64[] = placeholder count
  %y: f32[2] = placeholder y
  %step: f32[2] = placeholder step
  %sub: i64[] = call sub aten.sub.Tensor(%count, 1)
  %mul: f32[2] = call mul aten.mul.Tensor(%y, 2)
  %add: f32[2] = call add aten.add.Tensor(%mul, %step)
  output output(%sub, %add)
}
body "sum" {
  %carry: f32[2] = placeholder carry
  %x: f32[2] = placeholder x
  %step: f32[2] = placeholder step
  %add: f32[2] = call add aten.add.Tensor(%carry, %x)
  %sum_1: f32[] = call sum_1 aten.sum.default(%add)
  output output(%add, %sum_1)
}
body "product" {
  %before: f32[2] = placeholder before
  %x: f32[2] = placeholder x
  %mul: f32[2] = call mul aten.mul.Tensor(%before, %x)
  output output(%mul)
}
body "yes" {
  %x: f32[2] = placeholder x
  %neg: f32[2] = call neg aten.neg.default(%x)
  output output(%neg)
}
body "no" {
  %x: f32[2] = placeholder x
  %add: f32[2] = call add aten.add.Tensor(%x, 100)
  output output(%add)
}
main {
  %count: i64[] = placeholder count
  %step: f32[2] = placeholder step
  %rows: f32[n, 2] = placeholder rows
  %left: i64[], %grown: f32[2] = call while_loop higher_order.while_loop([%count, %step], [%step]) regions 0 1
  %last: f32[2], %sums: f32[n] = call scan higher_order.scan([%step], [%rows], [%step], reverse=True) regions 2
  %products: f32[n, 2] = call associative_scan higher_order.associative_scan([%rows], []) regions 3
  %eq: bool[] = call eq aten.eq.Scalar(%count, 0)
  %chosen: f32[2] = call cond higher_order.cond(%eq, [%grown]) regions 4 5
  output output(%left, %grown, %last, %sums, %products, %chosen)
}
input user_input "count"
input user_input "step"
input user_input "rows"
result user_output
result user_output
result user_output
result user_output
result user_output
result user_output
end
)";

Program parsed(const std::string &source) {
  return parseProgram(std::make_shared<SourceFile>("p.graph", source));
}

std::vector<std::vector<double>> evaluated(const Program &program, double count, int64_t rows) {
  std::vector<double> values;
  for (int64_t i = 0; i < 2 * rows; ++i)
    values.push_back(static_cast<double>(i + 1));
  std::vector<double> counts{count}, steps{1, 10};
  std::vector<Datum> inputs{Tensor::of(Int64, {}, counts), Tensor::of(Float32, {2}, steps),
                            Tensor::of(Float32, {rows, 2}, values)};
  std::vector<std::vector<double>> results;
  for (const Datum &result : reference::evaluate(program, inputs, {}))
    results.push_back(std::get<Tensor>(result).reals());
  return results;
}

} // namespace

TEST(ControlFlow, MeansWhatItSays) {
  Program program = parsed(text);
  EXPECT_EQ(printProgram(program), text);
  auto results = evaluated(program, 3, 3);
  using Row = std::vector<double>;
  EXPECT_EQ(results[0], Row({0}));
  EXPECT_EQ(results[1], Row({15, 150}));
  EXPECT_EQ(results[2], Row({1 + 9, 10 + 12}));
  // From the last row to the first: 11 + (5, 6), + (3, 4), + (1, 2).
  EXPECT_EQ(results[3], Row({32, 29, 22}));
  EXPECT_EQ(results[4], Row({1, 2, 3, 8, 15, 48}));
  EXPECT_EQ(results[5], Row({115, 250}));
  results = evaluated(program, 0, 0);
  EXPECT_EQ(results[1], Row({1, 10})) << "no turn";
  EXPECT_EQ(results[2], Row({1, 10}));
  EXPECT_TRUE(results[3].empty());
  EXPECT_TRUE(results[4].empty());
  EXPECT_EQ(results[5], Row({-1, -10}));
  EXPECT_EQ(evaluated(program, 0, 1)[4], Row({1, 2}));
}

TEST(ControlFlow, ALoopWithoutEndIsGivenUp) {
  std::string endless = text;
  endless.replace(endless.find("aten.sub.Tensor(%count, 1)"), 26, "aten.sub.Tensor(%count, 0)");
  std::vector<double> one{1}, two{1, 10};
  std::vector<Datum> inputs{Tensor::of(Int64, {}, one), Tensor::of(Float32, {2}, two),
                            Tensor::of(Float32, {0, 2}, {})};
  reference::EvaluateOptions options;
  options.maxTurns = 50;
  try {
    reference::evaluate(parsed(endless), inputs, options);
    FAIL();
  } catch (const DiagnosticError &error) {
    EXPECT_NE(std::string(error.what()).find("did not end within 50 turns"), std::string::npos);
  }
}

/// Regions run as the main graph of their program for a while, and come back.
TEST(ControlFlow, RegionsAreGraphsOfTheProgram) {
  Program program = parsed(text);
  EXPECT_EQ(regionsOf(program.main, program), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
  {
    RegionAsMain view(program, 2);
    EXPECT_TRUE(program.main.find("sum_1"));
    EXPECT_EQ(program.inputs.size(), 3u);
    EXPECT_EQ(program.outputs.size(), 2u);
    EXPECT_EQ(program.main.find("sum_1")->graph(), &program.main);
  }
  EXPECT_EQ(printProgram(program), text);
  EXPECT_EQ(printProgram(program.clone()), text);
}

namespace {
struct Change {
  const char *from, *to;
  const char *expected; ///< of the refusal
};
class Refused : public ::testing::TestWithParam<Change> {};
} // namespace

TEST_P(Refused, WhatDoesNotHold) {
  std::string changed = text;
  size_t at = changed.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << GetParam().from;
  changed.replace(at, std::string(GetParam().from).size(), GetParam().to);
  try {
    parsed(changed);
    FAIL() << "accepted: " << GetParam().to;
  } catch (const DiagnosticError &error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().expected), std::string::npos)
        << error.what();
  }
}

const Change changes[] = {
    {"[%step]) regions 0 1", "[%step]) regions 0 17", "has region 17 of 6"},
    {"[%step]) regions 0 1", "[%step]) regions 0", "has 2 regions, got 1"},
    {"[%step]) regions 0 1", "[%step])", "has 2 regions, got 0"},
    {"[%step]) regions 0 1", "[]) regions 0 1", "gives its region 2 tensors, which takes 3"},
    {"[%step]) regions 0 1", "[%rows]) regions 0 1",
     "gives its region f32[n, 2], which takes f32[2]"},
    {"[%step]) regions 0 1", "3) regions 0 1", "takes lists of tensors, got 3"},
    {"[%step]) regions 0 1", "[%step], []) regions 0 1", "takes 2 arguments, got 3"},
    {"regions 0 1\n", "regions 1 1\n", "has a condition of 2 results"},
    {"output output(%gt)", "output output(%y)", "has a condition that is f32[2]"},
    {"output output(%sub, %add)", "output output(%add, %sub)",
     "has a region whose result 0 is f32[2] where i64[] is wanted"},
    {"output output(%sub, %add)", "output output(%sub)",
     "has a region with 1 results where there are 2"},
    {"output output(%sub, %add)", "output output(%sub, 3)", "gives 3, which is not a tensor"},
    {"%left: i64[]", "%left: i32[]", "where i32[] is wanted"},
    {"reverse=True", "reverse=3", "has no keyword 'reverse' of that kind"},
    {"reverse=True", "backwards=True", "has no keyword 'backwards' of that kind"},
    {"%sums: f32[n]", "%sums: f32[n, 2]", "where f32[2] is wanted"},
    {"%sums: f32[n]", "%sums: f32[3]", "stacks its results"},
    {"[%step], [%rows]", "[%step], [%step]", "gives its region f32[], which takes f32[2]"},
    {"[%step], [%rows]", "[%step], []", "scans nothing"},
    {"higher_order.cond(%eq", "higher_order.cond(%count", "has a predicate that is i64[]"},
    {"higher_order.cond(%eq", "higher_order.cond(None", "takes a predicate, got None"},
    {"higher_order.scan(", "higher_order.scam(", "operator 'higher_order.scam' is not registered"},
    {"call eq aten.eq.Scalar(%count, 0)", "call eq aten.eq.Scalar(%count, 0) regions 4",
     "has no body"},
    // A loop whose body holds the loop.
    {"%neg: f32[2] = call neg aten.neg.default(%x)",
     "%eq: bool[] = call eq aten.eq.Scalar(%x, 0)\n  %neg: f32[2] = call neg "
     "higher_order.cond(1, [%x]) regions 4 5",
     "calls itself"},
};
INSTANTIATE_TEST_SUITE_P(ControlFlow, Refused, ::testing::ValuesIn(changes));
