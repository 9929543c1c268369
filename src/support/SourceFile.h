// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid {

/// A text that diagnostics can point into. Immutable and shared; safe to read from many threads.
class SourceFile {
public:
  /// `path` is how the user typed it (or how an import found it); it is printed as is.
  SourceFile(std::string path, std::string text);

  /// Reads `path`; null when it cannot be read (errno says why).
  static std::shared_ptr<const SourceFile> open(const std::string &path);

  const std::string &path() const { return filePath; }
  const std::string &text() const { return fileText; }
  uint32_t lineCount() const { return static_cast<uint32_t>(lineStarts.size()); }

  /// Line `number` (from 1) without its end-of-line; empty beyond the last line.
  std::string_view line(uint32_t number) const;

private:
  std::string filePath, fileText;
  std::vector<uint32_t> lineStarts;
};

/// Where something stands in a text: lines from 1, columns from 1 in UTF-8 bytes, end exclusive.
/// Line 0: unknown.
struct SourceRange {
  uint32_t line = 0, column = 0;
  uint32_t endLine = 0, endColumn = 0;
};

/// A range together with its file. A null file with a non-empty `name` still prints (`name: error:
/// …`).
struct SourceLocation {
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
  std::string name;

  SourceLocation() = default;
  SourceLocation(std::shared_ptr<const SourceFile> f, SourceRange r)
      : file(std::move(f)), range(r) {}
  explicit SourceLocation(std::string n) : name(std::move(n)) {}
  bool known() const { return file || !name.empty(); }
};

} // namespace pellucid
