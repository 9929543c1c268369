// SPDX-License-Identifier: Apache-2.0
/// Records operators, launches and user operators on traced tensors into a graph::Program. The C++
/// API and the host tracer both stand on it. One tracer per trace, one thread.
#pragma once

#include "autograd/Tape.h"
#include "graph/Program.h"
#include "graph/Registry.h"
#include "support/Diagnostics.h"
#include "trace/CpuGenerator.h"
#include "trace/ScriptDevices.h"
#include "trace/TensorText.h"
#include "trace/TuneConfigs.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pellucid::trace {

using graph::Expr;

/// How a parameter's values are made when none are given.
struct Initializer {
  enum class Kind : uint8_t { None, Zeros, Ones, Full, Drawn, Listed } kind = Kind::None;
  double value = 0;                                            ///< Full
  std::vector<double> values;                                  ///< Listed: one per element
  std::shared_ptr<const CpuGenerator::Handle> drawn = nullptr; ///< Drawn
  std::vector<DataType> through = {}; ///< types that the values were converted to since, in order
  std::vector<int64_t> integers = {}; ///< Full, Listed: the values where a double may not hold them
};

struct TracedStorage;
struct PinnedMemory;
class EagerRecorder;

/// That a copy was made which for some sizes is the operand itself.
struct PossibleAlias {
  std::weak_ptr<TracedStorage> other;
  SourceLocation where;
  std::string target;
  graph::TensorType operand;
  /// What it is under these symbols; empty where the operand's strides in PyTorch are not known.
  std::function<graph::Aliasing(const graph::SymbolTable &)> decide;
};

/// The write after which it matters.
struct AliasConflict {
  PossibleAlias alias;
  SourceLocation written;
};

/// Memory that traced tensors share: its contents so far, as one value of the graph.
struct TracedStorage {
  graph::Value *base = nullptr; ///< null before a parameter is bound to its placeholder
  /// Of a script: its values, as long as nothing is written to it.
  std::shared_ptr<const ConcreteMemory> memory;
  std::shared_ptr<PinnedMemory> pinned; ///< where the script asked for its address
  graph::Device device;                 ///< where the program thinks that it lies
  /// False where a part of torch of ours made it for itself: it goes along with any device.
  bool isPlaced = true;
  graph::TensorType type; ///< of base
  uint64_t version = 0;   ///< counts the writes
  uint64_t counted = 0;   ///< counts those that reverse mode sees: kernels' are not
  Initializer initializer;
  bool constructed = false; ///< base is a value of Tracer::constructed
  std::optional<SourceLocation>
      written; ///< surely, not only as far as the access analysis cannot tell
  bool isParameter = false;
  bool outlivesCall = false; ///< made outside of forward
  bool stridesKnown = true;  ///< type's strides are those that PyTorch gives
  std::vector<PossibleAlias> possibleAliases;
  std::optional<AliasConflict> conflict; ///< set: what it holds is not known
  std::string unreadable;                ///< set: there is no memory, and why
};

/// A tensor while tracing: a view of a storage. Cheap to copy.
class TracedTensor {
public:
  std::shared_ptr<TracedStorage> storage;
  graph::TensorType type;
  graph::Value *value =
      nullptr; ///< what it was when it was made; stale when the storage was written since
  uint64_t version = 0;
  uint64_t segment = 0;    ///< of Tracer::segment, that `value` belongs to
  bool mayOverlap = false; ///< several of its elements may have one place
};

class DecisionPath;

/// Thrown through the host program while Tracer::askedSymbols is set; no host handler sees it.
struct UndecidedCondition {};

class Tracer {
public:
  Tracer() { current = &program.main; }

