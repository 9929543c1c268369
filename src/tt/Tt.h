// SPDX-License-Identifier: Apache-2.0
// The door of the layer: registration, reading and writing TTIR text. Operation classes are in
// tt/TtOps.h.
#pragma once

#include "support/Diagnostics.h"
#include "tt/TtirVersion.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <string_view>

namespace pellucid::tt {

/// Registers tt, the three borrowed names (gpu, ttg, llvm) and the upstream dialects TTIR is made
/// of: arith, math, scf, cf, ub. MLIR's own gpu and llvm dialects cannot live in the same context.
void registerTtDialects(mlir::DialectRegistry &registry);

/// Loads all of them into `context`; needed before building IR by hand.
void loadTtDialects(mlir::MLIRContext &context);

/// Reads TTIR of any Triton from 3.6 on and verifies it. On failure says why in `diagnostics` (at
/// the line of the text, named `sourceName`) and returns null.
mlir::OwningOpRef<mlir::ModuleOp> parseTtir(std::string_view text, mlir::MLIRContext *context,
                                            Diagnostics &diagnostics,
                                            std::string_view sourceName = "ttir");

/// Writes `module` as that Triton would. Locations are written when `withLocations`.
/// Not to be called for two modules of one context at the same time.
std::string printTtir(mlir::ModuleOp module, TtirVersion version = TtirVersion::V3_6,
                      bool withLocations = false);

/// While it lives, what MLIR has to say about `context` goes to `diagnostics`, at the lines of the
/// user's source, and nothing is printed.
class DiagnosticsCollector : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticsCollector(mlir::MLIRContext *context, Diagnostics &diagnostics);
  ~DiagnosticsCollector();

private:
  mlir::MLIRContext *observed;
  bool printedOperations;
};

/// Where a location of the IR points to in the user's source, with line and column from 1. Empty
/// file name if unknown.
SourceLocation sourceLocationOf(mlir::Location location);

} // namespace pellucid::tt
