// SPDX-License-Identifier: Apache-2.0
// Operators of a script that fail by the values of their operands: what they ask is checked, and
// what does not depend on one that failed is computed all the same.
#include "host/Interpreter.h"
#include "trace/EagerRecorder.h"
#include "trace/OperandErrors.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;

using Bytes = std::shared_ptr<const std::byte>;

//===-- what is asked of values ---------------------------------------------------------------===//

/// A tensor's values where they lie in memory and nothing has to be computed for them.
std::optional<ConcreteTensor> EagerRecorder::knownOnHost(TracedTensor &tensor) {
  noteLook();
  TracedStorage &storage = *tensor.storage;
  if (tensor.type.dtype != storage.type.dtype || !isOnHost(placeOf(storage.device)))
    return std::nullopt;
  auto input = inputOf.find(storage.base);
  bool isAsItBegan = !storage.base || input != inputOf.end();
  if (!storage.memory && isAsItBegan && storage.initializer.kind != Initializer::Kind::None) {
    storage.memory = made(storage.initializer, storage.type);
    if (input != inputOf.end() && !inputs[input->second].memory)
      inputs[input->second].memory = storage.memory;
  }
  if (!storage.memory || !isOnHost(storage.memory->device))
    return std::nullopt;
  ConcreteTensor values;
  values.dtype = tensor.type.dtype;
  for (const Expr &size : tensor.type.shape)
    values.shape.push_back(size.constant().value());
  for (const Expr &stride : tensor.type.strides)
    values.strides.push_back(stride.constant().value());
  auto offset = static_cast<size_t>(tensor.type.offset.constant().value());
  values.data = {storage.memory->data,
                 storage.memory->data.get() + offset * byteSize(values.dtype)};
  return values;
}

static std::optional<int64_t> firstFailing(const ValueCheck &check, const ConcreteTensor &values) {
  Bytes dense = values.dense();
  size_t element = byteSize(values.dtype);
  for (int64_t i = 0, count = values.numel(); i < count; ++i) {
    int64_t value = integerAt(values.dtype, dense.get() + static_cast<size_t>(i) * element);
    if (!check.admits(value))
      return value;
  }
  return std::nullopt;
}

void EagerRecorder::check(ValueCheck check, TracedTensor &operand) {
  // A device reports what fails on it when it is asked for values, as PyTorch's does.
  if (nested || flushing || tracer.current != &tracer.program.main ||
      !isOnHost(segmentPlace.value_or(Device())))
    return;
  noteLook();
  if (auto values = knownOnHost(operand)) {
    if (auto element = firstFailing(check, *values))
      raiseFailedCheck(check, *element);
    return;
  }
  if (operand.type.numel().constantOr(0) == 0)
    return;
  checks.push_back(std::move(check));
  // Nothing that follows may be done where the script handles the exception.
  if (const host::Interpreter *interpreter = host::Interpreter::active();
      interpreter && interpreter->isTrying())
    flush();
}

/// So much that there may be none. Asked often: nodes are looked at once.
bool EagerRecorder::needsMuchMemory() {
  constexpr int64_t much = int64_t(1) << 30;
  const Node *last = tracer.program.main.back();
  for (const Node *node = last; node && node != lastMeasured; node = node->previous())
    for (size_t i = 0; i < node->resultCount() && measuredBytes < much; ++i)
      if (const Value *value = node->result(i); !node->isPlaceholder() && value->isTensor())
        measuredBytes += value->type().numel().constantOr(0) * byteSize(value->type().dtype);
  lastMeasured = last;
  return measuredBytes >= much;
}

void EagerRecorder::settle() {
  if (!flushing && !nested && (asserts || !checks.empty() || needsMuchMemory()))
    flush();
}

/// The values by which it is seen whether the check fails: the smallest and the largest, or
/// whether any is zero.
std::vector<Value *> EagerRecorder::emitCheck(const ValueCheck &check) {
  Graph &main = tracer.program.main;
  auto emit = [&](const char *packet, std::vector<Argument> args) {
    return emitCall(main, tracer.registry, tracer.symbols(), packet, std::move(args), {},
                    check.where)
        ->result();
  };
  Value *value = const_cast<Value *>(check.value);
  if (check.isNonzero)
    return {emit("aten.any.default", {emit("aten.eq.Scalar", {value, int64_t(0)})})};
  if (check.except)
    value = emit("aten.masked_fill.Scalar",
                 {value, emit("aten.eq.Scalar", {value, *check.except}), check.low});
  return {emit("aten.amin.default", {value}), emit("aten.amax.default", {value})};
}

std::optional<int64_t> EagerRecorder::failingElement(const ValueCheck &check,
                                                     std::span<const Bytes> found) {
  if (check.isNonzero)
    return integerAt(DataType::Bool, found[0].get()) ? std::optional<int64_t>(0) : std::nullopt;
  for (const Bytes &element : found) {
    int64_t value = integerAt(check.value->type().dtype, element.get());
    if (!check.admits(value))
      return value;
  }
  return std::nullopt;
}

/// Checks that nothing makes which is computed anyway: of operators whose results nobody uses, and
/// of those that do not fail by themselves. Each with the values that tell.
std::vector<std::pair<ValueCheck, std::vector<Value *>>>
EagerRecorder::askedBesides(const std::vector<Argument> &results) {
  std::vector<std::pair<ValueCheck, std::vector<Value *>>> out;
  if (checks.empty())
    return out;
  std::set<const Node *> used;
  for (const Argument &result : results)
    used.insert(result.value()->producer());
  for (const Node *node = tracer.program.main.back(); node; node = node->previous())
    if (used.count(node) || (node->isLaunch() && hasEffects(*node, tracer.program)))
      node->forEachOperand([&](const Value *value) { used.insert(value->producer()); });
  for (const ValueCheck &check : checks)
    if (!check.node || !used.count(check.node))
      out.emplace_back(check, emitCheck(check));
  return out;
}

