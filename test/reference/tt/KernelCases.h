// SPDX-License-Identifier: Apache-2.0
// A table of launches of the kernels in kernels/, on random inputs, for tests that compare two ways
// to run them.
#pragma once

#include "reference/tt/FloatFormat.h"
#include "reference/tt/Launch.h"

#include <cmath>
#include <random>
#include <variant>

namespace pellucid::reference {

/// A tensor of random numbers in [low, high], whole ones for integers.
struct RandomTensor {
  DataType type;
  size_t count;
  double low = 0, high = 0;
};

struct KernelCase {
  const char *name;
  std::vector<std::variant<RandomTensor, int64_t, double>> arguments;
  std::array<uint32_t, 3> grid{1, 1, 1};
};

inline std::vector<KernelCase> kernelCases() {
  auto f32 = [](size_t n, double low = -2, double high = 2) {
    return RandomTensor{DataType::Float32, n, low, high};
  };
  auto f16 = [](size_t n) { return RandomTensor{DataType::Float16, n, -2, 2}; };
  auto bf16 = [](size_t n) { return RandomTensor{DataType::BFloat16, n, -2, 2}; };
  auto i32 = [](size_t n, double low = 0, double high = 0) {
    return RandomTensor{DataType::Int32, n, low, high};
  };
  auto u8 = [](size_t n, double low, double high) {
    return RandomTensor{DataType::UInt8, n, low, high};
  };
  constexpr int64_t m = 37, n = 45, k = 51;
  return {
      {"add", {f32(150), f32(150), f32(150), int64_t(150)}, {3, 1, 1}},
      {"softmax", {f32(400), f32(400), int64_t(80), int64_t(5), int64_t(77)}, {2, 1, 1}},
      {"matmul", {f16(m * k), f16(k * n), f16(m * n), m, n, k}, {3, 2, 1}},
      {"matmul_block", {f16(m * k), f16(k * n), f32(m * n), m, n, k}, {3, 2, 1}},
      {"matmul_descriptor", {bf16(m * k), bf16(k * n), f32(m * n), m, n, k}, {3, 2, 1}},
      {"layer_norm", {bf16(300), f32(100), f32(100), f32(300), int64_t(100), 1e-5}, {3, 1, 1}},
      {"scans", {f32(64), f32(64), f32(64), f32(64), f32(64)}},
      {"arg_reductions", {f32(256), f32(8), i32(8), i32(32)}},
      {"sort_rows", {i32(64, -99, 99), i32(64), i32(64)}},
      {"shapes", {i32(16, -99, 99), i32(16, -99, 99), i32(32), i32(32), i32(8), i32(16), i32(16)}},
      {"histogram_gather", {i32(64, 0, 7), i32(8), f32(8), f32(64), int64_t(50)}},
      {"atomics",
       {f32(83), f32(4), f32(1), i32(1, 5, 9), i32(1, 0, 99), i32(1), i32(3), int64_t(83)},
       {3, 1, 1}},
      {"locked_sum", {i32(1), f32(100), f32(1), int64_t(100)}, {4, 1, 1}},
      {"collatz", {RandomTensor{DataType::Int64, 8, 1, 99}, i32(8), int64_t(7)}, {8, 1, 1}},
      {"attention",
       {bf16(41 * 32), bf16(41 * 32), bf16(41 * 32), f32(41 * 32), int64_t(41), 0.25},
       {3, 1, 1}},
      {"random", {f32(64), f32(64), i32(64), int64_t(1234)}},
      {"extremes", {f32(64), f32(64), f32(64), f32(64), f32(64), f32(64), f32(64)}},
      {"casts",
       {f32(64, -600, 600), bf16(64), f16(64), RandomTensor{DataType::Float8E4M3FN, 64},
        RandomTensor{DataType::Float8E5M2, 64}, i32(64), f32(64)}},
      {"integers",
       {i32(64, -2e9, 2e9), i32(64, 1, 999), i32(64), i32(64), i32(64), i32(64), i32(64),
        int64_t(64)}},
      {"functions", {f32(64, -6, 6), f32(13 * 64), int64_t(64)}},
      {"scaled_dot",
       {u8(16 * 32, 0, 255), u8(32, 120, 133), RandomTensor{DataType::Float8E4M3FN, 1024, -9, 9},
        u8(32, 120, 133), f32(256)}},
      {"mapped", {i32(32, -9, 9), i32(32, -9, 9), i32(32)}},
  };
}

inline const FloatFormat *floatFormatOf(DataType type) {
  switch (type) {
  case DataType::Float16:
    return &float16Format;
  case DataType::BFloat16:
    return &bfloat16Format;
  case DataType::Float32:
    return &float32Format;
  case DataType::Float8E4M3FN:
    return &float8E4M3FNFormat;
  case DataType::Float8E5M2:
    return &float8E5M2Format;
  default:
    return nullptr;
  }
}

inline std::vector<uint8_t> randomBytes(const RandomTensor &tensor, std::mt19937 &generator) {
  std::uniform_real_distribution<double> distribution(tensor.low, tensor.high);
  uint32_t size = byteSize(tensor.type);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < tensor.count; ++i) {
    double value = distribution(generator);
    const FloatFormat *format = floatFormatOf(tensor.type);
    uint64_t bits =
        format ? encodeFloat(value, *format) : static_cast<uint64_t>(std::llround(value));
    for (uint32_t byte = 0; byte < size; ++byte)
      bytes.push_back(static_cast<uint8_t>(bits >> 8 * byte));
  }
  return bytes;
}

/// The buffers of one launch of a case; equal seeds give equal contents.
struct CaseBuffers {
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<HostArgument> arguments;

  CaseBuffers(const KernelCase &kernel, unsigned seed) {
    std::mt19937 generator(seed);
    for (const auto &argument : kernel.arguments)
      if (auto tensor = std::get_if<RandomTensor>(&argument))
        buffers.push_back(randomBytes(*tensor, generator));
    size_t next = 0;
    for (const auto &argument : kernel.arguments) {
      if (auto tensor = std::get_if<RandomTensor>(&argument)) {
        std::string name = "tensor " + std::to_string(next);
        arguments.push_back(hostTensor(name, tensor->type, buffers[next++]));
      } else if (auto integer = std::get_if<int64_t>(&argument)) {
        arguments.push_back(*integer);
      } else {
        arguments.push_back(std::get<double>(argument));
      }
    }
  }
};

} // namespace pellucid::reference
