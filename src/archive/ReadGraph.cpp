// SPDX-License-Identifier: Apache-2.0
#include "archive/ReadGraph.h"

#include "archive/SymbolicText.h"
#include "support/Printable.h"

#include <limits>

namespace pellucid::archive {

namespace {

/// The breaking version of the schema that is read; the minor one only ever adds.
constexpr int64_t schemaMajor = 8;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

[[noreturn]] void fail(const std::string &message) { throw SchemaError(message); }

std::string textOf(JsonValue value, const char *what) {
  if (!value.isString())
    fail(std::string("has no ") + what + " where one is expected");
  return std::string(value.string());
}

const JsonValue &expectArray(const JsonValue &value, const char *what) {
  if (!value.isArray())
    fail(std::string("has no list of ") + what);
  return value;
}
const JsonValue &expectObject(const JsonValue &value, const char *what) {
  if (!value.isObject())
    fail(std::string("has no ") + what);
  return value;
}

/// A union: an object whose one member that is not null says which alternative it is. (ExecuTorch's
/// fork writes the others as null.)
std::pair<std::string_view, JsonValue> unionOf(JsonValue value, const char *what) {
  expectObject(value, what);
  for (size_t i = 0; i < value.size(); ++i)
    if (!value.at(i).isNull() || value.size() == 1)
      return {value.key(i), value.at(i)};
  fail(std::string("has an empty ") + what);
}

/// Numbers of the schema's own, not torch's.
constexpr std::pair<int64_t, DataType> scalarTypes[] = {
    {1, DataType::UInt8},           {2, DataType::Int8},
    {3, DataType::Int16},           {4, DataType::Int32},
    {5, DataType::Int64},           {6, DataType::Float16},
    {7, DataType::Float32},         {8, DataType::Float64},
    {12, DataType::Bool},           {13, DataType::BFloat16},
    {28, DataType::UInt16},         {29, DataType::Float8E4M3FN},
    {30, DataType::Float8E5M2},     {31, DataType::Float8E4M3FNUZ},
    {32, DataType::Float8E5M2FNUZ}, {34, DataType::UInt32},
    {35, DataType::UInt64}};

DataType dtypeOf(JsonValue value) {
  for (auto [number, type] : scalarTypes)
    if (value.isInteger() && value.integer() == number)
      return type;
  static constexpr std::pair<int64_t, const char *> others[] = {
      {9, "complex32"}, {10, "complex64"}, {11, "complex128"}, {33, "float8_e8m0fnu"}};
  for (auto [number, name] : others)
    if (value.isInteger() && value.integer() == number)
      fail(std::string("holds a tensor of ") + name + ", which is not supported");
  fail("holds a tensor of an unknown type, number " + std::to_string(value.integer()));
}

/// The type of the parts of a complex number.
std::optional<DataType> partOf(JsonValue type) {
  constexpr int64_t complex64 = 10, complex128 = 11;
  if (!type.isInteger() || (type.integer() != complex64 && type.integer() != complex128))
    return std::nullopt;
  return type.integer() == complex64 ? DataType::Float32 : DataType::Float64;
}

double realOf(JsonValue value) {
  if (value.isNumber())
    return value.number();
  using Limits = std::numeric_limits<double>;
  constexpr double infinity = Limits::infinity();
  for (auto [text, real] : {std::pair<std::string_view, double>{"Infinity", infinity},
                            {"-Infinity", -infinity},
                            {"NaN", Limits::quiet_NaN()}})
    if (value.isString() && value.string() == text)
      return real;
  fail("has no number where one is expected");
}

std::string deviceOf(JsonValue value) {
  expectObject(value, "device");
  std::string text = textOf(value.member("type"), "type of a device");
  if (JsonValue index = value.member("index"); index.isInteger())
    text += ":" + std::to_string(index.integer());
  return text;
}

/// Reads the parts of one archive; collects the symbols' hints on the way.
class GraphReader {
public:
  explicit GraphReader(Archive &a) : archive(a) {}

