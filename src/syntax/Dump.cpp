// SPDX-License-Identifier: Apache-2.0
#include "syntax/Parser.h"
#include "syntax/Unicode.h"

#include <charconv>
#include <cmath>

namespace pellucid::syntax {
namespace {

//===----------------------------------------------------------------------===//
// repr() of constants
//===----------------------------------------------------------------------===//

/// Python's repr of a finite or infinite double, without the ".0" of whole numbers.
std::string shortestFloat(double value) {
  if (std::isinf(value))
    return "inf";
  char digits[32];
  auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
  std::string scientific(digits, end);
  size_t mark = scientific.find('e');
  std::string mantissa = scientific.substr(0, mark);
  int exponent = std::stoi(scientific.substr(mark + 1));
  if (exponent < -4 || exponent >= 16)
    return scientific;
  if (mantissa.size() > 1)
    mantissa.erase(1, 1); // the point
  if (exponent < 0)
    return "0." + std::string(-exponent - 1, '0') + mantissa;
  auto whole = static_cast<size_t>(exponent) + 1;
  if (mantissa.size() <= whole)
    return mantissa + std::string(whole - mantissa.size(), '0');
  return mantissa.insert(whole, 1, '.');
}

std::string floatRepr(double value) {
  std::string text = shortestFloat(value);
  return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

char quoteFor(std::string_view value) {
  return value.find('\'') != value.npos && value.find('"') == value.npos ? '"' : '\'';
}

void appendHex(std::string &out, const char *format, unsigned value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, format, value);
  out += buffer;
}

/// True when `c` had a two-character escape or needed the quote's backslash.
bool appendShortEscape(std::string &out, char32_t c, char quote) {
  switch (c) {
  case '\n':
    out += "\\n";
    return true;
  case '\r':
    out += "\\r";
    return true;
  case '\t':
    out += "\\t";
    return true;
  case '\\':
    out += "\\\\";
    return true;
  default:
    if (c != static_cast<unsigned char>(quote))
      return false;
    out += '\\';
    out += quote;
    return true;
  }
}

void appendBytesRepr(std::string &out, std::string_view value) {
  char quote = quoteFor(value);
  out += 'b';
  out += quote;
  for (char c : value) {
    auto byte = static_cast<unsigned char>(c);
    if (appendShortEscape(out, byte, quote))
      continue;
    if (byte >= 0x20 && byte < 0x7F)
      out += c;
    else
      appendHex(out, "\\x%02x", byte);
  }
  out += quote;
}

void appendStringRepr(std::string &out, std::string_view value) {
  char quote = quoteFor(value);
  out += quote;
  for (size_t i = 0, length; i < value.size(); i += length) {
    char32_t c = decodeUtf8(value.substr(i), length, /*allowSurrogates=*/true);
    if (appendShortEscape(out, c, quote))
      continue;
    if (isPrintable(c))
      out += value.substr(i, length);
    else
      appendHex(out, c <= 0xFF ? "\\x%02x" : c <= 0xFFFF ? "\\u%04x" : "\\U%08x", c);
  }
  out += quote;
}

//===----------------------------------------------------------------------===//
// Names of operators and contexts
//===----------------------------------------------------------------------===//

const char *nameOf(Operator op) {
  static constexpr const char *names[] = {"Add",    "Sub",    "Mult",    "MatMult", "Div",
                                          "Mod",    "Pow",    "LShift",  "RShift",  "BitOr",
                                          "BitXor", "BitAnd", "FloorDiv"};
  return names[static_cast<size_t>(op)];
}
const char *nameOf(UnaryOperator op) {
  static constexpr const char *names[] = {"Invert", "Not", "UAdd", "USub"};
  return names[static_cast<size_t>(op)];
}
const char *nameOf(BoolOperator op) { return op == BoolOperator::And ? "And" : "Or"; }
const char *nameOf(CmpOperator op) {
  static constexpr const char *names[] = {"Eq",  "NotEq", "Lt",    "LtE", "Gt",
                                          "GtE", "Is",    "IsNot", "In",  "NotIn"};
  return names[static_cast<size_t>(op)];
}
const char *nameOf(ExprContext context) {
  static constexpr const char *names[] = {"Load", "Store", "Del"};
  return names[static_cast<size_t>(context)];
}

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

class Dumper {
public:
  Dumper(std::string &o, DumpOptions opts) : out(o), options(opts) {}

