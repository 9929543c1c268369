// SPDX-License-Identifier: Apache-2.0
// The CPU's kernels of convolutions against sums in double, between pages that nobody may touch.
#include "codegen/cpu/Convolution.h"
#include "codegen/KernelFixture.h"
#include "package/PackedMatrix.h"

#include <sys/mman.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

using Three = std::array<int64_t, 3>;

struct Sizes {
  int64_t images, groups, channels, outputs; ///< channels of a group
  Three input, kernel, stride, padding, dilation;
  int64_t gap = 0; ///< between the lines of the input
  int64_t rowsAtOnce = 96, columnsAtOnce = package::productColumns;
  bool byLines = false;

  int64_t output(size_t d) const {
    return (input[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
  }
  int64_t places() const { return output(0) * output(1) * output(2); }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  bool mayGoByLines() const {
    return input[0] == 1 && kernel[0] == 1 && padding[0] == 0 && stride == Three{1, 1, 1} &&
           taps() > 1;
  }
  /// What programs divide: of lines with the places that no result has, but for the last line's.
  int64_t columns() const {
    int64_t reach = (kernel[2] - 1) * dilation[2];
    return byLines ? (output(1) - 1) * (output(2) + reach) + output(2) : places();
  }
};

/// Elements with a page on either side that ends the process when it is touched.
class Guarded {
public:
  Guarded(size_t bytes, bool atEnd) {
    size_t inside = (bytes + page - 1) / page * page;
    whole = inside + 2 * page;
    base = static_cast<char *>(
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base, page, PROT_NONE);
    mprotect(base + page + inside, page, PROT_NONE);
    first = base + page + (atEnd ? inside - bytes : 0);
  }
  ~Guarded() { munmap(base, whole); }
  Guarded(const Guarded &) = delete;
  char *data() const { return first; }

private:
  static constexpr size_t page = 4096;
  char *base, *first;
  size_t whole;
};

class Convolution : public testing::TestWithParam<std::tuple<CpuLevel, DataType>> {
protected:
  CpuLevel level = std::get<0>(GetParam());
  DataType type = std::get<1>(GetParam());

  void write(char *at, double value) const {
    float single = static_cast<float>(value);
    uint16_t narrow = type == DataType::Float16 ? toHalf(single) : toBFloat16(single);
    const void *from = type == DataType::Float64   ? static_cast<const void *>(&value)
                       : type == DataType::Float32 ? static_cast<const void *>(&single)
                                                   : static_cast<const void *>(&narrow);
    std::memcpy(at, from, byteSize(type));
  }
  double read(const char *at) const {
    if (type == DataType::Float64)
      return *reinterpret_cast<const double *>(at);
    if (type == DataType::Float32)
      return *reinterpret_cast<const float *>(at);
    uint16_t bits = *reinterpret_cast<const uint16_t *>(at);
    return type == DataType::Float16 ? fromHalf(bits) : fromBFloat16(bits);
  }
  double at(const char *base, int64_t i) const { return read(base + i * int64_t(byteSize(type))); }
  double roundingUnit() const {
    return type == DataType::Float64    ? 0x1p-47
           : type == DataType::Float32  ? 0x1p-20
           : type == DataType::BFloat16 ? 0x1p-8
                                        : 0x1p-10;
  }
  void fill(char *base, int64_t count, uint64_t seed) const {
    std::vector<float> numbers = randomFloats(seed, size_t(count), -1, 1);
    for (int64_t i = 0; i < count; ++i)
      write(base + i * int64_t(byteSize(type)), numbers[size_t(i)]);
  }

  void check(CompiledKernel &kernel, const Sizes &s, bool isDepthwise, bool atEnd) {
    size_t element = byteSize(type);
    int64_t k = s.channels * s.taps();
    int64_t line = s.input[2] + s.gap, plane = s.input[1] * line,
            channel = s.input[0] * plane - s.gap, image = s.groups * s.channels * channel,
            rows = s.groups * s.outputs;
    Guarded x(size_t(s.images * image) * element, atEnd), w(size_t(rows * k) * element, atEnd),
        bias(size_t(rows) * element, atEnd),
        c(size_t(s.images * rows * s.places()) * element, atEnd);
    fill(x.data(), s.images * image, 1);
    fill(bias.data(), rows, 3);
    fill(w.data(), rows * k, 2);
    ConvolutionArguments arguments{x.data(),
                                   w.data(),
                                   bias.data(),
                                   c.data(),
                                   s.outputs,
                                   s.places(),
                                   k,
                                   s.channels,
                                   s.groups,
                                   s.rowsAtOnce,
                                   s.columnsAtOnce,
                                   s.byLines,
                                   {},
                                   {},
                                   {},
                                   {},
                                   {},
                                   {},
                                   image,
                                   channel,
                                   plane,
                                   line,
                                   rows * s.places(),
                                   s.places(),
                                   1};
    for (size_t d = 0; d < 3; ++d) {
      arguments.input[d] = s.input[d], arguments.output[d] = s.output(d);
      arguments.kernel[d] = s.kernel[d], arguments.stride[d] = s.stride[d];
      arguments.padding[d] = s.padding[d], arguments.dilation[d] = s.dilation[d];
    }
    auto blocks = [](int64_t size, int64_t block) { return uint32_t((size + block - 1) / block); };
    if (isDepthwise)
      ASSERT_EQ(kernel.run(&arguments, uint32_t(rows), uint32_t(s.images), uint32_t(s.output(0))),
                0);
    else
      ASSERT_EQ(kernel.run(&arguments, blocks(s.outputs, s.rowsAtOnce),
                           blocks(s.columns(), s.columnsAtOnce), uint32_t(s.images * s.groups)),
                0);
    for (int64_t n = 0; n < s.images; ++n)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t p = 0; p < s.places(); ++p) {
          double sum = at(bias.data(), row), size = std::abs(sum);
          std::array<int64_t, 3> o{p / (s.output(1) * s.output(2)), p / s.output(2) % s.output(1),
                                   p % s.output(2)};
          for (int64_t term = 0; term < s.channels * s.taps(); ++term) {
            int64_t tap = term % s.taps();
            std::array<int64_t, 3> t{tap / (s.kernel[1] * s.kernel[2]),
                                     tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]},
                i;
            bool isInside = true;
            for (size_t d = 0; d < 3; ++d) {
              i[d] = o[d] * s.stride[d] + t[d] * s.dilation[d] - s.padding[d];
              isInside &= i[d] >= 0 && i[d] < s.input[d];
            }
            if (!isInside)
              continue;
            int64_t from = row / s.outputs * s.channels + term / s.taps();
            double product =
                at(x.data(), n * image + from * channel + i[0] * plane + i[1] * line + i[2]) *
                at(w.data(), row * k + term);
            sum += product;
            size += std::abs(product);
          }
          ASSERT_TRUE(judge::isNear(at(c.data(), (n * rows + row) * s.places() + p), sum,
                                    roundingUnit() * std::max(std::abs(sum), size * 0x1p-3)))
              << "image " << n << ", channel " << row << ", place " << p;
        }
  }
};

