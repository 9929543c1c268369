// SPDX-License-Identifier: Apache-2.0
// Which elements all programs of a launch together touch: what is proved, each reason for which
// nothing is, and that random kernels touch what was proved of them, once.
#include "fusion/AccessExtent.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

using namespace pellucid;
using symbolic::Expr;

namespace {

const char *const noSurroundings = "it is on a condition, or in a loop whose bounds are not known";
const char *const noOffsets = "its offsets are not known";
const char *const noMask = "its mask does not bound the offsets";
const char *const noStart = "it does not start at the first element";
const char *const byPrograms = "several programs touch the same elements";
const char *const twice = "the same elements are touched more than once";
const char *const gaps = "the elements that the programs touch do not follow one another";
const char *const tooFew = "the grid is not known to reach all elements";
const char *const maskedOff = "the mask is not known to let all elements through";

constexpr int rows = 4, columns = 8;

class Text;

/// An i32, or a tile of them, of a kernel's text.
struct Number {
  Text *text;
  std::string name;
  std::string type = "i32";
};

/// A kernel that works on tiles of `rows` times `columns`, statement by statement.
class Text {
public:
  std::string body;

  std::string line(const std::string &operation) {
    std::string name = "%v" + std::to_string(next++);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }
  Number number(int64_t value) {
    return {this, line("arith.constant " + std::to_string(value) + " : i32")};
  }
  Number program(int axis) {
    return {this, line(std::string("tt.get_program_id ") + "xyz"[axis] + " : i32")};
  }
  Number programs(int axis) {
    return {this, line(std::string("tt.get_num_programs ") + "xyz"[axis] + " : i32")};
  }
  Number lane(int dim) {
    std::string extent = std::to_string(dim ? columns : rows);
    std::string range = line("tt.make_range {start = 0 : i32, end = " + extent +
                             " : i32} : tensor<" + extent + "xi32>");
    std::string shape = dim ? "1x" + extent : extent + "x1";
    std::string across = line("tt.expand_dims " + range + " {axis = " + (dim ? "0" : "1") +
                              " : i32} : tensor<" + extent + "xi32> -> tensor<" + shape + "xi32>");
    return {this, line("tt.broadcast " + across + " : tensor<" + shape + "xi32> -> " + tile("i32")),
            tile("i32")};
  }
  Number n() { return {this, "%n"}; }
  Number s() { return {this, "%s"}; }

  static std::string tile(const std::string &element) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
  }
  std::string asTile(const Number &number) {
    if (number.type != "i32")
      return number.name;
    return line("tt.splat " + number.name + " : i32 -> " + tile("i32"));
  }
  Number binary(const std::string &operation, Number a, Number b) {
    if (a.type == "i32" && b.type == "i32")
      return {this, line("arith." + operation + " " + a.name + ", " + b.name + " : i32")};
    std::string left = asTile(a), right = asTile(b);
    return {this, line("arith." + operation + " " + left + ", " + right + " : " + tile("i32")),
            tile("i32")};
  }
  /// A comparison of scalars, or of tiles.
  std::string compare(const std::string &predicate, Number a, Number b) {
    bool scalar = a.type == "i32" && b.type == "i32";
    std::string left = scalar ? a.name : asTile(a), right = scalar ? b.name : asTile(b);
    return line("arith.cmpi " + predicate + ", " + left + ", " + right + " : " +
                (scalar ? "i32" : tile("i32")));
  }
  std::string both(const std::string &a, const std::string &b, bool scalar = false) {
    return line("arith.andi " + a + ", " + b + " : " + (scalar ? "i1" : tile("i1")));
  }
  void open(const std::string &head) { body += "  " + head + " {\n"; }
  void close() { body += "  }\n"; }
  Number loop(Number from, Number to, Number step) {
    std::string name = "%i" + std::to_string(next++);
    open("scf.for " + name + " = " + from.name + " to " + to.name + " step " + step.name +
         " : i32");
    return {this, name};
  }
  void access(const Number &offset, const std::string &mask = "") {
    std::string pointers = line("tt.splat %p : !tt.ptr<f32> -> " + tile("!tt.ptr<f32>"));
    std::string at = line("tt.addptr " + pointers + ", " + asTile(offset) + " : " +
                          tile("!tt.ptr<f32>") + ", " + tile("i32"));
    std::string masked = mask.empty() ? "" : ", " + mask;
    std::string value = line("tt.load " + at + masked + " : " + tile("!tt.ptr<f32>"));
    body += "  tt.store " + at + ", " + value + masked + " : " + tile("!tt.ptr<f32>") + "\n";
  }
  std::string kernel() const {
    return "tt.func @k(%p: !tt.ptr<f32>, %n: i32, %s: i32, %c: i1) {\n" + body + "  tt.return\n}\n";
  }

private:
  int next = 0;
};

