// SPDX-License-Identifier: Apache-2.0
// The contents page of the compiler: what happens to a program, in order.
#include "driver/AssemblePackage.h"
#include "driver/CheckKernels.h"
#include "driver/Compile.h"
#include "driver/DeviceCode.h"
#include "driver/EmitSource.h"
#include "driver/FindOrderedKernels.h"
#include "driver/FoldWeights.h"
#include "driver/ProductUnits.h"
#include "driver/ShareKernels.h"
#include "driver/SpecializeLaunches.h"
#include "driver/Worker.h"
#include "fusion/FuseIntoKernels.h"
#include "fusion/RaiseKernels.h"
#include "graph/CheckProgram.h"
#include "graph/ControlFlow.h"
#include "graph/ProgramText.h"
#include "graph/Registry.h"
#include "passes/graph/CopylessAttention.h"
#include "passes/graph/Idioms.h"
#include "passes/graph/InlineOperators.h"
#include "passes/graph/InnermostChannels.h"
#include "passes/graph/JoinedProducts.h"
#include "passes/graph/KnownMasks.h"
#include "passes/graph/LowerAttention.h"
#include "passes/graph/LowerScans.h"
#include "passes/graph/LowerToLaunches.h"
#include "passes/graph/MovedViews.h"
#include "passes/graph/NumberDraws.h"
#include "passes/graph/OrderSizeReads.h"
#include "passes/graph/OutermostChannels.h"
#include "passes/graph/PackedProducts.h"
#include "passes/graph/PatchProducts.h"
#include "passes/graph/PlanBuffers.h"
#include "passes/graph/SlicedProducers.h"
#include "passes/graph/StateAsInputs.h"
#include "passes/graph/SumsOverSizes.h"
#include "support/CrashHandler.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <chrono>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace pellucid::driver {

using namespace graph;
using namespace passes;

