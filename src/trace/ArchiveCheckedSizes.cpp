// SPDX-License-Identifier: Apache-2.0
// Names of sizes that values decide: the archive's, and one for those that a program checked to be
// equal.
#include "graph/FakeRules.h"
#include "trace/ArchiveReplay.h"
#include "trace/EachTensor.h"
#include "trace/OperatorCall.h"
#include "trace/ReadSizes.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
using symbolic::ExprOp;
namespace h = pellucid::host;

/// What the archive says in this program's symbols, where they are all known.
std::optional<Expr> ArchiveReplay::sizeSaid(const Expr &said) const {
  std::map<std::string, Expr> replacements;
  for (const std::string &name : said.symbols())
    if (auto known = told.find(name); known != told.end())
      replacements.emplace(name, known->second);
    else if (!symbolsGiven.count(name))
      return std::nullopt;
  return symbolic::substitute(said, replacements);
}

h::Value ArchiveReplay::strided(const h::Value &tensor, const std::vector<Expr> &sizes,
                                const std::vector<Expr> &strides) {
  auto list = [](const std::vector<Expr> &numbers) {
    h::List values;
    for (const Expr &number : numbers)
      values.push_back(h::Value::integer(number));
    return h::Value::list(std::move(values));
  };
  return callAten(tracer, *interpreter, "as_strided", argsOf({tensor, list(sizes), list(strides)}));
}

/// The tensor with other names for its sizes.
h::Value ArchiveReplay::called(const h::Value &tensor, const std::vector<Expr> &sizes) {
  const TensorType &type = tensor.as<TensorObject>()->tensor.type;
  return strided(tensor, sizes,
                 type.isContiguous(tracer.symbols()) ? contiguousStrides(sizes) : type.strides);
}

/// A call in which `condition` does not hold ends; what it says is known from here on.
void ArchiveReplay::check(const Expr &condition, const std::string &text) {
  checkSizes(tracer, *interpreter, condition, text);
  if (&tracer.graph() == &tracer.program.main)
    checked.learn(condition);
}

static bool isPolynomial(const Expr &size) {
  return size.op() == ExprOp::Constant || size.op() == ExprOp::Symbol ||
         ((size.op() == ExprOp::Add || size.op() == ExprOp::Mul) &&
          std::all_of(size.operands().begin(), size.operands().end(), isPolynomial));
}

/// A size that values decide, which the program's checks made simpler for PyTorch than it is for
/// us: `u0`, not `min(s0, u0)`. It is checked and called so from here on. A sum that is known to be
/// that one stays: the last part of a split is what the others leave, and all parts together are
/// what was split.
h::Value ArchiveReplay::withSizesSaid(const archive::Argument &name, const archive::Graph &graph,
                                      h::Value given) {
  auto *tensor = given.as<TensorObject>();
  auto meta = graph.tensors.find(name.text);
  if (!tensor || meta == graph.tensors.end() || &tracer.graph() != &tracer.program.main ||
      tensor->tensor.type.rank() != meta->second.sizes.size())
    return given;
  const TensorType &type = tensor->tensor.type;
  std::vector<Expr> sizes = type.shape;
  bool isSimpler = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::optional<Expr> said = sizeSaid(meta->second.sizes[d]);
    if (!said || !mentionsRead(tracer, sizes[d]) || said->text().size() >= sizes[d].text().size() ||
        tracer.symbols().prove(symbolic::equal(sizes[d], *said)).has_value() ||
        (isPolynomial(sizes[d]) && checked.areEqual(tracer.symbols(), sizes[d], *said)))
      continue;
    check(symbolic::equal(sizes[d], *said), "RuntimeError: a size of '" + name.text + "' is " +
                                                sizes[d].text() + ", not " + said->text());
    sizes[d] = *said;
    isSimpler = true;
  }
  return isSimpler ? called(given, sizes) : given;
}

