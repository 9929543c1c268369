// SPDX-License-Identifier: Apache-2.0
#include "trace/CpuGenerator.h"

#include "reference/graph/Tensor.h"
#include "trace/FloatDraws.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <numbers>
#include <numeric>
#include <system_error>
#include <thread>

namespace pellucid::trace {

//===-- mt19937 -------------------------------------------------------------------------------===//

MersenneTwister::MersenneTwister(uint64_t seed) : position(624) {
  state[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < 624; ++i)
    state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

void MersenneTwister::twist() {
  // In three parts, so that no place is a remainder: big tensors are filled from here.
  auto mix = [this](size_t i, size_t next, size_t far) {
    uint32_t mixed = (state[i] & 0x80000000u) | (state[next] & 0x7fffffffu);
    state[i] = state[far] ^ (mixed >> 1) ^ (mixed & 1 ? 0x9908b0dfu : 0);
  };
  for (size_t i = 0; i < 227; ++i)
    mix(i, i + 1, i + 397);
  for (size_t i = 227; i < 623; ++i)
    mix(i, i + 1, i - 227);
  mix(623, 0, 396);
  position = 0;
}

static uint32_t tempered(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

uint32_t MersenneTwister::next() {
  if (position == 624)
    twist();
  return tempered(state[position++]);
}

void MersenneTwister::fill(uint32_t *out, size_t count) {
  while (count > 0) {
    if (position == 624)
      twist();
    size_t part = std::min(count, 624 - position);
    for (size_t i = 0; i < part; ++i)
      out[i] = tempered(state[position + i]);
    position += part;
    out += part;
    count -= part;
  }
}

void MersenneTwister::skip(uint64_t count) {
  while (count > 624 - position) {
    count -= 624 - position;
    twist();
  }
  position += count;
}

int64_t HostDraw::numel() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

//===-- Box and Muller on 16 numbers ----------------------------------------------------------===//

namespace {

void turnBlock(float *data, float mean, float deviation) { turnNormal(data, 1, mean, deviation); }

void turnBlock(double *data, double mean, double deviation) {
  for (size_t j = 0; j < 8; ++j) {
    double radius = std::sqrt(-2 * std::log(1 - data[j]));
    double theta = 2 * std::numbers::pi * data[j + 8];
    data[j] = std::fma(radius * std::cos(theta), deviation, mean);
    data[j + 8] = std::fma(radius * std::sin(theta), deviation, mean);
  }
}

/// Rows, or columns where there are fewer, of length 1 and at right angles: the Q of the rows'
/// decomposition whose R has a diagonal that is not negative, times `gain`.
std::vector<double> orthogonal(std::vector<double> drawn, size_t rows, size_t columns,
                               double gain) {
  bool tall = rows >= columns;
  size_t count = std::min(rows, columns), length = std::max(rows, columns);
  auto at = [&](size_t i, size_t k) -> double & {
    return drawn[tall ? k * columns + i : i * columns + k];
  };
  for (size_t i = 0; i < count; ++i) {
    // Twice, so that what is left of the others is at the level of rounding.
    for (int pass = 0; pass < 2; ++pass)
      for (size_t j = 0; j < i; ++j) {
        double along = 0;
        for (size_t k = 0; k < length; ++k)
          along += at(i, k) * at(j, k);
        for (size_t k = 0; k < length; ++k)
          at(i, k) -= along * at(j, k);
      }
    double norm = 0;
    for (size_t k = 0; k < length; ++k)
      norm += at(i, k) * at(i, k);
    norm = std::sqrt(norm);
    for (size_t k = 0; k < length; ++k)
      at(i, k) /= norm;
  }
  for (double &x : drawn)
    x *= gain;
  return drawn;
}

} // namespace

//===-- Filling -------------------------------------------------------------------------------===//

/// Draws from a state what one call asks for.
class CpuGenerator::Filler {
public:
  Filler(State &s, const HostDraw &d) : state(s), draw(d), count(static_cast<size_t>(d.numel())) {}

  DrawnValues fill() {
    switch (draw.kind) {
    case HostDraw::Kind::Uniform:
      return isSingle() ? DrawnValues{{}, {}, singleUniforms(draw.a, draw.b)}
                        : DrawnValues{uniforms(draw.a, draw.b), {}};
    case HostDraw::Kind::Normal:
      return isSingle() && inBlocks() ? DrawnValues{{}, {}, singleNormals(draw.a, draw.b)}
                                      : DrawnValues{normals(draw.a, draw.b), {}};
    case HostDraw::Kind::TruncatedNormal:
      return {truncatedNormals(), {}};
    case HostDraw::Kind::Exponential:
      return {each([&] { return -1 / draw.a * std::log1p(-doubleUniform()); }), {}};
    case HostDraw::Kind::Bernoulli:
      return {each([&] { return doubleUniform() < draw.a ? 1.0 : 0.0; }), {}};
    case HostDraw::Kind::Integers:
      return {{}, integers([&] { return draw.base + static_cast<int64_t>(below(draw.range)); })};
    case HostDraw::Kind::WholeRange:
      return {{}, integers([&] { return whole(); })};
    case HostDraw::Kind::Permutation:
      return {{}, permutation()};
    case HostDraw::Kind::Gamma:
      return {eachOf([&](double shape) { return gamma(shape); }), {}};
    case HostDraw::Kind::Poisson:
      return {eachOf([&](double rate) { return poisson(rate); }), {}};
    case HostDraw::Kind::Orthogonal: {
      size_t rows = static_cast<size_t>(draw.shape[0]);
      std::vector<double> drawn = normals(0, 1);
      return {count ? orthogonal(std::move(drawn), rows, count / rows, draw.a) : drawn, {}};
    }
    default:
      return {};
    }
  }

  /// What fill() takes from the generator, without the values.
  void pass() {
    bool isDouble = draw.dtype == DataType::Float64;
    switch (draw.kind) {
    case HostDraw::Kind::Uniform:
      return state.engine.skip(count * (isDouble ? 2 : 1));
    case HostDraw::Kind::Exponential:
    case HostDraw::Kind::Bernoulli:
      return state.engine.skip(2 * count);
    case HostDraw::Kind::Normal:
    case HostDraw::Kind::Orthogonal:
      if (!inBlocks())
        break;
      return state.engine.skip(
          (drawsForRest() ? count + (count % 16 ? 16 : 0) : (count + 15) / 16 * 16) *
          (isDouble ? 2 : 1));
    default:
      break;
    }
    fill();
  }

private:
  bool inBlocks() const { return count >= 16 && !draw.isScattered; }
  double doubleUniform() {
    return static_cast<double>(state.engine.next64() & ((uint64_t(1) << 53) - 1)) * 0x1p-53;
  }
  float floatUniform() { return static_cast<float>(state.engine.next() & 0xffffff) * 0x1p-24f; }
  double rounded(double value) const {
    if (draw.dtype == DataType::Float32 && value == value)
      return static_cast<double>(static_cast<float>(value));
    if (!isFloat(draw.dtype))
      return value;
    // To 16 bits by way of float32, as conversions from double go there.
    bool isNarrow = draw.dtype == DataType::Float16 || draw.dtype == DataType::BFloat16;
    return reference::roundTo(draw.dtype, isNarrow ? double(static_cast<float>(value)) : value);
  }

  std::vector<double> each(auto value) {
    std::vector<double> out(count);
    for (double &x : out)
      x = rounded(value());
    return out;
  }
  std::vector<double> eachOf(auto value) {
    std::vector<double> out;
    out.reserve(count);
    for (double number : *draw.of)
      out.push_back(rounded(value(number)));
    return out;
  }

  /// Marsaglia and Tsang's squeeze, as PyTorch has it: never below the type's smallest number.
  double gamma(double shape) {
    double smallest = draw.dtype == DataType::Float64 ? std::numeric_limits<double>::min()
                                                      : std::numeric_limits<float>::min();
    double scale = 1;
    if (shape < 1) {
      if (shape == 0)
        return smallest;
      scale *= std::pow(1 - doubleUniform(), 1.0 / shape);
      shape += 1;
    }
    double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
      double x = 0, y = 0;
      do {
        x = oneNormal(0, 1);
        y = 1.0 + c * x;
      } while (y <= 0);
      double v = y * y * y, u = 1 - doubleUniform(), xx = x * x;
      // The factor is a float there.
      if (u < 1.0 - static_cast<double>(0.0331f) * xx * xx ||
          std::log(u) < 0.5 * xx + d * (1.0 - v + std::log(v)))
        return std::max(smallest, scale * d * v);
    }
  }

  /// Products of uniform numbers, or Hörmann's rejection where the rate is large.
  double poisson(double rate) {
    if (rate == 0)
      return 0;
    if (rate < 10) {
      double product = 1, least = std::exp(-rate);
      for (double drawn = 0;; ++drawn) {
        product *= doubleUniform();
        if (!(product > least))
          return drawn;
      }
    }
    double root = std::sqrt(rate), logarithm = std::log(rate), b = 0.931 + 2.53 * root;
    double a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
    double surely = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
      double u = doubleUniform() - 0.5, v = doubleUniform(), distance = 0.5 - std::fabs(u);
      auto k = static_cast<int64_t>(std::floor((2 * a / distance + b) * u + rate + 0.43));
      auto drawn = static_cast<double>(k);
      if (distance >= 0.07 && v <= surely)
        return drawn;
      if (k < 0 || (distance < 0.013 && v > distance))
        continue;
      if (std::log(v) + std::log(inverse) - std::log(a / (distance * distance) + b) <=
          -rate + drawn * logarithm - std::lgamma(drawn + 1))
        return drawn;
    }
  }

  std::vector<int64_t> integers(auto value) {
    std::vector<int64_t> out(count);
    for (int64_t &x : out)
      x = value();
    return out;
  }

  std::vector<double> uniforms(double from, double to) {
    if (draw.dtype == DataType::Float64)
      return each([&] { return std::fma(doubleUniform(), to - from, from); });
    if (isSingle()) {
      std::vector<float> singles = singleUniforms(from, to);
      return {singles.begin(), singles.end()};
    }
    auto low = static_cast<float>(from), high = static_cast<float>(to);
    double first = rounded(from), last = rounded(to);
    return each([&] {
      double value = rounded(std::fma(floatUniform(), high - low, low));
      return value == last ? first : value;
    });
  }

  bool isSingle() const {
    return draw.dtype == DataType::Float32 || draw.dtype == DataType::Float16 ||
           draw.dtype == DataType::BFloat16;
  }

  /// Numbers in [low, high) of as many words, which come in parts that caches hold.
  void fillUniforms(float *out, size_t numbers, float low, float high) {
    uint32_t words[4096];
    for (size_t done = 0, part = 0; done < numbers; done += part) {
      part = std::min(numbers - done, std::size(words));
      state.engine.fill(words, part);
      uniformsOf(words, out + done, part, low, high);
    }
  }

  std::vector<float> singleUniforms(double from, double to) {
    std::vector<float> out(count);
    fillUniforms(out.data(), count, static_cast<float>(from), static_cast<float>(to));
    roundThrough(draw.dtype, out.data(), count);
    auto first = static_cast<float>(rounded(from)), last = static_cast<float>(rounded(to));
    for (float &x : out)
      x = x == last ? first : x;
    return out;
  }

  static constexpr size_t piece = size_t(1) << 20;

  /// The words come one after another; what is made of them is made side by side.
  void normalsInPieces(std::vector<float> &out, size_t whole, auto turn) {
    static constexpr size_t part = 4096;
    size_t most = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 8);
    std::deque<std::future<void>> pieces;
    for (size_t begin = 0; begin < whole; begin += piece) {
      size_t end = std::min(begin + piece, whole);
      auto words = std::make_shared<std::vector<uint32_t>>(end - begin);
      state.engine.fill(words->data(), words->size());
      auto make = [&out, turn, begin, end, words] {
        for (size_t at = begin; at < end; at += part) {
          size_t numbers = std::min(part, end - at);
          uniformsOf(words->data() + (at - begin), &out[at], numbers, 0, 1);
          turn(&out[at], numbers / 16);
        }
      };
      if (pieces.size() >= most)
        pieces.pop_front(); // waits for it
      try {
        pieces.push_back(std::async(std::launch::async, make));
      } catch (const std::system_error &) {
        make(); // there are no more threads
      }
    }
  }

