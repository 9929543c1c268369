// SPDX-License-Identifier: Apache-2.0
#include "trace/AtenComposites.h"
#include "trace/Dispatch.h"
#include "trace/EagerRecorder.h"
#include "trace/Gradients.h"
#include "trace/OperandErrors.h"
#include "trace/PytorchNames.h"
#include "trace/TensorMethods.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

bool isEager(const Tracer &tracer) { return tracer.recorder && tracer.recorder->isRecording(); }

/// As torch names it: "cuda:0", "cpu".
static std::string deviceText(const TensorObject &tensor) {
  const Device &device = tensor.tensor.storage->device;
  return saysCuda(tensor) ? "cuda:" + std::to_string(std::max(device.index, 0))
                          : toString(tensor.tensor.type.device);
}

std::string TensorObject::repr() const {
  if (!isEager(tracer))
    return "tensor(" + toString(tensor.type) + ")";
  TracedTensor held = tensor;
  h::Interpreter *interpreter = h::Interpreter::active();
  SourceLocation where = interpreter ? interpreter->location() : SourceLocation();
  std::vector<std::string> before, after;
  if (saysCuda(*this))
    before.push_back("device='" + deviceText(*this) + "'");
  if (interpreter) {
    auto *self = const_cast<TensorObject *>(this);
    auto grad = self->getAttr(*interpreter, "grad_fn"),
         wants = self->getAttr(*interpreter, "requires_grad");
    if (grad && !grad->isNone())
      after.push_back("grad_fn=<" + h::typeName(*grad) + ">");
    else if (wants && interpreter->truth(*wants))
      after.push_back("requires_grad=True");
  }
  std::string text =
      tensorText(tracer.recorder->valuesOf(held, where), tracer.printing, before, after);
  return isParameter ? "Parameter containing:\n" + text : text;
}

std::string TensorObject::format(h::Interpreter &interpreter, std::string_view spec) {
  if (isEager(tracer) && tensor.type.rank() == 0 && !isParameter)
    return interpreter.format(itemOf(*this, interpreter), spec);
  if (spec.empty())
    return interpreter.str(selfOf(*this));
  interpreter.raise("TypeError",
                    "unsupported format string passed to " + typeName() + ".__format__");
}

h::Value tensorValue(Tracer &tracer, TracedTensor tensor) {
  return h::Value(std::make_shared<TensorObject>(tracer, std::move(tensor)));
}

namespace {

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

int64_t wrapped(h::Interpreter &interpreter, const h::Value &dim, size_t rank) {
  int64_t d = interpreter.toInt64(dim, "dim"), r = static_cast<int64_t>(rank);
  if (d < -r || d >= r)
    interpreter.raise("IndexError", "Dimension out of range (expected to be in range of [" +
                                        std::to_string(-std::max<int64_t>(r, 1)) + ", " +
                                        std::to_string(std::max<int64_t>(r, 1) - 1) +
                                        "], but got " + std::to_string(d) + ")");
  return d < 0 ? d + r : d;
}

/// Where a tensor's first element lies. Of a model only what holds in every call can be asked:
/// whether it is some address, whether it is that of another tensor, and a multiple that all memory
/// of a package has. In a script it is a number as soon as anything else is asked.
class Address : public h::Object {
public:
  Address(const TensorObject &object, bool ofStorage = false)
      : tracer(object.tracer), tensor(object.tensor), storage(object.tensor.storage),
        element(byteSize(object.tensor.type.dtype)),
        offset(ofStorage ? Expr(0) : object.tensor.type.offset * static_cast<int64_t>(element)),
        isInput(std::any_of(object.tracer.program.inputs.begin(),
                            object.tracer.program.inputs.end(), [&](const InputSpec &input) {
                              return input.kind == InputSpec::Kind::UserInput && storage->base &&
                                     storage->base->name() == input.name;
                            })) {
    if (ofStorage)
      tensor.type.offset = 0;
  }
  std::string typeName() const override { return "int"; }
  std::string repr() const override {
    auto number = known();
    return number ? h::repr(*number) : "an address";
  }
  std::optional<h::Value> known() const {
    if (!isEager(tracer))
      return std::nullopt;
    return h::Value(tracer.recorder->addressOf(tensor));
  }
  std::optional<h::Value> getAttr(h::Interpreter &interpreter, std::string_view name) override {
    auto number = known();
    if (!number)
      return std::nullopt;
    if (name == "__index__" || name == "__int__")
      return h::nativeRaw(
          std::string(name),
          [number = *number](h::Interpreter &, const h::CallArgs &) { return number; });
    return interpreter.findAttr(*number, name);
  }
  std::optional<h::Value> unaryOp(h::Interpreter &interpreter, h::UnaryOp op) override {
    auto number = known();
    if (!number)
      refuse(interpreter);
    return interpreter.unary(op, *number);
  }

