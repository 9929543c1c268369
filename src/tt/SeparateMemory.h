// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

namespace pellucid::tt {

/// An attribute of a kernel's pointer argument: no other argument reaches the memory behind it.
inline constexpr llvm::StringLiteral separateMemory = "pellucid.separate";

} // namespace pellucid::tt
