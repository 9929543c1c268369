// SPDX-License-Identifier: Apache-2.0
/// Devices, tensor types and the arguments of nodes.
#pragma once

#include "support/DataType.h"
#include "symbolic/Expr.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pellucid::graph {

using symbolic::Expr;
using symbolic::SymbolTable;

/// `cpu`, `cuda`, `cuda:1`; index -1 is the current device of that kind.
struct Device {
  enum class Kind : uint8_t { Cpu = 0, Cuda = 1 };
  Kind kind = Kind::Cpu;
  int32_t index = -1;
  bool operator==(const Device &) const = default;
};
std::string toString(Device device);
std::optional<Device> deviceNamed(std::string_view text);

/// What is known of a tensor: element (i0, i1, …) lies at offset + Σ i_k * strides[k] elements of
/// its storage.
struct TensorType {
  DataType dtype = DataType::Float32;
  std::vector<Expr> shape;
  std::vector<Expr> strides;
  Expr offset = 0;
  Device device;
  /// Where elements live beyond strides (a linear layout on CUDA); empty: plain strided.
  std::string layout;

  TensorType() = default;
  /// Contiguous, offset 0.
  TensorType(DataType dtype, std::vector<Expr> shape, Device device = {});
  bool operator==(const TensorType &) const = default;

  size_t rank() const { return shape.size(); }
  Expr numel() const;
  /// Proved row-major without gaps (dims of size 1 may have any stride); the offset does not
  /// matter.
  bool isContiguous(const SymbolTable &symbols) const;
  /// The same for every size in range; nullopt when sizes or strides decide that are not known.
  std::optional<bool> contiguity(const SymbolTable &symbols) const;
  /// Elements of storage it spans: offset + Σ (shape-1)*stride + 1, or 0 when it is proved empty.
  Expr storageElements(const SymbolTable &symbols) const;
};

std::vector<Expr> contiguousStrides(const std::vector<Expr> &shape);
/// `bf16[batch, 128]`, with `strides=[…]`, `offset=…`, `device=…` only where they are not the
/// default.
std::string toString(const TensorType &type);

class Value;
struct None {
  bool operator==(const None &) const = default;
};

/// One argument of a node: a constant, a symbolic integer, a value or a list of arguments. A
/// symbolic integer that is constant is held as int64_t, so equal arguments compare equal.
class Argument {
public:
  using List = std::vector<Argument>;
  using Storage =
      std::variant<None, bool, int64_t, double, std::string, DataType, Device, Expr, Value *, List>;

  Argument() = default;
  Argument(None) {}
  Argument(std::nullptr_t) = delete;
  Argument(bool v) : storage(v) {}
  Argument(int v) : storage(int64_t(v)) {}
  Argument(unsigned v) : storage(int64_t(v)) {}
  Argument(int64_t v) : storage(v) {}
  Argument(double v) : storage(v) {}
  Argument(std::string v) : storage(std::move(v)) {}
  Argument(const char *v) : storage(std::string(v)) {}
  Argument(DataType v) : storage(v) {}
  Argument(Device v) : storage(v) {}
  Argument(const Expr &v);
  Argument(Value *v) : storage(v) {}
  Argument(Value &v) : storage(&v) {}
  Argument(List v) : storage(std::move(v)) {}
  static Argument list(const std::vector<Expr> &elements);
  static Argument list(const std::vector<Value *> &elements);

  bool operator==(const Argument &) const;
  const Storage &get() const { return storage; }

  bool isNone() const { return std::holds_alternative<None>(storage); }
  Value *value() const { return as<Value *>().value_or(nullptr); }
  const List *list() const { return std::get_if<List>(&storage); }
  List *list() { return std::get_if<List>(&storage); }
  const std::string *string() const { return std::get_if<std::string>(&storage); }
  /// The alternative itself; no conversions.
  template <typename T> std::optional<T> as() const {
    if (const T *v = std::get_if<T>(&storage))
      return *v;
    return std::nullopt;
  }
  /// An integer, constant or symbolic (a bool counts as 0 or 1); nullopt for anything else.
  std::optional<Expr> integer() const;
  /// A number that is constant, as double; nullopt for anything else.
  std::optional<double> number() const;

  /// Calls `f(Value *)` for every value in it, lists included, in order.
  template <typename F> void forEachValue(F &&f) const {
    if (Value *const *v = std::get_if<Value *>(&storage))
      f(*v);
    else if (const List *l = list())
      for (const Argument &a : *l)
        a.forEachValue(f);
  }
  /// Puts `to` wherever `from` stands.
  void replaceValue(Value *from, Value *to);

private:
  Storage storage;
};

using KeywordArguments = std::vector<std::pair<std::string, Argument>>;

} // namespace pellucid::graph