Number operator+(Number a, Number b) { return a.text->binary("addi", a, b); }
Number operator-(Number a, Number b) { return a.text->binary("subi", a, b); }
Number operator*(Number a, Number b) { return a.text->binary("muli", a, b); }
Number operator+(Number a, int64_t b) { return a + a.text->number(b); }
Number operator-(Number a, int64_t b) { return a - a.text->number(b); }
Number operator*(Number a, int64_t b) { return a * a.text->number(b); }
std::string operator<(Number a, Number b) { return a.text->compare("slt", a, b); }
std::string operator<(Number a, int64_t b) { return a < a.text->number(b); }

struct Extents : testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  symbolic::SymbolTable symbols;
  std::array<Expr, 3> grid{1, 1, 1};
  std::optional<Expr> n, s;
  bool byMany = false; ///< what isLoadedByManyPrograms said last

  /// Why the kernel's store is not known to be of each of `elements` elements, or "". The load
  /// beside it is of the same elements.
  std::string refusal(const Expr &elements, const std::function<void(Text &)> &write) {
    Text text;
    write(text);
    tt::loadTtDialects(context);
    Diagnostics diagnostics;
    module = tt::parseTtir(text.kernel(), &context, diagnostics, "kernel.ttir");
    EXPECT_TRUE(module) << diagnostics.text() << text.kernel();
    fusion::LaunchValues launch;
    launch.grid = grid;
    launch.arguments = {std::nullopt, n, s, std::nullopt};
    launch.symbols = &symbols;
    std::string said;
    if (module)
      module->walk([&](tt::StoreOp store) {
        auto load = store.getValue().getDefiningOp<tt::LoadOp>();
        said = fusion::refusePartialStore(store, launch, elements).value_or("");
        EXPECT_EQ(fusion::refusePartialLoad(load, launch, elements).value_or(""), said);
        byMany = fusion::isLoadedByManyPrograms(load, launch);
      });
    return said;
  }
};

/// Offsets of the programs' tiles, one after the other.
Number inOrder(Text &t) {
  return t.program(0) * (rows * columns) + t.lane(0) * columns + t.lane(1);
}

TEST_F(Extents, TilesOneAfterTheOther) {
  grid = {5, 1, 1};
  auto plain = [](Text &t) { t.access(inOrder(t)); };
  EXPECT_EQ(refusal(160, plain), "");
  EXPECT_EQ(refusal(159, plain), "");
  EXPECT_EQ(refusal(161, plain), tooFew);
  EXPECT_FALSE(byMany);
  for (int64_t last : {128, 129, 159, 160}) {
    n = last;
    auto masked = [](Text &t) {
      Number at = inOrder(t);
      t.access(at, at < t.n());
    };
    EXPECT_EQ(refusal(last, masked), "") << last;
    EXPECT_EQ(refusal(last + 1, masked), last == 160 ? tooFew : maskedOff) << last;
  }
  n.reset();
  EXPECT_EQ(refusal(128,
                    [](Text &t) {
                      Number at = inOrder(t);
                      t.access(at, at < t.n());
                    }),
            noMask);
}

TEST_F(Extents, GridsOfSymbols) {
  symbols.declare("n", {{0, 1 << 20}, 1, std::nullopt});
  n = Expr::symbol("n");
  auto masked = [](Text &t) {
    Number at = inOrder(t);
    t.access(at, at < t.n());
  };
  grid = {symbolic::ceilDiv(*n, rows * columns), 1, 1};
  EXPECT_EQ(refusal(*n, masked), "");
  EXPECT_EQ(refusal(*n + 1, masked), tooFew);
  grid = {symbolic::floorDiv(*n, rows * columns), 1, 1};
  EXPECT_EQ(refusal(*n, masked), tooFew);
}

