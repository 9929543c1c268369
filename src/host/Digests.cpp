// SPDX-License-Identifier: Apache-2.0
/// Digests of bytes and the bits of floats: what hashlib and struct stand on.
#include "host/ByteString.h"
#include "host/InterpreterState.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace pellucid::host {

using Bound = std::vector<Value>;

namespace {

/// The message with its end mark and its length in bits, in whole blocks.
std::string padded(const std::string &message, size_t block, bool littleEndian) {
  size_t lengthSize = block / 8;
  std::string out = message + '\x80';
  while (out.size() % block != block - lengthSize)
    out += '\0';
  uint64_t bits = uint64_t(message.size()) * 8;
  std::string length;
  for (size_t i = 0; i < lengthSize; ++i)
    length += static_cast<char>(i < 8 ? bits >> (8 * i) & 0xff : 0);
  if (!littleEndian)
    length = {length.rbegin(), length.rend()};
  return out + length;
}

template <typename Word> Word wordAt(const std::string &text, size_t at, bool littleEndian) {
  Word out = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) {
    auto byte = static_cast<unsigned char>(text[at + (littleEndian ? sizeof(Word) - 1 - i : i)]);
    out = static_cast<Word>(out << 8 | byte);
  }
  return out;
}

template <typename Word, size_t n>
std::string hashedBytes(const std::array<Word, n> &state, bool littleEndian) {
  std::string out;
  for (Word word : state)
    for (size_t i = 0; i < sizeof(Word); ++i)
      out += static_cast<char>(word >> (8 * (littleEndian ? i : sizeof(Word) - 1 - i)) & 0xff);
  return out;
}

