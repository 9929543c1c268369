// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/SharedOperands.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// What the value is a view of, as elements of the same type.
Value *viewedBy(Value *value, const OperatorRegistry &registry) {
  Value *seen = value;
  while (seen->isTensor() && seen->producer()->isCall() && !seen->producer()->isLaunch()) {
    const Operator *op = registry.find(seen->producer()->target());
    Value *from =
        op && op->kind == Operator::Kind::View ? seen->producer()->arg(0).value() : nullptr;
    if (!from || !from->isTensor() || from->type().dtype != value->type().dtype)
      break;
    seen = from;
  }
  return seen;
}

} // namespace

void shareOperands(std::vector<Value *> &inputs, PointwiseSpec &spec,
                   const OperatorRegistry &registry) {
  std::vector<Value *> seen, operands;
  for (Value *input : inputs)
    seen.push_back(viewedBy(input, registry));
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool isShared = std::count(seen.begin(), seen.end(), seen[i]) > 1;
    Value *operand = isShared ? seen[i] : inputs[i];
    if (isShared)
      spec.inputs[i].offset =
          spec.inputs[i].offset + inputs[i]->type().offset - operand->type().offset;
    auto known = std::find(operands.begin(), operands.end(), operand);
    spec.pointers.push_back(static_cast<size_t>(known - operands.begin()));
    if (known == operands.end())
      operands.push_back(operand);
  }
  if (operands.size() == inputs.size())
    spec.pointers.clear();
  else
    inputs = operands;
}

} // namespace pellucid::passes
