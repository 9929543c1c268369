// SPDX-License-Identifier: Apache-2.0
#include "trace/HostDraws.h"

#include "graph/FakeRules.h"
#include "trace/DeviceDraws.h"
#include "trace/EagerRecorder.h"
#include "trace/HeldNumber.h"
#include "trace/TensorCalls.h"
#include "trace/TorchRandom.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

const GeneratorStream &streamIn(h::Interpreter &interpreter, const h::Value &given) {
  if (auto *stream = given.as<GeneratorStream>())
    return *stream;
  if (h::typeName(given) != "Generator")
    interpreter.raise("TypeError", "a generator is a torch.Generator, got " + h::typeName(given));
  return *interpreter.getAttr(given, "_stream").as<GeneratorStream>();
}

namespace {

[[noreturn]] void raiseOtherDevice(h::Interpreter &interpreter, const char *wanted,
                                   const char *found) {
  interpreter.raise("RuntimeError", std::string("Expected a '") + wanted +
                                        "' device type for generator but found '" + found + "'");
}

CpuGenerator &generatorOf(Tracer &tracer, h::Interpreter &interpreter, const h::Value &given) {
  if (given.isNone())
    return *tracer.generator;
  const GeneratorStream &stream = streamIn(interpreter, given);
  if (!stream.stream)
    raiseOtherDevice(interpreter, "cpu", "cuda");
  return *stream.stream;
}

DeviceGenerator &generatorOn(Tracer &tracer, h::Interpreter &interpreter, const h::Value &given,
                             Device device) {
  if (given.isNone())
    return *tracer.devices->generatorOf(device.index);
  const GeneratorStream &stream = streamIn(interpreter, given);
  if (!stream.onDevice)
    raiseOtherDevice(interpreter, "cuda", "cpu");
  return *stream.onDevice;
}

/// Where a script's draw is a device's own: what is drawn for a tensor on one, or asked for there.
std::optional<Device> drawingDevice(const Tracer &tracer, const TracedStorage *like) {
  if (!tracer.recorder || !tracer.devices || !tracer.devices->areUsed)
    return std::nullopt;
  Device device = like ? like->device : tracer.devices->asked ? *tracer.devices->asked : Device();
  bool isPlaced = !like || like->isPlaced;
  return isPlaced && device.kind == Device::Kind::Cuda ? std::optional(device) : std::nullopt;
}

/// The arguments of a call, by their places or names.
class Arguments {
public:
  Arguments(h::Interpreter &i, const std::string &n, const h::CallArgs &a)
      : interpreter(i), name(n), args(a) {}

  const h::Value *find(size_t place, std::string_view keyword) const {
    return place < args.positional.size() ? &args.positional[place] : args.keyword(keyword);
  }
  double number(size_t place, std::string_view keyword, double fallback) const {
    const h::Value *value = find(place, keyword);
    return value && !value->isNone() ? interpreter.toDouble(*value, "a number of torch." + name)
                                     : fallback;
  }
  h::Value generator() const {
    const h::Value *value = args.keyword("generator");
    return value ? *value : h::Value();
  }
  DataType dtype(DataType fallback) const {
    const h::Value *value = args.keyword("dtype");
    return value ? askedType(interpreter, name, *value).value_or(fallback) : fallback;
  }
  /// Of a keyword that changes what is drawn and is not done here.
  void refuse(std::initializer_list<const char *> keywords) const {
    for (const char *keyword : keywords)
      if (const h::Value *value = args.keyword(keyword); value && !value->isNone())
        interpreter.refuse("torch." + name + " with " + keyword +
                           "= is not supported where a module is made");
  }

