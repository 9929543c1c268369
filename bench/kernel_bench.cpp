// SPDX-License-Identifier: Apache-2.0
// Speed of generated kernels beside what the machine can do: bandwidth of elementwise kernels and
// softmax against a copy, products against the peak of fused multiply-adds. One thread.
#include "codegen/KernelRunner.h"
#include "codegen/cpu/Gemm.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <immintrin.h>
#include <sstream>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

/// Of this thread alone, so that other jobs cost no more than their share of caches and memory.
double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double secondsOf(const std::function<void()> &work, double atLeast = 0.2) {
  double begin = threadSeconds();
  work();
  // Reading the clock takes as long as the smallest kernels.
  int repeats = 1 + static_cast<int>(1e-4 / (threadSeconds() - begin + 1e-9));
  double best = 1e30, total = 0;
  while (total < atLeast) {
    double start = threadSeconds();
    for (int i = 0; i < repeats; ++i)
      work();
    double seconds = (threadSeconds() - start) / repeats;
    best = std::min(best, seconds);
    total += seconds * repeats;
  }
  return best;
}

std::string readKernel(const std::string &name) {
  std::ifstream stream(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/ttir/" + name + ".ttir");
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

constexpr int peakRounds = 1000000;

__attribute__((target("avx512f"))) void runFma512() {
  __m512 sums[16];
  for (__m512 &sum : sums)
    sum = _mm512_set1_ps(1.0f);
  __m512 x = _mm512_set1_ps(1.0001f), y = _mm512_set1_ps(-0.0001f);
  for (int i = 0; i < peakRounds; ++i)
    for (__m512 &sum : sums) {
      sum = _mm512_fmadd_ps(sum, x, y);
      asm volatile("" : "+v"(sum));
    }
}

__attribute__((target("avx2,fma"))) void runFma256() {
  __m256 sums[12];
  for (__m256 &sum : sums)
    sum = _mm256_set1_ps(1.0f);
  __m256 x = _mm256_set1_ps(1.0001f), y = _mm256_set1_ps(-0.0001f);
  for (int i = 0; i < peakRounds; ++i)
    for (__m256 &sum : sums) {
      sum = _mm256_fmadd_ps(sum, x, y);
      asm volatile("" : "+x"(sum));
    }
}

double peakFlops(CpuLevel level) {
  bool wide = hasAvx512(level);
  double seconds = secondsOf(wide ? runFma512 : runFma256);
  return 2.0 * peakRounds * (wide ? 16 * 16 : 12 * 8) / seconds;
}

/// Memory full of numbers around 1, read as f32 or as bf16.
void *allocate(size_t bytes) {
  auto *memory = static_cast<uint16_t *>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  Random random(1);
  for (size_t i = 0; i < bytes / 2; ++i)
    memory[i] = toBFloat16(static_cast<float>(random.number(-3, 3)));
  return memory;
}

void benchBandwidth(CpuLevel level, size_t elements) {
  auto *x = static_cast<float *>(allocate(elements * 4)),
       *y = static_cast<float *>(allocate(elements * 4));
  auto *o = static_cast<float *>(allocate(elements * 4));
  double copy = secondsOf([&] { std::memcpy(o, x, elements * 4); });
  std::printf("%8zu KiB  copy %6.1f GB/s", elements * 4 / 1024, 8e-9 * elements / copy);
  int n = static_cast<int>(elements);
  auto show = [&](const char *name, double bytes, double seconds) {
    std::printf("  %s %6.1f GB/s", name, bytes / seconds * 1e-9);
  };
  CompiledKernel add(readKernel("add"), "add", level);
  Arguments addArguments;
  addArguments.add(x).add(y).add(o).add(n);
  show("add f32", 12.0 * elements,
       secondsOf([&] { add.run(addArguments, (n + 1023) / 1024, 1, 1, 1 << 30); }));
  CompiledKernel silu(readKernel("silu_bf16"), "silu", level);
  Arguments siluArguments;
  siluArguments.add(o).add(x).add(n);
  show("silu bf16", 4.0 * elements,
       secondsOf([&] { silu.run(siluArguments, (n + 1023) / 1024, 1, 1, 1 << 30); }));
  CompiledKernel softmax(readKernel("softmax"), "softmax", level);
  int columns = 781, rows = static_cast<int>(elements / columns);
  Arguments softmaxArguments;
  softmaxArguments.add(o).add(x).add(columns).add(columns).add(columns);
  show("softmax f32", 8.0 * rows * columns,
       secondsOf([&] { softmax.run(softmaxArguments, rows, 1, 1, 1 << 30); }));
  std::printf("\n");
  std::free(x), std::free(y), std::free(o);
}

void benchProducts(CpuLevel level, DataType type, double peak) {
  Diagnostics diagnostics;
  CompiledObject object;
  compileGemm({type, true, level}, "gemm", object, diagnostics);
  CompiledKernel gemm(std::move(object), level);
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 64, 128},
                         {16, 64, 128},
                         {16, 128, 64},
                         {256, 256, 256},
                         {1024, 1024, 1024}}) {
    size_t bytes = byteSize(type);
    void *a = allocate(m * k * bytes), *c = allocate(m * n * bytes), *bias = allocate(n * bytes);
    void *packed = allocate(package::packedElements(type, n, k) * bytes + 64);
    GemmArguments arguments{a, packed, bias, c, m, n, k, k, n, 0, 0, 0, 0, 0};
    uint32_t x = (m + package::productRows - 1) / package::productRows,
             y = (n + package::productColumns - 1) / package::productColumns;
    double seconds = secondsOf([&] { gemm.run(&arguments, x, y, 1, 1 << 30); });
    double flops = 2.0 * m * n * k / seconds;
    std::printf("  gemm %s %4ldx%4ldx%4ld %9.2f us %7.1f GFLOP/s %5.1f %% of f32 peak\n",
                std::string(info(type).cli).c_str(), m, n, k, seconds * 1e6, flops * 1e-9,
                100 * flops / peak);
    std::free(a), std::free(c), std::free(bias), std::free(packed);
  }
}

