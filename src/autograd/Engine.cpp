// SPDX-License-Identifier: Apache-2.0
#include "autograd/Engine.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

namespace pellucid::autograd {

namespace h = pellucid::host;

namespace {

class Run {
public:
  Run(h::Interpreter &i, const Request &r) : interpreter(i), request(r), found(r.wanted.size()) {}

  std::vector<h::Value> run() {
    for (const Edge &edge : request.wanted)
      tasks[edge.node.get()].isWanted = true;
    count();
    for (size_t i = 0; i < request.roots.size(); ++i)
      send(request.roots[i], request.gradients[i]);
    for (const Edge &root : request.roots)
      if (root)
        queueWhenReady(root.node);
    while (!ready.empty()) {
      std::shared_ptr<Node> node = ready.top();
      ready.pop();
      visit(*node);
    }
    return std::move(found);
  }

private:
  struct Task {
    size_t awaited = 0; ///< nodes that have yet to send to it
    bool isWanted = false, isNeeded = false, isCounted = false, isQueued = false;
    std::vector<h::Value> gradients;
  };

  /// Accumulation first, so that gradients go as soon as they can; then the latest.
  struct Later {
    static uint64_t rank(const Node &node) {
      return node.accumulates() ? UINT64_MAX : node.sequence;
    }
    bool operator()(const std::shared_ptr<Node> &a, const std::shared_ptr<Node> &b) const {
      return rank(*a) < rank(*b);
    }
  };

  /// How many edges lead to each node, and which nodes lead to a wanted one.
  void count() {
    std::vector<std::pair<Node *, size_t>> path;
    auto enter = [&](Node *node) {
      Task &task = tasks[node];
      if (task.isCounted)
        return;
      task.isCounted = true;
      task.isNeeded = request.wanted.empty();
      path.emplace_back(node, 0);
    };
    for (const Edge &root : request.roots) {
      if (root)
        enter(root.node.get());
      while (!path.empty()) {
        auto [node, index] = path.back();
        if (index < node->next.size()) {
          ++path.back().second;
          if (Node *below = node->next[index].node.get()) {
            ++tasks[below].awaited;
            enter(below);
          }
          continue;
        }
        path.pop_back();
        Task &task = tasks[node];
        for (const Edge &edge : node->next)
          if (edge)
            task.isNeeded |= tasks[edge.node.get()].isNeeded || tasks[edge.node.get()].isWanted;
      }
    }
  }

  void send(const Edge &edge, const h::Value &gradient) {
    if (!edge || gradient.isNone())
      return;
    std::vector<h::Value> &all = tasks[edge.node.get()].gradients;
    all.resize(std::max<size_t>(all.size(), std::max(edge.output + 1, edge.node->outputCount)));
    h::Value &sum = all[edge.output];
    sum = sum.isNone() ? gradient : interpreter.binary(h::BinaryOp::Add, sum, gradient);
  }

  void queueWhenReady(const std::shared_ptr<Node> &node) {
    Task &task = tasks[node.get()];
    if (task.awaited || task.isQueued || !(task.isNeeded || task.isWanted))
      return;
    task.isQueued = true;
    ready.push(node);
  }

  void visit(Node &node) {
    Task &task = tasks[&node];
    std::vector<h::Value> gradients = std::move(task.gradients);
    gradients.resize(std::max<size_t>(gradients.size(), node.outputCount));
    for (uint32_t i = 0; i < gradients.size(); ++i)
      gradients[i] = node.hooked(interpreter, i, std::move(gradients[i]));
    for (const auto &[output, meta] : node.retained)
      if (auto kept = meta.lock(); kept && !gradients[output].isNone())
        kept->grad = kept->grad.isNone()
                         ? gradients[output]
                         : interpreter.binary(h::BinaryOp::Add, kept->grad, gradients[output]);
    for (size_t i = 0; i < request.wanted.size(); ++i)
      if (request.wanted[i].node.get() == &node)
        found[i] = gradients[request.wanted[i].output];
    std::vector<h::Value> results(node.next.size());
    bool any = std::any_of(gradients.begin(), gradients.end(),
                           [](const h::Value &one) { return !one.isNone(); });
    if (task.isNeeded && any)
      results = applied(node, std::move(gradients));
    for (size_t i = 0; i < node.next.size(); ++i) {
      const Edge &edge = node.next[i];
      if (!edge)
        continue;
      Task &below = tasks[edge.node.get()];
      if ((below.isNeeded || below.isWanted) && !results[i].isNone())
        send(edge, edge.node->conform(interpreter, edge.output, results[i], node));
      --below.awaited;
      queueWhenReady(edge.node);
    }
  }

  std::vector<h::Value> applied(Node &node, std::vector<h::Value> gradients) {
    if (!node.before.empty()) {
      h::Value changed = node.before.apply(interpreter, h::Value::tuple(gradients));
      gradients = changed.isSequence() ? changed.elements() : std::vector<h::Value>{changed};
    }
    std::vector<h::Value> results = node.apply(interpreter, gradients);
    results.resize(node.next.size());
    for (const h::Value &hook : node.after.functions()) {
      h::Value changed =
          interpreter.call(hook, {h::Value::tuple(results), h::Value::tuple(gradients)});
      if (!changed.isNone())
        results = changed.isSequence() ? changed.elements() : std::vector<h::Value>{changed};
      results.resize(node.next.size());
    }
    if (request.afterEach)
      request.afterEach(node, results);
    if (!request.keepsGraph)
      node.release();
    return results;
  }

  h::Interpreter &interpreter;
  const Request &request;
  std::vector<h::Value> found;
  std::unordered_map<Node *, Task> tasks;
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, Later> ready;
};

} // namespace

std::vector<h::Value> run(h::Interpreter &interpreter, const Request &request) {
  return Run(interpreter, request).run();
}

} // namespace pellucid::autograd
