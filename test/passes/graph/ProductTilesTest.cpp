// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductTiles.h"
#include "passes/graph/ProductRows.h"
#include "passes/graph/ProductText.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace pellucid;
using namespace pellucid::passes;
using symbolic::Expr;
using symbolic::SymbolTable;

namespace {

GemmSpec product(const Expr &m, int64_t n, int64_t k, DataType type = DataType::BFloat16) {
  GemmSpec spec;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.rows = {m};
  spec.columns = {n};
  spec.depth = {k};
  spec.a.dtype = spec.b.dtype = type;
  return spec;
}

ProductTile tileFor(int64_t m, int64_t n, int64_t k, bool maySplit = false) {
  SymbolTable symbols;
  std::vector<ProductChoice> choices =
      chooseProductTiles(product(m, n, k), deviceModel(90), maySplit, symbols);
  EXPECT_EQ(choices.size(), 1u);
  return choices[0].tile;
}

TEST(ProductTiles, FewRowsTakeLowTilesAndManyTakeLargeOnes) {
  EXPECT_EQ(tileFor(16, 4096, 4096).m, 16);
  EXPECT_EQ(tileFor(1, 14336, 4096).m, 16);
  EXPECT_EQ(tileFor(64, 4096, 4096).m, 64);
  for (int64_t rows : {4096, 8192})
    EXPECT_EQ(tileFor(rows, 4096, 4096).m * tileFor(rows, 4096, 4096).n, 128 * 256);
}

/// Tiles of 256 columns would be 96, or 141, for 132 multiprocessors.
TEST(ProductTiles, TilesOf192ColumnsFillTheDevice) {
  EXPECT_EQ(tileFor(1000, 3000, 2000).n, 192);
  EXPECT_EQ(tileFor(4096, 768, 3072).n, 192);
  // Of few rounds: two blocks hide what each does outside of them.
  EXPECT_EQ(tileFor(4096, 2304, 768).n, 128);
  EXPECT_LE(tileFor(16900, 100, 3072).n, 128);
}

TEST(ProductTiles, TilesAreNoLongerThanTheProduct) {
  EXPECT_LE(tileFor(4096, 20, 4096).n, 32);
  EXPECT_LE(tileFor(4096, 4096, 20).k, 32);
}

/// Few tiles and a long sum: parts of it, unless the caller cannot add them up.
TEST(ProductTiles, LongSumsOfFewTilesAreSplit) {
  EXPECT_GT(tileFor(512, 512, 16384, true).splits, 1);
  EXPECT_EQ(tileFor(512, 512, 16384, false).splits, 1);
  EXPECT_EQ(tileFor(4096, 4096, 4096, true).splits, 1);
}

/// Every number of rows has a choice, with room for it in one tile where it says so.
TEST(ProductTiles, DynamicRowsHaveGuardedChoices) {
  SymbolTable symbols;
  symbols.declare("m", {{1, 8192}, 1, std::nullopt});
  Expr m = Expr::symbol("m");
  std::vector<ProductChoice> choices =
      chooseProductTiles(product(m, 4096, 4096), deviceModel(90), true, symbols);
  EXPECT_GE(choices.size(), 3u);
  for (int64_t rows : {1, 16, 17, 64, 65, 512, 513, 8192}) {
    auto chosen = std::find_if(choices.begin(), choices.end(), [&](const ProductChoice &choice) {
      return symbolic::evaluate(choice.guard, {{"m", rows}}) == 1;
    });
    ASSERT_NE(chosen, choices.end()) << rows;
    EXPECT_LE(rows, chosen->mostRows);
    EXPECT_EQ(chosen->tile.splits, 1);
  }
  EXPECT_EQ(choices.back().guard.constant(), 1);
}

/// What follows the product stands once for each of a thread's sums.
TEST(ProductTiles, LongConsumersTakeFewSumsOfAThread) {
  SymbolTable symbols;
  GemmSpec spec = product(4096, 4096, 4096);
  spec.body = {{"v0", "0.5 * product * (1.0 + tl.erf(product))"}};
  ProductTile tile = chooseProductTiles(spec, deviceModel(90), false, symbols)[0].tile;
  EXPECT_LE(tile.m * tile.n, 64 * 32 * tile.warps);
  spec.body = {{"v0", "product / (1.0 + tl.exp(0.0 - product))"}};
  tile = chooseProductTiles(spec, deviceModel(90), false, symbols)[0].tile;
  EXPECT_LE(tile.m * tile.n, 64 * 32 * tile.warps);
}

/// What the rule says of a tile that it chose: no other one of its height and warps is expected to
/// be quicker, and half of it is slower.
TEST(ProductTiles, TheTileThatIsChosenIsExpectedToBeQuick) {
  for (int64_t rows : {4096, 8192}) {
    ProductSizes sizes{1, rows, 4096, 4096, 1};
    ProductTile chosen = tileFor(rows, 4096, 4096), half = chosen;
    half.n /= 2;
    double expected = expectedTime(chosen, sizes, DataType::BFloat16, deviceModel(90));
    EXPECT_LT(expected, expectedTime(half, sizes, DataType::BFloat16, deviceModel(90)));
    ProductTile unknown = chosen;
    unknown.warps = 16; // a shape that the table lacks
    EXPECT_LT(expected, expectedTime(unknown, sizes, DataType::BFloat16, deviceModel(90)));
  }
}

/// Programs of several tiles are for products of few rounds and many tiles, whose sizes are known.
TEST(ProductTiles, FewRoundsAndManyTilesTakeProgramsOfSeveral) {
  SymbolTable symbols;
  symbols.declare("m", {{1, 4096}, 1, std::nullopt});
  auto programs = [&](const Expr &batch, const Expr &m, int64_t n, int64_t k) {
    GemmSpec spec = product(m, n, k);
    spec.batch = {batch};
    return chooseProductTiles(spec, deviceModel(90), true, symbols)[0].tile.programs;
  };
  EXPECT_GT(programs(64, 1024, 1024, 128), 0);
  EXPECT_EQ(programs(2, 1024, 1024, 128), 0) << "fewer tiles than two for each";
  EXPECT_EQ(programs(64, 1024, 1024, 4096), 0) << "many rounds";
  EXPECT_EQ(programs(64, Expr::symbol("m"), 1024, 128), 0);
}

/// Images of windows of one element: (image, place) are columns, or places are and images a batch.
TEST(ProductRows, TheOutermostColumnsMayBeABatch) {
  GemmSpec spec = product(512, 32 * 784, 256, DataType::Float16);
  spec.columns = {32, 28, 28};
  spec.a.strides = {256, 1};
  spec.b.strides = {784, 256 * 784, 28, 1};
  spec.output.strides = {784, 512 * 784, 28, 1};
  spec.inputs = {{DataType::Float16, {1, 0, 0, 0}}};
  std::optional<GemmSpec> made = withColumnsInBatch(spec);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->batch, std::vector<Expr>{32});
  EXPECT_EQ(made->columns, std::vector<Expr>{784});
  EXPECT_EQ(made->n, Expr(784));
  EXPECT_EQ(made->a.strides, (std::vector<Expr>{0, 256, 1}));
  EXPECT_EQ(made->b.strides, (std::vector<Expr>{256 * 784, 784, 1}));
  EXPECT_EQ(made->output.strides, (std::vector<Expr>{512 * 784, 784, 1}));
  EXPECT_EQ(made->inputs[0].strides, (std::vector<Expr>{0, 1, 0}));
  spec.b.strides[2] = 30; // lines with a border
  EXPECT_FALSE(withColumnsInBatch(spec));
  EXPECT_FALSE(withColumnsInBatch(product(64, 64, 64)));
}

/// Dims that lie evenly behind one another are one: no division stands in the kernel. Those that do
/// not are taken apart.
TEST(ProductText, ColumnsThatLieEvenlyAreNotTakenApart) {
  for (bool evenly : {true, false}) {
    SymbolTable symbols;
    GemmSpec spec = product(32, 64, 64);
    spec.name = "product";
    spec.columns = {4, 16};
    spec.a.strides = {64, 1};
    spec.b.strides = {80, evenly ? 16 : 20, 1};
    spec.output.strides = {64, 16, 1};
    spec.output.dtype = DataType::BFloat16;
    std::string text = writeProduct(spec, {}, 32, symbols).source;
    EXPECT_EQ(text.find(" % 16") == std::string::npos, evenly) << text;
  }
}

} // namespace
