// SPDX-License-Identifier: Apache-2.0
/// Values of tensors in double, and models that the tests share.
#pragma once

#include "judge/Near.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <pellucid/pellucid.hpp>
#include <stdexcept>

namespace pellucid::test {

/// The elements in row-major order; f32, f64, bf16, i64 and bool.
inline std::vector<double> values(const Tensor &tensor) {
  std::vector<int64_t> shape, strides;
  for (const SymInt &size : tensor.sizes())
    shape.push_back(size.guard_int());
  for (const SymInt &stride : tensor.strides())
    strides.push_back(stride.guard_int());
  int64_t count = tensor.numel().guard_int();
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      at += rest % shape[d] * strides[d];
    switch (tensor.scalar_type()) {
    case dtype::float32:
      out.push_back(tensor.const_data_ptr<float>()[at]);
      break;
    case dtype::float64:
      out.push_back(tensor.const_data_ptr<double>()[at]);
      break;
    case dtype::bfloat16: {
      uint32_t bits = static_cast<uint32_t>(tensor.const_data_ptr<uint16_t>()[at]) << 16;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      out.push_back(value);
      break;
    }
    case dtype::int64:
      out.push_back(static_cast<double>(tensor.const_data_ptr<int64_t>()[at]));
      break;
    case dtype::boolean:
      out.push_back(tensor.const_data_ptr<uint8_t>()[at]);
      break;
    default:
      throw std::invalid_argument("a tensor of a type that the tests do not read");
    }
  }
  return out;
}

inline void expectNear(const Tensor &actual, const std::vector<double> &expected, double relative,
                       double absolute = 1e-6) {
  std::vector<double> got = values(actual);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(judge::isNear(got[i], expected[i], std::fabs(expected[i]) * relative + absolute))
        << "element " << i;
}

inline double silu(double x) { return x / (1 + std::exp(-x)); }

/// What an Error says; empty when there was none.
template <typename F> std::string errorOf(F &&body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

inline triton::File &kernels() {
  static triton::File file = triton::load(PELLUCID_SOURCE_DIR "/test/api/kernels.py");
  return file;
}

inline Tensor launchSilu(const Tensor &x) {
  Tensor out = empty_like(x);
  auto grid = [&](const triton::Meta &meta) {
    return std::vector<SymInt>{cdiv(x.numel(), meta["BLOCK_SIZE"])};
  };
  kernels()["silu"][grid]({x, out, x.numel()}, {{"BLOCK_SIZE", 128}});
  return out;
}

/// Two results of one kernel, and a default.
inline Operator sumAndDifference() {
  return triton_op("api_test::sum_and_difference",
                   "(Tensor a, Tensor b, int block=128) -> (Tensor, Tensor)",
                   [](const std::vector<Argument> &arguments) {
                     auto a = std::get<Tensor>(arguments[0]);
                     Tensor total = empty_like(a), rest = empty_like(a);
                     auto grid = [&](const triton::Meta &meta) {
                       return std::vector<SymInt>{cdiv(a.numel(), meta["BLOCK_SIZE"])};
                     };
                     wrap_triton(kernels()["sum_and_difference"])[grid](
                         {a, arguments[1], total, rest, a.numel()}, {{"BLOCK_SIZE", arguments[2]}});
                     return std::vector<Tensor>{total, rest};
                   });
}

/// Writes its first argument.
inline Operator scaleInPlace() {
  return triton_op("api_test::scale_", "(Tensor(a!) x, float factor=3.0) -> ()",
                   [](const std::vector<Argument> &a) {
                     auto x = std::get<Tensor>(a[0]);
                     kernels()["scale_in_place"][{cdiv(x.numel(), 64)}]({x, a[1], x.numel()},
                                                                        {{"BLOCK_SIZE", 64}});
                     return std::vector<Tensor>{};
                   });
}

/// SiLU held in one of three ways.
inline std::function<Tensor(const Tensor &)> heldAs(const std::string &way) {
  if (way == "raw")
    return launchSilu;
  auto function = [](const std::vector<Argument> &a) {
    return std::vector<Tensor>{launchSilu(std::get<Tensor>(a[0]))};
  };
  return way == "triton_op" ? triton_op("api_test::silu", "(Tensor x) -> Tensor", function)
                            : custom_op("api_test::opaque_silu", "(Tensor x) -> Tensor", function);
}

} // namespace pellucid::test
