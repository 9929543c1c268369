// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/RowText.h"

#include "passes/graph/KernelWriter.h"

#include <algorithm>
#include <cstdlib>

namespace pellucid::passes {

namespace {

using Rule = graph::RowKernelBody::Rule;

/// A program has a tile of rows by elements; which of the two runs along the memory decides.
enum class RowTile {
  Row,     ///< one row
  Rows,    ///< several short rows
  Stripes, ///< one row, several stripes of it at a time: what a thread holds is combined first
  Columns, ///< neighbouring rows that lie across the memory, some elements of each
  Lanes,   ///< the same, an element of each at a time: what a CPU does best
};

class RowKernel {
public:
  RowKernel(const RowSpec &s, const SymbolTable &t, bool cpu)
      : spec(s), symbols(t), writer(s.name), forCpu(cpu) {
    length = s.shape.back();
    kept = s.shape.size() - 1;
    rowCount = product(s.shape, 0, kept);
    chooseTile();
    size = writer.scalar(length);
    type = tlName(spec.compute);
  }

  KernelText write() {
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      writer.pointer("p" + std::to_string(i));
    if (!spec.pick.empty())
      writer.pointer("places");
    writer.pointer("o0");
    if (!spec.stored.empty())
      writer.pointer("o1");
    emitRows();
    for (const TextScalar &scalar : spec.scalars)
      writer.line(scalar.name + " = " + writer.scalar(scalar.value));
    if (!spec.pick.empty())
      emitPick();
    if (whole)
      loadTile();
    if (spec.rule == Rule::Softmax || spec.rule == Rule::LogSoftmax)
      emitSoftmax();
    else if (spec.rule == Rule::LogSumExp)
      emitLogSumExp();
    else if (spec.rule == Rule::Variance || spec.rule == Rule::Deviation)
      emitVariance();
    else
      emitNorm(spec.rule == Rule::LayerNorm);
    KernelText text = writer.finish(grid, elements);
    text.numWarps = warps;
    return text;
  }

private:
  void chooseTile() {
    // A part of a row that has one number of an operand is a loop of its own.
    for (const TextOperand &input : spec.inputs)
      if (forCpu && input.every > 1)
        part = input.every;
    whole = part == 1 && isWholeRow(length, forCpu);
    int64_t longest = symbols.range(length).max;
    // Where one number per row is left nothing is read again, so long rows need not stay.
    bool leavesOne = spec.rule >= Rule::LogSumExp || !spec.pick.empty();
    bool isSoftmax = spec.rule == Rule::Softmax || spec.rule == Rule::LogSoftmax;
    const TextOperand &first = spec.inputs[0];
    bool across = part == 1 && kept > 0 && first.strides[kept - 1].constant() == 1 &&
                  first.strides[kept].constant() != 1 && spec.pick.empty();
    if (across) {
      tile = forCpu ? RowTile::Lanes : RowTile::Columns;
      rows = chooseBlock(spec.shape[kept - 1], symbols, forCpu ? 256 : 32);
      elements = forCpu ? 1 : powerOver(std::min<int64_t>(longest, 8192 / rows));
      whole = !forCpu && length.isConstant() && longest <= elements;
      warps = elements * rows >= 8192 ? 16 : 8;
      grid = symbolic::ceilDiv(spec.shape[kept - 1], rows) * product(spec.shape, 0, kept - 1);
      return;
    }
    // Narrow elements come twice as many, so that as many bytes are under way.
    constexpr int64_t many = 4096;
    bool isNarrow = !forCpu && byteSize(first.dtype) <= 2;
    bool isLongOfMany = isNarrow && longest <= 1024 && symbols.range(rowCount).min >= many;
    if (part == 1 && kept > 0 && (longest <= (forCpu ? 16 : 512) || isLongOfMany)) {
      tile = RowTile::Rows;
      whole = true;
      elements = powerOver(std::max<int64_t>(longest, 1));
      rows = std::max<int64_t>(1, (forCpu ? 256 : isNarrow ? 2048 : 1024) / elements);
      grid = symbolic::ceilDiv(rowCount, rows);
      return;
    }
    grid = rowCount;
    if (!forCpu && ((leavesOne && longest > 8192) || (isSoftmax && !whole))) {
      tile = RowTile::Stripes;
      whole = false;
      // What is read twice is a row of each multiprocessor at a time, so that the cache holds much
      // of them.
      warps = leavesOne || !length.isConstant() ? 8 : 32;
      // Sixteen bytes of a thread in each stripe.
      elements = 32 * warps * (16 / std::clamp<int64_t>(byteSize(first.dtype), 2, 8));
      rows = 4;
      chooseAlignment();
      if (alignment > 1 && warps > 16) {
        warps = 16;
        elements /= 2;
        rows = 2;
      }
      return;
    }
    elements = chooseBlock(length, symbols, whole ? 32768 : forCpu ? 1024 : 4096);
    // Sixteen elements of a thread keep their loads in flight and their row in registers; long rows
    // take up to 64, so that a second block reads while one waits for its sums.
    int64_t ofThread = elements <= 4096 ? 16 : elements <= 8192 ? 32 : 64;
    warps = static_cast<int32_t>(
        std::clamp<int64_t>(elements / (32 * (whole ? ofThread : 16)), 1, whole ? 32 : 8));
    if (elements >= 512)
      warps = std::max(warps, 4);
  }