  std::optional<h::Value> compare(h::Interpreter &interpreter, h::CompareOp op,
                                  const h::Value &other, bool) override {
    bool equality = op == h::CompareOp::Eq || op == h::CompareOp::Ne;
    if (equality && other.isInt() && other.integer() == 0)
      return h::Value(op == h::CompareOp::Ne);
    auto *address = other.as<Address>();
    if (!address || !equality) {
      auto number = known();
      if (!number)
        refuse(interpreter);
      return interpreter.compare(op, *number, addressNumber(other).value_or(other));
    }
    if (address->storage == storage)
      return h::Value::condition(op == h::CompareOp::Eq
                                     ? symbolic::equal(offset, address->offset)
                                     : symbolic::notEqual(offset, address->offset));
    // A caller may pass one tensor for two inputs.
    if (isInput && address->isInput)
      refuse(interpreter);
    return h::Value(op == h::CompareOp::Ne);
  }
  std::optional<h::Value> binaryOp(h::Interpreter &interpreter, h::BinaryOp op,
                                   const h::Value &other, bool reflected) override {
    constexpr int64_t alignment = 64;
    bool divides = other.isInt() && other.integer() > 0 && alignment % other.integer() == 0;
    if (op != h::BinaryOp::Mod || reflected || !divides) {
      auto number = known();
      if (!number)
        refuse(interpreter);
      h::Value given = addressNumber(other).value_or(other);
      return reflected ? interpreter.binary(op, given, *number)
                       : interpreter.binary(op, *number, given);
    }
    if (isInput)
      requireAlignment(interpreter, static_cast<uint32_t>(other.integer()));
    return h::Value::integer(symbolic::mod(offset, interpreter.toExpr(other, "the divisor")));
  }
  bool truth(h::Interpreter &) override { return true; }
  bool equals(const h::Object &other) const override {
    auto *address = dynamic_cast<const Address *>(&other);
    return address && address->storage == storage && address->offset == offset;
  }
  std::optional<size_t> hash() const override { return std::hash<const void *>()(storage.get()); }

private:
  Tracer &tracer;
  TracedTensor tensor;
  std::shared_ptr<TracedStorage> storage;
  size_t element;
  Expr offset;
  bool isInput;

  /// What the caller passes is aligned in the example, as what PyTorch allocates is: the program is
  /// for such data.
  void requireAlignment(h::Interpreter &interpreter, uint32_t divisor) {
    if (tracer.strict)
      refuse(interpreter);
    for (InputSpec &input : tracer.program.inputs)
      if (input.kind == InputSpec::Kind::UserInput && storage->base &&
          storage->base->name() == input.name && input.alignment < divisor) {
        input.alignment = divisor;
        tracer.warn(Diagnostic(Severity::Warning, interpreter.location(),
                               "the program is for an input '" + input.name +
                                   "' whose address is a multiple of " + std::to_string(divisor)));
      }
  }

  [[noreturn]] static void refuse(h::Interpreter &interpreter) {
    interpreter.refuse("an address (.data_ptr()) is only known when the program runs: it can be "
                       "compared with 0 and with that of another tensor made here, and its "
                       "alignment asked of tensors made here; pass the tensor itself to kernels");
  }
};

} // namespace

std::optional<h::Value> addressNumber(const h::Value &value) {
  auto *address = value.as<Address>();
  return address ? address->known() : std::nullopt;
}

namespace {

/// What untyped_storage() gives: the memory itself, to compare.
class Storage : public h::Object {
public:
  explicit Storage(const TensorObject &object) : tensor(object.tracer, object.tensor) {}
  std::string typeName() const override { return "UntypedStorage"; }
  std::optional<h::Value> getAttr(h::Interpreter &, std::string_view name) override {
    if (name != "data_ptr")
      return std::nullopt;
    return h::nativeRaw("data_ptr",
                        [address = std::make_shared<Address>(tensor, true)](
                            h::Interpreter &, const h::CallArgs &) { return h::Value(address); });
  }

private:
  TensorObject tensor;
};

using Method = h::Value (*)(TensorObject &, h::Interpreter &, const h::CallArgs &);

/// A dim whose size is dynamic is one of 1, or is not: decided like a branch.
h::Value methodSqueeze(TensorObject &self, h::Interpreter &interpreter, const h::CallArgs &args) {
  static const h::Signature signature("dim=()");
  std::vector<h::Value> a = signature.bind(interpreter, "squeeze", args);
  size_t rank = self.tensor.type.rank();
  std::vector<bool> asked(rank, a[0].isTuple() && a[0].tuple().empty());
  bool every = a[0].isTuple() && a[0].tuple().empty();
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
  auto *type = value.as<h::DType>();
  if (!type || type->family != h::DType::Family::Torch)
    interpreter.refuse(std::string("'.") + method + "()' takes a torch dtype such as " +
                       "torch.float16, got " + interpreter.repr(value));
  return type->type;
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
  } else if (first && first->as<h::DType>()) {
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
  if (isChannelsLast(a[3]))
    return inFormat(*result.as<TensorObject>(), interpreter, a[3]);
  if (!a[3].isNone() && interpreter.str(a[3]) == "contiguous_format")
    result = callAten(self.tracer, interpreter, "contiguous", argsOf({result}));
  return result;
}

using Bound = std::vector<h::Value>;

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

} // namespace

void TensorObject::beforeReplaced(h::Interpreter &interpreter, const h::Value &owner,
                                  std::string_view name, const h::Value &next) {
  auto *other = next.as<TensorObject>();
  auto *module = isParameter && other && !other->isParameter ? owner.as<h::Instance>() : nullptr;
  if (!module || !isEager(tracer))
    return;
  bool isModule =
      std::any_of(module->cls->mro.begin(), module->cls->mro.end(), [](const auto &cls) {
        return cls->name == "Module" && cls->location.file &&
               cls->location.file->path() == "<torch.nn>";
      });
  if (isModule)
    interpreter.raise("TypeError", "cannot assign '" + nameOfClass(*other) + "' as parameter '" +
                                       std::string(name) +
                                       "' (torch.nn.Parameter or None expected)");
}

namespace {

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
    return inFormat(*result.as<TensorObject>(), interpreter, a[0]);
  }
  if (!a[0].isNone() && interpreter.str(a[0]) != "preserve_format")
    interpreter.refuse("tensors in the memory format " + interpreter.str(a[0]) +
                       " are not supported; leave memory_format out");
  return castTo(self, interpreter, type);
}

struct NamedMethod {
  const char *name;
  Method method = nullptr; ///< with the call's arguments as they are …
  const char *signature = nullptr;
  h::Value (*bound)(TensorObject &, h::Interpreter &, Bound &) = nullptr; ///< … or as bound to it
};

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

/// Of the operators that are written with others: those whose list may be written out, too.
void gatherSizes(std::string_view method, h::CallArgs &args) {
  static constexpr std::string_view names[] = {"flip", "tile", "broadcast_to", "sum_to_size"};
  if (args.positional.size() > 1 && std::ranges::find(names, method) != std::end(names))
    args.positional = {gathered(args.positional)};
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
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(std::make_shared<Address>(self));
     }},
    {"untyped_storage", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(std::make_shared<Storage>(self));
     }},
    {"storage", nullptr, "",
     [](TensorObject &self, h::Interpreter &, Bound &) {
       return h::Value(std::make_shared<Storage>(self));
     }},
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

static std::string sizesText(const TensorType &type) {
  std::string text = "[";
  for (const Expr &size : type.shape)
    text += (text.size() > 1 ? ", " : "") + size.text();
  return text + "]";
}

h::Value TensorObject::assign(h::Interpreter &interpreter, const h::Value &value,
                              const std::string &name, bool uniform) {
  SourceLocation where = interpreter.location();
  auto *contents = value.as<TensorObject>();
  checkInPlace(interpreter, *this);
  if (!contents)
    interpreter.refuse("'" + name + "' has several results, which one tensor cannot receive");
  if (isEager(tracer) && contents->tensor.type.shape != tensor.type.shape)
    interpreter.raise("RuntimeError", "output with shape " + sizesText(tensor.type) +
                                          " doesn't match the broadcast shape " +
                                          sizesText(contents->tensor.type));
  if (contents->tensor.type.shape != tensor.type.shape)
    interpreter.refuse("'" + name + "' would change the tensor's shape from " +
                       toString(tensor.type) + " to " + toString(contents->tensor.type));
  // copy_() and fill_() convert whatever they get.
  auto category = [](DataType type) { return isFloat(type) ? 2 : type == DataType::Bool ? 0 : 1; };
  if (category(contents->tensor.type.dtype) > category(tensor.type.dtype) && name != "copy_" &&
      name != "fill_" && name != "zero_" && isEager(tracer))
    interpreter.raise("RuntimeError", "result type " + scalarName(contents->tensor.type.dtype) +
                                          " can't be cast to the desired output type " +
                                          scalarName(tensor.type.dtype));
  if (category(contents->tensor.type.dtype) > category(tensor.type.dtype) && name != "copy_" &&
      name != "fill_" && name != "zero_")
    interpreter.refuse("'" + name + "' gives " +
                       std::string(info(contents->tensor.type.dtype).torch) +
                       ", which PyTorch does not write into a tensor of " +
                       std::string(info(tensor.type.dtype).torch) + "; convert it first");
  h::Value cast = castTo(*contents, interpreter, tensor.type.dtype);
  tracer.write(tensor, tracer.valueOf(cast.as<TensorObject>()->tensor, where), where, uniform);
  noteWrite(interpreter, *this, *cast.as<TensorObject>());
  return h::Value(shared_from_this());
}

/// x.T reverses the dims, x.mT swaps the last two. Numbers here are real, so that H is T.
static h::Value flipped(h::Interpreter &interpreter, TensorObject &self, std::string_view name) {
  int64_t rank = static_cast<int64_t>(self.tensor.type.rank());
  bool matrices = name[0] == 'm';
  if (matrices && rank == 1)
    interpreter.raise(
        "RuntimeError",
        "tensor." + std::string(name) +
            " is only supported on matrices or batches of matrices, got a tensor of " +
            std::to_string(rank) + " dims");
  if (name == "H" && rank != 0 && rank != 2)
    interpreter.raise("RuntimeError", "tensor.H is only supported on matrices, got a tensor of " +
                                          std::to_string(rank) + " dims; write mH for batches");
  h::List order;
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(h::Value(rank - 1 - d));
  if (rank < 2)
    return requiresGrad(self) ? callAten(self.tracer, interpreter, "alias", argsOf({selfOf(self)}))
                              : tensorValue(self.tracer, self.tensor);
  if (!matrices && rank > 2)
    return callAten(self.tracer, interpreter, "permute",
                    argsOf({selfOf(self), h::Value::list(std::move(order))}));
  return callAten(self.tracer, interpreter, "transpose",
                  argsOf({selfOf(self), h::Value(rank - 2), h::Value(rank - 1)}));
}

/// Methods that make the tensor look at its memory in another way; no element moves.
static bool changesShape(const std::string &method) {
  static const std::set<std::string> names = {"t_",       "transpose_", "swapaxes_", "swapdims_",
                                              "squeeze_", "unsqueeze_", "detach_",   "as_strided_"};
  return names.count(method) != 0;
}