  void module(const Module &module) {
    open("Module");
    field("body", module.body);
    key("type_ignores");
    out += "[])";
  }

private:
  // `open` starts a node, `field` writes one field, `close` writes the attributes and ends it.
  void open(const char *name) {
    out += name;
    out += '(';
    first = true;
  }
  void key(const char *name) {
    if (!first)
      out += ", ";
    first = false;
    out += name;
    out += '=';
  }
  void attribute(const char *name, uint32_t value) {
    key(name);
    out += std::to_string(value);
  }
  void close() {
    out += ')';
    first = false;
  }
  void close(const SourceRange &range) {
    if (options.includeAttributes) {
      bool masked = fstringDepth && !options.positionsInFStrings;
      SourceRange shown = masked ? SourceRange{0, 1, 0, 1} : range;
      attribute("lineno", shown.line);
      attribute("col_offset", shown.column - 1);
      attribute("end_lineno", shown.endLine);
      attribute("end_col_offset", shown.endColumn - 1);
    }
    close();
  }

  void value(const Ptr<Expr> &node) { node ? expr(*node) : none(); }
  void value(const Ptr<Stmt> &node) { stmt(*node); }
  void value(const Ptr<Pattern> &node) { pattern(*node); }
  void value(const Ptr<Arg> &node);
  void value(const Ptr<Keyword> &node);
  void value(const Ptr<TypeParam> &node);
  void value(const Arguments &node);
  void value(const Comprehension &node);
  void value(const Alias &node);
  void value(const WithItem &node);
  void value(const ExceptHandler &node);
  void value(const MatchCase &node);
  void value(const std::string &text) { appendStringRepr(out, text); }
  void value(int number) { out += std::to_string(number); }
  void value(CmpOperator op) { value(nameOf(op)); }
  void value(const char *emptyNode) {
    out += emptyNode;
    out += "()";
  }
  void none() { out += "None"; }

  template <typename T> void value(const std::vector<T> &list) {
    out += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i)
        out += ", ";
      value(list[i]);
    }
    out += ']';
  }
  template <typename T> void field(const char *name, const T &content) {
    key(name);
    value(content);
    first = false;
  }
  /// Optional fields are left out when absent.
  template <typename T> void optional(const char *name, const T &content) {
    if (content)
      field(name, content);
  }
  void optional(const char *name, const std::optional<Identifier> &content) {
    if (content)
      field(name, *content);
  }
  template <typename T> void optionalList(const char *name, const std::vector<T> &list) {
    if (!list.empty())
      field(name, list);
  }

  void expr(const Expr &node);
  void constant(const Constant &node);
  void constantValue(const Constant &node);
  template <typename T> void sequence(const char *name, const T &node);
  template <typename T> void comprehension(const char *name, const T &node);
  void joinedString(const JoinedStr &node);
  void stmt(const Stmt &node);
  void functionDef(const FunctionDef &node);
  void classDef(const ClassDef &node);
  void pattern(const Pattern &node);

  std::string &out;
  DumpOptions options;
  bool first = true;
  unsigned fstringDepth = 0;
};

void Dumper::value(const Ptr<Arg> &node) {
  open("arg");
  field("arg", node->arg);
  optional("annotation", node->annotation);
  close(node->range);
}

void Dumper::value(const Ptr<Keyword> &node) {
  open("keyword");
  optional("arg", node->arg);
  field("value", node->value);
  close(node->range);
}

void Dumper::value(const Ptr<TypeParam> &node) {
  static constexpr const char *names[] = {"TypeVar", "ParamSpec", "TypeVarTuple"};
  open(names[static_cast<size_t>(node->form)]);
  field("name", node->name);
  optional("bound", node->bound);
  close(node->range);
}

void Dumper::value(const Arguments &node) {
  open("arguments");
  field("posonlyargs", node.posonlyargs);
  field("args", node.args);
  optional("vararg", node.vararg);
  field("kwonlyargs", node.kwonlyargs);
  field("kw_defaults", node.kwDefaults);
  optional("kwarg", node.kwarg);
  field("defaults", node.defaults);
  close();
}

void Dumper::value(const Comprehension &node) {
  open("comprehension");
  field("target", node.target);
  field("iter", node.iter);
  field("ifs", node.ifs);
  field("is_async", int(node.isAsync));
  close();
}

void Dumper::value(const Alias &node) {
  open("alias");
  field("name", node.name);
  optional("asname", node.asname);
  close(node.range);
}

void Dumper::value(const WithItem &node) {
  open("withitem");
  field("context_expr", node.contextExpr);
  optional("optional_vars", node.optionalVars);
  close();
}

