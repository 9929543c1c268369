// SPDX-License-Identifier: Apache-2.0
#include "driver/DeviceCode.h"

#include "driver/KernelKey.h"
#include "driver/Worker.h"

#include <algorithm>
#include <thread>

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

/// The kernels that nobody made yet, once per code, divided so that no share has much more text
/// than another.
std::vector<std::vector<size_t>> divided(const CodegenJob &job, std::vector<size_t> kernels) {
  constexpr size_t mostWorkers = 8, leastKernels = 2;
  size_t shares = std::min({std::max<size_t>(std::thread::hardware_concurrency(), 1), mostWorkers,
                            (kernels.size() + leastKernels - 1) / leastKernels});
  std::stable_sort(kernels.begin(), kernels.end(), [&](size_t a, size_t b) {
    return job.kernels[a].ttir.size() > job.kernels[b].ttir.size();
  });
  std::vector<std::vector<size_t>> out(shares);
  std::vector<size_t> text(shares, 0);
  for (size_t kernel : kernels) {
    auto least = static_cast<size_t>(std::min_element(text.begin(), text.end()) - text.begin());
    out[least].push_back(kernel);
    text[least] += job.kernels[kernel].ttir.size();
  }
  return out;
}

} // namespace

bool generateDeviceCode(const CodegenJob &job, const std::string &program, KeptWorkers &kept,
                        CodegenResult &result, Diagnostics &diagnostics) {
  if (kept.ptxBytes > mostBytes) {
    kept.ptx.clear();
    kept.ptxBytes = 0;
  }
  std::vector<std::string> keys;
  std::unordered_map<std::string, size_t> missing;
  std::vector<size_t> toMake;
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    keys.push_back(kernelKey(job.kernels[i], job));
    bool isKnown = kept.ptx.count(keys[i]) || !missing.emplace(keys[i], i).second;
    ++(isKnown ? kept.remembered : kept.made);
    if (!isKnown)
      toMake.push_back(i);
  }
  std::vector<std::vector<size_t>> shares = divided(job, std::move(toMake));
  std::vector<Worker *> workers;
  for (size_t i = 0; i < shares.size(); ++i) {
    CodegenJob share;
    share.target = job.target;
    share.fpContract = job.fpContract;
    share.remembersKernels = true;
    for (size_t kernel : shares[i])
      share.kernels.push_back(job.kernels[kernel]);
    std::unique_ptr<Worker> &worker = kept.workers[toString(job.target) + " " + std::to_string(i)];
    if (!worker)
      worker = std::make_unique<Worker>(program);
    worker->start(share);
    workers.push_back(worker.get());
  }
  bool ok = true;
  for (size_t i = 0; i < workers.size(); ++i) {
    CodegenResult made;
    if (!workers[i]->wait(made, diagnostics)) {
      ok = false;
      continue;
    }
    for (size_t k = 0; k < made.kernels.size(); ++k) {
      const std::string &key = keys[shares[i][k]];
      kept.ptxBytes += bytesOf(key, made.kernels[k]);
      kept.ptx[key] = std::move(made.kernels[k]);
    }
  }
  for (size_t i = 0; i < keys.size() && ok; ++i) {
    CodegenKernelResult kernel = kept.ptx.at(keys[i]);
    kernel.entry = std::exchange(kernel.symbol, job.kernels[i].symbol);
    result.kernels.push_back(std::move(kernel));
  }
  return ok;
}

} // namespace pellucid::driver
