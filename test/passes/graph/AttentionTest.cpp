// SPDX-License-Identifier: Apache-2.0
// What attention becomes: how many launches of which form, and that no score is in memory.
#include "passes/graph/InlineOperators.h"
#include "passes/graph/LowerAttention.h"
#include "passes/graph/LowerToLaunches.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

namespace pellucid::passes {
namespace {

using namespace graph;

constexpr uint32_t cpu = 0, hopper = 90;

class AttentionTest : public ::testing::Test {
protected:
  AttentionTest() { program.symbols.declare("n", {{1, 5000}, 1, {}}); }

  Value *input(const char *name, std::vector<Expr> shape, DataType type = DataType::BFloat16) {
    program.inputs.push_back({InputSpec::Kind::UserInput, name, {}, true});
    return program.main.placeholder(name, TensorType(type, std::move(shape)));
  }
  Node *attend(std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(program.main, registry, program.symbols,
                    "aten.scaled_dot_product_attention.default", std::move(args), std::move(kwargs),
                    {});
  }
  /// Of query, key and value with these sizes.
  Node *attend(const Expr &heads, const Expr &shared, const Expr &queries, const Expr &keys,
               const Expr &width, KeywordArguments kwargs = {}) {
    Value *q = input("q", {2, heads, queries, width}), *k = input("k", {2, shared, keys, width});
    Value *v = input("v", {2, shared, keys, width});
    return attend({q, k, v}, std::move(kwargs));
  }
  /// The launches of a program that returns `node`'s results.
  std::vector<const Launch *> lower(Node *node, uint32_t device) {
    program.outputs.assign(node->resultCount(), {OutputSpec::Kind::UserOutput, ""});
    std::vector<Argument> results;
    for (size_t r = 0; r < node->resultCount(); ++r)
      results.emplace_back(node->result(r));
    program.main.output(std::move(results));
    openWideAttention(program, registry);
    decomposeComposites(program, registry);
    CompileText compile = [this](const KernelText &text, const std::vector<DataType> &pointers,
                                 const std::vector<Access> &accesses) {
      texts.push_back(text.source);
      KernelDef kernel;
      kernel.name = kernel.symbol = text.name;
      for (size_t i = 0; i < pointers.size() + text.scalars.size(); ++i) {
        KernelParameter parameter;
        parameter.name = "a" + std::to_string(i);
        bool isPointer = i < pointers.size();
        parameter.kind = isPointer ? KernelParameter::Kind::Pointer : KernelParameter::Kind::Scalar;
        parameter.dtype = isPointer ? pointers[i] : DataType::Int64;
        parameter.access = isPointer ? accesses[i] : Access::None;
        kernel.parameters.push_back(std::move(parameter));
      }
      return kernel;
    };
    lowerToLaunches(program, registry, compile, device);
    EXPECT_EQ(program.main.verify(), std::vector<std::string>{});
    std::vector<const Launch *> launches;
    for (const Node &one : program.main)
      if (one.isLaunch())
        launches.push_back(one.launch());
    return launches;
  }
  /// Elements of the largest tensor that is made.
  int64_t mostElements() const {
    int64_t most = 0;
    for (const Node &node : program.main)
      if (node.isCall() && !node.isLaunch())
        for (size_t r = 0; r < node.resultCount(); ++r)
          most = std::max(most, program.symbols.range(node.result(r)->type().numel()).max);
    return most;
  }
  size_t countOf(const std::string &part) const {
    size_t count = 0;
    for (const std::string &text : texts)
      for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
  }

