// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/ReductionText.h"

namespace pellucid::passes {

using namespace graph;

std::vector<Value *> emitReduction(LaunchEmitter &emitter, ReductionSpec spec,
                                   const std::vector<Value *> &inputs,
                                   const std::vector<TensorType> &types,
                                   const SourceLocation &where, bool forCpu) {
  ReductionTexts texts = writeReduction(std::move(spec), emitter.program.symbols, forCpu);
  auto launch = [&](KernelText text, const std::vector<Value *> &from,
                    const std::vector<TensorType> &into) {
    std::vector<LaunchEmitter::Target> targets;
    for (const TensorType &type : into)
      targets.push_back({emitter.emptyLike(type), Access::Write});
    Node *node = emitter.emit(std::move(text), from, targets, where);
    std::vector<Value *> written;
    for (size_t i = 0; i < node->resultCount(); ++i)
      written.push_back(node->result(i));
    return written;
  };
  if (!texts.states)
    return launch(std::move(texts.first), inputs, types);
  std::vector<TensorType> states;
  for (DataType dtype : texts.states->types)
    states.emplace_back(dtype, texts.states->shape, types[0].device);
  std::vector<Value *> left = launch(std::move(texts.first), inputs, states);
  return launch(std::move(texts.states->combine), left, types);
}

} // namespace pellucid::passes
