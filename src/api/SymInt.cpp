// SPDX-License-Identifier: Apache-2.0
// Sizes that may be symbolic.
#include "api/Recording.h"

namespace pellucid {

using namespace api;
using symbolic::Expr;

namespace api {

Expr toExpr(const SymInt &size) {
  return size.state ? *static_cast<const Expr *>(size.state.get()) : Expr(size.value);
}

SymInt fromExpr(const Expr &expr) {
  SymInt size;
  if (auto constant = expr.constant()) {
    size.value = *constant;
  } else {
    size.state = std::make_shared<const Expr>(expr);
  }
  return size;
}

} // namespace api

namespace {

bool decide(const Expr &condition) {
  if (auto constant = condition.constant())
    return *constant != 0;
  Recording *recording = Recording::active();
  if (!recording)
    throw Error("'" + condition.text() + "' depends on a dynamic dim of a trace that has ended");
  return guarded([&] {
    trace::TraceHooks hooks(&recording->tracer);
    return hooks.decide(recording->interpreter(), condition, SourceLocation());
  });
}

SymInt combined(const SymInt &a, const SymInt &b, Expr (*combine)(const Expr &, const Expr &)) {
  return guarded([&] { return fromExpr(combine(toExpr(a), toExpr(b))); });
}

SymInt divided(const SymInt &a, const SymInt &b, Expr (*divide)(const Expr &, const Expr &)) {
  if (!b.state && b.value == 0)
    throw Error("a size is divided by 0");
  return combined(a, b, divide);
}

} // namespace

int64_t SymInt::guard_int() const {
  if (!state)
    return value;
  Recording *recording = Recording::active();
  Expr expr = toExpr(*this);
  auto hint = recording ? recording->tracer.symbols().hint(expr) : std::nullopt;
  if (!hint)
    throw Error("'" + expr.text() + "' has no value here: it depends on a dynamic dim of a trace");
  // Either that is its only value, or a branch on it is recorded or refused.
  if (!decide(symbolic::equal(expr, Expr(*hint))))
    throw Error("'" + expr.text() + "' is not " + std::to_string(*hint));
  return *hint;
}

std::string SymInt::text() const { return state ? toExpr(*this).text() : std::to_string(value); }

SymInt operator+(const SymInt &a, const SymInt &b) { return combined(a, b, symbolic::operator+); }
SymInt operator-(const SymInt &a, const SymInt &b) { return combined(a, b, symbolic::operator-); }
SymInt operator*(const SymInt &a, const SymInt &b) { return combined(a, b, symbolic::operator*); }
SymInt operator/(const SymInt &a, const SymInt &b) { return divided(a, b, symbolic::floorDiv); }
SymInt operator%(const SymInt &a, const SymInt &b) { return divided(a, b, symbolic::mod); }
SymInt cdiv(const SymInt &a, const SymInt &b) { return divided(a, b, symbolic::ceilDiv); }
bool operator==(const SymInt &a, const SymInt &b) {
  return decide(symbolic::equal(toExpr(a), toExpr(b)));
}
bool operator<(const SymInt &a, const SymInt &b) {
  return decide(symbolic::less(toExpr(a), toExpr(b)));
}
bool operator<=(const SymInt &a, const SymInt &b) {
  return decide(symbolic::lessEqual(toExpr(a), toExpr(b)));
}

} // namespace pellucid
