// SPDX-License-Identifier: Apache-2.0
// What a kernel for GPUs is decided to do, beside the tt operations that say what it computes:
// which instructions make a product, what lies in shared memory, what is copied there ahead of its
// use, and where threads wait for each other.
#ifndef PELLUCID_TTGPU
#define PELLUCID_TTGPU

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TtGpu_Dialect : Dialect {
  let name = "ttgpu";
  let cppNamespace = "::pellucid::ttgpu";
  let summary = "decisions of GPU code generation";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

//===--- attributes ---------------------------------------------------------------------------===//

def MatrixUnit : I32EnumAttr<"MatrixUnit", "which instructions make a product",
    [I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Warp", 1, "warp">,
     I32EnumAttrCase<"Warpgroup", 2, "warpgroup">, I32EnumAttrCase<"Lane", 3, "lane">]> {
  let cppNamespace = "::pellucid::ttgpu";
  let genSpecializedAttr = 0;
}
// On a tt.dot: a loop of fused multiply-adds, mma.sync, wgmma, or multiply-adds that each thread does
// on vectors of tiles in shared memory.
def MatrixUnitAttr : EnumAttr<TtGpu_Dialect, MatrixUnit, "unit"> {
  let assemblyFormat = "`<` $value `>`";
}

// On a tt.func: what the kernel is compiled for.
def TargetAttr : AttrDef<TtGpu_Dialect, "Target"> {
  let mnemonic = "target";
  let parameters = (ins "unsigned":$sm, "unsigned":$warps,
      // Rounds of a loop whose copies are under way at the same time, where the loop does not say.
      "unsigned":$stages,
      // Of any loop.
      "unsigned":$mostStages,
      // Instructions that devices of other generations do not have (sm_90a) may be used.
      "bool":$generationOnly);
  let assemblyFormat = "`<` struct(params) `>`";
}

// The encoding of a tile: where its elements live.
def LayoutAttr : AttrDef<TtGpu_Dialect, "Layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "which element of a tile a register of a thread holds";
  let description = [{
    Linear over bits (Layout.h): each bit of a register number, a lane and a warp number stands for
    a point, and the element is the xor of the points of the bits that are set. Example, a row of
    1024 elements on 4 warps, four neighbours to a thread:
    `#ttgpu.layout<registers = [[1], [2], [512]], lanes = [[4], [8], [16], [32], [64]],
    warps = [[128], [256]]>`. A tile without one lies in shared memory alone.
  }];
  // One point after the other.
  let parameters = (ins "unsigned":$rank, ArrayRefParameter<"int32_t">:$registers,
      ArrayRefParameter<"int32_t">:$lanes, ArrayRefParameter<"int32_t">:$warps);
  let hasCustomAssemblyFormat = 1;
}

// One of a function's tensor maps (`ttgpu.tensor_maps`): a tensor in global memory as the copies by
// box see it, which the run time describes to the hardware for each launch.
def TensorMapAttr : AttrDef<TtGpu_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  // Dims from the innermost on, whose stride is 1; sizes and strides count elements. One below zero
  // is that of an argument, -1 - its number; it prints as `argument 3`. `rounds`: copies leave the
  // nearest numbers of tf32.
  let parameters = (ins "unsigned":$argument, "unsigned":$elementBytes, "unsigned":$swizzle,
      ArrayRefParameter<"int64_t">:$sizes, ArrayRefParameter<"int64_t">:$strides,
      ArrayRefParameter<"int64_t">:$box, DefaultValuedParameter<"bool", "false">:$rounds);
  let assemblyFormat = [{
    `<` `argument` `=` $argument `,` `elementBytes` `=` $elementBytes `,` `swizzle` `=` $swizzle
    `,` `sizes` `=` custom<Numbers>($sizes) `,` `strides` `=` custom<Numbers>($strides)
    `,` `box` `=` `[` $box `]` (`,` `rounds` `=` $rounds^)? `>`
  }];
  let genVerifyDecl = 1;
}

//===--- types --------------------------------------------------------------------------------===//

