// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ArrangedWeights.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace pellucid::passes {

using namespace graph;

namespace {

using Numbers = std::vector<int64_t>;

/// Where the elements of one weight come from.
struct Arrangement {
  const std::byte *data = nullptr; ///< of the element at index 0
  int64_t element = 1;
  bool rounds = false;
  Numbers own, shape, strides;

  std::vector<uint8_t> bytes() const {
    int64_t lines =
        std::accumulate(shape.begin(), shape.end() - 1, int64_t(1), std::multiplies<>());
    std::vector<uint8_t> all(static_cast<size_t>(lines * shape.back() * element));
    Numbers index(shape.size() - 1, 0);
    for (int64_t line = 0; line < lines; ++line) {
      fill(index, all.data() + line * shape.back() * element);
      for (size_t d = index.size(); d-- > 0 && ++index[d] == shape[d];)
        index[d] = 0;
    }
    if (rounds)
      round(all);
    return all;
  }

private:
  /// f32 to the nearest of 10 digits, halves to the even one, as roundedToTf32's text.
  static void round(std::vector<uint8_t> &all) {
    for (size_t at = 0; at < all.size(); at += sizeof(uint32_t)) {
      uint32_t bits = 0;
      std::memcpy(&bits, all.data() + at, sizeof(bits));
      constexpr uint32_t belowHalf = 0xfff, kept = ~uint32_t(0x1fff), infinity = 0x7f800000;
      if ((bits & ~(uint32_t(1) << 31)) < infinity)
        bits = (bits + belowHalf + (bits >> 13 & 1)) & kept;
      std::memcpy(all.data() + at, &bits, sizeof(bits));
    }
  }

  /// `line` is zero already.
  void fill(const Numbers &index, uint8_t *line) const {
    int64_t start = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] >= own[d])
        return;
      start += index[d] * strides[d];
    }
    for (int64_t i = 0; i < own.back(); ++i)
      std::memcpy(line + i * element, data + (start + i * strides.back()) * element,
                  static_cast<size_t>(element));
  }
};

/// What `value` is a view of; not through launches, which change the contents.
const Value *viewRoot(const Value *value, const OperatorRegistry &registry) {
  for (const Node *node = value->producer(); node->isCall() && !node->isLaunch();
       node = value->producer()) {
    const Operator *op = registry.find(node->target());
    if (!op || op->kind != Operator::Kind::View)
      return value;
    value = node->arg(0).value();
  }
  return value;
}

/// False where one of them is not constant.
bool addArranged(Numbers &numbers, const std::vector<Expr> &exprs) {
  for (const Expr &expr : exprs) {
    if (!expr.constant())
      return false;
    numbers.push_back(*expr.constant());
  }
  return true;
}

} // namespace

const Weight *weightBehind(const Program &program, const OperatorRegistry &registry,
                           const Value *value, std::string &name) {
  const Node *node = viewRoot(value, registry)->producer();
  if (!node->isPlaceholder() || node->graph() != &program.main)
    return nullptr;
  std::vector<Node *> placeholders = program.main.placeholders();
  size_t place = static_cast<size_t>(std::find(placeholders.begin(), placeholders.end(), node) -
                                     placeholders.begin());
  if (place >= program.inputs.size() || program.inputs[place].kind == InputSpec::Kind::UserInput)
    return nullptr;
  name = program.inputs[place].name;
  auto entry = program.weights.find(name);
  return entry == program.weights.end() || !entry->second.data ? nullptr : &entry->second;
}

