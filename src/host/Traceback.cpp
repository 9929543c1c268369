// SPDX-License-Identifier: Apache-2.0
/// Where a script's exceptions come from, as Python prints it.
#include "host/InterpreterState.h"

#include <set>

namespace pellucid::host {

namespace {

/// Files that come with the evaluator lie nowhere; their lines are nobody's.
bool isOurs(const SourceLocation &where) {
  return !where.file || where.file->path().starts_with("<");
}

std::string lineText(const SourceLocation &where) {
  std::string_view line = where.file->line(where.range.line);
  size_t first = line.find_first_not_of(" \t\f");
  return first == line.npos ? "" : std::string(line.substr(first));
}

const Value *attribute(const Value &exception, std::string_view name) {
  auto *instance = exception.as<Instance>();
  return instance ? instance->attributes.find(name) : nullptr;
}

/// `module.Class: text`, as the last line of a traceback says it.
std::string summary(Interpreter &interpreter, const Value &exception) {
  auto *instance = exception.as<Instance>();
  if (!instance)
    return "";
  const std::string &module = instance->cls->module;
  bool isPlain = module.empty() || module == "builtins" || module == "__main__";
  std::string name = (isPlain ? "" : module + ".") + instance->cls->name, text;
  try {
    text = interpreter.str(exception);
  } catch (const DiagnosticError &) {
    text = "<exception str() failed>";
  }
  return text.empty() ? name : name + ": " + text;
}

void describe(Interpreter &interpreter, const Value &exception, std::string &out,
              std::set<const Object *> &seen) {
  if (!exception.isObject() || !seen.insert(exception.object().get()).second)
    return;
  const Value *cause = attribute(exception, "__cause__"),
              *context = attribute(exception, "__context__"),
              *suppressed = attribute(exception, "__suppress_context__");
  if (cause && !cause->isNone()) {
    describe(interpreter, *cause, out, seen);
    out += "\nThe above exception was the direct cause of the following exception:\n\n";
  } else if (context && !context->isNone() && !(suppressed && interpreter.truth(*suppressed)) &&
             !seen.count(context->object().get())) {
    describe(interpreter, *context, out, seen);
    out += "\nDuring handling of the above exception, another exception occurred:\n\n";
  }
  const Value *raised = attribute(exception, "__traceback__");
  if (auto *traceback = raised ? raised->as<Traceback>() : nullptr)
    out += "Traceback (most recent call last):\n" + toString(*traceback);
  out += summary(interpreter, exception) + "\n";
  if (const Value *notes = attribute(exception, "__notes__"); notes && notes->isList())
    for (const Value &note : notes->list())
      out += interpreter.str(note) + "\n";
}

} // namespace

std::string toString(const Traceback &traceback) {
  std::string out, last;
  size_t repeats = 0;
  auto endRepeats = [&] {
    if (repeats > 3)
      out += "  [Previous line repeated " + std::to_string(repeats - 3) + " more times]\n";
  };
  for (const Traceback::Entry &entry : traceback.entries) {
    if (entry.level < traceback.handledAt)
      continue;
    std::string text = "  File \"" + entry.where.file->path() + "\", line " +
                       std::to_string(entry.where.range.line) + ", in " + entry.function + "\n";
    if (std::string line = lineText(entry.where); !line.empty())
      text += "    " + line + "\n";
    if (text != last) {
      endRepeats();
      repeats = 0;
      last = text;
    }
    if (++repeats <= 3)
      out += text;
  }
  endRepeats();
  return out;
}

std::shared_ptr<Traceback> Interpreter::traceback() const {
  auto traceback = std::make_shared<Traceback>();
  const std::vector<Frame> &frames = impl->frames;
  for (size_t i = 0; i < frames.size(); ++i) {
    SourceLocation where = i + 1 < frames.size() ? frames[i + 1].callSite : location();
    if (isOurs(where))
      continue;
    const Function *function = frames[i].function;
    traceback->entries.push_back({where, function ? function->name : "<module>", i});
  }
  return traceback;
}

std::string Interpreter::tracebackText(const Value &exception) {
  std::string out;
  std::set<const Object *> seen;
  describe(*this, exception, out, seen);
  return out;
}

std::shared_ptr<Traceback> Interpreter::refusedAt() const { return impl->refusedAt; }

void noteHandled(Interpreter &interpreter, const Value &exception, bool isHandled) {
  const Value *raised = attribute(exception, "__traceback__");
  size_t frames = interpreter.state().frames.size();
  if (auto *traceback = raised ? raised->as<Traceback>() : nullptr)
    traceback->handledAt = isHandled && frames ? frames - 1 : 0;
}

void noteRaised(Interpreter &interpreter, const Value &exception) {
  auto *instance = exception.as<Instance>();
  Interpreter::State &state = interpreter.state();
  if (!instance || !state.options.script)
    return;
  const Value *before = instance->attributes.find("__traceback__");
  if (auto *traceback = before ? before->as<Traceback>() : nullptr)
    traceback->handledAt = 0;
  else
    instance->attributes.set("__traceback__", Value(interpreter.traceback()));
  if (!state.handling.empty() && !state.handling.back()->exception.isSame(exception) &&
      !instance->attributes.find("__context__"))
    instance->attributes.set("__context__", state.handling.back()->exception);
}

} // namespace pellucid::host
