// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Passes.h"
#include "tt/TtOps.h"

#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_INLINECALLS
#include "passes/tt/Passes.h.inc"

namespace {

struct InlineCallsPass : impl::InlineCallsBase<InlineCallsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable table(module);
    symbols = &table;
    for (FuncOp function : module.getOps<FuncOp>())
      if (failed(inlineInto(function)))
        return signalPassFailure();
    // No calls are left anywhere, and nothing else refers to functions.
    for (FuncOp function : llvm::make_early_inc_range(module.getOps<FuncOp>()))
      if (function.isPrivate())
        function.erase();
  }

  /// Leaves `function` without calls; what it calls comes first, so that one round suffices.
  LogicalResult inlineInto(FuncOp function) {
    if (done.contains(function))
      return success();
    active.insert(function);
    SmallVector<CallOp> calls;
    function.walk([&](CallOp call) { calls.push_back(call); });
    for (CallOp call : calls) {
      auto callee = symbols->lookup<FuncOp>(call.getCallee());
      if (failed(checkCallee(call, callee)) || failed(inlineInto(callee)) ||
          failed(inlineOne(call, callee)))
        return failure();
    }
    active.erase(function);
    done.insert(function);
    return success();
  }

  LogicalResult checkCallee(CallOp call, FuncOp callee) {
    if (active.contains(callee))
      return call.emitOpError() << "calls '" << callee.getName()
                                << "' recursively, which a kernel cannot";
    if (callee.isExternal())
      return call.emitOpError() << "calls '" << callee.getName() << "', which has no body";
    if (!callee.getBody().hasOneBlock())
      return call.emitOpError() << "calls '" << callee.getName() << "', which has "
                                << callee.getBody().getBlocks().size() << " blocks instead of 1";
    return success();
  }

  LogicalResult inlineOne(CallOp call, FuncOp callee) {
    InlinerInterface interface(&getContext());
    InlinerConfig config;
    if (failed(inlineCall(interface, config.getCloneCallback(), call, callee, &callee.getBody())))
      return call.emitOpError() << "cannot be replaced by the body of '" << callee.getName() << "'";
    call.erase();
    return success();
  }

  SymbolTable *symbols = nullptr;
  llvm::DenseSet<Operation *> active, done;
};

} // namespace

} // namespace pellucid::tt