/// int(x), float(x), and x as an index, of a script's tensor with one element.
static std::optional<h::Value> numberMethod(const std::shared_ptr<TensorObject> &self,
                                            std::string_view name) {
  bool isIndex = name == "__index__", isFloating = name == "__float__";
  if (!isIndex && !isFloating && name != "__int__")
    return std::nullopt;
  return h::nativeRaw(std::string(name), [self, isIndex, isFloating](h::Interpreter &i,
                                                                     const h::CallArgs &) {
    const TensorType &type = self->tensor.type;
    if (isIndex && (isFloat(type.dtype) || type.numel().constantOr(0) != 1))
      i.raise("TypeError", "only integer tensors of a single element can be converted to an index");
    if (!isIndex && self->tensor.type.numel().constantOr(1) != 1)
      i.raise("ValueError", "only one element tensors can be converted to Python scalars");
    h::Value number = itemOf(*self, i);
    if (isFloating)
      return h::Value(i.toDouble(number, "a number"));
    if (number.isFloat())
      return i.call(*i.builtin("int"), {number});
    return h::Value(i.toInt64(number, "a number"));
  });
}

static h::Value changeShape(h::Interpreter &interpreter, TensorObject &self,
                            const std::string &name, h::CallArgs args) {
  h::Value view = interpreter.call(interpreter.getAttr(selfOf(self), name), std::move(args));
  TensorObject &changed = *view.as<TensorObject>();
  if (name != "detach")
    checkInPlace(interpreter, self);
  self.tensor = changed.tensor;
  if (name == "detach" && self.base)
    interpreter.raise("RuntimeError",
                      "Can't detach views in-place. Use detach() instead. If you are using "
                      "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is "
                      "set as True, gradients are views of DDP buckets, and hence detach_() cannot "
                      "be called on these gradients. To fix this error, please refer to the "
                      "Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.");
  // What shares its history from here on is the changed one; leaves keep what was asked of them.
  if (name == "detach")
    self.meta.reset();
  else if (changed.meta && changed.meta->source)
    metaOf(self).source = changed.meta->source;
  self.seen = changed.seen;
  return selfOf(self);
}

/// torch.device of the tensor's device; nothing changes one, and each is made once.
static h::Value deviceOf(h::Interpreter &interpreter, const TensorObject &tensor) {
  std::string text = deviceText(tensor);
  auto torch = interpreter.nativeModule("torch");
  std::string key = "_device " + text;
  if (const h::Value *known = torch->globals->find(key))
    return *known;
  h::Value device =
      interpreter.call(interpreter.getAttr(h::Value(torch), "device"), {h::Value(std::move(text))});
  torch->globals->set(key, device);
  return device;
}

