// SPDX-License-Identifier: Apache-2.0
/// What reverse mode knows of tensors: each result of a differentiable operator has an edge to the
/// node that turns its gradient into those of the operator's operands. Tensors hold nodes, nodes
/// hold the nodes before them; a graph of the program holds none of them. Gradients are values of
/// the host program, so that the tape knows nothing of how tensors are recorded.
#pragma once

#include "host/Interpreter.h"

#include <memory>
#include <string>
#include <vector>

namespace pellucid::autograd {

class Node;

/// One output of a node: where a gradient is sent.
struct Edge {
  std::shared_ptr<Node> node;
  uint32_t output = 0;
  explicit operator bool() const { return node != nullptr; }
};

/// Functions of the user, in the order in which they were registered.
class HookList {
public:
  uint64_t add(host::Value function);
  void remove(uint64_t number);
  bool empty() const { return hooks.empty(); }
  /// Each hook may give another value in place of the one that it is called with.
  host::Value apply(host::Interpreter &interpreter, host::Value value) const;
  std::vector<host::Value> functions() const;

private:
  std::vector<std::pair<uint64_t, host::Value>> hooks;
};

/// What a tensor has of it. Tensors over the same memory may differ in it (`detach()`).
struct Meta {
  bool requiresGrad = false; ///< of a leaf
  bool retainsGrad = false;  ///< of what is no leaf: its gradient is kept
  Edge source;               ///< what computed it; none: a leaf
  std::weak_ptr<Node> accumulator;
  host::Value grad;
  std::shared_ptr<HookList> hooks = std::make_shared<HookList>(); ///< of a leaf's gradient
  HookList afterAccumulation;
};

class Node : public std::enable_shared_from_this<Node> {
public:
  Node();
  virtual ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  /// As PyTorch prints it: "MulBackward0".
  virtual std::string name() const = 0;
  /// From the gradients of its outputs (None: none arrived) those of its inputs, one per edge of
  /// `next`.
  virtual std::vector<host::Value> apply(host::Interpreter &interpreter,
                                         std::vector<host::Value> gradients) = 0;
  /// `gradient` of an output with that output's type and shape; `from` is the node that sends it.
  virtual host::Value conform(host::Interpreter &interpreter, uint32_t output, host::Value gradient,
                              const Node &from) = 0;
  /// What it saved is not needed any more.
  virtual void release() {}
  /// It adds to a leaf's gradient.
  virtual bool accumulates() const { return false; }
  /// Something of it for the program to read: a Function's context; None otherwise.
  virtual host::Value context() const { return {}; }

  /// The hooks of an output, made where there are none.
  HookList &hooksOf(uint32_t output);
  /// Called on the gradient of an output, the hooks of the tensor included.
  host::Value hooked(host::Interpreter &interpreter, uint32_t output, host::Value gradient) const;

  std::vector<Edge> next; ///< where the gradients of its inputs go; none for those that need none
  uint32_t outputCount = 1;
  const uint64_t sequence; ///< counts up: a node is made after those that it leads to
  SourceLocation where;    ///< the call that made it
  std::vector<std::shared_ptr<HookList>> outputHooks;
  std::vector<std::pair<uint32_t, std::weak_ptr<Meta>>> retained;
  HookList before, after; ///< register_prehook(grads), register_hook(grad_inputs, grad_outputs)
};

/// How deep `no_grad` and its kin stand; a guard puts back what was there.
struct Mode {
  bool available = false; ///< operators are noted at all
  bool enabled = true;
  bool inference = false;
  bool records() const { return available && enabled && !inference; }
};

class ModeGuard {
public:
  ModeGuard(Mode &m, bool enabled) : mode(m), saved(m) { mode.enabled = enabled; }
  ~ModeGuard() { mode = saved; }
  ModeGuard(const ModeGuard &) = delete;
  ModeGuard &operator=(const ModeGuard &) = delete;

private:
  Mode &mode;
  Mode saved;
};

/// Thrown through the host program where it asks for gradients and Mode::available is not set; no
/// host handler sees it. Whoever traces begins again with it set.
struct GradientsAsked {};

} // namespace pellucid::autograd
