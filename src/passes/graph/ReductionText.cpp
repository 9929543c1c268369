// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ReductionText.h"

#include "passes/graph/KernelWriter.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

using Tile = ReductionPlan::Tile;

/// Collapses kept and reduced dimensions apart; the operands' strides run over kept, then reduced.
void collapseReduction(ReductionSpec &spec) {
  std::vector<Expr> shape = spec.kept;
  shape.insert(shape.end(), spec.reduced.begin(), spec.reduced.end());
  for (size_t i = 0; i < spec.reduced.size(); ++i)
    spec.output.strides.push_back(0);
  // The output takes no part in merging reduced dimensions, and must allow each merge of kept ones.
  std::vector<TextOperand *> all = pointersTo(spec.inputs);
  all.push_back(&spec.output);
  size_t keptCount = spec.kept.size();
  // A place is counted in the order of the dims, and merging keeps that.
  collapse(shape, keptCount, shape.size(), all);
  size_t newKept = collapse(shape, 0, keptCount, all);
  spec.kept.assign(shape.begin(), shape.begin() + static_cast<long>(newKept));
  spec.reduced.assign(shape.begin() + static_cast<long>(newKept), shape.end());
  spec.output.strides.resize(newKept, Expr(0));
  if (!spec.reduced.empty())
    return;
  spec.reduced.push_back(1);
  for (TextOperand &input : spec.inputs)
    input.strides.push_back(0);
}

/// How many programs a device wants, and what one program should not be divided further for.
struct DeviceShare {
  int64_t programs, elements;
};
DeviceShare shareOf(bool forCpu) {
  return forCpu ? DeviceShare{64, 1 << 16} : DeviceShare{2048, 1 << 13};
}

/// The length of a piece where `count` elements in all are reduced to results of which there are
/// `others` programs already; 0: one piece is enough.
int64_t pieceLength(const Expr &count, const Expr &others, int64_t least, int64_t tile,
                    const DeviceShare &share, const SymbolTable &symbols) {
  symbolic::Range elements = symbols.range(count), programs = symbols.range(others);
  if (elements.max <= 2 * least || programs.min >= share.programs / 2)
    return 0;
  int64_t piece = least;
  // Where all is known no more programs than the device wants.
  if (count.isConstant() && others.isConstant()) {
    int64_t wanted =
        std::max<int64_t>(1, share.programs / std::max<int64_t>(1, *others.constant()));
    piece = std::max(least, (*count.constant() + wanted - 1) / wanted);
    if (piece >= *count.constant())
      return 0;
  }
  return (piece + tile - 1) / tile * tile;
}

/// Pieces of the innermost reduced dim, those of all outer ones counted together.
Expr countUnits(const ReductionSpec &spec, int64_t piece) {
  return product(spec.reduced, 0, spec.reduced.size() - 1) *
         symbolic::ceilDiv(spec.reduced.back(), piece);
}

/// Neighbouring pieces that one program goes through: more where the innermost dim is shorter than
/// a piece.
Expr unitsOfProgram(const ReductionSpec &spec, int64_t piece) {
  if (spec.reduced.size() == 1)
    return 1;
  return symbolic::max(Expr(1), symbolic::floorDiv(piece, symbolic::max(spec.reduced.back(), 1)));
}

/// The longest rows of which a program takes several: where there are many of them each would begin
/// and end for little else.
int64_t longestOfSeveral(int64_t rows, bool forCpu) {
  constexpr int64_t many = 4096;
  return forCpu ? 32 : rows >= many ? 1024 : 256;
}

/// A program may hold each row, for a rule that gains by it: places are compared once then.
bool holdsRow(const ReductionSpec &spec, const SymbolTable &symbols) {
  constexpr int64_t longest = 8192;
  const Expr &inner = spec.reduced.back();
  return !spec.rule.whole.empty() && spec.place.empty() && spec.reduced.size() == 1 &&
         inner.isConstant() && *inner.constant() > 0 && *inner.constant() <= longest;
}

