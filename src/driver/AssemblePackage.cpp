// SPDX-License-Identifier: Apache-2.0
#include "driver/AssemblePackage.h"

#include "package/Crc32.h"

#include "driver/ReportText.h"
#include "driver/SolvedSizes.h"
#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "graph/ProgramText.h"
#include "passes/graph/NumberDraws.h"
#include "symbolic/Bytecode.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
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
  auto collect = [&](const Graph &graph) {
    for (const Node &node : graph)
      if (const Launch *launch = node.launch())
        for (const LaunchVariant &variant : launch->variants) {
          Most &most = used[variant.kernel];
          most.warps = std::max(most.warps, static_cast<uint32_t>(std::max(1, variant.numWarps)));
          most.stages =
              std::max(most.stages, static_cast<uint32_t>(std::max(1, variant.numStages)));
        }
  };
  collect(program.main);
  for (const auto &[region, regionPlan] : regions)
    collect(program.bodies[region].graph);
  for (auto [kernel, most] : used) {
    usedKernels.push_back(kernel);
    numWarps.push_back(most.warps);
    numStages.push_back(most.stages);
  }
}

namespace {

std::string_view numericsOfLibrary(package::LibraryKernel::Kind kind) {
  if (kind == package::LibraryKernel::Kind::Depthwise)
    return "fma=on,tf32=off,sum=planes of the kernel, columns, lines";
  if (kind == package::LibraryKernel::Kind::Convolve)
    return "fma=on,tf32=off,sum=in order of k, of f32 by whole channels of at most 256";
  return "fma=on,tf32=off,sum=in order of k, of f32 by 256";
}

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

/// Floating-point numbers are added as programs come to them.
bool addsInAnyOrder(const KernelDef &def) {
  return def.ttir.find("atomic_rmw fadd") != std::string::npos;
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
    read = readSymbols(program);
    // Graphs that nothing runs may read some.
    std::set<std::string> dead = read;
    auto keep = [&](const Graph &graph) {
      for (const Node &node : graph)
        if (node.calls(readSizeTarget))
          dead.erase(sizeReadOf(node).symbol);
    };
    keep(program.main);
    for (uint32_t region : regionsOf(program.main, program))
      keep(program.bodies[region].graph);
    std::erase_if(symbolOrder, [&](const std::string &name) { return dead.count(name) != 0; });
    std::set<std::string> given = read;
    given.insert({passes::seedSymbol, passes::offsetSymbol});
    solved.solve(program, given, symbolOrder);
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
      return symbolic::encode(solved.known(expr), symbolOrder);
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
      auto state = lowered.state.find(spec.name);
      if (spec.kind == InputSpec::Kind::UserInput && state != lowered.state.end()) {
        stateIndex[index] = states++;
        if (first)
          manifest.state.push_back(storedWeight(source, state->second, type.dtype).first);
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
      package::Symbol symbol = solved.symbolOf(name, program.symbols);
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
    if (read.count(symbol.name)) {
      symbol.source = package::SymbolSource::Step;
      return true;
    }
    Expr wanted = solved.dimOf(symbol.name);
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
      kernel.numerics = !def.library ? std::string("fma=") + (options.fpContract ? "on" : "off") +
                                           ",tf32=off,div=ieee,reduce=tree" +
                                           (addsInAnyOrder(def) ? ",atomics=in any order" : "")
                                     : std::string(numericsOfLibrary(def.library->kind));
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
                              *cudaProducts = ",cuda:dot=mma", *cudaTruncated = ",cuda:dot=tf32",
                              *cudaShortSums = ",cuda:dot=fp8-sums";

  /// What products of the text do beside taking an order of their own.
  static void noteProducts(std::string &numerics, const CodegenPtx &ptx) {
    if (ptx.text.find(".tf32") != std::string::npos)
      note(numerics, cudaTruncated);
    for (const char *type : {"k32.f32.e4m3", "k32.f32.e5m2"})
      if (ptx.text.find(type) != std::string::npos)
        note(numerics, cudaShortSums);
  }

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
      executable.dependentLaunch = ptx.dependentLaunch;
      executable.tensorMaps = ptx.tensorMaps;
      noteProducts(kernel.numerics, ptx);
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
        executable.entry = result.entry.empty() ? result.symbol : result.entry;
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

  /// Where bytes of a call lie: `offset` from the beginning of a place.
  struct Address {
    package::PlaceKind kind = package::PlaceKind::Input;
    uint32_t index = 0;
    Expr offset = 0;

    Address operator+(const Expr &bytes) const { return {kind, index, offset + bytes}; }
  };

  /// One place in the steps where a graph is run: the main graph, or a region of some node.
  struct Site {
    const Graph &graph;
    const passes::BufferPlan &plan;
    uint32_t firstSlot = 0;
    std::map<uint32_t, Address> inputs;        ///< by placeholder
    std::map<uint32_t, Address> outputs;       ///< by result
    std::map<uint32_t, uint32_t> buffers = {}; ///< of the package, by storage

    uint32_t endOfSlots() const { return firstSlot + static_cast<uint32_t>(plan.slotBytes.size()); }
  };

  void addProgram() {
    package::Program out;
    out.device = lowered.device;
    Site site{program.main, lowered.plan, 0, {}, {}};
    for (auto [placeholder, index] : inputIndex)
      site.inputs[placeholder] = {package::PlaceKind::Input, index};
    for (auto [placeholder, index] : stateIndex)
      site.inputs[placeholder] = {package::PlaceKind::State, index};
    for (auto [placeholder, index] : weightIndex)
      site.inputs[placeholder] = {package::PlaceKind::Weight, index};
    for (uint32_t i = 0; i < manifest.outputs.size(); ++i)
      site.outputs[i] = {package::PlaceKind::Output, i};
    addGraph(out, site);
    manifest.programs.push_back(std::move(out));
  }

  void addGraph(package::Program &out, Site &site) {
    addBuffers(out, site);
    addSteps(out, site);
  }

  void addBuffers(package::Program &out, Site &site) {
    out.slots = std::max(out.slots, site.endOfSlots());
    for (uint32_t s = 0; s < site.plan.storages.size(); ++s) {
      const Storage &storage = site.plan.storages[s];
      if (storage.kind != Storage::Kind::Buffer || !storage.used)
        continue;
      site.buffers[s] = static_cast<uint32_t>(out.buffers.size());
      package::Buffer buffer;
      buffer.name = "buffer" + std::to_string(out.buffers.size());
      buffer.dtype = DataType::UInt8;
      buffer.shape = {encode(storage.bytes)};
      buffer.bytes = encode(storage.bytes);
      buffer.slot = site.firstSlot + storage.slot;
      out.buffers.push_back(std::move(buffer));
    }
  }

  /// A view without elements may begin past the end of its memory, as `x[n:, 1:]` does.
  Expr byteOffsetOf(const TensorType &type, const Storage &storage) const {
    Expr offset = type.offset * static_cast<int64_t>(byteSize(type.dtype));
    bool isFilled = std::all_of(type.shape.begin(), type.shape.end(), [&](const Expr &size) {
      return program.symbols.prove(symbolic::less(0, size)) == true;
    });
    return isFilled || offset.constant() == 0 ? offset : symbolic::min(offset, storage.bytes);
  }

  static Address addressOf(const Site &site, uint32_t storageId) {
    const Storage &storage = site.plan.storages[storageId];
    switch (storage.kind) {
    case Storage::Kind::Input:
    case Storage::Kind::Weight:
      return site.inputs.at(storage.index);
    case Storage::Kind::Output:
      return site.outputs.at(storage.index);
    case Storage::Kind::Buffer:
      break;
    }
    return {package::PlaceKind::Buffer, site.buffers.at(storageId)};
  }
  Address addressOf(const Site &site, uint32_t storage, const TensorType &type) const {
    return addressOf(site, storage) + byteOffsetOf(type, site.plan.storages[storage]);
  }
  Address addressOf(const Site &site, const Value &value) const {
    return addressOf(site, site.plan.storageOf.at(&value), value.type());
  }

  package::Place placeOf(const Address &address) const {
    package::Place place{address.kind, address.index, {}};
    if (address.offset.constant() != 0)
      place.byteOffset = encode(address.offset);
    return place;
  }

  void addCopy(package::Program &out, const Address &from, const Address &to,
               const Expr &bytes) const {
    out.steps.push_back(package::Copy{placeOf(to), placeOf(from), encode(bytes)});
  }
  void addCopy(package::Program &out, const Site &site, const passes::StorageCopy &copy) const {
    addCopy(out, addressOf(site, copy.from), addressOf(site, copy.to),
            site.plan.storages[copy.to].bytes);
  }

  void addSteps(package::Program &out, Site &site) {
    std::unordered_map<const Node *, std::vector<const passes::StorageCopy *>> copies;
    for (const passes::StorageCopy &copy : site.plan.copies)
      copies[copy.node].push_back(&copy);
    for (const Node &node : site.graph) {
      if (isControlFlow(node)) {
        addControl(out, site, node);
        continue;
      }
      if (isHostStep(node)) {
        addHostStep(out, site, node);
        continue;
      }
      if (!node.isLaunch())
        continue;
      for (const passes::StorageCopy *copy : copies[&node])
        addCopy(out, site, *copy);
      out.steps.push_back(launchStep(site, node));
    }
    for (const passes::StorageCopy *copy : copies[nullptr])
      addCopy(out, site, *copy);
  }

  /// "model.py:12:9: nonzero"
  std::string placed(const Node &node, const std::string &text) const {
    const SourceLocation &where = node.location;
    std::string place = where.file ? program.sourceName(where.file->path()) : where.name;
    if (where.file && where.range.line)
      place += ":" + std::to_string(where.range.line) + ":" + std::to_string(where.range.column);
    return place.empty() ? text : place + ": " + text;
  }

  void addHostStep(package::Program &out, const Site &site, const Node &node) const {
    if (node.calls(checkSizesTarget)) {
      SizeCheck check = sizeCheckOf(node);
      out.steps.push_back(package::CheckSizes{encode(check.condition), placed(node, check.text)});
      return;
    }
    SizeRead read = sizeReadOf(node);
    package::ReadSize step;
    step.symbol = static_cast<uint32_t>(
        std::find(symbolOrder.begin(), symbolOrder.end(), read.symbol) - symbolOrder.begin());
    step.from = placeOf(addressOf(site, *read.from));
    if (read.most.constant() != INT64_MAX)
      step.most = encode(read.most);
    step.text = placed(node, read.text);
    out.steps.push_back(std::move(step));
  }

  // --- control flow
  // ----------------------------------------------------------------------------------------------

  void addControl(package::Program &out, const Site &site, const Node &node) {
    // Copies of one region at many places would otherwise multiply without end.
    if (out.steps.size() > mostSteps)
      throw DiagnosticError(node.location,
                            "the steps of a call come to more than " + std::to_string(mostSteps));
    ControlFlow flow = controlFlowOf(node);
    switch (flow.kind) {
    case ControlKind::Cond:
      return addBranch(out, site, node, flow);
    case ControlKind::WhileLoop:
      return addWhile(out, site, node, flow);
    case ControlKind::Scan:
    case ControlKind::AssociativeScan:
      return addScan(out, site, node, flow);
    }
  }

  /// The steps of a region with these operands and results; how many they are.
  uint32_t addRegion(package::Program &out, const Site &outer, uint32_t region,
                     const std::vector<Address> &operands, const std::vector<Address> &results) {
    // A slot gets its memory once: where sizes are read, regions share none.
    uint32_t firstSlot = read.empty() ? outer.endOfSlots() : out.slots;
    Site site{program.bodies[region].graph, lowered.regions.at(region), firstSlot, {}, {}};
    for (uint32_t i = 0; i < operands.size(); ++i)
      site.inputs[i] = operands[i];
    for (uint32_t i = 0; i < results.size(); ++i)
      site.outputs[i] = results[i];
    size_t before = out.steps.size();
    addGraph(out, site);
    return static_cast<uint32_t>(out.steps.size() - before);
  }

  /// The memory that operands lie in: where in it, their types in the region say.
  static std::vector<Address> memoryOf(const Site &site, const std::vector<Value *> &values) {
    std::vector<Address> addresses;
    for (const Value *value : values)
      addresses.push_back(addressOf(site, site.plan.storageOf.at(value)));
    return addresses;
  }
  std::vector<Address> resultsOf(const Site &site, const Node &node) const {
    std::vector<Address> addresses;
    for (size_t i = 0; i < node.resultCount(); ++i)
      addresses.push_back(addressOf(site, *node.result(i)));
    return addresses;
  }
  static Expr bytesOf(const TensorType &type) {
    return type.numel() * static_cast<int64_t>(byteSize(type.dtype));
  }

  void addBranch(package::Program &out, const Site &site, const Node &node,
                 const ControlFlow &flow) {
    package::Branch branch;
    branch.label = node.name();
    if (Value *predicate = flow.predicate.value(); predicate && predicate->isTensor())
      branch.predicate = placeOf(addressOf(site, *predicate));
    else
      branch.condition = encode(*flow.predicate.integer());
    size_t at = out.steps.size();
    out.steps.emplace_back();
    std::vector<Address> operands = memoryOf(site, flow.additional),
                         results = resultsOf(site, node);
    branch.whenTrue = addRegion(out, site, node.regions[0], operands, results);
    branch.whenFalse = addRegion(out, site, node.regions[1], operands, results);
    out.steps[at] = std::move(branch);
  }

  /// The windows of a loop, in the order in which the run time counts them.
  struct Windows {
    package::Loop &loop;
    uint32_t next;

    Address make() { return {package::PlaceKind::Window, next++}; }
  };

  /// The first value of everything carried, and the two windows that turns read and write: the
  /// same memory where the body changes it in place.
  void addCarries(package::Program &out, const Site &site, const Node &node,
                  const ControlFlow &flow, Windows &windows, std::vector<Address> &reads,
                  std::vector<Address> &writes) const {
    const passes::ControlMemory &memory = site.plan.controls.at(&node);
    for (size_t i = 0; i < flow.carried.size(); ++i) {
      Address first = addressOf(site, *node.result(i)), second = addressOf(site, memory.others[i]);
      Expr bytes = bytesOf(node.result(i)->type());
      if (site.plan.storageOf.at(flow.carried[i]) != site.plan.storageOf.at(node.result(i)))
        addCopy(out, addressOf(site, *flow.carried[i]), first, bytes);
      windows.loop.carries.push_back({placeOf(first), placeOf(second), encode(bytes)});
      reads.push_back(windows.make());
      writes.push_back(windows.make());
    }
  }

  void addWhile(package::Program &out, const Site &site, const Node &node,
                const ControlFlow &flow) {
    package::Loop loop;
    loop.label = node.name();
    Address condition = addressOf(site, *site.plan.controls.at(&node).condition);
    loop.predicate = placeOf(condition);
    Windows windows{loop, claimWindows(2 * flow.carried.size())};
    std::vector<Address> reads, writes;
    addCarries(out, site, node, flow, windows, reads, writes);
    for (const Address &operand : memoryOf(site, flow.additional))
      reads.push_back(operand);
    size_t at = out.steps.size();
    out.steps.emplace_back();
    loop.conditionSteps = addRegion(out, site, node.regions[0], reads, {condition});
    loop.bodySteps = addRegion(out, site, node.regions[1], reads, writes);
    out.steps[at] = std::move(loop);
  }

  /// A window on the slice that a turn begins with, `ahead` of it by so many slices.
  Address addSlice(Windows &windows, const Address &whole, const TensorType &type, bool reverse,
                   int64_t ahead) const {
    TensorType slice = sliceOf(type);
    Expr step = type.strides[0] * static_cast<int64_t>(byteSize(type.dtype));
    Address first = whole + step * (reverse ? type.shape[0] - 1 : Expr(ahead));
    windows.loop.slices.push_back(
        {placeOf(first), encode(reverse ? step * -1 : step), encode(bytesOf(slice))});
    return windows.make();
  }

  void addScan(package::Program &out, const Site &site, const Node &node, const ControlFlow &flow) {
    bool associative = flow.kind == ControlKind::AssociativeScan;
    package::Loop loop;
    loop.label = node.name();
    loop.turns = encode(turnsOf(flow));
    size_t stacked = node.resultCount() - flow.carried.size();
    Windows windows{loop, claimWindows(2 * flow.carried.size() + flow.scanned.size() +
                                       (associative ? 2 : 1) * stacked)};
    std::vector<Address> reads, writes;
    addCarries(out, site, node, flow, windows, reads, writes);
    std::vector<Address> wholes = resultsOf(site, node);
    for (size_t i = 0; i < stacked && associative; ++i) {
      const TensorType &type = node.result(i)->type();
      // The first slice is what it is; an empty scan has none.
      addCopy(out, addressOf(site, *flow.scanned[i]), wholes[i],
              bytesOf(sliceOf(type)) * symbolic::min(type.shape[0], 1));
      reads.push_back(addSlice(windows, wholes[i], type, false, 0));
    }
    for (const Value *value : flow.scanned)
      reads.push_back(
          addSlice(windows, addressOf(site, *value), value->type(), flow.reverse, associative));
    for (size_t i = flow.carried.size(); i < node.resultCount(); ++i)
      writes.push_back(
          addSlice(windows, wholes[i], node.result(i)->type(), flow.reverse, associative));
    for (const Address &operand : memoryOf(site, flow.additional))
      reads.push_back(operand);
    size_t at = out.steps.size();
    out.steps.emplace_back();
    loop.bodySteps = addRegion(out, site, node.regions[0], reads, writes);
    out.steps[at] = std::move(loop);
  }

  /// The numbers of a loop's windows: its own before those of the loops inside.
  uint32_t claimWindows(size_t count) {
    uint32_t first = nextWindow;
    nextWindow += static_cast<uint32_t>(count);
    return first;
  }

  package::Launch launchStep(const Site &site, const Node &node) const {
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
          out.arguments.push_back(argumentOf(site, node, parameter));
      step.variants.push_back(std::move(out));
    }
    Expr bytes = 0;
    for (const LaunchOperand &operand : launch.operands)
      if (Value *value = operand.value.value(); value && value->isTensor()) {
        Expr once = value->type().numel() * static_cast<int64_t>(byteSize(value->type().dtype));
        bytes = bytes + (operand.access == Access::ReadWrite ? once * 2 : once);
      }
    step.bytes = encode(bytes);
    if (const auto &library = program.kernels[launch.variants.front().kernel].library;
        library && library->isProduct())
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

  package::Argument argumentOf(const Site &site, const Node &node,
                               const graph::KernelParameter &parameter) const {
    const Launch &launch = *node.launch();
    for (uint32_t i = 0; i < launch.operands.size(); ++i) {
      const LaunchOperand &operand = launch.operands[i];
      if (operand.name != parameter.name)
        continue;
      if (Value *value = operand.value.value(); value && value->isTensor()) {
        uint32_t storage = site.plan.operand(node, i, value);
        return package::PointerArgument{placeOf(addressOf(site, storage, value->type()))};
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
  std::vector<std::string> symbolOrder; ///< as the package has them
  SolvedSizes solved;
  std::set<std::string> read; ///< symbols whose values steps read
  std::vector<TensorType> inputTypes;
  std::map<uint32_t, uint32_t> inputIndex, stateIndex, weightIndex, kernelIndex;
  uint32_t nextWindow = 0;
  static constexpr size_t mostSteps = 1'000'000;
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
