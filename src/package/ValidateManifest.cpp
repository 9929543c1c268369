// SPDX-License-Identifier: Apache-2.0
#include "package/ValidateManifest.h"

#include "package/BytecodeText.h"

#include <set>
#include <tuple>

namespace pellucid::package {

namespace {
/// Keeps the first complaint; checks go on where that is safe.
class Validator {
public:
  Validator(const Manifest &m, const RecordSize &size) : manifest(m), recordSize(size) {}

  Status run() {
    beginStages();
    for (const Symbol &symbol : manifest.symbols)
      check(symbol);
    for (const Input &input : manifest.inputs)
      check(input);
    for (const Guard &guard : manifest.guards)
      expression(guard.condition, "guard '" + guard.text + "'");
    later = true;
    for (const Output &output : manifest.outputs)
      check(output);
    later = false;
    for (const Weight &weight : manifest.weights)
      check(weight, "weight");
    checkState();
    for (const Kernel &kernel : manifest.kernels)
      check(kernel);
    for (const Program &program : manifest.programs)
      check(program);
    if (manifest.programs.empty())
      complain("it has no program");
    for (size_t i = 1; i < manifest.programs.size(); ++i)
      if (manifest.programs[i].device <= manifest.programs[i - 1].device)
        complain("its programs are not ordered by device");
    return first.empty() ? Status() : Status::error("its manifest is wrong: " + first);
  }

private:
  const Manifest &manifest;
  const RecordSize &recordSize;
  std::string first;
  /// Of the program that is looked at: those of the loops so far.
  struct Window {
    bool open, writable;
  };
  std::vector<Window> windows;

  /// By symbol: 0 for what is known when a call begins, else how many ReadSize steps of the program
  /// have been done when it is.
  static constexpr uint32_t notYet = UINT32_MAX;
  std::vector<uint32_t> stages;
  uint32_t reads = 0;
  /// By symbol: read in a branch or loop that has ended, behind which it means nothing.
  std::vector<bool> ended;
  bool later = false; ///< what is checked may mention symbols that steps give their values

  void beginStages() {
    stages.clear();
    reads = 0;
    ended.assign(manifest.symbols.size(), false);
    for (const Symbol &symbol : manifest.symbols)
      stages.push_back(symbol.isOfStep() ? notYet : 0);
  }
  uint32_t stageOf(const Bytecode &code) const {
    uint32_t stage = 0;
    for (uint32_t symbol : symbolsIn(code))
      if (symbol < stages.size())
        stage = std::max(stage, stages[symbol]);
    return stage;
  }
  void known(const Bytecode &code, const std::string &where) {
    if (later || !first.empty())
      return;
    if (stageOf(code) == notYet)
      complain(where + " mentions a symbol before the step that reads its value");
    for (uint32_t symbol : symbolsIn(code))
      if (ended[symbol])
        complain(where + " mentions symbol '" + manifest.symbols[symbol].name +
                 "' after the branch or loop that reads its value");
  }

  void complain(std::string text) {
    if (first.empty())
      first = std::move(text);
  }
  void expression(const Bytecode &code, const std::string &where) {
    if (!isWellFormed(code, manifest.symbols.size()))
      complain(where + " has no well-formed expression of at most " +
               std::to_string(maxBytecodeBytes) + " bytes");
    else
      known(code, where);
  }
  void optionalExpression(const Bytecode &code, const std::string &where) {
    if (!code.empty())
      expression(code, where);
  }
  void shape(const std::vector<Bytecode> &dims, const std::string &where) {
    if (dims.size() > maxRank)
      complain(where + " has " + std::to_string(dims.size()) + " dims, more than " +
               std::to_string(maxRank));
    for (const Bytecode &dim : dims)
      expression(dim, where);
  }
  void index(uint64_t value, size_t count, const std::string &where) {
    if (value >= count)
      complain(where + " is number " + std::to_string(value) + " of " + std::to_string(count));
  }
  static bool isPowerOfTwo(uint64_t value) { return value && !(value & (value - 1)); }

