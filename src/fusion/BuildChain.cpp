// SPDX-License-Identifier: Apache-2.0
#include "fusion/BuildChain.h"

#include "passes/graph/PointwiseGroup.h"
#include "tt/TtOps.h"

#include <algorithm>
#include <cstdint>

namespace pellucid::fusion {

using namespace graph;
using passes::PointwiseGroup;

/// The dims of a dense tensor that are not broadcast in a result of `shape`, last one first;
/// nullopt where the tensor has gaps or another order. `strides` has 0 for broadcast dims.
static std::optional<std::vector<ChainOperand::Part>> keptDims(const std::vector<Expr> &strides,
                                                               const std::vector<Expr> &shape,
                                                               const SymbolTable &symbols) {
  auto atLeastOne = [&](const Expr &count) {
    return symbols.prove(symbolic::lessEqual(1, count)) == true ? count : symbolic::max(count, 1);
  };
  std::vector<ChainOperand::Part> parts;
  Expr inner = 1, stride = 1; // the sizes of all later dims, and of those that are kept
  bool joins = false;         // the last part ends at this dim
  for (size_t d = shape.size(); d-- > 0;) {
    if (symbols.proveEqual(shape[d], 1))
      continue;
    if (strides[d].constant() == 0) {
      joins = false;
    } else {
      if (!(strides[d] == stride))
        return std::nullopt;
      if (!joins)
        parts.push_back({atLeastOne(inner), Expr(1), atLeastOne(stride)});
      parts.back().extent = *parts.back().extent * shape[d];
      stride = stride * shape[d];
      joins = true;
    }
    inner = inner * shape[d];
  }
  for (ChainOperand::Part &part : parts)
    part.extent = atLeastOne(*part.extent);
  if (joins)
    parts.back().extent.reset();
  return parts;
}

/// How `value` follows from the linear offset in a dense tensor of `shape`; nullopt when it does
/// not.
std::optional<ChainOperand> ChainBuilder::classify(const Value *value,
                                                   const std::vector<Expr> &shape) const {
  const SymbolTable &symbols = program.symbols;
  const TensorType &type = value->type();
  ChainOperand operand;
  operand.dtype = type.dtype;
  if (symbols.proveEqual(type.numel(), 1)) {
    operand.kind = ChainOperand::Kind::Scalar;
    return operand;
  }
  if (type.shape == shape && type.isContiguous(symbols))
    return operand;
  if (type.rank() > shape.size())
    return std::nullopt;
  auto parts = keptDims(passes::broadcastOperand(type, shape, symbols).strides, shape, symbols);
  if (!parts)
    return std::nullopt;
  bool whole = parts->size() == 1 && !parts->front().extent && parts->front().inner == Expr(1);
  if (!whole) {
    operand.kind = ChainOperand::Kind::Broadcast;
    operand.parts = std::move(*parts);
  }
  return operand;
}

mlir::ModuleOp ChainBuilder::emitted(const std::string &source, DataType result,
                                     const std::vector<DataType> &inputs) {
  std::string key(1, static_cast<char>('A' + static_cast<int>(result)));
  for (DataType type : inputs)
    key += static_cast<char>('A' + static_cast<int>(type));
  auto [entry, isNew] = modules.try_emplace(key + source);
  if (isNew)
    entry->second = emit(source, result, inputs);
  return entry->second.get();
}

static bool isStraightLine(const Chain &chain) {
  tt::FuncOp function = chain.function();
  if (!llvm::hasSingleElement(function.getBody()) || !chain.store())
    return false;
  return llvm::none_of(function.getBody().front(),
                       [](mlir::Operation &op) { return op.getNumRegions() != 0; });
}

std::optional<std::string> ChainBuilder::build(const std::vector<Node *> &nodes,
                                               const Value *through, const Node &launch,
                                               Chain &chain, std::vector<Value *> &inputs) {
  const Value *result = nodes.back()->result();
  PointwiseGroup group;
  for (const Node *node : nodes)
    passes::addToGroup(group, *node, registry, program.symbols);
  if (group.usesIndex)
    return "it depends on the number of the element";
  if (group.hasChecks)
    return "it fails where an integer is divided by zero";
  inputs = group.inputs;
  std::vector<DataType> types;
  std::string parameters;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value *value = inputs[i];
    if (value == through) {
      chain.operands.push_back({ChainOperand::Kind::Through, value->type().dtype, 1, {}});
    } else {
      auto operand = classify(value, result->type().shape);
      if (!operand)
        return "foreign stride: '" + value->name() +
               "' is neither in the same linear order nor broadcast along dims of the result";
      if (neighbours.sharesMemoryWithWritten(value, launch))
        return "alias: '" + value->name() + "' shares memory with what the kernel writes";
      chain.operands.push_back(*operand);
    }
    types.push_back(value->type().dtype);
    parameters += ", in" + std::to_string(i);
  }
  for (const passes::TextScalar &scalar : group.scalars) {
    chain.operands.push_back({ChainOperand::Kind::Size, DataType::Int64, scalar.value, {}});
    types.push_back(DataType::Int64);
    parameters += ", " + scalar.name;
  }
  std::string source = "import triton\nimport triton.language as tl\nfrom triton.language.extra "
                       "import libdevice\n\n\n@triton.jit\ndef chain(out" +
                       parameters + "):\n";
  for (const passes::TextStatement &statement : group.body)
    source += "    " + statement.name + " = " + statement.text + "\n";
  source += "    tl.store(out, " + group.names.at(result) + ")\n";
  chain.result = result->type().dtype;
  chain.expensive = group.expensive;
  chain.fitsInt32 =
      program.symbols.prove(symbolic::lessEqual(result->type().numel(), INT32_MAX)) == true;
  chain.scalar = emitted(source, chain.result, types);
  if (!isStraightLine(chain))
    return "the operators are not straight-line code";
  return std::nullopt;
}

} // namespace pellucid::fusion
