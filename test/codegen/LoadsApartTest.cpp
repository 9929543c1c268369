// SPDX-License-Identifier: Apache-2.0
// Loads whose lanes lie apart: along another dim than the last one of a tile, or a few elements
// from one to the next, forwards and backwards. Memory ends, or begins, where the process may read
// no further.
#include "codegen/KernelFixture.h"

#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

/// Bytes between two pages without access, at the end or the beginning of what lies between.
class FencedBytes {
public:
  FencedBytes(size_t bytes, bool atEnd) : inside((bytes + page - 1) / page * page) {
    base = static_cast<char *>(
        ::mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base, MAP_FAILED);
    if (inside)
      EXPECT_EQ(::mprotect(base + page, inside, PROT_READ | PROT_WRITE), 0);
    start = base + page + (atEnd ? inside - bytes : 0);
  }
  ~FencedBytes() { ::munmap(base, inside + 2 * page); }
  FencedBytes(const FencedBytes &) = delete;
  char *data() const { return start; }

private:
  static constexpr size_t page = 4096;
  size_t inside;
  char *base, *start;
};

/// A tile of rows x columns whose element (r, c) lies at r * rowStep + c * columnStep behind `x`.
struct Layout {
  int rows, columns, rowStep, columnStep;
  bool transposed; ///< loaded as columns x rows and turned by tt.trans
};

std::string text(const std::string &type, const Layout &layout) {
  auto tile = [&](const std::string &element, bool turned) {
    int a = turned ? layout.columns : layout.rows, c = turned ? layout.rows : layout.columns;
    return "tensor<" + std::to_string(a) + "x" + std::to_string(c) + "x" + element + ">";
  };
  std::string out;
  int next = 0;
  auto value = [&](const std::string &line) {
    out += "    %" + std::to_string(next) + " = " + line + "\n";
    return "%" + std::to_string(next++);
  };
  auto number = [&](int n) { return "dense<" + std::to_string(n) + ">"; };
  /// The index along a dim, `extent` long, as a line (axis 0) or a column (axis 1) of a tile.
  auto index = [&](int extent, int axis, std::string &type) {
    std::string n = std::to_string(extent), line = "tensor<" + n + "xi32>";
    std::string range = value("tt.make_range {end = " + n + " : i32, start = 0 : i32} : " + line);
    type = axis ? "tensor<" + n + "x1xi32>" : "tensor<1x" + n + "xi32>";
    return value("tt.expand_dims " + range + " {axis = " + std::to_string(axis) +
                 " : i32} : " + line + " -> " + type);
  };
  auto pointers = [&](bool turned, int rowStep, int columnStep, const std::string &base,
                      std::string &mask) {
    std::string rowType, columnType, wide = tile("i32", turned), bits = tile("i1", turned);
    std::string row = index(layout.rows, turned ? 0 : 1, rowType),
                column = index(layout.columns, turned ? 1 : 0, columnType);
    auto scaled = [&](const std::string &at, const std::string &type, int step) {
      std::string by = value("arith.constant " + number(step) + " : " + type);
      return value("tt.broadcast " + value("arith.muli " + at + ", " + by + " : " + type) + " : " +
                   type + " -> " + wide);
    };
    auto below = [&](const std::string &at, const std::string &type, const std::string &limit) {
      std::string bit = type.substr(0, type.size() - 4) + "i1>";
      std::string all = value("tt.splat " + limit + " : i32 -> " + type);
      return value("tt.broadcast " + value("arith.cmpi slt, " + at + ", " + all + " : " + type) +
                   " : " + bit + " -> " + bits);
    };
    mask = value("arith.andi " + below(row, rowType, "%rows") + ", " +
                 below(column, columnType, "%columns") + " : " + bits);
    std::string offsets = value("arith.addi " + scaled(row, rowType, rowStep) + ", " +
                                scaled(column, columnType, columnStep) + " : " + wide);
    std::string target = tile("!tt.ptr<" + type + ">", turned);
    std::string all = value("tt.splat " + base + " : !tt.ptr<" + type + "> -> " + target);
    return value("tt.addptr " + all + ", " + offsets + " : " + target + ", " + wide);
  };
  bool turned = layout.transposed;
  std::string mask, ignored, held = tile(type, turned);
  std::string from = pointers(turned, layout.rowStep, layout.columnStep, "%x", mask);
  std::string other =
      value("arith.constant dense<" + std::string(type[0] == 'i' ? "7" : "7.0") + "> : " + held);
  std::string loaded = value("tt.load " + from + ", " + mask + ", " + other + " : " +
                             tile("!tt.ptr<" + type + ">", turned));
  if (turned)
    loaded = value("tt.trans " + loaded + " {order = array<i32: 1, 0>} : " + held + " -> " +
                   tile(type, false));
  std::string to = pointers(false, layout.columns, 1, "%o", ignored);
  out += "    tt.store " + to + ", " + loaded + " : " + tile("!tt.ptr<" + type + ">", false) + "\n";
  return "module {\n  tt.func public @copy(%x: !tt.ptr<" + type + ">, %o: !tt.ptr<" + type +
         ">, %rows: i32, %columns: i32) {\n" + out + "    tt.return\n  }\n}\n";
}

