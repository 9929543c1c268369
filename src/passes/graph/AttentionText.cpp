// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/AttentionText.h"

#include "passes/graph/KernelWriter.h"

#include <cmath>

namespace pellucid::passes {

namespace {

constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453;

/// Whether every offset `first * strides[…] + second * strides[…]` of a tile fits into 32 bits.
bool isNarrow(const TextOperand &operand, int64_t first, int64_t second,
              const SymbolTable &symbols) {
  auto reach = [&](const Expr &stride, int64_t extent) -> double {
    symbolic::Range range = symbols.range(stride);
    return std::max(std::abs(static_cast<double>(range.min)),
                    std::abs(static_cast<double>(range.max))) *
           static_cast<double>(extent);
  };
  size_t rank = operand.strides.size();
  return reach(operand.strides[rank - 2], first) + reach(operand.strides[rank - 1], second) <
         double(1 << 30);
}

/// Factors above zero may be applied after the maximum was taken, and log2(e) with them: one
/// multiply-add per score then makes the exponent of 2. What is added to scores may be the lowest
/// finite number, which has no multiple.
bool foldsScale(const AttentionSpec &spec) {
  bool adds = !spec.mask.empty() && spec.mask[0].dtype != DataType::Bool;
  return !adds && (!spec.scale || *spec.scale > 0);
}

class AttentionKernel {
public:
  AttentionKernel(const AttentionSpec &s, const SymbolTable &t)
      : spec(s), symbols(t), writer(s.name), compute(tlName(s.compute)),
        isSplit(s.tiles.mostParts > 1), folds(foldsScale(s)) {
    blockD = tileOf(spec.width);
    blockV = tileOf(spec.valueWidth);
  }

  KernelText write() {
    writer.pointer("p0");
    writer.pointer("p1");
    writer.pointer("p2");
    if (!spec.mask.empty())
      writer.pointer("p3");
    writer.pointer("o0");
    if (!spec.logsumexp.empty())
      writer.pointer("o1");
    findProgram();
    findScale();
    findBases();
    writer.line("m = tl.full([" + bm + "], float('-inf'), " + compute + ")");
    writer.line("total = tl.zeros([" + bm + "], " + compute + ")");
    writer.line("acc = tl.zeros([" + bm + ", " + std::to_string(blockV) + "], " + compute + ")");
    findRange();
    writer.open("for start in range(first, full, " + bn + "):");
    emitRound(false);
    writer.close();
    writer.open("for start in range(full, end, " + bn + "):");
    emitRound(true);
    writer.close();
    emitResults();
    KernelText text = writer.finish(gridOf(), spec.tiles.rows);
    text.numWarps = spec.tiles.numWarps;
    text.numStages = spec.tiles.numStages;
    return text;
  }

private:
  int64_t tileOf(const Expr &width) const {
    return std::max<int64_t>(16, chooseBlock(width, symbols, widestAttentionRow));
  }

  /// Positions of queries and keys are 32 bits where that suffices.
  std::string positionType() const {
    bool narrow = symbols.range(rowCount()).max < 1 << 30 && symbols.range(spec.keys).max < 1 << 30;
    return narrow ? "tl.int32" : "tl.int64";
  }
  std::string position(const Expr &value) {
    std::string text = writer.scalar(value);
    return value.constant() ? text : text + ".to(" + positionType() + ")";
  }

  Expr rowCount() const { return spec.sharesRows ? spec.queries * spec.keyGroup : spec.queries; }
  std::vector<Expr> programBatch() const {
    std::vector<Expr> batch = spec.batch;
    if (spec.sharesRows)
      batch.back() = symbolic::floorDiv(batch.back(), spec.keyGroup);
    return batch;
  }
  Expr gridOf() const {
    std::vector<Expr> batch = programBatch();
    return symbolic::ceilDiv(rowCount(), spec.tiles.rows) * product(batch, 0, batch.size()) *
           spec.tiles.parts;
  }

