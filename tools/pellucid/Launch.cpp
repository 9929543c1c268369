// SPDX-License-Identifier: Apache-2.0
#include "Launch.h"

#include "ArrayFile.h"
#include "CommandLine.h"
#include "DeviceMemory.h"
#include "FaultGuard.h"
#include "ModelLine.h"
#include "PackageFile.h"
#include "ReferenceLaunch.h"
#include "StopTables.h"
#include "driver/Compile.h"
#include "host/Kernel.h"
#include "package/PackageWriter.h"
#include "trace/TraceModel.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <pellucid/runtime.h>
#include <regex>

namespace pellucid::cli {

namespace {

/// One tensor argument in memory, or the members of a table of addresses.
struct Operand {
  std::string name;
  std::optional<Array> array;
  std::vector<Array> members; ///< a table's tensors; `array` then holds their addresses
};

struct Output {
  std::string text, name, path;
  std::optional<size_t> member;
};

/// A message of the run time that begins with `FILE:LINE:COLUMN: ` is one at that place.
[[noreturn]] void failWhereSaid(const std::string &target, const std::string &message) {
  static const std::regex placed("([^\n]+?):(\\d+):(\\d+): ([^]*)");
  std::smatch parts;
  auto file = std::regex_match(message, parts, placed) ? SourceFile::open(parts[1]) : nullptr;
  if (!file)
    fail(target, message);
  SourceRange at;
  at.line = at.endLine = static_cast<uint32_t>(std::stoul(parts[2]));
  at.column = static_cast<uint32_t>(std::stoul(parts[3]));
  at.endColumn = at.column + 1;
  throw DiagnosticError({file, at}, parts[4]);
}

std::vector<int64_t> parseGrid(const std::string &text) {
  std::vector<int64_t> grid;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    int64_t value = 0;
    auto [stop, status] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (status != std::errc() || stop != text.data() + end || value < 0)
      fail("--grid " + text, "expected one to three sizes such as 16 or 4,2,1");
    grid.push_back(value);
    begin = end + 1;
  }
  if (grid.size() > 3)
    fail("--grid " + text, "a grid has one to three sizes, got " + std::to_string(grid.size()));
  for (size_t axis = 0; axis < grid.size(); ++axis)
    if (int64_t most = axis == 0 ? INT32_MAX : 65535; grid[axis] > most)
      fail("--grid " + text, "size " + std::to_string(axis) + " is " + std::to_string(grid[axis]) +
                                 ", at most " + std::to_string(most) + " is possible");
  return grid;
}

Array addressTable(const std::vector<Array> &members) {
  Array table = makeArray(DataType::Int64, {static_cast<int64_t>(members.size())});
  for (size_t i = 0; i < members.size(); ++i)
    reinterpret_cast<int64_t *>(table.bytes->data())[i] =
        reinterpret_cast<int64_t>(members[i].data());
  return table;
}

host::Value hostValue(const ArgumentValue &value) {
  if (auto *flag = std::get_if<bool>(&value))
    return host::Value(*flag);
  if (auto *integer = std::get_if<int64_t>(&value))
    return host::Value(*integer);
  if (auto *real = std::get_if<double>(&value))
    return host::Value(*real);
  if (auto *text = std::get_if<std::string>(&value))
    return host::Value(*text);
  if (auto *type = std::get_if<DataTypeValue>(&value))
    return host::Value(std::make_shared<host::DType>(type->type, host::DType::Family::Triton));
  return host::Value();
}

/// Reads every --arg: tensors into operands, the rest into values of the launch.
void readArguments(const LaunchOptions &options, std::vector<Operand> &operands,
                   std::vector<trace::LaunchValue> &values) {
  for (const std::string &text : options.arguments) {
    std::string error;
    auto parsed = parseNamedValue(text, error);
    if (!parsed)
      fail("--arg " + text, error);
    for (const trace::LaunchValue &known : values)
      if (known.name == parsed->name)
        fail("--arg " + text, "'" + parsed->name + "' is given twice");
    trace::LaunchValue value;
    value.name = parsed->name;
    if (auto *tensor = std::get_if<TensorArgument>(&parsed->value)) {
      operands.push_back({parsed->name, readArray(*tensor), {}});
    } else if (auto *table = std::get_if<PointerTableArgument>(&parsed->value)) {
      Operand operand{parsed->name, std::nullopt, {}};
      for (const TensorArgument &member : table->tensors)
        operand.members.push_back(readArray(member));
      operand.array = addressTable(operand.members);
      operands.push_back(std::move(operand));
    } else {
      value.value = hostValue(parsed->value);
      values.push_back(std::move(value));
      continue;
    }
    const Array &array = *operands.back().array;
    std::vector<symbolic::Expr> shape(array.shape.begin(), array.shape.end()),
        strides(array.strides.begin(), array.strides.end());
    graph::TensorType type(array.dtype, shape);
    type.strides = strides;
    value.tensor = type;
    values.push_back(std::move(value));
  }
}

/// `NAME=F.npy` and `NAME[i]=F.npy`.
std::vector<Output> readOutputs(const LaunchOptions &options,
                                const std::vector<Operand> &operands) {
  std::vector<Output> outputs;
  for (const std::string &text : options.outputs) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      fail("--out " + text, "expected NAME=FILE.npy");
    Output output{text, text.substr(0, equals), text.substr(equals + 1), std::nullopt};
    if (size_t open = output.name.find('[');
        open != std::string::npos && output.name.back() == ']') {
      size_t index = 0;
      auto [stop, status] = std::from_chars(output.name.data() + open + 1,
                                            output.name.data() + output.name.size() - 1, index);
      if (status != std::errc() || *stop != ']')
        fail("--out " + text, "expected NAME[INDEX]=FILE.npy");
      output.member = index;
      output.name = output.name.substr(0, open);
    }
    auto operand = std::find_if(operands.begin(), operands.end(),
                                [&](const Operand &o) { return o.name == output.name; });
    if (operand == operands.end())
      fail("--out " + text, "'" + output.name + "' is not a tensor argument of this launch");
    if (output.member && *output.member >= operand->members.size())
      fail("--out " + text, "the table '" + output.name + "' has " +
                                std::to_string(operand->members.size()) + " tensors");
    if (!output.member && !operand->members.empty())
      fail("--out " + text, "'" + output.name + "' is a table of addresses; write " + output.name +
                                "[INDEX]=FILE.npy for one of its tensors");
    for (const Output &earlier : outputs)
      refuseSameFile("--out " + text, output.path, earlier.path);
    refuseSameFile("--out " + text, output.path, splitTarget(options.target, "KERNEL").first);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

void writeOutputs(const std::vector<Output> &outputs, const std::vector<Operand> &operands) {
  std::vector<ArrayToWrite> arrays;
  for (const Output &output : outputs)
    for (const Operand &operand : operands)
      if (operand.name == output.name)
        arrays.push_back(
            {output.member ? &operand.members[*output.member] : &*operand.array, output.path});
  writeArrays(arrays);
}

/// What divides the address of the array's data, where its memory begins at a multiple of 16.
uint32_t alignmentOnDevice(const Array &array) {
  auto shift = static_cast<uint32_t>(reinterpret_cast<const char *>(array.data()) -
                                     reinterpret_cast<const char *>(array.bytes->data()));
  constexpr uint32_t ofMemory = 16;
  return std::min(ofMemory, shift == 0 ? ofMemory : shift & -shift);
}

/// Compiles, then launches: once, or while `again` says so after each launch's seconds.
void runNative(const graph::Program &program, const LaunchOptions &options,
               std::vector<Operand> &operands, std::string &isa,
               const std::function<bool(double seconds)> &again) {
  driver::CompileOptions compile;
  compile.fuseIntoKernels = false;
  compile.keepIr = false;
  compile.name = options.target;
  compile.targets = targetsToRun(options.cpuTarget);
  // Only this machine's level is of use here.
  auto host = hostCpuLevel();
  if (host && hasTileProducts(*host) && !allowTiles())
    host = CpuLevel::X86_64_v4_bf16;
  if (options.cpuTarget == "cpu" && host)
    compile.targets = {{Target::Kind::Cpu, *host, 0}};
  std::optional<DeviceMemory> device;
  if (isCudaTarget(options.cpuTarget)) {
    device.emplace();
    for (const Operand &operand : operands)
      if (!operand.members.empty())
        fail("--arg " + operand.name,
             "a table of addresses is not copied to a device; run it with --target cpu");
  }
  if (device)
    for (const Operand &operand : operands)
      compile.inputAlignment.push_back(alignmentOnDevice(*operand.array));
  isa = toString(compile.targets.front());
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, compile, contents, report, diagnostics)) {
    for (const Diagnostic &d : diagnostics.all())
      if (d.severity == Severity::Error)
        throw DiagnosticError(d);
    fail(options.target, "the kernel could not be compiled");
  }
  std::vector<uint8_t> bytes;
  if (package::Status status = package::packageBytes(contents, bytes); !status.ok())
    fail(options.target, status.message());
  pellucid_package *package = nullptr;
  if (pellucid_load_memory(bytes.data(), bytes.size(), nullptr, &package) != PELLUCID_OK)
    fail(options.target, pellucid_last_error());
  std::vector<Array> storages;
  for (Operand &operand : operands)
    storages.push_back(*operand.array);
  std::vector<DLTensor> inputs = borrowTensors(storages);
  if (device)
    device->upload(storages, inputs);
  pellucid_run_options run{};
  run.struct_size = sizeof run;
  run.threads = options.threads;
  run.print = [](void *, const char *text) { std::fprintf(stderr, "%s\n", text); };
  pellucid_status status = PELLUCID_OK;
  double seconds = 0;
  run.guard = guardNamed(options.guard);
  guardAgainstFaults(options.target, "--sanitize names the line and the element");
  do {
    auto start = std::chrono::steady_clock::now();
    status = pellucid_run(package, inputs.data(), inputs.size(), nullptr, 0, &run);
    if (device && status == PELLUCID_OK)
      device->synchronize();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (status == PELLUCID_OK && again(seconds));
  std::string message = status == PELLUCID_OK ? "" : pellucid_last_error();
  (void)pellucid_unload(package);
  if (status != PELLUCID_OK)
    failWhereSaid(options.target, message);
  if (device)
    device->download(storages);
}

graph::Program traceLine(const LaunchOptions &options, const std::vector<int64_t> &grid,
                         const std::vector<trace::LaunchValue> &values) {
  auto [path, kernel] = splitTarget(options.target, "KERNEL");
  return trace::traceLaunch(path, kernel, grid, values, options.paths,
                            options.numWarps ? std::optional(options.numWarps) : std::nullopt,
                            options.numStages ? std::optional(options.numStages) : std::nullopt,
                            options.stopAt.empty() ? std::nullopt
                                                   : std::optional(parseStopPoint(options.stopAt)),
                            [](const Diagnostic &d) { std::fputs(render(d).c_str(), stderr); });
}

/// Bytes of the tensors read plus those written by the program's launches.
double movedBytes(const graph::Program &program) {
  double bytes = 0;
  for (const graph::Node &node : program.main)
    if (const graph::Launch *launch = node.launch())
      for (const graph::LaunchOperand &operand : launch->operands)
        if (graph::Value *value = operand.value.value(); value && value->isTensor()) {
          const graph::TensorType &type = value->type();
          double once =
              static_cast<double>(type.numel().constant().value_or(0)) * byteSize(type.dtype);
          bytes += once * ((graph::reads(operand.access) ? 1 : 0) +
                           (graph::writes(operand.access) ? 1 : 0));
        }
  return bytes;
}

} // namespace

