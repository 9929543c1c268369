// SPDX-License-Identifier: Apache-2.0
// Which accesses of global memory may be of the same elements.
#pragma once

#include "tt/OffsetAnalysis.h"

#include "llvm/ADT/SetVector.h"

#include <map>

namespace pellucid::ttgpu {

/// The scalars that a pointer, or a tile of them, may be computed from: arguments of the kernel,
/// and what is loaded or made from integers. Loops and branches are looked through.
llvm::SetVector<mlir::Value> pointerRoots(mlir::Value pointer);

/// The same memory may be accessed through both. Different arguments are taken to be different
/// memory, as Triton's users do.
bool mayShareMemory(mlir::Value pointer, mlir::Value other);

/// Which accesses may meet between threads, for many pointers of a function that does not change
/// its addresses meanwhile.
class AccessOrder {
public:
  struct Access {
    mlir::Value pointer;
    bool isStore;
  };
  /// Other than each thread with itself. `ofOtherRound`: they may belong to different rounds of a
  /// loop.
  bool meet(Access access, Access other, bool ofOtherRound);

private:
  struct Facts {
    llvm::SetVector<mlir::Value> roots;
    std::optional<tt::PointerForm> form;
    /// Each element is in one thread.
    bool isSpread = false;
  };
  const Facts &factsOf(mlir::Value pointer);

  std::map<void *, Facts> known;
};

} // namespace pellucid::ttgpu
