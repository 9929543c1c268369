// SPDX-License-Identifier: Apache-2.0
#include "trace/HostDescriptor.h"

#include "trace/TensorObject.h"

namespace pellucid::trace {

namespace h = pellucid::host;

bool isHostDescriptor(const h::Value &value) {
  auto *instance = value.as<h::Instance>();
  return instance && instance->cls->find("_describes_memory");
}

std::optional<h::Value> describedTensor(const h::Value &value) {
  if (!isHostDescriptor(value))
    return std::nullopt;
  const h::Value *base = value.as<h::Instance>()->attributes.find("base");
  return base ? std::optional(*base) : std::nullopt;
}

std::optional<HostDescriptor> hostDescriptor(h::Interpreter &interpreter, const h::Value &value) {
  if (!isHostDescriptor(value))
    return std::nullopt;
  auto listOf = [&](const char *name) {
    return interpreter.iterate(interpreter.getAttr(value, name));
  };
  HostDescriptor out;
  out.base = interpreter.getAttr(value, "base");
  auto *tensor = out.base.as<TensorObject>();
  if (!tensor)
    interpreter.refuse("a TensorDescriptor's base is a tensor, got " + h::typeName(out.base));
  for (const h::Value &size : listOf("shape"))
    out.shape.push_back(h::unwrapConstexpr(size));
  for (const h::Value &stride : listOf("strides"))
    out.strides.push_back(h::unwrapConstexpr(stride));
  for (const h::Value &size : listOf("block_shape"))
    out.block.push_back(interpreter.toInt64(size, "a size of a TensorDescriptor's block"));
  size_t rank = out.block.size();
  if (rank == 0 || out.shape.size() != rank || out.strides.size() != rank)
    interpreter.refuse("a TensorDescriptor's shape, strides and block_shape must have one length, "
                       "got " +
                       std::to_string(out.shape.size()) + ", " +
                       std::to_string(out.strides.size()) + " and " + std::to_string(rank));
  for (int64_t size : out.block)
    if (size < 1 || (size & (size - 1)) != 0)
      interpreter.refuse("the sizes of a TensorDescriptor's block are powers of 2, got " +
                         std::to_string(size));
  if (!out.strides.back().isInt() || out.strides.back().integer() != 1)
    interpreter.refuse("the last stride of a TensorDescriptor must be 1, got " +
                       h::repr(out.strides.back()));
  int64_t bytes = out.block.back() * static_cast<int64_t>(byteSize(tensor->tensor.type.dtype));
  if (bytes < 16)
    interpreter.refuse("the last dim of a TensorDescriptor's block must span 16 bytes or more, "
                       "got " +
                       std::to_string(bytes) +
                       "; a pre_hook of the autotuner's configs may set block_shape");
  out.padsWithNan = interpreter.toStr(interpreter.getAttr(value, "padding"), "padding") == "nan";
  return out;
}

h::Value mappedDescriptor(const h::Value &value,
                          const std::function<h::Value(const h::Value &)> &map) {
  auto *instance = value.as<h::Instance>();
  auto copy = std::make_shared<h::Instance>(instance->cls);
  for (const auto &[name, held] : instance->attributes.items()) {
    if (!held.isSequence()) {
      copy->attributes.set(name, map(held));
      continue;
    }
    h::List elements;
    for (const h::Value &element : held.elements())
      elements.push_back(map(element));
    copy->attributes.set(name, h::Value::list(std::move(elements)));
  }
  return h::Value(copy);
}

} // namespace pellucid::trace