Value *ArrangedWeights::arrange(const Value *value, const TextOperand &from,
                                const std::vector<Expr> &own, const std::vector<Expr> &shape,
                                bool roundsToTf32) {
  std::string name;
  const Weight *weight = weightBehind(program, registry, value, name);
  if (!weight || weight->dtype != value->type().dtype || shape.empty())
    return nullptr;
  Arrangement made;
  Numbers first, all;
  if (!addArranged(first, {value->type().offset + from.offset}) || !addArranged(made.own, own) ||
      !addArranged(made.shape, shape) || !addArranged(made.strides, from.strides) ||
      std::find(made.shape.begin(), made.shape.end(), 0) != made.shape.end())
    return nullptr;
  for (const Numbers *numbers : {&first, &made.own, &made.shape, &made.strides})
    all.insert(all.end(), numbers->begin(), numbers->end());
  all.push_back(roundsToTf32);
  Value *&entry = known[{weight->data.get(), all}];
  if (entry)
    return entry;
  made.element = static_cast<int64_t>(byteSize(weight->dtype));
  made.rounds = roundsToTf32;
  made.data = weight->data.get() + first[0] * made.element;
  Weight arranged;
  arranged.dtype = weight->dtype;
  arranged.shape = made.shape;
  auto bytes = std::make_shared<std::vector<uint8_t>>(made.bytes());
  arranged.bytes = bytes->size();
  arranged.data = {bytes, reinterpret_cast<const std::byte *>(bytes->data())};
  return entry = addWeight(name, std::move(arranged), *value, shape);
}

Value *ArrangedWeights::addWeight(const std::string &name, Weight weight, const Value &like,
                                  const std::vector<Expr> &shape) {
  DataType type = weight.dtype;
  std::string fresh = name + ".arranged";
  for (int i = 1; program.weights.count(fresh); ++i)
    fresh = name + ".arranged" + std::to_string(i);
  program.weights[fresh] = std::move(weight);
  InputSpec input;
  input.kind = InputSpec::Kind::ConstantTensor;
  input.name = fresh;
  program.inputs.push_back(std::move(input));
  return program.main.placeholder("arranged", TensorType(type, shape, like.type().device));
}

std::optional<std::vector<int64_t>> ArrangedWeights::placesBelow(const Value *value,
                                                                 const Expr &size) const {
  std::string name;
  const Weight *weight = weightBehind(program, registry, value, name);
  const TensorType &type = value->type();
  if (!weight || weight->dtype != DataType::Int64 || type.dtype != DataType::Int64 ||
      type.rank() != 1 || !type.shape[0].constant() || !type.strides[0].constant() ||
      !type.offset.constant() || size.constantOr(0) < 1)
    return std::nullopt;
  std::vector<int64_t> places(static_cast<size_t>(*type.shape[0].constant()));
  int64_t at = *type.offset.constant();
  for (int64_t &place : places) {
    std::memcpy(&place, weight->data.get() + at * static_cast<int64_t>(sizeof(place)),
                sizeof(place));
    if (place < 0 || place >= *size.constant())
      return std::nullopt;
    at += *type.strides[0].constant();
  }
  return places;
}

Value *ArrangedWeights::indicesBelow(const Value *value, const Expr &size) {
  if (size.constantOr(0) > INT32_MAX)
    return nullptr;
  std::optional<std::vector<int64_t>> places = placesBelow(value, size);
  if (!places)
    return nullptr;
  std::string name;
  const Weight *weight = weightBehind(program, registry, value, name);
  const TensorType &type = value->type();
  Value *&entry = known[{weight->data.get(),
                         {*type.offset.constant(), *type.shape[0].constant(),
                          *type.strides[0].constant(), *size.constant()}}];
  if (entry)
    return entry;
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (int64_t place : *places) {
    auto narrow = static_cast<int32_t>(place);
    const auto *first = reinterpret_cast<const uint8_t *>(&narrow);
    bytes->insert(bytes->end(), first, first + sizeof(narrow));
  }
  Weight made;
  made.dtype = DataType::Int32;
  made.shape = {*type.shape[0].constant()};
  made.bytes = bytes->size();
  made.data = {bytes, reinterpret_cast<const std::byte *>(bytes->data())};
  return entry = addWeight(name, std::move(made), *value, type.shape);
}

} // namespace pellucid::passes
