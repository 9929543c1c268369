// SPDX-License-Identifier: Apache-2.0
/// What a program that has us as a library may have chosen for its thread, and what our numbers
/// must not depend on.
#pragma once

#include <cfenv>
#include <clocale>

namespace pellucid {

/// While it lives, this thread's C functions read and write 0.5 as "0.5": a program that called
/// setlocale(LC_ALL, "") may write a comma.
class PlainNumbers {
public:
  PlainNumbers() : before(::uselocale(plainLocale())) {}
  ~PlainNumbers() { ::uselocale(before); }
  PlainNumbers(const PlainNumbers &) = delete;
  PlainNumbers &operator=(const PlainNumbers &) = delete;

private:
  locale_t before;

  /// Never freed: threads may end after the library's static objects. Null, where there is no
  /// memory for it, changes nothing.
  static locale_t plainLocale() {
    static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return plain;
  }
};

/// While it lives, this thread's arithmetic is as a program begins: it rounds to nearest, takes
/// subnormal numbers as they are, and no exception ends the process. Threads started meanwhile
/// begin like that. A program built with -ffast-math, or one that looks for NaN by feenableexcept,
/// has others.
class PlainArithmetic {
public:
  PlainArithmetic() : changes(!isPlain()) {
    if (!changes)
      return;
    std::fegetenv(&before);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainArithmetic() {
    if (changes)
      std::fesetenv(&before);
  }
  PlainArithmetic(const PlainArithmetic &) = delete;
  PlainArithmetic &operator=(const PlainArithmetic &) = delete;

private:
  bool changes;
  std::fenv_t before;

  /// Asked at every call, so it must not cost what saving everything does.
  static bool isPlain() {
#if defined(__x86_64__)
    constexpr unsigned seen = 0x3f;
    unsigned short x87;
    asm("fnstcw %0" : "=m"(x87));
    return (__builtin_ia32_stmxcsr() & ~seen) == 0x1f80 && (x87 & 0xc3f) == 0x3f;
#else
    return false;
#endif
  }
};

} // namespace pellucid
