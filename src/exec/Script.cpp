// SPDX-License-Identifier: Apache-2.0
#include "exec/Script.h"

#include "eager/Packages.h"
#include "exec/ScriptHooks.h"
#include "host/InterpreterState.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace pellucid::exec {

namespace h = pellucid::host;

namespace {

h::Interpreter *interrupted = nullptr;

/// Seconds of a clock that a signal handler may ask.
double secondsNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double firstInterrupt = 0;

/// Ctrl-C is the script's KeyboardInterrupt; one more before that was raised ends the process,
/// whatever it is busy with. Who sends it to the process and to its group, as `timeout` does, means
/// one.
extern "C" void onInterrupt(int) {
  constexpr double oneFor = 0.5;
  double now = secondsNow();
  if (interrupted && interrupted->interrupt()) {
    firstInterrupt = now;
    return;
  }
  if (interrupted && now - firstInterrupt < oneFor)
    return;
  std::signal(SIGINT, SIG_DFL);
  ::kill(::getpid(), SIGINT);
}

/// While it lives, Ctrl-C is the script's.
class InterruptScope {
public:
  explicit InterruptScope(h::Interpreter &interpreter) {
    interrupted = &interpreter;
    previous = std::signal(SIGINT, onInterrupt);
    if (previous == SIG_IGN) // as under nohup
      std::signal(SIGINT, SIG_IGN);
  }
  ~InterruptScope() {
    std::signal(SIGINT, previous);
    interrupted = nullptr;
  }
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

private:
  void (*previous)(int);
};

/// `file:line:col: error: …` with the line and a caret, at the innermost place that is the user's.
std::string placeText(Diagnostic diagnostic, const h::Traceback *traceback) {
  const SourceLocation &where = diagnostic.location;
  bool isOurs = !where.file || where.file->path().starts_with("<");
  if (isOurs && traceback && !traceback->entries.empty())
    diagnostic.location = traceback->entries.back().where;
  if (traceback)
    diagnostic.notes.clear(); // the calls are in the traceback
  return render(diagnostic);
}

class Runner {
public:
  explicit Runner(const ScriptRun &r) : run(r), hooks(r) {}

  int toTheEnd() {
    h::InterpreterOptions options;
    options.hooks = &hooks;
    options.maxDepth = 1000;
    options.maxSteps = UINT64_MAX / 2;
    options.maxBytes = UINT64_MAX / 2;
    options.script.emplace();
    options.script->arguments = run.arguments;
    options.script->arguments.insert(options.script->arguments.begin(), run.path);
    eager::guardScripts(run.guard);
    hooks.addModules(options.modules);
    h::Interpreter interpreter(std::move(options));
    hooks.begin(interpreter);
    InterruptScope interrupts(interpreter);
    std::function<void(std::string_view)> print = [&](std::string_view line) {
      hooks.output(std::string(line) + "\n");
    };
    eager::PrintScope printing(print);
    int code = guarded(interpreter, [&] { interpreter.runScript(run.path); });
    int atEnd = isInterrupted ? code : guarded(interpreter, [&] {
      if (auto atexit = interpreter.loadedModule("atexit"))
        interpreter.call(interpreter.getAttr(h::Value(atexit), "run_all"));
      hooks.finish();
    });
    hooks.flushOutput();
    if (run.reports)
      hooks.errorOutput("exec: " + hooks.tensors().report() + "\n");
    if (isInterrupted)
      return endInterrupted();
    return code ? code : atEnd ? atEnd : codeOfOutput();
  }

private:
  const ScriptRun &run;
  ScriptHooks hooks;
  bool isInterrupted = false;

  /// Python's own code where the last of what was printed could not be written.
  int codeOfOutput() {
    if (!hooks.lostOutput())
      return 0;
    hooks.errorOutput(std::string("standard output: error: cannot be written: ") +
                      std::strerror(hooks.lostOutput()) + "\n");
    return 120;
  }

  /// What a script leaves by, as an exit code.
  template <typename Body> int guarded(h::Interpreter &interpreter, const Body &body) {
    try {
      body();
      return 0;
    } catch (const h::RaisedError &error) {
      return uncaught(interpreter, error);
    } catch (const h::Interrupted &) {
      isInterrupted = true;
      return 130;
    } catch (const DiagnosticError &error) {
      hooks.flushOutput();
      auto traceback = interpreter.refusedAt();
      std::string text;
      if (traceback && !traceback->entries.empty())
        text = "Traceback (most recent call last):\n" + toString(*traceback);
      hooks.errorOutput(text + placeText(error.diagnostic, traceback.get()));
      return 1;
    }
  }

  int uncaught(h::Interpreter &interpreter, const h::RaisedError &error) {
    hooks.flushOutput();
    auto is = [&](const char *name) {
      return interpreter.isInstance(error.exception, h::Value(interpreter.builtinClass(name)));
    };
    if (is("SystemExit"))
      return exitCode(interpreter, error.exception);
    auto *instance = error.exception.as<h::Instance>();
    const h::Value *raised = instance ? instance->attributes.find("__traceback__") : nullptr;
    hooks.errorOutput(interpreter.tracebackText(error.exception));
    if (is("KeyboardInterrupt")) {
      isInterrupted = true;
      return 130;
    }
    hooks.errorOutput(placeText(error.diagnostic, raised ? raised->as<h::Traceback>() : nullptr));
    return 1;
  }

  /// sys.exit(): a number, nothing, or a text for standard error.
  int exitCode(h::Interpreter &interpreter, const h::Value &exit) {
    h::Value code = interpreter.findAttr(exit, "code").value_or(h::Value());
    if (code.isNone())
      return 0;
    if (code.isBool())
      return code.boolean();
    if (code.isInt())
      return static_cast<int>(static_cast<uint8_t>(code.integer()));
    hooks.errorOutput(interpreter.str(code) + "\n");
    return 1;
  }

  /// As Python ends: by the signal itself, so that a shell's loop ends too.
  int endInterrupted() {
    hooks.flushOutput();
    std::signal(SIGINT, SIG_DFL);
    ::kill(::getpid(), SIGINT);
    return 130;
  }
};

} // namespace

int runScript(const ScriptRun &run) { return Runner(run).toTheEnd(); }

} // namespace pellucid::exec
