// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KnownMasks.h"

#include "graph/ops/AttentionDims.h"
#include "passes/graph/ElementFacts.h"
#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;
using Kind = ElementFacts::Kind;

namespace {

/// Added to a score, it is the same as leaving the key out.
constexpr double outOfSight = -1e30;

/// Which scores count, as truths over the scores' dims; nullopt: not known.
std::optional<ElementFacts> seen(const ElementFacts &mask) {
  if (mask.kind == Kind::Truth)
    return mask;
  if (mask.kind != Kind::Choice)
    return std::nullopt;
  ElementFacts facts = mask;
  facts.kind = Kind::Truth;
  if (mask.yes == 0 && mask.no == 0) {
    facts.holds.clear();
    facts.never = false;
    return facts;
  }
  if (mask.yes == 0 && mask.no <= outOfSight)
    return facts;
  if (mask.no != 0 || !(mask.yes <= outOfSight) || mask.holds.size() != 1)
    return std::nullopt;
  // a < 0 is -a - 1 >= 0.
  CountedNumber &one = facts.holds[0];
  one.base = -one.base - 1;
  for (Expr &step : one.steps)
    step = -step;
  return facts;
}

/// Whether `counts` is query - key >= 0, whatever the other dims.
bool isCausal(const CountedNumber &counts) {
  size_t rank = counts.steps.size();
  return counts.base.constant() == 0 && counts.steps[rank - 2].constant() == 1 &&
         counts.steps[rank - 1].constant() == -1 &&
         std::all_of(counts.steps.begin(), counts.steps.end() - 2,
                     [](const Expr &step) { return step.constant() == 0; });
}

/// The arguments of the same call without its mask; false: it stays.
bool withoutMask(OperatorCall &call, ElementAnalysis &analysis) {
  Value *mask = attentionMask(call);
  const ElementFacts *facts = mask ? analysis.of(mask) : nullptr;
  if (!facts)
    return false;
  AttentionDims dims = attentionDims(call);
  std::vector<Expr> scores = dims.batch;
  scores.push_back(dims.queries);
  scores.push_back(dims.keys);
  std::optional<ElementFacts> counts = seen(analysis.broadcast(*facts, mask->type().shape, scores));
  if (!counts || counts->never || counts->holds.size() > 1)
    return false;
  auto causal = call.op.schema.indexOf("is_causal");
  if (!counts->holds.empty() && (!causal || !isCausal(counts->holds[0])))
    return false;
  call.args[*call.op.schema.indexOf(call.op.attention.mask)] = Argument();
  if (!counts->holds.empty())
    call.args[*causal] = Argument(true);
  return true;
}

} // namespace

size_t replaceKnownMasks(Program &program, const OperatorRegistry &registry) {
  ElementAnalysis analysis(registry, program.symbols);
  size_t count = 0;
  for (Node &node : program.main) {
    if (!node.isCall() || node.isLaunch())
      continue;
    const Operator *op = registry.find(node.target());
    if (!op || op->kind != Operator::Kind::Attention)
      continue;
    auto call = callOf(node, registry, program.symbols);
    if (!call || !withoutMask(*call, analysis))
      continue;
    std::vector<Argument> args;
    KeywordArguments kwargs;
    const std::vector<SchemaArgument> &names = op->schema.arguments;
    for (size_t i = 0; i < call->args.size(); ++i)
      if (names[i].keywordOnly)
        kwargs.emplace_back(names[i].name, call->args[i]);
      else
        args.push_back(call->args[i]);
    node.setArgs(std::move(args));
    node.setKwargs(std::move(kwargs));
    ++count;
  }
  return count;
}

} // namespace pellucid::passes