/// Seconds of each launch for `budget` seconds, at least five, the first one left out.
static std::vector<double> repeat(const graph::Program &program, const LaunchOptions &options,
                                  std::vector<Operand> &operands, std::string &isa, double budget) {
  std::vector<double> taken;
  double total = 0;
  bool warm = false;
  runNative(program, options, operands, isa, [&](double seconds) {
    if (warm)
      taken.push_back(seconds);
    warm = true;
    total += seconds;
    return total < budget || taken.size() < 5;
  });
  return taken;
}

LaunchTiming timeLaunch(const LaunchOptions &options, double budget) {
  splitTarget(options.target, "KERNEL");
  std::vector<int64_t> grid = parseGrid(options.grid);
  std::vector<Operand> operands;
  std::vector<trace::LaunchValue> values;
  readArguments(options, operands, values);
  graph::Program program = traceLine(options, grid, values);
  LaunchTiming timing;
  timing.bytes = movedBytes(program);
  timing.seconds = repeat(program, options, operands, timing.isa, budget);
  // The first programs alone, whose share of the data fits a second-level cache.
  constexpr double cacheBytes = 384 << 10;
  auto programs = static_cast<int64_t>(grid[0] * cacheBytes / timing.bytes);
  bool oneDimension = std::all_of(grid.begin() + 1, grid.end(), [](int64_t n) { return n == 1; });
  if (!oneDimension || programs < 1 || programs > grid[0] || isCudaTarget(options.cpuTarget))
    return timing;
  LaunchOptions alone = options;
  alone.threads = 1;
  grid[0] = programs;
  std::vector<double> cached =
      repeat(traceLine(options, grid, values), alone, operands, timing.isa, std::min(budget, 0.2));
  double share = static_cast<double>(programs) / static_cast<double>(parseGrid(options.grid)[0]);
  timing.cachedBytesPerSecond =
      share * timing.bytes / *std::min_element(cached.begin(), cached.end());
  return timing;
}