def BarriersType : TypeDef<TtGpu_Dialect, "Barriers"> {
  let mnemonic = "barriers";
  let summary = "barriers in shared memory that copies arrive at (mbarrier)";
  let parameters = (ins "unsigned":$count);
  let assemblyFormat = "`<` $count `>`";
}

def BufferType : TypeDef<TtGpu_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "shared memory for several copies of a tile";
  let description = [{
    Each copy lies in panels of up to 128 bytes a row, swizzled as the matrix units read them
    (SharedTile.h); neighbours in shared memory are neighbours along the dim `along` of the tile.
    Example: `!ttgpu.buffer<3 of tensor<128x64xbf16> along 1>`.
  }];
  let parameters = (ins "unsigned":$copies, "::mlir::RankedTensorType":$tile, "unsigned":$along);
  let assemblyFormat = "`<` $copies `of` $tile `along` $along `>`";
  let genVerifyDecl = 1;
}

def SharedMemoryResource : Resource<"::pellucid::ttgpu::SharedMemory">;
def GlobalMemoryResource : Resource<"::pellucid::tt::GlobalMemory">;
// Copies and products under way: what is queued and what waits keep their order.
def QueueResource : Resource<"::pellucid::ttgpu::Queue">;

def Tile : RankedTensorOf<[AnyType]>;

//===--- operations ---------------------------------------------------------------------------===//

class TtGpuOp<string mnemonic, list<Trait> traits = []> : Op<TtGpu_Dialect, mnemonic, traits>;