  /// Which rows, which heads, which part of the keys.
  void findProgram() {
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    if (isSplit) {
      writer.line("parts = " + writer.scalar(spec.tiles.parts));
      writer.line("part = pid % parts");
      writer.line("pid = pid // parts");
    }
    Expr blocks = symbolic::ceilDiv(rowCount(), spec.tiles.rows);
    if (blocks.constant() == 1) {
      writer.line("block = tl.full([], 0, tl.int64)");
      writer.line("batch = pid");
    } else {
      writer.line("blocks = " + writer.scalar(blocks));
      // The last rows of a causal mask have most to do; they go first.
      writer.line(spec.causal ? "block = blocks - 1 - pid % blocks" : "block = pid % blocks");
      writer.line("batch = pid // blocks");
    }
    std::vector<Expr> batch = programBatch();
    indices = writer.delinearize("batch", batch, batch.size(), "idx");
    writer.line("top_row = block * " + bm);
    writer.line("r = tl.arange(0, " + bm + ")");
    writer.line("row = (top_row + r).to(" + positionType() + ")");
    writer.line("real = row < " + position(rowCount()));
    writer.line("n = tl.arange(0, " + bn + ")");
    writer.line("d = tl.arange(0, " + std::to_string(blockD) + ")");
    writer.line("dv = tl.arange(0, " + std::to_string(blockV) + ")");
    if (spec.sharesRows) {
      std::string queries = position(spec.queries);
      writer.line("query = row % " + queries);
      writer.line("head = " + indices.back() + " * " + writer.scalar(spec.keyGroup) + " + row // " +
                  queries);
    } else {
      writer.line("query = row");
    }
  }

  void findScale() {
    if (spec.scale) {
      factor = tlNumber(*spec.scale * (folds ? log2e : 1));
      return;
    }
    // Without columns every score is 0, whatever the factor.
    std::string width = writer.scalar(spec.width);
    writer.line("columns = tl.maximum(" + width + ", 1).to(" + compute + ")");
    writer.line("factor = " + tlNumber(folds ? log2e : 1) + " / tl.sqrt(columns)");
    factor = "factor";
  }

  /// The index of the batch for an operand whose heads are shared by `group`.
  std::vector<std::string> batchOf(const Expr &group) {
    std::vector<std::string> own = indices;
    if (!own.empty() && !spec.sharesRows && group.constant() != 1)
      own.back() = "(" + own.back() + " // " + writer.scalar(group) + ")";
    own.insert(own.end(), {"", ""});
    return own;
  }
  /// For operands with all heads of the query; where rows are shared, the head is the rows'.
  std::vector<std::string> queryBatch() const {
    std::vector<std::string> own = indices;
    if (spec.sharesRows)
      own.back().clear();
    own.insert(own.end(), {"", ""});
    return own;
  }

  void findBases() {
    writer.line("kb = p1 + (" + writer.address(spec.key, batchOf(spec.keyGroup)) + ")");
    writer.line("vb = p2 + (" + writer.address(spec.value, batchOf(spec.valueGroup)) + ")");
    if (!spec.mask.empty())
      writer.line("mb = p3 + (" + writer.address(spec.mask[0], queryBatch()) + ")");
    writer.line("qt = tl.load(" + rowsOf("p0", spec.query, "d[None, :]") + ", mask=" +
                within("real[:, None]", "d[None, :]", spec.width, blockD) + ", other=0)");
  }

  /// Pointers to `column` of every row.
  std::string rowsOf(const std::string &pointer, const TextOperand &operand,
                     const std::string &column) {
    size_t rank = operand.strides.size();
    std::string text = pointer + " + (" + writer.address(operand, queryBatch()) + ")";
    auto add = [&](const std::string &index, const Expr &stride) {
      if (stride.constant() != 0)
        text += " + " + index + " * " + writer.scalar(stride);
    };
    if (spec.sharesRows)
      add("head[:, None]", operand.strides[rank - 3]);
    add("query[:, None].to(tl.int64)", operand.strides[rank - 2]);
    add(column, operand.strides[rank - 1]);
    return text;
  }

  /// `mask & (column < width)`, as far as the tile is wider.
  std::string within(const std::string &mask, const std::string &column, const Expr &width,
                     int64_t block) {
    if (width.constant() == block)
      return mask;
    std::string inside = column + " < " + writer.scalar(width);
    return mask.empty() ? inside : "(" + mask + ") & (" + inside + ")";
  }

  /// Keys `first` … `end` are this program's; blocks before `full` need no mask.
  void findRange() {
    std::string type = positionType();
    writer.line("first = tl.full([], 0, " + type + ")");
    writer.line("end = tl.full([], " + position(spec.keys) + ", " + type + ")");
    if (isSplit) {
      // Blocks are dealt out evenly; the last parts may have none.
      writer.line("share = tl.cdiv(tl.cdiv(end, " + bn + "), " + position(spec.tiles.parts) +
                  ") * " + bn);
      writer.line("first = tl.minimum(part.to(" + type + ") * share, end)");
      writer.line("end = tl.minimum(first + share, end)");
    }
    writer.line("full = end");
    if (spec.causal) {
      writer.line("bound = tl.minimum(query, end - 1)");
      if (spec.sharesRows) {
        writer.line("end = tl.maximum(first, tl.minimum(end, " + position(spec.queries) + "))");
        writer.line("full = first");
      } else {
        writer.line("end = tl.maximum(first, tl.minimum(end, (top_row + " + bm + ").to(" + type +
                    ")))");
        writer.line("full = tl.minimum(full, (top_row + 1).to(" + type + "))");
      }
    }
    writer.line("full = tl.maximum(first, full // " + bn + " * " + bn + ")");
  }

