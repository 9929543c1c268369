// SPDX-License-Identifier: Apache-2.0
/// How a matrix product is cut up: candidates as a table, and a rule that chooses by the product's
/// sizes and the device (docs/design/0015).
#pragma once

#include "passes/graph/DeviceModel.h"
#include "passes/graph/KernelText.h"

#include <string>
#include <vector>

namespace pellucid::passes {

/// The parameters of the product template (ProductText.h).
struct ProductTile {
  int64_t m = 32, n = 64, k = 64; ///< powers of two, or 192 columns
  int32_t warps = 4, stages = 3;
  int64_t group = 8; ///< tiles down that are gone through together, so that both operands stay near
  int64_t splits = 1; ///< parts of k, each a program of its own
  /// That go through all tiles, so that copies for the next tile are under way while one is stored;
  /// 0: each tile has its own.
  int64_t programs = 0;
  /// `128x256x64, 8 warps, 4 stages`
  std::string text() const;
};

struct ProductSizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t windows = 1; ///< that k falls into; a round is in one of them
};

/// Seconds that the rule expects of one product.
double expectedTime(const ProductTile &tile, const ProductSizes &sizes, DataType type,
                    const DeviceModel &device);

/// One way to compute a product, for the calls that meet `guard` and none before.
struct ProductChoice {
  symbolic::Expr guard = 1;
  ProductTile tile;
  /// No call that comes here has more rows than this.
  int64_t mostRows = INT64_MAX;
};

/// Never empty; the last one has no guard. Where the number of rows is not known, there is a choice
/// for few, some and many of them; `maySplit` allows parts of k where one choice serves all calls.
std::vector<ProductChoice> chooseProductTiles(const GemmSpec &spec, const DeviceModel &device,
                                              bool maySplit, const symbolic::SymbolTable &symbols);

} // namespace pellucid::passes
