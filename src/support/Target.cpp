// SPDX-License-Identifier: Apache-2.0
#include "support/Target.h"

#include <array>

namespace pellucid {

static constexpr std::array<DataTypeInfo, 17> dataTypes = {{
    {DataType::Bool, "bool", "bool", "i1", "|b1", 1, false, false},
    {DataType::Int8, "i8", "int8", "i8", "|i1", 1, false, true},
    {DataType::Int16, "i16", "int16", "i16", "<i2", 2, false, true},
    {DataType::Int32, "i32", "int32", "i32", "<i4", 4, false, true},
    {DataType::Int64, "i64", "int64", "i64", "<i8", 8, false, true},
    {DataType::UInt8, "u8", "uint8", "u8", "|u1", 1, false, false},
    {DataType::UInt16, "u16", "uint16", "u16", "<u2", 2, false, false},
    {DataType::UInt32, "u32", "uint32", "u32", "<u4", 4, false, false},
    {DataType::UInt64, "u64", "uint64", "u64", "<u8", 8, false, false},
    {DataType::Float16, "f16", "float16", "fp16", "<f2", 2, true, true},
    {DataType::BFloat16, "bf16", "bfloat16", "bf16", "", 2, true, true},
    {DataType::Float32, "f32", "float32", "fp32", "<f4", 4, true, true},
    {DataType::Float64, "f64", "float64", "fp64", "<f8", 8, true, true},
    {DataType::Float8E4M3FN, "fp8e4nv", "float8_e4m3fn", "fp8e4nv", "", 1, true, true},
    {DataType::Float8E5M2, "fp8e5", "float8_e5m2", "fp8e5", "", 1, true, true},
    {DataType::Float8E4M3FNUZ, "fp8e4b8", "float8_e4m3fnuz", "fp8e4b8", "", 1, true, true},
    {DataType::Float8E5M2FNUZ, "fp8e5b16", "float8_e5m2fnuz", "fp8e5b16", "", 1, true, true},
}};

const DataTypeInfo &info(DataType type) { return dataTypes[static_cast<size_t>(type)]; }

std::optional<DataType> dataTypeNamed(std::string_view name) {
  for (const DataTypeInfo &row : dataTypes)
    if (name == row.cli || name == row.torch || name == row.triton)
      return row.type;
  constexpr std::pair<std::string_view, DataType> aliases[] = {
      {"half", DataType::Float16},
      {"float", DataType::Float32},
      {"double", DataType::Float64},
      {"short", DataType::Int16},
      {"int", DataType::Int32},
      {"long", DataType::Int64},
      {"int1", DataType::Bool},
      {"i1", DataType::Bool},
      {"float8e4nv", DataType::Float8E4M3FN},
      {"float8e5", DataType::Float8E5M2},
  };
  for (auto &[alias, type] : aliases)
    if (name == alias)
      return type;
  return std::nullopt;
}

std::string_view toString(CpuLevel level) {
  return level == CpuLevel::X86_64_v4 ? "x86-64-v4" : "x86-64-v3";
}

std::string toString(const Target &target) {
  if (target.kind == Target::Kind::Cuda)
    return "cuda:sm_" + std::to_string(target.sm);
  return "cpu:" + std::string(toString(target.cpu));
}

static void addOnce(std::vector<Target> &out, Target target) {
  for (const Target &known : out)
    if (known == target)
      return;
  out.push_back(target);
}

static bool parseOne(std::string_view word, std::vector<Target> &out) {
  using Kind = Target::Kind;
  if (word == "cpu" || word == "cpu:x86-64-v3")
    addOnce(out, {Kind::Cpu, CpuLevel::X86_64_v3, 0});
  if (word == "cpu" || word == "cpu:x86-64-v4")
    addOnce(out, {Kind::Cpu, CpuLevel::X86_64_v4, 0});
  if (word == "cuda:sm_80")
    addOnce(out, {Kind::Cuda, CpuLevel::X86_64_v3, 80});
  if (word == "cuda" || word == "cuda:sm_90")
    addOnce(out, {Kind::Cuda, CpuLevel::X86_64_v3, 90});
  return word == "cpu" || word == "cpu:x86-64-v3" || word == "cpu:x86-64-v4" || word == "cuda" ||
         word == "cuda:sm_80" || word == "cuda:sm_90";
}

bool parseTargets(std::string_view text, std::vector<Target> &out, std::string &error) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t comma = std::min(text.find(',', begin), text.size());
    std::string_view word = text.substr(begin, comma - begin);
    if (!parseOne(word, out)) {
      error = "unknown target '" + std::string(word) +
              "'; possible are cpu, cpu:x86-64-v3, cpu:x86-64-v4, cuda, cuda:sm_80 and cuda:sm_90";
      return false;
    }
    begin = comma + 1;
  }
  return true;
}

std::optional<CpuLevel> hostCpuLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
            __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512cd");
  if (v4)
    return CpuLevel::X86_64_v4;
  if (v3)
    return CpuLevel::X86_64_v3;
#endif
  return std::nullopt;
}

} // namespace pellucid
