// SPDX-License-Identifier: Apache-2.0
#include "archive/TorchSave.h"

#include "archive/CheckTensor.h"
#include "archive/Records.h"

#include <bit>

namespace pellucid::archive {

using package::Status;

namespace {

/// Thrown inside of this file only.
struct NoTorchFile {
  std::string what;
};

using Object = PickleItem;
using Item = const Object *;

const std::map<std::string_view, DataType> &storageTypes() {
  static const std::map<std::string_view, DataType> types = {
      {"torch FloatStorage", DataType::Float32}, {"torch DoubleStorage", DataType::Float64},
      {"torch HalfStorage", DataType::Float16},  {"torch BFloat16Storage", DataType::BFloat16},
      {"torch LongStorage", DataType::Int64},    {"torch IntStorage", DataType::Int32},
      {"torch ShortStorage", DataType::Int16},   {"torch CharStorage", DataType::Int8},
      {"torch ByteStorage", DataType::UInt8},    {"torch BoolStorage", DataType::Bool}};
  return types;
}

/// The pickle machine, as far as torch.save needs it.
class Machine {
public:
  Machine(const Records &r, std::shared_ptr<const void> o, std::span<const uint8_t> p,
          std::deque<Object> &made)
      : records(r), owner(std::move(o)), pickle(p), objects(made) {}

  /// The value it builds; this machine owns it.
  const Object &run() {
    while (true) {
      uint8_t code = byte();
      if (code == '.')
        return *pop();
      step(code);
    }
  }

private:
  uint8_t byte() {
    if (at >= pickle.size())
      throw NoTorchFile{"it ends in the middle"};
    return pickle[at++];
  }
  uint64_t little(size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= static_cast<uint64_t>(byte()) << (8 * i);
    return value;
  }
  std::string text(uint64_t count) {
    if (count > pickle.size() - at)
      throw NoTorchFile{"it ends in the middle"};
    std::string out(reinterpret_cast<const char *>(pickle.data()) + at, count);
    at += count;
    return out;
  }
  std::string lineOfText() {
    std::string out;
    for (uint8_t c; (c = byte()) != '\n';)
      out += static_cast<char>(c);
    return out;
  }

