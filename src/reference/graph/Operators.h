// SPDX-License-Identifier: Apache-2.0
/// The table of operators, assembled from one file per family.
#pragma once

#include "reference/graph/Interpreter.h"

#include <string_view>

namespace pellucid::reference {

/// The arguments of one call with concrete values, by the schema's names.
struct Call {
  const graph::OperatorCall &bound;
  const graph::Node &node;
  const std::map<const graph::Value *, Datum> &values;
  const std::map<std::string, int64_t> &symbols;

  bool knows(std::string_view name) const { return bound.op.schema.indexOf(name).has_value(); }
  bool has(std::string_view name) const { return knows(name) && bound.has(name); }
  const Tensor &tensor(std::string_view name) const;
  std::vector<Tensor> tensors(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const { return knows(name) && bound.flag(name); }
  std::string string(std::string_view name) const { return bound.string(name); }
  int64_t dim(std::string_view name, size_t rank) const;

  int64_t evaluate(const symbolic::Expr &e) const;
  std::vector<int64_t> evaluate(const std::vector<symbolic::Expr> &list) const;
  /// The result's declared type and shape.
  const graph::TensorType &resultType(size_t i = 0) const { return node.result(i)->type(); }
  DataType resultDtype(size_t i = 0) const { return resultType(i).dtype; }
  std::vector<int64_t> resultShape(size_t i = 0) const { return evaluate(resultType(i).shape); }
  [[noreturn]] void fail(const std::string &message) const;
};

using Results = std::vector<Tensor>;
using Handler = std::function<Results(const Call &)>;
using Table = std::map<std::string, Handler,
                       std::less<>>; ///< by `add`, or by whole target where overloads differ

/// Every operator the interpreter knows.
const Table &operatorTable();

void addPointwise(Table &table);
void addReductions(Table &table);
void addRows(Table &table);
void addAttention(Table &table);
void addGemm(Table &table);
void addConvolutions(Table &table);
void addViews(Table &table);
void addCopies(Table &table);
void addFactories(Table &table);
void addRandom(Table &table);
void addGathers(Table &table);
void addScatters(Table &table);
void addLines(Table &table);

/// `tensor` as if it had `shape` (right-aligned, sizes of 1 repeated).
Tensor broadcast(const Tensor &tensor, const std::vector<int64_t> &shape);
int64_t wrappedDim(int64_t dim, size_t rank);

} // namespace pellucid::reference
