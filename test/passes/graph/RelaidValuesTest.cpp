// SPDX-License-Identifier: Apache-2.0
// Values laid out with their channels innermost or outermost: which, and what their readers get.
#include "passes/graph/RelaidValues.h"

#include "graph/FakeRules.h"
#include "passes/graph/InnermostChannels.h"
#include "passes/graph/OutermostChannels.h"

#include <gtest/gtest.h>

namespace pellucid::passes {
namespace {

using namespace graph;
using List = Argument::List;

TEST(DenseOrder, IsOfMemoryWithoutGaps) {
  SymbolTable symbols;
  symbols.declare("b", {{1, 64}, 1, {}});
  auto order = [&](std::vector<Expr> shape, std::vector<Expr> strides, Expr offset = 0) {
    TensorType type(DataType::Float32, std::move(shape));
    type.strides = std::move(strides);
    type.offset = offset;
    return denseOrder(type, symbols);
  };
  using Order = std::vector<size_t>;
  EXPECT_EQ(order({2, 3, 4}, {12, 4, 1}), (Order{0, 1, 2}));
  EXPECT_EQ(order({2, 3, 4}, {12, 1, 3}), (Order{0, 2, 1}));
  EXPECT_EQ(order({Expr::symbol("b"), 3, 4}, {12, 1, 3}), (Order{0, 2, 1}));
  EXPECT_EQ(order({}, {}), Order{});
  EXPECT_EQ(order({2, 3, 4}, {24, 8, 2}), std::nullopt) << "gaps between elements";
  EXPECT_EQ(order({2, 3, 4}, {16, 4, 1}), std::nullopt) << "gaps between planes";
  EXPECT_EQ(order({2, 3, 4}, {0, 4, 1}), std::nullopt) << "one plane, seen twice";
  EXPECT_EQ(order({2, 3, 4}, {12, 4, 1}, 1), std::nullopt) << "begins inside of the memory";
  // How far a dim of one element steps says nothing.
  ASSERT_TRUE(order({2, 1, 4}, {4, 77, 1}).has_value());
}

class InnermostChannelsTest : public ::testing::Test {
protected:
  Value *input(std::vector<Expr> shape, DataType type = DataType::Float16) {
    std::string name = "x" + std::to_string(program.inputs.size());
    program.inputs.push_back({InputSpec::Kind::UserInput, name, {}, true});
    return program.main.placeholder(name, TensorType(type, std::move(shape)));
  }
  Value *call(std::string_view target, std::vector<Argument> args) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args), {}, {})
        ->result();
  }
  Value *convolve(Value *x, std::vector<Expr> weight) {
    return call("aten.convolution.default",
                {x, input(std::move(weight), x->type().dtype), Argument(), List{1, 1}, List{0, 0},
                 List{1, 1}, false, List{0, 0}, 1});
  }
  void run(std::vector<Argument> results, bool outermost = false) {
    program.outputs.assign(results.size(), {OutputSpec::Kind::UserOutput, ""});
    program.main.output(std::move(results));
    changed = outermost ? layChannelsOutermost(program, registry)
                        : layChannelsInnermost(program, registry);
    program.main.eraseUnused([](const Node &) { return true; });
    EXPECT_EQ(program.main.verify(), std::vector<std::string>{});
  }
  std::vector<const Node *> of(std::string_view target) const {
    std::vector<const Node *> found;
    for (const Node &node : program.main)
      if (node.isCall() && node.target() == target)
        found.push_back(&node);
    return found;
  }
  static bool isInnermost(const Value *value) { return value->type().strides[1].constant() == 1; }

  Program program;
  OperatorRegistry registry;
  size_t changed = 0;
};

