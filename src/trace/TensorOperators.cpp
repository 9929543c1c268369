// SPDX-License-Identifier: Apache-2.0
// What +, <, in and their kin do with a tensor.
#include "trace/TensorCalls.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

const char *atenName(h::BinaryOp op) {
  switch (op) {
  case h::BinaryOp::Add:
    return "add";
  case h::BinaryOp::Sub:
    return "sub";
  case h::BinaryOp::Mul:
    return "mul";
  case h::BinaryOp::MatMul:
    return "matmul";
  case h::BinaryOp::Div:
    return "div";
  case h::BinaryOp::Mod:
    return "remainder";
  case h::BinaryOp::Pow:
    return "pow";
  case h::BinaryOp::FloorDiv:
    return "floor_divide";
  case h::BinaryOp::BitOr:
    return "bitwise_or";
  case h::BinaryOp::BitXor:
    return "bitwise_xor";
  case h::BinaryOp::BitAnd:
    return "bitwise_and";
  case h::BinaryOp::LShift:
    return "bitwise_left_shift";
  case h::BinaryOp::RShift:
    return "bitwise_right_shift";
  default:
    return nullptr;
  }
}

} // namespace

std::optional<h::Value> TensorObject::binaryOp(h::Interpreter &interpreter, h::BinaryOp op,
                                               const h::Value &given, bool reflected) {
  h::Value other = h::unwrapConstexpr(given);
  // What sizes decide, as a tensor: either way of it is right.
  if (other.isSymBool())
    other =
        callAten(tracer, interpreter, "ne",
                 argsOf({callAten(tracer, interpreter, "full",
                                  argsOf({h::Value::list({}), h::Value::integer(other.symBool())},
                                         {{"dtype", dtypeValue(DataType::Int64)}})),
                         h::Value(int64_t(0))}));
  bool usable = other.as<TensorObject>() || other.isInt() || other.isFloat() || other.isBool() ||
                h::isSymbolicNumber(other);
  const char *name = atenName(op);
  if (!usable || !name)
    return std::nullopt;
  h::Value self(shared_from_this());
  if (!reflected)
    return callAten(tracer, interpreter, name, argsOf({self, other}));
  // A float divided by integers is a division of floats, by zero too.
  if (op == h::BinaryOp::FloorDiv && other.isFloat() && !isFloat(tensor.type.dtype))
    self = castTo(*this, interpreter, tracer.printing.floats);
  if (other.as<TensorObject>() || op == h::BinaryOp::Pow || op == h::BinaryOp::FloorDiv)
    return callAten(tracer, interpreter, name, argsOf({other, self}));
  switch (op) {
  case h::BinaryOp::Sub:
    return callAten(tracer, interpreter, other.isObject() ? "aten.rsub.Tensor" : "aten.rsub.Scalar",
                    argsOf({self, other}));
  case h::BinaryOp::Div: {
    h::Value inverse = callAten(tracer, interpreter, "reciprocal", argsOf({self}));
    return callAten(tracer, interpreter, "mul", argsOf({inverse, other}));
  }
  case h::BinaryOp::Mod:
    return callAten(tracer, interpreter, "aten.remainder.Tensor", argsOf({other, self}));
  case h::BinaryOp::LShift:
  case h::BinaryOp::RShift: {
    if (!(other.isInt() || other.isBool()) || !isInteger(tensor.type.dtype))
      return std::nullopt;
    h::Value shifted = callAten(tracer, interpreter, "full_like", argsOf({self, other}));
    return callAten(tracer, interpreter, name, argsOf({shifted, self}));
  }
  case h::BinaryOp::Add:
  case h::BinaryOp::Mul:
  case h::BinaryOp::BitAnd:
  case h::BinaryOp::BitOr:
  case h::BinaryOp::BitXor:
    return callAten(tracer, interpreter, name, argsOf({self, other}));
  default:
    return std::nullopt;
  }
}

std::optional<h::Value> TensorObject::inPlaceOp(h::Interpreter &interpreter, h::BinaryOp op,
                                                const h::Value &other) {
  const char *name = atenName(op);
  if (!name)
    return std::nullopt;
  return callInPlace(*this, interpreter, name, argsOf({other}));
}

std::optional<h::Value> TensorObject::unaryOp(h::Interpreter &interpreter, h::UnaryOp op) {
  h::Value self(shared_from_this());
  if (op == h::UnaryOp::Plus)
    return self;
  return callAten(tracer, interpreter, op == h::UnaryOp::Minus ? "neg" : "bitwise_not",
                  argsOf({self}));
}

std::optional<h::Value> TensorObject::compare(h::Interpreter &interpreter, h::CompareOp op,
                                              const h::Value &given, bool) {
  h::Value other = h::unwrapConstexpr(given);
  bool usable = other.as<TensorObject>() || other.isInt() || other.isFloat() || other.isBool() ||
                h::isSymbolicNumber(other);
  if (!usable)
    return std::nullopt;
  // Of a reflected comparison the operator comes mirrored.
  static constexpr const char *names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  return callAten(tracer, interpreter, names[static_cast<size_t>(op)],
                  argsOf({h::Value(shared_from_this()), other}));
}

/// Whether any element equals it.
std::optional<bool> TensorObject::contains(h::Interpreter &interpreter, const h::Value &item) {
  h::Value same = callAten(tracer, interpreter, "eq", argsOf({selfOf(*this), item}));
  return interpreter.truth(callAten(tracer, interpreter, "any", argsOf({same})));
}

} // namespace pellucid::trace
