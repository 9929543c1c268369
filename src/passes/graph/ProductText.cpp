// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductText.h"

#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

/// A dim of the product, as the kernel sees it.
struct Axis {
  Expr size;
  int64_t tile = 1;
  std::string places;   ///< of the tile's elements: `rows`, `cols`, `ks`
  std::string first;    ///< where the tile begins
  bool isWhole = false; ///< tiles are never cut
};

class ProductWriter {
public:
  ProductWriter(const GemmSpec &s, const ProductTile &t, int64_t most, const SymbolTable &table)
      : spec(s), tile(t), mostRows(most), symbols(table), writer(s.name) {}

  KernelText write() {
    declare();
    placeTile();
    isFloat(spec.accumulate) || spec.a.dtype == DataType::Int8 ? multiplyTiles() : multiplyLines();
    tile.splits > 1 ? storePart() : storeResult();
    KernelText text = writer.finish(gridSize(), tile.n);
    text.numWarps = tile.warps;
    text.numStages = tile.stages;
    text.origin = tile.text();
    return text;
  }

private:
  /// Every scalar that any tile of this spec needs, in one order.
  void declare() {
    writer.pointer("p0");
    writer.pointer("p1");
    if (!spec.bias.empty())
      writer.pointer("bias");
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      writer.pointer("q" + std::to_string(i));
    writer.pointer("o0");
    for (const Expr &size : {spec.m, spec.n, spec.k})
      writer.scalar(size);
    for (const std::vector<Expr> *dims : {&spec.batch, &spec.rows})
      for (const Expr &dim : *dims)
        writer.scalar(dim);
    for (const TextOperand *operand : operands()) {
      writer.scalar(operand->offset);
      for (const Expr &stride : operand->strides)
        writer.scalar(stride);
    }
    for (const TextScalar &scalar : spec.scalars)
      writer.scalar(scalar.value);
    row = {spec.m, tile.m, "rows", "m0", symbols.isMultipleOf(spec.m, tile.m)};
    column = {spec.n, tile.n, "cols", "n0", symbols.isMultipleOf(spec.n, tile.n)};
    inner = {spec.k, tile.k, "ks", "k0", symbols.isMultipleOf(spec.k, tile.k)};
  }

  std::vector<const TextOperand *> operands() const {
    std::vector<const TextOperand *> all{&spec.a, &spec.b};
    for (const std::vector<TextOperand> *list : {&spec.bias, &spec.inputs})
      for (const TextOperand &operand : *list)
        all.push_back(&operand);
    all.push_back(&spec.output);
    return all;
  }

  bool isOneTile(const Axis &axis) const {
    int64_t most = symbols.range(axis.size).max;
    return std::min(most, axis.places == "rows" ? mostRows : most) <= axis.tile;
  }

  std::string tilesOf(const Axis &axis) {
    if (isOneTile(axis))
      return "1";
    if (auto size = axis.size.constant())
      return std::to_string((*size + axis.tile - 1) / axis.tile);
    // As many as that do not make a grid.
    return "tl.cdiv(" + writer.scalar(axis.size) + ", " + std::to_string(axis.tile) +
           ").to(tl.int32)";
  }

  Expr gridSize() const {
    // Of a choice that has one tile down, no other number of rows comes here.
    Expr down = isOneTile(row) ? symbolic::min(spec.m, 1) : symbolic::ceilDiv(spec.m, tile.m);
    return down * symbolic::ceilDiv(spec.n, tile.n) * product(spec.batch, 0, spec.batch.size()) *
           tile.splits;
  }

  /// `m0`, `n0`, `k0` and the batch's indices from the program's number. Programs that run together
  /// share rows of a and columns of b: a few tiles down, then the next across.
  void placeTile() {
    writer.line("pid = tl.program_id(0)");
    writer.line("down = " + tilesOf(row));
    writer.line("across = " + tilesOf(column));
    if (!spec.batch.empty() || tile.splits > 1) {
      writer.line("outer = pid // (down * across)");
      writer.line("pid = pid % (down * across)");
    }
    if (tile.splits > 1) {
      writer.line("part = outer % " + std::to_string(tile.splits));
      writer.line("outer = outer // " + std::to_string(tile.splits));
    }
    if (!spec.batch.empty()) {
      writer.line("batch = outer.to(tl.int64)");
      batch = writer.delinearize("batch", spec.batch, spec.batch.size(), "idx");
    }
    if (isOneTile(row)) {
      writer.line("m0 = pid.to(tl.int64) * 0");
      writer.line("n0 = pid.to(tl.int64) * " + std::to_string(tile.n));
    } else {
      std::string group = std::to_string(tile.group);
      writer.line("turn = pid // (" + group + " * across)");
      writer.line("place = pid % (" + group + " * across)");
      writer.line("height = tl.minimum(down - turn * " + group + ", " + group + ")");
      writer.line("m0 = (turn * " + group + " + place % height).to(tl.int64) * " +
                  std::to_string(tile.m));
      writer.line("n0 = (place // height).to(tl.int64) * " + std::to_string(tile.n));
    }
    for (const Axis *axis : {&row, &column, &inner})
      writer.line(axis->places + " = tl.arange(0, " + std::to_string(axis->tile) + ")");
    for (const Axis *axis : {&row, &column})
      if (!axis->isWhole) // what is left of the dim; where that is less than a tile, in 32 bits
        writer.line("left_" + axis->places + " = tl.minimum(" + writer.scalar(axis->size) + " - " +
                    axis->first + ", " + std::to_string(axis->tile) + ").to(tl.int32)");
  }