  h::Interpreter &interpreter;
  std::string name;
  const h::CallArgs &args;
};

std::vector<int64_t> constantSizes(h::Interpreter &interpreter, const std::vector<Expr> &sizes) {
  std::vector<int64_t> shape;
  int64_t total = 1;
  for (const Expr &size : sizes) {
    std::optional<int64_t> known = size.constant();
    if (known && *known < 0) {
      std::string all;
      for (const Expr &each : sizes)
        all += (all.empty() ? "" : ", ") + each.text();
      interpreter.raise("RuntimeError", "Trying to create tensor with negative dimension " +
                                            size.text() + ": [" + all + "]");
    }
    if (!known)
      interpreter.refuse("a tensor that is drawn while a module is made has constant sizes, got " +
                         size.text());
    if (__builtin_mul_overflow(total, std::max<int64_t>(*known, 1), &total))
      interpreter.refuse("a tensor of so many elements cannot be drawn");
    shape.push_back(*known);
  }
  return shape;
}

void checkDrawn(h::Interpreter &interpreter, const HostDraw &draw) {
  using Kind = HostDraw::Kind;
  bool real = draw.kind == Kind::Uniform || draw.kind == Kind::Normal ||
              draw.kind == Kind::TruncatedNormal || draw.kind == Kind::Exponential ||
              draw.kind == Kind::Orthogonal;
  bool drawable = draw.dtype == DataType::Float64 || draw.dtype == DataType::Float32 ||
                  draw.dtype == DataType::Float16 || draw.dtype == DataType::BFloat16;
  if (real && !drawable)
    interpreter.raise("RuntimeError", "numbers of that distribution are floats of 16, 32 or 64 "
                                      "bits, got " +
                                          std::string(info(draw.dtype).torch));
  if (draw.kind == Kind::Uniform && !(draw.a <= draw.b))
    interpreter.raise("RuntimeError", "uniform_ expects from <= to");
  if ((draw.kind == Kind::Normal || draw.kind == Kind::TruncatedNormal) && !(draw.b >= 0))
    interpreter.raise("RuntimeError", "normal expects std >= 0.0");
  if (draw.kind == Kind::Exponential && !(draw.a > 0))
    interpreter.raise("RuntimeError", "exponential_ expects lambda > 0.0");
  if (draw.kind == Kind::Bernoulli && !(draw.a >= 0 && draw.a <= 1))
    interpreter.raise("RuntimeError", "bernoulli_ expects p to be in [0, 1]");
}

Initializer drawn(Tracer &tracer, h::Interpreter &interpreter, HostDraw draw,
                  const h::Value &generator) {
  checkDrawn(interpreter, draw);
  Initializer initializer{Initializer::Kind::Drawn, 0, {}};
  initializer.drawn = generatorOf(tracer, interpreter, generator).draw(std::move(draw));
  return initializer;
}

h::Value newTensor(Tracer &tracer, h::Interpreter &interpreter, HostDraw draw,
                   const h::Value &generator, const TensorObject *like = nullptr) {
  auto device = drawingDevice(tracer, like ? like->tensor.storage.get() : nullptr);
  if (device && isDrawnOnDevices(draw.kind)) {
    checkDrawn(interpreter, draw);
    DrawOrder order;
    // As PyTorch keeps a format: the numbers lie in the order of memory.
    if (like && like->tensor.type.shape.size() == draw.shape.size())
      for (const Expr &stride : like->tensor.type.strides)
        order.strides.push_back(stride.constantOr(0));
    return drawOnDevice(tracer, interpreter, draw,
                        generatorOn(tracer, interpreter, generator, *device), *device, order);
  }
  TensorType type(draw.dtype, std::vector<Expr>(draw.shape.begin(), draw.shape.end()));
  Initializer initializer = drawn(tracer, interpreter, std::move(draw), generator);
  return tensorValue(tracer, tracer.unbound(type, std::move(initializer)));
}

/// A draw for a new tensor that lies as `like` does: numbers come in the order of the memory.
h::Value newTensorLike(const TensorObject &like, h::Interpreter &interpreter, HostDraw draw,
                       const h::Value &generator) {
  Tracer &tracer = like.tracer;
  const TensorType &type = like.tensor.type;
  std::vector<Expr> strides = preservedStrides(type, tracer.symbols());
  if (strides == contiguousStrides(type.shape) || drawingDevice(tracer, like.tensor.storage.get()))
    return newTensor(tracer, interpreter, std::move(draw), generator, &like);
  // The dims from the outermost in memory, and where each of the tensor's is among them.
  std::vector<size_t> order(type.rank());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return strides[a].constantOr(0) > strides[b].constantOr(0);
  });
  std::vector<int64_t> shape = draw.shape;
  h::List back(type.rank());
  for (size_t i = 0; i < order.size(); ++i) {
    draw.shape[i] = shape[order[i]];
    back[order[i]] = h::Value(static_cast<int64_t>(i));
  }
  draw.isScattered = true;
  h::Value drawn = newTensor(tracer, interpreter, std::move(draw), generator, &like);
  return callAten(tracer, interpreter, "permute", argsOf({drawn, h::Value::list(std::move(back))}));
}

} // namespace

