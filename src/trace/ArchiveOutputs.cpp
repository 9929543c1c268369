// SPDX-License-Identifier: Apache-2.0
// Results of an archive's nodes and of its graph, held against what the archive says of them.
#include "trace/ArchiveComplex.h"
#include "trace/ArchiveReplay.h"
#include "trace/NumberOperands.h"
#include "trace/OperatorCall.h"

#include <algorithm>
#include <functional>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

void ArchiveReplay::flatten(h::Interpreter &interpreter, const h::Value &value,
                            std::vector<h::Value> &out) {
  if (value.isSequence())
    for (const h::Value &element : value.elements())
      flatten(interpreter, element, out);
  else if (auto *instance = value.as<h::Instance>();
           instance && (instance->cls->find("_fields") || instance->cls->find("_names")))
    for (const h::Value &element : interpreter.iterate(value))
      flatten(interpreter, element, out);
  else
    out.push_back(value);
}

void ArchiveReplay::collectNames(const archive::Argument &output,
                                 std::vector<const archive::Argument *> &names) {
  if (output.kind != AKind::List)
    return names.push_back(&output);
  for (const archive::Argument &element : output.elements)
    collectNames(element, names);
}

void ArchiveReplay::bindResults(const archive::Node &node, const archive::Graph &graph,
                                ArchiveScope &values, const h::Value &result) {
  std::vector<const archive::Argument *> names;
  for (const archive::Argument &output : node.outputs)
    collectNames(output, names);
  std::vector<h::Value> results;
  flatten(*interpreter, result, results);
  // An operator without results gives None.
  if (names.empty() || (names.size() == 1 && names[0]->kind == AKind::None))
    return;
  if (results.size() != names.size())
    interpreter->refuse("'" + targetOf(node) + "' gives " + std::to_string(results.size()) +
                        " results, and the archive has " + std::to_string(names.size()) + " there");
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i]->text.empty())
      continue;
    if (auto known = graph.integers.find(names[i]->text);
        isItem(targetOf(node)) && known != graph.integers.end() && results[i].isSymInt() &&
        known->second.op() == symbolic::ExprOp::Symbol)
      told.emplace(known->second.symbolName(), results[i].symInt());
    checkResult(node, *names[i], graph, results[i]);
    values.insert_or_assign(names[i]->text, withSizesSaid(*names[i], graph, results[i]));
  }
}

/// Whether a size may be what the archive says. Its symbols of sizes that values decide are other
/// ones than ours: the first size of such a symbol tells it.
bool ArchiveReplay::isSize(const Expr &size, const Expr &said) {
  std::map<std::string, Expr> replacements;
  for (const std::string &name : said.symbols())
    if (symbolsGiven.count(name))
      continue;
    else if (auto known = told.find(name); known != told.end())
      replacements.emplace(name, known->second);
    else if (said == Expr::symbol(name))
      replacements.emplace(name, told.emplace(name, size).first->second);
    else
      return true;
  return tracer.symbols().prove(symbolic::equal(size, symbolic::substitute(said, replacements))) !=
         false;
}

/// PyTorch 2.6 notes a dim of 1 among those of an LSTM's states, which its own call does not
/// give.
bool ArchiveReplay::hasDimTooMany(const archive::Node &node, const TensorType &type,
                                  const archive::TensorMeta &meta) {
  if (targetOf(node) != "aten.lstm.input" || type.dtype != meta.dtype ||
      meta.sizes.size() != type.rank() + 1)
    return false;
  std::vector<Expr> sizes = meta.sizes;
  sizes.erase(sizes.begin() + 1);
  return meta.sizes[1].constant() == 1 && sizes == type.shape;
}

/// For the last dim PyTorch notes the new size before all of the old ones.
static bool isBesideOldSizes(const archive::Node &node, const TensorType &type,
                             const archive::TensorMeta &meta) {
  return targetOf(node) == "aten.unique_consecutive.default" && type.dtype == meta.dtype &&
         meta.sizes.size() == type.rank() + 1;
}

/// What an operator was not asked for is a tensor of no elements, of which PyTorch's rules for
/// sizes and its kernels do not always say the same type.
static bool isNothing(const TensorType &type, const archive::TensorMeta &meta) {
  return type.rank() == 1 && meta.sizes.size() == 1 && type.shape[0].constant() == 0 &&
         meta.sizes[0].constant() == 0;
}

/// PyTorch noted what it got; another type or size here would be our mistake.
void ArchiveReplay::checkResult(const archive::Node &node, const archive::Argument &name,
                                const archive::Graph &graph, const h::Value &given) {
  h::Value value = pairsOf(*interpreter, given);
  auto *tensor = value.as<TensorObject>();
  auto meta = graph.tensors.find(name.text);
  // A result that nobody reads is named so there, and in some versions has another's type.
  if (!tensor || meta == graph.tensors.end() || name.text.find("_unused_") != std::string::npos)
    return;
  if (meta->second.isComplex != isComplex(*interpreter, given))
    interpreter->refuse("'" + targetOf(node) + "' gives " +
                        (meta->second.isComplex ? "real" : "complex") +
                        " numbers here, and the archive says otherwise");
  const TensorType &type = tensor->tensor.type;
  bool same = type.dtype == meta->second.dtype && type.rank() == meta->second.sizes.size();
  for (size_t d = 0; same && d < type.rank(); ++d)
    same = isSize(type.shape[d], meta->second.sizes[d]);
  if (!same && !hasDimTooMany(node, type, meta->second) && !isNothing(type, meta->second) &&
      !isBesideOldSizes(node, type, meta->second))
    interpreter->refuse("'" + targetOf(node) + "' gives " + toString(type) +
                        " here, and the archive says " +
                        toString(TensorType(meta->second.dtype, meta->second.sizes)));
}