void Dumper::value(const ExceptHandler &node) {
  open("ExceptHandler");
  optional("type", node.type);
  optional("name", node.name);
  field("body", node.body);
  close(node.range);
}

void Dumper::value(const MatchCase &node) {
  open("match_case");
  field("pattern", node.pattern);
  optional("guard", node.guard);
  field("body", node.body);
  close();
}

void Dumper::constantValue(const Constant &node) {
  switch (node.type) {
  case Constant::Type::None:
    return none();
  case Constant::Type::True:
    out += "True";
    return;
  case Constant::Type::False:
    out += "False";
    return;
  case Constant::Type::Ellipsis:
    out += "Ellipsis";
    return;
  case Constant::Type::Int:
    out += std::to_string(node.intValue);
    return;
  case Constant::Type::BigInt:
    out += node.text;
    return;
  case Constant::Type::Float:
    out += floatRepr(node.floatValue);
    return;
  case Constant::Type::Imaginary:
    out += shortestFloat(node.floatValue) + "j";
    return;
  case Constant::Type::String:
    return appendStringRepr(out, node.text);
  case Constant::Type::Bytes:
    return appendBytesRepr(out, node.text);
  }
}

void Dumper::constant(const Constant &node) {
  open("Constant");
  key("value");
  constantValue(node);
  if (node.unicodePrefix)
    field("kind", std::string("u"));
  close(node.range);
}

template <typename T> void Dumper::sequence(const char *name, const T &node) {
  open(name);
  field("elts", node.elts);
  field("ctx", nameOf(node.ctx));
  close(node.range);
}

template <typename T> void Dumper::comprehension(const char *name, const T &node) {
  open(name);
  field("elt", node.elt);
  field("generators", node.generators);
  close(node.range);
}

void Dumper::joinedString(const JoinedStr &node) {
  open("JoinedStr");
  ++fstringDepth;
  field("values", node.values);
  --fstringDepth;
  close(node.range);
}

void Dumper::expr(const Expr &node) {
  switch (node.kind) {
  case ExprKind::BoolOp: {
    const auto &n = static_cast<const BoolOp &>(node);
    open("BoolOp");
    field("op", nameOf(n.op));
    field("values", n.values);
    break;
  }
  case ExprKind::NamedExpr: {
    const auto &n = static_cast<const NamedExpr &>(node);
    open("NamedExpr");
    field("target", n.target);
    field("value", n.value);
    break;
  }
  case ExprKind::BinOp: {
    const auto &n = static_cast<const BinOp &>(node);
    open("BinOp");
    field("left", n.left);
    field("op", nameOf(n.op));
    field("right", n.right);
    break;
  }
  case ExprKind::UnaryOp: {
    const auto &n = static_cast<const UnaryOp &>(node);
    open("UnaryOp");
    field("op", nameOf(n.op));
    field("operand", n.operand);
    break;
  }
  case ExprKind::Lambda: {
    const auto &n = static_cast<const Lambda &>(node);
    open("Lambda");
    field("args", n.args);
    field("body", n.body);
    break;
  }
  case ExprKind::IfExp: {
    const auto &n = static_cast<const IfExp &>(node);
    open("IfExp");
    field("test", n.test);
    field("body", n.body);
    field("orelse", n.orelse);
    break;
  }
  case ExprKind::Dict: {
    const auto &n = static_cast<const Dict &>(node);
    open("Dict");
    field("keys", n.keys);
    field("values", n.values);
    break;
  }
  case ExprKind::Set:
    open("Set");
    field("elts", static_cast<const Set &>(node).elts);
    break;
  case ExprKind::ListComp:
    return comprehension("ListComp", static_cast<const ListComp &>(node));
  case ExprKind::SetComp:
    return comprehension("SetComp", static_cast<const SetComp &>(node));
  case ExprKind::GeneratorExp:
    return comprehension("GeneratorExp", static_cast<const GeneratorExp &>(node));
  case ExprKind::DictComp: {
    const auto &n = static_cast<const DictComp &>(node);
    open("DictComp");
    field("key", n.key);
    field("value", n.value);
    field("generators", n.generators);
    break;
  }
  case ExprKind::Await:
    open("Await");
    field("value", static_cast<const Await &>(node).value);
    break;
  case ExprKind::Yield:
    open("Yield");
    optional("value", static_cast<const Yield &>(node).value);
    break;
  case ExprKind::YieldFrom:
    open("YieldFrom");
    field("value", static_cast<const YieldFrom &>(node).value);
    break;
  case ExprKind::Compare: {
    const auto &n = static_cast<const Compare &>(node);
    open("Compare");
    field("left", n.left);
    field("ops", n.ops);
    field("comparators", n.comparators);
    break;
  }
  case ExprKind::Call: {
    const auto &n = static_cast<const Call &>(node);
    open("Call");
    field("func", n.func);
    field("args", n.args);
    field("keywords", n.keywords);
    break;
  }
  case ExprKind::FormattedValue: {
    const auto &n = static_cast<const FormattedValue &>(node);
    open("FormattedValue");
    field("value", n.value);
    field("conversion", n.conversion);
    optional("format_spec", n.formatSpec);
    break;
  }
  case ExprKind::JoinedStr:
    return joinedString(static_cast<const JoinedStr &>(node));
  case ExprKind::Constant:
    return constant(static_cast<const Constant &>(node));
  case ExprKind::Attribute: {
    const auto &n = static_cast<const Attribute &>(node);
    open("Attribute");
    field("value", n.value);
    field("attr", n.attr);
    field("ctx", nameOf(n.ctx));
    break;
  }
  case ExprKind::Subscript: {
    const auto &n = static_cast<const Subscript &>(node);
    open("Subscript");
    field("value", n.value);
    field("slice", n.slice);
    field("ctx", nameOf(n.ctx));
    break;
  }
  case ExprKind::Starred: {
    const auto &n = static_cast<const Starred &>(node);
    open("Starred");
    field("value", n.value);
    field("ctx", nameOf(n.ctx));
    break;
  }
  case ExprKind::Name: {
    const auto &n = static_cast<const Name &>(node);
    open("Name");
    field("id", n.id);
    field("ctx", nameOf(n.ctx));
    break;
  }
  case ExprKind::List:
    return sequence("List", static_cast<const ListExpr &>(node));
  case ExprKind::Tuple:
    return sequence("Tuple", static_cast<const Tuple &>(node));
  case ExprKind::Slice: {
    const auto &n = static_cast<const Slice &>(node);
    open("Slice");
    optional("lower", n.lower);
    optional("upper", n.upper);
    optional("step", n.step);
    break;
  }
  }
  close(node.range);
}