h::Value fillDrawn(TensorObject &self, h::Interpreter &interpreter, HostDraw draw,
                   const h::Value &generator) {
  Tracer &tracer = self.tracer;
  const TensorType &type = self.tensor.type;
  draw.dtype = type.dtype;
  draw.shape = constantSizes(interpreter, type.shape);
  if (drawingDevice(tracer, self.tensor.storage.get()) && isDrawnOnDevices(draw.kind))
    return self.assign(interpreter, newTensor(tracer, interpreter, draw, generator, &self), "draw");
  // There the order of the memory decides which element is drawn first, and another transform.
  if (!type.isContiguous(tracer.symbols()))
    interpreter.refuse("drawing into a view that is not contiguous, while a module is made; draw "
                       "a tensor of its own and copy it");
  Initializer initializer = drawn(tracer, interpreter, std::move(draw), generator);
  TracedStorage &storage = *self.tensor.storage;
  if (!storage.constructed && !storage.base && type == storage.type) {
    storage.initializer = std::move(initializer);
    return selfOf(self);
  }
  // A part, or what something was computed with: the values are written into it.
  TensorType fresh(type.dtype, type.shape);
  return self.assign(interpreter, tensorValue(tracer, tracer.unbound(fresh, initializer)), "draw");
}

namespace {

/// Integers in [low, high).
HostDraw integersBetween(h::Interpreter &interpreter, int64_t low, int64_t high) {
  if (low >= high)
    interpreter.raise("RuntimeError", "random_ expects 'from' to be less than 'to', but got from=" +
                                          std::to_string(low) + " >= to=" + std::to_string(high));
  HostDraw draw;
  draw.kind = HostDraw::Kind::Integers;
  draw.base = low;
  draw.range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return draw;
}

HostDraw wholeOrBetween(const Arguments &a) {
  h::Interpreter &i = a.interpreter;
  const h::Value *first = a.find(0, "from"), *second = a.find(1, "to");
  if (!second && first && !a.args.keyword("from"))
    return integersBetween(i, 0, i.toInt64(*first, "to"));
  if (second && !second->isNone())
    return integersBetween(i, first ? i.toInt64(*first, "from") : 0, i.toInt64(*second, "to"));
  if (first)
    i.refuse("random_(from) without to is not supported where a module is made; say to");
  HostDraw draw;
  draw.kind = HostDraw::Kind::WholeRange;
  return draw;
}

/// What x.NAME_(…) draws; nullopt where it draws nothing.
std::optional<HostDraw> filling(const Arguments &a) {
  HostDraw draw;
  if (a.name == "uniform") {
    draw.kind = HostDraw::Kind::Uniform;
    draw.a = a.number(0, "from", 0);
    draw.b = a.number(1, "to", 1);
  } else if (a.name == "normal_functional") {
    draw.kind = HostDraw::Kind::Normal;
    draw.a = a.number(0, "mean", 0);
    draw.b = a.number(1, "std", 1);
  } else if (a.name == "exponential") {
    draw.kind = HostDraw::Kind::Exponential;
    draw.a = a.number(0, "lambd", 1);
  } else if (a.name == "pellucid.bernoulli") {
    const h::Value *p = a.find(0, "p");
    if (p && p->as<TensorObject>())
      a.interpreter.refuse("bernoulli_ with a tensor of probabilities is not supported where a "
                           "module is made");
    draw.kind = HostDraw::Kind::Bernoulli;
    draw.a = a.number(0, "p", 0.5);
  } else if (a.name == "random") {
    return wholeOrBetween(a);
  } else {
    return std::nullopt;
  }
  return draw;
}

/// x.fill_(number) of a whole tensor that nothing was computed with, and x.zero_(). What a number
/// that the type does not hold becomes, or that it is refused, is the operator's.
std::optional<h::Value> fillWithNumber(TensorObject &self, const Arguments &a) {
  TracedStorage &storage = *self.tensor.storage;
  const h::Value *value = a.name == "fill" ? a.find(0, "value") : nullptr;
  bool isNumber = value && (value->isInt() || value->isFloat() || value->isBool());
  if (storage.constructed || storage.base || self.tensor.type != storage.type ||
      (a.name == "fill" && (!isNumber || !isHeldBy(self.tensor.type.dtype, *value))))
    return std::nullopt;
  storage.initializer = value ? filledWith(a.interpreter, *value, "what fills a tensor")
                              : Initializer{Initializer::Kind::Full, 0, {}};
  return selfOf(self);
}

std::vector<Expr> sizesIn(h::Interpreter &interpreter, const h::Value &sizes) {
  std::vector<Expr> out;
  if (!sizes.isSequence())
    return {interpreter.toExpr(sizes, "a size")};
  for (const h::Value &size : sizes.elements())
    out.push_back(interpreter.toExpr(size, "a size"));
  return out;
}

HostDraw shaped(const Arguments &a, HostDraw draw, const std::vector<Expr> &sizes, DataType type) {
  draw.shape = constantSizes(a.interpreter, sizes);
  draw.dtype = a.dtype(type);
  return draw;
}

HostDraw randint(const Arguments &a) {
  // randint(high, size), randint(low, high, size)
  h::Interpreter &i = a.interpreter;
  size_t count = a.args.positional.size();
  const h::Value *size = a.args.keyword("size"), *low = a.args.keyword("low"),
                 *high = a.args.keyword("high");
  size_t numbers = size ? count : count - std::min<size_t>(count, 1);
  if (!size && count)
    size = &a.args.positional.back();
  if (numbers >= 2)
    low = &a.args.positional[0];
  if (numbers >= 1)
    high = &a.args.positional[numbers - 1];
  if (!size || !high)
    i.raise("TypeError", "randint() takes high and size, or low, high and size");
  if (size->isInt() || size->isFloat())
    i.raise("TypeError", "randint(): argument 'size' (position " + std::to_string(count) +
                             ") must be tuple of ints, not " + h::typeName(*size));
  return shaped(a, integersBetween(i, low ? i.toInt64(*low, "low") : 0, i.toInt64(*high, "high")),
                sizesIn(i, *size), DataType::Int64);
}

HostDraw randintLike(const Arguments &a, const TensorObject &like) {
  h::Interpreter &i = a.interpreter;
  const h::Value *first = a.find(1, "low"), *second = a.find(2, "high");
  if (!second)
    second = std::exchange(first, nullptr);
  if (!second)
    i.raise("TypeError", "randint_like() takes high, or low and high");
  return shaped(
      a, integersBetween(i, first ? i.toInt64(*first, "low") : 0, i.toInt64(*second, "high")),
      like.tensor.type.shape, like.tensor.type.dtype);
}

h::Value normalOf(Tracer &tracer, const Arguments &a) {
  h::Interpreter &i = a.interpreter;
  const h::Value *mean = a.find(0, "mean"), *deviation = a.find(1, "std"),
                 *size = a.find(2, "size");
  auto *like = mean ? mean->as<TensorObject>() : nullptr;
  if (!like && deviation)
    like = deviation->as<TensorObject>();
  HostDraw draw;
  draw.kind = HostDraw::Kind::Normal;
  if (!like && size)
    return newTensor(
        tracer, i,
        [&] {
          draw.a = a.number(0, "mean", 0);
          draw.b = a.number(1, "std", 1);
          return shaped(a, draw, sizesIn(i, *size), tracer.printing.floats);
        }(),
        a.generator());
  if (!like)
    i.raise("TypeError", "normal() takes tensors, or numbers and a size");
  if (deviation && deviation->isFloat() && deviation->real() < 0)
    i.raise("RuntimeError", "normal expects std >= 0.0, but found std " + i.str(*deviation));
  if (!mean)
    i.raise("TypeError", "normal() takes mean beside a tensor as std");
  std::vector<Expr> shape = like->tensor.type.shape;
  if (mean->as<TensorObject>() && deviation && deviation->as<TensorObject>())
    shape = callAten(tracer, i, "add", argsOf({*mean, *deviation}))
                .expect<TensorObject>("a tensor")
                .tensor.type.shape;
  auto plain = [&](const h::Value &value) {
    return value.as<TensorObject>() ? callAten(tracer, i, "detach", argsOf({value})) : value;
  };
  if (deviation && deviation->as<TensorObject>())
    i.call(i.getAttr(h::Value(i.nativeModule("torch")), "_check_all"),
           {callAten(tracer, i, "ge", argsOf({*deviation, h::Value(0)})), h::Value("RuntimeError"),
            h::Value("normal expects all elements of std >= 0.0")});
  h::Value value =
      newTensor(tracer, i, shaped(a, draw, shape, like->tensor.type.dtype), a.generator(), like);
  if (deviation)
    value = callAten(tracer, i, "mul", argsOf({value, plain(*deviation)}));
  value = callAten(tracer, i, "add", argsOf({value, plain(*mean)}));
  if (!isEager(tracer))
    return value;
  return i.call(*eagerFunction(i, "pellucid_drawn_from"),
                {value, *mean, deviation ? *deviation : h::Value()});
}

/// The tensor whose shape and type the result has.
const TensorObject *likeOf(const Arguments &a) {
  const h::Value *value = a.find(0, "input");
  return value ? value->as<TensorObject>() : nullptr;
}

std::optional<HostDraw> drawing(const Arguments &a) {
  const TensorObject *like = likeOf(a);
  HostDraw draw;
  if (a.name == "randint")
    return randint(a);
  if (a.name == "randperm") {
    const h::Value *n = a.find(0, "n");
    if (!n)
      a.interpreter.raise("TypeError", "randperm() takes n");
    draw.kind = HostDraw::Kind::Permutation;
    return shaped(a, draw, {a.interpreter.toExpr(*n, "n")}, DataType::Int64);
  }
  if (!like)
    return std::nullopt;
  const TensorType &type = like->tensor.type;
  if (a.name == "rand_like" || a.name == "randn_like") {
    draw.kind = a.name == "rand_like" ? HostDraw::Kind::Uniform : HostDraw::Kind::Normal;
    return shaped(a, draw, type.shape, type.dtype);
  }
  if (a.name == "randint_like")
    return randintLike(a, *like);
  if (a.name == "exponential") {
    draw.kind = HostDraw::Kind::Exponential;
    draw.a = a.number(1, "lambd", 1);
    return shaped(a, draw, type.shape, type.dtype);
  }
  return std::nullopt;
}

bool drawsOtherwise(const std::string &name) {
  for (const char *one : {"bernoulli", "native_dropout", "dropout", "uniform", "random"})
    if (name == one)
      return true;
  return false;
}

} // namespace

