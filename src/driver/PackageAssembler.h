// SPDX-License-Identifier: Apache-2.0
/// Writes down one program of a package: assemblePackage() has one of these for each.
#pragma once

#include "driver/AssemblePackage.h"
#include "driver/SolvedSizes.h"
#include "graph/ControlFlow.h"

namespace pellucid::driver {

/// What the programs of one package share.
struct SharedParts {
  std::map<std::pair<const void *, uint64_t>, std::string> recordOfWeight; ///< by address and size
  std::vector<const graph::KernelDef *> kernels; ///< of the manifest's kernels
};

/// Writes one lowered program into `out`; the first also says what the package takes and gives.
class Assembler {
public:
  Assembler(const graph::Program &source, const LoweredProgram &l, const std::vector<TargetCode> &c,
            const CompileOptions &o, SharedParts &s, package::Contents &out);
  void run();

private:
  package::Bytecode encode(const graph::Expr &expr) const;
  std::vector<package::Bytecode> encodeAll(const std::vector<graph::Expr> &exprs) const;

  // --- inputs, weights, symbols and outputs

  bool isMutated(const std::string &name) const;
  void addInputs(bool first);
  static package::Record recordOf(const graph::Weight &weight);
  uint32_t addWeight(const graph::InputSpec &spec, const graph::TensorType &type);
  std::pair<package::Weight, bool> storedWeight(const graph::Program &holder,
                                                const std::string &name, DataType dtype);
  void addSymbols();
  bool bindSymbol(package::Symbol &symbol) const;
  void addOutputs();

  // --- kernels

  std::optional<uint32_t> knownKernel(const graph::KernelDef &def) const;
  void addKernels();

  /// Which functions, and how exact: docs/design/0009-vector-math.md and 0008-cuda-code.md.
  static constexpr const char *bfloat16Grade = ",cpu:exp=bf16-grade",
                              *cudaGrade = ",cuda:div=full,cuda:exp=ex2.approx",
                              *cudaProducts = ",cuda:dot=mma", *cudaTruncated = ",cuda:dot=tf32",
                              *cudaShortSums = ",cuda:dot=fp8-sums";
  static void noteProducts(std::string &numerics, const CodegenPtx &ptx);
  static const char *productsOf(CpuLevel level);
  static void note(std::string &numerics, const char *what);
  void addPtx(package::Kernel &kernel, package::Executable executable,
              const CodegenKernelResult &result);
  void addCode();

  // --- steps

  /// Where bytes of a call lie: `offset` from the beginning of a place.
  struct Address {
    package::PlaceKind kind = package::PlaceKind::Input;
    uint32_t index = 0;
    graph::Expr offset = 0;
    Address operator+(const graph::Expr &bytes) const { return {kind, index, offset + bytes}; }
  };

  /// One place in the steps where a graph is run: the main graph, or a region of some node.
  struct Site {
    const graph::Graph &graph;
    const passes::BufferPlan &plan;
    uint32_t firstSlot = 0;
    std::map<uint32_t, Address> inputs;        ///< by placeholder
    std::map<uint32_t, Address> outputs;       ///< by result
    std::map<uint32_t, uint32_t> buffers = {}; ///< of the package, by storage

    uint32_t endOfSlots() const { return firstSlot + static_cast<uint32_t>(plan.slotBytes.size()); }
  };
  void addProgram();
  void addGraph(package::Program &out, Site &site);
  void addBuffers(package::Program &out, Site &site);
  graph::Expr byteOffsetOf(const graph::TensorType &type, const passes::Storage &storage) const;
  static Address addressOf(const Site &site, uint32_t storageId);
  Address addressOf(const Site &site, uint32_t storage, const graph::TensorType &type) const;
  Address addressOf(const Site &site, const graph::Value &value) const;
  package::Place placeOf(const Address &address) const;
  void addCopy(package::Program &out, const Address &from, const Address &to,
               const graph::Expr &bytes) const;
  void addCopy(package::Program &out, const Site &site, const passes::StorageCopy &copy) const;
  void addSteps(package::Program &out, Site &site);
  std::string placed(const graph::Node &node, const std::string &text) const;
  void addHostStep(package::Program &out, const Site &site, const graph::Node &node) const;

  // --- control flow

  void addControl(package::Program &out, const Site &site, const graph::Node &node);
  uint32_t addRegion(package::Program &out, const Site &outer, uint32_t region,
                     const std::vector<Address> &operands, const std::vector<Address> &results);
  static std::vector<Address> memoryOf(const Site &site, const std::vector<graph::Value *> &values);
  std::vector<Address> resultsOf(const Site &site, const graph::Node &node) const;
  static graph::Expr bytesOf(const graph::TensorType &type);
  void addBranch(package::Program &out, const Site &site, const graph::Node &node,
                 const graph::ControlFlow &flow);

  /// The windows of a loop, in the order in which the run time counts them.
  struct Windows {
    package::Loop &loop;
    uint32_t next;
    Address make() { return {package::PlaceKind::Window, next++}; }
  };
  void addCarries(package::Program &out, const Site &site, const graph::Node &node,
                  const graph::ControlFlow &flow, Windows &windows, std::vector<Address> &reads,
                  std::vector<Address> &writes) const;
  void addWhile(package::Program &out, const Site &site, const graph::Node &node,
                const graph::ControlFlow &flow);
  Address addSlice(Windows &windows, const Address &whole, const graph::TensorType &type,
                   bool reverse, int64_t ahead) const;
  void addScan(package::Program &out, const Site &site, const graph::Node &node,
               const graph::ControlFlow &flow);
  uint32_t claimWindows(size_t count);
  package::Launch launchStep(const Site &site, const graph::Node &node) const;
  static graph::Expr flopsOfProducts(const graph::Launch &launch);
  package::Argument argumentOf(const Site &site, const graph::Node &node,
                               const graph::KernelParameter &parameter) const;

  const graph::Program &source;
  const LoweredProgram &lowered;
  const graph::Program &program;
  const std::vector<TargetCode> &code;
  const CompileOptions &options;
  SharedParts &shared;
  package::Contents &contents;
  package::Manifest &manifest;
  std::vector<std::string> symbolOrder; ///< as the package has them
  SolvedSizes solved;
  std::set<std::string> read; ///< symbols whose values steps read
  std::vector<graph::TensorType> inputTypes;
  std::map<uint32_t, uint32_t> inputIndex, stateIndex, weightIndex, kernelIndex;
  uint32_t nextWindow = 0;
  static constexpr size_t mostSteps = 1'000'000;
};

} // namespace pellucid::driver
