// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"

namespace pellucid::passes {

namespace {

using Rule = graph::RowKernelBody::Rule;

/// The parts of a row kernel that differ between its kinds.
class RowKernel {
public:
  RowKernel(const RowSpec &s, const SymbolTable &symbols) : spec(s), writer(s.name) {
    count = s.shape.back();
    auto constantCount = count.constant();
    whole = constantCount && *constantCount <= 4096;
    block = chooseBlock(count, symbols, whole ? 4096 : 1024);
  }

  KernelText write() {
    std::string in = writer.pointer("p0");
    for (size_t i = 0; i < spec.affine.size(); ++i)
      writer.pointer("p" + std::to_string(i + 1));
    std::string out = writer.pointer("o0");
    size = writer.scalar(count);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::vector<std::string> rows =
        writer.delinearize("pid", spec.shape, spec.shape.size() - 1, "idx");
    rows.push_back("");
    writer.line("src = p0 + (" + writer.address(spec.input, rows) + ")");
    TextOperand outputBase = spec.output;
    writer.line("dst = o0 + (" + writer.address(outputBase, rows) + ")");
    if (whole)
      loadTile();
    switch (spec.rule) {
    case Rule::Softmax:
    case Rule::LogSoftmax:
      emitSoftmax();
      break;
    case Rule::LayerNorm:
      emitMoments(true);
      break;
    case Rule::RmsNorm:
      emitMoments(false);
      break;
    }
    return writer.finish(product(spec.shape, 0, spec.shape.size() - 1), block);
  }

private:
  std::string column(const TextOperand &operand) {
    Expr stride = operand.strides.back();
    return stride.constant() == 1 ? "col" : "col * " + writer.scalar(stride);
  }
  void loadTile() {
    writer.line(whole ? "col = tl.arange(0, BLOCK).to(tl.int64)"
                      : "col = start + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = col < " + size);
    writer.line("x = tl.load(src + " + column(spec.input) + ", mask=mask, other=0).to(" +
                tlName(spec.compute) + ")");
  }
  void openPass() {
    if (whole)
      return;
    writer.open("for start in range(0, " + size + ", BLOCK):");
    loadTile();
  }
  void closePass() {
    if (!whole)
      writer.close();
  }
  std::string zeros(const std::string &value) {
    return "tl.full([BLOCK], " + value + ", " + tlName(spec.compute) + ")";
  }
  void store(const std::string &value) {
    writer.line(storeText("dst", column(spec.output), value, spec.output.dtype, "mask"));
  }

  void emitSoftmax() {
    writer.line("top = " + zeros("float('-inf')"));
    openPass();
    writer.line("top = tl.maximum(top, tl.where(mask, x, float('-inf')))");
    closePass();
    writer.line("peak = tl.max(top, axis=0)");
    writer.line("acc = " + zeros("0.0"));
    openPass();
    writer.line("e = tl.where(mask, tl.exp(x - peak), 0.0)");
    writer.line("acc = acc + e");
    closePass();
    writer.line("total = tl.sum(acc, axis=0)");
    if (spec.rule == Rule::LogSoftmax)
      writer.line("logarithm = tl.log(total)");
    openPass();
    if (spec.rule == Rule::LogSoftmax)
      store("(x - peak) - logarithm");
    else
      store(whole ? "e / total" : "tl.exp(x - peak) / total");
    closePass();
  }

  void emitMoments(bool centred) {
    std::string n = "(" + size + ")";
    if (centred) {
      writer.line("acc = " + zeros("0.0"));
      openPass();
      writer.line("acc = acc + tl.where(mask, x, 0.0)");
      closePass();
      writer.line("mean = tl.sum(acc, axis=0) / " + n);
    }
    writer.line("squares = " + zeros("0.0"));
    openPass();
    writer.line(centred ? "d = tl.where(mask, x - mean, 0.0)" : "d = tl.where(mask, x, 0.0)");
    writer.line("squares = squares + d * d");
    closePass();
    writer.line("scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / " + n + " + " +
                tlNumber(spec.epsilon) + ")");
    openPass();
    writer.line(centred ? "y = (x - mean) * scale" : "y = x * scale");
    size_t next = 0;
    if (spec.hasWeight)
      applyAffine("y = y * ", next++);
    if (spec.hasBias)
      applyAffine("y = y + ", next++);
    store("y");
    closePass();
  }
  void applyAffine(const std::string &how, size_t index) {
    const TextOperand &operand = spec.affine[index];
    std::string offset =
        operand.offset.constant() == 0 ? "" : writer.scalar(operand.offset) + " + ";
    writer.line(how + "tl.load(p" + std::to_string(index + 1) + " + " + offset + column(operand) +
                ", mask=mask, other=0).to(" + tlName(spec.compute) + ")");
  }

  const RowSpec &spec;
  KernelWriter writer;
  Expr count;
  std::string size;
  bool whole = false;
  int64_t block = 0;
};

} // namespace

KernelText writeRow(const RowSpec &spec, const SymbolTable &symbols) {
  return RowKernel(spec, symbols).write();
}

} // namespace pellucid::passes
