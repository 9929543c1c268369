// SPDX-License-Identifier: Apache-2.0
// Which accesses of global memory may be of the same elements.
#pragma once

#include "tt/AxisInfo.h"
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
    bool isAsync = false; ///< it may be under way when its thread goes on
    /// What several threads load of one element, that one uses alone which stores the element.
    bool isOfHolder = false;
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
  /// Of the elements of both tiles those alone can be the same that lie at the same place in them.
  bool meetAtEqualPlacesOnly(mlir::Value pointer, mlir::Value other);
  /// What divides the distance of any two values that the symbol has in one run of the kernel.
  int64_t stepOf(const tt::OffsetSymbol &symbol);
  int64_t divisorOf(const tt::OffsetSymbol &symbol);
  /// What divides each of the terms by which the one may be away from the other.
  int64_t distances(const tt::OffsetForm &from, const tt::OffsetForm &to);

  std::map<void *, Facts> known;
  std::unique_ptr<tt::AxisAnalysis> axes; ///< made when it is first asked
};

} // namespace pellucid::ttgpu
