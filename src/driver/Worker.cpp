// SPDX-License-Identifier: Apache-2.0
#include "driver/Worker.h"

#include "driver/WorkerProtocol.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace pellucid::driver {

struct Worker::State {
  std::string program, startError, current;
  Target target;
  pid_t process = -1;
  int toWorker = -1, fromWorker = -1, secondsOfSilence = 0;
  bool stays = false; ///< for further jobs
  std::thread sender;

  void end();
};

namespace {

/// Far more than any kernel took; an endless loop of the code generator ends here.
constexpr std::chrono::seconds secondsPerKernel(600);

/// Closes `descriptor` and forgets it.
void closeOnce(int &descriptor) {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

std::string describeEnd(int status) {
  if (WIFSIGNALED(status))
    return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
           strsignal(WTERMSIG(status)) + ")";
  return "ended with exit code " + std::to_string(WEXITSTATUS(status)) + " without a result";
}

/// Starts the process with its standard input and output on two pipes.
std::string spawnWorker(const std::string &program, pid_t &process, int &toWorker,
                        int &fromWorker) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0)
    return std::strerror(errno);
  if (::pipe2(out, O_CLOEXEC) != 0) {
    int error = errno;
    ::close(in[0]);
    ::close(in[1]);
    return std::strerror(error);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  char *arguments[] = {const_cast<char *>(program.c_str()), nullptr};
  // Ctrl-C goes to every process of the terminal: what it means is for the caller to say, who may
  // go on. A worker whose caller is gone ends at its next read or write.
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  sigaddset(&blocked, SIGINT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int error = posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  toWorker = in[1];
  fromWorker = out[0];
  if (error == 0)
    return {};
  process = -1;
  closeOnce(toWorker);
  closeOnce(fromWorker);
  return std::strerror(error);
}

/// A dead worker must show up as a failed write, not as a signal to the caller's process.
bool writeJobQuietly(int descriptor, const std::string &payload) {
  sigset_t pipeSignal, before;
  sigemptyset(&pipeSignal);
  sigaddset(&pipeSignal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipeSignal, &before);
  bool ok = writeFrame(descriptor, FrameTag::Job, payload);
  if (!ok) {
    timespec now{};
    sigtimedwait(&pipeSignal, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return ok;
}

} // namespace

Worker::Worker(std::string program, int secondsOfSilence) : state(std::make_unique<State>()) {
  state->secondsOfSilence = secondsOfSilence;
  state->program = std::move(program);
  state->stays = true;
}

Worker::Worker(const std::string &program, const CodegenJob &job, int secondsOfSilence)
    : Worker(program, secondsOfSilence) {
  state->stays = false;
  start(job);
}

bool Worker::isRunning() const { return state->process > 0; }

void Worker::begin() {
  state->startError.clear();
  if (state->program.empty()) {
    state->startError = "the program pellucid-worker was not found beside this program";
    return;
  }
  if (isRunning())
    return;
  state->end();
  std::string error =
      spawnWorker(state->program, state->process, state->toWorker, state->fromWorker);
  if (!error.empty())
    state->startError = "cannot start " + state->program + ": " + error;
}

void Worker::start(const CodegenJob &job) {
  state->target = job.target;
  state->current.clear();
  begin();
  if (!state->startError.empty())
    return;
  if (state->sender.joinable())
    state->sender.join();
  // The job may be larger than the pipe, and the worker answers while it reads.
  state->sender =
      std::thread([descriptor = state->toWorker, payload = encodeJob(job), stays = state->stays] {
        writeJobQuietly(descriptor, payload);
        if (!stays)
          ::close(descriptor);
      });
  if (!state->stays)
    state->toWorker = -1;
}

/// Nothing is left of the process afterwards.
void Worker::State::end() {
  if (process > 0) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
  process = -1;
  closeOnce(fromWorker);
  if (sender.joinable())
    sender.join();
  closeOnce(toWorker);
}

Worker::~Worker() { state->end(); }

/// The status of a process that has nothing more to say; one that does not end is killed.
static int reap(pid_t process) {
  int status = 0;
  for (int i = 0; i < 200; ++i) {
    pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR))
      return status;
    ::usleep(5000);
  }
  ::kill(process, SIGKILL);
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool Worker::wait(CodegenResult &result, Diagnostics &diagnostics) {
  if (!state->startError.empty()) {
    diagnostics.error(SourceLocation("code generation"), state->startError);
    return false;
  }
  FrameTag tag;
  std::string payload;
  bool answered = false, ok = false;
  FrameStatus read = FrameStatus::Whole;
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun = Clock::now();
  bool isEndless = false;
  while (!answered && !isEndless &&
         (read = readFrame(state->fromWorker, tag, payload, state->secondsOfSilence)) ==
             FrameStatus::Whole) {
    if (tag == FrameTag::Alive) {
      isEndless = Clock::now() - begun > secondsPerKernel;
    } else if (tag == FrameTag::Kernel) {
      begun = Clock::now();
      state->current = payload;
    } else if (tag == FrameTag::Result) {
      auto decoded = decodeResult(payload);
      answered = ok = decoded.has_value();
      if (decoded)
        result = std::move(*decoded);
      else
        break;
    } else if (tag == FrameTag::Error) {
      answered = decodeDiagnostics(payload, diagnostics) && diagnostics.hasErrors();
    }
  }
  if (answered && state->stays)
    return ok;
  bool isSilent = read == FrameStatus::Silent;
  // Nothing that it could still do is of use.
  if (isSilent || isEndless || answered)
    ::kill(state->process, SIGKILL);
  // A worker that still writes must not wait for a reader.
  closeOnce(state->fromWorker);
  int status = reap(std::exchange(state->process, -1));
  if (!answered) {
    std::string kernel = state->current.empty()
                             ? std::string("before the first kernel")
                             : "while it worked on kernel '" + state->current + "'";
    diagnostics.error(
        SourceLocation("code generation"),
        "the worker for " + toString(state->target) + " " +
            (isSilent ? "gave no sign of life for " + std::to_string(state->secondsOfSilence) + " s"
             : isEndless ? "was ended after " + std::to_string(secondsPerKernel.count()) + " s"
                         : describeEnd(status)) +
            " " + kernel);
  }
  return ok;
}

static std::string besideFile(std::string path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return {};
  std::string folder = path.substr(0, slash);
  for (const std::string &candidate :
       {folder + "/pellucid-worker", folder + "/../bin/pellucid-worker"})
    if (::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  return {};
}

std::string findWorker() {
  char self[4096];
  ssize_t n = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (n > 0)
    if (std::string found = besideFile(std::string(self, static_cast<size_t>(n))); !found.empty())
      return found;
  Dl_info where;
  if (::dladdr(reinterpret_cast<void *>(&findWorker), &where) && where.dli_fname)
    return besideFile(where.dli_fname);
  return {};
}

} // namespace pellucid::driver
