// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/PlanBuffers.h"

#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

namespace pellucid::passes {

using namespace graph;

uint32_t BufferPlan::operand(const Node &launch, uint32_t index, const Value *value) const {
  if (auto moved = operandStorage.find(&launch); moved != operandStorage.end())
    if (auto entry = moved->second.find(index); entry != moved->second.end())
      return entry->second;
  return storageOf.at(value);
}

namespace {

class Planner {
public:
  Planner(const Program &p, const ClassifyNode &c, const LoopMemory &l)
      : program(p), classify(c), loops(l), read(readSymbols(p)) {}

  BufferPlan plan() {
    number();
    for (Node &node : program.main)
      place(node);
    assignOutputs();
    finishMutations();
    markLifetimes();
    assignSlots();
    return std::move(result);
  }

private:
  void number() {
    uint32_t next = 0;
    for (Node &node : program.main)
      position[&node] = next++;
    // A mutated input may be written in place: its final contents are what the caller wants there.
    for (size_t i = 0; i < program.outputs.size(); ++i)
      if (program.outputs[i].kind == OutputSpec::Kind::UserInputMutation)
        mutableInputs[program.outputs[i].name] = i;
  }

  uint32_t add(Storage::Kind kind, uint32_t index, Expr bytes) {
    Storage storage;
    storage.kind = kind;
    storage.index = index;
    storage.bytes = std::move(bytes);
    result.storages.push_back(std::move(storage));
    members.emplace_back();
    return static_cast<uint32_t>(result.storages.size() - 1);
  }
  void bind(const Value *value, uint32_t storage) {
    result.storageOf[value] = storage;
    members[storage].push_back(value);
  }
  Expr bytesOf(const TensorType &type) const {
    return type.storageElements(program.symbols) * static_cast<int64_t>(byteSize(type.dtype));
  }

  void place(Node &node) {
    if (node.isOutput())
      return;
    if (node.isPlaceholder()) {
      placePlaceholder(node);
      return;
    }
    switch (classify(node)) {
    case NodeMemory::Alias:
      placeAlias(node);
      break;
    case NodeMemory::Fresh:
      for (size_t i = 0; i < node.resultCount(); ++i)
        if (node.result(i)->isTensor())
          bind(node.result(i), add(Storage::Kind::Buffer, 0, bytesOf(node.result(i)->type())));
      break;
    case NodeMemory::Launch:
      placeLaunch(node);
      break;
    case NodeMemory::Control:
      placeControl(node);
      break;
    case NodeMemory::Host:
      break;
    }
  }

  void placeControl(Node &node) {
    ControlFlow flow = controlFlowOf(node);
    for (size_t i = 0; i < node.resultCount(); ++i) {
      bool begins = i < flow.carried.size() && beginsInPlace(node, flow, i);
      bind(node.result(i), begins ? result.storageOf.at(flow.carried[i])
                                  : add(Storage::Kind::Buffer, 0, bytesOf(node.result(i)->type())));
    }
    ControlMemory &memory = result.controls[&node];
    for (size_t i = 0; i < flow.carried.size(); ++i) {
      uint32_t home = result.storageOf.at(node.result(i));
      memory.others.push_back(staysInPlace(node, i)
                                  ? home
                                  : add(Storage::Kind::Buffer, 0, bytesOf(node.result(i)->type())));
    }
    if (flow.kind == ControlKind::WhileLoop)
      memory.condition = add(Storage::Kind::Buffer, 0, 1);
  }

  /// The body's plan leaves the result where the placeholder lies.
  bool staysInPlace(const Node &node, size_t carry) const {
    auto body = loops.regions.find(node.regions.back());
    return body != loops.regions.end() && body->second.inPlace.count(static_cast<uint32_t>(carry));
  }

