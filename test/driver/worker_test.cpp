// SPDX-License-Identifier: Apache-2.0
/// Code generation in a process that misbehaves or is ended from outside: a diagnostic each time,
/// no process left.
#include "driver/Worker.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace pellucid;
using namespace pellucid::driver;

namespace {

namespace fs = std::filesystem;

// For those that stay silent; all others have as long as a busy machine may need.
constexpr int secondsOfSilence = 2, plenty = 600;

CodegenJob job(size_t kernels = 6) {
  CodegenJob job;
  job.target.cpu = CpuLevel::X86_64_v3;
  for (size_t i = 0; i < kernels; ++i)
    job.kernels.push_back(
        {"product" + std::to_string(i), "",
         package::LibraryKernel{package::LibraryKernel::Kind::Gemm, DataType::Float32, true}});
  return job;
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto &task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;)
      found.push_back(child);
  }
  return found;
}

/// What `worker` says of a job that must fail.
std::string complaintOf(Worker &worker) {
  CodegenResult result;
  Diagnostics diagnostics;
  EXPECT_FALSE(worker.wait(result, diagnostics));
  EXPECT_TRUE(diagnostics.hasErrors());
  EXPECT_TRUE(children().empty()) << "a process is left";
  return diagnostics.all().empty() ? "" : diagnostics.all().front().message;
}

// ---- programs that are no worker

struct StandIn {
  const char *name, *script, *complaint;
};

