// SPDX-License-Identifier: Apache-2.0
/// A call that can be left in its middle and entered again, on a stack of its own. One thread.
#pragma once

#include <functional>
#include <memory>

namespace pellucid {

class Coroutine {
public:
  explicit Coroutine(std::function<void()> body);
  /// A body that was left in its middle is unwound: suspend() throws Cancelled there.
  ~Coroutine();
  Coroutine(const Coroutine &) = delete;
  Coroutine &operator=(const Coroutine &) = delete;

  struct Cancelled {};

  /// Runs the body until it suspends itself or ends; false once it has ended. Throws what it threw.
  bool resume();
  /// Of the body: goes back to whoever resumed it.
  void suspend();
  bool ended() const;

private:
  struct State;
  static void enter(unsigned low, unsigned high);
  std::unique_ptr<State> state;
};

} // namespace pellucid
