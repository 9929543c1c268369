// SPDX-License-Identifier: Apache-2.0
/// Random numbers. ATen's operators are composites of three sources, pellucid.philox_*, whose
/// elements are functions of a seed, an offset, the number of the call site in the program, in a
/// loop the turn's, and the element's index: what is computed twice, later or elsewhere has the
/// same bits (docs/design/0027).
#include "graph/ops/Families.h"

#include <cmath>
#include <limits>

namespace pellucid::graph {

namespace {

const char *const sourceOptions =
    "SymInt seed=0, SymInt offset=0, int site=-1, Tensor? turn=None, ScalarType? dtype=None, "
    "Device? device=None";

/// The bits that a float in [0, 1) is drawn with: as many as the type has, so that none is 1.
int64_t drawnBits(DataType type) {
  switch (type) {
  case DataType::Float64:
    return 53;
  case DataType::Float16:
    return 11;
  case DataType::BFloat16:
    return 8;
  default:
    return 24;
  }
}

void checkFloating(const OperatorCall &call, DataType type) {
  if (type != DataType::Float64 && type != DataType::Float32 && type != DataType::Float16 &&
      type != DataType::BFloat16)
    call.fail("draws float64, float32, float16 or bfloat16, got " + std::string(info(type).torch));
}

/// PyTorch's generators are the host's; a package draws from the seed and offset of its run.
void checkGenerator(const OperatorCall &call) {
  if (call.op.schema.indexOf("generator") && call.has("generator"))
    call.fail("takes no generator in a program, which draws from the seed and offset of its run; "
              "leave generator out");
}

//===-- Results -------------------------------------------------------------------------------===//

TensorType sizedType(const OperatorCall &call, DataType fallback) {
  std::vector<Expr> size = call.integers("size");
  for (const Expr &dim : size)
    if (call.symbols.prove(less(dim, 0)) == true)
      call.fail("expects sizes that are not negative, got " + shapeText(size));
  return TensorType(call.dtype("dtype").value_or(fallback), size);
}

TensorType likeType(const OperatorCall &call, const char *like = "self") {
  const TensorType &self = call.tensor(like);
  bool given = call.op.schema.indexOf("dtype").has_value();
  TensorType result(given ? call.dtype("dtype").value_or(self.dtype) : self.dtype, self.shape,
                    self.device);
  bool contiguous = call.op.schema.indexOf("memory_format") &&
                    call.string("memory_format") == "contiguous_format";
  if (!contiguous)
    result.strides = preservedStrides(self, call.symbols);
  return result;
}

/// The result of a source, `real` or of integers, with so many bits as its type has room for.
TensorType drawnType(const OperatorCall &call, bool real) {
  TensorType result = sizedType(call, real ? DataType::Float32 : DataType::Int64);
  if (real)
    checkFloating(call, result.dtype);
  else if (result.dtype != DataType::Int64)
    call.fail("draws int64, got " + std::string(info(result.dtype).torch));
  if (call.op.schema.indexOf("bits") && call.constant("bits") != drawnBits(result.dtype))
    call.fail("draws " + std::to_string(drawnBits(result.dtype)) + " bits for that type, got " +
              toString(call.at("bits")));
  // An integer is drawn from 64 bits where its range asks for them.
  if (real && call.op.schema.indexOf("wide") &&
      call.flag("wide") != (result.dtype == DataType::Float64))
    call.fail("is wide for float64 alone, got " + std::string(info(result.dtype).torch));
  return result;
}

/// What saved programs are held to: the generator's counter and its floats have so much room.
std::vector<ResultType> sourceFake(const OperatorCall &call) {
  bool real = call.op.schema.name != "philox_randint";
  TensorType result = drawnType(call, real);
  if (int64_t site = call.constant("site"); site < -1 || site >= int64_t(1) << 20)
    call.fail("expects a site from 0 to 1048575, got " + std::to_string(site));
  if (Value *turn = call.value("turn"))
    if (turn->type().dtype != DataType::Int64 || turn->type().rank() != 0)
      call.fail("expects a turn that is an int64 without dims, got " + toString(turn->type()));
  if (!real && call.symbols.prove(less(call.integer("low"), call.integer("high"))) != true)
    call.fail("expects 'low' to be less than 'high', got " + toString(call.at("low")) + " and " +
              toString(call.at("high")));
  return {result};
}

/// PyTorch's own draws of a CUDA device, of which scripts alone make calls.
std::vector<ResultType> deviceSourceFake(const OperatorCall &call) {
  TensorType result = drawnType(call, call.op.schema.name != "cuda_randint");
  for (const char *name : {"seed", "offset"})
    if (const TensorType &given = call.tensor(name); given.dtype != DataType::Int64 || given.rank())
      call.fail("expects '" + std::string(name) + "' to be an int64 without dims, got " +
                toString(given));
  if (int64_t threads = call.constant("threads"); threads < 0 || threads > int64_t(1) << 28)
    call.fail("expects from 0 to 268435456 threads, got " + std::to_string(threads));
  if (call.op.schema.indexOf("vector"))
    if (int64_t vector = call.constant("vector");
        vector != 1 && vector != 2 && vector != 4 && vector != 8)
      call.fail("expects a vector of 1, 2, 4 or 8 elements, got " + std::to_string(vector));
  return {result};
}

/// One result of the type that `type` finds, which is drawn as a float.
FakeFunction floatingFake(std::function<TensorType(const OperatorCall &)> type) {
  return [type](const OperatorCall &call) -> std::vector<ResultType> {
    checkGenerator(call);
    TensorType result = type(call);
    checkFloating(call, result.dtype);
    return {result};
  };
}
TensorType sizedFloat(const OperatorCall &call) { return sizedType(call, DataType::Float32); }
TensorType likeSelf(const OperatorCall &call) { return likeType(call); }

bool hasNoElements(const OperatorCall &call, const TensorType &type) {
  return std::any_of(type.shape.begin(), type.shape.end(),
                     [&](const Expr &size) { return call.symbols.proveEqual(size, 0); });
}

//===-- Drawing -------------------------------------------------------------------------------===//

/// Makes the nodes of one composite.
class Drawer {
public:
  Drawer(Graph &g, const OperatorCall &c, const OperatorRegistry &r)
      : graph(g), call(c), registry(r) {}

