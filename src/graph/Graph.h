// SPDX-License-Identifier: Apache-2.0
/// A graph: nodes in execution order over immutable values, as torch.export has them.
#pragma once

#include "graph/Types.h"
#include "support/SourceFile.h"

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pellucid::graph {

class Graph;
class Node;

/// An immutable result of a node: a tensor, or a symbolic integer.
class Value {
public:
  bool isTensor() const { return std::holds_alternative<TensorType>(content); }
  bool isSymInt() const { return std::holds_alternative<Expr>(content); }
  const TensorType &type() const { return std::get<TensorType>(content); } ///< tensors only
  const Expr &expr() const { return std::get<Expr>(content); } ///< symbolic integers only
  void setType(TensorType type) { content = std::move(type); }

  Node *producer() const { return node; }
  uint32_t resultIndex() const { return index; }
  const std::string &name() const { return valueName; }

  /// Every node that uses it, once each, in the order in which the uses were made.
  const std::list<Node *> &users() const { return userList; }
  bool isUnused() const { return userList.empty(); }

private:
  friend class Graph;
  friend class Node;
  std::variant<TensorType, Expr> content;
  Node *node = nullptr;
  uint32_t index = 0;
  std::string valueName;
  std::list<Node *> userList;
};

/// What a result is made of: a tensor's type or a symbolic integer.
using ResultType = std::variant<TensorType, Expr>;

/// How a kernel touches what an operand points to.
enum class Access : uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };
std::string_view toString(Access access);
std::optional<Access> accessNamed(std::string_view text);
inline bool reads(Access a) { return uint8_t(a) & 1; }
inline bool writes(Access a) { return uint8_t(a) & 2; }

/// One operand of a launch, under the kernel parameter's name. Scalars and None have Access::None.
struct LaunchOperand {
  std::string name;
  Argument value;
  Access access = Access::None;
  /// The analysis could not see it: `access` is then ReadWrite and the launch must not be dropped,
  /// moved or cloned.
  bool unknownAccess = false;
};

/// One way to launch: chosen when `guard` is not 0 and none before it was.
struct LaunchVariant {
  Expr guard = 1;
  uint32_t kernel = 0; ///< index in Program::kernels
  Expr grid[3] = {1, 1, 1};
  KeywordArguments
      constants; ///< the constexprs and specialised arguments of this variant, in signature order
  int32_t numWarps = 4, numStages = 3, numCtas = 1;
  std::string origin; ///< where it comes from, for `inspect`: "autotune config 2"; may be empty
};

/// A `triton_kernel_wrapper_mutation`. The node has one new value per written operand: the contents
/// after the launch. The old value stays what it was; using it after the launch asks for the old
/// contents.
struct Launch {
  std::vector<LaunchVariant> variants;
  std::vector<LaunchOperand> operands;
  std::vector<uint32_t>
      resultOperands; ///< for each result of the node, the operand it is the new contents of
};

enum class Opcode : uint8_t { Placeholder, CallFunction, Output };
inline constexpr std::string_view launchTarget = "triton_kernel_wrapper_mutation";

class Node {
public:
  Opcode opcode() const { return op; }
  bool isPlaceholder() const { return op == Opcode::Placeholder; }
  bool isCall() const { return op == Opcode::CallFunction; }
  bool isOutput() const { return op == Opcode::Output; }
  bool isLaunch() const { return launchInfo != nullptr; }
  bool calls(std::string_view name) const { return isCall() && callee == name; }

  const std::string &name() const { return nodeName; }
  /// `aten.linear.default`, `custom_ops.silu.default`, launchTarget; a placeholder's or output's
  /// own name.
  const std::string &target() const { return callee; }

  const std::vector<Argument> &args() const { return arguments; }
  const Argument &arg(size_t i) const { return arguments[i]; }
  const KeywordArguments &kwargs() const { return keywords; }
  const Argument *kwarg(std::string_view name) const;
  const Launch *launch() const { return launchInfo.get(); }

  size_t resultCount() const { return resultValues.size(); }
  Value *result(size_t i = 0) const { return resultValues[i].get(); }

  /// These keep the users of values right.
  void setArgs(std::vector<Argument> args);
  void setKwargs(KeywordArguments kwargs);
  void setLaunch(Launch launch);
  void replaceUses(Value *from, Value *to);

  /// Calls `f(Value *)` for each use in args, kwargs and launch operands, in order, repeats
  /// included.
  template <typename F> void forEachOperand(F &&f) const {
    for (const Argument &a : arguments)
      a.forEachValue(f);
    for (const auto &[name, a] : keywords)
      a.forEachValue(f);
    if (launchInfo)
      for (const LaunchOperand &o : launchInfo->operands)
        o.value.forEachValue(f);
  }

  Node *next() const { return following; }
  Node *previous() const { return preceding; }
  Graph *graph() const { return owner; }
  /// Constant time on average.
  bool isBefore(const Node *other) const { return order < other->order; }

