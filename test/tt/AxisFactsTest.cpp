// SPDX-License-Identifier: Apache-2.0
// Facts of elements hold, and are as many as they were: random straight-line programs over tiles,
// whose every value is computed here beside its text.
#include "tt/AxisInfo.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

using namespace pellucid;

namespace {

using Numbers = std::vector<int64_t>;

/// A value of the program: its elements in row-major order; a scalar has no dims.
struct Known {
  std::string name, element;
  std::vector<int64_t> shape;
  Numbers elements;
  bool cut = false; ///< high bits may have been dropped: nothing says where it falls below zero

  std::string type() const {
    if (shape.empty())
      return element;
    std::string text = "tensor<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + element + ">";
  }
  int width() const { return std::stoi(element.substr(1)); }
  bool isPointer() const { return element.starts_with("!"); }
  bool isInteger(const std::string &of) const { return element == of && !shape.empty(); }
};

int64_t wrapped(int64_t number, int width) {
  uint64_t kept = width < 64 ? uint64_t(number) & ((uint64_t(1) << width) - 1) : uint64_t(number);
  bool negative = width < 64 && (kept >> (width - 1)) & 1;
  return negative ? int64_t(kept) - (int64_t(1) << width) : int64_t(kept);
}

uint64_t asUnsigned(int64_t number, int width) {
  return width < 64 ? uint64_t(number) & ((uint64_t(1) << width) - 1) : uint64_t(number);
}

using Binary = std::optional<int64_t> (*)(int64_t, int64_t, int);
/// What each operation makes of two elements; nothing where the result is not exact.
const std::vector<std::pair<std::string, Binary>> binaries{
    {"arith.addi", [](int64_t a, int64_t b, int) { return std::optional(a + b); }},
    {"arith.subi", [](int64_t a, int64_t b, int) { return std::optional(a - b); }},
    {"arith.muli", [](int64_t a, int64_t b, int) { return std::optional(a * b); }},
    {"arith.andi", [](int64_t a, int64_t b, int) { return std::optional(a & b); }},
    {"arith.ori", [](int64_t a, int64_t b, int) { return std::optional(a | b); }},
    {"arith.xori", [](int64_t a, int64_t b, int) { return std::optional(a ^ b); }},
    {"arith.minsi", [](int64_t a, int64_t b, int) { return std::optional(std::min(a, b)); }},
    {"arith.maxsi", [](int64_t a, int64_t b, int) { return std::optional(std::max(a, b)); }},
    {"arith.minui",
     [](int64_t a, int64_t b, int width) {
       return std::optional(asUnsigned(a, width) < asUnsigned(b, width) ? a : b);
     }},
    {"arith.maxui",
     [](int64_t a, int64_t b, int width) {
       return std::optional(asUnsigned(a, width) < asUnsigned(b, width) ? b : a);
     }},
    {"arith.shli",
     [](int64_t a, int64_t b, int) {
       return b >= 0 && b < 8 ? std::optional(a * (int64_t(1) << b)) : std::nullopt;
     }},
    {"arith.shrsi", [](int64_t a, int64_t b,
                       int) { return b >= 0 && b < 8 ? std::optional(a >> b) : std::nullopt; }},
    {"arith.shrui",
     [](int64_t a, int64_t b, int width) {
       return b >= 0 && b < 8 ? std::optional(wrapped(asUnsigned(a, width) >> b, width))
                              : std::nullopt;
     }},
    {"arith.divsi",
     [](int64_t a, int64_t b, int) { return b > 0 ? std::optional(a / b) : std::nullopt; }},
    {"arith.remsi",
     [](int64_t a, int64_t b, int) { return b > 0 ? std::optional(a % b) : std::nullopt; }},
    {"arith.divui", [](int64_t a, int64_t b,
                       int) { return a >= 0 && b > 0 ? std::optional(a / b) : std::nullopt; }},
    {"arith.remui", [](int64_t a, int64_t b, int) {
       return a >= 0 && b > 0 ? std::optional(a % b) : std::nullopt;
     }}};

const std::vector<std::pair<std::string, bool (*)(int64_t, int64_t, int)>> comparisons{
    {"eq", [](int64_t a, int64_t b, int) { return a == b; }},
    {"ne", [](int64_t a, int64_t b, int) { return a != b; }},
    {"slt", [](int64_t a, int64_t b, int) { return a < b; }},
    {"sle", [](int64_t a, int64_t b, int) { return a <= b; }},
    {"sgt", [](int64_t a, int64_t b, int) { return a > b; }},
    {"sge", [](int64_t a, int64_t b, int) { return a >= b; }},
    {"ult", [](int64_t a, int64_t b, int w) { return asUnsigned(a, w) < asUnsigned(b, w); }},
    {"ule", [](int64_t a, int64_t b, int w) { return asUnsigned(a, w) <= asUnsigned(b, w); }},
    {"ugt", [](int64_t a, int64_t b, int w) { return asUnsigned(a, w) > asUnsigned(b, w); }},
    {"uge", [](int64_t a, int64_t b, int w) { return asUnsigned(a, w) >= asUnsigned(b, w); }}};

/// A random program: values in order, and the text of the function.
class Program {
public:
  explicit Program(unsigned seed) : random(seed), divides(seed % 3 != 0) {
    for (int i = 0; i < 3; ++i) {
      int64_t divisor = int64_t(1) << below(6);
      std::string name = "%n" + std::to_string(i);
      arguments += (i ? ", " : "") + name + ": i32 {tt.divisibility = " + std::to_string(divisor) +
                   " : i32}";
      values.push_back({name, "i32", {}, {divisor * below(20)}});
    }
    int64_t address = 16 * (1000 + below(1000));
    arguments += ", %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i16>";
    values.push_back({"%p", "!tt.ptr<f32>", {}, {address}});
    values.push_back({"%q", "!tt.ptr<i16>", {}, {2 * below(100)}});
    given = values.size();
    for (int i = 0; i < 3; ++i) {
      addRange();
      addConstant();
    }
    while (values.size() < given + 36)
      addSomething();
  }