class StandIns : public testing::TestWithParam<StandIn> {
protected:
  void SetUp() override {
    folder = fs::path(PELLUCID_BINARY_DIR) / "test" / (std::string("worker_") + GetParam().name);
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder;
};

TEST_P(StandIns, IsADiagnostic) {
  fs::path program = folder / "worker";
  std::ofstream(program) << "#!/bin/sh\n" << GetParam().script << "\n";
  fs::permissions(program, fs::perms::owner_all);
  bool isSilent = std::string_view(GetParam().script).find("1000") != std::string_view::npos;
  Worker worker(program, job(), isSilent ? secondsOfSilence : plenty);
  std::string complaint = complaintOf(worker);
  EXPECT_NE(complaint.find(GetParam().complaint), std::string::npos) << complaint;
}

constexpr StandIn standIns[] = {
    {"EndsAtOnce", "exit 3", "ended with exit code 3 without a result before the first kernel"},
    {"KillsItself", "kill -9 $$", "was ended by signal 9 (Killed)"},
    {"FaultsInAKernel", "printf 'K\\3\\0\\0\\0\\0\\0\\0\\0abc'; kill -SEGV $$",
     "was ended by signal 11 (Segmentation fault) while it worked on kernel 'abc'"},
    {"WritesGarbage", "head -c 100000 /dev/urandom", "the worker for cpu:x86-64-v3 "},
    {"WritesAHugeLength", "printf 'R\\377\\377\\377\\377\\377\\377\\377\\177'; sleep 1",
     "the worker for "},
    {"WritesHalfAFrame", "printf 'R\\100\\0\\0\\0\\0\\0\\0\\0abc'", "without a result"},
    {"WritesAnEmptyResult", "cat >/dev/null; printf 'R\\0\\0\\0\\0\\0\\0\\0\\0'",
     "without a result"},
    {"WritesAnEmptyError", "cat >/dev/null; printf 'E\\0\\0\\0\\0\\0\\0\\0\\0'",
     "without a result"},
    {"AnswersAndStays", "printf 'E\\0\\0\\0\\0\\0\\0\\0\\0'; exec sleep 1000", "no sign of life"},
    {"ClosesItsOutputAndStays", "exec >&-; exec sleep 1000", "was ended by signal 9"},
    {"SaysNothing", "exec sleep 1000", "gave no sign of life for 2 s before the first kernel"},
    {"StopsInAFrame", "printf 'R\\100\\0\\0\\0\\0\\0\\0\\0abc'; exec sleep 1000",
     "gave no sign of life for 2 s"},
};
INSTANTIATE_TEST_SUITE_P(Programs, StandIns, testing::ValuesIn(standIns),
                         [](const auto &given) { return std::string(given.param.name); });

TEST(Worker, AProgramThatCannotBeStarted) {
  Worker missing("/no/such/worker", job());
  EXPECT_EQ(complaintOf(missing), "cannot start /no/such/worker: No such file or directory");
  Worker folder("/", job());
  EXPECT_EQ(complaintOf(folder), "cannot start /: Permission denied");
  Worker none("", job());
  EXPECT_EQ(complaintOf(none), "the program pellucid-worker was not found beside this program");
}

// ---- the worker itself, ended while it works

std::string realWorker() { return std::string(PELLUCID_BINARY_DIR) + "/bin/pellucid-worker"; }

TEST(Worker, DoesItsJob) {
  Worker worker(realWorker(), job(2));
  CodegenResult result;
  Diagnostics diagnostics;
  ASSERT_TRUE(worker.wait(result, diagnostics)) << diagnostics.text();
  EXPECT_EQ(result.kernels.size(), 2u);
  EXPECT_FALSE(result.image.empty());
}

class Signals : public testing::TestWithParam<int> {};

/// At several moments: before it has read its job, among its kernels, while it links.
TEST_P(Signals, AtAnyMoment) {
  int failed = 0;
  for (int milliseconds : {0, 3, 10, 30, 60, 100, 150, 250}) {
    Worker worker(realWorker(), job(), GetParam() == SIGSTOP ? secondsOfSilence : plenty);
    std::vector<pid_t> started = children();
    ASSERT_EQ(started.size(), 1u);
    ::usleep(static_cast<useconds_t>(1000 * milliseconds));
    ::kill(started[0], GetParam());
    CodegenResult result;
    Diagnostics diagnostics;
    if (worker.wait(result, diagnostics)) {
      EXPECT_EQ(result.kernels.size(), 6u);
      continue;
    }
    ++failed;
    std::string complaint = diagnostics.all().at(0).message;
    std::string expected = GetParam() == SIGSTOP
                               ? "gave no sign of life"
                               : "was ended by signal " + std::to_string(GetParam());
    EXPECT_NE(complaint.find(expected), std::string::npos) << milliseconds << " ms: " << complaint;
    EXPECT_TRUE(children().empty());
    if (GetParam() == SIGSTOP && failed == 3)
      break; // each waits for the whole silence
  }
  EXPECT_GT(failed, 0);
}

INSTANTIATE_TEST_SUITE_P(Numbers, Signals,
                         testing::Values(SIGKILL, SIGSEGV, SIGABRT, SIGTERM, SIGSTOP),
                         [](const auto &given) { return std::string(sigabbrev_np(given.param)); });

/// The object that is destroyed takes its process along, whatever state it is in.
TEST(Worker, NoneIsLeftBehind) {
  for (int milliseconds : {0, 5, 50}) {
    {
      Worker worker(realWorker(), job());
      ::usleep(static_cast<useconds_t>(1000 * milliseconds));
      if (milliseconds == 5)
        ::kill(children().at(0), SIGSTOP);
    }
    EXPECT_TRUE(children().empty()) << milliseconds;
  }
}

// ---- a worker that stays

/// Adds `constant` to an argument and stores it; places and names are of the caller's choice.
CodegenKernel storing(const std::string &symbol, int constant, const std::string &line) {
  std::string text =
      "#loc = loc(unknown)\nmodule {\n  tt.func public @" + symbol +
      "(%out: !tt.ptr<i32> loc(#loc), %n: i32 loc(#loc)) attributes {noinline = false} {\n"
      "    %c = arith.constant " +
      std::to_string(constant) +
      " : i32 loc(#loc1)\n"
      "    %s = arith.addi %n, %c : i32 loc(#loc1)\n"
      "    tt.store %out, %s : !tt.ptr<i32> loc(#loc1)\n"
      "    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n"
      "#loc1 = loc(\"kernel.py\":" +
      line + ":5)\n";
  return {symbol, text, {}};
}

CodegenResult resultOf(Worker &worker, std::vector<CodegenKernel> kernels) {
  CodegenJob job;
  job.target.cpu = CpuLevel::X86_64_v3;
  job.remembersKernels = true;
  job.kernels = std::move(kernels);
  worker.start(job);
  CodegenResult result;
  Diagnostics diagnostics;
  EXPECT_TRUE(worker.wait(result, diagnostics)) << diagnostics.text();
  return result;
}

TEST(Worker, AKernelThatComesAgainIsLinkedFromMemory) {
  Worker worker(realWorker(), plenty);
  CodegenResult first =
      resultOf(worker, {storing("a", 1, "3"), storing("b", 2, "3"), storing("c", 1, "9")});
  ASSERT_EQ(first.kernels.size(), 3u);
  EXPECT_FALSE(first.kernels[0].remembered);
  EXPECT_FALSE(first.kernels[1].remembered) << "another constant is another kernel";
  EXPECT_TRUE(first.kernels[2].remembered) << "a name and a line are no code";
  EXPECT_EQ(first.kernels[2].symbol, "c");
  EXPECT_EQ(first.kernels[0].entryOffset, first.kernels[2].entryOffset);
  EXPECT_NE(first.kernels[0].entryOffset, first.kernels[1].entryOffset);
  // Under a name that another kernel had, beside one that is new.
  CodegenResult second =
      resultOf(worker, {storing("a", 2, "3"), storing("b", 3, "3"), storing("c", 1, "3")});
  EXPECT_TRUE(second.kernels[0].remembered);
  EXPECT_FALSE(second.kernels[1].remembered);
  EXPECT_TRUE(second.kernels[2].remembered);
  EXPECT_EQ(children().size(), 1u) << "one process for both";
}

TEST(Worker, OneThatWasEndedIsStartedAnew) {
  Worker worker(realWorker(), plenty);
  (void)resultOf(worker, {storing("a", 1, "3")});
  pid_t process = children().at(0);
  ::kill(process, SIGKILL);
  int status = 0;
  // It is seen when the next job is not answered, whose caller hears of it.
  CodegenJob job;
  job.kernels = {storing("a", 1, "3")};
  worker.start(job);
  CodegenResult result;
  Diagnostics diagnostics;
  EXPECT_FALSE(worker.wait(result, diagnostics));
  EXPECT_LT(::waitpid(process, &status, WNOHANG), 0) << "it was not reaped";
  EXPECT_FALSE(resultOf(worker, {storing("a", 1, "3")}).kernels.at(0).remembered);
}

} // namespace
