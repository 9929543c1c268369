// SPDX-License-Identifier: Apache-2.0
// Functions of libdevice that C's mathematics has not, or has seldom: as inlined IR, scalars and
// vectors. Those that are no single formula of f32 are computed in f64 and rounded once.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "llvm/ADT/StringRef.h"

namespace pellucid::codegen {

using LibdeviceFunction = llvm::Value *(*)(CodeBuilder &, llvm::ArrayRef<llvm::Value *>);

/// By the symbol behind "__nv_": "erfinvf", "mul24", "uint2float_rn". Null when there is none. The
/// builder's fast-math flags must be clear.
LibdeviceFunction libdeviceFunction(llvm::StringRef symbol);

} // namespace pellucid::codegen