  std::shared_ptr<const Graph> graph(JsonValue value, unsigned depth = 0) {
    constexpr unsigned deepest = 20;
    if (depth > deepest)
      fail("has graphs that are nested more than 20 deep");
    expectObject(value, "graph");
    auto graph = std::make_shared<Graph>();
    level = depth;
    graph->isSingleTensorReturn = value.member("is_single_tensor_return").boolean();
    readValues(value, *graph);
    for (auto [list, out] : {std::pair{"inputs", &graph->inputs}, {"outputs", &graph->outputs}}) {
      JsonValue arguments = expectArray(value.member(list), list);
      for (size_t i = 0; i < arguments.size(); ++i)
        out->push_back(argument(arguments.at(i)));
    }
    JsonValue nodes = expectArray(value.member("nodes"), "nodes");
    graph->nodes.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      graph->nodes.push_back(node(nodes.at(i)));
    return graph;
  }

  Argument argument(JsonValue value) {
    auto [kind, content] = unionOf(value, "argument");
    if (kind == "as_none")
      return {};
    if (kind == "as_tensor")
      return named(Argument::Kind::Tensor, content.member("name"));
    if (kind == "as_int")
      return integer(content);
    if (kind == "as_float")
      return real(content);
    if (kind == "as_bool")
      return flag(content);
    if (kind == "as_string" || kind == "as_operator")
      return named(Argument::Kind::String, content);
    if (kind == "as_sym_int")
      return symbolic(content, Argument::Kind::SymInt);
    if (kind == "as_sym_float")
      return symbolic(content, Argument::Kind::SymFloat);
    if (kind == "as_sym_bool")
      return symbolic(content, Argument::Kind::SymBool);
    if (kind == "as_scalar_type") {
      Argument type;
      if (auto part = partOf(content)) {
        type.kind = Argument::Kind::String;
        type.text = *part == DataType::Float32 ? "complex64" : "complex128";
        return type;
      }
      type.kind = Argument::Kind::Type;
      type.dtype = dtypeOf(content);
      return type;
    }
    if (kind == "as_memory_format")
      return chosen(
          content, Argument::Kind::MemoryFormat,
          {"", "contiguous_format", "channels_last", "channels_last_3d", "preserve_format"});
    if (kind == "as_layout")
      return chosen(content, Argument::Kind::Layout,
                    {"", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc",
                     "mkldnn", "strided"});
    if (kind == "as_device") {
      Argument device;
      device.kind = Argument::Kind::Device;
      device.text = deviceOf(content);
      return device;
    }
    if (kind == "as_graph") {
      Argument nested;
      nested.kind = Argument::Kind::Graph;
      nested.text = textOf(content.member("name"), "name of a graph");
      unsigned outer = level;
      nested.graph = graph(content.member("graph"), level + 1);
      level = outer;
      return nested;
    }
    if (kind == "as_optional_tensor")
      return argument(content);
    if (std::optional<Argument> list = listOf(kind, content))
      return std::move(*list);
    Argument other;
    other.kind = Argument::Kind::Unreadable;
    other.text = kind.starts_with("as_") ? kind.substr(3) : kind;
    return other;
  }