TEST_F(Extents, WhatTheProgramsShare) {
  grid = {2, 3, 1};
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(inOrder(t)); }), byPrograms);
  EXPECT_TRUE(byMany);
  grid = {2, 1, 1};
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(inOrder(t)); }), "");
  EXPECT_FALSE(byMany);
  EXPECT_EQ(refusal(16, [](Text &t) { t.access(t.program(0) * columns + t.lane(1)); }), twice);
  EXPECT_FALSE(byMany);
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(inOrder(t) + 1); }), noStart);
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(inOrder(t) - t.n()); }), noOffsets);
  EXPECT_FALSE(byMany);
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(inOrder(t) * t.program(0)); }), noOffsets);
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(inOrder(t) * 2); }), gaps);
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(t.program(0) * 33 + t.lane(0) * 8 + t.lane(1)); }),
            gaps);
  EXPECT_EQ(refusal(64, [](Text &t) { t.access(t.program(0) * 31 + t.lane(0) * 8 + t.lane(1)); }),
            gaps);
}

// The rows of a matrix, cut at its columns: a bound ends a digit early.
TEST_F(Extents, RowsThatAreCut) {
  grid = {3, 1, 1};
  n = 5, s = 10;
  auto cut = [](Text &t, Number across, Number down) {
    Number row = t.program(0) * rows + t.lane(0), column = t.lane(1);
    t.access(row * across + column, t.both(column < across, row < down));
  };
  EXPECT_EQ(refusal(50, [&](Text &t) { cut(t, t.n(), t.s()); }), "");
  EXPECT_EQ(refusal(51, [&](Text &t) { cut(t, t.n(), t.s()); }), maskedOff);
  EXPECT_EQ(refusal(50, [&](Text &t) { cut(t, t.n(), t.s() + 1); }), "");
  EXPECT_EQ(refusal(50, [&](Text &t) { cut(t, t.n(), t.s() - 1); }), maskedOff);
  EXPECT_EQ(refusal(60, [&](Text &t) { cut(t, t.n(), t.s() + 2); }), "");
  EXPECT_EQ(refusal(61, [&](Text &t) { cut(t, t.n(), t.s() + 2); }), tooFew);
  EXPECT_EQ(refusal(90, [&](Text &t) { cut(t, t.n() + 4, t.s()); }), gaps);
  // The columns end at 5, and the rows are 6 apart.
  EXPECT_EQ(refusal(50,
                    [](Text &t) {
                      Number row = t.program(0) * rows + t.lane(0), column = t.lane(1);
                      t.access(row * 6 + column, column < t.n());
                    }),
            gaps);
  // A bound of other variables than those of the digit.
  EXPECT_EQ(refusal(96,
                    [](Text &t) {
                      Number at = inOrder(t);
                      t.access(at, t.lane(0) + t.lane(1) < t.n());
                    }),
            maskedOff);
}

TEST_F(Extents, BoundsThatAlwaysHold) {
  grid = {3, 1, 1};
  auto under = [&](const std::function<std::string(Text &)> &mask) {
    return refusal(96, [&](Text &t) {
      Number at = inOrder(t);
      t.access(at, mask(t));
    });
  };
  EXPECT_EQ(under([](Text &t) { return t.lane(1) < 8; }), "");
  EXPECT_EQ(under([](Text &t) { return t.lane(1) < 7; }), maskedOff);
  EXPECT_EQ(under([](Text &t) { return t.lane(1) + t.program(0) < 10; }), "");
  EXPECT_EQ(under([](Text &t) { return t.lane(1) + t.program(0) < 9; }), maskedOff);
  EXPECT_EQ(under([](Text &t) { return t.program(0) * -1 + t.lane(1) < 8; }), "");
  EXPECT_EQ(under([](Text &t) { return t.program(0) * -1 + t.lane(1) < 7; }), maskedOff);
  EXPECT_EQ(under([](Text &t) { return t.program(1) + t.lane(1) < 8; }), "");
  // The same bound twice counts once.
  EXPECT_EQ(refusal(90,
                    [](Text &t) {
                      Number at = inOrder(t);
                      t.access(at, t.both(at < 90, at < 90));
                    }),
            "");
  EXPECT_EQ(refusal(90,
                    [](Text &t) {
                      Number at = inOrder(t);
                      t.access(at, t.both(at < 90, at < 89));
                    }),
            maskedOff);
}

