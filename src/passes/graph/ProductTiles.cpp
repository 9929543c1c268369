// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductTiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

namespace pellucid::passes {

using symbolic::Expr;
using symbolic::Range;
using symbolic::SymbolTable;

const DeviceModel &deviceModel(uint32_t sm) {
  static const DeviceModel cpu{.sm = 0, .processors = 1};
  static const DeviceModel models[] = {
      {.sm = 80,
       .processors = 108,
       .sharedBytes = 163 << 10,
       .matrixFlops = 250e12,
       .memoryBytes = 1.7e12,
       .cacheBytes = 6e12,
       .processorBytes = 60e9,
       .latency = 1.0e-6,
       .blockStart = 1.5e-6,
       .launch = 4e-6,
       .hasWarpgroups = false},
      {.sm = 90,
       .processors = 132,
       .sharedBytes = 227 << 10,
       .matrixFlops = 900e12,
       .memoryBytes = 4.0e12,
       .cacheBytes = 11e12,
       .processorBytes = 85e9,
       .latency = 1.2e-6,
       .blockStart = 1.5e-6,
       .launch = 4e-6,
       .hasWarpgroups = true},
  };
  return sm == 0 ? cpu : sm >= 90 ? models[1] : models[0];
}

namespace {

struct Candidate {
  ProductTile tile;
  double rate; ///< of the matrix units' rate, when every multiprocessor has enough of such blocks
  int64_t together; ///< blocks that a multiprocessor holds at a time, as registers go
};

/// Multiplied by warpgroups, which want 64 rows; the last ones by warps.
constexpr Candidate sixteenBits[] = {
    {{.m = 128, .n = 256, .k = 64, .warps = 8, .stages = 4}, 0.95, 1},
    {{.m = 256, .n = 128, .k = 64, .warps = 8, .stages = 4}, 0.90, 1},
    // Sums of 128 and of 64 columns: where tiles of 256 leave a part of the device idle.
    {{.m = 128, .n = 192, .k = 64, .warps = 8, .stages = 4}, 0.76, 1},
    {{.m = 128, .n = 128, .k = 64, .warps = 8, .stages = 3}, 0.86, 2},
    {{.m = 128, .n = 128, .k = 64, .warps = 4, .stages = 4}, 0.86, 1},
    // Of few rounds: three blocks hide what each does outside of them.
    {{.m = 128, .n = 128, .k = 64, .warps = 4, .stages = 2}, 0.70, 3},
    // Of few rounds and many tiles: programs of several of them.
    {{.m = 128, .n = 256, .k = 64, .warps = 8, .stages = 3, .programs = 132}, 0.95, 1},
    {{.m = 128, .n = 128, .k = 64, .warps = 8, .stages = 3, .programs = 264}, 0.86, 2},
    {{.m = 64, .n = 256, .k = 64, .warps = 4, .stages = 4}, 0.80, 1},
    {{.m = 64, .n = 128, .k = 128, .warps = 4, .stages = 3}, 0.75, 1},
    {{.m = 128, .n = 64, .k = 128, .warps = 4, .stages = 3}, 0.72, 1},
    {{.m = 64, .n = 128, .k = 64, .warps = 4, .stages = 4}, 0.75, 2},
    {{.m = 128, .n = 64, .k = 64, .warps = 4, .stages = 4}, 0.72, 2},
    {{.m = 64, .n = 64, .k = 128, .warps = 4, .stages = 5}, 0.55, 1},
    {{.m = 64, .n = 32, .k = 128, .warps = 4, .stages = 4}, 0.35, 2},
    {{.m = 32, .n = 64, .k = 128, .warps = 4, .stages = 4}, 0.20, 4},
    {{.m = 32, .n = 32, .k = 256, .warps = 4, .stages = 4}, 0.14, 4},
    {{.m = 16, .n = 128, .k = 128, .warps = 4, .stages = 4}, 0.14, 2},
    {{.m = 16, .n = 64, .k = 128, .warps = 4, .stages = 4}, 0.12, 4},
    {{.m = 16, .n = 32, .k = 256, .warps = 4, .stages = 4}, 0.08, 4},
};

/// Without warpgroups.
constexpr Candidate sixteenBitsByWarps[] = {
    {{.m = 128, .n = 256, .k = 32, .warps = 8, .stages = 4}, 0.85, 1},
    {{.m = 128, .n = 128, .k = 32, .warps = 4, .stages = 4}, 0.82, 2},
    {{.m = 64, .n = 128, .k = 64, .warps = 4, .stages = 3}, 0.70, 2},
    {{.m = 64, .n = 64, .k = 64, .warps = 4, .stages = 4}, 0.55, 3},
    {{.m = 32, .n = 64, .k = 128, .warps = 4, .stages = 4}, 0.35, 4},
    {{.m = 16, .n = 64, .k = 128, .warps = 4, .stages = 4}, 0.20, 4},
    {{.m = 16, .n = 32, .k = 256, .warps = 4, .stages = 4}, 0.15, 4},
};

/// Of f32 as tf32: half the rate of 16 bits, and half of k in as many bytes.
constexpr Candidate truncated[] = {
    {{.m = 128, .n = 256, .k = 32, .warps = 8, .stages = 4}, 0.45, 1},
    {{.m = 128, .n = 128, .k = 32, .warps = 8, .stages = 3}, 0.42, 2},
    {{.m = 128, .n = 128, .k = 32, .warps = 4, .stages = 4}, 0.42, 1},
    {{.m = 64, .n = 128, .k = 32, .warps = 4, .stages = 4}, 0.36, 2},
    {{.m = 128, .n = 64, .k = 32, .warps = 4, .stages = 4}, 0.35, 2},
    {{.m = 64, .n = 64, .k = 64, .warps = 4, .stages = 4}, 0.27, 1},
    {{.m = 64, .n = 32, .k = 64, .warps = 4, .stages = 4}, 0.17, 2},
    {{.m = 32, .n = 64, .k = 64, .warps = 4, .stages = 4}, 0.10, 4},
    {{.m = 16, .n = 128, .k = 64, .warps = 4, .stages = 4}, 0.07, 2},
    {{.m = 16, .n = 64, .k = 64, .warps = 4, .stages = 4}, 0.06, 4},
};

/// By multiply-adds of threads: the rate is theirs.
constexpr Candidate multiplyAdds[] = {
    {{.m = 128, .n = 128, .k = 32, .warps = 8, .stages = 3}, 0.050, 2},
    {{.m = 128, .n = 64, .k = 16, .warps = 4, .stages = 4}, 0.047, 4},
    {{.m = 64, .n = 64, .k = 32, .warps = 4, .stages = 3}, 0.052, 4},
    {{.m = 32, .n = 64, .k = 32, .warps = 4, .stages = 3}, 0.040, 6},
    {{.m = 16, .n = 64, .k = 64, .warps = 4, .stages = 3}, 0.025, 6},
};
/// From sm_90 on by matrix units. More than 32 sums of a thread would not fit its registers.
constexpr Candidate doubles[] = {
    {{.m = 128, .n = 64, .k = 16, .warps = 8, .stages = 3}, 0.053, 2},
    {{.m = 64, .n = 64, .k = 16, .warps = 4, .stages = 4}, 0.052, 3},
    {{.m = 32, .n = 64, .k = 32, .warps = 4, .stages = 3}, 0.040, 4},
    {{.m = 16, .n = 64, .k = 32, .warps = 4, .stages = 3}, 0.025, 6},
};
constexpr Candidate multiplyAddsOfDoubles[] = {
    {{.m = 32, .n = 64, .k = 32, .warps = 4, .stages = 2}, 0.030, 6},
    {{.m = 16, .n = 64, .k = 32, .warps = 4, .stages = 2}, 0.020, 8},
};
constexpr Candidate bytes[] = {
    {{.m = 128, .n = 128, .k = 64, .warps = 8, .stages = 2}, 0.40, 2},
    {{.m = 64, .n = 128, .k = 64, .warps = 4, .stages = 2}, 0.35, 2},
    {{.m = 32, .n = 64, .k = 64, .warps = 4, .stages = 2}, 0.15, 4},
    {{.m = 16, .n = 64, .k = 128, .warps = 4, .stages = 2}, 0.10, 4},
};
/// The shape that the CPU's blocks of registers like.
constexpr Candidate onCpu[] = {{{.m = 32, .n = 64, .k = 64, .group = 1}, 1, 1}};
constexpr Candidate doublesOnCpu[] = {{{.m = 32, .n = 64, .k = 32, .group = 1}, 1, 1}};

std::span<const Candidate> candidates(DataType type, const DeviceModel &device, bool tf32 = false) {
  if (device.sm == 0)
    return byteSize(type) == 8 ? std::span(doublesOnCpu) : std::span(onCpu);
  if (tf32)
    return truncated;
  if (type == DataType::Float16 || type == DataType::BFloat16)
    return device.hasWarpgroups ? std::span<const Candidate>(sixteenBits)
                                : std::span<const Candidate>(sixteenBitsByWarps);
  if (type == DataType::Int8)
    return bytes;
  if (type == DataType::Float64 && device.hasWarpgroups)
    return doubles;
  return byteSize(type) == 8 ? std::span<const Candidate>(multiplyAddsOfDoubles)
                             : std::span<const Candidate>(multiplyAdds);
}

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Where programs go through several tiles: copies are under way all the time, and what ends a tile
/// stands beside the rounds of another program of the multiprocessor alone.
double timeOfPrograms(const Candidate &candidate, const ProductSizes &sizes, double tiles,
                      double rounds, double round, double stored, double element,
                      const DeviceModel &device) {
  double programs = static_cast<double>(candidate.tile.programs),
         together = std::max(1.0, programs / static_cast<double>(device.processors)),
         m = static_cast<double>(sizes.m), n = static_cast<double>(sizes.n),
         k = static_cast<double>(sizes.k);
  double perTile = rounds * round * together + stored / together;
  double busiest = device.blockStart + device.latency + std::ceil(tiles / programs) * perTile;
  double fromMemory =
      static_cast<double>(sizes.batch) * (m * k + k * n + m * n) * element / device.memoryBytes +
      device.blockStart;
  return std::max(busiest, fromMemory) + 0.2 * std::min(busiest, fromMemory);
}

double timeOf(const Candidate &candidate, const ProductSizes &sizes, DataType type,
              const DeviceModel &device) {
  const ProductTile &tile = candidate.tile;
  double element = byteSize(type);
  auto tiles = static_cast<double>(divideUp(sizes.m, tile.m)) *
               static_cast<double>(divideUp(sizes.n, tile.n)) * static_cast<double>(sizes.batch) *
               static_cast<double>(tile.splits);
  int64_t allRounds = sizes.windows * divideUp(sizes.k / sizes.windows, tile.k);
  auto rounds = static_cast<double>(divideUp(allRounds, tile.splits));
  double stageBytes = static_cast<double>((tile.m + tile.n) * tile.k) * element;
  double stages = std::clamp(std::floor(static_cast<double>(device.sharedBytes) / stageBytes), 2.0,
                             static_cast<double>(tile.stages));
  double most = std::ceil(tiles / static_cast<double>(device.processors));
  double fits =
      std::max(1.0, std::floor(static_cast<double>(device.sharedBytes) / (stageBytes * stages)));
  double together = std::min({most, fits, static_cast<double>(candidate.together)});
  // What the busiest multiprocessor does in a round of one of its blocks: multiply, take the
  // operands up, or wait for memory, which blocks beside it hide.
  double multiplied =
      2.0 * static_cast<double>(tile.m * tile.n * tile.k) /
      (device.matrixFlops / static_cast<double>(device.processors) * candidate.rate);
  double taken = stageBytes / device.processorBytes;
  double waited = device.latency / (stages - 1) / together;
  double stored = static_cast<double>(tile.m * tile.n) * (tile.splits > 1 ? 4 : element) /
                  device.processorBytes * 2;
  double outside = (device.blockStart + stored) / together;
  if (tile.programs)
    return timeOfPrograms(candidate, sizes, tiles, rounds, std::max(multiplied, taken), stored,
                          element, device);
  double busiest = most * (rounds * std::max({multiplied, taken, waited}) + outside);
  double m = static_cast<double>(sizes.m), n = static_cast<double>(sizes.n),
         k = static_cast<double>(sizes.k);
  double fromMemory =
      static_cast<double>(sizes.batch) * (m * k + k * n + m * n) * element / device.memoryBytes;
  double fromCache = tiles * rounds * stageBytes / device.cacheBytes;
  // The longest of them, and something of the others: they do not quite run side by side.
  constexpr double inTurn = 0.2;
  fromMemory += device.blockStart;
  double longest = std::max({busiest, fromMemory, fromCache});
  double time = longest + inTurn * (busiest + fromMemory + fromCache - longest);
  if (tile.splits > 1) // partial sums of f32, written and read, and the launch that adds them up
    time += device.launch +
            8.0 * static_cast<double>(tile.splits * sizes.batch) * m * n / device.cacheBytes;
  return time;
}

/// What a size is taken to be when the rule compares: what it is, else the hint, else the middle of
/// what happens.
int64_t likely(const Expr &expr, const SymbolTable &symbols) {
  constexpr int64_t usual = 4096;
  if (auto value = expr.constant())
    return *value;
  Range range = symbols.range(expr);
  return std::clamp<int64_t>(symbols.hint(expr).value_or(usual), std::max<int64_t>(1, range.min),
                             std::max<int64_t>(1, range.max));
}

struct Chooser {
  ProductSizes sizes;
  DataType type;
  const DeviceModel &device;
  bool maySplit;
  bool mayPass;     ///< programs may go through several tiles
  int64_t mostSums; ///< of a thread
  bool tf32;

