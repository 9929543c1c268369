// SPDX-License-Identifier: Apache-2.0
// A call of PyTorch's on a device is one kernel of blocks of 256 threads, as many as there are
// elements or as the device has room for. A thread is a subsequence of the generator; each of its
// draws gives four numbers of 32 bits, or two of 64.
#include "trace/DeviceDraws.h"

#include "reference/graph/Tensor.h"
#include "support/Philox.h"
#include "trace/EagerRecorder.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using Kind = HostDraw::Kind;

namespace {

constexpr uint64_t block = 256;
/// How far a draw moves the generator.
constexpr uint64_t numbersPerDraw = 4;

struct Shares {
  uint64_t threads = 0; ///< 0: one for each element
  uint64_t draws = 0;   ///< of each thread
};

Shares sharesOf(uint64_t elements, uint64_t width, uint64_t mostThreads) {
  uint64_t threads = std::min((elements + block - 1) / block * block, mostThreads);
  return {threads < elements ? threads : 0, (elements - 1) / (threads * width) + 1};
}

bool isWide(const HostDraw &draw) {
  switch (draw.kind) {
  case Kind::Integers:
    // A remainder is skewed by its range.
    return draw.range >= uint64_t(1) << 28;
  case Kind::WholeRange:
    return draw.dtype == DataType::Float64 || draw.dtype == DataType::Int64;
  default:
    return draw.dtype == DataType::Float64;
  }
}

/// As many numbers as x.random_() draws from.
uint64_t wholeRange(DataType type) {
  switch (type) {
  case DataType::Bool:
    return 2;
  case DataType::Float64:
    return (uint64_t(1) << 53) + 1;
  case DataType::Float32:
    return (1u << 24) + 1;
  case DataType::Float16:
    return (1u << 11) + 1;
  case DataType::BFloat16:
    return (1u << 8) + 1;
  default:
    return uint64_t(1) << (8 * byteSize(type) - (info(type).isSigned ? 1 : 0));
  }
}

int64_t bitsOf(DataType type) {
  return type == DataType::Float64    ? 53
         : type == DataType::Float16  ? 11
         : type == DataType::BFloat16 ? 8
                                      : 24;
}

/// Records the draws of one call.
class Recording {
public:
  Recording(Tracer &t, h::Interpreter &i, DeviceGenerator &g, Device d)
      : tracer(t), interpreter(i), generator(g), device(d), most(t.devices->drawingThreads(d)) {
    tracer.recorder->computeOn(device);
  }

  /// A row-major tensor of them.
  h::Value rows(const HostDraw &draw, const std::vector<int64_t> &shape, unsigned vector) {
    auto elements = static_cast<uint64_t>(draw.numel());
    uint64_t width = isWide(draw) ? 2 : 4;
    Shares shares = elements ? sharesOf(elements, width, most) : Shares{0, 0};
    uint64_t before = generator.offset;
    generator.offset += numbersPerDraw * shares.draws;
    if (fitsIn32Bits(draw.dtype, elements))
      return source(draw, shape, before, shares.threads, vector);
    // What has too many bytes is a kernel for each half, behind one that was planned for all.
    return call("view", {halves(draw, elements), numbers(shape)});
  }

  /// For probabilities of their own: a thread draws once, for four elements in a row.
  h::Value fours(const std::vector<int64_t> &shape) {
    HostDraw draw;
    draw.b = 1;
    uint64_t before = generator.offset;
    // Ten were asked for, of which threads take four at a time.
    generator.offset += 3 * numbersPerDraw;
    return source(draw, shape, before, 0, 4, true);
  }

