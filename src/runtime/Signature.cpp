// SPDX-License-Identifier: Apache-2.0
#include "runtime/Signature.h"

#include "runtime/DlpackTypes.h"

#include <algorithm>
#include <array>
#include <set>

namespace pellucid::runtime {

static Result refuse(const char *kind, const std::string &name, const std::string &why) {
  return Result::invalid(std::string(kind) + " '" + name + "': " + why);
}

static Result wrongCount(const char *kind, size_t given, size_t expected) {
  return Result::invalid(std::to_string(given) + " " + kind + (given == 1 ? "" : "s") +
                         " given, the package has " + std::to_string(expected));
}

Signature::Signature(const package::Manifest &m, Expressions &e) : manifest(m), expressions(e) {
  auto values = [&](const std::vector<package::Bytecode> &codes) {
    std::vector<Value> list;
    for (const package::Bytecode &code : codes)
      list.push_back(e.add(code));
    return list;
  };
  for (const package::Input &input : m.inputs) {
    inputs.push_back({toDlpack(input.dtype), values(input.shape), values(input.strides)});
    anyMutated |= input.mutated;
  }
  for (const package::Output &output : m.outputs)
    outputs.push_back({toDlpack(output.dtype), values(output.shape), {}});
  for (const package::Guard &guard : m.guards)
    guards.push_back({e.add(guard.condition), &guard.text});
}

static bool hasNoElements(const DLTensor &tensor) {
  for (int32_t i = 0; i < tensor.ndim; ++i)
    if (tensor.shape[i] == 0)
      return true;
  return false;
}

static bool isSameDevice(DLDevice tensor, DLDevice call) {
  // Memory that the host reads as its own counts as the CPU's, managed memory as the GPU's.
  if (call.device_type == kDLCPU)
    return tensor.device_type == kDLCPU || tensor.device_type == kDLCUDAHost;
  return (tensor.device_type == call.device_type || tensor.device_type == kDLCUDAManaged) &&
         tensor.device_id == call.device_id;
}

/// What holds for any tensor: type, rank, device, data.
static Result checkTensor(const char *kind, const std::string &name, DLDataType dtype, size_t rank,
                          const DLTensor &tensor, DLDevice device) {
  if (!isSame(tensor.dtype, dtype))
    return refuse(kind, name, "dtype is " + text(tensor.dtype) + ", must be " + text(dtype));
  if (tensor.ndim < 0 || static_cast<size_t>(tensor.ndim) != rank)
    return refuse(kind, name,
                  "rank is " + std::to_string(tensor.ndim) + ", must be " + std::to_string(rank));
  if (!isSameDevice(tensor.device, device))
    return refuse(kind, name, "device is " + text(tensor.device) + ", must be " + text(device));
  if (rank > 0 && !tensor.shape)
    return refuse(kind, name, "shape is null, must have " + std::to_string(rank) + " dims");
  for (size_t i = 0; i < rank; ++i)
    if (tensor.shape[i] < 0)
      return refuse(kind, name,
                    "dim " + std::to_string(i) + " is " + std::to_string(tensor.shape[i]) +
                        ", must not be negative");
  if (!tensor.data && !hasNoElements(tensor))
    return refuse(kind, name, "data is null");
  return {};
}

static Result checkAlignment(const char *kind, const std::string &name, const DLTensor &tensor,
                             uint64_t alignment) {
  if (reinterpret_cast<uintptr_t>(dataOf(tensor)) % alignment == 0 || hasNoElements(tensor))
    return {};
  return refuse(kind, name,
                "data is not aligned: its address must be a multiple of " +
                    std::to_string(alignment));
}

static Result checkBound(const package::Symbol &symbol, const std::string &input, int64_t value) {
  std::string what =
      (symbol.source == package::SymbolSource::InputDim ? "dim " : "stride of dim ") +
      std::to_string(symbol.dim) + " (" + symbol.name + ") is " + std::to_string(value);
  if (value % symbol.divisor != 0 && value >= symbol.min && value <= symbol.max)
    return refuse("input", input,
                  what + ", must be a multiple of " + std::to_string(symbol.divisor));
  if (symbol.max == INT64_MAX)
    return refuse("input", input, what + ", must be at least " + std::to_string(symbol.min));
  return refuse("input", input,
                what + ", must be in " + std::to_string(symbol.min) + ".." +
                    std::to_string(symbol.max));
}

/// The stride of a dense row-major tensor where none are given.
static int64_t strideOf(const DLTensor &tensor, uint32_t dim) {
  if (tensor.strides)
    return tensor.strides[dim];
  int64_t stride = 1;
  for (int32_t i = tensor.ndim - 1; i > static_cast<int32_t>(dim); --i)
    if (__builtin_mul_overflow(stride, tensor.shape[i], &stride))
      return INT64_MAX;
  return stride;
}

Result Signature::bindSymbol(const package::Symbol &symbol, const DLTensor &tensor,
                             int64_t &value) const {
  value = symbol.source == package::SymbolSource::InputDim ? tensor.shape[symbol.dim]
                                                           : strideOf(tensor, symbol.dim);
  if (value < symbol.min || value > symbol.max || value % symbol.divisor != 0)
    return checkBound(symbol, manifest.inputs[symbol.input].name, value);
  return {};
}

Result Signature::bind(std::span<const DLTensor> tensors, DLDevice device, const DrawStart &draws,
                       std::span<int64_t> symbols) const {
  if (tensors.size() != inputs.size())
    return wrongCount("input", tensors.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Result result = checkTensor("input", manifest.inputs[i].name, inputs[i].dtype,
                                    inputs[i].dims.size(), tensors[i], device);
        !result.ok())
      return result;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const package::Symbol &symbol = manifest.symbols[i];
    symbols[i] = 0;
    if (symbol.isOfStep())
      continue;
    if (symbol.isOfRun()) {
      symbols[i] = static_cast<int64_t>(
          symbol.source == package::SymbolSource::RunSeed ? draws.seed : draws.offset);
      continue;
    }
    if (Result result = bindSymbol(symbol, tensors[symbol.input], symbols[i]); !result.ok())
      return result;
  }
  return {};
}

