// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/Gemm.h"
#include "codegen/KernelFixture.h"
#include "codegen/common/GenerateCode.h"
#include "codegen/cpu/StreamedProduct.h"

#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

class Gemm : public testing::TestWithParam<std::tuple<CpuLevel, DataType>> {
protected:
  CpuLevel level = std::get<0>(GetParam());
  DataType type = std::get<1>(GetParam());

  /// Random numbers in the type's own bytes, and what they stand for.
  struct Matrix {
    std::vector<char> bytes;
    std::vector<double> values;
  };
  Matrix random(uint64_t seed, size_t count) {
    Matrix matrix{std::vector<char>(count * byteSize(type)), std::vector<double>(count)};
    std::vector<float> numbers = randomFloats(seed, count, -1, 1);
    for (size_t i = 0; i < count; ++i)
      write(matrix, i, numbers[i]);
    return matrix;
  }
  void write(Matrix &matrix, size_t i, float value) {
    double wide = value;
    uint16_t narrow = type == DataType::Float16 ? toHalf(value) : toBFloat16(value);
    const void *from = type == DataType::Float64   ? static_cast<const void *>(&wide)
                       : type == DataType::Float32 ? static_cast<const void *>(&value)
                                                   : static_cast<const void *>(&narrow);
    std::memcpy(&matrix.bytes[i * byteSize(type)], from, byteSize(type));
    matrix.values[i] = read(matrix.bytes, i);
  }
  double read(const std::vector<char> &bytes, size_t i) {
    const char *at = &bytes[i * byteSize(type)];
    if (type == DataType::Float64)
      return *reinterpret_cast<const double *>(at);
    if (type == DataType::Float32)
      return *reinterpret_cast<const float *>(at);
    uint16_t bits = *reinterpret_cast<const uint16_t *>(at);
    return type == DataType::Float16 ? fromHalf(bits) : fromBFloat16(bits);
  }
  /// Whoever takes what lies between the rows of A for a part of them gets no number.
  Matrix rowsApart(uint64_t seed, int rows, int columns, int stride) {
    Matrix matrix = random(seed, size_t(rows) * stride + 1);
    for (int row = 0; row < rows; ++row)
      for (int column = columns; column < stride; ++column)
        write(matrix, row * stride + column, std::nanf(""));
    write(matrix, size_t(rows) * stride, std::nanf(""));
    return matrix;
  }
  int64_t packedBytes(int64_t n, int64_t k) {
    return package::packedElements(type, n, k) * byteSize(type);
  }
  static uint32_t blocks(int64_t size, int64_t block) {
    return static_cast<uint32_t>((size + block - 1) / block);
  }
  double roundingUnit() {
    return type == DataType::Float64    ? 0x1p-50
           : type == DataType::Float32  ? 0x1p-20
           : type == DataType::BFloat16 ? 0x1p-8
                                        : 0x1p-10;
  }
};

TEST_P(Gemm, AgainstDoubleSums) {
  CompiledObject product, pack;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileGemm({type, true, level}, "product", product, diagnostics));
  ASSERT_TRUE(compilePack({type, true, level}, "pack", pack, diagnostics));
  CompiledKernel kernel(std::move(product), level), packKernel(std::move(pack), level);
  for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{16, 128, 64}, std::array{5, 17, 9},
                         std::array{49, 65, 33}, std::array{100, 130, 70}, std::array{3, 64, 0},
                         std::array{17, 33, 127}, std::array{32, 16, 31}, std::array{2, 5, 1100}}) {
    int64_t lda = k + 3, ldc = n + 5;
    Matrix a = rowsApart(1, m, k, lda), b = random(2, n * k + 1), bias = random(3, n);
    // B is stored transposed, as the weight of a linear layer.
    std::vector<char> packed(packedBytes(n, k) + 64), packedAtRunTime(packed.size());
    package::packMatrix(type, b.bytes.data(), n, k, 1, k, packed.data());
    PackArguments packing{b.bytes.data(), packedAtRunTime.data(), n, k, 1, k, 0};
    ASSERT_EQ(packKernel.run(&packing, blocks(n, 64)), 0);
    ASSERT_EQ(packed, packedAtRunTime);
    Matrix c = random(4, m * ldc);
    std::vector<double> before = c.values;
    GemmArguments arguments{a.bytes.data(),
                            packed.data(),
                            bias.bytes.data(),
                            c.bytes.data(),
                            m,
                            n,
                            k,
                            lda,
                            ldc,
                            0,
                            0,
                            0,
                            0,
                            0};
    ASSERT_EQ(kernel.run(&arguments, blocks(m, package::productRows), blocks(n, 64)), 0);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = bias.values[j], size = std::abs(sum);
        for (int l = 0; l < k; ++l) {
          double term = a.values[i * lda + l] * b.values[j * k + l];
          sum += term;
          size += std::abs(term);
        }
        ASSERT_TRUE(judge::isNear(read(c.bytes, i * ldc + j), sum,
                                  roundingUnit() * std::max(std::abs(sum), size * 0x1p-3)))
            << m << "x" << n << "x" << k << " at " << i << " " << j;
      }
      for (int j = n; j < ldc; ++j)
        ASSERT_EQ(read(c.bytes, i * ldc + j), before[i * ldc + j]);
    }
  }
}