  /// The largest stride whose multiples, and the sum of two such, are 32-bit integers.
  static int64_t reach(int64_t extent) { return INT32_MAX / 2 / extent; }

  /// The stride as a factor of places in a tile: in 32 bits where these reach.
  std::string factor(const Expr &stride, int64_t extent) {
    if (auto value = stride.constant())
      return std::to_string(*value);
    std::string name = writer.scalar(stride);
    return symbols.range(stride).max <= reach(extent) ? name + ".to(tl.int32)" : name;
  }

  /// `places * stride`, empty where the stride is 0.
  std::string steps(const std::string &places, const Expr &stride, int64_t extent) {
    auto value = stride.constant();
    if (value == 0)
      return "";
    if (value && *value > reach(extent))
      return places + ".to(tl.int64) * " + std::to_string(*value);
    return value == 1 ? places : places + " * " + factor(stride, extent);
  }

  static std::string sum(const std::vector<std::string> &terms) {
    std::string text;
    for (const std::string &term : terms)
      if (!term.empty() && term != "0")
        text += text.empty() ? term : " + " + term;
    return text.empty() ? "0" : text;
  }

  /// Where the tile begins that stands at `first` and `second` along the operand's own dims.
  std::string origin(const TextOperand &operand, const std::string &first,
                     const std::string &second) {
    std::vector<std::string> indices = batch;
    indices.push_back(first);
    indices.push_back(second);
    return writer.address(operand, indices);
  }

  static const Expr &stride(const TextOperand &operand, size_t fromLast) {
    return operand.strides[operand.strides.size() - 1 - fromLast];
  }

  /// One operand of the product: how its tile is addressed and cut.
  struct Side {
    const TextOperand &operand;
    const Axis &outer;    ///< m or n
    size_t outerDim;      ///< of the tile: 0 or 1
    std::string pointers; ///< name of the tile of pointers
    std::string pointer;  ///< name of the argument
  };

  static std::string along(const std::string &places, size_t dim) {
    return places + (dim == 0 ? "[:, None]" : "[None, :]");
  }

  /// Elements beyond the border are read twice or masked off: a row of the tile that is not stored
  /// may hold anything. Where neighbours in memory lie along that dim, a mask keeps them together.
  bool isMasked(const Side &side) const {
    const Expr &outerStride = stride(side.operand, side.outerDim == 0 ? 1 : 0);
    return !side.outer.isWhole && outerStride.constant() == 1;
  }

  void startSide(const Side &side) {
    const Expr &outerStride = stride(side.operand, side.outerDim == 0 ? 1 : 0);
    const Expr &innerStride = stride(side.operand, side.outerDim == 0 ? 0 : 1);
    std::string places = side.outer.places, start = tile.splits > 1 ? "k0" : "";
    if (!side.outer.isWhole && !isMasked(side)) {
      places = "near_" + side.outer.places;
      writer.line(places + " = tl.minimum(" + side.outer.places + ", left_" + side.outer.places +
                  " - 1)");
    }
    std::string base = side.outerDim == 0 ? origin(side.operand, side.outer.first, start)
                                          : origin(side.operand, start, side.outer.first);
    std::string offsets = sum({steps(along(places, side.outerDim), outerStride, side.outer.tile),
                               steps(along("ks", 1 - side.outerDim), innerStride, tile.k)});
    writer.line(side.pointers + " = " + side.pointer + " + (" + base + ") + (" + offsets + ")" +
                shapeAs(offsets, side));
  }

