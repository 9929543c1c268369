// SPDX-License-Identifier: Apache-2.0
/// What a package says: the manifest's structs, filled by the compiler and read by the run time.
/// Plain data.
#pragma once

#include "package/ByteSource.h"
#include "package/TensorMap.h"
#include "support/DataType.h"
#include "support/Target.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pellucid::package {

/// The version of the bytes (records, manifest layout, opcodes) and of the calling convention of
/// kernels (KernelAbi.h). A reader refuses a package whose number is higher than its own.
inline constexpr uint32_t formatVersion = 1;
inline constexpr uint32_t abiVersion = 1;

/// An integer expression over `Manifest::symbols` (symbolic/Bytecode.h; indices into that list).
/// Where a field allows it, empty stands for the value named there.
using Bytecode = std::vector<uint8_t>;

/// Where a call finds a symbol's value. Append only.
enum class SymbolSource : uint8_t {
  InputDim = 0,
  InputStride = 1,
  RunSeed = 2,
  RunOffset = 3,
  Step = 4 ///< a ReadSize of the program
};

/// A dynamic size. Its value is taken from one dim (or stride, in elements) of one input; every
/// other place that mentions it is checked against that value. Or what the random numbers of a run
/// start from, which comes from its options, or what a step reads; `input` and `dim` are 0 then.
struct Symbol {
  std::string name;
  int64_t min = 0, max = INT64_MAX; ///< inclusive
  int64_t divisor = 1;
  SymbolSource source = SymbolSource::InputDim;
  uint32_t input = 0, dim = 0;

  bool isOfRun() const {
    return source == SymbolSource::RunSeed || source == SymbolSource::RunOffset;
  }
  bool isOfStep() const { return source == SymbolSource::Step; }
};

struct Input {
  std::string name;
  DataType dtype = DataType::Float32;
  std::vector<Bytecode> shape;
  /// Row-major and dense (strides of dims of size 1 do not matter). False: `strides` holds.
  bool contiguous = true;
  std::vector<Bytecode> strides; ///< in elements, one per dim; empty when contiguous
  bool mutated = false;          ///< a call writes to it
  uint32_t alignment =
      1; ///< the data's address must be a multiple of it (the element size always holds)
};

/// A condition on the symbols that ranges and equal dims do not express; a call that breaks it is
/// refused with `text`.
struct Guard {
  Bytecode condition;
  std::string text; ///< "batch*heads <= 65535"
};

/// A result. Dense and row-major. `aliasOfInput` >= 0: it is that (mutated) input itself, not
/// memory of its own.
struct Output {
  std::string name;
  DataType dtype = DataType::Float32;
  std::vector<Bytecode> shape;
  int32_t aliasOfInput = -1;
};

/// A constant tensor: `bytes` bytes at `offset` in `record`; dense. `offset` is a multiple of 64.
struct Weight {
  std::string name; ///< fully qualified: "layers.0.linear.weight"
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape;
  std::string record;
  uint64_t offset = 0, bytes = 0;
  uint32_t crc32 = 0; ///< of these bytes; checked on request
};

/// Memory that lives within one call. Buffers that are not alive together share a slot; a slot is
/// as large as its largest buffer, and the slots of a call lie in one arena, each 64-byte aligned.
struct Buffer {
  std::string name;
  DataType dtype = DataType::Float32;
  std::vector<Bytecode> shape; ///< for people and the profiler
  Bytecode bytes;
  uint32_t slot = 0;
};

/// How a run-time parameter of a kernel is passed (KernelAbi.h says how they are packed).
struct KernelParameter {
  std::string name;
  bool pointer = false;
  DataType dtype = DataType::Float32; ///< of the scalar, or of what the pointer points to
  uint32_t offset = 0, bytes = 0;     ///< in the packed arguments
  /// The code assumes that the address or integer is a multiple of it; a launch variant whose value
  /// is not is passed over.
  uint32_t divisor = 1;
  bool read = true, written = true; ///< pointers: from access analysis
};

enum class MessageKind : uint8_t { Assert = 0, Print = 1 };

/// What `KernelContext::message` and the print callback's `message` index.
struct Message {
  MessageKind kind = MessageKind::Assert;
  std::string text; ///< the assertion's text or the print's prefix
  std::string file;
  uint32_t line = 0, column = 0;
  bool hex = false; ///< print integers in hexadecimal
};

