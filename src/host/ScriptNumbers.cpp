// SPDX-License-Identifier: Apache-2.0
/// The numbers that a script gets from outside: time, and Python's random stream.
#include "host/InterpreterState.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <thread>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

/// MT19937 as Python's random seeds and reads it.
class Twister : public Object {
public:
  std::string typeName() const override { return "_random.Random"; }

  void seed(const std::vector<uint32_t> &key) {
    std::array<uint32_t, size> state{};
    state[0] = 19650218u;
    for (uint32_t i = 1; i < size; ++i)
      state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    uint32_t i = 1, j = 0;
    auto advance = [&] {
      if (++i >= size)
        state[0] = state[size - 1], i = 1;
    };
    for (size_t k = std::max<size_t>(size, key.size()); k; --k) {
      state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525u)) + key[j] + j;
      advance();
      if (++j >= key.size())
        j = 0;
    }
    for (uint32_t k = size - 1; k; --k) {
      state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941u)) - i;
      advance();
    }
    state[0] = 0x80000000u;
    words = state;
    next = size;
  }
  uint32_t word() {
    if (next == size)
      refill();
    uint32_t y = words[next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  double uniform() {
    uint32_t a = word() >> 5, b = word() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
  }

  static constexpr uint32_t size = 624;
  std::array<uint32_t, size> words{};
  uint32_t next = size;

private:
  void refill() {
    for (uint32_t i = 0; i < size; ++i) {
      uint32_t y = (words[i] & 0x80000000u) | (words[(i + 1) % size] & 0x7fffffffu);
      words[i] = words[(i + 397) % size] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
    }
    next = 0;
  }
};

/// SHA-512, by which Python makes a number of a text that seeds.
std::array<uint8_t, 64> sha512(const std::string &text);

Twister &twister(const Value &v) { return v.expect<Twister>("a generator"); }

void addRandom(Module &m) {
  addFunction(m, "twister", "",
              [](Interpreter &, Bound &) { return Value(std::make_shared<Twister>()); });
  addFunction(m, "seed_words", "generator, words", [](Interpreter &i, Bound &a) {
    std::vector<uint32_t> key;
    for (const Value &v : i.iterate(a[1]))
      key.push_back(static_cast<uint32_t>(i.toInt64(v, "a word")));
    if (key.empty())
      key.push_back(0);
    twister(a[0]).seed(key);
    return Value();
  });
  addFunction(m, "entropy", "count", [](Interpreter &i, Bound &a) {
    std::random_device device;
    List out;
    for (int64_t k = i.toInt64(a[0], "count"); k > 0; --k)
      out.emplace_back(int64_t(device()));
    return Value::list(std::move(out));
  });
  addFunction(m, "uniform", "generator",
              [](Interpreter &, Bound &a) { return Value(twister(a[0]).uniform()); });
  addFunction(m, "word", "generator",
              [](Interpreter &, Bound &a) { return Value(int64_t(twister(a[0]).word())); });
  addFunction(m, "get_words", "generator", [](Interpreter &, Bound &a) {
    Tuple out;
    for (uint32_t word : twister(a[0]).words)
      out.emplace_back(int64_t(word));
    out.emplace_back(int64_t(twister(a[0]).next));
    return Value::tuple(std::move(out));
  });
  addFunction(m, "set_words", "generator, words", [](Interpreter &i, Bound &a) {
    std::vector<Value> words = i.iterate(a[1]);
    if (words.size() != Twister::size + 1)
      i.raise("ValueError", "state vector is the wrong size");
    Twister &t = twister(a[0]);
    for (uint32_t k = 0; k < Twister::size; ++k)
      t.words[k] = static_cast<uint32_t>(i.toInt64(words[k], "a word"));
    int64_t next = i.toInt64(words.back(), "the place");
    if (next < 0 || next > Twister::size)
      i.raise("ValueError", "invalid state");
    t.next = static_cast<uint32_t>(next);
    return Value();
  });
  addFunction(m, "sha512_words", "text", [](Interpreter &i, Bound &a) {
    // The text and its digest as one number, the first byte highest; its 32-bit words, lowest
    // first.
    std::string bytes = i.toStr(a[0], "the seed");
    for (uint8_t byte : sha512(bytes))
      bytes += static_cast<char>(byte);
    List words;
    for (size_t end = bytes.size(); end > 0;) {
      uint32_t word = 0;
      for (unsigned shift = 0; shift < 32 && end > 0; shift += 8)
        word |= uint32_t(static_cast<uint8_t>(bytes[--end])) << shift;
      words.emplace_back(int64_t(word));
    }
    while (words.size() > 1 && words.back().integer() == 0)
      words.pop_back();
    return Value::list(std::move(words));
  });
}

// ---- SHA-512
// -----------------------------------------------------------------------------------------------------------

/// The first 64 bits of the fractions of the cube (or square) roots of the first primes, found by
/// bisection in integers.
uint64_t rootFraction(unsigned prime, unsigned power) {
  using Wide = unsigned __int128;
  // floor(prime^(1/power) * 2^64): the largest r with r^power <= prime * 2^(64 * power).
  auto fits = [&](Wide r) {
    // Compare r^power with prime << (64 * power) in 256-bit pieces of 64.
    auto multiply = [](const std::array<uint64_t, 4> &x, Wide y) {
      std::array<uint64_t, 4> out{};
      uint64_t parts[2] = {static_cast<uint64_t>(y), static_cast<uint64_t>(y >> 64)};
      for (size_t p = 0; p < 2; ++p) {
        Wide carry = 0;
        for (size_t k = 0; k + p < 4; ++k) {
          Wide sum = Wide(x[k]) * parts[p] + out[k + p] + carry;
          out[k + p] = static_cast<uint64_t>(sum);
          carry = sum >> 64;
        }
      }
      return out;
    };
    std::array<uint64_t, 4> value{1, 0, 0, 0}, bound{};
    for (unsigned k = 0; k < power; ++k)
      value = multiply(value, r);
    bound[power] = prime;
    for (size_t k = 4; k-- > 0;)
      if (value[k] != bound[k])
        return value[k] < bound[k];
    return true;
  };
  Wide root = 0;
  for (int bit = 68; bit >= 0; --bit)
    if (fits(root | Wide(1) << bit))
      root |= Wide(1) << bit;
  return static_cast<uint64_t>(root);
}

std::array<uint8_t, 64> sha512(const std::string &text) {
  auto rotate = [](uint64_t x, unsigned n) { return x >> n | x << (64 - n); };
  std::array<uint64_t, 80> constants{};
  std::array<uint64_t, 8> hash{};
  for (unsigned n = 2, found = 0; found < 80; ++n) {
    bool isPrime = true;
    for (unsigned d = 2; d * d <= n; ++d)
      isPrime &= n % d != 0;
    if (!isPrime)
      continue;
    constants[found] = rootFraction(n, 3);
    if (found < 8)
      hash[found] = rootFraction(n, 2);
    ++found;
  }
  std::string padded = text + '\x80';
  while (padded.size() % 128 != 112)
    padded += '\0';
  padded.append(8, '\0');
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += static_cast<char>(uint64_t(text.size()) * 8 >> shift);
  for (size_t block = 0; block < padded.size(); block += 128) {
    std::array<uint64_t, 80> w{};
    for (size_t i = 0; i < 128; ++i)
      w[i / 8] = w[i / 8] << 8 | static_cast<uint8_t>(padded[block + i]);
    for (size_t i = 16; i < 80; ++i)
      w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 1) ^ rotate(w[i - 15], 8) ^ w[i - 15] >> 7) +
             (rotate(w[i - 2], 19) ^ rotate(w[i - 2], 61) ^ w[i - 2] >> 6);
    std::array<uint64_t, 8> v = hash;
    for (size_t i = 0; i < 80; ++i) {
      uint64_t first = v[7] + (rotate(v[4], 14) ^ rotate(v[4], 18) ^ rotate(v[4], 41)) +
                       ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
      uint64_t second = (rotate(v[0], 28) ^ rotate(v[0], 34) ^ rotate(v[0], 39)) +
                        ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      v = {first + second, v[0], v[1], v[2], v[3] + first, v[4], v[5], v[6]};
    }
    for (size_t i = 0; i < 8; ++i)
      hash[i] += v[i];
  }
  std::array<uint8_t, 64> digest{};
  for (size_t i = 0; i < 64; ++i)
    digest[i] = static_cast<uint8_t>(hash[i / 8] >> (56 - 8 * (i % 8)));
  return digest;
}

