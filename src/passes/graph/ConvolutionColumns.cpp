// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ConvolutionColumns.h"

#include "package/PackedMatrix.h"

#include <algorithm>

namespace pellucid::passes {

using symbolic::Expr;

namespace {

/// Columns of the widest vectors.
constexpr int64_t lanes = 16;

int64_t ceilDiv(int64_t size, int64_t by) { return (size + by - 1) / by; }

/// What one program packs serves all of its rows; fewer of them where there would be less than
/// `wanted` programs.
int64_t rowsOfProgram(int64_t rows, const Expr &others) {
  constexpr int64_t most = 384, least = 96, wanted = 8;
  int64_t known = others.constant().value_or(wanted), height = most;
  while (height > least && known * ceilDiv(rows, height) < wanted)
    height /= 2;
  return ceilDiv(rows, ceilDiv(rows, height));
}

/// All programs have about as many vectors: one alone takes as long as two.
ConvolutionColumns evenly(const ConvolutionPlaces &places, int64_t columns, bool byLines) {
  int64_t blocks = std::max<int64_t>(1, ceilDiv(columns, package::windowColumns));
  int64_t atOnce = std::max(lanes, ceilDiv(ceilDiv(columns, blocks), lanes) * lanes);
  // Rows as of blocks of 64: wide ones are for the vectors' sake, and packing more often for fewer
  // rows would take what they gain.
  Expr narrow = places.images * ceilDiv(columns, package::productColumns);
  return {Expr(ceilDiv(columns, atOnce)), atOnce, byLines, rowsOfProgram(places.outputs, narrow)};
}

/// Columns where lines go on as far as windows reach, where the kernel can read them; or 0.
int64_t columnsByLines(const ConvolutionPlaces &places) {
  auto isOne = [](int64_t value) { return value == 1; };
  size_t dims = places.output.size();
  if (dims == 0 || dims > 2 || std::all_of(places.kernel.begin(), places.kernel.end(), isOne) ||
      !std::all_of(places.stride.begin(), places.stride.end(), isOne))
    return 0;
  int64_t reach = (places.kernel.back() - 1) * places.dilation.back();
  int64_t width = *places.output.back().constant() + reach, height = 1, below = 0;
  if (dims == 2) {
    height = *places.output[0].constant();
    below = (places.kernel[0] - 1) * places.dilation[0];
  }
  bool fits = below * width + reach + package::windowColumns + lanes <= package::lineElements;
  return fits ? (height - 1) * width + width - reach : 0;
}

} // namespace

ConvolutionColumns divideColumns(const ConvolutionPlaces &places) {
  Expr n(1);
  bool isKnown = true;
  for (const Expr &size : places.output) {
    n = n * size;
    isKnown &= size.constant().has_value() && *size.constant() > 0;
  }
  int64_t most =
      package::packedGroup(places.type) == 1 ? package::windowColumns : package::productColumns;
  if (!isKnown || most == package::productColumns) {
    Expr blocks = symbolic::ceilDiv(n, most);
    return {blocks, most, false, rowsOfProgram(places.outputs, blocks * places.images)};
  }
  ConvolutionColumns windows = evenly(places, *n.constant(), false);
  int64_t columns = columnsByLines(places);
  if (columns == 0)
    return windows;
  // Packing a vector of windows takes as long as multiplying it by so many rows.
  constexpr int64_t rowsOfPacking = 8;
  int64_t packed = ceilDiv(*n.constant(), lanes), more = ceilDiv(columns, lanes) - packed;
  return more * windows.rows <= rowsOfPacking * packed ? evenly(places, columns, true) : windows;
}

} // namespace pellucid::passes