  /// In blocks of 16; of a rest the last 16 are drawn anew.
  std::vector<float> singleNormals(double mean, double deviation) {
    std::vector<float> out(count);
    auto turn = [&](float *data, size_t blocks) {
      turnNormal(data, blocks, static_cast<float>(mean), static_cast<float>(deviation));
    };
    constexpr size_t part = 4096;
    size_t whole = count / 16 * 16;
    if (whole > piece)
      normalsInPieces(out, whole, turn);
    for (size_t at = 0; whole <= piece && at < whole; at += part) {
      size_t numbers = std::min(part, whole - at);
      fillUniforms(&out[at], numbers, 0, 1);
      turn(&out[at], numbers / 16);
    }
    if (whole != count) {
      if (drawsForRest())
        state.engine.skip(count - whole);
      fillUniforms(&out[count - 16], 16, 0, 1);
      turn(&out[count - 16], 1);
    }
    roundThrough(draw.dtype, out.data(), count);
    return out;
  }

  double oneNormal(double mean, double deviation) {
    double value = 0;
    if (state.nextNormal) {
      value = *state.nextNormal;
      state.nextNormal.reset();
    } else {
      double turn = doubleUniform(), size = doubleUniform();
      double radius = std::sqrt(-2.0 * std::log1p(-size));
      double theta = 2.0 * std::numbers::pi * turn;
      state.nextNormal = radius * std::sin(theta);
      value = radius * std::cos(theta);
    }
    return std::fma(value, deviation, mean);
  }

