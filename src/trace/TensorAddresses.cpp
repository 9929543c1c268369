// SPDX-License-Identifier: Apache-2.0
#include "trace/TensorAddresses.h"

#include "trace/EagerRecorder.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

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

} // namespace

std::optional<h::Value> addressNumber(const h::Value &value) {
  auto *address = value.as<Address>();
  return address ? address->known() : std::nullopt;
}

h::Value addressValue(const TensorObject &tensor) {
  return h::Value(std::make_shared<Address>(tensor));
}

h::Value storageValue(const TensorObject &tensor) {
  return h::Value(std::make_shared<Storage>(tensor));
}

} // namespace pellucid::trace