  /// Rows of an odd number of elements begin at any address: stripes then begin in front of the
  /// row, where a vector does, and masks leave out what is not the row's.
  void chooseAlignment() {
    constexpr int64_t vectorBytes = 16;
    int64_t bytes = vectorBytes;
    for (size_t i = 0; i < spec.rowInputs; ++i)
      if (isDense(spec.inputs[i]))
        bytes = std::min<int64_t>(bytes, byteSize(spec.inputs[i].dtype));
    auto count = length.constant();
    if (count && isDense(spec.inputs[0]) && *count % (vectorBytes / bytes) != 0)
      alignment = vectorBytes / bytes;
  }
  /// The elements of all rows, one after the other.
  bool isDense(const TextOperand &operand) const {
    return operand.every == 1 && operand.offset.constant() == 0 && !operand.offsetIsArgument &&
           operand.strides == graph::contiguousStrides(spec.shape);
  }

  /// Whether 32 bits count where elements of a row are, in every operand.
  bool isNarrow() const {
    constexpr int64_t most = 1 << 30;
    auto reaches = [&](const TextOperand &operand) {
      auto stride = operand.strides[kept].constant();
      return stride && std::abs(*stride) <= most &&
             std::abs(*stride) * std::min(symbols.range(length).max, most) < most;
    };
    return symbols.range(length).max < most &&
           std::all_of(spec.inputs.begin(), spec.inputs.end(), reaches) && reaches(spec.output) &&
           std::all_of(spec.stored.begin(), spec.stored.end(), reaches);
  }

  bool hasTwoDims() const { return tile == RowTile::Rows || tile == RowTile::Columns; }
  std::string shapeText() const {
    std::string r = std::to_string(rows), e = std::to_string(elements);
    switch (tile) {
    case RowTile::Row:
      return "[" + e + "]";
    case RowTile::Rows:
    case RowTile::Stripes:
      return "[" + r + ", " + e + "]";
    case RowTile::Columns:
      return "[" + e + ", " + r + "]";
    case RowTile::Lanes:
      return "[" + r + "]";
    }
    return "";
  }
  /// A vector of rows or of elements as a side of the tile.
  std::string side(const std::string &vector, bool ofRows) const {
    if (!hasTwoDims())
      return vector;
    return vector + (ofRows == (tile == RowTile::Rows) ? "[:, None]" : "[None, :]");
  }
  /// One number per row of what the tile holds.
  std::string across(const std::string &function, const std::string &value) const {
    if (tile == RowTile::Lanes)
      return value;
    if (tile == RowTile::Stripes)
      return "tl." + function + "(" + value + ", axis=0)";
    std::string axis = tile == RowTile::Rows      ? "1, keep_dims=True"
                       : tile == RowTile::Columns ? "0, keep_dims=True"
                                                  : "0";
    return "tl." + function + "(" + value + ", axis=" + axis + ")";
  }
  std::string filled(const std::string &value) const {
    return "tl.full(" + shapeText() + ", " + value + ", " + type + ")";
  }