  /// A tile of offsets that does not run along both dims is spread out.
  std::string shapeAs(const std::string &offsets, const Side &side) const {
    bool isWhole = offsets.find("[:, None]") != std::string::npos &&
                   offsets.find("[None, :]") != std::string::npos;
    if (isWhole)
      return "";
    int64_t down = side.outerDim == 0 ? side.outer.tile : tile.k;
    int64_t across = side.outerDim == 0 ? tile.k : side.outer.tile;
    return " + tl.zeros([" + std::to_string(down) + ", " + std::to_string(across) + "], tl.int32)";
  }

  std::string loadOf(const Side &side) {
    std::string mask;
    if (isMasked(side))
      mask = along(side.outer.places, side.outerDim) + " < left_" + side.outer.places;
    if (!inner.isWhole) {
      std::string depth = along("ks", 1 - side.outerDim) + " < end - k";
      mask = mask.empty() ? depth : "(" + mask + ") & (" + depth + ")";
    }
    return "tl.load(" + side.pointers + (mask.empty() ? "" : ", mask=" + mask + ", other=0") + ")";
  }

  void multiplyTiles() {
    Side left{spec.a, row, 0, "a", "p0"}, right{spec.b, column, 1, "b", "p1"};
    placePart();
    startSide(left);
    startSide(right);
    std::string type = tlName(spec.accumulate), step = std::to_string(tile.k);
    writer.line("acc = tl.zeros([" + std::to_string(tile.m) + ", " + std::to_string(tile.n) +
                "], " + type + ")");
    writer.open("for k in range(" + std::string(tile.splits > 1 ? "start" : "0") + ", end, " +
                step + "):");
    writer.line("x = " + loadOf(left));
    writer.line("y = " + loadOf(right));
    writer.line("acc = tl.dot(x, y, acc, input_precision=\"ieee\", out_dtype=" + type + ")");
    writer.line("a += " + advance(stride(spec.a, 0)));
    writer.line("b += " + advance(stride(spec.b, 1)));
    writer.close();
  }

  std::string advance(const Expr &stride) {
    if (auto value = stride.constant())
      return std::to_string(*value * tile.k);
    return std::to_string(tile.k) + " * " + writer.scalar(stride);
  }

  /// `start` and `end` of the part of k that the program adds up.
  void placePart() {
    std::string k = writer.scalar(spec.k);
    if (!spec.k.constant() && symbols.range(spec.k).max <= INT32_MAX)
      k += ".to(tl.int32)";
    if (tile.splits == 1)
      return writer.line("end = " + k);
    int64_t rounds = (*spec.k.constant() + tile.k - 1) / tile.k;
    int64_t length = (rounds + tile.splits - 1) / tile.splits * tile.k;
    writer.line("start = part * " + std::to_string(length));
    writer.line("end = tl.minimum(start + " + std::to_string(length) + ", " + k + ")");
    writer.line("k0 = start.to(tl.int64)");
  }

  /// tl.dot takes no integers wider than a byte: one product of a column and a row after the other.
  void multiplyLines() {
    std::string type = tlName(spec.accumulate);
    writer.line("r = m0 + rows");
    writer.line("c = n0 + cols");
    writer.line("acc = tl.zeros([" + std::to_string(tile.m) + ", " + std::to_string(tile.n) +
                "], " + type + ")");
    writer.open("for at in range(0, " + writer.scalar(spec.k) + "):");
    writer.line("x = tl.load(p0 + (" + origin(spec.a, "r[:, None]", "at") + ")" +
                ", mask=r[:, None] < " + writer.scalar(spec.m) + ", other=0).to(" + type + ")");
    writer.line("y = tl.load(p1 + (" + origin(spec.b, "at", "c[None, :]") + ")" +
                ", mask=c[None, :] < " + writer.scalar(spec.n) + ", other=0).to(" + type + ")");
    writer.line("acc = acc + x * y");
    writer.close();
  }

  /// `mask`: the elements of the tile that there are; returns whether any are missing.
  bool maskTile() {
    std::string mask;
    for (const Axis *axis : {&row, &column})
      if (!axis->isWhole) {
        std::string part = along(axis->places, axis == &row ? 0 : 1) + " < left_" + axis->places;
        mask = mask.empty() ? part : "(" + mask + ") & (" + part + ")";
      }
    if (!mask.empty())
      writer.line("mask = tl.broadcast_to(" + mask + ", " + shape() + ")");
    return !mask.empty();
  }

  std::string shape() const {
    return "[" + std::to_string(tile.m) + ", " + std::to_string(tile.n) + "]";
  }

  void store(const TextOperand &output, const std::string &base, const std::string &value,
             bool isMasked) {
    std::string offsets = sum({steps("rows[:, None]", stride(output, 1), tile.m),
                               steps("cols[None, :]", stride(output, 0), tile.n)});
    writer.line("place = o0 + (" + base + ") + (" + offsets + " + tl.zeros(" + shape() +
                ", tl.int32))");
    writer.line("tl.store(place, tl.broadcast_to(" + value + ", " + shape() + ").to(" +
                tlName(output.dtype) + ")" + (isMasked ? ", mask=mask)" : ")"));
  }