std::string md5(const std::string &message) {
  static constexpr unsigned turns[] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string text = padded(message, 64, true);
  for (size_t at = 0; at < text.size(); at += 64) {
    auto [a, b, c, d] = state;
    for (unsigned i = 0; i < 64; ++i) {
      unsigned round = i / 16, g = round == 0   ? i
                                   : round == 1 ? (5 * i + 1) % 16
                                   : round == 2 ? (3 * i + 5) % 16
                                                : (7 * i) % 16;
      uint32_t f = round == 0   ? (b & c) | (~b & d)
                   : round == 1 ? (d & b) | (~d & c)
                   : round == 2 ? b ^ c ^ d
                                : c ^ (b | ~d);
      auto constant =
          static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
      f += a + constant + wordAt<uint32_t>(text, at + 4 * g, true);
      a = d;
      d = c;
      c = b;
      b += std::rotl(f, static_cast<int>(turns[round * 4 + i % 4]));
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
  }
  return hashedBytes(state, true);
}

std::string sha1(const std::string &message) {
  std::array<uint32_t, 5> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::string text = padded(message, 64, false);
  for (size_t at = 0; at < text.size(); at += 64) {
    std::array<uint32_t, 80> w{};
    for (size_t i = 0; i < 80; ++i)
      w[i] = i < 16 ? wordAt<uint32_t>(text, at + 4 * i, false)
                    : std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state;
    for (size_t i = 0; i < 80; ++i) {
      uint32_t f = i < 20   ? (b & c) | (~b & d)
                   : i < 40 ? b ^ c ^ d
                   : i < 60 ? (b & c) | (b & d) | (c & d)
                            : b ^ c ^ d;
      static constexpr uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
      uint32_t next = std::rotl(a, 5) + f + e + k[i / 20] + w[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
  }
  return hashedBytes(state, false);
}

/// The first 64 (32) bits behind the point of the roots of the first primes.
template <typename Word> Word rootBits(unsigned prime, bool cubic) {
  // By comparing powers of integers: floor(root * 2^bits), less its whole part.
  constexpr unsigned bits = sizeof(Word) * 8;
  using Wide = unsigned __int128;
  Wide low = 0, high = Wide(32) << bits;
  auto exceeds = [&](Wide root) {
    // root^k > prime * 2^(k*bits), in 32-bit limbs.
    auto multiply = [](const std::array<uint64_t, 12> &a, Wide b) {
      std::array<uint64_t, 12> out{};
      for (size_t i = 0; i < 12; ++i) {
        uint64_t carry = 0;
        for (size_t j = 0; i + j < 12; ++j) {
          uint64_t limb = j < 4 ? static_cast<uint32_t>(b >> (32 * j)) : 0;
          uint64_t sum = out[i + j] + a[i] * limb + carry;
          out[i + j] = sum & 0xffffffff;
          carry = sum >> 32;
        }
      }
      return out;
    };
    std::array<uint64_t, 12> power{1};
    for (int k = 0; k < (cubic ? 3 : 2); ++k)
      power = multiply(power, root);
    std::array<uint64_t, 12> wanted{};
    wanted[(cubic ? 3 : 2) * bits / 32] = prime;
    for (size_t i = 12; i-- > 0;)
      if (power[i] != wanted[i])
        return power[i] > wanted[i];
    return false;
  };
  while (high - low > 1) {
    Wide middle = low + (high - low) / 2;
    (exceeds(middle) ? high : low) = middle;
  }
  return static_cast<Word>(low);
}

template <typename Word> struct Sha2Constants {
  std::array<Word, 8> begin{};
  std::array<Word, sizeof(Word) == 4 ? 64 : 80> k{};
  Sha2Constants() {
    size_t found = 0;
    for (unsigned n = 2; found < k.size(); ++n) {
      bool isPrime = true;
      for (unsigned d = 2; d * d <= n; ++d)
        isPrime = isPrime && n % d != 0;
      if (!isPrime)
        continue;
      if (found < 8)
        begin[found] = rootBits<Word>(n, false);
      k[found++] = rootBits<Word>(n, true);
    }
  }
};

template <typename Word> std::string sha2(const std::string &message) {
  static const Sha2Constants<Word> constants;
  constexpr bool isWide = sizeof(Word) == 8;
  auto sigma = [](Word x, int a, int b, int c, bool shifts) {
    return std::rotr(x, a) ^ std::rotr(x, b) ^ (shifts ? x >> c : std::rotr(x, c));
  };
  std::array<Word, 8> state = constants.begin;
  constexpr size_t block = sizeof(Word) * 16, rounds = isWide ? 80 : 64;
  std::string text = padded(message, block, false);
  for (size_t at = 0; at < text.size(); at += block) {
    std::array<Word, rounds> w{};
    for (size_t i = 0; i < rounds; ++i)
      w[i] =
          i < 16
              ? wordAt<Word>(text, at + sizeof(Word) * i, false)
              : (isWide ? sigma(w[i - 2], 19, 61, 6, true) : sigma(w[i - 2], 17, 19, 10, true)) +
                    w[i - 7] +
                    (isWide ? sigma(w[i - 15], 1, 8, 7, true) : sigma(w[i - 15], 7, 18, 3, true)) +
                    w[i - 16];
    auto s = state;
    for (size_t i = 0; i < rounds; ++i) {
      Word e = s[4], a = s[0];
      Word first = s[7] + (isWide ? sigma(e, 14, 18, 41, false) : sigma(e, 6, 11, 25, false)) +
                   ((e & s[5]) ^ (~e & s[6])) + constants.k[i] + w[i];
      Word second = (isWide ? sigma(a, 28, 34, 39, false) : sigma(a, 2, 13, 22, false)) +
                    ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      for (size_t j = 7; j > 0; --j)
        s[j] = s[j - 1];
      s[4] += first;
      s[0] = first + second;
    }
    for (size_t j = 0; j < 8; ++j)
      state[j] += s[j];
  }
  return hashedBytes(state, false);
}

Value digestOf(Interpreter &interpreter, Bound &a) {
  const std::string &name = interpreter.toStr(a[0], "the name of a digest");
  auto *bytes = a[1].as<ByteString>();
  if (!bytes)
    interpreter.raise("TypeError", "object supporting the buffer API required");
  const std::string &text = *bytes->bytes;
  Budget::pay(text.size() / 16);
  std::string out = name == "md5"      ? md5(text)
                    : name == "sha1"   ? sha1(text)
                    : name == "sha256" ? sha2<uint32_t>(text)
                    : name == "sha512" ? sha2<uint64_t>(text)
                                       : "";
  if (out.empty())
    interpreter.raise("ValueError", "unsupported hash type " + name);
  return Value(std::make_shared<ByteString>(std::move(out)));
}

} // namespace

void addDigests(NativeModules &modules) {
  modules.add("_binary", [](Interpreter &, Module &m) {
    m.globals->set("digest", native("digest", "name, bytes", digestOf));
    m.globals->set("float_bits", native("float_bits", "x, size", [](Interpreter &i, Bound &a) {
                     double x = i.toDouble(a[0], "a float");
                     if (i.toInt64(a[1], "a size") == 8)
                       return Value(std::bit_cast<uint64_t>(x));
                     auto single = static_cast<float>(x);
                     if (std::isinf(single) && !std::isinf(x))
                       i.raise("OverflowError", "float too large to pack with f format");
                     return Value(static_cast<int64_t>(std::bit_cast<uint32_t>(single)));
                   }));
    m.globals->set("bits_float", native("bits_float", "bits, size", [](Interpreter &i, Bound &a) {
                     auto bits = static_cast<uint64_t>(a[0].integer());
                     if (i.toInt64(a[1], "a size") == 8)
                       return Value(std::bit_cast<double>(bits));
                     return Value(
                         static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
                   }));
  });
}

} // namespace pellucid::host
