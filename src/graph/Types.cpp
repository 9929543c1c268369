// SPDX-License-Identifier: Apache-2.0
#include "graph/Types.h"

#include <charconv>

namespace pellucid::graph {

std::string toString(Device device) {
  std::string text = device.kind == Device::Kind::Cpu ? "cpu" : "cuda";
  return device.index < 0 ? text : text + ":" + std::to_string(device.index);
}

std::optional<Device> deviceNamed(std::string_view text) {
  Device device;
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  if (kind == "cuda")
    device.kind = Device::Kind::Cuda;
  else if (kind != "cpu")
    return std::nullopt;
  if (colon == std::string_view::npos)
    return device;
  std::string_view number = text.substr(colon + 1);
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device.index);
  if (error != std::errc() || end != number.data() + number.size() || device.index < 0)
    return std::nullopt;
  return device;
}

// Most sizes are numbers: those are taken without making expressions of what comes in between.
// Nothing is given where it does not fit into 64 bits.
static std::optional<int64_t> knownNumel(const std::vector<Expr> &shape) {
  int64_t count = 1;
  for (const Expr &dim : shape)
    if (auto size = dim.constant(); !size || __builtin_mul_overflow(count, *size, &count))
      return std::nullopt;
  return count;
}

static std::optional<bool> knownContiguity(const TensorType &type) {
  int64_t expected = 1;
  for (size_t i = type.shape.size(); i-- > 0;) {
    auto size = type.shape[i].constant(), stride = type.strides[i].constant();
    if (!size || !stride)
      return std::nullopt;
    if (size == 0)
      return true;
    if (size == 1)
      continue;
    if (stride != expected)
      return false;
    if (__builtin_mul_overflow(expected, *size, &expected))
      return std::nullopt;
  }
  return true;
}

static std::optional<int64_t> knownStorageElements(const TensorType &type) {
  auto last = type.offset.constant();
  for (size_t i = 0; i < type.shape.size() && last; ++i) {
    auto size = type.shape[i].constant(), stride = type.strides[i].constant();
    if (size == 0)
      return 0;
    int64_t part = 0;
    if (!size || !stride || __builtin_mul_overflow(*size - 1, *stride, &part) ||
        __builtin_add_overflow(*last, part, &*last))
      return std::nullopt;
  }
  if (last && __builtin_add_overflow(*last, 1, &*last))
    return std::nullopt;
  return last;
}

std::vector<Expr> contiguousStrides(const std::vector<Expr> &shape) {
  std::vector<Expr> strides(shape.size(), Expr(1));
  for (size_t i = shape.size(); i-- > 1;)
    // A dim of size 0 counts as 1, so that strides of empty tensors are those of PyTorch.
    strides[i - 1] = shape[i].constant() == 0 ? strides[i] : strides[i] * shape[i];
  return strides;
}

TensorType::TensorType(DataType dtype, std::vector<Expr> shape, Device device)
    : dtype(dtype), shape(std::move(shape)), strides(contiguousStrides(this->shape)),
      device(device) {}

Expr TensorType::numel() const {
  if (auto known = knownNumel(shape))
    return *known;
  Expr n = 1;
  for (const Expr &dim : shape)
    n = n * dim;
  return n;
}

bool TensorType::isContiguous(const SymbolTable &symbols) const {
  if (auto known = knownContiguity(*this))
    return *known;
  Expr expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i].constant() == 0)
      return true;
    if (symbols.proveEqual(shape[i], 1))
      continue;
    if (!symbols.proveEqual(strides[i], expected))
      return false;
    expected = expected * shape[i];
  }
  return true;
}

std::optional<bool> TensorType::contiguity(const SymbolTable &symbols) const {
  if (isContiguous(symbols))
    return true;
  Expr expected = 1;
  bool differs = false;
  for (size_t i = shape.size(); i-- > 0;) {
    std::optional<bool> isOne = symbols.prove(equal(shape[i], 1));
    if (isOne == true)
      continue;
    // With size 1 the dim would not count.
    if (!isOne)
      return std::nullopt;
    differs = differs || symbols.prove(equal(strides[i], expected)) == false;
    expected = expected * shape[i];
  }
  return differs ? std::optional(false) : std::nullopt;
}

Expr TensorType::storageElements(const SymbolTable &symbols) const {
  if (auto known = knownStorageElements(*this))
    return *known;
  Expr last = offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (symbols.proveEqual(shape[i], 0))
      return 0;
    last = last + (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

static std::string listText(const std::vector<Expr> &elements) {
  std::string text = "[";
  for (const Expr &e : elements)
    text += (text.size() > 1 ? ", " : "") + e.text();
  return text + "]";
}

std::string toString(const TensorType &type) {
  std::string text = std::string(info(type.dtype).cli) + listText(type.shape);
  if (type.strides != contiguousStrides(type.shape))
    text += " strides=" + listText(type.strides);
  if (type.offset != Expr(0))
    text += " offset=" + type.offset.text();
  if (type.device != Device{})
    text += " device=" + toString(type.device);
  if (!type.layout.empty())
    text += " layout=" + type.layout;
  return text;
}

Argument::Argument(const Expr &v) {
  if (std::optional<int64_t> c = v.constant())
    storage = *c;
  else
    storage = v;
}

Argument Argument::list(const std::vector<Expr> &elements) {
  return Argument(List(elements.begin(), elements.end()));
}

Argument Argument::list(const std::vector<Value *> &elements) {
  return Argument(List(elements.begin(), elements.end()));
}

bool Argument::operator==(const Argument &other) const { return storage == other.storage; }

std::optional<Expr> Argument::integer() const {
  if (auto b = as<bool>())
    return Expr(*b ? 1 : 0);
  if (auto i = as<int64_t>())
    return Expr(*i);
  return as<Expr>();
}

std::optional<double> Argument::number() const {
  if (auto b = as<bool>())
    return *b ? 1.0 : 0.0;
  if (auto i = as<int64_t>())
    return static_cast<double>(*i);
  return as<double>();
}

void Argument::replaceValue(Value *from, Value *to) {
  if (value() == from)
    storage = to;
  else if (List *l = list())
    for (Argument &a : *l)
      a.replaceValue(from, to);
}

} // namespace pellucid::graph