  std::string text() const {
    return "tt.func public @f(" + arguments + ") {\n" + body + "  tt.return\n}\n";
  }
  std::vector<Known> values;
  size_t given = 0; ///< so many of them are arguments

private:
  int64_t below(int64_t end) { return int64_t(random() % uint32_t(end)); }

  void define(const std::string &operation, Known result) {
    result.name = "%v" + std::to_string(values.size());
    body += "  " + result.name + " = " + operation + "\n";
    values.push_back(std::move(result));
  }

  template <typename Accepts> const Known *pick(Accepts accepts) {
    std::vector<size_t> found;
    for (size_t i = 0; i < values.size(); ++i)
      if (accepts(values[i]))
        found.push_back(i);
    return found.empty() ? nullptr : &values[found[below(int64_t(found.size()))]];
  }

  void addRange() {
    static const int64_t starts[] = {0, 0, 0, 4, 16, 3};
    int64_t start = starts[below(6)], extent = int64_t(1) << (2 + below(8));
    Known range{"", "i32", {extent}, {}};
    for (int64_t i = 0; i < extent; ++i)
      range.elements.push_back(start + i);
    define("tt.make_range {start = " + std::to_string(start) +
               " : i32, end = " + std::to_string(start + extent) + " : i32} : " + range.type(),
           range);
  }

  void addConstant() {
    static const int64_t numbers[] = {0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 64, -1, -8, 255};
    auto *like = pick([](const Known &v) { return v.isInteger("i32"); });
    Known made{"", "i32", like->shape, Numbers(like->elements.size(), numbers[below(15)])};
    define("arith.constant dense<" + std::to_string(made.elements[0]) + "> : " + made.type(), made);
  }

  void addSplat() {
    auto *scalar = pick([](const Known &v) { return v.shape.empty(); });
    auto *like = pick([](const Known &v) { return v.isInteger("i32"); });
    Known made{"", scalar->element, like->shape,
               Numbers(like->elements.size(), scalar->elements[0])};
    define("tt.splat " + scalar->name + " : " + scalar->type() + " -> " + made.type(), made);
  }