/// The last row of a block may be computed twice: what is added must not be read between.
TEST_P(Gemm, BiasThatIsTheResult) {
  CompiledObject product;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileGemm({type, true, level}, "product", product, diagnostics));
  CompiledKernel kernel(std::move(product), level);
  for (int64_t m : {3, 11, 13, 100}) {
    int64_t n = 128, k = 20;
    Matrix a = random(1, m * k), b = random(2, n * k), c = random(3, m * n);
    std::vector<double> before = c.values;
    std::vector<char> packed(packedBytes(n, k));
    package::packMatrix(type, b.bytes.data(), n, k, 1, k, packed.data());
    GemmArguments arguments{a.bytes.data(),
                            packed.data(),
                            c.bytes.data(),
                            c.bytes.data(),
                            m,
                            n,
                            k,
                            k,
                            n,
                            0,
                            0,
                            0,
                            n,
                            0};
    ASSERT_EQ(kernel.run(&arguments, blocks(m, package::productRows), blocks(n, 64)), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = before[i * n + j], size = std::abs(sum);
        for (int l = 0; l < k; ++l) {
          sum += a.values[i * k + l] * b.values[j * k + l];
          size += std::abs(a.values[i * k + l] * b.values[j * k + l]);
        }
        ASSERT_TRUE(judge::isNear(read(c.bytes, i * n + j), sum,
                                  roundingUnit() * std::max(std::abs(sum), size)))
            << m << " rows, at " << i << " " << j;
      }
  }
}

TEST_P(Gemm, Batch) {
  CompiledObject product;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileGemm({type, false, level}, "product", product, diagnostics));
  CompiledKernel kernel(std::move(product), level);
  int batch = 3, m = 7, n = 20, k = 11;
  Matrix a = random(1, batch * m * k), b = random(2, batch * k * n), c = random(3, batch * m * n);
  std::vector<char> packed(batch * packedBytes(n, k));
  for (int z = 0; z < batch; ++z)
    package::packMatrix(type, &b.bytes[z * k * n * byteSize(type)], n, k, n, 1,
                        &packed[z * packedBytes(n, k)]);
  GemmArguments arguments{a.bytes.data(),
                          packed.data(),
                          nullptr,
                          c.bytes.data(),
                          m,
                          n,
                          k,
                          k,
                          n,
                          m * k,
                          package::packedElements(type, n, k),
                          m * n,
                          0,
                          0};
  ASSERT_EQ(kernel.run(&arguments, 1, 1, batch), 0);
  for (int z = 0; z < batch; ++z)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum += a.values[(z * m + i) * k + l] * b.values[(z * k + l) * n + j];
        ASSERT_TRUE(judge::isNear(read(c.bytes, (z * m + i) * n + j), sum, 4 * roundingUnit()));
      }
}

