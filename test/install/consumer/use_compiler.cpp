// SPDX-License-Identifier: Apache-2.0
// use_compiler KERNELS.py OUT.plc: launches silu_kernel at once, compiles it into a package and
// runs that.
#include <pellucid/pellucid.hpp>

#include <cmath>
#include <cstdio>

using namespace pellucid;

int main(int argc, char **argv) try {
  if (argc != 3)
    return 2;
  triton::Kernel kernel = triton::load(argv[1])["silu_kernel"];
  Function silu = [&](const std::vector<Tensor> &inputs) {
    Tensor out = empty_like(inputs[0]);
    SymInt n = out.numel();
    kernel[{cdiv(n, 64)}]({inputs[0], out, n}, {{"BLOCK_SIZE", 64}});
    return std::vector<Tensor>{out};
  };
  Tensor x = full({4, 64}, 2.0);
  float eager = silu({x})[0].data<float>()[7];
  compile_package(export_program(silu, {x}, {{0, {{0, Dim{"batch", 1, 64}}}}}), argv[2]);
  float packaged = load_package(argv[2]).run({x})[0].data<float>()[7];
  std::printf("silu(2) = %.4f\n", double(packaged));
  return eager == packaged ? 0 : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
