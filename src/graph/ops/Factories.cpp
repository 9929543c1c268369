// SPDX-License-Identifier: Apache-2.0
/// Tensors made from nothing, from a shape, or beside another tensor.
#include "graph/ops/Families.h"

#include <cmath>

namespace pellucid::graph {

namespace {

DataType fillType(const Argument &value) { return numberType(value); }

/// The dtype a factory gives when none is asked for.
DataType defaultType(const OperatorCall &call) {
  return call.op.schema.indexOf("fill_value") ? fillType(call.at("fill_value")) : DataType::Float32;
}

/// The number that fills a tensor of `dtype`.
void checkFill(const OperatorCall &call, DataType dtype) {
  for (std::string_view name : {"fill_value", "s", "value"})
    if (call.op.schema.indexOf(name))
      checkNumberFits(call, name, dtype);
}

std::vector<ResultType> sizedFake(const OperatorCall &call) {
  std::vector<Expr> size =
      call.op.schema.indexOf("size") ? call.integers("size") : std::vector<Expr>{};
  for (const Expr &dim : size)
    if (call.symbols.prove(less(dim, 0)) == true)
      call.fail("expects sizes that are not negative, got " + shapeText(size));
  TensorType result(call.dtype("dtype").value_or(defaultType(call)), size);
  checkFill(call, result.dtype);
  if (call.op.schema.indexOf("stride")) {
    result.strides = call.integers("stride");
    if (result.strides.size() != size.size())
      call.fail("expects as many strides as sizes, got " + shapeText(result.strides) + " and " +
                shapeText(size));
    for (const Expr &stride : result.strides)
      if (call.symbols.prove(lessEqual(0, stride)) != true)
        call.fail("expects strides that are not negative, got " + shapeText(result.strides));
  }
  return {result};
}

/// Same shape, and the same order of dims where the tensor is dense.
std::vector<ResultType> likeFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  DataType dtype = self.dtype;
  if (call.op.schema.indexOf("dtype"))
    dtype = call.dtype("dtype").value_or(dtype);
  checkFill(call, dtype);
  TensorType result(dtype, self.shape, self.device);
  bool contiguous = call.op.schema.indexOf("memory_format") &&
                    call.string("memory_format") == "contiguous_format";
  if (!contiguous)
    result.strides = preservedStrides(self, call.symbols);
  return {result};
}

std::vector<ResultType> newFake(const OperatorCall &call) {
  const TensorType &self = call.tensor("self");
  checkFill(call, call.dtype("dtype").value_or(self.dtype));
  return {TensorType(call.dtype("dtype").value_or(self.dtype), call.integers("size"), self.device)};
}

/// ceil((end - start) / step) elements; integers when all three are.
std::vector<ResultType> arangeFake(const OperatorCall &call) {
  auto given = [&](std::string_view name, int64_t fallback) {
    return call.op.schema.indexOf(name) ? call.at(name) : Argument(fallback);
  };
  Argument start = given("start", 0), end = given("end", 0), step = given("step", 1);
  bool integers = start.integer() && end.integer() && step.integer();
  Expr count = 0;
  if (integers) {
    std::optional<int64_t> by = step.integer()->constant();
    if (!by || *by == 0)
      call.fail("expects a constant step that is not 0, got " + toString(step));
    Expr distance = *by > 0 ? *end.integer() - *start.integer() : *start.integer() - *end.integer();
    if (call.symbols.prove(lessEqual(0, distance)) == false)
      call.fail("expects an end that the step leads to, got " + toString(start) + " to " +
                toString(end));
    count = ceilDiv(distance, *by > 0 ? *by : -*by);
  } else {
    for (const Argument &a : {start, end, step})
      if (!a.number())
        call.fail("expects constant numbers when one is not an integer, got " + toString(a));
    double n = std::ceil((*end.number() - *start.number()) / *step.number());
    if (!(n >= 0 && n < 9e15))
      call.fail("expects an end that the step leads to, got " + toString(start) + " to " +
                toString(end));
    count = Expr(static_cast<int64_t>(n));
  }
  DataType fallback = integers ? DataType::Int64 : DataType::Float32;
  return {TensorType(call.dtype("dtype").value_or(fallback), {count})};
}

struct Row {
  std::string schema;
  FakeFunction fake;
  std::string value;
};
} // namespace

void registerFactoryOperators(OperatorRegistry &registry) {
  const std::string format =
      std::string(factoryOptions) + ", MemoryFormat? memory_format=None) -> Tensor";
  const std::string plain = std::string(factoryOptions) + ") -> Tensor";
  const std::string start = "start + i * step";
  const Row rows[] = {
      {"aten::empty.memory_format(SymInt[] size, " + format, sizedFake, ""},
      {"aten::empty_strided.default(SymInt[] size, SymInt[] stride, " + plain, sizedFake, ""},
      {"aten::zeros.default(SymInt[] size, " + plain, sizedFake, "0"},
      {"aten::ones.default(SymInt[] size, " + plain, sizedFake, "1"},
      {"aten::full.default(SymInt[] size, Scalar fill_value, " + plain, sizedFake, "fill_value"},
      {"aten::scalar_tensor.default(Scalar s, " + plain, sizedFake, "s"},
      {"aten::empty_like.default(Tensor self, " + format, likeFake, ""},
      {"aten::zeros_like.default(Tensor self, " + format, likeFake, "0"},
      {"aten::ones_like.default(Tensor self, " + format, likeFake, "1"},
      {"aten::full_like.default(Tensor self, Scalar fill_value, " + format, likeFake, "fill_value"},
      {"aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", likeFake, "value"},
      {"aten::new_empty.default(Tensor self, SymInt[] size, " + plain, newFake, ""},
      {"aten::new_zeros.default(Tensor self, SymInt[] size, " + plain, newFake, "0"},
      {"aten::new_ones.default(Tensor self, SymInt[] size, " + plain, newFake, "1"},
      {"aten::new_full.default(Tensor self, SymInt[] size, Scalar fill_value, " + plain, newFake,
       "fill_value"},
      {"aten::arange.default(Scalar end, " + plain, arangeFake, "i"},
      {"aten::arange.start(Scalar start, Scalar end, " + plain, arangeFake, "start + i"},
      {"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, " + plain, arangeFake,
       start},
  };
  for (const Row &row : rows) {
    Operator op = makeOperator(row.schema, Operator::Kind::Factory, row.fake);
    op.factory.value = row.value;
    registry.add(std::move(op));
  }
}

} // namespace pellucid::graph