  h::Value call(const std::string &name, std::vector<h::Value> args) {
    return callAten(tracer, interpreter, name, argsOf(std::move(args)));
  }
  h::Value to(const h::Value &value, DataType type) {
    return castTo(*value.as<TensorObject>(), interpreter, type);
  }
  h::Value numbers(std::span<const int64_t> values) {
    h::List list;
    for (int64_t value : values)
      list.push_back(h::Value(value));
    return h::Value::list(std::move(list));
  }
  /// On the device, as the script sees it.
  h::Value placed(const h::Value &value) {
    TracedStorage &storage = *value.as<TensorObject>()->tensor.storage;
    storage.device = device;
    storage.isPlaced = true;
    return value;
  }

private:
  h::Value halves(const HostDraw &draw, uint64_t elements) {
    h::Value first = piece(draw, elements / 2);
    return call("cat", {h::Value::list({first, piece(draw, elements - elements / 2)})});
  }
  h::Value piece(HostDraw draw, uint64_t elements) {
    draw.shape = {static_cast<int64_t>(elements)};
    return fitsIn32Bits(draw.dtype, elements) ? rows(draw, draw.shape, 1) : halves(draw, elements);
  }

  static bool fitsIn32Bits(DataType type, uint64_t elements) {
    constexpr auto largest = static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
    return elements == 0 || (elements - 1) * byteSize(type) + 1 <= largest;
  }

  TracedTensor number(uint64_t bits) {
    std::shared_ptr<std::byte[]> data(new std::byte[sizeof bits]);
    std::memcpy(data.get(), &bits, sizeof bits);
    ConcreteTensor one;
    one.dtype = DataType::Int64;
    one.data = {data, data.get()};
    TracedTensor made = tracer.recorder->tensorOf(one, Device());
    made.storage->isPlaced = false;
    return made;
  }

  h::Value seedOperand() {
    TracedTensor seed;
    if (!generator.operand) {
      seed = number(generator.seed);
      generator.operand = seed.storage;
    }
    seed.storage = generator.operand;
    seed.type = generator.operand->type;
    return tensorValue(tracer, std::move(seed));
  }

  /// `isOpen`: of uniform numbers, those of (0, 1] as they are drawn.
  h::Value source(const HostDraw &draw, const std::vector<int64_t> &shape, uint64_t offset,
                  uint64_t threads, unsigned vector, bool isOpen = false) {
    std::vector<h::Value> args = {numbers(shape), seedOperand(),
                                  tensorValue(tracer, number(offset))};
    auto put = [&](auto... values) { (args.push_back(h::Value(values)), ...); };
    auto most32 = static_cast<int64_t>(threads);
    auto dtype = [](DataType type) {
      return std::pair<std::string, h::Value>("dtype", dtypeValue(type));
    };
    auto made = [&](const char *name, DataType type) {
      return callAten(tracer, interpreter, name, argsOf(std::move(args), {dtype(type)}));
    };
    bool wide = isWide(draw);
    DataType computed = wide ? DataType::Float64 : DataType::Float32;
    auto single = [&](double x) { return wide ? x : double(static_cast<float>(x)); };
    switch (draw.kind) {
    case Kind::Uniform: {
      double from = reference::roundTo(draw.dtype, draw.a);
      // Nothing is drawn that is 2.
      double to = isOpen ? 2 : reference::roundTo(draw.dtype, draw.b);
      put(from, isOpen ? 1 : reference::roundTo(draw.dtype, to - from), to, bitsOf(draw.dtype),
          most32, static_cast<int64_t>(vector));
      return made("pellucid.cuda_uniform", draw.dtype);
    }
    case Kind::Bernoulli: {
      put(0.0, 1.0, 2.0, bitsOf(computed), most32, static_cast<int64_t>(vector));
      h::Value drawn = made("pellucid.cuda_uniform", computed);
      return to(call("lt", {drawn, h::Value(single(draw.a))}), draw.dtype);
    }
    case Kind::Normal:
      put(single(draw.a), single(draw.b), most32, wide);
      return to(made("pellucid.cuda_normal", computed), draw.dtype);
    case Kind::Exponential:
      put(wide ? -1.0 / draw.a : double(-1.0f / static_cast<float>(draw.a)), most32, wide);
      return to(made("pellucid.cuda_exponential", computed), draw.dtype);
    default: {
      bool isWhole = draw.kind == Kind::WholeRange;
      put(isWhole ? int64_t(0) : draw.base,
          static_cast<int64_t>(isWhole ? wholeRange(draw.dtype) : draw.range), most32, wide);
      return to(made("pellucid.cuda_randint", DataType::Int64), draw.dtype);
    }
    }
  }

