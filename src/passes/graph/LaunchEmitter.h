// SPDX-License-Identifier: Apache-2.0
/// Nodes become launches of generated kernels: what every lowering of an operator does.
#pragma once

#include "passes/graph/ArrangedWeights.h"
#include "passes/graph/LowerToLaunches.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace pellucid::passes {

/// Moves dim `from` to the end.
inline void moveLast(std::vector<Expr> &list, size_t from) {
  std::rotate(list.begin() + static_cast<long>(from), list.begin() + static_cast<long>(from) + 1,
              list.end());
}

class LaunchEmitter {
public:
  LaunchEmitter(graph::Program &p, const graph::OperatorRegistry &r, const CompileText &c)
      : program(p), registry(r), weights(p, r), compile(c), names(p) {}

  graph::Program &program;
  const graph::OperatorRegistry &registry;
  ArrangedWeights weights;
  bool deterministic = false; ///< no sums in the order in which programs come
  bool tf32 = false;         ///< convolutions of f32 by matrix units, whose operands have 10 digits
  bool tf32Products = false; ///< the same of products of matrices
  /// Placeholders whose memory is a loop's own (graph::carriedPlaceholders).
  std::unordered_set<const graph::Value *> carried;

  [[noreturn]] static void refuse(const graph::Node &node, const std::string &why);

  /// Names the generated kernel after what it does: `fused_mul_add`.
  static std::string kernelName(const std::vector<graph::Node *> &nodes, const std::string &kind);

  /// An uninitialised tensor of this type, at the insertion point.
  graph::Value *emptyLike(const graph::TensorType &type);

  struct Target {
    graph::Value *value;
    graph::Access access;
  };
  /// A launch of `text` with these pointers, at the insertion point; its results are the new
  /// contents of the outputs.
  graph::Node *emit(KernelText text, const std::vector<graph::Value *> &inputs,
                    const std::vector<Target> &outputs, const SourceLocation &where);
  graph::Value *emit(KernelText text, const std::vector<graph::Value *> &inputs, Target output,
                     const SourceLocation &where) {
    return emit(std::move(text), inputs, std::vector<Target>{output}, where)->result();
  }

  /// One way to launch: a kernel, for the calls that meet `guard` and none before.
  struct TextVariant {
    KernelText text;
    symbolic::Expr guard = 1;
  };
  /// The same with several ways, whose kernels have the same pointers and scalars.
  graph::Node *emit(std::vector<TextVariant> variants, const std::vector<graph::Value *> &inputs,
                    const std::vector<Target> &outputs, const SourceLocation &where);

  std::vector<LoweringEdge> edges;
  void note(const graph::Node &from, const graph::Node &to, bool fused, std::string reason) {
    edges.push_back({from.name(), to.name(), fused, std::move(reason)});
  }

  /// Puts `value` in the place of node's result and erases it with the producers it took along.
  void replace(graph::Node &node, graph::Value *value,
               const std::vector<graph::Node *> &producers = {});
  /// The same for each of node's results.
  void replaceAll(graph::Node &node, const std::vector<graph::Value *> &values);
  void replaceAll(graph::Node &node, const graph::Node &launch);
  /// Where nothing reads its result.
  void eraseUnused(graph::Node &node) {
    if (node.result()->users().empty())
      erase(node);
  }
  bool isGone(const graph::Node *node) const { return gone.count(node) != 0; }

private:
  uint32_t kernelFor(KernelText &text, const std::vector<DataType> &pointers,
                     const std::vector<graph::Access> &accesses);
  void erase(graph::Node &node);

  const CompileText &compile;
  graph::KernelNames names;
  std::set<const graph::Node *> gone;
  std::map<std::string, uint32_t> kernels;
};

/// One launch or two, at the insertion point: the reduction of `inputs` that `spec` describes; its
/// results, of dense `types`.
std::vector<graph::Value *> emitReduction(LaunchEmitter &emitter, ReductionSpec spec,
                                          const std::vector<graph::Value *> &inputs,
                                          const std::vector<graph::TensorType> &types,
                                          const SourceLocation &where, bool forCpu);

/// The launches of `sequence`, at the insertion point, into the memory of `results`; the values
/// afterwards.
struct KernelSequence;
std::vector<graph::Value *> emitSequence(LaunchEmitter &emitter, KernelSequence sequence,
                                         const std::vector<graph::Value *> &inputs,
                                         const std::vector<graph::Value *> &results,
                                         const SourceLocation &where);

/// Lowerings of operators with kernels of their own; each leaves the node replaced.
void lowerAttention(LaunchEmitter &emitter, graph::Node &node, bool forCpu);
void lowerGather(LaunchEmitter &emitter, graph::Node &node, bool forCpu);
/// A take at constant places along few runs: a copy for each. False: it is none.
bool lowerRuns(LaunchEmitter &emitter, graph::Node &node);
void lowerScatter(LaunchEmitter &emitter, graph::Node &node, bool forCpu);
void lowerLine(LaunchEmitter &emitter, graph::Node &node, bool forCpu);
void lowerAssertion(LaunchEmitter &emitter, graph::Node &node);

} // namespace pellucid::passes