TEST_F(InnermostChannelsTest, aResultThatLiesSoIsReadAsItLies) {
  Value *x = convolve(input({2, 16, 9, 9}), {16, 16, 3, 3});
  run({convolve(x, {16, 16, 3, 3})});
  EXPECT_EQ(changed, 2u);
  // The input, and the result for the caller; nothing between the convolutions.
  EXPECT_EQ(of("aten.clone.default").size(), 2u);
  for (const Node *node : of("aten.convolution.default"))
    EXPECT_TRUE(isInnermost(node->result()));
}

TEST_F(InnermostChannelsTest, kernelsOfOneRowOrColumnTurnFewChannels) {
  for (auto [rows, columns] : {std::pair(1, 5), {5, 1}, {3, 3}, {1, 1}}) {
    program = Program();
    Value *x = convolve(input({2, 3, 9, 9}), {16, 3, rows, columns});
    run({convolve(x, {16, 16, 1, 1})});
    const Node *first = of("aten.convolution.default").front();
    EXPECT_EQ(isInnermost(first->result()), rows * columns != 1) << rows << " x " << columns;
  }
}

using OutermostChannelsTest = InnermostChannelsTest;

/// An image of three channels as channels_last has it.
TEST_F(OutermostChannelsTest, oneCopyInFrontAndOneBehindANetwork) {
  Value *x =
      call("aten.permute.default", {input({2, 9, 9, 3}, DataType::Float32), List{0, 3, 1, 2}});
  auto layer = [&](Value *value, Expr channels) {
    Value *w = input({16, channels, 3, 3}, DataType::Float32);
    Value *made = call("aten.convolution.default", {value, w, Argument(), List{1, 1}, List{1, 1},
                                                    List{1, 1}, false, List{0, 0}, 1});
    EXPECT_TRUE(isInnermost(made));
    return call("aten.relu.default", {made});
  };
  Value *last = layer(layer(x, 3), 16);
  TensorType given = last->type();
  run({last}, true);
  EXPECT_EQ(changed, 2u);
  for (const Node *node : of("aten.convolution.default"))
    EXPECT_TRUE(node->result()->type().isContiguous(program.symbols));
  // The input's, and what the caller gets.
  EXPECT_EQ(of("aten.clone.default").size(), 2u);
  EXPECT_EQ(program.main.outputNode()->arg(0).value()->type(), given);
}

/// What is made contiguous behind a convolution is so already, and is copied once, in front of it.
TEST_F(OutermostChannelsTest, aDenseResultIsNotTurnedTwice) {
  Value *x =
      call("aten.permute.default", {input({1, 8, 8, 16}, DataType::Float32), List{0, 3, 1, 2}});
  Value *made = convolve(x, {32, 16, 1, 1});
  Value *copied = emitCall(program.main, registry, program.symbols, "aten.clone.default", {made},
                           {{"memory_format", "contiguous_format"}}, {})
                      ->result();
  run({call("aten.relu.default", {copied})}, true);
  EXPECT_EQ(changed, 1u);
  EXPECT_EQ(of("aten.clone.default").size(), 1u);
  EXPECT_TRUE(of("aten.relu.default").at(0)->result()->type().isContiguous(program.symbols));
}

TEST_F(OutermostChannelsTest, denseOnesStayAsTheyAre) {
  run({convolve(input({1, 16, 8, 8}, DataType::Float32), {32, 16, 1, 1})}, true);
  EXPECT_EQ(changed, 0u);
  EXPECT_EQ(of("aten.clone.default").size(), 0u);
}

TEST_F(InnermostChannelsTest, whatIsNoOperatorOfOursSeesTheOldOrder) {
  Value *x = convolve(convolve(input({2, 16, 9, 9}), {16, 16, 3, 3}), {16, 16, 3, 3});
  Node *theirs = program.main.call("mylib.op.default", {x}, {}, {x->type()}, "op");
  TensorType given = x->type();
  run({theirs->result()});
  const Node *found = of("mylib.op.default").at(0);
  EXPECT_EQ(found->arg(0).value()->type(), given) << "its elements lie as it was traced with them";
}

} // namespace
} // namespace pellucid::passes