  void check(const Symbol &symbol) {
    std::string where = "symbol '" + symbol.name + "'";
    if (symbol.divisor < 1 || symbol.min > symbol.max)
      complain(where + " has an empty range or a divisor below 1");
    if (symbol.isOfRun() || symbol.isOfStep())
      return;
    index(symbol.input, manifest.inputs.size(), "the input of " + where);
    if (symbol.input < manifest.inputs.size())
      index(symbol.dim, manifest.inputs[symbol.input].shape.size(), "the dim of " + where);
  }
  void check(const Input &input) {
    std::string where = "input '" + input.name + "'";
    shape(input.shape, where);
    shape(input.strides, where);
    if (input.contiguous ? !input.strides.empty() : input.strides.size() != input.shape.size())
      complain(where + " has " + std::to_string(input.strides.size()) + " strides for " +
               std::to_string(input.shape.size()) + " dims");
    if (!isPowerOfTwo(input.alignment) || input.alignment > 4096)
      complain(where + " has alignment " + std::to_string(input.alignment));
  }
  void check(const Output &output) {
    std::string where = "output '" + output.name + "'";
    shape(output.shape, where);
    if (output.aliasOfInput < -1)
      complain(where + " is an alias of input " + std::to_string(output.aliasOfInput));
    if (output.aliasOfInput < 0)
      return;
    uint64_t alias = static_cast<uint64_t>(output.aliasOfInput);
    if (alias >= manifest.inputs.size())
      return index(alias, manifest.inputs.size(), "the input that " + where + " is an alias of");
    const Input &input = manifest.inputs[alias];
    if (!input.mutated || input.dtype != output.dtype || input.shape != output.shape)
      complain(where + " is an alias of input '" + input.name +
               "', which is not written or has another dtype or shape");
  }
  void check(const Weight &weight, const char *kind) {
    std::string where = kind + (" '" + weight.name + "'");
    uint64_t expected = byteSize(weight.dtype);
    for (int64_t dim : weight.shape)
      if (dim < 0 || __builtin_mul_overflow(expected, static_cast<uint64_t>(dim), &expected))
        return complain(where + " has a dim of " + std::to_string(dim));
    if (expected != weight.bytes || weight.offset % 64 != 0)
      return complain(where + " has " + std::to_string(weight.bytes) + " bytes at offset " +
                      std::to_string(weight.offset) + " where its shape takes " +
                      std::to_string(expected));
    inRecord(weight.record, weight.offset, weight.bytes, where);
  }
  /// Files hold it by name.
  void checkState() {
    std::set<std::string_view> names;
    for (const Weight &state : manifest.state) {
      check(state, "state");
      if (!names.insert(state.name).second)
        complain("state '" + state.name + "' is there twice");
    }
  }
  void inRecord(const std::string &record, uint64_t offset, uint64_t bytes,
                const std::string &where) {
    std::optional<uint64_t> size = recordSize(record);
    if (!size)
      complain(where + " lies in record '" + record + "', which is missing");
    else if (offset > *size || bytes > *size - offset)
      complain(where + " needs bytes up to " + std::to_string(offset + bytes) + " of record '" +
               record + "', which has " + std::to_string(*size));
  }
  void check(const Kernel &kernel) {
    std::string where = "kernel '" + kernel.name + "'";
    for (const KernelParameter &parameter : kernel.parameters) {
      uint32_t bytes = parameter.pointer ? 8 : byteSize(parameter.dtype);
      if (parameter.bytes != bytes || parameter.offset % bytes != 0 || parameter.offset > 1u << 16)
        complain(where + ": parameter '" + parameter.name + "' has " +
                 std::to_string(parameter.bytes) + " bytes at offset " +
                 std::to_string(parameter.offset));
      if (parameter.divisor < 1 || (parameter.pointer && !isPowerOfTwo(parameter.divisor)))
        complain(where + ": parameter '" + parameter.name + "' has divisor " +
                 std::to_string(parameter.divisor));
    }
    std::set<std::tuple<Target::Kind, CpuLevel, uint32_t, CodeFormat>> seen;
    for (const Executable &executable : kernel.executables) {
      std::string target = where + " for " + toString(executable.target);
      inRecord(executable.record, 0, 0, target);
      if ((executable.target.kind == Target::Kind::Cpu) != (executable.format == CodeFormat::Image))
        complain(target + " has a code format of another kind of device");
      if (executable.scratchBytes > uint64_t(1) << 40 || executable.numWarps < 1 ||
          executable.numWarps > 64)
        complain(target + " has scratch bytes or warps out of range");
      check(kernel, executable, target);
      const Target &t = executable.target;
      if (!seen.insert({t.kind, t.cpu, t.sm, executable.format}).second)
        complain(target + " is there twice");
    }
  }
  static bool isInteger(const KernelParameter &parameter) {
    return !parameter.pointer &&
           (parameter.dtype == DataType::Int32 || parameter.dtype == DataType::Int64);
  }
  /// What the device's own limits are, so that no value of a file reaches the driver unseen.
  void check(const Kernel &kernel, const Executable &executable, const std::string &target) {
    constexpr size_t mostMaps = 16, mostDims = 5;
    constexpr uint32_t mostBox = 256, alignment = 16;
    constexpr int64_t mostStrideBytes = int64_t(1) << 40;
    bool hasCode =
        executable.format == CodeFormat::GenerationPtx || executable.format == CodeFormat::Cubin;
    if (executable.tensorMaps.size() > mostMaps || (!executable.tensorMaps.empty() && !hasCode))
      complain(target + " has " + std::to_string(executable.tensorMaps.size()) + " tensor maps");
    for (const TensorMap &map : executable.tensorMaps) {
      std::string where = "a tensor map of " + target;
      bool isTensor = map.parameter < kernel.parameters.size() &&
                      kernel.parameters[map.parameter].pointer &&
                      kernel.parameters[map.parameter].divisor % alignment == 0;
      if (!isTensor || map.dims.empty() || map.dims.size() > mostDims ||
          !isPowerOfTwo(map.elementBytes) || map.elementBytes > 8)
        return complain(where + " is of parameter " + std::to_string(map.parameter) + ", has " +
                        std::to_string(map.dims.size()) + " dims and elements of " +
                        std::to_string(map.elementBytes) + " bytes");
      if (map.roundsToTf32 && map.elementBytes != sizeof(float))
        return complain(where + " rounds elements of " + std::to_string(map.elementBytes) +
                        " bytes to tf32");
      if (!isPowerOfTwo(map.swizzleBytes) || map.swizzleBytes < 16 || map.swizzleBytes > 128 ||
          map.swizzleBytes != uint64_t(map.dims[0].box) * map.elementBytes ||
          map.dims[0].stride != 1)
        return complain(where + " has rows of " + std::to_string(map.dims[0].box) +
                        " elements for a swizzle of " + std::to_string(map.swizzleBytes) +
                        " bytes");
      auto isNumber = [&](int32_t number) {
        return number == -1 || (number >= 0 && size_t(number) < kernel.parameters.size() &&
                                isInteger(kernel.parameters[size_t(number)]));
      };
      for (const TensorMap::Dim &dim : map.dims)
        if (dim.size < 1 || dim.size > INT32_MAX || dim.box < 1 || dim.box > mostBox ||
            dim.stride < 1 || dim.stride >= mostStrideBytes / map.elementBytes ||
            (&dim != map.dims.data() && dim.strideParameter == -1 &&
             dim.stride * map.elementBytes % alignment != 0) ||
            !isNumber(dim.sizeParameter) || !isNumber(dim.strideParameter) ||
            (&dim == map.dims.data() && dim.strideParameter != -1))
          return complain(where + " has a dim of " + std::to_string(dim.size) + ", stride " +
                          std::to_string(dim.stride) + ", box " + std::to_string(dim.box));
    }
  }
  void check(const Program &program) {
    std::string where =
        "program for " + std::string(program.device == Target::Kind::Cpu ? "cpu" : "cuda");
    beginStages();
    later = true;
    for (const Buffer &buffer : program.buffers) {
      shape(buffer.shape, "buffer '" + buffer.name + "'");
      expression(buffer.bytes, "the size of buffer '" + buffer.name + "'");
      index(buffer.slot, program.slots, "the slot of buffer '" + buffer.name + "'");
    }
    later = false;
    if (program.slots > program.buffers.size())
      complain(where + " has " + std::to_string(program.slots) + " slots for " +
               std::to_string(program.buffers.size()) + " buffers");
    windows.clear();
    checkSteps(program, 0, program.steps.size(), 0);
    checkStages(program);
  }

