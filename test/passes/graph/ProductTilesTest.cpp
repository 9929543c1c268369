// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductTiles.h"
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
