// SPDX-License-Identifier: Apache-2.0
/// Files of tensors: .safetensors, .npy and .npz. Every entry must lie within the bytes.
#include "FuzzTarget.h"

#include "package/Npy.h"
#include "package/Safetensors.h"

#include <cstdlib>

using namespace pellucid::package;

static void mustLieIn(const TensorEntry &entry, std::span<const uint8_t> data) {
  if (entry.offset > data.size() || entry.bytes > data.size() - entry.offset)
    std::abort();
}

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  std::vector<TensorEntry> entries;
  if (readSafetensors(data, entries).ok())
    for (const TensorEntry &entry : entries)
      mustLieIn(entry, data);
  TensorEntry array;
  if (readNpy(data, array).ok())
    mustLieIn(array, data);
  entries.clear();
  if (readNpz(data, entries).ok())
    for (const TensorEntry &entry : entries)
      mustLieIn(entry, data);
  return 0;
}
