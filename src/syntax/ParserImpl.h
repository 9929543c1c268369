// SPDX-License-Identifier: Apache-2.0
/// The recursive-descent parser behind Parser.h; only the Parse*.cpp, Targets.cpp and Parser.cpp
/// include it. Method names follow the rules of CPython's grammar (Grammar/python.gram).
#pragma once

#include "syntax/Ast.h"
#include "syntax/Lexer.h"

#include <string_view>

namespace pellucid::syntax {

inline constexpr const char *MeantComparison = " here. Maybe you meant '==' instead of '='?";

struct SourcePosition {
  uint32_t line, column;
};

class Parser {
public:
  Parser(std::shared_ptr<const SourceFile> file, const TokenList &list);

  List<Stmt> parseFile();
  Ptr<Expr> parseEval();

private:
  /// Counts one level of recursion and the height of the tree that grows inside it, so that neither
  /// parsing nor a consumer's recursion over the tree can overflow the stack.
  class Nesting {
  public:
    explicit Nesting(Parser &p);
    ~Nesting();

  private:
    Parser &parser;
    uint32_t heightBefore;
  };
  /// One more node on top of the tree under construction, made by a loop instead of recursion
  /// (`a.b.c`, `a + b + c`).
  void growTree();

  // Tokens (Parser.cpp).
  const Token &peek(size_t ahead = 0) const {
    size_t i = pos + ahead;
    return tokens[i < tokens.size() ? i : tokens.size() - 1];
  }
  TokenKind kind() const { return tokens[pos].kind; }
  bool at(TokenKind k) const { return kind() == k; }
  bool atName(std::string_view word) const { return at(TokenKind::Name) && textOf(peek()) == word; }
  const Token &advance();
  bool accept(TokenKind k);
  const Token &expect(TokenKind k, const char *message);
  const Token &expectClose(TokenKind k, SourcePosition elementStart);
  Identifier expectName();
  std::string_view textOf(const Token &token) const {
    return std::string_view(text).substr(token.begin, token.end - token.begin);
  }
  SourcePosition here() const { return {tokens[pos].range.line, tokens[pos].range.column}; }
  /// From `start` to the end of the last token read that is not a line end or an indentation.
  SourceRange rangeFrom(SourcePosition start) const;
  /// A T that covers everything read since `start`; made after its parts.
  template <typename T> Ptr<T> make(SourcePosition start) const {
    auto node = std::make_unique<T>();
    node->range = rangeFrom(start);
    return node;
  }
  static bool startsExpression(TokenKind k);
  bool atExpression() const { return startsExpression(kind()); }
  /// The bracket that closes the one at token `open`, or the end.
  size_t matchingBracket(size_t open) const;

  // Errors (Parser.cpp). A lexer error anywhere in the file takes precedence, as in CPython.
  [[noreturn]] void fail(const SourceRange &range, std::string message) const;
  [[noreturn]] void failHere(std::string message) const { fail(peek().range, std::move(message)); }
  [[noreturn]] void invalidSyntax() const;

  // Expressions (ParseExpressions.cpp).
  Ptr<Expr> parseStarExpressions();
  Ptr<Expr> parseStarExpression();
  Ptr<Expr> parseStarNamedExpression();
  Ptr<Expr> parseNamedExpression();
  Ptr<Expr> parseCondition();
  Ptr<Expr> parseExpression();
  Ptr<Expr> parseYieldOrStarExpressions();
  Ptr<Expr> parseYield();
  Ptr<Expr> parseStarred();
  Ptr<Expr> parseLambda();
  Ptr<Expr> parseConditional();
  Ptr<Expr> parseNestedDisjunction();
  Ptr<Expr> parseDisjunction();
  Ptr<Expr> parseConjunction();
  Ptr<Expr> parseInversion();
  Ptr<Expr> parseComparison();
  std::optional<CmpOperator> acceptComparisonOperator();
  Ptr<Expr> parseBitwiseOr();
  Ptr<Expr> parseBinary(int minPrecedence);
  Ptr<Expr> parseFactor();
  Ptr<Expr> parsePower();
  Ptr<Expr> parsePrimary();
  Ptr<Expr> parseTrailers(SourcePosition start, Ptr<Expr> primary);
  Ptr<Expr> parseTupleRest(SourcePosition start, Ptr<Expr> first,
                           Ptr<Expr> (Parser::*parseElement)());

  // Atoms, displays, calls, subscripts (ParseAtoms.cpp).
  Ptr<Expr> parseAtom();
  Ptr<Constant> parseNumber();
  Ptr<Constant> parseNamedConstant(Constant::Type type);
  Ptr<Expr> parseParenthesized();
  Ptr<Expr> parseListDisplay();
  Ptr<Expr> parseBraceDisplay();
  Ptr<Expr> parseDictRest(SourcePosition start, Ptr<Expr> key);
  Ptr<Expr> parseDictValue();
  Ptr<Expr> parseSetRest(SourcePosition start, Ptr<Expr> first);
  bool atComprehension() const { return at(TokenKind::KwFor) || at(TokenKind::KwAsync); }
  std::vector<Comprehension> parseComprehensions();
  void rejectUnpacking(const Expr &element) const;
  struct CallArguments {
    List<Expr> args;
    List<Keyword> keywords;
    bool hasUnpacking = false; ///< a `**mapping` among the keywords
  };
  /// After `(`, through `)`; `start` is the position of `(`.
  CallArguments parseCallArguments(SourcePosition start, bool allowGenerator);
  void rejectRepeatedKeywords(const List<Keyword> &keywords) const;
  void parseKeywordArgument(CallArguments &into);
  void parsePositionalArgument(CallArguments &into, SourcePosition open, bool allowGenerator);
  Ptr<Expr> parseSlices();
  Ptr<Expr> parseSlice();