ReductionPlan planReduction(const ReductionSpec &spec, const SymbolTable &symbols, bool forCpu,
                            bool mayDivide) {
  ReductionPlan plan;
  const Expr &inner = spec.reduced.back();
  int64_t longest = symbols.range(inner).max;
  // The tile runs along the dimension in which the first input is contiguous. Constant tensors are
  // computed and have no input.
  bool innerKept = !spec.kept.empty() && !spec.inputs.empty() &&
                   spec.inputs[0].strides[spec.kept.size() - 1].constant() == 1 &&
                   spec.inputs[0].strides.back().constant() != 1;
  Expr others = product(spec.kept, 0, spec.kept.size());
  int64_t least = shareOf(forCpu).elements;
  // Narrow elements come in larger tiles, so that as many bytes are under way.
  int64_t bytes = spec.inputs.empty() ? 4 : byteSize(spec.inputs[0].dtype);
  int64_t more = forCpu ? 1 : std::max<int64_t>(1, 4 / bytes);
  if (innerKept) {
    plan.tile = Tile::Columns;
    // What combines states has few of them: more programs, with more rows each at a time.
    // On a CPU a part of short rows stays in registers and the first-level cache; of long ones more
    // of a page is read at a time.
    constexpr int64_t shortRow = 512;
    int64_t onCpu = symbols.range(spec.kept.back()).max <= shortRow ? 128 : 256;
    plan.results = chooseBlock(spec.kept.back(), symbols, forCpu ? onCpu : mayDivide ? 128 : 32);
    // A row at a time is what a CPU's caches and vectors like.
    plan.elements = forCpu ? 1 : powerOver(std::min(longest, 2048 * more / plan.results));
    others = product(spec.kept, 0, spec.kept.size() - 1) *
             symbolic::ceilDiv(spec.kept.back(), plan.results);
    least = std::max<int64_t>(plan.elements, least / plan.results);
  } else if (longest <= longestOfSeveral(symbols.range(others).min, forCpu) && !spec.kept.empty() &&
             !spec.inputs.empty()) {
    plan.tile = Tile::Rows;
    plan.elements = powerOver(std::max<int64_t>(longest, 1));
    // Of long ones more elements are under way, where no places stand beside them.
    int64_t most = forCpu ? 1024 : plan.elements > 256 && !spec.rule.keepsPlace ? 4096 : 2048;
    plan.results = std::max<int64_t>(1, most / plan.elements);
    plan.results = std::min(plan.results, chooseBlock(others, symbols, plan.results));
    others = symbolic::ceilDiv(others, plan.results);
  } else {
    plan.elements = chooseBlock(inner, symbols, 1024 * more);
    if (!forCpu && holdsRow(spec, symbols))
      plan.elements = powerOver(longest);
  }
  if (!mayDivide)
    return plan;
  Expr count = product(spec.reduced, 0, spec.reduced.size());
  plan.piece = pieceLength(count, others, least, plan.elements, shareOf(forCpu), symbols);
  if (plan.piece)
    plan.parts = symbolic::ceilDiv(countUnits(spec, plan.piece), unitsOfProgram(spec, plan.piece));
  return plan;
}

