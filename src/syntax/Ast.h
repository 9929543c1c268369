// SPDX-License-Identifier: Apache-2.0
/// The abstract syntax of Python 3.12, node for node and field for field as CPython's `ast` module
/// has it (Parser/Python.asdl), so that a reader who knows one knows the other. Trees are immutable
/// after parsing and may be read from many threads. Type comments are not kept.
#pragma once

#include "support/SourceFile.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::syntax {

template <typename T> using Ptr = std::unique_ptr<T>;
template <typename T> using List = std::vector<std::unique_ptr<T>>;
using Identifier = std::string;

struct Node {
  SourceRange range;
  virtual ~Node() = default;
};

enum class ExprKind : uint8_t {
  BoolOp,
  NamedExpr,
  BinOp,
  UnaryOp,
  Lambda,
  IfExp,
  Dict,
  Set,
  ListComp,
  SetComp,
  DictComp,
  GeneratorExp,
  Await,
  Yield,
  YieldFrom,
  Compare,
  Call,
  FormattedValue,
  JoinedStr,
  Constant,
  Attribute,
  Subscript,
  Starred,
  Name,
  List,
  Tuple,
  Slice,
};
enum class StmtKind : uint8_t {
  FunctionDef,
  AsyncFunctionDef,
  ClassDef,
  Return,
  Delete,
  Assign,
  TypeAlias,
  AugAssign,
  AnnAssign,
  For,
  AsyncFor,
  While,
  If,
  With,
  AsyncWith,
  Match,
  Raise,
  Try,
  TryStar,
  Assert,
  Import,
  ImportFrom,
  Global,
  Nonlocal,
  Expr,
  Pass,
  Break,
  Continue,
};
enum class PatternKind : uint8_t {
  MatchValue,
  MatchSingleton,
  MatchSequence,
  MatchMapping,
  MatchClass,
  MatchStar,
  MatchAs,
  MatchOr,
};
enum class BoolOperator : uint8_t { And, Or };
enum class Operator : uint8_t {
  Add,
  Sub,
  Mult,
  MatMult,
  Div,
  Mod,
  Pow,
  LShift,
  RShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv
};
enum class UnaryOperator : uint8_t { Invert, Not, UAdd, USub };
enum class CmpOperator : uint8_t { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
enum class ExprContext : uint8_t { Load, Store, Del };

struct Expr : Node {
  const ExprKind kind;
  explicit Expr(ExprKind k) : kind(k) {}
};
struct Stmt : Node {
  const StmtKind kind;
  explicit Stmt(StmtKind k) : kind(k) {}
};
struct Pattern : Node {
  const PatternKind kind;
  explicit Pattern(PatternKind k) : kind(k) {}
};

/// `if (auto *call = as<Call>(expr))`: the node as T, or null when it is another kind (or null).
template <typename T, typename Base> const T *as(const Base *node) {
  return node && node->kind == T::Kind ? static_cast<const T *>(node) : nullptr;
}

struct Keyword : Node {
  std::optional<Identifier> arg; ///< absent for `**value`
  Ptr<Expr> value;
};
struct Comprehension {
  Ptr<Expr> target, iter;
  List<Expr> ifs;
  bool isAsync = false;
};
struct Arg : Node {
  Identifier arg;
  Ptr<Expr> annotation; ///< may be null
};
struct Arguments {
  List<Arg> posonlyargs, args;
  Ptr<Arg> vararg; ///< may be null
  List<Arg> kwonlyargs;
  List<Expr> kwDefaults; ///< one per kwonlyarg; null where it has none
  Ptr<Arg> kwarg;        ///< may be null
  List<Expr> defaults;   ///< of the last positional parameters
};
struct Alias : Node {
  Identifier name;
  std::optional<Identifier> asname;
};
struct WithItem {
  Ptr<Expr> contextExpr, optionalVars; ///< optionalVars may be null
};
struct ExceptHandler : Node {
  Ptr<Expr> type; ///< may be null
  std::optional<Identifier> name;
  List<Stmt> body;
};
struct MatchCase {
  Ptr<Pattern> pattern;
  Ptr<Expr> guard; ///< may be null
  List<Stmt> body;
};
struct TypeParam : Node {
  enum class Form : uint8_t { TypeVar, ParamSpec, TypeVarTuple } form = Form::TypeVar;
  Identifier name;
  Ptr<Expr> bound; ///< TypeVar only; may be null
};

#define PELLUCID_EXPR(name)                                                                        \
  static constexpr ExprKind Kind = ExprKind::name;                                                 \
  name() : Expr(Kind) {}
#define PELLUCID_STMT(structName, kindName)                                                        \
  static constexpr StmtKind Kind = StmtKind::kindName;                                             \
  structName() : Stmt(Kind) {}
#define PELLUCID_PATTERN(name)                                                                     \
  static constexpr PatternKind Kind = PatternKind::name;                                           \
  name() : Pattern(Kind) {}

struct BoolOp : Expr {
  PELLUCID_EXPR(BoolOp) BoolOperator op {};
  List<Expr> values;
};
struct NamedExpr : Expr {
  PELLUCID_EXPR(NamedExpr) Ptr<Expr> target, value;
};
struct BinOp : Expr {
  PELLUCID_EXPR(BinOp) Ptr<Expr> left;
  Operator op{};
  Ptr<Expr> right;
};
struct UnaryOp : Expr {
  PELLUCID_EXPR(UnaryOp) UnaryOperator op {};
  Ptr<Expr> operand;
};
struct Lambda : Expr {
  PELLUCID_EXPR(Lambda) Arguments args;
  Ptr<Expr> body;
};
struct IfExp : Expr {
  PELLUCID_EXPR(IfExp) Ptr<Expr> test, body, orelse;
};
struct Dict : Expr {
  PELLUCID_EXPR(Dict) List<Expr> keys, values; /* a null key: **value */
};
struct Set : Expr {
  PELLUCID_EXPR(Set) List<Expr> elts;
};
struct ListComp : Expr {
  PELLUCID_EXPR(ListComp) Ptr<Expr> elt;
  std::vector<Comprehension> generators;
};
struct SetComp : Expr {
  PELLUCID_EXPR(SetComp) Ptr<Expr> elt;
  std::vector<Comprehension> generators;
};
struct DictComp : Expr {
  PELLUCID_EXPR(DictComp) Ptr<Expr> key, value;
  std::vector<Comprehension> generators;
};
struct GeneratorExp : Expr {
  PELLUCID_EXPR(GeneratorExp) Ptr<Expr> elt;
  std::vector<Comprehension> generators;
};
struct Await : Expr {
  PELLUCID_EXPR(Await) Ptr<Expr> value;
};
struct Yield : Expr {
  PELLUCID_EXPR(Yield) Ptr<Expr> value; /* may be null */
};
struct YieldFrom : Expr {
  PELLUCID_EXPR(YieldFrom) Ptr<Expr> value;
};
struct Compare : Expr {
  PELLUCID_EXPR(Compare) Ptr<Expr> left;
  std::vector<CmpOperator> ops;
  List<Expr> comparators;
};
struct Call : Expr {
  PELLUCID_EXPR(Call) Ptr<Expr> func;
  List<Expr> args;
  List<Keyword> keywords;
};
struct FormattedValue : Expr {
  PELLUCID_EXPR(FormattedValue)
  Ptr<Expr> value;
  int conversion = -1;  ///< -1, 's', 'r' or 'a'
  Ptr<Expr> formatSpec; ///< a JoinedStr, or null
};
struct JoinedStr : Expr {
  PELLUCID_EXPR(JoinedStr) List<Expr> values;
};

/// A literal. Integers beyond 64 bits are kept as decimal text.
struct Constant : Expr {
  PELLUCID_EXPR(Constant)
  enum class Type : uint8_t {
    None,
    True,
    False,
    Ellipsis,
    Int,
    BigInt,
    Float,
    Imaginary,
    String,
    Bytes
  } type{};
  int64_t intValue = 0;  ///< Int
  double floatValue = 0; ///< Float and Imaginary
  std::string
      text; ///< String (UTF-8, lone surrogates as WTF-8) and Bytes after escapes; BigInt in decimal
  bool unicodePrefix = false; ///< u"…"
};
struct Attribute : Expr {
  PELLUCID_EXPR(Attribute) Ptr<Expr> value;
  Identifier attr;
  ExprContext ctx{};
};
struct Subscript : Expr {
  PELLUCID_EXPR(Subscript) Ptr<Expr> value, slice;
  ExprContext ctx{};
};
struct Starred : Expr {
  PELLUCID_EXPR(Starred) Ptr<Expr> value;
  ExprContext ctx{};
};
struct Name : Expr {
  PELLUCID_EXPR(Name) Identifier id;
  ExprContext ctx{};
};
struct ListExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::List;
  ListExpr() : Expr(Kind) {}
  List<Expr> elts;
  ExprContext ctx{};
};
struct Tuple : Expr {
  PELLUCID_EXPR(Tuple) List<Expr> elts;
  ExprContext ctx{};
};
struct Slice : Expr {
  PELLUCID_EXPR(Slice) Ptr<Expr> lower, upper, step; /* each may be null */
};

