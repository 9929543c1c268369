// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/SourceFile.h"

#include <optional>
#include <string>
#include <vector>

namespace pellucid::syntax {

// clang-format off
enum class TokenKind : uint8_t {
  EndMarker, Newline, Indent, Dedent, Error, Name, Number, String, FStringStart, FStringMiddle, FStringEnd,
  // Punctuation.
  LParen, RParen, LBracket, RBracket, LBrace, RBrace, Colon, Comma, Semicolon, Dot, Ellipsis, Arrow, Exclamation,
  ColonEqual, Equal, Tilde,
  // Binary operators, in the order of ast's Operator, then the augmented assignments in the same order.
  Plus, Minus, Star, At, Slash, Percent, DoubleStar, LeftShift, RightShift, Pipe, Caret, Ampersand, DoubleSlash,
  PlusEqual, MinusEqual, StarEqual, AtEqual, SlashEqual, PercentEqual, DoubleStarEqual, LeftShiftEqual,
  RightShiftEqual, PipeEqual, CaretEqual, AmpersandEqual, DoubleSlashEqual,
  // Comparisons.
  EqualEqual, NotEqual, Less, LessEqual, Greater, GreaterEqual,
  // Keywords, alphabetically.
  KwFalse, KwNone, KwTrue, KwAnd, KwAs, KwAssert, KwAsync, KwAwait, KwBreak, KwClass, KwContinue, KwDef, KwDel, KwElif,
  KwElse, KwExcept, KwFinally, KwFor, KwFrom, KwGlobal, KwIf, KwImport, KwIn, KwIs, KwLambda, KwNonlocal, KwNot, KwOr,
  KwPass, KwRaise, KwReturn, KwTry, KwWhile, KwWith, KwYield,
};
// clang-format on
inline constexpr size_t TokenKindCount = static_cast<size_t>(TokenKind::KwYield) + 1;

struct Token {
  SourceRange range;
  uint32_t begin = 0, end = 0; ///< byte offsets into the text
  TokenKind kind = TokenKind::EndMarker;
};

struct LexError {
  SourceRange range;
  std::string message;
  bool unclosedBracket =
      false; ///< the text ended inside a bracket; a parser error before it may say more
};

/// The tokens of a whole text, ended by EndMarker or, where the text cannot be split further, by
/// Error. Soft keywords are Names. An f-string is FStringStart, then FStringMiddle (literal text,
/// still escaped) and `{` … `}` with ordinary tokens between, then FStringEnd (PEP 701).
/// Identifiers are kept as written: NFKC normalization is not applied.
struct TokenList {
  std::vector<Token> tokens;
  std::optional<LexError> error;
};

TokenList tokenize(const SourceFile &file);

} // namespace pellucid::syntax
