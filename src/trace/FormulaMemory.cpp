// SPDX-License-Identifier: Apache-2.0
#include "trace/FormulaMemory.h"

#include "trace/Gradients.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <bit>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

using Place = FormulaMemory::Place;
using Part = FormulaMemory::Part;
using Given = FormulaMemory::Given;
using Template = FormulaMemory::Template;

/// What a formula's nodes may depend on, as words; and the tensors among its arguments.
class Question {
public:
  Question(const Formula &formula, const h::CallArgs &args) {
    words.push_back(std::bit_cast<int64_t>(&formula));
    for (const h::Value &value : args.positional)
      isComplete = isComplete && add(value);
  }
  /// What the tensors' values are, once each has one. False where they cannot be told apart.
  bool addValues(const EagerRecorder &recorder) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TracedTensor &tensor = tensors[i]->tensor;
      size_t same = 0;
      while (tensors[same]->tensor.value != tensor.value)
        ++same;
      bool isOther = tensor.value->type() != tensor.type;
      words.push_back(static_cast<int64_t>(same << 3) | (tensor.storage->memory ? 4 : 0) |
                      (recorder.isView(tensor.value) ? 2 : 0) | (isOther ? 1 : 0));
      if (isOther && !add(tensor.value->type()))
        return false;
    }
    return true;
  }

  std::vector<int64_t> words;
  std::vector<std::shared_ptr<TensorObject>> tensors;
  bool isComplete = true;

private:
  bool add(const h::Value &value) {
    words.push_back(static_cast<int64_t>(value.kind()));
    switch (value.kind()) {
    case h::Kind::None:
      return true;
    case h::Kind::Bool:
      words.push_back(value.boolean());
      return true;
    case h::Kind::Int:
      words.push_back(static_cast<int64_t>(value.integer()));
      return value.integer() == words.back();
    case h::Kind::Float:
      words.push_back(std::bit_cast<int64_t>(value.real()));
      return true;
    case h::Kind::Str:
      words.push_back(static_cast<int64_t>(value.str().size()));
      for (char c : value.str())
        words.push_back(c);
      return true;
    case h::Kind::Tuple:
    case h::Kind::List:
      words.push_back(static_cast<int64_t>(value.elements().size()));
      return std::all_of(value.elements().begin(), value.elements().end(),
                         [this](const h::Value &element) { return add(element); });
    case h::Kind::Object:
      break;
    default:
      return false;
    }
    if (auto tensor = value.shared<TensorObject>())
      return add(std::move(tensor));
    auto *type = value.as<h::DType>();
    if (!type)
      return false;
    words.push_back(static_cast<int64_t>(type->type) << 8 |
                    static_cast<int64_t>(type->family) << 1 | type->isPointer);
    return true;
  }

  bool add(std::shared_ptr<TensorObject> object) {
    const TracedTensor &tensor = object->tensor;
    const TracedStorage &storage = *tensor.storage;
    // Calls on tensors of the user's own classes are the user's to see.
    const TensorObject &held = *object;
    if (typeid(held) != typeid(TensorObject))
      return false;
    size_t same = 0, shared = 0;
    while (same < tensors.size() && tensors[same] != object)
      ++same;
    while (shared < tensors.size() && tensors[shared]->tensor.storage != tensor.storage)
      ++shared;
    words.push_back(static_cast<int64_t>(same << 32 | shared));
    words.push_back(static_cast<int64_t>(storage.device.kind) << 32 |
                    static_cast<uint32_t>(storage.device.index));
    words.push_back(storage.stridesKnown << 4 | storage.isPlaced << 3 | tensor.mayOverlap << 2 |
                    requiresGrad(*object) << 1 | object->isParameter);
    if (same == tensors.size())
      tensors.push_back(std::move(object));
    return add(tensors[same]->tensor.type) && add(storage.type);
  }

  bool add(const TensorType &type) {
    words.push_back(static_cast<int64_t>(type.dtype) << 32 | static_cast<int64_t>(type.rank()));
    words.push_back(static_cast<int64_t>(type.device.kind) << 32 |
                    static_cast<uint32_t>(type.device.index));
    bool isKnown = type.layout.empty();
    auto size = [&](const Expr &expr) {
      std::optional<int64_t> known = expr.constant();
      isKnown = isKnown && known;
      words.push_back(known.value_or(0));
    };
    for (const Expr &dim : type.shape)
      size(dim);
    for (const Expr &stride : type.strides)
      size(stride);
    size(type.offset);
    return isKnown;
  }
};

