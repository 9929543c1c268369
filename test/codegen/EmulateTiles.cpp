// SPDX-License-Identifier: Apache-2.0
#include "codegen/EmulateTiles.h"

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

namespace pellucid::codegen {

namespace {

struct Tiles {
  bool configured = false;
  int rows[8] = {}, bytes[8] = {};
  uint8_t data[8][16][64] = {};
};
thread_local Tiles tiles;

[[noreturn]] void refuse(const char *why) {
  std::fprintf(stderr, "emulated tile instruction: %s\n", why);
  std::_Exit(70);
}

/// A VEX instruction of map 0F38: opcode, prefix, registers and the address of its memory operand.
struct Instruction {
  uint8_t opcode, prefix, modrm;
  int reg, vvvv, rm;
  uint64_t base = 0, stride = 0;
  int length = 0;
};

uint64_t generalRegister(const ucontext_t &context, int number) {
  static constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[order[number]]);
}

void readAddress(const ucontext_t &context, const uint8_t *code, bool x, bool b, Instruction &out) {
  int mod = out.modrm >> 6, at = 5;
  int baseNumber = out.rm;
  uint64_t next = 0;
  bool hasBase = true;
  if (out.rm == 4) {
    uint8_t sib = code[at++];
    int index = (sib >> 3 & 7) | (x ? 8 : 0);
    baseNumber = sib & 7;
    if (index != 4)
      out.stride = generalRegister(context, index) << (sib >> 6);
    hasBase = baseNumber != 5 || mod != 0;
  } else if (mod == 0 && out.rm == 5) {
    hasBase = false; // relative to the next instruction
    next = reinterpret_cast<uint64_t>(code) + 9;
  }
  int32_t displacement = 0;
  if (mod == 1) {
    displacement = static_cast<int8_t>(code[at++]);
  } else if (mod == 2 || !hasBase) {
    std::memcpy(&displacement, code + at, 4);
    at += 4;
  }
  out.base = next + static_cast<uint64_t>(static_cast<int64_t>(displacement));
  if (hasBase)
    out.base += generalRegister(context, baseNumber | (b ? 8 : 0));
  out.length = at;
}

bool decode(const ucontext_t &context, Instruction &out) {
  auto *code = reinterpret_cast<const uint8_t *>(context.uc_mcontext.gregs[REG_RIP]);
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0)
    return false;
  bool x = !(code[1] & 0x40), b = !(code[1] & 0x20);
  out.vvvv = ~code[2] >> 3 & 15;
  out.prefix = code[2] & 3;
  out.opcode = code[3];
  out.modrm = code[4];
  out.reg = out.modrm >> 3 & 7;
  out.rm = out.modrm & 7;
  out.length = 5;
  if (out.modrm >> 6 != 3)
    readAddress(context, code, x, b, out);
  return true;
}

void loadConfiguration(uint64_t address) {
  auto *bytes = reinterpret_cast<const uint8_t *>(address);
  tiles = Tiles();
  if (bytes[0] > 1)
    refuse("unknown palette");
  tiles.configured = bytes[0] == 1;
  for (int t = 0; t < 8; ++t) {
    uint16_t width;
    std::memcpy(&width, bytes + 16 + 2 * t, 2);
    tiles.rows[t] = bytes[48 + t];
    tiles.bytes[t] = width;
    if (tiles.rows[t] > 16 || width > 64 || (tiles.rows[t] == 0) != (width == 0))
      refuse("a tile of more than 16 rows of 64 bytes, or with rows or bytes alone");
  }
}

void need(int tile) {
  if (!tiles.configured || tiles.rows[tile] == 0)
    refuse("a tile that is not configured");
}

