// SPDX-License-Identifier: Apache-2.0
/// The .safetensors format: a 64-bit header size, a JSON object of names, the tensors' bytes.
#pragma once

#include "package/Status.h"
#include "package/TensorEntry.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace pellucid::package {

/// The header's `__metadata__`.
using TensorMetadata = std::map<std::string, std::string>;

/// Reads and checks the whole header; safe on any bytes. The entries lie within the file, in the
/// header's order.
Status readSafetensors(std::span<const uint8_t> file, std::vector<TensorEntry> &entries,
                       TensorMetadata *metadata = nullptr);

/// model.safetensors.index.json: which file holds which tensor. Safe on any text.
Status readWeightIndex(std::string_view text, std::map<std::string, std::string> &files);

/// Orders the entries (wider elements first, then by name, so that every tensor is aligned), sets
/// their offsets and returns what goes before the data, which begins on a multiple of 64.
std::vector<uint8_t> safetensorsHeader(std::vector<TensorEntry> &entries,
                                       const TensorMetadata &metadata = {});

} // namespace pellucid::package
