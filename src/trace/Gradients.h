// SPDX-License-Identifier: Apache-2.0
/// Reverse mode over traced tensors: notes what operators do (autograd/Tape.h), with the formulas
/// of torch/derivatives.py.
#pragma once

#include "autograd/Tape.h"
#include "graph/Schema.h"
#include "trace/TensorObject.h"

namespace pellucid::trace {

/// Whether what is recorded now is noted: not under no_grad, nor while a model's constructor runs.
bool isNoted(const Tracer &tracer);
/// Whether a gradient would be computed for it.
bool requiresGrad(TensorObject &tensor);
bool isLeaf(TensorObject &tensor);
/// Where its gradient goes: the node that computed it, or the one that adds to a leaf's. None where
/// it requires none.
autograd::Edge gradientEdge(TensorObject &tensor);
/// requires_grad_(): refuses integers, and results of operators that are to require none.
void setRequiresGrad(host::Interpreter &interpreter, TensorObject &tensor, bool value);
autograd::Meta &metaOf(TensorObject &tensor);
/// Another tensor over the same memory without a history.
std::shared_ptr<TensorObject> detached(const TensorObject &tensor);

/// A node whose outputs are tensors of known types.
class TensorNode : public autograd::Node {
public:
  TensorNode(Tracer &t, host::Interpreter &interpreter) : tracer(t) {
    where = interpreter.location();
  }
  host::Value conform(host::Interpreter &interpreter, uint32_t output, host::Value gradient,
                      const autograd::Node &from) override;
  Tracer &tracer;
  std::vector<graph::TensorType> outputs;
};

/// `copy` is `source` on another device, where its gradient goes back from.
void noteMove(host::Interpreter &interpreter, TensorObject &source, TensorObject &copy);

/// A tensor that a node needs later. Of an output of that node it holds no history, which would be
/// a ring.
class SavedTensor {
public:
  /// `output`: it is that output of the node that saves it.
  SavedTensor(host::Interpreter &interpreter, TensorObject &tensor, std::optional<uint32_t> output);
  /// Refuses what was written to in place since. `owner` is the node that saved it.
  host::Value unpack(host::Interpreter &interpreter, const autograd::Node &owner) const;
  /// What it holds was written to `self` in place: it is that memory from here on.
  void moveTo(const TracedTensor &from, const TracedTensor &self);

private:
  Tracer &tracer;
  TracedTensor tensor;
  uint64_t version;
  std::optional<uint32_t> output;
  std::shared_ptr<autograd::Meta> meta; ///< of a leaf
  autograd::Edge source;                ///< of others
  host::Value packed, unpackHook;       ///< saved_tensors_hooks()
};

/// A result of a call whose operands are `operands`: a view where it shares their memory.
void linkView(TensorObject &result, const std::vector<host::Value> &operands, bool severalViews);
/// After a call of an operator of the registry, whose arguments were `args`.
void noteCall(Tracer &tracer, host::Interpreter &interpreter, const graph::OperatorCall &call,
              const host::CallArgs &args, const std::vector<host::Value> &results);
/// The same, and which results are views of `operands`, the tensors among the arguments.
void noteResults(Tracer &tracer, host::Interpreter &interpreter, const graph::OperatorCall &call,
                 const host::CallArgs &args, const std::vector<host::Value> &operands,
                 const std::vector<host::Value> &results);
/// `result`, which requires a gradient where the call says requires_grad=True.
host::Value requiringAsAsked(host::Interpreter &interpreter, const host::Value &result,
                             const host::CallArgs &args);
/// What is written to `out=` is not followed.
void refuseOutOfGradient(Tracer &tracer, host::Interpreter &interpreter, const std::string &name,
                         const host::CallArgs &args);
/// The results of what has no derivative: asking for one is refused with `name`.
void noteUnknown(Tracer &tracer, host::Interpreter &interpreter, const std::string &name,
                 const std::vector<host::Value> &results,
                 const std::vector<host::Value> &operands = {});
/// Before a write through `tensor`: leaves that require a gradient are refused.
void checkInPlace(host::Interpreter &interpreter, TensorObject &tensor);
/// Whether a tensor among a call's arguments asks for a gradient.
bool wantsGradient(const host::CallArgs &args);
/// What `tensor` holds now, for an operator that writes its result to it: what is kept of it for
/// the gradient, its own or that of the `operands`, is not what it holds afterwards.
host::Value contentsOf(TensorObject &tensor, host::Interpreter &interpreter,
                       const host::CallArgs *operands = nullptr);
/// After it: `contents` is what was written.
void noteWrite(host::Interpreter &interpreter, TensorObject &tensor, TensorObject &contents);

/// `from`, a result of the node that it saved, was written to `self` in place.
void rehomeResults(autograd::Node &node, const TracedTensor &from, const TracedTensor &self);
/// What an AccumulateGrad does: adds to the gradient of `leaf`.
void accumulateGradient(host::Interpreter &interpreter, TensorObject &leaf,
                        const host::Value &gradient);

/// requires_grad, grad, grad_fn and their kin; nullopt for other names.
std::optional<host::Value> gradientAttribute(host::Interpreter &interpreter, TensorObject &tensor,
                                             std::string_view name);
/// Whether it was one of those.
bool setGradientAttribute(host::Interpreter &interpreter, TensorObject &tensor,
                          std::string_view name, const host::Value &value);
void retainGrad(host::Interpreter &interpreter, TensorObject &tensor);
host::Value registerHook(host::Interpreter &interpreter, TensorObject &tensor, host::Value hook,
                         bool afterAccumulation);
/// A function of torch.autograd.
host::Value autogradFunction(host::Interpreter &interpreter, const char *name);

/// torch.autograd and what stands on it; after addTorchRuntime.
void addTorchAutograd(host::NativeModules &modules, Tracer &tracer);

} // namespace pellucid::trace
