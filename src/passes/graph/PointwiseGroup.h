// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Registry.h"
#include "passes/graph/KernelText.h"

#include <map>
#include <vector>

namespace pellucid::passes {

class ArrangedWeights;

/// Pointwise nodes of one shape as the body of a kernel: what is loaded, the statements, and the
/// name of each result.
struct PointwiseGroup {
  std::vector<graph::Value *> inputs; ///< `in0`, `in1`, … in the body
  /// Of inputs that are read in a part of the group's indices; the others have none.
  std::map<size_t, std::vector<size_t>> windowsOf;
  std::vector<TextWindow> windows;
  /// Inputs that are read where others say, and the dim along which an input of one dim lies that
  /// says so.
  std::map<size_t, std::vector<PointwiseSpec::Taken>> taken;
  std::map<size_t, size_t> along;
  /// Inputs with strides of their own over the group's dims: what fetches read, and where.
  std::map<size_t, std::vector<symbolic::Expr>> laid;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::map<const graph::Value *, std::string> names;
  bool usesIndex = false; ///< mentions `i`, the element's row-major index
  bool expensive = false; ///< more than arithmetic: a division, an exp …
  /// As PyTorch on the CPU: dividing integers by zero fails, and what an integer does not hold of
  /// floats is its smallest number.
  bool divisionFails = true;
  bool hasChecks = false; ///< statements that may fail
  /// Knows the indices that are constant: they are not checked in the kernel. Null: nobody does.
  ArrangedWeights *weights = nullptr;
};

/// Replaces whole identifiers of `text` by their entry in `names`; attribute names (after a dot),
/// exponents of numbers and keywords of calls stay.
std::string renameIdentifiers(const std::string &text,
                              const std::map<std::string, std::string> &names);

/// True for nodes that compute each element from the same element of their operands and have one
/// result: pointwise operators, casts, clones, and tensors filled with one value or with their
/// index.
bool isPointwise(const graph::Node &node, const graph::OperatorRegistry &registry);

/// True for tensors filled with a function of their index.
bool holdsIndex(const graph::Node &node, const graph::OperatorRegistry &registry);

/// True for `cat` of a few tensors, whose elements a kernel can take from the part that they come
/// from instead of from memory.
bool isJoin(const graph::Node &node, const graph::OperatorRegistry &registry,
            const graph::SymbolTable &symbols, size_t mostParts = 4);
/// Adds `node` (isJoin) to the group, with the pointwise nodes that only make its parts: they are
/// returned.
std::vector<graph::Node *> addJoin(PointwiseGroup &group, const graph::Node &node,
                                   const graph::OperatorRegistry &registry,
                                   const graph::SymbolTable &symbols);

/// True for `index_select`, whose elements a kernel can load from where they are instead.
bool isTake(const graph::Node &node, const graph::OperatorRegistry &registry);

/// Adds pointwise nodes, joins and takes, in order; what joins took along is added to `nodes`.
void addNodes(PointwiseGroup &group, std::vector<graph::Node *> &nodes,
              const graph::OperatorRegistry &registry, const graph::SymbolTable &symbols);

/// Adds `node` (isPointwise) to the group; values it uses that are not in the group yet become
/// inputs. Each result is rounded to its own type, as the operators one by one would.
void addToGroup(PointwiseGroup &group, const graph::Node &node,
                const graph::OperatorRegistry &registry, const graph::SymbolTable &symbols);

/// `root` and the pointwise nodes that it alone (with others of the group) uses and that have its
/// shape or one value only, in order. `root` itself need not be pointwise; it is left out then,
/// with all that is filled with its index, and `shape` says which producers fit. With `joins`, its
/// symbols say which `cat`s are producers too. With `fetches`, so are gathers, and what computes
/// their indices, in a smaller shape too, which is computed for each element then
/// (FetchedElements.h). `beside` are roots of the same shape, which are left out too.
std::vector<graph::Node *>
collectProducers(graph::Node &root, bool includeRoot, const std::vector<graph::Expr> &shape,
                 const graph::OperatorRegistry &registry, const graph::SymbolTable *joins = nullptr,
                 bool fetches = false, const std::vector<graph::Node *> &beside = {});

/// The group's inputs as operands of a loop nest over `shape`.
std::vector<TextOperand> operandsOf(const PointwiseGroup &group,
                                    const std::vector<graph::Expr> &shape,
                                    const graph::SymbolTable &symbols);

/// `value` as operand of a loop nest over `shape`: stride 0 where it is broadcast.
TextOperand broadcastOperand(const graph::TensorType &type, const std::vector<graph::Expr> &shape,
                             const graph::SymbolTable &symbols);

} // namespace pellucid::passes