  TensorMeta meta(JsonValue value) {
    expectObject(value, "description of a tensor");
    TensorMeta meta;
    std::optional<DataType> part = partOf(value.member("dtype"));
    meta.isComplex = part.has_value();
    meta.dtype = part ? *part : dtypeOf(value.member("dtype"));
    for (auto [list, out] : {std::pair{"sizes", &meta.sizes}, {"strides", &meta.strides}}) {
      JsonValue dims = expectArray(value.member(list), list);
      for (size_t i = 0; i < dims.size(); ++i)
        out->push_back(size(dims.at(i)));
    }
    meta.offset = size(value.member("storage_offset"));
    meta.device = deviceOf(value.member("device"));
    constexpr int64_t strided = 7;
    if (JsonValue layout = value.member("layout");
        layout.isInteger() && layout.integer() != strided)
      fail("holds a tensor that is sparse or of another vendor's layout, which is not supported");
    if (meta.sizes.size() != meta.strides.size())
      fail("holds a tensor with " + std::to_string(meta.sizes.size()) + " sizes and " +
           std::to_string(meta.strides.size()) + " strides");
    if (meta.isComplex)
      asPairs(meta);
    return meta;
  }

private:
  static void asPairs(TensorMeta &meta) {
    for (Expr &stride : meta.strides)
      stride = stride * 2;
    meta.sizes.push_back(2);
    meta.strides.push_back(1);
    meta.offset = meta.offset * 2;
  }

  static Argument integer(JsonValue value) {
    if (!value.isInteger())
      fail("has no 64-bit integer where one is expected");
    Argument argument;
    argument.kind = Argument::Kind::Int;
    argument.integer = value.integer();
    return argument;
  }
  static Argument real(JsonValue value) {
    Argument argument;
    argument.kind = Argument::Kind::Float;
    argument.real = realOf(value);
    return argument;
  }
  static Argument flag(JsonValue value) {
    if (!value.isBool())
      fail("has neither true nor false where one is expected");
    Argument argument;
    argument.kind = Argument::Kind::Bool;
    argument.integer = value.boolean();
    return argument;
  }
  static Argument named(Argument::Kind kind, JsonValue name) {
    Argument argument;
    argument.kind = kind;
    argument.text = textOf(name, "name");
    return argument;
  }
  /// {"as_name": "sym_size"} or a number.
  static Argument symbolic(JsonValue value, Argument::Kind kind) {
    auto [how, content] = unionOf(value, "symbolic number");
    if (how == "as_name")
      return named(kind, content);
    return how == "as_int" ? integer(content) : how == "as_bool" ? flag(content) : real(content);
  }
  static Argument chosen(JsonValue value, Argument::Kind kind,
                         std::initializer_list<const char *> names) {
    if (!value.isInteger() || value.integer() < 1 ||
        value.integer() >= static_cast<int64_t>(names.size()))
      fail("names a memory format or layout of an unknown number, " +
           std::to_string(value.integer()));
    Argument argument;
    argument.kind = kind;
    argument.text = names.begin()[value.integer()];
    return argument;
  }

  std::optional<Argument> listOf(std::string_view kind, JsonValue content) {
    Argument list;
    list.kind = Argument::Kind::List;
    auto each = [&](auto element) {
      expectArray(content, "arguments");
      for (size_t i = 0; i < content.size(); ++i)
        list.elements.push_back(element(content.at(i)));
      return list;
    };
    auto tensor = [](JsonValue v) { return named(Argument::Kind::Tensor, v.member("name")); };
    auto sequence = [&](auto element) {
      return [element](JsonValue v) {
        Argument inner;
        inner.kind = Argument::Kind::List;
        expectArray(v, "arguments");
        for (size_t i = 0; i < v.size(); ++i)
          inner.elements.push_back(element(v.at(i)));
        return inner;
      };
    };
    if (kind == "as_tensors")
      return each(tensor);
    if (kind == "as_optional_tensors")
      return each([&](JsonValue v) { return argument(v); });
    if (kind == "as_ints")
      return each(integer);
    if (kind == "as_floats")
      return each(real);
    if (kind == "as_bools")
      return each(flag);
    if (kind == "as_strings")
      return each([](JsonValue v) { return named(Argument::Kind::String, v); });
    if (kind == "as_sym_ints")
      return each([](JsonValue v) { return symbolic(v, Argument::Kind::SymInt); });
    if (kind == "as_sym_bools")
      return each([](JsonValue v) { return symbolic(v, Argument::Kind::SymBool); });
    if (kind == "as_sym_floats")
      return each([](JsonValue v) { return symbolic(v, Argument::Kind::SymFloat); });
    if (kind == "as_nested_tensors")
      return each(sequence(tensor));
    if (kind == "as_int_lists")
      return each(sequence(integer));
    if (kind == "as_float_lists")
      return each(sequence(real));
    return std::nullopt;
  }