class LoadsApart : public testing::TestWithParam<CpuLevel> {
protected:
  template <typename T> void check(const std::string &type) {
    for (const Layout &layout :
         {Layout{64, 32, 1, 64, false}, Layout{32, 64, 1, 37, true}, Layout{16, 4, 1, 16, false},
          Layout{8, 128, 1, 9, true}, Layout{2, 64, 130, 2, false}, Layout{4, 32, 97, 3, false},
          Layout{4, 64, 256, 4, false}, Layout{2, 32, 64, -1, false}, Layout{1, 2, 4, 2, false},
          Layout{4, 16, -16, -1, false}})
      checkLayout<T>(type, layout);
  }

private:
  template <typename T> void checkLayout(const std::string &type, const Layout &layout) {
    CompiledKernel kernel(text(type, layout), "copy", GetParam());
    for (int rows : {0, 1, layout.rows - 1, layout.rows})
      for (int columns : {1, 3, layout.columns / 2, layout.columns - 1, layout.columns})
        for (bool atEnd : {true, false})
          if (columns <= layout.columns)
            run<T>(kernel, type, layout, rows, columns, atEnd);
  }

  template <typename T>
  void run(CompiledKernel &kernel, const std::string &type, const Layout &layout, int rows,
           int columns, bool atEnd) {
    // Exactly what lies between the first and the last element.
    int low = std::min(0, (rows - 1) * layout.rowStep) +
              std::min(0, (columns - 1) * layout.columnStep),
        high = std::max(0, (rows - 1) * layout.rowStep) +
               std::max(0, (columns - 1) * layout.columnStep);
    int count = rows ? high - low + 1 : 0;
    FencedBytes memory(count * sizeof(T), atEnd);
    T *first = reinterpret_cast<T *>(memory.data()), *x = first - (rows ? low : 0);
    for (int i = 0; i < count; ++i)
      first[i] = T(i % 101 + 8);
    std::vector<T> got(layout.rows * layout.columns, T(3));
    Arguments arguments;
    arguments.add(x).add(got.data()).add(int32_t(rows)).add(int32_t(columns));
    ASSERT_EQ(kernel.run(arguments, 1), 0);
    for (int r = 0; r < layout.rows; ++r)
      for (int c = 0; c < layout.columns; ++c) {
        T want = r < rows && c < columns ? x[r * layout.rowStep + c * layout.columnStep] : T(7);
        ASSERT_EQ(got[r * layout.columns + c], want)
            << type << " " << rows << "x" << columns << " of " << layout.rows << "x"
            << layout.columns << " by " << layout.rowStep << ", " << layout.columnStep << " at "
            << r << ", " << c;
      }
  }
};

TEST_P(LoadsApart, Int8) { check<int8_t>("i8"); }
TEST_P(LoadsApart, Int16) { check<int16_t>("i16"); }
TEST_P(LoadsApart, Float32) { check<float>("f32"); }
TEST_P(LoadsApart, Float64) { check<double>("f64"); }

// What the code is for: no gathers, and no element after element.
TEST_P(LoadsApart, AreVectors) {
  for (const Layout &layout : {Layout{64, 64, 1, 64, false}, Layout{64, 64, 1, 64, true},
                               Layout{2, 64, 256, 2, false}, Layout{2, 64, 256, 4, false}})
    for (const char *type : {"f32", "i16"}) {
      std::string code = assemblyOf(text(type, layout), "copy", GetParam());
      EXPECT_EQ(code.find("gather"), std::string::npos) << type << " " << layout.columnStep;
      if (GetParam() == CpuLevel::X86_64_v4)
        EXPECT_EQ(code.find("movzwl"), std::string::npos) << type << " " << layout.columnStep;
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, LoadsApart, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