  double time(const Candidate &candidate, int64_t rows) const {
    ProductSizes at = sizes;
    at.m = rows;
    return timeOf(candidate, at, type, device);
  }

  /// The candidate as the sizes want it: no longer along n and k than they are.
  Candidate fitted(Candidate candidate) const {
    auto fit = [](int64_t &extent, int64_t size) {
      while (extent > 16 && extent / 2 >= size)
        extent /= 2;
    };
    if (device.sm == 0)
      fit(candidate.tile.m, sizes.m);
    int64_t &columns = candidate.tile.n;
    if (!std::has_single_bit(static_cast<uint64_t>(columns)) && sizes.n <= columns - columns / 3)
      columns -= columns / 3;
    fit(candidate.tile.n, sizes.n);
    fit(candidate.tile.k, sizes.k / sizes.windows);
    return candidate;
  }

  /// Each program would have several tiles, and little else than what begins and ends them.
  bool passes(const ProductTile &tile, int64_t rows) const {
    constexpr int64_t mostRounds = 8;
    if (sizes.k > mostRounds * tile.k)
      return false;
    int64_t tiles = divideUp(rows, tile.m) * divideUp(sizes.n, tile.n) * sizes.batch;
    return tiles >= 2 * tile.programs;
  }

  Candidate best(int64_t rows) const {
    std::optional<Candidate> best;
    auto consider = [&](const Candidate &candidate) {
      if (!best || time(candidate, rows) < time(*best, rows))
        best = candidate;
    };
    for (Candidate candidate : candidates(type, device, tf32)) {
      candidate = fitted(candidate);
      if (device.sm == 0)
        return candidate;
      if (candidate.tile.m * candidate.tile.n > mostSums * 32 * candidate.tile.warps)
        continue;
      if (candidate.tile.programs && !(mayPass && passes(candidate.tile, rows)))
        continue;
      consider(candidate);
      if (!maySplit || candidate.tile.programs)
        continue;
      for (int64_t splits : {2, 4, 8, 16, 32, 64}) {
        candidate.tile.splits = splits;
        // Parts of fewer rounds than there are stages would only wait.
        if (sizes.k / splits >= candidate.tile.k * candidate.tile.stages)
          consider(candidate);
      }
    }
    return *best;
  }
};

/// Whether what follows the product takes tens of instructions for each element. They stand in the
/// kernel once for each sum of a thread, and a second block of the multiprocessor multiplies
/// meanwhile.
bool isLong(const std::vector<TextStatement> &body) {
  static constexpr std::string_view dear[] = {"libdevice.", "tl.erf",     "tl.exp",
                                              "tl.log",     "tl.sigmoid", " / "};
  return std::any_of(body.begin(), body.end(), [](const TextStatement &statement) {
    return std::any_of(std::begin(dear), std::end(dear), [&](std::string_view word) {
      return statement.text.find(word) != std::string::npos;
    });
  });
}

bool sameTile(const ProductTile &a, const ProductTile &b) { return a.text() == b.text(); }

} // namespace

std::string ProductTile::text() const {
  std::string text = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + ", " +
                     std::to_string(warps) + " warps, " + std::to_string(stages) + " stages";
  if (programs)
    text += ", " + std::to_string(programs) + " programs";
  return splits == 1 ? text : text + ", k in " + std::to_string(splits) + " parts";
}

double expectedTime(const ProductTile &tile, const ProductSizes &sizes, DataType type,
                    const DeviceModel &device) {
  for (Candidate candidate : candidates(type, device))
    if (candidate.tile.m == tile.m && candidate.tile.n >= tile.n &&
        candidate.tile.warps == tile.warps) {
      candidate.tile = tile;
      return timeOf(candidate, sizes, type, device);
    }
  return timeOf({tile, 0.1, 1}, sizes, type, device);
}

std::vector<ProductChoice> chooseProductTiles(const GemmSpec &spec, const DeviceModel &device,
                                              bool maySplit, const SymbolTable &symbols) {
  Expr batch = 1;
  for (const Expr &dim : spec.batch)
    batch = batch * dim;
  Expr windows = 1;
  for (size_t d = 0; d + 1 < spec.depth.size(); ++d)
    windows = windows * spec.depth[d];
  Range rows = symbols.range(spec.m);
  // What is loaded for each sum stands in registers beside it.
  constexpr size_t mostLoaded = 2;
  bool isKnown = device.sm != 0 && spec.m.constant() && spec.n.constant() && spec.k.constant();
  Chooser chooser{{likely(batch, symbols), rows.max, likely(spec.n, symbols),
                   likely(spec.k, symbols), likely(windows, symbols)},
                  spec.a.dtype,
                  device,
                  maySplit && isKnown,
                  isKnown && batch.constant() && spec.depth.size() == 1 &&
                      spec.columns.size() == 1 && !spec.rowsApart && spec.borders.empty(),
                  isLong(spec.body) || spec.inputs.size() + spec.bias.size() > mostLoaded ? 64
                                                                                          : 256,
                  spec.tf32};
  if (spec.m.constant() || device.sm == 0)
    return {{.guard = 1, .tile = chooser.best(likely(spec.m, symbols)).tile, .mostRows = rows.max}};

  // Few rows are bound by memory, many by the matrix units; in between the tiles must be enough.
  constexpr int64_t borders[] = {16, 64, 512}, many = 4096;
  std::vector<ProductChoice> choices;
  for (int64_t border : borders)
    if (rows.min <= border && border < rows.max) {
      ProductTile tile = chooser.best(border).tile;
      if (!choices.empty() && sameTile(choices.back().tile, tile))
        choices.pop_back();
      choices.push_back({symbolic::lessEqual(spec.m, border), tile, border});
    }
  ProductTile tile = chooser.best(std::min(rows.max, many)).tile;
  if (!choices.empty() && sameTile(choices.back().tile, tile))
    choices.pop_back();
  choices.push_back({1, tile, rows.max});
  return choices;
}

} // namespace pellucid::passes
