// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

void giveDim(PointwiseSpec &spec) {
  spec.shape.push_back(1);
  for (TextOperand &input : spec.inputs)
    input.strides.push_back(0);
  // A tile is stored, of which the mask leaves one element.
  for (TextOperand &output : spec.outputs)
    output.strides.push_back(1);
}

/// The dim other than the last along which an operand lies that does not lie along the last one.
std::optional<size_t> crossedDim(const PointwiseSpec &spec) {
  size_t last = spec.shape.size() - 1;
  for (const std::vector<TextOperand> *operands : {&spec.inputs, &spec.outputs})
    for (const TextOperand &operand : *operands)
      for (size_t d = 0; d < last; ++d)
        if (operand.strides[d].constant() == 1 && operand.strides[last].constant() != 0 &&
            operand.strides[last].constant() != 1 && spec.shape[last].constant() != 1)
          return d;
  return std::nullopt;
}

/// Whether the places `indices` are inside of a window, as a condition; empty: all are.
std::string insideText(KernelWriter &writer, const PointwiseSpec &spec, const TextWindow &window,
                       const std::vector<std::string> &indices) {
  std::string text;
  if (window.from.constant() != 0)
    text = "(" + indices[window.dim] + " >= " + writer.scalar(window.from) + ")";
  if (!(window.to == spec.shape[window.dim]))
    text += (text.empty() ? "(" : " & (") + indices[window.dim] + " < " + writer.scalar(window.to) +
            ")";
  return text;
}

/// `mask` of a load of `operand`, and inside of its windows.
std::string inWindow(KernelWriter &writer, const PointwiseSpec &spec, const TextOperand &operand,
                     const std::vector<std::string> &indices, std::string mask) {
  for (size_t w : operand.windows) {
    // What does not move along the window's dim is the same element everywhere.
    if (operand.strides[spec.windows[w].dim].constant() == 0)
      continue;
    std::string inside = insideText(writer, spec, spec.windows[w], indices);
    mask += mask.empty() || inside.empty() ? inside : " & " + inside;
  }
  return mask;
}

/// The pointers of the inputs.
void namePointers(KernelWriter &writer, const PointwiseSpec &spec) {
  size_t count = spec.inputs.size();
  if (!spec.pointers.empty())
    count = 1 + *std::max_element(spec.pointers.begin(), spec.pointers.end());
  for (size_t i = 0; i < count; ++i)
    writer.pointer("p" + std::to_string(i));
}

/// What inputs of one pointer have in common comes first, so that they differ by a constant behind
/// one address.
std::string loadText(KernelWriter &writer, const PointwiseSpec &spec, size_t i,
                     std::vector<std::string> indices, std::string mask) {
  if (auto taken = spec.taken.find(i); taken != spec.taken.end())
    for (const PointwiseSpec::Taken &place : taken->second) {
      std::string at = "in" + std::to_string(place.index);
      indices[spec.windows[place.window].dim] = at + ".to(tl.int64)";
      // What is outside fails afterwards.
      if (place.isInside)
        continue;
      mask += (mask.empty() ? "(" : " & (") + at + " >= 0) & (" + at + " < " +
              writer.scalar(place.size) + ")";
    }
  TextOperand operand = spec.inputs[i];
  std::string apart;
  if (!spec.pointers.empty() && !operand.offsetIsArgument) {
    if (operand.offset.constant() != 0)
      apart = " + " + writer.scalar(operand.offset);
    operand.offset = 0;
  }
  size_t pointer = spec.pointers.empty() ? i : spec.pointers[i];
  return "tl.load(p" + std::to_string(pointer) + " + (" + writer.address(operand, indices) + ")" +
         apart +
         (mask.empty() ? ")" : ", mask=" + mask + (spec.taken.count(i) ? ", other=0)" : ")"));
}

/// `part0 = …`: what bodies ask of the windows.
void nameWindows(KernelWriter &writer, const PointwiseSpec &spec,
                 const std::vector<std::string> &indices) {
  for (size_t w = 0; w < spec.windows.size(); ++w) {
    std::string inside = insideText(writer, spec, spec.windows[w], indices);
    writer.line("part" + std::to_string(w) + " = " + (inside.empty() ? "mask" : inside));
  }
}