/// Writes the kernel of one plan. Names: `idx<d>` are indices of kept dims, `r<d>` of reduced ones;
/// of a tile, the axis KEPT and the axis AXIS, along which it is reduced.
class ReductionWriter {
public:
  ReductionWriter(const ReductionSpec &s, const ReductionPlan &p, const SymbolTable &t)
      : spec(s), plan(p), symbols(t), writer(s.name) {
    // Pieces begin at whole tiles, too.
    isWhole = symbols.isMultipleOf(spec.reduced.back(), plan.elements);
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      writer.pointer("p" + std::to_string(i));
    writer.pointer("o0");
    if (plan.isSplit() ? spec.rule.keepsPlace || spec.rule.keepsSpread : spec.extreme.has_value())
      writer.pointer("o1");
    if (plan.isSplit() && spec.rule.keepsSpread)
      writer.pointer("o2");
    for (size_t k = 0; k < spec.beside.size(); ++k)
      writer.pointer("o" + std::to_string(k + 1));
    writer.helper = spec.rule.helper;
    for (const ReductionSpec::Beside &other : spec.beside)
      if (writer.helper.find(other.rule.helper) == std::string::npos)
        writer.helper += other.rule.helper;
    twoDims = plan.tile == Tile::Rows || (plan.tile == Tile::Columns && plan.elements > 1);
    // Where lanes are results of their own there is nothing to do across them.
    lanesAreResults = plan.tile == Tile::Columns && !twoDims;
    axis = plan.tile == Tile::Rows ? "1" : "0";
    isOneRow = plan.tile == Tile::Row && !plan.isSplit() && holdsRow(spec, symbols) &&
               *spec.reduced.back().constant() <= plan.elements && plan.elements > 1;
    int64_t results = plan.results, elements = plan.elements;
    shape = plan.tile == Tile::Row ? "[" + std::to_string(elements) + "]"
            : lanesAreResults      ? "[" + std::to_string(results) + "]"
            : plan.tile == Tile::Rows
                ? "[" + std::to_string(results) + ", " + std::to_string(elements) + "]"
                : "[" + std::to_string(elements) + ", " + std::to_string(results) + "]";
  }

  KernelText write() {
    emitIndices();
    std::string accumulate = tlName(spec.rule.accumulate);
    if (isOneRow)
      return writeRow(accumulate);
    writer.line("acc = tl.full(" + shape + ", " + spec.rule.identity + ", " + accumulate + ")");
    emitRule(spec.rule.start);
    for (size_t k = 0; k < spec.beside.size(); ++k)
      writer.line(ofBeside("acc", k) + " = tl.full(" + shape + ", " + spec.beside[k].rule.identity +
                  ", " + tlName(spec.beside[k].rule.accumulate) + ")");
    if (spec.rule.keepsPlace && placesAreNarrow())
      writer.line("place = tl.full(" + shape + ", -1, tl.int32)");
    openLoops();
    if (takesSeveralRows())
      emitSeveralRows(accumulate);
    emitElements(accumulate);
    for (; loops > 0; --loops)
      writer.close();
    if (!lanesAreResults) {
      if (spec.rule.keepsPlace && placesAreNarrow()) // beside the largest number that there is
        writer.line("place = place.to(tl.int64)");
      emitRule(spec.rule.across);
      for (size_t k = 0; k < spec.beside.size(); ++k)
        emitBeside(spec.beside[k].rule.across, k);
    }
    emitResult();
    return writer.finish(grid * plan.parts, plan.tile == Tile::Row ? plan.elements : plan.results);
  }

private:
  KernelText writeRow(const std::string &accumulate) {
    reduced.emplace_back("r0");
    std::string elements = std::to_string(plan.elements);
    writer.line("r0 = tl.arange(0, " + elements + ").to(tl.int64)");
    if (!isWhole)
      writer.line("there = tl.arange(0, " + elements + ") < " + writer.scalar(spec.reduced[0]));
    emitElements(accumulate);
    emitResult();
    KernelText text = writer.finish(grid, plan.elements);
    constexpr int64_t ofWarp = 1024;
    text.numWarps = static_cast<int32_t>(std::max<int64_t>(4, plan.elements / ofWarp));
    return text;
  }

  std::string tileOf(const std::string &vector, bool kept) const {
    if (!twoDims)
      return vector;
    bool first = kept == (plan.tile == Tile::Rows);
    return vector + (first ? "[:, None]" : "[None, :]");
  }

