// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ScatterText.h"

#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

constexpr int64_t pieceEntries = 32; ///< sorted entries that one program goes through

/// `free` dims come first; every entry, an index over the ordered dims, moves what lies along them.
class ParallelScatter {
public:
  ParallelScatter(const ScatterSpec &s, const Expr &e, const SymbolTable &t, bool deterministic)
      : spec(s), elements(e), symbols(t) {
    DataType type = spec.output.dtype;
    bool isWhole = type == DataType::Int32 || type == DataType::Int64;
    // f16 and bf16 would be rounded at every step.
    bool mayReorder = (type == DataType::Float32 || type == DataType::Float64) && !deterministic;
    atomic = spec.combine == ScatterCombine::Sum && (isWhole || mayReorder);
    anyStays = !deterministic;
    if (!isShared())
      spec.ordered = spec.shape.size();
    bool inAnyOrder = atomic || (anyStays && spec.combine == ScatterCombine::Replace);
    if (inAnyOrder && spec.ordered == spec.shape.size())
      moveNearestLast();
    freeCount = spec.shape.size() - spec.ordered;
    entries = product(spec.shape, freeCount, spec.shape.size());
    freeSize = product(spec.shape, 0, freeCount);
    sequence.inputs = spec.places.size() + 1;
    result = sequence.inputs;
    columns = chooseBlock(freeCount ? spec.shape[freeCount - 1] : Expr(1), symbols, 1024);
    if (!freeCount)
      columns = 1;
  }

  std::optional<KernelSequence> write() {
    constexpr int64_t limit = int64_t(1) << 31;
    bool small = symbols.range(elements).max < limit && symbols.range(entries).max < limit;
    bool stays = anyStays && spec.combine == ScatterCombine::Replace;
    if (!small || symbols.range(entries).max <= 16 ||
        (spec.output.dtype == DataType::Bool && !stays))
      return std::nullopt;
    if (spec.combine == ScatterCombine::Replace)
      anyStays ? storeAll() : lastWins();
    else if (spec.combine != ScatterCombine::Sum)
      return std::nullopt;
    else if (atomic)
      addAtomically();
    else
      addInSegments();
    return std::move(sequence);
  }

private:
  /// Every free index scatters along the same entries.
  bool isShared() const {
    for (const TextIndex &place : spec.places)
      for (size_t d = 0; d + spec.ordered < spec.shape.size(); ++d)
        if (place.operand.strides[d].constant() != 0)
          return false;
    return true;
  }

  std::vector<size_t> indexTensors() const {
    std::vector<size_t> list;
    for (size_t k = 0; k < spec.places.size(); ++k)
      list.push_back(k);
    return list;
  }
  void nameIndices(KernelWriter &writer) const {
    for (size_t k = 0; k < spec.places.size(); ++k)
      writer.pointer("p" + number(static_cast<int64_t>(k)));
  }

  /// The ordered indices of the entry `j`, after empty names for the free ones.
  std::vector<std::string> entryIndices(KernelWriter &writer, const std::string &j) {
    std::vector<Expr> shape(spec.shape.begin() + static_cast<long>(freeCount), spec.shape.end());
    std::vector<std::string> indices(freeCount);
    for (const std::string &name : writer.delinearize(j, shape, shape.size(), "s"))
      indices.push_back(name);
    return indices;
  }

  /// `offset`, where entry `j` (a tile, `mask`) goes in the result, its free indices 0; `key`, its
  /// number among the places of all entries.
  void emitOffsets(KernelWriter &writer, bool checks) {
    std::vector<std::string> indices = entryIndices(writer, "j");
    // Dims that are ordered for want of a shared index have strides of their own.
    writer.line("offset = j * 0 + " + writer.address(spec.output, indices));
    writer.line("key = offset");
    std::string key;
    for (size_t k = 0; k < spec.places.size(); ++k) {
      const TextIndex &place = spec.places[k];
      std::string name = "index" + number(static_cast<int64_t>(k)),
                  size = writer.scalar(place.size);
      writer.line(name + " = tl.load(p" + number(static_cast<int64_t>(k)) + " + j * 0 + (" +
                  writer.address(place.operand, indices) + "), mask=mask, other=0).to(tl.int64)");
      if (place.wraps)
        writer.line(name + " = tl.where(" + name + " < 0, " + name + " + " + size + ", " + name +
                    ")");
      if (checks)
        writer.check("((" + name + " >= 0) & (" + name + " < " + size + ")) | (mask == 0)",
                     "'" + spec.operation + "' got an index out of range", spec.where);
      writer.line("offset = offset + " + name + " * " + writer.scalar(place.along));
      key = key.empty() ? name : "(" + key + ") * " + size + " + " + name;
    }
    writer.line("key = " + std::string(freeCount || isFlat() ? key : "offset"));
  }
  /// All dims are indexed, or there is one.
  bool isFlat() const {
    for (const Expr &stride : spec.output.strides)
      if (stride.constant() != 0)
        return false;
    return true;
  }
  Expr keys() const {
    if (!freeCount && !isFlat())
      return elements;
    Expr all = 1;
    for (const TextIndex &place : spec.places)
      all = all * place.size;
    return all;
  }