  /// No other tracer of this process has it, later ones at the same address included.
  const uint64_t identity = nextIdentity();
  graph::Program program;
  graph::OperatorRegistry registry;
  bool strict = false;
  /// What reverse mode notes. Without Mode::available, no tensor requires a gradient.
  autograd::Mode gradients;
  /// The last call(), while gradients are available; its values may be gone.
  std::optional<graph::OperatorCall> called;
  uint64_t draws = 0; ///< calls that drew random numbers, while gradients are available
  /// The device that tensors say they are on: "cpu" or "cuda". Nothing is placed by it.
  std::string assumedDevice = "cpu";
  /// The kinds of devices that the program is made for, which choose among an operator's kernels;
  /// empty: assumedDevice.
  std::vector<std::string> kernelDevices;
  /// While set, a condition over dynamic dims that cannot be proved is not decided: its symbols are
  /// added and UndecidedCondition is thrown.
  std::set<std::string> *askedSymbols = nullptr;
  /// While set, it answers the conditions over dynamic dims that cannot be proved.
  DecisionPath *path = nullptr;
  /// Whether branches over dynamic dims may become selections, and whether one was tried.
  bool mergesBranches = true, merged = false;
  /// Conditions that were not proved and followed the hints, with the side taken.
  std::vector<std::pair<Expr, bool>> followed;
  /// Computes the tensors of a script when their values are needed; null while a model is traced.
  EagerRecorder *recorder = nullptr;
  uint64_t segment = 0; ///< which of a script's programs is being recorded
  /// Of a script: what it may ask for beside the CPU. Null: nothing.
  ScriptDevices *devices = nullptr;
  PrintOptions printing;
  /// Which config a launch takes; empty: the first.
  ConfigChooser chooseConfig;
  /// Warnings go here.
  std::function<void(Diagnostic)> warn = [](Diagnostic) {};

  /// Between these two, operators are recorded into `constructed`: what module constructors and
  /// files compute from initial tensors, its placeholders.
  void beginConstruction();
  void endConstruction();
  bool isConstructing() const { return constructing; }
  /// What constructors and files draw their initial values from, in the order of their calls.
  std::shared_ptr<CpuGenerator> generator = std::make_shared<CpuGenerator>(0);
  graph::Graph constructed;
  std::vector<std::shared_ptr<TracedStorage>> constructedLeaves; ///< one per placeholder
  /// Tensors of listed values that the main graph uses and nothing registers: its last
  /// placeholders, in order, each a constant of the program.
  std::vector<std::pair<std::string, std::shared_ptr<TracedStorage>>> lifted;

  /// Symbols whose values the program reads (graph/HostSteps.h), and where.
  std::map<std::string, const graph::Graph *> readSymbols;
  static constexpr const char *madeInRegion = "this tensor was made inside of a branch or a loop's "
                                              "body and is none of its results; return it";
  /// Whether it is a region that has been recorded: nothing outside has its values.
  bool hasEnded(const graph::Graph *region) const { return endedRegions.count(region) != 0; }
  /// What operators computed of a value and will be asked for again: TensorObjects.
  std::map<const graph::Value *, std::shared_ptr<void>> remembered;

  const graph::SymbolTable &symbols() const { return program.symbols; }
  graph::Graph &graph() { return *current; }

  /// A tensor that is an input of the graph being recorded.
  TracedTensor placeholder(const std::string &name, const graph::TensorType &type);
  /// A tensor without a value yet (a parameter while its module is constructed).
  TracedTensor unbound(const graph::TensorType &type, Initializer initializer);
  void bind(TracedTensor &tensor, graph::Value *value);

  /// The value that `tensor` has now, with every write through any view of its memory applied.
  graph::Value *valueOf(TracedTensor &tensor, const SourceLocation &where);
  /// The same as a view of the whole memory, all of which may be reached from it.
  graph::Value *valueInMemory(TracedTensor &tensor, const SourceLocation &where);
  /// x.view(dtype): the same memory, its elements' bits as another type's of the same size.
  TracedTensor viewAs(const TracedTensor &tensor, DataType dtype, const SourceLocation &where);
  TracedTensor wrap(graph::Value *value);