/// What the functional form says about new contents is written, as the in-place form does.
void ArchiveReplay::writeMutations() {
  for (const archive::Output &output : archive.outputs) {
    if (output.kind == archive::Output::Kind::User)
      continue;
    std::string input = output.name;
    if (output.kind == archive::Output::Kind::BufferMutation)
      for (const archive::Input &known : archive.inputs)
        if (known.name == output.name)
          input = known.value.text;
    auto target = scope.find(input);
    h::Value contents = pairsOf(*interpreter, hostValue(output.value, scope, *archive.graph)),
             changed = target == scope.end() ? h::Value() : pairsOf(*interpreter, target->second);
    if (!changed.as<TensorObject>() || !contents.as<TensorObject>())
      fail("says that it changes '" + output.name + "', which is none of its inputs");
    callInPlace(*changed.as<TensorObject>(), *interpreter, "copy",
                calledAlike(argsOf({contents}), &changed));
  }
}

void ArchiveReplay::addMutations(
    const std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> &list,
    OutputSpec::Kind kind, std::vector<Argument> &outputs) {
  for (const auto &[name, storage] : list) {
    if (storage->conflict)
      tracer.checkKnown(*storage, storage->conflict->written);
    if (storage->version == 0 || (storage->isParameter && !storage->written))
      continue;
    for (const auto &[record, views] : viewsOf)
      if (views.size() > 1 && std::count(views.begin(), views.end(), storage))
        fail("changes '" + name +
             "', whose memory other tensors of the archive share; clone them before export");
    outputs.push_back(Argument(storage->base));
    tracer.program.outputs.push_back({kind, name});
  }
}

void ArchiveReplay::finish() {
  current = SourceLocation(archive.path);
  interpreter->setOutside(current);
  // Results are taken before what follows changes the memory they may be views of.
  std::vector<Argument> results;
  for (const archive::Output &output : archive.outputs)
    if (output.kind == archive::Output::Kind::User)
      addResult(output.value, hostValue(output.value, scope, *archive.graph), results);
  writeMutations();
  std::vector<Argument> outputs;
  addMutations(buffers, OutputSpec::Kind::BufferMutation, outputs);
  addMutations(userInputs, OutputSpec::Kind::UserInputMutation, outputs);
  for (Argument &result : results) {
    outputs.push_back(std::move(result));
    tracer.program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  }
  for (const auto &[name, storage] : tracer.lifted)
    tracer.program.weights[name] = initialWeight(
        name, tracer.program.main.find("c_" + name)->result()->type(), storage->initializer);
  tracer.program.main.output(std::move(outputs));
}

/// A number that is returned becomes a tensor without dims.
h::Value ArchiveReplay::tensorOfResult(const h::Value &value) {
  std::optional<DataType> dtype;
  if (value.isBool())
    dtype = DataType::Bool;
  else if (value.isInt() || value.isSymInt())
    dtype = DataType::Int64;
  else if (value.isFloat())
    dtype = DataType::Float64;
  if (value.as<h::SymFloat>()) {
    h::Value tensor = exactTensorOfNumber(tracer, *interpreter, value);
    options.note("a result is a number: the package gives it as a tensor without dims, " +
                 std::string(info(tensor.as<TensorObject>()->tensor.type.dtype).cli) + "[]");
    return tensor;
  }
  if (!dtype)
    fail("returns a value of type " + h::typeName(value) + "; a package returns tensors");
  options.note("a result is a number: the package gives it as a tensor without dims, " +
               std::string(info(*dtype).cli) + "[]");
  return callAten(tracer, *interpreter, "full",
                  argsOf({h::Value::list({}), value}, {{"dtype", dtypeValue(*dtype)}}));
}

void ArchiveReplay::addResult(const archive::Argument &output, h::Value value,
                              std::vector<Argument> &results) {
  // A text is part of the tree, as None is.
  if (output.kind == AKind::None || output.kind == AKind::String)
    return;
  if (value.isNone())
    fail("returns '" + output.text + "', a result that its operator does not compute here");
  if (value.isSequence()) {
    for (size_t i = 0; i < value.elements().size() && i < output.elements.size(); ++i)
      addResult(output.elements[i], value.elements()[i], results);
    return;
  }
  if (isComplex(*interpreter, value)) {
    value = pairsOf(*interpreter, value);
    options.note("a result is complex: the package gives the pairs of its parts, as "
                 "torch.view_as_real() does");
  }
  auto *tensor = value.as<TensorObject>();
  if (!tensor) {
    value = tensorOfResult(value);
    tensor = value.as<TensorObject>();
  }
  if (const auto &conflict = tensor->tensor.storage->conflict)
    tracer.checkKnown(*tensor->tensor.storage, conflict->written);
  results.push_back(Argument(tracer.valueOf(tensor->tensor, current)));
}

} // namespace pellucid::trace
