// SPDX-License-Identifier: Apache-2.0
#include "graph/CheckProgram.h"
#include "graph/ProgramLexer.h"
#include "graph/ProgramText.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace pellucid::graph {

namespace {
class ProgramParser {
public:
  ProgramParser(std::shared_ptr<const SourceFile> file, Believe b)
      : lexer(std::move(file)), believe(b) {}

  Program parse() {
    version();
    word("strict");
    program.strict = boolean();
    endLine();
    while (!acceptWord("end")) {
      statement();
      endLine();
    }
    // What follows is not the program's text (carried weights).
    checkAll();
    return std::move(program);
  }

private:
  //===-- Pieces ------------------------------------------------------------------------------===//

  bool is(Token kind, std::string_view content) const {
    return lexer.kind == kind && lexer.content == content;
  }
  bool accept(std::string_view sign) {
    if (!is(Token::Sign, sign))
      return false;
    lexer.next();
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign))
      lexer.fail("expected '" + std::string(sign) + "', found " + lexer.describe());
  }
  bool acceptWord(std::string_view name) {
    if (!is(Token::Name, name))
      return false;
    lexer.next();
    return true;
  }
  void word(std::string_view name) {
    if (!acceptWord(name))
      lexer.fail("expected '" + std::string(name) + "', found " + lexer.describe());
  }
  void endLine() {
    if (lexer.kind != Token::NewLine)
      lexer.fail("expected the end of the line, found " + lexer.describe());
    lexer.next();
  }
  std::string take(Token kind, std::string_view what) {
    if (lexer.kind != kind)
      lexer.fail("expected " + std::string(what) + ", found " + lexer.describe());
    std::string content = std::move(lexer.content);
    lexer.next();
    return content;
  }
  std::string string() { return take(Token::String, "a string"); }
  std::string name() {
    return lexer.kind == Token::String ? string() : take(Token::Name, "a name");
  }

  template <typename T> T integer() {
    T value = 0;
    const std::string &digits = lexer.content;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (lexer.kind != Token::Number || error != std::errc() || end != digits.data() + digits.size())
      lexer.fail("expected an integer, found " + lexer.describe());
    lexer.next();
    return value;
  }

  bool boolean() {
    if (acceptWord("True"))
      return true;
    word("False");
    return false;
  }

  Expr expression(std::string_view text) {
    if (std::optional<Expr> e = symbolic::parse(text))
      return *e;
    lexer.fail("'" + std::string(text) + "' is not an expression");
  }
  Expr expression() {
    if (lexer.kind != Token::Expression)
      lexer.fail("expected an expression in backquotes, found " + lexer.describe());
    Expr e = expression(lexer.content);
    lexer.next();
    return e;
  }
  std::vector<Expr> expressions() {
    std::vector<Expr> list;
    for (std::string_view part : lexer.bracketed())
      list.push_back(expression(part));
    return list;
  }

  DataType dataType() {
    std::optional<DataType> dtype;
    if (lexer.kind == Token::Name)
      dtype = dataTypeNamed(lexer.content);
    if (!dtype)
      lexer.fail("expected an element type, found " + lexer.describe());
    lexer.next();
    return *dtype;
  }

  /// After `device`: `(cuda:1)`.
  Device device() {
    expect("(");
    std::string text = take(Token::Name, "a device");
    if (accept(":"))
      text += ":" + std::to_string(integer<int32_t>());
    std::optional<Device> device = deviceNamed(text);
    if (!device)
      lexer.fail("'" + text + "' is not a device");
    expect(")");
    return *device;
  }

  TensorType tensorType() {
    DataType dtype = dataType();
    TensorType type(dtype, expressions());
    if (acceptWord("strides"))
      type.strides = expressions();
    if (type.strides.size() != type.shape.size())
      lexer.fail("expected " + std::to_string(type.shape.size()) + " strides, got " +
                 std::to_string(type.strides.size()));
    if (acceptWord("offset"))
      type.offset = expression();
    if (acceptWord("device"))
      type.device = device();
    if (acceptWord("layout"))
      type.layout = string();
    return type;
  }

  Argument number() {
    const std::string digits = lexer.content;
    int64_t i = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), i);
    if (error == std::errc() && end == digits.data() + digits.size()) {
      lexer.next();
      return Argument(i);
    }
    return Argument(real());
  }

  double real() {
    const std::string digits = lexer.content;
    double d = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), d);
    if (error != std::errc() || end != digits.data() + digits.size())
      lexer.fail("expected a number, found " + lexer.describe());
    lexer.next();
    return d;
  }

  Value *value() {
    Value *v = graph ? graph->findValue(lexer.content) : nullptr;
    if (lexer.kind != Token::Value || !v)
      lexer.fail(lexer.kind == Token::Value ? "value '%" + lexer.content + "' is not defined"
                                            : "expected a value, found " + lexer.describe());
    lexer.next();
    return v;
  }

  Argument namedArgument() {
    std::string text = lexer.content;
    if (text == "None" || text == "True" || text == "False") {
      lexer.next();
      return text == "None" ? Argument() : Argument(text == "True");
    }
    if (text == "nan" || text == "inf")
      return Argument(real());
    if (acceptWord("dtype")) {
      expect("(");
      DataType dtype = dataType();
      expect(")");
      return Argument(dtype);
    }
    if (acceptWord("device"))
      return Argument(device());
    lexer.fail("expected an argument, found " + lexer.describe());
  }

  Argument argument() {
    switch (lexer.kind) {
    case Token::Number:
      return number();
    case Token::String:
      return Argument(string());
    case Token::Expression:
      return Argument(expression());
    case Token::Value:
      return Argument(value());
    case Token::Name:
      return namedArgument();
    default:
      break;
    }
    expect("[");
    Argument::List list;
    if (++depth > maxDepth)
      lexer.fail("lists are nested too deeply");
    while (!accept("]")) {
      if (!list.empty())
        expect(",");
      list.push_back(argument());
    }
    --depth;
    return Argument(std::move(list));
  }

  /// `name=argument, …` up to `)`; positional arguments first where allowed.
  void callArguments(std::vector<Argument> *args, KeywordArguments &kwargs) {
    expect("(");
    for (bool first = true; !accept(")"); first = false) {
      if (!first)
        expect(",");
      bool keyword = isKeyword();
      if (keyword) {
        std::string key = name();
        expect("=");
        kwargs.emplace_back(std::move(key), argument());
      } else if (args && kwargs.empty()) {
        args->push_back(argument());
      } else {
        lexer.fail("expected 'name=' before the argument, found " + lexer.describe());
      }
    }
  }

  /// A name followed by `=`. The names that are arguments themselves never are.
  bool isKeyword() {
    if (lexer.kind != Token::Name && lexer.kind != Token::String)
      return false;
    ProgramLexer ahead = lexer;
    ahead.next();
    return ahead.kind == Token::Sign && ahead.content == "=";
  }

  //===-- Statements --------------------------------------------------------------------------===//

  void version() {
    if (!acceptWord("pellucid.program"))
      lexer.fail("expected 'pellucid.program', found " + lexer.describe());
    SourceLocation where = lexer.here();
    program.version = integer<int>();
    if (program.version != programVersion)
      throw DiagnosticError(where, "the program has version " + std::to_string(program.version) +
                                       ", this reader takes version " +
                                       std::to_string(programVersion));
    endLine();
  }

  void statement() {
    if (acceptWord("symbol"))
      return symbol();
    if (acceptWord("triton_op"))
      return operatorDefinition(OperatorDefinition::Kind::TritonOp);
    if (acceptWord("custom_op"))
      return operatorDefinition(OperatorDefinition::Kind::CustomOp);
    if (acceptWord("kernel"))
      return kernel();
    if (acceptWord("weight"))
      return weight();
    if (acceptWord("body")) {
      program.bodies.push_back({string(), {}});
      return graphBlock(program.bodies.back().graph);
    }
    if (acceptWord("main")) {
      if (program.main.size())
        lexer.fail("a second main graph");
      return graphBlock(program.main);
    }
    if (acceptWord("input"))
      return input();
    if (acceptWord("result"))
      return output();
    lexer.fail("expected symbol, triton_op, custom_op, kernel, weight, body, main, input, result "
               "or end, found " +
               lexer.describe());
  }

  void symbol() {
    std::string symbolName = name();
    symbolic::SymbolInfo info;
    info.range.min = integer<int64_t>();
    expect(".");
    expect(".");
    info.range.max = integer<int64_t>();
    if (acceptWord("divisor"))
      info.divisor = integer<int64_t>();
    if (acceptWord("hint"))
      info.hint = integer<int64_t>();
    if (info.divisor < 1)
      lexer.fail("expected a positive divisor");
    if (program.symbols.find(symbolName))
      lexer.fail("symbol '" + symbolName + "' is declared twice");
    program.symbols.declare(symbolName, info);
  }

  void operatorDefinition(OperatorDefinition::Kind kind) {
    OperatorDefinition op;
    op.kind = kind;
    op.name = string();
    op.schema = string();
    if (acceptWord("mutates"))
      while (lexer.kind == Token::Name || lexer.kind == Token::String)
        op.mutates.push_back(name());
    program.operators.push_back(std::move(op));
  }

  void kernel() {
    KernelDef k;
    k.symbol = string();
    for (const KernelDef &other : program.kernels)
      if (other.symbol == k.symbol)
        lexer.fail("two kernels have the symbol '" + k.symbol + "'");
    expect("{");
    endLine();
    word("name");
    k.name = string();
    endLine();
    word("source");
    k.sourcePath = string();
    k.sourceLine = integer<uint32_t>();
    endLine();
    word("numerics");
    word("contract_fma");
    k.numerics.contractFma = boolean();
    word("tf32");
    k.numerics.tf32 = boolean();
    word("triton");
    k.numerics.tritonVersion = integer<int32_t>();
    endLine();
    if (acceptWord("warning")) {
      k.warning = string();
      endLine();
    }
    if (acceptWord("effects")) {
      k.prints = acceptWord("prints");
      k.asserts = acceptWord("asserts");
      k.usesAddresses = acceptWord("addresses");
      endLine();
    }
    while (acceptWord("parameter")) {
      k.parameters.push_back(parameter());
      endLine();
    }
    if (acceptWord("library")) {
      k.library = libraryKernel();
      endLine();
    } else {
      word("ttir");
      k.ttir = lexer.block();
    }
    expect("}");
    program.kernels.push_back(std::move(k));
  }

  package::LibraryKernel libraryKernel() {
    std::string_view what = lexer.content;
    auto kind = lexer.kind == Token::Name ? package::libraryKernelKindNamed(what) : std::nullopt;
    if (!kind)
      lexer.fail("expected a kernel of the back end (gemm, pack, convolve or depthwise), found " +
                 lexer.describe());
    lexer.next();
    package::LibraryKernel kernel{*kind, dataType()};
    kernel.bias = acceptWord("bias");
    kernel.unpacked = acceptWord("unpacked");
    return kernel;
  }

  KernelParameter parameter() {
    KernelParameter p;
    p.name = name();
    if (acceptWord("constant")) {
      p.kind = KernelParameter::Kind::Constant;
      p.constant = argument();
      return p;
    }
    bool pointer = acceptWord("pointer");
    if (!pointer)
      word("scalar");
    p.kind = pointer ? KernelParameter::Kind::Pointer : KernelParameter::Kind::Scalar;
    p.dtype = dataType();
    if (pointer)
      std::tie(p.access, p.unknownAccess) = access();
    if (acceptWord("divisor"))
      p.divisor = integer<int64_t>();
    return p;
  }

  std::pair<Access, bool> access() {
    std::optional<Access> a;
    if (lexer.kind == Token::Name)
      a = accessNamed(lexer.content);
    if (!a)
      lexer.fail("expected none, read, write or readwrite, found " + lexer.describe());
    lexer.next();
    return {*a, acceptWord("unknown")};
  }

  void weight() {
    std::string weightName = string();
    Weight w;
    w.dtype = dataType();
    for (const Expr &dim : expressions()) {
      if (!dim.constant() || *dim.constant() < 0)
        lexer.fail("expected a weight's shape to be constant, got " + dim.text());
      w.shape.push_back(*dim.constant());
    }
    if (acceptWord("file")) {
      w.source = Weight::Source::Referenced;
      w.path = string();
      if (acceptWord("member"))
        w.member = string();
    } else if (acceptWord("tied")) {
      w.member = string();
    }
    if (!program.weights.emplace(weightName, std::move(w)).second)
      lexer.fail("weight '" + weightName + "' is declared twice");
  }

  void input() {
    static constexpr std::string_view kinds[] = {"user_input", "parameter", "buffer",
                                                 "tensor_constant", "constant_input"};
    InputSpec spec;
    spec.kind = static_cast<InputSpec::Kind>(oneOf(kinds));
    spec.name = string();
    if (spec.kind == InputSpec::Kind::ConstantInput) {
      word("value");
      spec.constant = argument();
    }
    spec.persistent = !acceptWord("not_persistent");
    if (acceptWord("align"))
      spec.alignment = integer<uint32_t>();
    if (spec.alignment == 0 || spec.alignment > 64 || (spec.alignment & (spec.alignment - 1)))
      lexer.fail("an input's alignment is a power of 2 of at most 64, got " +
                 std::to_string(spec.alignment));
    program.inputs.push_back(std::move(spec));
  }

  void output() {
    static constexpr std::string_view kinds[] = {"user_output", "user_input_mutation",
                                                 "buffer_mutation"};
    OutputSpec spec;
    spec.kind = static_cast<OutputSpec::Kind>(oneOf(kinds));
    if (lexer.kind == Token::String)
      spec.name = string();
    program.outputs.push_back(std::move(spec));
  }

  size_t oneOf(std::span<const std::string_view> kinds) {
    std::string list;
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (acceptWord(kinds[i]))
        return i;
      list += (i ? ", " : "") + std::string(kinds[i]);
    }
    lexer.fail("expected one of " + list + ", found " + lexer.describe());
  }

  //===-- Graphs ------------------------------------------------------------------------------===//

  void graphBlock(Graph &g) {
    graph = &g;
    expect("{");
    endLine();
    while (!accept("}")) {
      node();
      endLine();
    }
    graph = nullptr;
  }

  std::pair<std::string, ResultType> result() {
    std::string valueName = take(Token::Value, "a value");
    expect(":");
    if (acceptWord("int"))
      return {valueName, expression()};
    return {valueName, tensorType()};
  }

  void node() {
    SourceLocation where = lexer.here();
    std::vector<std::pair<std::string, ResultType>> results;
    while (lexer.kind == Token::Value) {
      results.push_back(result());
      if (!accept(","))
        break;
    }
    if (!results.empty())
      expect("=");
    Opcode opcode = Opcode::CallFunction;
    bool isLaunch = false;
    if (acceptWord("placeholder"))
      opcode = Opcode::Placeholder;
    else if (acceptWord("output"))
      opcode = Opcode::Output;
    else if (!(isLaunch = acceptWord("launch")))
      word("call");
    std::string nodeName = name();
    std::string target = opcode == Opcode::CallFunction ? name()
                         : opcode == Opcode::Output     ? "output"
                                                        : nodeName;
    std::vector<Argument> args;
    KeywordArguments kwargs;
    std::optional<Launch> l;
    if (opcode != Opcode::Placeholder)
      callArguments(&args, kwargs);
    if (isLaunch)
      l = launch();
    Node *made = nullptr;
    try {
      made = graph->restore(opcode, std::move(nodeName), std::move(target), std::move(args),
                            std::move(kwargs), std::move(results), std::move(l));
    } catch (const std::invalid_argument &e) {
      throw DiagnosticError(where, e.what());
    }
    places[made] = where;
    details(*made);
  }

  void details(Node &node) {
    if (acceptWord("body"))
      node.body = integer<uint32_t>();
    if (acceptWord("regions"))
      while (lexer.kind == Token::Number)
        node.regions.push_back(integer<uint32_t>());
    if (acceptWord("mutates"))
      while (lexer.kind == Token::Number)
        node.mutatedArgs.push_back(integer<uint32_t>());
    if (acceptWord("at")) {
      node.location = SourceLocation(string());
      SourceRange &r = node.location.range;
      for (uint32_t *field : {&r.line, &r.column, &r.endLine, &r.endColumn})
        *field = integer<uint32_t>();
    }
    if (acceptWord("note"))
      node.stackNote = string();
  }

  Launch launch() {
    Launch l;
    expect("{");
    endLine();
    while (!accept("}")) {
      if (acceptWord("variant"))
        l.variants.push_back(variant());
      else
        operand(l);
      endLine();
    }
    return l;
  }

  void operand(Launch &l) {
    word("operand");
    LaunchOperand o;
    o.name = name();
    expect("=");
    o.value = argument();
    std::tie(o.access, o.unknownAccess) = access();
    if (writes(o.access) && o.value.value())
      l.resultOperands.push_back(static_cast<uint32_t>(l.operands.size()));
    l.operands.push_back(std::move(o));
  }

  LaunchVariant variant() {
    LaunchVariant v;
    if (acceptWord("if"))
      v.guard = expression();
    word("kernel");
    v.kernel = integer<uint32_t>();
    word("grid");
    std::vector<Expr> grid = expressions();
    if (grid.size() != 3)
      lexer.fail("expected 3 grid dims, got " + std::to_string(grid.size()));
    std::copy(grid.begin(), grid.end(), v.grid);
    word("warps");
    v.numWarps = integer<int32_t>();
    word("stages");
    v.numStages = integer<int32_t>();
    word("ctas");
    v.numCtas = integer<int32_t>();
    word("constants");
    callArguments(nullptr, v.constants);
    if (acceptWord("origin"))
      v.origin = string();
    return v;
  }

  void checkAll() {
    std::vector<std::string> problems = program.verify();
    if (!problems.empty())
      lexer.fail("the program is not valid: " + problems[0]);
    if (believe == Believe::Types)
      return;
    try {
      checkProgram(program, OperatorRegistry::builtins(),
                   [this](const Node &node) { return places.at(&node); });
    } catch (DiagnosticError &error) {
      // What concerns no one node stands nowhere else than in the whole.
      if (!error.diagnostic.location.file)
        error.diagnostic.location = lexer.here();
      throw DiagnosticError(error.diagnostic);
    }
  }

  static constexpr int maxDepth = 64;
  ProgramLexer lexer;
  Believe believe;
  std::unordered_map<const Node *, SourceLocation> places;
  Program program;
  Graph *graph = nullptr;
  int depth = 0;
};
} // namespace

Program parseProgram(std::shared_ptr<const SourceFile> file, Believe believe) {
  try {
    return ProgramParser(file, believe).parse();
  } catch (const std::overflow_error &) {
    throw DiagnosticError(SourceLocation(file->path()),
                          "an expression of the program does not fit into 64 bits");
  }
}

} // namespace pellucid::graph
