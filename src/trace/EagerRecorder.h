// SPDX-License-Identifier: Apache-2.0
/// Tensors of a script: operators are recorded, and computed when a value is needed. What was
/// recorded since the last time is a segment: a program of its own, compiled once per structure.
#pragma once

#include "trace/Addresses.h"
#include "trace/SegmentSizes.h"
#include "trace/Tracer.h"
#include "trace/ValueChecks.h"

#include <exception>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace pellucid::trace {

/// A tensor with values: `data` is its first element, strides are in elements. Memory of the CPU
/// where nothing else is said.
struct ConcreteTensor {
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape, strides;
  std::shared_ptr<const std::byte> data;
  graph::Device device = {}; ///< where data lies

  int64_t numel() const;
  bool isRowMajor() const;
  /// The elements one after another; memory of its own only where they do not lie so.
  std::shared_ptr<const std::byte> dense() const;
};

/// One element of any type.
double realAt(DataType dtype, const std::byte *at);
int64_t integerAt(DataType dtype, const std::byte *at); ///< floats truncate

/// A compiled segment: takes one tensor per placeholder, gives the dense elements of every output.
using SegmentRun = std::function<std::vector<std::shared_ptr<const std::byte>>(
    const std::vector<ConcreteTensor> &)>;
/// A segment that was run and failed: by an assertion of an operator or kernel, or for want of
/// memory. Said as the run time says it.
class SegmentFailure : public DiagnosticError {
public:
  SegmentFailure(std::string message, bool noMemory)
      : DiagnosticError(SourceLocation("exec"), std::move(message)), isOutOfMemory(noMemory) {}
  bool isOutOfMemory;
};

/// A branch or body that is being recorded asks for a number that is known only when it runs.
class RegionNeedsValue : public DiagnosticError {
public:
  RegionNeedsValue(SourceLocation where, const std::string &region)
      : DiagnosticError(std::move(where),
                        region + " needs the value of a tensor, which is known when it runs") {}
};

/// Throws DiagnosticError at the line of the operator that cannot be compiled. Operands and results
/// lie on the device.
using SegmentCompiler = std::function<SegmentRun(const graph::Program &, graph::Device)>;

class FormulaMemory;

class EagerRecorder {
public:
  /// `tracer` records for scripts from here on.
  EagerRecorder(Tracer &tracer, SegmentCompiler compile);
  ~EagerRecorder();
  EagerRecorder(const EagerRecorder &) = delete;
  EagerRecorder &operator=(const EagerRecorder &) = delete;

  /// False while a model is traced inside of a script.
  bool isRecording() const { return !nested; }

  /// Computes what tensors that are still held need. Values of the graph are gone after it. Nothing
  /// where a branch or body is being recorded, whose values are of no turn yet.
  void flush();
  /// The tensor's values, computed now if they are not yet.
  ConcreteTensor valuesOf(TracedTensor &tensor, const SourceLocation &where) {
    return valuesOn({}, tensor, where);
  }
  /// The same in a device's memory.
  ConcreteTensor valuesOn(graph::Device place, TracedTensor &tensor, const SourceLocation &where);
  /// A copy on another device, made now; nullopt where the tensor is no part of memory as it lies,
  /// or both devices are one place.
  std::optional<TracedTensor> copyOn(graph::Device device, TracedTensor &tensor,
                                     const SourceLocation &where);
  /// A tensor that holds `values`, dense and row-major.
  TracedTensor tensorOf(const ConcreteTensor &values, graph::Device device = {});
  /// While set, what was recorded is computed even where nobody holds it: it is measured.
  bool computesAll = false;
  /// The operators to come are computed where tensors of `device` lie: a segment is computed on one
  /// device, and ends where it changes. Called before beforeOperator().
  void computeOn(graph::Device device);
  /// The device of the last computeOn(), where results lie of which nothing else is known.
  graph::Device device() const { return label; }
  void assume(graph::Device device) { label = device; }
  /// While it lives, operators are computed on `device`, whatever their operands say.
  class Placed {
  public:
    Placed(EagerRecorder &recorder, graph::Device device)
        : recorder(recorder), before(recorder.forced) {
      recorder.forced = device;
    }
    ~Placed() { recorder.forced = before; }
    Placed(const Placed &) = delete;
    Placed &operator=(const Placed &) = delete;

