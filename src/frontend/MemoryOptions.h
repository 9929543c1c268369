// SPDX-License-Identifier: Apache-2.0
/// What loads and stores of every form share; private to this folder.
#pragma once

#include "frontend/Emitter.h"

namespace pellucid::frontend {

tt::CacheModifier cacheModifier(Emitter &e, const Val &value, bool ofStore = false);
tt::EvictionPolicy evictionPolicy(Emitter &e, const Val &value);
std::optional<tt::PaddingOption> paddingOption(Emitter &e, const Val &option);
/// Bools lie in memory as bytes: their pointers are read as pointers to int8.
Val bytePointer(Emitter &e, const Val &pointer);

} // namespace pellucid::frontend
