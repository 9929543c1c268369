// SPDX-License-Identifier: Apache-2.0
#include "trace/ArchiveScalars.h"

#include <set>

namespace pellucid::trace {

using namespace graph;
using Kind = SchemaType::Kind;

bool takesNumbers(const Schema &schema) {
  static const std::set<std::string_view> names = {
      "add", "div", "divide", "mul", "multiply", "sub", "subtract", "true_divide", "floor_divide"};
  return names.count(schema.name) != 0;
}

bool isNumberForTensor(const SchemaType &type, const Argument &argument) {
  return type.kind == Kind::Tensor && !type.list && !argument.isNone() && !argument.value();
}

Schema withScalars(Schema schema, const Node &node, const OperatorRegistry &registry) {
  auto fits = [&](const Schema &other) {
    if (other.arguments.size() != schema.arguments.size())
      return false;
    for (size_t i = 0; i < node.args().size(); ++i) {
      bool isNumber = isNumberForTensor(schema.arguments[i].type, node.arg(i));
      if (other.arguments[i].name != schema.arguments[i].name ||
          (isNumber && other.arguments[i].type.kind != Kind::Scalar) ||
          (!isNumber && other.arguments[i].type != schema.arguments[i].type))
        return false;
    }
    return true;
  };
  for (const Operator *other : registry.overloads(schema.packet()))
    if (fits(other->schema))
      return other->schema;
  return schema;
}

} // namespace pellucid::trace
