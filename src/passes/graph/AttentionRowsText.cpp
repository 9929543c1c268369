// SPDX-License-Identifier: Apache-2.0
// Attention of a few queries, a query at a time.
#include "passes/graph/AttentionWriter.h"

namespace pellucid::passes {

namespace {

class AttentionRows : AttentionWriter {
public:
  AttentionRows(const AttentionSpec &s, const SymbolTable &t)
      : AttentionWriter(s, t), keyColumns(wholeRow("d", s.width)),
        valueColumns(wholeRow("dv", s.valueWidth)) {}

  KernelText write() {
    addPointers();
    writer.line("batch = tl.program_id(0).to(tl.int64)");
    findBatch();
    writer.line("n = tl.arange(0, " + bn + ")");
    define(keyColumns);
    define(valueColumns);
    findScale();
    findBases();
    forRows([&](int64_t row) { beginRow(row); });
    writer.line("end = tl.full([], " + position(lastKey()) + ", " + positionType() + ")");
    writer.line("full = end // " + bn + " * " + bn);
    writer.open("for start in range(0, full, " + bn + "):");
    emitRound(false);
    writer.close();
    writer.open("for start in range(full, end, " + bn + "):");
    emitRound(true);
    writer.close();
    forRows([&](int64_t row) { endRow(row); });
    std::vector<Expr> batch = programBatch();
    return writer.finish(product(batch, 0, batch.size()), spec.tiles.rows);
  }

private:
  template <typename Body> void forRows(Body body) {
    for (int64_t row = 0; row < spec.tiles.rows; ++row)
      body(row);
  }
  static std::string named(const char *name, int64_t row) { return name + std::to_string(row); }
  int64_t queryOf(int64_t row) const {
    return spec.sharesRows ? row % spec.queries.constantOr(1) : row;
  }

  /// A causal mask hides the keys behind the last query from all.
  Expr lastKey() const { return spec.causal ? symbolic::min(spec.keys, spec.queries) : spec.keys; }

  /// The place of the row's first element of `operand`, whose last `own` strides are its own and
  /// begin with that of the queries.
  std::string rowOf(const std::string &pointer, TextOperand operand, size_t own, int64_t row) {
    std::vector<std::string> place = indices;
    if (spec.sharesRows)
      place.back() = "(" + place.back() + " * " + writer.scalar(spec.keyGroup) + " + " +
                     std::to_string(row / spec.queries.constantOr(1)) + ")";
    place.push_back(std::to_string(queryOf(row)));
    operand.strides.resize(operand.strides.size() - own + 1);
    return pointer + " + (" + writer.address(operand, place) + ")";
  }

  std::string columns(const char *index, const Expr &stride) {
    return std::string(" + ") + index + ".to(tl.int64) * " + writer.scalar(stride);
  }
  std::string maskOf(const Columns &columns, const Expr &width) {
    std::string mask = within("", columns.index, width, columns);
    return mask.empty() ? "" : ", mask=" + mask;
  }

  void beginRow(int64_t row) {
    std::string inside = maskOf(keyColumns, spec.width);
    writer.line(named("q", row) + " = tl.load(" + rowOf("p0", spec.query, 2, row) +
                columns("d", spec.query.strides.back()) + inside +
                (inside.empty() ? "" : ", other=0") + ").to(" + compute + ")");
    writer.line(named("m", row) + " = tl.full([], float('-inf'), " + compute + ")");
    writer.line(named("total", row) + " = tl.full([], 0.0, " + compute + ")");
    writer.line(named("acc", row) + " = tl.zeros([" + std::to_string(valueColumns.size) + "], " +
                compute + ")");
  }

  void emitRound(bool masked) {
    writer.line("at = start + n");
    writer.line("kt = " + loadBlock("kb", spec.key, keyColumns, spec.width, masked) + ".to(" +
                compute + ")");
    forRows([&](int64_t row) { emitWeights(row, masked); });
    writer.line("vt = " + loadBlock("vb", spec.value, valueColumns, spec.valueWidth, masked) +
                ".to(" + compute + ")");
    forRows([&](int64_t row) {
      std::string acc = named("acc", row);
      writer.line(acc + " = " + acc + " * " + named("alpha", row) + " + tl.sum(" +
                  named("weight", row) + "[:, None] * vt, axis=0)");
    });
  }

  /// As in the form with tiles.
  void emitWeights(int64_t row, bool masked) {
    std::string m = named("m", row), total = named("total", row), weight = named("weight", row);
    std::string alpha = named("alpha", row);
    writer.line("s = tl.sum(kt * " + named("q", row) + "[None, :], axis=1)");
    if (!folds)
      writer.line("s = s * " + factor);
    if (!spec.mask.empty())
      applyMask(row, masked);
    if (spec.causal)
      writer.line("s = tl.where(at <= " + std::to_string(queryOf(row)) + ", s, float('-inf'))");
    if (masked)
      writer.line("s = tl.where(at < end, s, float('-inf'))");
    std::string scaled = folds ? " * " + factor : "";
    std::string unit = folds ? "" : " * " + tlNumber(log2e);
    writer.line("top = tl.maximum(" + m + ", tl.max(s, axis=0)" + scaled + ")");
    writer.line("base = tl.where(top == float('-inf'), 0.0, top)");
    writer.line(weight + " = tl.exp2((s" + scaled + " - base)" + unit + ")");
    writer.line(alpha + " = tl.exp2((" + m + " - base)" + unit + ")");
    writer.line(total + " = " + total + " * " + alpha + " + tl.sum(" + weight + ", axis=0)");
    writer.line(m + " = top");
  }

  void applyMask(int64_t row, bool masked) {
    const TextOperand &operand = spec.mask[0];
    bool varies = operand.strides.back().constant() != 0;
    std::string load = "given = tl.load(" + rowOf("p3", operand, 2, row);
    if (varies)
      load += columns("at", operand.strides.back()) + (masked ? ", mask=at < end, other=0" : "");
    writer.line(load + ")");
    writer.line(operand.dtype == DataType::Bool ? "s = tl.where(given, s, s + float('-inf'))"
                                                : "s = s + given.to(" + compute + ")");
  }

  void endRow(int64_t row) {
    std::string total = named("total", row);
    writer.line("safe = tl.where(" + total + " == 0.0, 1.0, " + total + ")");
    writer.line("tl.store(" + rowOf("o0", spec.output, 2, row) +
                columns("dv", spec.output.strides.back()) + ", (" + named("acc", row) +
                " / safe).to(" + tlName(spec.output.dtype) + ")" +
                maskOf(valueColumns, spec.valueWidth) + ")");
    if (spec.logsumexp.empty())
      return;
    std::string m = named("m", row);
    std::string sums =
        folds ? "(" + m + " + tl.log2(safe)) * " + tlNumber(ln2) : m + " + tl.log(safe)";
    writer.line("tl.store(" + rowOf("o1", spec.logsumexp[0], 1, row) + ", tl.where(" + total +
                " == 0.0, 0.0, " + sums + "))");
  }

  Columns keyColumns, valueColumns;
};

} // namespace

KernelText writeAttentionRows(const AttentionSpec &spec, const SymbolTable &symbols) {
  return AttentionRows(spec, symbols).write();
}

} // namespace pellucid::passes
