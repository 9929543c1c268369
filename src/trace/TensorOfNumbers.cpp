// SPDX-License-Identifier: Apache-2.0
#include "trace/TensorCalls.h"

#include <algorithm>
#include <cmath>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// The numbers of a nested list, row by row, and its sizes.
class NumberList {
public:
  NumberList(h::Interpreter &i, const h::Value &data, bool eager)
      : interpreter(i), isEagerHere(eager) {
    add(data, 0);
  }

  std::vector<h::Value> numbers;
  std::vector<int64_t> sizes;

  DataType defaultType(DataType floats) const {
    auto all = [&](auto test) { return std::all_of(numbers.begin(), numbers.end(), test); };
    if (!numbers.empty() && all([](const h::Value &v) { return v.isBool(); }))
      return DataType::Bool;
    bool whole = all([](const h::Value &v) {
      auto *number = v.as<h::SymFloat>();
      return !v.isFloat() && (!number || number->isWhole());
    });
    return whole && !numbers.empty() ? DataType::Int64 : floats;
  }

private:
  void add(const h::Value &given, size_t depth) {
    h::Value value = h::contentOf(h::unwrapConstexpr(given));
    // A tensor, or an array of numpy's, gives its numbers.
    bool isHolder = value.as<TensorObject>() || value.as<h::Instance>();
    if (isHolder && isEagerHere)
      if (auto numbersOf = interpreter.findAttr(value, "tolist"))
        return add(interpreter.call(*numbersOf), depth);
    if (auto address = addressNumber(value))
      value = *address;
    // What has a length and numbered elements is a sequence.
    if (h::typeName(value) == "range" || (isEagerHere && h::typeName(value) == "deque"))
      value = h::Value::list(interpreter.iterate(value));
    if (!value.isSequence()) {
      if (depth != sizes.size())
        interpreter.raise("ValueError", "expected sequence of length " +
                                            std::to_string(sizes[depth]) + " at dim " +
                                            std::to_string(depth));
      if (value.isStr() && isEagerHere)
        interpreter.raise("TypeError", "new(): invalid data type 'str'");
      if (value.isNone() && isEagerHere)
        interpreter.raise("RuntimeError", "Could not infer dtype of NoneType");
      if (isEagerHere && (value.isDict() || value.as<h::Instance>()))
        interpreter.raise("RuntimeError", "Could not infer dtype of " + h::typeName(value));
      if (!value.isBool() && !value.isInt() && !value.isFloat() && !h::isSymbolicNumber(value))
        interpreter.refuse("torch.tensor takes numbers and lists of them, got " +
                           h::typeName(value));
      numbers.push_back(value);
      return;
    }
    auto count = static_cast<int64_t>(value.elements().size());
    if (depth == sizes.size() && numbers.empty())
      sizes.push_back(count);
    else if (depth >= sizes.size() || sizes[depth] != count)
      interpreter.raise("ValueError", "expected sequence of length " +
                                          std::to_string(depth < sizes.size() ? sizes[depth] : 0) +
                                          " at dim " + std::to_string(depth) + " (got " +
                                          std::to_string(count) + ")");
    for (const h::Value &element : value.elements())
      add(element, depth + 1);
  }

  h::Interpreter &interpreter;
  bool isEagerHere;
};

/// As PyTorch tells it: a negative number of an unsigned type is its two's complement.
bool overflows(double value, DataType type) {
  int bits = static_cast<int>(8 * byteSize(type));
  double limit = std::ldexp(1.0, info(type).isSigned ? bits - 1 : bits);
  bool below = info(type).isSigned ? value < -limit : value <= -limit;
  return !(std::trunc(value) < limit) || below;
}

} // namespace

Initializer filledWith(h::Interpreter &interpreter, const h::Value &number, std::string_view what) {
  Initializer filled{Initializer::Kind::Full, interpreter.toDouble(number, what), {}};
  if (number.isInt())
    filled.integers = {interpreter.toInt64(number, what)};
  return filled;
}

h::Value tensorOfNumbers(Tracer &tracer, h::Interpreter &interpreter, std::vector<h::Value> &a) {
  // An array keeps its type.
  if (isEager(tracer) && a[0].as<h::Instance>())
    if (auto held = interpreter.findAttr(a[0], "_t"); held && held->as<TensorObject>()) {
      auto &array = *held->as<TensorObject>();
      std::optional<DataType> wanted = askedType(interpreter, "tensor", a[1]);
      h::Value copy = callAten(tracer, interpreter, "clone", argsOf({*held}));
      return castTo(*copy.as<TensorObject>(), interpreter,
                    wanted.value_or(array.tensor.type.dtype));
    }
  NumberList list(interpreter, a[0], isEager(tracer));
  const std::vector<h::Value> &numbers = list.numbers;
  std::optional<DataType> asked = askedType(interpreter, "tensor", a[1]);
  DataType type = asked ? *asked : list.defaultType(tracer.printing.floats);
  auto isNegative = [](const h::Value &v) { return v.isFloat() && std::signbit(v.real()); };
  auto sameAsFirst = [&](const h::Value &v) { // -0 is not 0
    return h::sameStructure(v, numbers.front()) && isNegative(v) == isNegative(numbers.front());
  };
  if (numbers.empty() || std::all_of(numbers.begin(), numbers.end(), sameAsFirst)) {
    h::Value dtype(std::make_shared<h::DType>(type, h::DType::Family::Torch));
    h::List sizes(list.sizes.begin(), list.sizes.end());
    h::Value number = numbers.empty() ? h::Value(0) : numbers.front();
    h::CallArgs call{
        {h::Value::list(std::move(sizes)), number}, {{"dtype", dtype}}, interpreter.location()};
    return interpreter.call(
        interpreter.getAttr(h::Value(interpreter.nativeModule("torch")), "full"), std::move(call));
  }
  Initializer initializer{Initializer::Kind::Listed, 0, {}};
  bool whole = isInteger(type) &&
               std::all_of(numbers.begin(), numbers.end(), [](auto &v) { return v.isInt(); });
  for (const h::Value &number : numbers) {
    double value = interpreter.toDouble(number, "an element of torch.tensor");
    if (isInteger(type) && !(whole && type == DataType::Int64) && overflows(value, type))
      interpreter.raise("RuntimeError", "value cannot be converted to type " +
                                            std::string(info(type).torch) + " without overflow");
    initializer.values.push_back(value);
    if (whole)
      initializer.integers.push_back(interpreter.toInt64(number, "an element of torch.tensor"));
  }
  std::vector<Expr> shape(list.sizes.begin(), list.sizes.end());
  return tensorValue(tracer, tracer.unbound(TensorType(type, shape), std::move(initializer)));
}

} // namespace pellucid::trace
