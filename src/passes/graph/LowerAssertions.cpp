// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelWriter.h"
#include "passes/graph/LaunchEmitter.h"

namespace pellucid::passes {

using namespace graph;

/// The text between the quotes of a Python literal.
static std::string inQuotes(const std::string &text) {
  std::string out;
  for (char c : text)
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < ' ')
      out += ' ';
    else
      out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return out;
}

/// A launch of one program that has no results, so that nothing drops it.
void lowerAssertion(LaunchEmitter &emitter, Node &node) {
  auto call = callOf(node, emitter.registry, emitter.program.symbols);
  Value *self = call->value("self");
  bool hasWords = call->op.schema.indexOf("assert_msg").has_value();
  KernelWriter writer("assertion");
  std::string pointer = writer.pointer("in0");
  const Expr &offset = self->type().offset;
  writer.line("holds = tl.load(" + pointer + " + " + writer.scalar(offset) + ") != 0");
  writer.check("holds", inQuotes(hasWords ? call->string("assert_msg") : "assertion error"),
               node.location);
  emitter.program.main.setInsertionPoint(&node);
  emitter.emit(writer.finish(1, 1), {self}, std::vector<LaunchEmitter::Target>{}, node.location);
  emitter.replaceAll(node, std::vector<Value *>{});
}

} // namespace pellucid::passes