bool isFetched(const PointwiseSpec &spec, size_t input) {
  return std::any_of(spec.body.begin(), spec.body.end(), [&](const TextStatement &statement) {
    return statement.fetch && statement.fetch->table == input;
  });
}

/// `name = …` for an element of each lane of a tile of `shape`, where `mask` is.
void writeFetch(KernelWriter &writer, const PointwiseSpec &spec, const TextStatement &statement,
                const std::vector<std::string> &indices, const std::string &shape) {
  const TextFetch &fetch = *statement.fetch;
  std::string address = writer.address(spec.inputs[fetch.table], indices), mask = "mask";
  for (size_t k = 0; k < fetch.places.size(); ++k) {
    const TextFetch::Place &place = fetch.places[k];
    std::string at = statement.name + "_at" + std::to_string(k), size = writer.scalar(place.size),
                inside = "(" + at + " >= 0) & (" + at + " < " + size + ")";
    writer.line(at + " = " + place.index + ".to(tl.int64)");
    if (place.wraps)
      writer.line(at + " = tl.where(" + at + " < 0, " + at + " + " + size + ", " + at + ")");
    writer.check("(" + inside + ") | (mask == 0)", statement.failure, statement.where);
    address += " + " + at + " * " + writer.scalar(place.along);
    mask += " & " + inside;
  }
  size_t pointer = spec.pointers.empty() ? fetch.table : spec.pointers[fetch.table];
  writer.line(statement.name + " = tl.load(p" + std::to_string(pointer) + " + tl.broadcast_to(" +
              address + ", " + shape + "), mask=" + mask + ", other=0)");
}

void writeBody(KernelWriter &writer, const PointwiseSpec &spec,
               const std::vector<std::string> &indices, const std::string &shape) {
  writer.body(spec.scalars, {});
  for (const TextStatement &statement : spec.body)
    if (statement.fetch)
      writeFetch(writer, spec, statement, indices, shape);
    else
      writer.body({}, {statement});
}

/// An address for every element of the tile, also where the operand stands still along a side of
/// it.
std::string ofTile(const std::string &address, const TextOperand &operand,
                   std::initializer_list<size_t> sides, const std::string &shape) {
  bool moves = std::all_of(sides.begin(), sides.end(),
                           [&](size_t side) { return operand.strides[side].constant() != 0; });
  return moves ? address : address + " + tl.zeros(" + shape + ", tl.int64)";
}

/// Writes a kernel whose programs go along the last dim.
class LineWriter {
public:
  LineWriter(PointwiseSpec &s, const SymbolTable &t) : spec(s), symbols(t), writer(s.name) {}