def ConvertLayoutOp : TtGpuOp<"convert_layout",
    [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType,
     DeclareOpInterfaceMethods<CastOpInterface>]> {
  let summary = "the same tile in another layout";
  let description = [{
    Where each element stays in its thread, registers are renamed; else the tile goes through shared
    memory.
  }];
  let arguments = (ins Tile:$src);
  let results = (outs Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def AllocSharedOp : TtGpuOp<"alloc_shared", [MemoryEffects<[MemAlloc<SharedMemoryResource>]>]> {
  let summary = "shared memory for as long as the operations that use it run";
  let results = (outs BufferType:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
}

def FreeSharedOp : TtGpuOp<"free_shared", [MemoryEffects<[MemFree<SharedMemoryResource>]>]> {
  let summary = "buffers that nothing uses from here on";
  let arguments = (ins Variadic<BufferType>:$buffers);
  let assemblyFormat = "$buffers attr-dict `:` type($buffers)";
}

def ShareOp : TtGpuOp<"share", [MemoryEffects<[MemWrite<SharedMemoryResource>]>]> {
  let summary = "writes a tile to the first copy of a buffer";
  let arguments = (ins Tile:$tile, BufferType:$buffer);
  let assemblyFormat = "$tile `,` $buffer attr-dict `:` type($tile) `,` type($buffer)";
  let hasVerifier = 1;
}

def ReadSharedOp : TtGpuOp<"read_shared", [MemoryEffects<[MemRead<SharedMemoryResource>]>]> {
  let summary = "the tile that lies in one copy of a buffer";
  let description = [{
    A product by matrix units reads it where it lies; every other user gets it in registers.
  }];
  let arguments = (ins BufferType:$buffer, I32:$copy);
  let results = (outs Tile:$tile);
  let assemblyFormat = "$buffer `[` $copy `]` attr-dict `:` type($buffer) `->` type($tile)";
  let hasVerifier = 1;
}

def AsyncCopyOp : TtGpuOp<"async_copy",
    [AttrSizedOperandSegments,
     MemoryEffects<[MemRead<GlobalMemoryResource>, MemWrite<SharedMemoryResource>,
                    MemWrite<QueueResource>]>]> {
  let summary = "starts to copy a tile from global to shared memory (cp.async)";
  let description = [{
    Elements that are masked off become zero. Where `comes` is false, all of them are.
  }];
  let arguments = (ins Tile:$ptr, BufferType:$buffer, I32:$copy, Optional<I1>:$comes,
      Optional<Tile>:$mask);
  let assemblyFormat = [{
    $ptr `to` $buffer `[` $copy `]` (`if` $comes^)? (`mask` $mask^ `:` type($mask))?
    attr-dict `:` type($ptr) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def CommitCopiesOp : TtGpuOp<"commit_copies", [MemoryEffects<[MemWrite<QueueResource>]>]> {
  let summary = "makes a group of the copies that were started since the last one";
  let assemblyFormat = "attr-dict";
}

def AwaitCopiesOp : TtGpuOp<"await_copies",
    [MemoryEffects<[MemWrite<QueueResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "waits until only so many groups of copies are under way";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def AllocBarriersOp : TtGpuOp<"alloc_barriers",
    [MemoryEffects<[MemAlloc<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "barriers for copies by box; all threads see them, and copies what was in memory";
  let results = (outs BarriersType:$barriers);
  let assemblyFormat = "attr-dict `:` type($barriers)";
}

def FreeBarriersOp : TtGpuOp<"free_barriers",
    [MemoryEffects<[MemFree<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "ends barriers that no thread waits at from here on";
  let arguments = (ins BarriersType:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` type($barriers)";
}

def ExpectCopiesOp : TtGpuOp<"expect_copies", [MemoryEffects<[MemWrite<QueueResource>]>]> {
  let summary = "says how many bytes of copies by box a barrier's next phase waits for";
  let arguments = (ins BarriersType:$barriers, I32:$number, I1:$comes, I32Attr:$bytes);
  let assemblyFormat = [{
    $bytes `at` $barriers `[` $number `]` `if` $comes attr-dict `:` type($barriers)
  }];
}

def TensorCopyOp : TtGpuOp<"tensor_copy",
    [MemoryEffects<[MemRead<GlobalMemoryResource>, MemWrite<SharedMemoryResource>,
                    MemWrite<QueueResource>]>]> {
  let summary = "starts to copy a tile of a tensor to shared memory (cp.async.bulk.tensor)";
  let description = [{
    `map` is one of the function's `ttgpu.tensor_maps`; `at` has the place of the tile's first
    element along each of its dims. Elements outside of the tensor become zero. Where `comes` is
    false, nothing is copied.
  }];
  let arguments = (ins I32Attr:$map, Variadic<I32>:$at, BufferType:$buffer, I32:$copy, I1:$comes,
      BarriersType:$barriers, I32:$number);
  let assemblyFormat = [{
    $map `at` `[` $at `]` `to` $buffer `[` $copy `]` `if` $comes
    `signals` $barriers `[` $number `]` attr-dict `:` type($buffer) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def AwaitTensorCopiesOp : TtGpuOp<"await_tensor_copies",
    [MemoryEffects<[MemWrite<QueueResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "waits until the copies of a barrier's phase are there";
  let description = "Phases are 0, 1, 0, … from where the barriers are made.";
  let arguments = (ins BarriersType:$barriers, I32:$number, I32:$phase);
  let assemblyFormat = "$barriers `[` $number `]` `phase` $phase attr-dict `:` type($barriers)";
}

def BarrierOp : TtGpuOp<"barrier",
    [MemoryEffects<[MemWrite<SharedMemoryResource>, MemWrite<GlobalMemoryResource>]>]> {
  let summary = "threads of the block wait for each other, and see what the others wrote";
  let assemblyFormat = "attr-dict";
}

def AwaitProductsOp : TtGpuOp<"await_products",
    [AllTypesMatch<["running", "sums"]>, MemoryEffects<[MemWrite<QueueResource>]>]> {
  let summary = "waits until only so many products by warpgroups are under way";
  let description = "The result is what the awaited product has made.";
  let arguments = (ins Tile:$running, I32Attr:$pending);
  let results = (outs Tile:$sums);
  let assemblyFormat = "$running `,` $pending attr-dict `:` type($running)";
}

def ReleaseOperandsOp : TtGpuOp<"release_operands", [MemoryEffects<[MemWrite<QueueResource>]>]> {
  let summary = "waits until only the last products by warpgroups may still read shared memory";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif
