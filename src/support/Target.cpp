// SPDX-License-Identifier: Apache-2.0
#include "support/Target.h"

#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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
  switch (level) {
  case CpuLevel::X86_64_v3:
    return "x86-64-v3";
  case CpuLevel::X86_64_v4:
    return "x86-64-v4";
  case CpuLevel::X86_64_v4_bf16:
    return "x86-64-v4+bf16";
  case CpuLevel::X86_64_v4_amx:
    return "x86-64-v4+amx";
  }
  return "?";
}

std::optional<CpuLevel> cpuLevelNamed(std::string_view name) {
  for (CpuLevel level : allCpuLevels)
    if (name == toString(level))
      return level;
  return std::nullopt;
}

std::string cpuLevelNames(std::string_view before) {
  std::string text;
  for (CpuLevel level : allCpuLevels)
    text += (text.empty() ? "" : ", ") + std::string(before) + std::string(toString(level));
  return text;
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
  constexpr std::string_view ofCpu = "cpu:";
  if (word == "cpu") {
    for (CpuLevel level : allCpuLevels)
      addOnce(out, {Kind::Cpu, level, 0});
    return true;
  }
  if (word.starts_with(ofCpu)) {
    auto level = cpuLevelNamed(word.substr(ofCpu.size()));
    if (level)
      addOnce(out, {Kind::Cpu, *level, 0});
    return level.has_value();
  }
  bool newest = word == "cuda" || word == "cuda:sm_90", known = newest || word == "cuda:sm_80";
  if (known)
    addOnce(out, {Kind::Cuda, CpuLevel::X86_64_v3, newest ? 90u : 80u});
  return known;
}

bool parseTargets(std::string_view text, std::vector<Target> &out, std::string &error) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t comma = std::min(text.find(',', begin), text.size());
    std::string_view word = text.substr(begin, comma - begin);
    if (!parseOne(word, out)) {
      error = "unknown target '" + std::string(word) + "'; possible are cpu, " +
              cpuLevelNames("cpu:") + ", cuda, cuda:sm_80 and cuda:sm_90";
      return false;
    }
    begin = comma + 1;
  }
  return true;
}

#if defined(__x86_64__)
namespace {
/// Linux's arch_prctl: which extended states there are, and asking for one.
constexpr int archGetXcompSupp = 0x1021, archReqXcompPerm = 0x1023;
constexpr unsigned long tileData = 18; ///< the state's bit in XCR0; 17 is the configuration's

bool hasPairInstructions() {
  unsigned a, b, c, d, most, bf16;
  if (!__get_cpuid_count(7, 0, &most, &b, &c, &d) || most < 1 ||
      !__get_cpuid_count(7, 1, &bf16, &b, &d, &d))
    return false;
  __get_cpuid_count(7, 0, &a, &b, &c, &d);
  bool vnni = c >> 11 & 1;
  return vnni && (bf16 >> 5 & 1);
}

bool hasTileInstructions() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return false;
  bool bf16 = d >> 22 & 1, tiles = d >> 24 & 1, int8 = d >> 25 & 1;
  unsigned long states = 0;
  return bf16 && tiles && int8 && ::syscall(SYS_arch_prctl, archGetXcompSupp, &states) == 0 &&
         (states >> 17 & 3) == 3;
}
} // namespace
#endif

std::optional<CpuLevel> hostCpuLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
            __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512cd");
  if (v4 && hasPairInstructions())
    return hasTileInstructions() ? CpuLevel::X86_64_v4_amx : CpuLevel::X86_64_v4_bf16;
  if (v4)
    return CpuLevel::X86_64_v4;
  if (v3)
    return CpuLevel::X86_64_v3;
#endif
  return std::nullopt;
}

bool allowTiles() {
#if defined(__x86_64__)
  static const bool allowed =
      hasTileInstructions() && ::syscall(SYS_arch_prctl, archReqXcompPerm, tileData) == 0;
  return allowed;
#else
  return false;
#endif
}

} // namespace pellucid
