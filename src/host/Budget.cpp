// SPDX-License-Identifier: Apache-2.0
#include "host/Budget.h"

#include "support/Diagnostics.h"

#include <algorithm>
#include <string>

namespace pellucid::host {

static thread_local Budget *currentBudget = nullptr;
/// What values made on this thread hold, whichever interpreter made them. Values that are dropped
/// on another thread leave it too large or small; every budget counts from where it began.
static thread_local int64_t threadHolds = 0;

Budget::Budget(uint64_t steps, uint64_t bytes)
    : maxSteps(steps), maxBytes(bytes), allowed(steps), before(threadHolds) {}

Budget *Budget::current() { return currentBudget; }

uint64_t Budget::bytes() const {
  return static_cast<uint64_t>(std::max<int64_t>(0, threadHolds - before));
}

void Budget::pay(uint64_t steps) {
  if (currentBudget)
    currentBudget->step(steps);
}

void Budget::take(size_t bytes) {
  Budget *budget = currentBudget;
  if (!budget) {
    threadHolds += static_cast<int64_t>(bytes);
    return;
  }
  uint64_t holds = budget->bytes();
  if (bytes && (bytes > budget->maxBytes || holds > budget->maxBytes - bytes))
    budget->refuseBytes(bytes);
  threadHolds += static_cast<int64_t>(bytes);
  budget->most = std::max(budget->most, budget->bytes());
}

void Budget::check(size_t bytes) {
  const Budget *budget = currentBudget;
  if (!budget || !bytes)
    return;
  if (bytes > budget->maxBytes || budget->bytes() > budget->maxBytes - bytes)
    budget->refuseBytes(bytes);
}

void Budget::give(size_t bytes) noexcept { threadHolds -= static_cast<int64_t>(bytes); }

StepsLimit::StepsLimit(Budget &b, uint64_t most) : budget(b), before(b.maxSteps) {
  uint64_t half = std::max(before / 2, budget.taken);
  budget.maxSteps = std::min(half, budget.taken + std::min(most, before - budget.taken));
}

StepsLimit::~StepsLimit() {
  budget.maxSteps = before;
  budget.spent = budget.taken >= before;
}

bool Budget::wasInterrupted() noexcept {
  if (!interrupted)
    return false;
  maxSteps = allowed;
  interrupted = 0;
  return true;
}

void Budget::refuseSteps() {
  if (interrupted)
    throw Interrupted();
  spent = true;
  taken = maxSteps;
  throw DiagnosticError(SourceLocation(),
                        "the program took more than " + std::to_string(maxSteps + 0) +
                            " steps; host code must be short: move the work into a kernel, "
                            "precompute it, or allow more (--host-steps)");
}

void Budget::refuseBytes(uint64_t wanted) const {
  throw DiagnosticError(SourceLocation(),
                        "the program's values need more than " + std::to_string(maxBytes) +
                            " bytes (" + std::to_string(bytes()) + " are held, " +
                            std::to_string(wanted) +
                            " more are asked for); keep less in host code, or allow more "
                            "(--host-memory)");
}

BudgetScope::BudgetScope(Budget *budget) : before(currentBudget) { currentBudget = budget; }
BudgetScope::~BudgetScope() { currentBudget = before; }

} // namespace pellucid::host
