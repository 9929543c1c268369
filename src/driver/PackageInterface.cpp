// SPDX-License-Identifier: Apache-2.0
// Inputs, weights, symbols and outputs of a package.
#include "driver/PackageAssembler.h"

#include "package/Crc32.h"
#include "passes/graph/NumberDraws.h"

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

bool Assembler::isMutated(const std::string &name) const {
  for (const OutputSpec &spec : program.outputs)
    if (spec.kind == OutputSpec::Kind::UserInputMutation && spec.name == name)
      return true;
  return false;
}

void Assembler::addInputs(bool first) {
  uint32_t position = 0, inputs = 0, states = 0;
  for (Node *node : program.main.placeholders()) {
    const InputSpec &spec = program.inputs[position];
    uint32_t index = position++;
    if (!node->resultCount() || !node->result()->isTensor())
      continue;
    const TensorType &type = node->result()->type();
    auto state = lowered.state.find(spec.name);
    if (spec.kind == InputSpec::Kind::UserInput && state != lowered.state.end()) {
      stateIndex[index] = states++;
      if (first)
        manifest.state.push_back(storedWeight(source, state->second, type.dtype).first);
    } else if (spec.kind == InputSpec::Kind::UserInput) {
      inputIndex[index] = inputs++;
      if (!first)
        continue;
      package::Input input;
      input.name = spec.name;
      input.dtype = type.dtype;
      input.shape = encodeAll(type.shape);
      input.contiguous = type.isContiguous(program.symbols);
      if (!input.contiguous)
        input.strides = encodeAll(type.strides);
      input.mutated = isMutated(spec.name);
      input.alignment = spec.alignment;
      if (size_t position = manifest.inputs.size(); position < options.inputAlignment.size())
        input.alignment = std::max(input.alignment, options.inputAlignment[position]);
      manifest.inputs.push_back(std::move(input));
      inputTypes.push_back(type);
    } else {
      weightIndex[index] = addWeight(spec, type);
    }
  }
}

package::Record Assembler::recordOf(const graph::Weight &weight) {
  package::Record record;
  record.made = weight.made;
  record.madeBytes = weight.bytes;
  if (!weight.made)
    record.data = {reinterpret_cast<const uint8_t *>(weight.data.get()), weight.bytes};
  record.owner = weight.data;
  return record;
}

uint32_t Assembler::addWeight(const InputSpec &spec, const TensorType &type) {
  auto [out, isNew] = storedWeight(program, spec.name, type.dtype);
  for (uint32_t known = 0; known < manifest.weights.size() && !isNew; ++known)
    if (manifest.weights[known].name == out.name && manifest.weights[known].record == out.record)
      return known;
  manifest.weights.push_back(std::move(out));
  return static_cast<uint32_t>(manifest.weights.size() - 1);
}

/// With its contents in a record, one for each piece of memory; whether that is a new one.
std::pair<package::Weight, bool> Assembler::storedWeight(const Program &holder,
                                                         const std::string &name, DataType dtype) {
  auto entry = holder.weights.find(name);
  if (entry == holder.weights.end() || (!entry->second.data && !entry->second.made))
    throw DiagnosticError(SourceLocation(name),
                          "the program has no values for this weight; give --weights or --seed");
  const graph::Weight &weight = entry->second;
  package::Weight out;
  out.name = name;
  out.dtype = dtype;
  out.shape = weight.shape;
  out.bytes = weight.bytes;
  package::Record content = recordOf(weight);
  // What is made has no address of its own, and is nobody else's.
  const void *identity = weight.made ? static_cast<const void *>(&weight) : weight.data.get();
  auto [record, isNew] = shared.recordOfWeight.try_emplace(
      {identity, weight.bytes}, "weights/" + std::to_string(shared.recordOfWeight.size()));
  out.record = record->second;
  content.sendTo([&](std::span<const uint8_t> piece) {
    out.crc32 = package::crc32(piece, out.crc32);
    return true;
  });
  if (isNew) {
    content.name = out.record;
    content.crc32 = out.crc32;
    contents.records.push_back(std::move(content));
  }
  return {std::move(out), isNew};
}

void Assembler::addSymbols() {
  for (const std::string &name : symbolOrder) {
    package::Symbol symbol = solved.symbolOf(name, program.symbols);
    if (!bindSymbol(symbol))
      throw DiagnosticError(
          SourceLocation(name),
          "no input has this dynamic dimension as the size of one of its dims, so "
          "a call could not tell its value");
    manifest.symbols.push_back(std::move(symbol));
  }
}

bool Assembler::bindSymbol(package::Symbol &symbol) const {
  if (symbol.name == passes::seedSymbol || symbol.name == passes::offsetSymbol) {
    symbol.source = symbol.name == passes::seedSymbol ? package::SymbolSource::RunSeed
                                                      : package::SymbolSource::RunOffset;
    return true;
  }
  if (read.count(symbol.name)) {
    symbol.source = package::SymbolSource::Step;
    return true;
  }
  Expr wanted = solved.dimOf(symbol.name);
  for (uint32_t i = 0; i < inputTypes.size(); ++i)
    for (uint32_t d = 0; d < inputTypes[i].rank(); ++d)
      if (inputTypes[i].shape[d] == wanted) {
        symbol.input = i;
        symbol.dim = d;
        return true;
      }
  return false;
}

void Assembler::addOutputs() {
  const Node *output = program.main.outputNode();
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const OutputSpec &spec = program.outputs[i];
    if (spec.kind != OutputSpec::Kind::UserOutput)
      continue;
    const Value *value = output->arg(i).value();
    if (!value || !value->isTensor())
      throw DiagnosticError(output->location, "result " + std::to_string(i) +
                                                  " is not a tensor; packages return tensors only");
    package::Output out;
    out.name = value->name();
    out.dtype = value->type().dtype;
    out.shape = encodeAll(value->type().shape);
    manifest.outputs.push_back(std::move(out));
  }
}

} // namespace pellucid::driver
