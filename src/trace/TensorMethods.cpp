// SPDX-License-Identifier: Apache-2.0
// Methods of tensors that have a rule of their own; all others are ATen operators of their name.
#include "trace/TensorMethods.h"

#include "trace/EagerRecorder.h"
#include "trace/Gradients.h"
#include "trace/MemoryFormats.h"
#include "trace/TensorAddresses.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

bool saysCuda(const TensorObject &tensor) {
  return tensor.tensor.storage->device.kind == Device::Kind::Cuda ||
         tensor.tensor.type.device.kind == Device::Kind::Cuda ||
         (!tensor.tracer.recorder && tensor.tracer.assumedDevice == "cuda");
}

/// As PyTorch's classes of old are called: "torch.cuda.FloatTensor".
std::string nameOfClass(const TensorObject &self) {
  static const std::map<DataType, std::string> names = {
      {DataType::Float64, "Double"},    {DataType::Float32, "Float"}, {DataType::Float16, "Half"},
      {DataType::BFloat16, "BFloat16"}, {DataType::Int64, "Long"},    {DataType::Int32, "Int"},
      {DataType::Int16, "Short"},       {DataType::Int8, "Char"},     {DataType::UInt8, "Byte"},
      {DataType::Bool, "Bool"}};
  auto known = names.find(self.tensor.type.dtype);
  std::string name =
      known == names.end() ? std::string(info(self.tensor.type.dtype).torch) : known->second;
  name[0] = static_cast<char>(std::toupper(name[0]));
  return (saysCuda(self) ? "torch.cuda." : "torch.") + name + "Tensor";
}

/// `x.view(2, 3)` and `x.view((2, 3))`.
h::Value gathered(const std::vector<h::Value> &values) {
  if (values.size() == 1 && values[0].isSequence())
    return values[0];
  return h::Value::list(h::List(values.begin(), values.end()));
}

h::Value exprValue(const Expr &expr) { return h::Value::integer(expr); }

h::Value shapeValue(const TensorType &type) {
  h::Tuple dims;
  for (const Expr &size : type.shape)
    dims.push_back(exprValue(size));
  return h::Value::sizes(std::move(dims));
}

/// Of the operators that are written with others: those whose list may be written out, too.
void gatherSizes(std::string_view method, h::CallArgs &args) {
  static constexpr std::string_view names[] = {"flip", "tile", "broadcast_to", "sum_to_size"};
  if (args.positional.size() > 1 && std::ranges::find(names, method) != std::end(names))
    args.positional = {gathered(args.positional)};
}

namespace {

int64_t wrapped(h::Interpreter &interpreter, const h::Value &dim, size_t rank) {
  int64_t d = interpreter.toInt64(dim, "dim"), r = static_cast<int64_t>(rank);
  if (d < -r || d >= r)
    interpreter.raise("IndexError", "Dimension out of range (expected to be in range of [" +
                                        std::to_string(-std::max<int64_t>(r, 1)) + ", " +
                                        std::to_string(std::max<int64_t>(r, 1) - 1) +
                                        "], but got " + std::to_string(d) + ")");
  return d < 0 ? d + r : d;
}

using Method = h::Value (*)(TensorObject &, h::Interpreter &, const h::CallArgs &);

/// A dim whose size is dynamic is one of 1, or is not: decided like a branch.
h::Value methodSqueeze(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  static const h::Signature signature("dim=()");
  std::vector<h::Value> a = signature.bind(interpreter, "squeeze", args);
  size_t rank = self.tensor.type.rank();
  // A list of no dims leaves all of them.
  bool every = args.positional.empty() && args.keywords.empty();
  if (!every && a[0].isSequence() && a[0].elements().empty())
    return callAten(self.tracer, interpreter, "alias", argsOf({selfOf(self)}));
  std::vector<bool> asked(rank, every);
  for (const h::Value &dim : a[0].isSequence() ? a[0].elements() : std::vector<h::Value>{a[0]})
    if (rank > 0)
      asked[static_cast<size_t>(wrapped(interpreter, dim, rank))] = true;
  bool isKnown = true;
  for (size_t d = 0; d < rank; ++d)
    isKnown &=
        !asked[d] ||
        self.tracer.symbols().prove(symbolic::equal(self.tensor.type.shape[d], 1)).has_value();
  if (isKnown)
    return callAten(self.tracer, interpreter, "squeeze",
                    every ? argsOf({selfOf(self)}) : argsOf({selfOf(self), a[0]}));
  // A view of its own, also where nothing goes: its shape may be changed in place.
  h::Value result = callAten(self.tracer, interpreter, "alias", argsOf({selfOf(self)}));
  for (size_t d = rank; d-- > 0;)
    if (asked[d] &&
        interpreter.truth(h::Value::condition(symbolic::equal(self.tensor.type.shape[d], 1))))
      result = callAten(self.tracer, interpreter, "select",
                        argsOf({result, h::Value(static_cast<int64_t>(d)), h::Value(0)}));
  return result;
}

/// A dtype that `to` or `type` was given; None where it was given none.
std::optional<DataType> dtypeOf(h::Interpreter &interpreter, const h::Value &value,
                                const char *method) {
  if (value.isNone())
    return std::nullopt;
  // x.type("torch.DoubleTensor")
  if (value.isStr() && std::string_view(method) == "type") {
    static const std::map<std::string, DataType> named = {
        {"torch.DoubleTensor", DataType::Float64}, {"torch.FloatTensor", DataType::Float32},
        {"torch.HalfTensor", DataType::Float16},   {"torch.BFloat16Tensor", DataType::BFloat16},
        {"torch.LongTensor", DataType::Int64},     {"torch.IntTensor", DataType::Int32},
        {"torch.ShortTensor", DataType::Int16},    {"torch.CharTensor", DataType::Int8},
        {"torch.ByteTensor", DataType::UInt8},     {"torch.BoolTensor", DataType::Bool}};
    if (auto known = named.find(value.str()); known != named.end())
      return known->second;
    interpreter.raise("ValueError", "invalid type: '" + value.str() + "'");
  }
  return askedType(interpreter, method, value);
}

} // namespace