void Dumper::functionDef(const FunctionDef &node) {
  open(node.kind == StmtKind::AsyncFunctionDef ? "AsyncFunctionDef" : "FunctionDef");
  field("name", node.name);
  field("args", node.args);
  field("body", node.body);
  field("decorator_list", node.decoratorList);
  optional("returns", node.returns);
  optionalList("type_params", node.typeParams);
  close(node.range);
}

void Dumper::classDef(const ClassDef &node) {
  open("ClassDef");
  field("name", node.name);
  field("bases", node.bases);
  field("keywords", node.keywords);
  field("body", node.body);
  field("decorator_list", node.decoratorList);
  optionalList("type_params", node.typeParams);
  close(node.range);
}

void Dumper::stmt(const Stmt &node) {
  switch (node.kind) {
  case StmtKind::FunctionDef:
  case StmtKind::AsyncFunctionDef:
    return functionDef(static_cast<const FunctionDef &>(node));
  case StmtKind::ClassDef:
    return classDef(static_cast<const ClassDef &>(node));
  case StmtKind::Return:
    open("Return");
    optional("value", static_cast<const Return &>(node).value);
    break;
  case StmtKind::Delete:
    open("Delete");
    field("targets", static_cast<const Delete &>(node).targets);
    break;
  case StmtKind::Assign: {
    const auto &n = static_cast<const Assign &>(node);
    open("Assign");
    field("targets", n.targets);
    field("value", n.value);
    break;
  }
  case StmtKind::TypeAlias: {
    const auto &n = static_cast<const TypeAlias &>(node);
    open("TypeAlias");
    field("name", n.name);
    field("type_params", n.typeParams);
    field("value", n.value);
    break;
  }
  case StmtKind::AugAssign: {
    const auto &n = static_cast<const AugAssign &>(node);
    open("AugAssign");
    field("target", n.target);
    field("op", nameOf(n.op));
    field("value", n.value);
    break;
  }
  case StmtKind::AnnAssign: {
    const auto &n = static_cast<const AnnAssign &>(node);
    open("AnnAssign");
    field("target", n.target);
    field("annotation", n.annotation);
    optional("value", n.value);
    field("simple", int(n.simple));
    break;
  }
  case StmtKind::For:
  case StmtKind::AsyncFor: {
    const auto &n = static_cast<const For &>(node);
    open(node.kind == StmtKind::For ? "For" : "AsyncFor");
    field("target", n.target);
    field("iter", n.iter);
    field("body", n.body);
    field("orelse", n.orelse);
    break;
  }
  case StmtKind::While: {
    const auto &n = static_cast<const While &>(node);
    open("While");
    field("test", n.test);
    field("body", n.body);
    field("orelse", n.orelse);
    break;
  }
  case StmtKind::If: {
    const auto &n = static_cast<const If &>(node);
    open("If");
    field("test", n.test);
    field("body", n.body);
    field("orelse", n.orelse);
    break;
  }
  case StmtKind::With:
  case StmtKind::AsyncWith: {
    const auto &n = static_cast<const With &>(node);
    open(node.kind == StmtKind::With ? "With" : "AsyncWith");
    field("items", n.items);
    field("body", n.body);
    break;
  }
  case StmtKind::Match: {
    const auto &n = static_cast<const Match &>(node);
    open("Match");
    field("subject", n.subject);
    field("cases", n.cases);
    break;
  }
  case StmtKind::Raise: {
    const auto &n = static_cast<const Raise &>(node);
    open("Raise");
    optional("exc", n.exc);
    optional("cause", n.cause);
    break;
  }
  case StmtKind::Try:
  case StmtKind::TryStar: {
    const auto &n = static_cast<const Try &>(node);
    open(node.kind == StmtKind::Try ? "Try" : "TryStar");
    field("body", n.body);
    field("handlers", n.handlers);
    field("orelse", n.orelse);
    field("finalbody", n.finalbody);
    break;
  }
  case StmtKind::Assert: {
    const auto &n = static_cast<const Assert &>(node);
    open("Assert");
    field("test", n.test);
    optional("msg", n.msg);
    break;
  }
  case StmtKind::Import:
    open("Import");
    field("names", static_cast<const Import &>(node).names);
    break;
  case StmtKind::ImportFrom: {
    const auto &n = static_cast<const ImportFrom &>(node);
    open("ImportFrom");
    optional("module", n.module);
    field("names", n.names);
    field("level", n.level);
    break;
  }
  case StmtKind::Global:
    open("Global");
    field("names", static_cast<const Global &>(node).names);
    break;
  case StmtKind::Nonlocal:
    open("Nonlocal");
    field("names", static_cast<const Nonlocal &>(node).names);
    break;
  case StmtKind::Expr:
    open("Expr");
    field("value", static_cast<const ExprStmt &>(node).value);
    break;
  case StmtKind::Pass:
    open("Pass");
    break;
  case StmtKind::Break:
    open("Break");
    break;
  case StmtKind::Continue:
    open("Continue");
    break;
  }
  close(node.range);
}

