// SPDX-License-Identifier: Apache-2.0
// The numbers that a weight begins with.
#include "reference/graph/Interpreter.h"
#include "trace/FloatDraws.h"
#include "trace/TraceSession.h"

#include <cmath>
#include <cstring>

namespace pellucid::trace {

using namespace graph;

namespace {

/// As a cast has it (passes/graph/PointwiseGroup.cpp): what 32 and 64 bits do not hold is their
/// smallest number, and 0 in fewer.
static int64_t truncatedInitializer(double value, DataType type) {
  bool narrow = byteSize(type) < 4, wide = byteSize(type) == 8;
  if (std::abs(value) < (wide ? 0x1p63 : 0x1p31))
    return static_cast<int64_t>(value);
  return narrow ? 0 : wide ? INT64_MIN : INT32_MIN;
}

void storeElement(std::byte *at, DataType type, double value) {
  auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
  switch (type) {
  case DataType::Float64:
    return put(value);
  case DataType::Float32:
    return put(static_cast<float>(value));
  case DataType::Float16:
    return put(static_cast<_Float16>(value));
  case DataType::BFloat16: {
    float single = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    return put(static_cast<uint16_t>((uint64_t(bits) + 0x7fff + ((bits >> 16) & 1)) >> 16));
  }
  case DataType::Int64:
    return put(truncatedInitializer(value, type));
  case DataType::Int32:
    return put(static_cast<int32_t>(truncatedInitializer(value, type)));
  case DataType::Int16:
    return put(static_cast<int16_t>(truncatedInitializer(value, type)));
  case DataType::Int8:
  case DataType::UInt8:
    return put(static_cast<uint8_t>(truncatedInitializer(value, type)));
  case DataType::Bool: // NaN is no zero
    return put(static_cast<uint8_t>(value != 0));
  default:
    throw DiagnosticError(SourceLocation("--weights"), "parameters of type " +
                                                           std::string(info(type).torch) +
                                                           " cannot be made here; give --weights");
  }
}

void storeInteger(std::byte *at, DataType type, int64_t value) {
  if (type == DataType::Int64)
    std::memcpy(at, &value, sizeof value);
  else
    storeElement(at, type, static_cast<double>(value));
}

/// What was drawn, converted as the tensor was since.
void storeDrawn(std::byte *data, DataType type, const Initializer &initializer) {
  DrawnValues values = initializer.drawn->values();
  size_t element = byteSize(type);
  if (type == initializer.drawn->dtype() && initializer.through.empty() && !values.singles.empty())
    return storeSingles(type, values.singles.data(), data, values.singles.size());
  values.reals.insert(values.reals.end(), values.singles.begin(), values.singles.end());
  for (size_t i = 0; i < values.integers.size(); ++i)
    storeInteger(data + i * element, type, values.integers[i]);
  for (size_t i = 0; i < values.reals.size(); ++i) {
    double value = values.reals[i];
    for (DataType through : initializer.through)
      if (isFloat(through))
        value = reference::roundTo(through, value);
    storeElement(data + i * element, type, value);
  }
}

} // namespace

Weight initialWeight(const std::string &name, const TensorType &type,
                     const Initializer &initializer) {
  Weight weight;
  weight.dtype = type.dtype;
  int64_t count = 1;
  for (const Expr &size : type.shape) {
    auto known = size.constant();
    if (!known)
      throw DiagnosticError(SourceLocation(name),
                            "the shape of a parameter must be constant, got " + toString(type));
    weight.shape.push_back(*known);
    count *= *known;
  }
  size_t element = byteSize(type.dtype);
  weight.bytes = static_cast<uint64_t>(count) * element;
  std::shared_ptr<std::byte[]> data(new std::byte[weight.bytes + 1]);
  if (initializer.kind == Initializer::Kind::Drawn)
    storeDrawn(data.get(), type.dtype, initializer);
  for (int64_t i = 0; i < count && initializer.kind != Initializer::Kind::Drawn; ++i) {
    if (!initializer.integers.empty()) {
      bool same = initializer.kind == Initializer::Kind::Full;
      storeInteger(data.get() + static_cast<size_t>(i) * element, type.dtype,
                   initializer.integers.at(same ? 0 : static_cast<size_t>(i)));
      continue;
    }
    double value = 0;
    switch (initializer.kind) {
    case Initializer::Kind::Ones:
      value = 1;
      break;
    case Initializer::Kind::Full:
      value = initializer.value;
      break;
    case Initializer::Kind::Listed:
      value = initializer.values.at(static_cast<size_t>(i));
      break;
    default:
      break;
    }
    storeElement(data.get() + static_cast<size_t>(i) * element, type.dtype, value);
  }
  weight.data = std::shared_ptr<const std::byte>(data, data.get());
  return weight;
}

} // namespace pellucid::trace