  void emitIndices() {
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    writer.body(spec.scalars, {});
    std::string at = "pid";
    if (plan.isSplit()) {
      parts = writer.scalar(plan.parts);
      writer.line("part = pid % " + parts);
      writer.line("group = pid // " + parts);
      at = "group";
    }
    std::string results = std::to_string(plan.results);
    size_t dims = spec.kept.size();
    if (plan.tile == Tile::Row) {
      grid = product(spec.kept, 0, dims);
      kept = writer.delinearize(at, spec.kept, dims, "idx");
      linear = at;
    } else if (plan.tile == Tile::Rows) {
      Expr all = product(spec.kept, 0, dims);
      grid = symbolic::ceilDiv(all, plan.results);
      writer.line("line = " + at + " * " + results + " + tl.arange(0, " + results + ")");
      writer.line("kept = line < " + writer.scalar(all));
      kept = writer.delinearize("line", spec.kept, dims, "idx");
      linear = "line";
    } else {
      Expr chunks = symbolic::ceilDiv(spec.kept.back(), plan.results);
      grid = chunks * product(spec.kept, 0, dims - 1);
      std::string size = writer.scalar(spec.kept.back()), count = writer.scalar(chunks);
      writer.line("row = " + at + " // " + count);
      writer.line("col = (" + at + " % " + count + ") * " + results + " + tl.arange(0, " + results +
                  ")");
      writer.line("kept = col < " + size);
      kept = writer.delinearize("row", spec.kept, dims - 1, "idx");
      kept.push_back("col");
      linear = dims > 1 ? "row * " + size + " + col" : "col";
    }
  }

  void open(const std::string &loop) {
    writer.open(loop);
    ++loops;
  }

  /// Loops over the reduced dims; afterwards `r<last>` is the index along the innermost one, a tile
  /// of them where the tile has several, and `inside` (if any) says which are there.
  void openLoops() {
    size_t last = spec.reduced.size() - 1;
    std::string inner = writer.scalar(spec.reduced[last]), begin = "0", end = inner;
    if (plan.isSplit() && last == 0) {
      std::string piece = std::to_string(plan.piece);
      writer.line("begin = part * " + piece);
      // As many rounds in each piece where none is cut.
      bool isEven = symbols.isMultipleOf(spec.reduced[last], plan.piece);
      writer.line(isEven ? "end = begin + " + piece
                         : "end = tl.minimum(begin + " + piece + ", " + inner + ")");
      begin = "begin", end = "end";
    } else if (plan.isSplit()) {
      openUnits(inner);
      begin = "begin", end = "end";
    } else {
      for (size_t d = 0; d < last; ++d) {
        reduced.push_back("r" + std::to_string(d));
        open("for " + reduced.back() + " in range(0, " + writer.scalar(spec.reduced[d]) + "):");
      }
    }
    std::string index = "r" + std::to_string(last), elements = std::to_string(plan.elements);
    reduced.push_back(index);
    if (lanesAreResults) {
      firstRow = begin, endOfRows = end;
      if (!takesSeveralRows())
        open("for " + index + " in range(" + begin + ", " + end + "):");
      return;
    }
    open("for start in range(" + begin + ", " + end + ", " + elements + "):");
    writer.line(index + " = start + tl.arange(0, " + elements + ").to(tl.int64)");
    if (!isWhole) // compared in 32 bits
      writer.line("there = tl.arange(0, " + elements + ") < tl.minimum(" + end + " - start, " +
                  elements + ").to(tl.int32)");
  }

  /// Each row has its results' tile to read and to write: simple rules take some rows at a time, in
  /// order.
  static constexpr int64_t rowsAtOnce = 8;
  bool takesSeveralRows() const {
    constexpr size_t fewInputs = 2, shortBody = 6;
    return lanesAreResults && !spec.rule.keepsPlace && !spec.rule.keepsSpread &&
           spec.inputs.size() <= fewInputs && spec.body.size() <= shortBody &&
           symbols.range(spec.reduced.back()).max >= 2 * rowsAtOnce;
  }
  /// Leaves the loop over the rows that are left open.
  void emitSeveralRows(const std::string &accumulate) {
    std::string count = std::to_string(rowsAtOnce), index = reduced.back();
    writer.line("whole = " + firstRow + " + (" + endOfRows + " - " + firstRow + ") // " + count +
                " * " + count);
    writer.open("for start in range(" + firstRow + ", whole, " + count + "):");
    for (int64_t row = 0; row < rowsAtOnce; ++row) {
      writer.line(index + " = start + " + std::to_string(row));
      emitElements(accumulate);
    }
    writer.close();
    open("for " + index + " in range(whole, " + endOfRows + "):");
  }

