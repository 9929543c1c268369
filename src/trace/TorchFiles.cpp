// SPDX-License-Identifier: Apache-2.0
// torch.save and torch.load, safetensors.torch: numbers, texts, containers and tensors. No part of
// a file is run.
#include "archive/PickleWriter.h"
#include "archive/RecordWriter.h"
#include "archive/TorchSave.h"
#include "host/ByteString.h"
#include "package/MappedFile.h"
#include "package/Safetensors.h"
#include "reference/graph/Interpreter.h"
#include "support/OutputFile.h"
#include "trace/EagerRecorder.h"
#include "trace/TensorCalls.h"
#include "trace/TensorFiles.h"

#include <cstring>
#include <map>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

h::Value tensorOfValues(Tracer &tracer, h::Interpreter &interpreter, const ConcreteTensor &given) {
  if (tracer.recorder) {
    ConcreteTensor dense = given;
    dense.data = given.dense();
    int64_t stride = 1;
    for (size_t d = dense.shape.size(); d-- > 0; stride *= dense.shape[d])
      dense.strides[d] = stride;
    return tensorValue(tracer, tracer.recorder->tensorOf(dense));
  }
  Initializer listed{Initializer::Kind::Listed, 0, {}};
  auto values = given.dense();
  for (int64_t i = 0; i < given.numel(); ++i) {
    const std::byte *at = values.get() + i * byteSize(given.dtype);
    listed.values.push_back(realAt(given.dtype, at));
    if (given.dtype == DataType::Int64) {
      int64_t whole;
      std::memcpy(&whole, at, sizeof whole);
      listed.integers.push_back(whole);
    }
  }
  std::vector<Expr> shape(given.shape.begin(), given.shape.end());
  return tensorValue(tracer, tracer.unbound(TensorType(given.dtype, shape), std::move(listed)));
}

ConcreteTensor valuesOf(Tracer &tracer, h::Interpreter &interpreter, TensorObject &tensor,
                        const char *function) {
  if (!tracer.recorder || !tracer.recorder->isRecording())
    interpreter.refuse(std::string(function) +
                       " writes what a tensor holds, which is only known when the program runs; "
                       "return the tensor");
  return tracer.recorder->valuesOf(tensor.tensor, interpreter.location());
}

namespace {

constexpr unsigned mostNesting = 200;

std::string pathOf(h::Interpreter &interpreter, const h::Value &file, const char *function) {
  if (file.isStr() || interpreter.findAttr(file, "__fspath__"))
    return interpreter.str(file);
  if (std::string_view(function) == "torch.save")
    interpreter.raise("AttributeError", "expected 'f' to be string, path, or a file-like object "
                                        "with a 'write' attribute");
  if (std::string_view(function) == "torch.load")
    interpreter.raise("AttributeError",
                      "'" + h::typeName(file) +
                          "' object has no attribute 'seek'. You can only torch.load from a file "
                          "that is seekable. Please pre-load the data into a buffer like "
                          "io.BytesIO and try to load from it instead.");
  interpreter.refuse(std::string(function) + " takes the path of a file, got " + h::typeName(file));
}

std::shared_ptr<const package::MappedFile> openFile(h::Interpreter &interpreter,
                                                    const std::string &path) {
  h::Value found = interpreter.call(
      interpreter.getAttr(interpreter.importModule("os.path"), "exists"), {h::Value(path)});
  package::Status status;
  auto file = package::MappedFile::open(path, status);
  if (!file)
    interpreter.raise("FileNotFoundError", "[Errno 2] No such file or directory: '" + path + "'");
  // In a trace, only files beside the source may decide what is compiled.
  if (!interpreter.truth(found))
    interpreter.refuse("'" + path +
                       "' is not read: only files beside the source, or below the "
                       "package that it lies in, may decide what is compiled");
  return file;
}

// ---- reading
// -------------------------------------------------------------------------------------------------

class Loader {
public:
  /// Tensors are said to lie on `device`.
  Loader(Tracer &t, h::Interpreter &i, Device d) : tracer(t), interpreter(i), device(d) {}