namespace {

class StageClock {
public:
  explicit StageClock(std::vector<StageTime> &t) : times(t) {}
  void done(const char *stage) {
    auto now = std::chrono::steady_clock::now();
    times.push_back({stage, std::chrono::duration<double>(now - last).count()});
    last = now;
  }

private:
  std::vector<StageTime> &times;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// The plan of the main graph, then those of the regions under their numbers.
std::string printPlans(const LoweredProgram &lowered) {
  std::string text = printPlan(lowered.program.main, lowered.plan);
  for (const auto &[region, plan] : lowered.regions)
    text += "region " + std::to_string(region) + ", " +
            lowered.program.bodies[region].operatorName + "\n" +
            printPlan(lowered.program.bodies[region].graph, plan);
  return text;
}

bool isPure(const Node &node, const Program &program, const OperatorRegistry &registry) {
  if (node.isLaunch())
    return !hasEffects(node, program);
  if (isControlFlow(node))
    return true;
  const Operator *op = registry.find(node.target());
  return op && op->pure;
}

std::vector<Target> chosenTargets(const CompileOptions &options) {
  if (!options.targets.empty())
    return options.targets;
  std::vector<Target> targets;
  for (CpuLevel level : allCpuLevels)
    targets.push_back({Target::Kind::Cpu, level, 0});
  return targets;
}

/// What there is to generate for one of the targets; `kernels`: their indices in the program.
CodegenJob jobFor(const Target &target, const LoweredProgram &lowered,
                  const CompileOptions &options, std::vector<uint32_t> &kernels) {
  CodegenJob job;
  job.target = target;
  job.fpContract = options.fpContract;
  job.exactTarget = options.exactTarget;
  for (size_t i = 0; i < lowered.usedKernels.size(); ++i) {
    const KernelDef &kernel = lowered.program.kernels[lowered.usedKernels[i]];
    if (!belongsInto(target, kernel, chosenTargets(options)))
      continue;
    kernels.push_back(lowered.usedKernels[i]);
    job.kernels.push_back(
        {kernel.symbol, kernel.ttir, kernel.library, lowered.numWarps[i], lowered.numStages[i]});
  }
  return job;
}

/// One worker per target that has kernels of its own, all at once.
bool generateCode(const std::vector<LoweredProgram> &programs, const CompileOptions &options,
                  std::vector<TargetCode> &code, Diagnostics &diagnostics) {
  std::string program = options.worker.empty() ? findWorker() : options.worker;
  KeptWorkers own;
  KeptWorkers &kept = options.keptWorkers ? *options.keptWorkers : own;
  std::vector<Worker *> workers; ///< null: done
  bool ok = true;
  std::vector<Target> targets = chosenTargets(options);
  for (const Target &target : targets) {
    const LoweredProgram &lowered =
        *llvm::find_if(programs, [&](auto &one) { return one.device == target.kind; });
    std::vector<uint32_t> kernels;
    CodegenJob job = jobFor(target, lowered, options, kernels);
    if (kernels.empty() && !lowered.usedKernels.empty())
      continue;
    code.push_back({target, std::move(kernels), {}});
    if (options.keptWorkers && target.kind == Target::Kind::Cuda) {
      workers.push_back(nullptr);
      RefusedKernels refused = makeDeviceCode({&job}, program, kept);
      ok &= takeDeviceCode(job, kept, refused, code.back().result, diagnostics);
      continue;
    }
    std::unique_ptr<Worker> &worker =
        kept.workers[options.keptWorkers ? toString(target) : std::to_string(workers.size())];
    if (!options.keptWorkers) {
      worker = std::make_unique<Worker>(program, job);
    } else {
      job.remembersKernels = true;
      if (!worker)
        worker = std::make_unique<Worker>(program);
      worker->start(job);
    }
    workers.push_back(worker.get());
  }
  for (size_t i = 0; i < workers.size(); ++i) {
    if (!workers[i])
      continue;
    ok &= workers[i]->wait(code[i].result, diagnostics);
    for (const CodegenKernelResult &kernel : code[i].result.kernels)
      ++(kernel.remembered ? kept.remembered : kept.made);
  }
  return ok;
}

/// What the stages before the back end share.
struct Compilation {
  Compilation(const CompileOptions &o, CompileReport &r, Diagnostics &d)
      : options(o), report(r), diagnostics(d), clock(r.times),
        context(mlir::MLIRContext::Threading::DISABLED) {
    registerBorder(registry);
    tt::loadTtDialects(context);
  }

  void eraseUnused(Program &program) {
    program.main.eraseUnused([&](const Node &node) { return isPure(node, program, registry); });
  }

  void keepText(const std::string &stage, const std::function<std::string()> &print) {
    if (options.keepIr)
      report.texts.push_back({stage, print()});
  }

  /// One pass over `program` and every region of its control flow, each as the main graph; checked
  /// afterwards where that is asked for.
  void pass(const std::string &name, Program &program, const std::function<void()> &run) {
    passOverMain(name, program, [&] { overAllGraphs(program, run); });
  }
  void passOverMain(const std::string &name, Program &program, const std::function<void()> &run) {
    Working work("running the pass", name);
    run();
    if (options.verifyEach)
      checkAfter(name, program);
  }
  static void overAllGraphs(Program &program, const std::function<void()> &run) {
    run();
    // A region may show further ones once operators in it are opened.
    std::set<uint32_t> done;
    for (bool again = true; again;) {
      again = false;
      for (uint32_t region : regionsOf(program.main, program)) {
        if (!done.insert(region).second)
          continue;
        RegionAsMain view(program, region);
        run();
        again = true;
      }
    }
  }
  void checkAfter(const std::string &name, const Program &program) const {
    std::vector<std::string> problems = program.verify();
    if (problems.empty()) {
      try {
        checkProgram(program, registry, [](const Node &node) { return node.location; });
      } catch (const DiagnosticError &error) {
        problems.push_back(error.what());
      }
    }
    if (!problems.empty())
      throw std::logic_error("the program is wrong after '" + name + "': " + problems[0]);
  }

