// SPDX-License-Identifier: Apache-2.0
#include "graph/Program.h"

#include <algorithm>

namespace pellucid::graph {

Program Program::clone() const {
  Program copy;
  copy.version = version;
  copy.strict = strict;
  copy.symbols = symbols;
  copy.main = main.clone();
  copy.inputs = inputs;
  copy.outputs = outputs;
  for (const Body &body : bodies)
    copy.bodies.push_back({body.operatorName, body.graph.clone()});
  copy.operators = operators;
  copy.kernels = kernels;
  copy.weights = weights;
  copy.sourceNames = sourceNames;
  return copy;
}

const OperatorDefinition *Program::findOperator(std::string_view name) const {
  for (const OperatorDefinition &definition : operators)
    if (definition.name == name)
      return &definition;
  return nullptr;
}

const std::string &Program::sourceName(const std::string &path) const {
  auto entry = sourceNames.find(path);
  return entry == sourceNames.end() ? path : entry->second;
}

std::string Program::uniqueSymbol(std::string_view name) const {
  auto taken = [&](const std::string &candidate) {
    for (const KernelDef &kernel : kernels)
      if (kernel.symbol == candidate)
        return true;
    return false;
  };
  std::string candidate(name);
  for (int suffix = 1; taken(candidate); ++suffix)
    candidate = std::string(name) + "_" + std::to_string(suffix);
  return candidate;
}

static void verifyReferences(const Graph &graph, const Program &program, const std::string &where,
                             std::vector<std::string> &problems) {
  for (const std::string &problem : graph.verify())
    problems.push_back(where + problem);
  for (const Node &node : graph) {
    if (node.body && *node.body >= program.bodies.size())
      problems.push_back(where + "node '" + node.name() + "' has body " +
                         std::to_string(*node.body) + " of " +
                         std::to_string(program.bodies.size()));
    for (uint32_t region : node.regions)
      if (region >= program.bodies.size())
        problems.push_back(where + "node '" + node.name() + "' has region " +
                           std::to_string(region) + " of " + std::to_string(program.bodies.size()));
    if (!node.isLaunch())
      continue;
    for (const LaunchVariant &variant : node.launch()->variants)
      if (variant.kernel >= program.kernels.size())
        problems.push_back(where + "node '" + node.name() + "' launches kernel " +
                           std::to_string(variant.kernel) + " of " +
                           std::to_string(program.kernels.size()));
  }
}

std::vector<std::string> Program::verify() const {
  std::vector<std::string> problems;
  verifyReferences(main, *this, "", problems);
  for (const Body &body : bodies)
    verifyReferences(body.graph, *this, "in " + body.operatorName + ": ", problems);
  size_t placeholders = main.placeholders().size();
  if (inputs.size() != placeholders)
    problems.push_back("there are " + std::to_string(inputs.size()) + " input specs for " +
                       std::to_string(placeholders) + " placeholders");
  size_t results = main.outputNode() ? main.outputNode()->args().size() : 0;
  if (outputs.size() != results)
    problems.push_back("there are " + std::to_string(outputs.size()) + " output specs for " +
                       std::to_string(results) + " outputs");
  for (const InputSpec &input : inputs)
    if ((input.kind == InputSpec::Kind::Parameter || input.kind == InputSpec::Kind::Buffer ||
         input.kind == InputSpec::Kind::ConstantTensor) &&
        !weights.count(input.name))
      problems.push_back("there is no weight '" + input.name + "'");
  return problems;
}

bool hasEffects(const Node &launch, const Program &program) {
  const std::vector<LaunchVariant> &variants = launch.launch()->variants;
  return std::any_of(variants.begin(), variants.end(), [&](const LaunchVariant &variant) {
    const KernelDef &kernel = program.kernels[variant.kernel];
    return kernel.prints || kernel.asserts || kernel.usesAddresses;
  });
}

KernelNames::KernelNames(const Program &program) {
  for (const KernelDef &kernel : program.kernels)
    taken.insert(kernel.symbol);
}

std::string KernelNames::unique(const std::string &name) {
  std::string candidate = name;
  for (uint32_t &suffix = nextSuffix[name]; !taken.insert(candidate).second;)
    candidate = name + "_" + std::to_string(++suffix);
  return candidate;
}

} // namespace pellucid::graph