  private:
    EagerRecorder &recorder;
    std::optional<graph::Device> before;
  };
  /// For the segment that is being compiled: of the addresses of its operands, in order. Empty
  /// where nothing is known.
  const std::vector<uint32_t> &operandAlignment() const { return alignments; }
  /// Computes what was recorded; from here on segments are compiled anew.
  void forgetPrograms() {
    if (isRecording())
      flush();
    families.clear();
  }
  /// Called before an operator is recorded, while nobody holds values of the graph: keeps segments
  /// bounded, and cuts loops at one place in every turn.
  void beforeOperator(const SourceLocation &where);

  /// Where the tensor's first element lies for kernels that are told addresses, as long as its
  /// storage lives.
  int64_t addressOf(const TracedTensor &tensor);
  /// Whether kernels may have been told addresses of tensors that live.
  bool hasAddresses() { return addresses.any(); }
  /// Around the recording of a launch that may follow addresses: it is a segment of its own, before
  /// which tensors' contents are where the script was told, and after which they are taken there.
  template <typename Record> void followAddresses(const Record &record) {
    refuseInRegion({});
    flush();
    addresses.give([this](TracedStorage &storage) { makeContents(storage); });
    following = true;
    try {
      record();
      flush();
    } catch (...) {
      following = false;
      throw;
    }
    following = false;
    addresses.take();
  }
  /// What an operator that was just recorded asks of the values of `operand`. Raises now where they
  /// are known and do not fit, and when they are computed otherwise.
  void check(ValueCheck check, TracedTensor &operand);
  /// What was recorded holds an assertion.
  void noteAssertion() {
    noteLook();
    asserts = !nested;
  }
  /// Computes what is recorded if it may fail, so that it fails here: before a script goes on where
  /// an exception would be handled otherwise.
  void settle();

  /// Whether the number at a place of the script, as often as the segment has passed it, was
  /// another one in a segment before.
  bool changes(size_t place, double value);

  /// Whether operators go to the segment, and to nothing else.
  bool isRecordingPlainly() const {
    return !nested && !flushing && !following && !watch && tracer.regions.empty() &&
           tracer.current == &tracer.program.main;
  }
  /// What a part of the script's calls asked of the segment, beside adding nodes.
  struct Watch {
    std::vector<size_t> places;                     ///< of operators
    std::vector<std::pair<size_t, double>> numbers; ///< by changes()
    bool looked = false; ///< at values, or at memory: what was recorded hangs on them
  };
  /// Notes it while it lives.
  class Watching {
  public:
    Watching(EagerRecorder &r, Watch &seen) : recorder(r) { recorder.watch = &seen; }
    ~Watching() { recorder.watch = nullptr; }
    Watching(const Watching &) = delete;
    Watching &operator=(const Watching &) = delete;

  private:
    EagerRecorder &recorder;
  };
  /// The same operators again, which add `nodes` nodes: notes their places and numbers. False, with
  /// nothing noted, where a number is another one or the segment would end among them.
  bool passAgain(const Watch &seen, size_t nodes);
  FormulaMemory &formulas();

  struct Statistics {
    uint64_t segments = 0;    ///< that were run
    uint64_t compiled = 0;    ///< programs, for structures and sizes that were new
    uint64_t dynamic = 0;     ///< those of them that take sizes of a rule
    uint64_t operators = 0;   ///< recorded
    uint64_t interpreted = 0; ///< run by the interpreter, because they are small and exact
  };
  const Statistics &statistics() const { return counts; }

  /// A model that is traced while a script runs: until the object goes, the tracer records a
  /// program of its own, whose placeholders hold the script's tensors.
  class NestedTrace {
  public:
    NestedTrace(EagerRecorder &recorder, const symbolic::SymbolTable &symbols);
    ~NestedTrace();
    NestedTrace(const NestedTrace &) = delete;
    NestedTrace &operator=(const NestedTrace &) = delete;
    /// `tensor` is the placeholder `name` here, an input of the program. Its other views see it.
    void bind(TracedTensor &tensor, const std::string &name, graph::InputSpec::Kind kind,
              bool persistent = true);
    /// An input of the program with these sizes, over no tensor of the script.
    TracedTensor input(const std::string &name, const graph::TensorType &type);
    /// The program, with `results` and what was written to inputs and buffers as its outputs.
    /// Tensors that were used and not bound are constants of it.
    graph::Program finish(std::vector<TracedTensor> &results, const SourceLocation &where);
    /// The script's tensors that the program has the values of, as they are now, with the counts
    /// of writes by which one sees that they changed since.
    std::vector<std::pair<std::shared_ptr<TracedStorage>, uint64_t>> held() const;