  void openUnits(const std::string &inner) {
    size_t last = spec.reduced.size() - 1;
    std::string piece = std::to_string(plan.piece);
    std::string units = writer.scalar(countUnits(spec, plan.piece)),
                each = writer.scalar(unitsOfProgram(spec, plan.piece)),
                pieces = writer.scalar(symbolic::ceilDiv(spec.reduced[last], plan.piece));
    open("for unit in range(part * " + each + ", tl.minimum(part * " + each + " + " + each + ", " +
         units + ")):");
    writer.line("outer = unit // " + pieces);
    reduced = writer.delinearize("outer", spec.reduced, last, "r");
    writer.line("begin = (unit % " + pieces + ") * " + piece);
    writer.line("end = tl.minimum(begin + " + piece + ", " + inner + ")");
  }

  void emitElements(const std::string &accumulate) {
    bool tileAlong = !lanesAreResults;
    std::string keptMask = plan.tile == Tile::Row ? "" : tileOf("kept", true);
    std::string elementMask = tileAlong && !isWhole ? tileOf("there", false) : "";
    std::string mask = keptMask.empty()      ? elementMask
                       : elementMask.empty() ? keptMask
                                             : keptMask + " & " + elementMask;
    if (!mask.empty())
      writer.line("mask = " + mask);
    std::vector<std::string> indices;
    for (size_t d = 0; d < kept.size(); ++d)
      indices.push_back(isKeptTile(d) ? tileOf(kept[d], true) : kept[d]);
    for (size_t d = 0; d < reduced.size(); ++d)
      indices.push_back(isReducedTile(d) ? tileOf(reduced[d], false) : reduced[d]);
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      emitLoad(i, indices, keptMask, elementMask);
    writer.body({}, spec.body);
    writer.line("v = " + takenUp(spec.value, spec.rule, mask));
    if (spec.rule.keepsPlace)
      writer.line("inside = " + insideText(mask));
    if (spec.rule.keepsSpread)
      writer.line("inside = tl.broadcast_to(" +
                  (mask.empty() ? "tl.full(" + shape + ", True, tl.int1)" : mask) + ", " + shape +
                  ")");
    std::vector<std::string> places(indices.end() - static_cast<long>(reduced.size()),
                                    indices.end());
    if (spec.rule.keepsPlace)
      writer.line("at = " + (!spec.place.empty() ? spec.place
                             : placesAreNarrow() ? "(" + positionText(places) + ").to(tl.int32)"
                                                 : positionText(places)));
    emitRule(isOneRow ? spec.rule.whole : spec.rule.step);
    for (size_t k = 0; k < spec.beside.size(); ++k) {
      writer.line(ofBeside("v", k) + " = " +
                  takenUp(spec.beside[k].value, spec.beside[k].rule, mask));
      emitBeside(spec.beside[k].rule.step, k);
    }
  }

  /// The elements of a tile, those that are not there as what changes nothing.
  std::string takenUp(const std::string &from, const ReductionRule &rule, const std::string &mask) {
    std::string type = tlName(rule.accumulate), value = "(" + from + ").to(" + type + ")";
    if (!mask.empty())
      value = "tl.where(mask, " + value + ", " + rule.identity + ").to(" + type + ")";
    return "tl.broadcast_to(" + value + ", " + shape + ")";
  }

  static std::string ofBeside(const std::string &name, size_t k) {
    return name + "_" + std::to_string(k);
  }
  /// A rule's own text, in which the state of reduction `k` has names of its own.
  static std::string renamed(const std::string &text, size_t k) {
    std::map<std::string, std::string> names;
    for (const char *name : {"acc", "best", "v"})
      names[name] = ofBeside(name, k);
    return renameIdentifiers(text, names);
  }
  void emitBeside(std::vector<std::string> statements, size_t k) {
    for (std::string &statement : statements)
      statement = renamed(statement, k);
    emitRule(statements);
  }

  /// Places of 32 bits are half of what each element costs.
  bool placesAreNarrow() const {
    Expr all = product(spec.reduced, 0, spec.reduced.size());
    return spec.place.empty() && symbols.range(all).max < int64_t(1) << 31;
  }

