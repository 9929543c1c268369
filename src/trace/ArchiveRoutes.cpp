// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveRoutes.h"

#include "support/Diagnostics.h"
#include "trace/ArchiveComplex.h"
#include "trace/ArchiveFunctionalized.h"
#include "trace/ArchiveNumbers.h"
#include "trace/ArchiveValues.h"
#include "trace/AtenComposites.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;

static bool isInPlace(const std::string &name) {
  return name.size() > 1 && name.back() == '_' && name.front() != '_';
}
std::string functionalTarget(const std::string &target) {
  if (target == "aten.normal_.default")
    return "aten.normal_functional.default";
  if (target == "aten.bernoulli_.float")
    return "pellucid.bernoulli.default";
  // Overloads that have another name in place.
  static const std::map<std::string_view, std::string> named = {
      {"aten.pow_.Scalar", "aten.pow.Tensor_Scalar"},
      {"aten.pow_.Tensor", "aten.pow.Tensor_Tensor"},
      {"aten.float_power_.Scalar", "aten.float_power.Tensor_Scalar"},
      {"aten.float_power_.Tensor", "aten.float_power.Tensor_Tensor"},
      {"aten.floor_divide_.Tensor", "aten.floor_divide.default"},
      {"aten.ldexp_.default", "aten.ldexp.Tensor"},
      {"aten.transpose_.default", "aten.transpose.int"}};
  if (auto other = named.find(target); other != named.end())
    return other->second;
  size_t first = target.find('.'), last = target.rfind('.');
  if (first == std::string::npos || first == last)
    return {};
  std::string name = target.substr(first + 1, last - first - 1);
  return isInPlace(name)
             ? target.substr(0, first + 1) + name.substr(0, name.size() - 1) + target.substr(last)
             : std::string();
}

bool isWrite(const std::string &target) {
  return target == "aten.copy_.default" || target == "aten.fill_.Scalar" ||
         target == "aten.fill_.Tensor" || target == "aten.zero_.default";
}

bool turnsInPlace(const std::string &target) {
  static const std::set<std::string_view> names = {"t_",        "transpose_", "swapaxes_",
                                                   "swapdims_", "squeeze_",   "unsqueeze_",
                                                   "resize_",   "resize_as_"};
  return target.starts_with("aten.") && names.contains(target.substr(5, target.rfind('.') - 5));
}

std::string userName(const std::string &target) {
  size_t first = target.find('.'), last = target.rfind('.');
  if (first == std::string::npos || first == last)
    return {};
  return target.substr(0, first) + "::" + target.substr(first + 1, last - first - 1);
}

bool isItem(const std::string &target) {
  return target == "aten.item.default" || target == "aten._local_scalar_dense.default";
}

bool isAssertion(const std::string &target) {
  return target == "aten._assert_tensor_metadata.default" ||
         target == "aten._assert_scalar.default" ||
         // Of the numbers that torch.tensor is given; nothing reads it.
         target == "aten.promote_types.default" ||
         target == "aten.sym_constrain_range_for_size.default" ||
         target == "aten.sym_constrain_range.default";
}

std::optional<ControlKind> controlKindOf(const std::string &target) {
  static const std::map<std::string_view, ControlKind> kinds = {
      {"higher_order.cond", ControlKind::Cond},
      {"higher_order.while_loop", ControlKind::WhileLoop},
      {"higher_order.scan", ControlKind::Scan},
      {"higher_order.map_impl", ControlKind::Scan},
      {"higher_order.associative_scan", ControlKind::AssociativeScan}};
  auto kind = kinds.find(target);
  return kind == kinds.end() ? std::nullopt : std::optional(kind->second);
}

