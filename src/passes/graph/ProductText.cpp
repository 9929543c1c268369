// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductText.h"

#include "passes/graph/KernelWriter.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace pellucid::passes {

namespace {

/// A dim of the product, as the kernel sees it.
struct Axis {
  Expr size;
  int64_t tile = 1;
  std::string places;   ///< of the tile's elements: `rows`, `cols`, `ks`
  std::string first;    ///< where the tile begins
  bool isWhole = false; ///< tiles are never cut
  int64_t step = 1;     ///< from one program's tile to the next one's
};

class ProductWriter {
public:
  ProductWriter(const GemmSpec &s, const ProductTile &t, int64_t most, const SymbolTable &table)
      : spec(s), tile(t), mostRows(most), symbols(table), writer(s.name) {}

  KernelText write() {
    declare();
    if (tile.programs)
      multiplyAllTiles();
    else
      multiplyOwnTile();
    KernelText text = writer.finish(gridSize(), tile.n);
    text.numWarps = tile.warps;
    text.numStages = tile.stages;
    text.origin = tile.text();
    return text;
  }

private:
  void multiplyOwnTile() {
    writer.line("pid = tl.program_id(0)");
    if (auto programs = gridSize().constant())
      assumeBelow("pid", *programs);
    countTiles();
    placeTile();
    nameElements();
    cutTile();
    isFloat(spec.accumulate) || spec.a.dtype == DataType::Int8 ? multiplyTiles() : multiplyLines();
    forColumns([&] { tile.splits > 1 ? storePart() : storeResult(); });
  }

  /// One loop over the rounds of several tiles.
  void multiplyAllTiles() {
    std::string rounds = std::to_string((*spec.k.constant() + tile.k - 1) / tile.k),
                programs = std::to_string(tile.programs), type = tlName(spec.accumulate),
                zeros = "acc = tl.zeros(" + shape() + ", " + type + ")";
    writer.line("first = tl.program_id(0)");
    assumeBelow("first", tile.programs);
    countTiles();
    nameElements();
    writer.line("end = " + writer.scalar(spec.k));
    writer.line(zeros);
    writer.open("for step in range(0, (" + std::to_string(*tileCount().constant()) + " - first + " +
                std::to_string(tile.programs - 1) + ") // " + programs + " * " + rounds + "):");
    writer.line("pid = first + step // " + rounds + " * " + programs);
    assumeBelow("pid", *tileCount().constant());
    placeTile();
    cutTile();
    writer.line("k = step % " + rounds + " * " + std::to_string(tile.k));
    writer.line("k0 = k.to(tl.int64)");
    startSide(leftSide());
    startSide(rightSide());
    writer.line("x = " + loadOf(leftSide(), "end - k"));
    writer.line("y = " + loadOf(rightSide(), "end - k"));
    writer.line(dotText("acc", "y"));
    writer.open("if step % " + rounds + " == " + rounds + " - 1:");
    storeResult();
    writer.line(zeros);
    writer.close();
    writer.close();
  }

  /// A device can tell by it where tiles end.
  void assumeBelow(const std::string &name, int64_t end) {
    writer.line("tl.assume(" + name + " < " + std::to_string(end) + ")");
  }

  std::string dotText(const std::string &sum, const std::string &right) const {
    return sum + " = tl.dot(x, " + right + ", " + sum +
           ", input_precision=\"ieee\", out_dtype=" + tlName(spec.accumulate) + ")";
  }

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
    for (const std::vector<Expr> *dims : {&spec.batch, &spec.rows, &spec.columns, &spec.depth})
      for (const Expr &dim : *dims)
        writer.scalar(dim);
    for (const TextOperand *operand : operands()) {
      writer.scalar(operand->offset);
      for (const Expr &stride : operand->strides)
        writer.scalar(stride);
    }
    for (const TextScalar &scalar : spec.scalars)
      writer.scalar(scalar.value);
    row = {spec.m, tile.m, "rows", "m0", symbols.isMultipleOf(spec.m, tile.m), tile.m};
    inner = {spec.k, tile.k, "ks", "k0", symbols.isMultipleOf(spec.depth.back(), tile.k), tile.k};
    bool isWhole = symbols.isMultipleOf(spec.n, tile.n);
    // 192 columns are a tile of 128 and one of 64, with sums of their own.
    for (int64_t left = tile.n, part = 1; left != 0; left -= part) {
      for (part = 1; part * 2 <= left;)
        part *= 2;
      std::string suffix = suffixOf(columns.size());
      columns.push_back(
          {spec.n, part, "cols" + suffix, "n" + std::to_string(columns.size()), isWhole, tile.n});
    }
  }

