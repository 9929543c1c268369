// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductWriter.h"

#include <algorithm>
#include <utility>

namespace pellucid::passes {

ProductWriter::ProductWriter(const GemmSpec &s, const ProductTile &t, int64_t most,
                             const SymbolTable &table)
    : spec(s), tile(t), mostRows(most), symbols(table), writer(s.name) {}

KernelText ProductWriter::write() {
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

void ProductWriter::multiplyOwnTile() {
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
void ProductWriter::multiplyAllTiles() {
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
  round("x");
  round("y");
  writer.line(dotText("acc", "y"));
  writer.open("if step % " + rounds + " == " + rounds + " - 1:");
  storeResult();
  writer.line(zeros);
  writer.close();
  writer.close();
}

/// A device can tell by it where tiles end.
void ProductWriter::assumeBelow(const std::string &name, int64_t end) {
  writer.line("tl.assume(" + name + " < " + std::to_string(end) + ")");
}

std::string ProductWriter::dotText(const std::string &sum, const std::string &right) const {
  return sum + " = tl.dot(x, " + right + ", " + sum + ", input_precision=\"" +
         (spec.tf32 ? "tf32" : "ieee") + "\", out_dtype=" + tlName(spec.accumulate) + ")";
}

void ProductWriter::round(const std::string &operand) {
  if (spec.rounds)
    writer.line(operand + " = " + roundedToTf32(operand));
}

/// Every scalar that any tile of this spec needs, in one order.
void ProductWriter::declare() {
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

std::vector<const TextOperand *> ProductWriter::operands() const {
  std::vector<const TextOperand *> all{&spec.a, &spec.b};
  for (const std::vector<TextOperand> *list : {&spec.bias, &spec.inputs})
    for (const TextOperand &operand : *list)
      all.push_back(&operand);
  all.push_back(&spec.output);
  return all;
}

bool ProductWriter::isOneTile(const ProductAxis &axis) const {
  int64_t most = symbols.range(axis.size).max;
  return std::min(most, axis.places == "rows" ? mostRows : most) <= axis.step;
}

std::string ProductWriter::tilesOf(const ProductAxis &axis) {
  if (isOneTile(axis))
    return "1";
  if (auto size = axis.size.constant())
    return std::to_string((*size + axis.step - 1) / axis.step);
  // As many as that do not make a grid.
  return "tl.cdiv(" + writer.scalar(axis.size) + ", " + std::to_string(axis.step) +
         ").to(tl.int32)";
}

Expr ProductWriter::tileCount() const {
  // Of a choice that has one tile down, no other number of rows comes here.
  Expr down = isOneTile(row) ? symbolic::min(spec.m, 1) : symbolic::ceilDiv(spec.m, tile.m);
  return down * symbolic::ceilDiv(spec.n, tile.n) * product(spec.batch, 0, spec.batch.size()) *
         tile.splits;
}

Expr ProductWriter::gridSize() const {
  return tile.programs ? symbolic::min(tileCount(), Expr(tile.programs)) : tileCount();
}

void ProductWriter::countTiles() {
  writer.line("down = " + tilesOf(row));
  writer.line("across = " + tilesOf(columns[0]));
}

/// `m0`, `n0`, `k0` and the batch's indices from the tile's number. Programs that run together
/// share rows of a and columns of b: a few tiles down, then the next across.
void ProductWriter::placeTile() {
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

std::vector<const ProductAxis *> ProductWriter::outerAxes() const {
  std::vector<const ProductAxis *> outer{&row};
  for (const ProductAxis &part : columns)
    outer.push_back(&part);
  return outer;
}

void ProductWriter::nameElements() {
  std::vector<const ProductAxis *> all = outerAxes();
  all.push_back(&inner);
  for (const ProductAxis *axis : all)
    writer.line(axis->places + " = tl.arange(0, " + std::to_string(axis->tile) + ")");
}

void ProductWriter::cutTile() {
  for (const ProductAxis *axis : outerAxes())
    if (!axis->isWhole) // what is left of the dim; where that is less than a tile, in 32 bits
      writer.line("left_" + axis->places + " = tl.minimum(" + writer.scalar(axis->size) + " - " +
                  axis->first + ", " + std::to_string(axis->tile) + ").to(tl.int32)");
}

void ProductWriter::multiplyTiles() {
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
  round("x");
  forColumns([&] {
    writer.line("y" + suffixOf(at) + " = " + loadRound(rightSide()));
    round("y" + suffixOf(at));
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
void ProductWriter::forColumns(const std::function<void()> &write) {
  for (at = 0; at < columns.size(); ++at)
    write();
  at = 0;
}

void ProductWriter::openRounds() {
  writer.open("for k in range(" + std::string(tile.splits > 1 ? "start" : "0") + ", end, " +
              std::to_string(tile.k) + "):");
}

/// k is made of several dims: a round is a piece of the last one at one place of the others.
void ProductWriter::openWindows() {
  std::string pieces = std::to_string(piecesOfWindow());
  writer.open("for round in range(" + std::string(tile.splits > 1 ? "start" : "0") + ", end):");
  writer.line("window = round // " + pieces);
  writer.line("k = round % " + pieces + " * " + std::to_string(tile.k));
  windowAt = writer.delinearize("window", spec.depth, spec.depth.size() - 1, "window_at");
}

std::string ProductWriter::loadRound(const Side &side) {
  if (spec.depth.size() == 1)
    return loadOf(side, "end - k");
  std::vector<std::string> indices = windowAt;
  indices.emplace_back("k");
  TextOperand window{spec.type, side.inner, 0};
  return loadOf(side, writer.scalar(spec.depth.back()) + " - k",
                " + (" + writer.address(window, indices) + ")");
}

std::string ProductWriter::advance(const Expr &stride) {
  if (auto value = stride.constant())
    return std::to_string(*value * tile.k);
  return std::to_string(tile.k) + " * " + writer.scalar(stride);
}

/// `start` and `end` of the part of k, or of its rounds, that the program adds up.
void ProductWriter::placePart() {
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
void ProductWriter::multiplyLines() {
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
bool ProductWriter::maskTile() {
  std::string mask;
  for (const ProductAxis *axis : {&std::as_const(row), &column()})
    if (!axis->isWhole) {
      std::string part = along(axis->places, axis == &row ? 0 : 1) + " < left_" + axis->places;
      mask = mask.empty() ? part : "(" + mask + ") & (" + part + ")";
    }
  if (!mask.empty())
    writer.line("mask = tl.broadcast_to(" + mask + ", " + shape() + ")");
  return !mask.empty();
}

std::string ProductWriter::shape() const {
  return "[" + std::to_string(tile.m) + ", " + std::to_string(column().tile) + "]";
}

void ProductWriter::store(const std::string &base, const std::string &offsets,
                          const std::string &value, DataType type, bool isMasked) {
  writer.line("target = o0 + (" + base + ") + (" + offsets + " + tl.zeros(" + shape() +
              ", tl.int32))");
  writer.line("tl.store(target, tl.broadcast_to(" + value + ", " + shape() + ").to(" +
              tlName(type) + ")" + (isMasked ? ", mask=mask)" : ")"));
}

void ProductWriter::storePart() {
  bool isMasked = maskTile();
  std::string matrix = "part";
  if (!spec.batch.empty())
    matrix = "(part * " + writer.scalar(product(spec.batch, 0, spec.batch.size())) + " + batch)";
  store(matrix + ".to(tl.int64) * " + writer.scalar(spec.m * spec.n) + " + m0 * " +
            writer.scalar(spec.n) + " + " + column().first,
        sum({steps("rows[:, None]", spec.n, tile.m), along(column().places, 1)}), sums(),
        spec.accumulate, isMasked);
}

void ProductWriter::storeResult() {
  bool isMasked = maskTile();
  if (at != 0)
    writer.line("acc = " + sums());
  if (spec.alpha != 1)
    writer.line("acc = acc * " + number(spec.alpha));
  if (!spec.bias.empty())
    writer.line("acc = acc + " + loadInput(spec.bias[0], ownRows(), "bias", isMasked) + ".to(" +
                tlName(spec.accumulate) + ")" + (spec.beta != 1 ? " * " + number(spec.beta) : ""));
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
std::string ProductWriter::number(double value) const {
  return isFloat(spec.accumulate) ? tlNumber(value) : std::to_string(static_cast<int64_t>(value));
}

KernelText writeProduct(const GemmSpec &spec, const ProductTile &tile, int64_t mostRows,
                        const SymbolTable &symbols) {
  return ProductWriter(spec, tile, mostRows, symbols).write();
}

} // namespace pellucid::passes