  void emitRows() {
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string r = std::to_string(rows);
    switch (tile) {
    case RowTile::Row:
    case RowTile::Stripes:
      indices = writer.delinearize("pid", spec.shape, kept, "idx");
      if (alignment > 1) {
        std::string vector = std::to_string(alignment);
        writer.line("begin = pid * " + writer.scalar(length) + " // " + vector + " * " + vector);
        writer.line("head = (pid * " + writer.scalar(length) + " - begin).to(tl.int32)");
      }
      break;
    case RowTile::Rows:
      writer.line("line = pid * " + r + " + tl.arange(0, " + r + ")");
      writer.line("kept = " + side("line", true) + " < " + writer.scalar(rowCount));
      indices = writer.delinearize("line", spec.shape, kept, "idx");
      for (std::string &index : indices)
        index = side(index, true);
      break;
    case RowTile::Columns:
    case RowTile::Lanes: {
      const Expr &inner = spec.shape[kept - 1];
      std::string chunks = writer.scalar(symbolic::ceilDiv(inner, rows));
      writer.line("group = pid // " + chunks);
      writer.line("line = (pid % " + chunks + ") * " + r + " + tl.arange(0, " + r + ")");
      writer.line("kept = " + side("line", true) + " < " + writer.scalar(inner));
      indices = writer.delinearize("group", spec.shape, kept - 1, "idx");
      indices.push_back(side("line", true));
      break;
    }
    }
  }

  /// Where each row's one result stands, and that there is such an element.
  void emitPick() {
    const TextIndex &place = spec.pick[0];
    std::vector<std::string> at = indices;
    at.emplace_back();
    std::string mask = tile == RowTile::Rows ? ", mask=kept, other=0" : "";
    writer.line("picked = tl.load(places + (" + writer.address(place.operand, at) + ")" + mask +
                ").to(tl.int64)");
    std::string there = "(picked >= 0) & (picked < " + size + ")";
    writer.check(tile == RowTile::Rows ? "(" + there + ") | (kept == 0)" : there,
                 "'" + spec.operation + "' got an index out of range", spec.where);
  }

  std::string maskOf(bool alongRows, bool alongElements) const {
    bool masksRows = alongRows && tile != RowTile::Row && tile != RowTile::Stripes;
    bool masksElements = alongElements && tile != RowTile::Lanes;
    return masksRows && masksElements ? "mask" : masksRows ? "kept" : masksElements ? "there" : "";
  }