  Value *emit(const char *target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(graph, registry, call.symbols, target, std::move(args), std::move(kwargs),
                    call.where)
        ->result();
  }

  /// Of `type`'s shape and type, uniform in [0, 1).
  Value *uniform(const TensorType &type) {
    return emit("pellucid.philox_uniform.default",
                {Argument::list(type.shape), Argument(drawnBits(type.dtype))}, made(type));
  }
  Value *normal(const TensorType &type) {
    return emit("pellucid.philox_normal.default",
                {Argument::list(type.shape), Argument(type.dtype == DataType::Float64)},
                made(type));
  }
  /// Uniform in [low, high).
  Value *integers(const TensorType &type, const Argument &low, const Argument &high) {
    TensorType words(DataType::Int64, type.shape, type.device);
    return to(emit("pellucid.philox_randint.default", {Argument::list(type.shape), low, high},
                   made(words)),
              type.dtype);
  }
  Value *to(Value *value, DataType type) {
    return value->type().dtype == type
               ? value
               : emit("aten._to_copy.default", {Argument(value)}, {{"dtype", Argument(type)}});
  }
  /// value * scale + shift, rounded once.
  Value *affine(Value *value, Argument scale, Argument shift) {
    return emit("pellucid.affine.default", {Argument(value), scale, shift});
  }

