// SPDX-License-Identifier: Apache-2.0
// bytearray, and the classes bytes and bytearray with what int and str have for them.
#include "host/ByteContents.h"
#include "host/InterpreterState.h"

#include <algorithm>

namespace pellucid::host {

using Bound = std::vector<Value>;

std::string &ByteArray::own() {
  if (bytes.use_count() > 1)
    bytes = std::make_shared<std::string>(*bytes);
  return const_cast<std::string &>(*bytes); // made as one that may change
}

std::optional<Value> ByteArray::getAttr(Interpreter &interpreter, std::string_view name) {
  auto self = std::static_pointer_cast<ByteArray>(shared_from_this());
  auto method = [&](const char *signature, std::function<Value(Interpreter &, Bound &)> body) {
    return native("bytearray." + std::string(name), signature, std::move(body));
  };
  if (name == "append")
    return method("item", [self](Interpreter &i, Bound &a) {
      self->own() += byteOf(i, a[0], "byte");
      return Value();
    });
  if (name == "extend")
    return method("iterable", [self](Interpreter &i, Bound &a) {
      std::string more = contentsOf(i, {a[0], Value(), Value()}, "bytearray");
      self->own() += more;
      return Value();
    });
  if (name == "insert")
    return method("index, item", [self](Interpreter &i, Bound &a) {
      auto size = static_cast<int64_t>(self->bytes->size());
      int64_t at = i.toInt64(a[0], "an index");
      at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
      self->own().insert(static_cast<size_t>(at), 1, byteOf(i, a[1], "byte"));
      return Value();
    });
  if (name == "pop")
    return method("index=-1", [self](Interpreter &i, Bound &a) {
      if (self->bytes->empty())
        i.raise("IndexError", "pop from empty bytearray");
      Value byte = *self->getItem(i, a[0]);
      self->remove(i, a[0]);
      return byte;
    });
  if (name == "clear" || name == "reverse" || name == "copy")
    return method("", [self, what = name[1]](Interpreter &, Bound &) {
      if (what == 'o')
        return self->made(*self->bytes);
      std::string &bytes = self->own();
      if (what == 'l')
        bytes.clear();
      else
        std::reverse(bytes.begin(), bytes.end());
      return Value();
    });
  if (name == "remove")
    return method("value", [self](Interpreter &i, Bound &a) {
      size_t at = self->bytes->find(byteOf(i, a[0], "byte"));
      if (at == std::string::npos)
        i.raise("ValueError", "value not found in bytearray");
      self->own().erase(at, 1);
      return Value();
    });
  return ByteString::getAttr(interpreter, name);
}

bool ByteArray::setItem(Interpreter &interpreter, const Value &key, const Value &value) {
  // As a list of its numbers is written.
  Value numbers = Value::list(*iterate(interpreter));
  if (key.kind() == Kind::Slice) {
    std::string more = contentsOf(interpreter, {value, Value(), Value()}, "bytearray");
    List elements;
    for (unsigned char c : more)
      elements.emplace_back(static_cast<int64_t>(c));
    interpreter.setItem(numbers, key, Value::list(std::move(elements)));
    own() = contentsOf(interpreter, {numbers, Value(), Value()}, "bytearray");
    return true;
  }
  auto size = static_cast<int64_t>(bytes->size());
  int64_t at = interpreter.toInt64(key, "an index");
  if (at < -size || at >= size)
    interpreter.raise("IndexError", "bytearray index out of range");
  own()[static_cast<size_t>(at < 0 ? at + size : at)] = byteOf(interpreter, value, "byte");
  return true;
}

void ByteArray::remove(Interpreter &interpreter, const Value &key) {
  Value numbers = Value::list(*iterate(interpreter));
  interpreter.delItem(numbers, key);
  own() = contentsOf(interpreter, {numbers, Value(), Value()}, "bytearray");
}

std::optional<Value> ByteArray::inPlaceOp(Interpreter &interpreter, BinaryOp op,
                                          const Value &other) {
  if (op == BinaryOp::Add) {
    std::string more = bytesOf(interpreter, other);
    own() += more;
    return Value(shared_from_this());
  }
  if (op != BinaryOp::Mul)
    return std::nullopt;
  Value product = interpreter.binary(op, Value(shared_from_this()), other);
  own() = bytesOf(interpreter, product);
  return Value(shared_from_this());
}

namespace {

/// int.to_bytes() and int.from_bytes()
void addWholeNumbers(Interpreter &interpreter) {
  auto isLittle = [](Interpreter &i, const Value &order) {
    const std::string &name = i.toStr(order, "byteorder");
    if (name != "little" && name != "big")
      i.raise("ValueError", "byteorder must be either 'little' or 'big'");
    return name == "little";
  };
  Namespace &integer = interpreter.builtinClass("int")->attributes;
  integer.set("to_bytes",
              native("int.to_bytes", "self, length=1, byteorder='big', *, signed=False",
                     [isLittle](Interpreter &i, Bound &a) {
                       Value plain = contentOf(a[0]);
                       Int value = plain.isBool() ? Int(plain.boolean()) : plain.integer();
                       int64_t length = i.toInt64(a[1], "length");
                       if (length < 0)
                         i.raise("ValueError", "length argument must be non-negative");
                       checkLength(i, static_cast<size_t>(length));
                       bool isSigned = i.truth(a[3]), little = isLittle(i, a[2]);
                       if (value < 0 && !isSigned)
                         i.raise("OverflowError", "can't convert negative int to unsigned");
                       std::string out;
                       Int rest = value;
                       for (int64_t k = 0; k < length; ++k, rest >>= 8)
                         out += static_cast<char>(rest & 0xff);
                       bool top = !out.empty() && (out.back() & 0x80);
                       bool fits = isSigned ? rest == (value < 0 ? -1 : 0) &&
                                                  (out.empty() ? value == 0 : top == (value < 0))
                                            : rest == 0;
                       if (!fits)
                         i.raise("OverflowError", "int too big to convert");
                       if (!little)
                         std::reverse(out.begin(), out.end());
                       return Value(std::make_shared<ByteString>(std::move(out)));
                     }));
  integer.set("from_bytes",
              Value(std::make_shared<Descriptor>(
                  Descriptor::Form::Static,
                  native("int.from_bytes", "bytes, byteorder='big', *, signed=False",
                         [isLittle](Interpreter &i, Bound &a) {
                           std::string bytes = contentsOf(i, {a[0], Value(), Value()}, "bytes");
                           if (isLittle(i, a[1]))
                             std::reverse(bytes.begin(), bytes.end());
                           if (bytes.size() > 15 && std::any_of(bytes.begin(), bytes.end() - 15,
                                                                [](char c) { return c != 0; }))
                             i.raise("OverflowError",
                                     "int.from_bytes() of a number that does not fit 127 bits");
                           Int value = 0;
                           for (unsigned char c : bytes)
                             value = value * 256 + c;
                           if (i.truth(a[2]) && !bytes.empty() && (bytes[0] & 0x80))
                             value -= Int(1) << (8 * bytes.size());
                           return Value(value);
                         }))));
}

} // namespace

void addBytes(Interpreter &interpreter) {
  Interpreter::State &state = interpreter.state();
  auto add = [&](const char *name, bool isArray) {
    auto cls = Class::make(name, "builtins");
    cls->accepts = [isArray](const Value &v) {
      return isArray ? v.as<ByteArray>() != nullptr : v.as<ByteString>() && !v.as<ByteArray>();
    };
    cls->construct = [name, isArray,
                      signature = Signature("source=None, encoding=None, errors=None")](
                         Interpreter &i, CallArgs args) {
      bool isEmpty = args.positional.empty() && args.keywords.empty();
      Bound a = signature.bind(i, name, args);
      std::string held = isEmpty ? "" : contentsOf(i, a, name);
      return isArray ? Value(std::make_shared<ByteArray>(std::move(held)))
                     : Value(std::make_shared<ByteString>(std::move(held)));
    };
    auto made = [isArray](std::string held) {
      return isArray ? Value(std::make_shared<ByteArray>(std::move(held)))
                     : Value(std::make_shared<ByteString>(std::move(held)));
    };
    auto set = [&](const char *method, const char *signature, NativeFunction::Body body) {
      cls->attributes.set(
          method, Value(std::make_shared<Descriptor>(
                      Descriptor::Form::Static,
                      native(std::string(name) + "." + method, signature, std::move(body)))));
    };
    set("fromhex", "string", [made](Interpreter &i, Bound &a) {
      return made(fromHex(i, i.toStr(a[0], "fromhex()'s argument")));
    });
    set("maketrans", "frm, to", [](Interpreter &i, Bound &a) {
      const std::string &from = bytesOf(i, a[0]), &to = bytesOf(i, a[1]);
      if (from.size() != to.size())
        i.raise("ValueError", "maketrans arguments must have same length");
      std::string table;
      for (int c = 0; c < 256; ++c)
        table += static_cast<char>(c);
      for (size_t k = 0; k < from.size(); ++k)
        table[static_cast<unsigned char>(from[k])] = to[k];
      return Value(std::make_shared<ByteString>(std::move(table)));
    });
    state.classes.emplace(name, cls);
    state.builtins.set(name, Value(cls));
  };
  add("bytes", false);
  add("bytearray", true);
  interpreter.builtinClass("str")->attributes.set(
      "encode",
      native("str.encode", "self, encoding='utf-8', errors='strict'", [](Interpreter &i, Bound &a) {
        return Value(std::make_shared<ByteString>(
            encoded(i, i.toStr(contentOf(a[0]), "the text"), a[1], a[2])));
      }));
  addWholeNumbers(interpreter);
}

} // namespace pellucid::host