  /// A block of `operand` from `base` on: rows `start + n`, columns `column`.
  std::string loadBlock(const std::string &base, const TextOperand &operand,
                        const std::string &column, const Expr &width, int64_t block, bool masked) {
    size_t rank = operand.strides.size();
    const Expr &along = operand.strides[rank - 2], &across = operand.strides[rank - 1];
    bool narrow = isNarrow(operand, spec.tiles.keys, block, symbols);
    std::string text = "tl.load(" + base + " + start.to(tl.int64) * " + writer.scalar(along) +
                       " + (" + timesStride("n[:, None]", along, narrow) + " + " +
                       timesStride(column, across, narrow) + ")";
    std::string mask = within(masked ? "(at < end)[:, None]" : "", column, width, block);
    return text + (mask.empty() ? ")" : ", mask=" + mask + ", other=0)");
  }
  std::string timesStride(const std::string &index, const Expr &stride, bool narrow) {
    if (stride.constant() == 1)
      return narrow ? index : index + ".to(tl.int64)";
    std::string factor = writer.scalar(stride);
    if (stride.constant() || !narrow)
      return (narrow ? index : index + ".to(tl.int64)") + " * " + factor;
    return index + " * " + factor + ".to(tl.int32)";
  }

  /// The mask's block; a dim along which it does not vary has one element.
  std::string loadMask(bool masked) {
    const TextOperand &operand = spec.mask[0];
    size_t rank = operand.strides.size();
    bool rows = operand.strides[rank - 2].constant() != 0;
    bool heads = spec.sharesRows && operand.strides[rank - 3].constant() != 0;
    bool columns = operand.strides[rank - 1].constant() != 0;
    std::string text = "tl.load(mb", mask;
    if (heads)
      text += " + head[:, None] * " + writer.scalar(operand.strides[rank - 3]);
    if (rows)
      text += " + query[:, None].to(tl.int64) * " + writer.scalar(operand.strides[rank - 2]);
    if (columns)
      text += " + at[None, :].to(tl.int64) * " + writer.scalar(operand.strides[rank - 1]);
    if (rows || heads)
      mask = "real[:, None]";
    if (columns && masked)
      mask += (mask.empty() ? "" : " & ") + std::string("(at < end)[None, :]");
    return text + (mask.empty() ? ")" : ", mask=" + mask + ", other=0)");
  }

  void emitRound(bool masked) {
    writer.line("at = start + n");
    writer.line("kt = tl.trans(" +
                loadBlock("kb", spec.key, "d[None, :]", spec.width, blockD, masked) + ")");
    writer.line("s = tl.dot(qt, kt, input_precision=\"ieee\", out_dtype=" + compute + ")");
    if (!folds)
      writer.line("s = s * " + factor);
    if (!spec.mask.empty())
      applyMask(masked);
    if (masked)
      writer.line(std::string("s = tl.where(") +
                  (spec.causal ? "at[None, :] <= bound[:, None]" : "(at < end)[None, :]") +
                  ", s, float('-inf'))");
    emitSoftmax();
    writer.line("vt = " +
                loadBlock("vb", spec.value, "dv[None, :]", spec.valueWidth, blockV, masked));
    writer.line("acc = tl.dot(p.to(vt.dtype), vt, acc * alpha[:, None], input_precision=\"ieee\", "
                "out_dtype=" +
                compute + ")");
    writer.line("m = top");
  }

  void applyMask(bool masked) {
    writer.line("given = " + loadMask(masked));
    // A score that is masked off stays NaN, as in PyTorch, which adds -inf.
    writer.line(spec.mask[0].dtype == DataType::Bool ? "s = tl.where(given, s, s + float('-inf'))"
                                                     : "s = s + given.to(" + compute + ")");
  }

  /// Where a row has met nothing but -inf, the exponents are taken from 0, so that none is NaN.
  void emitSoftmax() {
    std::string scaled = folds ? " * " + factor : "";
    std::string unit = folds ? "" : " * " + tlNumber(log2e);
    writer.line("top = tl.maximum(m, tl.max(s, axis=1)" + scaled + ")");
    writer.line("base = tl.where(top == float('-inf'), 0.0, top)");
    writer.line("p = tl.exp2((s" + scaled + " - base[:, None])" + unit + ")");
    writer.line("alpha = tl.exp2((m - base)" + unit + ")");
    writer.line("total = total * alpha + tl.sum(p, axis=1)");
  }

