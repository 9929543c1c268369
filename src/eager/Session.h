// SPDX-License-Identifier: Apache-2.0
/// The tensors of one script: torch's modules over a recorder, compiled and run in this process.
#pragma once

#include "eager/ConfigTimes.h"
#include "eager/Devices.h"
#include "eager/Packages.h"
#include "host/Interpreter.h"
#include "trace/TraceHooks.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::eager {

struct SessionOptions {
  /// What devices of the script's are: {"cuda", "cpu"}. A device that is not here is itself.
  std::map<std::string, std::string> devices;
  /// Segments of a device that were run before are queued by another thread. Not where others than
  /// the script use the device's memory.
  bool runsAhead = false;
  bool contractsFma = false; ///< a*b+c of the script's own operators may become one fma
  std::function<void(Diagnostic)> warn = [](Diagnostic) {};
};

/// How a model in a script is to be traced.
struct TraceRequest {
  struct Dim {
    std::string symbol;
    int64_t min = 2, max = INT64_MAX;
  };
  bool strict = false;
  /// Per tensor in the arguments, in order (dicts and sequences opened), per dim: its symbol, where
  /// it is dynamic. What is left out is static.
  std::vector<std::vector<std::optional<Dim>>> dims;
};

/// What a trace gives beside the program.
struct TracedModel {
  graph::Program program;
  host::Value result; ///< as the model returned it, with tensors of the trace: only their structure
  std::vector<std::pair<symbolic::Expr, bool>> followed; ///< Tracer::followed
  /// The script's tensors whose values the program has, and how often they had been written to.
  std::vector<std::pair<std::shared_ptr<trace::TracedStorage>, uint64_t>> held;
  graph::Device device; ///< where the arguments lay, or else what the program has the values of
};

/// One per interpreter. Nothing is compiled or read before it is needed.
class Session {
public:
  explicit Session(SessionOptions options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// torch and what is below it, as lazy fillers.
  void addModules(host::NativeModules &modules);
  /// Answers launch, callOperator, decide, merges and assumes.
  trace::TraceHooks &hooks() { return traceHooks; }
  /// Once, when the interpreter with the modules is there.
  void begin(host::Interpreter &interpreter);
  /// Computes what is pending and has effects: at the script's end.
  void finish();

  trace::Tracer &tracer() { return recordingTracer; }
  trace::EagerRecorder &recorder() { return eager; }

  /// Traces a module or function of the script on `args`; parameters and buffers of a module are
  /// those of the program, with their values. Throws DiagnosticError.
  TracedModel trace(const host::Value &callable, host::CallArgs args, const TraceRequest &request);
  /// For calls on tensors that the script says lie on `device`.
  std::shared_ptr<Compiled> compile(const graph::Program &program, graph::Device device,
                                    bool fuses = true);
  /// Runs it on tensors of the script.
  std::vector<host::Value> run(const Compiled &compiled, const std::vector<host::Value> &tensors);

  /// Which products of f32 on a device multiply tf32 from here on. Programs that
  /// compile() made keep what they were made with.
  struct Truncated {
    bool products = false, convolutions = false;
    bool operator==(const Truncated &) const = default;
  };
  const Truncated &truncated() const { return tf32; }
  void truncate(Truncated what);

  /// A tensor's values, computed now.
  trace::ConcreteTensor valuesOf(const host::Value &tensor);
  /// The same, row-major, where a package for `place` takes it.
  trace::ConcreteTensor inputOf(const host::Value &tensor, graph::Device place);
  host::Value tensorOf(const trace::ConcreteTensor &values, graph::Device device = {});
  SessionDevices &devices() { return scriptDevices; }

  /// Where the time went beside the evaluator: what was compiled, timed and run, in one line.
  std::string report() const;

private:
  /// What a package or a device reports, at the script's line. That a device has no memory left is
  /// an exception that the script may catch.
  [[noreturn]] void fail(const Diagnostic &diagnostic);
  template <typename Body> auto atScriptsLine(const Body &body) {
    try {
      return body();
    } catch (const trace::SegmentFailure &) {
      throw; // who runs it knows the operator
    } catch (const DiagnosticError &error) {
      fail(error.diagnostic);
    }
  }
  trace::SegmentRun runOf(std::shared_ptr<Compiled> compiled);
  /// What a run gives, before it is run; nullopt where the device has no memory for it.
  std::optional<std::vector<trace::ConcreteTensor>>
  outputsFor(const std::vector<trace::ConcreteTensor> &like, graph::Device place);
  /// Compiled and loaded; counted.
  std::shared_ptr<Compiled> made(const graph::Program &program,
                                 const driver::CompileOptions &options, graph::Device place);

  driver::CompileOptions compileOptions(graph::Device place) const;

  SessionOptions options;
  Truncated tf32;
  std::shared_ptr<driver::KeptWorkers> workers = std::make_shared<driver::KeptWorkers>();
  SessionDevices scriptDevices;
  ConfigTimes configTimes;
  size_t packagesMade = 0, packagesRun = 0;
  double secondsMaking = 0;
  trace::Tracer recordingTracer;
  trace::EagerRecorder eager;
  trace::TraceHooks traceHooks;
  host::Interpreter *interpreter = nullptr;
};

} // namespace pellucid::eager
