// SPDX-License-Identifier: Apache-2.0
/// Replays an archive's graph through the tracer, as the evaluator runs a file: writes, views and
/// types follow the same rules, so that a model and its archive give the same program.
#pragma once

#include "trace/ArchiveFunctionalized.h"
#include "trace/ArchiveGuards.h"
#include "trace/ArchiveRoutes.h"
#include "trace/ArchiveValues.h"
#include "trace/CheckedSizes.h"
#include "trace/RecordControl.h"
#include "trace/TensorCalls.h"
#include "trace/TraceSession.h"

#include <set>
#include <tuple>

namespace pellucid::trace {

/// The replay of one archive; another one for each way of taking its guards.
class ArchiveReplay {
public:
  ArchiveReplay(const archive::Archive &a, const TraceOptions &o, OddGuards g = OddGuards::Checked);
  graph::Program run(const std::vector<std::string> &kernels);
  size_t checkedGuards = 0; ///< those that the program checks when it runs

private:
  [[noreturn]] void fail(const std::string &message) const;
  Diagnostic placed(Diagnostic diagnostic) const;

  // --- inputs

  void bindInputs();
  const archive::TensorMeta &metaOf(const std::string &name) const;
  void bindUserInput(const archive::Input &input);
  host::Value userTensor(const std::string &name, const graph::TensorType &type);
  void bindNumber(const archive::Argument &given);
  void define(const std::string &name, host::Value value);
  static std::vector<Expr> exprs(const std::vector<int64_t> &numbers);
  TracedTensor weightPlaceholder(const archive::Input &input, graph::Weight weight);
  void bindWeight(const archive::Input &input);
  TracedTensor boundWeight(const archive::Input &input, const archive::Tensor &tensor);
  TracedTensor viewOf(TracedTensor &whole, const char *target,
                      std::vector<graph::Argument> arguments);

  // --- nodes

  void replay(const archive::Graph &graph, ArchiveScope &values);
  host::Value resultOf(const archive::Node &node, const archive::Graph &graph,
                       ArchiveScope &values);
  void checkOrder(const std::string &target, const TensorObject &given, const std::string &name,
                  const archive::Graph &graph);
  host::Value complexCall(const std::string &target, host::CallArgs args);
  host::Value writeInPlace(const std::string &target, ArchiveRoute route, host::CallArgs args);
  TensorObject &tensorArgument(const archive::Node &node, const archive::Graph &graph,
                               const ArchiveScope &values);
  host::Value conditionOf(TensorObject &tensor);
  host::Value itemOfNode(const archive::Node &node, const archive::Graph &graph,
                         ArchiveScope &values);
  void assertSizes(const archive::Node &node, const std::string &target,
                   const archive::Graph &graph, ArchiveScope &values);
  void assertCondition(const host::Value &value, const std::string &message);
  host::Value ownCall(const archive::Node &node, const std::string &target,
                      const archive::Graph &graph, ArchiveScope &values);

  // --- operators that write to their arguments

  host::Value copyOf(const host::Value &tensor);
  host::Value viewOfBase(const WrittenPlace &place, const FunctionalizedCall &made,
                         const std::vector<host::Value> &bases, const archive::Graph &graph,
                         const ArchiveScope &values);
  host::Value functionalized(const archive::Node &node, const archive::Graph &graph,
                             ArchiveScope &values);

  // --- nested graphs

  std::vector<host::Value> nested(const archive::Graph &graph,
                                  const std::vector<host::Value> &operands);
  std::vector<host::Value> operandsAfter(const archive::Node &node, size_t first,
                                         const archive::Graph &graph, const ArchiveScope &values);
  static host::Value asTuple(std::vector<host::Value> values);
  const archive::Graph &graphArgument(const archive::Node &node, size_t index);
  host::Value inlined(const archive::Node &node, size_t at, const archive::Graph &graph,
                      ArchiveScope &values);
  host::Value withAutocast(const archive::Node &node, const archive::Graph &graph,
                           ArchiveScope &values);
  std::vector<host::Value> listArgument(const archive::Node &node, size_t index,
                                        const archive::Graph &graph, const ArchiveScope &values);
  RegionFunction regionOf(const archive::Node &node, size_t index, const std::string &what);
  size_t takeDim(const archive::Node &node, size_t index, const archive::Graph &graph,
                 ArchiveScope &values, ControlCall &call);
  host::Value control(const archive::Node &node, graph::ControlKind kind,
                      const archive::Graph &graph, ArchiveScope &values);

  // --- results

  static void flatten(host::Interpreter &interpreter, const host::Value &value,
                      std::vector<host::Value> &out);
  static void collectNames(const archive::Argument &output,
                           std::vector<const archive::Argument *> &names);
  void bindResults(const archive::Node &node, const archive::Graph &graph, ArchiveScope &values,
                   const host::Value &result);
  bool isSize(const Expr &size, const Expr &said);
  static bool hasDimTooMany(const archive::Node &node, const graph::TensorType &type,
                            const archive::TensorMeta &meta);
  void checkResult(const archive::Node &node, const archive::Argument &name,
                   const archive::Graph &graph, const host::Value &given);

  // --- names of sizes

  std::optional<Expr> sizeSaid(const Expr &said) const;
  host::Value strided(const host::Value &tensor, const std::vector<Expr> &sizes,
                      const std::vector<Expr> &strides);
  host::Value called(const host::Value &tensor, const std::vector<Expr> &sizes);
  void check(const Expr &condition, const std::string &text);
  host::Value withSizesSaid(const archive::Argument &name, const archive::Graph &graph,
                            host::Value given);
  std::optional<host::Value> viewChecked(const archive::Node &node, const std::string &target,
                                         const archive::Graph &graph, const ArchiveScope &values);
  Expr nameAmong(const std::vector<Expr> &names, const Expr &size) const;
  host::Value calledAmong(const std::vector<Expr> &names, const host::Value &value);
  host::CallArgs calledAlike(host::CallArgs args, const host::Value *written = nullptr);

  // --- outputs

  void writeMutations();
  void addMutations(const std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> &list,
                    graph::OutputSpec::Kind kind, std::vector<graph::Argument> &outputs);
  void finish();
  host::Value tensorOfResult(const host::Value &value);
  void addResult(const archive::Argument &output, host::Value value,
                 std::vector<graph::Argument> &results);

  using Memory =
      std::tuple<const std::byte *, DataType, int64_t, std::vector<int64_t>, std::vector<int64_t>>;
  const archive::Archive &archive;
  const TraceOptions &options;
  OddGuards odd;
  ArchiveText text;
  Tracer tracer;
  TraceHooks hooks;
  std::unique_ptr<host::Interpreter> interpreter;
  ArchiveScope scope; ///< of the main graph
  std::set<std::string> symbolsGiven = symbolsOfInputs(archive);
  std::map<std::string, Expr> told; ///< by the archive's name
  CheckedSizes checked;
  SourceLocation current;
  host::Value kept; ///< keeps the tensor that tensorArgument() gave
  std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> buffers, userInputs;
  std::map<Memory, TracedTensor> bound; ///< tied tensors are one
  std::map<const std::byte *, std::vector<std::shared_ptr<TracedStorage>>> viewsOf;
};

} // namespace pellucid::trace
