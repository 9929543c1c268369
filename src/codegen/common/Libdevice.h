// SPDX-License-Identifier: Apache-2.0
// Names of CUDA's device library that kernels call through tl.extra.libdevice.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pellucid::codegen {

/// True for `__nv_expf` and the like that emitLibdeviceCall knows.
bool isLibdeviceFunction(llvm::StringRef symbol);

llvm::Value *emitLibdeviceCall(CodeBuilder &builder, llvm::StringRef symbol,
                               llvm::ArrayRef<llvm::Value *> arguments);

} // namespace pellucid::codegen
