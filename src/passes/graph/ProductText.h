// SPDX-License-Identifier: Apache-2.0
/// The template of matrix products, in the kernel language (docs/design/0015).
#pragma once

#include "passes/graph/ProductTiles.h"

namespace pellucid::passes {

/// The kernel of `spec` cut up as `tile` says. Its pointers are a, b, the bias where there is one,
/// the inputs, then the output. Kernels of one spec have the same scalars whatever their tiles.
/// `mostRows`: no call has more rows. With `tile.splits` > 1 it stores partial sums instead, as
/// `spec.accumulate`, dense over splits, batch…, m, n.
KernelText writeProduct(const GemmSpec &spec, const ProductTile &tile, int64_t mostRows,
                        const symbolic::SymbolTable &symbols);

} // namespace pellucid::passes