// What programs pack for themselves has the bits of what was packed before, whatever B's strides;
// `packedB` is read only where there are more rows. Few rows beside dense columns are summed in an
// order of their own.
TEST_P(Gemm, UnpackedHasTheSameBits) {
  CompiledObject product, unpacked;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileGemm({type, false, level}, "product", product, diagnostics));
  ASSERT_TRUE(compileGemm({type, false, level, true}, "unpacked", unpacked, diagnostics));
  CompiledKernel kernel(std::move(product), level), own(std::move(unpacked), level);
  for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{16, 70, 40}, std::array{7, 33, 301},
                         std::array{96, 20, 37}, std::array{97, 65, 18}, std::array{4, 3, 0},
                         std::array{1, 65, 333}, std::array{2, 64, 32}, std::array{3, 9, 1031},
                         std::array{1, 144, 500}, std::array{30, 48, 40}, std::array{90, 64, 300},
                         std::array{1, 1, 1111}, std::array{1, 1, 64}, std::array{4, 1, 130}})
    for (auto [strideK, strideN] :
         {std::array{1, k + 1}, std::array{n + 2, 1}, std::array{2, 2 * k + 1}, std::array{1, 1}}) {
      Matrix a = rowsApart(1, m, k, k + 1), b = random(2, k * strideK + n * strideN + 1);
      std::vector<char> packed(packedBytes(n, k) + 64);
      package::packMatrix(type, b.bytes.data(), n, k, strideK, strideN, packed.data());
      Matrix want = random(3, m * n), got = random(4, m * n);
      GemmArguments arguments{
          a.bytes.data(), packed.data(), nullptr, want.bytes.data(), m, n, k, k + 1, n};
      uint32_t x = blocks(m, package::productRows), y = blocks(n, 64);
      ASSERT_EQ(kernel.run(&arguments, x, y), 0);
      arguments.c = got.bytes.data();
      arguments.b = b.bytes.data();
      arguments.strideK = strideK, arguments.strideN = strideN;
      if (m <= package::productRows)
        arguments.packedB = nullptr;
      ASSERT_EQ(own.run(&arguments, x, y), 0);
      if (strideK > 1 || m > mostStreamedRows) {
        ASSERT_EQ(want.bytes, got.bytes) << m << "x" << n << "x" << k << " " << strideK;
        continue;
      }
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          long double sum = 0, size = 0;
          for (int t = 0; t < k; ++t) {
            long double term = a.values[i * (k + 1) + t] * b.values[t + j * strideN];
            sum += term, size += std::abs(term);
          }
          double bound = roundingUnit() * double(std::max(std::abs(sum), size * 0x1p-3L));
          ASSERT_TRUE(judge::isNear(read(got.bytes, i * n + j), double(sum), bound))
              << m << "x" << n << "x" << k << " at " << i << " " << j;
        }
    }
}

// The order of a streamed sum is the same on levels that multiply f32; where pairs are multiplied
// they are summed as the processor does.
TEST_P(Gemm, StreamedHasTheSameBitsOnEveryLevel) {
  if (hasProductUnits(level, type))
    return;
  for (auto [m, n, k] : {std::array{3, 37, 205}, std::array{1, 1, 1205}, std::array{1, 9, 205}}) {
    Matrix a = random(1, m * k), b = random(2, n * k);
    std::vector<std::vector<char>> results;
    for (CpuLevel each : {level, CpuLevel::X86_64_v3}) {
      CompiledObject object;
      Diagnostics diagnostics;
      ASSERT_TRUE(compileGemm({type, false, each, true}, "unpacked", object, diagnostics));
      CompiledKernel kernel(std::move(object), each);
      Matrix c = random(4, m * n);
      GemmArguments arguments{a.bytes.data(), nullptr, nullptr, c.bytes.data(), m, n, k, k, n};
      arguments.b = b.bytes.data(), arguments.strideK = 1, arguments.strideN = k;
      ASSERT_EQ(kernel.run(&arguments, 1, 1), 0);
      results.push_back(c.bytes);
    }
    EXPECT_EQ(results[0], results[1]) << m << "x" << n << "x" << k;
  }
}

