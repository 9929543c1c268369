// SPDX-License-Identifier: Apache-2.0
#include "fusion/BuildChain.h"

#include "passes/graph/PointwiseGroup.h"
#include "tt/TtOps.h"

#include <algorithm>
#include <cstdint>

namespace pellucid::fusion {

using namespace graph;
using passes::PointwiseGroup;

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
  if (!type.isContiguous(symbols))
    return std::nullopt;
  if (type.shape == shape)
    return operand;
  // A row vector: its dims of more than one element are the last ones of the shape.
  size_t skip = 0;
  while (skip < type.rank() && symbols.proveEqual(type.shape[skip], 1))
    ++skip;
  size_t length = type.rank() - skip;
  if (length == 0 || length > shape.size())
    return std::nullopt;
  if (!std::equal(type.shape.begin() + static_cast<long>(skip), type.shape.end(),
                  shape.end() - static_cast<long>(length)))
    return std::nullopt;
  if (length == shape.size())
    return operand;
  operand.kind = ChainOperand::Kind::RowVector;
  operand.length = symbols.prove(symbolic::lessEqual(1, type.numel())) == true
                       ? type.numel()
                       : symbolic::max(type.numel(), 1);
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
  inputs = group.inputs;
  std::vector<DataType> types;
  std::string parameters;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value *value = inputs[i];
    if (value == through) {
      chain.operands.push_back({ChainOperand::Kind::Through, value->type().dtype, 1});
    } else {
      auto operand = classify(value, result->type().shape);
      if (!operand)
        return "foreign stride: '" + value->name() +
               "' is neither in the same linear order nor a scalar nor a row vector";
      if (neighbours.sharesMemoryWithWritten(value, launch))
        return "alias: '" + value->name() + "' shares memory with what the kernel writes";
      chain.operands.push_back(*operand);
    }
    types.push_back(value->type().dtype);
    parameters += ", in" + std::to_string(i);
  }
  for (const passes::TextScalar &scalar : group.scalars) {
    chain.operands.push_back({ChainOperand::Kind::Size, DataType::Int64, scalar.value});
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
