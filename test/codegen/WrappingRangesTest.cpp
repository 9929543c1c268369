// SPDX-License-Identifier: Apache-2.0
// A range that passes the end of its type wraps: comparisons of it, masks made of them, and what
// the masks guard, against the same numbers computed one by one.
#include "codegen/KernelFixture.h"

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

constexpr int64_t block = 128, programs = 2, elements = block * programs;
const char *const predicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                  "sge", "ult", "ule", "ugt", "uge"};
constexpr int count = std::size(predicates);
/// What a kernel writes per predicate: the comparison, a masked store, a masked load, and both
/// with a second mask.
constexpr int outputs = 5;

/// The type a range is computed in and the one it is compared in.
struct Form {
  const char *name;
  unsigned bits, comparedBits;
  bool isSigned;
};
const Form forms[] = {{"i8", 8, 8, true},           {"i16", 16, 16, true},
                      {"i32", 32, 32, true},        {"i64", 64, 64, true},
                      {"i32_to_i64", 32, 64, true}, {"u32_to_i64", 32, 64, false},
                      {"i16_to_i32", 16, 32, true}, {"u8_to_i32", 8, 32, false}};

std::string type(unsigned bits) { return "tensor<128xi" + std::to_string(bits) + ">"; }

std::string kernelText(const Form &form, bool swapped) {
  std::string narrow = type(form.bits), wide = type(form.comparedBits), text;
  auto scalar = [](unsigned bits) { return "i" + std::to_string(bits); };
  auto line = [&](const std::string &words) { text += "    " + words + "\n"; };
  text = "module {\n  tt.func public @ranges(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %s: " +
         scalar(form.bits) + ", %n: " + scalar(form.comparedBits) + ", %m: i32) {\n";
  line("%c128 = arith.constant 128 : i32");
  line("%zero = arith.constant dense<0> : tensor<128xi32>");
  line("%one = arith.constant dense<1> : tensor<128xi32>");
  line("%pid = tt.get_program_id x : i32");
  line("%start = arith.muli %pid, %c128 : i32");
  line("%range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>");
  line("%starts = tt.splat %start : i32 -> tensor<128xi32>");
  line("%i = arith.addi %starts, %range : tensor<128xi32>");
  line("%ms = tt.splat %m : i32 -> tensor<128xi32>");
  line("%second = arith.cmpi slt, %i, %ms : tensor<128xi32>");
  std::string at = "%i";
  if (form.bits != 32) {
    line("%at = arith." + std::string(form.bits < 32 ? "trunci" : "extsi") +
         " %i : tensor<128xi32> to " + narrow);
    at = "%at";
  }
  line("%ss = tt.splat %s : " + scalar(form.bits) + " -> " + narrow);
  line("%v = arith.addi " + at + ", %ss : " + narrow);
  std::string compared = "%v";
  if (form.bits != form.comparedBits) {
    line("%w = arith.ext" + std::string(form.isSigned ? "si" : "ui") + " %v : " + narrow + " to " +
         wide);
    compared = "%w";
  }
  line("%ns = tt.splat %n : " + scalar(form.comparedBits) + " -> " + wide);
  line("%xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>");
  line("%from = tt.addptr %xs, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>");
  for (int p = 0; p < count; ++p) {
    std::string k = std::to_string(p);
    auto pointers = [&](int output) {
      std::string number = std::to_string(p * outputs + output);
      line("%c" + number + "_ = arith.constant " +
           std::to_string((p * outputs + output) * elements) + " : i32");
      line("%b" + number + " = tt.addptr %o, %c" + number + "_ : !tt.ptr<i32>, i32");
      line("%bs" + number + " = tt.splat %b" + number +
           " : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>");
      line("%q" + number + " = tt.addptr %bs" + number +
           ", %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>");
      return "%q" + number;
    };
    std::string pair = swapped ? "%ns, " + compared : compared + ", %ns";
    line("%mask" + k + " = arith.cmpi " + predicates[p] + ", " + pair + " : " + wide);
    line("%and" + k + " = arith.andi %mask" + k + ", %second : tensor<128xi1>");
    line("%chosen" + k + " = arith.select %mask" + k +
         ", %one, %zero : tensor<128xi1>, tensor<128xi32>");
    line("tt.store " + pointers(0) + ", %chosen" + k + " : tensor<128x!tt.ptr<i32>>");
    line("tt.store " + pointers(1) + ", %one, %mask" + k + " : tensor<128x!tt.ptr<i32>>");
    line("%read" + k + " = tt.load %from, %mask" + k + ", %zero : tensor<128x!tt.ptr<i32>>");
    line("tt.store " + pointers(2) + ", %read" + k + " : tensor<128x!tt.ptr<i32>>");
    line("tt.store " + pointers(3) + ", %one, %and" + k + " : tensor<128x!tt.ptr<i32>>");
    line("%either" + k + " = tt.load %from, %and" + k + ", %zero : tensor<128x!tt.ptr<i32>>");
    line("tt.store " + pointers(4) + ", %either" + k + " : tensor<128x!tt.ptr<i32>>");
  }
  return text + "    tt.return\n  }\n}\n";
}

