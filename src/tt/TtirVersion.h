// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pellucid::tt {

/// A spelling of TTIR, named by the oldest Triton that reads it (docs/spec/ttir-versions.md).
enum class TtirVersion { V3_6, V3_9 };

} // namespace pellucid::tt