  const TensorType &result() {
    if (!known)
      known = std::get<TensorType>(call.op.fake(call)[0]);
    return *known;
  }

private:
  static KeywordArguments made(const TensorType &type) {
    return {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}};
  }
  Graph &graph;
  const OperatorCall &call;
  const OperatorRegistry &registry;
  std::optional<TensorType> known;
};

using DrawFunction = std::function<Value *(Drawer &, const OperatorCall &)>;

/// Whose strides the result has.
std::optional<Argument> likeOf(const OperatorCall &call) {
  for (const char *name : {"self", "input", "mean", "std"})
    if (call.op.schema.indexOf(name) && call.value(name))
      return call.at(name);
  return std::nullopt;
}

DecomposeFunction drawing(DrawFunction draw) {
  return [draw](Graph &graph, const OperatorCall &call, const OperatorRegistry &registry) {
    Drawer drawer(graph, call, registry);
    Value *value = draw(drawer, call);
    // Sources are row-major.
    if (value->type().strides != drawer.result().strides && likeOf(call))
      value = drawer.emit("aten.copy.default", {*likeOf(call), Argument(value)});
    return std::vector<Value *>{value};
  };
}

Value *drawUniform(Drawer &drawer, const OperatorCall &) { return drawer.uniform(drawer.result()); }
Value *drawNormal(Drawer &drawer, const OperatorCall &) { return drawer.normal(drawer.result()); }

Value *drawUniformBetween(Drawer &drawer, const OperatorCall &call) {
  double from = call.number("from"), to = call.number("to");
  return drawer.affine(drawer.uniform(drawer.result()), Argument(to - from), Argument(from));
}

Value *drawNormalOf(Drawer &drawer, const OperatorCall &call) {
  Argument std = call.at("std");
  if (std.value())
    std = Argument(drawer.emit("pellucid.deviation.default", {std}));
  return drawer.affine(drawer.normal(drawer.result()), std, call.at("mean"));
}

Value *drawExponential(Drawer &drawer, const OperatorCall &call) {
  const TensorType &type = drawer.result();
  Value *drawn =
      drawer.emit("pellucid.philox_exponential.default",
                  {Argument::list(type.shape), Argument(type.dtype == DataType::Float64)},
                  {{"dtype", Argument(type.dtype)}, {"device", Argument(type.device)}});
  double rate = call.number("lambd");
  return rate == 1 ? drawn : drawer.emit("aten.div.Scalar", {Argument(drawn), Argument(rate)});
}

Value *drawIntegers(Drawer &drawer, const OperatorCall &call) {
  Argument low = call.op.schema.indexOf("low") ? call.at("low") : Argument(int64_t(0));
  return drawer.integers(drawer.result(), low, call.at("high"));
}

/// Whether an element in [0, 1) is less than `probability`, as `type`'s 1 or 0.
Value *drawEvents(Drawer &drawer, const TensorType &type, const Argument &probability) {
  bool wide = probability.value() && probability.value()->type().dtype == DataType::Float64;
  TensorType draws(wide ? DataType::Float64 : DataType::Float32, type.shape, type.device);
  Value *drawn = drawer.uniform(draws), *happens = nullptr;
  if (probability.value()) {
    Value *given =
        drawer.to(drawer.emit("pellucid.probability.default", {probability}), draws.dtype);
    happens = drawer.emit("aten.lt.Tensor", {Argument(drawn), Argument(given)});
  } else {
    happens = drawer.emit("aten.lt.Scalar", {Argument(drawn), probability});
  }
  return drawer.to(happens, type.dtype);
}

Value *drawBernoulli(Drawer &drawer, const OperatorCall &call) {
  Argument probability = call.op.schema.indexOf("p") ? call.at("p") : call.at("self");
  if (hasNoElements(call, drawer.result()))
    probability = Argument(0.5);
  return drawEvents(drawer, drawer.result(), probability);
}

/// The places of random words in order. Words that are equal, one pair in 2^63, keep their order.
Value *drawPermutation(Drawer &drawer, const OperatorCall &call) {
  TensorType words(DataType::Int64, {call.integer("n")}, drawer.result().device);
  Value *drawn =
      drawer.integers(words, Argument(int64_t(0)), Argument(std::numeric_limits<int64_t>::max()));
  return drawer.to(drawer.emit("aten.argsort.default", {Argument(drawn)}), drawer.result().dtype);
}

//===-- Dropout -------------------------------------------------------------------------------===//

double probabilityOf(const OperatorCall &call, std::string_view name) {
  double p = call.number(name);
  if (!(p >= 0 && p <= 1))
    call.fail("expects a probability between 0 and 1, got " + toString(call.at(name)));
  return p;
}

std::vector<ResultType> dropoutFake(const OperatorCall &call) {
  if (!call.flag("train") || probabilityOf(call, "p") == 0)
    return {call.tensor("input")};
  checkFloating(call, call.tensor("input").dtype);
  return {likeType(call, "input")};
}

/// input * noise, where the noise is 0 or 1 / (1 - p) in the input's type.
Value *drawDropout(Drawer &drawer, const OperatorCall &call) {
  Value *input = call.value("input");
  double p = call.number("p");
  if (!call.flag("train") || p == 0)
    return input;
  if (p == 1)
    return drawer.emit("aten.mul.Scalar", {Argument(input), Argument(int64_t(0))});
  Value *kept = drawEvents(drawer, input->type(), Argument(1 - p));
  Value *noise = drawer.emit("aten.div.Scalar", {Argument(kept), Argument(1 - p)});
  return drawer.emit("aten.mul.Tensor", {Argument(input), Argument(noise)});
}

bool drops(const OperatorCall &call) { return !call.has("train") || call.flag("train"); }

/// Without elements PyTorch gives a mask of the input's type.
DataType maskType(const OperatorCall &call) {
  const TensorType &input = call.tensor("input");
  return hasNoElements(call, input) ? input.dtype : DataType::Bool;
}

std::vector<ResultType> nativeDropoutFake(const OperatorCall &call) {
  const TensorType &input = call.tensor("input");
  if (drops(call) && probabilityOf(call, "p") != 0)
    checkFloating(call, input.dtype);
  TensorType result = freshLike(input, input.dtype, input.shape),
             mask = freshLike(input, maskType(call), input.shape);
  return {result, mask};
}

std::vector<Value *> nativeDropout(Graph &graph, const OperatorCall &call,
                                   const OperatorRegistry &registry) {
  Drawer drawer(graph, call, registry);
  Value *input = call.value("input");
  TensorType mask(DataType::Bool, input->type().shape, input->type().device);
  double p = call.number("p");
  auto contiguous = [&](Value *value) {
    return drawer.emit("aten.clone.default", {Argument(value)},
                       {{"memory_format", Argument(std::string("contiguous_format"))}});
  };
  KeywordArguments made{{"dtype", Argument(DataType::Bool)}, {"device", Argument(mask.device)}};
  if (!drops(call) || p == 0 || hasNoElements(call, input->type())) {
    made[0].second = Argument(maskType(call));
    return {contiguous(input),
            drawer.emit("aten.ones.default", {Argument::list(mask.shape)}, made)};
  }
  Value *kept = drawEvents(drawer, mask, Argument(1 - p));
  Value *scaled = drawer.emit("aten.mul.Tensor", {Argument(input), Argument(kept)});
  scaled = drawer.emit("aten.mul.Scalar", {Argument(scaled), Argument(p == 1 ? 0.0 : 1 / (1 - p))});
  return {contiguous(scaled), kept};
}

//===-- Records -------------------------------------------------------------------------------===//

/// Integers in [low, high) are of the type.
void checkBounds(const OperatorCall &call, DataType type, const Expr &low, const Expr &high) {
  if (isFloat(type))
    return;
  unsigned bits = type == DataType::Bool ? 1 : 8 * byteSize(type);
  bool isSigned = type != DataType::Bool && info(type).isSigned;
  int64_t least = isSigned && bits < 64 ? -(int64_t(1) << (bits - 1))
                  : isSigned            ? std::numeric_limits<int64_t>::min()
                                        : 0,
          most = bits >= 63 ? std::numeric_limits<int64_t>::max()
                            : (int64_t(1) << (bits - (isSigned ? 1 : 0))) - 1;
  if (call.symbols.prove(less(low, least)) == true ||
      (high.constant() && *high.constant() - 1 > most))
    call.fail("expects bounds that " + std::string(info(type).torch) + " holds, got " +
              toString(low) + " and " + toString(high));
}

std::vector<ResultType> integersFake(const OperatorCall &call) {
  checkGenerator(call);
  Expr low = call.op.schema.indexOf("low") ? call.integer("low") : Expr(0),
       high = call.integer("high");
  if (call.symbols.prove(less(low, high)) != true)
    call.fail("expects 'low' to be less than 'high' for every size, got " + toString(low) +
              " and " + toString(high));
  bool sized = call.op.schema.indexOf("size").has_value();
  TensorType type = sized ? sizedType(call, DataType::Int64) : likeType(call);
  checkBounds(call, type.dtype, low, high);
  return {type};
}

std::vector<ResultType> permutationFake(const OperatorCall &call) {
  checkGenerator(call);
  if (call.symbols.prove(less(call.integer("n"), 0)) == true)
    call.fail("expects a count that is not negative, got " + toString(call.at("n")));
  return {TensorType(call.dtype("dtype").value_or(DataType::Int64), {call.integer("n")})};
}

/// Same type as self; probabilities are floats, what they are written into may be anything.
std::vector<ResultType> bernoulliFake(const OperatorCall &call) {
  checkGenerator(call);
  TensorType result = likeType(call);
  if (!call.op.schema.indexOf("p")) {
    checkFloating(call, result.dtype);
  } else if (Value *given = call.value("p")) {
    checkFloating(call, given->type().dtype);
    if (!hasNoElements(call, result) &&
        broadcastShapes(call, given->type().shape, result.shape) != result.shape)
      call.fail("expects probabilities that broadcast to " + shapeText(result.shape) + ", got " +
                shapeText(given->type().shape));
  } else {
    probabilityOf(call, "p");
  }
  return {result};
}

std::vector<ResultType> exponentialFake(const OperatorCall &call) {
  checkGenerator(call);
  TensorType result = likeType(call);
  checkFloating(call, result.dtype);
  if (double rate = call.number("lambd"); !(rate > 0))
    call.fail("expects lambd to be more than 0, got " + toString(call.at("lambd")));
  return {result};
}

std::vector<ResultType> uniformFake(const OperatorCall &call) {
  checkGenerator(call);
  TensorType result = likeType(call);
  checkFloating(call, result.dtype);
  if (!(call.number("from") <= call.number("to")))
    call.fail("expects from <= to, got " + toString(call.at("from")) + " and " +
              toString(call.at("to")));
  return {result};
}

std::vector<ResultType> normalFake(const OperatorCall &call) {
  checkGenerator(call);
  for (const char *name : {"std", "mean"})
    if (Value *given = call.value(name))
      checkFloating(call, given->type().dtype);
  if (!call.value("std") && !(call.number("std") >= 0))
    call.fail("expects std >= 0, got " + toString(call.at("std")));
  if (call.op.schema.indexOf("size")) {
    TensorType result = sizedType(call, DataType::Float32);
    checkFloating(call, result.dtype);
    return {result};
  }
  if (call.op.schema.indexOf("self")) {
    TensorType result = likeType(call);
    checkFloating(call, result.dtype);
    return {result};
  }
  Value *mean = call.value("mean"), *std = call.value("std");
  if (!mean || !std)
    return {likeType(call, mean ? "mean" : "std")};
  TensorType result = likeType(call, "mean");
  return {TensorType(result.dtype, broadcastShapes(call, mean->type().shape, std->type().shape),
                     result.device)};
}

/// x.random_(): integers up to the largest of the type, for floats up to where all are exact.
std::pair<Expr, Expr> wholeRange(const OperatorCall &call) {
  DataType type = call.tensor("self").dtype;
  Expr low = call.op.schema.indexOf("from") ? call.integer("from") : Expr(0);
  if (call.op.schema.indexOf("to") && call.has("to"))
    return {low, call.integer("to")};
  if (isFloat(type))
    return {low, Expr((int64_t(1) << drawnBits(type)) + 1)};
  if (type == DataType::Bool)
    return {low, Expr(2)};
  unsigned bits = 8 * byteSize(type) - (info(type).isSigned ? 1 : 0);
  return {low, Expr(bits >= 63 ? std::numeric_limits<int64_t>::max() : int64_t(1) << bits)};
}

std::vector<ResultType> randomFake(const OperatorCall &call) {
  checkGenerator(call);
  auto [low, high] = wholeRange(call);
  if (call.symbols.prove(less(low, high)) != true)
    call.fail("expects 'from' to be less than 'to', got " + toString(low) + " and " +
              toString(high));
  return {likeType(call)};
}

Value *drawRandom(Drawer &drawer, const OperatorCall &call) {
  auto [low, high] = wholeRange(call);
  return drawer.integers(drawer.result(), Argument(low), Argument(high));
}

void addSource(OperatorRegistry &registry, const std::string &schema, const std::string &value) {
  Operator op = makeOperator(schema, Operator::Kind::Factory, sourceFake);
  op.factory.value = value;
  registry.add(std::move(op));
}

/// The tensor itself, whose elements meet the condition.
PointwiseRow checkedRow(const char *schema, const char *condition, const char *failure) {
  PointwiseCase checked{"self", PointwiseCase::Domain::Floating};
  checked.condition = condition;
  checked.failure = failure;
  return {schema, Promotion::Default, {checked}};
}

void addSources(OperatorRegistry &registry) {
  const std::string tail = std::string(", *, ") + sourceOptions + ") -> Tensor";
  addSource(registry, "pellucid::philox_uniform(SymInt[] size, int bits" + tail,
            "tl._philox_uniform(seed, offset, site, turn, i, bits)");
  addSource(registry, "pellucid::philox_normal(SymInt[] size, bool wide" + tail,
            "tl._philox_normal(seed, offset, site, turn, i, wide)");
  addSource(registry, "pellucid::philox_exponential(SymInt[] size, bool wide" + tail,
            "tl._philox_exponential(seed, offset, site, turn, i, wide)");
  addSource(registry, "pellucid::philox_randint(SymInt[] size, SymInt low, SymInt high" + tail,
            "tl._philox_randint(seed, offset, site, turn, i, low, high)");
  const std::string start = "(SymInt[] size, Tensor seed, Tensor offset, ",
                    end = "*, ScalarType? dtype=None, Device? device=None) -> Tensor";
  auto addDeviceSource = [&](const std::string &name, const std::string &parameters,
                             const std::string &words) {
    Operator op = makeOperator("pellucid::cuda_" + name + start + parameters + end,
                               Operator::Kind::Factory, deviceSourceFake);
    op.factory.value = "tl._cuda_" + name + "(seed, offset, i, " + words + ")";
    registry.add(std::move(op));
  };
  addDeviceSource("uniform",
                  "float low, float range, float high, int bits, int threads, int vector, ",
                  "low, range, high, bits, threads, vector");
  addDeviceSource("normal", "float mean, float std, int threads, bool wide, ",
                  "mean, std, threads, wide");
  addDeviceSource("exponential", "float factor, int threads, bool wide, ", "factor, threads, wide");
  addDeviceSource("randint", "int low, int range, int threads, bool wide, ",
                  "low, range, threads, wide");
  // Not a product and a sum, which some targets would round once and others twice.
  const PointwiseRow rows[] = {
      {"pellucid::affine(Tensor self, Tensor scale, Tensor shift) -> Tensor",
       Promotion::Default,
       {{"tl.fma(self, tl.cast(scale, self.dtype), tl.cast(shift, self.dtype))",
         PointwiseCase::Domain::Floating}},
       2,
       true},
      // The turn of a loop in a turn of the loop around it.
      {"pellucid::draw_turn(Tensor outer, Tensor inner) -> Tensor",
       Promotion::NoOpMath,
       {{"tl._draw_turn(outer, inner)", PointwiseCase::Domain::Integer}}},
      checkedRow("pellucid::probability(Tensor self) -> Tensor", "(self >= 0.0) & (self <= 1.0)",
                 "bernoulli expects probabilities between 0 and 1"),
      checkedRow("pellucid::deviation(Tensor self) -> Tensor", "self >= 0.0",
                 "normal expects std >= 0")};
  addPointwise(registry, rows);
}

struct DrawRow {
  std::string schema;
  FakeFunction fake;
  DrawFunction draw;
};

} // namespace