// ---- time
// -----------------------------------------------------------------------------------------------------------

int64_t clockNow(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Value calendarFields(const std::tm &t) {
  return Value::tuple({Value(t.tm_year + 1900), Value(t.tm_mon + 1), Value(t.tm_mday),
                       Value(t.tm_hour), Value(t.tm_min), Value(t.tm_sec),
                       Value((t.tm_wday + 6) % 7), Value(t.tm_yday + 1), Value(t.tm_isdst)});
}

Value timeFields(Interpreter &interpreter, Bound &a, bool isLocal) {
  double when = a[0].isNone() ? 1e-9 * static_cast<double>(clockNow(CLOCK_REALTIME))
                              : interpreter.toDouble(a[0], "the time");
  auto seconds = static_cast<std::time_t>(std::floor(when));
  std::tm fields{};
  if (isLocal ? !::localtime_r(&seconds, &fields) : !::gmtime_r(&seconds, &fields))
    interpreter.raise("OverflowError", "timestamp out of range for platform time_t");
  return calendarFields(fields);
}

Value formatTime(Interpreter &interpreter, Bound &a) {
  const std::string &format = interpreter.toStr(a[0], "strftime()'s format");
  std::tm fields{};
  if (a[1].isNone()) {
    std::time_t now = std::time(nullptr);
    ::localtime_r(&now, &fields);
  } else {
    std::vector<Value> given = interpreter.iterate(a[1]);
    if (given.size() != 9)
      interpreter.raise("TypeError", "Tuple or struct_time argument required");
    auto number = [&](size_t k) { return static_cast<int>(interpreter.toInt64(given[k], "time")); };
    fields.tm_year = number(0) - 1900, fields.tm_mon = number(1) - 1, fields.tm_mday = number(2);
    fields.tm_hour = number(3), fields.tm_min = number(4), fields.tm_sec = number(5);
    fields.tm_wday = (number(6) + 1) % 7, fields.tm_yday = number(7) - 1;
    fields.tm_isdst = number(8);
  }
  if (format.empty())
    return Value("");
  std::string out(256 + 64 * format.size(), '\0');
  out.resize(std::strftime(out.data(), out.size(), format.c_str(), &fields));
  return Value(out);
}

void addTime(Module &m) {
  struct Clock {
    const char *name;
    clockid_t clock;
  };
  for (Clock one :
       {Clock{"time", CLOCK_REALTIME}, Clock{"perf_counter", CLOCK_MONOTONIC},
        Clock{"monotonic", CLOCK_MONOTONIC}, Clock{"process_time", CLOCK_PROCESS_CPUTIME_ID},
        Clock{"thread_time", CLOCK_THREAD_CPUTIME_ID}}) {
    addFunction(m, one.name, "", [clock = one.clock](Interpreter &, Bound &) {
      return Value(1e-9 * static_cast<double>(clockNow(clock)));
    });
    std::string exact = std::string(one.name) + "_ns";
    m.globals->set(exact, native(exact, "", [clock = one.clock](Interpreter &, Bound &) {
                     return Value(clockNow(clock));
                   }));
  }
  addFunction(m, "sleep", "seconds", [](Interpreter &i, Bound &a) {
    double seconds = i.toDouble(a[0], "sleep()'s argument");
    if (!(seconds >= 0))
      i.raise("ValueError", "sleep length must be non-negative");
    i.hooks().flushOutput();
    auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
      auto left = until - std::chrono::steady_clock::now();
      constexpr std::chrono::duration<double> slice(0.05); // between which an interrupt is heard
      std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(left, slice));
      Budget::pay(1);
    }
    return Value();
  });
  addFunction(m, "localtime_fields", "seconds=None",
              [](Interpreter &i, Bound &a) { return timeFields(i, a, true); });
  addFunction(m, "gmtime_fields", "seconds=None",
              [](Interpreter &i, Bound &a) { return timeFields(i, a, false); });
  addFunction(m, "strftime", "format, t=None", formatTime);
}

} // namespace

void fillScriptNumbers(Module &m) {
  addRandom(m);
  addTime(m);
}

} // namespace pellucid::host