  /// A line as the rows or columns of a tile.
  void addTile() {
    auto *line = pick([](const Known &v) { return v.shape.size() == 1; });
    int axis = int(below(2));
    int64_t length = line->shape[0], times = int64_t(1) << (1 + below(4));
    Known wide = *line, tile = *line;
    wide.shape.insert(wide.shape.begin() + axis, 1);
    tile.shape.insert(tile.shape.begin() + axis, times);
    tile.elements.clear();
    for (int64_t r = 0; r < tile.shape[0]; ++r)
      for (int64_t c = 0; c < tile.shape[1]; ++c)
        tile.elements.push_back(line->elements[axis ? r : c]);
    if (length * times > 1024)
      return;
    define("tt.expand_dims " + line->name + " {axis = " + std::to_string(axis) +
               " : i32} : " + line->type() + " -> " + wide.type(),
           wide);
    define("tt.broadcast " + values.back().name + " : " + wide.type() + " -> " + tile.type(), tile);
  }

  void addTrans() {
    auto *tile = pick([](const Known &v) { return v.shape.size() == 2; });
    if (!tile)
      return;
    Known made = *tile;
    std::swap(made.shape[0], made.shape[1]);
    for (int64_t r = 0; r < made.shape[0]; ++r)
      for (int64_t c = 0; c < made.shape[1]; ++c)
        made.elements[r * made.shape[1] + c] = tile->elements[c * made.shape[0] + r];
    define("tt.trans " + tile->name + " {order = array<i32: 1, 0>} : " + tile->type() + " -> " +
               made.type(),
           made);
  }

  void addReshape() {
    auto *tile = pick([](const Known &v) { return !v.shape.empty(); });
    Known made = *tile;
    int64_t count = int64_t(made.elements.size());
    int64_t inner = std::min<int64_t>(count, int64_t(1) << below(7));
    made.shape =
        below(4) == 0 ? std::vector<int64_t>{count} : std::vector<int64_t>{count / inner, inner};
    if (below(6) == 0)
      made.shape.push_back(1);
    define("tt.reshape " + tile->name + " : " + tile->type() + " -> " + made.type(), made);
  }

  const Known *alike(const Known &to) {
    return pick([&](const Known &v) { return v.type() == to.type(); });
  }

  void addBinary() {
    auto *left = pick([](const Known &v) { return v.isInteger("i32") || v.isInteger("i64"); });
    auto *right = alike(*left);
    const auto &[name, compute] = binaries[below(int64_t(binaries.size()))];
    bool rounds = name.find("div") != std::string::npos || name.find("rem") != std::string::npos;
    if (rounds && (!divides || left->cut || right->cut))
      return;
    Known made = *left;
    made.cut |= right->cut;
    for (size_t i = 0; i < made.elements.size(); ++i) {
      auto element = compute(left->elements[i], right->elements[i], left->width());
      if (!element || *element < -(1 << 24) || *element > 1 << 24)
        return;
      made.elements[i] = *element;
    }
    define(name + " " + left->name + ", " + right->name + " : " + left->type(), made);
  }

  void addComparison() {
    auto *left = pick([](const Known &v) { return v.isInteger("i32") || v.isInteger("i64"); });
    auto *right = alike(*left);
    const auto &[name, compute] = comparisons[below(int64_t(comparisons.size()))];
    Known made = *left;
    made.element = "i1";
    for (size_t i = 0; i < made.elements.size(); ++i)
      made.elements[i] = wrapped(compute(left->elements[i], right->elements[i], left->width()), 1);
    define("arith.cmpi " + name + ", " + left->name + ", " + right->name + " : " + left->type(),
           made);
  }

  void addSelect() {
    auto *left = pick([](const Known &v) { return !v.shape.empty() && v.element != "i1"; });
    auto *right = alike(*left);
    auto *condition =
        pick([&](const Known &v) { return v.element == "i1" && v.shape == left->shape; });
    if (!condition)
      return;
    Known made = *left;
    made.cut |= right->cut;
    for (size_t i = 0; i < made.elements.size(); ++i)
      if (!condition->elements[i])
        made.elements[i] = right->elements[i];
    define("arith.select " + condition->name + ", " + left->name + ", " + right->name + " : " +
               condition->type() + ", " + left->type(),
           made);
  }

