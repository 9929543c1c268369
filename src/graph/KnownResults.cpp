// SPDX-License-Identifier: Apache-2.0
#include "graph/KnownResults.h"

#include <bit>

namespace pellucid::graph {

size_t KnownResults::Hash::operator()(const Key &key) const {
  uint64_t hash = key.size();
  for (int64_t word : key)
    hash = (std::rotl(hash, 5) ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

bool KnownResults::append(Key &key, const std::vector<Expr> &sizes) {
  key.push_back(static_cast<int64_t>(sizes.size()));
  for (const Expr &size : sizes) {
    std::optional<int64_t> known = size.constant();
    if (!known)
      return false;
    key.push_back(*known);
  }
  return true;
}

void KnownResults::append(Key &key, const std::string &text) {
  key.push_back(static_cast<int64_t>(text.size()));
  for (char c : text)
    key.push_back(c);
}

bool KnownResults::append(Key &key, const TensorType &type) {
  std::optional<int64_t> offset = type.offset.constant();
  if (!offset)
    return false;
  key.push_back(static_cast<int64_t>(type.dtype) << 40 |
                static_cast<int64_t>(type.device.kind) << 32 |
                static_cast<uint32_t>(type.device.index));
  key.push_back(*offset);
  append(key, type.layout);
  return append(key, type.shape) && append(key, type.strides);
}

bool KnownResults::append(Key &key, const Argument &argument) {
  const Argument::Storage &held = argument.get();
  key.push_back(static_cast<int64_t>(held.index()));
  if (const Argument::List *list = argument.list()) {
    key.push_back(static_cast<int64_t>(list->size()));
    for (const Argument &element : *list)
      if (!append(key, element))
        return false;
    return true;
  }
  if (const Value *value = argument.value())
    return value->isTensor() && append(key, value->type());
  if (const std::string *text = argument.string())
    return append(key, *text), true;
  if (auto *expr = std::get_if<Expr>(&held)) {
    std::optional<int64_t> known = expr->constant();
    key.push_back(known.value_or(0));
    return known.has_value();
  }
  if (auto *real = std::get_if<double>(&held))
    key.push_back(std::bit_cast<int64_t>(*real));
  else if (auto *whole = std::get_if<int64_t>(&held))
    key.push_back(*whole);
  else if (auto *truth = std::get_if<bool>(&held))
    key.push_back(*truth);
  else if (auto *type = std::get_if<DataType>(&held))
    key.push_back(static_cast<int64_t>(*type));
  else if (auto *device = std::get_if<Device>(&held))
    key.push_back(static_cast<int64_t>(device->kind) << 32 | static_cast<uint32_t>(device->index));
  return true;
}

const std::vector<ResultType> *KnownResults::find(const OperatorCall &call) {
  asked.clear();
  asked.push_back(std::bit_cast<int64_t>(&call.op));
  isKey = true;
  for (const Argument &argument : call.args)
    isKey = isKey && append(asked, argument);
  if (!isKey)
    return nullptr;
  auto known = results.find(asked);
  return known == results.end() ? nullptr : &known->second;
}

void KnownResults::note(const std::vector<ResultType> &made) {
  // What comes back comes soon: where there is more, it is another loop.
  constexpr size_t mostKept = 4096;
  for (const ResultType &result : made) {
    const TensorType *type = std::get_if<TensorType>(&result);
    Key unread;
    isKey = isKey && type && append(unread, *type);
  }
  if (!isKey)
    return;
  if (results.size() >= mostKept)
    results.clear();
  results.emplace(asked, made);
}

} // namespace pellucid::graph