/// Bytes with a page behind them that ends the process when it is touched.
class Guarded {
public:
  explicit Guarded(const std::vector<char> &bytes) : size(bytes.size()) {
    whole = (size + pageBytes - 1) / pageBytes * pageBytes;
    base = static_cast<char *>(mmap(nullptr, whole + pageBytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + whole, pageBytes, PROT_NONE);
    std::copy(bytes.begin(), bytes.end(), data());
  }
  ~Guarded() { munmap(base, whole + pageBytes); }
  Guarded(const Guarded &) = delete;
  char *data() const { return base + whole - size; }

private:
  static constexpr size_t pageBytes = 4096;
  size_t size, whole;
  char *base;
};

TEST_P(Gemm, TouchesNothingBehindItsOperands) {
  CompiledObject product, unpacked;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileGemm({type, true, level}, "product", product, diagnostics));
  ASSERT_TRUE(compileGemm({type, true, level, true}, "unpacked", unpacked, diagnostics));
  CompiledKernel kernel(std::move(product), level), own(std::move(unpacked), level);
  for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{19, 37, 45}, std::array{33, 16, 64}}) {
    Matrix b = random(2, n * k);
    std::vector<char> packed(packedBytes(n, k));
    package::packMatrix(type, b.bytes.data(), n, k, 1, k, packed.data());
    Guarded a(random(1, m * k).bytes), right(packed), rows(b.bytes), bias(random(3, n).bytes),
        c(random(4, m * n).bytes);
    GemmArguments arguments{a.data(), right.data(), bias.data(), c.data(), m, n, k, k, n};
    arguments.b = rows.data(), arguments.strideK = 1, arguments.strideN = k;
    EXPECT_EQ(kernel.run(&arguments, 1, blocks(n, 64)), 0);
    EXPECT_EQ(own.run(&arguments, 1, blocks(n, 64)), 0);
    // Rows that are read where they lie.
    arguments.strideK = n, arguments.strideN = 1;
    EXPECT_EQ(own.run(&arguments, 1, blocks(n, 64)), 0);
  }
}

// Whether the machine runs it or not.
TEST(GemmCode, UsesWhatTheLevelHas) {
  for (CpuLevel level : allCpuLevels) {
    CodeTexts texts;
    CompiledObject object;
    Diagnostics diagnostics;
    ASSERT_TRUE(compileGemm({DataType::BFloat16, false, level, false, &texts}, "product", object,
                            diagnostics));
    auto has = [&](const char *what) { return texts.assembly.find(what) != std::string::npos; };
    EXPECT_EQ(has("vfmadd"), !hasPairProducts(level)) << toString(level);
    EXPECT_EQ(has("\tvdpbf16ps"), level == CpuLevel::X86_64_v4_bf16) << toString(level);
    for (const char *word : {"ldtilecfg", "tdpbf16ps\t%tmm", "tilestored", "tilerelease"})
      EXPECT_EQ(has(word), hasTileProducts(level)) << toString(level) << " " << word;
    EXPECT_EQ(object.productUnits, hasPairProducts(level));
  }
}

/// Levels beyond x86-64-v4 have code of their own for bf16 alone.
std::vector<std::tuple<CpuLevel, DataType>> levelsAndTypes() {
  std::vector<std::tuple<CpuLevel, DataType>> all;
  for (CpuLevel level : productLevels())
    for (DataType type :
         {DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Float16})
      if (!hasPairProducts(level) || hasProductUnits(level, type))
        all.emplace_back(level, type);
  return all;
}

// Code of levels that this processor lacks is made all the same.
TEST(GemmLevels, EveryLevelHasCode) {
  for (CpuLevel level : allCpuLevels)
    for (DataType type :
         {DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Float16})
      for (bool bias : {false, true})
        for (bool unpacked : {false, true}) {
          CompiledObject object;
          Diagnostics diagnostics;
          EXPECT_TRUE(compileGemm({type, bias, level, unpacked}, "gemm", object, diagnostics));
          EXPECT_FALSE(object.object.empty());
        }
}

INSTANTIATE_TEST_SUITE_P(Levels, Gemm, testing::ValuesIn(levelsAndTypes()), [](const auto &point) {
  return testName(std::get<0>(point.param)) + "_" +
         std::string(pellucid::info(std::get<1>(point.param)).cli);
});

} // namespace
