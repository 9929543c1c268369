// SPDX-License-Identifier: Apache-2.0
#include "driver/ProductUnits.h"

#include <algorithm>

namespace pellucid::driver {

/// Whether a product of bf16 or int8 stands in the text. That it has no others, such as products of
/// rows too short, costs an image with the same code.
static bool hasNarrowDot(std::string_view ttir) {
  for (size_t begin = 0; begin < ttir.size();) {
    size_t end = std::min(ttir.find('\n', begin), ttir.size());
    std::string_view line = ttir.substr(begin, end - begin);
    if (line.find("tt.dot") != line.npos &&
        (line.find("tt.dot_scaled") != line.npos || line.find("xbf16>") != line.npos ||
         line.find("xi8>") != line.npos))
      return true;
    begin = end + 1;
  }
  return false;
}

static bool usesUnits(CpuLevel level, const graph::KernelDef &kernel) {
  if (!kernel.library)
    return hasPairProducts(level) && hasNarrowDot(kernel.ttir);
  return kernel.library->isProduct() && hasProductUnits(level, kernel.library->type);
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