  /// A SymInt: a number, or an expression whose value in the example is noted.
  Expr size(JsonValue value) {
    auto [how, content] = unionOf(value, "size");
    if (how == "as_int") {
      if (!content.isInteger())
        fail("has a size that is not a 64-bit integer");
      return content.integer();
    }
    if (how != "as_expr")
      fail("has a size of an unknown kind, " + quoted(how));
    std::string error;
    auto expr = parseSymbolic(textOf(content.member("expr_str"), "expression"), error);
    if (!expr)
      fail(error);
    JsonValue hint = content.member("hint");
    if (hint = hint.isObject() ? hint.member("as_int") : JsonValue(); hint.isInteger())
      for (const std::string &name : expr->symbols())
        if (*expr == Expr::symbol(name))
          archive.hints.emplace(name, hint.integer());
    return *expr;
  }

  void readValues(JsonValue value, Graph &graph) {
    JsonValue tensors = expectObject(value.member("tensor_values"), "table of tensors");
    for (size_t i = 0; i < tensors.size(); ++i)
      graph.tensors.emplace(tensors.key(i), meta(tensors.at(i)));
    JsonValue integers = value.member("sym_int_values");
    for (size_t i = 0; i < integers.size(); ++i)
      graph.integers.emplace(integers.key(i), size(integers.at(i)));
  }

  Node node(JsonValue value) {
    expectObject(value, "node");
    Node node;
    node.target = textOf(value.member("target"), "target of a node");
    node.place = placeOf(value.member("metadata"));
    JsonValue inputs = expectArray(value.member("inputs"), "inputs of a node");
    for (size_t i = 0; i < inputs.size(); ++i) {
      NamedArgument input;
      JsonValue given = expectObject(inputs.at(i), "input of a node");
      input.name = textOf(given.member("name"), "name of an argument");
      input.value = argument(given.member("arg"));
      constexpr int64_t byKeyword = 2;
      input.keyword = given.member("kind").integer() == byKeyword;
      node.inputs.push_back(std::move(input));
    }
    JsonValue outputs = expectArray(value.member("outputs"), "outputs of a node");
    for (size_t i = 0; i < outputs.size(); ++i)
      node.outputs.push_back(argument(outputs.at(i)));
    if (node.target == "torch.ops.higher_order.with_effects")
      withoutToken(node, inputs);
    if (JsonValue name = value.member("name"); name.isString())
      node.name = name.string();
    else if (!node.outputs.empty())
      node.name = node.outputs[0].text;
    return node;
  }

  /// A call that takes a token and gives another, so that it keeps its place among its like, is
  /// that call: nodes are replayed in order.
  static void withoutToken(Node &node, JsonValue inputs) {
    JsonValue called = inputs.at(1).member("arg").member("as_operator");
    if (node.inputs.size() < 2 || node.outputs.empty() || !called.isString())
      fail("has a call with a token that names no operator");
    node.target = std::string(called.string());
    node.inputs.erase(node.inputs.begin(), node.inputs.begin() + 2);
    node.outputs.erase(node.outputs.begin());
    if (node.outputs.size() == 1 && node.outputs[0].kind == Argument::Kind::None)
      node.outputs.clear();
  }