static std::vector<ReferenceOperand> referenceMemory(std::vector<Operand> &operands) {
  std::vector<ReferenceOperand> memory;
  for (Operand &operand : operands) {
    ReferenceOperand &entry = memory.emplace_back(operand.name, &*operand.array);
    for (Array &member : operand.members)
      entry.members.push_back(&member);
  }
  return memory;
}

/// Runs the interpreter up to the stop point and prints what is there.
static int stopLaunch(const graph::Program &program, const LaunchOptions &options,
                      std::vector<Operand> &operands, bool json) {
  std::vector<reference::StoppedVariable> variables;
  ReferenceStop stop{parseProgram(options.program), &variables};
  runReference(program, referenceMemory(operands), options.sanitize, &stop);
  if (variables.empty())
    fail("--stop-at " + options.stopAt,
         "program " + options.program + " does not reach this line with these arguments");
  auto [file, line] = parseStopPoint(options.stopAt);
  if (json)
    printJson({{"engine", "reference"},
               {"file", file},
               {"line", line},
               {"program", stop.program},
               {"values", stopJson(variables)}});
  else
    std::printf("%s, program %s\n%s", options.stopAt.c_str(), options.program.c_str(),
                stopTables(variables).c_str());
  return Ok;
}

int runLaunch(Words words) {
  VerbLine line(
      "launch", "Runs one kernel on .npy files.",
      "pellucid launch examples/silu_kernels.py:silu_kernel --grid 2 --arg "
      "in_ptr=@examples/x.npy --arg out_ptr=@examples/x.npy --arg n_elements=2048 "
      "--arg BLOCK_SIZE=1024 --out out_ptr=silu.npy",
      "VALUE is @x.npy (a tensor; the file itself stays as it is), @x.npy:bf16 (16-bit "
      "integers as bf16),\n@x.npy[offset=2,shape=3x4,strides=8x1] (a view, in elements), "
      "@ptrs:a.npy,b.npy (a table of addresses),\nan integer, a float, true, false, none, "
      "\"a string\" or a type such as tl.float16. Arguments left out get their\ndefault, "
      "what the heuristics say, or the first autotune config.");
  LaunchOptions options;
  line.add("KERNEL", options.target, "FILE.py:NAME").required();
  line.add("--grid", options.grid, "how many programs (required)")
      .valueText("X[,Y[,Z]]")
      .required();
  line.addRepeated("--arg", options.arguments, "an argument, constexprs too")
      .valueText("NAME=VALUE");
  line.addRepeated("--out", options.outputs, "writes the tensor as it is afterwards")
      .valueText("NAME=FILE.npy");
  line.add("--target", options.cpuTarget,
           "cpu, " + cpuLevelNames("cpu:") + ", cuda (this machine's first device)")
      .valueText("TARGET");
  line.add("--num-warps", options.numWarps, "warps per program (no effect on a CPU)")
      .valueText("N")
      .range(1, 1 << 20);
  line.add("--num-stages", options.numStages, "stages of loops (no effect on a CPU)")
      .valueText("N")
      .range(1, 1 << 20);
  line.add("--threads", options.threads, "most threads that work on the launch (0: all)")
      .valueText("N")
      .range(0, 1 << 20);
  line.addRepeated("--path", options.paths, "a folder that absolute imports are looked up in")
      .valueText("DIR");
  Option reference = line.addFlag("--reference", options.reference,
                                  "run the interpreter instead of generated code");
  Option sanitize =
      line.addFlag("--sanitize", options.sanitize, "check every access (runs the interpreter)");
  Option guard = addGuard(line, options.guard);
  guard.excludes(reference).excludes(sanitize);
  Option stopAt =
      line.add("--stop-at", options.stopAt,
               "print the kernel's variables before this line, and end (runs the interpreter)")
          .valueText("FILE:LINE");
  line.add("--program", options.program, "with --stop-at: the program that stops (0,0,0)")
      .valueText("X[,Y[,Z]]")
      .needs(stopAt);
  guard.excludes(stopAt);
  if (!line.parse(words))
    return line.exitCode();

  splitTarget(options.target, "KERNEL");
  std::vector<int64_t> grid = parseGrid(options.grid);
  std::vector<Operand> operands;
  std::vector<trace::LaunchValue> values;
  readArguments(options, operands, values);
  std::vector<Output> outputs = readOutputs(options, operands);
  if (stopAt.given() && !outputs.empty())
    fail("--out " + outputs.front().text,
         "with --stop-at the launch ends before the kernel does, so nothing is written");
  graph::Program program = traceLine(options, grid, values);
  std::string engine = "native", isa;
  double seconds = 0;
  if (stopAt.given())
    return stopLaunch(program, options, operands, line.json());
  if (options.reference || options.sanitize) {
    std::vector<ReferenceOperand> memory = referenceMemory(operands);
    seconds = runReference(program, memory, options.sanitize);
    engine = options.sanitize ? "sanitizer" : "reference";
  } else {
    runNative(program, options, operands, isa, [&](double measured) {
      seconds = measured;
      return false;
    });
  }
  writeOutputs(outputs, operands);
  if (line.json())
    printJson({{"engine", engine}, {"isa", isa}, {"seconds", seconds}, {"grid", grid}});
  else
    std::printf("%s: %s%s%s, %.6f s\n", options.target.c_str(), engine.c_str(),
                isa.empty() ? "" : " on ", isa.c_str(), seconds);
  return Ok;
}

} // namespace pellucid::cli
