// SPDX-License-Identifier: Apache-2.0
// Takes at constant places that go on by one step: turned lines, borders that mirror or repeat what
// is inside. They are copies of parts.
#include "graph/FakeRules.h"
#include "passes/graph/KernelText.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// The `count` results from `begin` on are what lies at `first`, `first + step`, …
struct Run {
  int64_t begin = 0, count = 0, first = 0, step = 0;
};
struct Take {
  size_t dim = 0;
  std::vector<Run> runs;
};

/// A launch for each copy takes longer than as many elements one by one.
constexpr int64_t elementsOfLaunch = 256;
constexpr size_t mostRuns = 4, mostLaunches = 9;

/// Empty where there are none, or too many.
std::vector<Run> runsOf(const std::vector<int64_t> &places) {
  std::vector<Run> runs;
  for (size_t i = 0; i < places.size();) {
    int64_t step = i + 1 < places.size() ? places[i + 1] - places[i] : 0;
    size_t end = i + 1;
    while (end < places.size() && places[end] - places[end - 1] == step)
      ++end;
    if (runs.size() == mostRuns)
      return {};
    runs.push_back({static_cast<int64_t>(i), static_cast<int64_t>(end - i), places[i], step});
    i = end;
  }
  // What two runs may have goes to the longer one: a mirrored border ends before the first element.
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    Run &run = runs[i], &next = runs[i + 1];
    int64_t last = run.first + (run.count - 1) * run.step;
    if (run.count < 2 || next.count <= run.count || last != next.first - next.step)
      continue;
    --run.count, --next.begin, ++next.count;
    next.first = last;
  }
  return runs;
}

/// `node` and the takes along other dims that only it reads, `nodes`, in order; what the first
/// takes from.
std::vector<Take> takesOf(const LaunchEmitter &emitter, Node &node, std::vector<Node *> &nodes,
                          Value *&source) {
  std::vector<Take> takes;
  for (Node *at = &node; isTake(*at, emitter.registry); at = source->producer()) {
    auto call = callOf(*at, emitter.registry, emitter.program.symbols);
    Value *from = call->value("self");
    Take take;
    take.dim = static_cast<size_t>(call->dim("dim", from->type().rank()));
    bool isAgain = std::any_of(takes.begin(), takes.end(),
                               [&](const Take &other) { return other.dim == take.dim; });
    if (auto places =
            emitter.weights.placesBelow(call->value("index"), from->type().shape[take.dim]);
        places && !isAgain)
      take.runs = runsOf(*places);
    if (take.runs.empty())
      break;
    takes.push_back(std::move(take));
    if (at != &node)
      nodes.insert(nodes.begin(), at);
    source = from;
    if (source->users().size() != 1)
      break;
  }
  return takes;
}

} // namespace

bool lowerRuns(LaunchEmitter &emitter, Node &node) {
  const SymbolTable &symbols = emitter.program.symbols;
  const TensorType type = node.result()->type();
  std::vector<Node *> inner;
  Value *source = nullptr;
  std::vector<Take> takes = takesOf(emitter, node, inner, source);
  size_t launches = 1;
  for (const Take &take : takes)
    launches *= take.runs.size();
  int64_t elements = type.numel().constantOr(INT64_MAX);
  if (takes.empty() || launches > mostLaunches ||
      (launches > 1 && elements < static_cast<int64_t>(launches) * elementsOfLaunch))
    return false;
  emitter.program.main.setInsertionPoint(&node);
  Value *out = emitter.emptyLike(type);
  for (size_t number = 0; number < launches; ++number) {
    PointwiseSpec spec;
    spec.name = emitter.kernelName({&node}, "run");
    spec.shape = type.shape;
    TextOperand from{type.dtype, source->type().strides, 0},
        to = broadcastOperand(type, type.shape, symbols);
    size_t rest = number;
    for (const Take &take : takes) {
      const Run &run = take.runs[rest % take.runs.size()];
      rest /= take.runs.size();
      Expr &stride = from.strides[take.dim];
      from.offset = from.offset + stride * run.first;
      stride = stride * run.step;
      to.offset = to.offset + to.strides[take.dim] * run.begin;
      spec.shape[take.dim] = run.count;
    }
    spec.inputs = {std::move(from)};
    spec.outputs = {std::move(to)};
    spec.results = {"in0"};
    out = emitter.emit(writePointwise(std::move(spec), symbols), {source}, {out, Access::Write},
                       node.location);
  }
  emitter.replace(node, out, inner);
  return true;
}

} // namespace pellucid::passes