/// `value` modulo 2^bits, as a signed or an unsigned number.
__int128 wrapped(__int128 value, unsigned bits, bool isSigned) {
  __int128 span = __int128(1) << bits, rest = ((value % span) + span) % span;
  return isSigned && rest >= span / 2 ? rest - span : rest;
}

bool holds(int predicate, __int128 x, __int128 y, unsigned bits) {
  bool isSigned = predicate < 6;
  x = wrapped(x, bits, isSigned), y = wrapped(y, bits, isSigned);
  switch (predicate) {
  case 0:
    return x == y;
  case 1:
    return x != y;
  case 2:
  case 6:
    return x < y;
  case 3:
  case 7:
    return x <= y;
  case 4:
  case 8:
    return x > y;
  default:
    return x >= y;
  }
}

/// Near an end of a type of any width, or near zero.
int64_t edge(Random &random, unsigned bits) {
  const unsigned widths[] = {8, 16, 32, 64};
  unsigned width = std::min(bits, widths[random.integer(0, 4)]);
  uint64_t ends[] = {0, uint64_t(1) << (width - 1), width == 64 ? 0 : uint64_t(1) << width,
                     uint64_t(0) - (uint64_t(1) << (width - 1))};
  return int64_t(ends[random.integer(0, 4)] + uint64_t(random.integer(-300, 100)));
}

Arguments pack(const Form &form, const void *x, const void *o, int64_t s, int64_t n, int32_t m) {
  Arguments arguments;
  auto add = [&](unsigned bits, int64_t value) {
    bits == 8    ? arguments.add(int8_t(value))
    : bits == 16 ? arguments.add(int16_t(value))
    : bits == 32 ? arguments.add(int32_t(value))
                 : arguments.add(value);
  };
  arguments.add(x).add(o);
  add(form.bits, s);
  add(form.comparedBits, n);
  arguments.add(m);
  return arguments;
}

using Point = std::tuple<CpuLevel, Form, bool>;
class WrappingRanges : public testing::TestWithParam<Point> {};

TEST_P(WrappingRanges, CompareAsTheirNumbersDo) {
  auto [level, form, swapped] = GetParam();
  CompiledKernel kernel(kernelText(form, swapped), "ranges", level);
  std::vector<int32_t> x(elements), o(count * outputs * elements);
  for (int64_t i = 0; i < elements; ++i)
    x[i] = int32_t(i + 2);
  Random random(form.bits * 3 + form.comparedBits + form.isSigned + 1);
  for (int round = 0; round < 300; ++round) {
    int64_t s = edge(random, form.bits);
    int64_t n = round % 3 ? edge(random, form.comparedBits) : s + random.integer(-100, 300);
    int32_t m = int32_t(random.integer(0, 300));
    std::fill(o.begin(), o.end(), 0);
    ASSERT_EQ(kernel.run(pack(form, x.data(), o.data(), s, n, m), programs), 0);
    for (int p = 0; p < count; ++p)
      for (int64_t i = 0; i < elements; ++i) {
        __int128 v = wrapped(__int128(s) + i, form.bits, form.isSigned);
        bool mask = swapped ? holds(p, n, v, form.comparedBits) : holds(p, v, n, form.comparedBits);
        bool both = mask && i < m;
        int32_t expected[outputs] = {mask, mask, mask ? x[i] : 0, both, both ? x[i] : 0};
        for (int k = 0; k < outputs; ++k)
          ASSERT_EQ(o[(p * outputs + k) * elements + i], expected[k])
              << predicates[p] << ", output " << k << ", s " << s << ", n " << n << ", m " << m
              << ", i " << i;
      }
  }
}

std::string pointName(const testing::TestParamInfo<Point> &info) {
  auto [level, form, swapped] = info.param;
  return std::string(level == CpuLevel::X86_64_v4 ? "v4_" : "v3_") + form.name +
         (swapped ? "_bound_first" : "");
}

INSTANTIATE_TEST_SUITE_P(Levels, WrappingRanges,
                         testing::Combine(testing::ValuesIn(runnableLevels()),
                                          testing::ValuesIn(forms), testing::Bool()),
                         pointName);

} // namespace
