// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/AttentionWriter.h"

namespace pellucid::passes {

namespace {

/// Blocks of queries as tiles, which are multiplied by blocks of keys and values.
class AttentionKernel : AttentionWriter {
public:
  AttentionKernel(const AttentionSpec &s, const SymbolTable &t)
      : AttentionWriter(s, t), isSplit(s.tiles.mostParts > 1), keyColumns(tilesOf("d", s.width)),
        valueColumns(tilesOf("dv", s.valueWidth)) {}

  KernelText write() {
    addPointers();
    findProgram();
    findScale();
    findBases();
    for (const Columns &columns : keyColumns)
      writer.line("q" + columns.index + " = tl.load(" +
                  rowsOf("p0", spec.query, columns.index + "[None, :]") +
                  ", mask=" + ofReal(columns, spec.width) + ", other=0)");
    writer.line("m = tl.full([" + bm + "], float('-inf'), " + compute + ")");
    writer.line("total = tl.zeros([" + bm + "], " + compute + ")");
    for (const Columns &columns : valueColumns)
      writer.line("acc" + columns.index + " = tl.zeros([" + bm + ", " +
                  std::to_string(columns.size) + "], " + compute + ")");
    findRange();
    writer.open("for start in range(first, full, " + bn + "):");
    emitRound(false);
    writer.close();
    emitLastRound();
    emitResults();
    KernelText text = writer.finish(gridOf(), spec.tiles.rows);
    text.numWarps = spec.tiles.numWarps;
    text.numStages = spec.tiles.numStages;
    text.origin = "blocks of " + bm + " queries and " + bn + " keys";
    return text;
  }

private:
  /// The columns of a row: one tile, or two where they are fewer together.
  std::vector<Columns> tilesOf(const char *index, const Expr &width) const {
    Columns whole = wholeRow(index, width);
    int64_t columns = width.constantOr(0), first = whole.size / 2;
    if (columns <= first || first < 16 || spec.tiles.wholeColumns)
      return {whole};
    Columns rest{std::string(index) + "1", first,
                 std::max<int64_t>(16, chooseBlock(columns - first, symbols, first))};
    if (rest.end() >= whole.size)
      return {whole};
    return {{index, 0, first}, rest};
  }
  /// The mask of rows and columns that are there.
  std::string ofReal(const Columns &columns, const Expr &width) {
    return within("real[:, None]", columns.index + "[None, :]", width, columns);
  }

  Expr gridOf() const {
    std::vector<Expr> batch = programBatch();
    return symbolic::ceilDiv(rowCount(), spec.tiles.rows) * product(batch, 0, batch.size()) *
           spec.tiles.parts;
  }