  /// Whatever made the program: passes rely on what is checked here.
  void checkSource(const Program &program) {
    std::vector<std::string> problems = program.verify();
    if (!program.main.outputNode())
      problems.push_back("the program has no output");
    if (!problems.empty())
      throw DiagnosticError(SourceLocation(options.name), problems[0]);
    checkKernels(program, context);
    if (options.verifyEach)
      checkAfter("trace", program);
  }

  void open(Program &program) {
    std::map<std::string, std::string> changed = stateAsInputs(program, options.stateAsInputs);
    if (!options.stateAsInputs)
      state = std::move(changed);
    checkSource(program);
    pass("inline", program, [&] { inlineOperators(program); });
    passOverMain("check size reads", program, [&] { checkSizeReads(program); });
    pass("open wide attention", program, [&] { openWideAttention(program, registry); });
    pass("decompose", program, [&] { decomposeComposites(program, registry); });
    // From here a draw is a function of its operands: it may be computed anywhere, or twice.
    passOverMain("number draws", program, [&] { numberDraws(program, registry); });
    pass("known masks", program, [&] { replaceKnownMasks(program, registry); });
    pass("detach empty tensors", program, [&] { detachEmptyTensors(program, registry); });
    // From here every node is a launch or a built-in operator with a kernel.
    if (options.bitsOfKnownSizes)
      passOverMain("check sums", program, [&] { refuseSumsOverSizes(program, registry); });
    pass("own outputs", program, [&] { ownOutputs(program, registry); });
    pass("erase unused", program, [&] { eraseUnused(program); });
    clock.done("decompose");
    keepText("decomposed", [&] { return printMain(program); });
  }

  std::vector<fusion::FusedResult> fuse(Program &program) {
    fusion::FusionReport fused;
    bool isMain = true;
    pass("fuse", program, [&] {
      fusion::FusionReport one =
          fusion::fuseIntoKernels(program, registry, context, chainEmitter(context));
      std::move(one.edges.begin(), one.edges.end(), std::back_inserter(fused.edges));
      // What a region computes cannot be returned from the program beside its results.
      if (std::exchange(isMain, false))
        fused.results = std::move(one.results);
    });
    report.edges = std::move(fused.edges);
    clock.done("fuse");
    keepText("fused", [&] { return printMain(program); });
    return std::move(fused.results);
  }

  bool compilesFor(Target::Kind device) const {
    return llvm::any_of(chosenTargets(options),
                        [&](const Target &target) { return target.kind == device; });
  }

  /// What kernels for `device` are cut for: the best of the devices asked for.
  uint32_t capability(Target::Kind device) const {
    uint32_t most = 0;
    for (const Target &target : chosenTargets(options))
      if (target.kind == device)
        most = std::max(most, target.sm);
    return device == Target::Kind::Cpu ? 0 : most;
  }