std::optional<h::Value> TensorObject::getAttr(h::Interpreter &interpreter, std::string_view name) {
  const TensorType &type = tensor.type;
  if (const h::Value *own = attributes.find(name))
    return *own;
  if (name == "shape")
    return shapeValue(type);
  if (name == "as_subclass")
    return h::native("torch.Tensor.as_subclass", "cls",
                     [self = shared_from_this()](h::Interpreter &i, Bound &a) {
                       return asSubclass(static_cast<TensorObject &>(*self).tracer, i,
                                         h::Value(self), a[0]);
                     });
  if (name == "dtype")
    return dtypeValue(type.dtype);
  if (name == "__class__" && !userClass())
    return isParameter
               ? interpreter.getAttr(h::Value(interpreter.nativeModule("torch.nn")), "Parameter")
               : interpreter.getAttr(h::Value(interpreter.nativeModule("torch")), "Tensor");
  if (name == "device")
    return deviceOf(interpreter, *this);
  if (name == "ndim")
    return h::Value(static_cast<int64_t>(type.rank()));
  if (name == "is_cuda")
    return h::Value(saysCuda(*this));
  constexpr std::string_view others[] = {"is_xpu",    "is_mps",       "is_meta",
                                         "is_sparse", "is_quantized", "is_nested"};
  if (std::find(std::begin(others), std::end(others), name) != std::end(others))
    return h::Value(false);
  if (name == "is_cpu")
    return h::Value(!saysCuda(*this));
  if (std::optional<h::Value> found = gradientAttribute(interpreter, *this, name))
    return found;
  if (name == "layout")
    return h::Value("strided");
  if (name == "nbytes")
    return interpreter.binary(h::BinaryOp::Mul, h::Value::integer(type.numel()),
                              h::Value(static_cast<int64_t>(byteSize(type.dtype))));
  if (name == "itemsize")
    return h::Value(static_cast<int64_t>(byteSize(type.dtype)));
  // Another tensor over the same memory: what transpose_() does to one is not seen by the other.
  if (name == "data") {
    auto other = detached(*this);
    other->isUncounted = true;
    return h::Value(std::static_pointer_cast<h::Object>(other));
  }
  if (name == "real")
    return h::Value(shared_from_this());
  if (name == "T" || name == "mT" || name == "H" || name == "mH")
    return flipped(interpreter, *this, name);
  std::string method(name);
  auto self = std::static_pointer_cast<TensorObject>(shared_from_this());
  if (name == "__abs__")
    return getAttr(interpreter, "abs");
  if (name.starts_with("__") && isEager(tracer))
    if (auto number = numberMethod(self, name))
      return number;
  if (const KnownMethod *known = methodNamed(name)) {
    if (known->signature)
      return h::native("torch.Tensor." + method, known->signature,
                       [self, call = known->row->bound](h::Interpreter &i, Bound &a) {
                         return call(*self, i, a);
                       });
    return h::nativeRaw("torch.Tensor." + method,
                        [self, call = known->row->method](h::Interpreter &i, h::CallArgs args) {
                          return call(*self, i, args);
                        });
  }
  if (tracer.recorder)
    if (auto function = eagerFunction(interpreter, method))
      return h::nativeRaw("torch.Tensor." + method,
                          [self, function = *function](h::Interpreter &i, h::CallArgs args) {
                            args.positional.insert(args.positional.begin(), selfOf(*self));
                            return i.call(function, std::move(args));
                          });
  if (changesShape(method))
    return h::nativeRaw(
        "torch.Tensor." + method,
        [self, name = method.substr(0, method.size() - 1)](h::Interpreter &i, h::CallArgs args) {
          return changeShape(i, *self, name, std::move(args));
        });
  if (method.size() > 1 && method.back() == '_' && isInPlace(method))
    return h::nativeRaw(
        "torch.Tensor." + method,
        [self, base = method.substr(0, method.size() - 1)](h::Interpreter &i, h::CallArgs args) {
          return callInPlace(*self, i, base, args);
        });
  if (auto composite = compositeFunction(interpreter, method))
    return h::nativeRaw("torch.Tensor." + method, [self, method, function = *composite](
                                                      h::Interpreter &i, h::CallArgs args) {
      gatherSizes(method, args);
      args.positional.insert(args.positional.begin(),
                             h::Value(std::static_pointer_cast<h::Object>(self)));
      return callComposite(i, method, function, std::move(args));
    });
  if (name.starts_with("to_sparse"))
    return h::nativeRaw("torch.Tensor." + method,
                        [method](h::Interpreter &i, const h::CallArgs &) -> h::Value {
                          i.refuse("'" + method +
                                   "': sparse tensors are not supported; keep the tensor dense, or "
                                   "its indices and values as two tensors");
                        });
  if (tracer.registry.overloads("aten." + method).empty()) {
    if (atenComposites(interpreter, "aten." + method).empty())
      return isEager(tracer) && !name.starts_with("_") && isPytorchName("torch.Tensor", name)
                 ? std::optional(h::Value(std::make_shared<h::Opaque>("torch.Tensor." + method,
                                                                      interpreter.location())))
                 : std::nullopt;
    return h::nativeRaw("torch.Tensor." + method,
                        [self, method](h::Interpreter &i, h::CallArgs args) {
                          gatherSizes(method, args);
                          args.positional.insert(args.positional.begin(), selfOf(*self));
                          return callAtenPacket(i, "aten." + method, std::move(args));
                        });
  }
  return h::nativeRaw("torch.Tensor." + method, [self, method](h::Interpreter &i,
                                                               h::CallArgs args) {
    h::CallArgs call = argsOf({h::Value(std::static_pointer_cast<h::Object>(self))}, args.keywords);
    call.positional.insert(call.positional.end(), args.positional.begin(), args.positional.end());
    return callAten(self->tracer, i, method, call);
  });
}

