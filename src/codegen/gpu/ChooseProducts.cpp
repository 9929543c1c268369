// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/Passes.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_CHOOSEPRODUCTS
#include "codegen/gpu/Passes.h.inc"

namespace {

struct ChooseProductsPass : impl::ChooseProductsBase<ChooseProductsPass> {
  using ChooseProductsBase::ChooseProductsBase;

  void runOnOperation() override {
    auto target = TargetAttr::get(&getContext(), sm, warps, stages, mostStages, generationOnly);
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      function->setAttr(targetName, target);
      function.walk([&](tt::DotOp dot) {
        dot->setAttr(unitName, MatrixUnitAttr::get(&getContext(), bestUnit(dot, target)));
      });
    }
  }
};

} // namespace

} // namespace pellucid::ttgpu
