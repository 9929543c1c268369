// SPDX-License-Identifier: Apache-2.0
#include "driver/ProductUnits.h"

#include <algorithm>
#include <sstream>

namespace pellucid::driver {

/// `gemm bf16 bias`
static bool usesUnits(CpuLevel level, const graph::KernelDef &kernel) {
  std::istringstream words(kernel.library);
  std::string what, type;
  words >> what >> type;
  return what == "gemm" && hasProductUnits(level, dataTypeNamed(type).value_or(DataType::Int64));
}

bool belongsInto(const Target &target, const graph::KernelDef &kernel,
                 const std::vector<Target> &chosen) {
  if (target.kind != Target::Kind::Cpu || !hasPairProducts(target.cpu))
    return true;
  bool hasLower = std::any_of(chosen.begin(), chosen.end(), [&](const Target &other) {
    return other.kind == Target::Kind::Cpu && hasAvx512(other.cpu) && other.cpu < target.cpu;
  });
  return !hasLower || usesUnits(target.cpu, kernel);
}

} // namespace pellucid::driver
