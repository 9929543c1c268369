// SPDX-License-Identifier: Apache-2.0
/// A model or a launch that is being traced.
#pragma once

#include "reference/graph/Tensor.h"
#include "trace/ReboundTensors.h"
#include "trace/TensorObject.h"
#include "trace/TraceSession.h"
#include "trace/TrainingState.h"

namespace pellucid::trace {

/// A tensor that a module holds, with its dotted name.
struct ModuleTensor {
  std::string name;
  std::shared_ptr<TensorObject> object;
  bool isParameter;
  bool isSaved;    ///< state_dict() has it: a parameter or a persistent buffer
  bool isOptional; ///< torch loads a state_dict without it too
  std::shared_ptr<host::Instance> module;
  std::string key;       ///< its attribute there …
  host::Value container; ///< … or in this dict
};

/// What the file's own error was, when the statement that defines `value` was refused.
void throwIfUnusable(const host::Value &value);

/// One attempt at the program of a model, a function or a launch.
class ModelTrace {
public:
  ModelTrace(const symbolic::SymbolTable &symbols, const TraceOptions &o,
             const TrainingPlan *p = nullptr);
  graph::Program trace(const std::string &path, const std::string &name,
                       const std::vector<TraceInput> &inputs);

  /// Where the plan of a training step goes; the program is not made then.
  TrainingPlan *planned = nullptr;

private:
  using Roots = std::vector<std::pair<std::string, host::Value>>;
  static Roots heldByFile(const host::Module &module);
  void bindRoots(const Roots &roots);
  NamedTensors parameters() const;
  TracedTensor bindState(const StateTensor &state);
  graph::Weight copiedWeight(const StateTensor &state);
  host::Value construct(const host::Value &cls);
  void enterMode(const host::Value &model);
  bool isSaved(const host::Instance &module, const std::string &key, const TensorObject &tensor);
  static bool isRegistered(const ModuleTensor &tensor);
  bool isOptional(const host::Instance &module, const std::string &key);
  void collect(const host::Value &value, const std::string &prefix, bool registered,
               std::vector<ModuleTensor> &out, std::vector<const host::Object *> &above);
  const host::Value &moduleClass();
  void bindTensors(const Roots &roots);
  std::vector<std::optional<reference::Tensor>>
  evaluateConstructed(std::vector<ModuleTensor> &tensors);
  void bindTensor(ModuleTensor &entry, const std::optional<reference::Tensor> &computed);
  static graph::Weight computedWeight(const reference::Tensor &tensor, DataType dtype);
  SourceLocation weightsFile() const;

  /// What tied tensors have in common.
  using Memory = std::pair<const TracedStorage *, std::string>;
  static Memory memoryOf(const ModuleTensor &made);
  const graph::Weight *givenWeight(const ModuleTensor &made) const;
  void checkWeights(const std::vector<ModuleTensor> &tensors);
  static bool fits(const graph::Weight &weight, const graph::TensorType &type);
  static std::string shapeText(const auto &shape);
  void checkTied(const std::string &first, const std::string &name) const;
  graph::Weight weightFor(const ModuleTensor &made, const graph::TensorType &type,
                          const std::optional<reference::Tensor> &computed);
  host::CallArgs bindInputs(const host::Function *function, const host::Value &callee,
                            const std::vector<TraceInput> &inputs);
  host::Value literalValue(const std::string &name, const std::string &text);
  host::Value inputValue(const TraceInput &input, const std::string &name);
  void finish(const host::Value &result);
  void collectResults(const host::Value &given, std::vector<graph::Argument> &outputs,
                      const SourceLocation &where);

public:
  const TraceOptions &options;
  Tracer tracer;
  TraceHooks hooks;
  std::unique_ptr<host::Interpreter> interpreter;
  std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> buffers, userInputs;
  std::vector<HeldTensor> held;
  std::vector<HeldOptimizer> optimizers; ///< with --train
  std::vector<host::Value> rootValues;
  const TrainingPlan *plan; ///< of a training step; null where there is none
  std::optional<OptimizerState> trained;

private:
  size_t visits = 0; ///< of modules, while their tensors are collected
  std::map<std::pair<const TracedStorage *, std::string>, const graph::Weight *>
      weightOf; ///< the file's tensors, under whichever of their names they are there
};

} // namespace pellucid::trace