  /// Tiles of entries by free elements: `j` and the free indices; `mask` is of entries, `inside` of
  /// both. Returns indices for all dims.
  std::vector<std::string> openTiles(KernelWriter &writer, bool checks, Expr &grid) {
    int64_t rows = std::max<int64_t>(1, 1024 / columns);
    std::vector<Expr> free(spec.shape.begin(), spec.shape.begin() + static_cast<long>(freeCount));
    Expr chunks = freeCount ? symbolic::ceilDiv(free.back(), columns) : Expr(1);
    if (freeCount)
      free.back() = chunks;
    Expr groups = symbolic::ceilDiv(entries, rows);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string count = writer.scalar(groups);
    writer.line("j = (pid % " + count + ") * " + number(rows) + " + tl.arange(0, " + number(rows) +
                ")");
    writer.line("mask = j < " + writer.scalar(entries));
    writer.line("chunk = pid // " + count);
    std::vector<std::string> indices = writer.delinearize("chunk", free, freeCount, "idx");
    std::string inside = "mask[:, None]";
    if (freeCount) {
      writer.line("col = " + indices.back() + " * " + number(columns) + " + tl.arange(0, " +
                  number(columns) + ")");
      indices.back() = "col[None, :]";
      inside += " & (col < " + writer.scalar(spec.shape[freeCount - 1]) + ")[None, :]";
    }
    emitOffsets(writer, checks);
    writer.line("inside = " + inside);
    for (size_t d = 0; d < spec.ordered; ++d)
      indices.push_back("s" + number(static_cast<int64_t>(d)) + "[:, None]");
    grid = groups * product(free, 0, freeCount);
    return indices;
  }

  std::string freeAddress(KernelWriter &writer, const std::vector<std::string> &indices) {
    TextOperand free = spec.output;
    for (size_t d = freeCount; d < free.strides.size(); ++d)
      free.strides[d] = 0;
    return writer.address(free, indices);
  }

  /// The result is that of the last entry that goes to a place: the largest number wins.
  void lastWins() {
    size_t winners = sequence.buffer(DataType::Int32, {keys()});
    KernelWriter fill(spec.name + "_none");
    fill.pointer("o0");
    fill.line("i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)");
    fill.line("tl.store(o0 + i, tl.full([BLOCK], -1, tl.int32), mask=i < " + fill.scalar(keys()) +
              ")");
    sequence.steps.push_back({fill.finish(symbolic::ceilDiv(keys(), 1024), 1024), {}, {winners}});

    KernelWriter choose(spec.name + "_winners");
    nameIndices(choose);
    choose.pointer("o0");
    choose.line("j = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)");
    choose.line("mask = j < " + choose.scalar(entries));
    emitOffsets(choose, true);
    choose.line("tl.atomic_max(o0 + key, j.to(tl.int32), mask=mask)");
    sequence.steps.push_back(
        {choose.finish(symbolic::ceilDiv(entries, 256), 256), indexTensors(), {}, {winners}});

    KernelWriter move(spec.name);
    nameIndices(move);
    move.pointer("source");
    move.pointer("winners");
    move.pointer("o0");
    Expr grid = 1;
    std::vector<std::string> indices = openTiles(move, false, grid);
    move.line("wins = tl.load(winners + key, mask=mask, other=-1) == j");
    move.line("inside = inside & wins[:, None]");
    std::string shape = tileShape();
    move.line("v = tl.load(source + tl.broadcast_to(" + move.address(spec.source, indices) + ", " +
              shape + "), mask=inside, other=0)");
    move.line("tl.store(o0 + tl.broadcast_to(offset[:, None] + " + freeAddress(move, indices) +
              ", " + shape + "), v, mask=inside)");
    std::vector<size_t> reads = indexTensors();
    reads.push_back(spec.places.size());
    reads.push_back(winners);
    sequence.steps.push_back({move.finish(grid, columns), reads, {}, {result}});
  }
  std::string tileShape() const {
    return "[" + number(std::max<int64_t>(1, 1024 / columns)) + ", " + number(columns) + "]";
  }

