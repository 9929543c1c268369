// SPDX-License-Identifier: Apache-2.0
// Copies that are the operand itself for some sizes: reshape, contiguous and their kin, where the
// strides do not decide it for the whole range. They are recorded as copies; a write to either side
// makes the other unknown, and reading that is refused.
#include "trace/Tracer.h"

#include <set>

namespace pellucid::trace {

using namespace graph;

void Tracer::linkPossibleAlias(TracedTensor &operand, TracedTensor &result,
                               const OperatorCall &call) {
  PossibleAlias alias;
  alias.other = result.storage;
  alias.where = call.where;
  alias.target = call.op.schema.name;
  alias.operand = operand.type;
  if (operand.storage->stridesKnown)
    alias.decide = [call](const SymbolTable &symbols) {
      return call.op.aliasing({call.op, symbols, call.args, call.where});
    };
  operand.storage->possibleAliases.push_back(alias);
  alias.other = operand.storage;
  linked.push_back(operand.storage);
  linked.push_back(result.storage);
  result.storage->possibleAliases.push_back(std::move(alias));
}

/// Dims of size 1 are what makes a copy a view most often. Along the example, a program may be for
/// larger ones only.
bool Tracer::settleAsCopy(const PossibleAlias &alias) {
  if (!alias.decide)
    return false;
  if (alias.decide(symbols()) == Aliasing::Fresh)
    return true;
  SymbolTable narrowed = symbols();
  std::string ranges;
  for (const Expr &size : alias.operand.shape)
    for (const std::string &name : size.symbols()) {
      const symbolic::SymbolInfo *known = narrowed.find(name);
      if (!known)
        return false;
      symbolic::SymbolInfo info = *known;
      if (symbols().prove(equal(size, 1)) || info.range.max < 2)
        continue;
      if (strict || info.hint.value_or(0) < 2)
        return false;
      info.range.min = std::max<int64_t>(info.range.min, 2);
      narrowed.declare(name, info);
      ranges += (ranges.empty() ? "" : ", ") + name + " in " + std::to_string(info.range.min) +
                ".." + std::to_string(info.range.max);
    }
  if (ranges.empty() || alias.decide(narrowed) != Aliasing::Fresh)
    return false;
  program.symbols = narrowed;
  warn(Diagnostic(Severity::Warning, alias.where,
                  "'" + alias.target + "' of " + toString(alias.operand) +
                      " is a copy as for the example, and no view as it would be for size 1; the "
                      "program is for " +
                      ranges));
  return true;
}

void Tracer::noteWrite(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where) {
  std::set<const TracedStorage *> reached{storage.get()};
  std::vector<std::shared_ptr<TracedStorage>> next{storage};
  while (!next.empty()) {
    std::shared_ptr<TracedStorage> from = std::move(next.back());
    next.pop_back();
    for (const PossibleAlias &alias : from->possibleAliases) {
      std::shared_ptr<TracedStorage> other = alias.other.lock();
      if (!other || reached.count(other.get()) || settleAsCopy(alias))
        continue;
      reached.insert(other.get());
      if (!other->conflict)
        other->conflict = AliasConflict{alias, where};
      next.push_back(std::move(other));
    }
  }
}

void Tracer::checkKnown(const TracedStorage &storage, const SourceLocation &where) const {
  if (!storage.conflict)
    return;
  const PossibleAlias &alias = storage.conflict->alias;
  Diagnostic refusal(Severity::Error, where,
                     "whether this memory was written is not known for all sizes: '" +
                         alias.target + "' of " + toString(alias.operand) +
                         " may be a copy or the tensor's own memory");
  refusal.note(alias.where, "made here; write clone() for a copy, or make its sizes static");
  refusal.note(storage.conflict->written, "written here");
  throw DiagnosticError(std::move(refusal));
}

} // namespace pellucid::trace