  /// Of the names that each of the tiles of columns has.
  static std::string suffixOf(size_t number) { return number == 0 ? "" : std::to_string(number); }
  const Axis &column() const { return columns[at]; }
  std::string sums() const { return "acc" + suffixOf(at); }

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
    return std::min(most, axis.places == "rows" ? mostRows : most) <= axis.step;
  }

  std::string tilesOf(const Axis &axis) {
    if (isOneTile(axis))
      return "1";
    if (auto size = axis.size.constant())
      return std::to_string((*size + axis.step - 1) / axis.step);
    // As many as that do not make a grid.
    return "tl.cdiv(" + writer.scalar(axis.size) + ", " + std::to_string(axis.step) +
           ").to(tl.int32)";
  }

  Expr tileCount() const {
    // Of a choice that has one tile down, no other number of rows comes here.
    Expr down = isOneTile(row) ? symbolic::min(spec.m, 1) : symbolic::ceilDiv(spec.m, tile.m);
    return down * symbolic::ceilDiv(spec.n, tile.n) * product(spec.batch, 0, spec.batch.size()) *
           tile.splits;
  }
  Expr gridSize() const {
    return tile.programs ? symbolic::min(tileCount(), Expr(tile.programs)) : tileCount();
  }

  void countTiles() {
    writer.line("down = " + tilesOf(row));
    writer.line("across = " + tilesOf(columns[0]));
  }

  /// `m0`, `n0`, `k0` and the batch's indices from the tile's number. Programs that run together
  /// share rows of a and columns of b: a few tiles down, then the next across.
  void placeTile() {
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
      auto count = spec.m.constant();
      bool isEven = count && (*count + tile.m - 1) / tile.m % tile.group == 0;
      writer.line("height = " +
                  (isEven ? group : "tl.minimum(down - turn * " + group + ", " + group + ")"));
      if (!isEven)
        writer.line("tl.assume(height > 0)");
      writer.line("m0 = (turn * " + group + " + place % height).to(tl.int64) * " +
                  std::to_string(tile.m));
      writer.line("n0 = (place // height).to(tl.int64) * " + std::to_string(tile.n));
    }
    for (size_t part = 1; part < columns.size(); ++part)
      writer.line(columns[part].first + " = " + columns[part - 1].first + " + " +
                  std::to_string(columns[part - 1].tile));
  }

  std::vector<const Axis *> outerAxes() const {
    std::vector<const Axis *> outer{&row};
    for (const Axis &part : columns)
      outer.push_back(&part);
    return outer;
  }

  void nameElements() {
    std::vector<const Axis *> all = outerAxes();
    all.push_back(&inner);
    for (const Axis *axis : all)
      writer.line(axis->places + " = tl.arange(0, " + std::to_string(axis->tile) + ")");
  }

  void cutTile() {
    for (const Axis *axis : outerAxes())
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

  /// What the tile's places along one axis add to an operand's address: in the tile's first one,
  /// and from there.
  struct Steps {
    std::string first, further;
  };

  /// `dims` are what the axis is the product of, `strides` the operand's along each; neighbours
  /// that lie evenly are one. Where several are left, the places are taken apart.
  Steps stepsAlong(const Axis &axis, const std::string &places, size_t tileDim,
                   std::vector<Expr> dims, std::vector<Expr> strides) {
    for (size_t d = dims.size(); d-- > 1;)
      if (strides[d - 1] == strides[d] * dims[d]) {
        dims[d - 1] = dims[d - 1] * dims[d];
        strides[d - 1] = strides[d];
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d));
        strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(d));
      }
    if (dims.size() == 1) {
      auto stride = strides[0].constant();
      std::string first;
      if (stride != 0)
        first = stride == 1 ? axis.first : axis.first + " * " + writer.scalar(strides[0]);
      return {first, steps(along(places, tileDim), strides[0], axis.tile)};
    }
    // A tile that lies within one line of the last dim is found by its first place.
    if (dims.back().constant() && *dims.back().constant() % axis.step == 0) {
      std::vector<std::string> indices = writer.delinearize(
          axis.first, dims, dims.size(), "t" + std::to_string(apartCount++) + "first");
      return {"(" + writer.address({spec.type, strides, 0}, indices) + ")",
              steps(along(places, tileDim), strides.back(), axis.tile)};
    }
    TextOperand apart{spec.type, strides, 0};
    return {"",
            "(" + writer.address(apart, takenApart(axis, places, tileDim, dims, strides)) + ")"};
  }

  /// The index along each of `dims` of the tile's places.
  std::vector<std::string> takenApart(const Axis &axis, const std::string &places, size_t tileDim,
                                      const std::vector<Expr> &dims,
                                      const std::vector<Expr> &strides) {
    Expr farthest = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      farthest = farthest + dims[d] * strides[d];
    std::string line = axis.first + " + " + places;
    if (symbols.range(farthest + axis.size).max <= INT32_MAX / 2)
      line = "(" + line + ").to(tl.int32)";
    std::string prefix = "t" + std::to_string(apartCount++);
    writer.line(prefix + "line = " + line);
    std::vector<std::string> indices =
        writer.delinearize(prefix + "line", dims, dims.size(), prefix + "at");
    for (std::string &index : indices)
      index = along(index, tileDim);
    return indices;
  }

  /// From the argument to the operand's part of this batch.
  std::string batchStart(const TextOperand &operand) {
    return writer.address(
        {operand.dtype,
         {operand.strides.begin(),
          operand.strides.begin() + static_cast<std::ptrdiff_t>(spec.batch.size())},
         operand.offset},
        batch);
  }

  std::vector<Expr> stridesOf(const TextOperand &operand, size_t first, size_t count) const {
    auto begin = operand.strides.begin() + static_cast<std::ptrdiff_t>(spec.batch.size() + first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  /// One operand of the product: how its tile is addressed and cut.
  struct Side {
    const TextOperand &operand;
    const Axis &outer;               ///< m or n
    size_t outerDim;                 ///< of the tile: 0 or 1
    std::string pointers;            ///< name of the tile of pointers
    std::string pointer;             ///< name of the argument
    std::vector<Expr> dims, strides; ///< that the outer axis is made of
    std::vector<Expr> inner;         ///< strides along `spec.depth`
  };
  /// The dims that m is made of as a, bias and output see it.
  std::vector<Expr> ownRows() const {
    return spec.rowsApart ? spec.rows : std::vector<Expr>{spec.m};
  }
  Side leftSide() const {
    return {spec.a,
            row,
            0,
            "a",
            "p0",
            ownRows(),
            stridesOf(spec.a, 0, ownRows().size()),
            stridesOf(spec.a, ownRows().size(), spec.depth.size())};
  }
  Side rightSide() const {
    return {spec.b,
            column(),
            1,
            "b" + suffixOf(at),
            "p1",
            spec.columns,
            stridesOf(spec.b, spec.depth.size(), spec.columns.size()),
            stridesOf(spec.b, 0, spec.depth.size())};
  }

  static std::string along(const std::string &places, size_t dim) {
    return places + (dim == 0 ? "[:, None]" : "[None, :]");
  }

  void startSide(const Side &side) {
    bool isBordered = side.outerDim == 0 && !spec.borders.empty();
    Steps outer = isBordered ? stepsWithBorders(side)
                             : stepsAlong(side.outer, side.outer.places, side.outerDim, side.dims,
                                          side.strides);
    std::string start;
    if ((tile.splits > 1 || tile.programs) && spec.depth.size() == 1)
      start = "k0 * " + writer.scalar(side.inner.back());
    std::string offsets =
        sum({outer.further, steps(along("ks", 1 - side.outerDim), side.inner.back(), tile.k)});
    writer.line(side.pointers + " = " + side.pointer + " + (" +
                sum({batchStart(side.operand), outer.first, start}) + ") + (" + offsets + ")" +
                shapeAs(offsets, side));
  }

  /// Places are taken apart, and where their windows begin along the dims with a border is
  /// `from0`, `from1`, ….
  Steps stepsWithBorders(const Side &side) {
    std::vector<std::string> indices =
        takenApart(side.outer, side.outer.places, side.outerDim, side.dims, side.strides);
    for (size_t i = 0; i < spec.borders.size(); ++i) {
      const GemmSpec::Border &border = spec.borders[i];
      writer.line("from" + std::to_string(i) + " = " + indices[border.row] + " * " +
                  std::to_string(border.stride) + " - " + std::to_string(border.padding));
    }
    return {"", "(" + writer.address({spec.type, side.strides, 0}, indices) + ")"};
  }

  /// Whether the windows' places of this round are inside of a; empty: all are.
  std::string insideText() {
    std::string text;
    for (size_t i = 0; i < spec.borders.size(); ++i) {
      const GemmSpec::Border &border = spec.borders[i];
      std::string name = "place" + std::to_string(i);
      writer.line(name + " = from" + std::to_string(i) + " + (" + windowAt[border.depth] + " * " +
                  std::to_string(border.dilation) + ")");
      text += (text.empty() ? "(" : " & (") + name + " >= 0) & (" + name + " < " +
              writer.scalar(border.size) + ")";
    }
    return text;
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

  /// `further`: from the tile of pointers to the round's.
  std::string loadOf(const Side &side, const std::string &left, const std::string &further = "") {
    std::string mask = side.outerDim == 0 ? insideText() : "";
    // Reading the last row again instead would make all threads wait for that one line.
    if (!side.outer.isWhole) {
      std::string there = along(side.outer.places, side.outerDim) + " < left_" + side.outer.places;
      mask = mask.empty() ? there : mask + " & (" + there + ")";
    }
    if (!inner.isWhole) {
      std::string depth = along("ks", 1 - side.outerDim) + " < " + left;
      mask = mask.empty() ? depth : "(" + mask + ") & (" + depth + ")";
    }
    return "tl.load(" + side.pointers + further +
           (mask.empty() ? "" : ", mask=" + mask + ", other=0") + ")";
  }

  void multiplyTiles() {
    Side left = leftSide();
    placePart();
    startSide(left);
    std::string type = tlName(spec.accumulate);
    forColumns([&] {
      startSide(rightSide());
      writer.line(sums() + " = tl.zeros(" + shape() + ", " + type + ")");
    });
    spec.depth.size() == 1 ? openRounds() : openWindows();
    writer.line("x = " + loadRound(left));
    forColumns([&] {
      writer.line("y" + suffixOf(at) + " = " + loadRound(rightSide()));
      writer.line(dotText(sums(), "y" + suffixOf(at)));
    });
    if (spec.depth.size() == 1) {
      writer.line("a += " + advance(left.inner.back()));
      forColumns([&] {
        Side right = rightSide();
        writer.line(right.pointers + " += " + advance(right.inner.back()));
      });
    }
    writer.close();
  }

  /// For each of the tiles of columns.
  void forColumns(const std::function<void()> &write) {
    for (at = 0; at < columns.size(); ++at)
      write();
    at = 0;
  }

  void openRounds() {
    writer.open("for k in range(" + std::string(tile.splits > 1 ? "start" : "0") + ", end, " +
                std::to_string(tile.k) + "):");
  }

  /// k is made of several dims: a round is a piece of the last one at one place of the others.
  void openWindows() {
    std::string pieces = std::to_string(piecesOfWindow());
    writer.open("for round in range(" + std::string(tile.splits > 1 ? "start" : "0") + ", end):");
    writer.line("window = round // " + pieces);
    writer.line("k = round % " + pieces + " * " + std::to_string(tile.k));
    windowAt = writer.delinearize("window", spec.depth, spec.depth.size() - 1, "window_at");
  }
  int64_t piecesOfWindow() const { return (*spec.depth.back().constant() + tile.k - 1) / tile.k; }

  std::string loadRound(const Side &side) {
    if (spec.depth.size() == 1)
      return loadOf(side, "end - k");
    std::vector<std::string> indices = windowAt;
    indices.emplace_back("k");
    TextOperand window{spec.type, side.inner, 0};
    return loadOf(side, writer.scalar(spec.depth.back()) + " - k",
                  " + (" + writer.address(window, indices) + ")");
  }

  std::string advance(const Expr &stride) {
    if (auto value = stride.constant())
      return std::to_string(*value * tile.k);
    return std::to_string(tile.k) + " * " + writer.scalar(stride);
  }

  /// `start` and `end` of the part of k, or of its rounds, that the program adds up.
  void placePart() {
    if (spec.depth.size() > 1) {
      int64_t rounds = piecesOfWindow();
      for (size_t d = 0; d + 1 < spec.depth.size(); ++d)
        rounds *= *spec.depth[d].constant();
      int64_t length = (rounds + tile.splits - 1) / tile.splits;
      if (tile.splits == 1)
        return writer.line("end = " + std::to_string(rounds));
      writer.line("start = part * " + std::to_string(length));
      writer.line("end = tl.minimum(start + " + std::to_string(length) + ", " +
                  std::to_string(rounds) + ")");
      return;
    }
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
    writer.line("acc = tl.zeros(" + shape() + ", " + type + ")");
    std::vector<std::string> left = batch, right = batch;
    left.insert(left.end(), {"(m0 + rows)[:, None]", "at"});
    right.insert(right.end(), {"at", "(n0 + cols)[None, :]"});
    writer.open("for at in range(0, " + writer.scalar(spec.k) + "):");
    writer.line("x = tl.load(p0 + (" + writer.address(spec.a, left) + ")" +
                (row.isWhole ? "" : ", mask=rows[:, None] < left_rows, other=0") + ").to(" + type +
                ")");
    writer.line("y = tl.load(p1 + (" + writer.address(spec.b, right) + ")" +
                (column().isWhole ? "" : ", mask=cols[None, :] < left_cols, other=0") + ").to(" +
                type + ")");
    writer.line("acc = acc + x * y");
    writer.close();
  }

  /// `mask`: the elements of the tile that there are; returns whether any are missing.
  bool maskTile() {
    std::string mask;
    for (const Axis *axis : {&std::as_const(row), &column()})
      if (!axis->isWhole) {
        std::string part = along(axis->places, axis == &row ? 0 : 1) + " < left_" + axis->places;
        mask = mask.empty() ? part : "(" + mask + ") & (" + part + ")";
      }
    if (!mask.empty())
      writer.line("mask = tl.broadcast_to(" + mask + ", " + shape() + ")");
    return !mask.empty();
  }

  std::string shape() const {
    return "[" + std::to_string(tile.m) + ", " + std::to_string(column().tile) + "]";
  }

  void store(const std::string &base, const std::string &offsets, const std::string &value,
             DataType type, bool isMasked) {
    writer.line("target = o0 + (" + base + ") + (" + offsets + " + tl.zeros(" + shape() +
                ", tl.int32))");
    writer.line("tl.store(target, tl.broadcast_to(" + value + ", " + shape() + ").to(" +
                tlName(type) + ")" + (isMasked ? ", mask=mask)" : ")"));
  }

  void storePart() {
    bool isMasked = maskTile();
    std::string matrix = "part";
    if (!spec.batch.empty())
      matrix = "(part * " + writer.scalar(product(spec.batch, 0, spec.batch.size())) + " + batch)";
    store(matrix + ".to(tl.int64) * " + writer.scalar(spec.m * spec.n) + " + m0 * " +
              writer.scalar(spec.n) + " + " + column().first,
          sum({steps("rows[:, None]", spec.n, tile.m), along(column().places, 1)}), sums(),
          spec.accumulate, isMasked);
  }

  void storeResult() {
    bool isMasked = maskTile();
    if (at != 0)
      writer.line("acc = " + sums());
    if (spec.alpha != 1)
      writer.line("acc = acc * " + number(spec.alpha));
    if (!spec.bias.empty())
      writer.line("acc = acc + " + loadInput(spec.bias[0], ownRows(), "bias", isMasked) + ".to(" +
                  tlName(spec.accumulate) + ")" +
                  (spec.beta != 1 ? " * " + number(spec.beta) : ""));
    writer.line("product = acc.to(" + tlName(spec.type) + ")");
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      writer.line("in" + std::to_string(i) + " = " +
                  loadInput(spec.inputs[i], spec.rows, "q" + std::to_string(i), isMasked));
    writer.body(spec.scalars, spec.body);
    auto [down, across] = stepsOf(spec.output, ownRows());
    store(sum({batchStart(spec.output), down.first, across.first}),
          sum({down.further, across.further}), spec.result, spec.output.dtype, isMasked);
  }

  /// Integers are multiplied by integers.
  std::string number(double value) const {
    return isFloat(spec.accumulate) ? tlNumber(value) : std::to_string(static_cast<int64_t>(value));
  }

  /// Along the rows, which are made of `rows`, and along the columns.
  std::pair<Steps, Steps> stepsOf(const TextOperand &operand, const std::vector<Expr> &rows) {
    size_t count = spec.columns.size();
    return {stepsAlong(row, "rows", 0, rows, stridesOf(operand, 0, rows.size())),
            stepsAlong(column(), column().places, 1, spec.columns,
                       stridesOf(operand, rows.size(), count))};
  }

  /// The elements of an operand that stand where the tile's do: a tile, a line of it, or one value.
  /// `rows` are the dims that its rows are made of.
  std::string loadInput(const TextOperand &operand, const std::vector<Expr> &rows,
                        const std::string &pointer, bool isMasked) {
    auto [down, across] = stepsOf(operand, rows);
    std::string offsets = sum({down.further, across.further}), mask;
    if (isMasked && !down.further.empty() && !across.further.empty())
      mask = "mask";
    else if (!down.further.empty() && !row.isWhole)
      mask = "rows[:, None] < left_rows";
    else if (!across.further.empty() && !column().isWhole)
      mask = along(column().places, 1) + " < left_" + column().places;
    return "tl.load(" + pointer + " + (" + sum({batchStart(operand), down.first, across.first}) +
           ")" + (offsets == "0" ? "" : " + (" + offsets + ")") +
           (mask.empty() ? "" : ", mask=" + mask + ", other=0") + ")";
  }

  const GemmSpec &spec;
  const ProductTile &tile;
  int64_t mostRows;
  const SymbolTable &symbols;
  KernelWriter writer;
  Axis row, inner;
  std::vector<Axis> columns; ///< of the tiles that a tile's columns are
  size_t at = 0;             ///< which of them is written
  std::vector<std::string> batch, windowAt;
  unsigned apartCount = 0;
};

} // namespace

KernelText writeProduct(const GemmSpec &spec, const ProductTile &tile, int64_t mostRows,
                        const SymbolTable &symbols) {
  return ProductWriter(spec, tile, mostRows, symbols).write();
}

} // namespace pellucid::passes