TEST_F(Extents, EveryComparison) {
  grid = {3, 1, 1};
  const std::map<std::string, int64_t> reached{{"slt", 50}, {"ult", 50}, {"sle", 51}, {"ule", 51}};
  for (const auto &[predicate, count] : reached) {
    auto forward = [&](Text &t) {
      Number at = inOrder(t);
      t.access(at, t.compare(predicate, at, t.number(50)));
    };
    auto turned = [&](Text &t) {
      Number at = inOrder(t);
      std::string greater = {predicate[0], 'g', predicate[2]};
      t.access(at, t.compare(greater, t.number(50), at));
    };
    // `at > 50` is `50 < at`: sgt and ugt are turned slt and ult.
    std::string greater = {predicate[0], 'g', predicate[2]};
    EXPECT_EQ(refusal(count, forward), "") << predicate;
    EXPECT_EQ(refusal(count + 1, forward), maskedOff) << predicate;
    EXPECT_EQ(refusal(count, turned), "") << greater;
    EXPECT_EQ(refusal(count + 1, turned), maskedOff) << greater;
  }
  for (const char *predicate : {"eq", "ne"})
    EXPECT_EQ(refusal(50,
                      [&](Text &t) {
                        Number at = inOrder(t);
                        t.access(at, t.compare(predicate, at, t.number(50)));
                      }),
              noMask);
  // Below zero, an unsigned number is a large one.
  for (auto [left, right] : {std::pair(-1, 50), std::pair(0, -1)})
    EXPECT_EQ(refusal(50,
                      [&](Text &t) {
                        Number at = inOrder(t);
                        t.access(at, t.compare("ult", at + left, t.number(right)));
                      }),
              noMask);
  EXPECT_EQ(refusal(50,
                    [&](Text &t) {
                      Number at = inOrder(t);
                      t.access(at, t.compare("ult", at * -1, t.number(50)));
                    }),
            noMask);
  EXPECT_EQ(refusal(50,
                    [](Text &t) {
                      t.access(inOrder(t), t.line("tt.splat %c : i1 -> " + Text::tile("i1")));
                    }),
            noMask);
}

TEST_F(Extents, Branches) {
  grid = {6, 1, 1};
  auto inside = [](Text &t, const std::string &condition, bool taken) {
    Number at = inOrder(t);
    t.open("scf.if " + condition);
    if (!taken) {
      t.close();
      t.body.resize(t.body.size() - 1);
      t.open(" else");
    }
    t.access(at);
    t.close();
  };
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, t.program(0) < 5, true); }), "");
  EXPECT_EQ(refusal(161, [&](Text &t) { inside(t, t.program(0) < 5, true); }), maskedOff);
  auto notBelow = [](Text &t) { return t.compare("sge", t.program(0), t.number(5)); };
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, notBelow(t), false); }), "");
  EXPECT_EQ(refusal(161, [&](Text &t) { inside(t, notBelow(t), false); }), maskedOff);
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, notBelow(t), true); }), maskedOff);
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, t.program(0) < 5, false); }), maskedOff);
  auto two = [](Text &t) { return t.both(t.program(0) < 5, t.program(0) < 9, true); };
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, two(t), true); }), "");
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, two(t), false); }), noSurroundings);
  EXPECT_FALSE(byMany);
  EXPECT_EQ(refusal(160, [&](Text &t) { inside(t, "%c", true); }), noSurroundings);
  EXPECT_EQ(refusal(160,
                    [](Text &t) {
                      Number at = inOrder(t);
                      t.open("scf.while : () -> ()");
                      t.body += "  scf.condition(%c)\n  } do {\n";
                      t.access(at);
                      t.body += "  scf.yield\n";
                      t.close();
                    }),
            noSurroundings);
}

