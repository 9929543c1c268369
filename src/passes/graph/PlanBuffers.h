// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pellucid::passes {

using symbolic::Expr;

/// A piece of memory that values live in.
struct Storage {
  enum class Kind : uint8_t { Input, Weight, Output, Buffer } kind = Kind::Buffer;
  uint32_t index = 0; ///< Input, Weight: the placeholder's position; Output: the result's
  Expr bytes = 0;
  uint32_t first = 0, last = 0; ///< positions of the nodes that use it, inclusive
  uint32_t slot = 0;            ///< Buffer: which slot of the arena
  bool used = false;            ///< some launch or copy touches it
};

/// Contents that must be kept: `bytes` of `from` go to `to` before `node` runs (null: after the
/// last node).
struct StorageCopy {
  const graph::Node *node = nullptr;
  uint32_t from = 0, to = 0;
};

/// What a node of control flow needs beside its operands and results.
struct ControlMemory {
  /// Of each carried tensor, a second place: a turn reads one and writes the other. The first is
  /// that of the result, and the only one where the body changes it in place.
  std::vector<uint32_t> others;
  std::optional<uint32_t> condition; ///< WhileLoop: where the condition's region leaves its result
};

/// Where every tensor value of a lowered graph lives, and the slots of the arena that buffers
/// share.
struct BufferPlan {
  std::vector<Storage> storages;
  std::unordered_map<const graph::Value *, uint32_t> storageOf;
  /// Launch operands that live elsewhere than their value does: the copy they write into.
  std::unordered_map<const graph::Node *, std::unordered_map<uint32_t, uint32_t>> operandStorage;
  std::vector<StorageCopy> copies;
  std::unordered_map<const graph::Node *, ControlMemory> controls;
  std::set<uint32_t> inPlace;  ///< results that lie where the placeholder of their number does
  std::vector<Expr> slotBytes; ///< per slot: the size of its largest buffer; all of them mention
                               ///< the same symbols that steps read

  uint32_t operand(const graph::Node &launch, uint32_t index, const graph::Value *value) const;
};

/// What a node of a lowered graph does with memory.
enum class NodeMemory : uint8_t {
  Alias, ///< its results are views of its first tensor operand
  Fresh, ///< its results are new, uninitialised tensors
  Launch,
  Control, ///< runs regions; its results are new
  Host,    ///< reads its operands; its results are no tensors
};
using ClassifyNode = std::function<NodeMemory(const graph::Node &)>;

/// What loops say of the memory of a graph.
struct LoopMemory {
  /// graph::carriedPlaceholders(): a body may write to what it was given.
  std::unordered_set<const graph::Value *> carried;
  /// Regions that were planned before the graph that runs them.
  std::map<uint32_t, BufferPlan> regions;
};

/// Plans a graph of placeholders, views, empty tensors, launches and control flow, whose regions
/// are planned on their own: theirs are other slots. A launch writes in place where no later node
/// needs the old contents; otherwise they are copied first. So does a loop with what it carries:
/// it begins where the first value lies, and turns change it there where the body's plan does.
/// Linear in nodes and uses.
BufferPlan planBuffers(const graph::Program &program, const ClassifyNode &classify,
                       const LoopMemory &loops = {});

/// One line per piece of memory: what it is, its bytes, its slot and lifetime, and the values that
/// live in it; then the copies.
std::string printPlan(const graph::Graph &graph, const BufferPlan &plan);

} // namespace pellucid::passes