/// "16 (2 * batch)"
std::string Signature::ruleText(Value value, const Numbers &numbers) const {
  std::string number = numbers.isKnown(value) ? std::to_string(numbers[value]) : "computable";
  return value.index == Value::isConstant ? number : number + " (" + expressions.text(value) + ")";
}

Result Signature::checkDims(const std::string &name, const char *kind, const Tensor &expected,
                            const DLTensor &tensor, const Numbers &numbers) const {
  for (size_t i = 0; i < expected.dims.size(); ++i) {
    Value dim = expected.dims[i];
    if (numbers.isKnown(dim) && tensor.shape[i] == numbers[dim])
      continue;
    std::string what =
        "dim " + std::to_string(i) + " is " + std::to_string(tensor.shape[i]) + ", must be ";
    return refuse(kind, name, what + ruleText(dim, numbers));
  }
  return {};
}

/// Strides of dims of size 1 and of tensors without elements do not matter.
static Result checkDense(const char *kind, const std::string &name, const DLTensor &tensor) {
  if (!tensor.strides || hasNoElements(tensor))
    return {};
  int64_t expected = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected)
      return refuse(kind, name,
                    "stride of dim " + std::to_string(i) + " is " +
                        std::to_string(tensor.strides[i]) + ", must be " +
                        std::to_string(expected) + " (contiguous)");
    if (__builtin_mul_overflow(expected, tensor.shape[i], &expected))
      return refuse(kind, name, "has more than 2^63 elements");
  }
  return {};
}

Result Signature::checkStrides(size_t index, const DLTensor &tensor, const Numbers &numbers) const {
  const package::Input &input = manifest.inputs[index];
  if (input.contiguous)
    return checkDense("input", input.name, tensor);
  if (hasNoElements(tensor))
    return {};
  for (size_t i = 0; i < inputs[index].strides.size(); ++i) {
    Value stride = inputs[index].strides[i];
    int64_t given = strideOf(tensor, static_cast<uint32_t>(i));
    if (tensor.shape[i] != 1 && !(numbers.isKnown(stride) && numbers[stride] == given))
      return refuse("input", input.name,
                    "stride of dim " + std::to_string(i) + " is " + std::to_string(given) +
                        ", must be " + ruleText(stride, numbers));
  }
  return {};
}

MemoryRange memoryRange(const DLTensor &tensor) {
  const unsigned char *begin = dataOf(tensor);
  if (hasNoElements(tensor))
    return {begin, begin};
  // Unsigned, because a caller's nonsense must not be undefined behaviour.
  uint64_t low = 0, high = 0;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    int64_t stride = strideOf(tensor, static_cast<uint32_t>(i));
    (stride < 0 ? low : high) +=
        (static_cast<uint64_t>(tensor.shape[i]) - 1) * static_cast<uint64_t>(stride);
  }
  uint64_t bytes = tensor.dtype.bits / 8;
  return {begin + low * bytes, begin + (high + 1) * bytes};
}

namespace {
/// A tensor's memory among those of one call.
struct Occupied {
  MemoryRange range;
  const std::string *name;
  bool isOutput, isWritten;
};

/// The tensors of a call: few, as almost always, lie on the stack.
class Tensors {
public:
  void add(const Occupied &one) {
    if (one.range.begin >= one.range.end)
      return;
    if (count < few.size())
      few[count] = one;
    else if (count == few.size())
      many.assign(few.begin(), few.end());
    if (count >= few.size())
      many.push_back(one);
    ++count;
  }
  std::span<Occupied> all() {
    return count > few.size() ? std::span(many) : std::span(few).first(count);
  }

private:
  std::array<Occupied, 8> few;
  std::vector<Occupied> many;
  size_t count = 0;
};
} // namespace

