// SPDX-License-Identifier: Apache-2.0
#include "trace/RecordControl.h"

#include "trace/Gradients.h"
#include "trace/TensorCalls.h"
#include "trace/TensorObject.h"

#include <algorithm>
#include <map>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

std::string_view targetOf(ControlKind kind) {
  switch (kind) {
  case ControlKind::Cond:
    return condTarget;
  case ControlKind::WhileLoop:
    return whileLoopTarget;
  case ControlKind::Scan:
    return scanTarget;
  case ControlKind::AssociativeScan:
    return associativeScanTarget;
  }
  return {};
}

/// As PyTorch prints a shape.
std::string sizeText(const TensorType &type) {
  std::string text = "torch.Size([";
  for (size_t d = 0; d < type.rank(); ++d)
    text += (d ? ", " : "") + type.shape[d].text();
  return text + "])";
}
std::string dtypeText(const TensorType &type) {
  return "torch." + std::string(info(type.dtype).torch);
}

/// Where the model calls what stands in our own texts.
SourceLocation userLocation(h::Interpreter &interpreter) {
  SourceLocation where = interpreter.location();
  auto isOurs = [](const SourceLocation &place) {
    return place.file && place.file->path().starts_with("<torch");
  };
  std::vector<SourceLocation> calls = interpreter.callStack();
  for (auto caller = calls.begin(); isOurs(where) && caller != calls.end(); ++caller)
    where = *caller;
  return where;
}

class ControlRecorder {
public:
  ControlRecorder(Tracer &t, h::Interpreter &i, const ControlCall &c)
      : tracer(t), interpreter(i), call(c), where(userLocation(i)) {}

  std::vector<h::Value> run() {
    if (interpreter.merging())
      refuse("a side of a branch that may not be taken records nothing");
    if (call.kind == ControlKind::Cond)
      if (std::optional<bool> known = readPredicate())
        return call.regions[*known ? 0 : 1].call(call.additional);
    takeOperands();
    const ControlFlow given = flow;
    for (;;) {
      bool isWhole = true;
      try {
        for (const RegionFunction &region : call.regions)
          trace(region);
        isWhole = knowsWrites();
        if (isWhole)
          checkResults();
      } catch (...) {
        // The model may go on: what was traced stays, as graphs that nothing runs.
        capture();
        throw;
      }
      capture();
      if (isWhole)
        return record();
      // Once more, now that it is known what the regions write.
      flow = given;
      traced.clear();
      takeWritten();
    }
  }

private:
  /// One region: its graph, and what of it the results are.
  struct Traced {
    uint32_t body = 0;
    std::vector<h::Value> constants; ///< by result: what is no tensor
    std::vector<Value *> values;     ///< by result: null where `constants` has it
    bool stridesKnown = true;
    Tracer::RegionWrites writes;
  };

  [[noreturn]] void refuse(const std::string &message) { interpreter.refuse(message); }
  Graph &graphOf(const Traced &region) { return tracer.program.bodies[region.body].graph; }

  bool isOne(const TensorType &type) const { return tracer.symbols().proveEqual(type.numel(), 1); }
  h::Value asBool(TensorObject &tensor, const h::Value &value) {
    return tensor.tensor.type.dtype == DataType::Bool
               ? value
               : callAten(tracer, interpreter, "ne", argsOf({value, h::Value(int64_t(0))}));
  }

  /// The side that is taken whatever the sizes are.
  std::optional<bool> readPredicate() {
    const h::Value &given = call.predicate;
    if (given.isBool())
      return given.boolean();
    if (given.isSymBool()) {
      predicate = Argument(given.symBool());
      return tracer.symbols().prove(given.symBool());
    }
    auto *tensor = given.as<TensorObject>();
    if (!tensor)
      refuse("Expected pred to be bool or tensor, but got " + interpreter.repr(given));
    if (!isOne(tensor->tensor.type))
      refuse("Expected pred to be bool or single-element tensor, but got " +
             toString(tensor->tensor.type));
    h::Value truth = asBool(*tensor, given);
    predicate = Argument(tracer.valueOf(truth.as<TensorObject>()->tensor, where));
    return std::nullopt;
  }

  // --- operands

