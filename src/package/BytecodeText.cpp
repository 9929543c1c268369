// SPDX-License-Identifier: Apache-2.0
#include "package/BytecodeText.h"

#include <optional>

namespace pellucid::package {

// The numbers of symbolic::Opcode, which a layer of the same rank does not include; they are part
// of the format, and the test of this file holds the two against each other.
static constexpr uint8_t constantOp = 1, symbolOp = 2, notOp = 16, nextPowerOf2Op = 18;
static constexpr size_t maxStack = 32;

struct OperatorText {
  unsigned operands;
  /// Before, between and after the operands.
  const char *open, *middle, *close;
};
static constexpr OperatorText operators[] = {
    {2, "(", " + ", ")"},          // 3 Add
    {2, "(", " * ", ")"},          // 4 Mul
    {2, "(", " // ", ")"},         // 5 FloorDiv
    {2, "(", " % ", ")"},          // 6 Mod
    {2, "CeilDiv(", ", ", ")"},    // 7
    {2, "Min(", ", ", ")"},        // 8
    {2, "Max(", ", ", ")"},        // 9
    {2, "(", " == ", ")"},         // 10 Eq
    {2, "(", " != ", ")"},         // 11 Ne
    {2, "(", " < ", ")"},          // 12 Lt
    {2, "(", " <= ", ")"},         // 13 Le
    {2, "(", " and ", ")"},        // 14 And
    {2, "(", " or ", ")"},         // 15 Or
    {1, "(not ", "", ")"},         // 16 Not
    {3, "Select(", ", ", ")"},     // 17
    {1, "NextPowerOf2(", "", ")"}, // 18
};
static constexpr uint8_t firstOperator = 3;
static_assert(std::size(operators) == nextPowerOf2Op - firstOperator + 1 &&
              notOp == nextPowerOf2Op - 2);

static std::optional<uint64_t> takeLeb128(std::span<const uint8_t> &code) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !code.empty(); shift += 7) {
    uint8_t byte = code.front();
    code = code.subspan(1);
    if (shift == 63 && (byte & 0x7f) > 1)
      return std::nullopt;
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return std::nullopt;
}

/// Walks the postfix program; `leaf` and `combine` see each operation with its checked operands.
static bool walk(std::span<const uint8_t> code, size_t symbolCount, auto leaf, auto combine) {
  size_t depth = 0;
  while (!code.empty()) {
    uint8_t op = code.front();
    code = code.subspan(1);
    if (op == constantOp || op == symbolOp) {
      std::optional<uint64_t> raw = takeLeb128(code);
      if (!raw || depth == maxStack || (op == symbolOp && *raw >= symbolCount))
        return false;
      ++depth;
      leaf(op, *raw);
      continue;
    }
    if (op < firstOperator || op > nextPowerOf2Op || depth < operators[op - firstOperator].operands)
      return false;
    const OperatorText &text = operators[op - firstOperator];
    depth -= text.operands - 1;
    combine(text);
  }
  return depth == 1;
}

bool isWellFormed(std::span<const uint8_t> code, size_t symbolCount) {
  return code.size() <= maxBytecodeBytes &&
         walk(code, symbolCount, [](uint8_t, uint64_t) {}, [](const OperatorText &) {});
}

std::vector<uint32_t> symbolsIn(std::span<const uint8_t> code) {
  std::vector<uint32_t> symbols;
  auto leaf = [&](uint8_t op, uint64_t raw) {
    if (op == symbolOp)
      symbols.push_back(static_cast<uint32_t>(raw));
  };
  if (!walk(code, UINT32_MAX, leaf, [](const OperatorText &) {}))
    symbols.clear();
  return symbols;
}

std::string bytecodeText(std::span<const uint8_t> code, std::span<const Symbol> symbols) {
  std::vector<std::string> stack;
  auto leaf = [&](uint8_t op, uint64_t raw) {
    if (op == symbolOp)
      stack.push_back(symbols[raw].name);
    else
      stack.push_back(
          std::to_string(static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1)));
  };
  auto combine = [&](const OperatorText &op) {
    std::string text = op.open;
    for (size_t i = stack.size() - op.operands; i < stack.size(); ++i)
      text.append(i + op.operands == stack.size() ? "" : op.middle).append(stack[i]);
    stack.resize(stack.size() - op.operands);
    stack.push_back(text + op.close);
  };
  if (!walk(code, symbols.size(), leaf, combine))
    return "?";
  // The outermost operation needs no parentheses: "(a + b)" begins with its own, "Min(a, b)" does
  // not.
  std::string whole = std::move(stack.back());
  return whole.starts_with('(') && !whole.starts_with("(not ") ? whole.substr(1, whole.size() - 2)
                                                               : whole;
}

} // namespace pellucid::package
