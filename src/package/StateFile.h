// SPDX-License-Identifier: Apache-2.0
/// The state of an instance as a .safetensors file: one tensor for each of Manifest::state, of its
/// name, type and shape, and the package's name in the metadata.
#pragma once

#include "package/Package.h"
#include "package/Status.h"

#include <span>

namespace pellucid::package {

/// Where `file` holds each of the manifest's state. Refuses a file that holds anything else, all of
/// what is wrong in one sentence.
Status readState(std::span<const uint8_t> file, const Manifest &manifest,
                 std::vector<std::span<const uint8_t>> &tensors);

/// What goes before the data, and in which order the state's tensors follow it without gaps.
std::vector<uint8_t> stateHeader(const Manifest &manifest, std::vector<uint32_t> &order);

} // namespace pellucid::package
