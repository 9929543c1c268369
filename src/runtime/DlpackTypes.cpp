// SPDX-License-Identifier: Apache-2.0
#include "runtime/DlpackTypes.h"

namespace pellucid::runtime {

static uint8_t dlpackCode(DataType type) {
  switch (type) {
  case DataType::Bool:
    return kDLBool;
  case DataType::Int8:
  case DataType::Int16:
  case DataType::Int32:
  case DataType::Int64:
    return kDLInt;
  case DataType::UInt8:
  case DataType::UInt16:
  case DataType::UInt32:
  case DataType::UInt64:
    return kDLUInt;
  case DataType::BFloat16:
    return kDLBfloat;
  case DataType::Float8E4M3FN:
    return kDLFloat8_e4m3fn;
  case DataType::Float8E5M2:
    return kDLFloat8_e5m2;
  case DataType::Float8E4M3FNUZ:
    return kDLFloat8_e4m3fnuz;
  case DataType::Float8E5M2FNUZ:
    return kDLFloat8_e5m2fnuz;
  case DataType::Float16:
  case DataType::Float32:
  case DataType::Float64:
    return kDLFloat;
  }
  return kDLOpaqueHandle;
}

DLDataType toDlpack(DataType type) {
  return {dlpackCode(type), static_cast<uint8_t>(8 * byteSize(type)), 1};
}

std::optional<DataType> fromDlpack(DLDataType type) {
  for (uint8_t i = 0; i <= uint8_t(DataType::Float8E5M2FNUZ); ++i)
    if (isSame(toDlpack(DataType(i)), type))
      return DataType(i);
  return std::nullopt;
}

std::string text(DLDataType type) {
  if (std::optional<DataType> known = fromDlpack(type))
    return std::string(info(*known).cli);
  return "DLPack code " + std::to_string(type.code) + " with " + std::to_string(type.bits) +
         " bits and " + std::to_string(type.lanes) + " lanes";
}

std::string text(DLDevice device) {
  std::string id = ":" + std::to_string(device.device_id);
  switch (device.device_type) {
  case kDLCPU:
    return "cpu";
  case kDLCUDA:
    return "cuda" + id;
  case kDLCUDAHost:
    return "cuda host memory";
  case kDLCUDAManaged:
    return "cuda managed memory" + id;
  default:
    return "DLPack device type " + std::to_string(int(device.device_type)) + id;
  }
}

} // namespace pellucid::runtime
