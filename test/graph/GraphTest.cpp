// SPDX-License-Identifier: Apache-2.0
#include "counted/CountedWork.h"
#include "graph/Program.h"

#include <gtest/gtest.h>

using namespace pellucid;
using namespace pellucid::graph;

namespace {
const Expr batch = Expr::symbol("batch");

TensorType matrix() { return TensorType(DataType::BFloat16, {batch, 64}); }

Node *unary(Graph &graph, const std::string &target, Value *x) {
  return graph.call(target, {x}, {}, {x->type()});
}

Launch launchInto(Value *in, Value *out) {
  Launch launch;
  launch.variants.push_back({});
  launch.operands = {{"x_ptr", in, Access::Read},
                     {"out_ptr", out, Access::Write},
                     {"n", Argument(batch * 64), Access::None}};
  return launch;
}

TEST(Names, followTorchFx) {
  Graph graph;
  Value *x = graph.placeholder("input", matrix());
  EXPECT_EQ(x->name(), "input");
  EXPECT_EQ(unary(graph, "aten.linear.default", x)->name(), "linear");
  EXPECT_EQ(unary(graph, "aten.linear.default", x)->name(), "linear_1");
  EXPECT_EQ(unary(graph, "custom_ops.silu.default", x)->name(), "silu");
  EXPECT_EQ(unary(graph, "aten.sum.default", x)->name(), "sum_1");
  EXPECT_EQ(unary(graph, "aten.slice.Tensor", x)->name(), "slice_1");
  EXPECT_EQ(unary(graph, "aten.slice.Tensor", x)->name(), "slice_2");
  EXPECT_EQ(unary(graph, "aten._softmax.default", x)->name(), "_softmax");
  Node *chunk = graph.call("aten.chunk.default", {x, 2}, {}, {matrix(), matrix()});
  EXPECT_EQ(chunk->result(0)->name(), "getitem");
  EXPECT_EQ(chunk->result(1)->name(), "getitem_1");
}

TEST(Users, followEveryChange) {
  Graph graph;
  Value *x = graph.placeholder("x", matrix()), *y = graph.placeholder("y", matrix());
  Node *add = graph.call("aten.add.Tensor", {x, x}, {}, {matrix()});
  Node *cat =
      graph.call("aten.cat.default", {Argument(Argument::List{x, add->result()})}, {}, {matrix()});
  EXPECT_EQ(x->users(), (std::list<Node *>{add, cat}));
  graph.replaceAllUses(x, y);
  EXPECT_TRUE(x->isUnused());
  EXPECT_EQ(y->users(), (std::list<Node *>{add, cat}));
  add->setArgs({x, y});
  EXPECT_EQ(x->users(), (std::list<Node *>{add}));
  graph.output({cat->result()});
  EXPECT_TRUE(graph.verify().empty());
  EXPECT_EQ(graph.eraseUnused([](const Node &) { return true; }), 0u);
  graph.output({add->result()});
  EXPECT_EQ(graph.eraseUnused([](const Node &) { return true; }), 1u);
  EXPECT_TRUE(graph.verify().empty());
}

TEST(Launches, makeANewValueForEveryWrittenOperand) {
  Graph graph;
  Value *x = graph.placeholder("x", matrix());
  Value *out = unary(graph, "aten.empty_like.default", x)->result();
  Node *launch = graph.launch(launchInto(x, out));
  EXPECT_EQ(launch->name(), "triton_kernel_wrapper_mutation");
  ASSERT_EQ(launch->resultCount(), 1u);
  EXPECT_EQ(launch->launch()->resultOperands, (std::vector<uint32_t>{1}));
  EXPECT_EQ(launch->result()->type(), out->type());
  graph.output({launch->result()});
  EXPECT_TRUE(graph.verify().empty());
  // Nothing reads it any more: the launch goes, unless its accesses are unknown or it is said to
  // have effects of its own.
  graph.output({x});
  Launch unknown = launchInto(x, out);
  unknown.operands[1].unknownAccess = true;
  unknown.operands[1].access = Access::ReadWrite;
  graph.launch(unknown);
  EXPECT_EQ(graph.eraseUnused([](const Node &) { return false; }), 0u);
  EXPECT_EQ(graph.eraseUnused([](const Node &node) { return node.isLaunch(); }), 1u);
  EXPECT_TRUE(graph.verify().empty());
}

TEST(Verify, namesWhatIsWrong) {
  Graph graph;
  Value *x = graph.placeholder("x", matrix());
  Node *first = unary(graph, "aten.neg.default", x),
       *second = unary(graph, "aten.neg.default", first->result());
  graph.moveBefore(second, first);
  ASSERT_EQ(graph.verify().size(), 1u);
  EXPECT_EQ(graph.verify()[0], "node 'neg_1' uses 'neg' before it is defined");
  graph.moveBefore(first, second);
  EXPECT_TRUE(graph.verify().empty());
}

TEST(Order, insertionPointsAndComparison) {
  Graph graph;
  Value *x = graph.placeholder("x", matrix());
  Node *last = unary(graph, "aten.neg.default", x);
  graph.output({last->result()});
  graph.setInsertionPoint(last);
  std::vector<Node *> nodes;
  for (int i = 0; i < 200; ++i)
    nodes.push_back(unary(graph, "aten.abs.default", x));
  // Always into the same gap: numbers run out and are given anew.
  for (int i = 0; i < 200; ++i) {
    graph.setInsertionPoint(nodes.back());
    nodes.push_back(unary(graph, "aten.exp.default", x));
  }
  EXPECT_TRUE(graph.verify().empty());
  EXPECT_TRUE(nodes.front()->isBefore(last));
  EXPECT_FALSE(last->isBefore(nodes.back()));
  Value *y = graph.placeholder("y", matrix());
  EXPECT_EQ(y->producer()->previous(), x->producer());
  EXPECT_TRUE(graph.verify().empty());
}

TEST(Clone, isTheSameGraph) {
  Graph graph;
  Value *x = graph.placeholder("x", matrix());
  Node *launch = graph.launch(launchInto(x, unary(graph, "aten.empty_like.default", x)->result()));
  graph.output({launch->result()});
  Graph copy = graph.clone();
  EXPECT_TRUE(copy.verify().empty());
  ASSERT_EQ(copy.size(), graph.size());
  EXPECT_EQ(copy.find("triton_kernel_wrapper_mutation")->launch()->operands[0].value.value(),
            copy.findValue("x"));
  // A copy names on where the original stopped.
  EXPECT_EQ(unary(copy, "aten.empty_like.default", copy.findValue("x"))->name(), "empty_like_1");
}

TEST(Types, contiguityIsProvedAndSizesOfOneDoNotMatter) {
  SymbolTable symbols;
  symbols.declare("batch", {{1, 1024}, 1, {}});
  TensorType type = matrix();
  EXPECT_TRUE(type.isContiguous(symbols));
  EXPECT_EQ(type.numel(), batch * 64);
  type.strides = {128, 1};
  EXPECT_FALSE(type.isContiguous(symbols));
  TensorType row(DataType::Float32, {1, 8});
  row.strides = {99, 1};
  EXPECT_TRUE(row.isContiguous(symbols));
  EXPECT_EQ(toString(type), "bf16[batch, 64] strides=[128, 1]");
  EXPECT_EQ(matrix().storageElements(symbols), batch * 64);
}

void buildAndChange(int nodes) {
  Graph graph;
  Value *x = graph.placeholder("x", matrix()), *y = x;
  for (int i = 0; i < nodes; ++i)
    y = graph.call("aten.add.Tensor", {y, x}, {}, {matrix()})->result();
  graph.output({y});
  EXPECT_TRUE(graph.verify().empty());
  Value *z = graph.placeholder("z", matrix());
  graph.replaceAllUses(x, z);
  EXPECT_EQ(z->users().size(), static_cast<size_t>(nodes));
  for (Node &n : graph)
    if (n.isCall() && n.result()->users().size() == 1 && n.name().back() == '7') {
      graph.replaceAllUses(n.result(), n.arg(0).value());
      graph.erase(&n);
    }
  EXPECT_TRUE(graph.verify().empty());
}

// Building, verifying, replacing the many uses of one value and erasing grow with the number of
// nodes.
TEST(Scale, isLinear) {
  double growth = test::growthOverEightfold(buildAndChange, 1000);
  EXPECT_GT(growth, 7) << "the work is not counted";
  EXPECT_LT(growth, 10);
}
} // namespace
