// SPDX-License-Identifier: Apache-2.0
// The sources of random numbers by their definition: Philox 4x32 with ten rounds, and the
// distributions in double precision. The element's index, the call site, and the run's seed and
// offset are the counter and key.
#include "reference/graph/Operators.h"
#include "support/Philox.h"

#include <cmath>
#include <numbers>

namespace pellucid::reference {

namespace {

using Words = PhiloxWords;

/// The end of MurmurHash3.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

uint64_t keyOf(const Call &call) {
  auto seed = static_cast<uint64_t>(call.integer("seed"));
  if (!call.bound.at("turn").value())
    return seed;
  return seed ^ mixed(static_cast<uint64_t>(call.tensor("turn").integer({})));
}

Words wordsOf(const Call &call, int64_t element) {
  auto i = static_cast<uint64_t>(element), offset = static_cast<uint64_t>(call.integer("offset")),
       site = static_cast<uint64_t>(call.integer("site"));
  return philox(keyOf(call),
                {static_cast<uint32_t>(i), static_cast<uint32_t>((i >> 32) + (site << 12)),
                 static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)});
}

uint64_t wide(uint32_t low, uint32_t high) { return low | uint64_t(high) << 32; }

/// In (0, 1], of as many bits as the type has room for.
double openUniform(const Call &call, const Words &words) {
  if (call.flag("wide"))
    return (static_cast<double>(wide(words[0], words[1]) >> 11) + 0.5) * 0x1p-53;
  return std::fma(static_cast<float>(words[0]), 0x1p-32f, 0x1p-33f);
}

double uniform(const Call &call, const Words &words) {
  auto bits = static_cast<unsigned>(call.integer("bits"));
  if (bits > 32)
    return std::ldexp(static_cast<double>(wide(words[0], words[1]) >> (64 - bits)), -int(bits));
  return std::ldexp(words[0] >> (32 - bits), -int(bits));
}

double normal(const Call &call, const Words &words) {
  double turns = call.flag("wide") ? static_cast<double>(wide(words[2], words[3]) >> 8) * 0x1p-56
                                   : words[2] * 0x1p-32;
  // A quadrant's middle is its axis.
  double angle = 2 * std::numbers::pi * (turns - 0.125);
  return std::sqrt(-2 * std::log(openUniform(call, words))) * std::cos(angle);
}

double exponential(const Call &call, const Words &words) {
  return std::max(-std::log(openUniform(call, words)), call.flag("wide") ? 0x1p-54 : 0x1p-33);
}

Handler drawn(double (*draw)(const Call &, const Words &)) {
  return [draw](const Call &call) -> Results {
    Tensor result(call.resultDtype(), call.resultShape());
    int64_t element = 0;
    Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
      result.set(index, draw(call, wordsOf(call, element++)));
    });
    return {result};
  };
}

Results randint(const Call &call) {
  Tensor result(call.resultDtype(), call.resultShape());
  int64_t low = call.integer("low");
  uint64_t count = static_cast<uint64_t>(call.integer("high")) - static_cast<uint64_t>(low);
  int64_t element = 0;
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    Words words = wordsOf(call, element++);
    uint64_t above = static_cast<uint64_t>(
        static_cast<unsigned __int128>(wide(words[0], words[1])) * count >> 64);
    result.setInteger(index, static_cast<int64_t>(static_cast<uint64_t>(low) + above));
  });
  return {result};
}

/// PyTorch's draws of a CUDA device: whose the element is, in which turn and as which number of it.
struct DevicePlace {
  uint64_t thread, turn, number;
};

DevicePlace devicePlace(const Call &call, uint64_t element, uint64_t width, uint64_t vector) {
  auto threads = static_cast<uint64_t>(call.integer("threads"));
  if (threads == 0)
    threads = uint64_t(1) << 40;
  if (vector == 1)
    return {element % threads, element / threads / width, element / threads % width};
  uint64_t group = element / vector, inside = element % vector;
  uint64_t turns = std::max<uint64_t>(vector / 4, 1);
  return {group % threads, group / threads * turns + inside / 4, inside % 4};
}

/// The words of the element's number: one of 32 bits, or two.
Words deviceWords(const Call &call, uint64_t element, bool isWide, uint64_t vector = 1) {
  DevicePlace place = devicePlace(call, element, isWide ? 2 : 4, vector);
  uint64_t turn = static_cast<uint64_t>(call.tensor("offset").integer({})) / 4 + place.turn;
  Words all = philox(static_cast<uint64_t>(call.tensor("seed").integer({})), turn, place.thread);
  if (isWide)
    return {all[place.number * 2], all[place.number * 2 + 1], all[0], all[1]};
  return {all[place.number], 0, 0, 0};
}

double deviceOpen(const Words &words, bool isWide) {
  if (isWide)
    return std::fma(static_cast<double>(words[0] ^ uint64_t(words[1]) << 21), 0x1p-53, 0x1p-54);
  return std::fma(static_cast<float>(words[0]), 0x1p-32f, 0x1p-33f);
}

Results drawnOnDevice(const Call &call, const std::function<double(uint64_t)> &draw) {
  Tensor result(call.resultDtype(), call.resultShape());
  uint64_t element = 0;
  Tensor::forEachIndex(result.shape,
                       [&](std::span<const int64_t> index) { result.set(index, draw(element++)); });
  return {result};
}

Results deviceUniform(const Call &call) {
  bool isWide = call.integer("bits") == 53;
  double low = call.number("low"), range = call.number("range"), high = call.number("high");
  DataType type = call.resultDtype();
  return drawnOnDevice(call, [&](uint64_t element) {
    double x = deviceOpen(
        deviceWords(call, element, isWide, static_cast<uint64_t>(call.integer("vector"))), isWide);
    x = isWide ? std::fma(x, range, low)
               : double(std::fma(static_cast<float>(x), static_cast<float>(range),
                                 static_cast<float>(low)));
    x = roundTo(type, x);
    return x == high ? low : x;
  });
}

