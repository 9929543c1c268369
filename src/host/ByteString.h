// SPDX-License-Identifier: Apache-2.0
/// Bytes of files and buffers, as a script holds them.
#pragma once

#include "host/Value.h"

namespace pellucid::host {

/// `bytes`: literals, what io.BytesIO and files that are open as "rb" hold. Never changed.
class ByteString : public Object {
public:
  explicit ByteString(std::string b) : bytes(std::make_shared<std::string>(std::move(b))) {}

  std::string typeName() const override { return "bytes"; }
  std::string repr() const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  std::optional<Value> length(Interpreter &) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  std::optional<bool> contains(Interpreter &, const Value &) override;
  bool truth(Interpreter &) override { return !bytes->empty(); }
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return std::hash<std::string>()(*bytes); }

  std::shared_ptr<const std::string> bytes;

protected:
  /// Another one of its kind.
  virtual Value made(std::string b) const {
    return Value(std::make_shared<ByteString>(std::move(b)));
  }
};

/// `bytearray`: bytes that are changed where they lie.
class ByteArray final : public ByteString {
public:
  using ByteString::ByteString;
  std::string typeName() const override { return "bytearray"; }
  std::string repr() const override { return "bytearray(" + ByteString::repr() + ")"; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool setItem(Interpreter &, const Value &key, const Value &value) override;
  std::optional<Value> inPlaceOp(Interpreter &, BinaryOp, const Value &other) override;
  std::optional<size_t> hash() const override { return std::nullopt; }
  std::optional<Value> deepCopy(Interpreter &) override { return made(*bytes); }
  /// `del a[key]`
  void remove(Interpreter &, const Value &key);

protected:
  Value made(std::string b) const override {
    return Value(std::make_shared<ByteArray>(std::move(b)));
  }

private:
  /// The bytes to be changed; whoever else holds them keeps them as they are.
  std::string &own();
};

/// The classes bytes and bytearray, of a script.
void addBytes(Interpreter &);

} // namespace pellucid::host