/// `def` and `async def` share one struct; `kind` tells them apart.
struct FunctionDef : Stmt {
  explicit FunctionDef(bool isAsync = false)
      : Stmt(isAsync ? StmtKind::AsyncFunctionDef : StmtKind::FunctionDef) {}
  static constexpr StmtKind Kind = StmtKind::FunctionDef;
  Identifier name;
  Arguments args;
  List<Stmt> body;
  List<Expr> decoratorList;
  Ptr<Expr> returns; ///< may be null
  List<TypeParam> typeParams;
};
struct ClassDef : Stmt {
  PELLUCID_STMT(ClassDef, ClassDef)
  Identifier name;
  List<Expr> bases;
  List<Keyword> keywords;
  List<Stmt> body;
  List<Expr> decoratorList;
  List<TypeParam> typeParams;
};
struct Return : Stmt {
  PELLUCID_STMT(Return, Return) Ptr<Expr> value; /* may be null */
};
struct Delete : Stmt {
  PELLUCID_STMT(Delete, Delete) List<Expr> targets;
};
struct Assign : Stmt {
  PELLUCID_STMT(Assign, Assign) List<Expr> targets;
  Ptr<Expr> value;
};
struct TypeAlias : Stmt {
  PELLUCID_STMT(TypeAlias, TypeAlias) Ptr<Expr> name;
  List<TypeParam> typeParams;
  Ptr<Expr> value;
};
struct AugAssign : Stmt {
  PELLUCID_STMT(AugAssign, AugAssign) Ptr<Expr> target;
  Operator op{};
  Ptr<Expr> value;
};
struct AnnAssign : Stmt {
  PELLUCID_STMT(AnnAssign, AnnAssign)
  Ptr<Expr> target, annotation, value; ///< value may be null
  bool simple = false;
};
/// `for` and `async for`.
struct For : Stmt {
  explicit For(bool isAsync = false) : Stmt(isAsync ? StmtKind::AsyncFor : StmtKind::For) {}
  static constexpr StmtKind Kind = StmtKind::For;
  Ptr<Expr> target, iter;
  List<Stmt> body, orelse;
};
struct While : Stmt {
  PELLUCID_STMT(While, While) Ptr<Expr> test;
  List<Stmt> body, orelse;
};
struct If : Stmt {
  PELLUCID_STMT(If, If) Ptr<Expr> test;
  List<Stmt> body, orelse;
};
/// `with` and `async with`.
struct With : Stmt {
  explicit With(bool isAsync = false) : Stmt(isAsync ? StmtKind::AsyncWith : StmtKind::With) {}
  static constexpr StmtKind Kind = StmtKind::With;
  std::vector<WithItem> items;
  List<Stmt> body;
};
struct Match : Stmt {
  PELLUCID_STMT(Match, Match) Ptr<Expr> subject;
  std::vector<MatchCase> cases;
};
struct Raise : Stmt {
  PELLUCID_STMT(Raise, Raise) Ptr<Expr> exc, cause; /* each may be null */
};
/// `try … except` and `try … except*`.
struct Try : Stmt {
  explicit Try(bool star = false) : Stmt(star ? StmtKind::TryStar : StmtKind::Try) {}
  static constexpr StmtKind Kind = StmtKind::Try;
  List<Stmt> body;
  std::vector<ExceptHandler> handlers;
  List<Stmt> orelse, finalbody;
};
struct Assert : Stmt {
  PELLUCID_STMT(Assert, Assert) Ptr<Expr> test, msg; /* msg may be null */
};
struct Import : Stmt {
  PELLUCID_STMT(Import, Import) std::vector<Alias> names;
};
struct ImportFrom : Stmt {
  PELLUCID_STMT(ImportFrom, ImportFrom)
  std::optional<Identifier> module;
  std::vector<Alias> names; ///< one alias named "*" for a star import
  int level = 0;
};
struct Global : Stmt {
  PELLUCID_STMT(Global, Global) std::vector<Identifier> names;
};
struct Nonlocal : Stmt {
  PELLUCID_STMT(Nonlocal, Nonlocal) std::vector<Identifier> names;
};
struct ExprStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Expr;
  ExprStmt() : Stmt(Kind) {}
  Ptr<Expr> value;
};
struct Pass : Stmt {
  PELLUCID_STMT(Pass, Pass)
};
struct Break : Stmt {
  PELLUCID_STMT(Break, Break)
};
struct Continue : Stmt {
  PELLUCID_STMT(Continue, Continue)
};

