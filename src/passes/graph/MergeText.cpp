// SPDX-License-Identifier: Apache-2.0
// Orders of lines on a device. Elements are distributed by one digit of their keys after the other,
// least first (docs/design/0066): short lines within a block, longer ones by a launch for each
// digit, in which a tile looks back at how many of each digit the tiles before it have. Numbers
// that are packed already are sorted by tiles, of which two runs become one until a run is a line
// (docs/design/0034). What is equal cannot occur: a packed number holds its place.
#include "passes/graph/ScatterText.h"
#include "passes/graph/SortText.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

constexpr int64_t sortedTile = 4096;    ///< numbers that one program sorts
constexpr int64_t heldLine = 8192;      ///< of the longest line that one program holds
constexpr int64_t leastByDigits = 1024; ///< shorter lines are compared
constexpr int64_t digitTile = 4096;     ///< numbers of which one program distributes
constexpr int64_t digitBits = 8, bins = int64_t(1) << digitBits;
constexpr int64_t lookedAt = 16;                 ///< tiles before that one look takes in
constexpr int64_t tickets = 32;                  ///< words in front of what is counted
constexpr int64_t mostInWord = int64_t(1) << 30; ///< counts that two marks fit above in 32 bits
constexpr int64_t mergedTile = 2048;             ///< numbers that one program of a merge writes
constexpr int64_t probes = 128;                  ///< places that one round of a search looks at
constexpr int64_t longestLine = int64_t(1) << 32;

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

/// One digit of packed numbers: from which bit on, and whether its upper bit is a sign.
struct Digit {
  int64_t shift = 0;
  bool isSigned = false;
};

/// The digits in which keys differ, least first. Those of few bits have a sign above, or nothing.
std::vector<Digit> digitsOf(DataType type, const Packing &packing) {
  if (packing.narrow)
    return type == DataType::UInt8 || type == DataType::Bool ? std::vector<Digit>{{16}}
                                                             : std::vector<Digit>{{16}, {24, true}};
  switch (type) {
  case DataType::Bool:
  case DataType::UInt8:
    return {{32}};
  case DataType::UInt16:
    return {{32}, {40}};
  case DataType::Int8:
    return {{32}, {56, true}};
  case DataType::Int16:
    return {{32}, {40}, {56, true}};
  case DataType::BFloat16: // the rest of its f32 is its sign
    return {{48}, {56, true}};
  case DataType::Float16:
    return {{40}, {48}, {56, true}};
  default:
    return {{32}, {40}, {48}, {56, true}};
  }
}

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
      sequence.steps.push_back({mergeRuns(run), {from}, {to}});
    }
    return to;
  }