/// What the formula recorded between two moments, as nodes over its arguments.
class Reader {
public:
  Reader(const Tracer &t, const Question &q) : tracer(t), question(q) {
    for (uint32_t i = 0; i < q.tensors.size(); ++i)
      places.try_emplace(q.tensors[i]->tensor.value, Place{-1, i});
  }

  bool read(const Node *first, Template &out) {
    for (const Node *node = first; node; node = node->next()) {
      if (!node->isCall() || node->isLaunch() || node->body || !node->regions.empty())
        return false;
      FormulaMemory::Step step{node->target(), {}, {}, {}, node->mutatedArgs, node->location,
                               node->stackNote};
      for (const Argument &argument : node->args())
        step.args.push_back(part(argument));
      for (const auto &[name, argument] : node->kwargs())
        step.kwargs.emplace_back(name, part(argument));
      for (uint32_t r = 0; r < node->resultCount(); ++r) {
        if (!node->result(r)->isTensor())
          return false;
        step.results.emplace_back(node->result(r)->type());
        places.try_emplace(node->result(r), Place{static_cast<int32_t>(out.steps.size()), r});
      }
      out.steps.push_back(std::move(step));
    }
    return isKnown;
  }

  bool read(const h::Value &value, Given &out) {
    if (value.isNone())
      return true;
    if (value.isList() || value.isTuple()) {
      out.form = value.isTuple() ? Given::Form::Tuple : Given::Form::List;
      for (const h::Value &element : value.elements())
        if (!read(element, out.elements.emplace_back()))
          return false;
      return true;
    }
    auto object = value.shared<TensorObject>();
    return object && read(*object, out);
  }

private:
  Part part(const Argument &argument) {
    Part out;
    if (Value *value = argument.value()) {
      auto known = places.find(value);
      isKnown = isKnown && known != places.end();
      if (isKnown)
        out.place = known->second;
    } else if (const Argument::List *list = argument.list()) {
      out.isList = true;
      for (const Argument &element : *list)
        out.list.push_back(part(element));
    } else {
      auto expr = argument.as<Expr>();
      isKnown = isKnown && (!expr || expr->constant());
      out.plain = argument;
    }
    return out;
  }

  bool read(TensorObject &object, Given &out) {
    const TracedTensor &tensor = object.tensor;
    for (uint32_t i = 0; i < question.tensors.size(); ++i)
      if (question.tensors[i].get() == &object) {
        out.form = Given::Form::Argument;
        out.argument = i;
        return true;
      }
    const TracedStorage &storage = *tensor.storage;
    if (object.meta || object.isParameter || !object.attributes.items().empty())
      return false;
    out.type = tensor.type;
    out.mayOverlap = tensor.mayOverlap;
    bool isCurrent = tensor.value && tensor.segment == tracer.segment &&
                     tensor.version == tensor.storage->version;
    if (isCurrent && !place(tensor.value, out.value))
      return false;
    for (uint32_t i = 0; i < question.tensors.size(); ++i)
      if (question.tensors[i]->tensor.storage == tensor.storage) {
        out.form = Given::Form::View;
        out.argument = i;
        if (object.base)
          out.making = object.making;
        return isCurrent || storage.memory;
      }
    out.form = Given::Form::Fresh;
    std::optional<Place> base;
    if (!isCurrent || !storage.base || !place(storage.base, base) || base->node < 0 ||
        storage.memory || storage.version || storage.conflict || !storage.unreadable.empty() ||
        storage.initializer.kind != Initializer::Kind::None || !storage.possibleAliases.empty() ||
        storage.pinned || storage.isParameter || storage.constructed != tracer.isConstructing())
      return false;
    out.base = *base;
    out.memory = storage.type;
    out.stridesKnown = storage.stridesKnown;
    out.isPlaced = storage.isPlaced;
    out.device = storage.device;
    auto known = std::find(storages.begin(), storages.end(), &storage);
    out.storage = static_cast<uint32_t>(known - storages.begin());
    if (known == storages.end())
      storages.push_back(&storage);
    return true;
  }

