// SPDX-License-Identifier: Apache-2.0
#include "graph/Registry.h"
#include "graph/KnownResults.h"
#include "graph/ops/Families.h"
#include "support/CrashHandler.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <stdexcept>
#include <unordered_map>

namespace pellucid::graph {

namespace {
/// The built-in operators never change: they are found by hash, once they are there.
struct BuiltinIndex {
  explicit BuiltinIndex(const OperatorRegistry &r) : registry(&r) {
    for (const std::string &target : r.targets()) {
      const Operator *op = r.find(target);
      names.push_back(target);
      byTarget.emplace(names.back(), op);
    }
    for (const auto &[target, op] : byTarget)
      if (auto [entry, isNew] = byPacket.try_emplace(op->schema.packet()); isNew)
        entry->second = r.overloads(entry->first);
  }
  const OperatorRegistry *registry;
  std::deque<std::string> names;
  std::unordered_map<std::string_view, const Operator *> byTarget;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::vector<const Operator *>, Hash, std::equal_to<>> byPacket;
};
std::atomic<const BuiltinIndex *> builtinIndex = nullptr;
} // namespace

const OperatorRegistry &OperatorRegistry::builtins() {
  static const OperatorRegistry registry = [] {
    OperatorRegistry r(nullptr);
    registerPointwiseOperators(r);
    registerComparisonOperators(r);
    registerCastOperators(r);
    registerActivationOperators(r);
    registerReductionOperators(r);
    registerRowOperators(r);
    registerAttentionOperators(r);
    registerGemmOperators(r);
    registerConvolutionOperators(r);
    registerViewOperators(r);
    registerCopyOperators(r);
    registerFactoryOperators(r);
    registerRandomOperators(r);
    registerGatherOperators(r);
    registerScatterOperators(r);
    registerLineOperators(r);
    registerAssertionOperators(r);
    return r;
  }();
  // Never destroyed: what ends after it may still ask.
  static const auto *index = new BuiltinIndex(registry);
  builtinIndex.store(index, std::memory_order_release);
  return registry;
}

const Operator &OperatorRegistry::add(Operator op, const SourceLocation &where) {
  std::string target = op.target();
  if (find(target))
    throw DiagnosticError(where, "operator '" + target + "' is already registered");
  auto owned = std::make_unique<Operator>(std::move(op));
  owned->registeredTarget = target;
  owned->isBuiltin = !base;
  const Operator *added = owned.get();
  byPacket[added->schema.packet()].push_back(added);
  byTarget.emplace(std::move(target), std::move(owned));
  return *added;
}

const Operator *OperatorRegistry::find(std::string_view target) const {
  if (const BuiltinIndex *index = base ? nullptr : builtinIndex.load(std::memory_order_acquire);
      index && index->registry == this) {
    auto known = index->byTarget.find(target);
    return known == index->byTarget.end() ? nullptr : known->second;
  }
  auto it = byTarget.find(target);
  if (it != byTarget.end())
    return it->second.get();
  return base ? base->find(target) : nullptr;
}

std::vector<const Operator *> OperatorRegistry::overloads(std::string_view packet) const {
  if (const BuiltinIndex *index = base ? nullptr : builtinIndex.load(std::memory_order_acquire);
      index && index->registry == this) {
    auto known = index->byPacket.find(packet);
    return known == index->byPacket.end() ? std::vector<const Operator *>() : known->second;
  }
  std::vector<const Operator *> list;
  if (base)
    list = base->overloads(packet);
  if (auto it = byPacket.find(packet); it != byPacket.end())
    list.insert(list.end(), it->second.begin(), it->second.end());
  return list;
}

std::vector<std::string> OperatorRegistry::targets() const {
  std::vector<std::string> list;
  if (base)
    list = base->targets();
  for (const auto &[target, op] : byTarget)
    list.push_back(target);
  std::sort(list.begin(), list.end());
  return list;
}

namespace {
struct Resolved {
  const Operator *op;
  std::vector<Argument> args; ///< bound
};
} // namespace

static Resolved resolved(const OperatorRegistry &registry, std::string_view packet,
                         std::span<const Argument> args, const KeywordArguments &kwargs,
                         const SourceLocation &where) {
  std::vector<const Operator *> candidates;
  if (const Operator *exact = registry.find(packet))
    candidates = {exact};
  else
    candidates = registry.overloads(packet);
  if (candidates.empty())
    throw DiagnosticError(where, "operator '" + std::string(packet) + "' is not supported");
  std::vector<std::string> reasons;
  for (const Operator *op : candidates) {
    std::string reason;
    if (auto list = bindArguments(op->schema, args, kwargs, op->numbersAreTensors, reason))
      return {op, std::move(*list)};
    reasons.push_back(std::move(reason));
  }
  if (candidates.size() == 1)
    throw DiagnosticError(where, reasons[0]);
  Diagnostic refused(Severity::Error, where,
                     "no overload of '" + std::string(packet) + "' takes these arguments");
  for (std::string &reason : reasons)
    refused.note({}, std::move(reason));
  throw DiagnosticError(std::move(refused));
}

const Operator &OperatorRegistry::resolve(std::string_view packet, std::span<const Argument> args,
                                          const KeywordArguments &kwargs,
                                          const SourceLocation &where) const {
  return *resolved(*this, packet, args, kwargs, where).op;
}

OperatorCall bindCall(const Operator &op, const SymbolTable &symbols,
                      std::span<const Argument> args, const KeywordArguments &kwargs,
                      const SourceLocation &where) {
  std::string error;
  std::optional<std::vector<Argument>> list =
      bindArguments(op.schema, args, kwargs, op.numbersAreTensors, error);
  if (!list)
    throw DiagnosticError(where, error);
  return {op, symbols, std::move(*list), where};
}

OperatorCall bindCall(const OperatorRegistry &registry, const SymbolTable &symbols,
                      std::string_view packet, const std::vector<Argument> &args,
                      const KeywordArguments &kwargs, const SourceLocation &where) {
  Resolved found = resolved(registry, packet, args, kwargs, where);
  return {*found.op, symbols, std::move(found.args), where};
}

std::vector<ResultType> resultsOf(const OperatorCall &call) {
  std::vector<ResultType> results;
  try {
    results = call.op.fake(call);
    for (const ResultType &result : results)
      if (const TensorType *type = std::get_if<TensorType>(&result)) {
        for (const Expr &dim : type->shape)
          if (dim.constantOr(-1) < 0 && call.symbols.prove(symbolic::less(dim, 0)) == true)
            call.fail("would give a tensor with the negative size " + dim.text());
        // In bytes, with room for what the back end adds.
        constexpr int64_t most = INT64_MAX / 64;
        for (const Expr &elements : {type->numel(), type->storageElements(call.symbols)})
          if (int64_t known = elements.constantOr(INT64_MAX); known < 0 || known > most)
            elements *int64_t(64);
        // Nothing in one dim, and more in the others than strides can say.
        if (type->numel().constantOr(1) == 0)
          contiguousStrides(type->shape);
      }
  } catch (const std::overflow_error &) {
    call.fail("asks for more elements than 64 bits can count");
  }
  return results;
}

/// As resultsOf(), of calls that may have been made before.
static std::vector<ResultType> repeatedResultsOf(const OperatorCall &call) {
  static thread_local KnownResults known;
  // What lies in which memory is no matter of types.
  if (!call.op.isBuiltin || call.op.schema.name.starts_with("as_strided"))
    return resultsOf(call);
  if (const std::vector<ResultType> *results = known.find(call))
    return *results;
  std::vector<ResultType> results = resultsOf(call);
  known.note(results);
  return results;
}

/// Adds the node of `call`, whose arguments are `args` and `kwargs` as they were given.
static Node *emitBound(Graph &graph, OperatorCall call, std::vector<Argument> args,
                       KeywordArguments kwargs, std::optional<OperatorCall> *made) {
  const Operator &op = call.op;
  Working work("recording", op.schema.name, &call.where);
  std::vector<ResultType> results = repeatedResultsOf(call);
  Node *node = graph.call(op.target(), std::move(args), std::move(kwargs), std::move(results));
  if (call.where.known())
    node->location = call.where;
  for (uint32_t i = 0; i < op.schema.arguments.size(); ++i)
    if (op.schema.arguments[i].type.mutated)
      node->mutatedArgs.push_back(i);
  if (made) {
    call.where = node->location;
    made->emplace(std::move(call));
  }
  return node;
}

Node *emitCall(Graph &graph, const OperatorRegistry &registry, const SymbolTable &symbols,
               std::string_view packet, std::vector<Argument> args, KeywordArguments kwargs,
               const SourceLocation &where, std::optional<OperatorCall> *made) {
  OperatorCall call = bindCall(registry, symbols, packet, args, kwargs, where);
  return emitBound(graph, std::move(call), std::move(args), std::move(kwargs), made);
}

Node *emitCall(Graph &graph, const SymbolTable &symbols, const Operator &op,
               std::vector<Argument> args, KeywordArguments kwargs, const SourceLocation &where,
               std::optional<OperatorCall> *made) {
  OperatorCall call = bindCall(op, symbols, args, kwargs, where);
  return emitBound(graph, std::move(call), std::move(args), std::move(kwargs), made);
}

std::optional<OperatorCall> callOf(const Node &node, const OperatorRegistry &registry,
                                   const SymbolTable &symbols) {
  if (!node.isCall() || node.isLaunch())
    return std::nullopt;
  const Operator *op = registry.find(node.target());
  if (!op)
    return std::nullopt;
  return bindCall(*op, symbols, node.args(), node.kwargs(), node.location);
}

std::vector<Value *> decompose(Graph &graph, Node &node, const OperatorRegistry &registry,
                               const SymbolTable &symbols) {
  std::optional<OperatorCall> call = callOf(node, registry, symbols);
  if (!call || !call->op.decompose)
    throw DiagnosticError(node.location, "operator '" + node.target() + "' has no decomposition");
  try {
    return call->op.decompose(graph, *call, registry);
  } catch (const std::overflow_error &) {
    call->fail("asks for more elements than 64 bits can count");
  }
}

} // namespace pellucid::graph
