// SPDX-License-Identifier: Apache-2.0
#ifndef PELLUCID_PASSES_TTGPU
#define PELLUCID_PASSES_TTGPU

include "mlir/Pass/PassBase.td"

def ChooseProducts : Pass<"ttgpu-choose-products", "::mlir::ModuleOp"> {
  let summary = "decides for each tt.dot which instructions make it";
  let description = [{
    Writes what the kernel is compiled for on the function (`ttgpu.target`), where the other passes
    read it, and the unit on each product (`ttgpu.unit`).
  }];
  let dependentDialects = ["::pellucid::ttgpu::TtGpuDialect"];
  let options =
      [Option<"sm", "sm", "unsigned", "90", "compute capability, 80 for sm_80">,
       Option<"warps", "warps", "unsigned", "4", "warps of a program">,
       Option<"stages", "stages", "unsigned", "3",
              "rounds of a loop whose copies are under way at the same time">,
       Option<"mostStages", "most-stages", "unsigned", "8", "of any loop">,
       Option<"generationOnly", "generation-only", "bool", "false",
              "instructions that devices of other generations do not have may be used">,
       Option<"tensorCopies", "tensor-copies", "bool", "false",
              "tiles of tensors may be copied by box, where such instructions may be used">];
}

def NarrowArithmetic : Pass<"ttgpu-narrow-arithmetic", "::mlir::ModuleOp"> {
  let summary = "computes in 16 bits what is computed of 16-bit floats in f32 and rounded at once";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def UnwrapRanges : Pass<"ttgpu-unwrap-ranges", "::mlir::ModuleOp"> {
  let summary = "takes the first of a tile's rows modulo the size where all of them wrap together";
  let description = "In functions whose tiles may be copied by box, which wrapping rows are not.";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pellucid::tt::TtDialect"];
}

def AccumulateProducts : Pass<"ttgpu-accumulate-products", "::mlir::ModuleOp"> {
  let summary = "starts a product by matrix units from what its result is added to";
}

def RestartSums : Pass<"ttgpu-restart-sums", "::mlir::ModuleOp"> {
  let summary = "lets a product by warpgroups begin anew where a loop had set its sum to zero";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CountRounds : Pass<"ttgpu-count-rounds", "::mlir::ModuleOp"> {
  let summary = "gives loops over a group a known number of rounds, which are written side by side";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FlattenBranches : Pass<"ttgpu-flatten-branches", "::mlir::ModuleOp"> {
  let summary = "makes stores under a condition of a loop's branches that only store a few elements";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pellucid::tt::TtDialect"];
}

def PipelineLoops : Pass<"ttgpu-pipeline-loops", "::mlir::ModuleOp"> {
  let summary = "copies what products read to shared memory, some rounds ahead of the product";
  let description = [{
    A loop whose products are made by matrix units gets its tiles by asynchronous copies: those of
    the first rounds stand before the loop, and each round starts the copies of a later one. The
    addresses of that round come from a second copy of the operations that compute them.
  }];
  let dependentDialects = ["::pellucid::ttgpu::TtGpuDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ChooseLayouts : Pass<"ttgpu-choose-layouts", "::mlir::ModuleOp"> {
  let summary = "gives every tile the layout that its elements have over registers, lanes and warps";
  let description = [{
    Operations that only compute are repeated for each layout in which their result is used; other
    tiles have one, and `ttgpu.convert_layout` stands where another is needed. A tile without a
    layout lies in shared memory alone.
  }];
  let dependentDialects = ["::pellucid::ttgpu::TtGpuDialect"];
}

def AllocateShared : Pass<"ttgpu-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "gives buffers and exchanges their places in shared memory";
  let description = [{
    Writes `ttgpu.offset` on each of them and `ttgpu.shared_bytes` on the function.
  }];
}

def InsertBarriers : Pass<"ttgpu-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "puts a barrier before an access that another thread's may meet";
  let dependentDialects = ["::pellucid::ttgpu::TtGpuDialect"];
}

def DependOnLaunches : Pass<"ttgpu-depend-on-launches", "::mlir::ModuleOp"> {
  let summary = "lets launches be queued before the ones ahead of them have ended";
  let description = [{
    From sm_90 on, a kernel that loops, reduces or scans and does not multiply begins by letting the
    next launch be placed and by waiting for the one ahead (`tt.grid_dependency_launch_dependents`,
    `tt.grid_dependency_wait`), and its function says so: `ttgpu.dependent_launch`. Waits of a
    kernel's own are dropped: they are nothing then, and nothing where launches come in turn.
  }];
}

#endif