/// A view whose count of elements is the tensor's by what the program checked of values.
std::optional<h::Value> ArchiveReplay::viewChecked(const archive::Node &node,
                                                   const std::string &target,
                                                   const archive::Graph &graph,
                                                   const ArchiveScope &values) {
  if ((target != "aten.view.default" && target != "aten.reshape.default") ||
      &tracer.graph() != &tracer.program.main || node.outputs.size() != 1)
    return std::nullopt;
  auto meta = graph.tensors.find(node.outputs[0].text);
  const TensorType &type = tensorArgument(node, graph, values).tensor.type;
  if (meta == graph.tensors.end() || !type.isContiguous(tracer.symbols()))
    return std::nullopt;
  std::vector<Expr> sizes;
  Expr count = 1;
  for (const Expr &said : meta->second.sizes) {
    std::optional<Expr> size = sizeSaid(said);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
    count = count * *size;
  }
  Expr condition = symbolic::equal(type.numel(), count);
  if (tracer.symbols().prove(condition).has_value() || !mentionsRead(tracer, condition))
    return std::nullopt;
  check(condition, "RuntimeError: shape '" + shapeText(sizes) + "' is invalid for input of size " +
                       type.numel().text());
  return strided(kept, sizes, contiguousStrides(sizes));
}

//===-- Sizes that meet in a call -------------------------------------------------------------===//

static void collectSizes(const h::Value &value, std::vector<Expr> &sizes) {
  if (auto *tensor = value.as<TensorObject>())
    sizes.insert(sizes.end(), tensor->tensor.type.shape.begin(), tensor->tensor.type.shape.end());
  else if (value.isSymInt())
    sizes.push_back(value.symInt());
  else if (value.isInt() && value.integer() == static_cast<int64_t>(value.integer()))
    sizes.push_back(static_cast<int64_t>(value.integer()));
  else if (value.isSequence())
    for (const h::Value &element : value.elements())
      collectSizes(element, sizes);
}

/// The first of `names` that the program checked to be `size`; `size` where it needs none.
Expr ArchiveReplay::nameAmong(const std::vector<Expr> &names, const Expr &size) const {
  for (const Expr &name : names) {
    if (name == size || tracer.symbols().proveEqual(name, size))
      return size;
    if (checked.areEqual(tracer.symbols(), name, size))
      return name;
  }
  return size;
}

h::Value ArchiveReplay::calledAmong(const std::vector<Expr> &names, const h::Value &value) {
  if (auto *tensor = value.as<TensorObject>()) {
    std::vector<Expr> sizes;
    for (const Expr &size : tensor->tensor.type.shape)
      sizes.push_back(nameAmong(names, size));
    return sizes == tensor->tensor.type.shape ? value : called(value, sizes);
  }
  if (!value.isSequence())
    return value;
  std::vector<h::Value> elements;
  bool isOther = false;
  for (const h::Value &element : value.elements()) {
    elements.push_back(calledAmong(names, element));
    isOther |= !elements.back().isSame(element);
  }
  if (!isOther)
    return value;
  return value.isList() ? h::Value::list(std::move(elements))
                        : h::Value::tuple(std::move(elements));
}

/// The arguments of a call in which sizes that the program checked to be equal have one name: that
/// of the tensor `written` to, or else one that no values decide, or the shortest.
h::CallArgs ArchiveReplay::calledAlike(h::CallArgs args, const h::Value *written) {
  if (checked.isEmpty())
    return args;
  std::vector<Expr> fixed, names;
  if (written)
    collectSizes(*written, fixed);
  for (const h::Value &value : args.positional)
    collectSizes(value, names);
  for (const auto &[key, value] : args.keywords)
    collectSizes(value, names);
  std::stable_sort(names.begin(), names.end(), [&](const Expr &a, const Expr &b) {
    return std::pair(mentionsRead(tracer, a), a.size()) <
           std::pair(mentionsRead(tracer, b), b.size());
  });
  names.insert(names.begin(), fixed.begin(), fixed.end());
  if (std::none_of(names.begin(), names.end(),
                   [&](const Expr &name) { return mentionsRead(tracer, name); }))
    return args;
  for (h::Value &value : args.positional)
    value = calledAmong(names, value);
  for (auto &[key, value] : args.keywords)
    value = calledAmong(names, value);
  return args;
}

} // namespace pellucid::trace
