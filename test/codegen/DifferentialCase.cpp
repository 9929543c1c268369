// SPDX-License-Identifier: Apache-2.0
#include "codegen/DifferentialCase.h"

#include "codegen/KernelFixture.h"
#include "tt/Tt.h"

#include <filesystem>

namespace pellucid::codegen {

/// Of numbers that have few digits.
static uint8_t float8Code(DataType type, float number) {
  uint16_t half = toHalf(number);
  if (type == DataType::Float8E5M2)
    return static_cast<uint8_t>(half >> 8);
  constexpr int32_t biases = 8, halfDigits = 10, droppedDigits = 7;
  int32_t magnitude = half & 0x7fff;
  int32_t code = magnitude == 0 ? 0 : (magnitude - (biases << halfDigits)) >> droppedDigits;
  return static_cast<uint8_t>((half >> 8 & 0x80) | code);
}

/// Multiples of `step`, if it is not 0.
static void fillRandomly(Array &array, size_t count, double low, double high, double step,
                         Random &random) {
  array.bytes.resize(count * byteSize(array.type));
  for (size_t i = 0; i < count; ++i) {
    char *at = &array.bytes[i * byteSize(array.type)];
    double number = random.number(low, high);
    if (step != 0)
      number = std::round(number / step) * step;
    float single = static_cast<float>(number);
    int64_t integer = static_cast<int64_t>(std::floor(number));
    uint16_t narrow = array.type == DataType::BFloat16 ? toBFloat16(single) : toHalf(single);
    // All but NaN and infinity: the highest exponents stay out.
    uint8_t code =
        step != 0 ? float8Code(array.type, single) : static_cast<uint8_t>(random.bits() & 0xf7);
    switch (array.type) {
    case DataType::Float32:
      std::memcpy(at, &single, 4);
      break;
    case DataType::Float64:
      std::memcpy(at, &number, 8);
      break;
    case DataType::BFloat16:
    case DataType::Float16:
      std::memcpy(at, &narrow, 2);
      break;
    case DataType::Float8E4M3FN:
    case DataType::Float8E5M2:
      std::memcpy(at, &code, 1);
      break;
    default:
      std::memcpy(at, &integer, byteSize(array.type));
    }
  }
}

Case readCase(const std::string &path) {
  std::ifstream stream(path);
  Case read;
  std::string line, word;
  std::getline(stream, line);
  std::istringstream(line.substr(7)) >> read.grid[0] >> read.grid[1] >> read.grid[2];
  std::getline(stream, line);
  std::istringstream words(line.substr(12));
  Random random(std::hash<std::string>()(path.substr(path.rfind('/'))) | 1);
  while (words >> word) {
    std::istringstream parts(word);
    std::string name, type, count, low = "-3", high = "3", step = "0";
    std::getline(parts, name, ':');
    std::getline(parts, type, ':');
    if (size_t equals = type.find('='); equals != std::string::npos) {
      DataType kind = *dataTypeNamed(type.substr(0, equals));
      read.scalarTypes.push_back(kind);
      if (isFloat(kind))
        read.parameters.push_back(std::stod(type.substr(equals + 1)));
      else
        read.parameters.push_back(int64_t(std::stoll(type.substr(equals + 1))));
      continue;
    }
    std::getline(parts, count, ':');
    std::getline(parts, low, ':');
    std::getline(parts, high, ':');
    std::getline(parts, step, ':');
    read.parameters.push_back(read.arrays.size());
    read.scalarTypes.push_back(DataType::Bool);
    read.arrays.push_back({name, *dataTypeNamed(type), {}});
    fillRandomly(read.arrays.back(), std::stoul(count), std::stod(low), std::stod(high),
                 std::stod(step), random);
  }
  std::stringstream rest;
  rest << stream.rdbuf();
  read.text = rest.str();
  return read;
}

std::vector<reference::HostArgument> hostArguments(Case &launched) {
  std::vector<reference::HostArgument> arguments;
  for (auto &parameter : launched.parameters) {
    if (auto *number = std::get_if<size_t>(&parameter)) {
      Array &array = launched.arrays[*number];
      arguments.push_back(reference::hostTensor(array.name, array.type, array.bytes));
    } else if (auto *integer = std::get_if<int64_t>(&parameter)) {
      arguments.push_back(*integer);
    } else {
      arguments.push_back(std::get<double>(parameter));
    }
  }
  return arguments;
}

std::vector<Array> runReference(Case launched, const std::string &symbol) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  auto module = tt::parseTtir(launched.text, &context, diagnostics, "kernel.ttir");
  EXPECT_TRUE(module) << diagnostics.text();
  std::vector<reference::HostArgument> arguments = hostArguments(launched);
  reference::InterpretOptions options;
  for (int axis = 0; axis < 3; ++axis)
    options.grid[axis] = launched.grid[axis];
  EXPECT_TRUE(reference::launchReference(*module, symbol, arguments, options, diagnostics))
      << diagnostics.text();
  return std::move(launched.arrays);
}

static double numberAt(const Array &array, size_t i) {
  const char *at = &array.bytes[i * byteSize(array.type)];
  switch (array.type) {
  case DataType::Float32:
    return *reinterpret_cast<const float *>(at);
  case DataType::Float64:
    return *reinterpret_cast<const double *>(at);
  case DataType::BFloat16:
    return fromBFloat16(*reinterpret_cast<const uint16_t *>(at));
  case DataType::Float16:
    return fromHalf(*reinterpret_cast<const uint16_t *>(at));
  default:
    int64_t value = 0;
    std::memcpy(&value, at, byteSize(array.type));
    return double(value);
  }
}

/// Sums may be ordered otherwise; everything else is exact.
static double boundFor(DataType type) {
  switch (type) {
  case DataType::Float32:
    return 4e-6;
  case DataType::Float64:
    return 1e-13;
  case DataType::BFloat16:
    return 0x1p-7;
  case DataType::Float16:
    return 0x1p-9;
  default:
    return 0;
  }
}

void expectClose(const std::vector<Array> &actual, const std::vector<Array> &expected,
                 double slack) {
  for (size_t a = 0; a < expected.size(); ++a)
    for (size_t i = 0; i < expected[a].bytes.size() / byteSize(expected[a].type); ++i)
      ASSERT_TRUE(isClose(numberAt(actual[a], i), numberAt(expected[a], i),
                          slack * boundFor(expected[a].type)))
          << expected[a].name << "[" << i << "]";
}

std::vector<std::string> caseFiles() {
  std::vector<std::string> paths;
  for (auto &entry : std::filesystem::directory_iterator(std::string(PELLUCID_SOURCE_DIR) +
                                                         "/test/codegen/differential"))
    if (entry.path().extension() == ".ttir")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace pellucid::codegen
