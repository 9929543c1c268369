// SPDX-License-Identifier: Apache-2.0
#include "graph/ControlFlow.h"

#include "graph/Schema.h"

#include <algorithm>
#include <map>
#include <optional>

namespace pellucid::graph {

namespace {

struct Form {
  std::string_view target;
  ControlKind kind;
  size_t lists; ///< of tensors, after the predicate
  size_t regions;
};
constexpr Form forms[] = {
    {condTarget, ControlKind::Cond, 1, 2},
    {whileLoopTarget, ControlKind::WhileLoop, 2, 2},
    {scanTarget, ControlKind::Scan, 3, 1},
    {associativeScanTarget, ControlKind::AssociativeScan, 2, 1},
};

const Form *formOf(const Node &node) {
  if (!node.isCall() || node.isLaunch())
    return nullptr;
  auto form = std::find_if(std::begin(forms), std::end(forms),
                           [&](const Form &one) { return one.target == node.target(); });
  return form == std::end(forms) ? nullptr : form;
}

std::optional<std::vector<Value *>> tensorsIn(const Argument &argument) {
  const Argument::List *list = argument.list();
  if (!list)
    return std::nullopt;
  std::vector<Value *> values;
  for (const Argument &element : *list) {
    Value *value = element.value();
    if (!value || !value->isTensor())
      return std::nullopt;
    values.push_back(value);
  }
  return values;
}

/// Holds one call against its regions. The first complaint stays.
class ControlChecker {
public:
  ControlChecker(const Node &n, const Program &p, const Form &f)
      : node(n), program(p), form(f), symbols(p.symbols) {}

  std::string run() {
    size_t first = form.kind == ControlKind::Cond;
    if (node.args().size() != form.lists + first)
      return "takes " + std::to_string(form.lists + first) + " arguments, got " +
             std::to_string(node.args().size());
    for (size_t i = first; i < node.args().size(); ++i)
      if (!tensorsIn(node.arg(i)))
        return "takes lists of tensors, got " + toString(node.arg(i));
    for (const auto &[name, value] : node.kwargs())
      if (form.kind != ControlKind::Scan || name != "reverse" || !value.as<bool>())
        return "has no keyword '" + name + "' of that kind";
    if (node.regions.size() != form.regions)
      return "has " + std::to_string(form.regions) + " regions, got " +
             std::to_string(node.regions.size());
    for (uint32_t region : node.regions)
      if (!graphOf(region).outputNode())
        return "has a region without an output";
    flow = controlFlowOf(node);
    checkKind();
    return std::move(problem);
  }

private:
  using Types = std::vector<TensorType>;

  void complain(std::string what) {
    if (problem.empty())
      problem = std::move(what);
  }
  const Graph &graphOf(uint32_t region) const { return program.bodies[region].graph; }

  bool sameDims(const std::vector<Expr> &a, const std::vector<Expr> &b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Expr &x, const Expr &y) { return symbols.proveEqual(x, y); });
  }
  /// Strides of dims of at most one element, and of tensors without elements, mean nothing.
  bool sameLayout(const TensorType &a, const TensorType &b) const {
    for (const Expr &size : a.shape)
      if (symbols.proveEqual(size, 0))
        return true;
    for (size_t d = 0; d < a.rank(); ++d)
      if (!symbols.proveEqual(a.shape[d], 1) && !symbols.proveEqual(a.strides[d], b.strides[d]))
        return false;
    return true;
  }
  bool same(const TensorType &a, const TensorType &b) const {
    return a.dtype == b.dtype && sameDims(a.shape, b.shape) && sameLayout(a, b) &&
           symbols.proveEqual(a.offset, b.offset) && a.layout == b.layout;
  }