constexpr Three one{1, 1, 1}, none{0, 0, 0};

TEST_P(Convolution, AgainstDoubleSums) {
  CompiledObject object;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileConvolution({type, true, level}, "windows", object, diagnostics));
  CompiledKernel kernel(std::move(object), level);
  const Sizes cases[] = {
      {2, 1, 3, 5, {1, 9, 11}, {1, 3, 3}, one, {0, 1, 1}, one},
      {1, 1, 1, 1, {1, 1, 1}, one, one, none, one},
      {1, 2, 7, 13, {1, 7, 7}, {1, 3, 3}, one, {0, 1, 1}, one, 3},
      {1, 1, 37, 100, {1, 8, 9}, {1, 3, 3}, one, {0, 1, 1}, one}, // several blocks of channels and
                                                                  // rows
      {1, 1, 3, 7, {1, 23, 37}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, one},
      {1, 1, 5, 6, {1, 13, 40}, {1, 3, 5}, {1, 3, 4}, {0, 2, 7}, {1, 2, 3}},
      {1, 1, 4, 8, {1, 1, 150}, {1, 1, 3}, one, {0, 0, 1}, one},
      {1, 1, 4, 3, {1, 5, 200}, one, {1, 2, 2}, none, one, 5},
      {1, 1, 3, 4, {5, 6, 7}, {3, 2, 3}, {2, 1, 1}, {1, 0, 2}, one},
      {1, 1, 2, 3, {1, 12, 12}, {1, 8, 8}, {1, 4, 4}, none, one},
      {1, 1, 2, 9, {1, 3, 3}, {1, 5, 5}, one, {0, 4, 4}, one, 1},
      {1, 1, 70, 40, {1, 6, 11}, {1, 3, 3}, one, {0, 1, 1}, one}, // whole tiles of terms, and a
                                                                  // rest
      {1, 1, 24, 33, {1, 5, 13}, {1, 2, 2}, one, none, one}};
  for (const Sizes &sizes : cases)
    for (bool atEnd : {false, true}) {
      SCOPED_TRACE("case " + std::to_string(&sizes - cases));
      check(kernel, sizes, false, atEnd);
    }
}