/// The drawn tensor, on the device of the one that it is like.
static h::Value besideLike(const h::Value &drawn, const TensorObject *like) {
  TracedStorage &storage = *drawn.as<TensorObject>()->tensor.storage;
  if (like) {
    storage.device = like->tensor.storage->device;
    storage.isPlaced = like->tensor.storage->isPlaced;
  }
  return drawn;
}

/// As PyTorch computes it: on a CPU the numbers are drawn in the tensor's type.
static std::optional<h::Value> droppedOnHost(Tracer &tracer, h::Interpreter &interpreter,
                                             const Arguments &a) {
  const TensorObject *input = likeOf(a);
  const h::Value *train = a.find(2, "train");
  if (!tracer.recorder || a.name != "dropout" || !input || !train)
    return std::nullopt;
  double p = a.number(1, "p", 0.5);
  if (!interpreter.truth(*train) || p == 0 || input->tensor.type.numel().constantOr(1) == 0)
    return a.args.positional.at(0);
  if (p == 1)
    return callAten(tracer, interpreter, "mul", argsOf({a.args.positional.at(0), h::Value(0.0)}));
  if (auto device = drawingDevice(tracer, input->tensor.storage.get())) {
    auto [kept, scale] = keptOnDevice(tracer, interpreter, input->tensor, p,
                                      *tracer.devices->generatorOf(device->index));
    h::Value scaled = callAten(tracer, interpreter, "mul", argsOf({a.args.positional.at(0), kept}));
    return callAten(tracer, interpreter, "mul", argsOf({scaled, h::Value(scale)}));
  }
  HostDraw draw;
  draw.kind = HostDraw::Kind::Bernoulli;
  draw.a = 1 - p;
  h::Value noise = newTensorLike(
      *input, interpreter, shaped(a, draw, input->tensor.type.shape, input->tensor.type.dtype),
      h::Value());
  noise = callAten(tracer, interpreter, "div", argsOf({besideLike(noise, input), h::Value(1 - p)}));
  return callAten(tracer, interpreter, "mul", argsOf({a.args.positional.at(0), noise}));
}

