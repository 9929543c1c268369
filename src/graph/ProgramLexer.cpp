// SPDX-License-Identifier: Apache-2.0
#include "graph/ProgramLexer.h"

namespace pellucid::graph {

void ProgramLexer::failAt(const std::string &message, uint32_t line, uint32_t column) const {
  throw DiagnosticError(SourceLocation(file, {line, column, line, column + 1}), message);
}

std::string ProgramLexer::describe() const {
  switch (kind) {
  case Token::End:
    return "the end of the file";
  case Token::NewLine:
    return "the end of the line";
  default:
    return "'" + content + "'";
  }
}

void ProgramLexer::next() {
  while (at < text.size() && text[at] == ' ')
    ++at;
  tokenLine = line;
  tokenColumn = static_cast<uint32_t>(at - lineStart + 1);
  content.clear();
  if (at >= text.size()) {
    kind = Token::End;
    return;
  }
  char c = text[at];
  if (c == '\n')
    return newLine();
  if (c == '"')
    return string(Token::String);
  if (c == '`')
    return expression();
  if (c == '%')
    return value();
  if (std::isdigit(static_cast<unsigned char>(c)) ||
      (c == '-' && at + 1 < text.size() && text[at + 1] != '>'))
    return number();
  if (std::isalpha(static_cast<unsigned char>(c)) || c == '_')
    return name(Token::Name);
  kind = Token::Sign;
  content = c;
  ++at;
}

std::vector<std::string_view> ProgramLexer::bracketed() {
  if (kind != Token::Sign || content != "[")
    fail("expected '[', found " + describe());
  std::vector<std::string_view> parts;
  size_t start = at;
  for (int depth = 0; at < text.size() && text[at] != '\n'; ++at) {
    char c = text[at];
    if (c == '(')
      ++depth;
    else if (c == ')')
      --depth;
    else if ((c == ',' && depth == 0) || c == ']') {
      std::string_view part = text.substr(start, at - start);
      part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
      if (c == ',' || !part.empty() || !parts.empty())
        parts.push_back(part);
      start = at + 1;
      if (c == ']') {
        ++at;
        next();
        return parts;
      }
    }
  }
  fail("expected ']' before the end of the line");
}

std::string ProgramLexer::block() {
  if (kind != Token::NewLine)
    fail("expected the end of the line, found " + describe());
  std::string out;
  while (at < text.size()) {
    size_t mark = text.find_first_not_of(' ', at);
    if (mark == std::string_view::npos || (text[mark] != '|' && text[mark] != '!'))
      break;
    size_t end = std::min(text.find('\n', mark), text.size());
    out += text.substr(mark + 1, end - mark - 1);
    if (text[mark] == '|')
      out += '\n';
    at = std::min(end + 1, text.size());
    ++line;
    lineStart = at;
  }
  next();
  return out;
}

void ProgramLexer::newLine() {
  kind = Token::NewLine;
  ++at;
  ++line;
  lineStart = at;
}

void ProgramLexer::name(Token token) {
  kind = token;
  size_t start = at;
  while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                              text[at] == '_' || (text[at] == '.' && text.substr(at, 2) != "..")))
    ++at;
  content = text.substr(start, at - start);
}

void ProgramLexer::value() {
  ++at;
  if (at < text.size() && text[at] == '"')
    return string(Token::Value);
  name(Token::Value);
  if (content.empty())
    fail("expected the name of a value after '%'");
}

void ProgramLexer::number() {
  kind = Token::Number;
  size_t start = at++;
  while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                              (text[at] == '.' && text.substr(at, 2) != "..") ||
                              ((text[at] == '-' || text[at] == '+') && text[at - 1] == 'e')))
    ++at;
  content = text.substr(start, at - start);
}

void ProgramLexer::expression() {
  kind = Token::Expression;
  size_t end = text.find_first_of("`\n", at + 1);
  if (end == std::string_view::npos || text[end] == '\n')
    fail("expected '`' at the end of the expression");
  content = text.substr(at + 1, end - at - 1);
  at = end + 1;
}

static int hexDigit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void ProgramLexer::string(Token token) {
  kind = token;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
    if (text[at] != '\\') {
      content += text[at];
      continue;
    }
    char c = ++at < text.size() ? text[at] : '\0';
    int high = at + 2 < text.size() ? hexDigit(text[at + 1]) : -1,
        low = high < 0 ? -1 : hexDigit(text[at + 2]);
    if (c == 'n')
      content += '\n';
    else if (c == '"' || c == '\\')
      content += c;
    else if (c == 'x' && low >= 0) {
      content += static_cast<char>(high << 4 | low);
      at += 2;
    } else
      failAt("unknown escape in a string", line, static_cast<uint32_t>(at - lineStart + 1));
  }
  if (at >= text.size() || text[at] != '"')
    fail("expected '\"' at the end of the string");
  ++at;
}

} // namespace pellucid::graph
