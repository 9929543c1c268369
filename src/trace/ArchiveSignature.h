// SPDX-License-Identifier: Apache-2.0
/// What an archive says of a program beside its graph: what inputs and results are, how it is
/// called, and which sizes it takes.
#pragma once

#include "trace/ArchiveArguments.h"

namespace pellucid::trace {

class ArchiveSignature {
public:
  ArchiveSignature(const graph::Program &p, ArchiveArguments &a, const ArchiveSizes &s)
      : program(p), arguments(a), sizes(s) {}

  void printSignature(package::JsonWriter &json, std::vector<std::string> &nodes);
  void printCallGraph(package::JsonWriter &json) const;
  void printRanges(package::JsonWriter &json) const;
  void printGuards(package::JsonWriter &json) const;

private:
  void printInputSpec(package::JsonWriter &json, const graph::Node &placeholder,
                      const graph::InputSpec &spec, std::vector<std::string> &nodes);
  std::string inputNamed(const std::string &name) const;
  bool isParameter(const std::string &name) const;

  const graph::Program &program;
  ArchiveArguments &arguments;
  const ArchiveSizes &sizes;
};

} // namespace pellucid::trace
