// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

KernelText writeGemm(const GemmSpec &spec, const SymbolTable &symbols) {
  auto tile = [&](const Expr &extent, int64_t most) {
    return std::max<int64_t>(16, chooseBlock(extent, symbols, most));
  };
  int64_t blockM = tile(spec.m, 32), blockN = tile(spec.n, 64), blockK = tile(spec.k, 64);
  bool pair = spec.accumulate == DataType::Float64;
  if (pair)
    blockK = std::min<int64_t>(blockK, 32);
  KernelWriter writer(spec.name);
  writer.pointer("p0");
  writer.pointer("p1");
  if (!spec.bias.empty())
    writer.pointer("p2");
  writer.pointer("o0");
  std::string m = writer.scalar(spec.m), n = writer.scalar(spec.n), k = writer.scalar(spec.k);
  std::string bm = std::to_string(blockM), bn = std::to_string(blockN), bk = std::to_string(blockK);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  writer.line("down = tl.cdiv(" + m + ", " + bm + ")");
  writer.line("across = tl.cdiv(" + n + ", " + bn + ")");
  writer.line("row = (pid % down) * " + bm + " + tl.arange(0, " + bm + ")");
  writer.line("rest = pid // down");
  writer.line("col = (rest % across) * " + bn + " + tl.arange(0, " + bn + ")");
  std::vector<std::string> batch;
  if (!spec.batch.empty()) {
    writer.line("batch = rest // across");
    batch = writer.delinearize("batch", spec.batch, spec.batch.size(), "idx");
  }
  auto address = [&](const TextOperand &operand, const std::string &first,
                     const std::string &second) {
    std::vector<std::string> indices = batch;
    indices.push_back(first);
    indices.push_back(second);
    return writer.address(operand, indices);
  };
  writer.line("inner = tl.arange(0, " + bk + ").to(tl.int64)");
  writer.line("acc = tl.zeros([" + bm + ", " + bn + "], " + tlName(spec.accumulate) + ")");
  if (isFloat(spec.accumulate)) {
    writer.open("for start in range(0, " + k + ", " + bk + "):");
    writer.line("at = start + inner");
    writer.line("a = tl.load(p0 + (" + address(spec.a, "row[:, None]", "at[None, :]") +
                "), mask=(row[:, None] < " + m + ") & (at[None, :] < " + k + "), other=0)");
    writer.line("b = tl.load(p1 + (" + address(spec.b, "at[:, None]", "col[None, :]") +
                "), mask=(at[:, None] < " + k + ") & (col[None, :] < " + n + "), other=0)");
    writer.line("acc = tl.dot(a, b, acc, input_precision=\"ieee\", out_dtype=" +
                tlName(spec.accumulate) + ")");
  } else {
    // tl.dot takes no integers wider than a byte.
    writer.open("for at in range(0, " + k + "):");
    writer.line("a = tl.load(p0 + (" + address(spec.a, "row[:, None]", "at") +
                "), mask=row[:, None] < " + m + ", other=0).to(" + tlName(spec.accumulate) + ")");
    writer.line("b = tl.load(p1 + (" + address(spec.b, "at", "col[None, :]") +
                "), mask=col[None, :] < " + n + ", other=0).to(" + tlName(spec.accumulate) + ")");
    writer.line("acc = acc + a * b");
  }
  writer.close();
  if (spec.alpha != 1)
    writer.line("acc = acc * " + tlNumber(spec.alpha));
  writer.line("inside = (row[:, None] < " + m + ") & (col[None, :] < " + n + ")");
  if (!spec.bias.empty()) {
    std::string load = "tl.load(p2 + (" + address(spec.bias[0], "row[:, None]", "col[None, :]") +
                       ") + tl.zeros([" + bm + ", " + bn +
                       "], tl.int64), mask=inside, other=0).to(" + tlName(spec.accumulate) + ")";
    writer.line("acc = acc + " + load + (spec.beta != 1 ? " * " + tlNumber(spec.beta) : ""));
  }
  writer.line(storeText("o0", address(spec.output, "row[:, None]", "col[None, :]"), "acc",
                        spec.output.dtype, "inside"));
  Expr tiles = symbolic::ceilDiv(spec.m, blockM) * symbolic::ceilDiv(spec.n, blockN);
  return writer.finish(tiles * product(spec.batch, 0, spec.batch.size()), blockN);
}

} // namespace pellucid::passes
