// SPDX-License-Identifier: Apache-2.0
// Convolutions as kernels, of every order of their dims.
#include "InterpretedOperators.h"
#include "passes/graph/PatchProducts.h"

namespace pellucid::passes {
namespace {

using InterpretedConvolutions = InterpretedOperators;

TEST_F(InterpretedConvolutions, convolutionsOfAllKinds) {
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
  // Numbers of few digits are the same in tf32.
  for (size_t i = 0; i < 2 * kinds.size(); ++i) {
    const Kind &kind = kinds[i / 2];
    tf32 = i % 2;
    onDevice(2e-6, [&] {
      auto list = [](const Shape &numbers) { return List(numbers.begin(), numbers.end()); };
      Value *x = tensor(f32, kind.x, 2), *w = tensor(f32, kind.w, 2);
      int64_t channels = kind.transposed ? kind.w[1] * kind.groups : kind.w[0];
      return std::vector{one("aten.convolution.default",
                             {x, w, tensor(f32, {channels}), list(kind.stride), list(kind.padding),
                              list(kind.dilation), kind.transposed, list(kind.more), kind.groups})};
    });
    bool isProduct = kind.groups == 1;
    EXPECT_EQ(sources.find("\"tf32\"") != std::string::npos, tf32 && isProduct);
  }
}

// What is copied for units of tf32 is rounded to it, to the nearest; a product of matrices is not.
TEST_F(InterpretedConvolutions, f32IsRoundedToTf32) {
  for (bool rounds : {false, true}) {
    tf32 = rounds;
    program = Program();
    inputs.clear();
    sources.clear();
    Value *x = input("x", f32, {1, 8, 3, 5}), *w = input("w", f32, {1, 8, 2, 2});
    Value *y = call("aten.convolution.default", {x, w, Argument(), List{1, 1}, List{0, 0},
                                                 List{1, 1}, false, List{0, 0}, int64_t(1)})
                   ->result();
    // Of one element of the window each: what the copies hold.
    for (size_t which : {0, 1})
      reference::Tensor::forEachIndex(
          which ? std::vector<int64_t>{1, 8, 2, 2} : std::vector<int64_t>{1, 8, 3, 5},
          [&](std::span<const int64_t> at) {
            bool isFirst = at[1] == 0 && at[2] == 0 && at[3] == 0;
            values(which).set(at, which == 0 ? 1 + 3.0 / 4096 : isFirst ? 1 : 0);
          });
    lower({y}, hopper);
    reference::EvaluateOptions options;
    options.launcher = [&](const Program &, const KernelDef &kernel, const LaunchVariant &,
                           const std::array<int64_t, 3> &grid,
                           std::span<reference::LaunchArgument> arguments) {
      interpret(kernel, grid, arguments);
    };
    auto got = std::get<reference::Tensor>(reference::evaluate(program, inputs, options)[0]);
    for (double made : got.reals())
      EXPECT_EQ(made, rounds ? 1 + 1.0 / 1024 : 1 + 3.0 / 4096);
  }
}

// Channels innermost: places are the product's rows, and windows beyond a border are masked.
TEST_F(InterpretedConvolutions, convolutionsOfInnermostChannels) {
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
TEST_F(InterpretedConvolutions, channelsStayInnermost) {
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
TEST_F(InterpretedConvolutions, oneConvolutionStays) {
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
TEST_F(InterpretedConvolutions, channelsOfLinesLieInnermost) {
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
TEST_F(InterpretedConvolutions, convolutionsOfFewChannels) {
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

// A kernel as long as its step: a product and a copy, nothing between the elements.
TEST_F(InterpretedConvolutions, transposedConvolutionsOfBlocksAreProducts) {
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
             List{0, 1}, List{1, 1}, true, List{0, 0}, 2})};
  });
  EXPECT_EQ(replaced, 0u);
}

// A norm of groups goes on with what each channel has of its own, which lie in parts of its rows.
TEST_F(InterpretedConvolutions, normsOfGroupsGoOnWithChannels) {
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

// Windows side by side: patches as the rows of a product. Ones that overlap, leave something out or
// have a border, and short lines, are left to the convolution's kernel.
TEST_F(InterpretedConvolutions, patchesAreRowsOfAProduct) {
  struct Case {
    Shape x, w;
    int64_t down, across, border;
    size_t count;
  };
  for (DataType type : {f32, bf16})
    for (bool hasBias : {false, true})
      for (const Case &c : {Case{{2, 3, 16, 27}, {5, 3, 8, 9}, 8, 9, 0, 1},
                            Case{{1, 1, 16, 16}, {4, 1, 16, 16}, 16, 16, 0, 1},
                            Case{{1, 2, 3, 24}, {4, 2, 1, 8}, 1, 8, 0, 1},
                            Case{{1, 2, 16, 16}, {4, 2, 8, 8}, 7, 8, 0, 0},
                            Case{{1, 2, 16, 20}, {4, 2, 8, 8}, 8, 8, 0, 0},
                            Case{{1, 2, 16, 16}, {4, 2, 8, 8}, 8, 8, 1, 0},
                            Case{{1, 2, 8, 8}, {4, 2, 4, 4}, 4, 4, 0, 0}}) {
        program = Program();
        inputs.clear();
        Value *x = tensor(type, c.x), *w = tensor(type, c.w);
        Argument bias = hasBias ? Argument(tensor(type, {c.w[0]})) : Argument();
        Value *y = one("aten.convolution.default",
                       {x, w, bias, List{c.down, c.across}, List{c.border, c.border}, List{1, 1},
                        false, List{0, 0}, 1});
        program.outputs.assign(1, {OutputSpec::Kind::UserOutput, ""});
        program.main.output({y});
        unlowered = program.clone();
        EXPECT_EQ(multiplyPatches(program, registry), c.count);
        EXPECT_EQ(program.main.verify(), std::vector<std::string>{});
        expectSame(4 * boundOf(type));
      }
}

} // namespace
} // namespace pellucid::passes