  // Strings (ParseStrings.cpp).
  struct StringBuilder;
  Ptr<Expr> parseStrings();
  void parsePlainString(StringBuilder &into);
  void parseFString(StringBuilder &into);
  void parseFStringParts(StringBuilder &into, TokenKind end, bool raw, bool inSpec);
  void parseReplacementField(StringBuilder &into, bool raw);
  int parseConversion();
  Ptr<Expr> parseFormatSpec(bool unicodePrefix, bool raw, SourcePosition start);

  // Parameters (ParseParameters.cpp).
  enum class ParameterStyle { Def, Lambda };
  struct ParameterState;
  /// Up to but not including `close`.
  Arguments parseParameters(ParameterStyle style, TokenKind close);
  void parseStarParameter(ParameterState &state);
  void parseDoubleStarParameter(ParameterState &state);
  void parseOneParameter(ParameterState &state);
  void markPositionalOnly(ParameterState &state);
  Ptr<Arg> parseParameterName(ParameterState &state, bool allowStarAnnotation);
  List<TypeParam> parseTypeParams();

  // Assignment targets (Targets.cpp).
  /// Gives `target` and what it unpacks into the context, or fails with "cannot <verb> …".
  void setContext(Expr &target, ExprContext context, std::string_view suffix = {}) const;
  static std::string_view describe(const Expr &expr);
  /// Whether `expr = …` was more likely meant as a comparison.
  static bool suggestsComparison(const Expr &expr);
  [[noreturn]] void rejectAssignment(const Expr &expr) const;
  Ptr<Expr> parseForTargets();
  Ptr<Expr> parseStarTarget();
  Ptr<Expr> parseDeleteTarget();

  // Statements (ParseStatements.cpp).
  void parseStatement(List<Stmt> &into);
  void parseSimpleStatements(List<Stmt> &into);
  Ptr<Stmt> parseSimpleStatement();
  Ptr<Stmt> parseExpressionStatement();
  Ptr<Stmt> parseAssignment(SourcePosition start, Ptr<Expr> first);
  Ptr<Stmt> parseAnnotatedAssignment(SourcePosition start, Ptr<Expr> target, bool parenthesized);
  Ptr<Stmt> parseAugmentedAssignment(SourcePosition start, Ptr<Expr> target);
  [[noreturn]] void failAfterExpressionStatement(const Expr &expr);
  Ptr<Stmt> parseReturn();
  Ptr<Stmt> parseRaise();
  Ptr<Stmt> parseAssert();
  Ptr<Stmt> parseDelete();
  Ptr<Stmt> parseImport();
  Ptr<Stmt> parseImportFrom();
  std::vector<Alias> parseImportedNames();
  Alias parseAlias(bool dotted);
  Identifier parseDottedName();
  std::vector<Identifier> parseNameList();
  Ptr<Stmt> parseTypeAlias();
  bool atTypeAlias() const;

  // Compound statements (ParseCompoundStatements.cpp).
  Ptr<Stmt> parseCompoundStatement();
  List<Stmt> parseBlock(std::string_view owner, uint32_t ownerLine);
  Ptr<Stmt> parseIf();
  List<Stmt> parseElse(std::string_view owner);
  Ptr<Stmt> parseWhile();
  Ptr<Stmt> parseFor(SourcePosition start, bool isAsync);
  Ptr<Stmt> parseWith(SourcePosition start, bool isAsync);
  bool parseParenthesizedWithItems(std::vector<WithItem> &items);
  WithItem parseWithItem();
  Ptr<Stmt> parseTry();
  std::vector<ExceptHandler> parseHandlers(bool &star);
  ExceptHandler parseHandler(bool &star);
  Ptr<Stmt> parseDecorated();
  Ptr<Stmt> parseAsync();
  Ptr<Stmt> parseFunctionDef(SourcePosition start, List<Expr> decorators, bool isAsync);
  Ptr<Stmt> parseClassDef(List<Expr> decorators);

  // Match statements (ParsePatterns.cpp).
  bool atMatchStatement() const;
  Ptr<Stmt> parseMatch();
  Ptr<Expr> parseSubject();
  MatchCase parseCase();
  Ptr<Pattern> parseTopPattern();
  Ptr<Pattern> parseMaybeStarPattern();
  Ptr<Pattern> parsePattern();
  Ptr<Pattern> parseOrPattern();
  Ptr<Pattern> parseClosedPattern();
  Ptr<Pattern> parseNamePattern();
  Ptr<Pattern> parseGroupOrSequencePattern();
  Ptr<Pattern> parseMappingPattern();
  void parseMappingItem(MatchMapping &into);
  Ptr<Pattern> parseClassPattern(SourcePosition start, Ptr<Expr> cls);
  Ptr<Expr> parsePatternNumber();
  Ptr<Expr> parseSignedNumber();
  Ptr<Expr> parseNameOrAttribute();

  const std::shared_ptr<const SourceFile> file;
  const std::string &text;
  const std::vector<Token> &tokens;
  const std::optional<LexError> &lexError;
  size_t pos = 0;
  uint32_t depth = 0;  ///< levels of recursion
  uint32_t height = 0; ///< upper bound of the tree's height at this level
};

} // namespace pellucid::syntax