  void loadInput(size_t i) {
    const TextOperand &operand = spec.inputs[i];
    std::vector<std::string> at = indices;
    bool isOfPart = operand.every > 1 && part > 1;
    at.push_back(operand.every == 1 ? "col"
                 : isOfPart
                     ? "part.to(tl.int64)"
                     : "(col.to(tl.int32) // " + std::to_string(operand.every) + ").to(tl.int64)");
    bool alongElements = operand.strides[kept].constant() != 0 && !isOfPart, alongRows = false;
    for (size_t d = 0; d < kept; ++d)
      alongRows |= operand.strides[d].constant() != 0 && (tile == RowTile::Rows || d + 1 == kept);
    std::string mask = maskOf(alongRows, alongElements);
    writer.line("in" + std::to_string(i) + " = tl.load(p" + std::to_string(i) + " + (" +
                addressOf(operand, at) + ")" +
                (mask.empty() ? ")" : ", mask=" + mask + ", other=0)"));
  }
  std::string addressOf(const TextOperand &operand, const std::vector<std::string> &at) {
    return isInStripes && alignment > 1 && isDense(operand) ? "begin + place"
                                                            : writer.address(operand, at);
  }
  /// What the body makes of the elements at `col`.
  void loadElements() {
    for (size_t i = 0; i < spec.rowInputs; ++i)
      loadInput(i);
    writer.body({}, spec.body);
  }
  /// `x`, the elements of the tile, where `mask`.
  void loadTile() {
    std::string e = std::to_string(elements);
    if (tile == RowTile::Stripes) {
      isInStripes = true;
      std::string place = alignment > 1 ? "place" : "col";
      std::string wide = isNarrow() ? "" : ".to(tl.int64)";
      writer.line(place + " = (start + tl.arange(0, " + std::to_string(rows) + ")" + wide + " * " +
                  e + ")[:, None] + tl.arange(0, " + e + ")[None, :]");
      if (alignment > 1)
        writer.line("col = place - head");
      writer.line("there = " + std::string(alignment > 1 ? "(col >= 0) & " : "") + "(col < " +
                  size + ")");
      writer.line("mask = there");
    } else if (tile != RowTile::Lanes) {
      std::string wide = tile == RowTile::Columns && isNarrow() ? ")" : ").to(tl.int64)";
      writer.line("col = " + side(std::string(whole ? "" : "(start + ") + "tl.arange(0, " + e +
                                      wide + (whole ? "" : ")"),
                                  false));
      writer.line("there = col < " + (isInParts ? "stop" : size));
      writer.line(tile == RowTile::Row ? "mask = there" : "mask = kept & there");
    } else {
      writer.line("mask = kept");
    }
    loadElements();
    if (!spec.stored.empty() && !hasStored)
      storeElements("o1", spec.stored[0], spec.value);
    hasStored = true;
    writer.line("x = tl.broadcast_to((" + spec.value + ").to(" + type + "), " + shapeText() + ")");
  }
  void storeElements(const char *pointer, const TextOperand &operand, const std::string &value) {
    std::vector<std::string> at = indices;
    at.push_back("col");
    writer.line(storeText(pointer, addressOf(operand, at),
                          "tl.broadcast_to(" + value + ", " + shapeText() + ")", operand.dtype,
                          "mask"));
  }
  /// `again`: the row is read once more, from its end, which the caches have read last.
  void openPass(bool again = false) {
    if (whole)
      return;
    std::string step = std::to_string(tile == RowTile::Stripes ? rows * elements : elements);
    std::string end = size + (alignment > 1 ? " + head" : "");
    if (tile == RowTile::Lanes) {
      writer.open("for col in range(0, " + size + "):");
    } else if (again && !forCpu) {
      writer.line("turns = (" + end + " + " + step + " - 1) // " + step);
      writer.open("for turn in range(0, turns):");
      writer.line("start = (turns - 1 - turn) * " + step);
    } else {
      writer.open("for start in range(0, " + end + ", " + step + "):");
    }
    loadTile();
  }
  void closePass() {
    isInStripes = false;
    if (!whole)
      writer.close();
  }

  /// The last pass, by the parts of a row.
  void openParts() {
    if (part == 1)
      return openPass();
    isInParts = true;
    std::string inner = std::to_string(part);
    elements = chooseBlock(part, symbols, 1024);
    writer.open("for part in range(0, " + size + " // " + inner + "):");
    writer.line("stop = (part + 1) * " + inner);
    writer.open("for start in range(part * " + inner + ", stop, " + std::to_string(elements) +
                "):");
    loadTile();
  }
  void closeParts() {
    closePass();
    if (isInParts)
      writer.close();
  }

