// SPDX-License-Identifier: Apache-2.0
/// What torch.export.save writes, as it stands in the file: the graph of ATen calls, its signature,
/// and tensors that lie in the mapped file.
#pragma once

#include "package/Status.h"
#include "support/DataType.h"
#include "symbolic/Expr.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pellucid::archive {

using symbolic::Expr;

/// Elements of a storage that others may share: element (i0, i1, …) is at offset + Σ i_k *
/// strides[k]. All of them lie within `bytes`.
struct Tensor {
  DataType dtype = DataType::Float32;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  std::shared_ptr<const std::byte> storage; ///< keeps the mapped file alive
  uint64_t bytes = 0;                       ///< of the storage
};

struct TensorMeta {
  DataType dtype = DataType::Float32;
  std::vector<Expr> sizes, strides;
  Expr offset = 0;
  std::string device; ///< "cpu", "cuda:0"
  /// Of complex numbers: type, sizes, strides and offset are those of their pairs.
  bool isComplex = false;
};

struct Graph;

/// One argument, input or result of a node.
struct Argument {
  enum class Kind : uint8_t {
    None,
    Tensor,   ///< `text` is its name
    SymInt,   ///< `text` is the name of the symbolic integer
    SymBool,  ///< likewise
    SymFloat, ///< likewise
    Int,
    Float,
    Bool,
    String,
    Type,         ///< a dtype
    MemoryFormat, ///< `text` is torch's name of it
    Layout,       ///< likewise
    Device,       ///< `text`, such as "cuda:0"
    List,
    Graph,
    Unreadable, ///< `text` says what: a custom object, a complex number, …
  };
  Kind kind = Kind::None;
  std::string text;
  int64_t integer = 0; ///< Int; Bool: 0 or 1
  double real = 0;
  DataType dtype = DataType::Float32;
  std::vector<Argument> elements;
  std::shared_ptr<const Graph> graph;
};

struct NamedArgument {
  std::string name; ///< of the schema's argument; empty for higher-order operators
  Argument value;
  bool keyword = false;
};

struct Node {
  std::string target; ///< "torch.ops.aten.add.Tensor"
  std::string name;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::string place; ///< where the model calls it: "model.py:12, in forward"; may be empty
};

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::unordered_map<std::string, TensorMeta> tensors;
  std::unordered_map<std::string, Expr> integers; ///< by the names of Argument::Kind::SymInt
  bool isSingleTensorReturn = false;
};

struct Input {
  enum class Kind : uint8_t { User, Parameter, Buffer, TensorConstant, ConstantInput };
  Kind kind = Kind::User;
  Argument value;         ///< a name of the graph's, or what a constant input was exported with
  std::string name;       ///< in the state_dict, or of the tensor constant
  bool persistent = true; ///< buffers
};

struct Output {
  enum class Kind : uint8_t { User, BufferMutation, InputMutation };
  Kind kind = Kind::User;
  Argument value;
  std::string name; ///< of what is mutated
};

struct Archive {
  std::string path;
  std::string torchVersion; ///< may be empty
  int64_t schemaMajor = 0, schemaMinor = 0;
  std::vector<std::string> dialects; ///< "TRAINING" (operators may work in place), "ATEN", …
  std::shared_ptr<const Graph> graph;
  std::vector<Input> inputs;   ///< one per input of the graph, in order
  std::vector<Output> outputs; ///< one per output of the graph, in order
  std::vector<std::pair<std::string, symbolic::Range>> ranges;
  std::map<std::string, int64_t> hints;   ///< the example's sizes, by symbol
  std::vector<std::string> guards;        ///< Python over `L['input']`
  std::string inputTree;                  ///< JSON; how (args, kwargs) are made of the user inputs
  std::string outputTree;                 ///< JSON; how the result is made of the user outputs
  std::vector<std::string> argumentNames; ///< of forward's parameters that stand in args
  /// The record `extra/pellucid.program` of archives that we wrote (trace/WriteArchive.h), and the
  /// text of the graph beside it; views of the file.
  std::string_view ownProgram, graphText;
  std::shared_ptr<const void> owner;                ///< of these views
  std::map<std::string, Tensor> weights, constants; ///< by name in the state_dict, or of a constant
};

/// Maps and reads the file; throws DiagnosticError with one sentence for what is no whole archive
/// of a version that is read. Tensors stay where they are.
Archive readArchive(const std::string &path);

/// The same of bytes in memory, which `owner` keeps.
Archive readArchive(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                    const std::string &name);

} // namespace pellucid::archive