  /// The loop's result may lie where its first value does: nobody needs that later, and no other
  /// operand is in that memory. The memory of a caller or of an instance changes when a call ends
  /// well, and not in its loops.
  bool beginsInPlace(const Node &node, const ControlFlow &flow, size_t carry) const {
    const Value *first = flow.carried[carry];
    uint32_t home = result.storageOf.at(first);
    const Storage &storage = result.storages[home];
    bool isOurs = storage.kind == Storage::Kind::Buffer || (home < carried.size() && carried[home]);
    if (!isOurs || !(storage.bytes == bytesOf(node.result(carry)->type())) ||
        first->type() != node.result(carry)->type() || !oldContentsDead(home, node))
      return false;
    size_t uses = 0;
    for (const Value *operand : flow.operands())
      uses += result.storageOf.at(operand) == home;
    return uses == 1;
  }

  void placePlaceholder(Node &node) {
    uint32_t index = placeholders++;
    if (!node.resultCount() || !node.result()->isTensor())
      return;
    const InputSpec &spec = program.inputs[index];
    bool user = spec.kind == InputSpec::Kind::UserInput;
    uint32_t storage = add(user ? Storage::Kind::Input : Storage::Kind::Weight, index,
                           bytesOf(node.result()->type()));
    writable.resize(result.storages.size(), false);
    carried.resize(result.storages.size(), false);
    carried[storage] = loops.carried.count(node.result());
    writable[storage] = carried[storage] || (user && mutableInputs.count(spec.name));
    bind(node.result(), storage);
  }

  void placeAlias(Node &node) {
    Value *base = nullptr;
    node.forEachOperand([&](Value *value) {
      if (!base && value->isTensor())
        base = value;
    });
    assert(base && "a view has a tensor operand");
    for (size_t i = 0; i < node.resultCount(); ++i)
      if (node.result(i)->isTensor())
        bind(node.result(i), result.storageOf.at(base));
  }

  uint32_t lastUse(const Value *value) const {
    uint32_t last = 0;
    for (const Node *user : value->users())
      last = std::max(last, position.at(user));
    return last;
  }

  /// True when nothing after `launch` reads what `storage` held before it.
  bool oldContentsDead(uint32_t storage, const Node &launch) const {
    for (const Value *value : members[storage])
      if (value->producer() != &launch && lastUse(value) > position.at(&launch))
        return false;
    return true;
  }

  bool isWritable(uint32_t storage) const {
    return result.storages[storage].kind == Storage::Kind::Buffer ||
           (storage < writable.size() && writable[storage]);
  }

  bool holdsNothingYet(const Value *value) const {
    const Node *producer = value->producer();
    return producer->isCall() && !producer->isLaunch() && classify(*producer) == NodeMemory::Fresh;
  }

  void placeLaunch(Node &node) {
    const Launch &launch = *node.launch();
    // Written operands that share memory move together, so that the kernel sees the aliasing the
    // user wrote.
    std::map<uint32_t, uint32_t> moved;
    for (size_t r = 0; r < node.resultCount(); ++r) {
      Value *old = launch.operands[launch.resultOperands[r]].value.value();
      uint32_t storage = result.storageOf.at(old);
      if (auto entry = moved.find(storage); entry != moved.end()) {
        bind(node.result(r), entry->second);
        continue;
      }
      if (isWritable(storage) && oldContentsDead(storage, node)) {
        bind(node.result(r), storage);
        continue;
      }
      uint32_t copy = add(Storage::Kind::Buffer, 0, result.storages[storage].bytes);
      if (!holdsNothingYet(old))
        result.copies.push_back({&node, storage, copy});
      moved[storage] = copy;
      bind(node.result(r), copy);
    }
    if (moved.empty())
      return;
    auto &overrides = result.operandStorage[&node];
    for (uint32_t i = 0; i < launch.operands.size(); ++i)
      if (Value *value = launch.operands[i].value.value(); value && value->isTensor())
        if (auto entry = moved.find(result.storageOf.at(value)); entry != moved.end())
          overrides[i] = entry->second;
  }

  const Value *outputValue(size_t index) const {
    return program.main.outputNode()->arg(index).value();
  }

  /// A mutated input whose final contents ended up elsewhere is copied back at the end.
  void finishMutations() {
    std::map<std::string, const Value *> inputs;
    uint32_t index = 0;
    for (Node *node : program.main.placeholders()) {
      const InputSpec &spec = program.inputs[index++];
      if (spec.kind == InputSpec::Kind::UserInput && node->resultCount())
        inputs[spec.name] = node->result();
    }
    for (auto &[name, output] : mutableInputs) {
      const Value *last = outputValue(output);
      uint32_t target = result.storageOf.at(inputs.at(name));
      if (last && result.storageOf.at(last) != target)
        result.copies.push_back({nullptr, result.storageOf.at(last), target});
    }
  }

