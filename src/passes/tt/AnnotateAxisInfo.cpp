// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Passes.h"
#include "tt/AxisInfo.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_ANNOTATEAXISINFO
#include "passes/tt/Passes.h.inc"

namespace {

struct AnnotateAxisInfoPass : impl::AnnotateAxisInfoBase<AnnotateAxisInfoPass> {
  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>())
      if (!function.isExternal())
        annotate(function);
  }

  void annotate(FuncOp function) {
    AxisAnalysis axes(function);
    Builder builder(&getContext());
    auto texts = [&](ValueRange values) {
      SmallVector<Attribute> list;
      for (Value value : values)
        list.push_back(builder.getStringAttr(axes.of(value).text()));
      return builder.getArrayAttr(list);
    };
    SmallVector<std::tuple<Operation *, StringRef, ArrayAttr>> found;
    function.walk([&](Operation *op) {
      if (op != function && op->getNumResults() != 0)
        found.emplace_back(op, "pellucid.axis_info", texts(op->getResults()));
      if (auto loop = dyn_cast<scf::ForOp>(op))
        found.emplace_back(op, "pellucid.axis_info_arguments",
                           texts(loop.getBody()->getArguments()));
    });
    for (auto &[op, name, info] : found)
      op->setDiscardableAttr(name, info);
  }
};

} // namespace

} // namespace pellucid::tt