  void storePart() {
    bool isMasked = maskTile();
    TextOperand part;
    part.dtype = spec.accumulate;
    part.strides = {spec.m * spec.n, spec.n, 1};
    std::string matrix = "part";
    if (!spec.batch.empty())
      matrix = "(part * " + writer.scalar(product(spec.batch, 0, spec.batch.size())) + " + batch)";
    store(part,
          "(" + matrix + ").to(tl.int64) * " + writer.scalar(spec.m * spec.n) + " + m0 * " +
              writer.scalar(spec.n) + " + n0",
          "acc", isMasked);
  }

  void storeResult() {
    bool isMasked = maskTile();
    if (spec.alpha != 1)
      writer.line("acc = acc * " + number(spec.alpha));
    if (!spec.bias.empty())
      writer.line("acc = acc + " + loadInput(spec.bias[0], {spec.m}, "bias", isMasked) + ".to(" +
                  tlName(spec.accumulate) + ")" +
                  (spec.beta != 1 ? " * " + number(spec.beta) : ""));
    writer.line("product = acc.to(" + tlName(spec.type) + ")");
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      writer.line("in" + std::to_string(i) + " = " +
                  loadInput(spec.inputs[i], spec.rows, "q" + std::to_string(i), isMasked));
    writer.body(spec.scalars, spec.body);
    store(spec.output, origin(spec.output, "m0", "n0"), spec.result, isMasked);
  }

  /// Integers are multiplied by integers.
  std::string number(double value) const {
    return isFloat(spec.accumulate) ? tlNumber(value) : std::to_string(static_cast<int64_t>(value));
  }

  /// The elements of an operand that stand where the tile's do: a tile, a line of it, or one value.
  /// `rows` are the dims that its rows are made of.
  std::string loadInput(TextOperand operand, const std::vector<Expr> &rows,
                        const std::string &pointer, bool isMasked) {
    std::string rowTerm, base = "0";
    if (mergeRows(operand, rows)) {
      base = origin(operand, "m0", "n0");
      rowTerm = steps("rows[:, None]", stride(operand, 1), tile.m);
    } else {
      std::vector<std::string> indices = batch;
      for (const std::string &index : splitRows())
        indices.push_back(index + "[:, None]");
      indices.emplace_back("n0");
      rowTerm = "(" + writer.address(operand, indices) + ")";
    }
    std::string columnTerm = steps("cols[None, :]", stride(operand, 0), tile.n), mask;
    if (isMasked && !rowTerm.empty() && !columnTerm.empty())
      mask = "mask";
    else if (!rowTerm.empty() && !row.isWhole)
      mask = "rows[:, None] < left_rows";
    else if (!columnTerm.empty() && !column.isWhole)
      mask = "cols[None, :] < left_cols";
    std::string offsets = sum({rowTerm, columnTerm});
    return "tl.load(" + pointer + " + (" + base + ")" +
           (offsets == "0" ? "" : " + (" + offsets + ")") +
           (mask.empty() ? "" : ", mask=" + mask + ", other=0") + ")";
  }

  /// Steps through the dims that make the rows by one stride, where the operand lies so.
  bool mergeRows(TextOperand &operand, const std::vector<Expr> &rows) const {
    size_t first = spec.batch.size();
    for (size_t d = rows.size(); d-- > 1;)
      if (!(operand.strides[first + d - 1] == operand.strides[first + d] * rows[d]))
        return false;
    auto begin = operand.strides.begin() + static_cast<std::ptrdiff_t>(first);
    operand.strides.erase(begin, begin + static_cast<std::ptrdiff_t>(rows.size() - 1));
    return true;
  }

  /// The index along each of `spec.rows` of the tile's rows.
  const std::vector<std::string> &splitRows() {
    if (rowIndices.empty()) {
      writer.line("line = m0 + rows");
      rowIndices = writer.delinearize("line", spec.rows, spec.rows.size(), "at");
    }
    return rowIndices;
  }

  const GemmSpec &spec;
  const ProductTile &tile;
  int64_t mostRows;
  const SymbolTable &symbols;
  KernelWriter writer;
  Axis row, column, inner;
  std::vector<std::string> batch, rowIndices;
};

} // namespace

KernelText writeProduct(const GemmSpec &spec, const ProductTile &tile, int64_t mostRows,
                        const SymbolTable &symbols) {
  return ProductWriter(spec, tile, mostRows, symbols).write();
}

} // namespace pellucid::passes