  /// What the file names twice is one object.
  h::Value value(const archive::PickleItem &item, unsigned depth = 0) {
    using Kind = archive::PickleItem::Kind;
    if (item.kind != Kind::List && item.kind != Kind::Dict && item.kind != Kind::Tensor)
      return read(item, depth);
    if (auto known = objects.find(&item); known != objects.end())
      return known->second;
    return objects[&item] = read(item, depth);
  }

private:
  h::Value read(const archive::PickleItem &item, unsigned depth) {
    using Kind = archive::PickleItem::Kind;
    if (depth > mostNesting)
      interpreter.refuse("the file's values are nested deeper than " + std::to_string(mostNesting) +
                         " levels");
    switch (item.kind) {
    case Kind::None:
      return {};
    case Kind::Bool:
      return h::Value(item.integer != 0);
    case Kind::Integer:
      return h::Value(item.integer);
    case Kind::Float:
      return h::Value(item.real);
    case Kind::Text:
      return item.maker.empty() ? h::Value(item.text) : made(item.maker, h::Value(item.text));
    case Kind::Tuple:
    case Kind::List: {
      h::List list;
      for (const auto *element : item.items)
        list.push_back(value(*element, depth + 1));
      h::Value sequence = item.kind == Kind::Tuple ? h::Value::tuple(std::move(list))
                                                   : h::Value::list(std::move(list));
      return item.maker.empty() ? sequence : made(item.maker, sequence);
    }
    case Kind::Dict: {
      h::Dict dict;
      for (size_t i = 0; i + 1 < item.items.size(); i += 2) {
        h::Value key = value(*item.items[i], depth + 1);
        if (!h::hashOf(key))
          interpreter.refuse("a dict of the file has a key of type " + h::typeName(key));
        dict.set(key, value(*item.items[i + 1], depth + 1));
      }
      h::Value plain = h::Value::dict(std::move(dict));
      return item.maker.empty() ? plain : made(item.maker, plain);
    }
    case Kind::Tensor:
      if (item.isComplex)
        interpreter.refuse(
            "the file holds a tensor of complex numbers (a ComplexFloatStorage or "
            "ComplexDoubleStorage), which is not read; save torch.view_as_real of it");
      return tensor(item);
    default:
      break;
    }
    size_t space = item.text.find(' ');
    auto type = item.kind == Kind::Name && item.text.starts_with("torch ")
                    ? dataTypeNamed(item.text.substr(space + 1))
                    : std::nullopt;
    if (!type)
      interpreter.refuse("the file holds '" + item.text +
                         "', which is not a number, text, container "
                         "or tensor; only those are taken from it");
    return dtypeValue(*type);
  }

  /// `maker` ("collections OrderedDict") called with what it was called with.
  h::Value made(const std::string &maker, const h::Value &argument) {
    size_t space = maker.find(' ');
    std::string module = maker.substr(0, space), name = maker.substr(space + 1);
    if (name == "Size")
      return h::Value::sizes(h::Tuple(argument.elements().begin(), argument.elements().end()));
    if (name == "defaultdict")
      interpreter.refuse("the file holds a defaultdict, whose factory would be a name to be run; "
                         "save dict(…) of it");
    const h::Value *builtin = module == "builtins" ? interpreter.builtin(name) : nullptr;
    h::Value callee =
        builtin ? *builtin : interpreter.getAttr(interpreter.importModule(module), name);
    return interpreter.call(callee, {argument});
  }

  h::Value tensor(const archive::PickleItem &item) {
    auto object = std::make_shared<TensorObject>(tracer, place(*item.tensor));
    object->isParameter = item.isParameter;
    h::Value result(std::static_pointer_cast<h::Object>(object));
    if (item.requiresGrad)
      interpreter.setAttr(result, "requires_grad", h::Value(true));
    return result;
  }

  static int64_t countOf(const std::vector<int64_t> &sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }

  static std::vector<int64_t> rowMajor(const std::vector<int64_t> &sizes) {
    std::vector<int64_t> strides(sizes.size());
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0; stride *= std::max<int64_t>(sizes[d], 1))
      strides[d] = stride;
    return strides;
  }

