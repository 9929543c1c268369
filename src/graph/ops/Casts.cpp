// SPDX-License-Identifier: Apache-2.0
/// Conversions between element types. All of a program is on one device, which calls that name one
/// do not change.
#include "graph/ops/Families.h"

namespace pellucid::graph {

namespace {
TensorType converted(const OperatorCall &call, DataType dtype) {
  const TensorType &self = call.tensor("self");
  TensorType result(dtype, self.shape, self.device);
  result.strides = preservedStrides(self, call.symbols);
  return result;
}

std::vector<ResultType> castFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  auto optional = [&](std::string_view name) { return call.op.schema.indexOf(name).has_value(); };
  DataType dtype = optional("dtype") ? call.dtype("dtype").value_or(self.dtype) : self.dtype;
  if (optional("other") && call.value("other"))
    dtype = call.tensor("other").dtype;
  return {converted(call, dtype)};
}

/// Nothing changes: the same tensor.
Aliasing castAliasing(const OperatorCall &call) {
  const std::string &name = call.op.schema.name;
  if (name == "_to_copy" || (call.op.schema.indexOf("copy") && call.flag("copy")))
    return Aliasing::Fresh;
  const TensorType &self = call.tensor("self");
  TensorType result = std::get<TensorType>(castFake(call)[0]);
  return result.dtype == self.dtype ? Aliasing::Same : Aliasing::Fresh;
}

std::vector<ResultType> bitcastFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  DataType dtype = *call.dtype("dtype");
  if (byteSize(dtype) != byteSize(self.dtype))
    call.fail("views elements as others of the same size, got " +
              std::string(info(self.dtype).torch) + " of " + std::to_string(byteSize(self.dtype)) +
              " bytes and " + std::string(info(dtype).torch) + " of " +
              std::to_string(byteSize(dtype)) + "; other sizes are not supported yet");
  if (dtype != self.dtype && (dtype == DataType::Bool || self.dtype == DataType::Bool))
    call.fail("does not view bool as another type, or another type as bool; compare with 0");
  return {converted(call, dtype)};
}

/// A copy of the bits. That it is the operand's memory is the tracer's matter, which knows what
/// views share; a call of the operator itself may be read while its operand stays as it is.
Operator bitcast() {
  static constexpr std::pair<const char *, const char *> languageNames[] = {
      {"torch.int8", "tl.int8"},
      {"torch.uint8", "tl.uint8"},
      {"torch.int16", "tl.int16"},
      {"torch.uint16", "tl.uint16"},
      {"torch.int32", "tl.int32"},
      {"torch.uint32", "tl.uint32"},
      {"torch.int64", "tl.int64"},
      {"torch.uint64", "tl.uint64"},
      {"torch.float16", "tl.float16"},
      {"torch.bfloat16", "tl.bfloat16"},
      {"torch.float32", "tl.float32"},
      {"torch.float64", "tl.float64"},
      {"torch.float8_e4m3fn", "tl.float8e4nv"},
      {"torch.float8_e5m2", "tl.float8e5"},
      {"torch.float8_e4m3fnuz", "tl.float8e4b8"},
      {"torch.float8_e5m2fnuz", "tl.float8e5b16"}};
  Operator op = makeOperator("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
                             Operator::Kind::Pointwise, bitcastFake);
  op.aliasing = [](const OperatorCall &call) {
    return *call.dtype("dtype") == call.tensor("self").dtype ? Aliasing::Same : Aliasing::Unknown;
  };
  op.pointwise = {Promotion::Explicit, {}, 0};
  for (auto [torch, language] : languageNames)
    op.pointwise.cases.push_back(
        {.expression = "self.to(" + std::string(language) + ", bitcast=True)",
         .argument = "dtype",
         .equals = torch});
  return op;
}
} // namespace

void registerCastOperators(OperatorRegistry &registry) {
  registry.add(bitcast());
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