  private:
    friend class EagerRecorder;
    struct Bound {
      std::string name;
      graph::InputSpec::Kind kind;
      std::shared_ptr<TracedStorage> storage;
      uint64_t version;
      std::shared_ptr<const ConcreteMemory> memory;
      graph::TensorType type;
    };
    graph::Value *capture(const std::shared_ptr<TracedStorage> &storage);
    Bound &add(const std::string &name, graph::InputSpec::Kind kind,
               const std::shared_ptr<TracedStorage> &storage);

    EagerRecorder &recorder;
    graph::Program outside;
    std::vector<Bound> bound;
    size_t constantCount = 0;
    bool assumedStrict;
  };

  // What Tracer calls.
  void track(const std::shared_ptr<TracedStorage> &storage);
  graph::Value *baseFor(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where);
  /// A placeholder for a part of memory that nothing was written to; null where it takes the whole.
  graph::Value *viewFor(const TracedTensor &tensor);
  bool isView(const graph::Value *value) const;
  void recorded(const std::vector<TracedTensor *> &operands, std::vector<TracedTensor> &results);
  /// A view of memory that is there already is found by its place when it is used, not computed.
  void forgetView(TracedTensor &tensor) const;

private:
  /// Throws RegionNeedsValue where a branch or body is being recorded.
  void refuseInRegion(const SourceLocation &where) const;
  bool isOfRegion(const graph::Value &value) const;

  /// A placeholder of the segment and where its contents are.
  struct Input {
    graph::Value *value;
    std::shared_ptr<const ConcreteMemory> memory; ///< null: the initializer's
    Initializer initializer;
    int64_t offset = 0; ///< elements
    bool isView = false;
    graph::Device place = {}; ///< where its tensor belongs
  };
  struct Made {
    std::vector<std::shared_ptr<const std::byte>> outputs;
    graph::Device device;
  };
  struct Output {
    graph::Value *value;
    std::vector<std::shared_ptr<TracedStorage>> storages;
  };
  /// A compiled segment and where each of its nodes stood when it was compiled.
  struct Segment {
    SegmentRun run;
    std::vector<SourceLocation> places;
  };
  /// A program for all sizes that follow a pattern.
  struct General {
    SizePattern pattern;
    std::vector<graph::TensorType> results;
    SegmentRun run;
  };
  /// The programs of segments that differ in sizes alone.
  struct Family {
    std::map<std::vector<int64_t>, Segment> exact;
    std::vector<General> patterns;
    std::vector<std::vector<int64_t>> samples; ///< the sizes that programs were made for
    unsigned tries = 0;                        ///< to find a pattern
  };
  static constexpr unsigned mostTries = 4;

