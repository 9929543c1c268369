// SPDX-License-Identifier: Apache-2.0
/// What the graph alone says about moving nodes to a launch.
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <vector>

namespace pellucid::fusion {

class Neighbours {
public:
  Neighbours(const graph::Program &p, const graph::OperatorRegistry &r) : program(p), registry(r) {}

  /// True for views of a whole dense tensor in the same linear order.
  bool isReshape(const graph::Node *node) const;
  /// The boundary of an opaque operator.
  bool isBoundary(const graph::Node *node) const;
  bool isView(const graph::Node *node) const;
  /// A tensor of its own without contents.
  bool isFresh(const graph::Value *value) const;
  /// The same, or with contents that nobody needs where a kernel overwrites all of them.
  bool holdsNothing(const graph::Value *value) const;

  bool sharesMemoryWithWritten(const graph::Value *value, const graph::Node &launch) const;

  /// A launch from `from` up to `to` that overwrites memory that `value` lives in: moving a reader
  /// of `value` past it would need a copy of the old contents. Looks at the nearest nodes only.
  const graph::Node *overwriterBetween(const graph::Value *value, const graph::Node *from,
                                       const graph::Node *to) const;

  /// True when computing `value` needs `launch` to have run.
  bool dependsOn(const graph::Value *value, const graph::Node *launch) const;

  /// A part of the graph that everything computed from a value goes through: `nodes` in order, of
  /// which the last has the only result that is seen outside.
  using Region = std::vector<graph::Node *>;
  /// The regions of pointwise nodes of `value`'s shape that use up `value`, largest first. They end
  /// before a node that uses the result of a later launch, which can take that node itself; unless
  /// it is the first.
  std::vector<Region> regionsAfter(const graph::Value *value, const graph::Node *launch) const;

  /// What `node` begins and nothing but each next one reads: pointwise nodes of `value`'s shape,
  /// largest first.
  std::vector<Region> pathsFrom(graph::Node *node, const graph::Value *value,
                                const graph::Node *launch) const;

private:
  const graph::Operator *operatorOf(const graph::Node *node) const {
    return node->isCall() && !node->isLaunch() ? registry.find(node->target()) : nullptr;
  }

  const graph::Program &program;
  const graph::OperatorRegistry &registry;
};

} // namespace pellucid::fusion