  std::vector<double> normals(double mean, double deviation) {
    if (!inBlocks())
      return each([&] { return oneNormal(mean, deviation); });
    if (isSingle()) {
      std::vector<float> singles = singleNormals(mean, deviation);
      return {singles.begin(), singles.end()};
    }
    if (draw.dtype == DataType::Float64)
      return normalsInBlocks<double>(mean, deviation, [&] { return doubleUniform(); });
    return normalsInBlocks<float>(mean, deviation, [&] { return floatUniform(); });
  }

  /// Types of 64 and 32 bits draw numbers for the rest of the last block before that block.
  bool drawsForRest() const {
    return draw.dtype == DataType::Float64 || draw.dtype == DataType::Float32;
  }
  /// In blocks of 16; of a rest the last 16 are drawn anew.
  template <typename Real>
  std::vector<double> normalsInBlocks(double mean, double deviation, auto uniform) {
    std::vector<double> out(count);
    Real block[16];
    auto turn = [&](size_t at) {
      for (Real &x : block)
        x = uniform();
      turnBlock(block, static_cast<Real>(mean), static_cast<Real>(deviation));
      for (size_t j = 0; j < 16; ++j)
        out[at + j] = rounded(block[j]);
    };
    size_t at = 0;
    for (; at + 16 <= count; at += 16)
      turn(at);
    if (count % 16 != 0) {
      for (; drawsForRest() && at < count; ++at)
        uniform();
      turn(count - 16);
    }
    return out;
  }

