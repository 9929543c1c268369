// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LowerScans.h"

#include "graph/ControlFlow.h"
#include "passes/graph/KernelWriter.h"
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// One tensor of the kernel: its strides within a slice, and from one turn to the next.
struct ScanOperand {
  TextOperand slice;
  Expr step = 0; ///< 0: every turn has the same
};

class ScanLowering {
public:
  ScanLowering(LaunchEmitter &e, Node &n, bool c)
      : emitter(e), node(n), forCpu(c), symbols(e.program.symbols),
        region(e.program.bodies[n.regions[0]].graph), flow(controlFlowOf(n)),
        isAssociative(flow.kind == ControlKind::AssociativeScan) {}

  bool run() {
    for (const Argument &result : region.outputNode()->args())
      results.push_back(result.value());
    if (results.empty() || !takeShape() || !takeBody())
      return false;
    emit();
    return true;
  }

private:
  size_t carries() const { return isAssociative ? results.size() : flow.carried.size(); }

  /// Everything that the body makes has one shape; smaller operands are broadcast.
  bool takeShape() {
    shape = results[0]->type().shape;
    for (const Value *result : results)
      if (!sameShape(result->type().shape) || result->type().dtype == DataType::Bool)
        return false;
    return true;
  }
  bool sameShape(const std::vector<Expr> &other) const {
    return std::equal(shape.begin(), shape.end(), other.begin(), other.end(),
                      [&](const Expr &a, const Expr &b) { return symbols.proveEqual(a, b); });
  }
  bool broadcasts(const TensorType &type) const {
    if (type.rank() > shape.size())
      return false;
    size_t missing = shape.size() - type.rank();
    for (size_t d = 0; d < type.rank(); ++d)
      if (!symbols.proveEqual(type.shape[d], 1) &&
          !symbols.proveEqual(type.shape[d], shape[missing + d]))
        return false;
    return true;
  }

  bool takeBody() {
    group.divisionFails = forCpu;
    for (const Node &inner : region) {
      if (inner.isPlaceholder() || inner.isOutput())
        continue;
      if (!isPointwise(inner, emitter.registry) || !broadcasts(inner.result()->type()))
        return false;
      addToGroup(group, inner, emitter.registry, symbols);
    }
    // Results that are operands as they are; what counts elements counts those of the slice.
    for (Value *result : results)
      if (!group.names.count(result))
        return false;
    constexpr size_t mostStatements = 200;
    if (group.usesIndex || group.hasChecks || group.body.size() > mostStatements)
      return false;
    std::vector<Node *> formal = region.placeholders();
    for (Value *input : group.inputs) {
      auto found = std::find(formal.begin(), formal.end(), input->producer());
      if (found == formal.end() || !broadcasts(input->type()) ||
          input->type().dtype == DataType::Bool)
        return false;
      positions.push_back(static_cast<size_t>(found - formal.begin()));
    }
    return true;
  }

  // --- operands, by the place of a placeholder

  bool isCarried(size_t position) const { return position < carries(); }
  bool isSlice(size_t position) const {
    return position >= carries() && position < carries() + flow.scanned.size();
  }
  Value *outer(size_t position) const {
    if (isSlice(position))
      return flow.scanned[position - carries()];
    if (!isCarried(position))
      return flow.additional[position - carries() - flow.scanned.size()];
    return isAssociative ? flow.scanned[position] : flow.carried[position];
  }
  ScanOperand operandOf(const TensorType &type, bool isStacked) const {
    if (!isStacked)
      return {broadcastOperand(type, shape, symbols), 0};
    return {broadcastOperand(sliceOf(type), shape, symbols), type.strides[0]};
  }

  std::string addressOf(KernelWriter &writer, const ScanOperand &operand,
                        const std::vector<std::string> &indices, const std::string &turn) {
    std::string text = writer.address(operand.slice, indices);
    if (operand.step.constant() != 0)
      text += " + " + turn + " * " + writer.scalar(operand.step);
    // An address for each element of the tile.
    return operand.slice.strides.back().constant() == 0 ? text + " + col * 0" : text;
  }

