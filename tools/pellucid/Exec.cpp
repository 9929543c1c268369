// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"
#include "eager/Session.h"

#include <cstdio>

namespace pellucid::cli {

namespace {

class ScriptHooks : public host::HostHooks {
public:
  explicit ScriptHooks(trace::TraceHooks &t) : tensors(t) {}
  bool decide(host::Interpreter &interpreter, const symbolic::Expr &condition,
              const SourceLocation &where) override {
    return tensors.decide(interpreter, condition, where);
  }
  bool merges(const symbolic::Expr &condition) override { return tensors.merges(condition); }
  bool assumes(host::Interpreter &interpreter, const host::Value &test) override {
    return tensors.assumes(interpreter, test);
  }
  host::Value launch(host::Interpreter &interpreter, const host::Value &kernel,
                     const host::Value &grid, host::CallArgs args, bool wrapped) override {
    return tensors.launch(interpreter, kernel, grid, std::move(args), wrapped);
  }
  host::Value callOperator(host::Interpreter &interpreter,
                           const std::shared_ptr<host::Operator> &op,
                           host::CallArgs args) override {
    return tensors.callOperator(interpreter, op, std::move(args));
  }
  void output(std::string_view text) override { std::fwrite(text.data(), 1, text.size(), stdout); }
  void warn(Diagnostic warning) override { std::fputs(render(warning).c_str(), stderr); }

private:
  trace::TraceHooks &tensors;
};

} // namespace

int runExec(Words words) {
  if (words.count == 0)
    return refuse("exec", "needs a script");
  eager::Session session;
  ScriptHooks hooks(session.hooks());
  host::InterpreterOptions options;
  options.hooks = &hooks;
  options.maxSteps = UINT64_MAX / 4;
  session.addModules(options.modules);
  host::Interpreter interpreter(std::move(options));
  session.begin(interpreter);
  interpreter.importFile(words.values[0]);
  session.finish();
  return Ok;
}

} // namespace pellucid::cli