  bool place(const Value *value, std::optional<Place> &out) const {
    auto known = places.find(value);
    if (known == places.end())
      return false;
    out = known->second;
    return true;
  }

  const Tracer &tracer;
  const Question &question;
  std::unordered_map<const Value *, Place> places;
  std::vector<const TracedStorage *> storages;
  bool isKnown = true;
};

/// Adds a template's nodes for other arguments.
class Writer {
public:
  Writer(Tracer &t, const Question &q) : tracer(t), question(q) {}

  h::Value write(const Template &from) {
    Graph &graph = tracer.graph();
    for (const FormulaMemory::Step &step : from.steps) {
      std::vector<Argument> args;
      args.reserve(step.args.size());
      for (const Part &part : step.args)
        args.push_back(argument(part));
      KeywordArguments kwargs;
      for (const auto &[name, part] : step.kwargs)
        kwargs.emplace_back(name, argument(part));
      graph.setLocation(step.location);
      Node *node = graph.call(step.target, std::move(args), std::move(kwargs), step.results);
      node->mutatedArgs = step.mutatedArgs;
      node->stackNote = step.stackNote;
      nodes.push_back(node);
    }
    return value(from.result);
  }

private:
  Value *at(Place place) const {
    return place.node < 0 ? question.tensors[place.index]->tensor.value
                          : nodes[static_cast<size_t>(place.node)]->result(place.index);
  }

  Argument argument(const Part &part) const {
    if (part.place)
      return Argument(at(*part.place));
    if (!part.isList)
      return part.plain;
    Argument::List list;
    list.reserve(part.list.size());
    for (const Part &element : part.list)
      list.push_back(argument(element));
    return Argument(std::move(list));
  }

  h::Value value(const Given &given) {
    using Form = Given::Form;
    switch (given.form) {
    case Form::None:
      return {};
    case Form::Argument:
      return selfOf(*question.tensors[given.argument]);
    case Form::List:
    case Form::Tuple: {
      h::List list;
      for (const Given &element : given.elements)
        list.push_back(value(element));
      return given.form == Form::Tuple ? h::Value::tuple(std::move(list))
                                       : h::Value::list(std::move(list));
    }
    case Form::View:
    case Form::Fresh:
      return tensor(given);
    }
    return {};
  }

  h::Value tensor(const Given &given) {
    TracedTensor made;
    bool isView = given.form == Given::Form::View;
    if (isView)
      made.storage = question.tensors[given.argument]->tensor.storage;
    else if (given.storage < storages.size())
      made.storage = storages[given.storage];
    else
      made.storage = storages.emplace_back(fresh(given));
    made.type = given.type;
    made.mayOverlap = given.mayOverlap;
    if (given.value) {
      made.value = at(*given.value);
      made.version = made.storage->version;
      made.segment = tracer.segment;
    }
    h::Value result = tensorValue(tracer, std::move(made));
    auto &object = *result.as<TensorObject>();
    if (given.making) {
      linkView(object, {selfOf(*question.tensors[given.argument])}, false);
      object.making = *given.making;
    }
    if (isView)
      tracer.recorder->forgetView(object.tensor);
    return result;
  }

