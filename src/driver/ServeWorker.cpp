// SPDX-License-Identifier: Apache-2.0
#include "driver/KernelMemory.h"
#include "driver/Worker.h"
#include "driver/WorkerProtocol.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace pellucid::driver {

namespace {
/// The way to the compiler, with a sign of life every second.
class Channel {
public:
  explicit Channel(int output) : output(output), heart([this] { beat(); }) {}
  ~Channel() {
    {
      std::lock_guard guard(lock);
      isClosing = true;
    }
    closing.notify_one();
    heart.join();
  }
  bool send(FrameTag tag, const std::string &payload) {
    std::lock_guard guard(lock);
    return writeFrame(output, tag, payload);
  }

private:
  int output;
  bool isClosing = false;
  std::mutex lock;
  std::condition_variable closing;
  std::thread heart;

  void beat() {
    std::unique_lock guard(lock);
    while (!closing.wait_for(guard, std::chrono::seconds(1), [this] { return isClosing; }))
      writeFrame(output, FrameTag::Alive, "");
  }
};
} // namespace

/// Answers one job; false when nobody hears it.
static bool serveJob(const CodegenJob &job, int output, KernelMemory &memory) {
  CodegenResult result;
  Diagnostics diagnostics;
  Channel channel(output);
  auto announce = [](void *where, const std::string &symbol) {
    static_cast<Channel *>(where)->send(FrameTag::Kernel, symbol);
  };
  bool ok = runCodegenJob(job, result, diagnostics, announce, &channel,
                          job.remembersKernels ? &memory : nullptr);
  if (!ok && !diagnostics.hasErrors())
    diagnostics.error(SourceLocation("code generation"), "failed without saying why");
  return ok ? channel.send(FrameTag::Result, encodeResult(result))
            : channel.send(FrameTag::Error, encodeDiagnostics(diagnostics));
}

int serveWorker(int input, int output) {
  KernelMemory memory;
  FrameTag tag;
  std::string payload;
  for (size_t jobs = 0;; ++jobs) {
    FrameStatus read = readFrame(input, tag, payload);
    // Whoever asked has gone or has no more to ask.
    if (read == FrameStatus::Ended && jobs > 0)
      return 0;
    auto job =
        read == FrameStatus::Whole && tag == FrameTag::Job ? decodeJob(payload) : std::nullopt;
    if (!job || !serveJob(*job, output, memory))
      return 2;
  }
}

} // namespace pellucid::driver