  /// Views of one storage stay views of one memory. A model that is traced begins with values.
  TracedTensor place(const archive::Tensor &stored) {
    auto element = static_cast<int64_t>(byteSize(stored.dtype));
    const std::byte *begin = stored.storage.get() + stored.offset * element;
    if (!tracer.recorder || countOf(stored.sizes) == 0) {
      ConcreteTensor given{stored.dtype, stored.sizes, stored.strides, {stored.storage, begin}};
      auto [known, isNew] = dense.try_emplace({begin, given.shape, given.strides});
      if (isNew)
        known->second = tensorOfValues(tracer, interpreter, given);
      known->second.as<TensorObject>()->tensor.storage->device = device;
      return known->second.as<TensorObject>()->tensor;
    }
    auto [known, isNew] = storages.try_emplace({stored.storage.get(), stored.dtype});
    int64_t count = static_cast<int64_t>(stored.bytes) / element;
    bool isWhole = countOf(stored.sizes) == count && stored.strides == rowMajor(stored.sizes);
    if (isNew) {
      std::vector<int64_t> sizes = isWhole ? stored.sizes : std::vector<int64_t>{count};
      known->second =
          tracer.recorder->tensorOf({stored.dtype, sizes, rowMajor(sizes), stored.storage}, device);
    }
    TracedTensor view = known->second;
    view.type = TensorType(stored.dtype, {stored.sizes.begin(), stored.sizes.end()});
    view.type.strides.assign(stored.strides.begin(), stored.strides.end());
    view.type.offset = stored.offset;
    view.mayOverlap = !isWhole;
    return view;
  }

  Tracer &tracer;
  h::Interpreter &interpreter;
  Device device;
  std::map<const archive::PickleItem *, h::Value> objects;
  std::map<std::tuple<const void *, std::vector<int64_t>, std::vector<int64_t>>, h::Value> dense;
  std::map<std::pair<const void *, DataType>, TracedTensor> storages;
};

/// What a file-like object gives from where it stands.
std::shared_ptr<const std::string> bytesOfObject(h::Interpreter &interpreter, const h::Value &f) {
  auto read = interpreter.findAttr(f, "read");
  if (f.isStr() || interpreter.findAttr(f, "__fspath__") || !read)
    return nullptr;
  // It is left where it stood.
  h::Value begin = interpreter.call(interpreter.getAttr(f, "tell"));
  h::Value given = interpreter.call(*read);
  interpreter.call(interpreter.getAttr(f, "seek"), {begin});
  auto *bytes = given.as<h::ByteString>();
  if (!bytes)
    interpreter.raise("TypeError",
                      "torch.load reads bytes; open the file as 'rb', got " + h::typeName(given));
  return bytes->bytes;
}

/// What torch.load raises for a file that is none of torch.save's.
[[noreturn]] void raiseNoArchive(h::Interpreter &interpreter, bool isEmpty,
                                 const std::string &why) {
  if (isEmpty)
    interpreter.raise("EOFError", "");
  interpreter.raise("RuntimeError", why);
}

h::Value load(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  std::shared_ptr<const std::string> held = bytesOfObject(interpreter, a[0]);
  std::string path = held ? "the buffer" : pathOf(interpreter, a[0], "torch.load");
  bool known = a[1].isNone() || a[1].isStr() || h::typeName(a[1]) == "device";
  if (!known)
    interpreter.refuse("torch.load with a map_location of type " + h::typeName(a[1]) +
                       " is not supported; tensors are on the one device that there is, so leave "
                       "it out or give a device");
  if (!a[2].isNone())
    interpreter.refuse("torch.load with a pickle_module runs that module's code, which is not "
                       "supported; leave it out");
  archive::TorchFile read;
  std::shared_ptr<const package::MappedFile> file;
  if (!held)
    file = openFile(interpreter, path);
  std::span<const uint8_t> bytes =
      held ? std::span(reinterpret_cast<const uint8_t *>(held->data()), held->size())
           : std::span<const uint8_t>(file->bytes());
  std::shared_ptr<const void> owner = held ? std::shared_ptr<const void>(held) : file;
  bool isZip = bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] == 'K';
  package::Status status = archive::readTorchFile(bytes, owner, read);
  if (!status.ok() && !isZip && tracer.recorder)
    raiseNoArchive(interpreter, bytes.empty(),
                   "'" + path + "' is not a file of torch.save: " + status.message());
  if (!status.ok())
    interpreter.refuse("'" + path + "' is not read: " + status.message());
  bool isPlaced = tracer.recorder && tracer.recorder->isRecording();
  Device device;
  if (isPlaced)
    device = deviceAsked(tracer, interpreter, a[1]).value_or(Device());
  return Loader(tracer, interpreter, device).value(*read.root);
}

