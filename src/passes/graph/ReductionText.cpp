// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"

namespace pellucid::passes {

namespace {

/// Loops over the reduced dimensions [first, last) as scalars; returns their index names.
std::vector<std::string> openReducedLoops(KernelWriter &writer, const std::vector<Expr> &reduced,
                                          size_t last) {
  std::vector<std::string> names;
  for (size_t d = 0; d < last; ++d) {
    names.push_back("r" + std::to_string(d));
    writer.open("for " + names.back() + " in range(0, " + writer.scalar(reduced[d]) + "):");
  }
  return names;
}

void emitLoads(KernelWriter &writer, const std::vector<TextOperand> &operands,
               const std::vector<std::string> &pointers, const std::vector<std::string> &indices,
               size_t tileDim) {
  for (size_t i = 0; i < operands.size(); ++i) {
    bool tile = operands[i].strides[tileDim].constant() != 0;
    writer.line("in" + std::to_string(i) + " = tl.load(" + pointers[i] + " + (" +
                writer.address(operands[i], indices) + ")" +
                (tile ? ", mask=mask, other=0)" : ")"));
  }
}

/// The number of the reduced element at these indices.
std::string positionText(KernelWriter &writer, const std::vector<std::string> &indices,
                         const std::vector<Expr> &sizes) {
  std::string text = indices[0];
  for (size_t d = 1; d < indices.size(); ++d)
    text = "(" + text + ") * " + writer.scalar(sizes[d]) + " + " + indices[d];
  return text;
}

/// The innermost dimension is reduced: one program per kept index, a tile of partial results along
/// the row.
KernelText writeRowReduction(ReductionSpec &spec, const SymbolTable &symbols) {
  const Expr &inner = spec.reduced.back();
  int64_t block = chooseBlock(inner, symbols, 1024);
  KernelWriter writer(spec.name);
  std::vector<std::string> pointers;
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    pointers.push_back(writer.pointer("p" + std::to_string(i)));
  std::string out = writer.pointer("o0");
  std::string accumulate = tlName(spec.rule.accumulate);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  std::vector<std::string> kept = writer.delinearize("pid", spec.kept, spec.kept.size(), "idx");
  writer.helper = spec.rule.helper;
  writer.line("acc = tl.full([BLOCK], " + spec.rule.identity + ", " + accumulate + ")");
  writer.lines(spec.rule.start);
  std::vector<std::string> loops = openReducedLoops(writer, spec.reduced, spec.reduced.size() - 1);
  writer.open("for start in range(0, " + writer.scalar(inner) + ", BLOCK):");
  writer.line("col = start + tl.arange(0, BLOCK).to(tl.int64)");
  writer.line("mask = col < " + writer.scalar(inner));
  std::vector<std::string> indices = kept;
  indices.insert(indices.end(), loops.begin(), loops.end());
  indices.push_back("col");
  emitLoads(writer, spec.inputs, pointers, indices, indices.size() - 1);
  writer.body(spec.scalars, spec.body);
  writer.line("v = tl.where(mask, (" + spec.value + ").to(" + accumulate + "), " +
              spec.rule.identity + ").to(" + accumulate + ")");
  writer.line("inside = mask");
  loops.push_back("col");
  writer.line("at = " + positionText(writer, loops, spec.reduced));
  writer.lines(spec.rule.step);
  for (size_t i = 0; i < loops.size(); ++i)
    writer.close();
  writer.lines(spec.rule.across);
  writer.line("n = " + writer.scalar(product(spec.reduced, 0, spec.reduced.size())));
  writer.line(
      storeText(out, writer.address(spec.output, kept), spec.finalize, spec.output.dtype, ""));
  return writer.finish(product(spec.kept, 0, spec.kept.size()), block);
}

/// The innermost dimension is kept: a tile of results, looping over all reduced indices.
KernelText writeColumnReduction(ReductionSpec &spec, const SymbolTable &symbols) {
  const Expr &inner = spec.kept.back();
  int64_t block = chooseBlock(inner, symbols, 256);
  KernelWriter writer(spec.name);
  std::vector<std::string> pointers;
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    pointers.push_back(writer.pointer("p" + std::to_string(i)));
  std::string out = writer.pointer("o0");
  std::string accumulate = tlName(spec.rule.accumulate), size = writer.scalar(inner);
  writer.chunksOfRows(size, "col");
  std::vector<std::string> kept = writer.delinearize("row", spec.kept, spec.kept.size() - 1, "idx");
  kept.push_back("col");
  writer.line("acc = tl.full([BLOCK], " + spec.rule.identity + ", " + accumulate + ")");
  writer.lines(spec.rule.start);
  std::vector<std::string> loops = openReducedLoops(writer, spec.reduced, spec.reduced.size());
  std::vector<std::string> indices = kept;
  indices.insert(indices.end(), loops.begin(), loops.end());
  emitLoads(writer, spec.inputs, pointers, indices, kept.size() - 1);
  writer.body(spec.scalars, spec.body);
  writer.line("v = tl.broadcast_to((" + spec.value + ").to(" + accumulate + "), [BLOCK])");
  writer.line("inside = mask");
  writer.line("at = " + positionText(writer, loops, spec.reduced));
  writer.lines(spec.rule.step);
  for (size_t i = 0; i < loops.size(); ++i)
    writer.close();
  writer.lines(spec.rule.finish);
  writer.line("n = " + writer.scalar(product(spec.reduced, 0, spec.reduced.size())));
  writer.line(
      storeText(out, writer.address(spec.output, kept), spec.finalize, spec.output.dtype, "mask"));
  return writer.finish(
      symbolic::ceilDiv(inner, block) * product(spec.kept, 0, spec.kept.size() - 1), block);
}

/// Collapses kept and reduced dimensions apart; the operands' strides run over kept, then reduced.
void collapseReduction(ReductionSpec &spec) {
  std::vector<Expr> shape = spec.kept;
  shape.insert(shape.end(), spec.reduced.begin(), spec.reduced.end());
  for (size_t i = 0; i < spec.reduced.size(); ++i)
    spec.output.strides.push_back(0);
  std::vector<TextOperand *> inputs = pointersTo(spec.inputs);
  // The output takes no part in merging reduced dimensions, and must allow each merge of kept ones.
  size_t keptCount = spec.kept.size();
  std::vector<Expr> outputStrides = spec.output.strides;
  std::vector<TextOperand *> all = inputs;
  all.push_back(&spec.output);
  size_t total = shape.size();
  size_t newTotal = collapse(shape, keptCount, total, all);
  size_t newKept = collapse(shape, 0, keptCount, all);
  (void)newTotal;
  spec.kept.assign(shape.begin(), shape.begin() + static_cast<long>(newKept));
  spec.reduced.assign(shape.begin() + static_cast<long>(newKept), shape.end());
  spec.output.strides.resize(newKept, Expr(0));
}

} // namespace

KernelText writeReduction(ReductionSpec spec, const SymbolTable &symbols) {
  collapseReduction(spec);
  if (spec.reduced.empty()) {
    spec.reduced.push_back(1);
    for (TextOperand &input : spec.inputs)
      input.strides.push_back(0);
  }
  // The tile runs along the dimension in which the first input is contiguous.
  // Constant tensors are computed and have no input.
  bool innerKept = !spec.kept.empty() && !spec.inputs.empty() &&
                   spec.inputs[0].strides[spec.kept.size() - 1].constant() == 1 &&
                   spec.inputs[0].strides.back().constant() != 1;
  return innerKept ? writeColumnReduction(spec, symbols) : writeRowReduction(spec, symbols);
}

} // namespace pellucid::passes