void zeroBehind(int tile) {
  for (int row = 0; row < 16; ++row) {
    int from = row < tiles.rows[tile] ? tiles.bytes[tile] : 0;
    std::memset(tiles.data[tile][row] + from, 0, 64 - from);
  }
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float wide(const uint8_t *at) {
  uint16_t half;
  std::memcpy(&half, at, 2);
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return flushed(value);
}

/// Pairs of bf16: the sums of the first and of the second factors are made apart.
void sumPairs(const uint8_t *left, int pairs, int right, int column, uint8_t *target) {
  float even = 0, odd = 0, sum;
  for (int k = 0; k < pairs; ++k) {
    const uint8_t *terms = tiles.data[right][k] + 4 * column;
    even = flushed(std::fma(wide(left + 4 * k), wide(terms), even));
    odd = flushed(std::fma(wide(left + 4 * k + 2), wide(terms + 2), odd));
  }
  std::memcpy(&sum, target, 4);
  sum = flushed(flushed(sum) + flushed(even + odd));
  std::memcpy(target, &sum, 4);
}

/// `prefix`: none: both unsigned; 66: the second signed; F3: the second unsigned; F2: both signed.
void sumBytes(const uint8_t *left, int quads, int right, int column, int prefix, uint8_t *target) {
  bool leftSigned = prefix >= 2, rightSigned = prefix == 1 || prefix == 3;
  uint32_t sum;
  std::memcpy(&sum, target, 4);
  for (int i = 0; i < 4 * quads; ++i) {
    uint8_t x = left[i], y = tiles.data[right][i / 4][4 * column + i % 4];
    int first = leftSigned ? int8_t(x) : x, second = rightSigned ? int8_t(y) : y;
    sum += static_cast<uint32_t>(first * second);
  }
  std::memcpy(target, &sum, 4);
}

void multiply(const Instruction &in) {
  int target = in.reg, left = in.rm, right = in.vvvv;
  for (int tile : {target, left, right})
    need(tile);
  int groups = tiles.bytes[left] / 4;
  if (tiles.rows[target] != tiles.rows[left] || groups != tiles.rows[right] ||
      tiles.bytes[target] != tiles.bytes[right] || target == left || target == right ||
      left == right)
    refuse("a product of tiles whose sizes differ, or of a tile with itself");
  for (int row = 0; row < tiles.rows[target]; ++row)
    for (int column = 0; column < tiles.bytes[target] / 4; ++column) {
      uint8_t *sum = tiles.data[target][row] + 4 * column;
      if (in.opcode == 0x5c)
        sumPairs(tiles.data[left][row], groups, right, column, sum);
      else
        sumBytes(tiles.data[left][row], groups, right, column, in.prefix, sum);
    }
  zeroBehind(target);
}

void move(const Instruction &in, bool store) {
  need(in.reg);
  for (int row = 0; row < tiles.rows[in.reg]; ++row) {
    auto *memory = reinterpret_cast<void *>(in.base + static_cast<uint64_t>(row) * in.stride);
    if (store)
      std::memcpy(memory, tiles.data[in.reg][row], tiles.bytes[in.reg]);
    else
      std::memcpy(tiles.data[in.reg][row], memory, tiles.bytes[in.reg]);
  }
  if (!store)
    zeroBehind(in.reg);
}

bool perform(const Instruction &in) {
  bool memory = in.modrm >> 6 != 3;
  if (in.opcode == 0x49 && in.prefix == 0 && memory)
    loadConfiguration(in.base);
  else if (in.opcode == 0x49 && in.prefix == 0)
    tiles = Tiles();
  else if (in.opcode == 0x49 && in.prefix == 3 && !memory)
    need(in.reg), std::memset(tiles.data[in.reg], 0, sizeof tiles.data[in.reg]);
  else if (in.opcode == 0x4b && memory)
    move(in, in.prefix == 2);
  else if ((in.opcode == 0x5c && in.prefix == 2) || in.opcode == 0x5e)
    multiply(in);
  else
    return false;
  return true;
}

void onIllegalInstruction(int, siginfo_t *, void *state) {
  auto &context = *static_cast<ucontext_t *>(state);
  Instruction in;
  if (!decode(context, in) || !perform(in)) {
    std::signal(SIGILL, SIG_DFL); // the instruction is met again
    return;
  }
  context.uc_mcontext.gregs[REG_RIP] += in.length;
}

} // namespace

void emulateTiles() {
  struct sigaction action = {};
  action.sa_sigaction = onIllegalInstruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

} // namespace pellucid::codegen
