// SPDX-License-Identifier: Apache-2.0
/// Conversions between element types (and, in name, devices).
#include "graph/ops/Families.h"

namespace pellucid::graph {

namespace {
TensorType converted(const OperatorCall &call, DataType dtype, Device device) {
  const TensorType &self = call.tensor("self");
  TensorType result(dtype, self.shape, device);
  result.strides = preservedStrides(self, call.symbols);
  return result;
}

std::vector<ResultType> castFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  auto optional = [&](std::string_view name) { return call.op.schema.indexOf(name).has_value(); };
  DataType dtype = optional("dtype") ? call.dtype("dtype").value_or(self.dtype) : self.dtype;
  Device device = optional("device") ? call.device("device").value_or(self.device) : self.device;
  if (optional("other") && call.value("other")) {
    dtype = call.tensor("other").dtype;
    device = call.tensor("other").device;
  }
  return {converted(call, dtype, device)};
}

/// Nothing changes: the same tensor.
Aliasing castAliasing(const OperatorCall &call) {
  const std::string &name = call.op.schema.name;
  if (name == "_to_copy" || (call.op.schema.indexOf("copy") && call.flag("copy")))
    return Aliasing::Fresh;
  const TensorType &self = call.tensor("self");
  TensorType result = std::get<TensorType>(castFake(call)[0]);
  return result.dtype == self.dtype && result.device == self.device ? Aliasing::Same
                                                                    : Aliasing::Fresh;
}
} // namespace

void registerCastOperators(OperatorRegistry &registry) {
  for (std::string_view schema : {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool "
                                  "non_blocking=False, bool copy=False, MemoryFormat? "
                                  "memory_format=None) -> Tensor(a)",
                                  "aten::to.device(Tensor(a) self, Device device, ScalarType "
                                  "dtype, bool non_blocking=False, bool copy=False, "
                                  "MemoryFormat? memory_format=None) -> Tensor(a)",
                                  "aten::to.other(Tensor(a) self, Tensor other, bool "
                                  "non_blocking=False, bool copy=False, MemoryFormat? "
                                  "memory_format=None) -> Tensor(a)",
                                  "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? "
                                  "dtype=None, Layout? layout=None, Device? device=None, "
                                  "bool? pin_memory=None, bool non_blocking=False, bool "
                                  "copy=False, MemoryFormat? memory_format=None) -> "
                                  "Tensor(a)",
                                  "aten::_to_copy.default(Tensor self, *, ScalarType? dtype=None, "
                                  "Layout? layout=None, Device? device=None, "
                                  "bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
                                  "memory_format=None) -> Tensor",
                                  "aten::type_as.default(Tensor self, Tensor other) -> Tensor"}) {
    Operator op = makeOperator(schema, Operator::Kind::Pointwise, castFake);
    op.aliasing = castAliasing;
    op.pointwise = {Promotion::Explicit, {{"self"}}, 0};
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
