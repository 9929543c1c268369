// SPDX-License-Identifier: Apache-2.0
// Which element of a tile an expression asks for, in terms of the loops around it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <vector>

namespace pellucid::codegen {

/// The index along one dimension of a tile.
struct DimIndex {
  enum class Kind : uint8_t {
    Constant, ///< `number`
    Loop,     ///< the index of loop `number` of the nest
    Derived,  ///< IndexMaps::derived(number)
  };
  Kind kind = Kind::Constant;
  int64_t number = 0;
  auto operator<=>(const DimIndex &) const = default;
};

using IndexMapId = unsigned;

/// A dimension that comes from taking the linear position in another tile apart:
/// (position / divisor) % modulus.
struct DerivedIndex {
  IndexMapId of; ///< the map of the other tile
  llvm::SmallVector<int64_t, 4> shape;
  int64_t divisor, modulus;
};

/// All maps that a kernel uses. Equal maps have equal ids, so that an expression reached twice is
/// evaluated once.
class IndexMaps {
public:
  IndexMapId identity(unsigned rank);
  llvm::ArrayRef<DimIndex> dims(IndexMapId id) const { return maps[id]; }
  const DerivedIndex &derived(int64_t number) const { return derivations[number]; }

  /// The source's map of an operation whose result has map `id`.
  IndexMapId throughExpandDims(IndexMapId id, int64_t axis);
  IndexMapId throughBroadcast(IndexMapId id, llvm::ArrayRef<int64_t> sourceShape,
                              llvm::ArrayRef<int64_t> resultShape);
  IndexMapId throughTranspose(IndexMapId id, llvm::ArrayRef<int32_t> order);
  IndexMapId throughReshape(IndexMapId id, llvm::ArrayRef<int64_t> sourceShape,
                            llvm::ArrayRef<int64_t> resultShape);
  /// With one more last dimension, at `index`.
  IndexMapId withLast(IndexMapId id, int64_t index);
  IndexMapId withoutLast(IndexMapId id);

private:
  using Dims = std::vector<DimIndex>;
  IndexMapId intern(Dims dims);

  std::vector<Dims> maps;
  std::map<Dims, IndexMapId> ids;
  std::vector<DerivedIndex> derivations;
};

} // namespace pellucid::codegen