  void push(Object object) {
    constexpr size_t most = 4'000'000;
    if (objects.size() >= most)
      throw NoTorchFile{"it holds more than 4000000 values"};
    stack.push_back(&objects.emplace_back(std::move(object)));
  }
  void push(Object::Kind kind, std::string maker = {}) {
    Object object;
    object.kind = kind;
    object.maker = std::move(maker);
    push(std::move(object));
  }
  void pushInteger(int64_t value, Object::Kind kind = Object::Kind::Integer) {
    Object object;
    object.kind = kind;
    object.integer = value;
    push(std::move(object));
  }
  void pushText(std::string value, Object::Kind kind = Object::Kind::Text) {
    Object object;
    object.kind = kind;
    object.text = std::move(value);
    push(std::move(object));
  }
  Item pop() {
    if (stack.empty())
      throw NoTorchFile{"its stack runs empty"};
    Item item = stack.back();
    stack.pop_back();
    return item;
  }
  const Object &top() {
    if (stack.empty())
      throw NoTorchFile{"its stack runs empty"};
    return *stack.back();
  }
  std::vector<Item> popToMark() {
    std::vector<Item> items;
    while (true) {
      Item item = pop();
      if (item->kind == Object::Kind::Mark)
        break;
      items.push_back(item);
    }
    return {items.rbegin(), items.rend()};
  }
  void pushTuple(std::vector<Item> items) {
    Object tuple;
    tuple.kind = Object::Kind::Tuple;
    tuple.items = std::move(items);
    push(std::move(tuple));
  }
  void pushTuple(size_t count) {
    std::vector<Item> items(count);
    while (count-- > 0)
      items[count] = pop();
    pushTuple(std::move(items));
  }
  void addTo(Object::Kind kind, std::vector<Item> items) {
    const Object &container = top();
    if (container.kind != kind || (kind == Object::Kind::Dict && items.size() % 2))
      throw NoTorchFile{"it puts items into what holds none"};
    container.items.insert(container.items.end(), items.begin(), items.end());
  }
  void step(uint8_t code) {
    switch (code) {
    case 0x80: // PROTO
      byte();
      return;
    case 0x95: // FRAME
      little(8);
      return;
    case 'c': {
      std::string module = lineOfText();
      return pushText(module + " " + lineOfText(), Object::Kind::Name);
    }
    case 0x93: { // STACK_GLOBAL
      Item name = pop(), module = pop();
      return pushText(module->text + " " + name->text, Object::Kind::Name);
    }
    case 'X':
      return pushText(text(little(4)));
    case 0x8c:
      return pushText(text(little(1)));
    case 0x8d:
      return pushText(text(little(8)));
    case '(':
      return push(Object::Kind::Mark);
    case '}':
      return push(Object::Kind::Dict);
    case ']':
      return push(Object::Kind::List);
    case ')':
      return pushTuple(size_t(0));
    case 0x85:
      return pushTuple(1);
    case 0x86:
      return pushTuple(2);
    case 0x87:
      return pushTuple(3);
    case 't':
      return pushTuple(popToMark());
    case 'N':
      return push(Object::Kind::None);
    case 0x88:
      return pushInteger(1, Object::Kind::Bool);
    case 0x89:
      return pushInteger(0, Object::Kind::Bool);
    case 'K':
      return pushInteger(static_cast<int64_t>(little(1)));
    case 'M':
      return pushInteger(static_cast<int64_t>(little(2)));
    case 'J':
      return pushInteger(static_cast<int32_t>(little(4)));
    case 0x8a: { // LONG1
      size_t count = byte();
      if (count > 8)
        throw NoTorchFile{"it holds a number of more than 64 bits"};
      uint64_t value = little(count);
      if (count > 0 && count < 8 && (value >> (8 * count - 1) & 1))
        value |= ~uint64_t(0) << (8 * count);
      return pushInteger(static_cast<int64_t>(value));
    }
    case 'G': {
      uint64_t bits = 0; // big-endian
      for (size_t i = 0; i < 8; ++i)
        bits = bits << 8 | byte();
      Object object;
      object.kind = Object::Kind::Float;
      object.real = std::bit_cast<double>(bits);
      return push(std::move(object));
    }
    case 'q':
      return remember(little(1));
    case 'r':
      return remember(little(4));
    case 0x94:
      return remember(memo.size());
    case 'h':
      return recall(little(1));
    case 'j':
      return recall(little(4));
    case 's': {
      Item value = pop(), key = pop();
      return addTo(Object::Kind::Dict, {key, value});
    }
    case 'u': {
      std::vector<Item> items = popToMark();
      return addTo(Object::Kind::Dict, std::move(items));
    }
    case 'a': {
      Item value = pop();
      return addTo(Object::Kind::List, {value});
    }
    case 'e': {
      std::vector<Item> items = popToMark();
      return addTo(Object::Kind::List, std::move(items));
    }
    case 'Q':
      return persistent();
    case 'R':
      return reduce();
    case 0x81:  // NEWOBJ
    case 0x92:  // NEWOBJ_EX
    case 'i':   // INST
    case 'o': { // OBJ
      throw NoTorchFile{"it holds an object" + ofClass() +
                        ", and to read one is to run its class's code; save "
                        "numbers, texts, containers and tensors, such as a state_dict()"};
    }
    case 'b': // BUILD: attributes of the object below, such as a dict's _metadata
      pop();
      return;
    case '0':
      pop();
      return;
    default:
      throw NoTorchFile{"its instruction " + std::to_string(code) + " builds no tensor"};
    }
  }

  /// The class whose name lies next on the stack.
  std::string ofClass() const {
    for (auto item = stack.rbegin(); item != stack.rend(); ++item)
      if ((*item)->kind == Object::Kind::Name) {
        std::string name = (*item)->text;
        return " of class " + name.replace(name.find(' '), 1, ".");
      }
    return {};
  }

  void remember(uint64_t key) {
    top();
    memo[key] = stack.back();
  }
  void recall(uint64_t key) {
    auto entry = memo.find(key);
    if (entry == memo.end())
      throw NoTorchFile{"it recalls what it never kept"};
    stack.push_back(entry->second);
  }

