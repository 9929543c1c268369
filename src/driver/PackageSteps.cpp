// SPDX-License-Identifier: Apache-2.0
// What a call of a package does, step by step, and where its bytes lie.
#include "driver/PackageAssembler.h"

#include "graph/HostSteps.h"

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

namespace {

/// The bits of a float argument in the parameter's own type.
uint64_t floatBits(double value, DataType type) {
  if (type == DataType::Float64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (type == DataType::Float32)
    return bits;
  if (type == DataType::BFloat16)
    return (uint64_t(bits) + 0x7fff + ((bits >> 16) & 1)) >> 16 & 0xffff;
  _Float16 half = static_cast<_Float16>(value);
  uint16_t halfBits;
  std::memcpy(&halfBits, &half, sizeof halfBits);
  return halfBits;
}

} // namespace

void Assembler::addProgram() {
  package::Program out;
  out.device = lowered.device;
  Site site{program.main, lowered.plan, 0, {}, {}};
  for (auto [placeholder, index] : inputIndex)
    site.inputs[placeholder] = {package::PlaceKind::Input, index};
  for (auto [placeholder, index] : stateIndex)
    site.inputs[placeholder] = {package::PlaceKind::State, index};
  for (auto [placeholder, index] : weightIndex)
    site.inputs[placeholder] = {package::PlaceKind::Weight, index};
  for (uint32_t i = 0; i < manifest.outputs.size(); ++i)
    site.outputs[i] = {package::PlaceKind::Output, i};
  addGraph(out, site);
  manifest.programs.push_back(std::move(out));
}

void Assembler::addGraph(package::Program &out, Site &site) {
  addBuffers(out, site);
  addSteps(out, site);
}

void Assembler::addBuffers(package::Program &out, Site &site) {
  out.slots = std::max(out.slots, site.endOfSlots());
  for (uint32_t s = 0; s < site.plan.storages.size(); ++s) {
    const Storage &storage = site.plan.storages[s];
    if (storage.kind != Storage::Kind::Buffer || !storage.used)
      continue;
    site.buffers[s] = static_cast<uint32_t>(out.buffers.size());
    package::Buffer buffer;
    buffer.name = "buffer" + std::to_string(out.buffers.size());
    buffer.dtype = DataType::UInt8;
    buffer.shape = {encode(storage.bytes)};
    buffer.bytes = encode(storage.bytes);
    buffer.slot = site.firstSlot + storage.slot;
    out.buffers.push_back(std::move(buffer));
  }
}

/// A view without elements may begin past the end of its memory, as `x[n:, 1:]` does.
Expr Assembler::byteOffsetOf(const TensorType &type, const Storage &storage) const {
  Expr offset = type.offset * static_cast<int64_t>(byteSize(type.dtype));
  bool isFilled = std::all_of(type.shape.begin(), type.shape.end(), [&](const Expr &size) {
    return program.symbols.prove(symbolic::less(0, size)) == true;
  });
  return isFilled || offset.constant() == 0 ? offset : symbolic::min(offset, storage.bytes);
}

Assembler::Address Assembler::addressOf(const Site &site, uint32_t storageId) {
  const Storage &storage = site.plan.storages[storageId];
  switch (storage.kind) {
  case Storage::Kind::Input:
  case Storage::Kind::Weight:
    return site.inputs.at(storage.index);
  case Storage::Kind::Output:
    return site.outputs.at(storage.index);
  case Storage::Kind::Buffer:
    break;
  }
  return {package::PlaceKind::Buffer, site.buffers.at(storageId)};
}

Assembler::Address Assembler::addressOf(const Site &site, uint32_t storage,
                                        const TensorType &type) const {
  return addressOf(site, storage) + byteOffsetOf(type, site.plan.storages[storage]);
}

Assembler::Address Assembler::addressOf(const Site &site, const Value &value) const {
  return addressOf(site, site.plan.storageOf.at(&value), value.type());
}

package::Place Assembler::placeOf(const Address &address) const {
  package::Place place{address.kind, address.index, {}};
  if (address.offset.constant() != 0)
    place.byteOffset = encode(address.offset);
  return place;
}

void Assembler::addCopy(package::Program &out, const Address &from, const Address &to,
                        const Expr &bytes) const {
  out.steps.push_back(package::Copy{placeOf(to), placeOf(from), encode(bytes)});
}

void Assembler::addCopy(package::Program &out, const Site &site,
                        const passes::StorageCopy &copy) const {
  addCopy(out, addressOf(site, copy.from), addressOf(site, copy.to),
          site.plan.storages[copy.to].bytes);
}

void Assembler::addSteps(package::Program &out, Site &site) {
  std::unordered_map<const Node *, std::vector<const passes::StorageCopy *>> copies;
  for (const passes::StorageCopy &copy : site.plan.copies)
    copies[copy.node].push_back(&copy);
  for (const Node &node : site.graph) {
    if (isControlFlow(node)) {
      addControl(out, site, node);
      continue;
    }
    if (isHostStep(node)) {
      addHostStep(out, site, node);
      continue;
    }
    if (!node.isLaunch())
      continue;
    for (const passes::StorageCopy *copy : copies[&node])
      addCopy(out, site, *copy);
    out.steps.push_back(launchStep(site, node));
  }
  for (const passes::StorageCopy *copy : copies[nullptr])
    addCopy(out, site, *copy);
}

/// "model.py:12:9: nonzero"
std::string Assembler::placed(const Node &node, const std::string &text) const {
  const SourceLocation &where = node.location;
  std::string place = where.file ? program.sourceName(where.file->path()) : where.name;
  if (where.file && where.range.line)
    place += ":" + std::to_string(where.range.line) + ":" + std::to_string(where.range.column);
  return place.empty() ? text : place + ": " + text;
}

void Assembler::addHostStep(package::Program &out, const Site &site, const Node &node) const {
  if (node.calls(checkSizesTarget)) {
    SizeCheck check = sizeCheckOf(node);
    out.steps.push_back(package::CheckSizes{encode(check.condition), placed(node, check.text)});
    return;
  }
  SizeRead read = sizeReadOf(node);
  package::ReadSize step;
  step.symbol = static_cast<uint32_t>(
      std::find(symbolOrder.begin(), symbolOrder.end(), read.symbol) - symbolOrder.begin());
  step.from = placeOf(addressOf(site, *read.from));
  if (read.most.constant() != INT64_MAX)
    step.most = encode(read.most);
  step.text = placed(node, read.text);
  out.steps.push_back(std::move(step));
}

package::Launch Assembler::launchStep(const Site &site, const Node &node) const {
  const Launch &launch = *node.launch();
  package::Launch step;
  step.label = node.name();
  for (const LaunchVariant &variant : launch.variants) {
    package::LaunchVariant out;
    if (variant.guard.constant() != 1)
      out.guard = encode(variant.guard);
    out.kernel = kernelIndex.at(variant.kernel);
    for (size_t d = 0; d < 3; ++d)
      if (variant.grid[d].constant() != 1)
        out.grid[d] = encode(variant.grid[d]);
    for (const graph::KernelParameter &parameter : program.kernels[variant.kernel].parameters)
      if (parameter.kind != graph::KernelParameter::Kind::Constant)
        out.arguments.push_back(argumentOf(site, node, parameter));
    step.variants.push_back(std::move(out));
  }
  Expr bytes = 0;
  for (const LaunchOperand &operand : launch.operands)
    if (Value *value = operand.value.value(); value && value->isTensor()) {
      Expr once = value->type().numel() * static_cast<int64_t>(byteSize(value->type().dtype));
      bytes = bytes + (operand.access == Access::ReadWrite ? once * 2 : once);
    }
  step.bytes = encode(bytes);
  if (const auto &library = program.kernels[launch.variants.front().kernel].library;
      library && library->isProduct())
    step.flops = encode(flopsOfProducts(launch));
  return step;
}

/// A multiplication and an addition for each of m x n x k, in every batch.
Expr Assembler::flopsOfProducts(const Launch &launch) {
  Expr flops = launch.variants.front().grid[2] * 2;
  for (const LaunchOperand &operand : launch.operands)
    if (operand.name == "m" || operand.name == "n" || operand.name == "k")
      if (auto size = operand.value.integer())
        flops = flops * *size;
  return flops;
}

package::Argument Assembler::argumentOf(const Site &site, const Node &node,
                                        const graph::KernelParameter &parameter) const {
  const Launch &launch = *node.launch();
  for (uint32_t i = 0; i < launch.operands.size(); ++i) {
    const LaunchOperand &operand = launch.operands[i];
    if (operand.name != parameter.name)
      continue;
    if (Value *value = operand.value.value(); value && value->isTensor()) {
      uint32_t storage = site.plan.operand(node, i, value);
      return package::PointerArgument{placeOf(addressOf(site, storage, value->type()))};
    }
    if (operand.value.isNone())
      return package::ImmediateArgument{0};
    if (parameter.kind == graph::KernelParameter::Kind::Scalar && isFloat(parameter.dtype))
      if (auto number = operand.value.number())
        return package::ImmediateArgument{floatBits(*number, parameter.dtype)};
    if (Value *value = operand.value.value(); value && value->isSymInt())
      return package::ValueArgument{encode(value->expr())};
    if (auto integer = operand.value.integer())
      return package::ValueArgument{encode(*integer)};
    throw DiagnosticError(node.location, "argument '" + operand.name + "' of kernel launch " +
                                             node.name() + " is neither a tensor nor a number");
  }
  throw DiagnosticError(node.location, "kernel launch " + node.name() + " has no argument '" +
                                           parameter.name + "'");
}

} // namespace pellucid::driver
