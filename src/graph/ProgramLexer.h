// SPDX-License-Identifier: Apache-2.0
/// The words of a program's text (docs: ProgramText.h).
#pragma once

#include "support/Diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::graph {

enum class Token : uint8_t { End, NewLine, Name, Number, String, Expression, Value, Sign };

/// Line by line; line ends are tokens, because every statement is one line.
class ProgramLexer {
public:
  explicit ProgramLexer(std::shared_ptr<const SourceFile> source)
      : file(std::move(source)), text(file->text()) {
    next();
  }

  Token kind = Token::End;
  std::string content; ///< of a name, number, string, expression or value; the character of a sign

  [[noreturn]] void fail(const std::string &message) const {
    failAt(message, tokenLine, tokenColumn);
  }
  std::string describe() const;

  void next();
  /// From the current token to the matching `]`, split at its commas: the elements of `[a, Min(b,
  /// c)]`.
  std::vector<std::string_view> bracketed();
  /// The lines that begin with `|` or `!` after the current line end, joined.
  std::string block();

  SourceLocation here() const {
    return SourceLocation(file, {tokenLine, tokenColumn, tokenLine,
                                 tokenColumn + static_cast<uint32_t>(content.size())});
  }

private:
  [[noreturn]] void failAt(const std::string &message, uint32_t line, uint32_t column) const;
  void newLine();
  void name(Token token);
  void value();
  void number();
  void expression();
  void string(Token token);

  std::shared_ptr<const SourceFile> file;
  std::string_view text;
  size_t at = 0, lineStart = 0;
  uint32_t line = 1, tokenLine = 1, tokenColumn = 1;
};

} // namespace pellucid::graph
