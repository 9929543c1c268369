// SPDX-License-Identifier: Apache-2.0
/// Values are counted references, so a ring of them would stay for ever: a function among the names
/// that it reads, an instance that its own attribute holds.
#pragma once

#include <memory>
#include <vector>

namespace pellucid::host {

class Instance;
class Namespace;
struct Scope;

/// Finds rings by trial deletion, as CPython does: what is held only from within what it looks at
/// is garbage. It looks at scopes that functions hold, at instances, and at whatever is reached
/// from there; the young ones often, all of them when they have become a quarter more.
class CycleCollector {
public:
  void track(const std::shared_ptr<Scope> &scope) { youngScopes.push_back(scope); }
  void track(const std::shared_ptr<Instance> &instance) { youngInstances.push_back(instance); }
  bool isDue() const {
    return youngScopes.size() + youngInstances.size() >= limit && isEnabled && !isRunning;
  }
  /// What is due: the young ones, or all.
  void collect();
  /// Returns how many scopes, instances and containers went.
  size_t collectAll();
  /// The names of all scopes that are alive.
  std::vector<std::shared_ptr<Namespace>> names() const;
  bool isEnabled = true;

private:
  static constexpr size_t fewest = 256;
  std::vector<std::weak_ptr<Scope>> youngScopes, oldScopes;
  std::vector<std::weak_ptr<Instance>> youngInstances, oldInstances;
  size_t limit = fewest, sinceAll = 0;
  bool isRunning = false;
  size_t collectAmong(bool all);
};

} // namespace pellucid::host