  void addWidth() {
    static const char *const types[] = {"i8", "i16", "i32", "i64"};
    auto *from = pick(
        [](const Known &v) { return !v.shape.empty() && !v.isPointer() && v.element != "i1"; });
    Known made = *from;
    made.element = types[below(4)];
    if (made.width() == from->width() || (divides && made.width() < from->width()))
      return;
    bool isUnsigned = below(2);
    for (int64_t &element : made.elements)
      element = made.width() < from->width() ? wrapped(element, made.width())
                : isUnsigned                 ? int64_t(asUnsigned(element, from->width()))
                                             : element;
    const char *name = made.width() < from->width() ? "arith.trunci"
                       : isUnsigned                 ? "arith.extui"
                                                    : "arith.extsi";
    made.cut |= made.width() < from->width();
    for (int64_t element : made.elements)
      if (std::abs(element) > 1 << 24)
        return;
    define(std::string(name) + " " + from->name + " : " + from->type() + " to " + made.type(),
           made);
  }

  void addPointer() {
    auto *base = pick([](const Known &v) { return v.isPointer() && !v.shape.empty(); });
    if (!base)
      return;
    auto *offset =
        pick([&](const Known &v) { return v.isInteger("i32") && v.shape == base->shape; });
    if (!offset)
      return;
    Known made = *base;
    int64_t unit = base->element == "!tt.ptr<f32>" ? 4 : 2;
    for (size_t i = 0; i < made.elements.size(); ++i)
      made.elements[i] += unit * offset->elements[i];
    if (*std::min_element(made.elements.begin(), made.elements.end()) < 0)
      return;
    define("tt.addptr " + base->name + ", " + offset->name + " : " + base->type() + ", " +
               offset->type(),
           made);
  }

  void addReinterpretation() {
    auto *pointers = pick([](const Known &v) { return v.isPointer(); });
    Known made = *pointers;
    bool toNumbers = below(2) && !made.shape.empty();
    made.element = toNumbers                             ? "i64"
                   : pointers->element == "!tt.ptr<f32>" ? "!tt.ptr<i16>"
                                                         : "!tt.ptr<f32>";
    if (!toNumbers && pointers->element == "!tt.ptr<i16>")
      for (int64_t address : made.elements)
        if (address % 4)
          return;
    define((toNumbers ? "tt.ptr_to_int " : "tt.bitcast ") + pointers->name + " : " +
               pointers->type() + " -> " + made.type(),
           made);
  }

  void addLoad() {
    auto *from = pick([](const Known &v) { return v.isPointer() && !v.shape.empty(); });
    if (!from || from->element != "!tt.ptr<i16>")
      return;
    Known made = *from;
    made.element = "i16";
    made.cut = true;
    for (int64_t &element : made.elements)
      element = wrapped(element * 40503, 13);
    define("tt.load " + from->name + " : " + from->type(), made);
  }

  void addSomething() {
    using Add = void (Program::*)();
    static const Add ways[] = {&Program::addConstant, &Program::addSplat,
                               &Program::addSplat,    &Program::addTile,
                               &Program::addTrans,    &Program::addReshape,
                               &Program::addBinary,   &Program::addBinary,
                               &Program::addBinary,   &Program::addBinary,
                               &Program::addBinary,   &Program::addBinary,
                               &Program::addBinary,   &Program::addBinary,
                               &Program::addWidth,    &Program::addComparison,
                               &Program::addPointer,  &Program::addPointer,
                               &Program::addSelect,   &Program::addRange,
                               &Program::addLoad,     &Program::addReinterpretation};
    (this->*ways[below(std::size(ways))])();
  }

