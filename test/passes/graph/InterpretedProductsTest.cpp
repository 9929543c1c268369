// SPDX-License-Identifier: Apache-2.0
// Products and attention as kernels, at sizes that fit no tile.
#include "InterpretedOperators.h"
#include "passes/graph/ProductText.h"

namespace pellucid::passes {
namespace {

using InterpretedProducts = InterpretedOperators;

TEST_F(InterpretedProducts, productsOfAllSizes) {
  const std::vector<Shape> sizes{{1, 1, 1},   {3, 5, 7},       {17, 33, 20}, {1, 70, 40},
                                 {66, 3, 65}, {128, 128, 128}, {90, 1, 300}, {1, 300, 7}};
  for (const Shape &s : sizes)
    for (DataType type : {f32, f16})
      onDevice(boundOf(type), [&] {
        return std::vector{
            one("aten.mm.default", {tensor(type, {s[0], s[2]}), tensor(type, {s[2], s[1]})})};
      });
}

// Products of f32 alone ask for tf32, and only where that is wanted; what is no finite number goes
// through.
TEST_F(InterpretedProducts, productsOfTf32WhereAsked) {
  for (bool asks : {false, true})
    for (DataType type : {f32, f64, f16}) {
      tf32Products = asks;
      sources.clear();
      const bool rounds = asks && type == f32; // to 10 digits
      onDevice(rounds ? 5e-3 : boundOf(type), [&] {
        Value *a = tensor(type, {33, 40}), *b = tensor(type, {40, 17}),
              *c = tensor(type, {2, 9, 40});
        return std::vector{one("aten.mm.default", {a, b}),
                           one("aten.linear.default", {c, one("aten.t.default", {b})}),
                           one("aten.addmm.default", {tensor(type, {17}), a, b})};
      });
      EXPECT_EQ(sources.find("\"tf32\"") != std::string::npos, asks && type == f32);
      if (type != f32)
        continue;
      for (double special : {HUGE_VAL, nan, 1e38})
        onDevice(rounds ? 1e-3 : 1e-6, [&] {
          Value *a = tensor(f32, {17, 16}), *b = tensor(f32, {16, 16});
          Tensor::forEachIndex(Shape{17, 16}, [&](std::span<const int64_t> at) {
            values(0).set(at, at[0] == 5 && at[1] == 3 ? special : at[0] == at[1]);
          });
          return std::vector{one("aten.mm.default", {a, b})};
        });
    }
  tf32Products = false;
}

// To the nearest, each factor: 1 + 3/4096 is 1 + 1/1024, and cut off it would be 1; halves to the
// even one: 1 + 1/2048 is 1, and 1 + 3/2048 is 1 + 2/1024. Large ones are turned along k first.
TEST_F(InterpretedProducts, factorsAreRoundedToTf32) {
  const double given[] = {1 + 3.0 / 4096, 1 + 1.0 / 2048, 1 + 3.0 / 2048};
  const double rounded[] = {1 + 1.0 / 1024, 1, 1 + 2.0 / 1024};
  for (bool rounds : {false, true})
    for (int64_t size : {24, 260}) {
      tf32Products = rounds;
      sources.clear();
      program = Program();
      inputs.clear();
      Value *a = input("a", f32, {size, size}), *b = input("b", f32, {size, size});
      Value *made = one("aten.mm.default", {a, b});
      Tensor::forEachIndex(Shape{size, size}, [&](std::span<const int64_t> at) {
        values(0).set(at, at[0] == at[1] ? given[at[0] % 3] : 0);
        values(1).set(at, at[0] == at[1] ? 1 : 0);
      });
      lower({made}, hopper);
      reference::EvaluateOptions options;
      options.launcher = [&](const Program &, const KernelDef &kernel, const LaunchVariant &,
                             const std::array<int64_t, 3> &grid,
                             std::span<reference::LaunchArgument> arguments) {
        interpret(kernel, grid, arguments);
      };
      auto got = std::get<Tensor>(reference::evaluate(program, inputs, options)[0]);
      for (int64_t i = 0; i < size; ++i)
        EXPECT_EQ(got.reals()[static_cast<size_t>(i * (size + 1))],
                  (rounds ? rounded : given)[i % 3])
            << size;
      EXPECT_EQ(sources.find("-8192") != std::string::npos, rounds);
      EXPECT_EQ(sources.find("copy_rows") != std::string::npos, rounds && size > 256);
    }
  tf32Products = false;
}

// Rows of large products that do not begin at vectors are copied first.
TEST_F(InterpretedProducts, largeProductsOfOddRowsAreAligned) {
  for (DataType type : {f16, f32})
    for (bool left : {false, true}) {
      sources.clear();
      onDevice(boundOf(type), [&] {
        Value *a = left ? turned(type, {257, 259}) : tensor(type, {257, 259}, 1);
        Value *b = left ? tensor(type, {259, 261}, 1) : turned(type, {259, 261});
        return std::vector{one("aten.mm.default", {a, b})};
      });
      EXPECT_NE(sources.find("copy_rows"), std::string::npos);
    }
}

TEST_F(InterpretedProducts, productsOfAllStrides) {
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

TEST_F(InterpretedProducts, productsAndWhatFollows) {
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
TEST_F(InterpretedProducts, productsTakeWhatFollows) {
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
TEST_F(InterpretedProducts, productsSeenOtherwise) {
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
TEST_F(InterpretedProducts, longSumsAreShared) {
  onDevice(1e-5, [&] {
    return std::vector{
        one("aten.mm.default", {tensor(f32, {3, 2100}, 1), tensor(f32, {2100, 5}, 1)})};
  });
}

TEST_F(InterpretedProducts, attentionOfAllKinds) {
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

TEST_F(InterpretedProducts, keysThatAreRepeated) {
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

// Programs that go through several tiles, whole ones and ones cut in every dim, with what follows.
TEST_F(InterpretedProducts, programsOfSeveralTiles) {
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

} // namespace
} // namespace pellucid::passes
