// SPDX-License-Identifier: Apache-2.0
// Orders of lines: which way is taken, and the choice of a few by tiles. MergeText.cpp has long
// lines of a device, RadixText.cpp those of a CPU.
#include "passes/graph/SortText.h"

#include <algorithm>
#include <limits>

namespace pellucid::passes {

namespace {

constexpr int64_t countedLength = 128; ///< of lines that are sorted by counting
constexpr int64_t roundsLength = 2048; ///< of lines whose few largest are taken one after another
constexpr int64_t mostRounds = 12;     ///< of longer lines than counted ones: then a choice by bits
constexpr int64_t tileLength = 2048;   ///< of what one program chooses from
constexpr int64_t largestChoice = 512;
constexpr int64_t longestSortedLine = int64_t(1) << 32;
constexpr int64_t narrowPlaces = int64_t(1) << 16;

/// Sequences of kernels over one operator's lines.
class Sorting {
public:
  Sorting(const LineSpec &s, const SymbolTable &t) : spec(s), symbols(t), packing(packingOf(s, t)) {
    sequence.results = 2;
    length = spec.shape.back();
    kept = spec.shape.size() - 1;
    lines = product(spec.shape, 0, kept);
  }

  KernelSequence write(bool forCpu) {
    int64_t longest = symbols.range(length).max, chosen = symbols.range(spec.places).max;
    if (forCpu && isTakenByRounds(longest, chosen))
      sequence.steps.push_back({takenByRounds(longest), {0}, {1, 2}});
    else if (forCpu && longest <= countedLength)
      sequence.steps.push_back({counted(), {0}, {1, 2}});
    else if (forCpu)
      onOneProgram(chosen);
    else if (chosen <= std::min(largestChoice, longest / 2) && !isWide(spec.input.dtype))
      choose(powerOver(std::max<int64_t>(chosen, 1)));
    else
      appendMergeSort(sequence, spec, symbols);
    return std::move(sequence);
  }

private:
  void onOneProgram(int64_t chosen) {
    bool few =
        chosen <= 4096 &&
        symbols.prove(symbolic::lessEqual(spec.places * 8, length)).value_or(!length.isConstant());
    if (few && !isWide(spec.input.dtype))
      appendSelection(sequence, spec, symbols);
    else
      appendRadixSort(sequence, spec, symbols);
  }

  /// A round reads the line once, counting reads it as often as it is long, a choice by bits some
  /// thirty times.
  bool isTakenByRounds(int64_t longest, int64_t chosen) const {
    return !isWide(spec.input.dtype) && longest <= roundsLength && chosen <= longest / 2 &&
           (longest <= countedLength || chosen <= mostRounds);
  }

  std::string name(const char *what) const { return spec.name + what; }

  /// One program per line: the largest number, then the largest below it. Numbers differ, because
  /// each has its place.
  KernelText takenByRounds(int64_t longest) {
    KernelWriter writer(spec.name);
    for (const char *pointer : {"p0", "o0", "o1"})
      writer.pointer(pointer);
    writer.line("line = tl.program_id(0).to(tl.int64)");
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
    writer.line("i = tl.arange(0, BLOCK).to(tl.int64)");
    loadTile(writer, 0, length, indices);
    writer.line("best = tl.max(packed, axis=0)");
    writer.open("for turn in range(0, " + writer.scalar(spec.places) + "):");
    writer.line("place = turn.to(tl.int64)");
    writer.line("at = ((best ^ -1) & " + packing.placeMask() + ").to(tl.int64)");
    writer.line("value = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "at") +
                "))");
    writer.line(storeText("o0", elementAddress(writer, spec.outputs[0], indices, "place"), "value",
                          spec.outputs[0].dtype, ""));
    writer.line(storeText("o1", elementAddress(writer, spec.outputs[1], indices, "place"), "at",
                          spec.outputs[1].dtype, ""));
    writer.line("best = tl.max(tl.where(packed < best, packed, " + packing.smallest() +
                "), axis=0)");
    writer.close();
    return writer.finish(lines, std::max<int64_t>(powerOver(longest), 2));
  }