  /// A slot gets its memory once.
  void checkStages(const Program &program) {
    for (size_t i = 0; i < manifest.symbols.size(); ++i)
      if (stages[i] == notYet)
        complain("symbol '" + manifest.symbols[i].name + "' is read by no step of a program");
    // Not before the number of slots is known to be one of a list that was read.
    if (!first.empty())
      return;
    std::vector<uint32_t> ofSlot(program.slots, notYet);
    for (const Buffer &buffer : program.buffers) {
      uint32_t stage = stageOf(buffer.bytes);
      if (ofSlot[buffer.slot] != notYet && ofSlot[buffer.slot] != stage)
        complain("buffer '" + buffer.name +
                 "' shares its slot with one whose size is known at another step");
      ofSlot[buffer.slot] = stage;
    }
  }

  /// Control flow in control flow, deeper than this, is none that a compiler writes.
  static constexpr uint32_t maxDepth = 64;

  /// Steps of a branch or of a loop's turn, whose symbols end with them.
  void checkInside(const Program &program, size_t begin, size_t end, uint32_t depth) {
    std::vector<uint32_t> before = stages;
    checkSteps(program, begin, end, depth + 1);
    for (size_t i = 0; i < stages.size(); ++i)
      if (before[i] == notYet && stages[i] != notYet)
        ended[i] = true;
  }

