// SPDX-License-Identifier: Apache-2.0
#include "syntax/SourceEncoding.h"

#include "support/Diagnostics.h"
#include "syntax/Unicode.h"

#include <cstring>

namespace pellucid::syntax {
namespace {

enum class Encoding { Utf8, Ascii, Latin1 };

bool isCookieCharacter(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

/// The encoding named by a comment line such as `# -*- coding: latin-1 -*-`, or empty.
std::string_view cookieOf(std::string_view line) {
  size_t i = 0;
  while (i < line.size() && (line[i] == ' ' || line[i] == '\t' || line[i] == '\f'))
    ++i;
  if (i == line.size() || line[i] != '#')
    return {};
  for (size_t at = line.find("coding", i); at != line.npos; at = line.find("coding", at + 1)) {
    size_t begin = at + 6;
    if (begin >= line.size() || (line[begin] != ':' && line[begin] != '='))
      continue;
    ++begin;
    while (begin < line.size() && (line[begin] == ' ' || line[begin] == '\t'))
      ++begin;
    size_t end = begin;
    while (end < line.size() && isCookieCharacter(line[end]))
      ++end;
    if (end > begin)
      return line.substr(begin, end - begin);
  }
  return {};
}

bool isBlankOrComment(std::string_view line) {
  size_t first = line.find_first_not_of(" \t\f");
  return first == line.npos || line[first] == '#';
}

std::string normalizedEncodingName(std::string_view name) {
  std::string out;
  for (char c : name)
    out += c == '_' ? '-' : static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return out;
}

bool startsWithName(const std::string &name, std::string_view prefix) {
  return name == prefix || name.starts_with(std::string(prefix) + "-");
}

Encoding declaredEncoding(const std::shared_ptr<const SourceFile> &file, bool hasMark) {
  for (uint32_t number = 1; number <= 2; ++number) {
    std::string_view line = file->line(number);
    if (number == 1 && hasMark)
      line.remove_prefix(3);
    if (std::string_view cookie = cookieOf(line); !cookie.empty()) {
      std::string name = normalizedEncodingName(cookie);
      SourceRange range{number, 1, number, static_cast<uint32_t>(line.size()) + 1};
      if (startsWithName(name, "utf-8") || (name == "utf8" && !hasMark))
        return Encoding::Utf8;
      if (hasMark)
        throw DiagnosticError({file, range}, "encoding problem: " + name + " with BOM");
      if (name == "ascii" || name == "us-ascii")
        return Encoding::Ascii;
      if (startsWithName(name, "latin-1") || startsWithName(name, "iso-8859-1") ||
          name == "latin1" || startsWithName(name, "iso-latin-1") || name == "iso8859-1")
        return Encoding::Latin1;
      throw DiagnosticError({file, range}, "source encoding '" + std::string(cookie) +
                                               "' is not supported; save the file as UTF-8");
    }
    if (!isBlankOrComment(line))
      break;
  }
  return Encoding::Utf8;
}

SourceRange rangeAt(const SourceFile &file, size_t offset) {
  uint32_t line = 1;
  size_t lineStart = 0;
  const std::string &text = file.text();
  for (size_t i = 0; i < offset; ++i)
    if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n')) {
      ++line;
      lineStart = i + 1;
    }
  auto column = static_cast<uint32_t>(offset - lineStart) + 1;
  return {line, column, line, column + 1};
}

/// Offset of the first byte at or above 0x80, eight at a time.
size_t findNonAscii(const std::string &text) {
  size_t i = 0;
  for (uint64_t word; i + 8 <= text.size(); i += 8) {
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080ull)
      break;
  }
  while (i < text.size() && !(text[i] & 0x80))
    ++i;
  return i;
}

void checkUtf8(const std::shared_ptr<const SourceFile> &file, size_t from) {
  const std::string &text = file->text();
  for (size_t i = from; i < text.size();) {
    if (!(text[i] & 0x80)) {
      ++i;
      continue;
    }
    size_t length = 0;
    if (decodeUtf8(std::string_view(text).substr(i), length) == InvalidCodePoint) {
      char message[64];
      std::snprintf(message, sizeof message, "source is not valid UTF-8: byte 0x%02x",
                    static_cast<unsigned char>(text[i]));
      throw DiagnosticError({file, rangeAt(*file, i)}, message);
    }
    i += length;
  }
}

std::string fromLatin1(std::string_view text) {
  std::string out;
  for (char c : text)
    appendUtf8(out, static_cast<unsigned char>(c));
  return out;
}

} // namespace

std::shared_ptr<const SourceFile> decodeSource(std::shared_ptr<const SourceFile> file) {
  const std::string &text = file->text();
  if (text.size() >= UINT32_MAX)
    throw DiagnosticError(SourceLocation(file->path()), "source is larger than 4 GiB");
  if (const void *nul = std::memchr(text.data(), 0, text.size())) {
    size_t offset = static_cast<const char *>(nul) - text.data();
    throw DiagnosticError({file, rangeAt(*file, offset)}, "source code cannot contain null bytes");
  }
  bool hasMark = text.starts_with("\xEF\xBB\xBF");
  size_t nonAscii = findNonAscii(text);
  Encoding encoding = declaredEncoding(file, hasMark);
  if (nonAscii == text.size())
    return file;
  if (encoding == Encoding::Latin1)
    return std::make_shared<SourceFile>(file->path(), fromLatin1(text));
  if (encoding == Encoding::Ascii)
    throw DiagnosticError({file, rangeAt(*file, nonAscii)},
                          "non-ASCII character in a file declared as ASCII");
  checkUtf8(file, nonAscii);
  if (hasMark)
    return std::make_shared<SourceFile>(file->path(), text.substr(3));
  return file;
}

} // namespace pellucid::syntax
