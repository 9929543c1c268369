// SPDX-License-Identifier: Apache-2.0
/// What must hold of a tensor's values when the program runs.
#include "graph/ops/Families.h"

namespace pellucid::graph {

static std::vector<ResultType> assertionFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  if (call.symbols.prove(symbolic::equal(self.numel(), 1)) != true)
    call.fail("expects a tensor of one value, got " + toString(self));
  return {};
}

void registerAssertionOperators(OperatorRegistry &registry) {
  for (const char *schema : {"aten::_assert_async.default(Tensor self) -> ()",
                             "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()"}) {
    Operator op = makeOperator(schema, Operator::Kind::Assertion, assertionFake);
    op.pure = false;
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