/// Two that overlap, the first of them written; null when every written one is apart. Sorted by
/// where they begin, a range overlaps one before it when it overlaps the one that reaches furthest.
static std::pair<const Occupied *, const Occupied *> findOverlap(std::span<Occupied> all) {
  std::sort(all.begin(), all.end(),
            [](const Occupied &a, const Occupied &b) { return a.range.begin < b.range.begin; });
  const Occupied *furthest = nullptr, *furthestWritten = nullptr;
  for (const Occupied &o : all) {
    auto reaches = [&](const Occupied *before) {
      return before && before->range.end > o.range.begin;
    };
    if (reaches(furthestWritten))
      return {furthestWritten, &o};
    if (o.isWritten && reaches(furthest))
      return {&o, furthest};
    const Occupied *&known = o.isWritten ? furthestWritten : furthest;
    if (!known || known->range.end < o.range.end)
      known = &o;
  }
  return {};
}

/// The compiler took inputs that are written to be apart from all others.
Result Signature::checkOverlaps(std::span<const DLTensor> tensors) const {
  if (!anyMutated)
    return {};
  Tensors all;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const package::Input &input = manifest.inputs[i];
    all.add({memoryRange(tensors[i]), &input.name, false, input.mutated});
  }
  auto [written, other] = findOverlap(all.all());
  return written ? refuse("input", *written->name,
                          "is written to and overlaps input '" + *other->name + "'")
                 : Result();
}

Result Signature::checkInputs(std::span<const DLTensor> tensors, const Numbers &numbers) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const package::Input &input = manifest.inputs[i];
    if (Result result = checkDims(input.name, "input", inputs[i], tensors[i], numbers);
        !result.ok())
      return result;
    if (Result result = checkStrides(i, tensors[i], numbers); !result.ok())
      return result;
    uint32_t alignment = std::max(input.alignment, byteSize(input.dtype));
    if (Result result = checkAlignment("input", input.name, tensors[i], alignment); !result.ok())
      return result;
  }
  for (const Condition &guard : guards)
    if (!numbers.isKnown(guard.value) || numbers[guard.value] == 0)
      return Result::invalid("the sizes of the inputs break the rule " + *guard.text);
  return manifest.inputsMayOverlap ? Result() : checkOverlaps(tensors);
}

Result Signature::checkOutputs(std::span<const DLTensor> inputTensors,
                               std::span<const DLTensor> tensors, DLDevice device,
                               const Numbers &numbers, std::span<const uint32_t> stages) const {
  if (tensors.size() != outputs.size())
    return wrongCount("output", tensors.size(), outputs.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const package::Output &output = manifest.outputs[i];
    Result result = checkTensor("output", output.name, outputs[i].dtype, outputs[i].dims.size(),
                                tensors[i], device);
    if (result.ok() && stages[i] == 0)
      result = checkDims(output.name, "output", outputs[i], tensors[i], numbers);
    if (result.ok())
      result = checkDense("output", output.name, tensors[i]);
    if (result.ok())
      result = checkAlignment("output", output.name, tensors[i], byteSize(output.dtype));
    if (!result.ok())
      return result;
  }
  return checkOutputOverlaps(inputTensors, tensors);
}

Result Signature::checkOutputDims(std::span<const DLTensor> tensors, const Numbers &numbers,
                                  std::span<const uint32_t> stages, uint32_t stage) const {
  Result result;
  for (size_t i = 0; i < tensors.size() && result.ok(); ++i)
    if (stages[i] == stage)
      result = checkDims(manifest.outputs[i].name, "output", outputs[i], tensors[i], numbers);
  return result;
}

/// An output that is an alias of an input may be that input, or another such output: it counts
/// once.
Result Signature::checkOutputOverlaps(std::span<const DLTensor> inputTensors,
                                      std::span<const DLTensor> tensors) const {
  Tensors all;
  for (size_t i = 0; i < inputTensors.size(); ++i)
    all.add({memoryRange(inputTensors[i]), &manifest.inputs[i].name, false, false});
  std::set<std::pair<int32_t, const unsigned char *>> aliases;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const package::Output &output = manifest.outputs[i];
    const unsigned char *data = dataOf(tensors[i]);
    int32_t alias = output.aliasOfInput;
    if (alias >= 0 && (data == dataOf(inputTensors[static_cast<size_t>(alias)]) ||
                       !aliases.insert({alias, data}).second))
      continue;
    all.add({memoryRange(tensors[i]), &output.name, true, true});
  }
  auto [output, other] = findOverlap(all.all());
  return output ? refuse("output", *output->name,
                         std::string("overlaps ") + (other->isOutput ? "output '" : "input '") +
                             *other->name + "'")
                : Result();
}

Result Signature::outputShape(size_t index, const Numbers &numbers, int64_t *dims,
                              uint64_t &bytes) const {
  const package::Output &output = manifest.outputs[index];
  int64_t total = byteSize(output.dtype);
  for (size_t i = 0; i < outputs[index].dims.size(); ++i) {
    Value dim = outputs[index].dims[i];
    if (!numbers.isKnown(dim) || numbers[dim] < 0 ||
        __builtin_mul_overflow(total, numbers[dim], &total))
      return refuse("output", output.name,
                    "dim " + std::to_string(i) + " (" + expressions.text(dim) +
                        ") is negative or the tensor too large");
    dims[i] = numbers[dim];
  }
  bytes = static_cast<uint64_t>(total);
  return {};
}

} // namespace pellucid::runtime
