// SPDX-License-Identifier: Apache-2.0
/// A traced program: graphs, the kernels they launch, the operators they use, and weights.
/// Self-contained.
#pragma once

#include "graph/Graph.h"
#include "package/ByteSource.h"
#include "package/LibraryKernel.h"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pellucid::graph {

/// The version that printProgram writes; the reader takes this one and refuses others by name.
inline constexpr int programVersion = 1;

/// Decisions that change a kernel's numbers.
struct Numerics {
  bool contractFma = true; ///< a*b+c may become one fma
  bool tf32 = true;        ///< f32 dots may round their inputs to tf32 (no effect on CPU)
  /// The Triton whose rules hold where versions differ (bf16 scans and maximum, unary minus): 36
  /// or 39.
  int32_t tritonVersion = 36;
  bool operator==(const Numerics &) const = default;
};

struct KernelParameter {
  enum class Kind : uint8_t { Pointer = 0, Scalar = 1, Constant = 2 };
  std::string name;
  Kind kind = Kind::Pointer;
  DataType dtype = DataType::Float32; ///< pointee or scalar; without meaning for Constant
  Access access = Access::None;       ///< pointers only
  bool unknownAccess = false;         ///< the analysis was defeated: access is ReadWrite
  int64_t divisor = 1; ///< the TTIR assumes that address or value is a multiple of it
  /// Constant: the value folded into the TTIR (constexpr, None, equal to 1). Scalar: the value that
  /// the TTIR assumes; none for any.
  Argument constant;
  bool operator==(const KernelParameter &) const = default;
};

/// A kernel specialised to its constants: one tt.func, or one of the back end's own.
struct KernelDef {
  std::string name;   ///< as in the source
  std::string symbol; ///< unique in the program; the name of the tt.func
  std::string ttir;   ///< a module with that function; empty for a library kernel
  std::optional<package::LibraryKernel> library; ///< the kernel of the CPU back end that it is
  std::vector<KernelParameter> parameters;       ///< in signature order
  Numerics numerics;
  std::string sourcePath;
  uint32_t sourceLine = 0;
  std::string warning; ///< why the access analysis gave up, if it did
  /// It says something or may fail by itself: a launch that nobody uses is made all the same.
  bool prints = false, asserts = false;
  /// It follows addresses that are no arguments, such as those in a table, and may write there.
  bool usesAddresses = false;
};

/// An operator of the user's that nodes of this program call.
struct OperatorDefinition {
  enum class Kind : uint8_t { TritonOp = 0, CustomOp = 1 };
  std::string name;   ///< `custom_ops::silu`
  std::string schema; ///< `(Tensor x, *, float alpha=1.0) -> Tensor`
  Kind kind = Kind::TritonOp;
  std::vector<std::string> mutates;
};

/// What one call of a user operator does: placeholders are its tensor and symbolic arguments in
/// order, outputs its results (then the new contents of mutated arguments). Or a region of control
/// flow (graph/ControlFlow.h), which is named by what it is for.
struct Body {
  std::string operatorName;
  Graph graph;
};

struct InputSpec {
  enum class Kind : uint8_t {
    UserInput = 0,
    Parameter = 1,
    Buffer = 2,
    ConstantTensor = 3,
    ConstantInput = 4
  };
  Kind kind = Kind::UserInput;
  std::string name;       ///< user input's name, or the fully qualified name in the state_dict
  Argument constant;      ///< ConstantInput: the value it was traced with
  bool persistent = true; ///< buffers
  /// UserInput: the program is for data whose address is a multiple of it.
  uint32_t alignment = 1;
};

struct OutputSpec {
  enum class Kind : uint8_t { UserOutput = 0, UserInputMutation = 1, BufferMutation = 2 };
  Kind kind = Kind::UserOutput;
  std::string name; ///< of the mutated input or buffer; empty for a user output
};

/// A contiguous tensor by fully qualified name. Tied weights share `data`.
struct Weight {
  enum class Source : uint8_t { Carried = 0, Referenced = 1 };
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape;
  /// Keeps its owner (a mapped file, a buffer) alive; null for a reference that is not opened.
  std::shared_ptr<const std::byte> data;
  uint64_t bytes = 0;
  /// Instead of `data`, in lowered programs: contents that are made while the package is written.
  package::ByteSource made;
  Source source = Source::Carried;
  std::string path; ///< Referenced: the .safetensors or .npz file, as written in the program
  std::string
      member; ///< Referenced: the tensor's name in that file when it is not the weight's own name
};

struct Program {
  int version = programVersion;
  bool strict = false;
  SymbolTable symbols;
  Graph main;
  std::vector<InputSpec> inputs;   ///< one per placeholder of main, in order
  std::vector<OutputSpec> outputs; ///< one per argument of main's output, in order
  std::deque<Body> bodies;
  std::vector<OperatorDefinition> operators;
  std::vector<KernelDef> kernels;
  std::map<std::string, Weight> weights;
  /// How texts and packages call the files it was traced from (absent: by their paths), so that
  /// they do not tell where the files lay. Not part of the text.
  std::map<std::string, std::string> sourceNames;

  Program() = default;
  Program(Program &&) = default;
  Program &operator=(Program &&) = default;
  Program clone() const;

  /// Sentences as Graph::verify's, for every graph and what joins them.
  std::vector<std::string> verify() const;
  const OperatorDefinition *findOperator(std::string_view name) const;
  /// What a text or package calls the file that was read from `path`.
  const std::string &sourceName(const std::string &path) const;
  /// `name`, or `name_1`, … so that no kernel of the program has it.
  std::string uniqueSymbol(std::string_view name) const;
};

/// Whether a kernel that `launch` may choose prints, asserts or follows addresses.
bool hasEffects(const Node &launch, const Program &program);

/// Names for many new kernels of one program; each costs the same, however many there are.
class KernelNames {
public:
  explicit KernelNames(const Program &program);
  /// `name`, or `name_1`, … so that no kernel of the program has it, and none named here before.
  std::string unique(const std::string &name);

private:
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, uint32_t> nextSuffix;
};

} // namespace pellucid::graph
