// SPDX-License-Identifier: Apache-2.0
#ifndef PELLUCID_PASSES_TT
#define PELLUCID_PASSES_TT

include "mlir/Pass/PassBase.td"

def LiftControlFlow : Pass<"tt-lift-control-flow", "::mlir::ModuleOp"> {
  let summary =
      "turns branches between blocks, which early returns leave behind, into scf operations";
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::ub::UBDialect"];
}

def InlineCalls : Pass<"tt-inline-calls", "::mlir::ModuleOp"> {
  let summary =
      "puts the body of every called function in place of its calls and drops helpers nobody calls";
  let description = "Functions must have one block (tt-lift-control-flow). Recursion is an error.";
}

def RewriteBlockPointers : Pass<"tt-rewrite-block-pointers", "::mlir::ModuleOp"> {
  let summary = "replaces block pointers by tiles of pointers with masks";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect"];
}

def RewriteDescriptors : Pass<"tt-rewrite-descriptors", "::mlir::ModuleOp"> {
  let summary = "replaces tensor descriptors by tiles of pointers with masks";
  let description = [{
    A descriptor that is an argument of a kernel becomes several arguments: base, sizes, strides
    (i64) and whether it pads with NaN (i1), each with `pellucid.descriptor = {argument, part, dim}`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect"];
}

def DecomposeScaledDots : Pass<"tt-decompose-scaled-dots", "::mlir::ModuleOp"> {
  let summary = "turns dots of microscaled operands into dots of f32 tiles";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ScalarizeCarriedOffsets : Pass<"tt-scalarize-carried-offsets", "::mlir::ModuleOp"> {
  let summary =
      "carries one scalar where a loop carries a tile that moves by the same amount everywhere";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FoldSpecialization : Pass<"tt-fold-specialization", "::mlir::ModuleOp"> {
  let summary = "uses what is known of the arguments of a kernel";
  let description = [{
    `pellucid.constant = C` on an argument replaces its uses by C; `tt.divisibility = D` on an
    integer folds remainders by divisors of D.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AnnotateAxisInfo : Pass<"tt-annotate-axis-info", "::mlir::ModuleOp"> {
  let summary = "writes what the axis analysis knows of integers and pointers beside them";
  let description = [{
    `pellucid.axis_info` on an operation has a text per result, and `pellucid.axis_info_arguments`
    on a loop one per argument of its body. For people and tests; nothing reads them.
  }];
}

#endif
