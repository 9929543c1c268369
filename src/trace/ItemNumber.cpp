// SPDX-License-Identifier: Apache-2.0
// Numbers that tensors hold, in host code.
#include "trace/ReadSizes.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

ItemNumber::ItemNumber(const std::shared_ptr<TensorObject> &number)
    : h::SymFloat(h::Value(number)) {}

const TensorObject &ItemNumber::number() const { return *operands[0].as<TensorObject>(); }

bool ItemNumber::isWhole() const { return number().tensor.type.dtype == DataType::Int64; }

std::string ItemNumber::repr() const {
  const TracedTensor &held = number().tensor;
  return (held.storage->base ? held.storage->base->name() : "a tensor") + ".item()";
}

std::string ItemNumber::description() const {
  return "a number that a tensor holds, known only when the program runs,";
}

std::string ItemNumber::advice() const { return "keep it a tensor: torch.where, or a kernel"; }

bool ItemNumber::equals(const h::Object &other) const { return this == &other; }
std::optional<size_t> ItemNumber::hash() const { return std::hash<const void *>()(this); }

static h::Value itemOfValue(const h::Value &tensor) {
  return h::Value(std::make_shared<ItemNumber>(tensor.shared<TensorObject>()));
}

h::Value ItemNumber::computed(const h::Value &tensor, Origin origin) {
  auto item = std::make_shared<ItemNumber>(tensor.shared<TensorObject>());
  item->origin = std::move(origin);
  return h::Value(std::move(item));
}

h::Value ItemNumber::size(h::Interpreter &interpreter,
                          const std::function<h::Value(const h::Value &)> &read) {
  // A branch or loop's body that has ended took its reads with it.
  if (known && !number().tracer.hasEnded(knownIn))
    return *known;
  knownIn = &number().tracer.graph();
  if (!origin)
    return *(known = read(operands[0]));
  std::vector<h::Value> sizes;
  for (const h::Value &operand : origin->operands) {
    auto *item = operand.as<ItemNumber>();
    sizes.push_back(item ? item->size(interpreter, read) : operand);
  }
  if (auto *op = std::get_if<h::BinaryOp>(&origin->operation))
    known = interpreter.binary(*op, sizes[0], sizes[1]);
  else
    known = interpreter.unary(std::get<h::UnaryOp>(origin->operation), sizes[0]);
  return *known;
}

/// Ints stay ints, computed in 64 bits; all else becomes an expression in double precision.
std::optional<h::Value> ItemNumber::binaryOp(h::Interpreter &interpreter, h::BinaryOp op,
                                             const h::Value &given, bool reflected) {
  static constexpr std::pair<h::BinaryOp, const char *> names[] = {
      {h::BinaryOp::Add, "add"},
      {h::BinaryOp::Sub, "sub"},
      {h::BinaryOp::Mul, "mul"},
      {h::BinaryOp::FloorDiv, "floor_divide"},
      {h::BinaryOp::Mod, "remainder"}};
  h::Value other = h::unwrapConstexpr(given);
  auto *item = other.as<ItemNumber>();
  bool isInt = other.isInt() || other.isBool() || other.isSymInt() || (item && item->isWhole());
  for (auto [known, name] : names)
    if (known == op && isWhole() && isInt) {
      Tracer &tracer = number().tracer;
      h::Value mine = operands[0],
               theirs = item ? item->operands[0]
                             : callAten(tracer, interpreter, "full",
                                        argsOf({h::Value::list({}), other},
                                               {{"dtype", dtypeValue(DataType::Int64)}}));
      h::Value self(shared_from_this());
      return computed(callAten(tracer, interpreter, name,
                               reflected ? argsOf({theirs, mine}) : argsOf({mine, theirs})),
                      {op, reflected ? std::vector{other, self} : std::vector{self, other}});
    }
  return h::SymFloat::binaryOp(interpreter, op, given, reflected);
}

std::optional<h::Value> ItemNumber::unaryOp(h::Interpreter &interpreter, h::UnaryOp op) {
  if (op == h::UnaryOp::Minus && isWhole())
    return computed(callAten(number().tracer, interpreter, "neg", argsOf({operands[0]})),
                    {op, {h::Value(shared_from_this())}});
  return h::SymFloat::unaryOp(interpreter, op);
}

std::optional<h::Value> ItemNumber::compare(h::Interpreter &interpreter, h::CompareOp op,
                                            const h::Value &given, bool reflected) {
  h::Value other = h::unwrapConstexpr(given);
  if (!other.isInt() && !other.isFloat() && !other.isBool() && !h::isSymbolicNumber(other))
    return h::SymFloat::compare(interpreter, op, other, reflected);
  auto *item = other.as<ItemNumber>();
  auto result = operands[0].as<TensorObject>()->compare(
      interpreter, op, item ? item->operands[0] : other, reflected);
  // torch._check asks about the sizes themselves.
  h::Value self(shared_from_this());
  bool isInt = other.isInt() || other.isSymInt() || (item && item->isWhole());
  if (auto *tensor = result ? result->as<TensorObject>() : nullptr; tensor && isWhole() && isInt)
    tensor->attributes.set(std::string(comparisonName),
                           h::Value::tuple({h::Value(static_cast<int64_t>(op)), self, other}));
  return result;
}

h::Value itemOf(TensorObject &self, h::Interpreter &interpreter) {
  const TensorType &type = self.tensor.type;
  if (type.numel().constantOr(0) == 1)
    if (auto known = knownNumbers(self, interpreter)) {
      while (known->isList())
        known = h::Value(known->list().front());
      return *known;
    }
  if (type.dtype == DataType::Bool)
    interpreter.refuse("'.item()' of a bool asks for a value that is only known when the program "
                       "runs; keep it a tensor");
  if (!interpreter.truth(h::Value::condition(symbolic::equal(type.numel(), 1))))
    interpreter.raise("RuntimeError", "a Tensor with " + type.numel().text() +
                                          " elements cannot be converted to Scalar");
  Tracer &tracer = self.tracer;
  h::Value one = h::Value(self.shared_from_this());
  if (type.rank() > 0)
    one = callAten(tracer, interpreter, "reshape", argsOf({one, h::Value::list({})}));
  // What is written to the tensor later does not change the number.
  DataType wide = isFloat(type.dtype) ? DataType::Float64 : DataType::Int64;
  one = type.dtype == wide ? callAten(tracer, interpreter, "clone", argsOf({one}))
                           : castTo(*one.as<TensorObject>(), interpreter, wide);
  return itemOfValue(one);
}

} // namespace pellucid::trace
