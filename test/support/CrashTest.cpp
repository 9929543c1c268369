// SPDX-License-Identifier: Apache-2.0
/// What a process says that a fault ends: the work in hand, and exit code 2.
#include "support/CrashHandler.h"

#include <gtest/gtest.h>

#include <csignal>
#include <pthread.h>

using namespace pellucid;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PELLUCID_SANITIZER_REPORTS 1
#endif
#endif

#ifndef PELLUCID_SANITIZER_REPORTS // which keep the signals to themselves
namespace {
SourceLocation place() {
  SourceLocation where("model.py");
  where.range = {12, 9, 12, 20};
  return where;
}

/// Deeper than any stack; the result keeps the compiler from making a loop of it.
int endless(volatile int *depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return *depth < 0 ? 0 : endless(depth) + frame[0];
}

TEST(CrashDeathTest, namesTheWorkAndEndsWithCode2) {
  EXPECT_EXIT(
      {
        reportCrashes("pellucid", AfterCrash::Exit);
        std::string pass = "lower";
        std::string target = "aten.sum.default";
        SourceLocation where = place();
        Working outer("running the pass", pass);
        {
          Working done("tracing", pass);
        }
        Working inner("lowering", target, &where);
        std::raise(SIGSEGV);
      },
      testing::ExitedWithCode(2),
      "^pellucid: internal error: an access to memory that is not there .SIGSEGV. while lowering "
      "'aten.sum.default' at model.py:12:9, running the pass 'lower'\n$");
}

TEST(CrashDeathTest, aStackThatIsUsedUpIsReported) {
  EXPECT_EXIT(
      {
        reportCrashes("pellucid", AfterCrash::Exit);
        std::string name = "f";
        Working work("tracing", name);
        volatile int depth = 0;
        endless(&depth);
      },
      testing::ExitedWithCode(2), "SIGSEGV. while tracing 'f'");
}

TEST(CrashDeathTest, anAbortIsReported) {
  EXPECT_EXIT(
      {
        reportCrashes("pellucid", AfterCrash::Exit);
        std::abort();
      },
      testing::ExitedWithCode(2), "^pellucid: internal error: an abort .SIGABRT.\n$");
}

TEST(CrashDeathTest, namesFromFilesCannotSteerATerminal) {
  EXPECT_EXIT(
      {
        reportCrashes("pellucid", AfterCrash::Exit);
        std::string name = "a\x1b[2Jb\n";
        Working work("tracing", name);
        std::abort();
      },
      testing::ExitedWithCode(2), "tracing 'a.\\[2Jb.'\n$");
}

TEST(CrashDeathTest, insideOfAnotherProgramItEndsAsItWouldHave) {
  EXPECT_EXIT(
      {
        std::string name = "model.py:f";
        CrashScope scope("libpellucid");
        Working work("compiling", name);
        std::raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV),
      "^libpellucid: internal error: .* compiling 'model.py:f'\n$");
}

void ofTheProgram(int) {}

TEST(CrashScopeTest, leavesTheProgramsOwnHandlersAndPutsTheRestBack) {
  std::signal(SIGFPE, ofTheProgram);
  std::signal(SIGSEGV, SIG_DFL);
  struct sigaction now{};
  {
    CrashScope scope("libpellucid");
    ::sigaction(SIGFPE, nullptr, &now);
    EXPECT_EQ(now.sa_handler, ofTheProgram);
    ::sigaction(SIGSEGV, nullptr, &now);
    EXPECT_NE(now.sa_handler, SIG_DFL);
  }
  ::sigaction(SIGSEGV, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  ::sigaction(SIGFPE, nullptr, &now);
  EXPECT_EQ(now.sa_handler, ofTheProgram);
  std::signal(SIGFPE, SIG_DFL);
}
} // namespace
#endif
