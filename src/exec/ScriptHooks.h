// SPDX-License-Identifier: Apache-2.0
/// What a script's evaluator asks of us: its output, and torch and Triton, which are there from the
/// first import of one of them on.
#pragma once

#include "eager/Session.h"
#include "exec/Script.h"

#include <cstdio>
#include <memory>

namespace pellucid::exec {

class ScriptHooks : public host::HostHooks {
public:
  explicit ScriptHooks(const ScriptRun &run);
  ~ScriptHooks() override;

  /// Before the interpreter is made, after it, and when the script has ended.
  void addModules(host::NativeModules &modules);
  void begin(host::Interpreter &interpreter);
  void finish();

  void output(std::string_view text) override;
  void errorOutput(std::string_view text) override;
  void flushOutput() override;
  /// Why some of what the script printed went nowhere; 0: it went out.
  int lostOutput() const { return outputError; }
  void warn(Diagnostic warning) override;

  bool merges(const symbolic::Expr &condition) override;
  bool decide(host::Interpreter &interpreter, const symbolic::Expr &condition,
              const SourceLocation &where) override;
  bool assertsLater(host::Interpreter &interpreter, const host::Value &test,
                    const std::function<std::string()> &message) override;
  host::Value launch(host::Interpreter &interpreter, const host::Value &kernel,
                     const host::Value &grid, host::CallArgs args, bool wrapped) override;
  void settle(host::Interpreter &interpreter) override;
  host::Value callOperator(host::Interpreter &interpreter,
                           const std::shared_ptr<host::Operator> &op, host::CallArgs args) override;

  /// torch._dynamo.reset() calls these.
  void onReset(std::function<void()> action) { resets.push_back(std::move(action)); }
  void reset();
  eager::Session &tensors() { return session; }

  /// Called with every launch's kernel, the function that describes it (`launch_metadata`), grid
  /// and arguments by name, while it is set; what it gives is called when the launch was made.
  host::Value launchObserver;

  /// What compiled programs did while a profile is taken, for its trace; nothing otherwise.
  struct Region {
    std::string name;
    double begin = 0, microseconds = 0; ///< of the steady clock, as the run time's events
  };
  std::optional<std::vector<Region>> regions;
  class RegionScope {
  public:
    RegionScope(ScriptHooks &hooks, std::string name);
    ~RegionScope();
    RegionScope(const RegionScope &) = delete;
    RegionScope &operator=(const RegionScope &) = delete;

  private:
    ScriptHooks &hooks;
    std::string name;
    double begin;
  };

  /// While it lives, what the script prints is dropped, and noted.
  class Silence {
  public:
    explicit Silence(ScriptHooks &h) : hooks(h), outer(h.silent) { hooks.silent = this; }
    ~Silence() { hooks.silent = outer; }
    Silence(const Silence &) = delete;
    Silence &operator=(const Silence &) = delete;
    bool wasBroken() const { return broken; }

  private:
    friend class ScriptHooks;
    ScriptHooks &hooks;
    Silence *outer;
    bool broken = false;
  };

private:
  ScriptRun run;
  Silence *silent = nullptr;
  std::vector<std::function<void()>> resets;
  eager::Session session;
  std::FILE *out;
  int outputError = 0;
};

} // namespace pellucid::exec