// ---- writing
// -------------------------------------------------------------------------------------------------

class Saver {
public:
  Saver(Tracer &t, h::Interpreter &i) : tracer(t), interpreter(i) {}

  void value(const h::Value &given, unsigned depth = 0) {
    if (depth > mostNesting)
      interpreter.refuse("torch.save takes values that are nested up to " +
                         std::to_string(mostNesting) + " levels deep");
    std::string type = h::typeName(given);
    bool isOrdered = type == "OrderedDict";
    h::Value v = h::contentOf(given);
    checkClass(v, type);
    if (v.isSizes())
      return madeBy("torch", "Size", [&] {
        pickle.beginTuple();
        elements(v.elements(), depth);
        pickle.endTuple();
      });
    if (v.isNone())
      return pickle.none();
    if (v.isBool())
      return pickle.boolean(v.boolean());
    if (v.isInt())
      return pickle.integer(interpreter.toInt64(v, "a number in torch.save"));
    if (v.isFloat())
      return pickle.real(v.real());
    if (v.isStr())
      return pickle.text(v.str());
    if (v.isTuple()) {
      pickle.beginTuple();
      elements(v.elements(), depth);
      return pickle.endTuple();
    }
    if (v.isList()) {
      pickle.beginList();
      elements(v.elements(), depth);
      return pickle.endList();
    }
    if (v.isDict() && type == "Counter")
      return madeBy("collections", type, [&] { dict(v, false, depth); });
    if (v.isDict())
      return dict(v, isOrdered, depth);
    if (v.isSet())
      return madeBy("builtins", "set", [&] {
        pickle.beginList();
        elements(interpreter.iterate(v), depth);
        pickle.endList();
      });
    if (type == "dict")
      return dict(entriesOf(given), false, depth);
    object(given);
  }

  archive::PickleWriter pickle;
  std::vector<ConcreteTensor> storages; ///< by the number that is the record's name

private:
  void elements(const std::vector<h::Value> &list, unsigned depth) {
    for (const h::Value &element : list)
      value(element, depth + 1);
  }

  /// What vars() of an object gives.
  h::Value entriesOf(const h::Value &names) {
    h::Dict entries;
    for (const h::Value &key : interpreter.iterate(names))
      entries.set(key, interpreter.getItem(names, key));
    return h::Value::dict(std::move(entries));
  }

  /// A class called with one value.
  template <typename Write>
  void madeBy(const std::string &module, const std::string &name, const Write &write) {
    pickle.global(module, name);
    pickle.beginTuple();
    write();
    pickle.endTuple();
    pickle.call();
  }

  /// What is derived from a container or a number would be another class when it is read.
  void checkClass(const h::Value &content, const std::string &type) {
    static const std::set<std::string> known = {"int",  "float", "bool", "str",         "tuple",
                                                "list", "dict",  "set",  "OrderedDict", "Counter"};
    bool isPlain = content.isInt() || content.isFloat() || content.isBool() || content.isStr() ||
                   content.isSequence() || content.isDict() || content.isSet();
    if (isPlain && !known.count(type))
      refuseClass(type);
  }

  [[noreturn]] void refuseClass(const std::string &type) {
    interpreter.refuse("torch.save of a value of type " + type +
                       " would keep its class by name, to be run by who loads it; save numbers, "
                       "texts, containers and tensors, such as a state_dict()");
  }

  void dict(const h::Value &v, bool isOrdered, unsigned depth) {
    isOrdered ? pickle.beginOrderedDict() : pickle.beginDict();
    for (const auto &[key, element] : std::vector(v.dictionary().items())) {
      value(key, depth + 1);
      value(element, depth + 1);
    }
    pickle.endDict();
  }

