// SPDX-License-Identifier: Apache-2.0
#include "support/CrashHandler.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PELLUCID_SANITIZER_REPORTS 1
#endif
#endif

namespace pellucid {

namespace {
thread_local Working *innermost = nullptr;

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
constexpr size_t faultCount = std::size(faults);
constexpr size_t signalStackBytes = 64 * 1024;

const char *program = "";
std::atomic<AfterCrash> afterCrash{AfterCrash::Raise};
std::atomic<bool> isReporting{false};
std::atomic<const char *> togetherDoing{nullptr};
std::atomic<const std::string *> togetherName{nullptr};
std::atomic<const char *> advice{nullptr};
} // namespace

/// Puts a text together in memory of its own: a handler must not allocate.
struct CrashReport {
  char text[2048];
  size_t size = 0;

  void add(const char *word, size_t count) {
    count = std::min(count, sizeof text - 1 - size);
    // Names and paths come from files; a terminal takes none of their control characters.
    for (size_t i = 0; i < count; ++i)
      text[size++] = static_cast<unsigned char>(word[i]) < 32 ? '?' : word[i];
  }
  void add(const char *word) { add(word, std::strlen(word)); }
  void add(const std::string &word) { add(word.data(), std::min<size_t>(word.size(), 300)); }
  void add(uint32_t number) {
    char digits[10];
    size_t count = 0;
    do
      digits[sizeof digits - ++count] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    add(digits + sizeof digits - count, count);
  }
  void add(const SourceLocation &where) {
    add(where.file ? where.file->path() : where.name);
    if (!where.range.line)
      return;
    add(":");
    add(where.range.line);
    add(":");
    add(where.range.column);
  }

  void addSignal(int signal) {
    add(signal == SIGSEGV  ? "an access to memory that is not there (SIGSEGV)"
        : signal == SIGBUS ? "an access to memory that is not there (SIGBUS)"
        : signal == SIGFPE ? "a division that has no result (SIGFPE)"
        : signal == SIGILL ? "an instruction that this processor has not (SIGILL)"
                           : "an abort (SIGABRT)");
  }
  void addWork() {
    int shown = 0;
    for (const Working *work = innermost; work && shown < 6; work = work->outer, ++shown) {
      add(shown ? ", " : " while ");
      add(work->doing);
      if (!work->name.empty()) {
        add(" '");
        add(work->name);
        add("'");
      }
      if (work->where && work->where->known()) {
        add(" at ");
        add(*work->where);
      }
    }
  }
  void addShared() {
    const char *doing = togetherDoing;
    const std::string *name = togetherName;
    if (doing && name) {
      add(innermost ? ", " : " while ");
      add(doing);
      add(" ");
      add(*name);
    }
    if (const char *said = advice) {
      add("; ");
      add(said);
    }
  }
  void write() {
    text[size++] = '\n';
    for (size_t at = 0; at < size;) {
      ssize_t n = ::write(STDERR_FILENO, text + at, size - at);
      if (n <= 0)
        return;
      at += static_cast<size_t>(n);
    }
  }
};

static void onCrash(int signal) {
  // A second fault, here or on another thread, has nothing to add.
  if (!isReporting.exchange(true)) {
    static CrashReport report;
    report.add(program);
    report.add(": internal error: ");
    report.addSignal(signal);
    report.addWork();
    report.addShared();
    report.write();
  }
  if (afterCrash == AfterCrash::Exit)
    ::_exit(2);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

#ifndef PELLUCID_SANITIZER_REPORTS
/// The handler needs a stack where the thread's own is used up.
static void *giveStack() {
  stack_t known{};
  if (::sigaltstack(nullptr, &known) == 0 && !(known.ss_flags & SS_DISABLE))
    return nullptr;
  void *memory =
      ::mmap(nullptr, signalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = signalStackBytes;
  ::sigaltstack(&stack, nullptr);
  return memory;
}

static void takeSignal(int signal, struct sigaction *before) {
  struct sigaction action{};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(signal, &action, before);
}
#endif

WorkingTogether::WorkingTogether(const char *doing, const std::string &name)
    : doingBefore(togetherDoing.exchange(doing)), nameBefore(togetherName.exchange(&name)) {}
WorkingTogether::~WorkingTogether() {
  togetherDoing = doingBefore;
  togetherName = nameBefore;
}

void adviseAtCrash(const char *said) { advice = said; }

Working::Working(const char *d, const std::string &n, const SourceLocation *w)
    : doing(d), name(n), where(w), outer(innermost) {
  innermost = this;
}
Working::~Working() { innermost = outer; }

void reportCrashes(const char *name, AfterCrash after) {
  program = name;
  afterCrash = after;
#ifndef PELLUCID_SANITIZER_REPORTS // whose own reports say more
  giveStack();
  for (int signal : faults)
    takeSignal(signal, nullptr);
#endif
}

#ifdef PELLUCID_SANITIZER_REPORTS
CrashScope::CrashScope(const char *) {}
CrashScope::~CrashScope() {}
#else
/// What a CrashScope puts back. It lives on one thread at a time.
static struct {
  void *stack;
  bool taken[faultCount];
} borrowed;

CrashScope::CrashScope(const char *library) {
  program = library;
  afterCrash = AfterCrash::Raise;
  borrowed.stack = giveStack();
  for (size_t i = 0; i < faultCount; ++i) {
    struct sigaction before{};
    ::sigaction(faults[i], nullptr, &before);
    borrowed.taken[i] = !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL;
    if (borrowed.taken[i])
      takeSignal(faults[i], nullptr);
  }
}

CrashScope::~CrashScope() {
  for (size_t i = 0; i < faultCount; ++i) {
    struct sigaction now{};
    ::sigaction(faults[i], nullptr, &now);
    if (borrowed.taken[i] && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == onCrash)
      std::signal(faults[i], SIG_DFL);
  }
  if (!borrowed.stack)
    return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(borrowed.stack, signalStackBytes);
}
#endif

} // namespace pellucid
