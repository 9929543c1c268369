// SPDX-License-Identifier: Apache-2.0
// Mathematical functions as inlined IR on f32 and f64, scalars and vectors. No library calls.
// Bounds are in docs/design/0009-vector-math.md and held by test/codegen/VectorMathTest.cpp.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "llvm/ADT/StringRef.h"

namespace pellucid::codegen {

using UnaryMath = llvm::Value *(*)(CodeBuilder &, llvm::Value *);
using BinaryMath = llvm::Value *(*)(CodeBuilder &, llvm::Value *, llvm::Value *);

/// By the name in C: "exp", "tanh", "rsqrt". Null when there is none. The builder's fast-math flags
/// must be clear.
UnaryMath unaryMath(llvm::StringRef name);
/// "pow", "fmod", "atan2", "copysign", "fmin", "fmax", ...
BinaryMath binaryMath(llvm::StringRef name);

/// "exp" and "exp2" of f32 with a relative error below 2^-16, as BFloat16Grade.h asks for.
UnaryMath bfloat16GradeMath(llvm::StringRef name);

/// sin of `r` and so many quarter turns more, where `r` is within half of one: f32 and i32.
llvm::Value *sineOfTurned(CodeBuilder &builder, llvm::Value *r, llvm::Value *quadrant);

llvm::Value *emitExp(CodeBuilder &builder, llvm::Value *x);

} // namespace pellucid::codegen