void Dumper::pattern(const Pattern &node) {
  switch (node.kind) {
  case PatternKind::MatchValue:
    open("MatchValue");
    field("value", static_cast<const MatchValue &>(node).value);
    break;
  case PatternKind::MatchSingleton: {
    Constant singleton;
    singleton.type = static_cast<const MatchSingleton &>(node).value;
    open("MatchSingleton");
    key("value");
    constantValue(singleton);
    break;
  }
  case PatternKind::MatchSequence:
    open("MatchSequence");
    field("patterns", static_cast<const MatchSequence &>(node).patterns);
    break;
  case PatternKind::MatchMapping: {
    const auto &n = static_cast<const MatchMapping &>(node);
    open("MatchMapping");
    field("keys", n.keys);
    field("patterns", n.patterns);
    optional("rest", n.rest);
    break;
  }
  case PatternKind::MatchClass: {
    const auto &n = static_cast<const MatchClass &>(node);
    open("MatchClass");
    field("cls", n.cls);
    field("patterns", n.patterns);
    field("kwd_attrs", n.kwdAttrs);
    field("kwd_patterns", n.kwdPatterns);
    break;
  }
  case PatternKind::MatchStar:
    open("MatchStar");
    optional("name", static_cast<const MatchStar &>(node).name);
    break;
  case PatternKind::MatchAs: {
    const auto &n = static_cast<const MatchAs &>(node);
    open("MatchAs");
    optional("pattern", n.pattern);
    optional("name", n.name);
    break;
  }
  case PatternKind::MatchOr:
    open("MatchOr");
    field("patterns", static_cast<const MatchOr &>(node).patterns);
    break;
  }
  close(node.range);
}

} // namespace

std::string dump(const Module &module, DumpOptions options) {
  std::string out;
  Dumper(out, options).module(module);
  return out;
}

} // namespace pellucid::syntax