  /// Results live in the caller's memory from the start.
  void assignOutputs() {
    uint32_t next = 0;
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      if (program.outputs[i].kind != OutputSpec::Kind::UserOutput)
        continue;
      uint32_t index = next++;
      const Value *value = outputValue(i);
      if (!value || !value->isTensor())
        continue;
      uint32_t home = result.storageOf.at(value);
      if (home < carried.size() && carried[home] && result.storages[home].index == index) {
        result.inPlace.insert(index);
        continue;
      }
      if (result.storages[home].kind != Storage::Kind::Buffer) {
        // What was fused after graph-own-outputs may live in an input or in another result.
        uint32_t copy = add(Storage::Kind::Output, index, bytesOf(value->type()));
        result.copies.push_back({nullptr, home, copy});
        continue;
      }
      result.storages[home].kind = Storage::Kind::Output;
      result.storages[home].index = index;
    }
  }

  void touch(uint32_t storage, uint32_t at) {
    Storage &s = result.storages[storage];
    if (!s.used)
      s.first = at;
    s.used = true;
    s.first = std::min(s.first, at);
    s.last = std::max(s.last, at);
  }

  /// All of it at once: a turn may read any operand while it writes any result.
  void touchControl(const Node &node, const ControlMemory &memory, uint32_t at) {
    node.forEachOperand([&](const Value *value) {
      if (value->isTensor())
        touch(result.storageOf.at(value), at);
    });
    for (size_t r = 0; r < node.resultCount(); ++r)
      touch(result.storageOf.at(node.result(r)), at);
    for (uint32_t other : memory.others)
      touch(other, at);
    if (memory.condition)
      touch(*memory.condition, at);
  }

  void markLifetimes() {
    for (Node &node : program.main) {
      uint32_t at = position.at(&node);
      if (auto memory = result.controls.find(&node); memory != result.controls.end())
        touchControl(node, memory->second, at);
      if (node.calls(readSizeTarget))
        touch(result.storageOf.at(sizeReadOf(node).from), at);
      if (!node.isLaunch())
        continue;
      const Launch &launch = *node.launch();
      for (uint32_t i = 0; i < launch.operands.size(); ++i)
        if (Value *value = launch.operands[i].value.value(); value && value->isTensor())
          touch(result.operand(node, i, value), at);
      for (size_t r = 0; r < node.resultCount(); ++r)
        touch(result.storageOf.at(node.result(r)), at);
    }
    uint32_t end = static_cast<uint32_t>(position.size());
    for (const StorageCopy &copy : result.copies) {
      uint32_t at = copy.node ? position.at(copy.node) : end;
      touch(copy.from, at);
      touch(copy.to, at);
    }
  }

  /// Memory is taken when its size is known: buffers whose sizes depend on other values that the
  /// program reads share nothing.
  void assignSlots() {
    std::map<std::vector<std::string>, std::vector<uint32_t>> groups;
    for (uint32_t i = 0; i < result.storages.size(); ++i)
      if (result.storages[i].kind == Storage::Kind::Buffer && result.storages[i].used) {
        std::vector<std::string> symbols;
        if (!read.empty())
          for (const std::string &name : result.storages[i].bytes.symbols())
            if (read.count(name))
              symbols.push_back(name);
        groups[std::move(symbols)].push_back(i);
      }
    for (auto &[symbols, buffers] : groups)
      assignSlots(std::move(buffers));
  }