  /// nn.init.trunc_normal_: what lies outside is drawn again, with a whole tensor each time.
  std::vector<double> truncatedNormals() {
    double mean = draw.a, deviation = draw.b;
    auto below = [&](double x) {
      return (1 + std::erf((x - mean) / deviation / std::sqrt(2.0))) / 2;
    };
    return below(draw.high) - below(draw.low) > 0.3 ? redrawnNormals() : rejectedUniforms();
  }

  std::vector<double> redrawnNormals() {
    double low = rounded(draw.low), high = rounded(draw.high);
    std::vector<double> out = normals(draw.a, draw.b);
    auto outside = [&](double x) { return x < low || x > high; };
    while (std::any_of(out.begin(), out.end(), outside)) {
      std::vector<double> again = normals(draw.a, draw.b);
      for (size_t i = 0; i < count; ++i)
        if (outside(out[i]))
          out[i] = again[i];
    }
    return out;
  }

  /// Uniform numbers, each kept with the probability that the density has beside its peak.
  std::vector<double> rejectedUniforms() {
    double mode = std::max(draw.low, std::min(draw.a, draw.high));
    double peak = -0.5 * ((mode - draw.a) / draw.b) * ((mode - draw.a) / draw.b);
    std::vector<double> out(count);
    std::vector<bool> pending(count, true);
    while (std::find(pending.begin(), pending.end(), true) != pending.end()) {
      std::vector<double> candidates = uniforms(draw.low, draw.high), accept = uniforms(0, 1);
      for (size_t i = 0; i < count; ++i)
        if (pending[i]) {
          out[i] = candidates[i];
          pending[i] = logarithmOf(accept[i]) > densityOf(candidates[i], peak);
        }
    }
    return out;
  }
  double densityOf(double candidate, double peak) const {
    double x = rounded(rounded(candidate - rounded(draw.a)) / rounded(draw.b));
    return rounded(rounded(rounded(x * x) * -0.5) - rounded(peak));
  }
  double logarithmOf(double x) const { return rounded(std::log(x)); }

