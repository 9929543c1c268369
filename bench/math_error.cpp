// SPDX-License-Identifier: Apache-2.0
// The largest error of every f32 function over all 2^32 arguments. `math_error [NAME] [STRIDE]`.
#include "codegen/MathFunctions.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace pellucid;
using namespace pellucid::codegen;

int main(int argc, char **argv) {
  uint64_t stride = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  constexpr int batch = 1 << 16;
  std::vector<float> x(batch), out(batch);
  for (const MathFunction &function : mathFunctions()) {
    if (argc > 1 && std::strcmp(argv[1], function.name) != 0)
      continue;
    MathImage image(unaryMath(function.name), false, runnableLevels().back());
    double worst = 0;
    float where = 0;
    for (uint64_t start = 0; start < uint64_t(1) << 32; start += batch * stride) {
      for (int i = 0; i < batch; ++i)
        x[i] = std::bit_cast<float>(static_cast<uint32_t>(start + i * stride));
      image.run(x.data(), nullptr, out.data(), batch);
      for (int i = 0; i < batch; ++i)
        if (double error = errorInUlps(out[i], function.exact(x[i])); error > worst)
          worst = error, where = x[i];
    }
    std::printf("%-6s %.4f ulp at %a (%g)\n", function.name, worst, where, where);
    std::fflush(stdout);
  }
}
