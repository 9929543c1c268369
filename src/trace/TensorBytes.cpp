// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as bytes and back: numpy's files and buffers, states of generators.
#include "archive/RecordWriter.h"
#include "host/ByteString.h"
#include "package/Npy.h"
#include "trace/EagerRecorder.h"
#include "trace/TensorCalls.h"
#include "trace/TensorFiles.h"

#include <algorithm>
#include <cstring>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

namespace {

h::Value bytesValue(const void *data, size_t count) {
  return h::Value(
      std::make_shared<h::ByteString>(std::string(static_cast<const char *>(data), count)));
}

const std::string &bytesIn(h::Interpreter &interpreter, const h::Value &value) {
  auto *held = value.as<h::ByteString>();
  if (!held)
    interpreter.raise("TypeError",
                      "a bytes-like object is required, not '" + h::typeName(value) + "'");
  return *held->bytes;
}

ConcreteTensor elementsOf(Tracer &tracer, h::Interpreter &interpreter, const h::Value &value) {
  auto *tensor = value.as<TensorObject>();
  if (!tensor)
    interpreter.raise("TypeError", "expected a tensor, got " + h::typeName(value));
  return valuesOf(tracer, interpreter, *tensor, "the elements' bytes");
}

uint64_t denseSize(const ConcreteTensor &tensor) {
  return static_cast<uint64_t>(tensor.numel()) * byteSize(tensor.dtype);
}

/// A row-major tensor of its own memory.
h::Value tensorOfBytes(Tracer &tracer, h::Interpreter &interpreter, DataType dtype,
                       std::vector<int64_t> shape, std::span<const uint8_t> bytes) {
  ConcreteTensor tensor;
  tensor.dtype = dtype;
  tensor.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    tensor.strides[d] = stride;
  tensor.shape = std::move(shape);
  auto memory = std::shared_ptr<std::byte[]>(new std::byte[std::max<size_t>(bytes.size(), 1)]);
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  tensor.data = {memory, memory.get()};
  return tensorOfValues(tracer, interpreter, tensor);
}

/// elements(tensor): row by row.
h::Value elements(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  ConcreteTensor tensor = elementsOf(tracer, interpreter, a[0]);
  return bytesValue(tensor.dense().get(), denseSize(tensor));
}

/// tensor(data, like, shape): elements of the type of `like`.
h::Value tensorOf(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  const std::string &data = bytesIn(interpreter, a[0]);
  auto *like = a[1].as<TensorObject>();
  if (!like)
    interpreter.raise("TypeError", "expected a tensor, got " + h::typeName(a[1]));
  DataType dtype = like->tensor.type.dtype;
  std::vector<int64_t> shape;
  for (const h::Value &size : interpreter.iterate(a[2]))
    shape.push_back(interpreter.toInt64(size, "a size"));
  std::optional<uint64_t> wanted = package::denseBytes(dtype, shape);
  if (!wanted || *wanted != data.size())
    interpreter.raise("ValueError", "a tensor of " + std::to_string(wanted.value_or(0)) +
                                        " bytes was asked for, got " + std::to_string(data.size()));
  return tensorOfBytes(tracer, interpreter, dtype, std::move(shape),
                       {reinterpret_cast<const uint8_t *>(data.data()), data.size()});
}

/// npy(tensor): the whole file.
h::Value npy(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  ConcreteTensor tensor = elementsOf(tracer, interpreter, a[0]);
  std::vector<uint8_t> header = package::npyHeader(tensor.dtype, tensor.shape);
  std::string file(reinterpret_cast<const char *>(header.data()), header.size());
  file.append(reinterpret_cast<const char *>(tensor.dense().get()), denseSize(tensor));
  return h::Value(std::make_shared<h::ByteString>(std::move(file)));
}

/// npz(names, files): the whole archive.
h::Value npz(Tracer &, h::Interpreter &interpreter, Bound &a) {
  std::vector<h::Value> names = interpreter.iterate(a[0]), files = interpreter.iterate(a[1]);
  MemorySink sink;
  archive::RecordWriter writer(sink, "");
  for (size_t i = 0; i < names.size(); ++i)
    writer.add(interpreter.toStr(names[i], "an array's name") + ".npy",
               std::string_view(bytesIn(interpreter, files[i])));
  writer.finish();
  return h::Value(std::make_shared<h::ByteString>(std::move(sink.contents)));
}

/// arrays(data): whether it is an archive, and of each array its name, its elements as they lie,
/// and whether its dims are turned around.
h::Value arrays(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  const std::string &data = bytesIn(interpreter, a[0]);
  std::span<const uint8_t> file(reinterpret_cast<const uint8_t *>(data.data()), data.size());
  std::vector<package::TensorEntry> entries;
  bool isArchive = data.starts_with("PK");
  package::Status status;
  if (isArchive) {
    status = package::readNpz(file, entries);
  } else {
    entries.emplace_back();
    status = package::readNpy(file, entries.front());
  }
  if (!status.ok())
    interpreter.raise("ValueError", status.message());
  std::vector<h::Value> out;
  for (const package::TensorEntry &entry : entries) {
    std::span<const uint8_t> from = entry.inflated ? std::span(*entry.inflated) : file;
    std::vector<int64_t> shape = entry.shape;
    if (entry.fortranOrder)
      std::ranges::reverse(shape);
    h::Value tensor = tensorOfBytes(tracer, interpreter, entry.dtype, std::move(shape),
                                    from.subspan(entry.offset, entry.bytes));
    out.push_back(h::Value::tuple({h::Value(entry.name), tensor, h::Value(entry.fortranOrder)}));
  }
  return h::Value::tuple({h::Value(isArchive), h::Value::list(std::move(out))});
}

using BytesFunction = h::Value (*)(Tracer &, h::Interpreter &, Bound &);

} // namespace

void addTensorBytes(h::NativeModules &modules, Tracer &tracer) {
  modules.add("torch._pellucid_bytes", [&tracer](h::Interpreter &, h::Module &module) {
    auto set = [&](const char *name, const char *signature, BytesFunction function) {
      module.globals->set(
          name, h::native(name, signature, [&tracer, function](h::Interpreter &i, Bound &a) {
            return function(tracer, i, a);
          }));
    };
    set("elements", "tensor", elements);
    set("tensor", "data, like, shape", tensorOf);
    set("npy", "tensor", npy);
    set("npz", "names, files", npz);
    set("arrays", "data", arrays);
  });
}

} // namespace pellucid::trace