  /// The innermost call of a stack trace that is not PyTorch's own, in one line: `model.py:12, in
  /// forward`.
  static std::string placeOf(JsonValue metadata) {
    if (!metadata.isObject())
      return {};
    std::string_view trace = metadata.member("stack_trace").string(), place, file;
    for (size_t at = 0; (at = trace.find("File \"", at)) != std::string_view::npos;) {
      at += 6;
      size_t quote = trace.find("\", line ", at);
      if (quote == std::string_view::npos)
        break;
      std::string_view path = trace.substr(at, quote - at);
      if (path.starts_with("torch/") || path.find("/torch/") != std::string_view::npos)
        continue;
      file = path;
      place = trace.substr(quote + 8);
    }
    if (file.empty())
      return {};
    // Folders are those of the machine that exported it.
    if (size_t slash = file.rfind('/'); slash != std::string_view::npos)
      file.remove_prefix(slash + 1);
    return printableLine(std::string(file) + ":" + std::string(place.substr(0, place.find('\n'))));
  }

  Archive &archive;
  unsigned level = 0;
};

Input inputOf(JsonValue value, GraphReader &reader) {
  auto [kind, content] = unionOf(value, "input");
  expectObject(content, "input");
  Input input;
  auto tensor = [&](Input::Kind of, const char *name) {
    input.kind = of;
    input.name = textOf(content.member(name), "name of an input");
    input.value.kind = Argument::Kind::Tensor;
    input.value.text = textOf(content.member("arg").member("name"), "name of an input");
  };
  if (kind == "user_input") {
    input.value = reader.argument(content.member("arg"));
  } else if (kind == "parameter") {
    tensor(Input::Kind::Parameter, "parameter_name");
  } else if (kind == "buffer") {
    tensor(Input::Kind::Buffer, "buffer_name");
    JsonValue persistent = content.member("persistent");
    input.persistent = !persistent.isBool() || persistent.boolean();
  } else if (kind == "tensor_constant") {
    tensor(Input::Kind::TensorConstant, "tensor_constant_name");
  } else if (kind == "constant_input") {
    input.kind = Input::Kind::ConstantInput;
    input.name = textOf(content.member("name"), "name of an input");
    input.value = reader.argument(content.member("value"));
  } else {
    fail("has an input that is a " + std::string(kind) + ", which no package can mean");
  }
  return input;
}

Output outputOf(JsonValue value, GraphReader &reader) {
  auto [kind, content] = unionOf(value, "output");
  expectObject(content, "output");
  Output output;
  auto mutation = [&](Output::Kind of, const char *name) {
    output.kind = of;
    output.name = textOf(content.member(name), "name of what is mutated");
    output.value.kind = Argument::Kind::Tensor;
    output.value.text = textOf(content.member("arg").member("name"), "name of an output");
  };
  if (kind == "user_output")
    output.value = reader.argument(content.member("arg"));
  else if (kind == "buffer_mutation")
    mutation(Output::Kind::BufferMutation, "buffer_name");
  else if (kind == "parameter_mutation")
    mutation(Output::Kind::BufferMutation, "parameter_name");
  else if (kind == "user_input_mutation")
    mutation(Output::Kind::InputMutation, "user_input_name");
  else
    fail("has an output that is a " + std::string(kind) +
         "; only what a model computes forward can be compiled");
  return output;
}

/// What stands for the order of calls has no value.
bool isToken(JsonValue spec) {
  return spec.isObject() && spec.size() == 1 && spec.key(0) == "token";
}

bool hasTokens(JsonValue specs) {
  for (size_t i = 0; i < specs.size(); ++i)
    if (isToken(specs.at(i)))
      return true;
  return false;
}

void dropTokens(JsonValue specs, std::vector<Argument> &values) {
  for (size_t i = std::min(specs.size(), values.size()); i-- > 0;)
    if (isToken(specs.at(i)))
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
}

void readSignature(JsonValue module, GraphReader &reader, Archive &archive) {
  JsonValue signature = expectObject(module.member("signature"), "signature");
  JsonValue inputs = expectArray(signature.member("input_specs"), "inputs"),
            outputs = expectArray(signature.member("output_specs"), "outputs");
  if (hasTokens(inputs) || hasTokens(outputs)) {
    auto graph = std::make_shared<Graph>(*archive.graph);
    dropTokens(inputs, graph->inputs);
    dropTokens(outputs, graph->outputs);
    archive.graph = graph;
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!isToken(inputs.at(i)))
      archive.inputs.push_back(inputOf(inputs.at(i), reader));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!isToken(outputs.at(i)))
      archive.outputs.push_back(outputOf(outputs.at(i), reader));
  for (auto [what, said, there] :
       {std::tuple{"inputs", archive.inputs.size(), archive.graph->inputs.size()},
        {"outputs", archive.outputs.size(), archive.graph->outputs.size()}})
    if (said != there)
      fail("has " + std::to_string(there) + " " + what + " in its graph and " +
           std::to_string(said) + " in its signature");
  JsonValue call = module.member("module_call_graph").at(0).member("signature");
  archive.inputTree = call.isObject() ? call.member("in_spec").string() : std::string_view();
  archive.outputTree = call.isObject() ? call.member("out_spec").string() : std::string_view();
  JsonValue names = call.isObject() ? call.member("forward_arg_names") : JsonValue();
  for (size_t i = 0; names.isArray() && i < names.size(); ++i)
    archive.argumentNames.emplace_back(names.at(i).string());
}

void readRanges(JsonValue ranges, Archive &archive) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    symbolic::Range range{0, INT64_MAX};
    JsonValue low = ranges.at(i).member("min_val"), high = ranges.at(i).member("max_val");
    if (low.isInteger())
      range.min = low.integer();
    if (high.isInteger())
      range.max = high.integer();
    if (range.min > range.max)
      fail("gives the size " + quoted(ranges.key(i)) + " an empty range");
    archive.ranges.emplace_back(ranges.key(i), range);
  }
}

