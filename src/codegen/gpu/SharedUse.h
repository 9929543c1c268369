// SPDX-License-Identifier: Apache-2.0
// What operations do to the shared memory of a block.
#pragma once

#include "codegen/gpu/SharedTile.h"
#include "codegen/gpu/TtGpu.h"

namespace pellucid::ttgpu {

/// On alloc_shared, and on what exchanges data between threads: where its memory begins.
inline constexpr llvm::StringLiteral offsetName = "ttgpu.offset";
/// On a function: the shared memory of a launch.
inline constexpr llvm::StringLiteral sharedBytesName = "ttgpu.shared_bytes";

/// Memory that an operation writes, and reads behind a barrier of its own.
struct Scratch {
  uint64_t bytes = 0, alignment = 16;
};
Scratch scratchOf(mlir::Operation *op);

/// Bytes of one step of a scan, and in how many places its steps take turns.
struct ScanPlaces {
  uint64_t bytes;
  unsigned count;
};
ScanPlaces scanPlaces(tt::ScanOp op);

/// What a distribution needs, in bytes from its place on: a counter of each digit for each warp,
/// where each digit begins, how many there are of it and of 32 neighbouring ones, the elements.
struct DistributionPlaces {
  uint64_t starts, counts, shares, exchange, bytes;
};
DistributionPlaces distributionPlaces(tt::DistributeOp op);

/// The operand of a product goes through shared memory on its way from registers.
bool isShared(tt::DotOp dot, unsigned operand);
/// Where an operand of this layout is to lie: neighbours of a thread stay neighbours.
unsigned alongOf(const codegen::Layout &layout);

/// One copy of a buffer.
codegen::SharedTile tileOf(BufferType type);
uint64_t bytesOf(BufferType type);
inline constexpr uint64_t barrierBytes = 8;
inline uint64_t bytesOf(BarriersType type) { return type.getCount() * barrierBytes; }

/// A block's share of the smallest device of a generation.
uint64_t mostSharedBytes(unsigned sm);

/// The chosen place.
uint64_t offsetOf(mlir::Operation *op);

} // namespace pellucid::ttgpu