  graph::Value *addInput(const graph::TensorType &type, Input input);
  graph::Value *spread(const graph::TensorType &type, const Initializer &initializer,
                       const SourceLocation &where);
  std::vector<Output> liveOutputs();
  graph::Value *inMemoryOrder(graph::Value *value);
  void dropUnused();
  void copyNumbers(graph::Device place) const;
  std::vector<ConcreteTensor> operands(graph::Device place);
  std::string noteAlignment(const std::vector<ConcreteTensor> &given, graph::Device place);
  std::vector<uint32_t> alignments; ///< of the segment's operands
  graph::Device placeOf(graph::Device device) const {
    return tracer.devices ? tracer.devices->placeOf(device) : graph::Device();
  }
  size_t bytesOf(const graph::TensorType &type) const;
  /// A check that failed when the segment ran, and the element.
  struct FailedCheck {
    ValueCheck check;
    int64_t element;
  };
  /// A segment that failed, and the node that did, where it is known.
  struct FailedRun {
    SegmentFailure failure;
    const graph::Node *node;
  };
  std::optional<FailedCheck> compute(std::vector<Output> &outputs);
  void keepMade(Output &output, std::shared_ptr<const std::byte> data, graph::Device device) const;
  void keepBegun(const std::vector<Output> &outputs);
  std::optional<ConcreteTensor> knownOnHost(TracedTensor &tensor);
  bool needsMuchMemory();
  const graph::Node *lastMeasured = nullptr; ///< by needsMuchMemory(), of the segment
  int64_t measuredBytes = 0;
  std::vector<std::pair<ValueCheck, std::vector<graph::Value *>>>
  askedBesides(const std::vector<graph::Argument> &results);
  std::vector<graph::Value *> emitCheck(const ValueCheck &check);
  static std::optional<int64_t>
  failingElement(const ValueCheck &check, std::span<const std::shared_ptr<const std::byte>> found);
  std::vector<std::shared_ptr<const std::byte>>
  computeAlone(const std::vector<const graph::Value *> &values);
  std::vector<FailedCheck> failedChecks();
  std::exception_ptr recover(std::vector<Output> &outputs, const FailedRun &failed);
  void computeRest(std::vector<Output *> rest);
  Made runSegment();
  using Outputs = std::vector<std::shared_ptr<const std::byte>>;
  Outputs run(Family &family, const SegmentKey &key, const std::vector<ConcreteTensor> &given,
              graph::Device place);
  Outputs run(const Segment &segment, const std::vector<ConcreteTensor> &given) const;
  std::vector<SourceLocation> nodePlaces() const;
  const graph::Node *nodeThatFailed(const Segment &segment, const std::string &message) const;
  void noteInterface();
  static void noteSample(Family &family, const SegmentKey &key);
  bool generalize(Family &family, const SegmentKey &key, graph::Device place);
  std::optional<Outputs> runGeneral(Family &family, const SegmentKey &key,
                                    const std::vector<ConcreteTensor> &given, graph::Device place);
  void restart(bool failed);
  void makeContents(TracedStorage &storage);
  std::shared_ptr<const ConcreteMemory> made(const Initializer &initializer,
                                             const graph::TensorType &type);
  static size_t placeOf(const SourceLocation &where);
  static bool isOnHost(graph::Device place) { return place.kind == graph::Device::Kind::Cpu; }

  Tracer &tracer;
  SegmentCompiler compile;
  NestedTrace *nested = nullptr;
  std::vector<std::weak_ptr<TracedStorage>> tracked;
  std::vector<Input> inputs;
  std::map<const graph::Value *, size_t> inputOf;
  /// All inputs, those too that a segment which is computed has dropped.
  std::map<const graph::Value *, Input> begun;
  /// Placeholders for parts of a memory.
  std::unordered_map<const void *, std::vector<std::pair<graph::TensorType, graph::Value *>>> views;
  std::unordered_map<std::string, Family> families; ///< by SegmentKey::text
  size_t programsKept = 0;
  std::unordered_map<std::string, uint64_t> interpretedTurns;
  struct Seen {
    uint64_t bits;
    bool changed = false;
  };
  std::unordered_map<size_t, Seen> numbers;
  std::unordered_map<size_t, size_t> occurrences; ///< of a place in the segment
  std::unordered_set<size_t> places;              ///< of the segment's operators
  std::optional<size_t> turn; ///< where a loop's turn begins: the first place met again
  bool flushing = false;
  Watch *watch = nullptr;
  void noteLook() const {
    if (watch)
      watch->looked = true;
  }
  static size_t placeOfNumber(size_t place, size_t occurrence) {
    return place * 0x9e3779b97f4a7c15ull + occurrence;
  }
  std::unique_ptr<FormulaMemory> formulaMemory;
  Addresses addresses;
  bool following = false;                    ///< the segment's launch follows addresses
  std::vector<ValueCheck> checks;            ///< of the segment's values
  bool asserts = false;                      ///< the segment has assertions
  std::optional<graph::Device> segmentPlace; ///< where the segment is computed; none: on the CPU
  std::optional<graph::Device> forced;
  graph::Device label;
  Statistics counts;
};

} // namespace pellucid::trace