private:
  void sort(const Round &round, std::optional<size_t> order, std::vector<size_t> results) {
    std::vector<size_t> reads{0};
    if (order)
      reads.push_back(*order);
    if (longest <= heldLine) {
      sequence.steps.push_back({sortTiles(round, true), reads, results});
      return;
    }
    sortByDigits(round, order, results);
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
    bool byDigits = round.half && longest >= leastByDigits;
    int64_t width = std::clamp<int64_t>(powerOver(longest), 16, byDigits ? heldLine : sortedTile);
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
    writer.line("packed = tl.where(mask, packed, " + packing.largest() + ")");
    if (!byDigits)
      writer.line("packed = tl.sort(packed)");
    else
      for (const Digit &digit : digitsOf(spec.input.dtype, packing))
        emitDistribution(writer, digit);
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

  //===--- by digits ------------------------------------------------------------------------===//

  std::string digitText(const Digit &digit) const {
    std::string text = "((packed >> " + number(digit.shift) + ") & " + number(bins - 1) + ")";
    return "(" + text + (digit.isSigned ? " ^ " + number(bins / 2) : "") + ").to(tl.int32)";
  }
  void emitDistribution(KernelWriter &writer, const Digit &digit) {
    writer.line("packed, counts = tl._distribute(packed, " + digitText(digit) + ", " +
                number(bins) + ")");
  }

  /// Counts have two marks above them.
  bool isWideState() const { return longest > mostInWord; }
  std::string stateType() const { return isWideState() ? "tl.int64" : "tl.int32"; }

  /// Words: numbers of tiles, how many of each digit a line has, and for each digit and
  /// tile what emitLookBack() leaves there.
  void sortByDigits(const Round &round, std::optional<size_t> order,
                    const std::vector<size_t> &results) {
    std::vector<Digit> digits = digitsOf(spec.input.dtype, packing);
    auto launches = static_cast<int64_t>(digits.size());
    tiles = symbolic::ceilDiv(length, digitTile);
    counted = lines * (launches * bins);
    Expr words = counted * (tiles + 1) + tickets;
    size_t state = sequence.buffer(isWideState() ? DataType::Int64 : DataType::Int32, {words});
    KernelWriter clear(name("_none"));
    clear.pointer("o0");
    clear.line("i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)");
    clear.line("tl.store(o0 + i, tl.zeros([BLOCK], " + stateType() + "), mask=i < " +
               clear.scalar(words) + ")");
    sequence.steps.push_back({clear.finish(symbolic::ceilDiv(words, 4096), 4096), {}, {state}});
    sequence.steps.push_back({countDigits(round, digits), {0}, {}, {state}});
    size_t from = 0, to = 0, spare = 0;
    if (launches > 1)
      to = sequence.buffer(packing.type(), {lines, length});
    if (launches > 2)
      spare = sequence.buffer(packing.type(), {lines, length});
    for (int64_t at = 0; at < launches; ++at) {
      bool isFirst = at == 0, isLast = at + 1 == launches;
      std::vector<size_t> reads{isFirst ? 0 : from};
      if (!isFirst && isLast && !round.leavesOrder)
        reads.push_back(0);
      if (order && (isFirst || isLast))
        reads.push_back(*order);
      sequence.steps.push_back({distribute(round, digits, at),
                                reads,
                                isLast ? results : std::vector<size_t>{to},
                                {state}});
      from = to;
      std::swap(to, spare);
    }
  }

  /// Adds up how many of each digit there are; a program takes as much as leaves the device full.
  KernelText countDigits(const Round &round, const std::vector<Digit> &digits) {
    constexpr int64_t wanted = 528, mostTiles = 64;
    KernelWriter writer(name("_digits"));
    writer.pointer("p0");
    writer.pointer("state");
    int64_t each = 4;
    if (auto all = (lines * tiles).constant())
      each = std::clamp<int64_t>(*all / wanted, 1, mostTiles);
    std::string size = writer.scalar(length), piece = number(each * digitTile);
    Expr parts = symbolic::ceilDiv(length, each * digitTile);
    std::string count = writer.scalar(parts);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    writer.line("row = pid // " + count);
    writer.line("begin = pid % " + count + " * " + piece);
    std::vector<std::string> indices = writer.delinearize("row", spec.shape, kept, "idx");
    for (size_t at = 0; at < digits.size(); ++at)
      writer.line("sum" + std::to_string(at) + " = tl.zeros([" + number(bins) + "], tl.int32)");
    writer.open("for start in range(begin, tl.minimum(begin + " + piece + ", " + size +
                "), BLOCK):");
    writer.line("i = start + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = i < " + size);
    // In any order: the same elements.
    Round unordered = round;
    unordered.ordered = false;
    emitKeys(writer, unordered, indices, size);
    for (size_t at = 0; at < digits.size(); ++at)
      writer.line("sum" + std::to_string(at) + " += tl.histogram(" + digitText(digits[at]) + ", " +
                  number(bins) + ", mask=mask)");
    writer.close();
    writer.line("here = state + " + number(tickets) + " + row * " +
                number(static_cast<int64_t>(digits.size()) * bins) + " + tl.arange(0, " +
                number(bins) + ")");
    for (size_t at = 0; at < digits.size(); ++at)
      writer.line("tl.atomic_add(here + " + number(static_cast<int64_t>(at) * bins) + ", sum" +
                  std::to_string(at) + ".to(" + stateType() + "), sem=\"relaxed\")");
    KernelText text = writer.finish(parts * lines, digitTile);
    text.numWarps = 8;
    return text;
  }

  /// A program draws a number, which is its tile, and puts the tile where its digits begin.
  KernelText distribute(const Round &round, const std::vector<Digit> &digits, int64_t at) {
    bool isFirst = at == 0, isLast = at + 1 == static_cast<int64_t>(digits.size());
    KernelWriter writer(isLast ? spec.name : name("_distribute"));
    writer.pointer(isFirst ? "p0" : "runs");
    if (!isFirst && isLast && !round.leavesOrder)
      writer.pointer("p0");
    if (round.ordered && (isFirst || isLast))
      writer.pointer("order");
    writer.pointer("o0");
    if (isLast && !round.leavesOrder)
      writer.pointer("o1");
    writer.pointer("state");
    std::string size = writer.scalar(length), count = writer.scalar(tiles);
    writer.line("pid = tl.atomic_add(state + " + number(at) + ", 1, sem=\"relaxed\").to(tl.int64)");
    writer.line("row = pid // " + count);
    writer.line("part = pid % " + count);
    writer.line("t = tl.arange(0, BLOCK)");
    writer.line("i = part * BLOCK + t.to(tl.int64)");
    writer.line("mask = i < " + size);
    std::vector<std::string> indices;
    if (isFirst || isLast)
      indices = writer.delinearize("row", spec.shape, kept, "idx");
    if (isFirst) {
      emitKeys(writer, round, indices, size);
      writer.line("packed = tl.where(mask, packed, " + packing.largest() + ")");
    } else {
      writer.line("packed = tl.load(runs + row * " + size +
                  " + i, mask=mask, other=" + packing.largest() + ")");
    }
    emitDistribution(writer, digits[at]);
    writer.line("bin = tl.arange(0, " + number(bins) + ")");
    auto launches = static_cast<int64_t>(digits.size());
    emitLookBack(writer, at, count);
    // From a place in the sorted tile to one in the line.
    writer.line("all = tl.load(state + " + number(tickets + at * bins) + " + row * " +
                number(launches * bins) + " + bin) - counts");
    writer.line("from_here = tl.cumsum(all, 0) - all + before");
    writer.line("i = (tl.gather(from_here, " + digitText(digits[at]) + ", 0) + t).to(tl.int64)");
    writer.line("mask = t < " + size + " - part * BLOCK");
    emitSorted(writer, round, isLast, indices, size);
    KernelText text = writer.finish(lines * tiles, digitTile);
    text.numWarps = 8; // two blocks of a multiprocessor, as registers go
    return text;
  }

  /// `before`: how many of each digit the tiles of the line before this one have. A tile leaves its
  /// own counts at once, and those of all tiles up to it, marked by the sign, as soon as it knows
  /// them. It waits for tiles with lower numbers alone, which all have begun; these are whole
  /// numbers, so it does not matter which of their words it finds.
  void emitLookBack(KernelWriter &writer, int64_t at, const std::string &count) {
    std::string own = number(isWideState() ? int64_t(1) << 62 : mostInWord),
                sum = isWideState() ? "(-9223372036854775807 - 1)" : "(-2147483647 - 1)",
                counts = number((isWideState() ? int64_t(1) << 62 : mostInWord) - 1),
                all = number(bins), look = number(lookedAt);
    if (isWideState())
      writer.line("counts = counts.to(tl.int64)");
    writer.line("tiles = state + " + number(tickets) + " + " + writer.scalar(counted) + " + (" +
                writer.scalar(lines) + " * " + number(at) + " + row) * " + count + " * " + all);
    writer.line("mine = tiles + part * " + all + " + bin");
    writer.line("tl.atomic_xchg(mine, counts | tl.where(part > 0, " + own + ", " + sum +
                "), sem=\"relaxed\")");
    writer.line("before = tl.zeros([" + all + "], " + stateType() + ")");
    writer.line("open = tl.zeros([" + all + "], tl.int32) + (part > 0).to(tl.int32)");
    writer.line("nearest = part - 1");
    writer.line("back = tl.arange(0, " + look + ")");
    std::string load = "word = tl.load(tiles + (nearest - back)[:, None] * " + all +
                       " + bin[None, :], mask=there, other=" + sum + ", volatile=True)";
    writer.open("while tl.max(open, 0) > 0:");
    writer.line("there = (nearest >= back)[:, None] & (open > 0)[None, :]");
    writer.line(load);
    writer.open("while tl.min(tl.min((word != 0).to(tl.int32), 1), 0) == 0:");
    writer.line(load);
    writer.close();
    writer.line("stop = tl.min(tl.where(word < 0, back[:, None], " + look + "), 0)");
    writer.line("before = before + tl.sum(tl.where(back[:, None] <= stop[None, :], word & " +
                counts + ", 0), 0)");
    writer.line("open = ((open > 0) & (stop == " + look + ")).to(tl.int32)");
    writer.line("nearest = nearest - " + look);
    writer.close();
    writer.line("tl.atomic_xchg(mine, (before + counts) | " + sum + ", sem=\"relaxed\")");
  }

  //===--- by merges ------------------------------------------------------------------------===//

  /// A program finds by two searches at once which numbers of two neighbouring runs are its tile of
  /// their merge. Ascending ones and behind them descending ones are what a bitonic merge takes.
  KernelText mergeRuns(int64_t run) {
    KernelWriter writer(name("_merge"));
    writer.pointer("runs");
    writer.pointer("o0");
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
    emitSorted(writer, {}, false, {}, size);
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
  Expr tiles = 1, counted = 0; ///< of a sort by digits: tiles of a line, words of counts
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
