// SPDX-License-Identifier: Apache-2.0
// Orders of long lines on a device: tiles are sorted where they are held, then two runs are merged
// into one until a run is a line (docs/design/0034). What is equal cannot occur: a packed number
// holds its place.
#include "passes/graph/ScatterText.h"
#include "passes/graph/SortText.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

constexpr int64_t sortedTile = 4096; ///< numbers that one program sorts
constexpr int64_t mergedTile = 2048; ///< numbers that one program of a merge writes
constexpr int64_t probes = 128;      ///< places that one round of a search looks at
constexpr int64_t longestLine = int64_t(1) << 32;

std::string number(int64_t value) { return std::to_string(value); }

int64_t powerOver(int64_t n) {
  int64_t power = 1;
  while (power < n)
    power *= 2;
  return power;
}

/// One order of one operator's lines: of which keys, and where it goes.
struct Round {
  std::optional<KeyHalf> half; ///< none: `p0` holds packed numbers
  bool ordered = false;        ///< elements are taken in the order of a round before
  bool leavesOrder = false;    ///< for a round behind; otherwise the results are written
};

class MergeSort {
public:
  MergeSort(KernelSequence &s, const LineSpec &l, const SymbolTable &t)
      : sequence(s), spec(l), symbols(t) {
    length = spec.shape.back();
    kept = spec.shape.size() - 1;
    lines = product(spec.shape, 0, kept);
    longest = std::min(symbols.range(length).max, longestLine);
  }

  void sortElements() {
    packing = packingOf(spec, symbols);
    if (!isWide(spec.input.dtype))
      return sort({KeyHalf::Whole}, std::nullopt, {1, 2});
    size_t order = sequence.buffer(DataType::Int64, {lines, length});
    sort({KeyHalf::Low, false, true}, std::nullopt, {order});
    sort({KeyHalf::High, true, false}, order, {1, 2});
  }

  size_t sortNumbers(size_t from, size_t to) {
    Round round;
    sequence.steps.push_back({sortTiles(round, false), {from}, {to}});
    for (int64_t run = sortedTile; run < longest; run *= 2) {
      std::swap(from, to);
      sequence.steps.push_back({mergeRuns(round, run, false), {from}, {to}});
    }
    return to;
  }

private:
  void sort(const Round &round, std::optional<size_t> order, std::vector<size_t> results) {
    std::vector<size_t> reads{0};
    if (order)
      reads.push_back(*order);
    if (longest <= sortedTile) {
      sequence.steps.push_back({sortTiles(round, true), reads, results});
      return;
    }
    size_t from = sequence.buffer(packing.type(), {lines, length});
    size_t to = sequence.buffer(packing.type(), {lines, length});
    sequence.steps.push_back({sortTiles(round, false), reads, {from}});
    int64_t run = sortedTile;
    for (; run * 2 < longest; run *= 2) {
      sequence.steps.push_back({mergeRuns(round, run, false), {from}, {to}});
      std::swap(from, to);
    }
    std::vector<size_t> last{from};
    if (!round.leavesOrder)
      last.push_back(0);
    if (order)
      last.push_back(*order);
    sequence.steps.push_back({mergeRuns(round, run, true), last, results});
  }

  std::string name(const char *what) const { return spec.name + what; }

  /// A program takes several short lines, a line, or a tile of one.
  KernelText sortTiles(const Round &round, bool last) {
    KernelWriter writer(last ? spec.name : name("_tiles"));
    writer.pointer("p0");
    if (round.ordered)
      writer.pointer("order");
    writer.pointer("o0");
    if (last && !round.leavesOrder)
      writer.pointer("o1");
    int64_t width = std::clamp<int64_t>(powerOver(longest), 16, sortedTile);
    int64_t rows = kept ? std::max<int64_t>(1, 1024 / width) : 1;
    Expr grid = lines;
    std::string size = writer.scalar(length);
    if (rows > 1) {
      std::string count = number(rows);
      writer.line("row = tl.program_id(0).to(tl.int64) * " + count + " + tl.arange(0, " + count +
                  ")");
      writer.line("i = tl.arange(0, BLOCK).to(tl.int64)[None, :]");
      writer.line("mask = (row < " + writer.scalar(lines) + ")[:, None] & (i < " + size + ")");
      grid = symbolic::ceilDiv(lines, rows);
    } else {
      writer.chunksOfRows(size, "i");
      grid = symbolic::ceilDiv(length, width) * lines;
    }
    std::vector<std::string> indices = writer.delinearize("row", spec.shape, kept, "idx");
    if (rows > 1) {
      writer.line("row = row[:, None]");
      for (std::string &index : indices)
        index += "[:, None]";
    }
    emitKeys(writer, round, indices, size);
    writer.line("packed = tl.sort(tl.where(mask, packed, " + packing.largest() + "))");
    emitSorted(writer, round, last, indices, size);
    KernelText text = writer.finish(grid, width);
    // Eight numbers of a thread, which exchange without leaving it.
    text.numWarps = static_cast<int32_t>(std::clamp<int64_t>(rows * width / 256, 1, 16));
    return text;
  }

  /// `packed`, of what stands at `i`.
  void emitKeys(KernelWriter &writer, const Round &round, const std::vector<std::string> &indices,
                const std::string &size) {
    if (!round.half) {
      writer.line("packed = tl.load(p0 + row * " + size + " + i, mask=mask, other=0)");
      return;
    }
    checkLength(writer, spec, symbols);
    if (round.ordered)
      writer.line("at = tl.load(order + row * " + size + " + i, mask=mask, other=0)");
    writer.line("x = tl.load(p0 + (" +
                elementAddress(writer, spec.input, indices, round.ordered ? "at" : "i") +
                "), mask=mask, other=0)");
    emitPacked(writer, spec, *round.half, "i", packing);
  }