  void emit() {
    // The operands of the kernel: what carries begin with, the other inputs, then the results.
    std::vector<Value *> tensors;
    std::vector<ScanOperand> operands;
    auto add = [&](Value *value, const ScanOperand &operand) {
      tensors.push_back(value);
      operands.push_back(operand);
    };
    for (size_t i = 0; i < carries(); ++i)
      add(outer(i), operandOf(outer(i)->type(), isAssociative));
    for (size_t i = 0; i < group.inputs.size(); ++i)
      if (!isCarried(positions[i]))
        add(outer(positions[i]), operandOf(outer(positions[i])->type(), isSlice(positions[i])));
    size_t inputs = tensors.size();
    emitter.program.main.setInsertionPoint(&node);
    emitter.program.main.setLocation(node.location);
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorType &type = node.result(i)->type();
      add(emitter.emptyLike(type), operandOf(type, isAssociative || i >= carries()));
    }
    KernelText text = write(operands, inputs);
    std::vector<LaunchEmitter::Target> targets;
    for (size_t i = inputs; i < tensors.size(); ++i)
      targets.push_back({tensors[i], Access::Write});
    tensors.resize(inputs);
    Node *launch = emitter.emit(std::move(text), tensors, targets, node.location);
    emitter.replaceAll(node, *launch);
  }

  KernelText write(std::vector<ScanOperand> operands, size_t inputs) {
    std::vector<TextOperand *> slices;
    for (ScanOperand &operand : operands)
      slices.push_back(&operand.slice);
    collapse(shape, 0, shape.size(), slices);
    if (shape.empty()) {
      shape.push_back(1);
      for (TextOperand *slice : slices)
        slice->strides.push_back(0);
    }
    KernelWriter writer(LaunchEmitter::kernelName({&node}, "scan"));
    for (size_t i = 0; i < operands.size(); ++i)
      writer.pointer((i < inputs ? "p" : "o") + std::to_string(i < inputs ? i : i - inputs));
    size_t last = shape.size() - 1;
    int64_t block = chooseBlock(shape[last], symbols, forCpu ? 256 : 128);
    Expr chunks = symbolic::ceilDiv(shape[last], block);
    std::string size = writer.scalar(shape[last]), count = writer.scalar(chunks),
                turns = writer.scalar(flow.scanned[0]->type().shape[0]);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    writer.line("row = pid // " + count);
    writer.line("col = (pid % " + count + ") * BLOCK + tl.arange(0, BLOCK)");
    // Without slices there is no first one.
    writer.line("mask = col < " + size + (isAssociative ? " * tl.minimum(" + turns + ", 1)" : ""));
    std::vector<std::string> indices = writer.delinearize("row", shape, last, "idx");
    indices.push_back("col");
    auto load = [&](size_t i, const std::string &turn) {
      return "tl.load(p" + std::to_string(i) + " + (" +
             addressOf(writer, operands[i], indices, turn) + "), mask=mask, other=0)";
    };
    auto store = [&](size_t result, const std::string &value, const std::string &turn) {
      writer.line(storeText("o" + std::to_string(result),
                            addressOf(writer, operands[inputs + result], indices, turn), value,
                            operands[inputs + result].slice.dtype, "mask"));
    };
    std::string first = flow.reverse ? "(" + turns + " - 1)" : "0";
    for (size_t i = 0; i < carries(); ++i) {
      writer.line("c" + std::to_string(i) + " = " + load(i, first));
      if (isAssociative)
        store(i, "c" + std::to_string(i), first);
    }
    // What is the same in every turn.
    std::vector<std::pair<size_t, size_t>> slicesOf; // input of the body, operand
    size_t next = carries();
    for (size_t i = 0; i < group.inputs.size(); ++i) {
      if (isCarried(positions[i]))
        continue;
      size_t operand = next++;
      if (isSlice(positions[i]))
        slicesOf.emplace_back(i, operand);
      else
        writer.line("in" + std::to_string(i) + " = " + load(operand, "0"));
    }
    writer.open("for turn in range(" + std::string(isAssociative ? "1" : "0") + ", " + turns +
                "):");
    writer.line(flow.reverse ? "at = " + turns + " - 1 - turn" : "at = tl.cast(turn, tl.int64)");
    for (size_t i = 0; i < group.inputs.size(); ++i)
      if (isCarried(positions[i]))
        writer.line("in" + std::to_string(i) + " = c" + std::to_string(positions[i]));
    for (auto [input, operand] : slicesOf)
      writer.line("in" + std::to_string(input) + " = " + load(operand, "at"));
    writer.body(group.scalars, group.body);
    for (size_t i = 0; i < results.size(); ++i) {
      std::string value = "tl.broadcast_to(" + group.names.at(results[i]) + ", [BLOCK])";
      if (isAssociative || i >= carries())
        store(i, value, "at");
      if (i < carries())
        writer.line("next" + std::to_string(i) + " = " + value);
    }
    for (size_t i = 0; i < carries(); ++i)
      writer.line("c" + std::to_string(i) + " = next" + std::to_string(i));
    writer.close();
    for (size_t i = 0; i < carries() && !isAssociative; ++i)
      store(i, "c" + std::to_string(i), "0");
    return writer.finish(chunks * product(shape, 0, last), block);
  }

  LaunchEmitter &emitter;
  Node &node;
  bool forCpu;
  const SymbolTable &symbols;
  Graph &region;
  ControlFlow flow;
  bool isAssociative;
  std::vector<Value *> results; ///< of the region
  std::vector<Expr> shape;
  PointwiseGroup group;
  std::vector<size_t> positions; ///< by input of the group: the placeholder that it is
};

} // namespace

void lowerScans(Program &program, const OperatorRegistry &registry, const CompileText &compile,
                bool forCpu) {
  LaunchEmitter emitter(program, registry, compile);
  std::vector<Node *> scans;
  for (Node &node : program.main)
    if (isControlFlow(node) && node.regions.size() == 1)
      scans.push_back(&node);
  for (Node *node : scans)
    ScanLowering(emitter, *node, forCpu).run();
  program.main.setInsertionPoint(nullptr);
}

} // namespace pellucid::passes
