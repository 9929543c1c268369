// SPDX-License-Identifier: Apache-2.0
// Tensors that hold data: making them, and what can be asked of them.
#include "api/Session.h"
#include "graph/FakeRules.h"

#include <cstring>

namespace pellucid {

using namespace api;

namespace api {

const TensorState &stateOf(const Tensor &tensor, const char *what) {
  if (!tensor.state)
    throw Error(std::string(what) + ": the tensor is undefined");
  const TensorState &state = *tensor.state;
  if (isTraced(state) && state.recording.get() != Recording::active())
    throw Error(std::string(what) + ": the tensor belongs to a trace that is not under way");
  return state;
}

bool isTraced(const TensorState &state) { return state.recording && !state.recording->isSession(); }

Tensor inMemory(const Tensor &tensor, const char *what) {
  const TensorState &state = stateOf(tensor, what);
  if (isTraced(state))
    throw Error(std::string(what) + ": a tensor has no data while it is traced");
  return state.recording ? Session::get()->computed(tensor) : tensor;
}

Tensor wrapState(TensorState state) {
  Tensor tensor;
  tensor.state = std::make_shared<TensorState>(std::move(state));
  return tensor;
}

std::vector<int64_t> rowMajor(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool isRowMajor(const TensorState &state) {
  int64_t stride = 1;
  for (int64_t size : state.shape)
    if (size == 0)
      return true;
  for (size_t i = state.shape.size(); i-- > 0;) {
    if (state.shape[i] != 1 && state.strides[i] != stride)
      return false;
    stride *= state.shape[i];
  }
  return true;
}

Tensor allocate(DataType type, const std::vector<int64_t> &shape) {
  int64_t bytes = byteSize(type);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      throw Error("a tensor cannot have the size " + std::to_string(size));
  TensorState state;
  // Multiples of 64: what the run time's kernels like best.
  void *memory = std::aligned_alloc(64, (static_cast<size_t>(bytes) + 64) / 64 * 64);
  if (!memory)
    throw Error("out of memory for a tensor of " + std::to_string(bytes) + " bytes");
  state.owner = std::shared_ptr<void>(memory, std::free);
  state.data = static_cast<std::byte *>(memory);
  state.type = type;
  state.shape = shape;
  state.strides = rowMajor(shape);
  return wrapState(std::move(state));
}

} // namespace api

namespace {

const graph::TensorType &tracedType(const TensorState &state) { return state.object->tensor.type; }

std::vector<SymInt> fromExprs(const std::vector<symbolic::Expr> &exprs) {
  std::vector<SymInt> sizes;
  for (const symbolic::Expr &expr : exprs)
    sizes.push_back(fromExpr(expr));
  return sizes;
}

template <typename T> void fill(std::byte *data, int64_t count, T value) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(data + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
}

/// Writes `value`, rounded to `type`, `count` times.
void fillAs(std::byte *data, DataType type, int64_t count, double value) {
  switch (type) {
  case DataType::Float64:
    return fill(data, count, value);
  case DataType::Float32:
    return fill(data, count, static_cast<float>(value));
  case DataType::Float16:
    return fill(data, count, static_cast<_Float16>(value));
  case DataType::BFloat16: {
    auto single = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return fill(data, count, static_cast<uint16_t>(value != value ? 0x7fc0 : rounded));
  }
  case DataType::Bool:
    return fill(data, count, static_cast<uint8_t>(value != 0));
  case DataType::Int8:
    return fill(data, count, static_cast<int8_t>(value));
  case DataType::Int16:
    return fill(data, count, static_cast<int16_t>(value));
  case DataType::Int32:
    return fill(data, count, static_cast<int32_t>(value));
  case DataType::Int64:
    return fill(data, count, static_cast<int64_t>(value));
  case DataType::UInt8:
    return fill(data, count, static_cast<uint8_t>(value));
  case DataType::UInt16:
    return fill(data, count, static_cast<uint16_t>(value));
  case DataType::UInt32:
    return fill(data, count, static_cast<uint32_t>(value));
  case DataType::UInt64:
    return fill(data, count, static_cast<uint64_t>(value));
  default:
    throw Error("tensors of type " + std::string(info(type).torch) +
                " cannot be filled with numbers");
  }
}

int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor made(const char *name, const std::vector<SymInt> &shape, dtype type,
            std::optional<double> value) {
  if (Recording::active()) {
    std::vector<Argument> arguments{shape};
    bool isFull = std::string_view(name) == "full";
    if (isFull)
      arguments.emplace_back(*value);
    return callBuiltin(std::string("aten::") + (isFull ? "full" : name), arguments,
                       {{"dtype", type}})
        .front();
  }
  std::vector<int64_t> sizes;
  for (const SymInt &size : shape)
    sizes.push_back(size.guard_int());
  Tensor tensor = allocate(toDataType(type), sizes);
  if (value)
    fillAs(tensor.state->data, toDataType(type), elementCount(sizes), *value);
  return tensor;
}

} // namespace

std::vector<SymInt> Tensor::sizes() const {
  const TensorState &s = stateOf(*this, "sizes");
  return s.recording ? fromExprs(tracedType(s).shape)
                     : std::vector<SymInt>(s.shape.begin(), s.shape.end());
}

SymInt Tensor::size(int64_t d) const {
  std::vector<SymInt> all = sizes();
  int64_t rank = static_cast<int64_t>(all.size());
  if (d < -rank || d >= rank)
    throw Error("size: dim " + std::to_string(d) + " is out of range for a tensor of " +
                std::to_string(rank) + " dims");
  return all[static_cast<size_t>(d < 0 ? d + rank : d)];
}

SymInt Tensor::numel() const {
  SymInt count = 1;
  for (const SymInt &size : sizes())
    count = count * size;
  return count;
}

int64_t Tensor::dim() const { return static_cast<int64_t>(sizes().size()); }

std::vector<SymInt> Tensor::strides() const {
  const TensorState &s = stateOf(*this, "strides");
  return s.recording ? fromExprs(tracedType(s).strides)
                     : std::vector<SymInt>(s.strides.begin(), s.strides.end());
}

dtype Tensor::scalar_type() const {
  const TensorState &s = stateOf(*this, "scalar_type");
  return fromDataType(s.recording ? tracedType(s).dtype : s.type);
}

bool Tensor::is_contiguous() const {
  const TensorState &s = stateOf(*this, "is_contiguous");
  return s.recording ? tracedType(s).isContiguous(s.recording->tracer.symbols()) : isRowMajor(s);
}

void *Tensor::data_ptr() const {
  const TensorState &s = stateOf(*this, "data_ptr");
  if (isTraced(s))
    throw Error("data_ptr: a tensor has no data while it is traced; keep the computation in "
                "operators and kernels");
  if (s.recording)
    throw Error(
        "data_ptr: a recorded tensor (it requires grad, or was computed from one that does) "
        "is not written through a pointer; read it with const_data_ptr(), write it with "
        "operators (aten::copy_ under a NoGradGuard), or take a copy with values()");
  return s.data;
}

const void *Tensor::const_data_ptr() const {
  return guarded([&]() -> const void * {
    Tensor read = inMemory(*this, "const_data_ptr");
    if (read.state != state)
      state->owner = read.state->owner;
    return read.state->data;
  });
}

/// The only element of a tensor in memory.
static const std::byte *onlyElement(const Tensor &tensor) {
  int64_t count = elementCount(tensor.state->shape);
  if (count != 1)
    throw Error("item: a tensor of " + std::to_string(count) + " elements is not a number");
  return tensor.state->data;
}

double Tensor::item_double() const {
  return guarded([&] {
    Tensor read = inMemory(*this, "item");
    return trace::realAt(read.state->type, onlyElement(read));
  });
}

int64_t Tensor::item_int64() const {
  return guarded([&] {
    Tensor read = inMemory(*this, "item");
    return trace::integerAt(read.state->type, onlyElement(read));
  });
}

Tensor Tensor::values() const {
  return guarded([&] {
    Tensor read = inMemory(*this, "values");
    uint64_t bytes = 0;
    std::shared_ptr<const std::byte> dense = denseBytes(*read.state, bytes);
    Tensor copy = allocate(read.state->type, read.state->shape);
    std::memcpy(copy.state->data, dense.get(), bytes);
    return copy;
  });
}

Tensor empty(const std::vector<SymInt> &shape, dtype type) {
  return guarded([&] { return made("empty", shape, type, std::nullopt); });
}
Tensor zeros(const std::vector<SymInt> &shape, dtype type) {
  return guarded([&] { return made("zeros", shape, type, 0.0); });
}
Tensor ones(const std::vector<SymInt> &shape, dtype type) {
  return guarded([&] { return made("ones", shape, type, 1.0); });
}
Tensor full(const std::vector<SymInt> &shape, double value, dtype type) {
  return guarded([&] { return made("full", shape, type, value); });
}

Tensor empty_like(const Tensor &x) {
  return guarded([&] {
    const TensorState &s = stateOf(x, "empty_like");
    if (Recording::active() || s.recording)
      return callBuiltin("aten::empty_like", {x}, {}).front();
    graph::TensorType type(s.type, {s.shape.begin(), s.shape.end()});
    type.strides.assign(s.strides.begin(), s.strides.end());
    Tensor result = allocate(s.type, s.shape);
    std::vector<symbolic::Expr> strides = graph::preservedStrides(type, {});
    for (size_t i = 0; i < strides.size(); ++i)
      result.state->strides[i] = *strides[i].constant();
    return result;
  });
}

Tensor from_blob(void *data, const std::vector<int64_t> &shape, dtype type) {
  TensorState state;
  state.data = static_cast<std::byte *>(data);
  state.owner = std::shared_ptr<void>(data, [](void *) {});
  state.isBorrowed = true;
  state.type = toDataType(type);
  state.shape = shape;
  state.strides = rowMajor(shape);
  return wrapState(std::move(state));
}

Tensor rand(const std::vector<int64_t> &shape, dtype type, double low, double high, uint64_t seed) {
  return guarded([&] {
    Tensor tensor = allocate(toDataType(type), shape);
    uint64_t state = seed * 0xd1342543de82ef95ull + 0x2545f4914f6cdd1dull;
    for (int64_t i = 0, n = elementCount(shape); i < n; ++i) {
      // splitmix64: the same on every machine.
      uint64_t z = state += 0x9e3779b97f4a7c15ull;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
      z ^= z >> 31;
      double value = low + (high - low) * (static_cast<double>(z >> 11) * 0x1p-53);
      fillAs(tensor.state->data + static_cast<size_t>(i) * byteSize(tensor.state->type),
             tensor.state->type, 1, value);
    }
    return tensor;
  });
}

} // namespace pellucid