  KernelText write() {
    size_t outer = spec.shape.size() - 1;
    const Expr &inner = spec.shape.back();
    int64_t block = chooseBlock(inner, symbols, 1024);
    std::vector<std::string> outputs;
    namePointers(writer, spec);
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      outputs.push_back(writer.pointer("o" + std::to_string(i)));

    std::string size = writer.scalar(inner);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    Expr chunks = symbolic::ceilDiv(inner, block);
    std::vector<std::string> indices;
    std::string line; // where it begins
    if (outer == 0) {
      writer.line("col = pid * BLOCK + tl.arange(0, BLOCK)");
    } else if (chunks.constant() == 1) {
      indices = writer.delinearize("pid", spec.shape, outer, "idx");
      writer.line("col = tl.arange(0, BLOCK).to(tl.int64)");
      line = "pid * " + size + " + ";
    } else {
      writer.line("chunks = tl.cdiv(" + size + ", BLOCK)");
      writer.line("row = pid // chunks");
      writer.line("col = (pid % chunks) * BLOCK + tl.arange(0, BLOCK)");
      indices = writer.delinearize("row", spec.shape, outer, "idx");
      line = "row * " + size + " + ";
    }
    writer.line("mask = col < " + size);
    indices.push_back("col");
    nameWindows(writer, spec, indices);
    if (!endsWithinVector()) {
      writeElements(indices, line, outputs, true);
    } else {
      // A mask that may end anywhere would have each element moved by itself.
      writer.open("if (pid + 1) * BLOCK <= " + size + ":");
      writeElements(indices, line, outputs, false);
      writer.close();
      writer.open("else:");
      writeElements(indices, line, outputs, true);
      writer.close();
    }
    return writer.finish(chunks * product(spec.shape, 0, outer), block);
  }

private:
  void writeElements(const std::vector<std::string> &indices, const std::string &line,
                     const std::vector<std::string> &outputs, bool isMasked) {
    size_t outer = spec.shape.size() - 1;
    std::string all = isMasked ? "mask" : "";
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      if (isFetched(spec, i))
        continue;
      bool tile = anyStrideAlong(spec.inputs[i], outer);
      std::string mask = inWindow(writer, spec, spec.inputs[i], indices, tile ? all : "");
      writer.line("in" + std::to_string(i) + " = " + loadText(writer, spec, i, indices, mask));
    }
    if (spec.usesIndex)
      writer.line("i = " + line + "col");
    writeBody(writer, spec, indices, "[BLOCK]");
    for (size_t i = 0; i < outputs.size(); ++i) {
      // A value made of broadcast scalars only must still fill the tile.
      std::string value = "tl.broadcast_to(" + spec.results[i] + ", [BLOCK])";
      std::string place =
          ofTile(writer.address(spec.outputs[i], indices), spec.outputs[i], {outer}, "[BLOCK]");
      writer.line(storeText(outputs[i], place, value, spec.outputs[i].dtype, all));
    }
  }

  /// One long line, on a device, of which all but the last program have whole vectors.
  bool endsWithinVector() const {
    constexpr int64_t vectorBytes = 16, leastElements = 1 << 20;
    const Expr &size = spec.shape.back();
    int64_t narrowest = vectorBytes;
    for (const std::vector<TextOperand> *operands : {&spec.inputs, &spec.outputs})
      for (const TextOperand &operand : *operands)
        if (operand.strides.back().constant() != 0)
          narrowest = std::min<int64_t>(narrowest, byteSize(operand.dtype));
    return spec.turnsByLines && spec.shape.size() == 1 && spec.windows.empty() &&
           size.constantOr(0) >= leastElements &&
           *size.constant() % (vectorBytes / narrowest) != 0 &&
           std::none_of(spec.body.begin(), spec.body.end(), [](const TextStatement &statement) {
             return statement.fetch || !statement.failure.empty();
           });
  }

  PointwiseSpec &spec;
  const SymbolTable &symbols;
  KernelWriter writer;
};

/// Writes a kernel whose tiles have several short lines along the last dim.
class ShortLinesWriter {
public:
  ShortLinesWriter(PointwiseSpec &s, int64_t longest) : spec(s), writer(s.name) {
    while (columns < longest)
      columns *= 2;
    // As many bytes are under way for narrow elements as for wide ones.
    lines = (byteSize(s.outputs[0].dtype) < 4 ? 2048 : 1024) / columns;
    // Those of many inputs have enough of them, and no registers for more.
    constexpr size_t many = 4;
    if (s.inputs.size() > many)
      lines = std::max<int64_t>(1, 1024 / columns);
    // Where a line is taken from is asked once for all that a thread has of it.
    else if (!s.taken.empty() && byteSize(s.outputs[0].dtype) < 4)
      lines *= 2;
  }