  /// Skewed by at most one part in 16.
  uint64_t below(uint64_t range) {
    return (range >= uint64_t(1) << 28 ? state.engine.next64() : state.engine.next()) % range;
  }

  int64_t whole() {
    switch (draw.dtype) {
    case DataType::Bool:
      return state.engine.next() & 1;
    case DataType::Int64:
      return static_cast<int64_t>(state.engine.next64() % (uint64_t(1) << 63));
    case DataType::Float64:
      return static_cast<int64_t>(state.engine.next64() % ((uint64_t(1) << 53) + 1));
    case DataType::Float32:
      return state.engine.next() % ((1u << 24) + 1);
    case DataType::Float16:
      return state.engine.next() % ((1u << 11) + 1);
    case DataType::BFloat16:
      return state.engine.next() % ((1u << 8) + 1);
    default: {
      unsigned bits = 8 * byteSize(draw.dtype) - (info(draw.dtype).isSigned ? 1 : 0);
      return static_cast<int64_t>(state.engine.next() % (uint64_t(1) << bits));
    }
    }
  }

  std::vector<int64_t> permutation() {
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), int64_t(0));
    bool isShort = count < std::numeric_limits<uint32_t>::max() / 20;
    for (size_t i = 0; i + 1 < count; ++i) {
      uint64_t word = isShort ? state.engine.next() : state.engine.next64();
      std::swap(order[i], order[i + word % (count - i)]);
    }
    return order;
  }

  State &state;
  const HostDraw &draw;
  size_t count;
};

//===-- The log -------------------------------------------------------------------------------===//

std::shared_ptr<const CpuGenerator::Handle> CpuGenerator::draw(HostDraw draw) {
  auto handle = std::make_shared<const Handle>(shared_from_this(), log.size());
  log.push_back({std::move(draw), handle, {}});
  return handle;
}

void CpuGenerator::seed(uint64_t value) {
  HostDraw draw;
  draw.kind = HostDraw::Kind::Seed;
  draw.range = lastSeed = value;
  log.push_back({draw, {}, {}});
}