  void object(const h::Value &given) {
    if (auto *type = given.as<h::DType>(); type && type->family == h::DType::Family::Torch)
      return pickle.global("torch", info(type->type).torch);
    if (auto *instance = given.as<h::Instance>(); instance && instance->cls->name == "device") {
      pickle.global("torch", "device");
      pickle.beginTuple();
      pickle.text(interpreter.str(interpreter.getAttr(given, "type")));
      h::Value index = interpreter.getAttr(given, "index");
      if (!index.isNone())
        pickle.integer(interpreter.toInt64(index, "a device's index"));
      pickle.endTuple();
      return pickle.call();
    }
    auto *tensor = given.as<TensorObject>();
    if (!tensor)
      refuseClass(h::typeName(given));
    // One object stays one, such as the weight of two layers.
    auto [number, isFirst] = objects.try_emplace(tensor, static_cast<uint32_t>(objects.size()));
    if (!isFirst)
      return pickle.recall(number->second);
    bool requiresGrad = interpreter.truth(interpreter.getAttr(given, "requires_grad"));
    if (tensor->isParameter)
      pickle.beginParameter();
    pickle.tensor(tensor->tensor.type.dtype, placeOf(*tensor),
                  requiresGrad && !tensor->isParameter);
    if (tensor->isParameter)
      pickle.endParameter(requiresGrad);
    pickle.remember(number->second);
  }

  /// A tensor's storage is written whole and once, and its views are places in it, as torch.save
  /// has them. What only happens to share memory, such as a copy, is a storage of its own.
  archive::PickleWriter::Place placeOf(TensorObject &tensor) {
    ConcreteTensor values = valuesOf(tracer, interpreter, tensor, "torch.save");
    const std::shared_ptr<TracedStorage> &storage = tensor.tensor.storage;
    auto element = static_cast<int64_t>(byteSize(values.dtype));
    archive::PickleWriter::Place place;
    place.sizes = values.shape;
    place.strides = values.strides;
    place.offset = tensor.tensor.type.offset.constant().value();
    int64_t bytes = storage->type.storageElements(tracer.symbols()).constant().value() *
                    static_cast<int64_t>(byteSize(storage->type.dtype));
    place.count = bytes / element;
    auto [known, isNew] =
        keys.try_emplace({storage, values.dtype}, std::to_string(storages.size()));
    if (isNew)
      storages.push_back({values.dtype,
                          {place.count},
                          {1},
                          partOn(*storage->memory, 0, static_cast<size_t>(bytes), {},
                                 /*keeps=*/false, tracer.devices)});
    place.key = known->second;
    return place;
  }

  Tracer &tracer;
  h::Interpreter &interpreter;
  std::map<std::pair<std::shared_ptr<TracedStorage>, DataType>, std::string> keys;
  std::map<const TensorObject *, uint32_t> objects;
};

std::span<const uint8_t> bytesOf(const std::shared_ptr<const std::byte> &data, uint64_t count) {
  return {reinterpret_cast<const uint8_t *>(data.get()), count};
}

void commit(h::Interpreter &interpreter, OutputFile &file, const std::string &path) {
  if (!file.error().empty() || !file.commit())
    interpreter.raise("OSError", "'" + path + "' cannot be written: " + file.error());
}

void writeSaved(Saver &saver, ByteSink &sink, const std::string &root);

h::Value save(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  auto write = a[1].isStr() ? std::nullopt : interpreter.findAttr(a[1], "write");
  std::string path = write ? "" : pathOf(interpreter, a[1], "torch.save");
  if (!a[2].isNone())
    interpreter.refuse("torch.save with a pickle_module is not supported; leave it out");
  if (!interpreter.truth(a[4]))
    interpreter.refuse("torch.save writes zip files only; leave _use_new_zipfile_serialization "
                       "out");
  Saver saver(tracer, interpreter);
  saver.value(a[0]);
  if (write) {
    MemorySink sink;
    writeSaved(saver, sink, "archive");
    interpreter.call(*write, {h::Value(std::make_shared<h::ByteString>(std::move(sink.contents)))});
    return {};
  }
  OutputFile file(path);
  std::string root = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  writeSaved(saver, file, root.substr(0, root.rfind('.')));
  commit(interpreter, file, path);
  return {};
}

void writeSaved(Saver &saver, ByteSink &sink, const std::string &root) {
  archive::RecordWriter writer(sink, root);
  std::vector<uint8_t> pickle = saver.pickle.finish();
  writer.add("data.pkl", pickle);
  writer.add("byteorder", std::string_view("little"));
  for (size_t i = 0; i < saver.storages.size(); ++i) {
    const ConcreteTensor &tensor = saver.storages[i];
    writer.add(
        "data/" + std::to_string(i),
        bytesOf(tensor.data, static_cast<uint64_t>(tensor.numel()) * byteSize(tensor.dtype)));
  }
  writer.add("version", std::string_view("3\n"));
  writer.add(".data/serialization_id",
             std::string_view("0000000000000000000000000000000000000000"));
  writer.finish();
}

