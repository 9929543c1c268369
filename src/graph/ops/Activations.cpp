// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/Families.h"

namespace pellucid::graph {

using Domain = PointwiseCase::Domain;
using enum Promotion;

void registerActivationOperators(OperatorRegistry &registry) {
  const std::string erfGelu = "0.5 * self * (1.0 + tl.erf(self * 0.7071067811865476))";
  const std::string tanhGelu = "0.5 * self * (1.0 + libdevice.tanh(0.7978845608028654 * (self + "
                               "0.044715 * self * self * self)))";
  // The upper bound wins where the lower one is above it.
  const std::string hardTanh = "tl.where(tl.where(self < min_val, min_val, self) > max_val, "
                               "max_val, tl.where(self < min_val, min_val, self))";
  const PointwiseRow rows[] = {
      {"aten::relu.default(Tensor self) -> Tensor",
       NoOpMath,
       {{"tl.where(self < 0, 0.0, self)", Domain::Floating},
        {"tl.where(self < 0, 0, self)", Domain::Integer}}},
      {"aten::relu6.default(Tensor self) -> Tensor",
       NoOpMath,
       {{"tl.where(self < 0, 0.0, tl.where(self > 6.0, 6.0, self))", Domain::Floating},
        {"tl.where(self < 0, 0, tl.where(self > 6, 6, self))", Domain::Integer}},
       2},
      {"aten::sigmoid.default(Tensor self) -> Tensor",
       IntToFloat,
       {{"1.0 / (1.0 + tl.exp(-self))"}},
       10},
      {"aten::silu.default(Tensor self) -> Tensor",
       Default,
       {{"self / (1.0 + tl.exp(-self))", Domain::Floating}},
       10},
      {"aten::gelu.default(Tensor self, *, str approximate='none') -> Tensor",
       Default,
       {{erfGelu, Domain::Floating, "approximate", "none"},
        {tanhGelu, Domain::Floating, "approximate", "tanh"}},
       12},
      {"aten::leaky_relu.default(Tensor self, Scalar negative_slope=0.01) -> Tensor",
       Default,
       {{"tl.where(self > 0, self, self * negative_slope)", Domain::Floating}},
       2},
      {"aten::elu.default(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> "
       "Tensor",
       Default,
       {{"tl.where(self < 0, libdevice.expm1(self * input_scale) * alpha * scale, self * scale)",
         Domain::Floating}},
       10},
      // Beyond the threshold the sum is the argument itself; log1p keeps small values.
      {"aten::softplus.default(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
       Default,
       {{"tl.where(self * beta > threshold, self, libdevice.log1p(tl.exp(self * beta)) / beta)",
         Domain::Floating}},
       16},
      // tanh(log(1 + e)) is n / (n + 2) of n = e * (e + 2), in which nothing cancels.
      {"aten::mish.default(Tensor self) -> Tensor",
       Default,
       {{"tl.where(self > 20.0, self, self * ((tl.exp(self) * (tl.exp(self) + 2.0)) / "
         "(tl.exp(self) * (tl.exp(self) + 2.0) + 2.0)))",
         Domain::Floating}},
       24},
      {"aten::hardsigmoid.default(Tensor self) -> Tensor",
       Default,
       {{"tl.where(self < -3.0, 0.0, tl.where(self > 3.0, 6.0, self + 3.0)) / 6.0",
         Domain::Floating}},
       3},
      {"aten::hardtanh.default(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
       Default,
       {{hardTanh, Domain::Floating}, {hardTanh, Domain::Integer}},
       3},
      {"aten::hardswish.default(Tensor self) -> Tensor",
       Default,
       {{"self * tl.where(self < -3.0, 0.0, tl.where(self > 3.0, 6.0, self + 3.0)) / 6.0",
         Domain::Floating}},
       4},
  };
  addPointwise(registry, rows);
}

} // namespace pellucid::graph
