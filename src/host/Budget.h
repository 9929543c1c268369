// SPDX-License-Identifier: Apache-2.0
/// What one evaluation may use. Everything that the evaluator and its built-ins do is paid for
/// here: a statement, an expression, a call, an element visited or copied is a step; the elements
/// of lists, tuples, dicts and sets, texts and names are bytes while they live. The program that
/// reaches a limit is refused, and no `except` catches that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pellucid::host {

/// Thrown by a step after Budget::interrupt().
struct Interrupted {};

class Budget {
public:
  Budget(uint64_t steps, uint64_t bytes);

  /// Counts `n` steps more; throws a DiagnosticError without a place, which the evaluator adds.
  void step(uint64_t n = 1) {
    uint64_t most = maxSteps;
    if (taken > most || n > most - taken)
      refuseSteps();
    taken += n;
  }
  uint64_t steps() const { return taken; }
  void renewSteps() { taken = 0, spent = false; }
  /// Of a signal handler: the next step is refused; wasInterrupted() then says why, once.
  /// False when it is waiting already.
  bool interrupt() noexcept {
    bool isNew = interrupted == 0;
    interrupted = 1;
    maxSteps = 0;
    return isNew;
  }
  bool wasInterrupted() noexcept;
  /// Whether the steps are used up: nothing more is evaluated.
  bool isSpent() const { return spent; }
  /// Bytes held now, and the most that were held at once.
  uint64_t bytes() const;
  uint64_t mostBytes() const { return most; }

  /// The budget of the interpreter that is at work on this thread, or null.
  static Budget *current();
  /// step() of current(), if there is one.
  static void pay(uint64_t steps);
  /// Bytes that this thread takes or gives back; more than the limit of current() throws, and
  /// nothing is taken then.
  static void take(size_t bytes);
  static void give(size_t bytes) noexcept;
  /// Throws where take() of `bytes` would.
  static void check(size_t bytes);

private:
  friend class BudgetScope;
  friend class StepsLimit;
  [[noreturn]] void refuseSteps();
  [[noreturn]] void refuseBytes(uint64_t wanted) const;

  volatile uint64_t maxSteps; ///< interrupt() takes it away
  uint64_t maxBytes, taken = 0, most = 0, allowed;
  volatile int interrupted = 0;
  bool spent = false;
  int64_t before; ///< what the thread held when the budget was made
};

/// Makes `budget` the current one while it lives; null: nothing is refused.
class BudgetScope {
public:
  explicit BudgetScope(Budget *budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope &) = delete;
  BudgetScope &operator=(const BudgetScope &) = delete;

private:
  Budget *before;
};

/// A part of the program that may take at most `most` of the steps that are left, and never more
/// than half of all: one that never ends leaves some for the rest.
class StepsLimit {
public:
  StepsLimit(Budget &budget, uint64_t most);
  ~StepsLimit();
  StepsLimit(const StepsLimit &) = delete;
  StepsLimit &operator=(const StepsLimit &) = delete;

private:
  Budget &budget;
  uint64_t before;
};

/// Bytes that a container holds beside its values; copies pay too.
class HeldBytes {
public:
  HeldBytes() = default;
  HeldBytes(const HeldBytes &other) { grow(other.bytes); }
  HeldBytes(HeldBytes &&other) noexcept : bytes(other.bytes) { other.bytes = 0; }
  HeldBytes &operator=(HeldBytes other) noexcept {
    size_t mine = bytes;
    bytes = other.bytes;
    other.bytes = mine;
    return *this;
  }
  ~HeldBytes() { Budget::give(bytes); }
  void grow(size_t more) {
    Budget::take(more);
    bytes += more;
  }
  void shrink(size_t fewer) {
    fewer = fewer < bytes ? fewer : bytes;
    Budget::give(fewer);
    bytes -= fewer;
  }

private:
  size_t bytes = 0;
};

} // namespace pellucid::host