// Columns by 16 to 80, and along lines with the border between their ends; windows of one element
// are read where they lie.
TEST_P(Convolution, OfLinesAndOfOtherColumns) {
  if (package::packedGroup(type) != 1)
    GTEST_SKIP() << "pairs are packed by 64 columns";
  CompiledObject object;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileConvolution({type, true, level}, "windows", object, diagnostics));
  CompiledKernel kernel(std::move(object), level);
  const Sizes cases[] = {
      {2, 2, 5, 7, {1, 9, 11}, {1, 3, 3}, one, {0, 1, 1}, one},
      {1, 1, 33, 20, {1, 7, 64}, {1, 3, 3}, one, {0, 1, 1}, one}, // long lines, several blocks
      {1, 1, 4, 9, {1, 12, 3}, {1, 5, 2}, one, {0, 3, 1}, one},
      {1, 2, 3, 4, {1, 10, 17}, {1, 3, 4}, one, {0, 2, 5}, {1, 2, 3}, 3},
      {2, 1, 6, 5, {1, 1, 333}, {1, 1, 3}, one, {0, 0, 1}, one},
      {1, 1, 3, 2, {1, 30, 1}, {1, 3, 1}, one, {0, 1, 0}, one},
      {1, 1, 2, 3, {1, 8, 8}, {1, 8, 8}, one, none, one},
      {2, 2, 200, 13, {1, 8, 10}, one, one, none, one},       // read where it lies
      {1, 1, 7, 100, {1, 6, 16}, one, one, none, one, 2, 50}, // with gaps: not
      {1, 1, 9, 12, {2, 4, 8}, one, one, none, one}};
  for (Sizes sizes : cases)
    for (int64_t columns : {16, 48, 64, 80})
      for (bool byLines : {false, true}) {
        if (byLines && !sizes.mayGoByLines())
          continue;
        SCOPED_TRACE(std::to_string(columns) + " columns, case " + std::to_string(sizes.channels) +
                     (byLines ? " by lines" : ""));
        sizes.columnsAtOnce = columns, sizes.byLines = byLines;
        check(kernel, sizes, false, columns == 48);
      }
}

TEST_P(Convolution, OfChannelsByThemselves) {
  CompiledObject object;
  Diagnostics diagnostics;
  ASSERT_TRUE(compileDepthwise({type, true, level}, "channels", object, diagnostics));
  CompiledKernel kernel(std::move(object), level);
  const Sizes cases[] = {{2, 3, 1, 1, {1, 9, 11}, {1, 3, 3}, one, {0, 1, 1}, one},
                         {1, 2, 1, 3, {1, 14, 37}, {1, 7, 7}, one, {0, 3, 3}, one, 2},
                         {1, 2, 1, 1, {1, 15, 33}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, one},
                         {1, 2, 1, 1, {1, 20, 50}, {1, 3, 2}, {1, 3, 3}, {0, 1, 4}, {1, 2, 2}},
                         {1, 2, 1, 2, {4, 5, 6}, {3, 2, 3}, {2, 1, 1}, {1, 0, 2}, one},
                         {1, 1, 1, 1, {1, 2, 2}, {1, 7, 7}, one, {0, 5, 5}, one},
                         // One line of results.
                         {2, 3, 1, 1, {1, 1, 515}, {1, 1, 4}, one, {0, 0, 3}, one},
                         {1, 2, 1, 2, {1, 1, 150}, {1, 1, 3}, one, {0, 0, 1}, {1, 1, 7}},
                         {1, 2, 1, 1, {1, 1, 333}, {1, 1, 5}, {1, 1, 2}, {0, 0, 2}, one},
                         {1, 2, 1, 1, {1, 1, 400}, {1, 1, 3}, {1, 1, 3}, {0, 0, 4}, one},
                         {1, 1, 1, 1, {1, 1, 3}, {1, 1, 4}, one, {0, 0, 3}, one},
                         {1, 2, 1, 1, {3, 2, 140}, {2, 4, 3}, one, {0, 1, 1}, one, 5}};
  for (const Sizes &sizes : cases)
    for (bool atEnd : {false, true}) {
      SCOPED_TRACE("case " + std::to_string(&sizes - cases));
      check(kernel, sizes, true, atEnd);
    }
}

std::vector<std::tuple<CpuLevel, DataType>> levelsAndTypes() {
  std::vector<std::tuple<CpuLevel, DataType>> all;
  for (CpuLevel level : productLevels())
    for (DataType type :
         {DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Float16})
      if (!hasPairProducts(level) || hasProductUnits(level, type))
        all.emplace_back(level, type);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Levels, Convolution, testing::ValuesIn(levelsAndTypes()),
                         [](const auto &point) {
                           return testName(std::get<0>(point.param)) + "_" +
                                  std::string(pellucid::info(std::get<1>(point.param)).cli);
                         });

} // namespace