TEST_F(Extents, Loops) {
  grid = {3, 1, 1};
  n = 4, s = 2;
  /// Every program's `loops` tiles, one after the other.
  auto tiles = [](Text &t, Number from, Number to, Number step, int64_t loops) {
    Number start = t.program(0) * (loops * rows * columns);
    Number i = t.loop(from, to, step);
    t.access(start + i * (rows * columns) + t.lane(0) * columns + t.lane(1));
    t.close();
  };
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.n(), t.number(1), 4); }), "");
  EXPECT_EQ(refusal(385, [&](Text &t) { tiles(t, t.number(0), t.n(), t.number(1), 4); }), tooFew);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.n() - 1, t.number(1), 4); }), gaps);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(1), t.n() + 1, t.number(1), 4); }),
            noStart);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.n(), t.s(), 4); }), gaps);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.n(), t.s() - 2, 4); }),
            noSurroundings);
  s.reset();
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.n(), t.s(), 4); }), noSurroundings);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.s(), t.number(1), 4); }),
            noSurroundings);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.s(), t.n(), t.number(1), 4); }), noSurroundings);
  EXPECT_EQ(refusal(384, [&](Text &t) { tiles(t, t.number(0), t.program(0), t.number(1), 4); }),
            noSurroundings);
  // A stride of two tiles, and steps of one: every second tile is left out.
  auto steps = [](Text &t, int64_t step) {
    Number i = t.loop(t.program(0), t.program(0) + 12, t.number(step));
    t.access(i * (rows * columns) + t.lane(0) * columns + t.lane(1));
    t.close();
  };
  grid = {3, 1, 1};
  EXPECT_EQ(refusal(384, [&](Text &t) { steps(t, 3); }), "");
  EXPECT_EQ(refusal(385, [&](Text &t) { steps(t, 3); }), tooFew);
  EXPECT_EQ(refusal(384, [&](Text &t) { steps(t, 4); }), gaps);
  EXPECT_EQ(refusal(384, [&](Text &t) { steps(t, 2); }), gaps);
}

// `for i in range(program_id, n, num_programs)`: all programs together count to n.
TEST_F(Extents, LoopsThatTheProgramsShare) {
  symbols.declare("g", {{1, 64}, 1, std::nullopt});
  symbols.declare("h", {{0, 64}, 1, std::nullopt});
  n = 7;
  auto shared = [](Text &t, Number from, Number step, bool alone = false) {
    Number i = t.loop(from, t.n(), step);
    Number at = i * (rows * columns) + t.lane(0) * columns + t.lane(1);
    t.access(alone ? at + t.program(0) * 1000 : at);
    t.close();
  };
  auto usual = [&](Text &t) { shared(t, t.program(0), t.programs(0)); };
  for (const Expr &programs : {Expr(1), Expr(3), Expr(20), Expr::symbol("g")}) {
    grid = {programs, 1, 1};
    EXPECT_EQ(refusal(224, usual), "") << programs.text();
    EXPECT_EQ(refusal(225, usual), tooFew) << programs.text();
  }
  // No program, no element.
  grid = {Expr::symbol("h"), 1, 1};
  EXPECT_EQ(refusal(224, usual), noSurroundings);
  grid = {3, 1, 1};
  EXPECT_EQ(refusal(224, [&](Text &t) { shared(t, t.program(0), t.programs(0), true); }),
            noOffsets);
  EXPECT_EQ(refusal(224, [&](Text &t) { shared(t, t.program(0), t.number(2)); }), noSurroundings);
  EXPECT_EQ(refusal(224, [&](Text &t) { shared(t, t.program(0) * 2, t.programs(0)); }),
            noSurroundings);
  EXPECT_EQ(refusal(224, [&](Text &t) { shared(t, t.program(0) + 1, t.programs(0)); }),
            noSurroundings);
  EXPECT_EQ(refusal(224, [&](Text &t) { shared(t, t.program(0) + t.program(1), t.programs(0)); }),
            noSurroundings);
  EXPECT_EQ(refusal(224, [&](Text &t) { shared(t, t.program(1), t.programs(1)); }), byPrograms);
  grid = {3, 2, 1};
  EXPECT_EQ(refusal(224, usual), byPrograms);
}

// What is computed of arguments, as a bound.
TEST_F(Extents, ValuesOfScalars) {
  grid = {3, 1, 1};
  n = 50, s = 4;
  auto bounded = [&](const std::string &operation, int64_t expected) {
    auto write = [&](Text &t) {
      Number at = inOrder(t);
      // The loop around takes the value, not the form of the mask.
      Number i = t.loop(t.number(0), t.binary(operation, t.n(), t.s()), t.number(1));
      t.access(i * 96 + at);
      t.close();
    };
    EXPECT_EQ(refusal(96 * expected, write), "") << operation;
    EXPECT_EQ(refusal(96 * expected + 1, write), tooFew) << operation;
  };
  bounded("addi", 54);
  bounded("subi", 46);
  bounded("muli", 200);
  bounded("minsi", 4);
  bounded("maxsi", 50);
  bounded("divsi", 12);
  bounded("ceildivsi", 13);
  auto unknown = [&](const std::string &operation) {
    return refusal(96, [&](Text &t) {
      Number at = inOrder(t);
      Number i = t.loop(t.number(0), t.binary(operation, t.n(), t.s()), t.number(1));
      t.access(i * 96 + at);
      t.close();
    });
  };
  EXPECT_EQ(unknown("remsi"), noSurroundings);
  s = -4;
  EXPECT_EQ(unknown("divsi"), noSurroundings);
  s = 0;
  EXPECT_EQ(unknown("divsi"), noSurroundings);
  n = -50, s = 4;
  EXPECT_EQ(unknown("ceildivsi"), noSurroundings);
  n.reset();
  EXPECT_EQ(unknown("addi"), noSurroundings);
  n = 50, s.reset();
  EXPECT_EQ(unknown("addi"), noSurroundings);
  // Element by element in turns: the number of programs is a stride.
  EXPECT_EQ(refusal(96,
                    [](Text &t) {
                      Number lane = t.lane(0) * columns + t.lane(1);
                      t.access(lane * t.programs(0) + t.program(0));
                    }),
            "");
}

