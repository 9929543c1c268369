// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LaunchEmitter.h"

#include "support/Diagnostics.h"

namespace pellucid::passes {

using namespace graph;

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
      .call("aten.empty_strided.default",
            {Argument::list(type.shape), Argument::list(type.strides)}, keywords, {fresh}, "empty")
      ->result();
}

Node *LaunchEmitter::emit(KernelText text, const std::vector<Value *> &inputs,
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
  uint32_t kernel = kernelFor(text, pointers, accesses);
  const KernelDef &def = program.kernels[kernel];
  Launch launch;
  LaunchVariant variant;
  variant.kernel = kernel;
  variant.grid[0] = text.grid;
  variant.numWarps = text.numWarps;
  launch.variants.push_back(std::move(variant));
  for (size_t i = 0; i < values.size(); ++i)
    launch.operands.push_back({def.parameters[i].name, values[i], accesses[i], false});
  for (size_t i = 0; i < text.scalars.size(); ++i)
    launch.operands.push_back(
        {def.parameters[pointers.size() + i].name, Argument(text.scalars[i]), Access::None, false});
  program.main.setLocation(where);
  return program.main.launch(std::move(launch), text.name);
}

/// Kernels with the same source and pointees are one.
uint32_t LaunchEmitter::kernelFor(KernelText &text, const std::vector<DataType> &pointers,
                                  const std::vector<Access> &accesses) {
  std::string key = text.source.substr(text.source.find('('));
  for (DataType type : pointers)
    key += static_cast<char>('A' + static_cast<int>(type));
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
  for (size_t r = 0; r < node.resultCount(); ++r)
    program.main.replaceAllUses(node.result(r), launch.result(r));
  erase(node);
}

} // namespace pellucid::passes