struct MatchValue : Pattern {
  PELLUCID_PATTERN(MatchValue) Ptr<Expr> value;
};
struct MatchSingleton : Pattern {
  PELLUCID_PATTERN(MatchSingleton) Constant::Type value {};
};
struct MatchSequence : Pattern {
  PELLUCID_PATTERN(MatchSequence) List<Pattern> patterns;
};
struct MatchMapping : Pattern {
  PELLUCID_PATTERN(MatchMapping)
  List<Expr> keys;
  List<Pattern> patterns;
  std::optional<Identifier> rest;
};
struct MatchClass : Pattern {
  PELLUCID_PATTERN(MatchClass)
  Ptr<Expr> cls;
  List<Pattern> patterns;
  std::vector<Identifier> kwdAttrs;
  List<Pattern> kwdPatterns;
};
struct MatchStar : Pattern {
  PELLUCID_PATTERN(MatchStar) std::optional<Identifier> name;
};
struct MatchAs : Pattern {
  PELLUCID_PATTERN(MatchAs) Ptr<Pattern> pattern;
  std::optional<Identifier> name;
};
struct MatchOr : Pattern {
  PELLUCID_PATTERN(MatchOr) List<Pattern> patterns;
};

#undef PELLUCID_EXPR
#undef PELLUCID_STMT
#undef PELLUCID_PATTERN

/// A parsed file. Functions and kernels made from it keep it alive by holding the shared pointer.
struct Module {
  std::shared_ptr<const SourceFile> file;
  List<Stmt> body;

  SourceLocation locate(const Node &node) const { return {file, node.range}; }
};

} // namespace pellucid::syntax
