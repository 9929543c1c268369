// SPDX-License-Identifier: Apache-2.0
// Branches and loops among the steps of a package.
#include "driver/PackageAssembler.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace pellucid::driver {

using namespace graph;
using package::Bytecode;
using passes::Storage;

void Assembler::addControl(package::Program &out, const Site &site, const Node &node) {
  // Copies of one region at many places would otherwise multiply without end.
  if (out.steps.size() > mostSteps)
    throw DiagnosticError(node.location,
                          "the steps of a call come to more than " + std::to_string(mostSteps));
  ControlFlow flow = controlFlowOf(node);
  switch (flow.kind) {
  case ControlKind::Cond:
    return addBranch(out, site, node, flow);
  case ControlKind::WhileLoop:
    return addWhile(out, site, node, flow);
  case ControlKind::Scan:
  case ControlKind::AssociativeScan:
    return addScan(out, site, node, flow);
  }
}

/// The steps of a region with these operands and results; how many they are.
uint32_t Assembler::addRegion(package::Program &out, const Site &outer, uint32_t region,
                              const std::vector<Address> &operands,
                              const std::vector<Address> &results) {
  // A slot gets its memory once: where sizes are read, regions share none.
  uint32_t firstSlot = read.empty() ? outer.endOfSlots() : out.slots;
  Site site{program.bodies[region].graph, lowered.regions.at(region), firstSlot, {}, {}};
  for (uint32_t i = 0; i < operands.size(); ++i)
    site.inputs[i] = operands[i];
  for (uint32_t i = 0; i < results.size(); ++i)
    site.outputs[i] = results[i];
  size_t before = out.steps.size();
  addGraph(out, site);
  return static_cast<uint32_t>(out.steps.size() - before);
}

/// The memory that operands lie in: where in it, their types in the region say.
std::vector<Assembler::Address> Assembler::memoryOf(const Site &site,
                                                    const std::vector<Value *> &values) {
  std::vector<Address> addresses;
  for (const Value *value : values)
    addresses.push_back(addressOf(site, site.plan.storageOf.at(value)));
  return addresses;
}

std::vector<Assembler::Address> Assembler::resultsOf(const Site &site, const Node &node) const {
  std::vector<Address> addresses;
  for (size_t i = 0; i < node.resultCount(); ++i)
    addresses.push_back(addressOf(site, *node.result(i)));
  return addresses;
}

Expr Assembler::bytesOf(const TensorType &type) {
  return type.numel() * static_cast<int64_t>(byteSize(type.dtype));
}

void Assembler::addBranch(package::Program &out, const Site &site, const Node &node,
                          const ControlFlow &flow) {
  package::Branch branch;
  branch.label = node.name();
  if (Value *predicate = flow.predicate.value(); predicate && predicate->isTensor())
    branch.predicate = placeOf(addressOf(site, *predicate));
  else
    branch.condition = encode(*flow.predicate.integer());
  size_t at = out.steps.size();
  out.steps.emplace_back();
  std::vector<Address> operands = memoryOf(site, flow.additional), results = resultsOf(site, node);
  branch.whenTrue = addRegion(out, site, node.regions[0], operands, results);
  branch.whenFalse = addRegion(out, site, node.regions[1], operands, results);
  out.steps[at] = std::move(branch);
}

/// The first value of everything carried, and the two windows that turns read and write: the
/// same memory where the body changes it in place.
void Assembler::addCarries(package::Program &out, const Site &site, const Node &node,
                           const ControlFlow &flow, Windows &windows, std::vector<Address> &reads,
                           std::vector<Address> &writes) const {
  const passes::ControlMemory &memory = site.plan.controls.at(&node);
  for (size_t i = 0; i < flow.carried.size(); ++i) {
    Address first = addressOf(site, *node.result(i)), second = addressOf(site, memory.others[i]);
    Expr bytes = bytesOf(node.result(i)->type());
    if (site.plan.storageOf.at(flow.carried[i]) != site.plan.storageOf.at(node.result(i)))
      addCopy(out, addressOf(site, *flow.carried[i]), first, bytes);
    windows.loop.carries.push_back({placeOf(first), placeOf(second), encode(bytes)});
    reads.push_back(windows.make());
    writes.push_back(windows.make());
  }
}

void Assembler::addWhile(package::Program &out, const Site &site, const Node &node,
                         const ControlFlow &flow) {
  package::Loop loop;
  loop.label = node.name();
  Address condition = addressOf(site, *site.plan.controls.at(&node).condition);
  loop.predicate = placeOf(condition);
  Windows windows{loop, claimWindows(2 * flow.carried.size())};
  std::vector<Address> reads, writes;
  addCarries(out, site, node, flow, windows, reads, writes);
  for (const Address &operand : memoryOf(site, flow.additional))
    reads.push_back(operand);
  size_t at = out.steps.size();
  out.steps.emplace_back();
  loop.conditionSteps = addRegion(out, site, node.regions[0], reads, {condition});
  loop.bodySteps = addRegion(out, site, node.regions[1], reads, writes);
  out.steps[at] = std::move(loop);
}

/// A window on the slice that a turn begins with, `ahead` of it by so many slices.
Assembler::Address Assembler::addSlice(Windows &windows, const Address &whole,
                                       const TensorType &type, bool reverse, int64_t ahead) const {
  TensorType slice = sliceOf(type);
  Expr step = type.strides[0] * static_cast<int64_t>(byteSize(type.dtype));
  Address first = whole + step * (reverse ? type.shape[0] - 1 : Expr(ahead));
  windows.loop.slices.push_back(
      {placeOf(first), encode(reverse ? step * -1 : step), encode(bytesOf(slice))});
  return windows.make();
}

void Assembler::addScan(package::Program &out, const Site &site, const Node &node,
                        const ControlFlow &flow) {
  bool associative = flow.kind == ControlKind::AssociativeScan;
  package::Loop loop;
  loop.label = node.name();
  loop.turns = encode(turnsOf(flow));
  size_t stacked = node.resultCount() - flow.carried.size();
  Windows windows{loop, claimWindows(2 * flow.carried.size() + flow.scanned.size() +
                                     (associative ? 2 : 1) * stacked)};
  std::vector<Address> reads, writes;
  addCarries(out, site, node, flow, windows, reads, writes);
  std::vector<Address> wholes = resultsOf(site, node);
  for (size_t i = 0; i < stacked && associative; ++i) {
    const TensorType &type = node.result(i)->type();
    // The first slice is what it is; an empty scan has none.
    addCopy(out, addressOf(site, *flow.scanned[i]), wholes[i],
            bytesOf(sliceOf(type)) * symbolic::min(type.shape[0], 1));
    reads.push_back(addSlice(windows, wholes[i], type, false, 0));
  }
  for (const Value *value : flow.scanned)
    reads.push_back(
        addSlice(windows, addressOf(site, *value), value->type(), flow.reverse, associative));
  for (size_t i = flow.carried.size(); i < node.resultCount(); ++i)
    writes.push_back(
        addSlice(windows, wholes[i], node.result(i)->type(), flow.reverse, associative));
  for (const Address &operand : memoryOf(site, flow.additional))
    reads.push_back(operand);
  size_t at = out.steps.size();
  out.steps.emplace_back();
  loop.bodySteps = addRegion(out, site, node.regions[0], reads, writes);
  out.steps[at] = std::move(loop);
}

/// The numbers of a loop's windows: its own before those of the loops inside.
uint32_t Assembler::claimWindows(size_t count) {
  uint32_t first = nextWindow;
  nextWindow += static_cast<uint32_t>(count);
  return first;
}

} // namespace pellucid::driver