size_t CpuGenerator::mark() {
  HostDraw draw;
  draw.kind = HostDraw::Kind::Mark;
  log.push_back({draw, {}, {}, lastSeed});
  return log.size() - 1;
}

void CpuGenerator::returnTo(size_t mark) {
  HostDraw draw;
  draw.kind = HostDraw::Kind::Return;
  draw.mark = mark;
  log.push_back({draw, {}, {}});
  lastSeed = log[mark].seed;
}

void CpuGenerator::pass(const Entry &entry) {
  if (entry.draw.kind == HostDraw::Kind::Seed)
    state = {MersenneTwister(entry.draw.range), {}};
  else if (entry.draw.kind == HostDraw::Kind::Return)
    state = *log[entry.draw.mark].before;
  else if (entry.draw.kind == HostDraw::Kind::Set)
    state = *entry.before;
  else if (entry.draw.kind != HostDraw::Kind::Mark)
    Filler(state, entry.draw).pass();
}

void CpuGenerator::advance(size_t index) {
  for (; known < index; ++known) {
    Entry &entry = log[known];
    if (entry.draw.kind == HostDraw::Kind::Mark || !entry.handle.expired())
      entry.before = state;
    pass(entry);
  }
}

namespace {

// Of CPUGeneratorImplState: the seed, how many words are left, whether there is a seed, the next
// word, 624 words of 64 bits, three doubles of which the second is the normal number that is not
// given yet, whether it is there, and the same of a float, which is never there.
constexpr size_t leftAt = 8, seededAt = 12, nextAt = 16, wordsAt = 24, normalAt = 24 + 624 * 8 + 8,
                 hasNormalAt = normalAt + 16;

template <typename T> void put(std::span<uint8_t> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <typename T> T taken(std::span<const uint8_t> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

} // namespace

std::array<uint8_t, CpuGenerator::stateBytes> CpuGenerator::save() {
  advance(log.size());
  std::array<uint8_t, stateBytes> bytes{};
  size_t place = state.engine.place();
  put(bytes, 0, lastSeed);
  put(bytes, leftAt, static_cast<int32_t>(place == 624 ? 1 : 625 - place));
  put(bytes, seededAt, int32_t(1));
  put(bytes, nextAt, static_cast<uint64_t>(place));
  for (size_t i = 0; i < 624; ++i)
    put(bytes, wordsAt + 8 * i, static_cast<uint64_t>(state.engine.words()[i]));
  if (state.nextNormal) {
    put(bytes, normalAt, *state.nextNormal);
    put(bytes, hasNormalAt, int32_t(1));
  }
  return bytes;
}

bool CpuGenerator::restore(std::span<const uint8_t> bytes) {
  if (bytes.size() != stateBytes && bytes.size() != stateBytes - 8)
    return false;
  auto left = taken<int32_t>(bytes, leftAt);
  auto next = taken<uint64_t>(bytes, nextAt);
  if (left < 1 || left > 624 || next > 624 || (left > 1 && next != 625u - unsigned(left)))
    return false;
  std::array<uint32_t, 624> words;
  for (size_t i = 0; i < 624; ++i)
    words[i] = static_cast<uint32_t>(taken<uint64_t>(bytes, wordsAt + 8 * i));
  State given{MersenneTwister(0), {}};
  given.engine.set(words, left == 1 ? 624 : next);
  if (taken<int32_t>(bytes, hasNormalAt) & 0xff)
    given.nextNormal = taken<double>(bytes, normalAt);
  HostDraw draw;
  draw.kind = HostDraw::Kind::Set;
  log.push_back({draw, {}, std::move(given)});
  lastSeed = taken<uint64_t>(bytes, 0);
  return true;
}

DrawnValues CpuGenerator::valuesOf(size_t index) {
  advance(index);
  // What is asked for as it is drawn is drawn once.
  if (known == index) {
    ++known;
    log[index].before = state;
    return Filler(state, log[index].draw).fill();
  }
  State from = *log[index].before;
  return Filler(from, log[index].draw).fill();
}

} // namespace pellucid::trace
