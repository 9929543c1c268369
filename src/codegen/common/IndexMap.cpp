// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/IndexMap.h"

namespace pellucid::codegen {

using Kind = DimIndex::Kind;

IndexMapId IndexMaps::intern(Dims dims) {
  auto [position, inserted] = ids.try_emplace(dims, static_cast<IndexMapId>(maps.size()));
  if (inserted)
    maps.push_back(std::move(dims));
  return position->second;
}

IndexMapId IndexMaps::identity(unsigned rank) {
  Dims dims;
  for (unsigned d = 0; d < rank; ++d)
    dims.push_back({Kind::Loop, d});
  return intern(std::move(dims));
}

IndexMapId IndexMaps::throughExpandDims(IndexMapId id, int64_t axis) {
  Dims dims = maps[id];
  dims.erase(dims.begin() + axis);
  return intern(std::move(dims));
}

IndexMapId IndexMaps::throughBroadcast(IndexMapId id, llvm::ArrayRef<int64_t> sourceShape,
                                       llvm::ArrayRef<int64_t> resultShape) {
  Dims dims = maps[id];
  for (size_t d = 0; d < dims.size(); ++d)
    if (sourceShape[d] == 1 && resultShape[d] != 1)
      dims[d] = {Kind::Constant, 0};
  return intern(std::move(dims));
}

IndexMapId IndexMaps::throughTranspose(IndexMapId id, llvm::ArrayRef<int32_t> order) {
  Dims result = maps[id], source(result.size());
  for (size_t d = 0; d < order.size(); ++d)
    source[order[d]] = result[d];
  return intern(std::move(source));
}

// Dimensions of size 1 come and go freely; the others must then agree one by one.
static bool agreeWithoutUnits(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  auto strip = [](llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t, 4> kept;
    for (int64_t extent : shape)
      if (extent != 1)
        kept.push_back(extent);
    return kept;
  };
  return strip(a) == strip(b);
}

IndexMapId IndexMaps::throughReshape(IndexMapId id, llvm::ArrayRef<int64_t> sourceShape,
                                     llvm::ArrayRef<int64_t> resultShape) {
  Dims result = maps[id], source;
  if (agreeWithoutUnits(sourceShape, resultShape)) {
    size_t next = 0;
    for (int64_t extent : sourceShape) {
      if (extent == 1) {
        source.push_back({Kind::Constant, 0});
        continue;
      }
      while (resultShape[next] == 1)
        ++next;
      source.push_back(result[next++]);
    }
    return intern(std::move(source));
  }
  int64_t divisor = 1;
  for (size_t d = sourceShape.size(); d-- > 0;) {
    DerivedIndex derived{id, llvm::SmallVector<int64_t, 4>(resultShape), divisor, sourceShape[d]};
    divisor *= sourceShape[d];
    int64_t number = -1;
    for (size_t known = 0; known < derivations.size(); ++known)
      if (derivations[known].of == id && derivations[known].shape == derived.shape &&
          derivations[known].divisor == derived.divisor &&
          derivations[known].modulus == derived.modulus)
        number = known;
    if (number < 0) {
      number = derivations.size();
      derivations.push_back(std::move(derived));
    }
    source.insert(source.begin(), {Kind::Derived, number});
  }
  return intern(std::move(source));
}

IndexMapId IndexMaps::withLast(IndexMapId id, int64_t index) {
  Dims dims = maps[id];
  dims.push_back({Kind::Constant, index});
  return intern(std::move(dims));
}

IndexMapId IndexMaps::withoutLast(IndexMapId id) {
  Dims dims = maps[id];
  dims.pop_back();
  return intern(std::move(dims));
}

} // namespace pellucid::codegen