void registerRandomOperators(OperatorRegistry &registry) {
  addSources(registry);
  const std::string plain = std::string(factoryOptions) + ") -> Tensor";
  const std::string whole =
      "*, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor";
  const std::string format =
      std::string(factoryOptions) + ", MemoryFormat? memory_format=None) -> Tensor";
  const std::string generator = "*, Generator? generator=None) -> Tensor";
  const DrawRow rows[] = {
      {"aten::rand.default(SymInt[] size, " + plain, floatingFake(sizedFloat), drawUniform},
      {"aten::rand_like.default(Tensor self, " + format, floatingFake(likeSelf), drawUniform},
      {"aten::randn.default(SymInt[] size, " + plain, floatingFake(sizedFloat), drawNormal},
      {"aten::randn_like.default(Tensor self, " + format, floatingFake(likeSelf), drawNormal},
      {"aten::randint.default(SymInt high, SymInt[] size, " + whole, integersFake, drawIntegers},
      {"aten::randint.low(SymInt low, SymInt high, SymInt[] size, " + whole, integersFake,
       drawIntegers},
      {"aten::randint_like.default(Tensor self, SymInt high, " + format, integersFake,
       drawIntegers},
      {"aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, " + format, integersFake,
       drawIntegers},
      {"aten::randperm.default(SymInt n, " + whole, permutationFake, drawPermutation},
      {"aten::normal.Tensor_float(Tensor mean, float std=1.0, " + generator, normalFake,
       drawNormalOf},
      {"aten::normal.float_Tensor(float mean, Tensor std, " + generator, normalFake, drawNormalOf},
      {"aten::normal.Tensor_Tensor(Tensor mean, Tensor std, " + generator, normalFake,
       drawNormalOf},
      {"aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? "
       "generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None) -> Tensor",
       normalFake, drawNormalOf},
      {"aten::normal_functional.default(Tensor self, float mean=0.0, float std=1.0, " + generator,
       normalFake, drawNormalOf},
      {"aten::uniform.default(Tensor self, float from=0.0, float to=1.0, " + generator, uniformFake,
       drawUniformBetween},
      {"aten::bernoulli.default(Tensor self, " + generator, bernoulliFake, drawBernoulli},
      {"aten::bernoulli.p(Tensor self, float p, " + generator, bernoulliFake, drawBernoulli},
      {"aten::bernoulli.Tensor(Tensor self, Tensor p, " + generator, bernoulliFake, drawBernoulli},
      // What bernoulli_() writes; ATen has no form of it that gives a new tensor.
      {"pellucid::bernoulli(Tensor self, float p=0.5, " + generator, bernoulliFake, drawBernoulli},
      {"pellucid::bernoulli.Tensor(Tensor self, Tensor p, " + generator, bernoulliFake,
       drawBernoulli},
      {"aten::exponential.default(Tensor self, float lambd=1.0, " + generator, exponentialFake,
       drawExponential},
      {"aten::random.default(Tensor self, " + generator, randomFake, drawRandom},
      {"aten::random.to(Tensor self, int to, " + generator, randomFake, drawRandom},
      {"aten::random.from(Tensor self, int from, int? to, " + generator, randomFake, drawRandom},
      {"aten::dropout.default(Tensor input, float p, bool train) -> Tensor", dropoutFake,
       drawDropout},
  };
  for (const DrawRow &row : rows) {
    Operator op = makeOperator(row.schema, Operator::Kind::Composite, row.fake);
    op.decompose = drawing(row.draw);
    registry.add(std::move(op));
  }
  Operator native = makeOperator(
      "aten::native_dropout.default(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
      Operator::Kind::Composite, nativeDropoutFake);
  native.decompose = nativeDropout;
  registry.add(std::move(native));
}

} // namespace pellucid::graph