  static const Object &operand(const Object &tuple, size_t index, Object::Kind kind) {
    if (tuple.kind != Object::Kind::Tuple || index >= tuple.items.size() ||
        tuple.items[index]->kind != kind)
      throw NoTorchFile{"a tensor in it has other parts than torch.save writes"};
    return *tuple.items[index];
  }
  static std::vector<int64_t> integers(const Object &tuple) {
    std::vector<int64_t> out;
    for (size_t i = 0; i < tuple.items.size(); ++i)
      out.push_back(operand(tuple, i, Object::Kind::Integer).integer);
    return out;
  }

  /// ('storage', torch.FloatStorage, '0', 'cpu', 48)
  void persistent() {
    Item id = pop();
    if (operand(*id, 0, Object::Kind::Text).text != "storage")
      throw NoTorchFile{"it refers to something that is not a storage"};
    const std::string &name = operand(*id, 1, Object::Kind::Name).text;
    Object storage;
    storage.kind = Object::Kind::Storage;
    storage.text = operand(*id, 2, Object::Kind::Text).text;
    storage.isComplex = name == "torch ComplexFloatStorage" || name == "torch ComplexDoubleStorage";
    auto type = storageTypes().find(storage.isComplex ? "torch " + name.substr(13) : name);
    bool isUntyped = name == "torch.storage UntypedStorage" || name == "torch UntypedStorage";
    if (type == storageTypes().end() && !isUntyped)
      throw NoTorchFile{"it holds a " + name.substr(name.find(' ') + 1) + ", which is not read"};
    storage.dtype = isUntyped ? DataType::UInt8 : type->second;
    push(std::move(storage));
  }

  void reduce() {
    Item arguments = pop(), callee = pop();
    if (callee->kind != Object::Kind::Name)
      throw NoTorchFile{"it calls something that is not a name"};
    const std::string &name = callee->text;
    if (name == "collections OrderedDict" && arguments->items.empty())
      return push(Object::Kind::Dict, name);
    if (name == "torch._utils _rebuild_parameter") {
      Object parameter = *shared(*arguments, 0);
      parameter.isParameter = true;
      parameter.requiresGrad = operand(*arguments, 1, Object::Kind::Bool).integer != 0;
      return push(std::move(parameter));
    }
    if (name == "torch._utils _rebuild_tensor_v2")
      return push(rebuild(*arguments, std::nullopt));
    if (name == "torch._utils _rebuild_tensor_v3")
      return push(rebuild(*arguments, typeNamed(operand(*arguments, 6, Object::Kind::Name).text)));
    if (name == "torch Size")
      return pushSequence(*arguments, Object::Kind::Tuple, name);
    if (name == "torch device") {
      pushText(deviceText(*arguments));
      objects.back().maker = name;
      return;
    }
    // Protocol 2 calls the module by its old name.
    for (const char *builtin : {"builtins ", "__builtin__ "})
      for (const char *kind : {"set", "frozenset"})
        if (name == std::string(builtin) + kind)
          return pushSequence(*arguments, Object::Kind::List, std::string("builtins ") + kind);
    if (name == "collections Counter")
      return pushSequence(*arguments, Object::Kind::Dict, name);
    if (name == "collections defaultdict")
      return push(Object::Kind::Dict, name);
    throw NoTorchFile{"it calls " + name.substr(0, name.find(' ')) + "." +
                      name.substr(name.find(' ') + 1) +
                      ", which is not read: a pickle can run any "
                      "code, and only plain tensors are taken from it"};
  }

  static Item shared(const Object &tuple, size_t index) {
    operand(tuple, index, Object::Kind::Tensor);
    return tuple.items[index];
  }

  /// What a call of a container's name takes; empty where it takes nothing.
  void pushSequence(const Object &arguments, Object::Kind kind, const std::string &maker) {
    if (arguments.items.size() > 1 ||
        (arguments.items.size() == 1 && arguments.items[0]->kind != kind))
      throw NoTorchFile{"a container in it has other parts than torch.save writes"};
    Object made = arguments.items.empty() ? Object() : *arguments.items[0];
    made.kind = kind;
    made.maker = maker;
    push(std::move(made));
  }

