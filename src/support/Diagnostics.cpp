// SPDX-License-Identifier: Apache-2.0
#include "support/Diagnostics.h"

#include "support/Printable.h"

namespace pellucid {

static const char *severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "error";
}

static std::string placePrefix(const SourceLocation &where) {
  std::string prefix = where.file ? where.file->path() : where.name;
  if (where.range.line)
    prefix += ":" + std::to_string(where.range.line) + ":" + std::to_string(where.range.column);
  return prefix.empty() ? prefix : prefix + ": ";
}

/// The source line and `^~~~` under the range; tabs are kept so that the caret lines up.
static std::string caretLines(const SourceLocation &where) {
  if (!where.file || !where.range.line)
    return {};
  std::string_view line = where.file->line(where.range.line);
  if (line.empty())
    return {};
  uint32_t first = where.range.column ? where.range.column - 1 : 0;
  uint32_t last = where.range.endLine == where.range.line ? where.range.endColumn : 0;
  std::string marks;
  for (uint32_t i = 0; i < first; ++i)
    marks += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  marks += '^';
  if (where.range.endLine > where.range.line)
    last = static_cast<uint32_t>(line.size()) + 1;
  for (uint32_t i = first + 1; i + 1 < last; ++i)
    marks += '~';
  return std::string(line) + "\n" + marks + "\n";
}

static void renderInto(std::string &out, const Diagnostic &d) {
  out += placePrefix(d.location) + severityName(d.severity) + ": " + d.message + "\n" +
         caretLines(d.location);
  for (const Diagnostic &note : d.notes)
    renderInto(out, note);
}

std::string render(const Diagnostic &diagnostic) {
  std::string out;
  renderInto(out, diagnostic);
  return printable(out); // names and source lines are the user's, or a stranger's
}

Diagnostic &Diagnostics::error(SourceLocation where, std::string message) {
  return list.emplace_back(Severity::Error, std::move(where), std::move(message));
}

Diagnostic &Diagnostics::warning(SourceLocation where, std::string message) {
  return list.emplace_back(Severity::Warning, std::move(where), std::move(message));
}

bool Diagnostics::hasErrors() const {
  for (const Diagnostic &d : list)
    if (d.severity == Severity::Error)
      return true;
  return false;
}

std::string Diagnostics::text() const {
  std::string out;
  for (const Diagnostic &d : list)
    renderInto(out, d);
  return printable(out);
}

} // namespace pellucid