/// Append only.
enum class CodeFormat : uint8_t {
  Image = 0,
  Ptx = 1, ///< for the target's generation and all later ones
  Cubin = 2,
  Ttir = 3,
  GenerationPtx = 4, ///< for devices of exactly the target's compute capability (sm_90a)
};

/// A kernel compiled for one target.
struct Executable {
  Target target;
  CodeFormat format = CodeFormat::Image;
  std::string
      record; ///< `code/x86-64-v4.elf`, shared by the kernels of that level; `code/silu.sm_90.ptx`
  std::string entry; ///< symbol of the KernelEntry, or the .entry of the PTX
  uint64_t entryOffset =
      0; ///< Image: the entry's virtual address in the image (ElfImage.h: symbolAddress)
  uint64_t scratchBytes = 0;
  uint32_t sharedBytes = 0, numWarps = 4, numCtas = 1;
  /// Ptx, Cubin: it waits itself for what is ahead of it in its stream, so that it may be queued
  /// before that has ended (griddepcontrol.wait before any access to memory).
  bool dependentLaunch = false;
  /// GenerationPtx, Cubin: what the entry takes behind all else.
  std::vector<TensorMap> tensorMaps;
  std::vector<Message> messages;
};

/// A constexpr or specialised parameter that is no run-time parameter any more; for people.
struct FoldedConstant {
  std::string name, value; ///< {"BLOCK", "1024"}
};

struct Kernel {
  std::string name;
  std::vector<KernelParameter> parameters;
  std::vector<FoldedConstant> constants;
  /// The order of the programs shows in the result (float atomics): they run in order, on one
  /// thread.
  bool ordered = false;
  std::string numerics; ///< what fixes its bits: "fma=on,tf32=off,div=approx"
  std::string sourceFile;
  uint32_t sourceLine = 0;
  std::vector<Executable> executables; ///< at most one per target and format
};

/// Append only.
enum class PlaceKind : uint8_t {
  Input = 0,
  Output = 1,
  Weight = 2,
  Buffer = 3,
  State = 4,
  Window = 5
};

/// A piece of memory of the call: `index` into the manifest's inputs, outputs, weights or state,
/// the program's buffers or its windows (Loop).
struct Place {
  PlaceKind kind = PlaceKind::Input;
  uint32_t index = 0;
  Bytecode byteOffset; ///< empty: 0
};

/// The argument is the address of a place.
struct PointerArgument {
  Place place;
};
/// An integer expression, converted to the parameter's dtype (a value that does not fit is refused
/// at the call).
struct ValueArgument {
  Bytecode value;
};
/// The parameter's bytes themselves, little endian in the low bytes: float scalars, null pointers.
struct ImmediateArgument {
  uint64_t bits = 0;
};
using Argument = std::variant<PointerArgument, ValueArgument, ImmediateArgument>;

/// One way to do a launch: the first variant whose guard and parameter divisors hold is taken.
struct LaunchVariant {
  Bytecode guard; ///< empty: always
  uint32_t kernel = 0;
  std::array<Bytecode, 3> grid;    ///< empty: 1
  std::vector<Argument> arguments; ///< one per kernel parameter
};

struct Launch {
  std::string label; ///< for the profiler and errors: "linear_1", "silu_kernel_0"
  std::vector<LaunchVariant> variants;
  Bytecode bytes, flops; ///< of one call, for the profiler; empty: unknown
};

/// Places are dense here and must not overlap.
struct Copy {
  Place destination, source;
  Bytecode bytes;
};

/// Repeats the low `patternBytes` (1, 2, 4, 8) of `pattern` over `bytes` bytes (a multiple of it).
struct Fill {
  Place destination;
  uint64_t pattern = 0;
  uint32_t patternBytes = 1;
  Bytecode bytes;
};

/// Of the steps behind it, the first `whenTrue` are done if the condition holds, else the
/// `whenFalse` after them.
struct Branch {
  std::string label;
  /// Not 0: holds. Empty: what counts is the byte at `predicate`, which earlier steps wrote.
  Bytecode condition;
  Place predicate;
  uint32_t whenTrue = 0, whenFalse = 0;
};

