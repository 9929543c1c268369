// SPDX-License-Identifier: Apache-2.0
/// A launch's arguments by name, and what the decorators on top of the kernel make of them.
#pragma once

#include "host/Interpreter.h"

#include <map>
#include <memory>
#include <string>

namespace pellucid::trace {

struct BoundLaunch {
  const host::JitFunction *kernel = nullptr;
  std::map<std::string, host::Value> values;  ///< by parameter
  std::map<std::string, host::Value> options; ///< num_warps and the like
  std::shared_ptr<const host::Config> config; ///< the tuner's choice; null without one
  std::string origin;
};

class LaunchBinder {
public:
  /// Binds as a Python call does; refuses what does not fit at the call's line.
  LaunchBinder(host::Interpreter &interpreter, const host::Value &kernel,
               const host::CallArgs &args);

  const BoundLaunch &given() const { return launch; }
  const SourceLocation &location() const { return where; }
  /// True when a decorator runs functions that see the arguments.
  bool hasHooks() const;

  /// Autotuner and heuristics from the outside in, then defaults.
  BoundLaunch decorated(BoundLaunch start) const;
  /// What heuristics, pruning functions and grids are called with.
  host::Value asDict(const BoundLaunch &bound) const;
  [[noreturn]] void refuse(const std::string &message) const;

  /// The configs that pruning leaves, the first the one to take where nothing is timed.
  std::vector<host::Value> pruned(const host::Autotuner &tuner, const BoundLaunch &bound) const;
  /// Wherever pruning leaves it, this config is taken.
  void prefer(std::shared_ptr<const host::Config> config) { preferred = std::move(config); }
  /// This config of `tuner` is taken; nothing is pruned.
  void take(const host::Autotuner &tuner, std::shared_ptr<host::Config> config) {
    settled = &tuner;
    taken = std::move(config);
  }

private:
  void bind(const host::CallArgs &args);
  host::Value callHook(const host::Value &function, host::CallArgs call) const;
  void applyConfig(BoundLaunch &bound, std::shared_ptr<const host::Config> config) const;
  void checkOptions(const BoundLaunch &bound) const;
  [[noreturn]] void raiseMissing(const std::vector<std::string> &names) const;
  [[noreturn]] void fail(const char *exception, const std::string &tritons,
                         const std::string &ours) const;
  void refuseUnread(const BoundLaunch &bound, const host::UnreadDecorator &decorator) const;
  void applyHeuristics(BoundLaunch &bound, const host::Heuristics &heuristics) const;
  std::shared_ptr<const host::Config> chooseConfig(const host::Autotuner &tuner,
                                                   const BoundLaunch &bound) const;
  std::vector<host::Value> fastest(const host::Value &model, std::vector<host::Value> configs,
                                   const BoundLaunch &bound) const;

  host::Interpreter &interpreter;
  const host::Value &kernelValue;
  SourceLocation where;
  std::shared_ptr<host::JitFunction> kernel;
  size_t positionalCount = 0;
  BoundLaunch launch;
  std::shared_ptr<const host::Config> preferred; ///< null: the first
  const host::Autotuner *settled = nullptr;      ///< whose config is
  std::shared_ptr<host::Config> taken;           ///< this one
};

/// Names that a launch and a triton.Config may give beside the kernel's parameters.
bool isLaunchOption(const std::string &name);

} // namespace pellucid::trace
