// SPDX-License-Identifier: Apache-2.0
/// PyTorch's generator of random numbers on the CPU, as its kernels for AVX2 draw from it: a
/// mt19937 and a transform per distribution. What module constructors and files draw is noted down
/// in order; values are made when they are asked for, so a model whose weights are given draws
/// none.
#pragma once

#include "support/DataType.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pellucid::trace {

/// mt19937 (Matsumoto and Nishimura, 1998), seeded with 32 bits.
class MersenneTwister {
public:
  explicit MersenneTwister(uint64_t seed);
  uint32_t next();
  uint64_t next64() {
    uint64_t high = next();
    return high << 32 | next();
  }
  void skip(uint64_t count);
  void fill(uint32_t *out, size_t count);
  const std::array<uint32_t, 624> &words() const { return state; }
  size_t place() const { return position; } ///< of the next word; 624 where all are used
  void set(const std::array<uint32_t, 624> &words, size_t place) {
    state = words;
    position = place;
  }

private:
  void twist();
  std::array<uint32_t, 624> state;
  size_t position;
};

/// One call that fills a tensor.
struct HostDraw {
  enum class Kind : uint8_t {
    Uniform,         ///< in [a, b)
    Normal,          ///< of mean a and deviation b
    TruncatedNormal, ///< in [low, high]
    Exponential,     ///< of the rate a
    Bernoulli,       ///< 1 with the probability a
    Integers,        ///< in [base, base + range)
    WholeRange,      ///< x.random_(): what the type holds
    Permutation,
    Orthogonal, ///< times the gain a
    Gamma,      ///< each of the shape that `of` has there, of scale 1
    Poisson,    ///< each of the rate that `of` has there
    // These fill nothing.
    Seed, ///< manual_seed(range)
    Mark, ///< the state here can be returned to
    Return,
    Set, ///< the state is one that came from elsewhere
  };
  Kind kind = Kind::Uniform;
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape;
  double a = 0, b = 1, low = 0, high = 0;
  std::shared_ptr<const std::vector<double>> of = nullptr; ///< one number per element
  int64_t base = 0;
  uint64_t range = 0;
  /// Into memory that is not row by row, where normal numbers come one by one.
  bool isScattered = false;
  size_t mark = 0; ///< Return: which draw

  int64_t numel() const;
};

/// What a draw gave: `integers` where the type is one; `singles` for uniform and normal numbers of
/// float32, float16 and bfloat16.
struct DrawnValues {
  std::vector<double> reals;
  std::vector<int64_t> integers;
  std::vector<float> singles = {};
};

class CpuGenerator : public std::enable_shared_from_this<CpuGenerator> {
public:
  explicit CpuGenerator(uint64_t seed) : lastSeed(seed), state{MersenneTwister(seed), {}} {}

  /// The values of one draw, to be had at any time and any number of times.
  class Handle {
  public:
    Handle(std::shared_ptr<CpuGenerator> g, size_t i) : generator(std::move(g)), index(i) {}
    DrawnValues values() const { return generator->valuesOf(index); }
    DataType dtype() const { return generator->log[index].draw.dtype; }

  private:
    std::shared_ptr<CpuGenerator> generator;
    size_t index;
  };
  std::shared_ptr<const Handle> draw(HostDraw draw);

  void seed(uint64_t value);
  uint64_t initialSeed() const { return lastSeed; }
  /// A place to return to.
  size_t mark();
  void returnTo(size_t mark);

  /// The state as PyTorch's get_rng_state() lays it out.
  static constexpr size_t stateBytes = 5056;
  std::array<uint8_t, stateBytes> save();
  /// False for bytes that are no state.
  bool restore(std::span<const uint8_t> bytes);

private:
  struct State {
    MersenneTwister engine;
    std::optional<double> nextNormal; ///< of a pair, the one that is not given yet
  };
  struct Entry {
    HostDraw draw;
    std::weak_ptr<const Handle> handle;
    std::optional<State> before;
    uint64_t seed = 0; ///< Mark: what initialSeed() was
  };
  class Filler;

  DrawnValues valuesOf(size_t index);
  void advance(size_t index);
  void pass(const Entry &entry);

  uint64_t lastSeed;
  std::vector<Entry> log;
  size_t known = 0; ///< `state` is the one before log[known]
  State state;
};

} // namespace pellucid::trace