  /// Which of `operands` (the tensors in `args` and `kwargs`, current values) the call gives back
  /// as it is, such as contiguous() of what is contiguous.
  std::optional<size_t> givenBack(const std::string &packet,
                                  const std::vector<graph::Argument> &args,
                                  const graph::KeywordArguments &kwargs,
                                  const std::vector<TracedTensor *> &operands,
                                  const SourceLocation &where);
  std::optional<size_t> givenBack(const graph::Operator &op,
                                  const std::vector<graph::Argument> &args,
                                  const graph::KeywordArguments &kwargs,
                                  const std::vector<TracedTensor *> &operands,
                                  const SourceLocation &where);
  /// Records `aten.<name>` (or a whole target) and wraps its results: views share their operand's
  /// storage.
  std::vector<TracedTensor> call(const std::string &packet, std::vector<graph::Argument> args,
                                 graph::KeywordArguments kwargs,
                                 const std::vector<TracedTensor *> &operands,
                                 const SourceLocation &where);
  std::vector<TracedTensor> call(const graph::Operator &op, std::vector<graph::Argument> args,
                                 graph::KeywordArguments kwargs,
                                 const std::vector<TracedTensor *> &operands,
                                 const SourceLocation &where);
  /// `tensor`'s elements become those of `contents` (cast to its type and broadcast by the caller;
  /// `uniform`: all of one value, so that it does not matter where elements overlap).
  void write(TracedTensor &tensor, graph::Value *contents, const SourceLocation &where,
             bool uniform = false);
  /// Refuses where it is not known whether a write reached this memory.
  void checkKnown(const TracedStorage &storage, const SourceLocation &where) const;

  /// The whole of `storage`, of its own type.
  void overwrite(const std::shared_ptr<TracedStorage> &storage, graph::Value *contents,
                 const SourceLocation &where);

  /// One operand of a launch: a tensor or anything else.
  struct LaunchArgument {
    std::string name;
    TracedTensor *tensor = nullptr;
    graph::Argument value;
    graph::Access access = graph::Access::None;
    bool unknownAccess = false;
  };
  void launch(std::vector<graph::LaunchVariant> variants, std::vector<LaunchArgument> arguments,
              const std::string &name, const SourceLocation &where);

  /// Records into `other` until the returned guard goes.
  class Redirect {
  public:
    Redirect(Tracer &t, graph::Graph &other) : tracer(t), saved(t.current) { t.current = &other; }
    ~Redirect() { tracer.current = saved; }
    graph::Graph *outside() const { return saved; }

  private:
    Tracer &tracer;
    graph::Graph *saved;
  };

  /// What a region writes of memory that was made outside of it.
  struct RegionWrites {
    struct Outer {
      std::shared_ptr<TracedStorage> storage;
      graph::Value *before; ///< what it held outside
    };
    std::vector<Outer> outer; ///< in the order of the first writes
    /// Memory of operands, which stands for memory outside; whether some of it was written.
    std::set<const TracedStorage *> operands;
    bool writesOperand = false;
  };

  /// Records into a region of control flow until the guard goes. Tensors made outside can be read
  /// there, and become operands of the call. What is written of them is noted in `writes`, and
  /// holds to the end of the region.
  class Region {
  public:
    Region(Tracer &tracer, graph::Graph &region, std::string what, RegionWrites &writes);
    ~Region();
    /// In the region, the storage holds `value` from here on.
    void hold(const std::shared_ptr<TracedStorage> &storage, graph::Value *value);

  private:
    Tracer &tracer;
    Redirect redirect;
    graph::Graph &region;
  };

private:
  static uint64_t nextIdentity();

  /// A region that is being recorded, and what it is to the user.
  struct OpenRegion {
    graph::Graph *inside, *outside;
    std::string what;
    RegionWrites *writes;
  };
  /// False: what is recorded will be recorded again, and the write need not be.
  bool beginWrite(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where);

  /// A copy of the bits, where the types differ.
  graph::Value *bitsAs(graph::Value *value, DataType dtype, const SourceLocation &where);
  graph::Value *baseOf(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where);
  graph::Value *withoutRepeats(graph::TensorType &place, graph::Value *contents,
                               const SourceLocation &where);
  void linkPossibleAlias(TracedTensor &operand, TracedTensor &result,
                         const graph::OperatorCall &call);
  bool settleAsCopy(const PossibleAlias &alias);
  void noteWrite(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where);
  graph::Value *lift(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where);
  bool isCurrent(const TracedTensor &tensor) const;
  void setValue(TracedTensor &tensor, graph::Value *value) const;
  void noteWritten(TracedTensor &tensor, const SourceLocation &where);

  friend class EagerRecorder;

  /// Both sides of every possible alias: a chain of them holds after its middle is dropped.
  std::vector<std::shared_ptr<TracedStorage>> linked;
  graph::Graph *current;
  std::vector<OpenRegion> regions;             ///< inner ones last
  std::set<const graph::Graph *> endedRegions; ///< nothing outside has their values
  bool constructing = false;
};

} // namespace pellucid::trace