  /// Where the order of entries does not matter, neighbours in memory are neighbours.
  void moveNearestLast() {
    for (size_t d = 0; d + 1 < spec.shape.size(); ++d) {
      if (spec.source.strides[d].constant() != 1)
        continue;
      auto move = [&](std::vector<Expr> &list) {
        std::rotate(list.begin() + static_cast<long>(d), list.begin() + static_cast<long>(d) + 1,
                    list.end());
      };
      move(spec.shape);
      move(spec.source.strides);
      move(spec.output.strides);
      for (TextIndex &place : spec.places)
        move(place.operand.strides);
      return;
    }
  }

  /// Sums of integers are the same in any order, those of floats nearly.
  void addAtomically() { reach("tl.atomic_add(", ", sem=\"relaxed\""); }
  /// Of several entries that go to one place any one stays, as PyTorch's kernels have it.
  void storeAll() { reach("tl.store(", ""); }

  void reach(const std::string &operation, const std::string &options) {
    KernelWriter writer(spec.name);
    nameIndices(writer);
    writer.pointer("source");
    writer.pointer("o0");
    Expr grid = 1;
    std::vector<std::string> indices = openTiles(writer, true, grid);
    std::string shape = tileShape();
    writer.line("v = tl.load(source + tl.broadcast_to(" + writer.address(spec.source, indices) +
                ", " + shape + "), mask=inside, other=0)");
    writer.line(operation + "o0 + tl.broadcast_to(offset[:, None] + " +
                freeAddress(writer, indices) + ", " + shape + "), v.to(" +
                tlName(spec.output.dtype) + "), mask=inside" + options + ")");
    std::vector<size_t> reads = indexTensors();
    reads.push_back(spec.places.size());
    sequence.steps.push_back({writer.finish(grid, columns), reads, {}, {result}});
  }

  /// Entries sorted by where they go, then by their order. A program goes through a piece of them:
  /// a sum that begins and ends inside is added at once; what a piece leaves at its ends is added
  /// by a second launch, in ascending order of the pieces.
  void addInSegments() {
    size_t from = sequence.buffer(DataType::Int64, {entries}),
           to = sequence.buffer(DataType::Int64, {entries});
    KernelWriter pack(spec.name + "_keys");
    nameIndices(pack);
    pack.pointer("o0");
    pack.line("j = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)");
    pack.line("mask = j < " + pack.scalar(entries));
    emitOffsets(pack, true);
    pack.line("tl.store(o0 + j, (offset << 32) | j, mask=mask)");
    sequence.steps.push_back(
        {pack.finish(symbolic::ceilDiv(entries, 256), 256), indexTensors(), {from}});
    size_t sorted = appendSortedNumbers(sequence, spec.name, entries, from, to, symbols);
    Expr pieces = symbolic::ceilDiv(entries, pieceEntries);
    size_t heads = sequence.buffer(spec.compute, {pieces, freeSize}),
           tails = sequence.buffer(spec.compute, {pieces, freeSize});
    sequence.steps.push_back(
        {sumPieces(pieces), {sorted, spec.places.size()}, {heads, tails}, {result}});
    sequence.steps.push_back({joinPieces(pieces), {sorted, heads, tails}, {}, {result}});
  }

  /// Opens a program of piece `g` and a tile of free elements: `col`, `mask`, the addresses `at` in
  /// the result and `kept` in what pieces leave.
  std::vector<std::string> openPiece(KernelWriter &writer, const Expr &pieces, Expr &grid) {
    std::vector<Expr> free(spec.shape.begin(), spec.shape.begin() + static_cast<long>(freeCount));
    if (freeCount)
      free.back() = symbolic::ceilDiv(free.back(), columns);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string count = writer.scalar(pieces), size = writer.scalar(entries),
                length = number(pieceEntries);
    writer.line("g = pid % " + count);
    writer.line("chunk = pid // " + count);
    std::vector<std::string> indices = writer.delinearize("chunk", free, freeCount, "idx");
    std::string column = freeCount ? indices.back() + " * BLOCK + " : "";
    writer.line("col = " + column + "tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = col < " + (freeCount ? writer.scalar(spec.shape[freeCount - 1]) : "1"));
    std::string linear = "col";
    if (freeCount) {
      indices.back() = "col";
      for (size_t d = freeCount - 1; d-- > 0;)
        linear += " + " + indices[d] + " * " + writer.scalar(product(spec.shape, d + 1, freeCount));
    }
    writer.line("first = g * " + length);
    writer.line("end = tl.minimum(first + " + length + ", " + size + ")");
    writer.line("kept = " + linear);
    indices.resize(spec.shape.size());
    writer.line("at = o0 + tl.broadcast_to(" + freeAddress(writer, indices) + ", [BLOCK])");
    grid = pieces * product(free, 0, freeCount);
    return indices;
  }