  /// `value` is what the row operator makes of `x`.
  void store(const std::string &value) {
    writer.line("made = (" + value + ").to(" + tlName(spec.type) + ")");
    for (size_t i = spec.rowInputs; i < spec.inputs.size(); ++i)
      if (!isAffine(i))
        loadInput(i);
    writer.body({}, spec.after);
    storeElements("o0", spec.output, spec.result);
  }
  bool isAffine(size_t i) const {
    std::string name = "in" + std::to_string(i);
    return name == spec.weight || name == spec.bias;
  }

  /// The largest and the sum of exponentials of a row: `peak`, `total`.
  void emitExponentials() {
    if (whole) {
      writer.line("peak = " + across("max", "tl.where(mask, x, float('-inf'))"));
      writer.line("e = tl.where(mask, tl.exp(x - peak), 0.0)");
      writer.line("total = " + across("sum", "e"));
      return;
    }
    writer.line("top = " + filled("float('-inf')"));
    writer.line("acc = " + filled("0.0"));
    if (forCpu) {
      openPass();
      writer.line("top = tl.maximum(top, tl.where(mask, x, float('-inf')))");
      closePass();
      writer.line("peak = " + across("max", "top"));
      openPass();
      writer.line("acc = acc + tl.where(mask, tl.exp(x - peak), 0.0)");
      closePass();
      writer.line("total = " + across("sum", "acc"));
      return;
    }
    // Each lane keeps its sum beside its own largest. What is -inf so far has no difference to it.
    openPass();
    writer.line("high = tl.maximum(top, tl.where(mask, x, float('-inf')))");
    writer.line("base = tl.where(high == float('-inf'), 0.0, high)");
    writer.line("acc = acc * tl.exp(top - base) + tl.where(mask, tl.exp(x - base), 0.0)");
    writer.line("top = high");
    closePass();
    writer.line("peak = " + across("max", "top"));
    writer.line("total = " + across("sum", "acc * tl.exp(top - tl.where(peak == float('-inf'), "
                                           "0.0, peak))"));
    // A row of -inf has no softmax.
    writer.line("total = tl.where(peak == float('-inf'), float('nan'), total)");
  }

  void emitSoftmax() {
    bool logarithm = spec.rule == Rule::LogSoftmax;
    if (!spec.pick.empty())
      return emitPicked();
    if (tile == RowTile::Stripes)
      emitStripedSoftmax();
    else
      emitExponentials();
    if (logarithm)
      writer.line("logarithm = tl.log(total)");
    openPass(true);
    store(logarithm ? "(x - peak) - logarithm" : whole ? "e / total" : "tl.exp(x - peak) / total");
    closePass();
  }

  void emitPicked() {
    if (tile == RowTile::Stripes)
      emitStripedSoftmax();
    else
      emitExponentials();
    writer.line("logarithm = tl.log(total)");
    // The element itself is read once more.
    writer.line("col = picked");
    writer.line("there = (picked >= 0) & (picked < " + size + ")");
    writer.line(tile == RowTile::Rows ? "mask = kept & there" : "mask = there");
    loadElements();
    storeOne("((" + spec.value + ").to(" + type + ") - peak) - logarithm");
  }

  /// The one result of each row.
  void storeOne(const std::string &value) {
    writer.line("made = (" + value + ").to(" + tlName(spec.type) + ")");
    writer.body({}, spec.after);
    std::vector<std::string> at = indices;
    at.emplace_back();
    bool isSide = tile == RowTile::Row || tile == RowTile::Stripes;
    writer.line(storeText("o0", writer.address(spec.output, at), spec.result, spec.output.dtype,
                          isSide ? "" : "kept"));
  }

