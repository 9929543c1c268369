// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LaunchEmitter.h"

#include "passes/graph/LowerToLaunches.h"
#include "support/Diagnostics.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

static constexpr const char *emptyTarget = "aten.empty_strided.default";

void LaunchEmitter::refuse(const Node &node, const std::string &why) {
  throw DiagnosticError(node.location,
                        "operator '" + node.target() + "' (node " + node.name() + ") " + why);
}

std::string LaunchEmitter::kernelName(const std::vector<Node *> &nodes, const std::string &kind) {
  std::string name = kind;
  size_t used = 0;
  for (const Node *node : nodes)
    if (used++ < 4)
      name += "_" + std::string(Graph::nameFor(node->target()));
  return name;
}

Value *LaunchEmitter::emptyLike(const TensorType &type) {
  TensorType fresh = type;
  fresh.offset = 0;
  KeywordArguments keywords{{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}};
  return program.main
      .call(emptyTarget, {Argument::list(type.shape), Argument::list(type.strides)}, keywords,
            {fresh}, "empty")
      ->result();
}

Node *LaunchEmitter::emit(KernelText text, const std::vector<Value *> &inputs,
                          const std::vector<Target> &outputs, const SourceLocation &where) {
  std::vector<TextVariant> variants;
  variants.push_back({std::move(text), 1});
  return emit(std::move(variants), inputs, outputs, where);
}

/// Pointers to memory made for this launch or those before it, which gets a place of its own.
static std::vector<size_t> separateTargets(const std::vector<Value *> &inputs,
                                           const std::vector<LaunchEmitter::Target> &outputs,
                                           const OperatorRegistry &registry) {
  std::vector<const Value *> roots;
  for (const Value *input : inputs)
    roots.push_back(aliasRoot(input, registry));
  for (const LaunchEmitter::Target &output : outputs)
    roots.push_back(aliasRoot(output.value, registry));
  std::vector<size_t> separate;
  for (size_t i = inputs.size(); i < roots.size(); ++i)
    if (roots[i]->producer()->calls(emptyTarget) &&
        std::count(roots.begin(), roots.end(), roots[i]) == 1)
      separate.push_back(i);
  return separate;
}

Node *LaunchEmitter::emit(std::vector<TextVariant> variants, const std::vector<Value *> &inputs,
                          const std::vector<Target> &outputs, const SourceLocation &where) {
  std::vector<DataType> pointers;
  std::vector<Access> accesses;
  std::vector<Argument> values;
  auto add = [&](Value *value, Access access) {
    pointers.push_back(value->type().dtype);
    accesses.push_back(access);
    values.push_back(Argument(value));
  };
  for (Value *value : inputs)
    add(value, Access::Read);
  for (const Target &output : outputs)
    add(output.value, output.access);
  std::vector<size_t> separate = separateTargets(inputs, outputs, registry);
  Launch launch;
  for (auto &[text, guard] : variants) {
    text.separate = separate;
    LaunchVariant variant;
    variant.guard = guard;
    variant.kernel = kernelFor(text, pointers, accesses);
    variant.grid[0] = text.grid;
    variant.numWarps = text.numWarps;
    variant.numStages = text.numStages;
    variant.origin = text.origin;
    launch.variants.push_back(std::move(variant));
  }
  const KernelDef &def = program.kernels[launch.variants.front().kernel];
  const std::vector<Expr> &scalars = variants.front().text.scalars;
  for (size_t i = 0; i < values.size(); ++i)
    launch.operands.push_back({def.parameters[i].name, values[i], accesses[i], false});
  for (size_t i = 0; i < scalars.size(); ++i)
    launch.operands.push_back(
        {def.parameters[pointers.size() + i].name, Argument(scalars[i]), Access::None, false});
  program.main.setLocation(where);
  return program.main.launch(std::move(launch), variants.front().text.name);
}

/// Kernels with the same source, pointees, accesses and options are one.
uint32_t LaunchEmitter::kernelFor(KernelText &text, const std::vector<DataType> &pointers,
                                  const std::vector<Access> &accesses) {
  std::string key = std::to_string(text.numWarps) + " " + std::to_string(text.numStages) +
                    text.source.substr(text.source.find('('));
  for (DataType type : pointers)
    key += static_cast<char>('A' + static_cast<int>(type));
  // The same text may keep what it does not write, or may take it for empty.
  for (Access access : accesses)
    key += static_cast<char>('0' + static_cast<int>(access));
  for (size_t pointer : text.separate)
    key += "," + std::to_string(pointer);
  for (const SourceLocation &where : text.assertions)
    key += "|" + (where.file ? where.file->path() : where.name) + ":" +
           std::to_string(where.range.line) + ":" + std::to_string(where.range.column);
  if (auto known = kernels.find(key); known != kernels.end())
    return known->second;
  std::string unique = names.unique(text.name);
  text.source.replace(text.source.find(text.name + "("), text.name.size(), unique);
  text.name = unique;
  program.kernels.push_back(compile(text, pointers, accesses));
  return kernels[key] = static_cast<uint32_t>(program.kernels.size() - 1);
}

void LaunchEmitter::replace(Node &node, Value *value, const std::vector<Node *> &producers) {
  program.main.replaceAllUses(node.result(), value);
  erase(node);
  for (size_t i = producers.size(); i-- > 0;)
    if (producers[i] != &node)
      erase(*producers[i]);
}
void LaunchEmitter::erase(Node &node) {
  gone.insert(&node);
  program.main.erase(&node);
}

void LaunchEmitter::replaceAll(Node &node, const Node &launch) {
  std::vector<Value *> values;
  for (size_t r = 0; r < node.resultCount(); ++r)
    values.push_back(launch.result(r));
  replaceAll(node, values);
}

void LaunchEmitter::replaceAll(Node &node, const std::vector<Value *> &values) {
  for (size_t r = 0; r < node.resultCount(); ++r)
    program.main.replaceAllUses(node.result(r), values[r]);
  erase(node);
}

} // namespace pellucid::passes
