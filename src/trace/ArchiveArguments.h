// SPDX-License-Identifier: Apache-2.0
/// What a node is given, as archives have it.
#pragma once

#include "graph/Schema.h"
#include "trace/ArchiveSizes.h"

#include <map>
#include <string>
#include <vector>

namespace pellucid::trace {

/// Layout.Strided
inline constexpr int archiveLayout = 7;

/// A device; where tensors are is for who loads the archive to say.
void printArchiveDevice(package::JsonWriter &json);

/// `{"name": "x"}`
void tensorNamed(package::JsonWriter &json, const std::string &name);
/// `{"as_tensor": {"name": "x"}}`
void tensorArgument(package::JsonWriter &json, const std::string &name);

class ArchiveArguments {
public:
  /// Names the values of `graph`.
  ArchiveArguments(const graph::Graph &graph, ArchiveSizes &sizes);

  const std::string &nameOf(const graph::Value *value) const { return names.at(value); }

  /// An Argument of the schema, by the type that an operator's schema gives it or, where that is
  /// null, by its value alone. Nodes that compute sizes go to `nodes`.
  void print(package::JsonWriter &json, const graph::SchemaType *type,
             const graph::Argument &argument, const SourceLocation &where,
             std::vector<std::string> &nodes);

private:
  void printSize(package::JsonWriter &json, const graph::Argument &argument,
                 const SourceLocation &where, std::vector<std::string> &nodes);
  void printElements(package::JsonWriter &json, const graph::SchemaType &type,
                     const graph::Argument::List &list, const SourceLocation &where,
                     std::vector<std::string> &nodes);

  ArchiveSizes &sizes;
  std::map<const graph::Value *, std::string> names;
};

} // namespace pellucid::trace