  /// `peak` and `total` in one reading. Each lane keeps the sum of what it has seen beside the
  /// largest of that, and takes up all stripes against one new largest. `base`: what the sum is
  /// beside, 0 where the largest is no number.
  void emitStripes() {
    std::string lanes = "[" + std::to_string(elements) + "]";
    auto start = [&](const std::string &name, const std::string &value) {
      writer.line(name + " = tl.full(" + lanes + ", " + value + ", " + type + ")");
    };
    start("top", "float('-inf')");
    start("acc", "0.0");
    openPass();
    writer.line("x = tl.where(mask, x, float('-inf'))");
    writer.line("high = tl.maximum(top, tl.max(x, axis=0))");
    writer.line("base = tl.where(tl.abs(high) == float('inf'), 0.0, high)");
    writer.line("acc = acc * " + power("top - base") + " + tl.sum(" + power("x - base[None, :]") +
                ", axis=0)");
    writer.line("top = high");
    closePass();
    writer.line("peak = tl.max(top, axis=0)");
    writer.line("base = tl.where(tl.abs(peak) == float('inf'), 0.0, peak)");
    writer.line("total = tl.sum(acc * " + power("top - base") + ", axis=0)");
  }

  /// An exponential that is added to others: what the product is rounded by matters least where
  /// the term does.
  static std::string power(const std::string &difference) {
    return "tl.exp2((" + difference + ") * 1.4426950408889634)";
  }

  /// A row with inf, or of -inf alone, has no softmax.
  void emitStripedSoftmax() {
    emitStripes();
    writer.line("total = tl.where(tl.abs(peak) == float('inf'), float('nan'), total)");
  }

  void emitLogSumExp() {
    if (tile == RowTile::Stripes) {
      emitStripes();
    } else if (whole) {
      writer.line("x = tl.where(mask, x, float('-inf'))");
      writer.line("peak = " + across("max", "x"));
      writer.line("base = tl.where(tl.abs(peak) == float('inf'), 0.0, peak)");
      writer.line("total = " + across("sum", power("x - base")));
    } else {
      writer.line("top = " + filled("float('-inf')"));
      openPass();
      writer.line("top = tl.maximum(top, tl.where(mask, x, float('-inf')))");
      closePass();
      writer.line("peak = " + across("max", "top"));
      writer.line("base = tl.where(tl.abs(peak) == float('inf'), 0.0, peak)");
      writer.line("acc = " + filled("0.0"));
      openPass();
      writer.line("acc = acc + tl.where(mask, " + power("x - base") + ", 0.0)");
      closePass();
      writer.line("total = " + across("sum", "acc"));
    }
    storeOne("tl.log(total) + base");
  }

  void emitVariance() {
    std::string n = "(" + size + ")";
    if (tile == RowTile::Stripes)
      emitStripedMoments();
    else if (whole || forCpu)
      emitMoments(true, n);
    else
      emitWelford(n);
    if (tile != RowTile::Stripes)
      writer.line("differences = " + differences);
    std::string variance = "differences / " + spec.divisor;
    storeOne(spec.rule == Rule::Deviation ? "tl.sqrt(" + variance + ")" : variance);
  }

  /// `differences`, the sum of squared differences from the mean, in one reading: each lane
  /// combines the moments of its stripes with those of what it has seen.
  void emitStripedMoments() {
    std::string lanes = "[" + std::to_string(elements) + "]";
    for (const char *name : {"own", "squares", "seen"})
      writer.line(std::string(name) + " = tl.zeros(" + lanes + ", " + type + ")");
    openPass();
    writer.line("new = tl.sum(mask.to(" + type + "), axis=0)");
    writer.line("mean = tl.sum(tl.where(mask, x, 0.0), axis=0) / tl.maximum(new, 1.0)");
    writer.line("d = tl.where(mask, x - mean[None, :], 0.0)");
    writer.line("all = seen + new");
    writer.line("share = new / tl.maximum(all, 1.0)");
    writer.line("delta = mean - own");
    writer.line("squares = squares + tl.sum(d * d, axis=0) + delta * delta * (seen * share)");
    writer.line("own = own + delta * share");
    writer.line("seen = all");
    closePass();
    writer.line("mean = tl.sum(own * seen, axis=0) / (" + size + ")");
    writer.line("drift = tl.sum(seen * (own - mean), axis=0)");
    writer.line("differences = tl.sum(squares + seen * (own - mean) * (own - mean), axis=0) - "
                "drift * drift / (" +
                size + ")");
  }