//===-- a segment that failed -----------------------------------------------------------------===//

namespace {

/// The nodes that depend on one of `failed`, itself included.
std::set<const Node *> dependents(const Graph &graph, const std::set<const Node *> &failed) {
  std::set<const Node *> out = failed;
  for (const Node &node : graph)
    node.forEachOperand([&](const Value *value) {
      if (out.count(value->producer()))
        out.insert(&node);
    });
  return out;
}

void eraseOutput(Graph &graph) {
  if (Node *output = graph.outputNode())
    graph.erase(output);
}

} // namespace

/// Values of the segment, by a program that computes nothing else.
std::vector<Bytes> EagerRecorder::computeAlone(const std::vector<const Value *> &values) {
  Program program = tracer.program.clone();
  std::vector<Argument> results;
  for (const Value *value : values)
    results.emplace_back(program.main.findValue(value->name()));
  program.main.output(std::move(results));
  program.main.eraseUnused([](const Node &) { return true; });
  std::vector<ConcreteTensor> all = operands(segmentPlace.value_or(Device())), given;
  program.inputs.clear();
  program.outputs.assign(values.size(), {OutputSpec::Kind::UserOutput, ""});
  for (size_t i = 0; i < inputs.size(); ++i) {
    Node *placeholder = program.main.find(inputs[i].value->name());
    if (placeholder->result()->isUnused()) {
      program.main.erase(placeholder);
      continue;
    }
    InputSpec spec;
    spec.name = placeholder->name();
    program.inputs.push_back(spec);
    given.push_back(all[i]);
  }
  return compile(program, segmentPlace.value_or(Device()))(given);
}

/// The checks whose values do not depend on what failed are looked at, and again for those that
/// depend on operators which then are known to succeed.
std::vector<EagerRecorder::FailedCheck> EagerRecorder::failedChecks() {
  std::vector<FailedCheck> out;
  std::set<const Node *> failed;
  std::vector<ValueCheck> open = checks;
  while (!open.empty()) {
    std::set<const Node *> unsure = failed;
    for (const ValueCheck &check : open)
      if (check.node)
        unsure.insert(check.node);
    std::set<const Node *> reached = dependents(tracer.program.main, unsure);
    auto later = std::stable_partition(open.begin(), open.end(), [&](const ValueCheck &check) {
      return !reached.count(check.value->producer());
    });
    if (later == open.begin())
      break;
    std::vector<ValueCheck> ready(open.begin(), later);
    open.erase(open.begin(), later);
    std::vector<const Value *> asked;
    for (const ValueCheck &check : ready)
      for (Value *value : emitCheck(check))
        asked.push_back(value);
    std::vector<Bytes> found = computeAlone(asked);
    size_t next = 0;
    for (const ValueCheck &check : ready) {
      size_t count = check.isNonzero ? 1 : 2;
      if (auto element = failingElement(check, std::span(found).subspan(next, count))) {
        out.push_back({check, *element});
        failed.insert(check.node);
      }
      next += count;
    }
  }
  return out;
}

/// All at once, or one by one where that fails too.
void EagerRecorder::computeRest(std::vector<Output *> rest) {
  // Each is a compilation.
  constexpr size_t mostAlone = 64;
  Device place = segmentPlace.value_or(Device());
  auto keep = [&](std::vector<Output *> some) {
    std::vector<const Value *> values;
    for (const Output *output : some)
      values.push_back(inMemoryOrder(output->value));
    std::vector<Bytes> made = computeAlone(values);
    for (size_t i = 0; i < some.size(); ++i)
      keepMade(*some[i], std::move(made[i]), place);
  };
  if (rest.empty())
    return;
  try {
    keep(rest);
    return;
  } catch (const DiagnosticError &) {
  }
  if (rest.size() > 1 && rest.size() <= mostAlone)
    for (Output *output : rest)
      try {
        keep({output});
      } catch (const DiagnosticError &) { // it stays without values
      }
}

/// Computes the outputs that do not depend on what failed. Gives what is to be raised.
std::exception_ptr EagerRecorder::recover(std::vector<Output> &outputs, const FailedRun &run) {
  eraseOutput(tracer.program.main);
  std::vector<FailedCheck> failed;
  try {
    failed = failedChecks();
  } catch (const DiagnosticError &) { // the failure's own words are left
  }
  std::set<const Node *> nodes;
  for (const FailedCheck &one : failed)
    if (one.check.node)
      nodes.insert(one.check.node);
  if (nodes.empty() && run.node)
    nodes.insert(run.node);
  std::set<const Node *> lost = dependents(tracer.program.main, nodes);
  std::vector<Output *> rest;
  for (Output &output : outputs)
    if (!begun.count(output.value) && !lost.count(output.value->producer()))
      rest.push_back(&output);
  computeRest(std::move(rest));
  for (const Input &input : inputs)
    begun[input.value] = input;
  keepBegun(outputs);
  try {
    if (failed.empty())
      raiseFailure(run.failure, run.node);
    const FailedCheck *first = &failed.front();
    for (const FailedCheck &one : failed)
      if (one.check.node && first->check.node && one.check.node->isBefore(first->check.node))
        first = &one;
    raiseFailedCheck(first->check, first->element);
  } catch (const DiagnosticError &) {
    return std::current_exception();
  }
}

} // namespace pellucid::trace
