// SPDX-License-Identifier: Apache-2.0
#include "graph/ProgramText.h"

#include <charconv>
#include <cmath>

namespace pellucid::graph {

namespace {
std::string quoted(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      ((out += "\\x") += hex[byte >> 4]) += hex[byte & 15];
    else
      out += c;
  }
  return out + "\"";
}

/// As MLIR writes the characters of a string.
std::string mlirEscaped(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '\\')
      out += "\\\\";
    else if (byte < 0x20 || byte >= 0x7f || c == '"')
      ((out += '\\') += hex[byte >> 4]) += hex[byte & 15];
    else
      out += c;
  }
  return out;
}

bool isBareName(std::string_view name) {
  for (char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.')
      return false;
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
}

std::string nameText(std::string_view name) {
  return isBareName(name) ? std::string(name) : quoted(name);
}
std::string exprText(const Expr &e) { return "`" + e.text() + "`"; }

std::string exprList(const std::vector<Expr> &list) {
  std::string out = "[";
  for (const Expr &e : list)
    out += (out.size() > 1 ? ", " : "") + e.text();
  return out + "]";
}

std::string doubleText(double value) {
  if (std::isnan(value))
    return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string printedArgument(const Argument &argument) {
  struct {
    std::string operator()(None) { return "None"; }
    std::string operator()(bool b) { return b ? "True" : "False"; }
    std::string operator()(int64_t i) { return std::to_string(i); }
    std::string operator()(double d) { return doubleText(d); }
    std::string operator()(const std::string &s) { return quoted(s); }
    std::string operator()(DataType d) { return "dtype(" + std::string(info(d).cli) + ")"; }
    std::string operator()(Device d) { return "device(" + toString(d) + ")"; }
    std::string operator()(const Expr &e) { return exprText(e); }
    std::string operator()(Value *v) { return "%" + nameText(v->name()); }
    std::string operator()(const Argument::List &list) {
      std::string out = "[";
      for (const Argument &a : list)
        out += (out.size() > 1 ? ", " : "") + printedArgument(a);
      return out + "]";
    }
  } print;
  return std::visit(print, argument.get());
}

std::string typeText(const TensorType &type) {
  std::string out = std::string(info(type.dtype).cli) + exprList(type.shape);
  if (type.strides != contiguousStrides(type.shape))
    out += " strides " + exprList(type.strides);
  if (type.offset != Expr(0))
    out += " offset " + exprText(type.offset);
  if (type.device != Device{})
    out += " device(" + toString(type.device) + ")";
  if (!type.layout.empty())
    out += " layout " + quoted(type.layout);
  return out;
}

std::string resultText(const Value &value) {
  return "%" + nameText(value.name()) + ": " +
         (value.isTensor() ? typeText(value.type()) : "int " + exprText(value.expr()));
}

class ProgramPrinter {
public:
  explicit ProgramPrinter(const Program &program) : program(program) {}

  std::string printMain() {
    main();
    return std::move(out);
  }

  std::string print() {
    line("pellucid.program " + std::to_string(program.version));
    line(std::string("strict ") + (program.strict ? "True" : "False"));
    for (const std::string &name : program.symbols.names())
      symbol(name, *program.symbols.find(name));
    for (const OperatorDefinition &op : program.operators)
      operatorDefinition(op);
    for (const KernelDef &k : program.kernels)
      kernel(k);
    weights();
    for (size_t i = 0; i < program.bodies.size(); ++i) {
      line("body " + quoted(program.bodies[i].operatorName) + " {");
      graph(program.bodies[i].graph);
      line("}");
    }
    main();
    for (const InputSpec &spec : program.inputs)
      input(spec);
    for (const OutputSpec &spec : program.outputs)
      output(spec);
    line("end");
    return std::move(out);
  }

private:
  void line(const std::string &text) { (out += text) += '\n'; }

  void main() {
    line("main {");
    graph(program.main);
    line("}");
  }

  void symbol(const std::string &name, const symbolic::SymbolInfo &info) {
    std::string text = "symbol " + nameText(name) + " " + std::to_string(info.range.min) + ".." +
                       std::to_string(info.range.max);
    if (info.divisor != 1)
      text += " divisor " + std::to_string(info.divisor);
    if (info.hint)
      text += " hint " + std::to_string(*info.hint);
    line(text);
  }

  void operatorDefinition(const OperatorDefinition &op) {
    std::string text = op.kind == OperatorDefinition::Kind::TritonOp ? "triton_op " : "custom_op ";
    text += quoted(op.name) + " " + quoted(op.schema);
    if (!op.mutates.empty()) {
      text += " mutates";
      for (const std::string &name : op.mutates)
        text += " " + nameText(name);
    }
    line(text);
  }

  void kernel(const KernelDef &k) {
    line("kernel " + quoted(k.symbol) + " {");
    line("  name " + quoted(k.name));
    line("  source " + quoted(program.sourceName(k.sourcePath)) + " " +
         std::to_string(k.sourceLine));
    line("  numerics contract_fma " + printedArgument(k.numerics.contractFma) + " tf32 " +
         printedArgument(k.numerics.tf32) + " triton " + std::to_string(k.numerics.tritonVersion));
    if (!k.warning.empty())
      line("  warning " + quoted(k.warning));
    if (k.prints || k.asserts || k.usesAddresses)
      line(std::string("  effects") + (k.prints ? " prints" : "") + (k.asserts ? " asserts" : "") +
           (k.usesAddresses ? " addresses" : ""));
    for (const KernelParameter &p : k.parameters)
      parameter(p);
    if (!k.library) {
      line("  ttir");
      ttir(withSourceNames(k.ttir));
    } else {
      line("  library " + toString(*k.library));
    }
    line("}");
  }

  /// Locations are `loc("path":line:column)`.
  std::string withSourceNames(std::string ttir) const {
    for (const auto &[path, name] : program.sourceNames) {
      std::string from = "loc(\"" + mlirEscaped(path) + "\":";
      std::string to = "loc(\"" + mlirEscaped(name) + "\":";
      for (size_t at = 0; (at = ttir.find(from, at)) != std::string::npos; at += to.size())
        ttir.replace(at, from.size(), to);
    }
    return ttir;
  }

  void parameter(const KernelParameter &p) {
    std::string text = "  parameter " + nameText(p.name) + " ";
    if (p.kind == KernelParameter::Kind::Constant) {
      text += "constant " + printedArgument(p.constant);
    } else {
      bool pointer = p.kind == KernelParameter::Kind::Pointer;
      text += (pointer ? "pointer " : "scalar ") + std::string(info(p.dtype).cli);
      if (pointer)
        text += " " + std::string(toString(p.access)) + (p.unknownAccess ? " unknown" : "");
      if (p.divisor != 1)
        text += " divisor " + std::to_string(p.divisor);
    }
    line(text);
  }

  /// `|` before every line; `!` before a last line without end.
  void ttir(std::string_view text) {
    while (!text.empty()) {
      size_t end = text.find('\n');
      bool ended = end != std::string_view::npos;
      (out += ended ? "    |" : "    !") += text.substr(0, end);
      out += '\n';
      text.remove_prefix(ended ? end + 1 : text.size());
    }
  }

  void weights() {
    std::map<std::pair<const std::byte *, uint64_t>, std::string> carried; // by address and size
    for (const auto &[name, w] : program.weights) {
      std::string text = "weight " + quoted(name) + " " + std::string(info(w.dtype).cli) + "[";
      for (size_t i = 0; i < w.shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(w.shape[i]);
      text += "]";
      if (w.source == Weight::Source::Referenced) {
        text += " file " + quoted(w.path);
        if (!w.member.empty())
          text += " member " + quoted(w.member);
      } else if (auto [it, first] = carried.emplace(std::pair(w.data.get(), w.bytes), name);
                 !first && w.data) {
        text += " tied " + quoted(it->second);
      } else if (!w.member.empty()) {
        text += " tied " + quoted(w.member);
      }
      line(text);
    }
  }

  void graph(const Graph &g) {
    for (const Node &node : g)
      this->node(node);
  }

  std::string callText(const Node &node) {
    std::string text = "(";
    for (const Argument &a : node.args())
      text += (text.size() > 1 ? ", " : "") + printedArgument(a);
    for (const auto &[name, a] : node.kwargs())
      text += (text.size() > 1 ? ", " : "") + nameText(name) + "=" + printedArgument(a);
    return text + ")";
  }

  void node(const Node &node) {
    std::string text = "  ";
    for (size_t i = 0; i < node.resultCount(); ++i)
      text += (i ? ", " : "") + resultText(*node.result(i));
    if (node.resultCount())
      text += " = ";
    if (node.isPlaceholder())
      text += "placeholder " + nameText(node.name());
    else if (node.isOutput())
      text += "output " + nameText(node.name()) + callText(node);
    else if (node.isLaunch())
      text +=
          "launch " + nameText(node.name()) + " " + nameText(node.target()) + callText(node) + " {";
    else
      text += "call " + nameText(node.name()) + " " + nameText(node.target()) + callText(node);
    if (node.isLaunch()) {
      line(text);
      launch(*node.launch());
      text = "  }";
    }
    line(text + details(node));
  }

  std::string details(const Node &node) {
    std::string text;
    if (node.body)
      text += " body " + std::to_string(*node.body);
    if (!node.regions.empty()) {
      text += " regions";
      for (uint32_t region : node.regions)
        text += " " + std::to_string(region);
    }
    if (!node.mutatedArgs.empty()) {
      text += " mutates";
      for (uint32_t i : node.mutatedArgs)
        text += " " + std::to_string(i);
    }
    if (node.location.known()) {
      const SourceRange &r = node.location.range;
      text += " at " + quoted(program.sourceName(node.location.file ? node.location.file->path()
                                                                    : node.location.name));
      for (uint32_t n : {r.line, r.column, r.endLine, r.endColumn})
        text += " " + std::to_string(n);
    }
    if (!node.stackNote.empty())
      text += " note " + quoted(node.stackNote);
    return text;
  }

  void launch(const Launch &l) {
    for (const LaunchVariant &v : l.variants) {
      std::string text = "    variant ";
      if (v.guard != Expr(1))
        text += "if " + exprText(v.guard) + " ";
      text += "kernel " + std::to_string(v.kernel) + " grid " +
              exprList({v.grid[0], v.grid[1], v.grid[2]});
      text += " warps " + std::to_string(v.numWarps) + " stages " + std::to_string(v.numStages) +
              " ctas " + std::to_string(v.numCtas) + " constants (";
      for (size_t i = 0; i < v.constants.size(); ++i)
        text += (i ? ", " : "") + nameText(v.constants[i].first) + "=" +
                printedArgument(v.constants[i].second);
      text += ")";
      if (!v.origin.empty())
        text += " origin " + quoted(v.origin);
      line(text);
    }
    for (const LaunchOperand &o : l.operands)
      line("    operand " + nameText(o.name) + " = " + printedArgument(o.value) + " " +
           std::string(toString(o.access)) + (o.unknownAccess ? " unknown" : ""));
  }

  void input(const InputSpec &spec) {
    static constexpr std::string_view kinds[] = {"user_input", "parameter", "buffer",
                                                 "tensor_constant", "constant_input"};
    std::string text =
        "input " + std::string(kinds[static_cast<size_t>(spec.kind)]) + " " + quoted(spec.name);
    if (spec.kind == InputSpec::Kind::ConstantInput)
      text += " value " + printedArgument(spec.constant);
    if (!spec.persistent)
      text += " not_persistent";
    if (spec.alignment > 1)
      text += " align " + std::to_string(spec.alignment);
    line(text);
  }

  void output(const OutputSpec &spec) {
    static constexpr std::string_view kinds[] = {"user_output", "user_input_mutation",
                                                 "buffer_mutation"};
    std::string text = "result " + std::string(kinds[static_cast<size_t>(spec.kind)]);
    if (!spec.name.empty())
      text += " " + quoted(spec.name);
    line(text);
  }

  const Program &program;
  std::string out;
};
} // namespace

std::string printProgram(const Program &program) { return ProgramPrinter(program).print(); }

std::string printMain(const Program &program) { return ProgramPrinter(program).printMain(); }

} // namespace pellucid::graph