  KernelText sumPieces(const Expr &pieces) {
    KernelWriter writer(spec.name + "_pieces");
    for (const char *name : {"sorted", "source", "heads", "tails", "o0"})
      writer.pointer(name);
    Expr grid = 1;
    std::vector<std::string> indices = openPiece(writer, pieces, grid);
    std::string size = writer.scalar(entries), type = tlName(spec.compute),
                each = writer.scalar(freeSize);
    writer.line("acc = tl.zeros([BLOCK], " + type + ")");
    writer.line("before = tl.load(sorted + tl.maximum(first - 1, 0)) >> 32");
    writer.line("item = tl.load(sorted + first)");
    writer.line("begun = ((first == 0) | (before != (item >> 32))).to(tl.int32)");
    writer.open("for e in range(first, end):");
    writer.line("after = tl.load(sorted + tl.minimum(e + 1, " + size + " - 1))");
    writer.line("target = item >> 32");
    writer.line("j = item & 4294967295");
    std::vector<std::string> source = entryIndices(writer, "j");
    for (size_t d = 0; d < freeCount; ++d)
      source[d] = indices[d];
    writer.line("v = tl.load(source + tl.broadcast_to(" + writer.address(spec.source, source) +
                ", [BLOCK]), mask=mask, other=0)");
    writer.line("acc = (acc + v.to(" + type + ")).to(" + type + ")");
    writer.line("ends = (e + 1 == " + size + ") | ((after >> 32) != target)");
    writer.line("whole = mask & ends & (begun != 0)");
    writer.line("old = tl.load(at + target, mask=whole, other=0).to(" + type + ")");
    writer.line("tl.store(at + target, (old + acc).to(" + tlName(spec.output.dtype) +
                "), mask=whole)");
    writer.line("tl.store(heads + g * " + each + " + kept, acc, mask=mask & ends & (begun == 0))");
    writer.line("acc = tl.where(ends, 0, acc).to(" + type + ")");
    writer.line("begun = tl.where(ends, 1, begun)");
    writer.line("item = after");
    writer.close();
    writer.line("tl.store(tails + g * " + each + " + kept, acc, mask=mask)");
    KernelText text = writer.finish(grid, columns);
    text.numWarps = columns <= 64 ? 1 : 4;
    return text;
  }

  KernelText joinPieces(const Expr &pieces) {
    KernelWriter writer(spec.name);
    for (const char *name : {"sorted", "heads", "tails", "o0"})
      writer.pointer(name);
    Expr grid = 1;
    openPiece(writer, pieces, grid);
    std::string size = writer.scalar(entries), type = tlName(spec.compute),
                each = writer.scalar(freeSize), length = number(pieceEntries);
    writer.line("target = tl.load(sorted + end - 1) >> 32");
    writer.line("before = tl.load(sorted + tl.maximum(first - 1, 0)) >> 32");
    writer.line("after = tl.load(sorted + tl.minimum(end, " + size + " - 1)) >> 32");
    writer.line("begins = (first == 0) | (before != target)");
    writer.open("if begins & (end < " + size + ") & (after == target):");
    writer.line("acc = tl.load(tails + g * " + each + " + kept, mask=mask, other=0)");
    writer.line("q = g + 1");
    writer.line("goes = tl.cast(1, tl.int32)");
    writer.open("while goes != 0:");
    writer.line("last = tl.minimum((q + 1) * " + length + ", " + size + ")");
    writer.line("own = tl.load(sorted + last - 1) >> 32");
    writer.line("next = tl.load(sorted + tl.minimum(last, " + size + " - 1)) >> 32");
    writer.line("through = (last < " + size + ") & (own == target) & (next == target)");
    writer.line("head = tl.load(heads + q * " + each +
                " + kept, mask=mask & (through == 0), "
                "other=0)");
    writer.line("tail = tl.load(tails + q * " + each + " + kept, mask=mask & through, other=0)");
    writer.line("acc = (acc + head + tail).to(" + type + ")");
    writer.line("goes = through.to(tl.int32)");
    writer.line("q = q + 1");
    writer.close();
    writer.line("old = tl.load(at + target, mask=mask, other=0).to(" + type + ")");
    writer.line("tl.store(at + target, (old + acc).to(" + tlName(spec.output.dtype) +
                "), mask=mask)");
    writer.close();
    KernelText text = writer.finish(grid, columns);
    text.numWarps = columns <= 64 ? 1 : 4;
    return text;
  }

  ScatterSpec spec;
  Expr elements;
  const SymbolTable &symbols;
  KernelSequence sequence;
  size_t freeCount = 0, result = 0;
  Expr entries = 1, freeSize = 1;
  int64_t columns = 1;
  bool atomic = false, anyStays = false;
};

} // namespace

std::optional<KernelSequence> writeParallelScatter(const ScatterSpec &spec, const Expr &elements,
                                                   const SymbolTable &symbols, bool deterministic) {
  return ParallelScatter(spec, elements, symbols, deterministic).write();
}

} // namespace pellucid::passes