  /// Each element counts those that come before it, which is its place: stable, in any number of
  /// programs, and quadratic in the length of a line.
  KernelText counted() {
    KernelWriter writer(spec.name);
    for (const char *pointer : {"p0", "o0", "o1"})
      writer.pointer(pointer);
    std::string type = tlName(spec.compute);
    int64_t block = chooseBlock(length, symbols, 256);
    std::string size = writer.scalar(length);
    writer.chunksOfRows(size, "i");
    std::vector<std::string> indices = writer.delinearize("row", spec.shape, kept, "idx");
    writer.line("stored = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "i") +
                "), mask=mask, other=0)");
    writer.line("x = stored.to(" + type + ")");
    writer.line("place = tl.zeros([BLOCK], tl.int32)");
    writer.open("for j in range(0, " + size + "):");
    writer.line("other = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "j") +
                ")).to(" + type + ")");
    std::string before = spec.descending ? "other > x" : "other < x", same = "other == x";
    if (isFloat(spec.compute)) {
      // NaN counts as the largest.
      before =
          "(" + before + ") | " +
          (spec.descending ? "((other != other) & (x == x))" : "((other == other) & (x != x))");
      same = "(" + same + ") | ((other != other) & (x != x))";
    }
    writer.line("before = (" + before + ") | ((" + same + ") & (j < i))");
    writer.line("place = place + before.to(tl.int32)");
    writer.close();
    writer.line("inside = mask & (place < " + writer.scalar(spec.places) + ")");
    writer.line("place = place.to(tl.int64)");
    writer.line(storeText("o0", elementAddress(writer, spec.outputs[0], indices, "place"), "stored",
                          spec.outputs[0].dtype, "inside"));
    writer.line(storeText("o1", elementAddress(writer, spec.outputs[1], indices, "place"), "i",
                          spec.outputs[1].dtype, "inside"));
    return writer.finish(symbolic::ceilDiv(length, block) * lines, block);
  }

  /// Every tile keeps its first `width`; then the same of what is left, until it is one tile.
  void choose(int64_t width) {
    size_t source = 0;
    Expr count = length;
    int64_t most = std::min(symbols.range(count).max, longestSortedLine);
    for (; most > tileLength; most = (most + tileLength - 1) / tileLength * width) {
      Expr tiles = symbolic::ceilDiv(count, tileLength);
      size_t chosen = sequence.buffer(packing.type(), {lines, tiles, width});
      sequence.steps.push_back({chooseOfTiles(source, count, tiles, width), {source}, {chosen}});
      source = chosen;
      count = tiles * width;
    }
    std::vector<size_t> reads{0};
    if (source)
      reads.push_back(source);
    sequence.steps.push_back(
        {chooseLast(source, count, std::max(width, powerOver(most)), width), reads, {1, 2}});
  }

  /// The tile `packed` of `count` numbers from `p<from>`, where `i` is inside; the largest first
  /// are what comes first.
  void loadTile(KernelWriter &writer, size_t source, const Expr &count,
                const std::vector<std::string> &indices) {
    std::string size = writer.scalar(count);
    writer.line("mask = i < " + size);
    if (source == 0) {
      writer.line("x = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "i") +
                  "), mask=mask, other=0)");
      emitPacked(writer, spec, KeyHalf::Whole, "i", packing);
      writer.line("packed = tl.where(mask, packed ^ -1, " + packing.smallest() + ")");
    } else {
      writer.line("packed = tl.load(p1 + line * " + size +
                  " + i, mask=mask, other=" + packing.smallest() + ")");
    }
  }

  KernelText chooseOfTiles(size_t source, const Expr &count, const Expr &tiles, int64_t width) {
    KernelWriter writer(name("_tiles"));
    writer.pointer(source ? "p1" : "p0");
    writer.pointer("o0");
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string all = writer.scalar(tiles);
    writer.line("line = pid // " + all);
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
    writer.line("i = (pid % " + all + ") * BLOCK + tl.arange(0, BLOCK)");
    if (!source)
      checkLength(writer, spec, symbols);
    loadTile(writer, source, count, indices);
    writer.line("packed = tl.topk(packed, " + number(width) + ")");
    writer.line("tl.store(o0 + pid * " + number(width) + " + tl.arange(0, " + number(width) +
                "), packed)");
    KernelText text = writer.finish(lines * tiles, tileLength);
    text.numWarps = 8;
    return text;
  }

  KernelText chooseLast(size_t source, const Expr &count, int64_t block, int64_t width) {
    KernelWriter writer(spec.name);
    writer.pointer("p0");
    if (source)
      writer.pointer("p1");
    writer.pointer("o0");
    writer.pointer("o1");
    writer.line("line = tl.program_id(0).to(tl.int64)");
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
    writer.line("i = tl.arange(0, BLOCK).to(tl.int64)");
    loadTile(writer, source, count, indices);
    writer.line("packed = tl.topk(packed, " + number(width) + ") ^ -1");
    writer.line("at = (packed & " + packing.placeMask() + ").to(tl.int64)");
    writer.line("place = tl.arange(0, " + number(width) + ").to(tl.int64)");
    writer.line("inside = place < " + writer.scalar(spec.places));
    emitChosen(writer, indices);
    KernelText text = writer.finish(lines, block);
    text.numWarps = static_cast<int32_t>(std::clamp<int64_t>(block / 256, 1, 8));
    return text;
  }

