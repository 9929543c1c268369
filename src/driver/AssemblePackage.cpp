// SPDX-License-Identifier: Apache-2.0
#include "driver/AssemblePackage.h"

#include "package/Crc32.h"

#include "driver/ReportText.h"
#include "graph/ProgramText.h"
#include "passes/graph/NumberDraws.h"
#include "symbolic/Bytecode.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <unordered_map>

namespace pellucid::driver {

using namespace graph;
using package::Bytecode;
using passes::Storage;

void LoweredProgram::collectKernels() {
  struct Most {
    uint32_t warps = 1, stages = 1;
  };
  std::map<uint32_t, Most> used;
  for (Node &node : program.main)
    if (const Launch *launch = node.launch())
      for (const LaunchVariant &variant : launch->variants) {
        Most &most = used[variant.kernel];
        most.warps = std::max(most.warps, static_cast<uint32_t>(std::max(1, variant.numWarps)));
        most.stages = std::max(most.stages, static_cast<uint32_t>(std::max(1, variant.numStages)));
      }
  for (auto [kernel, most] : used) {
    usedKernels.push_back(kernel);
    numWarps.push_back(most.warps);
    numStages.push_back(most.stages);
  }
}

namespace {

/// The bits of a float argument in the parameter's own type.
uint64_t floatBits(double value, DataType type) {
  if (type == DataType::Float64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (type == DataType::Float32)
    return bits;
  if (type == DataType::BFloat16)
    return (uint64_t(bits) + 0x7fff + ((bits >> 16) & 1)) >> 16 & 0xffff;
  _Float16 half = static_cast<_Float16>(value);
  uint16_t halfBits;
  std::memcpy(&halfBits, &half, sizeof halfBits);
  return halfBits;
}

/// What the programs of one package share.
struct SharedParts {
  std::map<std::pair<const void *, uint64_t>, std::string> recordOfWeight; ///< by address and size
  std::vector<const KernelDef *> kernels; ///< of the manifest's kernels
};

class Assembler {
public:
  Assembler(const Program &source, const LoweredProgram &l, const std::vector<TargetCode> &c,
            const CompileOptions &o, SharedParts &s, package::Contents &out)
      : source(source), lowered(l), program(l.program), code(c), options(o), shared(s),
        contents(out), manifest(out.manifest) {}

  void run() {
    bool first = manifest.programs.empty();
    symbolOrder = program.symbols.names();
    addInputs(first);
    if (first) {
      manifest.producer = "pellucid " PELLUCID_VERSION;
      manifest.name = options.name;
      addSymbols();
      addOutputs();
    }
    addKernels();
    addProgram();
    addCode();
  }

private:
  Bytecode encode(const Expr &expr) const {
    try {
      return symbolic::encode(expr, symbolOrder);
    } catch (const std::invalid_argument &problem) {
      throw DiagnosticError(SourceLocation(options.name),
                            std::string(problem.what()) +
                                ": make some of the dynamic dims static: " + expr.text());
    }
  }
  std::vector<Bytecode> encodeAll(const std::vector<Expr> &exprs) const {
    std::vector<Bytecode> out;
    for (const Expr &expr : exprs)
      out.push_back(encode(expr));
    return out;
  }

  // --- the border
  // ------------------------------------------------------------------------------------------------

  bool isMutated(const std::string &name) const {
    for (const OutputSpec &spec : program.outputs)
      if (spec.kind == OutputSpec::Kind::UserInputMutation && spec.name == name)
        return true;
    return false;
  }

  void addInputs(bool first) {
    uint32_t position = 0, inputs = 0, states = 0;
    for (Node *node : program.main.placeholders()) {
      const InputSpec &spec = program.inputs[position];
      uint32_t index = position++;
      if (!node->resultCount() || !node->result()->isTensor())
        continue;
      const TensorType &type = node->result()->type();
      if (spec.kind == InputSpec::Kind::UserInput && lowered.state.count(spec.name)) {
        stateIndex[index] = states++;
        if (first)
          manifest.state.push_back(storedWeight(source, spec.name, type.dtype).first);
      } else if (spec.kind == InputSpec::Kind::UserInput) {
        inputIndex[index] = inputs++;
        if (!first)
          continue;
        package::Input input;
        input.name = spec.name;
        input.dtype = type.dtype;
        input.shape = encodeAll(type.shape);
        input.contiguous = type.isContiguous(program.symbols);
        if (!input.contiguous)
          input.strides = encodeAll(type.strides);
        input.mutated = isMutated(spec.name);
        input.alignment = spec.alignment;
        if (size_t position = manifest.inputs.size(); position < options.inputAlignment.size())
          input.alignment = std::max(input.alignment, options.inputAlignment[position]);
        manifest.inputs.push_back(std::move(input));
        inputTypes.push_back(type);
      } else {
        weightIndex[index] = addWeight(spec, type);
      }
    }
  }

  static package::Record recordOf(const graph::Weight &weight) {
    package::Record record;
    record.made = weight.made;
    record.madeBytes = weight.bytes;
    if (!weight.made)
      record.data = {reinterpret_cast<const uint8_t *>(weight.data.get()), weight.bytes};
    record.owner = weight.data;
    return record;
  }

  uint32_t addWeight(const InputSpec &spec, const TensorType &type) {
    auto [out, isNew] = storedWeight(program, spec.name, type.dtype);
    for (uint32_t known = 0; known < manifest.weights.size() && !isNew; ++known)
      if (manifest.weights[known].name == out.name && manifest.weights[known].record == out.record)
        return known;
    manifest.weights.push_back(std::move(out));
    return static_cast<uint32_t>(manifest.weights.size() - 1);
  }

  /// With its contents in a record, one for each piece of memory; whether that is a new one.
  std::pair<package::Weight, bool> storedWeight(const Program &holder, const std::string &name,
                                                DataType dtype) {
    auto entry = holder.weights.find(name);
    if (entry == holder.weights.end() || (!entry->second.data && !entry->second.made))
      throw DiagnosticError(SourceLocation(name),
                            "the program has no values for this weight; give --weights or --seed");
    const graph::Weight &weight = entry->second;
    package::Weight out;
    out.name = name;
    out.dtype = dtype;
    out.shape = weight.shape;
    out.bytes = weight.bytes;
    package::Record content = recordOf(weight);
    // What is made has no address of its own, and is nobody else's.
    const void *identity = weight.made ? static_cast<const void *>(&weight) : weight.data.get();
    auto [record, isNew] = shared.recordOfWeight.try_emplace(
        {identity, weight.bytes}, "weights/" + std::to_string(shared.recordOfWeight.size()));
    out.record = record->second;
    content.sendTo([&](std::span<const uint8_t> piece) {
      out.crc32 = package::crc32(piece, out.crc32);
      return true;
    });
    if (isNew) {
      content.name = out.record;
      content.crc32 = out.crc32;
      contents.records.push_back(std::move(content));
    }
    return {std::move(out), isNew};
  }

  void addSymbols() {
    for (const std::string &name : symbolOrder) {
      const symbolic::SymbolInfo &known = *program.symbols.find(name);
      package::Symbol symbol;
      symbol.name = name;
      symbol.min = known.range.min;
      symbol.max = known.range.max;
      symbol.divisor = known.divisor;
      if (!bindSymbol(symbol))
        throw DiagnosticError(
            SourceLocation(name),
            "no input has this dynamic dimension as the size of one of its dims, so "
            "a call could not tell its value");
      manifest.symbols.push_back(std::move(symbol));
    }
  }

  bool bindSymbol(package::Symbol &symbol) const {
    if (symbol.name == passes::seedSymbol || symbol.name == passes::offsetSymbol) {
      symbol.source = symbol.name == passes::seedSymbol ? package::SymbolSource::RunSeed
                                                        : package::SymbolSource::RunOffset;
      return true;
    }
    Expr wanted = Expr::symbol(symbol.name);
    for (uint32_t i = 0; i < inputTypes.size(); ++i)
      for (uint32_t d = 0; d < inputTypes[i].rank(); ++d)
        if (inputTypes[i].shape[d] == wanted) {
          symbol.input = i;
          symbol.dim = d;
          return true;
        }
    return false;
  }

  void addOutputs() {
    const Node *output = program.main.outputNode();
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      const OutputSpec &spec = program.outputs[i];
      if (spec.kind != OutputSpec::Kind::UserOutput)
        continue;
      const Value *value = output->arg(i).value();
      if (!value || !value->isTensor())
        throw DiagnosticError(output->location,
                              "result " + std::to_string(i) +
                                  " is not a tensor; packages return tensors only");
      package::Output out;
      out.name = value->name();
      out.dtype = value->type().dtype;
      out.shape = encodeAll(value->type().shape);
      manifest.outputs.push_back(std::move(out));
    }
  }

  // --- kernels
  // ---------------------------------------------------------------------------------------------------

  /// The same kernel, in the program of another device.
  std::optional<uint32_t> knownKernel(const KernelDef &def) const {
    for (uint32_t known = 0; known < shared.kernels.size(); ++known)
      if (shared.kernels[known]->symbol == def.symbol && shared.kernels[known]->ttir == def.ttir &&
          shared.kernels[known]->library == def.library)
        return known;
    return std::nullopt;
  }

  void addKernels() {
    for (uint32_t index : lowered.usedKernels) {
      const KernelDef &def = program.kernels[index];
      if (auto known = knownKernel(def)) {
        kernelIndex[index] = *known;
        manifest.kernels[*known].ordered |= lowered.orderedKernels.count(index) != 0;
        continue;
      }
      kernelIndex[index] = static_cast<uint32_t>(manifest.kernels.size());
      shared.kernels.push_back(&def);
      package::Kernel kernel;
      kernel.name = def.symbol;
      kernel.ordered = lowered.orderedKernels.count(index);
      kernel.sourceFile = program.sourceName(def.sourcePath);
      kernel.sourceLine = def.sourceLine;
      kernel.numerics = def.library.empty()
                            ? std::string("fma=") + (options.fpContract ? "on" : "off") +
                                  ",tf32=off,div=ieee,reduce=tree"
                            : "fma=on,tf32=off,sum=in order of k, of f32 by 256";
      uint32_t offset = 0;
      for (const graph::KernelParameter &parameter : def.parameters) {
        if (parameter.kind == graph::KernelParameter::Kind::Constant) {
          kernel.constants.push_back({parameter.name, toString(parameter.constant)});
          continue;
        }
        package::KernelParameter out;
        out.name = parameter.name;
        out.pointer = parameter.kind == graph::KernelParameter::Kind::Pointer;
        out.dtype = parameter.dtype;
        out.bytes = out.pointer ? 8 : byteSize(parameter.dtype);
        offset = (offset + out.bytes - 1) / out.bytes * out.bytes;
        out.offset = offset;
        offset += out.bytes;
        out.divisor = static_cast<uint32_t>(parameter.divisor);
        // Passed all the same: how arguments are packed does not depend on what is known of them.
        if (!parameter.constant.isNone())
          kernel.constants.push_back({parameter.name, toString(parameter.constant)});
        out.read = reads(parameter.access) || parameter.unknownAccess;
        out.written = writes(parameter.access) || parameter.unknownAccess;
        kernel.parameters.push_back(std::move(out));
      }
      manifest.kernels.push_back(std::move(kernel));
    }
  }

  /// Which functions, and how exact: docs/design/0009-vector-math.md and 0008-cuda-code.md.
  static constexpr const char *bfloat16Grade = ",cpu:exp=bf16-grade",
                              *cudaGrade = ",cuda:div=full,cuda:exp=ex2.approx",
                              *cudaProducts = ",cuda:dot=mma";

  /// bf16 in the order of the level's own instructions, which take subnormals for zero:
  /// docs/design/0020-cpu-levels.md.
  static const char *productsOf(CpuLevel level) {
    return hasTileProducts(level) ? ",x86-64-v4+amx:dot=tdpbf16ps"
                                  : ",x86-64-v4+bf16:dot=vdpbf16ps";
  }

  static void note(std::string &numerics, const char *what) {
    if (numerics.find(what) == std::string::npos)
      numerics += what;
  }

  void addPtx(package::Kernel &kernel, package::Executable executable,
              const CodegenKernelResult &result) {
    for (const CodegenPtx &ptx : result.ptx) {
      executable.format =
          ptx.thisGenerationOnly ? package::CodeFormat::GenerationPtx : package::CodeFormat::Ptx;
      executable.record = "code/" + result.symbol + ".sm_" + std::to_string(executable.target.sm) +
                          (ptx.thisGenerationOnly ? "a" : "") + ".ptx";
      executable.sharedBytes = ptx.sharedBytes;
      contents.records.push_back(package::textRecord(executable.record, ptx.text));
      kernel.executables.push_back(executable);
    }
  }

  void addCode() {
    for (const TargetCode &target : code) {
      bool cpu = target.target.kind == Target::Kind::Cpu;
      if (target.target.kind != lowered.device)
        continue;
      std::string image = cpu ? "code/" + std::string(toString(target.target.cpu)) + ".elf" : "";
      if (cpu)
        contents.records.push_back(package::ownedRecord(
            image, std::vector<uint8_t>(target.result.image.begin(), target.result.image.end())));
      for (size_t k = 0; k < target.result.kernels.size(); ++k) {
        const CodegenKernelResult &result = target.result.kernels[k];
        package::Kernel &kernel = manifest.kernels[kernelIndex.at(target.kernels[k])];
        package::Executable executable;
        executable.target = target.target;
        executable.entry = result.symbol;
        executable.entryOffset = result.entryOffset;
        executable.scratchBytes = result.scratchBytes;
        executable.numWarps = result.numWarps ? result.numWarps : 4;
        for (const CodegenMessage &message : result.messages)
          executable.messages.push_back(
              {message.isPrint ? package::MessageKind::Print : package::MessageKind::Assert,
               message.text, program.sourceName(message.file), message.line, message.column,
               message.hex});
        executable.record = image;
        if (cpu)
          kernel.executables.push_back(std::move(executable));
        else
          addPtx(kernel, executable, result);
        if (result.bfloat16Grade)
          note(kernel.numerics, bfloat16Grade);
        if (!cpu)
          note(kernel.numerics, cudaGrade);
        if (result.matrixUnits)
          note(kernel.numerics, cpu ? productsOf(target.target.cpu) : cudaProducts);
      }
    }
  }

  // --- steps
  // -----------------------------------------------------------------------------------------------------

  void addProgram() {
    package::Program out;
    out.device = lowered.device;
    addBuffers(out);
    addSteps(out);
    manifest.programs.push_back(std::move(out));
  }

  void addBuffers(package::Program &out) {
    out.slots = static_cast<uint32_t>(lowered.plan.slotBytes.size());
    for (uint32_t s = 0; s < lowered.plan.storages.size(); ++s) {
      const Storage &storage = lowered.plan.storages[s];
      if (storage.kind != Storage::Kind::Buffer || !storage.used)
        continue;
      bufferIndex[s] = static_cast<uint32_t>(out.buffers.size());
      package::Buffer buffer;
      buffer.name = "buffer" + std::to_string(out.buffers.size());
      buffer.dtype = DataType::UInt8;
      buffer.shape = {encode(storage.bytes)};
      buffer.bytes = encode(storage.bytes);
      buffer.slot = storage.slot;
      out.buffers.push_back(std::move(buffer));
    }
  }

  /// A view without elements may begin past the end of its memory, as `x[n:, 1:]` does.
  Expr byteOffsetOf(const TensorType &type, uint32_t storage) const {
    Expr offset = type.offset * static_cast<int64_t>(byteSize(type.dtype));
    bool isFilled = std::all_of(type.shape.begin(), type.shape.end(), [&](const Expr &size) {
      return program.symbols.prove(symbolic::less(0, size)) == true;
    });
    return isFilled || offset.constant() == 0
               ? offset
               : symbolic::min(offset, lowered.plan.storages[storage].bytes);
  }

  package::Place placeOf(uint32_t storageId, const Expr &byteOffset) const {
    const Storage &storage = lowered.plan.storages[storageId];
    package::Place place;
    switch (storage.kind) {
    case Storage::Kind::Input: {
      auto state = stateIndex.find(storage.index);
      bool isState = state != stateIndex.end();
      place.kind = isState ? package::PlaceKind::State : package::PlaceKind::Input;
      place.index = isState ? state->second : inputIndex.at(storage.index);
      break;
    }
    case Storage::Kind::Weight:
      place.kind = package::PlaceKind::Weight;
      place.index = weightIndex.at(storage.index);
      break;
    case Storage::Kind::Output:
      place.kind = package::PlaceKind::Output;
      place.index = storage.index;
      break;
    case Storage::Kind::Buffer:
      place.kind = package::PlaceKind::Buffer;
      place.index = bufferIndex.at(storageId);
      break;
    }
    if (byteOffset.constant() != 0)
      place.byteOffset = encode(byteOffset);
    return place;
  }

  void addCopy(package::Program &out, const passes::StorageCopy &copy) {
    package::Copy step;
    step.source = placeOf(copy.from, 0);
    step.destination = placeOf(copy.to, 0);
    step.bytes = encode(lowered.plan.storages[copy.to].bytes);
    out.steps.push_back(std::move(step));
  }

  void addSteps(package::Program &out) {
    std::unordered_map<const Node *, std::vector<const passes::StorageCopy *>> copies;
    for (const passes::StorageCopy &copy : lowered.plan.copies)
      copies[copy.node].push_back(&copy);
    for (const Node &node : program.main) {
      if (!node.isLaunch())
        continue;
      for (const passes::StorageCopy *copy : copies[&node])
        addCopy(out, *copy);
      out.steps.push_back(launchStep(node));
    }
    for (const passes::StorageCopy *copy : copies[nullptr])
      addCopy(out, *copy);
  }

  package::Launch launchStep(const Node &node) const {
    const Launch &launch = *node.launch();
    package::Launch step;
    step.label = node.name();
    for (const LaunchVariant &variant : launch.variants) {
      package::LaunchVariant out;
      if (variant.guard.constant() != 1)
        out.guard = encode(variant.guard);
      out.kernel = kernelIndex.at(variant.kernel);
      for (size_t d = 0; d < 3; ++d)
        if (variant.grid[d].constant() != 1)
          out.grid[d] = encode(variant.grid[d]);
      for (const graph::KernelParameter &parameter : program.kernels[variant.kernel].parameters)
        if (parameter.kind != graph::KernelParameter::Kind::Constant)
          out.arguments.push_back(argumentOf(node, parameter));
      step.variants.push_back(std::move(out));
    }
    Expr bytes = 0;
    for (const LaunchOperand &operand : launch.operands)
      if (Value *value = operand.value.value(); value && value->isTensor()) {
        Expr once = value->type().numel() * static_cast<int64_t>(byteSize(value->type().dtype));
        bytes = bytes + (operand.access == Access::ReadWrite ? once * 2 : once);
      }
    step.bytes = encode(bytes);
    if (program.kernels[launch.variants.front().kernel].library.starts_with("gemm"))
      step.flops = encode(flopsOfProducts(launch));
    return step;
  }

  /// A multiplication and an addition for each of m x n x k, in every batch.
  static Expr flopsOfProducts(const Launch &launch) {
    Expr flops = launch.variants.front().grid[2] * 2;
    for (const LaunchOperand &operand : launch.operands)
      if (operand.name == "m" || operand.name == "n" || operand.name == "k")
        if (auto size = operand.value.integer())
          flops = flops * *size;
    return flops;
  }

  package::Argument argumentOf(const Node &node, const graph::KernelParameter &parameter) const {
    const Launch &launch = *node.launch();
    for (uint32_t i = 0; i < launch.operands.size(); ++i) {
      const LaunchOperand &operand = launch.operands[i];
      if (operand.name != parameter.name)
        continue;
      if (Value *value = operand.value.value(); value && value->isTensor()) {
        uint32_t storage = lowered.plan.operand(node, i, value);
        return package::PointerArgument{placeOf(storage, byteOffsetOf(value->type(), storage))};
      }
      if (operand.value.isNone())
        return package::ImmediateArgument{0};
      if (parameter.kind == graph::KernelParameter::Kind::Scalar && isFloat(parameter.dtype))
        if (auto number = operand.value.number())
          return package::ImmediateArgument{floatBits(*number, parameter.dtype)};
      if (Value *value = operand.value.value(); value && value->isSymInt())
        return package::ValueArgument{encode(value->expr())};
      if (auto integer = operand.value.integer())
        return package::ValueArgument{encode(*integer)};
      throw DiagnosticError(node.location, "argument '" + operand.name + "' of kernel launch " +
                                               node.name() + " is neither a tensor nor a number");
    }
    throw DiagnosticError(node.location, "kernel launch " + node.name() + " has no argument '" +
                                             parameter.name + "'");
  }

  const Program &source;
  const LoweredProgram &lowered;
  const Program &program;
  const std::vector<TargetCode> &code;
  const CompileOptions &options;
  SharedParts &shared;
  package::Contents &contents;
  package::Manifest &manifest;
  std::vector<std::string> symbolOrder;
  std::vector<TensorType> inputTypes;
  std::map<uint32_t, uint32_t> inputIndex, stateIndex, weightIndex, kernelIndex, bufferIndex;
};

} // namespace

void assemblePackage(const Program &source, const std::vector<LoweredProgram> &lowered,
                     const std::vector<TargetCode> &code, const CompileOptions &options,
                     const CompileReport &report, package::Contents &out) {
  SharedParts shared;
  for (const LoweredProgram &one : lowered)
    Assembler(source, one, code, options, shared, out).run();
  if (!options.keepIr)
    return;
  for (const StageText &text : report.texts)
    out.records.push_back(package::textRecord("ir/" + text.stage + ".txt", text.text));
  out.records.push_back(package::textRecord("ir/explain.json", explainJson(report.edges)));
}

} // namespace pellucid::driver