  static std::string deviceText(const Object &arguments) {
    std::string text = operand(arguments, 0, Object::Kind::Text).text;
    return arguments.items.size() < 2
               ? text
               : text + ":" + std::to_string(operand(arguments, 1, Object::Kind::Integer).integer);
  }

  static DataType typeNamed(const std::string &name) {
    auto type = name.starts_with("torch ") ? dataTypeNamed(name.substr(6)) : std::nullopt;
    if (type)
      return *type;
    throw NoTorchFile{"it holds elements of " + name + ", which are not read"};
  }

  static void asPairs(Tensor &tensor) {
    constexpr int64_t most = INT64_MAX / 2;
    for (int64_t &stride : tensor.strides)
      if (stride < 0 || stride > most)
        throw NoTorchFile{"a tensor in it has a stride of " + std::to_string(stride)};
      else
        stride *= 2;
    if (tensor.offset < 0 || tensor.offset > most)
      throw NoTorchFile{"a tensor in it begins at " + std::to_string(tensor.offset)};
    tensor.offset *= 2;
    tensor.sizes.push_back(2);
    tensor.strides.push_back(1);
  }

  Object rebuild(const Object &arguments, std::optional<DataType> type) {
    const Object &storage = operand(arguments, 0, Object::Kind::Storage);
    Tensor tensor;
    tensor.dtype = type.value_or(storage.dtype);
    tensor.offset = operand(arguments, 1, Object::Kind::Integer).integer;
    tensor.sizes = integers(operand(arguments, 2, Object::Kind::Tuple));
    tensor.strides = integers(operand(arguments, 3, Object::Kind::Tuple));
    if (storage.isComplex)
      asPairs(tensor);
    std::span<const uint8_t> bytes;
    if (Status s = records.take("data/" + storage.text, bytes); !s.ok())
      throw NoTorchFile{s.message()};
    tensor.storage = {owner, reinterpret_cast<const std::byte *>(bytes.data())};
    tensor.bytes = bytes.size();
    if (Status s = checkTensor(tensor); !s.ok())
      throw NoTorchFile{"a tensor in it " + s.message()};
    Object object;
    object.kind = Object::Kind::Tensor;
    object.isComplex = storage.isComplex;
    object.tensor = std::move(tensor);
    object.text = storage.text;
    if (arguments.items.size() > 4 && arguments.items[4]->kind == Object::Kind::Bool)
      object.requiresGrad = arguments.items[4]->integer != 0;
    return object;
  }

  const Records &records;
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> pickle;
  std::deque<Object> &objects; ///< all that was made; they may refer to each other in circles
  size_t at = 0;
  std::vector<Item> stack;
  std::map<uint64_t, Item> memo;
};

} // namespace

Status readTorchFile(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                     TorchFile &out) {
  out.items.clear();
  // A pickle by itself: what torch.save wrote before it wrote zip files.
  constexpr uint8_t oldFormat[] = {0x80, 0x02, 0x8a, 0x0a};
  if (file.size() > 4 && std::equal(oldFormat, oldFormat + 4, file.data()))
    return Status::error("was written before PyTorch 1.6, or with "
                         "_use_new_zipfile_serialization=False; save it again without that");
  Records records;
  if (Status s = records.read(file); !s.ok())
    return s;
  std::span<const uint8_t> pickle;
  if (Status s = records.take("data.pkl", pickle); !s.ok())
    return s;
  try {
    out.root = &Machine(records, std::move(owner), pickle, out.items).run();
  } catch (const NoTorchFile &problem) {
    return Status::error("its pickle is not read: " + problem.what);
  }
  return {};
}

Status readTorchSave(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                     std::map<std::string, Tensor> &tensors) {
  tensors.clear();
  TorchFile read;
  if (Status s = readTorchFile(file, std::move(owner), read); !s.ok())
    return s;
  const Object &root = *read.root;
  if (root.kind != Object::Kind::Dict)
    return Status::error("its pickle holds no dict of tensors");
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const Object &key = *root.items[i], &value = *root.items[i + 1];
    if (key.kind != Object::Kind::Text || value.kind != Object::Kind::Tensor)
      return Status::error("its pickle holds something else than tensors by name");
    tensors.insert_or_assign(key.text, *value.tensor);
  }
  return {};
}

} // namespace pellucid::archive