  Tracer &tracer;
  h::Interpreter &interpreter;
  DeviceGenerator &generator;
  Device device;
  uint64_t most;
};

/// The dims from the farthest apart to the nearest, where they fill memory without gaps.
std::optional<std::vector<size_t>> denseOrder(const std::vector<int64_t> &shape,
                                              const std::vector<int64_t> &strides) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0; expected *= shape[order[i]])
    if (shape[order[i]] != 1 && strides[order[i]] != expected)
      return std::nullopt;
  return order;
}

std::vector<int64_t> constantsOf(const std::vector<Expr> &sizes) {
  std::vector<int64_t> out;
  for (const Expr &size : sizes)
    out.push_back(size.constant().value());
  return out;
}

/// As many elements in a row as a thread of PyTorch's dropout takes: 16 bytes, where all are whole.
unsigned dropoutVector(const TensorType &type, bool isDense) {
  if (!isDense)
    return 1;
  uint64_t elements = static_cast<uint64_t>(type.numel().constant().value());
  uint64_t vector = 16 / byteSize(type.dtype);
  auto offset = static_cast<uint64_t>(type.offset.constantOr(0));
  while (vector > 1 && (offset % vector != 0 || elements % vector != 0))
    vector /= 2;
  return static_cast<unsigned>(vector);
}

/// What `draw` gives, in the order of a memory with these strides.
h::Value shaped(Recording &recording, const HostDraw &draw, const DrawOrder &order) {
  auto outermost = order.strides.empty() ? std::nullopt : denseOrder(draw.shape, order.strides);
  if (!outermost || std::ranges::is_sorted(*outermost))
    return recording.rows(draw, draw.shape, order.vector);
  std::vector<int64_t> outer, back(draw.shape.size());
  for (size_t i = 0; i < outermost->size(); ++i) {
    outer.push_back(draw.shape[(*outermost)[i]]);
    back[(*outermost)[i]] = static_cast<int64_t>(i);
  }
  h::Value rows = recording.rows(draw, outer, order.vector);
  return recording.call("permute", {rows, recording.numbers(back)});
}

//===-- Philox on the host --------------------------------------------------------------------===//

/// Keys of 64 bits in [least, least + range).
std::vector<uint64_t> keysOf(DeviceGenerator &generator, uint64_t count, uint64_t range,
                             int64_t least, uint64_t mostThreads) {
  Shares shares = sharesOf(count, 2, mostThreads);
  uint64_t threads = shares.threads ? shares.threads : count;
  std::vector<uint64_t> keys(count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t turn = i / (threads * 2), inside = i % (threads * 2);
    PhiloxWords w = philox(generator.seed, generator.offset / 4 + turn, inside % threads);
    size_t at = inside / threads * 2;
    uint64_t word = uint64_t(w[at]) << 32 | w[at + 1];
    keys[i] = word % range + static_cast<uint64_t>(least);
  }
  generator.offset += numbersPerDraw * shares.draws;
  return keys;
}

} // namespace