  void emitNorm(bool centred) {
    std::string n = "(" + size + ")";
    if (whole || forCpu || !centred)
      emitMoments(centred, n);
    else
      emitWelford(n);
    writer.line("scale = 1.0 / tl.sqrt(variance + " + tlNumber(spec.epsilon) + ")");
    openParts();
    writer.line(centred ? "y = (x - mean) * scale" : "y = x * scale");
    for (size_t i = spec.rowInputs; i < spec.inputs.size(); ++i)
      if (isAffine(i))
        loadInput(i);
    if (!spec.weight.empty())
      writer.line("y = y * " + spec.weight + ".to(" + type + ")");
    if (!spec.bias.empty())
      writer.line("y = y + " + spec.bias + ".to(" + type + ")");
    store("y");
    closeParts();
  }

  void emitMoments(bool centred, const std::string &n) {
    if (centred) {
      writer.line("acc = " + filled("0.0"));
      openPass();
      writer.line("acc = acc + tl.where(mask, x, 0.0)");
      closePass();
      writer.line("mean = " + across("sum", "acc") + " / " + n);
    }
    writer.line("squares = " + filled("0.0"));
    if (!spec.divisor.empty())
      writer.line("drift = " + filled("0.0"));
    openPass();
    writer.line(centred ? "d = tl.where(mask, x - mean, 0.0)" : "d = tl.where(mask, x, 0.0)");
    writer.line("squares = squares + d * d");
    if (!spec.divisor.empty())
      writer.line("drift = drift + d");
    closePass();
    differences = across("sum", "squares");
    if (spec.divisor.empty())
      writer.line("variance = " + differences + " / " + n);
    else
      correct("drift");
  }

  /// Each lane has the mean and the squared differences of its own elements; then those of all.
  void emitWelford(const std::string &n) {
    writer.line("own = " + filled("0.0"));
    writer.line("squares = " + filled("0.0"));
    writer.line("seen = " + filled("0.0"));
    openPass();
    writer.line("seen = seen + tl.where(mask, 1.0, 0.0)");
    writer.line("delta = tl.where(mask, x - own, 0.0)");
    writer.line("own = own + delta / tl.maximum(seen, 1.0)");
    writer.line("squares = squares + delta * tl.where(mask, x - own, 0.0)");
    closePass();
    writer.line("mean = " + across("sum", "own * seen") + " / " + n);
    differences = across("sum", "squares + seen * (own - mean) * (own - mean)");
    if (spec.divisor.empty())
      writer.line("variance = " + differences + " / " + n);
    else
      correct("seen * (own - mean)");
  }

  /// The mean is rounded, which the differences from it tell: their sum would be zero.
  void correct(const std::string &differencesOfLanes) {
    writer.line("drift = " + across("sum", differencesOfLanes));
    differences += " - drift * drift / (" + size + ")";
  }

  const RowSpec &spec;
  const SymbolTable &symbols;
  KernelWriter writer;
  bool forCpu;
  RowTile tile = RowTile::Row;
  Expr length, rowCount = 1, grid = 1;
  size_t kept = 0;
  int64_t rows = 1, elements = 1;
  int64_t alignment = 1; ///< elements that stripes begin at a multiple of
  int64_t part = 1;      ///< elements of a row that some operands have one number for
  int32_t warps = 4;
  bool whole = false, hasStored = false, isInStripes = false, isInParts = false;
  std::string size, type, differences;
  std::vector<std::string> indices;
};

} // namespace

bool isWholeRow(const Expr &length, bool forCpu) {
  auto constant = length.constant();
  return constant && *constant <= (forCpu ? 4096 : 32768);
}

KernelText writeRow(const RowSpec &spec, const SymbolTable &symbols, bool forCpu) {
  return RowKernel(spec, symbols, forCpu).write();
}

} // namespace pellucid::passes
