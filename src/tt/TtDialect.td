// SPDX-License-Identifier: Apache-2.0
#ifndef PELLUCID_TT_DIALECT
#define PELLUCID_TT_DIALECT

include "mlir/IR/DialectBase.td"

def Tt_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::pellucid::tt";
  let summary = "Triton kernels: tiles of values, pointers to them, and the program grid";
  let description = [{
    Text-compatible with Triton's TTIR (docs/spec/ttir-versions.md). Operations are specified in
    docs/spec/tt.md; the
    labels there (`dot_c2`) return in the verifiers and in the names of their tests.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// The spelling that types are printed with; changed by printTtir, for the length of one call.
    TtirVersion printVersion = TtirVersion::V3_6;

    void registerTypes();
    void registerAttributes();
  }];
}

// Three dialects own names that TTIR borrows: one operation each, so that their own libraries are
// not needed.
class BorrowedDialect<string borrowed> : Dialect {
  let name = borrowed;
  let cppNamespace = "::pellucid::tt";
}
def Gpu_Dialect : BorrowedDialect<"gpu"> {
  let extraClassDeclaration = "void registerOperations();";
}
def Ttg_Dialect : BorrowedDialect<"ttg"> {
  let extraClassDeclaration = "void registerOperations();";
}
def Llvm_Dialect : BorrowedDialect<"llvm"> {
  let extraClassDeclaration = "void registerOperations();";
}

#endif
