// SPDX-License-Identifier: Apache-2.0
// Every way to write an operator as kernels, for both kinds of device, at sizes that fit no tile:
// against the operator's definition, and no kernel touches what is not its own.
#include "InterpretedLaunches.h"
#include "passes/graph/ProductText.h"

namespace pellucid::passes {
namespace {

using List = Argument::List;
using Shape = std::vector<int64_t>;
constexpr DataType f32 = DataType::Float32, f16 = DataType::Float16, bf16 = DataType::BFloat16,
                   f64 = DataType::Float64, i64 = DataType::Int64, i32 = DataType::Int32,
                   i8 = DataType::Int8, boolean = DataType::Bool;

double boundOf(DataType type) { return type == f16 ? 2e-3 : type == bf16 ? 1.6e-2 : 2e-6; }

class InterpretedOperators : public InterpretedLaunches {
protected:
  Value *tensor(DataType type, Shape shape, int64_t range = 4) {
    std::string name = "x" + std::to_string(inputs.size());
    return input(name.c_str(), type, std::move(shape), range);
  }
  Value *one(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return call(target, std::move(args), std::move(kwargs))->result();
  }
  void onDevice(double bound, const std::function<std::vector<Value *>()> &build) {
    onEach({hopper}, bound, build);
  }
  std::vector<Value *> two(Node *node) { return {node->result(0), node->result(1)}; }
  /// The same elements with the last two dims of the memory exchanged.
  Value *turned(DataType type, Shape shape) {
    size_t rank = shape.size();
    std::swap(shape[rank - 1], shape[rank - 2]);
    return one("aten.transpose.int", {tensor(type, shape), int64_t(rank) - 2, int64_t(rank) - 1});
  }
  /// The same elements with memory between them.
  Value *sliced(DataType type, Shape shape) {
    shape.back() = shape.back() * 2 + 1;
    return one("aten.slice.Tensor",
               {tensor(type, shape), int64_t(shape.size()) - 1, 1, shape.back(), 2});
  }
};

// --- products; for processors they are no text, but the back end's own

TEST_F(InterpretedOperators, productsOfAllSizes) {
  const std::vector<Shape> sizes{{1, 1, 1},   {3, 5, 7},       {17, 33, 20}, {1, 70, 40},
                                 {66, 3, 65}, {128, 128, 128}, {90, 1, 300}, {1, 300, 7}};
  for (const Shape &s : sizes)
    for (DataType type : {f32, f16})
      onDevice(boundOf(type), [&] {
        return std::vector{
            one("aten.mm.default", {tensor(type, {s[0], s[2]}), tensor(type, {s[2], s[1]})})};
      });
}

// Rows of large products that do not begin at vectors are copied first.
TEST_F(InterpretedOperators, largeProductsOfOddRowsAreAligned) {
  for (bool left : {false, true})
    onDevice(boundOf(f16), [&] {
      Value *a = left ? turned(f16, {257, 259}) : tensor(f16, {257, 259}, 1);
      Value *b = left ? tensor(f16, {259, 261}, 1) : turned(f16, {259, 261});
      return std::vector{one("aten.mm.default", {a, b})};
    });
}

TEST_F(InterpretedOperators, productsOfAllStrides) {
  for (bool left : {false, true})
    for (bool right : {false, true})
      onDevice(2e-6, [&] {
        return std::vector{
            one("aten.mm.default", {left ? turned(f32, {19, 21}) : tensor(f32, {19, 21}),
                                    right ? turned(f32, {21, 37}) : sliced(f32, {21, 37})})};
      });
  onDevice(2e-6, [&] {
    return std::vector{
        one("aten.bmm.default", {sliced(f32, {3, 5, 18}), turned(f32, {3, 18, 20})})};
  });
  onDevice(2e-6, [&] {
    Value *shared = one("aten.expand.default", {tensor(f32, {1, 18, 20}), List{3, 18, 20}});
    return std::vector{one("aten.bmm.default", {tensor(f32, {3, 5, 18}), shared})};
  });
  onDevice(2e-6, [&] {
    return std::vector{
        one("aten.matmul.default", {tensor(f32, {2, 3, 4, 18}), tensor(f32, {3, 18, 7})})};
  });
  onDevice(2e-6, [&] {
    return std::vector{one("aten.matmul.default", {tensor(f32, {18}), tensor(f32, {3, 18, 7})}),
                       one("aten.matmul.default", {tensor(f32, {2, 18}), tensor(f32, {18})})};
  });
}

TEST_F(InterpretedOperators, productsAndWhatFollows) {
  for (DataType type : {f32, bf16})
    onDevice(boundOf(type), [&] {
      Value *x = tensor(type, {21, 18}), *w = tensor(type, {35, 18}), *b = tensor(type, {35});
      Value *y = one("aten.linear.default", {x, w, b});
      return std::vector{
          one("aten.relu.default", {one("aten.add.Tensor", {y, tensor(type, {21, 35})})})};
    });
  onDevice(2e-6, [&] {
    Value *y =
        one("aten.addmm.default", {tensor(f32, {35}), tensor(f32, {21, 18}), tensor(f32, {18, 35})},
            {{"beta", Argument(0.5)}, {"alpha", Argument(2.0)}});
    Value *z = one("aten.addmm.default",
                   {tensor(f32, {21, 1}), tensor(f32, {21, 18}), tensor(f32, {18, 35})},
                   {{"beta", Argument(int64_t(0))}});
    return std::vector{y, z};
  });
  onDevice(0, [&] {
    return std::vector{
        one("aten.mm.default", {tensor(i32, {9, 18}, 50), tensor(i32, {18, 7}, 50)})};
  });
}

// The last product goes where its consumers are, another one before them stays.
TEST_F(InterpretedOperators, productsTakeWhatFollows) {
  auto launches = [&](size_t products) {
    program = Program();
    inputs.clear();
    Value *x = tensor(f32, {21, 18}), *y = nullptr;
    for (size_t i = 0; i < products; ++i) {
      Value *z = one("aten.relu.default", {one("aten.mm.default", {x, tensor(f32, {18, 35})})});
      y = y ? one("aten.mul.Tensor", {y, z}) : z;
    }
    size_t count = lower({y}, hopper).size();
    expectSame(2e-6);
    return count;
  };
  EXPECT_EQ(launches(1), 1u);
  EXPECT_EQ(launches(2), 2u);
}

// Rows that the operands step through unevenly are rows of one product, and what follows a view of
// a product is stored by it.
TEST_F(InterpretedOperators, productsSeenOtherwise) {
  size_t want = 1;
  auto expectLaunches = [&] {
    size_t launches = 0;
    for (const Node &node : program.main)
      launches += node.isLaunch();
    EXPECT_EQ(launches, want) << sources;
  };
  for (DataType type : {f32, bf16}) {
    onDevice(boundOf(type), [&] {
      Value *x = one("aten.transpose.int", {tensor(type, {5, 7, 40}), int64_t(0), int64_t(1)});
      Value *y = one("aten.linear.default", {x, tensor(type, {24, 40}), tensor(type, {24})});
      return std::vector{one("aten.relu.default", {y})};
    });
    expectLaunches();
    // Three heaps of columns, one after the other; rows and columns in another order, with a factor
    // for each column and an addend for each element.
    for (int64_t columns : {24, 128}) {
      onDevice(boundOf(type), [&] {
        Value *x = one("aten.transpose.int", {tensor(type, {5, 7, 40}), int64_t(0), int64_t(1)});
        Value *y = one("aten.linear.default",
                       {x, tensor(type, {3 * columns, 40}), tensor(type, {3 * columns})});
        y = one("aten.view.default", {y, List{7, 5, 3, columns}});
        y = one("aten.permute.default", {y, List{2, 0, 1, 3}});
        return std::vector{
            one("aten.clone.default", {y}, {{"memory_format", Argument("contiguous_format")}})};
      });
      expectLaunches();
    }
    onDevice(2 * boundOf(type), [&] {
      Value *y = one("aten.linear.default", {tensor(type, {2, 6, 5, 40}), tensor(type, {24, 40})});
      y = one("aten.permute.default", {y, List{0, 3, 1, 2}});
      y = one("aten.mul.Tensor", {y, tensor(type, {24, 1, 1})});
      Value *r = one("aten.permute.default", {tensor(type, {2, 6, 5, 24}), List{0, 3, 1, 2}});
      y = one("aten.add.Tensor", {y, r});
      return std::vector{one("aten.permute.default", {y, List{0, 2, 3, 1}})};
    });
    expectLaunches();
  }
  // A long sum in parts.
  want = 2;
  onDevice(1e-5, [&] {
    Value *x = one("aten.transpose.int", {tensor(f32, {2, 3, 2100}, 1), int64_t(0), int64_t(1)});
    Value *y = one("aten.linear.default", {x, tensor(f32, {6, 2100}, 1), tensor(f32, {6})});
    y = one("aten.view.default", {y, List{3, 2, 2, 3}});
    y = one("aten.permute.default", {y, List{2, 0, 1, 3}});
    return std::vector{
        one("aten.clone.default", {y}, {{"memory_format", Argument("contiguous_format")}})};
  });
  expectLaunches();
  // A view that somebody else reads, too, is one of the product's own result.
  onDevice(2e-6, [&] {
    Value *y = one("aten.mm.default", {tensor(f32, {6, 40}), tensor(f32, {40, 24})});
    Value *z = one("aten.view.default", {y, List{6, 2, 12}});
    return std::vector{one("aten.relu.default", {z}), y};
  });
  expectLaunches();
}

// A long sum of few results is shared out.
TEST_F(InterpretedOperators, longSumsAreShared) {
  onDevice(1e-5, [&] {
    return std::vector{
        one("aten.mm.default", {tensor(f32, {3, 2100}, 1), tensor(f32, {2100, 5}, 1)})};
  });
}

// --- convolutions

TEST_F(InterpretedOperators, convolutionsOfAllKinds) {
  struct Kind {
    Shape x, w, stride, padding, dilation, more;
    int64_t groups;
    bool transposed;
  };
  const std::vector<Kind> kinds{
      {{2, 3, 11}, {4, 3, 3}, {1}, {1}, {1}, {0}, 1, false},
      {{2, 3, 11}, {4, 3, 4}, {2}, {0}, {2}, {0}, 1, false},
      {{1, 4, 9, 7}, {6, 2, 3, 3}, {1, 2}, {1, 0}, {1, 1}, {0, 0}, 2, false},
      {{2, 5, 6, 8}, {5, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 5, false},
      {{2, 5, 6, 8}, {7, 5, 1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, 1, false},
      {{1, 2, 5, 6, 4}, {3, 2, 2, 3, 2}, {2, 1, 1}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1, false},
      {{1, 128, 4, 4}, {3, 128, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, false},
      {{2, 3, 6}, {3, 4, 3}, {2}, {1}, {1}, {1}, 1, true},
      {{1, 4, 5, 6}, {4, 3, 3, 2}, {2, 1}, {1, 0}, {1, 2}, {1, 0}, 2, true}};
  for (const Kind &kind : kinds)
    onDevice(2e-6, [&] {
      auto list = [](const Shape &numbers) { return List(numbers.begin(), numbers.end()); };
      Value *x = tensor(f32, kind.x, 2), *w = tensor(f32, kind.w, 2);
      int64_t channels = kind.transposed ? kind.w[1] * kind.groups : kind.w[0];
      return std::vector{one("aten.convolution.default",
                             {x, w, tensor(f32, {channels}), list(kind.stride), list(kind.padding),
                              list(kind.dilation), kind.transposed, list(kind.more), kind.groups})};
    });
}

// Channels innermost: places are the product's rows, and windows beyond a border are masked.
TEST_F(InterpretedOperators, convolutionsOfInnermostChannels) {
  struct Kind {
    Shape x, w, stride, padding, dilation;
    int64_t groups;
    size_t launches; ///< copies of a weight, and of an input with too few channels, besides
  };
  const std::vector<Kind> kinds{{{2, 9, 7, 32}, {24, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 2},
                                {{1, 8, 11, 40}, {17, 40, 3, 2}, {2, 1}, {1, 0}, {1, 2}, 1, 2},
                                {{2, 6, 6, 64}, {8, 64, 1, 1}, {2, 2}, {0, 0}, {1, 1}, 1, 1},
                                {{2, 5, 5, 48}, {20, 48, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1, 1},
                                {{1, 7, 6, 64}, {10, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 2},
                                {{1, 6, 5, 4}, {9, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 4},
                                {{1, 5, 6, 16}, {300, 16, 1, 1}, {1, 1}, {1, 2}, {1, 1}, 1, 2},
                                {{1, 4, 4, 512}, {8, 512, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 3}};
  auto list = [](const Shape &numbers) { return List(numbers.begin(), numbers.end()); };
  for (const Kind &kind : kinds) {
    onDevice(4e-3, [&] {
      Value *x = one("aten.permute.default", {tensor(f16, kind.x, 1), List{0, 3, 1, 2}});
      Value *y = one("aten.convolution.default",
                     {x, tensor(f16, kind.w, 1), tensor(f16, {kind.w[0]}), list(kind.stride),
                      list(kind.padding), list(kind.dilation), false, List{0, 0}, kind.groups});
      Value *z = one("aten.mul.Tensor", {y, tensor(f16, {kind.w[0], 1, 1}, 1)});
      z = one("aten.add.Tensor", {z, z});
      return std::vector{one("aten.permute.default", {z, List{0, 2, 3, 1}})};
    });
    size_t launches = 0;
    for (const Node &node : program.main)
      launches += node.isLaunch();
    EXPECT_EQ(launches, kind.launches) << kind.x[3] << " channels";
  }
}

// Convolutions one after the other hand their channels on innermost, and what each needs otherwise
// is put back: a pool's windows, a view across channels, the results.
TEST_F(InterpretedOperators, channelsStayInnermost) {
  auto build = [&] {
    auto convolve = [&](Value *x, Shape w, int64_t step, int64_t padding, int64_t groups) {
      return one("aten.convolution.default",
                 {x, tensor(f16, std::move(w), 1), Argument(), List{step, step},
                  List{padding, padding}, List{1, 1}, false, List{0, 0}, groups});
    };
    Value *x = convolve(tensor(f16, {2, 3, 12, 12}, 1), {16, 3, 3, 3}, 2, 1, 1);
    x = one("aten.mul.Tensor", {x, tensor(f16, {16, 1, 1}, 1)});
    Value *window =
        one("aten.as_strided.default", {x, List{2, 16, 5, 6}, List{576, 36, 6, 1}, int64_t(6)});
    Value *y = convolve(one("aten.relu.default", {x}), {32, 16, 1, 1}, 1, 0, 1);
    y = convolve(y, {32, 1, 3, 3}, 1, 1, 32);
    Value *gate = one("aten.mean.dim", {y, List{2, 3}, true});
    y = one("aten.mul.Tensor",
            {y, one("aten.sigmoid.default", {convolve(gate, {32, 32, 1, 1}, 1, 0, 1)})});
    Value *z = one("aten.add.Tensor", {convolve(y, {32, 32, 3, 3}, 1, 1, 1), y});
    Value *rows = one("aten.view.default", {z, List{2, 1152}});
    return std::vector{one("aten.relu.default", {window}), one("aten.neg.default", {rows}),
                       one("aten.mean.dim", {z, List{2, 3}, false})};
  };
  withPasses = true;
  onDevice(2e-2, build);
  EXPECT_EQ(changed, 5u);
  size_t kept = 0, convolutions = 0;
  for (const Node &node : program.main)
    convolutions += node.isLaunch() && node.name().find("convolution") != std::string::npos;
  EXPECT_EQ(convolutions, 5u) << "what is put back is copied, not computed again";
  for (const Node &node : program.main)
    if (node.isLaunch() && node.result()->type().rank() == 4)
      kept += node.result()->type().strides[1].constant() == 1;
  EXPECT_GE(kept, 5u);
}

// What turning one convolution's operands costs is not won back by anybody.
TEST_F(InterpretedOperators, oneConvolutionStays) {
  withPasses = true;
  onDevice(2e-2, [&] {
    return std::vector{
        one("aten.convolution.default",
            {tensor(f16, {2, 16, 6, 5}, 1), tensor(f16, {24, 16, 3, 3}, 1), Argument(), List{1, 1},
             List{1, 1}, List{1, 1}, false, List{0, 0}, int64_t(1)})};
  });
  EXPECT_EQ(changed, 0u);
}

// Lines are images of one row: what looks at them the other way round, as encoders of sound do, has
// its rows at hand.
TEST_F(InterpretedOperators, channelsOfLinesLieInnermost) {
  withPasses = true;
  onDevice(2e-2, [&] {
    auto convolve = [&](Value *x, Shape w, int64_t step) {
      int64_t to = w[0];
      return one("aten.convolution.default",
                 {x, tensor(f16, std::move(w), 1), tensor(f16, {to}, 1), List{step}, List{1},
                  List{1}, false, List{0}, int64_t(1)});
    };
    Value *x = convolve(tensor(f16, {2, 16, 31}, 1), {24, 16, 3}, 1);
    x = convolve(one("aten.relu.default", {x}), {40, 24, 3}, 2);
    x = one("aten.permute.default", {one("aten.relu.default", {x}), List{0, 2, 1}});
    x = one("aten.add.Tensor", {x, tensor(f16, {16, 40}, 1)});
    return std::vector{one("aten.linear.default", {x, tensor(f16, {8, 40}, 1)})};
  });
  EXPECT_EQ(changed, 2u);
  size_t convolutions = 0;
  for (const Node &node : program.main)
    if (node.isLaunch() && node.name().find("convolution") != std::string::npos) {
      ++convolutions;
      EXPECT_EQ(node.result()->type().strides.back().constantOr(0) == 1,
                node.result()->type().rank() == 3)
          << node.name();
    }
  EXPECT_EQ(convolutions, 2u);
}

// Few channels to a group: lanes along the last dim or the channels, runs that the size cuts,
// places beyond every border, several channels in or out of a group, and what follows.
TEST_F(InterpretedOperators, convolutionsOfFewChannels) {
  struct Kind {
    Shape x, w, stride, padding, dilation;
  };
  const std::vector<Kind> kinds{
      {{2, 24, 9, 10}, {24, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 17, 8, 13}, {17, 1, 5, 5}, {2, 2}, {2, 2}, {1, 1}},
      {{2, 40, 7, 7}, {40, 1, 7, 7}, {1, 1}, {3, 3}, {1, 1}},
      {{1, 6, 11, 5}, {6, 1, 9, 9}, {1, 1}, {4, 4}, {1, 1}}, // 81 terms
      {{1, 6, 11, 12}, {12, 1, 3, 2}, {3, 2}, {0, 1}, {2, 3}},
      {{1, 8, 13, 13}, {8, 1, 3, 3}, {1, 1}, {0, 0}, {1, 1}}, // a run is cut at the end of memory
      {{2, 12, 6, 9}, {8, 3, 3, 3}, {1, 2}, {1, 1}, {1, 1}},
      {{2, 5, 21}, {5, 1, 4}, {2}, {3}, {1}},
      {{1, 4, 4, 5, 6}, {4, 1, 3, 2, 3}, {1, 1, 2}, {1, 0, 1}, {1, 1, 1}}};
  auto list = [](const Shape &numbers) { return List(numbers.begin(), numbers.end()); };
  for (const Kind &kind : kinds)
    for (bool isLast : {false, true})
      for (DataType type : {f32, bf16}) {
        if (isLast && kind.x.size() != 4)
          continue;
        onDevice(boundOf(type), [&] {
          Shape shape = kind.x;
          if (isLast)
            shape = {shape[0], shape[2], shape[3], shape[1]};
          Value *x = tensor(type, shape, 2), *w = tensor(type, kind.w, 2);
          if (isLast)
            x = one("aten.permute.default", {x, List{0, 3, 1, 2}});
          Value *y = one("aten.convolution.default",
                         {x, w, tensor(type, {kind.w[0]}), list(kind.stride), list(kind.padding),
                          list(kind.dilation), false,
                          List(kind.stride.size(), Argument(int64_t(0))), kind.x[1] / kind.w[1]});
          return std::vector{isLast ? one("aten.permute.default", {y, List{0, 2, 3, 1}}) : y};
        });
        EXPECT_EQ(sources.find("zeros"), sources.find("zeros([")) << "a border is a mask";
      }
  // The bias, a factor for each channel and an addend for each element are one launch with it.
  for (DataType type : {f32, f16})
    onDevice(boundOf(type) * 4, [&] {
      Value *y = one("aten.convolution.default",
                     {tensor(type, {2, 6, 9, 10}, 2), tensor(type, {6, 1, 3, 3}, 2), Argument(),
                      List{1, 1}, List{1, 1}, List{1, 1}, false, List{0, 0}, int64_t(6)});
      y = one("aten.mul.Tensor", {y, tensor(type, {6, 1, 1})});
      return std::vector{
          one("aten.relu.default", {one("aten.add.Tensor", {y, tensor(type, {2, 6, 9, 10})})})};
    });
  size_t launches = 0;
  for (const Node &node : program.main)
    launches += node.isLaunch();
  EXPECT_EQ(launches, 1u);
}

// --- attention

TEST_F(InterpretedOperators, attentionOfAllKinds) {
  struct Kind {
    int64_t heads, keyHeads, queries, keys, width;
    bool causal, masked;
    Shape mask;
    DataType maskType = f32;
  };
  const std::vector<Kind> kinds{{2, 2, 19, 37, 16, false, false, {}},
                                {2, 2, 37, 37, 20, true, false, {}},
                                {4, 2, 5, 33, 16, false, false, {}},
                                {2, 2, 1, 50, 16, false, false, {}},
                                {2, 2, 19, 37, 16, false, true, {19, 37}},
                                {2, 2, 19, 37, 16, false, true, {1, 2, 1, 37}},
                                {2, 2, 19, 37, 16, false, true, {19, 1}},
                                {2, 2, 19, 37, 16, false, true, {19, 37}, boolean},
                                {2, 2, 1, 37, 16, false, true, {1, 37}, boolean},
                                {2, 2, 1, 37, 16, false, true, {1, 1}},
                                {4, 1, 1, 300, 8, false, true, {1, 300}}};
  for (const Kind &kind : kinds)
    for (DataType type : {f32, f16})
      onBoth(type == f16 ? 4e-3 : 1e-5, [&] {
        Value *q = tensor(type, {1, kind.heads, kind.queries, kind.width}, 1),
              *k = tensor(type, {1, kind.keyHeads, kind.keys, kind.width}, 1),
              *v = tensor(type, {1, kind.keyHeads, kind.keys, kind.width}, 1);
        Argument mask;
        if (kind.masked)
          mask = kind.maskType == boolean
                     ? Argument(one("aten.ge.Scalar", {tensor(f32, kind.mask), -3.0}))
                     : Argument(tensor(type, kind.mask, 2));
        return std::vector{one("aten.scaled_dot_product_attention.default",
                               {q, k, v, mask, 0.0, kind.causal},
                               {{"enable_gqa", Argument(kind.heads != kind.keyHeads)}})};
      });
}

// Programs that go through several tiles, whole ones and ones cut in every dim, with what follows.
TEST_F(InterpretedOperators, programsOfSeveralTiles) {
  struct Kind {
    int64_t batch, m, n, k, programs;
  };
  for (const Kind &kind : {Kind{3, 37, 70, 40, 4}, Kind{1, 64, 64, 32, 3}, Kind{2, 33, 20, 16, 2},
                           Kind{1, 70, 33, 50, 16}}) {
    const auto [batch, m, n, k, programs] = kind;
    SCOPED_TRACE(m);
    SymbolTable symbols;
    GemmSpec spec;
    spec.name = "product";
    spec.batch = {batch};
    spec.m = m, spec.n = n, spec.k = k;
    spec.rows = {m}, spec.columns = {n}, spec.depth = {k};
    spec.a = {f16, {m * k, k, 1}};
    spec.b = {f16, {k * n, 1, k}}; // n down, k across
    spec.output = {f16, {m * n, n, 1}};
    spec.type = f16;
    spec.body = {{"v0", "tl.maximum(product, 0.0)"}};
    spec.result = "v0";
    ProductTile tile{.m = 16, .n = 32, .k = 16, .warps = 4, .stages = 3, .programs = programs};
    KernelText text = writeProduct(spec, tile, m, symbols);
    KernelDef kernel = driver::textCompiler(context)(text, {f16, f16, f16},
                                                     {Access::Read, Access::Read, Access::Write});
    inputs.clear();
    tensor(f16, {batch, m, k}, 2), tensor(f16, {batch, n, k}, 2), tensor(f16, {batch, m, n}, 2);
    std::vector<LaunchOperand> operands{{"p0", {}}, {"p1", {}}, {"o0", {}}};
    std::vector<reference::LaunchArgument> arguments;
    for (size_t i = 0; i < 3; ++i)
      arguments.push_back({operands[i], inputs[i]});
    interpret(kernel, {*text.grid.constant(), 1, 1}, arguments);
    ASSERT_FALSE(HasNonfatalFailure()) << text.source;
    EXPECT_LE(*text.grid.constant(), programs);
    const Tensor &made = std::get<Tensor>(arguments[2].value);
    Tensor::forEachIndex({batch, m, n}, [&](std::span<const int64_t> at) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += values(0).real(Shape{at[0], at[1], i}) * values(1).real(Shape{at[0], at[2], i});
      ASSERT_NEAR(made.real(at), std::max(sum, 0.0), 2e-3 * std::max(1.0, std::abs(sum)))
          << text.source;
    });
  }
}

// --- slices of what is computed

// A pool as it is traced: the largest of each window along one dim, then along the next, of parts
// where some windows begin before the tensor. Its first half is never in memory.
TEST_F(InterpretedOperators, slicesAreComputedOfSlices) {
  withPasses = true;
  auto list = [](const Shape &numbers) { return List(numbers.begin(), numbers.end()); };
  auto view = [&](Value *x, Shape size, Shape apart, int64_t offset) {
    return one("aten.as_strided.default", {x, list(size), list(apart), offset});
  };
  // Windows of three with a step of two along `dim`, the first of which begins outside.
  auto largest = [&](Value *x, Shape size, size_t dim, int64_t step) {
    Shape apart(size.size(), 1);
    for (size_t d = size.size() - 1; d-- > 0;)
      apart[d] = apart[d + 1] * size[d + 1];
    Shape out = size, part = size, first = size, jump = apart;
    out[dim] = (size[dim] - 1) / step + 1;
    first[dim] = 1;
    jump[dim] *= step;
    part[dim] = out[dim] - 1;
    Value *outside = one("aten.new_full.default", {x, list(first), -1e4});
    Value *before = view(x, part, jump, apart[dim] * (step - 1));
    Value *most = one("aten.cat.default", {List{outside, before}, static_cast<int64_t>(dim)});
    most = one("aten.maximum.default", {most, view(x, out, jump, 0)});
    if (step == 2 && size[dim] % 2 == 0)
      most = one("aten.maximum.default", {most, view(x, out, jump, apart[dim])});
    return std::pair{most, out};
  };
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  for (DataType type : {f16, f32})
    for (const Shape &shape : {Shape{2, 3, 8, 10}, Shape{1, 2, 6, 70}, Shape{2, 1, 4, 6}}) {
      onDevice(0, [&] {
        auto [rows, size] = largest(tensor(type, shape), shape, 2, 2);
        return std::vector<Value *>{largest(rows, size, 3, 2).first};
      });
      EXPECT_EQ(slicesComputed, 1u);
      EXPECT_EQ(launches(), 1u);
    }
  // Joins of joins along one dim.
  onDevice(0, [&] {
    Value *a = tensor(f32, {3, 5}), *b = tensor(f32, {3, 2}), *c = tensor(f32, {3, 4});
    Value *inner = one("aten.cat.default", {List{one("aten.neg.default", {a}), b}, 1});
    inner = one("aten.mul.Tensor", {inner, tensor(f32, {7})});
    return std::vector<Value *>{
        one("aten.abs.default", {one("aten.cat.default", {List{c, inner, b}, 1})})};
  });
  EXPECT_EQ(launches(), 1u);
  // Nearly three times as many elements would be computed.
  onDevice(0, [&] {
    auto [rows, size] = largest(tensor(f32, {2, 3, 8, 9}), {2, 3, 8, 9}, 2, 2);
    Value *whole = view(rows, {2, 3, 4, 9}, {108, 36, 9, 1}, 0);
    return std::vector<Value *>{
        one("aten.maximum.default", {largest(rows, size, 3, 1).first, whole})};
  });
  EXPECT_EQ(slicesComputed, 0u);
  // What a result holds is in memory anyway.
  onDevice(0, [&] {
    auto [rows, size] = largest(tensor(f32, {2, 3, 8, 10}), {2, 3, 8, 10}, 2, 2);
    return std::vector<Value *>{largest(rows, size, 3, 2).first, rows};
  });
  EXPECT_EQ(slicesComputed, 0u);
}

// What is taken along dims is loaded from where it is by the operators behind it; an index that is
// out of range fails as it does alone.
TEST_F(InterpretedOperators, takesAreLoadsOfTheOperatorsBehind) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  for (DataType type : {f32, f16})
    for (const auto &shape : {Shape{3, 5, 7}, Shape{2, 4, 300}, Shape{6, 1030, 2}}) {
      auto taken = [&, shape](Value *x, int64_t dim, int64_t count) {
        return one("aten.index_select.default",
                   {x, dim, tensor(i64, {count}, shape[static_cast<size_t>(dim)])});
      };
      // Two neighbours and their shares, along the last dim and along the one before it.
      for (int64_t dim : {2, 1}) {
        onDevice(boundOf(type), [&] {
          Value *x = tensor(type, shape);
          Value *share = dim == 2 ? tensor(type, {9}) : tensor(type, {9, 1});
          Value *low = taken(x, dim, 9), *high = taken(x, dim, 9);
          return std::vector<Value *>{
              one("aten.add.Tensor",
                  {one("aten.mul.Tensor", {low, share}), one("aten.mul.Tensor", {high, share})})};
        });
        EXPECT_EQ(launches(), 1u);
      }
      // Along all dims, one after the other.
      onDevice(0, [&] {
        Value *x = taken(taken(taken(tensor(type, shape), 1, 6), 2, 8), 0, 5);
        return std::vector<Value *>{one("aten.neg.default", {x})};
      });
      EXPECT_EQ(launches(), 1u);
      onDevice(0,
               [&] { return std::vector<Value *>{taken(taken(tensor(type, shape), 1, 6), 2, 8)}; });
      EXPECT_EQ(launches(), 1u);
    }
  // Indices and elements that other operators of the same shape read as well.
  onDevice(boundOf(f32), [&] {
    Value *x = one("aten.abs.default", {tensor(f32, {9})}),
          *at = one("aten.remainder.Scalar", {tensor(i64, {9}, 9), 9});
    Value *some = one("aten.index_select.default", {x, int64_t(0), at});
    return std::vector<Value *>{one("aten.add.Tensor", {one("aten.add.Tensor", {some, x}), at})};
  });
  // Beside other views of the same tensor, and in turned rows.
  onDevice(boundOf(f32), [&] {
    Value *x = tensor(f32, {9, 9});
    Value *some = one("aten.index_select.default", {x, int64_t(0), tensor(i64, {9}, 9)});
    return std::vector<Value *>{
        one("aten.add.Tensor", {some, one("aten.transpose.int", {x, 0, 1})})};
  });
}

// A norm of groups goes on with what each channel has of its own, which lie in parts of its rows.
TEST_F(InterpretedOperators, normsOfGroupsGoOnWithChannels) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  auto norm = [&](DataType type, Shape shape, int64_t groups) {
    return [=, this] {
      int64_t length = 1;
      for (int64_t extent : shape)
        length *= extent;
      length /= shape[0] * groups;
      List channels{1, shape[1]}, whole;
      for (size_t d = 2; d < shape.size(); ++d)
        channels.push_back(1);
      for (int64_t extent : shape)
        whole.push_back(extent);
      Value *x = one("aten.view.default", {tensor(type, shape), List{shape[0], groups, length}});
      Value *y = one("aten.layer_norm.default", {x, List{length}, Argument(), Argument(), 1e-5});
      y = one("aten.view.default", {y, whole});
      Value *weight = one("aten.view.default", {tensor(type, {shape[1]}), channels}),
            *bias = one("aten.view.default", {tensor(type, {shape[1]}), channels});
      y = one("aten.add.Tensor", {one("aten.mul.Tensor", {y, weight}), bias});
      return std::vector<Value *>{
          one("aten.add.Tensor", {one("aten.silu.default", {y}), tensor(type, shape)})};
    };
  };
  for (DataType type : {f32, f16}) {
    onDevice(5 * boundOf(type), norm(type, {3, 8, 5, 7}, 2));
    EXPECT_EQ(launches(), 1u);
    onDevice(5 * boundOf(type), norm(type, {2, 6, 40, 30}, 3));
    EXPECT_EQ(launches(), 1u);
    onDevice(5 * boundOf(type), norm(type, {1, 12, 4, 4}, 12));
    EXPECT_EQ(launches(), 1u);
    onDevice(5 * boundOf(type), norm(type, {2, 4, 9}, 1));
  }
}

// A kernel as long as its step: a product and a copy, nothing between the elements.
TEST_F(InterpretedOperators, transposedConvolutionsOfBlocksAreProducts) {
  withPasses = true;
  for (bool biased : {false, true})
    for (DataType type : {f32, f16}) {
      onDevice(boundOf(type), [&] {
        Argument bias = biased ? Argument(tensor(type, {5})) : Argument();
        return std::vector<Value *>{
            one("aten.convolution.default",
                {tensor(type, {2, 8, 7, 9}), tensor(type, {8, 5, 2, 3}), bias, List{2, 3},
                 List{0, 0}, List{1, 1}, true, List{0, 0}, 1})};
      });
      EXPECT_EQ(replaced, 1u);
      onDevice(boundOf(type), [&] {
        Argument bias = biased ? Argument(tensor(type, {6})) : Argument();
        return std::vector<Value *>{
            one("aten.convolution.default", {tensor(type, {3, 4, 11}), tensor(type, {4, 6, 4}),
                                             bias, List{4}, List{0}, List{1}, true, List{0}, 1})};
      });
      EXPECT_EQ(replaced, 1u);
    }
  onDevice(boundOf(f32), [&] {
    return std::vector<Value *>{
        one("aten.convolution.default",
            {tensor(f32, {2, 4, 7, 9}), tensor(f32, {4, 5, 2, 2}), Argument(), List{2, 2},
             List{0, 1}, List{1, 1}, true, List{0, 0}, 1})};
  });
  EXPECT_EQ(replaced, 0u);
}

// Rows are read once by what reduces them and what goes on from the results; short ones share a
// program.
TEST_F(InterpretedOperators, regionsOfRowsAreOneLaunch) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  auto sum = [&](Value *x, bool keeps) {
    return one("aten.sum.dim_IntList", {x, List{int64_t(-1)}, keeps});
  };
  for (int64_t length : {3, 16, 300, 1000})
    for (DataType type : {f32, bf16}) {
      double bound = type == f32 ? 1e-5 : 2e-2;
      // Divided by a norm, with a factor for each column and a number for each row.
      onDevice(bound, [&] {
        Value *x = tensor(type, {70, length}), *w = tensor(type, {length}),
              *c = tensor(type, {70, 1});
        Value *norm = one("aten.sqrt.default", {sum(one("aten.mul.Tensor", {x, x}), true)});
        Value *y = one("aten.div.Tensor", {x, one("aten.add.Scalar", {norm, 1.0})});
        return std::vector<Value *>{one("aten.add.Tensor", {one("aten.mul.Tensor", {y, w}), c})};
      });
      EXPECT_EQ(launches(), 1u);
      // What is left of the mean, by the largest of what is left; results without the dim, seen
      // with it.
      onDevice(bound, [&] {
        Value *x = tensor(type, {10, 7, length});
        Value *mean = one("aten.mean.dim", {x, List{int64_t(-1)}});
        Value *rest = one("aten.sub.Tensor", {x, one("aten.unsqueeze.default", {mean, -1})});
        Value *most =
            one("aten.amax.default", {one("aten.abs.default", {rest}), List{int64_t(-1)}, true});
        return std::vector<Value *>{
            one("aten.div.Tensor", {rest, one("aten.add.Scalar", {most, 1.0})})};
      });
      EXPECT_EQ(launches(), 1u);
      // Three sums of two tensors.
      onDevice(bound, [&] {
        Value *x = tensor(type, {70, length}), *y = tensor(type, {70, length});
        Value *both = sum(one("aten.mul.Tensor", {x, y}), false),
              *first = sum(one("aten.mul.Tensor", {x, x}), false),
              *second = sum(one("aten.mul.Tensor", {y, y}), false);
        Value *size = one("aten.add.Scalar", {one("aten.mul.Tensor", {first, second}), 1.0});
        return std::vector<Value *>{
            one("aten.div.Tensor", {both, one("aten.sqrt.default", {size})})};
      });
      EXPECT_EQ(launches(), 1u);
    }
  // As many rows as columns: what has one number of each row without its dim is one of each column.
  onDevice(1e-5, [&] {
    Value *x = tensor(f32, {64, 64});
    return std::vector<Value *>{one("aten.sub.Tensor", {x, sum(x, false)})};
  });
  // A sum that something else reads, too, and rows that are across the memory.
  onDevice(1e-5, [&] {
    Value *x = tensor(f32, {70, 30}), *total = sum(x, true);
    return std::vector<Value *>{one("aten.div.Tensor", {x, one("aten.abs.default", {total})}),
                                one("aten.neg.default", {total})};
  });
  onDevice(1e-5, [&] {
    Value *x = turned(f32, {70, 30});
    return std::vector<Value *>{one("aten.sub.Tensor", {x, sum(x, true)})};
  });
  EXPECT_EQ(launches(), 2u);
}

// Parts that begin at whole vectors are copied by one launch, others by one each.
TEST_F(InterpretedOperators, partsThatLieInVectorsAreOneLaunch) {
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  auto joined = [&](Shape first, Shape second, int64_t dim) {
    return [=, this] {
      return std::vector<Value *>{
          one("aten.cat.default", {List{tensor(f32, first), tensor(f32, second)}, dim})};
    };
  };
  onDevice(0, joined({6, 16}, {6, 36}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({3, 7}, {5, 7}, 0));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({2, 3, 5}, {2, 1, 5}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({6, 50}, {6, 70}, 1));
  EXPECT_EQ(launches(), 2u);
  // Few elements of each part would be a part of each sector.
  onDevice(0, joined({6, 5}, {6, 7}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({40, 1}, {40, 1}, 1));
  EXPECT_EQ(launches(), 1u);
  onDevice(0, [&] {
    List parts;
    for (int64_t size : {16, 4, 32, 100, 8, 4})
      parts.push_back(tensor(f32, {3, size}));
    return std::vector<Value *>{one("aten.cat.default", {parts, 1})};
  });
  EXPECT_EQ(launches(), 1u);
  onDevice(0, joined({0, 7}, {5, 7}, 0)); // without elements there is no such part
}

// --- idioms

TEST_F(InterpretedOperators, normsThatAreWrittenOut) {
  withPasses = true;
  Argument wide(f32), narrow(bf16);
  auto square = [&](Value *x) { return one("aten.pow.Tensor_Scalar", {x, int64_t(2)}); };
  auto root = [&](Value *y, int64_t dim, double epsilon) {
    Value *mean = one("aten.mean.dim", {y, List{dim}, true});
    return one("aten.rsqrt.default", {one("aten.add.Tensor", {mean, epsilon})});
  };
  auto launches = [&] {
    size_t count = 0;
    for (const Node &node : program.main)
      count += node.isLaunch();
    return count;
  };
  // As Llama and T5 have it: what is multiplied is the wide one or the narrow one.
  for (bool isWide : {true, false}) {
    onDevice(boundOf(bf16), [&] {
      Value *x = tensor(bf16, {2, 5, 40}), *y = one("aten.to.dtype", {x, wide});
      y = one("aten.mul.Tensor", {isWide ? y : x, root(square(y), -1, 1e-6)});
      y = one("aten.to.dtype", {y, narrow});
      return std::vector{one("aten.mul.Tensor", {tensor(bf16, {40}), y})};
    });
    EXPECT_EQ(replaced, 1u);
    EXPECT_EQ(launches(), 1u);
  }
  onDevice(2e-6, [&] {
    Value *x = tensor(f32, {5, 40});
    return std::vector{one("aten.mul.Tensor", {root(one("aten.mul.Tensor", {x, x}), 1, 0.5), x})};
  });
  EXPECT_EQ(replaced, 1u);
  // Another dim, another factor, another power, squares that are rounded, a result that is not.
  const std::vector<std::function<Value *()>> others{
      [&] {
        Value *x = tensor(f32, {5, 40});
        return one("aten.mul.Tensor", {x, root(square(x), 0, 1e-6)});
      },
      [&] {
        Value *x = tensor(f32, {5, 40});
        return one("aten.mul.Tensor", {tensor(f32, {5, 40}), root(square(x), 1, 1e-6)});
      },
      [&] {
        Value *x = tensor(f32, {5, 40});
        Value *fourth = one("aten.pow.Tensor_Scalar", {x, int64_t(4)});
        return one("aten.mul.Tensor", {x, root(fourth, 1, 1e-6)});
      },
      [&] {
        Value *x = tensor(bf16, {5, 40});
        return one("aten.mul.Tensor", {x, root(square(x), 1, 0.5)});
      },
      [&] {
        Value *x = tensor(bf16, {5, 40}), *y = one("aten.to.dtype", {x, wide});
        return one("aten.mul.Tensor", {y, root(square(y), 1, 1e-6)});
      }};
  for (const auto &other : others) {
    onDevice(boundOf(bf16), [&] { return std::vector{other()}; });
    EXPECT_EQ(replaced, 0u);
  }
}

TEST_F(InterpretedOperators, keysThatAreRepeated) {
  withPasses = true;
  auto spread = [&](Value *x, int64_t times, int64_t dim) {
    const std::vector<Expr> shape = x->type().shape;
    List wide(shape.begin(), shape.end()), flat = wide;
    wide.insert(wide.begin() + dim, times);
    x = one("aten.expand.default", {one("aten.unsqueeze.default", {x, dim}), wide});
    x = one("aten.clone.default", {x}, {{"memory_format", Argument("contiguous_format")}});
    flat[1] = *shape[1].constant() * times;
    return one("aten.view.default", {x, flat});
  };
  // Heads one after the other share keys; heads that are a group apart do not.
  for (bool isGrouped : {true, false}) {
    onDevice(4e-3, [&] {
      Value *q = tensor(f16, {2, 6, 19, 16}, 1), *k = tensor(f16, {2, 3, 37, 16}, 1),
            *v = tensor(f16, {2, 3, 37, 16}, 1);
      int64_t dim = isGrouped ? 2 : 1;
      return std::vector{one("aten.scaled_dot_product_attention.default",
                             {q, spread(k, 2, dim), spread(v, 2, dim)})};
    });
    EXPECT_EQ(replaced, isGrouped ? 1u : 0u);
  }
}

// --- rows

TEST_F(InterpretedOperators, rowsOfAllLengths) {
  for (const Shape &shape : std::vector<Shape>{{5, 1}, {3, 7}, {4, 130}, {2, 1300}, {2, 3, 5000}})
    for (DataType type : {f32, f16}) {
      onBoth(boundOf(type) * 2, [&] {
        Value *x = tensor(type, shape);
        return std::vector{one("aten.softmax.int", {x, -1}), one("aten.log_softmax.int", {x, -1})};
      });
      onBoth(type == f16 ? 8e-3 : 2e-5, [&] {
        Value *x = tensor(type, shape), *w = tensor(type, {shape.back()}),
              *b = tensor(type, {shape.back()});
        return std::vector{
            one("aten.layer_norm.default", {x, List{shape.back()}, w, b, 0.01}),
            one("aten.rms_norm.default", {x, List{shape.back()}, w, 0.01}),
            one("aten.layer_norm.default", {x, List{shape.back()}, Argument(), Argument(), 0.01})};
      });
    }
}

TEST_F(InterpretedOperators, rowsOfAllStrides) {
  for (int64_t dim : {0, 1, 2})
    onBoth(4e-6,
           [&] { return std::vector{one("aten.softmax.int", {tensor(f32, {9, 11, 6}), dim})}; });
  onBoth(4e-6, [&] {
    return std::vector{one("aten.softmax.int", {turned(f32, {9, 70}), -1}),
                       one("aten.softmax.int", {sliced(f32, {9, 70}), -1}),
                       one("aten.log_softmax.int", {turned(f32, {9, 70}), 0})};
  });
  onBoth(2e-5, [&] {
    Value *x = tensor(f32, {5, 6, 7}), *w = tensor(f32, {6, 7});
    return std::vector{one("aten.layer_norm.default", {x, List{6, 7}, w, w, 0.01})};
  });
}

// --- reductions

TEST_F(InterpretedOperators, reductionsOfAllKinds) {
  const char *const ofDims[] = {"aten.sum.dim_IntList", "aten.mean.dim",
                                "aten.amax.default",    "aten.amin.default",
                                "aten.var.correction",  "aten.std.correction"};
  const char *const ofOne[] = {"aten.argmax.default", "aten.argmin.default", "aten.prod.dim_int",
                               "aten.any.dim", "aten.all.dim"};
  for (const Shape &shape : std::vector<Shape>{{3, 5, 7}, {2, 1, 300}, {300, 2, 3}, {6, 130, 9}})
    for (int64_t dim : {0, 1, 2})
      onBoth(2e-5, [&] {
        Value *x = tensor(f32, shape, 1);
        std::vector<Value *> results;
        for (const char *target : ofDims)
          results.push_back(one(target, {x, List{dim}}));
        for (const char *target : ofOne)
          results.push_back(one(target, {x, dim}));
        return results;
      });
  for (const List &dims : std::vector<List>{{0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    onBoth(2e-5, [&] {
      Value *x = tensor(f32, {6, 5, 40}, 1), *y = turned(f32, {6, 5, 40});
      return std::vector{one("aten.sum.dim_IntList", {x, dims, true}),
                         one("aten.amax.default", {y, dims}), one("aten.mean.dim", {y, dims}),
                         one("aten.var.correction", {x, dims})};
    });
}

TEST_F(InterpretedOperators, reductionsOfAllTypes) {
  for (DataType type : {f64, f16, bf16, i64, i8})
    onBoth(isFloat(type) ? boundOf(type) : 0, [&] {
      Value *x = tensor(type, {9, 70});
      return std::vector{one("aten.sum.dim_IntList", {x, List{1}}),
                         one("aten.amax.default", {x, List{0}}), one("aten.argmin.default", {x, 1}),
                         one("aten.any.dim", {x, 1})};
    });
  // The first of equal ones, the first NaN, and -inf among them.
  for (double special : {nan, HUGE_VAL, -HUGE_VAL})
    onBoth(0, [&] {
      Value *x = tensor(f32, {70, 9}, 1);
      for (int64_t at : {3, 40})
        values(0).set(Shape{at, 4}, special);
      std::vector<Value *> results;
      for (int64_t dim : {0, 1}) {
        for (const char *target : {"aten.argmax.default", "aten.argmin.default"})
          results.push_back(one(target, {x, dim}));
        for (const char *target : {"aten.amax.default", "aten.amin.default"})
          results.push_back(one(target, {x, List{dim}}));
      }
      for (const char *target : {"aten.max.dim", "aten.min.dim"})
        for (Value *result : two(call(target, {x, 0})))
          results.push_back(result);
      return results;
    });
}

// --- scans and orders

TEST_F(InterpretedOperators, runningSums) {
  for (const Shape &shape : std::vector<Shape>{{3, 7}, {2, 1100}, {1, 9000}, {9000, 2}, {3, 70, 5}})
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      onBoth(1e-5, [&] {
        return std::vector{one("aten.cumsum.default", {tensor(f32, shape, 1), dim}),
                           one("aten.cumsum.default", {tensor(i32, shape), dim})};
      });
  onBoth(1e-5, [&] {
    Value *x =
        one("aten.add.Scalar", {one("aten.mul.Scalar", {tensor(f32, {4, 40}, 1), 0.01}), 1.0});
    return std::vector{one("aten.cumprod.default", {x, 1}), one("aten.cumprod.default", {x, 0}),
                       one("aten.cumsum.default", {turned(f32, {9, 70}), 1}),
                       one("aten.cumsum.default", {sliced(f32, {9, 70}), 1})};
  });
}

TEST_F(InterpretedOperators, ordersOfAllLengths) {
  for (int64_t length : {1, 2, 5, 33, 129, 300, 700})
    for (bool descending : {false, true})
      for (DataType type : {f32, i64, i8}) {
        if (length > 200 && type == i64 && descending)
          continue;
        onBoth(0, [&] {
          Value *x = tensor(type, {2, length}, 3);
          if (type == f32 && length > 4) {
            values(0).set(Shape{1, 2}, nan);
            values(0).set(Shape{1, length - 1}, -HUGE_VAL);
          }
          return two(call("aten.sort.stable", {x},
                          {{"stable", Argument(true)}, {"descending", Argument(descending)}}));
        });
        onBoth(0, [&] {
          Value *x = tensor(type, {2, length}, 3);
          return two(call("aten.topk.default", {x, std::min<int64_t>(length, 4), -1, descending}));
        });
      }
  onBoth(0, [&] {
    return two(call("aten.sort.stable", {tensor(f32, {40, 3})},
                    {{"stable", Argument(true)}, {"dim", Argument(int64_t(0))}}));
  });
}

// Lines that a program holds are sorted in one launch.
TEST_F(InterpretedOperators, shortLinesTakeOneLaunch) {
  auto launches = [&](int64_t length) {
    program = Program();
    inputs.clear();
    Node *sorted =
        call("aten.sort.stable", {tensor(f32, {2, length})}, {{"stable", Argument(true)}});
    return lower(two(sorted), hopper).size();
  };
  EXPECT_EQ(launches(5), 1u);
  EXPECT_EQ(launches(256), 1u);
  EXPECT_EQ(launches(8192), 1u);
  EXPECT_GT(launches(8193), 1u);
}

// --- gathers and scatters

TEST_F(InterpretedOperators, gathersOfAllKinds) {
  onBoth(0, [&] {
    Value *x = tensor(f32, {7, 9, 5}), *rows = tensor(i64, {4, 3}, 7),
          *columns = tensor(i64, {3}, 9);
    Value *below = one("aten.sub.Scalar", {rows, 7});
    return std::vector{one("aten.index.Tensor", {x, List{rows}}),
                       one("aten.index.Tensor", {x, List{below}}),
                       one("aten.index.Tensor", {x, List{rows, columns}}),
                       one("aten.index.Tensor", {x, List{Argument(), columns}}),
                       one("aten.index.Tensor", {x, List{rows, Argument(), tensor(i64, {3}, 5)}}),
                       one("aten.index_select.default", {x, 1, columns}),
                       one("aten.embedding.default", {tensor(f32, {7, 70}), rows})};
  });
  for (int64_t dim : {0, 1})
    onBoth(0, [&] {
      return std::vector{
          one("aten.gather.default", {turned(f32, {7, 7}), dim, tensor(i64, {5, 6}, 7)})};
    });
}

TEST_F(InterpretedOperators, scattersOfAllKinds) {
  for (int64_t dim : {0, 1}) {
    onBoth(2e-6, [&] {
      Value *x = tensor(f32, {9, 9}), *at = tensor(i64, {4, 5}, 9), *from = tensor(f32, {4, 5});
      return std::vector{one("aten.scatter_add.default", {x, dim, at, from}),
                         one("aten.scatter.value", {x, dim, at, 2.5})};
    });
    onBoth(2e-6, [&] {
      Value *x = tensor(f32, {9, 9}), *at = tensor(i64, {4}, 9);
      Value *from = tensor(f32, dim ? Shape{9, 4} : Shape{4, 9});
      return std::vector{
          one("aten.index_add.default", {x, dim, at, from}, {{"alpha", Argument(2.0)}}),
          one("aten.index_fill.int_Scalar", {x, dim, at, 1.5}),
          one("aten.index_copy.default", {x, dim, at, from})};
    });
  }
  for (bool accumulate : {false, true})
    for (DataType type : {f32, f16, i32})
      onBoth(type == f16 ? 1e-2 : 2e-6, [&] {
        Value *x = tensor(type, {7, 9}), *rows = tensor(i64, {60}, 7),
              *columns = tensor(i64, {60}, 9);
        return std::vector{
            one("aten.index_put.default", {x, List{rows, columns}, tensor(type, {60}), accumulate}),
            one("aten.index_put.default",
                {x, List{Argument(), columns}, tensor(type, {7, 60}), accumulate}),
            one("aten.index_put.default", {x, List{rows}, tensor(type, {1}), accumulate})};
      });
}

// --- element by element

TEST_F(InterpretedOperators, elementsOfAllStrides) {
  onBoth(2e-6, [&] {
    Value *x = tensor(f32, {6, 70}), *column = tensor(f32, {6, 1}), *row = tensor(f32, {70});
    Value *y = turned(f32, {6, 70}), *z = sliced(f32, {6, 70});
    Value *scalar = tensor(f32, {});
    Value *sum = one("aten.add.Tensor",
                     {one("aten.mul.Tensor", {x, column}), one("aten.mul.Tensor", {y, row})});
    return std::vector{one("aten.add.Tensor", {sum, one("aten.mul.Tensor", {z, scalar})}),
                       one("aten.maximum.default", {y, z}),
                       one("aten.where.self", {one("aten.gt.Tensor", {x, row}), y, column})};
  });
  onBoth(0, [&] {
    Value *x = tensor(f32, {70, 45}), *y = tensor(f32, {5, 33, 40});
    auto dense = [&](Value *value) {
      return one("aten.clone.default", {value}, {{"memory_format", Argument("contiguous_format")}});
    };
    return std::vector{dense(one("aten.t.default", {x})),
                       dense(one("aten.permute.default", {y, List{2, 0, 1}})),
                       dense(one("aten.permute.default", {y, List{0, 2, 1}})),
                       dense(one("aten.expand.default", {tensor(f32, {3, 1, 5}), List{3, 4, 5}}))};
  });
  onBoth(0, [&] {
    Value *x = tensor(f32, {3, 5}), *y = tensor(f32, {3, 7}), *z = turned(f32, {3, 5});
    return std::vector{one("aten.cat.default", {List{x, y, z}, 1}),
                       one("aten.stack.default", {List{x, z}, 1}),
                       one("aten.cat.default", {List{x, z}, 0}),
                       one("aten.repeat.default", {x, List{2, 2, 3}}),
                       one("aten.slice_scatter.default", {y, x, 1, 1, 6}),
                       one("aten.select_scatter.default", {x, tensor(f32, {3}), 1, 2})};
  });
}

TEST_F(InterpretedOperators, boundsAndTypesOfElements) {
  onBoth(0, [&] {
    Value *x = tensor(i8, {300}, 100), *y = tensor(i64, {300}, 1000);
    return std::vector{one("aten.clamp.default", {x, -300, 50}),
                       one("aten.clamp.default", {x, 20, 300}),
                       one("aten.clamp_min.default", {x, 100}),
                       one("aten.add.Scalar", {x, 300}),
                       one("aten.to.dtype", {y, i8}),
                       one("aten.to.dtype", {y, boolean}),
                       one("aten.floor_divide.default",
                           {one("aten.sub.Scalar", {y, 500}), one("aten.add.Scalar", {x, 1})}),
                       one("aten.remainder.Scalar", {one("aten.sub.Scalar", {y, 500}), 7}),
                       one("aten.fmod.Scalar", {one("aten.sub.Scalar", {y, 500}), 7})};
  });
  onBoth(2e-6, [&] {
    Value *n = one("aten.arange.start_step", {3, 100, 7}, {{"dtype", Argument(f32)}});
    return std::vector{one("aten.mul.Tensor", {n, one("aten.full_like.default", {n, 2.5})}),
                       one("aten.arange.default", {300}, {{"dtype", Argument(i64)}})};
  });
}

} // namespace
} // namespace pellucid::passes