/// What a turn of a loop reads in one place and writes, for the next turn, in another; the two
/// change places after every turn. Two windows: the one to read and the one to write. After the
/// last turn the result is in `first`, where the first turn finds what it begins with.
struct Carry {
  Place first, second;
  Bytecode bytes;
};

/// One window on memory that moves on by `step` bytes after every turn.
struct Slice {
  Place first;
  Bytecode step, bytes;
};

/// The steps behind it, again and again: the first `conditionSteps` before every turn, then
/// `bodySteps`. Windows have numbers in the order of the program's steps: of each loop two for each
/// carry, then one for each slice; they are places of the loop's own steps only.
struct Loop {
  std::string label;
  Bytecode turns;  ///< how many; empty: as long as the byte at `predicate` is not 0
  Place predicate; ///< written by the condition's steps
  uint32_t conditionSteps = 0, bodySteps = 0;
  std::vector<Carry> carries;
  std::vector<Slice> slices; ///< none where a predicate ends the loop

  uint32_t windows() const { return static_cast<uint32_t>(2 * carries.size() + slices.size()); }
};

/// The 64-bit integer at `from`, which earlier steps wrote, becomes the value of a symbol
/// (SymbolSource::Step), once. From here on expressions may mention it; buffers and outputs whose
/// sizes do get their memory here. A value outside of the symbol's range, or above `most`, ends the
/// call. In a branch or a loop's turn it holds to the end of that; each turn reads anew.
struct ReadSize {
  uint32_t symbol = 0;
  Place from;
  Bytecode most;    ///< empty: the symbol's range alone
  std::string text; ///< "model.py:12:9: nonzero"
};

/// The call ends with `text` unless the condition holds.
struct CheckSizes {
  Bytecode condition;
  std::string text;
};

/// Append only.
using Step = std::variant<Launch, Copy, Fill, Branch, Loop, ReadSize, CheckSizes>;

/// What a call does on one kind of device, in order.
struct Program {
  Target::Kind device = Target::Kind::Cpu;
  std::vector<Buffer> buffers;
  uint32_t slots = 0;
  std::vector<Step> steps;
};

struct Manifest {
  std::string producer; ///< "pellucid 0.1.0"
  std::string name;     ///< of the model or kernel
  std::vector<Symbol> symbols;
  std::vector<Input> inputs;
  /// The steps do the right thing whatever memory the inputs share (a single launch). False: a call
  /// whose written inputs overlap others is refused.
  bool inputsMayOverlap = false;
  std::vector<Guard> guards;
  std::vector<Output> outputs;
  std::vector<Weight> weights;
  std::vector<Kernel> kernels;
  std::vector<Program> programs; ///< at most one per device kind
  /// Tensors that calls change. Each instance of the package has its own; these are what it begins
  /// with.
  std::vector<Weight> state;

  /// Whether values decide sizes of a call.
  bool readsSizes() const {
    return std::any_of(symbols.begin(), symbols.end(),
                       [](const Symbol &symbol) { return symbol.isOfStep(); });
  }
  bool drawsRandomNumbers() const {
    return std::any_of(symbols.begin(), symbols.end(),
                       [](const Symbol &symbol) { return symbol.isOfRun(); });
  }
};

/// A named part of the package's file: `code/…`, `weights/…`, `ir/…`. `data` must stay valid;
/// `owner` may hold it.
struct Record {
  std::string name;
  std::span<const uint8_t> data;
  std::shared_ptr<const void> owner;
  /// Instead of `data`: bytes that are made while they are written, and how many.
  ByteSource made = {};
  uint64_t madeBytes = 0;
  std::optional<uint32_t> crc32 = {}; ///< where it is known

  uint64_t bytes() const { return made ? madeBytes : data.size(); }
  bool sendTo(const ByteSink &sink) const { return made ? made(sink) : sendPieces(data, sink); }
};

/// A record that owns its bytes.
Record ownedRecord(std::string name, std::vector<uint8_t> bytes);
Record textRecord(std::string name, std::string text);

/// Everything a package is written from. The writer adds `manifest.bin` and `describe.json`.
struct Contents {
  Manifest manifest;
  std::vector<Record> records;
};

} // namespace pellucid::package
