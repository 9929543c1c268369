// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/State.h"
#include "graph/Schema.h"

#include <map>
#include <mutex>

namespace pellucid::api {

/// Held while anything of this process is traced.
std::recursive_mutex &traceLock();

/// One trace: what the C++ program computes while it is active on a thread goes through
/// trace::Tracer into a program.
class Recording : public std::enable_shared_from_this<Recording> {
  std::unique_ptr<trace::Tracer> own;

public:
  Recording();
  /// Over the tracer of a session.
  explicit Recording(trace::Tracer &t) : tracer(t) {}
  virtual ~Recording() = default;
  /// Its tensors are computed when their values are asked for (api/Session.h).
  virtual bool isSession() const { return false; }
  /// The evaluator for what no Python file has a part in.
  virtual host::Interpreter &interpreter();
  /// The trace that is under way on this thread; null: calls run eagerly.
  static Recording *active();
  /// Makes a recording the active one. Tracing and compiling of all threads take turns: kernels and
  /// evaluators are shared.
  class Scope {
  public:
    explicit Scope(Recording &recording);
    ~Scope();

  private:
    std::unique_lock<std::recursive_mutex> lock;
    Recording *saved;
  };

  trace::Tracer &tracer;
  std::vector<std::string> warnings;
  /// Program::sourceNames of an export. What stays in memory keeps the paths, for its messages.
  std::map<std::string, std::string> sourceNames;

  /// A weight of the program under `name`, for every use of `value` from here on.
  void addWeight(const std::string &name, const Tensor &value, graph::InputSpec::Kind kind);
  Tensor addInput(const std::string &name, const graph::TensorType &type);

  /// The host value of an argument: a traced tensor as it is, one that holds data as a captured
  /// weight.
  host::Value toHost(const Argument &argument);
  host::CallArgs toHost(const std::vector<Argument> &arguments, const triton::Keywords &keywords);
  /// The tensors in a result, in order.
  std::vector<Tensor> fromHost(const host::Value &result);
  Tensor fromTraced(trace::TracedTensor tensor);

  /// The arguments of a call of a user operator, as its schema takes them.
  host::CallArgs operatorArgs(const detail::OperatorState &op,
                              const std::vector<Argument> &arguments);
  /// Records a call of a user operator; its body is the operator's function, traced.
  std::vector<Tensor> callOperator(const detail::OperatorState &op,
                                   const std::vector<Argument> &arguments);

  /// Makes `results` the program's outputs, behind what was written to inputs and buffers.
  void finish(const std::vector<Tensor> &results);

  /// True for the memory of an input; `which` is its position.
  bool isInputMemory(const trace::TracedStorage *storage, size_t &which) const;
  bool wroteInputs() const;
  /// How many operators' bodies are being traced around this call.
  int bodyDepth = 0;

protected:
  /// A tensor in memory as a value of this trace.
  virtual host::Value captured(const Tensor &tensor);

private:
  void checkFake(const detail::OperatorState &op, const std::vector<Argument> &arguments,
                 const std::vector<Tensor> &results);

  std::vector<std::pair<std::string, std::shared_ptr<trace::TracedStorage>>> inputs, buffers,
      constants;
  struct Captured {
    Tensor keepAlive;
    std::shared_ptr<trace::TensorObject> object;
  };
  std::map<std::string, Captured> weights; ///< by memory, shape and strides
};

/// Traces a function, or `module`'s forward when it is not null. Throws DiagnosticError or Error.
std::shared_ptr<Recording> traceFunction(const Function &function, nn::Module *module,
                                         const std::vector<Tensor> &examples,
                                         const DynamicShapes &dynamic, bool strict,
                                         const std::vector<std::string> &names);

struct NamedInput {
  std::string name;
  graph::TensorType type;
};
/// The inputs of a program that is traced on `examples`; their dynamic dims are declared in
/// `symbols`.
std::vector<NamedInput> inputsOf(symbolic::SymbolTable &symbols,
                                 const std::vector<Tensor> &examples, const DynamicShapes &dynamic,
                                 const std::vector<std::string> &names);
/// A host value as an argument of a C++ function: what the operator's schema lets through.
Argument toArgument(Recording &recording, const host::Value &value, const graph::SchemaType &type);
/// Tells a tensor in memory by its memory, type, shape and strides.
std::string memoryKey(const TensorState &state);
/// The elements of a tensor in memory, in order; `bytes` is how many bytes they are.
std::shared_ptr<const std::byte> denseBytes(const TensorState &state, uint64_t &bytes);
/// A built-in operator on a trace, `aten.softmax.int`, or a function, `torch.nn.functional.silu`.
std::vector<Tensor> recordBuiltin(Recording &recording, const std::string &target,
                                  const std::vector<Argument> &arguments,
                                  const triton::Keywords &keywords);
/// One launch on a trace.
void recordLaunch(Recording &recording, const detail::KernelState &kernel, const triton::Grid &grid,
                  const std::vector<Argument> &arguments, const triton::Keywords &keywords);

} // namespace pellucid::api