std::optional<h::Value> drawOnHost(Tracer &tracer, h::Interpreter &interpreter,
                                   const std::string &name, const h::CallArgs &args) {
  // Hardly any call is one of these.
  static const std::unordered_set<std::string_view> draws = {
      "normal",      "randint",   "randperm",       "rand_like", "randn_like", "randint_like",
      "exponential", "bernoulli", "native_dropout", "dropout",   "uniform",    "random"};
  std::string_view plain = name;
  if (plain.starts_with("aten."))
    plain.remove_prefix(5);
  if (!draws.count(plain))
    return std::nullopt;
  Arguments a(interpreter, std::string(plain), args);
  if (a.name == "normal")
    return normalOf(tracer, a);
  if (std::optional<HostDraw> draw = drawing(a)) {
    a.refuse({"out", "layout", "memory_format"});
    const TensorObject *like = likeOf(a);
    return besideLike(a.name.ends_with("_like") && like
                          ? newTensorLike(*like, interpreter, std::move(*draw), a.generator())
                          : newTensor(tracer, interpreter, std::move(*draw), a.generator(), like),
                      like);
  }
  if (auto dropped = droppedOnHost(tracer, interpreter, a))
    return dropped;
  if (drawsOtherwise(a.name))
    interpreter.refuse("torch." + a.name + " is not supported where a module is made");
  return std::nullopt;
}