std::vector<int64_t> permutationOf(DeviceGenerator &generator, int64_t n, uint64_t mostThreads) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t(0));
  if (n == 0)
    return order;
  // So many bits that two keys are the same once in ten permutations.
  auto size = static_cast<double>(n);
  int bits = std::min(64, static_cast<int>(std::ceil(
                              std::log2(size - (6 * size * size + 1) / (std::log(0.9) * 12)))));
  bool isShort = bits <= 32;
  int64_t least =
      isShort ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  uint64_t range =
      isShort ? std::numeric_limits<uint32_t>::max() : std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> keys =
      keysOf(generator, static_cast<uint64_t>(n), range, least, mostThreads);
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  // A sort by all bits of a signed number has the negative ones first.
  uint64_t sign = bits == 32 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  for (uint64_t &key : keys)
    key = (key & mask) ^ sign;
  auto keyAt = [&](size_t place) { return keys[static_cast<size_t>(order[place])]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  // Those with the same key are shuffled by a draw of the first one's thread.
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && keyAt(end) == keyAt(begin);)
      ++end;
    uint64_t taken = 0;
    for (size_t i = end - begin - 1; i > 0; --i, ++taken) {
      uint32_t word = philox(generator.seed, generator.offset / 4 + taken / 4, begin)[taken % 4];
      std::swap(order[begin + i], order[begin + word % (i + 1)]);
    }
  }
  generator.offset += static_cast<uint64_t>(n + 3) / 4 * 4;
  return order;
}

bool isDrawnOnDevices(Kind kind) {
  switch (kind) {
  case Kind::Uniform:
  case Kind::Normal:
  case Kind::Exponential:
  case Kind::Bernoulli:
  case Kind::Integers:
  case Kind::WholeRange:
  case Kind::Permutation:
    return true;
  default:
    return false;
  }
}

h::Value drawOnDevice(Tracer &tracer, h::Interpreter &interpreter, const HostDraw &draw,
                      DeviceGenerator &generator, Device device, const DrawOrder &order) {
  Recording recording(tracer, interpreter, generator, device);
  if (draw.kind == Kind::Permutation) {
    std::vector<int64_t> values =
        permutationOf(generator, draw.shape.at(0), tracer.devices->drawingThreads(device));
    ConcreteTensor made;
    made.dtype = DataType::Int64;
    made.shape = draw.shape;
    made.strides = {1};
    std::shared_ptr<std::byte[]> data(
        new std::byte[std::max<size_t>(values.size(), 1) * sizeof(int64_t)]);
    std::memcpy(data.get(), values.data(), values.size() * sizeof(int64_t));
    made.data = {data, data.get()};
    h::Value value = tensorValue(tracer, tracer.recorder->tensorOf(made, device));
    return recording.to(value, draw.dtype);
  }
  return recording.placed(shaped(recording, draw, order));
}

std::pair<h::Value, double> keptOnDevice(Tracer &tracer, h::Interpreter &interpreter,
                                         const TracedTensor &input, double p,
                                         DeviceGenerator &generator) {
  const TensorType &type = input.type;
  HostDraw draw;
  draw.kind = Kind::Bernoulli;
  bool wide = type.dtype == DataType::Float64;
  draw.a = 1 - p;
  draw.shape = constantsOf(type.shape);
  DrawOrder order;
  std::vector<int64_t> strides = constantsOf(type.strides);
  bool dense = denseOrder(draw.shape, strides).has_value();
  order.vector = dropoutVector(type, dense);
  if (dense)
    order.strides = strides;
  // All types but bool compare what is drawn in float32.
  draw.dtype = DataType::Bool;
  double kept = wide ? 1 - p : double(static_cast<float>(1 - p));
  double scale = wide ? 1 / kept : double(1.0f / static_cast<float>(kept));
  return {drawOnDevice(tracer, interpreter, draw, generator, input.storage->device, order), scale};
}

h::Value eventsOnDevice(Tracer &tracer, h::Interpreter &interpreter, const h::Value &probabilities,
                        DeviceGenerator &generator) {
  const TracedTensor &given = probabilities.as<TensorObject>()->tensor;
  Recording recording(tracer, interpreter, generator, given.storage->device);
  std::vector<int64_t> shape = constantsOf(given.type.shape);
  DataType type = given.type.dtype;
  h::Value drawn = recording.fours(shape);
  DataType computed = type == DataType::Float64 ? type : DataType::Float32;
  h::Value happens =
      recording.call("le", {recording.to(drawn, computed), recording.to(probabilities, computed)});
  return recording.placed(recording.to(happens, type));
}

} // namespace pellucid::trace
