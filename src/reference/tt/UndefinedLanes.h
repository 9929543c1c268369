// SPDX-License-Identifier: Apache-2.0
// What a kernel writes must not depend on the lanes that a load's mask leaves out and no `other`
// fills. Followed by experiment instead of by rules for every operation: the launch is repeated
// with other numbers in those lanes, and whatever is written differently depended on them.
#pragma once

#include "reference/tt/Memory.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace pellucid::reference {

/// Watches one run of a launch.
class LaneProbe {
public:
  enum class Fill : uint8_t { Zero, Large, Negative };
  struct Write {
    mlir::Operation *op;
    Access access;
    uint64_t bits;
  };
  /// Thrown at the first write that the first run did not make so.
  struct Differs {
    mlir::Operation *op;
    Access access;
  };

  /// The first run: undefined lanes are 0, writes are kept.
  LaneProbe() = default;
  /// A repetition: undefined lanes of `only`, or of all loads, get other numbers.
  LaneProbe(const std::vector<Write> &expected, Fill fill, mlir::Operation *only = nullptr)
      : expected(&expected), fill(fill), only(only) {}

  /// What an undefined lane of this load holds.
  uint64_t laneOf(mlir::Operation &load, mlir::Type elementType);
  void onWrite(mlir::Operation &op, const Access &access, uint64_t bits);
  /// After the last program: writes that are missing differ, too.
  void finish() const;

  std::vector<Write> writes;                ///< of the first run
  llvm::SetVector<mlir::Operation *> loads; ///< those that had undefined lanes

private:
  const std::vector<Write> *expected = nullptr;
  Fill fill = Fill::Zero;
  mlir::Operation *only = nullptr;
  size_t next = 0;
};

/// What the regions of a launch hold.
class RegionContents {
public:
  explicit RegionContents(std::span<const MemoryRegion> regions);
  void restore() const;

private:
  std::span<const MemoryRegion> regions;
  std::vector<std::vector<unsigned char>> saved;
};

/// Repeats a launch that had no errors and took so many steps, with other numbers in the lanes that
/// its masked loads left undefined. Whether nothing depends on them; reports the first that does.
bool checkUndefinedLanes(mlir::ModuleOp module, mlir::Operation &kernel,
                         std::span<const Argument> arguments, const InterpretOptions &options,
                         const RegionContents &before, const LaneProbe &first, uint64_t steps,
                         Diagnostics &diagnostics);

/// Whether the module has a load whose mask may leave lanes undefined.
bool mayLeaveLanesUndefined(mlir::ModuleOp module);

} // namespace pellucid::reference
