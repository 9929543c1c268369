// SPDX-License-Identifier: Apache-2.0
#include "runtime/Expressions.h"

#include "package/BytecodeText.h"
#include "symbolic/Bytecode.h"

#include <algorithm>

namespace pellucid::runtime {

using symbolic::EvalStatus;
using symbolic::evaluateBytecode;

/// The symbol that `code` consists of.
static bool isOneSymbol(const package::Bytecode &code, size_t symbolCount, uint32_t &index) {
  if (code.size() != 2 || code[0] != uint8_t(symbolic::Opcode::Symbol) ||
      code[1] >= std::min<size_t>(symbolCount, 128))
    return false;
  index = code[1];
  return true;
}

Value Expressions::add(const package::Bytecode &code, int64_t whenEmpty) {
  if (code.empty())
    return {Value::isConstant, whenEmpty};
  Value value;
  if (evaluateBytecode(code, {}, value.constant) == EvalStatus::Ok)
    return value;
  if (isOneSymbol(code, symbols.size(), value.index))
    return value;
  value.index = static_cast<uint32_t>(symbols.size() + codes.size());
  auto [entry, isNew] = known.try_emplace(code, value);
  if (isNew)
    codes.push_back(&code);
  return entry->second;
}

void Expressions::evaluate(std::span<const int64_t> symbolValues, Numbers &numbers) const {
  std::vector<int64_t> &values = numbers.values;
  if (numbers.valid && std::equal(symbolValues.begin(), symbolValues.end(), values.begin()))
    return;
  values.resize(symbols.size() + codes.size());
  numbers.failed.assign(values.size(), 0);
  numbers.anyFailed = false;
  std::copy(symbolValues.begin(), symbolValues.end(), values.begin());
  for (size_t i = 0; i < symbols.size() && isStaged; ++i)
    if (stageOfSymbol(static_cast<uint32_t>(i)) != 0)
      numbers.failed[i] = numbers.anyFailed = true;
  for (size_t i = 0; i < codes.size(); ++i) {
    size_t at = symbols.size() + i;
    if ((isStaged && codeStages[i] != 0) ||
        evaluateBytecode(*codes[i], symbolValues, values[at]) != EvalStatus::Ok)
      numbers.failed[at] = numbers.anyFailed = true;
  }
  numbers.valid = !isStaged;
}

void Expressions::advance(std::span<const int64_t> symbolValues, uint32_t stage,
                          Numbers &numbers) const {
  for (size_t i = 0; i < symbols.size(); ++i)
    if (stageOfSymbol(static_cast<uint32_t>(i)) == stage) {
      numbers.values[i] = symbolValues[i];
      numbers.failed[i] = false;
    }
  for (size_t i = 0; i < codes.size(); ++i)
    if (codeStages[i] == stage) {
      size_t at = symbols.size() + i;
      numbers.failed[at] =
          evaluateBytecode(*codes[i], symbolValues, numbers.values[at]) != EvalStatus::Ok;
    }
}

void Expressions::finishStages() {
  if (std::all_of(symbolStages.begin(), symbolStages.end(), [](uint32_t s) { return s == 0; }))
    return;
  isStaged = true;
  for (const package::Bytecode *code : codes)
    codeStages.push_back(stageOf(*code));
}

uint32_t Expressions::stageOf(const package::Bytecode &code) const {
  uint32_t stage = 0;
  for (uint32_t symbol : package::symbolsIn(code))
    stage = std::max(stage, stageOfSymbol(symbol));
  return stage;
}

std::string Expressions::text(Value value) const {
  if (value.index == Value::isConstant)
    return std::to_string(value.constant);
  if (value.index < symbols.size())
    return symbols[value.index].name;
  return package::bytecodeText(*codes[value.index - symbols.size()], symbols);
}

} // namespace pellucid::runtime
