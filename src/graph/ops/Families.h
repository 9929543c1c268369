// SPDX-License-Identifier: Apache-2.0
/// The built-in operators, one file per family; each row is one operator.
#pragma once

#include "graph/FakeRules.h"
#include "graph/Registry.h"

namespace pellucid::graph {

void registerPointwiseOperators(OperatorRegistry &registry);
void registerComparisonOperators(OperatorRegistry &registry);
void registerCastOperators(OperatorRegistry &registry);
void registerActivationOperators(OperatorRegistry &registry);
void registerReductionOperators(OperatorRegistry &registry);
void registerRowOperators(OperatorRegistry &registry);
void registerAttentionOperators(OperatorRegistry &registry);
void registerGemmOperators(OperatorRegistry &registry);
void registerConvolutionOperators(OperatorRegistry &registry);
void registerViewOperators(OperatorRegistry &registry);
void registerCopyOperators(OperatorRegistry &registry);
void registerFactoryOperators(OperatorRegistry &registry);
void registerRandomOperators(OperatorRegistry &registry);
void registerGatherOperators(OperatorRegistry &registry);
void registerScatterOperators(OperatorRegistry &registry);
void registerLineOperators(OperatorRegistry &registry);
void registerAssertionOperators(OperatorRegistry &registry);

/// How the schemas of factories end.
inline constexpr const char *factoryOptions =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";

/// A row of a pointwise table.
struct PointwiseRow {
  std::string_view schema;
  Promotion promotion;
  std::vector<PointwiseCase> cases;
  uint32_t flops = 1;
  bool numbersAreTensors = false;
  DecomposeFunction decompose = {}; ///< of the calls that no case computes
};
void addPointwise(OperatorRegistry &registry, std::span<const PointwiseRow> rows);

/// An operator with a schema, a kind and a fake function; the rest is filled in by the caller.
Operator makeOperator(std::string_view schema, Operator::Kind kind, FakeFunction fake);

/// Refuses what as_strided would reach beyond the storage that `self` is a view of, as far as both
/// are known.
void checkInsideStorage(const OperatorCall &call, const std::vector<Expr> &size,
                        const std::vector<Expr> &stride, const Expr &offset);

/// The type of a new contiguous tensor beside `like`.
TensorType freshLike(const TensorType &like, DataType dtype, std::vector<Expr> shape);

} // namespace pellucid::graph
