// SPDX-License-Identifier: Apache-2.0
// The state of an interpretation and the table of what each operation does.
#pragma once

#include "reference/tt/Memory.h"
#include "reference/tt/TileValue.h"
#include "reference/tt/UndefinedLanes.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace pellucid::reference {

/// Ends the interpretation; what is wrong was reported before.
struct Stopped {};
/// Ends it where the stop point was reached.
struct StopReached {};

class Machine;
using Handler = void (*)(Machine &, mlir::Operation &);
using HandlerTable = llvm::StringMap<Handler>;

void addArithHandlers(HandlerTable &);
void addFloatHandlers(HandlerTable &);
void addCastHandlers(HandlerTable &);
void addMathHandlers(HandlerTable &);
void addShapeHandlers(HandlerTable &);
void addMemoryHandlers(HandlerTable &);
void addAtomicHandlers(HandlerTable &);
void addBlockHandlers(HandlerTable &);
void addRegionHandlers(HandlerTable &);
void addDotHandlers(HandlerTable &);
void addControlHandlers(HandlerTable &);
void addExternHandlers(HandlerTable &);
void addPrintHandlers(HandlerTable &);

class Machine {
public:
  Machine(mlir::ModuleOp module, const InterpretOptions &options, Diagnostics &diagnostics,
          std::string *prints);

  /// Runs every program. Throws Stopped.
  void run(mlir::Operation &kernel, std::span<const Argument> arguments);

  // For handlers.
  TilePtr get(mlir::Value value) const;
  const TileValue &operand(mlir::Operation &op, unsigned index) const;
  void set(mlir::Value value, TilePtr tile) { frames.back()[value] = std::move(tile); }
  void setResult(mlir::Operation &op, TileValue tile, unsigned index = 0);

  struct Exit {
    mlir::Operation *terminator;
    llvm::SmallVector<TilePtr> operands;
  };
  /// Runs `region` from its entry block, following branches, until a terminator leaves it.
  Exit runRegion(mlir::Region &region, llvm::ArrayRef<TilePtr> arguments);
  /// Calls a function of the module in a frame of its own.
  llvm::SmallVector<TilePtr> call(mlir::Operation &site, llvm::StringRef callee,
                                  llvm::ArrayRef<TilePtr> arguments);

  /// Reports an error at `op`, once per operation and `topic`, with the running program. Throws
  /// Stopped when there are too many.
  void report(mlir::Operation &op, llvm::StringRef topic, const std::string &message);
  [[noreturn]] void fail(mlir::Operation &op, const std::string &message);
  void warn(mlir::Operation &op, llvm::StringRef topic, const std::string &message);
  std::string programText() const;

  /// Memory access with all checks; a forbidden load gives 0.
  uint64_t load(mlir::Operation &op, const Access &access);
  void store(mlir::Operation &op, const Access &access, uint64_t bits);

  Memory memory;
  const InterpretOptions &options;
  std::array<uint32_t, 3> program{};
  std::string *prints;
  LaneProbe *probe = nullptr; ///< Null: lanes without a value are 0, and nobody watches.

  uint64_t stepsTaken() const { return steps; }
  SourceLocation locate(mlir::Operation &op);

private:
  void execute(mlir::Operation &op);
  llvm::SmallVector<TilePtr> makeArguments(mlir::Operation &kernel,
                                           std::span<const Argument> arguments);
  void addCallers(Diagnostic &diagnostic);
  bool isFirst(mlir::Operation &op, llvm::StringRef topic);
  void check(mlir::Operation &op, const std::optional<AccessShadow::Finding> &finding,
             const Access &access);

  mlir::ModuleOp module;
  Diagnostics &diagnostics;
  std::vector<llvm::DenseMap<mlir::Value, TilePtr>> frames;
  std::vector<mlir::Operation *> callSites;
  llvm::DenseMap<mlir::OperationName, Handler> handlers;
  llvm::StringMap<std::shared_ptr<const SourceFile>> files;
  llvm::DenseMap<mlir::Operation *, std::vector<std::string>> reported;
  uint64_t steps = 0;
  uint32_t errors = 0;
};

/// The shape of an elementwise result: that of the first operand that is no scalar.
Shape commonShape(llvm::ArrayRef<const TileValue *> operands);

/// Applies `fn(const uint64_t *bits)` to every element; scalars are repeated.
template <typename Fn>
TileValue mapElements(mlir::Type elementType, llvm::ArrayRef<const TileValue *> operands, Fn fn) {
  TileValue result;
  result.elementType = elementType;
  result.shape = commonShape(operands);
  result.elements.resize(countOf(result.shape));
  llvm::SmallVector<uint64_t, 4> bits(operands.size());
  for (int64_t i = 0; i < result.count(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k)
      bits[k] = operands[k]->at(i).bits;
    result.elements[i].bits = fn(bits.data());
  }
  return result;
}

/// The tiles of all operands of `op`.
llvm::SmallVector<const TileValue *> operandsOf(Machine &machine, mlir::Operation &op);

} // namespace pellucid::reference
