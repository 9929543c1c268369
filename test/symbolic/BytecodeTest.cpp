// SPDX-License-Identifier: Apache-2.0
#include "symbolic/Bytecode.h"
#include "symbolic/Expr.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

using namespace pellucid::symbolic;

namespace {
const std::vector<std::string> order = {"a", "b"};
const Expr a = Expr::symbol("a"), b = Expr::symbol("b");

EvalStatus run(const Expr &e, std::vector<int64_t> values, int64_t &out) {
  return evaluateBytecode(encode(e, order), values, out);
}

TEST(Bytecode, reportsWhatWentWrong) {
  int64_t out = 77;
  EXPECT_EQ(run(floorDiv(a, b), {1, 0}, out), EvalStatus::DivisionByZero);
  EXPECT_EQ(run(a * b, {INT64_MAX, 2}, out), EvalStatus::Overflow);
  EXPECT_EQ(run(ceilDiv(a, b), {INT64_MIN, -1}, out), EvalStatus::Overflow);
  EXPECT_EQ(run(a, {}, out), EvalStatus::Malformed);
  EXPECT_EQ(out, 77);
  EXPECT_EQ(run(mod(a, b), {INT64_MIN, -1}, out), EvalStatus::Ok);
  EXPECT_EQ(out, 0);
}

// A guard protects what it guards, although both sides are computed.
TEST(Bytecode, whatIsNotSelectedCannotFail) {
  int64_t out = 0;
  EXPECT_EQ(run(select(equal(b, 0), 7, floorDiv(a, b)), {1, 0}, out), EvalStatus::Ok);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(run(logicalAnd(notEqual(b, 0), less(2, floorDiv(a, b))), {9, 0}, out), EvalStatus::Ok);
  EXPECT_EQ(out, 0);
}

TEST(Bytecode, constantsOfEverySizeSurvive) {
  for (int64_t v :
       {int64_t(0), int64_t(-1), int64_t(63), int64_t(64), int64_t(-65), INT64_MAX, INT64_MIN}) {
    int64_t out = 1;
    EXPECT_EQ(run(Expr(v), {}, out), EvalStatus::Ok);
    EXPECT_EQ(out, v);
  }
}

TEST(Bytecode, encodingRefusesUnknownSymbolsAndDepth) {
  EXPECT_THROW(encode(Expr::symbol("c"), order), std::invalid_argument);
  Expr deep = a;
  for (int i = 0; i < 40; ++i)
    deep = i % 2 ? floorDiv(b, deep) : mod(b, deep);
  EXPECT_THROW(encode(deep, order), std::invalid_argument);
  Expr wide = 0;
  for (int i = 0; i < 100; ++i)
    wide = wide + floorDiv(a, i + 2);
  EXPECT_NO_THROW(encode(wide, order));
}

// Any bytes give a status, and never read past their end (the sanitizer build watches).
TEST(Bytecode, anyBytesAreSafe) {
  std::mt19937 rng(5);
  size_t malformed = 0;
  for (int i = 0; i < 200000; ++i) {
    std::vector<uint8_t> bytes(rng() % 24);
    for (uint8_t &byte : bytes)
      byte = rng() % 4 ? rng() % 19 : static_cast<uint8_t>(rng());
    int64_t symbols[2] = {3, 5}, out = 0;
    malformed += evaluateBytecode(bytes, symbols, out) == EvalStatus::Malformed;
  }
  EXPECT_GT(malformed, 0u);
}

TEST(Bytecode, everyTruncationIsMalformedOrComplete) {
  std::vector<uint8_t> code = encode(ceilDiv(a * 1000000 + 3, b) + min(a, 9), order);
  int64_t symbols[2] = {3, 5}, out = 0;
  ASSERT_EQ(evaluateBytecode(code, symbols, out), EvalStatus::Ok);
  EXPECT_EQ(out, 600001 + 3);
  EXPECT_EQ(evaluateBytecode(std::span(code).first(0), symbols, out), EvalStatus::Malformed);
  EXPECT_EQ(evaluateBytecode(std::span(code).first(code.size() - 1), symbols, out),
            EvalStatus::Malformed);
}
} // namespace
