// SPDX-License-Identifier: Apache-2.0
// Where the elements of a product's operands lie, and which of them there are.
#include "passes/graph/ProductWriter.h"

#include <algorithm>
#include <utility>

namespace pellucid::passes {

/// The stride as a factor of places in a tile: in 32 bits where these reach.
std::string ProductWriter::factor(const Expr &stride, int64_t extent) {
  if (auto value = stride.constant())
    return std::to_string(*value);
  std::string name = writer.scalar(stride);
  return symbols.range(stride).max <= reach(extent) ? name + ".to(tl.int32)" : name;
}

/// `places * stride`, empty where the stride is 0.
std::string ProductWriter::steps(const std::string &places, const Expr &stride, int64_t extent) {
  auto value = stride.constant();
  if (value == 0)
    return "";
  if (value && *value > reach(extent))
    return places + ".to(tl.int64) * " + std::to_string(*value);
  return value == 1 ? places : places + " * " + factor(stride, extent);
}

std::string ProductWriter::sum(const std::vector<std::string> &terms) {
  std::string text;
  for (const std::string &term : terms)
    if (!term.empty() && term != "0")
      text += text.empty() ? term : " + " + term;
  return text.empty() ? "0" : text;
}

/// `dims` are what the axis is the product of, `strides` the operand's along each; neighbours
/// that lie evenly are one. Where several are left, the places are taken apart.
ProductWriter::Steps ProductWriter::stepsAlong(const ProductAxis &axis, const std::string &places,
                                               size_t tileDim, std::vector<Expr> dims,
                                               std::vector<Expr> strides) {
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
  return {"", "(" + writer.address(apart, takenApart(axis, places, tileDim, dims, strides)) + ")"};
}

/// The index along each of `dims` of the tile's places.
std::vector<std::string> ProductWriter::takenApart(const ProductAxis &axis,
                                                   const std::string &places, size_t tileDim,
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
std::string ProductWriter::batchStart(const TextOperand &operand) {
  return writer.address({operand.dtype,
                         {operand.strides.begin(),
                          operand.strides.begin() + static_cast<std::ptrdiff_t>(spec.batch.size())},
                         operand.offset},
                        batch);
}

std::vector<Expr> ProductWriter::stridesOf(const TextOperand &operand, size_t first,
                                           size_t count) const {
  auto begin = operand.strides.begin() + static_cast<std::ptrdiff_t>(spec.batch.size() + first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// The dims that m is made of as a, bias and output see it.
std::vector<Expr> ProductWriter::ownRows() const {
  return spec.rowsApart ? spec.rows : std::vector<Expr>{spec.m};
}

ProductWriter::Side ProductWriter::leftSide() const {
  return {spec.a,
          row,
          0,
          "a",
          "p0",
          ownRows(),
          stridesOf(spec.a, 0, ownRows().size()),
          stridesOf(spec.a, ownRows().size(), spec.depth.size())};
}

ProductWriter::Side ProductWriter::rightSide() const {
  return {spec.b,
          column(),
          1,
          "b" + suffixOf(at),
          "p1",
          spec.columns,
          stridesOf(spec.b, spec.depth.size(), spec.columns.size()),
          stridesOf(spec.b, 0, spec.depth.size())};
}

std::string ProductWriter::along(const std::string &places, size_t dim) {
  return places + (dim == 0 ? "[:, None]" : "[None, :]");
}

void ProductWriter::startSide(const Side &side) {
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
ProductWriter::Steps ProductWriter::stepsWithBorders(const Side &side) {
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
std::string ProductWriter::insideText() {
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
std::string ProductWriter::shapeAs(const std::string &offsets, const Side &side) const {
  bool isWhole = offsets.find("[:, None]") != std::string::npos &&
                 offsets.find("[None, :]") != std::string::npos;
  if (isWhole)
    return "";
  int64_t down = side.outerDim == 0 ? side.outer.tile : tile.k;
  int64_t across = side.outerDim == 0 ? tile.k : side.outer.tile;
  return " + tl.zeros([" + std::to_string(down) + ", " + std::to_string(across) + "], tl.int32)";
}

/// `further`: from the tile of pointers to the round's.
std::string ProductWriter::loadOf(const Side &side, const std::string &left,
                                  const std::string &further) {
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

/// Along the rows, which are made of `rows`, and along the columns.
std::pair<ProductWriter::Steps, ProductWriter::Steps>
ProductWriter::stepsOf(const TextOperand &operand, const std::vector<Expr> &rows) {
  size_t count = spec.columns.size();
  return {stepsAlong(row, "rows", 0, rows, stridesOf(operand, 0, rows.size())),
          stepsAlong(column(), column().places, 1, spec.columns,
                     stridesOf(operand, rows.size(), count))};
}

/// The elements of an operand that stand where the tile's do: a tile, a line of it, or one value.
/// `rows` are the dims that its rows are made of.
std::string ProductWriter::loadInput(const TextOperand &operand, const std::vector<Expr> &rows,
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

} // namespace pellucid::passes