/// The memory is the same; the program thinks that it lies elsewhere.
h::Value onDevice(TensorObject &self, h::Interpreter &interpreter, Device device) {
  if (self.tensor.storage->device == device && self.tensor.storage->isPlaced)
    return selfOf(self);
  h::Value copy;
  if (auto made = self.tracer.recorder->copyOn(device, self.tensor, interpreter.location())) {
    copy = tensorValue(self.tracer, std::move(*made));
  } else {
    // Of others a clone is made on the side of the GPU.
    Device from = self.tensor.storage->device;
    EagerRecorder::Placed placed(*self.tracer.recorder,
                                 device.kind == Device::Kind::Cuda ? device : from);
    copy = callAten(self.tracer, interpreter, "clone", argsOf({selfOf(self)}));
  }
  copy.as<TensorObject>()->tensor.storage->device = device;
  copy.as<TensorObject>()->tensor.storage->isPlaced = true;
  noteMove(interpreter, self, *copy.as<TensorObject>());
  return copy;
}

namespace {

/// `to(dtype)`, `to(device, dtype)`, `to(other)`, each with non_blocking and copy after it. Of a
/// model every tensor is on one device; a script sees several, in what it traces too.
h::Value methodTo(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  static const h::Signature ofType("dtype, non_blocking=False, copy=False, *, memory_format=None");
  static const h::Signature ofOther("other, non_blocking=False, copy=False, *, memory_format=None");
  static const h::Signature ofDevice("device=None, dtype=None, non_blocking=False, copy=False, *, "
                                     "memory_format=None");
  const h::Value *first = args.positional.empty() ? nullptr : &args.positional[0];
  std::vector<h::Value> a;
  DataType type = self.tensor.type.dtype;
  std::optional<Device> device;
  if ((first && first->as<TensorObject>()) || args.keyword("other")) {
    a = ofOther.bind(interpreter, "to", args);
    auto *other = a[0].as<TensorObject>();
    if (!other)
      interpreter.refuse("'.to()' takes a dtype, a device or a tensor, got " + h::typeName(a[0]));
    type = other->tensor.type.dtype;
    device = other->tensor.storage->device;
  } else if (first && (first->as<h::DType>() || first->as<h::Class>() || first->as<h::Opaque>())) {
    a = ofType.bind(interpreter, "to", args);
    type = *dtypeOf(interpreter, a[0], "to");
  } else {
    a = ofDevice.bind(interpreter, "to", args);
    type = dtypeOf(interpreter, a[1], "to").value_or(type);
    if (self.tracer.recorder)
      device = deviceAsked(self.tracer, interpreter, a[0]);
    a.erase(a.begin());
  }
  if (!a[3].isNone() && !isChannelsLast(a[3]) && interpreter.str(a[3]) != "preserve_format" &&
      interpreter.str(a[3]) != "contiguous_format")
    interpreter.refuse("tensors in the memory format " + interpreter.str(a[3]) +
                       " are not supported; leave memory_format out");
  h::Value result = castTo(self, interpreter, type);
  bool moves = device && self.tracer.recorder && *device != self.tensor.storage->device;
  if (moves)
    result = onDevice(*result.as<TensorObject>(), interpreter, *device);
  if (interpreter.truth(a[2]) && type == self.tensor.type.dtype && !moves)
    result = callAten(self.tracer, interpreter, "clone", argsOf({result}));
  if (a[3].isNone() || interpreter.str(a[3]) == "preserve_format")
    return result;
  auto *made = result.as<TensorObject>();
  return toFormat(*made, interpreter, a[3], made->tensor.storage != self.tensor.storage);
}

using Bound = std::vector<h::Value>;

h::Value methodType(TensorObject &self, h::Interpreter &interpreter, Bound &a) {
  if (a[0].isNone())
    return h::Value(nameOfClass(self));
  return castTo(self, interpreter, *dtypeOf(interpreter, a[0], "type"));
}

h::Value methodSize(TensorObject &self, h::Interpreter &interpreter, Bound &a) {
  const TensorType &type = self.tensor.type;
  if (a[0].isNone())
    return shapeValue(type);
  return exprValue(type.shape[static_cast<size_t>(wrapped(interpreter, a[0], type.rank()))]);
}

h::Value methodStride(TensorObject &self, h::Interpreter &interpreter, Bound &a) {
  const TensorType &type = self.tensor.type;
  if (!a[0].isNone())
    return exprValue(type.strides[static_cast<size_t>(wrapped(interpreter, a[0], type.rank()))]);
  h::Tuple strides;
  for (const Expr &stride : type.strides)
    strides.push_back(exprValue(stride));
  return h::Value::tuple(std::move(strides));
}

h::Value isContiguous(TensorObject &self, h::Interpreter &interpreter, Bound &a) {
  if (isChannelsLast(a[0]))
    return h::Value(isInFormat(interpreter, self, a[0]));
  if (!a[0].isNone() && interpreter.str(a[0]) != "contiguous_format")
    interpreter.refuse("whether a tensor has the memory format " + interpreter.str(a[0]) +
                       " is not known here; ask for its strides");
  return h::Value(self.tensor.type.isContiguous(self.tracer.symbols()));
}

/// x.float() and its kin.
template <DataType type>
h::Value methodCast(TensorObject &self, h::Interpreter &interpreter, Bound &a) {
  if (isChannelsLast(a[0])) {
    h::Value result = castTo(self, interpreter, type);
    return toFormat(*result.as<TensorObject>(), interpreter, a[0]);
  }
  if (!a[0].isNone() && interpreter.str(a[0]) != "preserve_format")
    interpreter.refuse("tensors in the memory format " + interpreter.str(a[0]) +
                       " are not supported; leave memory_format out");
  return castTo(self, interpreter, type);
}

/// An ATen operator whose size list may be written out as several arguments.
template <const char *name>
h::Value spreadable(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  h::CallArgs call = argsOf({selfOf(self)}, args.keywords);
  if (!args.positional.empty())
    call.positional.push_back(gathered(args.positional));
  return callAten(self.tracer, interpreter, name, call);
}
h::Value viewAs(TensorObject &self, h::Interpreter &interpreter, DataType type) {
  if (type == self.tensor.type.dtype)
    return selfOf(self);
  return tensorValue(self.tracer, self.tracer.viewAs(self.tensor, type, interpreter.location()));
}

constexpr char viewName[] = "view", reshapeName[] = "reshape", permuteName[] = "permute",
               expandName[] = "expand", repeatName[] = "repeat", newEmptyName[] = "new_empty",
               newZerosName[] = "new_zeros", newOnesName[] = "new_ones";

/// tolist() of values that are only known when the program runs: numbers that tensors hold.
h::Value itemsOf(TensorObject &self, h::Interpreter &interpreter) {
  constexpr int64_t most = 1024;
  const TensorType &type = self.tensor.type;
  if (type.numel().constantOr(most + 1) > most)
    interpreter.refuse("'.tolist()' of " + type.numel().text() +
                       " values that are only known when the program runs; keep them a tensor");
  if (type.rank() == 0)
    return itemOf(self, interpreter);
  h::List list;
  for (int64_t at = 0; at < type.shape[0].constantOr(0); ++at) {
    h::Value element = callAten(self.tracer, interpreter, "select",
                                argsOf({selfOf(self), h::Value(0), h::Value(at)}));
    list.push_back(itemsOf(*element.as<TensorObject>(), interpreter));
  }
  return h::Value::list(std::move(list));
}

/// `x.where(condition, other)`, of which the operator takes the condition first.
h::Value methodWhere(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  h::CallArgs call = args;
  if (const h::Value *condition = args.keyword("condition")) {
    call.positional.insert(call.positional.begin(), *condition);
    std::erase_if(call.keywords, [](const auto &keyword) { return keyword.first == "condition"; });
  }
  if (call.positional.empty())
    interpreter.raise("TypeError",
                      "where() received an invalid combination of arguments - got (), but expected "
                      "one of:\n * (Tensor condition, Tensor other)\n * (Tensor condition, Number "
                      "other)\n");
  call.positional.insert(call.positional.begin() + 1, selfOf(self));
  return callAten(self.tracer, interpreter, "where", call);
}

const NamedMethod methods[] = {
    {"where", methodWhere},
    {"to", methodTo},
    {"type", nullptr, "dtype=None, non_blocking=False", methodType},
    {"size", nullptr, "dim=None", methodSize},
    {"stride", nullptr, "dim=None", methodStride},
    {"view",
     [](TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
       if (args.positional.size() == 1)
         if (auto *type = args.positional[0].as<h::DType>())
           return viewAs(self, interpreter, type->type);
       if (const h::Value *dtype = args.keyword("dtype"); dtype && args.positional.empty())
         if (auto *type = dtype->as<h::DType>())
           return viewAs(self, interpreter, type->type);
       return spreadable<viewName>(self, interpreter, args);
     }},
    {"reshape", spreadable<reshapeName>},
    {"permute", spreadable<permuteName>},
    {"expand", spreadable<expandName>},
    {"repeat", spreadable<repeatName>},
    {"new_empty", spreadable<newEmptyName>},
    {"new_zeros", spreadable<newZerosName>},
    {"new_ones", spreadable<newOnesName>},
    {"dim", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(static_cast<int64_t>(self.tensor.type.rank()));
     }},
    {"ndimension", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(static_cast<int64_t>(self.tensor.type.rank()));
     }},
    {"numel", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return exprValue(self.tensor.type.numel());
     }},
    {"nelement", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return exprValue(self.tensor.type.numel());
     }},
    {"element_size", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(static_cast<int64_t>(byteSize(self.tensor.type.dtype)));
     }},
    {"storage_offset", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return exprValue(self.tensor.type.offset);
     }},
    {"is_contiguous", nullptr, "memory_format=None", isContiguous},
    {"is_floating_point", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(isFloat(self.tensor.type.dtype));
     }},
    {"float", nullptr, "memory_format=None", methodCast<DataType::Float32>},
    {"half", nullptr, "memory_format=None", methodCast<DataType::Float16>},
    {"bfloat16", nullptr, "memory_format=None", methodCast<DataType::BFloat16>},
    {"double", nullptr, "memory_format=None", methodCast<DataType::Float64>},
    {"int", nullptr, "memory_format=None", methodCast<DataType::Int32>},
    {"long", nullptr, "memory_format=None", methodCast<DataType::Int64>},
    {"short", nullptr, "memory_format=None", methodCast<DataType::Int16>},
    {"char", nullptr, "memory_format=None", methodCast<DataType::Int8>},
    {"byte", nullptr, "memory_format=None", methodCast<DataType::UInt8>},
    {"bool", nullptr, "memory_format=None", methodCast<DataType::Bool>},
    {"cpu", nullptr, "memory_format=None",
     [](TensorObject &self, h::Interpreter &i, Bound &) {
       return self.tracer.recorder ? onDevice(self, i, {}) : selfOf(self);
     }},
    {"cuda", nullptr, "device=None, non_blocking=False, memory_format=None",
     [](TensorObject &self, h::Interpreter &i, Bound &a) {
       if (!self.tracer.recorder)
         return selfOf(self);
       auto device = deviceAsked(self.tracer, i, a[0].isNone() ? h::Value("cuda") : a[0]);
       return onDevice(self, i, *device);
     }},
    {"requires_grad_", nullptr, "requires_grad=True",
     [](TensorObject &self, h::Interpreter &i, Bound &a) {
       setRequiresGrad(i, self, i.truth(a[0]));
       return selfOf(self);
     }},
    {"backward", nullptr, "gradient=None, retain_graph=None, create_graph=False, inputs=None",
     [](TensorObject &self, h::Interpreter &i, Bound &a) {
       return i.call(autogradFunction(i, "backward"), {selfOf(self), a[0], a[1], a[2], a[3]});
     }},
    {"detach", nullptr, "",
     [](TensorObject &self, h::Interpreter &i, Bound &) {
       h::Value view = callAten(self.tracer, i, "detach", argsOf({selfOf(self)}));
       return view;
     }},
    {"retain_grad", nullptr, "",
     [](TensorObject &self, h::Interpreter &i, Bound &) {
       retainGrad(i, self);
       return h::Value();
     }},
    {"register_hook", nullptr, "hook",
     [](TensorObject &self, h::Interpreter &i, Bound &a) {
       return registerHook(i, self, a[0], false);
     }},
    {"register_post_accumulate_grad_hook", nullptr, "hook",
     [](TensorObject &self, h::Interpreter &i, Bound &a) {
       return registerHook(i, self, a[0], true);
     }},
    {"__getitem__",
     [](TensorObject &self, h::Interpreter &i, const h::CallArgs &args) {
       return *self.getItem(i, args.positional.at(0));
     }},
    {"__setitem__",
     [](TensorObject &self, h::Interpreter &i, const h::CallArgs &args) {
       self.setItem(i, args.positional.at(0), args.positional.at(1));
       return h::Value();
     }},
    {"item",
     [](TensorObject &self, h::Interpreter &i, const h::CallArgs &) { return itemOf(self, i); }},
    {"tolist",
     [](TensorObject &self, h::Interpreter &i, const h::CallArgs &) -> h::Value {
       if (auto known = knownNumbers(self, i))
         return *known;
       return itemsOf(self, i);
     }},
    {"data_ptr", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) { return addressValue(self); }},
    {"untyped_storage", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) { return storageValue(self); }},
    {"storage", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) { return storageValue(self); }},
    {"__format__", nullptr, "spec",
     [](TensorObject &self, h::Interpreter &i, Bound &a) {
       return h::Value(self.format(i, i.str(a[0])));
     }},
    {"squeeze", methodSqueeze},
    {"get_device", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(saysCuda(self) ? 0 : -1);
     }},
    {"is_signed", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(isFloat(self.tensor.type.dtype) || info(self.tensor.type.dtype).isSigned);
     }},
    {"is_complex", nullptr, "",
     [](TensorObject &, h::Interpreter &, Bound &) { return h::Value(false); }},
    {"is_inference", nullptr, "",
     [](TensorObject &, h::Interpreter &, Bound &) { return h::Value(false); }},
};

} // namespace