  SourceLocation location;
  std::string stackNote;        ///< where in the model it was called, for people
  std::optional<uint32_t> body; ///< index in Program::bodies: what the operator does inside
  /// Control flow (graph/ControlFlow.h): indices in Program::bodies of the graphs that run inside.
  std::vector<uint32_t> regions;
  /// For calls that mutate (`custom_ops.f.default` with mutates_args): positions in args(); the
  /// last mutatedArgs.size() results are the new contents of these arguments. Launches have
  /// Launch::resultOperands.
  std::vector<uint32_t> mutatedArgs;

private:
  friend class Graph;
  void link();
  void unlink();

  Opcode op = Opcode::CallFunction;
  std::string nodeName, callee;
  std::vector<Argument> arguments;
  KeywordArguments keywords;
  std::unique_ptr<Launch> launchInfo;
  std::vector<std::unique_ptr<Value>> resultValues;
  std::vector<std::pair<Value *, std::list<Node *>::iterator>> uses;
  Graph *owner = nullptr;
  Node *preceding = nullptr, *following = nullptr;
  uint64_t order = 0;
};

/// Nodes in order, and the only way to make them. Every operation is constant time, or linear in
/// the arguments and users that it touches.
class Graph {
public:
  Graph() = default;
  ~Graph();
  Graph(Graph &&) noexcept;
  Graph &operator=(Graph &&) noexcept;

  /// Tolerates that the current node is erased.
  class Iterator {
  public:
    explicit Iterator(Node *n) : node(n), after(n ? n->next() : nullptr) {}
    Node &operator*() const { return *node; }
    Node *operator->() const { return node; }
    Iterator &operator++() { return *this = Iterator(after); }
    bool operator==(const Iterator &o) const { return node == o.node; }

  private:
    Node *node, *after;
  };
  Iterator begin() const { return Iterator(head); }
  Iterator end() const { return Iterator(nullptr); }
  Node *front() const { return head; }
  Node *back() const { return tail; }
  size_t size() const { return count; }

  /// The output node, null before output().
  Node *outputNode() const { return tail && tail->isOutput() ? tail : nullptr; }
  std::vector<Node *> placeholders() const;
  Node *find(std::string_view name) const;
  Value *findValue(std::string_view name) const;

  /// New nodes go before `node` from here on; null: at the end (before an output node).
  void setInsertionPoint(Node *node) { insertion = node; }
  Node *insertionPoint() const { return insertion; }
  /// Given to new nodes.
  void setLocation(SourceLocation location) { current = std::move(location); }

  /// Placeholders go after those already there, whatever the insertion point.
  Value *placeholder(std::string_view name, ResultType type);
  Node *call(std::string target, std::vector<Argument> args, KeywordArguments kwargs,
             std::vector<ResultType> results, std::string_view nameHint = {});
  /// Makes the results from `launch.operands`; `resultOperands` is filled in.
  Node *launch(Launch launch, std::string_view nameHint = {});
  /// Gives `launch` one more operand, which it writes, and returns its new contents.
  Value *addLaunchResult(Node *launch, LaunchOperand written);
  /// Gives a call one more result.
  Value *addResult(Node *call, ResultType type);
  /// Replaces an earlier output node.
  Node *output(std::vector<Argument> results);

  void replaceAllUses(Value *from, Value *to);
  /// Its results must be unused.
  void erase(Node *node);
  /// `before` null: to the end (before an output node).
  void moveBefore(Node *node, Node *before);
  /// Erases calls without effect whose results are unused; placeholders stay. `isPure` decides
  /// for calls and launches; launches with unknown access stay. Returns how many went.
  size_t eraseUnused(const std::function<bool(const Node &)> &isPure);

  /// A name as torch.fx gives it: `linear`, `linear_1`, `sum_1` (Python's own names are never taken
  /// as they are).
  std::string uniqueName(std::string_view hint);
  /// The name that torch.fx derives from a target: `aten.linear.default` -> `linear`.
  static std::string_view nameFor(std::string_view target);

  /// What is wrong, one sentence each; empty when every definition stands before its uses, names
  /// are unique, users lists are right, placeholders come first and at most one output node last,
  /// and launches match their results.
  std::vector<std::string> verify() const;

  /// A copy; `map`, when given, receives old -> new values.
  Graph clone(std::unordered_map<const Value *, Value *> *map = nullptr) const;

  /// For readers of stored programs: nodes and results with exactly these names. Throws
  /// std::invalid_argument on a name that is taken.
  Node *restore(Opcode opcode, std::string name, std::string target, std::vector<Argument> args,
                KeywordArguments kwargs, std::vector<std::pair<std::string, ResultType>> results,
                std::optional<Launch> launch = {});

private:
  Node *insert(std::unique_ptr<Node> node, Node *before);
  Node *defaultPoint() const;
  void addResult(Node *node, ResultType type, std::string name);
  void detach(Node *node);
  void placeInOrder(Node *node);
  void renumber();

  Node *head = nullptr, *tail = nullptr, *insertion = nullptr, *lastPlaceholder = nullptr;
  size_t count = 0;
  SourceLocation current;
  std::unordered_map<std::string, Node *> byName;
  std::unordered_map<std::string, Value *> valuesByName;
  std::unordered_map<std::string, uint32_t> nextSuffix;
};

} // namespace pellucid::graph