  void checkSteps(const Program &program, size_t begin, size_t end, uint32_t depth) {
    if (depth > maxDepth)
      return complain("its control flow is nested more than " + std::to_string(maxDepth) +
                      " levels deep");
    for (size_t at = begin; at < end && first.empty(); ++at) {
      const Step &step = program.steps[at];
      if (auto *branch = std::get_if<Branch>(&step))
        at = checkBranch(*branch, program, at, end, depth);
      else if (auto *loop = std::get_if<Loop>(&step))
        at = checkLoop(*loop, program, at, end, depth);
      else
        std::visit([&](const auto &held) { this->check(held, program); }, step);
    }
  }
  void check(const ReadSize &read, const Program &program) {
    std::string where = "the read of a size, " + read.text;
    index(read.symbol, manifest.symbols.size(), "the symbol of " + where);
    check(read.from, program, where);
    optionalExpression(read.most, where);
    if (!first.empty())
      return;
    if (stages[read.symbol] != notYet)
      complain(where + " gives symbol '" + manifest.symbols[read.symbol].name +
               "' a value that it has");
    stages[read.symbol] = ++reads;
  }
  void check(const CheckSizes &check, const Program &) {
    expression(check.condition, "the check of sizes, " + check.text);
  }
  void check(const Branch &, const Program &) {}
  void check(const Loop &, const Program &) {}

  /// Whether two runs of steps fit behind the step at `at`, and then the last of them.
  bool fit(const std::string &where, uint64_t one, uint64_t other, size_t at, size_t end) {
    if (one + other <= end - at - 1)
      return true;
    complain(where + " has " + std::to_string(one + other) + " steps where " +
             std::to_string(end - at - 1) + " follow");
    return false;
  }

  size_t checkBranch(const Branch &branch, const Program &program, size_t at, size_t end,
                     uint32_t depth) {
    std::string where = "branch '" + branch.label + "'";
    if (!fit(where, branch.whenTrue, branch.whenFalse, at, end))
      return end;
    if (branch.condition.empty())
      check(branch.predicate, program, where);
    else
      expression(branch.condition, "the condition of " + where);
    size_t middle = at + 1 + branch.whenTrue, last = middle + branch.whenFalse;
    checkInside(program, at + 1, middle, depth);
    checkInside(program, middle, last, depth);
    return last - 1;
  }

  size_t checkLoop(const Loop &loop, const Program &program, size_t at, size_t end,
                   uint32_t depth) {
    std::string where = "loop '" + loop.label + "'";
    if (!fit(where, loop.conditionSteps, loop.bodySteps, at, end))
      return end;
    if (loop.turns.empty())
      check(loop.predicate, program, where);
    else
      expression(loop.turns, "the turns of " + where);
    if (!loop.turns.empty() && loop.conditionSteps)
      complain(where + " counts its turns and has " + std::to_string(loop.conditionSteps) +
               " steps of a condition");
    // A prepared call knows an even turn and an odd one.
    if (loop.turns.empty() && !loop.slices.empty())
      complain(where + " has slices and no number of turns");
    size_t opened = windows.size();
    std::vector<Window> added;
    for (const Carry &carry : loop.carries) {
      for (const Place *place : {&carry.first, &carry.second}) {
        check(*place, program, where);
        destination(*place, where);
      }
      expression(carry.bytes, "the size of a carry of " + where);
      added.insert(added.end(), 2, Window{true, true});
    }
    for (const Slice &slice : loop.slices) {
      check(slice.first, program, where);
      optionalExpression(slice.step, "a slice of " + where);
      expression(slice.bytes, "the size of a slice of " + where);
      added.push_back({true, mayWrite(slice.first)});
    }
    windows.insert(windows.end(), added.begin(), added.end());
    size_t middle = at + 1 + loop.conditionSteps, last = middle + loop.bodySteps;
    checkInside(program, at + 1, middle, depth);
    checkInside(program, middle, last, depth);
    for (size_t i = opened; i < opened + added.size(); ++i)
      windows[i].open = false;
    return last - 1;
  }