// --- random kernels

struct Digits {
  int64_t grid[2], rounds, bound;
  int64_t ofProgram[2], ofLane[2], ofRound, start;
  int64_t inMask[5];
};

Digits randomDigits(std::mt19937 &random) {
  auto below = [&](int64_t end) { return int64_t(random() % uint64_t(end)); };
  Digits d{};
  for (int64_t &programs : d.grid)
    programs = 1 + below(3);
  d.rounds = 1 + below(3);
  // The variables in some order, each as far apart as those before it reach.
  int64_t counts[5] = {d.grid[0], d.grid[1], rows, columns, d.rounds};
  int64_t *strides[5] = {&d.ofProgram[0], &d.ofProgram[1], &d.ofLane[0], &d.ofLane[1], &d.ofRound};
  std::vector<int> order{0, 1, 2, 3, 4};
  std::shuffle(order.begin(), order.end(), random);
  int64_t reached = 1;
  size_t masked = 1 + below(5);
  for (size_t i = 0; i < order.size(); ++i) {
    *strides[order[i]] = reached;
    if (i < masked)
      d.inMask[order[i]] = reached;
    reached *= counts[order[i]];
    if (i + 1 == masked)
      d.bound = reached = std::max<int64_t>(1, reached - below(4));
  }
  if (below(3) == 0)
    *strides[below(5)] += below(3) - 1;
  if (below(4) == 0)
    d.inMask[below(5)] += below(3) - 1;
  if (below(8) == 0)
    d.start = 1;
  return d;
}

/// How often each offset is touched.
std::map<int64_t, int> touched(const Digits &d) {
  std::map<int64_t, int> times;
  for (int64_t x = 0; x < d.grid[0]; ++x)
    for (int64_t y = 0; y < d.grid[1]; ++y)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t i = 0; i < d.rounds; ++i)
            if (x * d.inMask[0] + y * d.inMask[1] + r * d.inMask[2] + c * d.inMask[3] +
                    i * d.inMask[4] <
                d.bound)
              ++times[d.start + x * d.ofProgram[0] + y * d.ofProgram[1] + r * d.ofLane[0] +
                      c * d.ofLane[1] + i * d.ofRound];
  return times;
}

TEST_F(Extents, RandomKernelsTouchWhatIsProved) {
  std::mt19937 random(22);
  int proved = 0;
  for (int round = 0; round < 600; ++round) {
    Digits d = randomDigits(random);
    std::map<int64_t, int> times = touched(d);
    int64_t elements = 0;
    while (times.count(elements) && times[elements] == 1)
      ++elements;
    grid = {d.grid[0], d.grid[1], 1};
    auto write = [&](Text &t) {
      Number x = t.program(0), y = t.program(1), r = t.lane(0), c = t.lane(1);
      Number i = t.loop(t.number(0), t.number(d.rounds), t.number(1));
      Number at = x * d.ofProgram[0] + y * d.ofProgram[1] + r * d.ofLane[0] + c * d.ofLane[1] +
                  i * d.ofRound + d.start;
      t.access(at, x * d.inMask[0] + y * d.inMask[1] + r * d.inMask[2] + c * d.inMask[3] +
                           i * d.inMask[4] <
                       d.bound);
      t.close();
    };
    EXPECT_NE(refusal(elements + 1, write), "") << "element " << elements << " is not touched once";
    if (elements > 0)
      proved += refusal(elements, write).empty();
    ASSERT_FALSE(HasFailure()) << round;
  }
  EXPECT_GE(proved, 150) << "the property is hardly tested";
}

} // namespace
