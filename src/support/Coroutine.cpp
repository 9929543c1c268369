// SPDX-License-Identifier: Apache-2.0
#include "support/Coroutine.h"

#include "support/Stack.h"

#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define PELLUCID_FIBERS 1
#endif
#endif

namespace pellucid {

namespace {

/// Address space; pages are taken when they are touched.
constexpr size_t stackBytes = 8 << 20;

/// A mapping with a page below it that nobody may touch.
class StackMemory {
public:
  StackMemory() {
    if (!spare().empty()) {
      base = spare().back();
      spare().pop_back();
      return;
    }
    base = ::mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
      throw std::bad_alloc();
    ::mprotect(base, static_cast<size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
  }
  ~StackMemory() {
    constexpr size_t kept = 16;
    if (spare().size() < kept)
      spare().push_back(base);
    else
      ::munmap(base, stackBytes);
  }
  StackMemory(const StackMemory &) = delete;
  StackMemory &operator=(const StackMemory &) = delete;
  void *base;

private:
  struct Spare : std::vector<void *> {
    ~Spare() {
      for (void *one : *this)
        ::munmap(one, stackBytes);
    }
  };
  static Spare &spare() {
    static thread_local Spare stacks;
    return stacks;
  }
};

/// What the C++ run time keeps for each thread about exceptions that are being handled; a stack of
/// its own has its own.
struct Handled {
  std::byte bytes[sizeof(void *) + sizeof(unsigned)] = {};
  void swap() {
    std::byte current[sizeof bytes];
    void *globals = abi::__cxa_get_globals();
    std::memcpy(current, globals, sizeof bytes);
    std::memcpy(globals, bytes, sizeof bytes);
    std::memcpy(bytes, current, sizeof bytes);
  }
};

} // namespace

struct Coroutine::State {
  explicit State(std::function<void()> b) : body(std::move(b)) {}
  std::function<void()> body;
  StackMemory stack;
  ucontext_t inside{}, outside{};
  Handled handled;
  StackRange outerRange;
  std::exception_ptr failure;
  bool hasBegun = false, hasEnded = false, isCancelled = false;
#ifdef PELLUCID_FIBERS
  void *insideFake = nullptr, *outsideFake = nullptr;
  const void *outsideBottom = nullptr;
  size_t outsideSize = 0;
#endif

  void switchIn() {
    handled.swap();
    outerRange = setStackRange({stack.base, stackBytes});
#ifdef PELLUCID_FIBERS
    __sanitizer_start_switch_fiber(&outsideFake, stack.base, stackBytes);
#endif
    ::swapcontext(&outside, &inside);
#ifdef PELLUCID_FIBERS
    __sanitizer_finish_switch_fiber(outsideFake, nullptr, nullptr);
#endif
    setStackRange(outerRange);
    handled.swap();
  }
  void switchOut() {
#ifdef PELLUCID_FIBERS
    __sanitizer_start_switch_fiber(hasEnded ? nullptr : &insideFake, outsideBottom, outsideSize);
#endif
    ::swapcontext(&inside, &outside);
#ifdef PELLUCID_FIBERS
    __sanitizer_finish_switch_fiber(insideFake, &outsideBottom, &outsideSize);
#endif
  }
};

Coroutine::Coroutine(std::function<void()> body)
    : state(std::make_unique<State>(std::move(body))) {}

Coroutine::~Coroutine() {
  if (!state->hasBegun || state->hasEnded)
    return;
  state->isCancelled = true;
  state->switchIn();
}

void Coroutine::enter(unsigned low, unsigned high) {
  auto *state = reinterpret_cast<State *>(uintptr_t(low) | uintptr_t(high) << 32);
#ifdef PELLUCID_FIBERS
  __sanitizer_finish_switch_fiber(nullptr, &state->outsideBottom, &state->outsideSize);
#endif
  try {
    state->body();
  } catch (const Cancelled &) { // the end that was asked for
  } catch (...) {
    state->failure = std::current_exception();
  }
  state->body = nullptr;
  state->hasEnded = true;
  state->switchOut();
}

bool Coroutine::resume() {
  if (state->hasEnded)
    return false;
  if (!state->hasBegun) {
    state->hasBegun = true;
    ::getcontext(&state->inside);
    state->inside.uc_stack.ss_sp = state->stack.base;
    state->inside.uc_stack.ss_size = stackBytes;
    state->inside.uc_link = nullptr;
    auto address = reinterpret_cast<uintptr_t>(state.get());
    ::makecontext(&state->inside, reinterpret_cast<void (*)()>(&Coroutine::enter), 2,
                  static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
  }
  state->switchIn();
  if (state->failure)
    std::rethrow_exception(std::exchange(state->failure, nullptr));
  return !state->hasEnded;
}

void Coroutine::suspend() {
  state->switchOut();
  if (state->isCancelled)
    throw Cancelled();
}

bool Coroutine::ended() const { return state->hasEnded; }

} // namespace pellucid