std::vector<std::pair<std::string, std::optional<std::string>>> tensorMethods() {
  std::vector<std::pair<std::string, std::optional<std::string>>> out;
  for (const NamedMethod &row : methods)
    out.emplace_back(row.name,
                     row.signature ? std::optional<std::string>(row.signature) : std::nullopt);
  return out;
}

namespace {

h::Value functionOf(const NamedMethod &row, std::shared_ptr<const h::Signature> signature) {
  std::string name = std::string("torch.Tensor.") + row.name;
  return h::nativeRaw(name, [&row, signature = std::move(signature)](h::Interpreter &interpreter,
                                                                     h::CallArgs args) {
    h::Value self = std::move(args.positional.front());
    args.positional.erase(args.positional.begin());
    auto &tensor = self.expect<TensorObject>("a tensor");
    if (!signature)
      return row.method(tensor, interpreter, args);
    Bound bound = signature->bind(interpreter, row.name, args);
    return row.bound(tensor, interpreter, bound);
  });
}

} // namespace

/// The first row of that name.
const KnownMethod *methodNamed(std::string_view name) {
  // Never destroyed: what ends after it may still ask.
  static const auto *byName = [] {
    auto *rows = new std::unordered_map<std::string_view, KnownMethod>;
    for (const NamedMethod &row : methods) {
      auto signature =
          row.signature ? std::make_shared<const h::Signature>(row.signature) : nullptr;
      rows->try_emplace(row.name, KnownMethod{&row, signature, functionOf(row, signature)});
    }
    return rows;
  }();
  auto row = byName->find(name);
  return row == byName->end() ? nullptr : &row->second;
}

const h::Value *TensorObject::methodFor(std::string_view name) {
  if (userClass() || attributes.find(name))
    return nullptr;
  const KnownMethod *known = methodNamed(name);
  return known ? &known->function : nullptr;
}

} // namespace pellucid::trace
