// SPDX-License-Identifier: Apache-2.0
// The table of attention's tiles, and when keys are shared out among programs.
#include "passes/graph/AttentionText.h"
#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

/// Programs that fill a large GPU twice.
constexpr int64_t manyPrograms = 264;
/// Fewer keys for each are not worth a second kernel.
constexpr int64_t leastKeysOfPart = 256;
constexpr int64_t mostParts = 64;
/// On a CPU, which multiplies whole tiles of rows no faster than these one by one.
constexpr int64_t mostSingleRows = 8;

/// On a GPU: by the wider of the two widths.
struct TileRow {
  int64_t width;
  /// Of f16 and bf16: every block of keys whole and without a mask, which leaves registers for
  /// larger ones; others; with a mask from memory.
  AttentionTiles whole, half, masked;
  AttentionTiles single, twice; ///< of f32 and f64
};

/// About what a block of rows costs beside its products, as rows: keys are turned round and values
/// copied once for each; a block of keys moves sums and maxima once.
constexpr int64_t rowsOfBlock = 8;

/// The multiple of `block` from `size` on.
int64_t wholeBlocks(int64_t size, int64_t block) { return (size + block - 1) / block * block; }

/// Scores that tiles of `rows` x `keys` compute, of a causal mask those that are looked at, too.
int64_t scoresOf(int64_t allRows, int64_t allKeys, bool causal, int64_t rows, int64_t keys) {
  int64_t scores = 0;
  for (int64_t first = 0; first < allRows; first += rows) {
    int64_t seen = causal ? std::min(first + rows, allKeys) : allKeys;
    scores += (rows + rowsOfBlock) * (wholeBlocks(seen, keys) / keys * (keys + rowsOfBlock));
  }
  return scores;
}

/// On a CPU, of sizes that are known: fewer rows at a time where those of `tiles` are largely
/// padding or masked off. The blocks of keys stay: they are the order of a row's sums, which is
/// that of a program of unknown sizes (docs/design/0040).
void fitRows(AttentionTiles &tiles, int64_t rows, int64_t keys, bool causal) {
  constexpr int64_t longRows = 8192, least = 32;
  if (rows > longRows)
    return;
  double cost = static_cast<double>(scoresOf(rows, keys, causal, tiles.rows, tiles.keys));
  for (int64_t high = tiles.rows / 2; high >= least; high /= 2) {
    double now = static_cast<double>(scoresOf(rows, keys, causal, high, tiles.keys));
    if (now > 0.95 * cost)
      continue;
    cost = now;
    tiles.rows = high;
  }
}

/// On a CPU, where each row sees all keys and their number is known: how many keys the last round
/// has to have. Those that are left out would add zeros behind all others, so no bit changes.
std::optional<int64_t> lastKeysOf(const AttentionSpec &spec, int64_t keys) {
  constexpr int64_t least = 16;
  if (spec.causal || !spec.keys.constant())
    return std::nullopt;
  int64_t left = *spec.keys.constant() % keys, size = least;
  while (size < left)
    size *= 2;
  return left ? size : 0;
}

/// On a CPU scores, sums and a block of keys and values stay in the first two levels of cache.
AttentionTiles cpuTiles(int64_t width, DataType compute) {
  bool wide = width > 128 || compute == DataType::Float64;
  return {wide ? 64 : 128, wide ? 32 : 64, 1, 1, 1, 1};
}