  /// Which elements of the tile count.
  std::string insideText(const std::string &mask) const {
    if (spec.place.empty())
      return mask.empty() ? "tl.full(" + shape + ", True, tl.int1)" : mask;
    return (mask.empty() ? "" : "(" + mask + ") & ") + "(" + spec.place + " >= 0) & (" +
           spec.place + " < 9223372036854775807)";
  }

  bool isKeptTile(size_t d) const {
    return plan.tile == Tile::Rows || (plan.tile == Tile::Columns && d + 1 == kept.size());
  }
  bool isReducedTile(size_t d) const { return !lanesAreResults && d + 1 == reduced.size(); }

  void emitLoad(size_t i, const std::vector<std::string> &indices, const std::string &keptMask,
                const std::string &elementMask) {
    const TextOperand &operand = spec.inputs[i];
    bool alongKept = false, alongElements = false;
    for (size_t d = 0; d < indices.size(); ++d) {
      bool moves = operand.strides[d].constant() != 0;
      alongKept |= moves && d < kept.size() && isKeptTile(d);
      alongElements |= moves && d >= kept.size() && isReducedTile(d - kept.size());
    }
    std::string mask = alongKept && alongElements ? "mask"
                       : alongKept                ? keptMask
                       : alongElements            ? elementMask
                                                  : "";
    writer.line("in" + std::to_string(i) + " = tl.load(p" + std::to_string(i) + " + (" +
                writer.address(operand, indices) + ")" +
                (mask.empty() ? ")" : ", mask=" + mask + ", other=0)"));
  }

  /// The number of the reduced element at these indices.
  std::string positionText(const std::vector<std::string> &indices) {
    std::string text = indices[0];
    for (size_t d = 1; d < indices.size(); ++d)
      text = "(" + text + ") * " + writer.scalar(spec.reduced[d]) + " + " + indices[d];
    return text;
  }

  void emitRule(const std::vector<std::string> &statements) {
    for (std::string text : statements) {
      for (size_t at; (at = text.find("SHAPE")) != std::string::npos;)
        text.replace(at, 5, shape);
      for (size_t at; (at = text.find("AXIS")) != std::string::npos;)
        text.replace(at, 4, axis);
      for (size_t at; (at = text.find("RAISED(")) != std::string::npos;) {
        size_t end = text.find(')', at);
        std::string name = text.substr(at + 7, end - at - 7);
        text.replace(at, end - at + 1,
                     twoDims ? "tl.expand_dims(" + name + ", " + axis + ")" : name);
      }
      writer.line(text);
    }
  }

  void emitResult() {
    std::string mask = plan.tile == Tile::Row ? "" : "kept";
    if (!plan.isSplit()) {
      if (spec.extreme)
        writer.line(storeText("o1", writer.address(spec.output, kept), "acc", *spec.extreme, mask));
      if (spec.rule.finish != "acc")
        writer.line("acc = " + spec.rule.finish);
      Expr all = product(spec.reduced, 0, spec.reduced.size());
      writer.line("n = " + writer.scalar(spec.count.value_or(all)));
      writer.line("made = tl.cast(" + spec.finalize + ", " + tlName(spec.type) + ")");
      writer.body({}, spec.after);
      writer.line(
          storeText("o0", writer.address(spec.output, kept), spec.result, spec.output.dtype, mask));
      for (size_t k = 0; k < spec.beside.size(); ++k)
        writer.line(storeText("o" + std::to_string(k + 1), writer.address(spec.output, kept),
                              "tl.cast(" + renamed(spec.beside[k].finalize, k) + ", " +
                                  tlName(spec.beside[k].type) + ")",
                              spec.beside[k].type, mask));
      return;
    }
    // States of one result lie together where rows are reduced, those of one part where columns
    // are: as the second launch reads them.
    std::string at =
        plan.tile == Tile::Row
            ? linear + " * " + parts + " + part"
            : "part * " + writer.scalar(product(spec.kept, 0, spec.kept.size())) + " + " + linear;
    writer.line(storeText("o0", at, "acc", spec.rule.accumulate, mask));
    for (size_t k = 0; k < spec.beside.size(); ++k)
      writer.line(storeText("o" + std::to_string(k + 1), at, ofBeside("acc", k),
                            spec.beside[k].rule.accumulate, mask));
    if (spec.rule.keepsPlace)
      writer.line(storeText("o1", at, "place", DataType::Int64, mask));
    if (spec.rule.keepsSpread) {
      writer.line(storeText("o1", at, "spread", spec.rule.accumulate, mask));
      writer.line(storeText("o2", at, "count", spec.rule.accumulate, mask));
    }
  }

