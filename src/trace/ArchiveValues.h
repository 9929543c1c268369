// SPDX-License-Identifier: Apache-2.0
/// Parts of archives in the words of others: as values of the evaluator, and as texts for people.
#pragma once

#include "archive/Archive.h"
#include "host/Value.h"
#include "support/SourceFile.h"

#include <unordered_map>

namespace pellucid::trace {

/// Values of one graph by their names.
using ArchiveScope = std::unordered_map<std::string, host::Value>;

/// The argument as the evaluator has it; names are looked up in `scope`, symbolic integers also in
/// `graph`. Throws DiagnosticError for what has no counterpart.
host::Value hostValue(const archive::Argument &argument, const ArchiveScope &scope,
                      const archive::Graph &graph);

/// `aten.add.Tensor` of `torch.ops.aten.add.Tensor`; others as they are.
std::string targetOf(const archive::Node &node);

/// The operator's schema as far as a call shows it: `aten::add.Tensor(Tensor self, Tensor other)`.
std::string schemaText(const archive::Node &node);

/// The graphs of an archive as text, one node per line, to point into.
class ArchiveText {
public:
  explicit ArchiveText(const archive::Archive &archive);
  SourceLocation locate(const archive::Node &node) const;

private:
  void add(const archive::Graph &graph, const std::string &indent, std::string &text);
  uint32_t lines = 0;
  std::unordered_map<const archive::Node *, uint32_t> lineOf;
  std::shared_ptr<const SourceFile> file;
};

} // namespace pellucid::trace