  /// Library kernels are the CPU's alone.
  LoweredProgram lower(Program &&opened, Target::Kind device) {
    LoweredProgram lowered;
    lowered.device = device;
    lowered.state = state;
    lowered.program = std::move(opened);
    Program &program = lowered.program;
    size_t ownKernels = program.kernels.size();
    // A launch costs a device more than its few elements do.
    if (device == Target::Kind::Cuda) {
      if (options.fuseIntoKernels)
        pass("raise elementwise kernels", program,
             [&] { fusion::raiseElementwiseKernels(program, registry, context, report.edges); });
      pass("replace idioms", program, [&] { replaceIdioms(program, registry); });
      // The programs of a script, which keep nothing, are compiled while it waits.
      passOverMain("fold weights", program,
                   [&] { foldWeights(program, registry, {options.keepIr, false}); });
      pass("move views", program, [&] { moveViews(program, registry); });
      pass("compute slices", program, [&] { computeSlices(program, registry); });
      passOverMain("lay channels innermost", program,
                   [&] { layChannelsInnermost(program, registry, options.tf32); });
      passOverMain("read operands in place", program,
                   [&] { readOperandsInPlace(program, registry); });
      // What others have replaced reads its operands still.
      pass("erase unused", program, [&] { eraseUnused(program); });
      passOverMain("join products", program, [&] { joinProducts(program, registry); });
      pass("erase unused", program, [&] { eraseUnused(program); });
    } else {
      // A turned line or a border is copies of parts where its places are known.
      if (options.keepIr)
        passOverMain("fold places", program, [&] { foldWeights(program, registry, {true, true}); });
      passOverMain("lay channels outermost", program,
                   [&] { layChannelsOutermost(program, registry); });
      passOverMain("multiply patches", program, [&] { multiplyPatches(program, registry); });
    }
    pass("lower scans", program, [&] {
      lowerScans(program, registry, textCompiler(context), device == Target::Kind::Cpu);
    });
    auto carried = carriedPlaceholders(program);
    pass("lower to launches", program, [&] {
      for (LoweringEdge &edge :
           lowerToLaunches(program, registry, textCompiler(context), capability(device),
                           options.deterministic, carried, options.tf32, options.tf32Products))
        report.edges.push_back({edge.from, edge.to, edge.fused, edge.reason});
    });
    pass("erase unused", program, [&] { eraseUnused(program); });
    pass("share kernels", program, [&] { shareKernels(program, ownKernels, context); });
    eraseUnusedWeights(program);
    pass("order size reads", program, [&] { orderSizeReads(program); });
    // From here the graph holds placeholders, views, empty tensors, launches and reads of sizes.
    ClassifyNode classify = [&](const Node &node) { return classifyLowered(node, registry); };
    // Inner regions first: what runs them asks what stays in place there.
    LoopMemory loops{carriedPlaceholders(program), {}};
    for (uint32_t region : regionsOf(program.main, program)) {
      RegionAsMain view(program, region);
      BufferPlan plan = planBuffers(program, classify, loops);
      loops.regions[region] = std::move(plan);
    }
    lowered.plan = planBuffers(program, classify, loops);
    lowered.regions = std::move(loops.regions);
    if (device == Target::Kind::Cuda)
      specializeLaunches(lowered, {options.inputAlignment, options.outputAlignment},
                         options.sharesNumbers, compilesFor(Target::Kind::Cpu), context);
    lowered.collectKernels();
    findOrderedKernels(lowered, context);
    return lowered;
  }

  std::vector<LoweredProgram> lowerForTargets(const Program &source, Program &&opened) {
    std::set<Target::Kind> devices;
    for (const Target &target : chosenTargets(options))
      devices.insert(target.kind);
    std::vector<LoweredProgram> lowered;
    for (Target::Kind device : devices)
      lowered.push_back(
          lower(device == *devices.rbegin() ? std::move(opened) : opened.clone(), device));
    clock.done("schedule");
    keepText("program", [&] { return printProgram(source); });
    for (const LoweredProgram &one : lowered) {
      std::string second = &one == &lowered.front() ? "" : ".cuda";
      keepText("lowered" + second, [&] { return printProgram(one.program); });
      keepText("buffers" + second, [&] { return printPlans(one); });
    }
    return lowered;
  }

  bool finish(const Program &source, Program &&opened, package::Contents &out) {
    std::vector<LoweredProgram> lowered = lowerForTargets(source, std::move(opened));
    std::vector<TargetCode> code;
    if (!generateCode(lowered, options, code, diagnostics))
      return false;
    clock.done("generate code");

    assemblePackage(source, lowered, code, options, report, out);
    clock.done("assemble");
    return true;
  }