  /// `packed` goes to place `i` where `mask`; with the last launch, what it stands for.
  void emitSorted(KernelWriter &writer, const Round &round, bool last,
                  const std::vector<std::string> &indices, const std::string &size) {
    if (!last) {
      writer.line("tl.store(o0 + row * " + size + " + i, packed, mask=mask)");
      return;
    }
    writer.line("at = (packed & " + packing.placeMask() + ").to(tl.int64)");
    if (round.ordered)
      writer.line("at = tl.load(order + row * " + size + " + at, mask=mask, other=0)");
    if (round.leavesOrder) {
      writer.line("tl.store(o0 + row * " + size + " + i, at, mask=mask)");
      return;
    }
    writer.line("inside = mask & (i < " + writer.scalar(spec.places) + ")");
    writer.line("value = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "at") +
                "), mask=inside, other=0)");
    writer.line(storeText("o0", elementAddress(writer, spec.outputs[0], indices, "i"), "value",
                          spec.outputs[0].dtype, "inside"));
    writer.line(storeText("o1", elementAddress(writer, spec.outputs[1], indices, "i"), "at",
                          spec.outputs[1].dtype, "inside"));
  }

  /// A program finds by two searches at once which numbers of two neighbouring runs are its tile of
  /// their merge. Ascending ones and behind them descending ones are what a bitonic merge takes.
  KernelText mergeRuns(const Round &round, int64_t run, bool last) {
    KernelWriter writer(last ? spec.name : name("_merge"));
    writer.pointer("runs");
    if (last && !round.leavesOrder)
      writer.pointer("p0");
    if (last && round.ordered)
      writer.pointer("order");
    writer.pointer("o0");
    if (last && !round.leavesOrder)
      writer.pointer("o1");
    std::string size = writer.scalar(length), length1 = number(run), length2 = number(2 * run);
    writer.chunksOfRows(size, "i");
    writer.line("start = (pid % chunks) * BLOCK");
    writer.line("first = start // " + length2 + " * " + length2);
    writer.line("left = runs + row * " + size + " + first");
    writer.line("left_count = tl.minimum(" + size + " - first, " + length1 + ")");
    writer.line("right_count = tl.maximum(tl.minimum(" + size + " - first - " + length1 + ", " +
                length1 + "), 0)");
    writer.line("begin = start - first");
    writer.line("end = tl.minimum(begin + BLOCK, left_count + right_count)");
    emitSplits(writer, run);
    writer.line("count = end - begin");
    writer.line("from_left = low_end - low_begin");
    writer.line("t = tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("back = BLOCK - 1 - t");
    writer.line("is_left = t < from_left");
    writer.line("is_right = back < count - from_left");
    writer.line("offset = tl.where(is_left, low_begin + t, " + length1 +
                " + begin - low_begin + back)");
    writer.line("packed = tl.load(left + offset, mask=is_left | is_right, other=" +
                packing.largest() + ")");
    writer.line("packed = tl.bitonic_merge(packed)");
    std::vector<std::string> indices;
    if (last)
      indices = writer.delinearize("row", spec.shape, kept, "idx");
    emitSorted(writer, round, last, indices, size);
    KernelText text = writer.finish(symbolic::ceilDiv(length, mergedTile) * lines, mergedTile);
    text.numWarps = 8;
    return text;
  }

  /// `low_begin` and `low_end`: how many of the first `begin` and `end` numbers are from the left.
  void emitSplits(KernelWriter &writer, int64_t run) {
    int64_t rounds = 0;
    for (int64_t left = run; left > 0; left = (left + probes - 1) / probes - 1)
      ++rounds;
    std::string last = number(probes - 1), all = number(probes);
    writer.line("side = tl.arange(0, 2)");
    writer.line("split = tl.where(side == 0, begin, end)");
    writer.line("low = tl.maximum(split - right_count, 0)");
    writer.line("high = tl.minimum(split, left_count)");
    writer.line("probe = (tl.arange(0, " + all + ") + 1).to(tl.int64)[None, :]");
    writer.open("for turn in range(0, " + number(rounds) + "):");
    writer.line("step = (high - low + " + last + ") // " + all);
    writer.line("at = low[:, None] + probe * step[:, None]");
    writer.line("there = (at > low[:, None]) & (at <= high[:, None])");
    writer.line("a = tl.load(left + at - 1, mask=there, other=0)");
    writer.line("b = tl.load(left + " + number(run) +
                " + split[:, None] - at, mask=there, other=0)");
    writer.line("low = low + tl.sum((there & (a < b)).to(tl.int32), axis=1).to(tl.int64) * step");
    writer.line("high = tl.minimum(high, low + step - 1)");
    writer.close();
    writer.line("low_begin = tl.sum(tl.where(side == 0, low, 0), axis=0)");
    writer.line("low_end = tl.sum(tl.where(side == 1, low, 0), axis=0)");
  }

  KernelSequence &sequence;
  const LineSpec &spec;
  const SymbolTable &symbols;
  Packing packing;
  Expr length, lines = 1;
  size_t kept = 0;
  int64_t longest = 0;
};

} // namespace

void appendMergeSort(KernelSequence &sequence, const LineSpec &spec, const SymbolTable &symbols) {
  MergeSort(sequence, spec, symbols).sortElements();
}

size_t appendSortedNumbers(KernelSequence &sequence, const std::string &name, const Expr &count,
                           size_t from, size_t to, const SymbolTable &symbols) {
  LineSpec spec;
  spec.name = name;
  spec.shape = {count};
  return MergeSort(sequence, spec, symbols).sortNumbers(from, to);
}

} // namespace pellucid::passes
