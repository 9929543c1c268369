// SPDX-License-Identifier: Apache-2.0
#ifndef PELLUCID_TT_OPS
#define PELLUCID_TT_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tt/TtAttributes.td"
include "tt/TtTypes.td"

// The memory behind pointers and descriptors; the only resource kernels share.
def GlobalMemory : Resource<"::pellucid::tt::GlobalMemory">;

class TtOp<string mnemonic, list<Trait> traits = []> : Op<Tt_Dialect, mnemonic, traits>;

// An element of the result depends on the same element of every operand.
class ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : TtOp<mnemonic, !listconcat(traits, [Elementwise, SameOperandsAndResultShape, Pure])>;

defvar memoryOpMethods = [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>];

//===--- casts --------------------------------------------------------------------------------===//

class CastLike<string mnemonic> : ElementwiseOp<mnemonic> {
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def IntToPtrOp : CastLike<"int_to_ptr"> {
  let arguments = (ins I64Data:$src);
  let results = (outs PtrData:$result);
}

def PtrToIntOp : CastLike<"ptr_to_int"> {
  let arguments = (ins PtrData:$src);
  let results = (outs I64Data:$result);
}

def BitcastOp : CastLike<"bitcast"> {
  let summary = "reads the same bits as another type; also between pointer types";
  let arguments = (ins AnyData:$src);
  let results = (outs AnyData:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def FpToFpOp : ElementwiseOp<"fp_to_fp"> {
  let summary =
      "converts between float types where arith's casts do not reach: fp8, and explicit rounding";
  let arguments = (ins FloatData:$src, OptionalAttr<RoundingModeAttr>:$rounding);
  let results = (outs FloatData:$result);
  let assemblyFormat =
      "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

//===--- arithmetic that arith and math lack --------------------------------------------------===//

class SameTypeOp<string mnemonic> : TtOp<mnemonic, [Elementwise, SameOperandsAndResultType, Pure]>;

def ClampFOp : SameTypeOp<"clampf"> {
  let arguments = (ins FloatData:$x, FloatData:$min, FloatData:$max,
      PropagateNanAttr:$propagateNan);
  let results = (outs FloatData:$result);
  let assemblyFormat =
      "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}

def PreciseSqrtOp : SameTypeOp<"precise_sqrt"> {
  let summary = "square root rounded to nearest, whatever approximations are allowed elsewhere";
  let arguments = (ins FloatData:$x);
  let results = (outs FloatData:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class BinaryLike<string mnemonic, Type type> : SameTypeOp<mnemonic> {
  let arguments = (ins type:$x, type:$y);
  let results = (outs type:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def PreciseDivFOp : BinaryLike<"precise_divf", FloatData> {
  let summary = "division rounded to nearest";
}
def ApproxDivFOp : BinaryLike<"approx_divf", FloatData> {
  let summary = "division that may be 2 ulp off (Triton 3.9 and later)";
}
def MulhiUIOp : BinaryLike<"mulhiui", IntData> {
  let summary = "upper half of the unsigned product";
}

//===--- pointers -----------------------------------------------------------------------------===//

def AddPtrOp : ElementwiseOp<"addptr", [AllTypesMatch<["ptr", "result"]>]> {
  let summary = "adds an offset counted in elements";
  let arguments = (ins PtrData:$ptr, IntData:$offset);
  let results = (outs PtrData:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def MakeTensorPtrOp
    : TtOp<"make_tensor_ptr", [Pure, SameVariadicOperandSize,
                               TypesMatchWith<"base points to the elements of the block", "result",
                                              "base", "basePointerOf($_self)">]> {
  let summary = "block pointer to a tile of a strided tensor";
  let arguments = (ins Ptr:$base, Variadic<I64>:$shape, Variadic<I64>:$strides,
      Variadic<I32>:$offsets, DenseI32ArrayAttr:$order);
  let results = (outs BlockPtr:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$base, "::mlir::ValueRange":$shape,
      "::mlir::ValueRange":$strides, "::mlir::ValueRange":$offsets,
      "::llvm::ArrayRef<int32_t>":$tileShape, "::llvm::ArrayRef<int32_t>":$order)>];
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

def AdvanceOp : TtOp<"advance", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let arguments = (ins BlockPtr:$ptr, Variadic<I32>:$offsets);
  let results = (outs BlockPtr:$result);
  let assemblyFormat = "$ptr `,` `[` $offsets `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def MakeTensorDescOp : TtOp<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let arguments = (ins Ptr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
      DefaultValuedAttr<PaddingOptionAttr, "::pellucid::tt::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs Tt_TensorDescType:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$base, "::mlir::ValueRange":$shape,
      "::mlir::ValueRange":$strides, "::llvm::ArrayRef<int64_t>":$blockShape,
      CArg<"PaddingOption", "PaddingOption::PAD_ZERO">:$padding)>];
  let assemblyFormat =
      "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)";
  let hasVerifier = 1;
}

//===--- memory -------------------------------------------------------------------------------===//

defvar defaultCache = "::pellucid::tt::CacheModifier::NONE";
defvar defaultEviction = "::pellucid::tt::EvictionPolicy::NORMAL";

def LoadOp : TtOp<"load", !listconcat(memoryOpMethods, [AttrSizedOperandSegments])> {
  let summary = "loads through a pointer, a tile of pointers or a block pointer";
  let arguments = (ins AnyTypeOf<[PtrData, BlockPtr]>:$ptr, Optional<BoolData>:$mask,
      Optional<AnyData>:$other,
      DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
      OptionalAttr<PaddingOptionAttr>:$padding,
      DefaultValuedAttr<CacheModifierAttr, defaultCache>:$cache,
      DefaultValuedAttr<EvictionPolicyAttr, defaultEviction>:$evict,
      DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs AnyData:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, CArg<"::mlir::Value", "{}">:$mask,
                      CArg<"::mlir::Value", "{}">:$other,
                      CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                      CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict,
                      CArg<"bool", "false">:$isVolatile)>,
                  // Through a block pointer.
                  OpBuilder<(ins "::mlir::Value":$ptr, "::llvm::ArrayRef<int32_t>":$boundaryCheck,
                      "::std::optional<PaddingOption>":$padding,
                      CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                      CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict,
                      CArg<"bool", "false">:$isVolatile)>];
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` $other^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:`
    custom<LoadTypes>(ref($mask), ref($other), type($ptr), type($mask), type($other), type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def StoreOp : TtOp<"store", memoryOpMethods> {
  let arguments = (ins AnyTypeOf<[PtrData, BlockPtr]>:$ptr, AnyData:$value,
      Optional<BoolData>:$mask,
      DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
      DefaultValuedAttr<CacheModifierAttr, defaultCache>:$cache,
      DefaultValuedAttr<EvictionPolicyAttr, defaultEviction>:$evict);
  // (ptr, value, mask) is generated.
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value),
                            "build($_builder, $_state, ptr, value, ::mlir::Value{});">,
                  OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value,
                      "::mlir::Value":$mask, "CacheModifier":$cache, "EvictionPolicy":$evict)>,
                  // Through a block pointer.
                  OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value,
                      "::llvm::ArrayRef<int32_t>":$boundaryCheck,
                      CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                      CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict)>];
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` custom<StoreTypes>(ref($mask), type($ptr), type($value), type($mask))
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def AtomicRMWOp : TtOp<"atomic_rmw", memoryOpMethods> {
  let summary = "replaces each element by op(element, val) atomically; returns what was there";
  let arguments = (ins RMWOpAttr:$atomic_rmw_op, PtrData:$ptr, AnyData:$val,
      Optional<BoolData>:$mask, MemSemanticAttr:$sem, MemSyncScopeAttr:$scope);
  let results = (outs AnyData:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def AtomicCASOp : TtOp<"atomic_cas", memoryOpMethods> {
  let summary = "stores val where the element equals cmp, atomically; returns what was there";
  let arguments = (ins PtrData:$ptr, AnyData:$cmp, AnyData:$val, MemSemanticAttr:$sem,
      MemSyncScopeAttr:$scope);
  let results = (outs AnyData:$result);
  let assemblyFormat =
      "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

// Triton 3.9 and later.
def AtomicLoadOp : TtOp<"atomic_load", memoryOpMethods> {
  let arguments = (ins MemSemanticAttr:$sem, MemSyncScopeAttr:$scope, PtrData:$ptr,
      Optional<BoolData>:$mask);
  let results = (outs AnyData:$result);
  let assemblyFormat =
      "$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

// Triton 3.9 and later.
def AtomicStoreOp : TtOp<"atomic_store", memoryOpMethods> {
  let arguments = (ins MemSemanticAttr:$sem, MemSyncScopeAttr:$scope, PtrData:$ptr, AnyData:$value,
      Optional<BoolData>:$mask);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:`
    custom<StoreTypes>(ref($mask), type($ptr), type($value), type($mask))
  }];
  let hasVerifier = 1;
}

// Triton 3.9 and later.
def AtomicPollOp : TtOp<"atomic_poll", memoryOpMethods> {
  let summary =
      "waits until each element equals expected, or gives false after timeout_ns nanoseconds";
  let arguments = (ins MemSemanticAttr:$sem, MemSyncScopeAttr:$scope, PtrData:$ptr,
      IntData:$expected, Optional<I64>:$timeout_ns);
  let results = (outs BoolData:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout_ns^)? attr-dict `:`
    type($ptr) `,` type($expected)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def DescriptorLoadOp : TtOp<"descriptor_load", memoryOpMethods> {
  let arguments = (ins Tt_TensorDescType:$desc, Variadic<I32>:$indices,
      DefaultValuedAttr<CacheModifierAttr, defaultCache>:$cache,
      DefaultValuedAttr<EvictionPolicyAttr, defaultEviction>:$evict);
  let results = (outs AnyTile:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def DescriptorStoreOp : TtOp<"descriptor_store", memoryOpMethods> {
  let arguments = (ins Tt_TensorDescType:$desc, AnyTile:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def DescriptorReduceOp : TtOp<"descriptor_reduce", memoryOpMethods> {
  let summary = "combines a block into memory element by element, atomically";
  let arguments = (ins DescriptorReduceKindAttr:$kind, Tt_TensorDescType:$desc, AnyTile:$src,
      Variadic<I32>:$indices);
  let assemblyFormat = [{
    $kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def DescriptorGatherOp : TtOp<"descriptor_gather", memoryOpMethods> {
  let summary = "loads one row per element of x_offsets";
  let arguments = (ins Tt_TensorDescType:$desc, RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset);
  let results = (outs AnyTile:$result);
  let assemblyFormat =
      "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DescriptorScatterOp : TtOp<"descriptor_scatter", memoryOpMethods> {
  let summary = "stores one row per element of x_offsets";
  let arguments = (ins Tt_TensorDescType:$desc, RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset,
      AnyTile:$src);
  let assemblyFormat =
      "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

//===--- shapes -------------------------------------------------------------------------------===//

class ShapeOp<string mnemonic, list<Trait> traits = []>
    : TtOp<mnemonic, !listconcat(traits, [Pure, SameOperandsAndResultElementType])> {
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def SplatOp : ShapeOp<"splat"> {
  let arguments = (ins AnyData:$src);
  let results = (outs AnyTile:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def UnsplatOp : TtOp<"unsplat", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the only element of a tile of one element";
  let arguments = (ins AnyTile:$src);
  let results = (outs AnyData:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
}

def ExpandDimsOp : ShapeOp<"expand_dims"> {
  let arguments = (ins AnyTile:$src, I32Attr:$axis);
  let results = (outs AnyTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "int":$axis)>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def ReshapeOp : ShapeOp<"reshape"> {
  let arguments = (ins AnyTile:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs AnyTile:$result);
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Value":$src,
      CArg<"bool", "false">:$allowReorder)>];
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:`
    type($src) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def BroadcastOp : ShapeOp<"broadcast"> {
  let arguments = (ins AnyTile:$src);
  let results = (outs AnyTile:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def TransOp : ShapeOp<"trans"> {
  let summary = "permutes dimensions: result dim i is source dim order[i]";
  let arguments = (ins AnyTile:$src, DenseI32ArrayAttr:$order);
  let results = (outs AnyTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int32_t>":$order)>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CatOp : TtOp<"cat", [Pure, SameTypeOperands, SameOperandsAndResultElementType]> {
  let summary = "concatenates; the order of the elements is not promised";
  let arguments = (ins AnyTile:$lhs, AnyTile:$rhs);
  let results = (outs AnyTile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def JoinOp : TtOp<"join", [Pure, SameTypeOperands]> {
  let summary = "interleaves two tiles along a new last dimension of size 2";
  let arguments = (ins AnyTile:$lhs, AnyTile:$rhs);
  let results = (outs AnyTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def SplitOp : TtOp<"split", [Pure, AllTypesMatch<["outLHS", "outRHS"]>]> {
  let arguments = (ins AnyTile:$src);
  let results = (outs AnyTile:$outLHS, AnyTile:$outRHS);
  let builders = [OpBuilder<(ins "::mlir::Value":$src)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
}

def GatherOp : TtOp<"gather", [Pure]> {
  let summary = "result[i..] = src[i.. with dim axis replaced by indices[i..]]";
  let arguments = (ins AnyTile:$src, IntTile:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs AnyTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$indices, "int":$axis)>];
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def HistogramOp : TtOp<"histogram", [Pure]> {
  let summary = "counts per value; bin i counts elements equal to i";
  let arguments = (ins IntTile:$src, Optional<BoolTile>:$mask);
  let results = (outs IntTile:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` custom<HistogramTypes>(ref($mask), "
                       "type($src), type($mask)) `->` type($result)";
  let hasVerifier = 1;
}

def DistributeOp : TtOp<"distribute", [Pure]> {
  let summary = "src in ascending order of digits, equal ones as they stood; counts of each digit";
  let arguments = (ins AnyTile:$src, IntTile:$digits);
  let results = (outs AnyTile:$result, IntTile:$counts);
  let assemblyFormat = "$src `by` $digits attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- grid and ranges ----------------------------------------------------------------------===//

class GridOp<string mnemonic> : TtOp<mnemonic, [Pure]> {
  let arguments = (ins ProgramIDDimAttr:$axis);
  let results = (outs I32:$result);
  let builders = [OpBuilder<(ins "int":$axis), [{
    build($_builder, $_state, $_builder.getI32Type(),
          ProgramIDDimAttr::get($_builder.getContext(), static_cast<ProgramIDDim>(axis)));
  }]>];
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let extraClassDeclaration = "int getAxisAsInt() { return static_cast<int>(getAxis()); }";
}
def GetProgramIdOp : GridOp<"get_program_id">;
def GetNumProgramsOp : GridOp<"get_num_programs">;

def MakeRangeOp : TtOp<"make_range", [Pure]> {
  let summary = "start, start + 1, ..., end - 1";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let builders = [OpBuilder<(ins "int":$start, "int":$end)>];
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    int64_t getFirst() { return getStartAttr().getInt(); }
    int64_t getLimit() { return getEndAttr().getInt(); }
  }];
}

//===--- dot ----------------------------------------------------------------------------------===//

def DotOp : TtOp<"dot", [Pure, AllTypesMatch<["c", "d"]>]> {
  let summary = "d = a * b + c over the last two dimensions";
  let arguments = (ins NumberTile:$a, NumberTile:$b, NumberTile:$c,
      DefaultValuedAttr<InputPrecisionAttr, "::pellucid::tt::InputPrecision::IEEE">:$inputPrecision,
      DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs NumberTile:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
    type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}

def DotScaledOp : TtOp<"dot_scaled", [Pure, AttrSizedOperandSegments, AllTypesMatch<["c", "d"]>]> {
  let summary =
      "dot of microscaled operands: one scale per group of elements along the inner dimension";
  let arguments = (ins RankedTensorOf<[Float, I8]>:$a, RankedTensorOf<[Float, I8]>:$b, FloatTile:$c,
      Optional<RankedTensorOf<[Float, I8]>>:$a_scale,
      Optional<RankedTensorOf<[Float, I8]>>:$b_scale, ScaleDotElemTypeAttr:$a_elem_type,
      ScaleDotElemTypeAttr:$b_elem_type, BoolAttr:$fastMath,
      DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
      DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs FloatTile:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c
    `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict
    `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
  let hasVerifier = 1;
}

//===--- operations with a combining region ---------------------------------------------------===//

// Written in MLIR's generic form, as Triton does. Effects and speculatability are those of the
// region.
class RegionTileOp<string mnemonic, list<Trait> traits = []>
    : TtOp<mnemonic,
           !listconcat(traits, [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable])>;

class RegionReturn<string mnemonic, string parent>
    : TtOp<mnemonic, [HasParent<parent>, Pure, Terminator, ReturnLike]> {
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def ReduceOp : RegionTileOp<"reduce"> {
  let arguments = (ins Variadic<AnyTile>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<AnyData>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  // The region is left empty, for the caller to fill.
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def ReduceReturnOp : RegionReturn<"reduce.return", "ReduceOp">;

def ScanOp : RegionTileOp<"scan"> {
  let arguments = (ins Variadic<AnyTile>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<AnyTile>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  // The region is left empty, for the caller to fill.
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis, "bool":$reverse)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def ScanReturnOp : RegionReturn<"scan.return", "ScanOp">;

def MapElementwiseOp : TtOp<"map_elementwise", [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "runs a scalar region once per group of `pack` elements";
  let arguments = (ins Variadic<AnyTile>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<AnyTile>:$result);
  let regions = (region AnyRegion:$scalarOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def MapElementwiseReturnOp : RegionReturn<"map_elementwise.return", "MapElementwiseOp">;

//===--- foreign code, printing, assertions ---------------------------------------------------===//

defvar foreignTraits = [Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                        DeclareOpInterfaceMethods<ConditionallySpeculatable>];

def ExternElementwiseOp : TtOp<"extern_elementwise", foreignTraits> {
  let summary = "calls a function of a device library on every element";
  let arguments = (ins Variadic<AnyData>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol,
      BoolAttr:$pure);
  let results = (outs AnyData:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}

def ElementwiseInlineAsmOp : TtOp<"elementwise_inline_asm", foreignTraits> {
  let summary = "runs assembly on groups of `packed_element` elements";
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure,
      I32Attr:$packed_element, Variadic<AnyData>:$args);
  let results = (outs Variadic<AnyData>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
  let hasVerifier = 1;
}

def PrintOp : TtOp<"print", memoryOpMethods> {
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<AnyData>:$args,
      DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}

def AssertOp : TtOp<"assert", memoryOpMethods> {
  let arguments = (ins BoolData:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

// Programmatic dependent launch, Triton 3.9 and later: nothing to do where kernels run one after
// another.
def GridDependencyWaitOp : TtOp<"grid_dependency_wait", memoryOpMethods> {
  let assemblyFormat = "attr-dict";
}
def GridDependencyLaunchDependentsOp : TtOp<"grid_dependency_launch_dependents", memoryOpMethods> {
  let assemblyFormat = "attr-dict";
}

//===--- functions ----------------------------------------------------------------------------===//

def FuncOp
    : TtOp<"func", [AffineScope, AutomaticAllocationScope, CallableOpInterface, FunctionOpInterface,
                    IsolatedFromAbove, OpAsmOpInterface, HasParent<"::mlir::ModuleOp">]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
      OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attrs,
      CArg<"::llvm::ArrayRef<::mlir::DictionaryAttr>", "{}">:$argAttrs)>];
  let extraClassDeclaration = [{
    /// A kernel is a public function; helpers are private.
    bool isKernel() { return !isExternal() && isPublic(); }
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getCallableResults() { return getFunctionType().getResults(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool isDeclaration() { return isExternal(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

def ReturnOp : TtOp<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$srcs);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange{});">];
  let assemblyFormat = "attr-dict ($srcs^ `:` type($srcs))?";
  let hasVerifier = 1;
}

def CallOp : TtOp<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
      OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let builders = [OpBuilder<(ins "FuncOp":$callee, CArg<"::mlir::ValueRange", "{}">:$operands), [{
    $_state.addOperands(operands);
    $_state.addAttribute("callee", ::mlir::SymbolRefAttr::get(callee));
    $_state.addTypes(callee.getFunctionType().getResults());
  }]>];
  let assemblyFormat =
      "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return (*this)->getAttrOfType<::mlir::SymbolRefAttr>("callee");
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      (*this)->setAttr("callee", ::llvm::cast<::mlir::SymbolRefAttr>(callee));
    }
  }];
}

//===--- borrowed names -----------------------------------------------------------------------===//

// `gpu.barrier`: all threads of a program have done the memory accesses before it. One program is
// one thread of control in this dialect, so it only orders memory.
def BarrierOp : Op<Gpu_Dialect, "barrier", memoryOpMethods> { let assemblyFormat = "attr-dict"; }

// Triton 3.9's spelling of it; parseTtir replaces it by gpu.barrier.
def TtgBarrierOp : Op<Ttg_Dialect, "barrier", memoryOpMethods> {
  let assemblyFormat = "`all` attr-dict";
}

def AssumeOp : Op<Llvm_Dialect, "intr.assume", memoryOpMethods> {
  let summary = "undefined unless the condition holds: a promise of the user, from tl.assume";
  let arguments = (ins I1:$cond);
  let assemblyFormat = "$cond attr-dict `:` type($cond)";
}

#endif