bool TensorObject::truth(h::Interpreter &interpreter) {
  if (isEager(tracer) && tensor.type.numel().constantOr(0) != 1)
    interpreter.raise("RuntimeError",
                      tensor.type.numel().constantOr(0) == 0
                          ? "Boolean value of Tensor with no values is ambiguous"
                          : "Boolean value of Tensor with more than one value is ambiguous");
  if (tensor.type.numel().constantOr(0) == 1)
    if (auto known = knownNumbers(*this, interpreter)) {
      while (known->isList())
        known = h::Value(known->list().front());
      return interpreter.truth(*known);
    }
  interpreter.refuse("a branch on a tensor's value cannot be traced: the value is only known when "
                     "the program runs; use torch.where");
}

/// What files note on a tensor is theirs: it stays with this object, as in PyTorch.
bool TensorObject::setAttr(h::Interpreter &interpreter, std::string_view name,
                           const h::Value &value) {
  if (setGradientAttribute(interpreter, *this, name, value))
    return true;
  if (name == "data" && isEager(tracer) && !base) {
    auto *other = value.as<TensorObject>();
    if (!other)
      interpreter.raise("TypeError",
                        "Variable data has to be a tensor, but got " + h::typeName(value));
    // A leaf stays one; programs that were compiled with what it held are made anew.
    tensor = other->tensor;
    if (auto script = interpreter.nativeModule("_script_torch"))
      interpreter.call(*script->globals->find("reset"));
    return true;
  }
  if (name == "data")
    interpreter.refuse("assigning to a tensor's '.data' gives it other memory, which is not "
                       "supported; copy_() the new values into it");
  auto known = getAttr(interpreter, name);
  if (known && !attributes.find(name))
    interpreter.refuse("'" + std::string(name) + "' of a tensor cannot be set");
  attributes.set(name, value);
  return true;
}

/// A parameter's copy begins with the same values.
std::optional<h::Value> TensorObject::deepCopy(h::Interpreter &interpreter) {
  auto copy = std::make_shared<TensorObject>(tracer, tensor);
  TracedStorage &storage = *tensor.storage;
  if (!storage.base && !storage.constructed) {
    copy->tensor = tracer.unbound(storage.type, storage.initializer);
    copy->tensor.type = tensor.type;
  } else {
    autograd::ModeGuard guard(tracer.gradients, false);
    h::Value clone = callAten(tracer, interpreter, "clone", argsOf({h::Value(shared_from_this())}));
    copy->tensor = clone.as<TensorObject>()->tensor;
  }
  if (requiresGrad(*this) && !isLeaf(*this))
    interpreter.raise("RuntimeError",
                      "Only Tensors created explicitly by the user (graph leaves) support the "
                      "deepcopy protocol at the moment.  If you were attempting to deepcopy a "
                      "module, this may be because of a torch.nn.utils.weight_norm usage");
  if (meta) {
    metaOf(*copy).requiresGrad = meta->requiresGrad;
    if (auto *own = meta->grad.as<TensorObject>())
      metaOf(*copy).grad = *own->deepCopy(interpreter);
  }
  copy->isParameter = isParameter;
  for (const auto &[name, value] : attributes.items())
    copy->attributes.set(name, value);
  return h::Value(std::static_pointer_cast<h::Object>(copy));
}

/// `for row in x`, `a, b = x`: views of the first dim.
std::optional<std::vector<h::Value>> TensorObject::iterate(h::Interpreter &interpreter) {
  if (tensor.type.shape.empty())
    interpreter.raise("TypeError", "iteration over a 0-d tensor");
  auto rows = tensor.type.shape[0].constant();
  if (!rows)
    interpreter.refuse("a loop over a tensor whose first dim, " + tensor.type.shape[0].text() +
                       ", is dynamic cannot be traced; compute with the whole tensor");

  std::vector<h::Value> out;
  for (int64_t i = 0; i < *rows; ++i)
    out.push_back(*getItem(interpreter, h::Value(i)));
  return out;
}

std::optional<h::Value> TensorObject::length(h::Interpreter &) {
  if (tensor.type.shape.empty())
    return std::nullopt;
  return exprValue(tensor.type.shape[0]);
}

} // namespace pellucid::trace