  Program program;
  OperatorRegistry registry;
  std::vector<std::string> texts;
};

TEST_F(AttentionTest, isOneLaunchAndMakesNothingButItsResult) {
  for (uint32_t device : {cpu, hopper}) {
    program = Program();
    EXPECT_EQ(lower(attend(4, 4, 2048, 2048, 64), device).size(), 1u);
    EXPECT_EQ(mostElements(), 2 * 4 * 2048 * 64);
  }
}

TEST_F(AttentionTest, aDynamicLengthTakesMemoryInProportionToIt) {
  Expr n = Expr::symbol("n");
  EXPECT_EQ(lower(attend(4, 4, n, n, 64, {{"is_causal", true}}), hopper).size(), 1u);
  EXPECT_EQ(mostElements(), 2 * 4 * 5000 * 64);
}

TEST_F(AttentionTest, causalBlocksThatAreHiddenAreNotVisited) {
  lower(attend(4, 4, 512, 512, 64, {{"is_causal", true}}), hopper);
  EXPECT_EQ(countOf("tl.minimum(end, (top_row + "), 1u);
  // One loop without a mask, one with.
  EXPECT_EQ(countOf("for start in range("), 2u);
  EXPECT_EQ(countOf("<= bound[:, None]"), 1u);
}

TEST_F(AttentionTest, fewQueriesShareTheKeysOutOnADevice) {
  std::vector<const Launch *> launches = lower(attend(4, 4, 1, 8192, 64), hopper);
  ASSERT_EQ(launches.size(), 2u);
  // 256 keys each: for 8 heads as many programs as a large device takes.
  EXPECT_EQ(launches[0]->variants[0].grid[0], Expr(8 * 32));
  EXPECT_EQ(mostElements(), 2 * 4 * 32 * 64);
}

TEST_F(AttentionTest, fewQueriesTakeTheKeysOneByOneOnTheCpu) {
  EXPECT_EQ(lower(attend(4, 4, 1, 8192, 64), cpu).size(), 1u);
  EXPECT_EQ(countOf("tl.dot"), 0u);
}

// What is left of the keys is a round of its own size; keys that fill their rounds need none.
TEST_F(AttentionTest, theLastKeysOnTheCpuAreARoundOfTheirOwn) {
  const std::pair<int64_t, int64_t> rows[] = {{197, 16}, {77, 16}, {90, 32}, {256, 0}, {120, 64}};
  for (auto [keys, last] : rows) {
    program = Program(), texts.clear();
    lower(attend(4, 4, 200, keys, 64), cpu);
    EXPECT_EQ(countOf("for start in range("), 1u) << keys;
    EXPECT_EQ(countOf("start = full"), size_t(last != 0)) << keys;
    if (last)
      EXPECT_EQ(countOf("n = tl.arange(0, " + std::to_string(last) + ")"), last == 64 ? 2u : 1u)
          << keys;
  }
  for (bool causal : {false, true}) {
    program = Program(), texts.clear();
    program.symbols.declare("n", {{1, 5000}, 1, {}});
    Expr keys = causal ? Expr(200) : Expr::symbol("n");
    lower(attend(4, 4, keys, keys, 64, {{"is_causal", causal}}), cpu);
    EXPECT_GE(countOf("for start in range("), 2u);
    EXPECT_EQ(countOf("start = full"), 0u);
  }
}

TEST_F(AttentionTest, headsThatShareAKeyAreRowsOfOneBlock) {
  std::vector<const Launch *> launches =
      lower(attend(32, 4, 1, 300, 64, {{"enable_gqa", true}}), hopper);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0]->variants[0].grid[0], Expr(2 * 4));
}

TEST_F(AttentionTest, aCallWithFewQueriesOfADynamicNumberTakesSmallTiles) {
  Expr n = Expr::symbol("n");
  std::vector<const Launch *> launches = lower(attend(4, 4, n, n, 64), hopper);
  ASSERT_EQ(launches.size(), 1u);
  ASSERT_EQ(launches[0]->variants.size(), 2u);
  EXPECT_EQ(launches[0]->variants[0].guard, symbolic::lessEqual(n, 16));
  EXPECT_EQ(launches[0]->variants[1].guard, Expr(1));
}

TEST_F(AttentionTest, rowsThatFitNoTileAreOpened) {
  std::vector<const Launch *> launches = lower(attend(4, 4, 8, 8, 300), hopper);
  EXPECT_GT(launches.size(), 2u);
}

TEST_F(AttentionTest, refusesWhatPyTorchRefuses) {
  Value *q = input("q", {2, 4, 5, 8}), *k = input("k", {2, 4, 6, 8}), *v = input("v", {2, 4, 6, 8});
  Value *narrow = input("narrow", {2, 4, 6, 7}),
        *wide = input("wide", {2, 4, 6, 8}, DataType::Float32);
  Value *mask = input("mask", {5, 6}, DataType::Bool),
        *counts = input("counts", {5, 6}, DataType::Int64);
  Value *large = input("large", {3, 1, 1, 5, 6}, DataType::Bool),
        *heads = input("heads", {2, 3, 6, 8});
  auto refusal = [&](std::vector<Argument> args, KeywordArguments kwargs = {}) -> std::string {
    try {
      attend(std::move(args), std::move(kwargs));
    } catch (const DiagnosticError &error) {
      return error.what();
    }
    return "";
  };
  auto expectRefusal = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expectRefusal(refusal({q, narrow, v}), "query and key of one width, got 8 and 7");
  expectRefusal(refusal({q, k, wide}), "the same dtype, got bfloat16 and float32");
  expectRefusal(refusal({q, k, v, counts}), "to be bool, float32 or of the query's dtype");
  expectRefusal(refusal({q, k, v, large}), "to broadcast to [2, 4, 5, 6]");
  expectRefusal(refusal({q, k, v, mask, 1.5}), "expects dropout_p to be between 0 and 1, got 1.5");
  expectRefusal(refusal({q, k, v, mask, 0.0, true}), "attn_mask should not be set");
  expectRefusal(refusal({q, heads, heads}, {{"enable_gqa", true}}), "got 3 and 4");
  expectRefusal(refusal({q, heads, heads}), "cannot broadcast");
}

} // namespace
} // namespace pellucid::passes