  /// Stores element `at` of the line at `place`, where `inside`.
  void emitChosen(KernelWriter &writer, const std::vector<std::string> &indices) {
    writer.line("value = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "at") +
                "), mask=inside, other=0)");
    writer.line(storeText("o0", elementAddress(writer, spec.outputs[0], indices, "place"), "value",
                          spec.outputs[0].dtype, "inside"));
    writer.line(storeText("o1", elementAddress(writer, spec.outputs[1], indices, "place"), "at",
                          spec.outputs[1].dtype, "inside"));
  }

  const LineSpec &spec;
  const SymbolTable &symbols;
  Packing packing;
  KernelSequence sequence;
  Expr length, lines = 1;
  size_t kept = 0;
};

} // namespace

bool isWide(DataType type) { return byteSize(type) == 8; }

Packing packingOf(const LineSpec &spec, const SymbolTable &symbols) {
  DataType type = spec.input.dtype;
  bool hasNarrowKey = type == DataType::Float16 || type == DataType::BFloat16 ||
                      (!isFloat(type) && byteSize(type) < 2) || type == DataType::Int16;
  return {hasNarrowKey && symbols.range(spec.shape.back()).max <= narrowPlaces};
}

/// `key`, whose order as an integer of `bits` bits is that of the floats.
static void emitFloatKey(KernelWriter &writer, DataType type, int64_t bits) {
  std::string word = bits == 64 ? "tl.int64" : "tl.int32", shift = number(bits == 64 ? 63 : 31);
  std::string top = number(bits == 64   ? std::numeric_limits<int64_t>::max()
                           : bits == 32 ? std::numeric_limits<int32_t>::max()
                                        : std::numeric_limits<int16_t>::max());
  writer.line(std::string("number = x.to(") + (bits == 64 ? "tl.float64" : "tl.float32") + ")");
  writer.line("bits = " +
              (bits == 16 ? "x.to(" + tlName(type) + ").to(tl.int16, bitcast=True).to(tl.int32)"
                          : "number.to(" + word + ", bitcast=True)"));
  writer.line("bits = tl.where(number == 0, 0, bits)");
  writer.line("bits = tl.where(number != number, " + top + ", bits).to(" + word + ")");
  writer.line("key = bits ^ ((bits >> " + shift + ") & " + top + ")");
}

void emitPacked(KernelWriter &writer, const LineSpec &spec, KeyHalf half, const std::string &place,
                const Packing &packing) {
  DataType type = spec.input.dtype;
  bool wide = isWide(type);
  if (isFloat(type))
    emitFloatKey(writer, type, wide ? 64 : packing.narrow ? 16 : 32);
  else if (type == DataType::UInt64)
    writer.line("key = x.to(tl.int64, bitcast=True) ^ (-9223372036854775807 - 1)");
  else if (type == DataType::UInt32)
    writer.line("key = (x.to(tl.int64) - 2147483648).to(tl.int32)");
  else
    writer.line(std::string("key = x.to(") + (wide ? "tl.int64)" : "tl.int32)"));
  if (spec.descending)
    writer.line("key = key ^ -1");
  if (packing.narrow) {
    writer.line("packed = (key << 16) | (" + place + ").to(tl.int32)");
    return;
  }
  std::string part = half == KeyHalf::Low    ? "((key & 4294967295) - 2147483648)"
                     : half == KeyHalf::High ? "(key >> 32)"
                                             : "key.to(tl.int64)";
  writer.line("packed = (" + part + " << 32) | " + place);
}

std::string elementAddress(KernelWriter &writer, const TextOperand &operand,
                           const std::vector<std::string> &lines, const std::string &position) {
  std::vector<std::string> indices = lines;
  indices.push_back(position);
  // Along a broadcast dim the address is one number, and a tile of addresses is what is loaded.
  bool repeats = operand.strides.back().constant() == 0;
  return writer.address(operand, indices) + (repeats ? " + " + position + " * 0" : "");
}

void checkLength(KernelWriter &writer, const LineSpec &spec, const SymbolTable &symbols) {
  const Expr &length = spec.shape.back();
  if (symbols.range(length).max >= int64_t(1) << 32)
    writer.check(writer.scalar(length) + " < 4294967296",
                 "'" + spec.operation + "' sorts lines of less than 2**32 elements", spec.where);
}

KernelSequence writeSort(LineSpec spec, const SymbolTable &symbols, bool forCpu) {
  return Sorting(spec, symbols).write(forCpu);
}

} // namespace pellucid::passes
