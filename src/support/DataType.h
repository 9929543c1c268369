// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pellucid {

/// Element types of tensors and kernel arguments. The values are part of the package format: append
/// only.
enum class DataType : uint8_t {
  Bool = 0,
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  UInt8 = 5,
  UInt16 = 6,
  UInt32 = 7,
  UInt64 = 8,
  Float16 = 9,
  BFloat16 = 10,
  Float32 = 11,
  Float64 = 12,
  Float8E4M3FN = 13,   ///< Triton's fp8e4nv
  Float8E5M2 = 14,     ///< Triton's fp8e5
  Float8E4M3FNUZ = 15, ///< Triton's fp8e4b8
  Float8E5M2FNUZ = 16, ///< Triton's fp8e5b16
};

struct DataTypeInfo {
  DataType type;
  std::string_view cli;   ///< the command line's and the package's short name: "f32"
  std::string_view torch; ///< "float32" (torch.float32)
  std::string_view
      triton; ///< Triton's short name: "fp32"; also what signatures and mangled names use
  std::string_view numpy; ///< numpy's descr, empty where numpy has no such type
  uint8_t bytes;
  bool isFloat, isSigned;
};

const DataTypeInfo &info(DataType type);
/// By any of the spellings in DataTypeInfo (`half`, `double`, `long`, `int`, `float` included);
/// nullopt otherwise.
std::optional<DataType> dataTypeNamed(std::string_view name);

inline uint32_t byteSize(DataType type) { return info(type).bytes; }
inline bool isFloat(DataType type) { return info(type).isFloat; }
inline bool isInteger(DataType type) { return !info(type).isFloat && type != DataType::Bool; }

} // namespace pellucid
