// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveFunctionalized.h"

#include "trace/ArchiveReplay.h"
#include "trace/OperatorCall.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using AKind = archive::Argument::Kind;

static const std::string byBases = "higher_order.auto_functionalized_v2";
static const std::string bySchema = "higher_order.auto_functionalized";

bool isFunctionalized(const std::string &target) { return target == byBases || target == bySchema; }

namespace {

/// The keywords of one node, each of which is taken once.
class FunctionalizedWords {
public:
  explicit FunctionalizedWords(const archive::Node &node) {
    for (size_t i = 1; i < node.inputs.size(); ++i)
      words.push_back(node.inputs[i]);
  }

  FunctionalizedCall read() {
    FunctionalizedCall made;
    archive::Argument bases = take("_all_bases");
    if (bases.kind != AKind::List)
      fail("has no list of the tensors that are written to");
    made.bases = bases.elements;
    for (const std::string &name : namesBefore("_length")) {
      WrittenArgument argument{name, true, {}};
      archive::Argument length = take("_" + name + "_length");
      if (length.kind != AKind::Int || length.integer < 0 ||
          static_cast<size_t>(length.integer) > words.size())
        fail("does not say how many tensors '" + name + "' has");
      for (int64_t i = 0; i < length.integer; ++i)
        argument.places.push_back(place(name + "_" + std::to_string(i), made.bases.size()));
      made.written.push_back(std::move(argument));
    }
    for (const std::string &name : namesBefore("_base_index"))
      made.written.push_back({name, false, {place(name, made.bases.size())}});
    made.call.inputs = std::move(words);
    return made;
  }

private:
  [[noreturn]] static void fail(const std::string &what) {
    throw DiagnosticError(SourceLocation(), "a call of an operator that writes " + what);
  }

  bool has(const std::string &name) const {
    return std::any_of(words.begin(), words.end(), [&](const auto &w) { return w.name == name; });
  }

  archive::Argument take(const std::string &name) {
    auto found = std::find_if(words.begin(), words.end(),
                              [&](const auto &word) { return word.name == name; });
    if (found == words.end())
      fail("lacks '" + name + "'");
    archive::Argument value = std::move(found->value);
    words.erase(found);
    return value;
  }

  /// `x` of `_x_base_index`, in order.
  std::vector<std::string> namesBefore(std::string_view ending) const {
    std::vector<std::string> names;
    for (const archive::NamedArgument &word : words)
      if (word.name.size() > ending.size() + 1 && word.name[0] == '_' &&
          word.name.ends_with(ending))
        names.push_back(word.name.substr(1, word.name.size() - ending.size() - 1));
    return names;
  }

  WrittenPlace place(const std::string &name, size_t bases) {
    WrittenPlace made;
    std::string prefix = "_" + name;
    archive::Argument base = take(prefix + "_base_index");
    if (base.kind == AKind::None)
      return made;
    if (base.kind != AKind::Int || base.integer < 0 || static_cast<size_t>(base.integer) >= bases)
      fail("says that '" + name + "' lies in a tensor that it does not list");
    made.base = static_cast<size_t>(base.integer);
    auto view = [&](const char *target,
                    std::initializer_list<std::pair<const char *, const char *>> parts) {
      made.view = target;
      for (auto [ending, word] : parts)
        made.words.push_back({word, take(prefix + ending), true});
    };
    if (has(prefix + "_alias"))
      take(prefix + "_alias");
    else if (has(prefix + "_storage_offset"))
      view("aten.as_strided.default",
           {{"_size", "size"}, {"_stride", "stride"}, {"_storage_offset", "storage_offset"}});
    else if (has(prefix + "_slice_dim"))
      view("aten.slice.Tensor",
           {{"_slice_dim", "dim"}, {"_slice_start", "start"}, {"_slice_end", "end"}});
    return made;
  }

  std::vector<archive::NamedArgument> words;
};

} // namespace