  /// What a turn gets of something carried: a place of its own.
  static Types placesOf(const std::vector<Value *> &values) {
    Types types;
    for (const Value *value : values)
      types.emplace_back(value->type().dtype, value->type().shape, value->type().device);
    return types;
  }
  static Types typesOf(const std::vector<Value *> &values) {
    Types types;
    for (const Value *value : values)
      types.push_back(value->type());
    return types;
  }
  static void append(Types &to, const Types &more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  void takes(uint32_t region, const Types &given) {
    std::vector<Node *> formal = graphOf(region).placeholders();
    if (formal.size() != given.size())
      return complain("gives its region " + std::to_string(given.size()) +
                      " tensors, which takes " + std::to_string(formal.size()));
    for (size_t i = 0; i < given.size(); ++i) {
      const Value *value = formal[i]->resultCount() ? formal[i]->result() : nullptr;
      if (!value || !value->isTensor() || !same(value->type(), given[i]))
        complain("gives its region " + toString(given[i]) + ", which takes " +
                 (value && value->isTensor() ? toString(value->type()) : std::string("none")));
    }
  }

  /// Nullopt after a complaint.
  std::optional<Types> gives(uint32_t region) {
    Types types;
    for (const Argument &argument : graphOf(region).outputNode()->args()) {
      const Value *value = argument.value();
      if (!value || !value->isTensor()) {
        complain("has a region that gives " + toString(argument) + ", which is not a tensor");
        return std::nullopt;
      }
      types.push_back(value->type());
    }
    return types;
  }

  void give(uint32_t region, const Types &wanted) {
    std::optional<Types> given = gives(region);
    if (!given)
      return;
    if (given->size() != wanted.size())
      return complain("has a region with " + std::to_string(given->size()) +
                      " results where there are " + std::to_string(wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i)
      if ((*given)[i].dtype != wanted[i].dtype || !sameDims((*given)[i].shape, wanted[i].shape))
        complain("has a region whose result " + std::to_string(i) + " is " + toString((*given)[i]) +
                 " where " + toString(wanted[i]) + " is wanted");
  }

  void dense(const std::vector<Value *> &values) {
    for (const Value *value : values)
      if (!value->type().isContiguous(symbols))
        complain("takes what is contiguous, got " + toString(value->type()));
  }

  Types results() {
    Types types;
    for (size_t i = 0; i < node.resultCount(); ++i) {
      const Value *value = node.result(i);
      if (!value->isTensor() || !value->type().isContiguous(symbols) ||
          !symbols.proveEqual(value->type().offset, 0)) {
        complain("gives contiguous tensors, the program says " +
                 (value->isTensor() ? toString(value->type()) : std::string("int")));
        return types;
      }
      types.push_back(value->type());
    }
    return types;
  }
  void isOne(const TensorType &type, const char *what) {
    if (type.dtype != DataType::Bool || !symbols.proveEqual(type.numel(), 1))
      complain(std::string(what) + " is " + toString(type) + ", expected a bool of one element");
  }

  void checkKind() {
    switch (form.kind) {
    case ControlKind::Cond:
      return checkCond();
    case ControlKind::WhileLoop:
      return checkWhile();
    case ControlKind::Scan:
    case ControlKind::AssociativeScan:
      return checkScan();
    }
  }

  void checkCond() {
    if (Value *value = flow.predicate.value(); value && value->isTensor())
      isOne(value->type(), "has a predicate that");
    else if (!flow.predicate.integer())
      complain("takes a predicate, got " + toString(flow.predicate));
    for (uint32_t region : node.regions) {
      takes(region, typesOf(flow.additional));
      give(region, results());
    }
  }

  void checkWhile() {
    dense(flow.carried);
    Types given = placesOf(flow.carried);
    append(given, typesOf(flow.additional));
    for (uint32_t region : node.regions)
      takes(region, given);
    give(node.regions[1], typesOf(flow.carried));
    if (Types made = results(); problem.empty())
      give(node.regions[1], made);
    if (std::optional<Types> condition = gives(node.regions[0])) {
      if (condition->size() != 1)
        return complain("has a condition of " + std::to_string(condition->size()) + " results");
      isOne((*condition)[0], "has a condition that");
    }
  }

  void checkScan() {
    dense(flow.carried);
    dense(flow.scanned);
    if (flow.scanned.empty())
      return complain("scans nothing");
    Types slices;
    for (const Value *value : flow.scanned) {
      if (value->type().rank() == 0 ||
          !symbols.proveEqual(value->type().shape[0], flow.scanned[0]->type().shape[0]))
        return complain("scans " + toString(value->type()) + " beside " +
                        toString(flow.scanned[0]->type()));
      slices.push_back(sliceOf(value->type()));
    }
    bool associative = form.kind == ControlKind::AssociativeScan;
    Types given = associative ? slices : placesOf(flow.carried);
    append(given, slices);
    append(given, typesOf(flow.additional));
    takes(node.regions[0], given);
    Types wanted = results();
    if (wanted.size() < flow.carried.size() || (associative && wanted.size() != slices.size()))
      return complain("has " + std::to_string(wanted.size()) + " results");
    for (size_t i = 0; i < wanted.size(); ++i) {
      TensorType &type = wanted[i];
      if (i < flow.carried.size()) {
        if (type.dtype != flow.carried[i]->type().dtype ||
            !sameDims(type.shape, flow.carried[i]->type().shape))
          complain("carries " + toString(flow.carried[i]->type()) + " and gives " + toString(type));
        continue;
      }
      if (type.rank() == 0 || !symbols.proveEqual(type.shape[0], flow.scanned[0]->type().shape[0]))
        return complain("stacks its results, the program says " + toString(type));
      type = sliceOf(type);
    }
    give(node.regions[0], wanted);
    if (associative)
      give(node.regions[0], slices);
  }

  const Node &node;
  const Program &program;
  const Form &form;
  const SymbolTable &symbols;
  ControlFlow flow;
  std::string problem;
};

void collectRegions(const Graph &graph, const Program &program, std::vector<bool> &seen,
                    std::vector<uint32_t> &out) {
  for (const Node &node : graph)
    for (uint32_t region : node.regions)
      if (!seen[region]) {
        seen[region] = true;
        collectRegions(program.bodies[region].graph, program, seen, out);
        out.push_back(region);
      }
}

} // namespace

std::vector<Value *> ControlFlow::operands() const {
  std::vector<Value *> all = carried;
  all.insert(all.end(), scanned.begin(), scanned.end());
  all.insert(all.end(), additional.begin(), additional.end());
  return all;
}

bool isControlFlow(const Node &node) { return formOf(node) != nullptr; }

ControlFlow controlFlowOf(const Node &node) {
  const Form &form = *formOf(node);
  ControlFlow flow;
  flow.kind = form.kind;
  size_t next = 0;
  if (form.kind == ControlKind::Cond)
    flow.predicate = node.arg(next++);
  if (form.kind == ControlKind::WhileLoop || form.kind == ControlKind::Scan)
    flow.carried = *tensorsIn(node.arg(next++));
  if (form.kind == ControlKind::Scan || form.kind == ControlKind::AssociativeScan)
    flow.scanned = *tensorsIn(node.arg(next++));
  flow.additional = *tensorsIn(node.arg(next));
  if (const Argument *reverse = node.kwarg("reverse"))
    flow.reverse = reverse->as<bool>().value_or(false);
  return flow;
}

std::string whyNotControlFlow(const Node &node, const Program &program) {
  return ControlChecker(node, program, *formOf(node)).run();
}

std::unordered_set<const Value *> carriedPlaceholders(const Program &program) {
  std::map<uint32_t, size_t> counts; // of each region: how many of its placeholders
  auto take = [&](const Graph &graph) {
    for (const Node &node : graph) {
      if (!isControlFlow(node))
        continue;
      size_t carried = controlFlowOf(node).carried.size();
      for (uint32_t region : node.regions) {
        size_t count = region == node.regions.back() ? carried : 0;
        auto [entry, isNew] = counts.emplace(region, count);
        entry->second = std::min(entry->second, count);
      }
    }
  };
  take(program.main);
  for (const Body &body : program.bodies)
    take(body.graph);
  std::unordered_set<const Value *> found;
  for (auto [region, count] : counts) {
    std::vector<Node *> placeholders = program.bodies[region].graph.placeholders();
    for (size_t i = 0; i < count; ++i)
      found.insert(placeholders[i]->result());
  }
  return found;
}

Expr turnsOf(const ControlFlow &flow) {
  Expr slices = flow.scanned[0]->type().shape[0];
  return flow.kind == ControlKind::AssociativeScan ? symbolic::max(slices - 1, 0) : slices;
}

TensorType sliceOf(const TensorType &type) {
  TensorType slice = type;
  slice.shape.erase(slice.shape.begin());
  slice.strides.erase(slice.strides.begin());
  slice.offset = 0;
  return slice;
}

TensorType stackOf(const TensorType &slice, const Expr &count) {
  std::vector<Expr> shape = slice.shape;
  shape.insert(shape.begin(), count);
  return TensorType(slice.dtype, std::move(shape), slice.device);
}

std::vector<uint32_t> regionsOf(const Graph &graph, const Program &program) {
  std::vector<bool> seen(program.bodies.size());
  std::vector<uint32_t> out;
  collectRegions(graph, program, seen, out);
  return out;
}

RegionAsMain::RegionAsMain(Program &p, uint32_t index)
    : program(p), region(p.bodies[index].graph), inputs(std::move(p.inputs)),
      outputs(std::move(p.outputs)) {
  program.inputs.clear();
  program.outputs.clear();
  for (const Node *node : region.placeholders()) {
    InputSpec spec;
    spec.name = node->name();
    program.inputs.push_back(std::move(spec));
  }
  for (size_t i = 0; i < region.outputNode()->args().size(); ++i)
    program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  std::swap(program.main, region);
}

RegionAsMain::~RegionAsMain() {
  std::swap(program.main, region);
  program.inputs = std::move(inputs);
  program.outputs = std::move(outputs);
}

} // namespace pellucid::graph
