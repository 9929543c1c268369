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
    if (isAssociative && !flow.reverse && hasMoreTurnsThan(chunkTurns))
      emitInChunks();
    else
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

  // --- associative scans in chunks
  //
  // A line of programs each goes through a chunk of so many slices; what the chunks come to is
  // scanned in the same way, and what came before a chunk is combined with all of it. The depth of
  // n slices is 2 * chunkTurns * log(n) / log(chunkTurns). One chunk has the bits of a scan turn by
  // turn, so that they do not depend on whether the number of slices is known.

  static constexpr int64_t chunkTurns = 256;

  bool hasMoreTurnsThan(int64_t count) const {
    return symbols.prove(symbolic::lessEqual(flow.scanned[0]->type().shape[0], count)) != true;
  }

  void emitInChunks() {
    emitter.program.main.setInsertionPoint(&node);
    emitter.program.main.setLocation(node.location);
    std::vector<Value *> scanned = scan(flow.scanned);
    for (size_t i = 0; i < scanned.size(); ++i)
      emitter.program.main.replaceAllUses(node.result(i), scanned[i]);
    emitter.program.main.erase(&node);
  }

  /// The scan of these tensors of slices.
  std::vector<Value *> scan(const std::vector<Value *> &given) {
    Expr turns = given[0]->type().shape[0], chunks = symbolic::ceilDiv(turns, chunkTurns);
    bool isOne = symbols.prove(symbolic::lessEqual(turns, chunkTurns)) == true;
    std::vector<Value *> local, sums;
    for (size_t i = 0; i < results.size(); ++i) {
      local.push_back(emitter.emptyLike(denseStack(i, turns)));
      if (!isOne)
        sums.push_back(emitter.emptyLike(denseStack(i, chunks)));
    }
    launchChunks(given, turns, chunks, local, sums);
    if (isOne)
      return local;
    launchJoins(scan(sums), turns, local);
    return local;
  }
  TensorType denseStack(size_t result, const Expr &count) const {
    const TensorType &slice = results[result]->type();
    return stackOf(TensorType(slice.dtype, shape, slice.device), count);
  }

  /// Operands of a kernel over chunks, or over turns, and the elements of a slice: `lead` is how
  /// far apart two of the first dim lie.
  TextOperand leading(TextOperand slice, Expr lead) const {
    slice.strides.insert(slice.strides.begin(), std::move(lead));
    return slice;
  }
  /// The index of the first dim, as an address.
  TextOperand position() const {
    TextOperand operand;
    operand.strides.assign(shape.size() + 1, 0);
    operand.strides[0] = 1;
    return operand;
  }
  /// What the body reads beside the two that it combines: the same in every turn.
  std::vector<size_t> extras() const {
    std::vector<size_t> found;
    for (size_t i = 0; i < group.inputs.size(); ++i)
      if (positions[i] >= 2 * results.size())
        found.push_back(i);
    return found;
  }

  /// One launch of a kernel over `lead` times the elements of a slice.
  struct Lines {
    std::vector<Value *> inputs;
    std::vector<LaunchEmitter::Target> targets;
    std::vector<TextOperand> operands; ///< inputs, targets, the position

    void add(Value *value, TextOperand operand) {
      inputs.push_back(value);
      operands.push_back(std::move(operand));
    }
    void addTarget(Value *value, Access access, TextOperand operand) {
      targets.push_back({value, access});
      operands.push_back(std::move(operand));
    }
  };
  struct Places {
    std::vector<std::string> indices;
    std::string position;
    Expr grid;
    int64_t block = 0;
  };
  Places begin(KernelWriter &writer, Lines &lines, const Expr &lead) {
    lines.operands.push_back(position());
    std::vector<Expr> whole = shape;
    whole.insert(whole.begin(), lead);
    collapse(whole, 0, whole.size(), pointersTo(lines.operands));
    if (whole.empty()) {
      whole.push_back(1);
      for (TextOperand &operand : lines.operands)
        operand.strides.push_back(0);
    }
    for (size_t i = 0; i < lines.inputs.size(); ++i)
      writer.pointer("p" + std::to_string(i));
    for (size_t i = 0; i < lines.targets.size(); ++i)
      writer.pointer("o" + std::to_string(i));
    size_t last = whole.size() - 1;
    Places places;
    places.block = chooseBlock(whole[last], symbols, forCpu ? 256 : 128);
    Expr parts = symbolic::ceilDiv(whole[last], places.block);
    std::string count = writer.scalar(parts);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    writer.line("row = pid // " + count);
    writer.line("col = (pid % " + count + ") * BLOCK + tl.arange(0, BLOCK)");
    writer.line("mask = col < " + writer.scalar(whole[last]));
    places.indices = writer.delinearize("row", whole, last, "idx");
    places.indices.push_back("col");
    places.grid = parts * product(whole, 0, last);
    writer.line("place = " + writer.address(lines.operands.back(), places.indices) + " + col * 0");
    return places;
  }
  std::string loadAt(KernelWriter &writer, const Lines &lines, const Places &places, size_t operand,
                     const std::string &more, const std::string &mask) {
    return "tl.load(p" + std::to_string(operand) + " + (" +
           writer.address(lines.operands[operand], places.indices) + " + col * 0" + more +
           "), mask=" + mask + ", other=0)";
  }
  void storeAt(KernelWriter &writer, const Lines &lines, const Places &places, size_t target,
               const std::string &value, const std::string &more, const std::string &mask) {
    const TextOperand &operand = lines.operands[lines.inputs.size() + target];
    writer.line(storeText("o" + std::to_string(target),
                          writer.address(operand, places.indices) + " + col * 0" + more, value,
                          operand.dtype, mask));
  }
  /// `next0`, …: `first` combined with `second`, names of tiles by result.
  void combine(KernelWriter &writer, const std::string &first, const std::string &second) {
    size_t count = results.size();
    for (size_t i = 0; i < group.inputs.size(); ++i)
      if (positions[i] < 2 * count)
        writer.line("in" + std::to_string(i) + " = " +
                    (positions[i] < count ? first + std::to_string(positions[i])
                                          : second + std::to_string(positions[i] - count)));
    writer.body(group.scalars, group.body);
    for (size_t i = 0; i < count; ++i)
      writer.line("next" + std::to_string(i) + " = tl.broadcast_to(" + group.names.at(results[i]) +
                  ", [BLOCK])");
  }
  void loadExtras(KernelWriter &writer, const Lines &lines, const Places &places, size_t from) {
    for (size_t input : extras())
      writer.line("in" + std::to_string(input) + " = " +
                  loadAt(writer, lines, places, from++, "", "mask"));
  }
  void addExtras(Lines &lines) {
    for (size_t input : extras())
      lines.add(outer(positions[input]),
                leading(broadcastOperand(outer(positions[input])->type(), shape, symbols), 0));
  }

  /// Scans each chunk of `given` into `local`, and says what it comes to in `sums` (none: of one
  /// chunk nobody asks).
  void launchChunks(const std::vector<Value *> &given, const Expr &turns, const Expr &chunks,
                    std::vector<Value *> &local, std::vector<Value *> &sums) {
    Lines lines;
    auto operand = [&](const Value *value, int64_t count) {
      const TensorType &type = value->type();
      return leading(broadcastOperand(sliceOf(type), shape, symbols), type.strides[0] * count);
    };
    for (Value *value : given)
      lines.add(value, operand(value, chunkTurns));
    addExtras(lines);
    for (Value *value : local)
      lines.addTarget(value, Access::Write, operand(value, chunkTurns));
    for (Value *value : sums)
      lines.addTarget(value, Access::Write, operand(value, 1));
    KernelWriter writer(LaunchEmitter::kernelName({&node}, "scan"));
    Places places = begin(writer, lines, chunks);
    size_t count = results.size();
    std::string each = std::to_string(chunkTurns), total = writer.scalar(turns);
    auto step = [&](const Value *value) {
      return " + turn * " + writer.scalar(value->type().strides[0]);
    };
    loadExtras(writer, lines, places, count);
    for (size_t i = 0; i < count; ++i) {
      writer.line("c" + std::to_string(i) + " = " + loadAt(writer, lines, places, i, "", "mask"));
      storeAt(writer, lines, places, i, "c" + std::to_string(i), "", "mask");
    }
    writer.open("for turn in range(1, " + each + "):");
    writer.line("there = mask & (place * " + each + " + turn < " + total + ")");
    for (size_t i = 0; i < count; ++i)
      writer.line("x" + std::to_string(i) + " = " +
                  loadAt(writer, lines, places, i, step(given[i]), "there"));
    combine(writer, "c", "x");
    for (size_t i = 0; i < count; ++i) {
      std::string own = std::to_string(i);
      storeAt(writer, lines, places, i, "next" + own, step(local[i]), "there");
      writer.line("c" + own + " = tl.where(there, next" + own + ".to(c" + own + ".dtype), c" + own +
                  ")");
    }
    writer.close();
    for (size_t i = 0; i < sums.size(); ++i)
      storeAt(writer, lines, places, count + i, "c" + std::to_string(i), "", "mask");
    take(writer.finish(places.grid, places.block), lines, {&local, &sums});
  }

  /// Combines what came before a chunk with each slice of it.
  void launchJoins(const std::vector<Value *> &before, const Expr &turns,
                   std::vector<Value *> &local) {
    Lines lines;
    auto operand = [&](const Value *value, int64_t count) {
      const TensorType &type = value->type();
      return leading(broadcastOperand(sliceOf(type), shape, symbols), type.strides[0] * count);
    };
    for (Value *value : before)
      lines.add(value, operand(value, 0));
    addExtras(lines);
    for (Value *value : local)
      lines.addTarget(value, Access::ReadWrite, operand(value, 1));
    KernelWriter writer(LaunchEmitter::kernelName({&node}, "scan_join"));
    Places places = begin(writer, lines, turns);
    size_t count = results.size();
    writer.line("chunk = place // " + std::to_string(chunkTurns));
    writer.line("there = mask & (chunk > 0)");
    loadExtras(writer, lines, places, count);
    for (size_t i = 0; i < count; ++i) {
      std::string own = std::to_string(i);
      writer.line("b" + own + " = " +
                  loadAt(writer, lines, places, i,
                         " + (chunk - 1) * " + writer.scalar(before[i]->type().strides[0]),
                         "there"));
      writer.line("x" + own + " = tl.load(o" + own + " + (" +
                  writer.address(lines.operands[lines.inputs.size() + i], places.indices) +
                  " + col * 0), mask=there, other=0)");
    }
    combine(writer, "b", "x");
    for (size_t i = 0; i < count; ++i)
      storeAt(writer, lines, places, i, "next" + std::to_string(i), "", "there");
    take(writer.finish(places.grid, places.block), lines, {&local});
  }

  /// Emits the launch; its results take the place of what it wrote.
  void take(KernelText text, const Lines &lines,
            const std::vector<std::vector<Value *> *> &written) {
    Node *launch = emitter.emit(std::move(text), lines.inputs, lines.targets, node.location);
    size_t next = 0;
    for (std::vector<Value *> *values : written)
      for (Value *&value : *values)
        value = launch->result(next++);
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