  /// Memory from outside that regions write is carried by a loop, and a result of either branch.
  bool knowsWrites() {
    size_t before = written.size();
    bool operands = false;
    for (const Traced &region : traced) {
      operands |= region.writes.writesOperand;
      for (const Tracer::RegionWrites::Outer &one : region.writes.outer)
        if (std::find(written.begin(), written.end(), one.storage) == written.end())
          written.push_back(one.storage);
    }
    if (call.kind == ControlKind::WhileLoop && !traced[0].writes.outer.empty() && !before)
      refuse(call.regions[0].what + " writes to a tensor made outside of it; only the body may");
    if (call.kind == ControlKind::AssociativeScan && !written.empty())
      refuse(call.regions[0].what +
             " writes to a tensor made outside of it, in an order of its own; "
             "use scan");
    for (const std::shared_ptr<TracedStorage> &storage : written) {
      // An operand that is the same memory changes with it.
      operands |= isAmong(storage, call.additional);
      if (isAmong(storage, call.carried) || isAmong(storage, call.scanned))
        refuse(call.regions.back().what + " writes to a tensor made outside of it that " +
               call.name + " also begins with or goes through; give it a clone()");
    }
    bool knows = written.size() == before && (!operands || operandsAreOuter);
    operandsAreOuter |= operands;
    return knows;
  }
  bool isLoop() const { return call.kind != ControlKind::Cond; }
  static bool isAmong(const std::shared_ptr<TracedStorage> &storage,
                      const std::vector<h::Value> &values) {
    return std::any_of(values.begin(), values.end(), [&](const h::Value &value) {
      auto *tensor = value.as<TensorObject>();
      return tensor && tensor->tensor.storage == storage;
    });
  }
  void takeWritten() {
    if (operandsAreOuter)
      flow.additional.clear();
    if (isLoop())
      for (const std::shared_ptr<TracedStorage> &storage : written)
        flow.carried.push_back(
            denseValue(tensorValue(tracer, tracer.wrap(storage->base)), "what it writes"));
  }
  /// Behind the results of the model's own that are carried; of a branch behind all.
  size_t firstWritten(size_t results) const {
    return isLoop() ? std::min(results, call.carried.size()) : results;
  }

  /// A loop's turns find what is carried or scanned row by row.
  Value *denseValue(const h::Value &value, const std::string &list) {
    auto *tensor = value.as<TensorObject>();
    if (!tensor)
      refuse(call.name + " takes tensors in " + list + ", got " + interpreter.repr(value) +
             "; a number that changes from turn to turn is a tensor: torch.tensor(…)");
    h::Value dense = value;
    if (!tensor->tensor.type.isContiguous(tracer.symbols()))
      dense = callAten(tracer, interpreter, "contiguous", argsOf({value}));
    return tracer.valueOf(dense.as<TensorObject>()->tensor, where);
  }

  h::Value wholeNumber(const h::Value &value) {
    return callAten(tracer, interpreter, "full",
                    argsOf({h::Value::list({}), value}, {{"dtype", dtypeValue(DataType::Int64)}}));
  }

  /// An int that a while_loop carries is a tensor's number in its body, and behind the loop.
  bool isNumber(size_t carried) const { return carried < numbers.size() && numbers[carried]; }

  void takeOperands() {
    for (const h::Value &value : call.carried) {
      numbers.push_back(call.kind == ControlKind::WhileLoop && (value.isInt() || value.isSymInt()));
      flow.carried.push_back(
          denseValue(numbers.back() ? wholeNumber(value) : value,
                     call.kind == ControlKind::Scan ? "init" : "carried_inputs"));
    }
    for (const h::Value &value : call.scanned)
      flow.scanned.push_back(denseValue(value, "xs"));
    for (const Value *scanned : flow.scanned) {
      const TensorType &type = scanned->type(), &first = flow.scanned[0]->type();
      if (type.rank() == 0)
        refuse("All xs leaves must have at least 'dim + 1' dimensions, got " + toString(type));
      if (!tracer.symbols().proveEqual(type.shape[0], first.shape[0]))
        refuse("All xs leaves must have the same scan dimension size, got " + type.shape[0].text() +
               " and " + first.shape[0].text());
    }
    for (const h::Value &value : call.additional)
      if (auto *tensor = value.as<TensorObject>())
        flow.additional.push_back(tracer.valueOf(tensor->tensor, where));
  }