  std::minstd_rand random;
  bool divides; ///< quotients and remainders instead of narrow types
  std::string arguments, body;
};

/// The first claim that the elements do not bear out, in words.
std::string wrongClaim(const Known &known, const tt::AxisInfo &info, int64_t unit) {
  std::vector<int64_t> shape = known.shape.empty() ? std::vector<int64_t>{1} : known.shape;
  if (info.rank() != shape.size())
    return "of another rank";
  if (info.nonNegative && !known.isPointer())
    for (int64_t element : known.elements)
      if (element < 0 && known.element != "i1")
        return "nonnegative, and one is " + std::to_string(element);
  int64_t stride = int64_t(known.elements.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    stride /= shape[d];
    for (size_t i = 0; i < known.elements.size(); ++i) {
      int64_t at = int64_t(i) / stride % shape[d];
      int64_t next = at + 1 < shape[d] ? known.elements[i + stride] : 0;
      if ((at + 1) % info.constancy[d] != 0 && next != known.elements[i])
        return "not constant along " + std::to_string(d);
      if ((at + 1) % info.contiguity[d] != 0 && next != known.elements[i] + unit)
        return "not contiguous along " + std::to_string(d);
      if (at % info.contiguity[d] == 0 && known.elements[i] % info.divisibility[d] != 0 &&
          known.element != "i1")
        return "not divisible along " + std::to_string(d);
    }
  }
  return "";
}

/// How much is known, in powers of two.
int64_t bitsOf(const tt::AxisInfo &info) {
  int64_t bits = info.nonNegative;
  for (size_t d = 0; d < info.rank(); ++d)
    for (int64_t number : {info.contiguity[d], info.constancy[d], info.divisibility[d]})
      bits += std::bit_width(uint64_t(number)) - 1;
  return bits;
}

// What was known of the values of these programs. A rule that knows more may raise its number.
const std::map<std::string, int64_t> leastKnown{
    {"arith.addi", 6231},      {"arith.andi", 5987},      {"arith.cmpi", 5004},
    {"arith.constant", 71972}, {"arith.divsi", 1777},     {"arith.divui", 1668},
    {"arith.extsi", 3832},     {"arith.extui", 3604},     {"arith.maxsi", 4333},
    {"arith.maxui", 4839},     {"arith.minsi", 4285},     {"arith.minui", 4179},
    {"arith.muli", 6271},      {"arith.ori", 2290},       {"arith.remsi", 2141},
    {"arith.remui", 2036},     {"arith.select", 1636},    {"arith.shli", 1762},
    {"arith.shrsi", 1506},     {"arith.shrui", 1158},     {"arith.subi", 4234},
    {"arith.trunci", 5281},    {"arith.xori", 2417},      {"tt.addptr", 15173},
    {"tt.bitcast", 6378},      {"tt.broadcast", 32596},   {"tt.expand_dims", 27494},
    {"tt.load", 2827},         {"tt.make_range", 162456}, {"tt.ptr_to_int", 2167},
    {"tt.reshape", 26729},     {"tt.splat", 46623},       {"tt.trans", 18913}};

TEST(AxisFacts, OfRandomProgramsHoldAndAreAsManyAsTheyWere) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  tt::loadTtDialects(context);
  std::map<std::string, int64_t> bits;
  for (unsigned seed = 1; seed <= 1500; ++seed) {
    Program program(seed);
    Diagnostics diagnostics;
    auto module = tt::parseTtir(program.text(), &context, diagnostics, "program.ttir");
    ASSERT_TRUE(module) << diagnostics.text() << program.text();
    auto function = *module->getOps<tt::FuncOp>().begin();
    tt::AxisAnalysis analysis(function);
    size_t next = program.given;
    for (mlir::Operation &op : function.getBody().front().without_terminator()) {
      const Known &known = program.values[next++];
      tt::AxisInfo info = analysis.of(op.getResult(0));
      ASSERT_EQ(wrongClaim(known, info, tt::axisUnit(op.getResult(0).getType())), "")
          << "seed " << seed << ", " << known.name << ": " << info.text() << "\n"
          << program.text();
      bits[op.getName().getStringRef().str()] += bitsOf(info);
    }
    ASSERT_EQ(next, program.values.size());
  }
  for (const auto &[name, known] : bits) {
    auto least = leastKnown.find(name);
    EXPECT_GE(known, least == leastKnown.end() ? INT64_MAX : least->second) << name;
  }
}

} // namespace
