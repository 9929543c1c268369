// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/AttentionWriter.h"

#include <algorithm>
#include <cmath>

namespace pellucid::passes {

/// Whether every offset `first * strides[…] + second * strides[…]` of a tile fits into 32 bits.
static bool isNarrow(const TextOperand &operand, int64_t first, int64_t second,
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

bool foldsScale(const AttentionSpec &spec) {
  bool adds = !spec.mask.empty() && spec.mask[0].dtype != DataType::Bool;
  return !adds && (!spec.scale || *spec.scale > 0);
}

AttentionWriter::AttentionWriter(const AttentionSpec &s, const SymbolTable &t)
    : spec(s), symbols(t), writer(s.name), compute(tlName(s.compute)), folds(foldsScale(s)),
      bm(std::to_string(s.tiles.rows)), bn(std::to_string(s.tiles.keys)) {}

std::string AttentionWriter::positionType() const {
  bool narrow = symbols.range(rowCount()).max < 1 << 30 && symbols.range(spec.keys).max < 1 << 30;
  return narrow ? "tl.int32" : "tl.int64";
}
std::string AttentionWriter::position(const Expr &value) {
  std::string text = writer.scalar(value);
  return value.constant() ? text : text + ".to(" + positionType() + ")";
}

Expr AttentionWriter::rowCount() const {
  return spec.sharesRows ? spec.queries * spec.keyGroup : spec.queries;
}
std::vector<Expr> AttentionWriter::programBatch() const {
  std::vector<Expr> batch = spec.batch;
  if (spec.sharesRows)
    batch.back() = symbolic::floorDiv(batch.back(), spec.keyGroup);
  return batch;
}
void AttentionWriter::addPointers() {
  for (const char *name : {"p0", "p1", "p2"})
    writer.pointer(name);
  if (!spec.mask.empty())
    writer.pointer("p3");
  writer.pointer("o0");
  if (!spec.logsumexp.empty())
    writer.pointer("o1");
}

void AttentionWriter::findBatch() {
  std::vector<Expr> batch = programBatch();
  indices = writer.delinearize("batch", batch, batch.size(), "idx");
}

void AttentionWriter::findScale() {
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

void AttentionWriter::findBases() {
  writer.line("kb = p1 + (" + writer.address(spec.key, batchOf(spec.keyGroup)) + ")");
  writer.line("vb = p2 + (" + writer.address(spec.value, batchOf(spec.valueGroup)) + ")");
  if (!spec.mask.empty())
    writer.line("mb = p3 + (" + writer.address(spec.mask[0], queryBatch()) + ")");
}

std::vector<std::string> AttentionWriter::batchOf(const Expr &group) {
  std::vector<std::string> own = indices;
  if (!own.empty() && !spec.sharesRows && group.constant() != 1)
    own.back() = "(" + own.back() + " // " + writer.scalar(group) + ")";
  own.insert(own.end(), {"", ""});
  return own;
}
std::vector<std::string> AttentionWriter::queryBatch() const {
  std::vector<std::string> own = indices;
  if (spec.sharesRows)
    own.back().clear();
  own.insert(own.end(), {"", ""});
  return own;
}

Columns AttentionWriter::wholeRow(const char *index, const Expr &width) const {
  return {index, 0, std::max<int64_t>(16, chooseBlock(width, symbols, widestAttentionRow))};
}

void AttentionWriter::define(const Columns &columns) {
  std::string begin = columns.begin ? std::to_string(columns.begin) + " + " : "";
  writer.line(columns.index + " = " + begin + "tl.arange(0, " + std::to_string(columns.size) + ")");
}

std::string AttentionWriter::within(const std::string &mask, const std::string &column,
                                    const Expr &width, const Columns &columns) {
  if (width.constantOr(0) >= columns.end())
    return mask;
  std::string inside = column + " < " + writer.scalar(width);
  return mask.empty() ? inside : "(" + mask + ") & (" + inside + ")";
}

std::string AttentionWriter::loadBlock(const std::string &base, const TextOperand &operand,
                                       const Columns &columns, const Expr &width, bool masked) {
  size_t rank = operand.strides.size();
  const Expr &along = operand.strides[rank - 2], &across = operand.strides[rank - 1];
  bool narrow = isNarrow(operand, spec.tiles.keys, columns.end(), symbols);
  std::string column = columns.index + "[None, :]";
  std::string text = "tl.load(" + base + " + start.to(tl.int64) * " + writer.scalar(along) +
                     " + (" + timesStride("n[:, None]", along, narrow) + " + " +
                     timesStride(column, across, narrow) + ")";
  std::string mask = within(masked ? "(at < end)[:, None]" : "", column, width, columns);
  return text + (mask.empty() ? ")" : ", mask=" + mask + ", other=0)");
}
std::string AttentionWriter::timesStride(const std::string &index, const Expr &stride,
                                         bool narrow) {
  if (stride.constant() == 1)
    return narrow ? index : index + ".to(tl.int64)";
  std::string factor = writer.scalar(stride);
  if (stride.constant() || !narrow)
    return (narrow ? index : index + ".to(tl.int64)") + " * " + factor;
  return index + " * " + factor + ".to(tl.int32)";
}

} // namespace pellucid::passes
