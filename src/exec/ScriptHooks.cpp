// SPDX-License-Identifier: Apache-2.0
#include "exec/ScriptHooks.h"

#include "exec/Programs.h"
#include "exec/ScriptTorch.h"
#include "host/Kernel.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace pellucid::exec {

namespace h = pellucid::host;

static eager::SessionOptions optionsOf(const ScriptRun &run, ScriptHooks &hooks) {
  eager::SessionOptions options;
  options.runsAhead = true;
  options.devices = run.devices;
  options.warn = [&hooks](Diagnostic warning) { hooks.warn(std::move(warning)); };
  return options;
}

ScriptHooks::ScriptHooks(const ScriptRun &r) : run(r), session(optionsOf(r, *this)) {
  // The script's bytes as they are: stdout and stderr of the other verbs make texts printable.
  int copy = ::dup(STDOUT_FILENO);
  out = copy < 0 ? nullptr : ::fdopen(copy, "w");
  const char *unbuffered = std::getenv("PYTHONUNBUFFERED");
  if (out && unbuffered && *unbuffered)
    std::setvbuf(out, nullptr, _IONBF, 0);
  else if (out)
    std::setvbuf(out, nullptr, ::isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
}

ScriptHooks::~ScriptHooks() {
  if (out)
    std::fclose(out);
}

void ScriptHooks::addModules(h::NativeModules &modules) {
  session.addModules(modules);
  addPrograms(modules, session, *this);
  addScriptTorch(modules, *this);
}
void ScriptHooks::begin(h::Interpreter &interpreter) { session.begin(interpreter); }
void ScriptHooks::finish() { session.finish(); }

bool ScriptHooks::merges(const symbolic::Expr &condition) {
  return session.hooks().merges(condition);
}

bool ScriptHooks::decide(h::Interpreter &interpreter, const symbolic::Expr &condition,
                         const SourceLocation &where) {
  return session.hooks().decide(interpreter, condition, where);
}

bool ScriptHooks::assertsLater(h::Interpreter &interpreter, const h::Value &test,
                               const std::function<std::string()> &message) {
  return session.hooks().assertsLater(interpreter, test, message);
}

/// The kernel's name, what describes its launches, the grid, and the arguments by name.
static h::Value observedLaunch(const h::Value &kernel, const h::Value &grid,
                               const h::CallArgs &args) {
  auto jit = h::innermostKernel(kernel);
  h::Dict given;
  for (size_t i = 0; i < std::min(args.positional.size(), jit->parameters.size()); ++i)
    given.set(h::Value(jit->parameters[i].name), args.positional[i]);
  for (const auto &[name, value] : args.keywords)
    given.set(h::Value(name), value);
  const h::Value *describes = jit->options.find("launch_metadata");
  return h::Value::tuple({h::Value(jit->name()), describes ? *describes : h::Value(), grid,
                          h::Value::dict(std::move(given))});
}

h::Value ScriptHooks::launch(h::Interpreter &interpreter, const h::Value &kernel,
                             const h::Value &grid, h::CallArgs args, bool wrapped) {
  if (launchObserver.isNone() || !session.recorder().isRecording())
    return session.hooks().launch(interpreter, kernel, grid, std::move(args), wrapped);
  h::Value ended = interpreter.call(launchObserver, {observedLaunch(kernel, grid, args)});
  h::Value result = session.hooks().launch(interpreter, kernel, grid, std::move(args), wrapped);
  interpreter.call(ended);
  return result;
}

h::Value ScriptHooks::callOperator(h::Interpreter &interpreter,
                                   const std::shared_ptr<h::Operator> &op, h::CallArgs args) {
  return session.hooks().callOperator(interpreter, op, std::move(args));
}

void ScriptHooks::settle(h::Interpreter &interpreter) { session.hooks().settle(interpreter); }

static double microsecondsNow() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

ScriptHooks::RegionScope::RegionScope(ScriptHooks &h, std::string n)
    : hooks(h), name(std::move(n)), begin(h.regions ? microsecondsNow() : 0) {}

ScriptHooks::RegionScope::~RegionScope() {
  if (hooks.regions && begin > 0)
    hooks.regions->push_back({std::move(name), begin, microsecondsNow() - begin});
}

void ScriptHooks::reset() {
  for (const auto &action : resets)
    action();
}

void ScriptHooks::output(std::string_view text) {
  if (silent) {
    silent->broken = true;
    return;
  }
  if (out && std::fwrite(text.data(), 1, text.size(), out) != text.size() && !outputError)
    outputError = errno;
}

void ScriptHooks::errorOutput(std::string_view text) {
  if (silent) {
    silent->broken = true;
    return;
  }
  flushOutput();
  while (!text.empty()) {
    ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void ScriptHooks::flushOutput() {
  if (out && std::fflush(out) != 0 && !outputError)
    outputError = errno;
}

void ScriptHooks::warn(Diagnostic warning) {
  if (silent)
    return;
  errorOutput(render(warning));
}

} // namespace pellucid::exec
