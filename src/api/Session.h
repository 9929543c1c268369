// SPDX-License-Identifier: Apache-2.0
/// Recorded tensors: those that gradients are followed of. They live in a session as a script has
/// one (eager/Session.h), which a process makes when the first of them is made.
#pragma once

#include "api/Recording.h"
#include "autograd/Tape.h"
#include "eager/Session.h"
#include "host/InterpreterState.h"

namespace pellucid::api {

/// What a Session is made of before it can be a Recording.
struct SessionParts {
  SessionParts();
  eager::Session session;
  std::unique_ptr<host::Interpreter> evaluator;
};

class Session : private SessionParts, public Recording {
public:
  /// The process's own. It is never destroyed: tensors may go at the process's end.
  static const std::shared_ptr<Session> &get();
  /// Whether a call belongs to it: one on a recorded tensor, or made by a function that it calls.
  static bool takes(const std::vector<Argument> &arguments, const triton::Keywords &keywords = {});

  Session() : Recording(SessionParts::session.tracer()) {}
  bool isSession() const override { return true; }
  host::Interpreter &interpreter() override { return *evaluator; }
  eager::Session &eager() { return SessionParts::session; }

  /// While it lives, the session is the active recording of this thread, and this thread's GradMode
  /// holds.
  class Entered {
  public:
    explicit Entered(Session &session);
    ~Entered();

  private:
    bool inside; ///< of a function that the session calls, which has a mode of its own
    Recording::Scope scope;
    host::ActiveScope active;
    autograd::Mode &mode;
    autograd::Mode saved;
  };
  static bool gradEnabled();
  static void setGradEnabled(bool enabled);

  /// One call. Tensors in memory that it wrote to are written when it returns.
  std::vector<Tensor> call(const std::function<std::vector<Tensor>(Recording &)> &record);
  /// The values of a recorded tensor, computed now, in memory that must not be written.
  Tensor computed(const Tensor &tensor);
  /// A tensor in memory becomes a recorded one: every handle of it.
  void take(const Tensor &tensor);

  /// `torch.autograd.grad` and the like.
  host::Value torch(const char *dottedName);
  host::Value callMethod(const host::Value &object, const char *name,
                         std::vector<host::Value> positional = {},
                         std::vector<std::pair<std::string, host::Value>> keywords = {});
  /// Tensors as a list; undefined ones are None.
  host::Value listOf(const std::vector<Tensor> &tensors);
  /// A tensor, or undefined for None.
  Tensor tensorFrom(const host::Value &value);
  std::vector<Tensor> tensorsFrom(const host::Value &sequence);
  trace::TensorObject &objectOf(const Tensor &tensor) { return *tensor.state->object; }
  /// A function of this module's host text.
  host::Value glue(const char *name);

  std::map<uint64_t, host::Value> hooks; ///< handles of Tensor::register_hook
  uint64_t lastHook = 0;

protected:
  host::Value captured(const Tensor &tensor) override;

private:
  /// A tensor in memory that stands as a recorded one in the call under way.
  struct Borrowed {
    Tensor memory;
    std::shared_ptr<trace::TensorObject> object;
    uint64_t version;
  };
  void writeBack();
  std::vector<Tensor> asMemory(std::vector<Tensor> results) const;

  std::map<std::string, Borrowed> borrowed; ///< by memory, shape and strides
};

} // namespace pellucid::api
