// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/State.h"

#include <map>
#include <mutex>

namespace pellucid::api {

/// Held while anything of this process is traced.
std::recursive_mutex &traceLock();

/// One trace: what the C++ program computes while it is active on a thread goes through
/// trace::Tracer into a program.
class Recording : public std::enable_shared_from_this<Recording> {
public:
  Recording();
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

  trace::Tracer tracer;
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

private:
  host::Value captured(const Tensor &tensor);
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

/// The evaluator for calls that no Python file has a part in.
host::Interpreter &plainInterpreter();

} // namespace pellucid::api
