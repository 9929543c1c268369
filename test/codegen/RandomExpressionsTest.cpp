// SPDX-License-Identifier: Apache-2.0
// Random expressions over every type, on inputs full of edges: the ends of the
// integers, zeros of both signs, NaN, infinities, subnormals, ties of rounding.
// Every value must have the bits that the interpreter gives it.
#include "codegen/DifferentialCase.h"
#include "codegen/KernelFixture.h"

#include <map>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

constexpr int elements = 96, operations = 70, seeds = 12;

struct Kind {
  const char *name;
  DataType type;
  unsigned bits;
  bool isFloat;
};
const Kind kinds[] = {{"i8", DataType::Int8, 8, false},     {"i16", DataType::Int16, 16, false},
                      {"i32", DataType::Int32, 32, false},  {"i64", DataType::Int64, 64, false},
                      {"f16", DataType::Float16, 16, true}, {"bf16", DataType::BFloat16, 16, true},
                      {"f32", DataType::Float32, 32, true}, {"f64", DataType::Float64, 64, true}};
const Kind condition = {"i1", DataType::Bool, 1, false};

/// A pattern of `kind`'s that is likely to be an edge.
uint64_t edgePattern(const Kind &kind, Random &random) {
  uint64_t any = random.bits();
  if (!kind.isFloat) {
    uint64_t top = uint64_t(1) << (kind.bits - 1);
    const uint64_t edges[] = {0,       1,       2,  7, ~uint64_t(0), ~uint64_t(1), top,
                              top - 1, top + 1, 31, 33};
    return any % 3 ? edges[random.integer(0, std::size(edges))] : random.bits();
  }
  unsigned fraction = kind.bits == 64 ? 52 : kind.bits == 32 ? 23 : kind.name[0] == 'b' ? 7 : 10;
  uint64_t sign = random.bits() << (kind.bits - 1);
  uint64_t one = ((uint64_t(1) << (kind.bits - 2 - fraction)) - 1) << fraction;
  uint64_t infinity = ((uint64_t(1) << (kind.bits - 1 - fraction)) - 1) << fraction;
  uint64_t half = uint64_t(1) << (fraction - 1);
  switch (any % 12) {
  case 0:
    return sign;
  case 1:
    return sign | infinity;
  case 2:
    return infinity | half;
  case 3: // a subnormal, or the smallest normal number
    return sign | (random.bits() % (2 << fraction));
  case 4: // the largest
    return sign | (infinity - 1);
  case 5: // a tie between two values of a type of half the width
    return sign |
           (one + (random.bits() % 64 << (fraction / 2)) + (uint64_t(1) << (fraction / 2 - 1)));
  case 6: // around the ends of the integers
    return sign | (one + (uint64_t(random.integer(6, 34)) << fraction) - random.integer(0, 2));
  default:
    return sign | (one + (uint64_t(random.integer(-4, 9)) << fraction) +
                   (random.bits() & ((uint64_t(1) << fraction) - 1)));
  }
}

/// Writes a kernel of random operations, each result stored on its own.
class KernelWriter {
public:
  explicit KernelWriter(uint64_t seed) : random(seed) {}

  Case write() {
    line("%range = tt.make_range {end = 128 : i32, start = 0 : i32} : "
         "tensor<128xi32>");
    line("%count = arith.constant dense<96> : tensor<128xi32>");
    line("%mask = arith.cmpi slt, %range, %count : tensor<128xi32>");
    for (const Kind &kind : kinds)
      for (int i = 0; i < 3; ++i)
        addInput(kind);
    for (int i = 0; i < operations; ++i)
      addOperation();
    launched.text = "module {\n  tt.func public @random(" + parameters + ") {\n" + body +
                    "    tt.return\n  }\n}\n";
    return launched;
  }
  /// The operation behind each output.
  std::map<std::string, std::string> origins;

private:
  static std::string tile(const std::string &element) { return "tensor<128x" + element + ">"; }
  void line(const std::string &words) { body += "    " + words + "\n"; }
  template <size_t n> const char *pick(const char *const (&names)[n]) {
    return names[random.integer(0, n)];
  }
  std::string fresh() { return "%v" + std::to_string(next++); }
  /// An earlier value of the kind.
  std::string some(const Kind &kind) {
    auto &known = values[kind.name];
    return known[known.size() - 1 - random.integer(0, std::min<int64_t>(known.size(), 6))];
  }
  const Kind &someKind(bool isFloat) { return kinds[random.integer(0, 4) + (isFloat ? 4 : 0)]; }

