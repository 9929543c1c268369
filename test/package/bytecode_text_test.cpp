// SPDX-License-Identifier: Apache-2.0
#include "package/BytecodeText.h"

#include "package/SamplePackage.h"
#include "symbolic/Bytecode.h"

#include <gtest/gtest.h>
#include <random>

using namespace pellucid;
using namespace pellucid::package;
using symbolic::EvalStatus;
using symbolic::Opcode;

static std::vector<Symbol> symbols() { return {{"batch"}, {"n"}}; }

/// The evaluator belongs to another layer; both must see the same numbers as the same operations.
TEST(BytecodeText, AgreesWithTheEvaluatorOnEveryOpcode) {
  const std::pair<Opcode, const char *> binary[] = {{Opcode::Add, "batch + n"},
                                                    {Opcode::Mul, "batch * n"},
                                                    {Opcode::FloorDiv, "batch // n"},
                                                    {Opcode::Mod, "batch % n"},
                                                    {Opcode::CeilDiv, "CeilDiv(batch, n)"},
                                                    {Opcode::Min, "Min(batch, n)"},
                                                    {Opcode::Max, "Max(batch, n)"},
                                                    {Opcode::Eq, "batch == n"},
                                                    {Opcode::Ne, "batch != n"},
                                                    {Opcode::Lt, "batch < n"},
                                                    {Opcode::Le, "batch <= n"},
                                                    {Opcode::And, "batch and n"},
                                                    {Opcode::Or, "batch or n"}};
  for (auto [op, text] : binary) {
    Bytecode code = {uint8_t(Opcode::Symbol), 0, uint8_t(Opcode::Symbol), 1, uint8_t(op)};
    EXPECT_EQ(bytecodeText(code, symbols()), text);
  }
  Bytecode select = {
      uint8_t(Opcode::Symbol), 0, uint8_t(Opcode::Not),   uint8_t(Opcode::Constant), 3,
      uint8_t(Opcode::Symbol), 1, uint8_t(Opcode::Select)};
  EXPECT_EQ(bytecodeText(select, symbols()), "Select((not batch), -2, n)");
  Bytecode power = {uint8_t(Opcode::Symbol), 1, uint8_t(Opcode::NextPowerOf2)};
  EXPECT_EQ(bytecodeText(power, symbols()), "NextPowerOf2(n)");
}

TEST(BytecodeText, RefusesWhatTheEvaluatorRefuses) {
  std::mt19937 random(7);
  int64_t values[2] = {5, 3}, result = 0;
  size_t wellFormed = 0;
  for (int i = 0; i < 200000; ++i) {
    Bytecode code(random() % 9);
    for (uint8_t &byte : code)
      byte = static_cast<uint8_t>(random() % 20);
    bool accepted = isWellFormed(code, 2);
    bool evaluates = symbolic::evaluateBytecode(code, values, result) != EvalStatus::Malformed;
    ASSERT_EQ(accepted, evaluates) << testing::PrintToString(code);
    wellFormed += accepted;
  }
  EXPECT_GT(wellFormed, 1000u);
}

TEST(BytecodeText, StackIsBounded) {
  Bytecode deep;
  for (size_t i = 0; i < symbolic::maxBytecodeStack + 1; ++i)
    deep.insert(deep.end(), {uint8_t(Opcode::Constant), 2});
  for (size_t i = 0; i < symbolic::maxBytecodeStack; ++i)
    deep.push_back(uint8_t(Opcode::Add));
  EXPECT_FALSE(isWellFormed(deep, 0));
  EXPECT_EQ(bytecodeText(deep, {}), "?");
}
