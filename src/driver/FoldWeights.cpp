// SPDX-License-Identifier: Apache-2.0
#include "driver/FoldWeights.h"

#include "reference/graph/Interpreter.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <unordered_map>

namespace pellucid::driver {

using namespace graph;

namespace {

/// Elements of a result that is folded, and of all that is computed for it: the interpreter takes
/// about a microsecond for each.
constexpr int64_t mostElements = int64_t(1) << 14, mostWork = int64_t(1) << 18;

std::optional<int64_t> elements(const Value *value) {
  return value->isTensor() ? value->type().numel().constant() : std::nullopt;
}

bool isNumber(const Argument &argument) {
  if (const auto *list = argument.list())
    return std::all_of(list->begin(), list->end(), isNumber);
  auto size = argument.as<Expr>();
  return !size || size->constant();
}

class Folder {
public:
  Folder(Program &p, const OperatorRegistry &r, const FoldOptions &o)
      : program(p), registry(r), options(o) {}

  size_t run() {
    findConstants();
    std::vector<Value *> roots = findRoots();
    if (roots.empty())
      return 0;
    std::vector<reference::Datum> values;
    try {
      values = compute(roots);
    } catch (const DiagnosticError &) {
      // What fails fails when the program runs.
      return 0;
    }
    for (size_t i = 0; i < roots.size(); ++i)
      program.main.replaceAllUses(roots[i],
                                  keep(std::get<reference::Tensor>(values[i]), roots[i]->type()));
    return roots.size();
  }

private:
  struct Known {
    bool isComputed = false; ///< more than a look at a weight
    int64_t work = 0;
  };

  /// Weights, and pure operators of weights and numbers.
  void findConstants() {
    size_t index = 0;
    for (Node *node : program.main.placeholders()) {
      const InputSpec &spec = program.inputs[index++];
      auto weight = program.weights.find(spec.name);
      if (node->resultCount() && spec.kind != InputSpec::Kind::UserInput &&
          spec.kind != InputSpec::Kind::ConstantInput && weight != program.weights.end() &&
          weight->second.data &&
          elements(node->result()).value_or(mostElements + 1) <= mostElements)
        known[node->result()] = {};
    }
    for (Node &node : program.main)
      if (std::optional<Known> made = knownOf(node))
        known[node.result()] = *made;
  }

  std::optional<Known> knownOf(const Node &node) const {
    if (!node.isCall() || node.isLaunch() || node.resultCount() != 1 || !node.regions.empty())
      return std::nullopt;
    const Operator *op = registry.find(node.target());
    std::optional<int64_t> count = elements(node.result());
    if (!op || !op->pure || !count || *count > mostElements)
      return std::nullopt;
    // Numbers that count, as places to read at do; what is filled with one value is a number in a
    // kernel's text.
    if (options.counts && op->kind == Operator::Kind::Factory &&
        node.target().starts_with("aten.arange."))
      return allNumbers(node) ? std::optional(Known{false, *count}) : std::nullopt;
    bool isView = op->kind == Operator::Kind::View;
    if (!isView && op->kind != Operator::Kind::Pointwise && op->kind != Operator::Kind::Copy &&
        op->kind != Operator::Kind::Reduction)
      return std::nullopt;
    Known made{!isView, isView ? 0 : *count};
    bool readsAny = false, isKnown = true;
    node.forEachOperand([&](const Value *value) {
      auto entry = known.find(value);
      isKnown &= entry != known.end();
      if (!isKnown)
        return;
      readsAny = true;
      made.isComputed |= entry->second.isComputed;
      made.work += entry->second.work;
    });
    isKnown &= allNumbers(node);
    return isKnown && readsAny && made.work <= mostWork ? std::optional(made) : std::nullopt;
  }

  static bool allNumbers(const Node &node) {
    bool all = std::all_of(node.args().begin(), node.args().end(), isNumber);
    for (const auto &[name, argument] : node.kwargs())
      all &= isNumber(argument);
    return all;
  }

  bool arePlaces(const Value *value) const {
    return value->type().dtype == DataType::Int64 && value->type().rank() == 1 &&
           std::any_of(value->users().begin(), value->users().end(), [&](const Node *user) {
             const Operator *op =
                 user->isCall() && !user->isLaunch() ? registry.find(user->target()) : nullptr;
             return op && op->kind == Operator::Kind::Gather && user->arg(0).value() != value;
           });
  }

  /// Computed constants that something else reads.
  std::vector<Value *> findRoots() const {
    std::vector<Value *> roots;
    for (Node &node : program.main) {
      if (node.resultCount() != 1)
        continue;
      Value *value = node.result();
      auto entry = known.find(value);
      bool isRead =
          std::any_of(value->users().begin(), value->users().end(), [&](const Node *user) {
            return user->resultCount() != 1 || !known.count(user->result());
          });
      // A result of the program is memory of its own.
      bool isGiven = std::any_of(value->users().begin(), value->users().end(),
                                 [](const Node *user) { return user->isOutput(); });
      // A weight is dense; what a reader knows of strides stays true.
      if (entry != known.end() && !isGiven && value->type().numel().constant() != 0 &&
          entry->second.isComputed && isRead && value->type().isContiguous(program.symbols) &&
          value->type().offset.constant() == 0 && (!options.placesOnly || arePlaces(value)))
        roots.push_back(value);
    }
    return roots;
  }

  /// The interpreter's results of a program that has nothing else.
  std::vector<reference::Datum> compute(const std::vector<Value *> &roots) const {
    Program part = program.clone();
    std::vector<Argument> results;
    for (const Value *root : roots)
      results.emplace_back(part.main.findValue(root->name()));
    part.main.outputNode()->setArgs(std::move(results));
    part.outputs.assign(roots.size(), {OutputSpec::Kind::UserOutput, ""});
    part.main.eraseUnused([](const Node &) { return true; });
    std::vector<InputSpec> kept;
    std::vector<Node *> placeholders = part.main.placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i) {
      bool isRead = placeholders[i]->resultCount() && !placeholders[i]->result()->isUnused();
      if (isRead)
        kept.push_back(std::move(part.inputs[i]));
      else
        part.main.erase(placeholders[i]);
    }
    part.inputs = std::move(kept);
    reference::EvaluateOptions evaluation;
    evaluation.registry = &registry;
    return reference::evaluate(part, {}, evaluation);
  }

  Value *keep(const reference::Tensor &value, const TensorType &meant) {
    reference::Tensor dense = value.copy();
    Weight weight;
    weight.dtype = dense.dtype;
    weight.shape = dense.shape;
    weight.bytes = dense.storage->size();
    weight.data = {dense.storage, reinterpret_cast<const std::byte *>(dense.storage->data())};
    std::string name = "folded";
    for (int i = 1; program.weights.count(name); ++i)
      name = "folded." + std::to_string(i);
    InputSpec input;
    input.kind = InputSpec::Kind::ConstantTensor;
    input.name = name;
    program.inputs.push_back(std::move(input));
    program.weights[name] = std::move(weight);
    return program.main.placeholder("folded", meant);
  }

  Program &program;
  const OperatorRegistry &registry;
  FoldOptions options;
  std::unordered_map<const Value *, Known> known;
};

} // namespace

size_t foldWeights(Program &program, const OperatorRegistry &registry, const FoldOptions &options) {
  return Folder(program, registry, options).run();
}

} // namespace pellucid::driver