void checkVersion(JsonValue program, Archive &archive) {
  JsonValue version = program.member("schema_version");
  if (!version.isObject() || !version.member("major").isInteger())
    fail("has no schema version; it was written by a PyTorch before 2.6, or is damaged");
  archive.schemaMajor = version.member("major").integer();
  archive.schemaMinor = version.member("minor").integer();
  if (archive.schemaMajor != schemaMajor)
    fail("is of schema " + std::to_string(archive.schemaMajor) + "." +
         std::to_string(archive.schemaMinor) +
         "; schema 8 is read, which PyTorch 2.6 to 2.15 "
         "write: export it again with one of those");
}

} // namespace

int64_t scalarTypeNumber(DataType type) {
  for (auto [number, known] : scalarTypes)
    if (known == type)
      return number;
  return 0; // UNKNOWN
}

void readExportedProgram(JsonValue program, Archive &archive) {
  expectObject(program, "exported program");
  archive.torchVersion = program.member("torch_version").string();
  checkVersion(program, archive);
  JsonValue dialects = program.member("verifiers");
  for (size_t i = 0; i < dialects.size(); ++i)
    archive.dialects.emplace_back(dialects.at(i).string());
  GraphReader reader(archive);
  JsonValue module = expectObject(program.member("graph_module"), "graph module");
  archive.graph = reader.graph(module.member("graph"));
  readSignature(module, reader, archive);
  readRanges(program.member("range_constraints"), archive);
  JsonValue guards = program.member("guards_code");
  for (size_t i = 0; i < guards.size(); ++i)
    archive.guards.emplace_back(guards.at(i).string());
}

Tensor readTensorMeta(JsonValue value) {
  Archive scratch;
  TensorMeta meta = GraphReader(scratch).meta(value);
  Tensor tensor;
  tensor.dtype = meta.dtype;
  auto number = [](const Expr &expr) {
    if (!expr.isConstant())
      fail("holds a weight of a dynamic size");
    return *expr.constant();
  };
  for (const Expr &size : meta.sizes)
    tensor.sizes.push_back(number(size));
  for (const Expr &stride : meta.strides)
    tensor.strides.push_back(number(stride));
  tensor.offset = number(meta.offset);
  return tensor;
}

} // namespace pellucid::archive
