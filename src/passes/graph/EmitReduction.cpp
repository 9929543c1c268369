// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LaunchEmitter.h"
#include "passes/graph/ReductionText.h"

namespace pellucid::passes {

using namespace graph;

Value *emitReduction(LaunchEmitter &emitter, ReductionSpec spec, const std::vector<Value *> &inputs,
                     const TensorType &type, const SourceLocation &where, bool forCpu) {
  ReductionTexts texts = writeReduction(std::move(spec), emitter.program.symbols, forCpu);
  if (!texts.states)
    return emitter.emit(std::move(texts.first), inputs, {emitter.emptyLike(type), Access::Write},
                        where);
  std::vector<LaunchEmitter::Target> states;
  for (DataType dtype : texts.states->types)
    states.push_back(
        {emitter.emptyLike(TensorType(dtype, texts.states->shape, type.device)), Access::Write});
  Node *first = emitter.emit(std::move(texts.first), inputs, states, where);
  std::vector<Value *> left;
  for (size_t i = 0; i < first->resultCount(); ++i)
    left.push_back(first->result(i));
  return emitter.emit(std::move(texts.states->combine), left,
                      {emitter.emptyLike(type), Access::Write}, where);
}

} // namespace pellucid::passes