  /// Which rows, which heads, which part of the keys.
  void findProgram() {
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    if (auto programs = gridOf().constant()) // a device can tell by it where tensors end
      writer.line("tl.assume(pid < " + std::to_string(*programs) + ")");
    if (isSplit) {
      writer.line("parts = " + writer.scalar(spec.tiles.parts));
      writer.line("part = pid % parts");
      writer.line("pid = pid // parts");
    }
    if (symbols.range(rowCount()).max <= spec.tiles.rows) {
      writer.line("block = tl.full([], 0, tl.int64)");
      writer.line("batch = pid");
    } else {
      writer.line("blocks = tl.cdiv(" + writer.scalar(rowCount()) + ", " + bm + ")");
      if (spec.causal) {
        // The last rows have most to do; those of all heads go first.
        std::vector<Expr> batch = programBatch();
        writer.line("heads = " + writer.scalar(product(batch, 0, batch.size())));
        writer.line("block = blocks - 1 - pid // heads");
        writer.line("batch = pid % heads");
      } else {
        writer.line("block = pid % blocks");
        writer.line("batch = pid // blocks");
      }
    }
    findBatch();
    writer.line("top_row = block * " + bm);
    writer.line("r = tl.arange(0, " + bm + ")");
    writer.line("row = (top_row + r).to(" + positionType() + ")");
    writer.line("real = row < " + position(rowCount()));
    writer.line("n = tl.arange(0, " + bn + ")");
    for (const std::vector<Columns> &tiles : {keyColumns, valueColumns})
      for (const Columns &columns : tiles)
        define(columns);
    if (spec.sharesRows) {
      std::string queries = position(spec.queries);
      writer.line("query = row % " + queries);
      writer.line("head = " + indices.back() + " * " + writer.scalar(spec.keyGroup) + " + row // " +
                  queries);
    } else {
      writer.line("query = row");
    }
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

  /// The blocks that hold the diagonal end with the keys, too.
  bool endsWhole() const {
    return spec.causal && !spec.sharesRows && !isSplit && spec.tiles.rows % spec.tiles.keys == 0 &&
           spec.keys.isConstant() && *spec.keys.constant() % spec.tiles.keys == 0;
  }

  std::string precision() const { return ", input_precision=\"ieee\", out_dtype=" + compute + ")"; }

  void emitRound(bool masked) {
    bool isCut = masked && !endsWhole();
    writer.line("at = start + n");
    // The mask comes from memory while the scores are computed.
    if (!spec.mask.empty())
      writer.line("given = " + loadMask(masked));
    for (const Columns &columns : keyColumns) {
      writer.line("kt = tl.trans(" + loadBlock("kb", spec.key, columns, spec.width, isCut) + ")");
      writer.line("s = tl.dot(q" + columns.index + (columns.begin == 0 ? ", kt" : ", kt, s") +
                  precision());
    }
    if (!folds)
      writer.line("s = s * " + factor);
    if (!spec.mask.empty())
      applyMask();
    if (masked)
      writer.line(std::string("s = tl.where(") +
                  (spec.causal ? "at[None, :] <= bound[:, None]" : "(at < end)[None, :]") +
                  ", s, float('-inf'))");
    emitSoftmax();
    for (const Columns &columns : valueColumns) {
      std::string acc = "acc" + columns.index;
      writer.line("vt = " + loadBlock("vb", spec.value, columns, spec.valueWidth, isCut));
      writer.line(acc + " = tl.dot(p.to(vt.dtype), vt, " + acc + " * alpha[:, None]" + precision());
    }
    writer.line("m = top");
  }

  /// What is left of the keys.
  void emitLastRound() {
    if (!spec.tiles.lastKeys) {
      writer.open("for start in range(full, end, " + bn + "):");
      emitRound(true);
      writer.close();
    } else if (int64_t keys = *spec.tiles.lastKeys) {
      writer.line("start = full");
      writer.line("n = tl.arange(0, " + std::to_string(keys) + ")");
      emitRound(true);
    }
  }

  void applyMask() {
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
    if (isSplit)
      return storePart();
    for (const Columns &columns : valueColumns)
      writer.line("tl.store(" + rowsOf("o0", spec.output, columns.index + "[None, :]") + ", (acc" +
                  columns.index + " / safe[:, None]).to(" + tlName(spec.output.dtype) +
                  "), mask=" + ofReal(columns, spec.valueWidth) + ")");
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
    for (const Columns &columns : valueColumns)
      writer.line("tl.store(o0 + place[:, None] * " + writer.scalar(spec.valueWidth) + " + " +
                  columns.index + "[None, :], acc" + columns.index +
                  " / safe[:, None], mask=" + ofReal(columns, spec.valueWidth) + ")");
    writer.line(std::string("sums = m + ") + (folds ? "tl.log2(safe)" : "tl.log(safe)"));
    writer.line("tl.store(o1 + place, tl.where(total == 0.0, float('-inf'), sums), mask=real)");
  }

  bool isSplit;
  std::vector<Columns> keyColumns, valueColumns;
};

} // namespace

KernelText writeAttention(const AttentionSpec &spec, const SymbolTable &symbols) {
  return spec.tiles.rowByRow ? writeAttentionRows(spec, symbols)
                             : AttentionKernel(spec, symbols).write();
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
