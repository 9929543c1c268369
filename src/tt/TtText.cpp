// SPDX-License-Identifier: Apache-2.0
// Reading and writing TTIR text of several Triton versions.
#include "tt/Tt.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace pellucid::tt {

void registerTtDialects(DialectRegistry &registry) {
  registry.insert<TtDialect, GpuDialect, TtgDialect, LlvmDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect, ub::UBDialect>();
}

void loadTtDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerTtDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

SourceLocation sourceLocationOf(Location location) {
  SourceLocation where;
  if (auto file = location->findInstanceOf<FileLineColLoc>()) {
    where.name = file.getFilename().str();
    where.range.line = file.getLine();
    where.range.column = file.getColumn();
  }
  return where;
}

//===--- differences between versions ---------------------------------------------------------===//

constexpr llvm::StringLiteral cachePolicyName = "cachePolicy";

/// Calls `change` with every operation that has a cache modifier and an eviction policy.
template <typename Change> static void forEachCached(ModuleOp module, Change change) {
  module.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<LoadOp, StoreOp, DescriptorLoadOp>(
        [&](auto cached) { change(cached); });
  });
}

template <typename From, typename To> static void replaceBarriers(ModuleOp module) {
  module.walk([](From barrier) {
    OpBuilder builder(barrier);
    To::create(builder, barrier.getLoc());
    barrier.erase();
  });
}

/// 3.9's attribute and barrier become 3.6's, which are the dialect's own.
static void adoptOwnSpelling(ModuleOp module) {
  forEachCached(module, [](auto op) {
    auto policy = op->template getAttrOfType<CachePolicyAttr>(cachePolicyName);
    if (!policy)
      return;
    op.setCache(policy.getCacheModifier());
    op.setEvict(policy.getEvictionPolicy());
    op->removeAttr(cachePolicyName);
  });
  replaceBarriers<TtgBarrierOp, BarrierOp>(module);
}

static void adoptSpellingOf39(ModuleOp module) {
  forEachCached(module, [](auto op) {
    if (op.getCache() == CacheModifier::NONE && op.getEvict() == EvictionPolicy::NORMAL)
      return;
    op->setAttr(cachePolicyName,
                CachePolicyAttr::get(op.getContext(), op.getCache(), op.getEvict()));
    op.setCache(CacheModifier::NONE);
    op.setEvict(EvictionPolicy::NORMAL);
  });
  replaceBarriers<BarrierOp, TtgBarrierOp>(module);
}

//===--- reading ------------------------------------------------------------------------------===//

static pellucid::Diagnostic fromMlir(mlir::Diagnostic &message) {
  Severity severity = message.getSeverity() == DiagnosticSeverity::Error     ? Severity::Error
                      : message.getSeverity() == DiagnosticSeverity::Warning ? Severity::Warning
                                                                             : Severity::Note;
  pellucid::Diagnostic result(severity, sourceLocationOf(message.getLocation()), message.str());
  for (mlir::Diagnostic &note : message.getNotes())
    result.notes.push_back(fromMlir(note));
  return result;
}

DiagnosticsCollector::DiagnosticsCollector(MLIRContext *context, Diagnostics &diagnostics)
    : ScopedDiagnosticHandler(context), observed(context),
      printedOperations(context->shouldPrintOpOnDiagnostic()) {
  // The user's line says more than the operation made of it.
  context->printOpOnDiagnostic(false);
  setHandler([&diagnostics](mlir::Diagnostic &message) {
    diagnostics.add(fromMlir(message));
    return success();
  });
}

DiagnosticsCollector::~DiagnosticsCollector() { observed->printOpOnDiagnostic(printedOperations); }

OwningOpRef<ModuleOp> parseTtir(std::string_view text, MLIRContext *context,
                                Diagnostics &diagnostics, std::string_view sourceName) {
  loadTtDialects(*context);
  DiagnosticsCollector collector(context, diagnostics);
  auto module =
      parseSourceString<ModuleOp>(StringRef(text.data(), text.size()), ParserConfig(context),
                                  StringRef(sourceName.data(), sourceName.size()));
  if (module)
    adoptOwnSpelling(*module);
  return module;
}

//===--- writing ------------------------------------------------------------------------------===//

std::string printTtir(ModuleOp module, TtirVersion version, bool withLocations) {
  OwningOpRef<ModuleOp> copy;
  if (version == TtirVersion::V3_9) {
    copy = module.clone();
    adoptSpellingOf39(*copy);
    module = *copy;
  }
  auto *dialect = module.getContext()->getOrLoadDialect<TtDialect>();
  llvm::SaveAndRestore spelling(dialect->printVersion, version);
  OpPrintingFlags flags;
  // Triton names values after the variables of the kernel, which it keeps in name locations.
  flags.enableDebugInfo(withLocations).printNameLocAsPrefix();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, flags);
  stream << "\n";
  return text;
}

} // namespace pellucid::tt