Results deviceNormal(const Call &call) {
  bool isWide = call.flag("wide");
  double mean = call.number("mean"), deviation = call.number("std");
  return drawnOnDevice(call, [&](uint64_t element) {
    DevicePlace place = devicePlace(call, element, isWide ? 2 : 4, 1);
    uint64_t turn = static_cast<uint64_t>(call.tensor("offset").integer({})) / 4 + place.turn;
    Words w = philox(static_cast<uint64_t>(call.tensor("seed").integer({})), turn, place.thread);
    size_t pair = isWide ? 0 : place.number / 2 * 2;
    double open =
        isWide ? deviceOpen({w[0], w[1], 0, 0}, true) : deviceOpen({w[pair], 0, 0, 0}, false);
    double angle = isWide ? (static_cast<double>(w[2] ^ uint64_t(w[3]) << 21) * 0x1p-52 + 0x1p-53) *
                                std::numbers::pi
                          : (w[pair + 1] * 0x1p-32 + 0x1p-33) * 2 * std::numbers::pi;
    double x =
        std::sqrt(-2 * std::log(open)) * (place.number % 2 ? std::cos(angle) : std::sin(angle));
    return x * deviation + mean;
  });
}

Results deviceExponential(const Call &call) {
  bool isWide = call.flag("wide");
  double factor = call.number("factor"), least = isWide ? 0x1p-53 : 0x1p-24;
  return drawnOnDevice(call, [&](uint64_t element) {
    double x = deviceOpen(deviceWords(call, element, isWide), isWide);
    return (x >= 1 - least ? -least : std::log(x)) * factor;
  });
}

Results deviceRandint(const Call &call) {
  bool isWide = call.flag("wide");
  auto low = static_cast<uint64_t>(call.integer("low")),
       range = static_cast<uint64_t>(call.integer("range"));
  Tensor result(call.resultDtype(), call.resultShape());
  uint64_t element = 0;
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    Words words = deviceWords(call, element++, isWide);
    uint64_t word = isWide ? uint64_t(words[0]) << 32 | words[1] : words[0];
    result.setInteger(index, static_cast<int64_t>(word % range + low));
  });
  return {result};
}

Results affine(const Call &call) {
  Tensor result(call.resultDtype(), call.resultShape());
  auto operand = [&](const char *name) -> std::function<double(std::span<const int64_t>)> {
    if (!call.bound.at(name).value())
      return [value = call.number(name)](std::span<const int64_t>) { return value; };
    return [tensor = broadcast(call.tensor(name), result.shape)](std::span<const int64_t> index) {
      return tensor.real(index);
    };
  };
  auto self = operand("self"), scale = operand("scale"), shift = operand("shift");
  bool isDouble = result.dtype == DataType::Float64;
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    double a = self(index), b = scale(index), c = shift(index);
    result.set(index, isDouble ? std::fma(a, b, c)
                               : std::fma(static_cast<float>(a), static_cast<float>(b),
                                          static_cast<float>(c)));
  });
  return {result};
}

Handler checked(bool (*holds)(double)) {
  return [holds](const Call &call) -> Results {
    for (double value : call.tensor("self").reals())
      if (!holds(value))
        call.fail("is given " + std::to_string(value));
    return {call.tensor("self").copy()};
  };
}

Results drawTurn(const Call &call) {
  Tensor result(call.resultDtype(), call.resultShape());
  Tensor outer = broadcast(call.tensor("outer"), result.shape),
         inner = broadcast(call.tensor("inner"), result.shape);
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    result.setInteger(index,
                      static_cast<int64_t>(mixed(static_cast<uint64_t>(outer.integer(index))) +
                                           static_cast<uint64_t>(inner.integer(index))));
  });
  return {result};
}

/// A composite draws once its draws have their numbers, which passes give them.
Results notNumbered(const Call &call) {
  call.fail("draws random numbers, which have numbers of their own once the program is decomposed");
}

Results dropout(const Call &call) {
  const Tensor &input = call.tensor("input");
  if (!call.flag("train") || call.number("p") == 0)
    return {input};
  if (call.number("p") != 1)
    return notNumbered(call);
  Tensor result = input.copy();
  Tensor::forEachIndex(result.shape, [&](std::span<const int64_t> index) {
    result.set(index, input.real(index) * 0);
  });
  return {result};
}

} // namespace

void addRandom(Table &table) {
  for (const char *name :
       {"rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "normal",
        "normal_functional", "uniform", "bernoulli", "exponential", "random", "native_dropout"})
    table["aten." + std::string(name)] = notNumbered;
  table["aten.dropout"] = dropout;
  table["pellucid.bernoulli"] = notNumbered;
  table["pellucid.probability"] = checked([](double x) { return x >= 0 && x <= 1; });
  table["pellucid.deviation"] = checked([](double x) { return x >= 0; });
  table["pellucid.philox_uniform"] = drawn(uniform);
  table["pellucid.philox_normal"] = drawn(normal);
  table["pellucid.philox_exponential"] = drawn(exponential);
  table["pellucid.philox_randint"] = randint;
  table["pellucid.cuda_uniform"] = deviceUniform;
  table["pellucid.cuda_normal"] = deviceNormal;
  table["pellucid.cuda_exponential"] = deviceExponential;
  table["pellucid.cuda_randint"] = deviceRandint;
  table["pellucid.affine"] = affine;
  table["pellucid.draw_turn"] = drawTurn;
}

} // namespace pellucid::reference
