// SPDX-License-Identifier: Apache-2.0
// Running sums and products, and orders.
#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

class LineKernel {
public:
  LineKernel(LineSpec s, const SymbolTable &t) : spec(std::move(s)), symbols(t), writer(spec.name) {
    writer.pointer("p0");
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      writer.pointer("o" + std::to_string(i));
    length = spec.shape.back();
    kept = spec.shape.size() - 1;
  }

  KernelText write() {
    if (spec.kind == LineKind::Sort)
      return writeSort();
    // Where lines lie across the memory, a tile of neighbouring lines goes along them together.
    bool across = kept > 0 && spec.input.strides[kept - 1].constant() == 1 &&
                  spec.input.strides[kept].constant() != 1;
    return across ? writeRunningAcross() : writeRunning();
  }

private:
  std::string at(const TextOperand &operand, const std::vector<std::string> &lines,
                 const std::string &position) {
    std::vector<std::string> indices = lines;
    indices.push_back(position);
    // Along a broadcast dim the address is one number, and a tile of addresses is what is loaded.
    bool repeats = operand.strides.back().constant() == 0;
    return writer.address(operand, indices) + (repeats ? " + " + position + " * 0" : "");
  }
  bool isSum() const { return spec.kind == LineKind::Sum; }
  /// -0 + x is x for every x.
  std::string neutral() const { return !isSum() ? "1" : isFloat(spec.compute) ? "-0.0" : "0"; }
  std::string type() const { return tlName(spec.compute); }

  KernelText writeRunning() {
    int64_t block = chooseBlock(length, symbols, 1024);
    if (!isSum())
      writer.helper = "@triton.jit\ndef multiply(a, b):\n    return a * b\n\n\n";
    std::string size = writer.scalar(length);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::vector<std::string> lines = writer.delinearize("pid", spec.shape, kept, "idx");
    writer.line("carry = tl.cast(" + neutral() + ", " + type() + ")");
    writer.open("for start in range(0, " + size + ", BLOCK):");
    writer.line("col = start + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = col < " + size);
    writer.line("x = tl.load(p0 + (" + at(spec.input, lines, "col") + "), mask=mask, other=0)");
    writer.line("x = tl.where(mask, x.to(" + type() + "), " + neutral() + ").to(" + type() + ")");
    writer.line(isSum() ? "y = carry + tl.cumsum(x, 0)" : "y = carry * tl.cumprod(x, 0)");
    writer.line(
        storeText("o0", at(spec.outputs[0], lines, "col"), "y", spec.outputs[0].dtype, "mask"));
    writer.line(isSum() ? "carry = (carry + tl.sum(x, 0)).to(" + type() + ")"
                        : "carry = (carry * tl.reduce(x, 0, multiply)).to(" + type() + ")");
    writer.close();
    return writer.finish(product(spec.shape, 0, kept), block);
  }

  KernelText writeRunningAcross() {
    const Expr &inner = spec.shape[kept - 1];
    int64_t block = chooseBlock(inner, symbols, 256);
    std::string size = writer.scalar(inner);
    writer.chunksOfRows(size, "col");
    std::vector<std::string> lines = writer.delinearize("row", spec.shape, kept - 1, "idx");
    lines.push_back("col");
    writer.line("y = tl.full([BLOCK], " + neutral() + ", " + type() + ")");
    writer.open("for at in range(0, " + writer.scalar(length) + "):");
    writer.line("x = tl.load(p0 + (" + at(spec.input, lines, "at") + "), mask=mask, other=0).to(" +
                type() + ")");
    writer.line(isSum() ? "y = y + x" : "y = y * x");
    writer.line(
        storeText("o0", at(spec.outputs[0], lines, "at"), "y", spec.outputs[0].dtype, "mask"));
    writer.close();
    return writer.finish(symbolic::ceilDiv(inner, block) * product(spec.shape, 0, kept - 1), block);
  }

  /// Each element counts those that come before it, which is its place: stable, in any number of
  /// programs, and quadratic in the length of a line.
  KernelText writeSort() {
    int64_t block = chooseBlock(length, symbols, 256);
    std::string size = writer.scalar(length);
    writer.chunksOfRows(size, "i");
    std::vector<std::string> lines = writer.delinearize("row", spec.shape, kept, "idx");
    writer.line("stored = tl.load(p0 + (" + at(spec.input, lines, "i") + "), mask=mask, other=0)");
    writer.line("x = stored.to(" + type() + ")");
    writer.line("place = tl.zeros([BLOCK], tl.int32)");
    writer.open("for j in range(0, " + size + "):");
    writer.line("other = tl.load(p0 + (" + at(spec.input, lines, "j") + ")).to(" + type() + ")");
    std::string before = spec.descending ? "other > x" : "other < x", same = "other == x";
    if (isFloat(spec.compute)) {
      // NaN counts as the largest.
      before =
          "(" + before + ") | " +
          (spec.descending ? "((other != other) & (x == x))" : "((other == other) & (x != x))");
      same = "(" + same + ") | ((other != other) & (x != x))";
    }
    writer.line("before = (" + before + ") | ((" + same + ") & (j < i))");
    writer.line("place = place + before.to(tl.int32)");
    writer.close();
    writer.line("inside = mask & (place < " + writer.scalar(spec.places) + ")");
    writer.line("place = place.to(tl.int64)");
    writer.line(storeText("o0", at(spec.outputs[0], lines, "place"), "stored",
                          spec.outputs[0].dtype, "inside"));
    writer.line(
        storeText("o1", at(spec.outputs[1], lines, "place"), "i", spec.outputs[1].dtype, "inside"));
    return writer.finish(symbolic::ceilDiv(length, block) * product(spec.shape, 0, kept), block);
  }

  LineSpec spec;
  const SymbolTable &symbols;
  KernelWriter writer;
  Expr length;
  size_t kept = 0;
};

} // namespace

KernelText writeLines(LineSpec spec, const SymbolTable &symbols) {
  return LineKernel(std::move(spec), symbols).write();
}

} // namespace pellucid::passes
