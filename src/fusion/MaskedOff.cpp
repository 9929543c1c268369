// SPDX-License-Identifier: Apache-2.0
#include "fusion/MaskedOff.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace pellucid::fusion {

using namespace mlir;

namespace {

Attribute scalarConstant(Value value) {
  Attribute attribute;
  if (auto splat = value.getDefiningOp<tt::SplatOp>())
    value = splat.getSrc();
  if (!matchPattern(value, m_Constant(&attribute)))
    return {};
  if (auto dense = dyn_cast<SplatElementsAttr>(attribute))
    return dense.getSplatValue<Attribute>();
  return attribute;
}

std::optional<double> numberIn(Attribute value) {
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    if (integer.getValue().getSignificantBits() <= 53)
      return static_cast<double>(integer.getValue().getSExtValue());
  return std::nullopt;
}

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// `value` as a constant of `type`; null when that type does not have it.
Attribute convertTo(Attribute value, Type type) {
  auto number = numberIn(value);
  if (!number)
    return {};
  Attribute converted;
  if (isa<FloatType>(type))
    converted = FloatAttr::get(type, *number);
  else if (type.isInteger(1))
    return BoolAttr::get(type.getContext(), *number != 0);
  else if (std::fabs(*number) <= 0x1p53)
    converted = IntegerAttr::get(type, static_cast<int64_t>(*number));
  auto back = numberIn(converted);
  return back && isSame(*back, *number) ? converted : Attribute();
}

bool isZero(Attribute value) {
  auto number = numberIn(value);
  return number && *number == 0;
}

/// What `op` computes from `operands`, of which null ones are not known.
SmallVector<Attribute> evaluate(Operation &op, ArrayRef<Attribute> operands) {
  if (isa<arith::MulFOp>(op))
    for (Attribute operand : operands)
      if (isZero(operand))
        return {operand};
  SmallVector<OpFoldResult> results;
  if (failed(op.fold(operands, results)) || results.size() != op.getNumResults())
    return SmallVector<Attribute>(op.getNumResults());
  SmallVector<Attribute> values;
  for (OpFoldResult result : results) {
    auto value = dyn_cast<Attribute>(result);
    if (!value)
      for (auto [operand, known] : llvm::zip(op.getOperands(), operands))
        if (operand == cast<Value>(result))
          value = known;
    values.push_back(value);
  }
  return values;
}

/// The chain's result when its operands of the same order are `input`; null when it is not known.
Attribute evaluateChain(const Chain &chain, Attribute input) {
  tt::FuncOp function = chain.function();
  tt::StoreOp store = chain.store();
  llvm::DenseMap<Value, Attribute> known;
  for (auto [i, operand] : llvm::enumerate(chain.operands)) {
    BlockArgument argument = function.getArgument(static_cast<unsigned>(i) + 1);
    if (operand.kind == ChainOperand::Kind::SameOrder)
      known[argument] = convertTo(input, argument.getType());
  }
  for (Operation &op : function.getBody().front()) {
    if (&op == store.getOperation())
      break;
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    for (auto [result, value] : llvm::zip(op.getResults(), evaluate(op, operands)))
      known[result] = value;
  }
  return known.lookup(store.getValue());
}

} // namespace

bool keepsOther(tt::LoadOp load, const Chain &chain) {
  Type element = getElementTypeOrSelf(load.getType());
  Attribute before = load.getOther() ? scalarConstant(load.getOther())
                                     : Attribute(Builder(load.getContext()).getZeroAttr(element));
  auto wanted = numberIn(before), got = numberIn(evaluateChain(chain, before));
  return wanted && got && isSame(*wanted, *got);
}

} // namespace pellucid::fusion
