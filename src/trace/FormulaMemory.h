// SPDX-License-Identifier: Apache-2.0
/// What formulas of reverse mode gave: a training loop asks for the same derivatives in every turn.
/// A formula is text of ours, and what it records follows from the types of its tensors and from
/// its plain arguments alone; where it did once, its nodes are added again without evaluating it.
#pragma once

#include "trace/Derivatives.h"
#include "trace/EagerRecorder.h"
#include "trace/TensorObject.h"

#include <unordered_map>

namespace pellucid::trace {

class FormulaMemory {
public:
  explicit FormulaMemory(Tracer &t) : tracer(t) {}

  /// The formula's result for these arguments.
  host::Value call(host::Interpreter &interpreter, const Formula &formula, host::CallArgs args);

  /// The same of another function of ours that has no effects.
  host::Value call(host::Interpreter &interpreter, const host::Value &function,
                   host::CallArgs args);

  /// A value among the arguments, or of a node before.
  struct Place {
    int32_t node = -1; ///< none: the argument `index`
    uint32_t index = 0;
  };
  /// An argument of a node, with places for values.
  struct Part {
    std::optional<Place> place;
    std::vector<Part> list; ///< of a list that holds values
    bool isList = false;
    graph::Argument plain;
  };
  struct Step {
    std::string target;
    std::vector<Part> args;
    std::vector<std::pair<std::string, Part>> kwargs;
    std::vector<graph::ResultType> results;
    std::vector<uint32_t> mutatedArgs;
    SourceLocation location;
    std::string stackNote;
  };
  /// One value of the formula's result.
  struct Given {
    enum class Form : uint8_t { None, Argument, View, Fresh, List, Tuple } form = Form::None;
    uint32_t argument = 0; ///< Argument, View: whose memory it has
    std::optional<Place> value;
    graph::TensorType type, memory; ///< of the tensor, and of a fresh one's memory
    Place base;                     ///< Fresh: what its memory holds
    uint32_t storage = 0;           ///< Fresh: tensors with the same number share memory
    bool mayOverlap = false, stridesKnown = true, isPlaced = true;
    std::optional<TensorObject::Making> making; ///< View: where it is linked to what it is one of
    graph::Device device;
    std::vector<Given> elements;
  };
  struct Template {
    bool isUsable = false;
    unsigned tries = 0;
    std::vector<Step> steps;
    Given result;
    EagerRecorder::Watch seen;
  };

private:
  using Key = std::vector<int64_t>;
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  /// The tensors have values in the segment from here on. False where one has none.
  bool prepare(host::Interpreter &interpreter,
               const std::vector<std::shared_ptr<TensorObject>> &tensors);

  Tracer &tracer;
  std::unordered_map<Key, Template, Hash> templates;
  std::unordered_map<const host::Object *, Formula> functions; ///< which hold them
};

} // namespace pellucid::trace
