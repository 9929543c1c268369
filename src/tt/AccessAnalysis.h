// SPDX-License-Identifier: Apache-2.0
// Which memory a kernel reads and writes, told from its body. Needs no device.
#pragma once

#include "support/Diagnostics.h"
#include "tt/TtOps.h"

#include <map>
#include <memory>
#include <vector>

namespace pellucid::tt {

/// What a function does with the memory behind one of its arguments. All false for scalars.
struct ArgumentAccess {
  bool read = false;
  bool written = false;
  /// Some access is atomic. Read-modify-write counts as read and as written, too.
  bool atomic = false;
};

enum class AccessKind { Load, Store, Atomic };

/// One operation of the function itself (not of its callees) that touches memory.
struct MemoryAccess {
  mlir::Operation *op = nullptr;
  AccessKind kind = AccessKind::Load;
  /// The argument whose memory it is; -1 when there is more than one candidate or none is known.
  int argument = -1;
  mlir::Value pointer, value, mask, other;
  /// Inside a loop: may run any number of times.
  bool inLoop = false;
};

struct AccessSummary {
  std::vector<ArgumentAccess> arguments;
  std::vector<MemoryAccess> accesses;
  /// Memory reached through addresses that are not arguments: loaded from a table, or made from
  /// integers.
  bool touchesUnknownMemory = false;
  /// Something was met that cannot be followed: what it could reach counts as read and written, and
  /// a warning says where it is.
  bool defeated = false;
  /// `accesses` leaves out what callees do.
  bool hasCalls = false;

  /// The memory of `argument` is written by exactly one operation, a store outside of loops, and
  /// not read.
  bool isSingleStore(unsigned argument) const;
  /// The accesses of `argument`, in program order.
  std::vector<const MemoryAccess *> accessesOf(unsigned argument) const;
};

/// Analyses functions of one module, each once. The module must not change meanwhile.
class AccessAnalysis {
public:
  /// Warnings about what defeats the analysis go to `diagnostics`.
  explicit AccessAnalysis(Diagnostics &diagnostics);
  ~AccessAnalysis();

  const AccessSummary &of(FuncOp function);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace pellucid::tt