  std::shared_ptr<TracedStorage> fresh(const Given &given) const {
    auto storage = std::make_shared<TracedStorage>();
    storage->base = at(given.base);
    storage->type = given.memory;
    storage->constructed = tracer.isConstructing();
    storage->stridesKnown = given.stridesKnown;
    storage->isPlaced = given.isPlaced;
    storage->device = given.device;
    tracer.recorder->track(storage);
    return storage;
  }

  Tracer &tracer;
  const Question &question;
  std::vector<Node *> nodes;
  std::vector<std::shared_ptr<TracedStorage>> storages;
};

} // namespace

size_t FormulaMemory::Hash::operator()(const Key &key) const {
  uint64_t hash = key.size();
  for (int64_t word : key)
    hash = (std::rotl(hash, 5) ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

h::Value FormulaMemory::call(h::Interpreter &interpreter, const Formula &formula,
                             h::CallArgs args) {
  constexpr size_t mostKept = 4096;
  constexpr unsigned mostTries = 3;
  EagerRecorder &recorder = *tracer.recorder;
  auto evaluate = [&] { return interpreter.call(formula.function, std::move(args)); };
  // Whatever else sees an operator of the formula sees to it that it is evaluated.
  if (!recorder.isRecordingPlainly() || tracer.gradients.records() ||
      !interpreter.dispatch.isIdle() || !interpreter.dispatch.autocast.empty() ||
      interpreter.merging() || tracer.printing.floats != DataType::Float32)
    return evaluate();
  Question question(formula, args);
  if (!question.isComplete || question.tensors.empty() || !prepare(interpreter, question.tensors) ||
      !question.addValues(recorder))
    return evaluate();
  if (templates.size() >= mostKept)
    templates.clear();
  Template &kept = templates[question.words];
  if (kept.isUsable && recorder.passAgain(kept.seen, kept.steps.size()))
    return Writer(tracer, question).write(kept);
  if (kept.isUsable || kept.tries >= mostTries)
    return evaluate();
  unsigned tries = kept.tries + 1;
  const Node *last = tracer.graph().back();
  size_t before = tracer.graph().size();
  uint64_t segment = tracer.segment, draws = tracer.draws;
  std::vector<std::pair<uint64_t, size_t>> memories;
  for (const auto &tensor : question.tensors)
    memories.emplace_back(tensor->tensor.storage->version,
                          tensor->tensor.storage->possibleAliases.size());
  Template found;
  h::Value result;
  {
    EagerRecorder::Watching watching(recorder, found.seen);
    result = evaluate();
  }
  bool isAsBefore = true;
  for (size_t i = 0; i < memories.size(); ++i) {
    const TracedStorage &storage = *question.tensors[i]->tensor.storage;
    isAsBefore =
        isAsBefore && memories[i] == std::pair(storage.version, storage.possibleAliases.size());
  }
  Reader reader(tracer, question);
  found.isUsable = isAsBefore && last && !found.seen.looked && tracer.segment == segment &&
                   tracer.draws == draws && reader.read(last->next(), found) &&
                   reader.read(result, found.result) &&
                   tracer.graph().size() == before + found.steps.size();
  found.tries = tries;
  templates[question.words] = std::move(found);
  return result;
}

h::Value FormulaMemory::call(h::Interpreter &interpreter, const h::Value &function,
                             h::CallArgs args) {
  Formula &formula = functions[function.object().get()];
  formula.function = function;
  return call(interpreter, formula, std::move(args));
}

bool FormulaMemory::prepare(h::Interpreter &interpreter,
                            const std::vector<std::shared_ptr<TensorObject>> &tensors) {
  std::vector<h::Value> values;
  for (const auto &tensor : tensors)
    values.push_back(selfOf(*tensor));
  // Formulas compute beside their tensors.
  if (auto device = deviceOfTensors(values); device && tracer.devices && tracer.devices->areUsed)
    tracer.recorder->computeOn(*device);
  try {
    for (const auto &tensor : tensors)
      tracer.valueOf(tensor->tensor, interpreter.location());
  } catch (const DiagnosticError &) {
    return false; // The formula may not need it.
  }
  return true;
}

} // namespace pellucid::trace