  /// Buffers by first use take a free slot: one that held a buffer of the same size if there is
  /// one, else the one that was freed last, else a new one.
  void assignSlots(std::vector<uint32_t> order) {
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return result.storages[a].first < result.storages[b].first;
    });
    std::multimap<uint32_t, uint32_t> busy; // last use -> storage
    std::unordered_map<Expr, std::vector<uint32_t>> freeBySize;
    std::vector<uint32_t> freed;
    std::vector<bool> isFree(result.slotBytes.size());
    std::vector<Expr> lastSize(result.slotBytes.size());
    for (uint32_t id : order) {
      Storage &storage = result.storages[id];
      while (!busy.empty() && busy.begin()->first < storage.first) {
        uint32_t slot = result.storages[busy.begin()->second].slot;
        freeBySize[lastSize[slot]].push_back(slot);
        freed.push_back(slot);
        isFree[slot] = true;
        busy.erase(busy.begin());
      }
      storage.slot = takeSlot(storage.bytes, freeBySize[storage.bytes], freed, isFree, lastSize);
      busy.emplace(storage.last, id);
    }
  }

  uint32_t takeSlot(const Expr &bytes, std::vector<uint32_t> &sameSize,
                    std::vector<uint32_t> &freed, std::vector<bool> &isFree,
                    std::vector<Expr> &lastSize) {
    auto takeFrom = [&](std::vector<uint32_t> &list, uint32_t &slot) {
      while (!list.empty()) {
        slot = list.back();
        list.pop_back();
        if (isFree[slot])
          return true;
      }
      return false;
    };
    uint32_t slot = 0;
    if (takeFrom(sameSize, slot) || takeFrom(freed, slot)) {
      isFree[slot] = false;
      if (!(lastSize[slot] == bytes))
        result.slotBytes[slot] = symbolic::max(result.slotBytes[slot], bytes);
      lastSize[slot] = bytes;
      return slot;
    }
    result.slotBytes.push_back(bytes);
    lastSize.push_back(bytes);
    isFree.push_back(false);
    return static_cast<uint32_t>(result.slotBytes.size() - 1);
  }

  const Program &program;
  const ClassifyNode &classify;
  const LoopMemory &loops;
  std::set<std::string> read; ///< symbols that the program reads
  BufferPlan result;
  std::unordered_map<const Node *, uint32_t> position;
  std::vector<std::vector<const Value *>> members;
  std::map<std::string, size_t> mutableInputs;
  std::vector<bool> writable, carried; ///< by storage, of placeholders
  uint32_t placeholders = 0;
};

/// As `inspect` names them: buffers by the order of those that are used.
std::vector<std::string> storageNames(const BufferPlan &plan) {
  std::vector<std::string> names;
  uint32_t buffers = 0;
  for (const Storage &storage : plan.storages)
    switch (storage.kind) {
    case Storage::Kind::Input:
      names.push_back("input" + std::to_string(storage.index));
      break;
    case Storage::Kind::Weight:
      names.push_back("weight" + std::to_string(storage.index));
      break;
    case Storage::Kind::Output:
      names.push_back("output" + std::to_string(storage.index));
      break;
    case Storage::Kind::Buffer:
      names.push_back(storage.used ? "buffer" + std::to_string(buffers++) : "");
      break;
    }
  return names;
}

} // namespace

BufferPlan planBuffers(const Program &program, const ClassifyNode &classify,
                       const LoopMemory &loops) {
  return Planner(program, classify, loops).plan();
}

std::string printPlan(const Graph &graph, const BufferPlan &plan) {
  std::vector<std::string> names = storageNames(plan), values(plan.storages.size());
  for (const Node &node : graph)
    for (size_t r = 0; r < node.resultCount(); ++r)
      if (auto place = plan.storageOf.find(node.result(r)); place != plan.storageOf.end())
        values[place->second] += " " + node.result(r)->name();
  std::string out;
  for (size_t id = 0; id < plan.storages.size(); ++id) {
    const Storage &storage = plan.storages[id];
    if (names[id].empty())
      continue;
    out += names[id] + ": " + storage.bytes.text() + " bytes";
    if (storage.kind == Storage::Kind::Buffer)
      out += ", slot " + std::to_string(storage.slot);
    if (storage.used)
      out += ", nodes " + std::to_string(storage.first) + " to " + std::to_string(storage.last);
    out += ", holds" + values[id] + "\n";
  }
  for (const StorageCopy &copy : plan.copies)
    out += "copy " + names[copy.from] + " to " + names[copy.to] +
           (copy.node ? " before " + copy.node->name() : std::string(" at the end")) + "\n";
  return out;
}

} // namespace pellucid::passes
