// SPDX-License-Identifier: Apache-2.0
/// numpy's .npy (one array) and .npz (a zip of them).
#pragma once

#include "package/Status.h"
#include "package/TensorEntry.h"

#include <span>

namespace pellucid::package {

/// Reads and checks the header; safe on any bytes. Little-endian arrays of the types in DataType
/// that numpy has.
Status readNpy(std::span<const uint8_t> file, TensorEntry &entry);

/// What goes before the data of a C-ordered array; its size is a multiple of 64. A type that numpy
/// lacks (bf16, fp8) is written as the unsigned integer of its size.
std::vector<uint8_t> npyHeader(DataType dtype, const std::vector<int64_t> &shape);

/// The members of a .npz, named without `.npy`; those that numpy.savez_compressed wrote are
/// inflated.
Status readNpz(std::span<const uint8_t> file, std::vector<TensorEntry> &entries);

} // namespace pellucid::package
