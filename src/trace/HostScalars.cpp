// SPDX-License-Identifier: Apache-2.0
#include "trace/HostScalars.h"

#include "trace/EagerRecorder.h"
#include "trace/Gradients.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

enum class Step : uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, Eq, Ne, Lt, Le, Gt, Ge };

std::optional<Step> stepNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, Step> names[] = {
      {"add", Step::Add}, {"sub", Step::Sub}, {"mul", Step::Mul},
      {"div", Step::Div}, {"eq", Step::Eq},   {"floor_divide", Step::FloorDiv},
      {"ne", Step::Ne},   {"lt", Step::Lt},   {"remainder", Step::Mod},
      {"le", Step::Le},   {"gt", Step::Gt},   {"ge", Step::Ge}};
  for (auto [known, step] : names)
    if (known == name)
      return step;
  return std::nullopt;
}

bool compares(Step step) { return step >= Step::Eq; }

template <typename T> bool holds(Step step, T a, T b) {
  switch (step) {
  case Step::Eq:
    return a == b;
  case Step::Ne:
    return a != b;
  case Step::Lt:
    return a < b;
  case Step::Le:
    return a <= b;
  case Step::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

/// Integers wrap; quotients and remainders go towards smaller numbers. Nullopt: the operator says
/// what it is, or that it is none.
template <typename T, typename Unsigned>
std::optional<T> wholeResult(Step step, int64_t left, int64_t right) {
  auto a = static_cast<T>(left), b = static_cast<T>(right);
  auto x = static_cast<Unsigned>(a), y = static_cast<Unsigned>(b);
  switch (step) {
  case Step::Add:
    return static_cast<T>(x + y);
  case Step::Sub:
    return static_cast<T>(x - y);
  case Step::Mul:
    return static_cast<T>(x * y);
  case Step::FloorDiv:
  case Step::Mod: {
    if (b == 0 || b == -1)
      return std::nullopt;
    T quotient = a / b, rest = a % b;
    bool isBelow = rest != 0 && (rest < 0) != (b < 0);
    return step == Step::Mod ? static_cast<T>(isBelow ? rest + b : rest)
                             : static_cast<T>(isBelow ? quotient - 1 : quotient);
  }
  default:
    return std::nullopt;
  }
}

template <typename T> std::optional<T> realResult(Step step, T a, T b) {
  switch (step) {
  case Step::Add:
    return a + b;
  case Step::Sub:
    return a - b;
  case Step::Mul:
    return a * b;
  case Step::Div:
    return a / b;
  default:
    return std::nullopt;
  }
}

/// The number's bytes where it is known on the host now and reverse mode asks nothing of it; null
/// otherwise.
const std::byte *knownNow(TensorObject &object) {
  const TracedTensor &tensor = object.tensor;
  const TracedStorage &storage = *tensor.storage;
  bool isCpu = storage.device.kind == Device::Kind::Cpu;
  if (tensor.type.rank() != 0 || !isCpu || !storage.memory || storage.pinned || storage.conflict ||
      !storage.unreadable.empty() || storage.memory->device.kind != Device::Kind::Cpu ||
      tensor.type.dtype != storage.type.dtype || requiresGrad(object))
    return nullptr;
  auto offset = tensor.type.offset.constant();
  if (!offset)
    return nullptr;
  return storage.memory->data.get() + *offset * static_cast<int64_t>(byteSize(tensor.type.dtype));
}

struct Operand {
  std::optional<int64_t> whole;
  std::optional<double> real;
};

/// A tensor of the type, or a number of the script that the type holds as it is.
std::optional<Operand> operandOf(const h::Value &value, DataType type) {
  if (auto *object = value.as<TensorObject>()) {
    const std::byte *at = object->tensor.type.dtype == type ? knownNow(*object) : nullptr;
    if (!at)
      return std::nullopt;
    return isFloat(type) ? Operand{{}, realAt(type, at)} : Operand{integerAt(type, at), {}};
  }
  if (value.isInt()) {
    int64_t most = isFloat(type)             ? int64_t(1) << 24
                   : type == DataType::Int32 ? INT32_MAX
                                             : INT64_MAX;
    if (value.integer() > most || value.integer() < -most)
      return std::nullopt;
    auto number = static_cast<int64_t>(value.integer());
    return isFloat(type) ? Operand{{}, static_cast<double>(number)} : Operand{number, {}};
  }
  if (!value.isFloat() || !isFloat(type))
    return std::nullopt;
  double number = value.real();
  bool isHeld =
      type == DataType::Float64 || static_cast<double>(static_cast<float>(number)) == number;
  return isHeld ? std::optional(Operand{{}, number}) : std::nullopt;
}

ConcreteTensor numberOf(DataType type, const auto &number) {
  ConcreteTensor out{type, {}, {}, nullptr};
  auto bytes = std::make_shared<std::array<std::byte, 8>>();
  static_assert(sizeof number <= 8);
  std::memcpy(bytes->data(), &number, sizeof number);
  out.data = {bytes, bytes->data()};
  return out;
}

std::optional<ConcreteTensor> result(Step step, DataType type, const Operand &a, const Operand &b) {
  if (compares(step)) {
    bool isTrue = a.whole ? holds(step, *a.whole, *b.whole) : holds(step, *a.real, *b.real);
    return numberOf(DataType::Bool, isTrue);
  }
  auto made = [&](const auto &number) {
    return number ? std::optional(numberOf(type, *number)) : std::nullopt;
  };
  switch (type) {
  case DataType::Int64:
    return made(wholeResult<int64_t, uint64_t>(step, *a.whole, *b.whole));
  case DataType::Int32:
    return made(wholeResult<int32_t, uint32_t>(step, *a.whole, *b.whole));
  case DataType::Float64:
    return made(realResult(step, *a.real, *b.real));
  case DataType::Float32:
    return made(realResult(step, static_cast<float>(*a.real), static_cast<float>(*b.real)));
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<h::Value> computedAtOnce(Tracer &tracer, const std::string &name,
                                       const h::CallArgs &args) {
  if (args.positional.size() != 2 || !args.keywords.empty())
    return std::nullopt;
  auto *first = args.positional[0].as<TensorObject>();
  if (!first)
    first = args.positional[1].as<TensorObject>();
  if (!first || first->tensor.type.rank() != 0 || &tracer.graph() != &tracer.program.main ||
      tracer.recorder->computesAll)
    return std::nullopt;
  auto step = stepNamed(name);
  DataType type = first->tensor.type.dtype;
  if (!step)
    return std::nullopt;
  auto a = operandOf(args.positional[0], type);
  auto b = a ? operandOf(args.positional[1], type) : std::nullopt;
  if (!b || a->whole.has_value() != b->whole.has_value())
    return std::nullopt;
  auto number = result(*step, type, *a, *b);
  if (!number)
    return std::nullopt;
  TracedTensor made = tracer.recorder->tensorOf(*number, first->tensor.storage->device);
  made.storage->isPlaced = first->tensor.storage->isPlaced;
  return tensorValue(tracer, std::move(made));
}

} // namespace pellucid::trace