  const CompileOptions &options;
  CompileReport &report;
  Diagnostics &diagnostics;
  StageClock clock;
  OperatorRegistry registry;
  mlir::MLIRContext context;
  std::map<std::string, std::string> state; ///< LoweredProgram's
};

void returnAlso(Program &program, const std::string &value) {
  Node *output = program.main.outputNode();
  std::vector<Argument> results = output->args();
  results.emplace_back(program.main.findValue(value));
  output->setArgs(std::move(results));
  program.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
}

} // namespace

KeptWorkers::KeptWorkers() = default;
KeptWorkers::~KeptWorkers() = default;

/// What `body` throws becomes a diagnostic.
static bool reporting(Diagnostics &diagnostics, auto body) {
  try {
    return body();
  } catch (const DiagnosticError &error) {
    diagnostics.add(error.diagnostic);
  } catch (const std::overflow_error &error) {
    diagnostics.error(SourceLocation("program"), error.what());
  }
  return false;
}

std::string stateNote(const Program &program, const CompileOptions &options) {
  std::vector<std::string> names = changedBuffers(program);
  if (names.empty())
    return {};
  constexpr size_t most = 4;
  std::string list;
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    list += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > most)
    list += " and " + std::to_string(names.size() - most) + " more";
  bool one = names.size() == 1;
  return list + (one ? " changes" : " change") + " in forward: " +
         (options.stateAsInputs ? (one ? "an input" : "inputs") +
                                      std::string(" of the package, which a call writes to")
                                : "state of the package, which each instance of it owns");
}

bool compileProgram(const Program &source, const CompileOptions &options, package::Contents &out,
                    CompileReport &report, Diagnostics &diagnostics) {
  return reporting(diagnostics, [&] {
    Compilation compilation(options, report, diagnostics);
    Program program = source.clone();
    compilation.open(program);
    if (options.fuseIntoKernels)
      compilation.fuse(program);
    return compilation.finish(source, std::move(program), out);
  });
}

std::vector<SeparateResult> compileSeparately(const std::vector<const Program *> &sources,
                                              const CompileOptions &options) {
  const Target target = options.targets.at(0);
  std::vector<SeparateResult> results(sources.size());
  std::vector<std::vector<LoweredProgram>> lowered(sources.size());
  std::vector<CompileReport> reports(sources.size());
  std::vector<CodegenJob> jobs(sources.size());
  std::vector<TargetCode> code(sources.size(), {target, {}, {}});
  auto overAll = [&](const auto &body) {
    for (size_t i = 0; i < sources.size(); ++i)
      results[i].ok = reporting(results[i].diagnostics, [&] { return body(i); });
  };
  overAll([&](size_t i) {
    Compilation compilation(options, reports[i], results[i].diagnostics);
    Program program = sources[i]->clone();
    compilation.open(program);
    if (options.fuseIntoKernels)
      compilation.fuse(program);
    lowered[i] = compilation.lowerForTargets(*sources[i], std::move(program));
    jobs[i] = jobFor(target, lowered[i][0], options, code[i].kernels);
    return true;
  });
  std::vector<const CodegenJob *> wanted;
  for (const CodegenJob &job : jobs)
    wanted.push_back(&job);
  RefusedKernels refused = makeDeviceCode(
      wanted, options.worker.empty() ? findWorker() : options.worker, *options.keptWorkers);
  overAll([&](size_t i) {
    if (!results[i].ok || !takeDeviceCode(jobs[i], *options.keptWorkers, refused, code[i].result,
                                          results[i].diagnostics))
      return false;
    assemblePackage(*sources[i], lowered[i], {code[i]}, options, reports[i], results[i].contents);
    return true;
  });
  return results;
}

bool compileFusionCheck(const Program &source, const CompileOptions &options, FusionCheck &check,
                        Diagnostics &diagnostics) {
  CompileOptions forCheck = options;
  forCheck.targets.clear();
  forCheck.keepIr = false;
  forCheck.stateAsInputs = false;
  CompileReport report;
  return reporting(diagnostics, [&] {
    Compilation compilation(forCheck, report, diagnostics);
    Program fused = source.clone();
    compilation.open(fused);
    Program unfused = fused.clone();
    check.results = compilation.fuse(fused);
    for (const OutputSpec &spec : source.outputs)
      check.firstOutput += spec.kind == OutputSpec::Kind::UserOutput;
    for (const fusion::FusedResult &result : check.results) {
      returnAlso(unfused, result.before);
      returnAlso(fused, result.after);
    }
    ownOutputs(unfused, compilation.registry);
    ownOutputs(fused, compilation.registry);
    return compilation.finish(source, std::move(unfused), check.unfused) &&
           compilation.finish(source, std::move(fused), check.fused);
  });
}

} // namespace pellucid::driver
