// SPDX-License-Identifier: Apache-2.0
#include "runtime/PrepareLaunch.h"

#include <cstring>

namespace pellucid::runtime {

static Result refuse(const LaunchPlan &launch, const std::string &why) {
  return Result::invalid("launch '" + launch.launch->label + "': " + why);
}

/// Empty when the variant fits; else why not.
static std::string mismatch(const ProgramPlan &plan, const VariantPlan &variant,
                            const Frame &frame) {
  const Numbers &numbers = frame.numbers;
  if (!numbers.isKnown(variant.guard) || numbers[variant.guard] == 0)
    return "needs " + plan.expressions.text(variant.guard);
  for (const ArgumentPlan &argument : variant.arguments) {
    uint32_t divisor = argument.parameter->divisor;
    if (divisor <= 1)
      continue;
    bool fits = true;
    if (argument.kind == ArgumentPlan::Kind::Pointer)
      fits = !numbers.isKnown(argument.place.offset) ||
             reinterpret_cast<uintptr_t>(frame.address(argument.place)) % divisor == 0;
    else if (argument.kind == ArgumentPlan::Kind::Value)
      fits = !numbers.isKnown(argument.value) || numbers[argument.value] % divisor == 0;
    if (!fits)
      return "needs argument '" + argument.parameter->name + "' to be a multiple of " +
             std::to_string(divisor);
  }
  return {};
}

static bool fitsInteger(DataType type, int64_t value) {
  unsigned bits = 8 * byteSize(type);
  if (info(type).isSigned)
    return bits == 64 || (value >= -(int64_t(1) << (bits - 1)) && value < int64_t(1) << (bits - 1));
  return value >= 0 && (bits == 64 || value < int64_t(1) << bits);
}

/// False when the value has no such representation.
static bool packValue(const package::KernelParameter &parameter, int64_t value,
                      unsigned char *out) {
  switch (parameter.dtype) {
  case DataType::Bool:
    *out = value != 0;
    return true;
  case DataType::Float32: {
    float converted = static_cast<float>(value);
    std::memcpy(out, &converted, sizeof(converted));
    return true;
  }
  case DataType::Float64: {
    double converted = static_cast<double>(value);
    std::memcpy(out, &converted, sizeof(converted));
    return true;
  }
  default:
    if (isFloat(parameter.dtype) || !fitsInteger(parameter.dtype, value))
      return false;
    std::memcpy(out, &value, parameter.bytes);
    return true;
  }
}

static Result packArgument(const ProgramPlan &plan, const LaunchPlan &launch,
                           const ArgumentPlan &argument, Frame &frame) {
  const package::KernelParameter &parameter = *argument.parameter;
  unsigned char *out = frame.arguments.data() + parameter.offset;
  const Value &number =
      argument.kind == ArgumentPlan::Kind::Pointer ? argument.place.offset : argument.value;
  if (!frame.numbers.isKnown(number))
    return refuse(launch, "argument '" + parameter.name + "' = " + plan.expressions.text(number) +
                              " divides by zero or exceeds 64 bits");
  if (argument.kind == ArgumentPlan::Kind::Pointer) {
    // A view into a tensor without elements may begin anywhere.
    const Extent &extent = frame.extents[argument.place.base];
    if (frame.numbers[argument.place.offset] != 0 && extent.below + extent.above != 0)
      if (std::string why = frame.whyOutside(plan, argument.place, 0); !why.empty())
        return refuse(launch, "argument '" + parameter.name + "': " + why);
    unsigned char *address = frame.address(argument.place);
    std::memcpy(out, &address, sizeof(address));
  } else if (argument.kind == ArgumentPlan::Kind::Immediate) {
    std::memcpy(out, &argument.bits, parameter.bytes);
  } else if (!packValue(parameter, frame.numbers[number], out)) {
    return refuse(launch, "argument '" + parameter.name + "' is " +
                              std::to_string(frame.numbers[number]) + ", which does not fit " +
                              std::string(info(parameter.dtype).cli));
  }
  return {};
}

static Result computeGrid(const ProgramPlan &plan, const LaunchPlan &launch,
                          const GridLimits &limits, const Numbers &numbers, PreparedLaunch &out) {
  const int64_t most[3] = {limits.x, limits.y, limits.z};
  out.programs = 1;
  for (size_t i = 0; i < 3; ++i) {
    Value size = out.variant->grid[i];
    if (!numbers.isKnown(size))
      return refuse(launch, "grid[" + std::to_string(i) + "] = " + plan.expressions.text(size) +
                                " divides by zero or exceeds 64 bits");
    if (numbers[size] < 0 || numbers[size] > most[i])
      return refuse(launch, "grid[" + std::to_string(i) + "] is " + std::to_string(numbers[size]) +
                                ", must be in 0.." + std::to_string(most[i]));
    out.grid[i] = static_cast<uint32_t>(numbers[size]);
    if (__builtin_mul_overflow(out.programs, out.grid[i], &out.programs) ||
        out.programs > INT64_MAX)
      return refuse(launch, "the grid has more than 2^63 programs");
  }
  return {};
}

Result prepareLaunch(const ProgramPlan &plan, const LaunchPlan &launch, const GridLimits &limits,
                     Frame &frame, PreparedLaunch &out) {
  std::string why;
  out.variant = nullptr;
  for (const VariantPlan &variant : launch.variants) {
    why = mismatch(plan, variant, frame);
    if (why.empty()) {
      out.variant = &variant;
      break;
    }
  }
  if (!out.variant)
    return refuse(launch, "no variant was compiled for these inputs; the last one " + why);
  for (const ArgumentPlan &argument : out.variant->arguments)
    if (Result result = packArgument(plan, launch, argument, frame); !result.ok())
      return result;
  return computeGrid(plan, launch, limits, frame.numbers, out);
}

} // namespace pellucid::runtime
