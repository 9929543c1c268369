// SPDX-License-Identifier: Apache-2.0
/// A training step as a program: what the optimisers that it calls hold from step to step is state
/// of the program, as a module's buffers are.
#pragma once

#include "host/Interpreter.h"
#include "trace/TensorObject.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pellucid::trace {

/// An instance of torch.optim.Optimizer that a model or a file holds.
struct HeldOptimizer {
  std::string path; ///< "opt", "model.opt"
  std::shared_ptr<host::Instance> object;
};

/// What an entry of an optimiser's state is before the first step.
struct FirstValue : host::Object {
  graph::TensorType type;
  Initializer initializer;
  std::string copyOf;  ///< a placeholder of the program whose contents it copies; else empty
  std::string problem; ///< why neither is known
  SourceLocation where;
  std::string typeName() const override { return "first value"; }
};

/// What two steps in a trace of their own have found out.
struct TrainingPlan {
  struct Entry {
    enum class Kind : uint8_t { Tensor, Number, Constant } kind = Kind::Constant;
    size_t optimizer = 0;
    std::string parameter; ///< dotted name; empty for an entry of a group
    size_t group = 0;
    std::string key;
    std::shared_ptr<FirstValue> tensor;
    host::Value value; ///< a number before the first step, or what stays as it is
  };
  std::vector<Entry> entries;
  std::set<std::string> gradients; ///< parameters whose gradient a step adds to
};

/// The optimisers below `value`, in the order of their paths.
std::vector<HeldOptimizer> optimizersOf(host::Interpreter &interpreter, const host::Value &value,
                                        const std::string &prefix);

/// A tensor in a group of parameters: a learning rate that the program can change.
struct GroupTensor {
  std::string name; ///< "opt.param_groups.0.lr"
  std::shared_ptr<TensorObject> object;
  host::Value group; ///< the dict
  std::string key;
};
std::vector<GroupTensor> groupTensors(const std::vector<HeldOptimizer> &optimizers);

using NamedTensors = std::vector<std::pair<std::string, std::shared_ptr<TensorObject>>>;

/// Takes two steps and tells what the optimisers made. `roots` is what the step can reach.
TrainingPlan planTraining(host::Interpreter &interpreter, Tracer &tracer,
                          const std::vector<HeldOptimizer> &optimizers, const NamedTensors &tensors,
                          const std::vector<host::Value> &roots, const std::function<void()> &step);

/// State of the program that is no tensor of a module.
struct StateTensor {
  std::string name;
  graph::TensorType type;
  Initializer initializer;
  std::string copyOf; ///< the placeholder whose weight it begins with; else empty
};

/// Gives the optimisers the state of before the first step. After the step it writes back what they
/// bound anew.
class OptimizerState {
public:
  /// Makes a tensor a placeholder of the program.
  using Bind = std::function<TracedTensor(const StateTensor &)>;
  OptimizerState(host::Interpreter &i, Tracer &t, std::vector<HeldOptimizer> o, NamedTensors n)
      : interpreter(i), tracer(t), optimizers(std::move(o)), tensors(std::move(n)) {}
  void prepare(const TrainingPlan &plan, const Bind &bind);
  void finish();

private:
  struct Kept {
    std::string name;
    host::Value container; ///< a dict
    std::string key;
    std::shared_ptr<TensorObject> object; ///< the state's memory
    bool isNumber = false, isGradient = false;
  };
  void keep(Kept kept);
  host::Value containerOf(const TrainingPlan::Entry &entry);
  host::Value tensorOf(const Kept &kept, const host::Value &now);

  host::Interpreter &interpreter;
  Tracer &tracer;
  std::vector<HeldOptimizer> optimizers;
  NamedTensors tensors;
  std::vector<Kept> all;
};

} // namespace pellucid::trace