std::optional<ArchiveRoute> routeOf(const Tracer &tracer, h::Interpreter &interpreter,
                                    const std::string &target) {
  if (controlKindOf(target) || isFunctionalized(target) ||
      target == "higher_order.wrap_with_set_grad_enabled" ||
      target == "higher_order.wrap_with_autocast" || target == "aten.sym_size.int" ||
      target == "aten.sym_numel.default" || target == "aten.sym_stride.int" ||
      target == "aten.sym_storage_offset.default" || isItem(target) || isAssertion(target))
    return ArchiveRoute::Own;
  if (isNumberCall(target))
    return ArchiveRoute::Number;
  if (interpreter.operators.count(userName(target)))
    return ArchiveRoute::User;
  if (tracer.registry.find(target))
    return ArchiveRoute::Registered;
  if (findAtenComposite(interpreter, target))
    return ArchiveRoute::Composite;
  std::string functional = functionalTarget(target);
  if (isWrite(target) || tracer.registry.find(functional))
    return ArchiveRoute::InPlace;
  if (findAtenComposite(interpreter, functional))
    return ArchiveRoute::InPlaceComposite;
  if (complexOperator(interpreter, target))
    return ArchiveRoute::Complex;
  return std::nullopt;
}

namespace {

class MissingOperators {
public:
  MissingOperators(const Archive &a, const Tracer &t, h::Interpreter &i)
      : archive(a), tracer(t), interpreter(i) {}

  void run() {
    std::vector<std::pair<std::string, Missing>> missing;
    collectMissing(*archive.graph, missing);
    if (missing.empty())
      return;
    std::string list;
    for (const auto &[target, entry] : missing)
      list += "\n  " + entry.schema + ": " + whyMissing(target) + " (" +
              std::to_string(entry.count) + (entry.count == 1 ? " node" : " nodes") +
              (entry.place.empty() ? "" : ", first at " + entry.place) + ")";
    throw DiagnosticError(
        SourceLocation(archive.path),
        (missing.size() == 1 ? std::string("an operator of this archive is")
                             : std::to_string(missing.size()) + " operators of this archive are") +
            " not there" + list);
  }

private:
  struct Missing {
    std::string schema, place;
    size_t count = 0;
  };

  void collectMissing(const archive::Graph &graph,
                      std::vector<std::pair<std::string, Missing>> &missing) const {
    for (const archive::Node &given : graph.nodes) {
      for (const archive::NamedArgument &input : given.inputs)
        if (input.value.graph)
          collectMissing(*input.value.graph, missing);
      std::optional<archive::Node> called;
      if (isFunctionalized(targetOf(given)))
        called = shownCall(given);
      const archive::Node &node = called ? *called : given;
      std::string target = targetOf(node);
      if (routeOf(tracer, interpreter, target))
        continue;
      auto known = std::find_if(missing.begin(), missing.end(),
                                [&](const auto &entry) { return entry.first == target; });
      if (known == missing.end())
        known = missing.insert(missing.end(), {target, {schemaText(node), node.place, 0}});
      ++known->second.count;
    }
  }

  std::string whyMissing(const std::string &target) {
    size_t dot = target.find('.'), last = target.rfind('.');
    std::string space = target.substr(0, dot);
    if (space == "higher_order")
      return "this higher-order operator is not supported";
    if (space == "aten" || space == "prims") {
      std::string reason = whyNotCompiled(interpreter, target.substr(0, last));
      return reason.empty() ? "not supported" : reason;
    }
    if (target.starts_with("torch._functorch."))
      return "a transform of torch.func, which run_decompositions() opens: save what it gives";
    if (target.starts_with("_operator.") || target.starts_with("torch."))
      return "not supported for sizes";
    return "an operator of the model's own; name the file that defines it with --kernels FILE.py";
  }

  const Archive &archive;
  const Tracer &tracer;
  h::Interpreter &interpreter;
};

} // namespace

void refuseMissing(const Archive &archive, const Tracer &tracer, h::Interpreter &interpreter) {
  MissingOperators(archive, tracer, interpreter).run();
}

} // namespace pellucid::trace