  bool mayWrite(const Place &place) const {
    if (place.kind == PlaceKind::Window)
      return place.index < windows.size() && windows[place.index].writable;
    if (place.kind == PlaceKind::Input)
      return place.index < manifest.inputs.size() && manifest.inputs[place.index].mutated;
    return place.kind != PlaceKind::Weight;
  }

  void check(const Place &place, const Program &program, const std::string &where) {
    size_t counts[] = {manifest.inputs.size(), manifest.outputs.size(), manifest.weights.size(),
                       program.buffers.size(), manifest.state.size(),   windows.size()};
    index(place.index, counts[size_t(place.kind)], "a place of " + where);
    if (place.kind == PlaceKind::Window && place.index < windows.size() &&
        !windows[place.index].open)
      complain("a place of " + where + " is window " + std::to_string(place.index) +
               " of another loop");
    optionalExpression(place.byteOffset, "a place of " + where);
    if (place.kind == PlaceKind::Buffer && place.index < program.buffers.size())
      known(program.buffers[place.index].bytes, "the size of a place of " + where);
    if (place.kind == PlaceKind::Output && place.index < manifest.outputs.size())
      for (const Bytecode &dim : manifest.outputs[place.index].shape)
        known(dim, "the shape of a place of " + where);
  }
  /// Weights belong to the package and are shared by all calls and processes; an input is the
  /// caller's, who was told which ones are written. State is the instance's.
  void destination(const Place &place, const std::string &where) {
    if (place.kind == PlaceKind::Weight && place.index < manifest.weights.size())
      complain(where + " writes to weight '" + manifest.weights[place.index].name + "'");
    if (place.kind == PlaceKind::Input && place.index < manifest.inputs.size() &&
        !manifest.inputs[place.index].mutated)
      complain(where + " writes to input '" + manifest.inputs[place.index].name +
               "', which is not declared as written");
    if (place.kind == PlaceKind::Window && place.index < windows.size() && !mayWrite(place))
      complain(where + " writes through window " + std::to_string(place.index) +
               " to what is not written");
  }
  void check(const Launch &launch, const Program &program) {
    std::string where = "launch '" + launch.label + "'";
    if (launch.variants.empty())
      complain(where + " has no variant");
    for (const LaunchVariant &variant : launch.variants)
      check(variant, program, where);
    optionalExpression(launch.bytes, where);
    optionalExpression(launch.flops, where);
  }
  void check(const LaunchVariant &variant, const Program &program, const std::string &where) {
    optionalExpression(variant.guard, where);
    for (const Bytecode &grid : variant.grid)
      optionalExpression(grid, where);
    if (variant.kernel >= manifest.kernels.size())
      return index(variant.kernel, manifest.kernels.size(), "the kernel of " + where);
    const Kernel &kernel = manifest.kernels[variant.kernel];
    if (variant.arguments.size() != kernel.parameters.size())
      return complain(where + " has " + std::to_string(variant.arguments.size()) +
                      " arguments for the " + std::to_string(kernel.parameters.size()) +
                      " parameters of kernel '" + kernel.name + "'");
    for (size_t i = 0; i < variant.arguments.size(); ++i) {
      const KernelParameter &parameter = kernel.parameters[i];
      std::string argument = "argument '" + parameter.name + "' of " + where;
      if (auto *pointer = std::get_if<PointerArgument>(&variant.arguments[i])) {
        check(pointer->place, program, argument);
        if (parameter.written)
          destination(pointer->place, argument);
        if (!parameter.pointer)
          complain(argument + " is an address where the kernel takes a scalar");
      } else if (auto *value = std::get_if<ValueArgument>(&variant.arguments[i])) {
        expression(value->value, argument);
        if (parameter.pointer)
          complain(argument + " is a scalar where the kernel takes an address");
      }
    }
  }
  void check(const Copy &copy, const Program &program) {
    check(copy.destination, program, "a copy");
    check(copy.source, program, "a copy");
    destination(copy.destination, "a copy");
    expression(copy.bytes, "the size of a copy");
  }
  void check(const Fill &fill, const Program &program) {
    check(fill.destination, program, "a fill");
    destination(fill.destination, "a fill");
    expression(fill.bytes, "the size of a fill");
    if (!isPowerOfTwo(fill.patternBytes) || fill.patternBytes > 8)
      complain("a fill has a pattern of " + std::to_string(fill.patternBytes) + " bytes");
  }
};
} // namespace

Status validateManifest(const Manifest &manifest, const RecordSize &recordSize) {
  return Validator(manifest, recordSize).run();
}

} // namespace pellucid::package
