// SPDX-License-Identifier: Apache-2.0
/// What a package demands of a call's tensors.
#pragma once

#include "runtime/Expressions.h"
#include "runtime/Result.h"

namespace pellucid::runtime {

/// What the random numbers of a call start from.
struct DrawStart {
  uint64_t seed = 0, offset = 0;
};

class Signature {
public:
  /// Both outlive the object.
  Signature(const package::Manifest &manifest, Expressions &expressions);

  size_t symbolCount() const { return manifest.symbols.size(); }

  /// Checks counts, types, ranks, devices and data of the inputs and binds the symbols within their
  /// ranges. `device` is the call's: all inputs must be on it.
  /// `draws` is what the call's random numbers start from.
  Result bind(std::span<const DLTensor> tensors, DLDevice device, const DrawStart &draws,
              std::span<int64_t> symbols) const;

  /// The rest, once the numbers of the symbols are known: equal dims, strides, alignment, guards,
  /// overlaps.
  Result checkInputs(std::span<const DLTensor> tensors, const Numbers &numbers) const;

  /// The caller's memory for the outputs of run_into; of those of later `stages`
  /// (ProgramPlan::outputStages) all but the dims.
  Result checkOutputs(std::span<const DLTensor> inputs, std::span<const DLTensor> tensors,
                      DLDevice device, const Numbers &numbers,
                      std::span<const uint32_t> stages) const;
  Result checkOutputDims(std::span<const DLTensor> tensors, const Numbers &numbers,
                         std::span<const uint32_t> stages, uint32_t stage) const;

  /// The dims of output `index`; `dims` has room for its rank. Also computes its bytes.
  Result outputShape(size_t index, const Numbers &numbers, int64_t *dims, uint64_t &bytes) const;
  size_t outputRank(size_t index) const { return outputs[index].dims.size(); }

private:
  struct Tensor {
    DLDataType dtype;
    std::vector<Value> dims, strides;
  };
  struct Condition {
    Value value;
    const std::string *text;
  };
  const package::Manifest &manifest;
  const Expressions &expressions;
  std::vector<Tensor> inputs, outputs;
  std::vector<Condition> guards;
  bool anyMutated = false; ///< of the inputs

  Result bindSymbol(const package::Symbol &symbol, const DLTensor &tensor, int64_t &value) const;
  Result checkDims(const std::string &name, const char *kind, const Tensor &expected,
                   const DLTensor &tensor, const Numbers &numbers) const;
  Result checkStrides(size_t index, const DLTensor &tensor, const Numbers &numbers) const;
  std::string ruleText(Value value, const Numbers &numbers) const;
  Result checkOverlaps(std::span<const DLTensor> tensors) const;
  Result checkOutputOverlaps(std::span<const DLTensor> inputTensors,
                             std::span<const DLTensor> tensors) const;
};

/// The bytes that a tensor's elements span, from its lowest to its highest address.
struct MemoryRange {
  const unsigned char *begin, *end;
  bool overlaps(const MemoryRange &other) const { return begin < other.end && other.begin < end; }
};
MemoryRange memoryRange(const DLTensor &tensor);

} // namespace pellucid::runtime