// ---- safetensors
// ---------------------------------------------------------------------------------------------

h::Value saveTensors(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  std::string path = pathOf(interpreter, a[1], "save_file");
  h::Value tensors = h::contentOf(a[0]);
  if (!tensors.isDict())
    interpreter.raise("ValueError",
                      "Expected a dict of [str, torch.Tensor] but received " + h::typeName(a[0]));
  package::TensorMetadata metadata;
  if (!a[2].isNone())
    for (const auto &[key, value] : a[2].dictionary().items())
      metadata[interpreter.toStr(key, "a key of metadata")] =
          interpreter.toStr(value, "a value of metadata");
  std::vector<package::TensorEntry> entries;
  std::map<std::string, ConcreteTensor> values;
  for (const auto &[key, value] : std::vector(tensors.dictionary().items())) {
    auto *tensor = value.as<TensorObject>();
    if (!tensor)
      interpreter.raise("ValueError", "Key `" + interpreter.str(key) +
                                          "` is invalid, expected torch.Tensor but received " +
                                          h::typeName(value));
    ConcreteTensor concrete = valuesOf(tracer, interpreter, *tensor, "save_file");
    package::TensorEntry entry;
    entry.name = interpreter.toStr(key, "a tensor's name");
    entry.dtype = concrete.dtype;
    entry.shape = concrete.shape;
    entry.bytes = static_cast<uint64_t>(concrete.numel()) * byteSize(concrete.dtype);
    entries.push_back(entry);
    values[entry.name] = std::move(concrete);
  }
  std::vector<uint8_t> header = package::safetensorsHeader(entries, metadata);
  OutputFile file(path);
  file.append(header.data(), header.size());
  for (const package::TensorEntry &entry : entries)
    file.append(values.at(entry.name).dense().get(), entry.bytes);
  commit(interpreter, file, path);
  return {};
}

h::Value loadTensors(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  std::string path = pathOf(interpreter, a[0], "load_file");
  auto file = openFile(interpreter, path);
  std::vector<package::TensorEntry> entries;
  if (package::Status s = package::readSafetensors(file->bytes(), entries); !s.ok())
    interpreter.refuse("'" + path + "' is not read: " + s.message());
  h::Dict out;
  for (const package::TensorEntry &entry : entries) {
    ConcreteTensor tensor;
    tensor.dtype = entry.dtype;
    tensor.shape = entry.shape;
    tensor.strides.resize(entry.shape.size());
    int64_t stride = 1;
    for (size_t d = entry.shape.size(); d-- > 0; stride *= entry.shape[d])
      tensor.strides[d] = stride;
    tensor.data = {file, reinterpret_cast<const std::byte *>(file->bytes().data()) + entry.offset};
    out.set(h::Value(entry.name), tensorOfValues(tracer, interpreter, tensor));
  }
  return h::Value::dict(std::move(out));
}

using FileFunction = h::Value (*)(Tracer &, h::Interpreter &, Bound &);

void set(h::Module &module, Tracer &tracer, const char *name, const char *signature,
         FileFunction function) {
  module.globals->set(name, h::native(module.name + "." + name, signature,
                                      [&tracer, function](h::Interpreter &i, Bound &a) {
                                        return function(tracer, i, a);
                                      }));
}

} // namespace

void addTorchFiles(h::NativeModules &modules, Tracer &tracer) {
  for (const char *name : {"torch", "torch.serialization"})
    modules.add(name, [&tracer](h::Interpreter &, h::Module &module) {
      set(module, tracer, "load",
          "f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None", load);
      set(module, tracer, "save",
          "obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True",
          save);
    });
  modules.add("safetensors.torch", [&tracer](h::Interpreter &, h::Module &module) {
    set(module, tracer, "save_file", "tensors, filename, metadata=None", saveTensors);
    set(module, tracer, "load_file", "filename, device='cpu'", loadTensors);
  });
}

} // namespace pellucid::trace
