// SPDX-License-Identifier: Apache-2.0
// Elements read and written at places that index tensors hold.
#include "passes/graph/KernelWriter.h"

#include <algorithm>
#include <optional>

namespace pellucid::passes {

namespace {

/// Emits the loads of the index tensors, p0 and on, and their checks; the part of the address that
/// they make. The tile runs along dim `tileDim`; `outside` says which of its lanes are not there.
std::string indexedPart(KernelWriter &writer, const std::vector<TextIndex> &places,
                        const std::vector<std::string> &indices, std::optional<size_t> tileDim,
                        const std::string &outside, const std::string &operation,
                        const SourceLocation &where, bool allTiles = false) {
  std::string address;
  for (size_t k = 0; k < places.size(); ++k) {
    const TextIndex &place = places[k];
    std::string number = std::to_string(k), name = "index" + number;
    std::string size = writer.scalar(place.size);
    bool tile = allTiles || (tileDim && place.operand.strides[*tileDim].constant() != 0);
    writer.line(name + " = tl.load(p" + number + " + (" + writer.address(place.operand, indices) +
                ")" + (tile ? ", mask=mask, other=0" : "") + ").to(tl.int64)");
    if (place.wraps)
      writer.line(name + " = tl.where(" + name + " < 0, " + name + " + " + size + ", " + name +
                  ")");
    std::string inRange = "(" + name + " >= 0) & (" + name + " < " + size + ")";
    writer.check(tile ? "(" + inRange + ") | (" + outside + ")" : inRange,
                 "'" + operation + "' got an index out of range", where);
    address += " + " + name + " * " + writer.scalar(place.along);
  }
  return address;
}

/// What a program of a device moves: four vectors of a thread, on the way at the same time.
constexpr int64_t bytesOfProgram = 8192;

/// The index of a row is the same for all its elements.
bool takesRows(const GatherSpec &spec) {
  return spec.shape.size() >= 2 &&
         std::all_of(spec.places.begin(), spec.places.end(), [](const TextIndex &place) {
           const std::vector<Expr> &strides = place.operand.strides;
           return strides.back().constant() == 0;
         });
}

/// A program for each would do less than it takes to begin one, or wait for one row alone. Rows
/// must move along with their index: a tile of one row needs no tile of indices.
bool hasShortRows(const GatherSpec &spec, const SymbolTable &symbols) {
  int64_t longest =
      spec.forCpu ? 256 : bytesOfProgram / 2 / static_cast<int64_t>(byteSize(spec.output.dtype));
  if (!takesRows(spec) || symbols.range(spec.shape.back()).max > longest ||
      product(spec.shape, 0, spec.shape.size() - 1).constant() == 1)
    return false;
  return std::all_of(spec.places.begin(), spec.places.end(), [](const TextIndex &place) {
    const std::vector<Expr> &strides = place.operand.strides;
    return std::any_of(strides.begin(), strides.end(),
                       [](const Expr &stride) { return stride.constant() != 0; });
  });
}

/// Rows of a program: fewer where a device would have too few programs of them.
int64_t rowsOfGather(const GatherSpec &spec, int64_t columns) {
  if (spec.forCpu)
    return 1024 / columns;
  constexpr int64_t enough = 512;
  int64_t lines = std::max<int64_t>(
              1, bytesOfProgram / static_cast<int64_t>(byteSize(spec.output.dtype)) / columns),
          rows = product(spec.shape, 0, spec.shape.size() - 1).constantOr(4 * enough);
  while (lines > 1 && rows / lines < enough)
    lines /= 2;
  return lines;
}

/// Rows of few elements whose places are those of all their elements: many rows to a program.
KernelText writeShortRows(GatherSpec spec, int64_t longest) {
  size_t outer = spec.shape.size() - 1;
  int64_t columns = 1;
  while (columns < longest)
    columns *= 2;
  int64_t lines = rowsOfGather(spec, columns);
  KernelWriter writer(spec.name);
  for (size_t i = 0; i <= spec.places.size(); ++i)
    writer.pointer("p" + std::to_string(i));
  writer.pointer("o0");
  Expr all = product(spec.shape, 0, outer);
  std::string height = std::to_string(lines), width = std::to_string(columns);
  // Divisions of 64 bits would be most of what a short row costs.
  constexpr int64_t mostNarrow = int64_t(1) << 30;
  bool isNarrow = all.constantOr(mostNarrow) < mostNarrow;
  writer.line(std::string("line = tl.program_id(0)") + (isNarrow ? "" : ".to(tl.int64)") + " * " +
              height + " + tl.arange(0, " + height + ")");
  writer.line("col = tl.arange(0, " + width + ").to(tl.int64)");
  writer.line("mask = (line < " + writer.scalar(all) + ")[:, None]");
  writer.line("inside = mask & (col < " + writer.scalar(spec.shape[outer]) + ")[None, :]");
  std::vector<std::string> indices = writer.delinearize("line", spec.shape, outer, "idx");
  for (std::string &index : indices) {
    if (isNarrow)
      writer.line(index + " = " + index + ".to(tl.int64)");
    index += "[:, None]";
  }
  indices.push_back("col[None, :]");
  // The index of a row is a tile: its lanes are the rows.
  std::vector<TextIndex> places = spec.places;
  for (TextIndex &place : places)
    place.operand.strides.pop_back();
  std::vector<std::string> rows(indices.begin(), indices.end() - 1);
  std::string table = writer.address(spec.table, indices) +
                      indexedPart(writer, places, rows, std::nullopt, "mask == 0", spec.operation,
                                  spec.where, true);
  writer.line("v = tl.load(p" + std::to_string(spec.places.size()) + " + tl.broadcast_to(" + table +
              ", [" + height + ", " + width + "]), mask=inside)");
  writer.line(
      storeText("o0", writer.address(spec.output, indices), "v", spec.output.dtype, "inside"));
  return writer.finish(symbolic::ceilDiv(all, lines), columns);
}

} // namespace

KernelText writeGather(GatherSpec spec, const SymbolTable &symbols) {
  if (spec.shape.empty()) {
    spec.shape.push_back(1);
    for (TextIndex &place : spec.places)
      place.operand.strides.push_back(0);
    spec.table.strides.push_back(0);
    spec.output.strides.push_back(1);
  }
  const Expr &inner = spec.shape.back();
  size_t outer = spec.shape.size() - 1;
  if (hasShortRows(spec, symbols))
    return writeShortRows(std::move(spec), symbols.range(inner).max);
  int64_t most = spec.forCpu || !takesRows(spec)
                     ? 1024
                     : bytesOfProgram / static_cast<int64_t>(byteSize(spec.output.dtype));
  int64_t block = chooseBlock(inner, symbols, most);
  KernelWriter writer(spec.name);
  for (size_t i = 0; i <= spec.places.size(); ++i)
    writer.pointer("p" + std::to_string(i));
  writer.pointer("o0");
  std::string size = writer.scalar(inner);
  writer.chunksOfRows(size, "col");
  std::vector<std::string> indices = writer.delinearize("row", spec.shape, outer, "idx");
  indices.push_back("col");
  std::string table = writer.address(spec.table, indices) +
                      indexedPart(writer, spec.places, indices, outer, "col >= " + size,
                                  spec.operation, spec.where);
  writer.line("v = tl.load(p" + std::to_string(spec.places.size()) + " + tl.broadcast_to(" + table +
              ", [BLOCK]), mask=mask)");
  writer.line(
      storeText("o0", writer.address(spec.output, indices), "v", spec.output.dtype, "mask"));
  return writer.finish(symbolic::ceilDiv(inner, block) * product(spec.shape, 0, outer), block);
}

std::string combinedText(ScatterCombine combine, DataType type) {
  bool isBool = type == DataType::Bool;
  switch (combine) {
  case ScatterCombine::Replace:
    return "v";
  case ScatterCombine::Sum:
    return isBool ? "old | v" : "old + v";
  case ScatterCombine::Product:
    return isBool ? "old & v" : "old * v";
  case ScatterCombine::Largest:
  case ScatterCombine::Smallest:
    break;
  }
  bool largest = combine == ScatterCombine::Largest;
  if (isBool)
    return largest ? "old | v" : "old & v";
  std::string nan = isFloat(type) ? "(v != v) | " : "";
  return "tl.where(" + nan + "(v " + (largest ? ">" : "<") + " old), v, old)";
}

/// Entries lie one after another and what does not share them lies apart: a program for each of
/// those goes along the entries, in scalars.
static bool goesAlongEntries(const ScatterSpec &spec) {
  if (!spec.forCpu || spec.ordered != 1 || spec.shape.size() < 2)
    return false;
  size_t inner = spec.shape.size() - 2;
  auto isDense = [](const TextOperand &operand, size_t dim) {
    return operand.strides[dim].constant() == 1;
  };
  return isDense(spec.source, inner + 1) && !isDense(spec.output, inner) &&
         std::all_of(spec.places.begin(), spec.places.end(), [&](const TextIndex &place) {
           return isDense(place.operand, inner + 1) && !isDense(place.operand, inner);
         });
}

KernelText writeScatter(ScatterSpec spec, const SymbolTable &symbols) {
  std::vector<Expr> shape(spec.shape.begin(), spec.shape.end() - static_cast<long>(spec.ordered));
  // Nothing but ordered dims: one program, which goes through them in scalars, too.
  bool along = goesAlongEntries(spec), single = along || shape.empty();
  const Expr inner = single ? Expr(1) : shape.back();
  size_t outer = along ? shape.size() : single ? 0 : shape.size() - 1;
  int64_t block = chooseBlock(inner, symbols, 256);
  KernelWriter writer(spec.name);
  for (size_t i = 0; i <= spec.places.size(); ++i)
    writer.pointer("p" + std::to_string(i));
  writer.pointer("o0");
  std::string size = writer.scalar(inner);
  std::vector<std::string> indices;
  if (along) {
    writer.line("row = tl.program_id(0).to(tl.int64)");
    indices = writer.delinearize("row", shape, outer, "idx");
  } else if (!single) {
    writer.chunksOfRows(size, "col");
    indices = writer.delinearize("row", shape, outer, "idx");
    indices.push_back("col");
  }
  for (size_t d = 0; d < spec.ordered; ++d) {
    indices.push_back("s" + std::to_string(d));
    writer.open("for " + indices.back() + " in range(0, " +
                writer.scalar(spec.shape[shape.size() + d]) + "):");
  }
  std::string target =
      writer.address(spec.output, indices) +
      indexedPart(writer, spec.places, indices, single ? std::nullopt : std::optional(outer),
                  "col >= " + size, spec.operation, spec.where);
  auto lanes = [&](const std::string &address) {
    return single ? "(" + address + ")" : "tl.broadcast_to(" + address + ", [BLOCK])";
  };
  std::string mask = single ? "" : ", mask=mask", other = single ? "" : ", mask=mask, other=0";
  writer.line("at = o0 + " + lanes(target));
  std::string source = "p" + std::to_string(spec.places.size());
  writer.line("v = tl.load(" + source + " + " + lanes(writer.address(spec.source, indices)) +
              other + ")");
  if (spec.combine != ScatterCombine::Replace) {
    std::string type = tlName(spec.compute);
    writer.line("old = tl.load(at" + other + ").to(" + type + ")");
    writer.line("v = v.to(" + type + ")");
    writer.line("v = " + combinedText(spec.combine, spec.compute));
  }
  writer.line("tl.store(at, v.to(" + tlName(spec.output.dtype) + ")" + mask + ")");
  for (size_t d = 0; d < spec.ordered; ++d)
    writer.close();
  return writer.finish(symbolic::ceilDiv(inner, block) * product(shape, 0, outer), block);
}

} // namespace pellucid::passes