  void emitResults() {
    writer.line("safe = tl.where(total == 0.0, 1.0, total)");
    writer.line("out = acc / safe[:, None]");
    if (isSplit)
      return storePart();
    writer.line("tl.store(" + rowsOf("o0", spec.output, "dv[None, :]") + ", out.to(" +
                tlName(spec.output.dtype) +
                "), mask=" + within("real[:, None]", "dv[None, :]", spec.valueWidth, blockV) + ")");
    if (spec.logsumexp.empty())
      return;
    writer.line("sums = " + (folds ? "(m + tl.log2(safe)) * " + tlNumber(ln2)
                                   : std::string("m + tl.log(safe)")));
    TextOperand operand = spec.logsumexp[0];
    operand.strides.push_back(0);
    writer.line("tl.store(" + rowsOf("o1", operand, "") +
                ", tl.where(total == 0.0, 0.0, sums)[:, None], mask=real[:, None])");
  }

  void storePart() {
    writer.line("place = (batch * " + writer.scalar(rowCount()) + " + row) * parts + part");
    writer.line("tl.store(o0 + place[:, None] * " + writer.scalar(spec.valueWidth) +
                " + dv[None, :], out, mask=" +
                within("real[:, None]", "dv[None, :]", spec.valueWidth, blockV) + ")");
    writer.line(std::string("sums = m + ") + (folds ? "tl.log2(safe)" : "tl.log(safe)"));
    writer.line("tl.store(o1 + place, tl.where(total == 0.0, float('-inf'), sums), mask=real)");
  }

  const AttentionSpec &spec;
  const SymbolTable &symbols;
  KernelWriter writer;
  std::string compute, factor;
  bool isSplit, folds;
  int64_t blockD = 16, blockV = 16;
  std::string bm = std::to_string(spec.tiles.rows), bn = std::to_string(spec.tiles.keys);
  std::vector<std::string> indices;
};

} // namespace

KernelText writeAttention(const AttentionSpec &spec, const SymbolTable &symbols) {
  return AttentionKernel(spec, symbols).write();
}

KernelText writeAttentionParts(const AttentionSpec &spec, const SymbolTable &symbols) {
  std::string compute = tlName(spec.compute);
  int64_t block = std::max<int64_t>(16, chooseBlock(spec.valueWidth, symbols, widestAttentionRow));
  std::string width = std::to_string(block), most = std::to_string(spec.tiles.mostParts);
  bool folds = foldsScale(spec);
  KernelWriter writer(spec.name + "_parts");
  for (const char *name : {"p0", "p1", "o0"})
    writer.pointer(name);
  if (!spec.logsumexp.empty())
    writer.pointer("o1");
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  std::vector<Expr> rows = spec.batch;
  rows.push_back(spec.queries);
  std::vector<std::string> indices = writer.delinearize("pid", rows, rows.size(), "idx");
  writer.line("parts = " + writer.scalar(spec.tiles.parts));
  writer.line("j = tl.arange(0, " + most + ")");
  writer.line("d = tl.arange(0, " + width + ")");
  writer.line("there = j < parts");
  writer.line("inside = d < " + writer.scalar(spec.valueWidth));
  writer.line("sums = tl.load(p1 + pid * parts + j, mask=there, other=float('-inf'))");
  writer.line("top = tl.max(sums, axis=0)");
  writer.line("base = tl.where(top == float('-inf'), 0.0, top)");
  writer.line("weight = tl.exp2((sums - base)" + std::string(folds ? "" : " * " + tlNumber(log2e)) +
              ")");
  writer.line("total = tl.sum(weight, axis=0)");
  writer.line("x = tl.load(p0 + (pid * parts + j)[:, None] * " + writer.scalar(spec.valueWidth) +
              " + d[None, :], mask=there[:, None] & inside[None, :], other=0)");
  writer.line("safe = tl.where(total == 0.0, 1.0, total)");
  writer.line("out = tl.sum(x * weight[:, None], axis=0) / safe");
  indices.push_back("d");
  writer.line("tl.store(o0 + " + writer.address(spec.output, indices) + ", out.to(" +
              tlName(spec.output.dtype) + "), mask=inside)");
  if (!spec.logsumexp.empty()) {
    indices.pop_back();
    std::string sum =
        folds ? "(base + tl.log2(safe)) * " + tlNumber(ln2) : std::string("base + tl.log(safe)");
    writer.line("tl.store(o1 + " + writer.address(spec.logsumexp[0], indices) +
                ", tl.where(total == 0.0, 0.0, " + sum + "))");
  }
  return writer.finish(product(rows, 0, rows.size()), block);
}

} // namespace pellucid::passes
