// SPDX-License-Identifier: Apache-2.0
#include "runtime/CudaModules.h"

#include "support/SideBySide.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace pellucid::runtime {

// CUjit_option
static constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;

CudaModule::~CudaModule() {
  if (!handle)
    return;
  cuda::CurrentContext current(driver, context);
  driver.moduleUnload(handle);
}

namespace {

/// The modules of this process that somebody holds.
class LoadedModules {
public:
  /// Never destroyed: packages may go at the process's end.
  static LoadedModules &get() {
    static auto *loaded = new LoadedModules;
    return *loaded;
  }

  std::shared_ptr<CudaModule> find(const std::string &key) {
    std::lock_guard lock(mutex);
    auto known = modules.find(key);
    return known == modules.end() ? nullptr : known->second.lock();
  }

  void add(std::string key, const std::shared_ptr<CudaModule> &module) {
    std::lock_guard lock(mutex);
    if (modules.size() >= nextSweep) {
      std::erase_if(modules, [](const auto &entry) { return entry.second.expired(); });
      nextSweep = std::max<size_t>(leastSweep, 2 * modules.size());
    }
    modules[std::move(key)] = module;
  }

private:
  static constexpr size_t leastSweep = 64;
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<CudaModule>> modules;
  size_t nextSweep = leastSweep; ///< entries without a module go when there are so many
};

std::string keyOf(cuda::Context context, const WantedModule &wanted) {
  return std::to_string(reinterpret_cast<uintptr_t>(context)) + " " +
         std::to_string(wanted.sharedBytes) + "\n" + std::string(wanted.text);
}

Result loadRecord(const cuda::Driver &driver, cuda::Context context, WantedModule &wanted) {
  cuda::CurrentContext current(driver, context);
  // PTX is text that must end in a NUL.
  std::string image(wanted.text);
  char log[4096] = "";
  int names[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  auto module = std::make_shared<CudaModule>(driver, context);
  cuda::Code code = driver.moduleLoadDataEx(&module->handle, image.data(), 2, names, values);
  if (code != 0) {
    module->handle = nullptr;
    return driver.check(code, "load record '" + wanted.record + "'" +
                                  (log[0] ? " (" + std::string(log) + ")" : ""));
  }
  wanted.module = std::move(module);
  return {};
}

} // namespace

Result loadModules(const cuda::Driver &driver, cuda::Context context,
                   std::vector<WantedModule> &wanted) {
  std::unordered_map<std::string, size_t> first;
  std::vector<std::string> keys;
  std::vector<size_t> missing;
  for (size_t i = 0; i < wanted.size(); ++i) {
    keys.push_back(keyOf(context, wanted[i]));
    wanted[i].module = LoadedModules::get().find(keys[i]);
    if (first.emplace(keys[i], i).second && !wanted[i].module)
      missing.push_back(i);
  }
  std::vector<Result> results(missing.size());
  constexpr size_t mostThreads = 8;
  sideBySide(missing.size(), threadsHere(mostThreads), [&](size_t i, size_t) {
    results[i] = loadRecord(driver, context, wanted[missing[i]]);
  });
  for (Result &result : results)
    if (!result.ok())
      return std::move(result);
  for (size_t i : missing)
    LoadedModules::get().add(keys[i], wanted[i].module);
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!wanted[i].module)
      wanted[i].module = wanted[first.at(keys[i])].module;
  return {};
}

} // namespace pellucid::runtime
