// SPDX-License-Identifier: Apache-2.0
#include "archive/PickleWriter.h"

#include <bit>

namespace pellucid::archive {

namespace {

/// The class of a typed storage; empty for types that have none.
std::string_view storageOf(DataType type) {
  switch (type) {
  case DataType::Float32:
    return "FloatStorage";
  case DataType::Float64:
    return "DoubleStorage";
  case DataType::Float16:
    return "HalfStorage";
  case DataType::BFloat16:
    return "BFloat16Storage";
  case DataType::Int64:
    return "LongStorage";
  case DataType::Int32:
    return "IntStorage";
  case DataType::Int16:
    return "ShortStorage";
  case DataType::Int8:
    return "CharStorage";
  case DataType::UInt8:
    return "ByteStorage";
  case DataType::Bool:
    return "BoolStorage";
  default:
    return {};
  }
}

} // namespace

void PickleWriter::little(uint64_t value, int size) {
  for (int i = 0; i < size; ++i)
    put(static_cast<uint8_t>(value >> (8 * i)));
}

void PickleWriter::integer(int64_t value) {
  if (value >= 0 && value < 256) {
    put('K');
    little(static_cast<uint64_t>(value), 1);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    put('J');
    little(static_cast<uint64_t>(value), 4);
  } else {
    put(0x8a);
    put(8);
    little(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::real(double value) {
  put('G');
  uint64_t bits = std::bit_cast<uint64_t>(value);
  for (int i = 7; i >= 0; --i)
    put(static_cast<uint8_t>(bits >> (8 * i)));
}

void PickleWriter::text(std::string_view value) {
  put('X');
  little(value.size(), 4);
  out.insert(out.end(), value.begin(), value.end());
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  put('c');
  for (std::string_view part : {module, name}) {
    out.insert(out.end(), part.begin(), part.end());
    put('\n');
  }
}

void PickleWriter::beginOrderedDict() {
  global("collections", "OrderedDict");
  put(')');
  call();
  put('(');
}

void PickleWriter::integers(const std::vector<int64_t> &values) {
  beginTuple();
  for (int64_t value : values)
    integer(value);
  endTuple();
}

void PickleWriter::storage(std::string_view type, const std::string &key, int64_t count) {
  beginTuple();
  text("storage");
  if (type.empty())
    global("torch.storage", "UntypedStorage");
  else
    global("torch", type);
  text(key);
  text("cpu");
  integer(count);
  endTuple();
  put('Q');
}

void PickleWriter::tensor(DataType dtype, const Place &place, bool requiresGrad) {
  std::string_view type = storageOf(dtype);
  global("torch._utils", type.empty() ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  beginTuple();
  storage(type, place.key, type.empty() ? place.count * byteSize(dtype) : place.count);
  integer(place.offset);
  integers(place.sizes);
  integers(place.strides);
  boolean(requiresGrad);
  global("collections", "OrderedDict");
  put(')');
  call();
  if (type.empty()) {
    global("torch", info(dtype).torch);
    none(); // metadata
  }
  endTuple();
  call();
}

void PickleWriter::beginParameter() {
  global("torch._utils", "_rebuild_parameter");
  beginTuple();
}

void PickleWriter::endParameter(bool requiresGrad) {
  boolean(requiresGrad);
  global("collections", "OrderedDict");
  put(')');
  call();
  endTuple();
  call();
}

void PickleWriter::remember(uint32_t number) {
  put('r');
  little(number, 4);
}

void PickleWriter::recall(uint32_t number) {
  put('j');
  little(number, 4);
}

std::vector<uint8_t> PickleWriter::finish() {
  put('.');
  return std::move(out);
}

} // namespace pellucid::archive
