// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"
#include "support/Diagnostics.h"

#include <cmath>
#include <random>

namespace pellucid::graph::testing {

/// Arguments that fit the schema's type and some that do not.
class RandomCalls {
public:
  explicit RandomCalls(uint32_t seed) : rng(seed) {
    program.symbols.declare("s", {{0, 64}, 1, 8});
    const Expr s = Expr::symbol("s");
    const DataType types[] = {DataType::Float32, DataType::BFloat16, DataType::Int64,
                              DataType::Int8,    DataType::UInt8,    DataType::Bool};
    const std::vector<std::vector<Expr>> shapes = {{},     {0},    {1},       {s},
                                                   {3, 4}, {s, 4}, {2, 0, 4}, {2, 3, 4}};
    for (DataType type : types)
      for (const std::vector<Expr> &shape : shapes)
        tensors.push_back(program.main.placeholder("x" + std::to_string(tensors.size()),
                                                   TensorType(type, shape)));
    size = program.main.placeholder("size", s);
  }

  template <typename T> T pick(const std::vector<T> &list) { return list[rng() % list.size()]; }

  Argument integer() {
    return pick<Argument>({0, 1, -1, 2, 3, 4, -2, 64, INT64_MAX, INT64_MIN, int64_t(1) << 40,
                           Argument(Expr::symbol("s")), Argument(Expr::symbol("s") - 3), size});
  }
  Argument number() {
    return rng() % 2 ? integer()
                     : pick<Argument>({0.5, -0.0, std::nan(""), HUGE_VAL, -1e300, 1e19, true});
  }
  Argument element(const SchemaType &type) {
    using Kind = SchemaType::Kind;
    if (rng() % 24 == 0)
      return anything();
    switch (type.kind) {
    case Kind::Tensor:
      return Argument(pick(tensors));
    case Kind::Int:
    case Kind::SymInt:
      return integer();
    case Kind::Float:
    case Kind::Scalar:
      return number();
    case Kind::Bool:
      return Argument(rng() % 2 == 0);
    case Kind::Str:
      return pick<Argument>({"none", "tanh", "floor", "trunc", ""});
    case Kind::ScalarType:
      return pick<Argument>({DataType::Float32, DataType::Int8, DataType::Bool, DataType::Float16});
    case Kind::Device:
      return Argument(Device{});
    default:
      return pick<Argument>({"contiguous_format", "preserve_format", Argument()});
    }
  }
  Argument anything() {
    return pick<Argument>({Argument(), 1, 0.5, "x", true, DataType::Int8, Device{},
                           Argument(pick(tensors)), Argument(Argument::List{}),
                           Argument(Argument::List{Argument(Argument::List{}), 1})});
  }
  Argument argument(const SchemaType &type) {
    if (type.optional && rng() % 3 == 0)
      return Argument();
    if (!type.list)
      return element(type);
    Argument::List list;
    for (size_t i = rng() % 5; i > 0; --i)
      list.push_back(type.optionalElements && rng() % 3 == 0 ? Argument() : element(type));
    return Argument(std::move(list));
  }

  /// The call's node where the operator takes it, null where it refuses.
  Node *call(const Operator &op) {
    std::vector<Argument> args;
    KeywordArguments kwargs;
    for (const SchemaArgument &formal : op.schema.arguments)
      if (formal.keywordOnly)
        kwargs.emplace_back(formal.name, argument(formal.type));
      else
        args.push_back(argument(formal.type));
    try {
      return emitCall(program.main, OperatorRegistry::builtins(), program.symbols, op.target(),
                      std::move(args), std::move(kwargs));
    } catch (const DiagnosticError &) {
      return nullptr;
    }
  }

  Program program;
  std::vector<Value *> tensors;
  Value *size = nullptr;
  std::mt19937 rng;
};

} // namespace pellucid::graph::testing