  h::Value placeholder(const std::string &name, const TensorType &type, bool stridesKnown) {
    TracedTensor tensor = tracer.placeholder(tracer.graph().uniqueName(name), type);
    tensor.storage->stridesKnown = stridesKnown;
    operandStorages.insert(tensor.storage.get());
    return tensorValue(tracer, std::move(tensor));
  }
  /// The same elements with the strides of `type`.
  Value *laidOut(Value *value, const TensorType &type) {
    if (value->type() == type)
      return value;
    tracer.graph().setLocation(where);
    Value *memory =
        emitCall(tracer.graph(), tracer.registry, tracer.symbols(), "aten.empty_strided",
                 {Argument::list(type.shape), Argument::list(type.strides)},
                 {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}}, where)
            ->result();
    return emitCall(tracer.graph(), tracer.registry, tracer.symbols(), "aten.copy",
                    {Argument(memory), Argument(value)}, {}, where)
        ->result();
  }
  static TensorType placeOf(const TensorType &type) {
    return TensorType(type.dtype, type.shape, type.device);
  }
  TensorType sliceType(const Value *scanned) const { return placeOf(sliceOf(scanned->type())); }

  /// In the order of graph/ControlFlow.h.
  std::vector<h::Value> placeholders(Tracer::Region &inside, Tracer::RegionWrites &writes) {
    std::vector<h::Value> inner;
    for (size_t i = 0; i < call.carried.size(); ++i) {
      h::Value carried = placeholder("carry", placeOf(flow.carried[i]->type()), true);
      inner.push_back(isNumber(i) ? itemOf(*carried.as<TensorObject>(), interpreter) : carried);
    }
    if (isLoop())
      for (const std::shared_ptr<TracedStorage> &storage : written)
        inside.hold(storage, laidOut(tracer.graph().placeholder(tracer.graph().uniqueName("state"),
                                                                placeOf(storage->type)),
                                     storage->type));
    if (call.kind == ControlKind::AssociativeScan)
      for (const Value *scanned : flow.scanned)
        inner.push_back(placeholder("before", sliceType(scanned), true));
    for (const Value *scanned : flow.scanned)
      inner.push_back(placeholder("x", sliceType(scanned), true));
    size_t next = 0;
    for (const h::Value &value : call.additional) {
      auto *tensor = value.as<TensorObject>();
      if (!tensor || operandsAreOuter) {
        inner.push_back(value);
        continue;
      }
      inner.push_back(placeholder("operand", flow.additional[next++]->type(),
                                  tensor->tensor.storage->stridesKnown));
      writes.operands.insert(inner.back().as<TensorObject>()->tensor.storage.get());
    }
    return inner;
  }

  // --- regions

  void trace(const RegionFunction &function) {
    Traced &region = traced.emplace_back();
    region.body = static_cast<uint32_t>(tracer.program.bodies.size());
    tracer.program.bodies.push_back({function.what, Graph()});
    Tracer::Region inside(tracer, graphOf(region), function.what, region.writes);
    operandStorages.clear();
    std::vector<h::Value> given = placeholders(inside, region.writes);
    markLeaves(given);
    std::vector<h::Value> results = function.call(std::move(given));
    bool isCondition = call.kind == ControlKind::WhileLoop && traced.size() == 1;
    if (isCondition)
      results = {condition(results)};
    std::set<const TracedStorage *> seen = operandStorages;
    size_t first = isCondition ? SIZE_MAX : firstWritten(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      if (i == first)
        addWritten(function, region, seen);
      addResult(function, region, isCondition ? results[i] : asCarried(i, results[i]), seen,
                isCondition || isNumber(i));
    }
    if (first == results.size())
      addWritten(function, region, seen);
  }

  void addWritten(const RegionFunction &function, Traced &region,
                  std::set<const TracedStorage *> &seen) {
    for (const std::shared_ptr<TracedStorage> &storage : written) {
      finals.push_back(tensorValue(tracer, tracer.wrap(storage->base)));
      addResult(function, region, finals.back(), seen, true);
    }
  }

  /// Inside of a region, operands require gradients where those of the call do: what depends on
  /// them is known then, and that it has no derivative is said when one is asked for.
  void markLeaves(const std::vector<h::Value> &given) {
    auto requires_ = [](const std::vector<h::Value> &values) {
      return std::any_of(values.begin(), values.end(), [](const h::Value &value) {
        auto *tensor = value.as<TensorObject>();
        return tensor && requiresGrad(*tensor);
      });
    };
    // torch/control.py knows the derivatives of these by their operands.
    if (!isNoted(tracer) || call.kind == ControlKind::Cond ||
        (call.kind == ControlKind::WhileLoop && !tracer.recorder) ||
        !(requires_(call.carried) || requires_(call.scanned) || requires_(call.additional)))
      return;
    for (const h::Value &one : given)
      if (auto *tensor = one.as<TensorObject>(); tensor && isFloat(tensor->tensor.type.dtype))
        metaOf(*tensor).requiresGrad = true;
  }

  h::Value asCarried(size_t index, const h::Value &result) {
    if (!isNumber(index))
      return result;
    if (result.isInt() || result.isSymInt())
      return wholeNumber(result);
    return result.as<ItemNumber>() ? tensorOfNumber(tracer, interpreter, result) : result;
  }

  h::Value condition(const std::vector<h::Value> &results) {
    auto refuseThis = [&](const std::string &got) {
      refuse("Expected cond_fn to return a scalar tensor or a bool but got " + got);
    };
    if (results.size() != 1)
      refuseThis(std::to_string(results.size()) + " values");
    if (results[0].isBool())
      return callAten(
          tracer, interpreter, "full",
          argsOf({h::Value::list({}), results[0]}, {{"dtype", dtypeValue(DataType::Bool)}}));
    auto *tensor = results[0].as<TensorObject>();
    if (!tensor)
      refuseThis(interpreter.repr(results[0]));
    if (!isOne(tensor->tensor.type))
      refuseThis(sizeText(tensor->tensor.type));
    return asBool(*tensor, results[0]);
  }

  void addResult(const RegionFunction &function, Traced &region, const h::Value &result,
                 std::set<const TracedStorage *> &seen, bool copies) {
    auto *tensor = result.as<TensorObject>();
    region.constants.push_back(tensor ? h::Value() : result);
    region.values.push_back(nullptr);
    if (!tensor)
      return;
    hasGradients |= requiresGrad(*tensor);
    Value *value = tracer.valueOf(tensor->tensor, where);
    for (const Expr &size : value->type().shape)
      for (const std::string &name : size.symbols())
        if (auto read = tracer.readSymbols.find(name);
            read != tracer.readSymbols.end() && read->second == &tracer.graph())
          refuse("result " + std::to_string(region.values.size() - 1) + " of " + function.what +
                 " is as large as values inside of it decide (" + sizeText(value->type()) +
                 "), another size in each turn or branch; return one of a size known outside, such "
                 "as a mask or a sum");
    const TracedStorage &storage = *tensor->tensor.storage;
    bool isOuter = storage.base->producer()->graph() != &tracer.graph();
    // What is carried may have been left as it is.
    bool isOperand = copies && storage.base->producer()->isPlaceholder();
    bool isAlias = !seen.insert(&storage).second || isOuter || isOperand;
    if (isAlias && call.refusesAliases && !copies)
      refuse(function.what +
             " might be aliasing the input or the output: higher order ops do not support "
             "aliasing; replace 'return input' with 'return input.clone()'");
    region.stridesKnown =
        region.stridesKnown && storage.stridesKnown && value->type().isContiguous(tracer.symbols());
    bool isTaken =
        std::find(region.values.begin(), region.values.end(), value) != region.values.end();
    // New contents of what lies outside are a value of their own.
    isAlias = isTaken || (isAlias && !(copies && isMade(value)));
    if (isAlias || value->type() != placeOf(value->type())) {
      h::Value copy =
          callAten(tracer, interpreter, "clone",
                   argsOf({result}, {{"memory_format", h::Value("contiguous_format")}}));
      value = tracer.valueOf(copy.as<TensorObject>()->tensor, where);
    }
    region.values.back() = value;
  }

  /// Computed in this graph, and no view of another value.
  bool isMade(const Value *value) const {
    const Node *producer = value->producer();
    const Operator *op = producer->isCall() ? tracer.registry.find(producer->target()) : nullptr;
    return op && op->kind != Operator::Kind::View && producer->graph() == &tracer.graph();
  }

  // --- what regions give

  void checkResults() {
    switch (call.kind) {
    case ControlKind::Cond:
      return checkBranches();
    case ControlKind::WhileLoop:
      return checkCarried("body_fn_output and carried_inputs", traced[1], flow.carried.size());
    case ControlKind::Scan:
      if (traced[0].values.size() < flow.carried.size())
        refuse("Expect combine_fn to return a tuple (next_carry, y) with " +
               std::to_string(flow.carried.size()) + " tensor(s) to carry, but got " +
               std::to_string(traced[0].values.size()) + " tensor(s) in all");
      return checkCarried("init and carry", traced[0], traced[0].values.size());
    case ControlKind::AssociativeScan:
      return checkCarried("initial_xs and combine_fn_output", traced[0], flow.scanned.size());
    }
  }

  void checkBranches() {
    const Traced &yes = traced[0], &no = traced[1];
    if (yes.values.size() != no.values.size())
      refuse("Expected to return same number of outputs but got: true branch returns " +
             std::to_string(yes.values.size()) + " item(s), false branch returns " +
             std::to_string(no.values.size()) + " item(s)");
    for (size_t i = 0; i < yes.values.size(); ++i) {
      if (!yes.values[i] || !no.values[i]) {
        bool same = !yes.values[i] && !no.values[i] && isPlain(yes.constants[i]) &&
                    interpreter.repr(yes.constants[i]) == interpreter.repr(no.constants[i]);
        if (!same)
          refuse("result " + std::to_string(i) + " of " + call.name + " is " + describe(yes, i) +
                 " in one branch and " + describe(no, i) +
                 " in the other; a number that the branch decides is a tensor: torch.tensor(0)");
        continue;
      }
      const TensorType &a = yes.values[i]->type(), &b = no.values[i]->type();
      std::string beginning = "When merging two branches' output in " + call.name + ", expected ";
      if (a.dtype != b.dtype)
        refuse(beginning + "same dtype but got " + dtypeText(a) + " and " + dtypeText(b));
      if (a.rank() != b.rank())
        refuse(beginning + "same dim but got " + std::to_string(a.rank()) + " and " +
               std::to_string(b.rank()));
      if (!sameShape(a, b))
        refuse(beginning + "same size but got " + sizeText(a) + " and " + sizeText(b) +
               "; a package has no sizes that the branch decides");
    }
  }

  static bool isPlain(const h::Value &value) {
    return value.isNone() || value.isBool() || value.isInt() || value.isFloat();
  }
  std::string describe(const Traced &region, size_t i) {
    return region.values[i] ? toString(region.values[i]->type())
                            : interpreter.repr(region.constants[i]);
  }
  bool sameShape(const TensorType &a, const TensorType &b) const {
    bool same = a.rank() == b.rank();
    for (size_t d = 0; same && d < a.rank(); ++d)
      same = tracer.symbols().proveEqual(a.shape[d], b.shape[d]);
    return same;
  }

  /// `count`: of all results; those behind what is carried are stacked and may be anything.
  void checkCarried(const std::string &pair, const Traced &region, size_t count) {
    std::vector<TensorType> wanted;
    for (const Value *carried : flow.carried)
      wanted.push_back(carried->type());
    if (call.kind == ControlKind::AssociativeScan)
      for (const Value *scanned : flow.scanned)
        wanted.push_back(sliceType(scanned));
    std::string beginning = "Expected " + pair + " to have same metadata but found: ";
    if (region.values.size() != count)
      refuse(beginning + std::to_string(region.values.size()) + " results for " +
             std::to_string(count));
    for (size_t i = 0; i < count; ++i) {
      if (!region.values[i])
        refuse("result " + std::to_string(i) + " of " + call.regions.back().what + " is " +
               interpreter.repr(region.constants[i]) + "; it must be a tensor");
      if (i >= wanted.size())
        continue;
      const TensorType &made = region.values[i]->type();
      // In the order of `pair`.
      bool madeFirst = call.kind == ControlKind::WhileLoop;
      const TensorType &left = madeFirst ? made : wanted[i], &right = madeFirst ? wanted[i] : made;
      std::string differs;
      if (!sameShape(left, right))
        differs = "shape: " + sizeText(left) + " vs " + sizeText(right);
      else if (left.dtype != right.dtype)
        differs = "dtype: " + dtypeText(left) + " vs " + dtypeText(right);
      if (!differs.empty())
        refuse(beginning + "pair[" + std::to_string(i) + "] differ in '" + differs + "'");
    }
  }

  // --- the node

  /// Values from outside that a region uses become operands of all of them.
  void capture() {
    std::vector<Value *> captured;
    std::set<const Value *> known;
    for (const Traced &region : traced) {
      Graph &graph = graphOf(region);
      for (Node &node : graph)
        node.forEachOperand([&](Value *value) {
          if (value->producer()->graph() != &graph && known.insert(value).second)
            captured.push_back(value);
        });
      // A result that is computed outside was copied, or refused.
    }
    flow.additional.insert(flow.additional.end(), captured.begin(), captured.end());
    for (const Traced &region : traced) {
      Graph &graph = graphOf(region);
      std::map<Value *, Value *> inner;
      for (Value *value : captured)
        inner[value] = graph.placeholder(graph.uniqueName(value->name()), value->type());
      for (Value *value : captured) {
        std::vector<Node *> users(value->users().begin(), value->users().end());
        for (Node *user : users)
          if (user->graph() == &graph)
            user->replaceUses(value, inner.at(value));
      }
      std::vector<Argument> outputs;
      for (Value *value : region.values)
        if (value)
          outputs.emplace_back(value);
      graph.output(std::move(outputs));
    }
  }

  static Argument listOf(const std::vector<Value *> &values) {
    Argument::List list(values.begin(), values.end());
    return Argument(std::move(list));
  }

  std::vector<Argument> arguments() const {
    switch (call.kind) {
    case ControlKind::Cond:
      return {predicate, listOf(flow.additional)};
    case ControlKind::WhileLoop:
      return {listOf(flow.carried), listOf(flow.additional)};
    case ControlKind::Scan:
      return {listOf(flow.carried), listOf(flow.scanned), listOf(flow.additional)};
    case ControlKind::AssociativeScan:
      return {listOf(flow.scanned), listOf(flow.additional)};
    }
    return {};
  }

  std::vector<h::Value> record() {
    const Traced &last = traced.back();
    bool isScan = call.kind == ControlKind::Scan || call.kind == ControlKind::AssociativeScan;
    std::vector<ResultType> types;
    for (const Value *value : last.values)
      if (value)
        types.push_back(isScan && types.size() >= flow.carried.size()
                            ? stackOf(value->type(), flow.scanned[0]->type().shape[0])
                            : value->type());
    KeywordArguments keywords;
    if (call.reverse)
      keywords.emplace_back("reverse", Argument(true));
    tracer.graph().setLocation(where);
    std::string target(targetOf(call.kind));
    Node *node = tracer.graph().call(target, arguments(), std::move(keywords), std::move(types),
                                     target.substr(target.find('.') + 1));
    for (const Traced &region : traced)
      node->regions.push_back(region.body);
    bool stridesKnown = std::all_of(traced.begin(), traced.end(),
                                    [](const Traced &region) { return region.stridesKnown; });
    std::vector<h::Value> results;
    size_t next = 0;
    for (size_t i = 0; i < last.values.size(); ++i) {
      if (!last.values[i]) {
        results.push_back(last.constants[i]);
        continue;
      }
      TracedTensor result = tracer.wrap(node->result(next++));
      result.storage->stridesKnown = stridesKnown || result.type.rank() < 2;
      h::Value tensor = tensorValue(tracer, std::move(result));
      results.push_back(isNumber(i) ? itemOf(*tensor.as<TensorObject>(), interpreter) : tensor);
    }
    size_t first = firstWritten(results.size() - written.size());
    for (size_t i = 0; i < written.size(); ++i)
      tracer.overwrite(written[i],
                       laidOut(tracer.valueOf(results[first + i].as<TensorObject>()->tensor, where),
                               written[i]->type),
                       where);
    results.erase(results.begin() + static_cast<ptrdiff_t>(first),
                  results.begin() + static_cast<ptrdiff_t>(first + written.size()));
    if (hasGradients)
      noteUnknown(tracer, interpreter, call.name, results);
    return results;
  }

  Tracer &tracer;
  h::Interpreter &interpreter;
  const ControlCall &call;
  SourceLocation where;
  Argument predicate;
  ControlFlow flow;
  bool hasGradients = false; ///< a result of a region depends on what requires a gradient
  std::vector<bool> numbers; ///< by what is carried
  std::vector<Traced> traced;
  std::vector<std::shared_ptr<TracedStorage>> written; ///< from outside, by the regions
  std::vector<h::Value>
      finals; ///< what they hold at the end of a region, kept while it is recorded
  /// Operands are the tensors outside themselves, as what a function closes over is: it writes
  /// some.
  bool operandsAreOuter = false;
  std::set<const TracedStorage *> operandStorages; ///< of the region that is traced
};

} // namespace

std::vector<h::Value> recordControl(Tracer &tracer, h::Interpreter &interpreter,
                                    const ControlCall &call) {
  return ControlRecorder(tracer, interpreter, call).run();
}

} // namespace pellucid::trace
