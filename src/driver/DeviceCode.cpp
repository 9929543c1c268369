// SPDX-License-Identifier: Apache-2.0
#include "driver/DeviceCode.h"

#include "driver/KernelKey.h"
#include "driver/Worker.h"
#include "support/SideBySide.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace pellucid::driver {

namespace {

/// What a session may keep; a script that goes on making new kernels begins anew.
constexpr size_t mostBytes = size_t(256) << 20;

size_t bytesOf(const std::string &key, const CodegenKernelResult &kernel) {
  size_t bytes = key.size();
  for (const CodegenPtx &ptx : kernel.ptx)
    bytes += ptx.text.size();
  return bytes;
}

struct MissingKernel {
  std::string key;
  const CodegenJob *job;
  const CodegenKernel *kernel;
};

/// Once per code, those with the most text first, since they take longest.
std::vector<MissingKernel> missingOf(const std::vector<const CodegenJob *> &jobs,
                                     KeptWorkers &kept) {
  std::vector<MissingKernel> missing;
  std::unordered_set<std::string> found;
  for (const CodegenJob *job : jobs)
    for (const CodegenKernel &kernel : job->kernels) {
      std::string key = kernelKey(kernel, *job);
      bool isKnown = kept.ptx.count(key) || !found.insert(key).second;
      ++(isKnown ? kept.remembered : kept.made);
      if (!isKnown)
        missing.push_back({std::move(key), job, &kernel});
    }
  std::stable_sort(missing.begin(), missing.end(),
                   [](const MissingKernel &a, const MissingKernel &b) {
                     return a.kernel->ttir.size() > b.kernel->ttir.size();
                   });
  return missing;
}

std::vector<Worker *> workersFor(size_t kernels, const std::string &program, KeptWorkers &kept) {
  // A process takes longer to start than a small kernel.
  constexpr size_t mostWorkers = 16, leastKernels = 2;
  size_t count = std::min(threadsHere(mostWorkers), (kernels + leastKernels - 1) / leastKernels);
  std::vector<Worker *> workers;
  for (size_t i = 0; i < count; ++i) {
    std::unique_ptr<Worker> &worker = kept.workers["device " + std::to_string(i)];
    if (!worker)
      worker = std::make_unique<Worker>(program);
    worker->begin();
    workers.push_back(worker.get());
  }
  return workers;
}

} // namespace

RefusedKernels makeDeviceCode(const std::vector<const CodegenJob *> &jobs,
                              const std::string &program, KeptWorkers &kept) {
  if (kept.ptxBytes > mostBytes) {
    kept.ptx.clear();
    kept.ptxBytes = 0;
  }
  std::vector<MissingKernel> missing = missingOf(jobs, kept);
  std::vector<Worker *> workers = workersFor(missing.size(), program, kept);
  std::vector<CodegenResult> made(missing.size());
  std::vector<Diagnostics> said(missing.size());
  std::vector<char> tried(missing.size()); // no bool: threads write side by side
  // One at a time, so that a kernel that is refused takes no other with it.
  auto make = [&](size_t i, Worker &worker) {
    const MissingKernel &one = missing[i];
    CodegenJob job;
    job.target = one.job->target;
    job.fpContract = one.job->fpContract;
    job.exactTarget = one.job->exactTarget;
    job.remembersKernels = true;
    job.kernels = {*one.kernel};
    worker.start(job);
    if (!worker.wait(made[i], said[i]))
      made[i].kernels.clear();
    tried[i] = true;
  };
  sideBySide(missing.size(), workers.size(), [&](size_t i, size_t thread) {
    if (workers[thread]->isRunning())
      make(i, *workers[thread]);
  });
  // Processes that ended are started anew by this thread, which stays.
  for (size_t i = 0; i < missing.size(); ++i)
    if (!tried[i])
      make(i, *workers.front());
  RefusedKernels refused;
  for (size_t i = 0; i < missing.size(); ++i) {
    if (made[i].kernels.empty()) {
      refused.emplace(std::move(missing[i].key), std::move(said[i]));
      continue;
    }
    kept.ptxBytes += bytesOf(missing[i].key, made[i].kernels.front());
    kept.ptx[missing[i].key] = std::move(made[i].kernels.front());
  }
  return refused;
}

bool takeDeviceCode(const CodegenJob &job, const KeptWorkers &kept, const RefusedKernels &refused,
                    CodegenResult &result, Diagnostics &diagnostics) {
  bool ok = true;
  for (const CodegenKernel &wanted : job.kernels) {
    std::string key = kernelKey(wanted, job);
    if (auto why = refused.find(key); why != refused.end()) {
      for (const Diagnostic &one : why->second.all())
        diagnostics.add(one);
      ok = false;
      continue;
    }
    CodegenKernelResult kernel = kept.ptx.at(key);
    kernel.entry = std::exchange(kernel.symbol, wanted.symbol);
    result.kernels.push_back(std::move(kernel));
  }
  return ok;
}

} // namespace pellucid::driver
