// SPDX-License-Identifier: Apache-2.0
// The slow, obvious meaning of tt kernels: what every other way to run them is compared with.
#pragma once

#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::reference {

/// One per argument of the tt.func, in order.
struct Argument {
  enum Kind : uint8_t { Pointer, Int, Float, Descriptor } kind = Int;
  void *pointer = nullptr;                       ///< Pointer, Descriptor (base)
  int64_t i = 0;                                 ///< Int, wrapped to the argument's width
  double f = 0;                                  ///< Float, rounded to the argument's type
  std::vector<int64_t> sizes = {}, strides = {}; ///< Descriptor, in elements
  bool padsWithNan = false;                      ///< Descriptor

  static Argument ofPointer(void *p) { return {.kind = Pointer, .pointer = p}; }
  static Argument ofInt(int64_t value) { return {.kind = Int, .i = value}; }
  static Argument ofFloat(double value) { return {.kind = Float, .f = value}; }
};

/// Memory that the kernel may touch.
struct MemoryRegion {
  void *base = nullptr;
  size_t bytes = 0;
  std::string name;
  /// Whether all of it holds values when the kernel starts; what does not is reported by `sanitize`
  /// when it is read before it is written.
  bool initialized = true;
};

/// What a launch did with a region: for each byte, whether any program read or wrote it.
struct TouchedRegion {
  const void *base = nullptr;
  std::string name;
  std::vector<bool> read, written;
};

/// A variable of the kernel where a stop point was reached.
struct StoppedVariable {
  std::string name, type;         ///< type: as in Triton; empty: a constant
  std::vector<int64_t> shape;     ///< empty: a scalar
  std::vector<std::string> texts; ///< every element, row-major; of a constant: itself
};

/// What is unspecified in tt is fixed here: masked-off lanes of a load without `other` are 0; so
/// are those padded by a block pointer without padding option and what masked-off atomics return;
/// integer division by zero gives -1 and its remainder the dividend (with a warning); a shift by
/// the width or more gives 0 (or the sign); float to integer saturates and NaN becomes 0; poison
/// is all ones; reductions and scans combine left to right along the axis (`reverse`: right to
/// left); dot multiplies exactly, adds in float64 in the order of k and rounds once; math functions
/// are the C library's in float64, rounded once; subnormals are kept; mul and add are never fused;
/// inputPrecision is ignored; conversions to fp8 saturate; reshape and cat keep the order. Programs
/// run one after the other, x fastest.
struct InterpretOptions {
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::vector<MemoryRegion> regions;
  /// Accesses outside of the region that the pointer's argument lies in are reported and not done.
  /// A pointer that comes from no argument may reach every region. Without it accesses are raw.
  bool checkBounds = true;
  /// Reports reads of what was never written and conflicts between programs: one program writes
  /// what another one reads, or writes differently, outside of atomics and without an
  /// acquire/release of the same address in between. Needs checkBounds.
  bool sanitize = false;
  /// Reports writes, and accesses out of bounds, that depend on the lanes that a load's mask leaves
  /// out and no `other` fills, by repeating the launch with other numbers there. Needs checkBounds;
  /// only a launch without errors is repeated.
  bool undefinedLanes = false;
  /// Receives what `sanitize` saw, one entry per region in order, also where an error was reported.
  std::vector<TouchedRegion> *touched = nullptr;
  /// Ends with an error after so many operations in all; 0: no limit.
  uint64_t stepLimit = 0;
  /// Operations with an error that are reported before the kernel is given up.
  uint32_t maxErrors = 16;
  /// Prints that begin with this belong to a stop point (frontend/EmitKernel.h); empty: none do.
  std::string_view stopPrefix = {};
  std::array<uint32_t, 3> stopProgram{}; ///< the program that stops; those before it run as ever
  /// Filled where it stops. The interpretation then ends, and that is no error.
  std::vector<StoppedVariable> *stopped = nullptr;
};

/// Runs `kernel` over the whole grid. False when an error was reported: access out of bounds,
/// failed device_assert, unsupported construct, wrong arguments; each at the user's line. Output of
/// device_print is appended to `prints` if given.
bool interpret(mlir::ModuleOp module, llvm::StringRef kernel, std::span<const Argument> arguments,
               const InterpretOptions &options, Diagnostics &diagnostics,
               std::string *prints = nullptr);

} // namespace pellucid::reference
