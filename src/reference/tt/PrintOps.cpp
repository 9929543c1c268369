// SPDX-License-Identifier: Apache-2.0
// device_print and device_assert.
#include "reference/tt/Machine.h"
#include "support/PlainNumbers.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include <cinttypes>

using namespace mlir;

namespace pellucid::reference {

static std::string textOf(uint64_t bits, Type type, bool hex, bool isSigned) {
  PlainNumbers numbers;
  char text[64];
  unsigned width = widthOf(type);
  if (isa<tt::PointerType>(type) || hex)
    snprintf(text, sizeof text, "0x%0*" PRIx64, static_cast<int>((width + 3) / 4), bits);
  else if (isa<FloatType>(type))
    snprintf(text, sizeof text, "%f", decodeFloat(bits, formatOf(type)));
  else if (isSigned && width > 1)
    snprintf(text, sizeof text, "%" PRId64, signExtended(bits, width));
  else
    snprintf(text, sizeof text, "%" PRIu64, bits);
  return text;
}

static std::string indexText(int64_t index, const Shape &shape) {
  std::string text;
  for (int64_t coordinate : coordinatesOf(index, shape))
    text += (text.empty() ? "" : ", ") + std::to_string(coordinate);
  return text;
}

static std::string typeText(const TileValue &tile, bool isSigned) {
  Type type = tile.elementType;
  bool isPointer = isa<tt::PointerType>(type);
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    type = pointer.getPointeeType();
  std::string text;
  if (auto integer = dyn_cast<IntegerType>(type))
    text = (isSigned || isPointer || integer.getWidth() == 1 ? "int" : "uint") +
           std::to_string(integer.getWidth());
  else
    llvm::raw_string_ostream(text) << type;
  return isPointer ? "pointer<" + text + ">" : text;
}

static std::string shortText(Machine &machine, const Element &element, Type type, bool isSigned) {
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    return machine.memory.pointerText(element, bytesInMemory(pointer.getPointeeType()));
  if (!isa<FloatType>(type))
    return textOf(element.bits, type, false, isSigned);
  PlainNumbers numbers;
  char text[64];
  snprintf(text, sizeof text, "%.9g", decodeFloat(element.bits, formatOf(type)));
  return text;
}

/// A variable at a stop point, or its end. False for a print of the program's own.
static bool evaluateStop(Machine &machine, Operation &op) {
  auto print = cast<tt::PrintOp>(op);
  std::string_view text(print.getPrefix().data(), print.getPrefix().size());
  const InterpretOptions &options = machine.options;
  if (options.stopPrefix.empty() || !text.starts_with(options.stopPrefix))
    return false;
  if (machine.program != options.stopProgram)
    return true;
  text.remove_prefix(options.stopPrefix.size());
  if (text.empty())
    throw StopReached{};
  StoppedVariable variable;
  size_t equals = text.find('=');
  variable.name = text.substr(0, equals);
  if (op.getNumOperands() == 0) {
    variable.texts.emplace_back(text.substr(equals + 1));
  } else {
    const TileValue &tile = machine.operand(op, 0);
    bool isSigned = print.getIsSigned()[0];
    variable.type = typeText(tile, isSigned);
    variable.shape.assign(tile.shape.begin(), tile.shape.end());
    for (const Element &element : tile.elements)
      variable.texts.push_back(shortText(machine, element, tile.elementType, isSigned));
  }
  options.stopped->push_back(std::move(variable));
  return true;
}

/// One line per element: `pid (0, 0, 0) idx (3) prefix: 5`, with `(operand n)` where there are
/// several.
static void evaluatePrint(Machine &machine, Operation &op) {
  if (evaluateStop(machine, op) || !machine.prints)
    return;
  auto print = cast<tt::PrintOp>(op);
  auto [x, y, z] = machine.program;
  std::string head =
      "pid (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ") idx (";
  if (op.getNumOperands() == 0)
    *machine.prints += head + ")" + print.getPrefix().str() + "\n";
  for (unsigned n = 0; n < op.getNumOperands(); ++n) {
    const TileValue &tile = machine.operand(op, n);
    std::string which = op.getNumOperands() > 1 ? "(operand " + std::to_string(n) + ") " : "";
    for (int64_t i = 0; i < tile.count(); ++i)
      *machine.prints +=
          head + indexText(i, tile.shape) + ")" + print.getPrefix().str() + which +
          textOf(tile.elements[i].bits, tile.elementType, print.getHex(), print.getIsSigned()[n]) +
          "\n";
  }
}

static void evaluateAssert(Machine &machine, Operation &op) {
  const TileValue &condition = machine.operand(op, 0);
  std::string message = isa<tt::AssertOp>(op) ? cast<tt::AssertOp>(op).getMessage().str()
                                              : cast<cf::AssertOp>(op).getMsg().str();
  for (int64_t i = 0; i < condition.count(); ++i) {
    if (condition.elements[i].bits)
      continue;
    std::string place = condition.isScalar() ? "" : " at (" + indexText(i, condition.shape) + ")";
    machine.fail(op,
                 "device_assert failed" + place + ": " + message + ", in " + machine.programText());
  }
}

void addPrintHandlers(HandlerTable &table) {
  table["tt.print"] = evaluatePrint;
  table["tt.assert"] = evaluateAssert;
  table["cf.assert"] = evaluateAssert;
}

} // namespace pellucid::reference
