// SPDX-License-Identifier: Apache-2.0
// Masked-off lanes of a load are not read and hold `other`: dense rows of few columns, loaded as
// wide tiles, that end where the process may read no further.
#include "codegen/KernelFixture.h"

#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

/// Bytes that end at a page without access.
class GuardedBytes {
public:
  explicit GuardedBytes(size_t bytes) : bytes(bytes) {
    base = static_cast<char *>(
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base, MAP_FAILED);
    EXPECT_EQ(::mprotect(base + page, page, PROT_NONE), 0);
    EXPECT_LE(bytes, page);
  }
  ~GuardedBytes() { ::munmap(base, 2 * page); }
  GuardedBytes(const GuardedBytes &) = delete;
  char *data() const { return base + page - bytes; }

private:
  static constexpr size_t page = 4096;
  char *base;
  size_t bytes;
};

/// Loads 16 x `width` elements of rows of `columns`; the mask is a column's place below `columns`,
/// known when compiling, and a row's below %n, which is not.
std::string kernelText(const std::string &type, int width, int columns, int other) {
  std::string w = std::to_string(width), tile = "tensor<16x" + w + "x", value = tile + type + ">",
              pointers = tile + "!tt.ptr<" + type + ">>", ints = tile + "i32>",
              row = "tensor<1x" + w + "xi32>", k = std::to_string(columns);
  std::string filled = type[0] == 'f' ? std::to_string(other) + ".0" : std::to_string(other);
  return "module {\n  tt.func public @copy(%x: !tt.ptr<" + type + ">, %o: !tt.ptr<" + type +
         ">, %n: i32) {\n"
         "    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
         "    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>\n"
         "    %c = tt.make_range {end = " +
         w + " : i32, start = 0 : i32} : tensor<" + w +
         "xi32>\n"
         "    %cols = tt.expand_dims %c {axis = 0 : i32} : tensor<" +
         w + "xi32> -> " + row +
         "\n"
         "    %ns = tt.splat %n : i32 -> tensor<16x1xi32>\n"
         "    %inRows = arith.cmpi slt, %rows, %ns : tensor<16x1xi32>\n"
         "    %k = arith.constant dense<" +
         k + "> : " + row +
         "\n"
         "    %inCols = arith.cmpi slt, %cols, %k : " +
         row +
         "\n"
         "    %ms = tt.broadcast %inRows : tensor<16x1xi1> -> " +
         tile +
         "i1>\n"
         "    %mc = tt.broadcast %inCols : tensor<1x" +
         w + "xi1> -> " + tile +
         "i1>\n"
         "    %mask = arith.andi %ms, %mc : " +
         tile +
         "i1>\n"
         "    %stride = arith.constant dense<" +
         k +
         "> : tensor<16x1xi32>\n"
         "    %starts = arith.muli %rows, %stride : tensor<16x1xi32>\n"
         "    %s = tt.broadcast %starts : tensor<16x1xi32> -> " +
         ints +
         "\n"
         "    %cb = tt.broadcast %cols : " +
         row + " -> " + ints +
         "\n"
         "    %offsets = arith.addi %s, %cb : " +
         ints +
         "\n"
         "    %xs = tt.splat %x : !tt.ptr<" +
         type + "> -> " + pointers +
         "\n"
         "    %xp = tt.addptr %xs, %offsets : " +
         pointers + ", " + ints +
         "\n"
         "    %instead = arith.constant dense<" +
         filled + "> : " + value +
         "\n"
         "    %v = tt.load %xp, %mask, %instead : " +
         pointers +
         "\n"
         "    %wide = arith.constant dense<" +
         w +
         "> : tensor<16x1xi32>\n"
         "    %os = arith.muli %rows, %wide : tensor<16x1xi32>\n"
         "    %ob = tt.broadcast %os : tensor<16x1xi32> -> " +
         ints +
         "\n"
         "    %to = arith.addi %ob, %cb : " +
         ints +
         "\n"
         "    %op = tt.splat %o : !tt.ptr<" +
         type + "> -> " + pointers +
         "\n"
         "    %target = tt.addptr %op, %to : " +
         pointers + ", " + ints +
         "\n"
         "    tt.store %target, %v : " +
         pointers +
         "\n"
         "    tt.return\n  }\n}\n";
}

class MaskedLoads : public testing::TestWithParam<CpuLevel> {
protected:
  template <typename T> void check(const std::string &type) {
    for (int width : {16, 32})
      for (int columns : {1, 3, 4, 5, 8, 9, 15, 16, 20})
        for (int other : {0, 7})
          checkTile<T>(type, width, std::min(columns, width), other);
  }

private:
  template <typename T> void checkTile(const std::string &type, int width, int columns, int other) {
    CompiledKernel kernel(kernelText(type, width, columns, other), "copy", GetParam());
    for (int rows : {0, 1, 3, 16}) {
      GuardedBytes memory(rows * columns * sizeof(T));
      T *x = reinterpret_cast<T *>(memory.data());
      for (int i = 0; i < rows * columns; ++i)
        x[i] = T(i + 1);
      std::vector<T> got(16 * width, T(99));
      Arguments arguments;
      arguments.add(x).add(got.data()).add(int32_t(rows));
      ASSERT_EQ(kernel.run(arguments, 1), 0);
      for (int r = 0; r < 16; ++r)
        for (int c = 0; c < width; ++c)
          ASSERT_EQ(got[r * width + c], r < rows && c < columns ? T(r * columns + c + 1) : T(other))
              << type << " " << rows << "x" << columns << " of 16x" << width << " at " << r << ", "
              << c;
    }
  }
};

TEST_P(MaskedLoads, Float32) { check<float>("f32"); }
TEST_P(MaskedLoads, Float64) { check<double>("f64"); }
TEST_P(MaskedLoads, Int32) { check<int32_t>("i32"); }
TEST_P(MaskedLoads, Int64) { check<int64_t>("i64"); }
TEST_P(MaskedLoads, Int16) { check<int16_t>("i16"); }

INSTANTIATE_TEST_SUITE_P(Levels, MaskedLoads, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