  std::string addPointer(const Kind &kind, const std::string &name, bool isOutput) {
    parameters += (parameters.empty() ? "%" : ", %") + name + ": !tt.ptr<" + kind.name + ">";
    launched.parameters.push_back(launched.arrays.size());
    launched.scalarTypes.push_back(DataType::Bool);
    std::vector<char> bytes(elements * byteSize(kind.type));
    for (int i = 0; i < elements && !isOutput; ++i) {
      uint64_t pattern = edgePattern(kind, random);
      std::memcpy(&bytes[i * byteSize(kind.type)], &pattern, byteSize(kind.type));
    }
    launched.arrays.push_back({name, kind.type, std::move(bytes)});
    std::string pointer = "tensor<128x!tt.ptr<" + std::string(kind.name) + ">>";
    line("%" + name + "_base = tt.splat %" + name + " : !tt.ptr<" + kind.name + "> -> " + pointer);
    line("%" + name + "_at = tt.addptr %" + name + "_base, %range : " + pointer +
         ", tensor<128xi32>");
    return pointer;
  }
  void addInput(const Kind &kind) {
    std::string name = "in" + std::to_string(next++), pointer = addPointer(kind, name, false);
    line("%" + name + "_value = tt.load %" + name + "_at, %mask : " + pointer);
    values[kind.name].push_back("%" + name + "_value");
  }
  /// `words` after the equals sign, giving a value of `kind`.
  std::string define(const Kind &kind, const std::string &words) {
    std::string value = fresh();
    line(value + " = " + words);
    values[kind.name].push_back(value);
    if (kind.bits == 1)
      return value;
    std::string name = "out" + std::to_string(next++), pointer = addPointer(kind, name, true);
    line("tt.store %" + name + "_at, " + value + ", %mask : " + pointer);
    origins[name] = words;
    return value;
  }
  std::string typed(const std::string &words, const Kind &kind) {
    return words + " : " + tile(kind.name);
  }
  std::string cast(const std::string &name, const std::string &value, const Kind &from,
                   const Kind &to, const char *arrow = " to ") {
    return name + " " + value + " : " + tile(from.name) + arrow + tile(to.name);
  }

  void addOperation() {
    switch (random.integer(0, 6)) {
    case 0:
    case 1:
      return addIntegerOperation(someKind(false));
    case 2:
    case 3:
      return addFloatOperation(someKind(true));
    case 4:
      return addComparison();
    default:
      return addConversion();
    }
  }

  void addIntegerOperation(const Kind &kind) {
    static const char *const binary[] = {
        "arith.addi",  "arith.subi",  "arith.muli",       "arith.andi",      "arith.ori",
        "arith.xori",  "arith.shli",  "arith.shrsi",      "arith.shrui",     "arith.divsi",
        "arith.divui", "arith.remsi", "arith.remui",      "arith.maxsi",     "arith.minsi",
        "arith.maxui", "arith.minui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui"};
    static const char *const unary[] = {"math.absi", "math.ctpop", "math.ctlz", "math.cttz"};
    if (random.integer(0, 6) == 0) {
      define(kind, typed(pick(unary) + (" " + some(kind)), kind));
      return;
    }
    bool high = kind.bits >= 32 && random.integer(0, 20) == 0;
    std::string name = high ? "tt.mulhiui" : pick(binary);
    define(kind, typed(name + " " + some(kind) + ", " + some(kind), kind));
  }

  void addFloatOperation(const Kind &kind) {
    static const char *const binary[] = {"arith.addf",    "arith.subf",     "arith.mulf",
                                         "arith.divf",    "arith.maximumf", "arith.minimumf",
                                         "arith.maxnumf", "arith.minnumf"};
    static const char *const unary[] = {"arith.negf", "math.absf", "math.floor", "math.ceil"};
    switch (random.integer(0, 8)) {
    case 0:
      define(kind, typed(pick(unary) + (" " + some(kind)), kind));
      return;
    case 1:
      define(kind, typed("math.fma " + some(kind) + ", " + some(kind) + ", " + some(kind), kind));
      return;
    case 2: {
      bool all = random.integer(0, 2);
      define(kind, typed("tt.clampf " + some(kind) + ", " + some(kind) + ", " + some(kind) +
                             ", propagateNan = " + (all ? "all" : "none"),
                         kind));
      return;
    }
    default:
      define(kind, typed(pick(binary) + (" " + some(kind) + ", " + some(kind)), kind));
    }
  }

