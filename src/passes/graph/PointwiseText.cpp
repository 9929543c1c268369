// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"

namespace pellucid::passes {

KernelText writePointwise(PointwiseSpec spec, const SymbolTable &symbols) {
  std::vector<TextOperand *> operands = pointersTo(spec.inputs);
  for (TextOperand &output : spec.outputs)
    operands.push_back(&output);
  collapse(spec.shape, 0, spec.shape.size(), operands);
  if (spec.shape.empty()) {
    spec.shape.push_back(1);
    for (TextOperand &input : spec.inputs)
      input.strides.push_back(0);
    // A tile is stored, of which the mask leaves one element.
    for (TextOperand &output : spec.outputs)
      output.strides.push_back(1);
  }
  size_t outer = spec.shape.size() - 1;
  const Expr &inner = spec.shape.back();
  int64_t block = chooseBlock(inner, symbols, 1024);

  KernelWriter writer(spec.name);
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    inputs.push_back(writer.pointer("p" + std::to_string(i)));
  for (size_t i = 0; i < spec.outputs.size(); ++i)
    outputs.push_back(writer.pointer("o" + std::to_string(i)));

  std::string size = writer.scalar(inner);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  Expr chunks = symbolic::ceilDiv(inner, block);
  std::vector<std::string> indices;
  if (outer == 0) {
    writer.line("col = pid * BLOCK + tl.arange(0, BLOCK)");
  } else if (chunks.constant() == 1) {
    indices = writer.delinearize("pid", spec.shape, outer, "idx");
    writer.line("col = tl.arange(0, BLOCK).to(tl.int64)");
  } else {
    writer.line("chunks = tl.cdiv(" + size + ", BLOCK)");
    writer.line("row = pid // chunks");
    writer.line("col = (pid % chunks) * BLOCK + tl.arange(0, BLOCK)");
    indices = writer.delinearize("row", spec.shape, outer, "idx");
  }
  writer.line("mask = col < " + size);
  indices.push_back("col");
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool tile = anyStrideAlong(spec.inputs[i], outer);
    writer.line("in" + std::to_string(i) + " = tl.load(" + inputs[i] + " + (" +
                writer.address(spec.inputs[i], indices) + ")" + (tile ? ", mask=mask" : "") + ")");
  }
  if (outer == 0)
    writer.line("i = col");
  writer.body(spec.scalars, spec.body);
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A value made of broadcast scalars only must still fill the tile.
    std::string value = "tl.broadcast_to(" + spec.results[i] + ", [BLOCK])";
    writer.line(storeText(outputs[i], writer.address(spec.outputs[i], indices), value,
                          spec.outputs[i].dtype, "mask"));
  }
  return writer.finish(chunks * product(spec.shape, 0, outer), block);
}

} // namespace pellucid::passes
