// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveNumbers.h"

#include <map>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

using Call = h::Value (*)(h::Interpreter &, const std::vector<h::Value> &);

template <h::BinaryOp op> h::Value binary(h::Interpreter &i, const std::vector<h::Value> &a) {
  return i.binary(op, a.at(0), a.at(1));
}
template <h::CompareOp op> h::Value compare(h::Interpreter &i, const std::vector<h::Value> &a) {
  return i.compare(op, a.at(0), a.at(1));
}
h::Value builtin(h::Interpreter &i, const char *name, const std::vector<h::Value> &a) {
  return i.call(*i.builtin(name), a);
}

h::Value squareRoot(h::Interpreter &i, const std::vector<h::Value> &a) {
  return i.call(i.getAttr(i.importModule("math"), "sqrt"), a);
}

/// One of two numbers.
h::Value choice(h::Interpreter &i, const std::vector<h::Value> &a) {
  if (!a.at(0).isSymBool())
    return a.at(i.truth(a[0]) ? 1 : 2);
  return h::Value::integer(
      symbolic::select(a[0].symBool(), i.toExpr(a.at(1), "a size"), i.toExpr(a.at(2), "a size")));
}

/// What exported programs compute with sizes.
const std::map<std::string_view, Call> &numberCalls() {
  using B = h::BinaryOp;
  using C = h::CompareOp;
  static const std::map<std::string_view, Call> calls = {
      {"_operator.add", binary<B::Add>},
      {"_operator.sub", binary<B::Sub>},
      {"_operator.mul", binary<B::Mul>},
      {"_operator.truediv", binary<B::Div>},
      {"_operator.floordiv", binary<B::FloorDiv>},
      {"_operator.mod", binary<B::Mod>},
      {"_operator.pow", binary<B::Pow>},
      {"_operator.and_", binary<B::BitAnd>},
      {"_operator.or_", binary<B::BitOr>},
      {"_operator.lshift", binary<B::LShift>},
      {"_operator.rshift", binary<B::RShift>},
      {"_operator.eq", compare<C::Eq>},
      {"_operator.ne", compare<C::Ne>},
      {"_operator.lt", compare<C::Lt>},
      {"_operator.le", compare<C::Le>},
      {"_operator.gt", compare<C::Gt>},
      {"_operator.ge", compare<C::Ge>},
      {"_operator.neg",
       [](h::Interpreter &i, const std::vector<h::Value> &a) {
         return i.unary(h::UnaryOp::Minus, a.at(0));
       }},
      {"_operator.pos", [](h::Interpreter &, const std::vector<h::Value> &a) { return a.at(0); }},
      {"torch.sym_int",
       [](h::Interpreter &i, const std::vector<h::Value> &a) { return builtin(i, "int", a); }},
      {"torch.sym_float",
       [](h::Interpreter &i, const std::vector<h::Value> &a) { return builtin(i, "float", a); }},
      {"torch.sym_max",
       [](h::Interpreter &i, const std::vector<h::Value> &a) { return builtin(i, "max", a); }},
      {"torch.sym_min",
       [](h::Interpreter &i, const std::vector<h::Value> &a) { return builtin(i, "min", a); }},
      {"torch.sym_not",
       [](h::Interpreter &i, const std::vector<h::Value> &a) {
         return a.at(0).isSymBool() ? h::Value::condition(symbolic::logicalNot(a.at(0).symBool()))
                                    : h::Value(!i.truth(a.at(0)));
       }},
      {"torch.sym_ite", choice},
      {"torch.sym_sqrt", squareRoot},
      {"torch._sym_sqrt", squareRoot},
      {"torch.sym_sum",
       [](h::Interpreter &i, const std::vector<h::Value> &a) { return builtin(i, "sum", a); }},
  };
  return calls;
}

bool isMath(const std::string &target) { return target.starts_with("math."); }

} // namespace

bool isNumberCall(const std::string &target) {
  return isMath(target) || numberCalls().count(target) != 0;
}

h::Value numberCall(h::Interpreter &interpreter, const std::string &target,
                    const std::vector<h::Value> &arguments) {
  if (isMath(target))
    return interpreter.call(interpreter.getAttr(interpreter.importModule("math"), target.substr(5)),
                            arguments);
  return numberCalls().at(target)(interpreter, arguments);
}

} // namespace pellucid::trace