FunctionalizedCall functionalizedCall(const archive::Node &node) {
  if (node.inputs.empty() || node.inputs[0].value.kind != AKind::String)
    throw DiagnosticError(SourceLocation(), "'" + targetOf(node) + "' names no operator");
  FunctionalizedCall made;
  if (targetOf(node) == bySchema) {
    made.isBySchema = true;
    made.call.inputs.assign(node.inputs.begin() + 1, node.inputs.end());
  } else {
    made = FunctionalizedWords(node).read();
  }
  made.call.target = node.inputs[0].value.text;
  made.call.name = node.name;
  made.call.place = node.place;
  made.call.outputs = node.outputs;
  if (made.call.outputs.size() >= made.bases.size())
    made.call.outputs.resize(made.call.outputs.size() - made.bases.size());
  return made;
}

archive::Node shownCall(const archive::Node &node) {
  if (!isFunctionalized(targetOf(node)))
    return node;
  FunctionalizedCall made = functionalizedCall(node);
  for (const WrittenArgument &argument : made.written) {
    archive::Argument tensor, list;
    tensor.kind = AKind::Tensor;
    list.kind = AKind::List;
    list.elements = {tensor};
    made.call.inputs.push_back({argument.name, argument.isList ? list : tensor, true});
  }
  return made.call;
}

h::Value ArchiveReplay::viewOfBase(const WrittenPlace &place, const FunctionalizedCall &made,
                                   const std::vector<h::Value> &bases, const archive::Graph &graph,
                                   const ArchiveScope &values) {
  if (!place.base)
    return {};
  const h::Value &base = bases[*place.base];
  if (place.view.empty())
    return base;
  if (place.view.starts_with("aten.as_strided"))
    checkOrder(place.view, *base.as<TensorObject>(), made.bases[*place.base].text, graph);
  h::CallArgs args;
  args.location = current;
  args.positional = {base};
  for (const archive::NamedArgument &word : place.words)
    args.keywords.emplace_back(word.name, hostValue(word.value, values, graph));
  return callAten(tracer, *interpreter, place.view, args);
}

h::Value ArchiveReplay::copyOf(const h::Value &tensor) {
  if (!tensor.as<TensorObject>())
    interpreter->refuse("an operator writes to something that is not a tensor");
  return interpreter->call(interpreter->getAttr(tensor, "clone"), h::CallArgs());
}

/// The operator writes to copies, which the node gives behind its results.
h::Value ArchiveReplay::functionalized(const archive::Node &node, const archive::Graph &graph,
                                       ArchiveScope &values) {
  FunctionalizedCall made = functionalizedCall(node);
  auto op = interpreter->operators.find(userName(targetOf(made.call)));
  if (op == interpreter->operators.end())
    interpreter->refuse("'" + targetOf(made.call) +
                        "', which writes to its arguments, is no operator of the model's own");
  h::CallArgs args;
  args.location = current;
  for (const archive::NamedArgument &input : made.call.inputs)
    args.keywords.emplace_back(input.name, hostValue(input.value, values, graph));
  std::vector<h::Value> copies;
  for (const archive::Argument &base : made.bases)
    copies.push_back(copyOf(hostValue(base, values, graph)));
  for (const WrittenArgument &argument : made.written) {
    h::List tensors;
    for (const WrittenPlace &place : argument.places)
      tensors.push_back(viewOfBase(place, made, copies, graph, values));
    args.keywords.emplace_back(argument.name,
                               argument.isList ? h::Value::list(std::move(tensors)) : tensors[0]);
  }
  if (made.isBySchema)
    for (const SchemaArgument &argument : schemaOf(*interpreter, *op->second).arguments)
      for (auto &[name, value] : args.keywords) {
        if (name != argument.name || !argument.type.mutated || value.isNone())
          continue;
        h::List list;
        if (value.isSequence())
          for (const h::Value &element : value.elements())
            list.push_back(copyOf(element));
        value = value.isSequence() ? h::Value::list(std::move(list)) : copyOf(value);
        copies.push_back(value);
      }
  std::vector<h::Value> results = {hooks.callOperator(*interpreter, op->second, std::move(args))};
  results.insert(results.end(), copies.begin(), copies.end());
  return asTuple(std::move(results));
}

} // namespace pellucid::trace
