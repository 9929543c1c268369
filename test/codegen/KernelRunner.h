// SPDX-License-Identifier: Apache-2.0
// Compiles TTIR text, links it, maps the image and runs the kernel; for tests and benchmarks.
#pragma once

#include "codegen/cpu/CompileKernel.h"
#include "package/KernelAbi.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace pellucid::codegen {

/// Levels that both the compiler and this machine know.
std::vector<CpuLevel> runnableLevels();

/// And those that differ in products only, tile registers emulated where the machine has none.
std::vector<CpuLevel> productLevels();
/// "v3", "v4", "v4_bf16": for the names of tests.
std::string testName(CpuLevel level);

/// The assembly that a kernel becomes. Throws as CompiledKernel does.
std::string assemblyOf(const std::string &ttir, const std::string &symbol, CpuLevel level);

/// Code mapped from an ELF image without relocations.
class MappedImage {
public:
  explicit MappedImage(const std::vector<char> &elf);
  ~MappedImage();
  MappedImage(const MappedImage &) = delete;
  void *at(uint64_t vaddr) const { return static_cast<char *>(base) + vaddr; }

private:
  void *base = nullptr;
  uint64_t bytes = 0;
};

/// Arguments packed as KernelAbi.h says.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    while (bytes.size() % sizeof(T))
      bytes.push_back(0);
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  const void *data() const { return bytes.data(); }

private:
  std::vector<char> bytes;
};

class CompiledKernel {
public:
  /// Throws std::runtime_error with the diagnostics when the text does not compile.
  CompiledKernel(const std::string &ttir, const std::string &symbol, CpuLevel level,
                 bool fpContract = true, bool bfloat16Grade = true);

  /// Links and maps what a library kernel's compile function gave.
  CompiledKernel(CompiledObject compiled, CpuLevel level);

  /// Runs the whole grid in chunks of `chunk` programs. Returns the entry's failure code.
  int32_t run(const Arguments &arguments, uint32_t x, uint32_t y = 1, uint32_t z = 1,
              uint64_t chunk = 3) {
    return run(arguments.data(), x, y, z, chunk);
  }
  int32_t run(const void *arguments, uint32_t x, uint32_t y = 1, uint32_t z = 1,
              uint64_t chunk = 3);
  package::KernelContext context = {};
  CompiledObject object;
  std::vector<char> elf;
  package::KernelEntry entry = nullptr;
  void *scratch() const { return scratchMemory.get(); }

private:
  void load(CpuLevel level);

  std::unique_ptr<MappedImage> image;
  std::shared_ptr<void> scratchMemory;
};

inline uint16_t toBFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float fromBFloat16(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}
inline uint16_t toHalf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}
inline float fromHalf(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return static_cast<float>(half);
}

/// Repeatable numbers in [low, high).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t bits() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
  }
  double number(double low, double high) { return low + (high - low) * (bits() >> 11) * 0x1p-53; }
  int64_t integer(int64_t low, int64_t high) { return low + bits() % uint64_t(high - low); }

private:
  uint64_t state;
};

} // namespace pellucid::codegen