  void addComparison() {
    static const char *const integers[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                           "sge", "ult", "ule", "ugt", "uge"};
    static const char *const floats[] = {"oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "ueq", "ugt", "uge", "ult", "ule", "une", "uno"};
    bool isFloat = random.integer(0, 2);
    const Kind &compared = someKind(isFloat), &chosen = someKind(random.integer(0, 2));
    std::string pair = some(compared) + ", " + some(compared);
    std::string holds =
        define(condition, typed(std::string(isFloat ? "arith.cmpf " : "arith.cmpi ") +
                                    (isFloat ? pick(floats) : pick(integers)) + ", " + pair,
                                compared));
    define(chosen, "arith.select " + holds + ", " + some(chosen) + ", " + some(chosen) + " : " +
                       tile("i1") + ", " + tile(chosen.name));
    origins["out" + std::to_string(next - 1)] +=
        " after " + body.substr(body.rfind(holds + " = "), 90);
  }

  void addConversion() {
    bool fromFloat = random.integer(0, 2), toFloat = random.integer(0, 2);
    const Kind &from = someKind(fromFloat), &to = someKind(toFloat);
    std::string value = some(from);
    if (fromFloat && toFloat) {
      if (from.bits == to.bits)
        return;
      define(to, cast(from.bits < to.bits ? "arith.extf" : "arith.truncf", value, from, to));
      if (from.bits == 32 && to.bits == 16)
        define(to, cast("tt.fp_to_fp", value + ", rounding = rtz", from, to, " -> "));
    } else if (fromFloat) {
      define(to, cast(random.integer(0, 2) ? "arith.fptosi" : "arith.fptoui", value, from, to));
    } else if (toFloat) {
      define(to, cast(random.integer(0, 2) ? "arith.sitofp" : "arith.uitofp", value, from, to));
    } else if (from.bits > to.bits) {
      define(to, cast("arith.trunci", value, from, to));
    } else if (from.bits < to.bits) {
      define(to, cast(random.integer(0, 2) ? "arith.extsi" : "arith.extui", value, from, to));
    } else {
      const Kind &real = kinds[from.bits == 16 ? 4 : from.bits == 32 ? 6 : 7];
      if (from.bits > 8)
        define(real, cast("tt.bitcast", value, from, real, " -> "));
    }
  }

  Random random;
  Case launched;
  std::string parameters, body;
  std::map<std::string, std::vector<std::string>> values;
  int next = 0;
};

uint64_t patternAt(const Array &array, int i) {
  uint64_t pattern = 0;
  std::memcpy(&pattern, &array.bytes[i * byteSize(array.type)], byteSize(array.type));
  return pattern;
}

bool isNan(const Array &array, uint64_t pattern) {
  switch (array.type) {
  case DataType::Float16:
    return (pattern & 0x7fff) > 0x7c00;
  case DataType::BFloat16:
    return (pattern & 0x7fff) > 0x7f80;
  case DataType::Float32:
    return (pattern & 0x7fffffff) > 0x7f800000;
  case DataType::Float64:
    return (pattern & 0x7fffffffffffffff) > 0x7ff0000000000000;
  default:
    return false;
  }
}

class RandomExpressions : public testing::TestWithParam<std::tuple<CpuLevel, int>> {};

TEST_P(RandomExpressions, HaveTheInterpretersBits) {
  auto [level, seed] = GetParam();
  KernelWriter writer(seed + 100);
  Case launched = writer.write();
  std::vector<Array> expected = runReference(launched, "random");
  CompiledKernel kernel(launched.text, "random", level, /*fpContract=*/false,
                        /*bfloat16Grade=*/false);
  Arguments arguments;
  for (Array &array : launched.arrays)
    arguments.add(array.bytes.data());
  ASSERT_EQ(kernel.run(arguments, 1), 0);
  for (size_t a = 0; a < expected.size(); ++a)
    for (int i = 0; i < elements; ++i) {
      uint64_t got = patternAt(launched.arrays[a], i), want = patternAt(expected[a], i);
      if (got == want || (isNan(expected[a], got) && isNan(expected[a], want)))
        continue;
      ADD_FAILURE() << expected[a].name << "[" << i << "] = " << std::hex << got << ", expected "
                    << want << ": " << writer.origins[expected[a].name];
      break;
    }
}

std::string pointName(const testing::TestParamInfo<std::tuple<CpuLevel, int>> &info) {
  return std::string(std::get<0>(info.param) == CpuLevel::X86_64_v4 ? "v4_" : "v3_") +
         std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Levels, RandomExpressions,
                         testing::Combine(testing::ValuesIn(runnableLevels()),
                                          testing::Range(0, seeds)),
                         pointName);

} // namespace