/// The matmul kernel of the tutorial: tiles of 32x64x32.
void benchDot(CpuLevel level, double peak) {
  int n = 512;
  CompiledKernel kernel(readKernel("matmul_fp32"), "matmul", level);
  auto *a = allocate(n * n * 4), *b = allocate(n * n * 4), *c = allocate(n * n * 4);
  Arguments arguments;
  arguments.add(a).add(b).add(c).add(n).add(n).add(n).add(n).add(n).add(n);
  double seconds = secondsOf([&] { kernel.run(arguments, (n / 32) * (n / 64), 1, 1, 1 << 30); });
  double flops = 2.0 * n * n * n / seconds;
  std::printf("  tl.dot f32 %dx%dx%d %9.2f us %7.1f GFLOP/s %5.1f %% of f32 peak\n", n, n, n,
              seconds * 1e6, flops * 1e-9, 100 * flops / peak);
  std::free(a), std::free(b), std::free(c);
}

void benchCompile(CpuLevel level) {
  auto show = [](const char *name, double seconds) {
    std::printf("  compile %-12s %6.1f ms (parse, passes, code, link, map)\n", name, seconds * 1e3);
  };
  for (const char *name : {"add", "softmax", "layernorm", "matmul_fp32", "flash"}) {
    std::string text = readKernel(name),
                symbol = std::string(name).substr(0, std::string(name).find('_'));
    show(name, secondsOf([&] { CompiledKernel kernel(text, symbol, level); }));
  }
  show("gemm bf16", secondsOf([&] {
         Diagnostics diagnostics;
         CompiledObject object;
         compileGemm({DataType::BFloat16, true, level}, "gemm", object, diagnostics);
       }));
}

} // namespace

int main(int argc, char **argv) {
  bool compileOnly = argc > 1 && std::strcmp(argv[1], "compile") == 0;
  for (CpuLevel level : productLevels()) {
    double peak = peakFlops(level);
    std::printf("%s: f32 fma peak %.1f GFLOP/s\n", std::string(toString(level)).c_str(),
                peak * 1e-9);
    benchCompile(level);
    if (compileOnly)
      continue;
    for (size_t elements : {size_t(8) << 10, size_t(64) << 10, size_t(1) << 20, size_t(32) << 20})
      benchBandwidth(level, elements);
    benchDot(level, peak);
    benchProducts(level, DataType::Float32, peak);
    benchProducts(level, DataType::BFloat16, peak);
  }
}