  KernelText write() {
    size_t outer = spec.shape.size() - 1;
    namePointers(writer, spec);
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      writer.pointer("o" + std::to_string(i));
    Expr all = product(spec.shape, 0, outer);
    std::string height = std::to_string(lines), width = std::to_string(columns);
    // Divisions of 64 bits would be most of what a short line costs.
    constexpr int64_t mostNarrow = int64_t(1) << 30;
    bool isNarrow = all.constantOr(mostNarrow) < mostNarrow;
    writer.line(std::string("line = tl.program_id(0)") + (isNarrow ? "" : ".to(tl.int64)") + " * " +
                height + " + tl.arange(0, " + height + ")");
    writer.line("col = tl.arange(0, " + width + ").to(tl.int64)");
    writer.line("line_there = (line < " + writer.scalar(all) + ")[:, None]");
    writer.line("col_there = (col < " + writer.scalar(spec.shape[outer]) + ")[None, :]");
    writer.line("mask = line_there & col_there");
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, outer, "idx");
    if (isNarrow) {
      for (const std::string &index : indices)
        writer.line(index + " = " + index + ".to(tl.int64)");
      if (spec.usesIndex)
        writer.line("line = line.to(tl.int64)");
    }
    for (std::string &index : indices)
      index += "[:, None]";
    indices.push_back("col[None, :]");
    nameWindows(writer, spec, indices);
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      if (isFetched(spec, i))
        continue;
      const TextOperand &operand = spec.inputs[i];
      bool along = operand.strides[outer].constant() != 0, moves = false;
      for (size_t d = 0; d < outer; ++d)
        moves |= operand.strides[d].constant() != 0;
      std::string mask = along && moves ? "mask" : along ? "col_there" : moves ? "line_there" : "";
      writer.line(
          "in" + std::to_string(i) + " = " +
          loadText(writer, spec, i, indices, inWindow(writer, spec, operand, indices, mask)));
    }
    if (spec.usesIndex)
      writer.line("i = line[:, None] * " + writer.scalar(spec.shape[outer]) + " + col[None, :]");
    const std::string shape = "[" + height + ", " + width + "]";
    writeBody(writer, spec, indices, shape);
    for (size_t i = 0; i < spec.outputs.size(); ++i) {
      const std::vector<Expr> &strides = spec.outputs[i].strides;
      std::string place = writer.address(spec.outputs[i], indices);
      bool moves = strides[outer].constant() != 0 &&
                   std::any_of(strides.begin(), strides.begin() + static_cast<long>(outer),
                               [](const Expr &stride) { return stride.constant() != 0; });
      if (!moves)
        place += " + tl.zeros(" + shape + ", tl.int64)";
      writer.line(storeText("o" + std::to_string(i), place,
                            "tl.broadcast_to(" + spec.results[i] + ", " + shape + ")",
                            spec.outputs[i].dtype, "mask"));
    }
    return writer.finish(symbolic::ceilDiv(all, lines), columns);
  }

private:
  PointwiseSpec &spec;
  KernelWriter writer;
  int64_t columns = 1, lines = 1;
};

/// Writes a kernel whose tiles have a side along dim `across` and one along the last dim. Operands
/// that lie along `across` are loaded and stored with that side innermost, and transposed between.
class TransposingWriter {
public:
  TransposingWriter(PointwiseSpec &s, size_t a, const SymbolTable &symbols)
      : spec(s), across(a), last(s.shape.size() - 1), writer(s.name) {
    int64_t bytes = 1;
    for (const std::vector<TextOperand> *operands : {&spec.inputs, &spec.outputs})
      for (const TextOperand &operand : *operands)
        bytes = std::max<int64_t>(bytes, byteSize(operand.dtype));
    int64_t side = bytes > 4 ? 32 : 64;
    rows = chooseBlock(spec.shape[across], symbols, side);
    // A short side leaves room along the other one.
    columns = chooseBlock(spec.shape[last], symbols, side * side / rows);
    if (columns < side)
      rows = chooseBlock(spec.shape[across], symbols, side * side / columns);
  }

