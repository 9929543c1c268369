// SPDX-License-Identifier: Apache-2.0
// Results that a call gives away have memory of their own.
#include "graph/FakeRules.h"
#include "passes/graph/LowerToLaunches.h"

#include <algorithm>
#include <map>
#include <set>

namespace pellucid::passes {

using namespace graph;

const Value *aliasRoot(const Value *value, const OperatorRegistry &registry) {
  for (;;) {
    const Node *node = value->producer();
    if (!node->isCall())
      return value;
    const Value *next = nullptr;
    if (const Launch *launch = node->launch()) {
      next = launch->operands[launch->resultOperands[value->resultIndex()]].value.value();
    } else {
      // A strided scatter becomes a launch that writes into its operand.
      const Operator *op = registry.find(node->target());
      if (!op || (op->kind != Operator::Kind::View && op->schema.name != "as_strided_scatter"))
        return value;
      next = node->arg(0).value();
    }
    value = next;
  }
}

/// The new contents of mutated inputs in the inputs' own strides, so that they can live there.
static void layOutMutations(Program &program, const OperatorRegistry &registry,
                            std::vector<Argument> &results) {
  std::map<std::string, Value *> inputs;
  size_t index = 0;
  for (Node *node : program.main.placeholders())
    if (const InputSpec &spec = program.inputs[index++];
        spec.kind == InputSpec::Kind::UserInput && node->resultCount())
      inputs[spec.name] = node->result();
  for (size_t i = 0; i < results.size(); ++i) {
    Value *value = results[i].value();
    if (!value || program.outputs[i].kind != OutputSpec::Kind::UserInputMutation)
      continue;
    Value *input = inputs.at(program.outputs[i].name);
    const TensorType &type = input->type();
    // Another placeholder's memory may be written before it is copied from.
    const Value *root = aliasRoot(value, registry);
    bool apart = root == input || !root->producer()->isPlaceholder();
    if (apart && value->type() == type)
      continue;
    program.main.setInsertionPoint(program.main.outputNode());
    program.main.setLocation(value->producer()->location);
    results[i] = program.main
                     .call("aten.as_strided_scatter.default",
                           {Argument(input), Argument(value), Argument::list(type.shape),
                            Argument::list(type.strides), Argument(type.offset)},
                           {}, {type})
                     ->result();
  }
}

void ownOutputs(Program &program, const OperatorRegistry &registry) {
  Node *output = program.main.outputNode();
  std::vector<Argument> results = output->args();
  layOutMutations(program, registry, results);
  std::set<const Value *> roots;
  for (size_t i = 0; i < results.size(); ++i) {
    Value *value = results[i].value();
    if (!value || !value->isTensor() || program.outputs[i].kind != OutputSpec::Kind::UserOutput)
      continue;
    const Value *root = aliasRoot(value, registry);
    TensorType dense(value->type().dtype, value->type().shape, value->type().device);
    bool whole = value->type().isContiguous(program.symbols) &&
                 value->type().offset.constant() == 0 &&
                 program.symbols.proveEqual(root->type().numel(), value->type().numel()) &&
                 root->type().dtype == value->type().dtype;
    bool own = whole && !root->producer()->isPlaceholder() && roots.insert(root).second;
    if (own)
      continue;
    program.main.setInsertionPoint(output);
    program.main.setLocation(value->producer()->location);
    results[i] = program.main
                     .call("aten.clone.default", {Argument(value)},
                           {{"memory_format", Argument("contiguous_format")}}, {dense})
                     ->result();
  }
  output->setArgs(std::move(results));
}

} // namespace pellucid::passes
