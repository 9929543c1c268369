// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "package/Package.h"

#include <map>

namespace pellucid::runtime {

/// A number of a call: known at load, or the place of a symbol's or expression's value in Numbers.
struct Value {
  static constexpr uint32_t isConstant = ~uint32_t(0);
  uint32_t index = isConstant;
  int64_t constant = 0;
};

/// The values of one call. What could not be computed (overflow, division by zero) is only an error
/// for who needs it.
class Numbers {
public:
  int64_t operator[](Value v) const {
    return v.index == Value::isConstant ? v.constant : values[v.index];
  }
  bool isKnown(Value v) const {
    return !anyFailed || v.index == Value::isConstant || !failed[v.index];
  }

private:
  friend class Expressions;
  std::vector<int64_t> values;
  std::vector<uint8_t> failed;
  bool anyFailed = false, valid = false;
};

/// Every expression that a program's calls need, each once.
class Expressions {
public:
  explicit Expressions(const package::Manifest &manifest) : symbols(manifest.symbols) {}

  /// `code` outlives the object.
  Value add(const package::Bytecode &code, int64_t whenEmpty = 0);

  /// By symbol: 0, or the stage of a call (ProgramPlan::stages) that begins with its value.
  void setStages(std::vector<uint32_t> ofSymbols) { symbolStages = std::move(ofSymbols); }
  uint32_t stageOfSymbol(uint32_t symbol) const {
    return symbol < symbolStages.size() ? symbolStages[symbol] : 0;
  }
  uint32_t stageOf(const package::Bytecode &code) const;
  /// After the last add().
  void finishStages();

  /// Computes all values; does nothing when `numbers` already holds those of `symbolValues`. What
  /// depends on later stages is not known.
  void evaluate(std::span<const int64_t> symbolValues, Numbers &numbers) const;
  /// Computes the values that are known from `stage` on.
  void advance(std::span<const int64_t> symbolValues, uint32_t stage, Numbers &numbers) const;

  /// "(batch * 64)"
  std::string text(Value value) const;

private:
  const std::vector<package::Symbol> &symbols;
  std::vector<const package::Bytecode *> codes;
  std::vector<uint32_t> symbolStages, codeStages; ///< empty: all 0
  bool isStaged = false;
  std::map<package::Bytecode, Value> known;
};

} // namespace pellucid::runtime
