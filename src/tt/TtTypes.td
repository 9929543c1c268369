// SPDX-License-Identifier: Apache-2.0
#ifndef PELLUCID_TT_TYPES
#define PELLUCID_TT_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "tt/TtDialect.td"

def Tt_PointerType : TypeDef<Tt_Dialect, "Pointer"> {
  let mnemonic = "ptr";
  let summary = "address of a scalar in an address space, or of a tile (a block pointer)";
  let parameters = (ins "::mlir::Type":$pointeeType,
      DefaultValuedParameter<"int", "1">:$addressSpace);
  let builders = [TypeBuilderWithInferredContext<
      (ins "::mlir::Type":$pointeeType, CArg<"int", "1">:$addressSpace), [{
    return $_get(pointeeType.getContext(), pointeeType, addressSpace);
  }]>];
  let assemblyFormat = "`<` $pointeeType (`,` $addressSpace^)? `>`";
  let genVerifyDecl = 1;
}

def Tt_TensorDescType : TypeDef<Tt_Dialect, "TensorDesc"> {
  let mnemonic = "tensordesc";
  let summary = "descriptor of a strided tensor in memory that is moved block by block";
  let parameters = (ins "::mlir::RankedTensorType":$blockType);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$blockType), [{
    return $_get(blockType.getContext(), blockType);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getShape() const { return getBlockType().getShape(); }
    ::mlir::Type getElementType() const { return getBlockType().getElementType(); }
  }];
}

class PointerWhere<string predicate, string text>
    : DialectType<Tt_Dialect, CPred<"::pellucid::tt::"#predicate#"($_self)">, text,
                  "::pellucid::tt::PointerType">;
def Ptr : PointerWhere<"isScalarPointer", "pointer to a scalar">;
def BlockPtr : PointerWhere<"isBlockPointer", "block pointer">;

def Float
    : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16, F32, F64],
                "float">;
def Int : AnyTypeOf<[I1, I<4>, I8, I16, I32, I64], "integer">;

def FloatTile : RankedTensorOf<[Float]>;
def IntTile : RankedTensorOf<[Int]>;
def BoolTile : RankedTensorOf<[I1]>;
def PtrTile : RankedTensorOf<[Ptr]>;
def NumberTile : RankedTensorOf<[Float, Int]>;
def AnyTile : RankedTensorOf<[Float, Int, Ptr]>;

def FloatData : AnyTypeOf<[Float, FloatTile], "float or tile of floats">;
def IntData : AnyTypeOf<[Int, IntTile], "integer or tile of integers">;
def BoolData : AnyTypeOf<[I1, BoolTile], "i1 or tile of i1">;
def I64Data : AnyTypeOf<[I64, RankedTensorOf<[I64]>], "i64 or tile of i64">;
def PtrData : AnyTypeOf<[Ptr, PtrTile], "pointer or tile of pointers">;
def AnyData : AnyTypeOf<[Float, Int, Ptr, BlockPtr, AnyTile], "scalar, tile or pointer">;

#endif