std::optional<h::Value> fillOnHost(TensorObject &self, h::Interpreter &interpreter,
                                   const std::string &name, const h::CallArgs &args) {
  Arguments a(interpreter, name, args);
  if (name == "fill" || name == "zero")
    return fillWithNumber(self, a);
  std::optional<HostDraw> draw = filling(a);
  if (!draw)
    return std::nullopt;
  return fillDrawn(self, interpreter, std::move(*draw), a.generator());
}

h::Value drawSized(Tracer &tracer, h::Interpreter &interpreter, HostDraw::Kind kind,
                   std::vector<Expr> sizes, DataType type, const h::Value &generator) {
  HostDraw draw;
  draw.kind = kind;
  draw.shape = constantSizes(interpreter, sizes);
  draw.dtype = type;
  return newTensor(tracer, interpreter, std::move(draw), generator);
}

h::Value drawEvents(TensorObject &probabilities, h::Interpreter &interpreter,
                    const h::Value &generator) {
  Tracer &tracer = probabilities.tracer;
  auto device = drawingDevice(tracer, probabilities.tensor.storage.get());
  if (!device)
    return h::Value();
  return eventsOnDevice(tracer, interpreter, selfOf(probabilities),
                        generatorOn(tracer, interpreter, generator, *device));
}

h::Value drawEach(TensorObject &of, h::Interpreter &interpreter, HostDraw::Kind kind, bool wide,
                  const h::Value &generator) {
  Tracer &tracer = of.tracer;
  const TensorType &type = of.tensor.type;
  const char *name = kind == HostDraw::Kind::Gamma ? "_standard_gamma" : "poisson";
  if (!isEager(tracer))
    interpreter.refuse("'" + std::string(name) +
                       "' draws as often as its numbers say, which is only done in scripts");
  if (type.dtype != DataType::Float32 && type.dtype != DataType::Float64)
    interpreter.raise("RuntimeError", "\"" + std::string(name) + "\" not implemented for '" +
                                          std::string(info(type.dtype).torch) + "'");
  bool isSpread = std::any_of(type.strides.begin(), type.strides.end(),
                              [](const Expr &stride) { return stride.constant() == 0; });
  if (!isSpread && !type.isContiguous(tracer.symbols()))
    interpreter.refuse("'" + std::string(name) +
                       "' of a tensor that does not lie row by row draws in the order of its "
                       "memory; write .contiguous() after it");
  ConcreteTensor values = tracer.recorder->valuesOn({}, of.tensor, interpreter.location());
  auto numbers = std::make_shared<std::vector<double>>();
  std::shared_ptr<const std::byte> dense = values.dense();
  for (int64_t i = 0; i < values.numel(); ++i)
    numbers->push_back(
        realAt(type.dtype, dense.get() + static_cast<size_t>(i) * byteSize(type.dtype)));
  for (double number : *numbers)
    if (!(number >= 0))
      interpreter.raise("RuntimeError",
                        kind == HostDraw::Kind::Poisson
                            ? "invalid Poisson rate, expected rate to be non-negative"
                            : "the shapes of gamma distributions are not negative");
  HostDraw draw;
  draw.kind = kind;
  draw.dtype = wide ? DataType::Float64 : type.dtype;
  draw.shape = values.shape;
  draw.of = std::move(numbers);
  return besideLike(newTensor(tracer, interpreter, std::move(draw), generator), &of);
}

} // namespace pellucid::trace
