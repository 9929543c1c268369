// SPDX-License-Identifier: Apache-2.0
#include "autograd/Tape.h"

#include <algorithm>
#include <atomic>

namespace pellucid::autograd {

namespace h = pellucid::host;

static uint64_t nextNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

uint64_t HookList::add(h::Value function) {
  uint64_t number = nextNumber();
  hooks.emplace_back(number, std::move(function));
  return number;
}

void HookList::remove(uint64_t number) {
  std::erase_if(hooks, [&](const auto &hook) { return hook.first == number; });
}

h::Value HookList::apply(h::Interpreter &interpreter, h::Value value) const {
  // A hook may remove itself.
  for (const h::Value &function : functions()) {
    h::Value changed = interpreter.call(function, {value});
    if (!changed.isNone())
      value = changed;
  }
  return value;
}

std::vector<h::Value> HookList::functions() const {
  std::vector<h::Value> list;
  for (const auto &[number, function] : hooks)
    list.push_back(function);
  return list;
}

Node::Node() : sequence(nextNumber()) {}

/// A chain of nodes is as long as the program that made it: they go one after the other, not one
/// inside of the other.
Node::~Node() {
  thread_local std::vector<std::shared_ptr<Node>> *dropping = nullptr;
  if (dropping) {
    for (Edge &edge : next)
      dropping->push_back(std::move(edge.node));
    return;
  }
  std::vector<std::shared_ptr<Node>> left;
  for (Edge &edge : next)
    left.push_back(std::move(edge.node));
  dropping = &left;
  while (!left.empty()) {
    std::shared_ptr<Node> one = std::move(left.back());
    left.pop_back();
    one.reset();
  }
  dropping = nullptr;
}

HookList &Node::hooksOf(uint32_t output) {
  if (outputHooks.size() <= output)
    outputHooks.resize(output + 1);
  if (!outputHooks[output])
    outputHooks[output] = std::make_shared<HookList>();
  return *outputHooks[output];
}

h::Value Node::hooked(h::Interpreter &interpreter, uint32_t output, h::Value gradient) const {
  if (output < outputHooks.size() && outputHooks[output] && !gradient.isNone())
    return outputHooks[output]->apply(interpreter, std::move(gradient));
  return gradient;
}

} // namespace pellucid::autograd