  const ReductionSpec &spec;
  const ReductionPlan &plan;
  const SymbolTable &symbols;
  KernelWriter writer;
  bool twoDims = false, lanesAreResults = false, isWhole = false, isOneRow = false;
  std::string axis, shape, parts, linear, firstRow, endOfRows;
  Expr grid = 1;
  std::vector<std::string> kept, reduced;
  size_t loops = 0;
};

/// The reduction of the states that the programs of `plan` leave.
ReductionSpec combining(const ReductionSpec &spec, const ReductionPlan &plan,
                        std::vector<Expr> &shape) {
  ReductionSpec combine = spec;
  combine.name = spec.name + "_parts";
  combine.reduced = {plan.parts};
  combine.inputs.clear();
  combine.body.clear();
  Expr results = product(spec.kept, 0, spec.kept.size());
  bool together = plan.tile == Tile::Row;
  shape =
      together ? std::vector<Expr>{results, plan.parts} : std::vector<Expr>{plan.parts, results};
  TextOperand state;
  state.dtype = spec.rule.accumulate;
  for (size_t d = 0; d < spec.kept.size(); ++d)
    state.strides.push_back(product(spec.kept, d + 1, spec.kept.size()) *
                            (together ? plan.parts : Expr(1)));
  state.strides.push_back(together ? Expr(1) : results);
  combine.inputs = {state};
  combine.value = "in0";
  for (ReductionSpec::Beside &other : combine.beside) {
    other.value = "in" + std::to_string(combine.inputs.size());
    state.dtype = other.rule.accumulate;
    combine.inputs.push_back(state);
  }
  if (spec.rule.keepsPlace) {
    state.dtype = DataType::Int64;
    combine.inputs.push_back(state);
    combine.place = "in1";
  }
  if (spec.rule.keepsSpread) {
    combine.inputs = {state, state, state};
    combine.rule.step = spec.rule.merge;
  }
  // Of all elements, not of the states.
  combine.count = product(spec.reduced, 0, spec.reduced.size());
  return combine;
}

} // namespace

std::string ReductionPlan::text() const {
  const char *names[] = {"row", "rows", "columns"};
  std::string text = std::string(names[static_cast<size_t>(tile)]) + " " + std::to_string(results) +
                     "x" + std::to_string(elements);
  return isSplit() ? text + " pieces of " + std::to_string(piece) + ", " + parts.text() + " parts"
                   : text;
}

ReductionTexts writeReduction(ReductionSpec spec, const SymbolTable &symbols, bool forCpu) {
  collapseReduction(spec);
  ReductionTexts texts;
  texts.plan = planReduction(spec, symbols, forCpu, true);
  texts.first = ReductionWriter(spec, texts.plan, symbols).write();
  if (!texts.plan.isSplit())
    return texts;
  ReductionStates states;
  states.types = {spec.rule.accumulate};
  for (const ReductionSpec::Beside &other : spec.beside)
    states.types.push_back(other.rule.accumulate);
  if (spec.rule.keepsPlace)
    states.types.push_back(DataType::Int64);
  if (spec.rule.keepsSpread)
    states.types.resize(3, spec.rule.accumulate);
  ReductionSpec combine = combining(spec, texts.plan, states.shape);
  collapseReduction(combine);
  states.combine =
      ReductionWriter(combine, planReduction(combine, symbols, forCpu, false), symbols).write();
  texts.states = std::move(states);
  return texts;
}

} // namespace pellucid::passes
