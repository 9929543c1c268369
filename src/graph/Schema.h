// SPDX-License-Identifier: Apache-2.0
/// Operator schemas in PyTorch's schema language.
#pragma once

#include "graph/Types.h"
#include "support/SourceFile.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::graph {

struct SchemaType {
  enum class Kind : uint8_t {
    Tensor,
    Int,
    SymInt,
    Float,
    Bool,
    Str,
    Scalar,
    ScalarType,
    Device,
    Layout,
    MemoryFormat,
    Generator,
  };
  Kind kind = Kind::Tensor;
  bool optional = false;           ///< `Tensor?`, `int[]?`
  bool list = false;               ///< `int[]`
  bool optionalElements = false;   ///< `Tensor?[]`
  std::optional<int64_t> listSize; ///< `int[2]`: a single value stands for the whole list
  std::string alias;               ///< `a` of `Tensor(a!)`, `*` included
  bool mutated = false;            ///< the `!`
  bool operator==(const SchemaType &) const = default;
};
std::string toString(const SchemaType &type);

struct SchemaArgument {
  SchemaType type;
  std::string name;
  std::optional<Argument> defaultValue;
  bool keywordOnly = false;
};

struct SchemaReturn {
  SchemaType type;
  std::string name; ///< may be empty
};

/// `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`
struct Schema {
  std::string space, name, overload; ///< `aten`, `add`, `Tensor` (empty: default)
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaReturn> returns;

  /// `aten.add.Tensor`; `custom_ops.silu.default`.
  std::string target() const;
  /// `aten.add`
  std::string packet() const { return space + "." + name; }
  std::optional<size_t> indexOf(std::string_view argument) const;
  bool mutates() const;
};

/// Throws DiagnosticError at `where` (or inside `text`) with what was expected. The name may be
/// left out.
Schema parseSchema(std::string_view text, const SourceLocation &where = {});
/// parseSchema(printSchema(s)) prints the same; without the name when `nameless`.
std::string printSchema(const Schema &schema, bool nameless = false);

/// Whether `argument` may be given for `type`; a number for a Tensor only when `numbersAreTensors`.
bool accepts(const SchemaType &type, const Argument &argument, bool numbersAreTensors);

/// The arguments in schema order, defaults filled in, single values for sized lists spread. On a
/// mismatch returns nullopt and sets `error` to a sentence naming the argument, what it must be and
/// what was given.
std::optional<std::vector<Argument>> bindArguments(const Schema &schema,
                                                   std::span<const Argument> args,
                                                   const KeywordArguments &kwargs,
                                                   bool numbersAreTensors, std::string &error);

/// For people: `3`, `[1, batch]`, `%linear`, `torch.bfloat16`.
std::string toString(const Argument &argument);

} // namespace pellucid::graph
