// SPDX-License-Identifier: Apache-2.0
/// Bytes of files and buffers, as a script holds them.
#pragma once

#include "host/Value.h"

namespace pellucid::host {

/// `bytes`: what io.BytesIO and files that are open as "rb" hold. Never changed.
class ByteString : public Object {
public:
  explicit ByteString(std::string b) : bytes(std::make_shared<const std::string>(std::move(b))) {}

  std::string typeName() const override { return "bytes"; }
  std::string repr() const override;
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> length(Interpreter &) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  bool truth(Interpreter &) override { return !bytes->empty(); }
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override { return std::hash<std::string>()(*bytes); }

  std::shared_ptr<const std::string> bytes;
};

} // namespace pellucid::host
