// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ProductRows.h"

#include "passes/graph/KernelWriter.h"

#include <algorithm>

namespace pellucid::passes {

using graph::TensorType;

std::vector<Expr> rowsAndColumns(const GemmSpec &spec, const std::vector<Expr> &rows) {
  std::vector<Expr> shape = spec.batch;
  shape.insert(shape.end(), rows.begin(), rows.end());
  shape.insert(shape.end(), spec.columns.begin(), spec.columns.end());
  return shape;
}

void mergeBatchIntoRows(GemmSpec &spec) {
  spec.rows = {spec.m};
  while (!spec.batch.empty()) {
    size_t last = spec.batch.size() - 1;
    bool fits = spec.b.strides[last].constant() == 0;
    for (TextOperand *operand : {&spec.a, &spec.output})
      fits &= operand->strides[last] == operand->strides[last + 1] * spec.m;
    for (TextOperand &bias : spec.bias)
      fits &= bias.strides[last] == bias.strides[last + 1] * spec.m;
    if (!fits)
      return;
    spec.rows.insert(spec.rows.begin(), spec.batch.back());
    spec.m = spec.batch.back() * spec.m;
    spec.batch.pop_back();
    auto drop = [&](TextOperand &operand) {
      operand.strides.erase(operand.strides.begin() + static_cast<long>(last));
    };
    drop(spec.a);
    drop(spec.b);
    drop(spec.output);
    for (TextOperand &bias : spec.bias)
      drop(bias);
  }
}

TextOperand withRows(TextOperand operand, const GemmSpec &spec) {
  auto place = operand.strides.begin() + static_cast<std::ptrdiff_t>(spec.batch.size());
  Expr stride = *place;
  place = operand.strides.erase(place);
  for (size_t d = spec.rows.size(); d-- > 0;) {
    place = operand.strides.insert(place, stride);
    stride = stride * spec.rows[d];
  }
  return operand;
}

/// a, bias and output with a stride for each of `rows`.
static void apartByRows(GemmSpec &spec) {
  if (spec.rowsApart)
    return;
  spec.a = withRows(spec.a, spec);
  spec.output = withRows(spec.output, spec);
  for (TextOperand &bias : spec.bias)
    bias = withRows(bias, spec);
  spec.rowsApart = true;
}

void takeBatchApart(GemmSpec &spec) {
  bool isShared = std::all_of(spec.b.strides.begin(),
                              spec.b.strides.begin() + static_cast<long>(spec.batch.size()),
                              [](const Expr &stride) { return stride.constant() == 0; });
  if (spec.batch.empty() || !isShared || !isFloat(spec.accumulate))
    return;
  apartByRows(spec);
  spec.b.strides.erase(spec.b.strides.begin(),
                       spec.b.strides.begin() + static_cast<long>(spec.batch.size()));
  spec.rows.insert(spec.rows.begin(), spec.batch.begin(), spec.batch.end());
  spec.batch.clear();
  spec.m = product(spec.rows, 0, spec.rows.size());
}

std::optional<GemmSpec> withColumnsInBatch(const GemmSpec &spec) {
  if (spec.columns.size() < 2 || spec.rowsApart)
    return std::nullopt;
  GemmSpec made = spec;
  size_t batch = spec.batch.size();
  // Operands, and where their strides along the columns begin.
  std::vector<std::pair<TextOperand *, size_t>> all{{&made.b, batch + spec.depth.size()},
                                                    {&made.output, batch + 1}};
  for (TextOperand &bias : made.bias)
    all.emplace_back(&bias, batch + 1);
  for (TextOperand &input : made.inputs)
    all.emplace_back(&input, batch + spec.rows.size());
  for (size_t d = made.columns.size(); d-- > 2;) {
    auto isEven = [&](const std::pair<TextOperand *, size_t> &one) {
      const std::vector<Expr> &strides = one.first->strides;
      return strides[one.second + d - 1] == strides[one.second + d] * made.columns[d];
    };
    if (!std::all_of(all.begin(), all.end(), isEven))
      return std::nullopt;
    made.columns[d - 1] = made.columns[d - 1] * made.columns[d];
    made.columns.pop_back();
    for (auto &[operand, first] : all)
      operand->strides.erase(operand->strides.begin() + static_cast<long>(first + d - 1));
  }
  for (auto &[operand, first] : all) {
    auto place = operand->strides.begin() + static_cast<long>(batch);
    std::rotate(place, operand->strides.begin() + static_cast<long>(first),
                operand->strides.begin() + static_cast<long>(first + 1));
  }
  made.a.strides.insert(made.a.strides.begin() + static_cast<long>(batch), Expr(0));
  made.batch.push_back(made.columns[0]);
  made.columns.erase(made.columns.begin());
  made.n = made.columns[0];
  return made;
}

std::optional<std::vector<size_t>> seeAs(GemmSpec &spec, const TensorType &seen) {
  if (!spec.batch.empty() || spec.columns.size() != 1 || seen.offset.constant() != 0 ||
      spec.n.constant() == 1)
    return std::nullopt;
  // From the innermost dim on: the one whose step is all of those inside of it.
  std::vector<size_t> order;
  std::vector<bool> isDone(seen.rank(), false);
  std::optional<size_t> columns;
  Expr inside = 1;
  for (;;) {
    if (inside == spec.n && !columns)
      columns = order.size();
    size_t next = 0;
    while (next < seen.rank() &&
           (isDone[next] || seen.shape[next].constant() == 1 || !(seen.strides[next] == inside)))
      ++next;
    if (next == seen.rank())
      break;
    isDone[next] = true;
    order.push_back(next);
    inside = inside * seen.shape[next];
  }
  for (size_t d = 0; d < seen.rank(); ++d)
    if (!isDone[d] && seen.shape[d].constant() != 1)
      return std::nullopt;
  if (!columns || columns == order.size() || !(inside == spec.m * spec.n))
    return std::nullopt;
  std::reverse(order.begin(), order.end());
  size_t first = order.size() - *columns;
  std::vector<Expr> rows, cols;
  for (size_t i = 0; i < order.size(); ++i)
    (i < first ? rows : cols).push_back(seen.shape[order[i]]);
  if (spec.rowsApart && spec.rows != rows)
    return std::nullopt;
  spec.rows = rows;
  apartByRows(spec);
  // Of what has one stride along n: one for each of its dims.
  auto apart = [&](TextOperand &operand) {
    Expr stride = operand.strides.back();
    operand.strides.pop_back();
    std::vector<Expr> strides(cols.size(), stride);
    for (size_t d = cols.size() - 1; d-- > 0;)
      strides[d] = strides[d + 1] * cols[d + 1];
    operand.strides.insert(operand.strides.end(), strides.begin(), strides.end());
  };
  apart(spec.b);
  for (TextOperand &bias : spec.bias)
    apart(bias);
  spec.columns = cols;
  return order;
}

} // namespace pellucid::passes