AttentionTiles gpuTiles(const AttentionSpec &spec, int64_t width) {
  constexpr int64_t mostKeys = 128;
  static const TileRow rows[] = {
      {64,
       {64, mostKeys, 1, 1, 4, 2},
       {64, 64, 1, 1, 4, 2},
       {128, 64, 1, 1, 4, 3},
       {64, 32, 1, 1, 4, 2},
       {32, 32, 1, 1, 4, 2}},
      {128,
       {64, 64, 1, 1, 4, 3},
       {128, 128, 1, 1, 8, 2},
       {128, 64, 1, 1, 8, 2},
       {32, 32, 1, 1, 4, 2},
       {16, 16, 1, 1, 4, 2}},
      {256,
       {128, 64, 1, 1, 8, 2},
       {128, 64, 1, 1, 8, 2},
       {128, 32, 1, 1, 8, 2},
       {16, 32, 1, 1, 4, 1},
       {16, 16, 1, 1, 4, 1}},
  };
  const TileRow *row = rows;
  while (width > row->width && row + 1 != std::end(rows))
    ++row;
  if (byteSize(spec.query.dtype) > 2)
    return byteSize(spec.query.dtype) == 4 ? row->single : row->twice;
  if (!spec.mask.empty())
    return row->masked;
  // Two blocks of 64 rows beside each other lose less to a causal mask than one of 128.
  constexpr int64_t widthOfTwo = 128;
  bool isOfTwo = row->width == widthOfTwo && spec.keys.constantOr(1) >= mostKeys;
  // Boxes of rows that are no whole lines of memory are copied at half the rate: blocks of twice as
  // many rows want half of them.
  constexpr int64_t line = 128;
  bool isCut = row->width * 2 == line && spec.width.constantOr(0) * 2 % line != 0;
  if (isCut && spec.queries.constantOr(0) >= line && width > row->width / 2)
    return {.rows = line, .keys = 64, .numWarps = 8, .numStages = 3, .wholeColumns = true};
  bool isWhole = isOfTwo || (!spec.causal && spec.keys.constantOr(1) % mostKeys == 0);
  return isWhole ? row->whole : row->half;
}

} // namespace

void fitFewRows(AttentionTiles &tiles, int64_t width) {
  // A warpgroup multiplies 64 rows, and has no more registers for them than two have for 128.
  if (tiles.rows <= 64) {
    tiles.numWarps = 4;
    if (width > 64)
      tiles.keys = std::min<int64_t>(tiles.keys, 64);
  }
  // Memory counts, not the matrix units.
  if (tiles.rows <= 32) {
    tiles.keys = std::min<int64_t>(tiles.keys, 64);
    tiles.numStages = 3;
  }
}

AttentionTiles chooseAttentionTiles(const AttentionSpec &spec, const SymbolTable &symbols,
                                    bool forCpu) {
  int64_t width = std::max(symbols.range(spec.width).max, symbols.range(spec.valueWidth).max);
  AttentionTiles tiles = forCpu ? cpuTiles(width, spec.compute) : gpuTiles(spec, width);
  Expr rows = spec.sharesRows ? spec.queries * spec.keyGroup : spec.queries;
  if (forCpu && rows.constantOr(mostSingleRows + 1) <= mostSingleRows && spec.queries.constant() &&
      rows.constantOr(0) > 0) {
    tiles.rows = *rows.constant();
    tiles.keys = 32;
    tiles.rowByRow = true;
    return tiles;
  }
  tiles.rows = std::max<int64_t>(16, chooseBlock(rows, symbols, tiles.rows));
  tiles.keys = std::max<int64_t>(16, chooseBlock(spec.keys, symbols, tiles.keys));
  if (forCpu) {
    if (rows.constant() && spec.keys.constant())
      fitRows(tiles, *rows.constant(), *spec.keys.constant(), spec.causal && !spec.sharesRows);
    tiles.lastKeys = lastKeysOf(spec, tiles.keys);
    return tiles;
  }
  if (byteSize(spec.query.dtype) == 2)
    fitFewRows(tiles, width);
  int64_t mostKeys = symbols.range(spec.keys).max;
  if (symbols.range(rows).max > tiles.rows || mostKeys < 2 * leastKeysOfPart)
    return tiles;
  // Few queries: without a split there are no more programs than heads.
  Expr programs = product(spec.batch, 0, spec.batch.size());
  if (spec.sharesRows)
    programs = symbolic::floorDiv(programs, spec.keyGroup);
  Expr wanted = symbolic::floorDiv(manyPrograms, symbolic::max(programs, 1));
  Expr useful = symbolic::floorDiv(spec.keys, leastKeysOfPart);
  Expr parts = symbolic::max(1, symbolic::min(mostParts, symbolic::min(wanted, useful)));
  tiles.parts = parts;
  tiles.mostParts = chooseBlock(symbols.range(parts).max, symbols, mostParts);
  if (symbols.range(parts).max <= 1)
    tiles.parts = tiles.mostParts = 1;
  return tiles;
}

} // namespace pellucid::passes