  KernelText write() {
    namePointers(writer, spec);
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      writer.pointer("o" + std::to_string(i));
    std::vector<Expr> tiles;
    for (size_t d = 0; d < spec.shape.size(); ++d)
      tiles.push_back(d == across ? symbolic::ceilDiv(spec.shape[d], rows)
                      : d == last ? symbolic::ceilDiv(spec.shape[d], columns)
                                  : spec.shape[d]);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    indices = writer.delinearize("pid", tiles, tiles.size(), "idx");
    indices[across] = side("row", indices[across], rows);
    indices[last] = side("col", indices[last], columns);
    for (size_t d : {across, last})
      writer.line(indices[d] + "_there = " + indices[d] + " < " + writer.scalar(spec.shape[d]));
    writer.line("mask = row_there[:, None] & col_there[None, :]");
    nameWindows(writer, spec, places(false));
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      load(i);
    if (spec.usesIndex)
      writer.line("i = " + rowMajorIndex());
    writer.body(spec.scalars, spec.body);
    std::string shape = "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
    for (size_t i = 0; i < spec.outputs.size(); ++i) {
      // A value made of broadcast scalars only must still fill the tile.
      std::string value = "tl.broadcast_to(" + spec.results[i] + ", " + shape + ")";
      bool turned = liesAcross(spec.outputs[i]);
      std::string mask = "mask";
      if (turned) {
        value = "tl.trans(" + value + ")";
        mask = "col_there[:, None] & row_there[None, :]";
      }
      std::string places = ofTile(
          address(spec.outputs[i], turned), spec.outputs[i], {across, last},
          turned ? "[" + std::to_string(columns) + ", " + std::to_string(rows) + "]" : shape);
      writer.line(storeText("o" + std::to_string(i), places, value, spec.outputs[i].dtype, mask));
    }
    return writer.finish(product(tiles, 0, tiles.size()), columns);
  }

private:
  std::string side(const std::string &name, const std::string &index, int64_t length) {
    std::string text = std::to_string(length);
    writer.line(name + " = " + index + " * " + text + " + tl.arange(0, " + text + ")");
    return name;
  }
  std::string rowMajorIndex() {
    std::vector<std::string> places = indices;
    places[across] += "[:, None]";
    places[last] += "[None, :]";
    std::string text = places[0];
    for (size_t d = 1; d < places.size(); ++d)
      text = "(" + text + ") * " + writer.scalar(spec.shape[d]) + " + " + places[d];
    return text;
  }
  bool liesAcross(const TextOperand &operand) const {
    return operand.strides[across].constant() == 1 && operand.strides[last].constant() != 0 &&
           operand.strides[last].constant() != 1;
  }
  std::vector<std::string> places(bool turned) const {
    std::vector<std::string> places = indices;
    places[across] += turned ? "[None, :]" : "[:, None]";
    places[last] += turned ? "[:, None]" : "[None, :]";
    return places;
  }
  std::string address(const TextOperand &operand, bool turned) {
    return writer.address(operand, places(turned));
  }
  void load(size_t i) {
    const TextOperand &operand = spec.inputs[i];
    bool along = operand.strides[across].constant() != 0,
         innermost = operand.strides[last].constant() != 0, turned = liesAcross(operand);
    std::string mask = turned               ? "col_there[:, None] & row_there[None, :]"
                       : along && innermost ? "mask"
                       : along              ? "row_there[:, None]"
                       : innermost          ? "col_there[None, :]"
                                            : "";
    std::string text = loadText(writer, spec, i, places(turned),
                                inWindow(writer, spec, operand, places(turned), mask));
    writer.line("in" + std::to_string(i) + " = " + (turned ? "tl.trans(" + text + ")" : text));
  }

  PointwiseSpec &spec;
  size_t across, last;
  KernelWriter writer;
  int64_t rows = 0, columns = 0;
  std::vector<std::string> indices;
};

} // namespace

KernelText writePointwise(PointwiseSpec spec, const SymbolTable &symbols) {
  std::vector<TextOperand *> operands = pointersTo(spec.inputs);
  for (TextOperand &output : spec.outputs)
    operands.push_back(&output);
  std::vector<TextWindow *> windows;
  for (TextWindow &window : spec.windows)
    windows.push_back(&window);
  collapse(spec.shape, 0, spec.shape.size(), operands, windows);
  if (spec.shape.empty())
    giveDim(spec);
  constexpr int64_t fewColumns = 8;
  bool byLines = spec.turnsByLines && symbols.range(spec.shape.back()).max <= fewColumns;
  bool fetches = std::any_of(spec.body.begin(), spec.body.end(),
                             [](const TextStatement &statement) { return statement.fetch; });
  bool isSquare = spec.taken.empty() && !fetches && !byLines;
  if (std::optional<size_t> across = isSquare ? crossedDim(spec) : std::nullopt)
    return TransposingWriter(spec, *across, symbols).write();
  // A program for each short line would leave most of a device's lanes idle.
  int64_t longest = symbols.range(spec.shape.back()).max;
  bool reachesAll = std::all_of(spec.outputs.begin(), spec.outputs.end(), [](const auto &output) {
    return std::none_of(output.strides.begin(), output.strides.end(),
                        [](const Expr &stride) { return stride.constant() == 0; });
  });
  if (spec.shape.size() > 1 && longest <= 256 && reachesAll)
    return ShortLinesWriter(spec, longest).write();
  return LineWriter(spec, symbols).write();
}

} // namespace pellucid::passes
